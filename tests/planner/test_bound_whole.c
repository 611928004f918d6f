/* The bound of whole clusters: never above the least price of a fleet that holds the pods, found by trying every
 * one. The way from a cluster to the bound's question is in it: DaemonSets, taints, zones, nodes that stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support_cluster.h"

enum { ZONES = 2, KINDS = 2, TYPES = 3, NODES = 2, PODS = 5, MACHINES = PODS + NODES };
enum { ANYWHERE = -1 };
enum { SIZES = 6, CROWD = 2 }; /* at most so many pods that crowd are on a node */

#define ZONE "topology.kubernetes.io/zone"
#define CAPACITY "karpenter.sh/capacity-type"
static const char *const zone_names[ZONES] = {"z1", "z2"};
static const char *const kind_names[KINDS] = {"on-demand", "spot"};

static uint64_t state_of;

static unsigned draw(unsigned below)
{
    state_of = state_of * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of >> 33) % below;
}

#define PICK(...)                                                                                  \
    ((const int[]){__VA_ARGS__})[draw(sizeof((const int[]){__VA_ARGS__}) / sizeof(int))]

/* --- a cluster --- */

struct machine {
    int room; /* milli-CPUs beside the DaemonSet's pod */
    int zone, kind;
    double price;
    bool tainted, picky; /* a pod that wants no other like it is there */
    int crowd;           /* pods that crowd */
};

struct drawn_pod {
    char name[16];
    int cpu, zone, kind;
    bool tolerates, picky;
    bool spreads; /* over capacity types, with those of its size */
    bool crowds;  /* spreads over nodes */
    int size;
    int on; /* a node, or -1 */
    bool asked; /* the fleet has to hold it */
};

struct drawn {
    int cpu[TYPES];
    double price[TYPES][ZONES][KINDS];
    bool tainted_pool; /* a second pool, in z1 alone */
    int daemon;        /* milli-CPUs; 0: there is no DaemonSet */
    int daemon_zone, daemon_kind;
    struct machine nodes[NODES];
    bool managed[NODES];
    int type_of[NODES];
    struct drawn_pod pods[PODS];
    int types, node_count, pod_count;
};

static int daemon_at(const struct drawn *d, int zone, int kind, bool tainted)
{
    bool comes = !tainted && (d->daemon_zone == ANYWHERE || d->daemon_zone == zone) &&
                 (d->daemon_kind == ANYWHERE || d->daemon_kind == kind);
    return comes ? d->daemon : 0;
}

static void draw_nodes(struct drawn *d)
{
    d->node_count = (int)draw(NODES + 1);
    for (int i = 0; i < d->node_count; i++) {
        struct machine *m = &d->nodes[i];
        d->managed[i] = draw(3) != 0;
        d->type_of[i] = (int)draw((unsigned)d->types);
        *m = (struct machine){.zone = (int)draw(ZONES), .kind = (int)draw(KINDS)};
        m->price = d->managed[i] ? d->price[d->type_of[i]][m->zone][m->kind] : 0;
        m->room = d->cpu[d->type_of[i]] * 1000 - daemon_at(d, m->zone, m->kind, false);
    }
}

static bool takes(const struct machine *m, const struct drawn_pod *p)
{
    return m->room >= p->cpu && (p->zone == ANYWHERE || p->zone == m->zone) &&
           (p->kind == ANYWHERE || p->kind == m->kind) && (!m->tainted || p->tolerates) &&
           !(m->picky && p->picky) && !(p->crowds && m->crowd >= CROWD);
}

static void put_on(struct machine *m, const struct drawn_pod *p)
{
    m->room -= p->cpu;
    m->picky |= p->picky;
    m->crowd += p->crowds;
}

static bool draw_rules(struct drawn_pod *p, unsigned rules)
{
    p->spreads = rules == 1 || rules == 2;
    p->crowds = rules == 2 || rules == 3;
    p->picky = rules == 4;
    if (p->spreads) /* nodes that they cannot go to would not count */
        p->kind = p->zone = ANYWHERE;
    return p->spreads;
}

