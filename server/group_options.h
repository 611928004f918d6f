/* group_options: Cluster Autoscaler's flags, as `plan` and `serve` take them beside their own: one table of all that
 * upstream has. */
#ifndef SERVER_GROUP_OPTIONS_H
#define SERVER_GROUP_OPTIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "reconciler/groups/settings.h"

struct group_options_given {
    struct group_settings settings;
    struct span cloud_provider, cloud_config; /* absent: not given */
    bool fill_buffers; /* as the gate CapacityBuffer */
    bool resolve_buffers; /* --capacity-buffer-controller-enabled: what they come to is told in their status, as filling does */
    bool cloud_config_authoritative;          /* of clusterapi: without cloud_config the machines are where we run */
    struct spans nodes, discovery;
    const char *first, *first_of_loop; /* flag that was given and has a meaning in a pass, or for a loop; NULL: none was */
    struct spans without_meaning;      /* given, and of no effect here */
};

/* A flag as upstream writes it: --name, --name=value, -v, -v=4, -v4; absent value: none is in this argument. False: it is none. */
bool group_option_cut(const char *arg, struct span *name_out, struct span *value_out);
/* What was given is this name: upstream takes "_" for "-". */
bool group_option_is(struct span given, struct span name);

/* Takes them out of argv (--name=value, --name value, a bare --name of a boolean; upstream's one short flag, -v, in the same
 * ways), and leaves the others in *rest_out.
 * `is_own` (or NULL): flags of that name are left, too, "-v" being the short one; --namespace is taken as well. */
bool group_options_take(struct arena *a, int argc, char *const *argv, bool (*is_own)(struct span name),
                        struct group_options_given *out, int *count_out, char ***rest_out, struct err *err);

/* The machines are Cluster API's, in a management cluster of its own. */
bool group_options_elsewhere(const struct group_options_given *g);

/* All names, for "did you mean". */
uint32_t group_option_count(void);
const char *group_option_name(uint32_t i);
bool group_option_has_meaning(uint32_t i); /* in a pass */

#endif
