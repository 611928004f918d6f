/* A world made by delta plans exactly as one that was built of the same objects, and shares what did not
 * change without holding on to it: random clusters whose pods come, are nominated, bound, move on and go, pods of DaemonSets and
 * with volumes among them, and whose Nodes, NodeClaims, CSINodes and PodDisruptionBudgets come, change and go.
 *
 * Every version of an object is a block of its own, freed with the last world that may look at it: so that the
 * address sanitizer sees who looks longer. */
#include "support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/decode.h"
#include "kube/replaces.h"
#include "planner/columns.h"
#include "planner/plan/plan_json.h"

enum { STEP_MOST = 8 };

struct moves { /* of one kind, in one step */
    const void *gone[STEP_MOST], *come[STEP_MOST];
    size_t gone_count, come_count;
};

struct history { /* of one cluster */
    struct cluster c;
    struct draws d;
    struct pod **pods; /* that are there */
    size_t count, capacity;
    struct pod *gone[8], *come[8]; /* of the step being made */
    size_t gone_count, come_count;
    struct moves moves[KIND_STORED_COUNT]; /* in this step, but pods */
    void *before[STEP_MOST * 4]; /* versions that are gone now and that were made by a step */
    size_t before_count;
    void **versions; /* made by steps */
    size_t version_count;
    void *former[KIND_STORED_COUNT]; /* one of each that left, and may come again */
    struct pod **away; /* templates of pods that may come (again) */
    size_t away_count;
    struct world *world;
    unsigned deltas, serial;
    unsigned unplanned; /* pods, over all comparisons */
    unsigned daemon_deltas, volume_deltas, nominated_deltas[2], kind_deltas[KIND_STORED_COUNT];
};

static struct pod *version_of(const struct history *h, const struct pod *p)
{
    return schema_pack(&pod_schema, p, 0, h->c.syms, NULL, NULL);
}

static void history_start(struct history *h, uint64_t seed)
{
    struct random_cluster r;
    *h = (struct history){.d = {.state = seed}};
    random_cluster_make(&r, &h->d);
    r.options.default_spread = NULL; /* a build is all there is then */
    r.options.capacity_buffer = seed % 4 == 0;
    r.options.unbound_classes = seed % 2 == 0;
    random_cluster_load(&r, 0, &h->c);
    random_cluster_release(&r);
    struct cluster_list *list = &h->c.kinds[KIND_POD];
    h->capacity = list->count * 2 + 200;
    h->pods = mem_array(h->capacity, sizeof(*h->pods));
    h->away = mem_array(h->capacity, sizeof(*h->away));
    h->versions = mem_array(256, sizeof(*h->versions));
    for (size_t i = 0; i < list->count; i++)
        if (draw(&h->d, 3) != 0)
            h->pods[h->count++] = version_of(h, list->items[i]);
        else
            h->away[h->away_count++] = version_of(h, list->items[i]);
}

static struct world *built(struct history *h)
{
    struct world_input in = cluster_input(&h->c);
    in.pods = (const struct pod *const *)h->pods;
    in.pod_count = h->count;
    return world_build(&in);
}

static void history_end(struct history *h)
{
    world_free(h->world);
    for (size_t i = 0; i < h->count; i++)
        free(h->pods[i]);
    for (size_t i = 0; i < h->away_count; i++)
        free(h->away[i]);
    for (size_t i = 0; i < h->version_count; i++)
        free(h->versions[i]);
    for (size_t k = 0; k < KIND_STORED_COUNT; k++)
        free(h->former[k]);
    free(h->versions);
    free(h->pods);
    free(h->away);
    cluster_release(&h->c);
}

/* --- what happens --- */

static void come(struct history *h, struct pod *p)
{
    h->come[h->come_count++] = p;
    h->pods[h->count++] = p;
}

static struct pod *take_at(struct history *h, size_t at)
{
    size_t old = h->count - h->come_count;
    struct pod *p = h->pods[at];
    h->pods[at] = h->pods[old - 1];
    h->pods[old - 1] = h->pods[--h->count];
    h->gone[h->gone_count++] = p;
    return p;
}

/* Out of those that are there; but not one that came in this very step. */
static struct pod *take(struct history *h)
{
    size_t old = h->count - h->come_count;
    return old != 0 ? take_at(h, draw(&h->d, (unsigned)old)) : NULL;
}

static void arrive(struct history *h)
{
    if (h->away_count != 0 && h->count < h->capacity)
        come(h, h->away[--h->away_count]);
}

static void vary(struct history *h, struct pod *p)
{
    if (p->requests.count != 0 && draw(&h->d, 2) != 0)
        p->requests.items[0].value += 1 + draw(&h->d, 3);
    if (draw(&h->d, 3) == 0)
        p->tolerations.count = 0;
}

/* A further pod of a workload; now and then of a shape of its own. */
static void scale_up(struct history *h)
{
    char text[64];
    if (h->count == h->come_count || h->count == h->capacity)
        return;
    struct pod copy = *h->pods[draw(&h->d, (unsigned)(h->count - h->come_count))];
    int n = snprintf(text, sizeof(text), "more-%u", h->serial++);
    copy.meta.name = copy.meta.uid = (struct span){text, (size_t)n};
    if (draw(&h->d, 3) != 0) {
        copy.node = SYM_NONE;
        copy.phase = POD_PENDING;
        copy.unschedulable = true;
    }
    struct pod *p = version_of(h, &copy);
    if (draw(&h->d, 4) == 0)
        vary(h, p);
    come(h, p);
}

static void leave(struct history *h)
{
    struct pod *p = take(h);
    if (p != NULL && draw(&h->d, 2) != 0 && h->away_count < h->capacity)
        h->away[h->away_count++] = version_of(h, p);
}

static void change(struct history *h)
{
    const struct cluster_list *nodes = &h->c.kinds[KIND_NODE];
    struct pod *p = take(h);
    if (p == NULL)
        return;
    struct pod *next = version_of(h, p);
    switch (draw(&h->d, 5)) {
    case 0:
        next->meta.deleted = h->c.plan_options.now;
        break;
    case 1:
        next->phase = POD_SUCCEEDED;
        break;
    case 2: /* it may be gated, or the scheduler has not tried it */
        next->gated = next->node == SYM_NONE && draw(&h->d, 2) != 0;
        next->unschedulable = next->node == SYM_NONE && draw(&h->d, 3) != 0;
        break;
    default: /* the scheduler binds it */
        if (nodes->count != 0 && next->node == SYM_NONE) {
            const struct node *n = nodes->items[draw(&h->d, (unsigned)nodes->count)];
            next->node = sym_intern(h->c.syms, n->meta.name);
            next->unschedulable = false;
        }
    }
    come(h, next);
}

