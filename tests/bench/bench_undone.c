/* bench_undone: how much of what was removed, being empty or for less, has to be bought again within the hour, with the
 * extender in the stand-in scheduler's configuration and without: a cluster in memory, on a virtual
 * clock, the same arrivals and departures for both.
 *
 *   bench_undone [SEATS [SEEDS [AFTER [POLICY [RETURN]]]]]   (200 8 30s WhenEmpty 0)
 *
 * A seat is room that is asked for: a pod stays there for a while and leaves, and when it is gone
 * another one like it comes, to wherever the scheduler sends it. Seats are opened in bursts in the first
 * twenty minutes and closed in the last twenty, so that what is asked for rises, stays, and falls.
 * Whoever knew that would remove nothing before he has bought the last node; so what is bought after a
 * removal undoes it. Counted is one purchase for each removal, within an hour of it, for which the
 * removed node would have done: it had room for all that the new one was bought for; there is one pool,
 * and no pod chooses among its nodes.
 * Then comes an hour in which nothing is asked for: what is still kept is paid for. "Never used": the removed node never had a pod, since those it was
 * bought for had found room elsewhere.
 *
 * A pod that has to leave its node before its time comes again, as its controller would see to: it was
 * moved.
 *
 * Exit status 1: with the extender something was undone, or somebody moved twice.
 *
 * RETURN are the minutes of --empty-return.
 * POLICY is the pool's consolidationPolicy, AFTER its consolidateAfter; 15 s more go by before a removal is final. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube/backoff.h"
#include "reconciler/derive.h"
#include "sim/stowage.h"

enum {
    SEATS = 200,
    SEEDS = 8,
    BURST = 10, /* seats that open at once, on average */
    PHASE_MS = 20 * MS_MINUTE,
    STAY_MS = 20 * MS_SECOND,      /* at least */
    LONGER_MS = 4 * MS_MINUTE,     /* more than that, on average */
    BETWEEN_MS = 1100,             /* from one pod of a seat to the next: it ends, a controller sees it */
    LOOK_MS = 1 * MS_SECOND,
};
static const wall_ms BEGIN = INT64_C(1767323045) * MS_SECOND; /* 2026-01-02T03:04:05Z */
static const span_ms WITHIN = 60 * (span_ms)MS_MINUTE;

static const struct shape { /* what pods ask for; those of `./dev bench churn` */
    const char *cpu, *memory;
    int percent;
} shapes[] = {
    {"100m", "128Mi", 30}, {"250m", "512Mi", 30}, {"500m", "1Gi", 20},
    {"1", "2Gi", 12},      {"2", "4Gi", 6},       {"4", "8Gi", 2},
};

static const char cluster_format[] =
    "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n"
    "spec: {nodeRegistrationDelay: 10s}\n"
    "---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
    "spec:\n"
    "  disruption: {consolidationPolicy: %s, consolidateAfter: %s, budgets: [{nodes: '100%%'}]}\n"
    "  template:\n"
    "    spec:\n"
    "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
    "      requirements:\n"
    "      - {key: kubernetes.io/os, operator: In, values: [linux]}\n"
    "      - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n"
    "      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}\n"
    "      - {key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ['17']}\n";

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_undone: %s: %s\n", what, why);
    exit(1);
}

/* ---- who comes when ---- */

struct visit {
    wall_ms come, leave;
    const struct shape *shape;
    /* in a run */
    uint32_t pods;    /* made for it so far; the last one is the one meant below */
    bool wanted;      /* it has come, and is not to leave yet */
    bool seen, bound; /* by Stowage */
    wall_ms again;    /* the pod went before its time: when the next comes; 0: it did not */
};

struct visits {
    struct arena arena;
    struct visit *items;
    size_t count, capacity;
    uint64_t random;
};

static double below(struct visits *v, double limit)
{
    return random_unit(&v->random) * limit;
}

