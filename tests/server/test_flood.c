/* Strangers on one listener, or on all: what they hold of us is bounded, and nobody else notices. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/err.h"
#include "server/clock.h"
#include "server/http_server.h"
#include "support_client.h"

enum {
    IDLE = 2000,      /* connections of those who say nothing */
    IDLE_MOST = 10000, /* to the webhook, which anybody in the cluster may reach */
    LARGE = 12,       /* of those who send as much as there may be, to each listener at once */
    SLOW = 40,        /* of those who send a byte now and then */
    REQUEST_MS = 2000, /* that a request may take to come where senders are slow */
    LOOPS = 2,
};

/* What http_connections.c says: 32 MiB of the webhook and of each of the extender's loops, 4 of the others, and what comes
 * in while one round reads: the kernel's buffers, which double in ours. */
static const size_t BOUND = ((size_t)(LOOPS + 1) * 32 + 3 * 4 + 64) << 20;

struct fixture {
    struct arena a;
    struct cert_pair ca, serving, client;
    struct client_tls tls;
    struct tls *server_tls;
    struct http_table table;
    struct http_server *server;
    struct client_conn *scheduler; /* has asked before */
};

static void on_hello(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    (void)scratch;
    (void)q;
    buf_add(&r->body, SPAN("hello"));
}

static void issue(struct fixture *f, enum cert_purpose purpose, struct cert_pair *out)
{
    static const struct span names[] = {SPAN_INIT("127.0.0.1"), SPAN_INIT("localhost")};
    struct cert_subject s = {SPAN("test"), purpose, names, 2, 0};
    struct err err;
    assert_true(authority_issue(&f->a, &f->ca, &s, clock_wall(), out, &err));
}

static bool is_tls(enum http_listener l)
{
    return l == HTTP_WEBHOOK || l == HTTP_EXTENDER;
}

static int port(struct fixture *f, enum http_listener l)
{
    return http_server_port(f->server, l);
}

static void expect_hello(struct client_conn *c, const char *who, const char *when)
{
    struct client_reply r = {.status = 0};
    if (c != NULL)
        client_ask(c, "POST", "/hello", SPAN("{}"), &r);
    if (r.status != 200)
        fail_msg("%s, %s: got %d", when, who, r.status);
}

/* The kubelet's probe comes by a connection of its own; the scheduler keeps one, and may begin another. */
static void others_are_served(struct fixture *f, const char *when)
{
    struct client_conn *probe = client_open(port(f, HTTP_PROBES), NULL);
    expect_hello(probe, "a probe", when);
    client_close(probe);
    expect_hello(f->scheduler, "the scheduler", when);
    struct client_conn *new = client_open(port(f, HTTP_EXTENDER), &f->tls);
    expect_hello(new, "a new connection of the scheduler's", when);
    client_close(new);
}

static int begin(void **state, span_ms request)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct err err;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    arena_init(&f->a, 0);
    assert_true(authority_new(&f->a, clock_wall(), CERTS_CA_LIFE, &f->ca, &err));
    issue(f, CERT_SERVER, &f->serving);
    issue(f, CERT_CLIENT, &f->client);
    f->tls = (struct client_tls){&f->client, f->ca.cert};
    f->server_tls = tls_new(NULL, NULL);
    assert_true(tls_swap(f->server_tls, &(struct tls_pem){f->serving.cert, f->serving.key, f->ca.cert, {NULL, 0}}, &err));
    struct http_server_config config = {.table = &f->table, .tls = f->server_tls, .loops = LOOPS, .request = request};
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        config.listen[l] = "127.0.0.1:0";
        http_table_add(&f->table, &(struct http_route){.listener = (enum http_listener)l,
                                                       .method = "POST",
                                                       .path = "/hello",
                                                       .handler = on_hello});
    }
    if (!http_server_new(&config, &f->server, &err))
        fail_msg("%s", err.msg);
    http_server_start(f->server);
    f->scheduler = client_open(port(f, HTTP_EXTENDER), &f->tls);
    expect_hello(f->scheduler, "the scheduler", "at first");
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return begin(state, 0);
}

static int setup_impatient(void **state)
{
    return begin(state, REQUEST_MS);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    client_close(f->scheduler);
    http_server_free(f->server);
    tls_free(f->server_tls);
    arena_release(&f->a);
    free(f);
    return 0;
}

static void test_idle_connections(void **state)
{
    struct fixture *f = *state;
    static struct client_conn *idle[IDLE_MOST];
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        char when[64];
        int count = l == HTTP_WEBHOOK ? IDLE_MOST : IDLE;
        snprintf(when, sizeof(when), "%d idle on the %s listener", count, http_listener_name((enum http_listener)l));
        for (int i = 0; i < count; i++) {
            idle[i] = client_open(port(f, (enum http_listener)l), NULL);
            assert_non_null(idle[i]);
        }
        others_are_served(f, when);
        if (http_server_connections(f->server) > 500)
            fail_msg("%s: %u connections are kept", when, http_server_connections(f->server));
        for (int i = 0; i < count; i++)
            client_close(idle[i]);
    }
}