/* Some pod that waits is, by the scheduler or by us; or was, and is not any more. */
static void is_nominated(struct history *h)
{
    const struct cluster_list *nodes = &h->c.kinds[KIND_NODE];
    size_t old = h->count - h->come_count, at = old != 0 ? draw(&h->d, (unsigned)old) : 0;
    for (size_t i = 0; i < old && h->pods[at]->node != SYM_NONE; i++)
        at = (at + 1) % old;
    if (old == 0 || nodes->count == 0)
        return;
    const struct node *n = nodes->items[draw(&h->d, (unsigned)nodes->count)];
    struct pod *next = version_of(h, take_at(h, at));
    bool was = next->nominated_node != SYM_NONE;
    next->nominated_node = was ? SYM_NONE : sym_intern(h->c.syms, n->meta.name);
    next->meta.wrote_status = !was && draw(&h->d, 2) != 0;
    come(h, next);
}

/* A pod of a DaemonSet, for a node or still without one. */
static void daemon_up(struct history *h)
{
    const struct cluster_list *sets = &h->c.kinds[KIND_DAEMON_SET], *nodes = &h->c.kinds[KIND_NODE];
    char text[64];
    if (sets->count == 0 || h->count == h->capacity)
        return;
    const struct daemon_set *set = sets->items[draw(&h->d, (unsigned)sets->count)];
    struct owner owner = {.api_version = SYM_API_APPS_V1, .kind = SYM_KIND_DAEMON_SET,
                          .name = set->meta.name, .controller = true};
    struct pod p = set->template;
    int n = snprintf(text, sizeof(text), "daemon-%u", h->serial++);
    p.meta.name = p.meta.uid = (struct span){text, (size_t)n};
    p.meta.ns = set->meta.ns;
    p.meta.owners.items = &owner;
    p.meta.owners.count = 1;
    p.meta.created = 1000 * (wall_ms)draw(&h->d, 4);
    p.phase = draw(&h->d, 4) != 0 ? POD_RUNNING : POD_PENDING;
    if (nodes->count != 0 && draw(&h->d, 4) != 0)
        p.node = sym_intern(h->c.syms, ((const struct node *)nodes->items[draw(&h->d, (unsigned)nodes->count)])
                                           ->meta.name);
    struct pod *made = version_of(h, &p);
    if (draw(&h->d, 6) == 0)
        vary(h, made);
    come(h, made);
}

/* --- what happens to other objects --- */

static bool is_new(const struct moves *m, const void *object)
{
    for (size_t i = 0; i < m->come_count; i++)
        if (m->come[i] == object)
            return true;
    return false;
}

/* One that is there, and was before this step; or the count. */
static size_t pick(struct history *h, enum kind k)
{
    const struct cluster_list *list = &h->c.kinds[k];
    struct moves *m = &h->moves[k];
    size_t at = list->count != 0 ? draw(&h->d, (unsigned)list->count) : 0;
    bool may = at < list->count && m->gone_count + m->come_count < STEP_MOST && !is_new(m, list->items[at]);
    return may ? at : list->count;
}

static void put(struct history *h, enum kind k, void *made)
{
    struct moves *m = &h->moves[k];
    h->versions[h->version_count++] = made;
    m->come[m->come_count++] = made;
}

static void drop(struct history *h, enum kind k, const void *old)
{
    struct moves *m = &h->moves[k];
    m->gone[m->gone_count++] = old;
    for (size_t i = 0; i < h->version_count; i++)
        if (h->versions[i] == old) {
            h->before[h->before_count++] = h->versions[i];
            h->versions[i] = h->versions[--h->version_count];
            return;
        }
}

/* The object takes the place of the one that is at `at`. */
static void replace(struct history *h, enum kind k, size_t at, void *made)
{
    drop(h, k, h->c.kinds[k].items[at]);
    put(h, k, made);
    h->c.kinds[k].items[at] = made;
}

static void *version(struct history *h, enum kind k, const void *object)
{
    return schema_pack(kind_info(k)->schema, object, 0, h->c.syms, NULL, NULL);
}

static void goes_away(struct history *h, enum kind k)
{
    struct cluster_list *list = &h->c.kinds[k];
    size_t at = pick(h, k);
    if (at == list->count)
        return;
    free(h->former[k]);
    h->former[k] = version(h, k, list->items[at]);
    drop(h, k, list->items[at]);
    list->items[at] = list->items[--list->count];
}

/* The one that left last, or another like one that is there. */
static void comes_in(struct history *h, enum kind k, void (*rename)(struct history *, void *))
{
    struct cluster_list *list = &h->c.kinds[k];
    size_t at = pick(h, k);
    void *made = h->former[k];
    if (h->moves[k].come_count != 0 || h->moves[k].gone_count != 0 || (made == NULL && at == list->count))
        return;
    if (made == NULL || (at != list->count && draw(&h->d, 2) != 0)) {
        char text[32];
        struct meta *m = made = version(h, k, list->items[at]);
        int n = snprintf(text, sizeof(text), "joins-%u", h->serial++);
        m->name = m->uid = arena_dup(&h->c.arena, (struct span){text, (size_t)n});
        rename(h, made);
    } else {
        h->former[k] = NULL;
    }
    put(h, k, made);
    ARENA_PUSH(&h->c.arena, list->items, list->count, list->capacity, made);
}

static void rename_node(struct history *h, void *made)
{
    struct node *n = made;
    n->provider_id = draw(&h->d, 2) != 0 ? n->meta.name : (struct span){NULL, 0};
    for (uint32_t i = 0; i < n->meta.labels.count; i++)
        if (n->meta.labels.items[i].key == SYM_HOSTNAME)
            n->meta.labels.items[i].value = sym_intern(h->c.syms, n->meta.name);
}

/* Its own Node, or the one of the claim of which it was copied. */
static void rename_claim(struct history *h, void *made)
{
    struct node_claim *c = made;
    if (draw(&h->d, 2) != 0)
        return;
    c->provider_id = draw(&h->d, 2) != 0 ? c->meta.name : (struct span){NULL, 0};
    c->node_name = SYM_NONE;
}

static void rename_nothing(struct history *h, void *made)
{
    (void)h;
    (void)made;
}

static void node_goes(struct history *h)
{
    goes_away(h, KIND_NODE);
}

static void node_comes(struct history *h)
{
    comes_in(h, KIND_NODE, rename_node);
}

/* What was bought, or what is said of it, goes or comes. */
static void others_move(struct history *h)
{
    switch (draw(&h->d, 6)) {
    case 0:
        goes_away(h, KIND_NODE_CLAIM);
        break;
    case 1:
        comes_in(h, KIND_NODE_CLAIM, rename_claim);
        break;
    case 2:
        goes_away(h, KIND_CSI_NODE);
        break;
    case 3:
        comes_in(h, KIND_CSI_NODE, rename_nothing);
        break;
    case 4:
        goes_away(h, KIND_DISRUPTION_BUDGET);
        break;
    default:
        comes_in(h, KIND_DISRUPTION_BUDGET, rename_nothing);
    }
}

static void csi_node_changes(struct history *h)
{
    size_t at = pick(h, KIND_CSI_NODE);
    if (at == h->c.kinds[KIND_CSI_NODE].count)
        return;
    struct csi_node *n = version(h, KIND_CSI_NODE, h->c.kinds[KIND_CSI_NODE].items[at]);
    if (n->drivers.count != 0) {
        n->drivers.items[0].limit = (int32_t)draw(&h->d, 3);
        n->drivers.items[0].has_limit = draw(&h->d, 4) != 0;
    }
    replace(h, KIND_CSI_NODE, at, n);
}

