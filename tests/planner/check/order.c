/* The binding of all planned pods, played through: every host is there, each takes its pods in the order
 * of its list, and which host is next is searched for.
 *
 * A pod that no constraint of a later one can see is bound as soon as it can be. Between the others the
 * search goes depth first and remembers the positions that led nowhere; it begins with the way that led to the end
 * when the cloud had chosen otherwise. */
#include "inner.h"
#include "planner/intern.h"

#include <stdlib.h>

enum {
    COMBINATIONS = 64,   /* of values that the cloud may choose */
    POSITIONS = 20000,   /* until a search is given up; 1,740 were met, and each costs some 70 us */
};

struct search {
    struct check *k;
    uint32_t *way; /* the host of each pod so far, and of those to come as the last search had them */
    struct intern dead; /* positions that led nowhere: `next` of each host */
    uint32_t bound, best; /* pods */
    struct span why;    /* of the position in which most pods were bound */
};

static void bind(struct search *s, struct host *h)
{
    s->way[s->bound] = (uint32_t)(h - s->k->hosts);
    ARENA_PUSH(&s->k->arena, h->present.items, h->present.count, h->present.capacity,
               h->pods.items[h->next]);
    h->next++;
    s->bound++;
}

static void unbind(struct search *s, struct host *h)
{
    h->next--;
    h->present.count--;
    s->bound--;
}

static void put_position(const struct search *s, struct words *w)
{
    words_init(w, &s->k->arena);
    for (uint32_t i = 0; i < s->k->host_count; i++)
        words_put(w, s->k->hosts[i].next);
}

static void blame(struct search *s, const struct host *h, const char *rule, sym key)
{
    if (s->why.ptr != NULL && s->bound <= s->best)
        return;
    struct check *k = s->k;
    s->best = s->bound;
    s->why = arena_printf(&k->arena, "%.*s: pod %.*s cannot be bound at its turn: %s over %.*s",
                          SPAN_ARG(h->name), SPAN_ARG(pod_name(k, h->pods.items[h->next])), rule,
                          SPAN_ARG(text_of(k, key)));
}

static bool can_bind(struct search *s, const struct host *h)
{
    const char *rule;
    sym key = SYM_NONE;
    if (neighbours_allow(s->k, h->pods.items[h->next], h, &rule, &key))
        return true;
    blame(s, h, rule, key);
    return false;
}

/* From here to the end. Leaves the hosts as they were when there is no way. */
static bool search(struct search *s)
{
    struct check *k = s->k;
    bool done = true, some = false, is_new;
    struct words here;
    put_position(s, &here);
    if (intern_find(&s->dead, &here) >= 0 || s->dead.count >= POSITIONS)
        return false;
    for (uint32_t i = 0; i < k->host_count; i++) {
        struct host *h = &k->hosts[i];
        if (h->next == h->pods.count)
            continue;
        done = false;
        if (binding_matters(k, h->pods.items[h->next]) || !can_bind(s, h))
            continue;
        bind(s, h);
        some = search(s);
        if (!some)
            unbind(s, h);
        return some; /* another order would not have helped */
    }
    uint32_t first = done ? 0 : s->way[s->bound];
    for (uint32_t i = 0; i < k->host_count && !done && !some; i++) {
        struct host *h = &k->hosts[(first + i) % k->host_count];
        if (h->next == h->pods.count || !can_bind(s, h))
            continue;
        bind(s, h);
        some = search(s);
        if (!some)
            unbind(s, h);
    }
    if (!done && !some)
        intern_put(&s->dead, &here, &is_new);
    return done || some;
}

/* --- what the cloud may choose --- */

/* Keys whose value decides about spreading and affinity. */
static void matter(struct check *k, struct syms *keys, uint32_t *capacity, sym key)
{
    if (!syms_has(*keys, key))
        ARENA_PUSH(&k->arena, keys->items, keys->count, *capacity, key);
}

static void keys_of(struct check *k, const struct pod *p, struct syms *keys, uint32_t *capacity)
{
    bool spread = false;
    for (uint32_t i = 0; i < p->spreads.count; i++)
        if (p->spreads.items[i].hard) {
            spread = true;
            matter(k, keys, capacity, p->spreads.items[i].topology_key);
        }
    if (p->affinity != NULL) {
        for (uint32_t i = 0; i < p->affinity->required_pod.count; i++)
            matter(k, keys, capacity, p->affinity->required_pod.items[i].topology_key);
        for (uint32_t i = 0; i < p->affinity->required_anti.count; i++)
            matter(k, keys, capacity, p->affinity->required_anti.items[i].topology_key);
    }
    if (!spread) /* a spread pod's selector says which nodes count */
        return;
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        matter(k, keys, capacity, requirement_key(k->syms, p->node_selector.items[i].key));
    for (uint32_t t = 0; p->affinity != NULL && t < p->affinity->required_node.count; t++) {
        struct expressions list = p->affinity->required_node.items[t].match_expressions;
        for (uint32_t i = 0; i < list.count; i++)
            matter(k, keys, capacity, requirement_key(k->syms, list.items[i].key));
    }
}

