/* A file of node groups, and CapacityQuotas in the documents after it, beside a small cluster: the file is refused with a
 * sentence, or what a pass decides obeys the bounds of its groups and the quotas, and is the same when it is asked again. */
#undef NDEBUG
#include <assert.h>

#include "kube/capacity_quota.h"
#include "planner/groups/pass.h"
#include "planner/groups/pass_json.h"
#include "tests/planner/support_cluster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES_MAX = 500, TEXT_MAX_BYTES = 4096, QUOTAS_MAX = 4 }; /* more only makes it slower */

static const wall_ms now = 1791633600000; /* 2026-10-10T12:00:00Z */

#define META(kind, name, more) "---\napiVersion: v1\nkind: " kind "\nmetadata: {name: " name more "}\n"
#define NODE(name, cpu)                                                                                                 \
    META("Node", name, ", labels: {kubernetes.io/hostname: " name ", pool: " name "}, creationTimestamp: "              \
    "'2026-10-10T08:00:00Z'")                                                                                           \
    "spec: {providerID: 'x:" name "'}\nstatus: {capacity: {cpu: '" cpu "', memory: 8Gi, pods: '9'}, allocatable: {cpu: '" cpu \
    "', memory: 8Gi, pods: '9'}, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-10-10T08:00:00Z'}]}\n"
#define POD(name, cpu, on, status)                                                                                      \
    META("Pod", name, ", namespace: default, uid: " name ", creationTimestamp: '2026-10-10T09:00:00Z', ownerReferences: " \
    "[{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]")                                     \
    "spec: {" on "containers: [{name: c, resources: {requests: {cpu: '" cpu "', memory: 1Gi}}}]}\nstatus: {" status "}\n"
#define WAITS "phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]"

static const char objects[] = NODE("a", "4") NODE("b", "4") NODE("c", "8") POD("p", "1", "nodeName: a, ", "phase: Running")
    POD("q", "1", "nodeName: b, ", "phase: Running") POD("w", "2", "", WAITS) POD("x", "2", "", WAITS) POD("z", "6", "", WAITS)
    POD("large", "7", "", WAITS) POD("larger", "7", "", WAITS);

struct reading {
    struct arena *arena;
    unsigned wrong;
};

static void mistake(void *user, uint32_t line, struct span path, struct span what)
{
    struct reading *r = user;
    (void)line, (void)path;
    assert(what.len != 0);
    r->wrong++;
}

struct quotas {
    const struct capacity_quota *items[QUOTAS_MAX];
    uint32_t count;
};

/* Each is as a store takes it: nothing that is wrong keeps it out. */
static void read_quotas(struct doc_parser *p, struct span text, size_t *from, struct arena *a, struct symtab *syms, struct quotas *out)
{
    const struct doc *doc;
    struct err err = {.kind = ERR_NONE};
    struct decode d = {.arena = a, .syms = syms};
    while (out->count < QUOTAS_MAX && doc_parse_yaml(p, text, from, &doc, &err)) {
        struct capacity_quota *q = ARENA_NEW(a, struct capacity_quota);
        if (doc_type(doc_root(doc)) == DOC_OBJECT && decode_value(&d, doc_root(doc), &capacity_quota_schema, q))
            out->items[out->count++] = q;
    }
}

static bool read_groups(struct span text, struct arena *a, struct symtab *syms, struct node_groups *out, struct quotas *quotas)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err = {.kind = ERR_NONE};
    struct reading r = {.arena = a};
    size_t from = 0;
    struct decode d = {.arena = a, .syms = syms, .mistake = mistake, .invalid = mistake, .unknown = mistake, .user = &r};
    bool ok = doc_parse_yaml(p, text, &from, &doc, &err);
    if (ok)
        decode_value(&d, doc_root(doc), &node_groups_schema, out);
    if (ok)
        read_quotas(p, text, &from, a, syms, quotas);
    doc_parser_free(p);
    return ok && r.wrong == 0;
}

static bool is_small(const struct node_groups *g)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < g->groups.count; i++)
        all += (int64_t)g->groups.items[i].target + g->groups.items[i].request.increase;
    return all <= NODES_MAX;
}

