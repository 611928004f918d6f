/* Workloads in files stand for their pods: which, how many, and what they are like. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "server/command.h"
#include "support_command.h"

static struct outcome plan(const char *objects)
{
    return run_command(command_plan, objects, (const char *const[COMMAND_ARGS_MAX]){"-f", "{}"});
}

static struct outcome plan_with(const char *objects, const char *flag)
{
    return run_command(command_plan, objects,
                       (const char *const[COMMAND_ARGS_MAX]){"-f", "{}", flag, "-o", "json", "--max-instance-types=1"});
}

static void expect_text(const char *label, const struct outcome *o, const char *want)
{
    if (strstr(o->text, want) == NULL)
        fail_msg("%s: no \"%s\" in: status %d, %s", label, want, o->status, o->text);
}

static void expect_none(const char *label, const struct outcome *o, const char *unwanted)
{
    if (strstr(o->text, unwanted) != NULL)
        fail_msg("%s: \"%s\" in: status %d, %s", label, unwanted, o->status, o->text);
}

#define POOL                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n"         \
    "  template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: "        \
    "KWOKNodeClass, name: default}}}\n"
#define SPEC(cpu) "spec: {containers: [{name: c, resources: {requests: {cpu: " cpu "}}}]}"
#define TEMPLATE "template: {metadata: {labels: {app: web}}, " SPEC("2") "}"
#define SELECTOR "selector: {matchLabels: {app: web}}, "
#define OBJECT(api, kind, name, spec)                                                              \
    "---\napiVersion: " api "\nkind: " kind "\nmetadata: {name: " name ", namespace: shop}\nspec: {" spec "}\n"
#define DEPLOYMENT(name, replicas) OBJECT("apps/v1", "Deployment", name, "replicas: " replicas ", " SELECTOR TEMPLATE)
#define JOB(name, spec) OBJECT("batch/v1", "Job", name, spec TEMPLATE)
#define CRON_JOB(name, spec, job) OBJECT("batch/v1", "CronJob", name, spec "jobTemplate: {spec: {" job TEMPLATE "}}")
#define OWNED(by, name) "ownerReferences: [{apiVersion: apps/v1, kind: " by ", name: " name ", uid: u, controller: true}]"
#define POD(name, meta, rest)                                                                      \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, " meta "}\n" rest
#define RUNNING "spec: {nodeName: n1}\nstatus: {phase: Running}\n"
#define WAITING SPEC("2") "\nstatus: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
#define SET(name, meta, replicas)                                                                  \
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " name ", namespace: shop, " meta "}\n" \
    "spec: {replicas: " replicas ", " SELECTOR TEMPLATE "}\n"

/* --- how many --- */

static void each_kind_stands_for_its_pods(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *want, *warning;
    } rows[] = {
        {"Deployment", DEPLOYMENT("web", "3"), "3 pods wait:", "3 pods are made up", },
        {"a namespace is default",
         "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {" SELECTOR TEMPLATE "}\n",
         "1 pod waits:", "1 pod is made up for workloads whose pods are not in the input: "
         "Deployment default/web 1; --no-expand leaves it out"},
        {"StatefulSet", OBJECT("apps/v1", "StatefulSet", "db", "replicas: 2, " SELECTOR TEMPLATE), "2 pods wait:",
         "StatefulSet shop/db 2"},
        {"ReplicaSet", SET("web", "", "2"), "2 pods wait:", "ReplicaSet shop/web 2"},
        {"ReplicationController",
         OBJECT("v1", "ReplicationController", "web", "replicas: 2, selector: {app: web}, " TEMPLATE),
         "2 pods wait:", "ReplicationController shop/web 2"},
        {"Job", JOB("once", ""), "1 pod waits:", "Job shop/once 1"},
        {"Job, side by side", JOB("j", "parallelism: 3, completions: 10, "), "3 pods wait:", "Job shop/j 3"},
        {"Job, few left", JOB("j", "parallelism: 3, completions: 2, "), "2 pods wait:", "Job shop/j 2"},
        {"Job, a queue's", JOB("j", "parallelism: 4, "), "4 pods wait:", "Job shop/j 4"},
        {"PodTemplate",
         "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: one, namespace: shop}\n" TEMPLATE "\n",
         "1 pod waits:", "PodTemplate shop/one 1"},
        {"two workloads", DEPLOYMENT("web", "3") JOB("once", ""), "4 pods wait:",
         "4 pods are made up for workloads whose pods are not in the input: Deployment shop/web 3, Job shop/once 1; "
         "--no-expand leaves them out"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char objects[4096];
        snprintf(objects, sizeof(objects), "%s%s", POOL, rows[i].objects);
        struct outcome o = plan(objects);
        if (o.status != 0)
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, rows[i].want);
        expect_text(rows[i].label, &o, "warning: ");
        expect_text(rows[i].label, &o, rows[i].warning);
    }
}

