#include "planner/groups/pass_json.h"

#include <math.h>
#include <stdio.h>

#include "base/safe_text.h"
#include "planner/groups/explain.h"

static struct span group_name(const struct group_pass *p, uint32_t group)
{
    return p->model->groups[group].spec->name;
}

static struct span row_name(const struct group_pass *p, uint32_t row)
{
    return world_node_at(p->world, row)->name;
}

static void put_pod(struct json *j, const struct pod *pod)
{
    char text[600];
    int len = snprintf(text, sizeof(text), "%.*s/%.*s", SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name));
    json_text(j, (struct span){text, len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1});
}

static void put_pods(struct json *j, const char *key, const struct pod *const *pods, uint32_t count)
{
    json_put_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        put_pod(j, pods[i]);
    json_array_end(j);
}

static void put_groups(struct json *j, const char *key, const struct group_pass *p, const uint32_t *groups, uint32_t count)
{
    json_put_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        json_text(j, group_name(p, groups[i]));
    json_array_end(j);
}

static void put_rows(struct json *j, const char *key, const struct group_pass *p, const uint32_t *rows, uint32_t count)
{
    json_put_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        json_text(j, row_name(p, rows[i]));
    json_array_end(j);
}

static void put_texts(struct json *j, const char *key, struct spans texts)
{
    json_put_array(j, key);
    for (uint32_t i = 0; i < texts.count; i++)
        json_text(j, texts.items[i]);
    json_array_end(j);
}

static void put_time(struct json *j, const char *key, wall_ms t)
{
    struct arena a;
    arena_init(&a, 0);
    json_put_string(j, key, time_text(&a, t));
    arena_release(&a);
}

