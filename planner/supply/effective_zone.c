#include "planner/supply/effective_zone.h"

#include <stdlib.h>

#include "planner/topology/tally.h"

struct zoned { /* what speaks of the zone of one class */
    const struct world *w;
    const struct requirement *asked; /* NULL: nothing */
    struct syms volumes;             /* where its volumes can be; none listed: anywhere */
    const struct topology_key *key;  /* NULL: no group looks at zones */
    const uint64_t *open;            /* domains that all groups leave */
    bool grouped;                    /* some group does look at them */
};

/* The zones that the alternatives of its volumes name; none, when one of them names none. */
static struct syms volume_zones(struct arena *a, const struct world *w, const struct attempt *try)
{
    struct syms out = {0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < try->where_count; i++) {
        const struct requirement *r = requirements_get(&w->classes.sets[try->where[i]], SYM_ZONE);
        if (r == NULL || r->complement)
            return (struct syms){0};
        for (uint32_t v = 0; v < r->count; v++)
            ARENA_PUSH(a, out.items, out.count, capacity, r->values[v]);
    }
    return out;
}

static bool groups_look_at(const struct world *w, const struct pod_class *k,
                           const struct attempt *try, uint32_t key)
{
    for (uint32_t i = 0; i < try->group_count; i++)
        if (w->topology.groups[try->groups[i]].key == key)
            return true;
    for (uint32_t i = 0; i < k->ties.kept_off_by_count; i++)
        if (w->topology.groups[k->ties.kept_off_by[i]].key == key)
            return true;
    return false;
}

static struct zoned look_at(struct arena *a, const struct tally *t, const struct pod_class *k)
{
    const struct world *w = t->world;
    const struct attempt *try = &w->classes.attempts[k->first_strict];
    struct zoned z = {.w = w, .volumes = volume_zones(a, w, try)};
    z.asked = requirements_get(&w->classes.signatures[try->signature].strict, SYM_ZONE);
    for (uint32_t key = 1; key < w->topology.key_count; key++) {
        if (w->topology.keys[key].key != SYM_ZONE)
            continue;
        z.key = &w->topology.keys[key];
        z.grouped = groups_look_at(w, k, try, key);
        uint64_t *open = ARENA_ARRAY(a, uint64_t, z.key->words);
        tally_domains(t, k, try, key, open);
        z.open = open;
    }
    return z;
}

static bool listed(struct syms list, sym value)
{
    for (uint32_t i = 0; i < list.count; i++) /* a handful, in no order */
        if (list.items[i] == value)
            return true;
    return list.count == 0;
}

static bool allows(const struct zoned *z, sym zone)
{
    int32_t domain = z->grouped ? topology_domain(z->key, zone) : 0;
    return (z->asked == NULL || requirement_has(z->asked, zone, z->w->syms)) &&
           listed(z->volumes, zone) &&
           (!z->grouped || (domain >= 0 && bits_has(z->open, (uint32_t)domain)));
}

/* What there is to choose from: the pod's own zones, else its volumes', else its groups'. */
static struct syms choices(struct arena *a, const struct zoned *z)
{
    struct syms out = {0};
    uint32_t capacity = 0;
    if (z->asked != NULL && !z->asked->complement)
        return (struct syms){(sym *)(uintptr_t)z->asked->values, z->asked->count};
    if (z->volumes.count != 0)
        return z->volumes;
    for (BITS_EACH(d, z->open, z->key->words))
        ARENA_PUSH(a, out.items, out.count, capacity, z->key->domains[d]);
    return out;
}

static struct span zone_of(struct arena *a, const struct tally *t, const struct pod_class *k)
{
    struct zoned z = look_at(a, t, k);
    if (z.grouped && bits_count(z.open, z.key->words) == 0)
        return SPAN("none");
    bool asked = z.asked != NULL && !z.asked->complement;
    if (!asked && z.volumes.count == 0 && !z.grouped)
        return SPAN("flexible");
    struct syms from = choices(a, &z);
    sym found = SYM_NONE;
    for (uint32_t i = 0; i < from.count; i++) {
        if (from.items[i] == found || !allows(&z, from.items[i]))
            continue;
        if (found != SYM_NONE)
            return SPAN("flexible");
        found = from.items[i];
    }
    return found != SYM_NONE ? sym_text(t->world->syms, found) : SPAN("none");
}

static int zone_order(const void *a, const void *b)
{
    return span_cmp(((const struct zone_count *)a)->zone, ((const struct zone_count *)b)->zone);
}

const struct zone_count *effective_zones(struct arena *a, const struct world *w,
                                         uint32_t *count_out)
{
    struct tally t;
    struct zone_count *list = NULL;
    uint32_t count = 0, capacity = 0;
    struct span *known = ARENA_ARRAY(a, struct span, w->classes.count); /* by class */
    tally_init(&t, a, w);
    for (uint32_t i = 0; i < w->waiting_count; i++) {
        uint32_t id = w->waiting[i].class_id, at = 0;
        const struct pod_class *k = &w->classes.items[id];
        if (w->waiting[i].bound || w->waiting[i].pod->is_virtual ||
            w->waiting[i].pod->phase != POD_PENDING || k->invalid.ptr != NULL)
            continue;
        if (known[id].ptr == NULL)
            known[id] = zone_of(a, &t, k);
        while (at < count && !span_eq(list[at].zone, known[id]))
            at++;
        if (at == count) {
            struct zone_count fresh = {known[id], 0};
            ARENA_PUSH(a, list, count, capacity, fresh);
        }
        list[at].pods++;
    }
    if (count != 0)
        qsort(list, count, sizeof(*list), zone_order);
    *count_out = count;
    return list;
}
