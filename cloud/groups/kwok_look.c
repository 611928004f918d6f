/* What there is: the Nodes of a snapshot, and beside them the rows of what it does not show yet. */
#include <stdlib.h>

#include "cloud/groups/kwok_inner.h"

struct member { /* a Node that is a machine */
    struct span group;
    const struct node *node;
};

struct members {
    struct member *items;
    uint32_t count, capacity;
};

struct looking {
    struct kwok_groups *k;
    const struct snapshot *s;
    struct arena *a; /* of what is told */
    struct symtab *syms;
    struct members machines, templates;
    uint64_t newest; /* version of a Node */
};

static int by_group_and_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = span_cmp(x->group, y->group);
    return order != 0 ? order : span_cmp(x->node->meta.name, y->node->meta.name);
}

static void sort(struct members *m)
{
    if (m->count != 0)
        qsort(m->items, m->count, sizeof(m->items[0]), by_group_and_name);
}

static void read_nodes(struct looking *l)
{
    const struct node *n;
    struct arena *a = &l->k->look_arena;
    struct snapshot_iter it = snapshot_each(l->s, KIND_NODE);
    while ((n = snapshot_next(&it)) != NULL) {
        struct member m = {kwok_group_of(&l->k->options.config, n, l->s->syms), n};
        l->newest = n->meta.resource_version > l->newest ? n->meta.resource_version : l->newest;
        if (m.group.len == 0)
            continue;
        if (kwok_is_machine(n, l->s->syms))
            ARENA_PUSH(a, l->machines.items, l->machines.count, l->machines.capacity, m);
        if (l->k->options.config.from_cluster)
            ARENA_PUSH(a, l->templates.items, l->templates.count, l->templates.capacity, m);
    }
    sort(&l->machines);
    sort(&l->templates);
}

/* The first Node by name that is of a group nobody knows makes it. */
static void learn_groups(struct looking *l)
{
    for (uint32_t i = 0; i < l->templates.count; i++) {
        const struct member *m = &l->templates.items[i];
        struct kwok_shape shape;
        if ((i != 0 && span_eq(m->group, m[-1].group)) || kwok_group_find(l->k, m->group) != NULL)
            continue;
        struct kwok_asides told = {0};
        if (kwok_shape_of_node(&l->k->arena, l->k->syms, &l->k->options.config, m->node, l->s->syms, &shape, &told))
            kwok_group_add(l->k, &shape);
        else
            ARENA_PUSH(&l->k->look_arena, l->k->look_asides.items, l->k->look_asides.count, l->k->look_asides.capacity,
                       told.items[0]);
    }
}

static int by_name(const void *key, const void *member)
{
    const struct span *name = key;
    return span_cmp(*name, ((const struct member *)member)->node->meta.name);
}

/* What the snapshot says of the rows; those of which it says all go. */
static void match_rows(struct looking *l, struct kwok_group *g, const struct member *nodes, uint32_t count)
{
    struct row *next;
    for (struct row *r = g->rows; r != NULL; r = next) {
        const struct member *m = count != 0 ? bsearch(&r->name, nodes, count, sizeof(*nodes), by_name) : NULL;
        bool overtaken = r->version == 0 || l->newest >= r->version;
        next = r->next;
        r->node = m != NULL ? m->node : NULL;
        switch (r->state) {
        case ROW_MADE:
            if (m != NULL || overtaken)
                row_drop(g, r);
            break;
        case ROW_GONE:
            if (m != NULL ? !span_eq(m->node->meta.uid, r->uid) : overtaken)
                row_drop(g, r);
            break;
        default:
            break;
        }
    }
}

static const struct row *row_of(const struct kwok_group *g, const struct node *n)
{
    const struct row *r = g->rows;
    while (r != NULL && r->node != n)
        r = r->next;
    return r;
}

static void note_ordinal(struct kwok_group *g, const struct node *n)
{
    uint32_t ordinal;
    if (!kwok_node_ordinal(g->shape.group, n->meta.name, &ordinal))
        return;
    if (g->ordinal_count == g->ordinal_capacity) {
        g->ordinal_capacity = g->ordinal_capacity != 0 ? g->ordinal_capacity * 2 : 16;
        g->ordinals = mem_grow(g->ordinals, g->ordinal_capacity, sizeof(uint32_t));
    }
    g->ordinals[g->ordinal_count++] = ordinal;
}

