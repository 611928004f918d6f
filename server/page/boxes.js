/* The nodes as boxes on a canvas: as large as they are or cost, filled from below by the workloads that stand there, coloured
 * by how full that makes them. Hatched: planned; dotted: kept for DaemonSets. A canvas, since five thousand elements that
 * change each second would not be smooth. The keyboard goes from box to box. */

import { grouped } from "/layout.js";
import { bytes, count, cpu, percent, price, share } from "/format.js";

/* Shares of a node that is asked for, below which it has a colour. What is nearly empty is paid for and not used, and nearly
 * full is as it should be, so that the eye falls on the first. */
export const THRESHOLDS = [
    { below: 0.3, name: "empty", says: "under 30 %" },
    { below: 0.6, name: "half", says: "30 to 60 %" },
    { below: 0.9, name: "good", says: "60 to 90 %" },
    { below: Infinity, name: "full", says: "90 % and more" },
];

export function threshold(x) {
    return THRESHOLDS.find((t) => x < t.below);
}

/* What fills the box: [asked, there, planned, kept], and its place in a workload's entry. */
function filling(node, size) {
    return size === "memory" ? { room: node.mem, at: 3 } : { room: node.cpu, at: 2 };
}

function weight(node, size) {
    if (size === "price")
        return node.$ || 0;
    return filling(node, size).room[1];
}

export function tell(node) {
    const pods = node.w.reduce((sum, w) => sum + w[1], 0);
    return [node.n, node.p, node.t, node.z, node.c, node.s].filter(Boolean).join(" · ") +
        ` · CPU ${cpu(node.cpu[0])} of ${cpu(node.cpu[1])} (${percent(share(node.cpu[0], node.cpu[1]))})` +
        ` · memory ${bytes(node.mem[0])} of ${bytes(node.mem[1])} (${percent(share(node.mem[0], node.mem[1]))})` +
        ` · ${pods} pods · ${price(node.$)} an hour`;
}

export class Boxes {
    constructor({ canvas, outline, words, legend, open }) {
        Object.assign(this, { canvas, outline, words, open, boxes: [], heads: [], pointed: null, nodes: [], state: null });
        this.wanted = false;
        canvas.addEventListener("pointermove", (event) => this.point(this.at(event)));
        canvas.addEventListener("pointerleave", () => this.point(null));
        canvas.addEventListener("click", (event) => {
            const box = this.at(event);
            if (box)
                open(box.item.n);
        });
        canvas.addEventListener("keydown", (event) => this.key(event));
        canvas.addEventListener("focus", () => this.pointed || this.point(this.boxes[0] || null));
        new ResizeObserver(() => this.want()).observe(canvas);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.want());
        const keys = THRESHOLDS.map((t) => [t.name, t.says]);
        for (const [name, says] of [...keys, ["planned", "planned"], ["kept", "kept for DaemonSets"], ["marked", "found"]]) {
            const key = document.createElement("span");
            key.className = "key " + name;
            key.textContent = says;
            legend.append(key, " ");
        }
    }

    take(nodes, state, marks) {
        Object.assign(this, { nodes, state, marks });
        this.want();
    }

    /* Drawn once a frame, however much has come. */
    want() {
        if (this.wanted || this.state === null)
            return;
        this.wanted = true;
        requestAnimationFrame(() => {
            this.wanted = false;
            this.lay();
            this.draw();
        });
    }

    lay() {
        const { size, by } = this.state;
        const field = { pool: "p", zone: "z", type: "t" }[by];
        const nodes = this.nodes.slice().sort((a, b) => a.n < b.n ? -1 : 1);
        this.width = this.canvas.clientWidth;
        this.height = this.canvas.clientHeight;
        const nameOf = (n) => field ? n[field] || "without " + by : "";
        Object.assign(this, grouped(nodes, nameOf, (n) => weight(n, size), this.width, this.height));
        this.pointed = this.pointed && this.boxes.find((b) => b.item.n === this.pointed.item.n) || null;
    }

    at(event) {
        const { offsetX: x, offsetY: y } = event;
        return this.boxes.find((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h) || null;
    }

    point(box) {
        if (box === this.pointed)
            return;
        this.pointed = box;
        this.words.textContent = box ? tell(box.item) : "";
        this.canvas.classList.toggle("over", box !== null);
        this.frame();
    }

    /* An element of its own, so that the boxes need not be drawn anew for it. */
    frame() {
        const box = this.pointed;
        this.outline.hidden = box === null;
        if (box === null)
            return;
        for (const [side, value] of [["left", box.x], ["top", box.y], ["width", box.w], ["height", box.h]])
            this.outline.style[side] = value + "px";
    }

    key(event) {
        if (event.key === "Enter" && this.pointed) {
            this.open(this.pointed.item.n);
            return;
        }
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!way)
            return;
        event.preventDefault();
        const next = this.neighbour(way) || (this.pointed ? null : this.boxes[0]);
        if (next)
            this.point(next);
    }

    /* The nearest box whose middle lies that way; what is aside counts twice. */
    neighbour([dx, dy]) {
        const from = this.pointed;
        if (!from)
            return null;
        let best = null;
        let least = Infinity;
        for (const b of this.boxes) {
            const x = b.x + b.w / 2 - from.x - from.w / 2;
            const y = b.y + b.h / 2 - from.y - from.h / 2;
            const ahead = x * dx + y * dy;
            const aside = Math.abs(x * dy) + Math.abs(y * dx);
            if (ahead > 0.5 && ahead + 2 * aside < least) {
                least = ahead + 2 * aside;
                best = b;
            }
        }
        return best;
    }

    colours() {
        const style = getComputedStyle(this.canvas);
        const names = ["ink", "paper", "faint", "line", "row", "empty", "half", "good", "full", "mark-box", "planned", "kept"];
        const c = Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
        c.font = style.fontFamily;
        c.unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
        return c;
    }

    draw() {
        const ratio = window.devicePixelRatio || 1;
        const g = this.canvas.getContext("2d");
        const c = this.colours();
        if (this.canvas.width !== Math.round(this.width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
            this.canvas.width = Math.round(this.width * ratio);
            this.canvas.height = Math.round(this.height * ratio);
        }
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        g.clearRect(0, 0, this.width, this.height);
        c.planned = stripes(g, c.planned);
        c.kept = dots(g, c.kept);
        const layers = new Layers(["row", "empty", "half", "good", "full", "mark-box", "planned", "kept", "paper"]);
        const names = [];
        for (const box of this.boxes)
            this.fill(layers, names, c, box);
        layers.draw(g, c);
        this.boxes.filter(({ item }) => item.s in EDGES).forEach((box) => drawEdge(g, c, box));
        g.textBaseline = "top";
        for (const { text, x, y, w } of names)
            drawName(g, c, text, x, y, w);
        for (const head of this.heads)
            this.drawHead(g, c, head);
        this.frame();
    }

    drawHead(g, c, head) {
        g.fillStyle = c.ink;
        g.font = `600 ${12 * c.unit}px ${c.font}`;
        g.fillText(head.name, head.x, head.y + 2, head.w);
        const used = g.measureText(head.name).width + 6;
        g.fillStyle = c.faint;
        g.font = `${12 * c.unit}px ${c.font}`;
        if (used + 24 < head.w)
            g.fillText(count(head.count), head.x + used, head.y + 2, head.w - used);
    }

    /* What of which colour goes where in a box, and names where there is room. Bands that would be too thin to be told apart
     * are one, so that five thousand small boxes cost no more than their area. */
    fill(layers, names, c, { item: node, x, y, w, h }) {
        const edge = w > 6 && h > 6 ? 1 : 0.3; /* what separates boxes, of their own room */
        const { room, at } = filling(node, this.state.size);
        const there = room[1] || 1;
        const wide = w - edge;
        const high = h - edge;
        const colour = threshold(room[0] / there).name;
        let top = y + high;
        const band = (amount, layer) => {
            const part = Math.min(top - y, (amount / there) * high);
            top -= part;
            layers.add(layer, x, top, wide, part);
            return part;
        };
        layers.add("row", x, y, wide, high);
        if (high * wide < BANDS_FROM) {
            const marked = node.w.reduce((sum, workload) => sum + (this.marks(workload[0]) ? workload[at] : 0), 0);
            if (marked > 0)
                band(marked, "mark-box");
            band(room[0] - marked, colour);
        } else {
            for (const workload of node.w) {
                const part = band(workload[at], this.marks(workload[0]) ? "mark-box" : colour);
                if (part >= 4)
                    layers.add("paper", x, top, wide, 0.7);
                if (part >= 40 * c.unit && wide > 90) /* below the node's own name, were it at the top */
                    names.push({ text: workload[0].split(" ")[1] + " ×" + workload[1], x, y: top + part - 20 * c.unit, w: wide });
            }
        }
        if (room[2] > 0)
            band(room[2], "planned");
        if (room[3] > 0)
            band(room[3], "kept");
        if (wide > 90 && high > 26)
            names.push({ text: node.n, x, y, w: wide });
    }
}

