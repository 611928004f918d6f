#include "planner/search/measure.h"

void measure_init(struct measure *m, struct trial *t)
{
    const struct world *w = t->world;
    *m = (struct measure){.t = t};
    m->least = ARENA_ARRAY(t->arena, uint32_t, w->topology.group_count);
    m->admits = ARENA_ARRAY(t->arena, uint8_t, w->profile_count);
    uint64_t ***sets[] = {&m->may, &m->sure, &m->of};
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        *sets[i] = ARENA_ARRAY(t->arena, uint64_t *, w->topology.key_count);
        for (uint32_t k = 1; k < w->topology.key_count; k++)
            (*sets[i])[k] = ARENA_ARRAY(t->arena, uint64_t, w->topology.keys[k].words);
    }
}

/* Whether pods on the row count for the group; asked once a profile, see `measure`. */
static bool admits_row(struct measure *m, uint32_t group, uint32_t row)
{
    const struct world *w = m->t->world;
    uint8_t *known = &m->admits[w->profile_of[row]];
    if (*known == 0)
        *known = topology_counts_row(w, &w->topology.groups[group], row) ? 1 : 2;
    return *known == 1;
}

static bool admits_claim(struct measure *m, uint32_t group, uint32_t claim)
{
    const struct world *w = m->t->world;
    const struct spec *s = &m->t->specs.items[m->t->claims[claim].spec];
    return topology_admits(w, &w->topology.groups[group], &s->requirements,
                           w->options[s->option].taints, w->rules.well_known);
}

static uint32_t least_on_host(struct measure *m, uint32_t group)
{
    const struct trial *t = m->t;
    uint32_t rows = t->world->node_count, least = UINT32_MAX;
    int64_t found = 0;
    for (uint32_t i = 0; i < rows + t->claim_count && least != 0; i++) {
        m->looks++;
        if (!(i < rows ? admits_row(m, group, i) : admits_claim(m, group, i - rows)))
            continue;
        uint32_t there = tally_on_host(&t->tally, group, i);
        found++;
        least = there < least ? there : least;
    }
    return found < t->world->topology.groups[group].min_domains ? 0 : least;
}

/* Domains in which nodes may, and in which nodes surely do stand. False when one may come to stand in a
 * domain that is not known yet. */
static bool find_standing(struct measure *m, uint32_t group, uint32_t key)
{
    struct trial *t = m->t;
    bool known = true;
    const struct topology_key *k = &t->world->topology.keys[key];
    uint64_t *may = m->may[key], *sure = m->sure[key];
    memset(may, 0, k->words * sizeof(*may));
    memset(sure, 0, k->words * sizeof(*sure));
    m->looks += t->world->node_count + t->claim_count;
    for (uint32_t row = 0; row < t->world->node_count; row++) {
        if (!admits_row(m, group, row))
            continue;
        if (k->of_row[row] >= 0)
            bits_add(sure, (uint32_t)k->of_row[row]);
        for (uint32_t d = 0; k->of_row[row] == DOMAIN_OPEN && d < k->count; d++)
            bits_add(may, d);
    }
    for (uint32_t c = 0; c < t->claim_count; c++) {
        if (!admits_claim(m, group, c))
            continue;
        const uint64_t *domains = specs_domains(&t->specs, t->claims[c].spec, key);
        bool definite = specs_definite(&t->specs, t->claims[c].spec)[key] >= 0;
        known &= definite || !specs_unbounded(&t->specs, t->claims[c].spec, key);
        for (uint32_t i = 0; i < k->words; i++)
            (definite ? sure : may)[i] |= domains[i];
    }
    for (uint32_t i = 0; i < k->words; i++)
        may[i] |= sure[i];
    return known;
}

