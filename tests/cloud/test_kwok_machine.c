#include "cloud/kwok_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "base/decode.h"

struct desk {
    struct arena arena;
    struct symtab *syms;
    struct catalogue types;
};

static struct desk *begin_with(struct catalogue_source *s)
{
    static struct desk d;
    d = (struct desk){.syms = kube_symtab_new()};
    arena_init(&d.arena, 0);
    catalogue_build(s, &d.arena, d.syms, &d.types);
    catalogue_source_free(s);
    return &d;
}

static struct desk *begin(void)
{
    return begin_with(catalogue_builtin());
}

static void end(struct desk *d)
{
    arena_release(&d->arena);
    symtab_unref(d->syms);
}

static const struct node_claim *claim_with(struct desk *d, const char *spec)
{
    struct doc_parser *p = doc_parser_new();
    struct node_claim *c = ARENA_NEW(&d->arena, struct node_claim);
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    struct span text = arena_printf(
        &d->arena,
        "metadata: {name: general-x, uid: claim-uid, labels: {team: a, karpenter.sh/nodepool: "
        "general}, annotations: {example.com/owner: shop}}\nspec: {%s}\n",
        spec);
    if (!doc_parse_yaml(p, text, &at, &doc, &err) ||
        !decode_one(&d->arena, d->syms, doc_root(doc), &node_claim_schema, c, &err))
        fail_msg("%s: %s", spec, err.msg);
    doc_parser_free(p);
    return c;
}

static const struct node_claim *claim_of(struct desk *d, const char *requirements)
{
    return claim_with(d, arena_printf(&d->arena, "requirements: [%s]", requirements).ptr);
}

#define TYPES(names) "{key: node.kubernetes.io/instance-type, operator: In, values: [" names "]}"

static bool no_zone_a(void *user, const struct kwok_choice *c)
{
    (void)user;
    return span_eq(c->zone, SPAN("test-zone-a"));
}

static const struct {
    const char *label, *requirements;
    bool a_is_sold_out;
    enum err_kind want_err;
    const char *type, *zone, *capacity_type;
} rows[] = {
    {"the cheapest offering of all", TYPES("m-1x-amd64-linux, c-1x-amd64-linux"), false, ERR_NONE,
     "c-1x-amd64-linux", "test-zone-a", "spot"},
    {"of equal prices the first type by name", TYPES("c-1x-arm64-linux, c-1x-amd64-linux"), false,
     ERR_NONE, "c-1x-amd64-linux", "test-zone-a", "spot"},
    {"only what the claim admits",
     TYPES("c-1x-amd64-linux") ", {key: karpenter.sh/capacity-type, operator: In, values: "
                               "[on-demand]}, {key: topology.kubernetes.io/zone, operator: NotIn, "
                               "values: [test-zone-a, test-zone-b]}",
     false, ERR_NONE, "c-1x-amd64-linux", "test-zone-c", "on-demand"},
    {"what is sold out is passed over", TYPES("c-1x-amd64-linux"), true, ERR_NONE,
     "c-1x-amd64-linux", "test-zone-b", "spot"},
    {"a type that does not suit the claim",
     TYPES("c-1x-amd64-linux, c-1x-arm64-linux") ", {key: kubernetes.io/arch, operator: In, values: "
                                                 "[arm64]}",
     false, ERR_NONE, "c-1x-arm64-linux", "test-zone-a", "spot"},
    {"no requirement on the type", "{key: kubernetes.io/arch, operator: In, values: [arm64]}",
     false, ERR_NONE, "c-1x-arm64-linux", "test-zone-a", "spot"},
    {"any type but one",
     "{key: node.kubernetes.io/instance-type, operator: NotIn, values: [c-1x-amd64-linux]}", false,
     ERR_NONE, "c-1x-amd64-windows", "test-zone-a", "spot"},
    {"no type suits", "{key: kubernetes.io/arch, operator: In, values: [abacus]}", false,
     ERR_CAPACITY, NULL, NULL, NULL},
    {"an unknown type", TYPES("t-800"), false, ERR_INVALID, NULL, NULL, NULL},
    {"no zone suits",
     TYPES("c-1x-amd64-linux") ", {key: topology.kubernetes.io/zone, operator: In, values: [mars]}",
     false, ERR_CAPACITY, NULL, NULL, NULL},
};

