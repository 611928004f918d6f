#include "reconciler/guards.h"

const char *guards_verdict_name(enum guards_verdict v)
{
    static const char *const names[GUARDS_VERDICT_COUNT] = {"clear", "watch_broken", "nodes_lost"};
    return v < GUARDS_VERDICT_COUNT ? names[v] : "";
}

static bool too_many(uint32_t lost, uint32_t of)
{
    return (uint64_t)lost * 100 > (uint64_t)of * GUARDS_LOST_PERCENT;
}

enum guards_verdict guards_check(struct guards *g, const struct snapshot *s, mono_ms now,
                                 enum kind *kind_out)
{
    const struct kind_state *nodes = &s->state[KIND_NODE];
    if (nodes->lists != g->lists) {
        /* A later LIST of the watch that loses little is itself the second one. */
        g->suspicious = too_many(nodes->lost_in_list, nodes->before_list);
        g->lost = nodes->lost_in_list;
        g->had = nodes->before_list;
        g->lists = nodes->lists;
    }
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (s->state[k].broken_since != 0 && now - s->state[k].broken_since >= GUARDS_BROKEN_MS) {
            *kind_out = k;
            return GUARDS_WATCH_BROKEN;
        }
    return g->suspicious ? GUARDS_NODES_LOST : GUARDS_CLEAR;
}

void guards_second_list(struct guards *g, uint32_t counted, uint32_t in_snapshot)
{
    uint32_t more = counted > in_snapshot ? counted - in_snapshot : in_snapshot - counted;
    if (!too_many(more, counted > in_snapshot ? counted : in_snapshot))
        g->suspicious = false;
}

mono_ms guards_due(const struct snapshot *s, mono_ms now)
{
    mono_ms due = INT64_MAX;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        mono_ms at = s->state[k].broken_since + GUARDS_BROKEN_MS;
        if (s->state[k].broken_since != 0 && at > now && at < due)
            due = at;
    }
    return due;
}
