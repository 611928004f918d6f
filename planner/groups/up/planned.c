/* Growth as a plan over NodePools and groups has it (group_objects.wishes): each pod on its machine, where the filters, limits
 * and the groups' ranges bear it out. All its machines stand from the beginning. Others ask as they do without a plan. */
#include <stdlib.h>

#include "planner/groups/up/several.h"

struct planned_pod {
    const struct pod *pod;
    const struct group_wish *wish;
    uint32_t group, rank, class_id;
    uint32_t node; /* SNAPSHOT_NONE: its group has no room */
};

static int by_machine(const void *a, const void *b)
{
    const struct planned_pod *x = a, *y = b;
    return (x->wish->machine > y->wish->machine) - (x->wish->machine < y->wish->machine);
}

static int by_turn(const void *a, const void *b)
{
    const struct planned_pod *x = a, *y = b;
    return (x->wish->turn > y->wish->turn) - (x->wish->turn < y->wish->turn);
}

static uint32_t list(struct up *u, struct planned_pod *out, uint64_t *groups)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < u->pod_count; i++) {
        const struct group_wish *wish = up_wish(u, u->by_rank[i]);
        int32_t group = wish != NULL ? group_model_group(u->r->model, wish->group) : -1;
        if (group < 0 || !u->valid[group] || u->r->model->groups[group].scaling.zero_or_max)
            continue;
        bits_add(groups, (uint32_t)group);
        out[count++] = (struct planned_pod){u->by_rank[i], wish, (uint32_t)group, i, snapshot_class_of(u->r->world, u->by_rank[i]),
                                            SNAPSHOT_NONE};
    }
    return count;
}

static void open_machines(struct several *x, struct planned_pod *pods, uint32_t count)
{
    uint32_t of = 0;
    qsort(pods, count, sizeof(*pods), by_machine);
    for (uint32_t i = 0; i < count; i++) {
        for (of = 0; of < x->count && x->groups[of].group != pods[i].group; of++)
            continue;
        if (of == x->count)
            continue;
        if (i == 0 || pods[i].wish->machine != pods[i - 1].wish->machine)
            several_open_node(x, of);
        pods[i].node = x->groups[of].last;
    }
    qsort(pods, count, sizeof(*pods), by_turn);
}

static void seat(struct several *x, const struct planned_pod *pods, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (pods[i].node != SNAPSHOT_NONE && several_seat_at(x, pods[i].node, pods[i].pod, pods[i].class_id))
            bits_add(x->out->seated, pods[i].rank);
}

/* Who was not planned, or did not fit before others had come, takes what room there is on these machines before any other grows
 * for it. */
static void fill_gaps(struct several *x)
{
    struct up *u = x->up;
    struct snapshot *s = u->r->snapshot;
    struct snapshot_among added = {.from = x->first, .but = SNAPSHOT_NONE};
    for (uint32_t k = 0; k < u->kind_count; k++) {
        const struct pod_kind *kind = &u->kinds[k];
        for (uint32_t i = 0; i < kind->count; i++) {
            if (bits_has(x->out->seated, kind->ranks[i]))
                continue;
            uint32_t node = snapshot_seat(s, kind->pods[i], kind->class_id, &added);
            if (node == SNAPSHOT_NONE)
                break; /* nor would the others of the kind */
            uint32_t group = x->groups[x->nodes[node - x->first].of].group;
            if (x->nodes[node - x->first].at < 0 || (kind->wish >= 0 && (uint32_t)kind->wish != group)) {
                snapshot_unplace(s, node, kind->pods[i]);
                break;
            }
            several_note(x, node, kind->pods[i]);
            bits_add(x->out->seated, kind->ranks[i]);
        }
    }
}

bool up_planned(struct up *u, struct growth *out)
{
    struct group_run *r = u->r;
    if (r->objects->wish_count == 0 || r->flags->as_upstream || u->whole)
        return false;
    struct planned_pod *pods = ARENA_ARRAY(&u->scratch, struct planned_pod, u->pod_count);
    uint64_t *groups = ARENA_ARRAY(&u->scratch, uint64_t, bits_words(r->model->group_count));
    uint32_t count = list(u, pods, groups);
    if (count == 0)
        return false;
    *out = (struct growth){.seated = ARENA_ARRAY(r->arena, uint64_t, bits_words(u->pod_count))};
    struct several x = several_begin(u, groups, u->pod_count, out);
    snapshot_fork(r->snapshot);
    open_machines(&x, pods, count);
    seat(&x, pods, count);
    fill_gaps(&x);
    snapshot_revert(r->snapshot);
    return out->pod_count != 0;
}
