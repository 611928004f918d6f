#include "planner/packing/packer.h"

#include <math.h>

static const double SAME = 1e-9;   /* prices that differ by less are equal, relative */
static const double HOPE = 1.1;    /* what a product may promise more than in the run before */
/* How much of what a run shows goes into the values: in the first round of runs, and later. */
static const double LESSONS[] = {0.8, 0.5};
static const double DEAREST = 2.5; /* the most that a run shows */
static const double BULKS[] = {0, 0.2, 0.6, 0.2}; /* by run of a round */
static const double CROWDS[] = {1.5, 1.1, 1.5, 1.5};

struct bought {
    uint32_t product;
    uint32_t claim;
};

/* What fills have looked at counts as the trial's steps do. */
static void tell_looks(struct packer *k)
{
    uint64_t looks = 0;
    for (uint32_t i = 0; i < k->shop_count; i++)
        looks += k->shops[i].fill.looks;
    trial_look(k->t, looks - k->looks);
    k->looks = looks;
}

static bool out_of_steps(struct packer *k)
{
    tell_looks(k);
    return k->t->asked > k->limit || trial_stopped(k->t);
}

/* --- one pod --- */

/* Whether the claim can be had for the product's price. */
static bool still_sold(const struct packer *k, const struct product *p, uint32_t claim)
{
    const struct trial_claim *x = &k->t->claims[claim];
    return bits_has(x->types, p->type) &&
           specs_prices(&k->t->specs, x->spec)[p->type] <= p->price * (1 + SAME);
}

static const uint32_t NO_CLAIM = UINT32_MAX, NO_PRODUCT = UINT32_MAX;

/* Whether the pod is to be left to an option that is asked before this one: it waits for a reservation
 * there, or can have one now. */
static bool waits_elsewhere(struct packer *k, uint32_t option, uint32_t pod, uint32_t class_id,
                            const struct attempt *try)
{
    struct trial *t = k->t;
    const struct option *o = t->world->options;
    uint32_t mark = trial_mark(t);
    bool waits = false;
    if (t->fallback || t->world->types.reservation_count == 0)
        return false;
    for (uint32_t i = 0; i < option && !waits; i++) {
        enum opening answer = trial_open(t, i, pod, class_id, try);
        waits = answer == OPEN_RESERVED ||
                (answer == OPEN_YES && o[i].pool->weight > o[option].pool->weight);
        trial_undo(t, mark);
    }
    return waits;
}

/* Opens a claim with the pod. */
static enum opening open_claim(struct packer *k, const struct shop *shop, const struct product *p,
                               uint32_t pod, uint32_t class_id, const struct attempt *try)
{
    if (waits_elsewhere(k, p->option, pod, class_id, try))
        return OPEN_RESERVED;
    return shop->narrow
               ? trial_open_niche(k->t, p->option, (uint32_t)p->niche, pod, class_id, try)
               : trial_open(k->t, p->option, pod, class_id, try);
}

/* Pods of the lot are to wait for a reservation: they are left to greedy. */
static void leave_waiting(struct packer *k, struct stock *s, struct lot *l)
{
    for (uint32_t i = l->next; i < l->count; i++)
        k->outcome[l->pods[i]] = OUTCOME_RESERVED;
    stock_take(s, l, l->count - l->next);
}

/* Puts the lot's next pod on the claim, or opens it. */
static bool put_here(struct packer *k, struct shop *shop, const struct product *p, struct lot *l,
                uint32_t *claim)
{
    struct trial *t = k->t;
    uint32_t count, pod = l->pods[l->next];
    const struct attempt *try = stock_attempts(&shop->stock, l->class_id, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mark = trial_mark(t);
        if (try[i].soft && !t->world->soft_taints)
            continue;
        if (*claim == NO_CLAIM) {
            enum opening answer = open_claim(k, shop, p, pod, l->class_id, &try[i]);
            if (answer == OPEN_RESERVED) {
                leave_waiting(k, &shop->stock, l);
                return false;
            }
            if (answer != OPEN_YES)
                continue;
            *claim = t->claim_count - 1;
            if (still_sold(k, p, *claim))
                return true;
            *claim = NO_CLAIM;
        } else {
            uint32_t before = t->claims[*claim].spec;
            if (trial_place_on_claim(t, *claim, pod, l->class_id, &try[i]) != ANSWER_YES)
                continue;
            if (t->claims[*claim].spec == before || still_sold(k, p, *claim))
                return true;
        }
        trial_undo(t, mark);
    }
    return false;
}

