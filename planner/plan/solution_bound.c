/* The fleet as a question to planner/bound/bound.h: which machines there are, what they have to hold.
 *
 * Pods that limit one another on a node, by anti-affinity or a spread over hostname, are a column more, of
 * which every machine has room for so many. Pods that spread over domains whose prices differ have to be in each of
 * them, by as many as maxSkew forces: those suit nothing else. Both by the first rule of search/measure.h, and only
 * where the plan keeps to that itself.
 *
 * Whatever is left out makes the bound lower, never wrong: limits, minValues, host ports, how many a
 * reservation has left, other spreading, affinity and other anti-affinity, volumes; and a pod suits what any
 * of its alternatives, preferences dropped, suits. */
#include "planner/packing/suits.h"
#include "planner/plan/solution.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_ROWS = 256,            /* kinds of standing machines; more are taken together */
    MOST_CAPS = 16,             /* groups that are looked at for pods of which a node holds so many */
};

struct cap {
    uint32_t group, most; /* on a node */
    uint64_t machines;    /* that its pods need at least */
};

struct asked {
    const struct world *w;
    struct trial *t;
    struct arena *a;
    uint64_t *pods;         /* by class */
    struct suited *demands; /* by class, one after the other: who has to be in some domain, and the others */
    uint32_t demand_count, demand_capacity;
    uint32_t *first_demand; /* by class, count + 1 */
    struct suits suits;     /* the rarest suit everything that is for sale */
    uint64_t *profile_suits; /* by profile; 0: not worked out yet */
    struct bound_machine *machines;
    uint32_t machine_count, machine_capacity;
    struct intern rows; /* standing machines that are alike: the first of `machines` */
    double fixed;       /* price of nodes that stay whatever happens */
    struct cap caps[MOST_CAPS];
    uint32_t cap_count;
    uint32_t columns;   /* the world's, then one for each of `caps` */
    const amount **size; /* by class */
};

/* --- what is asked --- */

/* Pods that go when their node goes are no demand, but take room on it while it stays. */
static bool moves(const struct world *w, const struct world_node *n, uint32_t i)
{
    return !w->classes.items[n->pod_classes[i]].daemon && !pod_is_static(n->pods[i]);
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
    for (uint32_t i = 0; i < q->t->seats_count; i++)
        q->pods[q->t->seats[i].class_id] += q->t->seats[i].count;
    for (uint32_t i = 0; i < q->t->step_count; i++) {
        enum trial_kind kind = q->t->steps[i].kind;
        q->pods[q->t->steps[i].class_id] +=
            kind == TRIAL_ON_NODE || kind == TRIAL_ON_CLAIM || kind == TRIAL_OPENED;
    }
}

/* --- how many on a node --- */

/* Whether the plan has no more of them on any node than a new one may have, but where they stood before. */
static bool is_kept_to(const struct asked *q, uint32_t group)
{
    const struct world *w = q->w;
    for (uint32_t i = 0; i < q->t->step_count; i++) {
        const struct trial_step *s = &q->t->steps[i];
        uint32_t most = topology_most_on_node(w, &w->classes.items[s->class_id], group);
        if (s->kind <= TRIAL_OPENED && most != 0 &&
            tally_on_host(&q->t->tally, group,
                          s->kind == TRIAL_ON_NODE ? s->target : w->node_count + s->target) > most)
            return false;
    }
    return true;
}

static bool is_large(const struct asked *q, struct cap x)
{
    return q->cap_count < MOST_CAPS || q->caps[MOST_CAPS - 1].machines < x.machines;
}

/* One that is large. */
static void add_cap(struct asked *q, struct cap x)
{
    uint32_t at = q->cap_count < MOST_CAPS ? q->cap_count++ : MOST_CAPS - 1;
    for (; at > 0 && q->caps[at - 1].machines < x.machines; at--)
        q->caps[at] = q->caps[at - 1];
    q->caps[at] = x;
}

struct capped { /* by group */
    uint64_t pods;
    uint32_t most;
    uint32_t last; /* class that was counted, + 1: one may state a group twice */
};

static void count_capped(const struct asked *q, uint32_t class_id, uint32_t group, struct capped *all)
{
    const struct topology_group *g = &q->w->topology.groups[group];
    uint32_t most = topology_most_on_node(q->w, &q->w->classes.items[class_id], group);
    if (most == 0 || g->kind == TOPOLOGY_AFFINITY || all[group].last == class_id + 1)
        return;
    all[group].last = class_id + 1;
    all[group].pods += q->pods[class_id];
    all[group].most = most;
}

