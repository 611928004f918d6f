/* Nodes and claims only fill up during a pass, so most refusals hold for ever: a row or claim that
 * refused an attempt so is skipped by one bit. Topology spread and affinity are different: what they
 * refuse now they may allow later, and they are asked again each time.
 *
 * A class that found no place is not tried again before some number that its groups look at has
 * changed, or a reservation has come free, or, when it waits for one, another claim was opened; upstream goes over its failures in rounds, and so do we.
 *
 * "Fewest pods first" is a queue of claims for each number of pods. A claim that gets a pod goes to the
 * front of the next queue, a new one to the end of the queue of one: the order that a stable sort by
 * number gives when it is applied over and over, as upstream does. */
#include "planner/search/greedy.h"

#include <stdlib.h>

#include "planner/search/measure.h"

enum { MOST_LOOKS = 1 << 20 }; /* at what stands, for those who found no place */
/* Steps of one pod: a few for each node of the largest clusters. Equal pods share what they learn. */
static const uint64_t SHARE = 1 << 18;
static const uint32_t GONE = UINT32_MAX; /* no enumerator: those are ints */

struct bitset { /* grows */
    uint64_t *words;
    uint32_t count;
};

struct bucket { /* claims with equally many pods, in the order in which they came */
    uint32_t *claims; /* GONE: it has moved on */
    uint32_t count, capacity, gone;
    uint32_t closed_up; /* how often those that were gone have been taken out */
};

struct passed { /* of a bucket: from..to-1 are gone or refuse for ever */
    uint32_t from, to;
    uint32_t closed_up; /* the bucket's then */
};

struct progress { /* of one attempt of one class */
    uint64_t *refused_rows; /* of greedy_new: those that refuse it on the ground, whoever moves */
    uint32_t first_word;    /* rows below are all refused */
    uint8_t *suits;         /* by profile: 0 unknown, 1 yes, 2 no */
    uint32_t run;           /* of which the rest is */
    uint64_t *refused_now;  /* of greedy_new: more rows, in this run; NULL: none */
    struct bitset refused;  /* claims */
    struct passed *passed; /* by number of pods */
    uint32_t passed_count;
};

struct verdict { /* of a class that found no place */
    uint8_t outcome; /* 0: none yet */
    uint32_t run;
    uint64_t version;
};

struct greedy {
    struct trial *t;
    const struct world *w;
    struct arena *arena; /* of what lasts longer than a run */
    bool lasting;        /* of greedy_new */
    uint32_t run;
    const struct plan_options *options;
    const uint32_t *queue;
    uint32_t count;
    const amount *least; /* elementwise, of all pods in the queue; NULL: not asked for yet */
    struct progress *progress; /* by attempt */
    struct verdict *verdicts;  /* by class; then again, of pods to which `closed` is closed */
    const uint64_t *closed;    /* rows that take no pod of a removed node; NULL: none */
    const uint64_t *closable;  /* the same, of runs that keep them off */
    uint64_t share_ends;       /* the pod's, of the trial's questions */
    struct bucket *buckets;    /* by number of pods */
    uint32_t bucket_count, bucket_capacity;
    uint64_t ***rows_in; /* by topology key; NULL: not asked for yet */
    uint64_t **allowed; /* scratch, by topology key: the domains that the attempt may go to now */
};

/* --- sets that grow --- */

static void bitset_add(struct arena *a, struct bitset *s, uint32_t i)
{
    if (i / 64 >= s->count) {
        uint32_t count = i / 64 * 2 + 2;
        uint64_t *more = ARENA_ARRAY(a, uint64_t, count);
        if (s->count != 0)
            memcpy(more, s->words, s->count * sizeof(*more));
        *s = (struct bitset){more, count};
    }
    bits_add(s->words, i);
}

static bool bitset_has(const struct bitset *s, uint32_t i)
{
    return i / 64 < s->count && bits_has(s->words, i);
}

/* --- claims by number of pods --- */

static void bucket_add(struct greedy *g, uint32_t claim, uint32_t pods)
{
    static const struct bucket empty;
    while (g->bucket_count <= pods)
        ARENA_PUSH(g->t->arena, g->buckets, g->bucket_count, g->bucket_capacity, empty);
    struct bucket *b = &g->buckets[pods];
    ARENA_PUSH(g->t->arena, b->claims, b->count, b->capacity, claim);
}