static void some_stand_for_none(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects;
    } rows[] = {
        {"scaled to none", DEPLOYMENT("web", "0")},
        {"suspended Job", JOB("j", "suspend: true, ")},
        {"finished Job", "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: shop}\nspec: {" TEMPLATE
                         "}\nstatus: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}\n"},
        {"failed Job", "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: shop}\nspec: {" TEMPLATE
                       "}\nstatus: {failed: 1, conditions: [{type: Failed, status: 'True'}]}\n"},
        {"going", "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, "
                  "deletionTimestamp: '2026-01-01T00:00:00Z'}\nspec: {" SELECTOR TEMPLATE "}\n"},
        {"DaemonSet", OBJECT("apps/v1", "DaemonSet", "d", SELECTOR TEMPLATE)},
        {"CronJob", CRON_JOB("c", "schedule: '@daily', ", "")},
        {"a live Deployment", DEPLOYMENT("web", "2") SET("web-5f6d8", OWNED("Deployment", "web"), "2")
                                  POD("web-5f6d8-a", OWNED("ReplicaSet", "web-5f6d8"), RUNNING)
                                      POD("web-5f6d8-b", OWNED("ReplicaSet", "web-5f6d8"), RUNNING)},
        {"without its ReplicaSet", DEPLOYMENT("web", "1") POD("web-5f6d8-a", OWNED("ReplicaSet", "web-5f6d8"), RUNNING)},
        {"a rollout", DEPLOYMENT("web", "2") SET("web-1", OWNED("Deployment", "web"), "1")
                          SET("web-2", OWNED("Deployment", "web"), "1")
                              POD("web-1-a", OWNED("ReplicaSet", "web-1"), RUNNING)
                                  POD("web-2-b", OWNED("ReplicaSet", "web-2"), RUNNING)},
        {"pods without their owner", DEPLOYMENT("web", "1") POD("w", "labels: {app: web}", RUNNING)},
        {"a Job at work", JOB("j", "parallelism: 2, ") POD("j-a", OWNED("Job", "j"), RUNNING)
                              POD("j-b", OWNED("Job", "j"), RUNNING)},
        {"a PodTemplate that a buffer points at",
         "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: one, namespace: shop}\n" TEMPLATE "\n"
         OBJECT("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "b", "podTemplateRef: {name: one}, replicas: 1")},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char objects[4096];
        snprintf(objects, sizeof(objects), "%s%s", POOL, rows[i].objects);
        struct outcome o = plan(objects);
        if (o.status != 0)
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, "Nothing waits.");
        expect_none(rows[i].label, &o, "made up");
    }
}

