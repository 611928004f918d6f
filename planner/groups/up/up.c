/* up: which group grows for whom (spec node-groups 3.7 to 3.13). */
#include <stdlib.h>
#include <string.h>

#include "kube/wellknown.h"
#include "planner/groups/up/inner.h"

static const char out_of_choice[] = "expansion options filtered out and no longer considered";
static const char failed[] = "scale-up execution failed";
static const char not_whole[] = "not all pods would fit and scale-up is using all-or-nothing strategy";

/* --- groups that may grow --- */

static struct spans one_text(struct up *u, struct span text)
{
    struct spans out = {ARENA_ARRAY(u->r->arena, struct span, 1), 1};
    out.items[0] = text;
    return out;
}

/* The least by which it grows. */
static int32_t step_of(const struct group_now *g)
{
    return g->group->scaling.zero_or_max ? g->group->spec->max - g->target : 1;
}

/* Why the group is not tried, but for limits; absent: it is. */
static struct span skip_reason(struct up *u, uint32_t group)
{
    const struct group_now *g = &u->r->groups[group];
    int32_t max = g->group->spec->max;
    if (!g->healthy)
        return SPAN("not ready for scale-up");
    if (g->backed_off)
        return SPAN("in backoff after failed scale-up");
    if (g->target >= max)
        return SPAN("max node group size reached");
    if (g->group->scaling.zero_or_max && u->r->flags->max_nodes_total > 0 &&
        (int64_t)u->nodes + step_of(g) > u->r->flags->max_nodes_total)
        return SPAN("atomic scale-up exceeds cluster node count limit");
    if (g->template_row < 0)
        return SPAN("not ready for scale-up");
    return (struct span){0};
}

static void find_valid(struct up *u)
{
    for (uint32_t g = 0; g < u->r->model->group_count; g++) {
        struct span why = skip_reason(u, g);
        if (why.ptr != NULL)
            u->skipped[g] = one_text(u, why);
        else
            limits_allow(u->r, &u->limits, g, step_of(&u->r->groups[g]), &u->skipped[g]);
        u->valid[g] = u->skipped[g].count == 0;
    }
}

/* --- options --- */

static void try_kinds(struct up *u, uint32_t group)
{
    struct snapshot *s = u->r->snapshot;
    snapshot_fork(s);
    uint32_t node = snapshot_add_copy(s, (uint32_t)u->r->groups[group].template_row);
    for (uint32_t k = 0; k < u->kind_count; k++)
        if (snapshot_fits(s, node, u->kinds[k].class_id)) {
            bits_add(u->kinds[k].fits, group);
            u->kinds[k].schedulable = true;
        }
    snapshot_revert(s);
}

/* The group that all pods of a kind wish for is the only one for them, if it will do. */
static void keep_wished(struct up *u, struct pod_kind *k)
{
    if (k->wish < 0 || !bits_has(k->fits, (uint32_t)k->wish))
        return;
    memset(k->fits, 0, bits_words(u->r->model->group_count) * sizeof(*k->fits));
    bits_add(k->fits, (uint32_t)k->wish);
}

static bool is_wanted(const struct up *u, uint32_t group)
{
    for (uint32_t k = 0; k < u->kind_count; k++)
        if (bits_has(u->kinds[k].fits, group))
            return true;
    return false;
}

static void make_option(struct up *u, uint32_t group)
{
    const struct group *g = &u->r->model->groups[group];
    struct growth *o = &u->options[u->option_count];
    *o = (struct growth){.group = group};
    o->similar = ARENA_ARRAY(u->r->arena, uint64_t, bits_words(u->r->model->group_count));
    if (!is_wanted(u, group))
        return;
    up_find_similar(u, group, o->similar);
    up_estimate(u, o);
    if (o->nodes > 0 && g->scaling.zero_or_max)
        o->nodes = g->spec->max;
    if (o->nodes > 0 && o->pod_count != 0 && u->whole && o->pod_count < u->pod_count)
        u->partial = true;
    else
        u->option_count += o->nodes > 0 && o->pod_count != 0;
}

static void make_options(struct up *u)
{
    u->options = ARENA_ARRAY(u->r->arena, struct growth, u->r->model->group_count);
    for (uint32_t g = 0; g < u->r->model->group_count; g++)
        if (u->valid[g])
            try_kinds(u, g);
    for (uint32_t k = 0; k < u->kind_count; k++)
        keep_wished(u, &u->kinds[k]);
    for (uint32_t g = 0; g < u->r->model->group_count; g++)
        if (u->valid[g])
            make_option(u, g);
}

/* --- the chosen one --- */

struct part_of_growth {
    uint32_t group;
    int32_t from, to;
};