/* The groups whose pods need the most machines. */
static void find_caps(struct asked *q)
{
    const struct world *w = q->w;
    struct capped *all = ARENA_ARRAY(q->a, struct capped, w->topology.group_count);
    for (uint32_t c = 0; c < w->classes.count; c++) {
        const struct pod_class *k = &w->classes.items[c];
        const struct attempt *strict = &w->classes.attempts[k->first_strict];
        for (uint32_t i = 0; q->pods[c] != 0 && i < k->ties.keeps_off_count; i++)
            count_capped(q, c, k->ties.keeps_off[i], all);
        for (uint32_t i = 0; q->pods[c] != 0 && i < strict->group_count; i++)
            count_capped(q, c, strict->groups[i], all);
    }
    for (uint32_t g = 0; g < w->topology.group_count; g++) {
        struct cap x = {g, all[g].most, 0};
        if (all[g].pods <= x.most || x.most == 0)
            continue;
        x.machines = (all[g].pods + x.most - 1) / x.most;
        if (is_large(q, x) && is_kept_to(q, g))
            add_cap(q, x);
    }
    q->columns = w->resource_count + q->cap_count;
}

/* A vector of the world with the columns for `caps` after it. */
static amount *widened(const struct asked *q, const amount *vector, bool capped)
{
    amount *wide = ARENA_ARRAY(q->a, amount, q->columns);
    memcpy(wide, vector, q->w->resource_count * sizeof(*wide));
    for (uint32_t i = 0; i < q->cap_count; i++)
        wide[q->w->resource_count + i] = capped ? q->caps[i].most : 0;
    return wide;
}

static void set_sizes(struct asked *q)
{
    const struct classes *k = &q->w->classes;
    q->size = ARENA_ARRAY(q->a, const amount *, k->count);
    for (uint32_t c = 0; c < k->count; c++) {
        if (q->pods[c] == 0)
            continue;
        amount *size = widened(q, classes_requests(k, c), false);
        for (uint32_t i = 0; i < q->cap_count; i++)
            size[q->w->resource_count + i] =
                topology_most_on_node(q->w, &k->items[c], q->caps[i].group) != 0;
        q->size[c] = size;
    }
}

/* --- how many in each domain --- */

static void add_demand(struct asked *q, struct suited d)
{
    if (d.pods != 0)
        ARENA_PUSH(q->a, q->demands, q->demand_count, q->demand_capacity, d);
}

/* How many of the class's pods, all that count for the group, are in each of the domains `of` whatever is bought;
 * 0: nothing is known. Of n pods in d domains the least has n - (d - 1) * maxSkew, divided by d, or more. */
static uint64_t forced_share(const struct asked *q, uint32_t class_id, uint32_t group,
                             const uint64_t *of)
{
    const struct topology_group *g = &q->w->topology.groups[group];
    const uint32_t *counts = tally_counts(&q->t->tally, group);
    uint64_t domains = 0, pods = 0, least = UINT64_MAX, most = 0;
    for (BITS_EACH(d, of, q->w->topology.keys[g->key].words)) {
        domains++;
        pods += counts[d];
        least = counts[d] < least ? counts[d] : least;
        most = counts[d] > most ? counts[d] : most;
    }
    uint64_t skew = (uint64_t)g->max_skew;
    if (pods != q->pods[class_id] || pods != tally_total(&q->t->tally, group) || domains < 2 ||
        (int64_t)domains < g->min_domains || most - least > skew || pods <= (domains - 1) * skew)
        return 0;
    return (pods - (domains - 1) * skew + domains - 1) / domains;
}

static const int32_t *cell_of(const struct asked *q, uint32_t key, uint32_t domain)
{
    int32_t *cell = ARENA_ARRAY(q->a, int32_t, q->w->topology.key_count);
    for (uint32_t k = 0; k < q->w->topology.key_count; k++)
        cell[k] = k == key ? (int32_t)domain : -1;
    return cell;
}

