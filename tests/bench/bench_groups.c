/* bench_groups: what one decision about node groups costs (planner/groups/pass.h): CPU from decoded objects to the answer:
 * the model, the world of the pass, and the pass itself.
 *
 *   bench_groups [WORD]   (only the rows whose name has the word in it)
 *
 * Each row in a process of its own: the least of TIMES decisions, how much of it the pass alone took, and what the
 * process holds at most, the cluster's objects included. In brackets Cluster Autoscaler's own loop, measured on such a
 * machine. Exit status 1 when a goal is missed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "planner/groups/pass.h"
#include "tests/planner/support_cluster.h"

enum { TIMES = 5, LIMIT_S = 120, CPUS = 16 };
#define NOW INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */

/* --- clusters --- */

struct fleet {
    const char *name;
    uint32_t groups, max;              /* max: of each group */
    uint32_t nodes, pods;              /* what stands, and runs: 75 % of each node is asked for */
    uint32_t sparse, sparse_pods;      /* so many nodes beside, with so many pods each: nobody has needed them for long */
    uint32_t pending, shapes;
    bool ownerless, apart;
    double goal_s, goal_mib; /* mib 0: none */
    const char *upstream;
};

static const struct fleet fleets[] = {
    {.name = "idle, 1,000 nodes / 30,000 pods", .groups = 8, .max = 2000, .nodes = 1000, .pods = 30000, .shapes = 60,
     .goal_s = 0.02, .upstream = "1.3 s"},
    {.name = "idle, 5,000 nodes / 150,000 pods", .groups = 8, .max = 2000, .nodes = 5000, .pods = 150000, .shapes = 60,
     .goal_s = 0.1, .goal_mib = 256, .upstream = "7.4 s, 3.4 GB"},
    {.name = "30,000 pods of 60 shapes x 50 groups", .groups = 50, .max = 1000, .pending = 30000, .shapes = 60, .goal_s = 0.2,
     .upstream = "71 s, 0.95 GB"},
    {.name = "10,000 ownerless pods x 5 groups", .groups = 5, .max = 1000, .pending = 10000, .shapes = 20, .ownerless = true,
     .goal_s = 0.1, .upstream = "20 s"},
    {.name = "3,000 pods apart by hostname", .groups = 5, .max = 4000, .pending = 3000, .shapes = 1, .apart = true,
     .goal_s = 0.1, .upstream = "15 s"},
    {.name = "removal of 1,000 of 5,000 nodes", .groups = 8, .max = 2000, .nodes = 4000, .pods = 120000, .sparse = 1000,
     .sparse_pods = 5, .shapes = 60, .goal_s = 0.3, .upstream = "37 s, 4 GB"},
    /* Not all can go, so that several orders are tried: ours, not of the table. */
    {.name = "packing 5,000 nodes, each 37 % full", .groups = 8, .max = 2000, .sparse = 5000, .sparse_pods = 12, .shapes = 60,
     .goal_s = 2, .upstream = "not measured"},
};

#define ROOM "{cpu: \"16\", memory: 64Gi, pods: \"110\"}"

static void add_shape(struct cluster *c, const struct fleet *f, uint32_t i)
{
    struct buf b = {0};
    uint32_t mean = f->nodes != 0 ? CPUS * 750 * f->nodes / f->pods : 500;
    buf_addf(&b, "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-%u, namespace: shop, uid: r%u}\n"
                 "spec: {replicas: 1000}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: s%u, namespace: shop, uid: s%u, "
                 "labels: {app: a%u}, creationTimestamp: \"2026-01-01T10:00:00Z\"",
             i, i, i, i, i);
    if (!f->ownerless)
        buf_addf(&b, ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-%u, uid: r%u, controller: true}]", i, i);
    buf_addf(&b, "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: %um, memory: %uMi}}}]\n",
             mean / 2 + i * mean / f->shapes, mean + i * 10);
    if (f->apart)
        buf_addf(&b, "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                     "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a%u}}}]}}\n", i);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

