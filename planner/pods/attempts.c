/* The ways to state a pod's constraints. Upstream relaxes a pod one step at a time, first that applies: a
 * required node affinity term that is not the last; the heaviest preferred pod affinity, then
 * anti-affinity, then node affinity; a spread constraint with ScheduleAnyway; last, PreferNoSchedule
 * taints are tolerated. There it gives up, though any required term would do: the terms that it gave up
 * while something else was still asked for come once more, with nothing but them. */
#include "planner/pods/classes.h"
#include "planner/pods/shape.h"

#include <stdlib.h>

struct stance { /* what is still asked for; preferences heaviest first */
    const struct pod *pod;
    const struct volume_need *need;
    const uint32_t *where;
    enum split_side side;
    uint32_t term; /* of required node affinity */
    const struct preferred_node_term **preferred;
    const struct preferred_pod_term **affinity, **anti;
    const struct spread **spreads;
    uint32_t preferred_count, affinity_count, anti_count, spread_count;
    uint32_t step; /* how many preferences are dropped at a time */
};


/* --- signatures --- */

static const struct node_term *required_term(const struct stance *s)
{
    const struct affinity *a = s->pod->affinity;
    return a != NULL && a->has_required_node && s->term < a->required_node.count
               ? &a->required_node.items[s->term]
               : NULL;
}

static struct requirements of_term(struct classes *c, const struct node_term *t)
{
    return requirements_of(c->arena, c->syms, t->match_expressions);
}

static bool positive(enum op op)
{
    return op != OP_NOT_IN && op != OP_DOES_NOT_EXIST;
}

/* Whether an expression that wants a label to be there is among those that together want it not to. */
static bool contradicts(struct classes *c, const struct requirements *all, struct expressions list)
{
    for (uint32_t i = 0; i < list.count; i++) {
        const struct requirement *r =
            requirements_get(all, requirement_key(c->syms, list.items[i].key));
        if (positive(list.items[i].op) && r != NULL && requirement_op(r) == OP_DOES_NOT_EXIST)
            return true;
    }
    return false;
}

static bool impossible(struct classes *c, const struct pod *p, const struct requirements *all,
                       const struct node_term *term, const struct node_term *liked)
{
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        const struct requirement *r =
            requirements_get(all, requirement_key(c->syms, p->node_selector.items[i].key));
        if (r != NULL && requirement_op(r) == OP_DOES_NOT_EXIST)
            return true;
    }
    return (term != NULL && contradicts(c, all, term->match_expressions)) ||
           (liked != NULL && contradicts(c, all, liked->match_expressions));
}

/* Not among the strict ones: the scheduler knows nothing of it and counts the nodes of both sides. What
 * is not spot is on-demand, nodes without the label included. */
static void add_side(struct classes *c, struct requirements *r, enum split_side side)
{
    sym spot = SYM_SPOT;
    struct expression e = {.key = SYM_CAPACITY_TYPE,
                           .op = side == SPLIT_SPOT ? OP_IN : OP_NOT_IN,
                           .values = {&spot, 1}};
    if (side == SPLIT_NONE)
        return;
    struct requirement one = requirement_of(c->arena, c->syms, &e);
    requirements_add(c->arena, r, &one, c->syms);
}

static uint32_t put_signature(struct classes *c, const struct stance *st)
{
    const struct pod *p = st->pod;
    const struct node_term *term = required_term(st);
    const struct node_term *liked =
        st->preferred_count != 0 ? &st->preferred[0]->preference : NULL;
    struct shape s = {.texts = NULL};
    words_init(&s.words, c->arena);
    shape_labels(&s, p->node_selector);
    /* matchFields say nothing of whom a class goes to: only DaemonSets' pods come so far with them, and each of those has
     * a node of its own. */
    bool empty_term = term != NULL && term->match_expressions.count == 0 && !term->has_match_fields;
    words_put(&s.words, empty_term);
    shape_expressions(&s, term != NULL ? term->match_expressions : (struct expressions){0});
    shape_expressions(&s, liked != NULL ? liked->match_expressions : (struct expressions){0});
    shape_tolerations(&s, p->tolerations);
    shape_ports(&s, p->ports);
    words_put(&s.words, st->side);
    bool is_new;
    uint32_t id = intern_put(&c->stated, &s.words, &is_new);
    if (!is_new)
        return id;
    struct signature g = {.tolerations = p->tolerations, .ports = ports_sorted(c->arena, p->ports),
                          .empty_term = empty_term};
    g.strict = requirements_of_labels(c->arena, c->syms, p->node_selector);
    if (term != NULL) {
        struct requirements r = of_term(c, term);
        requirements_add_all(c->arena, &g.strict, &r, c->syms);
    }
    requirements_add_all(c->arena, &g.requirements, &g.strict, c->syms);
    if (liked != NULL) {
        struct requirements r = of_term(c, liked);
        requirements_add_all(c->arena, &g.requirements, &r, c->syms);
    }
    add_side(c, &g.requirements, st->side);
    g.impossible = empty_term || impossible(c, p, &g.requirements, term, liked);
    ARENA_PUSH(c->arena, c->signatures, c->signature_count, c->signature_capacity, g);
    return id;
}

