#include "server/page/pods.h"

#include "base/json.h"
#include "kube/store.h"
#include "planner/pods/pod_workload.h"

struct named { /* the first by name, in order */
    const struct pod *items[PODS_NAMED];
    uint32_t count;
    uint64_t found;
};

static int by_name(const struct pod *a, const struct pod *b)
{
    int c = span_cmp(a->meta.ns, b->meta.ns);
    return c != 0 ? c : span_cmp(a->meta.name, b->meta.name);
}

static void keep(struct named *n, const struct pod *p)
{
    n->found++;
    if (n->count == PODS_NAMED && by_name(n->items[PODS_NAMED - 1], p) < 0)
        return;
    uint32_t at = n->count < PODS_NAMED ? n->count++ : PODS_NAMED - 1;
    for (; at != 0 && by_name(n->items[at - 1], p) > 0; at--)
        n->items[at] = n->items[at - 1];
    n->items[at] = p;
}

/* Whoever controls a pod has a name that begins with its workload's (planner/pods/pod_workload.h): most pods are told by that. */
static bool is_of(const struct pod *p, struct span workload, const struct symtab *syms)
{
    const struct owner *c = meta_controller(&p->meta);
    struct span rest, name, kind = span_cut(workload, ' ', &rest), ns = span_cut(rest, '/', &name);
    if (!span_eq(p->meta.ns, ns) || !span_has_prefix(c != NULL ? c->name : p->meta.name, name))
        return false;
    struct pod_workload w = pod_workload(p, NULL, syms);
    return span_eq(w.kind, kind) && span_eq(w.name, name);
}

/* The namespace and the name are two texts: a word that has a slash ends the one and begins the other. */
static bool has(const struct pod *p, struct span find)
{
    struct span name, ns = span_cut(find, '/', &name);
    if (name.ptr == NULL)
        return span_contains(p->meta.ns, find) || span_contains(p->meta.name, find);
    return span_has_suffix(p->meta.ns, ns) && span_has_prefix(p->meta.name, name);
}

static void look_at(struct named *n, const struct pod *p, const struct pods_asked *q, const struct symtab *syms)
{
    if ((q->workload.ptr == NULL || is_of(p, q->workload, syms)) && (q->find.len == 0 || has(p, q->find)))
        keep(n, p);
}

static void look_on_node(struct named *n, const struct snapshot *s, const struct world *w, const struct pods_asked *q)
{
    int32_t row = world_find_node(w, q->node);
    uint32_t count = row >= 0 ? world_node_at(w, (uint32_t)row)->pod_count : 0;
    for (uint32_t i = 0; i < count; i++)
        look_at(n, world_node_pods(w, (uint32_t)row)[i], q, s->syms);
}

static void look_everywhere(struct named *n, const struct snapshot *s, const struct pods_asked *q)
{
    bool waiting = q->node.ptr != NULL;
    struct snapshot_iter it = snapshot_each(s, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL;)
        if (!pod_is_terminal(p) && !(waiting && p->node != SYM_NONE))
            look_at(n, p, q, s->syms);
}

static void put_pod(struct json *j, const struct pod *p, const struct symtab *syms)
{
    struct buf name = {0};
    buf_addf(&name, "%.*s/%.*s", SPAN_ARG(p->meta.ns), SPAN_ARG(p->meta.name));
    json_object_begin(j);
    json_put_string(j, "pod", buf_span(&name));
    if (p->node != SYM_NONE)
        json_put_string(j, "node", sym_text(syms, p->node));
    json_object_end(j);
    buf_release(&name);
}

void pods_json(const struct snapshot *s, const struct world *w, const struct pods_asked *q, struct buf *out)
{
    struct named n = {.count = 0};
    if (q->node.len != 0)
        look_on_node(&n, s, w, q);
    else
        look_everywhere(&n, s, q);
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_array(&j, "pods");
    for (uint32_t i = 0; i < n.count; i++)
        put_pod(&j, n.items[i], s->syms);
    json_array_end(&j);
    json_put_int(&j, "found", (int64_t)n.found);
    json_object_end(&j);
}
