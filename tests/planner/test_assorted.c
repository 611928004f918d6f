/* Scenario 77: a large catalogue of types that are each sold in one way only, and every combination of what
 * pool and pod may say of architecture, operating system, zone and way of paying. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 4, STATES = 5, VALUES_MAX = 3, COMBINATIONS = STATES * STATES * STATES * STATES };

static const struct key {
    const char *name;
    const char *values[VALUES_MAX];
    int count;
    double dearer; /* by value: the first is the cheapest */
} keys[KEYS] = {
    {"kubernetes.io/arch", {"amd64", "arm64"}, 2, 0.001},
    {"kubernetes.io/os", {"linux", "windows"}, 2, 0.002},
    {"topology.kubernetes.io/zone", {"z1", "z2", "z3"}, 3, 0.004},
    {"karpenter.sh/capacity-type", {"spot", "on-demand"}, 2, 0.012},
};

static const int cpus[] = {1, 2, 4, 8, 16, 32, 64}, memories[] = {1, 2, 4, 8, 16, 32, 64, 128};

static double price_of(int cpu, int memory, const int value[KEYS])
{
    double price = 0.1 * cpu + 0.05 * memory;
    for (int k = 0; k < KEYS; k++)
        price += keys[k].dearer * value[k];
    return price;
}

/* The name says all: cpu-memory-arch-os-zone-ct, the last four as numbers of values. */
static void add_type(struct buf *b, int cpu, int memory, const int value[KEYS])
{
    buf_addf(b, "- {name: %d-%d-%d-%d-%d-%d, resources: {cpu: %d, memory: %dGi, pods: 10}, labels: {%s: %s, %s: %s, "
                "%s: %s, %s: %s}, offerings: [{zone: %s, capacity: %s, price: %.3f}]}\n",
             cpu, memory, value[0], value[1], value[2], value[3], cpu, memory,
             keys[0].name, keys[0].values[value[0]], keys[1].name, keys[1].values[value[1]],
             keys[2].name, keys[2].values[value[2]], keys[3].name, keys[3].values[value[3]],
             keys[2].values[value[2]], keys[3].values[value[3]], price_of(cpu, memory, value));
}

