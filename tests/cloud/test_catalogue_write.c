/* A catalogue that is written is read back as it was: types, offerings and all that is derived. */
#include "cloud/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct buf written(const struct catalogue_source *s)
{
    struct buf text = {0};
    struct json j = {.out = &text, .indent = 1};
    catalogue_write(&j, s);
    return text;
}

static void put_resources(struct buf *out, struct resources r, const struct symtab *syms)
{
    for (uint32_t i = 0; i < r.count; i++)
        buf_addf(out, " %.*s=%lld", SPAN_ARG(sym_text(syms, r.items[i].name)), (long long)r.items[i].value);
    buf_add_char(out, '\n');
}

/* What the planner sees of it, as text. */
static struct buf seen(const struct catalogue_source *s)
{
    struct arena a;
    struct catalogue c;
    struct buf out = {0};
    arena_init(&a, 0);
    struct symtab *syms = kube_symtab_new();
    catalogue_build(s, &a, syms, &c);
    for (uint32_t i = 0; i < c.well_known.count; i++)
        buf_addf(&out, "%.*s\n", SPAN_ARG(sym_text(syms, c.well_known.items[i])));
    for (uint32_t i = 0; i < c.count; i++) {
        const struct instance_type *t = &c.items[i];
        buf_addf(&out, "%.*s %u %u\n", SPAN_ARG(t->name), t->node_pools.count, t->volume_limit_count);
        requirements_put(&out, &t->requirements, syms);
        put_resources(&out, t->capacity, syms);
        put_resources(&out, t->allocatable, syms);
        for (uint32_t o = 0; o < t->offering_count; o++) {
            const struct offering *f = &t->offerings[o];
            requirements_put(&out, &f->requirements, syms);
            buf_addf(&out, " %.17g %d %lld %d %d", f->price, f->available, (long long)f->reservation_capacity,
                     f->has_capacity_override, f->has_overhead_override);
            put_resources(&out, f->capacity_override, syms);
            put_resources(&out, f->overhead_override, syms);
        }
    }
    symtab_unref(syms);
    arena_release(&a);
    return out;
}

static void expect_same(const char *label, struct catalogue_source *s)
{
    struct catalogue_source *again;
    struct err err;
    struct buf text = written(s);
    if (!catalogue_decode(buf_span(&text), SPAN("again.json"), &again, &err))
        fail_msg("%s: %s", label, err.msg);
    struct buf second = written(again), before = seen(s), after = seen(again);
    if (!span_eq(buf_span(&text), buf_span(&second)))
        fail_msg("%s: written again it is\n%s\nnot\n%s", label, second.ptr, text.ptr);
    if (!span_eq(buf_span(&before), buf_span(&after)))
        fail_msg("%s: the planner sees\n%s\nnot\n%s", label, after.ptr, before.ptr);
    catalogue_source_free(s);
    catalogue_source_free(again);
    buf_release(&text);
    buf_release(&second);
    buf_release(&before);
    buf_release(&after);
}

static struct catalogue_source *of_text(const char *text)
{
    struct catalogue_source *s;
    struct err err;
    if (!catalogue_decode_kwok(span_of(text), SPAN("x.json"), &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

static struct catalogue_source *of_file(const char *name)
{
    static char text[64 * 1024];
    char path[512];
    snprintf(path, sizeof(path), "%s/cloud/samples/%s", TESTS_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return of_text(text);
}

static void read_back(void **state)
{
    (void)state;
    expect_same("the built-in one", catalogue_builtin());
    expect_same("kwok's", of_file("kwok.json"));
    expect_same("kwok's older one", of_file("kwok-flat.json"));
    expect_same("nothing", of_text("[]"));
    expect_same("all that there is", of_text(
        "{\"reservationIDLabel\":\"x/id\",\"wellKnownLabels\":[\"x/size\",\"x/id\"],\"unsupportedProvisioners\":[\"csi.x\"],"
        "\"unsupportedTopologyKeys\":[\"x/rack\"],\"repairPolicies\":[{\"conditionType\":\"Ready\",\"conditionStatus\":\"False\","
        "\"tolerationDuration\":\"10m\",\"terminationGracePeriod\":\"0s\",\"reasonRegex\":\"a\\\"b\",\"priority\":3,\"action\":"
        "\"ReplaceNode\"}],\"instanceTypes\":[{\"name\":\"a\",\"nodePools\":[\"p\",\"q\"],\"requirements\":[{\"key\":\"x/size\","
        "\"operator\":\"Gt\",\"values\":[\"3\"],\"minValues\":2},{\"key\":\"x/gpu\",\"operator\":\"DoesNotExist\"}],\"resources\":"
        "{\"cpu\":4,\"memory\":\"8Gi\"},\"overhead\":{\"kubeReserved\":{\"cpu\":\"80m\"},\"systemReserved\":{\"memory\":\"1Gi\"},"
        "\"evictionThreshold\":{\"memory\":\"100Mi\"}},\"volumeAttachmentLimits\":{\"csi.y\":25},\"offerings\":[{\"price\":0.1,"
        "\"available\":true,\"reservationCapacity\":3,\"capacityOverride\":{\"cpu\":\"8\"},\"overheadOverride\":{\"kubeReserved\":"
        "{\"cpu\":\"1\"}},\"requirements\":[{\"key\":\"x/id\",\"operator\":\"In\",\"values\":[\"r\"]}]},{\"requirements\":[]}]},"
        "{\"name\":\"k\",\"architecture\":\"arm64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}]}"));
}

/* The older form says what the newer one says. */
static void older_form(void **state)
{
    (void)state;
    struct catalogue_source *flat = of_text("[{\"name\":\"a\",\"architecture\":\"amd64\",\"operatingSystems\":{\"linux\":{}},\"resources\":"
                                            "{\"cpu\":\"1\",\"memory\":\"2Gi\"},\"offerings\":[{\"CapacityType\":\"spot\",\"Zone\":\"z\",\"Price\":0.5}]}]");
    struct catalogue_source *now = of_text("[{\"name\":\"a\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":"
                                           "{\"cpu\":\"1\",\"memory\":\"2Gi\"},\"offerings\":[{\"Price\":0.5,\"Requirements\":[{\"key\":"
                                           "\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"spot\"]},{\"key\":"
                                           "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"z\"]}]}]}]");
    struct buf x = written(flat), y = written(now);
    assert_string_equal(x.ptr, y.ptr);
    catalogue_source_free(flat);
    catalogue_source_free(now);
    buf_release(&x);
    buf_release(&y);
}

/* What was not said is not said: a price of nothing is another thing than none. */
static void only_what_is_known(void **state)
{
    (void)state;
    struct catalogue_source *s = of_text("{\"instanceTypes\":[{\"name\":\"a\",\"requirements\":[],\"offerings\":[{\"available\":true},"
                                         "{\"price\":0}]}]}");
    struct buf text = written(s);
    struct span all = buf_span(&text), rest;
    assert_true(span_contains(all, SPAN("\"available\": true")));
    assert_false(span_contains(all, SPAN("nodePools")));
    assert_false(span_contains(all, SPAN("volumeAttachmentLimits")));
    struct span offered = {strstr(all.ptr, "offerings"), 0};
    offered.len = all.len - (size_t)(offered.ptr - all.ptr);
    span_cut(offered, '}', &rest); /* behind the first offering */
    assert_null(memmem(offered.ptr, (size_t)(rest.ptr - offered.ptr), "price", 5));
    assert_true(span_contains(rest, SPAN("\"price\": 0")));
    catalogue_source_free(s);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_back),
        cmocka_unit_test(older_form),
        cmocka_unit_test(only_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
