#include "planner/trial/trial_inner.h"

#include "planner/trial/options.h"

#include <assert.h>

uint64_t *trial_new_set(struct trial *t)
{
    return ARENA_ARRAY(t->arena, uint64_t, t->world->types.words);
}

amount *trial_new_vector(struct trial *t)
{
    return ARENA_ARRAY(t->arena, amount, t->world->column_count);
}

void trial_move_vector(amount *vector, const amount *by, int sign, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        vector[c] += sign * by[c];
}

void trial_init(struct trial *t, struct arena *a, const struct world *w)
{
    *t = (struct trial){.arena = a, .world = w};
    specs_init(&t->specs, a, w);
    tally_init(&t->tally, a, w);
    t->left = trial_new_set(t);
    t->adjusted = trial_new_vector(t);
    t->seen = ARENA_ARRAY(a, uint32_t, symtab_limit(w->syms));
    t->reserved_left = ARENA_ARRAY(a, int64_t, w->types.reservation_count);
    t->credit = ARENA_ARRAY(a, int64_t, w->types.reservation_count);
    for (uint32_t i = 0; i < w->types.reservation_count; i++)
        t->reserved_left[i] = w->types.reservations[i].left;
    t->free_domains = ARENA_ARRAY(a, uint64_t *, w->topology.key_count);
    t->domain_prices = ARENA_ARRAY(a, double *, w->topology.key_count);
    for (uint32_t k = 1; k < w->topology.key_count; k++) {
        t->free_domains[k] = ARENA_ARRAY(a, uint64_t, w->topology.keys[k].words);
        t->domain_prices[k] = ARENA_ARRAY(a, double, w->topology.keys[k].count);
    }
    t->row_at = ARENA_ARRAY(a, uint32_t, w->node_count);
    t->budgets = ARENA_ARRAY(a, amount, (size_t)w->option_count * w->column_count);
    t->nodes_left = ARENA_ARRAY(a, amount, w->option_count);
    for (uint32_t i = 0; i < w->option_count; i++) {
        memcpy(t->budgets + (size_t)i * w->column_count, w->options[i].budget,
               w->column_count * sizeof(amount));
        t->nodes_left[i] = w->options[i].nodes_left;
    }
}

bool trial_stopped(struct trial *t)
{
    enum { STOP_EVERY = 32 }; /* steps: less than a millisecond */
    if (t->asked >= t->stop_asked_at && t->stop != NULL) {
        t->stop_asked_at = t->asked + STOP_EVERY;
        t->stopped = t->stopped || t->stop(t->user);
    }
    return t->stopped;
}

void trial_log(struct trial *t, struct trial_step step)
{
    ARENA_PUSH(t->arena, t->steps, t->step_count, t->step_capacity, step);
}

void trial_add_ports(struct trial *t, struct host_ports *into, uint32_t *capacity,
                     struct host_ports more)
{
    for (uint32_t i = 0; i < more.count; i++)
        ARENA_PUSH(t->arena, into->items, into->count, *capacity, more.items[i]);
}

/* NULL: every volume is there. */
static bool has_volume(const struct volume_numbers *there, uint32_t volume)
{
    for (uint32_t n = 0; there != NULL && n < there->count; n++)
        if (there->items[n] == volume)
            return true;
    return there == NULL;
}

static const amount *without_shared(struct trial *t, uint32_t class_id, const struct volume_numbers *there)
{
    const struct world *w = t->world;
    const struct pod_class *k = &w->classes.items[class_id];
    const amount *requests = classes_requests(&w->classes, class_id);
    if (k->shared_count == 0)
        return requests;
    memcpy(t->adjusted, requests, w->column_count * sizeof(amount));
    for (uint32_t i = 0; i < k->shared_count; i++)
        t->adjusted[k->shared[i].column] -= has_volume(there, k->shared[i].volume);
    return t->adjusted;
}

const amount *trial_requests_beside(struct trial *t, uint32_t class_id,
                                    const struct volume_numbers *there)
{
    return without_shared(t, class_id, there);
}

