/* The nodes as a table, for who wants numbers or reads by ear: the first so many, sorted as the reader likes. */

import { age, bytes, count, cpu, percent, price, share } from "/format.js";

const MOST = 500; /* rows: more can be found, not read */

const COLUMNS = [
    { name: "node", of: (n) => n.n },
    { name: "pool", of: (n) => n.p || n.g || "" },
    { name: "cpu", number: true, of: (n) => share(n.cpu[0], n.cpu[1]), text: (n) => room(n.cpu, cpu) },
    { name: "memory", number: true, of: (n) => share(n.mem[0], n.mem[1]), text: (n) => room(n.mem, bytes) },
    { name: "pods", number: true, of: (n) => n.w.reduce((sum, w) => sum + w[1], 0) },
    { name: "type", of: (n) => n.t || "" },
    { name: "zone", of: (n) => n.z || "" },
    { name: "capacity", of: (n) => n.c || "" },
    { name: "$/hour", number: true, of: (n) => n.$ || 0, text: (n) => price(n.$) },
    { name: "age", number: true, of: (n) => -n.a, text: (n) => age(Date.now() - n.a) },
    { name: "state", of: (n) => n.s, text: (n) => n.r ? n.s + ": " + n.r : n.s },
];

function room([asked, there, planned], show) {
    const text = `${show(asked)} of ${show(there)}, ${percent(share(asked, there))}`;
    return planned > 0 ? text + `, ${show(planned)} planned` : text;
}

export class Nodes {
    constructor(element) {
        Object.assign(this, { element, column: 0, down: false });
        element.addEventListener("click", (event) => this.onSort(event));
    }

    onSort(event) {
        const button = event.target.closest("th button");
        if (!button)
            return;
        const column = button.parentElement.cellIndex;
        this.down = column === this.column ? !this.down : Boolean(COLUMNS[column].number);
        this.column = column;
        this.take(this.nodes);
        this.element.querySelectorAll("th button")[column].focus();
    }

    take(nodes) {
        this.nodes = nodes;
        const { of } = COLUMNS[this.column];
        const sign = this.down ? -1 : 1;
        const sorted = nodes.slice().sort((a, b) => {
            const x = of(a);
            const y = of(b);
            return sign * (x < y ? -1 : x > y ? 1 : 0) || (a.n < b.n ? -1 : 1);
        });
        const focused = document.activeElement instanceof HTMLAnchorElement && this.element.contains(document.activeElement)
            ? document.activeElement.getAttribute("href") : null;
        const table = document.createElement("table");
        table.dataset.nodes = "";
        const head = table.createTHead().insertRow();
        COLUMNS.forEach((c, i) => {
            const th = document.createElement("th");
            const button = document.createElement("button");
            th.scope = "col";
            th.className = c.number ? "n" : "";
            button.type = "button";
            button.textContent = c.name;
            if (i === this.column)
                th.setAttribute("aria-sort", this.down ? "descending" : "ascending");
            th.append(button);
            head.append(th);
        });
        const body = table.createTBody();
        for (const node of sorted.slice(0, MOST))
            body.append(rowOf(node));
        const note = document.createElement("p");
        note.className = "note";
        note.textContent = sorted.length > MOST ? `The first ${count(MOST)} of ${count(sorted.length)}; a search narrows them.`
            : sorted.length === 0 ? "No nodes." : "";
        this.element.replaceChildren(table, note);
        if (focused !== null)
            Array.from(this.element.querySelectorAll("a")).find((a) => a.getAttribute("href") === focused)?.focus();
    }
}

function rowOf(node) {
    const row = document.createElement("tr");
    COLUMNS.forEach((c, i) => {
        const cell = row.insertCell();
        cell.dataset.label = c.name;
        cell.className = c.number ? "n" : "";
        const text = c.text ? c.text(node) : c.number ? count(c.of(node)) : c.of(node);
        if (i === 0) {
            const link = document.createElement("a");
            link.href = "#node/" + node.n;
            link.textContent = text;
            cell.append(link);
        } else {
            cell.textContent = text;
        }
    });
    return row;
}
