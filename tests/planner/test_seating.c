/* Random clusters that live on from plan to plan: pods come, go and are bound where they were meant to be and
 * elsewhere, nodes go, shrink and are cordoned. Each plan keeps the places of the one before without asking for them
 * one by one; together with those kept it obeys all rules, nobody is lost or planned twice, and the places that are
 * published say the same.
 *
 * STOWAGE_SEEDS=FROM-TO runs other seeds than those of every day. */
#include "check/check.h"
#include "planner/plan/plan_places.h"
#include "planner/plan/seating.h"
#include "planner/columns.h"
#include "support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EVERY_DAY = 60, ROUNDS = 6, PLAIN = 14, NODES = 4 };

struct life {
    struct cluster c;
    struct draws d;
    const struct pod *hidden[PLAIN * 2]; /* come later */
    uint32_t hidden_count;
    struct plan *plan;
    struct world *world; /* of the plan */
    struct places *places;
};

struct figures {
    uint32_t kept, asked;
};

/* --- what happens --- */

static bool waits(const struct pod *p)
{
    return p->node == SYM_NONE && pod_is_pending(p);
}

static const void *take(struct cluster_list *l, uint32_t at)
{
    const void *item = l->items[at];
    l->items[at] = l->items[--l->count];
    return item;
}

/* The position of some pod that waits; the list's count: none was found. */
static uint32_t some_waiting(struct life *x)
{
    struct cluster_list *l = &x->c.kinds[KIND_POD];
    for (uint32_t tries = 0; tries < 20 && l->count != 0; tries++) {
        uint32_t at = draw(&x->d, (unsigned)l->count);
        if (waits(l->items[at]))
            return at;
    }
    return (uint32_t)l->count;
}

static void hide(struct life *x)
{
    uint32_t at = some_waiting(x);
    if (at != x->c.kinds[KIND_POD].count && x->hidden_count < COUNT_OF(x->hidden))
        x->hidden[x->hidden_count++] = take(&x->c.kinds[KIND_POD], at);
}

static void show(struct life *x)
{
    struct cluster_list *l = &x->c.kinds[KIND_POD];
    if (x->hidden_count != 0)
        ARENA_PUSH(&x->c.arena, l->items, l->count, l->capacity, x->hidden[--x->hidden_count]);
}

static void go(struct life *x)
{
    uint32_t at = some_waiting(x);
    if (at != x->c.kinds[KIND_POD].count)
        take(&x->c.kinds[KIND_POD], at);
}

/* What we read of it is another object, and says the same. */
static void change(struct life *x)
{
    struct cluster_list *l = &x->c.kinds[KIND_POD];
    uint32_t at = some_waiting(x);
    struct pod *p = ARENA_NEW(&x->c.arena, struct pod);
    if (at == l->count)
        return;
    *p = *(const struct pod *)l->items[at];
    l->items[at] = p;
}

static void bind(struct life *x)
{
    struct cluster_list *l = &x->c.kinds[KIND_POD], *nodes = &x->c.kinds[KIND_NODE];
    uint32_t at = some_waiting(x);
    struct pod *p = ARENA_NEW(&x->c.arena, struct pod);
    if (at == l->count || nodes->count == 0)
        return;
    *p = *(const struct pod *)l->items[at];
    const struct place *place = places_find(x->places, p->meta.uid);
    const struct node *n = nodes->items[draw(&x->d, (unsigned)nodes->count)];
    bool plain = span_has_prefix(p->meta.name, SPAN("plain-")); /* which no rule keeps from any node */
    bool meant = place != NULL && !place->on_claim && p->volumes.count == 0 && (!plain || draw(&x->d, 2) == 0);
    if (!meant && !plain)
        return;
    p->node = sym_intern(x->c.syms, meant ? place->target : n->meta.name);
    p->phase = POD_RUNNING;
    p->unschedulable = false;
    l->items[at] = p;
}

static struct node *other_node(struct life *x)
{
    struct cluster_list *nodes = &x->c.kinds[KIND_NODE];
    if (nodes->count == 0)
        return NULL;
    uint32_t at = draw(&x->d, (unsigned)nodes->count);
    struct node *n = ARENA_NEW(&x->c.arena, struct node);
    *n = *(const struct node *)nodes->items[at];
    nodes->items[at] = n;
    return n;
}

static void shrink(struct life *x)
{
    struct node *n = other_node(x);
    if (n == NULL)
        return;
    n->allocatable = resources_dup(&x->c.arena, n->allocatable);
    for (uint32_t i = 0; i < n->allocatable.count; i++)
        n->allocatable.items[i].value /= 2;
}

