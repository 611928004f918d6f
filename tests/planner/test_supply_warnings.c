/* What a catalogue makes of a NodePool: which requirements leave no type, and when nothing is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cloud/catalogue.h"
#include "kube/wellknown.h"
#include "planner/supply/supply_warnings.h"

#define OFFER(type, zone, available)                                                                                    \
    "{\"Price\":1,\"Available\":" available ",\"Requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":"    \
    "\"In\",\"values\":[\"" type "\"]},{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"" zone \
    "\"]}]}"
static const char TYPES[] =
    "[{\"name\":\"a.large\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"2\","
    "\"memory\":\"8Gi\"},\"offerings\":[" OFFER("on-demand", "zone-1", "false") "," OFFER("spot", "zone-2", "true") "]},"
    "{\"name\":\"b.large\",\"architecture\":\"arm64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"2\","
    "\"memory\":\"8Gi\"},\"offerings\":[" OFFER("spot", "zone-2", "true") "]}]";

#define IN(key, value) "{key: " key ", operator: In, values: [" value "]}"
#define ARCH "kubernetes.io/arch"
#define ZONE "topology.kubernetes.io/zone"
#define CAPACITY "karpenter.sh/capacity-type"
#define OWN(n) ", {key: example.com/own" #n ", operator: Exists}"
#define MANY OWN(0) OWN(1) OWN(2) OWN(3) OWN(4) OWN(5) OWN(6) OWN(7) OWN(8) OWN(9) OWN(10) OWN(11) OWN(12) OWN(13) OWN(14)
#define NOTHING ": no node is bought for the pool. Fix: "

enum { KNOWN, PARTIAL, FOR_OTHERS };

static const struct {
    const char *label, *requirements;
    int catalogue;
    const char *want; /* "path: text"; NULL: nothing */
} rows[] = {
    {"nothing is asked", "", KNOWN, NULL},
    {"sold out is no mistake", IN(CAPACITY, "on-demand"), KNOWN, NULL},
    {"one that none has", IN(CAPACITY, "spot") ", " IN(ARCH, "s390x"), KNOWN,
     "spec.template.spec.requirements[1]: no instance type has " ARCH " In [s390x] (there are amd64 and arm64)" NOTHING "ask for a " ARCH
     " that there is"},
    {"a slip", IN(ARCH, "amd"), KNOWN,
     "spec.template.spec.requirements[0]: no instance type has " ARCH " In [amd] (did you mean amd64?)" NOTHING "ask for a " ARCH
     " that there is"},
    {"an older name of the label", IN("beta.kubernetes.io/arch", "s390x"), KNOWN,
     "spec.template.spec.requirements[0]: no instance type has " ARCH " In [s390x] (there are amd64 and arm64)" NOTHING "ask for a " ARCH
     " that there is"},
    {"offerings count", IN(CAPACITY, "spot") ", " IN(ZONE, "zone-1"), KNOWN,
     "spec.template.spec.requirements: no instance type meets " CAPACITY " In [spot] and " ZONE " In [zone-1] at once" NOTHING
     "loosen one of them"},
    {"who has no part in it is not named", IN(ARCH, "arm64") ", {key: example.com/team, operator: Exists}, " IN(ZONE, "zone-1"), KNOWN,
     "spec.template.spec.requirements: no instance type meets " ARCH " In [arm64] and " ZONE " In [zone-1] at once" NOTHING
     "loosen one of them"},
    {"too many to look at each", IN(ARCH, "arm64") ", " IN(ZONE, "zone-1") MANY, KNOWN,
     "spec.template.spec.requirements: no instance type meets all of them at once" NOTHING "loosen some"},
    {"minValues that there are", "{key: " ARCH ", operator: Exists, minValues: 2}", KNOWN, NULL},
    {"minValues of what is left", IN(ZONE, "zone-1") ", {key: " ARCH ", operator: Exists, minValues: 2}", KNOWN,
     "spec.template.spec.requirements[1].minValues: 2 cannot be met: the instance types that meet the pool's requirements have 1 "
     "value of " ARCH ". Fix: lower it, or loosen the requirements"},
    {"not known yet", IN(ARCH, "s390x"), PARTIAL, NULL},
    {"types of others", IN(ARCH, "s390x"), FOR_OTHERS, NULL},
};

static void catalogue_of(struct arena *a, struct symtab *syms, int which, struct catalogue *out)
{
    static struct span others[] = {SPAN_INIT("others")};
    struct catalogue_source *source;
    struct err err;
    if (!catalogue_decode(span_of(TYPES), SPAN("types.json"), &source, &err))
        fail_msg("%s", err.msg);
    catalogue_build(source, a, syms, out);
    catalogue_source_free(source);
    out->partial = which == PARTIAL;
    for (uint32_t i = 0; which == FOR_OTHERS && i < out->count; i++)
        out->items[i].node_pools = (struct spans){others, COUNT_OF(others)};
}