static wall_ms exponential(struct visits *v, double mean)
{
    return (wall_ms)(-log1p(-random_unit(&v->random)) * mean);
}

static const struct shape *any_shape(struct visits *v)
{
    double percent = below(v, 100);
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        if ((percent -= shapes[i].percent) < 0)
            return &shapes[i];
    return &shapes[0];
}

static void fill_seat(struct visits *v, wall_ms open, wall_ms close)
{
    const struct shape *shape = any_shape(v);
    for (wall_ms at = open; at < close;) {
        wall_ms leave = at + STAY_MS + exponential(v, LONGER_MS);
        struct visit visit = {.come = at, .leave = leave < close ? leave : close, .shape = shape};
        ARENA_PUSH(&v->arena, v->items, v->count, v->capacity, visit);
        at = leave + BETWEEN_MS;
    }
}

static void make_visits(struct visits *v, uint64_t seed, uint32_t seats)
{
    double gap = (double)PHASE_MS * BURST / seats;
    wall_ms now = BEGIN;
    *v = (struct visits){.random = seed};
    arena_init(&v->arena, 0);
    for (uint32_t left = seats; left > 0;) {
        now += exponential(v, gap);
        for (uint32_t n = 1 + (uint32_t)below(v, 2 * BURST - 1); n > 0 && left > 0; n--, left--)
            fill_seat(v, now, BEGIN + 2 * PHASE_MS + (wall_ms)below(v, PHASE_MS));
    }
}

/* ---- a run ---- */

struct life { /* of a NodeClaim that was launched */
    struct span uid;
    wall_ms bought, removed;   /* removed 0: it was not */
    amount wanted[3], room[3]; /* CPU, memory, pods */
    bool used, undone;
};

struct figures {
    uint32_t pods, moved, moved_twice, bought, removed, undone, never_used;
    double price_hours;
};

struct run {
    struct sim *sim;
    struct sim_stowage *stowage;
    struct visits *visits;
    struct arena arena;
    struct life *lives;
    size_t count, capacity;
    wall_ms looked;
    struct figures *figures; /* of all seeds so far */
};

static void request(struct run *r, enum api_verb verb, size_t visit, struct span body)
{
    struct arena a;
    arena_init(&a, 0);
    const struct visit *v = &r->visits->items[visit];
    struct api_request request = {
        .verb = verb, .kind = KIND_POD, .ns = SPAN("default"), .body = body};
    if (verb == API_DELETE)
        request.name = arena_printf(&a, "pod-%05zu-%u", visit, v->pods);
    struct sim_answer answer = sim_cluster_do(sim_cluster(r->sim), &a, &request);
    if (answer.status >= 400 && answer.status != 404)
        die("a pod", arena_cstr(&a, answer.body));
    arena_release(&a);
}

static void come(struct run *r, size_t visit)
{
    struct visit *v = &r->visits->items[visit];
    struct buf body = {0};
    v->pods++;
    v->wanted = true;
    v->seen = v->bound = false;
    v->again = 0;
    r->figures->pods += v->pods == 1;
    buf_addf(&body,
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%05zu-%u\"},\"spec\":{"
             "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"%s\","
             "\"memory\":\"%s\"}}}]}}",
             visit, v->pods, v->shape->cpu, v->shape->memory);
    request(r, API_CREATE, visit, buf_span(&body));
    buf_release(&body);
}

/* Pods come and go. Returns when the next does. */
static wall_ms play(struct run *r, wall_ms now)
{
    wall_ms next = INT64_MAX;
    for (size_t i = 0; i < r->visits->count; i++) {
        struct visit *v = &r->visits->items[i];
        if (v->leave <= now) {
            if (v->wanted)
                request(r, API_DELETE, i, (struct span){0});
            v->wanted = false;
            continue;
        }
        wall_ms due = v->pods == 0 ? v->come : v->again;
        if (due != 0 && due <= now)
            come(r, i);
        else if (due != 0 && due < next)
            next = due;
        if (v->wanted && v->leave < next)
            next = v->leave;
    }
    return next;
}