static void bucket_drop(struct bucket *b, uint32_t at)
{
    b->claims[at] = GONE;
    if (++b->gone * 2 <= b->count)
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->claims[i] != GONE)
            b->claims[n++] = b->claims[i];
    b->count = n;
    b->gone = 0;
    b->closed_up++;
}

/* A volume that is shared may be attached already. */
static amount *least_of(struct trial *t, const uint32_t *queue, uint32_t count)
{
    const struct world *w = t->world;
    amount *least = ARENA_ARRAY(t->arena, amount, w->column_count);
    for (uint32_t i = 0; i < count; i++) {
        const amount *requests = trial_requests_at_least(t, trial_pod(t, queue[i])->class_id);
        for (uint32_t c = 0; c < w->column_count; c++)
            if (i == 0 || requests[c] < least[c])
                least[c] = requests[c];
    }
    return least;
}

/* A claim with less room than any pod of the queue asks is full: it leaves the buckets. */
static bool is_full(struct greedy *g, uint32_t claim)
{
    if (g->least == NULL)
        g->least = least_of(g->t, g->queue, g->count);
    return !vector_fits(g->w, g->least, g->t->claims[claim].headroom);
}

/* --- the domains that are open now --- */

static void find_allowed(struct greedy *g, const struct pod_class *k, const struct attempt *try)
{
    for (uint32_t i = 0; try->wavers && i < try->key_count; i++)
        tally_domains(&g->t->tally, k, try, try->keys[i], g->allowed[try->keys[i]]);
}

/* Spares the full question for targets whose domain is known and closed. */
static bool domain_open(const struct greedy *g, const struct attempt *try, uint32_t at,
                        int32_t domain)
{
    return domain < 0 || bits_has(g->allowed[try->keys[at]], (uint32_t)domain);
}

/* The rows of each domain of a key, and last those that are in none. */
static uint64_t **rows_by_domain(struct greedy *g, uint32_t key)
{
    const struct topology_key *k = &g->w->topology.keys[key];
    uint64_t **sets = ARENA_ARRAY(g->arena, uint64_t *, (size_t)k->count + 1);
    for (uint32_t d = 0; d <= k->count; d++)
        sets[d] = ARENA_ARRAY(g->arena, uint64_t, bits_words(g->w->node_count));
    for (uint32_t row = 0; row < g->w->node_count; row++)
        bits_add(sets[k->of_row[row] >= 0 ? (uint32_t)k->of_row[row] : k->count], row);
    return sets;
}

static uint64_t rows_in_open(struct greedy *g, uint32_t key, uint32_t word)
{
    const struct topology_key *k = &g->w->topology.keys[key];
    if (g->rows_in[key] == NULL)
        g->rows_in[key] = rows_by_domain(g, key);
    uint64_t **sets = g->rows_in[key], in = sets[k->count][word];
    for (BITS_EACH(d, g->allowed[key], k->words))
        in |= sets[d][word];
    return in;
}

/* Of 64 rows, those in `left`, the ones that are in a domain that is open, or in none. */
static uint64_t rows_open(struct greedy *g, const struct attempt *try, uint32_t word, uint64_t left)
{
    enum { MOST_DOMAINS = 64 }; /* of a key with more a look at each row is less */
    for (uint32_t i = 0; i < try->key_count && left != 0; i++) {
        const struct topology_key *k = &g->w->topology.keys[try->keys[i]];
        if (k->count <= MOST_DOMAINS) {
            left &= rows_in_open(g, try->keys[i], word);
            continue;
        }
        trial_look(g->t, 16); /* of the cost of a look at a claim */
        for (uint64_t ask = left; ask != 0; ask &= ask - 1)
            if (!domain_open(g, try, i, k->of_row[word * 64 + (uint32_t)__builtin_ctzll(ask)]))
                left &= ~(ask & -ask);
    }
    return left;
}

static bool claim_open(struct greedy *g, const struct attempt *try, uint32_t claim)
{
    const int32_t *definite = specs_definite(&g->t->specs, g->t->claims[claim].spec);
    for (uint32_t i = 0; i < try->key_count; i++)
        if (!domain_open(g, try, i, definite[try->keys[i]]))
            return false;
    return true;
}

/* --- the three stages --- */

static bool is_over(struct greedy *g)
{
    return trial_stopped(g->t) || g->t->asked >= g->share_ends;
}

static bool row_suits(struct greedy *g, struct progress *p, const struct attempt *try,
                      uint32_t row)
{
    uint32_t profile = g->w->profile_of[row];
    if (p->suits[profile] == 0)
        p->suits[profile] = world_suits(g->w, try, profile, NULL) == FIT_YES ? 1 : 2;
    return p->suits[profile] == 1;
}

