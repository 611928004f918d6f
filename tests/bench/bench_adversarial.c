/* bench_adversarial: inputs that one tenant can create, and that must not make the planner slow.
 *
 *   bench_adversarial [WORD]   (only the rows whose name has the word in it)
 *
 * Of each: milliseconds of CPU for world and plan with the default search, what memory they take at most
 * beside the input, how many steps, and the goal; of a row that is to cost no more than so many times another
 * one, also that ratio. Each is planned in a process of its own, which is ended after LIMIT_S seconds. Exit
 * status 1 when a goal is missed. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kube/object_bounds.h"
#include "tests/planner/support_cluster.h"

enum { LIMIT_S = 20 };

#define POD_HEAD                                                                                   \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%05u, namespace: default"
#define POD_BODY                                                                                   \
    "}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "           \
    "reason: Unschedulable}]}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 100m, " \
    "memory: 64Mi}}}]\n"

static const char pool_yaml[] =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n"
    "  template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
    "requirements: [";

/* A pool, with these requirements or with none. */
static void add_pool(struct cluster *c, const char *requirements)
{
    struct buf b = {0};
    buf_addf(&b, "%s%s]}}\n", pool_yaml, requirements);
    cluster_types_c1(c, 20);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

static void add(struct cluster *c, struct buf *b)
{
    cluster_add(c, b->ptr);
    buf_release(b);
}

/* The last pod, so many times in all; a pod is the same but for its name. */
static void repeat(struct cluster *c, unsigned count)
{
    struct cluster_list *l = &c->kinds[KIND_POD];
    for (unsigned i = 1; i < count; i++) {
        struct pod *p = ARENA_NEW(&c->arena, struct pod);
        *p = *(const struct pod *)l->items[0];
        p->meta.name = p->meta.uid = arena_printf(&c->arena, "q%05u", i);
        ARENA_PUSH(&c->arena, l->items, l->count, l->capacity, p);
    }
}

static void plain(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, POD_HEAD ", labels: {app: web, id: i%u}" POD_BODY, i, i);
    add(c, &b);
}

/* --- spread --- */

static void three_keys(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    for (unsigned k = 0; k < 3; k++) {
        buf_addf(&b, "%s{key: example.com/k%u, operator: In, values: [", k != 0 ? ", " : "", k);
        for (unsigned v = 0; v < 100; v++)
            buf_addf(&b, "%sv%u", v != 0 ? ", " : "", v);
        buf_addf(&b, "]}");
    }
    add_pool(c, b.ptr);
    buf_release(&b);
    for (unsigned i = 0; i < count; i++) {
        buf_addf(&b, POD_HEAD ", labels: {app: web}" POD_BODY "  topologySpreadConstraints:\n", i);
        for (unsigned k = 0; k < 3; k++)
            buf_addf(&b, "  - {maxSkew: 1, topologyKey: example.com/k%u, whenUnsatisfiable: DoNotSchedule, "
                         "labelSelector: {matchLabels: {app: web}}}\n", k);
        buf_addf(&b, "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                     "[{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}\n");
    }
    add(c, &b);
}

static void over_domains(struct cluster *c, unsigned domains)
{
    enum { SIZE = 2000 };
    struct buf b = {0};
    add_pool(c, "");
    for (unsigned i = 0; i < SIZE; i++)
        buf_addf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%04u, labels: {rack: r%u}}\n"
                     "status: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"20\"}, allocatable: {cpu: \"4\", "
                     "memory: 8Gi, pods: \"20\"}, conditions: [{type: Ready, status: \"True\"}]}\n",
                 i, i % domains);
    buf_addf(&b, POD_HEAD ", labels: {app: web}" POD_BODY
                 "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: "
                 "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]\n", 0);
    add(c, &b);
    repeat(c, SIZE);
}

/* --- affinity --- */

static void preferred_terms(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    buf_addf(&b, POD_HEAD POD_BODY "  affinity: {podAntiAffinity: {"
             "preferredDuringSchedulingIgnoredDuringExecution: [", 0);
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "%s{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: "
                     "{matchLabels: {app: a%u}}}}", i != 0 ? ", " : "", i);
    buf_addf(&b, "]}}\n");
    add(c, &b);
}