static void budget_changes(struct history *h)
{
    static const struct span numbers[] = {SPAN_INIT("0"), SPAN_INIT("100%"), SPAN_INIT("1")};
    size_t at = pick(h, KIND_DISRUPTION_BUDGET);
    if (at == h->c.kinds[KIND_DISRUPTION_BUDGET].count)
        return;
    struct disruption_budget *b = version(h, KIND_DISRUPTION_BUDGET, h->c.kinds[KIND_DISRUPTION_BUDGET].items[at]);
    b->max_unavailable = numbers[draw(&h->d, COUNT_OF(numbers))];
    b->has_selector = draw(&h->d, 4) != 0;
    replace(h, KIND_DISRUPTION_BUDGET, at, b);
}

/* Half of what is written to a Node nobody decides by. */
static void node_changes(struct history *h)
{
    size_t at = pick(h, KIND_NODE);
    if (at == h->c.kinds[KIND_NODE].count)
        return;
    struct node *n = version(h, KIND_NODE, h->c.kinds[KIND_NODE].items[at]);
    n->meta.generation++;
    switch (draw(&h->d, 12)) {
    case 0:
        n->unschedulable = !n->unschedulable;
        break;
    case 1:
        n->taints.count = 0;
        break;
    case 2:
        if (n->allocatable.count != 0)
            n->allocatable.items[0].value /= 2;
        break;
    case 3:
        n->meta.labels.count -= n->meta.labels.count != 0;
        break;
    case 4:
        n->meta.deleted = n->meta.deleted != 0 ? 0 : h->c.plan_options.now;
        break;
    case 5: /* it registers, or comes up */
        for (uint32_t i = 0; i < n->meta.labels.count; i++)
            if (n->meta.labels.items[i].key == SYM_REGISTERED || n->meta.labels.items[i].key == SYM_INITIALIZED)
                n->meta.labels.items[i].value = draw(&h->d, 2) != 0 ? SYM_TRUE : SYM_EMPTY;
        break;
    default:
        n->conditions.count = 0;
    }
    replace(h, KIND_NODE, at, n);
}

static struct condition disrupted = {.type = SPAN_INIT("DisruptionReason"), .status = CONDITION_TRUE};

/* What a claim says that was bought in place of another. */
static struct annotations replaces(struct history *h, const void *other)
{
    const struct meta *m = other;
    struct annotation *one = ARENA_NEW(&h->c.arena, struct annotation);
    struct replaced whom = {arena_dup(&h->c.arena, m->name), arena_dup(&h->c.arena, m->uid)};
    *one = (struct annotation){SYM_REPLACES, replaces_text(&h->c.arena, 1, &whom, 1)};
    return (struct annotations){one, 1};
}

static void claim_changes(struct history *h)
{
    const struct cluster_list *list = &h->c.kinds[KIND_NODE_CLAIM];
    size_t at = pick(h, KIND_NODE_CLAIM);
    if (at == list->count)
        return;
    struct node_claim *c = version(h, KIND_NODE_CLAIM, list->items[at]);
    c->last_pod_event += 1000;
    switch (draw(&h->d, 16)) {
    case 0:
        c->meta.deleted = c->meta.deleted != 0 ? 0 : h->c.plan_options.now;
        break;
    case 1:
        c->conditions.count = 0;
        break;
    case 2:
        c->taints.count = c->startup_taints.count = 0;
        break;
    case 3:
        c->conditions = (struct conditions){&disrupted, 1};
        break;
    case 4:
        c->meta.annotations = replaces(h, list->items[draw(&h->d, (unsigned)list->count)]);
        break;
    default:
        c->meta.generation++;
    }
    replace(h, KIND_NODE_CLAIM, at, c);
}

static void draw_step(struct history *h)
{
    static void (*const happenings[])(struct history *) = {
        arrive, scale_up, scale_up, leave, leave, change, change, change, is_nominated, is_nominated, daemon_up, node_changes, node_changes,
        claim_changes, node_goes, node_comes, others_move, csi_node_changes, budget_changes};
    memset(h->moves, 0, sizeof(h->moves));
    h->gone_count = h->come_count = h->before_count = 0;
    for (unsigned i = 1 + draw(&h->d, 2); i > 0; i--)
        happenings[draw(&h->d, COUNT_OF(happenings))](h);
}

static void count_delta(struct history *h)
{
    bool daemons = false, volumes = false;
    for (size_t i = 0; i < h->come_count; i++) {
        daemons |= pod_is_daemon(h->come[i]);
        h->nominated_deltas[h->come[i]->meta.wrote_status] += world_pod_is_nominated(h->come[i]);
        volumes |= h->come[i]->volumes.count != 0;
    }
    h->deltas++;
    for (size_t k = 0; k < KIND_STORED_COUNT; k++)
        h->kind_deltas[k] += h->moves[k].gone_count + h->moves[k].come_count != 0;
    h->daemon_deltas += daemons;
    h->volume_deltas += volumes;
}

/* --- what must hold --- */

static struct buf planned(struct history *h, const struct world *w, enum search_kind search)
{
    struct buf b = {0};
    struct json j = {.out = &b, .indent = 2};
    struct plan_options options = h->c.plan_options;
    options.removed_count = 0;
    options.search = search;
    struct plan *p = plan_solve(w, &options);
    plan_tell(p);
    plan_json(&j, p, NULL, 0);
    plan_free(p);
    return b;
}

static bool same_amounts(const struct world *a, const amount *x, const amount *y)
{
    return memcmp(x, y, a->column_count * sizeof(amount)) == 0;
}

static bool same_row(const struct world *a, const struct world *b, uint32_t row)
{
    const struct world_node *x = &a->nodes[row], *y = &b->nodes[row];
    bool same = x->node == y->node && x->claim == y->claim && span_eq(x->name, y->name) && x->stage == y->stage &&
                x->leaving == y->leaving && x->going == y->going && x->replaced == y->replaced &&
                x->pool == y->pool && memcmp(&x->price, &y->price, sizeof(x->price)) == 0 &&
                x->pod_count == y->pod_count;
    for (uint32_t i = 0; same && i < x->pod_count; i++)
        same = x->pods[i] == y->pods[i];
    return same && same_amounts(a, world_vector(a, a->allocatable, row), world_vector(b, b->allocatable, row)) &&
           same_amounts(a, world_vector(a, a->capacity, row), world_vector(b, b->capacity, row)) &&
           same_amounts(a, world_vector(a, a->requested, row), world_vector(b, b->requested, row)) &&
           same_amounts(a, world_vector(a, a->expected, row), world_vector(b, b->expected, row)) &&
           same_amounts(a, world_vector(a, a->left, row), world_vector(b, b->left, row));
}

static uint32_t count_blocked(const struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->waiting_count; i++)
        count += (w->waiting[i].bound ? 1u : 0) + (w->waiting[i].blocked ? 1000u : 0);
    return count;
}

