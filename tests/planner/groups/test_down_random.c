/* Random clusters in which room and budgets alone decide. As upstream: what is found unneeded, and what goes, is what a naive
 * reading of spec node-groups 4.5 to 4.7 has, asked of arrays. Else: the set saves no less than that, its pods have places
 * elsewhere, and there are clusters in which it saves more. */
#include "planner/groups/inner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/groups/snapshot/snapshot.h"

enum { ROUNDS = 600, NODES = 10, PODS = 4, GROUPS = 3, BUDGETS = 2, ROOM = 4000, NOW = 100 * 3600 * 1000, OLD = 3600 * 1000 };

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

struct small_pod {
    int32_t cpu, budget; /* -1: none selects it */
};

struct small_node {
    int32_t group; /* -1: none */
    bool long_unneeded;
    struct small_pod pods[NODES * PODS];
    uint32_t pod_count;
    int32_t left;
    bool gone, eligible;
};

struct small {
    struct small_node nodes[NODES];
    int32_t min[GROUPS], target[GROUPS], allowed[BUDGETS];
    uint32_t node_count, list[NODES], last; /* the scheduler's list, and who was found last */
    int32_t parallel, drains;
    double price[GROUPS]; /* 0: nobody knows it */
    char answer[8 * NODES]; /* of each node: 'n'eeded, 'u'nneeded, 'e'mpty or 'd'rained */
};

static void make(struct small *s)
{
    *s = (struct small){.node_count = 2 + draw(NODES - 1), .parallel = 1 + (int32_t)draw(4), .drains = 1 + (int32_t)draw(2)};
    for (uint32_t i = 0; i < s->node_count; i++) {
        struct small_node *n = &s->nodes[i];
        *n = (struct small_node){.group = (int32_t)draw(GROUPS + 1) - 1, .long_unneeded = draw(2) == 0, .left = ROOM};
        for (uint32_t k = draw(PODS + 1); k > 0; k--) {
            struct small_pod p = {100 * (int32_t)(1 + draw(14)), (int32_t)draw(2 * BUDGETS) - BUDGETS};
            if (p.cpu > n->left)
                continue;
            n->pods[n->pod_count++] = p;
            n->left -= p.cpu;
        }
        n->eligible = n->group >= 0 && 2 * n->left >= ROOM;
        if (n->group >= 0)
            s->target[n->group]++;
        s->list[i] = i;
    }
    for (uint32_t g = 0; g < GROUPS; g++)
        s->min[g] = (int32_t)draw(3);
    for (uint32_t b = 0; b < BUDGETS; b++)
        s->allowed[b] = (int32_t)draw(4);
}

/* --- the naive reading --- */

static bool is_blocked(const struct small *s, const struct small_node *n)
{
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (n->pods[i].budget >= 0 && s->allowed[n->pods[i].budget] < 1)
            return true;
    return false;
}

/* Its pods go, one after the other, each to the next node in the list that has room. */
static bool move_pods(struct small *s, uint32_t at)
{
    struct small_node *n = &s->nodes[at];
    uint32_t place = 0;
    while (s->list[place] != at)
        place++;
    for (; place + 1 < s->node_count; place++)
        s->list[place] = s->list[place + 1];
    s->list[place] = at;
    n->gone = true;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        uint32_t tried = 0, k;
        for (k = (s->last + 1) % s->node_count; tried < s->node_count; tried++, k = (k + 1) % s->node_count)
            if (!s->nodes[s->list[k]].gone && s->nodes[s->list[k]].left >= n->pods[i].cpu)
                break;
        if (tried == s->node_count)
            return false;
        struct small_node *to = &s->nodes[s->list[k]];
        to->pods[to->pod_count++] = n->pods[i];
        to->left -= n->pods[i].cpu;
        s->last = k;
    }
    return true;
}

