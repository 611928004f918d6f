/* The search has a log; taken back to just before the pod's own entry, it can be asked what it asked then. */
#include "planner/explain/lines.h"
#include "planner/explain/nodes.h"
#include "planner/explain/tell.h"
#include "planner/explain/unplanned.h"

/* --- pods that are not in the pass --- */

static struct span name_of(struct plan *p, const struct pod *pod)
{
    return arena_printf(&p->arena, "%.*s/%.*s", SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name));
}

static void answer_unplanned(struct plan *p, const struct pod *pod, struct explanation *out)
{
    struct lines l = {.p = p};
    struct span name = name_of(p, pod), node = sym_text(p->syms, pod->node);
    bool over = pod_is_terminal(pod) || pod->meta.deleted != 0;
    if (pod_is_terminal(pod))
        lines_end(&l, true, arena_printf(&p->arena, "%.*s has ended.", SPAN_ARG(name)), out);
    else if (pod->node != SYM_NONE)
        lines_end(&l, true,
                  arena_printf(&p->arena, "%.*s has a place: it stands on node %.*s%s.",
                               SPAN_ARG(name), SPAN_ARG(node),
                               pod->meta.deleted != 0 ? " and is being deleted" : ""),
                  out);
    else
        lines_end(&l, over,
                  arena_printf(&p->arena, "%.*s is not planned: %.*s.", SPAN_ARG(name),
                               SPAN_ARG(over ? SPAN("it is being deleted")
                                             : unplanned_why(p->world, &p->arena, pod))),
                  out);
}

/* --- pods without a place --- */

static void answer_failed(struct plan *p, const struct plan_unschedulable *u,
                          struct explanation *out)
{
    struct lines l = {.p = p};
    for (uint32_t i = 0; i < u->detail_count; i++)
        lines_add(&l, u->details[i].about, u->details[i].text);
    if (u->why.fix.len != 0)
        lines_addf(&l, "Fix", "%.*s.", SPAN_ARG(u->why.fix));
    lines_addf(&l, "reason", "%s", unschedulable_name(u->reason));
    lines_end(&l, false,
              arena_printf(&p->arena, "%.*s has no place: it %.*s.", SPAN_ARG(name_of(p, u->pod)),
                           SPAN_ARG(u->why.sentence)),
              out);
}

/* --- pods with one --- */

struct placed {
    struct plan *p;
    struct trial *t;
    const struct pod *pod;
    struct trial_step step;
    uint32_t option; /* of a claim */
    const struct plan_claim *claim; /* or NULL */
};

static const struct plan_claim *claim_of(const struct plan *p, const struct pod *pod)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        for (uint32_t k = 0; k < p->claims[i].pod_count; k++)
            if (p->claims[i].pods[k] == pod)
                return &p->claims[i];
    return NULL;
}

/* Whether the target took this attempt; the search stands just before. */
static bool was_taken(const struct placed *x, const struct attempt *try)
{
    struct trial *t = x->t;
    const struct trial_step *s = &x->step;
    uint32_t mark = trial_mark(t);
    bool yes;
    if (s->kind == TRIAL_ON_NODE)
        return trial_fits(t, s->target, s->class_id, try);
    if (s->kind == TRIAL_ON_CLAIM)
        yes = trial_place_on_claim(t, s->target, s->pod, s->class_id, try) == ANSWER_YES;
    else
        yes = trial_open(t, x->option, s->pod, s->class_id, try) == OPEN_YES;
    trial_undo(t, mark);
    return yes;
}

static uint32_t attempt_taken(const struct placed *x)
{
    const struct world *w = x->p->world;
    const struct pod_class *k = &w->classes.items[x->step.class_id];
    for (uint32_t i = 0; i < k->attempt_count; i++) {
        const struct attempt *try = &w->classes.attempts[k->first_attempt + i];
        if ((!try->soft || w->soft_taints) && was_taken(x, try))
            return i;
    }
    return 0;
}

/* What the search dropped in its first `count` steps of relaxation, in Karpenter v1.15.0's order; a term
 * that it came back to has the others dropped. */
