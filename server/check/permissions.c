#include "server/check/permissions.h"

#include <assert.h>

#include "base/doc.h"
#include "base/json.h"

extern const char rbac_yaml[];
extern const size_t rbac_yaml_len;
extern const char deletion_cost_rbac_yaml[];
extern const size_t deletion_cost_rbac_yaml_len;
extern const char kwok_rbac_yaml[];
extern const size_t kwok_rbac_yaml_len;
extern const char shaping_rbac_yaml[];
extern const size_t shaping_rbac_yaml_len;
extern const char groups_rbac_yaml[];
extern const size_t groups_rbac_yaml_len;
extern const char groups_clusterapi_rbac_yaml[];
extern const size_t groups_clusterapi_rbac_yaml_len;

enum { WORDS_MAX = 64 }; /* in one list of a rule */

struct words {
    struct span items[WORDS_MAX];
    uint32_t count;
};

/* A member that is a list of texts; without it, where it need not be, one absent text. */
static bool read_words(struct arena *a, struct doc_value rule, const char *key, bool required,
                       struct words *out, struct err *err)
{
    struct doc_value list;
    *out = (struct words){.count = 1};
    if (!doc_find(rule, span_of(key), &list))
        return !required || err_set(err, ERR_INVALID, "a rule has no %s", key);
    if (doc_count(list) > WORDS_MAX || doc_count(list) == 0)
        return err_set(err, ERR_INVALID, "a rule's %s are none or too many", key);
    out->count = doc_texts(list, out->items);
    for (uint32_t i = 0; i < out->count; i++)
        out->items[i] = arena_dup(a, out->items[i]);
    return out->count == doc_count(list) || err_set(err, ERR_INVALID, "%s are not texts", key);
}

static void add_resource(struct arena *a, struct permissions *out, const struct permission *rule,
                         const struct words *verbs, const struct words *names)
{
    struct permission p = *rule;
    p.resource = span_cut(rule->resource, '/', &p.subresource);
    for (uint32_t v = 0; v < verbs->count; v++)
        for (uint32_t n = 0; n < names->count; n++) {
            p.verb = verbs->items[v];
            p.name = names->items[n];
            ARENA_PUSH(a, out->items, out->count, out->capacity, p);
        }
}

static bool read_rule(struct arena *a, struct doc_value rule, struct span ns,
                      struct permissions *out, struct err *err)
{
    struct words groups, resources, verbs, names;
    if (!read_words(a, rule, "apiGroups", true, &groups, err) ||
        !read_words(a, rule, "resources", true, &resources, err) ||
        !read_words(a, rule, "verbs", true, &verbs, err) ||
        !read_words(a, rule, "resourceNames", false, &names, err))
        return false;
    for (uint32_t g = 0; g < groups.count; g++)
        for (uint32_t r = 0; r < resources.count; r++) {
            struct permission p = {
                .group = groups.items[g], .resource = resources.items[r], .ns = ns};
            add_resource(a, out, &p, &verbs, &names);
        }
    return true;
}

static bool read_role(struct arena *a, struct doc_value role, struct span ns,
                      struct permissions *out, struct err *err)
{
    struct doc_value rules;
    struct span kind = doc_text_at(role, SPAN("kind"));
    bool whole = span_eq(kind, SPAN("ClusterRole"));
    if (!whole && !span_eq(kind, SPAN("Role")))
        return true;
    if (whole)
        ns = (struct span){0};
    if (!doc_find(role, SPAN("rules"), &rules))
        return err_set(err, ERR_INVALID, "a %.*s has no rules", SPAN_ARG(kind));
    if (whole)
        ns = (struct span){0};
    struct doc_iter it = doc_iter_of(rules);
    while (doc_next(&it))
        if (!read_rule(a, it.value, ns, out, err))
            return false;
    return true;
}

bool permissions_decode(struct arena *a, struct span yaml, struct span ns, struct permissions *out,
                        struct err *err)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *d;
    size_t at = 0;
    bool ok = true;
    *err = (struct err){0};
    while (ok && doc_parse_yaml(parser, yaml, &at, &d, err))
        ok = read_role(a, doc_root(d), ns, out, err);
    doc_parser_free(parser);
    return err->kind == ERR_NONE;
}

