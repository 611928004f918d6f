#include "server/serving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

static const wall_ms WALL = 1767225600000; /* 2026-01-01 */

struct fixture {
    struct arena a;
    char dir[32];
    const char *paths[SERVING_FILE_COUNT];
    struct cert_pair ca, other_ca;
    struct tls *tls;
    struct serving *serving;
    mono_ms now;
    int served, files, troubles;
    wall_ms not_after;
    char trouble[ERR_MSG_MAX + 1];
};

static void on_served(void *user, wall_ms not_after)
{
    struct fixture *f = user;
    f->served++;
    f->not_after = not_after;
}

static void on_files(void *user, const struct cert_pair *pair)
{
    struct fixture *f = user;
    assert_true(pair->cert.len != 0 && pair->key.len != 0);
    f->files++;
}

static void on_trouble(void *user, const struct err *err)
{
    struct fixture *f = user;
    f->troubles++;
    snprintf(f->trouble, sizeof(f->trouble), "%s", err->msg);
}

static void put(const char *path, struct span text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.ptr, 1, text.len, file), text.len);
    assert_int_equal(fclose(file), 0);
}

static struct cert_pair issue(struct fixture *f, wall_ms from, span_ms life)
{
    struct cert_pair out;
    struct err err;
    struct cert_subject s = {SPAN("files"), CERT_SERVER, NULL, 0, life};
    assert_true(authority_issue(&f->a, &f->ca, &s, from, &out, &err));
    return out;
}

static void put_pair(struct fixture *f, struct cert_pair pair)
{
    put(f->paths[SERVING_CERT], pair.cert);
    put(f->paths[SERVING_KEY], pair.key);
}

static int setup(void **state)
{
    static const char *const names[] = {"tls.crt", "tls.key", "ca.crt", "api.crt"};
    struct fixture *f = mem_new(sizeof(*f));
    struct err err;
    arena_init(&f->a, 0);
    snprintf(f->dir, sizeof(f->dir), "/tmp/serving-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_true(authority_new(&f->a, WALL, CERTS_CA_LIFE, &f->ca, &err));
    assert_true(authority_new(&f->a, WALL, CERTS_CA_LIFE, &f->other_ca, &err));
    for (int i = 0; i < SERVING_FILE_COUNT; i++)
        f->paths[i] = arena_printf(&f->a, "%s/%s", f->dir, names[i]).ptr;
    put_pair(f, issue(f, WALL, CERTS_DAY));
    put(f->paths[SERVING_CLIENT_CA], f->ca.cert);
    put(f->paths[SERVING_WEBHOOK_CLIENT_CA], f->ca.cert);
    f->tls = tls_new(NULL, NULL);
    struct serving_config config = {
        .tls = f->tls, .user = f, .served = on_served, .files = on_files, .trouble = on_trouble};
    memcpy(config.paths, f->paths, sizeof(config.paths));
    assert_true(serving_new(&config, &f->serving, &err));
    struct cert_set set = {.ca = f->ca.cert, .serving = serving_pair(f->serving)};
    serving_set(f->serving, &set);
    assert_int_equal(f->served, 1);
    assert_int_equal(f->not_after, WALL + CERTS_DAY);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < SERVING_FILE_COUNT; i++)
        unlink(f->paths[i]);
    rmdir(f->dir);
    serving_free(f->serving);
    tls_free(f->tls);
    arena_release(&f->a);
    free(f);
    return 0;
}

/* A minute, in which it looks as often as it wants to. */
static void a_minute(struct fixture *f)
{
    for (mono_ms end = f->now + MS_MINUTE; f->now < end;) {
        mono_ms due = serving_step(f->serving, f->now, WALL + f->now);
        assert_true(due > f->now);
        f->now = due;
    }
}

static void test_what_changes_is_taken_up(void **state)
{
    struct fixture *f = *state;
    a_minute(f);
    assert_int_equal(f->served, 1); /* nothing has changed */
    put_pair(f, issue(f, WALL, 2 * CERTS_DAY));
    a_minute(f);
    assert_int_equal(f->served, 2);
    assert_int_equal(f->files, 1);
    assert_int_equal(f->not_after, WALL + 2 * CERTS_DAY);
    put(f->paths[SERVING_CLIENT_CA], f->other_ca.cert);
    a_minute(f);
    put(f->paths[SERVING_WEBHOOK_CLIENT_CA], f->other_ca.cert);
    a_minute(f);
    assert_int_equal(f->served, 4);
    assert_int_equal(f->troubles, 0);
}

/* Two files are not written at once: what is seen in between is nobody's mistake. */
static void test_half_written(void **state)
{
    struct fixture *f = *state;
    struct cert_pair new = issue(f, WALL, 2 * CERTS_DAY);
    mono_ms due = serving_step(f->serving, 0, WALL);
    put(f->paths[SERVING_CERT], new.cert);
    due = serving_step(f->serving, due, WALL);
    put(f->paths[SERVING_KEY], new.key);
    f->now = due;
    a_minute(f);
    assert_int_equal(f->troubles, 0);
    assert_int_equal(f->not_after, WALL + 2 * CERTS_DAY);
}

static void test_broken_files(void **state)
{
    struct fixture *f = *state;
    struct cert_pair good = serving_pair(f->serving), other = issue(f, WALL, 2 * CERTS_DAY),
                     ended = issue(f, WALL - 2 * CERTS_DAY, CERTS_DAY), future = issue(f, WALL + CERTS_DAY, CERTS_DAY);
    good = (struct cert_pair){arena_dup(&f->a, good.cert), arena_dup(&f->a, good.key)};
    const struct {
        const char *label;
        struct cert_pair pair; /* absent: no file */
        struct span client_ca;
        const char *why;
    } rows[] = {
        {"gone", {{NULL, 0}, {NULL, 0}}, f->ca.cert, "No such file"},
        {"empty", {SPAN(""), SPAN("")}, f->ca.cert, "tls.crt is empty"},
        {"no certificate", {SPAN("x"), good.key}, f->ca.cert, "no PEM certificate and key could be read"},
        {"another's key", {good.cert, other.key}, f->ca.cert, "certificate and key do not belong together"},
        {"ended", ended, f->ca.cert, "it has expired"},
        {"of the future", future, f->ca.cert, "it is not valid yet"},
        {"no client CA", other, SPAN("x"), "the client CA file holds no PEM certificate"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int troubles = f->troubles, served = f->served;
        if (rows[i].pair.cert.ptr == NULL)
            unlink(f->paths[SERVING_CERT]);
        else
            put_pair(f, rows[i].pair);
        put(f->paths[SERVING_CLIENT_CA], rows[i].client_ca);
        for (int again = 0; again < 3; again++)
            a_minute(f);
        if (f->troubles != troubles + 1 || strstr(f->trouble, rows[i].why) == NULL ||
            strstr(f->trouble, "; what was read before stays in use") == NULL)
            fail_msg("%s: told %d times: %s", rows[i].label, f->troubles - troubles, f->trouble);
        if (f->served != served)
            fail_msg("%s: something else is served", rows[i].label);
        put_pair(f, good);
        put(f->paths[SERVING_CLIENT_CA], f->ca.cert);
        a_minute(f);
        if (f->troubles != troubles + 1)
            fail_msg("%s: told again: %s", rows[i].label, f->trouble);
    }
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_what_changes_is_taken_up),
        ROW(test_half_written),
        ROW(test_broken_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
