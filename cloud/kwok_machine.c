#include "cloud/kwok_machine.h"

#include "base/json.h"

static const struct span PROVIDER_PREFIX = SPAN_INIT("kwok://");
static const struct span FAKE_NODE = SPAN_INIT("kwok.x-k8s.io/node");

/* ---- the choice ---- */

/* The claim's requirements in the catalogue's symbols. */
static struct expressions translate(struct arena *a, struct expressions from,
                                    const struct symtab *from_syms, struct symtab *to)
{
    struct expressions out = {ARENA_ARRAY(a, struct expression, from.count), from.count};
    for (uint32_t i = 0; i < from.count; i++) {
        out.items[i] = from.items[i];
        out.items[i].key = sym_intern(to, sym_text(from_syms, from.items[i].key));
        out.items[i].values.items = ARENA_ARRAY(a, sym, from.items[i].values.count);
        for (uint32_t v = 0; v < from.items[i].values.count; v++)
            out.items[i].values.items[v] =
                sym_intern(to, sym_text(from_syms, from.items[i].values.items[v]));
    }
    return out;
}

/* The list of types that the claim names; NULL: it leaves the type open, as a static pool's does. */
static const struct expression *instance_types(const struct expressions *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].key == SYM_INSTANCE_TYPE && list->items[i].op == OP_IN)
            return &list->items[i];
    return NULL;
}

static struct span single_value(const struct requirements *r, sym key, const struct symtab *syms)
{
    const struct requirement *one = requirements_get(r, key);
    return one != NULL && !one->complement && one->count == 1 ? sym_text(syms, one->values[0])
                                                              : (struct span){0};
}

static bool has_overrides(const struct instance_type *t)
{
    for (uint32_t i = 0; i < t->offering_count; i++)
        if (t->offerings[i].has_capacity_override || t->offerings[i].has_overhead_override)
            return true;
    return false;
}

/* Offerings of one zone and capacity type may differ in room alone, by their overrides. What a NodeOverlay adds is not
 * in the catalogue, so that this is a preference. */
static bool holds(struct arena *a, const struct node_claim *claim, const struct symtab *claim_syms,
                  const struct kwok_choice *c, const struct symtab *syms)
{
    if (!has_overrides(c->type))
        return true;
    struct resources room = offering_allocatable(a, c->type, c->offering, syms);
    for (uint32_t i = 0; i < claim->requests.count; i++) {
        sym name = sym_find(syms, sym_text(claim_syms, claim->requests.items[i].name));
        if (claim->requests.items[i].value > (name != SYM_NONE ? resources_get(room, name) : 0))
            return false;
    }
    return true;
}

bool kwok_choose(struct arena *a, const struct node_claim *claim, const struct symtab *claim_syms,
                 const struct catalogue *types, struct symtab *syms,
                 bool (*sold_out)(void *user, const struct kwok_choice *c), void *user,
                 struct kwok_choice *out, struct err *err)
{
    struct expressions list = translate(a, claim->requirements, claim_syms, syms);
    const struct expression *names = instance_types(&list);
    struct span pool = sym_text(claim_syms, sym_pairs_get(claim->meta.labels, SYM_NODEPOOL));
    bool known = false;
    struct kwok_choice best = {0};
    bool best_holds = false;
    struct requirements wanted = requirements_of(a, syms, list);
    for (uint32_t i = 0; i < types->count; i++) {
        const struct instance_type *t = &types->items[i];
        if (names != NULL ? !syms_has(names->values, t->name_sym) : !instance_type_offered(t, pool))
            continue;
        known = true;
        if (!requirements_intersect(&t->requirements, &wanted, syms, NULL))
            continue;
        for (uint32_t o = 0; o < t->offering_count; o++) {
            struct kwok_choice c = {.type = t, .offering = &t->offerings[o]};
            bool here = holds(a, claim, claim_syms, &c, syms);
            if (!offering_launchable(c.offering, syms) || here < best_holds ||
                (best.type != NULL && here == best_holds && c.offering->price >= best.offering->price) ||
                !requirements_compatible(&wanted, &c.offering->requirements, types->well_known,
                                         syms, NULL, NULL))
                continue;
            c.zone = single_value(&c.offering->requirements, SYM_ZONE, syms);
            c.capacity_type = single_value(&c.offering->requirements, SYM_CAPACITY_TYPE, syms);
            if (sold_out != NULL && sold_out(user, &c))
                continue;
            best = c;
            best_holds = here;
        }
    }
    if (!known)
        return err_set(err, ERR_INVALID, "instance type not found");
    if (best.type == NULL)
        return names != NULL
                   ? err_set(err, ERR_CAPACITY,
                             "no offering of the claim's %u instance types can be had",
                             names->values.count)
                   : err_set(err, ERR_CAPACITY, "no offering that the claim admits can be had");
    *out = best;
    return true;
}