/* In any order. */
static bool same_nominated(const struct world *w, const struct world *whole)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < w->nominated_count; i++)
        for (uint32_t k = 0; k < whole->nominated_count; k++)
            found += w->nominated[i] == whole->nominated[k];
    return found == w->nominated_count && w->nominated_count == whole->nominated_count;
}

static bool same_shape(const struct world *w, int32_t x, const struct world *whole, int32_t y)
{
    return x < 0 || y < 0 ? x == y
                          : same_amounts(w, classes_requests(&w->classes, (uint32_t)x), classes_requests(&whole->classes, (uint32_t)y)) &&
                                w->classes.items[x].daemon == whole->classes.items[y].daemon &&
                                w->classes.items[x].example->tolerations.count == whole->classes.items[y].example->tolerations.count;
}

/* Who has no node has a class in both, and one that asks the same. */
static void expect_same_classes(struct history *h, const struct world *w, const struct world *whole, uint64_t seed)
{
    for (size_t i = 0; i < h->count; i++) {
        struct span uid = h->pods[i]->meta.uid;
        if (!same_shape(w, world_unplanned_class(w, uid), whole, world_unplanned_class(whole, uid)) ||
            !same_shape(w, world_waiting_class(w, uid), whole, world_waiting_class(whole, uid)))
            fail_msg("seed %llu, delta %u: pod %.*s is of another class than in a world built anew", (unsigned long long)seed,
                     h->deltas, SPAN_ARG(h->pods[i]->meta.name));
        h->unplanned += world_unplanned_class(w, uid) >= 0;
    }
    assert_int_equal(w->unplanned_count, whole->unplanned_count);
}

/* What is asked of a world beside plans: its rows, and who waits. */
static void expect_same_rows(const struct history *h, const struct world *w, const struct world *whole, uint64_t seed)
{
    bool same = w->node_count == whole->node_count && w->column_count == whole->column_count;
    for (uint32_t row = 0; same && row < w->node_count; row++)
        if (!same_row(w, whole, row))
            fail_msg("seed %llu, delta %u: row %u is another than that of a world built anew", (unsigned long long)seed,
                     h->deltas, row);
    if (!same_nominated(w, whole))
        fail_msg("seed %llu, delta %u: %u are nominated; %u, or others, in a world built anew", (unsigned long long)seed,
                 h->deltas, w->nominated_count, whole->nominated_count);
    if (!same || w->waiting_count != whole->waiting_count || w->aside_count != whole->aside_count ||
        count_blocked(w) != count_blocked(whole))
        fail_msg("seed %llu, delta %u: %u rows, %u wait, %u are aside; %u, %u and %u in a world built anew",
                 (unsigned long long)seed, h->deltas, w->node_count, w->waiting_count, w->aside_count,
                 whole->node_count, whole->waiting_count, whole->aside_count);
}

static void expect_same_plans(struct history *h, const struct world *w, uint64_t seed)
{
    struct world *whole = built(h);
    expect_same_rows(h, w, whole, seed);
    expect_same_classes(h, w, whole, seed);
    for (int search = SEARCH_CHEAPEST; search <= SEARCH_GREEDY; search++) {
        struct buf a = planned(h, w, (enum search_kind)search);
        struct buf b = planned(h, whole, (enum search_kind)search);
        bool same = span_eq(buf_span(&a), buf_span(&b));
        if (!same)
            fprintf(stderr, "by delta:\n%s\nbuilt:\n%s\n", a.ptr, b.ptr); /* cmocka cuts it */
        buf_release(&a);
        buf_release(&b);
        if (!same)
            fail_msg("seed %llu, delta %u: another plan than that of a world built anew",
                     (unsigned long long)seed, h->deltas);
    }
    world_free(whole);
}

static void step(struct history *h, uint64_t seed)
{
    draw_step(h);
    const struct moves *nodes = &h->moves[KIND_NODE], *claims = &h->moves[KIND_NODE_CLAIM];
    const struct moves *csi = &h->moves[KIND_CSI_NODE], *budgets = &h->moves[KIND_DISRUPTION_BUDGET];
    struct world_change c = {
        .gone = (const struct pod *const *)h->gone, .come = (const struct pod *const *)h->come,
        .gone_nodes = (const void *)nodes->gone, .nodes = (const void *)nodes->come,
        .gone_claims = (const void *)claims->gone, .claims = (const void *)claims->come,
        .gone_csi_nodes = (const void *)csi->gone, .csi_nodes = (const void *)csi->come,
        .gone_count = h->gone_count, .come_count = h->come_count, .gone_node_count = nodes->gone_count,
        .node_count = nodes->come_count, .gone_claim_count = claims->gone_count, .claim_count = claims->come_count,
        .gone_csi_node_count = csi->gone_count, .csi_node_count = csi->come_count};
    if (budgets->gone_count + budgets->come_count != 0) {
        c.budgets = (const void *)h->c.kinds[KIND_DISRUPTION_BUDGET].items;
        c.budget_count = h->c.kinds[KIND_DISRUPTION_BUDGET].count;
    }
    struct buf before = planned(h, h->world, SEARCH_GREEDY);
    struct world *next = world_delta(h->world, &c);
    struct buf after = planned(h, h->world, SEARCH_GREEDY);
    assert_true(span_eq(buf_span(&before), buf_span(&after))); /* the old one did not change */
    buf_release(&before);
    buf_release(&after);
    if (next != NULL)
        count_delta(h);
    else
        next = built(h);
    world_free(h->world);
    h->world = next;
    for (size_t i = 0; i < h->gone_count; i++)
        free(h->gone[i]);
    for (size_t i = 0; i < h->before_count; i++)
        free(h->before[i]);
    expect_same_plans(h, h->world, seed);
}

static void one_node(struct history *h)
{
    *h = (struct history){.serial = 0};
    cluster_init(&h->c);
    cluster_types_c1(&h->c, 50);
    cluster_add(&h->c, "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}");
    cluster_add(&h->c, "{apiVersion: v1, kind: Node, metadata: {name: node-1}, "
                       "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}}");
    h->world = built(h);
}

/* Steps by hand: the world goes on by delta, and plans as one that is built. */
static void expect_delta(struct history *h, const char *label)
{
    struct world_change c = {.gone = (const struct pod *const *)h->gone, .come = (const struct pod *const *)h->come,
                             .gone_count = h->gone_count, .come_count = h->come_count};
    struct world *next = world_delta(h->world, &c);
    if (next == NULL)
        fail_msg("%s: left to a build", label);
    world_free(h->world);
    h->world = next;
    for (size_t i = 0; i < h->gone_count; i++)
        free(h->gone[i]);
    h->gone_count = h->come_count = 0;
    expect_same_plans(h, next, 0);
}

/* Instead of the pod at `at`; NULL: instead of nobody. */
static struct pod *step_pod(struct history *h, struct pod *old)
{
    struct pod *p = version_of(h, old);
    for (size_t i = 0; i < h->count; i++)
        if (h->pods[i] == old) {
            h->pods[i] = h->pods[--h->count];
            h->gone[h->gone_count++] = old;
        }
    come(h, p);
    return p;
}

