#include "server/simulation.h"

#include <math.h>

#include "base/json.h"
#include "base/wrap.h"
#include "kube/meta.h"
#include "planner/plan/grid.h"

/* --- rows --- */

struct rows {
    struct arena *arena;
    const struct simulation *simulation;
    struct simulation_row *items;
    uint32_t count, capacity;
};

static struct simulation_row *add(struct rows *r, const char *name, bool below)
{
    struct simulation_row row = {.name = name, .below = below, .values = {NAN, NAN}};
    ARENA_PUSH(r->arena, r->items, r->count, r->capacity, row);
    return &r->items[r->count - 1];
}

static void add_price(struct rows *r, const char *name, bool below, size_t offset)
{
    struct simulation_row *row = add(r, name, below);
    for (uint32_t i = 0; i < r->simulation->count; i++) {
        double v = *(const double *)(const void *)((const char *)&r->simulation->runs[i].totals + offset);
        row->values[i] = v;
        row->cells[i] = arena_printf(r->arena, fabs(v) < 100 ? "$%.4f" : "$%.2f", v);
    }
}

static void add_count(struct rows *r, const char *name, bool below, size_t offset)
{
    struct simulation_row *row = add(r, name, below);
    for (uint32_t i = 0; i < r->simulation->count; i++) {
        uint32_t v = *(const uint32_t *)(const void *)((const char *)&r->simulation->runs[i].totals + offset);
        row->values[i] = v;
        row->cells[i] = arena_printf(r->arena, "%u", v);
    }
}

static void add_mean(struct rows *r, const char *name, bool below, size_t offset)
{
    struct simulation_row *row = add(r, name, below);
    for (uint32_t i = 0; i < r->simulation->count; i++) {
        row->values[i] = *(const double *)(const void *)((const char *)&r->simulation->runs[i].totals + offset);
        row->cells[i] = arena_printf(r->arena, "%.1f", row->values[i]);
    }
}

static void add_wait(struct rows *r, const char *name, size_t offset)
{
    struct simulation_row *row = add(r, name, true);
    for (uint32_t i = 0; i < r->simulation->count; i++) {
        span_ms v = *(const span_ms *)(const void *)((const char *)&r->simulation->runs[i].totals + offset);
        if (r->simulation->runs[i].totals.bound == 0)
            continue;
        row->values[i] = (double)v;
        row->cells[i] = arena_printf(r->arena, "%.1f s", (double)v / MS_SECOND);
    }
}

static uint32_t moves_for(const struct totals *t, struct span reason)
{
    for (uint32_t i = 0; i < t->move_kinds; i++)
        if (span_eq(span_of(t->moves[i].name), reason))
            return t->moves[i].count;
    return 0;
}

static bool has_row(const struct rows *r, const char *name)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->items[i].below && span_eq(span_of(r->items[i].name), span_of(name)))
            return true;
    return false;
}

static void add_moves(struct rows *r)
{
    const struct simulation *s = r->simulation;
    add_count(r, "nodes removed", false, offsetof(struct totals, moved));
    for (uint32_t run = 0; run < s->count; run++)
        for (uint32_t m = 0; m < s->runs[run].totals.move_kinds; m++) {
            const char *name = s->runs[run].totals.moves[m].name;
            if (has_row(r, name))
                continue;
            struct simulation_row *row = add(r, name, true);
            for (uint32_t i = 0; i < s->count; i++) {
                uint32_t n = moves_for(&s->runs[i].totals, span_of(name));
                row->values[i] = n;
                row->cells[i] = arena_printf(r->arena, "%u", n);
            }
        }
}

#define OF(member) offsetof(struct totals, member)

const struct simulation_row *simulation_rows(struct arena *a, const struct simulation *s, uint32_t *count_out)
{
    struct rows r = {.arena = a, .simulation = s};
    uint32_t unpriced = 0, failed = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        unpriced |= s->runs[i].totals.nodes_unpriced;
        failed |= s->runs[i].totals.failed;
    }
    add_price(&r, "price-hours", false, OF(price_hours));
    add_price(&r, "an hour, at first", true, OF(price_first));
    add_price(&r, "at most", true, OF(price_most));
    add_price(&r, "in the end", true, OF(price_last));
    add_mean(&r, "nodes, on average", false, OF(nodes_mean));
    add_count(&r, "at most", true, OF(nodes_most));
    add_count(&r, "in the end", true, OF(nodes_last));
    if (unpriced != 0)
        add_count(&r, "without a price", true, OF(nodes_unpriced));
    add_count(&r, "machines launched", false, OF(bought));
    if (failed != 0)
        add_count(&r, "launches failed", false, OF(failed));
    add_moves(&r);
    add_count(&r, "pods evicted", false, OF(evictions));
    add_count(&r, "pods lost with their machine", false, OF(lost));
    add_count(&r, "pods that found a node", false, OF(bound));
    add_wait(&r, "waited, p50", OF(wait_p50));
    add_wait(&r, "waited, p99", OF(wait_p99));
    add_wait(&r, "waited, longest", OF(wait_most));
    add_count(&r, "pods without a node in the end", false, OF(waiting));
    *count_out = r.count;
    return r.items;
}

