#include "planner/trial/fitting.h"
#include "planner/trial/trial_inner.h"

#include <math.h>

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
    const amount *requests = trial_requests_beside(t, class_id, &c->shared);
    trial_move_vector(c->requests, requests, 1, w->column_count);
    trial_move_vector(c->headroom, requests, -1, w->column_count);
    trial_add_ports(t, &c->ports, &c->port_capacity, w->classes.signatures[try->signature].ports);
    trial_add_shared(t, &c->shared, &w->classes.items[class_id]);
    c->pods++;
}

static void hold(struct trial *t, const uint64_t *from, const uint64_t *to)
{
    for (uint32_t r = 0; r < t->world->types.reservation_count; r++) {
        bool had = from != NULL && bits_has(from, r), has = to != NULL && bits_has(to, r);
        t->reserved_left[r] += (int64_t)had - (int64_t)has;
        t->reserved_freed += had && !has;
    }
}

enum answer trial_place_on_claim(struct trial *t, uint32_t claim, uint32_t pod, uint32_t class_id,
                                 const struct attempt *try)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[claim];
    const amount *requests = trial_requests_beside(t, class_id, &c->shared);
    t->asked++;
    if (!vector_fits(w, requests, c->headroom) ||
        trial_ports_clash(t, try, c->ports))
        return ANSWER_NEVER;
    int32_t to = specs_narrow(&t->specs, c->spec, try);
    if (to < 0)
        return ANSWER_NEVER;
    struct fitting f = {.t = t, .claim = c, .requests = c->requests,
                        .class = &w->classes.items[class_id], .try = try};
    enum answer host = try->tied ? tally_host(&t->tally, f.class, try, w->node_count + claim)
                                 : ANSWER_YES;
    if (host == ANSWER_NEVER)
        return host;
    trial_move_vector(c->requests, requests, 1, w->column_count);
    bool holds = fitting_types(&f, (uint32_t)to, false);
    if (holds && host == ANSWER_YES)
        to = fitting_spec(&f, (uint32_t)to);
    trial_move_vector(c->requests, requests, -1, w->column_count);
    if (!holds || host != ANSWER_YES)
        return holds ? host : ANSWER_NEVER;
    if (to < 0) /* a reservation may come free when another claim can do without it */
        return try->wavers || f.obstacle == RESERVATIONS_TAKEN ? ANSWER_NOT_NOW : ANSWER_NEVER;

    struct trial_step step = {.kind = TRIAL_ON_CLAIM, .pod = pod, .class_id = class_id, .target = claim,
                              .before = c->spec, .given_up = try->given_up, .held = c->held};
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
    trial_log(t, step);
    return ANSWER_YES;
}

/* Drops the types that count more against a limited pool's limits than `most`. */
static void drop_beyond(const struct trial *t, uint32_t option, const amount *most, uint64_t *set)
{
    const struct world *w = t->world;
    for (uint32_t c = 0; c < w->column_count; c++)
        room_drop(&w->options[option].by_capacity[c], w->types.words, most[c], set);
}

/* What a claim may cost the pool's limits: the most that it may still become. */
static amount *charge(struct trial *t, uint32_t option, const uint64_t *set)
{
    const struct world *w = t->world;
    amount *most = trial_new_vector(t);
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
        tally_host(&t->tally, f.class, try, w->node_count + t->claim_count) != ANSWER_YES)
        return -1;
    int32_t to = fitting_spec(&f, spec);
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