static const char disks[] =
    "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: node-1}\nspec: {drivers: [{name: "
    "csi.example.com, nodeID: n, allocatable: {count: 2}}]}\n"
#define DISK(name)                                                                                 \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name                     \
    ", namespace: default, annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}\nspec: {volumeName: pv-" name \
    "}\n---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-" name                   \
    "}\nspec: {csi: {driver: csi.example.com}}\n"                                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod-" name ", namespace: default, uid: u-" name "}\n"     \
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}], volumes: [{name: v, persistentVolumeClaim: " \
    "{claimName: " name "}}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "     \
    "reason: Unschedulable}]}\n"
    DISK("a") DISK("b") DISK("c");

/* Two of three fit beside their volumes; one is bound, ends and goes, and the third has room. */
static void pods_with_volumes_move(void **state)
{
    (void)state;
    struct history h;
    one_node(&h);
    cluster_add(&h.c, disks);
    const struct cluster_list *list = &h.c.kinds[KIND_POD];
    h.capacity = 8;
    h.pods = mem_array(h.capacity, sizeof(*h.pods));
    for (size_t i = 0; i < list->count; i++)
        h.pods[h.count++] = version_of(&h, list->items[i]);
    world_free(h.world);
    h.world = built(&h);
    struct pod *bound = step_pod(&h, h.pods[0]);
    bound->node = sym_intern(h.c.syms, SPAN("node-1"));
    bound->unschedulable = false;
    expect_delta(&h, "bound");
    assert_int_equal(world_node_at(h.world, 0)->pod_count, 1);
    assert_int_equal(world_requested(h.world, 0)[h.world->resource_count], 1);
    bound = step_pod(&h, bound);
    bound->phase = POD_RUNNING;
    bound->meta.deleted = h.c.plan_options.now;
    expect_delta(&h, "told to go");
    struct pod *ended = step_pod(&h, bound);
    ended->phase = POD_SUCCEEDED;
    expect_delta(&h, "ended");
    assert_int_equal(world_requested(h.world, 0)[h.world->resource_count], 0);
    history_end(&h);
}

#define WAITS(name)                                                                                \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: default, uid: u-" name "}\n"          \
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Pending, conditions: "    \
    "[{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"

/* Who is nominated by the scheduler waits no more; by us, all the same. */
static void nominations_come_and_go(void **state)
{
    (void)state;
    struct history h;
    one_node(&h);
    cluster_add(&h.c, WAITS("a") WAITS("b"));
    h.capacity = 4;
    h.pods = mem_array(h.capacity, sizeof(*h.pods));
    for (size_t i = 0; i < 2; i++)
        h.pods[h.count++] = version_of(&h, h.c.kinds[KIND_POD].items[i]);
    world_free(h.world);
    h.world = built(&h);
    sym node = sym_intern(h.c.syms, SPAN("node-1"));
    static const struct {
        const char *label;
        bool nominated, ours, bound;
        uint32_t waiting, aside, listed;
    } steps[] = {
        {"by the scheduler", true, false, false, 1, 1, 1}, {"no more", false, false, false, 2, 0, 0},
        {"by us", true, true, false, 2, 0, 1},             {"by the scheduler after us", true, false, false, 1, 1, 1},
        {"by us again", true, true, false, 2, 0, 1},       {"and is bound there", false, true, true, 1, 0, 0},
    };
    struct pod *p = h.pods[0];
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        p = step_pod(&h, p);
        p->nominated_node = steps[i].nominated ? node : SYM_NONE;
        p->meta.wrote_status = steps[i].ours;
        p->node = steps[i].bound ? node : SYM_NONE;
        expect_delta(&h, steps[i].label);
        if (h.world->waiting_count != steps[i].waiting || h.world->aside_count != steps[i].aside ||
            h.world->nominated_count != steps[i].listed)
            fail_msg("%s: %u wait, %u are aside, %u nominated", steps[i].label, h.world->waiting_count,
                     h.world->aside_count, h.world->nominated_count);
    }
    history_end(&h);
}

static void plans_as_a_world_built_anew(void **state)
{
    (void)state;
    enum { EVERY_DAY = 20, STEPS = 25 };
    unsigned long long from = 1, to = EVERY_DAY;
    unsigned deltas = 0, unplanned = 0, daemons = 0, volumes = 0, theirs = 0, ours = 0, kinds[KIND_STORED_COUNT] = {0};
    const char *seeds = getenv("STOWAGE_SEEDS");
    if (seeds != NULL && sscanf(seeds, "%llu-%llu", &from, &to) != 2)
        fail_msg("STOWAGE_SEEDS is FROM-TO, not %s", seeds);
    for (unsigned long long seed = from; seed <= to; seed++) {
        struct history h;
        history_start(&h, seed);
        h.world = built(&h);
        for (int i = 0; i < STEPS; i++)
            step(&h, seed);
        deltas += h.deltas;
        unplanned += h.unplanned;
        for (size_t k = 0; k < KIND_STORED_COUNT; k++)
            kinds[k] += h.kind_deltas[k];
        daemons += h.daemon_deltas;
        volumes += h.volume_deltas;
        theirs += h.nominated_deltas[false];
        ours += h.nominated_deltas[true];
        history_end(&h);
    }
    print_message("%u of %llu changes by delta, %u with Nodes, %u with NodeClaims, %u with CSINodes, %u with budgets, %u "
                  "with pods of DaemonSets, %u with volumes, %u and %u nominated by the scheduler and by us\n",
                  deltas, (to - from + 1) * STEPS, kinds[KIND_NODE], kinds[KIND_NODE_CLAIM], kinds[KIND_CSI_NODE],
                  kinds[KIND_DISRUPTION_BUDGET], daemons, volumes, theirs, ours);
    assert_true(deltas > (to - from + 1) * STEPS / 4); /* or nothing was tested */
    assert_true(kinds[KIND_NODE] != 0 && kinds[KIND_NODE_CLAIM] != 0 && kinds[KIND_CSI_NODE] != 0);
    assert_true(kinds[KIND_DISRUPTION_BUDGET] != 0 && daemons != 0);
    assert_true(theirs != 0 && ours != 0 && unplanned != 0);
}

static size_t world_bytes(const struct world *w)
{
    size_t bytes = 0;
    for (size_t part = 0; part < PART_COUNT; part++)
        bytes += part_bytes(w->parts[part]);
    return bytes;
}

/* A pod comes, stands, and goes again, over and over: what the world takes does not grow. */
static void memory_comes_back(void **state)
{
    (void)state;
    enum { ROUNDS = 1000 };
    struct history h;
    one_node(&h);
    struct pod plain = {.phase = POD_PENDING, .unschedulable = true};
    plain.meta.ns = SPAN("default");
    plain.meta.name = plain.meta.uid = SPAN("visitor");
    struct pod standing = plain;
    standing.node = sym_intern(h.c.syms, SPAN("node-1"));
    const struct pod *a = &plain, *b = &standing;
    const struct world_change moves[] = {
        {.come = &a, .come_count = 1},
        {.gone = &a, .gone_count = 1, .come = &b, .come_count = 1},
        {.gone = &b, .gone_count = 1},
    };
    size_t early = 0, late = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct world *next = world_delta(h.world, &moves[i % 3]);
        assert_non_null(next);
        world_free(h.world);
        h.world = next;
        size_t bytes = world_bytes(next);
        if (i < 30)
            early = bytes > early ? bytes : early;
        late = bytes;
    }
    assert_true(late <= early);
    history_end(&h);
}

