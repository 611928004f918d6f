/* Consolidation as Karpenter v1.15.0 does it: the numbered scenarios of spec disruption 20.3, 20.7, 20.9 and 20.19 that
 * are decisions. Both methods are asked on the same state, so a row says what each would do. */
#include "planner/disruption/disruption_told.h"
#include "planner/disruption/validate.h"
#include "support_fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A pool, and types that cost 0.1 a CPU on demand in zone a. */
#define POOL "pool default\n"
#define TYPES                                                                                      \
    "type t2 2 od/a/0.2\ntype t4 4 od/a/0.4\ntype t8 8 od/a/0.8\n"
/* A node of a type, with a pod of so many CPUs. */
#define USED(node_, type_, cpus_)                                                                  \
    "node " node_ " default " type_ " od/a\npod p-" node_ " " node_ " " cpus_ "\n"

enum gates { SPOT_TO_SPOT = 1, IGNORE_PREFERENCES = 2, BEST_EFFORT = 4 };

static const struct row {
    const char *label, *fleet, *want;
    enum gates gates;
    const char *says; /* in some note, "node: text"; NULL: not asked */
} rows[] = {
    {"88 a cheaper type exists", POOL TYPES USED("n1", "t8", "1"), "single replace n1 -> t2 t4 on-demand saves 0.6\n", 0, NULL},
    {"89 the pod fits on another node, of whatever price", POOL TYPES USED("n1", "t2", "1") USED("n2", "t8", "7"),
     "single delete n1 saves 0.2\n", 0, NULL},
    {"90 it would take two new nodes",
     "pool default types=t2\n" TYPES "node n1 default t4 od/a\npod a n1 1500m\npod b n1 1500m\n", "", 0,
     "n1: Can't remove without creating 2 candidates"},
    {"91 open to both: spot it is", "pool default\ntype t4 4 od/a/0.4 spot/a/0.1\n" USED("n1", "t4", "1"),
     "single replace n1 -> t4 spot saves 0.3\n", 0, NULL},
    {"92 spot is dearer in another zone",
     "pool default\ntype t4 4 od/a/0.5 spot/a/1.0 spot/b/0.2 spot/c/0.4\n" USED("n1", "t4", "1"), "", 0,
     "n1: Can't replace with a cheaper node"},
    {"92 unless it is asked for where it is not",
     "pool default\ntype t4 4 od/a/0.5 spot/a/1.0 spot/b/0.2 spot/c/0.4\nnode n1 default t4 od/a\npod p n1 1 zone=b\n",
     "single replace n1 -> t4 spot saves 0.3\n", 0, NULL},
    {"92 spot is no matter where the pool is on demand",
     "pool default capacity=od\ntype t4 4 od/a/0.5 spot/a/0.1\n" USED("n1", "t4", "1"), "", 0, NULL},
    {"93 reserved costs nothing: it is not replaced",
     "pool default\ntype t4 4 od/a/0.4 res/a/0.0000001/r1/0\nnode n1 default t4 res/a\npod p n1 1\n", "", 0,
     "n1: Can't replace with a cheaper node"},
    {"93 but deleted",
     "pool default\ntype t4 4 od/a/0.4 res/a/0.0000001/r1/0\ntype t8 8 od/a/0.8\nnode n1 default t4 res/a\npod p n1 1\n"
     "node n2 default t8 od/a\npod q n2 7\n",
     "single delete n1 saves 1e-07\n", 0, NULL},
    {"94 spot by spot is off", "pool default\ntype s2 2 spot/a/0.1\ntype s4 4 spot/a/0.2\nnode n1 default s4 spot/a\npod p n1 1\n",
     "", 0, "n1: SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"},
    {"94 a spot node is deleted all the same",
     "pool default\ntype s4 4 spot/a/0.2\nnode n1 default s4 spot/a\npod p n1 1\nnode n2 default s4 spot/a\npod q n2 3\n",
     "single delete n1 saves 0.2\n", 0, NULL},
    {"97 several spot nodes need no 15 types",
     "pool default\ntype s4 4 spot/a/0.2\ntype s6 6 spot/a/0.25\n"
     "node n1 default s4 spot/a\npod p n1 2500m\nnode n2 default s4 spot/a\npod q n2 2500m\n",
     "multi replace n1 n2 -> s6 spot saves 0.15\n", SPOT_TO_SPOT, NULL},
    {"98 spot and on demand are replaced by spot",
     "pool default\ntype s4 4 spot/a/0.2 od/a/0.4\ntype s6 6 spot/a/0.25\n"
     "node n1 default s4 spot/a\npod p n1 2500m\nnode n2 default s4 od/a\npod q n2 2500m\n",
     "multi replace n2 n1 -> s6 spot saves 0.35\nsingle replace n2 -> s4 s6 spot saves 0.2\n", 0, NULL},
    {"99 not two by one of the same type",
     "pool default\ntype t4 4 od/a/0.4\n" USED("n1", "t4", "1") USED("n2", "t4", "1"), "single delete n1 saves 0.4\n", 0, NULL},
    {"100 only what is cheaper than the cheapest of them",
     "pool default\ntype nano 2 od/a/0.05\ntype small 4 od/a/0.1\ntype xl 8 od/a/0.4\ntype 2xl 16 od/a/0.8\n"
     "pod a n1 500m apart=yes app=x\nnode n1 default 2xl od/a\nnode n2 default 2xl od/a\npod b n2 500m\n"
     "node n3 default small od/a\npod c n3 500m\n",
     "multi replace n1 n2 n3 -> nano on-demand saves 1.65\nsingle delete n1 saves 0.8\n", 0, NULL},
    {"101 policy WhenEmpty", "pool default policy=WhenEmpty\n" TYPES USED("n1", "t8", "1"), "", 0,
     "n1: NodePool \"default\" has consolidation policy WhenEmpty, but node is not empty"},
    {"101 consolidateAfter Never", "pool default after=Never\n" TYPES USED("n1", "t8", "1"), "", 0,
     "n1: NodePool \"default\" has consolidation disabled"},
    {"102 minValues break once it is cheaper", "pool default min=2\n" TYPES USED("n1", "t4", "1"), "", 0,
     "n1: Filtering by price: minValues requirement is not met for label(s) (label(s)=node.kubernetes.io/instance-type)"},
    {"102 and hold", "pool default min=2\n" TYPES USED("n1", "t8", "1"), "single replace n1 -> t2 t4 on-demand saves 0.6\n", 0, NULL},
    {"103 best effort is no effort here", "pool default min=2\n" TYPES USED("n1", "t4", "1"), "", BEST_EFFORT,
     "n1: Filtering by price"},
    {"104 not consolidatable yet", POOL TYPES "node n1 default t8 od/a consolidatable=no\npod p n1 1\n", "", 0, NULL},
    {"104 nor does it take who runs while it settles",
     "pool default after=5m\n" TYPES USED("n1", "t2", "1")
     "node n2 default t8 od/a consolidatable=no event=" FLEET_JUST_NOW "\npod q n2 7\n",
     "", 0, NULL},
    {"105 but who is pending",
     "pool default after=5m\n" TYPES USED("n1", "t8", "2")
     "node n2 default t2 od/a consolidatable=no event=" FLEET_JUST_NOW "\npod q n2 1\npod r - 1\n",
     "single replace n1 -> t2 t4 on-demand saves 0.6\n", 0, NULL},
    {"105 who finds no room there goes to the new one",
     "pool default after=5m\n" TYPES USED("n1", "t8", "2")
     "node n2 default t2 od/a consolidatable=no event=" FLEET_JUST_NOW "\npod q n2 1500m\npod r - 1\n",
     "single replace n1 -> t4 on-demand saves 0.4\n", 0, NULL},
    {"106 one with consolidateAfter Never takes them",
     "pool default\npool never after=Never\n" TYPES USED("n1", "t2", "1")
     "node n2 never t8 od/a consolidatable=no event=" FLEET_JUST_NOW "\npod q n2 7\n",
     "single delete n1 saves 0.2\n", 0, NULL},
    {"107 nobody is to rely on a node that is not there yet",
     POOL TYPES USED("n1", "t2", "1") "node n2 default t8 od/a stage=registered\n", "", 0,
     "n1: not all pods would schedule, default/p-n1 => would schedule against uninitialized nodeclaim/n2, node/n2"},
    {"108 but who has to go anyway",
     "pool default types=t2\n" TYPES USED("n1", "t2", "1") USED("n3", "t2", "1")
     "node n0 default t8 od/a deleting=yes\npod p n0 6\nnode n2 default t8 od/a stage=registered\n",
     "single delete n1 saves 0.2\n", 0, NULL},
    {"109 anti-affinity",
     "pool default types=t4\n" TYPES "node n1 default t4 od/a\npod a n1 1 app=x apart=yes\nnode n2 default t4 od/a\npod b n2 1 "
     "app=x apart=yes\n",
     "", 0, NULL},
    {"110 who is pending for ever is in nobody's way",
     POOL TYPES USED("n1", "t2", "1") USED("n2", "t8", "7") "pod r - 100\n", "single delete n1 saves 0.2\n", 0, NULL},
    {"111 what is pending counts as a second node",
     "pool default types=t4\n" TYPES USED("n1", "t8", "4") "pod r - 4\n", "", 0,
     "n1: Can't remove without creating 2 candidates"},
    {"111 and alone as the replacement",
     "pool default types=t2,t4\n" TYPES USED("n1", "t2", "1") USED("n2", "t8", "7") "pod r - 4\n", "", 0,
     "n1: Can't replace with a cheaper node"},
    {"112 a preference is kept",
     "pool default types=t4\n" TYPES "node n1 default t4 od/a\npod a n1 1 app=x apart=prefer\nnode n2 default t4 od/a\npod b n2 1 "
     "app=x apart=prefer\n",
     "", 0, NULL},
    {"112 or not",
     "pool default types=t4\n" TYPES "node n1 default t4 od/a\npod a n1 1 app=x apart=prefer\nnode n2 default t4 od/a\npod b n2 1 "
     "app=x apart=prefer\n",
     "single delete n1 saves 0.4\n", IGNORE_PREFERENCES, NULL},
    {"113 a local volume binds nobody to the node that goes",
     "pool default types=t2\n" TYPES "node n1 default t2 od/a\nnode n2 default t8 od/a\npod q n2 7\n"
     "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {local: {path: /x}, storageClassName: \"\", "
     "claimRef: {name: c, namespace: default}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
     "kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}\n"
     "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {volumeName: v, storageClassName: \"\"}\n"
     "status: {phase: Bound}\n"
     "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: "
     "{claimName: c}}], containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n",
     "single delete n1 saves 0.2\n", 0, NULL},
    {"126 its own capacity is free for its replacement", "pool default cpus=8\n" TYPES USED("n1", "t8", "1"),
     "single replace n1 -> t2 t4 on-demand saves 0.6\n", 0, NULL},
    {"119 the first cannot go, the second does",
     "pool default types=t8\n" TYPES USED("n1", "t8", "6") USED("n2", "t8", "7") "node n3 default t8 od/a\npod a n3 1\npod b n3 1\n"
     "pod c n3 1\n",
     "single delete n3 saves 0.8\n", 0, NULL},
    {"123, 125 a pool without a budget is passed over", "pool closed budget=0\n" POOL TYPES
     "node n1 closed t8 od/a\npod a n1 1\n" USED("n2", "t4", "1"),
     "single delete n2 saves 0.4\n", 0, NULL},
    {"124 no pool is ready", "pool default replicas=1\n" TYPES USED("n1", "t8", "1"), "", 0, NULL},
    {"300 a full reservation makes no type cheap",
     "pool default\ntype t4 4 od/a/1.0 res/a/0.0000001/r1/0\ntype t5 5 od/a/0.5!\nnode n1 default t5 od/a\npod p n1 1\n", "", 0,
     "n1: Can't replace with a cheaper node"},
    {"300 nor stands before others, nor in the savings",
     "pool default\ntype t4 4 od/a/1.0 res/a/0.0000001/r1/0\ntype t5 5 od/a/0.9\ntype t8 8 od/a/2.0\n"
     "node n1 default t8 od/a\npod p n1 1\n",
     "single replace n1 -> t5 t4 on-demand saves 1.1\n", 0, NULL},
    {"300 nor is it let in beside others",
     "pool default\ntype t4 4 od/a/1.0 res/a/0.0000001/r1/0\ntype t5 5 od/a/0.9\ntype t8 8 od/a/0.95\n"
     "node n1 default t8 od/a\npod p n1 1\n",
     "single replace n1 -> t5 on-demand saves 0.05\n", 0, NULL},
    {"an instance type that nobody sells", POOL TYPES "node n1 default gone od/a\npod p n1 1\n", "", 0,
     "n1: Instance Type \"gone\" not found"},
    {"a node without a zone", POOL TYPES "node n1 default t8 od/a without=zone\npod p n1 1\n", "", 0,
     "n1: Node does not have label \"topology.kubernetes.io/zone\""},
    {"a node without a capacity type", POOL TYPES "node n1 default t8 od/a without=capacity-type\npod p n1 1\n", "", 0,
     "n1: Node does not have label \"karpenter.sh/capacity-type\""},
    {"what a pool says its nodes cost beside is saved", "pool default cost=0.5\n" TYPES USED("n1", "t2", "1") USED("n2", "t8", "7"),
     "single delete n1 saves 0.7\n", 0, NULL},
    {"what a pool says its nodes cost beside counts for a replacement too",
     "pool default cost=0.5 types=t2,t8\npool dear cost=5 weight=10 types=t2,t8\n" TYPES "node n1 default t8 od/a\npod p n1 1\n", "", 0,
     "n1: Can't replace with a cheaper node"},
};

