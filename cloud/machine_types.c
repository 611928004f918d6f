#include "cloud/machine_types.h"

#include <stdlib.h>

#include "base/safe_text.h"
#include "cloud/catalogue.h"
#include "cloud/groups/cluster_api_shape.h"

static const struct span restricted_domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT(MACHINE_CLASS_GROUP)};

struct entry { /* a type being made */
    struct instance_type type;
    sym name;
    const struct machine_offer **of; /* one for each offering */
    uint32_t count, capacity;
};

struct making {
    struct arena *a;
    const struct machine_supply *from;
    struct symtab *syms;
    machine_aside *aside;
    void *user;
    const struct machine_group *now; /* for asides */
    struct machine_offer *shapes;
    uint32_t shape_count;
    struct syms keys; /* all labels that any of them has */
    uint32_t key_capacity;
    struct entry *made;
    uint32_t made_count, made_capacity;
};

bool machine_class_serves(const struct node_class_ref *ref)
{
    return span_eq(ref->kind, SPAN(MACHINE_CLASS_KIND)) && span_eq(ref->group, SPAN(MACHINE_CLASS_GROUP));
}

/* ---- a MachineDeployment ---- */

static void tell(void *user, struct span text)
{
    struct making *m = user;
    if (m->aside != NULL)
        m->aside(m->user, arena_printf(m->a, "MachineDeployment %.*s/%.*s: %.*s", SPAN_ARG(m->now->meta.ns),
                                       SPAN_ARG(m->now->meta.name), SPAN_ARG(text)));
}

static bool is_member(const struct machine_supply *from, const struct machine_group *g)
{
    sym label = sym_find(from->syms, SPAN(MACHINE_MEMBER_LABEL));
    return label != SYM_NONE && sym_pairs_get(g->meta.labels, label) != SYM_NONE && g->meta.deleted == 0 &&
           capi_annotation(g, from->syms, SPAN("cluster.x-k8s.io/paused")).ptr == NULL;
}

/* What the list says of a type of this name: in this zone, else in any. */
static bool listed_price(const struct making *m, const struct machine_offer *s, double *out)
{
    const struct catalogue *list = m->from->prices;
    const struct symtab *syms = m->from->price_syms;
    bool found = false;
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const struct instance_type *t = &list->items[i];
        if (!span_eq(t->name, sym_text(m->syms, s->name)))
            continue;
        for (uint32_t o = 0; o < t->offering_count; o++) {
            const struct requirement *zone = requirements_get(&t->offerings[o].requirements, SYM_ZONE);
            const struct requirement *kind = requirements_get(&t->offerings[o].requirements, SYM_CAPACITY_TYPE);
            sym here = sym_find(syms, sym_text(m->syms, s->zone)), how = sym_find(syms, sym_text(m->syms, s->capacity_type));
            if (kind != NULL && (how == SYM_NONE || !requirement_has(kind, how, syms)))
                continue;
            bool exact = zone == NULL || (here != SYM_NONE && requirement_has(zone, here, syms));
            if (exact || !found)
                *out = t->offerings[o].price;
            if (exact)
                return true;
            found = true;
        }
    }
    return found;
}

static bool read_price(struct making *m, struct machine_offer *s)
{
    struct span text = capi_annotation(s->group, m->from->syms, SPAN(MACHINE_PRICE_KEY));
    if (text.ptr == NULL) {
        if (!listed_price(m, s, &s->price))
            s->price = catalogue_builtin_price((double)resources_get(s->node->capacity, SYM_CPU) / 1000,
                                               (double)resources_get(s->node->capacity, SYM_MEMORY));
        return true;
    }
    if (node_group_price(text, &s->price))
        return true;
    tell(m, arena_printf(m->a, "annotation %s: \"%.*s\" is no price; write dollars an hour, like 0.0932", MACHINE_PRICE_KEY,
                         SPAN_ARG(safe_value(m->a, text))));
    return false;
}

static bool read_room(struct making *m, struct machine_offer *s)
{
    int32_t min, max;
    struct err err;
    s->available = true;
    if (capi_annotation(s->group, m->from->syms, SPAN(CAPI_MAX_KEY)).ptr == NULL)
        return true;
    if (!capi_bounds(s->group, m->from->syms, &min, &max, &err)) {
        tell(m, span_of(err.msg));
        return false;
    }
    s->available = s->group->replicas < max || (m->from->spare != NULL && m->from->spare(m->from->spare_user, s->group));
    return true;
}

static sym label_or(const struct machine_offer *s, sym key, sym otherwise)
{
    sym value = sym_pairs_get(s->node->meta.labels, key);
    return value != SYM_NONE ? value : otherwise;
}

