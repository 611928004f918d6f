/* Nodes, NodeClaims and CSINodes that came, went or are others: which rows there are, and in which order, is worked
 * out as in a build. What a row has of itself is worked out only where its objects are others; the rest goes with the
 * row to its new place, and so do its pods. Nothing here looks at pods that stay where they are. */
#include "planner/delta_inner.h"

struct shift { /* from the rows of before to those of now */
    uint32_t *to;   /* by row before, + 1; 0: its Node is gone, or it had none and is another row now */
    uint32_t *from; /* by row now, + 1; 0: it came */
    bool *kept;     /* by row now: of the very same objects */
    bool *attaches; /* by row before: its CSINode is another */
};

/* --- which objects there are now --- */

struct objects {
    bool *nodes, *claims; /* by row before: gone */
};

static bool mark_gone(struct delta *d, const struct world_change *c, struct objects *gone)
{
    const struct world *from = d->from;
    gone->nodes = ARENA_ARRAY(&d->scratch, bool, from->node_count);
    gone->claims = ARENA_ARRAY(&d->scratch, bool, from->node_count);
    for (size_t i = 0; i < c->gone_node_count; i++) {
        int32_t row = world_find_node(from, c->gone_nodes[i]->meta.name);
        if (row < 0 || from->nodes[row].node != c->gone_nodes[i])
            return false;
        gone->nodes[row] = true;
    }
    for (size_t i = 0; i < c->gone_claim_count; i++) {
        int32_t row = world_find_claim(from, c->gone_claims[i]->meta.name);
        if (row < 0 || from->nodes[row].claim != c->gone_claims[i])
            return false;
        gone->claims[row] = true;
    }
    return true;
}

static void put_together(struct delta *d, const struct world_change *c, const struct objects *gone,
                         struct world_input *out)
{
    const struct world *from = d->from;
    size_t nodes = 0, claims = 0;
    const struct node **node = ARENA_ARRAY(&d->scratch, const struct node *, from->node_count + c->node_count);
    const struct node_claim **claim =
        ARENA_ARRAY(&d->scratch, const struct node_claim *, from->node_count + c->claim_count);
    for (uint32_t row = 0; row < from->node_count; row++) {
        const struct world_node *n = &from->nodes[row];
        if (n->node != NULL && !gone->nodes[row])
            node[nodes++] = n->node;
        if (n->claim != NULL && !gone->claims[row] && /* two Nodes may have one */
            world_find_claim(from, n->claim->meta.name) == (int32_t)row)
            claim[claims++] = n->claim;
    }
    for (size_t i = 0; i < c->node_count; i++)
        node[nodes++] = c->nodes[i];
    for (size_t i = 0; i < c->claim_count; i++)
        claim[claims++] = c->claims[i];
    *out = (struct world_input){.syms = d->w->syms, .nodes = node, .node_count = nodes, .claims = claim,
                                .claim_count = claims};
}

/* --- CSINodes --- */

static bool is_among(const struct csi_node *n, const struct csi_node *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == n)
            return true;
    return false;
}

static void renew_csi_nodes(struct delta *d, const struct world_change *c)
{
    struct object_index *x = &d->w->volumes.csi_nodes;
    const void **items = ARENA_ARRAY(&d->scratch, const void *, x->count + c->csi_node_count);
    size_t count = 0;
    for (uint32_t i = 0; i < x->count; i++)
        if (!is_among(x->items[i], c->gone_csi_nodes, c->gone_csi_node_count))
            items[count++] = x->items[i];
    for (size_t i = 0; i < c->csi_node_count; i++)
        items[count++] = c->csi_nodes[i];
    object_index_init(x, d->w->arena, items, count);
}

static void mark_attaching(struct delta *d, const struct csi_node *const *list, size_t count, bool *marks)
{
    for (size_t i = 0; i < count; i++) {
        int32_t row = world_find_node(d->from, list[i]->meta.name);
        if (row >= 0)
            marks[row] = true;
    }
}

/* A column for each driver that somebody limits, and for no other. */
static bool same_drivers(const struct delta *d, const struct world_change *c)
{
    for (size_t i = 0; i < c->csi_node_count; i++)
        if (!volumes_knows_drivers(&d->w->volumes, c->csi_nodes[i]))
            return false;
    return c->gone_csi_node_count == 0 || volumes_drivers_stay(&d->w->volumes, d->w->overlaid.catalogue);
}

/* --- from row to row --- */

static int32_t row_before(const struct world *from, const struct world_node *n)
{
    int32_t row = n->node != NULL ? world_find_node(from, n->node->meta.name)
                                  : world_find_claim(from, n->claim->meta.name);
    return row >= 0 && (from->nodes[row].node != NULL) == (n->node != NULL) ? row : -1;
}

