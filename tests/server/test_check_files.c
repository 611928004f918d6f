/* `stowage check -f`: what is said of files of objects, where, and with which status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/check/report.h"
#include "server/command.h"
#include "support_plan.h"

#define NAMED(meta, spec)                                                                                               \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: odd\n" meta "spec:\n  " POOL_TEMPLATE "\n" spec
#define NAMED_TAINTED                                                                                                   \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd}\nspec: {template: {spec: {requirements: [], taints: "  \
    "[{key: team, value: a, effect: NoSchedule}], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"
#define TOLERANT                                                                                                        \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: shop}\nspec: {replicas: 1, selector: {matchLabels: {a: b}}, " \
    "template: {metadata: {labels: {a: b}}, spec: {tolerations: [{key: team, value: a}], containers: [{name: c}]}}}\n"
#define PRICE(name) "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " name "}\nspec: {requirements: [], price: '1'}\n"
#define CLAIM(class, requirements)                                                                                      \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c}\nspec: {nodeClassRef: {group: karpenter.kwok.sh, kind: "  \
    "KWOKNodeClass, name: " class "}, requirements: [" requirements "]}\n"
#define NODE_CLASS(delay)                                                                                               \
    "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\nspec: {nodeRegistrationDelay: " delay "}\n"
#define TYPO "  annotations:\n    stowage.dev/mdoe: act\n"

static struct outcome check(const char *objects, const char *form, const char *more)
{
    const char *args[COMMAND_ARGS_MAX] = {"-f", "{}", "-o", form, more};
    return run_command(command_check, objects, args);
}

/* The same objects, planned. */
static struct outcome plan_of_all(const char *objects)
{
    return run_command(command_plan, objects, (const char *[]){"-f", "{}", "--feature-gates=NodeOverlay=true", "-o", "json", NULL});
}

/* Of an object, and not of the files. */
static bool is_finding(const char *says)
{
    return strstr(says, ": ") != NULL || says[0] == ':';
}