static uint32_t least_in_domain(struct measure *m, const struct attempt *try, uint32_t group)
{
    const struct trial *t = m->t;
    const struct topology_group *g = &t->world->topology.groups[group];
    uint32_t words = t->world->topology.keys[g->key].words, least = UINT32_MAX, sure = 0;
    uint64_t *of = m->of[g->key];
    if (!find_standing(m, group, g->key))
        return 0;
    tally_spread_domains(&t->tally, try, group, of);
    for (BITS_EACH(d, of, words)) {
        sure += bits_has(m->sure[g->key], d);
        uint32_t number = tally_sure(&t->tally, group, d);
        if (bits_has(m->may[g->key], d) && number < least)
            least = number;
    }
    return (int64_t)sure < g->min_domains ? 0 : least;
}

/* UINT32_MAX: no node that counts stands. */
static uint32_t least_standing(struct measure *m, const struct attempt *try, uint32_t group)
{
    memset(m->admits, 0, m->t->world->profile_count);
    return m->t->world->topology.groups[group].key == 0 ? least_on_host(m, group)
                                                        : least_in_domain(m, try, group);
}

bool measure_standing(struct measure *m, const struct attempt *try)
{
    struct trial *t = m->t;
    bool other = false;
    tally_measure_end(&t->tally);
    for (uint32_t i = 0; i < try->group_count; i++) {
        uint32_t group = try->groups[i];
        m->least[group] = 0;
        if (t->world->topology.groups[group].kind != TOPOLOGY_SPREAD)
            continue;
        uint32_t least = least_standing(m, try, group);
        if (least == 0 || least == UINT32_MAX)
            continue;
        tally_measure(&t->tally, group, least);
        m->least[group] = least;
        other = true;
    }
    return other;
}

static void rely(struct measure *m, struct relied r)
{
    for (uint32_t i = 0; i < m->relied_count; i++)
        if (m->relied[i].group == r.group) {
            m->relied[i].least = r.least > m->relied[i].least ? r.least : m->relied[i].least;
            return;
        }
    ARENA_PUSH(m->t->arena, m->relied, m->relied_count, m->relied_capacity, r);
}

void measure_rely(struct measure *m, const struct attempt *try)
{
    for (uint32_t i = 0; i < try->group_count; i++)
        if (m->least[try->groups[i]] != 0)
            rely(m, (struct relied){try->groups[i], m->least[try->groups[i]], try});
}

bool measure_holds(struct measure *m)
{
    for (uint32_t i = 0; i < m->relied_count; i++)
        if (least_standing(m, m->relied[i].try, m->relied[i].group) < m->relied[i].least)
            return false;
    return true;
}

/* Each claim that some of the spread's domains are open to goes to the one with the most pods. */
static bool settle_claims(struct measure *m, const struct attempt *try, uint32_t group)
{
    struct trial *t = m->t;
    uint32_t key = t->world->topology.groups[group].key;
    const uint32_t *counts = tally_counts(&t->tally, group);
    uint64_t *of = m->of[key];
    bool some = false;
    m->looks += t->claim_count;
    tally_spread_domains(&t->tally, try, group, of);
    for (uint32_t c = 0; c < t->claim_count; c++) {
        const uint64_t *may = specs_domains(&t->specs, t->claims[c].spec, key);
        int32_t best = -1;
        for (BITS_EACH(d, of, t->world->topology.keys[key].words))
            if (bits_has(may, d) && (best < 0 || counts[d] > counts[best]))
                best = (int32_t)d;
        if (best >= 0 && admits_claim(m, group, c))
            some |= trial_settle(t, c, key, (uint32_t)best);
    }
    return some;
}

bool measure_settle(struct measure *m, const struct attempt *try)
{
    bool some = false;
    for (uint32_t i = 0; i < try->group_count; i++) {
        const struct topology_group *g = &m->t->world->topology.groups[try->groups[i]];
        if (g->kind == TOPOLOGY_SPREAD && g->key != 0)
            some |= settle_claims(m, try, try->groups[i]);
    }
    return some;
}

void measure_end(struct measure *m)
{
    tally_measure_end(&m->t->tally);
}
