#include "reconciler/guards.h"

/* The kinds that an act rests on. What is begun needs what its end needs, or it would leave a node
 * fenced off and half drained for as long as the watch is broken. */
static const struct act_info {
    const char *sentence;
    bool finishes; /* a termination that has begun */
    enum kind needs[8];
    uint32_t need_count;
} acts[GUARDS_ACT_COUNT] = {
    [GUARDS_EXPIRE] = {"no node is removed", false, {KIND_NODE, KIND_NODE_CLAIM, KIND_POD}, 3},
    [GUARDS_COLLECT] = {"nothing is collected", false, {KIND_NODE, KIND_NODE_CLAIM}, 2},
    [GUARDS_EMPTY] = {"no empty node is removed",
                      false,
                      {KIND_NODE, KIND_NODE_CLAIM, KIND_POD, KIND_NODE_POOL,
                       KIND_DISRUPTION_BUDGET},
                      5},
    [GUARDS_SHRINK] = {"no NodePool with replicas loses a node",
                       false,
                       {KIND_NODE, KIND_NODE_CLAIM, KIND_POD, KIND_NODE_POOL},
                       4},
    [GUARDS_GROUPS] = {"no node of a group is removed",
                       false,
                       {KIND_NODE, KIND_POD, KIND_DAEMON_SET, KIND_DISRUPTION_BUDGET, KIND_REPLICA_SET,
                        KIND_STATEFUL_SET, KIND_REPLICATION_CONTROLLER, KIND_JOB},
                       8},
    [GUARDS_DRAINED] = {"no drain ends", true, {KIND_POD}, 1},
    [GUARDS_DETACHED] = {"no drained node is given up",
                         true,
                         {KIND_VOLUME_ATTACHMENT, KIND_VOLUME_CLAIM},
                         2},
    /* a Node that is not there was seen to go, unless it was a LIST that did not show it */
    [GUARDS_NODELESS] = {"no machine without a Node is removed", true, {KIND_NODE}, 0},
};

const char *guards_verdict_name(enum guards_verdict v)
{
    static const char *const names[GUARDS_VERDICT_COUNT] = {"clear", "watch_broken", "nodes_lost"};
    return v < GUARDS_VERDICT_COUNT ? names[v] : "";
}

const char *guards_act_sentence(enum guards_act act)
{
    return acts[act].sentence;
}

static bool too_many(uint32_t lost, uint32_t of)
{
    return (uint64_t)lost * 100 > (uint64_t)of * GUARDS_LOST_PERCENT;
}

struct guards_view guards_look(struct guards *g, const struct snapshot *s, mono_ms now)
{
    const struct kind_state *nodes = &s->state[KIND_NODE];
    struct guards_view v = {0};
    if (nodes->lists != g->lists) { /* a later LIST that loses little clears the suspicion */
        g->suspicious = too_many(nodes->lost_in_list, nodes->before_list);
        g->lost = nodes->lost_in_list;
        g->had = nodes->before_list;
        g->lists = nodes->lists;
    }
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        v.broken[k] = s->state[k].broken_since != 0 &&
                      now - s->state[k].broken_since >= GUARDS_BROKEN_MS;
    v.nodes_lost = g->suspicious;
    return v;
}

enum guards_verdict guards_check(const struct guards_view *v, enum guards_act act,
                                 enum kind *kind_out)
{
    const struct act_info *x = &acts[act];
    for (uint32_t i = 0; i < x->need_count; i++)
        if (v->broken[x->needs[i]]) {
            *kind_out = x->needs[i];
            return GUARDS_WATCH_BROKEN;
        }
    return v->nodes_lost && (!x->finishes || act == GUARDS_NODELESS) ? GUARDS_NODES_LOST
                                                                     : GUARDS_CLEAR;
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
