#include "reconciler/views/views.h"

#include <stdlib.h>

#include "reconciler/stages.h"

/* ---- one object ---- */

static void see_claim(const struct pass *p, struct claim_view *v, const struct node_claim *claim)
{
    v->claim = claim;
    v->provider = providers_of_class(&p->r->config.providers, &claim->node_class);
    v->leaving = claim->meta.deleted != 0;
    v->identified = claim->provider_id.len != 0;
    v->expires = claim->has_expire_after ? claim->meta.created + claim->expire_after : INT64_MAX;
    v->registered = conditions_true(claim->conditions, SPAN("Registered"));
    v->terminating = conditions_true(claim->conditions, SPAN("InstanceTerminating"));
    v->rebooting = conditions_true(claim->conditions, SPAN("Rebooting"));
}

static void see_node(struct node_view *v, const struct node *node)
{
    v->node = node;
    v->leaving = node->meta.deleted != 0;
    v->ready = node_is_ready(node);
    v->initialized = node_is_initialized(node);
    v->disrupted = node_has_taint(node, SYM_DISRUPTED, TAINT_NO_SCHEDULE);
}

/* ---- all ---- */

static void make_claims(struct pass *p, struct views *v)
{
    const struct roll *roll = &v->claim_roll;
    const struct node_pool *pool = NULL;
    sym of_pool = SYM_NONE;
    if (roll->count > v->claim_capacity) {
        v->claim_capacity = roll->capacity;
        v->claims = mem_grow(v->claims, v->claim_capacity, sizeof(*v->claims));
    }
    v->claim_count = roll->count;
    for (uint32_t i = 0; i < v->claim_count; i++) {
        const struct node_claim *claim = (const struct node_claim *)roll->objects[i];
        sym name = sym_pairs_get(claim->meta.labels, SYM_NODEPOOL);
        if (name != of_pool) /* claims of one pool stand together */
            pool = pass_pool(p, pass_text(p, name));
        of_pool = name;
        v->claims[i] =
            (struct claim_view){.memo = (struct claim_memo *)roll->memos[i], .pool = pool, .node = -1};
        v->claims[i].memo->at = i;
        see_claim(p, &v->claims[i], claim);
    }
}

static void make_nodes(struct pass *p, struct views *v)
{
    const struct roll *roll = &v->node_roll;
    if (roll->count > v->node_capacity) {
        v->node_capacity = roll->capacity;
        v->nodes = mem_grow(v->nodes, v->node_capacity, sizeof(*v->nodes));
    }
    v->node_count = roll->count;
    for (uint32_t i = 0; i < v->node_count; i++) {
        const struct node *node = (const struct node *)roll->objects[i];
        v->nodes[i] = (struct node_view){.memo = (struct node_memo *)roll->memos[i],
                                         .claim = -1,
                                         .row = world_find_node(p->world, node->meta.name)};
        v->nodes[i].memo->at = i;
        see_node(&v->nodes[i], node);
    }
}

static void make_rows(const struct pass *p, struct views *v)
{
    v->row_count = world_node_count(p->world);
    if (v->row_count > v->row_capacity) {
        v->row_capacity = v->row_count + v->row_count / 8;
        v->node_of_row = mem_grow(v->node_of_row, v->row_capacity, sizeof(*v->node_of_row));
    }
    for (uint32_t i = 0; i < v->row_count; i++)
        v->node_of_row[i] = 0;
    for (uint32_t i = 0; i < v->node_count; i++)
        if (v->nodes[i].row >= 0)
            v->node_of_row[v->nodes[i].row] = i + 1;
}

struct index { /* of provider ids: slot → 1 + position, chained by open addressing */
    uint32_t *slots;
    uint32_t count;
};

static struct index index_of(struct arena *a, const struct views *v)
{
    struct index x = {.count = v->claim_count * 2 + 1};
    x.slots = ARENA_ARRAY(a, uint32_t, x.count);
    for (uint32_t i = 0; i < v->claim_count; i++) {
        struct span id = v->claims[i].claim->provider_id;
        uint32_t at = (uint32_t)(span_hash(id) % x.count);
        while (id.len != 0 && x.slots[at] != 0)
            at = (at + 1) % x.count;
        if (id.len != 0)
            x.slots[at] = i + 1;
    }
    return x;
}

