#include "planner/packing/deal.h"

#include <math.h>

enum {
    MOST_DOMAINS = 64, /* of a key that is dealt over: of more, no domain has enough pods to be packed by itself */
    MOST_KEYS = 4,     /* by which one pod is dealt */
};

/* --- which spreads there are --- */

static const struct attempt *strict_of(const struct world *w, uint32_t class_id)
{
    return &w->classes.attempts[w->classes.items[class_id].first_strict];
}

static bool is_dealt(const struct world *w, uint32_t group)
{
    const struct topology_group *g = &w->topology.groups[group];
    return g->kind == TOPOLOGY_SPREAD && g->key != 0 && w->topology.keys[g->key].count <= MOST_DOMAINS;
}

void deal_init(struct deal *d, struct arena *a, const struct trial *t, const uint32_t *pods,
               uint32_t count)
{
    const struct world *w = t->world;
    *d = (struct deal){.arena = a};
    if (w->topology.group_count == 0)
        return;
    uint64_t *seen = ARENA_ARRAY(a, uint64_t, bits_words(w->classes.count));
    uint64_t *known = ARENA_ARRAY(a, uint64_t, bits_words(w->topology.group_count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t class_id = trial_pod(t, pods[i])->class_id;
        if (bits_has(seen, class_id))
            continue;
        bits_add(seen, class_id);
        const struct attempt *try = strict_of(w, class_id);
        for (uint32_t g = 0; g < try->group_count; g++) {
            if (bits_has(known, try->groups[g]) || !is_dealt(w, try->groups[g]))
                continue;
            bits_add(known, try->groups[g]);
            ARENA_PUSH(a, d->groups, d->group_count, d->group_capacity,
                       ((struct dealt_group){.group = try->groups[g], .try = try}));
        }
    }
}

/* --- what a cell costs --- */

struct offer_spec { /* what a class can be put on in a cell */
    int32_t spec;   /* one of them; -1: nothing */
    double price;   /* of a pod's share of a machine, at the least */
};

struct dealt_class {
    bool known;
    uint32_t keys[MOST_KEYS], key_count;
};

struct dealing {
    struct deal *d;
    struct trial *t;
    const struct world *w;
    struct dealt_class *classes;
    struct intern asked; /* class and cell */
    struct offer_spec *answers;
    uint32_t answer_count, answer_capacity;
    uint64_t **open; /* scratch, by topology key */
    int32_t *cell;   /* scratch */
};

/* What a machine of the type costs of which the pod takes its part alone. */
static double share_price(const struct world *w, const struct option *o, uint32_t type, double price,
                          const amount *requests)
{
    const amount *room = world_vector(w, o->room, o->first_row[type]);
    double share = 0;
    for (uint32_t c = 0; c < w->column_count; c++)
        if (requests[c] > 0)
            share = fmax(share, room[c] >= requests[c] ? (double)requests[c] / (double)room[c]
                                                       : (double)INFINITY);
    return share > 0 ? price * share : price;
}

static void look_at_spec(struct dealing *x, uint32_t class_id, uint32_t spec, struct offer_spec *best)
{
    const struct world *w = x->w;
    const struct spec *s = &x->t->specs.items[spec];
    const amount *requests = classes_requests(&w->classes, class_id);
    if (!vector_fits(w, requests, s->most))
        return;
    const double *prices = specs_prices(&x->t->specs, spec);
    trial_look(x->t, w->types.count);
    for (BITS_EACH(type, s->types, w->types.words)) {
        double price = share_price(w, &w->options[s->option], type, prices[type], requests);
        if (price < best->price)
            *best = (struct offer_spec){(int32_t)spec, price};
    }
}

static struct offer_spec work_out(struct dealing *x, uint32_t class_id, const int32_t *cell)
{
    const struct world *w = x->w;
    const struct pod_class *k = &w->classes.items[class_id];
    struct offer_spec best = {-1, INFINITY};
    for (uint32_t o = 0; o < w->option_count; o++)
        for (uint32_t i = 0; i < k->strict_count; i++) {
            const struct attempt *try = &w->classes.attempts[k->first_strict + i];
            int32_t to = specs_narrow(&x->t->specs, o, try);
            x->t->asked++;
            if (to >= 0 && try->where_count == 0) {
                to = specs_settle_in(&x->t->specs, to, cell);
                if (to >= 0)
                    look_at_spec(x, class_id, (uint32_t)to, &best);
            }
            for (uint32_t v = 0; to >= 0 && v < try->where_count; v++) {
                int32_t there = specs_narrow_to(&x->t->specs, (uint32_t)to, try->where[v]);
                there = specs_settle_in(&x->t->specs, there, cell);
                if (there >= 0)
                    look_at_spec(x, class_id, (uint32_t)there, &best);
            }
        }
    return best;
}

static void cell_words(struct words *out, const struct world *w, const int32_t *cell)
{
    for (uint32_t key = 1; key < w->topology.key_count; key++)
        words_put(out, (uint32_t)(cell[key] + 1));
}

static struct offer_spec ask(struct dealing *x, uint32_t class_id, const int32_t *cell)
{
    struct words words;
    bool is_new;
    words_init(&words, x->d->arena);
    words_put(&words, class_id);
    cell_words(&words, x->w, cell);
    uint32_t id = intern_put(&x->asked, &words, &is_new);
    if (is_new) {
        struct offer_spec answer = work_out(x, class_id, cell);
        ARENA_PUSH(x->d->arena, x->answers, x->answer_count, x->answer_capacity, answer);
    }
    return x->answers[id];
}

/* --- one pod --- */

static const struct dealt_class *class_of(struct dealing *x, uint32_t class_id)
{
    struct dealt_class *c = &x->classes[class_id];
    const struct attempt *try = strict_of(x->w, class_id);
    if (c->known)
        return c;
    c->known = true;
    for (uint32_t k = 0; k < try->key_count && c->key_count < MOST_KEYS; k++)
        for (uint32_t g = 0; g < try->group_count; g++)
            if (x->w->topology.groups[try->groups[g]].key == try->keys[k] &&
                is_dealt(x->w, try->groups[g])) {
                c->keys[c->key_count++] = try->keys[k];
                break;
            }
    return c;
}

struct choice {
    int32_t domain;
    double price;
    struct tally_load load;
};

static bool is_better_choice(const struct choice *a, const struct choice *b)
{
    static const double SAME = 1e-9; /* prices that differ by less are equal, relative */
    if (fabs(a->price - b->price) > SAME * b->price)
        return a->price < b->price;
    if (a->load.own != b->load.own)
        return a->load.own < b->load.own;
    return a->load.others < b->load.others;
}

/* The domain of the key for the class beside those that the cell has already, or -1. */
static int32_t choose(struct dealing *x, uint32_t class_id, uint32_t key)
{
    int32_t *cell = x->cell;
    const struct attempt *try = strict_of(x->w, class_id);
    const struct pod_class *k = &x->w->classes.items[class_id];
    struct choice best = {-1, INFINITY, {0}};
    tally_domains(&x->t->tally, k, try, key, x->open[key]);
    for (BITS_EACH(domain, x->open[key], x->w->topology.keys[key].words)) {
        cell[key] = (int32_t)domain;
        trial_look(x->t, 1);
        struct choice now = {(int32_t)domain, ask(x, class_id, cell).price,
                             tally_load(&x->t->tally, k, try, key, domain)};
        if (now.price < (double)INFINITY && (best.domain < 0 || is_better_choice(&now, &best)))
            best = now;
    }
    cell[key] = best.domain;
    return best.domain;
}

static uint32_t put_cell(struct deal *d, const struct world *w, const int32_t *cell)
{
    struct words words;
    bool is_new;
    words_init(&words, d->arena);
    cell_words(&words, w, cell);
    uint32_t id = intern_put(&d->known, &words, &is_new);
    if (is_new) {
        int32_t *copy = ARENA_ARRAY(d->arena, int32_t, w->topology.key_count);
        memcpy(copy, cell, w->topology.key_count * sizeof(*copy));
        ARENA_PUSH(d->arena, d->cells, d->cell_count, d->cell_capacity, copy);
    }
    return id;
}

/* The pod counts from now on (by 1), or does no more (-1). */
static void move(struct dealing *x, uint32_t class_id, uint32_t cell, int by)
{
    const struct world *w = x->w;
    if (cell == CELL_NONE || cell == CELL_ANY)
        return;
    int32_t spec = ask(x, class_id, x->d->cells[cell]).spec;
    const struct spec *s = &x->t->specs.items[spec];
    struct tally_claim c = {.target = w->node_count + x->t->claim_count, .requirements = &s->requirements,
                            .taints = w->options[s->option].taints, .domain_of = x->d->cells[cell]};
    tally_move_claim(&x->t->tally, &w->classes.items[class_id], &c, by);
}

static uint32_t deal_pod(struct dealing *x, uint32_t class_id)
{
    const struct dealt_class *c = class_of(x, class_id);
    x->t->asked++;
    if (c->key_count == 0)
        return CELL_ANY;
    for (uint32_t key = 0; key < x->w->topology.key_count; key++)
        x->cell[key] = -1;
    for (uint32_t i = 0; i < c->key_count; i++)
        if (choose(x, class_id, c->keys[i]) < 0)
            return CELL_NONE;
    return put_cell(x->d, x->w, x->cell);
}

static void dealing_init(struct dealing *x)
{
    const struct topology *t = &x->w->topology;
    struct arena *a = x->d->arena;
    intern_init(&x->d->known, a);
    intern_init(&x->asked, a);
    x->classes = ARENA_ARRAY(a, struct dealt_class, x->w->classes.count);
    x->cell = ARENA_ARRAY(a, int32_t, t->key_count);
    x->open = ARENA_ARRAY(a, uint64_t *, t->key_count);
    for (uint32_t key = 0; key < t->key_count; key++) {
        x->open[key] = ARENA_ARRAY(a, uint64_t, t->keys[key].words);
        x->cell[key] = -1;
    }
    put_cell(x->d, x->w, x->cell); /* CELL_ANY */
}

static bool out_of_steps(struct trial *t, const struct deal_question *q)
{
    return t->asked > q->limit || trial_stopped(t);
}

bool deal_make(struct deal *d, struct trial *t, const struct deal_question *q)
{
    struct dealing x = {.d = d, .t = t, .w = t->world};
    uint32_t dealt = 0;
    dealing_init(&x);
    d->cell_of = ARENA_ARRAY(d->arena, uint32_t, trial_pod_count(t));
    for (; dealt < q->count && !out_of_steps(t, q); dealt++) {
        uint32_t pod = q->pods[dealt], class_id = trial_pod(t, pod)->class_id;
        d->cell_of[pod] = deal_pod(&x, class_id);
        move(&x, class_id, d->cell_of[pod], 1);
    }
    for (uint32_t g = 0; g < d->group_count; g++)
        d->groups[g].least = tally_least(&t->tally, d->groups[g].try, d->groups[g].group);
    for (uint32_t i = 0; i < dealt; i++)
        move(&x, trial_pod(t, q->pods[i])->class_id, d->cell_of[q->pods[i]], -1);
    return dealt == q->count;
}

/* --- how it is measured --- */

void deal_measure(const struct deal *d, struct trial *t)
{
    for (uint32_t g = 0; g < d->group_count; g++)
        if (d->groups[g].least != 0)
            tally_measure(&t->tally, d->groups[g].group, d->groups[g].least);
}

void deal_measure_as(const struct deal *d, const struct trial *made, struct trial *t)
{
    for (uint32_t g = 0; g < d->group_count; g++) {
        uint32_t least = tally_least(&made->tally, d->groups[g].try, d->groups[g].group);
        if (least != 0)
            tally_measure(&t->tally, d->groups[g].group, least);
    }
}

uint64_t deal_excess(const struct deal *d, const struct trial *t)
{
    uint64_t excess = 0;
    for (uint32_t i = 0; i < d->group_count; i++) {
        const struct dealt_group *g = &d->groups[i];
        const struct topology_group *x = &t->world->topology.groups[g->group];
        const uint32_t *counts = tally_counts(&t->tally, g->group);
        int64_t most = (int64_t)tally_least(&t->tally, g->try, g->group) + x->max_skew;
        for (BITS_EACH(domain, x->domains, t->world->topology.keys[x->key].words))
            if (counts[domain] > x->counts[domain] && counts[domain] > most)
                excess += (uint64_t)(counts[domain] - (most > x->counts[domain] ? most : x->counts[domain]));
    }
    return excess;
}