static void choices(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct desk *d = begin();
        struct kwok_choice c;
        struct err err = {0};
        bool ok = kwok_choose(&d->arena, claim_of(d, rows[r].requirements), d->syms, &d->types,
                              d->syms, rows[r].a_is_sold_out ? no_zone_a : NULL, NULL, &c, &err);
        if (ok != (rows[r].want_err == ERR_NONE) || (!ok && err.kind != rows[r].want_err))
            fail_msg("%s: %s %s", rows[r].label, err_kind_name(err.kind), err.msg);
        if (ok && (!span_eq(c.type->name, span_of(rows[r].type)) ||
                   !span_eq(c.zone, span_of(rows[r].zone)) ||
                   !span_eq(c.capacity_type, span_of(rows[r].capacity_type))))
            fail_msg("%s: %.*s %.*s %.*s", rows[r].label, SPAN_ARG(c.type->name),
                     SPAN_ARG(c.zone), SPAN_ARG(c.capacity_type));
        end(d);
    }
}

/* Offerings of one zone and capacity type that only an override tells apart. */
static void a_claim_gets_the_offering_that_holds_it(void **state)
{
    (void)state;
#define SPOT_A                                                                                     \
    "\"available\": true, \"requirements\": [{\"key\": \"topology.kubernetes.io/zone\", \"operator\": "   \
    "\"In\", \"values\": [\"a\"]}, {\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", "     \
    "\"values\": [\"spot\"]}]"
    static const char types[] =
        "[{\"name\": \"t\", \"requirements\": [], \"resources\": {\"cpu\": \"4\", \"memory\": \"8Gi\", \"pods\": "
        "\"10\"}, \"offerings\": [{\"price\": 1, " SPOT_A "}, {\"price\": 2, " SPOT_A ", \"capacityOverride\": "
        "{\"example.com/device\": \"2\"}}]}]";
    static const struct {
        const char *label, *requests;
        double price;
    } cases[] = {
        {"the cheaper one, which does", "cpu: 1", 1},
        {"the override", "cpu: 1, example.com/device: 1", 2},
        {"none, so that price decides: a NodeOverlay may have added it", "example.com/overlaid: 1", 1},
    };
    for (size_t r = 0; r < COUNT_OF(cases); r++) {
        struct catalogue_source *s;
        struct kwok_choice c;
        struct err err = {0};
        if (!catalogue_decode(span_of(types), SPAN("types.json"), &s, &err))
            fail_msg("%s", err.msg);
        struct desk *d = begin_with(s);
        struct span spec = arena_printf(&d->arena, "requirements: [" TYPES("t") "], resources: {requests: {%s}}",
                                        cases[r].requests);
        if (!kwok_choose(&d->arena, claim_with(d, spec.ptr), d->syms, &d->types, d->syms, NULL, NULL, &c, &err))
            fail_msg("%s: %s", cases[r].label, err.msg);
        if (c.offering->price != cases[r].price)
            fail_msg("%s: price %g, want %g", cases[r].label, c.offering->price, cases[r].price);
        end(d);
    }
}

/* Who leaves the type open gets one of those that its pool is offered. */
static void a_claim_gets_a_type_of_its_pool(void **state)
{
    (void)state;
#define SOLD "\"requirements\": [], \"resources\": {\"cpu\": \"4\"}, \"offerings\": [{\"price\": "
    static const char types[] =
        "[{\"name\": \"a\", \"nodePools\": [\"gpu\"], " SOLD "1, " SPOT_A "}]}, {\"name\": \"b\", "
        "\"nodePools\": [\"gpu\", \"general\"], " SOLD "2, " SPOT_A "}]}, {\"name\": \"c\", " SOLD "3, " SPOT_A "}]}]";
    struct catalogue_source *s;
    struct kwok_choice c;
    struct err err = {0};
    if (!catalogue_decode(span_of(types), SPAN("types.json"), &s, &err))
        fail_msg("%s", err.msg);
    struct desk *d = begin_with(s);
    assert_true(kwok_choose(&d->arena, claim_of(d, ""), d->syms, &d->types, d->syms, NULL, NULL, &c, &err));
    assert_true(span_eq(c.type->name, SPAN("b")));
    end(d);
}

static const char *label_of(const struct machine *m, const char *key)
{
    for (uint32_t i = 0; i < m->labels.count; i++)
        if (span_eq(m->labels.items[i].key, span_of(key)))
            return m->labels.items[i].value.ptr;
    return NULL;
}