/* --- groups --- */

static int number_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void put_groups(struct classes *c, const struct stance *s, struct attempt *out)
{
    struct topology *t = c->topology;
    const struct affinity *a = s->pod->affinity;
    uint32_t *list = NULL, count = 0, capacity = 0;
    for (uint32_t i = 0; i < s->spread_count; i++)
        ARENA_PUSH(c->arena, list, count, capacity,
                   topology_put_spread(t, s->pod, s->spreads[i]));
    for (uint32_t i = 0; i < s->need->unbound_count; i++)
        ARENA_PUSH(c->arena, list, count, capacity,
                   topology_put_volume(t, s->need->unbound[i]));
    uint32_t required = a != NULL ? a->required_pod.count : 0;
    uint32_t *near = ARENA_ARRAY(c->arena, uint32_t, required);
    if (required != 0)
        topology_put_affinity(t, s->pod, &a->required_pod, near);
    for (uint32_t i = 0; i < required; i++)
        ARENA_PUSH(c->arena, list, count, capacity, near[i]);
    for (uint32_t i = 0; a != NULL && i < a->required_anti.count; i++)
        ARENA_PUSH(c->arena, list, count, capacity,
                   topology_put_term(t, s->pod, &a->required_anti.items[i],
                                     TOPOLOGY_ANTI_AFFINITY, false));
    for (uint32_t i = 0; i < s->affinity_count; i++)
        ARENA_PUSH(c->arena, list, count, capacity,
                   topology_put_term(t, s->pod, &s->affinity[i]->term, TOPOLOGY_AFFINITY,
                                     false));
    for (uint32_t i = 0; i < s->anti_count; i++)
        ARENA_PUSH(c->arena, list, count, capacity,
                   topology_put_term(t, s->pod, &s->anti[i]->term, TOPOLOGY_ANTI_AFFINITY,
                                     false));
    if (count != 0)
        qsort(list, count, sizeof(*list), number_order);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[i - 1])
            list[out->group_count++] = list[i];
    out->groups = list;
}

/* The sets of requirements of which its volumes ask one. */
static uint32_t *put_where(struct classes *c, const struct volume_need *need)
{
    uint32_t *list = ARENA_ARRAY(c->arena, uint32_t, need->alternative_count);
    for (uint32_t i = 0; i < need->alternative_count; i++) {
        struct words w;
        words_init(&w, c->arena);
        requirements_words(&w, &need->alternatives[i]);
        bool is_new;
        list[i] = intern_put(&c->set_ids, &w, &is_new);
        if (is_new)
            ARENA_PUSH(c->arena, c->sets, c->set_count, c->set_capacity, need->alternatives[i]);
    }
    return list;
}

static uint32_t soft_spreads(const struct stance *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->spread_count; i++)
        count += !s->spreads[i]->hard;
    return count;
}

static uint32_t preferences(const struct pod *p)
{
    const struct affinity *a = p->affinity;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->spreads.count; i++)
        count += !p->spreads.items[i].hard;
    return a == NULL ? count
                     : count + a->preferred_node.count + a->preferred_pod.count + a->preferred_anti.count;
}

static void push_attempt(struct classes *c, const struct stance *s, bool soft)
{
    uint32_t asked = s->affinity_count + s->anti_count + s->preferred_count + soft_spreads(s);
    struct attempt try = {.signature = put_signature(c, s), .soft = soft, .where = s->where,
                          .where_count = s->need->alternative_count,
                          .given_up = preferences(s->pod) - asked + soft};
    put_groups(c, s, &try);
    ARENA_PUSH(c->arena, c->attempts, c->attempt_count, c->attempt_capacity, try);
}

/* --- the chain --- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool drop_spread(struct stance *s)
{
    for (uint32_t i = 0; i < s->spread_count; i++)
        if (!s->spreads[i]->hard) {
            s->spreads[i] = s->spreads[--s->spread_count];
            return true;
        }
    return false;
}

/* True when there was something to drop. */
static bool relax(struct stance *s)
{
    const struct affinity *a = s->pod->affinity;
    if (a != NULL && a->has_required_node && s->term + 1 < a->required_node.count) {
        s->term++;
        return true;
    }
    if (s->affinity_count != 0) {
        uint32_t count = least(s->step, s->affinity_count);
        s->affinity += count;
        s->affinity_count -= count;
        return true;
    }
    if (s->anti_count != 0) {
        uint32_t count = least(s->step, s->anti_count);
        s->anti += count;
        s->anti_count -= count;
        return true;
    }
    if (s->preferred_count != 0) {
        uint32_t count = least(s->step, s->preferred_count);
        s->preferred += count;
        s->preferred_count -= count;
        return true;
    }
    bool dropped = drop_spread(s);
    for (uint32_t i = 1; i < s->step && dropped; i++)
        drop_spread(s);
    return dropped;
}

