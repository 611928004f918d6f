#include "planner/disruption/disruption_told.h"

#include <math.h>

#include "base/wrap.h"
#include "planner/plan/plan_json.h"

/* --- for a program --- */

static void put_known(struct json *j, const char *key, double value)
{
    if (isnan(value))
        return;
    json_key(j, span_of(key));
    json_double(j, value);
}

static void put_price(struct json *j, const struct disruption_command *c)
{
    json_key(j, SPAN("price"));
    json_object_begin(j);
    put_known(j, "evictions", c->price.evictions);
    put_known(j, "warmUp", c->price.warm_up);
    put_known(j, "imagePulls", c->price.image_pulls);
    put_known(j, "launchFails", c->price.launch_fails);
    json_object_end(j);
    if (disruption_payback(c) >= 0)
        put_known(j, "paybackSeconds", (double)disruption_payback(c) / MS_SECOND);
}

static void put_command(struct json *j, const struct world *w, const struct disruption_command *c)
{
    struct arena a;
    arena_init(&a, 0);
    json_object_begin(j);
    json_put_string(j, "method", span_of(disruption_method_name(c->method)));
    json_put_string(j, "reason", disruption_reason_label(disruption_method_reason(c->method)));
    json_put_string(j, "decision", span_of(disruption_decision_name(c->decision)));
    json_put_array(j, "candidates");
    for (uint32_t i = 0; i < c->count; i++)
        json_text(j, world_node_at(w, c->rows[i])->name);
    json_array_end(j);
    json_put_array(j, "replacements");
    for (uint32_t i = 0; i < c->replacement_count; i++)
        plan_json_claim(j, w, c->syms, &c->replacements[i]);
    json_array_end(j);
    put_known(j, "savingsPerHour", c->savings);
    put_known(j, "disruptionCost", c->cost);
    if (c->priced)
        put_price(j, c);
    if (c->has_grace)
        json_put_string(j, "terminationGracePeriod", duration_text(&a, c->grace));
    json_object_end(j);
    arena_release(&a);
}

static void put_commands(struct json *j, const char *key, const struct world *w, const struct disruption *d)
{
    json_put_array(j, key);
    for (uint32_t i = 0; i < d->command_count; i++)
        put_command(j, w, &d->commands[i]);
    json_array_end(j);
}

void disruption_json(struct json *j, const struct world *w, const struct disruption *d, const struct disruption *recommended)
{
    put_commands(j, "disruption", w, d);
    if (recommended != NULL && recommended->command_count != 0)
        put_commands(j, "recommended", w, recommended);
}

/* --- for a person --- */

enum { NAMED = 5 };

static void put_names(struct buf *b, const struct world *w, const struct disruption_command *c)
{
    for (uint32_t i = 0; i < c->count && i < NAMED; i++)
        buf_addf(b, "%s%.*s", i == 0 ? "" : ", ", SPAN_ARG(world_node_at(w, c->rows[i])->name));
    if (c->count > NAMED)
        buf_addf(b, " and %u more", c->count - NAMED);
}

static void put_bought(struct buf *b, const struct disruption_command *c)
{
    buf_addf(b, " -> buy ");
    for (uint32_t i = 0; i < c->replacement_count && i < NAMED; i++) {
        const struct plan_claim *r = &c->replacements[i];
        struct span what = r->type_count != 0 ? r->types[0]->name : r->pool->meta.name;
        buf_addf(b, "%s%s%.*s", i == 0 ? "" : ", ", r->type_count != 0 ? "" : "another of ", SPAN_ARG(what));
    }
    if (c->replacement_count > NAMED)
        buf_addf(b, " and %u more", c->replacement_count - NAMED);
}

static void put_parts(struct buf *b, const struct move_price *p)
{
    buf_addf(b, " (evictions $%.4f", p->evictions);
    if (p->warm_up > 0)
        buf_addf(b, ", warm-up $%.4f, image pulls $%.4f", p->warm_up, p->image_pulls);
    if (p->launch_fails > 0)
        buf_addf(b, ", %.0f %% of launches fail", 100 * p->launch_fails);
    buf_addf(b, ")");
}

