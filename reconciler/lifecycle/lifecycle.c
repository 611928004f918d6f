/* Carries out what lifecycle/ decides: one write a claim and pass, the provider's create beside
 * them. */
#include "reconciler/lifecycle/lifecycle.h"

#include <stdlib.h>

#include "base/json.h"
#include "kube/replaces.h"
#include "reconciler/stages.h"

enum { RELAUNCH_MS = MS_MINUTE }; /* after a machine was found to be gone */

/* ---- deleting a claim ---- */

static void on_deleted(struct reconciler *r, struct call *c)
{
    if (c->err.kind != ERR_NONE)
        return;
    for (uint32_t i = 0; i < c->topic.counted_count; i++)
        count_all(r, &c->topic.counted[i]);
}

struct span claim_termination_mode(const struct node_claim *claim)
{
    return !claim->has_grace ? SPAN("graceful") : claim->grace > 0 ? SPAN("eventual") : SPAN("forceful");
}

static uint32_t count_movable(struct pass *p, const struct claim_view *c)
{
    uint32_t count = 0, movable = 0;
    const struct pod *const *pods = c->node >= 0 ? node_pods(p, &p->nodes[c->node], &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        movable += pod_is_reschedulable(pods[i]);
    return movable;
}

void claim_measures(struct pass *p, const struct claim_view *c, const struct claim_end *end,
                    struct measure out[CLAIM_MEASURES])
{
    out[0] = (struct measure){
        .id = MEASURE_CLAIMS_DISRUPTED,
        .value = 1,
        .labels = {span_of(end->why), claim_pool_name(p, c->claim),
                   pass_text(p, sym_pairs_get(c->claim->meta.labels, SYM_CAPACITY_TYPE)), end->policy,
                   claim_termination_mode(c->claim)}};
    out[1] = out[0];
    out[1].id = MEASURE_PODS_DISRUPTED;
    out[1].value = count_movable(p, c);
}

/* In the pass's arena. */
static struct call_topic topic_of(struct pass *p, const struct claim_view *c, const struct claim_end *end)
{
    struct measure *list = ARENA_ARRAY(p->a, struct measure, CLAIM_MEASURES + 1);
    struct call_topic topic = {.counted = list};
    if (end->why[0] != '\0') {
        claim_measures(p, c, end, list);
        topic.counted_count = CLAIM_MEASURES;
    }
    if (end->also != NULL)
        list[topic.counted_count++] = *end->also;
    return topic;
}

bool claim_is_leaving(const struct pass *p, const struct claim_view *c)
{
    const struct meta *m = &c->claim->meta;
    return c->leaving ||
           (c->memo->deleted_by_us && !gate_open(&c->memo->memo.gate, m->resource_version, p->mono));
}

bool claim_delete(struct pass *p, const struct claim_view *c, const struct claim_end *end,
                  const struct decision *d, const char *sentence)
{
    const struct meta *m = &c->claim->meta;
    struct decision why = *d;
    why.sentence = arena_printf(p->a, "%.*s  %s", SPAN_ARG(m->name), sentence);
    if (!act(p, &(struct action){.verb = API_DELETE,
                                 .kind = KIND_NODE_CLAIM,
                                 .object = m,
                                 .memo = &c->memo->memo,
                                 .done = on_deleted,
                                 .topic = topic_of(p, c, end),
                                 .why = &why}))
        return false;
    c->memo->deleted_by_us = true;
    if (c->node >= 0)
        turns_call(&p->r->views.emptiness, (uint32_t)c->node);
    return true;
}

/* ---- the provider's create ---- */

static struct plain_labels keep_labels(struct arena *a, struct plain_labels from)
{
    struct plain_labels out = {ARENA_ARRAY(a, struct plain_label, from.count), from.count};
    for (uint32_t i = 0; i < from.count; i++)
        out.items[i] = (struct plain_label){arena_dup(a, from.items[i].key),
                                            arena_dup(a, from.items[i].value)};
    return out;
}

static void keep_machine(struct claim_memo *m, const struct called_machine *from)
{
    struct arena *a = &m->arena;
    arena_clear(a);
    m->machine = (struct called_machine){
        .provider_id = arena_dup(a, from->provider_id),
        .node_name = arena_dup(a, from->node_name),
        .image_id = arena_dup(a, from->image_id),
        .claim_uid = arena_dup(a, from->claim_uid),
        .claim_name = arena_dup(a, from->claim_name),
        .labels = keep_labels(a, from->labels),
        .annotations = keep_labels(a, from->annotations),
        .capacity = arena_dup(a, from->capacity),
        .allocatable = arena_dup(a, from->allocatable),
    };
    m->launched = true;
    m->launch_failed = false;
}

static void tell_failure(struct reconciler *r, struct call *c)
{
    struct decision d = {.kind = DECISION_LAUNCH,
                         .subject = "launch",
                         .warning = true,
                         .per_hour = NAN,
                         .about = {KIND_NODE_CLAIM, (struct span){0}, c->topic.name, c->topic.uid}};
    if (c->err.kind == ERR_CAPACITY) {
        d.reason = SPAN("InsufficientCapacityError");
        d.note = arena_printf(&c->arena, "NodeClaim %.*s event: insufficient capacity, %s",
                              SPAN_ARG(c->topic.name), c->err.msg);
    }
    tell(r, d, "%.*s: %s", SPAN_ARG(c->topic.name), c->err.msg);
}

/* As the last pass saw it. */
static bool still_waits(const struct reconciler *r, const struct place *place)
{
    const struct pod *pod = r->previous != NULL
                                ? snapshot_find(r->previous, KIND_POD, place->ns, place->pod)
                                : NULL;
    return pod != NULL && span_eq(pod->meta.uid, place->uid) && pod->node == SYM_NONE &&
           pod->meta.deleted == 0 && !pod_is_terminal(pod);
}

/* Pods that were planned for a claim that got no machine, and still wait. */
static void tell_pods(struct reconciler *r, struct call *c)
{
    const struct span note =
        arena_printf(&c->arena, "NodeClaim %.*s nominated for this pod failed to launch: %s",
                     SPAN_ARG(c->topic.name), c->err.msg);
    for (uint32_t i = 0; r->places != NULL && i < r->places->count; i++) {
        const struct place *place = &r->places->items[i];
        if (!place->on_claim || !span_eq(place->target, c->topic.name) || !still_waits(r, place))
            continue;
        tell(r,
             (struct decision){.kind = DECISION_LAUNCH,
                               .warning = true,
                               .per_hour = NAN,
                               .reason = SPAN("InsufficientCapacityError"),
                               .note = note,
                               .about = {KIND_POD, place->ns, place->pod, place->uid}},
             "%.*s/%.*s waits: no machine for %.*s", SPAN_ARG(place->ns), SPAN_ARG(place->pod),
             SPAN_ARG(c->topic.name));
    }
}

static void on_created(struct reconciler *r, struct call *c)
{
    struct claim_memo *m = (struct claim_memo *)c->memo;
    m->launch = NULL;
    if (c->err.kind == ERR_NONE && c->machine_count == 1) {
        keep_machine(m, &c->machines[0]);
        return;
    }
    if (c->err.kind == ERR_NOT_FOUND)
        m->create.retry_at = r->mono + RELAUNCH_MS;
    if (c->err.kind == ERR_NOT_FOUND || c->err.kind == ERR_CANCELLED)
        return;
    bool again = m->launch_failed && strcmp(m->error.msg, c->err.msg) == 0;
    m->launch_failed = true;
    m->error = c->err;
    if (!again)
        tell_failure(r, c);
    if (c->err.kind == ERR_CAPACITY) {
        tell_pods(r, c);
        r->watching.scanned = 0; /* its pods are planned anew as soon as may be */
    }
}

static void launch(struct pass *p, const struct claim_view *c)
{
    struct provider *provider = c->provider;
    struct claim_memo *m = c->memo;
    struct claim_order order = {c->claim, p->syms};
    if (m->launch != NULL || !gate_open(&m->create, 0, p->mono)) {
        if (m->launch == NULL)
            pass_wake(p, m->create.retry_at);
        return;
    }
    if (!call_may_begin(p->r, provider))
        return;
    struct call *call = call_new(p->r, &m->create, on_created);
    call_about(call, &m->memo);
    call->topic.name = arena_dup(&call->arena, c->claim->meta.name);
    call->topic.uid = arena_dup(&call->arena, c->claim->meta.uid);
    call_begin(call, provider, PROVIDER_CREATE, claim_pool_name(p, c->claim));
    m->launch = call;
    call->id = provider->ops->create(provider, &order, call_machine_done, call);
}

/* ---- writes ---- */

static void on_claim_patched(struct reconciler *r, struct call *c)
{
    (void)r;
    if (c->err.kind == ERR_NONE && c->topic.number != 0)
        ((struct claim_memo *)c->memo)->labels_written = true;
}

static void patch_claim(struct pass *p, const struct claim_view *c, const struct lifecycle_step *s)
{
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_CLAIM,
                            .object = &c->claim->meta,
                            .memo = &c->memo->memo,
                            .rests = s->claim_patch_labels ? ACT_ON_UID : ACT_ON_VERSION,
                            .body = s->claim_patch,
                            .done = on_claim_patched,
                            .topic = {.number = s->claim_patch_labels}});
}

