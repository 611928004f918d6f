#include "reconciler/disruption/reboot.h"

#include "reconciler/disruption/command.h"
#include "reconciler/disruption/repair.h"
#include "reconciler/stages.h"

enum {
    POLL_MS = 15 * MS_SECOND,
    DRAIN_LEAST_MS = 5 * MS_SECOND,    /* pods may still be bound by who has not seen the taint */
    ISSUANCE_MS = 5 * MS_MINUTE,       /* the provider fails that long */
    RECOVERY_MS = 20 * MS_MINUTE,      /* a boot takes that long */
    REMEMBERED_MS = 24 * MS_HOUR,
};

static const struct span REBOOTING = SPAN_INIT("Rebooting"), INITIALIZED = SPAN_INIT("Initialized"),
                         REQUESTED = SPAN_INIT("RebootRequested"), ISSUED = SPAN_INIT("RebootIssued");

/* ---- writes ---- */

static struct condition_set conditions_of(const struct pass *p, const struct claim_view *c)
{
    return condition_set_of(p->a, &node_claim_conditions, &c->claim->meta, c->claim->conditions, p->wall);
}

/* NULL: there is no such annotation. */
static const struct span *find_annotation(const struct claim_view *c, sym key)
{
    const struct annotations *all = &c->claim->meta.annotations;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].key == key)
            return &all->items[i].value;
    return NULL;
}

/* An absent text takes it away. */
static void write_annotation(struct pass *p, const struct claim_view *c, sym key, const struct span *text)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_object(&j, "annotations");
    json_key(&j, wellknown_text[key - 1]);
    if (text != NULL)
        json_text(&j, *text);
    else
        json_raw(&j, SPAN("null"));
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_CLAIM,
                            .object = &c->claim->meta,
                            .memo = &c->memo->memo,
                            .body = buf_span(&out)});
    buf_release(&out);
}

/* ---- the decision ---- */

static void remember(struct claim_memo *m, mono_ms now)
{
    m->reboots[0] = m->reboots[1];
    m->reboots[1] = now;
}

static void count_commit(struct pass *p, const struct command *c, const struct claim_view *claim)
{
    struct measure also = repair_measure(p, c->condition, claim, c->has_grace ? &c->grace : NULL);
    struct measure counted[CLAIM_MEASURES];
    command_count(p, c);
    claim_measures(p, claim, &(struct claim_end){.why = "unhealthy"}, counted);
    for (int i = 0; i < CLAIM_MEASURES; i++)
        count_all(p->r, &counted[i]);
    count_all(p->r, &also);
}

/* How long the drain may take, by the policy or the claim; NULL: as long as it takes. */
static const struct span *bound_text(struct pass *p, const struct command *c, const struct node_claim *claim)
{
    struct span *text = ARENA_ARRAY(p->a, struct span, 1);
    if (!c->has_grace && !claim->has_grace)
        return NULL;
    *text = duration_text(p->a, c->has_grace ? c->grace : claim->grace);
    return text;
}

bool reboot_commit(struct pass *p, const struct command *c)
{
    const struct claim_view *claim = pass_claim(p, c->members[0].claim);
    if (claim == NULL || claim->leaving || !span_eq(claim->claim->meta.uid, c->members[0].claim_uid))
        return false;
    if (conditions_true(claim->claim->conditions, REBOOTING)) {
        remember(claim->memo, p->mono);
        count_commit(p, c, claim);
        return false;
    }
    const struct span *has = find_annotation(claim, SYM_REBOOT_GRACE), *wanted = bound_text(p, c, claim->claim);
    bool same = has == NULL || wanted == NULL ? has == wanted : span_eq(*has, *wanted);
    if (!act_may(p, &claim->memo->memo, &claim->claim->meta))
        return true;
    if (!same) {
        write_annotation(p, claim, SYM_REBOOT_GRACE, wanted);
        return true;
    }
    struct condition_set s = conditions_of(p, claim);
    condition_set_put(&s, SPAN("DisruptionReason"), CONDITION_TRUE, disruption_reason_name(REASON_UNHEALTHY),
                      disruption_reason_name(REASON_UNHEALTHY));
    condition_set_put(&s, REBOOTING, CONDITION_TRUE, REQUESTED,
                      arena_printf(p->a, "rebooting for %.*s/%.*s", SPAN_ARG(c->condition),
                                   SPAN_ARG(c->condition_reason)));
    claim_patch_conditions(p, claim, &s);
    return true;
}

