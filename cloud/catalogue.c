/* From text to the planner's form. What kwok derives from a type's name and resources is filled in
 * once, in catalogue_source_finish, so that building only interns. */
#include "cloud/catalogue.h"

#include <stdlib.h>

#include "cloud/catalogue_source.h"

static const struct span restricted_domains[] = {SPAN_INIT("karpenter.sh"),
                                                 SPAN_INIT("karpenter.kwok.sh")};
static const struct span KWOK_DEFAULT_PODS = SPAN_INIT("110");
static const struct span KWOK_RESERVED_CPU = SPAN_INIT("100m");
static const struct span KWOK_RESERVED_MEMORY = SPAN_INIT("10Mi");

struct catalogue_source *catalogue_source_new(void)
{
    struct catalogue_source *s = mem_new(sizeof(*s));
    arena_init(&s->arena, 64 << 10);
    return s;
}

void catalogue_source_free(struct catalogue_source *s)
{
    if (s == NULL)
        return;
    arena_release(&s->arena);
    free(s);
}

/* ---- what is derived for entries of kwok's form ---- */

static int32_t scale_of(struct span resource)
{
    return span_eq(resource, SPAN("cpu")) ? 1000 : 1;
}

static struct span amount_text(const struct source_amounts *amounts, struct span name)
{
    for (uint32_t i = 0; i < amounts->count; i++)
        if (span_eq(amounts->items[i].name, name))
            return amounts->items[i].quantity;
    return (struct span){0};
}

/* The canonical text of a quantity; what it cannot read it leaves, decoding has told. */
static struct span canonical(struct arena *a, struct span resource, struct span quantity)
{
    amount value;
    struct err err;
    if (!quantity_parse(quantity, scale_of(resource), &value, &err))
        return quantity;
    return quantity_text(a, resource, value);
}

static bool all_digits(struct span s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return true;
}

static bool all_word(struct span s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '_'))
            return false;
    }
    return s.len != 0;
}

/* ^\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)$, else absent. */
static struct span size_of_name(struct span name)
{
    static const char *const sizes[] = {"nano", "micro", "small", "medium", "large", "metal"};
    struct span rest, family = span_cut(name, '.', &rest);
    if (rest.ptr == NULL || !all_word(family))
        return (struct span){0};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (span_eq(rest, span_of(sizes[i])))
            return rest;
    struct span number = {rest.ptr, rest.len - (rest.len < 6 ? rest.len : 6)};
    return span_has_suffix(rest, SPAN("xlarge")) && all_digits(number) ? rest : (struct span){0};
}

static struct span family_of_name(struct span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.' || name.ptr[i] == '-')
            return (struct span){name.ptr, i};
    return (struct span){name.ptr, name.len != 0 ? 1 : 0};
}

static void require(struct arena *a, struct source_type *t, uint32_t *capacity, struct span key,
                    struct spans values)
{
    struct source_requirement r = {.key = key, .op = OP_IN, .values = values};
    ARENA_PUSH(a, t->requirements.items, t->requirements.count, *capacity, r);
}

static void require_one(struct arena *a, struct source_type *t, uint32_t *capacity, sym key,
                        struct span value)
{
    struct span *v = ARENA_NEW(a, struct span);
    *v = value;
    require(a, t, capacity, wellknown_text[key - 1], (struct spans){v, 1});
}

/* The values that the offerings have for a key, each once, in their order. */
static struct spans values_offered(struct arena *a, const struct source_type *t, struct span key)
{
    struct spans all = {0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < t->offerings.count; i++) {
        const struct source_requirements *r = &t->offerings.items[i].requirements;
        for (uint32_t k = 0; k < r->count; k++) {
            if (!span_eq(r->items[k].key, key) || r->items[k].values.count == 0)
                continue;
            struct span value = r->items[k].values.items[0];
            bool known = false;
            for (uint32_t v = 0; v < all.count && !known; v++)
                known = span_eq(all.items[v], value);
            if (!known)
                ARENA_PUSH(a, all.items, all.count, capacity, value);
        }
    }
    return all;
}

