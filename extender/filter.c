#include "base/json.h"
#include "extender/args.h"

static const struct span HELD = SPAN_INIT("the node's room is held for planned pods");
static const struct span LEAVING = SPAN_INIT("the node is about to be removed");

const char *extender_answer_name(enum extender_answer a)
{
    static const char *const names[] = {"no-opinion", "planned", "room", "refused"};
    _Static_assert(COUNT_OF(names) == EXTENDER_ANSWER_COUNT, "a name for each answer");
    return names[a];
}

/* The row of the node that the plan wants for the pod, or -1. */
static int32_t planned_row(const struct extender_view *v, struct span uid)
{
    const struct place *p = v->places != NULL ? places_find(v->places, uid) : NULL;
    if (p == NULL)
        return -1;
    return p->on_claim ? world_find_claim(v->world, p->target)
                       : world_find_node(v->world, p->target);
}

/* NULL: the pod may go there. The scheduler's own filters have passed the node, and they see more
 * than we do; the only things that we know better are what is held and what is about to go. */
static const struct span *refusal(const struct extender_view *v, const struct subject *s,
                                  int32_t row)
{
    if (row < 0)
        return NULL;
    if (world_node_at(v->world, (uint32_t)row)->leaving)
        return &LEAVING;
    const amount *held = s->held != NULL ? held_at(s->held, (uint32_t)row) : NULL;
    if (held == NULL)
        return NULL;
    return world_fits(v->world, s->class_id, (uint32_t)row, held) == FIT_RESOURCES ? &HELD : NULL;
}

/* A name without a reason passes; no reasons: all do. */
static void put_result(struct buf *reply, const struct span *names, uint32_t count,
                       const struct span *const *reasons)
{
    struct json j = JSON_TO(reply);
    json_object_begin(&j);
    json_key(&j, SPAN("Nodes"));
    json_null_value(&j);
    json_put_array(&j, "NodeNames");
    for (uint32_t i = 0; i < count; i++)
        if (reasons == NULL || reasons[i] == NULL)
            json_text(&j, names[i]);
    json_array_end(&j);
    json_put_object(&j, "FailedNodes");
    json_object_end(&j);
    json_put_object(&j, "FailedAndUnresolvableNodes");
    for (uint32_t i = 0; reasons != NULL && i < count; i++)
        if (reasons[i] != NULL) {
            json_key(&j, names[i]);
            json_text(&j, *reasons[i]);
        }
    json_object_end(&j);
    json_put_string(&j, "Error", SPAN(""));
    json_object_end(&j);
}

/* Of the nodes that pass and where others have places, only the fullest stays: so it is known where
 * the pod goes, and what it takes there counts before it is seen bound. */
static void choose_one(struct extender_scratch *s, const struct extender_view *v,
                       const struct subject *subject, const struct span *names, const int32_t *rows,
                       const struct span **reasons, uint32_t count)
{
    uint32_t best = UINT32_MAX;
    double fullest = -1;
    if (subject->held == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (reasons[i] != NULL || rows[i] < 0 || held_at(subject->held, (uint32_t)rows[i]) == NULL)
            continue;
        double fullness = extender_fullness(v, subject, (uint32_t)rows[i]);
        uint32_t other = fullness > fullest ? best : i;
        if (fullness > fullest) {
            fullest = fullness;
            best = i;
        }
        if (other != UINT32_MAX)
            reasons[other] = &HELD;
    }
    if (best != UINT32_MAX)
        recent_add(&s->recent, subject->pod->meta.uid, names[best], v->now);
}

bool extender_filter(struct extender_scratch *s, const struct extender_view *v, struct span body,
                     struct buf *reply, enum extender_answer *answer_out, struct err *err)
{
    struct extender_args args;
    if (!extender_args_decode(s, body, &args, err))
        return false;
    if (!args.has_node_names)
        return err_set(err, ERR_INVALID,
                       "the request has no NodeNames; set nodeCacheCapable: true for this extender "
                       "in the scheduler's configuration");
    const struct span *names = args.node_names.items;
    uint32_t count = args.node_names.count;
    struct subject subject;
    *answer_out = EXTENDER_NO_OPINION;
    recent_forget(&s->recent, args.pod.uid, v->now);
    if (!extender_subject(s, v, &args.pod, &subject)) {
        put_result(reply, names, count, NULL);
        return true;
    }
    int32_t planned = planned_row(v, args.pod.uid);
    int32_t *rows = ARENA_ARRAY(&s->arena, int32_t, count);
    const struct span **reasons = ARENA_ARRAY(&s->arena, const struct span *, count);
    for (uint32_t i = 0; i < count; i++) {
        int32_t row = rows[i] = world_find_node(v->world, names[i]);
        if (row >= 0 && row == planned && !world_node_at(v->world, (uint32_t)row)->leaving) {
            put_result(reply, &names[i], 1, NULL);
            *answer_out = EXTENDER_PLANNED;
            return true;
        }
        reasons[i] = refusal(v, &subject, row);
    }
    choose_one(s, v, &subject, names, rows, reasons, count);
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        left += reasons[i] == NULL;
    put_result(reply, names, count, reasons);
    *answer_out = left != 0 ? EXTENDER_ROOM : EXTENDER_REFUSED;
    return true;
}
