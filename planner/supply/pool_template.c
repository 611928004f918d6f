#include "planner/supply/pool_template.h"

#include <math.h>
#include <string.h>

static sym class_label(struct arena *a, struct symtab *syms, const struct node_pool *p)
{
    return sym_intern(syms, node_class_label(a, &p->node_class));
}

static void require(struct arena *a, struct symtab *syms, struct requirements *set, sym key,
                    sym value)
{
    struct requirement r = requirement_in(a, syms, key, value);
    requirements_add(a, set, &r, syms);
}

struct requirements pool_requirements(struct arena *a, struct symtab *syms, const struct node_pool *p)
{
    sym class_key = class_label(a, syms, p);
    sym class_name = sym_intern(syms, p->node_class.name);
    sym pool_name = sym_intern(syms, p->meta.name);
    struct requirements out = requirements_of(a, syms, p->requirements);
    struct requirements labels = requirements_of_labels(a, syms, p->labels);
    requirements_add_all(a, &out, &labels, syms);
    require(a, syms, &out, SYM_NODEPOOL, pool_name);
    require(a, syms, &out, class_key, class_name);
    return out;
}

struct sym_pairs pool_labels(struct arena *a, struct symtab *syms, const struct node_pool *p)
{
    sym class_key = class_label(a, syms, p);
    struct sym_pair *items = ARENA_ARRAY(a, struct sym_pair, (size_t)p->labels.count + 2);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->labels.count; i++)
        if (p->labels.items[i].key != SYM_NODEPOOL && p->labels.items[i].key != class_key)
            items[n++] = p->labels.items[i];
    items[n++] = (struct sym_pair){SYM_NODEPOOL, sym_intern(syms, p->meta.name)};
    items[n++] = (struct sym_pair){class_key, sym_intern(syms, p->node_class.name)};
    return (struct sym_pairs){items, n};
}

sym pool_label_value(struct arena *a, struct symtab *syms, const struct requirement *r)
{
    sym best = SYM_NONE;
    if (!r->complement) {
        for (uint32_t i = 0; i < r->count; i++)
            if (best == SYM_NONE ||
                span_cmp(sym_text(syms, r->values[i]), sym_text(syms, best)) < 0)
                best = r->values[i];
        return best;
    }
    int64_t from = r->has_gte && r->gte > 0 ? r->gte : 0;
    for (int64_t k = 0; k <= (int64_t)r->count; k++) { /* one more than are excluded */
        if (r->has_lte && from > r->lte - k)
            break;
        sym value = sym_intern(syms, arena_printf(a, "%lld", (long long)from + k));
        if (requirement_has(r, value, syms))
            return value;
    }
    return SYM_NONE;
}

static void sort_labels(const struct symtab *syms, struct sym_pair *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && span_cmp(sym_text(syms, items[k].key),
                                               sym_text(syms, items[k - 1].key)) < 0;
             k--) {
            struct sym_pair swap = items[k];
            items[k] = items[k - 1];
            items[k - 1] = swap;
        }
}

struct sym_pairs pool_node_labels(struct arena *a, struct symtab *syms, struct syms well_known,
                                  struct sym_pairs labels, const struct requirements *r)
{
    struct sym_pair *items = ARENA_ARRAY(a, struct sym_pair, (size_t)labels.count + r->count);
    uint32_t n = labels.count;
    memcpy(items, labels.items, n * sizeof(*items));
    for (uint32_t i = 0; i < r->count; i++) {
        sym key = r->items[i].key;
        if (syms_has(well_known, key) || key == SYM_HOSTNAME || key == SYM_REGISTERED ||
            key == SYM_INITIALIZED || sym_pairs_get(labels, key) != SYM_NONE)
            continue;
        sym value = pool_label_value(a, syms, &r->items[i]);
        if (value != SYM_NONE)
            items[n++] = (struct sym_pair){key, value};
    }
    sort_labels(syms, items, n);
    return (struct sym_pairs){items, n};
}

bool pool_is_usable(const struct node_pool *p, bool ready_when_unstated)
{
    const struct condition *ready = conditions_find(p->conditions, SPAN("Ready"));
    if (p->meta.deleted != 0)
        return false;
    if (p->meta.excess != SYM_NONE)
        return false;
    if (ready == NULL)
        return ready_when_unstated;
    return ready->status == CONDITION_TRUE &&
           (ready_when_unstated || ready->observed_generation == p->meta.generation);
}

double pool_cheapest(const struct requirements *r, struct span pool, const struct catalogue *types,
                     const struct symtab *syms, const struct instance_type **type_out)
{
    double best = NAN;
    for (uint32_t i = 0; i < types->count; i++) {
        const struct instance_type *t = &types->items[i];
        if (!instance_type_offered(t, pool) || !requirements_intersect(&t->requirements, r, syms, NULL))
            continue;
        for (uint32_t o = 0; o < t->offering_count; o++) {
            const struct offering *offer = &t->offerings[o];
            if (!offering_launchable(offer, syms) || offer->price >= best ||
                !requirements_compatible(r, &offer->requirements, types->well_known, syms, NULL,
                                         NULL))
                continue;
            best = offer->price;
            *type_out = t;
        }
    }
    return best;
}
