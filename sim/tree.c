#include "sim/tree.h"

#include <string.h>

#include "base/json.h"
#include "kube/meta.h"

json_t *tree_parse(struct span text)
{
    json_error_t error;
    return json_loadb(text.ptr != NULL ? text.ptr : "", text.len, JSON_DECODE_ANY, &error);
}

static json_t *number_of_doc(struct doc_value v)
{
    int64_t whole;
    double real;
    if (doc_int64(v, &whole))
        return json_integer(whole);
    return doc_double(v, &real) ? json_real(real) : json_null();
}

json_t *tree_of_doc(struct doc_value v)
{
    struct doc_iter it = doc_iter_of(v);
    json_t *out;
    switch (doc_type(v)) {
    case DOC_BOOL:
        return json_boolean(doc_bool(v));
    case DOC_NUMBER:
        return number_of_doc(v);
    case DOC_STRING:
        return tree_of_span(doc_text(v));
    case DOC_ARRAY:
        out = json_array();
        while (doc_next(&it))
            json_array_append_new(out, tree_of_doc(it.value));
        return out;
    case DOC_OBJECT:
        out = json_object();
        while (doc_next(&it)) {
            json_t *key = tree_of_span(it.key);
            json_object_set_new(out, json_string_value(key), tree_of_doc(it.value));
            json_decref(key);
        }
        return out;
    case DOC_NULL:
        break;
    }
    return json_null();
}

static void put_real(struct buf *out, double v)
{
    char text[JSON_DOUBLE_SIZE];
    size_t n = json_double_text(v, text);
    buf_add(out, (struct span){text, n});
    if (strpbrk(text, ".e") == NULL)
        buf_add(out, SPAN(".0")); /* or it would be read as an integer */
}

static void put_array(struct buf *out, const json_t *v)
{
    size_t i;
    json_t *item;
    buf_add_char(out, '[');
    json_array_foreach((json_t *)(uintptr_t)v, i, item) {
        if (i != 0)
            buf_add_char(out, ',');
        tree_put(out, item);
    }
    buf_add_char(out, ']');
}

static void put_object(struct buf *out, const json_t *v)
{
    json_t *object = (json_t *)(uintptr_t)v;
    buf_add_char(out, '{');
    for (void *at = json_object_iter(object); at != NULL;) {
        json_add_text(out, (struct span){json_object_iter_key(at), json_object_iter_key_len(at)});
        buf_add_char(out, ':');
        tree_put(out, json_object_iter_value(at));
        at = json_object_iter_next(object, at);
        if (at != NULL)
            buf_add_char(out, ',');
    }
    buf_add_char(out, '}');
}

