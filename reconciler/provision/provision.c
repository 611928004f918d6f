/* A batch of waiting pods becomes a plan, the plan becomes NodeClaims and places.
 *
 * No plan is made while a claim is not launched or not yet seen: what it will be is not known, and
 * its pods would be planned for a second time (spec provisioning 2.3). Pods that still wait trigger
 * again every ten seconds, so a plan that could not be carried out is made anew. */
#include <stdlib.h>

#include "planner/explain/tell.h"
#include "planner/plan/plan_places.h"
#include "planner/plan/seating.h"
#include "reconciler/divergence/divergence.h"
#include "reconciler/groups/coming.h"
#include "reconciler/groups/look.h"
#include "reconciler/provision/claim_body.h"
#include "reconciler/provision/purchase.h"
#include "reconciler/provision/successors.h"
#include "reconciler/stages.h"

enum {
    NAMES_TRIED = 100,
    OWNERS_TOLD = 3,
    OVERTAKEN_MAX = 3, /* in a row: pods that wait for a node are not to wait for the scheduler to rest */
    STANDING_MS = 30 * MS_SECOND, /* pods that wait are planned again every ten: without any, nobody wants it */
};

/* ---- the plan before ---- */

void standing_plan_drop(struct standing_plan *s)
{
    if (s->snapshot != NULL)
        shared_unref(&s->snapshot->shared);
    free(s->rows);
    *s = (struct standing_plan){.snapshot = NULL};
}

static void keep_standing(struct pass *p, const struct plan *plan)
{
    struct standing_plan *s = &p->r->standing;
    size_t size = plan->row_count * sizeof(*s->rows);
    standing_plan_drop(s);
    *s = (struct standing_plan){.snapshot = (struct snapshot *)(uintptr_t)p->snapshot,
                                .rows = mem_new(size + 1),
                                .made = p->mono};
    shared_ref(&s->snapshot->shared);
    if (size != 0)
        memcpy(s->rows, plan->rows, size);
}

/* The places that are published, as the plan before has them; pods of which the scheduler has told something since are
 * looked up. False: they are of no plan. */
static bool seating_of(const struct pass *p, struct seating *out)
{
    const struct standing_plan *s = &p->r->standing;
    if (s->snapshot == NULL)
        return false;
    struct span *apart = ARENA_ARRAY(p->a, struct span, p->sent_count);
    for (uint32_t i = 0; i < p->sent_count; i++)
        apart[i] = p->sent[i].uid;
    *out = (struct seating){.world = derive_world(s->snapshot),
                            .rows = s->rows,
                            .apart = apart,
                            .apart_count = p->sent_count};
    return true;
}

/* ---- buying ---- */

/* "web ×6, api ×3": pods by the workload that owns them. */
static struct span pods_text(struct arena *a, const struct plan_claim *c, const struct symtab *syms)
{
    struct {
        struct span name;
        uint32_t count;
    } owners[OWNERS_TOLD];
    uint32_t n = 0, others = 0, room = 0;
    struct buf out = {0};
    for (uint32_t i = 0; i < c->pod_count; i++) {
        const struct meta *m = &c->pods[i]->meta;
        if (c->pods[i]->is_virtual) {
            room++;
            continue;
        }
        struct span name = m->owners.count != 0 ? m->owners.items[0].name : m->name;
        uint32_t at = 0;
        if (m->owners.count != 0 && m->owners.items[0].kind == SYM_KIND_REPLICA_SET)
            for (size_t k = name.len; k > 0; k--)
                if (name.ptr[k - 1] == '-') { /* the hash of the pods' template */
                    name.len = k - 1;
                    break;
                }
        while (at < n && !span_eq(owners[at].name, name))
            at++;
        if (at == OWNERS_TOLD) {
            others++;
            continue;
        }
        if (at == n) {
            owners[n].name = name;
            owners[n++].count = 0;
        }
        owners[at].count++;
    }
    (void)syms;
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&out, "%s%.*s ×%u", i != 0 ? ", " : "", SPAN_ARG(owners[i].name), owners[i].count);
    if (others != 0)
        buf_addf(&out, " and %u more", others);
    if (room != 0)
        buf_addf(&out, "%s%u virtual pod%s of CapacityBuffers", n != 0 ? " and " : "", room,
                 room == 1 ? "" : "s");
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

static bool name_taken(const struct pass *p, const struct plan_claim *claims, uint32_t count,
                       struct span name)
{
    if (snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, name) != NULL)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (span_eq(claims[i].name, name))
            return true;
    return false;
}

