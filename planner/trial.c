#include "planner/trial.h"

#include <math.h>

static uint64_t *new_set(struct trial *t)
{
    return ARENA_ARRAY(t->arena, uint64_t, t->world->types.words);
}

static amount *new_vector(struct trial *t)
{
    return ARENA_ARRAY(t->arena, amount, t->world->column_count);
}

static void vector_move(amount *vector, const amount *by, int sign, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        vector[c] += sign * by[c];
}

void trial_init(struct trial *t, struct arena *a, const struct world *w)
{
    *t = (struct trial){.arena = a, .world = w};
    specs_init(&t->specs, a, w);
    tally_init(&t->tally, a, w);
    t->left = new_set(t);
    t->adjusted = new_vector(t);
    t->seen = ARENA_ARRAY(a, uint32_t, symtab_limit(w->syms));
    t->reserved_left = ARENA_ARRAY(a, int64_t, w->types.reservation_count);
    t->credit = ARENA_ARRAY(a, int64_t, w->types.reservation_count);
    for (uint32_t i = 0; i < w->types.reservation_count; i++)
        t->reserved_left[i] = w->types.reservations[i].left;
    t->free_domains = ARENA_ARRAY(a, uint64_t *, w->topology.key_count);
    for (uint32_t k = 1; k < w->topology.key_count; k++)
        t->free_domains[k] = ARENA_ARRAY(a, uint64_t, w->topology.keys[k].words);
    t->row_at = ARENA_ARRAY(a, uint32_t, w->node_count);
    t->budgets = ARENA_ARRAY(a, amount, (size_t)w->option_count * w->column_count);
    t->nodes_left = ARENA_ARRAY(a, amount, w->option_count);
    for (uint32_t i = 0; i < w->option_count; i++) {
        memcpy(t->budgets + (size_t)i * w->column_count, w->options[i].budget,
               w->column_count * sizeof(amount));
        t->nodes_left[i] = w->options[i].nodes_left;
    }
}

static struct trial_step *log_step(struct trial *t, struct trial_step step)
{
    ARENA_PUSH(t->arena, t->steps, t->step_count, t->step_capacity, step);
    return &t->steps[t->step_count - 1];
}

static void add_ports(struct trial *t, struct host_ports *into, uint32_t *capacity,
                      struct host_ports more)
{
    for (uint32_t i = 0; i < more.count; i++)
        ARENA_PUSH(t->arena, into->items, into->count, *capacity, more.items[i]);
}

/* What a pod of the class asks of a node that has these shared volumes already: each is attached
 * once. Valid until the next call. */
static const amount *requests_beside(struct trial *t, uint32_t class_id,
                                     const struct volume_numbers *there)
{
    const struct world *w = t->world;
    const struct pod_class *k = &w->classes.items[class_id];
    const amount *requests = classes_requests(&w->classes, class_id);
    if (k->shared_count == 0)
        return requests;
    memcpy(t->adjusted, requests, w->column_count * sizeof(amount));
    for (uint32_t i = 0; i < k->shared_count; i++)
        for (uint32_t n = 0; n < there->count; n++)
            if (there->items[n] == k->shared[i].volume) {
                t->adjusted[k->shared[i].column]--;
                break;
            }
    return t->adjusted;
}

static void add_shared(struct trial *t, struct volume_numbers *into, const struct pod_class *k)
{
    for (uint32_t i = 0; i < k->shared_count; i++)
        ARENA_PUSH(t->arena, into->items, into->count, into->capacity, k->shared[i].volume);
}

/* --- rows --- */

static struct trial_row *touch_row(struct trial *t, uint32_t row)
{
    if (t->row_at[row] == 0) {
        const struct world *w = t->world;
        struct trial_row r = {.left = new_vector(t)};
        memcpy(r.left, world_vector(w, w->left, row), w->column_count * sizeof(amount));
        add_ports(t, &r.ports, &r.port_capacity,
                  (struct host_ports){w->ports[row].items, w->ports[row].count});
        for (uint32_t i = 0; w->shared != NULL && i < w->shared[row].count; i++)
            ARENA_PUSH(t->arena, r.shared.items, r.shared.count, r.shared.capacity,
                       w->shared[row].items[i]);
        ARENA_PUSH(t->arena, t->rows, t->row_count, t->row_capacity, r);
        t->row_at[row] = t->row_count;
    }
    return &t->rows[t->row_at[row] - 1];
}

