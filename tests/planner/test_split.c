/* How a workload's pods are split between spot and on-demand. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "planner/explain/answer.h"
#include "planner/places.h"

#define CAPACITY "karpenter.sh/capacity-type"

static const char TYPES[] =
    "kind: InstanceTypes\nitems:\n"
    "- {name: m, resources: {cpu: 4, memory: 16Gi, pods: 50}, labels: {}, offerings: ["
    "{zone: z1, capacity: on-demand, price: 1}, {zone: z1, capacity: spot, price: 0.4}]}\n";

/* --- clusters out of a few numbers --- */

struct group { /* pods of one kind of a workload */
    uint32_t count;
    const char *node;  /* NULL: none */
    const char *set;   /* ReplicaSet; NULL: web-1 */
    const char *asks;  /* its own capacity type; NULL: either */
    const char *notes; /* annotations; NULL: the workload's */
    const char *phase; /* NULL: Pending, or Running on a node */
    bool dying;
    bool unseen; /* no scheduler has looked at it */
};

struct row {
    const char *label;
    const char *notes;
    struct group groups[4];
    uint32_t spot, on_demand; /* where those to be placed end up */
};

static void put_annotations(struct buf *b, const char *notes)
{
    buf_addf(b, ", annotations: {%s}", notes);
}

static void put_pods(struct buf *b, const struct group *g, const char *notes, uint32_t *serial)
{
    const char *set = g->set != NULL ? g->set : "web-1";
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t n = (*serial)++;
        buf_addf(b,
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-p%02u, uid: u%u, namespace: shop, "
                 "creationTimestamp: \"2026-01-01T00:%02u:00Z\", labels: {pod-template-hash: \"%s\"}, "
                 "ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, controller: true}]",
                 set, n, n, n, strchr(set, '-') != NULL ? strchr(set, '-') + 1 : "",
                 strcmp(set, "db") == 0 ? "StatefulSet" : "ReplicaSet", set);
        put_annotations(b, g->notes != NULL ? g->notes : notes);
        buf_addf(b, "%s}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]",
                 g->dying ? ", deletionTimestamp: \"2026-01-02T00:00:00Z\"" : "");
        if (g->node != NULL)
            buf_addf(b, ", nodeName: %s", g->node);
        if (g->asks != NULL)
            buf_addf(b, ", nodeSelector: {" CAPACITY ": %s}", g->asks);
        buf_addf(b, "}\nstatus: {phase: %s, conditions: [%s]}\n",
                 g->phase != NULL ? g->phase : g->node != NULL ? "Running" : "Pending",
                 g->node == NULL && !g->unseen
                     ? "{type: PodScheduled, status: \"False\", reason: Unschedulable}"
                     : "");
    }
}

