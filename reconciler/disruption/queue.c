/* The steps of commands (spec disruption 8.8, 9). */
#include "reconciler/disruption/command.h"

#include <math.h>

#include "planner/disruption/candidate.h"
#include "planner/disruption/validate.h"
#include "reconciler/disruption/ask.h"
#include "reconciler/disruption/budgets.h"
#include "reconciler/disruption/emptiness.h"
#include "reconciler/disruption/loops.h"
#include "reconciler/disruption/marks.h"
#include "reconciler/disruption/reboot.h"
#include "reconciler/disruption/repair.h"
#include "reconciler/disruption/waves.h"

enum {
    /* After which one that has not ended is taken back: 80 ms a queued node, within these (9.2). */
    LAST_LEAST_MS = 10 * MS_MINUTE,
    LAST_MOST_MS = 60 * MS_MINUTE,
    LAST_EACH_MS = 80,
    LOOK_MS = 1 * MS_SECOND, /* while it waits for what no snapshot needs to tell */
};

struct queue_pass {
    struct pass *p;
    span_ms last; /* how long a command may take */
};

/* ---- whom it is about, as the snapshot has them ---- */

/* NULL: it is gone, or going. */
static struct claim_view *claim_of(const struct pass *p, const struct command_member *m)
{
    struct claim_view *c = pass_claim(p, m->claim);
    return c != NULL && span_eq(c->claim->meta.uid, m->claim_uid) && !c->leaving ? c : NULL;
}

static struct node_view *node_of(const struct pass *p, const struct command_member *m)
{
    struct node_view *n = m->node.len != 0 ? pass_node(p, m->node) : NULL;
    return n != NULL && span_eq(n->node->meta.uid, m->node_uid) ? n : NULL;
}

static struct span reason_of(const struct command *c)
{
    return disruption_reason_name(disruption_method_reason(c->method));
}

static struct span label_of(const struct command *c)
{
    return disruption_reason_label(disruption_method_reason(c->method));
}

/* consolidation_type of metrics. */
static struct span type_of(const struct command *c)
{
    return c->method == METHOD_MULTI    ? SPAN("multi")
           : c->method == METHOD_SINGLE ? SPAN("single")
           : c->method == METHOD_EMPTINESS ? SPAN("empty")
                                        : (struct span){0};
}

/* consolidation_policy of metrics. */
static struct span policy_of(const struct command *c, const struct claim_view *claim)
{
    static const struct span policies[] = {
        [CONSOLIDATE_EMPTY_OR_UNDERUTILIZED] = SPAN_INIT("when_empty_or_underutilized"),
        [CONSOLIDATE_EMPTY] = SPAN_INIT("when_empty"),
        [CONSOLIDATE_BALANCED] = SPAN_INIT("balanced"),
    };
    return type_of(c).len != 0 && claim->pool != NULL ? policies[claim->pool->policy] : (struct span){0};
}

/* An Event on its Node and its NodeClaim. */
static void tell_member(struct pass *p, const struct command *c, const struct command_member *m, struct span reason,
                        struct span note)
{
    struct decision d = {.kind = DECISION_MOVE, .per_hour = NAN, .reason = reason, .note = note};
    memcpy(d.id, c->id, sizeof(d.id));
    d.about = (struct decision_object){KIND_NODE_CLAIM, {0}, m->claim, m->claim_uid};
    tell_once(p->r, d);
    d.about = (struct decision_object){KIND_NODE, {0}, m->node, m->node_uid};
    if (m->node.len != 0)
        tell_once(p->r, d);
}

static void tell_members(struct pass *p, const struct command *c, struct span reason, struct span note)
{
    for (uint32_t i = 0; i < c->count; i++)
        tell_member(p, c, &c->members[i], reason, note);
}

static void tell_move(struct pass *p, const struct command *c, bool warning, const char *format, struct span text)
{
    struct decision d = {.kind = DECISION_MOVE, .subject = "move", .warning = warning,
                         .per_hour = isnan(c->savings) ? NAN : -c->savings};
    memcpy(d.id, c->id, sizeof(d.id));
    tell(p->r, d, format, SPAN_ARG(text));
}

