/* Why a class of pods has no place: for each pool the first rule that stops it, then the nodes. The
 * message is of the pool that came nearest, which is the one stopped by the latest rule. */
#include "planner/plan/solution.h"

#include "planner/explain/nodes.h"
#include "planner/explain/volumes.h"

struct stop { /* what one pool says to the weakest attempt that got furthest in it */
    enum opening rule;
    const struct attempt *try;
    struct span sentence, fix;
};

void solution_amount(struct buf *out, const struct world *w, uint32_t column, amount value)
{
    struct span name = sym_text(w->syms, w->columns[column]);
    if (w->columns[column] == SYM_CPU) { /* "255.9", not "255900m" */
        buf_addf(out, "%.15g %s", (double)value / 1000, value == 1000 ? "CPU" : "CPUs");
        return;
    }
    if (column >= w->resource_count) {
        buf_addf(out, "%lld volume%s of %.*s", (long long)value, value == 1 ? "" : "s",
                 SPAN_ARG(name));
        return;
    }
    quantity_put(out, name, value);
    if (w->columns[column] == SYM_PODS)
        buf_addf(out, value == 1 ? " pod" : " pods");
    else
        buf_addf(out, " %s%.*s", w->columns[column] == SYM_MEMORY ? "of " : "", SPAN_ARG(name));
}

/* --- one pool --- */

static void stop_taint(struct plan *p, const struct option *o, struct stop *s)
{
    const struct signature *g = &p->world->classes.signatures[s->try->signature];
    struct span taint = words_taint(p, world_untolerated(g, s->try->soft, o->taints));
    s->sentence = arena_printf(&p->arena, "does not tolerate taint %.*s of pool %.*s",
                               SPAN_ARG(taint), SPAN_ARG(option_name(o)));
    s->fix = arena_printf(&p->arena, "tolerate %.*s, or take the taint from the pool",
                          SPAN_ARG(taint));
}

