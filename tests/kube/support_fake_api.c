#include "support_fake_api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static struct span copy(struct span s)
{
    char *bytes = mem_new(s.len + 1);
    if (s.len != 0)
        memcpy(bytes, s.ptr, s.len);
    return (struct span){bytes, s.len};
}

static uint64_t on_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct fake_api *f = (struct fake_api *)api;
    if (f->count == FAKE_REQUESTS_MAX)
        abort();
    struct fake_request *own = &f->requests[f->count++];
    *own = (struct fake_request){.request = *r, .done = done, .user = user};
    own->request.ns = copy(r->ns);
    own->request.name = copy(r->name);
    own->request.subresource = copy(r->subresource);
    own->request.body = copy(r->body);
    own->request.field_selector = copy(r->field_selector);
    return f->count;
}

static void on_cancel(struct api *api, uint64_t id)
{
    (void)api;
    (void)id;
}

static void on_cancel_acts(struct api *api)
{
    ((struct fake_api *)api)->acts_cancelled++;
}

static void on_watch(struct api *api, enum kind k, const struct api_sink *sink)
{
    (void)api;
    (void)k;
    (void)sink;
}

static const struct api_ops ops = {
    .send = on_send, .cancel = on_cancel, .cancel_acts = on_cancel_acts, .watch = on_watch};

void fake_api_init(struct fake_api *f)
{
    memset(f, 0, sizeof(*f));
    f->api.ops = &ops;
    f->fail = -1;
    f->version = 100;
    f->objects = json_object();
    f->parser = doc_parser_new();
}

void fake_api_release(struct fake_api *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct api_request *r = &f->requests[i].request;
        free((void *)r->ns.ptr);
        free((void *)r->name.ptr);
        free((void *)r->subresource.ptr);
        free((void *)r->body.ptr);
        free((void *)r->field_selector.ptr);
    }
    json_decref(f->objects);
    doc_parser_free(f->parser);
}

static void key_of(char out[512], enum kind k, struct span ns, struct span name)
{
    snprintf(out, 512, "%d/%.*s/%.*s", (int)k, SPAN_ARG(ns), SPAN_ARG(name));
}

static void store(struct fake_api *f, const char *key, json_t *object)
{
    char version[16];
    snprintf(version, sizeof(version), "%d", ++f->version);
    json_t *metadata = json_object_get(object, "metadata");
    if (metadata == NULL) {
        metadata = json_object();
        json_object_set_new(object, "metadata", metadata);
    }
    json_object_set_new(metadata, "resourceVersion", json_string(version));
    json_object_set(f->objects, key, object);
}

void fake_api_put(struct fake_api *f, enum kind k, const char *ns, const char *name,
                  const char *text)
{
    char key[512];
    json_error_t error;
    json_t *object = json_loads(text, 0, &error);
    if (object == NULL)
        abort();
    key_of(key, k, span_of(ns), span_of(name));
    store(f, key, object);
    json_t *metadata = json_object_get(object, "metadata");
    json_object_set_new(metadata, "name", json_string(name));
    json_object_set_new(metadata, "namespace", json_string(ns));
    json_decref(object);
}

void fake_api_remove(struct fake_api *f, enum kind k, const char *ns, const char *name)
{
    char key[512];
    key_of(key, k, span_of(ns), span_of(name));
    json_object_del(f->objects, key);
}

const char *fake_api_get(struct fake_api *f, enum kind k, const char *ns, const char *name,
                         const char *path)
{
    static char text[2048];
    char key[512], part[128];
    key_of(key, k, span_of(ns), span_of(name));
    json_t *at = json_object_get(f->objects, key);
    for (const char *p = path; at != NULL && *p != '\0';) {
        size_t n = strcspn(p, ".");
        snprintf(part, sizeof(part), "%.*s", (int)n, p);
        at = json_object_get(at, part);
        p += n + (p[n] == '.');
    }
    snprintf(text, sizeof(text), "%s", json_is_string(at) ? json_string_value(at) : "");
    if (json_is_integer(at))
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(at));
    return text;
}

static json_t *list(struct fake_api *f, const struct api_request *r)
{
    struct span name = r->field_selector;
    struct span prefix = SPAN("metadata.name=");
    if (span_has_prefix(name, prefix))
        name = (struct span){name.ptr + prefix.len, name.len - prefix.len};
    json_t *items = json_array();
    const char *key;
    json_t *object;
    json_object_foreach(
        f->objects, key,
        object) if (atoi(key) == (int)r->kind &&
                    (name.len == 0 || span_eq(name, span_of(strrchr(key, '/') + 1))))
        json_array_append(items, object);
    return json_pack("{s:o}", "items", items);
}

/* Does it, and says with which status. */
static int act(struct fake_api *f, const struct api_request *r, json_t **reply)
{
    char key[512];
    key_of(key, r->kind, r->ns, r->name);
    json_t *old = json_object_get(f->objects, key);
    json_t *body = json_loadb(r->body.ptr, r->body.len, 0, NULL);
    const char *version =
        json_string_value(json_object_get(json_object_get(body, "metadata"), "resourceVersion"));
    const char *old_version =
        json_string_value(json_object_get(json_object_get(old, "metadata"), "resourceVersion"));
    int status = 200;
    if (r->verb == API_LIST)
        *reply = list(f, r);
    else if (r->verb == API_CREATE && old != NULL)
        status = 409;
    else if (r->verb != API_CREATE && old == NULL)
        status = 404;
    else if (version != NULL && old_version != NULL && strcmp(version, old_version) != 0)
        status = 409;
    else if (r->verb == API_CREATE || r->verb == API_UPDATE) {
        store(f, key, body);
    } else if (r->verb == API_MERGE) {
        json_object_update_recursive(old, body);
        store(f, key, old);
    }
    if (*reply == NULL && status == 200)
        *reply = json_incref(json_object_get(f->objects, key));
    json_decref(body);
    return status;
}

static void answer(struct fake_api *f, struct fake_request *request, bool lose)
{
    json_t *reply = NULL;
    struct api_result result = {.retry_after_s = -1};
    char *text = NULL;
    result.status = f->fail >= 0 ? f->fail : act(f, &request->request, &reply);
    if (lose)
        result.status = 0;
    enum err_kind kind = api_err_kind(result.status, (struct span){0});
    if (kind != ERR_NONE)
        err_set(&result.err, kind, "status %d", result.status);
    else if (reply != NULL && (text = json_dumps(reply, 0)) != NULL &&
             !doc_parse_json(f->parser, span_of(text), &result.body, &result.err))
        abort();
    request->answered = true;
    request->done(request->user, &result);
    free(text);
    json_decref(reply);
}

static size_t answer_all(struct fake_api *f, bool lose)
{
    size_t n = 0;
    for (; f->answered < f->count; n++)
        answer(f, &f->requests[f->answered++], lose);
    return n;
}

size_t fake_api_answer(struct fake_api *f)
{
    return answer_all(f, false);
}

size_t fake_api_lose(struct fake_api *f)
{
    return answer_all(f, true);
}
