/* coming: pods that wait and have a place on a node that is on its way, so that it can be kept for them (pass.h). */
#include "planner/groups/inner.h"
#include "planner/groups/snapshot/snapshot.h"
#include "planner/places.h"

void groups_number_copies(struct group_run *r, uint32_t base)
{
    r->copy_base = base;
    for (uint32_t g = 0; g < r->model->group_count; g++) {
        struct group_now *now = &r->groups[g];
        now->first_copy = r->copy_count;
        now->machines = now->template_row >= 0 ? now->upcoming : 0;
        r->copy_count += now->machines;
    }
    r->copies = ARENA_ARRAY(r->arena, struct group_copy, r->copy_count);
    for (uint32_t g = 0; g < r->model->group_count; g++)
        for (uint32_t i = 0; i < r->groups[g].machines; i++)
            r->copies[r->groups[g].first_copy + i] = (struct group_copy){.group = g, .row = -1};
    for (uint32_t i = 0; r->copy_count != 0 && i < r->row_count; i++) {
        struct group_now *now = bits_has(r->upcoming, r->rows[i]) ? &r->groups[r->owners[r->rows[i]]] : NULL;
        if (now == NULL || now->machines == 0)
            continue;
        r->copies[now->first_copy + now->registered++].row = (int32_t)r->rows[i];
        now->machines--;
    }
}

/* --- where it has its place already --- */

static int32_t group_named(const struct group_run *r, struct span name)
{
    uint32_t low = 0, high = r->model->group_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(r->model->groups[mid].spec->name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->model->group_count && span_eq(r->model->groups[low].spec->name, name) ? (int32_t)low : -1;
}

/* Machines are taken in the order in which they are met: one may have registered, or will not come, since. */
static uint32_t copy_of_machine(struct group_run *r, const struct place *x)
{
    int32_t group = group_named(r, x->group);
    if (group < 0)
        return SNAPSHOT_NONE;
    uint32_t first = r->groups[group].first_copy + r->groups[group].registered;
    for (uint32_t i = first; i < first + r->groups[group].machines; i++) {
        if (r->copies[i].name.len == 0)
            r->copies[i].name = x->target;
        if (span_eq(r->copies[i].name, x->target))
            return r->copy_base + i;
    }
    return SNAPSHOT_NONE;
}

static uint32_t node_of_row(const struct group_run *r, uint32_t row)
{
    if (!bits_has(r->upcoming, row))
        return row;
    const struct group_now *now = &r->groups[r->owners[row]];
    for (uint32_t i = 0; i < now->registered; i++)
        if (r->copies[now->first_copy + i].row == (int32_t)row)
            return r->copy_base + now->first_copy + i;
    return row;
}

bool groups_seat_as_planned(struct group_run *r, const struct pod *p, uint32_t class_id)
{
    const struct place *x = p->node == SYM_NONE ? places_find(r->objects->places, p->meta.uid) : NULL;
    int32_t row = x != NULL && !x->on_claim && x->group.len == 0 ? world_find_node(r->world, x->target) : -1;
    uint32_t node = row >= 0 ? node_of_row(r, (uint32_t)row)
                             : x != NULL && x->group.len != 0 ? copy_of_machine(r, x) : SNAPSHOT_NONE;
    if (node == SNAPSHOT_NONE || !snapshot_stands(r->snapshot, node) || !snapshot_fits(r->snapshot, node, class_id))
        return false;
    snapshot_place(r->snapshot, node, p, class_id);
    groups_note_seat(r, p, node);
    return true;
}

/* --- what is told --- */

void groups_note_coming(struct group_run *r, const struct pod *p, uint32_t group, uint32_t machine)
{
    struct group_pass *out = r->out;
    struct group_coming x = {p, group, machine, -1};
    ARENA_PUSH(r->arena, out->coming, out->coming_count, out->coming_capacity, x);
}

/* A pod that is bound, and will have to leave its node, has its place there. */
void groups_note_seat(struct group_run *r, const struct pod *p, uint32_t node)
{
    if (p->node != SYM_NONE || node < r->copy_base || node >= r->copy_base + r->copy_count)
        return;
    const struct group_copy *c = &r->copies[node - r->copy_base];
    uint32_t at = node - r->copy_base - r->groups[c->group].first_copy;
    groups_note_coming(r, p, c->group, c->row >= 0 ? 0 : at - r->groups[c->group].registered + 1);
    r->out->coming[r->out->coming_count - 1].row = c->row;
}
