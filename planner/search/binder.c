#include "planner/search/binder.h"

#include "planner/search/measure.h"

struct binder {
    struct trial trial;
    struct measure measure;
    const struct attempt *measured; /* whose spreads are, since something was bound last; or NULL */
    amount *taken;                  /* by row: see binder_take */
};

struct binder *binder_new(struct arena *a, const struct world *w)
{
    struct binder *b = ARENA_NEW(a, struct binder);
    trial_init(&b->trial, a, w);
    measure_init(&b->measure, &b->trial);
    b->taken = ARENA_ARRAY(a, amount, (size_t)w->node_count * w->column_count);
    return b;
}

amount binder_left(const struct binder *b, uint32_t row, uint32_t column)
{
    return trial_left(&b->trial, row)[column] - world_vector(b->trial.world, b->taken, row)[column];
}

/* What is not asked for may be short: a node that has lost a device takes who needs none. */
static bool has_room(struct binder *b, uint32_t class_id, uint32_t row)
{
    const amount *requests = trial_requests(&b->trial, row, class_id);
    for (uint32_t c = 0; c < b->trial.world->column_count; c++)
        if (requests[c] > 0 && requests[c] > binder_left(b, row, c))
            return false;
    return true;
}

/* Spreads come first, as in kube-scheduler; whose anti-affinity keeps it off comes last. */
static const struct topology_group *first_refusing(const struct binder *b, const struct pod_class *k,
                                                   const struct attempt *try, uint32_t row)
{
    const struct topology_group *first = NULL;
    for (uint32_t i = 0; i < try->group_count + k->ties.kept_off_by_count; i++) {
        uint32_t g = i < try->group_count ? try->groups[i]
                                          : k->ties.kept_off_by[i - try->group_count];
        const struct topology_group *x = &b->trial.world->topology.groups[g];
        if ((first == NULL || x->kind < first->kind) &&
            tally_ask(&b->trial.tally, k, try, g, row) != ANSWER_YES)
            first = x;
    }
    return first;
}

static enum binder_answer ask_groups(struct binder *b, const struct pod_class *k,
                                     const struct attempt *try, uint32_t row)
{
    if (!try->tied)
        return BINDER_YES;
    if (b->measured != try)
        measure_standing(&b->measure, try);
    b->measured = try;
    if (tally_row(&b->trial.tally, k, try, row) == ANSWER_YES)
        return BINDER_YES;
    const struct topology_group *g = first_refusing(b, k, try, row);
    switch (g->kind) {
    case TOPOLOGY_SPREAD:
        return BINDER_SPREAD;
    case TOPOLOGY_AFFINITY:
        return BINDER_AFFINITY;
    case TOPOLOGY_ANTI_AFFINITY:
        break;
    }
    return g->inverse ? BINDER_KEPT_OFF : BINDER_ANTI_AFFINITY;
}

static enum binder_answer ask_labels(const struct world *w, const struct attempt *try, uint32_t row)
{
    struct attempt anywhere = *try;
    enum fit suits = world_suits(w, try, w->profile_of[row], NULL);
    if (suits == FIT_YES || suits == FIT_TAINT)
        return suits == FIT_YES ? BINDER_YES : BINDER_TAINT;
    anywhere.where_count = 0;
    bool elsewhere = world_suits(w, &anywhere, w->profile_of[row], NULL) == FIT_YES;
    return elsewhere ? BINDER_VOLUMES : BINDER_SELECTOR;
}

static enum binder_answer ask_attempt(struct binder *b, uint32_t class_id,
                                      const struct attempt *try, uint32_t row)
{
    const struct world *w = b->trial.world;
    enum binder_answer labels = ask_labels(w, try, row);
    if (labels != BINDER_YES)
        return labels;
    if (ports_conflict(w->classes.signatures[try->signature].ports, trial_ports(&b->trial, row)))
        return BINDER_PORTS;
    if (!has_room(b, class_id, row))
        return BINDER_RESOURCES;
    return ask_groups(b, &w->classes.items[class_id], try, row);
}

enum binder_answer binder_ask(struct binder *b, int32_t class_id, uint32_t row)
{
    const struct world *w = b->trial.world;
    const struct pod_class *k = &w->classes.items[class_id];
    enum binder_answer furthest = BINDER_YES;
    if (trial_is_gone(&b->trial, row))
        return BINDER_LEAVING;
    if (k->devices || k->beyond)
        return BINDER_DEVICES;
    if (k->error.ptr != NULL)
        return BINDER_MISSING;
    for (uint32_t i = 0; i < k->strict_count; i++) { /* one of its terms is enough */
        const struct attempt *try = &w->classes.attempts[k->first_strict + i];
        enum binder_answer a = ask_attempt(b, (uint32_t)class_id, try, row);
        if (a == BINDER_YES)
            return BINDER_YES;
        furthest = a > furthest ? a : furthest;
    }
    return furthest;
}

bool binder_may_change(enum binder_answer a)
{
    return a == BINDER_SPREAD || a == BINDER_AFFINITY;
}

struct span binder_missing(const struct binder *b, int32_t class_id)
{
    return b->trial.world->classes.items[class_id].error;
}

void binder_bind(struct binder *b, int32_t class_id, uint32_t row)
{
    const struct classes *k = &b->trial.world->classes;
    const struct attempt *any = &k->attempts[k->items[class_id].first_strict];
    trial_place_on_node(&b->trial, row, 0, (uint32_t)class_id, any);
    b->measured = NULL;
}

uint32_t binder_mark(const struct binder *b)
{
    return trial_mark(&b->trial);
}

void binder_undo(struct binder *b, uint32_t mark)
{
    trial_undo(&b->trial, mark);
    b->measured = NULL;
}

void binder_take(struct binder *b, uint32_t row, const amount *requests)
{
    uint32_t columns = b->trial.world->column_count;
    amount *taken = b->taken + (size_t)row * columns;
    for (uint32_t c = 0; c < columns; c++)
        taken[c] = amount_add(taken[c], requests[c]);
}
