/* What is taken as put right is laid over the trial while the next rule is asked, and taken off again. */
#include "planner/explain/chain.h"

/* --- taints and labels --- */

static bool is_well_known(const struct world *w, sym key)
{
    for (uint32_t i = 0; i < w->rules.well_known.count; i++)
        if (w->rules.well_known.items[i] == key)
            return true;
    return false;
}

static enum chain_apart apart_of(const struct world *w, sym key)
{
    return key == SYM_NODEPOOL ? CHAIN_NOT_THIS : is_well_known(w, key) ? CHAIN_WANTED : CHAIN_UNLIKE;
}

static uint32_t count_labels(const struct group_question *q, uint32_t option)
{
    const struct world *w = q->p->world;
    const struct signature *g = &w->classes.signatures[q->try->signature];
    uint32_t count = world_untolerated(w, g, q->try->soft, w->options[option].taints) != NULL;
    if (g->impossible)
        return count + 1;
    for (uint32_t i = 0; i < g->requirements.count; i++)
        count += stop_clashes(q, option, &g->requirements.items[i]);
    return count;
}

/* What the option cannot meet, by the names of the keys: their numbers go by the order of the input. */
static const struct requirement **clashes(const struct group_question *q, uint32_t option,
                                          uint32_t *count_out)
{
    const struct world *w = q->p->world;
    struct requirements all = w->classes.signatures[q->try->signature].requirements;
    const struct requirement **list = ARENA_ARRAY(&q->p->arena, const struct requirement *, all.count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        if (!stop_clashes(q, option, &all.items[i]))
            continue;
        uint32_t at = n++;
        struct span key = sym_text(w->syms, all.items[i].key);
        for (; at > 0 && span_cmp(key, sym_text(w->syms, list[at - 1]->key)) < 0; at--)
            list[at] = list[at - 1];
        list[at] = &all.items[i];
    }
    *count_out = n;
    return list;
}

static void add_labels(const struct group_question *q, uint32_t option, struct chain *c)
{
    const struct world *w = q->p->world;
    const struct signature *g = &w->classes.signatures[q->try->signature];
    uint32_t count;
    if (world_untolerated(w, g, q->try->soft, w->options[option].taints) != NULL)
        stop_taints(q, option, &c->stops[c->count++]);
    if (g->impossible) {
        stop_requirement(q, option, NULL, &c->stops[c->count++]);
        return;
    }
    const struct requirement **asked = clashes(q, option, &count);
    for (uint32_t i = 0; i < count; i++) {
        enum chain_apart apart = apart_of(w, asked[i]->key);
        c->apart = apart > c->apart ? apart : c->apart;
        c->whole = c->whole && c->count < CHAIN_MOST;
        if (c->count < CHAIN_MOST)
            stop_requirement(q, option, asked[i], &c->stops[c->count++]);
    }
}

static enum opening ask(const struct group_question *q, uint32_t option)
{
    uint32_t mark = trial_mark(q->t);
    enum opening rule = trial_open(q->t, option, 0, q->class_id, q->try);
    trial_undo(q->t, mark);
    return rule;
}

void chain_begin(const struct group_question *q, uint32_t option, struct chain *out)
{
    const struct world *w = q->p->world;
    const struct pod_class *k = &w->classes.items[q->class_id];
    struct group_question about = *q;
    enum opening furthest = OPEN_YES;
    *out = (struct chain){.whole = true};
    for (uint32_t i = 0; i < k->attempt_count; i++) {
        about.try = &w->classes.attempts[k->first_attempt + i];
        if (about.try->soft && !w->soft_taints)
            continue;
        uint32_t labels = count_labels(&about, option);
        enum opening rule = labels == 0 ? ask(&about, option) : OPEN_YES;
        if (out->try != NULL && (labels > out->labels || (labels == out->labels && rule < furthest)))
            continue;
        furthest = rule;
        out->labels = labels;
        out->try = about.try;
    }
    about.try = out->try;
    if (out->labels != 0)
        add_labels(&about, option, out);
    else if (furthest != OPEN_YES)
        stop_opening(&about, option, furthest,
                     &w->classes.signatures[out->try->signature].requirements,
                     &out->stops[out->count++]);
    out->labels = out->labels != 0 ? out->count : 0;
}

