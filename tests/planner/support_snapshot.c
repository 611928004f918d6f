#include "support_snapshot.h"

struct objects {
    const void **items;
    size_t count, capacity;
};

static struct objects all_of(struct arena *a, const struct snapshot *s, enum kind kind)
{
    struct objects list = {.count = 0};
    struct snapshot_iter it = snapshot_each(s, kind);
    for (const void *object; (object = snapshot_next(&it)) != NULL;)
        ARENA_PUSH(a, list.items, list.count, list.capacity, object);
    return list;
}

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *syms)
{
    (void)previous;
    static const struct world_options options;
    struct snapshot_shop *shop = user;
    static const struct catalogue nothing;
    struct catalogue *listed = shop == NULL ? NULL : ARENA_NEW(&shop->arena, struct catalogue);
    if (shop != NULL)
        catalogue_build(shop->types, &shop->arena, syms, listed);
    struct world_input in = {.syms = syms, .options = &options, .catalogue = shop == NULL ? &nothing : listed};
    struct arena a;
    arena_init(&a, 0);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        struct objects list = all_of(&a, s, k);
        world_input_take(&in, k, list.items, list.count);
    }
    struct world *w = world_build(&in);
    arena_release(&a);
    return w;
}

static void destroy(void *user, void *derived)
{
    (void)user;
    world_free(derived);
}

struct store *snapshot_store_new(void)
{
    return snapshot_store_for(NULL);
}

struct store *snapshot_store_for(struct snapshot_shop *shop)
{
    return store_new(
        &(struct store_deriver){.user = shop, .derive = derive, .destroy = destroy});
}

static bool tell(struct store *s, enum watch_event e, struct doc_value object, struct err *err)
{
    struct doc_value version, kind;
    if (!doc_find(object, SPAN("apiVersion"), &version) || !doc_find(object, SPAN("kind"), &kind))
        return err_set(err, ERR_INVALID, "an object without apiVersion or kind");
    store_event(s, kind_find(doc_text(version), doc_text(kind)), e, object);
    return true;
}

bool snapshot_store_put(struct store *s, const char *yaml, struct err *err)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    bool told = true;
    *err = (struct err){.kind = ERR_NONE};
    for (size_t at = 0; told && doc_parse_yaml(parser, span_of(yaml), &at, &doc, err);)
        told = tell(s, WATCH_PUT, doc_root(doc), err);
    doc_parser_free(parser);
    return err->kind == ERR_NONE;
}

bool snapshot_store_tell(struct store *s, enum watch_event e, struct span json, struct err *err)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    bool told = doc_parse_json(parser, json, &doc, err) && tell(s, e, doc_root(doc), err);
    doc_parser_free(parser);
    return told;
}