static void on_node_patched(struct reconciler *r, struct call *c)
{
    if (c->err.kind == ERR_NONE && c->topic.number != 0)
        count(r, MEASURE_NODES_CREATED, 1, c->topic.text, (struct span){0}, (struct span){0});
}

static void patch_node(struct pass *p, const struct claim_view *c, const struct lifecycle_step *s)
{
    const struct node_view *n = &p->nodes[c->node];
    const struct decision missing = {
        .kind = DECISION_LAUNCH,
        .warning = true,
        .per_hour = NAN,
        .sentence = arena_printf(p->a, "%.*s: its Node came without the taint karpenter.sh/unregistered",
                                 SPAN_ARG(c->claim->meta.name)),
        .reason = SPAN("UnregisteredTaintMissing"),
        .note = SPAN("Missing karpenter.sh/unregistered taint which prevents "
                     "registration related race conditions on Karpenter-managed nodes"),
        .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE,
                            .object = &n->node->meta,
                            .memo = &n->memo->memo,
                            .rests = s->node_registers ? ACT_ON_VERSION : ACT_ON_UID,
                            .body = s->node_patch,
                            .done = on_node_patched,
                            .topic = {.number = s->node_registers, .text = claim_pool_name(p, c->claim)},
                            .why = s->taint_missing ? &missing : NULL});
}