/* --- the rest --- */

struct supposing { /* what is laid over the trial */
    struct group_question q; /* with `try` */
    struct attempt try;      /* without the groups that were told */
    uint32_t option;
    struct requirements asked; /* less what was told */
    int32_t narrowed;          /* what the option really becomes by the attempt */
    amount *budget, nodes_left;
};

static amount *budget_of(const struct supposing *x)
{
    return x->q.t->budgets + (size_t)x->option * x->q.p->world->column_count;
}

static void narrow(struct supposing *x)
{
    struct specs *specs = &x->q.t->specs;
    const struct world *w = x->q.p->world;
    struct host_ports ports = w->classes.signatures[x->try.signature].ports;
    specs_suppose(specs, x->option, &x->try, specs_narrow_by(specs, x->option, &x->asked, ports));
}

static void drop_asked(struct supposing *x, const struct requirement *told)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->asked.count; i++)
        if (x->asked.items[i].key != told->key)
            x->asked.items[n++] = x->asked.items[i];
    x->asked.count = n;
}

static void suppose(struct supposing *x, const struct group_question *q, uint32_t option,
                    const struct chain *c)
{
    const struct world *w = q->p->world;
    const struct requirements *all = &w->classes.signatures[c->try->signature].requirements;
    *x = (struct supposing){.q = *q, .try = *c->try, .option = option, .asked.count = all->count,
                            .nodes_left = q->t->nodes_left[option]};
    x->q.try = &x->try;
    x->narrowed = specs_narrow(&q->t->specs, option, &x->try);
    x->budget = ARENA_ARRAY(&q->p->arena, amount, w->column_count);
    memcpy(x->budget, budget_of(x), w->column_count * sizeof(*x->budget));
    x->asked.items = ARENA_ARRAY(&q->p->arena, struct requirement, all->count);
    if (all->count != 0)
        memcpy(x->asked.items, all->items, all->count * sizeof(*all->items));
    for (uint32_t i = 0; i < c->labels; i++)
        if (c->stops[i].asked != NULL)
            drop_asked(x, c->stops[i].asked);
    if (c->labels != 0)
        narrow(x);
}

static void suppose_no_more(struct supposing *x)
{
    struct trial *t = x->q.t;
    specs_suppose(&t->specs, x->option, &x->try, x->narrowed);
    t->nodes_left[x->option] = x->nodes_left;
    memcpy(budget_of(x), x->budget, x->q.p->world->column_count * sizeof(*x->budget));
}

static bool drop_group(struct supposing *x, uint32_t group)
{
    uint32_t *rest = ARENA_ARRAY(&x->q.p->arena, uint32_t, x->try.group_count), n = 0;
    for (uint32_t i = 0; i < x->try.group_count; i++)
        if (x->try.groups[i] != group)
            rest[n++] = x->try.groups[i];
    bool dropped = n < x->try.group_count;
    x->try.groups = rest;
    x->try.group_count = n;
    return dropped;
}

/* Takes the rule as put right; false: what comes after it cannot be asked. */
static bool put_right(struct supposing *x, const struct stop *s)
{
    struct trial *t = x->q.t;
    switch (s->rule) {
    case OPEN_TYPES:
        if (s->asked == NULL)
            return false;
        drop_asked(x, s->asked);
        narrow(x);
        return true;
    case OPEN_LIMITS:
        budget_of(x)[s->column] = INT64_MAX;
        return true;
    case OPEN_NODES:
        t->nodes_left[x->option] = INT64_MAX;
        return true;
    case OPEN_VOLUMES:
        x->try.where_count = 0;
        return true;
    case OPEN_TOPOLOGY:
        return drop_group(x, s->group);
    default:
        return false;
    }
}

static bool was_dropped(const struct supposing *x, sym key)
{
    const struct world *w = x->q.p->world;
    const struct requirements *all = &w->classes.signatures[x->try.signature].requirements;
    return requirements_get(all, key) != NULL && requirements_get(&x->asked, key) == NULL;
}

/* What groups say of domains that a pod asks for in vain is not what they will say of others; and a pod
 * that keeps away from its like is kept away by them, until all of them do not. */
