/* A leader that takes over goes on with what has begun: NodeClaims that were bought in place of others which still are
 * to leave are the rest of a command, all that it bought being there. Who was marked and is in none of these loses his
 * marks, and is decided on anew. */
#include <math.h>
#include <stdlib.h>

#include "kube/replaces.h"
#include "reconciler/disruption/command.h"
#include "reconciler/disruption/repair.h"
#include "reconciler/stages.h"

struct found { /* a replacement */
    const struct node_claim *claim;
    struct span id;
    uint32_t bought;
};

/* The youngest first: who is in two is in the later one. */
static int by_age(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    if (a->claim->meta.created != b->claim->meta.created)
        return a->claim->meta.created > b->claim->meta.created ? -1 : 1;
    int order = span_cmp(a->id, b->id);
    return order != 0 ? order : span_cmp(a->claim->meta.name, b->claim->meta.name);
}

static const struct condition *reason_of(const struct claim_view *c)
{
    const struct condition *why = conditions_find(c->claim->conditions, SPAN("DisruptionReason"));
    return why != NULL && why->status == CONDITION_TRUE ? why : NULL;
}

/* By the reason; which of two methods of one reason it was is of no matter any more. */
static bool method_of(struct span reason, const struct node_pool *pool, enum disruption_method *out)
{
    if (span_eq(reason, disruption_reason_name(REASON_DRIFTED)))
        *out = pool != NULL && pool->has_replicas ? METHOD_STATIC_DRIFT : METHOD_DRIFT;
    else if (span_eq(reason, disruption_reason_name(REASON_UNDERUTILIZED)))
        *out = METHOD_MULTI;
    else if (span_eq(reason, disruption_reason_name(REASON_UNHEALTHY)))
        *out = METHOD_REPAIR;
    else
        return false;
    return true;
}

static bool is_adopted(const struct command_queue *q, struct span claim_uid)
{
    for (const struct command *c = q->first; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->count; i++)
            if (span_eq(c->members[i].claim_uid, claim_uid))
                return true;
    return false;
}

/* Those of whom it was bought in place that are still to leave. False: one is in a later command. */
static bool adopt_members(struct pass *p, struct command *c, const struct found *f)
{
    struct replaces r = replaces_of(f->claim);
    uint32_t room = 0;
    for (struct replaced one; replaces_next(&r, &one);) {
        const struct claim_view *v = pass_claim(p, one.name);
        if (v == NULL || !span_eq(v->claim->meta.uid, one.uid) || v->leaving)
            continue;
        const struct condition *why = reason_of(v);
        if (why == NULL || is_adopted(&p->r->commands, one.uid) || !method_of(why->reason, v->pool, &c->method))
            return false;
        struct command_member m = {arena_dup(&c->arena, one.name), arena_dup(&c->arena, one.uid), {0}, {0}};
        if (v->node >= 0) {
            m.node = arena_dup(&c->arena, p->nodes[v->node].node->meta.name);
            m.node_uid = arena_dup(&c->arena, p->nodes[v->node].node->meta.uid);
        }
        ARENA_PUSH(&c->arena, c->members, c->count, room, m);
    }
    return c->count != 0;
}

static void adopt(struct pass *p, const struct found *f, uint32_t count)
{
    struct command *c = mem_new(sizeof(*c));
    *c = (struct command){.decision = DECIDE_REPLACE, .state = COMMAND_READIES, .began = p->mono, .savings = NAN};
    arena_init(&c->arena, COMMAND_CHUNK);
    snprintf(c->id, sizeof(c->id), "%.*s", SPAN_ARG(f->id));
    if (count != f->bought || !adopt_members(p, c, f)) {
        command_free(c);
        return;
    }
    c->replacements = ARENA_ARRAY(&c->arena, struct command_replacement, count);
    for (; c->replacement_count < count; c->replacement_count++) {
        const struct node_claim *claim = f[c->replacement_count].claim;
        c->replacements[c->replacement_count] = (struct command_replacement){
            .buy = {.name = arena_dup(&c->arena, claim->meta.name), .price = NAN},
            .initialized = conditions_true(claim->conditions, SPAN("Initialized"))};
    }
    c->move = arena_printf(&c->arena, "remove %.*s%s, in whose place others have come", SPAN_ARG(c->members[0].claim),
                           c->count > 1 ? " and others" : "");
    c->event = c->move;
    repair_adopt(p, c);
    queue_take(p, c);
}

void queue_adopt(struct pass *p)
{
    struct found *list = ARENA_ARRAY(p->a, struct found, p->claim_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *v = &p->claims[i];
        uint32_t bought = replaces_of(v->claim).bought;
        struct span id = annotations_get(v->claim->meta.annotations, SYM_DECISION);
        if (bought != 0 && id.len != 0 && v->provider != NULL && !v->leaving)
            list[count++] = (struct found){v->claim, id, bought};
    }
    if (count != 0)
        qsort(list, count, sizeof(*list), by_age);
    /* those of one decision were made within moments, and others may stand between them */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 1;
        for (uint32_t k = i + 1; k < count; k++)
            if (span_eq(list[k].id, list[i].id)) {
                struct found one = list[k];
                memmove(&list[i + same + 1], &list[i + same], (k - i - same) * sizeof(*list));
                list[i + same++] = one;
            }
        adopt(p, &list[i], same);
        i += same - 1;
    }
}
