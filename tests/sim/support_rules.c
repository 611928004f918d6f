/* Nothing is remembered that the objects themselves tell, but for what is bought in whose place, who was excused, and which
 * disruptions are under way. */
#include "tests/sim/support_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/meta.h"
#include "sim/cluster_state.h"

enum {
    NODES_MOST = 16,
    /* Between the snapshot that somebody is decided on and his mark are a publish and two writes: who has begun to leave
     * since then without being asked was not counted. */
    UNSEEN_MS = 2 * MS_SECOND,
    STUCK_MS = MS_MINUTE, /* past its end nobody waits for a pod (spec disruption 14.4) */
};

struct trade { /* what comes in whose place */
    char id[32];
    bool consolidates;
    double sold, bought;
};

struct running { /* a disruption */
    char id[16];
    enum move_state state;
    wall_ms since;
    bool told, listed;
    uint32_t count;
    char nodes[NODES_MOST][64];
};

struct rules {
    struct rules_config config;
    struct objects *objects;
    json_t *excused, *lost; /* name → true */
    struct trade *trades;
    uint32_t trade_count;
    struct running *moves;
    uint32_t move_count;
    bool sold_out;
    wall_ms in_stock; /* since then */
    wall_ms blind, sees; /* from when to when it was blind last */
    char broken[512], restless[512];
    bool rests; /* what is said is of the latter */
    struct rules_seen seen;
};

static struct span no_ns;

__attribute__((format(printf, 2, 3))) static void complain(struct rules *r, const char *format, ...)
{
    va_list args;
    char *text = r->rests ? r->restless : r->broken;
    if (text[0] != '\0')
        return;
    int at = snprintf(text, sizeof(r->broken), "%.3f s ", (double)(r->objects->now - START) / 1000);
    va_start(args, format);
    vsnprintf(text + at, sizeof(r->broken) - (size_t)at, format, args);
    va_end(args);
}

/* ---- objects ---- */

static struct span name_of(const json_t *object)
{
    return tree_string(object, "metadata.name");
}

static bool leaves(const json_t *object)
{
    return tree_get(object, "metadata.deletionTimestamp") != NULL;
}

static bool is_marked(const json_t *claim)
{
    return claim != NULL && tree_condition_is(claim, "DisruptionReason", "True");
}

static const char *text_of(const json_t *object, const char *map, const char *key)
{
    return json_string_value(json_object_get(tree_get(object, map), key));
}

