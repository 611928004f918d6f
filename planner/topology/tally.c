#include "planner/topology/tally.h"

#include "planner/topology/level.h"

/* Where a group moved last. Who has not looked for longer looks at all domains. */
struct recent {
    uint32_t domains[64];
};

struct tally_levels {
    struct pairs known;  /* by group and who measures (measurer), + 1 */
    struct level *items;
    uint32_t count, capacity;
    struct recent **recent; /* by group; NULL: nobody has looked */
};

void tally_init(struct tally *t, struct arena *a, const struct world *w)
{
    uint32_t groups = w->topology.group_count;
    *t = (struct tally){.arena = a, .world = w};
    t->counts = ARENA_ARRAY(a, uint32_t *, groups);
    t->unsure = ARENA_ARRAY(a, uint32_t *, groups);
    t->totals = ARENA_ARRAY(a, uint32_t, groups);
    t->moved = ARENA_ARRAY(a, uint32_t, groups);
    for (uint32_t g = 0; g < groups; g++)
        t->totals[g] = w->topology.groups[g].total;
    pairs_init(&t->hosts, a);
    t->levels = ARENA_NEW(a, struct tally_levels);
    pairs_init(&t->levels->known, a);
    t->levels->recent = ARENA_ARRAY(a, struct recent *, groups);
}

/* --- numbers --- */

static const struct topology_group *group_at(const struct tally *t, uint32_t g)
{
    return &t->world->topology.groups[g];
}

static const struct topology_key *key_at(const struct tally *t, uint32_t key)
{
    return &t->world->topology.keys[key];
}

static const uint32_t *counts_of(const struct tally *t, uint32_t g)
{
    return t->counts[g] != NULL ? t->counts[g] : group_at(t, g)->counts;
}

static int32_t host_count(const struct tally *t, uint32_t g, uint32_t target)
{
    return pairs_get(&t->world->topology.hosts, g, target) + pairs_get(&t->hosts, g, target);
}

static void move_domain(struct tally *t, uint32_t g, uint32_t domain, int by)
{
    if (t->counts[g] == NULL) {
        uint32_t count = key_at(t, group_at(t, g)->key)->count;
        t->counts[g] = ARENA_ARRAY(t->arena, uint32_t, count);
        memcpy(t->counts[g], group_at(t, g)->counts, count * sizeof(uint32_t));
    }
    t->counts[g][domain] += (uint32_t)by;
    t->totals[g] += (uint32_t)by;
    struct recent *recent = t->levels->recent[g];
    if (recent != NULL)
        recent->domains[t->moved[g] % COUNT_OF(recent->domains)] = domain;
    t->moved[g]++;
}

static void move_host(struct tally *t, uint32_t g, uint32_t target, int by)
{
    pairs_add(&t->hosts, g, target, by);
    t->totals[g] += (uint32_t)by;
    t->moved[g]++;
}

/* --- moves --- */

static void move_on_row(struct tally *t, uint32_t g, uint32_t row, int by)
{
    int32_t domain = group_at(t, g)->key == 0 ? 0 : key_at(t, group_at(t, g)->key)->of_row[row];
    if (group_at(t, g)->key == 0) {
        move_host(t, g, row, by);
    } else if (domain >= 0) {
        move_domain(t, g, (uint32_t)domain, by);
    } else if (domain == DOMAIN_NONE && topology_meets_nowhere(group_at(t, g))) {
        t->totals[g] += (uint32_t)by;
        t->moved[g]++;
    }
}

void tally_move_row(struct tally *t, const struct pod_class *k, uint32_t row, int by)
{
    for (uint32_t i = 0; i < k->ties.counted_by_count; i++)
        if (topology_counts_row(t->world, group_at(t, k->ties.counted_by[i]), row))
            move_on_row(t, k->ties.counted_by[i], row, by);
    for (uint32_t i = 0; i < k->ties.keeps_off_count; i++)
        move_on_row(t, k->ties.keeps_off[i], row, by);
}

