#include "planner/explain/stop.h"

#include "planner/explain/pools.h"
#include "planner/explain/volumes.h"

static const struct signature *signature_of(const struct group_question *q)
{
    return &q->p->world->classes.signatures[q->try->signature];
}

static const struct option *option_at(const struct group_question *q, uint32_t option)
{
    return &q->p->world->options[option];
}

static struct span pool_name(const struct group_question *q, uint32_t option)
{
    return option_name(option_at(q, option));
}

/* --- taints and labels --- */

/* "gpu=yes:NoSchedule and x:NoExecute": what is not tolerated; returns how many. */
static uint32_t untolerated(const struct group_question *q, uint32_t option, struct span *names_out)
{
    struct taints taints = option_at(q, option)->taints;
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < taints.count; i++) {
        struct taints one = {&taints.items[i], 1};
        if (world_untolerated(q->p->world, signature_of(q), q->try->soft, one) != NULL)
            buf_addf(&b, "%s%.*s", count++ != 0 ? " and " : "",
                     SPAN_ARG(words_taint(q->p, &taints.items[i])));
    }
    *names_out = words_take(q->p, &b);
    return count;
}

void stop_taints(const struct group_question *q, uint32_t option, struct stop *out)
{
    struct span names;
    uint32_t count = untolerated(q, option, &names);
    *out = (struct stop){.rule = OPEN_TAINT};
    out->sentence = arena_printf(&q->p->arena, "does not tolerate taint%s %.*s of pool %.*s",
                                 count == 1 ? "" : "s", SPAN_ARG(names),
                                 SPAN_ARG(pool_name(q, option)));
}

/* The split of its owner is what the pool does not go along with. */
static void stop_split(const struct group_question *q, uint32_t option,
                       const struct requirement *has, struct stop *s)
{
    struct plan *p = q->p;
    const struct pod_class *k = &p->world->classes.items[q->class_id];
    const char *side = k->side == SPLIT_SPOT ? "spot" : "on-demand";
    struct span split = split_text(&p->arena, &p->world->split.owners[k->split_owner]);
    struct span pool = pool_name(q, option);
    s->sentence = has != NULL
                      ? arena_printf(&p->arena, "is to be on %s: %.*s; pool %.*s has %.*s", side,
                                     SPAN_ARG(split), SPAN_ARG(pool),
                                     SPAN_ARG(words_requirement(p, has)))
                      : arena_printf(&p->arena,
                                     "is to be on %s: %.*s; no type of pool %.*s can be had there",
                                     side, SPAN_ARG(split), SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "let pool %.*s buy %s, or change the annotations",
                          SPAN_ARG(pool), side);
}

static bool is_split(const struct group_question *q, const struct requirement *r)
{
    return r->key == SYM_CAPACITY_TYPE &&
           q->p->world->classes.items[q->class_id].side != SPLIT_NONE;
}

/* The one pool that is asked for by name, when it is there and buys nothing; else NULL. */
static const struct node_pool *closed_pool(const struct plan *p, const struct requirement *asked)
{
    const struct world *w = p->world;
    const struct node_pool *found = NULL;
    if (asked->key != SYM_NODEPOOL || asked->complement || asked->count != 1)
        return NULL;
    struct span name = sym_text(p->syms, asked->values[0]);
    for (uint32_t i = 0; i < w->pool_count; i++)
        if (span_eq(w->pools[i]->meta.name, name))
            found = w->pools[i];
    for (uint32_t i = 0; i < w->option_count; i++)
        if (w->options[i].pool == found)
            return NULL;
    return found;
}

bool stop_clashes(const struct group_question *q, uint32_t option, const struct requirement *asked)
{
    const struct world *w = q->p->world;
    struct requirement copy = *asked;
    struct requirements one = {&copy, 1};
    return !requirements_compatible(&option_at(q, option)->requirements, &one, w->rules.well_known,
                                    w->syms, NULL, NULL);
}

