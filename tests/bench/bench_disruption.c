/* bench_disruption: what it costs to ask what if nodes were gone (planner/disruption/simulate.h).
 *
 *   bench_disruption [WORD]   (only the rows whose name has the word in it)
 *
 * Of each question asked over and over, microseconds in the mean and of the slowest hundredth, and what the simulator
 * keeps more of memory at the end than when each node had been asked about once; of a sweep (each node once, alone) seconds, and MiB of
 * world and simulator; of a decision also the world. Clusters: machines of 16 CPUs, pods of 200 shapes, every tenth
 * pod of those that state rules. Exit status 1 when a goal is missed. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "planner/disruption/disruption.h"
#include "planner/disruption/simulate.h"
#include "tests/planner/support_cluster.h"

enum { SHAPES = 200, TYPES = 40, LIMIT_S = 120, CPUS = 16, WORDS = (SHAPES + 63) / 64 };
#define NOW INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */

/* --- clusters --- */

struct fleet {
    const char *name;
    uint32_t nodes, pods;
    uint32_t fill_percent;  /* of a machine, in the mean */
    bool packed;            /* no machine has room for even the smallest pod */
    bool rules;             /* a tenth spreads over zones, a tenth keeps apart by hostname */
    uint32_t pending;       /* pods that fit nowhere */
};

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

/* Milli-CPUs of a shape; their mean fills the machines. */
static uint32_t shape_cpu(const struct fleet *f, uint32_t shape)
{
    uint32_t mean = CPUS * 10 * f->fill_percent * f->nodes / f->pods;
    return mean / 4 + (shape * 37 % SHAPES) * mean * 3 / 2 / SHAPES;
}

static void add_pool(struct cluster *c)
{
    cluster_types_c1(c, TYPES);
    cluster_add(c, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n"
                   "  disruption: {consolidateAfter: 30s}\n"
                   "  template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
                   "requirements: []}}\n");
}

static void add_nodes(struct cluster *c, uint32_t count)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < count; i++) {
        static const char room[] = "{cpu: \"16\", memory: 32Gi, pods: \"160\"}";
        buf_addf(&b, "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n%05u, labels: "
                     "{karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: fake-it-15, "
                     "topology.kubernetes.io/zone: test-zone-%u, karpenter.sh/capacity-type: on-demand}}\nspec: {}\n"
                     "status: {providerID: \"x://%u\", capacity: %s, allocatable: %s, conditions: [{type: Initialized, "
                     "status: \"True\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}, {type: Consolidatable, status: "
                     "\"True\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}\n", i, 1 + i % 3, i, room, room);
        buf_addf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%05u, labels: {karpenter.sh/nodepool: general, "
                     "node.kubernetes.io/instance-type: fake-it-15, topology.kubernetes.io/zone: test-zone-%u, "
                     "karpenter.sh/capacity-type: on-demand, kubernetes.io/hostname: n%05u, kubernetes.io/arch: amd64, "
                     "kubernetes.io/os: linux, karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\n"
                     "spec: {providerID: \"x://%u\"}\nstatus: {capacity: %s, allocatable: %s, conditions: [{type: Ready, status: "
                     "\"True\"}]}\n",
                 i, 1 + i % 3, i, i, room, room);
    }
    cluster_add(c, b.ptr);
    buf_release(&b);
}

enum rule { NO_RULE, BY_ZONE, BY_HOST };

static enum rule rule_of(const struct fleet *f, uint32_t shape)
{
    return !f->rules || shape % 10 > 1 ? NO_RULE : shape % 10 == 0 ? BY_ZONE : BY_HOST;
}

static void put_rules(struct buf *b, enum rule rule, uint32_t shape)
{
    if (rule == BY_ZONE)
        buf_addf(b, "  topologySpreadConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, "
                    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a%u}}}]\n", shape);
    if (rule == BY_HOST)
        buf_addf(b, "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a%u}}}]}}\n", shape);
}

/* The first of each shape, which stands nowhere yet; the last is larger than any machine. */
static void add_shapes(struct cluster *c, const struct fleet *f)
{
    struct buf b = {0};
    for (uint32_t i = 0; i <= SHAPES; i++) {
        buf_addf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: s%u, namespace: shop, uid: s%u, labels: "
                     "{app: a%u}}\nstatus: {phase: Running}\nspec:\n  containers: [{name: c, resources: {requests: "
                     "{cpu: %um, memory: %uMi}}}]\n", i, i, i, i < SHAPES ? shape_cpu(f, i) : 1000000, shape_cpu(f, i) / 2);
        put_rules(&b, rule_of(f, i), i);
    }
    cluster_add(c, b.ptr);
    buf_release(&b);
}

