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
#include "certs/secrets.h"

static const wall_ms WALL = 1767225600000; /* 2026-01-01 */

/* --- an API server that holds two Secrets and one webhook configuration --- */

enum { OBJECTS_MAX = 4, CALLS_MAX = 16 };

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
        assert_true(span_eq(r->ns, SPAN("stowage-system")));
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

/* The stored text with a resourceVersion in it, as the API server gives it. */
static struct buf shown(const struct object *o)
{
    struct buf out = {0};
    const char *at = strstr(o->json, "\"metadata\":{");
    assert_non_null(at);
    at += strlen("\"metadata\":{");
    buf_add(&out, (struct span){o->json, (size_t)(at - o->json)});
    if (strstr(o->json, "resourceVersion") == NULL)
        buf_addf(&out, "\"resourceVersion\":\"%d\",", o->version);
    buf_add(&out, span_of(at));
    return out;
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
    else if (c->verb == API_CREATE && o != NULL)
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
    struct cert_subject s = {SPAN("stowage"), CERT_SERVER, &name, 1};
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
    wall_ms later = WALL + CERTS_CA_LIFE * 3 / 4;
    struct process *third = process_new(f, plain);
    settle(f, third, 0, later);
    assert_false(span_eq(first->ca, third->ca));
    serves_as(third, SPAN("stowage-webhook.stowage-system.svc"), later);
    process_free(first);
    process_free(second);
    process_free(third);
}

/* What the Secret of the scheduler has for it. */
static struct secret_entry stored(struct fake *f, struct arena *a, const char *key)
{
    const struct doc *d;
    struct err err;
    assert_true(doc_parse_json(f->parser, span_of(object_of(f, SECRET_CLIENT)->json), &d, &err));
    return (struct secret_entry){key, secret_get(a, doc_root(d), key)};
}

static void put_client(struct fake *f, struct arena *a, const struct secret_entry entries[3])
{
    struct span body = secret_body(a, SPAN("stowage-system"), SECRET_CLIENT, (struct span){NULL, 0}, entries, 3);
    put_object(f, SECRET_CLIENT, arena_cstr(a, body));
}

/* The scheduler trusts the CA that signs what we serve, and shows what that has signed. */
static void client_is_right(struct fake *f, const struct process *p, const char *when)
{
    static const struct cert_subject subject = {SPAN_INIT("stowage-scheduler"), CERT_CLIENT, NULL, 0};
    struct arena a;
    struct err err;
    arena_init(&a, 0);
    struct cert_pair pair = {stored(f, &a, "tls.crt").value, stored(f, &a, "tls.key").value};
    if (!span_eq(stored(f, &a, "ca.crt").value, p->ca))
        fail_msg("%s: the scheduler trusts another CA", when);
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
    assert_string_equal(f->log, "get stowage, apply stowage");
    struct arena a;
    arena_init(&a, 0);
    const char *json = object_of(f, "stowage")->json;
    assert_non_null(strstr(json, "\"uid\":\"u-1\""));
    assert_non_null(strstr(json, arena_cstr(&a, base64_encode(&a, p->ca))));
    assert_null(strstr(json, "failurePolicy")); /* that is whose object it is */
    arena_release(&a);

    mono_ms later = certs_step(p->certs, 20, WALL);
    assert_int_equal(later, 10 + MS_MINUTE);
    settle(f, p, later, WALL);
    assert_string_equal(f->log, "get stowage");
    put_object(f, "stowage", WEBHOOK("\"caBundle\":\"eA==\"")); /* somebody replaced it */
    settle(f, p, later + MS_MINUTE, WALL);
    assert_string_equal(f->log, "get stowage, apply stowage");
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

static void test_register(void **state)
{
    struct fake *f = *state;
    struct certs_config config = {.register_webhooks = true,
                                  .webhook_url = SPAN("https://127.0.0.1:8443")};
    struct process *p = process_new(f, config);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    assert_non_null(strstr(f->log, "get stowage, apply stowage"));
    static const char *const want[] = {
        "\"url\":\"https://127.0.0.1:8443/admission/validate\"",
        "\"failurePolicy\":\"Ignore\"",
        "\"timeoutSeconds\":1",
        "request.userInfo.username != 'system:serviceaccount:stowage-system:stowage'",
        "\"caBundle\":\""};
    for (size_t i = 0; i < COUNT_OF(want); i++)
        if (strstr(object_of(f, "stowage")->json, want[i]) == NULL)
            fail_msg("no %s in %s", want[i], object_of(f, "stowage")->json);
    serves_as(p, SPAN("127.0.0.1"), WALL);
    process_free(p);
}

static void test_files_win(void **state)
{
    struct fake *f = *state;
    struct arena a;
    arena_init(&a, 0);
    struct err err;
    struct cert_pair ca, own;
    struct cert_subject s = {SPAN("files"), CERT_SERVER, NULL, 0};
    assert_true(authority_new(&a, WALL, &ca, &err));
    assert_true(authority_issue(&a, &ca, &s, WALL, &own, &err));
    put_object(f, "stowage", WEBHOOK("\"caBundle\":\"eA==\""));
    struct certs_config config = {.files = own};
    struct process *p = process_new(f, config);
    certs_serving(p->certs);
    settle(f, p, 0, WALL);
    assert_true(span_eq(p->serving.cert, own.cert));
    assert_null(strstr(f->log, "apply")); /* who brings certificates brings their CA too */
    assert_non_null(strstr(object_of(f, "stowage-scheduler-client")->json,
                           arena_cstr(&a, base64_encode(&a, own.cert))));
    process_free(p);

    assert_true(authority_issue(&a, &ca, &s, WALL, &own, &err)); /* the scheduler has to trust what is served now */
    config.files = own;
    p = process_new(f, config);
    settle(f, p, 0, WALL);
    assert_non_null(strstr(f->log, "merge stowage-scheduler-client"));
    assert_non_null(strstr(object_of(f, "stowage-scheduler-client")->json,
                           arena_cstr(&a, base64_encode(&a, own.cert))));
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
                        "writing Secret stowage-certs: the server says forbidden");
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

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_first_start),
        ROW(test_second_start_uses_what_is_there),
        ROW(test_first_writer_wins),
        ROW(test_a_name_more_is_signed_in_private),
        ROW(test_what_ends_is_made_anew),
        ROW(test_the_schedulers_certificate_follows_the_ca),
        ROW(test_a_spoilt_secret_is_replaced),
        ROW(test_bundle),
        ROW(test_no_webhook_no_bundle),
        ROW(test_register),
        ROW(test_files_win),
        ROW(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
