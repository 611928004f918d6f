#include "planner/groups/choice.h"

#include <math.h>
#include <stdlib.h>

#include "kube/wellknown.h"
#include "planner/columns.h"
#include "planner/groups/snapshot/snapshot.h"
#include "planner/places.h"

enum {
    MOST_SHAPES = 8, /* each costs a plan or two: those with the most pods */
    MOST_PLANS = 24, /* in all: in large clusters each takes as long as the plan that is chosen */
    MOST_ROUNDS = 4, /* until all who ask the groups have a place there; two are enough as a rule */
};

static const struct span asks_groups = SPAN_INIT("it asks the node groups: there it is cheaper, or wants to go");

struct chosen { /* a pod for which the pools' plan buys a node, or has no place */
    const struct pod *pod;
    uint32_t class_id;
    bool bought;
    bool groups; /* it asks them */
    bool bound;  /* it prefers one of both, or a machine of a group is on its way for it */
    /* By a plan over both: */
    int32_t wish;           /* the group where it goes; -1: none */
    uint32_t machine, turn; /* see group_wish */
};

struct choice {
    struct chosen *pods; /* by namespace and name */
    struct guest *guests; /* likewise */
    struct group_wish *wishes; /* likewise; of one that is made */
    uint32_t count, guest_count;
    size_t wish_count;
};

struct weight {
    int32_t *left; /* priorities of pods without a place, descending */
    uint32_t left_count;
    uint32_t unknown; /* nodes of which nobody knows the price */
    double cost;
};

struct choosing {
    const struct choice_ground *g;
    struct arena *a;
    struct group_flags flags;
    struct choice now, best;
    bool *taken; /* of `now`: has a place in a group */
    struct choice met; /* guests: whom the groups took when `now` was weighed last, if that matters to others */
    struct weight weight;
    uint32_t seated; /* in groups, when `now` was weighed last */
    uint32_t plans; /* made so far */
};

/* --- flags --- */

static bool any_price(const struct node_groups *file)
{
    bool any = false;
    for (uint32_t i = 0; i < file->groups.count; i++)
        any |= file->groups.items[i].has_price;
    return any;
}

static bool is_default(const struct group_flags *f)
{
    return f->expander_count == 1 && f->expanders[0] == EXPANDER_LEAST_WASTE;
}

struct group_flags choice_flags(const struct group_flags *f, const struct node_groups *file, bool beside_pools)
{
    struct group_flags out = *f;
    out.beside_pools = beside_pools && !f->as_upstream;
    if (f->as_upstream || !any_price(file) || !(beside_pools || is_default(f)))
        return out;
    out.salvo = true;
    out.by_cost = is_default(f);
    return out;
}

/* Between groups. */
static bool prices_decide(const struct group_flags *f)
{
    return f->by_cost && !f->balance_similar;
}

/* Of a trial: only who would have a place is asked. That all have come a moment ago is no matter, the real pass comes in a
 * moment; who is to wait longer for a group (--new-pod-scale-up-delay) goes to the pools. */
static struct group_flags trial_flags(const struct group_flags *f)
{
    struct group_flags out = *f;
    out.is_trial = true;
    out.scale_down_enabled = out.enforce_min_size = false;
    return out;
}

/* --- who can choose --- */

