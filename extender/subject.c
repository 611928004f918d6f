#include "extender/subject.h"

enum {
    /* A pod that was made so long ago stands in every snapshot that is up to date. Generous, since the
     * API server's clock is not ours and tells whole seconds. */
    FRESH_MS = 5 * MS_SECOND,
    /* A watch that is silent for so long hides more than the ledger can remember. */
    STALE_MS = LEDGER_ONE_MS,
};

static bool is_stale(const struct extender_view *v)
{
    static const enum kind looked_at[] = {KIND_POD, KIND_NODE, KIND_NODE_CLAIM};
    for (size_t i = 0; i < COUNT_OF(looked_at); i++) {
        mono_ms since = v->snapshot->state[looked_at[i]].broken_since;
        if (since != 0 && v->now - since > STALE_MS)
            return true;
    }
    return false;
}

static const struct pod *read_pod(struct extender_scratch *s, const struct extender_view *v,
                                  const struct extender_args *args, struct symtab *syms)
{
    struct pod *pod = ARENA_NEW(&s->arena, struct pod);
    struct err err;
    if (!decode_one(&s->arena, syms, args->pod_value, &pod_schema, pod, &err))
        return NULL;
    bool fresh = pod->meta.created != 0 && v->wall - pod->meta.created <= FRESH_MS;
    return fresh && pod->node == SYM_NONE ? pod : NULL;
}

void subject_look(struct extender_scratch *s, const struct extender_view *v, struct subject *x)
{
    x->desk = &s->desk;
    x->held = desk_open(&s->desk, v);
    x->holds = held_any(x->held, x->id);
    x->side = world_split_side(v->world, x->pod, &s->arena, s->desk.sent, s->desk.sent_count);
    x->workload = x->side != SPLIT_NONE ? world_split_workload(v->world, x->pod) : 0;
}

bool subject_find(struct extender_scratch *s, const struct extender_view *v,
                  const struct extender_args *args, struct subject *out)
{
    *out = (struct subject){.id = span_hash(args->pod.uid)};
    if (v->snapshot == NULL || v->world == NULL || args->pod.uid.len == 0 || is_stale(v))
        return false;
    out->pod = snapshot_find(v->snapshot, KIND_POD, args->pod.ns, args->pod.name);
    out->syms = v->snapshot->syms;
    if (out->pod == NULL || !span_eq(out->pod->meta.uid, args->pod.uid)) {
        struct symtab *own = symtab_new_local(v->snapshot->syms, &s->arena);
        out->fresh = true;
        out->syms = own;
        out->pod = read_pod(s, v, args, own);
    }
    if (out->pod == NULL || out->pod->meta.excess != SYM_NONE)
        return false;
    out->requests = world_pod_requests(v->world, &s->arena, out->pod);
    out->daemon = pod_is_daemon(out->pod);
    subject_look(s, v, out);
    out->scratch = ARENA_ARRAY(&s->arena, amount, world_resource_count(v->world));
    return true;
}

const amount *subject_leaves(const struct subject *s, uint32_t row, bool *placed_out)
{
    return held_against(s->held, row, s->id, s->pod->priority, s->holds, s->scratch, placed_out);
}

/* Of the pod's own namespace; a term that looks into others too is not about its kind. */
static bool seeks(const struct pod_term *t, const struct pod *other)
{
    return t->namespaces.count == 0 && !t->has_namespace_selector && t->has_selector &&
           label_selector_matches(&t->selector, other->meta.labels);
}

bool subject_is_kin(const struct pod *pod, const struct pod *other)
{
    const struct affinity *a = pod->affinity;
    for (uint32_t i = 0; a != NULL && i < a->required_pod.count; i++)
        if (seeks(&a->required_pod.items[i], pod) && seeks(&a->required_pod.items[i], other))
            return true;
    return false;
}

bool subject_seeks_its_kind(const struct subject *s)
{
    return subject_is_kin(s->pod, s->pod);
}

bool subject_awaits_volumes(const struct snapshot *snapshot, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        const struct volume_claim *c =
            snapshot_find(snapshot, KIND_VOLUME_CLAIM, pod->meta.ns, pod->volumes.items[i].claim);
        if (c == NULL || !volume_claim_is_bound(c))
            return true;
    }
    return false;
}

int32_t subject_freed(const struct subject *s, const struct world *w, struct span nominated)
{
    bool ours = pod_is_nominated_by_us(s->pod) && span_eq(sym_text(s->syms, s->pod->nominated_node), nominated);
    return ours ? -1 : world_find_node(w, nominated);
}

bool subject_prefers(const struct subject *s)
{
    const struct affinity *a = s->pod->affinity;
    if (a != NULL && (a->preferred_node.count != 0 || a->preferred_pod.count != 0 ||
                      a->preferred_anti.count != 0))
        return true;
    for (uint32_t i = 0; i < s->pod->spreads.count; i++)
        if (!s->pod->spreads.items[i].hard)
            return true;
    return false;
}

double subject_fullness(const struct extender_view *v, const struct subject *s, uint32_t row)
{
    const amount *allocatable = world_allocatable(v->world, row);
    const amount *requested = world_requested(v->world, row);
    const amount *held = held_at(s->held, row);
    double sum = 0;
    for (uint32_t column = 0; column < 2; column++) { /* CPU, memory */
        if (allocatable[column] <= 0)
            return 0;
        double used = (double)requested[column] + (double)s->requests[column] +
                      (held != NULL ? (double)held[column] : 0);
        double share = used / (double)allocatable[column];
        sum += share < 1 ? share : 1;
    }
    return sum / 2;
}
