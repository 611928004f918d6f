/* Deployments and ReplicaSets. A changed template is rolled out as the Deployment controller does it: the new ReplicaSet grows
 * as far as maxSurge lets it, the old ones shrink as far as maxUnavailable lets them, and both go on as pods become ready.
 *
 * Left out: minReadySeconds, progressDeadlineSeconds, paused, and the shares in which several ReplicaSets are scaled at once (a
 * Deployment that is scaled amid a rollout grows by its new one). */
#include "sim/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum kind watched[] = {KIND_DEPLOYMENT, KIND_REPLICA_SET, KIND_POD, KIND_NONE};

/* ---- Deployments ---- */

/* The template without the label that the Deployment controller adds. */
static json_t *plain_template(const json_t *owner)
{
    json_t *template = json_deep_copy(tree_get(owner, "spec.template"));
    json_object_del(tree_get(template, "metadata.labels"), "pod-template-hash");
    tree_remove(template, "metadata.creationTimestamp");
    return template;
}

static json_t *replica_set_of(const json_t *deployment, json_t *template, int64_t replicas)
{
    char hash[STANDIN_HASH_MAX], name[OBJECTS_KEY_MAX];
    standin_template_hash(template, hash);
    snprintf(name, sizeof name, "%.*s-%s", SPAN_ARG(tree_string(deployment, "metadata.name")), hash);
    json_t *set = json_pack("{s:s, s:s}", "apiVersion", "apps/v1", "kind", "ReplicaSet");
    tree_set(set, "metadata.name", json_string(name));
    tree_set(set, "metadata.ownerReferences",
             json_pack("[{s:s, s:s, s:O, s:O, s:b, s:b}]", "apiVersion", "apps/v1", "kind",
                       "Deployment", "name", tree_get(deployment, "metadata.name"), "uid",
                       tree_get(deployment, "metadata.uid"), "controller", 1, "blockOwnerDeletion",
                       1));
    tree_set(set, "spec.replicas", json_integer(replicas));
    json_t *selector = tree_get(deployment, "spec.selector");
    tree_set(set, "spec.selector", selector != NULL ? json_deep_copy(selector) : json_object());
    tree_set(set, "spec.template", json_deep_copy(template));
    json_t *labels = tree_get(set, "spec.template.metadata.labels");
    if (labels == NULL) {
        labels = json_object();
        tree_set(set, "spec.template.metadata.labels", labels);
    }
    json_object_set_new(labels, "pod-template-hash", json_string(hash));
    tree_set(set, "spec.selector.matchLabels.pod-template-hash", json_string(hash));
    tree_set(set, "metadata.labels", json_deep_copy(labels));
    return set;
}

/* ---- a rollout ---- */

struct rollout { /* of one Deployment, at one look; sets as they are now */
    struct objects *objects;
    json_t *fresh;   /* the ReplicaSet that has its template */
    json_t *old;     /* the others, the oldest first */
    int64_t wanted;  /* pods */
    int64_t surge, unavailable;
    bool recreates; /* all old pods go before the first new one comes */
};

static int64_t replicas_of(const json_t *set)
{
    return tree_int(set, "spec.replicas", 1);
}

static int64_t available_of(const json_t *set)
{
    return tree_int(set, "status.availableReplicas", 0);
}

static json_t *scale(struct objects *o, json_t *set, int64_t replicas)
{
    if (replicas_of(set) == replicas)
        return set;
    json_t *fresh = json_deep_copy(set);
    tree_set(fresh, "spec.replicas", json_integer(replicas));
    standin_update(o, KIND_REPLICA_SET, set, fresh);
    return objects_find(o, KIND_REPLICA_SET, tree_string(set, "metadata.namespace"), tree_string(set, "metadata.name"));
}

/* "25%" of so many, rounded up or down, or a number; absent: a quarter, as Kubernetes has it. */
static int64_t share_of(const json_t *value, int64_t all, bool up)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    const char *text = json_is_string(value) ? json_string_value(value) : "25%";
    return (strtoll(text, NULL, 10) * all + (up ? 99 : 0)) / 100;
}

