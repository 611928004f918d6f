#include "reconciler/groups/told.h"

#include "kube/config_map.h"
#include "planner/buffers.h"
#include "reconciler/groups/counted.h"
#include "reconciler/groups/templates_map.h"
#include "reconciler/stages.h"

/* Events about groups are on the status ConfigMap: a group is no object. Without it they are not told. */
static struct decision_object status_of(const struct reconciler *r)
{
    const struct group_settings *s = &r->config.groups;
    if (!s->write_status)
        return (struct decision_object){.kind = KIND_NONE};
    return (struct decision_object){KIND_CONFIG_MAP, s->flags.config_namespace, s->status_name, r->keeper.status_uid};
}

struct decision_object told_pod(const struct pod *p)
{
    if (!p->is_virtual)
        return object_of(KIND_POD, &p->meta);
    if (pod_is_of_request(p)) {
        const struct owner *o = meta_controller(&p->meta);
        return (struct decision_object){KIND_PROVISIONING_REQUEST, p->meta.ns, o->name, o->uid};
    }
    return (struct decision_object){KIND_CAPACITY_BUFFER, p->meta.ns, buffer_name_of(p), buffer_uid_of(p)};
}

/* --- growing --- */

void told_grows(struct reconciler *r, const struct group_growth_told *g)
{
    struct arena *a = &r->arena;
    struct decision d = {.kind = DECISION_BUY, .subject = "grow", .per_hour = NAN, .reason = SPAN("ScaledUpGroup"), .about = status_of(r)};
    d.note = arena_printf(a, "Scale-up: setting group %.*s size to %d instead of %d (max: %d)", SPAN_ARG(g->group), g->to,
                          g->from, g->max);
    d.dedupe = d.note;
    tell(r, d, "group %.*s  %d → %d nodes (max %d)", SPAN_ARG(g->group), g->from, g->to, g->max);
}

void told_grew(struct reconciler *r, const struct group_growth_told *g)
{
    struct decision d = {.kind = DECISION_BUY, .per_hour = NAN, .reason = SPAN("ScaledUpGroup"), .about = status_of(r)};
    d.note = arena_printf(&r->arena, "Scale-up: group %.*s size set to %d instead of %d (max: %d)", SPAN_ARG(g->group), g->to,
                          g->from, g->max);
    tell_once(r, d);
}

void told_not_grown(struct reconciler *r, const struct group_growth_told *g, const struct err *err)
{
    struct decision d = {.kind = DECISION_FAIL, .subject = "grow", .warning = true, .per_hour = NAN,
                         .reason = SPAN("FailedToScaleUpGroup"), .about = status_of(r)};
    d.note = arena_printf(&r->arena, "Scale-up failed for group %.*s: %s", SPAN_ARG(g->group), err->msg);
    d.dedupe = d.note;
    tell(r, d, "group %.*s  could not grow to %d nodes, others are tried meanwhile: %s", SPAN_ARG(g->group), g->to, err->msg);
}

void told_triggered(struct reconciler *r, const struct decision_object *pods, uint32_t count, struct span groups)
{
    struct decision d = {.kind = DECISION_PLACE, .per_hour = NAN, .reason = SPAN("TriggeredScaleUp")};
    d.note = arena_printf(&r->arena, "pod triggered scale-up: [%.*s]", SPAN_ARG(groups));
    for (uint32_t i = 0; i < count; i++) {
        d.about = pods[i];
        tell_silently(r, d);
    }
}

