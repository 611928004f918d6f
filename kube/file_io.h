/* file_io: a whole file into memory, with a ceiling. */
#ifndef KUBE_FILE_IO_H
#define KUBE_FILE_IO_H

#include "base/arena.h"
#include "base/err.h"

/* ERR_NOT_FOUND when there is none, ERR_INVALID for anything else; the message names path and
 * cause. */
bool file_load(struct arena *a, const char *path, size_t max, struct span *out, struct err *err);

#endif