const amount *trial_requests_at_least(struct trial *t, uint32_t class_id)
{
    return without_shared(t, class_id, NULL);
}

void trial_add_shared(struct trial *t, struct volume_numbers *into, const struct pod_class *k)
{
    for (uint32_t i = 0; i < k->shared_count; i++)
        ARENA_PUSH(t->arena, into->items, into->count, into->capacity, k->shared[i].volume);
}

/* --- rows --- */

static struct trial_row *touch_row(struct trial *t, uint32_t row)
{
    if (t->row_at[row] == 0) {
        const struct world *w = t->world;
        struct trial_row r = {.row = row, .left = trial_new_vector(t)};
        memcpy(r.left, world_vector(w, w->left, row), w->column_count * sizeof(amount));
        trial_add_ports(t, &r.ports, &r.port_capacity,
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

/* As which class a pod of a node that goes comes back. What its owner has too much of on one side is made
 * up for, and no more. */
static uint32_t moved_class(const struct trial *t, uint32_t class_id)
{
    const struct pod_class *all = t->world->classes.items, *k = &all[class_id];
    uint32_t before = 0;
    if (k->surplus == 0)
        return class_id;
    for (uint32_t i = 0; i < t->moved_count; i++) {
        const struct pod_class *m = &all[t->moved[i].class_id];
        before += m->surplus != 0 && m->split_owner == k->split_owner;
    }
    return before < k->surplus ? class_id : k->keeps;
}

static void take_out(struct trial *t, uint32_t row)
{
    touch_row(t, row)->gone = true;
    move_limits(t, row, 1);
    trial_log(t, (struct trial_step){.kind = TRIAL_NODE_GONE, .target = row, .before = t->moved_count});
}

static void send_off(struct trial *t, struct waiting_pod x)
{
    x.class_id = moved_class(t, x.class_id);
    ARENA_PUSH(t->arena, t->moved, t->moved_count, t->moved_capacity, x);
}

void trial_remove_node(struct trial *t, uint32_t row)
{
    const struct world *w = t->world;
    const struct world_node *n = &w->nodes[row];
    if (trial_is_gone(t, row))
        return;
    take_out(t, row);
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (pod_is_reschedulable(n->pods[i]))
            send_off(t, (struct waiting_pod){n->pods[i], n->pod_classes[i], true, world_blocks(w, n->pods[i])});
}

void trial_remove_known(struct trial *t, uint32_t row, const struct waiting_pod *pods, uint32_t count)
{
    if (trial_is_gone(t, row))
        return;
    take_out(t, row);
    for (uint32_t i = 0; i < count; i++)
        send_off(t, pods[i]);
}

void trial_lift(struct trial *t, const struct waiting_pod *x, uint32_t row)
{
    bool goes = x->pod->meta.deleted != 0;
    const struct pod_class *k = &t->world->classes.items[x->class_id];
    if (k->ties.counted_by_count + k->ties.keeps_off_count == 0)
        return;
    tally_lift(&t->tally, k, goes, row, 1);
    trial_log(t, (struct trial_step){.kind = TRIAL_LIFTED, .class_id = x->class_id, .target = row, .before = goes});
}

void trial_keep(struct trial *t, uint32_t row, const amount *requests)
{
    amount *left = touch_row(t, row)->left;
    for (uint32_t c = 0; c < t->world->column_count; c++)
        if (left[c] > 0)
            left[c] = left[c] > requests[c] ? left[c] - requests[c] : 0;
}

void trial_remove_pod(struct trial *t, uint32_t row, uint32_t class_id)
{
    trial_move_vector(touch_row(t, row)->left, classes_requests(&t->world->classes, class_id), 1,
                t->world->column_count);
    tally_move_row(&t->tally, &t->world->classes.items[class_id], row, -1);
    trial_log(t, (struct trial_step){.kind = TRIAL_POD_GONE, .class_id = class_id, .target = row});
}

static const struct volume_numbers *shared_on(const struct trial *t, uint32_t row)
{
    static const struct volume_numbers none;
    if (t->row_at[row] != 0)
        return &t->rows[t->row_at[row] - 1].shared;
    return t->world->shared != NULL ? &t->world->shared[row] : &none;
}

static bool is_barred(const struct trial *t, uint32_t class_id, uint32_t row)
{
    for (uint32_t i = 0; i < t->barred_count; i++)
        if (t->barred[i].row == row && t->barred[i].class_id == class_id)
            return true;
    return false;
}

const amount *trial_requests(struct trial *t, uint32_t row, uint32_t class_id)
{
    return trial_requests_beside(t, class_id, shared_on(t, row));
}

struct host_ports trial_ports(const struct trial *t, uint32_t row)
{
    const struct row_ports *there = &t->world->ports[row];
    uint32_t at = t->row_at[row];
    return at != 0 ? t->rows[at - 1].ports : (struct host_ports){there->items, there->count};
}

bool trial_ports_clash(struct trial *t, const struct attempt *try, struct host_ports there)
{
    struct host_ports wanted = t->world->classes.signatures[try->signature].ports;
    if (wanted.count != 0)
        trial_look(t, there.count / 4); /* as a look at a claim goes */
    return ports_conflict(wanted, there);
}

bool trial_row_holds(struct trial *t, uint32_t row, uint32_t class_id, const struct attempt *try)
{
    const struct world *w = t->world;
    return !trial_is_gone(t, row) &&
           vector_fits(w, trial_requests(t, row, class_id), trial_left(t, row)) &&
           !trial_ports_clash(t, try, trial_ports(t, row));
}

enum answer trial_ask_row(struct trial *t, uint32_t row, uint32_t class_id,
                          const struct attempt *try)
{
    const struct world *w = t->world;
    t->asked++;
    if (is_barred(t, class_id, row) || !trial_row_holds(t, row, class_id, try))
        return ANSWER_NEVER;
    return try->tied ? tally_row(&t->tally, &w->classes.items[class_id], try, row)
                     : ANSWER_YES;
}

bool trial_fits(struct trial *t, uint32_t row, uint32_t class_id, const struct attempt *try)
{
    return trial_ask_row(t, row, class_id, try) == ANSWER_YES &&
           world_suits(t->world, try, t->world->profile_of[row], NULL) == FIT_YES;
}

void trial_place_on_node(struct trial *t, uint32_t row, uint32_t pod, uint32_t class_id,
                         const struct attempt *try)
{
    const struct world *w = t->world;
    struct trial_row *r = touch_row(t, row);
    trial_move_vector(r->left, trial_requests_beside(t, class_id, &r->shared), -1, w->column_count);
    trial_add_ports(t, &r->ports, &r->port_capacity, w->classes.signatures[try->signature].ports);
    trial_add_shared(t, &r->shared, &w->classes.items[class_id]);
    tally_move_row(&t->tally, &w->classes.items[class_id], row, 1);
    trial_log(t, (struct trial_step){.kind = TRIAL_ON_NODE, .pod = pod, .class_id = class_id, .target = row,
                                     .given_up = try->given_up});
}

/* --- many at once --- */

bool trial_may_seat(const struct world *w, uint32_t class_id)
{
    const struct pod_class *k = &w->classes.items[class_id];
    if (k->shared_count != 0)
        return false;
    for (uint32_t i = 0; i < k->attempt_count; i++) {
        const struct attempt *try = &w->classes.attempts[k->first_attempt + i];
        if (try->tied || w->classes.signatures[try->signature].ports.count != 0)
            return false;
    }
    return true;
}

static bool suits_somehow(const struct world *w, uint32_t row, uint32_t class_id)
{
    const struct pod_class *k = &w->classes.items[class_id];
    for (uint32_t i = 0; i < k->attempt_count; i++)
        if (world_suits(w, &w->classes.attempts[k->first_attempt + i], w->profile_of[row], NULL) == FIT_YES)
            return true;
    return false;
}

bool trial_seat(struct trial *t, uint32_t row, uint32_t class_id, uint32_t count)
{
    const struct world *w = t->world;
    const amount *requests = classes_requests(&w->classes, class_id);
    amount *all = t->adjusted;
    t->asked++;
    for (uint32_t c = 0; c < w->column_count; c++)
        if (__builtin_mul_overflow(requests[c], (amount)count, &all[c]))
            return false;
    if (trial_is_gone(t, row) || !vector_fits(w, all, trial_left(t, row)) || !suits_somehow(w, row, class_id))
        return false;
    trial_move_vector(touch_row(t, row)->left, all, -1, w->column_count);
    struct trial_seats seats = {row, class_id, count};
    ARENA_PUSH(t->arena, t->seats, t->seats_count, t->seats_capacity, seats);
    return true;
}

/* --- undo --- */

uint32_t trial_port_count(const struct trial *t, uint32_t class_id)
{
    const struct classes *k = &t->world->classes;
    return k->signatures[k->attempts[k->items[class_id].first_strict].signature].ports.count;
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
            trial_move_vector(r->left, trial_requests_beside(t, step.class_id, &r->shared), 1,
                              w->column_count);
            r->ports.count -= trial_port_count(t, step.class_id);
            tally_move_row(&t->tally, &w->classes.items[step.class_id], step.target, -1);
            break;
        }
        case TRIAL_POD_GONE:
            trial_move_vector(touch_row(t, step.target)->left, requests, -1, w->column_count);
            tally_move_row(&t->tally, &w->classes.items[step.class_id], step.target, 1);
            break;
        case TRIAL_NODE_GONE:
            touch_row(t, step.target)->gone = false;
            move_limits(t, step.target, -1);
            t->moved_count = step.before;
            break;
        case TRIAL_LIFTED:
            tally_lift(&t->tally, &w->classes.items[step.class_id], step.before != 0, step.target, -1);
            break;
        case TRIAL_ON_CLAIM:
            trial_undo_on_claim(t, &step);
            break;
        case TRIAL_OPENED:
            trial_undo_opened(t, &step);
            break;
        case TRIAL_TRIMMED:
            trial_undo_trimmed(t, &step);
            break;
        case TRIAL_SETTLED:
            trial_undo_settled(t, &step);
            break;
        }
    }
}

