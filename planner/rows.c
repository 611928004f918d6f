/* Nodes as rows: a Node and its NodeClaim are one, as spec provisioning 2.4 sees them. */
#include "planner/columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "kube/replaces.h"

/* --- which claim belongs to which node --- */

struct claim_index {
    const struct node_claim **by_id, **by_node;
    size_t count;
};

static int by_provider_id(const void *a, const void *b)
{
    const struct node_claim *x = *(const struct node_claim *const *)a;
    const struct node_claim *y = *(const struct node_claim *const *)b;
    int order = span_cmp(x->provider_id, y->provider_id);
    return order != 0 ? order : span_cmp(x->meta.name, y->meta.name);
}

static int by_node_name(const void *a, const void *b)
{
    const struct node_claim *x = *(const struct node_claim *const *)a;
    const struct node_claim *y = *(const struct node_claim *const *)b;
    if (x->node_name != y->node_name)
        return x->node_name < y->node_name ? -1 : 1;
    return span_cmp(x->meta.name, y->meta.name);
}

static struct claim_index claim_index_of(struct arena *a, const struct world_input *in)
{
    struct claim_index x = {.count = in->claim_count};
    x.by_id = ARENA_ARRAY(a, const struct node_claim *, in->claim_count);
    x.by_node = ARENA_ARRAY(a, const struct node_claim *, in->claim_count);
    for (size_t i = 0; i < in->claim_count; i++)
        x.by_id[i] = x.by_node[i] = in->claims[i];
    if (in->claim_count != 0) {
        qsort(x.by_id, x.count, sizeof(*x.by_id), by_provider_id);
        qsort(x.by_node, x.count, sizeof(*x.by_node), by_node_name);
    }
    return x;
}

