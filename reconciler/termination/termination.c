/* The way out, from whichever end it begins (spec disruption 14): pods leave, then the machine,
 * then the Node's finalizer is released, then the claim's. Each pass does for each object the next
 * thing that its state in the API asks for; what waits for time or for others is looked at again. */
#include <stdlib.h>

#include "base/json.h"
#include "kube/patch.h"
#include "reconciler/termination/drain.h"
#include "reconciler/stages.h"

enum {
    DRAIN_MIN_MS = 5 * MS_SECOND, /* pods may still be bound by who has not seen the taint */
    REMOVE_MS = 5 * MS_SECOND,    /* between two questions whether a machine is gone */
    POLL_MS = 1 * MS_SECOND,
};

static const struct span TERMINATING = SPAN_INIT("InstanceTerminating");
static const struct span DRAINED = SPAN_INIT("Drained");
static const struct span DETACHED = SPAN_INIT("VolumesDetached");

/* ---- patches ---- */

static void put_finalizers_but_ours(struct json *j, const struct pass *p, const struct meta *m)
{
    json_put_array(j, "finalizers");
    for (uint32_t i = 0; i < m->finalizers.count; i++)
        if (m->finalizers.items[i] != SYM_TERMINATION)
            json_text(j, pass_text(p, m->finalizers.items[i]));
    json_array_end(j);
}

static void release_finalizer(struct pass *p, enum kind k, const struct meta *m, struct memo *memo,
                              call_done *done, struct span pool)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    put_finalizers_but_ours(&j, p, m);
    json_object_end(&j);
    json_object_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = k,
                            .object = m,
                            .memo = memo,
                            .body = buf_span(&out),
                            .last = true,
                            .done = done,
                            .topic = {.name = m->name, .text = pool, .number = p->wall}});
    buf_release(&out);
}

void claim_patch_conditions(struct pass *p, const struct claim_view *c,
                             const struct condition_set *s)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, p->a, s->list);
    patch_status_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_CLAIM,
                            .object = &c->claim->meta,
                            .memo = &c->memo->memo,
                            .subresource = SPAN("status"),
                            .body = buf_span(&out)});
    buf_release(&out);
}

static bool claim_open(struct pass *p, const struct claim_view *c)
{
    return act_may(p, &c->memo->memo, &c->claim->meta);
}

static struct condition_set conditions_of(const struct pass *p, const struct claim_view *c)
{
    return condition_set_of(p->a, &node_claim_conditions, &c->claim->meta, c->claim->conditions,
                            p->wall);
}

/* True when the claim shows the condition; else it is written, when that may be. */
static bool keep_condition(struct pass *p, const struct claim_view *c, struct span type,
                           enum condition_status status, struct span reason)
{
    const struct condition *have = conditions_find(c->claim->conditions, type);
    if (have != NULL && have->status == status)
        return true;
    if (!claim_open(p, c))
        return false;
    struct condition_set s = conditions_of(p, c);
    if (status == CONDITION_TRUE)
        condition_set_true(&s, type);
    else
        condition_set_put(&s, type, status, reason, reason);
    claim_patch_conditions(p, c, &s);
    return false;
}

/* Drained and VolumesDetached in one write. */
static bool keep_drained(struct pass *p, const struct claim_view *c)
{
    if (conditions_true(c->claim->conditions, DRAINED) &&
        conditions_true(c->claim->conditions, DETACHED))
        return true;
    if (!claim_open(p, c))
        return false;
    struct condition_set s = conditions_of(p, c);
    condition_set_true(&s, DRAINED);
    condition_set_true(&s, DETACHED);
    claim_patch_conditions(p, c, &s);
    return false;
}

/* ---- the machine ---- */

