/* Empty nodes leave, in three steps that each are seen in the API before the next: the taint that
 * keeps new pods away, the reason on the claim, the claim's deletion. A node must have been a
 * candidate for the whole wait, be one still when the taint is seen, and its pool's budget must
 * allow it; else the taint is taken off again. A taint that nobody remembers is of an earlier
 * leader, and goes too. */
#include "reconciler/empty.h"

#include <stdlib.h>

#include "kube/budget.h"
#include "reconciler/disruption/marks.h"

enum { LOOK_MS = 10 * MS_SECOND }; /* as often as Karpenter looks: what goes sooner is not told */

static const struct span REASON = SPAN_INIT("Empty");

/* ---- budgets ---- */

struct allowance { /* of one pool */
    const struct node_pool *pool;
    int32_t nodes, busy, left;
};

static struct allowance *allowance_for(struct allowance *all, uint32_t count,
                                       const struct node_pool *pool)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].pool == pool)
            return &all[i];
    return NULL;
}

/* Who has a command does not rest, so that nobody else's memory is asked. */
static bool has_command(const struct pass *p, uint32_t at)
{
    return turns_due(&p->r->views.emptiness, at) <= p->wall &&
           (p->nodes[at].memo->command || p->nodes[at].memo->queued);
}

static void count_nodes(const struct pass *p, struct allowance *all, uint32_t count_of)
{
    struct allowance *a = NULL;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (!node_counts(p, n))
            continue;
        const struct claim_view *c = &p->claims[n->claim];
        if (a == NULL || a->pool != c->pool) /* nodes of one pool stand together */
            a = allowance_for(all, count_of, c->pool);
        if (a == NULL)
            continue;
        a->nodes++;
        a->busy += n->leaving || c->leaving || !n->ready || has_command(p, i);
    }
}

static void allow(struct pass *p, struct allowance *a)
{
    const struct node_pool *pool = a->pool;
    int32_t allowed = budgets_allowed(pool, a->nodes, REASON, p->wall);
    a->left = allowed > a->busy ? allowed - a->busy : 0;
    count(p->r, MEASURE_ALLOWED_DISRUPTIONS, allowed, pool->meta.name, SPAN("empty"),
          (struct span){0});
    count(p->r, MEASURE_CONSUMING_BUDGETS, a->busy, pool->meta.name, SPAN("empty"),
          (struct span){0});
    struct pool_memo *memo = memos_at(&p->r->pools, pool->meta.uid);
    bool blocked = allowed == 0 && a->nodes != 0;
    if (blocked && !memo->told_blocked)
        tell(p->r,
             (struct decision){
                 .kind = DECISION_KEEP,
                 .per_hour = NAN,
                 .reason = SPAN("DisruptionBlocked"),
                 .note = SPAN("No allowed disruptions for disruption reason Empty due to blocking "
                              "budget"),
                 .about = object_of(KIND_NODE_POOL, &pool->meta)},
             "NodePool %.*s: its budgets let no empty node go now", SPAN_ARG(pool->meta.name));
    memo->told_blocked = blocked;
}

/* ---- candidates ---- */

struct empty_node {
    struct node_view *node;
    double price;
};

static int dearest_first(const void *x, const void *y)
{
    const struct empty_node *a = x, *b = y;
    if (a->price != b->price)
        return a->price > b->price ? -1 : 1;
    return span_cmp(a->node->node->meta.name, b->node->node->meta.name);
}

static double price_of(const struct pass *p, const struct node_view *n)
{
    double price = n->row >= 0 ? world_node_at(p->world, (uint32_t)n->row)->price : 0;
    return isnan(price) ? 0 : price;
}

static bool is_nominated_lately(const struct pass *p, const struct node_view *n,
                                const struct claim_view *c)
{
    return n->memo->nominated_until > p->mono || (c != NULL && c->memo->nominated_until > p->mono);
}

struct round { /* one look at all nodes */
    struct pass *p;
    struct kept_since since;
};

