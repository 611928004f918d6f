/* Pods in the panel: equal ones as one group, of which one at a time opens into names. Those are asked for when it does, the
 * first so many of them; a word in "Find" narrows them. */

import { arrange, element, link } from "/dom.js";
import { count } from "/format.js";
import { parse, safe } from "/text.js";

const NAMED = 100;   /* server/page/pods.h */
const SEARCHED = 10; /* names that are read sooner than a word is typed */
const TYPING_MS = 150;
const AGAIN_MS = 5000; /* names are asked for anew as often at most */

/* `choose({open, find})` hears what the reader opens and looks for; open: a group's key, "": none. */
export class Pods {
    constructor(choose) {
        Object.assign(this, { choose, groups: [], rows: new Map(), open: "", find: "", asked: 0, askedAt: 0, typing: 0 });
        this.title = element("h3", "");
        this.list = element("ul", "heaps");
        this.element = element("section", "pods", this.title, this.list);
        this.input = element("input", "");
        this.input.type = "search";
        this.input.autocomplete = "off";
        this.input.spellcheck = false;
        this.search = element("label", "", "Find ", this.input);
        this.names = element("ul", "");
        this.note = element("p", "note");
        this.note.setAttribute("role", "status");
        this.box = element("div", "names", this.search, this.names, this.note);
        this.box.id = "names";
        this.list.addEventListener("click", (event) => this.onClick(event));
        this.input.addEventListener("input", () => this.onInput());
    }

    /* groups: {key, name: as a sentence calls it, head: an element, pods, tail: a text, query: of /pods, short: names without
     * their namespace}. */
    show(title, groups) {
        this.title.textContent = title;
        this.groups = groups;
        const rows = new Map();
        for (const group of groups)
            rows.set(group.key, this.rowOf(group));
        this.rows = rows;
        arrange(this.list, rows.values());
        if (this.open !== "" && Date.now() - this.askedAt > AGAIN_MS)
            this.ask();
    }

    rowOf(group) {
        const row = this.rows.get(group.key) || this.newRow(group);
        const open = this.open === group.key;
        row.count.textContent = "×" + count(group.pods);
        row.count.setAttribute("aria-label", `×${count(group.pods)}, names of the pods of ${group.name}`);
        row.count.setAttribute("aria-expanded", String(open));
        row.tail.textContent = group.tail;
        if (!open && row.contains(this.box))
            this.box.remove();
        else if (open && !row.contains(this.box))
            row.append(this.box);
        return row;
    }

    newRow(group) {
        const row = element("li", "", group.head, " ");
        row.count = element("button", "names", "");
        row.count.type = "button";
        row.count.setAttribute("aria-controls", "names");
        row.count.dataset.key = group.key;
        row.tail = element("small", "");
        row.append(row.count, " ", row.tail);
        return row;
    }

    /* What the address says is open. */
    follow({ open, find }) {
        if (open === this.open && find === this.find)
            return;
        if (open !== this.open) {
            this.names.replaceChildren();
            this.names.style.minHeight = "";
            this.note.textContent = "";
        }
        this.open = open;
        this.find = find;
        if (this.input.value !== find)
            this.input.value = find;
        this.askedAt = 0;
        clearTimeout(this.typing);
    }

    group() {
        return this.groups.find((g) => g.key === this.open);
    }

    /* The list has its room before it is there, and keeps it when a word narrows it, so that nothing below moves. */
    makeRoom(group) {
        this.search.hidden = group.pods <= SEARCHED && this.find === "";
        if (this.names.childElementCount !== 0 || this.names.style.minHeight !== "")
            return;
        this.names.replaceChildren(...Array.from({ length: Math.min(NAMED, group.pods) }, () => element("li", "", "\u00a0")));
        this.names.style.minHeight = this.names.offsetHeight + "px";
    }

    /* The newest question counts. */
    async ask() {
        const group = this.group();
        if (group === undefined)
            return;
        const mine = ++this.asked;
        this.askedAt = Date.now();
        this.makeRoom(group);
        const find = this.find === "" ? "" : "&find=" + encodeURIComponent(this.find.trim().toLowerCase());
        let answer = null;
        let trouble = "Stowage does not answer.";
        try {
            const reply = await fetch("/pods?" + group.query + find);
            if (reply.ok)
                answer = parse(await reply.text());
            else
                trouble = safe((await reply.text()).trim());
        } catch {
            /* it does not answer */
        }
        if (mine === this.asked)
            this.tell(group, answer, trouble);
    }

    tell(group, answer, trouble) {
        const pods = answer === null ? [] : answer.pods;
        const kept = new Map(Array.from(this.names.children, (li) => [li.dataset.pod, li]));
        arrange(this.names, pods.map((p) => kept.get(p.pod + " " + (p.node || "")) || nameOf(p, group)));
        if (answer === null)
            this.note.textContent = trouble;
        else if (answer.found > pods.length)
            this.note.textContent = `and ${count(answer.found - pods.length)} more; a word in "Find" narrows them`;
        else if (this.find !== "")
            this.note.textContent = answer.found === 0 ? `None has "${this.find}" in its name.` : `${count(answer.found)} found`;
        else
            this.note.textContent = answer.found === 0 ? "There is none any more." : "";
    }

    onClick(event) {
        const button = event.target.closest("button.names");
        if (button === null)
            return;
        const open = button.dataset.key === this.open ? "" : button.dataset.key;
        const before = button.getBoundingClientRect().top;
        this.choose({ open, find: "" });
        const panel = this.element.closest("aside");
        panel.scrollTop += button.getBoundingClientRect().top - before; /* a list above that closed takes nothing away */
    }

    /* Escape takes the word back first, as it does in every search. */
    clears(target) {
        if (target !== this.input || this.input.value === "")
            return false;
        this.input.value = "";
        this.choose({ open: this.open, find: "" });
        return true;
    }

    onInput() {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => this.choose({ open: this.open, find: this.input.value }), TYPING_MS);
    }
}

function nameOf(pod, group) {
    const text = group.short ? pod.pod.slice(pod.pod.indexOf("/") + 1) : pod.pod;
    const li = element("li", "", link("pod", pod.pod, text));
    li.dataset.pod = pod.pod + " " + (pod.node || "");
    if (group.wide && pod.node)
        li.append(" ", element("small", "", "on "), link("node", pod.node));
    else if (group.wide)
        li.append(" ", element("small", "", "waits"));
    return li;
}
