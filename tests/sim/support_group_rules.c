/* Nothing is remembered that the objects themselves tell, but since when somebody is marked and when something happened. */
#include "tests/sim/support_group_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/meta.h"
#include "kube/resources.h"
#include "sim/cluster_state.h"

#define HARD "ToBeDeletedByClusterAutoscaler"

/* Between the snapshot that somebody is decided on and his mark are a publish, a turn of the queue and a write. */
enum { UNSEEN_MS = 3 * MS_SECOND };

struct group_rules {
    struct group_rules_config config;
    struct objects *objects;
    json_t *lost;  /* name → true */
    json_t *since; /* name of who is marked → when */
    bool sold_out;
    wall_ms in_stock, happened;
    wall_ms blind, sees; /* from when to when it was blind last */
    char broken[512], restless[512];
    struct group_rules_seen seen;
};

static struct span no_ns;

__attribute__((format(printf, 2, 3))) static void complain(struct group_rules *r, const char *format, ...)
{
    va_list args;
    if (r->broken[0] != '\0')
        return;
    int at = snprintf(r->broken, sizeof(r->broken), "%.3f s ", (double)(r->objects->now - START) / 1000);
    va_start(args, format);
    vsnprintf(r->broken + at, sizeof(r->broken) - (size_t)at, format, args);
    va_end(args);
}

/* ---- objects ---- */

static struct span name_of(const json_t *object)
{
    return tree_string(object, "metadata.name");
}

static const char *text_of(const json_t *object, const char *map, const char *key)
{
    return json_string_value(json_object_get(tree_get(object, map), key));
}

static wall_ms time_at(const json_t *object, const char *path)
{
    wall_ms t = 0;
    struct span text = tree_string(object, path);
    return text.len != 0 && time_parse(text, &t) ? t : 0;
}

static bool has_taint(const json_t *node, const char *key)
{
    json_t *t;
    size_t i;
    json_array_foreach(tree_get(node, "spec.taints"), i, t)
        if (tree_is(t, "key", key))
            return true;
    return false;
}

static bool is_marked(const json_t *node)
{
    return node != NULL && has_taint(node, HARD);
}

static bool is_over(const json_t *pod)
{
    return tree_is(pod, "status.phase", "Succeeded") || tree_is(pod, "status.phase", "Failed");
}

static bool is_daemon(const json_t *pod)
{
    const json_t *owner = tree_controller(pod);
    return owner != NULL && tree_is(owner, "kind", "DaemonSet");
}

static bool stands_on(const json_t *pod, const json_t *node)
{
    return span_eq(tree_string(pod, "spec.nodeName"), name_of(node)) && !is_over(pod) && !is_daemon(pod);
}

static bool is_held(const struct group_rules *r, const json_t *pod)
{
    const char *app = text_of(pod, "metadata.labels", "app");
    for (const char *const *h = r->config.held; app != NULL && *h != NULL; h++)
        if (strcmp(*h, app) == 0)
            return true;
    return false;
}

static bool was_seen(const struct group_rules *r, wall_ms at)
{
    wall_ms seen = r->objects->now < r->sees + UNSEEN_MS ? r->blind : r->objects->now;
    return at <= seen - UNSEEN_MS;
}

/* ---- marks ---- */

static const struct group_bounds *bounds_of(const struct group_rules *r, const json_t *node)
{
    const char *group = text_of(node, "metadata.labels", "pool");
    for (const struct group_bounds *b = r->config.groups; group != NULL && b->name != NULL; b++)
        if (strcmp(b->name, group) == 0)
            return b;
    return NULL;
}

struct counted { /* nodes of a group, and of all */
    int nodes, marked, all_marked, all_drained;
};

static bool is_drained(const struct group_rules *r, const json_t *node)
{
    const char *key;
    json_t *pod;
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (stands_on(pod, node))
            return true;
    return false;
}

static void add_node(struct counted *c, const struct group_rules *r, const struct group_bounds *b, const json_t *node)
{
    bool marked = is_marked(node);
    c->nodes += bounds_of(r, node) == b;
    c->marked += bounds_of(r, node) == b && marked;
    c->all_marked += marked;
    c->all_drained += marked && is_drained(r, node);
}

/* `fresh` beside all others, or in the place of what stands there of its name. */
static struct counted count(const struct group_rules *r, const struct group_bounds *b, const json_t *fresh)
{
    struct counted c = {0, 0, 0, 0};
    const char *key;
    json_t *node;
    add_node(&c, r, b, fresh);
    json_object_foreach(r->objects->kinds[KIND_NODE], key, node)
        if (!span_eq(name_of(node), name_of(fresh)))
            add_node(&c, r, b, node);
    return c;
}

