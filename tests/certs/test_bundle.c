#include "certs/bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "certs/authority.h"

static const wall_ms NOW = 1767225600000; /* 2026-01-01 */

enum { A, B, C, OVER, COUNT };

struct fixture {
    struct arena a;
    struct span cert[COUNT];
};

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct err err;
    arena_init(&f->a, 0);
    for (int i = 0; i < COUNT; i++) {
        struct cert_pair p;
        assert_true(authority_new(&f->a, i == OVER ? NOW - CERTS_DAY : NOW, i == OVER ? MS_HOUR : CERTS_DAY, &p, &err));
        f->cert[i] = p.cert;
    }
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

/* "AB": the certificates A and B, one after another; 'O' is over, 'x' what is none. */
static struct span pem(struct fixture *f, const char *which)
{
    struct span text = {"", 0};
    for (; *which != '\0'; which++) {
        struct span one = *which == 'x'   ? SPAN("-----BEGIN CERTIFICATE-----\nMII")
                          : *which == 'O' ? f->cert[OVER]
                                          : f->cert[*which - 'A'];
        text = arena_printf(&f->a, "%.*s%.*s", SPAN_ARG(text), SPAN_ARG(one));
    }
    return text;
}

static void test_next(void **state)
{
    struct fixture *f = *state;
    const struct {
        const char *label, *have, *want, *drop;
        bool exact;
        const char *result; /* NULL: nothing to do */
    } rows[] = {
        {"there is none yet", "", "AB", "", false, "AB"},
        {"it will do", "AB", "AB", "", false, NULL},
        {"the order does not matter", "BA", "AB", "", false, NULL},
        {"what is lacking is added", "A", "AB", "", false, "AB"},
        {"what others put there stays", "C", "AB", "", false, "CAB"},
        {"and alone is no reason to write", "CAB", "AB", "", false, NULL},
        {"but what is over goes", "OAB", "AB", "", false, "AB"},
        {"and what is known to be needless", "CAB", "AB", "C", false, "AB"},
        {"who has made the CA takes out what else is there", "CAB", "AB", "", true, "AB"},
        {"and writes nothing when that is so", "BA", "AB", "", true, NULL},
        {"what cannot be read does not last", "x", "AB", "", false, "AB"},
        {"what is wanted and over stays", "O", "O", "", false, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bundle_change change = {pem(f, rows[i].want), pem(f, rows[i].drop), rows[i].exact};
        struct span got = bundle_next(&f->a, pem(f, rows[i].have), &change, NOW);
        bool right = rows[i].result == NULL ? got.ptr == NULL
                                            : got.ptr != NULL && span_eq(got, pem(f, rows[i].result));
        if (!right)
            fail_msg("%s: %.*s", rows[i].label, got.ptr != NULL ? (int)got.len : 7, got.ptr != NULL ? got.ptr : "nothing");
    }
}

static void test_has(void **state)
{
    struct fixture *f = *state;
    assert_true(bundle_has(pem(f, "CBA"), pem(f, "AB")));
    assert_false(bundle_has(pem(f, "CB"), pem(f, "AB")));
    assert_false(bundle_has(pem(f, ""), pem(f, "A")));
    assert_false(bundle_has(pem(f, "x"), pem(f, "A")));
}

/* However often somebody else writes others, ours is in it, and it does not grow for ever. */
static void test_bounded(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct span have = {"", 0};
    for (int i = 0; i < BUNDLE_MAX + 4; i++) {
        struct cert_pair p;
        assert_true(authority_new(&f->a, NOW, CERTS_DAY, &p, &err));
        have = arena_printf(&f->a, "%.*s%.*s", SPAN_ARG(have), SPAN_ARG(p.cert));
    }
    struct bundle_change change = {pem(f, "A"), SPAN(""), false};
    struct span got = bundle_next(&f->a, have, &change, NOW);
    assert_true(bundle_has(got, pem(f, "A")));
    size_t one = pem(f, "A").len;
    assert_true(got.len <= (BUNDLE_MAX + 1) * (one + 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_has),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
