/* safe_text: makes a text from outside safe to quote in a line for people: on a terminal, in a log, in an Event, on a page.
 *
 * Whoever may create an object chooses its texts. A line break in one forges a line, a control character steers the
 * terminal, and a character without a width or against the direction of writing shows another text than what is there. So
 * these are shown as escapes: "\n", "\r" and "\t"; "\u202e" (or "\U000e0041") for other code points; "\xff" for a byte
 * that is not UTF-8. All else, é and 日本 among it, stays as it is. A backslash stays, too: what was made safe once is
 * not changed by a second time.
 *
 * Where it is called: by what writes a line (base/log, base/wrap, planner/plan/grid, server/command, server/html,
 * kube/events, kube/condition_set, webhook/envelope), so that a place that composes a sentence need not. A place that
 * writes several lines itself makes each of them safe. JSON and YAML keep the exact value: base/json writes the same
 * characters as JSON's escapes. */
#ifndef BASE_SAFE_TEXT_H
#define BASE_SAFE_TEXT_H

#include "arena.h"
#include "buf.h"

enum {
    /* Bytes of a line as it is shown, "…" among them where more was there: container runtimes (CRI) break a line of a log at
     * 16 KiB, and a KiB is left for what stands before a message. */
    SAFE_LINE_MAX = 15 * 1024,
    /* Bytes of a value that a sentence quotes, before "…": every name of Kubernetes fits (253), an annotation may have
     * 256 KiB. */
    SAFE_VALUE_MAX = 256,
};

/* False of a code point that is shown as an escape: control characters, and those of Unicode that have no width or change
 * the direction of what stands around them. */
bool safe_code(uint32_t code);

/* Whether all of the text may be shown as it is. With `lines`, line breaks may. */
bool safe_text_is(struct span text, bool lines);

/* Appends the text as one line without its end. */
void safe_line_add(struct buf *out, struct span text);
/* The same in the arena; `text` itself where nothing has to change. */
struct span safe_line(struct arena *a, struct span text);
/* The text, or its first SAFE_VALUE_MAX bytes and "…"; its characters are left to the line that quotes it. `text` itself
 * where it is not longer. */
struct span safe_value(struct arena *a, struct span value);
/* Appends lines, each of which was made safe before: the last check before they leave the program. Nothing is cut. */
void safe_lines_add(struct buf *out, struct span text);

#endif