/* --- a day of deltas --- */

enum { DAY_NODES = 60, DAY_STEPS = 3000 };

struct day {
    struct history h;
    struct node *node[DAY_NODES];
    struct pod *on[DAY_NODES];        /* pods on nodes 0 and on; the versions that stand */
};

static struct node *day_node(struct day *d, unsigned i)
{
    char name[32];
    struct resource room[] = {{SYM_CPU, 4000}, {SYM_MEMORY, 8000000000}, {SYM_PODS, 110}};
    struct node n = {.allocatable = {room, COUNT_OF(room)}};
    n.meta.name = n.meta.uid = (struct span){name, (size_t)snprintf(name, sizeof(name), "node-%02u", i * 7 % 61)};
    return schema_pack(&node_schema, &n, 0, d->h.c.syms, NULL, NULL);
}

static struct pod *day_pod(struct day *d, unsigned i, unsigned number)
{
    char name[32];
    struct pod p = {.phase = POD_RUNNING, .node = sym_intern(d->h.c.syms, d->node[i]->meta.name)};
    p.meta.ns = SPAN("default");
    p.meta.name = p.meta.uid = (struct span){name, (size_t)snprintf(name, sizeof(name), "pod-%u", number)};
    return version_of(&d->h, &p);
}

static void day_begin(struct day *d)
{
    const struct node *nodes[DAY_NODES];
    *d = (struct day){.h = {.serial = 0}};
    cluster_init(&d->h.c);
    cluster_types_c1(&d->h.c, 5);
    for (unsigned i = 0; i < DAY_NODES; i++)
        d->node[i] = day_node(d, i);
    for (unsigned i = 0; i < DAY_NODES; i++) {
        nodes[i] = d->node[i];
        d->on[i] = day_pod(d, i, i);
    }
    struct world_input in = cluster_input(&d->h.c);
    in.nodes = nodes;
    in.node_count = DAY_NODES;
    in.pods = (const struct pod *const *)d->on;
    in.pod_count = DAY_NODES;
    d->h.world = world_build(&in);
}

/* How many parts of lists it does not share with the one before, and how many there are. */
static uint32_t day_step(struct day *d, const struct world_change *c, uint32_t *parts_out)
{
    struct world *from = d->h.world, *next = world_delta(from, c);
    uint32_t made = 0, count = next != NULL ? next->parts[PART_ROWS]->held_count : 0;
    if (next == NULL)
        fail_msg("step %u was left to a build", d->h.serial);
    assert_int_equal(world_same_rows(from, next), c->node_count + c->gone_node_count == 0);
    for (uint32_t i = 0; i < count; i++) {
        bool had = from->lists != NULL && i < from->parts[PART_ROWS]->held_count;
        made += next->lists[i] != (had ? from->lists[i] : NULL);
    }
    world_free(from);
    d->h.world = next;
    *parts_out = count;
    return made;
}

/* The pod of a node goes, and another comes in its place. */
static uint32_t day_pod_changes(struct day *d, unsigned step, uint32_t *parts_out)
{
    unsigned i = step % (DAY_NODES - 1); /* not the one that goes and comes */
    struct pod *old = d->on[i];
    d->on[i] = day_pod(d, i, DAY_NODES + step);
    const struct pod *gone = old, *come = d->on[i];
    uint32_t made = day_step(
        d, &(struct world_change){.gone = &gone, .come = &come, .gone_count = 1, .come_count = 1}, parts_out);
    free(old);
    return made;
}

/* Its pod stays bound to it, and stands there again when it is back. */
static void day_node_changes(struct day *d, unsigned step)
{
    uint32_t parts;
    const struct node *it = d->node[DAY_NODES - 1];
    struct world_change c = {.nodes = &it, .gone_nodes = &it};
    if (step % 2 == 0)
        c.gone_node_count = 1;
    else
        c.node_count = 1;
    day_step(d, &c, &parts);
    int32_t row = world_find_node(d->h.world, it->meta.name);
    assert_int_equal(row >= 0, step % 2 != 0);
    assert_true(row < 0 || d->h.world->nodes[row].pod_count == 1);
}

/* However many rows have changed before, and however often: a delta makes anew what its pods touch, no build is asked
 * for, and what the world takes is what it took in the morning. */
static void costs_at_night_what_it_cost_in_the_morning(void **state)
{
    (void)state;
    struct day d;
    size_t early = 0, late = 0;
    day_begin(&d);
    for (unsigned step = 0; step < DAY_STEPS; step++) {
        uint32_t parts = 0, made = day_pod_changes(&d, step, &parts);
        d.h.serial = step;
        if (made != 1 || parts != (d.h.world->node_count + LISTS_ROWS - 1) / LISTS_ROWS)
            fail_msg("step %u: %u parts of %u made anew for one pod", step, made, parts);
        if (step % 10 == 9)
            day_node_changes(&d, step / 10);
        size_t bytes = world_bytes(d.h.world);
        if (step < 2 * DAY_NODES)
            early = bytes > early ? bytes : early;
        late = bytes;
    }
    assert_true(late <= early);
    world_free(d.h.world);
    for (unsigned i = 0; i < DAY_NODES; i++) {
        free(d.on[i]);
        free(d.node[i]);
    }
    cluster_release(&d.h.c);
}

#define IN_ZONE(name_, zone_)                                                                      \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {topology.kubernetes.io/zone: " zone_ \
    "}}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n"
#define STANDS(name_, node_)                                                                       \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", uid: " name_ ", labels: {app: x}}\n"   \
    "spec: {nodeName: " node_ ", containers: [{name: c}]}\nstatus: {phase: Running}\n"