static void put_types(struct buf *out, const struct symtab *syms, const struct plan_claim *c)
{
    if (c->type_count > 4)
        buf_addf(out, " %u types", c->type_count);
    for (uint32_t i = 0; i < c->type_count && c->type_count <= 4; i++)
        buf_addf(out, " %.*s", SPAN_ARG(c->types[i]->name));
    const struct requirement *r = requirements_get(&c->requirements, SYM_CAPACITY_TYPE);
    for (uint32_t i = 0; r != NULL && i < r->count; i++)
        buf_addf(out, " %.*s", SPAN_ARG(sym_text(syms, r->values[i])));
}

/* Of the two methods alone. */
static struct span summary(struct cluster *c, const struct disruption *d)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < d->command_count; i++) {
        const struct disruption_command *x = &d->commands[i];
        if (x->method != METHOD_MULTI && x->method != METHOD_SINGLE)
            continue;
        buf_addf(&b, "%s %s", x->method == METHOD_MULTI ? "multi" : "single", disruption_decision_name(x->decision));
        for (uint32_t k = 0; k < x->count; k++)
            buf_addf(&b, " %.*s", SPAN_ARG(world_node_at(c->world, x->rows[k])->name));
        buf_addf(&b, "%s", x->replacement_count != 0 ? " ->" : "");
        for (uint32_t k = 0; k < x->replacement_count; k++)
            put_types(&b, c->syms, &x->replacements[k]);
        buf_addf(&b, " saves %.4g\n", x->savings);
    }
    struct span text = arena_dup(&c->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

static struct span notes(struct cluster *c, const struct disruption *d)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < d->note_count; i++)
        if (d->notes[i].row >= 0)
            buf_addf(&b, "%.*s: %.*s\n", SPAN_ARG(world_node_at(c->world, (uint32_t)d->notes[i].row)->name),
                     SPAN_ARG(d->notes[i].text));
    struct span text = arena_dup(&c->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

static struct disruption *decide(struct cluster *c, struct disruption_options *o)
{
    struct world_input in = cluster_input(c);
    world_free(c->world);
    c->world = world_build(&in);
    c->plan_options.search = SEARCH_GREEDY;
    o->plan = &c->plan_options;
    o->all = true;
    return disruption_decide(c->world, o);
}

static void fleets(void **state)
{
    (void)state;
    bool fine = true;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *r = &rows[i];
        struct cluster c;
        cluster_init(&c);
        c.options = (struct world_options){.reserved_capacity = true, .ready_when_unstated = true};
        fleet_add(&c, r->fleet);
        c.plan_options.ignore_preferences = r->gates & IGNORE_PREFERENCES;
        c.plan_options.best_effort_min_values = r->gates & BEST_EFFORT;
        struct disruption_options o = {.spot_to_spot = r->gates & SPOT_TO_SPOT};
        struct disruption *d = decide(&c, &o);
        struct span got = summary(&c, d), said = notes(&c, d);
        bool same = span_eq(got, span_of(r->want)) && (r->says == NULL || span_contains(said, span_of(r->says)));
        if (!same)
            print_error("%s: got\n%.*swant\n%snotes\n%.*swant\n%s\n\n", r->label, SPAN_ARG(got), r->want,
                        SPAN_ARG(said), r->says != NULL ? r->says : "");
        fine = fine && same;
        disruption_free(d);
        cluster_release(&c);
    }
    assert_true(fine);
}

