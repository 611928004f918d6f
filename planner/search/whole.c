#include "planner/search/whole.h"

#include "planner/search/greedy.h"

/* --- which groups --- */

/* Whether pods of the class must be where others of the group are, and are of it themselves. */
static bool keeps_together(const struct world *w, const struct pod_class *k, uint32_t group)
{
    const struct topology_group *g = &w->topology.groups[group];
    const struct attempt *strict = &w->classes.attempts[k->first_strict];
    bool asks = false;
    for (uint32_t i = 0; i < strict->group_count && !asks; i++)
        asks = strict->groups[i] == group;
    return asks && g->kind == TOPOLOGY_AFFINITY && g->key == 0 && tally_counts_class(k, group);
}

static const struct pod_class *class_of(const struct trial *t, uint32_t pod)
{
    return &t->world->classes.items[trial_pod(t, pod)->class_id];
}

static struct whole collect(const struct trial *t, struct arena *a, const struct whole_question *q,
                            uint32_t group)
{
    struct whole x = {.group = group};
    uint32_t *pods = NULL, capacity = 0;
    for (uint32_t i = 0; i < q->count; i++)
        if (keeps_together(t->world, class_of(t, q->pods[i]), group))
            ARENA_PUSH(a, pods, x.count, capacity, q->pods[i]);
    x.pods = pods;
    return x;
}

uint32_t whole_torn(const struct trial *t, struct arena *a, const struct whole_question *q,
                    struct whole *out, uint32_t most)
{
    const struct world *w = t->world;
    uint64_t *placed = ARENA_ARRAY(a, uint64_t, bits_words(w->topology.group_count));
    uint32_t count = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        const struct attempt *strict = &w->classes.attempts[class_of(t, q->pods[i])->first_strict];
        for (uint32_t g = 0; q->outcome[q->pods[i]] == OUTCOME_PLACED && g < strict->group_count; g++)
            bits_add(placed, strict->groups[g]);
    }
    for (uint32_t i = 0; i < q->count && count < most; i++) {
        const struct pod_class *k = class_of(t, q->pods[i]);
        const struct attempt *strict = &w->classes.attempts[k->first_strict];
        if (q->outcome[q->pods[i]] == OUTCOME_PLACED)
            continue;
        for (uint32_t g = 0; g < strict->group_count && count < most; g++) {
            uint32_t group = strict->groups[g];
            if (!bits_has(placed, group) || !keeps_together(w, k, group))
                continue;
            bits_drop(placed, group); /* looked at */
            out[count++] = collect(t, a, q, group);
        }
    }
    return count;
}

/* --- a node for all --- */

struct seating {
    struct trial *t;
    const struct whole *x;
    const struct whole_rules *rules;
    enum trial_kind on;
    uint32_t target; /* row, claim; of TRIAL_OPENED the option, until it is open */
};

static bool takes(struct seating *s, uint32_t pod, uint32_t class_id, const struct attempt *try)
{
    struct trial *t = s->t;
    if (s->on == TRIAL_ON_CLAIM)
        return trial_place_on_claim(t, s->target, pod, class_id, try) == ANSWER_YES;
    if (s->on == TRIAL_OPENED) {
        if (trial_open(t, s->target, pod, class_id, try) != OPEN_YES)
            return false;
        s->on = TRIAL_ON_CLAIM;
        s->target = t->claim_count - 1;
        return true;
    }
    bool closed = s->rules->closed != NULL && trial_is_moved(t, pod) &&
                  bits_has(s->rules->closed, s->target);
    if (closed || !trial_fits(t, s->target, class_id, try))
        return false;
    trial_place_on_node(t, s->target, pod, class_id, try);
    return true;
}

static bool seat_pod(struct seating *s, uint32_t pod)
{
    const struct world *w = s->t->world;
    const struct pod_class *k = class_of(s->t, pod);
    bool strict = s->rules->ignore_preferences;
    uint32_t first = strict ? k->first_strict : k->first_attempt;
    uint32_t count = strict ? k->strict_count : k->attempt_count;
    for (uint32_t i = first; i < first + count; i++) {
        const struct attempt *try = &w->classes.attempts[i];
        if ((!try->soft || w->soft_taints) && takes(s, pod, trial_pod(s->t, pod)->class_id, try))
            return true;
    }
    return false;
}

static bool seat_all(struct seating s)
{
    uint32_t mark = trial_mark(s.t);
    for (uint32_t i = 0; i < s.x->count; i++)
        if (!seat_pod(&s, s.x->pods[i])) {
            trial_undo(s.t, mark);
            return false;
        }
    return true;
}

bool whole_seat(struct trial *t, const struct whole *x, const struct whole_rules *rules)
{
    const struct world *w = t->world;
    amount *all = ARENA_ARRAY(t->arena, amount, w->column_count);
    if (tally_total(&t->tally, x->group) != 0)
        return false;
    for (uint32_t i = 0; i < x->count; i++) {
        const amount *one = trial_requests_at_least(t, trial_pod(t, x->pods[i])->class_id);
        for (uint32_t c = 0; c < w->column_count; c++)
            all[c] = amount_add(all[c], one[c]);
    }
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!trial_is_gone(t, row) && vector_fits(w, all, trial_left(t, row)) &&
            seat_all((struct seating){t, x, rules, TRIAL_ON_NODE, row}))
            return true;
    for (uint32_t option = 0; option < w->option_count; option++)
        if (seat_all((struct seating){t, x, rules, TRIAL_OPENED, option}))
            return true;
    for (uint32_t claim = 0; claim < t->claim_count; claim++)
        if (vector_fits(w, all, t->claims[claim].headroom) &&
            seat_all((struct seating){t, x, rules, TRIAL_ON_CLAIM, claim}))
            return true;
    return false;
}
