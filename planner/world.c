/* The build is one pass in a fixed order: resource names, types, nodes, pods (which need the nodes
 * they are bound to), DaemonSets, options (which need the DaemonSets), and last what needs every
 * signature: profiles, the room that is left, and where pods are counted. */
#include "planner/columns.h"
#include "planner/topology/watch_index.h"
#include "planner/unplanned.h"

#include <stdlib.h>

/* --- DaemonSets --- */

/* Pods that some DaemonSet controls and that live: looked for once, not once a DaemonSet. */
struct live_daemons {
    const struct pod **items;
    uint32_t count, capacity;
};

const struct owner *world_daemon_owner(const struct pod *p)
{
    const struct owner *controller = meta_controller(&p->meta);
    return controller != NULL && controller->kind == SYM_KIND_DAEMON_SET ? controller : NULL;
}

bool world_daemon_lives(const struct pod *p)
{
    return world_daemon_owner(p) != NULL && !pod_is_terminal(p) && p->meta.deleted == 0;
}

bool world_daemon_newer(const struct pod *p, const struct pod *than)
{
    if (p->meta.created != than->meta.created)
        return p->meta.created > than->meta.created;
    return span_cmp(p->meta.name, than->meta.name) < 0;
}

static struct live_daemons find_live_daemons(struct world *w, const struct world_input *in)
{
    struct live_daemons l = {0};
    for (size_t i = 0; i < in->pod_count && in->daemon_set_count != 0; i++)
        if (world_daemon_lives(in->pods[i]))
            ARENA_PUSH(w->arena, l.items, l.count, l.capacity, in->pods[i]);
    return l;
}

/* The newest pod that the DaemonSet controls, if it has one (2.8). */
static const struct pod *live_daemon(const struct live_daemons *l, const struct daemon_set *d)
{
    const struct pod *best = NULL;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct pod *p = l->items[i];
        if (span_eq(world_daemon_owner(p)->name, d->meta.name) && span_eq(p->meta.ns, d->meta.ns) &&
            (best == NULL || world_daemon_newer(p, best)))
            best = p;
    }
    return best;
}

const struct pod *world_daemon_pod(struct arena *a, const struct pod *live, const struct daemon_set *d)
{
    if (live == NULL)
        return &d->template;
    struct pod *p = ARENA_NEW(a, struct pod);
    meta_copy_object(p, live, sizeof(*p));
    p->meta.owners.count = 0; /* what a node will get is not there yet */
    if (d->template.affinity != NULL && d->template.affinity->has_required_node) {
        struct affinity *x = ARENA_NEW(a, struct affinity);
        if (live->affinity != NULL)
            *x = *live->affinity;
        x->has_required_node = true;
        x->required_node = d->template.affinity->required_node;
        p->affinity = x;
    }
    return p;
}

static void build_daemons(struct world *w, const struct world_input *in)
{
    struct live_daemons live = find_live_daemons(w, in);
    w->daemons = ARENA_ARRAY(w->arena, uint32_t, in->daemon_set_count);
    w->daemon_priorities = ARENA_ARRAY(w->arena, int32_t, in->daemon_set_count);
    w->daemon_sets = ARENA_ARRAY(w->arena, const struct daemon_set *, in->daemon_set_count);
    w->live_daemons = ARENA_ARRAY(w->arena, const struct pod *, in->daemon_set_count);
    for (size_t i = 0; i < in->daemon_set_count; i++) {
        const struct pod *newest = live_daemon(&live, in->daemon_sets[i]);
        const struct pod *p = world_daemon_pod(w->arena, newest, in->daemon_sets[i]);
        w->daemons_skipped |= p->resource_claims;
        if (p->resource_claims)
            continue;
        w->daemon_priorities[w->daemon_count] = p->priority;
        w->daemon_sets[w->daemon_count] = in->daemon_sets[i];
        w->live_daemons[w->daemon_count] = newest;
        w->daemons[w->daemon_count++] = classes_put(&w->classes, p);
    }
}

/* --- pods --- */

