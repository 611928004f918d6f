/* The vectors T1 to T13 of spec api 5.8, computed there with the real library. */
#include "kube/node.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct symtab *syms;

static sym s(const char *text)
{
    return sym_intern(syms, span_of(text));
}

static struct node_pool base(void)
{
    return (struct node_pool){
        .node_class = {SPAN("karpenter.kwok.sh"), SPAN("KWOKNodeClass"), SPAN("default")},
        .has_expire_after = true,
        .expire_after = 720LL * MS_HOUR,
    };
}

static void expect(const char *label, const struct node_pool *p, const char *want)
{
    char got[24];
    node_pool_hash(p, syms, got);
    if (strcmp(got, want) != 0)
        fail_msg("%s: got %s, want %s", label, got, want);
}

static void test_durations(void **state)
{
    (void)state;
    struct node_pool p = base();
    expect("T1", &p, "12745407319442031341");
    p.has_expire_after = false;
    expect("T2 never expires", &p, "7428780003907761376");
    p = base();
    p.expire_after = MS_HOUR;
    p.has_grace = true;
    p.grace = 5 * MS_MINUTE;
    expect("T5 both durations", &p, "3054972093077357561");
    p = base();
    p.has_grace = true;
    expect("T8 no grace at all is still there", &p, "16848824146983765585");
    p = base();
    p.expire_after = 0;
    expect("T9 expires at once", &p, "13546070544088512816");
}

static void test_labels(void **state)
{
    (void)state;
    struct node_pool p = base();
    struct sym_pair team[] = {{s("team"), s("a")}};
    p.has_labels = true;
    expect("T7 labels present and empty", &p, "5327702334917744615");
    p.labels = (struct sym_pairs){team, 1};
    expect("T3 a label", &p, "10172464548043488983");
}

static void test_taints(void **state)
{
    (void)state;
    struct node_pool p = base();
    struct taint dedicated = {
        .key = s("dedicated"), .value = s("gpu"), .effect = TAINT_NO_SCHEDULE};
    struct taint two[] = {{.key = s("a"), .effect = TAINT_NO_SCHEDULE},
                          {.key = s("b"), .effect = TAINT_NO_EXECUTE}};
    struct taint swapped[] = {two[1], two[0]};
    struct taint twice[] = {two[0], two[0]};
    p.has_taints = true;
    expect("T12 taints present and empty", &p, "845502862369909111");
    p.taints = (struct taints){&dedicated, 1};
    expect("T4 a taint", &p, "1861720833323781758");
    p.taints = (struct taints){two, 2};
    expect("T10 two taints", &p, "463741391837728268");
    p.taints = (struct taints){swapped, 2};
    expect("T10 in the other order", &p, "463741391837728268");
    p.taints = (struct taints){twice, 2};
    expect("T11 one taint twice", &p, "845502862369909111");
    struct taint timed = {.key = s("a"), .effect = TAINT_NO_SCHEDULE, .added = 1700000000000};
    p.taints = (struct taints){&timed, 1};
    expect("T13 a taint with its time", &p, "17170984616440343019");
    timed.value = SYM_EMPTY; /* an empty value is a zero value */
    expect("T13 with an empty value", &p, "17170984616440343019");
}

static void test_everything(void **state)
{
    (void)state;
    struct node_pool p = base();
    struct sym_pair label[] = {{s("keyLabel"), s("valueLabel")}};
    struct plain_label annotations[] = {{SPAN("keyAnnotation"), SPAN("valueAnnotation")},
                                        {SPAN("keyAnnotation2"), SPAN("valueAnnotation2")}};
    struct taint taint = {.key = s("key"), .effect = TAINT_NO_EXECUTE};
    p.expire_after = 5 * MS_MINUTE;
    p.has_grace = true;
    p.grace = 5 * MS_MINUTE;
    p.has_labels = p.has_annotations = p.has_taints = p.has_startup_taints = true;
    p.labels = (struct sym_pairs){label, 1};
    p.annotations.items = annotations;
    p.annotations.count = 2;
    p.taints = p.startup_taints = (struct taints){&taint, 1};
    expect("T6", &p, "17066057431569812298");
    p.weight = 10;
    p.limits = (struct resources){(struct resource[]){{SYM_CPU, 1}}, 1};
    p.requirements = (struct expressions){(struct expression[]){{.key = SYM_ARCH}}, 1};
    expect("weight, limits and requirements are not in it", &p, "17066057431569812298");
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
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_taints),
        cmocka_unit_test(test_everything),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