void permissions_shipped(struct arena *a, struct span ns, const struct options *o, struct permissions *out)
{
    const struct {
        struct span yaml;
        bool asked;
    } files[] = {
        {{rbac_yaml, rbac_yaml_len}, true},
        {{deletion_cost_rbac_yaml, deletion_cost_rbac_yaml_len}, o->gates.pod_deletion_cost},
    };
    struct err err;
    bool ok = true;
    *out = (struct permissions){0};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        ok &= !files[i].asked || permissions_decode(a, files[i].yaml, ns, out, &err);
    assert(ok); /* a test reads them */
    (void)ok;
}

/* Adds what a file grants in the whole cluster. */
static void add_embedded(struct arena *a, const char *yaml, size_t len, struct permissions *out)
{
    struct err err;
    bool ok = permissions_decode(a, (struct span){yaml, len}, (struct span){NULL, 0}, out, &err);
    assert(ok); /* a test reads them */
    (void)ok;
}

void permissions_of_kwok(struct arena *a, struct permissions *out)
{
    *out = (struct permissions){0};
    add_embedded(a, kwok_rbac_yaml, kwok_rbac_yaml_len, out);
}

void permissions_of_shaping(struct arena *a, struct permissions *out)
{
    *out = (struct permissions){0};
    add_embedded(a, shaping_rbac_yaml, shaping_rbac_yaml_len, out);
}

void permissions_of_groups(struct arena *a, const struct group_options_given *g, struct permissions *out)
{
    struct span ns = g->settings.flags.config_namespace, map = group_settings_default().status_name;
    struct err err;
    *out = (struct permissions){0};
    bool ok = permissions_decode(a, (struct span){groups_rbac_yaml, groups_rbac_yaml_len}, ns, out, &err);
    for (uint32_t i = 0; i < out->count; i++)
        if (span_eq(out->items[i].name, map))
            out->items[i].name = g->settings.status_name;
    assert(ok); /* a test reads them */
    (void)ok;
    if (span_eq(g->cloud_provider, SPAN("clusterapi")) && !group_options_elsewhere(g))
        add_embedded(a, groups_clusterapi_rbac_yaml, groups_clusterapi_rbac_yaml_len, out);
    if (span_eq(g->cloud_provider, SPAN("kwok")))
        add_embedded(a, kwok_rbac_yaml, kwok_rbac_yaml_len, out);
}

bool permissions_have(const struct permissions *p, enum kind k, struct span verb)
{
    struct span version;
    struct span group = span_cut(span_of(kind_info(k)->api_version), '/', &version);
    if (version.ptr == NULL)
        group = SPAN(""); /* "v1" */
    for (uint32_t i = 0; i < p->count; i++) {
        const struct permission *x = &p->items[i];
        if (x->name.len == 0 && x->ns.len == 0 && x->subresource.len == 0 &&
            span_eq(x->group, group) && span_eq(x->resource, span_of(kind_info(k)->plural)) &&
            span_eq(x->verb, verb))
            return true;
    }
    return false;
}

static void put_present(struct json *j, const char *key, struct span text)
{
    if (text.len != 0)
        json_put_string(j, key, text);
}

void permission_put(struct json *j, const struct permission *p)
{
    json_put_object(j, "resourceAttributes");
    put_present(j, "namespace", p->ns);
    json_put_string(j, "verb", p->verb);
    put_present(j, "group", p->group);
    json_put_string(j, "resource", p->resource);
    put_present(j, "subresource", p->subresource);
    put_present(j, "name", p->name);
    json_object_end(j);
}

struct span permission_text(struct arena *a, const struct permission *p)
{
    struct buf b = {0};
    buf_addf(&b, "%.*s %.*s", SPAN_ARG(p->verb), SPAN_ARG(p->resource));
    if (p->subresource.len != 0)
        buf_addf(&b, "/%.*s", SPAN_ARG(p->subresource));
    if (p->group.len != 0)
        buf_addf(&b, ".%.*s", SPAN_ARG(p->group));
    if (p->name.len != 0)
        buf_addf(&b, " %.*s", SPAN_ARG(p->name));
    if (p->ns.len != 0)
        buf_addf(&b, " in %.*s", SPAN_ARG(p->ns));
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}