void tally_lift(struct tally *t, const struct pod_class *k, bool goes, uint32_t row, int by)
{
    if (!goes)
        tally_move_row(t, k, row, -by);
    for (uint32_t i = 0; goes && i < k->ties.keeps_off_count; i++)
        move_on_row(t, k->ties.keeps_off[i], row, -by);
}

static void move_unsure(struct tally *t, uint32_t g, uint32_t domain, int by)
{
    if (t->unsure[g] == NULL)
        t->unsure[g] = ARENA_ARRAY(t->arena, uint32_t, key_at(t, group_at(t, g)->key)->count);
    t->unsure[g][domain] += (uint32_t)by;
}

static void move_on_claim(struct tally *t, uint32_t g, const struct tally_claim *c, int by)
{
    uint32_t key = group_at(t, g)->key;
    if (key == 0) {
        move_host(t, g, c->target, by);
        return;
    }
    if (c->domain_of[key] < 0)
        return;
    move_domain(t, g, (uint32_t)c->domain_of[key], by);
    if (group_at(t, g)->kind == TOPOLOGY_SPREAD &&
        !topology_surely_admits(t->world, group_at(t, g), c->requirements))
        move_unsure(t, g, (uint32_t)c->domain_of[key], by);
}

void tally_move_claim(struct tally *t, const struct pod_class *k, const struct tally_claim *c,
                      int by)
{
    const struct world *w = t->world;
    for (uint32_t i = 0; i < k->ties.counted_by_count; i++)
        if (topology_admits(w, group_at(t, k->ties.counted_by[i]), c->requirements, c->taints,
                            w->rules.well_known))
            move_on_claim(t, k->ties.counted_by[i], c, by);
    for (uint32_t i = 0; i < k->ties.keeps_off_count; i++)
        move_on_claim(t, k->ties.keeps_off[i], c, by);
}

/* --- answers --- */

static bool counts_class(const struct pod_class *k, uint32_t g)
{
    uint32_t low = 0, high = k->ties.counted_by_count;
    while (low < high) { /* they are sorted */
        uint32_t mid = (low + high) / 2;
        if (k->ties.counted_by[mid] < g)
            low = mid + 1;
        else
            high = mid;
    }
    return low < k->ties.counted_by_count && k->ties.counted_by[low] == g;
}

static uint32_t floor_of(const struct tally *t, uint32_t g)
{
    return t->floors != NULL && t->floors[g] != 0 ? t->floors[g] - 1 : 0;
}

bool tally_is_first(const struct tally *t, const struct pod_class *k, uint32_t g)
{
    const struct topology_group *x = group_at(t, g);
    bool nobody = t->totals[g] == 0;
    for (uint32_t i = 0; nobody && i < x->with_count; i++)
        nobody = t->totals[x->with[i]] == 0;
    return nobody && counts_class(k, g);
}

static enum answer host_group(const struct tally *t, const struct pod_class *k, uint32_t g,
                                    uint32_t target)
{
    const struct topology_group *x = group_at(t, g);
    int32_t there = host_count(t, g, target);
    switch (x->kind) {
    case TOPOLOGY_SPREAD: /* a node can always be bought, so the least number is taken to be 0 */
        if (there + counts_class(k, g) - (int64_t)floor_of(t, g) <= x->max_skew)
            return ANSWER_YES;
        return t->floors != NULL ? ANSWER_NOT_NOW : ANSWER_NEVER;
    case TOPOLOGY_AFFINITY:
        return there > 0 || tally_is_first(t, k, g) ? ANSWER_YES : ANSWER_NOT_NOW;
    case TOPOLOGY_ANTI_AFFINITY:
        break;
    }
    return there == 0 ? ANSWER_YES : ANSWER_NEVER;
}

