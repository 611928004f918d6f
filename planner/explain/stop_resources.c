/* Resources and limits: what the pod asks for is more than there is to buy. */
#include "planner/explain/daemons.h"
#include "planner/explain/sold.h"
#include "planner/explain/stop_inner.h"

/* A million CPUs, in thousandths: no request, but an M where m was meant. */
bool stop_is_mistyped(const struct world *w, uint32_t column, amount asked)
{
    enum { A_MILLION = 1000000000 };
    return w->columns[column] == SYM_CPU && asked >= A_MILLION;
}

/* What is left of the option for the attempt. */
const struct spec *stop_spec(const struct group_question *q, uint32_t option)
{
    int32_t to = specs_narrow(&q->t->specs, option, q->try);
    return &q->t->specs.items[to < 0 ? option : (uint32_t)to];
}

/* The column in which even the most that some type has is too little; -1: none by itself. */
static int32_t short_column(const struct world *w, const amount *requests, const amount *most)
{
    for (uint32_t c = 0; c < w->column_count; c++)
        if (requests[c] > most[c])
            return (int32_t)c;
    return -1;
}

/* --- what larger types there are --- */

/* The most that a type of the catalogue has of the column for the pod, if any pool could buy any. */
static amount most_there_is(const struct group_question *q, uint32_t option, uint32_t column)
{
    struct plan *p = q->p;
    const struct types *t = &p->world->types;
    const struct option *o = stop_option(q, option);
    const uint64_t *set = sold_types(p, &stop_signature(q)->requirements);
    amount most = 0, overhead = 0;
    for (uint32_t d = 0; d < o->daemon_count; d++)
        overhead = o->daemons[d].overhead[column] > overhead ? o->daemons[d].overhead[column] : overhead;
    for (BITS_EACH(type, set, t->words))
        for (uint32_t g = t->first_group[type]; g < t->first_group[type + 1]; g++) {
            amount has = world_vector(p->world, t->allocatable, g)[column] - overhead;
            most = has > most ? has : most;
        }
    return most;
}

/* A larger type, or, where there is none, a smaller request. */
static struct span fix_size(const struct group_question *q, uint32_t option, uint32_t column, amount most)
{
    struct plan *p = q->p;
    amount asked = classes_requests(&p->world->classes, q->class_id)[column];
    struct span pool = stop_pool(q, option), wants = words_amount(p, column, asked);
    if (asked == INT64_MAX)
        return SPAN("write a request that a machine can meet");
    if (stop_is_mistyped(p->world, column, asked))
        return SPAN("write the CPU request with m (thousandths of a CPU) if that is meant; M is a "
                    "million CPUs");
    bool volumes = column >= p->world->resource_count;
    if (most_there_is(q, option, column) >= asked)
        return volumes ? arena_printf(&p->arena, "let pool %.*s buy a type that attaches %lld or more",
                                      SPAN_ARG(pool), (long long)asked)
                       : arena_printf(&p->arena, "let pool %.*s buy a type with %.*s or more",
                                      SPAN_ARG(pool), SPAN_ARG(wants));
    if (most <= 0)
        return arena_printf(&p->arena,
                            "take it out of the request, or put a type with %.*s into the catalogue",
                            SPAN_ARG(wants));
    return arena_printf(&p->arena, "%s at most %.*s (no type of the catalogue %s %.*s%s)",
                        volumes ? "use" : "ask for", SPAN_ARG(words_amount(p, column, most)),
                        volumes ? "attaches" : "has", SPAN_ARG(words_number(p, column, asked)),
                        volumes ? "" : " for pods");
}

/* --- DaemonSets that eat a node --- */

/* The group without which some type that is left would hold the pod, and the column in which it does not;
 * NULL: it is not for DaemonSets. */
