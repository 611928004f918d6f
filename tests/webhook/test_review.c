#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/doc.h"
#include "kube/wellknown.h"
#include "webhook/review.h"

struct fixture {
    struct webhook_scratch scratch;
    struct symtab *syms;
    struct label_rules labels;
    struct webhook_rules rules;
    struct buf reply;
};

static sym well_known[] = {SYM_NODEPOOL, SYM_CAPACITY_TYPE, SYM_ZONE, SYM_INSTANCE_TYPE, SYM_ARCH,
                           SYM_OS};
static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->scratch.parser = doc_parser_new();
    arena_init(&f->scratch.arena, 0);
    f->syms = kube_symtab_new();
    f->labels = (struct label_rules){{well_known, COUNT_OF(well_known)}, domains, 2};
    f->rules = (struct webhook_rules){.labels = &f->labels, .syms = f->syms, .overlays = true};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    doc_parser_free(f->scratch.parser);
    arena_release(&f->scratch.arena);
    symtab_unref(f->syms);
    buf_release(&f->reply);
    free(f);
    return 0;
}

#define POOL(labels, requirements)                                                                 \
    "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"general\"," \
    "\"managedFields\":[{\"manager\":\"kubectl\",\"fieldsV1\":{\"f:spec\":{}}}]},"                  \
    "\"spec\":{\"template\":{\"metadata\":{\"labels\":" labels "},\"spec\":{"                       \
    "\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"d\"}," \
    "\"expireAfter\":\"720h\",\"requirements\":" requirements "}},"                                 \
    "\"disruption\":{\"consolidateAfter\":\"30s\",\"consolidationPolicy\":\"WhenEmpty\"}}}"

#define REVIEW(group, version, resource, sub, operation, object)                                   \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"            \
    "\"uid\":\"2f3c\",\"kind\":{\"group\":\"" group "\",\"version\":\"" version "\",\"kind\":\"X\"}," \
    "\"resource\":{\"group\":\"" group "\",\"version\":\"" version "\",\"resource\":\"" resource   \
    "\"}," sub "\"operation\":\"" operation "\",\"userInfo\":{\"username\":\"admin\"},"             \
    "\"object\":" object ",\"dryRun\":false,"                                    \
    "\"options\":{\"kind\":\"CreateOptions\",\"apiVersion\":\"meta.k8s.io/v1\"}}}"

#define OVERLAY(spec) "{\"metadata\":{\"name\":\"cheap\"},\"spec\":{" spec "}}"
#define OVERLAY_REVIEW(operation, spec) REVIEW("karpenter.sh", "v1alpha1", "nodeoverlays", "", operation, OVERLAY(spec))
#define CLAIM_REVIEW(annotations, requirements)                                                                          \
    REVIEW("karpenter.sh", "v1", "nodeclaims", "", "CREATE",                                                             \
           "{\"metadata\":{\"name\":\"c\",\"annotations\":{" annotations "}},\"spec\":{\"requirements\":[" requirements "]}}")
#define CLASS_REVIEW(delay)                                                                                             \
    REVIEW("karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses", "", "UPDATE",                                             \
           "{\"metadata\":{\"name\":\"k\"},\"spec\":{\"nodeRegistrationDelay\":\"" delay "\"}}")
#define POOL_REVIEW(operation, object)                                                             \
    REVIEW("karpenter.sh", "v1", "nodepools", "", operation, object)

#define ALLOWED                                                                                    \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":"            \
    "{\"uid\":\"2f3c\",\"allowed\":true}}"


