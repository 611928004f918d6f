#include "planner/groups/bought.h"

#include "kube/wellknown.h"
#include "planner/columns.h"
#include "planner/groups/template.h"

struct bought_node { /* what a node will be */
    struct sym_pairs labels;
    const struct requirement *requirements; /* of one value each: labels, too */
    uint32_t requirement_count;
    struct taints taints;
    const struct symtab *syms; /* of all of these */
};

struct making {
    struct arena *a;
    struct symtab *syms;
    const struct bought_node *of;
};

static sym sym_here(const struct making *x, sym s)
{
    return s == SYM_NONE ? s : sym_intern(x->syms, sym_text(x->of->syms, s));
}

static void set_label(struct sym_pairs *labels, sym key, sym value)
{
    for (uint32_t i = 0; i < labels->count; i++)
        if (labels->items[i].key == key) {
            labels->items[i].value = value;
            return;
        }
    labels->items[labels->count++] = (struct sym_pair){key, value};
}

static bool is_sure(const struct requirement *r)
{
    return !r->complement && r->count == 1;
}

static struct sym_pairs make_labels(const struct making *x, struct span name)
{
    const struct bought_node *of = x->of;
    struct sym_pairs out = {ARENA_ARRAY(x->a, struct sym_pair, (size_t)of->labels.count + of->requirement_count + 1), 0};
    for (uint32_t i = 0; i < of->labels.count; i++)
        set_label(&out, sym_here(x, of->labels.items[i].key), sym_here(x, of->labels.items[i].value));
    for (uint32_t i = 0; i < of->requirement_count; i++)
        if (is_sure(&of->requirements[i]))
            set_label(&out, sym_here(x, of->requirements[i].key), sym_here(x, of->requirements[i].values[0]));
    set_label(&out, SYM_HOSTNAME, sym_intern(x->syms, name));
    return out;
}

static struct taints make_taints(const struct making *x)
{
    struct taints of = x->of->taints, out = {ARENA_ARRAY(x->a, struct taint, of.count), of.count};
    for (uint32_t i = 0; i < of.count; i++) {
        out.items[i] = of.items[i];
        out.items[i].key = sym_here(x, of.items[i].key);
        out.items[i].value = sym_here(x, of.items[i].value);
    }
    return out;
}

static void add(struct group_bought *b, struct arena *a, struct symtab *syms, const struct bought_node *n,
                const struct pod *const *pods, uint32_t count)
{
    struct making x = {a, syms, n};
    struct node *node = ARENA_NEW(a, struct node);
    struct span name = arena_printf(a, "bought-by-pools-%u", b->node_count + 1);
    node->meta.name = node->meta.uid = node->provider_id = name;
    node->meta.labels = make_labels(&x, name);
    node->taints = make_taints(&x);
    ARENA_PUSH(a, b->nodes, b->node_count, b->node_capacity, node);
    for (uint32_t i = 0; i < count; i++) {
        if (pods[i]->node != SYM_NONE)
            continue;
        struct pod *copy = ARENA_NEW(a, struct pod);
        meta_copy_object(copy, pods[i], sizeof(*copy));
        copy->node = sym_intern(syms, name);
        copy->nominated_node = SYM_NONE;
        uint32_t of = b->pod_count;
        ARENA_PUSH(a, b->pods_of, of, b->pod_of_capacity, pods[i]);
        ARENA_PUSH(a, b->pods, b->pod_count, b->pod_capacity, copy);
    }
}

bool bought_same(const struct group_bought *x, const struct group_bought *y)
{
    if (x->node_count != y->node_count || x->pod_count != y->pod_count)
        return false;
    for (uint32_t i = 0; i < x->node_count; i++)
        if (!group_node_same(x->nodes[i], y->nodes[i]))
            return false;
    for (uint32_t i = 0; i < x->pod_count; i++)
        if (x->pods_of[i] != y->pods_of[i] || x->pods[i]->node != y->pods[i]->node)
            return false;
    return true;
}

/* --- of a plan --- */

static bool minds_any(const struct world *w, const struct pod *const *pods, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t class_id = world_waiting_class(w, pods[i]->meta.uid);
        if (class_id >= 0 && world_is_minded(w, class_id))
            return true;
    }
    return false;
}

void bought_add_claim(struct group_bought *b, struct arena *a, struct symtab *syms, const struct world *w,
                      const struct node_claim *c, const struct pod *const *pods, uint32_t count)
{
    struct requirements r = requirements_of(a, syms, c->requirements);
    struct bought_node n = {c->meta.labels, r.items, r.count, c->taints, syms};
    if (minds_any(w, pods, count))
        add(b, a, syms, &n, pods, count);
}

/* Machines that were bought before and have not come. */
static void add_rows(struct group_bought *b, struct arena *a, struct symtab *syms, const struct plan *p)
{
    const struct world *w = p->world;
    uint32_t *first = ARENA_ARRAY(a, uint32_t, w->node_count), *next = ARENA_ARRAY(a, uint32_t, p->row_count);
    const struct pod **pods = ARENA_ARRAY(a, const struct pod *, p->row_count);
    for (uint32_t i = p->row_count; i-- > 0;) { /* numbers are + 1 */
        if (p->rows[i] == 0 || w->waiting[i].bound)
            continue;
        next[i] = first[p->rows[i] - 1];
        first[p->rows[i] - 1] = i + 1;
    }
    for (uint32_t row = 0; row < w->node_count; row++) {
        uint32_t count = 0;
        if (w->nodes[row].node != NULL || w->nodes[row].claim == NULL)
            continue;
        for (uint32_t at = first[row]; at != 0; at = next[at - 1])
            pods[count++] = w->waiting[at - 1].pod;
        bought_add_claim(b, a, syms, w, w->nodes[row].claim, pods, count);
    }
}

struct group_bought bought_of_plan(const struct plan *p, struct symtab *syms, struct arena *a)
{
    struct group_bought out = {.node_count = 0};
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct plan_claim *c = &p->claims[i];
        struct bought_node n = {c->labels, c->requirements.items, c->requirements.count, c->pool->taints, p->syms};
        if (minds_any(p->world, c->pods, c->pod_count))
            add(&out, a, syms, &n, c->pods, c->pod_count);
    }
    add_rows(&out, a, syms, p);
    return out;
}
