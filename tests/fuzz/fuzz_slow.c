/* Bytes that draw pods whose lists are long: no plan takes more steps, or more memory, than goes with the size of
 * the objects. Neither depends on the machine. One byte is one draw: of each kind how many there are. */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "../planner/support_random.h"
#include "planner/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the worst of the corpus takes, several times over; what multiplies takes hundreds of times as much. A small
 * cluster has its tables all the same. */
enum { STEPS = 20000, STEPS_PER_BYTE = 8, BYTES = 8 << 20, BYTES_PER_BYTE = 512 };

static void put_list(struct buf *b, unsigned count, const char *format)
{
    for (unsigned i = 0; i < count; i++) {
        buf_add(b, i != 0 ? SPAN(", ") : SPAN(""));
        buf_addf(b, format, i, i);
    }
}

static void put_pool(struct buf *b, struct draws *d)
{
    unsigned keys = draw(d, 5), values = 1 + draw(d, 64);
    buf_addf(b, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n"
                "spec: {template: {spec: {requirements: [");
    for (unsigned k = 0; k < keys; k++) {
        buf_addf(b, "%s{key: example.com/k%u, operator: In, values: [", k != 0 ? ", " : "", k);
        put_list(b, values, "v%u");
        buf_addf(b, "]}");
    }
    buf_addf(b, "]}}}\n");
}

static void put_nodes(struct buf *b, struct draws *d)
{
    unsigned count = draw(d, 64), racks = 1 + draw(d, 64);
    for (unsigned i = 0; i < count; i++)
        buf_addf(b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%u, labels: {example.com/k0: v%u}}\n"
                    "status: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"20\"}, conditions: [{type: Ready, "
                    "status: \"True\"}]}\n", i, i % racks);
}

static void put_spread(struct buf *b, struct draws *d)
{
    static const char *const keys[] = {"example.com/k0", "example.com/k1", "example.com/k2", "example.com/k3",
                                       "topology.kubernetes.io/zone", "kubernetes.io/hostname", "size", "integer"};
    unsigned count = draw(d, COUNT_OF(keys) + 1);
    for (unsigned i = 0; i < count; i++)
        buf_addf(b, "  - {maxSkew: 1, topologyKey: %s, whenUnsatisfiable: %s, labelSelector: "
                    "{matchLabels: {app: web}}}\n",
                 keys[draw(d, COUNT_OF(keys))], draw(d, 4) == 0 ? "ScheduleAnyway" : "DoNotSchedule");
}

static void put_affinity(struct buf *b, struct draws *d)
{
    static const char *const selectors[] = {"{matchLabels: {app: web}}", "{matchLabels: {app: web, id: i%u}}",
                                            "{matchExpressions: [{key: id, operator: NotIn, values: [i%u]}]}"};
    char term[256];
    const char *key = draw(d, 2) == 0 ? "kubernetes.io/hostname" : "topology.kubernetes.io/zone";
    snprintf(term, sizeof(term), "{topologyKey: %s, labelSelector: %s}", key,
             selectors[draw(d, COUNT_OF(selectors))]);
    buf_addf(b, "    podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [");
    put_list(b, draw(d, 8), term);
    snprintf(term, sizeof(term), "{weight: 1, podAffinityTerm: {topologyKey: %s, labelSelector: "
                                 "{matchLabels: {app: a%%u}}}}", key);
    buf_addf(b, "], preferredDuringSchedulingIgnoredDuringExecution: [");
    put_list(b, draw(d, 256), term);
    buf_addf(b, "]}\n    nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [");
    put_list(b, draw(d, 256), "{weight: 1, preference: {matchExpressions: [{key: example.com/k1, operator: In, "
                              "values: [v%u]}]}}");
    buf_addf(b, "]");
    unsigned terms = draw(d, 256);
    if (terms != 0)
        buf_addf(b, ", requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [");
    put_list(b, terms, "{matchExpressions: [{key: example.com/k0, operator: In, values: [x%u]}]}");
    buf_addf(b, "%s}\n", terms != 0 ? "]}" : "");
}

static void put_pod(struct buf *b, struct draws *d, unsigned number)
{
    buf_addf(b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%u, labels: {app: web, id: i%u}}\nstatus: {phase: "
                "Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\nspec:\n"
                "  containers: [{name: c, resources: {requests: {cpu: %um}}, ports: [",
             number, number, 1 + draw(d, 200));
    put_list(b, draw(d, 256), "{containerPort: 1, hostPort: 1, hostIP: 10.0.1.%u}");
    buf_addf(b, "]}]\n  tolerations: [");
    put_list(b, draw(d, 256), "{key: t, value: v%u, effect: NoSchedule}");
    buf_addf(b, "]\n  nodeSelector: {");
    put_list(b, draw(d, 8) == 0 ? draw(d, 256) : 0, "l%u: x");
    buf_addf(b, "}\n  affinity:\n");
    put_affinity(b, d);
    buf_addf(b, "  topologySpreadConstraints:\n");
    put_spread(b, d);
}

static size_t bytes_of(const struct world *w, const struct plan *p)
{
    size_t sum = p->arena.total + (p->trial_arena != NULL ? p->trial_arena->total : 0);
    for (size_t i = 0; i < PART_COUNT; i++)
        sum += w->parts[i] != NULL ? w->parts[i]->arena.total : 0;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PODS_MAX = 24 };
    struct draws d = {.bytes = data, .left = size};
    struct cluster c;
    struct buf text = {0};
    if (size == 0)
        return 0;
    cluster_init(&c);
    cluster_types_c1(&c, 10);
    put_pool(&text, &d);
    put_nodes(&text, &d);
    for (unsigned i = 0; i < PODS_MAX && d.left != 0; i++)
        put_pod(&text, &d, i);
    cluster_add(&c, text.ptr);
    struct world_input in = cluster_input(&c);
    c.world = world_build(&in);
    c.plan = plan_solve(c.world, &c.plan_options);
    plan_tell(c.plan);
    bool good = c.plan->steps <= STEPS + STEPS_PER_BYTE * (uint64_t)text.len &&
                bytes_of(c.world, c.plan) <= BYTES + BYTES_PER_BYTE * text.len;
    if (!good)
        fprintf(stderr, "%s%zu bytes: %llu steps, %zu bytes of memory\n", text.ptr, text.len,
                (unsigned long long)c.plan->steps, bytes_of(c.world, c.plan));
    assert(good);
    buf_release(&text);
    cluster_release(&c);
    return 0;
}
