#include "sim/cluster_state.h"

static void ensure_namespace(struct sim_cluster *c, struct span ns)
{
    if (objects_find(&c->objects, KIND_NAMESPACE, (struct span){NULL, 0}, ns) == NULL)
        registry_import(&c->objects, KIND_NAMESPACE,
                        json_pack("{s:s, s:s, s:{s:o}}", "apiVersion", "v1", "kind", "Namespace",
                                  "metadata", "name", tree_of_span(ns)));
}

/* Takes the object. */
static bool put_object(struct sim_cluster *c, enum kind k, json_t *object, struct err *err)
{
    char key[OBJECTS_KEY_MAX];
    if (tree_string(object, "metadata.name").len == 0 || !objects_key_of(key, k, object)) {
        json_decref(object);
        return err_set(err, ERR_INVALID, "a %s has no metadata.name", kind_info(k)->name);
    }
    if (kind_info(k)->namespaced) {
        if (tree_string(object, "metadata.namespace").len == 0)
            tree_set(object, "metadata.namespace", json_string("default"));
        ensure_namespace(c, tree_string(object, "metadata.namespace"));
    }
    registry_import(&c->objects, k, object);
    return true;
}

/* Takes the object. */
static bool load_object(struct sim_cluster *c, json_t *object, uint32_t *passed_over, struct err *err)
{
    enum kind k = kind_find(tree_string(object, "apiVersion"), tree_string(object, "kind"));
    if (k != KIND_NONE)
        return put_object(c, k, object, err);
    ++*passed_over;
    json_decref(object);
    return true;
}

bool sim_cluster_add(struct sim_cluster *c, enum kind k, struct doc_value object, struct err *err)
{
    const struct kind_info *info = kind_info(k);
    json_t *root = tree_of_doc(object);
    struct span ns = tree_string(root, "metadata.namespace"), name = tree_string(root, "metadata.name");
    if (!info->namespaced)
        ns = (struct span){NULL, 0};
    else if (ns.len == 0)
        ns = SPAN("default");
    if (k != KIND_NAMESPACE && objects_find(&c->objects, k, ns, name) != NULL) {
        json_decref(root);
        return true;
    }
    tree_set(root, "apiVersion", json_string(info->api_version)); /* an item of a PodList has none */
    tree_set(root, "kind", json_string(info->name));
    return put_object(c, k, root, err);
}

static bool load_tree(struct sim_cluster *c, const json_t *root, uint32_t *passed_over,
                      struct err *err)
{
    size_t i;
    json_t *item;
    if (!json_is_object(root))
        return err_set(err, ERR_INVALID, "a document is not an object");
    if (!json_is_array(json_object_get(root, "items")))
        return load_object(c, json_deep_copy(root), passed_over, err);
    json_array_foreach(json_object_get(root, "items"), i, item) {
        if (!load_tree(c, item, passed_over, err))
            return false;
    }
    return true;
}

static bool is_json(struct span text)
{
    size_t i = 0;
    while (i < text.len && strchr(" \t\r\n", text.ptr[i]) != NULL)
        i++;
    return i < text.len && text.ptr[i] == '{';
}

static bool next_doc(struct sim_cluster *c, struct span text, size_t *at, const struct doc **doc,
                     struct err *err)
{
    if (!is_json(text))
        return doc_parse_yaml(c->parser, text, at, doc, err);
    err->kind = ERR_NONE;
    if (*at != 0)
        return false;
    *at = text.len;
    return doc_parse_json(c->parser, text, doc, err);
}

bool sim_cluster_load(struct sim_cluster *c, struct span text, uint32_t *passed_over_out,
                      struct err *err)
{
    const struct doc *doc;
    uint32_t passed_over = 0;
    size_t at = 0;
    while (next_doc(c, text, &at, &doc, err)) {
        json_t *root = tree_of_doc(doc_root(doc));
        bool ok = load_tree(c, root, &passed_over, err);
        json_decref(root);
        if (!ok)
            return false;
    }
    if (passed_over_out != NULL)
        *passed_over_out = passed_over;
    return err->kind == ERR_NONE;
}
