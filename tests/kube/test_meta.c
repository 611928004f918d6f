#include "kube/meta.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { KEY = 1000, OTHER, ONE, TWO }; /* symbols need no table to be compared */

static void test_tolerations(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        struct taint taint;
        struct toleration by;
        bool want;
    } rows[] = {
        {"equal key, value and effect",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {KEY, ONE, TOLERATION_EQUAL, TAINT_NO_SCHEDULE},
         true},
        {"no effect means every effect",
         {KEY, ONE, TAINT_NO_EXECUTE, 0},
         {KEY, ONE, TOLERATION_EQUAL, TAINT_NONE},
         true},
        {"another effect",
         {KEY, ONE, TAINT_NO_EXECUTE, 0},
         {KEY, ONE, TOLERATION_EQUAL, TAINT_NO_SCHEDULE},
         false},
        {"another value",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {KEY, TWO, TOLERATION_EQUAL, TAINT_NONE},
         false},
        {"Exists asks for no value",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {KEY, SYM_NONE, TOLERATION_EXISTS, TAINT_NONE},
         true},
        {"no key and Exists is everything",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {SYM_NONE, SYM_NONE, TOLERATION_EXISTS, TAINT_NONE},
         true},
        {"an empty key is no key",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {SYM_EMPTY, SYM_NONE, TOLERATION_EXISTS, TAINT_NONE},
         true},
        {"no value equals the empty value",
         {KEY, SYM_NONE, TAINT_NO_SCHEDULE, 0},
         {KEY, SYM_EMPTY, TOLERATION_EQUAL, TAINT_NONE},
         true},
        {"another key",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {OTHER, SYM_NONE, TOLERATION_EXISTS, TAINT_NONE},
         false},
        {"an operator that we do not know",
         {KEY, ONE, TAINT_NO_SCHEDULE, 0},
         {KEY, ONE, TOLERATION_OTHER, TAINT_NONE},
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct toleration by = rows[i].by;
        if (taint_tolerated(&rows[i].taint, (struct tolerations){&by, 1}, NULL) != rows[i].want)
            fail_msg("%s: want %d", rows[i].label, rows[i].want);
        assert_false(taint_tolerated(&rows[i].taint, (struct tolerations){NULL, 0}, NULL));
    }
}

/* As Kubernetes 1.36 has them behind the gate TaintTolerationComparisonOperators. */
static void test_tolerated_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *taint; /* NULL: it has no value */
        enum toleration_op op;
        const char *bound;
        bool want;
    } rows[] = {
        {"3", TOLERATION_LT, "5", true},
        {"5", TOLERATION_LT, "5", false},
        {"7", TOLERATION_LT, "5", false},
        {"7", TOLERATION_GT, "5", true},
        {"5", TOLERATION_GT, "5", false},
        {"3", TOLERATION_GT, "5", false},
        {"-3", TOLERATION_LT, "0", true},
        {"0", TOLERATION_GT, "-3", true},
        {"10", TOLERATION_GT, "9", true}, /* as numbers, not as texts */
        {"9223372036854775807", TOLERATION_GT, "-9223372036854775808", true},
        {"9223372036854775808", TOLERATION_GT, "5", false},
        {"03", TOLERATION_LT, "5", false},
        {"+3", TOLERATION_LT, "5", false},
        {"-03", TOLERATION_LT, "5", false},
        {"-0", TOLERATION_LT, "5", false},
        {"3", TOLERATION_LT, "05", false},
        {"3.5", TOLERATION_LT, "5", false},
        {"high", TOLERATION_GT, "5", false},
        {"", TOLERATION_LT, "5", false},
        {NULL, TOLERATION_LT, "5", false},
        {"3", TOLERATION_LT, "", false},
        {"-", TOLERATION_LT, "5", false},
    };
    struct symtab *syms = kube_symtab_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct taint t = {.key = SYM_ZONE, .effect = TAINT_NO_SCHEDULE};
        struct toleration by = {.key = SYM_ZONE, .op = rows[i].op};
        if (rows[i].taint != NULL)
            t.value = sym_intern(syms, span_of(rows[i].taint));
        by.value = sym_intern(syms, span_of(rows[i].bound));
        if (taint_tolerated(&t, (struct tolerations){&by, 1}, syms) != rows[i].want)
            fail_msg("taint %s, toleration %s %s: want %d", rows[i].taint != NULL ? rows[i].taint : "without",
                     rows[i].op == TOLERATION_LT ? "Lt" : "Gt", rows[i].bound, rows[i].want);
    }
    symtab_unref(syms);
}