void stop_requirement(const struct group_question *q, uint32_t option, const struct requirement *asked,
                      struct stop *out)
{
    struct plan *p = q->p;
    struct span pool = pool_name(q, option);
    *out = (struct stop){.rule = OPEN_REQUIREMENT, .asked = asked};
    if (asked == NULL) {
        bool empty = signature_of(q)->empty_term;
        out->sentence = empty ? SPAN("has an empty node affinity term, which no node meets")
                              : SPAN("asks for a label that would have to be two things at once");
        out->fix = empty ? SPAN("say in the term what is wanted, or take the node affinity away")
                         : SPAN("take one of its node selectors or affinity terms away");
        return;
    }
    const struct requirement *has = requirements_get(&option_at(q, option)->requirements, asked->key);
    struct span wants = words_requirement(p, asked);
    if (has == NULL) {
        out->sentence = arena_printf(&p->arena, "asks for %.*s, a label that pool %.*s does not set%.*s",
                                     SPAN_ARG(wants), SPAN_ARG(pool),
                                     SPAN_ARG(words_meant(p, asked->key)));
        return;
    }
    if (is_split(q, asked)) {
        stop_split(q, option, has, out);
        return;
    }
    const struct node_pool *closed = closed_pool(p, asked);
    if (closed != NULL)
        out->sentence = arena_printf(&p->arena, "asks for pool %.*s, which %.*s",
                                     SPAN_ARG(closed->meta.name),
                                     SPAN_ARG(pool_obstacle(&p->arena, closed)));
    else
        out->sentence = arena_printf(&p->arena, "asks for %.*s; pool %.*s has %.*s", SPAN_ARG(wants),
                                     SPAN_ARG(pool), SPAN_ARG(words_requirement(p, has)));
}

/* --- types --- */

/* Whether anything could be bought if the pool asked for this, and not for what it has in its place. */
static bool is_sold(const struct group_question *q, const struct option *o,
                    const struct requirement *asked)
{
    const struct world *w = q->p->world;
    const struct types *t = &w->types;
    struct requirements all = {0};
    uint64_t *set = ARENA_ARRAY(&q->p->arena, uint64_t, t->words);
    uint64_t *kinds = ARENA_ARRAY(&q->p->arena, uint64_t, t->kind_words);
    for (uint32_t i = 0; i < o->requirements.count; i++)
        if (o->requirements.items[i].key != asked->key)
            requirements_add(&q->p->arena, &all, &o->requirements.items[i], w->syms);
    requirements_add(&q->p->arena, &all, asked, w->syms);
    for (uint32_t i = 0; i < t->count; i++)
        bits_add(set, i);
    for (uint32_t i = 0; i < all.count; i++)
        types_cut(t, set, &all.items[i], w->syms);
    types_kinds(t, kinds, &all, w->syms);
    types_cut_kinds(t, set, kinds);
    return bits_count(set, t->words) != 0;
}

static struct span fix_requirement(const struct group_question *q, uint32_t option,
                                   const struct requirement *asked)
{
    struct plan *p = q->p;
    const struct option *o = option_at(q, option);
    struct span pool = option_name(o);
    if (requirements_get(&o->requirements, asked->key) == NULL)
        return arena_printf(&p->arena, "add %.*s to the labels or requirements of pool %.*s",
                            SPAN_ARG(sym_text(p->syms, asked->key)), SPAN_ARG(pool));
    if (asked->key == SYM_NODEPOOL) /* a pool does not change its name */
        return arena_printf(&p->arena, "ask for pool %.*s, or leave the pool open", SPAN_ARG(pool));
    if (!is_sold(q, o, asked))
        return arena_printf(&p->arena, "ask for what pool %.*s has", SPAN_ARG(pool));
    return arena_printf(&p->arena, "let pool %.*s allow %.*s, or ask for what it has", SPAN_ARG(pool),
                        SPAN_ARG(words_requirement(p, asked)));
}