static void test_answers(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label, *body;
        enum webhook_answer want;
        const char *says[2]; /* in the refusal */
    } rows[] = {
        {"a good pool", POOL_REVIEW("CREATE", POOL("{}", "[]")), WEBHOOK_ALLOWED, {NULL}},
        {"a restricted label",
         POOL_REVIEW("CREATE", POOL("{\"karpenter.sh/initialized\":\"true\"}", "[]")),
         WEBHOOK_DENIED,
         {"spec.template.metadata.labels", "karpenter.sh/initialized"}},
        {"on update too",
         POOL_REVIEW("UPDATE", POOL("{\"karpenter.kwok.sh/x\":\"y\"}", "[]")),
         WEBHOOK_DENIED,
         {"karpenter.kwok.sh/x", NULL}},
        {"one sentence a field",
         POOL_REVIEW("CREATE", POOL("{\"kubernetes.io/hostname\":\"x\"}",
                                    "[{\"key\":\"karpenter.sh/nodepool\",\"operator\":\"In\","
                                    "\"values\":[\"a\"]}]")),
         WEBHOOK_DENIED,
         {"spec.template.spec.requirements[0]", "; "}},
        {"what does not decode",
         POOL_REVIEW("CREATE", POOL("{}", "[{\"key\":7}]")),
         WEBHOOK_DENIED,
         {"spec.template.spec.requirements[0].key", NULL}},
        {"every one of them",
         POOL_REVIEW("CREATE", POOL("{\"a\":1}", "[{\"key\":7}]")),
         WEBHOOK_DENIED,
         {"spec.template.metadata.labels.a: 1", "; spec.template.spec.requirements[0].key: 7"}},
        {"a pool that goes", POOL_REVIEW("DELETE", "null"), WEBHOOK_ALLOWED, {NULL}},
        {"the finalizer of a faulty one that comes off",
         POOL_REVIEW("UPDATE", "{\"metadata\":{\"name\":\"x\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":7}"),
         WEBHOOK_NOT_OURS, {NULL}},
        {"its status", REVIEW("karpenter.sh", "v1", "nodepools", "\"subResource\":\"status\",",
                              "UPDATE", POOL("{\"kubernetes.io/hostname\":\"x\"}", "[]")),
         WEBHOOK_NOT_OURS, {NULL}},
        {"a good overlay", OVERLAY_REVIEW("CREATE", "\"requirements\":[],\"price\":\"1.5\""), WEBHOOK_ALLOWED, {NULL}},
        {"an overlay of what cannot be overlaid", OVERLAY_REVIEW("UPDATE", "\"requirements\":[],\"capacity\":{\"cpu\":\"3\"}"),
         WEBHOOK_DENIED, {"spec.capacity: invalid resource restricted: cpu", NULL}},
        {"an overlay that does not decode", OVERLAY_REVIEW("CREATE", "\"requirements\":[],\"weight\":\"x\""), WEBHOOK_DENIED,
         {"spec.weight", NULL}},
        {"an overlay that goes", OVERLAY_REVIEW("DELETE", "\"requirements\":[],\"capacity\":{\"cpu\":\"3\"}"), WEBHOOK_NOT_OURS, {NULL}},
        {"an overlay of another version", REVIEW("karpenter.sh", "v1", "nodeoverlays", "", "CREATE",
                                                OVERLAY("\"capacity\":{\"cpu\":\"3\"}")), WEBHOOK_NOT_OURS, {NULL}},
        {"a claim", REVIEW("karpenter.sh", "v1", "nodeclaims", "", "CREATE", "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"requirements\":[]}}"),
         WEBHOOK_ALLOWED, {NULL}},
        {"a claim's status", REVIEW("karpenter.sh", "v1", "nodeclaims", "\"subResource\":\"status\",", "UPDATE", "{\"spec\":7}"),
         WEBHOOK_NOT_OURS, {NULL}},
        {"a claim that goes", REVIEW("karpenter.sh", "v1", "nodeclaims", "", "DELETE", "null"), WEBHOOK_NOT_OURS, {NULL}},
        {"a claim's finalizer that comes off", REVIEW("karpenter.sh", "v1", "nodeclaims", "", "UPDATE",
                                                     "{\"metadata\":{\"name\":\"x\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":7}"),
         WEBHOOK_NOT_OURS, {NULL}},
        {"a node class", REVIEW("karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses", "", "CREATE", "{\"metadata\":{\"name\":\"c\"}}"),
         WEBHOOK_ALLOWED, {NULL}},
        {"a node class of others", REVIEW("karpenter.k8s.aws", "v1", "ec2nodeclasses", "", "CREATE", "{\"metadata\":{\"name\":\"c\"}}"),
         WEBHOOK_NOT_OURS, {NULL}},
        {"a Pod", REVIEW("", "v1", "pods", "", "CREATE", "{\"metadata\":{\"generateName\":\"w-\"}}"),
         WEBHOOK_NOT_OURS, {NULL}},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        enum webhook_answer got;
        struct err err = {0};
        buf_clear(&f->reply);
        if (!webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(rows[r].body), &f->reply, &got, &err))
            fail_msg("%s: %s", rows[r].label, err.msg);
        if (got != rows[r].want)
            fail_msg("%s: got %s: %s", rows[r].label, webhook_answer_name(got), f->reply.ptr);
        if (got != WEBHOOK_DENIED && !span_eq(buf_span(&f->reply), SPAN(ALLOWED)))
            fail_msg("%s: got %s", rows[r].label, f->reply.ptr);
        if (got == WEBHOOK_DENIED && strstr(f->reply.ptr, "\"allowed\":false,\"status\":"
                                                          "{\"code\":422,\"reason\":\"Invalid\","
                                                          "\"message\":\"spec.") == NULL)
            fail_msg("%s: got %s", rows[r].label, f->reply.ptr);
        for (size_t i = 0; i < 2 && rows[r].says[i] != NULL; i++)
            if (strstr(f->reply.ptr, rows[r].says[i]) == NULL)
                fail_msg("%s: no \"%s\" in %s", rows[r].label, rows[r].says[i], f->reply.ptr);
    }
}