static bool fully_blocking(const struct disruption_budget *b)
{
    return span_eq(b->max_unavailable, SPAN("0")) || span_eq(b->max_unavailable, SPAN("0%")) ||
           span_eq(b->min_available, SPAN("100%"));
}

/* spec provisioning 1.3 */
bool world_blocks(const struct world *w, const struct pod *p)
{
    uint32_t at[2];
    if (w->budgets.count == 0 || pod_tolerates_disrupted(p))
        return false;
    uint32_t matching = pod_budgets_of(&w->budgets, p, at);
    if (matching != 1)
        return matching > 1;
    const struct disruption_budget *b = w->budgets.items[at[0]];
    return fully_blocking(b) && !(b->evict_unhealthy && p->unready);
}

bool world_pod_waits(const struct world *w, const struct pod *p)
{
    if (p->node != SYM_NONE || p->meta.deleted != 0 || p->gated)
        return false;
    return pod_is_pending(p) || (w->settings.all_unbound && !pod_is_daemon(p) && !pod_is_static(p));
}

static void keep_budgets(struct world *w, const struct world_input *in)
{
    const struct disruption_budget **items = ARENA_ARRAY(w->arena, const struct disruption_budget *, in->budget_count);
    for (size_t i = 0; i < in->budget_count; i++)
        items[i] = in->budgets[i];
    w->budgets = pod_budgets_make(w->arena, items, (uint32_t)in->budget_count);
}

bool world_pod_is_aside(const struct pod *p)
{
    return !pod_is_terminal(p) || (p->node != SYM_NONE && pod_is_reschedulable(p));
}

bool world_pod_is_nominated(const struct pod *p)
{
    return p->node == SYM_NONE && p->nominated_node != SYM_NONE && p->meta.deleted == 0 && !pod_is_terminal(p);
}

static void build_pods(struct world *w, const struct world_input *in)
{
    keep_budgets(w, in);
    int32_t *row_of_sym = ARENA_ARRAY(w->arena, int32_t, symtab_limit(w->syms)); /* row + 1 */
    for (uint32_t row = 0; row < w->node_count; row++)
        if (w->nodes[row].name_sym != SYM_NONE)
            row_of_sym[w->nodes[row].name_sym] = (int32_t)row + 1;
    w->waiting = ARENA_ARRAY(w->arena, struct waiting_pod, in->pod_count);
    world_build_standing(w, in, row_of_sym);
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *p = in->pods[i];
        int32_t row = p->node == SYM_NONE ? -1 : row_of_sym[p->node] - 1;
        bool leaves = row >= 0 && w->nodes[row].leaving && pod_is_reschedulable(p);
        if (world_pod_is_nominated(p))
            ARENA_PUSH(w->arena, w->nominated, w->nominated_count, w->nominated_capacity, p);
        bool over = pod_is_terminal(p);
        bool waits = leaves || (!over && world_pod_waits(w, p));
        if (!waits && (row < 0 || over) && world_pod_is_aside(p))
            ARENA_PUSH(w->arena, w->aside, w->aside_count, w->aside_capacity, p);
        if (world_pod_is_unplanned(w, p))
            unplanned_put(w, w->arena, p, classes_put(&w->classes, p));
        if (!waits)
            continue;
        w->waiting[w->waiting_count++] =
            (struct waiting_pod){.pod = p, .class_id = classes_put(&w->classes, p),
                                 .bound = leaves, .blocked = leaves && world_blocks(w, p)};
    }
    unplanned_settle(w);
}

void world_index_waiting(struct world *w, struct arena *a)
{
    w->unbound_mask = 15;
    while (w->unbound_mask / 2 < w->waiting_count)
        w->unbound_mask = w->unbound_mask * 2 + 1;
    w->unbound_slots = ARENA_ARRAY(a, uint32_t, (size_t)w->unbound_mask + 1);
    for (uint32_t i = 0; i < w->waiting_count; i++) {
        if (w->waiting[i].bound)
            continue;
        uint32_t at = (uint32_t)span_hash(w->waiting[i].pod->meta.uid) & w->unbound_mask;
        while (w->unbound_slots[at] != 0)
            at = (at + 1) & w->unbound_mask;
        w->unbound_slots[at] = i + 1;
    }
}

