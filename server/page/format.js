/* Numbers as people read them; server/html.c writes the same. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const HOURS_A_MONTH = 730; /* base/units.h */

export function count(n) {
    return whole.format(n);
}

/* Two digits that matter below ten, whole numbers from a hundred on. */
function short(v) {
    return v >= 100 || Number.isInteger(v) ? whole.format(v) : v.toFixed(1);
}

export function cpu(milli) {
    return milli !== 0 && Math.abs(milli) < 100 ? milli + "m" : short(milli / 1000);
}

export function bytes(n) {
    const units = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
    let unit = 0;
    for (; n >= 1024 && unit + 1 < units.length; unit++)
        n /= 1024;
    return short(n) + units[unit];
}

export function price(v) {
    if (v === undefined || v === null)
        return "–";
    if (Math.abs(v) < 10)
        return "$" + v.toFixed(4);
    return "$" + cents.format(v);
}

export function month(v) {
    return "$" + whole.format(v * HOURS_A_MONTH);
}

/* Between 0 and 1. */
export function share(part, all) {
    return all > 0 ? Math.min(1, Math.max(0, part / all)) : 0;
}

export function percent(x) {
    return Math.round(100 * x) + " %";
}

/* Two of a unit at least, so that a number is never off by more than half. */
export function age(ms) {
    const s = Math.max(0, Math.floor(ms / 1000));
    if (s < 120)
        return s + "s";
    if (s < 7200)
        return Math.floor(s / 60) + "m";
    if (s < 172800)
        return Math.floor(s / 3600) + "h";
    return Math.floor(s / 86400) + "d";
}

export function clock(ms) {
    return new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
}
