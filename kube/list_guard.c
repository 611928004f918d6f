#include "kube/list_guard.h"

static bool is_too_many(uint32_t part, uint32_t of)
{
    return (uint64_t)part * 100 > (uint64_t)of * LIST_LOST_PERCENT;
}

/* The objects that were believed to be there are there, but for as many as may be lost. */
static bool is_whole_again(const struct list_guard *g, const struct list_counts *c)
{
    return c->has >= g->believed || !is_too_many(g->believed - c->has, g->believed);
}

/* Two replies that show different objects: neither confirms the other. */
static bool disagrees(const struct list_counts *c)
{
    uint32_t stayed = c->had > c->lost ? c->had - c->lost : 0;
    return c->has > stayed && is_too_many(c->has - stayed, c->has);
}

bool list_guard_update(struct list_guard *g, const struct list_counts *c)
{
    if (is_too_many(c->lost, c->had)) {
        uint32_t believed = g->list != 0 ? g->believed : c->had;
        *g = (struct list_guard){.list = c->number, .had = c->had, .lost = c->lost, .believed = believed};
        return true;
    }
    if (g->list == 0)
        return false;
    if (is_whole_again(g, c) || (c->asked && !disagrees(c))) {
        *g = (struct list_guard){0};
        return true;
    }
    if (c->asked)
        g->list = c->number; /* asked for once more */
    return c->asked;
}