/* Heaviest first, equal ones in their order: all are of one list. */
static int by_weight(const void *x, const void *y)
{
    const struct preferred_pod_term *const *a = x, *const *b = y;
    if ((*a)->weight != (*b)->weight)
        return (*a)->weight > (*b)->weight ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static int by_node_weight(const void *x, const void *y)
{
    const struct preferred_node_term *const *a = x, *const *b = y;
    if ((*a)->weight != (*b)->weight)
        return (*a)->weight > (*b)->weight ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static uint32_t sort_terms(struct classes *c, struct preferred_pod_terms terms,
                           const struct preferred_pod_term ***out)
{
    *out = ARENA_ARRAY(c->arena, const struct preferred_pod_term *, terms.count);
    for (uint32_t i = 0; i < terms.count; i++)
        (*out)[i] = &terms.items[i];
    if (terms.count != 0)
        qsort(*out, terms.count, sizeof(**out), by_weight);
    return terms.count;
}

static void add_preferences(struct classes *c, struct stance *s)
{
    const struct affinity *a = s->pod->affinity;
    if (a == NULL)
        return;
    s->preferred_count = a->preferred_node.count;
    s->preferred = ARENA_ARRAY(c->arena, const struct preferred_node_term *, a->preferred_node.count);
    for (uint32_t i = 0; i < a->preferred_node.count; i++)
        s->preferred[i] = &a->preferred_node.items[i];
    if (s->preferred_count != 0)
        qsort(s->preferred, s->preferred_count, sizeof(*s->preferred), by_node_weight);
    s->affinity_count = sort_terms(c, a->preferred_pod, &s->affinity);
    s->anti_count = sort_terms(c, a->preferred_anti, &s->anti);
}

static void add_spreads(struct classes *c, struct stance *s, bool soft_too)
{
    s->spreads = ARENA_ARRAY(c->arena, const struct spread *, s->pod->spreads.count);
    for (uint32_t i = 0; i < s->pod->spreads.count; i++)
        if (s->pod->spreads.items[i].hard || soft_too)
            s->spreads[s->spread_count++] = &s->pod->spreads.items[i];
}

/* Required terms that were only tried with what `s` does not ask for any more. */
static void push_earlier_terms(struct classes *c, const struct stance *s, bool soft)
{
    struct stance earlier = *s;
    for (earlier.term = 0; earlier.term < s->term; earlier.term++)
        push_attempt(c, &earlier, soft);
}

static uint32_t push_chain(struct classes *c, struct stance *s, bool preferring)
{
    uint32_t first = c->attempt_count;
    do
        push_attempt(c, s, false);
    while (relax(s));
    push_attempt(c, s, true);
    if (preferring)
        push_earlier_terms(c, s, false);
    push_earlier_terms(c, s, true);
    return first;
}

void classes_state(struct classes *c, const struct pod *p, const struct volume_need *need,
                   struct pod_class *k)
{
    struct stance strict = {.pod = p, .need = need, .side = k->side, .where = put_where(c, need)};
    add_spreads(c, &strict, false);
    if (preferences(p) != 0) {
        struct stance s = {.pod = p, .need = need, .side = k->side, .where = strict.where,
                           .step = 1 + preferences(p) / ATTEMPT_STEPS};
        add_preferences(c, &s);
        add_spreads(c, &s, true);
        k->first_attempt = push_chain(c, &s, true);
        k->attempt_count = c->attempt_count - k->first_attempt;
    }
    k->first_strict = push_chain(c, &strict, false);
    k->strict_count = c->attempt_count - k->first_strict;
    if (k->attempt_count == 0) {
        k->first_attempt = k->first_strict;
        k->attempt_count = k->strict_count;
    }

    for (uint32_t i = 0; i < k->strict_count; i++)
        topology_harden(c->topology, c->attempts[k->first_strict + i].groups,
                        c->attempts[k->first_strict + i].group_count);

    struct topology_ties *ties = &k->ties;
    const struct affinity *a = p->affinity;
    uint32_t *off = ARENA_ARRAY(c->arena, uint32_t, a != NULL ? a->required_anti.count : 0);
    for (uint32_t i = 0; a != NULL && i < a->required_anti.count; i++)
        off[ties->keeps_off_count++] = topology_put_term(
            c->topology, p, &a->required_anti.items[i], TOPOLOGY_ANTI_AFFINITY, true);
    ties->keeps_off = off;
}