static void add_types(struct cluster *c)
{
    struct buf b = {0};
    int v[KEYS];
    buf_addf(&b, "kind: InstanceTypes\nitems:\n");
    for (size_t i = 0; i < COUNT_OF(cpus) * COUNT_OF(memories); i++)
        for (v[0] = 0; v[0] < keys[0].count; v[0]++)
            for (v[1] = 0; v[1] < keys[1].count; v[1]++)
                for (v[2] = 0; v[2] < keys[2].count; v[2]++)
                    for (v[3] = 0; v[3] < keys[3].count; v[3]++)
                        add_type(&b, cpus[i / COUNT_OF(memories)], memories[i % COUNT_OF(memories)], v);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

/* Of one key: nothing said; by the pool; by the pod; the same by both; two values that contradict each other. */
enum state { NOTHING, POOL, POD, BOTH, CONTRADICTION };

struct combination {
    enum state state[KEYS];
    int value[KEYS];
    int cpu, memory; /* that the pod asks for: less than a type of that size has */
};

static struct combination combination_of(int n)
{
    struct combination c = {.cpu = cpus[n % 5], .memory = memories[n % 6]};
    for (int k = 0, rest = n; k < KEYS; k++, rest /= STATES) {
        c.state[k] = (enum state)(rest % STATES);
        c.value[k] = (n + k) % keys[k].count;
    }
    return c;
}

static bool is_possible(const struct combination *c)
{
    for (int k = 0; k < KEYS; k++)
        if (c->state[k] == CONTRADICTION)
            return false;
    return true;
}

/* The value that the pool, or the pod, asks for; -1: none. */
static int asked(const struct combination *c, int k, bool of_pool)
{
    if (c->state[k] == NOTHING || c->state[k] == (of_pool ? POD : POOL))
        return -1;
    bool other = c->state[k] == CONTRADICTION && !of_pool;
    return (c->value[k] + other) % keys[k].count;
}

static void put_requirements(struct buf *b, const int value[KEYS])
{
    const char *between = "";
    for (int k = 0; k < KEYS; k++) {
        if (value[k] < 0)
            continue;
        buf_addf(b, "%s{key: %s, operator: In, values: [%s]}", between, keys[k].name, keys[k].values[value[k]]);
        between = ", ";
    }
}

static void put_selector(struct buf *b, const int value[KEYS])
{
    for (int k = 0; k < KEYS; k++)
        if (value[k] >= 0)
            buf_addf(b, ", %s: %s", keys[k].name, keys[k].values[value[k]]);
}

/* Every set of values that a pool may ask for; its name is the values. */
static void add_pools(struct cluster *c)
{
    struct buf b = {0};
    int v[KEYS];
    for (v[0] = -1; v[0] < keys[0].count; v[0]++)
        for (v[1] = -1; v[1] < keys[1].count; v[1]++)
            for (v[2] = -1; v[2] < keys[2].count; v[2]++)
                for (v[3] = -1; v[3] < keys[3].count; v[3]++) {
                    buf_addf(&b, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p.%d.%d.%d.%d}\n"
                                 "spec: {template: {spec: {requirements: [",
                             v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
                    put_requirements(&b, v);
                    buf_addf(&b, "]}}}\n");
                }
    cluster_add(c, b.ptr);
    buf_release(&b);
}

/* A pod on a node of its own, for the host port. */
static void add_pod(struct cluster *cluster, int n)
{
    struct combination c = combination_of(n);
    struct buf b = {0};
    int of_pool[KEYS], own[KEYS];
    for (int k = 0; k < KEYS; k++) {
        of_pool[k] = asked(&c, k, true);
        own[k] = asked(&c, k, false);
    }
    buf_addf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a%d}\nspec: {nodeSelector: {karpenter.sh/nodepool: "
                 "p.%d.%d.%d.%d",
             n, of_pool[0] + 1, of_pool[1] + 1, of_pool[2] + 1, of_pool[3] + 1);
    put_selector(&b, own);
    buf_addf(&b, "}, containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: {"
                 "cpu: %dm, memory: %dMi}}}]}\nstatus: {conditions: [{type: PodScheduled, status: \"False\", reason: "
                 "Unschedulable}]}\n",
             c.cpu * 1000 - 100, c.memory * 1024 - 100);
    cluster_add(cluster, b.ptr);
    buf_release(&b);
}

static bool suits(const struct combination *c, int cpu, int memory, const int value[KEYS])
{
    for (int k = 0; k < KEYS; k++)
        if (c->state[k] != NOTHING && c->value[k] != value[k])
            return false;
    return cpu >= c->cpu && memory >= c->memory;
}

static double cheapest(const struct combination *c)
{
    int v[KEYS];
    for (int k = 0; k < KEYS; k++)
        v[k] = c->state[k] == NOTHING ? 0 : c->value[k];
    return price_of(c->cpu, c->memory, v);
}

static void check_claim(const struct plan_claim *claim)
{
    int n = 0, cpu = 0, memory = 0, v[KEYS] = {0};
    assert_int_equal(claim->pod_count, 1);
    assert_int_equal(sscanf(claim->pods[0]->meta.name.ptr, "a%d", &n), 1);
    struct combination c = combination_of(n);
    double want = cheapest(&c);
    if (!is_possible(&c))
        fail_msg("combination %d: what contradicts itself got a node", n);
    if (claim->price < want - 1e-6 || claim->price > want + 1e-6)
        fail_msg("combination %d: $%f, the cheapest that suits is $%f", n, claim->price, want);
    for (uint32_t i = 0; i < claim->type_count; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", SPAN_ARG(claim->types[i]->name));
        assert_int_equal(sscanf(name, "%d-%d-%d-%d-%d-%d", &cpu, &memory, &v[0], &v[1], &v[2], &v[3]), 6);
        if (!suits(&c, cpu, memory, v))
            fail_msg("combination %d: %s does not suit", n, name);
    }
    assert_int_not_equal(claim->type_count, 0);
}

static void every_combination(void **state)
{
    (void)state;
    struct cluster c;
    uint32_t possible = 0;
    cluster_init(&c);
    add_types(&c);
    add_pools(&c);
    for (int n = 0; n < COMBINATIONS; n++) {
        struct combination x = combination_of(n);
        possible += is_possible(&x);
        add_pod(&c, n);
    }
    const struct plan *plan = cluster_plan_unchecked(&c);
    assert_int_equal(plan->claim_count, possible);
    assert_int_equal(plan->unschedulable_count, COMBINATIONS - possible);
    for (uint32_t i = 0; i < plan->claim_count; i++)
        check_claim(&plan->claims[i]);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_combination)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
