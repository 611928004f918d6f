/* `stowage diff` as a program: what is compared, what is said of it, and the exit status of diff(1). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "server/command.h"
#include "support_plan.h"

#define JOB(name, cpu) "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " name ", namespace: shop}\nspec: {parallelism: 2, " \
    "completions: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: '" cpu "'}}}]}}}\n"
#define TYPE(name, cpu, price)                                                                     \
    "{\"name\": \"" name "\", \"offerings\": [{\"Price\": " price ", \"Available\": true, \"Requirements\": ["                 \
    "{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": [\"on-demand\"]}, "                             \
    "{\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [\"zone-a\"]}]}], \"architecture\": \"amd64\", " \
    "\"operatingSystems\": [\"linux\"], \"resources\": {\"cpu\": \"" cpu "\", \"memory\": \"16Gi\", \"pods\": \"20\"}}"
#define PLAN(claims, cost, workloads)                                                              \
    "{\"apiVersion\": \"stowage.dev/v1alpha1\", \"kind\": \"Plan\", \"nodeClaims\": [" claims "], \"existingNodes\": [], "       \
    "\"unschedulable\": [], \"cost\": {\"before\": 0, \"after\": " cost "}, \"workloads\": [" workloads "]}"
#define CLAIM "{\"nodePool\": \"general\", \"instanceTypes\": [\"big\"], \"price\": 0.5, \"pods\": [\"shop/a\", \"shop/b\"]}"
#define WORKLOAD(name, price) "{\"kind\": \"Job\", \"namespace\": \"shop\", \"name\": \"" name "\", \"pricePerHour\": " price "}"

/* The two texts as files a and b, and more of them as c; A, B and C among the arguments are their names. */
static struct outcome diff(const char *a, const char *b, const char *c, const char *const *args)
{
    char folder[] = "/tmp/stowage-diff-XXXXXX";
    const char *texts[] = {a, b, c}, *argv[COMMAND_ARGS_MAX] = {NULL};
    char paths[COUNT_OF(texts)][64];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/%c", folder, (char)('a' + i));
        FILE *f = fopen(paths[i], "w");
        assert_non_null(f);
        fputs(texts[i] != NULL ? texts[i] : "", f);
        fclose(f);
    }
    for (size_t i = 0; args[i] != NULL; i++)
        argv[i] = strlen(args[i]) == 1 && args[i][0] >= 'A' && args[i][0] <= 'C' ? paths[args[i][0] - 'A'] : args[i];
    struct outcome o = run_command(command_diff, "", argv);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        unlink(paths[i]);
    rmdir(folder);
    return o;
}

