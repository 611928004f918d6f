#include "reconciler/groups/counted.h"

#include "reconciler/stages.h"

static void set(struct pass *p, enum measure_id id, double value)
{
    count(p->r, id, value, (struct span){0}, (struct span){0}, (struct span){0});
}

static void set_of(struct pass *p, enum measure_id id, struct span label, double value)
{
    count(p->r, id, value, label, (struct span){0}, (struct span){0});
}

static void note_activity(struct pass *p, const char *activity)
{
    set_of(p, MEASURE_GROUPS_ACTIVITY, span_of(activity), (double)p->wall / MS_SECOND);
}

void counted_begins(struct pass *p)
{
    note_activity(p, "main");
}

static void count_nodes(struct pass *p, const struct group_pass *d)
{
    const struct group_readiness *n = &d->all;
    set_of(p, MEASURE_GROUPS_NODES, SPAN("ready"), n->ready);
    set_of(p, MEASURE_GROUPS_NODES, SPAN("unready"), n->unready);
    set_of(p, MEASURE_GROUPS_NODES, SPAN("notStarted"), n->not_started);
    set_of(p, MEASURE_GROUPS_NODES, SPAN("suspended"), n->suspended);
    set_of(p, MEASURE_GROUPS_NODES, SPAN("unregistered"), n->unregistered);
    set_of(p, MEASURE_GROUPS_NODES, SPAN("longUnregistered"), n->long_unregistered);
    set(p, MEASURE_GROUPS_SAFE, !d->unhealthy);
}

static void count_size(struct pass *p, const struct group_pass *d)
{
    const struct group_flags *f = &p->r->config.groups.flags;
    int64_t cores = 0, bytes = 0, most = 0;
    for (uint32_t i = 0; i < d->model->node_count; i++) {
        cores += resources_get(d->model->nodes[i]->capacity, SYM_CPU) / 1000;
        bytes += resources_get(d->model->nodes[i]->capacity, SYM_MEMORY);
    }
    for (uint32_t i = 0; i < d->model->group_count; i++)
        most += d->model->groups[i].spec->max;
    set(p, MEASURE_GROUPS_CORES, (double)cores);
    set(p, MEASURE_GROUPS_MEMORY, (double)bytes);
    set(p, MEASURE_GROUPS_MAX_NODES, (double)(f->max_nodes_total > 0 && f->max_nodes_total < most ? f->max_nodes_total : most));
    set_of(p, MEASURE_GROUPS_CORES_LIMITS, SPAN("minimum"), (double)f->cores_min);
    set_of(p, MEASURE_GROUPS_CORES_LIMITS, SPAN("maximum"), (double)f->cores_max);
    set_of(p, MEASURE_GROUPS_MEMORY_LIMITS, SPAN("minimum"), (double)f->memory_min);
    set_of(p, MEASURE_GROUPS_MEMORY_LIMITS, SPAN("maximum"), (double)f->memory_max);
    set_of(p, MEASURE_GROUPS_COUNT, SPAN("autoscaled"), d->model->group_count);
}

static void count_down(struct pass *p, const struct group_pass *d)
{
    uint32_t counts[UNREMOVABLE_COUNT] = {0};
    for (uint32_t i = 0; i < d->down.unremovable_count; i++)
        counts[d->down.unremovable[i].why]++;
    for (enum unremovable why = UNREMOVABLE_NOT + 1; why < UNREMOVABLE_COUNT; why++)
        set_of(p, MEASURE_GROUPS_UNREMOVABLE, span_of(unremovable_name(why)), counts[why]);
    set(p, MEASURE_GROUPS_UNNEEDED, d->down.unneeded_count);
    set(p, MEASURE_GROUPS_COOLDOWN, d->down.result == SCALE_DOWN_IN_COOLDOWN);
}

static void count_group(struct pass *p, const struct group_pass *d, const struct group_status *g)
{
    const struct node_group *spec = d->model->groups[g->group].spec;
    struct span code, message;
    wall_ms until = group_memory_backoff(p->r->keeper.memory, spec->name, p->wall, &code, &message);
    set_of(p, MEASURE_GROUP_MIN, spec->name, spec->min);
    set_of(p, MEASURE_GROUP_MAX, spec->name, spec->max);
    set_of(p, MEASURE_GROUP_TARGET, spec->name, g->target);
    set_of(p, MEASURE_GROUP_HEALTHY, spec->name, g->healthy);
    count(p->r, MEASURE_GROUP_BACKOFF, until != 0, spec->name, SPAN(""), (struct span){0});
}

void counted_pass(struct pass *p, const struct group_pass *d, double seconds)
{
    count_nodes(p, d);
    count_size(p, d);
    count_down(p, d);
    set_of(p, MEASURE_GROUPS_UNSCHEDULABLE, SPAN("unschedulable"),
           d->up.triggered_count + d->up.awaiting_count + d->up.left_count);
    for (uint32_t i = 0; p->r->config.groups.per_group_metrics && i < d->status_count; i++)
        count_group(p, d, &d->status[i]);
    if (d->up.result != SCALE_UP_NOT_TRIED)
        note_activity(p, "autoscaling");
    if (d->up.result != SCALE_UP_NOT_TRIED && d->up.result != SCALE_UP_NOT_NEEDED)
        note_activity(p, "scaleUp");
    if (d->down.result != SCALE_DOWN_NOT_TRIED)
        note_activity(p, "scaleDown");
    if (d->error.len == 0)
        note_activity(p, "mainSuccessful");
    if (seconds >= 0)
        set_of(p, MEASURE_GROUPS_DURATION, SPAN("main"), seconds);
}

static void add(struct reconciler *r, enum measure_id id, double value, const char *label)
{
    count(r, id, value, label != NULL ? span_of(label) : (struct span){0}, (struct span){0}, (struct span){0});
}

void counted_world(struct reconciler *r, enum derive_way how)
{
    add(r, MEASURE_GROUPS_WORLDS, 1, derive_way_name(how));
}

void counted_error(struct reconciler *r, const char *type)
{
    add(r, MEASURE_GROUPS_ERRORS, 1, type);
}

void counted_grew(struct reconciler *r, int32_t nodes)
{
    add(r, MEASURE_GROUPS_SCALED_UP, nodes, NULL);
}

void counted_failed(struct reconciler *r, const char *reason)
{
    add(r, MEASURE_GROUPS_FAILED_UP, 1, reason);
}

void counted_removed(struct reconciler *r, const char *reason)
{
    add(r, MEASURE_GROUPS_SCALED_DOWN, 1, reason);
}