/* Each pod keeps off one other: by a selector of its own. */
static void selectors(struct cluster *c, unsigned count, const char *selector)
{
    struct buf b = {0};
    add_pool(c, "");
    for (unsigned i = 0; i < count; i++) {
        buf_addf(&b, POD_HEAD ", labels: {app: web, id: i%u}" POD_BODY "  affinity: {podAntiAffinity: {"
                     "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                     "kubernetes.io/hostname, labelSelector: {", i, i);
        buf_addf(&b, selector, i);
        buf_addf(&b, "}}]}}\n");
    }
    add(c, &b);
}

static void own_selectors(struct cluster *c, unsigned count)
{
    selectors(c, count, "matchLabels: {id: i%u}");
}

static void shared_first_label(struct cluster *c, unsigned count)
{
    selectors(c, count, "matchLabels: {app: web, id: i%u}");
}

static void only_expressions(struct cluster *c, unsigned count)
{
    selectors(c, count, "matchExpressions: [{key: id, operator: In, values: [i%u]}]");
}

static void apart_by_hostname(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    buf_addf(&b, POD_HEAD ", labels: {app: web}" POD_BODY "  affinity: {podAntiAffinity: {"
                 "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
                 "labelSelector: {matchLabels: {app: web}}}]}}\n", 0);
    add(c, &b);
    repeat(c, count);
}

/* --- other lists of one pod --- */

/* Terms of node affinity, each of which is stated with the whole node selector. */
static void terms_and_selector(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    buf_addf(&b, POD_HEAD POD_BODY "  nodeSelector: {", 0);
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "%sl%u: x", i != 0 ? ", " : "", i);
    buf_addf(&b, "}\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [");
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "%s{matchExpressions: [{key: t%u, operator: Exists}]}", i != 0 ? ", " : "", i);
    buf_addf(&b, "]}}}\n");
    add(c, &b);
}

/* Each pod so many, all on other addresses: no two pods are in each other's way. */
static void host_ports(struct cluster *c, unsigned count)
{
    enum { PODS = 50 };
    struct buf b = {0};
    add_pool(c, "");
    for (unsigned i = 0; i < PODS; i++) {
        buf_addf(&b, POD_HEAD "}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "
                 "reason: Unschedulable}]}\nspec:\n  containers: [{name: c, ports: [", i);
        for (unsigned n = 0; n < count; n++)
            buf_addf(&b, "%s{containerPort: 1, hostPort: %u, hostIP: 10.0.0.%u}", n != 0 ? ", " : "", n + 1, i);
        buf_addf(&b, "]}]\n");
    }
    add(c, &b);
}

static void add_nodes(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%04u, labels: {"
                     "kubernetes.io/hostname: n%04u, example.com/n: n%04u}}\n"
                     "spec: {taints: [{key: a, value: b, effect: NoSchedule}]}\n"
                     "status: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"20\"}, allocatable: {cpu: \"4\", "
                     "memory: 8Gi, pods: \"20\"}, conditions: [{type: Ready, status: \"True\"}]}\n", i, i, i);
    add(c, &b);
}

/* None of which is for the taint of 2,000 nodes, no two of which look alike. */
static void tolerations(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    add_nodes(c, 2000);
    buf_addf(&b, POD_HEAD POD_BODY "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: example.com/n, operator: Exists}]}]}}}\n"
                 "  tolerations: [", 0);
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "%s{key: a, operator: Equal, value: v%u, effect: NoSchedule}", i != 0 ? ", " : "", i);
    buf_addf(&b, "]\n");
    add(c, &b);
}

static void node_terms(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    add_nodes(c, 2000);
    buf_addf(&b, POD_HEAD POD_BODY "  tolerations: [{operator: Exists}]\n  affinity: {nodeAffinity: "
                 "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [", 0);
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "%s{matchExpressions: [{key: example.com/n, operator: In, values: [x%u]}]}",
                 i != 0 ? ", " : "", i);
    buf_addf(&b, "]}}}\n");
    add(c, &b);
}

