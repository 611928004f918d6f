/* What is changed in Pods that ask for it: the patch as the API server gets it, byte for byte, and the warnings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"
#include "support_cluster.h"
#include "webhook/shape.h"

static const char CLUSTER[] =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {stowage.dev/nodepool: batch}}\n---\n"
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: typo, labels: {stowage.dev/nodepool: bacth}}\n---\n"
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: plain}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: batch}\n"
    "spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default},\n"
    "  taints: [{key: team, value: batch, effect: NoSchedule}, {key: slow, effect: PreferNoSchedule}],\n"
    "  startupTaints: [{key: boots, effect: NoSchedule}]}}}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: open}\n"
    "spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: shown-5c9f7-a, namespace: plain, uid: shown-a, labels: {pod-template-hash: 5c9f7},\n"
    "  annotations: {stowage.dev/on-demand-base: \"2\", stowage.dev/spot-percent: \"50\"}, ownerReferences:\n"
    "    [{apiVersion: apps/v1, kind: ReplicaSet, name: shown-5c9f7, uid: u, controller: true}]}\n"
    "spec: {containers: [{name: c}]}\n";

static struct sides *sides;
static mono_ms now;

static int setup(void **state)
{
    sides = sides_new();
    now = 1;
    *state = mem_new(sizeof(struct reviewed_cluster));
    cluster_open(*state, CLUSTER);
    return 0;
}

static int teardown(void **state)
{
    cluster_close(*state);
    sides_free(sides);
    free(*state);
    return 0;
}

#define REVIEW(ns, operation, sub, meta, spec) REVIEW_OF(ns, operation, sub, meta, spec, "default-scheduler")
#define REVIEW_OF(ns, operation, sub, meta, spec, scheduler)                                                                             \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"2f3c\","                   \
    "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"}," sub "\"operation\":\"" operation              \
    "\",\"namespace\":\"" ns "\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"generateName\":"        \
    "\"web-\"," meta "\"namespace\":\"" ns "\"},\"spec\":{" spec "\"containers\":[{\"name\":\"c\"}],"                       \
    "\"schedulerName\":\"" scheduler "\"}},\"oldObject\":null,\"dryRun\":false}}"
#define CREATE(ns, meta, spec) REVIEW(ns, "CREATE", "", meta, spec)
#define ASKS(name) "\"annotations\":{\"stowage.dev/nodepool\":\"" name "\"},"
#define SECOND "\"annotations\":{\"stowage.dev/scheduler\":\"second\"},"
#define SHAPED(what) "{\"op\":\"add\",\"path\":\"/metadata/annotations/stowage.dev~1shaped-by\",\"value\":\"" what "\"}"
#define SHAPED_FIRST(what)                                                                                                 \
    "{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{\"stowage.dev/shaped-by\":\"" what "\"}}"
#define SELECTOR                                                                                                           \
    "{\"op\":\"add\",\"path\":\"/spec/nodeSelector\",\"value\":{\"karpenter.sh/nodepool\":\"batch\"}},"
#define TEAM "{\"key\":\"team\",\"operator\":\"Equal\",\"value\":\"batch\",\"effect\":\"NoSchedule\"}"
#define SLOW "{\"key\":\"slow\",\"operator\":\"Exists\",\"effect\":\"PreferNoSchedule\"}"
#define TOLERATIONS "{\"op\":\"add\",\"path\":\"/spec/tolerations\",\"value\":[" TEAM "," SLOW "]},"
#define MORE(toleration) "{\"op\":\"add\",\"path\":\"/spec/tolerations/-\",\"value\":" toleration "},"
#define HAS_BOTH "\"tolerations\":[" TEAM "," SLOW "],"

struct answer {
    enum webhook_answer answer;
    struct span patch, warnings; /* decoded; one a line */
};

static struct answer ask(struct reviewed_cluster *f, const char *body, bool by_namespace, bool synced)
{
    struct answer out = {.patch = {"", 0}};
    struct shape_sources sources = {.snapshot = synced ? f->snapshot : NULL, .syms = f->syms, .sides = sides, .now = now, .by_namespace = by_namespace};
    struct err err;
    buf_clear(&f->reply);
    arena_clear(&f->arena);
    if (!webhook_shape(&f->scratch, &sources, span_of(body), &f->reply, &out.answer, &err))
        fail_msg("%s", err.msg);
    struct doc_value response = cluster_response(f, &out.warnings);
    struct span patch = doc_text_at(response, SPAN("patch"));
    assert_int_equal(patch.ptr != NULL, span_eq(doc_text_at(response, SPAN("patchType")), SPAN("JSONPatch")));
    if (patch.ptr != NULL)
        assert_true(base64_decode(&f->arena, patch, &out.patch));
    return out;
}

