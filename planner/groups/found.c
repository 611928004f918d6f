#include "planner/groups/found.h"

#include "kube/meta.h"

const char *group_failure_reason(const struct group_failure *f)
{
    return f->timed_out ? "ScaleUpTimedOut" : "ScaleUpFailed";
}

/* Upstream's word for a class, which is not the one of the API. */
static const char *class_name(enum instance_error class)
{
    return class == INSTANCE_OUT_OF_RESOURCES ? "OutOfResource" : "Other";
}

struct span group_failure_text(const struct group_failure *f, struct span group, struct arena *a)
{
    if (f->timed_out) {
        struct span after = duration_text(a, f->after);
        return arena_printf(a, "Nodes added to group %.*s failed to register within %.*s", SPAN_ARG(group), SPAN_ARG(after));
    }
    return arena_printf(a, "Failed adding %d nodes to group %.*s due to %s.%.*s; source errors: %.*s", f->machines,
                        SPAN_ARG(group), class_name(f->class), SPAN_ARG(f->code), SPAN_ARG(f->message));
}