const amount *trial_left(const struct trial *t, uint32_t row)
{
    uint32_t at = t->row_at[row];
    return at != 0 ? t->rows[at - 1].left : world_vector(t->world, t->world->left, row);
}

/* What the node counts against its pool's limits comes back (by 1), or goes again (by -1). */
static void move_limits(struct trial *t, uint32_t row, int by)
{
    const struct world *w = t->world;
    int32_t pool = w->nodes[row].pool;
    const amount *capacity = world_vector(w, w->capacity, row);
    for (uint32_t i = 0; pool >= 0 && i < w->option_count; i++) {
        const struct option *o = &w->options[i];
        amount *budget = t->budgets + (size_t)i * w->column_count;
        if (o->pool != w->pools[pool])
            continue;
        for (uint32_t c = 0; c < w->column_count; c++)
            if (o->budget[c] != INT64_MAX) /* no limit */
                budget[c] += by * capacity[c];
        if (o->nodes_left != INT64_MAX)
            t->nodes_left[i] += by;
    }
}

void trial_remove_node(struct trial *t, uint32_t row)
{
    const struct world *w = t->world;
    const struct world_node *n = &w->nodes[row];
    struct trial_step step = {.kind = TRIAL_NODE_GONE, .target = row, .before = t->moved_count};
    if (trial_is_gone(t, row))
        return;
    touch_row(t, row)->gone = true;
    move_limits(t, row, 1);
    for (uint32_t i = n->first_pod; i < n->first_pod + n->pod_count; i++) {
        const struct pod *p = w->bound[i];
        struct waiting_pod x = {p, w->bound_class[i], true, world_blocks(w, p)};
        if (pod_is_reschedulable(p))
            ARENA_PUSH(t->arena, t->moved, t->moved_count, t->moved_capacity, x);
    }
    log_step(t, step);
}

void trial_remove_pod(struct trial *t, uint32_t row, uint32_t class_id)
{
    vector_move(touch_row(t, row)->left, classes_requests(&t->world->classes, class_id), 1,
                t->world->column_count);
    tally_move_row(&t->tally, &t->world->classes.items[class_id], row, -1);
    log_step(t, (struct trial_step){.kind = TRIAL_POD_GONE, .class_id = class_id, .target = row});
}

static const struct volume_numbers *shared_on(const struct trial *t, uint32_t row)
{
    static const struct volume_numbers none;
    if (t->row_at[row] != 0)
        return &t->rows[t->row_at[row] - 1].shared;
    return t->world->shared != NULL ? &t->world->shared[row] : &none;
}

enum answer trial_ask_row(struct trial *t, uint32_t row, uint32_t class_id,
                          const struct attempt *try)
{
    const struct world *w = t->world;
    t->asked++;
    if (trial_is_gone(t, row) ||
        !vector_fits(requests_beside(t, class_id, shared_on(t, row)), trial_left(t, row),
                     w->column_count))
        return ANSWER_NEVER;
    uint32_t at = t->row_at[row];
    struct host_ports there = {w->ports[row].items, w->ports[row].count};
    if (at != 0)
        there = t->rows[at - 1].ports;
    if (ports_conflict(w->classes.signatures[try->signature].ports, there))
        return ANSWER_NEVER;
    return try->tied ? tally_row(&t->tally, &w->classes.items[class_id], try, row, NULL)
                     : ANSWER_YES;
}

void trial_place_on_node(struct trial *t, uint32_t row, uint32_t pod, uint32_t class_id,
                         const struct attempt *try)
{
    const struct world *w = t->world;
    struct trial_row *r = touch_row(t, row);
    vector_move(r->left, requests_beside(t, class_id, &r->shared), -1, w->column_count);
    add_ports(t, &r->ports, &r->port_capacity, w->classes.signatures[try->signature].ports);
    add_shared(t, &r->shared, &w->classes.items[class_id]);
    tally_move_row(&t->tally, &w->classes.items[class_id], row, 1);
    log_step(t, (struct trial_step){TRIAL_ON_NODE, pod, class_id, row, 0, NULL});
}

