#include "sim/scenario/script.h"

#include <math.h>
#include <stdlib.h>

#include "sim/scenario/script_inner.h"

/* ---- before it begins ---- */

static bool check_workload(const struct sim_cluster *c, const struct scenario_workload *w, const char *act, uint32_t i,
                           struct err *err)
{
    struct scenario_object o = scenario_object_of(scenario_text_of(w));
    enum kind k = scenario_kind_of(w);
    return k == KIND_NONE || script_workload(c, w) != NULL ||
           err_set(err, ERR_INVALID, "spec.events[%u].%s.%s: there is no %s %.*s/%.*s", i, act,
                   k == KIND_DEPLOYMENT ? "deployment" : "statefulSet", kind_info(k)->name, SPAN_ARG(o.ns),
                   SPAN_ARG(o.name));
}

static bool check_market(const struct market *m, const struct scenario_market *of, const char *act, uint32_t i,
                         struct err *err)
{
    return market_has(m, of) ||
           err_set(err, ERR_INVALID, "spec.events[%u].%s: no instance type has such an offering "
                                     "(instanceType, zone and capacityType together)", i, act);
}

static bool check_event(const struct scenario_event *e, uint32_t i, const struct sim_cluster *c,
                        const struct market *m, struct err *err)
{
    if (e->scale != NULL)
        return check_workload(c, &e->scale->of, "scale", i, err);
    if (e->rollout != NULL)
        return check_workload(c, &e->rollout->of, "rollout", i, err);
    if (e->restart != NULL)
        return check_workload(c, &e->restart->of, "restart", i, err);
    if (e->price != NULL)
        return check_market(m, &e->price->of, "price", i, err);
    if (e->interrupt != NULL)
        return check_market(m, &e->interrupt->of, "interrupt", i, err);
    if (e->stockout != NULL)
        return check_market(m, &e->stockout->of, "stockout", i, err);
    return true;
}

bool script_check(const struct scenario *s, const struct sim_cluster *c, const struct market *m, struct err *err)
{
    for (uint32_t i = 0; i < s->events.count; i++)
        if (!check_event(&s->events.items[i], i, c, m, err))
            return false;
    return true;
}

/* ---- when ---- */

static wall_ms in_time(const struct script *s, const struct script_event *e, double offset)
{
    span_ms limit = e->event->has_until ? e->event->until : SCENARIO_LENGTH_MAX_MS;
    return offset <= (double)limit ? s->start + (wall_ms)llround(offset) : INT64_MAX;
}

static void find_first(const struct script *s, struct script_event *e)
{
    const struct scenario_event *o = e->event;
    e->exact = o->has_at ? (double)o->at : o->has_every ? (double)o->every : 0;
    if (o->has_rate)
        e->exact += chance_wait(&e->chance, o->rate);
    e->next = in_time(s, e, e->exact);
}

static void find_next(const struct script *s, struct script_event *e)
{
    const struct scenario_event *o = e->event;
    e->exact += o->has_every ? (double)o->every : o->has_rate ? chance_wait(&e->chance, o->rate) : 0;
    e->next = o->has_every || o->has_rate ? in_time(s, e, e->exact) : INT64_MAX;
}

/* What is due first; of equal ones that which is written first. */
static struct script_event *first_of(struct script *s)
{
    struct script_event *first = NULL;
    for (uint32_t i = 0; i < s->event_count; i++)
        if (first == NULL || s->events[i].next < first->next)
            first = &s->events[i];
    return first;
}

static struct script_later *first_later(struct script *s)
{
    struct script_later *first = NULL;
    for (uint32_t i = 0; i < s->later_count; i++)
        if (first == NULL || s->later[i].when < first->when)
            first = &s->later[i];
    return first;
}

void script_put_off(struct script *s, const struct script_later *l)
{
    if (s->later_count == s->later_capacity) {
        s->later_capacity = s->later_capacity != 0 ? s->later_capacity * 2 : 16;
        s->later = mem_grow(s->later, s->later_capacity, sizeof *s->later);
    }
    s->later[s->later_count++] = *l;
}

static wall_ms step(void *user, wall_ms now)
{
    struct script *s = user;
    for (;;) {
        struct script_later *l = first_later(s);
        struct script_event *e = first_of(s);
        wall_ms then = l != NULL ? l->when : INT64_MAX, next = e != NULL ? e->next : INT64_MAX;
        if (then > now && next > now)
            return then < next ? then : next;
        if (then <= next) {
            struct script_later due = *l;
            *l = s->later[--s->later_count];
            script_act_later(s, &due);
        } else {
            script_act(s, e);
            find_next(s, e);
        }
    }
}

static void free_script(void *user)
{
    struct script *s = user;
    free(s->events);
    free(s->later);
    free(s);
}

struct script *script_start(struct sim *sim, const struct scenario *scenario, struct market *m,
                            const struct script_listener *listener)
{
    struct script *s = mem_new(sizeof *s);
    *s = (struct script){.sim = sim, .cluster = sim_cluster(sim), .market = m, .listener = *listener,
                         .start = sim_now(sim), .event_count = scenario->events.count};
    s->events = mem_array(s->event_count + 1, sizeof *s->events);
    for (uint32_t i = 0; i < s->event_count; i++) {
        s->events[i] = (struct script_event){.event = &scenario->events.items[i],
                                             .chance = chance_of(scenario->seed, i)};
        find_first(s, &s->events[i]);
    }
    sim_add_actor(sim, (struct sim_actor){s, step, free_script});
    return s;
}

enum kwok_fate script_fate(const struct script *s)
{
    wall_ms now = sim_now(s->sim);
    if (now < s->fails_until)
        return KWOK_FAILS;
    return now < s->lost_until ? KWOK_NEVER_REGISTERS : KWOK_COMES;
}
