#include "kube/requirement.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};
static struct symtab *syms;
static sym well_known[] = {SYM_NODEPOOL,      SYM_CAPACITY_TYPE, SYM_ZONE,     SYM_REGION,
                           SYM_INSTANCE_TYPE, SYM_ARCH,          SYM_OS,       SYM_WINDOWS_BUILD,
                           SYM_KWOK_SIZE,     SYM_KWOK_FAMILY,   SYM_KWOK_CPU, SYM_KWOK_MEMORY};
static const struct label_rules rules = {
    .well_known = {well_known, COUNT_OF(well_known)}, .domains = domains, .domain_count = 2};

#define L61 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_qualified_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"a", true},
        {"test.com/test", true},
        {"A_b.c", true},
        {"1/2", true},
        {L63, true},
        {L63 "a", false},
        {"a.b/c", true},
        {"x/" L63, true},
        {L63 "." L63 "." L63 "." L61 "/x", true},
        {L63 "." L63 "." L63 "." L61 "a/x", false},
        {"test.com.com}", false},
        {"Test.com/test", false},
        {"test/test/test", false},
        {"test/", false},
        {"/test", false},
        {"-a", false},
        {"foo-", false},
        {"a b", false},
        {"", false},
        {"???", false},
        {"a..b/c", false},
        {"a-.b/c", false},
        {"a.-b/c", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (qualified_name_valid(span_of(rows[i].text)) != rows[i].valid)
            fail_msg("\"%s\": want %d", rows[i].text, rows[i].valid);
    assert_true(label_value_valid(SPAN("")));
    assert_true(label_value_valid(SPAN("a.b-c_D")));
    assert_false(label_value_valid(SPAN("/")));
    assert_false(label_value_valid(SPAN("abc/def")));
    assert_false(label_value_valid(SPAN(L63 "a")));
}

static void test_restricted(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        bool restricted;
    } rows[] = {
        {"topology.kubernetes.io/zone", false},
        {"example.com/x", false},
        {"karpenter.sh/capacity-type", false},
        {"karpenter.sh/nodepool", false}, /* V1 and V10 name this one themselves */
        {"karpenter.sh/initialized", true},
        {"sub.karpenter.sh/foo", true},
        {"mykarpenter.sh/foo", false},
        {"mykarpenter.sh", false},
        {"karpenter.sh", false},
        {"karpenter.kwok.sh/foo", true},
        {"karpenter.kwok.sh/instance-family", false},
        {"karpenter.kwok.sh/kwoknodeclass", true},
        {"kubernetes.io/hostname", true},
        {"kops.k8s.io/x", false},
        {"subdomain.kubernetes.io/x", false},
        {"node.kubernetes.io/foo", false},
        {"plain", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (label_restricted(&rules, sym_intern(syms, span_of(rows[i].key)), syms) !=
            rows[i].restricted)
            fail_msg("\"%s\": want %d", rows[i].key, rows[i].restricted);
}

static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *label, *key;
        enum op op;
        const char *values[3];
        int32_t min_values;
        const char *want; /* part of the sentence; NULL: accepted */
    } rows[] = {
        {"In", "example.com/x", OP_IN, {"a"}, 0, NULL},
        {"In without values", "example.com/x", OP_IN, {0}, 0, "needs at least one value"},
        {"one good capacity type is enough",
         "karpenter.sh/capacity-type",
         OP_IN,
         {"spot", "foo"},
         0,
         NULL},
        {"no good capacity type",
         "karpenter.sh/capacity-type",
         OP_IN,
         {"foo"},
         0,
         "is not a capacity type"},
        {"only In looks at capacity types",
         "karpenter.sh/capacity-type",
         OP_NOT_IN,
         {"foo"},
         0,
         NULL},
        {"two capacity types wanted, one good",
         "karpenter.sh/capacity-type",
         OP_IN,
         {"spot", "foo"},
         2,
         "only 1"},
        {"a zone that is greater", "topology.kubernetes.io/zone", OP_GT, {"1"}, 0, NULL},
        {"a value with a slash", "example.com/x", OP_IN, {"abc/def"}, 0, "is not a label value"},
        {"unknown operator", "example.com/x", OP_NONE, {"a"}, 0, "is not an operator"},
        {"hostname", "kubernetes.io/hostname", OP_IN, {"a"}, 0, "is restricted"},
        {"alias of a well-known key", "beta.kubernetes.io/arch", OP_IN, {"amd64"}, 0, NULL},
        {"bad key", "a b", OP_EXISTS, {0}, 0, "is not a label key"},
        {"minValues met", "example.com/x", OP_IN, {"a", "b"}, 2, NULL},
        {"minValues missed", "example.com/x", OP_IN, {"a"}, 2, "only 1 values"},
        {"minValues on Exists", "example.com/x", OP_EXISTS, {0}, 2, NULL},
        {"NotIn without values", "example.com/x", OP_NOT_IN, {0}, 0, NULL},
        {"Gt 0", "example.com/x", OP_GT, {"0"}, 0, NULL},
        {"Gt nothing", "example.com/x", OP_GT, {0}, 0, "exactly one value"},
        {"Gt two", "example.com/x", OP_GT, {"1", "2"}, 0, "exactly one value"},
        {"Lte 1.5", "example.com/x", OP_LTE, {"1.5"}, 0, "exactly one value"},
        {"Gte a", "example.com/x", OP_GTE, {"a"}, 0, "exactly one value"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        sym values[3];
        struct expression e = {.key = sym_intern(syms, span_of(rows[i].key)),
                               .op = rows[i].op,
                               .op_text = SPAN("foo"),
                               .values = {values, 0},
                               .min_values = rows[i].min_values};
        for (size_t v = 0; v < 3 && rows[i].values[v] != NULL; v++)
            values[e.values.count++] = sym_intern(syms, span_of(rows[i].values[v]));
        struct err err = {0};
        bool valid = expression_valid(&rules, &e, syms, &err);
        if (valid != (rows[i].want == NULL))
            fail_msg("%s: %s", rows[i].label, valid ? "accepted" : err.msg);
        if (!valid && strstr(err.msg, rows[i].want) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].label, err.msg, rows[i].want);
    }
}

static int setup(void **state)
{
    (void)state;
    syms = kube_symtab_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_unref(syms);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qualified_names),
        cmocka_unit_test(test_restricted),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
