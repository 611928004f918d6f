/* Packing: a node's score is how full it would be with the pod on it, the mean of CPU and memory, since
 * those two are what is paid for. What is held counts as taken: room that planned pods are about to fill
 * is not a reason to look elsewhere. Of nodes alike the cheaper to keep comes first, then the one that
 * lives longer: pods that go to a node about to expire move twice. A node about to go scores nothing. */
#include <math.h>

#include "base/json.h"
#include "extender/subject.h"

enum {
    SCORE_MAX = 10, /* MaxExtenderPriority */
    FULLNESS = 7,   /* points of SCORE_MAX; what is left is for price and life */
    PRICE = 2,
    LIFE = 1,
    SCORE_BESIDE_PREFERENCES = 2, /* of a pod that says itself what it prefers */
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

static double score(const struct extender_view *v, const struct subject *s, uint32_t row,
                    double cheapest)
{
    double own = price(v, row);
    double cheap = isnan(own) ? 0 : own <= cheapest ? 1 : cheapest / own;
    return FULLNESS * subject_fullness(v, s, row) + PRICE * cheap + LIFE * life(v, row);
}

static void put_scores(const struct extender_view *v, const struct subject *s,
                       const struct span *names, const int32_t *rows, uint32_t count,
                       struct buf *reply)
{
    double cheapest = INFINITY, most = subject_prefers(s) ? SCORE_BESIDE_PREFERENCES : SCORE_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i] >= 0 && price(v, (uint32_t)rows[i]) < cheapest)
            cheapest = price(v, (uint32_t)rows[i]);
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] < 0 || world_node_at(v->world, (uint32_t)rows[i])->leaving)
            continue; /* a host that is not in the answer scores 0 */
        double points = score(v, s, (uint32_t)rows[i], cheapest) * most / SCORE_MAX;
        buf_add(reply, first ? SPAN("{\"Host\":") : SPAN(",{\"Host\":"));
        json_add_text(reply, names[i]);
        buf_add(reply, SPAN(",\"Score\":"));
        buf_add_int(reply, (int64_t)(points + 0.5));
        buf_add_char(reply, '}');
        first = false;
    }
}

bool extender_prioritize(struct extender_scratch *s, const struct extender_view *v,
                         struct span body, struct buf *reply, struct extender_verdict *verdict_out,
                         struct err *err)
{
    struct extender_args args;
    *verdict_out = (struct extender_verdict){.answer = EXTENDER_NO_OPINION};
    if (!extender_args_decode(s, body, &args, err))
        return false;
    struct subject subject;
    buf_add_char(reply, '[');
    if (subject_find(s, v, &args, &subject)) {
        verdict_out->answer = EXTENDER_ROOM;
        int32_t *rows = ARENA_ARRAY(&s->arena, int32_t, args.node_names.count);
        for (uint32_t i = 0; i < args.node_names.count; i++)
            rows[i] = world_find_node(v->world, args.node_names.items[i]);
        put_scores(v, &subject, args.node_names.items, rows, args.node_names.count, reply);
    }
    buf_add_char(reply, ']');
    return true;
}
