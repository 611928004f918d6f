/* The panel at the side: one pod, workload, node, pool, group or move: what `stowage explain` says of it, the facts at hand,
 * and whoever stands there, equal pods as one. The address has what it shows: #node/NAME, #pod/NAMESPACE/NAME. */

import { age, bytes, count, cpu, percent, price, share } from "/format.js";

const TITLES = {
    node: "Node", pod: "Pod", nodepool: "NodePool", group: "Node group", move: "Move", deployment: "Deployment",
    statefulset: "StatefulSet", daemonset: "DaemonSet", replicaset: "ReplicaSet", job: "Job",
    replicationcontroller: "ReplicationController", cronjob: "CronJob",
};

/* {kind, name} of an address like "#node/a"; null: it shows no such thing. */
export function target(hash) {
    const text = decodeURIComponent(hash.slice(1));
    const at = text.indexOf("/");
    const kind = text.slice(0, Math.max(0, at));
    return at > 0 && TITLES[kind] && text.length > at + 1 ? { kind, name: text.slice(at + 1) } : null;
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

function element(name, className, ...content) {
    const e = document.createElement(name);
    if (className)
        e.className = className;
    e.append(...content);
    return e;
}

function link(kind, name, text = name) {
    const a = element("a", "", text);
    a.href = "#" + kind + "/" + name;
    return a;
}

/* Where a workload's own panel is: a pod that nobody owns is one itself. */
export function linkTo(workload, text) {
    const [kind, name] = workload.split(" ");
    const word = kind.toLowerCase();
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

export class Panel {
    constructor(aside, fleet) {
        Object.assign(this, { aside, fleet, shown: null, came: null, asked: 0, answer: null });
        aside.addEventListener("click", (event) => {
            if (event.target.closest("button.close"))
                this.close();
        });
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && this.shown !== null)
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
        if (this.shown !== null && this.shown.kind === next.kind && this.shown.name === next.name)
            return;
        if (this.shown === null)
            this.came = document.activeElement;
        this.shown = next;
        this.answer = null;
        this.aside.hidden = false;
        this.draw();
        this.aside.scrollTop = 0;
        this.aside.querySelector("h2").focus();
        this.ask();
    }

    /* The newest question counts. */
    async ask() {
        const mine = ++this.asked;
        const { kind, name } = this.shown;
        let answer;
        try {
            const reply = await fetch("/explain/" + kind + "/" + name.split("/").map(encodeURIComponent).join("/"));
            answer = reply.ok ? await reply.json() : { sentence: (await reply.text()).trim(), lines: [], missing: true };
        } catch {
            answer = { sentence: "Stowage does not answer.", lines: [], missing: true };
        }
        if (mine !== this.asked || this.shown === null)
            return;
        this.answer = answer;
        this.refresh();
    }

    /* What is shown has changed; the focus stays where it is. */
    refresh() {
        if (this.shown === null)
            return;
        const within = this.aside.contains(document.activeElement);
        const href = within && document.activeElement.getAttribute("href");
        this.draw();
        if (within)
            (Array.from(this.aside.querySelectorAll("a")).find((a) => a.getAttribute("href") === href) ||
                this.aside.querySelector("h2")).focus({ preventScroll: true });
    }

    draw() {
        const { kind, name } = this.shown;
        const title = element("h2", "", element("small", "", TITLES[kind] + " "), name);
        const close = element("button", "close", "Close");
        close.type = "button";
        title.id = "panel-title";
        title.tabIndex = -1;
        const content = [element("div", "bar-top", title, close)];
        if (this.answer === null)
            content.push(element("p", "note", "Asking …"));
        else
            content.push(element("p", this.answer.missing ? "warning" : "sentence", linked(this.answer.sentence, this.fleet)));
        const node = kind === "node" ? this.fleet.nodes.get(name) : undefined;
        if (node)
            content.push(factsOf(node), heapsOf(node));
        if (this.fleet.workloads().has(name) && kind !== "pod")
            content.push(placesOf(this.fleet.workloads().get(name)));
        if (kind === "nodepool")
            content.push(poolOf(name, this.fleet));
        if (this.answer !== null && this.answer.lines.length !== 0)
            content.push(chainOf(this.answer.lines, this.fleet));
        this.aside.replaceChildren(...content);
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

function heapsOf(node) {
    const pods = node.w.reduce((sum, w) => sum + w[1], 0);
    const ul = element("ul", "heaps");
    for (const [workload, number, milli, memory] of node.w)
        ul.append(element("li", "", linkTo(workload), ` ×${count(number)}`,
            element("small", "", ` ${cpu(milli)} CPU, ${bytes(memory)}`)));
    return element("section", "", element("h3", "", `${count(pods)} pods of ${count(node.w.length)} workloads`), ul);
}

function placesOf(workload) {
    const SHOWN = 100;
    const ul = element("ul", "heaps");
    for (const [node, number] of workload.on.slice(0, SHOWN))
        ul.append(element("li", "", link("node", node), ` ×${count(number)}`));
    if (workload.on.length > SHOWN)
        ul.append(element("li", "", `and ${count(workload.on.length - SHOWN)} more`));
    return element("section", "", element("h3", "", `${count(workload.pods)} pods on ${count(workload.on.length)} nodes`), ul);
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