/* Marked or about to be: they are in no other command, and their marks stay. */
static void hold_members(struct pass *p, struct command *c)
{
    for (uint32_t i = 0; c->state != COMMAND_WAITS && i < c->count; i++) {
        struct node_view *n = node_of(p, &c->members[i]);
        if (n == NULL)
            continue;
        n->memo->command = c;
        turns_call(&p->r->views.emptiness, (uint32_t)(n - p->nodes));
    }
}

/* What is no more is not decided twice: whoever was marked loses the marks. */
static void release_members(struct pass *p, const struct command *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct node_memo *m = c->members[i].node.len != 0 ? memos_find(&p->r->nodes, c->members[i].node_uid) : NULL;
        struct node_view *n = node_of(p, &c->members[i]);
        if (m == NULL || m->command != c)
            continue;
        m->command = NULL; /* also of one that is not seen now */
        if (n == NULL)
            continue;
        marks_take_back(p, n);
        turns_call(&p->r->views.emptiness, (uint32_t)(n - p->nodes));
    }
}

/* A node that was never initialised is none of those that budgets are of; only a repair takes it (8.10). */
static bool uses_budget(const struct command *c, const struct node_view *n)
{
    return c->method != METHOD_REPAIR || (n != NULL && n->initialized);
}

static mono_ms nominated_until(const struct pass *p)
{
    span_ms window = 2 * p->r->config.options.batch_max;
    return p->mono + (window < 10 * MS_SECOND ? 10 * MS_SECOND : window);
}

/* From the moment that it begins nobody takes the nodes that its pods go to for empty, nor for those of the next command,
 * which is looked for in the same pass: after its wait it would be dropped for their sake. */
static void nominate_targets(struct pass *p, const struct command *c)
{
    mono_ms until = nominated_until(p);
    for (uint32_t i = 0; i < c->target_count; i++) {
        struct node_memo *n = memos_find(&p->r->nodes, c->targets[i]);
        struct claim_memo *m = memos_find(&p->r->claims, c->targets[i]);
        if (n != NULL) {
            n->nominated_until = until;
            turns_call(&p->r->views.emptiness, n->at);
        }
        if (m != NULL)
            m->nominated_until = until;
    }
}

/* It begins: its members are in no other command, and their pools let them go. */
static bool draw(struct pass *p, const struct command *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct node_view *n = node_of(p, &c->members[i]);
        const struct claim_view *v = claim_of(p, &c->members[i]);
        if ((n != NULL && n->memo->command != NULL) ||
            (v != NULL && uses_budget(c, n) && !budgets_take(p, v->pool, disruption_method_reason(c->method))))
            return false;
    }
    nominate_targets(p, c);
    return true;
}

/* ---- validation ---- */

static void reject(struct pass *p, struct command *c, enum disruption_validity v)
{
    struct span category = span_of(disruption_validity_name(v));
    count(p->r, MEASURE_FAILED_VALIDATIONS, c->count, type_of(c), (struct span){0}, (struct span){0});
    tell_members(p, c, SPAN("ConsolidationRejected"),
                 arena_printf(p->a, "Consolidation rejected: %.*s, reason: %.*s (savings: $%.2f)", SPAN_ARG(c->event),
                              SPAN_ARG(category), isnan(c->savings) ? 0 : c->savings));
    tell_move(p, c, false, "%.*s", arena_printf(p->a, "dropped, it does not stand after its wait (%.*s): %.*s",
                                                SPAN_ARG(category), SPAN_ARG(c->move)));
    ask_rejected(p, c->method);
}

/* ---- the steps ---- */

/* True: it goes on. */
typedef bool command_step(struct queue_pass *q, struct command *c);

/* So that one that fails and fails is not all that is tried: its nodes are let alone for a minute, and twice as long
 * each time that follows. */