static void a_machine_becomes_a_node_and_is_read_back(void **state)
{
    (void)state;
    struct desk *d = begin();
    struct kwok_choice c;
    struct err err;
    struct machine back;
    const struct node_claim *claim = claim_of(d, TYPES("s-4x-amd64-linux"));
    assert_true(kwok_choose(&d->arena, claim, d->syms, &d->types, d->syms, NULL, NULL, &c, &err));
    struct machine m = kwok_machine(&d->arena, claim, d->syms, &c, d->syms);
    assert_string_equal(label_of(&m, "eks-node-viewer/instance-price"), "0.082026");
    assert_string_equal(label_of(&m, "kwok-partition"), "a");
    assert_string_equal(label_of(&m, "kubernetes.io/hostname"), "general-x");
    assert_string_equal(label_of(&m, "kwok.x-k8s.io/node"), "fake");
    assert_string_equal(label_of(&m, "node.kubernetes.io/instance-type"), "s-4x-amd64-linux");
    assert_string_equal(label_of(&m, "karpenter.kwok.sh/instance-memory"), "16Gi");
    assert_string_equal(label_of(&m, "topology.kubernetes.io/zone"), "test-zone-a");
    assert_string_equal(label_of(&m, "team"), "a");
    assert_int_equal(resources_get(m.capacity, SYM_CPU), 4000); /* the type's, not the requests' */

    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct span body = kwok_node_body(&d->arena, &m, d->syms);
    if (!doc_parse_json(p, body, &doc, &err))
        fail_msg("%s", err.msg);
    assert_true(kwok_machine_of_node(&d->arena, doc_root(doc), d->syms, &back));
    assert_true(span_eq(back.provider_id, SPAN("kwok://general-x")));
    assert_false(back.deleting);
    assert_true(span_eq(back.claim_uid, SPAN("claim-uid")));
    assert_true(span_eq(back.claim_name, SPAN("general-x")));
    assert_int_equal(back.labels.count, m.labels.count);
    assert_int_equal(resources_get(back.capacity, SYM_MEMORY), 16LL << 30);
    assert_int_equal(resources_get(back.allocatable, SYM_CPU), 3900);
    assert_true(span_contains(body, SPAN("\"taints\":[{\"key\":\"karpenter.sh/unregistered\","
                                         "\"effect\":\"NoExecute\"}]")));
    assert_true(span_contains(body, SPAN("\"example.com/owner\":\"shop\"")));
    doc_parser_free(p);
    end(d);
}

static void a_node_that_is_being_deleted_is_a_machine_that_goes(void **state)
{
    (void)state;
    struct desk *d = begin();
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct machine m;
    struct err err;
    assert_true(doc_parse_json(p,
                               SPAN("{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
                                    "\"spec\":{\"providerID\":\"kwok://a\"}}"),
                               &doc, &err));
    assert_true(kwok_machine_of_node(&d->arena, doc_root(doc), d->syms, &m));
    assert_true(m.deleting);
    doc_parser_free(p);
    end(d);
}

static void other_nodes_are_none_of_ours(void **state)
{
    static const char *const nodes[] = {
        "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"providerID\":\"aws:///i-1\"}}",
        "{\"metadata\":{\"name\":\"a\"},\"spec\":{}}",
        "{\"metadata\":{\"name\":\"a\"}}",
        "[]",
    };
    (void)state;
    struct desk *d = begin();
    struct doc_parser *p = doc_parser_new();
    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        const struct doc *doc;
        struct err err;
        struct machine m;
        assert_true(doc_parse_json(p, span_of(nodes[i]), &doc, &err));
        if (kwok_machine_of_node(&d->arena, doc_root(doc), d->syms, &m))
            fail_msg("%s is taken for ours", nodes[i]);
    }
    doc_parser_free(p);
    end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices),
        cmocka_unit_test(a_claim_gets_the_offering_that_holds_it),
        cmocka_unit_test(a_claim_gets_a_type_of_its_pool),
        cmocka_unit_test(a_machine_becomes_a_node_and_is_read_back),
        cmocka_unit_test(a_node_that_is_being_deleted_is_a_machine_that_goes),
        cmocka_unit_test(other_nodes_are_none_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