static void cordon(struct life *x)
{
    struct node *n = other_node(x);
    if (n == NULL)
        return;
    struct taint *taints = ARENA_ARRAY(&x->c.arena, struct taint, n->taints.count + 1);
    for (uint32_t i = 0; i < n->taints.count; i++)
        taints[i] = n->taints.items[i];
    taints[n->taints.count] =
        (struct taint){.key = sym_intern(x->c.syms, SPAN("example.com/cordoned")), .effect = TAINT_NO_SCHEDULE};
    n->taints = (struct taints){taints, n->taints.count + 1};
}

/* With its pods. */
static void lose_node(struct life *x)
{
    struct cluster_list *l = &x->c.kinds[KIND_POD], *nodes = &x->c.kinds[KIND_NODE];
    if (nodes->count == 0 || draw(&x->d, 2) != 0)
        return;
    const struct node *n = take(nodes, draw(&x->d, (unsigned)nodes->count));
    sym name = sym_find(x->c.syms, n->meta.name);
    for (uint32_t i = 0; i < l->count;)
        if (name != SYM_NONE && ((const struct pod *)l->items[i])->node == name)
            take(l, i);
        else
            i++;
}

static void live(struct life *x)
{
    static void (*const events[])(struct life *) = {show, show, show, show, go, change, change,
                                                    bind, hide, shrink, cordon, lose_node};
    show(x);
    for (unsigned i = draw(&x->d, 4); i > 0; i--)
        events[draw(&x->d, COUNT_OF(events))](x);
}

/* --- the plan, and what is checked --- */

static bool comes_first(const struct pod *const *pods, uint32_t count, const struct pod *p)
{
    for (uint32_t i = 0; i < count; i++)
        if (pods[i] == p)
            return true;
    return false;
}

/* The plan with those on its nodes who were kept: before those that it has there, which were looked for later. */
static struct plan with_kept(struct plan *p)
{
    const struct world *w = p->world;
    struct plan out = *p;
    struct plan_node *nodes = ARENA_ARRAY(&p->arena, struct plan_node, world_node_count(w));
    out.nodes = nodes;
    out.node_count = 0;
    for (uint32_t row = 0; row < world_node_count(w); row++) {
        const struct pod **pods = ARENA_ARRAY(&p->arena, const struct pod *, w->waiting_count + p->waiting);
        struct plan_node own = {.row = row, .pods = pods, .pod_count = 0};
        const struct plan_node *from = NULL;
        for (uint32_t i = 0; i < p->node_count; i++)
            from = p->nodes[i].row == row ? &p->nodes[i] : from;
        for (uint32_t i = 0; i < w->waiting_count; i++)
            if (p->rows[i] == row + 1 &&
                (from == NULL || !comes_first(from->pods, from->pod_count, w->waiting[i].pod)))
                pods[own.pod_count++] = w->waiting[i].pod;
        for (uint32_t i = 0; from != NULL && i < from->pod_count; i++)
            pods[own.pod_count++] = from->pods[i];
        if (own.pod_count != 0)
            nodes[out.node_count++] = own;
    }
    return out;
}

static uint32_t placed(const struct plan *p)
{
    uint32_t sum = p->kept;
    for (uint32_t i = 0; i < p->claim_count; i++)
        sum += p->claims[i].pod_count;
    for (uint32_t i = 0; i < p->node_count; i++)
        sum += p->nodes[i].pod_count;
    return sum;
}

/* Every pod of the plan is among the places, where the plan has it, and nobody else is. */
static void assert_published(const struct life *x, const struct plan *whole, uint64_t seed)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < whole->node_count; i++)
        for (uint32_t k = 0; k < whole->nodes[i].pod_count; k++, count++) {
            const struct place *place = places_find(x->places, whole->nodes[i].pods[k]->meta.uid);
            if (place == NULL || place_row(whole->world, place) != (int32_t)whole->nodes[i].row)
                fail_msg("seed %llu: %.*s is not published where it is planned", (unsigned long long)seed,
                         SPAN_ARG(whole->nodes[i].pods[k]->meta.name));
        }
    for (uint32_t i = 0; i < whole->claim_count; i++)
        for (uint32_t k = 0; k < whole->claims[i].pod_count; k++, count++) {
            const struct place *place = places_find(x->places, whole->claims[i].pods[k]->meta.uid);
            if (place == NULL || !place->on_claim || !span_eq(place->target, whole->claims[i].name))
                fail_msg("seed %llu: %.*s is not published on its claim", (unsigned long long)seed,
                         SPAN_ARG(whole->claims[i].pods[k]->meta.name));
        }
    if (x->places->count != count)
        fail_msg("seed %llu: %u places for %u pods", (unsigned long long)seed, x->places->count, count);
    for (uint32_t i = 1; i < count; i++)
        assert_true(span_cmp(x->places->items[i - 1].uid, x->places->items[i].uid) < 0);
}