const BANDS_FROM = 900; /* pixels of a box in which its bands can be told apart */
const EDGES = { leaving: "empty", launching: "faint", starting: "faint" }; /* state → colour of a dashed edge */

/* Rectangles by colour, painted in few strokes of the brush: setting a colour costs more than a rectangle. */
class Layers {
    constructor(names) {
        this.paths = new Map(names.map((name) => [name, new Path2D()]));
    }

    add(name, x, y, w, h) {
        this.paths.get(name).rect(x, y, w, h);
    }

    draw(g, c) {
        for (const [name, path] of this.paths) {
            g.fillStyle = c[name];
            g.fill(path);
        }
    }
}

function drawEdge(g, c, { item, x, y, w, h }) {
    g.strokeStyle = c[EDGES[item.s]];
    g.lineWidth = 2;
    g.setLineDash([4, 3]);
    g.strokeRect(x + 1, y + 1, Math.max(1, w - 3), Math.max(1, h - 3));
    g.setLineDash([]);
}

/* On a ground of its own: the colours below are many. */
function drawName(g, c, text, x, y, w) {
    g.font = `${11 * c.unit}px ${c.font}`;
    const wide = Math.min(w - 6, g.measureText(text).width);
    g.fillStyle = c.paper;
    g.fillRect(x + 3, y + 3, wide + 4, 14 * c.unit);
    g.fillStyle = c.ink;
    g.fillText(text, x + 5, y + 4, w - 8);
}

function tile(g, size, paint) {
    const small = document.createElement("canvas");
    small.width = small.height = size;
    paint(small.getContext("2d"));
    return g.createPattern(small, "repeat");
}

function stripes(g, colour) {
    return tile(g, 6, (t) => {
        t.strokeStyle = colour;
        t.lineWidth = 1.5;
        t.beginPath();
        for (const x of [-6, 0, 6]) {
            t.moveTo(x, 6);
            t.lineTo(x + 6, 0);
        }
        t.stroke();
    });
}

function dots(g, colour) {
    return tile(g, 4, (t) => {
        t.fillStyle = colour;
        t.fillRect(1, 1, 1.5, 1.5);
    });
}