static void on_removed(struct reconciler *r, struct call *c)
{
    struct claim_memo *m = (struct claim_memo *)c->memo;
    if (c->err.kind == ERR_NOT_FOUND) {
        m->instance_gone = true;
        count(r, MEASURE_INSTANCE_TERMINATION, (double)(r->mono - m->remove_began) / MS_SECOND,
              c->topic.text, (struct span){0}, (struct span){0});
    } else if (c->err.kind == ERR_NONE) {
        m->remove.retry_at = r->mono + REMOVE_MS;
    } else if (c->err.kind != ERR_CANCELLED) {
        tell(r,
             (struct decision){.kind = DECISION_FAIL,
                               .subject = "remove",
                               .warning = true,
                               .per_hour = NAN,
                               .reason = SPAN("FailedTermination"),
                               .about = {KIND_NODE_CLAIM, (struct span){0}, c->topic.name, c->topic.uid}},
             "%.*s: %s", SPAN_ARG(c->topic.name), c->err.msg);
    }
}

/* The machine's id, also while only we know it: what was made must go, shown by the claim or not.
 */
static struct span machine_id(const struct claim_view *c)
{
    if (c->claim->provider_id.len != 0 || !c->memo->launched)
        return c->claim->provider_id;
    return c->memo->machine.provider_id;
}

/* True once the provider says that the machine is gone. Asked again until then. */
static bool remove_machine(struct pass *p, struct provider *provider, const struct claim_view *c)
{
    struct claim_memo *m = c->memo;
    if (m->instance_gone)
        return true;
    if (!gate_open(&m->remove, 0, p->mono)) {
        if (m->remove.under_way == 0)
            pass_wake(p, m->remove.retry_at);
        return false;
    }
    if (!call_may_begin(p->r, provider))
        return false;
    if (m->remove_began == 0)
        m->remove_began = p->mono;
    struct call *call = call_new(p->r, &m->remove, on_removed);
    call_about(call, &m->memo);
    call->topic.name = arena_dup(&call->arena, c->claim->meta.name);
    call->topic.uid = arena_dup(&call->arena, c->claim->meta.uid);
    call->topic.text = arena_dup(&call->arena, claim_pool_name(p, c->claim));
    call_begin(call, provider, PROVIDER_REMOVE, call->topic.text);
    call->id =
        provider->ops->remove(provider, machine_id(c), c->claim->meta.uid, call_machine_done, call);
    return false;
}

/* ---- the claim's finalizer ---- */

bool claim_write_deadline(struct pass *p, const struct claim_view *c, wall_ms at, const struct decision *why)
{
    static const char patch[] = "{\"metadata\":{\"annotations\":{\"karpenter.sh/nodeclaim-termination-timestamp\":\"%.*s\"}}}";
    return act(p, &(struct action){.verb = API_MERGE,
                                   .kind = KIND_NODE_CLAIM,
                                   .object = &c->claim->meta,
                                   .memo = &c->memo->memo,
                                   .body = arena_printf(p->a, patch, SPAN_ARG(time_text(p->a, at))),
                                   .why = why});
}

wall_ms claim_deadline_now(const struct pass *p, const struct claim_view *c)
{
    wall_ms at = claim_deadline(c->claim);
    return at != 0 && c->leaving ? at + clock_jump_shift(&p->r->jump, c->claim->meta.deleted, p->wall) : at;
}

static bool keep_deadline(struct pass *p, const struct claim_view *c)
{
    const struct node_claim *claim = c->claim;
    if (!claim->has_grace || annotations_get(claim->meta.annotations, SYM_TERMINATION_TIMESTAMP).len != 0)
        return true;
    wall_ms at = claim->meta.deleted + claim->grace;
    struct span text = time_text(p->a, at);
    const struct decision why = {
        .kind = DECISION_DRAIN,
        .warning = true,
        .per_hour = NAN,
        .sentence = arena_printf(p->a, "%.*s: all pods will be deleted by %.*s", SPAN_ARG(claim->meta.name), SPAN_ARG(text)),
        .reason = SPAN("TerminationGracePeriodExpiring"),
        .note = arena_printf(p->a, "All pods will be deleted by %.*s", SPAN_ARG(text)),
        .about = object_of(KIND_NODE_CLAIM, &claim->meta)};
    claim_write_deadline(p, c, at, &why);
    return false;
}

