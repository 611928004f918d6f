/* patch: what merge patches of objects that others write, too, begin with: the resourceVersion that the object must still
 * have, or the answer is a conflict. */
#ifndef KUBE_PATCH_H
#define KUBE_PATCH_H

#include "base/json.h"
#include "kube/meta.h"

/* The member of an open "metadata". */
void patch_version(struct json *j, struct arena *a, const struct meta *m);
/* A whole patch of a status, up to its conditions: more members of the status may follow. */
void patch_status_begin(struct json *j, struct arena *a, const struct meta *m, struct conditions list);
void patch_status_end(struct json *j);

#endif
