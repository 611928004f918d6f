#include "cloud/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct built {
    struct arena arena;
    struct symtab *syms;
    struct catalogue c;
};

static struct built build(struct catalogue_source *s)
{
    struct built b = {.syms = kube_symtab_new()};
    arena_init(&b.arena, 0);
    catalogue_build(s, &b.arena, b.syms, &b.c);
    catalogue_source_free(s); /* what was built stands alone */
    return b;
}

static void drop(struct built *b)
{
    arena_release(&b->arena);
    symtab_unref(b->syms);
}

static const struct instance_type *find(const struct built *b, const char *name)
{
    for (uint32_t i = 0; i < b->c.count; i++)
        if (span_eq(b->c.items[i].name, span_of(name)))
            return &b->c.items[i];
    fail_msg("no type %s", name);
    return NULL;
}

static struct span label(const struct built *b, const struct instance_type *t, const char *key)
{
    const struct requirement *r =
        requirements_get(&t->requirements, sym_find(b->syms, span_of(key)));
    return r != NULL && r->count == 1 ? sym_text(b->syms, r->values[0]) : (struct span){0};
}

static void the_built_in_types(void **state)
{
    static const struct {
        const char *name;
        double price;
        amount cpu, memory_gib, pods;
        const char *size, *family, *memory;
    } rows[] = { /* prices: spec api 7.6, from the file that kwok's provider ships */
        {"c-1x-amd64-linux", 0.027147483648, 1000, 2, 16, "1", "c", "2Gi"},
        {"s-4x-arm64-windows", 0.117179869184, 4000, 16, 64, "4", "s", "16Gi"},
        {"m-16x-amd64-linux", 0.537438953472, 16000, 128, 256, "16", "m", "128Gi"},
        {"m-256x-amd64-linux", 8.599023255552, 256000, 2048, 1024, "256", "m", "2Ti"},
        {"m-192x-amd64-linux", 0.025 * 192 + 0.001 * (1536.0 * 1073741824) / 1e9, 192000, 1536, 1024,
         "192", "m", "1536Gi"},
    };
    (void)state;
    struct built b = build(catalogue_builtin());
    assert_int_equal(b.c.count, 144);
    for (uint32_t i = 1; i < b.c.count; i++)
        assert_true(span_cmp(b.c.items[i - 1].name, b.c.items[i].name) < 0);
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const struct instance_type *t = find(&b, rows[r].name);
        assert_int_equal(t->offering_count, 8);
        for (uint32_t o = 0; o < 8; o++) {
            const struct requirement *type =
                requirements_get(&t->offerings[o].requirements, SYM_CAPACITY_TYPE);
            double want = type->values[0] == SYM_SPOT ? rows[r].price * 0.7 : rows[r].price;
            if (t->offerings[o].price != want || !t->offerings[o].available)
                fail_msg("%s: offering %u: %.15g, not %.15g", rows[r].name, o,
                         t->offerings[o].price, want);
        }
        assert_int_equal(resources_get(t->capacity, SYM_CPU), rows[r].cpu);
        assert_int_equal(resources_get(t->capacity, SYM_MEMORY), rows[r].memory_gib << 30);
        assert_int_equal(resources_get(t->capacity, SYM_PODS), rows[r].pods);
        assert_int_equal(resources_get(t->capacity, SYM_EPHEMERAL_STORAGE), 20LL << 30);
        assert_int_equal(resources_get(t->allocatable, SYM_CPU), rows[r].cpu - 100);
        assert_int_equal(resources_get(t->allocatable, SYM_MEMORY),
                         (rows[r].memory_gib << 30) - (10 << 20));
        assert_true(span_eq(label(&b, t, "karpenter.kwok.sh/instance-size"), span_of(rows[r].size)));
        assert_true(
            span_eq(label(&b, t, "karpenter.kwok.sh/instance-family"), span_of(rows[r].family)));
        assert_true(
            span_eq(label(&b, t, "karpenter.kwok.sh/instance-memory"), span_of(rows[r].memory)));
    }
    assert_true(syms_has(b.c.well_known, SYM_KWOK_CPU));
    assert_true(syms_has(b.c.well_known, SYM_ZONE));
    drop(&b);
}