const struct waiting_pod *world_unbound(const struct world *w, struct span uid)
{
    uint32_t at = (uint32_t)span_hash(uid) & w->unbound_mask;
    for (; w->unbound_slots[at] != 0; at = (at + 1) & w->unbound_mask) {
        const struct waiting_pod *x = &w->waiting[w->unbound_slots[at] - 1];
        if (span_eq(x->pod->meta.uid, uid))
            return x;
    }
    return NULL;
}

static void count_members(struct world *w)
{
    w->members = ARENA_ARRAY(w->arena, uint32_t, w->classes.count);
    for (uint32_t row = 0; row < w->node_count; row++)
        for (uint32_t i = 0; i < w->nodes[row].pod_count; i++)
            w->members[w->nodes[row].pod_classes[i]]++;
    for (uint32_t i = 0; i < w->waiting_count; i++)
        w->members[w->waiting[i].class_id]++;
    for (uint32_t i = 0; i < w->unplanned_count; i++)
        w->members[w->unplanned[i].class_id]++;
    for (uint32_t i = 0; i < w->daemon_count; i++)
        w->members[w->daemons[i]]++;
}

/* --- options --- */

static int pool_name_order(const void *a, const void *b)
{
    return span_cmp((*(const struct node_pool *const *)a)->meta.name,
                    (*(const struct node_pool *const *)b)->meta.name);
}

static void build_pools(struct world *w, const struct world_input *in)
{
    w->pool_count = (uint32_t)in->pool_count;
    w->pools = ARENA_ARRAY(w->arena, const struct node_pool *, in->pool_count);
    for (size_t i = 0; i < in->pool_count; i++)
        w->pools[i] = in->pools[i];
    if (w->pool_count != 0)
        qsort(w->pools, w->pool_count, sizeof(*w->pools), pool_name_order);
}

void world_budget_options(struct world *w)
{
    size_t columns = w->column_count;
    amount *used = ARENA_ARRAY(w->arena, amount, w->pool_count * columns); /* by pool */
    amount *nodes = ARENA_ARRAY(w->arena, amount, w->pool_count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (n->pool < 0 || n->leaving)
            continue;
        amount *sum = used + (size_t)n->pool * columns;
        nodes[(uint32_t)n->pool]++;
        for (uint32_t c = 0; c < columns; c++)
            sum[c] = amount_add(sum[c], world_vector(w, w->capacity, row)[c]);
    }
    for (uint32_t i = 0; i < w->option_count; i++)
        for (uint32_t p = 0; p < w->pool_count; p++)
            if (w->pools[p] == w->options[i].pool)
                option_budget(&w->options[i], w, used + p * columns, nodes[p]);
}

static void build_options(struct world *w)
{
    const struct node_pool **ready = ARENA_ARRAY(w->arena, const struct node_pool *, w->pool_count);
    for (uint32_t i = 0; i < w->pool_count; i++)
        if (node_pool_ready(w->pools[i], w->settings.ready_when_unstated))
            ready[w->option_count++] = w->pools[i];
    if (w->option_count != 0)
        qsort(ready, w->option_count, sizeof(*ready), option_order);
    w->options = ARENA_ARRAY(w->arena, struct option, w->option_count);
    for (uint32_t i = 0; i < w->option_count; i++) {
        option_build(&w->options[i], w, ready[i]);
        w->soft_taints |= w->options[i].soft_taints;
    }
    world_budget_options(w);
}

static void overlay(struct world *w, const struct world_input *in)
{
    w->overlaid.catalogue = in->catalogue;
    if (w->settings.node_overlay && in->catalogue != NULL)
        w->overlaid = overlays_apply(w->arena, w->syms, in->catalogue, in->overlays,
                                     in->overlay_count, w->pools, w->pool_count);
}

/* Their virtual pods wait like others. */
static void add_buffers(struct world *w, struct world_input *in)
{
    if (!w->settings.capacity_buffer)
        return;
    w->buffers = buffers_resolve(w->arena, w->syms, in);
    size_t count = in->pod_count + w->buffers.count;
    const struct pod **pods = ARENA_ARRAY(w->arena, const struct pod *, count);
    for (size_t i = 0; i < count; i++)
        pods[i] = i < in->pod_count ? in->pods[i] : w->buffers.pods[i - in->pod_count];
    in->pods = pods;
    in->pod_count = count;
}

