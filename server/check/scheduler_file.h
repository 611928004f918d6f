/* scheduler_file: a KubeSchedulerConfiguration, held against what Stowage needs of it. */
#ifndef SERVER_CHECK_SCHEDULER_FILE_H
#define SERVER_CHECK_SCHEDULER_FILE_H

#include "base/err.h"
#include "server/check/report.h"

/* Adds lines. `path` is for messages; *every_node_out: it has the scheduler look at every node. False with ERR_INVALID: the text is no such configuration. */
bool check_scheduler_file(struct check_report *r, const char *path, struct span text,
                          bool *every_node_out, struct err *err);

#endif
