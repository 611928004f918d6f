"use strict";
/* Keeps the page live. The server makes the HTML; /live says when there is something new, and then
 * /main is fetched and its rows take the place of those that differ, so that sorting, opened details
 * and the keyboard's focus stay. */
(function () {
    const SILENCE_MS = 25000; /* the server says something every ten seconds */
    const order = {};         /* table → {column, down}, as the reader has chosen */
    let heard = 0;
    let asking = false;
    let askAgain = false;

    function byId(id) {
        return document.getElementById(id);
    }

    /* --- sorting --- */

    function keyOf(row, column) {
        const cell = row.cells[column];
        return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
    }

    function compare(x, y) {
        return typeof x === "number" && typeof y === "number"
            ? x - y
            : String(x).localeCompare(String(y), undefined, { numeric: true });
    }

    function sort(table) {
        const chosen = order[table.dataset.table];
        Array.from(table.tHead.rows[0].cells).forEach(function (th, i) {
            if (chosen && chosen.column === i)
                th.setAttribute("aria-sort", chosen.down ? "descending" : "ascending");
            else
                th.removeAttribute("aria-sort");
        });
        const body = table.tBodies[0];
        const rows = Array.from(body.rows);
        const sorted = rows.slice().sort(function (a, b) {
            const c = chosen ? compare(keyOf(a, chosen.column), keyOf(b, chosen.column)) : 0;
            return (chosen && chosen.down ? -c : c) || a.place - b.place;
        });
        /* Moving a row takes the focus from it: only those that are out of place are moved. */
        sorted.forEach(function (row, i) {
            if (body.rows[i] !== row)
                body.insertBefore(row, body.rows[i] || null);
        });
    }

    function onSort(event) {
        const button = event.target.closest("th button");
        if (!button)
            return;
        const th = button.parentElement;
        const table = th.closest("table");
        const before = order[table.dataset.table];
        const column = th.cellIndex;
        if (!before || before.column !== column)
            order[table.dataset.table] = { column: column, down: th.classList.contains("n") };
        else if (before.down === th.classList.contains("n"))
            before.down = !before.down;
        else
            delete order[table.dataset.table]; /* third press: the server's order */
        sort(table);
    }

    function number(table) {
        Array.from(table.tBodies[0].rows).forEach(function (row, i) {
            row.place = i;
        });
    }

    /* --- taking over what is new --- */

    function takeCells(row, fresh) {
        Array.from(fresh.cells).forEach(function (cell, i) {
            const old = row.cells[i];
            if (old.dataset.v !== cell.dataset.v && cell.dataset.v !== undefined)
                old.dataset.v = cell.dataset.v;
            if (old.innerHTML === cell.innerHTML)
                return;
            const open = old.querySelector("details[open]") !== null;
            const focused = old.contains(document.activeElement);
            old.replaceChildren.apply(old, Array.from(cell.childNodes));
            if (open && old.querySelector("details"))
                old.querySelector("details").open = true;
            if (focused && old.querySelector("a, summary"))
                old.querySelector("a, summary").focus();
        });
    }

    function takeTable(table, fresh) {
        const body = table.tBodies[0];
        const left = new Map(Array.from(body.rows, function (row) { return [row.id, row]; }));
        Array.from(fresh.tBodies[0].rows).forEach(function (row, i) {
            const old = left.get(row.id);
            if (old) {
                takeCells(old, row);
                left.delete(row.id);
            } else {
                body.append(row);
            }
            (old || row).place = i;
        });
        left.forEach(function (row) { row.remove(); });
        sort(table);
    }

    function take(html) {
        const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("main");
        const main = document.querySelector("main");
        const same = fresh && Array.from(main.children, (e) => e.id).join() ===
            Array.from(fresh.children, (e) => e.id).join();
        if (!fresh)
            return;
        if (!same) {
            main.replaceWith(fresh);
            begin();
            return;
        }
        main.querySelectorAll("table").forEach(function (table) {
            takeTable(table, fresh.querySelector("table[data-table=" + table.dataset.table + "]"));
        });
        main.querySelectorAll("[id$=-count], [id$=-note], #summary, #standing").forEach(function (old) {
            const now = fresh.querySelector("#" + old.id);
            if (now.innerHTML !== old.innerHTML)
                old.replaceChildren.apply(old, Array.from(now.childNodes));
        });
        mark(null);
    }

    /* One request at a time; a page that nobody looks at waits until somebody does. */
    function ask() {
        if (asking || document.hidden) {
            askAgain = true;
            return;
        }
        asking = true;
        askAgain = false;
        fetch("/main").then(function (reply) {
            if (!reply.ok)
                throw new Error(reply.status);
            return reply.text();
        }).then(take).catch(function () { heard = 0; }).finally(function () {
            asking = false;
            if (askAgain)
                ask();
        });
    }

    /* --- the line to the server --- */

    function clock() {
        return new Date().toLocaleTimeString([], { hour12: false });
    }

    function hear() {
        heard = Date.now();
        byId("line").dataset.since = clock();
        show();
    }

    function show() {
        const line = byId("line");
        const stale = Date.now() - heard > SILENCE_MS;
        const text = !stale ? "live" : line.dataset.since
            ? "no word from Stowage since " + line.dataset.since + "; this may be old"
            : "no word from Stowage; this may be old";
        document.body.classList.toggle("stale", stale);
        line.classList.toggle("stale", stale);
        if (line.textContent !== text)
            line.textContent = text;
    }

    function listen() {
        const events = new EventSource("/live");
        events.addEventListener("changed", function () { hear(); ask(); });
        events.addEventListener("beat", function () { hear(); ask(); }); /* ages grow */
        events.onerror = function () {
            heard = 0;
            show();
            if (events.readyState === EventSource.CLOSED)
                setTimeout(listen, 5000);
        };
    }

    /* --- links --- */

    function mark(event) {
        const wanted = decodeURIComponent(location.hash.slice(1));
        document.querySelectorAll(".here").forEach(function (e) { e.classList.remove("here"); });
        if (wanted.indexOf("/") < 0)
            return;
        const found = byId(wanted) || Array.from(document.querySelectorAll("tr[id]")).find(
            function (row) { return row.id.startsWith(wanted + "/"); });
        if (!found)
            return;
        const details = found.closest("details");
        if (details)
            details.open = true;
        found.classList.add("here");
        if (event !== null)
            found.scrollIntoView({ block: "center" });
    }

    function begin() {
        document.querySelectorAll("table[data-table]").forEach(function (table) {
            number(table);
            sort(table);
        });
    }

    document.addEventListener("click", onSort);
    document.addEventListener("visibilitychange", function () {
        if (!document.hidden && askAgain)
            ask();
    });
    window.addEventListener("hashchange", mark);
    setInterval(show, 1000);
    begin();
    mark();
    listen();
})();