static void delete_node(struct pass *p, const struct node_view *n)
{
    act(p, &(struct action){
               .verb = API_DELETE, .kind = KIND_NODE, .object = &n->node->meta, .memo = &n->memo->memo});
}

/* Deletes the Nodes of a registered claim; true when none is left. One that a doubtful list does not
 * show may be there, with pods on it, unless its machine's end has begun. */
static bool nodes_gone(struct pass *p, const struct claim_view *c)
{
    if (c->nodes == 0)
        return conditions_true(c->claim->conditions, TERMINATING) ||
               pass_may(p, GUARDS_NODELESS);
    for (uint32_t i = 0; i < p->node_count; i++)
        if (span_eq(p->nodes[i].node->provider_id, c->claim->provider_id) &&
            p->nodes[i].node->meta.deleted == 0)
            delete_node(p, &p->nodes[i]);
    return false;
}

static void on_claim_released(struct reconciler *r, struct call *c)
{
    struct claim_memo *m = (struct claim_memo *)c->memo;
    if (c->err.kind != ERR_NONE || m->gone_told)
        return;
    double seconds = (double)clock_jump_age(&r->jump, c->topic.number) / MS_SECOND;
    m->gone_told = true;
    count(r, MEASURE_CLAIMS_TERMINATED, 1, c->topic.text, (struct span){0}, (struct span){0});
    count(r, MEASURE_CLAIM_TERMINATION, seconds, c->topic.text, (struct span){0}, (struct span){0});
    tell(r, (struct decision){.kind = DECISION_GONE, .subject = "gone", .per_hour = NAN},
         "%.*s  %.0f s", SPAN_ARG(c->topic.name), seconds);
}

static void release_claim(struct pass *p, const struct claim_view *c)
{
    const struct meta *m = &c->claim->meta;
    if (!claim_open(p, c))
        return;
    wall_ms now = p->wall;
    p->wall = m->deleted; /* the call remembers from when it took */
    release_finalizer(p, KIND_NODE_CLAIM, m, &c->memo->memo, on_claim_released,
                      claim_pool_name(p, c->claim));
    p->wall = now;
}

static void run_claim(struct pass *p, const struct claim_view *c)
{
    const struct node_claim *claim = c->claim;
    if (!syms_has(claim->meta.finalizers, SYM_TERMINATION))
        return;
    if (c->memo->launch != NULL) { /* what it makes must be known before it can be removed */
        c->provider->ops->cancel(c->provider, c->memo->launch->id);
        return;
    }
    if (!keep_deadline(p, c))
        return;
    if (conditions_true(claim->conditions, SPAN("Registered")) && !nodes_gone(p, c))
        return;
    if (machine_id(c).len != 0) {
        bool gone = remove_machine(p, c->provider, c);
        if (c->memo->remove_began != 0 &&
            !keep_condition(p, c, TERMINATING, CONDITION_TRUE, TERMINATING))
            return;
        if (!gone)
            return;
    }
    release_claim(p, c);
}

/* ---- the Node's finalizer ---- */

static void on_got(struct reconciler *r, struct call *c)
{
    struct node_memo *m = (struct node_memo *)c->memo;
    m->get_says_gone = c->err.kind == ERR_NOT_FOUND;
    m->get.retry_at = r->mono + REMOVE_MS;
}