static void look_at_pod(struct run *r, const struct snapshot *s, size_t visit, wall_ms now)
{
    struct visit *v = &r->visits->items[visit];
    char name[32];
    snprintf(name, sizeof(name), "pod-%05zu-%u", visit, v->pods);
    const struct pod *pod = snapshot_find(s, KIND_POD, SPAN("default"), span_of(name));
    bool there = pod != NULL && pod->meta.deleted == 0;
    v->seen |= there;
    if (there || !v->seen || v->again != 0)
        return;
    v->again = now + BETWEEN_MS;
    r->figures->moved++;
    r->figures->moved_twice += v->pods == 2;
}

static void take_amounts(amount out[3], struct resources from)
{
    out[0] = resources_get(from, SYM_CPU);
    out[1] = resources_get(from, SYM_MEMORY);
    out[2] = resources_get(from, SYM_PODS);
}

static struct life *life_of(struct run *r, const struct node_claim *c)
{
    for (size_t i = r->count; i-- > 0;)
        if (span_eq(r->lives[i].uid, c->meta.uid))
            return &r->lives[i];
    struct life m = {.uid = arena_dup(&r->arena, c->meta.uid), .bought = c->meta.created};
    take_amounts(m.wanted, c->requests);
    ARENA_PUSH(&r->arena, r->lives, r->count, r->capacity, m);
    return &r->lives[r->count - 1];
}

static void look_at_nodes(struct run *r, const struct snapshot *s, wall_ms now)
{
    const struct world *w = derive_world(s);
    struct snapshot_iter it = snapshot_each(s, KIND_NODE_CLAIM);
    for (const struct node_claim *c; (c = snapshot_next(&it)) != NULL;) {
        if (c->provider_id.len == 0)
            continue;
        struct life *m = life_of(r, c);
        int32_t row = w != NULL ? world_find_claim(w, c->meta.name) : -1;
        m->used |= row >= 0 && world_node_at(w, (uint32_t)row)->pod_count != 0;
        take_amounts(m->room, c->allocatable);
        if (c->meta.deleted != 0 && m->removed == 0)
            m->removed = now;
    }
}

static double price_of(const struct world *w)
{
    double sum = 0;
    for (uint32_t row = 0; w != NULL && row < world_node_count(w); row++)
        if (!isnan(world_node_at(w, row)->price))
            sum += world_node_at(w, row)->price;
    return sum;
}

static void look(struct run *r, wall_ms now)
{
    const struct snapshot *s = sim_stowage_snapshot(r->stowage);
    if (s == NULL)
        return;
    look_at_nodes(r, s, now);
    for (size_t i = 0; i < r->visits->count; i++)
        if (r->visits->items[i].wanted)
            look_at_pod(r, s, i, now);
    r->figures->price_hours += price_of(derive_world(s)) * LOOK_MS / (60.0 * MS_MINUTE);
}

static wall_ms step(void *user, wall_ms now)
{
    struct run *r = user;
    if (now >= r->looked + LOOK_MS) {
        look(r, now);
        r->looked = now;
    }
    wall_ms next = play(r, now);
    return next < r->looked + LOOK_MS ? next : r->looked + LOOK_MS;
}

/* ---- what came of it ---- */

static bool would_have_done(const struct life *old, const struct life *new)
{
    for (int i = 0; i < 3; i++)
        if (new->wanted[i] > old->room[i])
            return false;
    return old->removed != 0 && old->removed <= new->bought &&
           new->bought - old->removed <= WITHIN && !old->undone;
}

static int by_purchase(const void *a, const void *b)
{
    const struct life *x = a, *y = b;
    if (x->bought != y->bought)
        return x->bought < y->bought ? -1 : 1;
    return span_cmp(x->uid, y->uid);
}

