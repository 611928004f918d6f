#include "planner/packing/stock.h"

#include <math.h>
#include <stdlib.h>

#include "planner/bound/bound.h"

enum {
    REST_SUIT = BOUND_SUITS - 1, /* lots of the rarest constraints: nothing is known to take them */
    PRICED_CAPS = 12,            /* groups that have a column in the search for values */
};

struct cap_group {
    uint32_t group, most;
    uint64_t pods;
    uint32_t first; /* lot */
};

struct building {
    struct stock *s;
    struct arena *a;
    const struct world *w;
    uint32_t *example; /* by suit: a class */
    uint32_t suit_count;
    struct cap_group *caps; /* those with the most pods first */
    uint32_t cap_count, cap_capacity;
    uint32_t wide;      /* columns of the world and of priced caps */
    uint32_t product_capacity;
};

/* --- lots --- */

static void make_lots(struct building *b, const uint32_t *pods, uint32_t count)
{
    const struct world *w = b->w;
    uint32_t *lot_of = ARENA_ARRAY(b->a, uint32_t, w->classes.count);
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t class_id = trial_pod(b->s->trial, pods[i])->class_id;
        if (lot_of[class_id] == 0) {
            ARENA_PUSH(b->a, b->s->lots, b->s->lot_count, capacity,
                       ((struct lot){.class_id = class_id}));
            lot_of[class_id] = b->s->lot_count;
        }
        b->s->lots[lot_of[class_id] - 1].count++;
    }
    for (uint32_t i = 0; i < b->s->lot_count; i++) {
        b->s->lots[i].pods = ARENA_ARRAY(b->a, uint32_t, b->s->lots[i].count);
        b->s->lots[i].count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct lot *l = &b->s->lots[lot_of[trial_pod(b->s->trial, pods[i])->class_id] - 1];
        ((uint32_t *)l->pods)[l->count++] = pods[i];
    }
}

/* --- suits --- */

struct suit_size {
    uint64_t pods;
    uint32_t suit; /* in the order of lots */
};

static int suit_order(const void *x, const void *y)
{
    const struct suit_size *a = x, *b = y;
    if (a->pods != b->pods)
        return a->pods > b->pods ? -1 : 1;
    return (a->suit > b->suit) - (a->suit < b->suit);
}

/* Lots with the same attempts have one suit. The commonest are told apart. */
static void set_suits(struct building *b)
{
    struct stock *s = b->s;
    struct intern known;
    intern_init(&known, b->a);
    struct suit_size *sizes = ARENA_ARRAY(b->a, struct suit_size, s->lot_count);
    for (uint32_t i = 0; i < s->lot_count; i++) {
        struct lot *l = &s->lots[i];
        struct words words;
        words_init(&words, b->a);
        uint32_t count;
        const struct attempt *try = stock_attempts(s, l->class_id, &count);
        for (uint32_t k = 0; k < count; k++)
            words_put(&words, try[k].signature);
        l->suit = intern_put(&known, &words, NULL);
        sizes[l->suit].suit = l->suit;
        sizes[l->suit].pods += l->count;
    }
    qsort(sizes, known.count, sizeof(*sizes), suit_order);
    uint32_t *rank = ARENA_ARRAY(b->a, uint32_t, known.count);
    for (uint32_t i = 0; i < known.count; i++)
        rank[sizes[i].suit] = i < REST_SUIT ? i : REST_SUIT;
    b->suit_count = known.count < REST_SUIT ? known.count : REST_SUIT;
    b->example = ARENA_ARRAY(b->a, uint32_t, BOUND_SUITS);
    for (uint32_t i = 0; i < s->lot_count; i++) {
        s->lots[i].suit = rank[s->lots[i].suit];
        b->example[s->lots[i].suit] = s->lots[i].class_id;
    }
}

/* --- how many on a node --- */

