/* What is under way and what is recommended, for who looks at the page. */
#include <string.h>

#include "reconciler/disruption/command.h"
#include "reconciler/move.h"
#include "reconciler/stages.h"

struct span move_state_name(enum move_state s)
{
    static const struct span names[] = {[MOVE_RECOMMENDED] = SPAN_INIT("recommended"),
                                        [MOVE_WAITS] = SPAN_INIT("waits"),
                                        [MOVE_MARKS] = SPAN_INIT("marks"),
                                        [MOVE_READIES] = SPAN_INIT("readies"),
                                        [MOVE_REMOVES] = SPAN_INIT("removes")};
    return names[s];
}

static enum move_state state_of(const struct command *c)
{
    static const enum move_state states[] = {[COMMAND_WAITS] = MOVE_WAITS,
                                             [COMMAND_MARKS] = MOVE_MARKS,
                                             [COMMAND_READIES] = MOVE_READIES,
                                             [COMMAND_REMOVES] = MOVE_REMOVES};
    return states[c->state];
}

static struct move move_of(struct arena *a, const struct command *c, bool recommended)
{
    struct span *nodes = ARENA_ARRAY(a, struct span, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        nodes[i] = c->members[i].node.len != 0 ? c->members[i].node : c->members[i].claim;
    return (struct move){.id = span_of(c->id),
                         .state = recommended ? MOVE_RECOMMENDED : state_of(c),
                         .reason = disruption_method_reason(c->method),
                         .decision = span_of(disruption_decision_name(c->decision)),
                         .nodes = nodes,
                         .node_count = c->count,
                         .replacements = c->replacement_count,
                         .savings = c->savings,
                         .evictions = c->evictions,
                         .text = c->move};
}

static void list(struct arena *a, const struct command_queue *q, bool recommended, struct move *items, struct moves *out)
{
    for (const struct command *c = q->first; c != NULL; c = c->next, out->all++)
        if (out->count < MOVES_MOST)
            items[out->count++] = move_of(a, c, recommended);
}

/* 0: there are none. */
static uint64_t looks_like(const struct moves *m)
{
    uint64_t hash = m->all;
    for (uint32_t i = 0; i < m->count; i++)
        hash = ((hash * 31 + span_hash(m->items[i].id)) * 31 + (uint64_t)m->items[i].state) * 31 + span_hash(m->items[i].text);
    return hash;
}

void moves_tell(struct pass *p)
{
    const struct reconciler_listener *l = &p->r->config.listener;
    struct moves m = {.count = 0};
    if (l->moved == NULL)
        return;
    struct move *items = ARENA_ARRAY(p->a, struct move, MOVES_MOST);
    m.items = items;
    list(p->a, &p->r->commands, false, items, &m);
    list(p->a, &p->r->recommending.moves, true, items, &m);
    uint64_t hash = looks_like(&m);
    if (hash != p->r->moves_told)
        l->moved(l->user, &m);
    p->r->moves_told = hash;
}
