/* MachineDeployments as instance types: who is offered what, at which price, and what is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cloud/catalogue.h"
#include "cloud/machine_types.h"

enum { OBJECTS_MAX = 8 };

struct desk {
    struct arena arena;
    struct symtab *from, *to;
    struct cluster_api_node_class class;
    struct machine_group groups[OBJECTS_MAX];
    const struct machine_group *list[OBJECTS_MAX];
    size_t count;
    struct node_pool pool;
    struct span told;
    uint32_t asides;
    struct catalogue out;
};

static void on_aside(void *user, struct span text)
{
    struct desk *d = user;
    d->told = text;
    d->asides++;
}

static void decode(struct desk *d, struct span text, const struct schema *schema, void *out)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    assert_true(doc_parse_yaml(p, text, &at, &doc, &err));
    if (!decode_one(&d->arena, d->from, doc_root(doc), schema, out, &err))
        fail_msg("%s", err.msg);
    doc_parser_free(p);
}

static void begin(struct desk *d, const char *selector, const char *taints)
{
    *d = (struct desk){.from = kube_symtab_new(), .to = kube_symtab_new()};
    arena_init(&d->arena, 0);
    decode(d, arena_printf(&d->arena, "metadata: {name: default}\nspec: {scalableResourceSelector: {%s}}\n", selector),
           &cluster_api_node_class_schema, &d->class);
    decode(d,
           arena_printf(&d->arena,
                        "metadata: {name: general}\nspec: {template: {spec: {requirements: [], taints: [%s], nodeClassRef: {group: "
                        "karpenter.cluster.x-k8s.io, kind: ClusterAPINodeClass, name: default}}}}\n",
                        taints),
           &node_pool_schema, &d->pool);
}

#define SIZE "capacity.cluster-autoscaler.kubernetes.io/cpu: '4', capacity.cluster-autoscaler.kubernetes.io/memory: 16G"
#define LABELS(labels_) ", capacity.cluster-autoscaler.kubernetes.io/labels: '" labels_ "'"
#define MEMBER "node.cluster.x-k8s.io/karpenter-member: ''"
#define TYPE(zone_) LABELS("node.kubernetes.io/instance-type=m4,topology.kubernetes.io/zone=" zone_)
#define MAX_KEY "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"

static void add(struct desk *d, const char *name, const char *labels, const char *annotations, const char *spec)
{
    struct machine_group *g = &d->groups[d->count];
    d->list[d->count++] = g;
    decode(d,
           arena_printf(&d->arena, "metadata: {name: %s, namespace: apps, labels: {%s}, annotations: {%s}}\nspec: {%s}\n", name,
                        labels, annotations, spec),
           &machine_group_schema, g);
}

static void make_with(struct desk *d, const struct catalogue *prices)
{
    const struct cluster_api_node_class *class = &d->class;
    const struct node_pool *pool = &d->pool;
    struct machine_supply from = {.syms = d->from, .classes = &class, .class_count = 1, .deployments = d->list,
                                  .deployment_count = d->count, .pools = &pool, .pool_count = 1, .prices = prices,
                                  .price_syms = d->from};
    machine_types(&d->arena, &from, d->to, on_aside, d, &d->out, NULL);
}

static void end(struct desk *d)
{
    symtab_unref(d->from);
    symtab_unref(d->to);
    arena_release(&d->arena);
}

/* "m4[a 0.1, b! 0.2]": types with zone and price of their offerings, ! where it is not to be had. */
static const char *told(struct desk *d)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < d->out.count; i++) {
        const struct instance_type *t = &d->out.items[i];
        buf_addf(&b, "%s%.*s[", i != 0 ? " " : "", SPAN_ARG(t->name));
        for (uint32_t o = 0; o < t->offering_count; o++) {
            const struct requirement *zone = requirements_get(&t->offerings[o].requirements, SYM_ZONE);
            assert_true(zone != NULL && zone->count == 1);
            buf_addf(&b, "%s%.*s%s %g", o != 0 ? ", " : "", SPAN_ARG(sym_text(d->to, zone->values[0])),
                     t->offerings[o].available ? "" : "!", t->offerings[o].price);
        }
        buf_addf(&b, "]");
    }
    const char *text = arena_cstr(&d->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

static void expect(struct desk *d, const char *label, const char *want, const char *aside)
{
    if (strcmp(told(d), want) != 0)
        fail_msg("%s: %s, want %s", label, told(d), want);
    if (d->asides != (aside[0] != '\0') || !span_has_prefix(d->told, span_of(aside)))
        fail_msg("%s: %u aside, %.*s; want %s", label, d->asides, SPAN_ARG(d->told), aside);
}

static void offers_one(void **state)
{
    (void)state;
    static const struct {
        const char *label, *labels, *annotations, *spec, *want, *aside;
    } rows[] = {
        {"by the built-in rule of prices", MEMBER, SIZE TYPE("a"), "", "m4[a 0.116]", ""},
        {"by its annotation", MEMBER, SIZE TYPE("a") ", stowage.dev/price: '0.5'", "", "m4[a 0.5]", ""},
        {"a price that is none", MEMBER, SIZE TYPE("a") ", stowage.dev/price: cheap", "", "",
         "MachineDeployment apps/md: annotation stowage.dev/price: \"cheap\" is no price; write dollars an hour, like 0.0932"},
        {"without a type's label it is a type itself", MEMBER, SIZE, "", "md[ 0.116]", ""},
        {"not one that is no member", "color: green", SIZE TYPE("a"), "", "", ""},
        {"not one that is paused", MEMBER, SIZE TYPE("a") ", cluster.x-k8s.io/paused: ''", "", "", ""},
        {"not one that says nothing", MEMBER, "", "", "",
         "MachineDeployment apps/md: it does not say what a machine is; write the annotations "},
        {"below its maximum", MEMBER, SIZE TYPE("a") ", " MAX_KEY ": '3'", "replicas: 2", "m4[a 0.116]", ""},
        {"not to be had at its maximum", MEMBER, SIZE TYPE("a") ", " MAX_KEY ": '3'", "replicas: 3", "m4[a! 0.116]", ""},
        {"a maximum that is no number", MEMBER, SIZE TYPE("a") ", " MAX_KEY ": many", "replicas: 3", "",
         "MachineDeployment apps/md: annotation " MAX_KEY ": \"many\" is not a size"},
        {"not one whose taint the pool does not state", MEMBER, SIZE TYPE("a"),
         "template: {spec: {taints: [{key: gpu, effect: NoSchedule}]}}", "", ""},
        {"a taint that goes when the Node registers", MEMBER, SIZE TYPE("a"),
         "template: {spec: {taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]}}", "m4[a 0.116]", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, "", "");
        add(&d, "md", rows[i].labels, rows[i].annotations, rows[i].spec);
        make_with(&d, NULL);
        expect(&d, rows[i].label, rows[i].want, rows[i].aside);
        end(&d);
    }
}

/* Pods are planned by what the pool says: a taint has to be stated there, with its effect, or as one of the start. */
static void taints_have_to_be_stated(void **state)
{
    (void)state;
    static const struct {
        const char *label, *of_pool, *want;
    } rows[] = {
        {"as it is", "{key: gpu, effect: NoSchedule}", "m4[a 0.116]"},
        {"with another effect", "{key: gpu, effect: NoExecute}", ""},
        {"with another key", "{key: cpu, effect: NoSchedule}", ""},
        {"as one of the start", "], startupTaints: [{key: gpu, effect: NoSchedule}", "m4[a 0.116]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, "", rows[i].of_pool);
        add(&d, "md", MEMBER, SIZE TYPE("a"), "template: {spec: {taints: [{key: gpu, effect: NoSchedule}]}}");
        make_with(&d, NULL);
        expect(&d, rows[i].label, rows[i].want, "");
        end(&d);
    }
}

static void those_alike_are_one_type(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, "matchLabels: {color: green}", "{key: gpu, effect: NoSchedule}");
    add(&d, "md-a", MEMBER ", color: green", SIZE TYPE("a") ", stowage.dev/price: '0.1'", "");
    add(&d, "md-b", MEMBER ", color: green", SIZE TYPE("b") ", stowage.dev/price: '0.2'", "");
    add(&d, "md-big", MEMBER ", color: green", "capacity.cluster-autoscaler.kubernetes.io/cpu: '8', "
        "capacity.cluster-autoscaler.kubernetes.io/memory: 16G" TYPE("a") ", stowage.dev/price: '0.3'", "");
    add(&d, "md-gpu", MEMBER ", color: green", SIZE LABELS("gpu=t4") ", stowage.dev/price: '0.4'",
        "template: {spec: {taints: [{key: gpu, effect: NoSchedule}]}}");
    add(&d, "md-red", MEMBER ", color: red", SIZE TYPE("a"), "");
    make_with(&d, NULL);
    expect(&d, "all", "m4[a 0.1, b 0.2] md-big[a 0.3] md-gpu[ 0.4]", "");
    /* A pod that asks for the label gets that one, and no other. */
    const struct requirement *gpu = requirements_get(&d.out.items[0].requirements, sym_find(d.to, SPAN("gpu")));
    assert_true(gpu != NULL && requirement_op(gpu) == OP_DOES_NOT_EXIST);
    gpu = requirements_get(&d.out.items[2].requirements, sym_find(d.to, SPAN("gpu")));
    assert_true(gpu != NULL && requirement_op(gpu) == OP_IN);
    assert_true(syms_has(d.out.well_known, sym_find(d.to, SPAN("gpu"))));
    assert_true(span_eq(d.out.items[0].node_pools.items[0], SPAN("general")));
    assert_int_equal(resources_get(d.out.items[0].allocatable, SYM_CPU), 4000);
    end(&d);
}

static void prices_may_be_listed(void **state)
{
    (void)state;
    static const char file[] =
        "[{\"name\":\"m4\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"4\",\"memory\":\"16G\"},"
        "\"offerings\":[{\"price\":0.7,\"available\":true,\"requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\","
        "\"values\":[\"on-demand\"]},{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"a\"]}]},"
        "{\"price\":0.2,\"available\":true,\"requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":["
        "\"spot\"]},{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"b\"]}]}]}]";
    struct catalogue_source *source;
    struct catalogue prices;
    struct desk d;
    struct err err;
    begin(&d, "", "");
    add(&d, "md-a", MEMBER, SIZE TYPE("a"), "");
    add(&d, "md-b", MEMBER, SIZE TYPE("b"), "");
    add(&d, "md-c", MEMBER, SIZE TYPE("c") ", stowage.dev/price: '0.9'", "");
    assert_true(catalogue_decode(span_of(file), SPAN("types.json"), &source, &err));
    catalogue_build(source, &d.arena, d.from, &prices);
    make_with(&d, &prices);
    expect(&d, "listed", "m4[a 0.7, b 0.7, c 0.9]", "");
    catalogue_source_free(source);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_one), cmocka_unit_test(taints_have_to_be_stated),
        cmocka_unit_test(those_alike_are_one_type),
        cmocka_unit_test(prices_may_be_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