static bool read_shape(struct making *m, struct machine_offer *s)
{
    struct span arch = m->from->default_arch.len != 0 ? m->from->default_arch : SPAN("amd64");
    struct capi_telling t = {m->a, m->from->syms, m->syms, s->group, arch, tell, m};
    m->now = s->group;
    s->node = capi_template(&t);
    if (s->node == NULL) {
        tell(m, SPAN("it does not say what a machine is; write the annotations capacity.cluster-autoscaler.kubernetes.io/cpu and "
                     "capacity.cluster-autoscaler.kubernetes.io/memory"));
        return false;
    }
    s->name = label_or(s, SYM_INSTANCE_TYPE, sym_intern(m->syms, s->group->meta.name));
    s->zone = label_or(s, SYM_ZONE, SYM_EMPTY);
    s->capacity_type = label_or(s, SYM_CAPACITY_TYPE, SYM_ON_DEMAND);
    return read_room(m, s) && read_price(m, s);
}

static void note_keys(struct making *m, const struct machine_offer *s)
{
    for (uint32_t i = 0; i < s->node->meta.labels.count; i++) {
        sym key = requirement_key(m->syms, s->node->meta.labels.items[i].key);
        if (!syms_has(m->keys, key))
            ARENA_PUSH(m->a, m->keys.items, m->keys.count, m->key_capacity, key);
    }
}

static void read_shapes(struct making *m)
{
    m->shapes = ARENA_ARRAY(m->a, struct machine_offer, m->from->deployment_count);
    for (size_t i = 0; i < m->from->deployment_count; i++) {
        struct machine_offer s = {.group = m->from->deployments[i]};
        if (!is_member(m->from, s.group) || !read_shape(m, &s))
            continue;
        note_keys(m, &s);
        m->shapes[m->shape_count++] = s;
    }
}

/* ---- a type ---- */

static bool is_of_place(sym key)
{
    return key == SYM_ZONE || key == SYM_CAPACITY_TYPE || key == SYM_INSTANCE_TYPE;
}

static bool same_resources(struct resources x, struct resources y)
{
    for (uint32_t i = 0; i < x.count; i++)
        if (resources_get(y, x.items[i].name) != x.items[i].value)
            return false;
    return x.count == y.count;
}

static bool same_labels(const struct making *m, const struct node *x, const struct node *y)
{
    for (uint32_t i = 0; i < m->keys.count; i++)
        if (!is_of_place(m->keys.items[i]) &&
            sym_pairs_get(x->meta.labels, m->keys.items[i]) != sym_pairs_get(y->meta.labels, m->keys.items[i]))
            return false;
    return true;
}

static void add_requirement(struct making *m, struct requirements *to, sym key, enum op op, const sym *values, uint32_t count)
{
    struct expression e = {.key = key, .op = op, .op_text = span_of(op_name(op))};
    e.values.items = ARENA_ARRAY(m->a, sym, count);
    for (uint32_t i = 0; i < count; i++)
        if (!syms_has(e.values, values[i]))
            e.values.items[e.values.count++] = values[i];
    struct requirement r = requirement_of(m->a, m->syms, &e);
    requirements_add(m->a, to, &r, m->syms);
}

static struct requirements requirements_of_entry(struct making *m, const struct entry *e)
{
    struct requirements out = {0};
    sym *zones = ARENA_ARRAY(m->a, sym, e->count), *kinds = ARENA_ARRAY(m->a, sym, e->count);
    for (uint32_t i = 0; i < e->count; i++) {
        zones[i] = e->of[i]->zone;
        kinds[i] = e->of[i]->capacity_type;
    }
    add_requirement(m, &out, SYM_INSTANCE_TYPE, OP_IN, &e->name, 1);
    add_requirement(m, &out, SYM_ZONE, OP_IN, zones, e->count);
    add_requirement(m, &out, SYM_CAPACITY_TYPE, OP_IN, kinds, e->count);
    for (uint32_t i = 0; i < m->keys.count; i++) {
        sym key = m->keys.items[i], value = sym_pairs_get(e->of[0]->node->meta.labels, key);
        if (!is_of_place(key))
            add_requirement(m, &out, key, value != SYM_NONE ? OP_IN : OP_DOES_NOT_EXIST, &value, value != SYM_NONE);
    }
    return out;
}

static void make_type(struct making *m, struct entry *e, struct span pool)
{
    struct instance_type t = {.name = sym_text(m->syms, e->name),
                              .name_sym = e->name,
                              .requirements = requirements_of_entry(m, e),
                              .capacity = e->of[0]->node->capacity,
                              .offerings = ARENA_ARRAY(m->a, struct offering, e->count),
                              .offering_count = e->count,
                              .node_pools = {ARENA_NEW(m->a, struct span), 1}};
    t.node_pools.items[0] = arena_dup(m->a, pool);
    for (uint32_t i = 0; i < e->count; i++) {
        struct offering *o = &t.offerings[i];
        add_requirement(m, &o->requirements, SYM_ZONE, OP_IN, &e->of[i]->zone, 1);
        add_requirement(m, &o->requirements, SYM_CAPACITY_TYPE, OP_IN, &e->of[i]->capacity_type, 1);
        o->price = e->of[i]->price;
        o->available = e->of[i]->available;
    }
    instance_type_finish(m->a, &t, m->syms);
    e->type = t;
    ARENA_PUSH(m->a, m->made, m->made_count, m->made_capacity, *e);
}

/* ---- a pool ---- */

