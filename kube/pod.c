#include "kube/pod.h"


struct resources pod_requests(struct arena *a, const struct pod *p)
{
    struct resources r = p->requests; /* the addition makes a copy */
    *resources_at(a, &r, SYM_PODS) = 1;
    return r;
}

bool pod_is_daemon(const struct pod *p)
{
    return meta_owned_by(&p->meta, SYM_API_APPS_V1, SYM_KIND_DAEMON_SET);
}

bool pod_same_controller(const struct pod *a, const struct pod *b)
{
    const struct owner *x = meta_controller(&a->meta), *y = meta_controller(&b->meta);
    return x != NULL && y != NULL && x->kind == y->kind && span_eq(x->name, y->name) &&
           span_eq(a->meta.ns, b->meta.ns);
}

bool pod_is_static(const struct pod *p)
{
    return meta_owned_by(&p->meta, SYM_API_V1, SYM_KIND_NODE);
}

bool pod_is_terminal(const struct pod *p)
{
    return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

static bool is_refused(const struct pod *p)
{
    return p->unschedulable && p->node == SYM_NONE && !pod_is_daemon(p) && !pod_is_static(p);
}

bool pod_is_nominated_by_us(const struct pod *p)
{
    return p->nominated_node != SYM_NONE && p->meta.wrote_status;
}

bool pod_is_pending(const struct pod *p)
{
    return is_refused(p) && (p->nominated_node == SYM_NONE || pod_is_nominated_by_us(p));
}

static bool is_active(const struct pod *p)
{
    return !pod_is_terminal(p) && p->meta.deleted == 0;
}

bool pod_is_unseen(const struct pod *p)
{
    return is_active(p) && p->node == SYM_NONE && p->nominated_node == SYM_NONE && !p->gated &&
           !p->unschedulable && !pod_is_daemon(p) && !pod_is_static(p);
}

bool pod_is_reschedulable(const struct pod *p)
{
    bool comes_back =
        p->meta.deleted != 0 && meta_owned_by(&p->meta, SYM_API_APPS_V1, SYM_KIND_STATEFUL_SET);
    return (is_active(p) || comes_back) && !pod_is_daemon(p) && !pod_is_static(p);
}

bool pod_tolerates_disrupted(const struct pod *p)
{
    static const struct taint disrupted = {.key = SYM_DISRUPTED, .effect = TAINT_NO_SCHEDULE};
    return taint_tolerated(&disrupted, p->tolerations, NULL);
}

enum pod_keep pod_keep(const struct pod *p, span_ms *length_out)
{
    struct span value = annotations_get(p->meta.annotations, SYM_DO_NOT_DISRUPT);
    *length_out = 0;
    if (value.ptr == NULL)
        return POD_KEEP_NOT;
    if (span_eq(value, SPAN("true")))
        return POD_KEEP_ALWAYS;
    return duration_parse(value, length_out) && *length_out > 0 ? POD_KEEP_FOR : POD_KEEP_INVALID;
}

bool pod_do_not_disrupt(const struct pod *p, wall_ms now)
{
    span_ms length;
    enum pod_keep keep = pod_keep(p, &length);
    if (keep != POD_KEEP_FOR)
        return keep == POD_KEEP_ALWAYS;
    return p->start_time == 0 || now - p->start_time < length;
}

bool pod_is_evictable(const struct pod *p, wall_ms now)
{
    return is_active(p) && !pod_tolerates_disrupted(p) && !pod_is_static(p) &&
           !pod_do_not_disrupt(p, now);
}