enum answer tally_host(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                       uint32_t target)
{
    enum answer worst = ANSWER_YES;
    uint32_t groups = try->group_count + k->ties.kept_off_by_count;
    for (uint32_t i = 0; i < groups && worst != ANSWER_NEVER; i++) {
        uint32_t g = i < try->group_count ? try->groups[i]
                                          : k->ties.kept_off_by[i - try->group_count];
        if (group_at(t, g)->key != 0)
            continue;
        enum answer a = host_group(t, k, g, target);
        worst = a > worst ? a : worst;
    }
    return worst;
}

/* Domains in which a pod with these strict requirements can be at all. */
static bool pod_domain(const struct tally *t, const struct requirement *asked, uint32_t key,
                       uint32_t domain)
{
    return asked == NULL ||
           requirement_has(asked, key_at(t, key)->domains[domain], t->world->syms);
}

/* What the attempt itself asks of the group's key. */
static const struct requirement *asked_of(const struct tally *t, const struct attempt *try, uint32_t g)
{
    return requirements_get(&t->world->classes.signatures[try->signature].strict,
                            key_at(t, group_at(t, g)->key)->key);
}

uint32_t tally_sure(const struct tally *t, uint32_t g, uint32_t domain)
{
    return counts_of(t, g)[domain] - (t->unsure[g] != NULL ? t->unsure[g][domain] : 0);
}

/* --- what spreads leave open --- */

/* What a spread looks at beside its numbers: where the attempt can be at all, and whether the pod counts. */
static uint32_t measurer(const struct attempt *try, const struct requirement *asked, bool self)
{
    return (asked != NULL ? try->signature + 1 : 0) << 1 | self;
}

/* With nodeAffinityPolicy Ignore domains are compared where the pod cannot go, too: so the scheduler sees it. */
static void add_level(const struct tally *t, uint32_t g, const struct requirement *asked, bool self)
{
    struct tally_levels *all = t->levels;
    const struct topology_group *x = group_at(t, g);
    uint32_t words = key_at(t, x->key)->words;
    uint64_t *may = x->domains;
    if (asked != NULL) {
        may = ARENA_ARRAY(t->arena, uint64_t, words);
        for (BITS_EACH(d, x->domains, words))
            if (pod_domain(t, asked, x->key, d))
                bits_add(may, d);
    }
    bool own = t->world->topology.filters[x->filter].by_affinity;
    struct level l;
    level_init(&l, t->arena,
               &(struct level_rule){.among = own ? may : x->domains, .may = may, .words = words, .self = self,
                                    .max_skew = x->max_skew, .min_domains = x->min_domains});
    ARENA_PUSH(t->arena, all->items, all->count, all->capacity, l);
    if (all->recent[g] == NULL)
        all->recent[g] = ARENA_NEW(t->arena, struct recent);
}

static void take_moves(const struct tally *t, uint32_t g, struct level *l, const struct level_numbers *now)
{
    const struct recent *recent = t->levels->recent[g];
    if (t->moved[g] - l->seen > COUNT_OF(recent->domains))
        level_anew(l, now);
    else
        for (; l->seen != t->moved[g]; l->seen++)
            level_move(l, now, recent->domains[l->seen % COUNT_OF(recent->domains)]);
    l->seen = t->moved[g];
}

static const uint64_t *open_to(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                               uint32_t g)
{
    struct tally_levels *all = t->levels;
    const struct requirement *asked = asked_of(t, try, g);
    bool self = counts_class(k, g);
    uint32_t who = measurer(try, asked, self);
    int32_t at = pairs_get(&all->known, g, who);
    struct level_numbers now = {counts_of(t, g), t->unsure[g]};
    if (at == 0) {
        add_level(t, g, asked, self);
        at = (int32_t)all->count;
        pairs_add(&all->known, g, who, at);
        level_anew(&all->items[at - 1], &now);
        all->items[at - 1].seen = t->moved[g];
    }
    take_moves(t, g, &all->items[at - 1], &now);
    return all->items[at - 1].open;
}

static bool spread_allows(const struct tally *t, const struct pod_class *k, uint32_t g,
                          const struct requirement *asked, uint32_t domain)
{
    const struct topology_group *x = group_at(t, g);
    return bits_has(x->domains, domain) && pod_domain(t, asked, x->key, domain) &&
           (int64_t)counts_of(t, g)[domain] + counts_class(k, g) - floor_of(t, g) <= x->max_skew;
}