/* A node without room for more, so that what is planned says by itself where it goes. */
static void put_node(struct buf *b, const char *name, const char *capacity, bool leaving)
{
    buf_addf(b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {app: none", name);
    if (capacity != NULL)
        buf_addf(b, ", " CAPACITY ": %s", capacity);
    buf_addf(b, "}%s}\nspec: {}\nstatus: {allocatable: {cpu: 100m, memory: 64Gi, pods: 110}}\n",
             leaving ? ", deletionTimestamp: \"2026-01-02T00:00:00Z\"" : "");
}

static void put_set(struct buf *b, const char *name, const char *deployment)
{
    buf_addf(b,
             "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %s, namespace: shop, "
             "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %s, controller: true}]}\n"
             "spec: {selector: {matchLabels: {a: b}}}\n",
             name, deployment);
}

static void put_pool(struct buf *b, const char *name, const char *capacities)
{
    buf_addf(b,
             "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: %s}\nspec: {template: "
             "{spec: {nodeClassRef: {group: example.com, kind: Machine, name: m}, requirements: "
             "[{key: " CAPACITY ", operator: %s}]}}}\n",
             name, capacities);
}

static void start(struct cluster *c, enum search_kind search)
{
    cluster_init(c);
    c->plan_options.search = search;
    cluster_add(c, TYPES);
}

static void build(struct cluster *c, const struct row *r, enum search_kind search, bool sets)
{
    struct buf b = {0};
    uint32_t serial = 0;
    start(c, search);
    put_pool(&b, "general", "In, values: [spot, on-demand]");
    put_node(&b, "spot", "spot", false);
    put_node(&b, "owned", "on-demand", false);
    put_node(&b, "booked", "reserved", false);
    put_node(&b, "plain", NULL, false);
    put_node(&b, "gone", "spot", true);
    if (sets) {
        put_set(&b, "web-1", "web");
        put_set(&b, "web-2", "web");
    }
    for (size_t i = 0; i < COUNT_OF(r->groups); i++)
        put_pods(&b, &r->groups[i], r->notes, &serial);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

/* --- where they end up --- */

static enum split_side claim_side(const struct plan *p, const struct plan_claim *c)
{
    const struct requirement *r = requirements_get(&c->requirements, SYM_CAPACITY_TYPE);
    assert_non_null(r);
    bool spot = requirement_has(r, SYM_SPOT, p->syms);
    bool on_demand = requirement_has(r, SYM_ON_DEMAND, p->syms);
    return spot == on_demand ? SPLIT_NONE : spot ? SPLIT_SPOT : SPLIT_ON_DEMAND;
}

/* 's' or 'o' for a pod with a place whose side is settled, '?' for one whose is not, '-' without one. */
static char pod_side(const struct plan *p, const struct pod *pod)
{
    static const char letters[] = {[SPLIT_NONE] = '?', [SPLIT_ON_DEMAND] = 'o', [SPLIT_SPOT] = 's'};
    for (uint32_t i = 0; i < p->claim_count; i++)
        for (uint32_t k = 0; k < p->claims[i].pod_count; k++)
            if (p->claims[i].pods[k] == pod)
                return letters[claim_side(p, &p->claims[i])];
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
            if (p->nodes[i].pods[k] == pod)
                return world_split_refuses(p->world, SPLIT_SPOT, p->nodes[i].row) ? 'o' : 's';
    return '-';
}

static int by_name(const void *a, const void *b)
{
    return span_cmp((*(const struct pod *const *)a)->meta.name,
                    (*(const struct pod *const *)b)->meta.name);
}

/* A letter for each pod, in the order of their names. */
static void sides_of(struct cluster *c, const struct plan *p, char *out)
{
    struct cluster_list *l = &c->kinds[KIND_POD];
    const struct pod **pods = ARENA_ARRAY(&c->arena, const struct pod *, l->count);
    for (size_t i = 0; i < l->count; i++)
        pods[i] = l->items[i];
    qsort(pods, l->count, sizeof(*pods), by_name);
    for (size_t i = 0; i < l->count; i++)
        out[i] = pod_side(p, pods[i]);
    out[l->count] = '\0';
}

static uint32_t count_of(const char *text, char letter)
{
    uint32_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == letter;
    return n;
}

/* --- the rows --- */

#define BASE(n_) "stowage.dev/on-demand-base: \"" n_ "\""
#define SPOT(p_) "stowage.dev/spot-percent: \"" p_ "\""
#define ON(node_, count_) {.count = (count_), .node = (node_)}
#define NEW(count_) {.count = (count_)}

static const struct row rows[] = {
    {"10 pods, base 2, half of the rest", BASE("2") ", " SPOT("50"), {NEW(10)}, 4, 6},
    {"half of an odd rest is rounded down", SPOT("50"), {NEW(5)}, 2, 3},
    {"a base larger than the workload", BASE("5") ", " SPOT("100"), {NEW(3)}, 0, 3},
    {"a base alone: the rest is spot", BASE("2"), {NEW(5)}, 3, 2},
    {"a percentage alone: no base", SPOT("100"), {NEW(3)}, 3, 0},
    {"no spot at all", SPOT("0"), {NEW(3)}, 0, 3},
    {"scale up from 10 to 20", BASE("2") ", " SPOT("50"), {ON("owned", 6), ON("spot", 4), NEW(10)}, 5, 5},
    {"scaled down onto too much spot: the next pods make up for it", BASE("2") ", " SPOT("50"),
     {ON("spot", 4), NEW(4)}, 0, 4},
    {"scaled down onto too little spot", BASE("2") ", " SPOT("50"), {ON("owned", 6), NEW(4)}, 4, 0},
    {"as far as the next pods can", BASE("2") ", " SPOT("50"), {ON("spot", 8), NEW(2)}, 0, 2},
    {"reserved counts as on-demand", SPOT("50"), {ON("booked", 2), NEW(2)}, 2, 0},
    {"so does a node that does not say", SPOT("50"), {ON("plain", 2), NEW(2)}, 2, 0},
    {"who is being deleted does not count", SPOT("50"),
     {{.count = 4, .node = "spot", .dying = true}, NEW(4)}, 2, 2},
    {"nor who is over", SPOT("50"), {{.count = 4, .node = "spot", .phase = "Succeeded"}, NEW(4)}, 2, 2},
    {"pods of a node that leaves are placed anew", SPOT("50"), {ON("gone", 2), ON("owned", 1), NEW(1)}, 2, 1},
    {"a rollout counts old and new pods together", BASE("2") ", " SPOT("50"),
     {ON("owned", 6), {.count = 4, .set = "web-2"}}, 4, 0},
    {"in a rollout the new template's annotations hold", SPOT("0"),
     {{.count = 4, .node = "owned", .notes = SPOT("0")},
      {.count = 4, .set = "web-2", .notes = SPOT("50")}},
     4, 0},
    {"two ReplicaSets of two Deployments are two owners", SPOT("50"),
     {{.count = 4, .set = "other-1"}, NEW(4)}, 4, 4},
    {"a StatefulSet", BASE("1") ", " SPOT("50"), {{.count = 5, .set = "db"}}, 2, 3},
    {"its own selector wins, and counts as what it says", BASE("2") ", " SPOT("50"),
     {{.count = 3, .asks = "spot"}, NEW(7)}, 4, 6},
    {"also against the formula", BASE("2") ", " SPOT("50"), {{.count = 4, .asks = "spot"}}, 4, 0},
    {"on-demand by its own selector", SPOT("50"), {{.count = 2, .asks = "on-demand"}, NEW(2)}, 2, 2},
    {"who is not planned yet has a side, too", SPOT("50"), {{.count = 2, .unseen = true}, NEW(2)}, 1, 1},
};

static void each_row(enum search_kind search, bool sets)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char sides[64];
        build(&c, &rows[i], search, sets);
        sides_of(&c, cluster_plan(&c), sides);
        if (count_of(sides, 's') != rows[i].spot || count_of(sides, 'o') != rows[i].on_demand ||
            count_of(sides, '?') != 0)
            fail_msg("%s: %s, not %u spot and %u on-demand", rows[i].label, sides, rows[i].spot,
                     rows[i].on_demand);
        cluster_release(&c);
    }
}

static void the_sums_are_the_formulas(void **state)
{
    (void)state;
    each_row(SEARCH_GREEDY, true);
    each_row(SEARCH_CHEAPEST, true);
}

/* The Deployment's name is the ReplicaSet's without the hash of the template. */
static void without_the_replica_sets_as_well(void **state)
{
    (void)state;
    each_row(SEARCH_GREEDY, false);
}

static void the_order_of_the_input_does_not_matter(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct cluster c;
            char first[64], then[64];
            build(&c, &rows[i], seed % 2 != 0 ? SEARCH_GREEDY : SEARCH_CHEAPEST, true);
            sides_of(&c, cluster_plan(&c), first);
            cluster_shuffle(&c, seed);
            sides_of(&c, cluster_plan(&c), then);
            if (strcmp(first, then) != 0)
                fail_msg("%s: %s, shuffled %s", rows[i].label, first, then);
            cluster_release(&c);
        }
}

