/* NodeOverlays on the catalogue (spec api 7.7). */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"

#define TYPES                                                                                      \
    "---\nkind: InstanceTypes\nwellKnown: [size]\nitems:\n"                                        \
    "- {name: big, resources: {cpu: 8, memory: 8Gi, pods: 10}, labels: {size: big, karpenter.sh/capacity-type: \"on-demand,spot\"}, offerings: ["  \
    "{zone: z1, capacity: on-demand, price: 8}, {zone: z1, capacity: spot, price: 4}]}\n"          \
    "- {name: small, resources: {cpu: 2, memory: 2Gi, pods: 10}, labels: {size: small, karpenter.sh/capacity-type: \"on-demand,spot\"}, "          \
    "offerings: [{zone: z1, capacity: on-demand, price: 2}, {zone: z1, capacity: spot, "           \
    "price: 1}]}\n"
#define POOL(name_, labels_)                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\nspec: "        \
    "{template: {metadata: {labels: {" labels_ "}}, spec: {requirements: []}}}\n"
#define OVERLAY(name_, spec_)                                                                      \
    "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " name_ "}\n"     \
    "spec: {" spec_ "}\n"
#define ALL "requirements: []"
#define ON(key_, value_) "requirements: [{key: " key_ ", operator: In, values: [" value_ "]}]"
#define SIZE(value_) ON("node.kubernetes.io/instance-type", value_)
#define CAPACITY_TYPE "karpenter.sh/capacity-type"

/* "big 8 4 | small 2 1 gpu=1; why": each entry with the prices of its offerings, what was added to it
 * and its pools, then the faults. */
