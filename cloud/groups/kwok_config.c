/* The configuration, ConfigMap kwok-provider-config. Names of members are found without case and others are passed over, as
 * Go's decoder does. */
#include "cloud/groups/kwok.h"

struct config_wire {
    struct span from;
    bool has_groups, has_gpu, skip_taint;
    struct span label, annotation;
    struct span gpu_label;
    struct span map;
};

#define FOLD .fold_case = true

static const struct field groups_fields[] = {
    FIELD(struct config_wire, label, FIELD_SPAN, "fromNodeLabelKey", FOLD),
    FIELD(struct config_wire, annotation, FIELD_SPAN, "fromNodeAnnotationKey", FOLD),
};
static const struct schema groups_schema = SCHEMA(struct config_wire, "nodegroups", groups_fields);

static const struct field gpu_fields[] = {FIELD(struct config_wire, gpu_label, FIELD_SPAN, "gpuLabelKey", FOLD)};
static const struct schema gpu_schema = SCHEMA(struct config_wire, "gpuConfig", gpu_fields);

static const struct field nodes_fields[] = {
    FIELD(struct config_wire, skip_taint, FIELD_BOOL, "skipTaint", FOLD),
    {.name = "gpuConfig", .kind = FIELD_OBJECT, .schema = &gpu_schema, FOLD, FIELD_HAS(struct config_wire, has_gpu)},
};
static const struct schema nodes_schema = SCHEMA(struct config_wire, "nodes", nodes_fields);

static const struct field map_fields[] = {FIELD(struct config_wire, map, FIELD_SPAN, "name", FOLD)};
static const struct schema map_schema = SCHEMA(struct config_wire, "configmap", map_fields);

static const struct field config_fields[] = {
    FIELD(struct config_wire, from, FIELD_SPAN, "readNodesFrom", FOLD),
    {.name = "nodegroups", .kind = FIELD_OBJECT, .schema = &groups_schema, FOLD, FIELD_HAS(struct config_wire, has_groups)},
    {.name = "nodes", .kind = FIELD_OBJECT, .schema = &nodes_schema, FOLD},
    {.name = "configmap", .kind = FIELD_OBJECT, .schema = &map_schema, FOLD},
};
static const struct schema config_schema = SCHEMA(struct config_wire, "configuration", config_fields);

struct first_mistake {
    struct err *err;
    uint32_t line;
};

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    struct first_mistake *f = user;
    if (f->err->kind != ERR_NONE)
        return;
    f->line = line;
    err_set(f->err, ERR_INVALID, "%.*s%s%.*s", SPAN_ARG(path), path.len != 0 ? ": " : "", SPAN_ARG(text));
}

static bool check_groups(const struct config_wire *w, struct err *err)
{
    if (!w->has_groups || (w->label.len == 0 && w->annotation.len == 0))
        return err_set(err, ERR_INVALID,
                       "nodegroups.fromNodeLabelKey: is missing; write the label whose values are the groups' names (or "
                       "fromNodeAnnotationKey)");
    if (w->label.len != 0 && w->annotation.len != 0)
        return err_set(err, ERR_INVALID, "nodegroups: has fromNodeLabelKey and fromNodeAnnotationKey; remove one of them");
    if (span_eq(w->label, wellknown_text[SYM_HOSTNAME - 1]))
        return err_set(err, ERR_INVALID,
                       "nodegroups.fromNodeLabelKey: each Node has its own kubernetes.io/hostname; write a label that the "
                       "Nodes of a group share");
    return true;
}

static bool check(const struct config_wire *w, struct err *err)
{
    bool cluster = span_eq(w->from, SPAN("cluster"));
    if (!cluster && !span_eq(w->from, SPAN("configmap")))
        return err_set(err, ERR_INVALID, "readNodesFrom: \"%.*s\" is neither \"configmap\" nor \"cluster\"; write one of them",
                       SPAN_ARG(w->from));
    if (!cluster && w->map.len == 0)
        return err_set(err, ERR_INVALID,
                       "configmap.name: is missing; write the ConfigMap that has the templates, kwok-provider-templates");
    if (!check_groups(w, err))
        return false;
    if (cluster && w->annotation.len != 0)
        return err_set(err, ERR_INVALID,
                       "nodegroups.fromNodeAnnotationKey: annotations of the cluster's Nodes are not kept; write "
                       "fromNodeLabelKey, or readNodesFrom: configmap");
    if (w->has_gpu && w->gpu_label.len == 0)
        return err_set(err, ERR_INVALID, "nodes.gpuConfig.gpuLabelKey: is missing; write the label of GPU nodes, or remove "
                                         "gpuConfig");
    return true;
}

bool group_kwok_read(struct arena *a, const struct group_kwok_text *text, struct group_kwok_config *out, struct err *err)
{
    struct doc_parser *p = doc_parser_new();
    struct config_wire w = {0};
    struct first_mistake first = {.err = err};
    const struct doc *doc;
    size_t at = 0;
    *err = (struct err){0};
    bool ok = doc_parse_yaml(p, text->text, &at, &doc, err);
    if (ok) {
        struct decode d = {.arena = a, .mistake = on_mistake, .user = &first};
        ok = decode_value(&d, doc_root(doc), &config_schema, &w) && check(&w, err);
    } else if (err->kind == ERR_NONE) {
        err_set(err, ERR_INVALID, "is empty; write the configuration of Cluster Autoscaler's provider kwok");
    }
    doc_parser_free(p);
    if (ok) {
        *out = (struct group_kwok_config){.from_cluster = span_eq(w.from, SPAN("cluster")),
                                          .by_annotation = w.annotation.len != 0,
                                          .skip_taint = w.skip_taint,
                                          .gpu_label = w.gpu_label};
        out->key = out->by_annotation ? w.annotation : w.label;
        if (!out->from_cluster)
            out->templates_map = w.map;
    } else if (first.line != 0) {
        err_wrap(err, "%.*s, line %u", SPAN_ARG(text->from), first.line);
    } else {
        err_wrap(err, "%.*s", SPAN_ARG(text->from));
    }
    return ok;
}
