#include "kube/patch.h"

#include "kube/condition_set.h"

void patch_status_begin(struct json *j, struct arena *a, struct conditions list)
{
    json_object_begin(j);
    json_put_object(j, "status");
    json_key(j, SPAN("conditions"));
    conditions_json(j, a, list);
}

void patch_status_end(struct json *j)
{
    json_object_end(j);
    json_object_end(j);
}
