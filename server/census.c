/* The lines of one metric must stand together, so each family goes over all its objects by itself.
 * Sums of a node's pods are made where they are told, twice for requests and limits: that is cheaper
 * than to remember them. */
#include "server/census.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube/node.h"
#include "kube/pod.h"
#include "planner/world.h"
#include "server/metrics.h"

struct family {
    const char *name, *help;
    /* One of them. */
    void (*of_node)(struct census *c, const struct world_node *n, struct buf *out);
    void (*of_pod)(struct census *c, const struct pod *p, struct buf *out);
    void (*of_pool)(struct census *c, const struct node_pool *p, struct buf *out);
    void (*of_all)(struct census *c, struct buf *out);
};

struct node_label {
    const char *name;
    sym key; /* SYM_NONE: no object has it */
};

struct census {
    const struct snapshot *snapshot;
    const struct world *world;
    wall_ms now;
    struct node_label labels[CENSUS_LABELS_MAX];
    uint32_t label_count;
    uint32_t pods_left_out;
    /* where it is */
    uint32_t family, row;
    const struct family *told; /* the family */
    struct snapshot_iter objects; /* pods or pools */
    bool headed; /* HELP and TYPE of the family are written: it has a series */
    struct buf object; /* label text of the node or pool whose series are being written */
    struct arena arena; /* of that node */
    struct arena sums;
    struct resources allocatable, requested; /* of all nodes so far, in `sums` */
};

/* --- labels --- */

static void name_label(struct span key, char out[64])
{
    struct span behind;
    span_cut(key, '/', &behind);
    size_t n = behind.len < 63 ? behind.len : 63;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)behind.ptr[i];
        out[i] = isalnum(c) ? (char)tolower(c) : '_';
    }
    out[n] = '\0';
}

/* Keys without a slash have no name, and two that would have one name are one label. */
static void add_label(struct census_labels *l, struct span key)
{
    static const char *const taken[] = {"", "node_name", "phase", "managed", "resource_type"};
    struct census_label new = {.key = key};
    name_label(key, new.name);
    for (size_t i = 0; i < COUNT_OF(taken); i++)
        if (strcmp(taken[i], new.name) == 0)
            return;
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->items[i].name, new.name) == 0)
            return;
    if (l->count < CENSUS_LABELS_MAX)
        l->items[l->count++] = new;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct census_label *)a)->name, ((const struct census_label *)b)->name);
}

void census_labels_make(const struct label_rules *rules, const struct symtab *syms,
                        struct census_labels *out)
{
    static const sym core[] = {SYM_NODEPOOL, SYM_ZONE, SYM_REGION,        SYM_INSTANCE_TYPE,
                               SYM_ARCH,     SYM_OS,   SYM_CAPACITY_TYPE, SYM_WINDOWS_BUILD};
    *out = (struct census_labels){.count = 0};
    for (size_t i = 0; i < COUNT_OF(core); i++)
        add_label(out, wellknown_text[core[i] - 1]);
    for (uint32_t i = 0; rules != NULL && i < rules->well_known.count; i++)
        add_label(out, sym_text(syms, rules->well_known.items[i]));
    qsort(out->items, out->count, sizeof(*out->items), by_name);
}

/* --- text --- */

static void put_label(struct buf *out, const char *before, struct span value)
{
    buf_add(out, span_of(before));
    metrics_escape(out, value);
    buf_add_char(out, '"');
}

/* Thousandths as a decimal number without idle zeros. */
static void put_milli(struct buf *out, int64_t v)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (v < 0)
        buf_add_char(out, '-');
    buf_add_int(out, (int64_t)(size / 1000));
    uint32_t rest = (uint32_t)(size % 1000);
    if (rest == 0)
        return;
    char digits[4];
    snprintf(digits, sizeof(digits), "%03u", rest);
    size_t n = 3;
    while (digits[n - 1] == '0')
        n--;
    buf_add_char(out, '.');
    buf_add(out, (struct span){digits, n});
}

/* Resource names as Karpenter writes them: ephemeral_storage, nvidia.com/gpu. */
static void put_resource_name(struct census *c, sym name, struct buf *out)
{
    struct span text = sym_text(c->snapshot->syms, name);
    for (size_t i = 0; i < text.len; i++) {
        char x = text.ptr[i];
        metrics_escape(out, x == '-' ? SPAN("_") : (struct span){&x, 1});
    }
}

static void head(struct census *c, struct buf *out)
{
    const struct family *f = c->told;
    if (!c->headed)
        buf_addf(out, "# HELP %s %s\n# TYPE %s gauge\n", f->name, f->help, f->name);
    c->headed = true;
    buf_add(out, span_of(f->name));
}

