/* The nodes as the server told them last (server/page/board.h), and who stands where. */

export class Fleet {
    constructor() {
        this.nodes = new Map(); /* by name */
        this.known = null;      /* workloads by "namespace/name"; null: to be counted anew */
    }

    begin() {
        this.nodes.clear();
        this.known = null;
    }

    take(change) {
        for (const name of change.gone)
            this.nodes.delete(name);
        for (const node of change.nodes)
            this.nodes.set(node.n, node);
        this.known = null;
    }

    /* "shop/web" → {kind, pods, on: [[node, pods]…]} */
    workloads() {
        if (this.known !== null)
            return this.known;
        this.known = new Map();
        for (const node of this.nodes.values())
            for (const [text, pods] of node.w) {
                const [kind, name] = text.split(" ");
                if (!this.known.has(name))
                    this.known.set(name, { kind, pods: 0, on: [] });
                const w = this.known.get(name);
                w.pods += pods;
                w.on.push([node.n, pods]);
            }
        return this.known;
    }

    /* Sorted values that nodes have in a field. */
    values(field) {
        return Array.from(new Set(Array.from(this.nodes.values(), (n) => n[field] || ""))).filter(Boolean).sort();
    }

    find(test) {
        return Array.from(this.nodes.values()).filter(test);
    }
}
