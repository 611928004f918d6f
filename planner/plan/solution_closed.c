/* Pools that can buy nothing, whoever asks. */
#include "planner/plan/solution.h"

static bool values_missing(struct trial *t, uint32_t option)
{
    const struct option *o = &t->world->options[option];
    for (uint32_t i = 0; i < o->least_count; i++)
        if (trial_values(t, &t->specs.items[option], o->types, o->least[i].key,
                         o->least[i].count) < o->least[i].count)
            return true;
    return false;
}

void solution_closed(struct plan *p, struct trial *t)
{
    const struct world *w = p->world;
    struct plan_closed *list = ARENA_ARRAY(&p->arena, struct plan_closed, w->option_count);
    for (uint32_t i = 0; i < w->option_count; i++) {
        const struct option *o = &w->options[i];
        bool empty = bits_count(o->types, w->types.words) == 0;
        if (empty || (!t->best_effort && values_missing(t, i)))
            list[p->closed_count++] = (struct plan_closed){o->pool, !empty};
    }
    p->closed = list;
}
