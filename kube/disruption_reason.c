#include "kube/disruption_reason.h"

static const struct {
    struct span name, label;
} reasons[REASON_COUNT] = {
    [REASON_EMPTY] = {SPAN_INIT("Empty"), SPAN_INIT("empty")},
    [REASON_UNDERUTILIZED] = {SPAN_INIT("Underutilized"), SPAN_INIT("underutilized")},
    [REASON_DRIFTED] = {SPAN_INIT("Drifted"), SPAN_INIT("drifted")},
    [REASON_UNHEALTHY] = {SPAN_INIT("Unhealthy"), SPAN_INIT("unhealthy")},
};

struct span disruption_reason_name(enum disruption_reason r)
{
    return reasons[r].name;
}

struct span disruption_reason_label(enum disruption_reason r)
{
    return reasons[r].label;
}

bool disruption_reason_find(struct span name, enum disruption_reason *out)
{
    for (uint32_t r = 0; r < REASON_COUNT; r++)
        if (span_eq(name, reasons[r].name)) {
            *out = (enum disruption_reason)r;
            return true;
        }
    return false;
}