/* --- claims --- */

/* Drops from `set` what does not hold `requests`; the largest by CPU, then memory, becomes the
 * witness. False when nothing is left. */
static bool keep_holding(const struct world *w, const struct spec *s, uint64_t *set,
                         const amount *requests, uint32_t *witness_out)
{
    const struct option *o = &w->options[s->option];
    uint32_t words = w->types.words;
    room_keep(o->by_room, w->column_count, words, requests, set);
    for (uint32_t i = 0; i < words; i++)
        for (uint64_t left = set[i] & o->several[i]; left != 0; left &= left - 1) {
            uint32_t type = i * 64 + (uint32_t)__builtin_ctzll(left);
            if (!spec_type_holds(w, s, type, requests))
                bits_drop(set, type);
        }
    uint32_t cpu = room_greatest(&o->by_room[0], words, set);
    if (cpu == o->by_room[0].count)
        return false;
    const uint64_t *large = o->by_room[0].sets + (size_t)cpu * words;
    const struct room_column *memory = &o->by_room[1];
    uint32_t low = 0, high = memory->count; /* the largest memory among those with the largest CPU */
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        bool meet = false;
        for (uint32_t i = 0; i < words && !meet; i++)
            meet = (set[i] & large[i] & memory->sets[(size_t)mid * words + i]) != 0;
        if (meet)
            high = mid;
        else
            low = mid + 1;
    }
    for (uint32_t i = 0; i < words; i++) {
        uint64_t best = set[i] & large[i] & memory->sets[(size_t)low * words + i];
        if (best != 0) {
            *witness_out = i * 64 + (uint32_t)__builtin_ctzll(best);
            break;
        }
    }
    return true;
}

static void set_headroom(const struct world *w, struct trial_claim *c, const struct spec *s)
{
    const struct option *o = &w->options[s->option];
    for (uint32_t i = 0; i < w->column_count; i++) {
        uint32_t at = room_greatest(&o->by_room[i], w->types.words, c->types);
        c->headroom[i] =
            at < o->by_room[i].count ? o->by_room[i].values[at] - c->requests[i] : -1;
    }
}

static void count_pod(struct trial *t, uint32_t claim, uint32_t class_id, int by)
{
    const struct world *w = t->world;
    const struct pod_class *k = &w->classes.items[class_id];
    if (k->ties.counted_by_count + k->ties.keeps_off_count == 0)
        return;
    uint32_t spec = t->claims[claim].spec;
    struct tally_claim c = {.target = w->node_count + claim,
                            .requirements = &t->specs.items[spec].requirements,
                            .taints = w->options[t->specs.items[spec].option].taints,
                            .domain_of = specs_definite(&t->specs, spec)};
    tally_move_claim(&t->tally, k, &c, by);
}

static void take_pod(struct trial *t, struct trial_claim *c, uint32_t class_id,
                     const struct attempt *try)
{
    const struct world *w = t->world;
    const amount *requests = requests_beside(t, class_id, &c->shared);
    vector_move(c->requests, requests, 1, w->column_count);
    vector_move(c->headroom, requests, -1, w->column_count);
    add_ports(t, &c->ports, &c->port_capacity, w->classes.signatures[try->signature].ports);
    add_shared(t, &c->shared, &w->classes.items[class_id]);
    c->pods++;
}

/* --- one definite domain for every key that matters --- */

enum obstacle { NO_OBSTACLE, TOO_FEW_VALUES, RESERVATIONS_TAKEN, RESERVATIONS_FULL };

struct fitting { /* of one pod into one claim */
    struct trial *t;
    const struct trial_claim *claim;
    const amount *requests; /* with the pod's */
    const struct pod_class *class;
    const struct attempt *try;
    bool is_new;
    uint32_t witness;
    bool cut; /* t->left holds the types that are left; else the witness held */
    enum obstacle obstacle; /* of the last try that types did not stop */
    const uint32_t *least;
    bool relaxed;
    const uint64_t *held;
};

