#include <math.h>

#include "base/json.h"
#include "extender/score.h"

enum { SCORE_BESIDE_PREFERENCES = 2 }; /* at most, of a pod that says itself what it prefers */

static int64_t points(double score, int most)
{
    return (int64_t)(score * most / SCORE_MAX + 0.5);
}

/* What all have: kube-scheduler adds scores up and takes the highest sum, so that it chooses nobody. */
static int64_t common_points(const double *scores, uint32_t count, int most)
{
    int64_t least = most;
    for (uint32_t i = 0; i < count; i++) {
        int64_t own = isnan(scores[i]) ? 0 : points(scores[i], most);
        least = own < least ? own : least;
    }
    return least;
}

/* A host that is not in the answer scores 0 (prioritizeNodes of kube-scheduler v1.36). */
static void put_scores(const struct span *names, const double *scores, uint32_t count, int most,
                       struct buf *reply)
{
    int64_t common = common_points(scores, count, most);
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        int64_t more = isnan(scores[i]) ? 0 : points(scores[i], most) - common;
        if (more == 0)
            continue;
        buf_add(reply, first ? SPAN("{\"Host\":") : SPAN(",{\"Host\":"));
        json_add_text(reply, names[i]);
        buf_add(reply, SPAN(",\"Score\":"));
        buf_add_int(reply, more);
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
        uint32_t count = args.node_names.count;
        int32_t *rows = ARENA_ARRAY(&s->arena, int32_t, count);
        double *scores = ARENA_ARRAY(&s->arena, double, count);
        for (uint32_t i = 0; i < count; i++)
            rows[i] = world_find_node(v->world, args.node_names.items[i]);
        score_all(v, &subject, rows, count, scores);
        uint32_t best = score_best(v, &subject, rows, count, scores);
        if (v->ledger != NULL && best != count)
            ledger_prefer(v->ledger, subject.id, span_hash(args.node_names.items[best]));
        put_scores(args.node_names.items, scores, count,
                   subject_prefers(&subject) ? SCORE_BESIDE_PREFERENCES : SCORE_MAX, reply);
    }
    buf_add_char(reply, ']');
    return true;
}