struct reboot_count *reboot_counts(struct arena *a, struct pass *p, uint32_t *count_out)
{
    struct reboot_count *out = ARENA_ARRAY(a, struct reboot_count, p->node_count);
    *count_out = 0;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        const struct claim_memo *m = n->claim >= 0 ? p->claims[n->claim].memo : NULL;
        uint32_t reboots = 0;
        for (int k = 0; m != NULL && k < 2; k++)
            reboots += m->reboots[k] != 0 && m->reboots[k] + REMEMBERED_MS > p->mono;
        if (n->row >= 0 && reboots != 0)
            out[(*count_out)++] = (struct reboot_count){(uint32_t)n->row, reboots};
    }
    return out;
}

/* ---- one that is under way ---- */

struct reboot {
    struct pass *p;
    const struct claim_view *c;
    struct claim_memo *memo;
    const struct node_view *n;    /* or NULL */
    const struct condition *state;
    bool issued, readable, bounded;
    span_ms bound;
    const struct span *before;    /* the boot before the provider was asked; NULL: it was not */
};

static void tell_reboot(struct reboot *b, struct span reason, struct span note, bool warning)
{
    struct decision d = {.kind = DECISION_MOVE, .subject = "reboot", .warning = warning, .per_hour = NAN, .reason = reason,
                         .note = note, .about = object_of(KIND_NODE_CLAIM, &b->c->claim->meta)};
    tell(b->p->r, d, "%.*s: %.*s", SPAN_ARG(b->c->claim->meta.name), SPAN_ARG(note));
}

static void count_end(struct reboot *b, struct span result)
{
    struct span none = {0};
    double seconds = (double)clock_jump_age(&b->p->r->jump, b->state->transition) / MS_SECOND;
    count(b->p->r, MEASURE_REBOOTS, 1, result, none, none);
    count(b->p->r, MEASURE_REBOOT_DURATION, seconds, result, none, none);
}

static void forget(struct claim_memo *m)
{
    m->reboot_until = 0;
    m->reboot_accepted = m->reboot_refused = false;
}

/* True: the taint is as wanted. */
static bool keep_fence(struct reboot *b, bool fenced)
{
    const struct node *n = b->n->node;
    if (node_has_taint(n, SYM_REBOOTING, TAINT_NO_SCHEDULE) == fenced)
        return true;
    if (act_may(b->p, &b->n->memo->memo, &n->meta))
        node_put_taint(b->p, b->n, SYM_REBOOTING, fenced);
    return false;
}

/* Its answer is not waited for: what is written again says the same. */
static void end(struct reboot *b, bool fine, struct span reason, struct span message)
{
    struct condition_set s = conditions_of(b->p, b->c);
    condition_set_put(&s, REBOOTING, CONDITION_FALSE, reason, message);
    claim_patch_conditions(b->p, b->c, &s);
    forget(b->memo);
    count_end(b, fine ? SPAN("succeeded") : SPAN("invalid_request"));
    if (!fine)
        tell_reboot(b, SPAN("RebootFailed"), message, true);
}

/* The request cannot be read: the node stays. */
static void fail_request(struct reboot *b)
{
    const struct span *text = find_annotation(b->c, SYM_REBOOT_GRACE);
    if ((b->n == NULL || keep_fence(b, false)) && act_may(b->p, &b->memo->memo, &b->c->claim->meta))
        end(b, false, SPAN("RebootFailed"),
            arena_printf(b->p->a, "invalid reboot request: karpenter.sh/reboot-termination-grace-period \"%.*s\" is not a "
                                  "length of time; write it like \"5m0s\"",
                         SPAN_ARG(*text)));
}

/* It does not come back: away with it. That it has failed is said when it is seen to go (tell_failed). */
static void fail(struct reboot *b, enum reboot_failure how)
{
    struct decision d = {.kind = DECISION_REMOVE, .subject = "remove", .warning = true, .per_hour = NAN,
                         .about = object_of(KIND_NODE_CLAIM, &b->c->claim->meta)};
    if (b->n != NULL && !keep_fence(b, false))
        return;
    if (b->bounded && !repair_bound_kept(b->p, b->c, b->bound))
        return;
    if (claim_delete(b->p, b->c, &(struct claim_end){.why = ""}, &d, "its reboot failed"))
        b->memo->reboot_failure = how;
}