/* From a spec of the option that no pod has narrowed. */
static enum opening open_from(struct trial *t, uint32_t from, uint32_t pod, uint32_t class_id,
                              const struct attempt *try)
{
    const struct world *w = t->world;
    const amount *requests = classes_requests(&w->classes, class_id);
    uint32_t option = t->specs.items[from].option;
    t->asked++;
    int32_t to = specs_narrow(&t->specs, from, try);
    if (to < 0)
        return to == -1 - NARROW_TAINT         ? OPEN_TAINT
               : to == -1 - NARROW_REQUIREMENT ? OPEN_REQUIREMENT
                                               : OPEN_TYPES;
    const struct spec *s = &t->specs.items[to];
    if (bits_count(s->types, w->types.words) == 0)
        return OPEN_TYPES;
    struct trial_claim c = {.spec = (uint32_t)to};
    if (!vector_fits(w, requests, s->most))
        return OPEN_RESOURCES;
    c.opened = trial_new_set(t);
    memcpy(c.opened, s->types, w->types.words * sizeof(uint64_t));
    if (!fitting_keep(w, s, c.opened, requests, &c.witness))
        return OPEN_RESOURCES;
    if (t->nodes_left[option] <= 0)
        return OPEN_NODES;
    if (w->options[option].limited) {
        drop_beyond(t, option, world_vector(w, t->budgets, option), c.opened);
        if (!fitting_keep(w, s, c.opened, requests, &c.witness))
            return OPEN_LIMITS;
    }
    enum obstacle obstacle = NO_OBSTACLE;
    to = settle_first(t, &c, (uint32_t)to, class_id, try, &obstacle);
    if (to < 0)
        return refusal(obstacle, try);
    hold(t, NULL, c.held);
    c.spec = (uint32_t)to;
    s = &t->specs.items[to];
    c.types = trial_new_set(t);
    for (uint32_t i = 0; i < w->types.words; i++)
        c.types[i] = c.opened[i] & s->types[i];
    c.requests = trial_new_vector(t);
    c.headroom = trial_new_vector(t);
    t->nodes_left[option] -= t->nodes_left[option] != INT64_MAX;
    c.charged = charge(t, option, c.types);
    set_headroom(w, &c, s);
    take_pod(t, &c, class_id, try);
    ARENA_PUSH(t->arena, t->claims, t->claim_count, t->claim_capacity, c);
    count_pod(t, t->claim_count - 1, class_id, 1);
    trial_log(t, (struct trial_step){.kind = TRIAL_OPENED, .pod = pod, .class_id = class_id,
                                     .target = t->claim_count - 1, .given_up = try->given_up});
    return OPEN_YES;
}

/* The cheapest niche of those in which the pod alone fits. */
static enum opening open_in_some_niche(struct trial *t, uint32_t option, uint32_t pod,
                                       uint32_t class_id, const struct attempt *try)
{
    int32_t best = -1;
    double least = INFINITY;
    for (uint32_t n = 0; n < t->world->options[option].niche_count; n++) {
        uint32_t mark = trial_mark(t);
        if (trial_open_niche(t, option, n, pod, class_id, try) != OPEN_YES)
            continue;
        double price = trial_claim_price(t, t->claim_count - 1);
        if (best < 0 || price < least) {
            best = (int32_t)n;
            least = price;
        }
        trial_undo(t, mark);
    }
    return best < 0 ? OPEN_RESOURCES
                    : trial_open_niche(t, option, (uint32_t)best, pod, class_id, try);
}

enum opening trial_open_niche(struct trial *t, uint32_t option, uint32_t niche, uint32_t pod,
                              uint32_t class_id, const struct attempt *try)
{
    int32_t from = specs_niche(&t->specs, option, niche);
    return from < 0 ? OPEN_TYPES : open_from(t, (uint32_t)from, pod, class_id, try);
}

enum opening trial_open(struct trial *t, uint32_t option, uint32_t pod, uint32_t class_id,
                        const struct attempt *try)
{
    enum opening answer = open_from(t, option, pod, class_id, try);
    if (answer != OPEN_RESOURCES && answer != OPEN_LIMITS)
        return answer;
    enum opening kept = open_in_some_niche(t, option, pod, class_id, try);
    return kept == OPEN_YES ? kept : answer;
}

void trial_trim(struct trial *t, uint32_t claim, const amount *most)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &w->options[s->option];
    if (!o->limited || o->least_count != 0 || w->types.reservation_count != 0)
        return;
    uint64_t *opened = trial_new_set(t);
    memcpy(opened, trial_claim_types(t, claim), w->types.words * sizeof(*opened));
    drop_beyond(t, s->option, most, opened);
    if (bits_count(opened, w->types.words) == 0)
        return;
    trial_log(t, (struct trial_step){.kind = TRIAL_TRIMMED, .target = claim, .opened = c->opened,
                                     .charged = c->charged});
    c->opened = opened;
    memcpy(c->types, opened, w->types.words * sizeof(*opened));
    fitting_keep(w, s, c->types, c->requests, &c->witness);
    set_headroom(w, c, s);
    trial_move_vector(t->budgets + (size_t)s->option * w->column_count, c->charged, 1,
                      w->column_count);
    c->charged = charge(t, s->option, c->types);
}

