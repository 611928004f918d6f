#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "server/clock.h"
#include "server/http_server.h"
#include "support_client.h"

enum { PATIENCE_MS = 5 * MS_SECOND };

struct failures { /* of handshakes, since they were cleared */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count[HTTP_LISTENER_COUNT][TLS_FAILURE_COUNT], all;
    char peer[64], detail[256]; /* of the last */
};

struct fixture {
    struct failures failures;
    span_ms request;
    struct arena a;
    struct cert_pair ca, other_ca, serving, serving_2, client, stranger;
    struct tls *tls;
    bool webhook_asks;
    struct http_table table;
    struct http_server *server;
    _Atomic(uint64_t) version; /* what the stream tells */
    _Atomic(int) dropped;      /* documents that came to an end */
    sem_t begun, asked;        /* a polite document is; somebody else has asked for something */
    _Atomic(int) greeted;      /* and was answered */
    _Atomic(uint64_t) pieces;
    _Atomic(int) scratches;
    struct http_waker waker; /* of a stream that has begun */
};

static void on_echo(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    assert_non_null(scratch);
    buf_add(&r->body, q->body);
}

/* A review that takes until others have been answered. */
static void on_review(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    (void)q;
    struct fixture *f = user;
    sem_post(&f->begun);
    sem_wait(&f->asked);
    buf_add(&r->body, SPAN("allowed"));
}