static bool remove_node(struct small *s, uint32_t at, bool *risky)
{
    struct small before = *s;
    uint32_t asked[BUDGETS] = {0};
    if (is_blocked(s, &s->nodes[at]))
        return false;
    if (!move_pods(s, at)) {
        uint32_t last = s->last;
        *s = before;
        s->last = last;
        return false;
    }
    /* It has left the list: as many are tried as stand. */
    s->node_count--;
    *risky = false;
    for (uint32_t i = 0; i < s->nodes[at].pod_count; i++)
        if (s->nodes[at].pods[i].budget >= 0)
            *risky |= (int32_t)++asked[s->nodes[at].pods[i].budget] > s->allowed[s->nodes[at].pods[i].budget];
    for (uint32_t b = 0; b < BUDGETS; b++)
        s->allowed[b] -= (int32_t)asked[b];
    return true;
}

struct found {
    uint32_t count[3]; /* empty, drained, drained at a risk */
    uint32_t at[3][NODES];
};

static uint32_t total(const struct found *f)
{
    return f->count[0] + f->count[1] + f->count[2];
}

static void find(struct small *s, uint32_t nodes, uint32_t before, bool by_emptiness, struct found *f)
{
    for (uint32_t half = 0; half < 2; half++)
        for (uint32_t at = 0; at < nodes; at++) {
            struct small_node *n = &s->nodes[at];
            bool risky, empty = n->pod_count == 0;
            if (!n->eligible || s->target[n->group] <= s->min[n->group] || n->long_unneeded != (half == 0) ||
                by_emptiness != empty || s->answer[at] != 'n' || total(f) >= before + 2 * (uint32_t)s->parallel)
                continue;
            uint32_t moved = n->pod_count;
            if (!remove_node(s, at, &risky)) {
                s->answer[at] = 'N';
                continue;
            }
            s->answer[at] = 'u';
            uint32_t kind = moved == 0 ? 0 : risky ? 2 : 1;
            f->at[kind][f->count[kind]++] = at;
        }
}

static void choose(struct small *s, struct found *f)
{
    int32_t size[GROUPS], left = s->parallel, drains = s->drains;
    bool may[NODES] = {false};
    memcpy(size, s->target, sizeof size);
    for (uint32_t drained = 0; drained < 2; drained++)
        for (uint32_t at = 0; at < NODES; at++)
            for (uint32_t kind = drained; kind < 1 + 2 * drained; kind++)
                for (uint32_t i = 0; i < f->count[kind]; i++)
                    if (f->at[kind][i] == at && s->nodes[at].long_unneeded && size[s->nodes[at].group] > s->min[s->nodes[at].group]) {
                        size[s->nodes[at].group]--;
                        may[at] = true;
                    }
    for (uint32_t pass = 0; pass < 2; pass++) { /* groups in the order of their first node, risky ones behind others */
        uint32_t order[2 * NODES], count = 0;
        for (uint32_t kind = pass; kind < 1 + 2 * pass; kind++)
            for (uint32_t at = 0; at < NODES; at++)
                for (uint32_t i = 0; i < f->count[kind]; i++)
                    if (f->at[kind][i] == at && may[at])
                        order[count++] = at;
        for (uint32_t lead = 0; lead < count; lead++)
            for (uint32_t i = lead; i < count; i++) {
                bool same = s->nodes[order[i]].group == s->nodes[order[lead]].group;
                if (!same || s->answer[order[i]] != 'u' || left < 1 || (pass == 1 && drains < 1))
                    continue;
                s->answer[order[i]] = pass == 0 ? 'e' : 'd';
                left--;
                drains -= pass == 1;
            }
    }
}

static void naive(struct small *s)
{
    struct found f = {{0}, {{0}}};
    uint32_t nodes = s->node_count, before = 0;
    memset(s->answer, 'n', nodes);
    for (uint32_t i = 0; i < nodes; i++)
        before += s->nodes[i].long_unneeded;
    find(s, nodes, before, true, &f);
    find(s, nodes, before, false, &f);
    choose(s, &f);
    for (uint32_t i = 0; i < nodes; i++)
        s->answer[i] = s->answer[i] == 'N' ? 'n' : s->answer[i];
}

/* --- the same as objects --- */