static bool group_allows(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                         uint32_t g, const struct requirement *asked, uint32_t domain)
{
    const struct topology_group *x = group_at(t, g);
    const uint32_t *counts = counts_of(t, g);
    switch (x->kind) {
    case TOPOLOGY_SPREAD:
        return floor_of(t, g) != 0 ? spread_allows(t, k, g, asked, domain)
                                   : bits_has(open_to(t, k, try, g), domain);
    case TOPOLOGY_AFFINITY:
        return pod_domain(t, asked, x->key, domain) &&
               (counts[domain] > 0 || tally_is_first(t, k, g));
    case TOPOLOGY_ANTI_AFFINITY:
        break;
    }
    return counts[domain] == 0;
}

static void cut_domains(const struct tally *t, const struct pod_class *k,
                        const struct attempt *try, uint32_t g, uint64_t *out)
{
    const struct topology_group *x = group_at(t, g);
    const struct topology_key *key = key_at(t, x->key);
    const struct requirement *asked = asked_of(t, try, g);
    if (x->kind == TOPOLOGY_SPREAD && floor_of(t, g) == 0) {
        const uint64_t *open = open_to(t, k, try, g);
        for (uint32_t i = 0; i < key->words; i++)
            out[i] &= open[i];
        return;
    }
    for (BITS_EACH(d, out, key->words))
        if (!group_allows(t, k, try, g, asked, d))
            bits_drop(out, d);
}

static void all_domains(const struct topology_key *key, uint64_t *out)
{
    memset(out, 0xFF, key->words * sizeof(*out));
    if (key->count % 64 != 0)
        out[key->words - 1] = (UINT64_C(1) << key->count % 64) - 1;
}

bool tally_domains(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                   uint32_t key, uint64_t *out)
{
    bool free = true;
    all_domains(key_at(t, key), out);
    for (uint32_t i = 0; i < try->group_count; i++)
        if (group_at(t, try->groups[i])->key == key) {
            free &= group_at(t, try->groups[i])->optional;
            cut_domains(t, k, try, try->groups[i], out);
        }
    for (uint32_t i = 0; i < k->ties.kept_off_by_count; i++)
        if (group_at(t, k->ties.kept_off_by[i])->key == key)
            cut_domains(t, k, try, k->ties.kept_off_by[i], out);
    return free;
}

/* --- measured otherwise --- */

uint32_t tally_on_host(const struct tally *t, uint32_t group, uint32_t target)
{
    return (uint32_t)host_count(t, group, target);
}

void tally_measure(struct tally *t, uint32_t group, uint32_t least)
{
    if (t->floors == NULL)
        t->floors = ARENA_ARRAY(t->arena, uint32_t, t->world->topology.group_count);
    t->floors[group] = least + 1;
}

uint32_t tally_least(const struct tally *t, const struct attempt *try, uint32_t group)
{
    const struct topology_group *x = group_at(t, group);
    const struct requirement *asked = asked_of(t, try, group);
    bool own = t->world->topology.filters[x->filter].by_affinity;
    uint32_t found = 0, least = UINT32_MAX;
    if (floor_of(t, group) != 0)
        return floor_of(t, group);
    for (BITS_EACH(d, x->domains, key_at(t, x->key)->words)) {
        if (own && !pod_domain(t, asked, x->key, d))
            continue;
        found++;
        least = tally_sure(t, group, d) < least ? tally_sure(t, group, d) : least;
    }
    return least == UINT32_MAX || (int64_t)found < x->min_domains ? 0 : least;
}

void tally_measure_end(struct tally *t)
{
    if (t->floors != NULL)
        memset(t->floors, 0, t->world->topology.group_count * sizeof(*t->floors));
}

/* --- one group by itself --- */

const uint32_t *tally_counts(const struct tally *t, uint32_t group)
{
    return counts_of(t, group);
}