struct span stop_fix(const struct group_question *q, uint32_t option, const struct stop *s)
{
    if (s->fix.len != 0)
        return s->fix;
    if (s->rule == OPEN_REQUIREMENT)
        return fix_requirement(q, option, s->asked);
    struct span names;
    uint32_t count = untolerated(q, option, &names);
    return arena_printf(&q->p->arena, "tolerate %.*s, or take the taint%s from the pool",
                        SPAN_ARG(names), count == 1 ? "" : "s");
}

/* The first requirement, by the names of the keys, that no type meets by itself; NULL: they fail together. */
static const struct requirement *hopeless(const struct group_question *q, const struct option *o,
                                          const struct requirements *asked)
{
    struct plan *p = q->p;
    const struct types *t = &p->world->types;
    uint64_t *set = ARENA_ARRAY(&p->arena, uint64_t, t->words);
    uint64_t *kinds = ARENA_ARRAY(&p->arena, uint64_t, t->kind_words);
    const struct requirement *first = NULL;
    for (uint32_t i = 0; i < asked->count; i++) {
        const struct requirement *r = &asked->items[i];
        struct requirements alone = {0};
        if (first != NULL &&
            span_cmp(sym_text(p->syms, first->key), sym_text(p->syms, r->key)) < 0)
            continue;
        requirements_add_all(&p->arena, &alone, &o->requirements, p->world->syms);
        requirements_add(&p->arena, &alone, r, p->world->syms);
        memcpy(set, o->types, t->words * sizeof(*set));
        types_cut(t, set, requirements_get(&alone, r->key), p->world->syms);
        types_kinds(t, kinds, &alone, p->world->syms);
        types_cut_kinds(t, set, kinds);
        if (bits_count(set, t->words) == 0)
            first = r;
    }
    return first;
}

static void stop_types(const struct group_question *q, uint32_t option,
                       const struct requirements *asked, struct stop *s)
{
    struct plan *p = q->p;
    const struct option *o = option_at(q, option);
    struct span pool = option_name(o);
    if (bits_count(o->types, p->world->types.words) == 0) {
        s->sentence = arena_printf(&p->arena,
                                   "finds no type in pool %.*s: the pool's own requirements and "
                                   "DaemonSets leave none",
                                   SPAN_ARG(pool));
        s->fix = arena_printf(&p->arena, "loosen the requirements of pool %.*s", SPAN_ARG(pool));
        return;
    }
    s->asked = hopeless(q, o, asked);
    if (s->asked != NULL && is_split(q, s->asked)) {
        stop_split(q, option, NULL, s);
        return;
    }
    if (s->asked != NULL)
        s->sentence = arena_printf(&p->arena, "asks for %.*s, which no type of pool %.*s has",
                                   SPAN_ARG(words_requirement(p, s->asked)), SPAN_ARG(pool));
    else
        s->sentence = arena_printf(&p->arena, "asks for %s together that no type of pool %.*s has",
                                   asked->count != 0 ? "labels" : "host ports", SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "ask for what a type of pool %.*s has, or let it buy others",
                          SPAN_ARG(pool));
}

/* --- resources and limits --- */

/* A million CPUs, in thousandths: no request, but an M where m was meant. */
static bool is_mistyped(const struct world *w, uint32_t column, amount asked)
{
    enum { A_MILLION = 1000000000 };
    return w->columns[column] == SYM_CPU && asked >= A_MILLION;
}

/* What is left of the option for the attempt. */
static const struct spec *spec_of(const struct group_question *q, uint32_t option)
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

static void too_many_volumes(const struct group_question *q, uint32_t option, struct span wants,
                             amount count, amount most, struct stop *s)
{
    struct plan *p = q->p;
    struct span pool = pool_name(q, option);
    s->sentence = arena_printf(&p->arena,
                               "attaches %.*s; no type that pool %.*s may buy attaches more than %lld",
                               SPAN_ARG(wants), SPAN_ARG(pool), (long long)most);
    s->fix = arena_printf(&p->arena, "let pool %.*s buy a type that attaches %lld or more",
                          SPAN_ARG(pool), (long long)count);
}