static bool lists(const uint32_t *groups, uint32_t count, uint32_t group)
{
    for (uint32_t i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return false;
}

/* How many pods of the class the group lets on one new node; 0: it does not limit them. */
static uint32_t most_on_node(const struct world *w, const struct pod_class *k, uint32_t group)
{
    const struct topology_group *g = &w->topology.groups[group];
    if (g->key != 0)
        return 0;
    if (g->inverse)
        return lists(k->ties.keeps_off, k->ties.keeps_off_count, group) &&
               lists(k->ties.kept_off_by, k->ties.kept_off_by_count, group);
    const struct attempt *strict = &w->classes.attempts[k->first_strict];
    if (g->kind != TOPOLOGY_SPREAD || !lists(strict->groups, strict->group_count, group) ||
        !lists(k->ties.counted_by, k->ties.counted_by_count, group))
        return 0;
    return g->max_skew < UINT8_MAX ? (uint32_t)g->max_skew : 0;
}

static int cap_order(const void *x, const void *y)
{
    const struct cap_group *a = x, *b = y;
    if (a->pods != b->pods)
        return a->pods > b->pods ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->most > b->most) - (a->most < b->most);
}

static void note_cap(struct building *b, uint32_t *at, uint32_t group, uint32_t lot)
{
    const struct lot *l = &b->s->lots[lot];
    uint32_t most = most_on_node(b->w, &b->w->classes.items[l->class_id], group);
    if (most == 0)
        return;
    if (at[group] == 0) {
        ARENA_PUSH(b->a, b->caps, b->cap_count, b->cap_capacity,
                   ((struct cap_group){.group = group, .most = most, .first = lot}));
        at[group] = b->cap_count;
    }
    b->caps[at[group] - 1].pods += l->count;
}

static void set_caps(struct building *b)
{
    struct stock *s = b->s;
    uint32_t *at = ARENA_ARRAY(b->a, uint32_t, b->w->topology.group_count);
    for (uint32_t i = 0; i < s->lot_count; i++) {
        const struct pod_class *k = &b->w->classes.items[s->lots[i].class_id];
        const struct attempt *strict = &b->w->classes.attempts[k->first_strict];
        for (uint32_t g = 0; g < k->ties.keeps_off_count; g++)
            note_cap(b, at, k->ties.keeps_off[g], i);
        for (uint32_t g = 0; g < strict->group_count; g++)
            note_cap(b, at, strict->groups[g], i);
    }
    if (b->cap_count != 0)
        qsort(b->caps, b->cap_count, sizeof(*b->caps), cap_order);
    s->cap_count = b->cap_count < STOCK_CAPS ? b->cap_count : STOCK_CAPS;
    for (uint32_t c = 0; c < s->cap_count; c++) {
        s->cap[c] = (uint8_t)b->caps[c].most;
        for (uint32_t i = 0; i < s->lot_count; i++)
            if (most_on_node(b->w, &b->w->classes.items[s->lots[i].class_id], b->caps[c].group))
                s->lots[i].caps |= UINT64_C(1) << c;
    }
    uint32_t priced = s->cap_count < PRICED_CAPS ? s->cap_count : PRICED_CAPS;
    b->wide = b->w->column_count + priced;
}

/* --- products --- */

struct offered { /* by an option: suits that may go there */
    uint64_t *types, *kinds;
    amount **room; /* by row of the option, wide, made when needed */
};

static void offer_suit(struct building *b, uint32_t option, uint32_t suit, struct offered *out)
{
    const struct world *w = b->w;
    uint32_t count;
    const struct attempt *try = stock_attempts(b->s, b->example[suit], &count);
    for (uint32_t i = 0; i < count; i++) {
        int32_t to = specs_narrow(&b->s->trial->specs, option, &try[i]);
        if (to < 0 || (try[i].soft && !w->soft_taints))
            continue;
        const struct spec *s = &b->s->trial->specs.items[to];
        for (BITS_EACH(type, s->types, w->types.words))
            out->types[type] |= UINT64_C(1) << suit;
        for (BITS_EACH(kind, s->kinds, w->types.kind_words))
            out->kinds[kind] |= UINT64_C(1) << suit;
    }
}

