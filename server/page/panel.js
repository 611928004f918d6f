/* The panel at the side: one pod, workload, node, pool, group or move: what `stowage explain` says of it, the facts at hand,
 * and whoever stands there. The address has what it shows, and which pods are open: #pod/NAMESPACE/NAME,
 * #node/NAME?open=GROUP&find=WORD. */

import { arrange, element, link } from "/dom.js";
import { age, bytes, count, cpu, percent, price, share } from "/format.js";
import { Pods } from "/pods.js";
import { parse, safe } from "/text.js";

const TITLES = {
    node: "Node", pod: "Pod", nodepool: "NodePool", group: "Node group", move: "Move", deployment: "Deployment",
    statefulset: "StatefulSet", daemonset: "DaemonSet", replicaset: "ReplicaSet", job: "Job",
    replicationcontroller: "ReplicationController", cronjob: "CronJob",
};

/* {kind, name} of an address like "#node/a"; null: it shows no such thing. */
export function target(hash) {
    const text = decodeURIComponent(hash.slice(1).split("?")[0]);
    const at = text.indexOf("/");
    const kind = text.slice(0, Math.max(0, at));
    return at > 0 && TITLES[kind] && text.length > at + 1 ? { kind, name: text.slice(at + 1) } : null;
}

/* What of its pods is open: {open, find}. */
export function opened(hash) {
    const params = new URLSearchParams(hash.split("?")[1] || "");
    return { open: params.get("open") || "", find: params.get("find") || "" };
}

/* Where that is which is called so; null: nothing can be. */
export function named(text, fleet) {
    const workload = fleet.workloads().get(text);
    if (fleet.nodes.has(text))
        return "#node/" + text;
    if (workload)
        return "#" + workload.kind.toLowerCase() + "/" + text;
    return /^[a-z0-9][a-z0-9.-]*\/[a-z0-9][a-z0-9.-]*$/.test(text) ? "#pod/" + text : null;
}

/* Where a workload's own panel is: a pod that nobody owns is one itself. */
export function linkTo(workload, text) {
    const [kind, name] = workload.split(" ");
    const word = kind.toLowerCase();
    if (word === "node") /* of a static pod, whose namespace a Node does not have */
        return link(word, name.slice(name.indexOf("/") + 1), text || workload);
    return TITLES[word] ? link(word, name, text || workload) : document.createTextNode(text || workload);
}

/* A sentence in which names of nodes, pools and workloads lead to them. */
export function linked(text, fleet) {
    const out = document.createElement("span");
    const workloads = fleet.workloads();
    const pools = new Set(fleet.values("p"));
    let before = "";
    for (const piece of text.split(/([A-Za-z0-9][A-Za-z0-9._/-]*[A-Za-z0-9])/)) {
        if (fleet.nodes.has(piece))
            out.append(link("node", piece));
        else if (workloads.has(piece))
            out.append(linkTo(workloads.get(piece).kind + " " + piece, piece));
        else if (pools.has(piece) && /\b(pool|NodePool)\s$/.test(before))
            out.append(link("nodepool", piece));
        else
            out.append(piece);
        before += piece;
    }
    return out;
}

/* Whether pods may be of it. */
function isWorkload(kind) {
    return !["node", "pod", "nodepool", "group", "move"].includes(kind);
}

