#include <math.h>

#include "base/json.h"
#include "extender/score.h"

enum { SCORE_BESIDE_PREFERENCES = 2 }; /* at most, of a pod that says itself what it prefers */

static void put_scores(const struct span *names, const double *scores, uint32_t count, int most,
                       struct buf *reply)
{
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(scores[i]))
            continue; /* a host that is not in the answer scores 0 */
        buf_add(reply, first ? SPAN("{\"Host\":") : SPAN(",{\"Host\":"));
        json_add_text(reply, names[i]);
        buf_add(reply, SPAN(",\"Score\":"));
        buf_add_int(reply, (int64_t)(scores[i] * most / SCORE_MAX + 0.5));
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