/* To each purchase the removal of the least node that would have done. */
static void count_nodes(struct run *r)
{
    struct figures *f = r->figures;
    if (r->count != 0)
        qsort(r->lives, r->count, sizeof(*r->lives), by_purchase);
    for (size_t i = 0; i < r->count; i++) {
        struct life *best = NULL;
        for (size_t k = 0; k < i; k++) {
            struct life *old = &r->lives[k];
            if (would_have_done(old, &r->lives[i]) && (best == NULL || old->room[0] < best->room[0]))
                best = old;
        }
        f->bought++;
        f->removed += r->lives[i].removed != 0;
        f->undone += best != NULL;
        f->never_used += best != NULL && !best->used;
        if (best != NULL)
            best->undone = true;
    }
}

static void load_cluster(struct sim *s, const char *policy, const char *after)
{
    struct err err;
    struct buf yaml = {0};
    buf_addf(&yaml, cluster_format, policy, after);
    if (!sim_cluster_load(sim_cluster(s), buf_span(&yaml), NULL, &err))
        die("the cluster", err.msg);
    buf_release(&yaml);
}

struct how {
    const char *policy, *after;
    span_ms empty_return;
};

static void run(struct visits *visits, const struct how *how, bool with, struct figures *into)
{
    struct err err;
    struct run r = {.visits = visits,
                    .figures = into,
                    .sim = sim_new(&(struct sim_options){
                        .cluster = {.now = BEGIN, .apply_delay = 2, .reply_delay = 2, .watch_delay = 5}})};
    arena_init(&r.arena, 0);
    for (size_t i = 0; i < visits->count; i++) {
        const struct visit *v = &visits->items[i];
        visits->items[i] = (struct visit){.come = v->come, .leave = v->leave, .shape = v->shape};
    }
    load_cluster(r.sim, how->policy, how->after);
    r.stowage = sim_stowage_new(r.sim, &(struct sim_stowage_options){.reconciler.empty_return = how->empty_return});
    struct sim_extender extender = sim_stowage_extender(r.stowage);
    sim_set_extender(r.sim, with ? &extender : NULL);
    sim_add_actor(r.sim, (struct sim_actor){.user = &r, .step = step});
    if (!sim_run_until(r.sim, BEGIN + 3 * PHASE_MS + WITHIN, &err))
        die("the two hours", err.msg);
    count_nodes(&r);
    sim_set_extender(r.sim, NULL);
    sim_stowage_free(r.stowage);
    sim_free(r.sim);
    arena_release(&r.arena);
}

static void print(const char *name, const struct figures *f, const char *goal)
{
    printf("  %-18s %4u nodes removed; undone within the hour %3u%s, of them never used %3u; pods "
           "moved %u, twice %u%s; %4u nodes bought, %.3f price-hours\n",
           name, f->removed, f->undone, goal, f->never_used, f->moved, f->moved_twice, goal, f->bought,
           f->price_hours);
}

int main(int argc, char **argv)
{
    struct figures with = {.pods = 0}, without = {.pods = 0};
    uint32_t seats = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : SEATS;
    uint32_t seeds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : SEEDS;
    struct how how = {.after = argc > 3 ? argv[3] : "30s", .policy = argc > 4 ? argv[4] : "WhenEmpty"};
    how.empty_return = argc > 5 ? (span_ms)strtoul(argv[5], NULL, 10) * MS_MINUTE : 0;
    if (seats == 0 || seeds == 0)
        die("usage", "bench_undone [SEATS [SEEDS [AFTER [POLICY [RETURN]]]]]");
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct visits visits;
        make_visits(&visits, seed, seats);
        run(&visits, &how, true, &with);
        run(&visits, &how, false, &without);
        arena_release(&visits.arena);
    }
    printf("undone      %u hours of %u seats, %s, consolidateAfter %s; %u pods\n", seeds, seats, how.policy, how.after, with.pods);
    print("with the extender", &with, " (goal: 0)");
    print("without", &without, "");
    return with.undone != 0 || with.moved_twice != 0; /* with the extender is how it is meant to be run */
}
