/* How long pods wait: for the first plan that says something about them, for a node since they were made,
 * for a node since a plan had a place for them, and to be
 * ready for the first time since they were made.
 *
 * A pod that is bound when it is first seen was not waited for. Series of single pods are for people who
 * look for the one that hangs: five hundred are shown, the figures over all pods have them all. */
#include <stdlib.h>

#include "reconciler/stages.h"

enum { GAUGES_MAX = 500 }; /* a look-up each on every scan */

static struct span devices_text(const struct waiting_memo *m)
{
    return m->devices ? SPAN("true") : SPAN("false");
}

static void hide(struct waiting_memo *m, enum measure_id id, bool *shown)
{
    if (*shown)
        uncount(m->reconciler, id, span_of(m->name), span_of(m->ns), devices_text(m));
    *shown = false;
}

static void hide_all(struct waiting_memo *m)
{
    if (!m->has_gauge)
        return;
    hide(m, MEASURE_PODS_UNBOUND, &m->has_gauge);
    hide(m, MEASURE_PODS_PLANNED_UNBOUND, &m->has_placed_gauge);
    m->reconciler->series.pods--;
    free(m->ns);
    free(m->name);
}

void waiting_memo_release(struct memo *m)
{
    hide_all((struct waiting_memo *)m);
}

static char *text_dup(struct span s)
{
    char *copy = mem_new(s.len + 1);
    if (s.len != 0)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

static struct waiting_memo *memo_of(struct reconciler *r, const struct pod *pod)
{
    struct waiting_memo *m = memos_at(&r->waiting, pod->meta.uid);
    m->reconciler = r;
    m->devices = pod->resource_claims;
    return m;
}

static double seconds(span_ms d)
{
    return d > 0 ? (double)d / MS_SECOND : 0;
}

static void show(struct pass *p, const struct pod *pod, struct waiting_memo *m)
{
    struct reconciler *r = p->r;
    if (!m->has_gauge) {
        if (r->series.pods == GAUGES_MAX)
            return;
        r->series.pods++;
        m->has_gauge = true;
        m->ns = text_dup(pod->meta.ns);
        m->name = text_dup(pod->meta.name);
    }
    count(r, MEASURE_PODS_UNBOUND, seconds(clock_jump_age(&p->r->jump, pod->meta.created)), pod->meta.name,
          pod->meta.ns, devices_text(m));
    if (m->placed == 0)
        return;
    m->has_placed_gauge = true;
    count(r, MEASURE_PODS_PLANNED_UNBOUND, seconds(p->mono - m->placed), pod->meta.name,
          pod->meta.ns, devices_text(m));
}

static void observe(struct pass *p, const struct pod *pod, struct waiting_memo *m)
{
    m->bound = true;
    hide_all(m);
    count(p->r, MEASURE_PODS_BOUND, seconds(clock_jump_age(&p->r->jump, pod->meta.created)), devices_text(m),
          (struct span){0}, (struct span){0});
    if (m->placed != 0)
        count(p->r, MEASURE_PODS_PLANNED_BOUND, seconds(p->mono - m->placed), devices_text(m),
              (struct span){0}, (struct span){0});
}

/* Until it is ready it is remembered, which is found out when pods are looked through at the latest. */
static void follow(struct pass *p, const struct pod *pod, struct waiting_memo *m)
{
    if (m->started || pod_is_terminal(pod))
        return;
    memos_at(&p->r->waiting, pod->meta.uid);
    m->started = pod->ready;
    if (m->started)
        count(p->r, MEASURE_PODS_STARTUP, seconds(clock_jump_age(&p->r->jump, pod->meta.created)), (struct span){0},
              (struct span){0}, (struct span){0});
}

void pod_times_seen(struct pass *p, const struct pod *pod)
{
    if (pod->node == SYM_NONE && pod->phase == POD_PENDING) {
        show(p, pod, memo_of(p->r, pod));
        return;
    }
    struct waiting_memo *m = memos_find(&p->r->waiting, pod->meta.uid);
    if (m == NULL || m->reconciler == NULL)
        return; /* or others remember it, and we never saw it wait */
    if (pod->node == SYM_NONE) {
        hide_all(m); /* it ended without ever having had a node */
        return;
    }
    if (!m->bound)
        observe(p, pod, m);
    follow(p, pod, m);
}

void pod_times_wake(struct pass *p, const struct pod *pod)
{
    struct waiting_memo *m = memo_of(p->r, pod);
    if (m->seen != 0)
        return;
    m->seen = p->mono;
    groups_wake(p->r);
}

void pod_times_decided(struct reconciler *r, const struct pod *pod, bool placed)
{
    struct waiting_memo *m = memos_find(&r->waiting, pod->meta.uid);
    if (m == NULL || m->seen == 0 || m->bound) /* of a node that leaves, or a buffer's */
        return;
    if (!placed) {
        m->placed = 0;
        hide(m, MEASURE_PODS_PLANNED_UNBOUND, &m->has_placed_gauge);
    } else if (m->placed == 0) {
        m->placed = r->mono;
    }
    if (m->decided)
        return;
    m->decided = true;
    count(r, MEASURE_DECISION_DURATION, seconds(r->mono - m->seen), (struct span){0},
          (struct span){0}, (struct span){0});
}
