/* Cluster Autoscaler's cluster state registry (spec node-groups 3.1, 3.12). */
#include <stdlib.h>

#include "planner/groups/inner.h"
#include "planner/groups/ready.h"

/* --- readiness --- */

/* Its machine is gone. Of a node of no group nobody knows, so that the taint has to say it. */
static bool is_gone(const struct group_run *r, const struct node *n, int32_t owner)
{
    if (owner < 0)
        return node_is_to_be_deleted(n);
    const struct group *g = r->groups[owner].group;
    for (uint32_t i = 0; i < g->instance_count; i++)
        if (g->instances[i].node == n)
            return false;
    return true;
}

static void add_readiness(struct group_readiness *to, const struct group_readiness *one)
{
    to->registered += one->registered;
    to->deleted += one->deleted;
    to->suspended += one->suspended;
    to->ready += one->ready;
    to->not_started += one->not_started;
    to->unready += one->unready;
    to->unregistered += one->unregistered;
    to->long_unregistered += one->long_unregistered;
}

static void count_node(struct group_run *r, uint32_t row)
{
    const struct node *n = world_node_at(r->world, row)->node;
    int32_t owner = r->owners[row];
    span_ms startup = owner >= 0 ? r->groups[owner].group->scaling.startup_time : r->flags->scaling.startup_time;
    struct group_readiness one = {.registered = 1};
    if (is_gone(r, n, owner))
        one.deleted = 1;
    else if (node_is_suspended(n))
        one.suspended = 1;
    else if (bits_has(r->ready, row))
        one.ready = 1;
    else if (n->meta.created + startup > r->now)
        one.not_started = 1;
    else
        one.unready = 1;
    if (one.not_started != 0)
        bits_add(r->starting, row);
    add_readiness(&r->out->all, &one);
    if (owner >= 0)
        add_readiness(&r->groups[owner].nodes, &one);
}

bool group_instance_unregistered(const struct group_instance *i)
{
    return i->node == NULL && (i->told == NULL || (i->told->state != INSTANCE_DELETING &&
                                                   i->told->error.class == INSTANCE_ERROR_NONE));
}

bool group_instance_overdue(const struct group_run *r, const struct group_now *g, const struct group_instance *i)
{
    wall_ms since = i->told != NULL && i->told->unregistered_since != 0 ? i->told->unregistered_since : r->now;
    return group_instance_unregistered(i) && since + g->group->scaling.provision_time < r->now;
}

static void count_instances(struct group_run *r, struct group_now *g)
{
    struct group_readiness one = {.registered = 0};
    for (uint32_t i = 0; i < g->group->instance_count; i++) {
        const struct group_instance *x = &g->group->instances[i];
        bool late = group_instance_overdue(r, g, x);
        one.long_unregistered += late;
        one.unregistered += !late && group_instance_unregistered(x);
    }
    add_readiness(&g->nodes, &one);
    add_readiness(&r->out->all, &one);
}

/* --- ranges, requests, back-off --- */

/* That somebody saw a node or a machine of it. */
static bool is_known(const struct group_now *g)
{
    return g->nodes.registered + g->nodes.unregistered + g->nodes.long_unregistered != 0;
}

static int32_t missing(const struct group_now *g)
{
    return g->known_target -
           (int32_t)(g->nodes.ready + g->nodes.unready + g->nodes.long_unregistered + g->nodes.suspended);
}

static bool is_healthy(const struct group_run *r, const struct group_now *g)
{
    int32_t min = g->known_target - (int32_t)g->nodes.long_unregistered - (g->growing ? g->increase : 0);
    if (!is_known(g))
        return g->known_target == 0 || (min == 0 && g->known_target > 0);
    int32_t lacks = min - (int32_t)(g->nodes.ready + g->nodes.suspended);
    double all = g->nodes.ready + g->nodes.unready + g->nodes.not_started + g->nodes.suspended;
    return lacks <= r->flags->ok_unready_count || lacks <= r->flags->max_unready_percentage / 100 * all;
}

static void judge(struct group_run *r, struct group_now *g)
{
    g->healthy = is_healthy(r, g);
    g->upcoming = g->growing && !g->backed_off && missing(g) > 0 ? (uint32_t)missing(g) : 0;
}