struct filling {
    struct cluster *c;
    const struct fleet *f;
    const void **shapes;
    uint32_t by_zone[SHAPES][3];
    uint32_t number;
};

static void put_pod(struct filling *x, uint32_t shape, uint32_t node, bool pending)
{
    struct cluster *c = x->c;
    struct cluster_list *l = &c->kinds[KIND_POD];
    struct pod *p = ARENA_NEW(&c->arena, struct pod);
    char name[16];
    snprintf(name, sizeof(name), "n%05u", node);
    *p = *(const struct pod *)x->shapes[shape];
    p->meta.name = arena_printf(&c->arena, "web-7d9c5b6f4-%06u", x->number);
    p->meta.uid = arena_printf(&c->arena, "5f0e6d1c-0000-4000-8000-%012u", x->number++);
    p->node = pending ? SYM_NONE : sym_intern(c->syms, span_of(name));
    p->phase = pending ? POD_PENDING : POD_RUNNING;
    p->unschedulable = pending;
    ARENA_PUSH(&c->arena, l->items, l->count, l->capacity, p);
}

static bool may_stand(struct filling *x, uint32_t shape, uint32_t zone, const uint64_t here[WORDS])
{
    uint32_t *n = x->by_zone[shape], least = n[0] < n[1] ? n[0] : n[1];
    least = n[2] < least ? n[2] : least;
    if (rule_of(x->f, shape) == BY_HOST && (here[shape / 64] >> shape % 64 & 1) != 0)
        return false;
    return rule_of(x->f, shape) != BY_ZONE || n[zone] + 1 - least <= 2;
}

/* Up to so many milli-CPUs, or until nothing fits any more. */
static void fill_node(struct filling *x, uint32_t node)
{
    enum { TRIES = 400 };
    uint64_t here[WORDS] = {0};
    uint32_t mean = CPUS * 10 * x->f->fill_percent;
    uint32_t room = x->f->packed ? CPUS * 1000 : mean - mean / 6 + draw(mean / 3);
    for (uint32_t tries = 0; tries < TRIES; tries++) {
        uint32_t shape = draw(SHAPES), cpu = shape_cpu(x->f, shape);
        if (cpu > room || !may_stand(x, shape, node % 3, here))
            continue;
        here[shape / 64] |= UINT64_C(1) << shape % 64;
        x->by_zone[shape][node % 3]++;
        put_pod(x, shape, node, false);
        room -= cpu;
    }
}

static void make(struct cluster *c, const struct fleet *f)
{
    cluster_init(c);
    add_pool(c);
    add_nodes(c, f->nodes);
    add_shapes(c, f);
    struct filling x = {.c = c, .f = f, .shapes = c->kinds[KIND_POD].items};
    c->kinds[KIND_POD].items = NULL;
    c->kinds[KIND_POD].count = c->kinds[KIND_POD].capacity = 0;
    for (uint32_t i = 0; i < f->nodes; i++)
        fill_node(&x, i);
    for (uint32_t i = 0; i < f->pending; i++)
        put_pod(&x, SHAPES, 0, true);
    c->plan_options.now = NOW;
}

/* --- questions --- */

struct outcome { /* what the process that asks tells */
    double us, slow_us;         /* of a question */
    double seconds;             /* of all of them, and of what else the row counts */
    double kib_more;            /* kept by the simulator since each was asked once */
    double mib;                 /* of memory, of world and simulator */
    uint32_t pods;              /* of the cluster */
    uint32_t asked, deleted, replaced, without;
};

