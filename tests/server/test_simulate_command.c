/* `stowage simulate` as a program: what it refuses, what it adds up, and that a seed is a run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "server/command.h"
#include "support_command.h"

enum { ARGS_MAX = COMMAND_ARGS_MAX - 1 };

static struct outcome run(const char *scenario, const char *const *args)
{
    const char *all[COMMAND_ARGS_MAX] = {"{}"};
    for (int i = 0; args != NULL && i < ARGS_MAX && args[i] != NULL; i++)
        all[1 + i] = args[i];
    return run_command(command_simulate, scenario, all);
}

#define HEAD "apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  duration: 1h\n"
#define EVENT(text) HEAD "  events:\n  - " text "\n"
#define DEPLOYMENT(replicas)                                                                       \
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"          \
    "spec:\n  replicas: " replicas "\n  selector: {matchLabels: {app: web}}\n"                      \
    "  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n"               \
    "      - {name: c, image: x, resources: {requests: {cpu: \"1\", memory: 1Gi}}}\n"
#define POOL                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n"          \
    "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}\n"                       \
    "  template:\n    spec:\n"                                                                      \
    "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"          \
    "      requirements:\n"                                                                         \
    "      - {key: kubernetes.io/os, operator: In, values: [linux]}\n"                              \
    "      - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n"                            \
    "      - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: [\"4\", \"8\"]}\n"

/* ---- mistakes ---- */

static const struct {
    const char *scenario, *want; /* a part of what is said */
} mistakes[] = {
    {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", " has no Scenario (stowage.dev/v1alpha1)"},
    {HEAD "---\n" HEAD, "a second Scenario; one is played at a time"},
    {"apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {seed: 1}\n",
     ":4: Scenario s: spec.duration: is missing"},
    {"apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n", "Scenario s: spec: is missing"},
    {"apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nspec: {duration: 1h}\n", "metadata.name: missing"},
    {HEAD "  sed: 4\n", ":6: Scenario s: spec.sed: is not a field of spec"},
    {HEAD "  seed: x\n", ":6: Scenario s: spec.seed: "},
    {HEAD "  start: yesterday\n", ":6: Scenario s: spec.start: "},
    {HEAD "  delays: {nodeReady: 5}\n", "spec.delays.nodeReady: \"5\" is no length of time like 90s"},
    {"apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {duration: 0s}\n",
     "spec.duration: \"0s\" is no time at all"},
    {"apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {duration: 999999h}\n",
     "spec.duration: \"999999h\" is longer than ten years"},
    {EVENT("{at: 1m}"), ":7: Scenario s: spec.events[0]: says when and not what; give one of scale, rollout"},
    {EVENT("{rollout: {deployment: a}}"), "spec.events[0]: says what and not when; give at, every or rate"},
    {EVENT("{at: 1m, rollout: {deployment: a}, failLaunch: {for: 1m}}"), "spec.events[0]: says 2 things"},
    {EVENT("{every: 1m, rate: 1/h, rollout: {deployment: a}}"), "give every (regularly) or rate (by chance)"},
    {EVENT("{at: 1m, until: 2m, rollout: {deployment: a}}"), "until: is of use with every or rate alone"},
    {EVENT("{rate: often, rollout: {deployment: a}}"), "rate: \"often\" is no rate like 5/h or 2/24h"},
    {EVENT("{rate: 0/h, rollout: {deployment: a}}"), "rate: \"0/h\" is no rate"},
    {EVENT("{rate: 5000/s, rollout: {deployment: a}}"), "rate: \"5000/s\" is more than 1000 a second"},
    {EVENT("{at: 1m, scale: {deployment: a}}"), "spec.events[0].scale: give replicas"},
    {EVENT("{at: 1m, scale: {deployment: a, replicas: 1, by: 1}}"), "one of both"},
    {EVENT("{at: 1m, scale: {deployment: a, replicas: -1}}"), "scale.replicas: cannot be negative"},
    {EVENT("{at: 1m, scale: {replicas: 1}}"), "scale: give deployment or statefulSet, one of both"},
    {EVENT("{at: 1m, rollout: {}}"), "rollout: give deployment or statefulSet, one of both"},
    {EVENT("{at: 1m, rollout: {deployment: a, statefulSet: a}}"), "rollout: give deployment or statefulSet, one of both"},
    {EVENT("{at: 1m, restart: {deployment: a, statefulSet: a, pods: 1}}"),
     "restart: give deployment or statefulSet, one of both"},
    {EVENT("{at: 1m, rollout: {statefulSet: shop/db}}") DEPLOYMENT("1"),
     "spec.events[0].rollout.statefulSet: there is no StatefulSet shop/db"},
    {EVENT("{at: 1m, delete: {kind: Spaceship, name: a}}"), "delete.kind: \"Spaceship\" is no kind that the cluster has"},
    {EVENT("{at: 1m, restart: {pods: some}}"), "restart.pods: \"some\" is neither a count nor a share like 1%"},
    {EVENT("{at: 1m, restart: {pods: 1.5}}"), "restart.pods: \"1.5\" is neither a count nor a share"},
    {EVENT("{at: 1m, restart: {pods: 101%}}"), "restart.pods: \"101%\" is neither a count nor a share"},
    {EVENT("{at: 1m, price: {zone: a}}"), "price: give factor (of the listed price) or vary"},
    {EVENT("{at: 1m, price: {vary: 5}}"), "price.vary: has to be a share like 5%"},
    {EVENT("{at: 1m, price: {factor: -1}}"), "price.factor: has to be a number from 0 to a million"},
    {EVENT("{at: 1m, stockout: {zone: a}}"), "stockout.for: is missing"},
    {EVENT("{at: 1m, price: {capacityType: spott, factor: 2}}"),
     "Scenario s: spec.events[0].price: no instance type has such an offering"},
    {EVENT("{at: 1m, scale: {deployment: shop/web, replicas: 1}}"),
     "Scenario s: spec.events[0].scale.deployment: there is no Deployment shop/web"},
    {EVENT("{at: 1m, restart: {deployment: web, pods: 1}}"),
     "spec.events[0].restart.deployment: there is no Deployment default/web"},
};

static void mistakes_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        struct outcome o = run(mistakes[i].scenario, NULL);
        if (o.status != 2 || strstr(o.text, mistakes[i].want) == NULL || strstr(o.text, "price-hours") != NULL)
            fail_msg("%s: status %d, %s", mistakes[i].want, o.status, o.text);
    }
}

