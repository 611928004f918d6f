/* Taints and labels: what the pod and the pool say of each other before anything is bought. */
#include "planner/explain/contradiction.h"
#include "planner/explain/meant.h"
#include "planner/explain/pools.h"
#include "planner/explain/sold.h"
#include "planner/explain/stop_inner.h"

/* --- taints --- */

/* "gpu=yes:NoSchedule and x:NoExecute": what is not tolerated; returns how many. */
static uint32_t untolerated(const struct group_question *q, uint32_t option, bool hints,
                            struct span *names_out)
{
    struct taints taints = stop_option(q, option)->taints;
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < taints.count; i++) {
        struct taints one = {&taints.items[i], 1};
        if (world_untolerated(q->p->world, stop_signature(q), q->try->soft, one) != NULL)
            buf_addf(&b, "%s%.*s%.*s", count++ != 0 ? " and " : "",
                     SPAN_ARG(words_taint(q->p, &taints.items[i])),
                     SPAN_ARG(hints ? meant_toleration(q->p, stop_signature(q)->tolerations, &taints.items[i])
                                    : SPAN("")));
    }
    *names_out = words_take(q->p, &b);
    return count;
}

void stop_taints(const struct group_question *q, uint32_t option, struct stop *out)
{
    struct span names;
    uint32_t count = untolerated(q, option, true, &names);
    *out = (struct stop){.rule = OPEN_TAINT};
    out->sentence = arena_printf(&q->p->arena, "does not tolerate taint%s %.*s of pool %.*s",
                                 count == 1 ? "" : "s", SPAN_ARG(names),
                                 SPAN_ARG(stop_pool(q, option)));
}

/* The split of its owner is what the pool does not go along with. */
void stop_split(const struct group_question *q, uint32_t option,
                       const struct requirement *has, struct stop *s)
{
    struct plan *p = q->p;
    const struct pod_class *k = &p->world->classes.items[q->class_id];
    const char *side = k->side == SPLIT_SPOT ? "spot" : "on-demand";
    struct span split = split_text(&p->arena, &p->world->split.owners[k->split_owner]);
    struct span pool = stop_pool(q, option);
    s->sentence = has != NULL
                      ? arena_printf(&p->arena, "is to be on %s: %.*s; pool %.*s has %.*s", side,
                                     SPAN_ARG(split), SPAN_ARG(pool),
                                     SPAN_ARG(words_requirement(p, has)))
                      : arena_printf(&p->arena,
                                     "is to be on %s: %.*s; no type of pool %.*s can be had there",
                                     side, SPAN_ARG(split), SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "let pool %.*s buy %s, or change the annotations",
                          SPAN_ARG(pool), side);
}

bool stop_is_split(const struct group_question *q, const struct requirement *r)
{
    return r->key == SYM_CAPACITY_TYPE &&
           q->p->world->classes.items[q->class_id].side != SPLIT_NONE;
}

/* The one pool that is asked for by name, when it is there and buys nothing; else NULL. */
static const struct node_pool *closed_pool(const struct plan *p, const struct requirement *asked)
{
    const struct world *w = p->world;
    const struct node_pool *found = NULL;
    if (asked->key != SYM_NODEPOOL || asked->complement || asked->count != 1)
        return NULL;
    struct span name = sym_text(p->syms, asked->values[0]);
    for (uint32_t i = 0; i < w->pool_count; i++)
        if (span_eq(w->pools[i]->meta.name, name))
            found = w->pools[i];
    for (uint32_t i = 0; i < w->option_count; i++)
        if (w->options[i].pool == found)
            return NULL;
    return found;
}

bool stop_clashes(const struct group_question *q, uint32_t option, const struct requirement *asked)
{
    const struct world *w = q->p->world;
    struct requirement copy = *asked;
    struct requirements one = {&copy, 1};
    return !requirements_compatible(&stop_option(q, option)->requirements, &one, w->rules.well_known,
                                    w->syms, NULL, NULL);
}

