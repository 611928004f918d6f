#include "certs/certs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/doc.h"
#include "certs/bundle.h"
#include "certs/secrets.h"
#include "certs/webhook_configuration.h"

static const wall_ms WALL = 1767225600000; /* 2026-01-01 */

/* --- an API server that holds two Secrets and two webhook configurations --- */

enum { OBJECTS_MAX = 6, CALLS_MAX = 16 };

struct object {
    char name[64];
    char *json; /* as it was written */
    int version;
};

struct call {
    enum api_verb verb;
    char name[64];
    char *body;
    api_done *done;
    void *user;
};

struct fake {
    struct api api;
    struct doc_parser *parser;
    struct object objects[OBJECTS_MAX];
    size_t object_count;
    struct call calls[CALLS_MAX];
    size_t call_count;
    char log[2048];
    enum err_kind refuse_writes; /* ERR_NONE: they are taken */
    const char *refuse;          /* the one object that must not be written; NULL: none */
    const char *scheduler_ns;    /* of the scheduler's Secret; NULL: that of the other */
};

static char *copy(struct span s)
{
    char *text = mem_new(s.len + 1);
    if (s.len != 0)
        memcpy(text, s.ptr, s.len);
    return text;
}

static uint64_t fake_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct fake *f = (struct fake *)api;
    assert_true(f->call_count < CALLS_MAX);
    struct call *c = &f->calls[f->call_count++];
    *c = (struct call){r->verb, "", copy(r->body), done, user};
    snprintf(c->name, sizeof(c->name), "%.*s", SPAN_ARG(r->name));
    if (r->kind == KIND_SECRET)
        assert_true(span_eq(r->ns, f->scheduler_ns != NULL && span_eq(r->name, SPAN("stowage-scheduler-client"))
                                       ? span_of(f->scheduler_ns)
                                       : SPAN("stowage-system")));
    else
        assert_string_equal(c->name, r->kind == KIND_VALIDATING_WEBHOOK ? "stowage" : "stowage-shaping");
    return 1;
}

static const struct api_ops fake_ops = {.send = fake_send};

static struct object *object_of(struct fake *f, const char *name)
{
    for (size_t i = 0; i < f->object_count; i++)
        if (strcmp(f->objects[i].name, name) == 0)
            return &f->objects[i];
    return NULL;
}

static struct object *put_object(struct fake *f, const char *name, const char *json)
{
    struct object *o = object_of(f, name);
    if (o == NULL) {
        assert_true(f->object_count < OBJECTS_MAX);
        o = &f->objects[f->object_count++];
        snprintf(o->name, sizeof(o->name), "%s", name);
    }
    free(o->json);
    o->json = copy(span_of(json));
    o->version++;
    return o;
}

static void delete_object(struct fake *f, const char *name)
{
    struct object *o = object_of(f, name);
    assert_non_null(o);
    free(o->json);
    *o = f->objects[--f->object_count];
    f->objects[f->object_count] = (struct object){"", NULL, 0};
}

/* The stored text with its resourceVersion in it, as the API server gives it. */
static struct buf shown(const struct object *o)
{
    static const char key[] = "\"resourceVersion\":\"", meta[] = "\"metadata\":{";
    struct buf out = {0};
    const char *old = strstr(o->json, key), *at = old != NULL ? old : strstr(o->json, meta);
    assert_non_null(at);
    at += old != NULL ? 0 : strlen(meta);
    buf_add(&out, (struct span){o->json, (size_t)(at - o->json)});
    buf_addf(&out, "%s%d\"%s", key, o->version, old != NULL ? "" : ",");
    buf_add(&out, span_of(old != NULL ? strchr(at + strlen(key), '"') + 1 : at));
    return out;
}

/* A write that was made for another version than the object has. */
static bool is_stale(const struct object *o, const char *body)
{
    static const char key[] = "\"resourceVersion\":\"";
    const char *at = strstr(body, key);
    return at != NULL && (o == NULL || atoi(at + strlen(key)) != o->version);
}

static void reply(struct fake *f, struct call *c, enum err_kind kind, const struct object *o)
{
    struct api_result r = {.status = 200, .retry_after_s = -1};
    struct buf text = {0};
    struct err err;
    if (kind != ERR_NONE)
        err_set(&r.err, kind, "the server says %s", err_kind_name(kind));
    if (kind == ERR_NONE && o != NULL) {
        text = shown(o);
        if (!doc_parse_json(f->parser, buf_span(&text), &r.body, &err))
            fail_msg("%s in %s", err.msg, text.ptr);
    }
    struct call call = *c;
    memmove(c, c + 1, (size_t)(f->calls + f->call_count - c - 1) * sizeof(*c));
    f->call_count--;
    free(call.body);
    call.done(call.user, &r);
    buf_release(&text);
}

static void answer(struct fake *f, struct call *c)
{
    static const char *const verbs[] = {[API_GET] = "get",
                                        [API_CREATE] = "create",
                                        [API_MERGE] = "merge",
                                        [API_APPLY] = "apply"};
    struct object *o = object_of(f, c->name);
    size_t used = strlen(f->log);
    snprintf(f->log + used, sizeof(f->log) - used, "%s%s %s", used != 0 ? ", " : "",
             verbs[c->verb], c->name);
    if (c->verb == API_GET)
        reply(f, c, o == NULL ? ERR_NOT_FOUND : ERR_NONE, o);
    else if (f->refuse_writes != ERR_NONE)
        reply(f, c, f->refuse_writes, NULL);
    else if (f->refuse != NULL && strcmp(f->refuse, c->name) == 0)
        reply(f, c, ERR_FORBIDDEN, NULL);
    else if ((c->verb == API_CREATE && o != NULL) || is_stale(o, c->body))
        reply(f, c, ERR_CONFLICT, NULL);
    else
        reply(f, c, ERR_NONE, put_object(f, c->name, c->body));
}

/* --- one process --- */

struct process {
    struct certs *certs;
    struct arena a;
    struct span ca;
    struct cert_pair serving;
    int changes, troubles;
    char trouble[ERR_MSG_MAX + 1];
};

static void on_changed(void *user, const struct cert_set *set)
{
    struct process *p = user;
    p->ca = arena_dup(&p->a, set->ca);
    p->serving.cert = arena_dup(&p->a, set->serving.cert);
    p->serving.key = arena_dup(&p->a, set->serving.key);
    p->changes++;
}

static void on_trouble(void *user, const struct err *err)
{
    struct process *p = user;
    snprintf(p->trouble, sizeof(p->trouble), "%s", err->msg);
    p->troubles++;
}