static struct round round_of(struct pass *p)
{
    const struct reconciler *r = p->r;
    bool last = r->previous != NULL && r->judged == r->previous->sequence;
    return (struct round){.p = p,
                          .since = {.anew = !last || r->budgets.anew ||
                                            r->previous->syms != p->snapshot->syms,
                                    .changed = r->budgets.changed,
                                    .scratch = p->a}};
}

/* Of who would go by all that is kept from pass to pass. */
static enum empty_verdict judge_now(struct pass *p, const struct node_view *n, const struct claim_view *c)
{
    if (n->row < 0)
        return EMPTY_UNSEEN;
    if (buffers_need(p, c->claim))
        return EMPTY_BUFFERED;
    return node_is_promised(p, n) ? EMPTY_NOMINATED : EMPTY_YES;
}

/* *news_out: it is not what was said in the last pass. */
static struct empty_answer judge(const struct round *round, const struct node_view *n, bool *news_out)
{
    struct pass *p = round->p;
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    struct empty_facts f = {.node = n->node,
                            .claim = c != NULL && c->managed ? c->claim : NULL,
                            .pool = c != NULL ? c->pool : NULL,
                            .nominated = is_nominated_lately(p, n, c),
                            .budgets = &p->r->budgets.index,
                            .now = p->wall};
    if (c != NULL)
        f.pool_name = claim_pool_name(p, c->claim);
    f.pods = node_pods(p, n, &f.pod_count);
    *news_out = kept_verdict_judge(&n->memo->verdict, &round->since, &f);
    struct empty_answer x = n->memo->verdict.answer;
    if (x.verdict == EMPTY_YES && c != NULL)
        x.verdict = judge_now(p, n, c);
    *news_out |= x.verdict != n->memo->said;
    n->memo->said = x.verdict;
    return x;
}

/* ---- a command's steps ---- */

static void give_back(struct pass *p, struct node_view *n, const struct empty_answer *x)
{
    n->memo->command = false;
    n->memo->validate_at = 0;
    struct span why = empty_sentence(p->a, x);
    n->memo->told = span_hash(why);
    n->memo->said = EMPTY_VERDICT_COUNT; /* the next look has news */
    count(p->r, MEASURE_FAILED_VALIDATIONS, 1, SPAN("empty"), (struct span){0}, (struct span){0});
    tell(p->r,
         (struct decision){.kind = DECISION_KEEP,
                           .subject = "keep",
                           .per_hour = NAN,
                           .about = object_of(KIND_NODE, &n->node->meta)},
         "%.*s  stays: %.*s", SPAN_ARG(n->node->meta.name), SPAN_ARG(why));
}

static void delete_claim(struct pass *p, const struct node_view *n)
{
    const struct claim_view *c = &p->claims[n->claim];
    double price = price_of(p, n);
    struct decision d = {.kind = DECISION_REMOVE,
                         .subject = "remove",
                         .per_hour = price,
                         .reason = SPAN("DisruptionTerminating"),
                         .note = SPAN("Disrupting NodeClaim: Empty"),
                         .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    const struct condition *initialized =
        conditions_find(c->claim->conditions, SPAN("Initialized"));
    wall_ms since = c->claim->last_pod_event != 0 ? c->claim->last_pod_event
                    : initialized != NULL         ? initialized->transition
                                                  : c->claim->meta.created;
    struct span age = duration_text(p->a, (p->wall - since) / MS_SECOND * MS_SECOND);
    struct span sentence =
        arena_printf(p->a, "empty for %.*s, saves $%.3f/h", SPAN_ARG(age), price);
    if (claim_delete(p, c, &(struct claim_end){.why = "empty"}, &d, arena_cstr(p->a, sentence)))
        count(p->r, MEASURE_DISRUPTION_DECISIONS, 1, SPAN("delete"), SPAN("empty"), SPAN("empty"));
}

/* The next step of a node that is decided; `x` is today's judgement. */
static void go_on(struct pass *p, struct node_view *n, const struct empty_answer *x)
{
    const struct claim_view *c = &p->claims[n->claim];
    bool tainted = node_has_taint(n->node, SYM_DISRUPTED, TAINT_NO_SCHEDULE);
    if (tainted && x->verdict != EMPTY_YES)
        give_back(p, n, x);
    else if (marks_put(p, n, c, REASON))
        delete_claim(p, n);
}

/* What the node shows by itself needs no words. */
static bool is_plain(enum empty_verdict v)
{
    return v == EMPTY_YES || v == EMPTY_UNMANAGED || v == EMPTY_LEAVING || v == EMPTY_HAS_PODS;
}

/* Why a node stays, once for each answer; an answer without words takes back what was said before. */
static void tell_answer(struct pass *p, struct node_view *n, const struct empty_answer *x)
{
    struct span why = is_plain(x->verdict) ? (struct span){NULL, 0} : empty_sentence(p->a, x);
    uint64_t hash = why.len != 0 ? span_hash(why) : 0;
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .about = object_of(KIND_NODE, &n->node->meta),
                         .takes_back = why.len == 0};
    if (n->memo->told == hash || n->node->meta.deleted != 0) /* then its drain speaks */
        return;
    n->memo->told = hash;
    if (why.len == 0)
        tell_silently(p->r, d);
    else
        tell(p->r, d, "%.*s  stays: %.*s", SPAN_ARG(n->node->meta.name), SPAN_ARG(why));
}

