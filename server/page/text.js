/* What the server sends, as values whose texts may be shown: base/safe_text.c does the same for the server's own lines.
 * A character that turns the direction of writing around, or that has no width, lets a name look like another one. */

const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escape(character) {
    const hex = character.codePointAt(0).toString(16);
    return SHORT[character] || (hex.length > 4 ? "\\U" + hex.padStart(8, "0") : "\\u" + hex.padStart(4, "0"));
}

export function safe(text) {
    return text.replace(UNSAFE, escape);
}

/* The server writes all of these characters as escapes of JSON: a text without one has nothing to replace. `html` is
 * markup, in which the server has replaced them. */
export function parse(json) {
    return JSON.parse(json, json.includes("\\") ? (key, value) => typeof value === "string" && key !== "html" ? safe(value) : value
        : undefined);
}
