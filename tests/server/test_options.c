#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "server/options.h"

enum { ARGS_MAX = 6 };

static const char *const *environment; /* pairs of name and value, ended by NULL */

static const char *from_environment(const char *name)
{
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i += 2)
        if (strcmp(environment[i], name) == 0)
            return environment[i + 1];
    return NULL;
}

static bool read_args(struct arena *a, enum option_group group, const char *const *args,
                      struct options *out, struct err *err)
{
    char *argv[ARGS_MAX];
    int argc = 0;
    while (argc < ARGS_MAX && args[argc] != NULL) {
        argv[argc] = (char *)(uintptr_t)args[argc];
        argc++;
    }
    bool help;
    return options_read(a, group, argc, argv, from_environment, out, &help, err);
}

static const struct {
    const char *label;
    enum option_group group;
    const char *args[ARGS_MAX], *env[5];
    const char *want;
} refused[] = {
    {"a typing mistake", OPTION_PLAN, {"--outptu", "json"}, {0},
     "no flag --outptu; did you mean --output (-o)?"},
    {"with its value", OPTION_PLAN, {"--serach=greedy"}, {0},
     "no flag --serach; did you mean --search?"},
    {"nothing like it", OPTION_PLAN, {"--zzzzzzzz"}, {0}, "no flag --zzzzzzzz; --help lists them"},
    {"a flag of the other command", OPTION_PLAN, {"--webhook-listen=:1"}, {0},
     "no flag --webhook-listen; --help lists them"},
    {"a word", OPTION_PLAN, {"cluster.yaml"}, {0},
     "\"cluster.yaml\" is not a flag; files are given with -f"},
    {"a file without its flag", OPTION_CHECK, {"extra"}, {0}, "\"extra\" is not a flag; files are given with -f"},
    {"a file without a name", OPTION_PLAN, {"-f", ""}, {0}, "-f: the name is empty"},
    {"no value", OPTION_PLAN, {"-o"}, {0}, "-o needs a value"},
    {"not a choice", OPTION_PLAN, {"-o", "xml"}, {0}, "-o: \"xml\" is not table, json, yaml, wide, name or html"},
    {"not a duration", OPTION_SERVE, {"--batch-idle-duration", "1"}, {0},
     "--batch-idle-duration: \"1\" is not a duration like 10s or 1m30s"},
    {"out of range", OPTION_SERVE, {"--metrics-port=70000"}, {0},
     "--metrics-port: 70000 is not between 0 and 65535"},
    {"a slip in one of Cluster Autoscaler's", OPTION_SERVE, {"--scan-intervall=15s"}, {0},
     "no flag --scan-intervall; did you mean --scan-interval?"},
    {"a boolean in words", OPTION_SERVE, {"--coexist=yes"}, {0},
     "--coexist: \"yes\" is neither true nor false"},
    {"our environment", OPTION_SERVE, {0}, {"STOWAGE_THREADS", "many"},
     "STOWAGE_THREADS: \"many\" is not an integer"},
    {"Karpenter's environment is as strict", OPTION_SERVE, {0}, {"METRICS_PORT", "http"},
     "METRICS_PORT: \"http\" is not an integer"},
    {"also where ours wins", OPTION_SERVE, {0}, {"METRICS_PORT", "x", "STOWAGE_METRICS_PORT", "0"},
     "METRICS_PORT: \"x\" is not an integer"},
    {"below the least", OPTION_SERVE, {"--metrics-port=-1"}, {0},
     "--metrics-port: -1 is not between 0 and 65535"},
    {"above the most", OPTION_SERVE, {"--metrics-port=65536"}, {0},
     "--metrics-port: 65536 is not between 0 and 65535"},
    {"a length below nothing", OPTION_SERVE, {"--batch-idle-duration=-1s"}, {0},
     "--batch-idle-duration: \"-1s\" is not a duration like 10s or 1m30s"},
    {"an empty choice", OPTION_SERVE, {"--preference-policy="}, {0},
     "--preference-policy: \"\" is not Respect or Ignore"},
    {"a gate's value", OPTION_SERVE, {"--feature-gates=NodeRepair=yes"}, {0},
     "--feature-gates: \"NodeRepair=yes\" is not Name=true or Name=false"},
    {"a malformed gate", OPTION_SERVE, {"--feature-gates=NodeRepair"}, {0},
     "--feature-gates: \"NodeRepair\" is not Name=true or Name=false"},
    {"a count without a number", OPTION_PLAN, {"--credit-reservation=r-1=2,r-2"}, {0},
     "--credit-reservation: \"r-2\" is not NAME=N with N of 0 or more"},
    {"a count below none", OPTION_PLAN, {"--credit-reservation=r-1=-1"}, {0},
     "--credit-reservation: \"r-1=-1\" is not NAME=N with N of 0 or more"},
    {"a count of nothing", OPTION_PLAN, {"--credit-reservation=r-1=1,"}, {0},
     "--credit-reservation: \"\" is not NAME=N with N of 0 or more"},
    {"a name of nothing", OPTION_PLAN, {"--remove=n1,,n2"}, {0},
     "--remove: \"n1,,n2\" has an empty name"},
    {"a version of TLS that is too old", OPTION_SERVE, {"--tls-min-version=VersionTLS11"}, {0},
     "--tls-min-version: \"VersionTLS11\" is not VersionTLS12 or VersionTLS13"},
    {"not a mode", OPTION_PLAN, {"--reserved-offering-mode=lax"}, {0},
     "--reserved-offering-mode: \"lax\" is not auto, strict or fallback"},
};

