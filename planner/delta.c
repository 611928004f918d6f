/* The next world: a copy of the last one's columns where pods came or went (delta_parts.c), the columns themselves
 * elsewhere; rows made anew where Nodes did (delta_rows.c), or go on with what nobody decides by (delta_nodes.c). */
#include "planner/delta_inner.h"
#include "planner/unplanned.h"

#include <stdlib.h>

enum { SHAPES_SHARE = 4 }; /* of the ground's memory: what new shapes may take before a build */

/* --- shapes --- */

static bool extended(const struct world *w, uint32_t class_id)
{
    const amount *requests = classes_requests(&w->classes, class_id);
    for (uint32_t c = 4; c < w->resource_count; c++)
        if (requests[c] != 0)
            return true;
    return false;
}

static bool has_rules(const struct world *w, uint32_t class_id)
{
    return topology_rules(w->classes.items[class_id].example);
}

/* What was left out stays left out, for another pod, too. */
static bool columns_known(const struct world *w, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        sym name = r.items[i].name;
        bool left_out = name < w->left_out_limit && w->left_out[name];
        if (name != SYM_NODES && !left_out && classes_column(&w->classes, name) < 0)
            return false;
    }
    return true;
}

/* Whether something came that has a resource which was left out because nothing had it. */
static bool offers_more(const struct world *w, const struct world_change *c)
{
    bool more = false;
    for (size_t i = 0; i < c->node_count && !more; i++)
        more = world_leaves_out(w, c->nodes[i]->allocatable) || world_leaves_out(w, c->nodes[i]->capacity);
    for (size_t i = 0; i < c->claim_count && !more; i++)
        more = world_leaves_out(w, c->claims[i]->allocatable) || world_leaves_out(w, c->claims[i]->capacity);
    return more;
}

/* Profiles show all that the signature asks for. */
static bool is_shown(const struct world *w, const struct signature *s)
{
    for (uint32_t i = 0; i < s->requirements.count; i++) {
        sym key = s->requirements.items[i].key;
        if (key >= w->asked_limit || !w->asked[key])
            return false;
    }
    return true;
}

static struct arena *shapes(struct delta *d)
{
    return &d->w->parts[PART_SHAPES]->arena;
}

static bool own_shapes(struct delta *d)
{
    struct world *w = d->w;
    size_t taken = part_bytes(w->parts[PART_SHAPES]);
    if (delta_owns(d, PART_SHAPES))
        return true;
    if (taken > part_bytes(w->parts[PART_GROUND]) / SHAPES_SHARE)
        return false;
    classes_copy(&w->classes, delta_own_part(d, PART_SHAPES, d->from->parts[PART_SHAPES]));
    return true;
}

static bool new_class(struct delta *d, const struct pod *p, uint32_t *class_out)
{
    struct world *w = d->w;
    if (topology_rules(p) || !columns_known(w, p->requests) || !own_shapes(d))
        return false;
    uint32_t classes = w->classes.count, signatures = w->classes.signature_count;
    *class_out = classes_put(&w->classes, p);
    for (uint32_t i = signatures; i < w->classes.signature_count; i++)
        if (!is_shown(w, &w->classes.signatures[i]))
            return false;
    if (w->classes.count != classes)
        topology_tie(w, shapes(d), &w->classes.items[*class_out]);
    return true;
}

static bool class_known(struct delta *d, const struct pod *p, uint32_t *class_out)
{
    struct world *w = d->w;
    sym ns = sym_find(w->syms, p->meta.ns);
    if (w->topology.any && !namespaces_know(&w->topology.namespaces, ns))
        return false;
    int32_t known = classes_recall(&w->classes, p);
    *class_out = (uint32_t)known;
    return known >= 0 || (p->volumes.count == 0 && new_class(d, p, class_out));
}

