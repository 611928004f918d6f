#include "server/catalogue_aws.h"

#include <stdlib.h>

#include "cloud/aws/aws_catalogue.h"
#include "server/input.h"

struct given {
    struct arena *a;
    const struct options *o;
    struct span region;
    struct spans zones;
    struct aws_types types;
    struct aws_prices on_demand, spot;
    struct aws_places places;
};

/* ---- files ---- */

/* Each text goes once it was read: a price list is as large as all else. */
typedef bool read_one(struct given *g, struct span text, struct span file, struct err *err);

static bool read_each(struct given *g, const struct texts *files, read_one *read, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < files->count; i++) {
        struct arena own;
        struct span text;
        arena_init(&own, 0);
        ok = input_text(&own, files->items[i], &text, err) && read(g, text, span_of(files->items[i]), err);
        arena_release(&own);
    }
    return ok;
}

static bool read_types(struct given *g, struct span text, struct span file, struct err *err)
{
    return aws_types_read(g->a, text, file, &g->types, err);
}

static bool read_prices(struct given *g, struct span text, struct span file, struct err *err)
{
    return aws_price_list_read(g->a, text, file, g->region, &g->on_demand, err);
}

static bool read_spot(struct given *g, struct span text, struct span file, struct err *err)
{
    return aws_spot_read(g->a, text, file, &g->spot, err);
}

static bool read_places(struct given *g, struct span text, struct span file, struct err *err)
{
    return aws_places_read(g->a, text, file, &g->places, err);
}

/* ---- where ---- */

static int by_text(const void *x, const void *y)
{
    return span_cmp(*(const struct span *)x, *(const struct span *)y);
}

static void add_zone(struct given *g, uint32_t *capacity, struct span zone)
{
    bool known = zone.len == 0 || !span_has_prefix(zone, g->region);
    for (uint32_t i = 0; i < g->zones.count && !known; i++)
        known = span_eq(g->zones.items[i], zone);
    if (!known)
        ARENA_PUSH(g->a, g->zones.items, g->zones.count, *capacity, zone);
}

/* Those that were named; else those in which there is something. */
static bool find_zones(struct given *g, struct err *err)
{
    uint32_t capacity = 0;
    bool named = g->o->zones.count != 0, placed = g->places.count != 0;
    for (uint32_t i = 0; i < g->o->zones.count; i++)
        add_zone(g, &capacity, span_of(g->o->zones.items[i]));
    for (uint32_t i = 0; i < g->places.count && !named; i++)
        add_zone(g, &capacity, g->places.items[i].zone);
    for (uint32_t i = 0; i < g->spot.count && !named && !placed; i++)
        add_zone(g, &capacity, g->spot.items[i].zone);
    if (g->zones.count == 0 && g->region.len != 0 && (named || placed || g->spot.count != 0))
        return err_set(err, ERR_INVALID, "no zone is of region %.*s; is --region right?", SPAN_ARG(g->region));
    if (g->zones.count == 0)
        return err_set(err, ERR_INVALID, "say in which zones: --zones us-east-1a,us-east-1b, or a file of --type-offerings or --spot");
    qsort(g->zones.items, g->zones.count, sizeof(struct span), by_text);
    return true;
}

/* "us-east-1" of "us-east-1a"; of a local zone it has to be said. */
static bool find_region(struct given *g, struct err *err)
{
    struct span zone = g->zones.items[0];
    if (g->region.len != 0)
        return true;
    bool letter = zone.len > 1 && zone.ptr[zone.len - 1] >= 'a' && zone.ptr[zone.len - 1] <= 'z' &&
                  zone.ptr[zone.len - 2] >= '0' && zone.ptr[zone.len - 2] <= '9';
    g->region = (struct span){zone.ptr, letter ? zone.len - 1 : 0};
    for (uint32_t i = 0; i < g->zones.count && letter; i++)
        letter = span_has_prefix(g->zones.items[i], g->region);
    return letter || err_set(err, ERR_INVALID, "of which region are the zones? Say it with --region");
}

/* ---- the whole ---- */

static void tell(struct buf *notes, uint32_t count, const char *one, const char *many, const char *why)
{
    if (count != 0)
        buf_addf(notes, "stowage catalogue: %u %s %s\n", count, count == 1 ? one : many, why);
}

static void tell_left(struct buf *notes, const struct given *g, const struct aws_left *left)
{
    bool priced = g->on_demand.count + g->spot.count != 0;
    const char *free = "without a price: available, and for a plan as good as free; --prices and --spot give them";
    tell(notes, left->architectures, "type", "types", "left out: Kubernetes runs on amd64 and arm64, with hardware virtualization");
    tell(notes, left->nowhere, "type", "types", "left out: in none of the zones");
    tell(notes, left->unpriced_on_demand, "on-demand offering", "on-demand offerings",
         !priced ? free : g->on_demand.count != 0 ? "not available: not in the price list" : "not available: no --prices");
    tell(notes, left->unpriced_spot, "spot offering", "spot offerings",
         !priced ? free : g->spot.count != 0 ? "not available: no price in --spot" : "not available: no --spot");
}

static bool read_all(struct given *g, const struct texts *files, struct err *err)
{
    if (!read_each(g, files, read_types, err) || !read_each(g, &g->o->type_offerings, read_places, err) ||
        !read_each(g, &g->o->spot, read_spot, err) || !find_zones(g, err) || !find_region(g, err) ||
        !read_each(g, &g->o->prices, read_prices, err))
        return false;
    aws_places_sort(&g->places);
    aws_prices_sort(&g->on_demand);
    aws_prices_sort(&g->spot);
    return g->o->vm_memory_overhead < 1 ||
           err_set(err, ERR_INVALID, "--vm-memory-overhead-percent: %g leaves no memory; 0.075 is 7.5 %%", g->o->vm_memory_overhead);
}

bool catalogue_from_aws(struct arena *a, const struct texts *files, const struct options *o, struct catalogue_source **out,
                        struct buf *notes, struct err *err)
{
    struct given g = {.a = a, .o = o, .region = span_of(o->region)};
    struct aws_left left;
    if (!read_all(&g, files, err))
        return false;
    struct aws_terms terms = {.types = &g.types,
                              .on_demand = &g.on_demand,
                              .spot = &g.spot,
                              .places = o->type_offerings.count != 0 ? &g.places : NULL,
                              .region = g.region,
                              .zones = g.zones,
                              .vm_memory_overhead = o->vm_memory_overhead,
                              .reserved_enis = o->reserved_enis};
    *out = aws_catalogue(&terms, SPAN("standard output"), &left);
    tell_left(notes, &g, &left);
    return true;
}
