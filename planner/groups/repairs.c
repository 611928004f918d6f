/* Gates G2 to G5 of a pass (spec node-groups 1.5): machines that never came, or came broken, and sizes that never will be
 * reached. */
#include <stdlib.h>

#include "planner/groups/inner.h"
#include "planner/groups/ready.h"

static int by_id(const void *a, const void *b)
{
    const struct group_deletion *x = a, *y = b;
    return span_cmp(x->id, y->id);
}

void group_note_decrease(struct group_run *r, uint32_t group, int32_t by)
{
    struct group_repairs *o = &r->out->repairs;
    for (uint32_t i = 0; i < o->decreased_count; i++) {
        if (o->decreased[i].group != group)
            continue;
        o->decreased[i].decreased += by;
        return;
    }
    o->decreased[o->decreased_count++] = (struct group_repair){group, by};
}

/* --- deleting instances --- */

static void delete_instance(struct group_run *r, struct group_now *g, uint32_t i, enum group_gate why)
{
    struct group_repairs *o = &r->out->repairs;
    g->gone[i] = true;
    g->gone_count++;
    g->target--;
    o->deleted[o->deleted_count++] =
        (struct group_deletion){g->group->instances[i].id, (uint32_t)(g - r->groups), why};
}

struct victims {
    uint32_t *items, count;
};

/* Of a group that is scaled to nothing or all: all of it, or, where a part of it is allowed, nothing unless all failed. */
static void widen(const struct group_now *g, struct victims *v)
{
    uint32_t left = g->group->instance_count - g->gone_count;
    if (!g->group->scaling.zero_or_max || v->count == 0)
        return;
    if (g->group->scaling.partly_to_max && v->count < left) {
        v->count = 0;
        return;
    }
    v->count = 0;
    for (uint32_t i = 0; i < g->group->instance_count; i++)
        if (!g->gone[i])
            v->items[v->count++] = i;
}

static void delete_all(struct group_run *r, struct group_now *g, struct victims v, enum group_gate why)
{
    for (uint32_t i = 0; i < v.count; i++)
        delete_instance(r, g, v.items[i], why);
}

/* G2. */
static void delete_unregistered(struct group_run *r, struct group_now *g)
{
    struct victims v = {ARENA_ARRAY(r->arena, uint32_t, g->group->instance_count), 0};
    for (uint32_t i = 0; i < g->group->instance_count; i++)
        if (group_instance_overdue(r, g, &g->group->instances[i]))
            v.items[v.count++] = i;
    widen(g, &v);
    int32_t room = g->target - g->group->spec->min;
    if (!r->flags->force_delete_unregistered && (int32_t)v.count > room)
        v.count = room > 0 ? (uint32_t)room : 0;
    delete_all(r, g, v, GATE_UNREGISTERED);
}

/* G4. A provider refuses them all where that would leave fewer than the minimum. */
static void delete_failed(struct group_run *r, uint32_t group)
{
    struct group_now *g = &r->groups[group];
    struct victims v = {ARENA_ARRAY(r->arena, uint32_t, g->group->instance_count), 0};
    for (uint32_t i = 0; i < g->group->instance_count; i++)
        if (!g->gone[i] && g->group->instances[i].told != NULL && group_machine_failed(g->group->instances[i].told))
            v.items[v.count++] = i;
    widen(g, &v);
    if (v.count == 0)
        return;
    if (!r->flags->force_delete_failed && g->target - (int32_t)v.count < g->group->spec->min)
        return;
    delete_all(r, g, v, GATE_FAILED);
    r->recount = true;
}

/* --- sizes --- */

/* How much the target of the group has been too large for too long, as the registry saw it. */
static int32_t excess(const struct group_run *r, uint32_t group)
{
    const struct group_found *f = &r->out->found[group];
    if (!f->has_mismatch || f->mismatch.since + r->groups[group].group->scaling.provision_time >= r->now)
        return 0;
    return f->mismatch.target - f->mismatch.registered;
}

enum fix { FIX_NOT, FIX_DONE, FIX_FAILED };

/* G5. Machines that are there are not ended by a lower target, as those that could not be made and that the minimum keeps:
 * upstream tries all the same, and what a provider refuses ends the pass, and so each pass after it, of all groups. */
static enum fix fix_size(struct group_run *r, uint32_t group)
{
    struct group_now *g = &r->groups[group];
    int32_t by = excess(r, group);
    int32_t left = (int32_t)(g->group->instance_count - g->gone_count);
    if (!r->flags->as_upstream && by > g->target - left)
        by = g->target - left;
    if (by <= 0)
        return FIX_NOT;
    if (g->target - by < left) {
        r->out->error = arena_printf(r->arena,
                                     "failed to decrease group %.*s from %d to %d: it has %d instances, which may not be "
                                     "deleted so",
                                     SPAN_ARG(g->group->spec->name), g->target, g->target - by, left);
        return FIX_FAILED;
    }
    g->target -= by;
    group_note_decrease(r, group, by);
    return FIX_DONE;
}

static bool fix_sizes(struct group_run *r)
{
    enum fix done = FIX_NOT;
    for (uint32_t i = 0; i < r->model->group_count && done != FIX_FAILED; i++) {
        enum fix f = fix_size(r, i);
        done = f != FIX_NOT ? f : done;
    }
    return done != FIX_NOT;
}

/* G3. */
static bool cluster_is_well(const struct group_run *r)
{
    uint32_t unready = r->out->all.unready;
    return unready <= (uint32_t)r->flags->ok_unready_count ||
           unready <= r->flags->max_unready_percentage / 100 * r->row_count;
}

static void forget_unneeded(struct group_run *r)
{
    for (uint32_t i = 0; i < r->row_count; i++)
        r->unneeded_since[r->rows[i]] = 0;
}

/* Room for all that may be said. */
static void make_room(struct group_run *r)
{
    uint32_t instances = 0;
    for (uint32_t i = 0; i < r->model->group_count; i++)
        instances += r->groups[i].group->instance_count;
    r->out->repairs.deleted = ARENA_ARRAY(r->arena, struct group_deletion, instances);
}

static bool repair(struct group_run *r)
{
    for (uint32_t i = 0; i < r->model->group_count; i++)
        delete_unregistered(r, &r->groups[i]);
    if (!cluster_is_well(r)) {
        r->out->unhealthy = true;
        forget_unneeded(r);
        return false;
    }
    for (uint32_t i = 0; i < r->model->group_count; i++)
        delete_failed(r, i);
    for (uint32_t i = 0; r->recount && i < r->model->group_count; i++)
        group_recount(r, i);
    return !fix_sizes(r);
}

bool groups_repair(struct group_run *r)
{
    make_room(r);
    bool goes_on = repair(r);
    struct group_repairs *o = &r->out->repairs;
    qsort(o->deleted, o->deleted_count, sizeof(o->deleted[0]), by_id);
    return goes_on;
}
