/* Each rule here has a sentence that names type and field, says what happens, and how to mend it. Rules of single
 * types come in the order of the file, those that compare types after them. */
#include "cloud/catalogue_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube/repair.h"

enum {
    NAMED_MAX = 5, /* labels that are told of */
    TEXT_MAX = 1024,
    LINES_MAX = 1000, /* faults with their lines, each of which is looked for */
};

struct checking {
    const struct catalogue_source *s;
    struct arena arena;
    struct symtab *syms;
    uint32_t listed, told;  /* types in the file; faults of them */
    struct doc_value item;  /* the type's, in the file */
    struct span entry;      /* its name */
    catalogue_told *tell;
    void *user;
    uint32_t unpriced_types, unpriced; /* available without a price; and their offerings */
    struct span unpriced_first;
};

__attribute__((format(printf, 4, 5))) static void say(struct checking *c, enum catalogue_level level, const char *field,
                                                      const char *format, ...)
{
    char text[TEXT_MAX];
    bool has_line = c->item.doc != NULL && c->told++ < LINES_MAX;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->tell(c->user, level, has_line ? doc_line(c->item) : 0,
            arena_printf(&c->arena, "%.*s%s%s: %s", SPAN_ARG(c->entry), c->entry.len != 0 ? ": " : "", field, text));
}

/* ---- labels ---- */

static struct expression expression_of(struct checking *c, const struct source_requirement *r)
{
    struct expression e = {.key = sym_intern(c->syms, r->key), .op = r->op, .min_values = r->min_values};
    e.values = (struct syms){ARENA_ARRAY(&c->arena, sym, r->values.count), r->values.count};
    for (uint32_t i = 0; i < r->values.count; i++)
        e.values.items[i] = sym_intern(c->syms, r->values.items[i]);
    return e;
}

static void check_requirement(struct checking *c, const struct source_requirement *r, const char *where, uint32_t index)
{
    struct expression e = expression_of(c, r);
    struct err why;
    const char *field = arena_printf(&c->arena, "%srequirements[%u]", where, index).ptr;
    if (!qualified_name_valid(r->key))
        say(c, CATALOGUE_WRONG, field, "\"%.*s\" is no label: %s", SPAN_ARG(r->key), LABEL_KEY_RULE);
    for (uint32_t i = 0; i < r->values.count; i++)
        if (!label_value_valid(r->values.items[i]))
            say(c, CATALOGUE_WRONG, field, "\"%.*s\" is no value of a label: %s", SPAN_ARG(r->values.items[i]),
                LABEL_VALUE_RULE);
    if (!expression_operands_valid(&e, c->syms, &why))
        say(c, CATALOGUE_WRONG, field, "%s", why.msg);
}

static const struct source_requirement *find(const struct source_requirements *r, sym key)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (span_eq(r->items[i].key, wellknown_text[key - 1]))
            return &r->items[i];
    return NULL;
}

static bool in_spans(const struct spans *list, struct span s)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (span_eq(list->items[i], s))
            return true;
    return false;
}

/* What an explicit type says of itself: nobody adds to it (spec plan-contract 3). */
static void check_labels(struct checking *c, const struct source_type *t)
{
    static const sym wanted[] = {SYM_INSTANCE_TYPE, SYM_ARCH, SYM_OS};
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        if (find(&t->requirements, wanted[i]) == NULL)
            say(c, CATALOGUE_WARNS, "requirements",
                "has no %.*s, so that any is taken to be met. Fix: add {\"key\": \"%.*s\", \"operator\": \"In\", \"values\": "
                "[…]}",
                SPAN_ARG(wellknown_text[wanted[i] - 1]), SPAN_ARG(wellknown_text[wanted[i] - 1]));
    const struct source_requirement *name = find(&t->requirements, SYM_INSTANCE_TYPE);
    if (name != NULL && (name->op != OP_IN || name->values.count != 1 || !span_eq(name->values.items[0], t->name)))
        say(c, CATALOGUE_WRONG, "requirements",
            "node.kubernetes.io/instance-type is not the type's name. Fix: let it be In [\"%.*s\"]", SPAN_ARG(t->name));
}

/* Of kwok's form, from which the labels are made (spec api 7.6). */
static void check_derived(struct checking *c, const struct source_type *t)
{
    if (t->architecture.len == 0)
        say(c, CATALOGUE_WRONG, "architecture", "is missing: no pool that names one gets the type. Fix: add amd64 or arm64");
    if (t->operating_systems.count == 0)
        say(c, CATALOGUE_WRONG, "operatingSystems", "is missing: no pool that names one gets the type. Fix: add [\"linux\"]");
}

/* ---- amounts ---- */