static const struct daemon_group *eaters(const struct group_question *q, uint32_t option,
                                         uint32_t *column_out)
{
    const struct world *w = q->p->world;
    const struct option *o = stop_option(q, option);
    const struct spec *spec = stop_spec(q, option);
    const amount *requests = classes_requests(&w->classes, q->class_id);
    amount *all = ARENA_ARRAY(&q->p->arena, amount, w->column_count);
    for (BITS_EACH(type, spec->types, w->types.words))
        for (uint32_t row = o->first_row[type]; row < o->first_row[type + 1]; row++) {
            const amount *room = world_vector(w, o->room, row);
            const struct daemon_group *g = &o->daemons[o->daemon_of[row]];
            if (g->member_count == 0 || room[0] < 0)
                continue;
            for (uint32_t c = 0; c < w->column_count; c++)
                all[c] = room[c] + g->overhead[c];
            *column_out = vector_lacks(w, requests, room);
            if (vector_fits(w, requests, all) && *column_out != w->column_count)
                return g;
        }
    return NULL;
}

/* The pod would fit, were it not for these: they come first in the fix. */
static void tell_eaters(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    uint32_t column;
    const struct daemon_group *g = eaters(q, option, &column);
    if (g == NULL)
        return;
    s->sentence = arena_printf(&p->arena, "%.*s; %.*s", SPAN_ARG(s->sentence),
                               SPAN_ARG(daemons_take(p, g, column)));
    s->fix = arena_printf(&p->arena, "let %.*s ask for less, or %.*s",
                          SPAN_ARG(daemons_heaviest(p, g, column)), SPAN_ARG(s->fix));
}

/* --- types that are too small --- */

static void too_large(const struct group_question *q, uint32_t option, uint32_t column, amount most,
                      struct stop *s)
{
    struct plan *p = q->p;
    amount asked = classes_requests(&p->world->classes, q->class_id)[column];
    struct span pool = stop_pool(q, option), wants = words_amount(p, column, asked);
    if (column >= p->world->resource_count)
        s->sentence = arena_printf(
            &p->arena, "attaches %.*s; no type that pool %.*s may buy attaches more than %lld",
            SPAN_ARG(wants), SPAN_ARG(pool), (long long)most);
    else if (most == 0)
        s->sentence = arena_printf(&p->arena, "asks for %.*s; no type that pool %.*s may buy has any",
                                   SPAN_ARG(wants), SPAN_ARG(pool));
    else
        s->sentence = arena_printf(
            &p->arena, "asks for %.*s; the largest type that pool %.*s may buy has %.*s for pods",
            SPAN_ARG(wants), SPAN_ARG(pool), SPAN_ARG(words_amount(p, column, most)));
    s->fix = fix_size(q, option, column, most);
}

static void too_much_at_once(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    const struct world *w = p->world;
    struct span pool = stop_pool(q, option);
    uint32_t left = bits_count(stop_spec(q, option)->types, w->types.words);
    struct span whose = left == 1 ? SPAN("the one type")
                                  : arena_printf(&p->arena, "any one of the %u types", left);
    s->sentence = arena_printf(&p->arena, "asks for more at once than %.*s left in pool %.*s has",
                               SPAN_ARG(whose), SPAN_ARG(pool));
    s->fix = sold_large(p, &stop_signature(q)->requirements, classes_requests(&w->classes, q->class_id))
                 ? arena_printf(&p->arena, "let pool %.*s buy a larger type", SPAN_ARG(pool))
                 : SPAN("ask for less of something (no type of the catalogue has all of it)");
}

void stop_resources(const struct group_question *q, uint32_t option, struct stop *s)
{
    const struct world *w = q->p->world;
    const amount *most = stop_spec(q, option)->most;
    int32_t c = short_column(w, classes_requests(&w->classes, q->class_id), most);
    if (c >= 0)
        too_large(q, option, (uint32_t)c, most[c] > 0 ? most[c] : 0, s);
    else
        too_much_at_once(q, option, s);
    tell_eaters(q, option, s);
}