static const struct option *option_of(const struct trial *t, const struct spec *s)
{
    return &t->world->options[s->option];
}

/* Types that are left when the pod is there too; `exact`: all that are not are dropped. */
static bool fits_types(struct fitting *f, uint32_t spec, bool exact)
{
    struct trial *t = f->t;
    const struct world *w = t->world;
    const struct spec *s = &t->specs.items[spec];
    f->witness = f->claim->witness;
    f->cut = false;
    if (!exact && bits_has(f->claim->types, f->witness) && bits_has(s->types, f->witness) &&
        spec_type_holds(w, s, f->witness, f->requests))
        return true;
    f->cut = true;
    for (uint32_t i = 0; i < w->types.words; i++)
        t->left[i] = f->claim->types[i] & s->types[i];
    return keep_holding(w, s, t->left, f->requests, &f->witness);
}

/* --- minValues --- */

static uint32_t count_values(struct trial *t, const struct requirement *own,
                             const struct requirement *allowed, uint32_t found, uint32_t enough)
{
    for (uint32_t v = 0; !own->complement && v < own->count && found < enough; v++) {
        if (t->seen[own->values[v]] == t->seen_now ||
            (allowed != NULL && !requirement_has(allowed, own->values[v], t->world->syms)))
            continue;
        t->seen[own->values[v]] = t->seen_now;
        found++;
    }
    return found;
}

uint32_t trial_values(struct trial *t, const struct spec *s, const uint64_t *types, sym key,
                      uint32_t enough)
{
    const struct types *y = &t->world->types;
    const struct requirement *allowed = requirements_get(&s->requirements, key);
    uint32_t found = 0;
    t->seen_now++;
    for (uint32_t f = 0; f < y->facet_count; f++) {
        const struct facet *facet = &y->facets[f];
        if (facet->key != key)
            continue;
        for (BITS_EACH(type, types, y->words)) {
            if (facet->of_type[type] != 0)
                found = count_values(t, facet->sets[facet->of_type[type] - 1], allowed, found,
                                     enough);
            if (found == enough)
                break;
        }
    }
    return found;
}

static bool values_hold(struct fitting *f, const struct spec *s)
{
    struct trial *t = f->t;
    const struct option *o = option_of(t, s);
    uint32_t *lowered = NULL;
    f->least = f->claim->least;
    for (uint32_t i = 0; i < o->least_count; i++) {
        uint32_t want = f->is_new ? o->least[i].count : f->claim->least[i];
        uint32_t found = trial_values(t, s, t->left, o->least[i].key, want);
        if (found < want && !(f->is_new && t->best_effort)) {
            f->obstacle = TOO_FEW_VALUES;
            return false;
        }
        if (!f->is_new)
            continue;
        if (lowered == NULL)
            f->least = lowered = ARENA_ARRAY(t->arena, uint32_t, o->least_count);
        lowered[i] = found < want ? found : want;
        f->relaxed |= found < want;
    }
    return true;
}

/* --- reservations --- */

void trial_credit(struct trial *t, struct span reservation, int64_t count)
{
    const struct types *y = &t->world->types;
    sym id = sym_find(t->world->syms, reservation);
    for (uint32_t i = 0; id != SYM_NONE && i < y->reservation_count; i++)
        if (y->reservations[i].id == id) {
            t->reserved_left[i] += count;
            t->credit[i] += count;
        }
}

bool trial_launchable(const struct trial *t, const struct type_offer *o)
{
    return o->launchable || (o->reserved && t->credit[o->reservation] > 0);
}

struct reserving {
    uint64_t *free; /* reservations that the claim could hold */
    bool fallback, full, some;
};

