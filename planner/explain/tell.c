/* Why a class of pods has no place: for each pool what stops it, then the nodes. The message is of the
 * pool that is nearest: not one that the pod itself keeps away from, with the fewest rules to put right,
 * and of equals the one where that takes the least. Its fixes give the pod a place, all of them done. */
#include "planner/explain/tell.h"

#include "planner/explain/chain.h"
#include "planner/explain/nodes.h"
#include "planner/explain/pools.h"

#include <stdlib.h>

struct span tell_refusal(struct plan *p, struct trial *t, uint32_t pod, uint32_t option)
{
    struct group_question q = {.p = p, .t = t, .class_id = trial_pod(t, pod)->class_id, .pods = 1,
                               .pod = trial_pod(t, pod)->pod};
    struct chain c;
    chain_begin(&q, option, &c);
    return chain_sentence(p, &c);
}

struct span tell_split(struct plan *p, uint32_t class_id)
{
    const struct pod_class *k = &p->world->classes.items[class_id];
    if (k->side == SPLIT_NONE)
        return (struct span){NULL, 0};
    struct span why = split_text(&p->arena, &p->world->split.owners[k->split_owner]);
    return arena_printf(&p->arena, "it is to be on %s; %.*s",
                        k->side == SPLIT_SPOT ? "spot" : "on-demand", SPAN_ARG(why));
}

static uint32_t nearest_of(const struct chain *chains, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (chain_nearer(&chains[i], &chains[best]))
            best = i;
    return best;
}

/* The pool whose whole chain is the nearest. What is not looked at to the end can only turn out further
 * away, so that the search is over when the nearest is one that was. */
static uint32_t find_nearest(const struct group_question *q, struct chain *chains)
{
    enum { FINISHED_MOST = 16 }; /* pools that look alike; what comes after would be no nearer by much */
    struct group_question about = *q;
    uint32_t count = q->p->world->option_count, best = 0;
    for (uint32_t n = 0; n < FINISHED_MOST; n++) {
        best = nearest_of(chains, count);
        if (chains[best].finished)
            break;
        about.try = chains[best].try;
        chain_finish(&about, best, &chains[best]);
    }
    return best;
}

static bool only_limits(const struct chain *c)
{
    bool only = c->count != 0;
    for (uint32_t i = 0; i < c->count; i++)
        only = only && (c->stops[i].rule == OPEN_LIMITS || c->stops[i].rule == OPEN_NODES);
    return only;
}

static bool only_spread(const struct world *w, const struct chain *c)
{
    const struct stop *s = &c->stops[0];
    return c->count == 1 && s->rule == OPEN_TOPOLOGY && s->group != GROUPS_TOGETHER &&
           w->topology.groups[s->group].kind == TOPOLOGY_SPREAD;
}

/* A pool at its limits would put the pod where its spread wants it: the limit comes first, and then what the
 * spread says against the first of the pools that have room. */
static void add_shut_out(const struct group_question *q, const struct chain *chains, uint32_t nearest,
                         struct why *why)
{
    const struct world *w = q->p->world;
    uint32_t open = 0;
    while (open < w->option_count && !only_spread(w, &chains[open]))
        open++;
    if (open == w->option_count || !only_limits(&chains[nearest]))
        return;
    struct arena *a = &q->p->arena;
    why->sentence = arena_printf(a, "%.*s; in pool %.*s it %.*s", SPAN_ARG(why->sentence),
                                 SPAN_ARG(option_name(&w->options[open])),
                                 SPAN_ARG(chains[open].stops[0].sentence));
    why->fix = arena_printf(a, "%.*s, or %.*s", SPAN_ARG(why->fix), SPAN_ARG(chains[open].stops[0].fix));
}

