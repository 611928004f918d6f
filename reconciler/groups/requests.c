#include "reconciler/groups/requests.h"

#include "base/json.h"
#include "kube/patch.h"
#include "reconciler/groups/told.h"
#include "reconciler/stages.h"

static const struct span ACCEPTED = SPAN_INIT("Accepted");
static const struct span PROVISIONED = SPAN_INIT("Provisioned");
static const struct span FAILED = SPAN_INIT("Failed");

static bool are_asked_for(const struct reconciler *r)
{
    return r->config.groups.provider != NULL && r->config.groups.flags.provisioning_requests;
}

void requests_look(struct pass *p)
{
    struct reconciler *r = p->r;
    if (!are_asked_for(r))
        return;
    if (r->previous == NULL || !snapshot_same(r->previous, p->snapshot, KIND_PROVISIONING_REQUEST))
        groups_wake(r);
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_PROVISIONING_REQUEST);
    for (const struct provisioning_request *o; (o = snapshot_next(&it)) != NULL;)
        memos_at(&r->requests, o->meta.uid);
}

/* --- before a pass --- */

static const void **list(const struct pass *p, enum kind k, size_t *count_out)
{
    const void **items = ARENA_ARRAY(p->a, const void *, p->snapshot->state[k].count + 1);
    struct snapshot_iter it = snapshot_each(p->snapshot, k);
    *count_out = 0;
    for (const void *o; (o = snapshot_next(&it)) != NULL;)
        items[(*count_out)++] = o;
    return items;
}

struct capacity_requests *requests_resolve(struct pass *p, struct symtab *syms, struct arena *a)
{
    size_t count, template_count;
    if (!are_asked_for(p->r))
        return NULL;
    const void **objects = list(p, KIND_PROVISIONING_REQUEST, &count);
    const void **templates = list(p, KIND_POD_TEMPLATE, &template_count);
    struct capacity_requests *all = ARENA_NEW(a, struct capacity_requests);
    *all = capacity_requests_resolve(a, syms, &p->r->config.groups.flags, (const void *)objects, count,
                                     (const void *)templates, template_count);
    return all;
}

struct timebox {
    const struct reconciler_listener *listener;
    uint64_t until; /* ns */
};

static bool is_late(void *user)
{
    const struct timebox *t = user;
    return t->listener->now_ns(t->listener->user) > t->until;
}

static void recall(struct pass *p, struct capacity_request *x)
{
    struct request_memo *m = memos_at(&p->r->requests, x->object->meta.uid);
    bool shown = request_is(x, PROVISIONED);
    m->grown = m->grown && !shown;
    m->booked = m->booked && !shown;
    x->unsettled = !act_may(p, &m->memo, &x->object->meta);
    x->booked = m->booked;
    x->grown = m->grown;
    x->refused = m->refused;
    x->back_off = m->back_off != 0 ? m->back_off : p->r->config.groups.request_backoff_first;
    p->r->keeper.backed_off += m->back_off != 0;
}

void requests_recall(struct pass *p, struct capacity_requests *all)
{
    const struct reconciler_listener *l = &p->r->config.listener;
    if (all == NULL)
        return;
    p->r->keeper.backed_off = 0;
    for (uint32_t i = 0; i < all->count; i++)
        recall(p, &all->items[i]);
    all->turn = p->r->keeper.requests_turn;
    all->is_late = NULL;
    if (l->now_ns == NULL || p->r->config.groups.flags.check_batch <= 1)
        return;
    struct timebox *t = ARENA_NEW(p->a, struct timebox);
    *t = (struct timebox){l, l->now_ns(l->user) + (uint64_t)p->r->config.groups.check_timebox * 1000000};
    all->is_late = is_late;
    all->user = t;
}

/* --- what is written --- */

struct words { /* a condition, and what is told of it */
    struct span type;
    enum condition_status status;
    const char *reason, *message; /* NULL: the request's own reason */
    const char *sentence;
};