/* Those before them keep their sides, and with them the nodes bought for them. */
static void a_scale_up_leaves_sides_as_they_are(void **state)
{
    (void)state;
    static const char notes[] = BASE("2") ", " SPOT("40");
    char before[64] = "";
    for (uint32_t n = 1; n <= 30; n++) {
        struct row r = {"", notes, {NEW(n)}, 0, 0};
        struct cluster c;
        char sides[64];
        build(&c, &r, SEARCH_GREEDY, true);
        sides_of(&c, cluster_plan(&c), sides);
        if (strncmp(before, sides, strlen(before)) != 0)
            fail_msg("%u pods: %s, after %s", n, sides, before);
        memcpy(before, sides, sizeof(before));
        cluster_release(&c);
    }
}

/* --- annotations that cannot be read --- */

static const struct {
    const char *notes, *says;
} wrong[] = {
    {SPOT("half"), "Deployment shop/web is not split between spot and on-demand: its pods' annotation "
                   "stowage.dev/spot-percent is \"half\". Fix: write a whole number from 0 to 100, without "
                   "a sign"},
    {SPOT("101"), "Deployment shop/web is not split between spot and on-demand: its pods' annotation "
                  "stowage.dev/spot-percent is \"101\". Fix: write a whole number from 0 to 100, without "
                  "a sign"},
    {BASE("2") ", " SPOT("50%"),
     "Deployment shop/web is not split between spot and on-demand: its pods' annotation "
     "stowage.dev/spot-percent is \"50%\". Fix: write a whole number from 0 to 100, without a sign"},
    {BASE("-1") ", " SPOT("50"),
     "Deployment shop/web is not split between spot and on-demand: its pods' annotation "
     "stowage.dev/on-demand-base is \"-1\". Fix: write a whole number of pods"},
    {BASE(""), "Deployment shop/web is not split between spot and on-demand: its pods' annotation "
               "stowage.dev/on-demand-base is \"\". Fix: write a whole number of pods"},
};

