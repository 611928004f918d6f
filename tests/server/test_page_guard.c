#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/fetch.h"
#include "server/http_server.h"
#include "server/page_guard.h"
#include "support_client.h"

#define TOKEN "0123456789abcdef"

static void test_names(void **state)
{
    (void)state;
    static const char *const hosts[] = {"stowage.example.com", ".corp.example"};
    static const struct {
        const char *host;
        bool let_in;
    } rows[] = {
        {NULL, true}, /* of no browser */
        {"localhost", true},
        {"localhost:8090", true},
        {"LocalHost:1", true},
        {"localhost.", true},
        {"a.localhost:8090", true},
        {"127.0.0.1:8090", true},
        {"10.1.2.3", true},
        {"[::1]:8090", true},
        {"[2001:db8::1]", true},
        {"node-7.lan:8090", true}, /* what --page-listen says */
        {"stowage.example.com", true},
        {"a.corp.example:80", true},
        {"evil.example", false},
        {"evil.example:8090", false},
        {"localhost.evil.example", false},
        {"evillocalhost", false},
        {"127.0.0.1.evil.example", false},
        {"corp.example", false}, /* .NAME is what is below it */
        {"xcorp.example", false},
        {"a.stowage.example.com", false},
        {".", false},
        {":8090", false},
        {"[::1", true}, /* an address all the same */
        {"[evil.example]:1", false},
        {"1.2.3.4.5", false},
    };
    struct page_guard g = {.listen = SPAN("node-7.lan"), .hosts = hosts, .host_count = COUNT_OF(hosts)};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_request q = {.host = span_of(rows[i].host)};
        struct http_reply r = {.status = 200};
        bool let_in = page_guard_admits(&g, &q, &r);
        if (let_in != rows[i].let_in || r.status != (let_in ? 200 : 421))
            fail_msg("%s: %d, status %d", rows[i].host, let_in, r.status);
        buf_release(&r.body);
    }
    struct http_request q = {.host = SPAN("evil.example:8090")};
    struct http_reply r = {.status = 200};
    assert_false(page_guard_admits(&g, &q, &r));
    buf_add_char(&r.body, '\0');
    assert_string_equal(r.body.ptr, "\"evil.example\" is no name of this page; --page-host=NAME lets it be one\n");
    buf_release(&r.body);
}

static void test_sites(void **state)
{
    (void)state;
    static const struct {
        const char *site;
        bool let_in;
    } rows[] = {
        {NULL, true}, /* of no browser */
        {"none", true},
        {"same-origin", true},
        {"same-site", true},
        {"cross-site", false},
        {"Cross-Site", false},
    };
    struct page_guard g = {.token = SPAN(TOKEN)};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_request q = {.host = SPAN("localhost"), .authorization = SPAN("Bearer " TOKEN), .fetch_site = span_of(rows[i].site)};
        struct http_reply r = {.status = 200};
        bool let_in = page_guard_admits(&g, &q, &r);
        if (let_in != rows[i].let_in || r.status != (let_in ? 200 : 403))
            fail_msg("%s: %d, status %d", rows[i].site, let_in, r.status);
        buf_release(&r.body);
    }
}

static void test_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *authorization;
        bool let_in;
    } rows[] = {
        {"Bearer " TOKEN, true},
        {"bearer  " TOKEN " ", true},
        {"Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==", true}, /* me:TOKEN */
        {"Basic OjAxMjM0NTY3ODlhYmNkZWY=", true},     /* :TOKEN */
        {NULL, false},
        {"", false},
        {TOKEN, false},
        {"Bearer", false},
        {"Bearer ", false},
        {"Bearer 0123456789abcdeF", false},
        {"Bearer 0123456789abcde", false},
        {"Bearer " TOKEN "0", false},
        {"Basic " TOKEN, false},
        {"Basic MDEyMzQ1Njc4OWFiY2RlZg==", false}, /* no user and no colon */
        {"Basic MDEyMzQ1Njc4OWFiY2RlZjo=", false}, /* TOKEN: */
        {"Digest " TOKEN, false},
    };
    struct page_guard g = {.token = SPAN(TOKEN)};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_request q = {.host = SPAN("localhost"), .authorization = span_of(rows[i].authorization)};
        struct http_reply r = {.status = 200};
        bool let_in = page_guard_admits(&g, &q, &r);
        if (let_in != rows[i].let_in || r.status != (let_in ? 200 : 401) || (r.authenticate != NULL) == let_in)
            fail_msg("%s: %d, status %d", rows[i].authorization, let_in, r.status);
        buf_release(&r.body);
    }
    /* The name is looked at first: a browser would send a token that it knows along. */
    struct http_request q = {.host = SPAN("evil.example"), .authorization = SPAN("Bearer " TOKEN)};
    struct http_reply r = {.status = 200};
    assert_false(page_guard_admits(&g, &q, &r));
    assert_int_equal(r.status, 421);
    buf_release(&r.body);
}