static int by_size(const void *a, const void *b)
{
    const struct part_of_growth *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* A node at a time to the smallest that is not full; of several the first. */
static void deal(struct group_run *r, struct part_of_growth *shares, uint32_t count, int32_t nodes)
{
    while (nodes > 0) {
        struct part_of_growth *least = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (shares[i].to < r->groups[shares[i].group].group->spec->max && (least == NULL || shares[i].to < least->to))
                least = &shares[i];
        if (least == NULL)
            return;
        least->to++;
        nodes--;
    }
}

static void insert_share(struct part_of_growth *shares, uint32_t *count, struct part_of_growth x)
{
    uint32_t at = (*count)++;
    for (; at > 0 && by_size(&shares[at - 1], &x) > 0; at--)
        shares[at] = shares[at - 1];
    shares[at] = x;
}

static uint32_t make_shares(struct up *u, const struct growth *o, struct part_of_growth *shares)
{
    uint32_t count = 0;
    insert_share(shares, &count, (struct part_of_growth){o->group, u->r->groups[o->group].target, u->r->groups[o->group].target});
    for (BITS_EACH(g, o->similar, bits_words(u->r->model->group_count)))
        if (limits_allow(u->r, &u->limits, g, 1, NULL) == 1)
            insert_share(shares, &count, (struct part_of_growth){g, u->r->groups[g].target, u->r->groups[g].target});
    return count;
}

/* The option's pods have their places on the nodes that came of it, in the order of groups; of what was estimated and not
 * asked for nobody has. */
static void note_coming(struct up *u, const struct growth *o, const struct part_of_growth *shares, uint32_t count)
{
    for (uint32_t i = 0; i < o->pod_count; i++) {
        uint32_t left = o->at[i] - o->first, k = 0;
        if (o->at[i] < o->first) {
            groups_note_seat(u->r, o->pods[i], o->at[i]);
            continue;
        }
        for (; k < count && left >= (uint32_t)(shares[k].to - shares[k].from); k++)
            left -= (uint32_t)(shares[k].to - shares[k].from);
        if (k < count)
            groups_note_coming(u->r, o->pods[i], shares[k].group, u->r->groups[shares[k].group].machines + left + 1);
    }
    for (uint32_t k = 0; k < count; k++)
        u->r->groups[shares[k].group].machines += (uint32_t)(shares[k].to - shares[k].from);
}

/* False: the groups have no room for all of them, which were to come as one. */
static bool grow(struct up *u, const struct growth *o, int32_t nodes)
{
    int32_t total = 0;
    struct part_of_growth *shares = ARENA_ARRAY(u->r->arena, struct part_of_growth, u->r->model->group_count);
    uint32_t count = make_shares(u, o, shares);
    deal(u->r, shares, count, nodes);
    for (uint32_t i = 0; i < count; i++) {
        int32_t more = limits_allow(u->r, &u->limits, shares[i].group, shares[i].to - shares[i].from, NULL);
        shares[i].to = shares[i].from + more;
        limits_take(u->r, &u->limits, shares[i].group, more);
        total += more;
    }
    if (u->whole && total < o->nodes)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (shares[i].to > shares[i].from)
            group_grow(u->r, shares[i].group, shares[i].to - shares[i].from, false);
    note_coming(u, o, shares, count);
    return true;
}

static void grow_over_several(struct up *u, const struct growth *o)
{
    struct group_run *r = u->r;
    for (uint32_t i = 0; i < o->pod_count; i++)
        groups_note_coming(r, o->pods[i], o->seats[i].group, r->groups[o->seats[i].group].machines + o->seats[i].node + 1);
    for (uint32_t g = 0; g < r->model->group_count; g++) {
        r->groups[g].machines += (uint32_t)o->shares[g];
        if (o->shares[g] > 0)
            group_grow(r, g, o->shares[g], false);
    }
}

/* False: nothing grew. */
static bool grow_as_chosen(struct up *u, const struct growth *o, int32_t nodes)
{
    if (o->shares == NULL)
        return grow(u, o, limits_allow(u->r, &u->limits, o->group, nodes, NULL));
    grow_over_several(u, o);
    return true;
}

static void refuse_all(struct up *u, const char *why)
{
    for (uint32_t k = 0; k < u->kind_count; k++)
        if (u->kinds[k].schedulable) {
            u->kinds[k].schedulable = false;
            u->kinds[k].refused = why;
        }
}

static void tell_triggered(struct up *u, const struct growth *o)
{
    struct group_scale_up *out = &u->r->out->up;
    for (uint32_t i = 0; i < o->pod_count; i++)
        out->triggered[out->triggered_count++] = o->pods[i];
}

static bool is_helped(const struct growth *o, const struct pod_kind *k, uint32_t pod)
{
    return o->seated != NULL ? bits_has(o->seated, k->ranks[pod]) : bits_has(k->fits, o->group);
}

static void tell_awaiting(struct up *u, const struct growth *o)
{
    struct group_scale_up *out = &u->r->out->up;
    uint32_t count = 0;
    for (uint32_t k = 0; k < u->kind_count; k++)
        count += u->kinds[k].count;
    out->awaiting = ARENA_ARRAY(u->r->arena, const struct pod *, count);
    out->awaiting_count = 0;
    for (uint32_t k = 0; k < u->kind_count; k++)
        for (uint32_t p = 0; u->kinds[k].schedulable && p < u->kinds[k].count; p++)
            if (!is_helped(o, &u->kinds[k], p))
                out->awaiting[out->awaiting_count++] = u->kinds[k].pods[p];
}

/* Nodes of the option, less what --max-nodes-total leaves no room for; below 1: none. */
static int32_t capped(const struct up *u, const struct growth *o)
{
    int64_t room = (int64_t)u->r->flags->max_nodes_total - u->nodes;
    return u->r->flags->max_nodes_total > 0 && o->nodes > room ? (int32_t)room : o->nodes;
}

/* How many of its pods have a place when so many of its nodes come, as limits allow. */
static uint32_t helped(const struct up *u, const struct growth *o, int32_t nodes)
{
    uint32_t granted = (uint32_t)limits_allow(u->r, &u->limits, o->group, nodes, NULL), count = 0;
    for (uint32_t i = 0; i < o->pod_count; i++)
        count += o->at[i] < o->first || o->at[i] - o->first < granted;
    return count;
}

/* NULL: nothing grew. */
static const struct growth *choose(struct up *u, bool first, enum scale_up_result *result_out)
{
    struct group_scale_up *out = &u->r->out->up;
    uint32_t *best = ARENA_ARRAY(u->r->arena, uint32_t, u->option_count), count = u->option_count;
    struct growth *planned = ARENA_NEW(u->r->arena, struct growth);
    *result_out = SCALE_UP_NO_OPTIONS;
    for (uint32_t i = 0; i < count; i++)
        best[i] = i;
    if (first && up_planned(u, planned)) {
        up_tell_options(u, best, 0);
        tell_triggered(u, planned);
        grow_over_several(u, planned);
        *result_out = SCALE_UP_SUCCESSFUL;
        return planned;
    }
    if (count == 0 && u->partial)
        refuse_all(u, not_whole);
    if (count == 0)
        return NULL;
    count = up_expand(u, best, count);
    if (first)
        up_tell_options(u, best, count);
    if (count == 0) {
        refuse_all(u, out_of_choice);
        return NULL;
    }
    struct growth *o = &u->options[best[0]], spread;
    int32_t nodes = capped(u, o);
    if (nodes >= 1 && !u->whole && !u->r->flags->as_upstream && up_spread(u, o, helped(u, o, nodes), &spread))
        *o = spread;
    tell_triggered(u, o);
    if (nodes < 1) {
        *result_out = SCALE_UP_ERROR;
        if (first)
            out->error = SPAN("max node total count already reached");
        refuse_all(u, failed);
        return NULL;
    }
    if (grow_as_chosen(u, o, nodes)) {
        *result_out = SCALE_UP_SUCCESSFUL;
        return o;
    }
    out->triggered_count = 0;
    refuse_all(u, not_whole);
    return NULL;
}

/* --- rounds --- */

/* One with nodes to come and no template: upstream gives up on the whole step. */
static const struct group *lost_template(const struct group_run *r)
{
    for (uint32_t g = 0; r->flags->as_upstream && g < r->model->group_count; g++)
        if (r->groups[g].upcoming != 0 && r->groups[g].template_row < 0)
            return r->groups[g].group;
    return NULL;
}

static bool start(struct up *u, const struct pod **pods, uint32_t count)
{
    const struct group *lost = lost_template(u->r);
    struct group_scale_up *out = &u->r->out->up;
    u->valid = ARENA_ARRAY(u->r->arena, bool, u->r->model->group_count);
    u->skipped = ARENA_ARRAY(u->r->arena, struct spans, u->r->model->group_count);
    up_make_kinds(u, pods, count);
    if (lost == NULL)
        return true;
    out->result = SCALE_UP_ERROR;
    out->error = arena_printf(u->r->arena,
                              "could not get upcoming nodes: failed to find template node for node group %.*s",
                              SPAN_ARG(lost->spec->name));
    for (uint32_t g = 0; g < u->r->model->group_count; g++)
        u->skipped[g] = (struct spans){0};
    up_tell_left(u);
    out->skipped_count = 0;
    return false;
}

/* One group for some of the pods. NULL: none grew. */
static const struct growth *round_of(struct up *u, const struct pod **pods, uint32_t count, bool first)
{
    struct group_scale_up *out = &u->r->out->up;
    enum scale_up_result result;
    if (!start(u, pods, count))
        return NULL;
    limits_measure(u->r, &u->limits);
    find_valid(u);
    make_options(u);
    const struct growth *o = choose(u, first, &result);
    if (o == NULL && !first)
        return NULL; /* a salvo ends with a round that finds nothing */
    out->result = result;
    up_tell_left(u);
    if (o != NULL)
        tell_awaiting(u, o);
    return o;
}

/* For the next round: the nodes that grew stand, with the pods for which they did. False: some pod has no place there. */
static bool settle(struct up *u, const struct growth *o, const int32_t *targets)
{
    struct group_run *r = u->r;
    struct snapshot_among added = {.from = snapshot_node_limit(r->snapshot), .but = SNAPSHOT_NONE};
    uint32_t *first = ARENA_ARRAY(&u->scratch, uint32_t, r->model->group_count);
    for (uint32_t g = 0; g < r->model->group_count; g++) {
        first[g] = snapshot_node_limit(r->snapshot);
        for (int32_t i = targets[g]; i < r->groups[g].target; i++)
            snapshot_add_copy(r->snapshot, (uint32_t)r->groups[g].template_row);
    }
    for (uint32_t i = 0; i < o->pod_count; i++) {
        uint32_t class_id = snapshot_class_of(r->world, o->pods[i]);
        if (o->seats != NULL)
            snapshot_place(r->snapshot, first[o->seats[i].group] + o->seats[i].node, o->pods[i], class_id);
        else if (snapshot_seat(r->snapshot, o->pods[i], class_id, &added) == SNAPSHOT_NONE)
            return false;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    return (x > y) - (x < y);
}

/* The pods that the option does not hold; returns how many. */
static uint32_t drop_helped(struct group_run *r, const struct growth *o, const struct pod **pods, uint32_t count)
{
    const struct pod **helped = ARENA_ARRAY(r->arena, const struct pod *, o->pod_count);
    uint32_t left = 0;
    memcpy(helped, o->pods, o->pod_count * sizeof(*helped));
    qsort(helped, o->pod_count, sizeof(*helped), by_address);
    for (uint32_t i = 0; i < count; i++)
        if (bsearch(&pods[i], helped, o->pod_count, sizeof(*helped), by_address) == NULL)
            pods[left++] = pods[i];
    return left;
}

static void sort_told(struct group_scale_up *out)
{
    if (out->triggered_count != 0)
        qsort(out->triggered, out->triggered_count, sizeof(*out->triggered), group_pods_by_name);
    if (out->awaiting_count != 0)
        qsort(out->awaiting, out->awaiting_count, sizeof(*out->awaiting), group_pods_by_name);
}

/* Nodes of the cluster, those on their way to groups included. */
static uint32_t standing(const struct group_run *r)
{
    return snapshot_count(r->snapshot) - r->bought_count;
}

bool groups_scale_up_whole(struct group_run *r, const struct pod **pods, uint32_t count)
{
    struct up u = {.r = r, .nodes = standing(r), .whole = true};
    arena_init(&u.scratch, 0);
    r->out->up.triggered = ARENA_ARRAY(r->arena, const struct pod *, count);
    bool grew = round_of(&u, pods, count, true) != NULL;
    arena_release(&u.scratch);
    sort_told(&r->out->up);
    return grew;
}

void groups_scale_up(struct group_run *r)
{
    uint32_t count = r->pending_count, nodes = standing(r);
    const struct pod **pods = ARENA_ARRAY(r->arena, const struct pod *, count);
    int32_t *targets = ARENA_ARRAY(r->arena, int32_t, r->model->group_count);
    memcpy(pods, r->pending, count * sizeof(*pods));
    r->out->up.triggered = ARENA_ARRAY(r->arena, const struct pod *, count);
    for (bool first = true, more = true; more && count != 0; first = false) {
        struct up u = {.r = r, .nodes = nodes};
        arena_init(&u.scratch, 0);
        for (uint32_t g = 0; g < r->model->group_count; g++)
            targets[g] = r->groups[g].target;
        const struct growth *o = round_of(&u, pods, count, first);
        more = o != NULL && r->flags->salvo;
        if (more) {
            count = drop_helped(r, o, pods, count);
            more = count != 0 && settle(&u, o, targets);
            nodes = standing(r);
        }
        arena_release(&u.scratch);
    }
    sort_told(&r->out->up);
}