static void what_cannot_be_read_is_told_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct row r = {"", wrong[i].notes, {NEW(4)}, 0, 0};
        struct cluster c;
        char sides[64];
        build(&c, &r, SEARCH_GREEDY, true);
        const struct plan *p = cluster_plan(&c);
        uint32_t told = 0;
        for (uint32_t k = 0; k < p->warning_count; k++)
            told += span_eq(p->warnings[k], span_of(wrong[i].says));
        if (told != 1)
            fail_msg("%s: told %u times; %.*s", wrong[i].notes, told,
                     SPAN_ARG(p->warning_count != 0 ? p->warnings[0] : SPAN("no warning")));
        sides_of(&c, p, sides);
        assert_string_equal(sides, "????"); /* it may be either */
        cluster_release(&c);
    }
}

/* --- why there is no place --- */

static void the_split_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *capacities, *says;
    } pools[] = {
        {"In, values: [on-demand]",
         "is to be on spot: its Deployment web wants 4 of 10 pods on spot (stowage.dev/on-demand-base: "
         "2, stowage.dev/spot-percent: 50); pool general has " CAPACITY " In [on-demand]. Fix: let pool "
         "general buy spot, or change the annotations"},
        {"In, values: [spot]",
         "is to be on on-demand: its Deployment web wants 4 of 10 pods on spot "
         "(stowage.dev/on-demand-base: 2, stowage.dev/spot-percent: 50); pool general has " CAPACITY
         " In [spot]. Fix: let pool general buy on-demand, or change the annotations"},
    };
    for (size_t i = 0; i < COUNT_OF(pools); i++) {
        struct row r = {"", BASE("2") ", " SPOT("50"), {NEW(10)}, 0, 0};
        struct cluster c;
        struct buf b = {0};
        uint32_t serial = 0;
        start(&c, SEARCH_GREEDY);
        put_pool(&b, "general", pools[i].capacities);
        put_set(&b, "web-1", "web");
        put_pods(&b, &r.groups[0], r.notes, &serial);
        cluster_add(&c, b.ptr);
        buf_release(&b);
        const struct plan *p = cluster_plan(&c);
        assert_int_equal(p->unschedulable_count, i == 0 ? 4 : 6);
        const struct plan_unschedulable *u = &p->unschedulable[0];
        struct span message = why_text(&c.arena, &u->why);
        if (!span_eq(message, span_of(pools[i].says)))
            fail_msg("%.*s", SPAN_ARG(message));
        const struct plan_detail *last = &u->details[u->detail_count - 1];
        assert_true(span_eq(last->about, SPAN("split")));
        assert_true(span_has_prefix(last->text, SPAN("it is to be on ")));
        cluster_release(&c);
    }
}