struct cluster_of {
    struct arena a;
    struct symtab *syms;
    const struct node **nodes;
    const struct pod **pods;
    const struct disruption_budget **budgets;
    uint32_t pod_count;
    struct node_groups file;
    struct group *groups;
    struct group_now *now;
    struct group_flags flags;
    struct group_objects objects;
    struct group_model model;
    struct group_pass out;
};

static struct span numbered(struct cluster_of *c, const char *what, uint32_t i)
{
    return arena_printf(&c->a, "%s%02u", what, i);
}

static struct resources resources_of(struct cluster_of *c, amount cpu, amount memory)
{
    struct resource *r = ARENA_ARRAY(&c->a, struct resource, 3);
    r[0] = (struct resource){SYM_CPU, cpu};
    r[1] = (struct resource){SYM_MEMORY, memory};
    r[2] = (struct resource){SYM_PODS, 110};
    return (struct resources){r, memory > 1 ? 3 : 1};
}

static struct sym_pairs label_of(struct cluster_of *c, sym key, struct span value)
{
    struct sym_pair *pair = ARENA_NEW(&c->a, struct sym_pair);
    *pair = (struct sym_pair){key, sym_intern(c->syms, value)};
    return (struct sym_pairs){pair, 1};
}

static void add_pods(struct cluster_of *c, const struct small_node *n, struct span node)
{
    static struct owner owner = {.api_version = SYM_API_V1, .kind = SYM_KIND_JOB, .name = SPAN_INIT("once"), .controller = true};
    for (uint32_t i = 0; i < n->pod_count; i++) {
        struct pod *p = ARENA_NEW(&c->a, struct pod);
        *p = (struct pod){.meta = {.name = numbered(c, "p", c->pod_count), .ns = SPAN("default"), .owners = {&owner, 1}},
                          .node = sym_intern(c->syms, node),
                          .phase = POD_RUNNING,
                          .requests = resources_of(c, n->pods[i].cpu, 0)};
        p->meta.uid = p->meta.name;
        if (n->pods[i].budget >= 0)
            p->meta.labels = label_of(c, SYM_ZONE, numbered(c, "b", (uint32_t)n->pods[i].budget));
        c->pods[c->pod_count++] = p;
    }
}

static void add_node(struct cluster_of *c, const struct small *s, uint32_t i)
{
    struct condition *ready = ARENA_NEW(&c->a, struct condition);
    struct node *n = ARENA_NEW(&c->a, struct node);
    *ready = (struct condition){.type = SPAN("Ready"), .status = CONDITION_TRUE};
    *n = (struct node){.meta = {.name = numbered(c, "n", i), .labels = label_of(c, SYM_HOSTNAME, numbered(c, "n", i))},
                       .allocatable = resources_of(c, ROOM, 1LL << 34),
                       .conditions = {ready, 1}};
    c->nodes[i] = n;
    add_pods(c, &s->nodes[i], n->meta.name);
}

static void add_rest(struct cluster_of *c, const struct small *s)
{
    struct job *job = ARENA_NEW(&c->a, struct job);
    const struct job **jobs = ARENA_NEW(&c->a, const struct job *);
    struct node_group *specs = ARENA_ARRAY(&c->a, struct node_group, GROUPS);
    job->meta = (struct meta){.name = SPAN("once"), .ns = SPAN("default")};
    *jobs = job;
    c->objects.jobs = jobs, c->objects.job_count = 1;
    for (uint32_t i = 0; i < BUDGETS; i++) {
        struct disruption_budget *b = ARENA_NEW(&c->a, struct disruption_budget);
        *b = (struct disruption_budget){.meta = {.ns = SPAN("default")},
                                        .has_selector = true,
                                        .selector = {.match_labels = label_of(c, SYM_ZONE, numbered(c, "b", i))},
                                        .disruptions_allowed = s->allowed[i]};
        c->budgets[i] = b;
    }
    c->objects.budgets = c->budgets, c->objects.budget_count = BUDGETS;
    c->groups = ARENA_ARRAY(&c->a, struct group, GROUPS);
    c->now = ARENA_ARRAY(&c->a, struct group_now, GROUPS);
    for (uint32_t i = 0; i < GROUPS; i++) {
        specs[i].min = s->min[i];
        specs[i].has_price = s->price[i] > 0;
        specs[i].price = s->price[i];
        c->groups[i] = (struct group){.spec = &specs[i], .scaling = c->flags.scaling, .target = s->target[i]};
        c->now[i] = (struct group_now){.group = &c->groups[i], .target = s->target[i]};
    }
}

