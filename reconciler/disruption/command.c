/* What a command is made of, and how it is said. */
#include "reconciler/disruption/command.h"

#include <math.h>
#include <stdlib.h>

#include "kube/replaces.h"
#include "planner/disruption/disruption_told.h"
#include "reconciler/provision/claim_body.h"
#include "reconciler/stages.h"

enum { NAMES_TRIED = 100 };

void command_free(struct command *c)
{
    arena_release(&c->arena);
    free(c);
}

uint32_t queue_unsent(const struct command_queue *q, struct span pool_uid)
{
    uint32_t n = 0;
    for (const struct command *c = q->first; c != NULL; c = c->next)
        for (uint32_t i = 0; c->state <= COMMAND_MARKS && i < c->replacement_count; i++)
            n += span_eq(c->replacements[i].buy.pool_uid, pool_uid);
    return n;
}

bool queue_names(const struct command_queue *q, struct span claim)
{
    for (const struct command *c = q->first; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->replacement_count; i++)
            if (span_eq(c->replacements[i].buy.name, claim))
                return true;
    return false;
}

/* ---- whom it is about ---- */

static void keep_members(const struct world *w, struct command *c, const struct disruption_command *from)
{
    struct arena *a = &c->arena;
    c->members = ARENA_ARRAY(a, struct command_member, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        const struct world_node *n = world_node_at(w, from->rows[i]);
        struct command_member *m = &c->members[c->count++];
        m->claim = arena_dup(a, n->claim->meta.name);
        m->claim_uid = arena_dup(a, n->claim->meta.uid);
        if (n->node != NULL) {
            m->node = arena_dup(a, n->node->meta.name);
            m->node_uid = arena_dup(a, n->node->meta.uid);
        }
    }
}

static bool has_real_pods(const struct plan_node *n)
{
    bool any = false;
    for (uint32_t i = 0; i < n->pod_count && !any; i++)
        any = !n->pods[i]->is_virtual;
    return any;
}

static void keep_targets(const struct world *w, struct command *c, const struct plan *plan)
{
    struct span *list = ARENA_ARRAY(&c->arena, struct span, plan != NULL ? 2 * (size_t)plan->node_count : 0);
    c->targets = list;
    for (uint32_t i = 0; plan != NULL && i < plan->node_count; i++) {
        const struct world_node *n = world_node_at(w, plan->nodes[i].row);
        if (!has_real_pods(&plan->nodes[i]))
            continue;
        if (n->node != NULL)
            list[c->target_count++] = arena_dup(&c->arena, n->node->meta.uid);
        if (n->claim != NULL)
            list[c->target_count++] = arena_dup(&c->arena, n->claim->meta.uid);
    }
}

/* ---- what comes in their place ---- */

static bool is_taken(const struct pass *p, const struct command *c, struct span name)
{
    for (uint32_t i = 0; i < c->replacement_count; i++)
        if (span_eq(c->replacements[i].buy.name, name))
            return true;
    return purchases_name_taken(p, name) || queue_names(&p->r->commands, name);
}

static struct span name_of(const struct pass *p, const struct command *c, const struct plan_claim *claim)
{
    struct span name = {0};
    for (uint32_t ordinal = 0; ordinal < NAMES_TRIED; ordinal++) {
        name = claim->pool->has_replicas ? claim_name_fixed(p->a, claim->pool, ordinal)
                                         : claim_name(p->a, claim, ordinal);
        if (!is_taken(p, c, name))
            break;
    }
    return name;
}

/* Out of the pass's memory, and the world's. */
static struct purchase keep_purchase(struct arena *a, const struct purchase *b)
{
    struct purchase out = *b;
    struct span *const texts[] = {&out.name,    &out.pool, &out.pool_uid, &out.type,
                                  &out.relaxed, &out.body, &out.for_whom, &out.why};
    for (uint32_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i]->ptr != NULL)
            *texts[i] = arena_dup(a, *texts[i]);
    return out;
}

