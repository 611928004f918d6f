#include "support_disruption.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/columns.h"

void deciding_init(struct deciding *x, const char *objects)
{
    memset(x, 0, sizeof(*x));
    cluster_init(&x->c);
    cluster_types_c0(&x->c);
    x->o.plan = &x->c.plan_options;
    assert_true(time_parse(SPAN(D_NOW), &x->c.plan_options.now));
    if (objects != NULL)
        cluster_add(&x->c, objects);
}

void deciding_release(struct deciding *x)
{
    disruption_free(x->d);
    cluster_release(&x->c);
}

void deciding_world(struct deciding *x)
{
    struct world_input in = cluster_input(&x->c);
    disruption_free(x->d);
    x->d = NULL;
    world_free(x->c.world);
    x->c.world = world_build(&in);
}

uint32_t deciding_row(const struct deciding *x, const char *node)
{
    int32_t row = world_find_node(x->c.world, span_of(node));
    if (row < 0)
        row = world_find_claim(x->c.world, span_of(node));
    if (row < 0)
        fail_msg("no node %s", node);
    return (uint32_t)row;
}

static const uint64_t *rows_of(struct deciding *x, const char *const *names, size_t count)
{
    uint64_t *set = ARENA_ARRAY(&x->c.arena, uint64_t, bits_words(x->c.world->node_count));
    for (size_t i = 0; i < count && names[i] != NULL; i++)
        bits_add(set, deciding_row(x, names[i]));
    return names[0] != NULL ? set : NULL;
}

static struct span text_of(struct deciding *x, struct buf *b)
{
    struct span text = arena_dup(&x->c.arena, buf_span(b));
    buf_release(b);
    return text.ptr != NULL ? text : SPAN("");
}

struct span deciding_commands(struct deciding *x)
{
    struct buf b = {0};
    deciding_world(x);
    x->o.nominated = rows_of(x, x->nominated, COUNT_OF(x->nominated));
    x->o.buffered = rows_of(x, x->buffered, COUNT_OF(x->buffered));
    x->o.queued = rows_of(x, x->queued, COUNT_OF(x->queued));
    x->d = disruption_decide(x->c.world, &x->o);
    for (uint32_t i = 0; i < x->d->command_count; i++) {
        const struct disruption_command *c = &x->d->commands[i];
        buf_addf(&b, "%s %s", disruption_method_name(c->method), disruption_decision_name(c->decision));
        for (uint32_t k = 0; k < c->count; k++)
            buf_addf(&b, " %.*s", SPAN_ARG(world_node_at(x->c.world, c->rows[k])->name));
        if (c->replacement_count != 0)
            buf_addf(&b, " -> %u", c->replacement_count);
        buf_addf(&b, "\n");
    }
    return text_of(x, &b);
}

struct span deciding_notes(struct deciding *x)
{
    static const char *const kinds[] = {[NOTE_BLOCKED] = "DisruptionBlocked",
                                        [NOTE_UNCONSOLIDATABLE] = "Unconsolidatable",
                                        [NOTE_REPAIR_BLOCKED] = "NodeRepairBlocked"};
    struct buf b = {0};
    for (uint32_t i = 0; i < x->d->note_count; i++) {
        const struct disruption_note *n = &x->d->notes[i];
        struct span about = n->row >= 0 ? world_node_at(x->c.world, (uint32_t)n->row)->name
                                        : arena_printf(&x->c.arena, "pool/%.*s", SPAN_ARG(n->pool->meta.name));
        buf_addf(&b, "%s %.*s: %.*s\n", kinds[n->kind], SPAN_ARG(about), SPAN_ARG(n->text));
    }
    if (x->d->error.len != 0)
        buf_addf(&b, "error: %.*s\n", SPAN_ARG(x->d->error));
    return text_of(x, &b);
}