static int by_name(const void *a, const void *b)
{
    const struct meta *x = &((const struct chosen *)a)->pod->meta, *y = &((const struct chosen *)b)->pod->meta;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static struct chosen *find(const struct choice *c, const struct pod *p)
{
    struct chosen key = {.pod = p};
    return c->count != 0 ? bsearch(&key, c->pods, c->count, sizeof(key), by_name) : NULL;
}

bool choice_knows(const struct group_model *m, struct span wish)
{
    return group_model_group(m, wish) >= 0 || span_eq(wish, SPAN("pools")) || span_eq(wish, SPAN("groups"));
}

static void prefer(const struct choice_ground *g, struct chosen *c)
{
    struct span wish = annotations_get(c->pod->meta.annotations, SYM_PREFER);
    const struct places *places = g->objects->places;
    const struct place *place = places != NULL ? places_find(places, c->pod->meta.uid) : NULL;
    bool pools = span_eq(wish, SPAN("pools")), groups = !pools && choice_knows(g->model, wish);
    c->groups = groups || (!pools && place != NULL && place->group.len != 0);
    c->bound = c->groups || pools;
}

static void add(struct choosing *x, const struct pod *p, bool bought)
{
    uint32_t class_id = snapshot_class_of(x->g->groups, p);
    if (p->is_virtual || p->node != SYM_NONE || class_id >= x->g->groups->classes.count)
        return;
    struct chosen *c = &x->now.pods[x->now.count++];
    *c = (struct chosen){.pod = p, .class_id = class_id, .bought = bought, .wish = -1};
    prefer(x->g, c);
}

static void list(struct choosing *x, const struct plan *pools)
{
    uint32_t count = pools->unschedulable_count;
    for (uint32_t i = 0; i < pools->claim_count; i++)
        count += pools->claims[i].pod_count;
    x->now.pods = ARENA_ARRAY(x->a, struct chosen, count);
    for (uint32_t i = 0; i < pools->claim_count; i++)
        for (uint32_t k = 0; k < pools->claims[i].pod_count; k++)
            add(x, pools->claims[i].pods[k], true);
    for (uint32_t i = 0; i < pools->unschedulable_count; i++) /* a group may make room for others by taking them */
        add(x, pools->unschedulable[i].pod, false);
    if (x->now.count != 0)
        qsort(x->now.pods, x->now.count, sizeof(*x->now.pods), by_name);
    x->taken = ARENA_ARRAY(x->a, bool, x->now.count);
    x->best = (struct choice){.pods = ARENA_ARRAY(x->a, struct chosen, x->now.count), .count = x->now.count};
}

/* --- what a choice comes to --- */

static int descending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x < y) - (x > y);
}

/* Who has a place in a group, by name: one for whom a group is to grow more than it may has none. */
static struct choice seated_in(const struct group_pass *pass, struct arena *a)
{
    struct choice out = {.pods = ARENA_ARRAY(a, struct chosen, pass->coming_count), .count = pass->coming_count};
    for (uint32_t i = 0; i < out.count; i++)
        out.pods[i].pod = pass->coming[i].pod;
    if (out.count != 0)
        qsort(out.pods, out.count, sizeof(*out.pods), by_name);
    return out;
}

static void weigh_left(struct choosing *x, const struct plan *p, const struct choice *seated, struct weight *out)
{
    out->left = ARENA_ARRAY(x->a, int32_t, p->unschedulable_count);
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (find(seated, p->unschedulable[i].pod) == NULL)
            out->left[out->left_count++] = p->unschedulable[i].pod->priority;
    if (out->left_count != 0)
        qsort(out->left, out->left_count, sizeof(*out->left), descending);
}

static void add_node(struct weight *w, double price, int32_t count)
{
    if (isnan(price))
        w->unknown += (uint32_t)count;
    else
        w->cost += price * count;
}

static void weigh_cost(const struct plan *p, const struct group_pass *pass, struct weight *out)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        add_node(out, p->claims[i].price, 1);
    for (uint32_t i = 0; i < pass->decision_count; i++) {
        const struct node_group *g = pass->model->groups[pass->decisions[i].group].spec;
        add_node(out, g->has_price ? g->price : NAN, pass->decisions[i].delta);
    }
}

static int guests_by_name(const void *a, const void *b)
{
    return group_pods_by_name(&((const struct guest *)a)->pod, &((const struct guest *)b)->pod);
}

bool choice_is_guest(const struct world *pools, const struct pod *p)
{
    int32_t class_id = p->node == SYM_NONE ? world_waiting_class(pools, p->meta.uid) : -1;
    return class_id >= 0 && world_is_minded(pools, class_id);
}

static void meet_guests(struct choosing *x, const struct group_pass *pass)
{
    struct choice *met = &x->met;
    met->guest_count = 0;
    met->guests = x->g->at_once ? ARENA_ARRAY(x->a, struct guest, pass->coming_count) : NULL;
    for (uint32_t i = 0; x->g->at_once && i < pass->coming_count; i++) {
        const struct group_coming *c = &pass->coming[i];
        if (choice_is_guest(x->g->pools, c->pod))
            met->guests[met->guest_count++] = (struct guest){world_waiting_pod(x->g->pools, c->pod->meta.uid),
                                                             pass->model->groups[c->group].template.node};
    }
    if (met->guest_count != 0)
        qsort(met->guests, met->guest_count, sizeof(*met->guests), guests_by_name);
}

static void mark_taken(struct choosing *x, const struct choice *seated)
{
    for (uint32_t i = 0; i < x->now.count; i++)
        x->taken[i] = find(seated, x->now.pods[i].pod) != NULL;
}

