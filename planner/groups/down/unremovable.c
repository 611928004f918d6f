#include "planner/groups/down/unremovable.h"

const char *unremovable_name(enum unremovable u)
{
    static const char *const names[UNREMOVABLE_COUNT] = {
        [UNREMOVABLE_NOT] = "NoReason",
        [UNREMOVABLE_RECENTLY] = "RecentlyUnremovable",
        [UNREMOVABLE_BEING_DELETED] = "CurrentlyBeingDeleted",
        [UNREMOVABLE_DISABLED] = "ScaleDownDisabledAnnotation",
        [UNREMOVABLE_UNEXPECTED_ERROR] = "UnexpectedError",
        [UNREMOVABLE_UNREADY_DISABLED] = "ScaleDownUnreadyDisabled",
        [UNREMOVABLE_NOT_UNDERUTILIZED] = "NotUnderutilized",
        [UNREMOVABLE_BLOCKED_BY_POD] = "BlockedByPod",
        [UNREMOVABLE_NO_PLACE] = "NoPlaceToMovePods",
        [UNREMOVABLE_NOT_LONG_ENOUGH] = "NotUnneededLongEnough",
        [UNREMOVABLE_NOT_UNREADY_LONG_ENOUGH] = "NotUnreadyLongEnough",
        [UNREMOVABLE_MIN_SIZE] = "NodeGroupMinSizeReached",
        [UNREMOVABLE_MIN_RESOURCES] = "MinimalResourceLimitExceeded",
        [UNREMOVABLE_NOT_WHOLE_GROUP] = "AtomicScaleDownFailed",
        [UNREMOVABLE_ON_COMPLETION] = "BlockedByOnCompletionPod",
    };
    return names[u];
}