static void explain_tells_of_the_split(void **state)
{
    (void)state;
    struct row r = {"", SPOT("100"), {NEW(1)}, 0, 0};
    struct cluster c;
    struct explanation e;
    build(&c, &r, SEARCH_GREEDY, true);
    cluster_plan(&c);
    answer_pod(c.plan, c.kinds[KIND_POD].items[0], &e);
    bool told = false;
    for (uint32_t i = 0; i < e.line_count; i++)
        told |= span_eq(e.lines[i].head, SPAN("split")) &&
                span_eq(e.lines[i].text, SPAN("it is to be on spot; its Deployment web wants 1 of 1 pod "
                                              "on spot (stowage.dev/spot-percent: 100)"));
    assert_true(told);
    cluster_release(&c);
}

/* --- nodes that stand --- */

/* A node without the label takes pods that are to be on-demand, and none that are to be on spot. */
static void a_node_that_does_not_say_is_on_demand(void **state)
{
    (void)state;
    struct row r = {"", SPOT("50"), {NEW(4)}, 0, 0};
    struct cluster c;
    struct buf b = {0};
    uint32_t serial = 0;
    start(&c, SEARCH_GREEDY);
    put_pool(&b, "general", "In, values: [spot, on-demand]");
    put_set(&b, "web-1", "web");
    put_pods(&b, &r.groups[0], r.notes, &serial);
    buf_addf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: bare}\nspec: {}\nstatus: {allocatable: "
                 "{cpu: 100, memory: 64Gi, pods: 110}}\n");
    cluster_add(&c, b.ptr);
    buf_release(&b);
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->node_count, 1);
    assert_int_equal(p->nodes[0].pod_count, 2);
    assert_int_equal(p->claim_count, 1);
    assert_int_equal(claim_side(p, &p->claims[0]), SPLIT_SPOT);
    cluster_release(&c);
}

/* What consolidation asks: a pod of a removed node comes back on its own side, or, where there was too
 * much of it, on the other until that is even. */
static void removed_pods_come_back_where_they_are_wanted(void **state)
{
    (void)state;
    static const struct {
        struct group groups[4];
        const char *removed;
        uint32_t spot, on_demand;
    } moves[] = {
        {{ON("spot", 2), ON("owned", 2)}, "spot", 2, 0},
        {{ON("spot", 2), ON("owned", 2)}, "owned", 0, 2},
        {{ON("spot", 4)}, "spot", 2, 2},
        {{ON("spot", 3), ON("owned", 1)}, "spot", 2, 1},
        {{ON("owned", 4)}, "owned", 2, 2},
        {{ON("spot", 4), NEW(2)}, "spot", 3, 3},
    };
    for (size_t i = 0; i < COUNT_OF(moves); i++) {
        struct row r = {.notes = SPOT("50")};
        struct cluster c;
        char sides[64];
        memcpy(r.groups, moves[i].groups, sizeof(r.groups));
        build(&c, &r, SEARCH_GREEDY, true);
        c.removed[0] = span_of(moves[i].removed);
        sides_of(&c, cluster_plan(&c), sides);
        if (count_of(sides, 's') != moves[i].spot || count_of(sides, 'o') != moves[i].on_demand)
            fail_msg("move %zu: %s", i, sides);
        cluster_release(&c);
    }
}

/* --- what the extender asks --- */

static void the_class_of_who_stands_is_found(void **state)
{
    (void)state;
    struct row r = {"", SPOT("50"), {ON("spot", 3), ON("owned", 1)}, 0, 0};
    struct cluster c;
    build(&c, &r, SEARCH_GREEDY, true);
    cluster_plan(&c);
    for (size_t i = 0; i < c.kinds[KIND_POD].count; i++)
        assert_true(world_class_of(c.world, c.kinds[KIND_POD].items[i]) >= 0);
    cluster_release(&c);
}

static enum split_side side_of(const struct cluster *c, const struct pod *p)
{
    return world_split_side(c->world, p, NULL, NULL, 0);
}