static bool put(struct packer *k, struct shop *shop, const struct product *p, struct lot *l,
                uint32_t *claim)
{
    k->t->wish = stock_cell(&shop->stock, l);
    bool done = put_here(k, shop, p, l, claim);
    k->t->wish = NULL;
    return done;
}

/* --- one machine --- */

/* Puts on the claim, or on a new one, what the fill proposes. */
static uint32_t load(struct packer *k, struct shop *shop, const struct product *p, uint32_t claim)
{
    uint32_t lot, count;
    shop->loaded_count = 0;
    while (fill_next(&shop->fill, &lot, &count)) {
        struct lot *l = &shop->stock.lots[lot];
        uint32_t went = 0;
        while (went < count && put(k, shop, p, l, &claim)) {
            k->outcome[l->pods[l->next]] = OUTCOME_PLACED;
            stock_take(&shop->stock, l, 1);
            went++;
        }
        fill_commit(&shop->fill, lot, count, went);
        if (went != 0)
            ARENA_PUSH(shop->stock.arena, shop->loaded, shop->loaded_count, shop->loaded_capacity,
                       ((struct fill_step){lot, went}));
    }
    return claim;
}

/* A claim that may still become something large counts as that against its pool's limits. So that all
 * find room under them, it keeps only what counts no more than its part of what the limits leave, by
 * value, or than what it is bought as. */
static void trim(struct packer *k, const struct product *p, uint32_t claim, double part)
{
    struct trial *t = k->t;
    const struct world *w = t->world;
    const amount *budget = world_vector(w, t->budgets, p->option);
    const amount *own = world_vector(w, w->types.capacity, p->type);
    for (uint32_t c = 0; c < w->column_count; c++) {
        amount left = budget[c] == INT64_MAX ? INT64_MAX : budget[c] + t->claims[claim].charged[c];
        amount fair = left == INT64_MAX ? left : (amount)((double)left * part);
        k->most[c] = fair > own[c] ? fair : own[c];
    }
    trial_trim(t, claim, k->most);
}

/* What the machine cost beside the value on it is noted with all that lies there. */
static void note_paid(struct shop *shop, const struct product *p)
{
    double ratio = fmin(p->price / fmax(shop->fill.value, 1e-12), DEAREST);
    for (uint32_t i = 0; i < shop->loaded_count; i++)
        shop->stock.lots[shop->loaded[i].lot].paid += shop->loaded[i].count * ratio;
}

/* --- which machine --- */

/* The group of which most machines are needed, as a set, and how many; 0 when none limits anything. */
static uint64_t hardest_group(const struct stock *s, uint32_t *machines_out)
{
    uint64_t most = 1;
    uint32_t hardest = STOCK_CAPS;
    for (uint32_t c = 0; c < s->cap_count; c++) {
        uint64_t machines = (s->in_cap[c] + s->cap[c] - 1) / s->cap[c];
        if (machines > most) {
            most = machines;
            hardest = c;
        }
    }
    *machines_out = (uint32_t)most;
    return hardest < STOCK_CAPS ? UINT64_C(1) << hardest : 0;
}

/* Where many machines are needed anyway, for pods that do not bear one another, the rest is to be
 * spread over them: a machine that holds much more than its part of all value would leave others empty.
 * The price that no machine is to exceed; INFINITY: any may be bought. */
static double crowded(struct packer *k, struct shop *shop)
{
    const struct stock *s = &shop->stock;
    uint32_t machines = 0;
    shop->fill.seed = hardest_group(s, &machines);
    return shop->fill.seed != 0 ? k->crowd * s->value_left / machines : INFINITY;
}

/* A tree over the products: at node 1 the one that promises most, at node n the better of nodes 2n and
 * 2n + 1, products from node `leaves` on. Of equals the dearest, as they come: fewer machines then. */
static void set_promise(struct shop *shop, uint32_t product, double promise)
{
    shop->promise[product] = promise;
    for (uint32_t n = (shop->leaves + product) / 2; n > 0; n /= 2) {
        uint32_t a = shop->tree[2 * (size_t)n], b = shop->tree[2 * (size_t)n + 1];
        shop->tree[n] =
            b != NO_PRODUCT &&
                    (a == NO_PRODUCT || shop->promise[b] > shop->promise[a] * (1 + SAME))
                ? b
                : a;
    }
}

