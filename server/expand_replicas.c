/* What if a workload had another number of pods. */
#include <stdlib.h>

#include "base/nearest.h"
#include "server/expand_inner.h"

/* --- which workload --- */

static bool is_named(const struct workload *w, struct span ns, struct span name)
{
    return expand_has_replicas(w) && span_eq(w->meta->name, name) && (ns.len == 0 || span_eq(w->meta->ns, ns));
}

static struct workload *none_is_named(const struct expansion *x, const char *text, struct err *err)
{
    struct arena *a = &x->o->arena;
    const char **names = ARENA_ARRAY(a, const char *, 2 * x->count);
    size_t n = 0;
    for (size_t i = 0; i < x->count; i++) {
        const struct workload *w = &x->items[i];
        if (!expand_has_replicas(w))
            continue;
        names[n++] = arena_cstr(a, w->meta->name);
        names[n++] = arena_printf(a, "%.*s/%.*s", SPAN_ARG(w->meta->ns), SPAN_ARG(w->meta->name)).ptr;
    }
    const char *near = nearest_word(text, names, n);
    err_set(err, ERR_INVALID,
                   "--replicas: there is no Deployment, StatefulSet, ReplicaSet or ReplicationController \"%s\" in the "
                   "input%s%s%s",
                   text, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
    return NULL;
}

static struct workload *find_named(const struct expansion *x, const char *text, struct err *err)
{
    struct span name, ns = span_cut(span_of(text), '/', &name);
    struct workload *found = NULL;
    if (name.len == 0) {
        name = ns;
        ns = (struct span){NULL, 0};
    }
    for (size_t i = 0; i < x->count; i++) {
        struct workload *w = &x->items[i];
        if (!is_named(w, ns, name))
            continue;
        if (found != NULL) {
            err_set(err, ERR_INVALID, "--replicas: \"%s\" is both %.*s and %.*s%s", text,
                           SPAN_ARG(kind_object_name(&x->o->arena, found->kind, found->meta)),
                           SPAN_ARG(kind_object_name(&x->o->arena, w->kind, w->meta)),
                           ns.len == 0 ? "; say NAMESPACE/NAME" : "");
            return NULL;
        }
        found = w;
    }
    return found != NULL ? found : none_is_named(x, text, err);
}

bool expand_take_replicas(struct expansion *x, const struct counts *replicas, struct err *err)
{
    for (uint32_t i = 0; i < replicas->count; i++) {
        struct workload *w = find_named(x, replicas->items[i].name, err);
        if (w == NULL)
            return false;
        w->wanted = replicas->items[i].count;
        w->asks = "--replicas";
        w->filled_up = true;
    }
    return true;
}

/* --- fewer --- */

static int64_t ordinal(const struct pod *p)
{
    struct span name = p->meta.name;
    size_t at = name.len;
    int64_t n = 0;
    while (at > 0 && name.ptr[at - 1] != '-')
        at--;
    return span_int64((struct span){name.ptr + at, name.len - at}, &n) ? n : 0;
}

static int by_claim(const void *a, const void *b)
{
    const struct pod *x = *(const void *const *)a, *y = *(const void *const *)b;
    bool waits = x->node == SYM_NONE, other = y->node == SYM_NONE;
    if (waits != other)
        return waits ? -1 : 1;
    if (x->meta.created != y->meta.created)
        return x->meta.created > y->meta.created ? -1 : 1;
    return span_cmp(x->meta.name, y->meta.name);
}

static int by_ordinal(const void *a, const void *b)
{
    int64_t x = ordinal(*(const void *const *)a), y = ordinal(*(const void *const *)b);
    return (x < y) - (x > y);
}

static int by_place(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(const void *const *)a, y = (uintptr_t)*(const void *const *)b;
    return (x > y) - (x < y);
}

void expand_shrink(struct expansion *x, const struct workload *w)
{
    struct input_list *pods = &x->o->kinds[KIND_POD];
    size_t n = 0, gone = (size_t)(w->pods - w->wanted), kept = 0;
    const void **own = ARENA_ARRAY(&x->o->arena, const void *, (size_t)w->pods);
    for (size_t i = 0; i < x->pods_given; i++)
        if (expand_counts(pods->items[i]) && expand_owner(x, pods->items[i]) == w)
            own[n++] = pods->items[i];
    qsort(own, n, sizeof(*own), w->kind == KIND_STATEFUL_SET ? by_ordinal : by_claim);
    qsort(own, gone, sizeof(*own), by_place);
    for (size_t i = 0; i < pods->count; i++)
        if (bsearch(&pods->items[i], own, gone, sizeof(*own), by_place) == NULL)
            pods->items[kept++] = pods->items[i];
    x->pods_given -= pods->count - kept;
    pods->count = kept;
    input_warn(x->o, arena_printf(&x->o->arena, "%zu of the %zu pods of %.*s %s left out", gone, n,
                                  SPAN_ARG(kind_object_name(&x->o->arena, w->kind, w->meta)), gone == 1 ? "is" : "are"));
}