static const char *label(const json_t *object, const char *key)
{
    return text_of(object, "metadata.labels", key);
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static wall_ms time_at(const json_t *object, const char *path)
{
    wall_ms t = 0;
    struct span text = tree_string(object, path);
    return text.len != 0 && time_parse(text, &t) ? t : 0;
}

static json_t *find(const struct rules *r, enum kind k, struct span name)
{
    return objects_find(r->objects, k, no_ns, name);
}

static bool is_excused(const struct rules *r, struct span name)
{
    return json_object_getn(r->excused, name.ptr, name.len) != NULL;
}

static bool is_over(const json_t *pod)
{
    return tree_is(pod, "status.phase", "Succeeded") || tree_is(pod, "status.phase", "Failed");
}

/* ---- budgets ---- */

static bool is_ready(const json_t *node)
{
    return node != NULL && tree_condition_is(node, "Ready", "True");
}

static bool counts(const json_t *claim)
{
    return (tree_condition_is(claim, "Initialized", "True") || tree_condition_is(claim, "Rebooting", "True")) &&
           !tree_condition_is(claim, "InstanceTerminating", "True");
}

/* Long enough for who decides to have seen it. */
static bool is_busy(const struct rules *r, const json_t *claim, bool unhealthy)
{
    const json_t *node = find(r, KIND_NODE, name_of(claim));
    wall_ms seen = (r->objects->now < r->sees + UNSEEN_MS ? r->blind : r->objects->now) - UNSEEN_MS;
    if (is_marked(claim) || tree_condition_is(claim, "Rebooting", "True"))
        return true;
    if (leaves(claim))
        return time_at(claim, "metadata.deletionTimestamp") <= seen;
    return !is_ready(node) && !unhealthy && node != NULL &&
           time_at(tree_condition(node, "Ready"), "lastTransitionTime") <= seen;
}

static bool has_reason(const json_t *budget, struct span reason)
{
    const json_t *reasons = tree_get(budget, "reasons"), *one;
    size_t i;
    json_array_foreach(reasons, i, one)
        if (span_eq(span_of(json_string_value(one)), reason))
            return true;
    return reasons == NULL;
}

static long allowed_of(const json_t *pool, long nodes, struct span reason)
{
    const json_t *budgets = tree_get(pool, "spec.disruption.budgets"), *b;
    long least = budgets == NULL ? (nodes + 9) / 10 : INT32_MAX;
    size_t i;
    json_array_foreach(budgets, i, b) {
        char *end;
        long value = strtol(json_string_value(tree_get(b, "nodes")), &end, 10);
        value = *end == '%' ? (value * nodes + 99) / 100 : value;
        least = has_reason(b, reason) && value < least ? value : least;
    }
    return least;
}

static void check_budget(struct rules *r, const json_t *marked)
{
    const char *pool_name = label(marked, "karpenter.sh/nodepool"), *key;
    struct span reason = tree_string(tree_condition(marked, "DisruptionReason"), "reason");
    bool unhealthy = span_eq(reason, SPAN("Unhealthy"));
    const json_t *pool = pool_name != NULL ? find(r, KIND_NODE_POOL, span_of(pool_name)) : NULL;
    long nodes = 0, busy = 0;
    json_t *claim;
    for (uint32_t i = 0; i < REASON_COUNT; i++)
        r->seen.marked[i] += span_eq(reason, disruption_reason_name((enum disruption_reason)i));
    if (pool == NULL || !counts(marked))
        return;
    json_object_foreach(r->objects->kinds[KIND_NODE_CLAIM], key, claim) {
        const json_t *c = span_eq(name_of(claim), name_of(marked)) ? marked : claim;
        if (!same(label(c, "karpenter.sh/nodepool"), pool_name) || !counts(c))
            continue;
        nodes++;
        busy += is_busy(r, c, unhealthy);
    }
    long allowed = allowed_of(pool, nodes, reason);
    if (busy > allowed)
        complain(r, "budget: %.*s is marked %.*s, the %ldth of %ld nodes of %s to leave, of whom %ld may",
                 SPAN_ARG(name_of(marked)), SPAN_ARG(reason), busy, nodes, pool_name, allowed);
}

/* ---- who is deleted, and what for ---- */

static void check_reason(struct rules *r, const json_t *claim)
{
    span_ms age = r->objects->now - time_at(claim, "metadata.creationTimestamp"), lasts;
    struct span after = tree_string(claim, "spec.expireAfter");
    const char *pool_name = label(claim, "karpenter.sh/nodepool");
    const json_t *pool = pool_name != NULL ? find(r, KIND_NODE_POOL, span_of(pool_name)) : NULL;
    bool fixed = pool == NULL || tree_get(pool, "spec.replicas") != NULL;
    if (is_marked(claim) || fixed || is_excused(r, name_of(claim)) || find(r, KIND_NODE, name_of(claim)) == NULL ||
        leaves(find(r, KIND_NODE, name_of(claim))) || !tree_condition_is(claim, "Initialized", "True"))
        return;
    r->seen.expired++;
    if (after.len == 0 || !duration_parse(after, &lasts) || age < lasts)
        complain(r, "reason: %.*s is deleted and says not why", SPAN_ARG(name_of(claim)));
}

/* ---- prices ---- */

static double price_of(const struct rules *r, const json_t *claim)
{
    const char *type = label(claim, "node.kubernetes.io/instance-type");
    const char *capacity = label(claim, "karpenter.sh/capacity-type");
    return r->config.price != NULL && type != NULL && capacity != NULL ? r->config.price(type, capacity) : 0;
}

static struct trade *trade_at(struct rules *r, const char *id)
{
    for (uint32_t i = 0; i < r->trade_count; i++)
        if (strcmp(r->trades[i].id, id) == 0)
            return &r->trades[i];
    return NULL;
}

/* "2 web-b7k2/3f0c…,web-c9d4/81aa…": what those cost that are named. */
static void sell(struct rules *r, struct trade *t, struct span replaces)
{
    struct span rest, one;
    span_cut(replaces, ' ', &rest);
    t->consolidates = true;
    while (rest.len != 0) {
        struct span uid, list = rest;
        one = span_cut(list, ',', &rest);
        const json_t *claim = find(r, KIND_NODE_CLAIM, span_cut(one, '/', &uid));
        t->consolidates = t->consolidates && claim != NULL &&
                          tree_is(tree_condition(claim, "DisruptionReason"), "reason", "Underutilized");
        t->sold += claim != NULL ? price_of(r, claim) : 0;
    }
}

static void begin_trade(struct rules *r, const json_t *claim)
{
    const char *id = text_of(claim, "metadata.annotations", "stowage.dev/decision");
    const char *replaces = text_of(claim, "metadata.annotations", "stowage.dev/replaces");
    if (replaces == NULL || id == NULL || trade_at(r, id) != NULL)
        return;
    r->trades = mem_grow(r->trades, r->trade_count + 1, sizeof(*r->trades));
    struct trade *t = &r->trades[r->trade_count++];
    *t = (struct trade){.sold = 0};
    snprintf(t->id, sizeof(t->id), "%s", id);
    sell(r, t, span_of(replaces));
}

static void check_price(struct rules *r, const json_t *claim)
{
    const char *id = text_of(claim, "metadata.annotations", "stowage.dev/decision");
    bool replaces = text_of(claim, "metadata.annotations", "stowage.dev/replaces") != NULL;
    struct trade *t = replaces && id != NULL ? trade_at(r, id) : NULL;
    if (t == NULL || r->config.price == NULL)
        return;
    t->bought += price_of(r, claim);
    r->seen.trades += t->consolidates;
    if (t->consolidates && t->bought > t->sold - 1e-9)
        complain(r, "price: %.*s makes it $%.3f in place of $%.3f (%s)", SPAN_ARG(name_of(claim)), t->bought, t->sold, id);
}

static bool has_type(const json_t *claim)
{
    return claim != NULL && label(claim, "node.kubernetes.io/instance-type") != NULL &&
           tree_condition_is(claim, "Launched", "True");
}

static void hear_claim(struct rules *r, const json_t *old, const json_t *fresh)
{
    if (fresh == NULL)
        return;
    if (old == NULL)
        begin_trade(r, fresh);
    if (!has_type(old) && has_type(fresh))
        check_price(r, fresh);
    if (is_marked(fresh) && !is_marked(old))
        check_budget(r, fresh);
    if (old != NULL && leaves(fresh) && !leaves(old))
        check_reason(r, fresh);
}

/* ---- pods ---- */

static bool is_kept(const struct rules *r, const json_t *pod)
{
    struct span said = span_of(text_of(pod, "metadata.annotations", "karpenter.sh/do-not-disrupt"));
    wall_ms started = time_at(pod, "status.startTime");
    span_ms lasts;
    if (said.len == 0 || span_eq(said, SPAN("true")))
        return said.len != 0;
    return duration_parse(said, &lasts) && lasts > 0 && (started == 0 || r->objects->now - started < lasts);
}

static bool is_evicted(const json_t *pod)
{
    return tree_is(tree_condition(pod, "DisruptionTarget"), "reason", "EvictionByEvictionAPI");
}

static bool is_protected(const struct rules *r, const json_t *pod)
{
    for (const char *const *p = r->config.protected; p != NULL && *p != NULL; p++)
        if (same(label(pod, "app"), *p))
            return true;
    return false;
}

static void check_eviction(struct rules *r, const json_t *pod, const json_t *node, const json_t *claim)
{
    bool goes = (claim != NULL && (leaves(claim) || tree_condition_is(claim, "Rebooting", "True"))) ||
                (node != NULL && leaves(node));
    r->seen.evictions++;
    if (!goes)
        complain(r, "eviction: %.*s from a node that stays", SPAN_ARG(name_of(pod)));
    else if (is_kept(r, pod))
        complain(r, "eviction: %.*s has do-not-disrupt", SPAN_ARG(name_of(pod)));
    else if (is_protected(r, pod))
        complain(r, "eviction: %.*s, whose budget lets nobody go", SPAN_ARG(name_of(pod)));
}

static void check_force(struct rules *r, const json_t *pod, const json_t *claim)
{
    wall_ms end = 0;
    struct span text = span_of(claim != NULL ? text_of(claim, "metadata.annotations", "karpenter.sh/nodeclaim-termination-timestamp")
                                             : NULL);
    span_ms grace = tree_int(pod, "spec.terminationGracePeriodSeconds", 30) * MS_SECOND;
    r->seen.forced++;
    if (text.len == 0 || !time_parse(text, &end))
        complain(r, "eviction: %.*s is deleted, though the drain of its node has no end", SPAN_ARG(name_of(pod)));
    else if (r->objects->now < end - grace)
        complain(r, "eviction: %.*s is deleted %lld ms before its grace has to begin", SPAN_ARG(name_of(pod)),
                 (long long)(end - grace - r->objects->now));
}

static void check_removed(struct rules *r, const json_t *pod)
{
    struct span on = tree_string(pod, "spec.nodeName");
    const json_t *node = on.len != 0 ? find(r, KIND_NODE, on) : NULL;
    const json_t *claim = on.len != 0 ? find(r, KIND_NODE_CLAIM, on) : NULL;
    if (on.len == 0 || is_over(pod))
        return;
    if (is_evicted(pod))
        check_eviction(r, pod, node, claim);
    else if (r->objects->writer != NULL)
        check_force(r, pod, claim);
    else if (is_protected(r, pod) && node != NULL)
        complain(r, "protected: somebody deletes %.*s", SPAN_ARG(name_of(pod)));
}

static amount number_at(const json_t *text, int32_t scale)
{
    struct err err;
    amount value = 0;
    if (json_is_integer(text))
        return json_integer_value(text) * scale;
    if (json_is_string(text))
        assert_true(quantity_parse(span_of(json_string_value(text)), scale, &value, &err));
    return value;
}

struct sums {
    amount cpu, memory, pods;
};

static void add_pod(struct sums *s, const json_t *pod)
{
    json_t *c;
    size_t i;
    s->pods++;
    json_array_foreach(tree_get(pod, "spec.containers"), i, c) {
        s->cpu += number_at(tree_get(c, "resources.requests.cpu"), 1000);
        s->memory += number_at(tree_get(c, "resources.requests.memory"), 1);
    }
}

static void check_room(struct rules *r, const json_t *bound)
{
    struct span on = tree_string(bound, "spec.nodeName");
    const json_t *node = find(r, KIND_NODE, on);
    const char *key;
    json_t *pod;
    struct sums s = {0, 0, 0};
    if (node == NULL) {
        complain(r, "room: %.*s is bound to %.*s, which is not there", SPAN_ARG(name_of(bound)), SPAN_ARG(on));
        return;
    }
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (span_eq(tree_string(pod, "spec.nodeName"), on) && !is_over(pod) && !span_eq(name_of(pod), name_of(bound)))
            add_pod(&s, pod);
    add_pod(&s, bound);
    if (s.cpu > number_at(tree_get(node, "status.allocatable.cpu"), 1000) ||
        s.memory > number_at(tree_get(node, "status.allocatable.memory"), 1) ||
        s.pods > number_at(tree_get(node, "status.allocatable.pods"), 1))
        complain(r, "room: %.*s is bound to %.*s, on which %lld millicores are then asked for", SPAN_ARG(name_of(bound)),
                 SPAN_ARG(on), (long long)s.cpu);
}

/* A DaemonSet's pod waits for its node, whoever has taken its room there. */
static void check_wait(struct rules *r, const json_t *pod)
{
    const json_t *owner = tree_controller(pod);
    if (owner != NULL && tree_is(owner, "kind", "DaemonSet"))
        return;
    wall_ms from = time_at(pod, "metadata.creationTimestamp");
    from = from > r->in_stock ? from : r->in_stock;
    if (r->config.wait != 0 && !r->sold_out && r->objects->now - from > r->config.wait)
        complain(r, "wait: %.*s has waited for %lld s", SPAN_ARG(name_of(pod)), (long long)((r->objects->now - from) / MS_SECOND));
}

static void hear_pod(struct rules *r, const json_t *old, const json_t *fresh)
{
    bool was_bound = old != NULL && tree_get(old, "spec.nodeName") != NULL;
    if (fresh != NULL && tree_get(fresh, "spec.nodeName") != NULL && !was_bound) {
        check_room(r, fresh);
        check_wait(r, fresh);
    }
    if (old != NULL && !leaves(old) && (fresh == NULL || leaves(fresh)))
        check_removed(r, fresh != NULL ? fresh : old);
}

/* ---- nodes ---- */

static bool tolerates_all(const json_t *pod)
{
    json_t *t;
    size_t i;
    json_array_foreach(tree_get(pod, "spec.tolerations"), i, t)
        if (tree_is(t, "operator", "Exists") &&
            (tree_get(t, "key") == NULL || tree_is(t, "key", "karpenter.sh/disrupted")))
            return true;
    return false;
}

static void check_left(struct rules *r, const json_t *node)
{
    const char *key;
    json_t *pod;
    if (json_object_getn(r->lost, name_of(node).ptr, name_of(node).len) != NULL)
        return;
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod) {
        wall_ms ends = time_at(pod, "metadata.deletionTimestamp");
        bool stuck = ends != 0 && r->objects->now - ends > STUCK_MS;
        if (span_eq(tree_string(pod, "spec.nodeName"), name_of(node)) && !is_over(pod) && !stuck && !tolerates_all(pod))
            complain(r, "node: %.*s goes from under %.*s", SPAN_ARG(name_of(node)), SPAN_ARG(name_of(pod)));
    }
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct rules *r = user;
    if (k == KIND_NODE_CLAIM)
        hear_claim(r, old, fresh);
    else if (k == KIND_POD)
        hear_pod(r, old, fresh);
    else if (k == KIND_NODE && fresh == NULL)
        check_left(r, old);
}