static struct reserving look_at_offers(struct fitting *f, const struct spec *s)
{
    struct trial *t = f->t;
    const struct types *y = &t->world->types;
    struct reserving r = {.free = ARENA_ARRAY(t->arena, uint64_t, bits_words(y->reservation_count))};
    for (BITS_EACH(type, t->left, y->words))
        for (uint32_t k = y->first_offer[type]; k < y->first_offer[type + 1]; k++) {
            const struct type_offer *o = &y->offers[k];
            if (!bits_has(s->kinds, o->kind))
                continue;
            if (!o->reserved) {
                r.fallback = true;
            } else if (!trial_launchable(t, o)) {
                r.full = true;
            } else {
                r.some = true;
                if (t->reserved_left[o->reservation] > 0 ||
                    (f->claim->held != NULL && bits_has(f->claim->held, o->reservation)))
                    bits_add(r.free, o->reservation);
            }
        }
    return r;
}

/* Which reservations the claim would hold, as Karpenter v1.15.0 decides: every one that any of its
 * types could use. Who could use one and finds all taken waits, unless it may do without. */
static bool reserves(struct fitting *f, const struct spec *s)
{
    struct trial *t = f->t;
    struct reserving r = look_at_offers(f, s);
    bool none = bits_count(r.free, bits_words(t->world->types.reservation_count)) == 0;
    bool only_full = r.full && !r.some && !r.fallback;
    f->held = none ? NULL : r.free;
    if (t->fallback) {
        if (only_full)
            f->obstacle = RESERVATIONS_FULL;
        return !only_full;
    }
    if (none && (r.some || only_full || f->claim->held != NULL)) {
        f->obstacle = RESERVATIONS_TAKEN;
        return false;
    }
    return true;
}

static void hold(struct trial *t, const uint64_t *from, const uint64_t *to)
{
    for (uint32_t r = 0; r < t->world->types.reservation_count; r++) {
        bool had = from != NULL && bits_has(from, r), has = to != NULL && bits_has(to, r);
        t->reserved_left[r] += (int64_t)had - (int64_t)has;
    }
}

static bool fits_spec(struct fitting *f, uint32_t spec)
{
    const struct spec *s = &f->t->specs.items[spec];
    bool values = option_of(f->t, s)->least_count != 0;
    bool reserved = s->reserved || f->claim->held != NULL;
    f->relaxed = false;
    f->held = NULL;
    return fits_types(f, spec, values || reserved) && (!values || values_hold(f, s)) &&
           (!reserved || reserves(f, s));
}

/* The least price at which one of the claim's types can be had there; INFINITY: none holds the pods. */
static double price_there(const struct fitting *f, uint32_t spec, uint32_t key, uint32_t domain)
{
    struct trial *t = f->t;
    const struct types *y = &t->world->types;
    int32_t to = specs_settle(&t->specs, spec, key, domain);
    double best = INFINITY;
    if (to < 0)
        return best;
    const double *prices = specs_prices(&t->specs, (uint32_t)to);
    const struct spec *s = &t->specs.items[to];
    uint32_t any;
    for (uint32_t i = 0; i < y->words; i++)
        t->left[i] = f->claim->types[i] & s->types[i];
    keep_holding(t->world, s, t->left, f->requests, &any);
    for (BITS_EACH(type, t->left, y->words))
        best = prices[type] < best ? prices[type] : best;
    return best;
}

/* The domain to try first: with the fewest pods that spread like this one, then the cheapest, then the
 * one with the fewest pods that others spread. */
static uint32_t best_domain(const struct fitting *f, uint32_t spec, uint32_t key,
                            const uint64_t *among)
{
    struct tally_load least = {UINT64_MAX, UINT64_MAX};
    double cheapest = 0;
    uint32_t best = 0, words = f->t->world->topology.keys[key].words;
    bool alone = bits_count(among, words) == 1, flat = f->t->world->topology.keys[key].flat;
    for (BITS_EACH(d, among, words)) {
        struct tally_load load = tally_load(&f->t->tally, f->class, f->try, key, d);
        if (load.own > least.own)
            continue;
        double price = alone || flat ? 0 : price_there(f, spec, key, d);
        if (load.own < least.own || price < cheapest ||
            (price <= cheapest && load.others < least.others)) {
            least = load;
            cheapest = price;
            best = d;
        }
    }
    return best;
}