static void draw_pods(struct drawn *d)
{
    struct machine left[NODES];
    memcpy(left, d->nodes, sizeof(left));
    d->pod_count = 1 + (int)draw(PODS);
    for (int i = 0; i < d->pod_count; i++) {
        struct drawn_pod *p = &d->pods[i];
        *p = (struct drawn_pod){.size = (int)draw(SIZES), .on = -1,
                          .zone = PICK(ANYWHERE, ANYWHERE, ANYWHERE, 0, 1),
                          .kind = PICK(ANYWHERE, ANYWHERE, ANYWHERE, 0, 1),
                          .tolerates = draw(5) < 2};
        if (draw_rules(p, draw(6)) && i != 0 && d->pods[i - 1].spreads) /* one class, often */
            *p = d->pods[i - 1];
        p->on = -1;
        p->cpu = (const int[SIZES]){200, 500, 700, 900, 1500, 2500}[p->size];
        snprintf(p->name, sizeof(p->name), "a%d", i);
        for (int n = 0; draw(2) == 0 && p->on < 0 && n < d->node_count; n++)
            if (takes(&left[n], p)) {
                p->on = n;
                put_on(&left[n], p);
            }
    }
}

static void draw_cluster(struct drawn *d, uint64_t seed)
{
    state_of = seed;
    *d = (struct drawn){.types = 1 + (int)draw(TYPES), .tainted_pool = draw(5) < 2};
    for (int t = 0; t < d->types; t++) {
        d->cpu[t] = PICK(1, 2, 3, 4, 8);
        for (int z = 0; z < ZONES; z++)
            for (int k = 0; k < KINDS; k++)
                d->price[t][z][k] = d->cpu[t] * (50 + (int)draw(100)) / 100.0;
    }
    d->daemon = PICK(0, 0, 100, 300, 500);
    d->daemon_zone = PICK(ANYWHERE, ANYWHERE, 0, 1);
    d->daemon_kind = PICK(ANYWHERE, ANYWHERE, 0, 1);
    draw_nodes(d);
    draw_pods(d);
}

/* --- the same as objects --- */

static void put_types(const struct drawn *d, struct buf *b)
{
    buf_addf(b, "---\nkind: InstanceTypes\nitems:\n");
    for (int t = 0; t < d->types; t++) {
        buf_addf(b, "- {name: t%d, resources: {cpu: %d, memory: 64Gi, pods: 10}, labels: "
                    "{kubernetes.io/arch: amd64, kubernetes.io/os: linux}, offerings: [", t,
                 d->cpu[t]);
        for (int z = 0; z < ZONES; z++)
            for (int k = 0; k < KINDS; k++)
                buf_addf(b, "%s{zone: %s, capacity: %s, price: %.4f}", z + k != 0 ? ", " : "",
                         zone_names[z], kind_names[k], d->price[t][z][k]);
        buf_addf(b, "]}\n");
    }
}

static void put_pools(const struct drawn *d, struct buf *b)
{
    buf_addf(b, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {weight: 1, "
                "template: {spec: {requirements: []}}}\n");
    if (d->tainted_pool)
        buf_addf(b, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: q}\nspec: "
                    "{template: {spec: {taints: [{key: k, value: v, effect: NoSchedule}], "
                    "requirements: [{key: " ZONE ", operator: In, values: [z1]}]}}}\n");
}

static void put_selector(struct buf *b, int zone, int kind)
{
    if (zone != ANYWHERE || kind != ANYWHERE)
        buf_addf(b, ", nodeSelector: {%s%s%s%s%s}", zone != ANYWHERE ? ZONE ": " : "",
                 zone != ANYWHERE ? zone_names[zone] : "",
                 zone != ANYWHERE && kind != ANYWHERE ? ", " : "",
                 kind != ANYWHERE ? CAPACITY ": " : "", kind != ANYWHERE ? kind_names[kind] : "");
}

static void put_node(const struct drawn *d, struct buf *b, int i)
{
    const struct machine *m = &d->nodes[i];
    struct buf labels = {0};
    buf_addf(&labels, ZONE ": %s, " CAPACITY ": %s", zone_names[m->zone], kind_names[m->kind]);
    if (d->managed[i])
        buf_addf(&labels, ", node.kubernetes.io/instance-type: t%d, karpenter.sh/nodepool: p, "
                          "karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"",
                 d->type_of[i]);
    buf_addf(b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d, labels: {%.*s}}\nspec: "
                "{providerID: \"x://%d\"}\nstatus: {allocatable: {cpu: %d, memory: 64Gi, pods: 10}, "
                "capacity: {cpu: %d, memory: 64Gi, pods: 10}}\n", i, SPAN_ARG(buf_span(&labels)), i,
             d->cpu[d->type_of[i]], d->cpu[d->type_of[i]]);
    if (d->managed[i])
        buf_addf(b, "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n%d, labels: "
                    "{%.*s}}\nspec: {}\nstatus: {nodeName: n%d, providerID: \"x://%d\", allocatable: "
                    "{cpu: %d, memory: 64Gi, pods: 10}}\n", i, SPAN_ARG(buf_span(&labels)), i, i,
                 d->cpu[d->type_of[i]]);
    buf_release(&labels);
}

