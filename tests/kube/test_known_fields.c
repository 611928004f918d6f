/* The decoding tables of our own kinds are closed: what their definitions in manifests/crds have is known to them, and
 * nothing else is, so that a mistyped field is told and none that is right. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "kube/file_io.h"
#include "kube/kind.h"

enum { FILE_MAX = 1 << 20 };

static const struct schema *wire_of(const struct schema *s)
{
    return s->wire != NULL ? s->wire : s;
}

static const struct field *field_of(const struct schema *s, struct span name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (span_eq(span_of(s->fields[i].name), name))
            return &s->fields[i];
    return NULL;
}

static bool is_also(const struct schema *s, struct span name)
{
    struct span rest = span_of(s->also);
    while (rest.ptr != NULL)
        if (span_eq(span_cut(rest, ' ', &rest), name))
            return true;
    return false;
}

static struct doc_value member(struct doc_value v, const char *name)
{
    struct doc_value out;
    if (!doc_find(v, span_of(name), &out))
        fail_msg("no %s in the definition", name);
    return out;
}

/* Both ways, and on through objects and lists of them. `path` is for messages. */
static void compare(const struct schema *s, struct doc_value definition, const char *path)
{
    struct doc_value properties, inner, items;
    if (!doc_find(definition, SPAN("properties"), &properties))
        return; /* a map */
    if (s->also == NULL)
        fail_msg("%s: the table does not know all names", path);
    for (struct doc_iter it = doc_iter_of(properties); doc_next(&it);) {
        const struct field *f = field_of(s, it.key);
        char deeper[256];
        snprintf(deeper, sizeof(deeper), "%s.%.*s", path, SPAN_ARG(it.key));
        if (f == NULL && !is_also(s, it.key))
            fail_msg("%s is not in the table", deeper);
        inner = doc_find(it.value, SPAN("items"), &items) ? items : it.value;
        bool any_metadata = span_eq(it.key, SPAN("metadata")) && strchr(path, '.') == NULL;
        if (f != NULL && f->schema != NULL && f->kind != FIELD_MAP && !any_metadata)
            compare(wire_of(f->schema), inner, deeper);
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (!doc_find(properties, span_of(s->fields[i].name), &inner))
            fail_msg("%s.%s is not in the definition", path, s->fields[i].name);
}

static void definitions_and_tables_agree(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum kind kind;
    } rows[] = {
        {"nodepools", KIND_NODE_POOL},           {"nodeclaims", KIND_NODE_CLAIM},
        {"nodeoverlays", KIND_NODE_OVERLAY},     {"capacitybuffers", KIND_CAPACITY_BUFFER},
        {"kwoknodeclasses", KIND_KWOK_NODE_CLASS}, {"clusterapinodeclasses", KIND_CLUSTER_API_NODE_CLASS},
    };
    struct doc_parser *parser = doc_parser_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct span text;
        struct err err;
        const struct doc *doc;
        size_t at = 0;
        arena_init(&a, 0);
        const char *path = arena_printf(&a, SOURCE_DIR "/manifests/crds/%s.yaml", rows[i].file).ptr;
        if (!file_load(&a, path, FILE_MAX, &text, &err) || !doc_parse_yaml(parser, text, &at, &doc, &err))
            fail_msg("%s", err.msg);
        struct doc_iter versions = doc_iter_of(member(member(doc_root(doc), "spec"), "versions"));
        assert_true(doc_next(&versions));
        compare(wire_of(kind_info(rows[i].kind)->schema),
                member(member(versions.value, "schema"), "openAPIV3Schema"), rows[i].file);
        arena_release(&a);
    }
    doc_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(definitions_and_tables_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
