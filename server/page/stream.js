/* The line to the server: server-sent events of /live, and a word to the reader when they stop. */

import { parse } from "/text.js";

const SILENCE_MS = 25000; /* the server says something every ten seconds */
const AGAIN_MS = 5000;

/* `on` has a function for each event, which gets its value. */
export function listen(on, line) {
    let heard = 0;
    let since = "";

    function show() {
        const stale = Date.now() - heard > SILENCE_MS;
        const text = !stale ? "live" : since !== ""
            ? "no word from Stowage since " + since + "; this may be old"
            : "no word from Stowage; this may be old";
        document.body.classList.toggle("stale", stale);
        line.classList.toggle("stale", stale);
        if (line.textContent !== text)
            line.textContent = text;
    }

    function hear() {
        heard = Date.now();
        since = new Date().toLocaleTimeString([], { hour12: false });
        show();
    }

    function open() {
        const events = new EventSource("/live");
        for (const name of Object.keys(on))
            events.addEventListener(name, (event) => {
                hear();
                on[name](parse(event.data));
            });
        events.onerror = () => {
            heard = 0;
            show();
            if (events.readyState === EventSource.CLOSED)
                setTimeout(open, AGAIN_MS);
        };
    }

    setInterval(show, 1000);
    open();
}