static void add_dropped(struct lines *l, const struct pod *pod, uint32_t count, bool soft_tolerated)
{
    const struct affinity *a = pod->affinity;
    uint32_t terms = a != NULL && a->has_required_node && a->required_node.count != 0
                         ? a->required_node.count - 1 : 0;
    uint32_t soft = 0;
    for (uint32_t i = 0; i < pod->spreads.count; i++)
        soft += !pod->spreads.items[i].hard;
    const struct {
        const char *one;
        uint32_t all;
    } kinds[] = {
        {"required node affinity terms, of which one is enough", terms},
        {"preferred pod affinity terms", a != NULL ? a->preferred_pod.count : 0},
        {"preferred pod anti-affinity terms", a != NULL ? a->preferred_anti.count : 0},
        {"preferred node affinity terms", a != NULL ? a->preferred_node.count : 0},
        {"topology spreads with ScheduleAnyway", soft},
        {"PreferNoSchedule taints, now tolerated", soft_tolerated},
    };
    for (size_t i = 0; i < COUNT_OF(kinds) && count != 0; i++) {
        uint32_t dropped = count < kinds[i].all ? count : kinds[i].all;
        if (dropped != 0)
            lines_addf(l, "dropped", "%u of %u %s", dropped, kinds[i].all, kinds[i].one);
        count -= dropped;
    }
}

static void add_refused(struct lines *l, const struct placed *x, const struct attempt *try)
{
    const struct world *w = x->p->world;
    struct group_question q = {x->p, x->t, x->step.class_id, 1, try, trial_pod(x->t, x->step.pod)->pod};
    bool on_node = x->step.kind == TRIAL_ON_NODE;
    uint32_t rows = on_node ? x->step.target : w->node_count;
    if (rows != 0)
        lines_add(l, SPAN("nodes"), nodes_refuse(&q, rows));
    if (x->step.kind != TRIAL_OPENED)
        return;
    if (x->t->claim_count != 0)
        lines_addf(l, "planned nodes", "%u looked at; none takes it too", x->t->claim_count);
    for (uint32_t i = 0; i < x->option; i++) {
        struct span why = tell_refusal(x->p, x->t, x->step.pod, i);
        if (why.ptr != NULL)
            lines_addf(l, arena_printf(&x->p->arena, "pool %.*s", SPAN_ARG(option_name(&w->options[i]))).ptr,
                       "it %.*s", SPAN_ARG(why));
    }
}

static void add_company(struct lines *l, const struct placed *x)
{
    const struct pod *const *pods = x->claim != NULL ? x->claim->pods : NULL;
    uint32_t count = x->claim != NULL ? x->claim->pod_count : 0;
    for (uint32_t i = 0; i < x->p->node_count && x->claim == NULL; i++)
        if (x->p->nodes[i].row == x->step.target) {
            pods = x->p->nodes[i].pods;
            count = x->p->nodes[i].pod_count;
        }
    const struct pod **others = ARENA_ARRAY(&x->p->arena, const struct pod *, count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (pods[i] != x->pod)
            others[n++] = pods[i];
    if (n != 0)
        lines_add(l, SPAN("planned with"), lines_pods(x->p, others, n));
}

static void answer_placed(struct placed *x, uint32_t at, struct explanation *out)
{
    const struct world *w = x->p->world;
    struct lines l = {.p = x->p};
    x->step = x->t->steps[at];
    x->claim = claim_of(x->p, x->pod);
    if (x->step.kind != TRIAL_ON_NODE)
        x->option = x->t->specs.items[x->t->claims[x->step.target].spec].option;
    trial_undo(x->t, at);
    const struct pod_class *k = &w->classes.items[x->step.class_id];
    uint32_t attempt = attempt_taken(x);
    const struct attempt *try = &w->classes.attempts[k->first_attempt + attempt];
    lines_add(&l, SPAN("asks for"), lines_requests(x->p, classes_requests(&w->classes, x->step.class_id)));
    if (k->side != SPLIT_NONE)
        lines_add(&l, SPAN("split"), tell_split(x->p, x->step.class_id));
    add_dropped(&l, k->example, attempt, try->soft);
    add_refused(&l, x, try);
    add_company(&l, x);
    lines_end(&l, true,
              arena_printf(&x->p->arena, "%.*s has a place: %.*s.", SPAN_ARG(name_of(x->p, x->pod)),
                           SPAN_ARG(lines_target(x->p, x->claim, x->step.target))),
              out);
}

void answer_pod(struct plan *p, const struct pod *pod, struct explanation *out)
{
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (p->unschedulable[i].pod == pod) {
            answer_failed(p, &p->unschedulable[i], out);
            return;
        }
    struct placed x = {.p = p, .t = p->trial, .pod = pod};
    for (uint32_t i = 0; i < x.t->step_count; i++)
        if (x.t->steps[i].kind <= TRIAL_OPENED && trial_pod(x.t, x.t->steps[i].pod)->pod == pod) {
            answer_placed(&x, i, out);
            return;
        }
    answer_unplanned(p, pod, out);
}
