#include "cloud/groups/kwok_shape.h"

#include <stdlib.h>

#include "base/json.h"

static const struct span fake_key = SPAN_INIT("kwok.x-k8s.io/node");
static const struct span name_key = SPAN_INIT(KWOK_GROUP_DOMAIN "name");

/* ---- what a Node says of itself ---- */

static struct span annotation_of(const struct node *n, const struct symtab *syms, struct span key)
{
    sym s = sym_find(syms, key);
    return s != SYM_NONE ? annotations_get(n->meta.annotations, s) : (struct span){0};
}

static struct span label_of(const struct node *n, const struct symtab *syms, struct span key)
{
    sym s = sym_find(syms, key);
    return s != SYM_NONE ? sym_text(syms, sym_pairs_get(n->meta.labels, s)) : (struct span){0};
}

struct span kwok_group_of(const struct group_kwok_config *config, const struct node *n, const struct symtab *syms)
{
    struct span group = annotation_of(n, syms, name_key);
    if (group.len == 0 && !config->by_annotation)
        group = label_of(n, syms, config->key);
    return group.len != 0 ? group : (struct span){0};
}

bool kwok_is_machine(const struct node *n, const struct symtab *syms)
{
    struct span prefix = SPAN(KWOK_ID_PREFIX), id = n->provider_id;
    return span_has_prefix(id, prefix) &&
           span_eq((struct span){id.ptr + prefix.len, id.len - prefix.len}, n->meta.name) &&
           span_eq(annotation_of(n, syms, fake_key), SPAN("fake"));
}

bool kwok_group_owns(struct doc_value node, struct span group)
{
    struct doc_value meta, annotations, spec;
    struct span prefix = SPAN(KWOK_ID_PREFIX);
    if (!doc_find(node, SPAN("metadata"), &meta) || !doc_find(meta, SPAN("annotations"), &annotations) ||
        !doc_find(node, SPAN("spec"), &spec))
        return false;
    struct span id = doc_text_at(spec, SPAN("providerID")), name = doc_text_at(meta, SPAN("name"));
    return span_has_prefix(id, prefix) && span_eq((struct span){id.ptr + prefix.len, id.len - prefix.len}, name) &&
           span_eq(doc_text_at(annotations, fake_key), SPAN("fake")) &&
           span_eq(doc_text_at(annotations, name_key), group) && doc_text_at(meta, SPAN("deletionTimestamp")).ptr == NULL;
}

/* ---- names ---- */

static char node_letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

struct span kwok_group_node_name(struct arena *a, struct span group, uint32_t ordinal)
{
    struct span name = arena_printf(a, "%.*s-%u", SPAN_ARG(group), ordinal);
    char *text = arena_alloc(a, name.len + 1);
    for (size_t i = 0; i < name.len; i++)
        text[i] = node_letter(name.ptr[i]);
    return (struct span){text, name.len};
}

bool kwok_node_ordinal(struct span group, struct span node, uint32_t *out)
{
    int64_t n = 0;
    if (node.len <= group.len + 1 || node.len > group.len + 10 || node.ptr[group.len] != '-')
        return false;
    for (size_t i = 0; i < group.len; i++)
        if (node_letter(group.ptr[i]) != node.ptr[i])
            return false;
    for (size_t i = group.len + 1; i < node.len; i++) {
        if (node.ptr[i] < '0' || node.ptr[i] > '9')
            return false;
        n = n * 10 + (node.ptr[i] - '0');
    }
    *out = (uint32_t)n;
    return true;
}

/* ---- a fresh one ---- */

/* That a Node gets while it starts, or goes, and that none begins with. */
static bool taint_is_of_one(struct span key)
{
    static const char *const others[] = {"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
                                         "kwok-provider"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (span_eq(key, span_of(others[i])))
            return true;
    return span_has_prefix(key, SPAN("node.kubernetes.io/")) ||
           span_has_prefix(key, SPAN("node.cloudprovider.kubernetes.io/"));
}

static struct taints fresh_taints(struct arena *a, struct symtab *syms, struct taints of, bool skip_own)
{
    struct taints out = {ARENA_ARRAY(a, struct taint, (size_t)of.count + 1), 0};
    for (uint32_t i = 0; i < of.count; i++)
        if (!taint_is_of_one(sym_text(syms, of.items[i].key))) {
            out.items[out.count] = of.items[i];
            out.items[out.count++].added = 0;
        }
    if (!skip_own)
        out.items[out.count++] =
            (struct taint){.key = sym_intern(syms, SPAN("kwok-provider")), .value = SYM_TRUE, .effect = TAINT_NO_SCHEDULE};
    return out;
}

/* `n` has symbols of `syms`. */
static const struct node *fresh_node(struct arena *a, struct symtab *syms, const struct group_kwok_config *config,
                                     const struct node *n)
{
    struct node *out = ARENA_NEW(a, struct node);
    out->meta.labels = n->meta.labels;
    out->taints = fresh_taints(a, syms, n->taints, config->skip_taint);
    out->capacity = n->capacity.count != 0 ? n->capacity : n->allocatable;
    out->allocatable = n->allocatable.count != 0 ? n->allocatable : n->capacity;
    out->allocatable = resources_dup(a, out->allocatable);
    return out;
}

/* ---- bounds ---- */

static struct span value_of(struct plain_labels list, struct span key)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (span_eq(list.items[i].key, key))
            return list.items[i].value;
    return (struct span){0};
}

