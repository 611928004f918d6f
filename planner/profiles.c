/* Nodes that no pod can tell apart have one profile: labels that somebody asks for, and taints. With it goes
 * which DaemonSets come there, and so what is left on a row. */
#include "planner/columns.h"

/* Keys that some signature asks for; nobody sees the others. */
static bool *asked_keys(struct world *w, uint32_t limit)
{
    bool *asked = ARENA_ARRAY(w->arena, bool, limit);
    for (uint32_t s = 0; s < w->classes.signature_count; s++) {
        const struct requirements *r = &w->classes.signatures[s].requirements;
        for (uint32_t i = 0; i < r->count; i++)
            asked[r->items[i].key] = true;
    }
    for (uint32_t i = 0; i < w->classes.set_count; i++)
        for (uint32_t r = 0; r < w->classes.sets[i].count; r++)
            asked[w->classes.sets[i].items[r].key] = true;
    for (uint32_t i = 0; i < w->topology.filter_count; i++)
        for (uint32_t k = 0; k < w->topology.filters[i].term_count; k++)
            for (uint32_t r = 0; r < w->topology.filters[i].terms[k].count; r++)
                asked[w->topology.filters[i].terms[k].items[r].key] = true;
    return asked;
}

static struct requirements row_requirements(struct world *w, const struct world_node *n,
                                            const bool *asked, uint32_t limit)
{
    struct sym_pairs labels = world_row_labels(n);
    struct requirement *items = ARENA_ARRAY(w->arena, struct requirement, (size_t)labels.count + 1);
    uint32_t count = 0;
    bool has_host = false;
    for (uint32_t i = 0; i < labels.count; i++) {
        sym key = requirement_key(w->syms, labels.items[i].key);
        has_host |= key == SYM_HOSTNAME && labels.items[i].value != SYM_EMPTY;
        if (key < limit && asked[key])
            items[count++] = requirement_in(w->arena, w->syms, key, labels.items[i].value);
    }
    if (asked[SYM_HOSTNAME] && !has_host)
        items[count++] = requirement_in(w->arena, w->syms, SYM_HOSTNAME, sym_intern(w->syms, n->name));
    struct requirements seen = requirements_of_list(w->arena, items, count, w->syms);
    if (n->stage == NODE_LAUNCHING) { /* its zone may be any of a few until it is launched */
        const struct requirements *r = world_launch_requirements(w, n->claim);
        struct requirements more = {ARENA_ARRAY(w->arena, struct requirement, r->count), 0};
        for (uint32_t i = 0; i < r->count; i++)
            if (r->items[i].key < limit && asked[r->items[i].key] &&
                requirements_get(&seen, r->items[i].key) == NULL)
                more.items[more.count++] = r->items[i];
        requirements_add_all(w->arena, &seen, &more, w->syms);
    }
    return seen;
}

void world_profile_words(struct words *out, const struct profile *p)
{
    requirements_words(out, &p->labels);
    words_put(out, UINT32_MAX);
    for (uint32_t i = 0; i < p->taints.count; i++) {
        words_put(out, p->taints.items[i].key);
        words_put(out, p->taints.items[i].value);
        words_put(out, p->taints.items[i].effect);
    }
}

struct profile world_row_profile(struct world *w, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    return (struct profile){row_requirements(w, n, w->asked, w->asked_limit), world_row_taints(w, n)};
}

static bool daemon_goes(const struct world *w, uint32_t daemon, uint32_t profile)
{
    const struct pod_class *k = &w->classes.items[w->daemons[daemon]];
    for (uint32_t i = 0; i < k->strict_count; i++) {
        struct attempt try = w->classes.attempts[k->first_strict + i];
        try.soft = true;
        if (world_suits(w, &try, profile, NULL) == FIT_YES)
            return true;
    }
    return false;
}

/* Requests of the DaemonSets whose pods go to nodes of this profile (2.8). */
static void profile_daemons(const struct world *w, uint32_t profile, int32_t from, amount *sum)
{
    for (uint32_t d = 0; d < w->daemon_count; d++) {
        if (w->daemon_priorities[d] < from || !daemon_goes(w, d, profile))
            continue;
        const amount *more = classes_requests(&w->classes, w->daemons[d]);
        for (uint32_t c = 0; c < w->column_count; c++)
            sum[c] = amount_add(sum[c], more[c]);
    }
}

/* Less those that are there. */
static void row_expected(const struct world *w, uint32_t row, int32_t from, amount *expected)
{
    const struct world_node *n = &w->nodes[row];
    for (uint32_t i = 0; i < n->pod_count; i++) {
        uint32_t id = n->pod_classes[i];
        if (!w->classes.items[id].daemon || n->pods[i]->priority < from)
            continue;
        const amount *there = classes_requests(&w->classes, id);
        for (uint32_t c = 0; c < w->column_count; c++)
            expected[c] -= there[c];
    }
    for (uint32_t c = 0; c < w->column_count; c++)
        if (expected[c] < 0) /* a DaemonSet pod that nobody expected makes no room */
            expected[c] = 0;
}

void world_row_expected(struct world *w, uint32_t row)
{
    amount *expected = w->expected + (size_t)row * w->column_count;
    memset(expected, 0, w->column_count * sizeof(amount));
    profile_daemons(w, w->profile_of[row], INT32_MIN, expected);
    row_expected(w, row, INT32_MIN, expected);
}

const amount *world_daemons_from(const struct world *w, struct arena *a, uint32_t row, int32_t priority)
{
    amount *expected = ARENA_ARRAY(a, amount, w->column_count);
    if (!world_daemons_come(w, row))
        return expected;
    profile_daemons(w, w->profile_of[row], priority, expected);
    row_expected(w, row, priority, expected);
    return expected;
}

void world_build_profiles(struct world *w)
{
    uint32_t capacity = 0;
    w->asked_limit = symtab_limit(w->syms); /* once: others add to the table meanwhile */
    w->asked = asked_keys(w, w->asked_limit);
    struct intern known;
    intern_init(&known, w->arena);
    for (uint32_t row = 0; row < w->node_count; row++) {
        struct profile p = world_row_profile(w, row);
        struct words words;
        words_init(&words, w->arena);
        world_profile_words(&words, &p);
        bool is_new;
        w->profile_of[row] = intern_put(&known, &words, &is_new);
        if (is_new)
            ARENA_PUSH(w->arena, w->profiles, w->profile_count, capacity, p);
    }
    amount *daemons =
        ARENA_ARRAY(w->arena, amount, (size_t)w->profile_count * w->column_count);
    for (uint32_t p = 0; p < w->profile_count; p++)
        profile_daemons(w, p, INT32_MIN, daemons + (size_t)p * w->column_count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        amount *expected = w->expected + (size_t)row * w->column_count;
        memcpy(expected, daemons + (size_t)w->profile_of[row] * w->column_count,
               w->column_count * sizeof(amount));
        row_expected(w, row, INT32_MIN, expected);
        world_row_left(w, row);
    }
}