static bool becomes_true(const struct claim_view *c, const struct lifecycle_step *s,
                         struct span type)
{
    return lifecycle_status(s, type) == CONDITION_TRUE &&
           !conditions_true(c->claim->conditions, type);
}

static bool was_false(const struct claim_view *c, struct span type)
{
    const struct condition *have = conditions_find(c->claim->conditions, type);
    return have != NULL && have->status == CONDITION_FALSE;
}

static void tell_ready(struct pass *p, const struct node_claim *claim)
{
    const struct meta *m = &claim->meta;
    pool_status_ready(p, claim);
    tell(p->r,
         (struct decision){.kind = DECISION_READY,
                           .subject = "ready",
                           .per_hour = NAN,
                           .about = object_of(KIND_NODE_CLAIM, m)},
         "%.*s  %lld s after it was asked for", SPAN_ARG(m->name), (long long)(clock_jump_age(&p->r->jump, m->created) / MS_SECOND));
}

static void patch_status(struct pass *p, const struct claim_view *c, const struct lifecycle_step *s)
{
    const struct meta *m = &c->claim->meta;
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_CLAIM,
                            .object = m,
                            .memo = &c->memo->memo,
                            .subresource = SPAN("status"),
                            .body = s->status_patch});
    if (s->shortfall.len != 0 && !was_false(c, SPAN("ConsistentStateFound")))
        tell(p->r,
             (struct decision){.kind = DECISION_LAUNCH,
                               .subject = "node",
                               .warning = true,
                               .per_hour = NAN,
                               .reason = SPAN("FailedConsistencyCheck"),
                               .note = s->shortfall,
                               .about = object_of(KIND_NODE_CLAIM, m)},
             "%.*s is smaller than its type: %.*s", SPAN_ARG(m->name), SPAN_ARG(s->shortfall));
    if (becomes_true(c, s, SPAN("Registered")))
        pool_status_launched(p, c->claim, true, (struct span){0}, (struct span){0});
    if (becomes_true(c, s, SPAN("Initialized")))
        tell_ready(p, c->claim);
}

