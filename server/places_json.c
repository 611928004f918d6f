#include "server/places_json.h"

#include <stdlib.h>

#include "base/json.h"

static int by_target(const void *a, const void *b)
{
    const struct place *x = *(const struct place *const *)a, *y = *(const struct place *const *)b;
    int order = span_cmp(x->target, y->target);
    if (order == 0)
        order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->pod, y->pod);
}

/* The targets of one sort, each with its pods. */
static void write_targets(struct json *j, struct arena *a, const char *key,
                          const struct place *const *sorted, uint32_t count, bool on_claim)
{
    struct span open = {NULL, 0};
    json_put_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        const struct place *p = sorted[i];
        if (p->on_claim != on_claim)
            continue;
        if (open.ptr == NULL || !span_eq(open, p->target)) {
            if (open.ptr != NULL) {
                json_array_end(j);
                json_object_end(j);
            }
            open = p->target;
            json_object_begin(j);
            json_put_string(j, "name", p->target);
            json_put_array(j, "pods");
        }
        json_text(j, arena_printf(a, "%.*s/%.*s", SPAN_ARG(p->ns), SPAN_ARG(p->pod)));
    }
    if (open.ptr != NULL) {
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

void places_json(const struct places *p, struct buf *out)
{
    struct arena a;
    arena_init(&a, 0);
    uint32_t count = p != NULL ? p->count : 0;
    const struct place **sorted = ARENA_ARRAY(&a, const struct place *, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &p->items[i];
    if (count != 0)
        qsort(sorted, count, sizeof(*sorted), by_target);
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("stowage.dev/v1alpha1"));
    json_put_string(&j, "kind", SPAN("Plan"));
    write_targets(&j, &a, "nodeClaims", sorted, count, true);
    write_targets(&j, &a, "existingNodes", sorted, count, false);
    json_object_end(&j);
    arena_release(&a);
}
