#include "reconciler/guards.h"

#include <string.h>

/* The kinds that an act rests on. What is begun needs what its end needs, or it would leave a node
 * fenced off and half drained for as long as the watch is broken. */
static const struct act_info {
    const char *sentence;
    bool finishes; /* a termination that has begun */
    enum kind needs[8];
    uint32_t need_count; /* of these: it waits while their watch is broken */
    uint32_t list_count; /* of these, of what finishes: it waits while their LIST is unconfirmed */
} acts[GUARDS_ACT_COUNT] = {
    [GUARDS_EXPIRE] = {"no node is removed", false, {KIND_NODE, KIND_NODE_CLAIM, KIND_POD}, 3, 0},
    [GUARDS_COLLECT] = {"nothing is collected", false, {KIND_NODE, KIND_NODE_CLAIM}, 2, 0},
    [GUARDS_EMPTY] = {"no empty node is removed",
                      false,
                      {KIND_NODE, KIND_NODE_CLAIM, KIND_POD, KIND_NODE_POOL,
                       KIND_DISRUPTION_BUDGET},
                      5, 0},
    [GUARDS_SHRINK] = {"no NodePool with replicas loses a node",
                       false,
                       {KIND_NODE, KIND_NODE_CLAIM, KIND_POD, KIND_NODE_POOL},
                       4, 0},
    [GUARDS_GROUPS] = {"no node of a group is removed",
                       false,
                       {KIND_NODE, KIND_POD, KIND_DAEMON_SET, KIND_DISRUPTION_BUDGET, KIND_REPLICA_SET,
                        KIND_STATEFUL_SET, KIND_REPLICATION_CONTROLLER, KIND_JOB},
                       8, 0},
    [GUARDS_DRAINED] = {"no drain ends", true, {KIND_POD}, 1, 1},
    [GUARDS_DETACHED] = {"no drained node is given up",
                         true,
                         {KIND_VOLUME_ATTACHMENT, KIND_VOLUME_CLAIM},
                         2, 2},
    /* a Node that is not there was seen to go, unless it was a LIST that did not show it */
    [GUARDS_NODELESS] = {"no machine without a Node is removed", true, {KIND_NODE}, 0, 1},
};

/* Why removal rests on a kind: what a LIST that does not show its objects would have removed. */
static const char *const reasons[KIND_STORED_COUNT] = {
    [KIND_POD] = "a node without pods is empty, and a node without pods to wait for is drained",
    [KIND_NODE] = "a machine whose Node is not there is given up; budgets count nodes",
    [KIND_NODE_CLAIM] = "a machine whose NodeClaim is not there is collected; budgets count claims",
    [KIND_NODE_POOL] = "its budgets, its template and its policy hold nodes",
    [KIND_DAEMON_SET] = "the room of its pods is left free on a replacement",
    [KIND_DISRUPTION_BUDGET] = "it keeps nodes whose pods it covers",
    [KIND_NAMESPACE] = "affinity terms select by its labels where moved pods may go",
    [KIND_VOLUME_CLAIM] = "its volume says in which zone a moved pod may run, and is detached first",
    [KIND_VOLUME] = "its node affinity says where a moved pod may run",
    [KIND_STORAGE_CLASS] = "its topologies say where a moved pod may run",
    [KIND_CSI_NODE] = "its limits say how many volumes a node takes",
    [KIND_SERVICE] = "default spread constraints select by it",
    [KIND_REPLICA_SET] = "a moved pod comes back by it; its replicas keep nodes of groups",
    [KIND_STATEFUL_SET] = "a moved pod comes back by it; its replicas keep nodes of groups",
    [KIND_REPLICATION_CONTROLLER] = "a moved pod comes back by it; its replicas keep nodes of groups",
    [KIND_JOB] = "a moved pod comes back by it",
    [KIND_NODE_OVERLAY] = "prices and capacity decide what is cheaper",
    [KIND_CAPACITY_BUFFER] = "its headroom keeps nodes",
    [KIND_POD_TEMPLATE] = "a buffer's headroom and a request's pods are made of it",
    [KIND_DEPLOYMENT] = "a buffer's headroom is scaled by it",
    [KIND_VOLUME_ATTACHMENT] = "a drained node waits until its volumes are detached",
    [KIND_PROVISIONING_REQUEST] = "its pods keep nodes of groups",
    [KIND_MACHINE_DEPLOYMENT] = "a Machine without it belongs to no group and no pool",
    [KIND_MACHINE_SET] = "a Machine without it belongs to no group and no pool",
    [KIND_MACHINE_POOL] = "a Machine without it belongs to no group",
    [KIND_MACHINE] = "a NodeClaim whose Machine is not there is collected",
    /* A CapacityQuota limits purchases, and a node class what is bought: no removal rests on them. */
};