/* Of claims and node classes nothing is ever refused, but with --strict-admission. */
static void test_others_are_warned_of(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label, *body, *says;
        bool gate;
    } rows[] = {
        {"that sets nothing", OVERLAY_REVIEW("CREATE", "\"requirements\":[]"),
         "\"allowed\":true,\"warnings\":[\"NodeOverlay cheap: spec: sets neither a price nor capacity, and has no effect. Fix: ", true},
        {"that nobody reads", OVERLAY_REVIEW("CREATE", "\"requirements\":[],\"price\":\"1.5\""),
         "\"allowed\":true,\"warnings\":[\"NodeOverlay cheap: spec: has no effect while the feature gate NodeOverlay is off. Fix: ", false},
        {"an annotation that there is not", REVIEW("karpenter.sh", "v1alpha1", "nodeoverlays", "", "CREATE",
                                                  "{\"metadata\":{\"name\":\"o\",\"annotations\":{\"stowage.dev/mode\":\"act\"}},\"spec\":{\"requirements\":[],\"price\":\"1\"}}"),
         "\"allowed\":true,\"warnings\":[\"NodeOverlay o: metadata.annotations[stowage.dev/mode]: has no effect on a NodeOverlay. Fix: ", true},
        {"a claim that contradicts itself", CLAIM_REVIEW("", "{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\"]},{\"key\":\"a\",\"operator\":\"DoesNotExist\"}"),
         "\"allowed\":true,\"warnings\":[\"NodeClaim c: spec.requirements[1]: a DoesNotExist leaves no value after a In [x]: ", true},
        {"a claim whose minValues cannot be met",
         CLAIM_REVIEW("", "{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\"]},{\"key\":\"a\",\"operator\":\"Exists\",\"minValues\":2}"),
         "\"allowed\":true,\"warnings\":[\"NodeClaim c: spec.requirements[1].minValues: 2 cannot be met: the claim's requirements together leave 1 ", true},
        {"a claim's mistyped annotation", CLAIM_REVIEW("\"stowage.dev/replacs\":\"n\"", ""),
         "\"allowed\":true,\"warnings\":[\"NodeClaim c: metadata.annotations[stowage.dev/replacs]: there is no such annotation. Fix: write "
         "stowage.dev/replaces\"]", true},
        {"an annotation's key with a line break", CLAIM_REVIEW("\"stowage.dev/x\\nForged\\u202e\":\"n\"", ""),
         "\"allowed\":true,\"warnings\":[\"NodeClaim c: metadata.annotations[stowage.dev/x\\\\nForged\\\\u202e]: there is no such annotation", true},
        {"a claim that cannot be read", CLAIM_REVIEW("", "{\"key\":7}"), "\"allowed\":true,\"warnings\":[\"NodeClaim c: spec.requirements[0].key: 7", true},
        {"a node class whose nodes come too late", CLASS_REVIEW("15m"),
         "\"allowed\":true,\"warnings\":[\"KWOKNodeClass k: spec.nodeRegistrationDelay: no node of the class ever comes up: a NodeClaim whose Node "
         "is not there after 15 minutes is given up. Fix: write less than 15m\"]", true},
        {"a node class whose nodes come in time", CLASS_REVIEW("14m"), ALLOWED, true},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        enum webhook_answer got;
        struct err err = {0};
        buf_clear(&f->reply);
        f->rules.overlays = rows[r].gate;
        assert_true(webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(rows[r].body), &f->reply, &got, &err));
        if (strstr(f->reply.ptr, rows[r].says) == NULL)
            fail_msg("%s: %s", rows[r].label, f->reply.ptr);
        f->rules.strict = true;
        buf_clear(&f->reply);
        assert_true(webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(rows[r].body), &f->reply, &got, &err));
        f->rules.strict = false;
        if ((got == WEBHOOK_DENIED) != (strstr(rows[r].says, "warnings") != NULL))
            fail_msg("%s: strict: %s", rows[r].label, f->reply.ptr);
    }
    f->rules.overlays = true;
}