static const struct cluster_api_node_class *class_of(const struct machine_supply *from, const struct node_pool *pool)
{
    for (size_t i = 0; i < from->class_count && machine_class_serves(&pool->node_class); i++)
        if (span_eq(from->classes[i]->meta.name, pool->node_class.name))
            return from->classes[i];
    return NULL;
}

static bool states(const struct making *m, struct taints of_pool, const struct taint *t)
{
    for (uint32_t i = 0; i < of_pool.count; i++)
        if (of_pool.items[i].effect == t->effect &&
            span_eq(sym_text(m->from->syms, of_pool.items[i].key), sym_text(m->syms, t->key)))
            return true;
    return false;
}

/* Pods are planned by the pool's taints. Of what goes again before pods come nothing need be said. */
static bool taints_are_stated(const struct making *m, const struct node_pool *pool, const struct machine_offer *s)
{
    for (uint32_t i = 0; i < s->node->taints.count; i++) {
        const struct taint *t = &s->node->taints.items[i];
        if (t->effect != TAINT_PREFER_NO_SCHEDULE && t->key != SYM_UNREGISTERED && !states(m, pool->taints, t) &&
            !states(m, pool->startup_taints, t))
            return false;
    }
    return true;
}

/* The entry that takes it; NULL: none of this name is alike. */
static struct entry *entry_for(const struct making *m, struct entry *list, uint32_t count, const struct machine_offer *s, sym *name_out)
{
    *name_out = s->name;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].name != s->name)
            continue;
        const struct node *n = list[i].of[0]->node;
        if (same_labels(m, n, s->node) && same_resources(n->capacity, s->node->capacity))
            return &list[i];
        *name_out = sym_intern(m->syms, s->group->meta.name);
    }
    return NULL;
}

static void make_pool(struct making *m, const struct node_pool *pool, const struct cluster_api_node_class *class)
{
    struct entry *list = ARENA_ARRAY(m->a, struct entry, m->shape_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->shape_count; i++) {
        const struct machine_offer *s = &m->shapes[i];
        sym name;
        if (!label_selector_matches(&class->selector, s->group->meta.labels) || !taints_are_stated(m, pool, s))
            continue;
        struct entry *e = entry_for(m, list, count, s, &name);
        if (e == NULL) {
            e = &list[count++];
            *e = (struct entry){.name = name};
        }
        ARENA_PUSH(m->a, e->of, e->count, e->capacity, s);
    }
    for (uint32_t i = 0; i < count; i++)
        make_type(m, &list[i], pool->meta.name);
}

/* ---- all ---- */

static int by_name(const void *x, const void *y)
{
    const struct instance_type *a = &((const struct entry *)x)->type, *b = &((const struct entry *)y)->type;
    int order = span_cmp(a->name, b->name);
    return order != 0 ? order : span_cmp(a->node_pools.items[0], b->node_pools.items[0]);
}

static int by_number(const void *x, const void *y)
{
    sym a = *(const sym *)x, b = *(const sym *)y;
    return (a > b) - (a < b);
}

static struct syms well_known(const struct making *m)
{
    static const sym core[] = {SYM_NODEPOOL, SYM_ZONE, SYM_REGION,        SYM_INSTANCE_TYPE,
                               SYM_ARCH,     SYM_OS,   SYM_CAPACITY_TYPE, SYM_WINDOWS_BUILD};
    struct syms out = {ARENA_ARRAY(m->a, sym, COUNT_OF(core) + m->keys.count), 0};
    for (size_t i = 0; i < COUNT_OF(core); i++)
        out.items[out.count++] = core[i];
    for (uint32_t i = 0; i < m->keys.count; i++)
        if (!syms_has(out, m->keys.items[i]))
            out.items[out.count++] = m->keys.items[i];
    qsort(out.items, out.count, sizeof(sym), by_number);
    return out;
}

void machine_types(struct arena *a, const struct machine_supply *from, struct symtab *syms, machine_aside *aside, void *user,
                   struct catalogue *out, const struct machine_offer *const *const **offers_out)
{
    struct making m = {.a = a, .from = from, .syms = syms, .aside = aside, .user = user};
    read_shapes(&m);
    for (size_t i = 0; i < from->pool_count; i++) {
        const struct cluster_api_node_class *class = class_of(from, from->pools[i]);
        if (class != NULL)
            make_pool(&m, from->pools[i], class);
    }
    if (m.made_count != 0)
        qsort(m.made, m.made_count, sizeof(*m.made), by_name);
    struct instance_type *types = ARENA_ARRAY(a, struct instance_type, m.made_count);
    const struct machine_offer *const **offers = ARENA_ARRAY(a, const struct machine_offer *const *, m.made_count);
    for (uint32_t i = 0; i < m.made_count; i++) {
        types[i] = m.made[i].type;
        offers[i] = m.made[i].of;
    }
    if (offers_out != NULL)
        *offers_out = offers;
    *out = (struct catalogue){.name = SPAN("the MachineDeployments of Cluster API"),
                              .items = types,
                              .count = m.made_count,
                              .well_known = well_known(&m),
                              .domains = restricted_domains,
                              .domain_count = COUNT_OF(restricted_domains)};
}