/* One byte at a time, for ever: neither a head nor a body may take as long as its sender likes. */
static void test_slow_senders(void **state)
{
    struct fixture *f = *state;
    static const struct span begins[] = {SPAN_INIT("POST /hello HTTP/1.1\r\nX: "),
                                         SPAN_INIT("POST /hello HTTP/1.1\r\nContent-Length: 8000000\r\n\r\n")};
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        struct client_conn *slow[SLOW];
        for (size_t i = 0; i < SLOW; i++) {
            slow[i] = client_open(port(f, (enum http_listener)l), is_tls((enum http_listener)l) ? &f->tls : NULL);
            client_send(slow[i], begins[i % COUNT_OF(begins)]);
        }
        size_t left = SLOW;
        for (mono_ms end = clock_mono() + 60 * MS_SECOND; left != 0 && clock_mono() < end;) {
            others_are_served(f, "with slow senders");
            for (size_t i = 0; i < SLOW; i++)
                if (slow[i] != NULL && !client_send(slow[i], SPAN("x"))) {
                    client_close(slow[i]);
                    slow[i] = NULL;
                    left--;
                }
        }
        if (left != 0)
            fail_msg("%zu of %d who send slowly to the %s listener are still there", left, SLOW,
                     http_listener_name((enum http_listener)l));
    }
}

/* Neither is slow: who has asked and is idle, nor who sends its next request later than one may take. */
static void test_idle_is_not_slow(void **state)
{
    struct fixture *f = *state;
    struct client_conn *idle[HTTP_LISTENER_COUNT];
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        idle[l] = client_open(port(f, (enum http_listener)l), is_tls((enum http_listener)l) ? &f->tls : NULL);
        expect_hello(idle[l], http_listener_name((enum http_listener)l), "at first");
    }
    struct client_conn *slow = client_open(port(f, HTTP_PROBES), NULL);
    client_send(slow, SPAN("POST /hello HTTP/1.1\r\n")); /* when it is cut, the time is over for all */
    assert_true(client_at_end(slow));
    client_close(slow);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        expect_hello(idle[l], http_listener_name((enum http_listener)l), "later");
        client_close(idle[l]);
    }
}

/* --- memory --- */

#if defined(__SANITIZE_ADDRESS__)
size_t __sanitizer_get_current_allocated_bytes(void);
static size_t allocated(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}
#endif

struct senders {
    struct fixture *f;
    enum http_listener listener;
    struct span body;
    struct client_conn *conns[LARGE];
};

/* All but the end, so that nobody is answered. */
static void *send_large(void *user)
{
    struct senders *s = user;
    struct buf head = {0};
    buf_addf(&head, "POST /hello HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
             s->body.len + 1);
    for (int i = 0; i < LARGE; i++) {
        s->conns[i] = client_open(port(s->f, s->listener), is_tls(s->listener) ? &s->f->tls : NULL);
        if (s->conns[i] != NULL && client_send(s->conns[i], buf_span(&head)))
            client_send(s->conns[i], s->body); /* may be cut on the way */
    }
    buf_release(&head);
    return NULL;
}

static void *sample(void *user)
{
    static size_t most;
    _Atomic(bool) *done = user;
    most = 0;
    while (!atomic_load(done)) {
        size_t now = allocated();
        most = now > most ? now : most;
    }
    return &most;
}

static void test_large_bodies_at_once(void **state)
{
    struct fixture *f = *state;
    struct span body = {mem_new(HTTP_BODY_MAX - 1), HTTP_BODY_MAX - 1};
    struct senders senders[HTTP_LISTENER_COUNT];
    pthread_t threads[HTTP_LISTENER_COUNT], sampler;
    _Atomic(bool) done = false;
    size_t before = allocated();
    pthread_create(&sampler, NULL, sample, &done);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        senders[l] = (struct senders){.f = f, .listener = (enum http_listener)l, .body = body};
        pthread_create(&threads[l], NULL, send_large, &senders[l]);
    }
    for (int i = 0; i < 10; i++)
        others_are_served(f, "with large bodies");
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        pthread_join(threads[l], NULL);
    others_are_served(f, "with large bodies, all sent");
    atomic_store(&done, true);
    void *most;
    pthread_join(sampler, &most);
    size_t held = *(const size_t *)most - before;
    print_message("%d bodies of 8 MiB held at most %zu MiB\n", HTTP_LISTENER_COUNT * LARGE, held >> 20);
    if (held > BOUND)
        fail_msg("%zu MiB held, %zu may be", held >> 20, BOUND >> 20);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        for (int i = 0; i < LARGE; i++)
            client_close(senders[l].conns[i]);
    free((void *)(uintptr_t)body.ptr);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_idle_connections),
        cmocka_unit_test_setup_teardown(test_slow_senders, setup_impatient, teardown),
        cmocka_unit_test_setup_teardown(test_idle_is_not_slow, setup_impatient, teardown),
        ROW(test_large_bodies_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
