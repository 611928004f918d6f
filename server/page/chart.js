/* Lines over the last hours as SVG. The newest values stand in words beside it, and those under the pointer instead while it
 * is there; left and right do the same for the keyboard. */

import { clock } from "/format.js";

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 600;
const HEIGHT = 120;

function make(name, attributes, parent) {
    const e = document.createElementNS(NS, name);
    for (const key of Object.keys(attributes))
        e.setAttribute(key, attributes[key]);
    if (parent)
        parent.append(e);
    return e;
}

/* The least of 1, 2, 5 times a power of ten that is not below v. */
export function ceiling(v) {
    if (!(v > 0))
        return 1;
    const power = 10 ** Math.floor(Math.log10(v));
    return [1, 2, 5, 10].map((f) => f * power).find((c) => c >= v * (1 - 1e-9));
}

/* Points as "M x y L x y …"; a hole longer than `gap` breaks the line. */
export function path(points, at, value, x, y, gap) {
    let text = "";
    points.forEach((p, i) => {
        const pen = i === 0 || at(p) - at(points[i - 1]) > gap ? "M" : "L";
        text += pen + x(at(p)).toFixed(1) + " " + y(value(p)).toFixed(1);
    });
    return text;
}

export class Chart {
    /* lines: [{className, value(point)}]; top(points): greatest value of the scale; tell(point): in words. */
    constructor(figure, { lines, top, label, tell }) {
        Object.assign(this, { figure, lines, top, label, tell, points: [], step: 1, pointed: -1 });
        this.svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: "0" });
        this.words = document.createElement("output");
        this.scale = document.createElement("span");
        this.scale.className = "scale";
        const frame = document.createElement("div");
        frame.className = "frame";
        frame.append(this.svg, this.scale);
        figure.append(frame, this.words);
        this.svg.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
        this.svg.addEventListener("pointerleave", () => this.point(-1));
        this.svg.addEventListener("blur", () => this.point(-1));
        this.svg.addEventListener("keydown", (event) => this.key(event));
    }

    nearest(event) {
        const box = this.svg.getBoundingClientRect();
        const t = this.from + ((event.clientX - box.left) / box.width) * (this.to - this.from);
        let best = -1;
        this.points.forEach((p, i) => {
            if (best < 0 || Math.abs(p[0] - t) < Math.abs(this.points[best][0] - t))
                best = i;
        });
        return best;
    }

    key(event) {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by || this.points.length === 0)
            return;
        event.preventDefault();
        const at = this.pointed < 0 ? this.points.length - 1 : this.pointed + by;
        this.point(Math.min(this.points.length - 1, Math.max(0, at)));
    }

    point(i) {
        this.pointed = i;
        this.draw();
    }

    take(points, step) {
        this.points = points;
        this.step = step;
        this.draw();
    }

    draw() {
        const points = this.points;
        this.svg.replaceChildren();
        if (points.length === 0) {
            this.words.textContent = "nothing yet";
            return;
        }
        this.to = points[points.length - 1][0];
        this.from = Math.min(points[0][0], this.to - 20 * this.step);
        const top = this.top(points);
        const x = (t) => ((t - this.from) / (this.to - this.from)) * WIDTH;
        const y = (v) => HEIGHT - 1 - (Math.min(v, top) / top) * (HEIGHT - 4);
        for (const part of [0.25, 0.5, 0.75])
            make("path", { class: "grid", d: `M0 ${y(top * part)}L${WIDTH} ${y(top * part)}` }, this.svg);
        for (const line of this.lines)
            make("path", {
                class: "line " + line.className,
                d: path(points, (p) => p[0], line.value, x, y, 3 * this.step),
            }, this.svg);
        const p = points[this.pointed] || points[points.length - 1];
        if (this.pointed >= 0)
            make("path", { class: "cursor", d: `M${x(p[0])} 0L${x(p[0])} ${HEIGHT}` }, this.svg);
        this.scale.textContent = this.label(top);
        const words = this.tell(p) + (this.pointed >= 0 ? ", " + clock(p[0]) : "");
        if (this.words.textContent !== words)
            this.words.textContent = words;
        this.svg.setAttribute("aria-label", `${clock(this.from)} to ${clock(this.to)}; ${words}`);
    }
}