static void test_refused_in_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct arena a;
        arena_init(&a, 0);
        struct options o;
        struct err err = {0};
        environment = refused[i].env;
        if (read_args(&a, refused[i].group, refused[i].args, &o, &err))
            fail_msg("%s: accepted", refused[i].label);
        if (strcmp(err.msg, refused[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", refused[i].label, err.msg, refused[i].want);
        arena_release(&a);
    }
}

static void test_defaults_are_karpenters(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = NULL;
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){NULL}, &o, &err));
    assert_int_equal(o.metrics_port, 8080);
    assert_int_equal(o.health_port, 8081);
    assert_int_equal(o.batch_idle, 1000);
    assert_int_equal(o.batch_max, 10000);
    assert_int_equal(o.client_burst, 300);
    assert_true(o.gates.reserved_capacity);
    assert_false(o.gates.node_repair);
    assert_true(o.ignore_dra_requests);
    assert_string_equal(o.lease_name, "stowage-leader-election");
    arena_release(&a);
}

static void test_flag_over_ours_over_karpenters(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = (const char *[]){"METRICS_PORT", "1", "STOWAGE_METRICS_PORT", "2", NULL};
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){"--metrics-port", "3", NULL}, &o, &err));
    assert_int_equal(o.metrics_port, 3);
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){NULL}, &o, &err));
    assert_int_equal(o.metrics_port, 2);
    environment = (const char *[]){"METRICS_PORT", "1", NULL};
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){NULL}, &o, &err));
    assert_int_equal(o.metrics_port, 1);
    environment = (const char *[]){"INSTANCE_TYPES_FILE_PATH", "a", "STOWAGE_INSTANCE_TYPES_FILE_PATH", "b",
                                   NULL}; /* its flag has two names */
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){NULL}, &o, &err));
    assert_string_equal(o.instance_types, "b");
    environment = NULL;
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){"--log-level=", NULL}, &o, &err));
    assert_int_equal(o.log_level, 2); /* info */
    arena_release(&a);
}

static void test_forms_of_a_flag(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = NULL;
    const char *args[] = {"-f", "a", "--filename=b", "--all-unbound", "-o=json", NULL};
    assert_true(read_args(&a, OPTION_PLAN, args, &o, &err));
    assert_int_equal(o.files.count, 2);
    assert_string_equal(o.files.items[0], "a");
    assert_string_equal(o.files.items[1], "b");
    assert_true(o.all_unbound);
    assert_int_equal(o.output, OUTPUT_JSON);
    const char *names[] = {"--remove=n1, n2", "--remove", "n3", NULL};
    assert_true(read_args(&a, OPTION_PLAN, names, &o, &err));
    assert_int_equal(o.remove.count, 3);
    assert_string_equal(o.remove.items[1], "n2");
    assert_string_equal(o.remove.items[2], "n3");
    const char *gates[] = {"--feature-gates", " NodeRepair=true , ReservedCapacity=false,New=true",
                           NULL};
    assert_true(read_args(&a, OPTION_PLAN, gates, &o, &err));
    assert_true(o.gates.node_repair);
    assert_false(o.gates.reserved_capacity);
    const char *alias[] = {"--instance-types-file-path", "t.json", NULL};
    assert_true(read_args(&a, OPTION_SERVE, alias, &o, &err));
    assert_string_equal(o.instance_types, "t.json");
    arena_release(&a);
}