const struct buffers *world_buffers(const struct world *w)
{
    return &w->buffers;
}

const struct overlaid *world_overlaid(const struct world *w)
{
    return w->settings.node_overlay ? &w->overlaid : NULL;
}

struct world *world_build(const struct world_input *given)
{
    struct world_input with_buffers = *given;
    const struct world_input *in = &with_buffers;
    static const struct span domain = SPAN_INIT("karpenter.sh");
    struct world *w = mem_new(sizeof(*w));
    w->parts[PART_GROUND] = part_new(64 << 10, NULL);
    w->arena = &w->parts[PART_GROUND]->arena;
    w->syms = symtab_ref(in->syms);
    w->settings = *in->options;
    w->rules = (struct label_rules){.domains = &domain, .domain_count = 1};
    if (in->catalogue != NULL)
        w->rules = catalogue_rules(in->catalogue);
    add_buffers(w, &with_buffers);
    volumes_init(&w->volumes, w->arena, in);
    world_build_columns(w, in);
    default_spread_init(&w->spread, w->arena, in, w->settings.default_spread);
    topology_init(&w->topology, w->arena, w->syms, in, &w->spread);
    classes_init(&w->classes, &(struct classes){.arena = w->arena, .syms = w->syms,
                                                .columns = w->columns,
                                                .column_count = w->column_count,
                                                .resource_count = w->resource_count,
                                                .rules = &w->rules, .topology = &w->topology,
                                                .volumes = &w->volumes, .spread = &w->spread,
                                                .split = &w->split});
    build_pools(w, in);
    overlay(w, in);
    types_build(&w->types, w->arena, w->syms, &w->classes, w->overlaid.catalogue,
                w->settings.reserved_capacity);
    world_build_rows(w, in);
    split_build(&w->split, w, in);
    build_pods(w, in);
    world_index_waiting(w, w->arena);
    build_daemons(w, in);
    build_options(w);
    world_build_profiles(w);
    topology_finish(&w->topology, w);
    count_members(w);
    return w;
}

void world_free(struct world *w)
{
    if (w == NULL)
        return;
    symtab_unref(w->syms);
    for (size_t i = 0; i < PART_COUNT; i++)
        part_leave(w->parts[i]);
    free(w);
}

bool world_is_looked_at(const struct world *w, struct arena *a, const struct pod *p)
{
    const struct topology *t = &w->topology;
    struct pod_class k = {.ns = sym_find(w->syms, p->meta.ns), .labels = p->meta.labels};
    if (t->index == NULL)
        return false;
    watch_index_ties(t, a, &k);
    for (uint32_t i = 0; i < k.ties.counted_by_count; i++)
        if (t->groups[k.ties.counted_by[i]].kind != TOPOLOGY_SPREAD)
            return true;
    return false;
}

bool world_is_alike(const struct world *w, int32_t class_id, uint32_t row, uint32_t other)
{
    const struct topology_ties *ties = &w->classes.items[class_id].ties;
    for (uint32_t i = 0; i < ties->counted_by_count; i++)
        if (w->topology.groups[ties->counted_by[i]].hard &&
            !topology_counts_alike(w, ties->counted_by[i], row, other))
            return false;
    for (uint32_t i = 0; i < ties->keeps_off_count; i++)
        if (!topology_counts_alike(w, ties->keeps_off[i], row, other))
            return false;
    return true;
}

bool world_is_minded(const struct world *w, int32_t class_id)
{
    const struct topology_ties *ties = &w->classes.items[class_id].ties;
    const struct topology_group *groups = w->topology.groups;
    for (uint32_t i = 0; i < ties->counted_by_count; i++)
        if (groups[ties->counted_by[i]].hard && groups[ties->counted_by[i]].key != 0)
            return true;
    for (uint32_t i = 0; i < ties->keeps_off_count; i++)
        if (groups[ties->keeps_off[i]].key != 0)
            return true;
    return false;
}