static void bar_members(struct pass *p, const struct command *c)
{
    enum { FIRST_MS = MS_MINUTE, DOUBLINGS = 4 };
    for (uint32_t i = 0; i < c->count; i++) {
        struct node_view *n = node_of(p, &c->members[i]);
        if (n == NULL)
            continue;
        n->memo->barred = p->mono + ((span_ms)FIRST_MS << n->memo->taken_back);
        n->memo->taken_back += n->memo->taken_back < DOUBLINGS;
    }
}

static bool take_back(struct queue_pass *q, struct command *c, struct span why)
{
    uint32_t missing = 0;
    bar_members(q->p, c);
    waves_fail(q->p, c);
    for (uint32_t i = 0; i < c->replacement_count; i++)
        missing += !c->replacements[i].initialized;
    if (missing != 0)
        count(q->p->r, MEASURE_QUEUE_FAILURES, missing, span_of(disruption_decision_name(c->decision)), label_of(c),
              type_of(c));
    tell_move(q->p, c, true, "%.*s", arena_printf(q->p->a, "taken back, %.*s: %.*s", SPAN_ARG(why), SPAN_ARG(c->move)));
    return false;
}

static bool step_wait(struct queue_pass *q, struct command *c)
{
    struct pass *p = q->p;
    if (p->mono < c->due || !purchases_settled(p)) {
        pass_wake(p, p->mono < c->due ? c->due : p->mono + LOOK_MS);
        return true;
    }
    enum disruption_validity v = ask_validity(p, c);
    if (v == VALIDITY_STANDS && !draw(p, c))
        v = VALIDITY_BUDGET;
    if (v != VALIDITY_STANDS) {
        reject(p, c, v);
        return false;
    }
    c->began = p->mono;
    c->state = COMMAND_MARKS;
    tell_move(p, c, false, "%.*s", c->move);
    return true;
}

static bool begin_replacements(struct queue_pass *q, struct command *c)
{
    struct pass *p = q->p;
    struct purse purse = purse_open(p);
    for (uint32_t i = 0; i < c->replacement_count; i++)
        if (purchases_name_taken(p, c->replacements[i].buy.name))
            return take_back(q, c, SPAN("another claim has its replacement's name"));
        else if (!purse_take(p, &c->replacements[i].buy, &purse))
            return take_back(q, c, SPAN("its replacement may not be bought now"));
    for (uint32_t i = 0; i < c->replacement_count; i++)
        purchase_send(p, &c->replacements[i].buy);
    return true;
}

/* As Karpenter v1.15.0: of its pools each once. */
static void count_pool(struct pass *p, const struct command *c, struct span pool)
{
    count_all(p->r, &(struct measure){.id = MEASURE_POOL_DECISIONS, .value = 1,
                                      .labels = {pool, span_of(disruption_decision_name(c->decision)), label_of(c),
                                                 type_of(c)}});
    if (c->decision == DECIDE_TERMINATE_FIRST)
        count(p->r, MEASURE_TERMINATE_FIRST, 1, pool, label_of(c), span_of(disruption_terminate_first_name(c->terminate_first)));
}

void command_count(struct pass *p, const struct command *c)
{
    struct span *pools = ARENA_ARRAY(p->a, struct span, c->count);
    uint32_t n = 0;
    count(p->r, MEASURE_DISRUPTION_DECISIONS, 1, span_of(disruption_decision_name(c->decision)), label_of(c),
          type_of(c));
    for (uint32_t i = 0; i < c->count; i++) {
        const struct claim_view *claim = claim_of(p, &c->members[i]);
        struct span pool = claim != NULL ? claim_pool_name(p, claim->claim) : (struct span){0};
        uint32_t k = 0;
        while (k < n && !span_eq(pools[k], pool))
            k++;
        if (claim == NULL || k < n)
            continue;
        pools[n++] = pool;
        count_pool(p, c, pool);
    }
}

