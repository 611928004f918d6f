/* The order of a pass (spec node-groups 1.6). */
#include "planner/groups/pass.h"

#include <stdlib.h>

#include "planner/groups/bought.h"
#include "planner/groups/inner.h"
#include "planner/groups/ready.h"

const char *scale_up_result_name(enum scale_up_result r)
{
    static const char *const names[] = {
        [SCALE_UP_NOT_TRIED] = "ScaleUpNotTried",
        [SCALE_UP_SUCCESSFUL] = "ScaleUpSuccessful",
        [SCALE_UP_ERROR] = "ScaleUpError",
        [SCALE_UP_NO_OPTIONS] = "ScaleUpNoOptionsAvailable",
        [SCALE_UP_NOT_NEEDED] = "ScaleUpNotNeeded",
        [SCALE_UP_IN_COOLDOWN] = "ScaleUpInCooldown",
        [SCALE_UP_LIMITED_BY_MAX_NODES] = "ScaleUpLimitedByMaxNodesTotal",
        [SCALE_UP_UNSAID] = "",
    };
    return names[r];
}

const char *scale_down_result_name(enum scale_down_result r)
{
    static const char *const names[] = {
        [SCALE_DOWN_NOT_TRIED] = "ScaleDownNotTried",
        [SCALE_DOWN_DELETE_STARTED] = "ScaleDownNodeDeleteStarted",
        [SCALE_DOWN_NO_NODE_DELETED] = "ScaleDownNoNodeDeleted",
        [SCALE_DOWN_IN_COOLDOWN] = "ScaleDownInCooldown",
        [SCALE_DOWN_NO_CANDIDATES] = "ScaleDownNoCandidates",
        [SCALE_DOWN_ERROR] = "ScaleDownError",
    };
    return names[r];
}

const char *group_growth_name(enum group_growth g)
{
    static const char *const names[] = {
        [GROWTH_NO_ACTIVITY] = "NoActivity",
        [GROWTH_IN_PROGRESS] = "InProgress",
        [GROWTH_UNHEALTHY] = "Unhealthy",
        [GROWTH_BACKOFF] = "Backoff",
    };
    return names[g];
}

int32_t group_of_row(const struct group_pass *p, uint32_t row)
{
    int32_t node = group_model_node(p->model, world_node_at(p->world, row)->name);
    return node < 0 ? -1 : p->model->owners[node];
}

int group_pods_by_name(const void *a, const void *b)
{
    return world_pod_order(*(const struct pod *const *)a, *(const struct pod *const *)b);
}

/* Salvos come to a group again: it stays one line. */
void group_note_decision(struct group_run *r, uint32_t group, int32_t delta, bool for_min_size)
{
    struct group_pass *o = r->out;
    for (uint32_t i = 0; i < o->decision_count; i++) {
        struct group_decision *d = &o->decisions[i];
        if (d->group != group || d->for_min_size != for_min_size)
            continue;
        d->delta += delta;
        d->target += delta;
        return;
    }
    o->decisions[o->decision_count++] = (struct group_decision){group, delta, r->groups[group].target, for_min_size};
}

static int by_group(const void *a, const void *b)
{
    const struct group_decision *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (int)x->for_min_size - (int)y->for_min_size;
}

/* --- what the steps share --- */

static void find_rows(struct group_run *r)
{
    uint32_t count = world_node_count(r->world);
    uint32_t *rows = ARENA_ARRAY(r->arena, uint32_t, r->model->node_count);
    r->owners = ARENA_ARRAY(r->arena, int32_t, count);
    r->templates = ARENA_ARRAY(r->arena, uint64_t, bits_words(count));
    r->ready = ARENA_ARRAY(r->arena, uint64_t, bits_words(count));
    r->machines = ARENA_ARRAY(r->arena, uint64_t, bits_words(count));
    r->starting = ARENA_ARRAY(r->arena, uint64_t, bits_words(count));
    r->upcoming = ARENA_ARRAY(r->arena, uint64_t, bits_words(count));
    r->deleting = ARENA_ARRAY(r->arena, uint64_t, bits_words(count));
    r->unneeded_since = ARENA_ARRAY(r->arena, wall_ms, count);
    r->unremovable_until = ARENA_ARRAY(r->arena, wall_ms, count);
    for (uint32_t row = 0; row < count; row++)
        r->owners[row] = -1;
    for (uint32_t i = 0; i < r->model->node_count; i++) {
        uint32_t row = (uint32_t)world_find_node(r->world, r->model->nodes[i]->meta.name);
        rows[r->row_count++] = row;
        r->owners[row] = r->model->owners[i];
        if (group_node_ready(r->model, r->flags, r->objects->syms, r->model->nodes[i]))
            bits_add(r->ready, row);
    }
    r->rows = rows;
}