static void check_held(struct group_rules *r, const json_t *node)
{
    const char *key, *pinned = text_of(node, "metadata.annotations", "cluster-autoscaler.kubernetes.io/scale-down-disabled");
    json_t *pod;
    if (pinned != NULL && strcmp(pinned, "true") == 0 && was_seen(r, r->happened))
        complain(r, "held: %.*s is marked and has scale-down-disabled", SPAN_ARG(name_of(node)));
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (stands_on(pod, node) && is_held(r, pod) &&
            was_seen(r, time_at(tree_condition(pod, "PodScheduled"), "lastTransitionTime")))
            complain(r, "held: %.*s is marked under %.*s", SPAN_ARG(name_of(node)), SPAN_ARG(name_of(pod)));
}

static void check_mark(struct group_rules *r, const json_t *node)
{
    const struct group_bounds *b = bounds_of(r, node);
    struct counted c = count(r, b, node);
    bool drained = is_drained(r, node);
    r->seen.marked++;
    r->seen.with_pods += drained;
    if (b == NULL) {
        complain(r, "held: %.*s of no group is marked", SPAN_ARG(name_of(node)));
        return;
    }
    if (c.nodes - c.marked < b->min && was_seen(r, r->happened))
        complain(r, "size: %.*s is marked, and %s keeps %d of %d", SPAN_ARG(name_of(node)), b->name, c.nodes - c.marked, c.nodes);
    if (c.all_marked > r->config.marked || (drained && c.all_drained > r->config.drained))
        complain(r, "many: %.*s is marked, the %dth, the %dth with pods", SPAN_ARG(name_of(node)), c.all_marked, c.all_drained);
    check_held(r, node);
}

/* ---- nodes ---- */

static void check_bought(struct group_rules *r, const json_t *node)
{
    const struct group_bounds *b = bounds_of(r, node);
    if (b == NULL)
        return;
    struct counted c = count(r, b, node);
    r->seen.bought++;
    if (c.nodes > b->max)
        complain(r, "size: %s has %d nodes", b->name, c.nodes);
    if (c.nodes > b->min && r->objects->now > r->happened + r->config.rest)
        complain(r, "again: %.*s comes, and nothing has happened for %lld s", SPAN_ARG(name_of(node)),
                 (long long)((r->objects->now - r->happened) / MS_SECOND));
}

static void check_left(struct group_rules *r, const json_t *node)
{
    const char *key;
    json_t *pod;
    if (json_object_getn(r->lost, name_of(node).ptr, name_of(node).len) != NULL)
        return;
    r->seen.gone++;
    if (!is_marked(node) && bounds_of(r, node) != NULL && tree_condition_is(node, "Ready", "True"))
        complain(r, "node: %.*s goes without a mark", SPAN_ARG(name_of(node)));
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (stands_on(pod, node) && tree_get(pod, "metadata.deletionTimestamp") == NULL)
            complain(r, "node: %.*s goes from under %.*s", SPAN_ARG(name_of(node)), SPAN_ARG(name_of(pod)));
}

static void remember(struct group_rules *r, const json_t *node, bool marked)
{
    struct span name = name_of(node);
    if (marked)
        json_object_setn_new(r->since, name.ptr, name.len, json_integer(r->objects->now));
    else
        json_object_deln(r->since, name.ptr, name.len);
}

static void hear_node(struct group_rules *r, const json_t *old, const json_t *fresh)
{
    if (old == NULL)
        check_bought(r, fresh);
    if (fresh == NULL) {
        check_left(r, old);
        remember(r, old, false);
        return;
    }
    if (is_marked(fresh) == is_marked(old))
        return;
    remember(r, fresh, is_marked(fresh));
    if (is_marked(fresh))
        check_mark(r, fresh);
    else
        r->seen.let_go++;
}

/* ---- pods ---- */