static const struct {
    const char *label, *a, *b, *c, *args[COMMAND_ARGS_MAX - 2];
    int status;
    const char *want, *not; /* not: NULL: nothing in particular */
} rows[] = {
    {"two plans", PLAN(CLAIM ", " CLAIM, "1.0", WORKLOAD("x", "1.0")), PLAN(CLAIM, "0.5", WORKLOAD("x", "0.25") ", " WORKLOAD("y", "0.25")),
     NULL, {"A", "B"}, 1,
     "$/HOUR                    a       b    DIFFERENCE\n"
     "now                   0.000   0.000\n"
     "with the plan         1.000   0.500   -0.500 -50%\n"
     "a month                 730     365          -365\n"
     "\n"
     "PODS                      a       b    DIFFERENCE\n"
     "on new nodes              4       2            -2\n"
     "on nodes that exist       0       0\n"
     "without a place           0       0\n"
     "\n"
     "NODES TO BUY              a       b    DIFFERENCE\n"
     "general                   2       1            -1\n"
     "\n"
     "OF TYPE                   a       b    DIFFERENCE\n"
     "big                       2       1            -1\n"
     "\n"
     "$/MONTH                   a       b    DIFFERENCE\n"
     "Job shop/x           730.00  182.50  -547.50 -75%\n"
     "Job shop/y                –  182.50           new\n", NULL},
    {"what is alike is counted", PLAN(CLAIM, "0.5", WORKLOAD("x", "0.5")), PLAN(CLAIM, "0.6", WORKLOAD("x", "0.5")), NULL, {"A", "B"}, 1,
     "\n2 more are alike.\n", "shop/x"},
    {"equal ones", PLAN(CLAIM, "0.5", ""), PLAN(CLAIM, "0.5", ""), NULL, {"A", "B"}, 0, "a and b are alike.\n", "$"},
    {"as JSON", PLAN(CLAIM, "0.5", ""), PLAN(CLAIM, "0.75", ""), NULL, {"A", "B", "-o", "json"}, 1,
     "\"section\": \"cost\",\n      \"name\": \"with the plan\",\n      \"a\": 0.5,\n      \"b\": 0.75\n", NULL},
    {"a price that one does not know", PLAN(CLAIM, "0.5", ""), "{\"apiVersion\": \"stowage.dev/v1alpha1\", \"kind\": \"Plan\"}", NULL,
     {"A", "B"}, 1, "with the plan        0.500  –        gone\n", NULL},
    {"two sets of objects", POOL JOB("x", "1"), POOL JOB("x", "3"), NULL, {"A", "B"}, 1, "\nJob shop/x ", NULL},
    {"on top of others, of which theirs win", POOL JOB("x", "1"), POOL JOB("x", "3"), POOL JOB("x", "200"), {"A", "B", "-f", "C"}, 1,
     "\nJob shop/x ", "already given"},
    {"a plan and objects", PLAN(CLAIM, "0.5", ""), POOL JOB("x", "1"), NULL, {"A", "B"}, 1, "general                  1      1\n", NULL},
    {"two catalogues, for the same objects", "[" TYPE("one", "4", "0.4") "]", "[" TYPE("one", "4", "0.2") "]", POOL JOB("x", "1"),
     {"A", "B", "-f", "C"}, 1, "with the plan         0.400   0.200   -0.200 -50%\n", NULL},
    {"two catalogues, by themselves", "[" TYPE("one", "4", "0.4") ", " TYPE("two", "8", "0.8") "]",
     "[" TYPE("one", "4", "0.2") ", " TYPE("two", "8", "0.8") ", " TYPE("three", "2", "0.1") "]", NULL, {"A", "B"}, 1,
     "$/HOUR OF             a       b    DIFFERENCE\n"
     "one on-demand    0.4000  0.2000  -0.2000 -50%\n"
     "three on-demand       –  0.1000           new\n"
     "\n1 more is alike.\n", NULL},
    {"one catalogue by itself", "[" TYPE("one", "4", "0.4") "]", POOL, NULL, {"A", "B"}, 2, "is a catalogue; give the objects to plan with it with "
     "-f, or --with-cluster\n", NULL},
    {"a plan that is none", "{\"apiVersion\": \"stowage.dev/v1alpha1\", \"kind\": \"Plan\", \"nodeClaims\": 7}", POOL, NULL, {"A", "B"}, 2,
     "/a: nodeClaims: ", NULL},
    {"a mistake in objects", POOL, "spec: {", NULL, {"A", "B"}, 2, "/b", NULL},
    {"a file that is not there", POOL, POOL, NULL, {"A", "/nowhere/b"}, 2, "/nowhere/b", NULL},
    {"one alone", POOL, NULL, NULL, {"A"}, 2, "say which two to compare: plans (-o json), catalogues, or files of objects\n", NULL},
    {"a form of plan's", POOL, POOL, NULL, {"A", "B", "-o", "wide"}, 2, "diff answers with -o table, json or yaml\n", NULL},
    {"node groups", POOL, POOL, NULL, {"A", "B", "--node-groups=x"}, 2, "--node-groups has no meaning here\n", NULL},
};

static void are_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = diff(rows[i].a, rows[i].b, rows[i].c, rows[i].args);
        if (o.status != rows[i].status || strstr(o.text, rows[i].want) == NULL ||
            (rows[i].not != NULL && strstr(o.text, rows[i].not) != NULL))
            fail_msg("%s: status %d,\n%s", rows[i].label, o.status, o.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