/* --- nodes --- */

static void make_node_labels(struct census *c, const struct world_node *n)
{
    buf_clear(&c->object);
    put_label(&c->object, "node_name=\"", n->node->meta.name);
    put_label(&c->object, ",managed=\"", n->claim != NULL ? SPAN("true") : SPAN("false"));
    buf_add(&c->object, SPAN(",phase=\"\"")); /* status.phase of a Node, which no release of Kubernetes sets */
    for (uint32_t i = 0; i < c->label_count; i++) {
        const struct node_label *l = &c->labels[i];
        buf_add_char(&c->object, ',');
        buf_add(&c->object, span_of(l->name));
        put_label(&c->object, "=\"",
                  sym_text(c->snapshot->syms, sym_pairs_get(n->node->meta.labels, l->key)));
    }
}

/* Of the object whose labels were made. */
static void put_amounts(struct census *c, struct resources r, struct buf *out)
{
    for (uint32_t i = 0; i < r.count; i++) {
        head(c, out);
        buf_add_char(out, '{');
        buf_add(out, buf_span(&c->object));
        buf_add(out, SPAN(",resource_type=\""));
        put_resource_name(c, r.items[i].name, out);
        buf_add(out, SPAN("\"} "));
        if (r.items[i].name == SYM_CPU)
            put_milli(out, r.items[i].value);
        else
            buf_add_int(out, r.items[i].value);
        buf_add_char(out, '\n');
    }
}

enum whose { OF_ALL_PODS, OF_DAEMON_PODS };
enum what { REQUESTS, LIMITS };

static struct resources sum_of(struct census *c, const struct world_node *n, enum whose whose,
                               enum what what)
{
    struct resources sum = {NULL, 0};
    *resources_at(&c->arena, &sum, SYM_PODS) = 0;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        const struct pod *p = n->pods[i];
        if (whose == OF_DAEMON_PODS && !pod_is_daemon(p))
            continue;
        resources_add(&c->arena, &sum, what == REQUESTS ? p->requests : p->limits);
        ++*resources_at(&c->arena, &sum, SYM_PODS);
    }
    return sum;
}

/* What is not known yet of a node that is not ready for use is what its claim says. */
static void count_allocatable(struct census *c, const struct world_node *n)
{
    resources_add(&c->sums, &c->allocatable, n->node->allocatable);
    if (n->claim == NULL || n->stage == NODE_INITIALIZED)
        return;
    for (uint32_t i = 0; i < n->claim->allocatable.count; i++) {
        struct resource r = n->claim->allocatable.items[i];
        if (resources_get(n->node->allocatable, r.name) == 0)
            resources_add(&c->sums, &c->allocatable, (struct resources){&r, 1});
    }
}

static void put_allocatable(struct census *c, const struct world_node *n, struct buf *out)
{
    count_allocatable(c, n);
    put_amounts(c, n->node->allocatable, out);
}

static void put_pod_requests(struct census *c, const struct world_node *n, struct buf *out)
{
    struct resources sum = sum_of(c, n, OF_ALL_PODS, REQUESTS);
    resources_add(&c->sums, &c->requested, sum);
    put_amounts(c, sum, out);
}

static void put_pod_limits(struct census *c, const struct world_node *n, struct buf *out)
{
    put_amounts(c, sum_of(c, n, OF_ALL_PODS, LIMITS), out);
}

static void put_daemon_requests(struct census *c, const struct world_node *n, struct buf *out)
{
    put_amounts(c, sum_of(c, n, OF_DAEMON_PODS, REQUESTS), out);
}

static void put_daemon_limits(struct census *c, const struct world_node *n, struct buf *out)
{
    put_amounts(c, sum_of(c, n, OF_DAEMON_PODS, LIMITS), out);
}

static void put_overhead(struct census *c, const struct world_node *n, struct buf *out)
{
    struct resources rest = resources_dup(&c->arena, n->node->capacity);
    for (uint32_t i = 0; i < rest.count; i++)
        rest.items[i].value -= resources_get(n->node->allocatable, rest.items[i].name);
    put_amounts(c, rest, out);
}

static void put_lifetime(struct census *c, const struct world_node *n, struct buf *out)
{
    head(c, out);
    buf_add_char(out, '{');
    buf_add(out, buf_span(&c->object));
    buf_add(out, SPAN("} "));
    put_milli(out, c->now - n->node->meta.created);
    buf_add_char(out, '\n');
}