static void flags_are_told(void **state)
{
    (void)state;
    static const char *const unnamed[] = {"--log", NULL}, *const gone[] = {"/no/such.yaml", NULL};
    struct outcome o = run_command(command_simulate, "", unnamed);
    assert_int_equal(o.status, 2);
    assert_string_equal(o.text, "stowage simulate: no scenario; name its file first: stowage simulate SCENARIO "
                                "(docs/simulate.md)\n");
    o = run_command(command_simulate, "", gone);
    assert_int_equal(o.status, 2);
    assert_non_null(strstr(o.text, "nothing simulated"));
    o = run(HEAD, (const char *const[]){"--report", "/no/such/dir/r.html", NULL});
    assert_int_equal(o.status, 2);
    assert_non_null(strstr(o.text, "--report: /no/such/dir/r.html cannot be written: No such file or directory"));
}

/* ---- sums ---- */

#define PRICE (4 * 0.025 + 8 * 1.073741824 * 0.001) /* of c-4x-amd64-linux on demand: 4 CPUs, 8 GiB (spec api 7.6) */

static void near(double is, double wanted)
{
    if (is < wanted - 1e-9 || is > wanted + 1e-9)
        fail_msg("%.12g, wanted %.12g", is, wanted);
}

static double number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (at == NULL)
        fail_msg("no %s in %s", key, text);
    return strtod(at + strlen(key), NULL);
}

