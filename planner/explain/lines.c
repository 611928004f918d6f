#include "planner/explain/lines.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void lines_add(struct lines *l, struct span head, struct span text)
{
    struct answer_line line = {head, text};
    ARENA_PUSH(&l->p->arena, l->items, l->count, l->capacity, line);
}

void lines_addf(struct lines *l, const char *head, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(&l->p->arena, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    lines_add(l, span_of(head), (struct span){text, (size_t)n});
}

struct span lines_pods(struct plan *p, const struct pod *const *pods, uint32_t count)
{
    struct buf b = {0};
    uint32_t shown = count > ANSWER_LISTED ? ANSWER_LISTED - 1 : count;
    for (uint32_t i = 0; i < shown; i++)
        buf_addf(&b, "%s%.*s/%.*s", i != 0 ? ", " : "", SPAN_ARG(pods[i]->meta.ns),
                 SPAN_ARG(pods[i]->meta.name));
    if (shown < count)
        buf_addf(&b, " and %u more", count - shown);
    return words_take(p, &b);
}

struct span lines_target(struct plan *p, const struct plan_claim *claim, uint32_t row)
{
    struct buf b = {0};
    if (claim == NULL) {
        const struct world_node *n = world_node_at(p->world, row);
        bool ready = n->stage == NODE_UNMANAGED || n->stage == NODE_INITIALIZED;
        buf_addf(&b, "node %.*s, which %s", SPAN_ARG(n->name), ready ? "exists" : "is on its way");
        return words_take(p, &b);
    }
    buf_addf(&b, "a new node of pool %.*s", SPAN_ARG(claim->pool->meta.name));
    if (claim->type_count != 0)
        buf_addf(&b, ", %.*s", SPAN_ARG(claim->types[0]->name));
    if (claim->type_count > 1)
        buf_addf(&b, " or one of %u more types", claim->type_count - 1);
    if (!isnan(claim->price))
        buf_addf(&b, ", from $%.4f/h", claim->price);
    return words_take(p, &b);
}

struct span lines_requests(struct plan *p, const amount *requests)
{
    const struct world *w = p->world;
    struct buf b = {0};
    for (uint32_t c = 0; c < w->column_count; c++)
        if (requests[c] != 0 && w->columns[c] != SYM_PODS)
            buf_addf(&b, "%s%.*s", b.len != 0 ? ", " : "", SPAN_ARG(words_amount(p, c, requests[c])));
    if (b.len == 0)
        buf_addf(&b, "nothing");
    return words_take(p, &b);
}

void lines_end(struct lines *l, bool has_place, struct span sentence, struct explanation *out)
{
    *out = (struct explanation){has_place, sentence, l->items, l->count};
}
