/* The way down of `stowage serve`, as a cluster sees it: a program of its own that gets SIGTERM. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "certs/certs.h"
#include "server/clock.h"
#include "support_serve.h"

/* Callers are told to go elsewhere before anything ends, and nobody is told to kill it meanwhile. */
static void readiness_falls_first(void **state)
{
    (void)state;
    int ports[SERVE_PORTS], status;
    static struct client_reply r;
    serve_ports(ports);
    pid_t pid = serve_start(ports, (const char *const[]){NULL});
    assert_true(pid > 0);
    serve_await(pid, ports[SERVE_PROBES], "/readyz", 200, &r);
    assert_false(r.closes);
    kill(pid, SIGTERM);
    serve_await(pid, ports[SERVE_PROBES], "/readyz", 503, &r);
    assert_non_null(strstr(r.body, "shutting down"));
    assert_true(r.closes);
    serve_ask(ports[SERVE_PROBES], "/livez", &r);
    assert_int_equal(r.status, 200); /* nobody is to kill it */
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* What it cannot do as it was told, it does not begin. */
static void begins_with_sense_alone(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"--extender-client-ca=/dev/null", NULL}, /* and nobody is named */
        {"--leaf-life=4s", NULL},
        {"--ca-life=1h", NULL},
        {"--page-listen=0.0.0.0:0", NULL}, /* and no token */
    };
    int ports[SERVE_PORTS], status;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        serve_ports(ports);
        pid_t pid = serve_start(ports, rows[i]);
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 2)
            fail_msg("%s: %d", rows[i][0], status);
    }
}

/* --- who asks while it ends --- */

struct cluster { /* with nodes of which a pod is told the best, when somebody decides for it */
    char directory[64], certificate[128], key[128], objects[128];
    struct arena a;
    struct cert_pair ca;
    struct buf question;
};

enum { NODES = 40 };

static void write_file(char *path, const struct cluster *c, const char *name, struct span text)
{
    snprintf(path, 128, "%s/%s", c->directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.ptr, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
}

static void make_objects(struct cluster *c)
{
    struct buf out = {0};
    buf_add(&out, SPAN("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: web, uid: uid-p}\n"
                       "spec: {nodeSelector: {nobody: has}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"));
    buf_add(&c->question, SPAN("{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"uid-p\"}},"
                               "\"Nodes\":null,\"NodeNames\":["));
    for (int i = 0; i < NODES; i++) {
        buf_addf(&out, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d}\n"
                       "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n", i);
        buf_addf(&c->question, "%s\"n%d\"", i != 0 ? "," : "", i);
    }
    buf_add(&c->question, SPAN("]}"));
    write_file(c->objects, c, "objects.yaml", buf_span(&out));
    buf_release(&out);
}

static void cluster_open(struct cluster *c)
{
    static const struct span names[] = {SPAN_INIT("localhost"), SPAN_INIT("127.0.0.1")};
    const struct cert_subject subject = {SPAN("test"), CERT_SERVER, names, COUNT_OF(names), 0};
    struct cert_pair serving;
    struct err err;
    *c = (struct cluster){.directory = "/tmp/test_serve_end.XXXXXX"};
    arena_init(&c->a, 0);
    assert_non_null(mkdtemp(c->directory));
    assert_true(authority_new(&c->a, clock_wall(), CERTS_CA_LIFE, &c->ca, &err));
    assert_true(authority_issue(&c->a, &c->ca, &subject, clock_wall(), &serving, &err));
    write_file(c->certificate, c, "tls.crt", serving.cert);
    write_file(c->key, c, "tls.key", serving.key);
    make_objects(c);
}

static void cluster_close(struct cluster *c)
{
    unlink(c->certificate);
    unlink(c->key);
    unlink(c->objects);
    rmdir(c->directory);
    buf_release(&c->question);
    arena_release(&c->a);
}