/* The plan's claims under the names that they will be created with. */
static void name_claims(const struct pass *p, struct plan *plan)
{
    struct plan_claim *claims = ARENA_ARRAY(&plan->arena, struct plan_claim, plan->claim_count);
    for (uint32_t i = 0; i < plan->claim_count; i++) {
        claims[i] = plan->claims[i];
        for (uint32_t ordinal = 0; ordinal < NAMES_TRIED; ordinal++) {
            claims[i].name = claim_name(&plan->arena, &claims[i], ordinal);
            if (!name_taken(p, claims, i, claims[i].name))
                break;
        }
    }
    plan->claims = claims;
}

static void nominate_pod(struct pass *p, const struct pod *pod, struct span claim, struct span node)
{
    if (pod->is_virtual)
        return;
    struct span note = node.len != 0 && claim.len != 0
                           ? arena_printf(p->a, "Pod should schedule on: nodeclaim/%.*s, node/%.*s",
                                          SPAN_ARG(claim), SPAN_ARG(node))
                           : arena_printf(p->a, "Pod should schedule on: %s/%.*s",
                                          claim.len != 0 ? "nodeclaim" : "node",
                                          SPAN_ARG(claim.len != 0 ? claim : node));
    tell(p->r,
         (struct decision){.kind = DECISION_PLACE,
                           .reason = SPAN("Nominated"),
                           .note = note,
                           .about = object_of(KIND_POD, &pod->meta),
                           .per_hour = NAN},
         "%.*s/%.*s is planned for %.*s", SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name),
         SPAN_ARG(node.len != 0 ? node : claim));
}

/* False: something holds it back. */
static bool buy(struct pass *p, const struct plan *plan, const struct plan_claim *c, struct purse *purse)
{
    struct purchase b = purchase_of(p, c);
    struct claim_extra extra = {.name = b.name, .decision = span_of(b.id)};
    if (!purse_take(p, &b, purse))
        return false;
    extra.planned = places_planned_text(p->a, p->world, c->pods, c->pod_count);
    b.body = claim_body(p->a, c, plan->syms, &extra);
    b.for_whom = pods_text(p->a, c, plan->syms);
    b.asked = p->r->provision.batch_ended;
    purchase_send(p, &b);
    return true;
}

/* They have no place as long as nothing is bought, and are planned anew as all that wait are. */
static bool waits_for_room(struct pass *p, const struct plan_claim *c, struct successors *s)
{
    if (!successors_take(s, p->world, c))
        return false;
    tell(p->r,
         (struct decision){.kind = DECISION_HOLD, .subject = "hold", .per_hour = c->price,
                           .about = object_of(KIND_NODE_POOL, &c->pool->meta)},
         "a node for %u pod%s of NodePool %.*s is not bought: as many equal ones end within a minute", c->pod_count,
         c->pod_count == 1 ? "" : "s", SPAN_ARG(c->pool->meta.name));
    count(p->r, MEASURE_HELD_BACK, 1, SPAN("room_comes"), (struct span){0}, (struct span){0});
    return true;
}

/* ---- carrying a plan out ---- */

/* There are no pools, but node groups, which have their own say; or they are to have it. */
static bool is_groups(const struct pass *p, const struct plan_unschedulable *u)
{
    return choice_put_off(u) || (u->reason == UNSCHEDULABLE_NO_POOLS && p->r->config.groups.provider != NULL);
}

static void tell_plan(struct pass *p, const struct plan *plan)
{
    struct reconciler *r = p->r;
    const struct plan_unschedulable *first = NULL;
    uint32_t unschedulable = 0;
    double added = 0;
    for (uint32_t i = 0; i < plan->claim_count; i++)
        added += isnan(plan->claims[i].price) ? 0 : plan->claims[i].price;
    if (plan->claim_count != 0)
        tell(r, (struct decision){.kind = DECISION_PLAN, .subject = "plan", .per_hour = added},
             "%u pod%s wait%s; %u node%s to buy (+$%.3f/h)", plan->waiting,
             plan->waiting == 1 ? "" : "s", plan->waiting == 1 ? "s" : "", plan->claim_count,
             plan->claim_count == 1 ? "" : "s", added);
    for (uint32_t i = plan->unschedulable_count; i-- > 0;)
        if (!plan->unschedulable[i].pod->is_virtual && plan->unschedulable[i].reason != UNSCHEDULABLE_RESERVED &&
            !is_groups(p, &plan->unschedulable[i])) {
            first = &plan->unschedulable[i];
            unschedulable++;
        }
    if (unschedulable != 0 && unschedulable != r->provision.told_unschedulable) {
        struct span said = why_text(p->a, &first->why);
        tell(r,
             (struct decision){
                 .kind = DECISION_NO_PLACE, .subject = "wait", .warning = true, .per_hour = NAN},
             "%u pod%s without a place; %.*s/%.*s: %.*s", unschedulable,
             unschedulable == 1 ? "" : "s", SPAN_ARG(first->pod->meta.ns),
             SPAN_ARG(first->pod->meta.name), SPAN_ARG(said));
    }
    r->provision.told_unschedulable = unschedulable;
}

