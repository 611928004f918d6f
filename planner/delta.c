/* The next world: a copy of the last one's columns where pods came or went, the columns themselves
 * elsewhere. Everything of a part that is copied is copied, so that a part leans on the ground alone. Exceptions are
 * classes, whose copies point into the ones before and grow until a build starts afresh, and the lists of pods by
 * row: those of a few rows each have a part of their own, which all worlds share in which these rows are the same. */
#include "planner/delta_inner.h"

#include <stdlib.h>

enum { SHAPES_SHARE = 4 }; /* of the ground's memory: what new shapes may take before a build */

/* --- parts --- */

static struct world *share(const struct world *from)
{
    struct world *w = mem_new(sizeof(*w));
    *w = *from;
    symtab_ref(w->syms);
    for (size_t i = 0; i < PART_COUNT; i++)
        part_join(w->parts[i]);
    w->classes.rules = &w->rules;
    w->classes.topology = &w->topology;
    w->classes.volumes = &w->volumes;
    w->classes.spread = &w->spread;
    w->classes.split = &w->split;
    return w;
}

struct arena *delta_own_part(struct delta *d, enum world_part part, struct part *under)
{
    struct part *old = d->w->parts[part];
    d->w->parts[part] = part_new(0, under);
    part_leave(old);
    return &d->w->parts[part]->arena;
}

static bool owns(const struct delta *d, enum world_part part)
{
    return d->w->parts[part] != d->from->parts[part];
}

static void *copy(struct arena *a, const void *items, size_t count, size_t size)
{
    void *to = arena_array(a, count, size);
    if (count != 0)
        memcpy(to, items, count * size);
    return to;
}

static void own_pods(struct delta *d, size_t more)
{
    struct world *w = d->w;
    struct arena *a = delta_own_part(d, PART_PODS, NULL);
    w->waiting = ARENA_ARRAY(a, struct waiting_pod, w->waiting_count + more);
    if (w->waiting_count != 0)
        memcpy(w->waiting, d->from->waiting, w->waiting_count * sizeof(*w->waiting));
    w->members = copy(a, w->members, w->classes.count, sizeof(*w->members));
    w->live_daemons = copy(a, w->live_daemons, w->daemon_count, sizeof(*w->live_daemons));
    w->volumes.users = copy(a, w->volumes.users, w->volumes.claims.count, sizeof(*w->volumes.users));
    d->left = ARENA_ARRAY(&d->scratch, bool, w->waiting_count);
    d->lost = ARENA_ARRAY(&d->scratch, bool, w->daemon_count);
}

static struct arena *shapes(struct delta *d)
{
    return &d->w->parts[PART_SHAPES]->arena;
}

/* Parts of lists stay shared until a row of theirs changes. */
static void share_lists(struct world *w)
{
    struct part *rows = w->parts[PART_ROWS];
    uint32_t count = (w->node_count + LISTS_ROWS - 1) / LISTS_ROWS;
    struct part **lists = ARENA_ARRAY(&rows->arena, struct part *, count);
    for (uint32_t i = 0; i < count && w->lists != NULL; i++)
        lists[i] = part_join(w->lists[i]);
    rows->held = w->lists = lists;
    rows->held_count = count;
}

void delta_own_rows(struct delta *d)
{
    struct world *w = d->w;
    if (d->dirty != NULL)
        return;
    struct arena *a = delta_own_part(d, PART_ROWS, NULL);
    size_t cells = (size_t)w->node_count * w->column_count;
    uint32_t words = bits_words(w->node_count);
    w->nodes = copy(a, w->nodes, w->node_count, sizeof(*w->nodes));
    w->requested = copy(a, w->requested, cells, sizeof(amount));
    w->left = copy(a, w->left, cells, sizeof(amount));
    w->expected = copy(a, w->expected, cells, sizeof(amount));
    w->ports = copy(a, w->ports, w->node_count, sizeof(*w->ports));
    share_lists(w);
    d->dirty = ARENA_ARRAY(&d->scratch, uint64_t, words);
    d->blocks = ARENA_ARRAY(&d->scratch, uint64_t, bits_words(w->parts[PART_ROWS]->held_count));
}

static struct arena *lists(struct delta *d, uint32_t row)
{
    return &d->w->lists[row / LISTS_ROWS]->arena;
}

static size_t lists_size(const struct world *w, uint32_t first, uint32_t end)
{
    size_t bytes = 512;
    for (uint32_t row = first; row < end; row++)
        bytes += (size_t)w->nodes[row].pod_count * (sizeof(void *) + sizeof(uint32_t)) +
                 w->ports[row].count * sizeof(struct host_port) + 3 * _Alignof(max_align_t);
    return bytes + bytes / 4; /* those that change are there twice */
}