static void match(struct delta *d, struct shift *s)
{
    const struct world *from = d->from, *w = d->w;
    s->to = ARENA_ARRAY(&d->scratch, uint32_t, from->node_count);
    s->from = ARENA_ARRAY(&d->scratch, uint32_t, w->node_count);
    s->kept = ARENA_ARRAY(&d->scratch, bool, w->node_count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        struct world_node *n = &w->nodes[row];
        int32_t at = row_before(from, n);
        if (at < 0)
            continue;
        const struct world_node *was = &from->nodes[at];
        s->to[at] = row + 1;
        s->from[row] = (uint32_t)at + 1;
        s->kept[row] = n->node == was->node && n->claim == was->claim && n->replaced == was->replaced &&
                       !s->attaches[at];
        n->pods = was->pods;
        n->pod_classes = was->pod_classes;
        n->pod_count = was->pod_count;
    }
}

/* Pods of the rows are counted by topology, or not any more, in the eyes of the world as it is just now. */
static void count_row(struct delta *d, const struct world_node *n, uint32_t row, int by)
{
    for (uint32_t i = 0; i < n->pod_count; i++)
        delta_count(d, n->pods[i], n->pod_classes[i], row, by);
}

static void lift(struct delta *d, const struct shift *s)
{
    for (uint32_t row = 0; row < d->from->node_count; row++)
        if (s->to[row] == 0 || !s->kept[s->to[row] - 1])
            count_row(d, &d->from->nodes[row], row, -1);
}

/* --- what rows have --- */

static void carry(struct world *w, const struct world *from, const amount *before, amount *now, uint32_t row,
                  uint32_t was)
{
    memcpy(now + (size_t)row * w->column_count, world_vector(from, before, was),
           w->column_count * sizeof(amount));
}

static void carry_row(struct world *w, const struct world *from, uint32_t row, uint32_t was)
{
    carry(w, from, from->allocatable, w->allocatable, row, was);
    carry(w, from, from->capacity, w->capacity, row, was);
    carry(w, from, from->expected, w->expected, row, was);
    carry(w, from, from->left, w->left, row, was);
    w->nodes[row].pool = from->nodes[was].pool;
    w->nodes[row].price = from->nodes[was].price;
}

static void make_room(struct delta *d)
{
    struct world *w = d->w;
    struct arena *rows = &w->parts[PART_ROWS]->arena;
    size_t cells = (size_t)w->node_count * w->column_count;
    w->allocatable = ARENA_ARRAY(w->arena, amount, cells);
    w->capacity = ARENA_ARRAY(w->arena, amount, cells);
    w->profile_of = ARENA_ARRAY(w->arena, uint32_t, w->node_count);
    w->requested = ARENA_ARRAY(rows, amount, cells);
    w->expected = ARENA_ARRAY(rows, amount, cells);
    w->left = ARENA_ARRAY(rows, amount, cells);
    w->ports = ARENA_ARRAY(rows, struct row_ports, w->node_count);
    if (w->shared != NULL)
        w->shared = ARENA_ARRAY(w->arena, struct volume_numbers, w->node_count);
}

static void fill(struct delta *d, const struct shift *s)
{
    struct world *w = d->w;
    const struct world *from = d->from;
    make_room(d);
    for (uint32_t row = 0; row < w->node_count; row++) {
        uint32_t was = s->from[row] - 1;
        if (s->from[row] != 0) {
            carry(w, from, from->requested, w->requested, row, was);
            w->ports[row] = from->ports[was];
            if (w->shared != NULL)
                w->shared[row] = from->shared[was];
        }
        if (s->kept[row])
            carry_row(w, from, row, was);
        else
            world_fill_row(w, row);
    }
    world_index_rows(w);
}

/* --- profiles --- */

/* What it says may be in objects that go. */
static struct profile dup_profile(struct arena *a, struct profile p)
{
    p.taints.items = delta_copy(a, p.taints.items, p.taints.count, sizeof(*p.taints.items));
    p.labels.items = delta_copy(a, p.labels.items, p.labels.count, sizeof(*p.labels.items));
    for (uint32_t i = 0; i < p.labels.count; i++) {
        struct requirement *r = &p.labels.items[i];
        r->values = delta_copy(a, r->values, r->count, sizeof(*r->values));
    }
    return p;
}

static uint32_t put_profile(struct delta *d, struct intern *known, struct profile p, uint32_t *capacity)
{
    struct world *w = d->w;
    struct words words;
    bool is_new;
    words_init(&words, &d->scratch);
    world_profile_words(&words, &p);
    uint32_t at = intern_put(known, &words, &is_new);
    if (is_new)
        ARENA_PUSH(w->arena, w->profiles, w->profile_count, *capacity, dup_profile(w->arena, p));
    return at;
}

