#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/wellknown.h"
#include "support_cluster.h"

void cluster_open(struct reviewed_cluster *c, const char *yaml)
{
    struct err err;
    c->scratch.parser = doc_parser_new();
    arena_init(&c->scratch.arena, 0);
    arena_init(&c->arena, 0);
    arena_init(&c->shop.arena, 0);
    c->shop.types = catalogue_builtin();
    c->syms = kube_symtab_new();
    c->store = snapshot_store_for(&c->shop);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_begin(c->store, k);
    if (!snapshot_store_put(c->store, yaml, &err))
        fail_msg("%s", err.msg);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_end(c->store, k);
    store_publish(c->store, 0);
    c->snapshot = (const struct snapshot *)share_take(store_share(c->store));
    assert_int_equal(c->snapshot->aside_count, 0);
}

void cluster_close(struct reviewed_cluster *c)
{
    shared_unref((struct shared *)(uintptr_t)&c->snapshot->shared);
    store_free(c->store);
    catalogue_source_free(c->shop.types);
    arena_release(&c->shop.arena);
    doc_parser_free(c->scratch.parser);
    arena_release(&c->scratch.arena);
    arena_release(&c->arena);
    symtab_unref(c->syms);
    buf_release(&c->reply);
}

struct doc_value cluster_response(struct reviewed_cluster *c, struct span *warnings_out)
{
    const struct doc *doc;
    struct doc_value response, list;
    struct err err;
    *warnings_out = SPAN("");
    if (!doc_parse_json(c->scratch.parser, buf_span(&c->reply), &doc, &err))
        fail_msg("%s", err.msg);
    assert_true(doc_find(doc_root(doc), SPAN("response"), &response));
    if (doc_find(response, SPAN("warnings"), &list)) {
        struct doc_iter it = doc_iter_of(list);
        while (doc_next(&it))
            *warnings_out = arena_printf(&c->arena, "%.*s%.*s\n", SPAN_ARG(*warnings_out), SPAN_ARG(doc_text(it.value)));
    }
    return response;
}