static void own_lists(struct delta *d, uint32_t row)
{
    struct world *w = d->w;
    uint32_t block = row / LISTS_ROWS, first = block * LISTS_ROWS, end = first + LISTS_ROWS;
    if (bits_has(d->blocks, block))
        return;
    bits_add(d->blocks, block);
    end = end < w->node_count ? end : w->node_count;
    part_leave(w->lists[block]); /* the older world has it, too */
    w->lists[block] = part_new(lists_size(w, first, end), NULL);
    struct arena *a = &w->lists[block]->arena;
    for (row = first; row < end; row++) {
        struct world_node *n = &w->nodes[row];
        struct row_ports *p = &w->ports[row];
        n->pods = copy(a, n->pods, n->pod_count, sizeof(*n->pods));
        n->pod_classes = copy(a, n->pod_classes, n->pod_count, sizeof(*n->pod_classes));
        p->items = copy(a, p->items, p->count, sizeof(*p->items));
        p->capacity = p->count;
    }
}

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

static bool columns_known(const struct world *w, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++)
        if (r.items[i].name != SYM_NODES && classes_column(&w->classes, r.items[i].name) < 0)
            return false;
    return true;
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

static bool own_shapes(struct delta *d)
{
    struct world *w = d->w;
    size_t taken = part_bytes(w->parts[PART_SHAPES]);
    if (owns(d, PART_SHAPES))
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

static bool class_of(struct delta *d, const struct pod *p, uint32_t *class_out)
{
    struct world *w = d->w;
    sym ns = sym_find(w->syms, p->meta.ns);
    if (w->topology.any && !namespaces_know(&w->topology.namespaces, ns))
        return false;
    int32_t known = classes_recall(&w->classes, p);
    *class_out = (uint32_t)known;
    return known >= 0 || (p->volumes.count == 0 && new_class(d, p, class_out));
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

static void move_count(struct delta *d, const struct pod *p, uint32_t class_id, uint32_t row, int by)
{
    const struct pod_class *k = &d->w->classes.items[class_id];
    bool goes = p->meta.deleted != 0;
    if ((goes ? 0 : k->ties.counted_by_count) + k->ties.keeps_off_count == 0)
        return;
    if (!owns(d, PART_COUNTS))
        topology_copy_counts(d->w, delta_own_part(d, PART_COUNTS, NULL));
    topology_move(d->w, k, goes, row, by);
}

static struct world_node *changing(struct delta *d, uint32_t row)
{
    delta_own_rows(d);
    own_lists(d, row);
    bits_add(d->dirty, row);
    return &d->w->nodes[row];
}

static void stand(struct delta *d, uint32_t row, const struct pod *p, uint32_t class_id)
{
    struct world_node *n = changing(d, row);
    const struct pod **pods = ARENA_ARRAY(lists(d, row), const struct pod *, (size_t)n->pod_count + 1);
    uint32_t *classes = ARENA_ARRAY(lists(d, row), uint32_t, (size_t)n->pod_count + 1);
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
    move_count(d, p, class_id, row, 1);
}

static bool leave_row(struct delta *d, uint32_t row, const struct pod *p, uint32_t *class_out)
{
    struct world_node *n = changing(d, row);
    const struct pod **pods = ARENA_ARRAY(lists(d, row), const struct pod *, n->pod_count);
    uint32_t *classes = ARENA_ARRAY(lists(d, row), uint32_t, n->pod_count);
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
        move_count(d, p, *class_out, row, -1);
    return found;
}

static void settle_rows(struct delta *d)
{
    for (BITS_EACH(row, d->dirty, d->dirty != NULL ? bits_words(d->w->node_count) : 0)) {
        world_row_sum(d->w, lists(d, row), row);
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

static void settle_queue(struct delta *d)
{
    struct world *w = d->w;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->waiting_count; i++)
        if (i >= d->from->waiting_count || !d->left[i])
            w->waiting[count++] = w->waiting[i];
    w->waiting_count = count;
    world_index_waiting(w, &w->parts[PART_PODS]->arena);
}

/* --- one pod --- */

enum whereabouts { STANDS, WAITS, ELSEWHERE };

static enum whereabouts where(const struct world *w, const struct pod *p, uint32_t *row_out)
{
    int32_t row = p->node != SYM_NONE && !pod_is_terminal(p)
                      ? world_find_node(w, sym_text(w->syms, p->node))
                      : -1;
    *row_out = (uint32_t)row;
    if (row >= 0)
        return STANDS;
    return p->node == SYM_NONE && !pod_is_terminal(p) && world_pod_waits(w, p) ? WAITS : ELSEWHERE;
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
    bool nominated = p->node == SYM_NONE && p->nominated_node != SYM_NONE;
    if (nominated || split_concerns(&d->w->split, p))
        return false;
    switch (where(d->w, p, &row)) {
    case STANDS:
        return !d->w->nodes[row].leaving;
    case WAITS:
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

/* Who is the newest now, only a look at all of them would tell. */
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

/* What new nodes are expected to run goes by the newest, which may be another so long as it asks the same. */
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
    const struct pod *expected = world_daemon_pod(&d->scratch, p, w->daemon_sets[i]);
    if (expected->resource_claims || p->priority != w->daemon_priorities[i] ||
        classes_recall(&w->classes, expected) != (int32_t)w->daemons[i])
        return false;
    w->live_daemons[i] = p;
    d->lost[i] = false;
    return true;
}

static bool moves_user(const struct delta *d, const struct pod *p, int by)
{
    return pod_is_terminal(p) || volumes_move_user(&d->w->volumes, p, by);
}

static bool goes(struct delta *d, const struct pod *p)
{
    uint32_t row, class_id = 0;
    if (!takes(d, p) || !moves_user(d, p, -1))
        return false;
    daemon_goes(d, p);
    switch (where(d->w, p, &row)) {
    case STANDS:
        if (!leave_row(d, row, p, &class_id))
            return false;
        break;
    case WAITS:
        if (!leave_queue(d, p, &class_id))
            return false;
        break;
    case ELSEWHERE: /* it may have been the last to have a column */
        for (uint32_t i = 0; i < p->requests.count; i++)
            if (classes_column(&d->w->classes, p->requests.items[i].name) >= 4)
                return false;
        return true;
    }
    d->w->members[class_id]--;
    d->daemons_moved |= d->w->classes.items[class_id].daemon;
    return true;
}

static bool comes(struct delta *d, const struct pod *p)
{
    struct world *w = d->w;
    uint32_t row, class_id = 0, before = w->classes.count;
    if (!takes(d, p) || !moves_user(d, p, 1) || !daemon_comes(d, p))
        return false;
    enum whereabouts place = where(w, p, &row);
    if (place == ELSEWHERE)
        return true;
    if (!class_of(d, p, &class_id))
        return false;
    if (w->classes.count != before) {
        uint32_t *more = ARENA_ARRAY(&w->parts[PART_PODS]->arena, uint32_t, w->classes.count);
        memcpy(more, w->members, before * sizeof(*more));
        w->members = more;
    }
    w->members[class_id]++;
    d->daemons_moved |= w->classes.items[class_id].daemon;
    if (place == STANDS)
        stand(d, row, p, class_id);
    else
        w->waiting[w->waiting_count++] = (struct waiting_pod){.pod = p, .class_id = class_id};
    return true;
}

static bool change_pods(struct delta *d, const struct world_change *c)
{
    own_pods(d, c->come_count);
    for (size_t i = 0; i < c->gone_count; i++)
        if (!goes(d, c->gone[i]))
            return false;
    for (size_t i = 0; i < c->come_count; i++)
        if (!comes(d, c->come[i]))
            return false;
    for (uint32_t i = 0; i < d->w->daemon_count; i++)
        if (d->lost[i])
            return false;
    return !is_missed(d);
}

static bool change_nodes(struct delta *d, const struct world_change *c)
{
    for (size_t i = 0; i < c->node_count; i++)
        if (!delta_node(d, c->nodes[i]))
            return false;
    for (size_t i = 0; i < c->claim_count; i++)
        if (!delta_claim(d, c->claims[i]))
            return false;
    return true;
}

bool world_same_rows(const struct world *a, const struct world *b)
{
    return a->parts[PART_GROUND] == b->parts[PART_GROUND];
}

bool world_row_moved(const struct world *before, const struct world *now, uint32_t row)
{
    const struct world_node *a = &before->nodes[row], *b = &now->nodes[row];
    return a->node != b->node || a->claim != b->claim || a->pods != b->pods || a->pod_count != b->pod_count;
}

/* But for what its status says: whom it selects and holds for ever stands in the world. */
static bool same_rule(const struct disruption_budget *a, const struct disruption_budget *b)
{
    return span_eq(a->meta.ns, b->meta.ns) && span_eq(a->meta.name, b->meta.name) &&
           a->has_selector == b->has_selector && label_selector_same(&a->selector, &b->selector) &&
           span_eq(a->max_unavailable, b->max_unavailable) && span_eq(a->min_available, b->min_available) &&
           a->evict_unhealthy == b->evict_unhealthy;
}

static bool change_budgets(struct delta *d, const struct world_change *c)
{
    struct pod_budgets *b = &d->w->budgets;
    if (c->budgets == NULL)
        return true;
    if (c->budget_count != b->count)
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i] != c->budgets[i] && !same_rule(b->items[i], c->budgets[i]))
            return false;
    b->items = copy(delta_own_part(d, PART_BUDGETS, NULL), c->budgets, b->count, sizeof(*b->items));
    return true;
}

struct world *world_delta(const struct world *from, const struct world_change *change)
{
    if (from->spread.rule_count != 0 || from->buffers.count != 0)
        return NULL;
    struct delta d = {.from = from, .w = share(from)};
    arena_init(&d.scratch, 0);
    bool made = change_budgets(&d, change) && change_nodes(&d, change) && change_pods(&d, change);
    if (made) {
        settle_rows(&d);
        settle_queue(&d);
    } else {
        world_free(d.w);
    }
    arena_release(&d.scratch);
    return made ? d.w : NULL;
}