/* What it refuses as it stands it refuses in every run: pods only come to it, and go from others. But a domain's
 * numbers fall when its pods go elsewhere, and a shared volume may be there already when it is asked again. */
static bool refuses_for_ever(struct greedy *g, uint32_t row, uint32_t class_id, const struct attempt *try)
{
    const struct pod_class *k = &g->w->classes.items[class_id];
    return trial_is_untouched(g->t, row) && k->shared_count == 0 &&
           (!try->tied || !trial_row_holds(g->t, row, class_id, try) ||
            tally_host(&g->t->tally, k, try, row) == ANSWER_NEVER);
}

static void refuse(struct greedy *g, struct progress *p, uint32_t row, bool for_ever)
{
    if (g->lasting && !for_ever && p->refused_now == NULL)
        p->refused_now = ARENA_ARRAY(g->t->arena, uint64_t, bits_words(g->w->node_count));
    bits_add(g->lasting && !for_ever ? p->refused_now : p->refused_rows, row);
}

static enum answer ask_row(struct greedy *g, struct progress *p, const struct attempt *try,
                           uint32_t row, uint32_t class_id)
{
    enum answer a = trial_ask_row(g->t, row, class_id, try);
    bool suits = a != ANSWER_YES || row_suits(g, p, try, row);
    if (!suits || a == ANSWER_NEVER)
        refuse(g, p, row, !suits || (g->lasting && refuses_for_ever(g, row, class_id, try)));
    return suits ? a : ANSWER_NEVER;
}

static void prepare_rows(struct greedy *g, struct progress *p)
{
    uint32_t words = bits_words(g->w->node_count);
    p->refused_rows = ARENA_ARRAY(g->arena, uint64_t, words);
    p->suits = ARENA_ARRAY(g->arena, uint8_t, g->w->profile_count);
    for (uint32_t row = g->w->node_count; row < words * 64; row++)
        bits_add(p->refused_rows, row);
}

static bool on_node(struct greedy *g, struct progress *p, const struct attempt *try,
                    uint32_t pod, uint32_t class_id)
{
    uint32_t words = bits_words(g->w->node_count);
    if (p->refused_rows == NULL)
        prepare_rows(g, p);
    while (p->first_word < words && p->refused_rows[p->first_word] == UINT64_MAX)
        p->first_word++;
    const uint64_t *closed = trial_is_moved(g->t, pod) ? g->closed : NULL;
    for (uint32_t word = p->first_word; word < words && !is_over(g); word++) {
        uint64_t left = ~p->refused_rows[word];
        if (left != 0 && closed != NULL)
            left &= ~closed[word];
        if (left != 0 && p->refused_now != NULL)
            left &= ~p->refused_now[word];
        trial_look(g->t, 1);
        if (left != 0 && try->wavers)
            left = rows_open(g, try, word, left);
        for (; left != 0; left &= left - 1) {
            uint32_t row = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (ask_row(g, p, try, row, class_id) != ANSWER_YES)
                continue;
            trial_place_on_node(g->t, row, pod, class_id, try);
            return true;
        }
    }
    return false;
}

struct asking { /* one attempt for one pod */
    struct progress *progress;
    const struct attempt *try;
    uint32_t pod, class_id;
};

static enum answer ask_claim(struct greedy *g, const struct asking *q, uint32_t claim)
{
    if (bitset_has(&q->progress->refused, claim))
        return ANSWER_NEVER;
    if (q->try->wavers && !claim_open(g, q->try, claim))
        return ANSWER_NOT_NOW;
    enum answer a = trial_place_on_claim(g->t, claim, q->pod, q->class_id, q->try);
    if (a == ANSWER_NEVER)
        bitset_add(g->t->arena, &q->progress->refused, claim);
    return a;
}

static struct passed *passed_at(struct greedy *g, struct progress *p, uint32_t pods)
{
    if (pods >= p->passed_count) {
        uint32_t count = g->bucket_count > 2 * p->passed_count ? g->bucket_count : 2 * p->passed_count;
        struct passed *more = ARENA_ARRAY(g->t->arena, struct passed, count);
        if (p->passed_count != 0)
            memcpy(more, p->passed, p->passed_count * sizeof(*more));
        p->passed = more;
        p->passed_count = count;
    }
    struct passed *x = &p->passed[pods];
    if (x->closed_up != g->buckets[pods].closed_up)
        *x = (struct passed){.closed_up = g->buckets[pods].closed_up};
    return x;
}