static void test_gates_are_read_as_karpenter_reads_them(void **state)
{
    (void)state;
    static const char *const on[] = {"StaticCapacity = true", "StaticCapacity= true",
                                     "StaticCapacity=True",   "StaticCapacity=1",
                                     ",StaticCapacity =T,",   " StaticCapacity=t"};
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = NULL;
    for (size_t i = 0; i < COUNT_OF(on); i++) {
        if (!read_args(&a, OPTION_PLAN, (const char *[]){"--feature-gates", on[i], NULL}, &o, &err))
            fail_msg("%s: %s", on[i], err.msg);
        assert_true(o.gates.static_capacity);
    }
    const char *off[] = {"--feature-gates=ReservedCapacity=F", NULL};
    assert_true(read_args(&a, OPTION_PLAN, off, &o, &err));
    assert_false(o.gates.reserved_capacity);
    environment = (const char *[]){"FEATURE_GATES", "NodeOverlay=true,ReservedCapacity=false", NULL};
    const char *flag[] = {"--feature-gates=StaticCapacity=true", NULL};
    assert_true(read_args(&a, OPTION_PLAN, flag, &o, &err));
    assert_true(o.gates.static_capacity);
    assert_false(o.gates.node_overlay); /* the flag alone counts */
    assert_true(o.gates.reserved_capacity);
    arena_release(&a);
}

/* Spec api 10 and 14.18. */
static void test_each_gate_has_its_name_and_default(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
        bool by_default;
    } rows[] = {
        {"NodeRepair", offsetof(struct gates, node_repair), false},
        {"ReservedCapacity", offsetof(struct gates, reserved_capacity), true},
        {"SpotToSpotConsolidation", offsetof(struct gates, spot_to_spot), false},
        {"NodeOverlay", offsetof(struct gates, node_overlay), false},
        {"StaticCapacity", offsetof(struct gates, static_capacity), false},
        {"CapacityBuffer", offsetof(struct gates, capacity_buffer), false},
        {"TerminateFirstDrift", offsetof(struct gates, terminate_first_drift), false},
        {"TerminateFirstRepair", offsetof(struct gates, terminate_first_repair), false},
        {"PodDeletionCostManagement", offsetof(struct gates, pod_deletion_cost), false},
    };
    (void)state;
    struct arena a;
    struct options o;
    struct err err;
    char gate[64];
    arena_init(&a, 0);
    environment = NULL;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        snprintf(gate, sizeof(gate), "%s=%s", rows[i].name, rows[i].by_default ? "false" : "true");
        assert_true(read_args(&a, OPTION_SERVE, (const char *[]){"--feature-gates", gate, NULL}, &o, &err));
        assert_int_equal(o.unknown_gates.count, 0);
        for (size_t k = 0; k < COUNT_OF(rows); k++)
            if (*(const bool *)((const char *)&o.gates + rows[k].offset) != (rows[k].by_default ^ (i == k)))
                fail_msg("with %s, %s", gate, rows[k].name);
    }
    const char *flag[] = {"--legacy-node-repair=true", NULL};
    assert_true(read_args(&a, OPTION_SERVE, flag, &o, &err));
    assert_true(o.legacy_node_repair);
    environment = (const char *[]){"LEGACY_NODE_REPAIR", "true", NULL};
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){NULL}, &o, &err));
    assert_true(o.legacy_node_repair);
    environment = NULL;
    arena_release(&a);
}