static void add_amount(struct arena *a, struct source_amounts *to, struct span name,
                       struct span quantity)
{
    struct source_amount *items = ARENA_ARRAY(a, struct source_amount, to->count + 1);
    if (to->count != 0)
        memcpy(items, to->items, to->count * sizeof(*items));
    items[to->count] = (struct source_amount){name, quantity};
    *to = (struct source_amounts){items, to->count + 1};
}

static void derive(struct arena *a, struct source_type *t)
{
    uint32_t capacity = 0;
    struct span zone = wellknown_text[SYM_ZONE - 1];
    struct span capacity_type = wellknown_text[SYM_CAPACITY_TYPE - 1];
    struct span cpu = canonical(a, SPAN("cpu"), amount_text(&t->resources, SPAN("cpu")));
    struct span memory = canonical(a, SPAN("memory"), amount_text(&t->resources, SPAN("memory")));
    struct span size = size_of_name(t->name);
    t->requirements = (struct source_requirements){0};
    require_one(a, t, &capacity, SYM_INSTANCE_TYPE, t->name);
    require_one(a, t, &capacity, SYM_ARCH, t->architecture);
    require(a, t, &capacity, wellknown_text[SYM_OS - 1], t->operating_systems);
    require(a, t, &capacity, zone, values_offered(a, t, zone));
    require(a, t, &capacity, capacity_type, values_offered(a, t, capacity_type));
    require_one(a, t, &capacity, SYM_KWOK_SIZE, size.ptr != NULL ? size : cpu);
    require_one(a, t, &capacity, SYM_KWOK_FAMILY, family_of_name(t->name));
    require_one(a, t, &capacity, SYM_KWOK_CPU, cpu);
    require_one(a, t, &capacity, SYM_KWOK_MEMORY, memory);
    if (amount_text(&t->resources, SPAN("pods")).ptr == NULL)
        add_amount(a, &t->resources, SPAN("pods"), KWOK_DEFAULT_PODS);
    t->overhead = (struct source_overhead){0};
    add_amount(a, &t->overhead.kube_reserved, SPAN("cpu"), KWOK_RESERVED_CPU);
    add_amount(a, &t->overhead.kube_reserved, SPAN("memory"), KWOK_RESERVED_MEMORY);
    for (uint32_t i = 0; i < t->offerings.count; i++) {
        struct source_offering *o = &t->offerings.items[i];
        o->available = true;
        o->has_capacity_override = o->has_overhead_override = false;
    }
}

/* The nine keys of kwok, and those of offerings of its form. */
static void make_well_known(struct catalogue_source *s)
{
    static const sym labels[] = {SYM_KWOK_SIZE, SYM_KWOK_FAMILY, SYM_KWOK_CPU, SYM_KWOK_MEMORY};
    struct spans all = {0};
    uint32_t capacity = 0;
    bool any = false;
    for (uint32_t i = 0; i < s->well_known.count; i++)
        ARENA_PUSH(&s->arena, all.items, all.count, capacity, s->well_known.items[i]);
    for (uint32_t t = 0; t < s->count; t++) {
        if (s->types[t].explicit_form)
            continue;
        any = true;
        for (uint32_t o = 0; o < s->types[t].offerings.count; o++) {
            const struct source_requirements *r = &s->types[t].offerings.items[o].requirements;
            for (uint32_t k = 0; k < r->count; k++) {
                bool known = false;
                for (uint32_t w = 0; w < all.count && !known; w++)
                    known = span_eq(all.items[w], r->items[k].key);
                if (!known)
                    ARENA_PUSH(&s->arena, all.items, all.count, capacity, r->items[k].key);
            }
        }
    }
    if (s->reservation_id_label.len != 0) /* every reserved offering says it, no pool has to */
        ARENA_PUSH(&s->arena, all.items, all.count, capacity, s->reservation_id_label);
    for (size_t i = 0; i < COUNT_OF(labels) && any; i++)
        ARENA_PUSH(&s->arena, all.items, all.count, capacity, wellknown_text[labels[i] - 1]);
    s->well_known = all;
}

