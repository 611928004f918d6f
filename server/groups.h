/* groups: the node groups that `serve` keeps, by Cluster Autoscaler's flags (server/group_options.h). */
#ifndef SERVER_GROUPS_H
#define SERVER_GROUPS_H

#include "kube/api.h"
#include "kube/mirror_io.h"
#include "server/group_options.h"
#include "server/options.h"

/* The management cluster that the flags name beside the workload's, as Cluster Autoscaler's do; *out is NULL when it is the
 * same. `policy` is the workload's client's. The mirror is the caller's to start, stop and free. */
bool groups_management(struct arena *a, const struct group_options_given *given, const struct client_policy *policy,
                       struct mirror **out, struct err *err);
/* Opens the provider that --cloud-provider names into given->settings, or leaves it NULL when it names none. False: err has
 * the flag and what to write. The provider is the caller's to free; `management` (or NULL) is freed after it was last used,
 * and before it. */
bool groups_open(struct arena *a, struct group_options_given *given, struct api *api, struct mirror *management,
                 struct err *err);
/* Cluster Autoscaler's flags that were given and mean nothing here are an error, or with --ca-compat a line for the log
 * (absent: there are none). */
bool groups_meaningless(struct arena *a, const struct group_options_given *given, const struct options *o, struct span *line_out,
                        struct err *err);
/* What both command lines say: which of the two searches, and whether CapacityBuffers are filled. */
void groups_settle(struct group_options_given *given, struct options *o);
/* Stops what has no meaning together before anything is opened. */
bool groups_check(const struct group_options_given *given, struct err *err);

#endif