/* The spec in which every key of the attempt from number `at` on has one domain that its groups
 * allow and some type holds what is asked; -1: there is none. */
static int32_t settle(struct fitting *f, uint32_t spec, uint32_t at)
{
    struct trial *t = f->t;
    if (at == f->try->key_count)
        return fits_spec(f, spec) ? (int32_t)spec : -1;
    uint32_t key = f->try->keys[at], words = t->world->topology.keys[key].words;
    const uint64_t *may = specs_domains(&t->specs, spec, key);
    uint64_t *open = t->free_domains[key];
    bool optional = tally_domains(&t->tally, f->class, f->try, key, open);
    uint32_t possible = bits_count(may, words);
    for (uint32_t i = 0; i < words; i++)
        open[i] &= may[i];
    if (possible == 0)
        return optional ? settle(f, spec, at + 1) : -1;
    if (possible == 1)
        return bits_count(open, words) != 0 ? settle(f, spec, at + 1) : -1;
    while (bits_count(open, words) != 0) {
        uint32_t d = best_domain(f, spec, key, open);
        bits_drop(open, d);
        int32_t to = specs_settle(&t->specs, spec, key, d);
        if (to >= 0)
            to = settle(f, (uint32_t)to, at + 1);
        if (to >= 0)
            return to;
    }
    return -1;
}

/* The spec in which the attempt stands where its volumes are and by its groups, or -1. */
static int32_t find_spec(struct fitting *f, uint32_t spec)
{
    int32_t found = -1;
    if (f->try->where_count == 0)
        return settle(f, spec, 0);
    for (uint32_t i = 0; i < f->try->where_count && found < 0; i++) {
        int32_t to = specs_narrow_to(&f->t->specs, spec, f->try->where[i]);
        if (to >= 0)
            found = settle(f, (uint32_t)to, 0);
    }
    return found;
}

enum answer trial_place_on_claim(struct trial *t, uint32_t claim, uint32_t pod, uint32_t class_id,
                                 const struct attempt *try)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[claim];
    const amount *requests = requests_beside(t, class_id, &c->shared);
    t->asked++;
    if (!vector_fits(requests, c->headroom, w->column_count) ||
        ports_conflict(w->classes.signatures[try->signature].ports, c->ports))
        return ANSWER_NEVER;
    int32_t to = specs_narrow(&t->specs, c->spec, try);
    if (to < 0)
        return ANSWER_NEVER;
    struct fitting f = {.t = t, .claim = c, .requests = c->requests,
                        .class = &w->classes.items[class_id], .try = try};
    enum answer host = try->tied ? tally_host(&t->tally, f.class, try, w->node_count + claim, NULL)
                                 : ANSWER_YES;
    if (host == ANSWER_NEVER)
        return host;
    vector_move(c->requests, requests, 1, w->column_count);
    bool holds = fits_types(&f, (uint32_t)to, false);
    if (holds && host == ANSWER_YES)
        to = find_spec(&f, (uint32_t)to);
    vector_move(c->requests, requests, -1, w->column_count);
    if (!holds || host != ANSWER_YES)
        return holds ? host : ANSWER_NEVER;
    if (to < 0) /* a reservation may come free when another claim can do without it */
        return try->wavers || f.obstacle == RESERVATIONS_TAKEN ? ANSWER_NOT_NOW : ANSWER_NEVER;

    struct trial_step step = {TRIAL_ON_CLAIM, pod, class_id, claim, c->spec, c->held};
    const struct spec *s = &t->specs.items[to];
    hold(t, c->held, f.held);
    c->held = f.held;
    c->spec = (uint32_t)to;
    c->witness = f.witness;
    for (uint32_t i = 0; i < w->types.words; i++)
        c->types[i] &= f.cut ? t->left[i] : s->types[i];
    if (f.cut)
        set_headroom(w, c, s);
    take_pod(t, c, class_id, try);
    count_pod(t, claim, class_id, 1);
    log_step(t, step);
    return ANSWER_YES;
}

