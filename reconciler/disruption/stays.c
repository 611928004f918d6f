/* Why a node stays: a sentence, once for each answer, and Karpenter's Events of what blocks it. */
#include "kube/backoff.h"
#include "reconciler/disruption/emptiness.h"

enum {
    LOOK_MS = 10 * MS_SECOND, /* as often as Karpenter looks: what goes sooner is not told */
    /* Each is told once, so that none may be lost: two Events each are what kube/events.c sends of this reason. */
    TOLD_A_SECOND = 2,
    TOLD_AT_ONCE = 4,
};

/* What the node shows by itself needs no words. */
static bool is_plain(enum empty_verdict v)
{
    return v == EMPTY_YES || v == EMPTY_UNMANAGED || v == EMPTY_LEAVING || v == EMPTY_HAS_PODS;
}

/* An answer without words takes back what was said before. */
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

static bool may_tell(struct pass *p)
{
    struct bucket *b = &p->r->blocked_pace;
    *b = (struct bucket){TOLD_A_SECOND, TOLD_AT_ONCE, b->tokens, b->at};
    bool may = bucket_take(b, p->mono);
    if (!may)
        pass_wake(p, bucket_due(b, p->mono));
    return may;
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
    if (!may_tell(p))
        return false;
    s->due = 0;
    return true;
}

static bool is_ours(const struct pass *p, const struct node_view *n)
{
    return n->memo->command != NULL || (n->claim >= 0 && p->claims[n->claim].memo->deleted_by_us);
}

/* Of one that is being removed by us, none: it is no candidate any more. */
static void tell_blocked(struct pass *p, struct node_view *n, const struct empty_answer *x)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .reason = x->verdict == EMPTY_NEVER || x->verdict == EMPTY_AWAITED
                                   ? SPAN("Unconsolidatable")
                                                             : SPAN("DisruptionBlocked"),
                         .note = is_ours(p, n) ? (struct span){NULL, 0} : empty_event(p->a, x),
                         .about = object_of(KIND_NODE, &n->node->meta)};
    if (!has_stood(p, &n->memo->blocked, d.note) || c == NULL)
        return;
    tell_once(p->r, d);
    d.about = object_of(KIND_NODE_CLAIM, &c->claim->meta);
    tell_once(p->r, d);
}

void stays_tell(struct pass *p, struct node_view *n, const struct empty_answer *x, bool news)
{
    if (news)
        tell_answer(p, n, x);
    if (news || is_ours(p, n) || n->memo->blocked.due != 0)
        tell_blocked(p, n, x);
}

void stays_tell_again(struct pass *p, struct node_view *n, const struct empty_answer *x)
{
    struct span why = empty_sentence(p->a, x);
    n->memo->told = span_hash(why);
    n->memo->said = EMPTY_VERDICT_COUNT; /* the next look has news */
    tell(p->r,
         (struct decision){.kind = DECISION_KEEP,
                           .subject = "keep",
                           .per_hour = NAN,
                           .about = object_of(KIND_NODE, &n->node->meta)},
         "%.*s  stays: %.*s", SPAN_ARG(n->node->meta.name), SPAN_ARG(why));
}

static void tell_claim(struct pass *p, const struct claim_view *c)
{
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .reason = SPAN("DisruptionBlocked"),
                         .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    if (c->provider != NULL && c->nodes == 0 && !c->memo->deleted_by_us)
        d.note = SPAN("Nodeclaim does not have an associated node");
    if (has_stood(p, &c->memo->blocked, d.note))
        tell_once(p->r, d);
}

void stays_tell_without_node(struct pass *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].unpaired) {
            tell_claim(p, &p->claims[i]);
            p->claims[i].unpaired = p->claims[i].nodes == 0;
        }
}
