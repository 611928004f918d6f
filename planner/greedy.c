/* Nodes and claims only fill up during a pass, so what refused a class once refuses it for ever.
 * Three things follow. First fit over nodes is a cursor a class, which never goes back. A claim that
 * refused a class is skipped by one bit. A class that found no place is not tried again: upstream's
 * rounds over the failures cannot end otherwise while no rule counts by domain.
 *
 * "Fewest pods first" is a list of claims for each number of pods. A claim that gets a pod goes to the
 * front of the next list, a new one to the end of the list of one: the order that a stable sort by
 * count gives when it is applied over and over, as upstream does. */
#include "planner/greedy.h"

#include <stdlib.h>

#include "planner/places.h"

enum { STOP_EVERY = 256 };
static const uint32_t NIL = UINT32_MAX; /* no enumerator: those are ints */

struct progress { /* of one attempt of one class */
    uint32_t next_row;
    uint8_t *suits;    /* by profile: 0 unknown, 1 yes, 2 no */
    uint64_t *refused; /* claims */
    uint32_t refused_words;
};

struct bucket {
    uint32_t first, last;
};

struct greedy {
    struct trial *t;
    const struct world *w;
    amount *least; /* elementwise, of all pods in the queue */
    struct progress *progress; /* by attempt */
    uint8_t *given_up;         /* outcome by class; 0: not yet */
    struct bucket *buckets;    /* by number of pods */
    uint32_t bucket_count, bucket_capacity;
    uint32_t *next, *prev; /* by claim */
    uint32_t next_count, next_capacity, prev_count, prev_capacity;
};

/* --- claims by number of pods --- */

static struct bucket *bucket_of(struct greedy *g, uint32_t pods)
{
    static const struct bucket empty = {NIL, NIL};
    while (g->bucket_count <= pods)
        ARENA_PUSH(g->t->arena, g->buckets, g->bucket_count, g->bucket_capacity, empty);
    return &g->buckets[pods];
}

static void bucket_take(struct greedy *g, uint32_t claim, uint32_t pods)
{
    struct bucket *b = bucket_of(g, pods);
    uint32_t before = g->prev[claim], after = g->next[claim];
    *(before == NIL ? &b->first : &g->next[before]) = after;
    *(after == NIL ? &b->last : &g->prev[after]) = before;
}

static void bucket_push_front(struct greedy *g, uint32_t claim, uint32_t pods)
{
    struct bucket *b = bucket_of(g, pods);
    g->prev[claim] = NIL;
    g->next[claim] = b->first;
    *(b->first == NIL ? &b->last : &g->prev[b->first]) = claim;
    b->first = claim;
}

static void bucket_push_back(struct greedy *g, uint32_t claim, uint32_t pods)
{
    struct bucket *b = bucket_of(g, pods);
    ARENA_PUSH(g->t->arena, g->next, g->next_count, g->next_capacity, NIL);
    ARENA_PUSH(g->t->arena, g->prev, g->prev_count, g->prev_capacity, b->last);
    *(b->last == NIL ? &b->first : &g->next[b->last]) = claim;
    b->last = claim;
}

static bool refused(const struct progress *p, uint32_t claim)
{
    return claim / 64 < p->refused_words && bits_has(p->refused, claim);
}

static void refuse(struct greedy *g, struct progress *p, uint32_t claim)
{
    if (claim / 64 >= p->refused_words) {
        uint32_t words = claim / 64 * 2 + 2;
        uint64_t *more = ARENA_ARRAY(g->t->arena, uint64_t, words);
        if (p->refused_words != 0)
            memcpy(more, p->refused, p->refused_words * sizeof(*more));
        p->refused = more;
        p->refused_words = words;
    }
    bits_add(p->refused, claim);
}

/* A claim with less room than any pod of the queue asks is full: it leaves the lists. */
static bool is_full(const struct greedy *g, uint32_t claim)
{
    return !vector_fits(g->least, g->t->claims[claim].headroom, g->w->column_count);
}

/* --- the three stages --- */

static bool row_suits(struct greedy *g, struct progress *p, const struct attempt *try,
                      uint32_t row)
{
    uint32_t profile = g->w->profile_of[row];
    if (p->suits == NULL)
        p->suits = ARENA_ARRAY(g->t->arena, uint8_t, g->w->profile_count);
    if (p->suits[profile] == 0)
        p->suits[profile] = world_suits(g->w, try, profile, NULL) == FIT_YES ? 1 : 2;
    return p->suits[profile] == 1;
}

static bool on_node(struct greedy *g, struct progress *p, const struct attempt *try,
                    uint32_t pod, uint32_t class_id)
{
    for (; p->next_row < g->w->node_count; p->next_row++)
        if (trial_row_holds(g->t, p->next_row, class_id, try) &&
            row_suits(g, p, try, p->next_row)) {
            trial_place_on_node(g->t, p->next_row, pod, class_id, try);
            return true;
        }
    return false;
}

static bool on_claim(struct greedy *g, struct progress *p, const struct attempt *try,
                     uint32_t pod, uint32_t class_id)
{
    for (uint32_t pods = 1; pods < g->bucket_count; pods++)
        for (uint32_t claim = g->buckets[pods].first; claim != NIL; claim = g->next[claim]) {
            if (refused(p, claim))
                continue;
            if (!trial_place_on_claim(g->t, claim, pod, class_id, try)) {
                refuse(g, p, claim);
                continue;
            }
            bucket_take(g, claim, pods);
            if (!is_full(g, claim))
                bucket_push_front(g, claim, pods + 1);
            return true;
        }
    return false;
}