/* ---- disruptions ---- */

static struct running *move_at(struct rules *r, struct span id)
{
    for (uint32_t i = 0; i < r->move_count; i++)
        if (span_eq(span_of(r->moves[i].id), id))
            return &r->moves[i];
    return NULL;
}

static void see_move(struct rules *r, const struct move *m)
{
    struct running *x = move_at(r, m->id);
    if (x == NULL) {
        r->moves = mem_grow(r->moves, r->move_count + 1, sizeof(*r->moves));
        x = &r->moves[r->move_count++];
        *x = (struct running){.since = r->objects->now, .state = m->state};
        snprintf(x->id, sizeof(x->id), "%.*s", SPAN_ARG(m->id));
        for (; x->count < m->node_count && x->count < NODES_MOST; x->count++)
            snprintf(x->nodes[x->count], sizeof(x->nodes[0]), "%.*s", SPAN_ARG(m->nodes[x->count]));
    }
    x->since = x->state == MOVE_WAITS && m->state != MOVE_WAITS ? r->objects->now : x->since;
    x->state = m->state;
    x->listed = true;
}

static bool is_going(const struct rules *r, const char *name)
{
    const json_t *claim = find(r, KIND_NODE_CLAIM, span_of(name));
    return claim == NULL || leaves(claim) || tree_condition_is(claim, "Rebooting", "True");
}

