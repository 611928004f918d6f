#include "planner/explain/stop_inner.h"
#include "planner/explain/volumes.h"

/* --- places --- */

/* Types and limits would do. The volumes are asked first: where they are is not for others to choose. */
static void stop_placed(const struct group_question *q, uint32_t option, struct stop *s)
{
    s->rule = OPEN_VOLUMES;
    if (!volumes_near_option(q, option, &s->sentence, &s->fix))
        return;
    s->rule = OPEN_TOPOLOGY;
    s->group = groups_refuse_option(q, option, &s->sentence, &s->fix);
}

bool stop_nowhere(const struct group_question *q, uint32_t option, uint32_t group, struct stop *out)
{
    *out = (struct stop){.rule = OPEN_TOPOLOGY, .group = group};
    return groups_nowhere(q, option, group, &out->sentence, &out->fix);
}

static void stop_values(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    const struct option *o = stop_option(q, option);
    const struct spec *spec = stop_spec(q, option);
    struct span pool = option_name(o), key = {0};
    uint32_t want = 0, found = 0;
    for (uint32_t i = 0; i < o->least_count && found == want; i++) {
        key = sym_text(p->syms, o->least[i].key);
        want = o->least[i].count;
        found = trial_values(q->t, spec, spec->types, o->least[i].key, want);
    }
    s->sentence = arena_printf(&p->arena,
                               "leaves too few types in pool %.*s for its minValues: "
                               "minValues requirement is not met for label(s) (label(s)=[%.*s]), "
                               "%u of %u different values are left",
                               SPAN_ARG(pool), SPAN_ARG(key), found, want);
    s->fix = arena_printf(&p->arena, "lower minValues of %.*s in pool %.*s, or plan with "
                                     "--min-values-policy BestEffort",
                          SPAN_ARG(key), SPAN_ARG(pool));
}

static void stop_reserved(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    struct span pool = stop_pool(q, option);
    if (s->rule == OPEN_FULL)
        s->sentence = arena_printf(&p->arena, "finds only reservations in pool %.*s, and all are full",
                                   SPAN_ARG(pool));
    else
        s->sentence = arena_printf(&p->arena,
                                   "could use a reservation of pool %.*s, and all are taken",
                                   SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "wait for one, or ask for karpenter.sh/capacity-type on-demand or "
                                     "spot, which pool %.*s has to offer",
                          SPAN_ARG(pool));
}

void stop_opening(const struct group_question *q, uint32_t option, enum opening rule,
                  const struct requirements *asked, struct stop *out)
{
    *out = (struct stop){.rule = rule};
    switch (rule) {
    case OPEN_YES:
    case OPEN_TAINT:
    case OPEN_REQUIREMENT:
        break;
    case OPEN_TYPES:
        stop_types(q, option, asked, out);
        break;
    case OPEN_RESOURCES:
        stop_resources(q, option, out);
        break;
    case OPEN_LIMITS:
        stop_limits(q, option, out);
        break;
    case OPEN_NODES:
        stop_nodes(q, option, out);
        break;
    case OPEN_VOLUMES:
    case OPEN_TOPOLOGY:
        stop_placed(q, option, out);
        break;
    case OPEN_MIN_VALUES:
        stop_values(q, option, out);
        break;
    case OPEN_FULL:
    case OPEN_RESERVED:
        stop_reserved(q, option, out);
        break;
    }
}
