/* Random nodes that live on from look to look: pods come, go and change, budgets are counted anew, replaced and
 * deleted, time goes by. What is kept is what a judgement would say, and who was not touched is not judged. */
#include "reconciler/disruption/kept_verdict.h"
#include "tests/reconciler/support_objects.h"

#include <stdio.h>

#include "planner/bits.h"

enum { NODES = 12, PODS_MAX = 5, BUDGETS = 6, LOOKS = 4000, APPS = 4, LENGTH_MS = 5000 };

static const char NODE[] = "metadata: {name: m, uid: m, labels: {karpenter.sh/initialized: 'true'}}\n";
static const char CLAIM[] = "metadata: {name: c, uid: c}\nstatus: {conditions: [{type: Consolidatable, status: "
                            "'True', reason: Consolidatable}]}\n";
static const char POOL[] = "metadata: {name: p, uid: p}\nspec: {disruption: {consolidateAfter: 0s}, template: "
                           "{spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n";

struct scene { /* the cluster now, and what is known of its nodes */
    struct arena *a;
    const struct node *node[2]; /* of one content */
    const struct node_claim *claim;
    const struct node_pool *pool;
    struct {
        const struct pod *pods[PODS_MAX];
        uint32_t count;
        const struct node *node;
        bool nominated, touched;
        struct kept_verdict kept;
    } nodes[NODES];
    const struct disruption_budget *budgets[BUDGETS];
    struct pod_budgets index;
    uint64_t changed;
    bool anew;
    wall_ms now, then; /* then: the last look */
};

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static sym app_of(uint32_t i)
{
    char text[8];
    snprintf(text, sizeof(text), "app-%u", i);
    return sym_intern(objects_syms(), span_of(text));
}

static struct sym_pairs app_labels(struct arena *a, uint32_t i)
{
    struct sym_pairs out = {ARENA_NEW(a, struct sym_pair), 1};
    out.items[0] = (struct sym_pair){sym_intern(objects_syms(), SPAN("app")), app_of(i)};
    return out;
}

/* Of a DaemonSet mostly, so that nothing else is in the way; kept for a while sometimes. */
static const struct pod *any_pod(struct scene *f)
{
    static struct owner daemon = {.api_version = SYM_API_APPS_V1, .kind = SYM_KIND_DAEMON_SET};
    static struct annotation stays = {SYM_DO_NOT_DISRUPT, SPAN_INIT("5s")};
    struct pod *p = ARENA_NEW(f->a, struct pod);
    *p = (struct pod){.meta = {.ns = SPAN("d"), .name = SPAN("x"), .uid = SPAN("x")},
                      .phase = POD_RUNNING, .node = 1, .start_time = f->now,
                      .unready = draw(3) == 0};
    p->meta.labels = app_labels(f->a, draw(APPS));
    if (draw(4) != 0)
        p->meta.owners = (struct owners){&daemon, 1};
    if (draw(4) == 0)
        p->meta.annotations = (struct annotations){&stays, 1};
    return p;
}

static const struct disruption_budget *any_budget(struct scene *f, uint32_t app)
{
    struct disruption_budget *b = ARENA_NEW(f->a, struct disruption_budget);
    *b = (struct disruption_budget){.meta = {.ns = SPAN("d"), .name = SPAN("b")},
                                    .has_selector = true,
                                    .evict_unhealthy = draw(3) == 0,
                                    .selector.match_labels = app_labels(f->a, app)};
    b->disruptions_allowed = (int32_t)draw(2);
    return b;
}

static void index_budgets(struct scene *f)
{
    f->index = pod_budgets_make(f->a, f->budgets, BUDGETS);
}

/* --- what happens --- */

static void change_pods(struct scene *f)
{
    uint32_t n = draw(NODES), count = f->nodes[n].count;
    f->nodes[n].touched = true;
    if (count == 0 || (count < PODS_MAX && draw(2) == 0))
        f->nodes[n].pods[f->nodes[n].count++] = any_pod(f);
    else if (draw(2) == 0)
        f->nodes[n].pods[draw(count)] = any_pod(f);
    else
        f->nodes[n].pods[draw(count)] = f->nodes[n].pods[--f->nodes[n].count];
}

/* The nodes whose pods it selects are touched. */
static void count_budget(struct scene *f)
{
    uint32_t b = draw(BUDGETS), at[2];
    struct disruption_budget *next = ARENA_NEW(f->a, struct disruption_budget);
    *next = *f->budgets[b];
    next->disruptions_allowed ^= 1;
    f->budgets[b] = next;
    index_budgets(f);
    f->changed |= UINT64_C(1) << b;
    for (uint32_t n = 0; n < NODES; n++)
        for (uint32_t i = 0; i < f->nodes[n].count; i++) {
            uint32_t found = pod_budgets_of(&f->index, f->nodes[n].pods[i], at);
            for (uint32_t k = 0; k < found; k++)
                f->nodes[n].touched |= at[k] == b;
        }
}

static void replace_budget(struct scene *f)
{
    f->budgets[draw(BUDGETS)] = any_budget(f, draw(APPS));
    index_budgets(f);
    f->anew = true;
}

