/* A catalogue of EC2's types, made of what the AWS command line prints: labels and room are those that karpenter-provider-aws
 * documents for them (samples/aws-karpenter.txt, of its page of instance types), prices and zones those of the lists. */
#include "cloud/aws/aws_catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct bench {
    struct arena a;
    struct aws_types types;
    struct aws_prices on_demand, spot;
    struct aws_places places;
    struct aws_left left;
    struct symtab *syms;
    struct catalogue c;
};

static struct span sample(struct arena *a, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/cloud/samples/%s", TESTS_DIR, name);
    FILE *f = fopen(path, "r");
    struct buf text = {0};
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        buf_add_char(&text, (char)c);
    fclose(f);
    struct span all = arena_dup(a, buf_span(&text));
    buf_release(&text);
    return all;
}

static const char *const zones_of_a_region[] = {"us-east-1a", "us-east-1f"};

struct asked {
    const char *prices, *spot, *places; /* samples; NULL: none */
    double overhead;
    int64_t reserved_enis;
};

static void make(struct bench *b, struct asked q)
{
    static struct span zones[COUNT_OF(zones_of_a_region)];
    struct err err = {0};
    *b = (struct bench){.syms = kube_symtab_new()};
    arena_init(&b->a, 0);
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        zones[i] = span_of(zones_of_a_region[i]);
    struct span region = SPAN("us-east-1"), file = SPAN("x.json");
    if (!aws_types_read(&b->a, sample(&b->a, "aws-described.json"), file, &b->types, &err) ||
        (q.prices != NULL && !aws_price_list_read(&b->a, sample(&b->a, q.prices), file, region, &b->on_demand, &err)) ||
        (q.spot != NULL && !aws_spot_read(&b->a, sample(&b->a, q.spot), file, &b->spot, &err)) ||
        (q.places != NULL && !aws_places_read(&b->a, sample(&b->a, q.places), file, &b->places, &err)))
        fail_msg("%s", err.msg);
    aws_prices_sort(&b->on_demand);
    aws_prices_sort(&b->spot);
    aws_places_sort(&b->places);
    struct aws_terms terms = {.types = &b->types,
                              .on_demand = &b->on_demand,
                              .spot = &b->spot,
                              .places = q.places != NULL ? &b->places : NULL,
                              .region = region,
                              .zones = {zones, COUNT_OF(zones)},
                              .vm_memory_overhead = q.overhead,
                              .reserved_enis = q.reserved_enis};
    struct catalogue_source *s = aws_catalogue(&terms, SPAN("made"), &b->left);
    catalogue_build(s, &b->a, b->syms, &b->c);
    catalogue_source_free(s);
}

static void drop(struct bench *b)
{
    symtab_unref(b->syms);
    arena_release(&b->a);
}

static const struct instance_type *find(const struct bench *b, struct span name)
{
    for (uint32_t i = 0; i < b->c.count; i++)
        if (span_eq(b->c.items[i].name, name))
            return &b->c.items[i];
    fail_msg("no type %.*s", SPAN_ARG(name));
    return NULL;
}

static struct span label(const struct bench *b, const struct instance_type *t, struct span key)
{
    sym id = sym_find(b->syms, key);
    const struct requirement *r = id != SYM_NONE ? requirements_get(&t->requirements, id) : NULL;
    return r != NULL && !r->complement && r->count == 1 ? sym_text(b->syms, r->values[0]) : (struct span){0};
}

static amount of_text(struct span text, bool is_cpu)
{
    amount value = 0;
    struct err err;
    if (!quantity_parse(text, is_cpu ? 1000 : 1, &value, &err))
        fail_msg("%s", err.msg);
    return value;
}

/* Each line of it: type, key, value; a key is a label or a resource, of which it has what pods can have. */
static uint32_t compare(struct bench *b, struct span line)
{
    struct span key, value, name = span_cut(line, ' ', &key);
    key = span_cut(key, ' ', &value);
    const struct instance_type *t = find(b, name);
    sym id = sym_find(b->syms, key);
    bool is_label = span_has_prefix(key, SPAN("karpenter.k8s.aws/")) || span_contains(key, SPAN("kubernetes.io/"));
    if (is_label && !span_eq(label(b, t, key), value))
        fail_msg("%.*s: %.*s is \"%.*s\", not \"%.*s\"", SPAN_ARG(name), SPAN_ARG(key), SPAN_ARG(label(b, t, key)), SPAN_ARG(value));
    amount got = !is_label && id != SYM_NONE ? resources_get(t->allocatable, id) : 0;
    if (!is_label && got != of_text(value, id == SYM_CPU))
        fail_msg("%.*s: %.*s is %lld, not %.*s", SPAN_ARG(name), SPAN_ARG(key), (long long)got, SPAN_ARG(value));
    return 1;
}

static void as_documented(void **state)
{
    (void)state;
    struct bench b;
    uint32_t lines = 0;
    make(&b, (struct asked){.overhead = 0.075});
    for (struct span line, rest = sample(&b.a, "aws-karpenter.txt"); rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        lines += compare(&b, line);
    }
    assert_int_equal(lines, 225);
    assert_int_equal(b.c.count, 10);
    assert_int_equal(b.left.architectures, 1); /* mac1.metal */
    drop(&b);
}