static void test_not_a_review(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label, *body, *why;
    } rows[] = {
        {"nothing", "", ""},
        {"no JSON", "<html>", ""},
        {"cut off", "{\"kind\":\"AdmissionReview\"", ""},
        {"a list", "[]", "not an AdmissionReview"},
        {"another kind", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "v1 Pod"},
        {"an older version",
         "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"}", "v1beta1"},
        {"no request", "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}",
         "no request"},
        {"no uid",
         "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{}}",
         "no request with a uid"},
        {"a pool without object", POOL_REVIEW("CREATE", "null"), "no object"},
        {"a uid of the wrong type",
         "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
         "\"request\":{\"uid\":7}}",
         "request.uid"},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        enum webhook_answer got;
        struct err err = {0};
        buf_clear(&f->reply);
        if (webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(rows[r].body), &f->reply, &got, &err) ||
            err.kind != ERR_INVALID || strstr(err.msg, rows[r].why) == NULL)
            fail_msg("%s: got \"%s\"", rows[r].label, err.msg);
    }
}

/* A pool that means something else than what it does. */
static void test_warnings(void **state)
{
    struct fixture *f = *state;
    static const char body[] = POOL_REVIEW("UPDATE",
        "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"general\",\"annotations\":{"
        "\"stowage.dev/min-savings\":\"ten\"}},\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{"
        "\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"d\"},\"requirements\":[]}},"
        "\"disruption\":{\"consolidateAfter\":\"30s\",\"budgets\":[{\"nodes\":\"1\",\"schedule\":\"a b c d e\","
        "\"duration\":\"1h\"}]}}}");
    enum webhook_answer got;
    struct err err = {0};
    buf_clear(&f->reply);
    if (!webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(body), &f->reply, &got, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(got, WEBHOOK_ALLOWED);
    assert_non_null(strstr(f->reply.ptr, "\"allowed\":true,\"warnings\":[\"NodePool general: "
                                         "metadata.annotations[stowage.dev/min-savings]: \\\"ten\\\" has no effect. Fix: write"));
    assert_non_null(strstr(f->reply.ptr, "\",\"NodePool general: spec.disruption.budgets[0]: "));
    f->rules.strict = true;
    buf_clear(&f->reply);
    assert_true(webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(body), &f->reply, &got, &err));
    f->rules.strict = false;
    assert_int_equal(got, WEBHOOK_DENIED);
    assert_null(strstr(f->reply.ptr, "\"warnings\""));
    assert_non_null(strstr(f->reply.ptr, "\"message\":\"metadata.annotations[stowage.dev/min-savings]: \\\"ten\\\" has"));
    assert_non_null(strstr(f->reply.ptr, "; spec.disruption.budgets[0]: "));
}

/* How often it says so. */
static uint32_t times(const struct fixture *f, const char *part)
{
    uint32_t n = 0;
    for (const char *at = f->reply.ptr; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

static void review(struct fixture *f, const char *annotations, const char *requirements)
{
    struct buf body = {0};
    enum webhook_answer got;
    struct err err = {0};
    buf_addf(&body, "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"1\","
                    "\"resource\":{\"group\":\"karpenter.sh\",\"version\":\"v1\",\"resource\":\"nodepools\"},"
                    "\"operation\":\"CREATE\",\"object\":{\"metadata\":{\"name\":\"x\",\"annotations\":{%s}},\"spec\":{"
                    "\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"g\",\"kind\":\"K\",\"name\":\"d\"},"
                    "\"requirements\":[%s]}}}}}}", annotations, requirements);
    buf_clear(&f->reply);
    if (!webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, buf_span(&body), &f->reply, &got, &err))
        fail_msg("%s", err.msg);
    buf_release(&body);
}

/* Nobody reads a hundred of them, and the API server passes on so many bytes only. */
static void test_a_hundred_of_them(void **state)
{
    struct fixture *f = *state;
    struct buf annotations = {0}, requirements = {0};
    for (int i = 0; i < 100; i++) {
        buf_addf(&annotations, "%s\"stowage.dev/zebra-%d\":\"x\"", i != 0 ? "," : "", i);
        buf_addf(&requirements, "%s{\"key\":\"karpenter.sh/k%d\",\"operator\":\"Exists\"}", i != 0 ? "," : "", i);
    }
    review(f, annotations.ptr, "");
    assert_int_equal(times(f, "stowage.dev/zebra-"), 16);
    assert_int_equal(times(f, ",\"and 84 more\"]"), 1);
    review(f, "", requirements.ptr);
    assert_int_equal(times(f, "is restricted"), 16);
    assert_int_equal(times(f, "; and 84 more\""), 1);
    buf_release(&annotations);
    buf_release(&requirements);
}

/* What was only warned of before is let through where warnings refuse, too. */
static void test_strict_and_wrong_before(void **state)
{
    struct fixture *f = *state;
    static const char body[] = POOL_REVIEW("UPDATE",
        "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"stowage.dev/mode\":\"x\"}},\"spec\":{\"weight\":2,\"template\":{\"spec\":{"
        "\"nodeClassRef\":{\"group\":\"g\",\"kind\":\"K\",\"name\":\"d\"},\"requirements\":[]}}}},\"oldObject\":"
        "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"stowage.dev/mode\":\"x\"}},\"spec\":{\"template\":{\"spec\":{"
        "\"nodeClassRef\":{\"group\":\"g\",\"kind\":\"K\",\"name\":\"d\"},\"requirements\":[]}}}}");
    enum webhook_answer got;
    struct err err = {0};
    f->rules.strict = true;
    buf_clear(&f->reply);
    assert_true(webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(body), &f->reply, &got, &err));
    f->rules.strict = false;
    assert_int_equal(got, WEBHOOK_ALLOWED);
    assert_int_equal(times(f, "stowage.dev/mode"), 1);
    assert_int_equal(times(f, "it was so before"), 0);
}

