#include "extender/score.h"

#include <math.h>

enum {
    FULLNESS = 7, /* points of SCORE_MAX; what is left is for price and life */
    PRICE = 2,
    LIFE = 1,
    ZONES = 32, /* told apart; more share one list */
};
static const span_ms LONG_LIFE_MS = 24 * MS_HOUR; /* beyond a day one life is as good as another */

/* Of its CPU; NAN when it is not known. */
static double price(const struct extender_view *v, uint32_t row)
{
    amount cpu = world_allocatable(v->world, row)[0];
    return cpu > 0 ? world_node_at(v->world, row)->price / (double)cpu : NAN;
}

/* 0 to 1. */
static double life(const struct extender_view *v, uint32_t row)
{
    const struct node_claim *claim = world_node_at(v->world, row)->claim;
    if (claim == NULL || !claim->has_expire_after || v->wall == 0)
        return 1;
    span_ms left = claim->meta.created + claim->expire_after - v->wall;
    return left <= 0 ? 0 : left >= LONG_LIFE_MS ? 1 : (double)left / (double)LONG_LIFE_MS;
}

void score_all(const struct extender_view *v, const struct subject *s, const int32_t *rows,
               uint32_t count, double *scores_out)
{
    double cheapest = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        scores_out[i] = rows[i] >= 0 ? price(v, (uint32_t)rows[i]) : NAN;
        if (scores_out[i] < cheapest)
            cheapest = scores_out[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        double own = scores_out[i], cheap = isnan(own) ? 0 : own <= cheapest ? 1 : cheapest / own;
        bool stays = rows[i] >= 0 && !world_node_at(v->world, (uint32_t)rows[i])->going;
        scores_out[i] = stays ? FULLNESS * subject_fullness(v, s, (uint32_t)rows[i]) +
                                    PRICE * cheap + LIFE * life(v, (uint32_t)rows[i])
                              : NAN;
    }
}

struct entry {
    double score;
    uint32_t at;
};

struct zone {
    sym name;
    uint32_t count;
    struct entry best[SHORTLIST]; /* the best first */
};

static struct zone *zone_of(struct zone *zones, uint32_t *count, const struct world_node *n, sym key)
{
    sym name = n->node != NULL ? sym_pairs_get(n->node->meta.labels, key)
                               : sym_pairs_get(n->claim->meta.labels, key);
    for (uint32_t i = 0; i < *count; i++)
        if (zones[i].name == name)
            return &zones[i];
    if (*count == ZONES)
        return &zones[ZONES - 1];
    zones[*count].name = name;
    return &zones[(*count)++];
}

static void enlist(struct zone *z, double score, uint32_t at)
{
    if (z->count == SHORTLIST && score <= z->best[SHORTLIST - 1].score)
        return;
    uint32_t i = z->count < SHORTLIST ? z->count++ : SHORTLIST - 1;
    for (; i > 0 && z->best[i - 1].score < score; i--)
        z->best[i] = z->best[i - 1];
    z->best[i] = (struct entry){score, at};
}

static bool is_shunned(const struct world_node *n, const struct subject *s)
{
    for (uint32_t i = 0; n->node != NULL && i < n->node->taints.count; i++)
        if (n->node->taints.items[i].effect == TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&n->node->taints.items[i], s->pod->tolerations, s->syms))
            return true;
    return false;
}

/* Behind all others when it is for want of them. */
static double rank(const struct extender_view *v, const struct subject *s, int32_t row, double score)
{
    return score - (is_shunned(world_node_at(v->world, (uint32_t)row), s) ? SCORE_MAX : 0);
}

uint32_t score_best(const struct extender_view *v, const struct subject *s, const int32_t *rows,
                    uint32_t count, const double *scores)
{
    uint32_t best = count;
    double highest = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double own = isnan(scores[i]) ? -INFINITY : rank(v, s, rows[i], scores[i]);
        if (own <= highest)
            continue;
        highest = own;
        best = i;
    }
    return best;
}

/* --- the shortlist --- */

void score_shortlist(const struct extender_view *v, const struct subject *s, const int32_t *rows,
                     uint32_t count, double *scores)
{
    struct zone zones[ZONES] = {{0}};
    uint32_t zone_count = 0;
    sym key = sym_find(v->snapshot->syms, SPAN("topology.kubernetes.io/zone"));
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(scores[i]))
            continue;
        const struct world_node *n = world_node_at(v->world, (uint32_t)rows[i]);
        enlist(zone_of(zones, &zone_count, n, key), rank(v, s, rows[i], scores[i]), i);
        scores[i] = NAN;
    }
    for (uint32_t z = 0; z < zone_count; z++)
        for (uint32_t i = 0; i < zones[z].count; i++)
            scores[zones[z].best[i].at] = zones[z].best[i].score;
}