static struct source_type *merge(struct arena *a, struct source_type *x, uint32_t xn,
                                 struct source_type *y, uint32_t yn)
{
    struct source_type *out = ARENA_ARRAY(a, struct source_type, (size_t)xn + yn);
    uint32_t i = 0, j = 0;
    while (i < xn || j < yn)
        if (j == yn || (i < xn && span_cmp(x[i].name, y[j].name) <= 0))
            out[i + j] = x[i], i++;
        else
            out[i + j] = y[j], j++;
    return out;
}

static struct source_type *sorted(struct arena *a, struct source_type *t, uint32_t n)
{
    if (n < 2)
        return t;
    uint32_t half = n / 2;
    return merge(a, sorted(a, t, half), half, sorted(a, t + half, n - half), n - half);
}

void catalogue_source_finish(struct catalogue_source *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->types[i].explicit_form)
            derive(&s->arena, &s->types[i]);
    make_well_known(s);
    struct arena scratch;
    arena_init(&scratch, 0);
    struct source_type *order = sorted(&scratch, s->types, s->count);
    if (s->count != 0 && order != s->types)
        memcpy(s->types, order, s->count * sizeof(*s->types));
    arena_release(&scratch);
}

/* ---- building ---- */

static struct requirements build_requirements(struct arena *a, struct symtab *syms,
                                              const struct source_requirements *from)
{
    struct requirement *items = ARENA_ARRAY(a, struct requirement, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        const struct source_requirement *r = &from->items[i];
        struct expression e = {.key = sym_intern(syms, r->key),
                               .op = r->op,
                               .op_text = r->op_text,
                               .min_values = r->min_values};
        e.values.items = ARENA_ARRAY(a, sym, r->values.count);
        e.values.count = r->values.count;
        for (uint32_t v = 0; v < r->values.count; v++)
            e.values.items[v] = sym_intern(syms, r->values.items[v]);
        items[i] = requirement_of(a, syms, &e);
    }
    return requirements_of_list(a, items, from->count, syms);
}

static struct resources build_resources(struct arena *a, struct symtab *syms,
                                        const struct source_amounts *from)
{
    struct resources out = {0};
    for (uint32_t i = 0; i < from->count; i++) {
        amount value = 0;
        struct err err;
        if (quantity_parse(from->items[i].quantity, scale_of(from->items[i].name), &value, &err))
            *resources_at(a, &out, sym_intern(syms, from->items[i].name)) = value;
    }
    return out;
}

static struct resources build_overhead(struct arena *a, struct symtab *syms,
                                       const struct source_overhead *from)
{
    struct resources out = build_resources(a, syms, &from->kube_reserved);
    resources_add(a, &out, build_resources(a, syms, &from->system_reserved));
    resources_add(a, &out, build_resources(a, syms, &from->eviction_threshold));
    return out;
}

static void build_offerings(struct arena *a, struct symtab *syms, const struct source_type *from,
                            struct instance_type *t)
{
    t->offering_count = from->offerings.count;
    t->offerings = ARENA_ARRAY(a, struct offering, t->offering_count);
    for (uint32_t i = 0; i < t->offering_count; i++) {
        const struct source_offering *o = &from->offerings.items[i];
        t->offerings[i] =
            (struct offering){.requirements = build_requirements(a, syms, &o->requirements),
                              .price = o->price,
                              .available = o->available,
                              .reservation_capacity = o->reservation_capacity,
                              .has_capacity_override = o->has_capacity_override,
                              .has_overhead_override = o->has_overhead_override};
        if (o->has_capacity_override)
            t->offerings[i].capacity_override = build_resources(a, syms, &o->capacity_override);
        if (o->has_overhead_override)
            t->offerings[i].overhead_override = build_overhead(a, syms, &o->overhead_override);
    }
}