const char *guards_verdict_name(enum guards_verdict v)
{
    static const char *const names[GUARDS_VERDICT_COUNT] = {"clear", "watch_broken", "objects_lost"};
    return v < GUARDS_VERDICT_COUNT ? names[v] : "";
}

const char *guards_kind_reason(enum kind k)
{
    return k < KIND_STORED_COUNT ? reasons[k] : NULL;
}

const char *guards_act_sentence(enum guards_act act)
{
    return acts[act].sentence;
}

static uint32_t unconfirmed_list(const struct kind_state *s)
{
    uint32_t a = s->loss[LOSS_UNEXPLAINED].list, b = s->loss[LOSS_ANY].list;
    return a > b ? a : b;
}

struct guards_view guards_look(struct guards *g, const struct snapshot *s, mono_ms now)
{
    struct guards_view v = {0};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        v.broken[k] = s->state[k].broken_since != 0 &&
                      now - s->state[k].broken_since >= GUARDS_BROKEN_MS;
        if (reasons[k] == NULL)
            continue;
        memcpy(v.loss[k], s->state[k].loss, sizeof(v.loss[k]));
        uint32_t list = unconfirmed_list(&s->state[k]);
        if (list != g->kinds[k].list) {
            g->kinds[k].list = list;
            g->kinds[k].since = now;
            g->kinds[k].asked = false;
        }
    }
    return v;
}

enum kind guards_ask(struct guards *g, mono_ms now)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (g->kinds[k].list != 0 && !g->kinds[k].asked && now - g->kinds[k].since >= LIST_CONFIRM_MS) {
            g->kinds[k].asked = true;
            return k;
        }
    return KIND_NONE;
}

static bool ends_with(const struct act_info *x, enum kind k)
{
    for (uint32_t i = 0; i < x->list_count; i++)
        if (x->needs[i] == k)
            return true;
    return false;
}

/* What begins rests on the whole view. The end of what has begun rests on its own kinds alone, but also on objects
 * that are being deleted: a pod that is ending keeps its node. */
static const struct list_guard *loss_of(const struct guards_view *v, enum guards_act act, enum kind k)
{
    return acts[act].finishes ? &v->loss[k][LOSS_ANY] : &v->loss[k][LOSS_UNEXPLAINED];
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
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (loss_of(v, act, k)->list != 0 && (!x->finishes || ends_with(x, k))) {
            *kind_out = k;
            return GUARDS_OBJECTS_LOST;
        }
    return GUARDS_CLEAR;
}

static struct span loss_text(struct arena *a, const struct list_guard *l, enum kind k)
{
    return arena_printf(a, "a list showed %u of %u %s gone; a second list is asked for", l->lost, l->had, kind_info(k)->plural);
}

struct span guards_loss_text(struct arena *a, const struct guards_view *v, enum guards_act act, enum kind k)
{
    return loss_text(a, loss_of(v, act, k), k);
}

struct span guards_snapshot_text(struct arena *a, const struct snapshot *s)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (reasons[k] != NULL && s->state[k].loss[LOSS_UNEXPLAINED].list != 0)
            return loss_text(a, &s->state[k].loss[LOSS_UNEXPLAINED], k);
    return (struct span){NULL, 0};
}

bool guards_can_stop(enum guards_verdict verdict, enum kind k)
{
    if (verdict == GUARDS_OBJECTS_LOST)
        return reasons[k] != NULL;
    for (enum guards_act act = 0; act < GUARDS_ACT_COUNT; act++)
        for (uint32_t i = 0; verdict == GUARDS_WATCH_BROKEN && i < acts[act].need_count; i++)
            if (acts[act].needs[i] == k)
                return true;
    return false;
}

bool guards_stops(const struct guards_view *v, enum guards_verdict verdict, enum kind k)
{
    bool lost = v->loss[k][LOSS_UNEXPLAINED].list != 0 || v->loss[k][LOSS_ANY].list != 0;
    return guards_can_stop(verdict, k) && (verdict == GUARDS_OBJECTS_LOST ? lost : v->broken[k]);
}

bool guards_see_nodes(const struct guards_view *v)
{
    static const enum kind kinds[] = {KIND_NODE, KIND_NODE_CLAIM};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (v->broken[kinds[i]] || v->loss[kinds[i]][LOSS_UNEXPLAINED].list != 0)
            return false;
    return true;
}

mono_ms guards_due(const struct guards *g, const struct snapshot *s, mono_ms now)
{
    mono_ms due = INT64_MAX;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        mono_ms at = s->state[k].broken_since + GUARDS_BROKEN_MS;
        if (s->state[k].broken_since != 0 && at > now && at < due)
            due = at;
        at = g->kinds[k].since + LIST_CONFIRM_MS;
        if (g->kinds[k].list != 0 && !g->kinds[k].asked && at < due)
            due = at;
    }
    return due;
}