static double clock_us(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double cpu_us(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

static double mib_now(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void ask(struct simulator *s, const uint32_t *rows, uint32_t count, struct outcome *o)
{
    struct simulation_question q = {.rows = rows, .count = count, .why = REMOVAL_CONSOLIDATION};
    struct simulation x = simulate(s, &q);
    bool placed = x.outcome == SIMULATED_PLACED;
    o->asked++;
    o->deleted += placed && x.claims == 0;
    o->replaced += placed && x.claims == 1;
    o->without += !placed || x.claims > 1;
}

static int by_number(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void sweep(struct simulator *s, const struct fleet *f, struct outcome *o)
{
    for (uint32_t row = 0; row < f->nodes; row++)
        ask(s, &row, 1, o);
}

/* Each once first, which is not counted. */
static void ask_often(struct simulator *s, const struct fleet *f, uint32_t times, struct outcome *o)
{
    struct outcome first;
    float *took = mem_array(times, sizeof(*took));
    sweep(s, f, &first);
    size_t kept = simulator_memory(s);
    double begin = cpu_us(), last = clock_us(CLOCK_MONOTONIC); /* that of the CPU is too coarse for one */
    for (uint32_t i = 0; i < times; i++) {
        uint32_t row = draw(f->nodes);
        ask(s, &row, 1, o);
        double now = clock_us(CLOCK_MONOTONIC);
        took[i] = (float)(now - last);
        last = now;
    }
    qsort(took, times, sizeof(*took), by_number);
    o->us = (cpu_us() - begin) / times;
    o->slow_us = took[times / 100 * 99];
    o->kib_more = ((double)simulator_memory(s) - (double)kept) / 1024;
    free(took);
}

/* As upstream looks for several at once: the longest prefix of the first hundred that can go with nothing in its place
 * (8.4); then one by one. */
static void decide(struct simulator *s, const struct fleet *f, struct outcome *o)
{
    enum { MOST = 100 };
    uint32_t rows[MOST], low = 2, high = MOST, found = 0;
    for (uint32_t i = 0; i < MOST; i++)
        rows[i] = i * 7919 % f->nodes;
    while (low <= high) {
        uint32_t mid = (low + high) / 2;
        uint32_t before = o->deleted;
        ask(s, rows, mid, o);
        if (o->deleted != before) {
            found = mid;
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    for (uint32_t i = 0; found == 0 && i < f->nodes; i++)
        ask(s, &i, 1, o); /* it would be no cheaper: every machine is of the size that its pods need */
}

/* --- rows: goals of time for a decision are a three hundredth of the 6.8 s that Karpenter takes --- */

enum what { OFTEN, SWEEP, DECIDE, WHOLE_GREEDY, WHOLE_CHEAPEST };

static const struct row {
    struct fleet fleet;
    enum what what;
    uint32_t times;
    double most_us, most_s, most_mib; /* goals; 0: none */
} rows[] = {
    {{"a node goes, others have room", 5000, 100000, 75, false, false, 0}, OFTEN, 1000000, 20, 0, 0},
    {{"a node goes, another is bought", 5000, 100000, 100, true, false, 0}, OFTEN, 100000, 20, 0, 0},
    {{"a node goes, a fifth of its pods state rules", 5000, 100000, 75, false, true, 0}, OFTEN, 100000, 0, 0, 0},
    {{"a node goes, 1,000 pods wait for nothing", 5000, 100000, 75, false, false, 1000}, OFTEN, 10000, 0, 0, 0},
    {{"sweep, others have room", 5000, 100000, 75, false, false, 0}, SWEEP, 0, 0, 1, 256},
    {{"sweep, another is bought", 5000, 100000, 100, true, false, 0}, SWEEP, 0, 0, 1, 256},
    {{"sweep, a fifth of the pods state rules", 5000, 100000, 75, false, true, 0}, SWEEP, 0, 0, 1, 256},
    {{"first decision, 1,000 nodes / 11,756 pods", 1000, 11756, 75, false, false, 0}, DECIDE, 0, 0, 0.0226, 0},
    {{"first decision, a fifth of the pods state rules", 1000, 11756, 75, false, true, 0}, DECIDE, 0, 0, 0.0226, 0},
    {{"no decision: each would need another", 1000, 11756, 100, true, false, 0}, DECIDE, 0, 0, 0.0226, 0},
    {{"whole decision, greedy", 1000, 11756, 75, false, false, 0}, WHOLE_GREEDY, 0, 0, 0, 0},
    {{"whole decision, cheapest", 1000, 11756, 75, false, false, 0}, WHOLE_CHEAPEST, 0, 0, 0, 0},
    {{"whole decision of 5,000 nodes, greedy", 5000, 100000, 75, false, false, 0}, WHOLE_GREEDY, 0, 0, 0, 0},
    {{"whole decision of 5,000 nodes, cheapest", 5000, 100000, 75, false, false, 0}, WHOLE_CHEAPEST, 0, 0, 0, 0},
    {{"whole decision, all stay, greedy", 1000, 11756, 100, true, false, 0}, WHOLE_GREEDY, 0, 0, 0, 0},
    {{"whole decision, all stay, cheapest", 1000, 11756, 100, true, false, 0}, WHOLE_CHEAPEST, 0, 0, 0, 0},
};

/* All that a pass asks, from its candidates to the command with its plan; `asked` are nodes that go. */
static void decide_whole(const struct world *w, struct cluster *c, enum search_kind search, struct outcome *o)
{
    c->plan_options.search = search;
    struct disruption_options options = {.plan = &c->plan_options};
    struct disruption *d = disruption_decide(w, &options);
    for (uint32_t i = 0; i < d->command_count; i++) {
        o->asked += d->commands[i].count;
        o->deleted += d->commands[i].decision == DECIDE_DELETE ? d->commands[i].count : 0;
        o->replaced += d->commands[i].decision == DECIDE_REPLACE ? d->commands[i].count : 0;
    }
    disruption_free(d);
}

static struct outcome run(const struct row *r, struct cluster *c)
{
    struct outcome o = {.pods = (uint32_t)c->kinds[KIND_POD].count};
    double mib = mib_now();
    struct world_input in = cluster_input(c);
    struct world *w = world_build(&in);
    c->plan_options.search = SEARCH_GREEDY;
    double begin = cpu_us();
    struct simulator *s = simulator_new(w, &c->plan_options);
    switch (r->what) {
    case OFTEN:
        ask_often(s, &r->fleet, r->times, &o);
        break;
    case SWEEP:
        sweep(s, &r->fleet, &o);
        break;
    case DECIDE:
        decide(s, &r->fleet, &o);
        break;
    case WHOLE_GREEDY:
    case WHOLE_CHEAPEST:
        decide_whole(w, c, r->what == WHOLE_GREEDY ? SEARCH_GREEDY : SEARCH_CHEAPEST, &o);
        break;
    }
    o.seconds = (cpu_us() - begin) / 1e6;
    o.mib = mib_now() - mib;
    return o;
}

/* In a process of its own, which is ended when it takes too long. */
static bool measure(const struct row *r, struct outcome *out)
{
    struct cluster c;
    int channel[2];
    state = 1;
    make(&c, &r->fleet);
    if (pipe(channel) != 0)
        exit(2);
    malloc_trim(0); /* what the input left free is not there for the child */
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){LIMIT_S, LIMIT_S});
        struct outcome o = run(r, &c);
        _exit(write(channel[1], &o, sizeof(o)) != (ssize_t)sizeof(o));
    }
    close(channel[1]);
    bool ended = read(channel[0], out, sizeof(*out)) == (ssize_t)sizeof(*out);
    close(channel[0]);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        exit(2);
    cluster_release(&c);
    return ended;
}

static bool tell(const struct row *r)
{
    struct outcome o;
    printf("%-50s", r->fleet.name);
    fflush(stdout);
    if (!measure(r, &o)) {
        printf(" more than %d s of CPU  MISSED\n", LIMIT_S);
        return false;
    }
    bool good = (r->most_us == 0 || o.us <= r->most_us) && (r->most_s == 0 || o.seconds <= r->most_s) &&
                (r->most_mib == 0 || o.mib <= r->most_mib) && (r->what != OFTEN || o.kib_more <= 0);
    if (r->what == OFTEN)
        printf(" %9.1f us  p99 %9.1f us  kept %+.0f KiB", o.us, o.slow_us, o.kib_more);
    else
        printf(" %9.4f s", o.seconds);
    printf("  %4.0f MiB  %u pods, %u asked: %u go, %u for one, %u stay", o.mib, o.pods, o.asked, o.deleted, o.replaced,
           o.without);
    if (r->most_us != 0)
        printf("  goal %.0f us", r->most_us);
    if (r->most_s != 0)
        printf("  goal %g s", r->most_s);
    if (r->most_mib != 0)
        printf(", %.0f MiB", r->most_mib);
    printf("%s\n", good ? "" : "  MISSED");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (argc < 2 || strstr(rows[i].fleet.name, argv[1]) != NULL)
            good &= tell(&rows[i]);
    return good ? 0 : 1;
}