static void on_hello(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    r->content_type = "text/plain";
    atomic_fetch_add(&((struct fixture *)scratch)->greeted, 1);
    buf_addf(&r->body, "hello %.*s", SPAN_ARG(q->query));
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

enum { PIECES = 150 };

static void on_farewell(void *user, void *scratch, const struct http_request *q,
                        struct http_reply *r)
{
    (void)user;
    (void)scratch;
    (void)q;
    buf_add(&r->body, SPAN("ask another"));
    r->last = true;
}

/* Goes on until others have had their turn, for so long at most. */
static void polite(void *user, void *scratch, struct http_stream *s, mono_ms now, struct buf *out)
{
    (void)scratch;
    (void)now;
    struct fixture *f = user;
    if (!s->begun) {
        atomic_store(&f->greeted, 0);
        sem_post(&f->begun);
        sem_wait(&f->asked);
    }
    buf_add_char(out, '.');
    s->ended = ++s->seen == PIECES || atomic_load(&f->greeted) != 0;
    atomic_store(&f->pieces, s->seen);
}

static void drop_document(void *work)
{
    atomic_fetch_add(&((struct fixture *)work)->dropped, 1);
}

static void document(void *user, void *scratch, struct http_stream *s, mono_ms now, struct buf *out)
{
    (void)now;
    assert_non_null(scratch);
    s->work = user;
    s->drop = drop_document;
    buf_addf(out, "<%d>", (int)s->seen);
    for (size_t end = out->len + HTTP_PIECE; out->len < end;)
        buf_add_char(out, '.');
    s->ended = ++s->seen == PIECES;
}

/* All of it at once. */
static void whole(void *user, void *scratch, struct http_stream *s, mono_ms now, struct buf *out)
{
    while (!s->ended)
        document(user, scratch, s, now, out);
}

static void on_failed(void *user, enum http_listener l, enum tls_failure why, const char *peer, struct span detail)
{
    struct failures *x = &((struct fixture *)user)->failures;
    pthread_mutex_lock(&x->lock);
    x->count[l][why]++;
    x->all++;
    snprintf(x->peer, sizeof(x->peer), "%s", peer);
    snprintf(x->detail, sizeof(x->detail), "%.*s", SPAN_ARG(detail));
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

static void clear_failures(struct fixture *f)
{
    pthread_mutex_lock(&f->failures.lock);
    memset(f->failures.count, 0, sizeof(f->failures.count));
    f->failures.all = 0;
    pthread_mutex_unlock(&f->failures.lock);
}

static void *scratch_make(void *user)
{
    struct fixture *f = user;
    atomic_fetch_add(&f->scratches, 1);
    return f;
}

static void scratch_drop(void *scratch)
{
    struct fixture *f = scratch;
    atomic_fetch_sub(&f->scratches, 1);
}

static void issue(struct fixture *f, const struct cert_pair *ca, enum cert_purpose purpose,
                  struct cert_pair *out)
{
    static const struct span names[] = {SPAN_INIT("127.0.0.1"), SPAN_INIT("localhost")};
    struct cert_subject s = {SPAN("test"), purpose, names, 2, 0};
    struct err err;
    if (!authority_issue(&f->a, ca, &s, clock_wall(), out, &err))
        fail_msg("%s", err.msg);
}

static bool swap(struct fixture *f, const struct cert_pair *pair)
{
    struct err err;
    struct tls_pem pem = {pair->cert, pair->key, f->ca.cert, f->other_ca.cert};
    return tls_swap(f->tls, &pem, &err);
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct err err;
    arena_init(&f->a, 0);
    pthread_mutex_init(&f->failures.lock, NULL);
    pthread_cond_init(&f->failures.changed, NULL);
    assert_true(authority_new(&f->a, clock_wall(), CERTS_CA_LIFE, &f->ca, &err));
    assert_true(authority_new(&f->a, clock_wall(), CERTS_CA_LIFE, &f->other_ca, &err));
    issue(f, &f->ca, CERT_SERVER, &f->serving);
    issue(f, &f->ca, CERT_SERVER, &f->serving_2);
    issue(f, &f->ca, CERT_CLIENT, &f->client);
    issue(f, &f->other_ca, CERT_CLIENT, &f->stranger);
    f->tls = tls_new(NULL, NULL);
    http_table_add(&f->table,
                   &(struct http_route){HTTP_WEBHOOK, "POST", "/echo", on_echo, NULL, NULL, NULL});
    http_table_add(&f->table,
                   &(struct http_route){HTTP_EXTENDER, "POST", "/echo", on_echo, NULL, NULL, NULL});
    http_table_add(&f->table,
                   &(struct http_route){HTTP_PROBES, "GET", "/hello", on_hello, NULL, NULL, NULL});
    http_table_add(&f->table, &(struct http_route){HTTP_PROBES, "GET", "/farewell", on_farewell, NULL,
                                                   NULL, NULL});
    http_table_add(&f->table, &(struct http_route){HTTP_WEBHOOK, "POST", "/review", on_review, NULL, f, NULL});
    http_table_add(&f->table, &(struct http_route){HTTP_PAGE, "GET", "/live", NULL, feed, f, NULL});
    sem_init(&f->begun, 0, 0);
    sem_init(&f->asked, 0, 0);
    http_table_add(&f->table, &(struct http_route){HTTP_PROBES, "GET", "/polite", NULL, polite, f,
                                                   "text/plain"});
    http_table_add(&f->table, &(struct http_route){HTTP_PROBES, "GET", "/document", NULL, document, f,
                                                   "text/plain"});
    http_table_add(&f->table, &(struct http_route){HTTP_METRICS, "GET", "/document", NULL, document, f, "text/plain"});
    http_table_add(&f->table, &(struct http_route){HTTP_METRICS, "GET", "/hello", on_hello, NULL, NULL, NULL});
    http_table_add(&f->table, &(struct http_route){HTTP_PROBES, "GET", "/whole", NULL, whole, f,
                                                   "text/plain"});
    *state = f;
    return 0;
}

static void start(struct fixture *f, uint32_t connections)
{
    struct http_server_config config = {
        .table = &f->table,
        .listen = {[HTTP_WEBHOOK] = "127.0.0.1:0",
                   [HTTP_EXTENDER] = "127.0.0.1:0",
                   [HTTP_PROBES] = "127.0.0.1:0",
                   [HTTP_METRICS] = "127.0.0.1:0",
                   [HTTP_PAGE] = "127.0.0.1:0"},
        .tls = f->tls,
        .webhook_asks = f->webhook_asks,
        .loops = 2,
        .connections = connections,
        .request = f->request,
        .observer = {.user = f, .handshake_failed = on_failed},
        .scratch = {f, scratch_make, NULL, scratch_drop},
    };
    struct err err;
    if (!http_server_new(&config, &f->server, &err))
        fail_msg("%s", err.msg);
    http_server_start(f->server);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_free(f->server);
    assert_int_equal(atomic_load(&f->scratches), 0);
    tls_free(f->tls);
    arena_release(&f->a);
    free(f);
    return 0;
}

static int port(struct fixture *f, enum http_listener l)
{
    return http_server_port(f->server, l);
}

static void test_plain(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    static const struct {
        const char *method, *path;
        int status;
        const char *body;
    } rows[] = {
        {"GET", "/hello?a=b", 200, "hello a=b"},
        {"HEAD", "/hello?a=b", 200, ""},
        {"GET", "/x/../hello", 200, "hello "},
        {"POST", "/hello", 405, "/hello takes GET, not POST\n"},
        {"GET", "/nowhere", 404, "the probes listener has nothing at /nowhere\n"},
        {"GET", "/hello", 200, "hello "}, /* still the same connection */
    };
    struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
    assert_non_null(c);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct client_reply r;
        client_ask(c, rows[i].method, rows[i].path, (struct span){NULL, 0}, &r);
        if (r.status != rows[i].status || strcmp(r.body, rows[i].body) != 0 || r.closes ||
            strcasestr(r.head, "transfer-encoding") != NULL || strcasestr(r.head, "server:") != NULL)
            fail_msg("%s %s: got %d\n%s%s", rows[i].method, rows[i].path, r.status, r.head, r.body);
    }
    client_close(c);
}

/* A request whose name or end two programs could read differently is answered with 400, and nothing that comes behind it
 * on the connection is. */
static void test_ambiguous_heads(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label, *request, *says;
    } rows[] = {
        {"two hosts", "GET /hello HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", "more than one Host"},
        {"no host", "GET /hello HTTP/1.1\r\nX-Host: a\r\n\r\n", "no Host"},
        {"two lengths", "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "more than one Content-Length"},
        {"one length twice", "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nCONTENT-LENGTH: 2\r\n\r\n{}", "more than one Content-Length"},
        {"a length and chunks", "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "more than one Content-Length"},
        {"chunks and a length", "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "more than one Content-Length"},
        {"chunks twice", "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "more than one Content-Length"},
        {"chunks of 1.0", "POST /hello HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.0"},
        {"lines without CR", "GET /hello HTTP/1.1\nHost: a\nHost: b\n\n", "more than one Host"},
        {"behind an empty line", "\r\nGET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "more than one Host"},
        {"a header of two lines", "GET /hello HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", "second line"},
    };
    start(f, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct client_reply r;
        struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
        client_ask(c, "GET", "/hello", (struct span){NULL, 0}, &r); /* in order, and so is what follows on the connection */
        assert_int_equal(r.status, 200);
        atomic_store(&f->greeted, 0);
        client_send(c, span_of(rows[i].request));
        client_send(c, SPAN("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
        client_read_reply(c, false, &r);
        if (r.status != 400 || !r.closes || strstr(r.body, rows[i].says) == NULL || atomic_load(&f->greeted) != 0)
            fail_msg("%s: %d %s%s", rows[i].label, r.status, r.head, r.body);
        assert_true(client_at_end(c));
        client_close(c);
    }
}

static void test_bodies(void **state)
{
    struct fixture *f = *state;
    assert_true(swap(f, &f->serving));
    start(f, 0);
    struct client_tls tls = {NULL, f->ca.cert};
    struct client_reply r;
    struct span body = {mem_new(HTTP_BODY_MAX + 1), 5 * 1024 * 1024};
    struct client_conn *c = client_open(port(f, HTTP_WEBHOOK), &tls);
    client_ask(c, "POST", "/echo", body, &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body_len, body.len);
    client_ask(c, "POST", "/echo", SPAN("{}"), &r);
    assert_string_equal(r.body, "{}");
    body.len = HTTP_BODY_MAX + 1;
    client_ask(c, "POST", "/echo", body, &r);
    assert_int_equal(r.status, 413);
    client_close(c);
    free((void *)body.ptr);
}

static void test_who_gets_in(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    struct client_tls none = {NULL, f->ca.cert}, known = {&f->client, f->ca.cert};
    struct client_tls stranger = {&f->stranger, f->ca.cert}, doubts = {&f->client, f->other_ca.cert};
    assert_null(client_open(port(f, HTTP_WEBHOOK), &none)); /* no identity yet */
    assert_false(tls_loaded(f->tls));
    assert_true(swap(f, &f->serving));
    const struct {
        const char *label;
        enum http_listener listener;
        const struct client_tls *tls;
        int status; /* 0: not let in */
    } rows[] = {
        {"webhook, no certificate", HTTP_WEBHOOK, &none, 200},
        {"webhook, a server that is not trusted", HTTP_WEBHOOK, &doubts, 0},
        {"extender, the scheduler", HTTP_EXTENDER, &known, 200},
        {"extender, no certificate", HTTP_EXTENDER, &none, 0},
        {"extender, another CA's", HTTP_EXTENDER, &stranger, 0},
        {"extender, the scheduler again", HTTP_EXTENDER, &known, 200},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        /* With TLS 1.3 the client learns of a refusal only when it reads. */
        struct client_reply r = {.status = 0};
        struct client_conn *c = client_open(port(f, rows[i].listener), rows[i].tls);
        if (c != NULL)
            client_ask(c, "POST", "/echo", SPAN("{}"), &r);
        if (r.status != rows[i].status)
            fail_msg("%s: got %d", rows[i].label, r.status);
        client_close(c);
    }
}

/* Whether a scheduler gets in that has the certificate of "test", alias localhost and 127.0.0.1. */
static bool gets_in(struct fixture *f)
{
    struct client_tls tls = {&f->client, f->ca.cert};
    struct client_reply r = {.status = 0};
    struct client_conn *c = client_open(port(f, HTTP_EXTENDER), &tls);
    if (c != NULL)
        client_ask(c, "POST", "/echo", SPAN("{}"), &r);
    client_close(c);
    return r.status == 200;
}

/* As many reviews as there may be loops: each takes long, and all others of the webhook wait for it. */
static void test_slow_reviews_do_not_delay_the_extender(void **state)
{
    enum { REVIEWS = 16, ASKS = 32 };
    struct fixture *f = *state;
    assert_true(swap(f, &f->serving));
    start(f, 0);
    struct client_tls tls = {&f->client, f->ca.cert};
    struct client_conn *reviews[REVIEWS];
    for (int i = 0; i < REVIEWS; i++) /* no handshake after this waits for a loop */
        assert_non_null(reviews[i] = client_open(port(f, HTTP_WEBHOOK), &tls));
    for (int i = 0; i < REVIEWS; i++)
        client_send(reviews[i], SPAN("POST /review HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                     "Content-Length: 2\r\n\r\n{}"));
    sem_wait(&f->begun);
    int answered = 0;
    while (answered < ASKS && gets_in(f)) /* the kernel deals connections out to the loops */
        answered++;
    for (int i = 0; i < REVIEWS; i++)
        sem_post(&f->asked);
    assert_int_equal(answered, ASKS);
    for (int i = 0; i < REVIEWS; i++) {
        assert_true(client_read_until(reviews[i], "allowed"));
        client_close(reviews[i]);
    }
}

static void test_whose_certificates_are_accepted(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *names[2];
        uint32_t count;
        bool in;
    } rows[] = {
        {{NULL}, 0, true},
        {{"test"}, 1, true},
        {{"other", "localhost"}, 2, true},
        {{"other"}, 1, false},
        {{"tes"}, 1, false},
        {{"127.0.0.1"}, 1, false}, /* an address is nobody's name */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        tls_free(f->tls);
        f->tls = tls_new(&(struct tls_clients){rows[i].names, rows[i].count}, NULL);
        clear_failures(f);
        assert_true(swap(f, &f->serving));
        start(f, 0);
        for (int again = 0; again < 2; again++)
            if (gets_in(f) != rows[i].in)
                fail_msg("row %zu: %s", i, rows[i].in ? "is kept out" : "gets in");
        struct client_tls none = {NULL, f->ca.cert};
        struct client_conn *c = client_open(port(f, HTTP_WEBHOOK), &none); /* shows none, and need not */
        assert_non_null(c);
        client_close(c);
        http_server_free(f->server);
        f->server = NULL;
        wall_ms end = 0;
        assert_true(!rows[i].in || cert_not_after(f->client.cert, &end));
        assert_int_equal(tls_shown_until(f->tls), end);
        assert_int_equal(f->failures.count[HTTP_EXTENDER][TLS_WRONG_NAME], rows[i].in ? 0 : 2);
        if (!rows[i].in)
            assert_string_equal(f->failures.detail, "test, DNS:localhost");
    }
}

enum caller { /* what it does on the connection */
    SHAKES_HANDS,
    SAYS_SOMETHING_ELSE,
    CONNECTS_AND_CLOSES,
    CONNECTS_AND_WAITS,
};

struct failing {
    const char *label;
    enum http_listener listener;
    enum caller caller;
    const struct cert_pair *shows;
    const struct cert_pair *trusts;
    struct client_how how;
    const char *says;
    enum tls_failure want;
    const char *detail;
};

/* Until so many have failed, or time is up. */
static int await_failures(struct fixture *f, int count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLIENT_PATIENCE_MS / MS_SECOND;
    pthread_mutex_lock(&f->failures.lock);
    while (f->failures.all < count && pthread_cond_timedwait(&f->failures.changed, &f->failures.lock, &until) == 0)
        ;
    int all = f->failures.all;
    pthread_mutex_unlock(&f->failures.lock);
    return all;
}

static void fail_once(struct fixture *f, const struct failing *row)
{
    struct failures *x = &f->failures;
    struct client_tls tls = {row->shows, row->trusts->cert};
    clear_failures(f);
    struct client_conn *c = client_open_with(port(f, row->listener), row->caller == SHAKES_HANDS ? &tls : NULL, &row->how);
    if (row->caller == SAYS_SOMETHING_ELSE)
        client_send(c, span_of(row->says));
    if (row->caller == CONNECTS_AND_CLOSES) {
        client_close(c);
        c = NULL;
    }
    int all = await_failures(f, 1);
    pthread_mutex_lock(&x->lock);
    if (all != 1 || x->count[row->listener][row->want] != 1 || strncmp(x->peer, "127.0.0.1:", 10) != 0 ||
        strstr(x->detail, row->detail) == NULL)
        fail_msg("%s: %d failures, %d of them %s; peer %s, detail %s", row->label, all, x->count[row->listener][row->want],
                 tls_failure_name(row->want), x->peer, x->detail);
    pthread_mutex_unlock(&x->lock);
    client_close(c);
}

/* Each is told once, with its reason, who it was and what was shown; who comes after is served. */
static void test_failed_handshakes(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"scheduler"};
    struct cert_subject subject = {SPAN("scheduler"), CERT_CLIENT, NULL, 0, MS_HOUR};
    struct cert_pair good, old, server;
    struct err err;
    assert_true(authority_issue(&f->a, &f->ca, &subject, clock_wall(), &good, &err));
    assert_true(authority_issue(&f->a, &f->ca, &subject, clock_wall() - 48 * MS_HOUR, &old, &err));
    subject.purpose = CERT_SERVER;
    assert_true(authority_issue(&f->a, &f->ca, &subject, clock_wall(), &server, &err));
    tls_free(f->tls);
    f->tls = tls_new(&(struct tls_clients){names, 1}, NULL);
    f->request = 300;
    start(f, 0);
    fail_once(f, &(struct failing){"before there is a certificate", HTTP_WEBHOOK, SHAKES_HANDS, NULL, &f->ca, {NULL, 0, NULL}, NULL,
                                   TLS_NOT_READY, "no serving certificate"});
    assert_true(swap(f, &f->serving));
    const struct failing rows[] = {
        {"no certificate", HTTP_EXTENDER, SHAKES_HANDS, NULL, &f->ca, {NULL, 0, NULL}, NULL, TLS_NO_CERTIFICATE, ""},
        {"no certificate, 1.2", HTTP_EXTENDER, SHAKES_HANDS, NULL, &f->ca, {NULL, TLS1_2_VERSION, NULL}, NULL, TLS_NO_CERTIFICATE, ""},
        {"another CA", HTTP_EXTENDER, SHAKES_HANDS, &f->stranger, &f->ca, {NULL, 0, NULL}, NULL, TLS_WRONG_CA, "certificate of test, DNS:localhost"},
        {"another CA, 1.2", HTTP_EXTENDER, SHAKES_HANDS, &f->stranger, &f->ca, {NULL, TLS1_2_VERSION, NULL}, NULL, TLS_WRONG_CA, "certificate of test"},
        {"expired", HTTP_EXTENDER, SHAKES_HANDS, &old, &f->ca, {NULL, 0, NULL}, NULL, TLS_EXPIRED, "certificate of scheduler"},
        {"another name", HTTP_EXTENDER, SHAKES_HANDS, &f->client, &f->ca, {NULL, 0, NULL}, NULL, TLS_WRONG_NAME, "test, DNS:localhost"},
        {"a server's certificate", HTTP_EXTENDER, SHAKES_HANDS, &server, &f->ca, {NULL, 0, NULL}, NULL, TLS_BAD_CERTIFICATE, "purpose"},
        {"1.1", HTTP_WEBHOOK, SHAKES_HANDS, NULL, &f->ca, {NULL, TLS1_1_VERSION, "ALL:@SECLEVEL=0"}, NULL, TLS_WRONG_VERSION, ""},
        {"CBC", HTTP_WEBHOOK, SHAKES_HANDS, NULL, &f->ca, {NULL, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA"}, NULL, TLS_NO_CIPHER, ""},
        {"plain HTTP", HTTP_WEBHOOK, SAYS_SOMETHING_ELSE, NULL, &f->ca, {NULL, 0, NULL}, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", TLS_NOT_TLS, ""},
        {"another protocol", HTTP_WEBHOOK, SAYS_SOMETHING_ELSE, NULL, &f->ca, {NULL, 0, NULL}, "SSH-2.0-OpenSSH_9.2\r\n", TLS_NOT_TLS, ""},
        {"a caller that does not trust us", HTTP_WEBHOOK, SHAKES_HANDS, NULL, &f->other_ca, {NULL, 0, NULL}, NULL, TLS_DISTRUSTED, "unknown ca"},
        {"a port check", HTTP_EXTENDER, CONNECTS_AND_CLOSES, NULL, &f->ca, {NULL, 0, NULL}, NULL, TLS_CLOSED, ""},
        {"a caller that says nothing", HTTP_EXTENDER, CONNECTS_AND_WAITS, NULL, &f->ca, {NULL, 0, NULL}, NULL, TLS_TIMED_OUT, ""},
        {"half a greeting", HTTP_WEBHOOK, SAYS_SOMETHING_ELSE, NULL, &f->ca, {NULL, 0, NULL}, "\x16\x03\x01", TLS_TIMED_OUT, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fail_once(f, &rows[i]);
        struct client_reply r = {.status = 0};
        struct client_conn *c = client_open(port(f, HTTP_EXTENDER), &(struct client_tls){&good, f->ca.cert});
        if (c != NULL)
            client_ask(c, "POST", "/echo", SPAN("{}"), &r);
        client_close(c);
        int all = await_failures(f, 1);
        if (r.status != 200 || all != 1)
            fail_msg("after %s: %d, %d failures", rows[i].label, r.status, all);
    }
}

/* Who has to go for another before its handshake was done. */
static void test_crowded_out(void **state)
{
    struct fixture *f = *state;
    enum { LOOPS = 2, EACH = 2, CALLERS = 10 };
    assert_true(swap(f, &f->serving));
    start(f, EACH);
    struct client_conn *c[CALLERS];
    for (size_t i = 0; i < CALLERS; i++)
        c[i] = client_open(port(f, HTTP_WEBHOOK), NULL);
    int all = await_failures(f, CALLERS - LOOPS * EACH);
    assert_true(all >= CALLERS - LOOPS * EACH);
    pthread_mutex_lock(&f->failures.lock);
    assert_int_equal(f->failures.count[HTTP_WEBHOOK][TLS_CROWDED_OUT], f->failures.all);
    pthread_mutex_unlock(&f->failures.lock);
    for (size_t i = 0; i < CALLERS; i++)
        client_close(c[i]);
}

/* As kube-scheduler's flags of these names; by default nothing without authenticated encryption, and nothing before 1.2. */
static void test_versions_and_cipher_suites(void **state)
{
    struct fixture *f = *state;
    static const char *const one[] = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"};
    static const char *const cbc[] = {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"};
    static const char *const newer[] = {"TLS_AES_128_GCM_SHA256"};
#define GCM_128 "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
#define GCM_256 "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
#define CHACHA "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define CBC_128 "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA"
    static const struct {
        const char *label;
        struct tls_protocol protocol;
        int version;
        const char *ciphers;
        bool in;
    } rows[] = {
        {"1.3", {.only_13 = false}, TLS1_3_VERSION, NULL, true},
        {"1.2", {.only_13 = false}, TLS1_2_VERSION, NULL, true},
        {"1.2 with GCM", {.only_13 = false}, TLS1_2_VERSION, GCM_128, true},
        {"1.2 with ChaCha20", {.only_13 = false}, TLS1_2_VERSION, CHACHA, true},
        {"1.2 with CBC", {.only_13 = false}, TLS1_2_VERSION, CBC_128, false},
        {"1.2 with CBC and SHA-256", {.only_13 = false}, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256", false},
        {"1.2 with CCM", {.only_13 = false}, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-CCM8", false},
        {"1.1", {.only_13 = false}, TLS1_1_VERSION, "ALL:@SECLEVEL=0", false},
        {"1.2 where 1.3 is the least", {.only_13 = true}, TLS1_2_VERSION, NULL, false},
        {"1.3 where it is the least", {.only_13 = true}, TLS1_3_VERSION, NULL, true},
        {"a named suite", {.suites = one, .suite_count = 2}, TLS1_2_VERSION, GCM_256, true},
        {"another than the named suite", {.suites = one, .suite_count = 2}, TLS1_2_VERSION, GCM_128, false},
        {"1.3 whatever is named", {.suites = one, .suite_count = 2}, TLS1_3_VERSION, NULL, true},
        {"CBC where it is named", {.suites = cbc, .suite_count = 2}, TLS1_2_VERSION, CBC_128, true},
        {"1.2 with suites of 1.3 alone", {.suites = newer, .suite_count = 1}, TLS1_2_VERSION, NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        tls_free(f->tls);
        f->tls = tls_new(NULL, NULL);
        assert_true(tls_set_protocol(f->tls, &rows[i].protocol, &err));
        assert_true(swap(f, &f->serving));
        start(f, 0);
        static const enum http_listener doors[] = {HTTP_WEBHOOK, HTTP_EXTENDER};
        for (size_t d = 0; d < COUNT_OF(doors); d++) {
            struct client_reply r = {.status = 0};
            struct client_conn *c = client_open_with(port(f, doors[d]), &(struct client_tls){&f->client, f->ca.cert},
                                                     &(struct client_how){NULL, rows[i].version, rows[i].ciphers});
            if (c != NULL)
                client_ask(c, "POST", "/echo", SPAN("{}"), &r);
            client_close(c);
            if ((r.status == 200) != rows[i].in)
                fail_msg("%s, %s: %s", http_listener_name(doors[d]), rows[i].label, rows[i].in ? "is kept out" : "gets in");
        }
        http_server_free(f->server);
        f->server = NULL;
    }
}

static void test_unknown_cipher_suites(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_RC4_128_SHA", "ECDHE-RSA-AES128-GCM-SHA256", ""};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct err err = {0};
        const char *list[] = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", names[i]};
        assert_false(tls_set_protocol(f->tls, &(struct tls_protocol){.suites = list, .suite_count = 2}, &err));
        if (strstr(err.msg, names[i]) == NULL || strstr(err.msg, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,") == NULL ||
            strstr(err.msg, ", TLS_CHACHA20_POLY1305_SHA256") == NULL)
            fail_msg("%s: %s", names[i], err.msg);
    }
}

/* The webhook asks for a certificate of its own CA when it is told to; the extender's do not open it. */
static void test_the_api_servers_certificate(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label, *name;
        bool shows, of_its_ca, in;
    } rows[] = {
        {"of its CA", NULL, true, true, true},
        {"of its CA, and listed", "test", true, true, true},
        {"of its CA, and not listed", "other", true, true, false},
        {"of the extender's CA", NULL, true, false, false},
        {"none", NULL, false, false, false},
    };
    f->webhook_asks = true;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct client_reply r = {.status = 0};
        tls_free(f->tls);
        f->tls = tls_new(NULL, &(struct tls_clients){&rows[i].name, rows[i].name != NULL});
        assert_true(swap(f, &f->serving));
        start(f, 0);
        const struct cert_pair *shown = rows[i].of_its_ca ? &f->stranger : &f->client;
        struct client_tls tls = {rows[i].shows ? shown : NULL, f->ca.cert};
        struct client_conn *c = client_open(port(f, HTTP_WEBHOOK), &tls);
        if (c != NULL)
            client_ask(c, "GET", "/hello", SPAN(""), &r);
        client_close(c);
        if ((r.status != 0) != rows[i].in)
            fail_msg("%s: %s", rows[i].label, rows[i].in ? "is kept out" : "gets in");
        assert_true(gets_in(f)); /* to the extender, as ever */
        http_server_free(f->server);
        f->server = NULL;
    }
}

static void test_bad_pairs_change_nothing(void **state)
{
    struct fixture *f = *state;
    assert_true(swap(f, &f->serving));
    start(f, 0);
    struct cert_pair mixed = {f->serving.cert, f->serving_2.key};
    struct cert_pair half = {f->serving.cert, {f->serving.key.ptr, f->serving.key.len / 2}};
    assert_false(swap(f, &mixed));
    assert_false(swap(f, &half));
    struct client_tls tls = {NULL, f->ca.cert};
    struct client_conn *c = client_open(port(f, HTTP_WEBHOOK), &tls);
    assert_non_null(c);
    client_close(c);
}

/* Who came before goes on under what it met. */
static void test_a_swap_closes_no_connection(void **state)
{
    struct fixture *f = *state;
    assert_true(swap(f, &f->serving));
    start(f, 0);
    struct client_tls tls = {&f->client, f->ca.cert};
    static const enum http_listener doors[] = {HTTP_WEBHOOK, HTTP_EXTENDER};
    struct client_conn *c[COUNT_OF(doors)];
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < COUNT_OF(doors); i++) {
            struct client_reply r = {.status = 0};
            if (round == 0)
                c[i] = client_open(port(f, doors[i]), &tls);
            assert_non_null(c[i]);
            client_ask(c[i], "POST", "/echo", SPAN("[1]"), &r);
            assert_int_equal(r.status, 200);
            assert_false(r.closes);
            assert_true(swap(f, round % 2 == 0 ? &f->serving_2 : &f->serving));
        }
    for (size_t i = 0; i < COUNT_OF(doors); i++)
        client_close(c[i]);
}

struct load {
    struct fixture *f;
    _Atomic(bool) stop;
    _Atomic(int) good, bad;
};

static void *ask_again_and_again(void *arg)
{
    struct load *load = arg;
    struct client_tls tls = {&load->f->client, load->f->ca.cert};
    while (!atomic_load(&load->stop)) {
        struct client_reply r = {.status = 0};
        struct client_conn *c = client_open(port(load->f, HTTP_EXTENDER), &tls);
        for (int i = 0; c != NULL && i < 4; i++)
            client_ask(c, "POST", "/echo", SPAN("[1]"), &r);
        client_close(c);
        atomic_fetch_add(r.status == 200 ? &load->good : &load->bad, 1);
    }
    return NULL;
}

static void test_swap_under_load(void **state)
{
    struct fixture *f = *state;
    assert_true(swap(f, &f->serving));
    start(f, 0);
    enum { THREADS = 3, SWAPS = 40 };
    struct load load = {.f = f};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask_again_and_again, &load);
    for (int i = 0; i < SWAPS; i++) {
        int before = atomic_load(&load.good);
        assert_true(swap(f, i % 2 == 0 ? &f->serving_2 : &f->serving));
        while (atomic_load(&load.good) == before && atomic_load(&load.bad) == 0)
            ;
    }
    atomic_store(&load.stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&load.bad), 0);
}

static void test_slow_clients_block_nobody(void **state)
{
    struct fixture *f = *state;
    assert_true(swap(f, &f->serving));
    start(f, 0);
    enum { SLOW = 8 };
    struct client_conn *slow[SLOW];
    struct client_tls tls = {NULL, f->ca.cert};
    for (int i = 0; i < SLOW; i++) {
        bool greets = i % 2 == 0; /* else it connects and says nothing */
        slow[i] = client_open(port(f, HTTP_WEBHOOK), greets ? &tls : NULL);
        assert_non_null(slow[i]);
        if (greets)
            client_send(slow[i], SPAN("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12"));
    }
    struct client_reply r;
    struct client_conn *c = client_open(port(f, HTTP_WEBHOOK), &tls);
    client_ask(c, "POST", "/echo", SPAN("{}"), &r);
    assert_int_equal(r.status, 200);
    client_close(c);
    client_send(slow[0], SPAN("34567890"));
    client_read_reply(slow[0], false, &r);
    assert_string_equal(r.body, "1234567890");
    for (int i = 0; i < SLOW; i++)
        client_close(slow[i]);
}

/* Nobody waits for a place: who has been idle for longest gives way, and first who never asked for anything. */
static void test_connections_are_capped(void **state)
{
    struct fixture *f = *state;
    start(f, 2);
    struct client_reply r;
    struct client_conn *c[5];
    for (int i = 0; i < 3; i++) {
        c[i] = client_open(port(f, HTTP_PROBES), NULL);
        client_ask(c[i], "GET", "/hello", (struct span){NULL, 0}, &r);
        if (r.status != 200)
            fail_msg("client %d of 3, where two may be: got %d", i + 1, r.status);
    }
    assert_true(client_at_end(c[0]));
    for (int i = 0; i < 2; i++) { /* now the third is idle for longest; and a whole round has passed */
        client_ask(c[1], "GET", "/hello", (struct span){NULL, 0}, &r);
        assert_int_equal(r.status, 200);
    }
    assert_int_equal(http_server_connections(f->server), 2);
    c[3] = client_open(port(f, HTTP_PROBES), NULL); /* and says nothing */
    assert_true(client_at_end(c[2]));
    c[4] = client_open(port(f, HTTP_PROBES), NULL);
    assert_true(client_at_end(c[3]));
    for (int i = 0; i < 5; i++) {
        int status = i == 1 || i == 4 ? 200 : 0; /* those cut are not there any more */
        client_ask(c[i], "GET", "/hello", (struct span){NULL, 0}, &r);
        if (r.status != status)
            fail_msg("client %d in the end: got %d", i + 1, r.status);
        client_close(c[i]);
    }
}

static void test_stream(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    atomic_store(&f->version, 1);
    struct client_conn *c = client_open(port(f, HTTP_PAGE), NULL);
    client_send(c, SPAN("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_true(client_read_until(c, "text/event-stream"));
    assert_true(client_read_until(c, "data: 1\n\n"));
    atomic_store(&f->version, 2);
    assert_true(client_read_until(c, "data: 2\n\n"));
    struct client_conn *gone = client_open(port(f, HTTP_PAGE), NULL);
    client_send(gone, SPAN("GET /live HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"));
    assert_true(client_read_until(gone, "data: 2\n\n")); /* at once, so not in a block of gzip's */
    client_close(gone);
    atomic_store(&f->version, 3);
    assert_true(client_read_until(c, "data: 3\n\n"));
    http_server_stop(f->server, PATIENCE_MS);
    assert_true(client_read_until(c, "0\r\n\r\n")); /* the last chunk */
    client_close(c);
}

enum { WAKES = 40 }; /* more than seconds that a reader of these tests waits */

static void wakes(void *user, void *scratch, struct http_stream *s, mono_ms now, struct buf *out)
{
    (void)scratch;
    (void)now;
    struct fixture *f = user;
    if (!s->begun) {
        f->waker = s->waker;
        sem_post(&f->begun);
        buf_add(out, SPAN("begun\n"));
        return;
    }
    for (uint64_t v = atomic_load(&f->version); s->seen < v; s->seen++)
        buf_addf(out, "<%d>", (int)s->seen + 1);
}

/* Who has something to tell need not wait for the second to be over, also while a write is under way. */
static void test_stream_that_is_woken(void **state)
{
    struct fixture *f = *state;
    http_table_add(&f->table, &(struct http_route){HTTP_PAGE, "GET", "/wakes", NULL, wakes, f, NULL});
    start(f, 0);
    struct client_conn *c = client_open(port(f, HTTP_PAGE), NULL);
    client_send(c, SPAN("GET /wakes HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_true(client_read_until(c, "begun\n"));
    while (sem_wait(&f->begun) != 0)
        ;
    mono_ms begun = clock_mono();
    for (int i = 1; i <= WAKES; i++) {
        char text[16];
        snprintf(text, sizeof(text), "<%d>", i);
        atomic_store(&f->version, (uint64_t)i);
        http_wake(f->waker);
        assert_true(client_read_until(c, text));
    }
    assert_true(clock_mono() - begun < WAKES / 2 * MS_SECOND);
    client_close(c);
    http_server_stop(f->server, PATIENCE_MS);
}

/* What comes after the pieces that were read already. */
static void expect_pieces(struct client_conn *c, int first)
{
    char mark[16];
    for (int i = first; i < PIECES; i++) {
        snprintf(mark, sizeof(mark), "<%d>", i);
        if (!client_read_until(c, mark))
            fail_msg("no piece %d", i);
    }
}

static void expect_document(struct client_conn *c, int first)
{
    expect_pieces(c, first);
    assert_true(client_read_until(c, "\r\n0\r\n\r\n"));
}

/* A neighbour that opens connections and asks by each takes none from whoever scrapes. */
static void test_a_flood_of_one_address(void **state)
{
    struct fixture *f = *state;
    enum { FLOOD = 200, SHARE = 8 };
    struct client_conn *flood[FLOOD];
    struct client_reply r;
    start(f, 0);
    struct client_conn *prometheus = client_open(port(f, HTTP_METRICS), NULL);
    client_ask(prometheus, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    for (int i = 0; i < FLOOD; i++) {
        flood[i] = client_open_with(port(f, HTTP_METRICS), NULL, &(struct client_how){.from = "127.0.0.2"});
        client_ask(flood[i], "GET", "/hello", (struct span){NULL, 0}, &r);
        if (r.status != 200) /* the newest is served: it is the address's own oldest that goes */
            fail_msg("connection %d of one address: %d", i + 1, r.status);
    }
    for (int i = 0; i < FLOOD - SHARE; i++)
        assert_true(client_at_end(flood[i]));
    for (int i = FLOOD - SHARE; i < FLOOD; i++) {
        client_ask(flood[i], "GET", "/hello", (struct span){NULL, 0}, &r);
        assert_int_equal(r.status, 200);
    }
    client_ask(prometheus, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    client_close(prometheus);
    for (int i = 0; i < FLOOD; i++)
        client_close(flood[i]);
}

/* Nor does one that reads slowly what takes long to send. */
static void test_documents_of_one_address(void **state)
{
    struct fixture *f = *state;
    enum { SHARE = 2, READERS = SHARE + 3 };
    static const struct span get = SPAN_INIT("GET /document HTTP/1.1\r\nHost: localhost\r\n\r\n");
    static const struct client_how neighbour = {.from = "127.0.0.2"};
    struct client_conn *slow[READERS];
    struct client_reply r;
    start(f, 0);
    for (int i = 0; i < READERS; i++) {
        slow[i] = client_open_with(port(f, HTTP_METRICS), NULL, &neighbour);
        client_send(slow[i], get);
        if (i < SHARE) {
            assert_true(client_read_until(slow[i], "<0>"));
            continue;
        }
        client_read_reply(slow[i], false, &r);
        if (r.status != 503 || strstr(r.body, "your address") == NULL)
            fail_msg("reader %d of one address: %d %s", i + 1, r.status, r.body);
    }
    struct client_conn *prometheus = client_open(port(f, HTTP_METRICS), NULL);
    client_send(prometheus, get);
    assert_true(client_read_until(prometheus, "200 OK"));
    expect_document(prometheus, 0);
    client_close(prometheus);
    expect_document(slow[0], 1); /* when one has ended another may begin */
    client_ask(slow[0], "GET", "/hello", (struct span){NULL, 0}, &r); /* the server knows that it has ended */
    client_send(slow[SHARE], get);
    assert_true(client_read_until(slow[SHARE], "200 OK"));
    for (int i = 0; i < READERS; i++)
        client_close(slow[i]);
}

/* Ten megabytes, of which no reader keeps anybody waiting. */
static void test_document(void **state)
{
    static const struct span get = SPAN_INIT("GET /document HTTP/1.1\r\nHost: localhost\r\n\r\n");
    struct fixture *f = *state;
    start(f, 0);
    struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
    struct client_conn *other = client_open(port(f, HTTP_PROBES), NULL);
    struct client_conn *gone = client_open(port(f, HTTP_PROBES), NULL);
    struct client_reply r;
    client_send(c, get);
    client_send(gone, get);
    assert_true(client_read_until(gone, "<0>"));
    assert_true(client_read_until(c, "<0>")); /* more than the sockets hold is still to come */
    client_ask(other, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(atomic_load(&f->dropped), 0);
    client_close(gone);
    expect_document(c, 1);
    client_ask(other, "HEAD", "/document", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(r.head, "content-type: text/plain"));
    client_ask(other, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_string_equal(r.body, "hello ");
    http_server_stop(f->server, PATIENCE_MS);
    assert_int_equal(atomic_load(&f->dropped), 2); /* whether read to the end or left */
    client_close(c);
    client_close(other);
}

static void ask_gzipped(struct fixture *f, enum http_listener l, const char *path, struct client_reply *r)
{
    char request[256];
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n", path);
    struct client_conn *c = client_open(port(f, l), NULL);
    assert_true(client_send(c, span_of(request)));
    client_read_reply(c, false, r);
    assert_int_equal(r->status, 200);
    client_close(c);
}

static size_t unzipped_length(const struct client_reply *r)
{
    char name[] = "/tmp/stowage-gzip-XXXXXX", command[64];
    int fd = mkstemp(name);
    assert_int_equal(write(fd, r->body, r->body_len), (ssize_t)r->body_len);
    close(fd);
    snprintf(command, sizeof(command), "gzip -dc <%s", name);
    FILE *from = popen(command, "r");
    size_t length = 0;
    while (fgetc(from) != EOF)
        length++;
    assert_int_equal(pclose(from), 0);
    unlink(name);
    return length;
}

static void test_gzipped_for_who_asks(void **state)
{
    struct fixture *f = *state;
    static struct client_reply r;
    start(f, 0);
    ask_gzipped(f, HTTP_METRICS, "/document", &r);
    assert_non_null(strstr(r.head, "content-encoding: gzip"));
    assert_true(r.body_len < HTTP_PIECE);
    assert_int_equal(unzipped_length(&r), PIECES * HTTP_PIECE + 10 * strlen("<0>") + 90 * strlen("<10>") + 50 * strlen("<100>"));
    ask_gzipped(f, HTTP_METRICS, "/hello", &r); /* too little to be worth it */
    assert_null(strstr(r.head, "content-encoding"));
    assert_string_equal(r.body, "hello ");
}

/* Nobody has to wait for a document's end, though its reader never makes it wait itself. */
static void test_others_between_pieces(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
    struct client_conn *other = client_open(port(f, HTTP_PROBES), NULL);
    struct client_reply r;
    client_ask(other, "GET", "/hello", (struct span){NULL, 0}, &r); /* both are known to the loop */
    client_ask(c, "GET", "/hello", (struct span){NULL, 0}, &r);
    client_send(c, SPAN("GET /polite HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    sem_wait(&f->begun);
    assert_true(client_send(other, SPAN("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    sem_post(&f->asked);
    assert_true(client_read_until(c, "\r\n0\r\n\r\n"));
    if (atomic_load(&f->pieces) == PIECES)
        fail_msg("%d pieces, and nobody else was asked", PIECES);
    assert_true(client_read_until(other, "hello"));
    client_close(c);
    client_close(other);
}

/* A reader of HTTP/1.0 knows by the connection's end that it has all, also when it asked to keep that open. */
static void test_document_to_an_old_reader(void **state)
{
    static const struct span asks[] = {
        SPAN_INIT("GET /document HTTP/1.0\r\n\r\n"),
        SPAN_INIT("GET /document HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")};
    struct fixture *f = *state;
    start(f, 0);
    for (size_t i = 0; i < COUNT_OF(asks); i++) {
        struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
        client_send(c, asks[i]);
        expect_pieces(c, 0);
        mono_ms read = clock_mono();
        assert_false(client_read_until(c, "no more of it"));
        assert_true(clock_mono() - read < CLIENT_PATIENCE_MS); /* the end, not the reader's patience */
        assert_int_equal(atomic_load(&f->dropped), i + 1);
        client_close(c);
    }
}

/* More readers at once than that are turned away, until one of them has ended. */
static void expect_most(struct fixture *f, struct span get)
{
    start(f, 0);
    struct client_conn *slow[HTTP_DOCUMENTS_MAX];
    struct client_reply r;
    for (size_t i = 0; i < COUNT_OF(slow); i++) {
        slow[i] = client_open(port(f, HTTP_PROBES), NULL);
        client_send(slow[i], get);
        assert_true(client_read_until(slow[i], "<0>"));
    }
    struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
    client_ask(c, "GET", "/document", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 503);
    expect_document(slow[0], 1);
    client_ask(slow[0], "GET", "/hello", (struct span){NULL, 0}, &r); /* the server knows that it has ended */
    assert_int_equal(r.status, 200);
    client_send(c, get);
    expect_document(c, 0);
    for (size_t i = 0; i < COUNT_OF(slow); i++)
        client_close(slow[i]);
    client_close(c);
}

static void test_documents_at_once(void **state)
{
    expect_most(*state, SPAN("GET /document HTTP/1.1\r\nHost: localhost\r\n\r\n"));
}

/* A document is under way until its last piece has been taken, not until it has been made. */
static void test_last_pieces_at_once(void **state)
{
    expect_most(*state, SPAN("GET /whole HTTP/1.1\r\nHost: localhost\r\n\r\n"));
}

static void test_a_last_reply_ends_the_connection(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    struct client_reply r;
    struct client_conn *c = client_open(port(f, HTTP_PROBES), NULL);
    client_ask(c, "GET", "/farewell", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    assert_true(r.closes);
    assert_true(client_at_end(c));
    client_close(c);
}

/* Of the others nobody is told to leave. */
static void test_one_listener_parts(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    struct client_reply r;
    struct client_conn *stays = client_open(port(f, HTTP_PAGE), NULL);
    struct client_conn *half = client_open(port(f, HTTP_PROBES), NULL);
    struct client_conn *idle = client_open(port(f, HTTP_PROBES), NULL);
    client_send(half, SPAN("GET /hello HTTP/1.1\r\nHost: "));
    client_ask(stays, "GET", "/nowhere", (struct span){NULL, 0}, &r);
    client_ask(idle, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_false(r.closes);
    http_server_part(f->server, HTTP_PROBES);
    assert_true(client_at_end(idle));
    client_send(half, SPAN("localhost\r\n\r\n")); /* has its answer */
    client_read_reply(half, false, &r);
    assert_int_equal(r.status, 200);
    client_ask(stays, "GET", "/nowhere", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 404);
    struct client_conn *next = client_open(port(f, HTTP_PROBES), NULL); /* as welcome as before */
    client_ask(next, "GET", "/hello", (struct span){NULL, 0}, &r);
    client_ask(next, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    client_close(next);
    client_close(half);
    client_close(idle);
    client_close(stays);
}

static void test_way_down(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    mono_ms begun = clock_mono();
    const struct pulse *loop;
    for (uint32_t i = 0; (loop = http_server_pulse(f->server, i)) != NULL; i++)
        assert_true(atomic_load(&loop->last) != 0 && atomic_load(&loop->thread) != 0);
    struct client_reply r;
    struct client_conn *idle = client_open(port(f, HTTP_PROBES), NULL);
    client_ask(idle, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_false(r.closes);
    http_server_drain(f->server);
    struct client_conn *late = client_open(port(f, HTTP_PROBES), NULL);
    client_ask(late, "GET", "/hello", (struct span){NULL, 0}, &r);
    assert_int_equal(r.status, 200);
    assert_true(r.closes);
    client_close(late);
    http_server_stop(f->server, PATIENCE_MS);
    assert_true(client_at_end(idle));
    assert_true(clock_mono() - begun < PATIENCE_MS);
    assert_null(client_open(port(f, HTTP_PROBES), NULL));
    client_close(idle);
}

static void test_forced_end(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    struct client_conn *half = client_open(port(f, HTTP_PROBES), NULL);
    client_send(half, SPAN("POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12"));
    struct client_reply r; /* so that the half request has been read */
    struct client_conn *other = client_open(port(f, HTTP_PROBES), NULL);
    client_ask(other, "GET", "/hello", (struct span){NULL, 0}, &r);
    http_server_stop(f->server, 50);
    assert_int_equal(http_server_connections(f->server), 0);
    client_close(other);
    client_close(half);
}

static void test_port_taken(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    char address[32];
    snprintf(address, sizeof(address), "127.0.0.1:%d", port(f, HTTP_PROBES));
    static const char *const bad[] = {NULL, "nonsense", "127.0.0.1:", "no.such.host.invalid:80"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct http_server_config config = {
            .table = &f->table, .listen = {[HTTP_PROBES] = bad[i] != NULL ? bad[i] : address}};
        struct http_server *s;
        struct err err = {0};
        if (http_server_new(&config, &s, &err) || strstr(err.msg, "the probes listener (--health-probe-port): ") == NULL)
            fail_msg("%s: got \"%s\"", config.listen[HTTP_PROBES], err.msg);
    }
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_plain),
        ROW(test_ambiguous_heads),
        ROW(test_bodies),
        ROW(test_who_gets_in),
        ROW(test_slow_reviews_do_not_delay_the_extender),
        ROW(test_whose_certificates_are_accepted),
        ROW(test_failed_handshakes),
        ROW(test_crowded_out),
        ROW(test_versions_and_cipher_suites),
        ROW(test_unknown_cipher_suites),
        ROW(test_the_api_servers_certificate),
        ROW(test_bad_pairs_change_nothing),
        ROW(test_a_swap_closes_no_connection),
        ROW(test_swap_under_load),
        ROW(test_slow_clients_block_nobody),
        ROW(test_connections_are_capped),
        ROW(test_stream),
        ROW(test_stream_that_is_woken),
        ROW(test_a_flood_of_one_address),
        ROW(test_documents_of_one_address),
        ROW(test_document),
        ROW(test_gzipped_for_who_asks),
        ROW(test_others_between_pieces),
        ROW(test_document_to_an_old_reader),
        ROW(test_documents_at_once),
        ROW(test_last_pieces_at_once),
        ROW(test_a_last_reply_ends_the_connection),
        ROW(test_one_listener_parts),
        ROW(test_way_down),
        ROW(test_forced_end),
        ROW(test_port_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