static amount *widened(const struct building *b, const amount *vector)
{
    amount *wide = ARENA_ARRAY(b->a, amount, b->wide);
    memcpy(wide, vector, b->w->column_count * sizeof(*wide));
    for (uint32_t c = b->w->column_count; c < b->wide; c++)
        wide[c] = b->s->cap[c - b->w->column_count];
    return wide;
}

/* The niche of an offering that has more room than others of its type, or -1. */
static int32_t niche_of(struct building *b, uint32_t option, uint32_t type, uint32_t offer)
{
    const struct option *o = &b->w->options[option];
    const amount *room = world_vector(b->w, o->room, o->row_of[offer]);
    bool more = false;
    for (uint32_t row = o->first_row[type]; row < o->first_row[type + 1]; row++)
        more |= !vector_fits(b->w, room, world_vector(b->w, o->room, row));
    for (uint32_t n = 0; more && n < o->niche_count; n++) {
        struct specs *specs = &b->s->trial->specs;
        int32_t spec = specs_niche(specs, option, n);
        if (spec >= 0 && bits_has(specs->items[spec].kinds, b->w->types.offers[offer].kind))
            return (int32_t)n;
    }
    return -1;
}

/* Of a type's offerings that nobody can tell apart, the cheapest. What is reserved is not for sale: it
 * is taken when a claim may have it. */
static void add_type(struct building *b, uint32_t option, uint32_t type,
                     const struct offered *offered)
{
    const struct types *t = &b->w->types;
    const struct option *o = &b->w->options[option];
    struct stock *s = b->s;
    uint32_t first = s->product_count;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++) {
        const struct type_offer *offer = &t->offers[k];
        uint64_t suits = offered->types[type] & offered->kinds[offer->kind];
        const amount *plain = world_vector(b->w, o->room, o->row_of[k]);
        if (!offer->launchable || offer->reserved || !bits_has(o->kinds, offer->kind) ||
            suits == 0 || plain[0] < 0)
            continue;
        amount **room = &offered->room[o->row_of[k]];
        if (*room == NULL)
            *room = widened(b, plain);
        uint32_t same = first;
        while (same < s->product_count &&
               (s->products[same].wide != *room || s->products[same].suits != suits))
            same++;
        if (same == s->product_count)
            ARENA_PUSH(b->a, s->products, s->product_count, b->product_capacity,
                       ((struct product){.option = option, .type = type, .price = INFINITY,
                                         .suits = suits, .wide = *room}));
        if (offer->price < s->products[same].price) {
            s->products[same].price = offer->price;
            s->products[same].niche = niche_of(b, option, type, k);
        }
    }
}

static void add_products(struct building *b, const struct stock_source *from)
{
    const struct types *t = &b->w->types;
    for (uint32_t i = from->first_option; i < from->end_option; i++) {
        const struct option *o = &b->w->options[i];
        struct offered offered = {ARENA_ARRAY(b->a, uint64_t, t->count),
                                  ARENA_ARRAY(b->a, uint64_t, t->kind_count),
                                  ARENA_ARRAY(b->a, amount *, o->first_row[t->count])};
        for (uint32_t suit = 0; suit < b->suit_count; suit++)
            offer_suit(b, i, suit, &offered);
        for (BITS_EACH(type, o->types, t->words))
            add_type(b, i, type, &offered);
    }
}

/* --- values --- */

static bool set_values(struct building *b)
{
    struct stock *s = b->s;
    struct bound_machine *machines = ARENA_ARRAY(b->a, struct bound_machine, s->product_count);
    struct bound_item *items = ARENA_ARRAY(b->a, struct bound_item, s->lot_count);
    double *values = ARENA_ARRAY(b->a, double, s->lot_count);
    for (uint32_t i = 0; i < s->product_count; i++)
        machines[i] = (struct bound_machine){.room = s->products[i].wide, .price = s->products[i].price,
                                             .suits = s->products[i].suits};
    for (uint32_t i = 0; i < s->lot_count; i++) {
        const struct lot *l = &s->lots[i];
        amount *size = widened(b, classes_requests(&b->w->classes, l->class_id));
        for (uint32_t c = b->w->column_count; c < b->wide; c++)
            size[c] = l->caps >> (c - b->w->column_count) & 1;
        items[i] = (struct bound_item){size, l->count, l->suit};
    }
    if (!bound_values(b->a, &(struct bound_question){
                                .machines = machines, .machine_count = s->product_count,
                                .items = items, .item_count = s->lot_count, .columns = b->wide},
                      values))
        return false;
    for (uint32_t i = 0; i < s->lot_count; i++)
        s->lots[i].value = values[i];
    return true;
}