static struct group_wish *list_wishes(const struct choice *c, const struct group_model *m, struct arena *a, size_t *count_out)
{
    struct group_wish *out = ARENA_ARRAY(a, struct group_wish, c->count);
    size_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->pods[i].groups && c->pods[i].wish >= 0)
            out[count++] = (struct group_wish){c->pods[i].pod, m->groups[c->pods[i].wish].spec->name, c->pods[i].machine, c->pods[i].turn};
    *count_out = count;
    return out;
}

/* `made`: the pools' plan for it, or NULL. */
static struct weight weigh(struct choosing *x, const struct plan *made)
{
    const struct choice_ground *g = x->g;
    struct arena scratch;
    struct weight out = {.cost = 0};
    struct choice_options o;
    struct plan *own = NULL;
    arena_init(&scratch, 0);
    choice_plan_options(g->options, &x->now, &o);
    o.plan.no_bound = true;
    if (made == NULL) {
        made = own = plan_solve(g->pools, &o.plan);
        x->plans++;
    }
    struct group_objects objects = *g->objects;
    groups_see_plan(&objects, made, &scratch);
    objects.wishes = list_wishes(&x->now, g->model, &scratch, &objects.wish_count);
    struct world *apart = objects.bought != NULL ? g->world_of(g->user, &objects) : NULL;
    const struct group_pass *pass = groups_pass(apart != NULL ? apart : g->groups, g->model, &x->flags, &objects,
                                                g->options->now, &scratch);
    struct choice seated = seated_in(pass, &scratch);
    x->seated = seated.count;
    weigh_left(x, made, &seated, &out);
    weigh_cost(made, pass, &out);
    mark_taken(x, &seated);
    meet_guests(x, pass);
    plan_free(own);
    world_free(apart);
    arena_release(&scratch);
    return out;
}

static bool is_better(const struct weight *x, const struct weight *y)
{
    for (uint32_t i = 0; i < x->left_count || i < y->left_count; i++) {
        if (i == x->left_count || i == y->left_count)
            return i == x->left_count;
        if (x->left[i] != y->left[i])
            return x->left[i] < y->left[i];
    }
    if (x->unknown != y->unknown)
        return x->unknown < y->unknown;
    return x->cost < y->cost * (1 - 1e-9);
}

/* --- the ways that are tried --- */

/* Whom the groups have no place for after all goes to the pools. Whether there was anybody. */
static bool drop_untaken(struct choosing *x)
{
    bool any = false;
    for (uint32_t i = 0; i < x->now.count; i++) {
        any |= x->now.pods[i].groups && !x->taken[i];
        x->now.pods[i].groups &= x->taken[i];
    }
    return any;
}

static bool asks_any(const struct choice *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->pods[i].groups)
            return true;
    return false;
}

static bool is_over(const struct choosing *x)
{
    const struct plan_options *o = x->g->options;
    return x->plans == MOST_PLANS || (o->stop != NULL && o->stop(o->user));
}

static bool is_best(const struct choosing *x)
{
    bool same = true;
    for (uint32_t i = 0; i < x->now.count; i++)
        same &= x->now.pods[i].groups == x->best.pods[i].groups && x->now.pods[i].wish == x->best.pods[i].wish;
    return same;
}

static void keep(struct choosing *x, const struct weight *w)
{
    memcpy(x->best.pods, x->now.pods, x->now.count * sizeof(*x->now.pods));
    x->weight = *w;
}

/* As it is, then without those whom the groups have no place for after all. Who stands aside for others (in the eyes of a
 * group there is room on a node) is no reason against it as long as fewer are left out than before. */
static void try_now(struct choosing *x)
{
    for (int i = 0; i < MOST_ROUNDS && asks_any(&x->now) && !is_best(x) && !is_over(x); i++) {
        struct weight w = weigh(x, NULL);
        if (is_better(&w, &x->weight))
            keep(x, &w);
        if (!drop_untaken(x))
            break;
    }
    memcpy(x->now.pods, x->best.pods, x->now.count * sizeof(*x->now.pods));
}