static void stop_impossible(const struct group_question *q, struct stop *out)
{
    uint32_t count;
    struct span both;
    if (stop_signature(q)->empty_term) {
        out->sentence = SPAN("has an empty node affinity term, which no node meets");
        out->fix = SPAN("say in the term what is wanted, or take the node affinity away");
    } else if ((both = contradiction_text(q, &count)).ptr != NULL) {
        out->sentence = arena_printf(&q->p->arena, "asks for %.*s, which no node has at once", SPAN_ARG(both));
        out->fix = count == 2 ? SPAN("take one of the two away") : SPAN("take all of them but one away");
    } else {
        out->sentence = SPAN("asks for a label that would have to be two things at once");
        out->fix = SPAN("take one of its node selectors or affinity terms away");
    }
}

void stop_requirement(const struct group_question *q, uint32_t option, const struct requirement *asked,
                      struct stop *out)
{
    struct plan *p = q->p;
    struct span pool = stop_pool(q, option);
    *out = (struct stop){.rule = OPEN_REQUIREMENT, .asked = asked};
    if (asked == NULL) {
        stop_impossible(q, out);
        return;
    }
    const struct requirement *has = requirements_get(&stop_option(q, option)->requirements, asked->key);
    struct span wants = words_requirement(p, asked);
    if (has == NULL) {
        out->sentence = arena_printf(&p->arena, "asks for %.*s, a label that pool %.*s does not set%.*s",
                                     SPAN_ARG(wants), SPAN_ARG(pool),
                                     SPAN_ARG(meant_key(p, asked->key)));
        return;
    }
    if (stop_is_split(q, asked)) {
        stop_split(q, option, has, out);
        return;
    }
    const struct node_pool *closed = closed_pool(p, asked);
    if (closed != NULL)
        out->sentence = arena_printf(&p->arena, "asks for pool %.*s, which %.*s",
                                     SPAN_ARG(closed->meta.name),
                                     SPAN_ARG(pool_obstacle(&p->arena, closed)));
    else
        out->sentence = arena_printf(&p->arena, "asks for %.*s%.*s; pool %.*s has %.*s", SPAN_ARG(wants),
                                     SPAN_ARG(meant_value(p, asked, has)), SPAN_ARG(pool),
                                     SPAN_ARG(words_requirement(p, has)));
}

/* --- what helps --- */

/* Whether anything could be bought if the pool asked for this, and not for what it has in its place. */
static bool is_sold(const struct group_question *q, const struct option *o,
                    const struct requirement *asked)
{
    const struct world *w = q->p->world;
    struct requirements all = {0};
    for (uint32_t i = 0; i < o->requirements.count; i++)
        if (o->requirements.items[i].key != asked->key)
            requirements_add(&q->p->arena, &all, &o->requirements.items[i], w->syms);
    requirements_add(&q->p->arena, &all, asked, w->syms);
    return sold_any(q->p, &all);
}

static struct span fix_requirement(const struct group_question *q, uint32_t option,
                                   const struct requirement *asked)
{
    struct plan *p = q->p;
    const struct option *o = stop_option(q, option);
    struct span pool = option_name(o);
    if (requirements_get(&o->requirements, asked->key) == NULL)
        return arena_printf(&p->arena, "add %.*s to the labels or requirements of pool %.*s",
                            SPAN_ARG(sym_text(p->syms, asked->key)), SPAN_ARG(pool));
    if (asked->key == SYM_NODEPOOL) /* a pool does not change its name */
        return arena_printf(&p->arena, "ask for pool %.*s, or leave the pool open", SPAN_ARG(pool));
    if (!is_sold(q, o, asked))
        return arena_printf(&p->arena, "ask for what pool %.*s has", SPAN_ARG(pool));
    return arena_printf(&p->arena, "let pool %.*s allow %.*s, or ask for what it has", SPAN_ARG(pool),
                        SPAN_ARG(words_requirement(p, asked)));
}

struct span stop_fix(const struct group_question *q, uint32_t option, const struct stop *s)
{
    if (s->fix.len != 0)
        return s->fix;
    if (s->rule == OPEN_REQUIREMENT)
        return fix_requirement(q, option, s->asked);
    struct span names;
    uint32_t count = untolerated(q, option, false, &names);
    return arena_printf(&q->p->arena, "tolerate %.*s, or take the taint%s from the pool",
                        SPAN_ARG(names), count == 1 ? "" : "s");
}