/* Those that rows still have: none outlives its last row. */
static void number_profiles(struct delta *d, const struct shift *s)
{
    struct world *w = d->w;
    const struct world *from = d->from;
    uint32_t *number = ARENA_ARRAY(&d->scratch, uint32_t, from->profile_count), capacity = 0; /* + 1 */
    struct intern known;
    intern_init(&known, &d->scratch);
    w->profiles = NULL;
    w->profile_count = 0;
    for (uint32_t row = 0; row < w->node_count; row++) {
        uint32_t was = s->kept[row] ? from->profile_of[s->from[row] - 1] : 0;
        if (!s->kept[row])
            w->profile_of[row] = put_profile(d, &known, world_row_profile(w, row), &capacity);
        else if (number[was] != 0)
            w->profile_of[row] = number[was] - 1;
        else
            number[was] = (w->profile_of[row] = put_profile(d, &known, from->profiles[was], &capacity)) + 1;
    }
}

/* --- domains --- */

static bool is_anybody_in(const struct topology_key *k, uint32_t rows, int32_t domain)
{
    for (uint32_t row = 0; row < rows; row++)
        if (k->of_row[row] == domain)
            return true;
    return false;
}

/* False: in a domain that is new, or was the last one in its domain. */
static bool place_rows(struct delta *d, const struct shift *s, struct topology_key *k)
{
    struct world *w = d->w;
    const int32_t *before = k->of_row;
    k->of_row = ARENA_ARRAY(w->arena, int32_t, w->node_count);
    for (uint32_t row = 0; row < w->node_count; row++)
        if (s->kept[row])
            k->of_row[row] = before[s->from[row] - 1];
        else if (!topology_row_domain(w, k, row, &k->of_row[row]))
            return false;
    for (uint32_t row = 0; row < d->from->node_count; row++)
        if ((s->to[row] == 0 || !s->kept[s->to[row] - 1]) && before[row] >= 0 &&
            !is_anybody_in(k, w->node_count, before[row]))
            return false;
    return true;
}

static bool does_anybody_count(const struct world *w, const struct topology_group *g, int32_t domain)
{
    const struct topology_key *k = &w->topology.keys[g->key];
    for (uint32_t row = 0; row < w->node_count; row++)
        if (k->of_row[row] == domain && topology_counts_row(w, g, row))
            return true;
    return false;
}

/* Domains that a spread compares: of rows that count for it, and of what can be bought. False: of this one the last
 * such row may be gone. */
static bool compare_domains(struct delta *d, const struct shift *s, struct topology_group *g)
{
    struct world *w = d->w;
    const struct world *from = d->from;
    const struct topology_key *was = &from->topology.keys[g->key], *k = &w->topology.keys[g->key];
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!s->kept[row] && k->of_row[row] >= 0 && topology_counts_row(w, g, row))
            bits_add(g->domains, (uint32_t)k->of_row[row]);
    for (uint32_t row = 0; row < from->node_count; row++)
        if ((s->to[row] == 0 || !s->kept[s->to[row] - 1]) && was->of_row[row] >= 0 &&
            topology_counts_row(from, g, row) && !does_anybody_count(w, g, was->of_row[row]))
            return false;
    return true;
}

static bool settle_domains(struct delta *d, const struct shift *s)
{
    struct topology *t = &d->w->topology;
    if (t->group_count == 0)
        return true;
    struct arena *counts = delta_own_counts(d);
    t->keys = delta_copy(d->w->arena, t->keys, t->key_count, sizeof(*t->keys));
    for (uint32_t i = 1; i < t->key_count; i++)
        if (!place_rows(d, s, &t->keys[i]))
            return false;
    for (uint32_t i = 0; i < t->group_count; i++)
        if (t->groups[i].domains != NULL && !compare_domains(d, s, &t->groups[i]))
            return false;
    pairs_renumber(&t->hosts, counts, s->to);
    return true;
}

/* --- pods --- */

/* Lists stay where they are as long as all rows of their part do. */
static bool stays(const struct world *w, const struct shift *s, uint32_t block)
{
    uint32_t row = block * LISTS_ROWS, end = row + LISTS_ROWS;
    for (end = end < w->node_count ? end : w->node_count; row < end; row++)
        if (s->from[row] != row + 1)
            return false;
    return true;
}