static void check_removed(struct group_rules *r, const json_t *pod)
{
    struct span on = tree_string(pod, "spec.nodeName");
    const json_t *node = on.len != 0 ? objects_find(r->objects, KIND_NODE, no_ns, on) : NULL;
    bool evicted = tree_is(tree_condition(pod, "DisruptionTarget"), "reason", "EvictionByEvictionAPI");
    if (node == NULL || is_over(pod) || is_daemon(pod))
        return;
    r->seen.evictions += evicted;
    if (evicted && !is_marked(node))
        complain(r, "eviction: %.*s from %.*s, which is not marked", SPAN_ARG(name_of(pod)), SPAN_ARG(on));
    else if (evicted && is_held(r, pod))
        complain(r, "eviction: %.*s, whom nobody may move", SPAN_ARG(name_of(pod)));
    else if (!evicted && r->objects->writer != NULL)
        complain(r, "eviction: %.*s is deleted", SPAN_ARG(name_of(pod)));
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

static amount cpu_of(const json_t *pod)
{
    json_t *c;
    size_t i;
    amount sum = 0;
    json_array_foreach(tree_get(pod, "spec.containers"), i, c)
        sum += number_at(tree_get(c, "resources.requests.cpu"), 1000);
    return sum;
}

static void check_room(struct group_rules *r, const json_t *bound)
{
    struct span on = tree_string(bound, "spec.nodeName");
    const json_t *node = objects_find(r->objects, KIND_NODE, no_ns, on);
    const char *key;
    json_t *pod;
    amount sum = cpu_of(bound);
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (span_eq(tree_string(pod, "spec.nodeName"), on) && !is_over(pod) && !span_eq(name_of(pod), name_of(bound)))
            sum += cpu_of(pod);
    if (node == NULL || sum > number_at(tree_get(node, "status.allocatable.cpu"), 1000))
        complain(r, "room: %.*s is bound to %.*s, which has none", SPAN_ARG(name_of(bound)), SPAN_ARG(on));
}

static void check_wait(struct group_rules *r, const json_t *pod)
{
    wall_ms from = time_at(pod, "metadata.creationTimestamp");
    from = from > r->in_stock ? from : r->in_stock;
    if (!is_daemon(pod) && !r->sold_out && r->objects->now - from > r->config.wait)
        complain(r, "wait: %.*s has waited for %lld s", SPAN_ARG(name_of(pod)), (long long)((r->objects->now - from) / MS_SECOND));
}

static void hear_pod(struct group_rules *r, const json_t *old, const json_t *fresh)
{
    bool was_bound = old != NULL && tree_get(old, "spec.nodeName") != NULL;
    if (fresh != NULL && tree_get(fresh, "spec.nodeName") != NULL && !was_bound) {
        check_room(r, fresh);
        check_wait(r, fresh);
    }
    bool left = old != NULL && tree_get(old, "metadata.deletionTimestamp") != NULL;
    if (old != NULL && !left && (fresh == NULL || tree_get(fresh, "metadata.deletionTimestamp") != NULL))
        check_removed(r, fresh != NULL ? fresh : old);
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    if (k == KIND_NODE)
        hear_node(user, old, fresh);
    else if (k == KIND_POD)
        hear_pod(user, old, fresh);
}

/* ---- the whole ---- */

struct group_rules *group_rules_watch(const struct group_rules_config *config)
{
    struct group_rules *r = mem_new(sizeof(*r));
    *r = (struct group_rules){.config = *config, .objects = &sim_cluster(config->sim)->objects, .lost = json_object(),
                              .since = json_object()};
    r->happened = r->objects->now;
    objects_listen(r->objects, heard, r);
    return r;
}

void group_rules_free(struct group_rules *r)
{
    objects_unlisten(r->objects, r);
    json_decref(r->lost);
    json_decref(r->since);
    free(r);
}

void group_rules_happens(struct group_rules *r)
{
    r->happened = r->objects->now;
}

void group_rules_lost(struct group_rules *r, const char *node)
{
    json_object_set_new(r->lost, node, json_true());
    group_rules_happens(r);
}

void group_rules_blind(struct group_rules *r, wall_ms until)
{
    r->blind = r->objects->now < r->sees + UNSEEN_MS ? r->blind : r->objects->now;
    r->sees = until > r->sees ? until : r->sees;
    r->happened = r->sees;
}

void group_rules_sold_out(struct group_rules *r, bool is)
{
    r->sold_out = is;
    r->in_stock = r->objects->now;
    group_rules_happens(r);
}

const char *group_rules_broken(struct group_rules *r)
{
    const char *key;
    json_t *pod, *since;
    json_object_foreach(r->objects->kinds[KIND_POD], key, pod)
        if (tree_get(pod, "spec.nodeName") == NULL && tree_get(pod, "metadata.deletionTimestamp") == NULL)
            check_wait(r, pod);
    json_object_foreach(r->since, key, since)
        if (r->objects->now - json_integer_value(since) > r->config.end)
            complain(r, "end: %s is marked for longer than %lld s", key, (long long)(r->config.end / MS_SECOND));
    return r->broken;
}

const char *group_rules_restless(struct group_rules *r)
{
    const char *key;
    json_t *o;
    r->restless[0] = '\0';
    json_object_foreach(r->objects->kinds[KIND_NODE], key, o)
        if (is_marked(o) || json_is_true(tree_get(o, "spec.unschedulable")) || !tree_condition_is(o, "Ready", "True"))
            snprintf(r->restless, sizeof(r->restless), "node %.*s is marked or not ready", SPAN_ARG(name_of(o)));
    json_object_foreach(r->objects->kinds[KIND_POD], key, o)
        if (!is_daemon(o) && (!tree_is(o, "status.phase", "Running") || tree_get(o, "metadata.deletionTimestamp") != NULL))
            snprintf(r->restless, sizeof(r->restless), "pod %.*s does not run", SPAN_ARG(name_of(o)));
    return r->restless;
}

const struct group_rules_seen *group_rules_seen(const struct group_rules *r)
{
    return &r->seen;
}