void group_recount(struct group_run *r, uint32_t group)
{
    struct group_now *g = &r->groups[group];
    g->known_target = g->target;
    judge(r, g);
}

static void take_back_request(struct group_run *r, struct group_now *g)
{
    int32_t left = (int32_t)(g->group->instance_count - g->gone_count);
    g->backed_off = true;
    g->growing = false;
    if (g->increase <= 0 || g->target - g->increase < left)
        return; /* the provider would refuse */
    g->target -= g->increase;
    group_note_decrease(r, (uint32_t)(g - r->groups), g->increase);
}

static void update_request(struct group_run *r, struct group_now *g)
{
    const struct group_request *q = &g->group->spec->request;
    if (!g->growing)
        return;
    if (missing(g) <= 0)
        g->growing = false;
    else if (q->time + g->group->scaling.provision_time < r->now)
        take_back_request(r, g);
}

/* By class and code, which are told apart as the registry does. */
static int by_error(const void *a, const void *b)
{
    const struct group_error_info *x = *(const struct group_error_info *const *)a,
                                  *y = *(const struct group_error_info *const *)b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return span_cmp(x->code, y->code);
}

/* Machines that could not be made, and of which the pass before did not know: so many fewer are asked for. */
static void note_errors(struct group_run *r, struct group_now *g)
{
    const struct group_error_info **fresh = ARENA_ARRAY(r->arena, const struct group_error_info *, g->group->instance_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->group->instance_count; i++) {
        const struct group_machine *m = g->group->instances[i].told;
        if (m != NULL && group_machine_failed(m) && !m->error_known)
            fresh[count++] = &m->error;
    }
    qsort(fresh, count, sizeof(fresh[0]), by_error);
    for (uint32_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && by_error(&fresh[i], &fresh[i + same]) == 0;)
            same++;
        if (!g->growing || missing(g) <= 0)
            return;
        g->increase -= (int32_t)same;
        g->growing = g->increase > 0;
        g->backed_off = true;
    }
}

bool group_machine_failed(const struct group_machine *m)
{
    return m->state == INSTANCE_CREATING && m->error.class != INSTANCE_ERROR_NONE;
}

static void mark_upcoming(struct group_run *r)
{
    for (uint32_t i = 0; i < r->row_count; i++) {
        int32_t owner = r->owners[r->rows[i]];
        if (owner >= 0 && r->groups[owner].upcoming != 0 && bits_has(r->starting, r->rows[i]))
            bits_add(r->upcoming, r->rows[i]);
    }
}

void groups_registry(struct group_run *r)
{
    for (uint32_t i = 0; i < r->row_count; i++)
        count_node(r, r->rows[i]);
    for (uint32_t i = 0; i < r->model->group_count; i++) {
        struct group_now *g = &r->groups[i];
        count_instances(r, g);
        update_request(r, g);
        note_errors(r, g);
        judge(r, g);
    }
}

void groups_find_upcoming(struct group_run *r)
{
    for (uint32_t i = 0; i < r->model->group_count; i++)
        judge(r, &r->groups[i]);
    mark_upcoming(r);
}

bool group_grow(struct group_run *r, uint32_t group, int32_t delta, bool for_min_size)
{
    struct group_now *g = &r->groups[group];
    if (delta <= 0 || g->target + delta > g->group->spec->max)
        return false;
    g->target += delta;
    g->increase = (g->growing ? g->increase : 0) + delta;
    g->growing = true;
    group_note_decision(r, group, delta, for_min_size);
    return true;
}

/* --- status --- */

static enum group_growth growth_of(const struct group_now *g)
{
    if (g->growing && missing(g) > 0)
        return GROWTH_IN_PROGRESS;
    if (!g->healthy)
        return GROWTH_UNHEALTHY;
    return g->backed_off ? GROWTH_BACKOFF : GROWTH_NO_ACTIVITY;
}

void groups_status(struct group_run *r)
{
    struct group_pass *out = r->out;
    out->status = ARENA_ARRAY(r->arena, struct group_status, r->model->group_count);
    out->status_count = r->model->group_count;
    for (uint32_t i = 0; i < out->status_count; i++) {
        const struct group_now *g = &r->groups[i];
        out->status[i] = (struct group_status){.group = i, .target = g->known_target, .healthy = g->healthy,
                                               .growth = growth_of(g), .nodes = g->nodes};
    }
}
