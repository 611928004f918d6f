#include "reconciler/disruption/recommend.h"

#include <math.h>

#include "reconciler/disruption/command.h"
#include "reconciler/stages.h"

enum {
    EVERY_MS = MS_MINUTE,       /* nobody acts on it sooner, and sets of nodes change their minds in a moving cluster */
    REFRESH_MS = 5 * MS_MINUTE, /* what time alone changes: as consolidations look for it (ask.c) */
    MOST = 100,                 /* a static pool's drifted nodes are a move each */
    STEPS_PER_MS = 500,         /* as in ask.c, and for its reason */
    REST = 20,
};

/* Whom it is about, and what is to be done with them: not what comes in their place, or saves. */
static uint64_t identity(const struct command *c)
{
    uint64_t hash = (uint64_t)disruption_method_reason(c->method) * REASON_COUNT + c->decision;
    for (uint32_t i = 0; i < c->count; i++)
        hash = hash * 31 + span_hash(c->members[i].claim_uid);
    return hash;
}

static struct command *take_same(struct command_queue *q, uint64_t id)
{
    for (struct command **at = &q->first; *at != NULL; at = &(*at)->next)
        if (identity(*at) == id) {
            struct command *c = *at;
            *at = c->next;
            return c;
        }
    return NULL;
}

/* ---- what is said ---- */

static void tell_move(struct pass *p, const struct command *c, const char *format)
{
    struct decision d = {.kind = DECISION_MOVE, .subject = "recommend", .per_hour = isnan(c->savings) ? NAN : -c->savings};
    memcpy(d.id, c->id, sizeof(d.id));
    tell(p->r, d, "%s: %.*s", format, SPAN_ARG(c->move));
}

static void tell_new(struct pass *p, const struct command *c)
{
    struct decision d = {.kind = DECISION_MOVE, .per_hour = NAN, .reason = SPAN("DisruptionRecommended"),
                         .dedupe = disruption_reason_label(disruption_method_reason(c->method)),
                         .note = arena_printf(p->a, "Recommended, and not made since stowage.dev/mode of the NodePool says "
                                                    "so: %.*s", SPAN_ARG(c->move))};
    tell_move(p, c, "recommended, not made");
    memcpy(d.id, c->id, sizeof(d.id));
    for (uint32_t i = 0; i < c->count; i++) {
        const struct command_member *m = &c->members[i];
        d.about = (struct decision_object){KIND_NODE_CLAIM, {0}, m->claim, m->claim_uid};
        tell_silently(p->r, d);
        d.about = (struct decision_object){KIND_NODE, {0}, m->node, m->node_uid};
        if (m->node.len != 0)
            tell_silently(p->r, d);
    }
}

/* Those that are left. */
static void withdraw(struct pass *p, struct command_queue *q)
{
    for (const struct command *c = q->first; c != NULL; c = c->next)
        tell_move(p, c, "recommended no more");
    queue_forget(q);
}

/* ---- when it is asked ---- */

bool recommend_is_due(struct pass *p)
{
    struct recommending *r = &p->r->recommending;
    if (!disruption_recommends(p->world)) {
        withdraw(p, &r->moves);
        *r = (struct recommending){.changed = true};
        return false;
    }
    mono_ms due = r->changed ? r->next : r->again;
    if (p->mono < due)
        pass_wake(p, due);
    return p->mono >= due;
}

void recommend_begun(struct pass *p)
{
    p->r->recommending.changed = false;
}

void recommend_take(struct pass *p, const struct snapshot *s, const struct disruption *d)
{
    struct recommending *r = &p->r->recommending;
    struct command_queue now = {.first = NULL};
    struct command **end = &now.first;
    for (uint32_t i = 0; i < d->command_count && i < MOST; i++) {
        struct command *c = command_make(p, s, &d->commands[i]);
        if (c == NULL)
            continue;
        struct command *before = take_same(&r->moves, identity(c));
        if (before == NULL) {
            tell_new(p, c);
        } else {
            memcpy(c->id, before->id, sizeof(c->id));
            command_free(before);
        }
        *end = c;
        end = &c->next;
    }
    withdraw(p, &r->moves);
    r->moves = now;
    span_ms rest = (span_ms)(d->steps / STEPS_PER_MS) * REST;
    r->next = p->mono + (rest > EVERY_MS ? rest : EVERY_MS);
    r->again = p->mono + (rest > REFRESH_MS ? rest : REFRESH_MS);
}

void recommend_forget(struct recommending *r)
{
    queue_forget(&r->moves);
    *r = (struct recommending){.changed = true};
}