static struct span reasons_text(struct arena *a, struct spans reasons)
{
    struct buf out = {0};
    for (uint32_t i = 0; i < reasons.count; i++)
        buf_addf(&out, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(reasons.items[i]));
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

void told_left(struct pass *p, const struct group_pass *decided)
{
    const struct group_scale_up *up = &decided->up;
    struct decision d = {.kind = DECISION_NO_PLACE, .per_hour = NAN, .reason = SPAN("NotTriggerScaleUp")};
    if (up->result == SCALE_UP_SUCCESSFUL || up->result == SCALE_UP_ERROR)
        return;
    for (uint32_t i = 0; i < up->left_count; i++) {
        struct span why = reasons_text(p->a, up->left[i].reasons);
        d.note = arena_printf(p->a, "pod didn't trigger scale-up: %.*s", SPAN_ARG(why));
        struct decision_object about = told_pod(up->left[i].pod);
        bool again = i != 0 && span_eq(about.uid, d.about.uid); /* the next pod of a buffer */
        d.about = about;
        if (!again)
            tell_silently(p->r, d);
    }
}

void told_request_unwritten(struct reconciler *r, const struct call *c)
{
    tell(r, (struct decision){.kind = DECISION_FAIL, .subject = "request", .warning = true, .per_hour = NAN},
         "%.*s/%.*s  its status cannot be written, and nothing grows for it: %s", SPAN_ARG(c->topic.ns), SPAN_ARG(c->topic.name),
         c->err.msg);
}

enum { CONSUMING_TOLD_MAX = 50 }; /* in a pass, as upstream */

void told_consuming(struct pass *p, const struct group_pass *decided)
{
    struct decision d = {.kind = DECISION_NO_PLACE, .per_hour = NAN, .reason = SPAN("NotTriggerScaleUp")};
    for (uint32_t i = 0; i < decided->consuming_count && i < CONSUMING_TOLD_MAX; i++) {
        const struct pod *pod = decided->consuming[i];
        struct span name = request_consumed_by(p->snapshot->syms, pod);
        d.about = object_of(KIND_POD, &pod->meta);
        d.note = arena_printf(p->a, "Unschedulable pod didn't trigger scale-up, because it's consuming ProvisioningRequest "
                                    "%.*s/%.*s",
                              SPAN_ARG(pod->meta.ns), SPAN_ARG(name));
        tell_silently(p->r, d);
    }
}

void told_failures(struct pass *p, const struct group_pass *decided)
{
    for (uint32_t g = 0; decided->found != NULL && g < decided->model->group_count; g++)
        for (uint32_t i = 0; i < decided->found[g].failure_count; i++) {
            const struct group_failure *f = &decided->found[g].failures[i];
            struct span group = decided->model->groups[g].spec->name;
            struct decision d = {.kind = DECISION_FAIL, .subject = "grow", .warning = true, .per_hour = NAN,
                                 .reason = span_of(group_failure_reason(f)), .about = status_of(p->r)};
            d.note = d.dedupe = group_failure_text(f, group, p->a);
            tell(p->r, d, "group %.*s  %.*s", SPAN_ARG(group), SPAN_ARG(d.note));
            counted_failed(p->r, f->timed_out ? "timeout" : "cloudProviderError");
        }
}

void told_unhealthy(struct pass *p, struct span why)
{
    tell_once(p->r, (struct decision){.kind = DECISION_HOLD, .warning = true, .per_hour = NAN,
                                      .reason = SPAN("ClusterUnhealthy"), .about = status_of(p->r), .note = why});
}

void told_limit(struct pass *p)
{
    tell_once(p->r, (struct decision){.kind = DECISION_HOLD, .warning = true, .per_hour = NAN,
                                      .reason = SPAN("MaxNodesTotalReached"), .about = status_of(p->r),
                                      .note = SPAN("Max total nodes in cluster reached")});
}

/* --- repairs --- */

void told_repaired(struct reconciler *r, struct span group, enum group_gate why, struct span ids, const struct err *err)
{
    struct decision d = {.kind = DECISION_GONE, .subject = "repair", .per_hour = NAN, .about = status_of(r)};
    bool well = err->kind == ERR_NONE;
    d.warning = !well;
    if (why == GATE_UNREGISTERED)
        d.reason = well ? SPAN("DeleteUnregistered") : SPAN("DeleteUnregisteredFailed");
    d.note = well ? arena_printf(&r->arena, "Removed unregistered node %.*s", SPAN_ARG(ids))
                  : arena_printf(&r->arena, "Failed to remove node %.*s: %s", SPAN_ARG(ids), err->msg);
    d.dedupe = d.note;
    if (well)
        tell(r, d, "group %.*s  machines that did not become nodes are ended: %.*s", SPAN_ARG(group), SPAN_ARG(ids));
    else
        tell(r, d, "group %.*s  machines that did not become nodes could not be ended (%.*s): %s", SPAN_ARG(group),
             SPAN_ARG(ids), err->msg);
}

void told_withdrawn(struct reconciler *r, struct span group, int32_t by, const struct err *err)
{
    struct decision d = {.kind = DECISION_GONE, .subject = "repair", .per_hour = NAN};
    if (err->kind == ERR_NONE) {
        tell(r, d, "group %.*s  %d node%s that never came %s not asked for any more", SPAN_ARG(group), by, by == 1 ? "" : "s",
             by == 1 ? "is" : "are");
        return;
    }
    d.warning = true;
    d.reason = SPAN("FailedToRevertScaleUp");
    d.about = status_of(r);
    d.note = arena_printf(&r->arena, "Failed to revert scale-up of group %.*s by %d: %s", SPAN_ARG(group), by, err->msg);
    d.dedupe = d.note;
    tell(r, d, "group %.*s  its size could not be put right by %d: %s", SPAN_ARG(group), -by, err->msg);
}

void told_priorities_unread(struct reconciler *r, const struct err *err)
{
    if (r->keeper.priority_unread || err->kind == ERR_CANCELLED)
        return;
    r->keeper.priority_unread = true;
    tell(r, (struct decision){.kind = DECISION_FAIL, .subject = "groups", .warning = true, .per_hour = NAN},
         "ConfigMap " PRIORITY_CONFIG_MAP " cannot be read, and priorities are those of before, if any: %s", err->msg);
}

void told_templates_unread(struct reconciler *r, const struct err *err)
{
    if (r->keeper.templates.unread || err->kind == ERR_CANCELLED)
        return;
    r->keeper.templates.unread = true;
    tell(r, (struct decision){.kind = DECISION_FAIL, .subject = "groups", .warning = true, .per_hour = NAN},
         "ConfigMap " TEMPLATES_CONFIG_MAP " cannot be read, and groups without nodes are what their provider says: %s", err->msg);
}

static bool is_news(struct pass *p, struct span sentence)
{
    bool known = memos_find(&p->r->asides, sentence) != NULL;
    memos_at(&p->r->asides, sentence);
    return !known;
}

void told_pass_failed(struct pass *p, struct span why)
{
    if (is_news(p, why))
        tell(p->r, (struct decision){.kind = DECISION_FAIL, .subject = "groups", .warning = true, .per_hour = NAN},
             "nothing is decided about node groups: %.*s", SPAN_ARG(why));
}

void told_aside(struct pass *p, struct span sentence)
{
    if (is_news(p, sentence))
        tell(p->r, (struct decision){.kind = DECISION_SET_ASIDE, .subject = "set aside", .warning = true, .per_hour = NAN},
             "%.*s", SPAN_ARG(sentence));
}

/* --- removals --- */

void told_removal_begins(struct pass *p, const struct node_view *n, struct span group, bool drains)
{
    struct span name = n->node->meta.name;
    struct decision d = {.kind = DECISION_REMOVE, .subject = "remove", .per_hour = NAN, .reason = SPAN("ScaleDown"),
                         .note = SPAN("marked the node as toBeDeleted/unschedulable"),
                         .about = object_of(KIND_NODE, &n->node->meta)};
    tell(p->r, d, "%.*s  nobody needs it in group %.*s%s", SPAN_ARG(name), SPAN_ARG(group),
         drains ? "; its pods have places elsewhere" : "; it is empty");
    d = (struct decision){.kind = DECISION_REMOVE, .per_hour = NAN, .about = status_of(p->r)};
    d.reason = drains ? SPAN("ScaleDown") : SPAN("ScaleDownEmpty");
    d.note = drains ? arena_printf(p->a, "Scale-down: removing node %.*s", SPAN_ARG(name))
                    : arena_printf(p->a, "Scale-down: removing empty node %.*s", SPAN_ARG(name));
    tell_once(p->r, d);
}

void told_removal_failed(struct pass *p, const struct node_view *n, struct span group, struct span why)
{
    struct span name = n->node->meta.name;
    tell(p->r,
         (struct decision){.kind = DECISION_KEEP, .subject = "keep", .warning = true, .per_hour = NAN,
                           .reason = SPAN("ScaleDownFailed"), .about = object_of(KIND_NODE, &n->node->meta),
                           .note = arena_printf(p->a, "failed to remove the node: %.*s", SPAN_ARG(why))},
         "%.*s  stays in group %.*s: %.*s", SPAN_ARG(name), SPAN_ARG(group), SPAN_ARG(why));
}

void told_evicted(struct reconciler *r, const struct call *c)
{
    if (c->err.kind == ERR_NONE)
        tell_silently(r, (struct decision){.kind = DECISION_DRAIN, .per_hour = NAN, .reason = SPAN("ScaleDown"),
                                           .note = SPAN("deleting pod for node scale down"),
                                           .about = {KIND_POD, c->topic.ns, c->topic.name, c->topic.uid}});
}

void told_removed(struct reconciler *r, const struct call *c, bool drains)
{
    struct decision d = {.kind = DECISION_GONE, .subject = "gone", .per_hour = NAN, .reason = SPAN("ScaleDown"),
                         .note = SPAN("nodes removed by cluster autoscaler"), .dedupe = SPAN("removed"), /* beside "marked" */
                         .about = {KIND_NODE, (struct span){0}, c->topic.name, c->topic.uid}};
    tell(r, d, "%.*s  its machine is ended, group %.*s has one less", SPAN_ARG(c->topic.name), SPAN_ARG(c->topic.text));
    d = (struct decision){.kind = DECISION_GONE, .per_hour = NAN, .about = status_of(r)};
    d.reason = drains ? SPAN("ScaleDown") : SPAN("ScaleDownEmpty");
    d.note = drains ? arena_printf(&r->arena, "Scale-down: node %.*s removed with drain", SPAN_ARG(c->topic.name))
                    : arena_printf(&r->arena, "Scale-down: empty node %.*s removed", SPAN_ARG(c->topic.name));
    tell_once(r, d);
}

void told_not_removed(struct reconciler *r, const struct call *c)
{
    tell(r,
         (struct decision){.kind = DECISION_KEEP, .subject = "keep", .warning = true, .per_hour = NAN,
                           .reason = SPAN("ScaleDownFailed"), .about = {KIND_NODE, (struct span){0}, c->topic.name, c->topic.uid},
                           .note = arena_printf(&r->arena, "failed to delete the node's machine: %s", c->err.msg)},
         "%.*s  stays in group %.*s: its machine could not be ended: %s", SPAN_ARG(c->topic.name), SPAN_ARG(c->topic.text),
         c->err.msg);
}