export class Panel {
    constructor(aside, fleet) {
        Object.assign(this, { aside, fleet, shown: null, came: null, asked: 0, answer: null, waiting: 0 });
        this.pods = null;
        this.slots = [];
        aside.addEventListener("click", (event) => {
            if (event.target.closest("button.close"))
                this.close();
        });
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && this.shown !== null && !this.pods.clears(event.target))
                this.close();
        });
    }

    close() {
        history.pushState(null, "", location.pathname + location.search);
        this.follow();
    }

    /* Shows what the address says. */
    follow() {
        const next = target(location.hash);
        document.body.classList.toggle("panelled", next !== null);
        if (next === null) {
            this.aside.hidden = true;
            if (this.shown !== null && this.came && this.came.isConnected)
                this.came.focus();
            this.shown = null;
            return;
        }
        if (this.shown !== null && this.shown.kind === next.kind && this.shown.name === next.name) {
            this.pods.follow(opened(location.hash));
            this.refresh();
            return;
        }
        if (this.shown === null)
            this.came = document.activeElement;
        this.begin(next);
        this.draw();
        this.aside.scrollTop = 0;
        this.aside.querySelector("h2").focus();
        this.ask();
    }

    begin(next) {
        const title = element("h2", "", element("small", "", TITLES[next.kind] + " "), next.name);
        const close = element("button", "close", "Close");
        close.type = "button";
        title.id = "panel-title";
        title.tabIndex = -1;
        this.shown = next;
        this.answer = null;
        this.waiting = 0;
        this.pods = new Pods((chosen) => this.choose(chosen));
        this.pods.follow(opened(location.hash));
        this.said = element("div", "");
        this.facts = element("div", "");
        this.why = element("div", "");
        this.aside.hidden = false;
        this.aside.replaceChildren(element("div", "bar-top", title, close), this.said, this.facts, this.pods.element, this.why);
    }

    /* The reader opens a group of pods, or looks for some. */
    choose({ open, find }) {
        const params = new URLSearchParams();
        if (open !== "")
            params.set("open", open);
        if (open !== "" && find !== "")
            params.set("find", find);
        const text = params.toString();
        const { kind, name } = this.shown;
        history.replaceState(null, "", `${location.pathname}${location.search}#${kind}/${name}${text === "" ? "" : "?" + text}`);
        this.follow();
    }

    /* The newest question counts. */
    async ask() {
        const mine = ++this.asked;
        const { kind, name } = this.shown;
        const waiting = isWorkload(kind) ? countWaiting(TITLES[kind] + " " + name) : 0;
        let answer;
        try {
            const reply = await fetch("/explain/" + kind + "/" + name.split("/").map(encodeURIComponent).join("/"));
            answer = reply.ok ? parse(await reply.text()) : { sentence: safe((await reply.text()).trim()), lines: [], missing: true };
        } catch {
            answer = { sentence: "Stowage does not answer.", lines: [], missing: true };
        }
        const some = await waiting;
        if (mine !== this.asked || this.shown === null)
            return;
        this.answer = answer;
        this.waiting = some;
        this.refresh();
    }

    /* What is shown has changed; the focus stays where it is. */
    refresh() {
        if (this.shown === null)
            return;
        const focused = this.aside.contains(document.activeElement) ? document.activeElement : null;
        const href = focused && focused.getAttribute("href");
        this.draw();
        if (focused !== null && focused !== document.activeElement)
            (Array.from(this.aside.querySelectorAll("a")).find((a) => a.getAttribute("href") === href) ||
                this.aside.querySelector("h2")).focus({ preventScroll: true });
    }

    draw() {
        const { kind, name } = this.shown;
        const node = kind === "node" ? this.fleet.nodes.get(name) : undefined;
        const answer = this.answer;
        this.said.replaceChildren(answer === null ? element("p", "note", "Asking …")
            : element("p", answer.missing ? "warning" : "sentence", linked(answer.sentence, this.fleet)));
        this.facts.replaceChildren(...(node ? [factsOf(node)] : kind === "nodepool" ? [poolOf(name, this.fleet)] : []));
        this.why.replaceChildren(...(answer !== null && answer.lines.length !== 0 ? [chainOf(answer.lines, this.fleet)] : []));
        if (node)
            this.pods.show(...heapsOf(node));
        else if (isWorkload(kind))
            this.pods.show(...placesOf(TITLES[kind] + " " + name, this.fleet.workloads().get(name), this.waiting));
        this.pods.element.hidden = this.pods.groups.length === 0;
    }
}