static bool step_mark(struct queue_pass *q, struct command *c)
{
    struct pass *p = q->p;
    uint32_t here = 0, marked = 0;
    if (c->decision == DECIDE_REBOOT)
        return reboot_commit(p, c);
    for (uint32_t i = 0; i < c->count; i++) {
        struct claim_view *claim = claim_of(p, &c->members[i]);
        here += claim != NULL;
        marked += claim != NULL && marks_put(p, node_of(p, &c->members[i]), claim, reason_of(c));
    }
    if (here == 0 || (here != c->count && c->replacement_count != 0))
        return take_back(q, c, SPAN("what it was about is leaving already"));
    if (marked != here)
        return true;
    command_count(p, c);
    nominate_targets(p, c);
    c->state = COMMAND_READIES;
    return c->replacement_count == 0 || begin_replacements(q, c);
}

static void tell_replacement(struct pass *p, const struct command *c, struct command_replacement *r,
                             const struct claim_view *v)
{
    struct decision d = {.kind = DECISION_MOVE, .per_hour = NAN,
                         .about = object_of(KIND_NODE_CLAIM, &v->claim->meta)};
    bool *told = v->identified ? &r->told_machine : &r->told_launch;
    memcpy(d.id, c->id, sizeof(d.id));
    if (*told)
        return;
    *told = true;
    d.reason = v->identified ? SPAN("DisruptionWaitingReadiness") : SPAN("DisruptionLaunching");
    d.note = v->identified ? SPAN("Waiting on readiness to continue disruption")
                           : arena_printf(p->a, "Launching NodeClaim: %.*s", SPAN_ARG(reason_of(c)));
    tell_silently(p->r, d);
}

enum come { COME_READY, COME_WAITS, COME_NEVER };

/* Nor is one empty for whose pods it waits. */
static enum come look_at(struct pass *p, const struct command *c, struct command_replacement *r)
{
    const struct claim_view *v = pass_claim(p, r->buy.name);
    if (v != NULL)
        v->memo->nominated_until = nominated_until(p);
    if (r->initialized)
        return COME_READY;
    if (v == NULL)
        return purchase_failed(p, r->buy.name) ? COME_NEVER : COME_WAITS;
    if (v->leaving)
        return COME_NEVER;
    r->initialized = conditions_true(v->claim->conditions, SPAN("Initialized"));
    if (!r->initialized)
        tell_replacement(p, c, r, v);
    return r->initialized ? COME_READY : COME_WAITS;
}

static enum disruption_class class_of(const struct command *c)
{
    return c->method == METHOD_REPAIR                                       ? DISRUPT_REPAIR
           : c->method == METHOD_DRIFT || c->method == METHOD_STATIC_DRIFT ? DISRUPT_EVENTUAL
                                                                            : DISRUPT_GRACEFUL;
}

/* What has come up since it was decided, and would hold a drain that had begun. */
static struct blocked_answer what_holds(const struct pass *p, const struct command *c, const struct command_member *m)
{
    const struct claim_view *claim = claim_of(p, m);
    const struct node_view *n = node_of(p, m);
    struct blocked_facts f = {.class = class_of(c), .has_pool = true, .budgets = &p->r->budgets.index, .now = p->wall};
    if (claim == NULL || n == NULL || (f.class != DISRUPT_GRACEFUL && claim->claim->has_grace) || c->has_grace)
        return (struct blocked_answer){.what = BLOCKED_NOT};
    f.node = n->node;
    f.claim = claim->claim;
    f.pods = node_pods(p, n, &f.pod_count);
    return blocked_judge_pods(&f);
}

/* Nobody is evicted for a drain that could not end. */
static bool is_held(struct pass *p, struct command *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct blocked_answer x = what_holds(p, c, &c->members[i]);
        if (x.what == BLOCKED_NOT)
            continue;
        struct span why = blocked_event(p->a, &x);
        uint64_t hash = span_hash(why);
        if (c->held != hash) {
            tell_move(p, c, false, "%.*s", arena_printf(p->a, "%.*s is not drained yet: %.*s",
                                                        SPAN_ARG(c->members[i].claim), SPAN_ARG(why)));
            tell_member(p, c, &c->members[i], SPAN("DisruptionBlocked"), why);
        }
        c->held = hash;
        pass_wake(p, p->mono + LOOK_MS);
        return true;
    }
    return false;
}

