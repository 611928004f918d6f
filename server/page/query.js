/* What the reader looks for: the words of the search, and all that the address keeps of it, so that a view can be sent to a
 * colleague. Nodes are as server/page/node_json.h has them. */

import { share } from "/format.js";

export const DEFAULTS = { q: "", pool: "", zone: "", capacity: "", state: "", size: "cpu", by: "pool", view: "boxes" };
const CHOICES = { size: ["cpu", "memory", "price"], by: ["pool", "zone", "type", "none"], view: ["boxes", "table"] };

export function fromAddress(search) {
    const params = new URLSearchParams(search);
    const state = { ...DEFAULTS };
    for (const key of Object.keys(DEFAULTS)) {
        const value = params.get(key);
        if (value !== null && (!CHOICES[key] || CHOICES[key].includes(value)))
            state[key] = value;
    }
    return state;
}

/* "" or "?…", without what is as it would be anyway. */
export function toAddress(state) {
    const params = new URLSearchParams();
    for (const key of Object.keys(DEFAULTS))
        if (state[key] !== DEFAULTS[key])
            params.set(key, state[key]);
    const text = params.toString();
    return text === "" ? "" : "?" + text;
}

const TEXTS = {
    node: (n) => [n.n], pool: (n) => [n.p], zone: (n) => [n.z], type: (n) => [n.t], capacity: (n) => [n.c], state: (n) => [n.s],
    workload: (n) => n.w.map((w) => w[0]),
};
const NUMBERS = {
    cpu: (n) => 100 * share(n.cpu[0], n.cpu[1]),
    memory: (n) => 100 * share(n.mem[0], n.mem[1]),
    price: (n) => n.$,
    pods: (n) => n.w.reduce((sum, w) => sum + w[1], 0),
};
const COMPARE = {
    "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b,
};

function has(text, word) {
    return text !== undefined && text.toLowerCase().includes(word);
}

/* {test(node), word: of a workload, "" when none; trouble: a sentence, "" when none} of one word. */
function term(text) {
    const compared = /^([a-z]+)(<=|>=|<|>|=)(-?[0-9.]+)%?$/.exec(text);
    if (compared) {
        const [, key, sign, number] = compared;
        const limit = Number(number);
        if (!NUMBERS[key] || Number.isNaN(limit))
            return { trouble: "there is no number " + key + "; there are " + Object.keys(NUMBERS).join(", ") };
        return { test: (n) => COMPARE[sign](NUMBERS[key](n), limit) };
    }
    const at = text.indexOf(":");
    const key = text.slice(0, Math.max(0, at));
    if (at > 0 && !TEXTS[key])
        return { trouble: "there is no field " + key + "; there are " + Object.keys(TEXTS).join(", ") };
    const word = text.slice(at + 1).toLowerCase();
    if (at > 0)
        return { test: (n) => TEXTS[key](n).some((t) => has(t, word)), word: key === "workload" ? word : "" };
    return { test: (n) => Object.values(TEXTS).some((f) => f(n).some((t) => has(t, word))), word };
}

/* What `state` asks for: {test(node), marks(workload), trouble}. All words must hold; one that begins with - must not. */
export function compile(state) {
    const tests = [];
    const words = [];
    let trouble = "";
    for (const text of state.q.split(/\s+/).filter(Boolean)) {
        const negated = text.length > 1 && text[0] === "-";
        const t = term(negated ? text.slice(1) : text);
        if (t.trouble) {
            trouble = t.trouble;
            continue;
        }
        tests.push(negated ? (n) => !t.test(n) : t.test);
        if (!negated && t.word)
            words.push(t.word);
    }
    for (const [key, field] of [["pool", "p"], ["zone", "z"], ["capacity", "c"], ["state", "s"]])
        if (state[key] !== "")
            tests.push((n) => (n[field] || "") === state[key]);
    return {
        test: (n) => tests.every((t) => t(n)),
        marks: (workload) => words.some((word) => has(workload, word)),
        trouble,
    };
}
