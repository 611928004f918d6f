#include "sim/scenario/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct machine_paid {
    bool has_node, had_node, has_claim;
    int32_t offering; /* -1: of none */
};

struct tally {
    struct sim_cluster *cluster;
    const struct market *market;
    wall_ms start, last;
    span_ms duration;
    json_t *index; /* providerID, or "node NAME" → machine */
    struct machine_paid *machines;
    uint32_t machine_count, machine_capacity;
    uint32_t *vacant; /* machines that are free again; room for as many as there are machines */
    uint32_t vacant_count;
    json_t *since; /* uid of a waiting pod → when it began to wait */
    uint32_t *waits;
    uint32_t wait_capacity;
    double rate; /* an hour */
    struct totals totals; /* its steps hold sums until the end */
};

/* ---- time ---- */

static wall_ms edge(const struct tally *t, uint32_t step)
{
    return t->start + t->duration * step / TALLY_STEPS;
}

static void advance(struct tally *t)
{
    wall_ms now = t->cluster->objects.now;
    wall_ms end = t->start + t->duration;
    if (now > end)
        now = end;
    double waiting = (double)json_object_size(t->since), nodes = t->totals.nodes_last;
    while (t->last < now) {
        uint32_t step = (uint32_t)((t->last - t->start) * TALLY_STEPS / t->duration);
        while (step + 1 < TALLY_STEPS && edge(t, step + 1) <= t->last)
            step++; /* of rounding */
        wall_ms until = edge(t, step + 1);
        until = until < now ? until : now;
        double length = (double)(until - t->last);
        t->totals.steps[step].price += t->rate * length;
        t->totals.steps[step].nodes += nodes * length;
        t->totals.steps[step].waiting += waiting * length;
        t->totals.price_hours += t->rate * length / (double)MS_HOUR;
        t->totals.nodes_mean += nodes * length / (double)t->duration;
        t->last = until;
    }
}

/* ---- machines ---- */

static bool is_paid(const struct machine_paid *m)
{
    return m->has_node || (m->has_claim && !m->had_node);
}

/* Summed anew: what was added and taken away again would leave dust. */
static void sum_up(struct tally *t)
{
    uint32_t unpriced = 0, nodes = 0;
    t->rate = 0;
    for (uint32_t i = 0; i < t->machine_count; i++) {
        const struct machine_paid *m = &t->machines[i];
        nodes += m->has_node;
        unpriced += m->has_node && m->offering < 0;
        if (is_paid(m) && m->offering >= 0)
            t->rate += market_price(t->market, m->offering);
    }
    struct totals *o = &t->totals;
    o->nodes_last = nodes;
    o->nodes_most = nodes > o->nodes_most ? nodes : o->nodes_most;
    o->nodes_unpriced = unpriced > o->nodes_unpriced ? unpriced : o->nodes_unpriced;
    o->price_last = t->rate;
    o->price_most = t->rate > o->price_most ? t->rate : o->price_most;
}

static void key_of(char out[OBJECTS_KEY_MAX], const json_t *object, bool is_node)
{
    struct span id = tree_string(object, is_node ? "spec.providerID" : "status.providerID");
    struct span name = tree_string(object, "metadata.name");
    if (id.len != 0)
        snprintf(out, OBJECTS_KEY_MAX, "%.*s", SPAN_ARG(id));
    else
        snprintf(out, OBJECTS_KEY_MAX, "node %.*s", SPAN_ARG(name));
}

static uint32_t new_machine(struct tally *t)
{
    if (t->vacant_count != 0)
        return t->vacant[--t->vacant_count];
    if (t->machine_count == t->machine_capacity) {
        t->machine_capacity = t->machine_capacity != 0 ? t->machine_capacity * 2 : 64;
        t->machines = mem_grow(t->machines, t->machine_capacity, sizeof *t->machines);
        t->vacant = mem_grow(t->vacant, t->machine_capacity, sizeof *t->vacant);
    }
    return t->machine_count++;
}