/* Who is told to go is counted for no spread any more: the next one may have its zone. */
static void who_goes_does_not_count(void **state)
{
    (void)state;
    struct history h = {.serial = 0};
    cluster_init(&h.c);
    cluster_types_c1(&h.c, 5);
    cluster_add(&h.c, "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}");
    cluster_add(&h.c, IN_ZONE("n1", "a") IN_ZONE("n2", "b") STANDS("one", "n1") STANDS("goes", "n2") STANDS("goes-too", "n2")
                "---\napiVersion: v1\nkind: Pod\nmetadata: {name: new, uid: new, labels: {app: x}}\nspec: {containers: "
                "[{name: c}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
                "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}]}\nstatus: {phase: Pending, "
                "conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n");
    const struct cluster_list *list = &h.c.kinds[KIND_POD];
    h.pods = mem_array(list->count, sizeof(*h.pods));
    for (; h.count < list->count; h.count++)
        h.pods[h.count] = version_of(&h, list->items[h.count]);
    h.world = built(&h);
    for (size_t i = 0; i < h.count; i++) {
        struct pod *old = h.pods[i], *next;
        if (!span_has_prefix(old->meta.name, SPAN("goes")))
            continue;
        next = version_of(&h, old);
        next->meta.deleted = 1;
        const struct pod *gone = old, *come = next;
        const struct world_change c = {.gone = &gone, .come = &come, .gone_count = 1, .come_count = 1};
        struct world *w = world_delta(h.world, &c);
        assert_non_null(w);
        world_free(h.world);
        h.world = w;
        h.pods[i] = next;
        free(old);
    }
    expect_same_plans(&h, h.world, 0);
    history_end(&h);
}

/* --- Nodes, by hand --- */

#define PLAIN_NODE(name_, labels_)                                                                 \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {" labels_                                  \
    "}}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n"
#define ZONE_(zone_) "topology.kubernetes.io/zone: " zone_
#define APART                                                                                      \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, " \
    "labelSelector: {matchLabels: {app: x}}}]}}"
#define RULED_POD(name_, spec_, status_)                                                           \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", uid: " name_ ", labels: {app: x}}\nspec: {" spec_     \
    ", containers: [{name: c}]}\nstatus: {" status_ "}\n"
#define REFUSED                                                                                    \
    "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]"

static void cluster_of(struct history *h, const char *objects)
{
    *h = (struct history){.serial = 0};
    cluster_init(&h->c);
    cluster_types_c1(&h->c, 5);
    cluster_add(&h->c, "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}");
    cluster_add(&h->c, objects);
    const struct cluster_list *list = &h->c.kinds[KIND_POD];
    h->capacity = list->count;
    h->pods = mem_array(list->count + 1, sizeof(*h->pods));
    for (size_t i = 0; i < list->count; i++)
        h->pods[h->count++] = version_of(h, list->items[i]);
}

/* The nodes of the cluster's list, one of which came, or went. False: left to a build. */
static bool nodes_move(struct history *h, const struct node *gone, const struct node *come)
{
    struct world *next = world_delta(h->world, &(struct world_change){
        .gone_nodes = &gone, .gone_node_count = gone != NULL, .nodes = &come, .node_count = come != NULL});
    if (next == NULL)
        return false;
    world_free(h->world);
    h->world = next;
    expect_same_plans(h, next, 0);
    return true;
}

/* A Node is told to go: its pods are to have another place. Then it stays after all. */
static void pods_of_a_leaving_node_wait(void **state)
{
    (void)state;
    struct history h;
    cluster_of(&h, PLAIN_NODE("n1", "") RULED_POD("one", "nodeName: n1", "phase: Running"));
    h.world = built(&h);
    const void **at = &h.c.kinds[KIND_NODE].items[0];
    const struct node *stays = *at;
    struct node goes = *stays;
    goes.meta.deleted = 1;
    *at = &goes;
    assert_true(nodes_move(&h, stays, &goes));
    assert_int_equal(h.world->waiting_count, 1);
    assert_true(h.world->waiting[0].bound);
    *at = stays;
    assert_true(nodes_move(&h, &goes, stays));
    assert_int_equal(h.world->waiting_count, 0);
    history_end(&h);
}

/* Who stood on a Node that nobody had seen waits once when it comes and is leaving. */
static void pods_of_a_node_that_comes_leaving_wait_once(void **state)
{
    (void)state;
    struct history h;
    cluster_of(&h, PLAIN_NODE("n1", "") PLAIN_NODE("n2", "") RULED_POD("one", "nodeName: n2", "phase: Running"));
    struct cluster_list *list = &h.c.kinds[KIND_NODE];
    struct node goes = *(const struct node *)list->items[1];
    goes.meta.deleted = 1;
    list->count = 1;
    h.world = built(&h);
    assert_int_equal(h.world->aside_count, 1);
    list->items[list->count++] = &goes;
    assert_true(nodes_move(&h, NULL, &goes));
    assert_int_equal(h.world->waiting_count, 1);
    history_end(&h);
}

/* Rows behind it have other numbers, and pods that keep others off do so where they are. */
static void a_node_comes_before_others(void **state)
{
    (void)state;
    struct history h;
    cluster_of(&h, PLAIN_NODE("n2", "") PLAIN_NODE("n3", "") PLAIN_NODE("n1", "")
                       RULED_POD("one", "nodeName: n2, " APART, "phase: Running")
                           RULED_POD("two", APART, REFUSED) RULED_POD("three", APART, REFUSED));
    struct cluster_list *nodes = &h.c.kinds[KIND_NODE];
    nodes->count = 2;
    h.world = built(&h);
    nodes->count = 3;
    assert_true(nodes_move(&h, NULL, nodes->items[2]));
    assert_int_equal(world_find_node(h.world, SPAN("n2")), 1);
    nodes->count = 2;
    assert_true(nodes_move(&h, nodes->items[2], NULL));
    assert_int_equal(world_find_node(h.world, SPAN("n2")), 0);
    history_end(&h);
}

/* Which domains there are is a build's to say; and which of them a spread compares. */
static void domains_come_and_go_with_a_build(void **state)
{
    (void)state;
    struct history h;
    cluster_of(&h, PLAIN_NODE("n1", ZONE_("a") ", disk: ssd") PLAIN_NODE("n2", ZONE_("b"))
                       PLAIN_NODE("n3", ZONE_("b") ", disk: ssd") PLAIN_NODE("n4", ZONE_("b")) PLAIN_NODE("n5", ZONE_("c"))
                           RULED_POD("one", "nodeName: n1", "phase: Running")
                               RULED_POD("new",
                                         "nodeSelector: {disk: ssd}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
                                         "topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
                                         "{matchLabels: {app: x}}}]",
                                         REFUSED));
    struct cluster_list *nodes = &h.c.kinds[KIND_NODE];
    nodes->count = 3;
    h.world = built(&h);
    assert_false(nodes_move(&h, NULL, nodes->items[4])); /* of a zone that nobody has */
    assert_false(nodes_move(&h, nodes->items[0], NULL)); /* the last of its zone */
    assert_false(nodes_move(&h, nodes->items[2], NULL)); /* the last that counts there */
    nodes->count = 4;
    assert_true(nodes_move(&h, NULL, nodes->items[3]));
    history_end(&h);
}

/* Also where no spread compares them. */
static void the_last_node_of_a_domain_goes_with_a_build(void **state)
{
    (void)state;
    struct history h;
    cluster_of(&h, PLAIN_NODE("n1", ZONE_("a")) PLAIN_NODE("n2", ZONE_("a")) PLAIN_NODE("n3", ZONE_("c"))
                       RULED_POD("new",
                                 "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                                 "topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: x}}}]}}",
                                 REFUSED));
    const struct cluster_list *nodes = &h.c.kinds[KIND_NODE];
    h.world = built(&h);
    assert_false(nodes_move(&h, nodes->items[2], NULL));
    history_end(&h);
}