/* Drops the types that the pool's limits have no room for any more. */
static void drop_beyond(const struct trial *t, uint32_t option, uint64_t *set)
{
    const struct world *w = t->world;
    const amount *budget = world_vector(w, t->budgets, option);
    if (vector_fits(w->options[option].largest, budget, w->column_count))
        return;
    for (BITS_EACH(type, set, w->types.words))
        if (!vector_fits(world_vector(w, w->types.capacity, type), budget, w->column_count))
            bits_drop(set, type);
}

/* What a claim may cost the pool's limits: the most that it may still become. */
static amount *charge(struct trial *t, uint32_t option, const uint64_t *set)
{
    const struct world *w = t->world;
    amount *most = new_vector(t);
    t->nodes_left[option] -= t->nodes_left[option] != INT64_MAX;
    if (!w->options[option].limited)
        return most;
    for (uint32_t c = 0; c < w->column_count; c++) {
        const struct room_column *r = &w->options[option].by_capacity[c];
        uint32_t at = room_greatest(r, w->types.words, set);
        most[c] = at < r->count && r->values[at] > 0 ? r->values[at] : 0;
    }
    amount *budget = t->budgets + (size_t)option * w->column_count;
    for (uint32_t c = 0; c < w->column_count; c++) {
        if (budget[c] == INT64_MAX)
            most[c] = 0;
        budget[c] -= most[c];
    }
    return most;
}

/* The spec that the first pod of a claim gives it, or -1: no domain is left. */
static int32_t settle_first(struct trial *t, struct trial_claim *c, uint32_t spec,
                            uint32_t class_id, const struct attempt *try,
                            enum obstacle *obstacle_out)
{
    const struct world *w = t->world;
    c->types = c->opened;
    struct fitting f = {.t = t, .claim = c, .is_new = true,
                        .requests = classes_requests(&w->classes, class_id),
                        .class = &w->classes.items[class_id], .try = try};
    if (try->tied &&
        tally_host(&t->tally, f.class, try, w->node_count + t->claim_count, NULL) != ANSWER_YES)
        return -1;
    int32_t to = find_spec(&f, spec);
    *obstacle_out = f.obstacle;
    if (to >= 0) {
        c->witness = f.witness;
        c->least = f.least;
        c->relaxed = f.relaxed;
        c->held = f.held;
    }
    return to;
}

static enum opening refusal(enum obstacle o, const struct attempt *try)
{
    switch (o) {
    case TOO_FEW_VALUES:
        return OPEN_MIN_VALUES;
    case RESERVATIONS_TAKEN:
        return OPEN_RESERVED;
    case RESERVATIONS_FULL:
        return OPEN_FULL;
    case NO_OBSTACLE:
        break;
    }
    return try->wavers || try->where_count == 0 ? OPEN_TOPOLOGY : OPEN_VOLUMES;
}

enum opening trial_open(struct trial *t, uint32_t option, uint32_t pod, uint32_t class_id,
                        const struct attempt *try)
{
    const struct world *w = t->world;
    const amount *requests = classes_requests(&w->classes, class_id);
    t->asked++;
    int32_t to = specs_narrow(&t->specs, option, try);
    if (to < 0)
        return to == -1 - NARROW_TAINT         ? OPEN_TAINT
               : to == -1 - NARROW_REQUIREMENT ? OPEN_REQUIREMENT
                                               : OPEN_TYPES;
    const struct spec *s = &t->specs.items[to];
    if (bits_count(s->types, w->types.words) == 0)
        return OPEN_TYPES;
    struct trial_claim c = {.spec = (uint32_t)to};
    if (!vector_fits(requests, s->most, w->column_count))
        return OPEN_RESOURCES;
    c.opened = new_set(t);
    memcpy(c.opened, s->types, w->types.words * sizeof(uint64_t));
    if (!keep_holding(w, s, c.opened, requests, &c.witness))
        return OPEN_RESOURCES;
    if (t->nodes_left[option] <= 0)
        return OPEN_NODES;
    if (w->options[option].limited) {
        drop_beyond(t, option, c.opened);
        if (!keep_holding(w, s, c.opened, requests, &c.witness))
            return OPEN_LIMITS;
    }
    enum obstacle obstacle = NO_OBSTACLE;
    to = settle_first(t, &c, (uint32_t)to, class_id, try, &obstacle);
    if (to < 0)
        return refusal(obstacle, try);
    hold(t, NULL, c.held);
    c.spec = (uint32_t)to;
    s = &t->specs.items[to];
    c.types = new_set(t);
    for (uint32_t i = 0; i < w->types.words; i++)
        c.types[i] = c.opened[i] & s->types[i];
    c.requests = new_vector(t);
    c.headroom = new_vector(t);
    c.charged = charge(t, option, c.types);
    set_headroom(w, &c, s);
    take_pod(t, &c, class_id, try);
    ARENA_PUSH(t->arena, t->claims, t->claim_count, t->claim_capacity, c);
    count_pod(t, t->claim_count - 1, class_id, 1);
    log_step(t, (struct trial_step){TRIAL_OPENED, pod, class_id, t->claim_count - 1, 0, NULL});
    return OPEN_YES;
}