/* Pods are on their way to these: they are not to be moved again soon. */
static void cool(struct pass *p, const struct command *c)
{
    mono_ms until = p->mono + p->r->config.options.cool_down;
    if (type_of(c).len == 0 || p->r->config.options.cool_down < 0)
        return;
    for (uint32_t i = 0; i < c->target_count; i++) {
        struct claim_memo *m = memos_find(&p->r->claims, c->targets[i]);
        if (m != NULL)
            m->cools = until;
    }
    for (uint32_t i = 0; i < c->replacement_count; i++) {
        struct claim_view *v = pass_claim(p, c->replacements[i].buy.name);
        if (v != NULL)
            v->memo->cools = until;
    }
}

static bool step_ready(struct queue_pass *q, struct command *c)
{
    bool ready = true;
    for (uint32_t i = 0; i < c->replacement_count; i++) {
        enum come x = look_at(q->p, c, &c->replacements[i]);
        if (x == COME_NEVER)
            return take_back(q, c, SPAN("its replacement could not be had"));
        ready &= x == COME_READY;
    }
    if (!ready || is_held(q->p, c))
        return true;
    cool(q->p, c);
    loops_removed(q->p, c);
    c->state = COMMAND_REMOVES;
    return true;
}

static void tell_node(struct pass *p, const struct command *c, const struct command_member *m)
{
    struct decision d = {.kind = DECISION_NONE, .per_hour = NAN,
                         .reason = SPAN("DisruptionTerminating"),
                         .note = arena_printf(p->a, "Disrupting Node: %.*s", SPAN_ARG(reason_of(c))),
                         .about = {KIND_NODE, {0}, m->node, m->node_uid}};
    memcpy(d.id, c->id, sizeof(d.id));
    if (m->node.len != 0)
        tell_silently(p->r, d);
}

static struct span why_removed(struct pass *p, const struct command *c, const struct node_claim *claim)
{
    static const struct span sentences[METHOD_COUNT] = {
        [METHOD_REPAIR] = SPAN_INIT("it is not healthy"),
        [METHOD_STATIC_DRIFT] = SPAN_INIT("it has drifted"),
        [METHOD_DRIFT] = SPAN_INIT("it has drifted"),
        [METHOD_MULTI] = SPAN_INIT("its pods fit elsewhere for less"),
        [METHOD_SINGLE] = SPAN_INIT("its pods fit elsewhere for less"),
    };
    return c->method == METHOD_EMPTINESS ? emptiness_sentence(p, claim, c->savings) : sentences[c->method];
}

static void remove_one(struct pass *p, const struct command *c, const struct command_member *m,
                       const struct claim_view *claim)
{
    struct decision d = {.kind = DECISION_REMOVE, .subject = "remove",
                         .per_hour = c->method == METHOD_EMPTINESS ? c->savings : NAN,
                         .reason = SPAN("DisruptionTerminating"),
                         .note = arena_printf(p->a, "Disrupting NodeClaim: %.*s", SPAN_ARG(reason_of(c))),
                         .about = object_of(KIND_NODE_CLAIM, &claim->claim->meta)};
    struct measure also = {0};
    if (c->has_grace && !repair_bound_kept(p, claim, c->grace))
        return;
    if (c->method == METHOD_REPAIR)
        also = repair_measure(p, c->condition, claim, c->has_grace ? &c->grace : NULL);
    struct claim_end end = {.why = arena_cstr(p->a, label_of(c)), .policy = policy_of(c, claim),
                            .also = c->method == METHOD_REPAIR ? &also : NULL};
    memcpy(d.id, c->id, sizeof(d.id));
    if (claim_delete(p, claim, &end, &d, arena_cstr(p->a, why_removed(p, c, claim->claim))))
        tell_node(p, c, m);
    else if (claim->memo->memo.gate.retry_at > p->mono)
        pass_wake(p, claim->memo->memo.gate.retry_at);
}

