/* Status of PodDisruptionBudgets, which eviction takes from (spec kubernetes-contracts 4.9). */
#include "sim/standins/standin.h"

static const enum kind watched[] = {KIND_DISRUPTION_BUDGET, KIND_POD, KIND_REPLICA_SET, KIND_STATEFUL_SET, KIND_NONE};
enum { DISRUPTED_FOR_MS = 2 * MS_MINUTE }; /* an evicted pod that does not go is counted again */

struct tally {
    int64_t pods, healthy, scale; /* scale: replicas that the pods' controllers want */
};

/* "30%" of `whole`, rounded up, or the number itself. */
static int64_t share_of(const json_t *value, int64_t whole)
{
    int64_t percent;
    if (json_is_integer(value))
        return json_integer_value(value);
    struct span rest, text = json_is_string(value) ? span_of(json_string_value(value)) : SPAN("0");
    text = span_cut(text, '%', &rest);
    return span_int64(text, &percent) ? (percent * whole + 99) / 100 : 0;
}

static int64_t scale_of(const struct objects *o, const json_t *pod, json_t *seen)
{
    const json_t *owner = tree_controller(pod);
    struct span uid = tree_string(owner, "uid");
    if (uid.len == 0 || json_object_getn(seen, uid.ptr, uid.len) != NULL)
        return 0;
    json_object_setn_new(seen, uid.ptr, uid.len, json_true());
    enum kind k = tree_is(owner, "kind", "StatefulSet") ? KIND_STATEFUL_SET : KIND_REPLICA_SET;
    const json_t *set = objects_find(o, k, tree_string(pod, "metadata.namespace"), tree_string(owner, "name"));
    return tree_int(set, "spec.replicas", 0);
}

/* Entries of pods that are still there and were evicted lately; *expiry_out: when the next one ends. */
static json_t *disrupted_of(const struct objects *o, const json_t *budget, wall_ms *expiry_out)
{
    json_t *kept = json_object(), *since;
    const char *name;
    json_object_foreach(tree_get(budget, "status.disruptedPods"), name, since) {
        const json_t *pod = objects_find(o, KIND_POD, tree_string(budget, "metadata.namespace"),
                                         span_of(name));
        wall_ms at;
        if (pod == NULL || tree_get(pod, "metadata.deletionTimestamp") != NULL ||
            !time_parse(span_of(json_string_value(since)), &at) || at + DISRUPTED_FOR_MS <= o->now)
            continue;
        json_object_set(kept, name, since);
        if (at + DISRUPTED_FOR_MS < *expiry_out)
            *expiry_out = at + DISRUPTED_FOR_MS;
    }
    return kept;
}

static struct tally count(const struct budget_keeper *b, const json_t *budget, const json_t *disrupted)
{
    struct tally t = {0};
    size_t i;
    char key[OBJECTS_KEY_MAX];
    objects_key_of(key, KIND_DISRUPTION_BUDGET, budget);
    json_t *seen = json_object(), *pod;
    json_t *pods = objects_by_age(b->objects, KIND_POD, groups_keys(&b->members, span_of(key)));
    json_array_foreach(pods, i, pod) {
        t.pods++;
        t.scale += scale_of(b->objects, pod, seen);
        if (standin_pod_is_active(pod) && tree_condition_is(pod, "Ready", "True") &&
            json_object_get(disrupted, json_string_value(tree_get(pod, "metadata.name"))) == NULL)
            t.healthy++;
    }
    json_decref(pods);
    json_decref(seen);
    return t;
}

static void keep_budget(const struct budget_keeper *b, const json_t *budget, wall_ms *expiry_out)
{
    struct objects *o = b->objects;
    json_t *disrupted = disrupted_of(o, budget, expiry_out);
    struct tally t = count(b, budget, disrupted);
    const json_t *least = tree_get(budget, "spec.minAvailable");
    const json_t *most = tree_get(budget, "spec.maxUnavailable");
    int64_t expected = most != NULL || json_is_string(least) ? t.scale : t.pods;
    int64_t desired = most != NULL ? expected - share_of(most, expected) : share_of(least, expected);
    desired = desired < 0 ? 0 : desired;
    int64_t allowed = expected > 0 && t.healthy > desired ? t.healthy - desired : 0;
    json_t *fresh = json_deep_copy(budget);
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(budget, "metadata.generation", 0)));
    tree_set(fresh, "status.expectedPods", json_integer(expected));
    tree_set(fresh, "status.currentHealthy", json_integer(t.healthy));
    tree_set(fresh, "status.desiredHealthy", json_integer(desired));
    tree_set(fresh, "status.disruptionsAllowed", json_integer(allowed));
    if (json_object_size(disrupted) != 0)
        tree_set(fresh, "status.disruptedPods", json_incref(disrupted));
    else
        tree_remove(fresh, "status.disruptedPods");
    tree_condition_set(fresh, "DisruptionAllowed", allowed > 0 ? "True" : "False",
                       allowed > 0 ? "SufficientPods" : "InsufficientPods", "", o->now);
    registry_put_status(o, KIND_DISRUPTION_BUDGET, budget, fresh);
    json_decref(disrupted);
}