static struct process *process_new(struct fake *f, struct certs_config config)
{
    struct process *p = mem_new(sizeof(*p));
    arena_init(&p->a, 0);
    config.api = &f->api;
    config.ns = SPAN("stowage-system");
    config.listener = (struct certs_listener){p, on_changed, on_trouble};
    p->certs = certs_new(&config);
    return p;
}

static void process_free(struct process *p)
{
    assert_true(certs_idle(p->certs));
    certs_free(p->certs);
    arena_release(&p->a);
    free(p);
}

/* Steps and answers until nothing is due at `now`. */
static void settle(struct fake *f, struct process *p, mono_ms now, wall_ms wall)
{
    f->log[0] = '\0';
    while (certs_step(p->certs, now, wall) <= now || f->call_count != 0)
        if (f->call_count != 0)
            answer(f, &f->calls[0]);
}

static int setup(void **state)
{
    struct fake *f = mem_new(sizeof(*f));
    f->api.ops = &fake_ops;
    f->parser = doc_parser_new();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fake *f = *state;
    for (size_t i = 0; i < f->object_count; i++)
        free(f->objects[i].json);
    doc_parser_free(f->parser);
    free(f);
    return 0;
}

static const struct certs_config plain = {.register_webhooks = false};

static void serves_as(struct process *p, struct span name, wall_ms wall)
{
    struct err err;
    struct cert_subject s = {SPAN("stowage"), CERT_SERVER, &name, 1, 0};
    if (!authority_check(p->ca, &p->serving, &s, wall, &err))
        fail_msg("%.*s: %s", SPAN_ARG(name), err.msg);
}

/* --- tests --- */

static void test_first_start(void **state)
{
    struct fake *f = *state;
    static const struct span names[] = {SPAN_INIT("127.0.0.1")};
    struct certs_config config = {
        .names = names, .name_count = 1, .webhook_url = SPAN("https://[::1]:8443/x")};
    struct process *p = process_new(f, config);
    settle(f, p, 0, WALL);
    assert_string_equal(f->log, "get stowage-certs, create stowage-certs, "
                                "get stowage-scheduler-client, create stowage-scheduler-client");
    assert_int_equal(p->changes, 1);
    static const struct span want[] = {SPAN_INIT("stowage-webhook.stowage-system.svc"),
                                       SPAN_INIT("stowage-extender.stowage-system.svc"),
                                       SPAN_INIT("127.0.0.1"), SPAN_INIT("::1")};
    for (size_t i = 0; i < COUNT_OF(want); i++)
        serves_as(p, want[i], WALL);
    process_free(p);
}

/* A second scheduler has a namespace of its own, and its Secret is there; the other stays out of its sight. */
static void test_secret_of_a_scheduler_elsewhere(void **state)
{
    struct fake *f = *state;
    f->scheduler_ns = "stowage-scheduler";
    struct process *p = process_new(f, (struct certs_config){.scheduler_ns = SPAN("stowage-scheduler")});
    settle(f, p, 0, WALL);
    assert_string_equal(f->log, "get stowage-certs, create stowage-certs, "
                                "get stowage-scheduler-client, create stowage-scheduler-client");
    assert_non_null(strstr(object_of(f, "stowage-scheduler-client")->json, "\"namespace\":\"stowage-scheduler\""));
    assert_non_null(strstr(object_of(f, "stowage-certs")->json, "\"namespace\":\"stowage-system\""));
    process_free(p);
}

static void test_second_start_uses_what_is_there(void **state)
{
    struct fake *f = *state;
    struct process *first = process_new(f, plain), *second = process_new(f, plain);
    settle(f, first, 0, WALL);
    settle(f, second, 0, WALL);
    assert_string_equal(f->log, "get stowage-certs, get stowage-scheduler-client");
    assert_true(span_eq(first->serving.cert, second->serving.cert));
    assert_true(span_eq(first->ca, second->ca));
    process_free(first);
    process_free(second);
}

static void test_first_writer_wins(void **state)
{
    struct fake *f = *state;
    struct process *a = process_new(f, plain), *b = process_new(f, plain);
    certs_step(a->certs, 0, WALL);
    certs_step(b->certs, 0, WALL);
    answer(f, &f->calls[0]); /* both find nothing */
    answer(f, &f->calls[0]);
    settle(f, a, 0, WALL);
    settle(f, b, 0, WALL);
    assert_string_equal(f->log, "create stowage-certs, get stowage-certs, "
                                "get stowage-scheduler-client");
    assert_true(span_eq(a->ca, b->ca));
    assert_int_equal(b->troubles, 0);
    process_free(a);
    process_free(b);
}

static void test_a_name_more_is_signed_in_private(void **state)
{
    struct fake *f = *state;
    static const struct span names[] = {SPAN_INIT("10.1.2.3")};
    struct certs_config config = {.names = names, .name_count = 1};
    struct process *first = process_new(f, plain), *second = process_new(f, config);
    settle(f, first, 0, WALL);
    settle(f, second, 0, WALL);
    assert_string_equal(f->log, "get stowage-certs, get stowage-scheduler-client");
    assert_true(span_eq(first->ca, second->ca));
    serves_as(second, names[0], WALL);
    process_free(first);
    process_free(second);
}

static void test_what_ends_is_made_anew(void **state)
{
    struct fake *f = *state;
    struct process *first = process_new(f, plain);
    settle(f, first, 0, WALL);
    wall_ms late = WALL + CERTS_LEAF_LIFE * 3 / 4;
    struct process *second = process_new(f, plain);
    settle(f, second, 0, late);
    assert_string_equal(f->log, "get stowage-certs, merge stowage-certs, "
                                "get stowage-scheduler-client, merge stowage-scheduler-client");
    assert_true(span_eq(first->ca, second->ca));
    serves_as(second, SPAN("stowage-webhook.stowage-system.svc"), late);
    process_free(first);
    process_free(second);
}

static struct span stored_in(struct fake *f, struct arena *a, const char *secret, const char *key)
{
    const struct doc *d;
    struct err err;
    assert_true(doc_parse_json(f->parser, span_of(object_of(f, secret)->json), &d, &err));
    return secret_get(a, doc_root(d), key);
}

/* What the Secret of the scheduler has for it. */
static struct secret_entry stored(struct fake *f, struct arena *a, const char *key)
{
    return (struct secret_entry){key, stored_in(f, a, SECRET_CLIENT, key)};
}

