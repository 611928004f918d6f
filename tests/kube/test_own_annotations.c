/* Which keys of ours are told to mean nothing where they stand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/own_annotations.h"

static void keys_belong_to_kinds(void **state)
{
    (void)state;
    static const struct {
        enum kind of;
        const char *key, *told; /* NULL: nothing */
    } rows[] = {
        {KIND_NODE_POOL, "stowage.dev/mode", NULL},
        {KIND_NODE_POOL, "example.com/mode", NULL},
        {KIND_NODE_POOL, "stowage.dev/mdoe", "there is no such annotation. Fix: write stowage.dev/mode"},
        {KIND_NODE_POOL, "stowage.dev/spot-percent", "has no effect on a NodePool. Fix: write it on the template of the workload's pods"},
        {KIND_NODE_POOL, "stowage.dev/prefer", "has no effect on a NodePool. Fix: write it on the template of the workload's pods"},
        {KIND_NODE_POOL, "stowage.dev/replaces", "has no effect on a NodePool. Fix: remove it"},
        {KIND_NODE_CLAIM, "stowage.dev/replaces", NULL},
        {KIND_NODE_CLAIM, "stowage.dev/nodeclaim-uid", NULL}, /* our own providers write it */
        {KIND_NODE_CLAIM, "stowage.dev/decisoin", "there is no such annotation. Fix: write stowage.dev/decision"},
        {KIND_NODE_CLAIM, "stowage.dev/mdoe", "there is no such annotation. Fix: remove it"},
        {KIND_NODE_OVERLAY, "stowage.dev/mode", "has no effect on a NodeOverlay. Fix: write it on the NodePool"},
        {KIND_KWOK_NODE_CLASS, "stowage.dev/mdoe", "there is no such annotation. Fix: remove it"},
    };
    struct symtab *syms = kube_symtab_new();
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct annotation one = {sym_intern(syms, span_of(rows[i].key)), SPAN("x")};
        struct findings found = {0};
        own_annotations_warnings(&a, (struct annotations){&one, 1}, rows[i].of, syms, &found);
        struct span got = found.count != 0 ? found.items[0].text : SPAN("");
        if (!span_eq(got, span_of(rows[i].told != NULL ? rows[i].told : "")) || (found.count != 0 && found.items[0].refuses))
            fail_msg("%s on a %s: %.*s", rows[i].key, kind_info(rows[i].of)->name, SPAN_ARG(got));
        if (found.count != 0)
            assert_true(span_eq(found.items[0].path, arena_printf(&a, "metadata.annotations[%s]", rows[i].key)));
    }
    arena_release(&a);
    symtab_unref(syms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_belong_to_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