static void look(struct life *x, struct world *w, bool kept, uint64_t seed, struct figures *tally)
{
    struct plan_options o = x->c.plan_options;
    struct seating seating = {.world = x->world, .rows = x->plan != NULL ? x->plan->rows : NULL};
    struct err err = {.kind = ERR_NONE};
    o.places = x->places;
    o.seating = kept && x->plan != NULL ? &seating : NULL;
    struct plan *p = plan_solve(w, &o);
    plan_tell(p);
    struct plan whole = with_kept(p);
    if (!check_plan(&x->c, &whole, &err))
        fail_msg("seed %llu: %u kept: %s", (unsigned long long)seed, p->kept, err.msg);
    if (placed(p) + p->unschedulable_count != p->waiting)
        fail_msg("seed %llu: of %u pods %u are placed and %u are not", (unsigned long long)seed, p->waiting,
                 placed(p), p->unschedulable_count);
    tally->kept += p->kept;
    tally->asked += placed(p) - p->kept;
    struct places *places = places_of_plan(p, x->places, o.now);
    if (x->places != NULL)
        places_destroy(&x->places->shared);
    x->places = places;
    plan_free(x->plan);
    world_free(x->world);
    x->plan = p;
    x->world = w;
    assert_published(x, &whole, seed);
}

/* --- a life --- */

static void add_plain(struct life *x)
{
    char yaml[700];
    for (unsigned i = 0; i < PLAIN; i++) {
        unsigned size = 1 + draw(&x->d, 3);
        snprintf(yaml, sizeof(yaml),
                 "apiVersion: v1\nkind: Pod\nmetadata: {name: plain-%u, namespace: default, uid: plain-%u}\n"
                 "spec: {containers: [{name: c, resources: {requests: {cpu: %u00m, memory: %u00Mi}}}]}\n"
                 "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
                 "Unschedulable}]}\n",
                 i, i, size, size);
        cluster_add(&x->c, yaml);
    }
    for (unsigned i = 0; i < NODES; i++) {
        unsigned cpu = 1 + draw(&x->d, 3);
        snprintf(yaml, sizeof(yaml),
                 "apiVersion: v1\nkind: Node\nmetadata: {name: stands-%u, uid: stands-%u, labels: "
                 "{kubernetes.io/hostname: stands-%u, topology.kubernetes.io/zone: test-zone-1, kubernetes.io/os: linux, "
                 "kubernetes.io/arch: amd64}}\n"
                 "status: {capacity: {cpu: %u, memory: %uGi, pods: 8}, allocatable: {cpu: %u, memory: %uGi, pods: "
                 "8}, conditions: [{type: Ready, status: \"True\"}]}\n",
                 i, i, i, cpu, cpu, cpu, cpu);
        cluster_add(&x->c, yaml);
    }
}

static struct world *build(const struct life *x)
{
    struct world_input in = cluster_input(&x->c);
    return world_build(&in);
}

/* Only pods came: the world by delta, if that can be. */
static struct world *newcomers(struct life *x)
{
    struct cluster_list *l = &x->c.kinds[KIND_POD];
    const struct pod *come[2];
    size_t from = l->count, count = 0;
    show(x);
    show(x);
    for (; from + count < l->count; count++)
        come[count] = l->items[from + count];
    struct world *w = world_delta(x->world, &(struct world_change){.come = come, .come_count = count});
    return w != NULL ? w : build(x);
}

static void run(uint64_t seed, enum search_kind search, struct figures *tally)
{
    struct random_cluster r;
    struct life x = {.d = {.state = seed}};
    random_cluster_make(&r, &x.d);
    r.plan_options.search = search;
    random_cluster_load(&r, 0, &x.c);
    add_plain(&x);
    for (unsigned i = 0; i < PLAIN; i++)
        hide(&x);
    look(&x, build(&x), false, seed, tally);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (draw(&x.d, 2) == 0) {
            look(&x, newcomers(&x), true, seed, tally);
            continue;
        }
        live(&x);
        look(&x, build(&x), true, seed, tally);
    }
    plan_free(x.plan);
    world_free(x.world);
    places_destroy(&x.places->shared);
    cluster_release(&x.c);
    random_cluster_release(&r);
}

