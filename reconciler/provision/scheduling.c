/* One solve, as Karpenter's dashboards show it: series of its own id while it lasts, counts when it is
 * over. Karpenter v1.15.0 clears them when the next one starts, and so do we; its duration is observed
 * once a solve. */
#include <stdlib.h>

#include "planner/buffers.h"
#include "planner/groups/choice.h"
#include "planner/supply/effective_zone.h"
#include "reconciler/divergence/divergence.h"
#include "reconciler/stages.h"

#define NS_SECOND UINT64_C(1000000000)

static const struct span CONTROLLER = SPAN_INIT("provisioner");

static uint64_t now_ns(const struct reconciler *r)
{
    const struct reconciler_listener *l = &r->config.listener;
    return l->now_ns != NULL ? l->now_ns(l->user) : 0;
}

static struct span own_id(const struct reconciler *r)
{
    return span_of(r->series.scheduling_id);
}

/* ---- effective zones ---- */

static struct zone_told *zone_at(struct reconciler *r, struct span name)
{
    for (uint32_t i = 0; i < r->series.zone_count; i++)
        if (span_eq(span_of(r->series.zones[i].name), name))
            return &r->series.zones[i];
    if (r->series.zone_count == r->series.zone_slots) {
        r->series.zone_slots = r->series.zone_slots != 0 ? r->series.zone_slots * 2 : 8;
        r->series.zones = mem_grow(r->series.zones, r->series.zone_slots, sizeof(*r->series.zones));
    }
    struct zone_told *z = &r->series.zones[r->series.zone_count++];
    *z = (struct zone_told){.still = true};
    snprintf(z->name, sizeof(z->name), "%.*s", SPAN_ARG(name)); /* a label's value has 63 letters */
    return z;
}

static void forget_zones(struct reconciler *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->series.zone_count; i++) {
        if (r->series.zones[i].still)
            r->series.zones[kept++] = r->series.zones[i];
        else
            uncount(r, MEASURE_EFFECTIVE_ZONES, CONTROLLER, span_of(r->series.zones[i].name),
                    (struct span){0});
    }
    r->series.zone_count = kept;
}

static uint32_t count_zones(struct pass *p)
{
    struct reconciler *r = p->r;
    uint32_t count_of_zones, pods = 0;
    const struct zone_count *zones = effective_zones(p->a, p->world, &count_of_zones);
    for (uint32_t i = 0; i < r->series.zone_count; i++)
        r->series.zones[i].still = false;
    for (uint32_t i = 0; i < count_of_zones; i++) {
        zone_at(r, zones[i].zone)->still = true;
        pods += zones[i].pods;
        count(r, MEASURE_EFFECTIVE_ZONES, zones[i].pods, CONTROLLER, zones[i].zone,
              (struct span){0});
    }
    forget_zones(r);
    return pods;
}

static void decided_all(struct reconciler *r, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->claim_count; i++)
        for (uint32_t k = 0; k < plan->claims[i].pod_count; k++)
            pod_times_decided(r, plan->claims[i].pods[k], true);
    for (uint32_t i = 0; i < plan->node_count; i++)
        for (uint32_t k = 0; k < plan->nodes[i].pod_count; k++)
            pod_times_decided(r, plan->nodes[i].pods[k], true);
    for (uint32_t i = 0; i < plan->unschedulable_count; i++)
        if (plan->unschedulable[i].reason != UNSCHEDULABLE_NOT_REACHED)
            pod_times_decided(r, plan->unschedulable[i].pod, false);
}

/* ---- one solve ---- */

void scheduling_begin(struct scheduling *s, struct pass *p)
{
    struct reconciler *r = p->r;
    *s = (struct scheduling){.p = p, .began = now_ns(r)};
    if (r->series.scheduling_id[0] != '\0')
        uncount(r, MEASURE_QUEUE_DEPTH, CONTROLLER, own_id(r), (struct span){0});
    decision_id(r, r->series.scheduling_id);
    uint32_t pods = count_zones(p) + world_buffers(p->world)->count;
    count(r, MEASURE_QUEUE_DEPTH, pods, CONTROLLER, own_id(r), (struct span){0});
    count(r, MEASURE_UNSCHEDULABLE_PODS, 0, CONTROLLER, (struct span){0}, (struct span){0});
    count(r, MEASURE_UNFINISHED_WORK, 0, CONTROLLER, own_id(r), (struct span){0});
}

