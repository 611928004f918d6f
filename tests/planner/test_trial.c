/* A trial undone is a trial that never was. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/trial/trial.h"

static const char FLEET[] =
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {limits: {cpu: "
    "100, nodes: 10}, template: {spec: {requirements: [{key: rack, operator: In, values: [r1, r2]}]}}}\n"
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {}\nstatus: {allocatable: {cpu: 2, "
    "memory: 4Gi, pods: 10}}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: bound}\nspec: {nodeName: n1, containers: [{name: "
    "c, resources: {requests: {cpu: 500m}}}]}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, ports: "
    "[{containerPort: 80, hostPort: 80}], resources: {requests: {cpu: 1}}}]}\nstatus: {conditions: "
    "[{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeSelector: {"
    "topology.kubernetes.io/zone: test-zone-1}, containers: [{name: c, resources: {requests: {cpu: "
    "1}}}]}\nstatus: {conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nspec: {}\nstatus: {allocatable: {cpu: 1, memory: "
    "1Gi, pods: 10}}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: racked, labels: {app: x}}\nspec: {nodeName: n2, containers: "
    "[{name: c}], topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchLabels: {app: x}}}, {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, "
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}]}\n";

struct fixture {
    struct cluster c;
    struct arena arena;
    struct trial t;
    uint32_t a, b, bound; /* classes */
};

static const struct attempt *first_try(const struct fixture *f, uint32_t class_id)
{
    const struct classes *k = &f->c.world->classes;
    return &k->attempts[k->items[class_id].first_attempt];
}

static uint32_t class_named(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->c.kinds[KIND_POD].count; i++) {
        const struct pod *p = f->c.kinds[KIND_POD].items[i];
        if (span_eq(p->meta.name, span_of(name)))
            return (uint32_t)world_class_of(f->c.world, p);
    }
    fail_msg("no pod %s", name);
    return 0;
}

static int set_up(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    cluster_init(&f->c);
    cluster_types_c0(&f->c);
    cluster_add(&f->c, FLEET);
    cluster_plan(&f->c);
    arena_init(&f->arena, 0);
    trial_init(&f->t, &f->arena, f->c.world);
    f->a = class_named(f, "a");
    f->b = class_named(f, "b");
    f->bound = class_named(f, "bound");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_release(&f->arena);
    cluster_release(&f->c);
    free(f);
    return 0;
}

static void rows(void **state)
{
    struct fixture *f = *state;
    struct trial *t = &f->t;
    const struct attempt *try = first_try(f, f->a);
    uint32_t start = trial_mark(t);
    assert_int_equal(trial_ask_row(t, 0, f->a, try), ANSWER_YES);
    trial_place_on_node(t, 0, 0, f->a, try);
    assert_int_equal(trial_left(t, 0)[0], 500);
    assert_int_equal(trial_ask_row(t, 0, f->a, try), ANSWER_NEVER); /* too little, and the port is taken */
    uint32_t mark = trial_mark(t);
    trial_remove_pod(t, 0, f->bound);
    assert_int_equal(trial_left(t, 0)[0], 1000);
    assert_int_equal(trial_ask_row(t, 0, f->a, try), ANSWER_NEVER); /* the port still is */
    trial_undo(t, mark);
    assert_int_equal(trial_left(t, 0)[0], 500);
    trial_undo(t, start);
    assert_int_equal(trial_left(t, 0)[0], 1500);
    assert_int_equal(trial_ask_row(t, 0, f->a, try), ANSWER_YES);
    uint32_t pods = trial_pod_count(t);
    trial_remove_node(t, 0);
    assert_int_equal(trial_ask_row(t, 0, f->a, try), ANSWER_NEVER);
    assert_int_equal(trial_pod_count(t), pods + 1);
    assert_string_equal(trial_pod(t, pods)->pod->meta.name.ptr, "bound");
    trial_remove_node(t, 0); /* once more is not twice */
    assert_int_equal(trial_pod_count(t), pods + 1);
    trial_undo(t, start);
    assert_int_equal(trial_ask_row(t, 0, f->a, try), ANSWER_YES);
    assert_int_equal(trial_pod_count(t), pods);
    assert_int_equal(world_requested(f->c.world, 0)[0], 500); /* the world never changed */
}

static void claims(void **state)
{
    struct fixture *f = *state;
    struct trial *t = &f->t;
    uint32_t words = f->c.world->types.words, start = trial_mark(t);
    assert_int_equal(trial_open(t, 0, 0, f->a, first_try(f, f->a)), OPEN_YES);
    assert_int_equal(t->nodes_left[0], 9);
    assert_int_equal(t->budgets[0], 84000); /* the largest type has 16 CPUs */
    uint32_t types = bits_count(trial_claim_types(t, 0), words);
    uint32_t mark = trial_mark(t);
    assert_int_equal(trial_place_on_claim(t, 0, 1, f->a, first_try(f, f->a)), ANSWER_NEVER); /* host port */
    assert_int_equal(trial_place_on_claim(t, 0, 1, f->b, first_try(f, f->b)), ANSWER_YES);
    assert_true(bits_count(trial_claim_types(t, 0), words) < types);
    assert_int_equal(t->claims[0].requests[0], 2000);
    trial_undo(t, mark);
    assert_int_equal(bits_count(trial_claim_types(t, 0), words), types);
    assert_int_equal(t->claims[0].requests[0], 1000);
    assert_int_equal(t->claims[0].pods, 1);
    trial_undo(t, start);
    assert_int_equal(t->claim_count, 0);
    assert_int_equal(t->nodes_left[0], 10);
    assert_int_equal(t->budgets[0], 100000);
    assert_int_equal(trial_open(t, 0, 0, f->a, first_try(f, f->a)), OPEN_YES);
}