/* How many of the rows are the group's. */
static int32_t count_of(const struct group_pass *p, uint32_t group, const uint32_t *rows, uint32_t count)
{
    int32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t node = group_model_node(p->model, world_node_at(p->world, rows[i])->name);
        assert(node >= 0 && p->model->owners[node] >= 0);
        found += p->model->owners[node] == (int32_t)group;
    }
    return found;
}

static void check_answer(const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->decision_count; i++) {
        const struct group_decision *d = &p->decisions[i];
        assert(d->delta > 0 && d->target <= p->model->groups[d->group].spec->max);
    }
    for (uint32_t g = 0; g < p->model->group_count; g++) {
        int32_t leave = count_of(p, g, p->down.empty, p->down.empty_count) + count_of(p, g, p->down.drain, p->down.drain_count);
        assert(leave == 0 || p->model->groups[g].target - leave >= p->model->groups[g].spec->min || p->decision_count != 0);
    }
}

/* No more nodes come than each that means them leaves beside those that stand. */
static void check_quota(const struct group_pass *p, const struct capacity_quota *q, const struct symtab *syms)
{
    int64_t stand = 0, come = 0, limit = 0;
    bool limits = false;
    for (uint32_t i = 0; i < q->limits.count; i++)
        if (span_eq(sym_text(syms, q->limits.items[i].name), SPAN("nodes"))) {
            limits = true;
            limit = q->limits.items[i].value;
        }
    for (uint32_t i = 0; i < p->model->node_count; i++)
        stand += label_selector_matches(&q->selector, p->model->nodes[i]->meta.labels);
    for (uint32_t i = 0; i < p->decision_count; i++) {
        const struct node *template = p->model->groups[p->decisions[i].group].template.node;
        come += label_selector_matches(&q->selector, template->meta.labels) ? p->decisions[i].delta : 0;
    }
    assert(!limits || !capacity_quota_valid(q) || come == 0 || come <= limit - stand);
}

/* What the pass says, as text; nothing where the file and the cluster disagree. */
static struct buf decide(struct cluster *c, const struct node_groups *file, const struct quotas *quotas)
{
    struct buf out = {0};
    struct arena a;
    struct err err = {.kind = ERR_NONE};
    struct group_flags flags = group_flags_default();
    flags.capacity_quotas = true;
    struct world_input in = cluster_input(c);
    struct world_options options = {.unbound_classes = true};
    arena_init(&a, 0);
    struct group_objects around = {.syms = in.syms, .nodes = in.nodes, .node_count = in.node_count, .pods = in.pods,
                                    .pod_count = in.pod_count, .quotas = quotas->items, .quota_count = quotas->count};
    struct group_model *m = group_model_make(file, &flags, &around, now, &a, &err);
    if (m == NULL) {
        assert(err.kind != ERR_NONE && err.msg[0] != '\0');
        arena_release(&a);
        return out;
    }
    const struct node **nodes = ARENA_ARRAY(&a, const struct node *, in.node_count + m->group_count);
    size_t count = 0;
    for (size_t i = 0; i < in.node_count; i++)
        nodes[count++] = in.nodes[i];
    for (uint32_t g = 0; g < m->group_count; g++)
        if (m->groups[g].template.node != NULL)
            nodes[count++] = m->groups[g].template.node;
    in.nodes = nodes; /* templates have no pods: there is no DaemonSet and no mirror pod */
    in.node_count = count;
    in.options = &options;
    struct world *w = world_build(&in);
    struct group_pass *p = groups_pass(w, m, &flags, &around, now, &a);
    check_answer(p);
    for (uint32_t i = 0; i < quotas->count; i++)
        check_quota(p, quotas->items[i], in.syms);
    struct json j = {.out = &out};
    json_object_begin(&j);
    group_pass_json(&j, p);
    json_object_end(&j);
    world_free(w);
    arena_release(&a);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster c;
    struct node_groups file = {0};
    struct quotas quotas = {.count = 0};
    if (size > TEXT_MAX_BYTES)
        return 0;
    cluster_init(&c);
    cluster_add(&c, objects);
    if (read_groups((struct span){(const char *)data, size}, &c.arena, c.syms, &file, &quotas) && is_small(&file)) {
        struct buf once = decide(&c, &file, &quotas), again = decide(&c, &file, &quotas);
        assert(span_eq(buf_span(&once), buf_span(&again)));
        buf_release(&once);
        buf_release(&again);
    }
    cluster_release(&c);
    return 0;
}