/* YES: the pod is on the claim, which has moved on to another bucket. */
static enum answer ask_at(struct greedy *g, const struct asking *q, uint32_t pods, uint32_t at)
{
    uint32_t claim = g->buckets[pods].claims[at];
    trial_look(g->t, 1);
    enum answer a = claim == GONE ? ANSWER_NEVER : ask_claim(g, q, claim);
    if (a != ANSWER_YES)
        return a;
    bucket_drop(&g->buckets[pods], at);
    if (!is_full(g, claim))
        bucket_add(g, claim, pods + 1);
    return a;
}

/* Claims with one pod: the oldest first. */
static bool on_oldest(struct greedy *g, const struct asking *q)
{
    struct passed *x = passed_at(g, q->progress, 1);
    enum answer a = ANSWER_NEVER;
    for (uint32_t i = x->to; i < g->buckets[1].count && a != ANSWER_YES && !is_over(g); i++) {
        a = ask_at(g, q, 1, i);
        x->to += a == ANSWER_NEVER && x->to == i;
    }
    return a == ANSWER_YES;
}

/* Claims with so many: the newest first. */
static bool on_newest(struct greedy *g, const struct asking *q, uint32_t pods)
{
    struct passed *x = passed_at(g, q->progress, pods);
    uint32_t count = g->buckets[pods].count, from = count; /* passed: from..count-1 */
    enum answer a = ANSWER_NEVER;
    for (uint32_t i = count; i > 0 && a != ANSWER_YES && !is_over(g);) {
        if (i == x->to && x->from < x->to) {
            from = from == i ? x->from : from;
            i = x->from;
            continue;
        }
        a = ask_at(g, q, pods, --i);
        from -= a == ANSWER_NEVER && from == i + 1;
    }
    if (count - from >= x->to - x->from) {
        x->from = from;
        x->to = count;
    }
    return a == ANSWER_YES;
}

static bool on_claim(struct greedy *g, struct progress *p, const struct attempt *try,
                     uint32_t pod, uint32_t class_id)
{
    struct asking q = {p, try, pod, class_id};
    for (uint32_t pods = 1; pods < g->bucket_count; pods++)
        if (pods == 1 ? on_oldest(g, &q) : on_newest(g, &q, pods))
            return true;
    return false;
}

/* A pod that could use a reservation of one pool waits for it: no later pool is asked. */
static enum search_outcome on_new_claim(struct greedy *g, const struct attempt *try, uint32_t pod,
                                 uint32_t class_id)
{
    for (uint32_t i = 0; i < g->w->option_count && !is_over(g); i++)
        switch (trial_open(g->t, i, pod, class_id, try)) {
        case OPEN_YES:
            bucket_add(g, g->t->claim_count - 1, 1);
            return OUTCOME_PLACED;
        case OPEN_RESERVED:
            return OUTCOME_RESERVED;
        default:
            break;
        }
    return OUTCOME_NO_PLACE;
}

/* Who waits for a reservation may yet go to a claim that somebody else opens: it was not refused all that could be
 * bought, as those without a place were. */
static uint64_t version_of(const struct greedy *g, enum search_outcome verdict, const struct attempt *first,
                           uint32_t count)
{
    uint64_t sum = 1 + g->t->reserved_freed + (verdict == OUTCOME_RESERVED ? g->t->claim_count : 0);
    for (uint32_t i = 0; i < count; i++)
        if (first[i].wavers)
            sum += tally_version(&g->t->tally, &first[i]);
    return sum;
}

static struct progress *progress_of(struct greedy *g, uint32_t attempt)
{
    struct progress *p = &g->progress[attempt];
    if (p->run != g->run)
        *p = (struct progress){.refused_rows = p->refused_rows, .first_word = p->first_word, .suits = p->suits,
                               .run = g->run};
    return p;
}