static void check_end(struct rules *r, const struct running *x)
{
    r->seen.ended++;
    r->seen.taken_back += x->told;
    for (uint32_t i = 0; i < x->count; i++)
        if (!x->told && !is_going(r, x->nodes[i]))
            complain(r, "end: %s is no more, %s stays, and nobody was told why", x->id, x->nodes[i]);
}

static void check_late(struct rules *r)
{
    for (uint32_t i = 0; i < r->move_count; i++)
        if (r->config.end != 0 && r->moves[i].state != MOVE_WAITS && r->objects->now - r->moves[i].since > r->config.end)
            complain(r, "end: %s takes longer than %lld s", r->moves[i].id, (long long)(r->config.end / MS_SECOND));
}

void rules_hear_moves(struct rules *r, const struct moves *m)
{
    uint32_t kept = 0;
    check_late(r);
    for (uint32_t i = 0; i < r->move_count; i++)
        r->moves[i].listed = false;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->items[i].state != MOVE_RECOMMENDED)
            see_move(r, &m->items[i]);
    for (uint32_t i = 0; i < r->move_count; i++)
        if (r->moves[i].listed)
            r->moves[kept++] = r->moves[i];
        else
            check_end(r, &r->moves[i]);
    r->move_count = kept;
}

static bool names(const struct running *x, struct span node)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (span_eq(span_of(x->nodes[i]), node))
            return true;
    return false;
}

