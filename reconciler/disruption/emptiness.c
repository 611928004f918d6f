#include "reconciler/disruption/emptiness.h"

#include <stdlib.h>

#include "reconciler/disruption/budgets.h"
#include "reconciler/disruption/command.h"
#include "reconciler/disruption/marks.h"

/* ---- the judgement ---- */

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
    if (n->row < 0 || world_node_at(p->world, (uint32_t)n->row)->claim == NULL)
        return EMPTY_UNSEEN;
    if (buffers_need(p, c->claim))
        return EMPTY_BUFFERED;
    if (node_is_promised(p, n))
        return EMPTY_NOMINATED;
    return n->memo->awaited_until > p->wall ? EMPTY_AWAITED : EMPTY_YES;
}

/* *news_out: it is not what was said in the last pass. */
static struct empty_answer judge(const struct round *round, const struct node_view *n, bool *news_out)
{
    struct pass *p = round->p;
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    struct empty_facts f = {.node = n->node,
                            .claim = c != NULL && c->provider != NULL ? c->claim : NULL,
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
    if (x.verdict == EMPTY_HAS_PODS && n->memo->was_awaited && c != NULL)
        returns_needed(p, n);
    n->memo->was_awaited = x.verdict == EMPTY_AWAITED || (n->memo->was_awaited && x.verdict != EMPTY_HAS_PODS);
    *news_out |= x.verdict != n->memo->said;
    n->memo->said = x.verdict;
    return x;
}

/* ---- commands ---- */

static void count_failed(struct pass *p)
{
    count(p->r, MEASURE_FAILED_VALIDATIONS, 1, SPAN("empty"), (struct span){0}, (struct span){0});
}

bool emptiness_stands(struct pass *p, struct node_view *n)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    struct empty_answer x = n->memo->verdict.answer;
    x.verdict = is_nominated_lately(p, n, c) ? EMPTY_NOMINATED : n->memo->said;
    if (c == NULL || c->leaving || x.verdict == EMPTY_LEAVING)
        return false;
    if (x.verdict == EMPTY_YES || claim_is_leaving(p, c))
        return true;
    count_failed(p);
    stays_tell_again(p, n, &x);
    return false;
}

struct span emptiness_sentence(struct pass *p, const struct node_claim *c, double saves)
{
    const struct condition *initialized = conditions_find(c->conditions, SPAN("Initialized"));
    wall_ms since = c->last_pod_event != 0 ? c->last_pod_event
                    : initialized != NULL  ? initialized->transition
                                           : c->meta.created;
    struct span age = duration_text(p->a, clock_jump_age(&p->r->jump, since) / MS_SECOND * MS_SECOND);
    return arena_printf(p->a, "empty for %.*s, saves $%.3f/h", SPAN_ARG(age), saves);
}

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
    double price = world_node_at(p->world, (uint32_t)n->row)->price;
    return isnan(price) ? 0 : price;
}

static void decide(struct pass *p, struct empty_node *list, uint32_t count_of)
{
    qsort(list, count_of, sizeof(*list), dearest_first);
    for (uint32_t i = 0; i < count_of; i++) {
        struct node_view *n = list[i].node;
        uint32_t row = (uint32_t)n->row;
        if (budgets_left(p, p->claims[n->claim].pool, REASON_EMPTY) == 0) {
            marks_take_back(p, n);
            continue;
        }
        n->memo->validate_at = 0;
        queue_add(p, command_make(p, p->snapshot,
                                  &(struct disruption_command){.method = METHOD_EMPTINESS,
                                                               .decision = DECIDE_DELETE,
                                                               .rows = &row,
                                                               .count = 1,
                                                               .savings = list[i].price}));
    }
}

/* ---- one node ---- */

/* True when the node may be decided on now. */
static bool has_waited(struct pass *p, struct node_view *n, enum empty_verdict v)
{
    struct node_memo *m = n->memo;
    if (v != EMPTY_YES) {
        if (m->validate_at != 0)
            count_failed(p);
        m->validate_at = 0;
        return false;
    }
    if (m->validate_at == 0)
        m->validate_at = p->mono + p->r->config.options.validation;
    if (p->mono < m->validate_at)
        pass_wake(p, m->validate_at);
    return p->mono >= m->validate_at;
}

/* Nothing is to be done of it but what one of the objects that its verdict was made of, or time, may change. */
static bool is_settled(const struct pass *p, const struct node_view *n, enum empty_verdict v)
{
    const struct node_memo *m = n->memo;
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    return v != EMPTY_YES && m->verdict.answer.verdict == v && m->command == NULL &&
           m->blocked.due == 0 && !is_nominated_lately(p, n, c) && !n->disrupted &&
           (c == NULL || ((c->leaving || !c->memo->deleted_by_us) &&
                          conditions_find(c->claim->conditions, SPAN("DisruptionReason")) == NULL));
}

/* True: the node may be decided on. */
static bool look_at(const struct round *round, struct node_view *n, struct empty_answer *x)
{
    struct pass *p = round->p;
    const struct command *had = n->memo->command;
    bool news;
    if (had == NULL || had->method == METHOD_EMPTINESS) {
        *x = judge(round, n, &news);
        stays_tell(p, n, x, news);
    } else {
        *x = (struct empty_answer){.verdict = EMPTY_LEAVING};
        n->memo->validate_at = 0;
    }
    if (n->memo->verdict.until > p->wall)
        pass_wake_wall(p, n->memo->verdict.until);
    if (had != NULL) /* its marks are its command's */
        return false;
    bool ready = has_waited(p, n, x->verdict);
    if (!ready)
        marks_take_back(p, n);
    return ready;
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

void emptiness_hold(struct pass *p)
{
    for (uint32_t i = 0; i < p->node_count; i++)
        p->nodes[i].memo->validate_at = 0;
}

void emptiness_run(struct pass *p)
{
    struct turns *turns = &p->r->views.emptiness;
    struct empty_node *ready = ARENA_ARRAY(p->a, struct empty_node, p->node_count);
    uint32_t ready_count = 0, eligible = 0;
    struct round round = round_of(p);
    struct empty_answer x;
    call_nodes(p, &round);
    returns_look(p);
    for (uint32_t i = 0; i < p->node_count; i++) {
        struct node_view *n = &p->nodes[i];
        if (!pass_turn(p, turns, i))
            continue;
        if (look_at(&round, n, &x))
            ready[ready_count++] = (struct empty_node){n, price_of(p, n)};
        eligible += x.verdict == EMPTY_YES;
        if (is_settled(p, n, x.verdict))
            turns_rest(turns, i, n->memo->verdict.until);
    }
    count(p->r, MEASURE_ELIGIBLE_NODES, eligible, SPAN("empty"), (struct span){0},
          (struct span){0});
    stays_tell_without_node(p);
    decide(p, ready, ready_count);
    p->r->judged = p->snapshot->sequence;
}