struct choices { /* label sets that a host may come up with, over the keys that matter */
    struct sym_pairs *items;
    uint32_t count, capacity;
};

static bool same_labels(struct sym_pairs a, struct sym_pairs b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = a.items[i].key == b.items[i].key && a.items[i].value == b.items[i].value;
    return same;
}

static void add_choice(struct check *k, struct choices *c, struct sym_pairs labels)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (same_labels(c->items[i], labels))
            return;
    struct sym_pairs copy = {ARENA_ARRAY(&k->arena, struct sym_pair, labels.count), labels.count};
    if (labels.count != 0)
        memcpy(copy.items, labels.items, labels.count * sizeof(*copy.items));
    ARENA_PUSH(&k->arena, c->items, c->count, c->capacity, copy);
}

/* Every combination of one outcome's values for keys[from…]. */
static void expand(struct check *k, struct choices *c, const struct mays *labels, struct syms keys,
                   uint32_t from, struct sym_pairs so_far)
{
    while (from < keys.count && may_get(labels, keys.items[from]) == NULL)
        from++;
    if (from == keys.count) {
        add_choice(k, c, so_far);
        return;
    }
    const struct may *m = may_get(labels, keys.items[from]);
    for (uint32_t v = 0; v < m->values.count && c->count < COMBINATIONS; v++) {
        so_far.items[so_far.count] = (struct sym_pair){m->key, m->values.items[v]};
        expand(k, c, labels, keys, from + 1,
               (struct sym_pairs){so_far.items, so_far.count + 1});
    }
}

static bool play(struct check *k, const struct choices *choices, const uint32_t *chosen, uint32_t *way)
{
    struct search s = {.k = k, .way = way};
    intern_init(&s.dead, &k->arena);
    for (uint32_t i = 0; i < k->host_count; i++) {
        struct host *h = &k->hosts[i];
        h->labels = choices[i].count != 0 ? choices[i].items[chosen[i]] : (struct sym_pairs){0};
        h->next = 0;
        h->present = (struct pods){0};
        for (uint32_t n = 0; n < h->bound.count; n++)
            ARENA_PUSH(&k->arena, h->present.items, h->present.count, h->present.capacity,
                       h->bound.items[n]);
    }
    if (search(&s))
        return true;
    return broken(k, "%.*s", SPAN_ARG(s.why));
}

/* The next combination, the last host first; false after the last one. */
static bool advance(const struct choices *choices, uint32_t *chosen, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        if (chosen[i] + 1 < choices[i].count) {
            chosen[i]++;
            return true;
        }
        chosen[i] = 0;
    }
    return false;
}

static void play_all(struct check *k, const struct choices *choices)
{
    uint32_t *chosen = ARENA_ARRAY(&k->arena, uint32_t, k->host_count), pods = 0;
    for (uint32_t i = 0; i < k->host_count; i++)
        pods += k->hosts[i].pods.count;
    uint32_t *way = ARENA_ARRAY(&k->arena, uint32_t, pods);
    double combinations = 1;
    uint64_t state = 1;
    for (uint32_t i = 0; i < k->host_count; i++)
        combinations *= choices[i].count > 1 ? choices[i].count : 1;
    if (combinations <= COMBINATIONS) {
        while (play(k, choices, chosen, way) && advance(choices, chosen, k->host_count))
            continue;
        return;
    }
    for (uint32_t n = 0; n < COMBINATIONS && play(k, choices, chosen, way); n++)
        for (uint32_t i = 0; i < k->host_count; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            chosen[i] = choices[i].count > 1 ? (uint32_t)(state >> 33) % choices[i].count : 0;
        }
}

void check_order(struct check *k)
{
    struct syms keys = {0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < k->host_count; i++) {
        for (uint32_t n = 0; n < k->hosts[i].bound.count; n++)
            if (k->hosts[i].bound.items[n]->affinity != NULL)
                keys_of(k, k->hosts[i].bound.items[n], &keys, &capacity);
        for (uint32_t n = 0; n < k->hosts[i].pods.count; n++)
            keys_of(k, k->hosts[i].pods.items[n], &keys, &capacity);
    }
    if (keys.count == 0)
        return;
    struct choices *choices = ARENA_ARRAY(&k->arena, struct choices, k->host_count);
    struct sym_pairs so_far = {ARENA_ARRAY(&k->arena, struct sym_pair, keys.count), 0};
    for (uint32_t i = 0; i < k->host_count; i++)
        for (uint32_t n = 0; n < k->hosts[i].outcome_count; n++)
            expand(k, &choices[i], &k->hosts[i].outcomes[n].labels, keys, 0, so_far);
    play_all(k, choices);
}