/* The thread that searches launches, binds and removes, too: longer than this it is not kept from it. Plans of
 * whole clusters take a tenth. */
static const uint64_t SOLVE_MOST = 10 * NS_SECOND;
static const uint64_t TELL_EVERY = NS_SECOND / 10; /* of unfinished work; a solve asks a thousand times a second */

bool scheduling_tick(void *scheduling)
{
    struct scheduling *s = scheduling;
    uint64_t lasts = now_ns(s->p->r) - s->began;
    if (lasts >= s->told + TELL_EVERY || s->told == 0) {
        s->told = lasts;
        count(s->p->r, MEASURE_UNFINISHED_WORK, (double)lasts / 1e9, CONTROLLER, own_id(s->p->r),
              (struct span){0});
    }
    const struct reconciler_listener *l = &s->p->r->config.listener;
    s->given_up = s->given_up || (l->goes_on != NULL && !l->goes_on(l->user));
    s->stopped = lasts >= (s->choosing ? SOLVE_MOST / 2 : SOLVE_MOST);
    return s->stopped || s->given_up;
}

/* The plan is carried out as far as it got; the next one begins with who has a place, and goes on. */
static void tell_stopped(struct pass *p, const struct plan *plan)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < plan->unschedulable_count; i++)
        left += plan->unschedulable[i].reason == UNSCHEDULABLE_NOT_REACHED;
    tell(p->r, (struct decision){.kind = DECISION_PLAN, .subject = "plan", .warning = true, .per_hour = NAN},
         "the search was stopped after %llu s; %u of %u pods were not looked at and are planned next",
         (unsigned long long)(SOLVE_MOST / NS_SECOND), left, plan->waiting);
    if (left == 0)
        return;
    p->r->provision.batch_ready = true;
    pass_wake(p, p->mono);
}

struct why scheduling_put_off(void *user, const struct pod *pod)
{
    return divergence_put_off(((const struct scheduling *)user)->p, pod);
}

bool scheduling_end(struct scheduling *s, const struct plan *plan)
{
    struct reconciler *r = s->p->r;
    uint32_t ignored = 0, unschedulable = 0;
    if (r->config.listener.now_ns != NULL)
        count(r, MEASURE_SCHEDULING_DURATION, (double)(now_ns(r) - s->began) / 1e9, CONTROLLER,
              (struct span){0}, (struct span){0});
    uncount(r, MEASURE_UNFINISHED_WORK, CONTROLLER, own_id(r), (struct span){0});
    if (s->given_up)
        return false;
    for (uint32_t i = 0; i < plan->unschedulable_count; i++) {
        enum unschedulable_reason why = plan->unschedulable[i].reason;
        if (plan->unschedulable[i].pod->is_virtual)
            continue;
        ignored += why == UNSCHEDULABLE_IGNORED;
        unschedulable += why != UNSCHEDULABLE_IGNORED && why != UNSCHEDULABLE_RESERVED &&
                         !choice_put_off(&plan->unschedulable[i]) && why != UNSCHEDULABLE_NOT_REACHED;
    }
    count(r, MEASURE_QUEUE_DEPTH, plan->waiting, CONTROLLER, own_id(r), (struct span){0});
    count(r, MEASURE_IGNORED_PODS, ignored, (struct span){0}, (struct span){0}, (struct span){0});
    count(r, MEASURE_UNSCHEDULABLE_PODS, unschedulable, CONTROLLER, (struct span){0}, (struct span){0});
    r->provision.unplaced = ignored + unschedulable;
    decided_all(r, plan);
    if (s->stopped)
        tell_stopped(s->p, plan);
    return true;
}