/* True once, when the note has been the same for a while. */
static bool has_stood(struct pass *p, struct standing_note *s, struct span note)
{
    uint64_t hash = note.len != 0 ? span_hash(note) : 0;
    if (s->hash != hash)
        *s = (struct standing_note){.hash = hash, .due = hash != 0 ? p->mono + LOOK_MS : 0};
    if (s->due == 0)
        return false;
    if (p->mono < s->due) {
        pass_wake(p, s->due);
        return false;
    }
    s->due = 0;
    return true;
}

static bool is_ours(const struct pass *p, const struct node_view *n)
{
    return n->memo->command || (n->claim >= 0 && p->claims[n->claim].memo->deleted_by_us);
}

/* The Events of what blocks a node. Of one that is being removed by us, none: it is no candidate any more. */
static void tell_blocked(struct pass *p, struct node_view *n, const struct empty_answer *x)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .reason = x->verdict == EMPTY_NEVER ? SPAN("Unconsolidatable")
                                                             : SPAN("DisruptionBlocked"),
                         .note = is_ours(p, n) ? (struct span){NULL, 0} : empty_event(p->a, x),
                         .about = object_of(KIND_NODE, &n->node->meta)};
    if (!has_stood(p, &n->memo->blocked, d.note) || c == NULL)
        return;
    tell_silently(p->r, d);
    d.about = object_of(KIND_NODE_CLAIM, &c->claim->meta);
    tell_silently(p->r, d);
}

static void tell_without_node(struct pass *p, const struct claim_view *c)
{
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .reason = SPAN("DisruptionBlocked"),
                         .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    if (c->managed && c->nodes == 0 && !c->memo->deleted_by_us)
        d.note = SPAN("Nodeclaim does not have an associated node");
    if (has_stood(p, &c->memo->blocked, d.note))
        tell_silently(p->r, d);
}

/* True when the node may be decided on now. */
static bool has_waited(struct pass *p, struct node_view *n, enum empty_verdict v)
{
    struct node_memo *m = n->memo;
    if (v != EMPTY_YES) {
        if (m->validate_at != 0)
            count(p->r, MEASURE_FAILED_VALIDATIONS, 1, SPAN("empty"), (struct span){0},
                  (struct span){0});
        m->validate_at = 0;
        return false;
    }
    if (m->validate_at == 0)
        m->validate_at = p->mono + p->r->config.options.validation;
    if (p->mono < m->validate_at) {
        pass_wake(p, m->validate_at);
        return false;
    }
    return true;
}

