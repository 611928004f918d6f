#include "planner/disruption/daemon_room.h"

#include "planner/columns.h"
#include "planner/disruption/allowance.h"

/* --- what is missing --- */

/* Of each column, by which the row is too small for what stands there and the DaemonSets to come of at least the
 * priority; NULL: it is large enough. */
static const amount *missing(const struct world *w, struct arena *a, uint32_t row, int32_t priority)
{
    const amount *allocatable = world_allocatable(w, row), *requested = world_requested(w, row);
    const amount *expected = world_daemons_from(w, a, row, priority);
    amount *short_of = ARENA_ARRAY(a, amount, w->column_count);
    bool any = false;
    for (uint32_t c = 0; c < w->column_count; c++) {
        amount over = amount_add(requested[c], expected[c]) - allocatable[c];
        short_of[c] = expected[c] > 0 && over > 0 ? over : 0;
        any |= short_of[c] != 0;
    }
    return any ? short_of : NULL;
}

/* --- who may be moved for it --- */

struct mover {
    const struct pod *pod;
    const amount *requests;
    double cost;
    bool chosen;
};

static bool may_move(const struct candidate_facts *f, const struct pod *p)
{
    const struct blocked_facts facts = {.pods = &p, .pod_count = 1, .budgets = f->budgets, .now = f->now};
    return pod_is_reschedulable(p) && pod_is_evictable(p, f->now) && meta_controller(&p->meta) != NULL &&
           blocked_judge_pods(&facts).what == BLOCKED_NOT;
}

static struct mover *movers_of(struct arena *a, const struct world *w, uint32_t row, const struct candidate_facts *f,
                               uint32_t *count_out)
{
    const struct world_node *n = &w->nodes[row];
    struct mover *list = ARENA_ARRAY(a, struct mover, n->pod_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        const struct pod *p = n->pods[i];
        double cost = pod_eviction_cost(p, f->deletion_cost_ignored);
        if (may_move(f, p) && missing(w, a, row, p->priority) != NULL)
            list[count++] = (struct mover){p, world_pod_requests(w, a, p), cost > 0 ? cost : 0, false};
    }
    *count_out = count;
    return list;
}

/* As shares of what is missing of each column, what it gives, and what it asks for. */
static double gives(const struct world *w, const amount *left, const struct mover *m, double *size_out)
{
    double sum = 0;
    *size_out = 0;
    for (uint32_t c = 0; c < w->column_count; c++)
        if (left[c] > 0) {
            double share = (double)m->requests[c] / (double)left[c];
            *size_out += share;
            sum += share < 1 ? share : 1;
        }
    return sum;
}

static bool is_enough(const struct world *w, const amount *left)
{
    for (uint32_t c = 0; c < w->column_count; c++)
        if (left[c] > 0)
            return false;
    return true;
}

/* One more, whose eviction costs least for what it gives; of equal ones the smallest. False: nobody gives anything. */
static bool choose_next(const struct world *w, struct mover *list, uint32_t count, amount *left)
{
    struct mover *best = NULL;
    double best_rate = 0, best_size = 0;
    for (uint32_t i = 0; i < count; i++) {
        double size = 0, given = list[i].chosen ? 0 : gives(w, left, &list[i], &size);
        double rate = given > 0 ? (list[i].cost + 1) / given : 0;
        if (given <= 0 || (best != NULL && (rate > best_rate || (rate == best_rate && size >= best_size))))
            continue;
        best = &list[i];
        best_rate = rate;
        best_size = size;
    }
    for (uint32_t c = 0; best != NULL && c < w->column_count; c++)
        left[c] -= best->requests[c];
    if (best != NULL)
        best->chosen = true;
    return best != NULL;
}

/* Who turned out not to be needed stays, the dearest first. */
static void keep_needless(const struct world *w, struct mover *list, uint32_t count, amount *left)
{
    for (;;) {
        struct mover *dearest = NULL;
        for (uint32_t i = 0; i < count; i++) {
            bool needless = list[i].chosen && (dearest == NULL || list[i].cost > dearest->cost);
            for (uint32_t c = 0; needless && c < w->column_count; c++)
                needless = left[c] + list[i].requests[c] <= 0 || list[i].requests[c] == 0;
            if (needless)
                dearest = &list[i];
        }
        if (dearest == NULL)
            return;
        dearest->chosen = false;
        for (uint32_t c = 0; c < w->column_count; c++)
            left[c] += dearest->requests[c];
    }
}

static bool find_on(struct arena *a, const struct world *w, uint32_t row, const struct candidate_facts *f,
                    struct daemon_room *out)
{
    const amount *short_of = missing(w, a, row, INT32_MIN);
    if (short_of == NULL)
        return false;
    uint32_t count;
    struct mover *list = movers_of(a, w, row, f, &count);
    amount *left = ARENA_ARRAY(a, amount, w->column_count);
    memcpy(left, short_of, w->column_count * sizeof(*left));
    while (!is_enough(w, left))
        if (!choose_next(w, list, count, left))
            return false;
    keep_needless(w, list, count, left);
    const struct pod **pods = ARENA_ARRAY(a, const struct pod *, count);
    *out = (struct daemon_room){.row = row, .pods = pods};
    for (uint32_t i = 0; i < count; i++)
        if (list[i].chosen)
            pods[out->count++] = list[i].pod;
    return out->count != 0;
}

/* --- where --- */

static bool any_ends(const struct world_node *n)
{
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (n->pods[i]->meta.deleted != 0)
            return true;
    return false;
}

static bool may_be_touched(const struct world *w, uint32_t row, const struct candidate_facts *f)
{
    const struct world_node *n = &w->nodes[row];
    const struct blocked_facts facts = {
        .node = n->node, .claim = n->claim, .class = DISRUPT_GRACEFUL,
        .queued = f->queued != NULL && bits_has(f->queued, row), .leaving = n->going, .has_pool = true};
    return blocked_judge_node(&facts).what == BLOCKED_NOT;
}

uint32_t daemon_room_find(struct arena *a, const struct world *w, const struct candidate_facts *f,
                          const struct daemon_room **out)
{
    struct daemon_room *list = NULL;
    uint32_t count = 0, capacity = 0;
    struct allowances budget = {0};
    bool *asks = ARENA_ARRAY(a, bool, w->pool_count), any = false;
    for (uint32_t i = 0; i < w->pool_count; i++)
        any |= node_pool_daemon_room(w->pools[i], &asks[i]) && asks[i];
    uint64_t *ending = ARENA_ARRAY(a, uint64_t, bits_words(w->node_count));
    for (int turn = 0; any && turn < 2; turn++) { /* who is being made room on counts before anybody new does */
        for (uint32_t row = 0; row < w->node_count; row++) {
            const struct world_node *n = &w->nodes[row];
            struct daemon_room x;
            if (n->pool < 0 || !asks[n->pool] || !world_daemons_come(w, row) || !may_be_touched(w, row, f))
                continue;
            bool ends = any_ends(n);
            if (turn == 0 && ends && missing(w, a, row, INT32_MIN) != NULL)
                bits_add(ending, row);
            else if (turn == 1 && !ends && find_on(a, w, row, f, &x) && allowances_take(&budget, n->pool))
                ARENA_PUSH(a, list, count, capacity, x);
        }
        for (uint32_t i = 0; turn == 0 && f->queued != NULL && i < bits_words(w->node_count); i++)
            ending[i] |= f->queued[i];
        if (turn == 0)
            budget = allowances_make(a, w, REASON_UNDERUTILIZED, ending, f->now);
    }
    *out = list;
    return count;
}