static void too_large(const struct group_question *q, uint32_t option, uint32_t column, amount most,
                      struct stop *s)
{
    struct plan *p = q->p;
    amount asked = classes_requests(&p->world->classes, q->class_id)[column];
    struct span pool = pool_name(q, option), wants = words_amount(p, column, asked);
    if (column >= p->world->resource_count) {
        too_many_volumes(q, option, wants, asked, most, s);
        return;
    }
    if (most == 0)
        s->sentence = arena_printf(&p->arena, "asks for %.*s; no type that pool %.*s may buy has any",
                                   SPAN_ARG(wants), SPAN_ARG(pool));
    else
        s->sentence = arena_printf(
            &p->arena, "asks for %.*s; the largest type that pool %.*s may buy has %.*s for pods",
            SPAN_ARG(wants), SPAN_ARG(pool), SPAN_ARG(words_amount(p, column, most)));
    s->fix = arena_printf(&p->arena, "let pool %.*s buy a type with %.*s or more", SPAN_ARG(pool),
                          SPAN_ARG(wants));
    if (asked == INT64_MAX)
        s->fix = SPAN("write a request that a machine can meet");
    else if (is_mistyped(p->world, column, asked))
        s->fix = SPAN("write the CPU request with m (thousandths of a CPU) if that is meant; M is a "
                      "million CPUs");
}

static void stop_resources(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    const struct world *w = p->world;
    const struct spec *spec = spec_of(q, option);
    int32_t c = short_column(w, classes_requests(&w->classes, q->class_id), spec->most);
    struct span pool = pool_name(q, option);
    if (c >= 0) {
        too_large(q, option, (uint32_t)c, spec->most[c] > 0 ? spec->most[c] : 0, s);
        return;
    }
    uint32_t left = bits_count(spec->types, w->types.words);
    struct span whose = left == 1 ? SPAN("the one type")
                                  : arena_printf(&p->arena, "any one of the %u types", left);
    s->sentence = arena_printf(&p->arena, "asks for more at once than %.*s left in pool %.*s has",
                               SPAN_ARG(whose), SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "let pool %.*s buy a larger type", SPAN_ARG(pool));
}

static void stop_nodes(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    struct span pool = pool_name(q, option);
    s->sentence = arena_printf(&p->arena, "finds pool %.*s at its limit of nodes", SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "raise spec.limits.nodes of pool %.*s", SPAN_ARG(pool));
}

/* Whether the limit of this column leaves no type that holds the pod, whatever the others say. */
static bool limit_binds(const struct group_question *q, uint32_t option, uint32_t column)
{
    const struct world *w = q->p->world;
    const struct spec *s = spec_of(q, option);
    const amount *requests = classes_requests(&w->classes, q->class_id);
    amount left = world_vector(w, q->t->budgets, option)[column];
    if (left == INT64_MAX)
        return false;
    for (BITS_EACH(type, s->types, w->types.words))
        if (spec_type_holds(w, s, type, requests) &&
            world_vector(w, w->types.capacity, type)[column] <= left)
            return false;
    return true;
}

static void tell_limit(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    amount left = world_vector(p->world, q->t->budgets, option)[s->column];
    struct span pool = pool_name(q, option);
    s->sentence = arena_printf(&p->arena,
                               "finds only %.*s left within the limits of pool %.*s, and every "
                               "type that would hold it has more",
                               SPAN_ARG(words_amount(p, s->column, left > 0 ? left : 0)),
                               SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "raise spec.limits.%.*s of pool %.*s",
                          SPAN_ARG(sym_text(p->syms, p->world->columns[s->column])),
                          SPAN_ARG(pool));
}

static void stop_limits(const struct group_question *q, uint32_t option, struct stop *s)
{
    const struct world *w = q->p->world;
    const amount *budget = world_vector(w, q->t->budgets, option);
    uint32_t column = 0;
    while (column < w->column_count && !limit_binds(q, option, column))
        column++;
    if (column == w->column_count) /* they do together: any that there is */
        for (column = 0; column + 1 < w->column_count && budget[column] == INT64_MAX;)
            column++;
    s->column = column;
    tell_limit(q, option, s);
}

