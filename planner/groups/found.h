/* found: what a pass found of a group before it decided anything (spec node-groups 3.1): what a controller remembers of it
 * (memory.h), and tells people as Events (1.11). */
#ifndef PLANNER_GROUPS_FOUND_H
#define PLANNER_GROUPS_FOUND_H

#include "kube/node_groups.h"

enum group_request_end { /* of the request that the file has */
    REQUEST_NONE,        /* it has none */
    REQUEST_STANDS,
    REQUEST_DONE,        /* nobody is missing any more */
    REQUEST_TIMED_OUT,
};

/* Why the group is backed off from this pass on (3.12): its request timed out, or machines could not be made, and the
 * pass before did not know. */
struct group_failure {
    bool timed_out;
    span_ms after;    /* timed out: since it was asked for */
    int32_t machines; /* not timed out: so many fewer come */
    enum instance_error class;
    struct span code, message; /* as the status has them: "timeout" and how long, or the cloud's own */
};

struct group_unregistered {
    struct span machine;
    wall_ms since; /* the first pass that saw no Node for it */
};

struct group_found {
    enum group_request_end request;
    int32_t increase; /* what it still asks for, without what this pass adds; 0: nothing */
    bool revert_refused; /* it timed out, and the provider would not lower the target by all of it: it stays as it is */
    struct group_failure *failures; /* the time-out first, then by class and code */
    uint32_t failure_count;
    struct spans failed; /* ids of the machines that could not be made, the known ones included */
    struct group_unregistered *unregistered; /* machines that are to register, in the file's order */
    uint32_t unregistered_count;
    bool has_mismatch;
    struct group_mismatch mismatch; /* its `since` is this pass's when it is a new one */
};

/* What a person is told of it: the Event's reason, "ScaleUpTimedOut" or "ScaleUpFailed", and its text. */
const char *group_failure_reason(const struct group_failure *f);
struct span group_failure_text(const struct group_failure *f, struct span group, struct arena *a);

#endif