static void read_strategy(struct rollout *r, const json_t *deployment)
{
    r->recreates = tree_is(deployment, "spec.strategy.type", "Recreate");
    r->wanted = tree_int(deployment, "spec.replicas", 1);
    r->surge = share_of(tree_get(deployment, "spec.strategy.rollingUpdate.maxSurge"), r->wanted, true);
    r->unavailable = share_of(tree_get(deployment, "spec.strategy.rollingUpdate.maxUnavailable"), r->wanted, false);
    if (r->surge == 0 && r->unavailable == 0)
        r->unavailable = 1; /* or it would never begin */
    if (r->unavailable > r->wanted)
        r->unavailable = r->wanted;
}

static int64_t sum_of_old(const struct rollout *r, int64_t (*what)(const json_t *set))
{
    size_t i;
    json_t *set;
    int64_t sum = 0;
    json_array_foreach(r->old, i, set) {
        sum += what(set);
    }
    return sum;
}

/* How many pods the new ReplicaSet, which is to have `has`, may have now. */
static int64_t grown(const struct rollout *r, int64_t has)
{
    int64_t room = r->wanted + r->surge - has - sum_of_old(r, replicas_of);
    int64_t more = r->wanted - has < room ? r->wanted - has : room;
    return has > r->wanted ? r->wanted : more > 0 ? has + more : has;
}

/* Takes as many as `most` off the old ones, the oldest first, of each no more than `some_of` says; returns how many. */
static int64_t take_off(struct rollout *r, int64_t most, int64_t (*some_of)(const json_t *set))
{
    int64_t taken = 0;
    for (size_t i = 0; i < json_array_size(r->old) && taken < most; i++) {
        json_t *set = json_array_get(r->old, i);
        int64_t n = some_of(set);
        n = n < most - taken ? n : most - taken;
        if (n <= 0)
            continue;
        json_array_set(r->old, i, scale(r->objects, set, replicas_of(set) - n));
        taken += n;
    }
    return taken;
}

static int64_t not_available_of(const json_t *set)
{
    return replicas_of(set) - available_of(set);
}

/* Pods that do not run give way first; those that do go only while enough others are left. */
static void shrink(struct rollout *r)
{
    int64_t least = r->wanted - r->unavailable;
    int64_t most = replicas_of(r->fresh) + sum_of_old(r, replicas_of) - least - not_available_of(r->fresh);
    most -= take_off(r, most, not_available_of);
    int64_t spare = available_of(r->fresh) + sum_of_old(r, available_of) - least;
    take_off(r, most < spare ? most : spare, replicas_of);
}

static int64_t pods_there(const json_t *set)
{
    return tree_int(set, "status.replicas", 0);
}

static bool create_set(struct rollout *r, const json_t *deployment, json_t *template)
{
    int64_t replicas = !r->recreates ? grown(r, 0) : sum_of_old(r, pods_there) == 0 ? r->wanted : 0;
    return standin_create(r->objects, KIND_REPLICA_SET, tree_string(deployment, "metadata.namespace"),
                          replica_set_of(deployment, template, replicas));
}

static void roll(struct rollout *r)
{
    if (r->recreates) {
        take_off(r, INT64_MAX, replicas_of);
        if (sum_of_old(r, pods_there) == 0)
            scale(r->objects, r->fresh, r->wanted);
        return;
    }
    r->fresh = scale(r->objects, r->fresh, grown(r, replicas_of(r->fresh)));
    shrink(r);
}

/* Old ReplicaSets without pods, but for so many of the newest that it could be rolled back to. */
static void forget_old(const struct rollout *r, const json_t *deployment)
{
    size_t i;
    json_t *set;
    int64_t excess = (int64_t)json_array_size(r->old) - tree_int(deployment, "spec.revisionHistoryLimit", 10);
    json_array_foreach(r->old, i, set) {
        if (excess-- <= 0)
            return;
        if (replicas_of(set) == 0 && pods_there(set) == 0)
            standin_delete(r->objects, KIND_REPLICA_SET, set, NULL);
    }
}

/* Its ReplicaSets, the oldest first, as a new array. */
static json_t *sets_of(const struct workloads *w, const json_t *deployment)
{
    return objects_by_age(w->objects, KIND_REPLICA_SET, groups_keys(&w->by_deployment, tree_string(deployment, "metadata.uid")));
}

