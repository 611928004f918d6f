#include "reconciler/groups/removal.h"

#include <stdlib.h>

#include "planner/groups/down/drain.h"
#include "reconciler/groups/counted.h"
#include "reconciler/groups/marks.h"
#include "reconciler/groups/told.h"
#include "reconciler/stages.h"

enum {
    MARK_MS = 5 * MS_SECOND,       /* so long a mark may take; then the node stays */
    EVICT_AGAIN_MS = 10 * MS_SECOND, /* an eviction that was refused is asked for again (4.9) */
    GONE_MS = 30 * MS_SECOND,      /* beyond the longest grace: then a pod that is still there keeps the node */
    LOOK_MS = 5 * MS_SECOND,       /* polls, where nothing tells */
};

enum state {
    REMOVAL_MARKED,  /* its mark is being written */
    REMOVAL_SETTLES, /* the scheduler gets to know of it */
    REMOVAL_DRAINS,
    REMOVAL_DELAYED, /* somebody asked by annotation to be waited for */
    REMOVAL_ENDS,    /* its machine is being ended */
    REMOVAL_STAYS,   /* it failed: the mark is taken off */
};

struct group_removal {
    struct group_removal *next;
    enum state state;
    bool drains;      /* has pods that need a place elsewhere, as the pass found it */
    bool cordoned;    /* by somebody else, before */
    bool ready;       /* as its removal began */
    bool asked;       /* its provider */
    mono_ms since;    /* of the state */
    mono_ms all_gone; /* REMOVAL_DRAINS: when all evictions were accepted; 0: not yet */
    uint32_t turn;    /* REMOVAL_DRAINS: whose it is, of --drain-priority-config; `since` is of it */
    wall_ms drains_since;
    struct span node, uid, group; /* behind the struct */
};

static struct group_removal *find(const struct keeper *k, struct span uid)
{
    struct group_removal *x = k->removals;
    while (x != NULL && !span_eq(x->uid, uid))
        x = x->next;
    return x;
}

bool removal_is_under_way(const struct keeper *k, struct span node_uid)
{
    return find(k, node_uid) != NULL;
}

void removals_forget(struct keeper *k)
{
    for (struct group_removal *x = k->removals, *next; x != NULL; x = next) {
        next = x->next;
        free(x);
    }
    k->removals = NULL;
}

void removals_recall(struct pass *p, struct group_state *out)
{
    uint32_t count = 0;
    for (const struct group_removal *x = p->r->keeper.removals; x != NULL; x = x->next)
        count++;
    out->deleting_empty.items = ARENA_ARRAY(p->a, struct span, count + 1);
    out->deleting_drain.items = ARENA_ARRAY(p->a, struct span, count + 1);
    out->deleting_empty.count = out->deleting_drain.count = 0;
    for (const struct group_removal *x = p->r->keeper.removals; x != NULL; x = x->next) {
        struct spans *to = x->drains ? &out->deleting_drain : &out->deleting_empty;
        const struct node_view *n = pass_node(p, x->node);
        if (n != NULL && span_eq(n->node->meta.uid, x->uid))
            ((struct span *)(uintptr_t)to->items)[to->count++] = x->node;
    }
}

/* --- beginning --- */

static struct span put(char **at, struct span text)
{
    struct span out = {*at, text.len};
    memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return out;
}

static void begin(struct pass *p, const struct group_pass *decided, uint32_t row, bool drains)
{
    struct keeper *k = &p->r->keeper;
    const struct group_model *m = decided->model;
    struct span name = world_node_at(decided->world, row)->name;
    const struct node_view *n = pass_node(p, name);
    int32_t at = group_model_node(m, name);
    if (n == NULL || at < 0 || find(k, n->node->meta.uid) != NULL)
        return;
    struct span uid = n->node->meta.uid, group = m->groups[m->owners[at]].spec->name;
    struct group_removal *x = mem_new(sizeof(*x) + name.len + uid.len + group.len);
    char *text = (char *)(x + 1);
    x->node = put(&text, name);
    x->uid = put(&text, uid);
    x->group = put(&text, group);
    x->drains = drains;
    x->cordoned = n->node->unschedulable;
    x->ready = n->ready;
    x->since = p->mono;
    x->next = k->removals;
    k->removals = x;
    told_removal_begins(p, n, x->group, drains);
}

void removals_begin(struct pass *p, const struct group_pass *decided)
{
    if (decided->down.empty_count + decided->down.drain_count != 0)
        group_memory_removals_began(p->r->keeper.memory, p->wall);
    for (uint32_t i = 0; i < decided->down.empty_count; i++)
        begin(p, decided, decided->down.empty[i], false);
    for (uint32_t i = 0; i < decided->down.drain_count; i++)
        begin(p, decided, decided->down.drain[i], true);
}

