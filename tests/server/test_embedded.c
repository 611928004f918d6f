/* What `stowage serve --embedded -f` makes of files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "server/command.h"
#include "server/embedded.h"
#include "sim/sim.h"
#include "support_command.h"

/* --- refused before anything starts --- */

static void mistakes_are_told_as_plan_tells_them(void **state)
{
    (void)state;
    static const struct {
        const char *objects, *want;
    } rows[] = {
        {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w, namespace: shop}\n"
         "spec:\n  replicas: four\n",
         ":5: Deployment shop/w: spec.replicas: \"four\" is not an integer\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec:\n  containers:\n"
         "  - resources: {requests: {cpu: [1]}}\n",
         ":6: Pod shop/p: spec.containers[0].resources.requests.cpu: a list is not a quantity\n"},
        {"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g}\n"
         "spec: {disruption: {consolidateAfter: [5s]}}\n",
         ":4: NodePool g: spec.disruption.consolidateAfter: a list is not a duration"},
        {"a: [\n", ":2: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run_command(command_serve, rows[i].objects,
                                       (const char *const[COMMAND_ARGS_MAX]){"--embedded", "-f", "{}"});
        if (o.status != 2 || strstr(o.text, rows[i].want) == NULL ||
            strstr(o.text, "\nstowage serve: 1 mistake in 1 of 1 file; nothing started\n") == NULL)
            fail_msg("%s: status %d, %s", rows[i].objects, o.status, o.text);
    }
}

/* --- loaded --- */

struct loaded {
    struct sim *sim;
    struct buf log;
};

static void keep_line(void *user, enum log_level level, struct span line)
{
    (void)level;
    buf_add(user, line);
}

static int64_t no_time(void *user)
{
    (void)user;
    return 0;
}

static struct loaded load(const char *objects)
{
    struct loaded l = {.sim = sim_new(&(struct sim_options){.cluster = {.now = 0}})};
    struct log log = {.sink = keep_line, .user = &l.log, .now_ms = no_time, .level = LOG_INFO,
                      .format = LOG_JSON};
    char path[] = "/tmp/stowage-embedded-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, objects, strlen(objects)), strlen(objects));
    close(fd);
    const char *files[] = {path};
    struct options o = {.files = {files, 1}};
    struct err err = {0};
    if (!embedded_load(sim_cluster(l.sim), &o, &log, &err))
        fail_msg("%s", err.msg);
    unlink(path);
    buf_add_char(&l.log, '\0');
    return l;
}

static void release(struct loaded *l)
{
    sim_free(l->sim);
    buf_release(&l->log);
}

static void objects_reach_the_cluster(void **state)
{
    (void)state;
    struct loaded l = load(
        "apiVersion: v1\nkind: PodList\nitems:\n"
        "- {metadata: {name: a, namespace: shop}}\n"
        "- {metadata: {name: b}}\n"
        "- {metadata: {name: neg}, spec: {containers: [{resources: {requests: {cpu: -1}}}]}}\n"
        "- {metadata: {name: b}, status: {phase: Failed}}\n"
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n"
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\n"
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: w}\n");
    const struct sim_cluster *c = sim_cluster(l.sim);
    assert_int_equal(sim_cluster_count(c, KIND_POD), 2);
    assert_int_equal(sim_cluster_count_of(c, KIND_POD, "status.phase", "Failed"), 0);
    assert_int_equal(sim_cluster_count_of(c, KIND_NAMESPACE, "metadata.labels.team", "a"), 1);
    assert_int_equal(sim_cluster_count_of(c, KIND_NAMESPACE, "metadata.name", "shop"), 1);
    assert_int_equal(sim_cluster_count(c, KIND_DEPLOYMENT), 1);
    assert_non_null(strstr(l.log.ptr, "must not be negative; the object is set aside"));
    assert_non_null(strstr(l.log.ptr, "Pod default/b: "));
    assert_non_null(strstr(l.log.ptr, "1 object of other kinds passed over (ConfigMap)"));
    assert_null(strstr(l.log.ptr, "only pods are planned"));
    release(&l);
}

#define POOL_OF(name, kind, class)                                                                 \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name "}\n"                 \
    "spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: "   \
    kind ", name: " class "}}}}\n"
#define CLASS(name, delay)                                                                         \
    "---\napiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: " name      \
    "}\nspec: {nodeRegistrationDelay: " delay "}\n"

static void classes_that_pools_refer_to_are_made(void **state)
{
    (void)state;
    struct loaded l = load(POOL_OF("a", "KWOKNodeClass", "default") POOL_OF("b", "KWOKNodeClass", "default")
                               POOL_OF("c", "KWOKNodeClass", "own") CLASS("own", "7s")
                                   POOL_OF("d", "OtherNodeClass", "other"));
    const struct sim_cluster *c = sim_cluster(l.sim);
    assert_int_equal(sim_cluster_count(c, KIND_KWOK_NODE_CLASS), 2);
    assert_int_equal(sim_cluster_count_of(c, KIND_KWOK_NODE_CLASS, "spec.nodeRegistrationDelay", "7s"), 1);
    assert_non_null(strstr(l.log.ptr, "KWOKNodeClass default is not in the files: made, for NodePool a"));
    assert_null(strstr(l.log.ptr, "for NodePool b"));
    assert_non_null(strstr(l.log.ptr,
                           "NodePool d refers to OtherNodeClass other (karpenter.kwok.sh), which cannot be "
                           "served here: there are machines for KWOKNodeClass of karpenter.kwok.sh alone; "
                           "nothing is bought for the pool"));
    assert_null(strstr(l.log.ptr, "NodePool a refers"));
    release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told_as_plan_tells_them),
        cmocka_unit_test(objects_reach_the_cluster),
        cmocka_unit_test(classes_that_pools_refer_to_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