#define NODE(name)                                                                                 \
    "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " name "\n  labels: "                     \
    "{node.kubernetes.io/instance-type: c-4x-amd64-linux, topology.kubernetes.io/zone: test-zone-a, " \
    "karpenter.sh/capacity-type: on-demand}\nspec: {providerID: kwok://" name "}\n"

/* Two machines at PRICE an hour each, for an hour: the script plays no part, the pool buys nothing. */
static void two_nodes_for_an_hour(void **state)
{
    (void)state;
    struct outcome o = run(HEAD NODE("a") NODE("b"), (const char *const[]){"-o=json", NULL});
    assert_int_equal(o.status, 0);
    near(number_after(o.text, "\"priceHours\": "), 2 * PRICE);
    near(number_after(o.text, "\"mean\": "), 2);
    near(number_after(o.text, "\"launched\": "), 0);
    near(number_after(o.text, "\"podsBound\": "), 0);
}

/* Half the hour at the listed price and half at three times as much; one of two is gone after 15 minutes. */
static void prices_and_losses_count_from_when_they_happen(void **state)
{
    (void)state;
    struct outcome o = run(EVENT("{at: 30m, price: {capacityType: on-demand, factor: 3}}") NODE("a"),
                           (const char *const[]){"-o=json", NULL});
    near(number_after(o.text, "\"priceHours\": "), 2 * PRICE);
    near(number_after(o.text, "\"last\": "), 3 * PRICE);
    o = run(EVENT("{at: 15m, interrupt: {nodes: 1, notice: 0s}}") NODE("a") NODE("b"),
            (const char *const[]){"-o=json", NULL});
    near(number_after(o.text, "\"priceHours\": "), 1.25 * PRICE);
}

#define SHOP(event, replicas) EVENT(event) POOL DEPLOYMENT(replicas)

/* A machine is paid for until it is empty for long enough and gone: an hour less a few seconds is not. */
static void machines_are_paid_for_as_long_as_they_are_there(void **state)
{
    (void)state;
    struct outcome o = run(SHOP("{at: 10m, scale: {deployment: shop/web, by: 2, for: 20m}}", "0"),
                           (const char *const[]){"-o=json", NULL});
    double most = number_after(o.text, "\"max\": "), sum = number_after(o.text, "\"priceHours\": ");
    assert_int_equal(o.status, 0);
    near(number_after(o.text, "\"podsBound\": "), 2);
    near(number_after(o.text, "\"empty\": "), number_after(o.text, "\"launched\": "));
    assert_true(sum > most * 20 / 60 && sum < most * 22 / 60);
}

static void what_finds_no_place_is_status_1(void **state)
{
    (void)state;
    struct outcome o = run(HEAD DEPLOYMENT("3"), (const char *const[]){"-o=json", NULL});
    assert_int_equal(o.status, 1);
    near(number_after(o.text, "\"podsWaiting\": "), 3);
}

/* ---- what happens to machines ---- */

static const struct {
    const char *event, *logged, *summed;
} troubles[] = {
    {"{at: 0s, failLaunch: {for: 10m}}", "launches fail for 10m0s", "\"launchesFailed\": "},
    {"{at: 0s, neverRegisters: {for: 10m}}", "machines that are launched never register for 10m0s", "\"launched\": "},
    {"{at: 0s, stockout: {capacityType: spot, for: 59m}}", "of spot, for 59m0s", "\"launched\": "},
    {"{at: 20m, interrupt: {capacityType: spot}}", " is taken away in 120 s", "\"launched\": "},
    {"{at: 20m, delete: {kind: Deployment, namespace: shop, name: web}}", "Deployment web", "\"launched\": "},
    {"{every: 10m, restart: {deployment: shop/web, pods: 50%}}", "2 pods are deleted, of 4", "\"launched\": "},
    {"{at: 20m, rollout: {deployment: shop/web}}", "Deployment shop/web", "\"launched\": "},
};