static void put_spreads(struct buf *b, const struct drawn_pod *p)
{
    if (p->spreads || p->crowds)
        buf_addf(b, ", topologySpreadConstraints: [");
    if (p->spreads)
        buf_addf(b, "{maxSkew: 1, topologyKey: " CAPACITY ", whenUnsatisfiable: DoNotSchedule, labelSelector: "
                    "{matchLabels: {spreads: s%d}}}%s", p->size, p->crowds ? ", " : "");
    if (p->crowds)
        buf_addf(b, "{maxSkew: %d, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, "
                    "labelSelector: {matchLabels: {crowds: \"yes\"}}}", CROWD);
    if (p->spreads || p->crowds)
        buf_addf(b, "]");
}

static void put_pod(struct buf *b, const struct drawn_pod *p)
{
    buf_addf(b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {picky: %s, crowds: %s, spreads: %c%d}, "
                "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: r, controller: "
                "true}]}\nspec: {containers: [{name: c, resources: {requests: {cpu: %dm}}}]", p->name,
             p->picky ? "very" : "not", p->crowds ? "\"yes\"" : "\"no\"", p->spreads ? 's' : 'n', p->size, p->cpu);
    put_spreads(b, p);
    put_selector(b, p->zone, p->kind);
    if (p->tolerates)
        buf_addf(b, ", tolerations: [{key: k, operator: Exists}]");
    if (p->picky)
        buf_addf(b, ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {picky: "
                    "very}}}]}}");
    if (p->on >= 0)
        buf_addf(b, ", nodeName: n%d}\nstatus: {phase: Running}\n", p->on);
    else
        buf_addf(b, "}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "
                    "reason: Unschedulable}]}\n");
}

static void put_cluster(const struct drawn *d, struct cluster *c)
{
    struct buf b = {0};
    put_types(d, &b);
    put_pools(d, &b);
    if (d->daemon != 0) {
        buf_addf(&b, "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {selector: "
                     "{}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
                     "%dm}}}]", d->daemon);
        put_selector(&b, d->daemon_zone, d->daemon_kind);
        buf_addf(&b, "}}}\n");
    }
    for (int i = 0; i < d->node_count; i++)
        put_node(d, &b, i);
    for (int i = 0; i < d->pod_count; i++)
        put_pod(&b, &d->pods[i]);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

/* --- every fleet tried --- */

struct search {
    const struct drawn *d;
    struct machine list[MACHINES]; /* unmanaged nodes, then what was taken */
    int count;
    bool used[NODES];
    int spread[SIZES][KINDS]; /* pods that spread */
    bool free;                /* spreads are of no account */
    double best;
};

static void place(struct search *s, int pod, double price);

static void take(struct search *s, int at, int pod, double price)
{
    struct machine before = s->list[at];
    const struct drawn_pod *p = &s->d->pods[pod];
    put_on(&s->list[at], p);
    s->spread[p->size][before.kind] += p->spreads;
    place(s, pod + 1, price);
    s->spread[p->size][before.kind] -= p->spreads;
    s->list[at] = before;
}

/* As they could come one after the other: neither kind of capacity has two more than the other. */
static bool is_balanced(const struct search *s)
{
    for (int i = 0; i < SIZES && !s->free; i++)
        if (abs(s->spread[i][0] - s->spread[i][1]) > 1)
            return false;
    return true;
}

/* On a machine more. */
static void add(struct search *s, struct machine m, int pod, double price)
{
    if (!takes(&m, &s->d->pods[pod]))
        return;
    s->list[s->count++] = m;
    take(s, s->count - 1, pod, price + m.price);
    s->count--;
}

static void buy(struct search *s, int pod, double price, bool tainted)
{
    const struct drawn *d = s->d;
    for (int t = 0; t < d->types; t++)
        for (int z = 0; z < (tainted ? 1 : ZONES); z++)
            for (int k = 0; k < KINDS; k++)
                add(s, (struct machine){.room = d->cpu[t] * 1000 - daemon_at(d, z, k, tainted),
                                        .zone = z, .kind = k, .price = d->price[t][z][k],
                                        .tainted = tainted}, pod, price);
}

static void place(struct search *s, int pod, double price)
{
    const struct drawn *d = s->d;
    while (pod < d->pod_count && !d->pods[pod].asked)
        pod++;
    if (price >= s->best)
        return;
    if (pod == d->pod_count) {
        s->best = is_balanced(s) ? price : s->best;
        return;
    }
    for (int i = 0; i < s->count; i++)
        if (takes(&s->list[i], &d->pods[pod]))
            take(s, i, pod, price);
    for (int n = 0; n < d->node_count; n++) {
        if (!d->managed[n] || s->used[n])
            continue;
        s->used[n] = true;
        add(s, d->nodes[n], pod, price);
        s->used[n] = false;
    }
    buy(s, pod, price, false);
    if (d->tainted_pool)
        buy(s, pod, price, true);
}

static bool is_placed(const struct plan *p, const char *name)
{
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (span_eq(p->unschedulable[i].pod->meta.name, span_of(name)))
            return false;
    return true;
}

/* INFINITY: some pod fits nowhere. */
static double least_price(struct drawn *d, const struct plan *p, bool free)
{
    struct search s = {.d = d, .best = INFINITY, .free = free};
    for (int i = 0; i < d->node_count; i++)
        if (!d->managed[i])
            s.list[s.count++] = d->nodes[i];
    for (int i = 0; i < d->pod_count; i++) {
        struct drawn_pod *pod = &d->pods[i];
        bool stays = pod->on >= 0 && !d->managed[pod->on];
        pod->asked = !stays && (pod->on >= 0 || is_placed(p, pod->name));
        for (int n = 0, at = 0; stays && n < d->node_count; at += !d->managed[n++])
            if (n == pod->on) {
                put_on(&s.list[at], pod);
                s.spread[pod->size][d->nodes[n].kind] += pod->spreads;
            }
    }
    place(&s, 0, 0);
    return s.best;
}

static void never_above_the_least(void **state)
{
    (void)state;
    unsigned possible = 0, near = 0, told_apart = 0, forced = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct drawn d;
        struct cluster c;
        draw_cluster(&d, seed);
        cluster_init(&c);
        put_cluster(&d, &c);
        c.plan_options.search = seed % 2 == 0 ? SEARCH_CHEAPEST : SEARCH_GREEDY;
        const struct plan *p = cluster_plan(&c);
        double least = least_price(&d, p, false);
        if (least < (double)INFINITY) {
            possible++;
            if (p->lower_bound > least * (1 + 1e-9) || p->lower_bound > p->cost_after * (1 + 1e-9))
                fail_msg("seed %llu: bound %.9g, least price %.9g, planned %.9g",
                         (unsigned long long)seed, p->lower_bound, least, p->cost_after);
            near += p->lower_bound >= 0.8 * least;
            forced += p->lower_bound > least_price(&d, p, true) * (1 + 1e-9);
            d.daemon_zone = d.daemon_kind = ANYWHERE;
            told_apart += least < least_price(&d, p, false);
        }
        cluster_release(&c);
    }
    assert_true(possible > 500);
    assert_true(near > possible / 2);
    assert_true(forced > 10);     /* more than they cost who do not spread */
    assert_true(told_apart > 15); /* where a DaemonSet that selects is counted everywhere */
}

/* The rack is the claim's to choose, and in r2 one node holds both pods. */
static void a_daemon_of_a_rack(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, "kind: InstanceTypes\nitems:\n"
                    "- {name: cheap, resources: {cpu: 1, memory: 8Gi, pods: 10}, offerings: [{zone: z1, "
                    "capacity: on-demand, price: 1.0}]}\n"
                    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: "
                    "{spec: {requirements: [{key: rack, operator: In, values: [r1, r2]}]}}}\n"
                    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {selector: {}, "
                    "template: {spec: {nodeSelector: {rack: r1}, containers: [{name: c, resources: "
                    "{requests: {cpu: 100m}}}]}}}\n");
    for (int i = 0; i < 2; i++) {
        struct drawn_pod p = {.cpu = 500, .zone = ANYWHERE, .kind = ANYWHERE, .on = -1};
        struct buf b = {0};
        snprintf(p.name, sizeof(p.name), "a%d", i);
        put_pod(&b, &p);
        cluster_add(&c, b.ptr);
        buf_release(&b);
    }
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_true(p->lower_bound <= 1 + 1e-9 && p->lower_bound >= 1 - 1e-6);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(never_above_the_least),
                                       cmocka_unit_test(a_daemon_of_a_rack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
