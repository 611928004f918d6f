/* The numbers are the trial's: those by which the search has refused the attempt. A group is asked by
 * itself, so that the sentence can name the one that leaves nothing. */
#include "planner/explain/groups.h"

#include <stdlib.h>

#include "planner/explain/meant.h"

enum { DOMAINS_TRIED = 64, WATER_STEPS = 1 << 20 };

/* --- where the option buys --- */

static bool holds_some(const struct group_question *q, uint32_t spec)
{
    const struct world *w = q->p->world;
    const struct spec *s = &q->t->specs.items[spec];
    const amount *requests = classes_requests(&w->classes, q->class_id);
    const amount *budget = world_vector(w, q->t->budgets, s->option);
    for (BITS_EACH(type, s->types, w->types.words))
        if (spec_type_holds(w, s, type, requests) &&
            vector_fits(w, world_vector(w, w->types.capacity, type), budget))
            return true;
    return false;
}

static void add_buys(const struct group_question *q, uint32_t spec, uint32_t key, uint64_t *out)
{
    const struct topology_key *k = &q->p->world->topology.keys[key];
    const uint64_t *may = specs_domains(&q->t->specs, spec, key);
    uint32_t tried = 0;
    for (BITS_EACH(d, may, k->words)) {
        int32_t to = tried++ < DOMAINS_TRIED ? specs_settle(&q->t->specs, spec, key, d)
                                             : (int32_t)spec;
        if (to >= 0 && holds_some(q, (uint32_t)to))
            bits_add(out, d);
    }
}

void groups_buys(const struct group_question *q, uint32_t option, uint32_t key, uint64_t *out)
{
    const struct attempt *try = q->try;
    int32_t spec = specs_narrow(&q->t->specs, option, try);
    memset(out, 0, q->p->world->topology.keys[key].words * sizeof(*out));
    if (spec >= 0 && try->where_count == 0)
        add_buys(q, (uint32_t)spec, key, out);
    for (uint32_t i = 0; spec >= 0 && i < try->where_count; i++) {
        int32_t to = specs_narrow_to(&q->t->specs, (uint32_t)spec, try->where[i]);
        if (to >= 0)
            add_buys(q, (uint32_t)to, key, out);
    }
}

/* Whether some type of the catalogue is sold there, and it is the pool that keeps out of it. */
static bool pool_shuns(const struct group_question *q, uint32_t option,
                       const struct topology_key *k, uint32_t domain)
{
    const struct world *w = q->p->world;
    const struct requirement *own = requirements_get(&w->options[option].requirements, k->key);
    if (own == NULL || requirement_has(own, k->domains[domain], w->syms))
        return false;
    for (uint32_t i = 0; i < w->types.kind_count; i++) {
        const struct requirement *r = requirements_get(w->types.kinds[i], k->key);
        if (r != NULL && requirement_has(r, k->domains[domain], w->syms))
            return true;
    }
    return false;
}

/* Domains that the group would take and the pool keeps out of, at most so many. False: none. */
static bool domains_to_add(const struct group_question *q, uint32_t option, uint32_t group,
                           const uint64_t *open, uint32_t most, uint64_t *out)
{
    const struct topology_key *k = question_key(q, group);
    uint32_t count = 0;
    for (BITS_EACH(d, open, k->words))
        if (count < most && pool_shuns(q, option, k, d)) {
            bits_add(out, d);
            count++;
        }
    return count != 0;
}

static struct span buy_in(const struct group_question *q, uint32_t option,
                          const struct topology_key *k, const uint64_t *domains)
{
    return arena_printf(&q->p->arena, "let pool %.*s buy in %.*s",
                        SPAN_ARG(option_name(&q->p->world->options[option])),
                        SPAN_ARG(words_domains(q->p, k, domains)));
}

/* --- spread --- */

static uint32_t least_of(const uint32_t *counts, const uint64_t *set, uint32_t words)
{
    uint32_t least = UINT32_MAX;
    for (BITS_EACH(d, set, words))
        least = counts[d] < least ? counts[d] : least;
    return least;
}

static uint32_t emptiest(const uint32_t *counts, const uint64_t *set, uint32_t words)
{
    uint32_t best = UINT32_MAX;
    for (BITS_EACH(d, set, words))
        if (best == UINT32_MAX || counts[d] < counts[best])
            best = d;
    return best;
}

/* The least maxSkew with which all pods that wait go into the domains of `may`, the emptiest first;
 * 0: cannot be told. */