static void add_nodes(struct cluster *c, const struct fleet *f)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < f->nodes + f->sparse; i++)
        buf_addf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%05u, uid: n%05u, creationTimestamp: "
                     "\"2026-01-01T00:00:00Z\", labels: {pool: g%u, topology.kubernetes.io/zone: z%u, kubernetes.io/hostname: "
                     "n%05u, kubernetes.io/arch: amd64, kubernetes.io/os: linux}}\nspec: {providerID: \"x://%u\"}\nstatus: "
                     "{capacity: " ROOM ", allocatable: " ROOM ", conditions: [{type: Ready, status: \"True\", "
                     "lastTransitionTime: \"2026-01-01T00:00:30Z\"}]}\n",
                 i, i, i % f->groups, i % 3, i, i);
    if (b.ptr != NULL)
        cluster_add(c, b.ptr);
    buf_release(&b);
}

/* Like the first of its shape; on a node, or nowhere. */
static void put_pod(struct cluster *c, const struct pod *shape, uint32_t number, sym node)
{
    struct cluster_list *l = &c->kinds[KIND_POD];
    struct pod *p = ARENA_NEW(&c->arena, struct pod);
    *p = *shape;
    p->meta.name = arena_printf(&c->arena, "web-7d9c5b6f4-%06u", number);
    p->meta.uid = arena_printf(&c->arena, "5f0e6d1c-0000-4000-8000-%012u", number);
    p->node = node;
    p->phase = node != SYM_NONE ? POD_RUNNING : POD_PENDING;
    p->unschedulable = node == SYM_NONE;
    ARENA_PUSH(&c->arena, l->items, l->count, l->capacity, p);
}

static sym name_of(struct cluster *c, uint32_t node)
{
    char name[16];
    snprintf(name, sizeof(name), "n%05u", node);
    return sym_intern(c->syms, span_of(name));
}

static void add_pods(struct cluster *c, const struct fleet *f)
{
    const void **shapes = c->kinds[KIND_POD].items;
    uint32_t number = 0;
    c->kinds[KIND_POD].items = NULL;
    c->kinds[KIND_POD].count = c->kinds[KIND_POD].capacity = 0;
    for (uint32_t i = 0; i < f->pods; i++)
        put_pod(c, shapes[i / f->nodes * 7 % f->shapes], number++, name_of(c, i % f->nodes));
    for (uint32_t i = 0; i < f->sparse * f->sparse_pods; i++)
        put_pod(c, shapes[i % f->shapes], number++, name_of(c, f->nodes + i % f->sparse));
    for (uint32_t i = 0; i < f->pending; i++)
        put_pod(c, shapes[i % f->shapes], number++, SYM_NONE);
}