static void tell_failed(struct reboot *b)
{
    enum reboot_failure how = b->memo->reboot_failure;
    struct span why = how == REBOOT_REFUSED
                          ? arena_printf(b->p->a, "reboot rejected by the cloud provider: %s", b->memo->error.msg)
                      : how == REBOOT_NOT_ISSUED ? SPAN("reboot was not issued within the issuance timeout")
                                                 : SPAN("node did not recover within the observation window");
    tell_reboot(b, SPAN("RebootFailed"), why, true);
    count_end(b, how == REBOOT_NOT_RECOVERED ? SPAN("recovery_timeout") : SPAN("provider_error"));
    b->memo->reboot_failure = REBOOT_FAILED_NOT;
}

/* ---- requested ---- */

static void on_rebooted(struct reconciler *r, struct call *c)
{
    struct claim_memo *m = (struct claim_memo *)c->memo;
    bool lasting = c->err.kind == ERR_NOT_FOUND || c->err.kind == ERR_INVALID;
    m->reboot_accepted = c->err.kind == ERR_NONE;
    m->reboot_refused = lasting;
    if (lasting)
        m->error = c->err;
    (void)r;
}

static void ask_provider(struct reboot *b)
{
    struct pass *p = b->p;
    struct provider *provider = b->c->provider;
    struct claim_order order = {b->c->claim, p->syms};
    if (!gate_open(&b->memo->reboot, 0, p->mono)) {
        if (b->memo->reboot.under_way == 0)
            pass_wake(p, b->memo->reboot.retry_at);
        return;
    }
    if (!call_may_begin(p->r, provider))
        return;
    struct call *call = call_new(p->r, &b->memo->reboot, on_rebooted);
    call_about(call, &b->memo->memo);
    call_begin(call, provider, PROVIDER_REBOOT, claim_pool_name(p, b->c->claim));
    struct span id = arena_printf(p->a, "%.*s-%lld-%.*s", SPAN_ARG(b->c->claim->meta.uid),
                                  (long long)b->state->transition * 1000000, SPAN_ARG(*b->before));
    call->id = provider->ops->reboot(provider, &order, id, call_machine_done, call);
}

/* From here on its boot is waited for. */
static void issue(struct reboot *b)
{
    if (!act_may(b->p, &b->memo->memo, &b->c->claim->meta))
        return;
    struct condition_set s = conditions_of(b->p, b->c);
    condition_set_put(&s, REBOOTING, CONDITION_TRUE, ISSUED, b->state->message);
    condition_set_put(&s, INITIALIZED, CONDITION_UNKNOWN, REBOOTING, SPAN("node is rebooting"));
    claim_patch_conditions(b->p, b->c, &s);
    forget(b->memo);
}

/* Pods that are left at the end of the bound ride the reboot. */
static bool is_drained(struct reboot *b)
{
    struct pass *p = b->p;
    wall_ms least = b->state->transition + DRAIN_LEAST_MS;
    span_ms bound = b->bound < DRAIN_LEAST_MS ? DRAIN_LEAST_MS : b->bound;
    if (b->bounded && b->bound == 0)
        return true;
    if (b->bounded && p->wall >= b->state->transition + bound)
        return true;
    if (b->bounded)
        pass_wake_wall(p, b->state->transition + bound);
    bool drained = evict_run(p, b->n, b->c);
    if (drained && p->wall < least)
        pass_wake_wall(p, least);
    return drained && p->wall >= least;
}

static void request(struct reboot *b)
{
    if (!b->readable) {
        fail_request(b);
        return;
    }
    if (!keep_fence(b, true) || (b->before == NULL && !is_drained(b)))
        return;
    if (b->memo->reboot_until == 0)
        b->memo->reboot_until = b->p->wall + ISSUANCE_MS;
    if (b->before == NULL) {
        if (act_may(b->p, &b->memo->memo, &b->c->claim->meta))
            write_annotation(b->p, b->c, SYM_REBOOT_BEFORE, &b->n->node->boot_id);
    } else if (b->memo->reboot_accepted || !span_eq(*b->before, b->n->node->boot_id)) {
        issue(b);
    } else {
        ask_provider(b);
    }
}