/* In the middle of whatever: the cluster knows better than its numbers. */
static void a_dump_is_planned_as_it_is(void **state)
{
    (void)state;
    struct outcome o = plan(POOL DEPLOYMENT("web", "5") SET("web-5f6d8", OWNED("Deployment", "web"), "2")
                                POD("web-5f6d8-a", OWNED("ReplicaSet", "web-5f6d8"), RUNNING)
                                    POD("web-5f6d8-b", OWNED("ReplicaSet", "web-5f6d8"), WAITING));
    expect_text("one waits", &o, "1 pod waits:");
    expect_none("none is made", &o, "made up");
    o = plan(POOL SET("web", "", "1") POD("web-a", OWNED("ReplicaSet", "web"), "status: {phase: Failed}\n"));
    expect_none("what has failed was there", &o, "made up");
    o = plan_with(POOL OBJECT("apps/v1", "StatefulSet", "db", "replicas: 3, " SELECTOR TEMPLATE) POD("db-1", "", RUNNING),
                  "--no-expand=false");
    expect_text("a stranger of its name", &o, "\"shop/db-0\"");
    expect_text("a stranger of its name", &o, "StatefulSet shop/db 2");
    expect_none("a stranger of its name", &o, "\"shop/db-1\"");
}

static void cron_jobs_run_when_asked(void **state)
{
    (void)state;
    static const char cron[] = POOL CRON_JOB("night", "schedule: '@daily', ", "parallelism: 2, ");
    struct outcome o = plan(cron);
    expect_text("not asked", &o, "warning: 1 CronJob stands for no pods; --include-cronjobs plans a run of it\n");
    o = plan_with(cron, "--include-cronjobs");
    expect_text("asked", &o, "CronJob shop/night 2");
    expect_text("its pods", &o, "\"shop/night-0-0\"");
    o = plan_with(POOL CRON_JOB("night", "schedule: '@daily', suspend: true, ", ""), "--include-cronjobs");
    expect_none("suspended", &o, "CronJob");
    o = plan_with(POOL CRON_JOB("night", "schedule: '@daily', ", "")
                      POD("night-0-a", OWNED("Job", "night-0"), "status: {phase: Succeeded}\n"),
                  "--include-cronjobs");
    expect_text("it ran before", &o, "CronJob shop/night 1");
    o = plan_with(POOL CRON_JOB("night", "schedule: '@daily', ", "")
                      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: night-1, namespace: shop, "
                      OWNED("CronJob", "night") "}\nspec: {" TEMPLATE "}\n"
                      POD("night-1-a", OWNED("Job", "night-1"), RUNNING),
                  "--include-cronjobs");
    expect_none("at work", &o, "made up");
}

static void the_bound_is_told(void **state)
{
    (void)state;
    struct outcome o = plan(POOL DEPLOYMENT("huge", "5000000") DEPLOYMENT("web", "2"));
    expect_text("the others are planned", &o, "2 pods wait:");
    expect_text("by name", &o, "Deployment shop/huge: spec.replicas asks for 5000000 pods; all workloads together may "
                               "stand for 150000; it is set aside");
    assert_int_equal(o.status, 1);
    o = plan(POOL JOB("huge", "parallelism: 2000000000, "));
    expect_text("of a Job", &o, "Job shop/huge: spec.parallelism asks for 2000000000 pods");
}

static void as_before_without_expanding(void **state)
{
    (void)state;
    struct outcome o = plan_with(POOL DEPLOYMENT("web", "3") JOB("j", ""), "--no-expand");
    assert_int_equal(o.status, 0);
    expect_text("told", &o, "warning: 1 Deployment has no pods in the input; only pods are planned\n");
    expect_text("told, too", &o, "warning: 1 Job has no pods in the input; only pods are planned\n");
    expect_none("none", &o, "made up");
    o = plan_with(DEPLOYMENT("web", "1") POD("web-5f6d8-a", OWNED("ReplicaSet", "web-5f6d8"), RUNNING), "--no-expand");
    expect_none("there", &o, "only pods");
}

/* --- what they are like --- */