static uint32_t most_promising(const struct shop *shop, double price)
{
    const struct stock *s = &shop->stock;
    uint32_t best = shop->tree[1];
    if (best != NO_PRODUCT && s->products[best].price <= price)
        return shop->promise[best] > 0 ? best : NO_PRODUCT;
    best = NO_PRODUCT;
    for (uint32_t i = 0; i < s->product_count; i++)
        if (shop->promise[i] > 0 && s->products[i].price <= price &&
            (best == NO_PRODUCT || shop->promise[i] > shop->promise[best]))
            best = i;
    return best;
}

/* What the product promises now. Only one that may be bought next is worth filling with care. */
static void look_at(struct shop *shop, uint32_t product, double price)
{
    const struct product *p = &shop->stock.products[product];
    double value = fill_value(&shop->fill, p);
    set_promise(shop, product, value / fmax(p->price, 1e-9));
    uint32_t best = most_promising(shop, price);
    shop->planned = NO_PRODUCT;
    if (best == NO_PRODUCT || shop->promise[product] * HOPE < shop->promise[best])
        return;
    fill_improve(&shop->fill, p);
    set_promise(shop, product, shop->fill.value / fmax(p->price, 1e-9));
    shop->planned = product;
}

/* The product that promises most now, at most at the price, or NO_PRODUCT. What was promised before
 * only gets less. */
static uint32_t best_product(struct packer *k, struct shop *shop, double price)
{
    for (;;) {
        uint32_t best = most_promising(shop, price);
        if (best == NO_PRODUCT || shop->fresh[best] || out_of_steps(k))
            return best;
        shop->fresh[best] = true;
        look_at(shop, best, price);
        if (shop->first[best] < 0)
            shop->first[best] = shop->promise[best];
    }
}

/* --- one run --- */

/* Whether there is plenty left of what lies on the machine just bought. Then another one like it is still
 * the best, since all others promise no more than before. Where groups limit what is on a node, lots are
 * small, and as much is plenty; else what is left at the end should still be of many sizes. */
static bool can_repeat(const struct shop *shop)
{
    enum { PLENTY = 32 };
    uint32_t plenty = shop->stock.cap_count != 0 ? 1 : PLENTY;
    for (uint32_t i = 0; i < shop->loaded_count; i++) {
        const struct lot *l = &shop->stock.lots[shop->loaded[i].lot];
        uint32_t count = 0;
        for (uint32_t n = i; n < shop->loaded_count; n++)
            count += shop->loaded[n].lot == shop->loaded[i].lot ? shop->loaded[n].count : 0;
        if ((uint64_t)count * plenty > l->count - l->next)
            return false;
    }
    return shop->loaded_count != 0;
}

/* What to load on a machine of the product: what it was looked at with last, if that was just now. */
static void plan_load(struct shop *shop, uint32_t product)
{
    struct fill *f = &shop->fill;
    if (shop->planned != product) {
        fill_value(f, &shop->stock.products[product]);
        fill_improve(f, &shop->stock.products[product]);
    }
    shop->planned = NO_PRODUCT;
    shop->loaded_count = 0;
    for (uint32_t i = 0; i < f->took_count; i++)
        if (f->took[i].count != 0)
            ARENA_PUSH(shop->stock.arena, shop->loaded, shop->loaded_count, shop->loaded_capacity,
                       f->took[i]);
}

/* Whether what is to be loaded needs more than a claim has that may become any offering of the type. */
static bool needs_niche(const struct shop *shop, const struct product *p)
{
    for (uint32_t c = 0; p->niche >= 0 && c < shop->stock.column_count; c++) {
        double sum = 0;
        for (uint32_t i = 0; i < shop->loaded_count; i++)
            sum += shop->loaded[i].count * shop->stock.lots[shop->loaded[i].lot].size[c];
        if (sum > p->plain[c])
            return true;
    }
    return false;
}

