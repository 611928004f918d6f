#include "sim/standins/candidates.h"

enum { EXTENDER_SCORE_MAX = 10, EXTENDER_WEIGHT = 2 };

void candidates_add(struct candidates *c, uint32_t row, int64_t score)
{
    struct candidate one = {.row = row, .score = score};
    ARENA_PUSH(c->arena, c->items, c->count, c->capacity, one);
}

static struct span node_name(const struct candidates *c, uint32_t row)
{
    return world_node_at(c->world, row)->node->meta.name;
}

const struct candidate *candidates_best(const struct candidates *c)
{
    const struct candidate *chosen = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct candidate *one = &c->items[i];
        if (one->out)
            continue;
        if (chosen == NULL || one->score > chosen->score ||
            (one->score == chosen->score &&
             span_cmp(node_name(c, one->row), node_name(c, chosen->row)) < 0))
            chosen = one;
    }
    return chosen;
}

/* ---- the extender ---- */

static struct span extender_args(const struct candidates *c, const json_t *pod)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < c->count; i++) {
        if (!c->items[i].out)
            json_array_append_new(names, tree_of_span(node_name(c, c->items[i].row)));
    }
    json_t *args = json_pack("{s:O, s:n, s:o}", "Pod", pod, "Nodes", "NodeNames", names);
    struct span text = tree_text(c->arena, args);
    json_decref(args);
    return text;
}

static json_t *ask(bool (*call)(void *user, struct span args, struct buf *reply), void *user,
                   struct span args)
{
    struct buf reply = {0};
    json_t *answer = call(user, args, &reply) ? tree_parse(buf_span(&reply)) : NULL;
    buf_release(&reply);
    return answer;
}

/* Takes out whom the answer does not name. */
static void keep_named(struct candidates *c, const json_t *answer, struct refusals *r)
{
    json_t *kept = json_object(), *name;
    size_t i;
    json_array_foreach(tree_get(answer, "NodeNames"), i, name) {
        json_object_set_new(kept, json_string_value(name), json_true());
    }
    for (i = 0; i < c->count; i++) {
        struct span node = node_name(c, c->items[i].row);
        c->items[i].out = json_object_getn(kept, node.ptr, node.len) == NULL;
        if (!c->items[i].out)
            continue;
        json_t *why =
            json_object_getn(tree_get(answer, "FailedAndUnresolvableNodes"), node.ptr, node.len);
        if (why == NULL)
            why = json_object_getn(tree_get(answer, "FailedNodes"), node.ptr, node.len);
        if (json_is_string(why))
            refusals_add(r, arena_dup(c->arena, span_of(json_string_value(why))));
    }
    json_decref(kept);
}

void candidates_filter(struct candidates *c, const struct sim_extender *e, const json_t *pod,
                       struct refusals *r)
{
    if (e->filter == NULL || c->count == 0)
        return;
    json_t *answer = ask(e->filter, e->user, extender_args(c, pod));
    if (json_is_object(answer) && tree_string(answer, "Error").len == 0)
        keep_named(c, answer, r);
    json_decref(answer);
}

void candidates_score(struct candidates *c, const struct sim_extender *e, const json_t *pod)
{
    int64_t weight = (e->weight != 0 ? e->weight : EXTENDER_WEIGHT) *
                     (CANDIDATE_SCORE_MAX / EXTENDER_SCORE_MAX);
    if (e->prioritize == NULL)
        return;
    json_t *answer = ask(e->prioritize, e->user, extender_args(c, pod)), *one;
    size_t i;
    json_array_foreach(answer, i, one) {
        for (uint32_t at = 0; at < c->count; at++) {
            if (span_eq(node_name(c, c->items[at].row), tree_string(one, "Host")))
                c->items[at].score += tree_int(one, "Score", 0) * weight;
        }
    }
    json_decref(answer);
}