static void tell_unschedulable(struct pass *p, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->unschedulable_count; i++) {
        const struct plan_unschedulable *u = &plan->unschedulable[i];
        if (u->reason == UNSCHEDULABLE_RESERVED || u->reason == UNSCHEDULABLE_NOT_REACHED ||
            u->pod->is_virtual /* its buffer says so */ || is_groups(p, u))
            continue;
        /* without any pool there is nothing to tell of single pods; Karpenter v1.15.0 sends none either */
        struct span said = why_text(p->a, &u->why);
        const struct why none = {{NULL, 0}, {NULL, 0}};
        bool told = u->reason != UNSCHEDULABLE_NO_POOLS && !u->wanted;
        tell(p->r,
             (struct decision){
                 .kind = DECISION_NO_PLACE,
                 .warning = true,
                 .per_hour = NAN,
                 .reason = told ? SPAN("FailedScheduling") : (struct span){0},
                 .note = arena_printf(p->a, "Failed to schedule pod, %.*s", SPAN_ARG(said)),
                 .put_off = u->failure == FAILED_PUT_OFF ? u->why : none,
                 .about = object_of(KIND_POD, &u->pod->meta)},
             "%.*s/%.*s has no place (%s): %.*s", SPAN_ARG(u->pod->meta.ns),
             SPAN_ARG(u->pod->meta.name), unschedulable_name(u->reason), SPAN_ARG(said));
    }
}

/* A pool that can buy nothing is asked all the same: who reads its Events should know. */
static void tell_closed(struct pass *p, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->closed_count; i++) {
        const struct plan_closed *c = &plan->closed[i];
        tell(p->r,
             (struct decision){.kind = DECISION_HOLD,
                               .warning = true,
                               .per_hour = NAN,
                               .reason = SPAN("NoCompatibleInstanceTypes"),
                               .note = arena_printf(p->a,
                                                    "NodePool requirements filtered out all "
                                                    "compatible available instance types%s",
                                                    c->min_values
                                                        ? " due to minValues incompatibility"
                                                        : ""),
                               .about = object_of(KIND_NODE_POOL, &c->pool->meta)},
             "NodePool %.*s can buy nothing: its %s leave no type", SPAN_ARG(c->pool->meta.name),
             c->min_values ? "minValues" : "requirements");
    }
}

static void nominate_claim(struct pass *p, const struct plan_claim *c)
{
    for (uint32_t i = 0; i < c->pod_count; i++)
        nominate_pod(p, c->pods[i], c->name, (struct span){0});
}

static bool has_real_pods(const struct plan_node *n)
{
    bool any = false;
    for (uint32_t i = 0; i < n->pod_count && !any; i++)
        any = !n->pods[i]->is_virtual;
    return any;
}

static void note_nominated(struct pass *p, const struct world_node *n)
{
    span_ms window = 2 * p->r->config.options.batch_max;
    if (window < 10 * MS_SECOND)
        window = 10 * MS_SECOND;
    if (n->node != NULL) {
        struct node_memo *m = memos_at(&p->r->nodes, n->node->meta.uid);
        m->nominated_until = p->mono + window;
        turns_call(&p->r->views.emptiness, m->at);
    }
    if (n->claim != NULL)
        ((struct claim_memo *)memos_at(&p->r->claims, n->claim->meta.uid))->nominated_until = p->mono + window;
}

/* Who has kept his place has been told. */
static void nominate_nodes(struct pass *p, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->kept_row_count; i++)
        note_nominated(p, world_node_at(p->world, plan->kept_rows[i]));
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct world_node *n = world_node_at(p->world, plan->nodes[i].row);
        struct span claim = n->claim != NULL ? n->claim->meta.name : (struct span){0};
        struct span node = n->node != NULL ? n->node->meta.name : (struct span){0};
        if (!has_real_pods(&plan->nodes[i]))
            continue;
        note_nominated(p, n);
        for (uint32_t k = 0; k < plan->nodes[i].pod_count; k++)
            nominate_pod(p, plan->nodes[i].pods[k], claim, node);
    }
}

/* False: it was overtaken, and is to be made again. */
static bool publish(struct pass *p, struct plan *plan)
{
    struct reconciler *r = p->r;
    name_claims(p, plan);
    bool beside;
    struct places *places = coming_beside(p, places_of_plan(plan, r->places, p->wall), &beside);
    places->snapshot = p->snapshot->sequence;
    if (r->provision.overtaken < OVERTAKEN_MAX && divergence_overtakes(p, places)) {
        r->provision.overtaken++;
        places_destroy(&places->shared);
        r->provision.batch_ready = true;
        pass_wake(p, p->mono);
        return false;
    }
    r->provision.overtaken = 0;
    reconciler_publish(r, places);
    if (!beside)
        keep_standing(p, plan);
    return true;
}

