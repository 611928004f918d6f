/* A world made by delta plans exactly as one that was built of the same objects, and shares what did not
 * change without holding on to it: random clusters whose pods come, are bound, move on and go.
 *
 * Every version of a pod is a block of its own, freed with the last world that may look at it: so that the
 * address sanitizer sees who looks longer. */
#include "support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/decode.h"
#include "planner/columns.h"
#include "planner/plan/plan_json.h"

struct history { /* of one cluster */
    struct cluster c;
    struct draws d;
    struct pod **pods; /* that are there */
    size_t count, capacity;
    struct pod *gone[8], *come[8]; /* of the step being made */
    size_t gone_count, come_count;
    struct pod **away; /* templates of pods that may come (again) */
    size_t away_count;
    struct world *world;
    unsigned deltas, builds, serial;
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
    random_cluster_load(&r, 0, &h->c);
    random_cluster_release(&r);
    struct cluster_list *list = &h->c.kinds[KIND_POD];
    h->capacity = list->count * 2 + 200;
    h->pods = mem_array(h->capacity, sizeof(*h->pods));
    h->away = mem_array(h->capacity, sizeof(*h->away));
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

/* Out of those that are there; but not one that came in this very step. */
static struct pod *take(struct history *h)
{
    size_t old = h->count - h->come_count;
    if (old == 0)
        return NULL;
    size_t at = draw(&h->d, (unsigned)old);
    struct pod *p = h->pods[at];
    h->pods[at] = h->pods[old - 1];
    h->pods[old - 1] = h->pods[--h->count];
    h->gone[h->gone_count++] = p;
    return p;
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
    switch (draw(&h->d, 4)) {
    case 0:
        next->meta.deleted = h->c.plan_options.now;
        break;
    case 1:
        next->phase = POD_SUCCEEDED;
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

static void draw_step(struct history *h)
{
    static void (*const happenings[])(struct history *) = {arrive, scale_up, scale_up,
                                                           leave,  change,   change};
    h->gone_count = h->come_count = 0;
    for (unsigned i = 1 + draw(&h->d, 3); i > 0; i--)
        happenings[draw(&h->d, COUNT_OF(happenings))](h);
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

static void expect_same_plans(struct history *h, const struct world *w, uint64_t seed)
{
    struct world *whole = built(h);
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
    struct world_change c = {(const struct pod *const *)h->gone, (const struct pod *const *)h->come,
                             h->gone_count, h->come_count};
    struct buf before = planned(h, h->world, SEARCH_GREEDY);
    struct world *next = world_delta(h->world, &c);
    struct buf after = planned(h, h->world, SEARCH_GREEDY);
    assert_true(span_eq(buf_span(&before), buf_span(&after))); /* the old one did not change */
    buf_release(&before);
    buf_release(&after);
    if (next != NULL)
        h->deltas++;
    else
        next = built(h);
    world_free(h->world);
    h->world = next;
    for (size_t i = 0; i < h->gone_count; i++)
        free(h->gone[i]);
    expect_same_plans(h, h->world, seed);
}

static void plans_as_a_world_built_anew(void **state)
{
    (void)state;
    enum { EVERY_DAY = 12, STEPS = 25 };
    unsigned long long from = 1, to = EVERY_DAY;
    unsigned deltas = 0;
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
        history_end(&h);
    }
    print_message("%u of %llu changes by delta\n", deltas, (to - from + 1) * STEPS);
    assert_true(deltas > (to - from + 1) * STEPS / 4); /* or nothing was tested */
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
        size_t bytes = 0;
        for (size_t part = 0; part < PART_COUNT; part++)
            bytes += part_bytes(next->parts[part]);
        if (i < 30)
            early = bytes > early ? bytes : early;
        late = bytes;
    }
    assert_true(late <= early);
    history_end(&h);
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
        struct world *w = world_delta(h.world, &(struct world_change){&gone, &come, 1, 1});
        assert_non_null(w);
        world_free(h.world);
        h.world = w;
        h.pods[i] = next;
        free(old);
    }
    expect_same_plans(&h, h.world, 0);
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
    struct owner agent = {.kind = SYM_KIND_DAEMON_SET, .name = SPAN("agent"), .controller = true};
    struct pod plain = {.phase = POD_PENDING, .unschedulable = true};
    plain.meta.ns = SPAN("default");
    plain.meta.name = plain.meta.uid = SPAN("p");
    struct pod pods[7];
    for (size_t i = 0; i < COUNT_OF(pods); i++)
        pods[i] = plain;
    pods[0].spreads = (struct spreads){&zone, 1};
    pods[1].affinity = &apart;
    pods[2].requests = (struct resources){&gpu, 1};
    pods[3].node_selector = (struct sym_pairs){&disk, 1};
    pods[4].volumes = (struct pod_volumes){&data, 1};
    pods[5].meta.owners.items = &agent;
    pods[5].meta.owners.count = 1;
    pods[6].nominated_node = gpu.name;
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
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(who_goes_does_not_count),
        cmocka_unit_test(asks_for_a_build),
        cmocka_unit_test(too_many_shapes_ask_for_a_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