static void give_up(struct pass *p, const struct claim_view *c, const struct lifecycle_step *s)
{
    static const char *const sentences[LIFECYCLE_END_COUNT] = {
        [LIFECYCLE_NO_CAPACITY] = "no machine is to be had; its pods are planned anew",
        [LIFECYCLE_CLASS_NOT_READY] = "its node class is not ready",
        [LIFECYCLE_LAUNCH_TIMEOUT] = "no machine within 5 min",
        [LIFECYCLE_REGISTRATION_TIMEOUT] = "its machine did not join within 15 min",
    };
    struct decision d = {.kind = DECISION_REMOVE,
                         .subject = "remove",
                         .warning = true,
                         .per_hour = NAN,
                         .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    const struct condition *launched = conditions_find(c->claim->conditions, SPAN("Launched"));
    if (!claim_delete(p, c, &(struct claim_end){.why = lifecycle_end_name(s->end)}, &d, sentences[s->end]))
        return;
    if (s->end == LIFECYCLE_REGISTRATION_TIMEOUT)
        pool_status_launched(p, c->claim, false, SPAN("RegistrationFailed"),
                             SPAN("Failed to register node"));
    else if (s->end == LIFECYCLE_LAUNCH_TIMEOUT && launched != NULL)
        pool_status_launched(p, c->claim, false, launched->reason, launched->message);
}

/* The pod of a place is bound elsewhere for good, or gone. On a node that leaves it is still to come. */
static bool is_placed(const struct pass *p, const struct place *place)
{
    const struct pod *pod = snapshot_find(p->snapshot, KIND_POD, place->ns, place->pod);
    if (pod == NULL || !span_eq(pod->meta.uid, place->uid))
        return true;
    int32_t row =
        pod->node != SYM_NONE ? world_find_node(p->world, pass_text(p, pod->node)) : -1;
    return row >= 0 && !world_node_at(p->world, (uint32_t)row)->leaving;
}

/* All for whom it was bought have found another place, or are gone. */
static bool is_unneeded(const struct pass *p, const struct claim_view *c)
{
    const struct places *places = p->r->places;
    bool any = false;
    for (uint32_t i = 0; places != NULL && i < places->count; i++) {
        const struct place *place = &places->items[i];
        if (!place->on_claim || !span_eq(place->target, c->claim->meta.name))
            continue;
        if (!is_placed(p, place))
            return false;
        any = true;
    }
    return any && !buffers_need(p, c->claim);
}

/* True: the claim goes, before there is a machine. */
static bool withdraw(struct pass *p, const struct claim_view *c)
{
    const struct claim_memo *m = c->memo;
    const struct decision d = {.kind = DECISION_REMOVE,
                               .subject = "withdraw",
                               .per_hour = NAN,
                               .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    if (m->launch != NULL || m->launched || replaces_of(c->claim).bought != 0 || !is_unneeded(p, c))
        return false;
    claim_delete(p, c, &(struct claim_end){.why = "unneeded"}, &d, "its pods went elsewhere before it was launched");
    return true;
}

static bool is_idle(const struct lifecycle_step *s)
{
    return !s->launch && s->claim_patch.len == 0 && s->status_patch.len == 0 && s->node_patch.len == 0;
}

/* Nothing that comes back can tell anything new of it. */
static bool is_settled(const struct claim_memo *m)
{
    return m->memo.held == 0 && m->memo.gate.under_way == 0 && !m->launch_failed && m->pod_event == 0;
}

static const struct catalogue *known_types(const struct world *w, const struct claim_view *c)
{
    const struct catalogue *all = world_catalogue(w);
    return c->pool != NULL && catalogue_lists(all, c->pool->meta.name) ? all : NULL;
}

static void run_claim(struct pass *p, uint32_t at)
{
    const struct claim_view *c = &p->claims[at];
    struct claim_memo *m = c->memo;
    struct lifecycle_facts f = {
        .claim = c->claim,
        .pool = c->pool,
        .node = c->node >= 0 ? p->nodes[c->node].node : NULL,
        .nodes = c->nodes,
        .machine = m->launched ? &m->machine : NULL,
        .labels_written = m->labels_written,
        .launch_error = m->launch_failed ? &m->error : NULL,
        .pod_event = m->pod_event,
        .jump = &p->r->jump,
        .blind_until = p->r->missing.blind_until,
        .types = known_types(p->world, c),
        .drift_known = m->drift.known,
        .drift = span_of(m->drift.reason),
        .syms = p->syms,
        .now = p->wall,
    };
    struct lifecycle_step s;
    if (!act_may(p, &m->memo, &c->claim->meta))
        return;
    if (m->pod_event != 0 && !lifecycle_pod_event_is_new(c->claim, m->pod_event))
        f.pod_event = m->pod_event = 0;
    lifecycle_step(p->a, &f, &s);
    if (s.due != 0)
        pass_wake_wall(p, s.due);
    if (s.end != LIFECYCLE_GOES_ON) {
        give_up(p, c, &s);
        return;
    }
    if (is_idle(&s) && is_settled(m))
        turns_rest(&p->r->views.lifecycle, at, s.due);
    if (s.launch && !conditions_true(c->claim->conditions, SPAN("Launched")) && withdraw(p, c))
        return;
    if (s.launch)
        launch(p, c);
    if (s.claim_patch.len != 0)
        patch_claim(p, c, &s);
    else if (s.status_patch.len != 0)
        patch_status(p, c, &s);
    if (s.node_patch.len != 0)
        patch_node(p, c, &s);
}

void lifecycle_run(struct pass *p)
{
    struct views *v = &p->r->views;
    if (v->blind_until != p->r->missing.blind_until) /* all claims' times are counted from then on */
        turns_begin(&v->lifecycle, p->claim_count);
    v->blind_until = p->r->missing.blind_until;
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].provider != NULL && !p->claims[i].leaving && pass_turn(p, &v->lifecycle, i))
            run_claim(p, i);
}