bool stop_spent(const struct group_question *q, uint32_t option, uint32_t column, struct stop *out)
{
    const struct world *w = q->p->world;
    const amount *budget = world_vector(w, q->t->budgets, option);
    const amount *requests = classes_requests(&w->classes, q->class_id);
    while (column < w->column_count &&
           (requests[column] <= budget[column] || is_mistyped(w, column, requests[column])))
        column++;
    if (column == w->column_count)
        return false;
    *out = (struct stop){.rule = OPEN_LIMITS, .column = column};
    tell_limit(q, option, out);
    return true;
}

/* --- places --- */

/* Types and limits would do. The volumes are asked first: where they are is not for others to choose. */
static void stop_placed(const struct group_question *q, uint32_t option, struct stop *s)
{
    s->rule = OPEN_VOLUMES;
    if (!volumes_near_option(q->p, q->t, q->class_id, q->try, option, &s->sentence, &s->fix))
        return;
    s->rule = OPEN_TOPOLOGY;
    s->group = groups_refuse_option(q, option, &s->sentence, &s->fix);
}

bool stop_nowhere(const struct group_question *q, uint32_t option, uint32_t group, struct stop *out)
{
    *out = (struct stop){.rule = OPEN_TOPOLOGY, .group = group};
    return groups_nowhere(q, option, group, &out->sentence, &out->fix);
}

static void stop_values(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    const struct option *o = option_at(q, option);
    const struct spec *spec = spec_of(q, option);
    struct span pool = option_name(o), key = {0};
    uint32_t want = 0, found = 0;
    for (uint32_t i = 0; i < o->least_count && found == want; i++) {
        key = sym_text(p->syms, o->least[i].key);
        want = o->least[i].count;
        found = trial_values(q->t, spec, spec->types, o->least[i].key, want);
    }
    s->sentence = arena_printf(&p->arena,
                               "leaves too few types in pool %.*s for its minValues: "
                               "minValues requirement is not met for label(s) (label(s)=[%.*s]), "
                               "%u of %u different values are left",
                               SPAN_ARG(pool), SPAN_ARG(key), found, want);
    s->fix = arena_printf(&p->arena, "lower minValues of %.*s in pool %.*s, or plan with "
                                     "--min-values-policy BestEffort",
                          SPAN_ARG(key), SPAN_ARG(pool));
}

static void stop_reserved(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    struct span pool = pool_name(q, option);
    if (s->rule == OPEN_FULL)
        s->sentence = arena_printf(&p->arena, "finds only reservations in pool %.*s, and all are full",
                                   SPAN_ARG(pool));
    else
        s->sentence = arena_printf(&p->arena,
                                   "could use a reservation of pool %.*s, and all are taken",
                                   SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "wait for one, or ask for karpenter.sh/capacity-type on-demand or "
                                     "spot, which pool %.*s has to offer",
                          SPAN_ARG(pool));
}

void stop_opening(const struct group_question *q, uint32_t option, enum opening rule,
                  const struct requirements *asked, struct stop *out)
{
    *out = (struct stop){.rule = rule};
    switch (rule) {
    case OPEN_YES:
    case OPEN_TAINT:
    case OPEN_REQUIREMENT:
        break;
    case OPEN_TYPES:
        stop_types(q, option, asked, out);
        break;
    case OPEN_RESOURCES:
        stop_resources(q, option, out);
        break;
    case OPEN_LIMITS:
        stop_limits(q, option, out);
        break;
    case OPEN_NODES:
        stop_nodes(q, option, out);
        break;
    case OPEN_VOLUMES:
    case OPEN_TOPOLOGY:
        stop_placed(q, option, out);
        break;
    case OPEN_MIN_VALUES:
        stop_values(q, option, out);
        break;
    case OPEN_FULL:
    case OPEN_RESERVED:
        stop_reserved(q, option, out);
        break;
    }
}
