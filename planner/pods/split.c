/* A pod's side goes by its place in the order of age: the n-th pod is a spot pod when n pods want one more
 * on spot than n - 1 do. So a scale-up leaves the sides of those before it as they are, and with them
 * what was bought for them. What then deviates, because of where pods stand, is made up for by the
 * youngest of those that are still free. */
#include "planner/pods/split.h"

#include <stdlib.h>

#include "base/safe_text.h"
#include "kube/shaped_by.h"
#include "planner/columns.h"
#include "planner/pods/pod_workload.h"

/* --- annotations --- */

static bool is_annotated(const struct pod *p)
{
    for (uint32_t i = 0; i < p->meta.annotations.count; i++)
        if (p->meta.annotations.items[i].key == SYM_ON_DEMAND_BASE ||
            p->meta.annotations.items[i].key == SYM_SPOT_PERCENT)
            return true;
    return false;
}

/* Digits and nothing else. */
static bool read_number(struct span text, uint32_t most, uint32_t *out)
{
    int64_t n;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    if (text.len == 0 || !span_int64(text, &n) || n > (int64_t)most)
        return false;
    *out = (uint32_t)n;
    return true;
}

static struct span fault_of(struct arena *a, const struct split_owner *o, const char *name,
                            struct span value, const char *fix)
{
    return arena_printf(a,
                        "%.*s %.*s/%.*s is not split between spot and on-demand: its pods' annotation "
                        "%s is \"%.*s\". Fix: write %s",
                        SPAN_ARG(o->kind), SPAN_ARG(o->ns), SPAN_ARG(o->name), name, SPAN_ARG(safe_value(a, value)),
                        fix);
}

/* Half a split is not what anybody asked for: one value that cannot be read leaves both without effect. */
static void read_annotations(struct arena *a, struct split_owner *o, const struct pod *newest,
                             struct span *fault_out)
{
    struct span base = annotations_get(newest->meta.annotations, SYM_ON_DEMAND_BASE);
    struct span percent = annotations_get(newest->meta.annotations, SYM_SPOT_PERCENT);
    o->has_base = base.ptr != NULL;
    o->has_percent = percent.ptr != NULL;
    o->percent = 100;
    if (o->has_base && !read_number(base, 1000000000, &o->base))
        *fault_out = fault_of(a, o, "stowage.dev/on-demand-base", base, "a whole number of pods");
    else if (o->has_percent && !read_number(percent, 100, &o->percent))
        *fault_out = fault_of(a, o, "stowage.dev/spot-percent", percent,
                              "a whole number from 0 to 100, without a sign");
    else
        o->active = o->has_base || o->has_percent;
}

/* --- who owns a pod --- */

struct building {
    struct split *s;
    struct world *w;
    struct arena *arena;
    struct object_index replica_sets;
    struct intern known;
    uint32_t owner_capacity, seat_capacity;
};

static struct split_owner owner_beside(const struct pod *p, const struct meta *set, const struct symtab *syms)
{
    struct pod_workload w = pod_workload(p, set, syms);
    return (struct split_owner){.kind = w.kind, .ns = w.ns, .name = w.name};
}

static struct split_owner owner_of(struct building *b, const struct pod *p)
{
    const struct owner *c = meta_controller(&p->meta);
    const struct controller *set = NULL;
    if (c != NULL && c->kind == SYM_KIND_REPLICA_SET)
        set = object_index_at(&b->replica_sets, object_index_find(&b->replica_sets, p->meta.ns, c->name));
    return owner_beside(p, set != NULL ? &set->meta : NULL, b->w->syms);
}

static void owner_words(struct words *out, struct arena *a, const struct split_owner *o)
{
    words_init(out, a);
    words_put64(out, span_hash(o->kind));
    words_put64(out, span_hash(o->ns));
    words_put64(out, span_hash(o->name));
}

/* --- the sides that constraints leave --- */

enum { MAY_ON_DEMAND = 1, MAY_SPOT = 2, MAY_ALL = 3 };