/* The one that has this template is taken out of its ReplicaSets; NULL: there is none. */
static json_t *take_current(json_t *sets, const json_t *template)
{
    size_t i;
    json_t *set;
    json_array_foreach(sets, i, set) {
        json_t *its = plain_template(set);
        bool same = json_equal(its, template);
        json_decref(its);
        if (same) {
            json_array_remove(sets, i); /* the cluster still has it */
            return set;
        }
    }
    return NULL;
}

static void report_deployment(const struct workloads *w, const json_t *deployment)
{
    int64_t replicas = 0, ready = 0;
    size_t i;
    json_t *set, *sets = sets_of(w, deployment), *fresh = json_deep_copy(deployment);
    json_array_foreach(sets, i, set) {
        replicas += tree_int(set, "status.replicas", 0);
        ready += tree_int(set, "status.readyReplicas", 0);
    }
    json_decref(sets);
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(deployment, "metadata.generation", 0)));
    tree_set(fresh, "status.replicas", json_integer(replicas));
    tree_set(fresh, "status.readyReplicas", json_integer(ready));
    tree_set(fresh, "status.availableReplicas", json_integer(ready));
    registry_put_status(w->objects, KIND_DEPLOYMENT, deployment, fresh);
}

static void keep_deployment(struct workloads *w, const json_t *deployment)
{
    if (tree_get(deployment, "metadata.deletionTimestamp") != NULL)
        return;
    json_t *template = plain_template(deployment);
    struct rollout r = {.objects = w->objects, .old = sets_of(w, deployment)};
    r.fresh = take_current(r.old, template);
    read_strategy(&r, deployment);
    if (r.fresh != NULL) {
        roll(&r);
        forget_old(&r, deployment);
    } else if (!create_set(&r, deployment, template)) {
        marks_add(&w->deployments, deployment); /* once more at the next look */
    }
    json_decref(r.old);
    json_decref(template);
    report_deployment(w, deployment);
}

/* ---- ReplicaSets ---- */

/* The active pods of a controller, oldest first. */
static json_t *pods_of(const struct workloads *w, const json_t *controller)
{
    size_t i;
    json_t *pod, *active = json_array();
    json_t *all = objects_by_age(w->objects, KIND_POD,
                                 groups_keys(&w->by_controller, tree_string(controller, "metadata.uid")));
    json_array_foreach(all, i, pod) {
        if (standin_pod_is_active(pod))
            json_array_append(active, pod);
    }
    json_decref(all);
    return active;
}

/* What its annotation says, between nothing and all that is an int32; 0: it says nothing, or no such number. */
static int64_t deletion_cost(const json_t *pod)
{
    int64_t value;
    const json_t *text = json_object_get(tree_get(pod, "metadata.annotations"), "controller.kubernetes.io/pod-deletion-cost");
    bool is = json_is_string(text) && span_int64(span_of(json_string_value(text)), &value) && value >= INT32_MIN && value <= INT32_MAX;
    return is ? value : 0;
}

/* Which pod goes first when there are too many: the less it is, the sooner. Who is not bound goes before who is not ready, and
 * among who is ready the annotation says it, as in Kubernetes. */
static int64_t worth(const json_t *pod)
{
    if (tree_string(pod, "spec.nodeName").len == 0)
        return INT64_MIN;
    return deletion_cost(pod) + (tree_condition_is(pod, "Ready", "True") ? 0 : INT64_MIN / 2);
}

static void drop_pods(struct objects *o, json_t *pods, size_t count)
{
    int64_t *worths = mem_array(json_array_size(pods), sizeof(*worths));
    size_t i, left = json_array_size(pods);
    json_t *pod;
    json_array_foreach(pods, i, pod) {
        worths[i] = worth(pod);
    }
    for (; count > 0; count--, left--) {
        size_t chosen = 0;
        for (i = 0; i < left; i++)
            if (worths[i] <= worths[chosen])
                chosen = i; /* among equals the newest */
        standin_delete(o, KIND_POD, json_array_get(pods, chosen), NULL);
        json_array_remove(pods, chosen);
        memmove(&worths[chosen], &worths[chosen + 1], (left - chosen - 1) * sizeof(*worths));
    }
    free(worths);
}

static void report_set(struct objects *o, const json_t *set, int64_t pods, int64_t ready)
{
    json_t *fresh = json_deep_copy(set);
    tree_set(fresh, "status.replicas", json_integer(pods));
    tree_set(fresh, "status.readyReplicas", json_integer(ready));
    tree_set(fresh, "status.availableReplicas", json_integer(ready));
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(set, "metadata.generation", 0)));
    registry_put_status(o, KIND_REPLICA_SET, set, fresh);
}