static struct machine_paid *machine_at(struct tally *t, const char *key)
{
    const json_t *known = json_object_get(t->index, key);
    if (known != NULL)
        return &t->machines[json_integer_value(known)];
    uint32_t i = new_machine(t);
    t->machines[i] = (struct machine_paid){.offering = -1};
    json_object_set_new(t->index, key, json_integer(i));
    return &t->machines[i];
}

static struct span label(const json_t *object, const char *key)
{
    return span_of(json_string_value(json_object_get(tree_get(object, "metadata.labels"), key)));
}

static void keep_offering(struct tally *t, struct machine_paid *m, const json_t *object)
{
    int32_t offering = market_find(t->market, label(object, "node.kubernetes.io/instance-type"),
                                   label(object, "topology.kubernetes.io/zone"),
                                   label(object, "karpenter.sh/capacity-type"));
    if (offering >= 0)
        m->offering = offering;
}

static void forget_if_gone(struct tally *t, const char *key)
{
    uint32_t i = (uint32_t)json_integer_value(json_object_get(t->index, key));
    if (t->machines[i].has_node || t->machines[i].has_claim)
        return;
    t->machines[i] = (struct machine_paid){.offering = -1};
    t->vacant[t->vacant_count++] = i;
    json_object_del(t->index, key);
}

static void hear_node(struct tally *t, const json_t *node, bool is_there)
{
    char key[OBJECTS_KEY_MAX];
    key_of(key, node, true);
    struct machine_paid *m = machine_at(t, key);
    bool same = m->has_node == is_there;
    int32_t offering = m->offering;
    m->has_node = is_there;
    m->had_node |= is_there;
    keep_offering(t, m, node);
    if (same && m->offering == offering)
        return;
    forget_if_gone(t, key);
    sum_up(t);
}

static void hear_claim(struct tally *t, const json_t *claim, bool is_there)
{
    char key[OBJECTS_KEY_MAX];
    if (tree_string(claim, "status.providerID").len == 0)
        return;
    key_of(key, claim, false);
    struct machine_paid *m = machine_at(t, key);
    if (m->has_claim == is_there && m->offering >= 0)
        return;
    t->totals.bought += is_there && !m->has_claim;
    m->has_claim = is_there;
    keep_offering(t, m, claim);
    forget_if_gone(t, key);
    sum_up(t);
}

/* ---- pods ---- */

static bool is_daemon(const json_t *pod)
{
    return tree_is(tree_controller(pod), "kind", "DaemonSet");
}

static bool waits(const json_t *pod)
{
    return pod != NULL && tree_get(pod, "spec.nodeName") == NULL &&
           tree_get(pod, "metadata.deletionTimestamp") == NULL && tree_is(pod, "status.phase", "Pending") &&
           !is_daemon(pod);
}

static bool is_evicted(const json_t *pod)
{
    return tree_is(tree_condition(pod, "DisruptionTarget"), "reason", "EvictionByEvictionAPI");
}

static void note_bound(struct tally *t, span_ms waited)
{
    struct totals *o = &t->totals;
    if (o->bound == t->wait_capacity) {
        t->wait_capacity = t->wait_capacity != 0 ? t->wait_capacity * 2 : 1024;
        t->waits = mem_grow(t->waits, t->wait_capacity, sizeof *t->waits);
    }
    t->waits[o->bound++] = waited < UINT32_MAX ? (uint32_t)waited : UINT32_MAX;
}

/* Its machine was taken away: it is not there any more, and the pod is collected. */
static bool is_lost(const struct tally *t, const json_t *pod)
{
    struct span node = tree_string(pod, "spec.nodeName"), cluster_wide = {NULL, 0};
    return node.len != 0 && !is_daemon(pod) &&
           objects_find(&t->cluster->objects, KIND_NODE, cluster_wide, node) == NULL;
}