static void put_utilization(struct census *c, struct buf *out)
{
    for (uint32_t i = 0; i < c->allocatable.count; i++) {
        const struct resource *r = &c->allocatable.items[i];
        if (r->value == 0)
            continue;
        head(c, out);
        buf_add(out, SPAN("{resource_type=\""));
        put_resource_name(c, r->name, out);
        buf_addf(out, "\"} %.15g\n",
                 100 * ((double)resources_get(c->requested, r->name) / (double)r->value));
    }
}

/* --- pods --- */

static void put_left_out(struct census *c, struct buf *out)
{
    head(c, out);
    buf_add_char(out, ' ');
    buf_add_int(out, c->pods_left_out);
    buf_add_char(out, '\n');
}

static void put_owner(struct census *c, const struct pod *p, struct buf *out)
{
    if (p->meta.owners.count == 0)
        return;
    const struct owner *o = &p->meta.owners.items[0];
    struct span kind = sym_text(c->snapshot->syms, o->kind);
    buf_add(out, SPAN("/apis/"));
    metrics_escape(out, sym_text(c->snapshot->syms, o->api_version));
    buf_add(out, SPAN("/namespaces/"));
    metrics_escape(out, p->meta.ns);
    buf_add_char(out, '/');
    for (size_t i = 0; i < kind.len; i++) {
        char x = (char)tolower((unsigned char)kind.ptr[i]);
        metrics_escape(out, (struct span){&x, 1});
    }
    buf_add(out, SPAN("s/"));
    metrics_escape(out, o->name);
}

static const struct world_node *node_of(struct census *c, const struct pod *p)
{
    if (p->node == SYM_NONE)
        return NULL;
    int32_t row = world_find_node(c->world, sym_text(c->snapshot->syms, p->node));
    const struct world_node *n = row >= 0 ? world_node_at(c->world, (uint32_t)row) : NULL;
    return n != NULL && n->node != NULL ? n : NULL;
}

static void put_node_of_pod(struct census *c, const struct pod *p, struct buf *out)
{
    static const struct {
        const char *before;
        sym key;
    } told[] = {{",zone=\"", SYM_ZONE},
                {",arch=\"", SYM_ARCH},
                {",capacity_type=\"", SYM_CAPACITY_TYPE},
                {",instance_type=\"", SYM_INSTANCE_TYPE},
                {",nodepool=\"", SYM_NODEPOOL}};
    const struct world_node *n = node_of(c, p);
    struct sym_pairs labels = n != NULL ? n->node->meta.labels : (struct sym_pairs){NULL, 0};
    for (size_t i = 0; i < COUNT_OF(told); i++)
        put_label(out, told[i].before,
                  sym_text(c->snapshot->syms, sym_pairs_get(labels, told[i].key)));
    sym pool = sym_pairs_get(labels, SYM_NODEPOOL);
    bool managed = pool != SYM_NONE && pool != SYM_EMPTY;
    put_label(out, ",managed=\"", managed ? SPAN("true") : SPAN("false"));
}

static void put_state(struct census *c, const struct pod *p, struct buf *out)
{
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
    head(c, out);
    put_label(out, "{name=\"", p->meta.name);
    put_label(out, ",namespace=\"", p->meta.ns);
    buf_add(out, SPAN(",owner=\""));
    put_owner(c, p, out);
    buf_add_char(out, '"');
    put_label(out, ",node=\"", sym_text(c->snapshot->syms, p->node));
    put_label(out, ",scheduled=\"", p->node != SYM_NONE ? SPAN("true") : SPAN("false"));
    put_node_of_pod(c, p, out);
    put_label(out, ",phase=\"", span_of(phases[p->phase]));
    put_label(out, ",ready=\"", p->ready ? SPAN("true") : SPAN("false"));
    buf_add(out, SPAN("} 1\n"));
}

static void put_unstarted(struct census *c, const struct pod *p, struct buf *out)
{
    if (p->phase != POD_PENDING)
        return;
    head(c, out);
    put_label(out, "{name=\"", p->meta.name);
    put_label(out, ",namespace=\"", p->meta.ns);
    buf_add(out, SPAN("} "));
    put_milli(out, c->now - p->meta.created);
    buf_add_char(out, '\n');
}

/* --- pools --- */

static void put_usage(struct census *c, const struct node_pool *p, struct buf *out)
{
    put_amounts(c, p->status_resources, out);
}

static void put_limits(struct census *c, const struct node_pool *p, struct buf *out)
{
    put_amounts(c, p->limits, out);
}

/* --- all of it --- */

