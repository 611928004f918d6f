/* Node groups, when there are any: what the last pass said of each. */

import { begin, takeTable } from "/tables.js";
import { count } from "/format.js";

const COLUMNS = ["group", "size", "what the last pass said"];

function rowOf({ group, answer }) {
    const row = document.createElement("tr");
    const size = answer.lines.find((line) => line.about === "size");
    const link = document.createElement("a");
    row.id = "group/" + group;
    link.href = "#group/" + group;
    link.textContent = group;
    [link, size ? size.text : "", answer.sentence].forEach((content, i) => {
        const cell = row.insertCell();
        cell.dataset.label = COLUMNS[i];
        cell.append(content);
    });
    row.classList.toggle("warning", !answer.hasPlace);
    return row;
}

export function takeGroups(element, groups) {
    element.hidden = groups.length === 0;
    const fresh = document.createElement("table");
    fresh.dataset.table = "groups";
    const head = fresh.createTHead().insertRow();
    for (const name of COLUMNS) {
        const th = document.createElement("th");
        const button = document.createElement("button");
        th.scope = "col";
        button.type = "button";
        button.textContent = name;
        th.append(button);
        head.append(th);
    }
    const body = fresh.createTBody();
    body.append(...groups.map(rowOf));
    const table = element.querySelector("table");
    if (table) {
        takeTable(table, fresh);
        element.querySelector(".count").textContent = count(groups.length);
        return;
    }
    const title = document.createElement("h2");
    const number = document.createElement("span");
    number.className = "count";
    number.textContent = count(groups.length);
    title.append("Node groups ", number);
    element.replaceChildren(title, fresh);
    begin(fresh);
}
