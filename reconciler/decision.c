#include "reconciler/decision.h"

const char *decision_kind_name(enum decision_kind k)
{
    static const char *const names[DECISION_COUNT] = {
        [DECISION_NONE] = "none",     [DECISION_PLAN] = "plan",
        [DECISION_BUY] = "buy",       [DECISION_HOLD] = "hold",
        [DECISION_PLACE] = "place",   [DECISION_NO_PLACE] = "no-place",
        [DECISION_LAUNCH] = "launch", [DECISION_READY] = "ready",
        [DECISION_BOUND] = "bound",   [DECISION_KEEP] = "keep",
        [DECISION_REMOVE] = "remove", [DECISION_DRAIN] = "drain",
        [DECISION_GONE] = "gone",     [DECISION_SET_ASIDE] = "set-aside",
        [DECISION_GUARD] = "guard",   [DECISION_OBSERVE] = "observe",
        [DECISION_FAIL] = "fail",
    };
    return k < DECISION_COUNT ? names[k] : "";
}