/* --- searches --- */

struct asked {
    struct cluster c;
    struct disruption_options o;
    struct disruption *d;
};

static struct span ask(struct asked *x, const char *fleet)
{
    cluster_init(&x->c);
    x->c.options = (struct world_options){.reserved_capacity = true, .ready_when_unstated = true};
    fleet_add(&x->c, fleet);
    x->d = decide(&x->c, &x->o);
    return summary(&x->c, x->d);
}

static void asked_release(struct asked *x)
{
    disruption_free(x->d);
    cluster_release(&x->c);
}

static void is_text(struct span got, const char *want)
{
    if (!span_eq(got, span_of(want)))
        fail_msg("got\n%.*swant\n%s", SPAN_ARG(got), want);
}

/* Scenarios 95, 96: a spot node and so many cheaper spot types. */
static void spot_by_spot_needs_options(void **state)
{
    static const struct {
        uint32_t cheaper, min_values;
        const char *want;
    } cases[] = {
        {14, 0, ""},
        {15, 0, "single replace n1 -> 15 types spot saves 0.99\n"},
        {40, 0, "single replace n1 -> 15 types spot saves 0.99\n"},
        {40, 20, "single replace n1 -> 20 types spot saves 0.99\n"},
        {40, 3, "single replace n1 -> 15 types spot saves 0.99\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct asked x = {.o = {.spot_to_spot = true}};
        struct buf b = {0};
        for (uint32_t k = 1; k <= cases[i].cheaper; k++)
            buf_addf(&b, "type s%u 2 spot/a/%u.%02u od/a/5\n", k, k / 100, k % 100);
        buf_addf(&b, "type big 4 spot/a/1.0 od/a/5\npool default");
        if (cases[i].min_values != 0)
            buf_addf(&b, " min=%u", cases[i].min_values);
        buf_addf(&b, "\nnode n1 default big spot/a\npod p n1 1\n");
        is_text(ask(&x, b.ptr), cases[i].want);
        if (cases[i].cheaper == 14)
            is_text(notes(&x.c, x.d), "n1: SpotToSpotConsolidation requires 15 cheaper instance type options than the "
                                      "current candidate to consolidate, got 14\n");
        asked_release(&x);
        buf_release(&b);
    }
}

/* Scenario 243: room for capacity buffers keeps no node whose pods fit elsewhere; that it does not get lost is the plan's. */
static void who_holds_room_for_buffers_goes_like_others(void **state)
{
    (void)state;
    uint64_t first = 1;
    struct asked x = {.o = {.buffered = &first}};
    is_text(ask(&x, POOL TYPES USED("n1", "t2", "1") USED("n2", "t8", "7")), "single delete n1 saves 0.2\n");
    asked_release(&x);
}

/* Scenario 114: so many small nodes beside one that has room for all of their pods. */
static void multi_takes_at_most_101(void **state)
{
    static const struct {
        uint32_t nodes, want;
    } cases[] = {{2, 2}, {99, 99}, {100, 100}, {101, 101}, {110, 101}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct asked x = {0};
        struct buf b = {0};
        buf_addf(&b, "type t2 2 od/a/0.2\ntype t64 64 od/a/6.4\npool default\nnode big default t64 od/a consolidatable=no\n");
        for (uint32_t k = 0; k < cases[i].nodes; k++)
            buf_addf(&b, "node n%03u default t2 od/a\npod p%u n%03u 100m\n", k, k, k);
        ask(&x, b.ptr);
        assert_int_equal(x.d->commands[0].method, METHOD_MULTI);
        assert_int_equal(x.d->commands[0].count, cases[i].want);
        assert_int_equal(x.d->commands[0].decision, DECIDE_DELETE);
        assert_true(x.d->complete);
        asked_release(&x);
        buf_release(&b);
    }
}

#define FULL(node_, pool_) "node " node_ " " pool_ " t4 od/a\npod p-" node_ " " node_ " 3\n"
#define FULL_POOLS                                                                                 \
    "type t4 4 od/a/0.4\npool a\npool b\npool c\n" FULL("a1", "a") FULL("a2", "a") FULL("a3", "a") FULL("b1", "b")     \
        FULL("b2", "b") FULL("c1", "c")

/* The order in which single nodes are looked at: each has a note, once. */
static struct span looked_at(struct asked *x)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < x->d->note_count; i++)
        buf_addf(&b, "%.*s ", SPAN_ARG(world_node_at(x->c.world, (uint32_t)x->d->notes[i].row)->name));
    struct span text = arena_dup(&x->c.arena, buf_span(&b));
    buf_release(&b);
    return text;
}