static void they_are_like_a_controllers(void **state)
{
    (void)state;
    /* One a zone, by the template's own label and by what a controller adds. */
    struct outcome o = plan_with(
        POOL OBJECT("batch/v1", "Job", "j",
                    "parallelism: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}], "
                    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                    "kubernetes.io/hostname, labelSelector: {matchLabels: {job-name: j}}}]}}}}"),
        "--now=2026-10-10T12:00:00Z");
    expect_text("a Job's", &o, "\"shop/j-0\"\n");
    expect_text("apart", &o, "\"general-2\"");
    o = run_command(command_explain, POOL OBJECT("apps/v1", "StatefulSet", "db", SELECTOR TEMPLATE),
                    (const char *const[COMMAND_ARGS_MAX]){"pod", "shop/db-0", "-f", "{}"});
    assert_int_equal(o.status, 0);
    expect_text("explain", &o, "StatefulSet shop/db 1");
    expect_none("explain", &o, "--all-unbound");
    o = plan_with(POOL DEPLOYMENT("web", "2"), "--search=greedy");
    struct outcome again = plan_with(POOL DEPLOYMENT("web", "2"), "--search=greedy");
    assert_string_equal(o.text, again.text);
    expect_text("under a ReplicaSet's name", &o, "\"shop/web-");
}

/* As of pods that are there: the ReplicaSet's selector is the default spread's. */
static void default_spreads_find_their_fellows(void **state)
{
    (void)state;
    struct outcome o = run_command(
        command_plan, POOL DEPLOYMENT("web", "3"),
        (const char *const[COMMAND_ARGS_MAX]){
            "-f", "{}", "-o", "json", "--max-instance-types=1", "--scheduler-config",
            "{podTopologySpread: {defaultConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
            "whenUnsatisfiable: DoNotSchedule}]}}"});
    expect_text("three nodes", &o, "\"general-3\"");
}

#define CLASS                                                                                      \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: zonal, annotations: " \
    "{storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: ebs.csi.aws.com\n"       \
    "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: [{matchLabelExpressions: [{key: " \
    "topology.kubernetes.io/zone, values: [test-zone-b]}]}]\n"
#define CLAIMED(spec)                                                                              \
    OBJECT("apps/v1", "StatefulSet", "db", "replicas: 2, " SELECTOR TEMPLATE                       \
           ", volumeClaimTemplates: [{metadata: {name: data}, spec: {" spec "}}]")

static void claims_are_made_with_them(void **state)
{
    (void)state;
    struct outcome o = plan_with(POOL CLASS CLAIMED("storageClassName: zonal"), "--now=2026-10-10T12:00:00Z");
    assert_int_equal(o.status, 0);
    expect_text("where the class allows it", &o, "test-zone-b");
    expect_none("where the class allows it", &o, "test-zone-a");
    o = plan_with(POOL CLASS CLAIMED(""), "--now=2026-10-10T12:00:00Z");
    expect_text("the default class", &o, "test-zone-b");
    expect_none("the default class", &o, "test-zone-a");
    o = plan(POOL CLAIMED("storageClassName: other"));
    assert_int_equal(o.status, 0);
    expect_text("no such class", &o, "2 pods wait:");
    expect_text("no such class", &o, "StatefulSet shop/db: StorageClass other of its claims is not in the input, or "
                                     "binds at once; its pods are planned without these volumes");
}

/* --- another number --- */

#define STATEFUL(name, replicas) OBJECT("apps/v1", "StatefulSet", name, "replicas: " replicas ", " SELECTOR TEMPLATE)

static void another_number_is_tried(void **state)
{
    (void)state;
#define RUNS(name, second)                                                                         \
    POD(name, "labels: {app: web}, creationTimestamp: '2026-01-01T00:00:0" second "Z', " OWNED("ReplicaSet", "web-5f6d8"), \
        "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n")
#define WAITS(name)                                                                                \
    POD(name, "labels: {app: web}, creationTimestamp: '2026-01-01T00:00:01Z', " OWNED("ReplicaSet", "web-5f6d8"), WAITING)
#define FLEET                                                                                      \
    POOL DEPLOYMENT("web", "3") SET("web-5f6d8", OWNED("Deployment", "web"), "3")                  \
    RUNS("web-5f6d8-a", "1") RUNS("web-5f6d8-b", "2") WAITS("web-5f6d8-c")                         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 2, pods: 10}}\n"