/* --- its steps --- */

static void enter(struct pass *p, struct group_removal *x, enum state s)
{
    x->state = s;
    x->since = p->mono;
    pass_wake(p, p->mono);
}

static void stay(struct pass *p, struct group_removal *x, const struct node_view *n, struct span why)
{
    told_removal_failed(p, n, x->group, why);
    if (x->state == REMOVAL_MARKED)
        group_memory_removals_failed(p->r->keeper.memory, p->wall);
    enter(p, x, REMOVAL_STAYS);
}

/* False: the time is over. */
static bool waits(struct pass *p, const struct group_removal *x, span_ms patience)
{
    if (p->mono - x->since >= patience)
        return false;
    pass_wake(p, x->since + patience);
    return true;
}

static void mark(struct pass *p, struct group_removal *x, const struct node_view *n)
{
    if (mark_is_hard(n)) {
        enter(p, x, REMOVAL_SETTLES);
        return;
    }
    if (!waits(p, x, MARK_MS))
        stay(p, x, n, SPAN("it could not be marked within 5 s"));
    else if (act_may(p, &n->memo->memo, &n->node->meta))
        mark_hard(p, n);
}

struct judged { /* the pods of a node that goes */
    struct pass *p;
    struct evictions evictions;
    struct drain rules;
};

static void judge_begin(struct judged *j, struct pass *p)
{
    uint32_t count = 0;
    const struct disruption_budget **budgets =
        ARENA_ARRAY(p->a, const struct disruption_budget *, p->snapshot->state[KIND_DISRUPTION_BUDGET].count + 1);
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_DISRUPTION_BUDGET);
    for (const struct disruption_budget *b; (b = snapshot_next(&it)) != NULL;)
        budgets[count++] = b;
    *j = (struct judged){.p = p};
    evictions_init(&j->evictions, p->a, budgets, count);
    j->evictions.lets_unhealthy_go = !p->r->config.groups.flags.as_upstream;
    j->rules = (struct drain){.flags = &p->r->config.groups.flags,
                              .syms = p->snapshot->syms,
                              .evictions = &j->evictions,
                              .now = p->wall};
}

/* Whether it may still go, though some time has passed since that was found. */
static bool may_still_go(struct pass *p, const struct group_removal *x, const struct node_view *n, struct span *why)
{
    struct judged j;
    uint32_t count;
    const struct pod *const *pods = node_pods(p, n, &count);
    judge_begin(&j, p);
    for (uint32_t i = 0; i < count; i++) {
        enum drain_block block;
        enum drain_outcome o = group_drain_judge(&j.rules, pods[i], &block);
        const struct meta *m = &pods[i]->meta;
        const char *says = o == DRAIN_BLOCK                 ? drain_block_name(block)
                           : o == DRAIN_WAIT                ? "it is to run to its end"
                           : o == DRAIN_MOVE && !x->drains ? "it came to the node meanwhile"
                                                            : NULL;
        if (says == NULL)
            continue;
        *why = arena_printf(p->a, "pod %.*s/%.*s: %s", SPAN_ARG(m->ns), SPAN_ARG(m->name), says);
        return false;
    }
    return true;
}

static void settle(struct pass *p, struct group_removal *x, const struct node_view *n)
{
    struct span why;
    if (waits(p, x, p->r->config.groups.delay_after_taint) || !pass_may(p, GUARDS_GROUPS))
        return; /* what the view lacks may keep it */
    if (!may_still_go(p, x, n, &why)) {
        stay(p, x, n, why);
        return;
    }
    enter(p, x, REMOVAL_DRAINS);
    x->drains_since = p->wall;
}

/* --- draining --- */

static void on_evicted(struct reconciler *r, struct call *c)
{
    struct pod_memo *m = (struct pod_memo *)c->memo;
    if (c->err.kind == ERR_NONE || c->status == 404 || c->status == 409) {
        m->left_alone = true; /* gone, or another of that name */
        told_evicted(r, c);
        count(r, MEASURE_GROUPS_EVICTED, 1, SPAN("succeeded"), (struct span){0}, (struct span){0});
    } else if (m->memo.gate.retry_at < r->mono + EVICT_AGAIN_MS) {
        m->memo.gate.retry_at = r->mono + EVICT_AGAIN_MS;
    }
}

static int32_t longest_grace(const struct pass *p, const struct group_removal *x)
{
    const struct group_settings *s = &p->r->config.groups;
    return s->drain_turns.count != 0 ? s->drain_turns.items[x->turn].grace : s->max_grace;
}