static void change_node(struct scene *f)
{
    uint32_t n = draw(NODES);
    f->nodes[n].touched = true;
    if (draw(2) == 0)
        f->nodes[n].nominated = !f->nodes[n].nominated;
    else
        f->nodes[n].node = f->nodes[n].node == f->node[0] ? f->node[1] : f->node[0];
}

/* Whose annotation ends is touched. */
static void pass_time(struct scene *f)
{
    f->now += draw(LENGTH_MS / 2);
    for (uint32_t n = 0; n < NODES; n++)
        for (uint32_t i = 0; i < f->nodes[n].count; i++) {
            const struct pod *p = f->nodes[n].pods[i];
            f->nodes[n].touched |= pod_do_not_disrupt(p, f->then) && !pod_do_not_disrupt(p, f->now);
        }
}

static void look(struct scene *f, uint32_t round, uint32_t *kept)
{
    struct kept_since since = {.anew = f->anew, .changed = &f->changed, .scratch = f->a};
    for (uint32_t n = 0; n < NODES; n++) {
        struct empty_facts facts = {.node = f->nodes[n].node, .claim = f->claim, .pool = f->pool,
                                    .nominated = f->nodes[n].nominated, .pods = f->nodes[n].pods,
                                    .pod_count = f->nodes[n].count, .budgets = &f->index, .now = f->now};
        struct empty_answer want = empty_judge(&facts);
        bool judged = kept_verdict_judge(&f->nodes[n].kept, &since, &facts);
        const struct empty_answer *got = &f->nodes[n].kept.answer;
        if (got->verdict != want.verdict || got->pod != want.pod || got->budget != want.budget ||
            got->other != want.other)
            fail_msg("look %u, node %u: verdict %d is kept, %d is right", round, n, got->verdict,
                     want.verdict);
        if (judged && round != 0 && !f->anew && !f->nodes[n].touched)
            fail_msg("look %u, node %u: nothing touched it, and it was judged again", round, n);
        *kept += !judged;
        f->nodes[n].touched = false;
    }
    f->changed = 0;
    f->anew = false;
    f->then = f->now;
}

static void test_random(void **unused)
{
    (void)unused;
    struct scene f = {.now = NOW, .then = NOW};
    uint32_t kept = 0;
    state = 1;
    objects_begin();
    f.a = objects_arena();
    f.node[0] = node_of(NODE);
    f.node[1] = node_of(NODE);
    f.claim = claim_of(CLAIM);
    f.pool = pool_of(POOL);
    for (uint32_t n = 0; n < NODES; n++)
        f.nodes[n].node = f.node[0];
    for (uint32_t b = 0; b < BUDGETS; b++)
        f.budgets[b] = any_budget(&f, b % APPS);
    index_budgets(&f);
    for (uint32_t round = 0; round < LOOKS; round++) {
        static void (*const events[])(struct scene *) = {change_pods, change_pods, change_pods, count_budget,
                                                         count_budget, change_node, pass_time};
        look(&f, round, &kept);
        for (uint32_t i = draw(3); i > 0; i--)
            events[draw(COUNT_OF(events))](&f);
        if (draw(50) == 0)
            replace_budget(&f);
    }
    assert_true(kept > LOOKS * NODES / 2); /* most are left alone by what happens */
    for (uint32_t n = 0; n < NODES; n++)
        kept_verdict_release(&f.nodes[n].kept);
    objects_clear();
}

/* One of them is another object, or its time has come: then it is judged again. */
static void test_what_it_hangs_on(void **unused)
{
    (void)unused;
    static const struct pod *pods[1];
    objects_begin();
    pods[0] = pod_of("metadata: {name: x, namespace: d, uid: x, annotations: {karpenter.sh/do-not-disrupt: 5s}}\nspec: {nodeName: m}\n"
                     "status: {phase: Running, startTime: '" NOW_TEXT "'}\n");
    const struct kept_since since = {.scratch = objects_arena()};
    struct kept_verdict k = {.judged = false};
    struct pod_budgets none = pod_budgets_make(objects_arena(), NULL, 0);
    struct empty_facts f = {.node = node_of(NODE), .claim = claim_of(CLAIM), .pool = pool_of(POOL), .pods = pods, .pod_count = 1,
                            .budgets = &none, .now = NOW};
    assert_true(kept_verdict_judge(&k, &since, &f));
    assert_int_equal(k.answer.verdict, EMPTY_POD_DO_NOT_DISRUPT);
    assert_false(kept_verdict_judge(&k, &since, &f));
    f.now = NOW + 4999;
    assert_false(kept_verdict_judge(&k, &since, &f));
    f.claim = claim_of(CLAIM);
    assert_true(kept_verdict_judge(&k, &since, &f));
    f.pool = pool_of(POOL);
    assert_true(kept_verdict_judge(&k, &since, &f));
    f.node = node_of(NODE);
    assert_true(kept_verdict_judge(&k, &since, &f));
    assert_false(kept_verdict_judge(&k, &since, &f));
    f.now = NOW + 5000;
    assert_true(kept_verdict_judge(&k, &since, &f));
    assert_int_equal(k.answer.verdict, EMPTY_HAS_PODS);
    kept_verdict_release(&k);
    objects_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_what_it_hangs_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