/* Preferences alone: what all others are held against. No pod is left out for one. */
static void begin(struct choosing *x, const struct plan *pools)
{
    struct choice wishes = {.pods = ARENA_ARRAY(x->a, struct chosen, x->now.count), .count = x->now.count};
    memcpy(wishes.pods, x->now.pods, x->now.count * sizeof(*x->now.pods));
    for (uint32_t i = 0; i < x->now.count; i++)
        x->now.pods[i].groups = false;
    struct weight w = weigh(x, pools);
    keep(x, &w);
    memcpy(x->now.pods, wishes.pods, x->now.count * sizeof(*x->now.pods));
    for (int i = 0; i < MOST_ROUNDS && asks_any(&x->now) && !is_over(x); i++) {
        w = weigh(x, NULL);
        if (drop_untaken(x))
            continue;
        if (w.left_count <= x->weight.left_count)
            keep(x, &w);
        break;
    }
    memcpy(x->now.pods, x->best.pods, x->now.count * sizeof(*x->now.pods));
}

/* As one search has it to which groups and pools are the same. */
static void take_together(struct choosing *x, const struct group_offers *offers, const struct plan *p)
{
    uint32_t turn = 0;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        int32_t group = group_of_offer(offers, p->claims[i].pool);
        for (uint32_t k = 0; group >= 0 && k < p->claims[i].pod_count; k++) {
            struct chosen *c = find(&x->now, p->claims[i].pods[k]);
            if (c == NULL || c->bound)
                continue;
            c->groups = true;
            c->wish = prices_decide(&x->flags) ? group : -1; /* else an expander says which, or balancing */
            c->machine = i;
            c->turn = turn++;
        }
    }
}

static void try_together(struct choosing *x)
{
    const struct choice_ground *g = x->g;
    struct group_offers offers = group_offers_make(g->pools, g->model, g->options->now, g->objects->syms, x->a);
    struct choice_options o;
    if (offers.count == 0 || is_over(x))
        return;
    for (uint32_t i = 0; i < x->now.count; i++)
        x->now.pods[i].groups &= x->now.pods[i].bound;
    choice_plan_options(g->options, &x->now, &o);
    o.plan.no_bound = true;
    o.plan.seating = NULL; /* what is told by rows and classes means others here */
    o.plan.barred_count = o.plan.arrival_count = 0;
    struct world *both = g->both_of(g->user, &offers);
    struct plan *p = plan_solve(both, &o.plan);
    x->plans++;
    take_together(x, &offers, p);
    plan_free(p);
    world_free(both);
    try_now(x);
}

struct shape {
    uint32_t class_id, count;
};

static int most_first(const void *a, const void *b)
{
    const struct shape *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->class_id < y->class_id ? -1 : 1;
}

static struct shape *list_shapes(struct choosing *x, uint32_t *count_out)
{
    uint32_t classes = x->g->groups->classes.count, count = 0;
    uint32_t *pods = ARENA_ARRAY(x->a, uint32_t, classes);
    for (uint32_t i = 0; i < x->now.count; i++)
        pods[x->now.pods[i].class_id] += x->now.pods[i].bought && !x->now.pods[i].bound;
    struct shape *shapes = ARENA_ARRAY(x->a, struct shape, classes);
    for (uint32_t c = 0; c < classes; c++)
        if (pods[c] != 0)
            shapes[count++] = (struct shape){c, pods[c]};
    if (count != 0)
        qsort(shapes, count, sizeof(*shapes), most_first);
    *count_out = count < MOST_SHAPES ? count : MOST_SHAPES;
    return shapes;
}

/* Whether that is anything new. */
static bool put_shape(struct choosing *x, uint32_t class_id, bool groups)
{
    bool any = false;
    for (uint32_t i = 0; i < x->now.count; i++) {
        struct chosen *c = &x->now.pods[i];
        if (c->class_id != class_id || c->bound)
            continue;
        any |= c->groups != groups;
        c->groups = groups;
    }
    return any;
}

/* All that may ask the groups, first: what is left goes to the pools. */
static void try_groups_first(struct choosing *x, const struct plan *pools)
{
    struct plan unbought = *pools;
    unbought.claim_count = 0;
    for (uint32_t i = 0; i < x->now.count; i++)
        x->now.pods[i].groups |= !x->now.pods[i].bound;
    weigh(x, &unbought);
    drop_untaken(x);
    try_now(x);
}

static void refine(struct choosing *x)
{
    uint32_t count;
    const struct shape *shapes = list_shapes(x, &count);
    for (uint32_t i = 0; count > 1 && i < count; i++)
        for (int groups = 0; groups < 2; groups++) /* of one that is parted both are new */
            if (put_shape(x, shapes[i].class_id, groups != 0))
                try_now(x);
}

/* --- pools beside what the groups take --- */

static bool same_guests(const struct choice *a, const struct choice *b)
{
    bool same = a->guest_count == b->guest_count;
    for (uint32_t i = 0; same && i < a->guest_count; i++)
        same = a->guests[i].pod == b->guests[i].pod && a->guests[i].node == b->guests[i].node;
    return same;
}

