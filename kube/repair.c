#include "kube/repair.h"

#include <stdlib.h>

#include "base/safe_text.h"

/* --- policies --- */

enum { PRIORITY_MOST = 100 };
static const double AGEING_MS = 30 * 60 * 1000; /* of waiting are worth one rank */

struct checking {
    struct arena *arena;
    const struct repair_text *text;
    uint32_t number;
    struct buf *violations;
    bool fine;
};

static void violate(struct checking *c, const char *field, struct span what)
{
    const struct repair_text *t = c->text;
    struct buf line = {0};
    c->fine = false;
    buf_addf(&line,
             "repairPolicies[%u] {conditionType: \"%.*s\", conditionStatus: \"%.*s\", reasonRegex: \"%.*s\", "
             "tolerationDuration: \"%.*s\", terminationGracePeriod: \"%.*s\", priority: %lld, action: \"%.*s\"}: %s: %.*s",
             c->number, SPAN_ARG(t->condition_type), SPAN_ARG(t->condition_status), SPAN_ARG(t->reason_regex),
             SPAN_ARG(t->toleration), SPAN_ARG(t->grace), (long long)t->priority, SPAN_ARG(t->action), field,
             SPAN_ARG(what));
    safe_line_add(c->violations, buf_span(&line));
    buf_add_char(c->violations, '\n');
    buf_release(&line);
}

static void check_status(struct checking *c, struct repair_policy *out)
{
    struct span s = c->text->condition_status;
    if (span_eq(s, SPAN("True")))
        out->status = CONDITION_TRUE;
    else if (span_eq(s, SPAN("False")))
        out->status = CONDITION_FALSE;
    else if (span_eq(s, SPAN("Unknown")))
        out->status = CONDITION_UNKNOWN;
    else
        violate(c, "conditionStatus", SPAN("is not True, False or Unknown"));
}

static void check_duration(struct checking *c, const char *field, struct span text, span_ms *out)
{
    bool negative = text.len > 1 && text.ptr[0] == '-';
    struct span length = negative ? (struct span){text.ptr + 1, text.len - 1} : text;
    if (text.ptr == NULL)
        return;
    if (!duration_parse(length, out))
        violate(c, field, SPAN("is not a duration; write it like \"10m0s\""));
    else if (negative && *out != 0)
        violate(c, field, SPAN("must not be negative"));
}

static void check_action(struct checking *c, struct repair_policy *out)
{
    if (span_eq(c->text->action, SPAN("ReplaceNode")))
        out->action = REPAIR_REPLACE;
    else if (span_eq(c->text->action, SPAN("RebootNode")))
        out->action = REPAIR_REBOOT;
    else
        violate(c, "action", SPAN("is not ReplaceNode or RebootNode"));
}

static void check_reason(struct checking *c, struct repair_policy *out)
{
    struct err err;
    struct span text = c->text->reason_regex;
    if (text.len != 0 && !regexp_parse(c->arena, text, &out->reason, &err))
        violate(c, "reasonRegex", span_of(err.msg));
}

static bool check_policy(struct checking *c, struct repair_policy *out)
{
    out->condition_type = c->text->condition_type;
    c->fine = true;
    if (out->condition_type.len == 0)
        violate(c, "conditionType", SPAN("is empty"));
    check_status(c, out);
    check_reason(c, out);
    check_duration(c, "tolerationDuration", c->text->toleration, &out->toleration);
    check_duration(c, "terminationGracePeriod", c->text->grace, &out->grace);
    out->has_grace = c->text->grace.ptr != NULL;
    if (c->text->priority < 0 || c->text->priority > PRIORITY_MOST)
        violate(c, "priority", SPAN("is not from 0 to 100"));
    check_action(c, out);
    return c->fine;
}

/* One, and it replaces. */
static bool check_fallback(struct checking *c, const struct repair_texts *texts, struct repair_policies *out)
{
    bool fine = true;
    for (uint32_t i = 0; i < texts->count; i++) {
        if (texts->items[i].reason_regex.len != 0)
            continue;
        c->text = &texts->items[i];
        c->number = i;
        c->fine = true;
        if (out->fallback != NULL)
            violate(c, "reasonRegex", SPAN("is empty, as that of another policy is; one is the fallback"));
        else if (!span_eq(c->text->action, SPAN("ReplaceNode")))
            violate(c, "action", SPAN("of the fallback is not ReplaceNode"));
        fine &= c->fine;
        if (out->fallback == NULL)
            out->fallback = &out->items[i];
    }
    if (out->fallback == NULL) {
        buf_addf(c->violations, "repairPolicies: none has an empty reasonRegex; one has to be the fallback\n");
        fine = false;
    }
    return fine;
}