static struct group_machine machine_of_row(struct arena *a, const struct row *r)
{
    struct group_machine m = {.id = arena_printf(a, KWOK_ID_PREFIX "%.*s", SPAN_ARG(r->name)),
                              .state = row_counts(r) ? INSTANCE_CREATING : INSTANCE_DELETING};
    if (r->state == ROW_BROKEN)
        m.error = r->error;
    return m;
}

static uint32_t count_rows(const struct kwok_group *g)
{
    uint32_t n = 0;
    for (const struct row *r = g->rows; r != NULL; r = r->next)
        n++;
    return n;
}

static void tell_machines(struct looking *l, struct kwok_group *g, const struct member *nodes, uint32_t count,
                          struct node_group *out)
{
    out->machines.items = ARENA_ARRAY(l->a, struct group_machine, (size_t)count + count_rows(g));
    out->nodes.items = ARENA_ARRAY(l->a, struct span, count);
    g->ordinal_count = 0;
    g->target = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct node *n = nodes[i].node;
        const struct row *r = g->rows != NULL ? row_of(g, n) : NULL;
        bool goes = n->meta.deleted != 0 || (r != NULL && !row_counts(r));
        out->nodes.items[out->nodes.count++] = arena_dup(l->a, n->meta.name);
        out->machines.items[out->machines.count++] = (struct group_machine){
            .id = arena_dup(l->a, n->provider_id), .state = goes ? INSTANCE_DELETING : INSTANCE_RUNNING};
        g->target += !goes;
        note_ordinal(g, n);
    }
    for (const struct row *r = g->rows; r != NULL; r = r->next) {
        if (r->node == NULL && r->state != ROW_NEVER_MADE)
            out->machines.items[out->machines.count++] = machine_of_row(l->a, r);
        g->target += r->node == NULL && row_counts(r);
    }
    g->looked_at = true;
}

static struct node *template_of(struct looking *l, const struct kwok_shape *shape)
{
    size_t size;
    void *moved = schema_pack(&node_schema, shape->node, 0, l->k->syms, l->syms, &size);
    struct node *n = schema_copy(l->a, &node_schema, moved);
    free(moved);
    amount *cpu = resources_at(l->a, &n->allocatable, SYM_CPU);
    *cpu = *cpu > GROUP_KUBE_PROXY_MILLICPU ? *cpu - GROUP_KUBE_PROXY_MILLICPU : 0;
    return n;
}

static void tell_group(struct looking *l, struct kwok_group *g, struct node_group *out)
{
    uint32_t low = 0, high = l->machines.count, end;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(l->machines.items[mid].group, g->shape.group) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (end = low; end < l->machines.count && span_eq(l->machines.items[end].group, g->shape.group);)
        end++;
    const struct member *nodes = end != low ? &l->machines.items[low] : NULL;
    match_rows(l, g, nodes, end - low);
    *out = (struct node_group){.name = arena_dup(l->a, g->shape.group), .min = g->shape.min, .max = g->shape.max,
                               .has_price = g->shape.has_price, .price = g->shape.price,
                               .has_target = true, .has_machines = true, .template = template_of(l, &g->shape)};
    tell_machines(l, g, nodes, end - low, out);
    out->target = g->target;
}

bool kwok_groups_look(struct group_provider *p, const struct snapshot *s, struct arena *a, struct symtab *syms,
                      struct node_groups *out, struct err *err)
{
    struct kwok_groups *k = kwok_groups_of(p);
    struct looking l = {.k = k, .s = s, .a = a, .syms = syms};
    struct group_kwok_config *config = &k->options.config;
    *out = (struct node_groups){0};
    if (!kwok_maps_read(k, err))
        return false;
    arena_clear(&k->look_arena);
    k->look_asides = (struct kwok_asides){0};
    read_nodes(&l);
    pthread_mutex_lock(&k->operations.lock);
    learn_groups(&l);
    out->groups.items = ARENA_ARRAY(a, struct node_group, k->group_count);
    for (uint32_t i = 0; i < k->group_count; i++)
        tell_group(&l, k->groups[i], &out->groups.items[out->groups.count++]);
    pthread_mutex_unlock(&k->operations.lock);
    out->gpu_label = config->gpu_label.len != 0 ? sym_intern(syms, config->gpu_label) : SYM_NONE;
    return true;
}
