#include "planner/arrivals.h"

#include "kube/store.h"
#include "planner/columns.h"

static bool is_past(const struct pod *p)
{
    return p->node != SYM_NONE || p->meta.deleted != 0 || pod_is_terminal(p);
}

/* What it asks for; NULL: it does not come any more. */
static const amount *requests_of(struct arena *a, const struct world *w, const struct snapshot *s,
                                 const struct sent_pod *x)
{
    const struct pod *pod = snapshot_find(s, KIND_POD, x->ns, x->name);
    if (pod != NULL && span_eq(pod->meta.uid, x->uid))
        return is_past(pod) ? NULL : world_pod_requests(w, a, pod);
    if (x->seen != 0 && x->seen <= s->sequence)
        return NULL; /* it was there */
    amount *vector = ARENA_ARRAY(a, amount, w->column_count);
    memcpy(vector, x->base, sizeof(x->base));
    return vector;
}

static void add_row(const struct world *w, uint64_t node, uint32_t *rows, uint32_t *count)
{
    int32_t row = world_find_hash(w, node);
    for (uint32_t i = 0; i < *count; i++)
        if (rows[i] == (uint32_t)row)
            return;
    if (row >= 0)
        rows[(*count)++] = (uint32_t)row;
}

static const uint32_t *rows_of(struct arena *a, const struct world *w, const struct sent_pod *x,
                               uint32_t *count)
{
    uint32_t *rows = ARENA_ARRAY(a, uint32_t, (size_t)x->told_count + 1);
    *count = 0;
    add_row(w, x->node, rows, count);
    for (uint32_t i = 0; i < x->told_count; i++)
        add_row(w, x->told[i], rows, count);
    return rows;
}

uint32_t arrivals_find(struct arena *a, const struct world *w, const struct snapshot *s,
                       const struct sent_pod *sent, uint32_t count, const struct arrival **out)
{
    struct arrival *list = ARENA_ARRAY(a, struct arrival, count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sent_pod *x = &sent[i];
        const struct pod *waits = world_waiting_pod(w, x->uid);
        if (x->refused || x->daemon || (waits != NULL && !x->several))
            continue;
        struct arrival found = {
            .id = span_hash(x->uid), .priority = x->priority, .waits = waits, .sure = !x->several};
        found.requests = requests_of(a, w, s, x);
        if (found.requests != NULL)
            found.rows = rows_of(a, w, x, &found.row_count);
        if (found.row_count != 0)
            list[n++] = found;
    }
    *out = list;
    return n;
}
