/* patch: a merge patch of a status. */
#ifndef KUBE_PATCH_H
#define KUBE_PATCH_H

#include "base/json.h"
#include "kube/meta.h"

/* All of it, up to its conditions: more members of the status may follow. */
void patch_status_begin(struct json *j, struct arena *a, struct conditions list);
void patch_status_end(struct json *j);

#endif
