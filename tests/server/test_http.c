#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "server/http.h"

static void answer(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    (void)scratch;
    buf_add(&r->body, q->body);
}

static struct http_table table(void)
{
    static const struct http_route routes[] = {
        {HTTP_WEBHOOK, "POST", "/admission/validate", answer, NULL, NULL, NULL},
        {HTTP_PROBES, "GET", "/livez", answer, NULL, NULL, NULL},
        {HTTP_PAGE, "GET", "/explain/*", answer, NULL, NULL, NULL},
    };
    struct http_table t = {.count = 0};
    for (size_t i = 0; i < COUNT_OF(routes); i++)
        http_table_add(&t, &routes[i]);
    return t;
}

/* By what stands in a head, whoever sends it; what comes after it is a body's. */
static void test_heads(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool sound;
    } rows[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", true},
        {"GET / HTTP/1.0\r\n\r\n", true},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nHost: b\r\n", true},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: a\r\nX-Host: b\r\nHosts: c\r\n\r\n", true},
        {"GET / HTTP/1.1\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", false},
        {"POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 1\r\nContent-Length: 1\r\n\r\nx", false},
        {"POST / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tContent-Length: 1\r\n\r\n", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_reply r = {.status = 200};
        bool sound = http_head_is_sound(span_of(rows[i].bytes), &r);
        if (sound != rows[i].sound || r.status != (sound ? 200 : 400) || r.last == sound)
            fail_msg("row %zu: %d, status %d", i, sound, r.status);
        buf_release(&r.body);
    }
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        enum http_listener listener;
        const char *method, *path, *type;
        int status;
        const char *says;
    } rows[] = {
        {HTTP_WEBHOOK, "POST", "/admission/validate", "application/json", 200, NULL},
        {HTTP_WEBHOOK, "POST", "/admission/validate", "application/json; charset=utf-8", 200, NULL},
        {HTTP_WEBHOOK, "POST", "/admission/validate", NULL, 200, NULL},
        {HTTP_WEBHOOK, "POST", "/admission/validate", "text/xml", 415,
         "/admission/validate takes application/json, not text/xml\n"},
        {HTTP_WEBHOOK, "GET", "/admission/validate", NULL, 405,
         "/admission/validate takes POST, not GET\n"},
        {HTTP_EXTENDER, "POST", "/admission/validate", NULL, 404,
         "the extender listener has nothing at /admission/validate\n"},
        {HTTP_PROBES, "HEAD", "/livez", NULL, 200, NULL},
        {HTTP_PROBES, "GET", "/livez/", NULL, 404, "the probes listener has nothing at /livez/\n"},
        {HTTP_PAGE, "GET", "/explain/pod/a/b", NULL, 200, NULL},
        {HTTP_PAGE, "GET", "/explain", NULL, 404, NULL},
    };
    struct http_table t = table();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_request q = {.listener = rows[i].listener,
                                 .method = span_of(rows[i].method),
                                 .path = span_of(rows[i].path),
                                 .content_type = span_of(rows[i].type)};
        struct http_reply r = {.status = 200};
        const struct http_route *route = http_find(&t, &q, &r);
        if (r.status != rows[i].status || (route != NULL) != (rows[i].status == 200))
            fail_msg("%s %s: got %d", rows[i].method, rows[i].path, r.status);
        if (rows[i].says != NULL)
            assert_string_equal(r.body.ptr, rows[i].says);
        assert_true((r.allow != NULL) == (r.status == 405));
        buf_release(&r.body);
    }
}

static void test_query(void **state)
{
    (void)state;
    static const struct {
        const char *query, *want;
    } rows[] = {
        {"a=1&name=web", "web"}, {"name=a%2Fb+c", "a/b c"}, {"name=%zz%4", "%zz%4"},
        {"name", ""},            {"names=x", NULL},         {"", NULL},
    };
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span got = http_query(&a, span_of(rows[i].query), "name");
        if (!span_eq(got, span_of(rows[i].want)) || (got.ptr == NULL) != (rows[i].want == NULL))
            fail_msg("%s: got %.*s", rows[i].query, SPAN_ARG(got));
    }
    arena_release(&a);
}

static void test_too_large(void **state)
{
    (void)state;
    struct http_table t = table();
    struct http_request q = {.listener = HTTP_PROBES, .body = SPAN("more than fits")};
    struct http_reply r = {.status = 200, .body = {.max = 8}};
    http_run(&t.items[1], NULL, &q, &r);
    assert_int_equal(r.status, 500);
    buf_release(&r.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