/* --- many questions --- */

void trial_stand(struct trial *t, struct arena *scratch, struct trial_ground *out)
{
    enum { ROWS = 64, MOVED = 256, CLAIMS = 16, STEPS = 1024 }; /* most questions need no more */
    assert(t->row_count == 0 && t->moved_count == 0 && t->claim_count == 0 && t->seats_count == 0);
    struct trial_step *steps = ARENA_ARRAY(t->arena, struct trial_step, (size_t)t->step_count + STEPS);
    if (t->step_count != 0)
        memcpy(steps, t->steps, t->step_count * sizeof(*steps));
    *out = (struct trial_ground){
        .rows = ARENA_ARRAY(t->arena, struct trial_row, ROWS),
        .moved = ARENA_ARRAY(t->arena, struct waiting_pod, MOVED),
        .claims = ARENA_ARRAY(t->arena, struct trial_claim, CLAIMS),
        .steps = steps,
        .row_capacity = ROWS, .moved_capacity = MOVED, .claim_capacity = CLAIMS,
        .step_capacity = t->step_count + STEPS, .step_count = t->step_count,
    };
    t->arena = scratch;
    trial_return(t, out);
}

void trial_return(struct trial *t, const struct trial_ground *g)
{
    trial_undo(t, g->step_count);
    for (uint32_t i = 0; i < t->row_count; i++)
        t->row_at[t->rows[i].row] = 0;
    t->row_count = 0;
    t->rows = g->rows;
    t->row_capacity = g->row_capacity;
    t->moved = g->moved;
    t->moved_capacity = g->moved_capacity;
    t->claims = g->claims;
    t->claim_capacity = g->claim_capacity;
    t->steps = g->steps;
    t->step_capacity = g->step_capacity;
    t->asked = 0;
    t->looks = 0;
    t->stop_asked_at = 0;
    t->stopped = false;
    t->cut_short = false;
}
