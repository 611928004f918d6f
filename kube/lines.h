/* lines: cuts a stream of bytes into lines, whatever the chunks it arrives in.
 *
 *     lines_feed(&l, chunk);
 *     while (lines_next(&l, &line)) …
 *
 * A line that lies within one chunk is given out where it is; only the unfinished end of a chunk is
 * copied. Each byte is searched once. Zero-initialised with a ceiling is ready for use. */
#ifndef KUBE_LINES_H
#define KUBE_LINES_H

#include "base/buf.h"

struct lines {
    struct buf held;   /* an unfinished line; its `max` is the ceiling of a line */
    struct span chunk; /* what was fed and not given out yet */
    bool given;        /* `held` was given out: to be cleared */
    bool too_long;     /* a line over the ceiling came: no more lines are given */
};

void lines_release(struct lines *l);
void lines_clear(struct lines *l); /* for another stream; gives back what a long line has taken */

/* The chunk is borrowed until lines_next has returned false; only then the next may be fed. */
void lines_feed(struct lines *l, struct span chunk);
/* Without the newline; empty lines are passed over. Valid until the next call. */
bool lines_next(struct lines *l, struct span *line_out);
bool lines_pending(const struct lines *l); /* the stream ended within a line */

#endif
