/* Requests of a pod as spec provisioning 2.6 counts them. Containers are written "1" (CPU) or, with
 * a memory, "1/2"; r before means restartable. */
#include "kube/pod_wire.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct arena arena;
static struct symtab *syms;

#define R(...)                                                                                     \
    {                                                                                              \
        (struct resource[]){__VA_ARGS__},                                                          \
            sizeof((struct resource[]){__VA_ARGS__}) / sizeof(struct resource)                     \
    }
#define NONE                                                                                       \
    {                                                                                              \
        .restartable = false                                                                       \
    }
#define CPU(n)                                                                                     \
    {                                                                                              \
        SYM_CPU, (n)*1000                                                                          \
    }
#define MEM(n)                                                                                     \
    {                                                                                              \
        SYM_MEMORY, (n)                                                                            \
    }

static const struct {
    const char *label;
    struct container app[2], init[3];
    uint32_t apps, inits;
    struct resources pod_level, overhead;
    amount cpu, memory;
} rows[] = {
    {"containers add up",
     {{.requests = R(CPU(1), MEM(5))}, {.requests = R(CPU(2))}},
     {NONE},
     2,
     0,
     {0},
     {0},
     3000,
     5},
    {"sidecar 1 and main 2",
     {{.requests = R(CPU(2))}},
     {{.restartable = true, .requests = R(CPU(1))}},
     1,
     1,
     {0},
     {0},
     3000,
     0},
    {"an init container before a sidecar",
     {{.requests = R(CPU(2))}},
     {{.requests = R(CPU(10))}, {.restartable = true, .requests = R(CPU(1))}},
     1,
     2,
     {0},
     {0},
     10000,
     0},
    {"an init container after a sidecar runs beside it",
     {{.requests = R(CPU(2))}},
     {{.restartable = true, .requests = R(CPU(1))}, {.requests = R(CPU(10))}},
     1,
     2,
     {0},
     {0},
     11000,
     0},
    {"the greatest of each resource",
     {{.requests = R(CPU(2), MEM(1))}},
     {{.requests = R(CPU(1), MEM(7))}},
     1,
     1,
     {0},
     {0},
     2000,
     7},
    {"two sidecars between init containers",
     {{.requests = R(CPU(1))}},
     {{.restartable = true, .requests = R(CPU(2))},
      {.requests = R(CPU(3))},
      {.restartable = true, .requests = R(CPU(4))}},
     1,
     3,
     {0},
     {0},
     7000,
     0},
    {"overhead comes on top",
     {{.requests = R(CPU(1))}},
     {{.requests = R(CPU(3))}},
     1,
     1,
     {0},
     R(CPU(1), MEM(2)),
     4000,
     2},
    {"the pod's own amount replaces the sum",
     {{.requests = R(CPU(4), MEM(3))}},
     {NONE},
     1,
     0,
     R(CPU(2)),
     R(CPU(1)),
     3000,
     3},
    {"limits are not requests", {{.limits = R(CPU(4))}}, {NONE}, 1, 0, {0}, {0}, 0, 0},
    {"no containers at all", {NONE}, {NONE}, 0, 0, {0}, {0}, 0, 0},
};

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pod_wire w = {
            .containers = {(struct container *)rows[i].app, rows[i].apps},
            .init_containers = {(struct container *)rows[i].init, rows[i].inits},
            .pod_level = rows[i].pod_level,
            .overhead = rows[i].overhead,
        };
        struct resources got = pod_wire_requests(&arena, &w, syms);
        if (resources_get(got, SYM_CPU) != rows[i].cpu ||
            resources_get(got, SYM_MEMORY) != rows[i].memory)
            fail_msg("%s: got cpu %lld, memory %lld", rows[i].label,
                     (long long)resources_get(got, SYM_CPU),
                     (long long)resources_get(got, SYM_MEMORY));
        struct pod p = {.requests = got};
        struct resources all = pod_requests(&arena, &p);
        assert_int_equal(resources_get(all, SYM_PODS), 1);
        assert_int_equal(resources_get(p.requests, SYM_PODS), 0);
    }
}