static void put_client(struct fake *f, struct arena *a, const struct secret_entry entries[3])
{
    struct span body = secret_body(a, SPAN("stowage-system"), SECRET_CLIENT, (struct span){NULL, 0}, entries, 3);
    put_object(f, SECRET_CLIENT, arena_cstr(a, body));
}

/* The scheduler trusts the CA that signs what we serve, and shows what that has signed. */
static void client_is_right(struct fake *f, const struct process *p, const char *when)
{
    static const struct cert_subject subject = {SPAN_INIT("stowage-scheduler"), CERT_CLIENT, NULL, 0, 0};
    struct arena a;
    struct err err;
    arena_init(&a, 0);
    struct cert_pair pair = {stored(f, &a, "tls.crt").value, stored(f, &a, "tls.key").value};
    struct cert_subject served = {SPAN("stowage"), CERT_SERVER, NULL, 0, 0};
    if (!authority_check(stored(f, &a, "ca.crt").value, &p->serving, &served, WALL, &err))
        fail_msg("%s: the scheduler trusts another CA: %s", when, err.msg);
    if (!authority_check(p->ca, &pair, &subject, WALL, &err))
        fail_msg("%s: the scheduler's certificate: %s", when, err.msg);
    arena_release(&a);
}

static void test_the_schedulers_certificate_follows_the_ca(void **state)
{
    struct fake *f = *state;
    struct arena a;
    arena_init(&a, 0);
    struct process *p = process_new(f, plain);
    settle(f, p, 0, WALL);
    client_is_right(f, p, "at first");
    struct secret_entry old[] = {stored(f, &a, "ca.crt"), stored(f, &a, "tls.crt"), stored(f, &a, "tls.key")};
    process_free(p);
    put_object(f, SECRET_CERTS, "{\"metadata\":{\"name\":\"stowage-certs\"},\"data\":{}}"); /* somebody wants a new CA */
    p = process_new(f, plain);
    settle(f, p, 0, WALL);
    assert_false(span_eq(old[0].value, p->ca));
    client_is_right(f, p, "with a new CA");
    struct secret_entry new[] = {stored(f, &a, "ca.crt"), stored(f, &a, "tls.crt"), stored(f, &a, "tls.key")};
    process_free(p);
    const struct {
        const char *label;
        struct secret_entry entries[3];
    } rows[] = {
        {"the new CA, and what the old one signed", {new[0], old[1], old[2]}},
        {"what the new CA signed, and the old one", {old[0], new[1], new[2]}},
        {"another's key", {new[0], new[1], old[2]}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        put_client(f, &a, rows[i].entries);
        p = process_new(f, plain);
        settle(f, p, 0, WALL);
        client_is_right(f, p, rows[i].label);
        process_free(p);
    }
    p = process_new(f, plain);
    settle(f, p, 0, WALL);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) { /* and whoever has looked before looks again */
        put_client(f, &a, rows[i].entries);
        settle(f, p, (mono_ms)(i + 1) * MS_MINUTE, WALL);
        client_is_right(f, p, rows[i].label);
    }
    process_free(p);
    arena_release(&a);
}

static void test_a_spoilt_secret_is_replaced(void **state)
{
    struct fake *f = *state;
    put_object(f, "stowage-certs",
               "{\"metadata\":{\"name\":\"stowage-certs\"},\"data\":{\"ca.crt\":\"!\"}}");
    put_object(f, "stowage-scheduler-client", "{\"metadata\":{\"name\":\"x\"}}");
    struct process *p = process_new(f, plain);
    settle(f, p, 0, WALL);
    assert_string_equal(f->log, "get stowage-certs, merge stowage-certs, "
                                "get stowage-scheduler-client, merge stowage-scheduler-client");
    assert_non_null(strstr(object_of(f, "stowage-certs")->json, "\"resourceVersion\":\"1\""));
    serves_as(p, SPAN("stowage-webhook.stowage-system.svc"), WALL);
    process_free(p);
}

#define WEBHOOK(bundle)                                                                            \
    "{\"metadata\":{\"name\":\"stowage\",\"uid\":\"u-1\"},\"webhooks\":["                          \
    "{\"name\":\"other.example.com\",\"clientConfig\":{}},"                                         \
    "{\"name\":\"nodepools.webhook.stowage.dev\",\"clientConfig\":{" bundle "}}]}"

static void test_bundle(void **state)
{
    struct fake *f = *state;
    struct process *p = process_new(f, plain);
    put_object(f, "stowage", WEBHOOK("\"url\":\"https://x/y\""));
    settle(f, p, 0, WALL);
    assert_null(strstr(f->log, "get stowage,")); /* nobody is told before we serve */
    certs_serving(p->certs);
    settle(f, p, 10, WALL);
    assert_string_equal(f->log, "get stowage, apply stowage, get stowage-shaping");
    struct arena a;
    arena_init(&a, 0);
    const char *json = object_of(f, "stowage")->json;
    assert_non_null(strstr(json, "\"uid\":\"u-1\""));
    assert_non_null(strstr(json, arena_cstr(&a, base64_encode(&a, p->ca))));
    assert_null(strstr(json, "failurePolicy")); /* that is whose object it is */
    arena_release(&a);

    mono_ms later = certs_step(p->certs, 20, WALL);
    assert_int_equal(later, 10 + 30 * MS_SECOND);
    settle(f, p, later, WALL);
    assert_string_equal(f->log, "get stowage-certs, get stowage-scheduler-client, get stowage, get stowage-shaping");
    put_object(f, "stowage", WEBHOOK("\"caBundle\":\"eA==\"")); /* somebody replaced it */
    settle(f, p, later + MS_MINUTE, WALL);
    assert_string_equal(f->log, "get stowage-certs, get stowage-scheduler-client, get stowage, apply stowage, get stowage-shaping");
    process_free(p);
}

#define SHAPING(first, second)                                                                                \
    "{\"metadata\":{\"name\":\"stowage-shaping\",\"uid\":\"u-2\"},\"webhooks\":["                          \
    "{\"name\":\"pods.webhook.stowage.dev\",\"clientConfig\":{" first "}},"                                 \
    "{\"name\":\"other.example.com\",\"clientConfig\":{}},"                                                \
    "{\"name\":\"namespaces.webhook.stowage.dev\",\"clientConfig\":{" second "}}]}"