static void build_type(struct arena *a, struct symtab *syms, const struct source_type *from,
                       struct instance_type *t)
{
    t->name = from->name;
    t->name_sym = sym_intern(syms, from->name);
    t->name = sym_text(syms, t->name_sym); /* lives with the table, as all else does */
    t->requirements = build_requirements(a, syms, &from->requirements);
    t->capacity = build_resources(a, syms, &from->resources);
    t->overhead = build_overhead(a, syms, &from->overhead);
    build_offerings(a, syms, from, t);
    t->volume_limit_count = from->volume_limits.count;
    t->volume_limits = ARENA_ARRAY(a, struct volume_limit, t->volume_limit_count);
    for (uint32_t i = 0; i < t->volume_limit_count; i++) {
        const struct source_amount *l = &from->volume_limits.items[i];
        t->volume_limits[i].driver = sym_intern(syms, l->name);
        span_int64(l->quantity, &t->volume_limits[i].count);
    }
    t->node_pools.count = from->node_pools.count;
    t->node_pools.items = ARENA_ARRAY(a, struct span, t->node_pools.count);
    for (uint32_t i = 0; i < t->node_pools.count; i++)
        t->node_pools.items[i] = arena_dup(a, from->node_pools.items[i]);
    instance_type_finish(a, t, syms);
}

static int compare_sym(const void *x, const void *y)
{
    sym a = *(const sym *)x, b = *(const sym *)y;
    return a < b ? -1 : a > b;
}

static struct syms build_well_known(const struct catalogue_source *s, struct arena *a,
                                    struct symtab *syms)
{
    static const sym core[] = {SYM_NODEPOOL, SYM_ZONE, SYM_REGION,        SYM_INSTANCE_TYPE,
                               SYM_ARCH,     SYM_OS,   SYM_CAPACITY_TYPE, SYM_WINDOWS_BUILD};
    struct syms out = {ARENA_ARRAY(a, sym, COUNT_OF(core) + s->well_known.count), 0};
    for (size_t i = 0; i < COUNT_OF(core); i++)
        out.items[out.count++] = core[i];
    for (uint32_t i = 0; i < s->well_known.count; i++)
        out.items[out.count++] = requirement_key(syms, sym_intern(syms, s->well_known.items[i]));
    qsort(out.items, out.count, sizeof(sym), compare_sym);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < out.count; i++)
        if (i == 0 || out.items[i] != out.items[i - 1])
            out.items[unique++] = out.items[i];
    out.count = unique;
    return out;
}

static struct syms build_syms(struct arena *a, struct symtab *syms, struct spans from)
{
    struct syms out = {ARENA_ARRAY(a, sym, from.count), from.count};
    for (uint32_t i = 0; i < from.count; i++)
        out.items[i] = sym_intern(syms, from.items[i]);
    return out;
}

void catalogue_build(const struct catalogue_source *s, struct arena *a, struct symtab *syms,
                     struct catalogue *out)
{
    bool builtin = s->name.len == 0;
    *out = (struct catalogue){.name = builtin ? SPAN("the built-in catalogue")
                                              : arena_printf(a, "catalogue %.*s", SPAN_ARG(s->name)),
                              .builtin = builtin,
                              .count = s->count,
                              .domains = restricted_domains,
                              .domain_count = COUNT_OF(restricted_domains)};
    out->items = ARENA_ARRAY(a, struct instance_type, s->count);
    for (uint32_t i = 0; i < s->count; i++)
        build_type(a, syms, &s->types[i], &out->items[i]);
    out->well_known = build_well_known(s, a, syms);
    out->reservation_id_label = arena_dup(a, s->reservation_id_label);
    out->unsupported_drivers = build_syms(a, syms, s->unsupported_drivers);
    out->unsupported_topology_keys = build_syms(a, syms, s->unsupported_topology_keys);
}

struct repair_texts catalogue_repair(const struct catalogue_source *s, struct arena *a)
{
    struct repair_texts out = {ARENA_ARRAY(a, struct repair_text, s->repair.count), s->repair.count};
    for (uint32_t i = 0; i < out.count; i++) {
        const struct repair_text *t = &s->repair.items[i];
        out.items[i] = (struct repair_text){.condition_type = arena_dup(a, t->condition_type),
                                            .condition_status = arena_dup(a, t->condition_status),
                                            .reason_regex = arena_dup(a, t->reason_regex),
                                            .toleration = arena_dup(a, t->toleration),
                                            .grace = arena_dup(a, t->grace),
                                            .action = arena_dup(a, t->action),
                                            .priority = t->priority};
    }
    return out;
}
