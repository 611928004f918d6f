/* What a pod's annotation karpenter.sh/do-not-disrupt comes to, as Events on the pod: that it is mistyped,
 * when it ends, that it has ended (spec disruption 3.4). Told when the pod is seen with it; its end by the
 * clock. */
#include "base/safe_text.h"
#include "reconciler/stages.h"

static void tell_pod(struct pass *p, const struct pod *pod, bool warning, struct span reason,
                     struct span note)
{
    tell_silently(p->r, (struct decision){.kind = DECISION_KEEP,
                                          .warning = warning,
                                          .per_hour = NAN,
                                          .reason = reason,
                                          .note = note,
                                          .about = object_of(KIND_POD, &pod->meta)});
}

static bool is_kept(const struct pod *pod)
{
    return pod->node != SYM_NONE && pod->meta.deleted == 0 && !pod_is_terminal(pod);
}

static bool same_as(const struct pod *before, const struct pod *now, enum pod_keep keep)
{
    return before != NULL && before->node != SYM_NONE &&
           (keep == POD_KEEP_INVALID || before->start_time == now->start_time) &&
           span_eq(annotations_get(before->meta.annotations, SYM_DO_NOT_DISRUPT),
                   annotations_get(now->meta.annotations, SYM_DO_NOT_DISRUPT));
}

void do_not_disrupt_seen(struct pass *p, const struct pod *before, const struct pod *now)
{
    span_ms length;
    enum pod_keep keep = is_kept(now) ? pod_keep(now, &length) : POD_KEEP_NOT;
    if (keep == POD_KEEP_NOT || keep == POD_KEEP_ALWAYS || same_as(before, now, keep))
        return;
    if (keep == POD_KEEP_INVALID)
        tell_pod(p, now, true, SPAN("InvalidDoNotDisruptAnnotation"),
                 arena_printf(p->a,
                              "Invalid karpenter.sh/do-not-disrupt annotation: \"%.*s\" is neither \"true\" "
                              "nor a positive duration like 8h30m, ignoring annotation",
                              SPAN_ARG(safe_value(p->a, annotations_get(now->meta.annotations, SYM_DO_NOT_DISRUPT)))));
    else if (now->start_time != 0 && p->wall < now->start_time + length)
        tell_pod(p, now, false, SPAN("DoNotDisruptUntil"),
                 arena_printf(p->a, "The karpenter.sh/do-not-disrupt grace period will elapse at %.*s",
                              SPAN_ARG(time_text(p->a, now->start_time + length))));
}

void do_not_disrupt_scan(struct pass *p, const struct pod *pod, wall_ms since)
{
    span_ms length;
    if (!is_kept(pod) || pod_keep(pod, &length) != POD_KEEP_FOR || pod->start_time == 0)
        return;
    wall_ms end = pod->start_time + length;
    if (since != 0 && since < end && end <= p->wall)
        tell_pod(p, pod, false, SPAN("DoNotDisruptGracePeriodElapsed"),
                 SPAN("The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable"));
}
