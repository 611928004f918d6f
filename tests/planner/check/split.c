/* Spot and on-demand as the annotations want them: of an owner's pods no more are planned on either side
 * than the formula leaves for those that are still to be placed. Which of them goes where is the
 * planner's choice; that one may come up on either side is not. */
#include "inner.h"

struct family { /* the pods of one owner that count */
    struct pods all;
    struct pods free;      /* to be placed, and either side would do */
    uint32_t spot;         /* stand there, or ask for it themselves */
    uint32_t want;         /* of all, on spot */
    uint32_t placed[2];    /* of the free ones: on-demand, spot */
    uint32_t target[2];
};

static const struct owner *controller(const struct meta *m)
{
    for (uint32_t i = 0; i < m->owners.count; i++)
        if (m->owners.items[i].controller)
            return &m->owners.items[i];
    return NULL;
}

/* "Deployment shop/web" */
static struct span owner_name(struct check *k, const struct pod *p)
{
    const struct owner *o = controller(&p->meta);
    struct span kind = SPAN("Pod"), name = p->meta.name;
    if (o != NULL) {
        kind = text_of(k, o->kind);
        name = o->name;
    }
    bool known = false;
    for (size_t i = 0; span_eq(kind, SPAN("ReplicaSet")) && i < COUNT(k, KIND_REPLICA_SET); i++) {
        const struct controller *set = AT(k, KIND_REPLICA_SET, struct controller, i);
        const struct owner *up = controller(&set->meta);
        if (!span_eq(set->meta.ns, p->meta.ns) || !span_eq(set->meta.name, name))
            continue;
        known = true;
        if (up != NULL)
            return arena_printf(&k->arena, "%.*s %.*s/%.*s", SPAN_ARG(text_of(k, up->kind)),
                                SPAN_ARG(p->meta.ns), SPAN_ARG(up->name));
    }
    struct span hash =
        text_of(k, sym_pairs_get(p->meta.labels, sym_intern(k->syms, SPAN("pod-template-hash"))));
    struct span tail = arena_printf(&k->arena, "-%.*s", SPAN_ARG(hash));
    if (span_eq(kind, SPAN("ReplicaSet")) && !known && hash.len != 0 &&
        span_has_suffix(name, tail)) {
        kind = SPAN("Deployment");
        name.len -= tail.len;
    }
    return arena_printf(&k->arena, "%.*s %.*s/%.*s", SPAN_ARG(kind), SPAN_ARG(p->meta.ns),
                        SPAN_ARG(name));
}

/* --- numbers --- */

static bool number(struct span text, int64_t most, int64_t *out)
{
    return text.len != 0 && text.ptr[0] >= '0' && text.ptr[0] <= '9' && span_int64(text, out) &&
           *out <= most;
}

static uint32_t wanted_on_spot(int64_t pods, int64_t base, int64_t percent)
{
    int64_t on_demand = pods < base ? pods : base;
    return (uint32_t)((pods - on_demand) * percent / 100);
}

/* By the newest pod. False: it asks for no split, or nobody can read what it asks for. */
static bool read_newest(const struct family *f, uint32_t *want_out)
{
    const struct pod *newest = f->all.items[0];
    for (uint32_t i = 1; i < f->all.count; i++) {
        const struct pod *p = f->all.items[i];
        if (p->meta.created > newest->meta.created ||
            (p->meta.created == newest->meta.created &&
             span_cmp(p->meta.name, newest->meta.name) > 0))
            newest = p;
    }
    struct span base = annotations_get(newest->meta.annotations, SYM_ON_DEMAND_BASE);
    struct span percent = annotations_get(newest->meta.annotations, SYM_SPOT_PERCENT);
    int64_t b = 0, s = 100;
    if ((base.ptr == NULL && percent.ptr == NULL) ||
        (base.ptr != NULL && !number(base, 1000000000, &b)) ||
        (percent.ptr != NULL && !number(percent, 100, &s)))
        return false;
    *want_out = wanted_on_spot(f->all.count, b, s);
    return true;
}