static void make_cluster(struct cluster *c, const struct fleet *f)
{
    cluster_init(c);
    cluster_add(c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
    for (uint32_t i = 0; i < f->shapes; i++)
        add_shape(c, f, i);
    add_nodes(c, f);
    add_pods(c, f);
}

static void make_groups(struct cluster *c, const struct fleet *f, struct node_groups *out)
{
    struct buf b = {0};
    struct err err = {0};
    size_t at = 0;
    const struct doc *doc;
    struct doc_parser *parser = doc_parser_new();
    buf_addf(&b, "apiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n");
    for (uint32_t i = 0; i < f->groups; i++)
        buf_addf(&b, "- {name: g%u, minSize: 0, maxSize: %u, nodeSelector: {pool: g%u}, template: {metadata: {labels: {pool: "
                     "g%u, topology.kubernetes.io/zone: z%u}}, status: {capacity: {cpu: \"%u\", memory: %uGi, pods: \"110\"}}}}\n",
                 i, f->max, i, i, i % 3, CPUS + i, 64 + i);
    buf_addf(&b, "state:\n  lastScaleUpTime: \"2026-01-01T00:00:00Z\"\n");
    if (f->sparse != 0)
        buf_addf(&b, "  unneeded:\n");
    for (uint32_t i = 0; i < f->sparse; i++)
        buf_addf(&b, "    n%05u: \"2026-01-01T11:00:00Z\"\n", f->nodes + i);
    if (!doc_parse_yaml(parser, buf_span(&b), &at, &doc, &err) ||
        !decode_one(&c->arena, c->syms, doc_root(doc), &node_groups_schema, out, &err)) {
        fprintf(stderr, "bench_groups: %s: %s\n", f->name, err.msg);
        exit(2);
    }
    doc_parser_free(parser);
    buf_release(&b);
}

/* --- a decision --- */

struct outcome {
    double seconds, pass_seconds, mib;
    uint32_t grown, unneeded, removed, left;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define TAKE(out, member, count_, kind_) out.member = (const void *)c->kinds[kind_].items, out.count_ = c->kinds[kind_].count

static struct group_objects objects_of(const struct cluster *c)
{
    struct group_objects out = {.syms = c->syms};
    TAKE(out, nodes, node_count, KIND_NODE);
    TAKE(out, pods, pod_count, KIND_POD);
    TAKE(out, daemon_sets, daemon_set_count, KIND_DAEMON_SET);
    TAKE(out, replica_sets, replica_set_count, KIND_REPLICA_SET);
    return out;
}

static struct world *build(const struct cluster *c, const struct group_model *m, const struct group_objects *objects,
                           struct arena *a)
{
    static const struct world_options options = {.unbound_classes = true};
    struct world_input in = cluster_input(c);
    struct group_ground g = group_model_ground(m, objects, a);
    in.options = &options;
    in.nodes = g.nodes;
    in.node_count = g.node_count;
    in.pods = g.pods;
    in.pod_count = g.pod_count;
    return world_build(&in);
}

static void note(struct outcome *o, const struct group_pass *p)
{
    o->grown = 0;
    for (uint32_t i = 0; i < p->decision_count; i++)
        o->grown += (uint32_t)p->decisions[i].delta;
    o->unneeded = p->down.unneeded_count;
    o->removed = p->down.empty_count + p->down.drain_count;
    o->left = p->up.left_count + p->up.awaiting_count;
}

static void decide(const struct cluster *c, const struct node_groups *file, const struct group_flags *flags, struct outcome *o)
{
    struct group_objects objects = objects_of(c);
    struct arena a;
    struct err err = {0};
    arena_init(&a, 0);
    double began = cpu_seconds();
    struct group_model *m = group_model_make(file, flags, &objects, NOW, &a, &err);
    if (m == NULL) {
        fprintf(stderr, "bench_groups: %s\n", err.msg);
        exit(2);
    }
    struct world *w = build(c, m, &objects, &a);
    double built = cpu_seconds();
    struct group_pass *p = groups_pass(w, m, flags, &objects, NOW, &a);
    double ended = cpu_seconds();
    if (o->seconds == 0 || ended - began < o->seconds) {
        o->seconds = ended - began;
        o->pass_seconds = ended - built;
    }
    note(o, p);
    world_free(w);
    arena_release(&a);
}

static double most_mib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

static struct outcome run(const struct fleet *f)
{
    struct outcome o = {.seconds = 0};
    struct cluster c;
    struct node_groups file = {.gpu_label = SYM_NONE};
    struct group_flags flags = group_flags_default();
    make_cluster(&c, f);
    make_groups(&c, f, &file);
    flags.max_nodes_per_scale_up = 0;
    flags.max_parallelism = flags.max_drains = f->sparse != 0 ? (int32_t)f->sparse : 10;
    for (int i = 0; i < TIMES; i++)
        decide(&c, &file, &flags, &o);
    o.mib = most_mib();
    return o;
}

/* --- rows --- */

/* In a process of its own: what one has taken the others do not show. */
static bool measure(const struct fleet *f, struct outcome *out)
{
    int channel[2];
    if (pipe(channel) != 0)
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){LIMIT_S, LIMIT_S});
        struct outcome o = run(f);
        _exit(write(channel[1], &o, sizeof(o)) != (ssize_t)sizeof(o));
    }
    close(channel[1]);
    bool ended = read(channel[0], out, sizeof(*out)) == (ssize_t)sizeof(*out);
    close(channel[0]);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        exit(2);
    return ended;
}

static bool tell(const struct fleet *f)
{
    struct outcome o;
    printf("%-38s", f->name);
    fflush(stdout);
    if (!measure(f, &o)) {
        printf(" no answer within %d s of CPU  MISSED\n", LIMIT_S);
        return false;
    }
    bool good = o.seconds <= f->goal_s && (f->goal_mib == 0 || o.mib <= f->goal_mib);
    printf(" %7.4f s (pass %7.4f)  %4.0f MiB  %u come, %u go of %u unneeded, %u left  goal %g s", o.seconds, o.pass_seconds, o.mib,
           o.grown, o.removed, o.unneeded, o.left, f->goal_s);
    if (f->goal_mib != 0)
        printf(", %.0f MiB", f->goal_mib);
    printf(" (%s)%s\n", f->upstream, good ? "" : "  MISSED");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(fleets); i++)
        if (argc < 2 || strstr(fleets[i].name, argv[1]) != NULL)
            good &= tell(&fleets[i]);
    return good ? 0 : 1;
}