/* Of whom nobody knew where they would be the pools now do, if the groups then still take them there. */
static void settle(struct choosing *x, const struct plan *pools)
{
    if (!x->g->at_once || x->weight.left_count == 0 || is_over(x))
        return;
    weigh(x, asks_any(&x->best) ? NULL : pools);
    struct choice met = x->met;
    x->now.guests = met.guests;
    x->now.guest_count = met.guest_count;
    if (met.guest_count == 0 || is_over(x))
        return;
    struct weight w = weigh(x, NULL);
    if (!same_guests(&met, &x->met) || !is_better(&w, &x->weight))
        return;
    x->best.guests = met.guests;
    x->best.guest_count = met.guest_count;
}

/* --- all of it --- */

bool choice_is_open(const struct node_groups *file, const struct plan *pools)
{
    if (pools->claim_count != 0 && any_price(file))
        return true;
    for (uint32_t i = 0; i < pools->claim_count; i++)
        for (uint32_t k = 0; k < pools->claims[i].pod_count; k++)
            if (annotations_get(pools->claims[i].pods[k]->meta.annotations, SYM_PREFER).ptr != NULL)
                return true;
    return false;
}

const struct choice *choice_make(const struct choice_ground *g, const struct plan *pools, struct arena *a)
{
    struct choosing x = {.g = g, .a = a, .flags = trial_flags(g->flags)};
    bool alone = g->pools->pool_count == 0, waits = (g->at_once || alone) && pools->unschedulable_count != 0;
    if (g->flags->as_upstream || (alone && !prices_decide(g->flags)) || !(waits || choice_is_open(g->model->file, pools)))
        return NULL;
    list(&x, pools);
    begin(&x, pools);
    if (alone && x.seated == 0)
        return NULL; /* nor will they be by any other way */
    if (alone) {
        try_together(&x);
    } else {
        if (any_price(g->model->file)) {
            try_groups_first(&x, pools);
            try_together(&x);
            refine(&x);
        }
        settle(&x, pools);
    }
    if (!asks_any(&x.best) && x.best.guest_count == 0)
        return NULL;
    struct choice *out = ARENA_NEW(a, struct choice);
    *out = x.best;
    out->wishes = list_wishes(out, g->model, a, &out->wish_count);
    return out;
}

const struct group_wish *choice_wishes(const struct choice *c, size_t *count_out)
{
    *count_out = c->wish_count;
    return c->wishes;
}

/* --- the plan --- */

const struct choice *choice_of_guests(const struct guest *guests, uint32_t count, struct arena *a)
{
    struct choice *c = ARENA_NEW(a, struct choice);
    c->guests = ARENA_ARRAY(a, struct guest, count);
    c->guest_count = count;
    for (uint32_t i = 0; i < count; i++)
        c->guests[i] = guests[i];
    if (count != 0)
        qsort(c->guests, count, sizeof(*c->guests), guests_by_name);
    return c;
}

static bool is_guest(const struct choice *c, const struct pod *p)
{
    struct guest key = {.pod = p};
    return c->guest_count != 0 && bsearch(&key, c->guests, c->guest_count, sizeof(key), guests_by_name) != NULL;
}

static struct why put_off(void *user, const struct pod *p)
{
    const struct choice_options *o = user;
    const struct chosen *c = find(o->choice, p);
    if ((c != NULL && c->groups) || is_guest(o->choice, p))
        return (struct why){asks_groups, {NULL, 0}};
    return o->of->put_off != NULL ? o->of->put_off(o->of->user, p) : (struct why){{NULL, 0}, {NULL, 0}};
}

static bool stop(void *user)
{
    const struct plan_options *of = ((const struct choice_options *)user)->of;
    return of->stop(of->user);
}

void choice_plan_options(const struct plan_options *o, const struct choice *c, struct choice_options *out)
{
    *out = (struct choice_options){.plan = *o, .choice = c, .of = o};
    if (c->guest_count != 0) {
        out->plan.guests = c->guests;
        out->plan.guest_count = c->guest_count;
    }
    out->plan.put_off = put_off;
    out->plan.stop = o->stop != NULL ? stop : NULL;
    out->plan.user = out;
}

bool choice_put_off(const struct plan_unschedulable *u)
{
    return u->failure == FAILED_PUT_OFF && u->why.sentence.ptr == asks_groups.ptr;
}