/* The example of spec api 7.6. */
static const char demo[] =
    "[{\"name\":\"demo.large\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],"
    "\"resources\":{\"cpu\":\"2\",\"memory\":\"8Gi\",\"ephemeral-storage\":\"20Gi\","
    "\"example.com/gpu\":\"1\"},\"offerings\":[{\"Price\":0.08,\"Available\":false,"
    "\"ReservationCapacity\":0,\"Requirements\":[{\"key\":\"karpenter.sh/capacity-type\","
    "\"operator\":\"In\",\"values\":[\"on-demand\"]},{\"key\":\"topology.kubernetes.io/zone\","
    "\"operator\":\"In\",\"values\":[\"zone-1\"]}]},{\"price\":0.05,\"Requirements\":[{\"key\":"
    "\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"spot\"]},{\"key\":"
    "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"zone-1\"]},{\"key\":"
    "\"example.com/tenancy\",\"operator\":\"In\",\"values\":[\"default\"]}]}],\"unknown\":1}]";

static void a_file_of_kwok(void **state)
{
    struct catalogue_source *s;
    struct err err;
    (void)state;
    if (!catalogue_decode(span_of(demo), SPAN("demo.json"), &s, &err))
        fail_msg("%s", err.msg);
    struct built b = build(s);
    const struct instance_type *t = find(&b, "demo.large");
    assert_int_equal(resources_get(t->capacity, SYM_PODS), 110);
    assert_int_equal(
        resources_get(t->capacity, sym_find(b.syms, SPAN("example.com/gpu"))), 1);
    assert_true(t->offerings[0].available); /* forced */
    assert_true(t->offerings[1].price == 0.05);
    assert_true(span_eq(label(&b, t, "karpenter.kwok.sh/instance-size"), SPAN("large")));
    assert_true(span_eq(label(&b, t, "karpenter.kwok.sh/instance-family"), SPAN("demo")));
    assert_true(span_eq(label(&b, t, "topology.kubernetes.io/zone"), SPAN("zone-1")));
    assert_true(syms_has(b.c.well_known, sym_find(b.syms, SPAN("example.com/tenancy"))));
    drop(&b);
}

static void sizes(void **state)
{
    static const struct {
        const char *name, *size, *family;
    } rows[] = {
        {"m5.nano", "nano", "m5"},       {"m5.24xlarge", "24xlarge", "m5"},
        {"m5.xlarge", "xlarge", "m5"},   {"m5.metal", "metal", "m5"},
        {"m5.metal-24xl", "2", "m5"},    {"m5-flex.large", "2", "m5"},
        {"n2-standard-4", "2", "n2"},    {"huge", "2", "h"},
        {"m5.", "2", "m5"},
    };
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        char text[256];
        struct catalogue_source *s;
        struct err err;
        snprintf(text, sizeof(text),
                 "[{\"name\":\"%s\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],"
                 "\"resources\":{\"cpu\":2,\"memory\":\"8Gi\"},\"offerings\":[]}]",
                 rows[r].name);
        if (!catalogue_decode(span_of(text), SPAN("x"), &s, &err))
            fail_msg("%s: %s", rows[r].name, err.msg);
        struct built b = build(s);
        struct span size = label(&b, &b.c.items[0], "karpenter.kwok.sh/instance-size");
        struct span family = label(&b, &b.c.items[0], "karpenter.kwok.sh/instance-family");
        if (!span_eq(size, span_of(rows[r].size)) || !span_eq(family, span_of(rows[r].family)))
            fail_msg("%s: size %.*s, family %.*s", rows[r].name, SPAN_ARG(size),
                     SPAN_ARG(family));
        drop(&b);
    }
}