static void hear_pod(struct tally *t, const json_t *old, const json_t *fresh)
{
    struct objects *o = &t->cluster->objects;
    const json_t *pod = fresh != NULL ? fresh : old;
    struct span uid = tree_string(pod, "metadata.uid");
    const json_t *since = json_object_getn(t->since, uid.ptr, uid.len);
    if (waits(fresh)) {
        if (since == NULL)
            json_object_setn_new(t->since, uid.ptr, uid.len, json_integer(o->now));
    } else if (since != NULL) {
        if (fresh != NULL && tree_get(fresh, "spec.nodeName") != NULL)
            note_bound(t, o->now - json_integer_value(since));
        json_object_deln(t->since, uid.ptr, uid.len);
    }
    t->totals.evictions += fresh != NULL && is_evicted(fresh) && (old == NULL || !is_evicted(old));
    t->totals.lost += fresh == NULL && is_lost(t, old);
}

static void on_changed(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct tally *t = user;
    const json_t *object = fresh != NULL ? fresh : old;
    if (k != KIND_NODE && k != KIND_NODE_CLAIM && k != KIND_POD)
        return;
    advance(t);
    if (k == KIND_NODE)
        hear_node(t, object, fresh != NULL);
    else if (k == KIND_NODE_CLAIM)
        hear_claim(t, object, fresh != NULL);
    else
        hear_pod(t, old, fresh);
}

/* ---- lifecycle ---- */

struct tally *tally_new(struct sim_cluster *c, const struct market *market, span_ms duration)
{
    struct tally *t = mem_new(sizeof *t);
    *t = (struct tally){.cluster = c, .market = market, .duration = duration, .start = c->objects.now,
                        .last = c->objects.now, .index = json_object(), .since = json_object()};
    objects_listen(&c->objects, on_changed, t);
    t->totals.bought = t->totals.evictions = 0;
    t->totals.price_first = t->rate;
    return t;
}

void tally_free(struct tally *t)
{
    if (t == NULL)
        return;
    objects_unlisten(&t->cluster->objects, t);
    json_decref(t->index);
    json_decref(t->since);
    free(t->machines);
    free(t->vacant);
    free(t->waits);
    free(t);
}

void tally_repriced(struct tally *t)
{
    advance(t);
    sum_up(t);
}

static void count_move(struct totals *o, struct span reason, uint32_t count)
{
    uint32_t i = 0;
    while (i < o->move_kinds && !span_eq(reason, span_of(o->moves[i].name)))
        i++;
    if (i == TALLY_REASONS_MAX)
        return;
    if (i == o->move_kinds)
        snprintf(o->moves[o->move_kinds++].name, sizeof o->moves[i].name, "%.*s", SPAN_ARG(reason));
    o->moves[i].count += count;
    o->moved += count;
}

void tally_measured(struct tally *t, const struct measure *m)
{
    if (m->id == MEASURE_CLAIMS_DISRUPTED)
        count_move(&t->totals, m->labels[0], (uint32_t)m->value);
    else if (m->id == MEASURE_CLOUD_ERRORS && span_eq(m->labels[1], SPAN("Create")))
        t->totals.failed += (uint32_t)m->value;
}

static int by_length(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The least that so many per cent of them do not exceed. */
static span_ms percentile(const struct tally *t, uint32_t percent)
{
    uint64_t rank = ((uint64_t)t->totals.bound * percent + 99) / 100;
    return t->totals.bound != 0 ? t->waits[rank != 0 ? rank - 1 : 0] : 0;
}

void tally_end(struct tally *t, struct totals *out)
{
    advance(t);
    t->totals.waiting = (uint32_t)json_object_size(t->since);
    if (t->totals.bound != 0)
        qsort(t->waits, t->totals.bound, sizeof *t->waits, by_length);
    t->totals.wait_p50 = percentile(t, 50);
    t->totals.wait_p99 = percentile(t, 99);
    t->totals.wait_most = percentile(t, 100);
    *out = t->totals;
    for (uint32_t i = 0; i < TALLY_STEPS; i++) {
        double length = (double)(edge(t, i + 1) - edge(t, i));
        if (length <= 0)
            continue;
        out->steps[i].price /= length;
        out->steps[i].nodes /= length;
        out->steps[i].waiting /= length;
    }
}
