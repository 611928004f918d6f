/* unremovable: why a node stays (spec node-groups 4.11), those reasons that a pass can come to. */
#ifndef PLANNER_GROUPS_DOWN_UNREMOVABLE_H
#define PLANNER_GROUPS_DOWN_UNREMOVABLE_H

enum unremovable {
    UNREMOVABLE_NOT,
    /* who is no candidate at all (4.2) */
    UNREMOVABLE_RECENTLY,
    UNREMOVABLE_BEING_DELETED,
    UNREMOVABLE_DISABLED,
    UNREMOVABLE_UNEXPECTED_ERROR, /* nobody knows how much of it is used */
    UNREMOVABLE_UNREADY_DISABLED,
    UNREMOVABLE_NOT_UNDERUTILIZED,
    /* whose removal does not work out (4.5) */
    UNREMOVABLE_BLOCKED_BY_POD,
    UNREMOVABLE_NO_PLACE,
    /* who is unneeded and may not go yet (4.6) */
    UNREMOVABLE_NOT_LONG_ENOUGH,
    UNREMOVABLE_NOT_UNREADY_LONG_ENOUGH,
    UNREMOVABLE_MIN_SIZE,
    UNREMOVABLE_MIN_RESOURCES,
    UNREMOVABLE_NOT_WHOLE_GROUP,
    UNREMOVABLE_ON_COMPLETION,
    UNREMOVABLE_COUNT,
};

const char *unremovable_name(enum unremovable u); /* Cluster Autoscaler's: "NotUnderutilized"… */

#endif