/* And the pod is one of it. */
static bool class_of(struct delta *d, const struct pod *p, uint32_t *class_out)
{
    struct world *w = d->w;
    uint32_t before = w->classes.count;
    if (!class_known(d, p, class_out))
        return false;
    if (w->classes.count != before) {
        uint32_t *more = ARENA_ARRAY(&w->parts[PART_PODS]->arena, uint32_t, w->classes.count);
        memcpy(more, w->members, before * sizeof(*more));
        w->members = more;
    }
    w->members[*class_out]++;
    d->daemons_moved |= w->classes.items[*class_out].daemon;
    return true;
}

/* The last of its kind to go may leave behind what a build would not have: a domain that must be settled, a
 * label that tells classes apart, a column. */
static bool is_missed(const struct delta *d)
{
    const struct world *w = d->w, *from = d->from;
    for (uint32_t i = 0; i < from->classes.count; i++)
        if (w->members[i] == 0 && from->members[i] != 0 && (has_rules(w, i) || extended(w, i)))
            return true;
    return false;
}

/* --- pods that stand --- */

void delta_count(struct delta *d, const struct pod *p, uint32_t class_id, uint32_t row, int by)
{
    const struct pod_class *k = &d->w->classes.items[class_id];
    bool goes = p->meta.deleted != 0;
    if ((goes ? 0 : k->ties.counted_by_count) + k->ties.keeps_off_count == 0)
        return;
    delta_own_counts(d);
    topology_move(d->w, k, goes, row, by);
}

static void stand(struct delta *d, uint32_t row, const struct pod *p, uint32_t class_id)
{
    struct world_node *n = delta_touch(d, row);
    const struct pod **pods = ARENA_ARRAY(delta_lists(d, row), const struct pod *, (size_t)n->pod_count + 1);
    uint32_t *classes = ARENA_ARRAY(delta_lists(d, row), uint32_t, (size_t)n->pod_count + 1);
    uint32_t at = 0;
    while (at < n->pod_count && world_pod_order(n->pods[at], p) <= 0)
        at++;
    for (uint32_t i = 0; i <= n->pod_count; i++) {
        uint32_t old = i > at ? i - 1 : i;
        pods[i] = i == at ? p : n->pods[old];
        classes[i] = i == at ? class_id : n->pod_classes[old];
    }
    n->pods = pods;
    n->pod_classes = classes;
    n->pod_count++;
    delta_count(d, p, class_id, row, 1);
}

static bool leave_row(struct delta *d, uint32_t row, const struct pod *p, uint32_t *class_out)
{
    struct world_node *n = delta_touch(d, row);
    const struct pod **pods = ARENA_ARRAY(delta_lists(d, row), const struct pod *, n->pod_count);
    uint32_t *classes = ARENA_ARRAY(delta_lists(d, row), uint32_t, n->pod_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        if (n->pods[i] == p) {
            *class_out = n->pod_classes[i];
            continue;
        }
        pods[count] = n->pods[i];
        classes[count++] = n->pod_classes[i];
    }
    bool found = count + 1 == n->pod_count;
    n->pods = pods;
    n->pod_classes = classes;
    n->pod_count = count;
    if (found)
        delta_count(d, p, *class_out, row, -1);
    return found;
}

static void settle_rows(struct delta *d)
{
    for (BITS_EACH(row, d->dirty, d->dirty != NULL ? bits_words(d->w->node_count) : 0)) {
        world_row_sum(d->w, delta_lists(d, row), row);
        if (d->w->column_count != d->w->resource_count)
            world_row_attach(d->w, row);
        if (d->daemons_moved)
            world_row_expected(d->w, row);
        world_row_left(d->w, row);
    }
}

/* --- pods that wait --- */