static void evict(struct pass *p, const struct group_removal *x, const struct node_view *n, const struct pod *pod)
{
    int32_t most = longest_grace(p, x);
    int64_t own = pod->has_grace ? pod->grace_seconds : 30, grace = own < most ? own : most;
    struct pod_memo *m = memos_at(&p->r->pods, pod->meta.uid);
    act(p, &(struct action){.verb = API_EVICT,
                            .kind = KIND_POD,
                            .object = &pod->meta,
                            .memo = &m->memo,
                            .rests = ACT_ON_UID,
                            .grace = &grace,
                            .done = on_evicted,
                            .topic = {.ns = pod->meta.ns, .name = pod->meta.name, .uid = pod->meta.uid,
                                      .node = n->node->meta.name, .node_uid = n->node->meta.uid}});
}

/* --daemonset-eviction-…, and the pod's own word. */
static bool evicts_daemon(const struct pass *p, const struct group_removal *x, const struct pod *pod)
{
    const struct group_settings *s = &p->r->config.groups;
    struct span own = annotations_get(pod->meta.annotations,
                                      sym_find(p->snapshot->syms, SPAN("cluster-autoscaler.kubernetes.io/enable-ds-eviction")));
    if (own.ptr != NULL)
        return span_eq(own, SPAN("true"));
    return x->drains ? s->evict_daemons_of_occupied : s->evict_daemons_of_empty;
}

struct drain_left {
    uint32_t refused, there; /* evictions to be accepted; pods to go */
    const struct pod *pod;   /* one of them */
};

/* Its own turn comes when all of lower priority are gone; a DaemonSet's pods have one, but for those that it makes anew. */
static bool has_turn(const struct pass *p, const struct group_removal *x, const struct pod *pod, bool daemon)
{
    const struct drain_turns *t = &p->r->config.groups.drain_turns;
    return t->count == 0 || (drain_turn_of(t, pod->priority) == x->turn && !(daemon && pod->meta.created > x->drains_since));
}

static struct drain_left drain_pods(struct pass *p, const struct group_removal *x, const struct node_view *n)
{
    struct drain_left left = {0, 0, NULL};
    struct drain rules = {.flags = &p->r->config.groups.flags, .syms = p->snapshot->syms, .now = p->wall};
    uint32_t count;
    const struct pod *const *pods = node_pods(p, n, &count);
    for (uint32_t i = 0; i < count; i++) {
        enum drain_block block;
        enum drain_outcome o = group_drain_judge(&rules, pods[i], &block);
        bool daemon = o == DRAIN_DAEMON;
        if (o == DRAIN_SKIP || (daemon && !evicts_daemon(p, x, pods[i])) || !has_turn(p, x, pods[i], daemon))
            continue;
        struct pod_memo *m = memos_at(&p->r->pods, pods[i]->meta.uid);
        bool accepted = m->left_alone || pods[i]->meta.deleted != 0;
        if (!accepted && p->mono - x->since < p->r->config.groups.max_eviction_time)
            evict(p, x, n, pods[i]);
        if (daemon && p->r->config.groups.drain_turns.count == 0)
            continue; /* as well as may be */
        left.refused += !accepted;
        left.there++;
        left.pod = left.pod == NULL || !accepted ? pods[i] : left.pod;
    }
    return left;
}

static void drain(struct pass *p, struct group_removal *x, const struct node_view *n)
{
    const struct group_settings *s = &p->r->config.groups;
    struct drain_left left = drain_pods(p, x, n);
    if (left.there == 0 && !pass_may(p, GUARDS_DRAINED))
        return; /* pods that are not seen may be there */
    const struct meta *m = left.pod != NULL ? &left.pod->meta : NULL;
    if (left.there == 0 && x->turn + 1 < s->drain_turns.count) {
        x->turn++;
        x->all_gone = 0;
        enter(p, x, REMOVAL_DRAINS);
        return;
    }
    if (left.there == 0) {
        enter(p, x, REMOVAL_DELAYED);
        return;
    }
    if (left.refused != 0) {
        x->all_gone = 0;
        if (waits(p, x, s->max_eviction_time))
            pass_wake(p, p->mono + LOOK_MS);
        else
            stay(p, x, n, arena_printf(p->a, "pod %.*s/%.*s could not be evicted within %lld s", SPAN_ARG(m->ns),
                                       SPAN_ARG(m->name), (long long)(s->max_eviction_time / MS_SECOND)));
        return;
    }
    if (x->all_gone == 0)
        x->all_gone = p->mono;
    span_ms patience = longest_grace(p, x) * MS_SECOND + GONE_MS;
    if (p->mono - x->all_gone < patience)
        pass_wake(p, x->all_gone + patience);
    else
        stay(p, x, n, arena_printf(p->a, "pod %.*s/%.*s is still there %lld s after its eviction", SPAN_ARG(m->ns),
                                   SPAN_ARG(m->name), (long long)(patience / MS_SECOND)));
}

