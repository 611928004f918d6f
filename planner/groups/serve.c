/* serve: what a pass makes of ProvisioningRequests (spec node-groups 6.1). Who has room keeps it, who is over is told so;
 * then one that waits, or a batch of check-capacity ones, in a pass that does nothing for ordinary pods. */
#include "kube/wellknown.h"
#include "planner/groups/inner.h"
#include "planner/groups/snapshot/snapshot.h"

static struct capacity_requests *requests_of(const struct group_run *r)
{
    return r->flags->provisioning_requests ? r->objects->requests : NULL;
}

static void tell(struct group_run *r, const struct capacity_request *x, enum request_outcome outcome)
{
    struct group_pass *out = r->out;
    struct request_told told = {x, outcome};
    ARENA_PUSH(r->arena, out->requests, out->request_count, out->request_capacity, told);
}

static bool is_told(const struct group_run *r, const struct capacity_request *x)
{
    for (uint32_t i = 0; i < r->out->request_count; i++)
        if (r->out->requests[i].request == x)
            return true;
    return false;
}

/* --- who waits for a request is not grown for --- */

void groups_drop_consuming(struct group_run *r)
{
    uint32_t count = 0, capacity = 0;
    if (!r->flags->provisioning_requests)
        return;
    for (uint32_t i = 0; i < r->pending_count; i++) {
        const struct pod *p = r->pending[i];
        if (request_consumed_by(r->world->syms, p).ptr == NULL)
            r->pending[count++] = p;
        else
            ARENA_PUSH(r->arena, r->out->consuming, r->out->consuming_count, capacity, p);
    }
    r->pending_count = count;
}

/* --- room that is kept --- */

struct consumers { /* pods that are there for some request */
    const struct pod **pods;
    uint32_t count, capacity;
};

static struct consumers list_consumers(const struct group_run *r)
{
    struct consumers all = {0};
    for (size_t i = 0; i < r->objects->pod_count; i++) {
        const struct pod *p = r->objects->pods[i];
        if (p->meta.annotations.count != 0 && !pod_is_terminal(p) && p->meta.deleted == 0 &&
            request_consumed_by(r->world->syms, p).ptr != NULL)
            ARENA_PUSH(r->arena, all.pods, all.count, all.capacity, p);
    }
    return all;
}

static bool consumes(const struct group_run *r, const struct capacity_request *x, const struct pod *p)
{
    return span_eq(p->meta.ns, x->object->meta.ns) && span_eq(request_consumed_by(r->world->syms, p), x->object->meta.name);
}

static int64_t bound_of(const struct group_run *r, const struct consumers *all, const struct capacity_request *x)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < all->count; i++)
        count += all->pods[i]->node != SYM_NONE && consumes(r, x, all->pods[i]);
    return count;
}

static bool same_size(const struct pod *a, const struct pod *b)
{
    return resources_get(a->requests, SYM_CPU) == resources_get(b->requests, SYM_CPU) &&
           resources_get(a->requests, SYM_MEMORY) == resources_get(b->requests, SYM_MEMORY);
}

/* The pod has come for which that room was kept: of the first set of its size that is not all there, or else of the last. */
static void take_one(const struct capacity_request *x, const struct pod *p, int32_t *come)
{
    uint32_t sets = x->object->pods.count, found = sets, first = 0;
    for (uint32_t i = 0; i < sets; first += (uint32_t)x->object->pods.items[i++].count) {
        if (come[i] == x->object->pods.items[i].count)
            continue;
        found = i;
        if (same_size(x->pods[first], p))
            break;
    }
    if (found < sets)
        come[found]++;
}

/* A place for the pod. Of one class none follows where none was: `hopeless` is the last such, SNAPSHOT_NONE at first. */
static bool place(struct group_run *r, const struct pod *p, uint32_t *hopeless)
{
    struct snapshot_among any = {.but = SNAPSHOT_NONE};
    uint32_t class_id = snapshot_class_of(r->world, p);
    if (class_id == *hopeless)
        return false;
    if (snapshot_seat(r->snapshot, p, class_id, &any) != SNAPSHOT_NONE)
        return true;
    *hopeless = class_id;
    return false;
}

/* Of the booking what is for pods that have not come yet; upstream keeps room for all of them beside those that have. */
static void book(struct group_run *r, const struct consumers *all, const struct capacity_request *x)
{
    int32_t *come = ARENA_ARRAY(r->arena, int32_t, x->object->pods.count + 1);
    uint32_t at = 0, hopeless = SNAPSHOT_NONE;
    for (uint32_t i = 0; x->pod_count != 0 && !r->flags->as_upstream && i < all->count; i++)
        if (consumes(r, x, all->pods[i]))
            take_one(x, all->pods[i], come);
    for (uint32_t i = 0; x->pod_count != 0 && i < x->object->pods.count; i++)
        for (int32_t k = 0; k < x->object->pods.items[i].count; k++, at++)
            if (k >= come[i])
                place(r, x->pods[at], &hopeless);
}

/* How many of the pods find no place; `all`: it is enough to know of one. */
static uint32_t seat(struct group_run *r, const struct capacity_request *x, bool all, const struct pod **without)
{
    uint32_t left = 0, hopeless = SNAPSHOT_NONE;
    for (uint32_t i = 0; i < x->pod_count && (!all || left == 0); i++)
        if (!place(r, x->pods[i], &hopeless)) {
            if (without != NULL)
                without[left] = x->pods[i];
            left++;
        }
    return left;
}