static void the_superset(void **state)
{
    static const char text[] =
        "{\"reservationIDLabel\":\"example.com/reservation\",\"wellKnownLabels\":[\"example.com/size\""
        "],\"unsupportedProvisioners\":[\"csi.example.com\"],\"unsupportedTopologyKeys\":["
        "\"example.com/rack\"],\"repairPolicies\":[{\"conditionType\":"
        "\"X\"}],\"instanceTypes\":[{\"name\":\"b\",\"nodePools\":[\"gpu\"],\"requirements\":[{\"key\":"
        "\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":[\"b\"]}],\"resources\":{"
        "\"cpu\":\"4\",\"memory\":\"16Gi\",\"hugepages-2Mi\":\"1Gi\"},\"overhead\":{\"kubeReserved\":{"
        "\"cpu\":\"200m\"},\"evictionThreshold\":{\"memory\":\"1Gi\"}},\"volumeAttachmentLimits\":{"
        "\"csi.example.com\":25},\"offerings\":[{\"requirements\":[],\"price\":1.5,\"available\":true,"
        "\"reservationCapacity\":3,\"capacityOverride\":{\"cpu\":\"8\"}},{\"price\":1}]},{\"name\":"
        "\"a\",\"architecture\":\"arm64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":"
        "\"1\",\"memory\":\"2Gi\"},\"offerings\":[]}]}";
    struct catalogue_source *s;
    struct err err;
    (void)state;
    if (!catalogue_decode(span_of(text), SPAN("types.json"), &s, &err))
        fail_msg("%s", err.msg);
    struct built b = build(s);
    const struct instance_type *t = find(&b, "b");
    assert_true(span_eq(b.c.reservation_id_label, SPAN("example.com/reservation")));
    assert_true(syms_has(b.c.well_known, sym_find(b.syms, SPAN("example.com/size"))));
    assert_int_equal(t->requirements.count, 1); /* nothing is derived */
    assert_int_equal(resources_get(t->capacity, SYM_PODS), 0);
    assert_int_equal(resources_get(t->allocatable, SYM_CPU), 3800);
    assert_int_equal(resources_get(t->allocatable, SYM_MEMORY), 14LL << 30); /* less hugepages */
    assert_true(t->offerings[0].available);
    assert_false(t->offerings[1].available); /* honoured; absent means not */
    assert_int_equal(t->offerings[0].reservation_capacity, 3);
    assert_true(t->offerings[0].has_capacity_override);
    assert_int_equal(resources_get(t->offerings[0].capacity_override, SYM_CPU), 8000);
    assert_int_equal(t->node_pools.count, 1);
    assert_int_equal(t->volume_limits[0].count, 25);
    assert_int_equal(t->volume_limits[0].driver, sym_find(b.syms, SPAN("csi.example.com")));
    assert_true(syms_has(b.c.unsupported_drivers, sym_find(b.syms, SPAN("csi.example.com"))));
    assert_true(syms_has(b.c.unsupported_topology_keys, sym_find(b.syms, SPAN("example.com/rack"))));
    assert_int_equal(resources_get(find(&b, "a")->capacity, SYM_PODS), 110);
    drop(&b);
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[", "types.json:1: the text ends in the middle"},
        {"\"x\"", "types.json: holds a string; an instance type catalogue is a JSON array, or an "
                  "object with instanceTypes"},
        {"[7]", "types.json:1: [0]: is a number, not an instance type"},
        {"[{\"name\":\"a\",\"resources\":{\"cpu\":\"1O0m\",\"memory\":\"1Gi\"}}]",
         "types.json:1: a: resources.cpu: \"1O0m\" is not a quantity; did you mean \"100m\"?"},
        {"[{\"name\":\"a\",\"resources\":{\"cpu\":\"1\"}}]", "types.json:1: a: resources: has no memory"},
        {"[{\"name\":\"a\",\"resources\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\n\"offerings\":[{"
         "\"requirements\":[{\"key\":\"k\",\"operator\":\"Im\"}]}]}]",
         "types.json:2: a: offerings[0].requirements[0].operator: \"Im\" is not an operator; there "
         "are In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte and Lte"},
        {"{\"instanceTypes\":[{\"name\":\"a\",\"requirements\":[],\"prise\":1}]}",
         "types.json:1: a: prise: is not a field of instance type"},
        {"{\"instanceTypes\":[{\"requirements\":[]}]}", "types.json:1: instanceTypes[0]: name: "},
        {"{\"instanceTypes\":{}}", "types.json:1: instanceTypes: is an object, not a list"},
        {"[{\"name\":\"a\",\"resources\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"offerings\":[{\"capacityType\":"
         "\"spot\",\"zone\":\"z\"}]}]",
         "types.json:1: a: offerings: have a capacityType and a zone instead of requirements, as the kwok provider wrote "
         "them before; convert the file: stowage catalogue from-kwok FILE"},
        {"{\"types\":[]}", "types"},
    };
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct catalogue_source *s;
        struct err err;
        if (catalogue_decode(span_of(rows[r].text), SPAN("types.json"), &s, &err))
            fail_msg("%s: accepted", rows[r].text);
        if (!span_contains(span_of(err.msg), span_of(rows[r].want)))
            fail_msg("%s:\n%s\nnot\n%s", rows[r].text, err.msg, rows[r].want);
    }
}

/* Nothing can be bought: no mistake, what stands may still take pods. */
static void no_type_at_all(void **state)
{
    static const char *const texts[] = {"[]", "{\"instanceTypes\": []}"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct catalogue_source *s;
        struct err err;
        if (!catalogue_decode(span_of(texts[i]), SPAN("types.json"), &s, &err))
            fail_msg("%s: %s", texts[i], err.msg);
        struct built b = build(s);
        assert_int_equal(b.c.count, 0);
        drop(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_type_at_all),
        cmocka_unit_test(the_built_in_types), cmocka_unit_test(a_file_of_kwok),
        cmocka_unit_test(sizes),              cmocka_unit_test(the_superset),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