/* Of pods that are made here the next look tells: they are marked as they come. */
static void keep_replica_set(struct workloads *w, const json_t *set)
{
    struct objects *o = w->objects;
    if (tree_get(set, "metadata.deletionTimestamp") != NULL)
        return;
    struct span uid = tree_string(set, "metadata.uid");
    int64_t want = tree_int(set, "spec.replicas", 1);
    int64_t have = counts_get(&w->active, uid), ready = counts_get(&w->ready, uid);
    for (int64_t i = have; i < want; i++)
        if (!standin_create(o, KIND_POD, tree_string(set, "metadata.namespace"),
                            standin_pod_of(set, KIND_REPLICA_SET)))
            marks_add(&w->sets, set); /* once more at the next look */
    if (have > want) {
        json_t *pods = pods_of(w, set);
        drop_pods(o, pods, (size_t)(have - want));
        json_decref(pods);
        have = want;
        ready = counts_get(&w->ready, uid);
    }
    report_set(o, set, have, ready);
}

/* ---- what changed ---- */

static void mark_owners(struct marks *m, const json_t *object)
{
    size_t i;
    json_t *owner;
    json_array_foreach(tree_get(object, "metadata.ownerReferences"), i, owner) {
        if (tree_is(owner, "kind", kind_info(m->kind)->name))
            marks_add_named(m, tree_string(object, "metadata.namespace"), tree_string(owner, "name"));
    }
}

static void count_pod(struct workloads *w, const json_t *pod, int64_t more)
{
    struct span uid = tree_string(tree_controller(pod), "uid");
    if (uid.len == 0 || !standin_pod_is_active(pod))
        return;
    counts_add(&w->active, uid, more);
    if (tree_condition_is(pod, "Ready", "True"))
        counts_add(&w->ready, uid, more);
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    struct workloads *w = user;
    const json_t *object = fresh != NULL ? fresh : old;
    if (k == KIND_DEPLOYMENT) {
        marks_add(&w->deployments, object);
    } else if (k == KIND_REPLICA_SET) {
        marks_add(&w->sets, object);
        objects_key_of(key, k, object);
        groups_move(&w->by_deployment, key, tree_string(tree_controller(old), "uid"),
                    tree_string(tree_controller(fresh), "uid"));
        mark_owners(&w->deployments, old);
        mark_owners(&w->deployments, fresh);
    } else if (k == KIND_POD) {
        objects_key_of(key, k, object);
        groups_move(&w->by_controller, key, tree_string(tree_controller(old), "uid"),
                    tree_string(tree_controller(fresh), "uid"));
        count_pod(w, fresh, 1);
        count_pod(w, old, -1);
        mark_owners(&w->sets, old);
        mark_owners(&w->sets, fresh);
    }
}

wall_ms workloads_step(struct workloads *w)
{
    size_t i;
    json_t *object, *list;
    if (!pacer_is_due(&w->pacer, w->objects))
        return pacer_due(&w->pacer);
    list = marks_take(&w->deployments, w->objects);
    json_array_foreach(list, i, object) {
        keep_deployment(w, object);
    }
    json_decref(list);
    list = marks_take(&w->sets, w->objects);
    json_array_foreach(list, i, object) {
        keep_replica_set(w, object);
    }
    json_decref(list);
    return pacer_due(&w->pacer);
}

void workloads_init(struct workloads *w, struct objects *o, span_ms delay)
{
    *w = (struct workloads){.objects = o, .pacer = {.kinds = watched, .delay = delay}};
    marks_init(&w->deployments, KIND_DEPLOYMENT);
    marks_init(&w->sets, KIND_REPLICA_SET);
    groups_init(&w->by_controller);
    groups_init(&w->by_deployment);
    counts_init(&w->active);
    counts_init(&w->ready);
    objects_listen(o, heard, w);
}

void workloads_release(struct workloads *w)
{
    objects_unlisten(w->objects, w);
    groups_release(&w->by_controller);
    groups_release(&w->by_deployment);
    counts_release(&w->active);
    counts_release(&w->ready);
    marks_release(&w->deployments);
    marks_release(&w->sets);
}
