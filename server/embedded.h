/* embedded: puts a person's own files (`serve --embedded -f`) into the cluster in memory. */
#ifndef SERVER_EMBEDDED_H
#define SERVER_EMBEDDED_H

#include "base/log.h"
#include "server/options.h"
#include "sim/cluster.h"

/* Reads as `plan` reads: a mistake goes to standard error with its file and line, and *err has the closing
 * line; what is set aside or passed over goes to the log, and is not in the cluster. A KWOKNodeClass that
 * a NodePool refers to and the files lack is made. */
bool embedded_load(struct sim_cluster *c, const struct options *o, const struct log *log,
                   struct err *err);

#endif