/* By provider ID; one of the two may not have it yet, then by status.nodeName. */
static const struct node_claim *claim_of(const struct claim_index *x, const struct node *n,
                                         sym name)
{
    size_t low = 0, high = x->count;
    while (n->provider_id.len != 0 && low < high) {
        size_t mid = (low + high) / 2;
        if (span_cmp(x->by_id[mid]->provider_id, n->provider_id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (n->provider_id.len != 0 && low < x->count &&
        span_eq(x->by_id[low]->provider_id, n->provider_id))
        return x->by_id[low];
    for (low = 0, high = x->count; low < high;) {
        size_t mid = (low + high) / 2;
        if (x->by_node[mid]->node_name < name)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->count && x->by_node[low]->node_name == name ? x->by_node[low] : NULL;
}

/* --- one row --- */

static bool labelled_true(struct sym_pairs labels, sym key)
{
    return sym_pairs_get(labels, key) == SYM_TRUE;
}

static bool is_registered(const struct world_node *n)
{
    return n->claim == NULL || (n->node != NULL && labelled_true(n->node->meta.labels, SYM_REGISTERED));
}

static bool is_initialized(const struct world_node *n)
{
    return n->stage == NODE_UNMANAGED || n->stage == NODE_INITIALIZED;
}

static bool speaks_claim(const struct world_node *n)
{
    return n->node == NULL || !is_registered(n);
}

struct sym_pairs world_row_labels(const struct world_node *n)
{
    return speaks_claim(n) ? n->claim->meta.labels : n->node->meta.labels;
}

struct taints world_row_taints(struct world *w, const struct world_node *n)
{
    struct taints from = speaks_claim(n) ? n->claim->taints : n->node->taints;
    bool cordoned = n->node != NULL && n->node->unschedulable;
    struct taint *kept = ARENA_ARRAY(w->arena, struct taint, (size_t)from.count + 1);
    uint32_t count = 0;
    bool rebooting = n->claim != NULL && conditions_true(n->claim->conditions, SPAN("Rebooting"));
    bool coming = n->claim != NULL && (!is_initialized(n) || rebooting);
    for (uint32_t i = 0; i < from.count; i++) {
        const struct taint *t = &from.items[i];
        bool startup = false;
        for (uint32_t k = 0; coming && k < n->claim->startup_taints.count; k++)
            startup |= n->claim->startup_taints.items[k].key == t->key &&
                       n->claim->startup_taints.items[k].effect == t->effect;
        if (coming && (startup || t->key == SYM_REBOOTING || taint_is_ephemeral(t, w->syms)))
            continue;
        cordoned &= t->key != SYM_UNSCHEDULABLE;
        kept[count++] = *t;
    }
    if (cordoned) /* a node that is cordoned and not tainted yet */
        kept[count++] =
            (struct taint){.key = SYM_UNSCHEDULABLE, .effect = TAINT_NO_SCHEDULE};
    return (struct taints){kept, count};
}

static bool is_going(const struct world_node *n)
{
    if (n->claim != NULL && conditions_true(n->claim->conditions, SPAN("DisruptionReason")))
        return true;
    if (n->node == NULL)
        return false;
    for (uint32_t i = 0; i < n->node->taints.count; i++)
        if (n->node->taints.items[i].key == SYM_DISRUPTED)
            return true;
    return n->node->meta.deleted != 0;
}

struct world_node world_row(const struct node *node, const struct node_claim *claim, sym name, bool replaced)
{
    struct world_node n = {.node = node, .claim = claim, .name_sym = name, .pool = -1,
                           .price = NAN, .replaced = replaced};
    if (claim == NULL)
        n.stage = NODE_UNMANAGED;
    else if (node == NULL)
        n.stage = NODE_LAUNCHING;
    else if (labelled_true(node->meta.labels, SYM_INITIALIZED) &&
             labelled_true(node->meta.labels, SYM_REGISTERED))
        n.stage = NODE_INITIALIZED;
    else
        n.stage = NODE_REGISTERED;
    assert(node != NULL || claim != NULL);
    bool by_claim = claim != NULL && (node == NULL || speaks_claim(&n));
    n.name = by_claim ? claim->meta.name : node->meta.name;
    if (claim != NULL)
        n.leaving = replaced || claim->meta.deleted != 0 ||
                    conditions_true(claim->conditions, SPAN("InstanceTerminating"));
    else
        n.leaving = node->meta.deleted != 0;
    n.going = n.leaving || is_going(&n);
    return n;
}

static int row_order(const void *a, const void *b)
{
    const struct world_node *x = a, *y = b;
    if (is_initialized(x) != is_initialized(y))
        return is_initialized(x) ? -1 : 1;
    int order = span_cmp(x->name, y->name);
    return order != 0 ? order : (x->claim != NULL) - (y->claim != NULL);
}

/* --- who has been replaced --- */

/* Those who were bought in place of a claim that is meant to leave, though its deletion waits for them: as upstream
 * marks candidates for deletion once their replacements are there (spec disruption 9.1), and for every replica and the
 * next leader to see. */
struct substitute {
    struct span uid; /* of whom it replaces */
    wall_ms created;
};

struct substitutes { /* by uid, then the newest first */
    struct substitute *items;
    uint32_t count, capacity;
};

static int by_uid(const void *x, const void *y)
{
    const struct substitute *a = x, *b = y;
    int order = span_cmp(a->uid, b->uid);
    return order != 0 ? order : (a->created < b->created) - (a->created > b->created);
}

static struct substitutes substitutes_of(struct arena *a, const struct world_input *in)
{
    struct substitutes x = {.items = NULL};
    for (size_t i = 0; i < in->claim_count; i++) {
        const struct node_claim *c = in->claims[i];
        struct replaces r = replaces_of(c);
        struct replaced one;
        while (c->meta.deleted == 0 && replaces_next(&r, &one))
            ARENA_PUSH(a, x.items, x.count, x.capacity, ((struct substitute){one.uid, c->meta.created}));
    }
    if (x.count != 0)
        qsort(x.items, x.count, sizeof(*x.items), by_uid);
    return x;
}

/* Two clocks: the API server says when a claim was made, a leader when it gave the reason. */
enum { CLOCKS_APART_MS = 60 * 1000 };

/* A substitute that is older than the reason is of an earlier attempt. */
static bool is_replaced(const struct substitutes *x, const struct node_claim *c)
{
    const struct condition *why = c != NULL && x->count != 0
                                      ? conditions_find(c->conditions, SPAN("DisruptionReason"))
                                      : NULL;
    uint32_t low = 0, high = x->count;
    if (why == NULL || why->status != CONDITION_TRUE)
        return false;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (span_cmp(x->items[mid].uid, c->meta.uid) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->count && span_eq(x->items[low].uid, c->meta.uid) &&
           x->items[low].created + CLOCKS_APART_MS >= why->transition;
}

void world_collect_rows(struct world *w, const struct world_input *in)
{
    struct claim_index claims = claim_index_of(w->arena, in);
    struct substitutes substitutes = substitutes_of(w->arena, in);
    bool *used = ARENA_ARRAY(w->arena, bool, in->claim_count); /* by place in by_node */
    w->any_replace = substitutes.count != 0;
    w->nodes = ARENA_ARRAY(w->arena, struct world_node, in->node_count + in->claim_count);
    w->node_count = 0;
    for (size_t i = 0; i < in->node_count; i++) {
        sym name = sym_intern(w->syms, in->nodes[i]->meta.name);
        const struct node_claim *claim = claim_of(&claims, in->nodes[i], name);
        w->nodes[w->node_count++] = world_row(in->nodes[i], claim, name, is_replaced(&substitutes, claim));
        if (claim != NULL) {
            const struct node_claim **at = bsearch(&claim, claims.by_node, claims.count,
                                                   sizeof(*claims.by_node), by_node_name);
            used[at - claims.by_node] = true;
        }
    }
    for (size_t i = 0; i < claims.count; i++)
        if (!used[i])
            w->nodes[w->node_count++] = world_row(NULL, claims.by_node[i], SYM_NONE,
                                                  is_replaced(&substitutes, claims.by_node[i]));
    if (w->node_count != 0)
        qsort(w->nodes, w->node_count, sizeof(*w->nodes), row_order);
}

/* --- what a row has --- */

static void set_vector(const struct world *w, amount *vector, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        int32_t c = classes_column(&w->classes, r.items[i].name);
        if (c >= 0)
            vector[c] = r.items[i].value;
    }
}

/* Values of the Node, each that is zero or missing replaced by the claim's (2.4). */
static void overlay_vector(const struct world *w, amount *vector, struct resources node,
                           struct resources claim)
{
    set_vector(w, vector, claim);
    for (uint32_t i = 0; i < node.count; i++) {
        int32_t c = classes_column(&w->classes, node.items[i].name);
        if (c >= 0 && node.items[i].value != 0)
            vector[c] = node.items[i].value;
    }
}

const struct requirements *world_launch_requirements(struct world *w, const struct node_claim *c)
{
    struct requirements *r = ARENA_NEW(w->arena, struct requirements);
    *r = requirements_of(w->arena, w->syms, c->requirements);
    struct requirements labels = requirements_of_labels(w->arena, w->syms, c->meta.labels);
    requirements_add_all(w->arena, r, &labels, w->syms);
    return r;
}

/* A claim that no machine was found for yet may become any of its types: what the least of them
 * has is sure to be there. Without this, pods planned onto it would be planned again. */
static void least_of_types(struct world *w, const struct node_claim *claim, amount *allocatable)
{
    const struct requirements *r = world_launch_requirements(w, claim);
    const struct requirement *names = requirements_get(r, SYM_INSTANCE_TYPE);
    bool first = true;
    for (uint32_t i = 0; names != NULL && i < w->types.count; i++) {
        if (!requirement_has(names, types_at(&w->types, i)->name_sym, w->syms))
            continue;
        for (uint32_t g = w->types.first_group[i]; g < w->types.first_group[i + 1]; g++) {
            const amount *room = world_vector(w, w->types.allocatable, g);
            for (uint32_t c = 0; c < w->column_count; c++)
                if (first || room[c] < allocatable[c])
                    allocatable[c] = room[c];
            first = false;
        }
    }
}

static void fill_room(struct world *w, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    size_t at = (size_t)row * w->column_count;
    static const struct resources none;
    struct resources allocatable = n->node != NULL ? n->node->allocatable : none;
    struct resources capacity = n->node != NULL ? n->node->capacity : none;
    if (is_initialized(n)) {
        set_vector(w, w->allocatable + at, allocatable);
        set_vector(w, w->capacity + at, capacity);
    } else {
        overlay_vector(w, w->allocatable + at, allocatable, n->claim->allocatable);
        overlay_vector(w, w->capacity + at, capacity, n->claim->capacity);
        if (n->node == NULL && n->claim->allocatable.count == 0) {
            least_of_types(w, n->claim, w->allocatable + at);
            memcpy(w->capacity + at, w->allocatable + at, w->column_count * sizeof(amount));
        }
    }
}

const struct instance_type *world_row_type(const struct world *w, const struct world_node *n)
{
    struct sym_pairs labels = world_row_labels(n);
    sym type = sym_pairs_get(labels, SYM_INSTANCE_TYPE);
    struct span pool = sym_text(w->syms, sym_pairs_get(labels, SYM_NODEPOOL));
    if (type == SYM_NONE)
        return NULL;
    struct span name = sym_text(w->syms, type);
    uint32_t low = 0, high = w->types.count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (span_cmp(types_at(&w->types, mid)->name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < w->types.count && span_eq(types_at(&w->types, low)->name, name); low++) {
        const struct instance_type *it = types_at(&w->types, low);
        if (instance_type_offered(it, pool))
            return it;
    }
    return NULL;
}

/* Beside its price. */
static double row_cost(const struct world *w, const struct world_node *n)
{
    double cost = 0;
    if (n->pool >= 0)
        node_pool_cost(w->pools[n->pool], &cost);
    return cost;
}

double world_row_offer(const struct world *w, const struct world_node *n, const struct instance_type *it)
{
    struct sym_pairs labels = world_row_labels(n);
    sym zone = sym_pairs_get(labels, SYM_ZONE), capacity = sym_pairs_get(labels, SYM_CAPACITY_TYPE);
    if (it == NULL || zone == SYM_NONE || capacity == SYM_NONE)
        return NAN;
    for (uint32_t i = 0; i < it->offering_count; i++) {
        const struct requirements *r = &it->offerings[i].requirements;
        const struct requirement *z = requirements_get(r, SYM_ZONE);
        const struct requirement *c = requirements_get(r, SYM_CAPACITY_TYPE);
        if (z != NULL && c != NULL && requirement_has(z, zone, w->syms) &&
            requirement_has(c, capacity, w->syms))
            return it->offerings[i].price;
    }
    return NAN;
}

/* How many volumes it can attach. A claim that may become several types keeps what the least of them can. */
static void fill_attachments(struct world *w, uint32_t row, const struct instance_type *it)
{
    const struct world_node *n = &w->nodes[row];
    if (it == NULL && n->stage == NODE_LAUNCHING && n->claim->allocatable.count == 0)
        return;
    const struct csi_node *published =
        n->node != NULL ? volumes_csi_node(&w->volumes, n->node->meta.name) : NULL;
    amount *room = w->allocatable + (size_t)row * w->column_count;
    for (uint32_t c = w->classes.resource_count; c < w->column_count; c++)
        room[c] = volumes_node_limit(w->columns[c], published, n->claim != NULL ? it : NULL);
}

static int32_t row_pool(const struct world *w, const struct world_node *n)
{
    struct span name = sym_text(w->syms, sym_pairs_get(world_row_labels(n), SYM_NODEPOOL));
    for (uint32_t i = 0; name.len != 0 && i < w->pool_count; i++)
        if (span_eq(w->pools[i]->meta.name, name))
            return (int32_t)i;
    return -1;
}

/* --- finding rows by name --- */

static void index_row(struct row_index *x, struct span name, uint32_t row)
{
    uint64_t hash = span_hash(name);
    uint32_t at = (uint32_t)hash & x->mask;
    while (x->slots[at].row != 0)
        at = (at + 1) & x->mask;
    x->slots[at] = (struct row_slot){hash, row + 1};
}

void world_index_rows(struct world *w)
{
    uint32_t size = 16;
    while (size < w->node_count * 2)
        size *= 2;
    w->by_node = (struct row_index){ARENA_ARRAY(w->arena, struct row_slot, size), size - 1};
    w->by_claim = (struct row_index){ARENA_ARRAY(w->arena, struct row_slot, size), size - 1};
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (n->node != NULL)
            index_row(&w->by_node, n->node->meta.name, row);
        if (n->claim != NULL)
            index_row(&w->by_claim, n->claim->meta.name, row);
    }
}

void world_fill_row(struct world *w, uint32_t row)
{
    fill_room(w, row);
    const struct instance_type *it = world_row_type(w, &w->nodes[row]);
    fill_attachments(w, row, it);
    w->nodes[row].pool = row_pool(w, &w->nodes[row]);
    w->nodes[row].price = world_row_offer(w, &w->nodes[row], it) + row_cost(w, &w->nodes[row]);
}

void world_build_rows(struct world *w, const struct world_input *in)
{
    world_collect_rows(w, in);
    size_t cells = (size_t)w->node_count * w->column_count;
    w->allocatable = ARENA_ARRAY(w->arena, amount, cells);
    w->capacity = ARENA_ARRAY(w->arena, amount, cells);
    w->requested = ARENA_ARRAY(w->arena, amount, cells);
    w->expected = ARENA_ARRAY(w->arena, amount, cells);
    w->left = ARENA_ARRAY(w->arena, amount, cells);
    w->ports = ARENA_ARRAY(w->arena, struct row_ports, w->node_count);
    w->profile_of = ARENA_ARRAY(w->arena, uint32_t, w->node_count);
    for (uint32_t row = 0; row < w->node_count; row++)
        world_fill_row(w, row);
    world_index_rows(w);
}
