#include "certs/authority.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { NAMES = 3 };
static const wall_ms NOW = 1767225600000; /* 2026-01-01 */
static const struct span names[NAMES] = {SPAN_INIT("stowage-webhook.stowage-system.svc"),
                                         SPAN_INIT("127.0.0.1"), SPAN_INIT("::1")};
static const struct cert_subject server = {SPAN_INIT("stowage"), CERT_SERVER, names, NAMES, 0};
static const struct cert_subject client = {SPAN_INIT("kube-scheduler"), CERT_CLIENT, NULL, 0, 0};

struct fixture {
    struct arena a;
    struct cert_pair ca, other_ca, leaf, client_leaf;
};

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct err err;
    arena_init(&f->a, 0);
    assert_true(authority_new(&f->a, NOW, CERTS_CA_LIFE, &f->ca, &err));
    assert_true(authority_new(&f->a, NOW, CERTS_CA_LIFE, &f->other_ca, &err));
    assert_true(authority_issue(&f->a, &f->ca, &server, NOW, &f->leaf, &err));
    assert_true(authority_issue(&f->a, &f->ca, &client, NOW, &f->client_leaf, &err));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_release(&f->a);
    free(f);
    return 0;
}

static void test_check(void **state)
{
    struct fixture *f = *state;
    static const struct span foreign[] = {SPAN_INIT("elsewhere.example")};
    static const struct span address[] = {SPAN_INIT("127.0.0.2")};
    const struct cert_pair mixed = {f->leaf.cert, f->client_leaf.key};
    const struct cert_pair nothing = {SPAN(""), SPAN("")};
    const struct {
        const char *label;
        const struct cert_pair *pair;
        struct span ca;
        struct cert_subject subject;
        wall_ms now;
        const char *why; /* NULL: good */
    } rows[] = {
        {"good", &f->leaf, f->ca.cert, server, NOW, NULL},
        {"a client's", &f->client_leaf, f->ca.cert, client, NOW, NULL},
        {"not as a client", &f->leaf, f->ca.cert, {server.common_name, CERT_CLIENT, NULL, 0, 0}, NOW,
         "unsuitable certificate purpose"},
        {"of another CA", &f->leaf, f->other_ca.cert, server, NOW, "unable to get local issuer"},
        {"no CA", &f->leaf, SPAN("x"), server, NOW, "CA cannot be read"},
        {"another's key", &mixed, f->ca.cert, server, NOW, "do not belong together"},
        {"nothing there", &nothing, f->ca.cert, server, NOW, "could be read"},
        {"a name is missing", &f->leaf, f->ca.cert, {server.common_name, CERT_SERVER, foreign, 1, 0},
         NOW, "does not name elsewhere.example"},
        {"an address is missing", &f->leaf, f->ca.cert,
         {server.common_name, CERT_SERVER, address, 1, 0}, NOW, "does not name 127.0.0.2"},
        {"two thirds on", &f->leaf, f->ca.cert, server, NOW + CERTS_LEAF_LIFE * 2 / 3 - CERTS_DAY,
         NULL},
        {"in its last third", &f->leaf, f->ca.cert, server,
         NOW + CERTS_LEAF_LIFE * 2 / 3 + CERTS_DAY, "ends soon"},
        {"over", &f->leaf, f->ca.cert, server, NOW + CERTS_LEAF_LIFE, "has expired"},
        {"by a clock that is four minutes behind", &f->leaf, f->ca.cert, server, NOW - 4 * MS_MINUTE, NULL},
        {"too early", &f->leaf, f->ca.cert, server, NOW - MS_HOUR, "not valid yet"},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct err err = {0};
        bool ok = authority_check(rows[r].ca, rows[r].pair, &rows[r].subject, rows[r].now, &err);
        if (ok != (rows[r].why == NULL) || (!ok && strstr(err.msg, rows[r].why) == NULL))
            fail_msg("%s: got %s \"%s\"", rows[r].label, ok ? "good" : "bad", err.msg);
    }
}

static void test_ca(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct rotation_cert c;
    assert_true(authority_describe(&f->ca, &c, &err));
    assert_int_equal(c.issued, NOW);
    assert_int_equal(c.until, NOW + 3 * CERTS_CA_LIFE);
    assert_false(authority_describe(&f->leaf, &c, &err));
    assert_string_equal(err.msg, "it is not a CA");
    assert_false(authority_describe(&(struct cert_pair){f->ca.cert, f->leaf.key}, &c, &err));
    assert_string_equal(err.msg, "certificate and key do not belong together");
}

/* Of several CAs of one name the one that signed it counts, and a life is as long as it was asked for. */
static void test_several_cas(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct cert_pair brief;
    struct cert_subject s = server;
    s.life = MS_MINUTE;
    assert_true(authority_issue(&f->a, &f->ca, &s, NOW, &brief, &err));
    struct span both = arena_printf(&f->a, "%.*s%.*s", SPAN_ARG(f->other_ca.cert), SPAN_ARG(f->ca.cert));
    assert_true(authority_check(both, &brief, &s, NOW + 39 * MS_SECOND, &err));
    assert_false(authority_check(both, &brief, &s, NOW + 40 * MS_SECOND, &err));
    assert_string_equal(err.msg, "it ends soon");
    assert_false(authority_check(f->other_ca.cert, &brief, &s, NOW, &err));
}

static void test_names_are_names(void **state)
{
    struct fixture *f = *state;
    static const struct span bad[] = {SPAN_INIT("a,DNS:evil.example"), SPAN_INIT("a,b"), SPAN_INIT(""),
                                      SPAN_INIT("-a"), SPAN_INIT("10.0.0.1:443"),
                                      SPAN_INIT("a b")};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct cert_subject s = {SPAN("x"), CERT_SERVER, &bad[i], 1, 0};
        struct cert_pair out;
        struct err err = {0};
        if (authority_issue(&f->a, &f->ca, &s, NOW, &out, &err) || err.kind != ERR_INVALID)
            fail_msg("%s was signed", bad[i].ptr);
    }
}

static void test_end(void **state)
{
    struct fixture *f = *state;
    wall_ms end;
    assert_true(cert_not_after(f->leaf.cert, &end));
    assert_int_equal(end, NOW + CERTS_LEAF_LIFE);
    assert_false(cert_not_after(SPAN("no certificate"), &end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_ca),
        cmocka_unit_test(test_several_cas),
        cmocka_unit_test(test_names_are_names),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