static const struct family families[] = {
    {.name = "karpenter_nodes_allocatable",
     .help = "What a node has for pods",
     .of_node = put_allocatable},
    {.name = "karpenter_nodes_total_pod_requests",
     .help = "What the pods on a node ask for, those of DaemonSets included",
     .of_node = put_pod_requests},
    {.name = "karpenter_nodes_total_pod_limits",
     .help = "What the pods on a node are limited to, those of DaemonSets included",
     .of_node = put_pod_limits},
    {.name = "karpenter_nodes_total_daemon_requests",
     .help = "What the DaemonSets' pods on a node ask for",
     .of_node = put_daemon_requests},
    {.name = "karpenter_nodes_total_daemon_limits",
     .help = "What the DaemonSets' pods on a node are limited to",
     .of_node = put_daemon_limits},
    {.name = "karpenter_nodes_system_overhead",
     .help = "What a node has and keeps from pods",
     .of_node = put_overhead},
    {.name = "karpenter_nodes_current_lifetime_seconds",
     .help = "Age of a node",
     .of_node = put_lifetime},
    {.name = "karpenter_cluster_utilization_percent",
     .help = "Requests of all pods on nodes, of what all nodes have for pods",
     .of_all = put_utilization}, /* by what the first two have summed up */
    {.name = "karpenter_nodepools_usage",
     .help = "Capacity of a pool's nodes",
     .of_pool = put_usage},
    {.name = "karpenter_nodepools_limit", .help = "Limit of a pool", .of_pool = put_limits},
    {.name = "stowage_metrics_pods_left_out",
     .help = "Pods without series of their own, since there are more than --metrics-pods-max",
     .of_all = put_left_out},
    {.name = "karpenter_pods_state",
     .help = "1 for each pod, labelled with where and how it is",
     .of_pod = put_state},
    {.name = "karpenter_pods_unstarted_time_seconds",
     .help = "Age of a pod that is Pending",
     .of_pod = put_unstarted},
};

static void begin(struct census *c, uint32_t family)
{
    c->family = family;
    if (family == COUNT_OF(families))
        return;
    c->told = &families[family];
    c->headed = false;
    c->row = 0;
    c->objects = snapshot_each(c->snapshot, c->told->of_pool != NULL ? KIND_NODE_POOL : KIND_POD);
}

struct census *census_new(const struct snapshot *s, const struct census_labels *labels, uint32_t pods_max,
                          wall_ms now)
{
    uint32_t pods = s->state[KIND_POD].count;
    struct census *c = mem_new(sizeof(*c));
    c->snapshot = s;
    c->world = s->derived;
    c->now = now;
    c->pods_left_out = pods > pods_max ? pods : 0;
    c->label_count = labels->count;
    for (uint32_t i = 0; i < labels->count; i++)
        c->labels[i] = (struct node_label){labels->items[i].name,
                                           sym_find(s->syms, labels->items[i].key)};
    arena_init(&c->arena, 0);
    arena_init(&c->sums, 0);
    begin(c, 0);
    return c;
}

void census_free(struct census *c)
{
    if (c == NULL)
        return;
    shared_unref((struct shared *)(uintptr_t)&c->snapshot->shared);
    buf_release(&c->object);
    arena_release(&c->arena);
    arena_release(&c->sums);
    free(c);
}

static bool step_pool(struct census *c, struct buf *out)
{
    const struct node_pool *p = snapshot_next(&c->objects);
    if (p == NULL)
        return false;
    buf_clear(&c->object);
    put_label(&c->object, "nodepool=\"", p->meta.name);
    c->told->of_pool(c, p, out);
    return true;
}

/* Writes what the family says of the next of its objects, or of everything; false: it has said all. */
static bool step(struct census *c, struct buf *out)
{
    const struct family *f = c->told;
    if (f->of_all != NULL) {
        f->of_all(c, out);
        return false;
    }
    if (f->of_pod != NULL) {
        const struct pod *p = c->pods_left_out == 0 ? snapshot_next(&c->objects) : NULL;
        if (p != NULL)
            f->of_pod(c, p, out);
        return p != NULL;
    }
    if (f->of_pool != NULL)
        return step_pool(c, out);
    if (c->row == world_node_count(c->world))
        return false;
    const struct world_node *n = world_node_at(c->world, c->row++);
    if (n->node == NULL)
        return true;
    arena_clear(&c->arena);
    make_node_labels(c, n);
    f->of_node(c, n, out);
    return true;
}

bool census_write(struct census *c, size_t enough, struct buf *out)
{
    while (out->len < enough) {
        if (c->family == COUNT_OF(families))
            return false;
        if (!step(c, out))
            begin(c, c->family + 1);
    }
    return true;
}