/* --- its machine --- */

static bool is_delayed(const struct pass *p, const struct node *n)
{
    for (uint32_t i = 0; i < n->meta.annotations.count; i++)
        if (span_has_prefix(pass_text(p, n->meta.annotations.items[i].key),
                            SPAN("delay-deletion.cluster-autoscaler.kubernetes.io/")))
            return true;
    return false;
}

static void on_removed(struct reconciler *r, struct call *c)
{
    struct keeper *k = &r->keeper;
    struct group_removal *x = find(k, c->topic.uid);
    k->removal_calls--;
    if (x == NULL || c->err.kind == ERR_CANCELLED)
        return; /* we do not lead any more, and all of it is forgotten */
    x->asked = false;
    if (c->err.kind == ERR_NONE) {
        told_removed(r, c, x->drains);
        counted_removed(r, !x->ready ? "unready" : x->drains ? "underutilized" : "empty");
        group_memory_removal_ended(k->memory, x->group, true, r->wall);
        for (struct group_removal **at = &k->removals; *at != NULL; at = &(*at)->next)
            if (*at == x) {
                *at = x->next;
                break;
            }
        free(x);
        return;
    }
    told_not_removed(r, c);
    group_memory_removal_ended(k->memory, x->group, false, r->wall);
    x->state = REMOVAL_STAYS;
}

static void end_machine(struct pass *p, struct group_removal *x, const struct node_view *n)
{
    struct keeper *k = &p->r->keeper;
    struct group_provider *g = p->r->config.groups.provider;
    struct span id = node_provider_id(n->node);
    if (x->asked || k->removal_calls >= g->ops->limits.calls)
        return; /* an answer brings the next pass */
    struct call *c = call_new(p->r, NULL, on_removed);
    call_topic(c, &(struct call_topic){.name = x->node, .uid = x->uid, .text = x->group});
    call_begin_group(c, g, GROUP_REMOVE);
    x->asked = true;
    k->removal_calls++;
    c->id = g->ops->remove(g, x->group, &id, 1, false, call_group_done, c);
}

static void hold_back(struct pass *p, struct group_removal *x, const struct node_view *n)
{
    if (is_delayed(p, n->node) && waits(p, x, p->r->config.groups.max_deletion_delay))
        return; /* the Node's next version brings a pass */
    enter(p, x, REMOVAL_ENDS);
}

/* Whether it is over: the mark is off. */
static bool take_back(struct pass *p, const struct group_removal *x, const struct node_view *n)
{
    if (!act_may(p, &n->memo->memo, &n->node->meta))
        return false; /* a mark may be on its way */
    if (!mark_is_hard(n))
        return true;
    unmark_hard(p, n, x->cordoned);
    return false;
}

static bool step(struct pass *p, struct group_removal *x, const struct node_view *n)
{
    switch (x->state) {
    case REMOVAL_MARKED:
        mark(p, x, n);
        break;
    case REMOVAL_SETTLES:
        settle(p, x, n);
        break;
    case REMOVAL_DRAINS:
        drain(p, x, n);
        break;
    case REMOVAL_DELAYED:
        hold_back(p, x, n);
        break;
    case REMOVAL_ENDS:
        end_machine(p, x, n);
        break;
    case REMOVAL_STAYS:
        return take_back(p, x, n);
    }
    return false;
}

static void count_removals(struct pass *p)
{
    uint32_t under_way = 0;
    for (const struct group_removal *x = p->r->keeper.removals; x != NULL; x = x->next)
        under_way += x->state != REMOVAL_STAYS;
    count(p->r, MEASURE_GROUPS_DELETIONS, under_way, (struct span){0}, (struct span){0}, (struct span){0});
}

void removals_run(struct pass *p)
{
    for (struct group_removal **at = &p->r->keeper.removals, *x; (x = *at) != NULL;) {
        const struct node_view *n = pass_node(p, x->node);
        bool there = n != NULL && span_eq(n->node->meta.uid, x->uid);
        if (there ? step(p, x, n) : !x->asked && pass_may(p, GUARDS_NODELESS)) {
            *at = x->next;
            free(x);
            continue;
        }
        at = &x->next;
    }
    count_removals(p);
}