static void nodes_of_the_other_side_are_refused(void **state)
{
    (void)state;
    struct row r = {"", SPOT("50"), {{.count = 2, .unseen = true}, {.count = 1, .asks = "spot"}}, 0, 0};
    struct cluster c;
    build(&c, &r, SEARCH_GREEDY, true);
    cluster_plan(&c);
    static const struct {
        const char *node;
        enum split_side side;
        bool refused;
    } asked[] = {
        {"spot", SPLIT_SPOT, false},      {"owned", SPLIT_SPOT, true},
        {"plain", SPLIT_SPOT, true},      {"spot", SPLIT_ON_DEMAND, true},
        {"owned", SPLIT_ON_DEMAND, false}, {"booked", SPLIT_ON_DEMAND, false},
        {"plain", SPLIT_ON_DEMAND, false}, {"spot", SPLIT_NONE, false},
    };
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        int32_t row = world_find_node(c.world, span_of(asked[i].node));
        assert_true(row >= 0);
        assert_int_equal(world_split_refuses(c.world, asked[i].side, (uint32_t)row), asked[i].refused);
    }
    const struct pod *const *pods = (const struct pod *const *)c.kinds[KIND_POD].items;
    assert_int_equal(side_of(&c, pods[0]), SPLIT_ON_DEMAND);
    assert_int_equal(side_of(&c, pods[1]), SPLIT_ON_DEMAND);
    assert_int_equal(side_of(&c, pods[2]), SPLIT_NONE); /* its selector sees to it */
    cluster_release(&c);
}

/* A pod that came later takes the next seat, as far as can be told by what it says of itself. */
static void who_comes_later_has_the_next_side(void **state)
{
    (void)state;
    static const struct {
        const char *set, *notes;
        struct group known;
        enum split_side want;
    } later[] = {
        {"web-1", SPOT("50"), NEW(3), SPLIT_SPOT},
        {"web-1", SPOT("50"), NEW(4), SPLIT_ON_DEMAND},
        {"web-new", SPOT("50"), NEW(3), SPLIT_SPOT}, /* a ReplicaSet that nobody has seen */
        {"web-1", SPOT("50"), ON("spot", 4), SPLIT_ON_DEMAND},
        {"web-1", SPOT("50"), ON("owned", 8), SPLIT_SPOT},
        {"web-a-1", SPOT("50"), NEW(3), SPLIT_NONE}, /* of another Deployment */
        {"webs-1", SPOT("50"), NEW(3), SPLIT_NONE},
        {"web-1", SPOT("half"), NEW(3), SPLIT_NONE},
        {"web-1", "", NEW(3), SPLIT_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(later); i++) {
        struct row r = {.notes = later[i].notes, .groups = {later[i].known}};
        struct cluster c;
        build(&c, &r, SEARCH_GREEDY, true);
        cluster_plan(&c);
        struct pod pod = *(const struct pod *)c.kinds[KIND_POD].items[0];
        struct owner owner = pod.meta.owners.items[0];
        owner.name = span_of(later[i].set);
        pod.meta.owners.items = &owner;
        pod.meta.name = SPAN("later");
        pod.node = SYM_NONE;
        if (side_of(&c, &pod) != later[i].want)
            fail_msg("row %zu: %d", i, side_of(&c, &pod));
        cluster_release(&c);
    }
}

/* Who was sent somewhere counts there, whatever the world still means to do with him. */
#define NOBODY {-1, SPLIT_NONE}
static void who_was_sent_counts_where_he_went(void **state)
{
    (void)state;
    enum { LATER = 4, ELSE = 5 }; /* pods that are not in the world: of the workload, of another */
    static const struct {
        const char *label;
        struct {
            int pod;
            enum split_side side;
        } sent[2];
        int asked;
        enum split_side want;
    } cases[] = {
        {"as the world has it", {NOBODY, NOBODY}, 3, SPLIT_SPOT},
        {"where he was to go", {{1, SPLIT_SPOT}, NOBODY}, 3, SPLIT_SPOT},
        {"the youngest makes up for him", {{0, SPLIT_SPOT}, NOBODY}, 3, SPLIT_ON_DEMAND},
        {"not an older one", {{0, SPLIT_SPOT}, NOBODY}, 1, SPLIT_SPOT},
        {"two on the wrong sides", {{0, SPLIT_SPOT}, {1, SPLIT_ON_DEMAND}}, 3, SPLIT_SPOT},
        {"the fifth", {NOBODY, NOBODY}, LATER, SPLIT_ON_DEMAND},
        {"the sixth", {{LATER + 2, SPLIT_ON_DEMAND}, NOBODY}, LATER, SPLIT_SPOT},
        {"the fifth, asked about again", {{LATER, SPLIT_ON_DEMAND}, NOBODY}, LATER, SPLIT_ON_DEMAND},
        {"of another workload", {{ELSE, SPLIT_ON_DEMAND}, NOBODY}, LATER, SPLIT_ON_DEMAND},
    };
    struct row r = {.notes = SPOT("50"), .groups = {NEW(4)}};
    struct cluster c;
    build(&c, &r, SEARCH_GREEDY, true);
    cluster_plan(&c);
    const struct pod *const *pods = (const struct pod *const *)c.kinds[KIND_POD].items;
    struct pod later = *pods[0];
    later.meta.name = later.meta.uid = SPAN("later");
    uint64_t workload = world_split_workload(c.world, pods[0]);
    assert_true(workload != 0 && workload == world_split_workload(c.world, &later));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct split_sent sent[2];
        struct arena a;
        uint32_t count = 0;
        arena_init(&a, 0);
        for (size_t k = 0; k < COUNT_OF(sent) && cases[i].sent[k].pod >= 0; k++) {
            int n = cases[i].sent[k].pod;
            sent[count++] = (struct split_sent){
                .id = n < LATER ? span_hash(pods[n]->meta.uid) : n == LATER ? span_hash(later.meta.uid) : 1,
                .workload = n == ELSE ? workload + 1 : workload,
                .side = cases[i].sent[k].side,
                .pod = n < LATER ? pods[n] : NULL};
        }
        const struct pod *asked = cases[i].asked < LATER ? pods[cases[i].asked] : &later;
        enum split_side side = world_split_side(c.world, asked, &a, sent, count);
        if (side != cases[i].want)
            fail_msg("%s: %d", cases[i].label, side);
        arena_release(&a);
    }
    cluster_release(&c);
}

