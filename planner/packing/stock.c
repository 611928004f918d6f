#include "planner/packing/stock.h"

#include <math.h>
#include <stdlib.h>

#include "planner/packing/suits.h"

enum { PRICED_CAPS = 12 }; /* groups that have a column in the search for values */

struct cap_group {
    uint32_t group, most;
    uint64_t pods;
    uint32_t first; /* lot */
};

struct building {
    struct stock *s;
    struct arena *a;
    const struct world *w;
    struct suits suits; /* of the rarest nothing is known to take them */
    uint64_t *shelves; /* suits that may be on one machine as far as labels go that no offering has; see set_shelves */
    uint32_t shelf_count;
    struct cap_group *caps; /* those with the most pods first */
    uint32_t cap_count, cap_capacity;
    uint32_t wide;      /* columns of the world and of priced caps */
    uint32_t product_capacity;
};

/* --- lots --- */

/* Of a pod, its lot; a new one when it is the first. */
static struct lot *lot_of(struct building *b, struct intern *known, uint32_t *capacity, uint32_t pod)
{
    struct stock *s = b->s;
    uint32_t class_id = trial_pod(s->trial, pod)->class_id;
    uint32_t cell = s->deal != NULL ? s->deal->cell_of[pod] : CELL_ANY;
    struct words words;
    bool is_new;
    words_init(&words, b->a);
    words_put(&words, class_id);
    words_put(&words, cell);
    uint32_t id = intern_put(known, &words, &is_new);
    if (is_new)
        ARENA_PUSH(b->a, s->lots, s->lot_count, *capacity, ((struct lot){.class_id = class_id, .cell = cell}));
    return &s->lots[id];
}

static void make_lots(struct building *b, const uint32_t *pods, uint32_t count)
{
    struct stock *s = b->s;
    struct intern known;
    uint32_t capacity = 0;
    intern_init(&known, b->a);
    for (uint32_t i = 0; i < count; i++)
        lot_of(b, &known, &capacity, pods[i])->count++;
    for (uint32_t i = 0; i < s->lot_count; i++) {
        s->lots[i].pods = ARENA_ARRAY(b->a, uint32_t, s->lots[i].count);
        s->lots[i].count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct lot *l = lot_of(b, &known, &capacity, pods[i]);
        ((uint32_t *)l->pods)[l->count++] = pods[i];
    }
}

/* --- suits --- */

static void set_suits(struct building *b)
{
    struct stock *s = b->s;
    struct suited *list = ARENA_ARRAY(b->a, struct suited, s->lot_count);
    for (uint32_t i = 0; i < s->lot_count; i++)
        list[i] = (struct suited){.class_id = s->lots[i].class_id, .cell = stock_cell(s, &s->lots[i]),
                                  .pods = s->lots[i].count};
    b->suits = (struct suits){.arena = b->a, .trial = s->trial,
                              .ways = s->ignore_preferences ? SUITS_STRICT : SUITS_AS_ASKED};
    suits_number(&b->suits, list, s->lot_count);
    for (uint32_t i = 0; i < s->lot_count; i++)
        s->lots[i].suit = list[i].suit;
}

/* --- labels that the claim decides --- */

/* Whether a claim may be in both cells, by labels that neither types nor offerings have: those that a product says
 * keep suits apart by themselves. */
static bool share_claims(const struct building *b, const int32_t *cell, const int32_t *other)
{
    const struct topology *t = &b->w->topology;
    for (uint32_t key = 1; cell != NULL && other != NULL && key < t->key_count; key++)
        if (!t->keys[key].given && cell[key] >= 0 && other[key] >= 0 && cell[key] != other[key])
            return false;
    return true;
}

/* A set for each way to choose such labels that some suit asks for: who may be there. */
static void set_shelves(struct building *b)
{
    const struct suits *x = &b->suits;
    b->shelves = ARENA_ARRAY(b->a, uint64_t, x->count + 1);
    for (uint32_t suit = 0; suit < x->count; suit++) {
        uint64_t with = 0;
        for (uint32_t other = 0; other < x->count; other++)
            if (share_claims(b, x->example[suit]->cell, x->example[other]->cell))
                with |= UINT64_C(1) << other;
        uint32_t same = 0;
        while (same < b->shelf_count && b->shelves[same] != with)
            same++;
        b->shelves[same] = with;
        b->shelf_count += same == b->shelf_count;
    }
}

/* --- how many on a node --- */

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
    uint32_t most = topology_most_on_node(b->w, &b->w->classes.items[l->class_id], group);
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
            if (topology_most_on_node(b->w, &b->w->classes.items[s->lots[i].class_id], b->caps[c].group))
                s->lots[i].caps |= UINT64_C(1) << c;
    }
    uint32_t priced = s->cap_count < PRICED_CAPS ? s->cap_count : PRICED_CAPS;
    b->wide = b->w->column_count + priced;
}