static void answer(struct cluster_of *c, const struct group_run *r, char *out)
{
    const struct group_scale_down *x = &c->out.down;
    memset(out, 'n', r->row_count);
    for (uint32_t i = 0; i < r->row_count; i++) {
        for (uint32_t k = 0; k < x->unneeded_count; k++)
            out[i] = x->unneeded[k].row == r->rows[i] ? 'u' : out[i];
        for (uint32_t k = 0; k < x->empty_count; k++)
            out[i] = x->empty[k] == r->rows[i] ? 'e' : out[i];
        for (uint32_t k = 0; k < x->drain_count; k++)
            out[i] = x->drain[k] == r->rows[i] ? 'd' : out[i];
    }
}

static void solve(struct cluster_of *c, const struct small *s, char *out)
{
    struct world_options options = {.unsplit = true};
    struct catalogue nothing = {0};
    struct world_input in = {.syms = c->syms, .options = &options, .catalogue = &nothing, .nodes = c->nodes,
                             .node_count = s->node_count, .pods = c->pods, .pod_count = c->pod_count};
    struct world *w = world_build(&in);
    uint32_t count = s->node_count, *rows = ARENA_ARRAY(&c->a, uint32_t, count);
    struct group_run r = {.world = w, .model = &c->model, .flags = &c->flags, .objects = &c->objects, .now = NOW,
                          .arena = &c->a, .groups = c->now, .rows = rows, .row_count = count, .out = &c->out};
    r.owners = ARENA_ARRAY(&c->a, int32_t, count);
    r.ready = ARENA_ARRAY(&c->a, uint64_t, 1);
    r.upcoming = ARENA_ARRAY(&c->a, uint64_t, 1);
    r.deleting = ARENA_ARRAY(&c->a, uint64_t, 1);
    r.unneeded_since = ARENA_ARRAY(&c->a, wall_ms, count);
    r.unremovable_until = ARENA_ARRAY(&c->a, wall_ms, count);
    r.snapshot = snapshot_create(&c->a, w, c->flags.expendable_cutoff);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (uint32_t)world_find_node(w, c->nodes[i]->meta.name);
        r.owners[rows[i]] = s->nodes[i].group;
        r.unneeded_since[rows[i]] = s->nodes[i].long_unneeded ? OLD : 0;
        c->file.state.unneeded.count += s->nodes[i].long_unneeded;
        bits_add(r.ready, rows[i]);
        snapshot_add_row(r.snapshot, rows[i]);
    }
    groups_scale_down(&r, false);
    answer(c, &r, out);
    world_free(w);
}

static void ask(const struct small *s, bool as_upstream, char *got)
{
    struct cluster_of c = {.syms = kube_symtab_new(), .flags = group_flags_default()};
    memset(got, 0, 8 * NODES);
    arena_init(&c.a, 0);
    c.flags.as_upstream = as_upstream;
    c.flags.max_parallelism = s->parallel;
    c.flags.max_drains = s->drains;
    c.file.state.has_pass_interval = true;
    c.file.state.pass_interval = 1000;
    c.nodes = ARENA_ARRAY(&c.a, const struct node *, NODES);
    c.pods = ARENA_ARRAY(&c.a, const struct pod *, NODES * PODS);
    c.budgets = ARENA_ARRAY(&c.a, const struct disruption_budget *, BUDGETS);
    for (uint32_t i = 0; i < s->node_count; i++)
        add_node(&c, s, i);
    add_rest(&c, s);
    c.objects.syms = c.syms;
    c.model = (struct group_model){.file = &c.file, .groups = c.groups, .group_count = GROUPS};
    solve(&c, s, got);
    arena_release(&c.a);
    symtab_unref(c.syms);
}