/* A pool that would take the pod but for a rule that is missing must not be passed over in favour of
 * a later one: that would be a plan that the rule forbids. */
static enum outcome on_new_claim(struct greedy *g, const struct attempt *try, uint32_t pod,
                                 uint32_t class_id)
{
    for (uint32_t i = 0; i < g->w->option_count; i++)
        switch (trial_open(g->t, i, pod, class_id, try)) {
        case OPEN_YES:
            bucket_push_back(g, g->t->claim_count - 1, 1);
            return OUTCOME_PLACED;
        case OPEN_MIN_VALUES:
            return OUTCOME_MIN_VALUES;
        case OPEN_RESERVED:
            return OUTCOME_RESERVED;
        default:
            break;
        }
    return OUTCOME_NO_PLACE;
}

/* Every attempt goes through all stages before the next, weaker one is made (spec 4.3). */
static enum outcome place(struct greedy *g, uint32_t pod, uint32_t class_id)
{
    const struct pod_class *k = &g->w->classes.items[class_id];
    if (g->given_up[class_id] != 0)
        return g->given_up[class_id];
    enum outcome out = OUTCOME_NO_PLACE;
    for (uint32_t i = 0; i < k->attempt_count && out == OUTCOME_NO_PLACE; i++) {
        const struct attempt *try = &g->w->classes.attempts[k->first_attempt + i];
        struct progress *p = &g->progress[k->first_attempt + i];
        if (try->soft && !g->w->soft_taints)
            break;
        if (on_node(g, p, try, pod, class_id) || on_claim(g, p, try, pod, class_id))
            return OUTCOME_PLACED;
        out = on_new_claim(g, try, pod, class_id);
    }
    if (out != OUTCOME_PLACED)
        g->given_up[class_id] = (uint8_t)out;
    return out;
}

static amount *least_of(struct trial *t, const uint32_t *queue, uint32_t count)
{
    const struct world *w = t->world;
    amount *least = ARENA_ARRAY(t->arena, amount, w->column_count);
    for (uint32_t i = 0; i < count; i++) {
        const amount *requests = classes_requests(&w->classes, w->waiting[queue[i]].class_id);
        for (uint32_t c = 0; c < w->column_count; c++)
            if (i == 0 || requests[c] < least[c])
                least[c] = requests[c];
    }
    return least;
}

bool greedy_run(struct trial *t, const struct plan_options *o, const uint32_t *queue,
                uint32_t count, uint8_t *outcome_out)
{
    struct greedy g = {.t = t, .w = t->world};
    g.progress = ARENA_ARRAY(t->arena, struct progress, t->world->classes.attempt_count);
    g.given_up = ARENA_ARRAY(t->arena, uint8_t, t->world->classes.count);
    g.least = least_of(t, queue, count);
    for (uint32_t i = 0; i < count; i++) {
        if (o->stop != NULL && i % STOP_EVERY == 0 && o->stop(o->user))
            return false;
        uint32_t pod = queue[i];
        outcome_out[pod] = (uint8_t)place(&g, pod, t->world->waiting[pod].class_id);
    }
    return true;
}

/* --- places from before --- */

static bool seat(struct trial *t, const struct place *place, uint32_t pod)
{
    const struct world *w = t->world;
    uint32_t class_id = w->waiting[pod].class_id;
    const struct pod_class *k = &w->classes.items[class_id];
    int32_t row = place->on_claim ? world_find_claim(w, place->target)
                                  : world_find_node(w, place->target);
    if (row < 0 || w->nodes[row].leaving)
        return false;
    for (uint32_t i = 0; i < k->attempt_count; i++) {
        const struct attempt *try = &w->classes.attempts[k->first_attempt + i];
        if (trial_row_holds(t, (uint32_t)row, class_id, try) &&
            world_suits(w, try, w->profile_of[row], NULL) == FIT_YES) {
            trial_place_on_node(t, (uint32_t)row, pod, class_id, try);
            return true;
        }
    }
    return false;
}

uint32_t greedy_seat(struct trial *t, const struct places *places, uint32_t *queue,
                     uint32_t count, uint8_t *outcome_out)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = places_find(places, t->world->waiting[queue[i]].pod->meta.uid);
        if (place != NULL && seat(t, place, queue[i]))
            outcome_out[queue[i]] = OUTCOME_PLACED;
        else
            queue[left++] = queue[i];
    }
    return left;
}

/* --- the queue --- */

struct queued {
    amount cpu, memory;
    const struct pod *pod;
    uint32_t index;
};

static int queued_order(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu > y->cpu ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    const struct meta *m = &x->pod->meta, *n = &y->pod->meta;
    if (m->created != n->created)
        return m->created < n->created ? -1 : 1;
    int order = span_cmp(m->uid, n->uid);
    if (order == 0)
        order = span_cmp(m->ns, n->ns);
    return order != 0 ? order : span_cmp(m->name, n->name);
}

void greedy_order(const struct world *w, struct arena *a, uint32_t *queue, uint32_t count)
{
    struct queued *items = ARENA_ARRAY(a, struct queued, count);
    for (uint32_t i = 0; i < count; i++) {
        const amount *requests = classes_requests(&w->classes, w->waiting[queue[i]].class_id);
        items[i] = (struct queued){requests[0], requests[1], w->waiting[queue[i]].pod, queue[i]};
    }
    if (count != 0)
        qsort(items, count, sizeof(*items), queued_order);
    for (uint32_t i = 0; i < count; i++)
        queue[i] = items[i].index;
}