/* A Node that is not ready, of a machine that is gone, is not drained: nothing runs there. */
static bool machine_is_gone(struct pass *p, struct provider *provider, const struct node_view *n)
{
    struct node_memo *m = n->memo;
    if (node_is_ready(n->node) || n->node->provider_id.len == 0)
        return false;
    if (m->get_says_gone)
        return true;
    if (gate_open(&m->get, 0, p->mono) && call_may_begin(p->r, provider)) {
        struct call *call = call_new(p->r, &m->get, on_got);
        call_about(call, &m->memo);
        call_begin(call, provider, PROVIDER_GET,
                   pass_text(p, sym_pairs_get(n->node->meta.labels, SYM_NODEPOOL)));
        call->id = provider->ops->get(provider, n->node->provider_id, call_machine_done, call);
    }
    return false;
}

static void put_taint(struct json *j, sym key)
{
    json_object_begin(j);
    json_put_string(j, "key", wellknown_text[key - 1]);
    json_put_string(j, "effect", SPAN("NoSchedule"));
    json_object_end(j);
}

/* All but those of the key; the list is left open. */
static void put_taints(struct json *j, const struct pass *p, const struct node *n, sym but)
{
    json_put_array(j, "taints");
    for (uint32_t i = 0; i < n->taints.count; i++) {
        const struct taint *t = &n->taints.items[i];
        if (t->key == but)
            continue;
        json_object_begin(j);
        json_put_string(j, "key", pass_text(p, t->key));
        if (t->value != SYM_NONE && t->value != SYM_EMPTY)
            json_put_string(j, "value", pass_text(p, t->value));
        json_put_string(j, "effect", span_of(taint_effect_name(t->effect)));
        if (t->added != 0)
            json_put_string(j, "timeAdded", time_text(p->a, t->added));
        json_object_end(j);
    }
}

static void put_spec(struct json *j, const struct pass *p, const struct node *n, sym key, bool wanted)
{
    json_put_object(j, "spec");
    put_taints(j, p, n, key);
    if (wanted)
        put_taint(j, key);
    json_array_end(j);
    json_object_end(j);
}

static void patch_node(struct pass *p, const struct node_view *n, struct buf *body)
{
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE,
                            .object = &n->node->meta,
                            .memo = &n->memo->memo,
                            .body = buf_span(body)});
    buf_release(body);
}

void node_patch_taint(struct pass *p, const struct node_view *n, bool disrupted, bool exclude)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    if (exclude) {
        json_put_object(&j, "labels");
        json_put_string(&j, "node.kubernetes.io/exclude-from-external-load-balancers",
                        SPAN("karpenter"));
        json_object_end(&j);
    }
    json_object_end(&j);
    put_spec(&j, p, n->node, SYM_DISRUPTED, disrupted);
    json_object_end(&j);
    patch_node(p, n, &out);
}

void node_put_taint(struct pass *p, const struct node_view *n, sym key, bool wanted)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    put_spec(&j, p, n->node, key, wanted);
    json_object_end(&j);
    patch_node(p, n, &out);
}

static bool node_open(struct pass *p, const struct node_view *n)
{
    return act_may(p, &n->memo->memo, &n->node->meta);
}

static bool fence(struct pass *p, const struct node_view *n)
{
    if (node_has_taint(n->node, SYM_DISRUPTED, TAINT_NO_SCHEDULE) &&
        sym_pairs_get(n->node->meta.labels, SYM_EXCLUDE_BALANCERS) != SYM_NONE)
        return true;
    if (node_open(p, n))
        node_patch_taint(p, n, true, true);
    return false;
}

/* ---- the order of a Node's end ---- */

static void on_node_released(struct reconciler *r, struct call *c)
{
    if (c->err.kind != ERR_NONE)
        return;
    count(r, MEASURE_NODES_TERMINATED, 1, c->topic.text, (struct span){0}, (struct span){0});
    count(r, MEASURE_NODE_TERMINATION, (double)clock_jump_age(&r->jump, c->topic.number) / MS_SECOND, c->topic.text,
          (struct span){0}, (struct span){0});
}