static uint32_t skew_needed(const struct group_question *q, uint32_t group, const uint64_t *may,
                            const uint64_t *compared)
{
    const struct topology_group *x = question_group(q, group);
    const struct topology_key *k = question_key(q, group);
    const uint32_t *now = tally_counts(&q->t->tally, group);
    bool counted = tally_counts_class(question_class(q), group);
    uint32_t pods = counted ? q->pods : 1, highest = 0;
    if (!bits_meet(may, compared, k->words) || (uint64_t)pods * (k->count + 1) > WATER_STEPS)
        return 0;
    uint32_t *counts = ARENA_ARRAY(&q->p->arena, uint32_t, k->count);
    uint64_t *both = question_set(q, k);
    memcpy(counts, now, k->count * sizeof(*counts));
    for (uint32_t i = 0; i < k->words; i++)
        both[i] = may[i] & compared[i];
    for (uint32_t i = 0; i < pods; i++) {
        uint32_t d = emptiest(counts, both, k->words);
        counts[d] += counted;
        highest = counts[d] > highest ? counts[d] : highest;
    }
    uint32_t least = least_of(counts, compared, k->words);
    if ((int64_t)bits_count(compared, k->words) < x->min_domains)
        least = 0;
    return highest - least;
}

static struct span spread_fix(const struct group_question *q, uint32_t option, uint32_t group,
                              const uint64_t *may, const uint64_t *open)
{
    uint64_t *compared = question_set(q, question_key(q, group));
    tally_spread_domains(&q->t->tally, q->try, group, compared);
    uint32_t skew = skew_needed(q, group, may, compared);
    struct span key = words_key(q->p, question_group(q, group));
    uint64_t *add = question_set(q, question_key(q, group));
    /* several pods need every domain that lags behind */
    bool adds = domains_to_add(q, option, group, open, q->pods > 1 ? UINT32_MAX : 1, add);
    if (skew == 0 || skew <= (uint32_t)question_group(q, group)->max_skew)
        return arena_printf(&q->p->arena,
                            "make the spread over %.*s whenUnsatisfiable: ScheduleAnyway",
                            SPAN_ARG(key));
    struct span raise = arena_printf(&q->p->arena, "raise maxSkew over %.*s to %u", SPAN_ARG(key), skew);
    return !adds ? raise
                 : arena_printf(&q->p->arena, "%.*s, or %.*s", SPAN_ARG(raise),
                                SPAN_ARG(buy_in(q, option, question_key(q, group), add)));
}

/* --- one group against an option --- */

struct refusal {
    const struct group_question *q;
    uint32_t option, group;
    const uint64_t *buys, *open; /* of the key: by the option, by the group; NULL: hostname */
    struct span *sentence, *fix;
};

static struct span only_in(const struct refusal *r)
{
    const struct group_question *q = r->q;
    return arena_printf(&q->p->arena, "pool %.*s can buy room for it only in %.*s",
                        SPAN_ARG(option_name(&q->p->world->options[r->option])),
                        SPAN_ARG(words_domains(q->p, question_key(q, r->group), r->buys)));
}

static void refuse_no_label(const struct refusal *r)
{
    static const char *const names[] = {[TOPOLOGY_SPREAD] = "spread",
                                        [TOPOLOGY_AFFINITY] = "affinity",
                                        [TOPOLOGY_ANTI_AFFINITY] = "anti-affinity"};
    const struct group_question *q = r->q;
    const struct topology_group *x = question_group(q, r->group);
    struct span pool = option_name(&q->p->world->options[r->option]);
    struct span key = words_key(q->p, x);
    *r->sentence = arena_printf(&q->p->arena,
                                "needs label %.*s on its node, for %s, and pool %.*s does not set it%.*s",
                                SPAN_ARG(key), names[x->kind], SPAN_ARG(pool),
                                SPAN_ARG(meant_key(q->p, q->p->world->topology.keys[x->key].key)));
    *r->fix = arena_printf(&q->p->arena, "add %.*s to the labels or requirements of pool %.*s",
                           SPAN_ARG(key), SPAN_ARG(pool));
}

static void refuse_spread(const struct refusal *r)
{
    const struct group_question *q = r->q;
    *r->sentence = arena_printf(&q->p->arena, "would break %.*s; %.*s",
                                SPAN_ARG(group_words_name(q, r->group)), SPAN_ARG(only_in(r)));
    *r->fix = spread_fix(q, r->option, r->group, r->buys, r->open);
}