/* Buys until nobody who is left can be put anywhere. False: cut short. */
static bool buy_all(struct packer *k, struct shop *shop)
{
    const struct stock *s = &shop->stock;
    uint32_t best = NO_PRODUCT;
    shop->loaded_count = 0;
    for (;;) {
        uint64_t seed = shop->fill.seed;
        double price = crowded(k, shop);
        bool again = best != NO_PRODUCT && seed == shop->fill.seed &&
                     s->products[best].price <= price && can_repeat(shop);
        if (!again)
            best = best_product(k, shop, price);
        if (best == NO_PRODUCT)
            best = best_product(k, shop, INFINITY);
        if (best == NO_PRODUCT)
            return true;
        if (out_of_steps(k))
            return false;
        const struct product *p = &s->products[best];
        double left = s->value_left;
        if (!again)
            plan_load(shop, best);
        shop->narrow = needs_niche(shop, p);
        fill_begin(&shop->fill, p, NULL);
        fill_follow(&shop->fill, shop->loaded, shop->loaded_count);
        uint32_t claim = load(k, shop, p, NO_CLAIM);
        if (claim == NO_CLAIM) {
            set_promise(shop, best, -1);
            best = NO_PRODUCT;
            continue;
        }
        trim(k, p, claim, fmin(shop->fill.value / fmax(left, 1e-12), 1));
        note_paid(shop, p);
        ARENA_PUSH(s->arena, shop->bought, shop->bought_count, shop->bought_capacity,
                   ((struct bought){best, claim}));
        memset(shop->fresh, 0, s->product_count * sizeof(*shop->fresh));
    }
}

/* What was refused at first may be welcome now: spreading allows what it did not. */
static void top_up(struct packer *k, struct shop *shop)
{
    shop->fill.seed = 0;
    for (uint32_t i = 0; i < shop->bought_count; i++) {
        const struct product *p = &shop->stock.products[shop->bought[i].product];
        fill_begin(&shop->fill, p, k->t->claims[shop->bought[i].claim].requests);
        load(k, shop, p, shop->bought[i].claim);
    }
}

/* Who stands on a node in greedy's plan goes there first. */
static void keep_on_nodes(struct packer *k)
{
    const struct trial *greedy = k->greedy;
    const struct world *w = k->t->world;
    for (uint32_t i = 0; i < greedy->step_count; i++) {
        const struct trial_step *step = &greedy->steps[i];
        if (step->kind != TRIAL_ON_NODE || k->outcome[step->pod] == OUTCOME_PLACED)
            continue;
        if (out_of_steps(k))
            return;
        const struct pod_class *x = &w->classes.items[step->class_id];
        bool strict = k->options->ignore_preferences;
        uint32_t first = strict ? x->first_strict : x->first_attempt;
        uint32_t count = strict ? x->strict_count : x->attempt_count;
        for (uint32_t n = 0; n < count && k->outcome[step->pod] != OUTCOME_PLACED; n++) {
            const struct attempt *try = &w->classes.attempts[first + n];
            if (!trial_fits(k->t, step->target, step->class_id, try))
                continue;
            trial_place_on_node(k->t, step->target, step->pod, step->class_id, try);
            k->outcome[step->pod] = OUTCOME_PLACED;
        }
    }
}

/* Values by what the last run paid, its mean taken as right. */
static void learn(struct stock *s, double lesson)
{
    double paid = 0, value = 0;
    for (uint32_t i = 0; i < s->lot_count; i++) {
        struct lot *l = &s->lots[i];
        l->paid += (l->count - l->next) * DEAREST; /* who was not placed at all */
        paid += l->paid * l->value;
        value += l->count * l->value;
    }
    for (uint32_t i = 0; i < s->lot_count && paid > 0; i++) {
        struct lot *l = &s->lots[i];
        double ratio = l->paid / l->count * value / paid;
        l->value *= 1 + lesson * (ratio - 1);
    }
}

/* Pods that came to stand elsewhere are out of the lots: they are the first of each. */
static void restock(const struct packer *k, struct shop *shop)
{
    struct stock *s = &shop->stock;
    if (k->run != 0) {
        learn(s, LESSONS[k->run >= COUNT_OF(BULKS)]);
        stock_rank(s);
    }
    fill_restart(&shop->fill);
    for (uint32_t i = 0; i < s->lot_count; i++) {
        struct lot *l = &s->lots[i];
        l->paid = 0;
        for (l->next = 0; l->next < l->count && k->outcome[l->pods[l->next]] != OUTCOME_NOT_REACHED;)
            l->next++;
    }
    stock_count(s);
    for (uint32_t i = 0; i < s->product_count; i++) {
        bool known = k->run != 0 && shop->first[i] > 0;
        set_promise(shop, i, (known ? shop->first[i] : 1) * HOPE);
        shop->first[i] = -1;
        shop->fresh[i] = false;
    }
    shop->bought_count = 0;
    shop->planned = NO_PRODUCT;
}