static bool step_remove(struct queue_pass *q, struct command *c)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct claim_view *claim = claim_of(q->p, &c->members[i]);
        here += claim != NULL;
        if (claim != NULL)
            remove_one(q->p, c, &c->members[i], claim);
    }
    return here != 0;
}

/* What it was decided for still is so. */
static bool stands(struct pass *p, const struct command *c)
{
    if (c->method != METHOD_EMPTINESS)
        return true;
    struct node_view *n = node_of(p, &c->members[0]);
    return n != NULL && emptiness_stands(p, n);
}

/* False: it has ended. */
static bool step(struct queue_pass *q, struct command *c)
{
    static command_step *const steps[] = {
        [COMMAND_WAITS] = step_wait,
        [COMMAND_MARKS] = step_mark,
        [COMMAND_READIES] = step_ready,
        [COMMAND_REMOVES] = step_remove,
    };
    enum command_state was;
    if (!stands(q->p, c))
        return false;
    if (c->state != COMMAND_WAITS && q->p->mono > c->began + q->last)
        return take_back(q, c, SPAN("it took too long"));
    do { /* what takes no time is done at once */
        was = c->state;
        if (!steps[c->state](q, c))
            return false;
    } while (c->state != was);
    if (c->state != COMMAND_WAITS)
        pass_wake(q->p, c->began + q->last + 1);
    return true;
}

/* ---- the queue ---- */

void queue_take(struct pass *p, struct command *c)
{
    struct command **end = &p->r->commands.first;
    while (*end != NULL)
        end = &(*end)->next;
    *end = c;
    c->next = NULL;
    hold_members(p, c);
}

bool queue_add(struct pass *p, struct command *c)
{
    bool waits = c->method == METHOD_MULTI || c->method == METHOD_SINGLE;
    if (!waits && !draw(p, c)) {
        command_free(c);
        return false;
    }
    c->state = waits ? COMMAND_WAITS : COMMAND_MARKS;
    c->due = p->mono + p->r->config.options.validation;
    c->began = p->mono;
    if (waits)
        tell_members(p, c, SPAN("ConsolidationCandidate"),
                     arena_printf(p->a, "Consolidation candidate: %.*s (savings: $%.2f)", SPAN_ARG(c->event),
                                  isnan(c->savings) ? 0 : c->savings));
    else if (c->method != METHOD_EMPTINESS) /* its removal says it all */
        tell_move(p, c, false, "%.*s", c->move);
    waves_take(p, c);
    queue_take(p, c);
    pass_wake(p, waits ? c->due : p->mono);
    return true;
}

struct command *queue_waiting(const struct command_queue *q)
{
    struct command *c = q->first;
    while (c != NULL && c->state != COMMAND_WAITS)
        c = c->next;
    return c;
}

void queue_forget(struct command_queue *q)
{
    for (struct command *c = q->first, *next; c != NULL; c = next) {
        next = c->next;
        command_free(c);
    }
    q->first = NULL;
}

span_ms queue_lasts(uint64_t nodes)
{
    span_ms most = (span_ms)nodes * LAST_EACH_MS;
    return most < LAST_LEAST_MS ? LAST_LEAST_MS : most > LAST_MOST_MS ? LAST_MOST_MS : most;
}

static uint64_t count_queued(const struct command_queue *q)
{
    uint64_t nodes = 0;
    for (const struct command *c = q->first; c != NULL; c = c->next)
        nodes += c->count;
    return nodes;
}

void queue_run(struct pass *p)
{
    struct queue_pass q = {.p = p, .last = queue_lasts(count_queued(&p->r->commands))};
    for (struct command **at = &p->r->commands.first; *at != NULL;) {
        struct command *c = *at;
        if (step(&q, c)) {
            hold_members(p, c);
            at = &c->next;
            continue;
        }
        *at = c->next;
        release_members(p, c);
        command_free(c);
    }
}