static bool is_past(const struct group_run *r, const struct capacity_request *x, struct span condition, span_ms time)
{
    const struct condition *c = conditions_find(x->object->conditions, condition);
    return c != NULL && c->status == CONDITION_TRUE && c->transition + time < r->now;
}

static enum request_outcome end_of(const struct group_run *r, const struct consumers *consumers, const struct capacity_request *x)
{
    if (is_past(r, x, SPAN("Provisioned"), REQUEST_KEPT_MS) || is_past(r, x, SPAN("Failed"), REQUEST_KEPT_MS))
        return REQUEST_OLD;
    if (request_is(x, SPAN("Failed")) || request_is(x, SPAN("BookingExpired")))
        return REQUEST_LEFT;
    if (x->grown && !request_is(x, SPAN("Provisioned")))
        return REQUEST_PROVISIONED;
    if (x->refused)
        return REQUEST_NOT_FOUND;
    if (!request_is(x, SPAN("Provisioned")))
        return x->object->meta.created + REQUEST_LIFE_MS < r->now ? REQUEST_EXPIRED : REQUEST_LEFT;
    if (is_past(r, x, SPAN("Provisioned"), REQUEST_BOOKED_MS))
        return REQUEST_BOOKING_OVER;
    if (bound_of(r, consumers, x) >= x->wanted)
        return REQUEST_CONSUMED;
    return x->why.ptr != NULL ? REQUEST_UNBOOKABLE : REQUEST_LEFT;
}

void groups_book(struct group_run *r)
{
    struct capacity_requests *all = requests_of(r);
    if (all == NULL || all->count == 0)
        return;
    struct consumers consumers = list_consumers(r);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct capacity_request *x = &all->items[i];
        bool may = !x->unsettled && r->out->request_count < REQUESTS_TOLD_MAX;
        enum request_outcome end = may ? end_of(r, &consumers, x) : REQUEST_LEFT;
        if (end != REQUEST_LEFT)
            tell(r, x, end);
        if (end == REQUEST_PROVISIONED || (end == REQUEST_LEFT && request_is_booked(x)))
            book(r, &consumers, x);
    }
}

/* --- who waits --- */

static bool is_due(const struct group_run *r, const struct capacity_request *x)
{
    const struct condition *c = conditions_find(x->object->conditions, SPAN("Provisioned"));
    if (x->unsettled || x->crowded || request_is(x, SPAN("Failed")) || request_is(x, SPAN("Provisioned")) || is_told(r, x))
        return false;
    return c == NULL || c->status != CONDITION_FALSE || c->transition + x->back_off < r->now;
}

static bool is_servable(const struct group_run *r, const struct capacity_request *x)
{
    return is_due(r, x) && (x->why.ptr == NULL || x->object->meta.created + REQUEST_TEMPLATE_MS < r->now);
}

bool groups_has_request(const struct group_run *r)
{
    const struct capacity_requests *all = requests_of(r);
    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        if (is_servable(r, &all->items[i]))
            return true;
    return false;
}

static enum request_outcome check(struct group_run *r, const struct capacity_request *x)
{
    snapshot_fork(r->snapshot);
    if (seat(r, x, true, NULL) == 0) {
        snapshot_commit(r->snapshot);
        return REQUEST_FOUND;
    }
    snapshot_revert(r->snapshot);
    return x->no_retry ? REQUEST_FAILED : REQUEST_NOT_FOUND;
}

static enum request_outcome grow(struct group_run *r, const struct capacity_request *x)
{
    const struct pod **without = ARENA_ARRAY(r->arena, const struct pod *, x->pod_count + 1);
    enum request_outcome outcome = REQUEST_FOUND;
    snapshot_fork(r->snapshot);
    uint32_t left = seat(r, x, false, without);
    if (left != 0 && !request_is(x, SPAN("Accepted")))
        outcome = REQUEST_ACCEPTED;
    else if (left != 0)
        outcome = groups_scale_up_whole(r, without, left) ? REQUEST_GROWS : REQUEST_NOT_FOUND;
    if (outcome == REQUEST_FOUND || outcome == REQUEST_GROWS)
        snapshot_commit(r->snapshot);
    else
        snapshot_revert(r->snapshot);
    return outcome;
}

static void serve_one(struct group_run *r, const struct capacity_request *x)
{
    tell(r, x, x->why.ptr != NULL ? REQUEST_NO_PODS : x->atomic ? grow(r, x) : check(r, x));
}

/* The oldest; if that is to be checked, as many more of these as a batch has. */
void groups_serve_requests(struct group_run *r)
{
    struct capacity_requests *all = requests_of(r);
    int32_t most = r->flags->check_batch, served = 0;
    for (uint32_t i = 0; i < all->count && served < most; i++) {
        const struct capacity_request *x = &all->items[i];
        if (!is_servable(r, x) || (served != 0 && x->atomic))
            continue;
        if (served != 0 && all->is_late != NULL && all->is_late(all->user))
            return;
        serve_one(r, x);
        served++;
        if (x->atomic && x->why.ptr == NULL)
            return;
    }
}
