#include "server/page/move_told.h"

#include <math.h>

#include "base/units.h"
#include "kube/meta.h"
#include "planner/explain/answer.h"
#include "server/html.h"
#include "server/page/moves.h"

struct told {
    struct arena a;
    struct answer_line *lines;
    uint32_t count, capacity;
};

static void add(struct told *t, const char *about, struct span text)
{
    struct answer_line line = {span_of(about), text};
    ARENA_PUSH(&t->a, t->lines, t->count, t->capacity, line);
}

static struct span nodes_of(struct told *t, const struct move *m)
{
    struct buf b = {0};
    uint32_t shown = m->node_count > ANSWER_LISTED ? ANSWER_LISTED - 1 : m->node_count;
    for (uint32_t i = 0; i < shown; i++)
        buf_addf(&b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(m->nodes[i]));
    if (shown < m->node_count)
        buf_addf(&b, " and %u more", m->node_count - shown);
    struct span text = arena_dup(&t->a, buf_span(&b));
    buf_release(&b);
    return text;
}

static void add_move(struct told *t, const struct move *m)
{
    add(t, "how far", span_of(moves_how_far(m->state)));
    add(t, "reason", disruption_reason_label(m->reason));
    add(t, "leave", nodes_of(t, m));
    if (m->replacements != 0)
        add(t, "come", arena_printf(&t->a, "%u new node%s", m->replacements, m->replacements == 1 ? "" : "s"));
    if (!isnan(m->savings))
        add(t, m->savings < 0 ? "costs" : "saves",
            arena_printf(&t->a, "$%.4f/h ($%.2f a month)", fabs(m->savings), fabs(m->savings) * HOURS_A_MONTH));
    add(t, "evicts", arena_printf(&t->a, "%u pod%s", m->evictions, m->evictions == 1 ? "" : "s"));
}

/* What was decided under its id, oldest first; the last sentence, absent: none is remembered. */
static struct span add_entries(struct told *t, struct page_memory *m, struct span id)
{
    uint32_t count;
    struct span last = {NULL, 0};
    const struct page_entry *entries = page_memory_entries(m, &t->a, &count);
    for (uint32_t i = count; i-- > 0;) {
        const struct page_entry *e = &entries[i];
        if (!span_eq(e->id, id))
            continue;
        last = e->sentence;
        add(t, "decided", arena_printf(&t->a, "%.*s  %.*s  %.*s", SPAN_ARG(time_text(&t->a, e->at)), SPAN_ARG(e->subject),
                                       SPAN_ARG(e->sentence)));
    }
    return last;
}

bool move_told(struct page_memory *m, struct span id, struct buf *out, struct err *err)
{
    struct told t = {0};
    arena_init(&t.a, 0);
    struct span sentence = {NULL, 0};
    struct moves moves = page_memory_moves(m, &t.a);
    for (uint32_t i = 0; i < moves.count && sentence.len == 0; i++) {
        const struct move *move = &moves.items[i];
        if (!span_eq(move->id, id))
            continue;
        sentence = arena_printf(&t.a, "Move %.*s: %.*s.", SPAN_ARG(id),
                                SPAN_ARG(move->text.len != 0 ? move->text : disruption_reason_label(move->reason)));
        add_move(&t, move);
    }
    struct span last = add_entries(&t, m, id);
    if (sentence.len == 0 && last.len != 0)
        sentence = arena_printf(&t.a, "Nothing of %.*s is under way; the last of it was: %.*s.", SPAN_ARG(id), SPAN_ARG(last));
    bool found = sentence.len != 0;
    if (found) {
        struct json j = JSON_TO(out);
        explanation_json(&j, &(struct explanation){true, sentence, t.lines, t.count});
    } else {
        err_set(err, ERR_NOT_FOUND, "no move %.*s is under way, and of the last %d decisions none is of it", SPAN_ARG(id),
                PAGE_DECISIONS);
    }
    arena_release(&t.a);
    return found;
}