uint32_t tally_total(const struct tally *t, uint32_t group)
{
    return t->totals[group];
}

bool tally_counts_class(const struct pod_class *k, uint32_t group)
{
    return counts_class(k, group);
}

void tally_group_domains(const struct tally *t, const struct pod_class *k,
                         const struct attempt *try, uint32_t group, uint64_t *out)
{
    all_domains(key_at(t, group_at(t, group)->key), out);
    cut_domains(t, k, try, group, out);
}

void tally_spread_domains(const struct tally *t, const struct attempt *try, uint32_t group,
                          uint64_t *out)
{
    const struct topology_group *x = group_at(t, group);
    const struct topology_key *key = key_at(t, x->key);
    const struct requirement *asked = asked_of(t, try, group);
    bool own = t->world->topology.filters[x->filter].by_affinity;
    memcpy(out, x->domains, key->words * sizeof(*out));
    for (BITS_EACH(d, out, key->words))
        if (own && !pod_domain(t, asked, x->key, d))
            bits_drop(out, d);
}

/* Nobody of the group is in a domain. */
static bool is_nowhere(const struct tally *t, uint32_t g)
{
    const uint32_t *counts = counts_of(t, g);
    for (uint32_t d = 0; d < key_at(t, group_at(t, g)->key)->count; d++)
        if (counts[d] != 0)
            return false;
    return true;
}

static enum answer row_group(const struct tally *t, const struct pod_class *k,
                                   const struct attempt *try, uint32_t g, uint32_t row)
{
    const struct topology_group *x = group_at(t, g);
    int32_t d = key_at(t, x->key)->of_row[row];
    bool keeps_off = x->kind == TOPOLOGY_ANTI_AFFINITY;
    if (d == DOMAIN_NONE && topology_meets_nowhere(x))
        return is_nowhere(t, g) ? ANSWER_YES : ANSWER_NOT_NOW;
    if (d < 0) /* a node without the label is in nobody's way */
        return x->optional && d == DOMAIN_NONE ? ANSWER_YES : ANSWER_NEVER;
    if (group_allows(t, k, try, g, asked_of(t, try, g), (uint32_t)d))
        return ANSWER_YES;
    return keeps_off ? ANSWER_NEVER : ANSWER_NOT_NOW;
}

enum answer tally_ask(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                      uint32_t group, uint32_t row)
{
    return group_at(t, group)->key == 0 ? host_group(t, k, group, row)
                                        : row_group(t, k, try, group, row);
}

enum answer tally_row(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                      uint32_t row)
{
    enum answer worst = tally_host(t, k, try, row);
    uint32_t groups = try->group_count + k->ties.kept_off_by_count;
    for (uint32_t i = 0; i < groups && worst != ANSWER_NEVER; i++) {
        uint32_t g = i < try->group_count ? try->groups[i]
                                          : k->ties.kept_off_by[i - try->group_count];
        if (group_at(t, g)->key == 0)
            continue;
        enum answer a = row_group(t, k, try, g, row);
        worst = a > worst ? a : worst;
    }
    return worst;
}

struct tally_load tally_load(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                    uint32_t key, uint32_t domain)
{
    struct tally_load load = {0};
    for (uint32_t i = 0; i < try->group_count; i++) {
        const struct topology_group *x = group_at(t, try->groups[i]);
        if (x->key == key && x->kind == TOPOLOGY_SPREAD)
            load.own += counts_of(t, try->groups[i])[domain];
    }
    for (uint32_t i = 0; i < k->ties.counted_by_count; i++) {
        const struct topology_group *x = group_at(t, k->ties.counted_by[i]);
        if (x->key == key && x->kind == TOPOLOGY_SPREAD)
            load.others += counts_of(t, k->ties.counted_by[i])[domain];
    }
    return load;
}

uint64_t tally_version(const struct tally *t, const struct attempt *try)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < try->group_count; i++)
        sum += t->moved[try->groups[i]];
    return sum;
}
