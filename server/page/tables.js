/* Tables that the server writes: sorted as the reader likes, and brought up to date row by row, so that what is open, what
 * has the focus and the order stay. Ages are written here. */

import { age } from "/format.js";

const order = {}; /* table → {column, down}, as the reader has chosen */

function keyOf(row, column) {
    const cell = row.cells[column];
    return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
}

function compare(x, y) {
    return typeof x === "number" && typeof y === "number"
        ? x - y
        : String(x).localeCompare(String(y), undefined, { numeric: true });
}

export function sort(table) {
    const chosen = order[table.dataset.table];
    Array.from(table.tHead.rows[0].cells).forEach((th, i) => {
        if (chosen && chosen.column === i)
            th.setAttribute("aria-sort", chosen.down ? "descending" : "ascending");
        else
            th.removeAttribute("aria-sort");
    });
    const body = table.tBodies[0];
    const sorted = Array.from(body.rows).sort((a, b) => {
        const c = chosen ? compare(keyOf(a, chosen.column), keyOf(b, chosen.column)) : 0;
        return (chosen && chosen.down ? -c : c) || a.place - b.place;
    });
    /* Moving a row takes the focus from it: only those that are out of place are moved. */
    sorted.forEach((row, i) => {
        if (body.rows[i] !== row)
            body.insertBefore(row, body.rows[i] || null);
    });
}

export function onSort(event) {
    const button = event.target.closest("th button");
    if (!button)
        return;
    const th = button.parentElement;
    const table = th.closest("table");
    const before = order[table.dataset.table];
    const column = th.cellIndex;
    if (!before || before.column !== column)
        order[table.dataset.table] = { column, down: th.classList.contains("n") };
    else if (before.down === th.classList.contains("n"))
        before.down = !before.down;
    else
        delete order[table.dataset.table]; /* third press: the server's order */
    sort(table);
}

function takeCells(row, fresh) {
    Array.from(fresh.cells).forEach((cell, i) => {
        const old = row.cells[i];
        if (old.dataset.v !== cell.dataset.v && cell.dataset.v !== undefined)
            old.dataset.v = cell.dataset.v;
        if (old.innerHTML === cell.innerHTML)
            return;
        const open = old.querySelector("details[open]") !== null;
        const focused = old.contains(document.activeElement);
        old.replaceChildren(...cell.childNodes);
        if (open && old.querySelector("details"))
            old.querySelector("details").open = true;
        if (focused && old.querySelector("a, summary"))
            old.querySelector("a, summary").focus();
    });
}

/* Rows of `fresh` become those of `table`. */
export function takeTable(table, fresh) {
    const body = table.tBodies[0];
    const left = new Map(Array.from(body.rows, (row) => [row.id, row]));
    Array.from(fresh.tBodies[0].rows).forEach((row, i) => {
        const old = left.get(row.id);
        if (old) {
            takeCells(old, row);
            left.delete(row.id);
        } else {
            body.append(row);
        }
        (old || row).place = i;
    });
    left.forEach((row) => row.remove());
    sort(table);
}

/* The first look at a table that came with the document. */
export function begin(table) {
    Array.from(table.tBodies[0].rows).forEach((row, i) => { row.place = i; });
    sort(table);
}

export function tickAges(within) {
    const now = Date.now();
    within.querySelectorAll("time[data-since]").forEach((time) => {
        const text = age(now - Number(time.dataset.since));
        if (time.textContent !== text)
            time.textContent = text;
    });
}

/* `html` is the inside of the element from now on. */
export function takePart(element, html) {
    const fresh = new DOMParser().parseFromString(html, "text/html").body;
    tickAges(fresh);
    const table = element.querySelector("table[data-table]");
    const next = fresh.querySelector("table[data-table]");
    if (!table || !next) {
        element.replaceChildren(...fresh.childNodes);
        element.querySelectorAll("table[data-table]").forEach(begin);
        return;
    }
    takeTable(table, next);
    element.querySelectorAll("[id$=-count], [id$=-note]").forEach((old) => {
        const now = fresh.querySelector("#" + old.id);
        if (now && now.innerHTML !== old.innerHTML)
            old.replaceChildren(...now.childNodes);
    });
}