static struct span catalogue_text(struct cluster *c)
{
    const struct world *w = c->world;
    const struct catalogue *k = w->overlaid.catalogue;
    sym gpu = sym_intern(w->syms, SPAN("example.com/gpu"));
    sym fuse = sym_intern(w->syms, SPAN("example.com/fuse"));
    struct buf b = {0};
    for (uint32_t i = 0; i < k->count; i++) {
        const struct instance_type *t = &k->items[i];
        buf_addf(&b, "%s%.*s", i != 0 ? " | " : "", SPAN_ARG(t->name));
        for (uint32_t o = 0; o < t->offering_count; o++)
            buf_addf(&b, " %g", t->offerings[o].price);
        if (resources_get(t->capacity, gpu) != 0)
            buf_addf(&b, " gpu=%lld", (long long)resources_get(t->allocatable, gpu));
        if (resources_get(t->capacity, fuse) != 0)
            buf_addf(&b, " fuse=%lld", (long long)resources_get(t->allocatable, fuse));
        for (uint32_t p = 0; p < t->node_pools.count; p++)
            buf_addf(&b, " @%.*s", SPAN_ARG(t->node_pools.items[p]));
    }
    for (uint32_t i = 0; i < w->overlaid.fault_count; i++) {
        const struct overlay_fault *f = &w->overlaid.faults[i];
        buf_addf(&b, "; %.*s: %.*s", SPAN_ARG(f->overlay->meta.name), SPAN_ARG(f->why));
        if (f->rival != NULL)
            buf_addf(&b, " (%.*s)", SPAN_ARG(f->rival->meta.name));
    }
    struct span text = arena_dup(&c->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

#define PLAIN "big 8 4 | small 2 1"

static const struct {
    const char *label, *overlays, *want;
} rows[] = {
    {"none", "", PLAIN},
    {"a price", OVERLAY("o", SIZE("big") ", price: \"3.5\""), "big 3.5 3.5 | small 2 1"},
    {"per cent more", OVERLAY("o", ALL ", priceAdjustment: +10%"), "big 8.8 4.4 | small 2.2 1.1"},
    {"per cent less", OVERLAY("o", ALL ", priceAdjustment: \"-50%\""), "big 4 2 | small 1 0.5"},
    {"an amount more", OVERLAY("o", ALL ", priceAdjustment: \"+.5\""), "big 8.5 4.5 | small 2.5 1.5"},
    {"an amount less, never below nothing", OVERLAY("o", ALL ", priceAdjustment: \"-3\""),
     "big 5 1 | small 0 0"},
    {"offerings that it selects", OVERLAY("o", ON(CAPACITY_TYPE, "spot") ", price: \"0\""),
     "big 8 0 | small 2 0"},
    {"capacity, of the whole type", OVERLAY("o", ON(CAPACITY_TYPE, "spot")
     ", capacity: {example.com/gpu: 2}"), "big 8 4 gpu=2 | small 2 1 gpu=2"},
    {"the heaviest sets the price", OVERLAY("a", SIZE("big") ", weight: 10, price: \"1.5\"")
     OVERLAY("b", SIZE("big") ", weight: 5, priceAdjustment: +10%"), "big 1.5 1.5 | small 2 1"},
    {"capacities add up", OVERLAY("a", SIZE("big") ", weight: 10, capacity: {example.com/gpu: 1}")
     OVERLAY("b", SIZE("big") ", weight: 5, capacity: {example.com/gpu: 2, example.com/fuse: 3}"),
     "big 8 4 gpu=1 fuse=3 | small 2 1"},
    {"equal weight, one offering: the later in order has no effect anywhere",
     OVERLAY("a", ALL ", priceAdjustment: +10%") OVERLAY("b", SIZE("big") ", price: \"0.5\""),
     "big 0.5 0.5 | small 2 1; a: conflict with another overlay (b)"},
    {"equal values are in conflict too", OVERLAY("a", ALL ", price: \"1\"")
     OVERLAY("b", ALL ", price: \"1\""), "big 1 1 | small 1 1; a: conflict with another overlay (b)"},
    {"a lighter one that had no effect is in the way of its equals",
     OVERLAY("a", ALL ", weight: 1, price: \"9\"") OVERLAY("b", ALL ", weight: 1, price: \"5\"")
     OVERLAY("c", ALL ", weight: 2, price: \"3\""),
     "big 3 3 | small 3 3; a: conflict with another overlay (b)"},
    {"price and capacity of equal weight do not meet", OVERLAY("a", ALL ", price: \"1\"")
     OVERLAY("b", ALL ", capacity: {example.com/gpu: 1}"), "big 1 1 gpu=1 | small 1 1 gpu=1"},
    {"nor do two resources", OVERLAY("a", ALL ", capacity: {example.com/fuse: 1}")
     OVERLAY("b", ALL ", capacity: {example.com/gpu: 1}"),
     "big 8 4 gpu=1 fuse=1 | small 2 1 gpu=1 fuse=1"},
    {"the first of three is not forgotten over the second",
     OVERLAY("a", ALL ", capacity: {example.com/gpu: 3}")
     OVERLAY("b", ALL ", capacity: {example.com/fuse: 1}")
     OVERLAY("c", ALL ", capacity: {example.com/gpu: 1}"),
     "big 8 4 gpu=1 fuse=1 | small 2 1 gpu=1 fuse=1; a: conflict with another overlay (c)"},
    {"by pool", OVERLAY("o", ON("karpenter.sh/nodepool", "p1") ", price: \"1\""),
     "big 1 1 @p1 | big 8 4 @p2 | small 1 1 @p1 | small 2 1 @p2"},
    {"by a label of the pool's template", OVERLAY("o", ON("team", "red") ", price: \"1\""),
     "big 8 4 @p1 | big 1 1 @p2 | small 2 1 @p1 | small 1 1 @p2"},
    {"by what nothing has", OVERLAY("o", SIZE("huge") ", price: \"1\""), PLAIN},
    {"nothing set, nothing done", OVERLAY("o", ALL), PLAIN},
    {"two prices", OVERLAY("o", ALL ", price: \"1\", priceAdjustment: \"+1\""),
     PLAIN "; o: spec: cannot set both 'price' and 'priceAdjustment'"},
    {"not a price", OVERLAY("o", ALL ", price: \".5\""),
     PLAIN "; o: spec.price: \".5\" is not a price like \"0.25\""},
    {"not a price: no digit behind the point", OVERLAY("o", ALL ", price: \"1.\""),
     PLAIN "; o: spec.price: \"1.\" is not a price like \"0.25\""},
    {"not an adjustment", OVERLAY("o", ALL ", priceAdjustment: \"-101%\""),
     PLAIN "; o: spec.priceAdjustment: \"-101%\" is not an adjustment like \"+0.05\" or \"-10%\""},
    {"a resource that cannot be changed", OVERLAY("o", ALL ", capacity: {cpu: 1}"),
     PLAIN "; o: spec.capacity: invalid resource restricted: cpu"},
};

static void build(struct cluster *c, const char *objects)
{
    cluster_init(c);
    cluster_add(c, TYPES POOL("p1", "") POOL("p2", "team: red"));
    cluster_add(c, objects);
    c->options.node_overlay = true;
}

static void what_becomes_of_the_catalogue(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint64_t order = 0; order < 3; order++) {
            struct cluster c;
            build(&c, rows[i].overlays);
            cluster_shuffle(&c, order);
            cluster_plan(&c);
            struct span got = catalogue_text(&c);
            if (!span_eq(got, span_of(rows[i].want)))
                fail_msg("%s: got\n%.*s\nwant\n%s", rows[i].label, SPAN_ARG(got), rows[i].want);
            cluster_release(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_becomes_of_the_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