static bool amount_in(const struct source_amounts *amounts, struct span name, amount *out)
{
    struct err ignored;
    for (uint32_t i = 0; i < amounts->count; i++)
        if (span_eq(amounts->items[i].name, name))
            return quantity_parse(amounts->items[i].quantity, span_eq(name, SPAN("cpu")) ? 1000 : 1, out, &ignored);
    return false;
}

static void check_amounts(struct checking *c, const struct source_amounts *amounts, const char *field)
{
    for (uint32_t i = 0; i < amounts->count; i++) {
        amount value;
        if (amount_in(amounts, amounts->items[i].name, &value) && value < 0)
            say(c, CATALOGUE_WRONG, arena_printf(&c->arena, "%s.%.*s", field, SPAN_ARG(amounts->items[i].name)).ptr,
                "%.*s is negative", SPAN_ARG(amounts->items[i].quantity));
    }
}

static void check_overhead(struct checking *c, const struct source_overhead *o, const char *field)
{
    const struct source_amounts *parts[] = {&o->kube_reserved, &o->system_reserved, &o->eviction_threshold};
    static const char *const names[] = {"kubeReserved", "systemReserved", "evictionThreshold"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        check_amounts(c, parts[i], arena_printf(&c->arena, "%s.%s", field, names[i]).ptr);
}

/* As a sum that saturates: of two amounts that quantity_parse takes. */
static amount plus(amount a, amount b)
{
    amount sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static void check_room(struct checking *c, const struct source_type *t)
{
    static const struct {
        const char *name, *example;
    } needed[] = {{"cpu", "4"}, {"memory", "16Gi"}, {"pods", "110"}};
    const struct source_amounts *kept[] = {&t->overhead.kube_reserved, &t->overhead.system_reserved,
                                           &t->overhead.eviction_threshold};
    for (size_t i = 0; i < COUNT_OF(needed); i++) {
        struct span name = span_of(needed[i].name);
        amount has = 0, held = 0, part;
        bool said = amount_in(&t->resources, name, &has);
        if (!said && t->explicit_form)
            say(c, CATALOGUE_WRONG, "resources", "has no %s: no pod fits. Fix: add \"%s\": \"%s\" or what it is", needed[i].name,
                needed[i].name, needed[i].example);
        for (size_t k = 0; k < COUNT_OF(kept); k++)
            held = plus(held, amount_in(kept[k], name, &part) ? part : 0);
        if (said && has >= 0 && has <= held)
            say(c, CATALOGUE_WRONG, "resources", "%s of %.*s leaves nothing for pods once the overhead is taken off", needed[i].name,
                SPAN_ARG(quantity_text(&c->arena, name, has)));
    }
}

/* ---- offerings ---- */

static struct span only_value(const struct source_requirements *r, sym key)
{
    const struct source_requirement *q = find(r, key);
    return q != NULL && q->op == OP_IN && q->values.count == 1 ? q->values.items[0] : (struct span){0};
}

static const struct source_requirement *reservation_of(const struct checking *c, const struct source_offering *o)
{
    for (uint32_t i = 0; i < o->requirements.count && c->s->reservation_id_label.len != 0; i++)
        if (span_eq(o->requirements.items[i].key, c->s->reservation_id_label))
            return &o->requirements.items[i];
    return NULL;
}

static void check_place(struct checking *c, const struct source_type *t, const struct source_offering *o, const char *field)
{
    static const sym needed[] = {SYM_ZONE, SYM_CAPACITY_TYPE};
    for (size_t i = 0; i < COUNT_OF(needed); i++) {
        struct span value = only_value(&o->requirements, needed[i]), key = wellknown_text[needed[i] - 1];
        const struct source_requirement *all = find(&t->requirements, needed[i]);
        if (value.len == 0)
            say(c, CATALOGUE_WRONG, field, "does not say one %.*s: it cannot be bought. Fix: add {\"key\": \"%.*s\", "
                "\"operator\": \"In\", \"values\": [one]} to its requirements", SPAN_ARG(key), SPAN_ARG(key));
        else if (all != NULL && all->op == OP_IN && !in_spans(&all->values, value))
            say(c, CATALOGUE_WRONG, field, "is in %.*s %.*s, which the type's own requirements leave out. Fix: add it there",
                SPAN_ARG(key), SPAN_ARG(value));
    }
    struct span kind = only_value(&o->requirements, SYM_CAPACITY_TYPE);
    if (kind.len != 0 && !span_eq(kind, SPAN("on-demand")) && !span_eq(kind, SPAN("spot")) && !span_eq(kind, SPAN("reserved")))
        say(c, CATALOGUE_WRONG, field, "\"%.*s\" is no capacity type; there are on-demand, spot and reserved", SPAN_ARG(kind));
}

static void check_reservation(struct checking *c, const struct source_offering *o, const char *field)
{
    bool reserved = span_eq(only_value(&o->requirements, SYM_CAPACITY_TYPE), SPAN("reserved"));
    if (o->reservation_capacity < 0)
        say(c, CATALOGUE_WRONG, field, "reservationCapacity %lld is negative", (long long)o->reservation_capacity);
    if (reserved && reservation_of(c, o) == NULL)
        say(c, CATALOGUE_WRONG, field,
            "is reserved, and of no reservation. Fix: name the label that tells reservations apart in reservationIDLabel, and "
            "give the offering one value of it");
    if (!reserved && o->reservation_capacity > 0)
        say(c, CATALOGUE_WARNS, field, "has a reservationCapacity, which counts for capacity type reserved alone");
}

static uint64_t digest(const struct source_offering *o)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < o->requirements.count; i++) {
        const struct source_requirement *r = &o->requirements.items[i];
        buf_addf(&text, "%.*s %d", SPAN_ARG(r->key), (int)r->op);
        for (uint32_t k = 0; k < r->values.count; k++)
            buf_addf(&text, " %.*s", SPAN_ARG(r->values.items[k]));
        buf_add_char(&text, '\n');
    }
    uint64_t hash = span_hash(buf_span(&text));
    buf_release(&text);
    return hash;
}