/* `pods` of the class have no place; `first` is the first of them by name. */
static void tell_class(struct plan *p, const struct plan_unschedulable *first, uint32_t pods,
                       struct plan_unschedulable *out)
{
    const struct world *w = p->world;
    const struct pod_class *k = &w->classes.items[first->class_id];
    struct group_question q = {p, p->trial, first->class_id, pods,
                               &w->classes.attempts[k->first_attempt + k->attempt_count - 1], first->pod};
    struct plan_detail *details = ARENA_ARRAY(&p->arena, struct plan_detail, (size_t)w->option_count + 2);
    struct chain *chains = mem_array(w->option_count, sizeof(*chains));
    for (uint32_t i = 0; i < w->option_count; i++)
        chain_begin(&q, i, &chains[i]);
    uint32_t nearest = find_nearest(&q, chains);
    for (uint32_t i = 0; i < w->option_count; i++)
        details[i] = (struct plan_detail){
            w->options[i].pool,
            arena_printf(&p->arena, "pool %.*s", SPAN_ARG(option_name(&w->options[i]))),
            arena_printf(&p->arena, "it %.*s", SPAN_ARG(chain_sentence(p, &chains[i])))};
    details[w->option_count] =
        (struct plan_detail){NULL, SPAN("nodes"), nodes_refuse(&q, w->node_count)};
    struct why why = {chain_sentence(p, &chains[nearest]), chain_fix(&q, nearest, &chains[nearest])};
    add_shut_out(&q, chains, nearest, &why);
    out->why = why;
    free(chains);
    out->details = details;
    out->detail_count = w->option_count + 1;
    if (k->side != SPLIT_NONE)
        details[out->detail_count++] = (struct plan_detail){NULL, SPAN("split"), tell_split(p, first->class_id)};
}

static struct why tell_outcome(struct plan *p, enum search_outcome o)
{
    switch (o) {
    case OUTCOME_NOT_REACHED:
        return (struct why){SPAN("was not looked at: the search was stopped before its turn"),
                            SPAN("plan again with more time")};
    case OUTCOME_LONG:
        return (struct why){
            SPAN("asks for so much that not all of it was tried: a pod has its share of the search"),
            SPAN("state fewer affinity terms, preferences and spread constraints")};
    case OUTCOME_MIN_VALUES:
        return (struct why){arena_printf(&p->arena,
                                         "didn't schedule because NodePool couldn't meet minValues "
                                         "requirements once its types were cut to the %u cheapest",
                                         p->most_types),
                            SPAN("raise --max-instance-types, or lower minValues")};
    case OUTCOME_PLACED:
    case OUTCOME_NO_PLACE:
    case OUTCOME_RESERVED:
        break;
    }
    return (struct why){0};
}

/* Why the search found nothing: once a class, as long as nobody has stopped it. */
static void tell_search(struct plan *p, const uint32_t *left, struct plan_unschedulable *known,
                        struct plan_unschedulable *out)
{
    struct plan_unschedulable *class = &known[out->class_id];
    out->why = tell_outcome(p, out->outcome);
    if (out->why.sentence.len != 0)
        return;
    if (class->pod == NULL && trial_stopped(p->trial))
        class->why = (struct why){SPAN("found no place; why was not looked into, since the search was stopped"),
                                  SPAN("plan again with more time")};
    else if (class->pod == NULL)
        tell_class(p, out, left[out->class_id], class);
    class->pod = out->pod;
    out->why = class->why;
    out->details = class->details;
    out->detail_count = class->detail_count;
}

static void tell_pod(struct plan *p, const struct why *closed, struct plan_unschedulable *out)
{
    const struct pod_class *k = &p->world->classes.items[out->class_id];
    switch (out->failure) {
    case FAILED_INVALID:
        out->why.sentence = arena_printf(&p->arena, "is left out: %.*s", SPAN_ARG(k->invalid));
        if (k->example->meta.excess != SYM_NONE)
            out->why.fix = SPAN("state fewer entries");
        break;
    case FAILED_NO_POOLS:
        out->why = *closed;
        break;
    case FAILED_ERROR:
        out->why.sentence = k->error;
        break;
    case FAILED_DEVICES:
        out->why = (struct why){SPAN("has resource claims, which are not planned for"),
                                SPAN("ask for devices as extended resources")};
        break;
    case FAILED_PUT_OFF:
    case FAILED_SEARCH:
        break;
    }
}

void plan_tell(struct plan *p)
{
    const struct world *w = p->world;
    struct plan_unschedulable *list = (struct plan_unschedulable *)p->unschedulable;
    struct why closed = {0};
    if (p->unschedulable_count == 0)
        return;
    uint32_t *left = ARENA_ARRAY(&p->arena, uint32_t, w->classes.count);
    struct plan_unschedulable *known = ARENA_ARRAY(&p->arena, struct plan_unschedulable, w->classes.count);
    if (w->option_count == 0)
        closed = pools_closed(&p->arena, w);
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        left[list[i].class_id] += list[i].failure == FAILED_SEARCH;
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (list[i].failure == FAILED_SEARCH)
            tell_search(p, left, known, &list[i]);
        else
            tell_pod(p, &closed, &list[i]);
}