#define DB(name)                                                                                   \
    POD(name, "labels: {app: db}, " OWNED("StatefulSet", "db"), "spec: {nodeName: n1}\nstatus: {phase: Running}\n")
    static const struct {
        const char *objects, *flag;
        int status;
        const char *want, *not;
    } rows[] = {
        {FLEET, "--replicas=web=5", 0, "Deployment shop/web 2", "left out"},
        {FLEET, "--replicas=shop/web=5", 0, "\"shop/web-5f6d8-1\"", "web-5f6d8-2"},
        {FLEET, "--replicas=web=3", 0, "\"shop/web-5f6d8-c\"", "made up"},
        {FLEET, "--replicas=web=2", 0, "1 of the 3 pods of Deployment shop/web is left out", "web-5f6d8-c"},
        {FLEET, "--replicas=web=0", 0, "3 of the 3 pods of Deployment shop/web are left out", "made up"},
        {POOL DEPLOYMENT("web", "3"), "--replicas=web=1", 0, "Deployment shop/web 1", "left out"},
        {POOL STATEFUL("db", "2") DB("db-0") DB("db-1"), "--replicas=db=3", 0, "\"shop/db-2\"", "db-3"},
        {FLEET, "--replicas=wbe=5", 2, "--replicas: there is no Deployment, StatefulSet, ReplicaSet or "
         "ReplicationController \"wbe\" in the input; did you mean \"web\"?", "{"},
        {FLEET, "--replicas=web-5f6d8=5", 2, "\"web-5f6d8\" in the input", "{"}, /* the Deployment's */
        {FLEET STATEFUL("web", "1"), "--replicas=web=5", 2, "--replicas: \"web\" is both Deployment shop/web and "
         "StatefulSet shop/web; say NAMESPACE/NAME", "{"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan_with(rows[i].objects, rows[i].flag);
        if (o.status != rows[i].status)
            fail_msg("%s: status %d, %s", rows[i].flag, o.status, o.text);
        expect_text(rows[i].flag, &o, rows[i].want);
        expect_none(rows[i].flag, &o, rows[i].not);
    }
    struct outcome o = run_command(command_plan, FLEET, (const char *const[COMMAND_ARGS_MAX]){"-f", "{}", "--no-expand",
                                                                                              "--replicas=web=5"});
    assert_int_equal(o.status, 2);
    expect_text("with --no-expand", &o, "--replicas makes pods up, and --no-expand makes none; keep one");
}

/* Of a StatefulSet the last go, however old they are; of others those without a node, then the youngest. */
static void who_goes_is_whom_a_controller_would_end(void **state)
{
    (void)state;
    static const struct {
        const char *objects, *flag, *stays, *goes;
    } rows[] = {
        {FLEET, "--replicas=web=1", "shop/web-5f6d8-a", "shop/web-5f6d8-b"},
        {POOL STATEFUL("db", "2") DB("db-0") DB("db-9") DB("db-10"), "--replicas=db=2", "shop/db-9", "shop/db-10"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) { /* whoever is still there is planned once more when its node goes */
        static const char node[] = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
        char objects[8192];
        snprintf(objects, sizeof(objects), "%s%s", rows[i].objects, i == 0 ? "" : node);
        struct outcome o = run_command(command_plan, objects,
                                       (const char *const[COMMAND_ARGS_MAX]){"-f", "{}", rows[i].flag, "-o", "json",
                                                                             "--max-instance-types=1", "--remove=n1"});
        expect_text(rows[i].flag, &o, rows[i].stays);
        expect_none(rows[i].flag, &o, rows[i].goes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_stands_for_its_pods),
        cmocka_unit_test(some_stand_for_none),
        cmocka_unit_test(a_dump_is_planned_as_it_is),
        cmocka_unit_test(cron_jobs_run_when_asked),
        cmocka_unit_test(the_bound_is_told),
        cmocka_unit_test(as_before_without_expanding),
        cmocka_unit_test(they_are_like_a_controllers),
        cmocka_unit_test(default_spreads_find_their_fellows),
        cmocka_unit_test(claims_are_made_with_them),
        cmocka_unit_test(another_number_is_tried),
        cmocka_unit_test(who_goes_is_whom_a_controller_would_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
