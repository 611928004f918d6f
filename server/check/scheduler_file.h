/* scheduler_file: a KubeSchedulerConfiguration, held against what Stowage needs of it. */
#ifndef SERVER_CHECK_SCHEDULER_FILE_H
#define SERVER_CHECK_SCHEDULER_FILE_H

#include "base/err.h"
#include "server/check/report.h"

/* Adds lines. `path` is for messages. False with ERR_INVALID: the text is no such configuration. */
bool check_scheduler_file(struct check_report *r, const char *path, struct span text, struct err *err);

#endif