/* Every attempt goes through all stages before the next, weaker one is made. */
static enum search_outcome place(struct greedy *g, uint32_t pod, uint32_t class_id)
{
    const struct pod_class *k = &g->w->classes.items[class_id];
    uint32_t first = g->options->ignore_preferences ? k->first_strict : k->first_attempt;
    uint32_t count = g->options->ignore_preferences ? k->strict_count : k->attempt_count;
    const struct attempt *attempts = &g->w->classes.attempts[first];
    bool kept_off = g->closed != NULL && trial_is_moved(g->t, pod);
    struct verdict *v = &g->verdicts[class_id + (kept_off ? g->w->classes.count : 0)];
    enum search_outcome out;
    if (v->run != g->run)
        *v = (struct verdict){.run = g->run};
    out = v->outcome;
    if (out != 0 && v->version == version_of(g, out, attempts, count))
        return out;
    out = OUTCOME_NO_PLACE;
    g->share_ends = g->t->asked + SHARE;
    for (uint32_t i = 0; i < count && out == OUTCOME_NO_PLACE && !is_over(g); i++) {
        const struct attempt *try = &attempts[i];
        struct progress *p = progress_of(g, first + i);
        if (try->soft && !g->w->soft_taints)
            continue;
        find_allowed(g, k, try);
        if (on_node(g, p, try, pod, class_id) || on_claim(g, p, try, pod, class_id))
            return OUTCOME_PLACED;
        out = on_new_claim(g, try, pod, class_id);
    }
    if (out != OUTCOME_PLACED && g->t->stopped)
        return OUTCOME_NOT_REACHED;
    if (out != OUTCOME_PLACED && is_over(g)) {
        g->t->cut_short = true;
        out = OUTCOME_LONG;
    }
    if (out != OUTCOME_PLACED)
        *v = (struct verdict){(uint8_t)out, g->run, version_of(g, out, attempts, count)};
    return out;
}

/* One round over those without a place yet, who come to stand first in the queue again. False when
 * stopped. */
static bool run_round(struct greedy *g, uint32_t *queue, uint32_t *count, uint8_t *outcome_out)
{
    uint32_t left = 0, n = *count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pod = queue[i];
        if (trial_stopped(g->t))
            return false;
        outcome_out[pod] = (uint8_t)place(g, pod, trial_pod(g->t, pod)->class_id);
        if (outcome_out[pod] != OUTCOME_PLACED)
            queue[left++] = pod;
    }
    *count = left;
    return true;
}

/* --- who found no place --- */

/* A new claim stands, too: it goes if others who were placed as it stood could not stay. */
static bool on_claim_beside(struct greedy *g, struct measure *m, const struct attempt *try,
                            uint32_t pod, uint32_t class_id)
{
    uint32_t mark = trial_mark(g->t);
    for (uint32_t i = 0; i < g->w->option_count && !is_over(g); i++) {
        if (trial_open(g->t, i, pod, class_id, try) != OPEN_YES)
            continue;
        if (measure_holds(m)) {
            bucket_add(g, g->t->claim_count - 1, 1);
            return true;
        }
        trial_undo(g->t, mark);
    }
    return false;
}

static bool place_as_it_stands(struct greedy *g, struct measure *m, uint32_t pod, uint32_t class_id)
{
    const struct pod_class *k = &g->w->classes.items[class_id];
    g->share_ends = g->t->asked + SHARE;
    for (uint32_t i = 0; i < k->strict_count && m->looks < MOST_LOOKS && !trial_stopped(g->t); i++) {
        const struct attempt *try = &g->w->classes.attempts[k->first_strict + i];
        struct progress *p = progress_of(g, k->first_strict + i);
        if ((try->soft && !g->w->soft_taints) || !measure_standing(m, try))
            continue;
        find_allowed(g, k, try);
        if (on_node(g, p, try, pod, class_id) || on_claim(g, p, try, pod, class_id) ||
            on_claim_beside(g, m, try, pod, class_id)) {
            measure_rely(m, try);
            return true;
        }
    }
    return false;
}

/* Rounds over those who found no place, who come to stand first in the queue again. */
static uint32_t place_standing(struct greedy *g, struct measure *m, uint32_t *queue, uint32_t count,
                               uint8_t *outcome_out)
{
    uint32_t before;
    uint64_t *versions = ARENA_ARRAY(g->t->arena, uint64_t, g->w->classes.count);
    do {
        before = count;
        count = 0;
        for (uint32_t i = 0; i < before; i++) {
            uint32_t class_id = trial_pod(g->t, queue[i])->class_id;
            const struct pod_class *k = &g->w->classes.items[class_id];
            uint64_t version = version_of(g, OUTCOME_NO_PLACE,
                                          &g->w->classes.attempts[k->first_strict], k->strict_count);
            bool known = g->closed == NULL && versions[class_id] == version;
            if (outcome_out[queue[i]] == OUTCOME_NO_PLACE && !known &&
                place_as_it_stands(g, m, queue[i], class_id)) {
                outcome_out[queue[i]] = OUTCOME_PLACED;
                continue;
            }
            versions[class_id] = version;
            queue[count++] = queue[i];
        }
    } while (count != 0 && count < before);
    return count;
}

