/* Maps are jansson objects: they keep the order of insertion when a value is replaced, which is what
 * makes every walk, and so every run, the same. */
#include "sim/objects.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void objects_init(struct objects *o, wall_ms now)
{
    *o = (struct objects){.now = now};
    for (int k = 0; k < KIND_COUNT; k++) {
        o->kinds[k] = json_object();
        o->births[k] = json_object();
    }
    o->alive = json_object();
    o->applied = json_object();
}

/* ---- who hears ---- */

static void tell(const struct objects *o, enum kind k, const json_t *old, const json_t *fresh)
{
    for (uint32_t i = 0; i < o->listener_count; i++)
        o->listeners[i].heard(o->listeners[i].user, k, old, fresh);
}

void objects_listen(struct objects *o, objects_heard *heard, void *user)
{
    const char *key;
    json_t *object;
    assert(o->listener_count < OBJECTS_LISTENERS_MAX);
    o->listeners[o->listener_count].heard = heard;
    o->listeners[o->listener_count++].user = user;
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        json_object_foreach(o->kinds[k], key, object) {
            heard(user, k, NULL, object);
        }
    }
}

void objects_unlisten(struct objects *o, const void *user)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->listener_count; i++)
        if (o->listeners[i].user != user)
            o->listeners[kept++] = o->listeners[i];
    o->listener_count = kept;
}

/* ---- all of another ---- */

static json_t *created_now(const struct objects *o, json_t *object)
{
    json_t *fresh = json_copy(object), *meta = json_copy(tree_get(object, "metadata"));
    json_object_set_new(meta, "creationTimestamp", tree_of_time(o->now));
    json_object_set_new(fresh, "metadata", meta);
    return fresh;
}

static void adopt_kind(struct objects *o, const struct objects *from, int k)
{
    const char *key;
    json_t *object, *then = tree_of_time(from->now);
    json_object_clear(o->kinds[k]);
    json_object_clear(o->births[k]);
    json_object_foreach(from->kinds[k], key, object) {
        if (tree_is(object, "metadata.creationTimestamp", json_string_value(then)))
            json_object_set_new(o->kinds[k], key, created_now(o, object));
        else
            json_object_set(o->kinds[k], key, object);
        json_object_set_new(o->births[k], key, json_integer((json_int_t)++o->births_given));
        tell(o, (enum kind)k, NULL, json_object_get(o->kinds[k], key));
    }
    json_decref(then);
}

void objects_adopt(struct objects *o, const struct objects *from)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        adopt_kind(o, from, k);
        o->kind_versions[k] = from->kind_versions[k];
        if (k < KIND_STORED_COUNT)
            objects_trim(o, (enum kind)k, o->version);
    }
    json_object_clear(o->alive);
    json_object_update(o->alive, from->alive);
    json_object_update(o->applied, from->applied);
    o->version = from->version;
    o->uids = from->uids;
    o->names = from->names;
}

static void change_release(struct change *c)
{
    json_decref(c->object);
    free(c->text);
}

void objects_release(struct objects *o)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        json_decref(o->kinds[k]);
        json_decref(o->births[k]);
    }
    json_decref(o->alive);
    json_decref(o->applied);
    for (int k = 0; k < KIND_STORED_COUNT; k++) {
        for (uint32_t i = 0; i < o->logs[k].count; i++)
            change_release(&o->logs[k].items[i]);
        free(o->logs[k].items);
    }
}

bool objects_key(char out[OBJECTS_KEY_MAX], enum kind k, struct span ns, struct span name)
{
    if (name.len == 0 || ns.len + name.len + 2 > OBJECTS_KEY_MAX)
        return false;
    if (kind_info(k)->namespaced)
        snprintf(out, OBJECTS_KEY_MAX, "%.*s/%.*s", SPAN_ARG(ns), SPAN_ARG(name));
    else
        snprintf(out, OBJECTS_KEY_MAX, "%.*s", SPAN_ARG(name));
    return true;
}

bool objects_key_of(char out[OBJECTS_KEY_MAX], enum kind k, const json_t *object)
{
    return objects_key(out, k, tree_string(object, "metadata.namespace"),
                       tree_string(object, "metadata.name"));
}

json_t *objects_find(const struct objects *o, enum kind k, struct span ns, struct span name)
{
    char key[OBJECTS_KEY_MAX];
    return objects_key(key, k, ns, name) ? json_object_get(o->kinds[k], key) : NULL;
}

uint64_t objects_birth(const struct objects *o, enum kind k, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(o->births[k], key));
}

