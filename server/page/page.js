/* The page: what the stream tells goes to those who show it, what the reader chooses goes to the address and from there to
 * the view. */

import { Boxes } from "/boxes.js";
import { Chart, ceiling } from "/chart.js";
import { Fleet } from "/fleet.js";
import { bytes, count, cpu, month, percent, price, share } from "/format.js";
import { takeGroups } from "/groups.js";
import { Nodes } from "/nodes.js";
import { Panel, named } from "/panel.js";
import { DEFAULTS, compile, fromAddress, toAddress } from "/query.js";
import { listen } from "/stream.js";
import { begin, onSort, takePart, tickAges } from "/tables.js";

const HISTORY_MOST = 720; /* points, as the server keeps them */
const byId = (id) => document.getElementById(id);

const fleet = new Fleet();
const panel = new Panel(byId("panel"), fleet);
const boxes = new Boxes({
    canvas: byId("canvas"), outline: byId("outline"), words: byId("pointed"), legend: byId("legend"),
    open: (name) => { location.hash = "#node/" + name; },
});
const nodes = new Nodes(byId("table"));
let state = fromAddress(location.search);
let points = []; /* of its history */
let step = 30000;

/* Order of the fields: server/page/history.h. */
const chartOfPrice = new Chart(byId("chart-price"), {
    lines: [{ className: "price", value: (p) => p[1] }],
    top: (all) => ceiling(all.reduce((most, p) => Math.max(most, p[1]), 0)),
    label: (top) => "$" + count(top),
    tell: (p) => `${price(p[1])} an hour, ${month(p[1])} a month, ${count(p[6])} nodes`,
});
const chartOfUse = new Chart(byId("chart-use"), {
    lines: [
        { className: "cpu", value: (p) => share(p[2], p[3]) },
        { className: "mem", value: (p) => share(p[4], p[5]) },
    ],
    top: () => 1,
    label: () => "100 %",
    tell: (p) => `CPU ${percent(share(p[2], p[3]))} (${cpu(p[2])} of ${cpu(p[3])}), memory ` +
        `${percent(share(p[4], p[5]))} (${bytes(p[4])} of ${bytes(p[5])})`,
});

/* --- the nodes --- */

function fill(id, values) {
    const select = byId(id);
    const wanted = ["", ...new Set([...values, state[id]].filter(Boolean))];
    if (wanted.join("\n") !== Array.from(select.options, (o) => o.value).join("\n"))
        select.replaceChildren(...wanted.map((v) => new Option(v === "" ? "all" : v, v)));
    select.value = state[id];
}

/* What the fleet is now goes behind the points of its history, so that the charts end with what the figures say. */
function showCharts() {
    const now = [Date.now(), 0, 0, 0, 0, 0, fleet.nodes.size];
    for (const node of fleet.nodes.values())
        [node.$ || 0, node.cpu[0], node.cpu[1], node.mem[0], node.mem[1]].forEach((v, i) => { now[i + 1] += v; });
    const last = points[points.length - 1];
    const shown = fleet.nodes.size !== 0 && (!last || now[0] > last[0]) ? [...points, now] : points;
    chartOfPrice.take(shown, step);
    chartOfUse.take(shown, step);
}

function showFleet() {
    const query = compile(state);
    const found = fleet.find(query.test);
    for (const [id, field] of [["pool", "p"], ["zone", "z"], ["capacity", "c"], ["state", "s"]])
        fill(id, fleet.values(field));
    for (const id of ["size", "by", "view"])
        byId(id).value = state[id];
    if (document.activeElement !== byId("q"))
        byId("q").value = state.q;
    byId("q-note").textContent = query.trouble;
    byId("fleet-count").textContent = found.length === fleet.nodes.size
        ? count(found.length) : `${count(found.length)} of ${count(fleet.nodes.size)}`;
    byId("clear").hidden = toAddress({ ...state, size: DEFAULTS.size, by: DEFAULTS.by, view: DEFAULTS.view }) === "";
    byId("boxes").hidden = state.view !== "boxes";
    byId("table").hidden = state.view !== "table";
    if (state.view === "boxes")
        boxes.take(found, state, query.marks);
    else
        nodes.take(found);
}

function choose(changes) {
    state = { ...state, ...changes };
    history.replaceState(null, "", location.pathname + toAddress(state) + location.hash);
    showFleet();
}

/* --- links --- */

/* The row of what the address names, besides its panel. */
function mark() {
    const wanted = decodeURIComponent(location.hash.slice(1).split("?")[0]);
    document.querySelectorAll(".here").forEach((e) => e.classList.remove("here"));
    if (wanted.includes("/"))
        byId(wanted)?.classList.add("here");
}

function follow() {
    state = fromAddress(location.search);
    showFleet();
    panel.follow();
    mark();
}

/* A link that only changes what is looked for need not load the page anew. */
function onLink(event) {
    const a = event.target.closest("a[href^='?']");
    if (!a || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0)
        return;
    event.preventDefault();
    history.pushState(null, "", location.pathname + a.getAttribute("href"));
    follow();
    byId("fleet").scrollIntoView();
}

/* --- what the stream tells --- */

const on = {
    begin() {
        fleet.begin();
        points = [];
    },
    part({ name, html }) {
        takePart(byId(name), html);
        mark();
    },
    groups(groups) {
        takeGroups(byId("groups"), groups);
    },
    nodes(change) {
        fleet.take(change);
        showFleet();
        showCharts();
        panel.refresh();
    },
    history({ stepMillis, points: more }) {
        if (points.length !== 0 && more.length !== 0 && more[0][0] <= points[points.length - 1][0])
            points = []; /* the server's clock was set back */
        points = points.concat(more).slice(-HISTORY_MOST);
        step = stepMillis;
        showCharts();
    },
    beat() {
        panel.refresh();
    },
};

/* Return opens what has the name: a node, a workload, or else a pod, of which there are too many to be listed here. */
byId("filters").addEventListener("submit", (event) => {
    event.preventDefault();
    const to = named(byId("q").value.trim(), fleet);
    if (to !== null)
        location.hash = to;
});
byId("filters").addEventListener("input", (event) => choose({ [event.target.id]: event.target.value }));
byId("clear").addEventListener("click", () => {
    choose({ ...DEFAULTS, size: state.size, by: state.by, view: state.view });
    byId("q").value = "";
    byId("q").focus();
});
document.addEventListener("click", onLink);
document.querySelector("main").addEventListener("click", (event) => {
    if (!byId("table").contains(event.target))
        onSort(event);
});
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, select, textarea")) {
        event.preventDefault();
        byId("q").focus();
    }
});
window.addEventListener("popstate", follow); /* also where only the fragment changes */
document.querySelectorAll("table[data-table]").forEach(begin);
setInterval(() => tickAges(document), 1000);
follow();
listen(on, byId("line"));