#define OLD(old_requirements, requirements)                                                                            \
    POOL_REVIEW("UPDATE", POOL("{}", requirements) ",\"oldObject\":" POOL("{}", old_requirements))
#define ODD "{\"key\":\"kubernetes.io/hostname\",\"operator\":\"Exists\"}"
#define FINE "{\"key\":\"kubernetes.io/os\",\"operator\":\"Exists\"}"
#define FAULTY "{\"key\":\"karpenter.sh/nodepool\",\"operator\":\"Exists\"}"

/* Who changes something else is not stopped by what was wrong before, and is told of it. */
static void test_what_was_wrong_before(void **state)
{
    static const struct {
        const char *label, *body, *denies, *warns; /* NULL: not */
    } rows[] = {
        {"nothing is new", OLD("[" ODD "]", "[" ODD "]"), NULL, "requirements[0].key: "},
        {"it has moved", OLD("[" ODD "]", "[" FINE "," ODD "]"), NULL, "requirements[1].key: "},
        {"one more is wrong", OLD("[" ODD "]", "[" ODD "," FAULTY "]"), "spec.template.spec.requirements[1].key: ",
         "requirements[0].key: "},
        {"it was another", OLD("[" FAULTY "]", "[" ODD "]"), "spec.template.spec.requirements[0].key: ", NULL},
        {"it was right", OLD("[" FINE "]", "[" ODD "]"), "spec.template.spec.requirements[0].key: ", NULL},
        {"it is right", OLD("[" ODD "]", "[" FINE "]"), NULL, NULL},
        {"it cannot be read, as before", OLD("[{\"key\":7}]", "[{\"key\":7}]"), NULL, "requirements[0].key: 7"},
    };
    struct fixture *f = *state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        enum webhook_answer got;
        struct err err = {0};
        buf_clear(&f->reply);
        if (!webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, span_of(rows[r].body), &f->reply, &got, &err))
            fail_msg("%s: %s", rows[r].label, err.msg);
        const char *denied = strstr(f->reply.ptr, "\"message\":\""), *warned = strstr(f->reply.ptr, "\"warnings\":[");
        if ((denied != NULL) != (rows[r].denies != NULL) || (warned != NULL) != (rows[r].warns != NULL) ||
            (denied != NULL && strncmp(denied + 11, rows[r].denies, strlen(rows[r].denies)) != 0) ||
            (warned != NULL && strstr(warned, rows[r].warns) == NULL) ||
            (warned != NULL && strstr(warned, "it was so before") == NULL))
            fail_msg("%s: got %s", rows[r].label, f->reply.ptr);
    }
}

/* A name that our tables do not know must not stay in the shared one. */
static void test_leaves_the_rules_alone(void **state)
{
    struct fixture *f = *state;
    enum webhook_answer got;
    struct err err;
    uint32_t before = symtab_limit(f->syms);
    buf_clear(&f->reply);
    assert_true(webhook_review(&f->scratch, &(struct review_sources){&f->rules, NULL, {NULL, NULL}}, SPAN(POOL_REVIEW("CREATE", POOL("{\"new\":\"x\"}", "[]"))),
                               &f->reply, &got, &err));
    assert_int_equal(symtab_limit(f->syms), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_others_are_warned_of),
        cmocka_unit_test(test_not_a_review),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_a_hundred_of_them),
        cmocka_unit_test(test_strict_and_wrong_before),
        cmocka_unit_test(test_what_was_wrong_before),
        cmocka_unit_test(test_leaves_the_rules_alone),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