async function countWaiting(workload) {
    try {
        const reply = await fetch("/pods?node=&workload=" + encodeURIComponent(workload));
        return reply.ok ? parse(await reply.text()).found : 0;
    } catch {
        return 0;
    }
}

function list(rows) {
    const dl = element("dl", "");
    for (const [about, content] of rows)
        if (content !== undefined && content !== "")
            dl.append(element("dt", "", about), element("dd", "", content));
    return dl;
}

function meter(part, all) {
    const m = document.createElement("meter");
    m.value = share(part, all);
    m.textContent = percent(share(part, all));
    return m;
}

function room([asked, there, planned, kept], show) {
    const span = element("span", "", `${show(asked)} of ${show(there)} `, meter(asked, there), " " + percent(share(asked, there)));
    if (planned > 0)
        span.append(`, ${show(planned)} planned`);
    if (kept > 0)
        span.append(`, ${show(kept)} kept for DaemonSets`);
    return span;
}

function factsOf(node) {
    return list([
        ["state", node.r ? node.s + ": " + node.r : node.s],
        ["pool", node.p && link("nodepool", node.p)],
        ["node group", node.g && link("group", node.g)],
        ["type", node.t],
        ["zone", node.z],
        ["capacity", node.c],
        ["price", node.$ !== undefined ? `${price(node.$)} an hour` : ""],
        ["age", age(Date.now() - node.a)],
        ["CPU", room(node.cpu, cpu)],
        ["memory", room(node.mem, bytes)],
    ]);
}

/* A title, and the groups into which the pods fall; all of them as the first one, where there are several. */
function heapsOf(node) {
    const query = "node=" + encodeURIComponent(node.n);
    const pods = node.w.reduce((sum, w) => sum + w[1], 0);
    const groups = node.w.map(([workload, number, milli, memory]) => ({
        key: workload, name: workload, head: linkTo(workload), pods: number, tail: `${cpu(milli)} CPU, ${bytes(memory)}`,
        query: query + "&workload=" + encodeURIComponent(workload), short: true,
    }));
    if (groups.length > 1)
        groups.unshift({ key: "all pods", name: node.n, head: "all", pods, tail: "", query });
    return [`${count(pods)} pods of ${count(node.w.length)} workloads`, groups];
}

function placesOf(workload, stands, waiting) {
    const SHOWN = 100;
    const query = "workload=" + encodeURIComponent(workload);
    const on = stands ? stands.on : [];
    const pods = stands ? stands.pods : 0;
    const groups = on.slice(0, SHOWN).map(([node, number]) => ({
        key: node, name: `${workload} on ${node}`, head: link("node", node), pods: number, tail: "",
        query: query + "&node=" + encodeURIComponent(node), short: true,
    }));
    if (waiting > 0)
        groups.unshift({ key: "without a node", name: workload + " that wait", head: "without a node", pods: waiting, tail: "",
                         query: query + "&node=", short: true });
    if (groups.length > 1)
        groups.unshift({ key: "all pods", name: workload, head: "all", pods: pods + waiting, tail: "", query, short: true, wide: true });
    const title = `${count(pods)} pods on ${count(on.length)} nodes` + (waiting > 0 ? `, ${count(waiting)} waiting` : "");
    return [on.length > SHOWN ? title + `, of which ${SHOWN} are below` : title, groups];
}

function poolOf(name, fleet) {
    const nodes = fleet.find((n) => n.p === name);
    const a = element("a", "", `${count(nodes.length)} nodes`);
    a.href = "?pool=" + encodeURIComponent(name) + "#fleet";
    return list([
        ["nodes", a],
        ["price", `${price(nodes.reduce((sum, n) => sum + (n.$ || 0), 0))} an hour`],
    ]);
}

function chainOf(lines, fleet) {
    return element("section", "", element("h3", "", "Why"), list(lines.map((line) => [line.about, linked(line.text, fleet)])));
}