static void pods_are_shaped(void **state)
{
    struct reviewed_cluster *f = *state;
    static const struct {
        const char *label, *body;
        bool by_namespace;
        enum webhook_answer want;
        const char *patch, *warns; /* NULL: nothing */
    } rows[] = {
        {"by its namespace", CREATE("shop", "", ""), true, WEBHOOK_SHAPED,
         "[" SELECTOR TOLERATIONS SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"by itself", CREATE("plain", ASKS("batch"), ""), false, WEBHOOK_SHAPED,
         "[" SELECTOR TOLERATIONS SHAPED("nodepool=batch") "]", NULL},
        {"a pool without taints", CREATE("plain", ASKS("open"), ""), false, WEBHOOK_SHAPED,
         "[{\"op\":\"add\",\"path\":\"/spec/nodeSelector\",\"value\":{\"karpenter.sh/nodepool\":\"open\"}},"
         SHAPED("nodepool=open") "]", NULL},
        {"the Pod's word before its namespace's", CREATE("shop", ASKS("open"), ""), true, WEBHOOK_SHAPED,
         "[{\"op\":\"add\",\"path\":\"/spec/nodeSelector\",\"value\":{\"karpenter.sh/nodepool\":\"open\"}},"
         SHAPED("nodepool=open") "]", NULL},
        {"beside what it has", CREATE("shop", "\"annotations\":{\"a\":\"b\"},",
                                      "\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"key\":\"x\",\"operator\":\"Exists\"}],"),
         true, WEBHOOK_SHAPED,
         "[{\"op\":\"add\",\"path\":\"/spec/nodeSelector/karpenter.sh~1nodepool\",\"value\":\"batch\"}," MORE(TEAM) MORE(SLOW)
             SHAPED("nodepool=batch") "]", NULL},
        {"only what it does not tolerate", CREATE("shop", "", "\"tolerations\":[{\"key\":\"team\",\"operator\":\"Exists\"}],"), true,
         WEBHOOK_SHAPED, "[" SELECTOR MORE(SLOW) SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"who tolerates everything", CREATE("shop", "", "\"tolerations\":[{\"operator\":\"Exists\"}],"), true, WEBHOOK_SHAPED,
         "[" SELECTOR SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"empty and null parents", CREATE("shop", "\"annotations\":null,", "\"nodeSelector\":null,\"tolerations\":null,"), true,
         WEBHOOK_SHAPED, "[" SELECTOR TOLERATIONS SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"asked again", CREATE("shop", "\"annotations\":{\"stowage.dev/shaped-by\":\"nodepool=batch\"},",
                               "\"nodeSelector\":{\"karpenter.sh/nodepool\":\"batch\"}," HAS_BOTH), true, WEBHOOK_ALLOWED, NULL, NULL},
        {"asked again for more", CREATE("shop", "\"annotations\":{\"stowage.dev/shaped-by\":\"nodepool=batch\","
                                        "\"stowage.dev/scheduler\":\"second\"},",
                                        "\"nodeSelector\":{\"karpenter.sh/nodepool\":\"batch\"}," HAS_BOTH), true, WEBHOOK_SHAPED,
         "[{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"second\"}," SHAPED("nodepool=batch, scheduler=second") "]", NULL},
        {"its own selector of the same pool", CREATE("shop", "", "\"nodeSelector\":{\"karpenter.sh/nodepool\":\"batch\"},"), true,
         WEBHOOK_SHAPED, "[" TOLERATIONS SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"its own selector of another", CREATE("shop", "", "\"nodeSelector\":{\"karpenter.sh/nodepool\":\"open\"},"), true,
         WEBHOOK_ALLOWED, NULL, NULL},
        {"its own affinity", CREATE("shop", "",
                                    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
                                    "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"karpenter.sh/nodepool\","
                                    "\"operator\":\"NotIn\",\"values\":[\"batch\"]}]}]}}},"), true, WEBHOOK_ALLOWED, NULL, NULL},
        {"an affinity of another kind", CREATE("shop", "",
                                               "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
                                               "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":"
                                               "\"Exists\"}]}]}}},"), true, WEBHOOK_SHAPED,
         "[" SELECTOR TOLERATIONS SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"no such pool", CREATE("plain", ASKS("lost"), ""), false, WEBHOOK_UNSHAPED, NULL,
         "Pod web-: metadata.annotations[stowage.dev/nodepool]: there is no NodePool \"lost\"; it is admitted without that\n"},
        {"a misspelt one", CREATE("typo", "", ""), true, WEBHOOK_UNSHAPED, NULL,
         "Pod web-: label stowage.dev/nodepool of namespace typo: there is no NodePool \"bacth\", did you mean batch?; it is admitted "
         "without that\n"},
        {"a namespace that came just now", CREATE("young", "", ""), true, WEBHOOK_UNSHAPED, NULL,
         "Pod web-: label stowage.dev/nodepool of namespace young: Stowage has not heard of it yet; it is admitted without that\n"},
        {"a label that came just now", CREATE("plain", "", ""), true, WEBHOOK_UNSHAPED, NULL,
         "Pod web-: label stowage.dev/nodepool of namespace plain: Stowage has not heard of it yet; it is admitted without that\n"},
        {"another scheduler", CREATE("plain", SECOND, ""), false, WEBHOOK_SHAPED,
         "[{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"second\"}," SHAPED("scheduler=second") "]", NULL},
        {"both", CREATE("shop", SECOND, ""), true, WEBHOOK_SHAPED,
         "[" SELECTOR TOLERATIONS "{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"second\"},"
         SHAPED("nodepool=batch, scheduler=second") "]", NULL},
        {"one of both", CREATE("typo", SECOND, ""), true, WEBHOOK_UNSHAPED,
         "[{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"second\"}," SHAPED("scheduler=second") "]",
         "Pod web-: label stowage.dev/nodepool of namespace typo: there is no NodePool \"bacth\", did you mean batch?; it is admitted "
         "without that\n"},
        {"its own scheduler", REVIEW_OF("plain", "CREATE", "", SECOND, "", "mine"), false, WEBHOOK_ALLOWED, NULL, NULL},
        {"what others wrote of it", CREATE("shop", "\"annotations\":{\"stowage.dev/shaped-by\":\"nodepool=old\"},",
                                           "\"nodeSelector\":{\"karpenter.sh/nodepool\":\"batch\"}," HAS_BOTH), true, WEBHOOK_ALLOWED, NULL,
         NULL},
        {"no name of a scheduler", CREATE("plain", "\"annotations\":{\"stowage.dev/scheduler\":\"Not one\"},", ""), false,
         WEBHOOK_UNSHAPED, NULL,
         "Pod web-: metadata.annotations[stowage.dev/scheduler]: \"Not one\" is no scheduler's name; it is admitted without that\n"},
        {"what asks for nothing", CREATE("plain", "", ""), false, WEBHOOK_ALLOWED, NULL, NULL},
        {"an unreadable Pod", CREATE("shop", "", "\"tolerations\":3,"), true, WEBHOOK_UNSHAPED, NULL,
         "Pod web-: spec.tolerations: "},
        /* never */
        {"a DaemonSet's", CREATE("shop", "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"name\":\"d\","
                                 "\"uid\":\"u\",\"controller\":true}],", ""), true, WEBHOOK_NOT_OURS, NULL, NULL},
        {"a kubelet's", CREATE("shop", "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u\"}],", ""),
         true, WEBHOOK_NOT_OURS, NULL, NULL},
        {"one that has a node", CREATE("shop", "", "\"nodeName\":\"n1\","), true, WEBHOOK_NOT_OURS, NULL, NULL},
        {"what the cluster cannot live without", CREATE("shop", "", "\"priority\":2000000000,"), true, WEBHOOK_NOT_OURS, NULL, NULL},
        {"what is merely important", CREATE("shop", "", "\"priority\":1000000000,"), true, WEBHOOK_SHAPED,
         "[" SELECTOR TOLERATIONS SHAPED_FIRST("nodepool=batch") "]", NULL},
        {"in its host's network", CREATE("shop", "", "\"hostNetwork\":true,"), true, WEBHOOK_NOT_OURS, NULL, NULL},
        {"an update", REVIEW("shop", "UPDATE", "", "", ""), true, WEBHOOK_NOT_OURS, NULL, NULL},
        {"a part of a Pod", REVIEW("shop", "CREATE", "\"subResource\":\"binding\",", "", ""), true, WEBHOOK_NOT_OURS, NULL, NULL},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct answer got = ask(f, rows[r].body, rows[r].by_namespace, true);
        if (got.answer != rows[r].want)
            fail_msg("%s: %s", rows[r].label, webhook_answer_name(got.answer));
        if (!span_eq(got.patch, span_of(rows[r].patch == NULL ? "" : rows[r].patch)))
            fail_msg("%s: %.*s", rows[r].label, SPAN_ARG(got.patch));
        if (rows[r].warns == NULL ? got.warnings.len != 0 : !span_has_prefix(got.warnings, span_of(rows[r].warns)))
            fail_msg("%s: %.*s", rows[r].label, SPAN_ARG(got.warnings));
    }
}

