/* files: what is wrong with files of objects, before anybody applies them: `stowage check -f`. */
#ifndef SERVER_CHECK_FILES_H
#define SERVER_CHECK_FILES_H

#include "server/check/report.h"
#include "server/input.h"

/* Reads o->files and says of each object what admission would say (kube/pool_validate.h, pool_warnings.h), what no controller
 * would use, and what the catalogue of o->instance_types does not have. `in`, which is not read yet, keeps the texts. False:
 * nothing could be looked at. */
bool check_files(struct check_report *r, const struct options *o, struct input *in, struct err *err);

#endif