static bool leave_queue(struct delta *d, const struct pod *p, uint32_t *class_out)
{
    const struct world *from = d->from;
    const struct waiting_pod *x = world_unbound(from, p->meta.uid);
    for (uint32_t i = 0; (x == NULL || x->pod != p) && i < from->waiting_count; i++)
        x = &from->waiting[i]; /* uids that are missing, or there twice */
    if (x == NULL || x->pod != p)
        return false;
    *class_out = x->class_id;
    d->left[x - from->waiting] = true;
    return true;
}

void delta_wait_bound(struct delta *d, const struct pod *p, uint32_t class_id)
{
    struct world *w = d->w;
    if (!pod_is_reschedulable(p))
        return;
    w->waiting[w->waiting_count++] =
        (struct waiting_pod){.pod = p, .class_id = class_id, .bound = true, .blocked = world_blocks(w, p)};
    w->members[class_id]++;
}

static void leave_bound(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    for (uint32_t i = 0; i < w->waiting_count; i++)
        if (w->waiting[i].bound && w->waiting[i].pod == p && !d->left[i]) {
            d->left[i] = true;
            w->members[w->waiting[i].class_id]--;
        }
}

static void settle_queue(struct delta *d)
{
    struct world *w = d->w;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->waiting_count; i++) {
        if (d->left[i])
            continue;
        w->waiting[count] = w->waiting[i];
        if (w->waiting[count].bound && delta_owns(d, PART_BUDGETS))
            w->waiting[count].blocked = world_blocks(w, w->waiting[count].pod);
        count++;
    }
    w->waiting_count = count;
    world_index_waiting(w, &w->parts[PART_PODS]->arena);
    unplanned_settle(w);
}

/* --- pods that do neither --- */

void delta_set_aside(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    ARENA_PUSH(&w->parts[PART_PODS]->arena, w->aside, w->aside_count, w->aside_capacity, p);
}

static bool leave_aside(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    uint32_t at = 0;
    while (at < w->aside_count && w->aside[at] != p)
        at++;
    if (at == w->aside_count)
        return false;
    w->aside[at] = w->aside[--w->aside_count];
    return true;
}

static bool leave_nominated(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    uint32_t at = 0;
    while (at < w->nominated_count && w->nominated[at] != p)
        at++;
    if (at == w->nominated_count)
        return false;
    w->nominated[at] = w->nominated[--w->nominated_count];
    return true;
}

/* --- one pod --- */

enum whereabouts { STANDS, WAITS, UNPLANNED, ELSEWHERE };

static enum whereabouts where(const struct world *w, const struct pod *p, uint32_t *row_out)
{
    int32_t row = p->node != SYM_NONE && !pod_is_terminal(p)
                      ? world_find_node(w, sym_text(w->syms, p->node))
                      : -1;
    *row_out = (uint32_t)row;
    if (row >= 0)
        return STANDS;
    if (p->node == SYM_NONE && !pod_is_terminal(p) && world_pod_waits(w, p))
        return WAITS;
    return world_pod_is_unplanned(w, p) ? UNPLANNED : ELSEWHERE;
}

/* What its rules look at, others of its class look at, too. */
static bool is_represented(const struct delta *d, const struct pod *p)
{
    int32_t id = classes_recall(&d->w->classes, p);
    return id >= 0 && d->w->members[id] != 0;
}

static bool takes(const struct delta *d, const struct pod *p)
{
    uint32_t row;
    bool comes_back = pod_is_terminal(p) && world_pod_is_aside(p);
    if (comes_back || split_concerns(&d->w->split, p))
        return false;
    switch (where(d->w, p, &row)) {
    case STANDS:
    case WAITS:
    case UNPLANNED:
        return true;
    case ELSEWHERE: /* it still has its columns, and its selectors are still looked at */
        return columns_known(d->w, p->requests) && (!topology_rules(p) || is_represented(d, p));
    }
    return false;
}

/* --- DaemonSets --- */

