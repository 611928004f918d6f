/* Where boxes go: squarified treemaps (Bruls, Huizing, van Wijk 2000), whose boxes are near to squares and as large as their
 * weights say. Pure. */

/* Lays `items` out on the rectangle, largest first: {item, x, y, w, h} each. weight(item) > 0. */
export function squarify(items, weight, x, y, w, h) {
    const sorted = items.map((item) => ({ item, weight: weight(item) })).filter((e) => e.weight > 0)
        .sort((a, b) => b.weight - a.weight);
    const total = sorted.reduce((sum, e) => sum + e.weight, 0);
    const out = [];
    const scale = total > 0 ? (w * h) / total : 0;
    for (let from = 0; from < sorted.length && w > 0 && h > 0;) {
        const side = Math.min(w, h);
        let to = from;
        let sum = 0;
        for (let worst = Infinity; to < sorted.length; to++) {
            const grown = sum + sorted[to].weight * scale;
            const next = worstOf(sorted[from].weight * scale, sorted[to].weight * scale, grown, side);
            if (next > worst)
                break;
            worst = next;
            sum = grown;
        }
        const thick = sum / side;
        let at = 0;
        for (; from < to; from++) {
            const long = (sorted[from].weight * scale) / thick;
            out.push(w >= h
                ? { item: sorted[from].item, x, y: y + at, w: thick, h: long }
                : { item: sorted[from].item, x: x + at, y, w: long, h: thick });
            at += long;
        }
        if (w >= h) {
            x += thick;
            w -= thick;
        } else {
            y += thick;
            h -= thick;
        }
    }
    return out;
}

/* The greatest ratio of sides in a row of this sum along `side`, whose largest and least are these. */
function worstOf(largest, least, sum, side) {
    const s = (side * side) / (sum * sum);
    return Math.max(s * largest, 1 / (s * least));
}

/* Groups side by side, each with a strip for its name where there is room for one: {boxes, heads: [{name, count, x, y, w}]}. */
export function grouped(items, nameOf, weight, width, height) {
    const HEAD = 18;
    const GAP = 6;
    const groups = new Map();
    for (const item of items) {
        const name = nameOf(item);
        if (!groups.has(name))
            groups.set(name, []);
        groups.get(name).push(item);
    }
    const all = Array.from(groups, ([name, members]) => ({ name, members }));
    all.sort((a, b) => a.name < b.name ? -1 : 1); /* so that equal ones keep their places */
    const sum = (g) => g.members.reduce((s, m) => s + weight(m), 0);
    const boxes = [];
    const heads = [];
    for (const { item, x, y, w, h } of squarify(all, sum, 0, 0, width, height)) {
        const named = item.name !== "" && h > 3 * HEAD && w > 40;
        const top = named ? HEAD : 0;
        if (named)
            heads.push({ name: item.name, count: item.members.length, x, y, w: w - GAP });
        boxes.push(...squarify(item.members, weight, x, y + top, Math.max(1, w - GAP), Math.max(1, h - top - GAP)));
    }
    return { boxes, heads };
}