/* Shaping is there from the day on which somebody applies it; all of its webhooks are ours but what others put there. */
static void test_bundles_of_shaping(void **state)
{
    struct fake *f = *state;
    struct process *p = process_new(f, plain);
    static const char looks[] = "get stowage-certs, get stowage-scheduler-client, get stowage, get stowage-shaping";
    char with_write[256];
    snprintf(with_write, sizeof(with_write), "%s, apply stowage-shaping", looks);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    put_object(f, "stowage-shaping", SHAPING("", ""));
    settle(f, p, MS_MINUTE, WALL);
    assert_string_equal(f->log, with_write);
    struct arena a;
    arena_init(&a, 0);
    const char *ca = arena_cstr(&a, base64_encode(&a, p->ca)), *json = object_of(f, "stowage-shaping")->json;
    assert_non_null(strstr(json, "\"kind\":\"MutatingWebhookConfiguration\""));
    assert_non_null(strstr(json, "\"uid\":\"u-2\""));
    assert_null(strstr(json, "other.example.com"));
    const char *first = strstr(json, ca);
    assert_non_null(first);
    assert_non_null(strstr(first + 1, ca));
    settle(f, p, 2 * (mono_ms)MS_MINUTE, WALL);
    assert_string_equal(f->log, looks);
    /* One of them is replaced. */
    const char *half = arena_cstr(&a, arena_printf(&a, SHAPING("\"caBundle\":\"%s\"", ""), ca));
    put_object(f, "stowage-shaping", half);
    settle(f, p, 3 * (mono_ms)MS_MINUTE, WALL);
    assert_string_equal(f->log, with_write);
    arena_release(&a);
    process_free(p);
}

static void test_no_webhook_no_bundle(void **state)
{
    struct fake *f = *state;
    struct process *p = process_new(f, plain);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    assert_non_null(strstr(f->log, "get stowage"));
    assert_null(strstr(f->log, "apply"));
    process_free(p);
}

/* Of each of our webhooks. */
static void assert_registered(struct span json, struct span url, struct span ns)
{
    struct arena a;
    arena_init(&a, 0);
    struct doc_parser *parser = doc_parser_new();
    const struct doc *d;
    struct err err;
    struct doc_value list, v, service;
    assert_true(doc_parse_json(parser, json, &d, &err));
    assert_true(doc_find(doc_root(d), SPAN("webhooks"), &list));
    assert_true(doc_count(list) >= 2);
    assert_false(ns.len != 0 && span_contains(json, SPAN("stowage-system")));
    struct doc_iter it = doc_iter_of(list);
    while (doc_next(&it)) {
        assert_true(span_eq(doc_text_at(it.value, SPAN("failurePolicy")), SPAN("Ignore")));
        assert_int_equal(doc_int64_at(it.value, SPAN("timeoutSeconds"), 0), 1);
        assert_true(doc_find(it.value, SPAN("clientConfig"), &v));
        assert_true(doc_text_at(v, SPAN("caBundle")).len != 0);
        assert_true(span_eq(doc_text_at(v, SPAN("url")), url));
        if (doc_find(v, SPAN("service"), &service)) {
            assert_true(span_eq(doc_text_at(service, SPAN("namespace")), ns));
            assert_true(span_eq(doc_text_at(service, SPAN("path")), SPAN("/admission/validate")));
        }
        assert_true(doc_find(it.value, SPAN("matchConditions"), &v));
        struct doc_iter first = doc_iter_of(v);
        assert_true(doc_next(&first));
        struct span who = ns.len != 0 ? ns : SPAN("stowage-system");
        assert_true(span_eq(doc_text_at(first.value, SPAN("expression")),
                            arena_printf(&a, "request.userInfo.username != 'system:serviceaccount:%.*s:stowage'", SPAN_ARG(who))));
    }
    doc_parser_free(parser);
    arena_release(&a);
}

static void test_register(void **state)
{
    struct fake *f = *state;
    struct certs_config config = {.register_webhooks = true,
                                  .webhook_url = SPAN("https://127.0.0.1:8443")};
    struct process *p = process_new(f, config);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    assert_non_null(strstr(f->log, "get stowage, apply stowage"));
    assert_registered(span_of(object_of(f, "stowage")->json), SPAN("https://127.0.0.1:8443/admission/validate"),
                      (struct span){NULL, 0});
    serves_as(p, SPAN("127.0.0.1"), WALL);
    process_free(p);
}

/* As manifests/webhooks.yaml has it, but for the namespace, the address and the bundle. */
static void test_configuration(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct span json = certs_webhook_configuration(&a, SPAN("machines"), (struct span){NULL, 0}, SPAN("PEM"));
    assert_registered(json, (struct span){NULL, 0}, SPAN("machines"));
    json = certs_webhook_configuration(&a, SPAN("machines"), SPAN("https://far:1/"), SPAN("PEM"));
    assert_registered(json, SPAN("https://far:1/admission/validate"), SPAN("machines"));
    json = certs_webhook_configuration(&a, SPAN("machines"), SPAN("https://far:1"), (struct span){NULL, 0});
    assert_false(span_contains(json, SPAN("caBundle"))); /* not known yet */
    arena_release(&a);
}

static void test_files_win(void **state)
{
    struct fake *f = *state;
    struct arena a;
    arena_init(&a, 0);
    struct err err;
    struct cert_pair ca, own;
    struct cert_subject s = {SPAN("files"), CERT_SERVER, NULL, 0, 0};
    assert_true(authority_new(&a, WALL, CERTS_CA_LIFE, &ca, &err));
    assert_true(authority_issue(&a, &ca, &s, WALL, &own, &err));
    put_object(f, "stowage", WEBHOOK("\"caBundle\":\"eA==\""));
    struct certs_config config = {.files = own};
    struct process *p = process_new(f, config);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    assert_true(span_eq(p->serving.cert, own.cert));
    assert_null(strstr(f->log, "apply")); /* who brings certificates brings their CA too */
    assert_true(bundle_has(stored(f, &a, "ca.crt").value, own.cert));
    process_free(p);

    assert_true(authority_issue(&a, &ca, &s, WALL, &own, &err)); /* the scheduler has to trust what is served now */
    config.files = own;
    p = process_new(f, config);
    settle(f, p, 0, WALL);
    assert_non_null(strstr(f->log, "merge stowage-scheduler-client"));
    assert_true(bundle_has(stored(f, &a, "ca.crt").value, own.cert));
    process_free(p);
    arena_release(&a);
}

static void test_refused(void **state)
{
    struct fake *f = *state;
    struct process *p = process_new(f, plain);
    f->refuse_writes = ERR_FORBIDDEN;
    settle(f, p, 0, WALL);
    assert_int_equal(p->changes, 0);
    assert_string_equal(p->trouble,
                        "writing Secret stowage-certs: the server says forbidden; trying again");
    mono_ms now = 0;
    for (int i = 0; i < 10; i++) {
        mono_ms due = certs_step(p->certs, now, WALL);
        assert_true(due > now && due <= now + MS_MINUTE);
        now = due;
        settle(f, p, now, WALL);
    }
    assert_int_equal(p->troubles, 1); /* told once */
    assert_true(now > 4 * MS_MINUTE);
    f->refuse_writes = ERR_NONE;
    settle(f, p, now + MS_MINUTE, WALL);
    assert_int_equal(p->changes, 1);
    process_free(p);
}

