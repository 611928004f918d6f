/* Packing: a node's score is how full it would be with the pod on it, the mean of CPU and memory,
 * since those two are what is paid for. What is held counts as taken: room that planned pods are
 * about to fill is not a reason to look elsewhere. A node about to go scores nothing. */
#include "base/json.h"
#include "extender/args.h"

enum { SCORE_MAX = 10 }; /* MaxExtenderPriority */

double extender_fullness(const struct extender_view *v, const struct subject *s, uint32_t row)
{
    const amount *allocatable = world_allocatable(v->world, row);
    const amount *requested = world_requested(v->world, row);
    const amount *asks = world_class_requests(v->world, s->class_id);
    const amount *held = s->held != NULL ? held_at(s->held, row) : NULL;
    double sum = 0;
    for (uint32_t column = 0; column < 2; column++) { /* CPU, memory */
        if (allocatable[column] <= 0)
            return 0;
        double used = (double)requested[column] + (double)asks[column] +
                      (held != NULL ? (double)held[column] : 0);
        double share = used / (double)allocatable[column];
        sum += share < 1 ? share : 1;
    }
    return sum / 2;
}

bool extender_prioritize(struct extender_scratch *s, const struct extender_view *v,
                         struct span body, struct buf *reply, enum extender_answer *answer_out,
                         struct err *err)
{
    struct extender_args args;
    if (!extender_args_decode(s, body, &args, err))
        return false;
    struct subject subject;
    bool known = extender_subject(s, v, &args.pod, &subject);
    *answer_out = known ? EXTENDER_ROOM : EXTENDER_NO_OPINION;
    bool first = true;
    buf_add_char(reply, '[');
    for (uint32_t i = 0; known && i < args.node_names.count; i++) {
        struct span name = args.node_names.items[i];
        int32_t row = world_find_node(v->world, name);
        if (row < 0 || world_node_at(v->world, (uint32_t)row)->leaving)
            continue; /* a host that is not in the answer scores 0 */
        double fullness = extender_fullness(v, &subject, (uint32_t)row);
        buf_add(reply, first ? SPAN("{\"Host\":") : SPAN(",{\"Host\":"));
        json_add_text(reply, name);
        buf_add(reply, SPAN(",\"Score\":"));
        buf_add_int(reply, (int64_t)(fullness * SCORE_MAX + 0.5));
        buf_add_char(reply, '}');
        first = false;
    }
    buf_add_char(reply, ']');
    return true;
}