void rules_hear_decision(struct rules *r, const struct decision *d)
{
    bool drops = same(d->subject, "move") && (span_has_prefix(d->sentence, SPAN("taken back")) ||
                                              span_has_prefix(d->sentence, SPAN("dropped")));
    bool keeps = same(d->subject, "keep") && d->sentence.len != 0;
    for (uint32_t i = 0; i < r->move_count; i++)
        if ((drops && span_eq(span_of(r->moves[i].id), span_of(d->id))) || (keeps && names(&r->moves[i], d->about.name)))
            r->moves[i].told = true;
}

void rules_new_leader(struct rules *r)
{
    r->move_count = 0;
}

/* ---- the whole ---- */

void rules_excuse(struct rules *r, const char *claim)
{
    json_object_set_new(r->excused, claim, json_true());
}

void rules_lost(struct rules *r, const char *node)
{
    rules_excuse(r, node);
    json_object_set_new(r->lost, node, json_true());
}

void rules_blind(struct rules *r, wall_ms until)
{
    r->blind = r->objects->now < r->sees + UNSEEN_MS ? r->blind : r->objects->now;
    r->sees = until > r->sees ? until : r->sees;
}

void rules_sold_out(struct rules *r, bool is)
{
    r->sold_out = is;
    r->in_stock = r->objects->now;
}