/* ---- the machine ---- */

static void put_label(struct arena *a, struct plain_labels *labels, uint32_t *capacity,
                      struct span key, struct span value)
{
    for (uint32_t i = 0; i < labels->count; i++)
        if (span_eq(labels->items[i].key, key)) {
            labels->items[i].value = value;
            return;
        }
    struct plain_label l = {key, value};
    ARENA_PUSH(a, labels->items, labels->count, *capacity, l);
}

static void put_single_values(struct arena *a, struct plain_labels *labels, uint32_t *capacity,
                              const struct requirements *r, const struct symtab *syms)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->items[i].complement && r->items[i].count == 1)
            put_label(a, labels, capacity, arena_dup(a, sym_text(syms, r->items[i].key)),
                      arena_dup(a, sym_text(syms, r->items[i].values[0])));
}

static struct plain_labels labels_of(struct arena *a, const struct node_claim *claim,
                                     const struct symtab *claim_syms, const struct kwok_choice *c,
                                     const struct symtab *syms)
{
    struct plain_labels out = {0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < claim->meta.labels.count; i++)
        put_label(a, &out, &capacity,
                  arena_dup(a, sym_text(claim_syms, claim->meta.labels.items[i].key)),
                  arena_dup(a, sym_text(claim_syms, claim->meta.labels.items[i].value)));
    for (uint32_t i = 0; i < claim->requirements.count; i++) {
        const struct expression *e = &claim->requirements.items[i];
        if (e->op == OP_IN && e->values.count == 1)
            put_label(a, &out, &capacity, arena_dup(a, sym_text(claim_syms, e->key)),
                      arena_dup(a, sym_text(claim_syms, e->values.items[0])));
    }
    put_label(a, &out, &capacity, wellknown_text[SYM_INSTANCE_TYPE - 1],
              arena_dup(a, c->type->name));
    put_single_values(a, &out, &capacity, &c->type->requirements, syms);
    put_single_values(a, &out, &capacity, &c->offering->requirements, syms);
    put_label(a, &out, &capacity, SPAN("eks-node-viewer/instance-price"),
              arena_printf(a, "%f", c->offering->price));
    put_label(a, &out, &capacity, SPAN("kwok-partition"), SPAN("a"));
    put_label(a, &out, &capacity, wellknown_text[SYM_HOSTNAME - 1], arena_dup(a, claim->meta.name));
    put_label(a, &out, &capacity, FAKE_NODE, SPAN("fake"));
    return out;
}

static struct plain_labels annotations_of(struct arena *a, const struct node_claim *claim,
                                          const struct symtab *claim_syms)
{
    struct plain_labels out = {0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < claim->meta.annotations.count; i++)
        put_label(a, &out, &capacity,
                  arena_dup(a, sym_text(claim_syms, claim->meta.annotations.items[i].key)),
                  arena_dup(a, claim->meta.annotations.items[i].value));
    put_label(a, &out, &capacity, FAKE_NODE, SPAN("fake"));
    put_label(a, &out, &capacity, wellknown_text[SYM_CLAIM_UID - 1], arena_dup(a, claim->meta.uid));
    return out;
}

struct machine kwok_machine(struct arena *a, const struct node_claim *claim,
                            const struct symtab *claim_syms, const struct kwok_choice *c,
                            const struct symtab *syms)
{
    struct machine m = {.provider_id = arena_printf(a, "kwok://%.*s", SPAN_ARG(claim->meta.name)),
                        .node_name = arena_dup(a, claim->meta.name),
                        .claim_uid = arena_dup(a, claim->meta.uid),
                        .claim_name = arena_dup(a, claim->meta.name),
                        .labels = labels_of(a, claim, claim_syms, c, syms),
                        .annotations = annotations_of(a, claim, claim_syms)};
    resources_add(a, &m.capacity, c->type->capacity);
    if (c->offering->has_capacity_override)
        for (uint32_t i = 0; i < c->offering->capacity_override.count; i++)
            *resources_at(a, &m.capacity, c->offering->capacity_override.items[i].name) =
                c->offering->capacity_override.items[i].value;
    m.allocatable = offering_allocatable(a, c->type, c->offering, syms);
    return m;
}

/* ---- as JSON ---- */

static void put_map(struct json *j, const char *key, const struct plain_labels *map)
{
    json_put_object(j, key);
    for (uint32_t i = 0; i < map->count; i++) {
        json_key(j, map->items[i].key);
        json_text(j, map->items[i].value);
    }
    json_object_end(j);
}