/* --- products --- */

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

/* Of a type's offerings that nobody can tell apart, the cheapest. */
static void add_product(struct building *b, const struct product *p, uint32_t first, uint32_t offer)
{
    struct stock *s = b->s;
    uint32_t same = first;
    while (same < s->product_count &&
           (s->products[same].wide != p->wide || s->products[same].suits != p->suits))
        same++;
    if (same == s->product_count) {
        ARENA_PUSH(b->a, s->products, s->product_count, b->product_capacity, *p);
        s->products[same].price = INFINITY;
    }
    if (p->price < s->products[same].price) {
        s->products[same].price = p->price;
        s->products[same].niche = niche_of(b, p->option, p->type, offer);
    }
}

/* What is reserved is not for sale: it is taken when a claim may have it. */
static void add_type(struct building *b, uint32_t option, uint32_t type,
                     const struct suits_offered *offered, amount **rooms)
{
    const struct types *t = &b->w->types;
    const struct option *o = &b->w->options[option];
    uint32_t first = b->s->product_count;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++) {
        const struct type_offer *offer = &t->offers[k];
        uint64_t suits = offered->types[type] & offered->kinds[offer->kind];
        const amount *plain = world_vector(b->w, o->room, o->row_of[k]);
        if (!offer->launchable || offer->reserved || !bits_has(o->kinds, offer->kind) ||
            suits == 0 || plain[0] < 0)
            continue;
        amount **room = &rooms[o->row_of[k]];
        if (*room == NULL)
            *room = widened(b, plain);
        struct product p = {.option = option, .type = type, .price = offer->price + o->node_cost,
                            .wide = *room};
        for (uint32_t shelf = 0; shelf < b->shelf_count; shelf++)
            if ((p.suits = suits & b->shelves[shelf]) != 0)
                add_product(b, &p, first, k);
    }
}

static void add_products(struct building *b, const struct stock_source *from)
{
    const struct types *t = &b->w->types;
    for (uint32_t i = from->first_option; i < from->end_option; i++) {
        const struct option *o = &b->w->options[i];
        struct suits_offered offered = suits_offer(&b->suits, i);
        amount **rooms = ARENA_ARRAY(b->a, amount *, o->first_row[t->count]); /* wide, made when needed */
        for (BITS_EACH(type, o->types, t->words))
            add_type(b, i, type, &offered, rooms);
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
        amount *size = widened(b, trial_requests_at_least(s->trial, l->class_id));
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

static double *in_columns(const struct stock *s, struct arena *a, const amount *vector)
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

/* How many pods use each shared volume. */
static const uint32_t *count_users(const struct building *b)
{
    uint32_t *users = ARENA_ARRAY(b->a, uint32_t, b->w->volumes.shared_count);
    for (uint32_t i = 0; i < b->s->lot_count; i++) {
        const struct pod_class *k = &b->w->classes.items[b->s->lots[i].class_id];
        for (uint32_t n = 0; n < k->shared_count; n++)
            users[k->shared[n].volume] += b->s->lots[i].count;
    }
    return users;
}

/* Of a shared volume each of its pods has a part: on one machine they attach it once, together. A little less, so that
 * the parts never come to more than the whole. */
static const double *lot_size(const struct building *b, const struct lot *l, const uint32_t *users)
{
    const double less = 1 - 1e-9;
    const struct stock *s = b->s;
    const struct pod_class *k = &b->w->classes.items[l->class_id];
    double *size = in_columns(s, b->a, trial_requests_at_least(s->trial, l->class_id));
    for (uint32_t n = 0; n < k->shared_count; n++)
        for (uint32_t c = 0; c < s->column_count; c++)
            if (s->columns[c] == k->shared[n].column)
                size[c] += less / users[k->shared[n].volume];
    return size;
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
        struct words words;
        words_init(&words, b->a);
        words_put(&words, l->suit);
        for (uint32_t c = 0; c < s->column_count; c++) {
            uint64_t bits;
            memcpy(&bits, &l->size[c], sizeof(bits));
            words_put64(&words, bits);
        }
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
    const uint32_t *users = count_users(b);
    for (uint32_t i = 0; i < s->lot_count; i++) {
        s->lots[i].size = lot_size(b, &s->lots[i], users);
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
                        .deal = from->deal, .ignore_preferences = from->ignore_preferences};
    struct building b = {.s = s, .a = a, .w = t->world};
    if (from->count == 0)
        return false;
    make_lots(&b, from->pods, from->count);
    set_suits(&b);
    set_shelves(&b);
    set_caps(&b);
    add_products(&b, from);
    if (s->product_count == 0 || !set_values(&b))
        return false;
    finish_lots(&b);
    finish_products(&b);
    return true;
}