/* --- sides --- */

enum { ON_DEMAND, SPOT };

static bool may_be(const struct check *k, const struct host *h, int side)
{
    for (uint32_t i = 0; i < h->outcome_count; i++) {
        const struct may *m = may_get(&h->outcomes[i].labels, SYM_CAPACITY_TYPE);
        if (m == NULL && side == ON_DEMAND)
            return true;
        for (uint32_t v = 0; m != NULL && v < m->values.count; v++)
            if (span_eq(text_of(k, m->values.items[v]), SPAN("spot")) == (side == SPOT))
                return true;
    }
    return false;
}

/* Whether the pod's own selector leaves nodes of the side, all else left open. */
static bool asks_for(struct check *k, const struct pod *p, int side)
{
    static const char *const values[][2] = {{"on-demand", "reserved"}, {"spot", "spot"}};
    for (int v = 0; v < 2; v++) {
        sym value = sym_intern(k->syms, span_of(values[side][v]));
        sym pair = sym_pairs_get(p->node_selector, SYM_CAPACITY_TYPE);
        bool good = pair == SYM_NONE || pair == value;
        bool term = p->affinity == NULL || !p->affinity->has_required_node;
        for (uint32_t t = 0; !term && t < p->affinity->required_node.count; t++)
            term = values_allowed(k, p->affinity->required_node.items[t].match_expressions,
                                  SYM_CAPACITY_TYPE, value);
        if (good && term)
            return true;
    }
    return false;
}

static const struct host *stands_on(const struct check *k, const struct pod *p)
{
    for (uint32_t i = 0; p->node != SYM_NONE && i < k->host_count; i++)
        if (k->hosts[i].node != NULL &&
            span_eq(k->hosts[i].node->meta.name, text_of(k, p->node)))
            return &k->hosts[i];
    return NULL;
}

static const struct host *planned_on(struct check *k, const struct pod *p)
{
    for (uint32_t i = 0; i < k->host_count; i++)
        for (uint32_t n = 0; n < k->hosts[i].pods.count; n++)
            if (span_eq(pod_name(k, k->hosts[i].pods.items[n]), pod_name(k, p)))
                return &k->hosts[i];
    return NULL;
}

/* Terminating pods of a StatefulSet come back when their node goes; all others are gone. */
static bool counts(const struct check *k, const struct pod *p)
{
    const struct host *h = stands_on(k, p);
    if (pod_is_terminal(p) || pod_is_daemon(p) || pod_is_static(p) || (p->node != SYM_NONE && h == NULL))
        return false;
    return !pod_is_terminating(p) || (h != NULL && h->leaving && !h->removed && in_pass(k, p));
}

static void take(struct check *k, struct family *f, const struct pod *p)
{
    const struct host *h = stands_on(k, p);
    bool stays = h != NULL && !h->leaving;
    bool spot = asks_for(k, p, SPOT), on_demand = asks_for(k, p, ON_DEMAND);
    ARENA_PUSH(&k->arena, f->all.items, f->all.count, f->all.capacity, p);
    if (stays || spot != on_demand || !spot)
        f->spot += stays ? may_be(k, h, SPOT) : spot && !on_demand;
    else
        ARENA_PUSH(&k->arena, f->free.items, f->free.count, f->free.capacity, p);
}

static bool family_of(struct check *k, const struct pod *p, struct family *out)
{
    struct span owner = owner_name(k, p);
    *out = (struct family){.want = 0};
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++) {
        const struct pod *x = AT(k, KIND_POD, struct pod, i);
        if (counts(k, x) && span_eq(owner_name(k, x), owner))
            take(k, out, x);
    }
    if (out->all.count == 0 || !read_newest(out, &out->want))
        return false;
    uint32_t lacks = out->want > out->spot ? out->want - out->spot : 0;
    out->target[SPOT] = lacks < out->free.count ? lacks : out->free.count;
    out->target[ON_DEMAND] = out->free.count - out->target[SPOT];
    for (uint32_t i = 0; i < out->free.count; i++) {
        const struct host *h = planned_on(k, out->free.items[i]);
        if (h != NULL)
            out->placed[may_be(k, h, SPOT) ? SPOT : ON_DEMAND]++;
    }
    return true;
}