static void put_resources(struct json *j, const char *key, struct resources r,
                          const struct symtab *syms)
{
    json_put_object(j, key);
    resources_put(j, r, syms);
    json_object_end(j);
}

struct span kwok_node_body(struct arena *a, const struct machine *m, const struct symtab *syms)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("v1"));
    json_put_string(&j, "kind", SPAN("Node"));
    json_put_object(&j, "metadata");
    json_put_string(&j, "name", m->node_name);
    put_map(&j, "labels", &m->labels);
    put_map(&j, "annotations", &m->annotations);
    json_object_end(&j);
    json_put_object(&j, "spec");
    json_put_string(&j, "providerID", m->provider_id);
    json_put_array(&j, "taints");
    json_object_begin(&j);
    json_put_string(&j, "key", wellknown_text[SYM_UNREGISTERED - 1]);
    json_put_string(&j, "effect", SPAN("NoExecute"));
    json_object_end(&j);
    json_array_end(&j);
    json_object_end(&j);
    json_put_object(&j, "status");
    put_resources(&j, "capacity", m->capacity, syms);
    put_resources(&j, "allocatable", m->allocatable, syms);
    json_put_string(&j, "phase", SPAN("Pending"));
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

/* ---- from JSON ---- */

static struct span text_at(struct doc_value object, struct span key)
{
    struct doc_value v;
    return doc_find(object, key, &v) && doc_type(v) == DOC_STRING ? doc_text(v) : (struct span){0};
}

static struct doc_value member(struct doc_value object, struct span key)
{
    struct doc_value v = {0};
    if (doc_type(object) != DOC_OBJECT || !doc_find(object, key, &v))
        v = (struct doc_value){0};
    return v;
}

static struct plain_labels read_map(struct arena *a, struct doc_value object)
{
    struct plain_labels out = {0};
    uint32_t capacity = 0;
    if (object.doc == NULL)
        return out;
    for (struct doc_iter it = doc_iter_of(object); doc_next(&it);)
        if (doc_type(it.value) == DOC_STRING) {
            struct plain_label l = {arena_dup(a, it.key), arena_dup(a, doc_text(it.value))};
            ARENA_PUSH(a, out.items, out.count, capacity, l);
        }
    return out;
}

static struct resources read_resources(struct arena *a, struct doc_value object,
                                       struct symtab *syms)
{
    struct resources out = {0};
    if (object.doc == NULL)
        return out;
    for (struct doc_iter it = doc_iter_of(object); doc_next(&it);) {
        amount value;
        struct err err;
        int32_t scale = span_eq(it.key, SPAN("cpu")) ? 1000 : 1;
        if ((doc_type(it.value) == DOC_STRING || doc_type(it.value) == DOC_NUMBER) &&
            quantity_parse(doc_text(it.value), scale, &value, &err))
            *resources_at(a, &out, sym_intern(syms, it.key)) = value;
    }
    return out;
}

static struct span label_value(const struct plain_labels *labels, struct span key)
{
    for (uint32_t i = 0; i < labels->count; i++)
        if (span_eq(labels->items[i].key, key))
            return labels->items[i].value;
    return (struct span){0};
}

struct span kwok_node_name(struct span provider_id)
{
    if (!span_has_prefix(provider_id, PROVIDER_PREFIX))
        return (struct span){0};
    return (struct span){provider_id.ptr + PROVIDER_PREFIX.len,
                         provider_id.len - PROVIDER_PREFIX.len};
}

bool kwok_machine_of_node(struct arena *a, struct doc_value node, struct symtab *syms,
                          struct machine *out)
{
    struct doc_value meta = member(node, SPAN("metadata"));
    struct doc_value spec = member(node, SPAN("spec"));
    struct doc_value status = member(node, SPAN("status"));
    struct span id = spec.doc != NULL ? text_at(spec, SPAN("providerID")) : (struct span){0};
    if (meta.doc == NULL || kwok_node_name(id).ptr == NULL)
        return false;
    *out = (struct machine){.provider_id = arena_dup(a, id),
                            .node_name = arena_dup(a, text_at(meta, SPAN("name"))),
                            .labels = read_map(a, member(meta, SPAN("labels"))),
                            .annotations = read_map(a, member(meta, SPAN("annotations"))),
                            .deleting = text_at(meta, SPAN("deletionTimestamp")).ptr != NULL};
    out->claim_uid = label_value(&out->annotations, wellknown_text[SYM_CLAIM_UID - 1]);
    out->claim_name = kwok_node_name(out->provider_id);
    if (status.doc != NULL) {
        out->capacity = read_resources(a, member(status, SPAN("capacity")), syms);
        out->allocatable = read_resources(a, member(status, SPAN("allocatable")), syms);
    }
    return true;
}
