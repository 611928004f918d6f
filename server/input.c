/* Objects out of documents. How documents come out of files: input_files.c. */
#include <stdlib.h>

#include "base/safe_text.h"
#include "kube/config_map.h"
#include "kube/pool_validate.h"
#include "kube/pool_warnings.h"
#include "kube/workload.h"
#include "server/input_inner.h"
#include "server/input_told.h"

/* --- objects --- */

void *input_new_object(struct input *o, const struct input_origin *origin, size_t size)
{
    struct input_origin *made = arena_alloc(&o->arena, sizeof(*made) + size);
    *made = *origin;
    return made + 1;
}

const struct input_origin *input_origin(const void *object)
{
    return (const struct input_origin *)object - 1;
}

/* Kinds that belong to a cluster's dump and of which this version reads nothing. */
static bool is_expected(struct span kind)
{
    static const char *const names[] = {
        "PriorityClass",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (span_eq(kind, span_of(names[i])))
            return true;
    return span_has_suffix(kind, SPAN("NodeClass"));
}

static void pass_over(struct input *o, struct span kind)
{
    enum { SHOWN = 60 }; /* bytes of kinds' names worth printing */
    if (is_expected(kind))
        return;
    o->passed_over++;
    struct span shown = o->passed_over_kinds;
    if (span_contains(shown, kind) || shown.len > SHOWN)
        return;
    o->passed_over_kinds = shown.len == 0
                               ? arena_dup(&o->arena, kind)
                               : arena_printf(&o->arena, "%.*s, %.*s", SPAN_ARG(shown),
                                              SPAN_ARG(kind));
}

/* What the API server would have filled in. */
static void complete_identity(struct input *o, const struct kind_info *info, struct meta *m)
{
    if (info->namespaced && m->ns.len == 0)
        m->ns = SPAN("default");
    if (m->uid.len == 0)
        m->uid = arena_printf(&o->arena, "%s/%.*s/%.*s", info->name, SPAN_ARG(m->ns),
                              SPAN_ARG(m->name));
}

static struct input_origin next_origin(struct input *o, const char *file, struct doc_value v)
{
    return (struct input_origin){.file = file, .line = o->of_cluster ? 0 : doc_line(v), .order = o->objects++};
}

/* A kind that is read, in a version that is not: a person should hear of it by name. */
static void pass_over_version(struct input *o, const char *file, struct doc_value v,
                              const struct type_meta *type, enum kind kind)
{
    const struct kind_info *info = kind_info(kind);
    struct input_origin origin = next_origin(o, file, v);
    struct doc_value meta;
    struct node_pool pool = {0};
    if (doc_find(v, SPAN("metadata"), &meta)) {
        pool.meta.name = arena_dup(&o->arena, doc_text_at(meta, SPAN("name")));
        pool.meta.ns = arena_dup(&o->arena, doc_text_at(meta, SPAN("namespace")));
    }
    struct span why = arena_printf(&o->arena, "is %.*s; Stowage reads %s",
                                   SPAN_ARG(type->api_version), info->api_version);
    input_tell(o, INPUT_WARNS, file, origin.line,
               arena_printf(&o->arena, "%.*s %.*s", SPAN_ARG(kind_object_name(&o->arena, kind, &pool.meta)),
                            SPAN_ARG(why)));
    if (kind != KIND_NODE_POOL || pool.meta.name.len == 0)
        return;
    struct span told = arena_printf(&o->arena, "it %.*s", SPAN_ARG(why));
    ARENA_PUSH(&o->arena, o->closed_pools.items, o->closed_pools.count, o->closed_pools.capacity,
               (const void *)input_closed_pool(o, &origin, &pool, told));
}

/* Of workloads replicas and template are read as well: a CapacityBuffer may point at them, and expand.h makes
 * pods of them. NULL: the kind is not read. */
static const struct schema *schema_of(const struct input *o, enum kind k)
{
    switch (k) {
    case KIND_DEPLOYMENT:
    case KIND_REPLICA_SET:
        return &workload_schema;
    case KIND_STATEFUL_SET:
        return &stateful_workload_schema;
    case KIND_REPLICATION_CONTROLLER:
        return &replication_workload_schema;
    case KIND_JOB:
        return o->expands || o->grouped ? &job_schema : NULL;
    case KIND_CAPACITY_QUOTA:
        return o->grouped ? kind_info(k)->schema : NULL;
    case KIND_CONFIG_MAP:
        return o->grouped ? &config_map_schema : NULL;
    case KIND_MACHINE_DEPLOYMENT:
    case KIND_CLUSTER_API_NODE_CLASS:
        return o->machines ? kind_info(k)->schema : NULL;
    case KIND_PROVISIONING_REQUEST: /* what becomes of one lies in a loop */
        return o->taken != NULL ? kind_info(k)->schema : NULL;
    case KIND_CRON_JOB:
        return o->expands ? &cron_job_schema : NULL;
    default:
        return k < KIND_STORED_COUNT && !kind_is_machines(k) ? kind_info(k)->schema : NULL;
    }
}

bool input_reads(const struct input *o, enum kind k)
{
    return schema_of(o, k) != NULL;
}

/* False when one of both is no text: that has been told. */
static bool read_type(struct place_in_file *at, struct doc_value v, struct type_meta *out)
{
    static const struct field fields[] = {
        FIELD(struct type_meta, api_version, FIELD_SPAN, "apiVersion"),
        FIELD(struct type_meta, kind, FIELD_SPAN, "kind"),
    };
    static const struct schema schema = SCHEMA(struct type_meta, "Kubernetes object", fields);
    struct decode d = {.arena = &at->o->arena, .borrows = true, .mistake = input_add_mistake, .user = at};
    if (doc_type(v) == DOC_OBJECT)
        return decode_value(&d, v, &schema, out);
    const char *also = doc_type(v) == DOC_ARRAY ? "; put the objects into the items of a List" : "";
    input_add_mistake(at, doc_line(v), (struct span){NULL, 0},
                      arena_printf(&at->o->arena, "%s is not a Kubernetes object%s",
                                   doc_type_name(doc_type(v)), also));
    return false;
}

static void type_missing(struct place_in_file *at, struct doc_value v, const struct type_meta *t)
{
    const char *what = t->api_version.len != 0 ? "kind is"
                       : t->kind.len != 0      ? "apiVersion is"
                                               : "apiVersion and kind are";
    input_add_mistake(at, doc_line(v), (struct span){NULL, 0},
                      arena_printf(&at->o->arena, "not a Kubernetes object: %s missing", what));
}

/* Not there, null or empty; a value of another type is left for decode to tell. */
static bool is_missing(struct doc_value object, struct span key)
{
    struct doc_value v;
    return !doc_find(object, key, &v) || doc_type(v) == DOC_NULL ||
           (doc_type(v) == DOC_STRING && doc_text(v).len == 0);
}

/* Where the object is named, for messages; false when it has no name. */
static bool find_name(struct place_in_file *at, struct doc_value v, const struct kind_info *info)
{
    struct doc_value meta;
    bool has_meta = doc_find(v, SPAN("metadata"), &meta) && doc_type(meta) == DOC_OBJECT;
    if (has_meta ? is_missing(meta, SPAN("name")) : is_missing(v, SPAN("metadata"))) {
        input_add_mistake(at, doc_line(v), SPAN("metadata.name"), SPAN("missing"));
        return false;
    }
    if (has_meta) {
        at->ns = doc_text_at(meta, SPAN("namespace"));
        at->name = doc_text_at(meta, SPAN("name"));
        at->odd_name = !safe_text_is(at->ns, false) || !safe_text_is(at->name, false);
    }
    at->kind = at->name.len != 0 ? info : NULL;
    if (!span_contains(at->name, SPAN("{{")))
        return true;
    input_add_mistake(at, doc_line(v), SPAN("metadata.name"), SPAN(UNRENDERED));
    return false;
}

static void refuse(struct place_in_file *at, struct doc_value v, struct span path, struct span text)
{
    input_add_invalid(at, input_line_of(v, path), path, text);
}

static void check_names(struct place_in_file *at, struct doc_value v, enum kind kind)
{
    bool plain = kind == KIND_NAMESPACE || kind == KIND_SERVICE; /* whose names are a DNS label */
    struct span dot = SPAN(".");
    if (at->odd_name)
        refuse(at, v, SPAN("metadata"), SPAN("no object can have such a name"));
    else if (at->name.len != 0 && (!subdomain_valid(at->name) || (plain && span_contains(at->name, dot))))
        refuse(at, v, SPAN("metadata.name"),
               arena_printf(&at->o->arena, "\"%.*s\" is not a name; it takes small letters, digits%s, with a "
                                           "letter or digit at both ends",
                            SPAN_ARG(at->name), plain ? " and '-'" : ", '-' and '.'"));
    else if (at->ns.len != 0 && (!subdomain_valid(at->ns) || span_contains(at->ns, dot)))
        refuse(at, v, SPAN("metadata.namespace"),
               arena_printf(&at->o->arena, "\"%.*s\" is not the name of a namespace", SPAN_ARG(at->ns)));
}

/* Of that field, or of one in it, as it was read. */
static bool is_told(const struct place_in_file *at, uint32_t told, struct span path)
{
    for (uint32_t i = 0; i < told; i++)
        if (span_has_prefix(at->faulty[i], path))
            return true;
    return false;
}

/* What the schema lets through, and no controller. */
static void check_pool(struct place_in_file *at, struct doc_value v, const struct node_pool *pool)
{
    struct input *o = at->o;
    if (o->rules == NULL)
        return;
    struct findings found = {0};
    uint32_t told = at->faulty_count;
    pool_validate(&o->arena, pool, o->rules, o->syms, &found);
    for (uint32_t i = 0; i < found.count; i++)
        if (!is_told(at, told, found.items[i].path))
            refuse(at, v, found.items[i].path, found.items[i].text);
    found = (struct findings){0};
    pool_warnings(&o->arena, pool, o->syms, &found);
    for (uint32_t i = 0; i < found.count; i++)
        input_add_warning(at, input_line_of(v, found.items[i].path), found.items[i].path, found.items[i].text);
}

/* A pool stays there for its nodes, and to be told of. */
static void set_aside(struct place_in_file *at, const struct input_origin *origin, enum kind kind,
                      const void *object)
{
    struct input *o = at->o;
    struct input_list *list = &o->closed_pools;
    const struct meta *m = object; /* all begin with it */
    struct input_refused refused = {kind, m->ns, m->name,
                                    input_placed(&o->arena, origin->file, origin->line, at->refused)};
    o->set_aside[kind]++;
    ARENA_PUSH(&o->arena, o->refused, o->refused_count, o->refused_capacity, refused);
    if (kind == KIND_NODE_POOL)
        ARENA_PUSH(&o->arena, list->items, list->count, list->capacity,
                   (const void *)input_closed_pool(o, origin, object, at->refused));
}

static void take_object(struct place_in_file *at, struct doc_value v, enum kind kind,
                        const struct schema *schema)
{
    struct input *o = at->o;
    struct decode d = {.arena = &o->arena, .syms = o->syms, .mistake = input_add_mistake,
                       .invalid = input_add_invalid, .unknown = input_add_unknown, .user = at};
    if (o->of_cluster) { /* who reads it cannot mend it */
        d.mistake = input_add_invalid;
        d.unknown = NULL;
    }
    struct input_origin origin = next_origin(o, at->file, v);
    void *object = input_new_object(o, &origin, schema->size);
    decode_value(&d, v, schema, object);
    complete_identity(o, kind_info(kind), object);
    check_names(at, v, kind);
    if (kind == KIND_NODE_POOL)
        check_pool(at, v, object);
    if (at->refused.ptr != NULL) {
        set_aside(at, &origin, kind, object);
        return;
    }
    struct err err = {0};
    if (o->taken != NULL && o->mistakes == 0 && !o->taken(o->user, kind, v, &err)) {
        input_add_mistake(at, origin.line, (struct span){NULL, 0}, span_of(err.msg));
        return;
    }
    struct input_list *list = &o->kinds[kind];
    ARENA_PUSH(&o->arena, list->items, list->count, list->capacity, (const void *)object);
}

static bool is_own(const struct input *o, const struct type_meta *type)
{
    return o->own != NULL && span_eq(type->kind, span_of(o->own->kind)) &&
           span_eq(type->api_version, span_of(o->own->api_version));
}

static void take_own(struct place_in_file *at, struct doc_value v)
{
    struct input *o = at->o;
    struct kind_info info = {.name = o->own->kind};
    struct decode d = {.arena = &o->arena, .syms = o->syms, .mistake = input_add_mistake,
                       .invalid = input_add_mistake, .unknown = input_add_mistake, .user = at};
    struct input_origin origin = next_origin(o, at->file, v);
    void *object = input_new_object(o, &origin, o->own->schema->size);
    struct input_list *list = &o->own->found;
    if (!o->own->nameless && !find_name(at, v, &info))
        return;
    decode_value(&d, v, o->own->schema, object);
    ARENA_PUSH(&o->arena, list->items, list->count, list->capacity, (const void *)object);
}

/* Of all ConfigMaps one is read. */
static bool is_other_config_map(enum kind kind, struct doc_value v)
{
    struct doc_value meta;
    return kind == KIND_CONFIG_MAP &&
           !(doc_find(v, SPAN("metadata"), &meta) && span_eq(doc_text_at(meta, SPAN("name")), SPAN(PRIORITY_CONFIG_MAP)));
}

static void read_object(struct input *o, const char *file, struct doc_value v,
                        const struct type_meta *type)
{
    struct place_in_file at = {.o = o, .file = file};
    if (type->kind.len == 0 || type->api_version.len == 0) {
        type_missing(&at, v, type);
        return;
    }
    enum kind kind = kind_find(type->api_version, type->kind);
    enum kind other = kind_find_group(type->api_version, type->kind);
    const struct schema *schema = schema_of(o, kind);
    if (is_own(o, type)) {
        take_own(&at, v);
    } else if (schema != NULL && !is_other_config_map(kind, v)) {
        if (find_name(&at, v, kind_info(kind)))
            take_object(&at, v, kind, schema);
    } else if (kind == KIND_NONE && other < KIND_STORED_COUNT && !kind_is_machines(other)) {
        pass_over_version(o, file, v, type, other);
    } else {
        pass_over(o, type->kind);
    }
    input_end_object(&at);
}

/* --- documents --- */

/* People keep other things beside their objects: values of a chart, a schema, an array. Of an object's
 * members they have at most one; an object that lacks some of them is a mistake. */
static bool looks_like_object(struct doc_value v)
{
    static const struct span members[] = {SPAN_INIT("apiVersion"), SPAN_INIT("kind"), SPAN_INIT("metadata"),
                                          SPAN_INIT("spec"), SPAN_INIT("items")};
    struct doc_value member;
    size_t has = 0;
    if (doc_type(v) == DOC_ARRAY) { /* of objects it is a mistake that is told */
        struct doc_iter it = doc_iter_of(v);
        return doc_next(&it) && doc_type(it.value) == DOC_OBJECT && looks_like_object(it.value);
    }
    for (size_t i = 0; i < COUNT_OF(members); i++)
        has += doc_find(v, members[i], &member);
    return has > 1;
}

static void pass_over_document(struct input *o, const char *file, struct doc_value v)
{
    const char *what = doc_type(v) == DOC_OBJECT ? "an object without apiVersion and kind" : doc_type_name(doc_type(v));
    input_tell(o, INPUT_WARNS, file, doc_line(v),
               arena_printf(&o->arena, "passed over: %s is no Kubernetes object", what));
}

/* A List by its name, unless it is an object of a kind that happens to end so. */
static bool is_list(struct doc_value root, struct span kind)
{
    struct doc_value meta, items;
    if (!span_has_suffix(kind, SPAN("List")))
        return false;
    return doc_find(root, SPAN("items"), &items) || !doc_find(root, SPAN("metadata"), &meta) ||
           is_missing(meta, SPAN("name"));
}

static void read_list(struct input *o, const char *file, struct doc_value root,
                      const struct type_meta *list)
{
    struct place_in_file at = {.o = o, .file = file};
    struct doc_value items;
    if (!doc_find(root, SPAN("items"), &items)) {
        input_add_mistake(&at, doc_line(root), SPAN("items"),
                          arena_printf(&o->arena, "missing; a %.*s needs them", SPAN_ARG(list->kind)));
    } else if (doc_type(items) != DOC_ARRAY && doc_type(items) != DOC_NULL) {
        input_add_mistake(&at, doc_line(items), SPAN("items"),
                          arena_printf(&o->arena, "%s is not a list", doc_type_name(doc_type(items))));
    } else {
        for (struct doc_iter it = doc_iter_of(items); doc_next(&it);)
            input_take_item(o, file, it.value, list);
    }
}

void input_take_item(struct input *o, const char *file, struct doc_value item,
                     const struct type_meta *list)
{
    struct place_in_file at = {.o = o, .file = file};
    struct type_meta own = {0};
    if (!read_type(&at, item, &own))
        return;
    if (own.api_version.len == 0)
        own.api_version = list->api_version;
    if (own.kind.len == 0) /* PodList: Pod */
        own.kind = (struct span){list->kind.ptr, list->kind.len - strlen("List")};
    read_object(o, file, item, &own);
}

bool input_list_type(struct input *o, const char *file, struct doc_value root, struct type_meta *out)
{
    struct place_in_file at = {.o = o, .file = file};
    bool list = looks_like_object(root) && read_type(&at, root, out) && is_list(root, out->kind);
    o->some = o->some || list;
    return list;
}

void input_take_document(struct input *o, const char *file, struct doc_value root)
{
    struct place_in_file at = {.o = o, .file = file};
    struct type_meta type = {0};
    if (!looks_like_object(root)) {
        pass_over_document(o, file, root);
        return;
    }
    o->some = true;
    if (!read_type(&at, root, &type))
        return;
    if (is_list(root, type.kind))
        read_list(o, file, root, &type);
    else
        read_object(o, file, root, &type);
}
