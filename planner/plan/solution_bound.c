/* The fleet as a question to planner/bound/bound.h: which machines there are, what they have to hold.
 *
 * Pods that keep one another off by hostname are a column more, of which every machine has room for one.
 * Whatever is left out makes the bound lower, never wrong: limits, minValues, host ports, how many a
 * reservation has left, spreading, affinity and other anti-affinity, volumes; and a pod suits what any
 * of its alternatives, preferences dropped, suits. */
#include "planner/bound/bound.h"
#include "planner/plan/solution.h"

#include <math.h>
#include <stdlib.h>

enum {
    ANY_SUIT = BOUND_SUITS - 1, /* pods of the rarest constraints: suit everything that is for sale */
    MOST_ROWS = 256,            /* kinds of standing machines; more are taken together */
    MOST_ALONE = 8,             /* groups that are looked at for pods of which a node holds one */
};

struct asked {
    const struct world *w;
    struct trial *t;
    struct arena *a;
    uint64_t *pods;         /* by class */
    uint32_t *suit;         /* by class */
    uint32_t *example;      /* by suit: a class */
    uint32_t suit_count;    /* those that are told apart */
    uint64_t *profile_suits; /* by profile; 0: not worked out yet */
    struct bound_machine *machines;
    uint32_t machine_count, machine_capacity;
    struct intern rows; /* standing machines that are alike: the first of `machines` */
    double fixed;       /* price of nodes that stay whatever happens */
    uint32_t alone[MOST_ALONE]; /* groups whose pods keep one another off by hostname */
    uint32_t alone_count;
    uint32_t columns;   /* the world's, then one for each of `alone` */
    const amount **size; /* by class */
};

/* --- what is asked --- */

/* Pods that go when their node goes are no demand, but take room on it while it stays. */
static bool moves(const struct world *w, const struct world_node *n, uint32_t i)
{
    return !w->classes.items[n->pod_classes[i]].daemon && !pod_is_static(n->pods[i]);
}

/* All ways to state what the class asks for: with preferences as they are relaxed, and without. */
static uint32_t alternatives(const struct pod_class *k)
{
    return k->attempt_count + k->strict_count;
}

static const struct attempt *alternative(const struct world *w, const struct pod_class *k,
                                         uint32_t i)
{
    return &w->classes.attempts[i < k->attempt_count ? k->first_attempt + i
                                                     : k->first_strict + i - k->attempt_count];
}

static bool is_kept(const struct world_node *n)
{
    return isnan(n->price) || n->stage == NODE_UNMANAGED;
}

static void count_pods(struct asked *q)
{
    const struct world *w = q->w;
    q->pods = ARENA_ARRAY(q->a, uint64_t, w->classes.count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        for (uint32_t i = 0; i < n->pod_count; i++)
            q->pods[n->pod_classes[i]] +=
                !trial_is_gone(q->t, row) && !is_kept(n) && moves(w, n, i);
    }
    for (uint32_t i = 0; i < q->t->step_count; i++) {
        enum trial_kind kind = q->t->steps[i].kind;
        q->pods[q->t->steps[i].class_id] +=
            kind == TRIAL_ON_NODE || kind == TRIAL_ON_CLAIM || kind == TRIAL_OPENED;
    }
}

