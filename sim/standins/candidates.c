#include "sim/standins/candidates.h"

#include "base/json.h"

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

static struct span extender_args(struct candidates *c, const json_t *pod)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    if (c->pod.len == 0)
        c->pod = tree_text(c->arena, pod);
    json_object_begin(&j);
    json_key(&j, SPAN("Pod"));
    json_raw(&j, c->pod);
    json_key(&j, SPAN("Nodes"));
    json_null_value(&j);
    json_put_array(&j, "NodeNames");
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->items[i].out)
            json_text(&j, node_name(c, c->items[i].row));
    json_array_end(&j);
    json_object_end(&j);
    struct span text = arena_dup(c->arena, buf_span(&out));
    buf_release(&out);
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

/* NULL: it was not offered. */
static struct candidate *find(const struct candidates *c, struct span node)
{
    int32_t row = world_find_node(c->world, node);
    uint32_t low = 0, high = c->count;
    while (row >= 0 && low < high) {
        uint32_t mid = (low + high) / 2;
        if (c->items[mid].row == (uint32_t)row)
            return &c->items[mid];
        if (c->items[mid].row < (uint32_t)row)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static struct span span_of_json(const json_t *text)
{
    return (struct span){json_string_value(text), json_string_length(text)};
}

/* Why those that are out are, but who is also in `before`. */
static void tell_refused(struct candidates *c, const json_t *nodes, const json_t *before, struct refusals *r)
{
    const char *node;
    json_t *why;
    json_object_foreach((json_t *)(uintptr_t)nodes, node, why) {
        const struct candidate *one = find(c, span_of(node));
        if (one != NULL && one->out && json_is_string(why) && json_object_get(before, node) == NULL)
            refusals_add(r, arena_dup(c->arena, span_of_json(why)));
    }
}

/* Takes out whom the answer does not name. */
static void keep_named(struct candidates *c, const json_t *answer, struct refusals *r)
{
    const json_t *for_good = tree_get(answer, "FailedAndUnresolvableNodes"), *name;
    size_t i;
    for (i = 0; i < c->count; i++)
        c->items[i].out = true;
    json_array_foreach(tree_get(answer, "NodeNames"), i, name) {
        struct candidate *one = json_is_string(name) ? find(c, span_of_json(name)) : NULL;
        if (one != NULL)
            one->out = false;
    }
    tell_refused(c, for_good, NULL, r);
    tell_refused(c, tree_get(answer, "FailedNodes"), for_good, r);
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
        struct candidate *at = find(c, tree_string(one, "Host"));
        if (at != NULL)
            at->score += tree_int(one, "Score", 0) * weight;
    }
    json_decref(answer);
}