/* --- over time, with two replicas --- */

enum { REPLICAS = 2 };
static const struct certs_config brief = {.leaf_life = MS_MINUTE, .ca_life = 3 * MS_MINUTE},
                                 hour = {.leaf_life = 10 * MS_MINUTE, .ca_life = 30 * MS_MINUTE};

enum { CALLERS = 2 };

/* What one webhook configuration's caBundle makes of what one replica serves, the time apart: as long as the two stay as they
 * are, nothing is read again. */
struct trust {
    struct arena a;
    struct span texts;
    struct rotation_cert is;
    struct err why; /* of what is not good */
};

struct pair_of_replicas {
    struct fake *fake;
    struct process *p[REPLICAS];
    mono_ms now;
    wall_ms skew[REPLICAS]; /* of their clocks */
    struct trust trusts[REPLICAS][CALLERS];
};

static void replicas_start(struct pair_of_replicas *r, struct fake *f, struct certs_config config, bool webhook)
{
    *r = (struct pair_of_replicas){.fake = f};
    if (webhook) {
        put_object(f, "stowage", WEBHOOK(""));
        put_object(f, "stowage-shaping", SHAPING("", ""));
    }
    for (int i = 0; i < REPLICAS; i++) {
        r->p[i] = process_new(f, config);
        settle(f, r->p[i], 0, WALL);
        certs_serving(r->p[i]->certs);
        settle(f, r->p[i], 0, WALL);
    }
}

static wall_ms wall_of(const struct pair_of_replicas *r, int i)
{
    return WALL + r->now + r->skew[i];
}

/* Both do what is due until then; returns how often somebody wrote `name`. */
static int writes_until(struct pair_of_replicas *r, mono_ms until, const char *name, void (*look)(struct pair_of_replicas *r))
{
    int writes = 0;
    while (r->now < until) {
        mono_ms next = until;
        for (int i = 0; i < REPLICAS; i++) {
            struct object *o = object_of(r->fake, name);
            int before = o != NULL ? o->version : 0;
            settle(r->fake, r->p[i], r->now, wall_of(r, i));
            o = object_of(r->fake, name);
            writes += o != NULL && o->version != before;
            if (look != NULL)
                look(r);
        }
        for (int i = 0; i < REPLICAS; i++) {
            mono_ms due = certs_step(r->p[i]->certs, r->now, wall_of(r, i));
            next = due < next ? due : next;
        }
        r->now = next;
    }
    return writes;
}

static void replicas_free(struct pair_of_replicas *r)
{
    for (int i = 0; i < REPLICAS; i++) {
        process_free(r->p[i]);
        for (int k = 0; k < CALLERS; k++)
            arena_release(&r->trusts[i][k].a);
    }
}

static struct span bundle_of(struct fake *f, struct arena *a, const char *name)
{
    const struct doc *d;
    struct err err;
    assert_true(doc_parse_json(f->parser, span_of(object_of(f, name)->json), &d, &err));
    return webhook_look(a, doc_root(d)).bundle;
}

static void look_at(struct trust *t, struct span cas, const struct cert_pair *served)
{
    static const struct span name = SPAN_INIT("stowage-webhook.stowage-system.svc");
    static const struct cert_subject s = {SPAN_INIT("stowage"), CERT_SERVER, &name, 1, 0};
    struct arena a;
    arena_init(&a, 0);
    if (t->texts.ptr == NULL)
        arena_init(&t->a, 0);
    struct span texts = arena_printf(&a, "%.*s\n%.*s\n%.*s", SPAN_ARG(cas), SPAN_ARG(served->cert), SPAN_ARG(served->key));
    if (!span_eq(t->texts, texts)) {
        arena_clear(&t->a);
        t->texts = arena_dup(&t->a, texts);
        t->is.good = authority_describe_leaf(cas, served, CERT_SERVER, &t->is, &t->why) && authority_names(served->cert, &s, &t->why);
    }
    arena_release(&a);
}

/* The API server trusts what each of them serves, and so does a scheduler that started at the beginning of the CA's term. */
static void each_is_trusted(struct pair_of_replicas *r)
{
    struct arena a;
    arena_init(&a, 0);
    static const char *const callers[CALLERS] = {"stowage", "stowage-shaping"};
    for (int i = 0; i < REPLICAS; i++)
        for (size_t k = 0; k < CALLERS; k++) {
            struct trust *t = &r->trusts[i][k];
            wall_ms before = wall_of(r, i) - 10 * MS_SECOND;
            int second = (int)(r->now / MS_SECOND);
            look_at(t, bundle_of(r->fake, &a, callers[k]), &r->p[i]->serving);
            if (!t->is.good)
                fail_msg("second %d: replica %d by %s: %s", second, i, callers[k], t->why.msg);
            if (t->is.until <= wall_of(r, i))
                fail_msg("second %d: replica %d serves what has ended", second, i);
            if (!rotation_is_usable(&t->is, before) || rotation_is_due(&t->is, before))
                fail_msg("second %d: replica %d serves what ends soon, or begins later", second, i);
        }
    arena_release(&a);
}