/* ---- issued ---- */

static void drop_initialized(struct reboot *b)
{
    act(b->p, &(struct action){.verb = API_MERGE,
                               .kind = KIND_NODE,
                               .object = &b->n->node->meta,
                               .memo = &b->n->memo->memo,
                               .rests = ACT_ON_UID,
                               .body = SPAN("{\"metadata\":{\"labels\":{\"karpenter.sh/initialized\":null}}}")});
}

static void await_boot(struct reboot *b)
{
    const struct node *n = b->n->node;
    const struct condition *initialized = conditions_find(b->c->claim->conditions, INITIALIZED);
    if (sym_pairs_get(n->meta.labels, SYM_INITIALIZED) != SYM_NONE) {
        drop_initialized(b);
        return;
    }
    if (b->before != NULL && span_eq(*b->before, n->boot_id))
        return;
    if (node_has_taint(n, SYM_REBOOTING, TAINT_NO_SCHEDULE)) {
        if (!act_may(b->p, &b->n->memo->memo, &n->meta))
            return;
        node_put_taint(b->p, b->n, SYM_REBOOTING, false);
        tell_reboot(b, SPAN("RebootObserved"), SPAN("New boot observed (bootID changed); awaiting node readiness"), false);
        return;
    }
    if (!node_is_ready(n) || !act_may(b->p, &b->memo->memo, &b->c->claim->meta))
        return;
    if (b->before != NULL) {
        write_annotation(b->p, b->c, SYM_REBOOT_BEFORE, NULL);
        return;
    }
    if (initialized != NULL)
        count(b->p->r, MEASURE_REBOOT_RECOVERY, (double)clock_jump_age(&b->p->r->jump, initialized->transition) / MS_SECOND,
              (struct span){0}, (struct span){0}, (struct span){0});
    end(b, true, SPAN("RebootSucceeded"), SPAN("node rebooted and rejoined the cluster"));
}

/* ---- each pass ---- */

/* 0: it has none yet. */
static wall_ms due_of(const struct reboot *b)
{
    const struct condition *initialized = conditions_find(b->c->claim->conditions, INITIALIZED);
    if (b->issued)
        return (initialized != NULL ? initialized->transition : b->state->transition) + RECOVERY_MS;
    if (b->memo->reboot_until != 0)
        return b->memo->reboot_until;
    return b->n == NULL ? b->state->transition + ISSUANCE_MS : 0;
}

static struct reboot reboot_of(struct pass *p, const struct claim_view *c, const struct condition *state)
{
    struct reboot b = {.p = p, .c = c, .memo = c->memo, .n = c->node >= 0 ? &p->nodes[c->node] : NULL, .state = state};
    const struct span *bound = find_annotation(c, SYM_REBOOT_GRACE);
    b.issued = span_eq(state->reason, ISSUED);
    b.bounded = b.readable = bound == NULL || duration_parse(*bound, &b.bound);
    b.bounded &= bound != NULL;
    b.before = find_annotation(c, SYM_REBOOT_BEFORE);
    return b;
}

static void step(struct reboot *b)
{
    wall_ms due = due_of(b);
    if (b->memo->reboot_refused) {
        fail(b, REBOOT_REFUSED);
    } else if (due != 0 && b->p->wall >= due) {
        fail(b, b->issued ? REBOOT_NOT_RECOVERED : REBOOT_NOT_ISSUED);
    } else {
        pass_wake(b->p, b->p->mono + POLL_MS);
        if (due != 0)
            pass_wake_wall(b->p, due);
        if (b->n != NULL && b->issued)
            await_boot(b);
        else if (b->n != NULL)
            request(b);
    }
}

void reboot_run(struct pass *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        const struct condition *state = conditions_find(c->claim->conditions, REBOOTING);
        if (state == NULL || state->status != CONDITION_TRUE || c->provider == NULL)
            continue;
        struct reboot b = reboot_of(p, c, state);
        if (c->claim->meta.deleted == 0)
            step(&b);
        else if (c->memo->reboot_failure != REBOOT_FAILED_NOT)
            tell_failed(&b);
    }
}
