#include "reconciler/disruption/kept_verdict.h"

#include <stdlib.h>

#include "base/arena.h"
#include "planner/bits.h"

void kept_verdict_release(struct kept_verdict *k)
{
    free(k->budgets);
    *k = (struct kept_verdict){.judged = false};
}

static uint64_t sum_of(const struct pod *const *pods, uint32_t count)
{
    uint64_t sum = count;
    for (uint32_t i = 0; i < count; i++)
        sum = (sum ^ (uintptr_t)pods[i]) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 31);
    return sum;
}

bool kept_verdict_hangs_on(const struct kept_verdict *k, const struct kept_since *since)
{
    for (uint32_t i = 0; since->changed != NULL && i < k->budget_count; i++)
        if (bits_has(since->changed, k->budgets[i]))
            return true;
    return false;
}

static bool holds(const struct kept_verdict *k, const struct kept_since *since,
                  const struct empty_facts *f, uint64_t pods)
{
    return !since->anew && k->judged && k->node == f->node && k->claim == f->claim &&
           k->pool == f->pool && k->nominated == f->nominated && k->pods == pods &&
           (k->until == 0 || f->now < k->until) && !kept_verdict_hangs_on(k, since);
}

static void keep_looks(struct kept_verdict *k, const struct blocked_looks *x)
{
    if (k->budget_room < x->count) {
        k->budgets = mem_grow(k->budgets, x->count, sizeof(*k->budgets));
        k->budget_room = x->count;
    }
    if (x->count != 0)
        memcpy(k->budgets, x->budgets, x->count * sizeof(*x->budgets));
    k->budget_count = x->count;
    k->until = x->until;
}

bool kept_verdict_judge(struct kept_verdict *k, const struct kept_since *since, struct empty_facts *f)
{
    struct blocked_looks looks = {.arena = since->scratch};
    uint64_t pods = sum_of(f->pods, f->pod_count);
    if (holds(k, since, f, pods)) {
        k->answer.pool_name = f->pool_name; /* of this pass's symbols */
        return false;
    }
    f->looks = &looks;
    k->answer = empty_judge(f);
    f->looks = NULL;
    k->judged = true;
    k->node = f->node;
    k->claim = f->claim;
    k->pool = f->pool;
    k->nominated = f->nominated;
    k->pods = pods;
    keep_looks(k, &looks);
    return true;
}
