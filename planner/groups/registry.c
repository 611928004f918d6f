/* Cluster Autoscaler's cluster state registry (spec node-groups 3.1, 3.12). */
#include <stdlib.h>

#include "kube/meta.h"
#include "planner/groups/inner.h"
#include "planner/groups/ready.h"

/* --- readiness --- */

/* Its machine is gone. Of a node of no group nobody knows, so that the taint has to say it. */
static bool is_gone(const struct group_run *r, uint32_t row, const struct node *n, int32_t owner)
{
    return owner < 0 ? node_is_to_be_deleted(n) : !bits_has(r->machines, row);
}

/* r->rows are by name, as the model's nodes. */
static void mark_machines(struct group_run *r)
{
    for (uint32_t i = 0; i < r->model->group_count; i++) {
        const struct group *g = &r->model->groups[i];
        for (uint32_t k = 0; k < g->instance_count; k++)
            if (g->instances[k].node_at >= 0)
                bits_add(r->machines, r->rows[g->instances[k].node_at]);
    }
}

static void add_counts(struct group_readiness *to, const struct group_readiness *more)
{
    to->registered += more->registered;
    to->deleted += more->deleted;
    to->suspended += more->suspended;
    to->ready += more->ready;
    to->not_started += more->not_started;
    to->unready += more->unready;
    to->unregistered += more->unregistered;
    to->long_unregistered += more->long_unregistered;
}

static void count_node(struct group_run *r, uint32_t row)
{
    const struct node *n = world_node_at(r->world, row)->node;
    int32_t owner = r->owners[row];
    span_ms startup = owner >= 0 ? r->groups[owner].group->scaling.startup_time : r->flags->scaling.startup_time;
    struct group_readiness one = {.registered = 1};
    if (is_gone(r, row, n, owner))
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
    add_counts(&r->out->all, &one);
    if (owner >= 0)
        add_counts(&r->groups[owner].nodes, &one);
}

bool group_instance_unregistered(const struct group_instance *i)
{
    return i->node == NULL && (i->told == NULL || (i->told->state != INSTANCE_DELETING &&
                                                   i->told->error.class == INSTANCE_ERROR_NONE));
}

static wall_ms unregistered_since(const struct group_run *r, const struct group_instance *i)
{
    return i->told != NULL && i->told->unregistered_since != 0 ? i->told->unregistered_since : r->now;
}

bool group_instance_overdue(const struct group_run *r, const struct group_now *g, const struct group_instance *i)
{
    return group_instance_unregistered(i) && unregistered_since(r, i) + g->group->scaling.provision_time < r->now;
}

/* Those that the pass before knew of, and that stay for now. */
static uint32_t count_failed(const struct group_run *r, const struct group_now *g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; !r->flags->as_upstream && i < g->group->instance_count; i++) {
        const struct group_machine *m = g->group->instances[i].told;
        count += m != NULL && group_machine_failed(m) && m->error_known && !g->gone[i];
    }
    return count;
}

static void count_instances(struct group_run *r, struct group_now *g, struct group_found *found)
{
    struct group_readiness late = {.long_unregistered = 1}, young = {.unregistered = 1};
    found->unregistered = ARENA_ARRAY(r->arena, struct group_unregistered, g->group->instance_count);
    g->failed = count_failed(r, g);
    for (uint32_t i = 0; i < g->group->instance_count; i++) {
        const struct group_instance *x = &g->group->instances[i];
        if (!group_instance_unregistered(x))
            continue;
        found->unregistered[found->unregistered_count++] = (struct group_unregistered){x->id, unregistered_since(r, x)};
        add_counts(&g->nodes, group_instance_overdue(r, g, x) ? &late : &young);
        add_counts(&r->out->all, group_instance_overdue(r, g, x) ? &late : &young);
    }
}

/* --- ranges, requests, back-off --- */

/* That somebody saw a node or a machine of it. */
static bool is_known(const struct group_now *g)
{
    return g->nodes.registered + g->nodes.unregistered + g->nodes.long_unregistered != 0;
}

/* Of the machines that it is to have those of which a Node can come. */
static int32_t live_target(const struct group_now *g)
{
    return g->known_target - (int32_t)g->failed;
}

static int32_t missing(const struct group_now *g)
{
    return live_target(g) -
           (int32_t)(g->nodes.ready + g->nodes.unready + g->nodes.long_unregistered + g->nodes.suspended);
}

static bool is_healthy(const struct group_run *r, const struct group_now *g)
{
    int32_t min = live_target(g) - (int32_t)g->nodes.long_unregistered - (g->growing ? g->increase : 0);
    if (!is_known(g))
        return live_target(g) == 0 || (min == 0 && live_target(g) > 0);
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
    g->failed = count_failed(r, g);
    judge(r, g);
}

static void note_failure(struct group_run *r, struct group_now *g, struct group_failure f)
{
    struct group_found *found = &r->out->found[g - r->groups];
    g->backed_off = true;
    found->failures[found->failure_count++] = f;
}

static void take_back_request(struct group_run *r, struct group_now *g)
{
    struct span name = g->group->spec->name;
    span_ms after = r->now - g->group->spec->request.time;
    struct span text = duration_text(r->arena, after);
    int32_t left = (int32_t)(g->group->instance_count - g->gone_count);
    g->growing = false;
    note_failure(r, g, (struct group_failure){.timed_out = true,
                                              .after = after,
                                              .class = INSTANCE_OTHER_ERROR,
                                              .code = SPAN("timeout"),
                                              .message = arena_printf(r->arena,
                                                                      "Scale-up timed out for node group %.*s after %.*s",
                                                                      SPAN_ARG(name), SPAN_ARG(text))});
    if (g->target - g->increase < left) {
        r->out->found[g - r->groups].revert_refused = true;
        return;
    }
    g->target -= g->increase;
    group_note_decrease(r, (uint32_t)(g - r->groups), g->increase);
}