static bool read_count(struct plain_labels annotations, struct span key, int32_t otherwise, int32_t *out, struct err *err)
{
    struct span text = value_of(annotations, key);
    int64_t n = otherwise;
    if (text.len != 0 && (!span_int64(text, &n) || n < 0 || n > GROUP_NODES_MAX))
        return err_set(err, ERR_INVALID, "annotation %.*s: \"%.*s\" is not a size; write a whole number from 0 to %d",
                       SPAN_ARG(key), SPAN_ARG(text), GROUP_NODES_MAX);
    *out = (int32_t)n;
    return true;
}

/* Ours, not Cluster Autoscaler's. */
static bool read_price(struct plain_labels annotations, struct kwok_shape *out, struct err *err)
{
    struct span text = value_of(annotations, SPAN(GROUP_PRICE_KEY));
    out->has_price = text.ptr != NULL;
    return !out->has_price || node_group_price(text, &out->price) ||
           err_set(err, ERR_INVALID, "annotation " GROUP_PRICE_KEY ": \"%.*s\" is no price; write dollars an hour, like 0.0932",
                   SPAN_ARG(text));
}

static bool read_bounds(struct plain_labels annotations, struct kwok_shape *out, struct err *err)
{
    int32_t desired;
    if (!read_count(annotations, SPAN(KWOK_GROUP_DOMAIN "min-count"), 0, &out->min, err) ||
        !read_count(annotations, SPAN(KWOK_GROUP_DOMAIN "max-count"), GROUP_KWOK_MAX, &out->max, err) ||
        !read_count(annotations, SPAN(KWOK_GROUP_DOMAIN "desired-count"), out->min, &desired, err))
        return false;
    if (out->max < out->min)
        return err_set(err, ERR_INVALID, "annotation " KWOK_GROUP_DOMAIN "max-count: %d is less than min-count, %d; raise it",
                       out->max, out->min);
    if (desired < out->min || desired > out->max)
        return err_set(err, ERR_INVALID,
                       "annotation " KWOK_GROUP_DOMAIN "desired-count: %d is not between min-count, %d, and max-count, %d",
                       desired, out->min, out->max);
    return read_price(annotations, out, err);
}

/* ---- templates ---- */

struct reading {
    struct arena *a;
    struct symtab *syms;
    const struct group_kwok_config *config;
    const struct group_kwok_text *text;
    struct kwok_shapes *out;
    struct kwok_asides *aside;
    struct spans bad; /* groups whose template is wrong */
    uint32_t bad_capacity;
    uint32_t items; /* looked at */
    /* of the template being read */
    struct err err;
    uint32_t line;
};

static void set_aside(struct arena *a, struct kwok_asides *aside, struct span text)
{
    ARENA_PUSH(a, aside->items, aside->count, aside->capacity, text);
}

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    struct reading *r = user;
    if (r->err.kind != ERR_NONE)
        return;
    r->line = line;
    err_set(&r->err, ERR_INVALID, "%.*s: %.*s", SPAN_ARG(path), SPAN_ARG(text));
}

static struct plain_labels annotations_of(struct arena *a, struct doc_value item)
{
    struct plain_labels out = {0};
    struct doc_value meta, list;
    if (!doc_find(item, SPAN("metadata"), &meta) || doc_type(meta) != DOC_OBJECT ||
        !doc_find(meta, SPAN("annotations"), &list))
        return out;
    out.items = ARENA_ARRAY(a, struct plain_label, doc_count(list));
    for (struct doc_iter it = doc_iter_of(list); doc_next(&it);)
        if (doc_type(it.value) == DOC_STRING && !span_eq(it.key, SPAN("kubectl.kubernetes.io/last-applied-configuration")))
            out.items[out.count++] = (struct plain_label){arena_dup(a, it.key), arena_dup(a, doc_text(it.value))};
    return out;
}

static bool is_known(const struct reading *r, struct span group)
{
    for (uint32_t i = 0; i < r->out->count; i++)
        if (span_eq(r->out->items[i].group, group))
            return true;
    for (uint32_t i = 0; i < r->bad.count; i++)
        if (span_eq(r->bad.items[i], group))
            return true;
    return false;
}

