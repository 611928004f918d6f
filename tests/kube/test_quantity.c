#include "kube/resources.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct {
    const char *text;
    int32_t scale;
    amount want;
} good[] = {
    {"0", 1, 0},
    {"250m", 1000, 250},
    {"1", 1000, 1000},
    {"1.5", 1000, 1500},
    {"0.1m", 1000, 1},
    {"100n", 1000, 1},
    {"1u", 1000, 1},
    {"1.5Gi", 1, 1610612736},
    {"1Ki", 1, 1024},
    {"0.5Ki", 1, 512},
    {"1.1Ki", 1, 1127},
    {"2e3", 1, 2000},
    {"1E3", 1, 1000},
    {"1e+3", 1, 1000},
    {"12e-1", 1, 2},
    {"1E", 1, 1000000000000000000},
    {"7Ei", 1, 8070450532247928832},
    {"8Ei", 1, INT64_MAX},
    {"1e30", 1, INT64_MAX},
    {"-1e30", 1, -INT64_MAX},
    {"9223372036854775807", 1, INT64_MAX},
    {"9223372036854775808", 1, INT64_MAX},
    {"-1500m", 1, -2},
    {"+3", 1, 3},
    {"5.", 1, 5},
    {".5", 1000, 500},
    {"1.G", 1, 1000000000},
    {"  2Gi\n", 1, 2147483648},
    {"00012", 1, 12},
    {"0.000000000000000000000000000000001", 1, 1},
    {"1000000000000000000000000000000e-30", 1, 1},
    {"0.00", 1, 0},
    {"128974848", 1, 128974848},
    {"129e6", 1, 129000000},
    {"123Mi", 1, 128974848},
};

static void test_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        amount got;
        struct err err = {0};
        if (!quantity_parse(span_of(good[i].text), good[i].scale, &got, &err))
            fail_msg("\"%s\": %s", good[i].text, err.msg);
        if (got != good[i].want)
            fail_msg("\"%s\": got %" PRId64 ", want %" PRId64, good[i].text, got, good[i].want);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",     " ",   "1O0m", "K", "1K", "1KB", "1mi",  "1e",  "1e1.5",
        "1 Gi", "--1", "1..2", ".", "Gi", "1gi", "0x10", "1,5", "1e99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        amount got;
        struct err err = {0};
        if (quantity_parse(span_of(bad[i]), 1, &got, &err))
            fail_msg("\"%s\" was read as %" PRId64, bad[i], got);
        assert_int_equal(err.kind, ERR_INVALID);
    }
}

static void test_suggest(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* NULL: nothing to suggest */
    } rows[] = {
        {"1O0m", "100m"},    {"l00m", "100m"},  {"1 Gi", "1Gi"}, {"1GB", "1G"},
        {"512MiB", "512Mi"}, {"1gi", "1Gi"},    {"1K", "1k"},    {"1,5Gi", "1.5Gi"},
        {"2 cores", "2"},    {"1_000", "1000"}, {"lots", NULL},  {"", NULL},
        {"100m", NULL},      {"1..5", NULL},
    };
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span got = quantity_suggest(&a, span_of(rows[i].text));
        if ((got.ptr == NULL) != (rows[i].want == NULL) || !span_eq(got, span_of(rows[i].want)))
            fail_msg("\"%s\": got \"%.*s\", want \"%s\"", rows[i].text, SPAN_ARG(got),
                     rows[i].want != NULL ? rows[i].want : "nothing");
    }
    arena_release(&a);
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        amount value;
        const char *want;
    } rows[] = {
        {"cpu", 1500, "1500m"},
        {"cpu", 2000, "2"},
        {"cpu", 0, "0"},
        {"cpu", 1000000, "1k"},
        {"memory", 12884901888, "12Gi"},
        {"memory", 1610612736, "1536Mi"},
        {"memory", 1000000000, "1G"},
        {"memory", 1025, "1025"},
        {"memory", 1024, "1Ki"},
        {"memory", 0, "0"},
        {"memory", -2048, "-2Ki"},
        {"hugepages-2Mi", 4194304, "4Mi"},
        {"ephemeral-storage", 21474836480, "20Gi"},
        {"pods", 110, "110"},
        {"nvidia.com/gpu", 8, "8"},
        {"example.com/tokens", 2048, "2048"},
    };
    struct buf b = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_clear(&b);
        quantity_put(&b, span_of(rows[i].name), rows[i].value);
        if (!span_eq(buf_span(&b), span_of(rows[i].want)))
            fail_msg("%s %" PRId64 ": got %s, want %s", rows[i].name, rows[i].value, b.ptr,
                     rows[i].want);
    }
    buf_release(&b);
}

static void test_lists(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct resource one[] = {{SYM_CPU, 1000}, {SYM_MEMORY, 10}};
    struct resource two[] = {{SYM_MEMORY, INT64_MAX}, {SYM_PODS, 3}};
    struct resources base = {one, 2};
    struct resources sum = resources_dup(&a, base);
    resources_add(&a, &sum, (struct resources){two, 2});
    assert_int_equal(resources_get(sum, SYM_CPU), 1000);
    assert_int_equal(resources_get(sum, SYM_MEMORY), INT64_MAX); /* saturates */
    assert_int_equal(resources_get(sum, SYM_PODS), 3);
    struct resources most = resources_dup(&a, base);
    resources_max(&a, &most, (struct resources){two, 2});
    assert_int_equal(resources_get(most, SYM_MEMORY), INT64_MAX);
    /* two copies of one list grow apart */
    struct resources x = base, y = base;
    *resources_at(&a, &x, SYM_PODS) = 1;
    *resources_at(&a, &y, SYM_NODES) = 2;
    assert_int_equal(resources_get(x, SYM_PODS), 1);
    assert_int_equal(resources_get(x, SYM_NODES), 0);
    assert_int_equal(resources_get(y, SYM_NODES), 2);
    assert_int_equal(base.count, 2);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_suggest), cmocka_unit_test(test_text),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