static uint32_t may_by_expression(const struct expression *e)
{
    bool on_demand = syms_has(e->values, SYM_ON_DEMAND) || syms_has(e->values, SYM_RESERVED);
    bool spot = syms_has(e->values, SYM_SPOT);
    switch (e->op) {
    case OP_IN:
        return (on_demand ? MAY_ON_DEMAND : 0) | (spot ? MAY_SPOT : 0);
    case OP_NOT_IN: /* without on-demand there is reserved */
        return (spot ? 0 : MAY_SPOT) |
               (syms_has(e->values, SYM_ON_DEMAND) && syms_has(e->values, SYM_RESERVED)
                    ? 0
                    : MAY_ON_DEMAND);
    case OP_DOES_NOT_EXIST:
        return MAY_ON_DEMAND;
    default:
        return MAY_ALL;
    }
}

static uint32_t may_by_expressions(struct expressions list)
{
    uint32_t may = MAY_ALL;
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i].key == SYM_CAPACITY_TYPE)
            may &= may_by_expression(&list.items[i]);
    return may;
}

/* A claim that is not launched has no label yet; most say beforehand what they will be. */
static enum split_side side_of_row(const struct world *w, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    sym kind = sym_pairs_get(world_row_labels(n), SYM_CAPACITY_TYPE);
    uint32_t may = kind == SYM_SPOT ? MAY_SPOT : MAY_ON_DEMAND;
    if (kind == SYM_NONE && n->stage == NODE_LAUNCHING)
        may = may_by_expressions(n->claim->requirements);
    return may == MAY_SPOT ? SPLIT_SPOT : SPLIT_ON_DEMAND;
}

/* --- who counts --- */

static bool is_nobodys(const struct pod *p)
{
    return pod_is_terminal(p) || pod_is_daemon(p) || pod_is_static(p);
}

/* The row on which the pod stands, -1: none. False: it does not count. */
static bool stands(const struct world *w, const struct pod *p, int32_t *row_out)
{
    *row_out = -1;
    if (is_nobodys(p))
        return false;
    if (p->node == SYM_NONE)
        return p->meta.deleted == 0;
    int32_t row = world_find_node(w, sym_text(w->syms, p->node));
    if (row < 0)
        return false;
    if (w->nodes[row].leaving)
        return pod_is_reschedulable(p);
    *row_out = row;
    return p->meta.deleted == 0;
}

static uint32_t own_word(const struct pod *p)
{
    sym wanted = sym_pairs_get(p->node_selector, SYM_CAPACITY_TYPE);
    uint32_t may = wanted == SYM_NONE ? MAY_ALL : wanted == SYM_SPOT ? MAY_SPOT : MAY_ON_DEMAND;
    if (p->affinity == NULL || !p->affinity->has_required_node)
        return may;
    uint32_t terms = 0;
    for (uint32_t i = 0; i < p->affinity->required_node.count; i++)
        terms |= may_by_expressions(p->affinity->required_node.items[i].match_expressions);
    return may & terms;
}

/* --- seats --- */

static void take_owner(struct building *b, const struct pod *p)
{
    struct split_owner o = owner_of(b, p);
    struct words words;
    bool is_new;
    owner_words(&words, b->arena, &o);
    intern_put(&b->known, &words, &is_new);
    if (is_new)
        ARENA_PUSH(b->arena, b->s->owners, b->s->owner_count, b->owner_capacity, o);
}

static void take_seat(struct building *b, const struct pod *p)
{
    int32_t row;
    if (!stands(b->w, p, &row))
        return;
    struct split_owner o = owner_of(b, p);
    struct words words;
    owner_words(&words, b->arena, &o);
    int32_t owner = intern_find(&b->known, &words);
    if (owner < 0)
        return;
    uint32_t may = own_word(p);
    struct span review = shaped_by_get(annotations_get(p->meta.annotations, SYM_SHAPED_BY), SPAN("review"));
    struct split_seat seat = {.pod = p, .owner = (uint32_t)owner, .review = review.len != 0 ? span_hash(review) : 0};
    if (row >= 0)
        seat.side = side_of_row(b->w, (uint32_t)row);
    else if (may == MAY_ALL)
        seat.free = true;
    else
        seat.side = may == MAY_SPOT ? SPLIT_SPOT : SPLIT_ON_DEMAND;
    if (may == MAY_ALL)
        seat.asks = SPLIT_ON_DEMAND; /* which of the two is settled when all are there */
    ARENA_PUSH(b->arena, b->s->seats, b->s->seat_count, b->seat_capacity, seat);
}