/* Scenarios 117, 118. */
static void single_takes_pools_by_turns(void **state)
{
    (void)state;
    struct asked all = {0}, first = {.o = {.single_steps = 1}};
    is_text(ask(&all, FULL_POOLS), "");
    is_text(looked_at(&all), "a1 b1 c1 a2 b2 a3 ");
    assert_true(all.d->complete);
    assert_int_equal(all.d->unreached_count, 0);

    is_text(ask(&first, FULL_POOLS), "");
    is_text(looked_at(&first), "a1 ");
    assert_false(first.d->complete);
    assert_int_equal(first.d->unreached_count, 2);
    struct asked next = {.o = {.unreached = first.d->unreached, .unreached_count = first.d->unreached_count}};
    is_text(ask(&next, FULL_POOLS), "");
    is_text(looked_at(&next), "b1 c1 a1 b2 a2 a3 ");
    assert_int_equal(next.d->unreached_count, 0);
    asked_release(&next);
    asked_release(&first);
    asked_release(&all);
}

/* Scenarios 115, 116: of 8 nodes all pods go to the big one, or those of the first 4. One step is one question, which is
 * about the first 5. What it ends without is left to the methods that follow. */
static void multi_ends_with_what_it_has(void **state)
{
    static const struct {
        const char *pods;
        uint64_t steps;
        uint32_t want;
    } cases[] = {{"100m", 0, 8}, {"100m", 1, 5}, {"1900m", 0, 4}, {"1900m", 1, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct asked x = {.o = {.multi_steps = cases[i].steps}};
        struct buf b = {0};
        buf_addf(&b, "type t2 2 od/a/0.2\ntype t8 8 od/a/0.8\npool default types=t2\nnode big default t8 od/a consolidatable=no\n");
        for (uint32_t k = 0; k < 8; k++)
            buf_addf(&b, "node n%u default t2 od/a\npod p%u n%u %s\n", k, k, k, cases[i].pods);
        ask(&x, b.ptr);
        bool found = x.d->command_count != 0 && x.d->commands[0].method == METHOD_MULTI;
        assert_int_equal(found ? x.d->commands[0].count : 0, cases[i].want);
        assert_int_equal(x.d->complete, cases[i].steps == 0);
        asked_release(&x);
        buf_release(&b);
    }
}

/* Scenarios 123, 125: who could go on but for a budget is not done. */
static void who_a_budget_holds_is_not_done(void **state)
{
    (void)state;
    struct asked x = {0}, y = {0};
    ask(&x, "pool closed budget=0\npool default\ntype t4 4 od/a/0.4\n" FULL("n1", "closed") FULL("n2", "default"));
    assert_int_equal(x.d->constrained, 1U << METHOD_MULTI | 1U << METHOD_SINGLE);
    ask(&y, "pool default\ntype t4 4 od/a/0.4\n" FULL("n1", "default") FULL("n2", "default"));
    assert_int_equal(y.d->constrained, 0);
    asked_release(&x);
    asked_release(&y);
}

/* Scenario 124. */
static void without_a_pool_multi_ends_the_pass(void **state)
{
    (void)state;
    struct asked x = {0};
    is_text(ask(&x, "type t4 4 od/a/0.4\npool default ready=no\n" FULL("n1", "default") FULL("n2", "default")), "");
    assert_true(x.d->error.len != 0);
    asked_release(&x);
}

/* --- better than Karpenter --- */

static struct world *world_of(struct cluster *c, const char *fleet)
{
    cluster_init(c);
    c->options = (struct world_options){.reserved_capacity = true, .ready_when_unstated = true};
    fleet_add(c, fleet);
    c->plan_options.search = SEARCH_GREEDY;
    struct world_input in = cluster_input(c);
    return c->world = world_build(&in);
}

#define SINK "pool sink\nnode sink sink t64 od/a consolidatable=no\ntype t64 64 od/a/6.4\n"

/* What the search `cheapest` finds, and greedy does not. */
static void sweeps(void **state)
{
    static const struct {
        const char *label, *fleet, *greedy, *cheapest;
    } cases[] = {
        {"one node by two that cost less",
         "pool default\ntype t5 5 od/a/0.3\ntype t16 16 od/a/1.6\nnode n1 default t16 od/a\npod a n1 4500m\npod b n1 4500m\n",
         "", "single replace n1 -> t5 on-demand t5 on-demand saves 1\n"},
        {"three by two",
         "pool default capacity=od\ntype t4 4 od/a/0.4\ntype t6 6 od/a/0.5\ntype t8 8 od/a/0.8\n" USED("n1", "t8", "3") USED("n2", "t8", "3")
             USED("n3", "t8", "4"),
         "multi replace n1 n2 -> t4 t6 on-demand saves 1.2\nsingle delete n1 saves 0.8\n",
         "multi replace n1 n2 n3 -> t4 t6 on-demand t6 on-demand saves 1.5\n"
         "single delete n1 saves 0.8\n"},
        {"who cannot go is passed over",
         "pool default types=t4\ntype t4 4 od/a/0.4\n" SINK "node n1 default t4 od/a\npod a n1 100m zone=b\n" USED("n2", "t4", "1")
             USED("n3", "t4", "1"),
         "single delete n2 saves 0.4\n", "multi delete n2 n3 saves 0.8\nsingle delete n2 saves 0.4\n"},
            {"the one that is worth most, not the first",
         "pool default types=t3\ntype t3 3 od/a/0.3\ntype t4 4 od/a/0.4\ntype x2 2 od/a/0.8\n" SINK "pod big sink 62\n"
         "node n1 default t4 od/a\npod a n1 2500m\nnode n2 default x2 od/a\npod b n2 1\npod c n2 400m\npod d n2 100m\n"
         "pod e n2 100m\npod f n2 100m\npod g n2 100m\npod h n2 100m\n",
         "multi replace n1 n2 -> t3 on-demand saves 0.9\nsingle replace n1 -> t3 on-demand saves 0.1\n",
         "multi replace n1 n2 -> t3 on-demand saves 0.9\nsingle delete n2 saves 0.8\n"},
        {"what saves less than its evictions cost",
         "pool default\ntype t2 2 od/a/0.2\ntype x2 2 od/a/0.199\nnode n1 default t2 od/a\npod a n1 1\npod b n1 500m\n",
         "single replace n1 -> x2 on-demand saves 0.001\n", ""},
        {"or than it costs that both nodes run for three minutes",
         "pool default\ntype t2 2 od/a/0.2\ntype x2 2 od/a/0.196\nnode n1 default t2 od/a\npod a n1 1\npod b n1 500m\n",
         "single replace n1 -> x2 on-demand saves 0.004\n", ""},
        {"unless all that costs less", /* 0.002, a quarter of 0.0098, and 0.0004 for images */
         "pool default\ntype t2 2 od/a/0.2\ntype x2 2 od/a/0.195\nnode n1 default t2 od/a\npod a n1 1\npod b n1 500m\n",
         "single replace n1 -> x2 on-demand saves 0.005\n", "single replace n1 -> x2 on-demand saves 0.005\n"},
        {"nobody knows what it costs",
         "pool default types=t4\ntype t4 4 od/b/0.4\n" SINK "node n1 default t4 od/a\npod a n1 1\n",
         "single delete n1 saves 0\n", "single delete n1 saves 0\n"},
#define LEAST(least_)                                                                                              \
    "pool default least=" least_ "\ntype t2 2 od/a/0.2\ntype t8 8 od/a/0.8\nnode n1 default t8 od/a\npod a n1 1\n"
#define REPLACED "single replace n1 -> t2 on-demand saves 0.6\n"
        {"as many dollars as the pool asks for", LEAST("0.6"), REPLACED, REPLACED},
        {"fewer", LEAST("0.61"), "", ""},
        {"the share that it asks for", LEAST("75%"), REPLACED, REPLACED},
        {"a lesser one", LEAST("76%"), "", ""},
        {"in the time that it asks for", LEAST("1m"), REPLACED, REPLACED}, /* three minutes × 0.2 / 0.6 */
        {"later", LEAST("59s"), "", ""},
        {"nothing that can be read", LEAST("much"), REPLACED, REPLACED},
        {"more than all", LEAST("101%"), REPLACED, REPLACED},
        {"who is deleted pays back at once",
         "pool default types=t4 least=0s\ntype t4 4 od/a/0.4\n" SINK USED("n1", "t4", "1"),
         "single delete n1 saves 0.4\n", "single delete n1 saves 0.4\n"},
        {"nobody goes where the next would go from",
         "pool default types=t4 budget=1\ntype t2 2 od/a/0.4\ntype t4 4 od/a/0.4\n" SINK "pod big sink 60\n" USED("n1", "t2", "400m")
             USED("n2", "t4", "3500m"),
         "single delete n1 saves 0.4\n", "single delete n2 saves 0.4\n"},
    };
    bool fine = true;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int k = 0; k < 2; k++) {
            struct cluster c;
            const char *want = k == 0 ? cases[i].greedy : cases[i].cheapest;
            const struct world *w = world_of(&c, cases[i].fleet);
            c.plan_options.search = k == 0 ? SEARCH_GREEDY : SEARCH_CHEAPEST;
            struct disruption_options o = {.plan = &c.plan_options, .all = true};
            struct disruption *d = disruption_decide(w, &o);
            struct span got = summary(&c, d);
            if (!span_eq(got, span_of(want)))
                print_error("%s, %s: got\n%.*swant\n%s\n", cases[i].label, k == 0 ? "greedy" : "cheapest", SPAN_ARG(got), want);
            fine = fine && span_eq(got, span_of(want));
            disruption_free(d);
            cluster_release(&c);
        }
    assert_true(fine);
}