static void release_node(struct pass *p, const struct node_view *n)
{
    const struct meta *m = &n->node->meta;
    if (!node_open(p, n))
        return;
    wall_ms now = p->wall;
    p->wall = m->deleted;
    release_finalizer(p, KIND_NODE, m, &n->memo->memo, on_node_released,
                      pass_text(p, sym_pairs_get(m->labels, SYM_NODEPOOL)));
    p->wall = now;
}

/* Long enough after the taint, and every pod is gone, for all that we see of them. */
static bool await_drain(struct pass *p, const struct node_view *n, const struct claim_view *c)
{
    struct node_memo *m = n->memo;
    if (m->drain_began == 0)
        m->drain_began = p->mono;
    if (c != NULL && !m->drained && conditions_find(c->claim->conditions, DRAINED) == NULL &&
        !keep_condition(p, c, DRAINED, CONDITION_UNKNOWN, SPAN("Draining")))
        return false;
    if (!evict_run(p, n, c)) {
        pass_wake(p, p->mono + POLL_MS);
        return false;
    }
    if (!m->drained && !pass_may(p, GUARDS_DRAINED))
        return false;
    if (c != NULL && p->mono - m->drain_began < DRAIN_MIN_MS) {
        pass_wake(p, m->drain_began + DRAIN_MIN_MS);
        return false;
    }
    if (!m->drained)
        count(p->r, MEASURE_NODES_DRAINED, 1,
              pass_text(p, sym_pairs_get(n->node->meta.labels, SYM_NODEPOOL)), (struct span){0},
              (struct span){0});
    m->drained = true;
    return true;
}

/* Whoever attached them detaches them; we only wait, until terminationGracePeriod ends. What we do not
 * see of them may be attached. */
static bool await_detachment(struct pass *p, const struct node_view *n, const struct claim_view *c)
{
    bool known = pass_may(p, GUARDS_DETACHED) ||
                 (c != NULL && conditions_true(c->claim->conditions, DETACHED));
    bool attached = detach_run(p, n) || !known;
    wall_ms deadline = c != NULL ? claim_deadline_now(p, c) : 0;
    bool over = deadline != 0 && p->wall > deadline;
    if (c == NULL)
        return !attached;
    if (!attached)
        return keep_drained(p, c);
    if (deadline != 0 && !over)
        pass_wake_wall(p, deadline + 1);
    if (!keep_condition(p, c, DRAINED, CONDITION_TRUE, DRAINED))
        return false;
    if (over)
        return keep_condition(p, c, DETACHED, CONDITION_FALSE, SPAN("TerminationGracePeriodElapsed"));
    keep_condition(p, c, DETACHED, CONDITION_UNKNOWN, SPAN("AwaitingVolumeDetachment"));
    return false;
}

static void run_node(struct pass *p, struct provider *provider, const struct node_view *n)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    if (c != NULL && c->claim->meta.deleted == 0) {
        struct decision d = {.kind = DECISION_REMOVE,
                             .subject = "remove",
                             .per_hour = NAN,
                             .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
        claim_delete(p, c, &(struct claim_end){.why = "node_deleted"}, &d, "its Node was deleted");
        return;
    }
    if (machine_is_gone(p, provider, n)) {
        release_node(p, n);
        return;
    }
    if (!fence(p, n) || !await_drain(p, n, c) || !await_detachment(p, n, c))
        return;
    if (c != NULL) {
        bool gone = remove_machine(p, provider, c);
        if (!keep_condition(p, c, TERMINATING, CONDITION_TRUE, TERMINATING) || !gone)
            return;
    }
    release_node(p, n);
}

void termination_run(struct pass *p)
{
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node *n = p->nodes[i].node;
        struct provider *provider = p->nodes[i].leaving && syms_has(n->meta.finalizers, SYM_TERMINATION)
                                        ? providers_of_node(&p->r->config.providers, n, p->syms)
                                        : NULL;
        if (provider != NULL)
            run_node(p, provider, &p->nodes[i]);
    }
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].provider != NULL && p->claims[i].leaving)
            run_claim(p, &p->claims[i]);
}