static void take_lists(struct delta *d, const struct shift *s)
{
    struct world *w = d->w;
    struct part *rows = w->parts[PART_ROWS];
    uint32_t count = (w->node_count + LISTS_ROWS - 1) / LISTS_ROWS;
    struct part **lists = ARENA_ARRAY(&rows->arena, struct part *, count);
    for (uint32_t i = 0; i < count && d->from->lists != NULL; i++)
        lists[i] = stays(w, s, i) ? part_join(d->from->lists[i]) : NULL;
    rows->held = w->lists = lists;
    rows->held_count = count;
    d->dirty = ARENA_ARRAY(&d->scratch, uint64_t, bits_words(w->node_count));
    d->blocks = ARENA_ARRAY(&d->scratch, uint64_t, bits_words(count));
    for (uint32_t i = 0; i < count; i++)
        if (!stays(w, s, i))
            delta_own_lists(d, i * LISTS_ROWS);
}

static uint32_t pods_on_leaving(const struct world *w)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < w->node_count; row++)
        count += w->nodes[row].leaving ? w->nodes[row].pod_count : 0;
    return count;
}

/* Those whose Node is gone stand aside: it may come again. */
static void leave_gone_rows(struct delta *d, const struct shift *s)
{
    for (uint32_t row = 0; row < d->from->node_count; row++) {
        const struct world_node *n = &d->from->nodes[row];
        for (uint32_t i = 0; i < n->pod_count && s->to[row] == 0; i++) {
            d->w->members[n->pod_classes[i]]--;
            delta_set_aside(d, n->pods[i]);
        }
    }
}

static bool stand_on_new_rows(struct delta *d, const struct shift *s)
{
    struct world *w = d->w;
    uint32_t kept = 0, class_id;
    for (uint32_t i = 0; i < w->aside_count; i++) {
        const struct pod *p = w->aside[i];
        int32_t row = p->node != SYM_NONE ? world_find_node(w, sym_text(w->syms, p->node)) : -1;
        if (row < 0)
            w->aside[kept++] = p;
        else if (s->from[row] != 0 || pod_is_terminal(p) || !volumes_move_user(&w->volumes, p, 0) ||
                 !delta_stand(d, (uint32_t)row, p, &class_id))
            return false;
    }
    w->aside_count = kept;
    return true;
}

/* Who waits because their node is leaving, anew. */
static void empty_leaving_rows(struct delta *d)
{
    struct world *w = d->w;
    for (uint32_t i = 0; i < d->from->waiting_count; i++)
        if (w->waiting[i].bound) {
            d->left[i] = true;
            w->members[w->waiting[i].class_id]--;
        }
    for (uint32_t row = 0; row < w->node_count; row++)
        for (uint32_t i = 0; i < w->nodes[row].pod_count && w->nodes[row].leaving; i++)
            delta_wait_bound(d, w->nodes[row].pods[i], w->nodes[row].pod_classes[i]);
}

/* --- the whole --- */

/* Which volumes are being made for which Node pods' classes know. */
static bool is_volume_made_for(const struct delta *d, const struct world_change *c)
{
    for (size_t i = 0; i < c->gone_node_count; i++)
        if (volumes_made_for(&d->w->volumes, c->gone_nodes[i]->meta.name))
            return true;
    for (size_t i = 0; i < c->node_count; i++)
        if (volumes_made_for(&d->w->volumes, c->nodes[i]->meta.name))
            return true;
    return false;
}

bool delta_rows(struct delta *d, const struct world_change *c)
{
    struct world *w = d->w;
    struct world_input in;
    struct objects gone;
    struct shift s = {.attaches = ARENA_ARRAY(&d->scratch, bool, d->from->node_count)};
    if (w->split.owner_count != 0 || !mark_gone(d, c, &gone) || is_volume_made_for(d, c))
        return false;
    put_together(d, c, &gone, &in);
    mark_attaching(d, c->gone_csi_nodes, c->gone_csi_node_count, s.attaches);
    mark_attaching(d, c->csi_nodes, c->csi_node_count, s.attaches);
    w->arena = delta_own_part(d, PART_ROWS, NULL);
    world_collect_rows(w, &in);
    match(d, &s);
    lift(d, &s);
    w->arena = delta_own_part(d, PART_FRAME, NULL);
    renew_csi_nodes(d, c);
    if (!same_drivers(d, c))
        return false;
    fill(d, &s);
    number_profiles(d, &s);
    if (!settle_domains(d, &s))
        return false;
    w->options = delta_copy(w->arena, w->options, w->option_count, sizeof(*w->options));
    world_budget_options(w);
    take_lists(d, &s);
    delta_own_pods(d, c->come_count + d->from->aside_count + pods_on_leaving(w));
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!s.kept[row]) {
            delta_touch(d, row);
            count_row(d, &w->nodes[row], row, 1);
        }
    d->daemons_moved = true;
    leave_gone_rows(d, &s);
    if (!stand_on_new_rows(d, &s))
        return false;
    empty_leaving_rows(d);
    return true;
}
