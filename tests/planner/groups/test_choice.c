/* Pools and groups of one cluster: the plan that is chosen is held, on random clusters, against pools first and groups first,
 * each worked out here: never fewer pods of the highest priority at which they differ, and else never dearer. */
#include "planner/groups/choice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "planner/groups/bought.h"
#include "planner/groups/snapshot/snapshot.h"
#include "support_pass.h"
#include "tests/planner/support_random.h"

enum { SEEDS = 250 };

static unsigned looked, bought, settled; /* passes whose places were looked at, and that were told of what pools buy; plans beside guests */

struct mixed { /* a cluster and its groups, with all that a plan of both is made of */
    struct cluster c;
    struct node_groups file;
    struct group_flags flags;
    struct group_objects objects;
    struct choice_ground ground;
    struct world *world; /* of the groups */
};

static struct world *world_of(void *user, const struct group_objects *objects)
{
    struct mixed *m = user;
    struct world_input in = cluster_input(&m->c);
    struct group_ground g = group_model_ground(m->ground.model, objects, &m->c.arena);
    in.nodes = g.nodes;
    in.node_count = g.node_count;
    in.pods = g.pods;
    in.pod_count = g.pod_count;
    return world_build(&in);
}

static struct world *both_of(void *user, const struct group_offers *offers)
{
    struct mixed *m = user;
    struct world_input in = cluster_input(&m->c);
    in.pools = offers->pools;
    in.pool_count = offers->pool_count;
    in.catalogue = &offers->catalogue;
    in.options = &offers->options;
    return world_build(&in);
}

static void mixed_open(struct mixed *m, const char *groups, bool alone)
{
    struct err err = {0};
    if (alone)
        m->c.kinds[KIND_NODE_POOL].count = m->c.kinds[KIND_NODE_CLAIM].count = 0;
    m->c.options.all_unbound = m->c.options.unbound_classes = true;
    m->c.plan_options.now = MS_HOUR; /* pods are of 1970, and have waited */
    cluster_plan_unchecked(&m->c);
    pass_read(&m->c, groups, &node_groups_schema, &m->file);
    m->objects = pass_objects(&m->c);
    m->flags = group_flags_default();
    m->flags = choice_flags(&m->flags, &m->file, !alone);
    struct group_model *model = group_model_make(&m->file, &m->flags, &m->objects, m->c.plan_options.now, &m->c.arena, &err);
    if (model == NULL)
        fail_msg("%s", err.msg);
    m->ground = (struct choice_ground){.pools = m->c.world, .options = &m->c.plan_options, .model = model, .flags = &m->flags,
                                       .objects = &m->objects, .at_once = true, .world_of = world_of, .both_of = both_of, .user = m};
    m->ground.groups = m->world = world_of(m, &m->objects);
}

static void mixed_close(struct mixed *m)
{
    world_free(m->world);
    cluster_release(&m->c);
}

/* --- what a way comes to --- */

struct way {
    int32_t left[512]; /* priorities, highest first */
    uint32_t left_count, unknown;
    double cost;
};

static int higher_first(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x < y) - (x > y);
}

static bool is_coming(const struct group_pass *pass, const struct pod *p)
{
    for (uint32_t i = 0; i < pass->coming_count; i++)
        if (pass->coming[i].pod == p)
            return true;
    return false;
}

/* Nobody has two places. */
static void expect_one_place(const struct plan *p, const struct group_pass *pass)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        for (uint32_t k = 0; k < p->claims[i].pod_count; k++)
            assert_false(is_coming(pass, p->claims[i].pods[k]));
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
            assert_false(is_coming(pass, p->nodes[i].pods[k]));
}

/* --- rules about where pods are --- */

static void stand(struct snapshot *s, const struct world *w, const struct node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        snapshot_add_row(s, (uint32_t)world_find_node(w, nodes[i]->meta.name));
}

static void seat_nominated(struct snapshot *s, const struct world *w, const struct group_objects *o)
{
    for (size_t i = 0; i < o->pod_count; i++) {
        const struct pod *p = o->pods[i];
        int32_t row = p->node == SYM_NONE && p->nominated_node != SYM_NONE ? world_find_node(w, sym_text(w->syms, p->nominated_node)) : -1;
        if (row >= 0)
            snapshot_place(s, (uint32_t)row, p, snapshot_class_of(w, p));
    }
}

/* The pass seats whoever fits a node that stands there first, and does not say so: others may count on it. */
static bool may_have_seated(struct snapshot *s, const struct world *w, const struct group_objects *o)
{
    for (size_t i = 0; i < o->pod_count; i++) {
        const struct pod *p = o->pods[i];
        for (uint32_t k = 0; p->node == SYM_NONE && p->nominated_node == SYM_NONE && k < snapshot_count(s); k++)
            if (snapshot_fits(s, snapshot_list(s)[k], snapshot_class_of(w, p)))
                return true;
    }
    return false;
}