/* Whoever cannot go for what its pods cost anywhere is not asked about over and over. */
static void a_fleet_that_is_full_is_soon_known(void **state)
{
    static const struct {
        const char *label, *capacity, *offers;
    } cases[] = {{"what is bought is no cheaper", "od/a", "od/a/0.4"},
                 {"spot is not replaced by spot", "spot/a", "od/a/0.4 spot/a/0.2"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        struct buf b = {0};
        buf_addf(&b, "type t4 4 %s\npool default\n", cases[i].offers);
        for (uint32_t k = 0; k < 150; k++)
            buf_addf(&b, "node n%03u default t4 %s\npod p%u n%03u 1500m\npod q%u n%03u 2\n", k, cases[i].capacity, k, k, k, k);
        const struct world *w = world_of(&c, b.ptr);
        c.plan_options.search = SEARCH_CHEAPEST;
        struct disruption_options o = {.plan = &c.plan_options};
        struct disruption *d = disruption_decide(w, &o);
        if (d->command_count != 0 || d->steps > 200000 || !d->complete)
            fail_msg("%s: %u commands, %llu steps", cases[i].label, d->command_count, (unsigned long long)d->steps);
        disruption_free(d);
        cluster_release(&c);
        buf_release(&b);
    }
}

/* --- how launches went --- */

static void expect_priced(const char *price, span_ms warm_up, double fails, const char *want)
{
    struct cluster c;
    char fleet[256];
    snprintf(fleet, sizeof(fleet), "pool default\ntype t2 2 od/a/0.2\ntype x2 2 od/a/%s\nnode n1 default t2 od/a\npod a n1 1\n"
                                   "pod b n1 500m\n", price);
    const struct world *w = world_of(&c, fleet);
    struct launch_fact facts[] = {{SPAN_INIT("other"), 0, 0.99}, {SPAN_INIT("default"), warm_up, fails}};
    c.plan_options.search = SEARCH_CHEAPEST;
    struct disruption_options o = {.plan = &c.plan_options, .launches = facts, .launch_count = 2};
    struct disruption *d = disruption_decide(w, &o);
    struct span got = d->command_count != 0 ? disruption_move_text(&d->arena, w, &d->commands[0]) : SPAN("");
    if (!span_eq(got, span_of(want)))
        fail_msg("%s: %.*s", price, SPAN_ARG(got));
    disruption_free(d);
    cluster_release(&c);
}

static void launches_that_take_long_or_fail_have_their_price(void **state)
{
    (void)state;
    expect_priced("0.195", 3 * MS_MINUTE, 0,
                  "remove n1 -> buy x2 (underutilized): saves $0.0050/h, evicts 2 pods, pays back in 2h25m48s (evictions "
                  "$0.0020, warm-up $0.0097, image pulls $0.0004)");
    expect_priced("0.195", 4 * MS_MINUTE, 0, "");
    expect_priced("0.195", 3 * MS_MINUTE, 0.2, "");
    expect_priced("0.196", MS_MINUTE, 0,
                  "remove n1 -> buy x2 (underutilized): saves $0.0040/h, evicts 2 pods, pays back in 1h25m0s (evictions "
                  "$0.0020, warm-up $0.0033, image pulls $0.0004)");
    expect_priced("0.19", 3 * MS_MINUTE, 0.4,
                  "remove n1 -> buy x2 (underutilized): saves $0.0100/h, evicts 2 pods, pays back in 1h11m24s (evictions "
                  "$0.0020, warm-up $0.0095, image pulls $0.0004, 40 % of launches fail)");
}

/* --- what a pool asks for --- */

/* The plan's only warning of a pool with the annotation is to be this; "": there is none. */
static void expect_warning(const char *annotation, const char *text, const char *want)
{
    struct cluster c;
    char pool[256];
    snprintf(pool, sizeof(pool), "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default, annotations: "
                                 "{stowage.dev/%s: '%s'}}\nspec: {template: {spec: {requirements: []}}}\n",
             annotation, text);
    cluster_init(&c);
    cluster_add(&c, pool);
    const struct plan *p = cluster_plan(&c);
    struct span told = p->warning_count != 0 ? p->warnings[0] : SPAN("");
    if (p->warning_count > 1 || !span_eq(told, span_of(want)))
        fail_msg("%s: %s: \"%.*s\"", annotation, text, SPAN_ARG(told));
    cluster_release(&c);
}

static void min_savings_are_read_or_told(void **state)
{
    static const struct {
        const char *text, *warning;
    } cases[] = {{"0", ""}, {"0.05", ""}, {"10%", ""}, {"100%", ""}, {"30m", ""}, {"1h30m", ""},
#define WRONG(text_)                                                                                               \
    {text_, "NodePool default: metadata.annotations[stowage.dev/min-savings]: \"" text_ "\" has no effect. Fix: write "   \
            "dollars per hour, a share or a time, like \"0.05\", \"10%\" or \"30m\""}
                 WRONG("%"), WRONG("101%"), WRONG("-1"), WRONG("-5m"), WRONG("$1"), WRONG("5 %"), WRONG("much")};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_warning("min-savings", cases[i].text, cases[i].warning);
}

static void allow_windows_that_cannot_be_read_are_told(void **state)
{
    (void)state;
    expect_warning("allow-windows", "0 1 * * mon-fri 4h Europe/Berlin; Drifted: @weekly 1h", "");
    expect_warning("allow-windows", "0 1 * * mon-fri 4h Berlin",
                   "NodePool default: metadata.annotations[stowage.dev/allow-windows]: \"0 1 * * mon-fri 4h Berlin\" cannot be read, "
                   "and until that is fixed no node of the pool is disrupted: \"Berlin\" is not a time zone; write a name like "
                   "Europe/Berlin, or an offset like +02:00");
}

static void modes_that_cannot_be_read_are_told(void **state)
{
    (void)state;
    expect_warning("mode", "act, Underutilized=recommend", "");
    expect_warning("mode", "advise",
                   "NodePool default: metadata.annotations[stowage.dev/mode]: \"advise\" cannot be read, and until that is fixed "
                   "moves of the pool are only recommended: \"advise\" is no mode; write observe, recommend or act");
}

/* FLEET_NOW is noon: a window that is shut holds back, whatever the budgets say. */
static void nobody_goes_outside_of_the_windows(void **state)
{
    static const struct {
        const char *windows;
        bool goes;
    } cases[] = {{"0 11 * * * 2h", true}, {"0 13 * * * 2h", false}, {"0 13 * * * 2h Europe/Berlin", true},
                 {"Drifted: 0 13 * * * 2h", true}, {"Underutilized: 0 13 * * * 2h", false}, {"soon", false}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        struct disruption_options o = {0};
        char fleet[1024];
        snprintf(fleet, sizeof(fleet), "type t2 2 od/a/0.1\ntype t8 8 od/a/0.4\nnode n1 default t2 od/a\npod p n1 1\n"
                                       "node n2 default t8 od/a\npod q n2 1\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\n"
                                       "metadata: {name: default, annotations: {stowage.dev/allow-windows: '%s'}}\n"
                                       "spec: {disruption: {consolidateAfter: 0s, budgets: [{nodes: 100%%}]}, template: {spec: "
                                       "{requirements: []}}}\n", cases[i].windows);
        cluster_init(&c);
        fleet_add(&c, fleet);
        struct disruption *d = decide(&c, &o);
        if ((d->command_count != 0) != cases[i].goes)
            fail_msg("\"%s\": %u commands", cases[i].windows, d->command_count);
        disruption_free(d);
        cluster_release(&c);
    }
}

/* --- what was decided before --- */

#define TWO USED("n1", "t2", "1") USED("n2", "t8", "6")

/* Scenarios 127 to 134, 136: n1 was to go (with "n2"), or to be replaced by t2 or t4. */
static void validation(void **state)
{
    static const struct {
        const char *label, *fleet;
        bool both, replaces;
        const char *nominated;
        enum disruption_validity want;
    } cases[] = {
        {"nothing changed", POOL TYPES TWO, false, false, NULL, VALIDITY_STANDS},
        {"127 a pod came that must stay", POOL TYPES TWO "pod new n1 100m stays=yes\n", false, false, NULL, VALIDITY_CHURN},
        {"128 it is nominated", POOL TYPES TWO, false, false, "n1", VALIDITY_BUDGET},
        {"129 a budget closed", POOL TYPES "node n1 default t2 od/a\npod p n1 1 app=x\npdb b x 0\n" USED("n2", "t8", "6"), false,
         false, NULL, VALIDITY_CHURN},
        {"129 that of the pool", "pool default budget=0\n" TYPES TWO, false, false, NULL, VALIDITY_BUDGET},
        {"129 it has room for one of two", "pool default budget=1\n" TYPES TWO, true, true, NULL, VALIDITY_BUDGET},
        {"130 types are not sold any more", POOL "type t2 2 od/a/0.2!\ntype t4 4 od/a/0.4\ntype t8 8 od/a/0.8\n"
         USED("n1", "t8", "1"), false, true, NULL, VALIDITY_SCHEDULING},
        {"131 others are", POOL TYPES "type t1 1 od/a/0.1\n" USED("n1", "t8", "1"), false, true, NULL, VALIDITY_STANDS},
        {"132 a node is needed now", POOL TYPES USED("n1", "t2", "1") USED("n2", "t8", "7500m"), false, false, NULL,
         VALIDITY_SCHEDULING},
        {"132 or two", "pool default types=t2\n" TYPES "node n1 default t4 od/a\npod a n1 1500m\npod b n1 1500m\n", false, true, NULL,
         VALIDITY_SCHEDULING},
        {"133 none is needed now", POOL TYPES TWO, false, true, NULL, VALIDITY_SCHEDULING},
        {"134 prices rose", POOL "type t2 2 od/a/2\ntype t4 4 od/a/4\ntype t8 8 od/a/0.8\n" USED("n1", "t8", "1"), false, true, NULL,
         VALIDITY_STANDS},
        {"136 it is gone", POOL TYPES USED("n2", "t8", "6"), false, false, NULL, VALIDITY_CHURN},
        {"136 one of two is gone", POOL TYPES USED("n1", "t2", "1"), true, false, NULL, VALIDITY_CHURN},
        {"it is empty now", POOL TYPES "node n1 default t2 od/a\n" USED("n2", "t8", "6"), false, false, NULL, VALIDITY_CHURN},
        {"no pool is ready", "pool default ready=no\n" TYPES TWO, false, false, NULL, VALIDITY_UNKNOWN},
    };
    static const struct span nodes[] = {SPAN_INIT("n1"), SPAN_INIT("n2")}, types[] = {SPAN_INIT("t2"), SPAN_INIT("t4")};
    bool fine = true;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        const struct world *w = world_of(&c, cases[i].fleet);
        uint64_t nominated[1] = {0};
        if (cases[i].nominated != NULL)
            nominated[0] = UINT64_C(1) << world_find_node(w, span_of(cases[i].nominated));
        struct disruption_options o = {.plan = &c.plan_options, .nominated = nominated};
        struct disruption_pledge p = {.nodes = nodes, .count = cases[i].both ? 2 : 1, .replaces = cases[i].replaces,
                                      .types = types, .type_count = COUNT_OF(types)};
        enum disruption_validity got = disruption_validate(w, &o, &p);
        if (got != cases[i].want)
            print_error("%s: got %s, want %s\n", cases[i].label, disruption_validity_name(got),
                        disruption_validity_name(cases[i].want));
        fine = fine && got == cases[i].want;
        cluster_release(&c);
    }
    assert_true(fine);
}