static bool run(struct packer *k)
{
    keep_on_nodes(k);
    for (uint32_t i = 0; i < k->shop_count; i++) {
        struct shop *shop = &k->shops[i];
        restock(k, shop);
        shop->fill.bulk = BULKS[k->run % COUNT_OF(BULKS)];
        if (!buy_all(k, shop))
            return false;
        top_up(k, shop);
    }
    k->run++;
    return true;
}

bool packer_run(struct packer *k, struct trial *t, uint64_t limit, uint8_t *outcome_out)
{
    k->t = t;
    k->outcome = outcome_out;
    k->limit = limit;
    k->crowd = CROWDS[k->run % COUNT_OF(CROWDS)];
    if (k->deal != NULL)
        deal_measure(k->deal, t);
    bool ended = run(k);
    tell_looks(k);
    tally_measure_end(&t->tally);
    return ended;
}

/* --- what there is --- */

static bool open_shop(struct shop *shop, struct arena *a, struct trial *t,
                      const struct stock_source *from)
{
    if (!stock_build(&shop->stock, a, t, from))
        return false;
    fill_init(&shop->fill, &shop->stock);
    shop->promise = ARENA_ARRAY(a, double, shop->stock.product_count);
    shop->first = ARENA_ARRAY(a, double, shop->stock.product_count);
    shop->fresh = ARENA_ARRAY(a, bool, shop->stock.product_count);
    for (shop->leaves = 1; shop->leaves < shop->stock.product_count;)
        shop->leaves *= 2;
    shop->tree = ARENA_ARRAY(a, uint32_t, (size_t)shop->leaves * 2);
    for (uint32_t i = 0; i < shop->leaves * 2; i++)
        shop->tree[i] = i >= shop->leaves && i - shop->leaves < shop->stock.product_count
                            ? i - shop->leaves
                            : NO_PRODUCT;
    return true;
}

/* Who is to be bought for. */
static uint32_t find_left(struct packer *k, uint32_t *left)
{
    struct trial *t = k->t;
    uint32_t count = 0, dealt = 0;
    if (k->deal != NULL)
        deal_measure_as(k->deal, k->greedy, t);
    keep_on_nodes(k);
    tally_measure_end(&t->tally);
    for (uint32_t i = 0; i < k->count; i++)
        if (k->outcome[k->queue[i]] == OUTCOME_NOT_REACHED)
            left[count++] = k->queue[i];
    if (k->deal == NULL)
        return count;
    if (!deal_make(k->deal, t, &(struct deal_question){k->limit, left, count}))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (k->deal->cell_of[left[i]] != CELL_NONE)
            left[dealt++] = left[i];
    return dealt;
}

bool packer_init(struct packer *k, struct arena *a, struct trial *t, uint64_t limit, const uint8_t *outcome)
{
    const struct world *w = t->world;
    struct stock_source from = {.ignore_preferences = k->options->ignore_preferences};
    uint32_t *left = ARENA_ARRAY(a, uint32_t, k->count);
    k->t = t;
    k->limit = limit;
    k->outcome = ARENA_ARRAY(a, uint8_t, trial_pod_count(t));
    memcpy(k->outcome, outcome, trial_pod_count(t));
    k->most = ARENA_ARRAY(a, amount, w->column_count);
    from.count = find_left(k, left);
    if (out_of_steps(k))
        return false;
    from.deal = k->deal;
    from.pods = left;
    k->shops = ARENA_ARRAY(a, struct shop, w->option_count);
    for (uint32_t end = 0; end < w->option_count;) {
        from.first_option = end;
        while (end < w->option_count &&
               w->options[end].pool->weight == w->options[from.first_option].pool->weight)
            end++;
        from.end_option = end;
        k->shop_count += open_shop(&k->shops[k->shop_count], a, t, &from);
    }
    return true;
}