/* Whether some claim has another label for it. */
static bool settle_labels(struct greedy *g, struct measure *m, const uint32_t *queue, uint32_t count)
{
    bool some = false;
    uint64_t *seen = ARENA_ARRAY(g->t->arena, uint64_t, bits_words(g->w->classes.count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t class_id = trial_pod(g->t, queue[i])->class_id;
        const struct pod_class *k = &g->w->classes.items[class_id];
        if (bits_has(seen, class_id))
            continue;
        bits_add(seen, class_id);
        for (uint32_t n = 0; n < k->strict_count && m->looks < MOST_LOOKS && !trial_stopped(g->t); n++)
            some |= measure_settle(m, &g->w->classes.attempts[k->first_strict + n]);
    }
    return some;
}

/* Spreads may be measured from what stands when it is known what will, which Karpenter does not do.
 * Refusals from before do not hold then. Labels that claims leave open come last: who finds no place while
 * a claim may be in any domain may find one when it is in a certain one. */
static void place_rest(struct greedy *g, uint32_t *queue, uint32_t count, uint8_t *outcome_out)
{
    struct measure m;
    measure_init(&m, g->t);
    g->progress = ARENA_ARRAY(g->t->arena, struct progress, g->w->classes.attempt_count);
    count = place_standing(g, &m, queue, count, outcome_out);
    uint32_t mark = trial_mark(g->t);
    if (settle_labels(g, &m, queue, count) &&
        place_standing(g, &m, queue, count, outcome_out) == count)
        trial_undo(g->t, mark);
    measure_end(&m);
    trial_look(g->t, m.looks);
}

static bool run(struct greedy *g, const uint32_t *queue, uint32_t count, uint8_t *outcome_out)
{
    struct trial *t = g->t;
    g->run++;
    g->queue = queue;
    g->count = count;
    g->least = NULL;
    g->buckets = NULL;
    g->bucket_count = g->bucket_capacity = 0;
    for (uint32_t i = 0; i < t->claim_count; i++)
        if (!is_full(g, i))
            bucket_add(g, i, t->claims[i].pods);
    uint32_t *left = ARENA_ARRAY(t->arena, uint32_t, count), before;
    if (count != 0)
        memcpy(left, queue, count * sizeof(*left));
    do {
        before = count;
        if (!run_round(g, left, &count, outcome_out))
            return false;
    } while (count != 0 && count < before);
    if (count != 0 && g->w->topology.group_count != 0 && !g->lasting && g->options->search == SEARCH_CHEAPEST)
        place_rest(g, left, count, outcome_out);
    return !t->stopped;
}

static struct greedy prepared(struct trial *t, const struct plan_options *o, const uint64_t *closed)
{
    const struct world *w = t->world;
    struct arena *a = t->arena;
    struct greedy g = {.t = t, .w = w, .arena = a, .options = o, .closed = closed, .closable = closed};
    g.progress = ARENA_ARRAY(a, struct progress, w->classes.attempt_count);
    g.verdicts = ARENA_ARRAY(a, struct verdict, (size_t)w->classes.count * 2);
    g.rows_in = ARENA_ARRAY(a, uint64_t **, w->topology.key_count);
    g.allowed = ARENA_ARRAY(a, uint64_t *, w->topology.key_count);
    for (uint32_t k = 1; k < w->topology.key_count; k++)
        g.allowed[k] = ARENA_ARRAY(a, uint64_t, w->topology.keys[k].words);
    return g;
}

bool greedy_run(struct trial *t, const struct plan_options *o, const uint64_t *closed,
                const uint32_t *queue, uint32_t count, uint8_t *outcome_out)
{
    struct greedy g = prepared(t, o, closed);
    return run(&g, queue, count, outcome_out);
}

struct greedy *greedy_new(struct trial *t, const struct plan_options *o, const uint64_t *closed)
{
    struct greedy *g = ARENA_NEW(t->arena, struct greedy);
    *g = prepared(t, o, closed);
    g->lasting = true;
    return g;
}

bool greedy_again(struct greedy *g, bool keeps_off, const uint32_t *queue, uint32_t count, uint8_t *outcome_out)
{
    g->closed = keeps_off ? g->closable : NULL;
    return run(g, queue, count, outcome_out);
}