/* `soften`: what always helps. */
static void offer(const struct refusal *r, struct span soften)
{
    const struct group_question *q = r->q;
    uint64_t *add = r->open != NULL ? question_set(q, question_key(q, r->group)) : NULL;
    *r->fix = soften;
    if (add != NULL && domains_to_add(q, r->option, r->group, r->open, 1, add))
        *r->fix = arena_printf(&q->p->arena, "%.*s, or %.*s",
                               SPAN_ARG(buy_in(q, r->option, question_key(q, r->group), add)),
                               SPAN_ARG(soften));
}

static void refuse_affinity(const struct refusal *r)
{
    const struct group_question *q = r->q;
    const struct topology_group *x = question_group(q, r->group);
    struct span key = words_key(q->p, x), selector = group_words_selector(q, r->group);
    if (tally_total(&q->t->tally, r->group) == 0) {
        *r->sentence = arena_printf(&q->p->arena,
                                    "must be where a pod%.*s is (same %.*s), and no such pod has "
                                    "a place",
                                    SPAN_ARG(selector), SPAN_ARG(key));
        *r->fix = arena_printf(&q->p->arena,
                               "run a pod%.*s, or make the affinity a preferred one",
                               SPAN_ARG(selector));
        return;
    }
    if (x->key == 0)
        *r->sentence = arena_printf(&q->p->arena,
                                    "must be on the node of a pod%.*s; there %s %u, but not on a "
                                    "node with room for it",
                                    SPAN_ARG(selector),
                                    tally_total(&q->t->tally, r->group) == 1 ? "is" : "are",
                                    tally_total(&q->t->tally, r->group));
    else
        *r->sentence = arena_printf(&q->p->arena,
                                    "must be where a pod%.*s is (same %.*s: %.*s); %.*s",
                                    SPAN_ARG(selector), SPAN_ARG(key),
                                    SPAN_ARG(group_words_taken(q, r->group)), SPAN_ARG(only_in(r)));
    offer(r, SPAN("make the affinity a preferred one"));
}

static void refuse_volume(const struct refusal *r)
{
    const struct group_question *q = r->q;
    struct span name = group_words_volume(q, r->group), taken = group_words_taken(q, r->group);
    bool nowhere = span_eq(taken, SPAN("none")); /* and yet somebody is there */
    *r->sentence = arena_printf(&q->p->arena,
                                "shares volume claim %.*s, which is not bound yet, with pods %s%.*s; %.*s",
                                SPAN_ARG(name), nowhere ? "on a node without a zone" : "in ",
                                SPAN_ARG(nowhere ? SPAN("") : taken), SPAN_ARG(only_in(r)));
    offer(r, SPAN("give it a volume claim of its own"));
}

static void refuse_anti(const struct refusal *r)
{
    const struct group_question *q = r->q;
    const struct topology_group *x = question_group(q, r->group);
    struct span key = words_key(q->p, x);
    if (x->inverse) {
        struct span who = group_words_keeper(q, r->group);
        *r->sentence = arena_printf(&q->p->arena,
                                    "is kept away by %.*s, whose anti-affinity wants no such pod "
                                    "in the same %.*s (%.*s); %.*s",
                                    SPAN_ARG(who), SPAN_ARG(key), SPAN_ARG(group_words_taken(q, r->group)),
                                    SPAN_ARG(only_in(r)));
        offer(r, arena_printf(&q->p->arena, "make the anti-affinity of %.*s a preferred one",
                              SPAN_ARG(who)));
        return;
    }
    *r->sentence = arena_printf(&q->p->arena,
                                "keeps away from pods%.*s (same %.*s: %.*s); %.*s",
                                SPAN_ARG(group_words_selector(q, r->group)), SPAN_ARG(key),
                                SPAN_ARG(group_words_taken(q, r->group)), SPAN_ARG(only_in(r)));
    offer(r, SPAN("make the anti-affinity a preferred one"));
}