static void put_worth(struct buf *b, struct arena *a, const struct disruption_command *c)
{
    span_ms back = disruption_payback(c);
    if (c->savings < 0)
        buf_addf(b, "costs $%.4f/h more", -c->savings);
    else if (!isnan(c->savings))
        buf_addf(b, "saves $%.4f/h", c->savings);
    else
        buf_addf(b, "what it saves is not known");
    buf_addf(b, ", evicts %u pod%s", c->evictions, c->evictions == 1 ? "" : "s");
    if (back > 0) /* whole seconds */
        buf_addf(b, ", pays back in %.*s",
                 SPAN_ARG(duration_text(a, (back + MS_SECOND - 1) / MS_SECOND * MS_SECOND)));
    else if (back == 0)
        buf_addf(b, ", pays back at once");
    if (c->priced && back > 0)
        put_parts(b, &c->price);
}

struct span disruption_move_text(struct arena *a, const struct world *w, const struct disruption_command *c)
{
    struct buf b = {0};
    buf_addf(&b, c->decision == DECIDE_REBOOT ? "reboot " : "remove ");
    put_names(&b, w, c);
    if (c->decision == DECIDE_REPLACE)
        put_bought(&b, c);
    else if (c->decision == DECIDE_TERMINATE_FIRST)
        buf_addf(&b, ", which has to go before another can come");
    buf_addf(&b, " (%.*s", SPAN_ARG(disruption_reason_label(disruption_method_reason(c->method))));
    if (c->condition.len != 0)
        buf_addf(&b, ": %.*s%s%.*s", SPAN_ARG(c->condition), c->condition_reason.len != 0 ? ", " : "",
                 SPAN_ARG(c->condition_reason));
    buf_addf(&b, ")");
    if (c->decision != DECIDE_REBOOT) {
        buf_addf(&b, ": ");
        put_worth(&b, a, c);
    }
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

static struct span note_text(struct arena *a, const struct world *w, const struct disruption_note *n)
{
    if (n->row >= 0)
        return arena_printf(a, "%.*s stays: %.*s", SPAN_ARG(world_node_at(w, (uint32_t)n->row)->name),
                            SPAN_ARG(n->text));
    return arena_printf(a, "NodePool %.*s: %.*s", SPAN_ARG(n->pool->meta.name), SPAN_ARG(n->text));
}

static void put_line(struct buf *out, struct span text, uint32_t width)
{
    wrap_spaces(out, 2);
    wrap_put(out, text, width, 2, 6);
}

void disruption_table(struct buf *out, const struct world *w, const struct disruption *d, uint32_t width, bool verbose)
{
    struct arena a;
    uint32_t most = width != 0 ? width : 80;
    arena_init(&a, 0);
    buf_addf(out, "\nMOVES\n");
    if (d->command_count == 0)
        put_line(out, SPAN("none: no node is to leave now"), most);
    for (uint32_t i = 0; i < d->command_count; i++)
        put_line(out, disruption_move_text(&a, w, &d->commands[i]), most);
    for (uint32_t i = 0; verbose && i < d->note_count; i++)
        put_line(out, note_text(&a, w, &d->notes[i]), most);
    arena_release(&a);
}

void disruption_table_recommended(struct buf *out, const struct world *w, const struct disruption *d, uint32_t width)
{
    struct arena a;
    arena_init(&a, 0);
    if (d->command_count != 0)
        buf_addf(out, "\nRECOMMENDED, not made since stowage.dev/mode says so\n");
    for (uint32_t i = 0; i < d->command_count; i++)
        put_line(out, disruption_move_text(&a, w, &d->commands[i]), width != 0 ? width : 80);
    arena_release(&a);
}
