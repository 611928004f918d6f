/* fits: what a node says to a pod by its labels, its taints and its room. */
#include "planner/columns.h"

const struct taint *world_untolerated(const struct world *w, const struct signature *s, bool soft,
                                      struct taints taints)
{
    for (uint32_t i = 0; i < taints.count; i++) {
        const struct taint *t = &taints.items[i];
        if (!taint_tolerated(t, s->tolerations, w->syms) &&
            !(soft && t->effect == TAINT_PREFER_NO_SCHEDULE))
            return t; /* cppcheck-suppress returnDanglingLifetime ; `items` is a pointer, no array */
    }
    return NULL;
}

/* Whether every value that the node has, or may turn out to have, is asked for. */
static bool covers(const struct requirement *asked, const struct requirement *has,
                   const struct symtab *syms)
{
    enum op op = requirement_op(asked);
    if (has == NULL)
        return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
    if (has->complement)
        return op == OP_EXISTS && !asked->has_gte && !asked->has_lte;
    for (uint32_t i = 0; i < has->count; i++)
        if (!requirement_has(asked, has->values[i], syms))
            return false;
    return has->count != 0;
}

static bool volumes_near(const struct world *w, const struct attempt *try, const struct profile *p)
{
    for (uint32_t i = 0; i < try->where_count; i++) {
        const struct requirements *set = &w->classes.sets[try->where[i]];
        bool met = true;
        for (uint32_t k = 0; k < set->count && met; k++)
            met = covers(&set->items[k], requirements_get(&p->labels, set->items[k].key), w->syms);
        if (met)
            return true;
    }
    return try->where_count == 0;
}

enum fit world_suits(const struct world *w, const struct attempt *try, uint32_t profile,
                     sym *key_out)
{
    const struct signature *s = &w->classes.signatures[try->signature];
    const struct profile *p = &w->profiles[profile];
    if (world_untolerated(w, s, try->soft, p->taints) != NULL)
        return FIT_TAINT;
    if (s->impossible)
        return FIT_SELECTOR;
    for (uint32_t i = 0; i < s->requirements.count; i++) {
        const struct requirement *r = &s->requirements.items[i];
        if (covers(r, requirements_get(&p->labels, r->key), w->syms))
            continue;
        if (key_out != NULL)
            *key_out = r->key;
        return FIT_SELECTOR;
    }
    return volumes_near(w, try, p) ? FIT_YES : FIT_SELECTOR;
}

bool world_has_room(const struct world *w, const amount *requests, bool daemon, uint32_t row,
                    const amount *held)
{
    const amount *left = world_vector(w, w->left, row);
    const amount *expected = world_vector(w, w->expected, row);
    for (uint32_t c = 0; c < w->column_count; c++) {
        amount room = left[c] + (daemon ? expected[c] : 0) - (held != NULL ? held[c] : 0);
        if (requests[c] > 0 && requests[c] > room)
            return false;
    }
    return true;
}