static void put_decisions(struct json *j, const struct group_pass *p)
{
    json_put_array(j, "nodeGroups");
    for (uint32_t i = 0; i < p->decision_count; i++) {
        const struct group_decision *d = &p->decisions[i];
        json_object_begin(j);
        json_put_string(j, "name", group_name(p, d->group));
        json_put_int(j, "delta", d->delta);
        json_put_int(j, "newTarget", d->target);
        json_put_int(j, "maxSize", p->model->groups[d->group].spec->max);
        json_put_string(j, "reason", d->for_min_size ? SPAN("MinSize") : SPAN("Pods"));
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_options(struct json *j, const struct group_pass *p)
{
    json_put_array(j, "options");
    for (uint32_t i = 0; i < p->up.option_count; i++) {
        const struct group_option *o = &p->up.options[i];
        json_object_begin(j);
        json_put_string(j, "group", group_name(p, o->group));
        json_put_int(j, "nodeCount", o->nodes);
        put_pods(j, "pods", o->pods, o->pod_count);
        put_groups(j, "similarGroups", p, o->similar, o->similar_count);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_left(struct json *j, const struct group_pass *p)
{
    json_put_array(j, "skipped");
    for (uint32_t i = 0; i < p->up.skipped_count; i++) {
        json_object_begin(j);
        json_put_string(j, "group", group_name(p, p->up.skipped[i].group));
        put_texts(j, "reasons", p->up.skipped[i].reasons);
        json_object_end(j);
    }
    json_array_end(j);
    put_pods(j, "triggered", p->up.triggered, p->up.triggered_count);
    put_pods(j, "awaiting", p->up.awaiting, p->up.awaiting_count);
    json_put_array(j, "remaining");
    for (uint32_t i = 0; i < p->up.left_count; i++) {
        json_object_begin(j);
        json_key(j, SPAN("pod"));
        put_pod(j, p->up.left[i].pod);
        put_texts(j, "reasons", p->up.left[i].reasons);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_up(struct json *j, const struct group_pass *p)
{
    json_put_object(j, "scaleUp");
    json_put_string(j, "result", span_of(scale_up_result_name(p->up.result)));
    if (p->up.error.len != 0)
        json_put_string(j, "error", p->up.error);
    put_options(j, p);
    put_groups(j, "equallyGood", p, p->up.equally_good, p->up.equally_good_count);
    put_left(j, p);
    json_object_end(j);
}

static void put_unremovable(struct json *j, const struct group_pass *p)
{
    json_put_array(j, "unremovable");
    for (uint32_t i = 0; i < p->down.unremovable_count; i++) {
        const struct node_unremovable *u = &p->down.unremovable[i];
        json_object_begin(j);
        json_put_string(j, "node", row_name(p, u->row));
        json_put_string(j, "reason", span_of(unremovable_name(u->why)));
        if (u->blocking != NULL) {
            json_key(j, SPAN("blockingPod"));
            put_pod(j, u->blocking);
            json_put_string(j, "blockReason", span_of(u->block_reason));
        }
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_down(struct json *j, const struct group_pass *p)
{
    const struct group_scale_down *d = &p->down;
    json_put_object(j, "scaleDown");
    json_put_string(j, "result", span_of(scale_down_result_name(d->result)));
    json_put_object(j, "utilization");
    for (uint32_t i = 0; i < d->used_count; i++) {
        json_key(j, row_name(p, d->used[i].row));
        json_double(j, round(d->used[i].utilization * 1e6) / 1e6);
    }
    json_object_end(j);
    json_put_array(j, "unneeded");
    for (uint32_t i = 0; i < d->unneeded_count; i++) {
        json_object_begin(j);
        json_put_string(j, "node", row_name(p, d->unneeded[i].row));
        put_time(j, "since", d->unneeded[i].since);
        json_object_end(j);
    }
    json_array_end(j);
    put_unremovable(j, p);
    json_put_object(j, "toDelete");
    put_rows(j, "empty", p, d->empty, d->empty_count);
    put_rows(j, "drain", p, d->drain, d->drain_count);
    json_object_end(j);
    json_object_end(j);
}

static void put_repairs(struct json *j, const struct group_pass *p)
{
    json_put_object(j, "repairs");
    json_put_array(j, "deletedInstances");
    for (uint32_t i = 0; i < p->repairs.deleted_count; i++)
        json_text(j, p->repairs.deleted[i].id);
    json_array_end(j);
    json_put_object(j, "decreasedTargets");
    for (uint32_t i = 0; i < p->repairs.decreased_count; i++) {
        json_key(j, group_name(p, p->repairs.decreased[i].group));
        json_int(j, p->repairs.decreased[i].decreased);
    }
    json_object_end(j);
    json_object_end(j);
}

static void put_status(struct json *j, const struct group_pass *p)
{
    json_put_array(j, "groupStatus");
    for (uint32_t i = 0; i < p->status_count; i++) {
        const struct group_status *s = &p->status[i];
        json_object_begin(j);
        json_put_string(j, "name", group_name(p, s->group));
        json_put_int(j, "target", s->target);
        json_put_string(j, "health", s->healthy ? SPAN("Healthy") : SPAN("Unhealthy"));
        json_put_string(j, "scaleUp", span_of(group_growth_name(s->growth)));
        json_put_int(j, "registered", s->nodes.registered);
        json_put_int(j, "ready", s->nodes.ready);
        json_put_int(j, "unready", s->nodes.unready);
        json_put_int(j, "notStarted", s->nodes.not_started);
        json_put_int(j, "beingDeleted", s->nodes.deleted);
        json_put_int(j, "unregistered", s->nodes.unregistered);
        json_put_int(j, "longUnregistered", s->nodes.long_unregistered);
        json_object_end(j);
    }
    json_array_end(j);
}

void group_pass_json(struct json *j, const struct group_pass *p)
{
    put_decisions(j, p);
    put_up(j, p);
    put_down(j, p);
    put_repairs(j, p);
    put_status(j, p);
    if (p->error.len != 0)
        json_put_string(j, "error", p->error);
}

/* --- for people --- */

/* What was composed becomes a line of `out`, and the next one is begun. */
static void end_line(struct buf *out, struct buf *line)
{
    safe_line_add(out, buf_span(line));
    buf_add_char(out, '\n');
    buf_clear(line);
}

static void put_growth(struct buf *out, struct buf *line, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->decision_count; i++) {
        const struct group_decision *d = &p->decisions[i];
        uint32_t pods = group_pods_for(p, d->group);
        buf_addf(line, "GROW   %.*s  %d → %d", SPAN_ARG(group_name(p, d->group)), d->target - d->delta, d->target);
        if (d->for_min_size)
            buf_addf(line, "  its minimum");
        else
            buf_addf(line, "  for %u pod%s", pods, pods == 1 ? "" : "s");
        end_line(out, line);
    }
}

/* What a pass removes is of a group. */
static void put_saving(struct buf *line, const struct group_pass *p, uint32_t row)
{
    const struct node_group *g = p->model->groups[group_of_row(p, row)].spec;
    if (g->has_price)
        buf_addf(line, ", saves $%.4f/h", g->price);
}

static void put_shrinking(struct buf *out, struct buf *line, const struct group_pass *p)
{
    const struct group_scale_down *d = &p->down;
    for (uint32_t i = 0; i < d->empty_count; i++) {
        buf_addf(line, "SHRINK %.*s  is empty", SPAN_ARG(row_name(p, d->empty[i])));
        put_saving(line, p, d->empty[i]);
        end_line(out, line);
    }
    for (uint32_t i = 0; i < d->drain_count; i++) {
        buf_addf(line, "SHRINK %.*s  ", SPAN_ARG(row_name(p, d->drain[i])));
        if (d->moved[i] == 1)
            buf_addf(line, "its pod fits elsewhere");
        else
            buf_addf(line, "its %u pods fit elsewhere", d->moved[i]);
        put_saving(line, p, d->drain[i]);
        end_line(out, line);
    }
}

static void put_homeless(struct buf *out, struct buf *line, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->up.left_count; i++) {
        const struct pod_left *l = &p->up.left[i];
        buf_addf(line, "NO PLACE %.*s/%.*s", SPAN_ARG(l->pod->meta.ns), SPAN_ARG(l->pod->meta.name));
        for (uint32_t k = 0; k < l->reasons.count; k++)
            buf_addf(line, "%s %.*s", k == 0 ? ":" : ",", SPAN_ARG(l->reasons.items[k]));
        end_line(out, line);
    }
}

static void put_skipped(struct buf *out, struct buf *line, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->up.skipped_count; i++)
        for (uint32_t k = 0; k < p->up.skipped[i].reasons.count; k++) {
            buf_addf(line, "SKIP   %.*s  %.*s", SPAN_ARG(group_name(p, p->up.skipped[i].group)),
                     SPAN_ARG(p->up.skipped[i].reasons.items[k]));
            end_line(out, line);
        }
}

void group_pass_table(struct buf *out, const struct group_pass *p)
{
    bool quiet = p->decision_count == 0 && p->down.empty_count == 0 && p->down.drain_count == 0 && p->up.left_count == 0;
    struct buf line = {0};
    if (p->error.len != 0)
        buf_addf(&line, "The pass ends early: %.*s.", SPAN_ARG(p->error));
    else if (quiet)
        buf_addf(&line, "No node group changes: %s, %s.", scale_up_result_name(p->up.result),
                 scale_down_result_name(p->down.result));
    if (line.len != 0)
        end_line(out, &line);
    put_growth(out, &line, p);
    put_shrinking(out, &line, p);
    put_homeless(out, &line, p);
    put_skipped(out, &line, p);
    buf_release(&line);
}