static int seat_order(const void *a, const void *b)
{
    const struct split_seat *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->pod->meta.created != y->pod->meta.created)
        return x->pod->meta.created < y->pod->meta.created ? -1 : 1;
    return span_cmp(x->pod->meta.name, y->pod->meta.name);
}

/* --- sides --- */

static uint32_t spot_of(const struct split_owner *o, uint32_t pods)
{
    uint64_t rest = pods > o->base ? pods - o->base : 0;
    return (uint32_t)(rest * o->percent / 100);
}

static enum split_side other(enum split_side s)
{
    return s == SPLIT_SPOT ? SPLIT_ON_DEMAND : SPLIT_SPOT;
}

static void give_sides(struct split_owner *o, struct split_seat *seats, uint32_t count)
{
    uint32_t spot = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (seats[i].free)
            seats[i].side = spot_of(o, i + 1) > spot_of(o, i) ? SPLIT_SPOT : SPLIT_ON_DEMAND;
        spot += seats[i].side == SPLIT_SPOT;
    }
    o->pods = count;
    o->spot = spot_of(o, count);
    enum split_side scarce = spot > o->spot ? SPLIT_ON_DEMAND : SPLIT_SPOT;
    uint32_t lacks = spot > o->spot ? spot - o->spot : o->spot - spot;
    for (uint32_t i = count; i-- > 0 && lacks != 0;)
        if (seats[i].free && seats[i].side != scarce) {
            seats[i].side = scarce;
            lacks--;
        }
    o->over = lacks;
    o->scarce = scarce;
    for (uint32_t i = 0; i < count; i++) {
        bool heals = lacks != 0 && !seats[i].free && seats[i].side != scarce;
        if (seats[i].asks != SPLIT_NONE)
            seats[i].asks = heals ? other(seats[i].side) : seats[i].side;
    }
}