static uint32_t machine_of(struct snapshot *s, const struct group_pass *pass, const struct group_coming *c, uint32_t *made)
{
    uint32_t *at = &made[c->group * 64 + c->machine];
    const struct node *template = pass->model->groups[c->group].template.node;
    if (*at == 0)
        *at = snapshot_add_copy(s, (uint32_t)world_find_node(pass->world, template->meta.name)) + 1;
    return *at - 1;
}

/* Each pod for which a group grows may be where it goes in the eyes of kube-scheduler, beside all that stands and all that
 * the pools buy. */
static void expect_let_in(const struct group_objects *objects, const struct group_pass *pass)
{
    struct arena a;
    arena_init(&a, 0);
    const struct world *w = pass->world;
    struct snapshot *s = snapshot_create(&a, w, INT32_MIN);
    uint32_t *made = ARENA_ARRAY(&a, uint32_t, 64 * (size_t)pass->model->group_count);
    stand(s, w, objects->nodes, objects->node_count);
    if (objects->bought != NULL)
        stand(s, w, objects->bought->nodes, objects->bought->node_count);
    seat_nominated(s, w, objects);
    bool known = !may_have_seated(s, w, objects);
    looked += known && pass->coming_count != 0;
    for (uint32_t i = 0; known && i < pass->coming_count; i++) {
        const struct group_coming *c = &pass->coming[i];
        uint32_t node = machine_of(s, pass, c, made), class_id = snapshot_class_of(w, c->pod);
        if (!snapshot_fits(s, node, class_id))
            fail_msg("%.*s may not be on machine %u of %.*s", SPAN_ARG(c->pod->meta.name), c->machine,
                     SPAN_ARG(pass->model->groups[c->group].spec->name));
        snapshot_place(s, node, c->pod, class_id);
    }
    arena_release(&a);
}

/* What the groups do for those whom a plan of the pools leaves. In `a`; the world, to be freed, of what is bought, or NULL. */
static const struct group_pass *pass_beside(const struct mixed *m, const struct plan *p, const struct choice *c, struct arena *a,
                                            struct world **apart_out)
{
    struct group_objects objects = m->objects;
    struct group_flags flags = m->flags;
    flags.is_trial = true;
    groups_see_plan(&objects, p, a);
    if (c != NULL)
        objects.wishes = choice_wishes(c, &objects.wish_count);
    *apart_out = objects.bought != NULL ? world_of((void *)(uintptr_t)m, &objects) : NULL;
    const struct group_pass *pass = groups_pass(*apart_out != NULL ? *apart_out : m->world, m->ground.model, &flags, &objects,
                                                m->c.plan_options.now, a);
    expect_let_in(&objects, pass);
    bought += objects.bought != NULL;
    return pass;
}

/* A plan of the pools, and what the groups then do for the others. */
static struct way way_of(const struct mixed *m, const struct plan *p, const struct choice *c)
{
    struct way w = {.cost = 0};
    struct arena a;
    struct world *apart;
    arena_init(&a, 0);
    const struct group_pass *pass = pass_beside(m, p, c, &a, &apart);
    expect_one_place(p, pass);
    for (uint32_t i = 0; i < p->claim_count; i++) {
        w.unknown += (uint32_t)isnan(p->claims[i].price);
        w.cost += isnan(p->claims[i].price) ? 0 : p->claims[i].price;
    }
    for (uint32_t i = 0; i < pass->decision_count; i++) {
        const struct node_group *g = pass->model->groups[pass->decisions[i].group].spec;
        w.unknown += g->has_price ? 0 : (uint32_t)pass->decisions[i].delta;
        w.cost += g->has_price ? g->price * pass->decisions[i].delta : 0;
    }
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (!is_coming(pass, p->unschedulable[i].pod))
            w.left[w.left_count++] = p->unschedulable[i].pod->priority;
    qsort(w.left, w.left_count, sizeof(w.left[0]), higher_first);
    world_free(apart);
    arena_release(&a);
    return w;
}

static int compare_left(const struct way *a, const struct way *b)
{
    for (uint32_t i = 0; i < a->left_count || i < b->left_count; i++) {
        if (i >= a->left_count || i >= b->left_count)
            return i >= a->left_count ? -1 : 1;
        if (a->left[i] != b->left[i])
            return a->left[i] < b->left[i] ? -1 : 1;
    }
    return 0;
}

static struct way chosen(const struct mixed *m)
{
    struct choice_options with;
    const struct choice *c = choice_make(&m->ground, m->c.plan, &((struct mixed *)(uintptr_t)m)->c.arena);
    if (c == NULL)
        return way_of(m, m->c.plan, NULL);
    choice_plan_options(&m->c.plan_options, c, &with);
    struct plan *p = plan_solve(m->c.world, &with.plan);
    struct way w = way_of(m, p, c);
    settled += with.plan.guest_count != 0;
    assert_true(isnan(p->lower_bound) || isnan(p->cost_after) || p->lower_bound <= p->cost_after * (1 + 1e-9));
    plan_free(p);
    return w;
}

/* --- groups first --- */

struct asked { /* whom the groups took */
    const struct group_pass *pass;
};