/* Before all was listed a scheduler can be named, and nothing is known of namespaces and pools. */
static void before_all_was_listed(void **state)
{
    struct reviewed_cluster *f = *state;
    struct answer got = ask(f, CREATE("shop", "", ""), true, false);
    assert_int_equal(got.answer, WEBHOOK_UNSHAPED);
    assert_int_equal(got.patch.len, 0);
    assert_true(got.warnings.len != 0);
    got = ask(f, CREATE("shop", ASKS("batch"), ""), true, false);
    assert_int_equal(got.answer, WEBHOOK_UNSHAPED);
    got = ask(f, CREATE("shop", SECOND, ""), false, false);
    assert_int_equal(got.answer, WEBHOOK_SHAPED);
}

/* --- the split between spot and on-demand --- */

/* The review's uid tells one Pod from another. */
#define SPLIT_REVIEW                                                                                                       \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"%s\","                     \
    "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"operation\":\"CREATE\",\"namespace\":\"plain\","  \
    "\"dryRun\":%s,\"object\":{\"metadata\":{\"generateName\":\"web-\",\"labels\":{\"pod-template-hash\":\"5c9f7\"},"        \
    "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"%s-5c9f7\",\"uid\":\"u\","          \
    "\"controller\":true}],\"annotations\":{%s}},\"spec\":{%s\"containers\":[{\"name\":\"c\"}]}}}}"