static uint32_t rank_of(const struct repair_texts *texts, int64_t priority)
{
    bool seen[PRIORITY_MOST + 1] = {false};
    uint32_t rank = 0;
    for (uint32_t i = 0; i < texts->count; i++)
        if (texts->items[i].priority >= 0 && texts->items[i].priority < priority &&
            texts->items[i].priority <= PRIORITY_MOST && !seen[texts->items[i].priority]) {
            seen[texts->items[i].priority] = true;
            rank++;
        }
    return rank;
}

bool repair_policies_make(struct arena *a, const struct repair_texts *texts, struct repair_policies *out,
                          struct buf *violations)
{
    struct checking c = {.arena = a, .violations = violations};
    bool fine = true;
    *out = (struct repair_policies){ARENA_ARRAY(a, struct repair_policy, texts->count), texts->count, NULL};
    for (uint32_t i = 0; i < texts->count; i++) {
        c.text = &texts->items[i];
        c.number = i;
        fine &= check_policy(&c, &out->items[i]);
        out->items[i].rank = rank_of(texts, texts->items[i].priority);
    }
    return check_fallback(&c, texts, out) && fine;
}

/* --- what a node meets --- */

static bool names(const struct repair_policy *p, const struct condition *c)
{
    return c->status == p->status && span_eq(c->type, p->condition_type);
}

bool repair_is_unhealthy(const struct repair_policies *p, const struct node *n)
{
    for (uint32_t i = 0; i < n->conditions.count; i++)
        for (uint32_t k = 0; k < p->count; k++)
            if (names(&p->items[k], &n->conditions.items[i]))
                return true;
    return false;
}

struct match {
    const struct repair_policy *policy;
    const struct condition *condition;
    wall_ms due;
};

struct resolving {
    wall_ms now, created, rebooted; /* rebooted 0: not */
    struct repair_answer *out;
    struct match driving, bounding; /* policy NULL: none yet */
};

static bool is_sooner(const struct match *x, const struct match *y)
{
    return x->due != y->due ? x->due < y->due : span_cmp(x->condition->type, y->condition->type) < 0;
}

static bool drives(const struct match *x, const struct match *y)
{
    if (y->policy == NULL || x->policy->action != y->policy->action)
        return y->policy == NULL || x->policy->action > y->policy->action;
    return x->policy->rank != y->policy->rank ? x->policy->rank > y->policy->rank : is_sooner(x, y);
}

static bool bounds(const struct match *x, const struct match *y)
{
    if (y->policy == NULL || x->policy->grace != y->policy->grace)
        return y->policy == NULL || x->policy->grace < y->policy->grace;
    return is_sooner(x, y);
}

static void take(struct resolving *r, const struct condition *c, const struct repair_policy *p)
{
    wall_ms since = c->transition > r->created ? c->transition : r->created;
    if (r->rebooted > since)
        since = r->rebooted;
    struct match m = {p, c, since + p->toleration};
    if (m.due > r->now) {
        if (r->out->next == 0 || m.due < r->out->next)
            r->out->next = m.due;
        return;
    }
    double score = (double)p->rank + (double)(r->now - m.due) / AGEING_MS;
    if (!r->out->due || score > r->out->score)
        r->out->score = score;
    r->out->due = true;
    if (drives(&m, &r->driving))
        r->driving = m;
    if (p->has_grace && bounds(&m, &r->bounding))
        r->bounding = m;
}

static void look_at(struct resolving *r, const struct repair_policies *p, const struct condition *c)
{
    bool named = false, met = false;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct repair_policy *x = &p->items[i];
        if (!names(x, c))
            continue;
        named = true;
        if (x->reason == NULL || !regexp_finds(x->reason, c->reason))
            continue;
        met = true;
        take(r, c, x);
    }
    if (named && !met)
        take(r, c, p->fallback);
}

struct repair_answer repair_resolve(const struct repair_policies *p, const struct node *n, const struct node_claim *c,
                                    wall_ms now)
{
    struct repair_answer out = {.due = false};
    const struct condition *reboot = conditions_find(c->conditions, SPAN("Rebooting"));
    struct resolving r = {.now = now, .created = n->meta.created, .out = &out};
    if (reboot != NULL && reboot->status == CONDITION_FALSE)
        r.rebooted = reboot->transition;
    for (uint32_t i = 0; i < n->conditions.count; i++)
        look_at(&r, p, &n->conditions.items[i]);
    if (!out.due)
        return out;
    out.action = r.driving.policy->action;
    out.condition_type = r.driving.condition->type;
    out.reason = r.driving.condition->reason;
    out.has_grace = r.bounding.policy != NULL;
    out.grace = out.has_grace ? r.bounding.policy->grace : 0;
    return out;
}