static void look(size_t row, struct doc_parser *parser)
{
    struct arena a;
    struct symtab *syms = kube_symtab_new();
    struct catalogue catalogue;
    struct node_pool pool;
    struct findings found = {0};
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    arena_init(&a, 0);
    catalogue_of(&a, syms, rows[row].catalogue, &catalogue);
    struct span yaml = arena_printf(&a, "{metadata: {name: general}, spec: {template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, "
                                        "kind: KWOKNodeClass, name: d}, requirements: [%s]}}}}", rows[row].requirements);
    if (!doc_parse_yaml(parser, yaml, &at, &doc, &err) || !decode_one(&a, syms, doc_root(doc), &node_pool_schema, &pool, &err))
        fail_msg("%s: %s", rows[row].label, err.msg);
    supply_warnings_of_pool(&a, &pool, &catalogue, syms, &found);
    struct span got = found.count == 0 ? SPAN("")
                                       : arena_printf(&a, "%.*s: %.*s", SPAN_ARG(found.items[0].path), SPAN_ARG(found.items[0].text));
    if (!span_eq(got, span_of(rows[row].want == NULL ? "" : rows[row].want)) || found.count > 1)
        fail_msg("%s: %u: %.*s", rows[row].label, found.count, SPAN_ARG(got));
    arena_release(&a);
    symtab_unref(syms);
}

static void what_leaves_no_type_is_named(void **state)
{
    struct doc_parser *parser = doc_parser_new();
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        look(r, parser);
    doc_parser_free(parser);
}

/* Two providers, each with types and a pool of its own: a pool that is only being written is held against those of its
 * class, and against no other's. */
static void a_class_has_its_own_types(void **state)
{
    (void)state;
    static const char more[] =
        "[{\"name\":\"c.large\",\"architecture\":\"s390x\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"2\",\"memory\":"
        "\"8Gi\"},\"offerings\":[" OFFER("spot", "zone-3", "true") "]}]";
    static const struct {
        const char *name, *group, *kind, *requirements, *want;
    } pools[] = {
        {"new", "karpenter.kwok.sh", "KWOKNodeClass", IN(ARCH, "arm64"), NULL},
        {"new", "karpenter.kwok.sh", "KWOKNodeClass", IN(ARCH, "s390x"),
         "spec.template.spec.requirements[0]: no instance type has " ARCH " In [s390x] (there are amd64 and arm64)" NOTHING "ask for a " ARCH
         " that there is"},
        {"new", "example.com", "OtherNodeClass", IN(ARCH, "s390x"), NULL},
        {"new", "example.com", "OtherNodeClass", IN(ARCH, "s390x") ", " IN(ZONE, "zone-1"),
         "spec.template.spec.requirements[1]: no instance type has " ZONE " In [zone-1] (did you mean zone-3?)" NOTHING "ask for a " ZONE
         " that there is"},
        {"other", "example.com", "OtherNodeClass", IN(ARCH, "arm64"),
         "spec.template.spec.requirements[0]: no instance type has " ARCH " In [arm64] (there is s390x)" NOTHING "ask for a " ARCH
         " that there is"},
        {"new", "example.com", "KWOKNodeClass", IN(ARCH, "arm64"), NULL}, /* nobody's */
    };
    struct doc_parser *parser = doc_parser_new();
    for (size_t i = 0; i < COUNT_OF(pools); i++) {
        struct arena a;
        struct symtab *syms = kube_symtab_new();
        struct catalogue parts[2], joined;
        struct catalogue_source *source;
        struct span of_first[] = {SPAN("general")}, of_second[] = {SPAN("other")};
        struct node_pool pool;
        struct findings found = {0};
        const struct doc *doc;
        struct err err;
        size_t at = 0;
        arena_init(&a, 0);
        catalogue_of(&a, syms, KNOWN, &parts[0]);
        assert_true(catalogue_decode(span_of(more), SPAN("more.json"), &source, &err));
        catalogue_build(source, &a, syms, &parts[1]);
        catalogue_source_free(source);
        const struct catalogue_part both[] = {{&parts[0], {of_first, 1}, "karpenter.kwok.sh", "KWOKNodeClass"},
                                              {&parts[1], {of_second, 1}, "example.com", "OtherNodeClass"}};
        catalogue_join(&a, both, COUNT_OF(both), &joined);
        struct span yaml = arena_printf(&a, "{metadata: {name: %s}, spec: {template: {spec: {nodeClassRef: {group: %s, kind: %s, name: d}, "
                                            "requirements: [%s]}}}}", pools[i].name, pools[i].group, pools[i].kind, pools[i].requirements);
        if (!doc_parse_yaml(parser, yaml, &at, &doc, &err) || !decode_one(&a, syms, doc_root(doc), &node_pool_schema, &pool, &err))
            fail_msg("%zu: %s", i, err.msg);
        supply_warnings_of_pool(&a, &pool, &joined, syms, &found);
        struct span got = found.count == 0 ? SPAN("")
                                           : arena_printf(&a, "%.*s: %.*s", SPAN_ARG(found.items[0].path), SPAN_ARG(found.items[0].text));
        if (!span_eq(got, span_of(pools[i].want == NULL ? "" : pools[i].want)))
            fail_msg("%zu: %.*s", i, SPAN_ARG(got));
        assert_int_equal(supply_knows_class(&joined, &pool.node_class), i + 1 != COUNT_OF(pools));
        arena_release(&a);
        symtab_unref(syms);
    }
    doc_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leaves_no_type_is_named),
        cmocka_unit_test(a_class_has_its_own_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