static void find_bought(struct group_run *r)
{
    const struct group_bought *b = r->objects->bought;
    if (b == NULL)
        return;
    r->bought = ARENA_ARRAY(r->arena, uint64_t, bits_words(world_node_count(r->world)));
    r->bought_count = b->node_count;
    for (uint32_t i = 0; i < r->bought_count; i++)
        bits_add(r->bought, (uint32_t)world_find_node(r->world, b->nodes[i]->meta.name));
}

static uint32_t row_of(const struct group_run *r, struct span name)
{
    return (uint32_t)world_find_node(r->world, name);
}

static void recall_removals(struct group_run *r)
{
    const struct group_state *s = &r->model->file->state;
    for (uint32_t i = 0; i < s->unneeded.count; i++)
        r->unneeded_since[row_of(r, s->unneeded.items[i].node)] = s->unneeded.items[i].time;
    for (uint32_t i = 0; i < s->unremovable_until.count; i++)
        r->unremovable_until[row_of(r, s->unremovable_until.items[i].node)] = s->unremovable_until.items[i].time;
    const struct spans *lists[] = {&s->deleting_empty, &s->deleting_drain};
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (uint32_t i = 0; i < lists[k]->count; i++) {
            uint32_t row = row_of(r, lists[k]->items[i]);
            bits_add(r->deleting, row);
            r->groups[r->owners[row]].deletions++;
        }
    r->deleting_empty = s->deleting_empty.count;
    r->deleting_drain = s->deleting_drain.count;
}

static void find_groups(struct group_run *r)
{
    r->groups = ARENA_ARRAY(r->arena, struct group_now, r->model->group_count);
    for (uint32_t i = 0; i < r->model->group_count; i++) {
        const struct group *g = &r->model->groups[i];
        struct group_now *now = &r->groups[i];
        *now = (struct group_now){.group = g, .target = g->target, .known_target = g->target, .template_row = -1};
        now->gone = ARENA_ARRAY(r->arena, uint8_t, g->instance_count);
        now->growing = g->spec->has_request && g->spec->request.increase > 0;
        now->increase = g->spec->request.increase;
        now->backed_off = g->spec->backoff.until != 0 && g->spec->backoff.until >= r->now;
        if (g->template.node == NULL)
            continue;
        now->template_row = world_find_node(r->world, g->template.node->meta.name);
        bits_add(r->templates, (uint32_t)now->template_row);
        r->owners[now->template_row] = (int32_t)i;
    }
}

/* --- the decision --- */

static uint32_t ready_and_open(const struct group_run *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->row_count; i++)
        count += bits_has(r->ready, r->rows[i]) && !world_node_at(r->world, r->rows[i])->node->unschedulable;
    return count;
}

static bool asks_for_gpus(const struct group_run *r, const struct pod *p)
{
    return group_gpu_of(p->requests, r->objects->syms) != SYM_NONE;
}

/* The scheduler may not have looked at all of them, and GPU pods come in numbers: better to wait and know them all. */
static bool all_are_new(const struct group_run *r)
{
    span_ms oldest = INT64_MIN, oldest_gpu = INT64_MIN;
    for (uint32_t i = 0; i < r->pending_count; i++) {
        span_ms age = group_pod_age(r, r->pending[i]);
        oldest = age > oldest ? age : oldest;
        if (age > oldest_gpu && asks_for_gpus(r, r->pending[i]))
            oldest_gpu = age;
    }
    return oldest < 2 * MS_SECOND || (oldest_gpu != INT64_MIN && oldest_gpu < 30 * MS_SECOND);
}

static void leave_all(struct group_run *r, struct span reason)
{
    struct group_scale_up *up = &r->out->up;
    up->left = ARENA_ARRAY(r->arena, struct pod_left, r->pending_count);
    up->left_count = r->pending_count;
    for (uint32_t i = 0; i < r->pending_count; i++) {
        struct span *text = ARENA_NEW(r->arena, struct span);
        *text = reason;
        up->left[i] = (struct pod_left){r->pending[i], {text, 1}};
    }
}