static void test_mistyped_gates_are_told(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = NULL;
    const char *args[] = {"--feature-gates=NodeOverlays=true,Drift=true,NodeOverlay=true", NULL};
    assert_true(read_args(&a, OPTION_PLAN, args, &o, &err));
    assert_int_equal(o.unknown_gates.count, 2);
    assert_string_equal(option_unknown_gate(&a, o.unknown_gates.items[0]),
                        "no feature gate \"NodeOverlays\"; did you mean NodeOverlay?");
    assert_string_equal(option_unknown_gate(&a, o.unknown_gates.items[1]),
                        "no feature gate \"Drift\": it changes nothing");
    assert_true(read_args(&a, OPTION_PLAN, (const char *[]){NULL}, &o, &err));
    assert_int_equal(o.unknown_gates.count, 0);
    arena_release(&a);
}

static void test_a_cluster_in_memory_is_for_this_machine(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = NULL;
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){NULL}, &o, &err));
    assert_string_equal(options_listen(&a, &o, 8443), ":8443");
    assert_null(o.webhook_listen);
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){"--embedded", NULL}, &o, &err));
    assert_string_equal(options_listen(&a, &o, 8443), "127.0.0.1:8443");
    assert_true(read_args(&a, OPTION_SERVE, (const char *[]){"--embedded", "--webhook-listen=:1", NULL}, &o, &err));
    assert_string_equal(o.webhook_listen, ":1");
    arena_release(&a);
}

/* Of what our own CA signs the scheduler's alone gets in; of another's nobody without a name. */
static void test_who_may_ask_the_extender(void **state)
{
    (void)state;
    static const struct {
        const char *label, *args[ARGS_MAX];
        const char *name;       /* the only one; NULL: none */
        const char *why;        /* NULL: it starts */
    } rows[] = {
        {"as shipped", {NULL}, "own", NULL},
        {"somebody else of our own CA", {"--extender-client-names=a"}, "a", NULL},
        {"another CA, and a name", {"--extender-client-ca=/ca", "--extender-client-names=a"}, "a", NULL},
        {"another CA", {"--extender-client-ca=/ca"}, NULL, "--extender-client-names=system:kube-scheduler"},
        {"no CA after all", {"--extender-client-ca="}, "own", NULL},
        {"nobody is asked", {"--extender-client-ca=/ca", "--extender-insecure"}, NULL, NULL},
        {"the webhook's CA", {"--webhook-client-ca=/ca"}, "own", NULL},
        {"and names", {"--webhook-client-ca=/ca", "--webhook-client-names=a"}, "own", NULL},
        {"names without it", {"--webhook-client-names=a"}, NULL, "no effect without --webhook-client-ca"},
    };
    environment = NULL;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        arena_init(&a, 0);
        struct options o;
        struct err err = {0};
        assert_true(read_args(&a, OPTION_SERVE, rows[i].args, &o, &err));
        bool ok = options_name_clients(&a, &o, "own", &err);
        if (ok != (rows[i].why == NULL) || (!ok && strstr(err.msg, rows[i].why) == NULL))
            fail_msg("%s: \"%s\"", rows[i].label, err.msg);
        uint32_t count = rows[i].name != NULL;
        if (ok && (o.extender_client_names.count != count ||
                   (count != 0 && strcmp(o.extender_client_names.items[0], rows[i].name) != 0)))
            fail_msg("%s: %u names", rows[i].label, o.extender_client_names.count);
        arena_release(&a);
    }
}

static void test_counts_by_name(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err;
    environment = NULL;
    const char *args[] = {"--credit-reservation=r-1=2, r-2=1", "--credit-reservation", "r-1=3", NULL};
    assert_true(read_args(&a, OPTION_PLAN, args, &o, &err));
    assert_int_equal(o.credit_reservation.count, 2);
    assert_string_equal(o.credit_reservation.items[0].name, "r-1");
    assert_int_equal(o.credit_reservation.items[0].count, 3); /* the last one given */
    assert_string_equal(o.credit_reservation.items[1].name, "r-2");
    assert_int_equal(o.credit_reservation.items[1].count, 1);
    arena_release(&a);
}