#define HALF "\"stowage.dev/on-demand-base\":\"2\",\"stowage.dev/spot-percent\":\"50\""
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define TERMS_PATH "/spec/affinity/nodeAffinity/" REQUIRED "/nodeSelectorTerms"
#define ON_SPOT "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"spot\"]}"
#define OFF_SPOT "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"NotIn\",\"values\":[\"spot\"]}"
#define SPLIT_SHAPED(side) ",{\"op\":\"add\",\"path\":\"/metadata/annotations/stowage.dev~1shaped-by\",\"value\":\"split=" side ", review=r\"}]"

static struct answer create(struct reviewed_cluster *f, const char *uid, const char *dry, const char *workload, const char *annotations,
                            const char *spec)
{
    struct buf body = {0};
    buf_addf(&body, SPLIT_REVIEW, uid, dry, workload, annotations, spec);
    struct answer a = ask(f, body.ptr, false, true);
    buf_release(&body);
    return a;
}

/* "s" for spot, "d" for on-demand, "-" for neither. */
static char side_of(const struct answer *a)
{
    return span_contains(a->patch, SPAN("split=spot")) ? 's' : span_contains(a->patch, SPAN("split=on-demand")) ? 'd' : '-';
}

/* The next pods of Deployment plain/shown, of which the snapshot shows one. */
static void create_each(struct reviewed_cluster *f, const char *prefix, int count, const char *annotations, char *sides_out)
{
    char uid[32];
    for (int i = 0; i < count; i++) {
        snprintf(uid, sizeof(uid), "%s-%d", prefix, i);
        struct answer a = create(f, uid, "false", "shown", annotations, "");
        sides_out[i] = side_of(&a);
    }
    sides_out[count] = '\0';
}

static int count_spot(const char *sides_given)
{
    int spot = 0;
    for (; *sides_given != '\0'; sides_given++)
        spot += *sides_given == 's';
    return spot;
}

