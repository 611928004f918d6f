/* What the tests ask of a page as it stands; put into it by WebDriver. Nothing here is part of the program. */
window.look = (() => {
    const hidden = (e) => !e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });

    function rgb(text) {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 1;
        const g = canvas.getContext("2d");
        g.fillStyle = text;
        g.fillRect(0, 0, 1, 1);
        const [r, gr, b, a] = g.getImageData(0, 0, 1, 1).data;
        return { r, g: gr, b, a: a / 255 };
    }

    /* WCAG 2.2, relative luminance and contrast ratio. */
    function luminance({ r, g, b }) {
        const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    }

    function contrast(a, b) {
        const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
        return (x + 0.05) / (y + 0.05);
    }

    function ground(e) {
        for (; e; e = e.parentElement) {
            const c = rgb(getComputedStyle(e).backgroundColor);
            if (c.a > 0.99)
                return c;
        }
        return rgb("white");
    }

    /* Texts below AA: 4.5, or 3 of large ones. */
    function faintTexts() {
        const found = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let t; (t = walk.nextNode());) {
            const e = t.parentElement;
            if (t.textContent.trim() === "" || hidden(e) || e.closest("noscript, option, svg, .skip"))
                continue;
            const style = getComputedStyle(e);
            const size = parseFloat(style.fontSize);
            const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
            const ratio = contrast(rgb(style.color), ground(e));
            if (ratio < (large ? 3 : 4.5))
                found.push(`${e.tagName} "${t.textContent.trim().slice(0, 40)}" ${ratio.toFixed(2)}`);
        }
        return found;
    }

    /* Colours that mean something, below 3 beside what they stand on. */
    function faintColours() {
        const found = [];
        const on = ground(document.querySelector("#legend"));
        for (const name of ["empty", "half", "good", "full", "mark-box", "planned", "kept", "cpu", "mem", "accent"]) {
            const ratio = contrast(rgb(getComputedStyle(document.body).getPropertyValue("--" + name)), on);
            if (ratio < 3)
                found.push(`--${name} ${ratio.toFixed(2)}`);
        }
        return found;
    }

    /* What makes the page wider than the window, or sticks out of it. */
    function tooWide() {
        const found = [];
        if (document.documentElement.scrollWidth > innerWidth)
            found.push("the page: " + document.documentElement.scrollWidth);
        for (const e of document.querySelectorAll("body *"))
            if (!hidden(e) && !e.closest("svg, .skip") && e.getBoundingClientRect().right > innerWidth + 1)
                found.push(`${e.tagName}#${e.id} ${Math.round(e.getBoundingClientRect().right)}`);
        return found;
    }

    /* Controls smaller than 24 by 24 pixels (WCAG 2.2, 2.5.8), links within a text and tables excepted. */
    function tooSmall() {
        return Array.from(document.querySelectorAll("button, input, select")).filter((e) => !hidden(e) && !e.closest("th"))
            .filter((e) => e.getBoundingClientRect().height < 24 || e.getBoundingClientRect().width < 24)
            .map((e) => e.tagName + "#" + e.id);
    }

    /* Controls that say nothing to a screen reader. */
    function nameless() {
        return Array.from(document.querySelectorAll("a, button, input, select, canvas, svg[tabindex], aside")).filter((e) => !hidden(e))
            .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.labels?.length || e.textContent.trim()))
            .map((e) => e.tagName + "#" + e.id);
    }

    /* How many colours the canvas has: 1 is an empty one. */
    function colours(canvas) {
        const seen = new Set();
        const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        for (let i = 0; i < data.length; i += 7)
            seen.add(data[i]);
        return seen.size;
    }

    return { faintTexts, faintColours, tooWide, tooSmall, nameless, colours };
})();