/* A budget that lets nobody go comes while pods of a node that is leaving wait for another; then it goes again. */
static void budgets_hold_who_waits_already(void **state)
{
    (void)state;
    struct history h;
    one_node(&h);
    cluster_add(&h.c, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: default}\n"
                      "spec: {maxUnavailable: 0, selector: {}}\n");
    struct cluster_list *nodes = &h.c.kinds[KIND_NODE], *budgets = &h.c.kinds[KIND_DISRUPTION_BUDGET];
    struct node leaving = *(const struct node *)nodes->items[0];
    struct pod stands = {.phase = POD_RUNNING, .node = sym_intern(h.c.syms, leaving.meta.name)};
    struct pod *p = &stands;
    leaving.meta.deleted = 1;
    nodes->items[0] = &leaving;
    stands.meta.ns = SPAN("default");
    stands.meta.name = stands.meta.uid = SPAN("p");
    h.pods = &p;
    h.count = 1;
    for (size_t held = 0; held <= 1; held++) {
        world_free(h.world);
        budgets->count = 1 - held;
        h.world = built(&h);
        assert_int_equal(h.world->waiting[0].blocked, !held);
        budgets->count = held;
        struct world *next = world_delta(h.world, &(struct world_change){
            .budgets = (const void *)budgets->items, .budget_count = budgets->count});
        assert_non_null(next);
        world_free(h.world);
        h.world = next;
        assert_int_equal(next->waiting[0].blocked, held);
    }
    h.pods = NULL;
    h.count = 0;
    history_end(&h);
}

/* --- the newest pod of a DaemonSet --- */

static const char agents[] =
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default}\nspec: {template: {spec: "
    "{containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}\n"
#define AGENT(name, cpu, time)                                                                     \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: default, uid: " name                     \
    ", creationTimestamp: \"2026-11-20T12:00:0" time "Z\", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, "  \
    "name: agent, uid: agent, controller: true}]}\nspec: {nodeName: node-1, containers: [{name: c, resources: "         \
    "{requests: {cpu: " cpu "}}}]}\nstatus: {phase: Running}\n"
    AGENT("oldest", "200m", "1") AGENT("second", "100m", "2") AGENT("newest", "100m", "3");

/* It goes, and the one after it asks the same; this one goes, too, and the one after that asks for more: what new
 * nodes are expected to run is then another. */
static void the_newest_goes_and_the_next_is(void **state)
{
    (void)state;
    struct history h;
    one_node(&h);
    cluster_add(&h.c, agents);
    const struct cluster_list *list = &h.c.kinds[KIND_POD];
    h.capacity = list->count;
    h.pods = mem_array(h.capacity, sizeof(*h.pods));
    for (size_t i = 0; i < list->count; i++)
        h.pods[h.count++] = version_of(&h, list->items[i]);
    world_free(h.world);
    h.world = built(&h);
    h.gone[h.gone_count++] = h.pods[--h.count];
    expect_delta(&h, "the newest goes");
    const struct pod *second = h.pods[--h.count];
    assert_ptr_equal(h.world->live_daemons[0], second);
    assert_null(world_delta(h.world, &(struct world_change){.gone = &second, .gone_count = 1}));
    h.count++;
    history_end(&h);
}

/* New shapes are taken in until they are a burden; then a build is asked for. */
static void too_many_shapes_ask_for_a_build(void **state)
{
    (void)state;
    struct history h;
    one_node(&h);
    size_t ground = part_bytes(h.world->parts[PART_GROUND]);
    amount cpu = 1;
    for (;; cpu++) {
        struct resource request = {.name = SYM_CPU, .value = cpu};
        char uid[32];
        struct pod shape = {.phase = POD_PENDING, .unschedulable = true};
        shape.meta.ns = SPAN("default");
        shape.meta.name = shape.meta.uid =
            (struct span){uid, (size_t)snprintf(uid, sizeof(uid), "shape-%d", (int)cpu)};
        shape.requests = (struct resources){&request, 1};
        const struct pod *p = &shape;
        struct world *next = world_delta(h.world, &(struct world_change){.come = &p, .come_count = 1});
        if (next == NULL)
            break;
        struct world *back = world_delta(next, &(struct world_change){.gone = &p, .gone_count = 1});
        assert_non_null(back);
        world_free(next);
        world_free(h.world);
        h.world = back;
        assert_true(part_bytes(back->parts[PART_SHAPES]) < ground);
    }
    assert_true(cpu > 3);
    history_end(&h);
}

/* What only a build can take in exactly. */
static void asks_for_a_build(void **state)
{
    (void)state;
    struct history h;
    one_node(&h);
    struct spread zone = {.max_skew = 1, .topology_key = SYM_ZONE, .hard = true};
    struct pod_term host = {.topology_key = SYM_HOSTNAME, .has_selector = true};
    struct affinity apart = {.required_anti = {&host, 1}};
    struct resource gpu = {sym_intern(h.c.syms, SPAN("example.com/gpu")), 1};
    struct sym_pair disk = {sym_intern(h.c.syms, SPAN("disk")), sym_intern(h.c.syms, SPAN("ssd"))};
    struct pod_volume data = {.claim = SPAN_INIT("data")};
    struct pod plain = {.phase = POD_PENDING, .unschedulable = true};
    plain.meta.ns = SPAN("default");
    plain.meta.name = plain.meta.uid = SPAN("p");
    struct pod pods[5];
    for (size_t i = 0; i < COUNT_OF(pods); i++)
        pods[i] = plain;
    pods[0].spreads = (struct spreads){&zone, 1};
    pods[1].affinity = &apart;
    pods[2].requests = (struct resources){&gpu, 1};
    pods[3].node_selector = (struct sym_pairs){&disk, 1};
    pods[4].volumes = (struct pod_volumes){&data, 1};
    const struct pod *p = &plain;
    struct world_change c = {.come = &p, .come_count = 1};
    struct world *next = world_delta(h.world, &c);
    assert_non_null(next);
    world_free(next);
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        p = &pods[i];
        if (world_delta(h.world, &c) != NULL)
            fail_msg("pod %zu was taken in", i);
    }
    history_end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_as_a_world_built_anew),
        cmocka_unit_test(pods_with_volumes_move),
        cmocka_unit_test(nominations_come_and_go),
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(costs_at_night_what_it_cost_in_the_morning),
        cmocka_unit_test(pods_of_a_leaving_node_wait),
        cmocka_unit_test(pods_of_a_node_that_comes_leaving_wait_once),
        cmocka_unit_test(a_node_comes_before_others),
        cmocka_unit_test(domains_come_and_go_with_a_build),
        cmocka_unit_test(the_last_node_of_a_domain_goes_with_a_build),
        cmocka_unit_test(budgets_hold_who_waits_already),
        cmocka_unit_test(the_newest_goes_and_the_next_is),
        cmocka_unit_test(who_goes_does_not_count),
        cmocka_unit_test(asks_for_a_build),
        cmocka_unit_test(too_many_shapes_ask_for_a_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