static const struct words words_of[] = {
    [REQUEST_ACCEPTED] = {SPAN_INIT("Accepted"), CONDITION_TRUE, "Accepted", "ProvisioningRequest is accepted by ClusterAutoscaler", NULL},
    [REQUEST_FOUND] = {SPAN_INIT("Provisioned"), CONDITION_TRUE, "CapacityIsFound", "Capacity is found in the cluster",
                       "has room, which is kept for 10 minutes"},
    [REQUEST_PROVISIONED] = {SPAN_INIT("Provisioned"), CONDITION_TRUE, "CapacityIsProvisioned", "Capacity is found in the cluster",
                             "has room on nodes that were asked for, which is kept for 10 minutes"},
    [REQUEST_NOT_FOUND] = {SPAN_INIT("Provisioned"), CONDITION_FALSE, "CapacityIsNotFound",
                           "Capacity is not found, CA will try to find it later.", "has no room yet and is tried again"},
    [REQUEST_FAILED] = {SPAN_INIT("Failed"), CONDITION_TRUE, "CapacityIsNotFound", "CA could not find requested capacity",
                        "has no room, and is not to be tried again"},
    [REQUEST_NO_PODS] = {SPAN_INIT("Failed"), CONDITION_TRUE, "FailedToCreatePods", NULL, "cannot be seen to"},
    [REQUEST_UNBOOKABLE] = {SPAN_INIT("Failed"), CONDITION_TRUE, "FailedToBookCapacity", NULL, "cannot be kept room for"},
    [REQUEST_BOOKING_OVER] = {SPAN_INIT("BookingExpired"), CONDITION_TRUE, "CapacityReservationTimeExpired",
                              "Capacity reservation time is expired", "has no room kept any more: 10 minutes are over"},
    [REQUEST_CONSUMED] = {SPAN_INIT("BookingExpired"), CONDITION_TRUE, "CapacityBookingConsumed",
                          "As many pods as were asked for are scheduled", "has its pods"},
    [REQUEST_EXPIRED] = {SPAN_INIT("Failed"), CONDITION_TRUE, "Expired", "ProvisioningRequest is expired",
                         "had no room in 7 days, and is not tried again"},
};

/* Of what stands in its status now, by the call that wrote it. */
static void tell_of(struct reconciler *r, const struct call *c)
{
    const struct words *w = &words_of[c->topic.number];
    const struct call_topic *t = &c->topic;
    bool bad = w->status == CONDITION_FALSE || span_eq(w->type, FAILED);
    struct decision d = {.kind = bad ? DECISION_NO_PLACE : DECISION_PLACE, .subject = "request", .per_hour = NAN,
                         .warning = span_eq(w->type, FAILED), .reason = span_of(w->reason), .note = t->text,
                         .about = {KIND_PROVISIONING_REQUEST, t->ns, t->name, t->uid}};
    if (w->message != NULL)
        tell(r, d, "%.*s/%.*s  %s", SPAN_ARG(t->ns), SPAN_ARG(t->name), w->sentence);
    else
        tell(r, d, "%.*s/%.*s  %s: %.*s", SPAN_ARG(t->ns), SPAN_ARG(t->name), w->sentence, SPAN_ARG(t->text));
}

/* Somebody else's write in between is no trouble: it is written anew. */
static void note_unwritten(struct reconciler *r, struct request_memo *m, const struct call *c)
{
    bool trouble = c->err.kind != ERR_CONFLICT && c->err.kind != ERR_NOT_FOUND && c->err.kind != ERR_CANCELLED;
    if (trouble && !m->unwritten)
        told_request_unwritten(r, c);
    m->unwritten |= trouble;
    m->booked = false; /* a pass looks again */
}

static void on_written(struct reconciler *r, struct call *c)
{
    struct request_memo *m = (struct request_memo *)c->memo;
    if (c->err.kind != ERR_NONE) {
        note_unwritten(r, m, c);
        return;
    }
    m->unwritten = false;
    if (words_of[c->topic.number].sentence != NULL)
        tell_of(r, c);
}

static bool is_memorable(const struct pass *p, const struct request_memo *m)
{
    return m->back_off != 0 || p->r->keeper.backed_off < (uint32_t)p->r->config.groups.request_backoff_count;
}

