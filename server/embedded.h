/* embedded: puts a person's own files (`serve --embedded -f`) into the cluster in memory. */
#ifndef SERVER_EMBEDDED_H
#define SERVER_EMBEDDED_H

#include "base/log.h"
#include "server/input.h"
#include "sim/cluster.h"

/* Reads the files as `plan` reads them into an input of the caller's, who tells its warnings and mistakes; what is set
 * aside or passed over is not in the cluster. A KWOKNodeClass that a NodePool refers to and the files lack is made;
 * `log` (may be NULL) hears of it. */
bool embedded_read(struct sim_cluster *c, struct input *in, const struct options *o, const struct log *log,
                   struct err *err);
/* The same for `serve`: a mistake goes to standard error with its file and line, and *err has the closing line; the
 * warnings go to the log. */
bool embedded_load(struct sim_cluster *c, const struct options *o, const struct log *log,
                   struct err *err);

#endif