/* Of several replacements each is to be what was pledged. */
static void validation_of_several(void **state)
{
    static const struct span n1 = SPAN_INIT("n1"), t5 = SPAN_INIT("t5"), t4 = SPAN_INIT("t4");
    const struct {
        struct pledged_claim other;
        uint32_t count;
        enum disruption_validity want;
    } cases[] = {
        {{&t5, 1}, 1, VALIDITY_STANDS}, {{&t4, 1}, 1, VALIDITY_SCHEDULING}, {{&t5, 1}, 0, VALIDITY_SCHEDULING}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        const struct world *w = world_of(&c, "pool default\ntype t5 5 od/a/0.3\ntype t16 16 od/a/1.6\nnode n1 default t16 od/a\n"
                                             "pod a n1 4500m\npod b n1 4500m\n");
        c.plan_options.search = SEARCH_CHEAPEST;
        struct disruption_options o = {.plan = &c.plan_options};
        struct disruption_pledge p = {.nodes = &n1, .count = 1, .replaces = true, .types = &t5, .type_count = 1,
                                      .others = &cases[i].other, .other_count = cases[i].count};
        assert_int_equal(disruption_validate(w, &o, &p), cases[i].want);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fleets),
        cmocka_unit_test(spot_by_spot_needs_options),
        cmocka_unit_test(who_holds_room_for_buffers_goes_like_others),
        cmocka_unit_test(multi_takes_at_most_101),
        cmocka_unit_test(single_takes_pools_by_turns),
        cmocka_unit_test(multi_ends_with_what_it_has),
        cmocka_unit_test(who_a_budget_holds_is_not_done),
        cmocka_unit_test(without_a_pool_multi_ends_the_pass),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(a_fleet_that_is_full_is_soon_known),
        cmocka_unit_test(launches_that_take_long_or_fail_have_their_price),
        cmocka_unit_test(min_savings_are_read_or_told),
        cmocka_unit_test(allow_windows_that_cannot_be_read_are_told),
        cmocka_unit_test(modes_that_cannot_be_read_are_told),
        cmocka_unit_test(nobody_goes_outside_of_the_windows),
        cmocka_unit_test(validation),
        cmocka_unit_test(validation_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