const uint64_t *trial_claim_types(struct trial *t, uint32_t claim)
{
    struct trial_claim *c = &t->claims[claim];
    keep_holding(t->world, &t->specs.items[c->spec], c->types, c->requests, &c->witness);
    return c->types;
}

/* --- undo --- */

static uint32_t port_count(const struct trial *t, uint32_t class_id)
{
    const struct classes *k = &t->world->classes;
    return k->signatures[k->attempts[k->items[class_id].first_strict].signature].ports.count;
}

static void undo_on_claim(struct trial *t, const struct trial_step *step)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[step->target];
    count_pod(t, step->target, step->class_id, -1);
    hold(t, c->held, step->held);
    c->held = step->held;
    c->spec = step->before;
    const struct spec *s = &t->specs.items[c->spec];
    c->shared.count -= w->classes.items[step->class_id].shared_count;
    vector_move(c->requests, requests_beside(t, step->class_id, &c->shared), -1, w->column_count);
    for (uint32_t i = 0; i < w->types.words; i++)
        c->types[i] = c->opened[i] & s->types[i];
    keep_holding(w, s, c->types, c->requests, &c->witness);
    set_headroom(w, c, s);
    c->ports.count -= port_count(t, step->class_id);
    c->pods--;
}

static void undo_opened(struct trial *t, const struct trial_step *step)
{
    const struct world *w = t->world;
    count_pod(t, step->target, step->class_id, -1);
    const struct trial_claim *c = &t->claims[--t->claim_count];
    hold(t, c->held, NULL);
    uint32_t option = t->specs.items[c->spec].option;
    vector_move(t->budgets + (size_t)option * w->column_count, c->charged, 1, w->column_count);
    t->nodes_left[option] += t->nodes_left[option] != INT64_MAX;
}

void trial_undo(struct trial *t, uint32_t mark)
{
    const struct world *w = t->world;
    while (t->step_count > mark) {
        struct trial_step step = t->steps[--t->step_count];
        const amount *requests = classes_requests(&w->classes, step.class_id);
        switch (step.kind) {
        case TRIAL_ON_NODE: {
            struct trial_row *r = touch_row(t, step.target);
            r->shared.count -= w->classes.items[step.class_id].shared_count;
            vector_move(r->left, requests_beside(t, step.class_id, &r->shared), 1, w->column_count);
            r->ports.count -= port_count(t, step.class_id);
            tally_move_row(&t->tally, &w->classes.items[step.class_id], step.target, -1);
            break;
        }
        case TRIAL_POD_GONE:
            vector_move(touch_row(t, step.target)->left, requests, -1, w->column_count);
            tally_move_row(&t->tally, &w->classes.items[step.class_id], step.target, 1);
            break;
        case TRIAL_NODE_GONE:
            touch_row(t, step.target)->gone = false;
            move_limits(t, step.target, -1);
            t->moved_count = step.before;
            break;
        case TRIAL_ON_CLAIM:
            undo_on_claim(t, &step);
            break;
        case TRIAL_OPENED:
            undo_opened(t, &step);
            break;
        }
    }
}