static struct why taken(void *user, const struct pod *p)
{
    const struct asked *x = user;
    return is_coming(x->pass, p) ? (struct why){SPAN("a group has taken it"), {NULL, 0}} : (struct why){{NULL, 0}, {NULL, 0}};
}

/* Who has a place on a node that stands keeps it; all others ask the groups, and then the pools. */
static struct way groups_first(struct mixed *m)
{
    struct arena *a = &m->c.arena;
    struct plan nodes_only = *m->c.plan;
    struct world *apart;
    nodes_only.claim_count = 0;
    struct asked x = {pass_beside(m, &nodes_only, NULL, a, &apart)};
    struct plan_options o = m->c.plan_options;
    o.put_off = taken;
    o.user = &x;
    struct plan *p = plan_solve(m->c.world, &o);
    struct way w = way_of(m, p, NULL);
    plan_free(p);
    world_free(apart);
    return w;
}

/* --- random clusters --- */

static void draw_groups(struct draws *d, struct buf *out)
{
    buf_addf(out, "apiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n");
    for (unsigned i = 0, count = 1 + draw(d, 3); i < count; i++) {
        unsigned cpu = 1 + draw(d, 8);
        buf_addf(out, "- {name: g%u, minSize: 0, maxSize: %u, ", i, 1 + draw(d, 6));
        if (draw(d, 5) != 0)
            buf_addf(out, "price: %u.%02u, ", cpu * draw(d, 3), 1 + draw(d, 99));
        buf_addf(out, "template: {metadata: {labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux, "
                      "topology.kubernetes.io/zone: test-zone-%u}}, status: {allocatable: {cpu: '%u', memory: %uGi, pods: "
                      "'%u'}}}}\n",
                 1 + draw(d, 3), cpu, 1 + draw(d, 12), 2 + draw(d, 12));
    }
}

static bool any_price(const struct mixed *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->file.groups.count; i++)
        any |= m->file.groups.items[i].has_price;
    return any;
}

static void expect_no_worse(uint64_t seed, const char *than, const struct way *is, const struct way *other, unsigned *cheaper)
{
    int order = compare_left(is, other);
    bool dearer = order == 0 && is->unknown == other->unknown && is->cost > other->cost * (1 + 1e-9);
    if (order > 0 || (order == 0 && is->unknown > other->unknown) || dearer)
        fail_msg("seed %llu: %u pods left, %u nodes of unknown price, $%g; %s: %u, %u, $%g", (unsigned long long)seed,
                 is->left_count, is->unknown, is->cost, than, other->left_count, other->unknown, other->cost);
    *cheaper += order < 0 || is->cost < other->cost * (1 - 1e-9);
}

static void make(uint64_t seed, struct random_cluster *r, struct mixed *m, bool alone)
{
    struct draws d = {.state = seed};
    struct buf groups = {0};
    *m = (struct mixed){.world = NULL};
    random_cluster_make(r, &d);
    draw_groups(&d, &groups);
    random_cluster_load(r, 0, &m->c);
    m->c.plan_options.search = SEARCH_CHEAPEST;
    mixed_open(m, groups.ptr, alone);
    buf_release(&groups);
}

static void one(uint64_t seed, unsigned *than_pools, unsigned *than_groups, unsigned *than_both)
{
    struct random_cluster r;
    struct mixed m;
    make(seed, &r, &m, false);
    struct way is = chosen(&m), pools = way_of(&m, m.c.plan, NULL), first = groups_first(&m);
    unsigned p = 0, g = 0;
    expect_no_worse(seed, "pools first", &is, &pools, &p);
    if (any_price(&m)) /* else there is no choice */
        expect_no_worse(seed, "groups first", &is, &first, &g);
    *than_pools += p;
    *than_groups += g;
    *than_both += p != 0 && g != 0;
    mixed_close(&m);
    random_cluster_release(&r);
}

static void never_worse_than_one_after_the_other(void **state)
{
    (void)state;
    unsigned pools = 0, groups = 0, both = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one(seed, &pools, &groups, &both);
    print_message("%d clusters: better than pools first %u, than groups first %u, than both %u\n", SEEDS, pools, groups, both);
    print_message("%u passes looked at, %u beside what was bought, %u plans beside guests\n", looked, bought, settled);
    assert_true(pools >= 20 && groups >= 20 && both >= 5);
    assert_true(looked >= 100 && bought >= 20 && settled >= 1);
}

/* Without pools: than the pass as it is, which asks one group after the other. */
static void groups_alone(void **state)
{
    (void)state;
    unsigned better = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_cluster r;
        struct mixed m;
        make(seed, &r, &m, true);
        struct way is = chosen(&m), without = way_of(&m, m.c.plan, NULL);
        expect_no_worse(seed, "without a plan", &is, &without, &better);
        mixed_close(&m);
        random_cluster_release(&r);
    }
    print_message("%d clusters: better than without a plan %u\n", SEEDS, better);
    assert_true(better >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_alone),
        cmocka_unit_test(never_worse_than_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
