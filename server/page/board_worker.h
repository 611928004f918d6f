/* board_worker: looks taken beside the loop that tells of them. A look at a large cluster takes some tenths of a second, and
 * the loop of an open page is that of probes.
 *
 * One for all readers of a loop, which alone calls it. While a look is under way the board is its thread's, and nobody is
 * told anything; whoever reads then waits for its end. */
#ifndef SERVER_PAGE_BOARD_WORKER_H
#define SERVER_PAGE_BOARD_WORKER_H

#include "server/http.h"
#include "server/page/board.h"

struct board_worker;
struct board_worker *board_worker_new(void); /* with a thread of its own */
void board_worker_free(struct board_worker *w); /* waits for a look that is under way; NULL is fine */

/* Begins a look if one is due and none is under way; `done` is called at its end. Snapshot, world and places are referred to
 * until then; page and groups outlive the worker. */
void board_worker_look(struct board_worker *w, const struct board_sources *s, mono_ms now, struct http_waker done);
/* What there is to tell of. NULL: a look is under way. */
struct board *board_worker_board(struct board_worker *w);

#endif
