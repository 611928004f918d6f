#include "sim/standins/marks.h"

#include <stdlib.h>

void marks_init(struct marks *m, enum kind k)
{
    *m = (struct marks){k, json_object()};
}

void marks_release(struct marks *m)
{
    json_decref(m->keys);
}

void marks_add(struct marks *m, const json_t *object)
{
    marks_add_named(m, tree_string(object, "metadata.namespace"), tree_string(object, "metadata.name"));
}

void marks_add_named(struct marks *m, struct span ns, struct span name)
{
    char key[OBJECTS_KEY_MAX];
    if (objects_key(key, m->kind, ns, name))
        json_object_set_new(m->keys, key, json_true());
}

void marks_add_keys(struct marks *m, const json_t *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)keys, key, value) {
        json_object_set_new(m->keys, key, json_true());
    }
}

bool marks_any(const struct marks *m)
{
    return json_object_size(m->keys) != 0;
}

json_t *marks_take(struct marks *m, const struct objects *o)
{
    json_t *all = objects_by_age(o, m->kind, m->keys);
    json_object_clear(m->keys);
    return all;
}

/* ---- groups ---- */

void groups_init(struct groups *g)
{
    g->sets = json_object();
}

void groups_release(struct groups *g)
{
    json_decref(g->sets);
}

void groups_add(struct groups *g, struct span name, const char *key)
{
    if (name.len == 0)
        return;
    json_t *set = json_object_getn(g->sets, name.ptr, name.len);
    if (set == NULL) {
        set = json_object();
        json_object_setn_new(g->sets, name.ptr, name.len, set);
    }
    json_object_set_new(set, key, json_true());
}

void groups_drop(struct groups *g, struct span name, const char *key)
{
    json_t *set = name.len != 0 ? json_object_getn(g->sets, name.ptr, name.len) : NULL;
    json_object_del(set, key);
    if (set != NULL && json_object_size(set) == 0)
        json_object_deln(g->sets, name.ptr, name.len);
}

void groups_move(struct groups *g, const char *key, struct span old, struct span fresh)
{
    if (old.len != 0 && !span_eq(old, fresh))
        groups_drop(g, old, key);
    if (fresh.len != 0 && !span_eq(old, fresh))
        groups_add(g, fresh, key);
}

const json_t *groups_keys(const struct groups *g, struct span name)
{
    return name.len != 0 ? json_object_getn(g->sets, name.ptr, name.len) : NULL;
}

/* ---- counts ---- */

void counts_init(struct counts *c)
{
    c->by_name = json_object();
}

void counts_release(struct counts *c)
{
    json_decref(c->by_name);
}

void counts_add(struct counts *c, struct span name, int64_t more)
{
    if (name.len == 0 || more == 0)
        return;
    json_t *known = json_object_getn(c->by_name, name.ptr, name.len);
    int64_t sum = (known != NULL ? json_integer_value(known) : 0) + more;
    if (sum == 0)
        json_object_deln(c->by_name, name.ptr, name.len);
    else if (known != NULL)
        json_integer_set(known, sum);
    else
        json_object_setn_new(c->by_name, name.ptr, name.len, json_integer(sum));
}

int64_t counts_get(const struct counts *c, struct span name)
{
    return name.len != 0 ? json_integer_value(json_object_getn(c->by_name, name.ptr, name.len)) : 0;
}

/* ---- by age ---- */

struct aged {
    uint64_t birth;
    json_t *object;
};

static int by_birth(const void *a, const void *b)
{
    uint64_t x = ((const struct aged *)a)->birth, y = ((const struct aged *)b)->birth;
    return (x > y) - (x < y);
}

json_t *objects_by_age(const struct objects *o, enum kind k, const json_t *keys)
{
    size_t count = 0, room = json_object_size(keys);
    struct aged *found = mem_array(room + 1, sizeof *found);
    const char *key;
    json_t *value, *all = json_array();
    json_object_foreach((json_t *)(uintptr_t)keys, key, value) {
        json_t *object = json_object_get(o->kinds[k], key);
        if (object != NULL)
            found[count++] = (struct aged){objects_birth(o, k, key), object};
    }
    qsort(found, count, sizeof *found, by_birth);
    for (size_t i = 0; i < count; i++)
        json_array_append(all, found[i].object);
    free(found);
    return all;
}