/* The split of its owner is what the pool does not go along with. */
static void stop_split(struct plan *p, const struct option *o, const struct pod_class *k,
                       const struct requirement *has, struct stop *s)
{
    const char *side = k->side == SPLIT_SPOT ? "spot" : "on-demand";
    struct span split = split_text(&p->arena, &p->world->split.owners[k->split_owner]);
    struct span pool = option_name(o);
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

static void stop_requirement(struct plan *p, const struct option *o, const struct pod_class *k,
                             struct stop *s)
{
    const struct world *w = p->world;
    const struct signature *g = &w->classes.signatures[s->try->signature];
    sym key = SYM_NONE;
    bool undefined = false;
    if (g->impossible) {
        s->sentence = SPAN("asks for a label that would have to be two things at once");
        s->fix = SPAN("take one of its node selectors or affinity terms away");
        return;
    }
    requirements_compatible(&o->requirements, &g->requirements, w->rules.well_known, w->syms, &key,
                            &undefined);
    struct span pool = option_name(o), text = sym_text(p->syms, key);
    const struct requirement *asked = requirements_get(&g->requirements, key);
    struct span wants = asked != NULL ? words_requirement(p, asked) : text;
    const struct requirement *has = requirements_get(&o->requirements, key);
    if (key == SYM_CAPACITY_TYPE && k->side != SPLIT_NONE && has != NULL) {
        stop_split(p, o, k, has, s);
        return;
    }
    if (undefined || has == NULL) {
        s->sentence = arena_printf(&p->arena, "asks for %.*s, a label that pool %.*s does not set",
                                   SPAN_ARG(wants), SPAN_ARG(pool));
        s->fix = arena_printf(&p->arena, "add %.*s to the labels or requirements of pool %.*s",
                              SPAN_ARG(text), SPAN_ARG(pool));
        return;
    }
    s->sentence = arena_printf(&p->arena, "asks for %.*s; pool %.*s has %.*s", SPAN_ARG(wants),
                               SPAN_ARG(pool), SPAN_ARG(words_requirement(p, has)));
    s->fix = arena_printf(&p->arena, "let pool %.*s allow %.*s, or ask for what it has",
                          SPAN_ARG(pool), SPAN_ARG(wants));
}

/* The first requirement that no type meets by itself; NULL: they fail together. */
static const struct requirement *hopeless(struct plan *p, const struct option *o,
                                          const struct signature *g)
{
    const struct types *t = &p->world->types;
    uint64_t *set = ARENA_ARRAY(&p->arena, uint64_t, t->words);
    uint64_t *kinds = ARENA_ARRAY(&p->arena, uint64_t, t->kind_words);
    for (uint32_t i = 0; i < g->requirements.count; i++) {
        const struct requirement *r = &g->requirements.items[i];
        struct requirements alone = {0};
        requirements_add_all(&p->arena, &alone, &o->requirements, p->world->syms);
        requirements_add(&p->arena, &alone, r, p->world->syms);
        memcpy(set, o->types, t->words * sizeof(*set));
        types_cut(t, set, requirements_get(&alone, r->key), p->world->syms);
        types_kinds(t, kinds, &alone, p->world->syms);
        types_cut_kinds(t, set, kinds);
        if (bits_count(set, t->words) == 0)
            return r;
    }
    return NULL;
}

static void stop_types(struct plan *p, const struct option *o, const struct pod_class *k,
                       struct stop *s)
{
    const struct signature *g = &p->world->classes.signatures[s->try->signature];
    struct span pool = option_name(o);
    if (bits_count(o->types, p->world->types.words) == 0) {
        s->sentence = arena_printf(&p->arena,
                                   "finds no type in pool %.*s: the pool's own requirements and "
                                   "DaemonSets leave none",
                                   SPAN_ARG(pool));
        s->fix = arena_printf(&p->arena, "loosen the requirements of pool %.*s", SPAN_ARG(pool));
        return;
    }
    const struct requirement *r = hopeless(p, o, g);
    if (r != NULL && r->key == SYM_CAPACITY_TYPE && k->side != SPLIT_NONE) {
        stop_split(p, o, k, NULL, s);
        return;
    }
    if (r != NULL)
        s->sentence = arena_printf(&p->arena, "asks for %.*s, which no type of pool %.*s has",
                                   SPAN_ARG(words_requirement(p, r)), SPAN_ARG(pool));
    else
        s->sentence = arena_printf(&p->arena, "asks for %s together that no type of pool %.*s has",
                                   g->requirements.count != 0 ? "labels" : "host ports",
                                   SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "ask for what a type of pool %.*s has, or let it buy others",
                          SPAN_ARG(pool));
}

/* The column in which even the most that some type has is too little; -1: none by itself. */
static int32_t short_column(const struct world *w, const amount *requests, const amount *most)
{
    for (uint32_t c = 0; c < w->column_count; c++)
        if (requests[c] > most[c])
            return (int32_t)c;
    return -1;
}

static void stop_resources(struct plan *p, const struct option *o, struct trial *t,
                           uint32_t class_id, struct stop *s)
{
    const struct world *w = p->world;
    const amount *requests = classes_requests(&w->classes, class_id);
    int32_t to = specs_narrow(&t->specs, (uint32_t)(o - w->options), s->try);
    const struct spec *spec = &t->specs.items[to < 0 ? (int32_t)(o - w->options) : to];
    int32_t c = short_column(w, requests, spec->most);
    struct span pool = option_name(o);
    if (c < 0) {
        s->sentence = arena_printf(&p->arena,
                                   "asks for more at once than any one of the %u types left in "
                                   "pool %.*s has",
                                   bits_count(spec->types, w->types.words), SPAN_ARG(pool));
        s->fix = arena_printf(&p->arena, "let pool %.*s buy a larger type", SPAN_ARG(pool));
        return;
    }
    struct span wants = words_amount(p, (uint32_t)c, requests[c]);
    amount most = spec->most[c] > 0 ? spec->most[c] : 0;
    if ((uint32_t)c >= w->resource_count) {
        s->sentence = arena_printf(&p->arena,
                                   "attaches %.*s; no type that pool %.*s may buy attaches more "
                                   "than %lld",
                                   SPAN_ARG(wants), SPAN_ARG(pool), (long long)most);
        s->fix = arena_printf(&p->arena, "let pool %.*s buy a type that attaches %lld or more",
                              SPAN_ARG(pool), (long long)requests[c]);
        return;
    }
    if (most == 0)
        s->sentence = arena_printf(&p->arena, "asks for %.*s; no type that pool %.*s may buy has any",
                                   SPAN_ARG(wants), SPAN_ARG(pool));
    else
        s->sentence = arena_printf(
            &p->arena, "asks for %.*s; the largest type that pool %.*s may buy has %.*s for pods",
            SPAN_ARG(wants), SPAN_ARG(pool), SPAN_ARG(words_amount(p, (uint32_t)c, most)));
    s->fix = arena_printf(&p->arena, "let pool %.*s buy a type with %.*s or more", SPAN_ARG(pool),
                          SPAN_ARG(wants));
    enum { A_MILLION = 1000000000 }; /* CPUs, in thousandths */
    if (w->columns[c] == SYM_CPU && requests[c] >= A_MILLION)
        s->fix = SPAN("write the CPU request with m (thousandths of a CPU) if that is meant; M is a "
                      "million CPUs");
}

static void stop_limits(struct plan *p, const struct option *o, struct trial *t,
                        uint32_t class_id, struct stop *s)
{
    const struct world *w = p->world;
    uint32_t index = (uint32_t)(o - w->options);
    const amount *budget = world_vector(w, t->budgets, index);
    const amount *requests = classes_requests(&w->classes, class_id);
    struct span pool = option_name(o);
    if (s->rule == OPEN_NODES) {
        s->sentence = arena_printf(&p->arena, "finds pool %.*s at its limit of nodes",
                                   SPAN_ARG(pool));
        s->fix = arena_printf(&p->arena, "raise spec.limits.nodes of pool %.*s", SPAN_ARG(pool));
        return;
    }
    uint32_t column = 0;
    for (uint32_t c = 0; c < w->column_count; c++) /* the tightest against what the pod asks */
        if (budget[c] != INT64_MAX &&
            (budget[column] == INT64_MAX ||
             budget[c] - requests[c] < budget[column] - requests[column]))
            column = c;
    amount left = budget[column] > 0 ? budget[column] : 0;
    s->sentence = arena_printf(&p->arena,
                               "finds only %.*s left within the limits of pool %.*s, and every "
                               "type that would hold it has more",
                               SPAN_ARG(words_amount(p, column, left)), SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "raise spec.limits.%.*s of pool %.*s",
                          SPAN_ARG(sym_text(p->syms, w->columns[column])), SPAN_ARG(pool));
}

/* Types and limits would do. The volumes are asked first: where they are is not for others to choose. */
static void stop_placed(const struct group_question *q, const struct option *o, struct stop *s)
{
    uint32_t option = (uint32_t)(o - q->p->world->options);
    if (!volumes_near_option(q->p, q->t, q->class_id, q->try, option, &s->sentence, &s->fix))
        s->rule = OPEN_VOLUMES;
    else
        groups_refuse_option(q, option, &s->sentence, &s->fix);
}

static void stop_values(struct plan *p, const struct option *o, struct trial *t, struct stop *s)
{
    int32_t to = specs_narrow(&t->specs, (uint32_t)(o - p->world->options), s->try);
    const struct spec *spec = &t->specs.items[to < 0 ? o - p->world->options : to];
    struct span pool = option_name(o), key = {0};
    uint32_t want = 0, found = 0;
    for (uint32_t i = 0; i < o->least_count && found == want; i++) {
        key = sym_text(p->syms, o->least[i].key);
        want = o->least[i].count;
        found = trial_values(t, spec, spec->types, o->least[i].key, want);
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

static void stop_reserved(struct plan *p, const struct option *o, struct stop *s)
{
    struct span pool = option_name(o);
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

static struct stop stop_of(const struct group_question *q, uint32_t option)
{
    struct group_question about = *q;
    struct plan *p = q->p;
    struct trial *t = q->t;
    uint32_t class_id = q->class_id;
    const struct world *w = p->world;
    const struct option *o = &w->options[option];
    const struct pod_class *k = &w->classes.items[class_id];
    struct stop s = {.rule = OPEN_YES};
    uint32_t mark = trial_mark(t);
    for (uint32_t i = 0; i < k->attempt_count; i++) {
        const struct attempt *try = &w->classes.attempts[k->first_attempt + i];
        if (try->soft && !w->soft_taints)
            continue;
        enum opening rule = trial_open(t, option, 0, class_id, try);
        trial_undo(t, mark);
        if (rule >= s.rule || s.try == NULL) { /* of equals the weakest: what must hold at all */
            s.rule = rule;
            s.try = try;
        }
    }
    switch (s.rule) {
    case OPEN_YES:
        break;
    case OPEN_TAINT:
        stop_taint(p, o, &s);
        break;
    case OPEN_REQUIREMENT:
        stop_requirement(p, o, k, &s);
        break;
    case OPEN_TYPES:
        stop_types(p, o, k, &s);
        break;
    case OPEN_RESOURCES:
        stop_resources(p, o, t, class_id, &s);
        break;
    case OPEN_LIMITS:
    case OPEN_NODES:
        stop_limits(p, o, t, class_id, &s);
        break;
    case OPEN_VOLUMES:
    case OPEN_TOPOLOGY:
        about.try = s.try;
        stop_placed(&about, o, &s);
        break;
    case OPEN_MIN_VALUES:
        stop_values(p, o, t, &s);
        break;
    case OPEN_FULL:
    case OPEN_RESERVED:
        stop_reserved(p, o, &s);
        break;
    }
    return s;
}

struct span solution_refusal(struct plan *p, struct trial *t, uint32_t class_id, uint32_t option)
{
    struct group_question q = {.p = p, .t = t, .class_id = class_id, .pods = 1};
    return stop_of(&q, option).sentence;
}

struct span solution_split(struct plan *p, uint32_t class_id)
{
    const struct pod_class *k = &p->world->classes.items[class_id];
    if (k->side == SPLIT_NONE)
        return (struct span){NULL, 0};
    struct span why = split_text(&p->arena, &p->world->split.owners[k->split_owner]);
    return arena_printf(&p->arena, "split: it is to be on %s; %.*s",
                        k->side == SPLIT_SPOT ? "spot" : "on-demand", SPAN_ARG(why));
}

void solution_explain(struct plan *p, struct trial *t, uint32_t class_id, uint32_t pods,
                      enum outcome outcome, struct plan_unschedulable *out)
{
    const struct world *w = p->world;
    const struct pod_class *k = &w->classes.items[class_id];
    struct group_question q = {p, t, class_id, pods,
                               &w->classes.attempts[k->first_attempt + k->attempt_count - 1]};
    struct span *details = ARENA_ARRAY(&p->arena, struct span, (size_t)w->option_count + 2);
    struct stop nearest = {.rule = OPEN_YES};
    for (uint32_t i = 0; i < w->option_count; i++) {
        struct stop s = stop_of(&q, i);
        details[i] = arena_printf(&p->arena, "pool %.*s: it %.*s",
                                  SPAN_ARG(option_name(&w->options[i])), SPAN_ARG(s.sentence));
        if (s.rule > nearest.rule)
            nearest = s;
    }
    details[w->option_count] = nodes_refuse(&q, w->node_count);
    out->reason = outcome == OUTCOME_RESERVED ? UNSCHEDULABLE_RESERVED : UNSCHEDULABLE;
    out->message = arena_printf(&p->arena, "%.*s. Fix: %.*s", SPAN_ARG(nearest.sentence),
                                SPAN_ARG(nearest.fix));
    out->details = details;
    out->detail_count = w->option_count + 1;
    if (k->side != SPLIT_NONE)
        details[out->detail_count++] = solution_split(p, class_id);
}
