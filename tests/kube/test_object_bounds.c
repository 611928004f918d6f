/* What is left of an object with more entries than are planned: a Pod holds its room and stays what it is to others,
 * and a NodePool is refused with the list and the bound named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/buf.h"
#include "kube/node.h"
#include "kube/object_bounds.h"
#include "kube/pod.h"
#include "kube/pool_validate.h"

struct fixture {
    struct arena arena;
    struct symtab *syms;
    struct doc_parser *parser;
};

static int setup(void **state)
{
    static struct fixture f;
    arena_init(&f.arena, 0);
    f.syms = kube_symtab_new();
    f.parser = doc_parser_new();
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_release(&f->arena);
    symtab_unref(f->syms);
    doc_parser_free(f->parser);
    return 0;
}

static void *decoded(struct fixture *f, const struct schema *schema, struct buf *json)
{
    void *object = arena_alloc(&f->arena, schema->size);
    const struct doc *doc;
    struct err err;
    assert_true(doc_parse_json(f->parser, buf_span(json), &doc, &err));
    if (!decode_one(&f->arena, f->syms, doc_root(doc), schema, object, &err))
        fail_msg("%s", err.msg);
    buf_release(json);
    return object;
}

static void put_many(struct buf *b, const char *format, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        buf_add(b, i != 0 ? SPAN(",") : SPAN(""));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        buf_addf(b, format, i);
#pragma GCC diagnostic pop
    }
}

/* With so many expressions in one term of node affinity, and a little of all else. */
static const struct pod *pod_with(struct fixture *f, unsigned expressions, unsigned terms)
{
    struct buf b = {0};
    buf_addf(&b, "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\"}},\"spec\":{\"nodeName\":\"one\","
                 "\"nodeSelector\":{\"a\":\"b\"},\"tolerations\":[{\"operator\":\"Exists\"}],"
                 "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\"}],"
                 "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}],"
                 "\"containers\":[{\"name\":\"c\",\"ports\":[{\"hostPort\":80}],\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],"
                 "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[");
    for (unsigned i = 0; i < terms; i++) {
        buf_addf(&b, "%s{\"matchExpressions\":[", i != 0 ? "," : "");
        put_many(&b, "{\"key\":\"k%u\",\"operator\":\"Exists\"}", expressions);
        buf_addf(&b, "]}");
    }
    buf_addf(&b, "]}}}}}");
    return decoded(f, &pod_schema, &b);
}

static void assert_whole(const struct pod *p)
{
    assert_int_equal(p->meta.excess, SYM_NONE);
    assert_non_null(p->affinity);
    assert_int_equal(p->node_selector.count + p->tolerations.count + p->spreads.count + p->ports.count, 4);
}

/* What decides about others, and about the room on its node, is there; what it asks for itself is not. */
static void assert_held(const struct pod *p)
{
    assert_null(p->affinity);
    assert_int_equal(p->node_selector.count + p->tolerations.count + p->spreads.count + p->ports.count, 0);
    assert_int_equal(resources_get(p->requests, SYM_CPU), 2000);
    assert_int_equal(p->meta.labels.count, 1);
    assert_int_equal(p->volumes.count, 1);
    assert_int_not_equal(p->node, SYM_NONE);
}

static void test_pod_at_the_bound_is_whole(void **state)
{
    assert_whole(pod_with(*state, OBJECT_LIST_MAX, 1));
    assert_whole(pod_with(*state, OBJECT_LIST_MAX, 9));
}

static void test_pod_beyond_the_bound_holds_its_room(void **state)
{
    struct fixture *f = *state;
    const struct pod *p = pod_with(f, OBJECT_LIST_MAX + 1, 1);
    assert_held(p);
    assert_true(span_eq(sym_text(f->syms, p->meta.excess),
                        SPAN("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
                             ".matchExpressions has 1001 entries; Stowage plans objects with at most 1000 in one list")));
}

static void test_lists_within_lists_multiply(void **state)
{
    struct fixture *f = *state;
    const struct pod *p = pod_with(f, OBJECT_LIST_MAX, 10); /* and the terms, and all else */
    assert_held(p);
    assert_true(span_has_suffix(sym_text(f->syms, p->meta.excess),
                                SPAN(" goes beyond the 10000 entries that all lists of one object may have")));
}

static const struct pod *annotated_pod(struct fixture *f, const char *annotation)
{
    struct buf b = {0};
    buf_addf(&b, "{\"metadata\":{\"name\":\"p\",\"annotations\":{");
    put_many(&b, annotation, OBJECT_LIST_MAX + 1);
    buf_addf(&b, "}}}");
    return decoded(f, &pod_schema, &b);
}

static void test_what_is_not_read_does_not_count(void **state)
{
    assert_int_equal(annotated_pod(*state, "\"example.com/a%u\":\"x\"")->meta.excess, SYM_NONE);
    assert_int_not_equal(annotated_pod(*state, "\"karpenter.sh/a%u\":\"x\"")->meta.excess, SYM_NONE);
}

static void test_pool_is_refused_with_list_and_bound(void **state)
{
    struct fixture *f = *state;
    struct label_rules rules = {.domain_count = 0};
    struct findings found = {0};
    struct buf b = {0};
    buf_addf(&b, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"template\":{\"spec\":{\"taints\":[");
    put_many(&b, "{\"key\":\"k%u\",\"effect\":\"NoSchedule\"}", OBJECT_LIST_MAX + 1);
    buf_addf(&b, "]}}}}");
    const struct node_pool *p = decoded(f, &node_pool_schema, &b);
    pool_validate(&f->arena, p, &rules, f->syms, &found);
    assert_int_equal(found.count, 1);
    assert_true(span_eq(found.items[0].path, SPAN("spec.template.spec.taints")));
    assert_true(span_eq(found.items[0].text, SPAN("has 1001 entries; Stowage plans objects with at most 1000 in one list")));
}

/* In the live cache the sentence moves to another table of symbols with the rest. */
static void test_excess_is_packed(void **state)
{
    struct fixture *f = *state;
    const struct pod *p = pod_with(f, OBJECT_LIST_MAX + 1, 1);
    struct symtab *other = kube_symtab_new();
    size_t size;
    sym_intern(other, SPAN("a text that the first table does not have"));
    struct pod *moved = schema_pack(&pod_schema, p, 0, f->syms, other, &size);
    assert_true(span_has_suffix(sym_text(other, moved->meta.excess), SPAN("at most 1000 in one list")));
    free(moved);
    symtab_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pod_at_the_bound_is_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pod_beyond_the_bound_holds_its_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_within_lists_multiply, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_read_does_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pool_is_refused_with_list_and_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_excess_is_packed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
