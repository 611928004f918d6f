#include "sim/sim.h"

#include <stdlib.h>

#include "sim/standins/standin.h"

enum { ROUNDS_MAX = 100000 }; /* at one moment: then it never comes to rest */

struct sim {
    struct sim_cluster *cluster;
    struct sim_options options;
    struct workloads workloads;
    struct stateful stateful;
    struct provisioner provisioner;
    struct daemons daemons;
    struct budget_keeper budgets;
    struct collector collector;
    struct kubelet kubelet;
    struct scheduler *scheduler; /* NULL: left out */
    struct sim_actor *actors;
    uint32_t actor_count, actor_capacity;
};

static span_ms delay_or(span_ms given, span_ms otherwise)
{
    if (given == SIM_AT_ONCE)
        return 0;
    return given != 0 ? given : otherwise;
}

static struct sim_delays delays_of(const struct sim_delays *d)
{
    return (struct sim_delays){
        .controllers = delay_or(d->controllers, 100),
        .schedule = delay_or(d->schedule, 100),
        .node_ready = delay_or(d->node_ready, MS_SECOND),
        .pod_start = delay_or(d->pod_start, MS_SECOND),
        .pod_stop = delay_or(d->pod_stop, MS_SECOND),
        .pod_gc = delay_or(d->pod_gc, (span_ms)20 * MS_SECOND),
    };
}

struct sim *sim_new(const struct sim_options *o)
{
    struct sim *s = mem_new(sizeof *s);
    s->options = *o;
    s->options.delays = delays_of(&o->delays);
    s->cluster = sim_cluster_new(&o->cluster);
    struct objects *objects = &s->cluster->objects;
    span_ms delay = s->options.delays.controllers;
    if (!o->no_controllers) {
        workloads_init(&s->workloads, objects, delay);
        stateful_init(&s->stateful, objects, delay);
        provisioner_init(&s->provisioner, objects, delay);
        daemons_init(&s->daemons, objects, delay);
        budget_keeper_init(&s->budgets, objects, delay);
        collector_init(&s->collector, objects, delay);
    }
    if (!o->no_kubelet)
        kubelet_init(&s->kubelet, objects, &s->options.delays);
    if (!o->no_scheduler)
        s->scheduler = scheduler_new(s->cluster, s->options.delays.schedule);
    return s;
}

void sim_free(struct sim *s)
{
    if (s == NULL)
        return;
    scheduler_free(s->scheduler);
    if (!s->options.no_kubelet)
        kubelet_release(&s->kubelet);
    if (!s->options.no_controllers) {
        collector_release(&s->collector);
        budget_keeper_release(&s->budgets);
        daemons_release(&s->daemons);
        provisioner_release(&s->provisioner);
        stateful_release(&s->stateful);
        workloads_release(&s->workloads);
    }
    while (s->actor_count > 0)
        sim_remove_actor(s, s->actors[0].user);
    sim_cluster_free(s->cluster);
    free(s->actors);
    free(s);
}

struct sim_cluster *sim_cluster(struct sim *s)
{
    return s->cluster;
}

wall_ms sim_now(const struct sim *s)
{
    return s->cluster->objects.now;
}

void sim_set_extender(struct sim *s, const struct sim_extender *e)
{
    if (s->scheduler != NULL)
        scheduler_set_extender(s->scheduler, e);
}

void sim_add_actor(struct sim *s, struct sim_actor actor)
{
    if (s->actor_count == s->actor_capacity) {
        s->actor_capacity = s->actor_capacity != 0 ? s->actor_capacity * 2 : 4;
        s->actors = mem_grow(s->actors, s->actor_capacity, sizeof *s->actors);
    }
    s->actors[s->actor_count++] = actor;
}

void sim_remove_actor(struct sim *s, void *user)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->actor_count; i++) {
        if (s->actors[i].user != user)
            s->actors[kept++] = s->actors[i];
        else if (s->actors[i].free != NULL)
            s->actors[i].free(user);
    }
    s->actor_count = kept;
}

static wall_ms earlier(wall_ms a, wall_ms b)
{
    return a < b ? a : b;
}

static wall_ms step_standins(struct sim *s)
{
    wall_ms next = INT64_MAX;
    if (!s->options.no_controllers) {
        next = earlier(next, workloads_step(&s->workloads));
        next = earlier(next, stateful_step(&s->stateful));
        next = earlier(next, provisioner_step(&s->provisioner));
        next = earlier(next, daemons_step(&s->daemons));
        next = earlier(next, budget_keeper_step(&s->budgets));
        next = earlier(next, collector_step(&s->collector));
    }
    if (s->scheduler != NULL)
        next = earlier(next, scheduler_step(s->scheduler));
    if (!s->options.no_kubelet)
        next = earlier(next, kubelet_step(&s->kubelet));
    return next;
}

wall_ms sim_step(struct sim *s, wall_ms now)
{
    uint64_t version = sim_cluster_version(s->cluster);
    bool moved = sim_cluster_step(s->cluster, now);
    now = sim_now(s);
    wall_ms next = step_standins(s);
    for (uint32_t i = 0; i < s->actor_count; i++)
        next = earlier(next, s->actors[i].step(s->actors[i].user, now));
    if (moved || sim_cluster_version(s->cluster) != version)
        return now; /* who came first in this round has not seen what came after */
    return earlier(next, sim_cluster_due(s->cluster));
}

static bool never(void *user)
{
    (void)user;
    return false;
}

/* True when `done` said so. */
static bool run(struct sim *s, bool (*done)(void *user), void *user, wall_ms limit, struct err *err)
{
    uint32_t rounds = 0;
    wall_ms now = sim_now(s);
    err->kind = ERR_NONE;
    for (;;) {
        wall_ms next = sim_step(s, now);
        if (done(user))
            return true;
        if (next > now && next > limit)
            break;
        rounds = next > now ? 0 : rounds + 1;
        if (rounds > ROUNDS_MAX)
            return err_set(err, ERR_INTERNAL, "the cluster does not come to rest at %lld",
                           (long long)now);
        now = next > now ? next : now;
    }
    if (limit > now)
        sim_step(s, limit);
    return false;
}

bool sim_run_until(struct sim *s, wall_ms when, struct err *err)
{
    run(s, never, NULL, when, err);
    return err->kind == ERR_NONE;
}

bool sim_run_while(struct sim *s, bool (*done)(void *user), void *user, wall_ms limit,
                   struct err *err)
{
    if (run(s, done, user, limit, err))
        return true;
    if (err->kind == ERR_NONE)
        err_set(err, ERR_RETRY, "not done when the time was up");
    return false;
}