/* Who decides names the best of the nodes; without an opinion all names come back. */
static void is_decided(const struct client_reply *r)
{
    unsigned names = 0;
    const char *end = strstr(r->body, "\"FailedNodes\"");
    if (r->status != 200 || end == NULL)
        fail_msg("%d %s", r->status, r->body);
    for (const char *at = r->body; (at = strstr(at, "\"n")) != NULL && at < end; at++)
        names++;
    assert_int_not_equal(names, 0);
    assert_true(names < NODES);
}

/* The question without its last byte, which the answer waits for. Its head has been read. */
static struct client_conn *begin_question(const struct cluster *c, int port)
{
    struct buf head = {0};
    struct client_conn *conn = client_open(port, &(struct client_tls){.ca = c->ca.cert});
    assert_non_null(conn);
    buf_addf(&head, "POST /scheduler/filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    "Expect: 100-continue\r\nContent-Length: %zu\r\n\r\n", c->question.len);
    assert_true(client_send(conn, buf_span(&head)));
    assert_true(client_read_until(conn, "100 Continue\r\n\r\n"));
    assert_true(client_send(conn, (struct span){c->question.ptr, c->question.len - 1}));
    buf_release(&head);
    return conn;
}

static void end_question(struct client_conn *conn, const struct cluster *c, struct client_reply *r)
{
    assert_true(client_send(conn, (struct span){c->question.ptr + c->question.len - 1, 1}));
    client_read_reply(conn, false, r);
    client_close(conn);
}

/* The loop reads the age of what it published last about once a second, whether or not anything happens. */
static void await_rounds(int port, unsigned rounds)
{
    static const char series[] = "\nstowage_snapshot_age_seconds ";
    static struct client_reply r;
    char last[32] = "", now[32];
    for (int waited = 0; waited < CLIENT_PATIENCE_MS; waited += SERVE_LOOK_MS) {
        serve_ask(port, "/metrics", &r);
        const char *at = strstr(r.body, series);
        if (at != NULL && sscanf(at + strlen(series), "%31s", now) == 1 && strcmp(now, last) != 0) {
            memcpy(last, now, sizeof(last));
            if (rounds-- == 0)
                return;
        }
        poll(NULL, 0, SERVE_LOOK_MS);
    }
    fail_msg("the loop stands still: the snapshot's age is %s", last);
}

static void await_closed(int port)
{
    struct client_conn *c;
    for (int waited = 0; waited < CLIENT_PATIENCE_MS; waited += SERVE_LOOK_MS) {
        if ((c = client_open(port, NULL)) == NULL)
            return;
        client_close(c);
        poll(NULL, 0, SERVE_LOOK_MS);
    }
    fail_msg("it still listens");
}

/* As long as anybody may ask, the cluster is followed and the answer is that of a leader, also to whom its listeners
 * have closed behind. */
static void answers_until_the_last(void **state)
{
    (void)state;
    int ports[SERVE_PORTS], status;
    static struct client_reply r;
    struct cluster c;
    char objects[160], certificate[160], key[160];
    cluster_open(&c);
    snprintf(objects, sizeof(objects), "--filename=%s", c.objects);
    snprintf(certificate, sizeof(certificate), "--tls-cert=%s", c.certificate);
    snprintf(key, sizeof(key), "--tls-key=%s", c.key);
    serve_ports(ports);
    pid_t pid = serve_start(ports, (const char *const[]){objects, certificate, key, "--extender-insecure", NULL});
    assert_true(pid > 0);
    serve_await(pid, ports[SERVE_PROBES], "/readyz", 200, &r);
    kill(pid, SIGTERM);
    serve_await(pid, ports[SERVE_PROBES], "/readyz", 503, &r);
    await_rounds(ports[SERVE_PAGE], 3); /* one may have been under way when it was told */
    end_question(begin_question(&c, ports[SERVE_EXTENDER]), &c, &r);
    is_decided(&r);
    assert_true(r.closes);
    struct client_conn *last = begin_question(&c, ports[SERVE_EXTENDER]);
    kill(pid, SIGTERM);
    await_closed(ports[SERVE_EXTENDER]);
    end_question(last, &c, &r);
    is_decided(&r);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readiness_falls_first),
        cmocka_unit_test(begins_with_sense_alone),
        cmocka_unit_test(answers_until_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