static void test_three_generations(void **state)
{
    struct fake *f = *state;
    struct arena a;
    struct pair_of_replicas r;
    struct err err;
    arena_init(&a, 0);
    replicas_start(&r, f, brief, true);
    each_is_trusted(&r);
    struct span client_ca = r.p[0]->ca;
    for (int generation = 1; generation <= 3; generation++) {
        struct span ca = stored(f, &a, "ca.crt").value;
        struct span first = bundle_of(f, &a, "stowage");
        mono_ms begun = (generation - 1) * 3 * MS_MINUTE;
        int renewed = writes_until(&r, begun + 3 * MS_MINUTE - 10 * MS_SECOND, SECRET_CERTS, each_is_trusted);
        assert_in_range(renewed, 2, 5); /* of leaves, at 40 s of 60; each by one of the two */
        assert_true(span_eq(stored(f, &a, "ca.crt").value, ca)); /* all the time, the scheduler's file is right */
        /* What the scheduler got in the last moment is good for what is served a term later. */
        writes_until(&r, begun + 3 * MS_MINUTE + 20 * MS_SECOND, SECRET_CERTS, each_is_trusted);
        struct cert_subject s = {SPAN("stowage"), CERT_SERVER, NULL, 0, 0};
        assert_true(authority_check(ca, &r.p[0]->serving, &s, wall_of(&r, 0), &err));
        assert_true(span_eq(r.p[0]->serving.cert, r.p[1]->serving.cert));
        assert_false(span_eq(stored(f, &a, "ca.crt").value, ca));
        writes_until(&r, begun + 3 * MS_MINUTE + 45 * MS_SECOND, SECRET_CERTS, each_is_trusted);
        struct rotation_cert c;
        assert_false(authority_describe_leaf(first, &r.p[0]->serving, CERT_CLIENT, &c, &err));
        assert_false(span_eq(bundle_of(f, &a, "stowage"), first)); /* the old CA has been dropped */
        assert_true(bundle_has(bundle_of(f, &a, "stowage"), stored(f, &a, "ca.crt").value));
    }
    assert_int_equal(r.p[0]->troubles + r.p[1]->troubles, 0);
    assert_false(span_eq(client_ca, r.p[0]->ca));
    replicas_free(&r);
    arena_release(&a);
}

/* `key_value`: of the key beside a certificate; absent: that stays. */
static void spoil(struct fake *f, struct arena *a, const char *key, struct span value, struct span key_value)
{
    static const char *const keys[] = {"ca.crt", "ca.key", "next-ca.crt", "next-ca.key", "tls.crt", "tls.key", "old-ca.crt"};
    struct secret_entry entries[COUNT_OF(keys)];
    const struct doc *d;
    struct err err;
    assert_true(doc_parse_json(f->parser, span_of(object_of(f, SECRET_CERTS)->json), &d, &err));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        bool it = strcmp(keys[i], key) == 0 || (key[0] == '*' && strcmp(strchr(keys[i], '.'), key + 1) == 0);
        bool beside = key_value.len != 0 && i > 0 && strcmp(keys[i - 1], key) == 0;
        entries[i] = (struct secret_entry){keys[i], it ? value : beside ? key_value : secret_get(a, doc_root(d), keys[i])};
    }
    struct span body = secret_body(a, SPAN("stowage-system"), SECRET_CERTS, (struct span){NULL, 0}, entries, COUNT_OF(entries));
    put_object(f, SECRET_CERTS, arena_cstr(a, body));
}

/* Whatever becomes of the Secret: what is in use stays in use, one of the two repairs it, each says once why. */
static void test_spoilt_while_in_use(void **state)
{
    struct fake *f = *state;
    struct arena a;
    struct err err;
    arena_init(&a, 0);
    struct cert_pair other, ended, future, ended_ca;
    struct cert_subject s = {SPAN("stowage"), CERT_SERVER, NULL, 0, MS_HOUR};
    struct pair_of_replicas r;
    replicas_start(&r, f, plain, true);
    struct cert_pair ca = {stored_in(f, &a, SECRET_CERTS, "ca.crt"), stored_in(f, &a, SECRET_CERTS, "ca.key")};
    assert_true(authority_new(&a, WALL, CERTS_CA_LIFE, &other, &err));
    assert_true(authority_issue(&a, &ca, &s, WALL - CERTS_DAY, &ended, &err));
    assert_true(authority_issue(&a, &ca, &s, WALL + CERTS_DAY, &future, &err));
    assert_true(authority_new(&a, WALL - CERTS_DAY, MS_HOUR, &ended_ca, &err));
    const struct {
        const char *label, *key;
        struct span value;
        const char *why;
        struct span key_value;
    } rows[] = {
        {"deleted", NULL, {NULL, 0}, "Secret stowage-certs: is not there; writing back what is in use", {NULL, 0}},
        {"emptied", "*.crt", {"", 0}, "Secret stowage-certs: ca.crt and ca.key: no PEM certificate and key could be read; ", {NULL, 0}},
        {"no text", "ca.crt", SPAN("\x01\x02"), "Secret stowage-certs: ca.crt and ca.key: no PEM", {NULL, 0}},
        {"another CA's key", "ca.key", other.key, "ca.crt and ca.key: certificate and key do not belong together", {NULL, 0}},
        {"another CA's certificate", "ca.crt", other.cert, "ca.crt and ca.key: certificate and key do not belong together", {NULL, 0}},
        {"another leaf's key", "tls.key", other.key, "tls.crt and tls.key: certificate and key do not belong together", {NULL, 0}},
        {"what another CA signed", "tls.crt", other.cert, "tls.crt and tls.key: ", {NULL, 0}},
        {"the next one's key is gone", "next-ca.key", {"", 0}, "next-ca.crt and next-ca.key: no PEM", {NULL, 0}},
        {"an expired leaf", "tls.crt", ended.cert, "Secret stowage-certs: tls.crt has expired; writing back what is in use", ended.key},
        {"a leaf of the future", "tls.crt", future.cert, "tls.crt is not valid yet; writing back what is in use", future.key},
        {"an expired CA", "ca.crt", ended_ca.cert, "tls.crt and tls.key: ", ended_ca.key},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span serving = arena_dup(&a, r.p[0]->serving.cert);
        int changes = r.p[0]->changes + r.p[1]->changes, troubles = r.p[0]->troubles + r.p[1]->troubles;
        if (rows[i].key == NULL)
            delete_object(f, SECRET_CERTS);
        else
            spoil(f, &a, rows[i].key, rows[i].value, rows[i].key_value);
        int writes = writes_until(&r, r.now + 5 * MS_MINUTE, SECRET_CERTS, each_is_trusted);
        if (writes != 1)
            fail_msg("%s: written %d times", rows[i].label, writes);
        const char *told = r.p[0]->trouble;
        if (r.p[0]->troubles + r.p[1]->troubles != troubles + 1 ||
            (strstr(told, rows[i].why) == NULL && strstr(r.p[1]->trouble, rows[i].why) == NULL))
            fail_msg("%s: told \"%s\" and \"%s\"", rows[i].label, told, r.p[1]->trouble);
        if (!span_eq(stored_in(f, &a, SECRET_CERTS, "tls.crt"), serving) ||
            !span_eq(stored_in(f, &a, SECRET_CERTS, "ca.key"), ca.key))
            fail_msg("%s: it does not hold what was in use", rows[i].label);
        if (r.p[0]->changes + r.p[1]->changes != changes)
            fail_msg("%s: something else was served", rows[i].label);
    }
    replicas_free(&r);
    arena_release(&a);
}