/* As upstream: the second wait is twice the first, and so on. */
static void back_off(struct pass *p, const struct capacity_request *x, struct request_memo *m)
{
    const struct group_settings *s = &p->r->config.groups;
    bool again = conditions_find(x->object->conditions, PROVISIONED) != NULL;
    if (!is_memorable(p, m))
        return;
    span_ms wait = again ? 2 * x->back_off : s->request_backoff_first;
    m->back_off = wait < s->request_backoff_max ? wait : s->request_backoff_max;
}

static void write(struct pass *p, const struct capacity_request *x, enum request_outcome outcome)
{
    const struct words *w = &words_of[outcome];
    struct request_memo *m = memos_at(&p->r->requests, x->object->meta.uid);
    struct span message = w->message != NULL ? span_of(w->message) : x->why;
    struct condition_set s = condition_set_of(p->a, &provisioning_request_conditions, &x->object->meta, x->object->conditions,
                                              p->wall);
    if (outcome == REQUEST_UNBOOKABLE)
        message = arena_printf(p->a, "Couldn't create pods, err: %.*s", SPAN_ARG(x->why));
    if (!conditions_true(s.list, ACCEPTED) && span_eq(w->type, PROVISIONED))
        condition_set_put(&s, ACCEPTED, CONDITION_TRUE, ACCEPTED, span_of(words_of[REQUEST_ACCEPTED].message));
    condition_set_put(&s, w->type, w->status, span_of(w->reason), message);
    const struct meta *o = &x->object->meta;
    struct call_topic topic = {.ns = o->ns, .name = o->name, .uid = o->uid, .text = message, .number = outcome};
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, p->a, s.list);
    patch_status_end(&j);
    bool sent = act(p, &(struct action){.verb = API_MERGE, .kind = KIND_PROVISIONING_REQUEST, .object = o,
                                        .memo = &m->memo, .subresource = SPAN("status"), .body = buf_span(&out),
                                        .done = on_written, .topic = topic});
    buf_release(&out);
    if (!sent)
        return;
    m->booked = span_eq(w->type, PROVISIONED) && w->status == CONDITION_TRUE;
    m->refused = false;
    if (outcome == REQUEST_NOT_FOUND)
        back_off(p, x, m);
    else if (outcome != REQUEST_ACCEPTED)
        m->back_off = 0;
}

static void end(struct pass *p, const struct capacity_request *x)
{
    const struct meta *o = &x->object->meta;
    struct request_memo *m = memos_at(&p->r->requests, o->uid);
    struct decision d = {.kind = DECISION_GONE, .subject = "request", .per_hour = NAN};
    d.sentence = arena_printf(p->a, "%.*s/%.*s  is deleted: it was over 7 days ago", SPAN_ARG(o->ns), SPAN_ARG(o->name));
    act(p, &(struct action){.verb = API_DELETE, .kind = KIND_PROVISIONING_REQUEST, .object = o, .memo = &m->memo,
                            .rests = ACT_ON_UID, .why = &d});
}

/* --- after a pass --- */

static bool follow(struct pass *p, const struct request_told *t)
{
    struct keeper *k = &p->r->keeper;
    switch (t->outcome) {
    case REQUEST_LEFT:
        return false;
    case REQUEST_GROWS:
        k->order_request = arena_dup(&k->orders_arena, t->request->object->meta.uid);
        return true;
    case REQUEST_OLD:
        end(p, t->request);
        return false;
    default:
        write(p, t->request, t->outcome);
        return true;
    }
}

void requests_follow(struct pass *p, const struct group_pass *decided)
{
    struct keeper *k = &p->r->keeper;
    if (!are_asked_for(p->r))
        return;
    k->requests_turn = decided->requests_turn;
    k->requests_served = false;
    for (uint32_t i = 0; i < decided->request_count; i++)
        k->requests_served |= follow(p, &decided->requests[i]);
    told_consuming(p, decided);
}

void requests_grown(struct reconciler *r, bool well)
{
    struct keeper *k = &r->keeper;
    struct request_memo *m = k->order_request.len != 0 ? memos_find(&r->requests, k->order_request) : NULL;
    k->order_request = (struct span){NULL, 0};
    if (m == NULL)
        return;
    m->grown = well;
    m->refused = !well;
    k->woken = true; /* to say so */
}