static bool is_annotated(const struct pod *p)
{
    return annotations_get(p->meta.annotations, SYM_ON_DEMAND_BASE).ptr != NULL ||
           annotations_get(p->meta.annotations, SYM_SPOT_PERCENT).ptr != NULL;
}

static void check_family(struct check *k, struct span owner, const struct family *f)
{
    static const char *const names[] = {"on-demand", "spot"};
    for (uint32_t i = 0; i < f->free.count; i++) {
        const struct host *h = planned_on(k, f->free.items[i]);
        if (h != NULL && may_be(k, h, SPOT) && may_be(k, h, ON_DEMAND))
            broken(k, "pod %.*s is split by %.*s, and %.*s may be spot or on-demand",
                   SPAN_ARG(pod_name(k, f->free.items[i])), SPAN_ARG(owner), SPAN_ARG(h->name));
    }
    for (int side = 0; side < 2; side++)
        if (f->placed[side] > f->target[side])
            broken(k, "%.*s: %u more of its pods are planned on %s, of %u that are wanted there",
                   SPAN_ARG(owner), f->placed[side], names[side], f->target[side]);
}

void check_split(struct check *k)
{
    struct spans told = {0};
    uint32_t capacity = 0;
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++) {
        const struct pod *p = AT(k, KIND_POD, struct pod, i);
        struct family f;
        if (!is_annotated(p))
            continue;
        struct span owner = owner_name(k, p);
        bool again = false;
        for (uint32_t n = 0; n < told.count && !again; n++)
            again = span_eq(told.items[n], owner);
        if (again)
            continue;
        ARENA_PUSH(&k->arena, told.items, told.count, capacity, owner);
        if (family_of(k, p, &f))
            check_family(k, owner, &f);
    }
}

/* --- for a pod without a place --- */

/* The pod with one more expression in each of its terms. */
static const struct pod *with_expression(struct check *k, const struct pod *p, struct expression e)
{
    struct pod *copy = ARENA_NEW(&k->arena, struct pod);
    struct affinity *a = ARENA_NEW(&k->arena, struct affinity);
    static const struct node_term open;
    *copy = *p;
    copy->affinity = a;
    if (p->affinity != NULL)
        *a = *p->affinity;
    bool has = a->has_required_node;
    uint32_t count = has ? a->required_node.count : 1;
    const struct node_term *from = a->required_node.items;
    a->has_required_node = true;
    a->required_node = (struct node_terms){ARENA_ARRAY(&k->arena, struct node_term, count), count};
    for (uint32_t i = 0; i < count; i++) {
        struct node_term *t = &a->required_node.items[i];
        *t = has ? from[i] : open;
        struct expressions list = t->match_expressions;
        t->match_expressions.items = ARENA_ARRAY(&k->arena, struct expression, list.count + 1);
        for (uint32_t n = 0; n < list.count; n++)
            t->match_expressions.items[n] = list.items[n];
        t->match_expressions.items[t->match_expressions.count++] = e;
    }
    return copy;
}

const struct pod *with_split(struct check *k, const struct pod *p)
{
    struct family f;
    bool is_free = false;
    if (!family_of(k, p, &f))
        return p;
    for (uint32_t i = 0; i < f.free.count; i++)
        is_free |= span_eq(pod_name(k, f.free.items[i]), pod_name(k, p));
    if (!is_free)
        return p;
    bool spot = f.placed[SPOT] < f.target[SPOT];
    if (spot && f.placed[ON_DEMAND] < f.target[ON_DEMAND])
        return NULL;
    sym *value = ARENA_NEW(&k->arena, sym);
    *value = sym_intern(k->syms, SPAN("spot"));
    return with_expression(k, p, (struct expression){.key = SYM_CAPACITY_TYPE,
                                                     .op = spot ? OP_IN : OP_NOT_IN,
                                                     .values = {value, 1}});
}