/* True when the group by itself leaves nothing, and is told. */
static bool refuses_alone(struct refusal *r)
{
    const struct group_question *q = r->q;
    const struct topology_group *x = question_group(q, r->group);
    if (x->key == 0) {
        bool first = tally_is_first(&q->t->tally, question_class(q), r->group);
        if (x->kind != TOPOLOGY_AFFINITY || first)
            return false; /* a new node has no pods to mind */
        refuse_affinity(r);
        return true;
    }
    const struct topology_key *k = question_key(q, r->group);
    uint64_t *buys = question_set(q, k), *open = question_set(q, k);
    groups_buys(q, r->option, x->key, buys);
    tally_group_domains(&q->t->tally, question_class(q), q->try, r->group, open);
    r->buys = buys;
    r->open = open;
    bool labelled = bits_count(buys, k->words) != 0;
    if (bits_meet(buys, open, k->words) || (!labelled && (x->optional || x->inverse)))
        return false;
    if (!labelled)
        refuse_no_label(r);
    else if (x->kind == TOPOLOGY_SPREAD)
        refuse_spread(r);
    else if (q->p->world->topology.watches[x->watch].volume != 0)
        refuse_volume(r);
    else if (x->kind == TOPOLOGY_AFFINITY)
        refuse_affinity(r);
    else
        refuse_anti(r);
    return true;
}

struct told_group {
    const struct group_question *q;
    uint32_t group;
    struct span key, selector;
};

static int told_order(const void *a, const void *b)
{
    const struct told_group *x = a, *y = b;
    const struct topology_group *g = question_group(x->q, x->group), *h = question_group(y->q, y->group);
    if (g->kind != h->kind)
        return g->kind < h->kind ? -1 : 1;
    if (g->inverse != h->inverse)
        return h->inverse ? -1 : 1;
    int order = span_cmp(x->key, y->key);
    if (order == 0)
        order = span_cmp(x->selector, y->selector);
    if (order == 0 && x->group != y->group)
        order = span_cmp(group_words_name(x->q, x->group), group_words_name(y->q, y->group));
    return order;
}

const uint32_t *groups_in_order(const struct group_question *q, uint32_t *count_out)
{
    const struct topology_ties *ties = &question_class(q)->ties;
    uint32_t count = q->try->group_count + ties->kept_off_by_count;
    uint32_t *list = ARENA_ARRAY(&q->p->arena, uint32_t, count);
    struct told_group *told = ARENA_ARRAY(&q->p->arena, struct told_group, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t g = i < q->try->group_count ? q->try->groups[i]
                                             : ties->kept_off_by[i - q->try->group_count];
        told[i] = (struct told_group){q, g, words_key(q->p, question_group(q, g)),
                                      group_words_selector(q, g)};
    }
    if (count != 0)
        qsort(told, count, sizeof(*told), told_order);
    for (uint32_t i = 0; i < count; i++)
        list[i] = told[i].group;
    *count_out = count;
    return list;
}

/* Each leaves something, all of them nothing. */
static void refuse_together(const struct group_question *q, uint32_t option, const uint32_t *groups,
                            uint32_t count, struct span *sentence_out, struct span *fix_out)
{
    struct buf b = {0};
    buf_addf(&b, "finds no node of pool %.*s that all of these allow: ",
             SPAN_ARG(option_name(&q->p->world->options[option])));
    for (uint32_t i = 0; i < count && i < WORDS_LISTED; i++)
        buf_addf(&b, "%s%.*s", i != 0 ? "; " : "", SPAN_ARG(group_words_name(q, groups[i])));
    if (count > WORDS_LISTED)
        buf_addf(&b, "; and %u more", count - WORDS_LISTED);
    *sentence_out = words_take(q->p, &b);
    *fix_out = SPAN("make one of them a preferred one");
}

uint32_t groups_refuse_option(const struct group_question *q, uint32_t option,
                              struct span *sentence_out, struct span *fix_out)
{
    uint32_t count;
    const uint32_t *groups = groups_in_order(q, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct refusal r = {.q = q, .option = option, .group = groups[i],
                            .sentence = sentence_out, .fix = fix_out};
        if (refuses_alone(&r))
            return groups[i];
    }
    refuse_together(q, option, groups, count, sentence_out, fix_out);
    return GROUPS_TOGETHER;
}

bool groups_nowhere(const struct group_question *q, uint32_t option, uint32_t group,
                    struct span *sentence_out, struct span *fix_out)
{
    struct refusal r = {.q = q, .option = option, .group = group,
                        .sentence = sentence_out, .fix = fix_out};
    if (question_group(q, group)->kind != TOPOLOGY_AFFINITY || tally_total(&q->t->tally, group) != 0 ||
        tally_is_first(&q->t->tally, question_class(q), group))
        return false;
    refuse_affinity(&r);
    return true;
}
