/* The wall clock steps while the server serves: h2o's timers, which go by it, may neither end connections nor keep
 * them, and the loops' pulses go on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>

#include "base/arena.h"
#include "base/err.h"
#include "server/clock.h"
#include "server/http_server.h"
#include "server/watchdog.h"
#include "support_client.h"

enum { REQUEST_MS = 2 * MS_SECOND, SHORT_IDLE_MS = 3 * MS_SECOND, PATIENCE_MS = 30 * MS_SECOND };

static _Atomic(int64_t) stepped; /* seconds */

/* Stands before libc's for h2o's library, too. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *tv = (struct timeval){t.tv_sec + atomic_load(&stepped), t.tv_nsec / 1000};
    return 0;
}

struct fixture {
    struct http_table table;
    struct http_server *server;
    _Atomic(uint64_t) version; /* what the stream reports */
};

static void on_hello(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    (void)scratch;
    (void)q;
    buf_add(&r->body, SPAN("hello"));
}

static void feed(void *user, void *scratch, struct http_stream *s, mono_ms now, struct buf *out)
{
    (void)scratch;
    (void)now;
    struct fixture *f = user;
    uint64_t version = atomic_load(&f->version);
    if (!s->begun || version != s->seen)
        buf_addf(out, "data: %llu\n\n", (unsigned long long)version);
    s->seen = version;
}

static struct fixture *begin(span_ms idle)
{
    struct fixture *f = mem_new(sizeof(*f));
    atomic_store(&stepped, 0);
    struct http_server_config config = {.table = &f->table, .loops = 2, .idle = idle, .request = REQUEST_MS};
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        config.listen[l] = "127.0.0.1:0";
        http_table_add(&f->table, &(struct http_route){.listener = (enum http_listener)l,
                                                       .method = "GET",
                                                       .path = "/hello",
                                                       .handler = on_hello});
    }
    http_table_add(&f->table,
                   &(struct http_route){.listener = HTTP_PAGE, .method = "GET", .path = "/live", .feed = feed, .user = f});
    struct err err;
    if (!http_server_new(&config, &f->server, &err))
        fail_msg("%s", err.msg);
    http_server_start(f->server);
    return f;
}

static int setup(void **state)
{
    *state = begin(0);
    return 0;
}

static int setup_impatient(void **state)
{
    *state = begin(SHORT_IDLE_MS);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_free(f->server);
    free(f);
    return 0;
}

static struct client_conn *open_to(struct fixture *f, enum http_listener l)
{
    struct client_conn *c = client_open(http_server_port(f->server, l), NULL);
    assert_non_null(c);
    return c;
}

static void expect_hello(struct client_conn *c, enum http_listener l, const char *when)
{
    struct client_reply r = {.status = 0};
    client_ask(c, "GET", "/hello", (struct span){NULL, 0}, &r);
    if (r.status != 200 || r.closes)
        fail_msg("%s, %s: got %d", http_listener_name(l), when, r.status);
}

/* Until each loop has beaten so often more, none of them at longer intervals than the watchdog allows. */
static void expect_beats(struct fixture *f, int count)
{
    const struct pulse *loop;
    for (uint32_t i = 0; (loop = http_server_pulse(f->server, i)) != NULL; i++)
        for (int beats = 0; beats < count; beats++) {
            mono_ms before = atomic_load(&loop->last);
            struct client_conn *c = open_to(f, HTTP_PROBES); /* of others that are served meanwhile */
            while (atomic_load(&loop->last) == before) {
                expect_hello(c, HTTP_PROBES, "after the step");
                if (clock_mono() - before > WATCHDOG_STALL_MS)
                    fail_msg("%s is silent after the step", loop->name);
            }
            client_close(c);
        }
}

static const int64_t steps[] = {-3600, 30 * 86400};

static void test_loops_beat_and_answer(void **state)
{
    struct fixture *f = *state;
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        struct client_conn *kept[HTTP_LISTENER_COUNT];
        for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
            kept[l] = open_to(f, (enum http_listener)l);
            expect_hello(kept[l], (enum http_listener)l, "at first");
        }
        atomic_fetch_add(&stepped, steps[s]);
        expect_beats(f, 2);
        for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
            expect_hello(kept[l], (enum http_listener)l, "after the step, on a connection from before");
            client_close(kept[l]);
        }
    }
}

/* Fed once a second, without being woken. */
static void test_streams_go_on(void **state)
{
    struct fixture *f = *state;
    struct client_conn *c = open_to(f, HTTP_PAGE);
    client_send(c, SPAN("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_true(client_read_until(c, "data: 0"));
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        char want[32];
        atomic_fetch_add(&stepped, steps[s]);
        snprintf(want, sizeof(want), "data: %llu", (unsigned long long)atomic_fetch_add(&f->version, 1) + 1);
        assert_true(client_read_until(c, want));
    }
    client_close(c);
}

static void expect_end(struct client_conn *c, mono_ms since, span_ms least, const char *what)
{
    if (!client_at_end(c))
        fail_msg("%s is answered", what);
    span_ms took = clock_mono() - since;
    if (took < least || took > least + PATIENCE_MS)
        fail_msg("%s ended after %lld ms", what, (long long)took);
    client_close(c);
}

/* Requests that do not come and connections that nobody uses end when they would have, neither at once nor an hour
 * later. */
static void test_bounds_hold(void **state)
{
    struct fixture *f = *state;
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        struct client_conn *slow = open_to(f, HTTP_WEBHOOK), *idle = open_to(f, HTTP_EXTENDER);
        struct client_conn *mute = open_to(f, HTTP_METRICS);
        mono_ms since = clock_mono();
        client_send(slow, SPAN("GET /hello HTTP/1.1\r\n"));
        expect_hello(idle, HTTP_EXTENDER, "at first");
        atomic_fetch_add(&stepped, steps[s]);
        expect_end(slow, since, REQUEST_MS, "a request that does not come");
        expect_end(idle, since, SHORT_IDLE_MS, "a connection that nobody uses");
        expect_end(mute, since, SHORT_IDLE_MS, "a connection that was never used");
    }
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_loops_beat_and_answer),
        ROW(test_streams_go_on),
        cmocka_unit_test_setup_teardown(test_bounds_hold, setup_impatient, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
