/* A mirror at a scripted server: its snapshots follow it, tell that it is away and that it is back, requests go there, and
 * whatever is pending ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kube/machines.h"
#include "kube/mirror_io.h"
#include "support_http_server.h"

enum { PATIENCE_S = 20 };

struct world {
    struct mirror *mirror;
    int port;
    _Atomic(int) results, status, error;
};

#define LIST_OF(items) "\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" items "]}"
#define MACHINE "{\"metadata\":{\"name\":\"m\",\"namespace\":\"apps\",\"resourceVersion\":\"4\"},\"spec\":{\"providerID\":\"fake:///m\"}}"

/* One Machine, and nothing new ever; no scale is answered. */
static void script(void *user, struct http_exchange *x)
{
    (void)user;
    if (strstr(x->target, "/scale") != NULL) {
        http_hang(x);
    } else if (strcmp(x->method, "PATCH") == 0) {
        http_reply(x, 200, "", MACHINE);
    } else if (strstr(x->target, "watch=true") != NULL) {
        http_begin(x);
        http_send(x, "\n");
        http_hang(x);
    } else {
        http_reply_list(x, strstr(x->target, "/machines?") != NULL ? LIST_OF(MACHINE) : LIST_OF(""));
    }
}

static void begin(struct world *w, struct http_server *server)
{
    static const enum kind kinds[] = {KIND_MACHINE_SET, KIND_MACHINE, KIND_NONE};
    static const struct client_policy policy = {.retry_first_ms = 10, .retry_max_ms = 50};
    char url[64];
    struct err err;
    w->port = http_server_port(server);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", w->port);
    struct client_config cluster = {.server = span_of(url), .source = SPAN("test")};
    if (!mirror_new(&(struct mirror_config){&cluster, &policy, kinds}, &w->mirror, &err))
        fail_msg("%s", err.msg);
    mirror_start(w->mirror);
}

static void rest(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static bool is_well(const struct snapshot *s)
{
    return s->state[KIND_MACHINE].synced && s->state[KIND_MACHINE_SET].synced && s->state[KIND_MACHINE].broken_since == 0;
}

static bool is_away(const struct snapshot *s)
{
    return s->state[KIND_MACHINE].broken_since != 0;
}

/* The first snapshot that is so; the caller's. */
static struct snapshot *until(struct world *w, bool (*so)(const struct snapshot *s), const char *what)
{
    for (time_t limit = time(NULL) + PATIENCE_S; time(NULL) < limit; rest()) {
        struct snapshot *s = (struct snapshot *)share_take(mirror_snapshots(w->mirror));
        if (s != NULL && so(s))
            return s;
        if (s != NULL)
            shared_unref(&s->shared);
    }
    fail_msg("no snapshot that says it is %s", what);
    return NULL;
}

static void expect_machine(const struct snapshot *s)
{
    const struct cluster_machine *m = snapshot_find(s, KIND_MACHINE, SPAN("apps"), SPAN("m"));
    assert_non_null(m);
    assert_true(span_eq(m->provider_id, SPAN("fake:///m")));
    assert_int_equal(s->state[KIND_MACHINE_SET].count, 0);
}

static void follows(void **state)
{
    (void)state;
    struct world w = {0};
    struct http_server *server = http_server_start(0, script, &w);
    begin(&w, server);
    struct snapshot *s = until(&w, is_well, "well");
    expect_machine(s);
    shared_unref(&s->shared);
    http_server_stop(server);
    s = until(&w, is_away, "away");
    expect_machine(s); /* what was known stays, for who can do with it */
    shared_unref(&s->shared);
    server = http_server_start(w.port, script, &w);
    assert_non_null(server);
    s = until(&w, is_well, "well again");
    expect_machine(s);
    shared_unref(&s->shared);
    mirror_stop(w.mirror);
    mirror_free(w.mirror);
    http_server_stop(server);
}

static void on_result(void *user, const struct api_result *r)
{
    struct world *w = user;
    atomic_store(&w->status, r->status);
    atomic_store(&w->error, (int)r->err.kind);
    atomic_fetch_add(&w->results, 1);
}

static void send(struct world *w, struct span subresource)
{
    struct api_request r = {.verb = API_MERGE, .kind = subresource.len != 0 ? KIND_MACHINE_SET : KIND_MACHINE,
                            .ns = SPAN("apps"), .name = SPAN("m"), .subresource = subresource, .body = SPAN("{}"), .is_act = true};
    api_send(mirror_api(w->mirror), &r, on_result, w);
}

static void writes_and_ends(void **state)
{
    (void)state;
    struct world w = {0};
    struct http_server *server = http_server_start(0, script, &w);
    begin(&w, server);
    send(&w, (struct span){NULL, 0});
    for (time_t limit = time(NULL) + PATIENCE_S; atomic_load(&w.results) == 0 && time(NULL) < limit;)
        rest();
    assert_int_equal(atomic_load(&w.results), 1);
    assert_int_equal(atomic_load(&w.status), 200);
    send(&w, SPAN("scale"));
    mirror_stop(w.mirror); /* waits for an answer, but not for long */
    mirror_free(w.mirror);
    assert_int_equal(atomic_load(&w.results), 2);
    assert_int_equal(atomic_load(&w.error), ERR_CANCELLED);
    http_server_stop(server);
}

#define NAMED(name) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"apps\",\"resourceVersion\":\"4\"}}"
#define PAGE(version, cont, items)                                                                                      \
    "\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" cont "\"},\"items\":[" items "]}"

/* Three Machines on two pages; after a 410 to the watch the second page is empty. */
static void short_page_script(void *user, struct http_exchange *x)
{
    struct world *w = user;
    bool machines = strstr(x->target, "/machines?") != NULL, watch = strstr(x->target, "watch=true") != NULL;
    if (machines && watch && strstr(x->target, "resourceVersion=5") != NULL) {
        atomic_store(&w->status, 410);
        http_reply(x, 410, "", "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}");
    } else if (watch) {
        http_begin(x);
        http_hang(x);
    } else if (!machines) {
        http_reply_list(x, PAGE("5", "", ""));
    } else if (strstr(x->target, "continue=") == NULL) {
        http_reply_list(x, PAGE("5", "more", NAMED("a")));
    } else {
        http_reply_list(x, atomic_load(&w->status) == 410 ? PAGE("6", "", "") : PAGE("5", "", NAMED("b") "," NAMED("c")));
    }
}

static bool is_listed_twice(const struct snapshot *s)
{
    return s->state[KIND_MACHINE].lists == 2;
}

static void an_empty_later_page_is_a_loss(void **state)
{
    (void)state;
    struct world w = {0};
    struct http_server *server = http_server_start(0, short_page_script, &w);
    begin(&w, server);
    struct snapshot *s = until(&w, is_listed_twice, "listed twice");
    const struct list_guard *loss = &s->state[KIND_MACHINE].loss[LOSS_UNEXPLAINED];
    assert_int_equal(loss->list, 2);
    assert_int_equal(loss->had, 3);
    assert_int_equal(loss->lost, 2);
    shared_unref(&s->shared);
    mirror_stop(w.mirror);
    mirror_free(w.mirror);
    http_server_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows),
        cmocka_unit_test(writes_and_ends),
        cmocka_unit_test(an_empty_later_page_is_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