static bool lists(const uint32_t *groups, uint32_t count, uint32_t group)
{
    for (uint32_t i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return false;
}

/* Whether the class's pods keep one another off a node by the group. */
static bool stands_alone(const struct pod_class *k, uint32_t group)
{
    return lists(k->ties.keeps_off, k->ties.keeps_off_count, group) &&
           lists(k->ties.kept_off_by, k->ties.kept_off_by_count, group);
}

/* The groups with the most such pods. */
static void find_alone(struct asked *q)
{
    const struct world *w = q->w;
    uint64_t most[MOST_ALONE] = {0};
    for (uint32_t g = 0; g < w->topology.group_count; g++) {
        uint64_t pods = 0;
        if (!w->topology.groups[g].inverse || w->topology.groups[g].key != 0)
            continue;
        for (uint32_t c = 0; c < w->classes.count; c++)
            pods += stands_alone(&w->classes.items[c], g) ? q->pods[c] : 0;
        if (pods < 2)
            continue;
        uint32_t at = q->alone_count < MOST_ALONE ? q->alone_count++ : MOST_ALONE - 1;
        if (most[at] >= pods)
            continue;
        for (; at > 0 && most[at - 1] < pods; at--) {
            most[at] = most[at - 1];
            q->alone[at] = q->alone[at - 1];
        }
        most[at] = pods;
        q->alone[at] = g;
    }
    q->columns = w->resource_count + q->alone_count;
}

/* A vector of the world with the columns for `alone` after it. */
static amount *widened(const struct asked *q, const amount *vector, amount alone)
{
    amount *wide = ARENA_ARRAY(q->a, amount, q->columns);
    memcpy(wide, vector, q->w->resource_count * sizeof(*wide));
    for (uint32_t i = 0; i < q->alone_count; i++)
        wide[q->w->resource_count + i] = alone;
    return wide;
}

static void set_sizes(struct asked *q)
{
    const struct classes *k = &q->w->classes;
    q->size = ARENA_ARRAY(q->a, const amount *, k->count);
    for (uint32_t c = 0; c < k->count; c++) {
        if (q->pods[c] == 0)
            continue;
        amount *size = widened(q, classes_requests(k, c), 0);
        for (uint32_t i = 0; i < q->alone_count; i++)
            size[q->w->resource_count + i] = stands_alone(&k->items[c], q->alone[i]);
        q->size[c] = size;
    }
}

struct suit_size {
    uint64_t pods;
    uint64_t key; /* of its constraints' texts, whatever the order of pods */
    uint32_t suit;
};

static int suit_order(const void *x, const void *y)
{
    const struct suit_size *a = x, *b = y;
    if (a->pods != b->pods)
        return a->pods > b->pods ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* Sums, since symbols are numbered and sorted in the order in which pods came. */
static uint64_t requirement_key_of(const struct world *w, const struct requirement *r)
{
    uint64_t key = span_hash(sym_text(w->syms, r->key)) + (uint64_t)r->complement +
                   (uint64_t)r->gte * 3 + (uint64_t)r->lte * 5;
    for (uint32_t i = 0; i < r->count; i++)
        key += 7 * span_hash(sym_text(w->syms, r->values[i]));
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t class_key(const struct world *w, uint32_t class_id)
{
    const struct pod_class *k = &w->classes.items[class_id];
    uint64_t key = 0;
    for (uint32_t i = 0; i < alternatives(k); i++) {
        uint32_t signature = alternative(w, k, i)->signature;
        const struct signature *s = &w->classes.signatures[signature];
        for (uint32_t r = 0; r < s->requirements.count; r++)
            key += requirement_key_of(w, &s->requirements.items[r]);
        for (uint32_t t = 0; t < s->tolerations.count; t++) {
            sym name = s->tolerations.items[t].key;
            key += name == SYM_NONE ? 1 : 11 * span_hash(sym_text(w->syms, name));
        }
    }
    return key;
}

/* Classes whose alternatives are the same signatures have one suit. The commonest are told apart. */
static void set_suits(struct asked *q)
{
    const struct classes *k = &q->w->classes;
    struct intern known;
    intern_init(&known, q->a);
    struct suit_size *sizes = ARENA_ARRAY(q->a, struct suit_size, k->count);
    q->suit = ARENA_ARRAY(q->a, uint32_t, k->count);
    q->example = ARENA_ARRAY(q->a, uint32_t, BOUND_SUITS);
    for (uint32_t c = 0; c < k->count; c++) {
        if (q->pods[c] == 0)
            continue;
        struct words words;
        words_init(&words, q->a);
        for (uint32_t i = 0; i < alternatives(&k->items[c]); i++)
            words_put(&words, alternative(q->w, &k->items[c], i)->signature);
        q->suit[c] = intern_put(&known, &words, NULL);
        sizes[q->suit[c]].suit = q->suit[c];
        sizes[q->suit[c]].key = class_key(q->w, c);
        sizes[q->suit[c]].pods += q->pods[c];
    }
    if (known.count != 0)
        qsort(sizes, known.count, sizeof(*sizes), suit_order);
    uint32_t *rank = ARENA_ARRAY(q->a, uint32_t, known.count);
    for (uint32_t i = 0; i < known.count; i++)
        rank[sizes[i].suit] = i < ANY_SUIT ? i : ANY_SUIT;
    q->suit_count = known.count < ANY_SUIT ? known.count : ANY_SUIT;
    for (uint32_t c = 0; c < k->count; c++)
        if (q->pods[c] != 0) {
            q->suit[c] = rank[q->suit[c]];
            q->example[q->suit[c]] = c;
        }
}

static void add_machine(struct asked *q, struct bound_machine m)
{
    ARENA_PUSH(q->a, q->machines, q->machine_count, q->machine_capacity, m);
}

/* --- what can be bought --- */

struct offered { /* by an option: who may go there */
    uint64_t *types; /* suits, by type */
    uint64_t *kinds; /* suits, by kind of offering */
    amount **room;   /* by row of the option, made when needed */
};

static void offer_suit(struct asked *q, uint32_t option, uint32_t suit, struct offered *out)
{
    const struct world *w = q->w;
    const struct pod_class *k = &w->classes.items[q->example[suit]];
    for (uint32_t i = 0; i < alternatives(k); i++) {
        struct attempt try = *alternative(w, k, i);
        try.soft = true;
        int32_t to = specs_narrow(&q->t->specs, option, &try);
        if (to < 0)
            continue;
        const struct spec *s = &q->t->specs.items[to];
        for (BITS_EACH(type, s->types, w->types.words))
            out->types[type] |= UINT64_C(1) << suit;
        for (BITS_EACH(kind, s->kinds, w->types.kind_words))
            out->kinds[kind] |= UINT64_C(1) << suit;
    }
}

/* What it has beside the DaemonSets that are sure to come. */
static amount *room_of_offer(const struct asked *q, const struct option *o, uint32_t row)
{
    amount *room = widened(q, world_vector(q->w, o->room, row), 1);
    const amount *unsure = o->daemons[o->daemon_of[row]].unsure;
    for (uint32_t c = 0; room[0] >= 0 && c < q->w->resource_count; c++)
        room[c] = amount_add(room[c], unsure[c]);
    return room;
}

/* Of a type's offerings that nobody can tell apart, the cheapest. */
static void add_type(struct asked *q, const struct option *o, uint32_t type,
                     const struct offered *offered)
{
    const struct types *t = &q->w->types;
    uint32_t first = q->machine_count;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++) {
        const struct type_offer *offer = &t->offers[k];
        if (!trial_launchable(q->t, offer) || !bits_has(o->kinds, offer->kind))
            continue;
        amount **room = &offered->room[o->row_of[k]];
        if (*room == NULL)
            *room = room_of_offer(q, o, o->row_of[k]);
        struct bound_machine m = {.room = *room,
                                  .price = offer->price,
                                  .suits = (offered->types[type] & offered->kinds[offer->kind]) |
                                           UINT64_C(1) << ANY_SUIT};
        uint32_t same = first;
        while (same < q->machine_count && (q->machines[same].room != m.room ||
                                           q->machines[same].suits != m.suits))
            same++;
        if (same == q->machine_count)
            add_machine(q, m);
        else if (m.price < q->machines[same].price)
            q->machines[same].price = m.price;
    }
}

static void add_options(struct asked *q)
{
    const struct types *t = &q->w->types;
    for (uint32_t i = 0; i < q->w->option_count; i++) {
        const struct option *o = &q->w->options[i];
        struct offered offered = {ARENA_ARRAY(q->a, uint64_t, t->count),
                                  ARENA_ARRAY(q->a, uint64_t, t->kind_count),
                                  ARENA_ARRAY(q->a, amount *, o->first_row[t->count])};
        for (uint32_t suit = 0; suit < q->suit_count; suit++)
            offer_suit(q, i, suit, &offered);
        for (BITS_EACH(type, o->types, t->words))
            add_type(q, o, type, &offered);
    }
}

/* --- what stands --- */

/* Who suits the node by its labels and taints, and who stands on it anyway. */
static uint64_t row_suits(struct asked *q, uint32_t row)
{
    const struct world *w = q->w;
    uint64_t *suits = &q->profile_suits[w->profile_of[row]];
    if (*suits == 0) {
        *suits = UINT64_C(1) << ANY_SUIT;
        for (uint32_t suit = 0; suit < q->suit_count; suit++) {
            const struct pod_class *k = &w->classes.items[q->example[suit]];
            for (uint32_t i = 0; i < alternatives(k); i++) {
                struct attempt try = *alternative(w, k, i);
                try.soft = true;
                try.where_count = 0; /* volumes are each pod's own, a suit is of many */
                if (world_suits(w, &try, w->profile_of[row], NULL) == FIT_YES)
                    *suits |= UINT64_C(1) << suit;
            }
        }
    }
    uint64_t all = *suits;
    const struct world_node *n = &w->nodes[row];
    for (uint32_t i = 0; !is_kept(n) && i < n->pod_count; i++)
        if (moves(w, n, i))
            all |= UINT64_C(1) << q->suit[n->pod_classes[i]];
    return all;
}

/* What a node has for pods that move: what is free, and what those on it take, which it is known to
 * hold even when that is more than it should. */
static amount *row_room(struct asked *q, uint32_t row)
{
    const struct world *w = q->w;
    const struct world_node *n = &w->nodes[row];
    amount *room = widened(q, world_vector(w, w->left, row), 0);
    for (uint32_t c = 0; c < w->resource_count; c++)
        room[c] = room[c] > 0 ? room[c] : 0;
    for (uint32_t i = 0; !is_kept(n) && i < n->pod_count; i++)
        if (moves(w, n, i)) {
            const amount *more = q->size[n->pod_classes[i]];
            for (uint32_t c = 0; c < q->columns; c++)
                room[c] = amount_add(room[c], more[c]);
        }
    for (uint32_t c = w->resource_count; c < q->columns; c++)
        room[c] = room[c] > 1 ? room[c] : 1;
    return room;
}

static void most_of(amount *vector, const amount *other, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        if (other[c] > vector[c])
            vector[c] = other[c];
}

/* Nodes that stay anyway have no price: their free room is taken as one. */
static void add_kept(struct asked *q, uint32_t row, uint64_t suits)
{
    uint32_t columns = q->columns;
    amount *room = row_room(q, row);
    struct words words;
    words_init(&words, q->a);
    words_put64(&words, suits);
    bool is_new;
    uint32_t at = intern_put(&q->rows, &words, &is_new);
    if (is_new) {
        amount *largest = ARENA_ARRAY(q->a, amount, columns);
        memcpy(largest, room, columns * sizeof(*room));
        add_machine(q, (struct bound_machine){.room = room, .largest = largest, .suits = suits,
                                              .there = 1});
        return;
    }
    struct bound_machine *m = &q->machines[at];
    most_of((amount *)m->largest, room, columns);
    for (uint32_t c = 0; c < columns; c++)
        ((amount *)m->room)[c] = amount_add(m->room[c], room[c]);
}

static void add_priced(struct asked *q, uint32_t row, uint64_t suits)
{
    uint32_t columns = q->columns;
    double price = q->w->nodes[row].price;
    amount *room = row_room(q, row);
    struct words words;
    words_init(&words, q->a);
    uint64_t bits;
    memcpy(&bits, &price, sizeof(bits));
    words_put64(&words, suits);
    words_put64(&words, bits);
    for (uint32_t c = 0; c < columns && q->rows.count < MOST_ROWS; c++)
        words_put64(&words, (uint64_t)room[c]);
    bool is_new;
    uint32_t at = intern_put(&q->rows, &words, &is_new);
    if (is_new)
        add_machine(q, (struct bound_machine){.room = room, .price = price, .suits = suits});
    most_of((amount *)q->machines[at].room, room, columns);
    q->machines[at].there++;
}

static void add_rows(struct asked *q)
{
    const struct world *w = q->w;
    intern_init(&q->rows, q->a);
    q->profile_suits = ARENA_ARRAY(q->a, uint64_t, w->profile_count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (trial_is_gone(q->t, row))
            continue;
        if (!is_kept(n)) {
            add_priced(q, row, row_suits(q, row));
            continue;
        }
        add_kept(q, row, row_suits(q, row));
        q->fixed += isnan(n->price) ? 0 : n->price;
    }
}

double solution_bound(struct trial *t)
{
    struct arena a;
    arena_init(&a, 256 << 10);
    struct asked q = {.w = t->world, .t = t, .a = &a};
    count_pods(&q);
    find_alone(&q);
    set_sizes(&q);
    set_suits(&q);
    add_rows(&q); /* first, so that `rows` numbers them */
    add_options(&q);
    struct bound_item *items = ARENA_ARRAY(&a, struct bound_item, q.w->classes.count);
    uint32_t count = 0;
    for (uint32_t c = 0; c < q.w->classes.count; c++)
        if (q.pods[c] != 0)
            items[count++] = (struct bound_item){q.size[c], q.pods[c], q.suit[c]};
    double bound = bound_lowest(&a, &(struct bound_question){
        .machines = q.machines, .machine_count = q.machine_count, .items = items,
        .item_count = count, .columns = q.columns});
    arena_release(&a);
    return q.fixed + bound;
}