static void random_lives(enum search_kind search)
{
    unsigned long long from = 1, to = EVERY_DAY;
    struct figures tally = {0};
    const char *seeds = getenv("STOWAGE_SEEDS");
    if (seeds != NULL && sscanf(seeds, "%llu-%llu", &from, &to) != 2)
        fail_msg("STOWAGE_SEEDS is FROM-TO, not %s", seeds);
    for (unsigned long long seed = from; seed <= to; seed++)
        run(seed, search, &tally);
    print_message("kept without being asked %u, asked %u\n", tally.kept, tally.asked);
    assert_true(tally.kept > (to - from) * ROUNDS); /* else nothing would be shown */
}

static void greedy_lives(void **state)
{
    (void)state;
    random_lives(SEARCH_GREEDY);
}

static void cheapest_lives(void **state)
{
    (void)state;
    random_lives(SEARCH_CHEAPEST);
}

/* --- by hand --- */

#define POD(name, more, spec)                                                                      \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: default, uid: u-" name more "}\n"             \
    "spec: {" spec "containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"                              \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
/* And a pool that can buy nothing more. */
#define NODE                                                                                       \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: spent}\nspec: {limits: {cpu: 0}, template: {spec: "  \
    "{nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}}}\n---\n" \
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: n1, labels: {kubernetes.io/hostname: n1}}\n"        \
    "status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}, conditions: [{type: Ready, status: \"True\"}]}\n---\n"
#define LABELED ", labels: {app: a}"
#define APART                                                                                      \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "         \
    "kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}]}}, "

static void begin(struct life *x, const char *yaml)
{
    struct figures none = {0};
    *x = (struct life){.d = {.state = 1}};
    cluster_init(&x->c);
    cluster_types_c0(&x->c);
    cluster_add(&x->c, yaml);
    look(x, build(x), false, 0, &none);
}

static void end(struct life *x)
{
    plan_free(x->plan);
    world_free(x->world);
    places_destroy(&x->places->shared);
    cluster_release(&x->c);
}

/* Who went leaves no gap: the others are found again behind it. */
static void one_goes(void **state)
{
    (void)state;
    struct life x;
    struct figures seen = {0};
    begin(&x, NODE POD("a", "", "") "---\n" POD("b", "", "") "---\n" POD("c", "", ""));
    assert_int_equal(x.places->count, 3);
    struct cluster_list *l = &x.c.kinds[KIND_POD];
    memmove(l->items, l->items + 1, --l->count * sizeof(*l->items));
    look(&x, build(&x), true, 0, &seen);
    assert_int_equal(seen.kept, 2);
    assert_int_equal(seen.asked, 0);
    assert_int_equal(x.places->count, 2);
    end(&x);
}

/* Nobody looked at them before; who comes now does. */
static void one_comes_who_looks_at_them(void **state)
{
    (void)state;
    struct life x;
    struct figures seen = {0};
    begin(&x, NODE POD("a", LABELED, "") "---\n" POD("b", LABELED, ""));
    cluster_add(&x.c, POD("c", "", APART));
    look(&x, build(&x), true, 0, &seen); /* the checker would see c beside the others */
    assert_int_equal(seen.kept, 0);
    assert_int_equal(seen.asked, 2);
    assert_int_equal(x.plan->unschedulable_count, 1);
    end(&x);
}

/* Of whom the scheduler has told something the places are looked up. */
static void one_is_apart(void **state)
{
    (void)state;
    struct life x;
    begin(&x, NODE POD("a", "", "") "---\n" POD("b", "", ""));
    const struct span apart[] = {SPAN("u-b"), SPAN("u-nobody")};
    struct seating seating = {.world = x.world, .rows = x.plan->rows, .apart = apart, .apart_count = COUNT_OF(apart)};
    struct plan *p = plan_solve(x.world, &(struct plan_options){.places = x.places, .seating = &seating});
    assert_int_equal(p->kept, 1);
    assert_int_equal(p->node_count, 1);
    assert_string_equal(p->nodes[0].pods[0]->meta.name.ptr, "b");
    plan_free(p);
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_goes), cmocka_unit_test(one_comes_who_looks_at_them),
                                       cmocka_unit_test(one_is_apart),
                                       cmocka_unit_test(greedy_lives), cmocka_unit_test(cheapest_lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
