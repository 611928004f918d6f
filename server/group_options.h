/* group_options: Cluster Autoscaler's flags, as `plan` takes them beside its own: one table of all that upstream has. */
#ifndef SERVER_GROUP_OPTIONS_H
#define SERVER_GROUP_OPTIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "planner/groups/flags.h"

struct group_options_given {
    struct group_flags flags;
    const char *first; /* flag that was given and has a meaning; NULL: none was */
};

/* Takes them out of argv (--name=value, --name value, a bare --name of a boolean), and leaves the others in *rest_out. */
bool group_options_take(struct arena *a, int argc, char *const *argv, struct group_options_given *out, int *count_out,
                        char ***rest_out, struct err *err);

/* All names, for "did you mean". */
uint32_t group_option_count(void);
const char *group_option_name(uint32_t i);
bool group_option_has_meaning(uint32_t i);

#endif
