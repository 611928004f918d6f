#include "kube/patch.h"

#include "kube/condition_set.h"

void patch_version(struct json *j, struct arena *a, const struct meta *m)
{
    json_put_string(j, "resourceVersion", arena_printf(a, "%llu", (unsigned long long)m->resource_version));
}

void patch_status_begin(struct json *j, struct arena *a, const struct meta *m, struct conditions list)
{
    json_object_begin(j);
    json_put_object(j, "metadata");
    patch_version(j, a, m);
    json_object_end(j);
    json_put_object(j, "status");
    json_key(j, SPAN("conditions"));
    conditions_json(j, a, list);
}

void patch_status_end(struct json *j)
{
    json_object_end(j);
    json_object_end(j);
}
