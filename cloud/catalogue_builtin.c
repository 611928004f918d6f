/* The 144 types of provider kwok by formula (spec api 7.6). Fleet tests of others use the same
 * list, so that prices can be compared to the last digit: the order of the floating point
 * operations matters. */
#include "cloud/catalogue_source.h"

#include "cloud/catalogue.h"

static const uint32_t cpus[] = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256};
static const struct {
    uint32_t factor; /* GiB a core */
    char letter;
} families[] = {{2, 'c'}, {4, 's'}, {8, 'm'}};
static const char *const systems[] = {"linux", "windows"};
static const char *const architectures[] = {"amd64", "arm64"};
static const char *const zones[] = {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"};
static const char *const capacity_types[] = {"spot", "on-demand"};

enum { PODS_PER_CPU = 16, PODS_MAX = 1024 };
static const double SPOT_FACTOR = 0.7;

static struct source_requirement requirement(struct arena *a, struct span key, const char *value)
{
    struct span *values = ARENA_NEW(a, struct span);
    *values = span_of(value);
    return (struct source_requirement){.key = key, .op = OP_IN, .values = {values, 1}};
}

static struct source_offerings offerings(struct arena *a, double price)
{
    uint32_t count = COUNT_OF(zones) * COUNT_OF(capacity_types);
    struct source_offering *o = ARENA_ARRAY(a, struct source_offering, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *capacity_type = capacity_types[i % COUNT_OF(capacity_types)];
        struct source_requirement *r = ARENA_ARRAY(a, struct source_requirement, 2);
        r[0] = requirement(a, wellknown_text[SYM_CAPACITY_TYPE - 1], capacity_type);
        r[1] = requirement(a, wellknown_text[SYM_ZONE - 1], zones[i / COUNT_OF(capacity_types)]);
        o[i] = (struct source_offering){
            .requirements = {r, 2},
            .price = capacity_type == capacity_types[0] ? price * SPOT_FACTOR : price,
            .has_price = true,
            .available = true};
    }
    return (struct source_offerings){o, count};
}

double catalogue_builtin_price(double cores, double bytes)
{
    return 0.025 * cores + 0.001 * bytes / 1e9;
}

static struct source_type type(struct arena *a, uint32_t cpu, uint32_t family, const char *os,
                               const char *arch)
{
    uint32_t gib = cpu * families[family].factor;
    uint32_t pods = cpu * PODS_PER_CPU < PODS_MAX ? cpu * PODS_PER_CPU : PODS_MAX;
    double price = catalogue_builtin_price(cpu, (double)gib * 1024 * 1024 * 1024);
    struct source_amount *r = ARENA_ARRAY(a, struct source_amount, 4);
    r[0] = (struct source_amount){SPAN("cpu"), arena_printf(a, "%u", cpu)};
    r[1] = (struct source_amount){SPAN("memory"), arena_printf(a, "%uGi", gib)};
    r[2] = (struct source_amount){SPAN("pods"), arena_printf(a, "%u", pods)};
    r[3] = (struct source_amount){SPAN("ephemeral-storage"), SPAN("20Gi")};
    struct span *systems_of = ARENA_NEW(a, struct span);
    *systems_of = span_of(os);
    return (struct source_type){
        .name = arena_printf(a, "%c-%ux-%s-%s", families[family].letter, cpu, arch, os),
        .architecture = span_of(arch),
        .operating_systems = {systems_of, 1},
        .resources = {r, 4},
        .offerings = offerings(a, price)};
}

struct catalogue_source *catalogue_builtin(void)
{
    struct catalogue_source *s = catalogue_source_new();
    uint32_t capacity = 0;
    for (uint32_t c = 0; c < COUNT_OF(cpus); c++)
        for (uint32_t f = 0; f < COUNT_OF(families); f++)
            for (uint32_t o = 0; o < COUNT_OF(systems); o++)
                for (uint32_t h = 0; h < COUNT_OF(architectures); h++) {
                    struct source_type t =
                        type(&s->arena, cpus[c], f, systems[o], architectures[h]);
                    ARENA_PUSH(&s->arena, s->types, s->count, capacity, t);
                }
    catalogue_source_finish(s);
    return s;
}