bool trial_settle(struct trial *t, uint32_t claim, uint32_t key, uint32_t domain)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[claim];
    uint32_t from = c->spec;
    if (syms_has(w->rules.well_known, w->topology.keys[key].key) ||
        specs_definite(&t->specs, from)[key] != DOMAIN_OPEN ||
        !bits_has(specs_domains(&t->specs, from, key), domain) ||
        w->options[t->specs.items[from].option].least_count != 0)
        return false;
    int32_t to = specs_settle(&t->specs, from, key, domain);
    if (to < 0)
        return false;
    const struct spec *s = &t->specs.items[to], *was = &t->specs.items[from];
    if (memcmp(s->types, was->types, w->types.words * sizeof(*s->types)) != 0 ||
        memcmp(s->kinds, was->kinds, w->types.kind_words * sizeof(*s->kinds)) != 0)
        return false;
    trial_log(t, (struct trial_step){.kind = TRIAL_SETTLED, .target = claim, .before = from});
    c->spec = (uint32_t)to;
    return true;
}

const uint64_t *trial_claim_types(struct trial *t, uint32_t claim)
{
    struct trial_claim *c = &t->claims[claim];
    fitting_keep(t->world, &t->specs.items[c->spec], c->types, c->requests, &c->witness);
    return c->types;
}

double trial_price(const struct trial *t, const struct option *o, uint32_t type,
                   const uint64_t *kinds, const amount *requests)
{
    const struct types *y = &t->world->types;
    bool twins = bits_has(o->twins, type);
    double best = INFINITY;
    for (uint32_t k = y->first_offer[type]; k < y->first_offer[type + 1]; k++)
        if (bits_has(kinds, y->offers[k].kind) && trial_launchable(t, &y->offers[k]) &&
            y->offers[k].price < best &&
            (!twins || vector_fits(t->world, requests, world_vector(t->world, o->room, o->row_of[k]))))
            best = y->offers[k].price;
    return best + o->node_cost;
}

double trial_claim_price(struct trial *t, uint32_t claim)
{
    const struct types *y = &t->world->types;
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &t->world->options[s->option];
    const uint64_t *types = trial_claim_types(t, claim);
    if (!bits_meet(types, o->twins, y->words))
        return specs_prices(&t->specs, c->spec)[specs_cheapest(&t->specs, c->spec, types)];
    double best = INFINITY;
    for (BITS_EACH(type, types, y->words))
        best = fmin(best, trial_price(t, o, type, s->kinds, c->requests));
    return best;
}

/* --- undo --- */

/* The types that a claim has again. */
static void restore_types(struct trial *t, struct trial_claim *c)
{
    const struct world *w = t->world;
    const struct spec *s = &t->specs.items[c->spec];
    for (uint32_t i = 0; i < w->types.words; i++)
        c->types[i] = c->opened[i] & s->types[i];
    fitting_keep(w, s, c->types, c->requests, &c->witness);
    set_headroom(w, c, s);
}

void trial_undo_trimmed(struct trial *t, const struct trial_step *step)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[step->target];
    amount *budget = t->budgets + (size_t)t->specs.items[c->spec].option * w->column_count;
    trial_move_vector(budget, c->charged, 1, w->column_count);
    trial_move_vector(budget, step->charged, -1, w->column_count);
    c->charged = step->charged;
    c->opened = step->opened;
    restore_types(t, c);
}

void trial_undo_settled(struct trial *t, const struct trial_step *step)
{
    t->claims[step->target].spec = step->before;
}

void trial_undo_on_claim(struct trial *t, const struct trial_step *step)
{
    const struct world *w = t->world;
    struct trial_claim *c = &t->claims[step->target];
    count_pod(t, step->target, step->class_id, -1);
    hold(t, c->held, step->held);
    c->held = step->held;
    c->spec = step->before;
    c->shared.count -= w->classes.items[step->class_id].shared_count;
    trial_move_vector(c->requests, trial_requests_beside(t, step->class_id, &c->shared), -1,
                      w->column_count);
    restore_types(t, c);
    c->ports.count -= trial_port_count(t, step->class_id);
    c->pods--;
}

void trial_undo_opened(struct trial *t, const struct trial_step *step)
{
    const struct world *w = t->world;
    count_pod(t, step->target, step->class_id, -1);
    const struct trial_claim *c = &t->claims[--t->claim_count];
    hold(t, c->held, NULL);
    uint32_t option = t->specs.items[c->spec].option;
    trial_move_vector(t->budgets + (size_t)option * w->column_count, c->charged, 1,
                      w->column_count);
    t->nodes_left[option] += t->nodes_left[option] != INT64_MAX;
}