/* A pod that is being created: its own annotations, whom the world has, and whom it has not yet. */
static void a_newcomer_has_the_next_side(void **state)
{
    (void)state;
#define GIVEN "stowage.dev/on-demand-base: \"0\", stowage.dev/spot-percent: \"50\", stowage.dev/shaped-by: \"split=spot, review=seen\""
    static const struct {
        const char *label, *set, *notes; /* notes of the newcomer; NULL: the workload's */
        struct group known;
        bool sets;
        enum split_side sent; /* of one more pod that was given a side */
        bool same;            /* the world has it by now */
        enum split_side want;
    } cases[] = {
        {"the fourth of three", "web-1", NULL, NEW(3), true, SPLIT_NONE, false, SPLIT_SPOT},
        {"of a set that nobody has seen", "web-new", NULL, NEW(3), false, SPLIT_NONE, false, SPLIT_SPOT},
        {"of another workload", "webs-new", NULL, NEW(3), true, SPLIT_NONE, false, SPLIT_ON_DEMAND},
        {"too many stand on spot", "web-1", NULL, ON("spot", 3), true, SPLIT_NONE, false, SPLIT_ON_DEMAND},
        {"too few", "web-1", NULL, ON("owned", 3), true, SPLIT_NONE, false, SPLIT_SPOT},
        {"nobody is there, one was sent", "web-1", NULL, NEW(0), true, SPLIT_ON_DEMAND, false, SPLIT_SPOT},
        {"one is there and another was sent", "web-1", NULL, {.count = 1, .asks = "on-demand"}, true, SPLIT_SPOT, false, SPLIT_ON_DEMAND},
        {"who was sent counts once", "web-1", NULL, {.count = 1, .asks = "on-demand", .notes = GIVEN}, true, SPLIT_SPOT, true, SPLIT_SPOT},
        {"its own annotations", "web-1", "100", NEW(3), true, SPLIT_NONE, false, SPLIT_SPOT},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct row r = {.notes = SPOT("50"), .groups = {cases[i].known, {.count = 1, .set = cases[i].set, .node = "plain"}}};
        struct cluster c;
        struct arena a;
        struct split_wish wish;
        struct span fault;
        arena_init(&a, 0);
        build(&c, &r, SEARCH_GREEDY, cases[i].sets);
        struct pod pod = *(const struct pod *)c.kinds[KIND_POD].items[c.kinds[KIND_POD].count - 1];
        c.kinds[KIND_POD].count--; /* it is not there */
        cluster_plan(&c);
        pod.meta.name = pod.meta.uid = (struct span){NULL, 0};
        pod.node = SYM_NONE;
        struct annotation all = {SYM_SPOT_PERCENT, span_of(cases[i].notes)};
        if (cases[i].notes != NULL)
            pod.meta.annotations = (struct annotations){&all, 1};
        struct split_newcomer n = {.pod = &pod, .syms = c.syms};
        assert_true(world_split_wish(c.world, &n, &a, &wish, &fault));
        assert_null(fault.ptr);
        assert_int_not_equal(wish.workload, 0);
        struct split_sent sent = {.id = span_hash(SPAN("seen")), .workload = wish.workload, .side = cases[i].sent};
        enum split_side side = world_split_newcomer(c.world, &wish, &sent, cases[i].sent != SPLIT_NONE);
        if (side != cases[i].want)
            fail_msg("%s: %d", cases[i].label, side);
        assert_int_equal(sent.pod != NULL, cases[i].same);
        arena_release(&a);
        cluster_release(&c);
    }
}