static int32_t daemon_set_of(const struct world *w, const struct pod *p)
{
    const struct owner *owner = world_daemon_owner(p);
    for (uint32_t i = 0; i < w->daemon_count; i++)
        if (span_eq(w->daemon_sets[i]->meta.name, owner->name) &&
            span_eq(w->daemon_sets[i]->meta.ns, p->meta.ns))
            return (int32_t)i;
    return -1;
}

static void daemon_goes(struct delta *d, const struct pod *p)
{
    int32_t i = world_daemon_lives(p) ? daemon_set_of(d->w, p) : -1;
    if (i >= 0 && d->w->live_daemons[i] == p)
        d->lost[i] = true;
}

/* As new as the newest was that is gone: the same pod, say, that has changed. */
static bool succeeds(const struct pod *p, const struct pod *gone)
{
    return world_daemon_newer(p, gone) ||
           (p->meta.created == gone->meta.created && span_eq(p->meta.name, gone->meta.name));
}

/* What new nodes are expected to run goes by the newest (NULL: none lives), which may be another so long as it asks
 * the same. */
static bool take_newest(struct delta *d, uint32_t i, const struct pod *p)
{
    struct world *w = d->w;
    const struct pod *expected = world_daemon_pod(&d->scratch, p, w->daemon_sets[i]);
    if (expected->resource_claims || expected->priority != w->daemon_priorities[i] ||
        classes_recall(&w->classes, expected) != (int32_t)w->daemons[i])
        return false;
    w->live_daemons[i] = p;
    d->lost[i] = false;
    return true;
}

static bool daemon_comes(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    if (!world_daemon_lives(p))
        return true;
    int32_t i = daemon_set_of(w, p);
    if (i < 0)
        return !w->daemons_skipped;
    const struct pod *newest = w->live_daemons[i];
    if (newest != NULL && (d->lost[i] ? !succeeds(p, newest) : !world_daemon_newer(p, newest)))
        return true;
    return take_newest(d, (uint32_t)i, p);
}

static const struct pod *newer_of(const struct world *w, uint32_t set, const struct pod *best, const struct pod *p)
{
    bool its = pod_is_daemon(p) && world_daemon_lives(p) && daemon_set_of(w, p) == (int32_t)set;
    return its && (best == NULL || world_daemon_newer(p, best)) ? p : best;
}

/* Only a look at all of them tells, once the newest is gone. */
static const struct pod *newest_daemon(const struct delta *d, uint32_t set)
{
    const struct world *w = d->w;
    const struct pod *best = NULL;
    for (uint32_t row = 0; row < w->node_count; row++)
        for (uint32_t i = 0; i < w->nodes[row].pod_count; i++)
            if (w->classes.items[w->nodes[row].pod_classes[i]].daemon)
                best = newer_of(w, set, best, w->nodes[row].pods[i]);
    for (uint32_t i = 0; i < w->waiting_count; i++)
        if (!d->left[i])
            best = newer_of(w, set, best, w->waiting[i].pod);
    for (uint32_t i = 0; i < w->aside_count; i++)
        best = newer_of(w, set, best, w->aside[i]);
    return best;
}

static bool moves_user(const struct delta *d, const struct pod *p, int by)
{
    return pod_is_terminal(p) || volumes_move_user(&d->w->volumes, p, by);
}

static bool goes(struct delta *d, const struct pod *p)
{
    uint32_t row, class_id = 0;
    if (!takes(d, p) || !moves_user(d, p, -1) || (world_pod_is_nominated(p) && !leave_nominated(d, p)))
        return false;
    daemon_goes(d, p);
    switch (where(d->w, p, &row)) {
    case STANDS:
        if (!leave_row(d, row, p, &class_id))
            return false;
        leave_bound(d, p);
        break;
    case WAITS:
        if (!leave_queue(d, p, &class_id))
            return false;
        break;
    case UNPLANNED:
        if (!unplanned_take(d->w, p, &class_id) || !leave_aside(d, p))
            return false;
        break;
    case ELSEWHERE: /* it may have been the last to have a column */
        for (uint32_t i = 0; i < p->requests.count; i++)
            if (classes_column(&d->w->classes, p->requests.items[i].name) >= 4)
                return false;
        return !world_pod_is_aside(p) || leave_aside(d, p);
    }
    d->w->members[class_id]--;
    d->daemons_moved |= d->w->classes.items[class_id].daemon;
    return true;
}