static void match(struct arena *a, struct views *v)
{
    struct index x = index_of(a, v);
    for (uint32_t n = 0; n < v->node_count; n++) {
        struct span id = v->nodes[n].node->provider_id;
        if (id.len == 0)
            continue;
        for (uint32_t at = (uint32_t)(span_hash(id) % x.count); x.slots[at] != 0;
             at = (at + 1) % x.count) {
            struct claim_view *c = &v->claims[x.slots[at] - 1];
            if (!span_eq(c->claim->provider_id, id))
                continue;
            if (c->nodes++ == 0)
                c->node = (int32_t)n;
            v->nodes[n].claim = v->nodes[n].claims++ == 0 ? (int32_t)(x.slots[at] - 1) : -1;
        }
    }
}

static void make(struct pass *p, struct views *v)
{
    make_claims(p, v);
    make_nodes(p, v);
    make_rows(p, v);
    match(p->a, v);
    for (uint32_t i = 0; i < v->claim_count; i++)
        v->claims[i].unpaired = true;
    v->made++;
    turns_begin(&v->lifecycle, v->claim_count);
    turns_begin(&v->emptiness, v->node_count);
}

/* ---- what changed ---- */

/* Of others all are looked at anew: nobody keeps who looks at whom. */
static bool is_paired(const struct views *v, int32_t claim, int32_t node)
{
    return claim < 0 || node < 0 || (v->claims[claim].nodes == 1 && v->nodes[node].claims == 1);
}

static bool follow_claims(struct pass *p, struct views *v)
{
    const struct roll *roll = &v->claim_roll;
    for (uint32_t k = 0; k < roll->changed_count; k++) {
        uint32_t i = roll->changed[k];
        struct claim_view *c = &v->claims[i];
        const struct node_claim *was = c->claim, *now = (const struct node_claim *)roll->objects[i];
        if (!span_eq(was->provider_id, now->provider_id) || !is_paired(v, (int32_t)i, c->node))
            return false;
        c->memo = (struct claim_memo *)roll->memos[i];
        c->memo->at = i;
        c->pool = pass_pool(p, pass_text(p, sym_pairs_get(now->meta.labels, SYM_NODEPOOL)));
        see_claim(p, c, now);
        turns_call(&v->lifecycle, i);
    }
    return true;
}

static bool follow_nodes(struct views *v)
{
    const struct roll *roll = &v->node_roll;
    for (uint32_t k = 0; k < roll->changed_count; k++) {
        uint32_t i = roll->changed[k];
        struct node_view *n = &v->nodes[i];
        const struct node *now = (const struct node *)roll->objects[i];
        if (!span_eq(n->node->provider_id, now->provider_id) || n->claims > 1 ||
            !is_paired(v, n->claim, (int32_t)i))
            return false;
        n->memo = (struct node_memo *)roll->memos[i];
        n->memo->at = i;
        see_node(n, now);
        if (n->claim >= 0)
            turns_call(&v->lifecycle, (uint32_t)n->claim);
    }
    return true;
}

/* A row moves with its Node, its claim and its pods. */
static void follow_rows(const struct pass *p, struct views *v, const struct world *before)
{
    for (uint32_t row = 0; before != p->world && row < v->row_count; row++)
        if (v->node_of_row[row] != 0 && world_row_moved(before, p->world, row))
            turns_call(&v->emptiness, v->node_of_row[row] - 1);
}

static bool follow(struct pass *p, struct views *v, const struct world *before)
{
    if (before == NULL || !world_same_rows(before, p->world) || !follow_claims(p, v) || !follow_nodes(v))
        return false;
    follow_rows(p, v, before);
    return true;
}

void views_look(struct pass *p)
{
    struct reconciler *r = p->r;
    struct views *v = &r->views;
    bool same = roll_call(&v->claim_roll, p->snapshot, r->previous, KIND_NODE_CLAIM, &r->claims);
    same &= roll_call(&v->node_roll, p->snapshot, r->previous, KIND_NODE, &r->nodes);
    if (!follow(p, v, same ? derive_world(r->previous) : NULL))
        make(p, v);
    p->claims = v->claims;
    p->nodes = v->nodes;
    p->claim_count = v->claim_count;
    p->node_count = v->node_count;
}

void views_forget(struct views *v)
{
    v->claim_roll.sequence = v->node_roll.sequence = 0;
}

void views_release(struct views *v)
{
    roll_release(&v->claim_roll);
    roll_release(&v->node_roll);
    turns_release(&v->lifecycle);
    turns_release(&v->emptiness);
    free(v->claims);
    free(v->nodes);
    free(v->node_of_row);
    *v = (struct views){.claims = NULL};
}