/* With the lives that ship: at two thirds one of the two renews, once, and the other serves it within a minute. */
static void test_renewed_by_one_and_taken_up_by_all(void **state)
{
    struct fake *f = *state;
    struct pair_of_replicas r;
    replicas_start(&r, f, plain, true);
    struct span before = r.p[0]->serving.cert;
    r.now = CERTS_LEAF_LIFE * 2 / 3 - 2 * (mono_ms)MS_MINUTE;
    assert_int_equal(writes_until(&r, r.now + 2 * (mono_ms)MS_MINUTE - 1, SECRET_CERTS, each_is_trusted), 0);
    assert_true(span_eq(r.p[1]->serving.cert, before));
    int changes = r.p[0]->changes + r.p[1]->changes;
    assert_int_equal(writes_until(&r, r.now + MS_MINUTE, SECRET_CERTS, each_is_trusted), 1);
    assert_false(span_eq(r.p[0]->serving.cert, before));
    assert_true(span_eq(r.p[0]->serving.cert, r.p[1]->serving.cert));
    assert_int_equal(r.p[0]->changes + r.p[1]->changes, changes + REPLICAS);
    replicas_free(&r);
}

/* One that was replaced by another that is good is taken up, after the API server was told of its CA. */
static void test_replaced(void **state)
{
    struct fake *f = *state;
    struct fake *elsewhere = mem_new(sizeof(*elsewhere));
    elsewhere->api.ops = &fake_ops;
    elsewhere->parser = doc_parser_new();
    struct process *stranger = process_new(elsewhere, plain);
    settle(elsewhere, stranger, 0, WALL);
    struct pair_of_replicas r;
    replicas_start(&r, f, plain, true);
    struct span before = r.p[0]->serving.cert;
    put_object(f, SECRET_CERTS, object_of(elsewhere, SECRET_CERTS)->json);
    writes_until(&r, MS_MINUTE, SECRET_CERTS, each_is_trusted);
    assert_false(span_eq(r.p[0]->serving.cert, before));
    for (int i = 0; i < REPLICAS; i++)
        assert_true(span_eq(r.p[i]->serving.cert, stranger->serving.cert));
    process_free(stranger);
    replicas_free(&r);
    void *state_of = elsewhere;
    teardown(&state_of);
}

/* As long as one configuration cannot be told of a CA that came from elsewhere, what was served is served. */
static void test_no_leaf_before_its_ca(void **state)
{
    static const char *const names[] = {"stowage", "stowage-shaping"};
    struct fake *f = *state;
    struct fake *elsewhere = mem_new(sizeof(*elsewhere));
    elsewhere->api.ops = &fake_ops;
    elsewhere->parser = doc_parser_new();
    struct process *stranger = process_new(elsewhere, plain);
    settle(elsewhere, stranger, 0, WALL);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct pair_of_replicas r;
        replicas_start(&r, f, plain, true);
        struct span before = r.p[0]->serving.cert;
        f->refuse = names[i];
        put_object(f, SECRET_CERTS, object_of(elsewhere, SECRET_CERTS)->json);
        writes_until(&r, 5 * MS_MINUTE, SECRET_CERTS, each_is_trusted);
        assert_true(span_eq(r.p[0]->serving.cert, before));
        f->refuse = NULL;
        writes_until(&r, 10 * MS_MINUTE, SECRET_CERTS, each_is_trusted);
        assert_true(span_eq(r.p[0]->serving.cert, stranger->serving.cert));
        replicas_free(&r);
        delete_object(f, SECRET_CERTS);
        delete_object(f, SECRET_CLIENT);
    }
    process_free(stranger);
    void *state_of = elsewhere;
    teardown(&state_of);
}

/* What somebody else has put into the caBundle, another Stowage say, is not overwritten again and again; when we have made
 * a CA, what is neither ours nor needed goes once. */
static void test_nobody_fights_over_the_bundle(void **state)
{
    struct fake *f = *state;
    struct arena a;
    struct pair_of_replicas r;
    struct cert_pair other;
    struct err err;
    arena_init(&a, 0);
    assert_true(authority_new(&a, WALL, CERTS_CA_LIFE, &other, &err));
    struct span mine = base64_encode(&a, other.cert);
    put_object(f, "stowage", arena_cstr(&a, arena_printf(&a, WEBHOOK("\"caBundle\":\"%.*s\""), SPAN_ARG(mine))));
    replicas_start(&r, f, hour, false);
    assert_true(bundle_has(bundle_of(f, &a, "stowage"), other.cert));
    assert_int_equal(writes_until(&r, 4 * MS_MINUTE, "stowage", NULL), 0);
    assert_int_equal(writes_until(&r, 6 * MS_MINUTE, "stowage", NULL), 1);
    assert_false(bundle_has(bundle_of(f, &a, "stowage"), other.cert));
    struct span both = arena_printf(&a, "%.*s%.*s", SPAN_ARG(other.cert), SPAN_ARG(bundle_of(f, &a, "stowage")));
    mine = base64_encode(&a, both);
    put_object(f, "stowage", arena_cstr(&a, arena_printf(&a, WEBHOOK("\"caBundle\":\"%.*s\""), SPAN_ARG(mine))));
    assert_int_equal(writes_until(&r, 15 * MS_MINUTE, "stowage", NULL), 0);
    mine = base64_encode(&a, other.cert); /* they take ours out */
    put_object(f, "stowage", arena_cstr(&a, arena_printf(&a, WEBHOOK("\"caBundle\":\"%.*s\""), SPAN_ARG(mine))));
    assert_int_equal(writes_until(&r, 20 * MS_MINUTE, "stowage", NULL), 1);
    assert_true(bundle_has(bundle_of(f, &a, "stowage"), both));
    replicas_free(&r);
    arena_release(&a);
}

/* A Deployment that gets --tls-cert, or loses it, has for a while one replica with files and one without, or with others: the
 * scheduler trusts what each of them serves, before and after, and neither overwrites what the other needs. What is of a file
 * goes when it has ended. */
