/* page_memory: what the page remembers of decisions: the last ones, why each object is as it is, and which moves are under way or recommended.
 *
 * Bounded: MOVES_MOST moves, a ring of PAGE_DECISIONS, and PAGE_REASONS_MAX sentences of which an old one gives way to a new
 * one of the same neighbourhood. Any thread; what is read is copied out. */
#ifndef SERVER_PAGE_MEMORY_H
#define SERVER_PAGE_MEMORY_H

#include "base/arena.h"
#include "server/page.h"

struct page_memory;
struct page_memory *page_memory_new(void);
void page_memory_free(struct page_memory *m);

/* A decision that takes_back ends the reason of the object that it is about. */
void page_memory_add(struct page_memory *m, const struct decision *d);
void page_memory_standing(struct page_memory *m, struct span text);
void page_memory_moved(struct page_memory *m, const struct moves *moves); /* copied */
struct moves page_memory_moves(struct page_memory *m, struct arena *a);
uint64_t page_memory_version(const struct page_memory *m);

struct page_entry {
    uint64_t sequence; /* tells apart what one decision led to */
    wall_ms at;
    bool warning;
    double per_hour; /* NAN: does not apply */
    struct span id, subject, sentence;
    struct decision_object about; /* uid left out */
};

/* Copies into `a`. Newest first. */
const struct page_entry *page_memory_entries(struct page_memory *m, struct arena *a,
                                             uint32_t *count_out);
/* Of this object, not of another that had its name before; the whole sentence, or what it says without the name
 * (decision.said). Absent: none is known. */
struct span page_memory_reason(struct page_memory *m, struct arena *a, enum kind k,
                               const struct meta *about, bool named);
/* Of one side of it (decision.side). Absent: nothing is known. */
struct span page_memory_side(struct page_memory *m, struct arena *a, enum kind k, const struct meta *about, struct span side);
struct why page_memory_put_off(struct page_memory *m, struct arena *a, const struct meta *pod);
void page_memory_forget(struct page_memory *m); /* all reasons, and moves */
struct span page_memory_standing_text(struct page_memory *m, struct arena *a);

#endif