/* Every row once more, with limits for requests; only overhead is another matter. */
static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct container app[2] = {NONE}, init[3] = {NONE};
        for (uint32_t k = 0; k < rows[i].apps; k++)
            app[k].limits = rows[i].app[k].requests;
        for (uint32_t k = 0; k < rows[i].inits; k++)
            init[k] = (struct container){.restartable = rows[i].init[k].restartable,
                                         .limits = rows[i].init[k].requests};
        struct pod_wire w = {.containers = {app, rows[i].apps},
                             .init_containers = {init, rows[i].inits},
                             .pod_level_limits = rows[i].pod_level};
        struct resources got = pod_wire_limits(&arena, &w, syms);
        assert_int_equal(resources_get(got, SYM_CPU),
                         rows[i].cpu - resources_get(rows[i].overhead, SYM_CPU));
        assert_int_equal(resources_get(got, SYM_MEMORY),
                         rows[i].memory - resources_get(rows[i].overhead, SYM_MEMORY));
        assert_int_equal(pod_wire_requests(&arena, &w, syms).count, 0);
    }
}

static void test_overhead_of_limits(void **state)
{
    (void)state;
    struct container c = {.limits = R(CPU(2))};
    struct pod_wire w = {.containers = {&c, 1}, .overhead = R(CPU(1), MEM(5))};
    struct resources got = pod_wire_limits(&arena, &w, syms);
    assert_int_equal(resources_get(got, SYM_CPU), 3000);
    assert_int_equal(got.count, 1); /* memory has no limit */
    assert_int_equal(resources_get(c.limits, SYM_CPU), 2000);
}

static void test_pod_level_names(void **state)
{
    (void)state;
    sym huge = sym_intern(syms, SPAN("hugepages-2Mi")),
        gpu = sym_intern(syms, SPAN("example.com/gpu"));
    struct container c = {.requests = R({gpu, 1}, {huge, 4})};
    struct pod_wire w = {.containers = {&c, 1}, .pod_level = R({gpu, 9}, {huge, 8}, MEM(16))};
    struct resources got = pod_wire_requests(&arena, &w, syms);
    assert_int_equal(resources_get(got, gpu), 1); /* only cpu, memory and huge pages can be set */
    assert_int_equal(resources_get(got, huge), 8);
    assert_int_equal(resources_get(got, SYM_MEMORY), 16);
}

static void test_resize(void **state)
{
    (void)state;
    static const struct {
        const char *label, *status_name, *condition_reason;
        bool has_resources;
        amount status, allocated, want;
    } at[] = {
        {"growing: spec is more than the node has given", "app", "Deferred", true, 1, 1, 2},
        {"shrinking: the node still holds more", "app", NULL, true, 4, 3, 4},
        {"allocated is more than actual", "app", NULL, true, 3, 5, 5},
        {"infeasible: spec does not count", "app", "Infeasible", true, 1, 1, 1},
        {"no resources in the status", "app", "Infeasible", false, 9, 9, 2},
        {"another container's status", "other", NULL, true, 9, 9, 2},
    };
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        struct container app = {.name = SPAN("app"), .requests = R(CPU(2))};
        struct resource status = {SYM_CPU, at[i].status * 1000};
        struct resource allocated = {SYM_CPU, at[i].allocated * 1000};
        struct container_status s = {.name = span_of(at[i].status_name),
                                     .has_resources = at[i].has_resources,
                                     .requests = {&status, 1},
                                     .allocated = {&allocated, 1}};
        struct condition pending = {.type = SPAN("PodResizePending"),
                                    .reason = span_of(at[i].condition_reason)};
        struct pod_wire w = {.containers = {&app, 1},
                             .statuses = {&s, 1},
                             .conditions = {&pending, at[i].condition_reason != NULL}};
        amount got = resources_get(pod_wire_requests(&arena, &w, syms), SYM_CPU);
        if (got != at[i].want * 1000)
            fail_msg("%s: got %lld", at[i].label, (long long)got);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    struct container c[] = {{.requests = R(CPU(1)), .limits = R(CPU(4), MEM(8))}};
    struct container init[] = {{.limits = R(CPU(3))}};
    struct pod_wire w = {.containers = {c, 1}, .init_containers = {init, 1}};
    pod_wire_default(&arena, &w);
    struct resources got = pod_wire_requests(&arena, &w, syms);
    assert_int_equal(resources_get(got, SYM_CPU), 3000);
    assert_int_equal(resources_get(got, SYM_MEMORY), 8);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    syms = kube_symtab_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_unref(syms);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_overhead_of_limits),
        cmocka_unit_test(test_pod_level_names),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