static void status_and_text(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *more;
        int status;
        const char *says[3];
    } rows[] = {
        {"good", POOL, NULL, 0, {"ok    1 object in 1 file, 1 of them NodePool\n", "nothing to mend\n"}},
        {"other kinds are no fault", POOL "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "--warnings-as-errors", 0,
         {"1 object of other kinds passed over (ConfigMap)"}},
        {"a warning, where it stands", NAMED(TYPO, ""), NULL, 0,
         {"warn  ", ":6: NodePool odd: metadata.annotations[stowage.dev/mdoe]: there is no such annotation. Fix: write "
                    "stowage.dev/mode\n", "1 warning\n"}},
        {"a warning that counts", NAMED(TYPO, ""), "--warnings-as-errors", 1, {"1 warning\n"}},
        {"what admission refuses", NAMED("", "  weight: 1000\n"), NULL, 1,
         {"FAIL  ", ":7: NodePool odd: spec.weight: 1000 is out of range; it may be 1 to 100", "1 problem\n"}},
        {"both of one pool", NAMED(TYPO, "  weight: 1000\n"), NULL, 1, {":9: NodePool odd: spec.weight: ", ":6: NodePool odd: metadata", "1 problem, 1 warning\n"}},
        {"what cannot be read", NAMED("", "  weight: heavy\n"), NULL, 1, {"FAIL  ", ":7: NodePool odd: spec.weight: \"heavy\""}},
        {"no YAML", "a: [", NULL, 1, {"FAIL  ", "1 problem\n"}},
        {"a field that nobody knows", NAMED("", "  wieght: 1\n"), NULL, 0, {"warn  ", ":7: NodePool odd: spec.wieght: "}},
        {"the label of another provider",
         "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd}\nspec: {template: {spec: {nodeClassRef: {group: "
         "karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [{key: karpenter.k8s.aws/instance-category, "
         "operator: In, values: [c]}]}}}\n", NULL, 0, {"warn  ", ":1: NodePool odd: ", "karpenter.k8s.aws/instance-category"}},
        {"one twice", POOL POOL, NULL, 0, {"warn  ", "NodePool general: already given at "}},
        {"what no type has",
         "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd}\nspec: {template: {spec: {nodeClassRef: {group: "
         "karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [{key: kubernetes.io/arch, operator: In, values: "
         "[amd46]}]}}}\n", NULL, 0,
         {"warn  ", ":1: NodePool odd: spec.template.spec.requirements[0]: no instance type has kubernetes.io/arch In [amd46] (did you "
                    "mean amd64?)"}},
        {"two for the same pods", POOL "---\n" NAMED("", ""), NULL, 0,
         {"NodePool general: spec.weight: 0 is the weight of NodePool odd, too", "NodePool odd: spec.weight: 0 is the weight of "
                    "NodePool general, too", "2 warnings\n"}},
        {"an overlay that is wrong at run time", "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec: "
         "{requirements: [], capacity: {cpu: 3}}\n", NULL, 1, {"FAIL  ", ":1: NodeOverlay o: spec.capacity: invalid resource restricted: cpu"}},
        {"an overlay that sets nothing", "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec: "
         "{requirements: []}\n", NULL, 0, {"warn  ", ":1: NodeOverlay o: spec: sets neither a price nor capacity"}},
        {"an overlay", "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {requirements: [{key: a, "
         "operator: Like, values: [b]}]}\n", NULL, 1, {"FAIL  ", "NodeOverlay o: spec.requirements[0].operator: "}},
        {"two overlays that set the same", POOL "---\n" PRICE("a") "---\n" PRICE("b"), NULL, 0,
         {"NodeOverlay a: spec.weight: 0 is the weight of NodeOverlay b, too, which sets the same of some instance type: that one goes",
          "NodeOverlay b: spec.weight: 0 is the weight of NodeOverlay a, too, which sets the same of some instance type: this one goes",
          "2 warnings\n"}},
        {"a taint that no pod tolerates", POD("p", "{}") NAMED_TAINTED, NULL, 0,
         {":10: NodePool odd: spec.template.spec.taints: no pod tolerates team=a:NoSchedule: as long as none does", "1 warning\n"}},
        {"a taint that a Deployment's pods tolerate", TOLERANT "---\n" NAMED_TAINTED, NULL, 0, {"nothing to mend\n"}},
        {"a taint, and no pods to ask", NAMED_TAINTED, NULL, 0, {"nothing to mend\n"}},
        {"limits below what the pool holds", POOL "  limits: {cpu: 2}\nstatus: {resources: {cpu: 4}}\n", NULL, 0,
         {"warn  ", ":2: NodePool general: spec.limits.cpu: 2 is less than the 4 that nodes of the pool have already", "1 warning\n"}},
        {"a good claim", CLAIM("default", "") "---\n" NODE_CLASS("1s"), NULL, 0, {"nothing to mend\n"}},
        {"a claim without its class in the files", CLAIM("default", ""), NULL, 0, {"nothing to mend\n"}},
        {"a claim of another class", CLAIM("defualt", "") "---\n" NODE_CLASS("1s"), NULL, 0,
         {"warn  ", ":1: NodeClaim c: spec.nodeClassRef: there is no KWOKNodeClass defualt: ", "1 warning\n"}},
        {"a claim that no type meets", CLAIM("default", "{key: kubernetes.io/arch, operator: In, values: [amd46]}"), NULL, 0,
         {"NodeClaim c: spec.requirements[0]: no instance type has kubernetes.io/arch In [amd46] (did you mean amd64?)", "1 warning\n"}},
        {"a claim that contradicts itself", CLAIM("default", "{key: kubernetes.io/arch, operator: In, values: [amd46]}, {key: "
                                                  "kubernetes.io/arch, operator: In, values: [arm64]}"), "--warnings-as-errors", 1,
         {"NodeClaim c: spec.requirements[1]: ", "1 warning\n"}},
        {"a claim that has its node", CLAIM("defualt", "{key: kubernetes.io/arch, operator: In, values: [amd46]}")
         "status: {providerID: kwok://c}\n---\n" NODE_CLASS("1s"), NULL, 0, {"nothing to mend\n"}},
        {"a node class whose nodes come too late", NODE_CLASS("1h"), NULL, 0,
         {"warn  ", ":1: KWOKNodeClass default: spec.nodeRegistrationDelay: no node of the class ever comes up", "1 warning\n"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = check(rows[i].objects, "table", rows[i].more), planned = plan_of_all(rows[i].objects);
        if (o.status != rows[i].status)
            fail_msg("%s: status %d: %s", rows[i].label, o.status, o.text);
        for (size_t k = 0; k < COUNT_OF(rows[i].says) && rows[i].says[k] != NULL; k++) {
            expect_text(rows[i].label, &o, rows[i].says[k]);
            if (is_finding(rows[i].says[k]))
                expect_text(rows[i].label, &planned, rows[i].says[k]);
        }
    }
}

/* What cannot be in the field as such, and what upstream says of it at run time, are one mistake. */
static void one_fault_is_told_once(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "template: {metadata: {labels: {a b: x}}, spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: d}}}",
        "template: {spec: {requirements: [{key: a b, operator: Exists}], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: d}}}",
        "template: {spec: {requirements: [], taints: [{key: a b, effect: NoSchedule}], nodeClassRef: {group: karpenter.kwok.sh, kind: "
        "KWOKNodeClass, name: d}}}",
    };
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct arena a;
        arena_init(&a, 0);
        const char *pool = arena_printf(&a, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd}\nspec: {%s}\n", specs[i]).ptr;
        struct outcome o = check(pool, "table", NULL);
        expect_text(specs[i], &o, "is not a label key; after an optional domain and '/' it takes");
        expect_text(specs[i], &o, "\n1 problem\n");
        arena_release(&a);
    }
}

static void other_forms(void **state)
{
    (void)state;
    struct outcome o = check(NAMED(TYPO, ""), "json", NULL);
    expect_text("the line", &o, "\"line\": 6,");
    expect_text("the message", &o, "\"message\": \"NodePool odd: metadata.annotations[stowage.dev/mdoe]: ");
    o = check(NAMED(TYPO, "  weight: 1000\n"), "github", NULL);
    expect_text("a warning", &o, "::warning file=");
    expect_text("its line", &o, ",line=6::NodePool odd: ");
    expect_text("an error", &o, "::error file=");
    assert_int_equal(o.status, 1);
    o = check(POOL, "github", NULL);
    assert_string_equal(o.text, "");
}

/* A runner reads commands line by line. */
static void github_escapes(void **state)
{
    (void)state;
    struct arena a;
    struct buf out = {0};
    arena_init(&a, 0);
    struct check_report r = {.a = &a};
    check_say_of_file(&r, CHECK_FAIL, "files", "a,b:c.yaml", 0, SPAN("100%\nof: it, all"));
    check_say(&r, CHECK_UNKNOWN, "files", "mend it", "who knows");
    check_say(&r, CHECK_OK, "files", NULL, "fine");
    check_github(&out, &r);
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, "::error file=a%2Cb%3Ac.yaml::100%25\\nof: it, all\n::notice::who knows; mend it\n");
    buf_release(&out);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_and_text),
        cmocka_unit_test(one_fault_is_told_once),
        cmocka_unit_test(other_forms),
        cmocka_unit_test(github_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