/* What the configuration groups by; absent: the template does not have it, and is of no group. */
static struct span grouped_by(const struct reading *r, const struct node *n, struct plain_labels annotations)
{
    return r->config->by_annotation ? value_of(annotations, r->config->key) : label_of(n, r->syms, r->config->key);
}

static bool read_template(struct reading *r, struct doc_value item, const struct node *n, struct kwok_shape *out)
{
    if (r->err.kind != ERR_NONE || !read_bounds(out->annotations, out, &r->err))
        return false;
    if (n->capacity.count == 0 && n->allocatable.count == 0) {
        r->line = doc_line(item);
        return err_set(&r->err, ERR_INVALID, "status.allocatable: is missing; write its cpu, memory and pods");
    }
    out->node = fresh_node(r->a, r->syms, r->config, n);
    return true;
}

static void tell(struct reading *r, struct doc_value item, struct span name, struct span group)
{
    struct span of = group.len != 0 ? arena_printf(r->a, " of group %.*s", SPAN_ARG(group)) : SPAN("");
    set_aside(r->a, r->aside,
              arena_printf(r->a, "%.*s, line %u: Node %.*s%.*s: %s", SPAN_ARG(r->text->from),
                           r->line != 0 ? r->line : doc_line(item), SPAN_ARG(name), SPAN_ARG(of), r->err.msg));
}

static void read_item(struct reading *r, struct doc_value item)
{
    struct node n = {0};
    struct kwok_shape shape = {0};
    r->items++;
    r->err = (struct err){0};
    r->line = 0;
    if (!span_eq(doc_text_at(item, SPAN("kind")), SPAN("Node"))) {
        r->line = doc_line(item);
        set_aside(r->a, r->aside,
                  arena_printf(r->a, "%.*s, line %u: kind: \"%.*s\" is not Node, and left out; templates are Nodes",
                               SPAN_ARG(r->text->from), r->line, SPAN_ARG(doc_text_at(item, SPAN("kind")))));
        return;
    }
    struct decode d = {.arena = r->a, .syms = r->syms, .mistake = on_mistake, .invalid = on_mistake, .user = r};
    decode_value(&d, item, &node_schema, &n);
    shape.annotations = annotations_of(r->a, item);
    struct span by = grouped_by(r, &n, shape.annotations);
    if (by.len == 0) {
        if (r->err.kind == ERR_NONE)
            err_set(&r->err, ERR_INVALID, "metadata.%s: has no %.*s, by which templates are grouped; write it, with the group's name",
                    r->config->by_annotation ? "annotations" : "labels", SPAN_ARG(r->config->key));
        tell(r, item, n.meta.name, by);
        return;
    }
    shape.group = value_of(shape.annotations, name_key).len != 0 ? value_of(shape.annotations, name_key) : by;
    if (is_known(r, shape.group))
        return;
    if (read_template(r, item, &n, &shape)) {
        ARENA_PUSH(r->a, r->out->items, r->out->count, r->out->capacity, shape);
    } else {
        ARENA_PUSH(r->a, r->bad.items, r->bad.count, r->bad_capacity, shape.group);
        tell(r, item, n.meta.name, shape.group);
    }
}

static int by_group(const void *a, const void *b)
{
    return span_cmp(((const struct kwok_shape *)a)->group, ((const struct kwok_shape *)b)->group);
}

static void read_document(struct reading *r, struct doc_value root)
{
    struct doc_value items;
    struct span kind = doc_text_at(root, SPAN("kind"));
    if ((!span_eq(kind, SPAN("List")) && !span_eq(kind, SPAN("NodeList"))) || !doc_find(root, SPAN("items"), &items)) {
        read_item(r, root);
        return;
    }
    for (struct doc_iter it = doc_iter_of(items); doc_next(&it);)
        read_item(r, it.value);
}

bool kwok_shapes_read(struct arena *a, struct symtab *syms, const struct group_kwok_config *config,
                      const struct group_kwok_text *text, struct kwok_shapes *out, struct kwok_asides *aside,
                      struct err *err)
{
    struct reading r = {.a = a, .syms = syms, .config = config, .text = text, .out = out, .aside = aside};
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    size_t at = 0;
    *err = (struct err){0};
    while (doc_parse_yaml(p, text->text, &at, &doc, err))
        read_document(&r, doc_root(doc));
    doc_parser_free(p);
    if (err->kind == ERR_NONE && r.items == 0)
        err_set(err, ERR_INVALID, "is empty; write a List of template Nodes");
    if (err->kind != ERR_NONE)
        return err_wrap(err, "%.*s", SPAN_ARG(text->from));
    if (out->count != 0)
        qsort(out->items, out->count, sizeof(out->items[0]), by_group);
    return true;
}