/* A resource name a pod, of those that nothing sells. */
static void resource_names(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, POD_HEAD "}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "
                     "reason: Unschedulable}]}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1, "
                     "example.com/r%u: 1}, limits: {example.com/r%u: 1}}}]\n", i, i, i);
    add(c, &b);
}

/* Each pod's own rule that all but one count for. */
static void broad_selectors(struct cluster *c, unsigned count)
{
    selectors(c, count, "matchExpressions: [{key: id, operator: NotIn, values: [i%u]}]");
}

static void topology_keys(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    add_nodes(c, 2000);
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, POD_HEAD ", labels: {app: web}" POD_BODY "  tolerations: [{operator: Exists}]\n"
                     "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: example.com/k%u, whenUnsatisfiable: "
                     "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]\n", i, i);
    add(c, &b);
}

/* Each pod is as large as it may be, and has topology keys of its own. */
static void put_pods_of_keys(struct cluster *c, unsigned pods, bool one_label)
{
    enum { EACH = OBJECT_LIST_MAX - 10 };
    struct buf b = {0};
    add_pool(c, "");
    for (unsigned i = 0; i < pods; i++) {
        unsigned label = one_label ? 0 : i;
        buf_addf(&b, POD_HEAD ", labels: {app: web%u}" POD_BODY "  topologySpreadConstraints:\n", i, label);
        for (unsigned k = 0; k < EACH; k++)
            buf_addf(&b, "  - {maxSkew: 1, topologyKey: example.com/k%u-%u, whenUnsatisfiable: ScheduleAnyway, "
                         "labelSelector: {matchLabels: {app: web%u}}}\n", i, k, label);
    }
    add(c, &b);
}

static void own_topology_keys(struct cluster *c, unsigned pods)
{
    put_pods_of_keys(c, pods, false);
}

/* The constraints of each count the pods of all. */
static void own_topology_keys_of_one_label(struct cluster *c, unsigned pods)
{
    put_pods_of_keys(c, pods, true);
}

static void apart_by_zone_on_nodes(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    add_pool(c, "");
    add_nodes(c, 2000);
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, POD_HEAD ", labels: {app: a%u}" POD_BODY "  tolerations: [{operator: Exists}]\n"
                     "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{"
                     "topologyKey: kubernetes.io/hostname, labelSelector: {}}]}}\n", i, i);
    add(c, &b);
}

/* --- rows --- */

static const struct row {
    const char *name;
    void (*make)(struct cluster *c, unsigned size);
    unsigned size;
    double most_ms, most_mib; /* goals; 0: none */
    double most_times;        /* of the nearest row before that has no goal */
} rows[] = {
    {"4 pods over three pool labels of 100, zones exhausted", three_keys, 4, 100, 64, 0},
    {"2,000 pods and nodes over 64 domains", over_domains, 64, 50, 0, 0},
    {"2,000 pods and nodes over 65 domains", over_domains, 65, 50, 0, 0},
    {"2,000 pods and nodes over 2,000 domains", over_domains, 2000, 50, 0, 0},
    {"4,000 preferred anti-affinity terms", preferred_terms, 4000, 50, 64, 0},
    {"4,000 pods, plain", plain, 4000, 0, 0, 0},
    {"4,000 pods with a selector each", own_selectors, 4000, 0, 0, 0},
    {"4,000 selectors that share their first label", shared_first_label, 4000, 0, 0, 2},
    {"4,000 selectors of expressions", only_expressions, 4000, 0, 0, 2},
    {"40,000 pods apart by hostname", apart_by_hostname, 40000, 300, 0, 0},
    {"2,000 terms beside 2,000 node selectors", terms_and_selector, 2000, 50, 64, 0},
    {"50 pods of 1,000 host ports each", host_ports, 1000, 1500, 64, 0},
    {"5,000 tolerations, 2,000 tainted nodes", tolerations, 5000, 100, 64, 0},
    {"2,000 terms for names, 2,000 nodes", node_terms, 2000, 500, 64, 0},
    {"2,000 names of resources", resource_names, 2000, 500, 0, 0},
    {"2,000 selectors that leave one out", broad_selectors, 2000, 3000, 0, 0},
    {"500 topology keys, 2,000 nodes", topology_keys, 500, 500, 0, 0},
    {"30 pods with 990 topology keys of their own", own_topology_keys, 30, 1000, 128, 0},
    {"10 pods that count one another over 990 topology keys", own_topology_keys_of_one_label, 10, 1000, 128, 0},
    {"2,000 pods apart from everybody, 2,000 nodes", apart_by_zone_on_nodes, 2000, 500, 0, 0},
};

