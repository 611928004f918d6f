/* Where kube-scheduler cannot be told to ask us, a place becomes status.nominatedNodeName: the
 * scheduler tries that node first and keeps the pod's room there from pods of the same or a lower
 * priority (Kubernetes 1.30 to 1.36).
 *
 * It is written only while the field is empty, with the version of the pod that was seen, so that
 * nobody's nomination is overwritten; and only for a node that would take the pod now, since a node that
 * would not makes the attempt fail, and a failed attempt empties the field. Then it is written again.
 *
 * A nomination is ours when the API server says that we wrote what stands there (kube/meta.h), so that a new
 * leader knows; it is taken back when the plan no longer says so, its node is gone, or nominating was given up.
 * Any other is the scheduler's own, for which it makes room or is about to bind, and is let alone.
 *
 * Where the scheduler asks us, the size of the cluster decides (options.nominate_from). It saves the scheduler a look at
 * all nodes but one, 1.1 ms for 1,000 of them, and costs the API server and those who watch it a write, more than twice
 * that: what that says is 2,500 nodes, from which on both are even. (./dev bench scheduler; manifests/README.md has the
 * figures.) The extender then answers with the one name that it is asked about. */
#include "base/json.h"
#include "reconciler/stages.h"

enum {
    AT_ONCE_MAX = 100, /* writes under way: the rest of the plan has to get through too */
};

/* ---- writing ---- */

static void on_written(struct reconciler *r, struct call *c)
{
    (void)c;
    r->nominating--;
}

/* `node` absent: empties the field. */
static struct span patch(struct pass *p, struct span node)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "status");
    if (node.len != 0) {
        json_put_string(&j, "nominatedNodeName", node);
    } else {
        json_key(&j, SPAN("nominatedNodeName"));
        json_null_value(&j);
    }
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(p->a, buf_span(&out));
    buf_release(&out);
    return body;
}

static void write_nomination(struct pass *p, const struct pod *pod, struct span node)
{
    struct reconciler *r = p->r;
    struct memo *m = memos_at(&r->nominations, pod->meta.uid);
    if (r->nominating >= AT_ONCE_MAX)
        return; /* each that ends brings the next pass */
    if (act(p, &(struct action){.verb = API_MERGE,
                                .kind = KIND_POD,
                                .object = &pod->meta,
                                .memo = m,
                                .subresource = SPAN("status"),
                                .body = patch(p, node),
                                .done = on_written}))
        r->nominating++;
}

/* ---- places ---- */

static const struct node *node_named(const struct pass *p, struct span name)
{
    return snapshot_find(p->snapshot, KIND_NODE, (struct span){0}, name);
}

/* The Node of a place; NULL while there is none. */
static const struct node *node_of(const struct pass *p, const struct place *place)
{
    if (!place->on_claim)
        return node_named(p, place->target);
    const struct node_claim *c =
        snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, place->target);
    return c != NULL && c->node_name != SYM_NONE ? node_named(p, pass_text(p, c->node_name)) : NULL;
}

static bool is_usable(const struct pass *p, const struct node *n, const struct pod *pod)
{
    int32_t row = n != NULL ? world_find_node(p->world, n->meta.name) : -1;
    return row >= 0 && !world_node_at(p->world, (uint32_t)row)->leaving &&
           node_lets_in(n, pod, p->snapshot->syms);
}

static void nominate(struct pass *p, const struct place *place)
{
    const struct pod *pod = place_pod(p, place);
    if (pod == NULL || pod_is_terminal(pod) || pod->nominated_node != SYM_NONE)
        return;
    const struct node *node = node_of(p, place);
    if (is_usable(p, node, pod))
        write_nomination(p, pod, node->meta.name);
}

/* ---- when ---- */

static bool may_nominate(const struct reconciler_options *o)
{
    return o->nominate || o->nominate_from != 0;
}

/* What was nominated stays when the cluster becomes smaller. */
static bool pays(const struct pass *p)
{
    const struct reconciler_options *o = &p->r->config.options;
    return o->nominate || (o->nominate_from != 0 && p->snapshot->state[KIND_NODE].count >= o->nominate_from);
}

/* ---- taking back ---- */

static bool is_still_meant(const struct pass *p, const struct pod *pod)
{
    const struct place *place = may_nominate(&p->r->config.options) && p->r->places != NULL
                                    ? places_find(p->r->places, pod->meta.uid)
                                    : NULL;
    const struct node *meant = place != NULL ? node_of(p, place) : NULL;
    return meant != NULL && span_eq(meant->meta.name, pass_text(p, pod->nominated_node)) &&
           is_usable(p, meant, pod);
}

void nominate_run(struct pass *p)
{
    const struct places *places = p->r->places;
    uint32_t count;
    const struct pod *const *nominated = world_nominated(p->world, &count);
    for (uint32_t i = 0; i < count; i++)
        if (pod_is_nominated_by_us(nominated[i]) && !is_still_meant(p, nominated[i]))
            write_nomination(p, nominated[i], (struct span){0});
    if (!pays(p))
        return;
    for (uint32_t i = 0; places != NULL && i < places->count; i++)
        nominate(p, &places->items[i]);
}
