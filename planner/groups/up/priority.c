#include "planner/groups/up/priority.h"

#include "base/doc.h"
#include "base/regexp.h"
#include "kube/config_map.h"

struct priority_rule {
    int64_t level;
    const struct regexp *names;
};

struct group_priorities {
    struct priority_rule *items;
    uint32_t count, capacity;
};

static bool add_level(struct arena *a, struct group_priorities *p, struct span key, struct doc_value list)
{
    int64_t level;
    if (!span_int64(key, &level) || (doc_type(list) != DOC_ARRAY && doc_type(list) != DOC_NULL))
        return false;
    for (struct doc_iter it = doc_iter_of(list); doc_next(&it);) {
        struct priority_rule rule = {.level = level};
        struct err err = {0};
        if (doc_type(it.value) != DOC_STRING ||
            !regexp_parse(a, arena_dup(a, doc_text(it.value)), &rule.names, &err))
            return false;
        ARENA_PUSH(a, p->items, p->count, p->capacity, rule);
    }
    return true;
}

static const struct group_priorities *read(struct arena *a, struct doc_parser *parser, struct span text)
{
    struct group_priorities *p = ARENA_NEW(a, struct group_priorities);
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    if (!doc_parse_yaml(parser, text, &at, &doc, &err) || doc_type(doc_root(doc)) != DOC_OBJECT)
        return NULL;
    for (struct doc_iter it = doc_iter_of(doc_root(doc)); doc_next(&it);)
        if (!add_level(a, p, it.key, it.value))
            return NULL;
    return p;
}

static const struct config_map *find(const struct group_run *r)
{
    for (size_t i = 0; i < r->objects->config_map_count; i++) {
        const struct config_map *c = r->objects->config_maps[i];
        if (span_eq(c->meta.name, SPAN(PRIORITY_CONFIG_MAP)) && span_eq(c->meta.ns, r->flags->config_namespace))
            return c;
    }
    return NULL;
}

const struct group_priorities *groups_priorities(struct group_run *r)
{
    const struct config_map *c = find(r);
    const struct group_priorities *out = NULL;
    for (uint32_t i = 0; c != NULL && i < c->data.count; i++) {
        if (!span_eq(c->data.items[i].key, SPAN("priorities")))
            continue;
        struct doc_parser *parser = doc_parser_new();
        out = read(r->arena, parser, c->data.items[i].value);
        doc_parser_free(parser);
    }
    return out;
}

bool group_priority(const struct group_priorities *p, struct span group, int64_t *out)
{
    bool found = false;
    for (uint32_t i = 0; i < p->count; i++)
        if ((!found || p->items[i].level > *out) && regexp_finds(p->items[i].names, group)) {
            *out = p->items[i].level;
            found = true;
        }
    return found;
}