/* ---- what changed ---- */

static bool selects(const json_t *budget, const json_t *pod)
{
    return pod != NULL &&
           span_eq(tree_string(pod, "metadata.namespace"), tree_string(budget, "metadata.namespace")) &&
           tree_selects(tree_get(budget, "spec.selector"), tree_get(pod, "metadata.labels"));
}

static void hear_pod(struct budget_keeper *b, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    const char *name;
    json_t *budget;
    objects_key_of(key, KIND_POD, fresh != NULL ? fresh : old);
    json_object_foreach(b->objects->kinds[KIND_DISRUPTION_BUDGET], name, budget) {
        bool was = selects(budget, old), is = selects(budget, fresh);
        if (was && !is)
            groups_drop(&b->members, span_of(name), key);
        if (is && !was)
            groups_add(&b->members, span_of(name), key);
        if (was || is)
            marks_add(&b->budgets, budget);
    }
}

/* Who is selected is found anew: a selector changes seldom. */
static void hear_budget(struct budget_keeper *b, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    const char *name;
    json_t *pod;
    objects_key_of(key, KIND_DISRUPTION_BUDGET, fresh != NULL ? fresh : old);
    marks_add(&b->budgets, fresh != NULL ? fresh : old);
    if (old != NULL && fresh != NULL && json_equal(tree_get(old, "spec"), tree_get(fresh, "spec")))
        return;
    json_object_del(b->members.sets, key);
    json_object_foreach(b->objects->kinds[KIND_POD], name, pod) {
        if (fresh != NULL && selects(fresh, pod))
            groups_add(&b->members, span_of(key), name);
    }
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct budget_keeper *b = user;
    if (k == KIND_DISRUPTION_BUDGET)
        hear_budget(b, old, fresh);
    else if (k == KIND_POD)
        hear_pod(b, old, fresh);
    else if ((k == KIND_REPLICA_SET || k == KIND_STATEFUL_SET) &&
             tree_int(old, "spec.replicas", -1) != tree_int(fresh, "spec.replicas", -1))
        marks_add_keys(&b->budgets, b->objects->kinds[KIND_DISRUPTION_BUDGET]);
}

wall_ms budget_keeper_step(struct budget_keeper *b)
{
    struct objects *o = b->objects;
    json_t *budget;
    size_t i;
    bool expired = b->expiry != 0 && b->expiry <= o->now;
    if (expired)
        marks_add_keys(&b->budgets, o->kinds[KIND_DISRUPTION_BUDGET]);
    if (pacer_is_due(&b->pacer, o) || expired) {
        wall_ms expiry = b->expiry == 0 || expired ? INT64_MAX : b->expiry;
        json_t *budgets = marks_take(&b->budgets, o);
        json_array_foreach(budgets, i, budget) {
            keep_budget(b, budget, &expiry);
        }
        json_decref(budgets);
        b->expiry = expiry == INT64_MAX ? 0 : expiry;
    }
    wall_ms due = pacer_due(&b->pacer);
    return b->expiry != 0 && b->expiry < due ? b->expiry : due;
}

void budget_keeper_init(struct budget_keeper *b, struct objects *o, span_ms delay)
{
    *b = (struct budget_keeper){.objects = o, .pacer = {.kinds = watched, .delay = delay}};
    marks_init(&b->budgets, KIND_DISRUPTION_BUDGET);
    groups_init(&b->members);
    objects_listen(o, heard, b);
}

void budget_keeper_release(struct budget_keeper *b)
{
    objects_unlisten(b->objects, b);
    groups_release(&b->members);
    marks_release(&b->budgets);
}