static void carry_out(struct pass *p, struct plan *plan)
{
    struct reconciler *r = p->r;
    struct purse purse = purse_open(p);
    struct successors successors = successors_of(p);
    const struct plan_claim **bought = ARENA_ARRAY(p->a, const struct plan_claim *, plan->claim_count);
    uint32_t bought_count = 0;
    tell_plan(p, plan);
    for (uint32_t i = 0; i < plan->claim_count; i++) {
        const struct plan_claim *c = &plan->claims[i];
        if (!waits_for_room(p, c, &successors) && buy(p, plan, c, &purse))
            bought[bought_count++] = c;
    }
    for (uint32_t i = 0; i < bought_count; i++) /* the requests are on their way by now */
        nominate_claim(p, bought[i]);
    nominate_nodes(p, plan);
    tell_unschedulable(p, plan);
    if (!isnan(plan->lower_bound))
        count(r, MEASURE_LOWER_BOUND, plan->lower_bound, (struct span){0}, (struct span){0},
              (struct span){0});
}

/* Of NodePools and of node groups beside them. */
static struct plan *plan_both(struct pass *p, const struct plan_options *o, struct scheduling *s)
{
    struct choice_options with, among;
    groups_begin(p);
    const struct choice *guests = group_look_guests(p);
    if (guests != NULL) {
        choice_plan_options(o, guests, &among);
        o = &among.plan;
    }
    struct plan *plan = plan_solve(p->world, o);
    s->choosing = true;
    const struct choice *c = group_look_choice(p, o, plan);
    s->choosing = false;
    wishes_keep(&p->r->keeper.wishes, s->given_up ? NULL : c);
    if (c != NULL && !s->given_up) {
        plan_free(plan);
        choice_plan_options(o, c, &with);
        plan = plan_solve(p->world, &with.plan);
        groups_wake(p->r);
    }
    plan_tell(plan);
    return plan;
}

static void solve(struct pass *p)
{
    struct plan_options o = p->r->config.options.plan;
    struct scheduling scheduling;
    o.now = p->wall;
    o.no_bound = p->r->config.groups.provider != NULL;
    o.stop = scheduling_tick;
    o.put_off = p->r->divergence.putting_off ? scheduling_put_off : NULL;
    o.user = &scheduling;
    struct seating seating;
    struct places *places = divergence_places(p, &o);
    o.places = places != NULL ? places : p->r->places;
    if (seating_of(p, &seating))
        o.seating = &seating;
    scheduling_begin(&scheduling, p);
    struct plan *plan = plan_both(p, &o, &scheduling);
    bool wanted = scheduling_end(&scheduling, plan);
    bool to_tell = plan->waiting != 0 || (p->r->places != NULL && p->r->places->count != 0);
    if (wanted && (!to_tell || publish(p, plan))) {
        p->r->provision.planned = p->snapshot->sequence;
        if (p->drain_waits)
            pass_wake(p, p->mono);
        tell_closed(p, plan);
        if (plan->waiting != 0)
            carry_out(p, plan);
        buffer_status_planned(p, plan);
    }
    p->r->provision.batch_ready |= !wanted; /* should we go on leading after all */
    plan_free(plan);
    if (places != NULL)
        places_destroy(&places->shared);
}

static void tell_synced(struct pass *p, bool synced)
{
    struct reconciler *r = p->r;
    if (synced)
        r->provision.unsynced_since = 0;
    else if (r->provision.unsynced_since == 0)
        r->provision.unsynced_since = p->mono;
    count(r, MEASURE_STATE_SYNCED, synced, (struct span){0}, (struct span){0}, (struct span){0});
    count(r, MEASURE_STATE_UNSYNCED,
          r->provision.unsynced_since != 0 ? (double)(p->mono - r->provision.unsynced_since) / MS_SECOND : 0,
          (struct span){0}, (struct span){0}, (struct span){0});
    count(r, MEASURE_STATE_NODES, world_node_count(p->world), (struct span){0}, (struct span){0},
          (struct span){0});
}

void provision_run(struct pass *p)
{
    struct reconciler *r = p->r;
    if (r->standing.snapshot != NULL && p->mono - r->standing.made >= STANDING_MS)
        standing_plan_drop(&r->standing);
    bool synced = purchases_settled(p);
    tell_synced(p, synced);
    if (batch_due(&r->provision.batch) <= p->mono) {
        batch_close(&r->provision.batch);
        if (!r->provision.batch_ready)
            r->provision.batch_ended = p->mono;
        r->provision.batch_ready = true;
    }
    pass_wake(p, batch_due(&r->provision.batch));
    if (!r->provision.batch_ready || !synced)
        return;
    r->provision.batch_ready = false;
    solve(p);
}
