#include "planner/groups/down/inner.h"
#include "planner/groups/down/utilization.h"
#include "planner/groups/snapshot/snapshot.h"

enum { DELETION_MS = 5 * 60 * 1000 }; /* how long a taint is believed */

static bool is_recent(wall_ms then, span_ms delay, wall_ms now)
{
    return then != 0 && then + delay > now;
}

static bool has_grown(const struct down *d, const struct group_now *g)
{
    for (uint32_t i = 0; i < d->r->out->decision_count; i++)
        if (&d->r->groups[d->r->out->decisions[i].group] == g)
            return true;
    return false;
}

/* --scale-down-delay-type-local */
static bool has_rest(const struct down *d, const struct group_now *g)
{
    const struct group_flags *f = d->r->flags;
    const struct node_group *spec = g->group->spec;
    return f->delay_type_local && ((f->delay_after_add > 0 && has_grown(d, g)) ||
                                   is_recent(spec->last_scale_up, f->delay_after_add, d->r->now) ||
                                   is_recent(spec->last_scale_down, f->delay_after_delete, d->r->now) ||
                                   is_recent(spec->last_scale_down_fail, f->delay_after_failure, d->r->now));
}

static bool is_candidate(const struct down *d, uint32_t at)
{
    const struct group_now *g = down_group(d, at);
    return g != NULL && !g->group->spec->rolls_out && g->target > g->group->spec->min &&
           !bits_has(d->r->upcoming, d->r->rows[at]) && !has_rest(d, g);
}

enum emptiness { EMPTY, EMPTY_BUT_WAITS, NOT_EMPTY };

/* As if controllers and budgets were no matter: upstream asks for none of them here. */
static enum emptiness emptiness_of(const struct down *d, uint32_t row)
{
    struct drain drain = {.flags = d->r->flags, .syms = d->r->objects->syms, .now = d->r->now};
    uint32_t count;
    const struct pod *const *pods = snapshot_pods(d->r->snapshot, row, &count);
    enum emptiness out = EMPTY;
    for (uint32_t i = 0; i < count; i++) {
        enum drain_block block;
        enum drain_outcome outcome = group_drain_judge(&drain, pods[i], &block);
        if (outcome == DRAIN_MOVE || outcome == DRAIN_BLOCK)
            return NOT_EMPTY;
        if (outcome == DRAIN_WAIT)
            out = EMPTY_BUT_WAITS;
    }
    return out;
}

uint32_t candidates_list(const struct down *d, uint32_t *out)
{
    enum { CLASSES = 2 * (NOT_EMPTY + 1), NONE = CLASSES };
    uint8_t *class_of = ARENA_ARRAY(d->r->arena, uint8_t, d->r->row_count);
    uint32_t starts[CLASSES + 1] = {0};
    for (uint32_t at = 0; at < d->r->row_count; at++) {
        uint32_t row = d->r->rows[at];
        class_of[at] = NONE;
        if (!is_candidate(d, at))
            continue;
        class_of[at] = (uint8_t)(2 * emptiness_of(d, row) + (d->r->unneeded_since[row] == 0));
        starts[class_of[at] + 1]++;
    }
    for (uint32_t c = 0; c < CLASSES; c++)
        starts[c + 1] += starts[c];
    uint32_t count = starts[CLASSES];
    for (uint32_t at = 0; at < d->r->row_count; at++)
        if (class_of[at] != NONE)
            out[starts[class_of[at]]++] = at;
    return count;
}

/* By its taint, of this controller or another; an old one is a removal that came to nothing. */
static bool is_being_deleted(const struct down *d, const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.count; i++) {
        int64_t seconds;
        if (n->taints.items[i].key != SYM_TO_BE_DELETED)
            continue;
        return span_int64(sym_text(d->r->objects->syms, n->taints.items[i].value), &seconds) &&
               seconds < INT64_MAX / 1000 && seconds > INT64_MIN / 1000 && d->r->now - seconds * 1000 < DELETION_MS;
    }
    return false;
}

static enum unremovable judge(const struct down *d, uint32_t at, struct down_answer *answer)
{
    const struct group_scaling *g = &down_group(d, at)->group->scaling;
    const struct node *n = down_node(d, at);
    uint32_t count, row = d->r->rows[at];
    sym gpu = gpus_of(d, n);
    const struct pod *const *pods = snapshot_pods(d->r->snapshot, row, &count);
    struct utilization_policy policy = {.ignore_daemon_sets = g->ignore_daemon_sets,
                                        .ignore_mirror_pods = d->r->flags->ignore_mirror_pods,
                                        .now = d->r->now};
    if (d->r->unremovable_until[row] > d->r->now)
        return UNREMOVABLE_RECENTLY;
    if (is_being_deleted(d, n))
        return UNREMOVABLE_BEING_DELETED;
    if (span_eq(annotations_get(n->meta.annotations, SYM_SCALE_DOWN_DISABLED), SPAN("true")))
        return UNREMOVABLE_DISABLED;
    if (!utilization_of(&policy, n, gpu, pods, count, &answer->utilization))
        return UNREMOVABLE_UNEXPECTED_ERROR;
    if (!bits_has(d->r->ready, row) && !d->r->flags->scale_down_unready_enabled)
        return UNREMOVABLE_UNREADY_DISABLED;
    answer->has_utilization = true;
    return answer->utilization > (gpu != SYM_NONE ? g->gpu_utilization_threshold : g->utilization_threshold)
               ? UNREMOVABLE_NOT_UNDERUTILIZED
               : UNREMOVABLE_NOT;
}

bool candidates_eligible(const struct down *d, uint32_t at, struct down_answer *answer)
{
    answer->unremovable = judge(d, at, answer);
    return answer->unremovable == UNREMOVABLE_NOT;
}