static void test_nobody_fights_over_what_the_scheduler_trusts(void **state)
{
    struct fake *f = *state;
    struct arena a;
    struct cert_pair ca, file, next_file;
    struct err err;
    struct pair_of_replicas r = {.fake = f};
    struct cert_subject s = {SPAN("files"), CERT_SERVER, NULL, 0, 45 * MS_MINUTE};
    arena_init(&a, 0);
    assert_true(authority_new(&a, WALL, CERTS_CA_LIFE, &ca, &err));
    assert_true(authority_issue(&a, &ca, &s, WALL, &file, &err));
    s.life = CERTS_LEAF_LIFE;
    assert_true(authority_issue(&a, &ca, &s, WALL, &next_file, &err));
    struct certs_config own_alone = {.leaf_life = 90 * MS_MINUTE, .ca_life = 2 * MS_HOUR}, with_file = own_alone;
    with_file.files = file;
    r.p[0] = process_new(f, own_alone);
    r.p[1] = process_new(f, with_file);
    for (int i = 0; i < REPLICAS; i++) {
        settle(f, r.p[i], 0, WALL);
        certs_serving(r.p[i]->certs);
    }
    assert_int_equal(writes_until(&r, 19 * MS_MINUTE, SECRET_CLIENT, NULL), 0);
    assert_int_equal(writes_until(&r, 22 * MS_MINUTE, SECRET_CLIENT, NULL), 2); /* as of a caBundle: see above */
    assert_int_equal(writes_until(&r, 30 * MS_MINUTE, SECRET_CLIENT, NULL), 0);
    struct span trusted = stored(f, &a, "ca.crt").value, own = stored_in(f, &a, SECRET_CERTS, "ca.crt");
    assert_true(bundle_has(trusted, file.cert));
    assert_true(bundle_has(trusted, own)); /* `check` asks for it */
    client_is_right(f, r.p[0], "beside one with files");

    certs_use_files(r.p[1]->certs, &next_file);
    assert_int_equal(writes_until(&r, 33 * MS_MINUTE, SECRET_CLIENT, NULL), 1);
    trusted = stored(f, &a, "ca.crt").value;
    assert_true(bundle_has(trusted, next_file.cert));
    assert_true(bundle_has(trusted, file.cert)); /* the other may serve it for a while */
    assert_int_equal(writes_until(&r, 50 * MS_MINUTE, SECRET_CLIENT, NULL), 1);
    assert_false(bundle_has(stored(f, &a, "ca.crt").value, file.cert));
    assert_true(bundle_has(stored(f, &a, "ca.crt").value, own));
    replicas_free(&r);
    arena_release(&a);
}

/* What one replica's clock finds unusable is not written by the two in turn, again and again. */
static void test_clocks_that_disagree(void **state)
{
    struct fake *f = *state;
    struct pair_of_replicas r;
    static const struct certs_config day = {.leaf_life = 10 * MS_MINUTE, .ca_life = CERTS_DAY};
    replicas_start(&r, f, day, true);
    r.now = 3 * MS_HOUR;
    r.skew[1] = -2 * MS_HOUR; /* what the other one makes is not valid yet there, and what this makes is over there */
    /* In two hours each renews 18 times in any case, and 12 times as often as it may otherwise, after nine quicker ones;
     * each look that wrote would make 480. */
    assert_in_range(writes_until(&r, 5 * MS_HOUR, SECRET_CERTS, NULL), 4, 2 * (18 + 12 + 9));
    replicas_free(&r);
}

/* Of two configurations one cannot be written: the other has its bundle all the same. */
static void test_one_webhook_does_not_wait_for_the_other(void **state)
{
    struct fake *f = *state;
    static const char *const names[] = {"stowage", "stowage-shaping"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct process *p = process_new(f, plain);
        put_object(f, names[0], WEBHOOK(""));
        put_object(f, names[1], SHAPING("", ""));
        f->refuse = names[i];
        certs_serving(p->certs);
        settle(f, p, 0, WALL);
        assert_null(strstr(object_of(f, names[i])->json, "caBundle"));
        assert_non_null(strstr(object_of(f, names[1 - i])->json, "caBundle"));
        assert_non_null(strstr(p->trouble, names[i]));
        int troubles = p->troubles;
        settle(f, p, 5 * (mono_ms)MS_MINUTE, WALL);
        assert_int_equal(p->troubles, troubles); /* told once */
        f->refuse = NULL;
        settle(f, p, 10 * (mono_ms)MS_MINUTE, WALL);
        assert_non_null(strstr(object_of(f, names[i])->json, "caBundle"));
        process_free(p);
    }
}

/* The scheduler's Secret cannot be written: the webhook's certificates are renewed all the same. */
static void test_one_trouble_is_not_all(void **state)
{
    struct fake *f = *state;
    struct pair_of_replicas r;
    f->refuse = SECRET_CLIENT;
    replicas_start(&r, f, brief, true);
    writes_until(&r, 5 * MS_MINUTE, SECRET_CERTS, each_is_trusted);
    assert_string_equal(r.p[0]->trouble, "writing Secret stowage-scheduler-client: the server says forbidden; trying again");
    assert_int_equal(r.p[0]->troubles, 1);
    replicas_free(&r);
}

static void test_ends(void **state)
{
    struct fake *f = *state;
    struct process *p = process_new(f, brief);
    wall_ms ends[CERT_NAME_COUNT];
    certs_ends(p->certs, ends);
    assert_int_equal(ends[CERT_NAME_CA] + ends[CERT_NAME_SCHEDULER], 0);
    settle(f, p, 0, WALL);
    certs_ends(p->certs, ends);
    assert_int_equal(ends[CERT_NAME_SCHEDULER], WALL + MS_MINUTE);
    assert_int_equal(ends[CERT_NAME_CA], WALL + 9 * MS_MINUTE);
    assert_int_equal(ends[CERT_NAME_NEXT_CA], WALL + 9 * MS_MINUTE);
    process_free(p);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_first_start),
        ROW(test_secret_of_a_scheduler_elsewhere),
        ROW(test_second_start_uses_what_is_there),
        ROW(test_first_writer_wins),
        ROW(test_a_name_more_is_signed_in_private),
        ROW(test_what_ends_is_made_anew),
        ROW(test_the_schedulers_certificate_follows_the_ca),
        ROW(test_a_spoilt_secret_is_replaced),
        ROW(test_bundle),
        ROW(test_bundles_of_shaping),
        ROW(test_no_webhook_no_bundle),
        ROW(test_configuration),
        ROW(test_register),
        ROW(test_files_win),
        ROW(test_nobody_fights_over_what_the_scheduler_trusts),
        ROW(test_refused),
        ROW(test_three_generations),
        ROW(test_spoilt_while_in_use),
        ROW(test_renewed_by_one_and_taken_up_by_all),
        ROW(test_replaced),
        ROW(test_no_leaf_before_its_ca),
        ROW(test_nobody_fights_over_the_bundle),
        ROW(test_clocks_that_disagree),
        ROW(test_one_trouble_is_not_all),
        ROW(test_one_webhook_does_not_wait_for_the_other),
        ROW(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