/* Its pods by domain as its first spread over domains of different prices has them, and the others. */
static void add_demands(struct asked *q, uint32_t class_id)
{
    const struct world *w = q->w;
    const struct pod_class *k = &w->classes.items[class_id];
    const struct attempt *strict = &w->classes.attempts[k->first_strict];
    uint64_t left = q->pods[class_id], share = 0;
    for (uint32_t i = 0; i < strict->group_count && share == 0; i++) {
        const struct topology_group *g = &w->topology.groups[strict->groups[i]];
        const struct topology_key *key = &w->topology.keys[g->key];
        if (g->kind != TOPOLOGY_SPREAD || g->key == 0 || key->flat || !key->given ||
            !tally_counts_class(k, strict->groups[i]))
            continue;
        uint64_t *of = ARENA_ARRAY(q->a, uint64_t, key->words);
        tally_spread_domains(&q->t->tally, strict, strict->groups[i], of);
        share = forced_share(q, class_id, strict->groups[i], of);
        for (BITS_EACH(d, of, share != 0 ? key->words : 0)) {
            add_demand(q, (struct suited){.class_id = class_id, .cell = cell_of(q, g->key, d), .pods = share});
            left -= share;
        }
    }
    add_demand(q, (struct suited){.class_id = class_id, .pods = left});
}

static void set_demands(struct asked *q)
{
    uint32_t classes = q->w->classes.count;
    q->first_demand = ARENA_ARRAY(q->a, uint32_t, classes + 1);
    for (uint32_t c = 0; c < classes; c++) {
        q->first_demand[c] = q->demand_count;
        if (q->pods[c] != 0)
            add_demands(q, c);
    }
    q->first_demand[classes] = q->demand_count;
}

/* --- suits --- */

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
    for (uint32_t i = 0; i < suits_way_count(SUITS_ANY_WAY, k); i++) {
        const struct signature *s = &w->classes.signatures[suits_way(SUITS_ANY_WAY, w, k, i).signature];
        for (uint32_t r = 0; r < s->requirements.count; r++)
            key += requirement_key_of(w, &s->requirements.items[r]);
        for (uint32_t t = 0; t < s->tolerations.count; t++) {
            sym name = s->tolerations.items[t].key;
            key += name == SYM_NONE ? 1 : 11 * span_hash(sym_text(w->syms, name));
        }
    }
    return key;
}

static uint64_t demand_key(const struct world *w, const struct suited *d)
{
    uint64_t key = class_key(w, d->class_id);
    for (uint32_t k = 1; d->cell != NULL && k < w->topology.key_count; k++)
        if (d->cell[k] >= 0)
            key += 13 * span_hash(sym_text(w->syms, w->topology.keys[k].domains[d->cell[k]]));
    return key;
}

static void set_suits(struct asked *q)
{
    for (uint32_t i = 0; i < q->demand_count; i++)
        q->demands[i].key = demand_key(q->w, &q->demands[i]);
    q->suits = (struct suits){.arena = q->a, .trial = q->t, .ways = SUITS_ANY_WAY};
    suits_number(&q->suits, q->demands, q->demand_count);
}

static void add_machine(struct asked *q, struct bound_machine m)
{
    ARENA_PUSH(q->a, q->machines, q->machine_count, q->machine_capacity, m);
}

/* --- what can be bought --- */

/* What it has beside the DaemonSets that are sure to come. */
static amount *room_of_offer(const struct asked *q, const struct option *o, uint32_t row)
{
    amount *room = widened(q, world_vector(q->w, o->room, row), true);
    const amount *unsure = o->daemons[o->daemon_of[row]].unsure;
    for (uint32_t c = 0; room[0] >= 0 && c < q->w->resource_count; c++)
        room[c] = amount_add(room[c], unsure[c]);
    return room;
}

/* Of a type's offerings that nobody can tell apart, the cheapest. */
static void add_type(struct asked *q, const struct option *o, uint32_t type,
                     const struct suits_offered *offered, amount **rooms)
{
    const struct types *t = &q->w->types;
    uint32_t first = q->machine_count;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++) {
        const struct type_offer *offer = &t->offers[k];
        if (!trial_launchable(q->t, offer) || !bits_has(o->kinds, offer->kind))
            continue;
        amount **room = &rooms[o->row_of[k]];
        if (*room == NULL)
            *room = room_of_offer(q, o, o->row_of[k]);
        struct bound_machine m = {.room = *room,
                                  .price = offer->price + o->node_cost,
                                  .suits = (offered->types[type] & offered->kinds[offer->kind]) |
                                           UINT64_C(1) << SUIT_REST};
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
        struct suits_offered offered = suits_offer(&q->suits, i);
        amount **rooms = ARENA_ARRAY(q->a, amount *, o->first_row[t->count]); /* by row, made when needed */
        for (BITS_EACH(type, o->types, t->words))
            add_type(q, o, type, &offered, rooms);
    }
}