static void sides_are_remembered(void **state)
{
    struct reviewed_cluster *f = *state;
    char got[10] = "";
    for (int i = 0; i < 9; i++) {
        char uid[] = {(char)('a' + i), '\0'};
        struct answer dry = create(f, "dry", "true", "shown", HALF, ""), real = create(f, uid, "false", "shown", HALF, "");
        got[i] = side_of(&real);
        if (side_of(&dry) != got[i]) /* the same answer, and nothing comes of it */
            fail_msg("pod %d: %c, dry %c", i, got[i], side_of(&dry));
    }
    assert_string_equal(got, "ddsdsdsds"); /* with the one that is there two, and half of the rest: four of ten on spot */
    struct answer a = create(f, "c", "false", "shown", HALF, "");
    assert_int_equal(side_of(&a), 's'); /* the same review again */
    a = create(f, "k", "false", "shown", HALF, "");
    assert_int_equal(side_of(&a), 'd'); /* and it counts once */
    now += SIDES_MS;
    a = create(f, "l", "false", "shown", HALF, "");
    assert_int_equal(side_of(&a), 'd'); /* what no snapshot showed for so long is not there: again the second */
}

/* All pods of a new Deployment are created before any snapshot shows one. */
static void first_pods_are_split(void **state)
{
    struct reviewed_cluster *f = *state;
    char uid[16], got[11] = "";
    for (int i = 0; i < 10; i++) {
        snprintf(uid, sizeof(uid), "r%d", i);
        struct answer a = create(f, uid, "false", "web", HALF, "");
        got[i] = side_of(&a);
    }
    assert_string_equal(got, "dddsdsdsds"); /* two, and half of the rest */
}

/* Reviews that name a workload before its first pod come: its pods are split by its formula all the same. */
static void forged_first_pods_steer_nothing(void **state)
{
    struct reviewed_cluster *f = *state;
    char uid[32], got[401];
    for (int i = 0; i < 500; i++) {
        snprintf(uid, sizeof(uid), "forged-%d", i);
        create(f, uid, "false", "web", i % 2 != 0 ? HALF : "\"stowage.dev/spot-percent\":\"100\"", "");
    }
    for (int i = 0; i < 400; i++) {
        snprintf(uid, sizeof(uid), "real-%d", i);
        struct answer a = create(f, uid, "false", "web", HALF, "");
        got[i] = side_of(&a);
    }
    got[400] = '\0';
    assert_in_range(count_spot(got), 400 * 15 / 32 - 40, 400 * 15 / 32 + 40);
}

/* 500 reviews with annotations of the caller's choice: the workload's next pods come as if none had been sent. */
static void forged_annotations_steer_nothing(void **state)
{
    struct reviewed_cluster *f = *state;
    char forged[501], got[10];
    create_each(f, "forged", 500, "\"stowage.dev/spot-percent\":\"100\"", forged);
    create_each(f, "real", 9, HALF, got);
    assert_string_equal(got, "ddsdsdsds");
}

/* 500 reviews like those of the workload's own pods: its next pods are still split by its formula, each by a draw. */
static void forged_pods_leave_the_share(void **state)
{
    struct reviewed_cluster *f = *state;
    char forged[501], got[401], again[401];
    create_each(f, "forged", 500, HALF, forged);
    create_each(f, "real", 400, HALF, got);
    /* 33 more pods may be coming: 16 of 34 are to be on spot. Standard deviation of 400 draws: 10. */
    assert_in_range(count_spot(got), 400 * 16 / 33 - 40, 400 * 16 / 33 + 40);
    create_each(f, "forged-too", 300, HALF, forged);
    create_each(f, "real", 400, HALF, again); /* whatever was sent before them */
    assert_string_equal(got, again);
    for (int few = SIDES_AHEAD + 1; few < SIDES_AHEAD + 4; few++) {
        now += SIDES_MS;
        create_each(f, "forged", few, HALF, forged); /* as many as may be coming, and more */
        create_each(f, "real", 400, HALF, again);
        assert_string_equal(got, again);
    }
}