static void test_karpenters_that_mean_nothing_are_named(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    environment = (const char *[]){"CPU_REQUESTS", "2000", NULL};
    char *argv[] = {(char *)(uintptr_t)"--enable-profiling"};
    struct span got = options_without_meaning(&a, OPTION_SERVE, 1, argv, from_environment);
    assert_string_equal(arena_cstr(&a, got), "--enable-profiling, --cpu-requests");
    environment = NULL;
    assert_null(options_without_meaning(&a, OPTION_SERVE, 0, argv, from_environment).ptr);
    arena_release(&a);
}

static void test_help_fits_80_columns(void **state)
{
    (void)state;
    static const enum option_group groups[] = {OPTION_SERVE, OPTION_PLAN, OPTION_PLAN | OPTION_EXPLAIN,
                                               OPTION_CHECK};
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        struct buf help = {0};
        options_help(&help, groups[i]);
        for (struct span line, rest = buf_span(&help); rest.len != 0;) {
            line = span_cut(rest, '\n', &rest);
            if (line.len > 80)
                fail_msg("%zu columns: %.*s", line.len, SPAN_ARG(line));
        }
        assert_non_null(strstr(help.ptr, "\n                                 "));
        buf_release(&help);
    }
}

static void test_each_flag_has_one_heading(void **state)
{
    (void)state;
    const struct option *o;
    for (size_t i = 0; (o = option_row(i)) != NULL; i++)
        if (!o->without_meaning && option_topic(o->name) == NULL)
            fail_msg("--%s is under no heading of option_help.c, and so not in the help", o->name);
    struct buf help = {0};
    options_help(&help, OPTION_SERVE | OPTION_PLAN | OPTION_EXPLAIN | OPTION_SIMULATE);
    size_t flags = 0, rows = 0;
    for (struct span line, rest = buf_span(&help); rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        flags += span_has_prefix(line, SPAN("      --")) || (span_has_prefix(line, SPAN("  -")) && line.ptr[4] == ',');
    }
    for (size_t i = 0; (o = option_row(i)) != NULL; i++)
        rows += !o->without_meaning && (o->group & (OPTION_SERVE | OPTION_PLAN | OPTION_EXPLAIN | OPTION_SIMULATE)) != 0;
    assert_int_equal(flags, rows);
    buf_release(&help);
}

static void test_a_value_joined_to_its_letter(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct options o;
    struct err err = {0};
    assert_true(read_args(&a, OPTION_PLAN, (const char *[]){"-ojson", "-fa.yaml", "-f=b.yaml", "-v", NULL}, &o, &err));
    assert_int_equal(o.output, OUTPUT_JSON);
    assert_int_equal(o.files.count, 2);
    assert_string_equal(o.files.items[0], "a.yaml");
    assert_string_equal(o.files.items[1], "b.yaml");
    assert_false(read_args(&a, OPTION_PLAN, (const char *[]){"-oxml", NULL}, &o, &err));
    assert_string_equal(err.msg, "-o: \"xml\" is not table, json, yaml, wide, name or html");
    assert_false(read_args(&a, OPTION_PLAN, (const char *[]){"-vv", NULL}, &o, &err)); /* a boolean has none */
    assert_string_equal(err.msg, "no flag -vv; --help lists them");
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_flag_has_one_heading),
        cmocka_unit_test(test_a_value_joined_to_its_letter),
        cmocka_unit_test(test_refused_in_one_line),
        cmocka_unit_test(test_defaults_are_karpenters),
        cmocka_unit_test(test_flag_over_ours_over_karpenters),
        cmocka_unit_test(test_forms_of_a_flag),
        cmocka_unit_test(test_gates_are_read_as_karpenter_reads_them),
        cmocka_unit_test(test_each_gate_has_its_name_and_default),
        cmocka_unit_test(test_mistyped_gates_are_told),
        cmocka_unit_test(test_a_cluster_in_memory_is_for_this_machine),
        cmocka_unit_test(test_who_may_ask_the_extender),
        cmocka_unit_test(test_counts_by_name),
        cmocka_unit_test(test_karpenters_that_mean_nothing_are_named),
        cmocka_unit_test(test_help_fits_80_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