bool delta_stand(struct delta *d, uint32_t row, const struct pod *p, uint32_t *class_out)
{
    if (!class_of(d, p, class_out))
        return false;
    stand(d, row, p, *class_out);
    return true;
}

static bool comes(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    uint32_t row, class_id;
    if (!takes(d, p) || !moves_user(d, p, 1) || !daemon_comes(d, p))
        return false;
    if (world_pod_is_nominated(p))
        ARENA_PUSH(&w->parts[PART_PODS]->arena, w->nominated, w->nominated_count, w->nominated_capacity, p);
    switch (where(w, p, &row)) {
    case STANDS:
        if (!delta_stand(d, row, p, &class_id))
            return false;
        if (w->nodes[row].leaving)
            delta_wait_bound(d, p, class_id);
        return true;
    case WAITS:
        if (!class_of(d, p, &class_id))
            return false;
        w->waiting[w->waiting_count++] = (struct waiting_pod){.pod = p, .class_id = class_id};
        return true;
    case UNPLANNED:
        if (!class_of(d, p, &class_id))
            return false;
        unplanned_put(w, &w->parts[PART_PODS]->arena, p, class_id);
        delta_set_aside(d, p);
        return true;
    case ELSEWHERE:
        if (world_pod_is_aside(p))
            delta_set_aside(d, p);
    }
    return true;
}

static bool change_pods(struct delta *d, const struct world_change *c)
{
    delta_own_pods(d, c->come_count);
    for (size_t i = 0; i < c->gone_count; i++)
        if (!goes(d, c->gone[i]))
            return false;
    for (size_t i = 0; i < c->come_count; i++)
        if (!comes(d, c->come[i]))
            return false;
    for (uint32_t i = 0; i < d->w->daemon_count; i++)
        if (d->lost[i] && !take_newest(d, i, newest_daemon(d, i)))
            return false;
    return !is_missed(d);
}

bool world_same_rows(const struct world *a, const struct world *b)
{
    return a->parts[PART_GROUND] == b->parts[PART_GROUND] && a->parts[PART_FRAME] == b->parts[PART_FRAME];
}

bool world_row_moved(const struct world *before, const struct world *now, uint32_t row)
{
    const struct world_node *a = &before->nodes[row], *b = &now->nodes[row];
    return a->node != b->node || a->claim != b->claim || a->pods != b->pods || a->pod_count != b->pod_count;
}

static void change_budgets(struct delta *d, const struct world_change *c)
{
    if (c->budgets == NULL)
        return;
    struct arena *a = delta_own_part(d, PART_BUDGETS, NULL);
    d->w->budgets = pod_budgets_make(a, delta_copy(a, c->budgets, c->budget_count, sizeof(*c->budgets)),
                                     (uint32_t)c->budget_count);
}

bool world_has_deltas(const struct world *w)
{
    return w->spread.rule_count == 0 && w->buffers.count == 0;
}

struct world *world_delta(const struct world *from, const struct world_change *change)
{
    if (!world_has_deltas(from) || offers_more(from, change))
        return NULL;
    struct delta d = {.from = from, .w = delta_share(from)};
    arena_init(&d.scratch, 0);
    change_budgets(&d, change);
    bool made = (delta_news(&d, change) || delta_rows(&d, change)) && change_pods(&d, change);
    if (made) {
        settle_rows(&d);
        settle_queue(&d);
    } else {
        world_free(d.w);
    }
    arena_release(&d.scratch);
    return made ? d.w : NULL;
}