/* A full memory stays as it is; whoever is not in it gets a draw. */
static void none_makes_way(void **state)
{
    struct reviewed_cluster *f = *state;
    struct split_sent list[SIDES_MAX], more = {.id = 1, .workload = 7, .side = SPLIT_SPOT};
    char got[201];
    uint64_t version;
    assert_int_equal(sides_copy(sides, now, 7, list, &version), 0);
    for (int i = 0; i < SIDES_MAX; i++) { /* of another workload */
        assert_int_equal(sides_add(sides, &more, version + (uint64_t)i, now), SIDES_ADDED);
        more.id++;
    }
    assert_int_equal(sides_copy(sides, now, 7, list, &version), SIDES_MAX);
    assert_int_equal(sides_add(sides, &more, version, now), SIDES_FULL);
    create_each(f, "real", 200, HALF, got);
    assert_in_range(count_spot(got), 200 * 16 / 33 - 28, 200 * 16 / 33 + 28);
    assert_int_equal(sides_copy(sides, now, 7, list, &version), SIDES_MAX);
    assert_int_equal(list[0].id, 1);
    assert_int_equal(list[SIDES_MAX - 1].id, SIDES_MAX);
    assert_int_equal(sides_copy(sides, now + SIDES_MS, 7, list, &version), 0);
    assert_int_equal(sides_add(sides, &more, version, now + SIDES_MS), SIDES_ADDED);
}

/* Who decided by old news decides again; who was seen counts no more, and others' do not count. */
static void news_come_between(void **state)
{
    (void)state;
    struct split_sent list[SIDES_MAX], one = {.id = 1, .workload = 7, .side = SPLIT_SPOT},
                                       two = {.id = 2, .workload = 7, .side = SPLIT_ON_DEMAND},
                                       else_ = {.id = 1, .workload = 8, .side = SPLIT_ON_DEMAND};
    uint64_t version, later;
    assert_int_equal(sides_copy(sides, now, 7, list, &version), 0);
    assert_int_equal(sides_add(sides, &one, version, now), SIDES_ADDED);
    assert_int_equal(sides_add(sides, &two, version, now), SIDES_OUTDATED);
    assert_int_equal(sides_copy(sides, now, 7, list, &later), 1);
    assert_int_equal(sides_add(sides, &two, later, now), SIDES_ADDED);
    assert_int_equal(sides_add(sides, &else_, later + 1, now), SIDES_ADDED);
    assert_int_equal(sides_copy(sides, now, 7, list, &later), 2);
    list[0].pod = &(const struct pod){.node = SYM_NONE};
    sides_settle(sides, list, 2);
    assert_int_equal(sides_copy(sides, now, 7, list, &later), 1);
    assert_int_equal(list[0].id, 2);
    assert_int_equal(sides_copy(sides, now, 8, list, &later), 1);
}

