/* Which nodes a DaemonSet's pod is made for: taints, nodeSelector, required node affinity. The
 * stand-in scheduler asks the planner (search/binder.h); here pods are not in any world yet. Whether a taint is
 * tolerated both ask taint_tolerated. */
#include "sim/standins/standin.h"

#include <stdlib.h>

#include "base/decode.h"
#include "kube/wellknown.h"

static bool has_value(const json_t *values, struct span text)
{
    size_t i;
    json_t *v;
    json_array_foreach(values, i, v) {
        if (span_eq((struct span){json_string_value(v), json_string_length(v)}, text))
            return true;
    }
    return false;
}

static bool compares(const json_t *values, struct span text, bool greater)
{
    int64_t bound, value;
    const json_t *first = json_array_get(values, 0);
    if (!json_is_string(first) || !span_int64(text, &value) ||
        !span_int64(span_of(json_string_value(first)), &bound))
        return false;
    return greater ? value > bound : value < bound;
}

static bool expression_matches(const json_t *e, struct span value)
{
    const json_t *values = tree_get(e, "values");
    bool there = value.ptr != NULL;
    if (tree_is(e, "operator", "In"))
        return there && has_value(values, value);
    if (tree_is(e, "operator", "NotIn"))
        return !there || !has_value(values, value);
    if (tree_is(e, "operator", "Exists"))
        return there;
    if (tree_is(e, "operator", "DoesNotExist"))
        return !there;
    if (tree_is(e, "operator", "Gt"))
        return there && compares(values, value, true);
    return tree_is(e, "operator", "Lt") && there && compares(values, value, false);
}

static struct span label_of(const json_t *node, const json_t *key)
{
    const json_t *v = json_is_string(key)
                          ? json_object_get(tree_get(node, "metadata.labels"), json_string_value(key))
                          : NULL;
    return json_is_string(v) ? (struct span){json_string_value(v), json_string_length(v)}
                             : (struct span){NULL, 0};
}

static bool term_matches(const json_t *term, const json_t *node)
{
    size_t i;
    json_t *e;
    const json_t *labels = tree_get(term, "matchExpressions"), *fields = tree_get(term, "matchFields");
    if (json_array_size(labels) + json_array_size(fields) == 0)
        return false; /* an empty term matches nothing */
    json_array_foreach(labels, i, e) {
        if (!expression_matches(e, label_of(node, tree_get(e, "key"))))
            return false;
    }
    json_array_foreach(fields, i, e) {
        if (!expression_matches(e, tree_string(node, "metadata.name")))
            return false;
    }
    return true;
}

static bool affinity_matches(const json_t *spec, const json_t *node)
{
    const json_t *required =
        tree_get(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
    size_t i;
    json_t *term;
    if (required == NULL)
        return true;
    json_array_foreach(tree_get(required, "nodeSelectorTerms"), i, term) {
        if (term_matches(term, node))
            return true;
    }
    return false;
}

static bool selector_matches(const json_t *spec, const json_t *node)
{
    const char *key;
    json_t *value;
    json_object_foreach(tree_get(spec, "nodeSelector"), key, value) {
        if (!json_equal(json_object_get(tree_get(node, "metadata.labels"), key), value))
            return false;
    }
    return true;
}

/* --- taints --- */

struct match {
    const json_t *spec;
    struct doc_parser *parser;
    struct symtab *syms;
    struct arena arena, of_node;
    struct tolerations tolerations;
};

/* A list as the API has it, read as whoever plans reads it. */
static void read_list(struct match *m, struct arena *a, const json_t *list,
                      const struct schema *schema, void *out)
{
    struct field items = {.name = "items", .kind = FIELD_LIST, .schema = schema};
    struct schema object = {.name = "list", .size = sizeof(struct tolerations), .count = 1,
                            .fields = &items};
    struct err err;
    const struct doc *doc;
    json_t *tree = json_pack("{s:O*}", "items", list);
    char *text = json_dumps(tree, JSON_COMPACT);
    if (doc_parse_json(m->parser, span_of(text), &doc, &err))
        decode_one(a, m->syms, doc_root(doc), &object, out, &err);
    free(text);
    json_decref(tree);
}

static bool taints_tolerated(struct match *m, const json_t *node)
{
    const json_t *list = tree_get(node, "spec.taints");
    struct taints taints = {NULL, 0};
    if (json_array_size(list) == 0)
        return true;
    arena_clear(&m->of_node);
    read_list(m, &m->of_node, list, &taint_schema, &taints);
    for (uint32_t i = 0; i < taints.count; i++)
        if (taints.items[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&taints.items[i], m->tolerations, m->syms))
            return false;
    return true;
}

struct match *match_new(const json_t *pod_spec)
{
    struct match *m = mem_new(sizeof(*m));
    m->spec = pod_spec;
    m->parser = doc_parser_new();
    m->syms = kube_symtab_new();
    arena_init(&m->arena, 0);
    arena_init(&m->of_node, 0);
    read_list(m, &m->arena, tree_get(pod_spec, "tolerations"), &toleration_schema, &m->tolerations);
    return m;
}

void match_free(struct match *m)
{
    arena_release(&m->of_node);
    arena_release(&m->arena);
    symtab_unref(m->syms);
    doc_parser_free(m->parser);
    free(m);
}

bool match_node(struct match *m, const json_t *node)
{
    return taints_tolerated(m, node) && selector_matches(m->spec, node) &&
           affinity_matches(m->spec, node);
}