static int by_digest(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static void check_repeated(struct checking *c, const struct source_type *t)
{
    uint64_t *of = ARENA_ARRAY(&c->arena, uint64_t, t->offerings.count);
    uint32_t again = 0;
    for (uint32_t i = 0; i < t->offerings.count; i++)
        of[i] = digest(&t->offerings.items[i]);
    qsort(of, t->offerings.count, sizeof(*of), by_digest);
    for (uint32_t i = 1; i < t->offerings.count; i++)
        again += of[i] == of[i - 1];
    if (again != 0)
        say(c, CATALOGUE_WRONG, "offerings", "%u of them say%s the same as another of the type. Fix: keep the one whose price is right",
            again, again == 1 ? "s" : "");
}

static void check_offering(struct checking *c, const struct source_type *t, uint32_t index, uint32_t *unpriced)
{
    const struct source_offering *o = &t->offerings.items[index];
    const char *field = arena_printf(&c->arena, "offerings[%u]", index).ptr;
    const char *dotted = arena_printf(&c->arena, "%s.", field).ptr;
    for (uint32_t i = 0; i < o->requirements.count; i++)
        check_requirement(c, &o->requirements.items[i], dotted, i);
    check_place(c, t, o, field);
    check_reservation(c, o, field);
    if (o->price < 0)
        say(c, CATALOGUE_WRONG, arena_printf(&c->arena, "%sprice", dotted).ptr, "%g is negative; dollars an hour are expected",
            o->price);
    check_amounts(c, &o->capacity_override, arena_printf(&c->arena, "%scapacityOverride", dotted).ptr);
    check_overhead(c, &o->overhead_override, arena_printf(&c->arena, "%soverheadOverride", dotted).ptr);
    bool available = o->available || !t->explicit_form;
    *unpriced += available && o->price == 0;
}

static void check_offerings(struct checking *c, const struct source_type *t)
{
    uint32_t unpriced = 0, available = 0;
    for (uint32_t i = 0; i < t->offerings.count; i++) {
        check_offering(c, t, i, &unpriced);
        available += t->offerings.items[i].available || !t->explicit_form;
    }
    check_repeated(c, t);
    if (t->offerings.count == 0)
        say(c, CATALOGUE_WARNS, "offerings", "there is none: nobody can buy the type. Fix: add one for each zone and capacity type");
    else if (available == 0)
        say(c, CATALOGUE_WARNS, "offerings", "none is available: nobody can buy the type. Fix: add \"available\": true where it "
            "can be had");
    if (unpriced != 0 && c->unpriced_types++ == 0)
        c->unpriced_first = t->name;
    c->unpriced += unpriced;
}

/* ---- the whole file ---- */

static void check_one(struct checking *c, const struct source_type *t)
{
    c->entry = t->name;
    if (t->explicit_form)
        check_labels(c, t);
    else
        check_derived(c, t);
    for (uint32_t i = 0; i < t->requirements.count; i++)
        check_requirement(c, &t->requirements.items[i], "", i);
    check_amounts(c, &t->resources, "resources");
    check_overhead(c, &t->overhead, "overhead");
    check_room(c, t);
    check_offerings(c, t);
}

static bool share_a_pool(const struct source_type *x, const struct source_type *y)
{
    if (x->node_pools.count == 0 || y->node_pools.count == 0)
        return true;
    for (uint32_t i = 0; i < x->node_pools.count; i++)
        if (in_spans(&y->node_pools, x->node_pools.items[i]))
            return true;
    return false;
}

static int by_name(const void *x, const void *y)
{
    const struct source_type *const *a = x, *const *b = y;
    int order = span_cmp((*a)->name, (*b)->name);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

static void check_names(struct checking *c)
{
    const struct source_type **order = ARENA_ARRAY(&c->arena, const struct source_type *, c->s->count);
    for (uint32_t i = 0; i < c->s->count; i++)
        order[i] = &c->s->types[i];
    qsort(order, c->s->count, sizeof(*order), by_name);
    for (uint32_t i = 1; i < c->s->count; i++) {
        if (!span_eq(order[i]->name, order[i - 1]->name) || !share_a_pool(order[i], order[i - 1]))
            continue;
        c->entry = order[i]->name;
        say(c, CATALOGUE_WRONG, "name", "stands in two entries, [%u] and [%u], for the same pools. Fix: keep one, or part them with "
            "nodePools", order[i - 1]->index, order[i]->index);
    }
}

static bool is_well_known(const struct checking *c, struct span key)
{
    static const sym core[] = {SYM_NODEPOOL, SYM_ZONE, SYM_REGION,        SYM_INSTANCE_TYPE,
                               SYM_ARCH,     SYM_OS,   SYM_CAPACITY_TYPE, SYM_WINDOWS_BUILD};
    for (size_t i = 0; i < COUNT_OF(core); i++)
        if (span_eq(key, wellknown_text[core[i] - 1]))
            return true;
    return in_spans(&c->s->well_known, key) || span_eq(key, c->s->reservation_id_label);
}

/* A pod that asks for a label which is neither well known nor its pool's own has no place (spec provisioning 3.5). */
static void check_well_known(struct checking *c)
{
    struct spans odd = {ARENA_ARRAY(&c->arena, struct span, NAMED_MAX), 0};
    for (uint32_t t = 0; t < c->s->count; t++)
        for (uint32_t i = 0; c->s->types[t].explicit_form && i < c->s->types[t].requirements.count; i++) {
            struct span key = c->s->types[t].requirements.items[i].key;
            if (odd.count < NAMED_MAX && !is_well_known(c, key) && !in_spans(&odd, key))
                odd.items[odd.count++] = key;
        }
    for (uint32_t i = 0; i < odd.count; i++)
        say(c, CATALOGUE_WARNS, "wellKnownLabels", "%.*s is not among them: a pod that asks for it has no place, unless its pool "
            "sets it. Fix: add it", SPAN_ARG(odd.items[i]));
}

static void check_file(struct checking *c)
{
    struct repair_policies policies;
    struct buf wrong = {0};
    if (c->s->repair.count != 0 && !repair_policies_make(&c->arena, &c->s->repair, &policies, &wrong))
        for (struct span line, rest = buf_span(&wrong); rest.len != 0;) {
            line = span_cut(rest, '\n', &rest);
            c->tell(c->user, CATALOGUE_WRONG, 0, line); /* begins with repairPolicies */
        }
    buf_release(&wrong);
    check_names(c);
    c->entry = (struct span){0};
    check_well_known(c);
    if (c->unpriced_types != 0)
        say(c, CATALOGUE_WARNS, "offerings", "%u of %u type%s (%.*s%s) are available without a price: a plan takes them for free. "
            "Fix: give the price, in dollars an hour, or set \"available\": false", c->unpriced, c->unpriced_types,
            c->unpriced_types == 1 ? "" : "s", SPAN_ARG(c->unpriced_first), c->unpriced_types == 1 ? "" : ", …");
    if (c->listed == 0)
        say(c, CATALOGUE_WARNS, "instanceTypes", "there is none: nothing can be bought");
}

void catalogue_check_types(struct catalogue_source *s, struct doc_value types, catalogue_told *tell, void *user)
{
    struct checking c = {.s = s, .syms = kube_symtab_new(), .listed = doc_count(types), .tell = tell, .user = user};
    uint32_t next = 0, index = 0;
    arena_init(&c.arena, 64 << 10);
    for (struct doc_iter it = doc_iter_of(types); doc_next(&it) && next < s->count; index++)
        if (s->types[next].index == index) { /* others could not be read */
            c.item = it.value;
            check_one(&c, &s->types[next++]);
        }
    c.item = (struct doc_value){0};
    c.entry = (struct span){0};
    check_file(&c);
    arena_release(&c.arena);
    symtab_unref(c.syms);
}
