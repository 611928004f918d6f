/* Why a class of pods has no place: for each pool what stops it, then the nodes. The message is of the
 * pool that is nearest: not one that the pod itself keeps away from, with the fewest rules to put right,
 * and of equals the one where that takes the least. Its fixes give the pod a place, all of them done. */
#include "planner/plan/solution.h"

#include "planner/explain/chain.h"
#include "planner/explain/nodes.h"

#include <stdlib.h>

struct span solution_refusal(struct plan *p, struct trial *t, uint32_t class_id, uint32_t option)
{
    struct group_question q = {.p = p, .t = t, .class_id = class_id, .pods = 1};
    struct chain c;
    chain_begin(&q, option, &c);
    return chain_sentence(p, &c);
}

struct span solution_split(struct plan *p, uint32_t class_id)
{
    const struct pod_class *k = &p->world->classes.items[class_id];
    if (k->side == SPLIT_NONE)
        return (struct span){NULL, 0};
    struct span why = split_text(&p->arena, &p->world->split.owners[k->split_owner]);
    return arena_printf(&p->arena, "split: it is to be on %s; %.*s",
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

void solution_explain(struct plan *p, struct trial *t, uint32_t class_id, uint32_t pods,
                      enum outcome outcome, struct plan_unschedulable *out)
{
    const struct world *w = p->world;
    const struct pod_class *k = &w->classes.items[class_id];
    struct group_question q = {p, t, class_id, pods,
                               &w->classes.attempts[k->first_attempt + k->attempt_count - 1]};
    struct span *details = ARENA_ARRAY(&p->arena, struct span, (size_t)w->option_count + 2);
    struct chain *chains = mem_array(w->option_count, sizeof(*chains));
    for (uint32_t i = 0; i < w->option_count; i++)
        chain_begin(&q, i, &chains[i]);
    uint32_t nearest = find_nearest(&q, chains);
    for (uint32_t i = 0; i < w->option_count; i++)
        details[i] = arena_printf(&p->arena, "pool %.*s: it %.*s",
                                  SPAN_ARG(option_name(&w->options[i])),
                                  SPAN_ARG(chain_sentence(p, &chains[i])));
    details[w->option_count] = nodes_refuse(&q, w->node_count);
    out->reason = outcome == OUTCOME_RESERVED ? UNSCHEDULABLE_RESERVED : UNSCHEDULABLE;
    out->message = arena_printf(&p->arena, "%.*s. Fix: %.*s", SPAN_ARG(chain_sentence(p, &chains[nearest])),
                                SPAN_ARG(chain_fix(&q, nearest, &chains[nearest])));
    free(chains);
    out->details = details;
    out->detail_count = w->option_count + 1;
    if (k->side != SPLIT_NONE)
        details[out->detail_count++] = solution_split(p, class_id);
}
