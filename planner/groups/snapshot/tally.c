/* snapshot_tally: rules about other pods, as kube-scheduler's PodTopologySpread and InterPodAffinity count: over the nodes
 * that stand, and no others. Made when first asked for, kept up to date from then on. */
#include "planner/groups/snapshot/inner.h"

#include <stdlib.h>
#include <string.h>

#include "kube/wellknown.h"

static const struct topology_group *group_of(const struct snapshot *s, uint32_t group)
{
    return &s->world->topology.groups[group];
}

/* A domain is a node for hostname; below 0: the node has not the label. */
static int32_t domain(const struct snapshot *s, uint32_t key, uint32_t node)
{
    const struct node_state *n = &s->nodes[node];
    const struct topology_key *k = &s->world->topology.keys[key];
    sym value = snapshot_label(s, n->row, n->copy, k->key);
    if (value == SYM_NONE)
        return DOMAIN_NONE;
    return k->key == SYM_HOSTNAME ? (int32_t)node : topology_domain(k, value);
}

static bool lists(const uint32_t *list, uint32_t count, uint32_t group)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (list[mid] < group)
            low = mid + 1;
        else
            high = mid;
    }
    return low < count && list[low] == group;
}

static bool counted_by(const struct pod_class *k, uint32_t group)
{
    return lists(k->ties.counted_by, k->ties.counted_by_count, group);
}

/* --- numbers --- */

static void grow(struct snapshot *s, struct counter *c, uint32_t domain)
{
    if (domain < c->limit)
        return;
    uint32_t limit = c->limit != 0 ? c->limit * 2 : 64;
    while (limit <= domain)
        limit *= 2;
    uint32_t *counts = ARENA_ARRAY(s->arena, uint32_t, limit), *nodes = ARENA_ARRAY(s->arena, uint32_t, limit);
    if (c->limit != 0) {
        memcpy(counts, c->counts, c->limit * sizeof(uint32_t));
        memcpy(nodes, c->nodes, c->limit * sizeof(uint32_t));
    }
    c->counts = counts;
    c->nodes = nodes;
    c->limit = limit;
}

static bool admits(struct snapshot *s, const struct spread_set *set, uint32_t group, uint32_t node)
{
    const struct topology_group *g = group_of(s, group);
    const struct topology_filter *f = &s->world->topology.filters[g->filter];
    for (uint32_t i = 0; i < set->count; i++)
        if (domain(s, group_of(s, set->groups[i])->key, node) < 0)
            return false;
    uint8_t suits = snapshot_suits(s, set->want, s->nodes[node].look);
    return (!f->by_affinity || (suits & SUIT_LABELS)) && (!f->by_taints || (suits & SUIT_TAINTS));
}

/* Where pods on the node are counted; below 0: nowhere. */
static int32_t counted_at(struct snapshot *s, const struct counter *c, uint32_t node)
{
    int32_t at = domain(s, group_of(s, c->group)->key, node);
    return at >= 0 && c->set != 0 && !admits(s, &s->sets[c->set - 1], c->group, node) ? DOMAIN_NONE : at;
}

static void count_at(struct snapshot *s, struct counter *c, uint32_t at, int by)
{
    grow(s, c, at);
    if (c->least_known && (by < 0 || c->counts[at] == c->least))
        c->least_known = false;
    c->counts[at] += (uint32_t)by;
    c->total += (uint32_t)by;
}

static void count_groups(struct snapshot *s, const uint32_t *groups, uint32_t count, bool goes, uint32_t node,
                         int by)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = s->first_counter[groups[i]]; at != 0; at = s->counters[at - 1].next) {
            struct counter *c = &s->counters[at - 1];
            int32_t where = c->set != 0 && goes ? DOMAIN_NONE : counted_at(s, c, node);
            if (where >= 0)
                count_at(s, c, (uint32_t)where, by);
        }
}