/* Whether pods were tried. */
static bool scale_up_for_pods(struct group_run *r)
{
    struct group_scale_up *up = &r->out->up;
    if (r->pending_count == 0) {
        up->result = SCALE_UP_NOT_NEEDED;
        return false;
    }
    if (r->flags->max_nodes_total > 0 && ready_and_open(r) >= (uint32_t)r->flags->max_nodes_total) {
        up->result = SCALE_UP_LIMITED_BY_MAX_NODES;
        leave_all(r, SPAN("max total nodes in cluster reached"));
        return false;
    }
    if (r->flags->bypassed_schedulers.count == 0 && !r->flags->is_trial && all_are_new(r)) {
        up->result = SCALE_UP_IN_COOLDOWN;
        r->hold_down = true;
        return false;
    }
    groups_scale_up(r);
    return true;
}

/* Who is not tried in this pass is in the next. */
static void serve(struct group_run *r)
{
    struct group_scale_up *up = &r->out->up;
    if (up->result == SCALE_UP_NOT_TRIED)
        up->result = SCALE_UP_NOT_NEEDED;
    groups_serve_requests(r);
    if (up->left_count != 0)
        return;
    up->awaiting = r->pending;
    up->awaiting_count = r->pending_count;
}

/* For ordinary pods or for ProvisioningRequests, by turns. Whether any were tried. */
static bool scale_up(struct group_run *r)
{
    bool asked = !r->flags->is_trial && groups_has_request(r), turn = r->objects->requests != NULL && r->objects->requests->turn;
    bool first = asked && (turn || r->pending_count == 0);
    bool tried = !first && scale_up_for_pods(r);
    r->out->requests_turn = asked || tried ? tried : turn;
    if (first || (asked && !tried))
        serve(r);
    for (uint32_t i = 0; r->out->up.result == SCALE_UP_SUCCESSFUL && i < r->model->group_count; i++)
        group_recount(r, i);
    return tried || asked;
}

static wall_ms past(const struct group_run *r, wall_ms t)
{
    return t != 0 ? t : r->now - MS_HOUR;
}

static bool in_cooldown(const struct group_run *r)
{
    const struct group_state *s = &r->model->file->state;
    const struct group_flags *f = r->flags;
    wall_ms grown = r->out->up.result == SCALE_UP_SUCCESSFUL ? r->now : past(r, s->last_scale_up);
    if (r->hold_down || f->delay_type_local)
        return r->hold_down;
    return grown + f->delay_after_add > r->now || past(r, s->last_scale_down_fail) + f->delay_after_failure > r->now ||
           past(r, s->last_scale_down_delete) + f->delay_after_delete > r->now;
}

/* --- all of it --- */

/* G1. */
static bool waits_for_nodes(const struct group_run *r)
{
    return !r->flags->scale_up_from_zero && ready_and_open(r) == 0;
}

static void run(struct group_run *r)
{
    struct group_scale_up *up = &r->out->up;
    if (waits_for_nodes(r))
        return;
    groups_registry(r);
    if (!groups_repair(r)) {
        groups_keep_unneeded(r);
        up->result = r->flags->enforce_min_size ? SCALE_UP_UNSAID : SCALE_UP_NOT_TRIED;
        return;
    }
    groups_find_upcoming(r);
    groups_pending(r);
    bool tried = scale_up(r);
    if (r->flags->scale_down_enabled)
        groups_scale_down(r, in_cooldown(r));
    else
        groups_keep_unneeded(r);
    if (!r->flags->enforce_min_size)
        return;
    groups_grow_to_min(r);
    if (!tried) { /* as upstream: the last step's result is the one that is told */
        up->result = SCALE_UP_UNSAID;
        up->left_count = 0;
    }
}

struct group_pass *groups_pass(const struct world *w, const struct group_model *m, const struct group_flags *flags,
                               const struct group_objects *objects, wall_ms now, struct arena *a)
{
    struct group_pass *out = ARENA_NEW(a, struct group_pass);
    struct group_run r = {.world = w, .model = m, .flags = flags, .objects = objects, .now = now, .arena = a, .out = out};
    *out = (struct group_pass){.world = w, .model = m};
    out->decisions = ARENA_ARRAY(a, struct group_decision, 2 * (size_t)m->group_count);
    out->repairs.decreased = ARENA_ARRAY(a, struct group_repair, m->group_count);
    find_rows(&r);
    find_bought(&r);
    find_groups(&r);
    recall_removals(&r);
    run(&r);
    groups_status(&r);
    qsort(out->decisions, out->decision_count, sizeof(out->decisions[0]), by_group);
    return out;
}
