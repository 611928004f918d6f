/* board: what an open page is told: everything once, and then what has changed, as server-sent events.
 *
 * One for all readers of a loop; one thread at a time uses it (server/page/board_worker.h). It looks at the cluster when somebody reads, a second apart at least
 * and for a twentieth of a core's time at most, and keeps of each node, and of each part of the page, the last text and the
 * version that it came with. Memory: that text, some 800 bytes a node, while somebody reads; and the snapshot looked at
 * last, by which it knows the nodes that did not move.
 *
 * Events, each with one JSON value: `begin` (forget all that was told), `part` {"name", "html"}, `groups` [{"group", as
 * /explain/group}], `nodes` {"nodes": [node_json], "gone": [names]}, `history` (as /history; more points are added to those
 * before), `beat`. */
#ifndef SERVER_PAGE_BOARD_H
#define SERVER_PAGE_BOARD_H

#include "server/page.h"

enum {
    BOARD_PAUSE_MS = MS_SECOND, /* between two looks; and BOARD_SHARE times as long as the last look took */
    BOARD_SHARE = 20,
    BOARD_GONE_MAX = 4096, /* names of nodes that went; who has missed more is told everything anew */
};

struct board;
struct board *board_new(void);
void board_free(struct board *b); /* NULL is fine */

struct board_sources {
    struct page *page;
    struct page_view view; /* whose snapshot is referred to until the next look or board_rest */
    uint64_t version;      /* moves with all of it */
};
bool board_is_due(const struct board *b, uint64_t version, mono_ms now);
/* The time it takes is told by board_took. */
void board_look(struct board *b, const struct board_sources *s, mono_ms now);
void board_took(struct board *b, span_ms took);
void board_rest(struct board *b); /* nobody reads: what is large goes, and whoever comes next is told everything */

struct board_reader { /* zero: has been told nothing */
    uint64_t seen, history;
};
/* Adds the events that the reader lacks; nothing: it lacks none. */
void board_tell(struct board *b, struct page *page, struct board_reader *r, struct buf *out);

#endif