void snapshot_count_pod(struct snapshot *s, uint32_t node, const struct pod *p, uint32_t class_id, int by)
{
    const struct topology_ties *t = &s->world->classes.items[class_id].ties;
    bool goes = p->meta.deleted != 0;
    if (!s->nodes[node].stands)
        return;
    count_groups(s, t->counted_by, t->counted_by_count, goes, node, by);
    count_groups(s, t->keeps_off, t->keeps_off_count, goes, node, by);
}

static void count_domain(struct snapshot *s, struct counter *c, uint32_t node, int by)
{
    int32_t at = c->set != 0 ? counted_at(s, c, node) : DOMAIN_NONE;
    if (at < 0)
        return;
    grow(s, c, (uint32_t)at);
    c->nodes[at] += (uint32_t)by;
    if (c->nodes[at] == (by > 0)) {
        c->domains += (uint32_t)by;
        c->least_known = false;
    }
}

void snapshot_count_node(struct snapshot *s, uint32_t node, int by)
{
    const struct node_state *n = &s->nodes[node];
    for (uint32_t i = 0; i < s->counter_count; i++)
        count_domain(s, &s->counters[i], node, by);
    for (uint32_t i = 0; i < n->count; i++)
        snapshot_count_pod(s, node, n->pods[i], n->classes[i], by);
}

/* --- made when asked for --- */

static bool counts_class(const struct snapshot *s, uint32_t group, uint32_t class_id)
{
    const struct pod_class *k = &s->world->classes.items[class_id];
    return group_of(s, group)->inverse ? lists(k->ties.keeps_off, k->ties.keeps_off_count, group)
                                       : counted_by(k, group);
}

static void fill(struct snapshot *s, struct counter *c)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->list[i];
        const struct node_state *n = &s->nodes[node];
        count_domain(s, c, node, 1);
        int32_t at = counted_at(s, c, node);
        for (uint32_t p = 0; at >= 0 && p < n->count; p++)
            if ((c->set == 0 || n->pods[p]->meta.deleted == 0) && counts_class(s, c->group, n->classes[p]))
                count_at(s, c, (uint32_t)at, 1);
    }
}

static uint32_t make_counter(struct snapshot *s, uint32_t group, uint32_t set, uint32_t place)
{
    struct counter c = {.group = group, .next = s->first_counter[group], .set = set, .place = place};
    ARENA_PUSH(s->arena, s->counters, s->counter_count, s->counter_capacity, c);
    fill(s, &s->counters[s->counter_count - 1]);
    s->first_counter[group] = s->counter_count;
    return s->counter_count - 1;
}

static struct counter *counter_of(struct snapshot *s, uint32_t group)
{
    uint32_t at = s->first_counter[group];
    uint32_t made = at != 0 ? at - 1 : make_counter(s, group, 0, 0); /* which may move them all */
    return &s->counters[made];
}

static bool is_spread(const struct snapshot *s, uint32_t group)
{
    return group_of(s, group)->kind == TOPOLOGY_SPREAD;
}

static const struct spread_set *spread_of(struct snapshot *s, uint32_t class_id, const struct attempt *try)
{
    struct class_state *k = &s->classes[class_id];
    if (k->spread != 0)
        return &s->sets[k->spread - 1];
    struct words x;
    words_init(&x, s->arena);
    for (uint32_t i = 0; i < try->group_count; i++)
        if (is_spread(s, try->groups[i]))
            words_put(&x, try->groups[i]);
    uint32_t count = x.count, want = snapshot_want_of(s, class_id);
    words_put(&x, want);
    bool is_new;
    uint32_t id = intern_put(&s->set_ids, &x, &is_new);
    k->spread = id + 1;
    if (!is_new)
        return &s->sets[id];
    struct spread_set set = {.groups = s->set_ids.items[id].words, .count = count, .want = want,
                             .counters = ARENA_ARRAY(s->arena, uint32_t, count)};
    uint32_t before = id;
    ARENA_PUSH(s->arena, s->sets, before, s->set_capacity, set);
    for (uint32_t i = 0; i < count; i++)
        set.counters[i] = make_counter(s, set.groups[i], id + 1, i);
    return &s->sets[id];
}