/* Whatever happens, in the end all pods run; and it is in the log. */
static void pods_run_in_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(troubles); i++) {
        char text[4096];
        snprintf(text, sizeof text, HEAD "  events:\n  - %s\n" POOL DEPLOYMENT("4"), troubles[i].event);
        struct outcome o = run(text, (const char *const[]){"-o=json", "--log", NULL});
        if (o.status != 0 || strstr(o.text, troubles[i].logged) == NULL ||
            number_after(o.text, troubles[i].summed) <= 0)
            fail_msg("%s: status %d, %s", troubles[i].event, o.status, o.text);
    }
}

#define STATEFUL_SET                                                                               \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: disks}\nprovisioner: d\n" \
    "volumeBindingMode: WaitForFirstConsumer\n"                                                    \
    "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\n"         \
    "spec:\n  replicas: 3\n  selector: {matchLabels: {app: db}}\n"                                 \
    "  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: disks}}]\n"        \
    "  updateStrategy: {type: RollingUpdate}\n"                                                   \
    "  template:\n    metadata: {labels: {app: db}}\n    spec:\n      containers:\n"                \
    "      - {name: c, image: x, resources: {requests: {cpu: \"3\", memory: 1Gi}}}\n"

static const struct {
    const char *event, *logged;
    double bound;
} of_sets[] = {
    {"{at: 20m, scale: {statefulSet: shop/db, by: 2}}", "StatefulSet shop/db from 3 to 5 pods", 5},
    {"{at: 20m, rollout: {statefulSet: shop/db}}", "rollout   StatefulSet shop/db", 6},
    {"{at: 20m, restart: {statefulSet: shop/db, pods: 2}}", "2 pods are deleted, of 3", 5},
};

/* Their pods come, each with a claim, and a machine for whoever has to stay in its zone; and the acts reach them alone. */
static void stateful_sets_are_played(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(of_sets); i++) {
        char text[4096];
        snprintf(text, sizeof text, HEAD "  events:\n  - %s\n" POOL STATEFUL_SET, of_sets[i].event);
        struct outcome o = run(text, (const char *const[]){"-o=json", "--log", NULL});
        if (o.status != 0 || strstr(o.text, of_sets[i].logged) == NULL || strstr(o.text, "warning") != NULL)
            fail_msg("%s: status %d, %s", of_sets[i].event, o.status, o.text);
        near(number_after(o.text, "\"podsBound\": "), of_sets[i].bound);
    }
}