struct outcome { /* what the process that plans tells */
    uint64_t steps;
    uint32_t claims, without;
    bool complete;
};

static struct outcome plan_it(const struct cluster *c)
{
    struct world_input in = cluster_input(c);
    struct world *w = world_build(&in);
    struct plan *p = plan_solve(w, &(struct plan_options){.search = SEARCH_CHEAPEST});
    plan_tell(p);
    return (struct outcome){p->steps, p->claim_count, p->unschedulable_count, p->complete};
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

struct cost {
    double ms, mib;
    bool ended;
    struct outcome outcome;
};

static struct cost measure(const struct row *r)
{
    struct cluster c;
    struct cost cost = {0};
    int channel[2], status;
    struct rusage used;
    cluster_init(&c);
    r->make(&c, r->size);
    if (pipe(channel) != 0)
        exit(2);
    malloc_trim(0); /* what the input left free is not there for the child */
    double before = mib_now();
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){LIMIT_S, LIMIT_S});
        struct outcome o = plan_it(&c);
        _exit(write(channel[1], &o, sizeof(o)) != (ssize_t)sizeof(o));
    }
    close(channel[1]);
    cost.ended = read(channel[0], &cost.outcome, sizeof(cost.outcome)) == (ssize_t)sizeof(cost.outcome);
    close(channel[0]);
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        exit(2);
    cost.ms = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
    cost.mib = (double)used.ru_maxrss / 1024 - before;
    cluster_release(&c);
    return cost;
}

static int by_ms(const void *x, const void *y)
{
    const struct cost *a = x, *b = y;
    return (a->ms > b->ms) - (a->ms < b->ms);
}

/* The median of several, unless it takes long: what others do on the machine is not the row's. */
static struct cost measure_median(const struct row *r)
{
    enum { TURNS = 3, LONG_MS = 1000 };
    struct cost costs[TURNS] = {measure(r)};
    if (!costs[0].ended || costs[0].ms > LONG_MS)
        return costs[0];
    for (size_t i = 1; i < TURNS; i++)
        costs[i] = measure(r);
    qsort(costs, TURNS, sizeof(*costs), by_ms);
    return costs[TURNS / 2];
}

/* Whether it is good enough; `other`: what it is measured by. */
static bool tell(const struct row *r, const struct cost *cost, double other)
{
    bool good = cost->ended && (r->most_ms == 0 || cost->ms <= r->most_ms) &&
                (r->most_mib == 0 || cost->mib <= r->most_mib) &&
                (r->most_times == 0 || other == 0 || cost->ms <= r->most_times * other);
    printf("%-54s %s%8.1f ms %6.0f MiB", r->name, cost->ended ? " " : ">", cost->ms, cost->mib);
    if (cost->ended)
        printf(" %9llu steps %5u claims %5u without%s", (unsigned long long)cost->outcome.steps,
               cost->outcome.claims, cost->outcome.without, cost->outcome.complete ? "" : ", stopped");
    if (r->most_ms != 0)
        printf("  goal %.0f ms", r->most_ms);
    if (r->most_mib != 0)
        printf(", %.0f MiB", r->most_mib);
    if (r->most_times != 0 && other != 0)
        printf("  %.1f times, goal %.0f", cost->ms / other, r->most_times);
    printf("%s\n", good ? "" : "  MISSED");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    double other = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *r = &rows[i];
        bool measures = r->most_ms == 0 && r->most_times == 0;
        if (argc > 1 && strstr(r->name, argv[1]) == NULL)
            continue;
        struct cost cost = measure_median(r);
        good &= tell(r, &cost, other);
        if (measures)
            other = cost.ms;
    }
    return good ? 0 : 1;
}
