#include "planner/topology/level.h"

#include <string.h>

void level_init(struct level *l, struct arena *a, const struct level_rule *rule)
{
    *l = (struct level){.rule = *rule, .found = bits_count(rule->among, rule->words)};
    l->sure = ARENA_ARRAY(a, uint32_t, (size_t)rule->words * 64);
    l->open = ARENA_ARRAY(a, uint64_t, rule->words);
}

/* From what the domain is measured. */
static uint32_t least_for(const struct level *l, uint32_t domain)
{
    if (l->found < (uint32_t)(l->rule.min_domains > 0 ? l->rule.min_domains : 0))
        return 0;
    return l->least_count == 1 && l->alone == domain ? l->second : l->least;
}

static void look(struct level *l, const struct level_numbers *n, uint32_t domain)
{
    int64_t number = (int64_t)n->counts[domain] + l->rule.self;
    if (number - least_for(l, domain) <= l->rule.max_skew)
        bits_add(l->open, domain);
    else
        bits_drop(l->open, domain);
}

static void look_at_all(struct level *l, const struct level_numbers *n)
{
    memset(l->open, 0, l->rule.words * sizeof(*l->open));
    for (BITS_EACH(d, l->rule.may, l->rule.words))
        look(l, n, d);
}

static uint32_t sure_of(const struct level_numbers *n, uint32_t domain)
{
    return n->counts[domain] - (n->unsure != NULL ? n->unsure[domain] : 0);
}

/* The domain has this number, and did not count before. */
static void add(struct level *l, uint32_t domain, uint32_t number)
{
    if (number < l->least) {
        l->second = l->least;
        l->second_count = l->least_count;
        l->least = number;
        l->least_count = 1;
        l->alone = domain;
    } else if (number == l->least) {
        l->least_count++;
    } else if (number < l->second) {
        l->second = number;
        l->second_count = 1;
    } else if (number == l->second) {
        l->second_count++;
    }
}

static void measure(struct level *l)
{
    l->least = l->second = UINT32_MAX;
    l->least_count = l->second_count = 0;
    for (BITS_EACH(d, l->rule.among, l->rule.words))
        add(l, d, l->sure[d]);
}

void level_anew(struct level *l, const struct level_numbers *n)
{
    for (BITS_EACH(d, l->rule.among, l->rule.words))
        l->sure[d] = sure_of(n, d);
    measure(l);
    look_at_all(l, n);
}

/* False: what is known of the least does not do any more. */
static bool drop(struct level *l, uint32_t number)
{
    if (number == l->least)
        return --l->least_count > 1;
    return number != l->second || --l->second_count != 0;
}

void level_move(struct level *l, const struct level_numbers *n, uint32_t domain)
{
    uint32_t before = l->sure[domain], now = sure_of(n, domain);
    uint32_t least = l->least, second = l->least_count == 1 ? l->second : least;
    uint32_t alone = l->least_count == 1 ? l->alone : UINT32_MAX;
    if (bits_has(l->rule.among, domain) && before != now) {
        l->sure[domain] = now;
        if (drop(l, before))
            add(l, domain, now);
        else
            measure(l);
    }
    if (l->least != least || (l->least_count == 1 ? l->alone : UINT32_MAX) != alone ||
        (l->least_count == 1 ? l->second : l->least) != second)
        look_at_all(l, n);
    else if (bits_has(l->rule.may, domain))
        look(l, n, domain);
}