struct rules *rules_watch(const struct rules_config *config)
{
    struct rules *r = mem_new(sizeof(*r));
    *r = (struct rules){.config = *config, .objects = &sim_cluster(config->sim)->objects, .excused = json_object(), .lost = json_object()};
    objects_listen(r->objects, heard, r);
    return r;
}

void rules_free(struct rules *r)
{
    objects_unlisten(r->objects, r);
    json_decref(r->excused);
    json_decref(r->lost);
    free(r->trades);
    free(r->moves);
    free(r);
}

const char *rules_broken(struct rules *r)
{
    const char *key;
    json_t *pod;
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (tree_get(pod, "spec.nodeName") == NULL && !leaves(pod))
            check_wait(r, pod);
    check_late(r);
    return r->broken;
}

static void check_node(struct rules *r, const json_t *node)
{
    json_t *taint;
    size_t i;
    if (leaves(node))
        complain(r, "%.*s still leaves", SPAN_ARG(name_of(node)));
    if (find(r, KIND_NODE_CLAIM, name_of(node)) == NULL)
        complain(r, "%.*s has no NodeClaim", SPAN_ARG(name_of(node)));
    json_array_foreach(tree_get(node, "spec.taints"), i, taint)
        if (span_has_prefix(tree_string(taint, "key"), SPAN("karpenter.sh/")))
            complain(r, "%.*s has the taint %.*s", SPAN_ARG(name_of(node)),
                     SPAN_ARG(tree_string(taint, "key")));
}

static void look_for_rest(struct rules *r)
{
    const char *key;
    json_t *o;
    json_object_foreach(r->objects->kinds[KIND_NODE], key, o)
        check_node(r, o);
    json_object_foreach(r->objects->kinds[KIND_NODE_CLAIM], key, o)
        if (leaves(o) || is_marked(o) || find(r, KIND_NODE, name_of(o)) == NULL)
            complain(r, "NodeClaim %.*s %s", SPAN_ARG(name_of(o)),
                     leaves(o) ? "still leaves" : is_marked(o) ? "is marked" : "has no Node");
    json_object_foreach(r->objects->kinds[KIND_POD], key, o)
        if ((!tree_is(o, "status.phase", "Running") || leaves(o)) && !tree_is(tree_controller(o), "kind", "DaemonSet"))
            complain(r, "pod %.*s does not run", SPAN_ARG(name_of(o)));
    for (uint32_t i = 0; i < r->move_count; i++)
        complain(r, "%s is still under way", r->moves[i].id);
}

const char *rules_restless(struct rules *r)
{
    r->rests = true;
    r->restless[0] = '\0';
    look_for_rest(r);
    r->rests = false;
    return r->restless;
}

const struct rules_seen *rules_seen(const struct rules *r)
{
    return &r->seen;
}