bool world_wavers(const struct world *w, int32_t class_id)
{
    const struct pod_class *k = &w->classes.items[class_id];
    for (uint32_t i = 0; i < k->strict_count; i++)
        if (w->classes.attempts[k->first_strict + i].wavers)
            return true;
    return false;
}

const struct symtab *world_syms(const struct world *w)
{
    return w->syms;
}

const struct catalogue *world_catalogue(const struct world *w)
{
    return w->types.catalogue;
}

uint32_t world_node_count(const struct world *w)
{
    return w->node_count;
}

const struct world_node *world_node_at(const struct world *w, uint32_t row)
{
    return &w->nodes[row];
}

static int32_t find_row(const struct row_index *x, uint64_t hash)
{
    for (uint32_t at = (uint32_t)hash & x->mask;; at = (at + 1) & x->mask)
        if (x->slots[at].row == 0 || x->slots[at].hash == hash)
            return (int32_t)x->slots[at].row - 1;
}

int32_t world_find_node(const struct world *w, struct span node_name)
{
    int32_t row = find_row(&w->by_node, span_hash(node_name));
    return row >= 0 && span_eq(w->nodes[row].node->meta.name, node_name) ? row : -1;
}

int32_t world_find_hash(const struct world *w, uint64_t hash)
{
    int32_t row = find_row(&w->by_node, hash);
    if (row >= 0)
        return row;
    row = find_row(&w->by_claim, hash);
    return row >= 0 && w->nodes[row].node == NULL ? row : -1;
}

const struct pod *const *world_nominated(const struct world *w, uint32_t *count_out)
{
    *count_out = w->nominated_count;
    return w->nominated;
}

int32_t world_find_claim(const struct world *w, struct span claim_name)
{
    int32_t row = find_row(&w->by_claim, span_hash(claim_name));
    return row >= 0 && span_eq(w->nodes[row].claim->meta.name, claim_name) ? row : -1;
}

const struct pod *const *world_node_pods(const struct world *w, uint32_t row)
{
    return w->nodes[row].pods;
}

int32_t world_class_of(const struct world *w, const struct pod *p)
{
    const struct waiting_pod *x = w->classes.count != 0 ? world_unbound(w, p->meta.uid) : NULL;
    return x != NULL ? (int32_t)x->class_id : classes_find(&w->classes, p);
}

int32_t world_waiting_class(const struct world *w, struct span uid)
{
    const struct waiting_pod *x = w->waiting_count != 0 ? world_unbound(w, uid) : NULL;
    return x != NULL ? (int32_t)x->class_id : -1;
}

const struct pod *world_waiting_pod(const struct world *w, struct span uid)
{
    const struct waiting_pod *x = w->waiting_count != 0 ? world_unbound(w, uid) : NULL;
    return x != NULL ? x->pod : NULL;
}

const amount *world_pod_requests(const struct world *w, struct arena *a, const struct pod *p)
{
    const struct waiting_pod *x = w->waiting_count != 0 ? world_unbound(w, p->meta.uid) : NULL;
    if (x != NULL)
        return classes_requests(&w->classes, x->class_id);
    amount *vector = ARENA_ARRAY(a, amount, w->column_count);
    classes_add_vector(&w->classes, vector, p->requests);
    vector[3] = amount_add(vector[3], 1);
    return vector;
}

uint32_t world_resource_count(const struct world *w)
{
    return w->column_count;
}

sym world_resource_name(const struct world *w, uint32_t column)
{
    return w->columns[column];
}

const amount *world_allocatable(const struct world *w, uint32_t row)
{
    return world_vector(w, w->allocatable, row);
}

const amount *world_requested(const struct world *w, uint32_t row)
{
    return world_vector(w, w->requested, row);
}

const amount *world_class_requests(const struct world *w, int32_t class_id)
{
    return classes_requests(&w->classes, (uint32_t)class_id);
}

const amount *world_daemons_expected(const struct world *w, uint32_t row)
{
    return world_vector(w, w->expected, row);
}

bool world_daemons_come(const struct world *w, uint32_t row)
{
    return world_daemons_expected(w, row)[3] != 0; /* pods */
}