/* --- what is kept of it --- */

static const double *in_columns(const struct stock *s, struct arena *a, const amount *vector)
{
    double *out = ARENA_ARRAY(a, double, s->column_count);
    for (uint32_t c = 0; c < s->column_count; c++)
        out[c] = (double)vector[s->columns[c]];
    return out;
}

static int lot_order(const void *x, const void *y)
{
    const struct lot *a = x, *b = y;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->family > b->family) - (a->family < b->family); /* its place in the queue here */
}

static int rank_order(const void *x, const void *y, void *stock)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct lot *lots = ((const struct stock *)stock)->lots;
    if (lots[a].value != lots[b].value)
        return lots[a].value > lots[b].value ? -1 : 1;
    return (a > b) - (a < b);
}

static void move_left(struct stock *s, const struct lot *l, int64_t count)
{
    if (l->value <= 0)
        return;
    s->value_left += l->value * (double)count;
    for (uint64_t caps = l->caps; caps != 0; caps &= caps - 1)
        s->in_cap[__builtin_ctzll(caps)] += (uint64_t)count;
}

void stock_take(struct stock *s, struct lot *l, uint32_t count)
{
    l->next += count;
    move_left(s, l, -(int64_t)count);
}

void stock_count(struct stock *s)
{
    s->value_left = 0;
    memset(s->in_cap, 0, sizeof(s->in_cap));
    for (uint32_t i = 0; i < s->lot_count; i++)
        move_left(s, &s->lots[i], s->lots[i].count - s->lots[i].next);
}

void stock_rank(struct stock *s)
{
    for (uint32_t i = 0; i < s->family_count; i++)
        qsort_r(s->order + s->families[i].first, s->families[i].count, sizeof(*s->order), rank_order,
                s);
}

static void set_families(struct building *b)
{
    struct stock *s = b->s;
    struct intern known;
    intern_init(&known, b->a);
    s->families = ARENA_ARRAY(b->a, struct family, s->lot_count);
    s->order = ARENA_ARRAY(b->a, uint32_t, s->lot_count);
    for (uint32_t i = 0; i < s->lot_count; i++) {
        struct lot *l = &s->lots[i];
        const amount *requests = classes_requests(&b->w->classes, l->class_id);
        struct words words;
        words_init(&words, b->a);
        words_put(&words, l->suit);
        for (uint32_t c = 0; c < s->column_count; c++)
            words_put64(&words, (uint64_t)requests[s->columns[c]]);
        l->family = intern_put(&known, &words, NULL);
        s->families[l->family].count++;
        s->families[l->family].suit = l->suit;
        s->families[l->family].size = l->size;
    }
    s->family_count = known.count;
    for (uint32_t i = 1; i < s->family_count; i++)
        s->families[i].first = s->families[i - 1].first + s->families[i - 1].count;
    uint32_t *next = ARENA_ARRAY(b->a, uint32_t, s->family_count);
    for (uint32_t i = 0; i < s->lot_count; i++)
        s->order[s->families[s->lots[i].family].first + next[s->lots[i].family]++] = i;
}

static void finish_lots(struct building *b)
{
    struct stock *s = b->s;
    uint32_t *columns = ARENA_ARRAY(b->a, uint32_t, b->w->column_count);
    for (uint32_t c = 0; c < b->w->column_count; c++)
        for (uint32_t i = 0; i < s->lot_count; i++)
            if (classes_requests(&b->w->classes, s->lots[i].class_id)[c] > 0) {
                columns[s->column_count++] = c;
                break;
            }
    s->columns = columns;
    for (uint32_t i = 0; i < s->lot_count; i++) {
        s->lots[i].size = in_columns(s, b->a, classes_requests(&b->w->classes, s->lots[i].class_id));
        s->lots[i].family = i;
    }
    qsort(s->lots, s->lot_count, sizeof(*s->lots), lot_order);
    set_families(b);
}

