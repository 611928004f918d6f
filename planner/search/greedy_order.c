/* The queue: CPU, memory, age, UID (spec provisioning 4.2). */
#include "planner/search/greedy.h"

#include <stdlib.h>

struct queued {
    amount cpu, memory;
    const struct pod *pod;
    uint32_t index;
};

static int age_order(const struct pod *x, const struct pod *y)
{
    const struct meta *m = &x->meta, *n = &y->meta;
    if (m->created != n->created)
        return m->created < n->created ? -1 : 1;
    int order = span_cmp(m->uid, n->uid);
    if (order == 0)
        order = span_cmp(m->ns, n->ns);
    return order != 0 ? order : span_cmp(m->name, n->name);
}

static int queued_order(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu > y->cpu ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    return age_order(x->pod, y->pod);
}

static struct queued queued_of(const struct trial *t, const struct waiting_pod *x, uint32_t index)
{
    const amount *requests = classes_requests(&t->world->classes, x->class_id);
    return (struct queued){requests[0], requests[1], x->pod, index};
}

int greedy_compare(const struct trial *t, const struct waiting_pod *a, const struct waiting_pod *b)
{
    struct queued x = queued_of(t, a, 0), y = queued_of(t, b, 0);
    return queued_order(&x, &y);
}

void greedy_order(const struct trial *t, struct arena *a, uint32_t *queue, uint32_t count)
{
    struct queued *items = ARENA_ARRAY(a, struct queued, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = queued_of(t, trial_pod(t, queue[i]), queue[i]);
    if (count != 0)
        qsort(items, count, sizeof(*items), queued_order);
    for (uint32_t i = 0; i < count; i++)
        queue[i] = items[i].index;
}