bool objects_alive(const struct objects *o, struct span uid)
{
    return uid.len != 0 && json_object_getn(o->alive, uid.ptr, uid.len) != NULL;
}

static void set_version(struct objects *o, json_t *object)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, ++o->version);
    tree_set(object, "metadata.resourceVersion", json_string(text));
}

static void log_change(struct objects *o, enum kind k, enum watch_event event, json_t *object)
{
    o->kind_versions[k] = o->version;
    if (k >= KIND_STORED_COUNT)
        return;
    struct change_log *log = &o->logs[k];
    if (log->count == log->capacity) {
        log->capacity = log->capacity != 0 ? log->capacity * 2 : 64;
        log->items = mem_grow(log->items, log->capacity, sizeof *log->items);
    }
    log->items[log->count++] = (struct change){
        .version = o->version, .at = o->now, .event = event, .object = json_incref(object)};
}

json_t *objects_put(struct objects *o, enum kind k, json_t *object)
{
    char key[OBJECTS_KEY_MAX];
    struct span uid = tree_string(object, "metadata.uid");
    set_version(o, object);
    objects_key_of(key, k, object);
    const json_t *old = json_object_get(o->kinds[k], key);
    if (old == NULL)
        json_object_set_new(o->births[k], key, json_integer((json_int_t)++o->births_given));
    tell(o, k, old, object);
    json_object_set_new(o->kinds[k], key, object);
    if (uid.len != 0)
        json_object_setn_new(o->alive, uid.ptr, uid.len, json_true());
    log_change(o, k, WATCH_PUT, object);
    return object;
}

void objects_remove(struct objects *o, enum kind k, const json_t *object)
{
    char key[OBJECTS_KEY_MAX];
    json_t *last = json_deep_copy(object);
    struct span uid = tree_string(last, "metadata.uid");
    set_version(o, last);
    objects_key_of(key, k, last);
    json_t *old = json_incref(json_object_get(o->kinds[k], key));
    json_object_del(o->kinds[k], key);
    json_object_del(o->births[k], key);
    tell(o, k, old != NULL ? old : last, NULL); /* what they heard of before, not what it was to become */
    json_decref(old);
    if (uid.len != 0)
        json_object_deln(o->alive, uid.ptr, uid.len);
    log_change(o, k, WATCH_DELETE, last);
    json_decref(last);
    o->removals++;
}

json_t *objects_new_uid(struct objects *o)
{
    char text[40];
    snprintf(text, sizeof text, "00000000-0000-4000-8000-%012" PRIx64, ++o->uids);
    return json_string(text);
}

void objects_new_suffix(struct objects *o, char out[6])
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t n = ++o->names;
    uint64_t hash = span_hash((struct span){(const char *)&n, sizeof n});
    for (int i = 0; i < 5; i++) {
        out[i] = letters[hash % (sizeof letters - 1)];
        hash /= sizeof letters - 1;
    }
    out[5] = '\0';
}

struct change *objects_changes_after(struct objects *o, enum kind k, uint64_t version,
                                     uint32_t *count_out)
{
    struct change_log *log = &o->logs[k];
    uint32_t low = 0, high = log->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (log->items[middle].version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    *count_out = log->count - low;
    return *count_out != 0 ? &log->items[low] : NULL;
}

struct span change_text(struct change *c)
{
    if (c->text == NULL) {
        struct buf b = {0};
        tree_put(&b, c->object);
        c->text = b.ptr; /* the buffer's memory moves here */
        c->text_len = b.len;
    }
    return (struct span){c->text, c->text_len};
}

struct span objects_text(struct objects *o, struct arena *a, enum kind k, const json_t *object)
{
    enum { LOOKED_AT = 32 };
    struct change_log *log = k < KIND_STORED_COUNT ? &o->logs[k] : NULL;
    for (uint32_t i = 0; log != NULL && i < log->count && i < LOOKED_AT; i++) {
        struct change *c = &log->items[log->count - 1 - i];
        if (c->object == object)
            return change_text(c);
    }
    return tree_text(a, object);
}

void objects_trim(struct objects *o, enum kind k, uint64_t upto)
{
    struct change_log *log = &o->logs[k];
    uint32_t gone = 0;
    while (gone < log->count && log->items[gone].version <= upto)
        change_release(&log->items[gone++]);
    if (gone == 0)
        return;
    log->trimmed = log->items[gone - 1].version;
    memmove(log->items, log->items + gone, (log->count - gone) * sizeof *log->items);
    log->count -= gone;
}