static int text_order(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

/* Seats of owners that do not split after all are nobody's. */
static void settle(struct building *b)
{
    struct split *s = b->s;
    struct span *warnings = NULL;
    uint32_t capacity = 0, kept = 0, end;
    for (uint32_t first = 0; first < s->seat_count; first = end) {
        struct split_owner *o = &s->owners[s->seats[first].owner];
        struct span fault = {NULL, 0};
        for (end = first; end < s->seat_count && s->seats[end].owner == s->seats[first].owner;)
            end++;
        read_annotations(b->arena, o, s->seats[end - 1].pod, &fault);
        if (fault.ptr != NULL)
            ARENA_PUSH(b->arena, warnings, s->warning_count, capacity, fault);
        if (!o->active)
            continue;
        give_sides(o, s->seats + first, end - first);
        o->first = kept;
        memmove(s->seats + kept, s->seats + first, (end - first) * sizeof(*s->seats));
        kept += end - first;
    }
    s->seat_count = kept;
    if (s->warning_count != 0)
        qsort(warnings, s->warning_count, sizeof(*warnings), text_order);
    s->warnings = warnings;
}

/* --- looking up --- */

static uint32_t slot_of(const struct split *s, const struct pod *p)
{
    return (uint32_t)(span_hash(p->meta.name) ^ span_hash(p->meta.ns) << 1) & s->mask;
}

static void put_seat(const struct split *s, uint32_t *slots, uint32_t at, uint32_t seat)
{
    while (slots[at] != 0)
        at = (at + 1) & s->mask;
    slots[at] = seat + 1;
}

static void index_seats(struct building *b)
{
    struct split *s = b->s;
    s->mask = 15;
    while (s->mask / 2 < s->seat_count)
        s->mask = s->mask * 2 + 1;
    s->slots = ARENA_ARRAY(b->arena, uint32_t, (size_t)s->mask + 1);
    s->by_review = ARENA_ARRAY(b->arena, uint32_t, (size_t)s->mask + 1);
    for (uint32_t i = 0; i < s->seat_count; i++) {
        put_seat(s, s->slots, slot_of(s, s->seats[i].pod), i);
        if (s->seats[i].review != 0)
            put_seat(s, s->by_review, (uint32_t)s->seats[i].review & s->mask, i);
    }
}

static const struct split_seat *seat_of_review(const struct split *s, uint64_t review)
{
    for (uint32_t at = (uint32_t)review & s->mask; s->by_review[at] != 0; at = (at + 1) & s->mask)
        if (s->seats[s->by_review[at] - 1].review == review)
            return &s->seats[s->by_review[at] - 1];
    return NULL;
}

const struct split_seat *split_look_up(const struct split *s, const struct pod *p)
{
    for (uint32_t at = slot_of(s, p); s->slots[at] != 0; at = (at + 1) & s->mask) {
        const struct split_seat *x = &s->seats[s->slots[at] - 1];
        if (span_eq(x->pod->meta.name, p->meta.name) && span_eq(x->pod->meta.ns, p->meta.ns) &&
            span_eq(x->pod->meta.uid, p->meta.uid))
            return x;
    }
    return NULL;
}

void split_build(struct split *s, struct world *w, const struct world_input *in)
{
    struct building b = {.s = s, .w = w, .arena = w->arena};
    size_t first = 0;
    if (w->settings.unsplit)
        return;
    while (first < in->pod_count && !is_annotated(in->pods[first]))
        first++;
    if (first == in->pod_count)
        return;
    object_index_init(&b.replica_sets, b.arena, (const void *const *)in->replica_sets,
                      in->replica_set_count);
    intern_init(&b.known, b.arena);
    for (size_t i = first; i < in->pod_count; i++)
        if (is_annotated(in->pods[i]) && !is_nobodys(in->pods[i]))
            take_owner(&b, in->pods[i]);
    for (size_t i = 0; i < in->pod_count && s->owner_count != 0; i++)
        take_seat(&b, in->pods[i]);
    if (s->seat_count != 0)
        qsort(s->seats, s->seat_count, sizeof(*s->seats), seat_order);
    settle(&b);
    index_seats(&b);
}

bool split_concerns(const struct split *s, const struct pod *p)
{
    bool near = is_annotated(p);
    for (uint32_t i = 0; i < s->owner_count && !near; i++)
        near = span_eq(s->owners[i].ns, p->meta.ns);
    return near;
}

/* --- what others ask --- */

/* "web-5c9f7" is one of Deployment web's, and none of Deployment web-api's is. */
static bool is_set_of(struct span set, struct span deployment)
{
    struct span hash;
    if (set.len <= deployment.len + 1 || !span_has_prefix(set, deployment) ||
        set.ptr[deployment.len] != '-')
        return false;
    span_cut((struct span){set.ptr + deployment.len + 1, set.len - deployment.len - 1}, '-', &hash);
    return hash.ptr == NULL;
}

/* Of a pod that is not among the seats, whose ReplicaSet may be as new as itself. */
static const struct split_owner *owner_by_name(const struct world *w, const struct pod *p)
{
    const struct owner *c = meta_controller(&p->meta);
    for (uint32_t i = 0; c != NULL && i < w->split.owner_count; i++) {
        const struct split_owner *o = &w->split.owners[i];
        if (!o->active || !span_eq(o->ns, p->meta.ns))
            continue;
        if (span_eq(o->name, c->name) && sym_find(w->syms, o->kind) == c->kind)
            return o;
        if (c->kind == SYM_KIND_REPLICA_SET && span_eq(o->kind, SPAN("Deployment")) &&
            is_set_of(c->name, o->name))
            return o;
    }
    return NULL;
}

static enum split_side next_side(const struct split_owner *o)
{
    if (o->over != 0)
        return o->scarce;
    return spot_of(o, o->pods + 1) > spot_of(o, o->pods) ? SPLIT_SPOT : SPLIT_ON_DEMAND;
}

/* Whose side is still to be chosen; NULL: nobody's pod, or its side is known. */
static const struct split_owner *owner_of_free(const struct world *w, const struct pod *p,
                                               const struct split_seat *x)
{
    if (x != NULL)
        return x->free && x->pod->node == SYM_NONE ? &w->split.owners[x->owner] : NULL;
    if (w->split.owner_count == 0 || p->node != SYM_NONE || is_nobodys(p) || own_word(p) != MAY_ALL)
        return NULL;
    return owner_by_name(w, p);
}

static uint64_t workload_of(const struct split_owner *o)
{
    const uint64_t names[] = {span_hash(o->kind), span_hash(o->ns), span_hash(o->name)};
    uint64_t id = span_hash((struct span){(const char *)names, sizeof(names)});
    return id != 0 ? id : 1;
}

uint64_t world_split_workload(const struct world *w, const struct pod *p)
{
    const struct split_owner *o = owner_of_free(w, p, split_find(&w->split, p));
    return o != NULL ? workload_of(o) : 0;
}

/* The sides once more, with the others who were sent where they were sent. */
static enum split_side side_beside(const struct world *w, const struct split_owner *o,
                                   const struct pod *p, struct arena *a,
                                   const struct split_sent *sent, uint32_t sent_count)
{
    const struct split_seat *x = split_find(&w->split, p);
    struct split_owner owner = *o;
    const struct split_seat *first = &w->split.seats[o->first];
    struct split_seat *seats = ARENA_ARRAY(a, struct split_seat, o->pods + sent_count + 1);
    uint32_t count = o->pods, own = x != NULL ? (uint32_t)(x - first) : UINT32_MAX;
    uint64_t workload = workload_of(o), id = span_hash(p->meta.uid);
    memcpy(seats, first, count * sizeof(*seats));
    for (uint32_t i = 0; i < sent_count; i++) {
        if (sent[i].workload != workload || sent[i].id == id)
            continue;
        const struct split_seat *known = sent[i].pod != NULL ? split_find(&w->split, sent[i].pod) : NULL;
        if (known == NULL)
            seats[count++].side = sent[i].side;
        else if (known->free) {
            seats[known - first].free = false;
            seats[known - first].side = sent[i].side;
        }
    }
    if (own == UINT32_MAX) {
        own = count++;
        seats[own].free = true;
    }
    give_sides(&owner, seats, count);
    return seats[own].side;
}

enum split_side world_split_side(const struct world *w, const struct pod *p, struct arena *a,
                                 const struct split_sent *sent, uint32_t sent_count)
{
    const struct split_seat *x = split_find(&w->split, p);
    const struct split_owner *o = owner_of_free(w, p, x);
    if (o == NULL)
        return x != NULL && x->pod->node == SYM_NONE ? x->asks : SPLIT_NONE;
    for (uint32_t i = 0; i < sent_count; i++)
        if (sent[i].workload == workload_of(o))
            return side_beside(w, o, p, a, sent, sent_count);
    return x != NULL ? x->asks : next_side(o);
}

/* --- pods that are being created --- */

static int32_t owner_known(const struct world *w, const struct split_owner *o)
{
    for (uint32_t i = 0; i < w->split.owner_count; i++) {
        const struct split_owner *x = &w->split.owners[i];
        if (x->active && span_eq(x->name, o->name) && span_eq(x->ns, o->ns) && span_eq(x->kind, o->kind))
            return (int32_t)i;
    }
    return -1;
}

bool world_split_wish(const struct world *w, const struct split_newcomer *n, struct arena *a, struct split_wish *out,
                      struct span *fault_out)
{
    const struct pod *p = n->pod;
    *fault_out = (struct span){NULL, 0};
    if (!is_annotated(p) || p->node != SYM_NONE || is_nobodys(p))
        return false;
    struct split_owner o = owner_beside(p, n->set, n->syms);
    read_annotations(a, &o, p, fault_out); /* the newest pod's are the workload's */
    if (!o.active || own_word(p) != MAY_ALL)
        return false;
    bool alone = meta_controller(&p->meta) == NULL;
    int32_t owner = alone ? -1 : owner_known(w, &o);
    const struct split_owner *known = owner >= 0 ? &w->split.owners[owner] : NULL;
    *out = (struct split_wish){.base = o.base,
                               .percent = o.percent,
                               .workload = alone ? 0 : workload_of(&o),
                               .owner = owner,
                               .pods = known != NULL ? known->pods : 0};
    return true;
}

/* How many of the workload's pods that the world shows are on spot, by the wish's formula. */
static uint32_t spot_shown(const struct world *w, const struct split_wish *wish)
{
    const struct split_owner o = {.base = wish->base, .percent = wish->percent};
    uint32_t spot = 0;
    for (uint32_t i = 0; i < wish->pods; i++) {
        const struct split_seat *seat = &w->split.seats[w->split.owners[wish->owner].first + i];
        spot += seat->free ? spot_of(&o, i + 1) > spot_of(&o, i) : seat->side == SPLIT_SPOT;
    }
    return spot;
}

/* Its side comes out as if all of its workload were given theirs anew (give_sides), with it as the youngest: of those before
 * it only how many there are matters, and how many of them are on spot. */
enum split_side world_split_newcomer(const struct world *w, const struct split_wish *wish, struct split_sent *sent,
                                     uint32_t sent_count)
{
    const struct split_owner o = {.base = wish->base, .percent = wish->percent};
    uint32_t count = wish->pods, spot = spot_shown(w, wish);
    for (uint32_t i = 0; i < sent_count; i++) {
        const struct split_seat *seat = wish->owner >= 0 ? seat_of_review(&w->split, sent[i].id) : NULL;
        sent[i].pod = seat != NULL ? seat->pod : NULL;
        count += seat == NULL;
        spot += seat == NULL && sent[i].side == SPLIT_SPOT;
    }
    enum split_side side = spot_of(&o, count + 1) > spot_of(&o, count) ? SPLIT_SPOT : SPLIT_ON_DEMAND;
    spot += side == SPLIT_SPOT;
    uint32_t wanted = spot_of(&o, count + 1);
    return spot == wanted ? side : spot > wanted ? SPLIT_ON_DEMAND : SPLIT_SPOT;
}

enum split_side world_split_draw(const struct world *w, const struct split_wish *wish, uint64_t review, uint32_t ahead)
{
    const struct split_owner o = {.base = wish->base, .percent = wish->percent};
    uint32_t spot = spot_shown(w, wish), wanted = spot_of(&o, wish->pods + ahead);
    uint32_t lacks = wanted > spot ? wanted - spot : 0;
    return (uint32_t)((review >> 32) * ahead >> 32) < lacks ? SPLIT_SPOT : SPLIT_ON_DEMAND;
}

bool world_split_refuses(const struct world *w, enum split_side side, uint32_t row)
{
    return side != SPLIT_NONE && side_of_row(w, row) != side;
}

uint32_t world_split_warnings(const struct world *w, const struct span **out)
{
    *out = w->split.warnings;
    return w->split.warning_count;
}

struct span split_text(struct arena *a, const struct split_owner *o)
{
    struct buf b = {0};
    buf_addf(&b, "its %.*s %.*s wants %u of %u pod%s on spot (", SPAN_ARG(o->kind),
             SPAN_ARG(o->name), o->spot, o->pods, o->pods == 1 ? "" : "s");
    if (o->has_base)
        buf_addf(&b, "stowage.dev/on-demand-base: %u%s", o->base, o->has_percent ? ", " : "");
    if (o->has_percent)
        buf_addf(&b, "stowage.dev/spot-percent: %u", o->percent);
    buf_add(&b, SPAN(")"));
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}