static struct span replaces(struct pass *p, const struct command *c, uint32_t bought)
{
    struct replaced *list = ARENA_ARRAY(p->a, struct replaced, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        list[i] = (struct replaced){c->members[i].claim, c->members[i].claim_uid};
    return replaces_text(p->a, bought, list, c->count);
}

static struct span for_whom(struct pass *p, const struct command *c)
{
    if (c->count == 1)
        return arena_printf(p->a, "what %.*s holds", SPAN_ARG(c->members[0].claim));
    return arena_printf(p->a, "what %.*s and %u more hold", SPAN_ARG(c->members[0].claim), c->count - 1);
}

static bool keep_replacements(struct pass *p, struct command *c, const struct disruption_command *from)
{
    struct span whom = replaces(p, c, from->replacement_count);
    c->replacements = ARENA_ARRAY(&c->arena, struct command_replacement, from->replacement_count);
    for (uint32_t i = 0; i < from->replacement_count; i++) {
        struct plan_claim claim = from->replacements[i];
        struct symtab *syms = from->syms;
        if (claim.pool->has_replicas) {
            const struct node_pool *pool = pass_pool(p, claim.pool->meta.name);
            if (pool == NULL || !static_claim(p, pool, &claim))
                return false;
            syms = p->syms;
        }
        claim.name = name_of(p, c, &claim);
        struct purchase b = purchase_of(p, &claim);
        memcpy(b.id, c->id, sizeof(b.id));
        b.why = disruption_reason_label(disruption_method_reason(c->method));
        b.for_whom = for_whom(p, c);
        b.body = claim_body(p->a, &claim, syms,
                            &(struct claim_extra){.name = b.name, .decision = span_of(c->id), .replaces = whom});
        c->replacements[c->replacement_count++] = (struct command_replacement){.buy = keep_purchase(&c->arena, &b)};
    }
    return true;
}

static void keep_types(struct command *c, const struct disruption_command *from)
{
    struct pledged_claim *list = ARENA_ARRAY(&c->arena, struct pledged_claim, from->replacement_count);
    for (uint32_t i = 0; i < from->replacement_count; i++) {
        const struct plan_claim *r = &from->replacements[i];
        struct span *types = ARENA_ARRAY(&c->arena, struct span, r->type_count);
        for (uint32_t k = 0; k < r->type_count; k++)
            types[k] = arena_dup(&c->arena, r->types[k]->name);
        list[i] = (struct pledged_claim){types, r->type_count};
    }
    c->pledged = list;
}

/* ---- how it is said ---- */

static bool has_name(const struct span *list, uint32_t count, struct span name)
{
    for (uint32_t i = 0; i < count; i++)
        if (span_eq(list[i], name))
            return true;
    return false;
}

/* "Underutilized/d-…: replace: nodepools=[a,b]: [n1, n2] -> [1 replacement] (savings: $0.08)" (spec disruption 10). */
static struct span event_text(struct pass *p, const struct snapshot *s, const struct command *c,
                              const struct disruption_command *from)
{
    struct buf b = {0};
    struct span *pools = ARENA_ARRAY(p->a, struct span, from->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct node_claim *claim = world_node_at(derive_world(s), from->rows[i])->claim;
        struct span pool = sym_text(s->syms, sym_pairs_get(claim->meta.labels, SYM_NODEPOOL));
        if (!has_name(pools, count, pool))
            pools[count++] = pool;
    }
    buf_addf(&b, "%.*s/%s: %s: nodepools=[", SPAN_ARG(disruption_reason_name(disruption_method_reason(c->method))),
             c->id, disruption_decision_name(c->decision));
    for (uint32_t i = 0; i < count; i++)
        buf_addf(&b, "%s%.*s", i != 0 ? "," : "", SPAN_ARG(pools[i]));
    buf_addf(&b, "]: [");
    for (uint32_t i = 0; i < c->count; i++)
        buf_addf(&b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(c->members[i].node));
    buf_addf(&b, "]");
    if (c->replacement_count != 0)
        buf_addf(&b, " -> [%u replacement%s]", c->replacement_count, c->replacement_count == 1 ? "" : "s");
    struct span text = arena_dup(p->a, buf_span(&b));
    buf_release(&b);
    return text;
}

struct command *command_make(struct pass *p, const struct snapshot *s, const struct disruption_command *from)
{
    const struct world *w = derive_world(s);
    struct command *c = mem_new(sizeof(*c));
    *c = (struct command){.method = from->method, .decision = from->decision,
                          .terminate_first = from->terminate_first, .savings = from->savings,
                          .evictions = from->evictions, .has_grace = from->has_grace, .grace = from->grace};
    arena_init(&c->arena, COMMAND_CHUNK);
    c->condition = arena_dup(&c->arena, from->condition);
    c->condition_reason = arena_dup(&c->arena, from->condition_reason);
    decision_id(p->r, c->id);
    keep_members(w, c, from);
    keep_targets(w, c, from->plan);
    keep_types(c, from);
    if (!keep_replacements(p, c, from)) {
        command_free(c);
        return NULL;
    }
    c->move = disruption_move_text(&c->arena, w, from);
    c->event = arena_dup(&c->arena, event_text(p, s, c, from));
    return c;
}