/* Pods of one shape on two sides: the claims do not say whose places they hold, but on which side. */
static void a_new_leader_finds_the_sides_again(void **state)
{
    (void)state;
    struct row r = {"", SPOT("50"), {NEW(2)}, 0, 0};
    struct cluster c;
    struct buf b = {0};
    build(&c, &r, SEARCH_GREEDY, true);
    unsigned long long shape = pod_shape_hash(c.kinds[KIND_POD].items[0], c.syms);
    static const char *const kinds[] = {"spot", "on-demand"}; /* the spot claim is the older */
    for (int i = 0; i < 2; i++)
        buf_addf(&b,
                 "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c-%s, "
                 "creationTimestamp: \"2026-01-01T00:00:0%dZ\", annotations: {stowage.dev/planned: "
                 "\"1x%016llx\"}}\nspec: {requirements: [{key: " CAPACITY ", operator: In, values: "
                 "[%s]}]}\nstatus: {allocatable: {cpu: 4, memory: 4Gi, pods: 10}}\n",
                 kinds[i], i, shape, kinds[i]);
    cluster_add(&c, b.ptr);
    buf_release(&b);
    cluster_plan(&c);
    struct places *p = places_rebuild(c.world, 0);
    assert_int_equal(p->count, 2);
    assert_true(span_eq(places_find(p, SPAN("u0"))->target, SPAN("c-on-demand")));
    assert_true(span_eq(places_find(p, SPAN("u1"))->target, SPAN("c-spot")));
    places_destroy(&p->shared);
    cluster_release(&c);
}

static void without_annotations_nothing_is_kept(void **state)
{
    (void)state;
    struct row r = {"", "", {NEW(4), ON("spot", 4)}, 0, 0};
    struct cluster c;
    build(&c, &r, SEARCH_GREEDY, true);
    cluster_plan(&c);
    assert_int_equal(c.world->split.owner_count, 0);
    assert_null(c.world->split.slots);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sums_are_the_formulas),
        cmocka_unit_test(without_the_replica_sets_as_well),
        cmocka_unit_test(the_order_of_the_input_does_not_matter),
        cmocka_unit_test(a_scale_up_leaves_sides_as_they_are),
        cmocka_unit_test(what_cannot_be_read_is_told_once),
        cmocka_unit_test(the_split_is_named),
        cmocka_unit_test(explain_tells_of_the_split),
        cmocka_unit_test(a_node_that_does_not_say_is_on_demand),
        cmocka_unit_test(removed_pods_come_back_where_they_are_wanted),
        cmocka_unit_test(the_class_of_who_stands_is_found),
        cmocka_unit_test(nodes_of_the_other_side_are_refused),
        cmocka_unit_test(who_comes_later_has_the_next_side),
        cmocka_unit_test(a_newcomer_has_the_next_side),
        cmocka_unit_test(who_was_sent_counts_where_he_went),
        cmocka_unit_test(a_new_leader_finds_the_sides_again),
        cmocka_unit_test(without_annotations_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