/* --- what stands --- */

static bool is_in_cell(const struct asked *q, const struct suited *d, uint32_t row)
{
    const struct topology *t = &q->w->topology;
    for (uint32_t key = 1; d->cell != NULL && key < t->key_count; key++)
        if (d->cell[key] >= 0 && t->keys[key].of_row[row] != d->cell[key] &&
            t->keys[key].of_row[row] != DOMAIN_OPEN)
            return false;
    return true;
}

static bool suits_row(const struct asked *q, const struct suited *d, uint32_t row)
{
    const struct world *w = q->w;
    const struct pod_class *k = &w->classes.items[d->class_id];
    for (uint32_t i = 0; i < suits_way_count(SUITS_ANY_WAY, k); i++) {
        struct attempt try = suits_way(SUITS_ANY_WAY, w, k, i);
        try.where_count = 0; /* volumes are each pod's own, a suit is of many */
        if (world_suits(w, &try, w->profile_of[row], NULL) == FIT_YES)
            return true;
    }
    return false;
}

/* Who suits the node by its labels and taints, and who stands on it anyway. */
static uint64_t row_suits(struct asked *q, uint32_t row)
{
    const struct world *w = q->w;
    const struct world_node *n = &w->nodes[row];
    uint64_t *suits = &q->profile_suits[w->profile_of[row]];
    if (*suits == 0) {
        *suits = UINT64_C(1) << SUIT_REST;
        for (uint32_t suit = 0; suit < q->suits.count; suit++)
            if (suits_row(q, q->suits.example[suit], row))
                *suits |= UINT64_C(1) << suit;
    }
    uint64_t all = *suits;
    for (uint32_t i = 0; !is_kept(n) && i < n->pod_count; i++)
        for (uint32_t d = q->first_demand[n->pod_classes[i]];
             moves(w, n, i) && d < q->first_demand[n->pod_classes[i] + 1]; d++)
            all |= UINT64_C(1) << q->demands[d].suit;
    for (uint32_t suit = 0; suit < q->suits.count; suit++)
        if (!is_in_cell(q, q->suits.example[suit], row))
            all &= ~(UINT64_C(1) << suit);
    return all;
}

/* What a node has for pods that move: what is free, and what those on it take, which it is known to
 * hold even when that is more than it should. */
static amount *row_room(struct asked *q, uint32_t row)
{
    const struct world *w = q->w;
    const struct world_node *n = &w->nodes[row];
    amount *room = widened(q, world_vector(w, w->left, row), false);
    for (uint32_t c = 0; c < w->resource_count; c++)
        room[c] = room[c] > 0 ? room[c] : 0;
    for (uint32_t i = 0; !is_kept(n) && i < n->pod_count; i++)
        if (moves(w, n, i)) {
            const amount *more = q->size[n->pod_classes[i]];
            for (uint32_t c = 0; c < q->columns; c++)
                room[c] = amount_add(room[c], more[c]);
        }
    for (uint32_t i = 0; i < q->cap_count; i++) {
        amount *most = &room[w->resource_count + i];
        *most = *most > q->caps[i].most ? *most : q->caps[i].most;
    }
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
    find_caps(&q);
    set_sizes(&q);
    set_demands(&q);
    set_suits(&q);
    add_rows(&q); /* first, so that `rows` numbers them */
    add_options(&q);
    struct bound_item *items = ARENA_ARRAY(&a, struct bound_item, q.demand_count);
    for (uint32_t i = 0; i < q.demand_count; i++)
        items[i] = (struct bound_item){q.size[q.demands[i].class_id], q.demands[i].pods, q.demands[i].suit};
    double bound = bound_lowest(&a, &(struct bound_question){
        .machines = q.machines, .machine_count = q.machine_count, .items = items,
        .item_count = q.demand_count, .columns = q.columns});
    arena_release(&a);
    return q.fixed + bound;
}