struct span simulation_difference(struct arena *a, const struct simulation *s, const struct simulation_row *row)
{
    struct span none = {NULL, 0};
    if (s->count < 2 || isnan(row->values[0]) || isnan(row->values[1]) || row->values[0] == row->values[1])
        return none;
    if (row->values[1] == 0)
        return none;
    return arena_printf(a, "%+.1f %%", (row->values[0] / row->values[1] - 1) * 100);
}

/* --- for a person --- */

static void put_head(struct buf *out, struct arena *a, const struct simulation *s, uint32_t width)
{
    struct span text = arena_printf(a, "%.*s: %.*s from %.*s, seed %lld.", SPAN_ARG(s->scenario->meta.name),
                                    SPAN_ARG(duration_text(a, s->scenario->duration)),
                                    SPAN_ARG(time_text(a, play_start(s->scenario))), (long long)s->scenario->seed);
    wrap_put(out, text, width != 0 ? width : 80, 0, 0);
    buf_add_char(out, '\n');
}

void simulation_table(struct buf *out, const struct simulation *s, uint32_t width)
{
    struct arena a;
    uint32_t count;
    arena_init(&a, 0);
    const struct simulation_row *rows = simulation_rows(&a, s, &count);
    struct grid g = {.arena = &a, .columns = s->count + (s->count > 1 ? 2 : 1), .right = ~1U, .apart = GRID_NONE};
    struct span *head = grid_row(&g);
    for (uint32_t i = 0; i < s->count; i++)
        head[1 + i] = span_of(s->runs[i].title);
    if (s->count > 1)
        head[1 + s->count] = SPAN("DIFFERENCE");
    for (uint32_t r = 0; r < count; r++) {
        struct span *row = grid_row(&g);
        row[0] = arena_printf(&a, "%s%s", rows[r].below ? "  " : "", rows[r].name);
        for (uint32_t i = 0; i < s->count; i++)
            row[1 + i] = rows[r].cells[i];
        if (s->count > 1)
            row[1 + s->count] = simulation_difference(&a, s, &rows[r]);
    }
    put_head(out, &a, s, width);
    grid_put(out, &g, width, 0);
    arena_release(&a);
}

/* --- for a program --- */

static void put_double(struct json *j, const char *key, double value)
{
    json_key(j, span_of(key));
    json_double(j, value);
}

static void put_waits(struct json *j, const struct totals *t)
{
    if (t->bound == 0)
        return;
    json_put_object(j, "waitSeconds");
    put_double(j, "p50", (double)t->wait_p50 / MS_SECOND);
    put_double(j, "p99", (double)t->wait_p99 / MS_SECOND);
    put_double(j, "max", (double)t->wait_most / MS_SECOND);
    json_object_end(j);
}

static void put_run(struct json *j, const struct simulation_run *r)
{
    const struct totals *t = &r->totals;
    json_object_begin(j);
    json_put_string(j, "search", span_of(r->search));
    put_double(j, "priceHours", t->price_hours);
    json_put_object(j, "pricePerHour");
    put_double(j, "first", t->price_first);
    put_double(j, "max", t->price_most);
    put_double(j, "last", t->price_last);
    json_object_end(j);
    json_put_object(j, "nodes");
    put_double(j, "mean", t->nodes_mean);
    json_put_int(j, "max", t->nodes_most);
    json_put_int(j, "last", t->nodes_last);
    json_put_int(j, "withoutPrice", t->nodes_unpriced);
    json_object_end(j);
    json_put_int(j, "launched", t->bought);
    json_put_int(j, "launchesFailed", t->failed);
    json_put_object(j, "removed");
    for (uint32_t i = 0; i < t->move_kinds; i++)
        json_put_int(j, t->moves[i].name, t->moves[i].count);
    json_object_end(j);
    json_put_int(j, "evictions", t->evictions);
    json_put_int(j, "podsLost", t->lost);
    json_put_int(j, "podsBound", t->bound);
    json_put_int(j, "podsWaiting", t->waiting);
    put_waits(j, t);
    json_object_end(j);
}

void simulation_json(struct buf *out, const struct simulation *s)
{
    struct json j = {.out = out, .indent = 2};
    struct arena a;
    arena_init(&a, 0);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN(SCENARIO_API));
    json_put_string(&j, "kind", SPAN("Simulation"));
    json_put_string(&j, "scenario", s->scenario->meta.name);
    json_put_int(&j, "seed", s->scenario->seed);
    json_put_string(&j, "start", time_text(&a, play_start(s->scenario)));
    put_double(&j, "durationSeconds", (double)s->scenario->duration / MS_SECOND);
    json_put_array(&j, "runs");
    for (uint32_t i = 0; i < s->count; i++)
        put_run(&j, &s->runs[i]);
    json_array_end(&j);
    json_object_end(&j);
    buf_add_char(out, '\n');
    arena_release(&a);
}
