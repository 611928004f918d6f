/* Elements of what scripts write. */

export function element(name, className, ...content) {
    const e = document.createElement(name);
    if (className)
        e.className = className;
    e.append(...content);
    return e;
}

export function link(kind, name, text = name) {
    const a = element("a", "", text);
    a.href = "#" + kind + "/" + name;
    return a;
}

/* These and no others are within `parent`, in this order. What stands right is not touched, and what has the focus keeps it. */
export function arrange(parent, children) {
    const focused = parent.contains(document.activeElement) ? document.activeElement : null;
    let at = parent.firstChild;
    for (const child of children)
        if (child === at)
            at = at.nextSibling;
        else
            parent.insertBefore(child, at);
    while (at !== null) {
        const next = at.nextSibling;
        at.remove();
        at = next;
    }
    if (focused !== null && focused !== document.activeElement && parent.contains(focused))
        focused.focus({ preventScroll: true });
}
