#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kube/client_io.h"
#include "support_tls.h"

/* Whom the client trusts and who it says it is. */
struct world {
    struct arena a;
    struct tls_ca *ca, *other_ca, *client_ca;
    struct tls_server *server, *named_server;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    signal(SIGPIPE, SIG_IGN); /* of the test's server */
    arena_init(&w->a, 0);
    w->ca = tls_ca_new(&w->a, "cluster CA");
    w->other_ca = tls_ca_new(&w->a, "another CA");
    w->client_ca = tls_ca_new(&w->a, "client CA");
    w->server = tls_server_start(tls_issue(&w->a, w->ca, "server", NULL), tls_ca_pem(w->client_ca));
    w->named_server =
        tls_server_start(tls_issue(&w->a, w->ca, "server", "kubernetes"), tls_ca_pem(w->client_ca));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    tls_server_stop(w->server);
    tls_server_stop(w->named_server);
    tls_ca_free(w->ca);
    tls_ca_free(w->other_ca);
    tls_ca_free(w->client_ca);
    arena_release(&w->a);
    free(w);
    return 0;
}

struct answer {
    bool came;
    enum err_kind kind;
    char msg[256], name[64];
};

static void on_result(void *user, const struct api_result *result)
{
    struct answer *answer = user;
    struct doc_value metadata, name;
    answer->came = true;
    answer->kind = result->err.kind;
    snprintf(answer->msg, sizeof(answer->msg), "%.200s",
             answer->kind != ERR_NONE ? result->err.msg : "");
    if (result->body != NULL && doc_find(doc_root(result->body), SPAN("metadata"), &metadata) &&
        doc_find(metadata, SPAN("name"), &name))
        snprintf(answer->name, sizeof(answer->name), "%.*s", SPAN_ARG(doc_text(name)));
}

static struct client *connect_to(struct world *w, const struct tls_server *s,
                                 struct client_config config)
{
    struct client *client;
    struct err err;
    config.server = arena_printf(&w->a, "https://127.0.0.1:%d", tls_server_port(s));
    if (!client_new(&config, NULL, &client, &err))
        fail_msg("%s", err.msg);
    return client;
}

/* A write: reads are tried again for a while when the connection fails. */
static struct answer ask(struct client *client)
{
    struct answer answer = {0};
    api_send(client_api(client),
             &(struct api_request){.verb = API_DELETE, .kind = KIND_NODE, .name = SPAN("x")},
             on_result, &answer);
    while (!answer.came)
        client_poll(client, 1000);
    return answer;
}

static struct answer ask_once(struct world *w, const struct tls_server *s,
                              struct client_config config)
{
    struct client *client = connect_to(w, s, config);
    struct answer answer = ask(client);
    client_free(client);
    return answer;
}

static void test_whom_we_trust(void **state)
{
    struct world *w = *state;
    const struct pem_source right = {.data = tls_ca_pem(w->ca)},
                            wrong = {.data = tls_ca_pem(w->other_ca)};
    const struct {
        const char *label;
        const struct tls_server *server;
        struct client_config config;
        bool trusted;
    } rows[] = {
        {"the cluster's CA", w->server, {.ca = right}, true},
        {"another CA", w->server, {.ca = wrong}, false},
        {"no CA: the system's", w->server, {.skip_verify = false}, false},
        {"no CA, not verified", w->server, {.skip_verify = true}, true},
        {"not its name", w->named_server, {.ca = right}, false},
        {"the name it was said to have",
         w->named_server,
         {.ca = right, .tls_server_name = SPAN("kubernetes")},
         true},
        {"another name than it has",
         w->server,
         {.ca = right, .tls_server_name = SPAN("kubernetes")},
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct answer got = ask_once(w, rows[i].server, rows[i].config);
        if ((got.kind == ERR_NONE) != rows[i].trusted)
            fail_msg("%s: %s", rows[i].label, got.kind == ERR_NONE ? "trusted" : got.msg);
    }
}

static void test_who_we_are(void **state)
{
    struct world *w = *state;
    struct tls_pair pair = tls_issue(&w->a, w->client_ca, "stowage", NULL);
    struct answer got = ask_once(w, w->server,
                                 (struct client_config){.ca = {.data = tls_ca_pem(w->ca)},
                                                        .cert = {.data = pair.cert},
                                                        .key = {.data = pair.key}});
    assert_int_equal(got.kind, ERR_NONE);
    assert_string_equal(got.name, "stowage");
    got = ask_once(w, w->server, (struct client_config){.ca = {.data = tls_ca_pem(w->ca)}});
    assert_string_equal(got.name, "nobody");
}

static void put(const char *path, struct span text)
{
    char next[128];
    snprintf(next, sizeof(next), "%s.next", path);
    FILE *f = fopen(next, "w");
    fwrite(text.ptr, 1, text.len, f);
    fclose(f);
    assert_int_equal(rename(next, path), 0);
}

static void test_renewed_certificates_make_new_connections(void **state)
{
    struct world *w = *state;
    char folder[] = "/tmp/certs-XXXXXX", cert[64], key[64], ca[64];
    assert_non_null(mkdtemp(folder));
    snprintf(cert, sizeof(cert), "%s/tls.crt", folder);
    snprintf(key, sizeof(key), "%s/tls.key", folder);
    snprintf(ca, sizeof(ca), "%s/ca.crt", folder);
    struct tls_pair first = tls_issue(&w->a, w->client_ca, "first", NULL),
                    second = tls_issue(&w->a, w->client_ca, "second", NULL);
    put(cert, first.cert);
    put(key, first.key);
    put(ca, tls_ca_pem(w->ca));
    struct client *client = connect_to(w, w->server,
                                       (struct client_config){.ca = {.file = span_of(ca)},
                                                              .cert = {.file = span_of(cert)},
                                                              .key = {.file = span_of(key)}});
    struct answer got = ask(client);
    assert_string_equal(got.name, "first");
    int before = tls_server_connections(w->server);
    got = ask(client); /* over the same connection */
    assert_string_equal(got.name, "first");
    assert_int_equal(tls_server_connections(w->server), before);
    put(cert, second.cert);
    put(key, second.key);
    for (int i = 0; i < 300 && strcmp(got.name, "second") != 0;
         i++) { /* files are looked at each second */
        got = ask(client);
        client_poll(client, 10);
    }
    assert_string_equal(got.name, "second");
    client_free(client);
    unlink(cert);
    unlink(key);
    unlink(ca);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whom_we_trust),
        cmocka_unit_test(test_who_we_are),
        cmocka_unit_test(test_renewed_certificates_make_new_connections),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