static void update_request(struct group_run *r, struct group_now *g, struct group_found *found)
{
    const struct group_request *q = &g->group->spec->request;
    if (!g->growing)
        return;
    found->request = REQUEST_STANDS;
    if (missing(g) <= 0) {
        g->growing = false;
        found->request = REQUEST_DONE;
    } else if (q->time + g->group->scaling.provision_time < r->now) {
        take_back_request(r, g);
        found->request = REQUEST_TIMED_OUT;
    }
}

/* By class and code, which are told apart as the registry does, then by what was said. */
static int by_error(const void *a, const void *b)
{
    const struct group_error_info *x = &(*(const struct group_machine *const *)a)->error,
                                  *y = &(*(const struct group_machine *const *)b)->error;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    int order = span_cmp(x->code, y->code);
    return order != 0 ? order : span_cmp(x->message, y->message);
}

static bool is_same_error(const struct group_machine *x, const struct group_machine *y)
{
    return x->error.class == y->error.class && span_eq(x->error.code, y->error.code);
}

enum { MESSAGES_PLAIN = 3 }; /* behind more of them "..." is added; none is left out, as upstream */

/* What was said of these machines, each thing once. They come by it. */
static struct span join_messages(struct group_run *r, const struct group_machine *const *machines, uint32_t count)
{
    struct buf text = {0};
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && span_eq(machines[i]->error.message, machines[i - 1]->error.message))
            continue;
        buf_addf(&text, "%s%.*s", distinct != 0 ? ", " : "", SPAN_ARG(machines[i]->error.message));
        distinct++;
    }
    if (distinct > MESSAGES_PLAIN)
        buf_addf(&text, ", ...");
    struct span out = arena_dup(r->arena, buf_span(&text));
    buf_release(&text);
    return out;
}

static uint32_t list_failed(struct group_run *r, struct group_now *g, struct group_found *found,
                            const struct group_machine **out)
{
    found->failed.items = ARENA_ARRAY(r->arena, struct span, g->group->instance_count);
    for (uint32_t i = 0; i < g->group->instance_count; i++) {
        const struct group_machine *m = g->group->instances[i].told;
        if (m == NULL || !group_machine_failed(m))
            continue;
        out[found->failed.count] = m;
        found->failed.items[found->failed.count++] = m->id;
    }
    return found->failed.count;
}

/* Machines that could not be made, and of which the pass before did not know: so many fewer are asked for. */
static void note_errors(struct group_run *r, struct group_now *g, struct group_found *found)
{
    const struct group_machine **failed =
        ARENA_ARRAY(r->arena, const struct group_machine *, g->group->instance_count);
    uint32_t count = list_failed(r, g, found, failed);
    if (count > 1)
        qsort(failed, count, sizeof(failed[0]), by_error);
    for (uint32_t i = 0, same; i < count; i += same) {
        int32_t fresh = 0;
        for (same = 0; i + same < count && is_same_error(failed[i], failed[i + same]); same++)
            fresh += !failed[i + same]->error_known;
        if (fresh == 0 || !g->growing || missing(g) <= 0)
            continue;
        g->increase -= fresh;
        g->growing = g->increase > 0;
        note_failure(r, g, (struct group_failure){.machines = fresh,
                                                  .class = failed[i]->error.class,
                                                  .code = failed[i]->error.code,
                                                  .message = join_messages(r, failed + i, same)});
    }
}

/* More have registered than there should be, or fewer than have been made (spec 3.1, "incorrect size"). Upstream does not look
 * at groups of which it knows no machine: one that was asked for before it began, and never came, is waited for for ever. */
static void note_mismatch(struct group_run *r, const struct group_now *g, struct group_found *found)
{
    int32_t registered = (int32_t)g->nodes.registered;
    int32_t coming = (int32_t)(g->nodes.unregistered + g->nodes.long_unregistered);
    const struct node_group *spec = g->group->spec;
    bool is_looked_at = is_known(g) || !r->flags->as_upstream;
    if (!is_looked_at || (registered <= g->known_target && registered >= live_target(g) - coming))
        return;
    bool same = spec->has_mismatch && spec->mismatch.registered == registered && spec->mismatch.target == g->known_target;
    found->has_mismatch = true;
    found->mismatch = (struct group_mismatch){registered, g->known_target, same ? spec->mismatch.since : r->now};
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
    r->out->found = ARENA_ARRAY(r->arena, struct group_found, r->model->group_count);
    mark_machines(r);
    for (uint32_t i = 0; i < r->row_count; i++)
        count_node(r, r->rows[i]);
    for (uint32_t i = 0; i < r->model->group_count; i++) {
        struct group_now *g = &r->groups[i];
        struct group_found *found = &r->out->found[i];
        found->failures = ARENA_ARRAY(r->arena, struct group_failure, (size_t)g->group->instance_count + 1);
        count_instances(r, g, found);
        update_request(r, g, found);
        note_errors(r, g, found);
        note_mismatch(r, g, found);
        found->increase = g->growing ? g->increase : 0;
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
