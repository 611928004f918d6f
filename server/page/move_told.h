/* move_told: one move for `explain move ID`: what it is and how far, and every decision that it has led to. */
#ifndef SERVER_PAGE_MOVE_TOLD_H
#define SERVER_PAGE_MOVE_TOLD_H

#include "base/err.h"
#include "server/page_memory.h"

/* As explanation_json. A move that is over is told by its decisions, as long as those are remembered (PAGE_DECISIONS).
 * False: nobody remembers it. */
bool move_told(struct page_memory *m, struct span id, struct buf *out, struct err *err);

#endif