static void decide(struct pass *p, struct empty_node *list, uint32_t count_of,
                   struct allowance *allowances, uint32_t pools)
{
    qsort(list, count_of, sizeof(*list), dearest_first);
    for (uint32_t i = 0; i < count_of; i++) {
        struct node_view *n = list[i].node;
        struct allowance *a = allowance_for(allowances, pools, p->claims[n->claim].pool);
        if (a == NULL || a->left == 0) {
            marks_take_back(p, n);
            continue;
        }
        a->left--;
        n->memo->command = true;
        go_on(p, n, &(struct empty_answer){.verdict = EMPTY_YES});
    }
}

/* Nothing is to be done of it but what one of the objects that its verdict was made of, or time, may change. */
static bool is_settled(const struct pass *p, const struct node_view *n, enum empty_verdict v)
{
    const struct node_memo *m = n->memo;
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    return v != EMPTY_YES && m->verdict.answer.verdict == v && !m->command && !m->queued &&
           m->blocked.due == 0 && !is_nominated_lately(p, n, c) && !n->disrupted &&
           (c == NULL || conditions_find(c->claim->conditions, SPAN("DisruptionReason")) == NULL);
}

/* True: the node may be decided on. */
static bool look_at(struct pass *p, struct node_view *n, const struct round *round, struct empty_answer *x)
{
    bool news;
    if (n->memo->queued) { /* a command has it */
        n->memo->validate_at = 0;
        *x = (struct empty_answer){.verdict = EMPTY_LEAVING};
        return false;
    }
    *x = judge(round, n, &news);
    if (n->memo->verdict.until > p->wall)
        pass_wake_wall(p, n->memo->verdict.until);
    if (news)
        tell_answer(p, n, x);
    if (news || is_ours(p, n) || n->memo->blocked.due != 0)
        tell_blocked(p, n, x);
    if (n->memo->command && x->verdict == EMPTY_LEAVING) {
        n->memo->command = false; /* done: termination goes on from here */
        n->memo->validate_at = 0;
    } else if (n->memo->command && n->claim >= 0) {
        go_on(p, n, x);
    } else if (has_waited(p, n, x->verdict)) {
        return true;
    } else {
        marks_take_back(p, n);
    }
    return false;
}

/* Whom a PodDisruptionBudget that has changed holds, or all of whom what was kept means nothing. */
static void call_nodes(const struct pass *p, const struct round *round)
{
    struct turns *turns = &p->r->views.emptiness;
    if (round->since.anew)
        turns_begin(turns, p->node_count);
    else if (round->since.changed != NULL)
        for (uint32_t i = 0; i < p->node_count; i++)
            if (kept_verdict_hangs_on(&p->nodes[i].memo->verdict, &round->since))
                turns_call(turns, i);
}

void empty_run(struct pass *p)
{
    struct turns *turns = &p->r->views.emptiness;
    struct empty_node *ready = ARENA_ARRAY(p->a, struct empty_node, p->node_count);
    struct allowance *allowances = ARENA_ARRAY(p->a, struct allowance, p->pool_count);
    uint32_t ready_count = 0, pools = 0, eligible = 0;
    struct round round = round_of(p);
    struct empty_answer x;
    call_nodes(p, &round);
    for (uint32_t i = 0; i < p->node_count; i++) {
        struct node_view *n = &p->nodes[i];
        if (!pass_turn(p, turns, i))
            continue;
        if (look_at(p, n, &round, &x))
            ready[ready_count++] = (struct empty_node){n, price_of(p, n)};
        eligible += x.verdict == EMPTY_YES;
        if (is_settled(p, n, x.verdict))
            turns_rest(turns, i, n->memo->verdict.until);
    }
    count(p->r, MEASURE_ELIGIBLE_NODES, eligible, SPAN("empty"), (struct span){0},
          (struct span){0});
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].unpaired) {
            tell_without_node(p, &p->claims[i]);
            p->claims[i].unpaired = p->claims[i].nodes == 0;
        }
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].managed)
            allowances[pools++].pool = p->pools[i].pool;
    count_nodes(p, allowances, pools);
    for (uint32_t i = 0; i < pools; i++)
        allow(p, &allowances[i]);
    decide(p, ready, ready_count, allowances, pools);
    p->r->judged = p->snapshot->sequence;
}