/* What no API server would take is told with its field, and not played. */
static void wrong_stateful_sets_are_told(void **state)
{
    static const struct {
        const char *from, *to, *want;
    } rows[] = {
        {"{type: RollingUpdate}", "{type: Rolling}",
         "StatefulSet shop/db: spec.updateStrategy.type: \"Rolling\" is neither RollingUpdate nor OnDelete"},
        {"{type: RollingUpdate}", "{type: OnDelete, rollingUpdate: {partition: 1}}",
         "spec.updateStrategy.rollingUpdate: is of use with type RollingUpdate alone; leave it out"},
        {"{type: RollingUpdate}", "{rollingUpdate: {partition: -1}}",
         "spec.updateStrategy.rollingUpdate.partition: has to be a whole number from 0 on"},
        {"{type: RollingUpdate}", "{rollingUpdate: {partition: \"1\"}}",
         "spec.updateStrategy.rollingUpdate.partition: has to be a whole number from 0 on"},
        {"updateStrategy: {type: RollingUpdate}", "podManagementPolicy: Ordered",
         "spec.podManagementPolicy: \"Ordered\" is neither OrderedReady nor Parallel"},
        {"updateStrategy: {type: RollingUpdate}", "ordinals: {start: 1.5}",
         "spec.ordinals.start: has to be a whole number from 0 on"},
        {"metadata: {name: data}, ", "",
         "spec.volumeClaimTemplates[0].metadata: has no name, after which the pods' claims are named"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[4096];
        static const char whole[] = HEAD POOL STATEFUL_SET;
        const char *at = strstr(whole, rows[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, rows[i].to, at + strlen(rows[i].from));
        struct outcome o = run(text, (const char *const[]){"-o=json", NULL});
        if (strstr(o.text, rows[i].want) == NULL)
            fail_msg("%s: status %d, %s", rows[i].want, o.status, o.text);
        near(number_after(o.text, "\"podsBound\": "), 0);
    }
}

/* ---- a seed is a run ---- */

#define CHANCE(seed)                                                                               \
    HEAD "  seed: " seed "\n  events:\n  - {rate: 12/h, restart: {pods: 1}}\n"                    \
    "  - {rate: 4/h, scale: {deployment: shop/web, by: 6, for: 5m}}\n"                             \
    "  - {every: 20m, price: {vary: 20%}}\n" POOL DEPLOYMENT("4")

static void the_same_seed_gives_the_same_log(void **state)
{
    (void)state;
    static const char *const args[] = {"--log", "--compare=karpenter", NULL};
    struct outcome first = run(CHANCE("7"), args), again = run(CHANCE("7"), args), other = run(CHANCE("8"), args);
    assert_int_equal(first.status, 0);
    assert_non_null(strstr(first.text, "  restart   1 pods are deleted, of "));
    assert_string_equal(first.text, again.text);
    assert_string_not_equal(first.text, other.text);
}

/* ---- compared ---- */

static void compared_with_karpenter(void **state)
{
    (void)state;
    struct outcome o = run(CHANCE("7"), (const char *const[]){"--compare", "karpenter", "-o=json", NULL});
    const char *second = strstr(o.text, "\"search\": \"greedy\"");
    assert_non_null(strstr(o.text, "\"search\": \"cheapest\""));
    assert_non_null(second);
    assert_true(number_after(second, "\"priceHours\": ") > 0);
    struct outcome greedy = run(CHANCE("7"), (const char *const[]){"--search=greedy", "-o=json", NULL});
    near(number_after(greedy.text, "\"priceHours\": "), number_after(second, "\"priceHours\": "));
    o = run(CHANCE("7"), (const char *const[]){"--compare=karpenter", NULL});
    assert_non_null(strstr(o.text, "STOWAGE  KARPENTER  DIFFERENCE"));
}

/* ---- the report ---- */

static void the_report_needs_nothing_else(void **state)
{
    (void)state;
    static const char *const assets[] = {"http:", "https:", "src=", "href=", "@import", "url("};
    char path[] = "/tmp/stowage-report-XXXXXX", flag[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(flag, sizeof flag, "--report=%s", path);
    struct outcome o = run(CHANCE("7"), (const char *const[]){"--compare=karpenter", flag, NULL});
    assert_int_equal(o.status, 0);
    FILE *f = fopen(path, "r");
    static char page[1 << 20];
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    fclose(f);
    unlink(path);
    assert_non_null(strstr(page, "<h2>Price an hour</h2>"));
    assert_non_null(strstr(page, "<h2>Nodes</h2>"));
    assert_non_null(strstr(page, "price-hours"));
    assert_non_null(strstr(page, "<polyline class=\"b\"")); /* the other run */
    assert_non_null(strstr(page, "</html>"));
    assert_null(strstr(page, "nan"));
    for (size_t i = 0; i < COUNT_OF(assets); i++)
        if (strstr(page, assets[i]) != NULL)
            fail_msg("%s is asked for", assets[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(flags_are_told),
        cmocka_unit_test(two_nodes_for_an_hour),
        cmocka_unit_test(prices_and_losses_count_from_when_they_happen),
        cmocka_unit_test(machines_are_paid_for_as_long_as_they_are_there),
        cmocka_unit_test(what_finds_no_place_is_status_1),
        cmocka_unit_test(pods_run_in_the_end),
        cmocka_unit_test(stateful_sets_are_played),
        cmocka_unit_test(wrong_stateful_sets_are_told),
        cmocka_unit_test(the_same_seed_gives_the_same_log),
        cmocka_unit_test(compared_with_karpenter),
        cmocka_unit_test(the_report_needs_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
