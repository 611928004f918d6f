/* support_pass: one whole pass over a cluster and a file of groups. */
#ifndef TESTS_PLANNER_GROUPS_SUPPORT_PASS_H
#define TESTS_PLANNER_GROUPS_SUPPORT_PASS_H

#include "planner/groups/pass.h"
#include "tests/planner/support_cluster.h"

/* A file of groups, or what it says of a group's template or options, as YAML; in the cluster's arena. Fails the test on
 * any mistake. */
void pass_read(struct cluster *c, const char *yaml, const struct schema *schema, void *out);
/* The cluster's objects as a pass takes them; lists stay the cluster's, until more is added. */
struct group_objects pass_objects(const struct cluster *c);
/* Decides over these objects at `now`, all but the world in `a`; the world is the caller's to free, after the answer. Fails the test where
 * the file and the cluster disagree. */
struct group_pass *pass_run(const struct cluster *c, const struct group_objects *objects, const struct node_groups *file,
                            const struct group_flags *flags, wall_ms now, struct arena *a, struct world **world_out);

#endif