static uint32_t counted(const struct trial *t)
{
    uint32_t sum = 0;
    for (uint32_t g = 0; g < t->world->topology.group_count; g++)
        sum += tally_total(&t->tally, g);
    return sum;
}

/* Who is taken back from a claim leaves nothing there. */
static void taken_back(void **state)
{
    struct fixture *f = *state;
    struct trial *t = &f->t;
    uint32_t racked = class_named(f, "racked");
    assert_int_equal(trial_open(t, 0, 1, f->b, first_try(f, f->b)), OPEN_YES);
    uint32_t before = counted(t), mark = trial_mark(t);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(trial_place_on_claim(t, 0, 0, f->a, first_try(f, f->a)), ANSWER_YES);
        assert_int_equal(trial_place_on_claim(t, 0, 0, f->a, first_try(f, f->a)), ANSWER_NEVER); /* the port is taken */
        assert_int_equal(trial_place_on_claim(t, 0, 2, racked, first_try(f, racked)), ANSWER_YES);
        assert_true(counted(t) > before);
        trial_undo(t, mark);
        assert_int_equal(counted(t), before);
    }
}

/* What a claim gives up of what it might become comes back to the limits, and goes again when undone. */
static void trimmed(void **state)
{
    struct fixture *f = *state;
    struct trial *t = &f->t;
    uint32_t words = f->c.world->types.words;
    assert_int_equal(trial_open(t, 0, 0, f->a, first_try(f, f->a)), OPEN_YES);
    uint32_t types = bits_count(trial_claim_types(t, 0), words), mark = trial_mark(t);
    amount most[16];
    assert_true(f->c.world->column_count <= COUNT_OF(most));
    for (uint32_t c = 0; c < COUNT_OF(most); c++)
        most[c] = INT64_MAX;
    most[0] = 2000;
    trial_trim(t, 0, most);
    assert_int_equal(bits_count(trial_claim_types(t, 0), words), 1); /* the small one */
    assert_int_equal(t->budgets[0], 98000);
    assert_int_equal(trial_place_on_claim(t, 0, 1, f->b, first_try(f, f->b)), ANSWER_NEVER);
    trial_undo(t, mark);
    assert_int_equal(bits_count(trial_claim_types(t, 0), words), types);
    assert_int_equal(t->budgets[0], 84000);
    assert_int_equal(trial_place_on_claim(t, 0, 1, f->b, first_try(f, f->b)), ANSWER_YES);
    most[0] = 1; /* nothing would be left: it stays as it is */
    trial_trim(t, 0, most);
    assert_int_equal(t->budgets[0], 84000);
    trial_undo(t, 0);
    assert_int_equal(t->budgets[0], 100000);
}

static uint32_t key_named(const struct topology *t, const struct symtab *syms, const char *name)
{
    for (uint32_t k = 1; k < t->key_count; k++)
        if (span_eq(sym_text(syms, t->keys[k].key), span_of(name)))
            return k;
    fail_msg("no topology key %s", name);
    return 0;
}

/* A custom label is the plan's to choose, a zone is the provider's. */
static void settled(void **state)
{
    struct fixture *f = *state;
    struct trial *t = &f->t;
    const struct topology *y = &f->c.world->topology;
    uint32_t rack = key_named(y, f->c.world->syms, "rack");
    uint32_t zone = key_named(y, f->c.world->syms, "topology.kubernetes.io/zone");
    assert_int_equal(trial_open(t, 0, 0, f->a, first_try(f, f->a)), OPEN_YES);
    uint32_t types = bits_count(trial_claim_types(t, 0), f->c.world->types.words), mark = trial_mark(t);
    assert_int_equal(specs_definite(&t->specs, t->claims[0].spec)[rack], DOMAIN_OPEN);
    assert_false(trial_settle(t, 0, zone, 0));
    assert_int_equal(trial_mark(t), mark);
    assert_true(trial_settle(t, 0, rack, 1));
    assert_int_equal(specs_definite(&t->specs, t->claims[0].spec)[rack], 1);
    assert_int_equal(bits_count(trial_claim_types(t, 0), f->c.world->types.words), types);
    assert_false(trial_settle(t, 0, rack, 0)); /* it is settled */
    trial_undo(t, mark);
    assert_int_equal(specs_definite(&t->specs, t->claims[0].spec)[rack], DOMAIN_OPEN);
    assert_true(trial_settle(t, 0, rack, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims, set_up, tear_down),
        cmocka_unit_test_setup_teardown(taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trimmed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settled, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