static void sides_stand_in_the_affinity(void **state)
{
    struct reviewed_cluster *f = *state;
#define AFFINITY(rest) "\"affinity\":" rest ","
#define NODE(terms) AFFINITY("{\"nodeAffinity\":{\"" REQUIRED "\":{\"nodeSelectorTerms\":[" terms "]}}}")
#define SPOT "\"stowage.dev/spot-percent\":\"100\""
#define NONE_OF_IT "\"stowage.dev/spot-percent\":\"0\""
#define STEP(path, value) "{\"op\":\"add\",\"path\":\"" path "\",\"value\":" value "}"
    static const struct {
        const char *label, *annotations, *spec;
        enum webhook_answer want;
        const char *patch, *warns; /* NULL: nothing */
    } rows[] = {
        {"spot", SPOT, "", WEBHOOK_SHAPED,
         "[" STEP("/spec/affinity", "{\"nodeAffinity\":{\"" REQUIRED "\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[" ON_SPOT "]}]}}}")
             SPLIT_SHAPED("spot"), NULL},
        {"on demand: whatever is not spot", NONE_OF_IT, "", WEBHOOK_SHAPED,
         "[" STEP("/spec/affinity", "{\"nodeAffinity\":{\"" REQUIRED "\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[" OFF_SPOT "]}]}}}")
             SPLIT_SHAPED("on-demand"), NULL},
        {"beside other affinity", SPOT, AFFINITY("{\"podAffinity\":{},\"nodeAffinity\":null}"), WEBHOOK_SHAPED,
         "[" STEP("/spec/affinity/nodeAffinity", "{\"" REQUIRED "\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[" ON_SPOT "]}]}}")
             SPLIT_SHAPED("spot"), NULL},
        {"beside what is preferred", SPOT, AFFINITY("{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[]}}"), WEBHOOK_SHAPED,
         "[" STEP("/spec/affinity/nodeAffinity/" REQUIRED, "{\"nodeSelectorTerms\":[{\"matchExpressions\":[" ON_SPOT "]}]}")
             SPLIT_SHAPED("spot"), NULL},
        {"in each term that matches something", SPOT,
         NODE("{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"Exists\"}]},{},{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
              "\"values\":[\"n\"]}]},{\"matchExpressions\":[]}"), WEBHOOK_SHAPED,
         "[" STEP(TERMS_PATH "/0/matchExpressions/-", ON_SPOT) "," STEP(TERMS_PATH "/2/matchExpressions", "[" ON_SPOT "]") SPLIT_SHAPED("spot"), NULL},
        {"of none nothing is made", SPOT, NODE("{}"), WEBHOOK_ALLOWED, NULL, NULL},
        {"its own selector", SPOT, "\"nodeSelector\":{\"karpenter.sh/capacity-type\":\"on-demand\"},", WEBHOOK_ALLOWED, NULL, NULL},
        {"its own affinity", SPOT, NODE("{\"matchExpressions\":[" OFF_SPOT "]}"), WEBHOOK_ALLOWED, NULL, NULL},
        {"asked again", SPOT ",\"stowage.dev/shaped-by\":\"split=spot, review=q\"", NODE("{\"matchExpressions\":[" ON_SPOT "]}"), WEBHOOK_ALLOWED, NULL, NULL},
        {"asked again for more", SPOT ",\"stowage.dev/scheduler\":\"second\",\"stowage.dev/shaped-by\":\"split=spot, review=q\"",
         NODE("{\"matchExpressions\":[" ON_SPOT "]}"), WEBHOOK_SHAPED,
         "[" STEP("/spec/schedulerName", "\"second\"") "," STEP("/metadata/annotations/stowage.dev~1shaped-by", "\"scheduler=second, split=spot, review=q\"") "]",
         NULL},
        {"no number", "\"stowage.dev/spot-percent\":\"half\"", "", WEBHOOK_UNSHAPED, NULL,
         "Pod web-: metadata.annotations: Deployment plain/web is not split between spot and on-demand: its pods' annotation "
         "stowage.dev/spot-percent is \"half\". Fix: write a whole number from 0 to 100, without a sign; it is admitted without that\n"},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        now += SIDES_MS;
        struct answer got = create(f, "r", "false", "web", rows[r].annotations, rows[r].spec);
        if (got.answer != rows[r].want)
            fail_msg("%s: %s", rows[r].label, webhook_answer_name(got.answer));
        if (!span_eq(got.patch, span_of(rows[r].patch == NULL ? "" : rows[r].patch)))
            fail_msg("%s: %.*s", rows[r].label, SPAN_ARG(got.patch));
        if (!span_eq(got.warnings, span_of(rows[r].warns == NULL ? "" : rows[r].warns)))
            fail_msg("%s: %.*s", rows[r].label, SPAN_ARG(got.warnings));
    }
    struct answer got = ask(f, CREATE("plain", "\"annotations\":{" SPOT "},", ""), false, false);
    assert_int_equal(got.answer, WEBHOOK_UNSHAPED);
    assert_true(span_eq(got.warnings, SPAN("Pod web-: metadata.annotations[stowage.dev/spot-percent]: Stowage has not read the cluster "
                                           "yet; it is admitted without that\n")));
}

static void no_review(void **state)
{
    struct reviewed_cluster *f = *state;
    static const char *const bodies[] = {
        "", "[]", "{}", "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"\"}}",
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\",\"resource\":{\"group\":\"\","
        "\"version\":\"v1\",\"resource\":\"pods\"},\"operation\":\"CREATE\",\"object\":null}}"};
    struct shape_sources sources = {.snapshot = f->snapshot, .syms = f->syms, .sides = sides, .by_namespace = true};
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        enum webhook_answer answer;
        struct err err;
        assert_false(webhook_shape(&f->scratch, &sources, span_of(bodies[i]), &f->reply, &answer, &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods_are_shaped, setup, teardown),
        cmocka_unit_test_setup_teardown(before_all_was_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(sides_are_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(first_pods_are_split, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_first_pods_steer_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_annotations_steer_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(forged_pods_leave_the_share, setup, teardown),
        cmocka_unit_test_setup_teardown(none_makes_way, setup, teardown),
        cmocka_unit_test_setup_teardown(news_come_between, setup, teardown),
        cmocka_unit_test_setup_teardown(sides_stand_in_the_affinity, setup, teardown),
        cmocka_unit_test_setup_teardown(no_review, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
