#include "json_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kube/resources.h"

/* jansson takes its memory through two functions without an argument of the caller's. */
static struct arena *memory;

static void *take(size_t n)
{
    return arena_alloc(memory, n);
}

static void leave(void *p)
{
    (void)p;
}

void json_memory(struct arena *a)
{
    memory = a;
    json_set_alloc_funcs(take, leave);
}

struct arena *json_arena(void)
{
    return memory;
}

void mistake(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail_msg("the scenario itself is wrong: %s", text);
    abort();
}

const char *text_of(const json_t *v)
{
    if (json_is_string(v))
        return json_string_value(v);
    if (json_is_integer(v))
        return format_text("%lld", (long long)json_integer_value(v));
    mistake("a text is wanted where there is %s", v == NULL ? "nothing"
                                                  : json_is_boolean(v)
                                                      ? "a boolean (put it in quotes)"
                                                      : "none");
}

const char *text_at(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return v != NULL ? text_of(v) : NULL;
}

const char *format_text(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return arena_cstr(memory, span_of(text));
}

static json_t *member_at(json_t *object, const char *path, json_t *(*make)(void))
{
    struct span rest = span_of(path);
    while (rest.len != 0) {
        const char *key = arena_cstr(memory, span_cut(rest, '.', &rest));
        json_t *next = json_object_get(object, key);
        if (next == NULL) {
            next = rest.len != 0 ? json_object() : make();
            json_object_set(object, key, next);
        }
        object = next;
    }
    return object;
}

json_t *object_at(json_t *object, const char *path)
{
    return member_at(object, path, json_object);
}

json_t *array_at(json_t *object, const char *path)
{
    return member_at(object, path, json_array);
}

int64_t milli_of(const json_t *quantity)
{
    struct err err;
    amount value = 0;
    if (json_is_real(quantity))
        return (int64_t)(json_real_value(quantity) * 1000 + 0.5);
    if (!quantity_parse(span_of(text_of(quantity)), 1000, &value, &err))
        mistake("%s is not a quantity: %s", text_of(quantity), err.msg);
    return value;
}

json_t *milli_text(int64_t milli)
{
    return milli % 1000 == 0 ? json_sprintf("%lld", (long long)milli / 1000)
                             : json_sprintf("%lldm", (long long)milli);
}

const char *full_key(const char *name)
{
    static const char *const keys[][2] = {
        {"zone", "topology.kubernetes.io/zone"},
        {"region", "topology.kubernetes.io/region"},
        {"hostname", "kubernetes.io/hostname"},
        {"instance-type", "node.kubernetes.io/instance-type"},
        {"arch", "kubernetes.io/arch"},
        {"os", "kubernetes.io/os"},
        {"capacity-type", "karpenter.sh/capacity-type"},
        {"nodepool", "karpenter.sh/nodepool"},
        {"reservation", "example.com/reservation"},
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (strcmp(name, keys[i][0]) == 0)
            return keys[i][1];
    return name;
}

json_t *full_keys(const json_t *labels)
{
    json_t *out = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)labels, key, value)
        json_object_set_new(out, full_key(key), json_string(text_of(value)));
    return out;
}

json_t *requirement_of_text(const char *text)
{
    struct span rest = span_of(text);
    const char *key = full_key(arena_cstr(memory, span_cut(rest, ' ', &rest)));
    const char *op = arena_cstr(memory, span_cut(rest, ' ', &rest));
    if (op == NULL)
        mistake("\"%s\" has no operator", text);
    json_t *r = json_pack("{s:s, s:s}", "key", key, "operator", op);
    while (rest.len != 0) {
        struct span word = span_cut(rest, ' ', &rest);
        int64_t least;
        if (span_eq(word, SPAN("minValues"))) {
            if (!span_int64(rest, &least))
                mistake("\"%s\": minValues takes a number and comes last", text);
            json_object_set_new(r, "minValues", json_integer(least));
            break;
        }
        json_array_append_new(array_at(r, "values"), json_string(arena_cstr(memory, word)));
    }
    return r;
}

json_t *requirements_of_texts(const json_t *list)
{
    json_t *out = json_array(), *v;
    size_t i;
    if (list != NULL && !json_is_array(list))
        mistake("requirements are a list of texts like \"zone In z1 z2\"");
    json_array_foreach(list, i, v)
        json_array_append(out, json_is_object(v) ? v : requirement_of_text(text_of(v)));
    return out;
}

static bool among(const json_t *values, const char *value)
{
    size_t i;
    json_t *v;
    json_array_foreach(values, i, v)
        if (strcmp(text_of(v), value) == 0)
            return true;
    return false;
}

static bool bound_allows(const json_t *r, const char *op, const char *value)
{
    int64_t bound, x;
    if (!span_int64(span_of(text_of(json_array_get(json_object_get(r, "values"), 0))), &bound) ||
        !span_int64(span_of(value), &x))
        return false;
    return strcmp(op, "Gt") == 0    ? x > bound
           : strcmp(op, "Gte") == 0 ? x >= bound
           : strcmp(op, "Lt") == 0  ? x < bound
                                    : x <= bound;
}

bool requirements_allow(const json_t *list, const char *key, const char *value)
{
    size_t i;
    json_t *r;
    json_array_foreach(list, i, r) {
        const char *op = text_at(r, "operator");
        const json_t *values = json_object_get(r, "values");
        if (strcmp(text_at(r, "key"), key) != 0 || strcmp(op, "Exists") == 0)
            continue;
        bool ok = strcmp(op, "In") == 0             ? among(values, value)
                  : strcmp(op, "NotIn") == 0        ? !among(values, value)
                  : strcmp(op, "DoesNotExist") == 0 ? false
                                                    : bound_allows(r, op, value);
        if (!ok)
            return false;
    }
    return true;
}
