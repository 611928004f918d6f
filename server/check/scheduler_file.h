/* scheduler_file: a KubeSchedulerConfiguration, held against what Stowage needs of it. */
#ifndef SERVER_CHECK_SCHEDULER_FILE_H
#define SERVER_CHECK_SCHEDULER_FILE_H

#include "base/err.h"
#include "server/check/report.h"

struct scheduler_copy { /* of what Secret stowage-scheduler-client holds */
    struct span where; /* "/etc/kubernetes/stowage/ca.crt", "tlsConfig.caData"; absent: the file names none */
    struct span text;  /* PEM; absent: it cannot be read here, and `why` says what is in the way */
    struct err why;
};

struct scheduler_file { /* zero: none was given */
    bool every_node; /* it has the scheduler look at every node */
    struct scheduler_copy ca, cert; /* of Stowage's extender */
};

/* Adds lines, and reads what the file names. `path` is for messages. False with ERR_INVALID: the text is no such
 * configuration. */
bool check_scheduler_file(struct check_report *r, const char *path, struct span text, struct scheduler_file *out,
                          struct err *err);

#endif
