/* The configuration and the templates as ConfigMaps have them: read one after the other as the provider is made, and anew
 * by a look as long as they could not be. What has been read holds until the process ends, as with Cluster Autoscaler.
 *
 * A reply may come after the provider is gone (a command that has seen enough): it then finds nobody, and ends what it
 * came for. */
#include <stdlib.h>

#include "cloud/groups/kwok_inner.h"

struct kwok_reading { /* a request under way */
    struct kwok_groups *of; /* NULL: it has gone */
    bool of_templates;
    struct span name; /* of the ConfigMap; of one block with this */
};

static void on_map(void *user, const struct api_result *r);

/* Under the lock. `name` is copied. */
static struct kwok_reading *plan(struct kwok_groups *k, struct span name, bool of_templates)
{
    struct kwok_reading *r = mem_new(sizeof(*r) + name.len);
    memcpy(r + 1, name.ptr, name.len);
    *r = (struct kwok_reading){.of = k, .of_templates = of_templates, .name = {(char *)(r + 1), name.len}};
    k->reading = r;
    return r;
}

/* The reply may come before this returns. */
static void ask(struct kwok_groups *k, struct kwok_reading *r)
{
    struct api_request request = {.verb = API_GET, .kind = KIND_CONFIG_MAP, .ns = k->options.maps_ns, .name = r->name};
    api_send(k->operations.api, &request, on_map, r);
}

/* In `a`: what messages call the text. */
static bool text_of(const struct kwok_reading *r, const struct api_result *result, struct arena *a, struct group_kwok_text *out,
                    struct err *err)
{
    struct span ns = r->of->options.maps_ns, key = r->of_templates ? SPAN(GROUP_KWOK_TEMPLATES_KEY) : SPAN(GROUP_KWOK_CONFIG_KEY);
    struct doc_value data;
    if (result->err.kind != ERR_NONE) {
        *err = result->err;
        if (err->kind == ERR_RETRY) /* which is that of a request under way */
            err->kind = ERR_INTERNAL;
        return err_wrap(err, "reading ConfigMap %.*s/%.*s", SPAN_ARG(ns), SPAN_ARG(r->name));
    }
    out->text = result->body != NULL && doc_find(doc_root(result->body), SPAN("data"), &data) && doc_type(data) == DOC_OBJECT
                    ? doc_text_at(data, key)
                    : SPAN("");
    out->from = arena_printf(a, "ConfigMap %.*s/%.*s, key %.*s", SPAN_ARG(ns), SPAN_ARG(r->name), SPAN_ARG(key));
    if (out->text.len == 0)
        return err_set(err, ERR_INVALID, "ConfigMap %.*s/%.*s: has no key \"%.*s\"; write the %s there", SPAN_ARG(ns),
                       SPAN_ARG(r->name), SPAN_ARG(key), r->of_templates ? "template Nodes" : "configuration");
    return true;
}

/* Under the lock. True: *next_out is the ConfigMap to read next, absent: that was all. */
static bool take(struct kwok_groups *k, const struct kwok_reading *r, const struct api_result *result, struct span *next_out,
                 struct err *err)
{
    struct group_kwok_text text;
    struct arena a;
    arena_init(&a, 0);
    *next_out = (struct span){NULL, 0};
    bool ok = text_of(r, result, &a, &text, err);
    if (ok && r->of_templates) {
        ok = kwok_groups_read(k, &text, err);
    } else if (ok) {
        struct group_kwok_config config;
        ok = group_kwok_read(&a, &text, &config, err);
        if (ok) {
            kwok_groups_configure(k, &config);
            *next_out = k->options.config.templates_map;
        }
    }
    arena_release(&a);
    return ok;
}

static void on_map(void *user, const struct api_result *result)
{
    struct kwok_reading *r = user, *then = NULL;
    struct kwok_groups *k = r->of;
    struct span next;
    struct err err = {0};
    if (k == NULL) {
        free(r);
        return;
    }
    pthread_mutex_lock(&k->operations.lock);
    bool ok = take(k, r, result, &next, &err);
    k->reading = NULL;
    k->unread = err;
    if (ok && next.len != 0)
        then = plan(k, next, true);
    else
        k->has_read = ok;
    pthread_mutex_unlock(&k->operations.lock);
    free(r);
    if (then != NULL)
        ask(k, then);
}

bool kwok_maps_read(struct kwok_groups *k, struct err *err)
{
    struct kwok_reading *r = NULL;
    pthread_mutex_lock(&k->operations.lock);
    bool done = k->has_read;
    *err = k->unread;
    if (!done && k->reading == NULL)
        r = plan(k, k->options.config_map, false);
    pthread_mutex_unlock(&k->operations.lock);
    if (r != NULL)
        ask(k, r);
    if (!done && err->kind == ERR_NONE)
        err_set(err, ERR_RETRY, "ConfigMap %.*s/%.*s is being read", SPAN_ARG(k->options.maps_ns),
                SPAN_ARG(k->options.config_map));
    return done;
}

void kwok_maps_leave(struct kwok_groups *k)
{
    if (k->reading != NULL)
        k->reading->of = NULL;
}