static void begin(uint64_t of, struct small *s)
{
    seed = of * UINT64_C(0x9e3779b97f4a7c15);
    make(s);
}

static void test_random(void **state)
{
    (void)state;
    uint32_t seen[256] = {0};
    for (uint64_t of = 1; of <= ROUNDS; of++) {
        struct small s;
        char got[8 * NODES];
        begin(of, &s);
        ask(&s, true, got);
        naive(&s);
        if (strcmp(s.answer, got) != 0)
            fail_msg("seed %u: %s, naively %s", (unsigned)of, got, s.answer);
        for (uint32_t i = 0; got[i] != '\0'; i++)
            seen[(uint8_t)got[i]]++;
    }
    assert_true(seen['n'] > ROUNDS && seen['u'] > ROUNDS / 4 && seen['e'] > ROUNDS / 8 && seen['d'] > ROUNDS / 8);
}

/* --- the best of several orders --- */

struct saved {
    double unpriced, dollars;
};

static struct saved saved_by(const struct small *s, const char *answer)
{
    struct saved out = {0, 0};
    for (int32_t g = 0; g < GROUPS; g++) {
        int32_t count = 0, most = s->target[g] - s->min[g];
        for (uint32_t i = 0; i < s->node_count; i++)
            count += s->nodes[i].group == g && answer[i] != 'n';
        count = count > most ? most : count;
        count = count > 0 ? count : 0;
        out.unpriced += s->price[g] > 0 ? 0 : count;
        out.dollars += s->price[g] * count;
    }
    return out;
}

static int larger_first(const void *a, const void *b)
{
    return *(const int32_t *)b - *(const int32_t *)a;
}

static bool pack(int32_t *left, uint32_t nodes, const int32_t *pods, uint32_t count)
{
    for (uint32_t i = 0; count != 0 && i < nodes; i++) {
        if (left[i] < pods[0])
            continue;
        left[i] -= pods[0];
        if (pack(left, nodes, pods + 1, count - 1))
            return true;
        left[i] += pods[0];
    }
    return count == 0;
}

/* The pods of all that are unneeded fit the others together, and none is held by a budget. */
static bool holds(const struct small *s, const char *answer)
{
    int32_t left[NODES], pods[NODES * PODS];
    uint32_t nodes = 0, count = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (answer[i] == 'n')
            left[nodes++] = s->nodes[i].left;
        else if (is_blocked(s, &s->nodes[i]) || !s->nodes[i].eligible)
            return false;
        for (uint32_t k = 0; answer[i] != 'n' && k < s->nodes[i].pod_count; k++)
            pods[count++] = s->nodes[i].pods[k].cpu;
    }
    qsort(pods, count, sizeof(*pods), larger_first);
    return pack(left, nodes, pods, count);
}

static void test_saves_no_less(void **state)
{
    (void)state;
    uint32_t more = 0, fewer_began = 0;
    for (uint64_t of = 1; of <= ROUNDS; of++) {
        struct small s;
        char upstream[8 * NODES], ours[8 * NODES];
        begin(of, &s);
        for (uint32_t g = 0; g < GROUPS; g++)
            s.price[g] = (double)draw(4) / 4;
        ask(&s, true, upstream);
        ask(&s, false, ours);
        struct saved least = saved_by(&s, upstream), got = saved_by(&s, ours);
        if (got.unpriced < least.unpriced || got.dollars < least.dollars - 1e-9)
            fail_msg("seed %u: %s saves $%g and %g nodes, upstream's %s $%g and %g", (unsigned)of, ours, got.dollars, got.unpriced,
                     upstream, least.dollars, least.unpriced);
        if (!holds(&s, ours))
            fail_msg("seed %u: %s cannot be", (unsigned)of, ours);
        more += got.unpriced > least.unpriced || got.dollars > least.dollars + 1e-9;
        fewer_began += strpbrk(ours, "ed") == NULL && strpbrk(upstream, "ed") != NULL;
    }
    print_message("%u of %u save more than upstream's order does\n", more, (unsigned)ROUNDS);
    assert_true(more > ROUNDS / 50);
    assert_true(fewer_began < ROUNDS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_saves_no_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