/* Cheapest first, and the roomiest of those that cost the same. */
static int cheapest_order(const void *x, const void *y, void *stock)
{
    const struct product *a = x, *b = y;
    const struct stock *s = stock;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    for (uint32_t c = 0; c < s->column_count; c++)
        if (a->room[c] != b->room[c])
            return a->room[c] > b->room[c] ? -1 : 1;
    if (a->option != b->option)
        return a->option < b->option ? -1 : 1;
    const struct types *t = &s->world->types;
    int order = span_cmp(types_at(t, a->type)->name, types_at(t, b->type)->name);
    return order != 0 ? order : (a->suits > b->suits) - (a->suits < b->suits);
}

/* Whether the type is on sale wherever the other is, and no dearer there. */
static bool undersells(const struct types *t, uint32_t type, uint32_t other)
{
    for (uint32_t i = t->first_offer[other]; i < t->first_offer[other + 1]; i++) {
        const struct type_offer *theirs = &t->offers[i];
        bool found = !theirs->launchable || theirs->reserved;
        for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1] && !found; k++) {
            const struct type_offer *ours = &t->offers[k];
            found = ours->kind == theirs->kind && ours->launchable && !ours->reserved &&
                    ours->price <= theirs->price;
        }
        if (!found)
            return false;
    }
    return true;
}

/* Whether nobody needs `p`, which is not cheaper. */
static bool makes_needless(const struct stock *s, const struct product *better,
                           const struct product *p)
{
    if (better->option != p->option || (p->suits & ~better->suits) != 0)
        return false;
    for (uint32_t c = 0; c < s->column_count; c++)
        if (better->room[c] < p->room[c])
            return false;
    return undersells(&s->world->types, better->type, p->type);
}

static const double *least_room(const struct building *b, const struct product *p)
{
    const struct option *o = &b->w->options[p->option];
    amount *least = ARENA_ARRAY(b->a, amount, b->w->column_count);
    for (uint32_t row = o->first_row[p->type]; row < o->first_row[p->type + 1]; row++)
        for (uint32_t c = 0; c < b->w->column_count; c++) {
            amount here = world_vector(b->w, o->room, row)[c];
            least[c] = row == o->first_row[p->type] || here < least[c] ? here : least[c];
        }
    return in_columns(b->s, b->a, least);
}

static void finish_products(struct building *b)
{
    struct stock *s = b->s;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->product_count; i++) {
        s->products[i].room = in_columns(s, b->a, s->products[i].wide);
        if (s->products[i].niche >= 0)
            s->products[i].plain = least_room(b, &s->products[i]);
    }
    qsort_r(s->products, s->product_count, sizeof(*s->products), cheapest_order, s);
    for (uint32_t i = 0; i < s->product_count; i++) {
        bool needed = true;
        for (uint32_t k = 0; k < kept && needed; k++)
            needed = !makes_needless(s, &s->products[k], &s->products[i]);
        if (needed)
            s->products[kept++] = s->products[i];
    }
    s->product_count = kept;
    for (uint32_t i = 0; i < kept / 2; i++) {
        struct product swap = s->products[i];
        s->products[i] = s->products[kept - 1 - i];
        s->products[kept - 1 - i] = swap;
    }
}

bool stock_build(struct stock *s, struct arena *a, struct trial *t,
                 const struct stock_source *from)
{
    *s = (struct stock){.arena = a, .trial = t, .world = t->world,
                        .ignore_preferences = from->ignore_preferences};
    struct building b = {.s = s, .a = a, .w = t->world};
    if (from->count == 0)
        return false;
    make_lots(&b, from->pods, from->count);
    set_suits(&b);
    set_caps(&b);
    add_products(&b, from);
    if (s->product_count == 0 || !set_values(&b))
        return false;
    finish_lots(&b);
    finish_products(&b);
    return true;
}