/* What a type has not, it says so: a pool that asks for it does not get it. */
static void what_it_has_not(void **state)
{
    (void)state;
    struct bench b;
    make(&b, (struct asked){.overhead = 0.075});
    static const char *const keys[] = {"instance-gpu-name", "instance-accelerator-count", "instance-local-nvme", "capacity-reservation-id"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        sym key = sym_find(b.syms, arena_printf(&b.a, "karpenter.k8s.aws/%s", keys[i]));
        const struct requirement *r = requirements_get(&find(&b, SPAN("m5.large"))->requirements, key);
        assert_non_null(r);
        assert_int_equal(requirement_op(r), OP_DOES_NOT_EXIST);
        assert_true(syms_has(b.c.well_known, key));
    }
    assert_true(span_eq(label(&b, find(&b, SPAN("m5.large")), SPAN("topology.kubernetes.io/region")), SPAN("us-east-1")));
    drop(&b);
}

/* Less memory and fewer interfaces for pods, with Karpenter's two options. */
static void options_of_karpenter(void **state)
{
    (void)state;
    struct bench b;
    make(&b, (struct asked){.overhead = 0, .reserved_enis = 1});
    const struct instance_type *t = find(&b, SPAN("m5.large"));
    assert_int_equal(resources_get(t->capacity, SYM_MEMORY), 8192LL << 20);
    assert_int_equal(resources_get(t->capacity, SYM_PODS), 2 * 9 + 2);
    assert_int_equal(resources_get(t->overhead, SYM_MEMORY), (11LL * 29 + 255 + 100) << 20); /* of all interfaces */
    drop(&b);
    make(&b, (struct asked){.overhead = 0.1, .reserved_enis = 99});
    t = find(&b, SPAN("c6g.large"));
    assert_int_equal(resources_get(t->capacity, SYM_MEMORY), (4032LL - 404) << 20); /* after Graviton's 64 MiB, a tenth, rounded up */
    assert_int_equal(resources_get(t->capacity, SYM_PODS), 0);
    drop(&b);
}

/* The offerings of a type: "us-east-1a on-demand 0.096 yes", a line each. */
static const char *offered(struct bench *b, const char *name)
{
    const struct instance_type *t = find(b, span_of(name));
    struct span all = SPAN("");
    for (uint32_t i = 0; i < t->offering_count; i++) {
        const struct offering *o = &t->offerings[i];
        const struct requirement *zone = requirements_get(&o->requirements, SYM_ZONE),
                                 *kind = requirements_get(&o->requirements, SYM_CAPACITY_TYPE);
        all = arena_printf(&b->a, "%.*s%.*s %.*s %g %s\n", SPAN_ARG(all), SPAN_ARG(sym_text(b->syms, zone->values[0])),
                           SPAN_ARG(sym_text(b->syms, kind->values[0])), o->price, o->available ? "yes" : "no");
    }
    return all.ptr;
}

static void prices_and_zones(void **state)
{
    (void)state;
    struct bench b;
    make(&b, (struct asked){.overhead = 0.075, .prices = "aws-offer-file.json", .spot = "aws-spot.json"});
    assert_string_equal(offered(&b, "m5.large"), "us-east-1a on-demand 0.096 yes\nus-east-1a spot 0.0351 yes\n"
                                                 "us-east-1f on-demand 0.096 yes\nus-east-1f spot 0 no\n");
    assert_string_equal(offered(&b, "m5.metal"), "us-east-1a on-demand 4.608 yes\nus-east-1a spot 0 no\n"
                                                 "us-east-1f on-demand 4.608 yes\nus-east-1f spot 0 no\n");
    assert_string_equal(offered(&b, "t3.micro"), "us-east-1a on-demand 0 no\nus-east-1a spot 0 no\n"
                                                 "us-east-1f on-demand 0 no\nus-east-1f spot 0 no\n");
    assert_int_equal(b.left.unpriced_on_demand, 2 * (10 - 5));
    drop(&b);
    make(&b, (struct asked){.overhead = 0.075, .prices = "aws-get-products.json", .places = "aws-offerings.json"});
    assert_string_equal(offered(&b, "m5.large"), "us-east-1a on-demand 0.096 yes\nus-east-1a spot 0 no\n"
                                                 "us-east-1f on-demand 0.096 yes\nus-east-1f spot 0 no\n");
    assert_string_equal(offered(&b, "p4d.24xlarge"), "us-east-1a on-demand 0 no\nus-east-1a spot 0 no\n"); /* not in f */
    const struct requirement *zones = requirements_get(&find(&b, SPAN("p4d.24xlarge"))->requirements, SYM_ZONE);
    assert_int_equal(zones->count, 1);
    assert_int_equal(b.left.nowhere, 3); /* the sample has no places of these */
    drop(&b);
}

/* Without any price all is there to be bought, and who asked was told. */
static void without_prices(void **state)
{
    (void)state;
    struct bench b;
    make(&b, (struct asked){.overhead = 0.075});
    assert_string_equal(offered(&b, "m5.large"), "us-east-1a on-demand 0 yes\nus-east-1a spot 0 yes\n"
                                                 "us-east-1f on-demand 0 yes\nus-east-1f spot 0 yes\n");
    assert_true(b.left.unpriced_on_demand == 20 && b.left.unpriced_spot != 0);
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_documented),        cmocka_unit_test(what_it_has_not),
        cmocka_unit_test(options_of_karpenter), cmocka_unit_test(prices_and_zones),
        cmocka_unit_test(without_prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