/* ---- the cluster's Nodes as templates ---- */

static struct plain_labels group_annotations(struct arena *a, const struct node *n, const struct symtab *syms)
{
    struct plain_labels out = {ARENA_ARRAY(a, struct plain_label, n->meta.annotations.count), 0};
    for (uint32_t i = 0; i < n->meta.annotations.count; i++) {
        struct span key = sym_text(syms, n->meta.annotations.items[i].key);
        if (span_has_prefix(key, SPAN(KWOK_GROUP_DOMAIN)))
            out.items[out.count++] =
                (struct plain_label){arena_dup(a, key), arena_dup(a, n->meta.annotations.items[i].value)};
    }
    return out;
}

bool kwok_shape_of_node(struct arena *a, struct symtab *syms, const struct group_kwok_config *config, const struct node *n,
                        const struct symtab *from, struct kwok_shape *out, struct kwok_asides *aside)
{
    struct err err;
    size_t size;
    *out = (struct kwok_shape){.group = arena_dup(a, kwok_group_of(config, n, from)),
                               .annotations = group_annotations(a, n, from)};
    if (!read_bounds(out->annotations, out, &err)) {
        set_aside(a, aside,
                  arena_printf(a, "Node %.*s of group %.*s: %s", SPAN_ARG(n->meta.name), SPAN_ARG(out->group), err.msg));
        return false;
    }
    void *moved = schema_pack(&node_schema, n, 0, from, syms, &size);
    out->node = fresh_node(a, syms, config, schema_copy(a, &node_schema, moved));
    free(moved);
    return true;
}

/* ---- as JSON ---- */

static void put_labels(struct json *j, const struct kwok_shape *shape, const struct symtab *syms, struct span node)
{
    json_put_object(j, "labels");
    for (uint32_t i = 0; i < shape->node->meta.labels.count; i++) {
        const struct sym_pair *l = &shape->node->meta.labels.items[i];
        if (l->key == SYM_HOSTNAME)
            continue;
        json_key(j, sym_text(syms, l->key));
        json_text(j, sym_text(syms, l->value));
    }
    json_put_string(j, "kubernetes.io/hostname", node);
    json_object_end(j);
}

static void put_annotations(struct json *j, const struct kwok_shape *shape, struct span node)
{
    static const struct span path_key = SPAN_INIT("metrics.k8s.io/resource-metrics-path");
    struct buf path = {0};
    json_put_object(j, "annotations");
    for (uint32_t i = 0; i < shape->annotations.count; i++) {
        const struct plain_label *l = &shape->annotations.items[i];
        if (span_eq(l->key, fake_key) || span_eq(l->key, name_key) || span_eq(l->key, path_key))
            continue;
        json_key(j, l->key);
        json_text(j, l->value);
    }
    json_key(j, fake_key);
    json_text(j, SPAN("fake"));
    json_key(j, name_key);
    json_text(j, shape->group);
    buf_addf(&path, "/metrics/nodes/%.*s/metrics/resource", SPAN_ARG(node));
    json_key(j, path_key);
    json_text(j, buf_span(&path));
    json_object_end(j);
    buf_release(&path);
}

static void put_taints(struct json *j, struct taints taints, const struct symtab *syms)
{
    json_put_array(j, "taints");
    for (uint32_t i = 0; i < taints.count; i++) {
        struct span value = sym_text(syms, taints.items[i].value);
        json_object_begin(j);
        json_put_string(j, "key", sym_text(syms, taints.items[i].key));
        if (value.len != 0)
            json_put_string(j, "value", value);
        json_put_string(j, "effect", span_of(taint_effect_name(taints.items[i].effect)));
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_resources(struct json *j, const char *key, struct resources r, const struct symtab *syms)
{
    json_put_object(j, key);
    resources_put(j, r, syms);
    json_object_end(j);
}

struct span kwok_group_node_body(struct arena *a, const struct kwok_shape *shape, const struct symtab *syms,
                                 struct span node)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("v1"));
    json_put_string(&j, "kind", SPAN("Node"));
    json_put_object(&j, "metadata");
    json_put_string(&j, "name", node);
    put_labels(&j, shape, syms, node);
    put_annotations(&j, shape, node);
    json_object_end(&j);
    json_put_object(&j, "spec");
    json_put_string(&j, "providerID", arena_printf(a, KWOK_ID_PREFIX "%.*s", SPAN_ARG(node)));
    put_taints(&j, shape->node->taints, syms);
    json_object_end(&j);
    json_put_object(&j, "status");
    put_resources(&j, "capacity", shape->node->capacity, syms);
    put_resources(&j, "allocatable", shape->node->allocatable, syms);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}