/* --- what they say --- */

static uint32_t least_of(struct counter *c, int32_t min_domains)
{
    if (min_domains > 0 && c->domains < (uint32_t)min_domains)
        return 0;
    if (!c->least_known) {
        c->least = UINT32_MAX;
        for (uint32_t d = 0; d < c->limit; d++)
            if (c->nodes[d] != 0 && c->counts[d] < c->least)
                c->least = c->counts[d];
        c->least_known = true;
    }
    return c->least;
}

static enum tally_answer ask_spread(struct snapshot *s, uint32_t node, uint32_t class_id,
                                    const struct spread_set *set)
{
    const struct pod_class *k = &s->world->classes.items[class_id];
    for (uint32_t i = 0; i < set->count; i++) {
        const struct topology_group *g = group_of(s, set->groups[i]);
        struct counter *c = &s->counters[set->counters[i]];
        int32_t at = domain(s, g->key, node);
        if (at < 0)
            return TALLY_NO_LABEL;
        int64_t here = (uint32_t)at < c->limit ? c->counts[at] : 0;
        uint32_t least = least_of(c, g->min_domains);
        if (least == UINT32_MAX) /* no node counts */
            least = INT32_MAX;
        if (here + counted_by(k, set->groups[i]) - (int64_t)least > g->max_skew)
            return TALLY_SPREAD;
    }
    return TALLY_YES;
}

static uint32_t count_here(struct snapshot *s, uint32_t group, uint32_t node)
{
    const struct counter *c = counter_of(s, group);
    int32_t at = domain(s, group_of(s, group)->key, node);
    return at >= 0 && (uint32_t)at < c->limit ? c->counts[at] : 0;
}

/* Every term needs a pod in its domain; the first of pods that want their own kind needs none. */
static bool affinity_refuses(struct snapshot *s, uint32_t node, uint32_t class_id, const struct attempt *try)
{
    const struct pod_class *k = &s->world->classes.items[class_id];
    bool all = true, first = true;
    for (uint32_t i = 0; i < try->group_count; i++) {
        const struct topology_group *g = group_of(s, try->groups[i]);
        if (g->kind != TOPOLOGY_AFFINITY || topology_meets_nowhere(g))
            continue;
        if (domain(s, g->key, node) < 0)
            return true;
        all &= count_here(s, try->groups[i], node) != 0;
        first &= counter_of(s, try->groups[i])->total == 0 && counted_by(k, try->groups[i]);
    }
    return !all && !first;
}

enum tally_answer snapshot_ask_others(struct snapshot *s, uint32_t node, uint32_t class_id)
{
    const struct pod_class *k = &s->world->classes.items[class_id];
    const struct attempt *try = &s->world->classes.attempts[k->first_strict];
    bool spreads = false, affine = false;
    for (uint32_t i = 0; i < try->group_count; i++) {
        spreads |= is_spread(s, try->groups[i]);
        affine |= group_of(s, try->groups[i])->kind == TOPOLOGY_AFFINITY;
    }
    enum tally_answer spread = spreads ? ask_spread(s, node, class_id, spread_of(s, class_id, try)) : TALLY_YES;
    if (spread != TALLY_YES)
        return spread;
    if (affine && affinity_refuses(s, node, class_id, try))
        return TALLY_AFFINITY;
    for (uint32_t i = 0; i < try->group_count; i++)
        if (group_of(s, try->groups[i])->kind == TOPOLOGY_ANTI_AFFINITY && count_here(s, try->groups[i], node) != 0)
            return TALLY_ANTI;
    for (uint32_t i = 0; i < k->ties.kept_off_by_count; i++)
        if (count_here(s, k->ties.kept_off_by[i], node) != 0)
            return TALLY_OTHERS_ANTI;
    return TALLY_YES;
}