static void write_file(char *path, const char *text)
{
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says; /* NULL: a token */
    } rows[] = {
        {TOKEN "\n", NULL},
        {TOKEN "\r\nremarks\n", NULL},
        {"  " TOKEN, NULL},
        {"", "the token in its first line has 0 bytes; 16 are the least"},
        {"\n" TOKEN, "the token in its first line has 0 bytes"},
        {"0123456789abcde", "has 15 bytes"},
        {"0123456789 abcdef", "without spaces"},
        {"0123456789\xc3\xa4" "bcdef", "without spaces"},
    };
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[] = "/tmp/stowage-token-XXXXXX";
        struct span token = {NULL, 0};
        struct err err = {0};
        write_file(path, rows[i].text);
        bool ok = page_token_read(&a, path, &token, &err);
        unlink(path);
        if (ok != (rows[i].says == NULL) || (ok ? !span_eq(token, SPAN(TOKEN)) : strstr(err.msg, rows[i].says) == NULL))
            fail_msg("row %zu: %d %s", i, ok, err.msg);
    }
    struct span token;
    struct err err;
    assert_false(page_token_read(&a, "/nowhere/token", &token, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    arena_release(&a);
}

/* --- by wire --- */

static void answer(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    (void)scratch;
    (void)q;
    buf_add(&r->body, SPAN("the fleet"));
}

static void *scratch_make(void *user)
{
    return user;
}

static void scratch_drop(void *scratch)
{
    (void)scratch;
}

static void asks(int port, const char *request, int status, const char *head)
{
    struct client_conn *c = client_open(port, NULL);
    struct client_reply r;
    assert_non_null(c);
    assert_true(client_send(c, span_of(request)));
    client_read_reply(c, false, &r);
    client_close(c);
    if (r.status != status || strcasestr(r.head, head) == NULL)
        fail_msg("%s: got %d\n%s%s", request, r.status, r.head, r.body);
}

static void test_by_wire(void **state)
{
    (void)state;
    static int user;
    struct page_guard g = {.token = SPAN(TOKEN)};
    struct http_table table = {.guards = {[HTTP_PAGE] = {page_guard_admits, &g}}};
    http_table_add(&table, &(struct http_route){HTTP_PAGE, "GET", "/fleet", answer, NULL, NULL, NULL});
    http_table_add(&table, &(struct http_route){HTTP_PROBES, "GET", "/livez", answer, NULL, NULL, NULL});
    struct http_server_config config = {.table = &table,
                                        .listen = {[HTTP_PAGE] = "127.0.0.1:0", [HTTP_PROBES] = "127.0.0.1:0"},
                                        .loops = 1,
                                        .scratch = {&user, scratch_make, NULL, scratch_drop}};
    struct http_server *server;
    struct err err;
    assert_true(http_server_new(&config, &server, &err));
    http_server_start(server);
    int port = http_server_port(server, HTTP_PAGE);
    asks(port, "GET /fleet HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer " TOKEN "\r\n\r\n", 421, "421 Misdirected");
    asks(port, "GET /fleet HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "www-authenticate: Basic realm=\"Stowage\"");
    asks(port, "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "401"); /* nor what there is */
    asks(port, "GET /fleet HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " TOKEN "\r\n\r\n", 200, "200 OK");
#define OWN "GET /fleet HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " TOKEN "\r\n"
    asks(port, OWN "Sec-Fetch-Site: cross-site\r\n\r\n", 403, "403 Forbidden");
    asks(port, OWN "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n", 403, "cross-origin-resource-policy: same-origin\r\n");
    asks(port, OWN "Sec-Fetch-Site: same-origin\r\n\r\n", 200, "cross-origin-resource-policy: same-origin\r\n");
    asks(http_server_port(server, HTTP_PROBES), "GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200, "200 OK");

    char path[] = "/tmp/stowage-token-XXXXXX", url[64];
    struct buf out = {0};
    int status = 0;
    write_file(path, TOKEN "\n");
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/fleet", port);
    assert_true(fetch_text(url, NULL, &status, &out, &err));
    assert_int_equal(status, 401);
    buf_clear(&out);
    assert_true(fetch_text(url, path, &status, &out, &err));
    assert_int_equal(status, 200);
    assert_true(span_eq(buf_span(&out), SPAN("the fleet")));
    unlink(path);
    assert_false(fetch_text(url, path, &status, &out, &err));
    buf_release(&out);
    http_server_stop(server, 1000);
    http_server_free(server);
}

static void test_where_it_may_listen(void **state)
{
    (void)state;
    static const struct {
        const char *host; /* NULL: every address */
        bool token, insecure, may;
    } rows[] = {
        {"127.0.0.1", false, false, true}, {"127.9.9.9", false, false, true}, {"::1", false, false, true},
        {"LocalHost", false, false, true}, {NULL, false, false, false},       {"10.1.2.3", false, false, false},
        {"2001:db8::1", false, false, false}, {"128.0.0.1", false, false, false},
        {"127.0.0.1.example.com", false, false, false}, /* a name can mean any address */
        {NULL, true, false, true}, {NULL, false, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        struct span host = rows[i].host != NULL ? span_of(rows[i].host) : (struct span){NULL, 0};
        bool may = page_guard_may_listen(host, rows[i].token, rows[i].insecure, &err);
        if (may != rows[i].may || (err.kind == ERR_INVALID) == may)
            fail_msg("%s: %d", rows[i].host != NULL ? rows[i].host : "every address", may);
        if (!may && (strstr(err.msg, "--page-token-file") == NULL || strstr(err.msg, "--page-insecure") == NULL))
            fail_msg("%s", err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_sites),
                                       cmocka_unit_test(test_tokens), cmocka_unit_test(test_where_it_may_listen),
                                       cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_by_wire)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