static bool is_hollow(const struct supposing *x, const struct stop *s)
{
    const struct world *w = x->q.p->world;
    const struct topology_ties *ties = &w->classes.items[x->q.class_id].ties;
    struct stop nowhere;
    if (s->rule != OPEN_TOPOLOGY)
        return false;
    if (s->group == GROUPS_TOGETHER)
        return x->asked.count < w->classes.signatures[x->try.signature].requirements.count;
    for (uint32_t i = 0; i < ties->keeps_off_count; i++)
        if (ties->keeps_off[i] == s->group)
            return true;
    return was_dropped(x, w->topology.keys[w->topology.groups[s->group].key].key) &&
           !stop_nowhere(&x->q, x->option, s->group, &nowhere);
}

/* What a larger type would not help either. */
static void add_certain(struct supposing *x, struct chain *c)
{
    struct stop s;
    if (c->count < CHAIN_MOST && x->q.t->nodes_left[x->option] <= 0)
        stop_opening(&x->q, x->option, OPEN_NODES, &x->asked, &c->stops[c->count++]);
    for (uint32_t column = 0; c->count < CHAIN_MOST && stop_spent(&x->q, x->option, column, &s);
         column = s.column + 1)
        c->stops[c->count++] = s;
    for (uint32_t i = 0; i < x->try.group_count && c->count < CHAIN_MOST; i++)
        if (stop_nowhere(&x->q, x->option, x->try.groups[i], &s))
            c->stops[c->count++] = s;
}

void chain_finish(const struct group_question *q, uint32_t option, struct chain *c)
{
    struct supposing x;
    const struct world *w = q->p->world;
    c->finished = true;
    if (w->classes.signatures[c->try->signature].impossible || !c->whole)
        return;
    suppose(&x, q, option, c);
    c->whole = false;
    for (c->count = c->labels; c->count < CHAIN_MOST;) {
        enum opening rule = ask(&x.q, option);
        c->whole = rule == OPEN_YES;
        if (c->whole)
            break;
        struct stop s;
        stop_opening(&x.q, option, rule, &x.asked, &s);
        if (c->count == 0 || !is_hollow(&x, &s))
            c->stops[c->count++] = s;
        if (rule == OPEN_RESOURCES)
            add_certain(&x, c);
        if (!put_right(&x, &s))
            break;
    }
    suppose_no_more(&x);
}

/* --- which is nearest --- */

/* How much it takes to put all rules right; less is nearer. A pool that wants to be asked has what the pod
 * needs; one that would have to sell something else has not. A limit is a number that somebody has chosen: to
 * raise it is less than to change what the pod says of others, which often fails for the limit alone. */
static uint32_t effort(const struct chain *c)
{
    static const enum opening from_far[] = {
        OPEN_REQUIREMENT, OPEN_TYPES,  OPEN_RESOURCES, OPEN_TAINT,      OPEN_VOLUMES, OPEN_TOPOLOGY,
        OPEN_LIMITS,      OPEN_NODES, OPEN_MIN_VALUES, OPEN_FULL, OPEN_RESERVED};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = 0; k < COUNT_OF(from_far); k++)
            if (from_far[k] == c->stops[i].rule)
                sum += (uint32_t)COUNT_OF(from_far) - k;
    return sum;
}

bool chain_nearer(const struct chain *x, const struct chain *y)
{
    if (x->count == 0 || y->count == 0) /* nothing to tell of it */
        return x->count > y->count;
    if (x->apart != y->apart)
        return x->apart < y->apart;
    if (x->count != y->count)
        return x->count < y->count;
    return effort(x) < effort(y);
}

/* --- words --- */

struct span chain_sentence(struct plan *p, const struct chain *c)
{
    struct buf b = {0};
    if (c->count == 1)
        return c->stops[0].sentence;
    for (uint32_t i = 0; i < c->count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? "" : "; it also ", SPAN_ARG(c->stops[i].sentence));
    return c->count != 0 ? words_take(p, &b) : (struct span){0};
}

struct span chain_fix(const struct group_question *q, uint32_t option, const struct chain *c)
{
    struct group_question about = *q;
    struct buf b = {0};
    about.try = c->try;
    for (uint32_t i = 0; i < c->count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? "" : "; and ",
                 SPAN_ARG(stop_fix(&about, option, &c->stops[i])));
    return c->count != 0 ? words_take(q->p, &b) : (struct span){0};
}