static void test_selectors(void **state)
{
    (void)state;
    struct sym_pair pair[] = {{KEY, ONE}};
    struct sym_pairs labels = {pair, 1};
    sym values[] = {ONE, TWO};
    static const struct {
        const char *label;
        sym key;
        enum op op;
        uint32_t first, count; /* of values */
        bool want;
    } rows[] = {
        {"In", KEY, OP_IN, 0, 2, true},
        {"In another value", KEY, OP_IN, 1, 1, false},
        {"In without the label", OTHER, OP_IN, 0, 2, false},
        {"NotIn", KEY, OP_NOT_IN, 0, 2, false},
        {"NotIn without the label", OTHER, OP_NOT_IN, 0, 2, true},
        {"Exists", KEY, OP_EXISTS, 0, 0, true},
        {"Exists without the label", OTHER, OP_EXISTS, 0, 0, false},
        {"DoesNotExist", KEY, OP_DOES_NOT_EXIST, 0, 0, false},
        {"DoesNotExist without the label", OTHER, OP_DOES_NOT_EXIST, 0, 0, true},
        {"no operator of a selector", KEY, OP_GT, 0, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct expression e = {.key = rows[i].key,
                               .op = rows[i].op,
                               .values = {values + rows[i].first, rows[i].count}};
        struct label_selector s = {.match_expressions = {&e, 1}};
        if (label_selector_matches(&s, labels) != rows[i].want)
            fail_msg("%s: want %d", rows[i].label, rows[i].want);
    }
    struct label_selector all = {0};
    assert_true(label_selector_matches(&all, labels));
    struct sym_pair other = {KEY, TWO};
    struct label_selector differs = {.match_labels = {&other, 1}};
    assert_false(label_selector_matches(&differs, labels));
    struct label_selector same = {.match_labels = {pair, 1}};
    assert_true(label_selector_matches(&same, labels));
    struct sym_pair both[] = {{KEY, ONE}, {OTHER, ONE}};
    struct label_selector two = {.match_labels = {both, 2}};
    assert_false(label_selector_matches(&two, labels)); /* one of two is not enough */
}

static void test_lookups(void **state)
{
    (void)state;
    struct condition list[] = {{.type = SPAN("Ready"), .status = CONDITION_TRUE},
                               {.type = SPAN("Drifted"), .status = CONDITION_FALSE}};
    struct conditions c = {list, 2};
    assert_true(conditions_true(c, SPAN("Ready")));
    assert_false(conditions_true(c, SPAN("Drifted")));
    assert_false(conditions_true(c, SPAN("Launched")));
    assert_ptr_equal(conditions_find(c, SPAN("Drifted")), &list[1]);
    struct owner owner = {.api_version = SYM_API_APPS_V1, .kind = SYM_KIND_DAEMON_SET};
    struct meta m = {.owners = {&owner, 1}};
    assert_true(meta_owned_by(&m, SYM_API_APPS_V1, SYM_KIND_DAEMON_SET));
    assert_false(meta_owned_by(&m, SYM_API_V1, SYM_KIND_DAEMON_SET));
    assert_false(meta_owned_by(&m, SYM_API_V1, SYM_KIND_NODE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tolerations),
        cmocka_unit_test(test_tolerated_numbers),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_lookups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