void tree_put(struct buf *out, const json_t *v)
{
    if (v == NULL)
        return;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        put_object(out, v);
        break;
    case JSON_ARRAY:
        put_array(out, v);
        break;
    case JSON_STRING:
        json_add_text(out, (struct span){json_string_value(v), json_string_length(v)});
        break;
    case JSON_INTEGER:
        buf_add_int(out, json_integer_value(v));
        break;
    case JSON_REAL:
        put_real(out, json_real_value(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_add(out, json_is_true(v) ? SPAN("true") : SPAN("false"));
        break;
    case JSON_NULL:
        buf_add(out, SPAN("null"));
        break;
    }
}

struct span tree_text(struct arena *a, const json_t *v)
{
    struct buf b = {0};
    tree_put(&b, v);
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

/* One step of a path: its name in `name`, the rest returned, NULL at the end. */
enum { STEP_MAX = 64 };

static const char *step(const char *path, char name[STEP_MAX])
{
    size_t n = strcspn(path, ".");
    size_t kept = n < STEP_MAX - 1 ? n : STEP_MAX - 1;
    memcpy(name, path, kept);
    name[kept] = '\0';
    return path[n] == '.' ? path + n + 1 : NULL;
}

json_t *tree_get(const json_t *root, const char *path)
{
    json_t *at = (json_t *)(uintptr_t)root; /* jansson's readers take no const */
    while (path != NULL && at != NULL) {
        const char *dot = strchr(path, '.');
        at = json_object_getn(at, path, dot != NULL ? (size_t)(dot - path) : strlen(path));
        path = dot != NULL ? dot + 1 : NULL;
    }
    return json_is_null(at) ? NULL : at;
}

struct span tree_string(const json_t *root, const char *path)
{
    const json_t *v = tree_get(root, path);
    if (!json_is_string(v))
        return (struct span){NULL, 0};
    return (struct span){json_string_value(v), json_string_length(v)};
}

int64_t tree_int(const json_t *root, const char *path, int64_t otherwise)
{
    const json_t *v = tree_get(root, path);
    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

bool tree_is(const json_t *root, const char *path, const char *text)
{
    return span_eq(tree_string(root, path), span_of(text)) && tree_get(root, path) != NULL;
}

void tree_set(json_t *root, const char *path, json_t *value)
{
    char name[STEP_MAX];
    json_t *at = root;
    const char *rest = step(path, name);
    while (rest != NULL) {
        json_t *next = json_object_get(at, name);
        if (!json_is_object(next)) {
            next = json_object();
            json_object_set_new(at, name, next);
        }
        at = next;
        rest = step(rest, name);
    }
    json_object_set_new(at, name, value);
}

void tree_remove(json_t *root, const char *path)
{
    char name[STEP_MAX];
    json_t *at = root;
    for (const char *rest = step(path, name); rest != NULL && at != NULL; rest = step(rest, name))
        at = json_object_get(at, name);
    if (at != NULL)
        json_object_del(at, name);
}

json_t *tree_of_span(struct span s)
{
    json_t *v = json_stringn(s.ptr != NULL ? s.ptr : "", s.len);
    return v != NULL ? v : json_string("?");
}

json_t *tree_of_time(wall_ms t)
{
    struct arena a;
    arena_init(&a, 64);
    json_t *v = tree_of_span(time_text(&a, t));
    arena_release(&a);
    return v;
}

void tree_merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
        if (json_is_null(value)) {
            json_object_del(target, key);
            continue;
        }
        if (!json_is_object(value)) {
            json_object_set_new(target, key, json_deep_copy(value));
            continue;
        }
        json_t *into = json_object_get(target, key);
        if (!json_is_object(into)) {
            into = json_object();
            json_object_set_new(target, key, into);
        }
        tree_merge(into, value);
    }
}

json_t *tree_condition(const json_t *object, const char *type)
{
    size_t i;
    json_t *c;
    json_array_foreach(tree_get(object, "status.conditions"), i, c) {
        if (tree_is(c, "type", type))
            return c;
    }
    return NULL;
}

bool tree_condition_is(const json_t *object, const char *type, const char *status)
{
    const json_t *c = tree_condition(object, type);
    return c != NULL && tree_is(c, "status", status);
}

bool tree_condition_set(json_t *object, const char *type, const char *status, const char *reason,
                        const char *message, wall_ms now)
{
    json_t *c = tree_condition(object, type);
    if (c != NULL && tree_is(c, "status", status) && tree_is(c, "reason", reason) &&
        span_eq(tree_string(c, "message"), span_of(message)))
        return false;
    if (c == NULL) {
        json_t *list = tree_get(object, "status.conditions");
        if (list == NULL) {
            list = json_array();
            tree_set(object, "status.conditions", list);
        }
        c = json_object();
        tree_set(c, "type", json_string(type));
        json_array_append_new(list, c);
    }
    if (!tree_is(c, "status", status))
        tree_set(c, "lastTransitionTime", tree_of_time(now));
    tree_set(c, "status", json_string(status));
    tree_set(c, "reason", json_string(reason));
    tree_set(c, "message", json_string(message));
    return true;
}

static bool values_have(const json_t *values, const char *text)
{
    size_t i;
    json_t *v;
    json_array_foreach(values, i, v) {
        if (json_is_string(v) && strcmp(json_string_value(v), text) == 0)
            return true;
    }
    return false;
}

static bool expression_matches(const json_t *e, const json_t *labels)
{
    const json_t *key = tree_get(e, "key");
    const json_t *label = key != NULL ? json_object_get(labels, json_string_value(key)) : NULL;
    const json_t *values = tree_get(e, "values");
    if (tree_is(e, "operator", "In"))
        return label != NULL && values_have(values, json_string_value(label));
    if (tree_is(e, "operator", "NotIn"))
        return label == NULL || !values_have(values, json_string_value(label));
    if (tree_is(e, "operator", "Exists"))
        return label != NULL;
    return tree_is(e, "operator", "DoesNotExist") && label == NULL;
}

bool tree_selects(const json_t *selector, const json_t *labels)
{
    const char *key;
    json_t *value;
    size_t i;
    if (!json_is_object(selector))
        return false;
    json_object_foreach(tree_get(selector, "matchLabels"), key, value) {
        if (!json_equal(json_object_get(labels, key), value))
            return false;
    }
    json_array_foreach(tree_get(selector, "matchExpressions"), i, value) {
        if (!expression_matches(value, labels))
            return false;
    }
    return true;
}

json_t *tree_controller(const json_t *object)
{
    size_t i;
    json_t *owner;
    json_array_foreach(tree_get(object, "metadata.ownerReferences"), i, owner) {
        if (json_is_true(json_object_get(owner, "controller")))
            return owner;
    }
    return NULL;
}

bool tree_owned_by(const json_t *object, struct span uid)
{
    size_t i;
    json_t *owner;
    json_array_foreach(tree_get(object, "metadata.ownerReferences"), i, owner) {
        if (span_eq(tree_string(owner, "uid"), uid))
            return true;
    }
    return false;
}
