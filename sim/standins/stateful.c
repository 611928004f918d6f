/* StatefulSets, as kube-controller-manager keeps them. A pod has a number, and with it a name, and claims of its own that
 * outlive it; whoever has a name is waited for until he is gone before another gets it.
 *
 * One look does what one sync does: OrderedReady takes one step and waits for the pod that it concerns, Parallel makes and
 * removes all at once; a changed template replaces one pod at a time under either, the highest number first.
 *
 * A revision is a template and its name. The API keeps them as ControllerRevisions, which nothing here reads: they are
 * remembered by the stand-in, and a set that was loaded with its status has its template under the name that it gives there.
 *
 * Left out: minReadySeconds, maxUnavailable, persistentVolumeClaimRetentionPolicy (claims stay). */
#include "sim/standins/standin.h"

#include <inttypes.h>
#include <stdio.h>

static const enum kind watched[] = {KIND_STATEFUL_SET, KIND_POD, KIND_VOLUME_CLAIM, KIND_NONE};
static const char *const revision_label = "controller-revision-hash";

struct look { /* at one set */
    struct stateful *stateful;
    const json_t *set;
    int64_t start, wanted;
    bool ordered, rolls;
    int64_t partition;
    json_t *pods;      /* by number, from `start` on; null: there is none */
    json_t *condemned; /* those with other numbers, the highest first */
    char update[OBJECTS_KEY_MAX], current[OBJECTS_KEY_MAX]; /* names of revisions */
    json_t *template;  /* of `update` */
    const json_t *known; /* revision → template, as of the last look; NULL: this is the first */
};

/* ---- pods ---- */

static bool is_leaving(const json_t *pod)
{
    return tree_get(pod, "metadata.deletionTimestamp") != NULL;
}

static bool is_healthy(const json_t *pod)
{
    return standin_pod_is_active(pod) && tree_condition_is(pod, "Ready", "True");
}

static bool has_revision(const json_t *pod, const char *name)
{
    const json_t *is = json_object_get(tree_get(pod, "metadata.labels"), revision_label);
    return json_is_string(is) && strcmp(json_string_value(is), name) == 0;
}

static void pod_name(char out[OBJECTS_KEY_MAX], const json_t *set, int64_t number)
{
    snprintf(out, OBJECTS_KEY_MAX, "%.*s-%lld", SPAN_ARG(tree_string(set, "metadata.name")), (long long)number);
}

/* -1: no name that the set gives. */
static int64_t number_of(const json_t *set, const json_t *pod)
{
    char again[OBJECTS_KEY_MAX];
    int64_t number;
    struct span name = tree_string(pod, "metadata.name"), stem = tree_string(set, "metadata.name");
    if (name.len < stem.len + 2)
        return -1;
    if (!span_int64((struct span){name.ptr + stem.len + 1, name.len - stem.len - 1}, &number) || number < 0)
        return -1;
    pod_name(again, set, number);
    return span_eq(name, span_of(again)) ? number : -1;
}

static void condemn_pod(struct look *l, json_t *pod, int64_t number)
{
    size_t at = 0;
    while (at < json_array_size(l->condemned) && number_of(l->set, json_array_get(l->condemned, at)) > number)
        at++;
    json_array_insert(l->condemned, at, pod);
}

static void gather_pods(struct look *l)
{
    size_t i;
    json_t *pod;
    struct span uid = tree_string(l->set, "metadata.uid");
    json_t *all = objects_by_age(l->stateful->objects, KIND_POD, groups_keys(&l->stateful->by_set, uid));
    for (int64_t n = 0; n < l->wanted; n++)
        json_array_append_new(l->pods, json_null());
    json_array_foreach(all, i, pod) {
        int64_t number = number_of(l->set, pod);
        if (number >= l->start && number - l->start < l->wanted)
            json_array_set(l->pods, (size_t)(number - l->start), pod);
        else if (number >= 0)
            condemn_pod(l, pod, number);
    }
    json_decref(all);
}

/* ---- revisions ---- */

static void name_update(struct look *l)
{
    char hash[STANDIN_HASH_MAX];
    const char *name;
    json_t *template;
    struct span told = tree_string(l->set, "status.updateRevision");
    bool told_of_it = l->known == NULL && told.len != 0 &&
                      tree_int(l->set, "status.observedGeneration", 0) == tree_int(l->set, "metadata.generation", 0);
    standin_template_hash(l->template, hash);
    if (told_of_it)
        snprintf(l->update, sizeof l->update, "%.*s", SPAN_ARG(told));
    else
        snprintf(l->update, sizeof l->update, "%.*s-%s", SPAN_ARG(tree_string(l->set, "metadata.name")), hash);
    json_object_foreach((json_t *)(uintptr_t)l->known, name, template) {
        if (json_equal(template, l->template))
            snprintf(l->update, sizeof l->update, "%s", name);
    }
}

static void remember(const struct look *l)
{
    struct span uid = tree_string(l->set, "metadata.uid");
    json_t *fresh = json_object(), *old = json_object_get(l->known, l->current);
    if (old != NULL)
        json_object_set(fresh, l->current, old);
    json_object_set(fresh, l->update, l->template);
    json_object_setn_new(l->stateful->revisions, uid.ptr, uid.len, fresh);
}

static struct look look_at(struct stateful *s, const json_t *set)
{
    struct span uid = tree_string(set, "metadata.uid"), current = tree_string(set, "status.currentRevision");
    struct look l = {
        .stateful = s,
        .set = set,
        .start = tree_int(set, "spec.ordinals.start", 0),
        .wanted = tree_int(set, "spec.replicas", 1),
        .ordered = !tree_is(set, "spec.podManagementPolicy", "Parallel"),
        .rolls = !tree_is(set, "spec.updateStrategy.type", "OnDelete"),
        .partition = tree_int(set, "spec.updateStrategy.rollingUpdate.partition", 0),
        .pods = json_array(),
        .condemned = json_array(),
        .template = json_deep_copy(tree_get(set, "spec.template")),
        .known = json_object_getn(s->revisions, uid.ptr, uid.len),
    };
    tree_remove(l.template, "metadata.creationTimestamp");
    name_update(&l);
    snprintf(l.current, sizeof l.current, "%.*s", SPAN_ARG(current.len != 0 ? current : span_of(l.update)));
    gather_pods(&l);
    return l;
}

/* ---- a new pod ---- */

static json_t *claim_of(const struct look *l, const json_t *template, const char *name)
{
    const char *key;
    json_t *value, *claim = json_deep_copy(template), *labels;
    tree_set(claim, "apiVersion", json_string("v1"));
    tree_set(claim, "kind", json_string("PersistentVolumeClaim"));
    tree_set(claim, "metadata.name", json_string(name));
    tree_remove(claim, "metadata.namespace");
    tree_remove(claim, "metadata.creationTimestamp");
    labels = tree_get(claim, "metadata.labels");
    labels = labels != NULL ? json_deep_copy(labels) : json_object();
    json_object_foreach(tree_get(l->set, "spec.selector.matchLabels"), key, value) {
        json_object_set(labels, key, value);
    }
    tree_set(claim, "metadata.labels", labels);
    return claim;
}

/* False: one that is still leaving has the name. */
static bool ensure_claim(const struct look *l, const json_t *template, const char *name)
{
    struct objects *o = l->stateful->objects;
    struct span ns = tree_string(l->set, "metadata.namespace");
    const json_t *claim = objects_find(o, KIND_VOLUME_CLAIM, ns, span_of(name));
    if (claim != NULL)
        return tree_get(claim, "metadata.deletionTimestamp") == NULL;
    return standin_create(o, KIND_VOLUME_CLAIM, ns, claim_of(l, template, name));
}

/* In place of a volume of that name, as the controller has it. */
static void mount(json_t *pod, const json_t *template, const char *claim)
{
    size_t i;
    json_t *volume, *volumes = tree_get(pod, "spec.volumes"), *name = tree_get(template, "metadata.name");
    if (volumes == NULL) {
        volumes = json_array();
        tree_set(pod, "spec.volumes", volumes);
    }
    json_array_foreach(volumes, i, volume) {
        if (json_equal(tree_get(volume, "name"), name)) {
            json_array_remove(volumes, i);
            break;
        }
    }
    json_array_append_new(volumes, json_pack("{s:O, s:{s:s}}", "name", name, "persistentVolumeClaim", "claimName", claim));
}

static bool add_claims(const struct look *l, json_t *pod, const char *name)
{
    size_t i;
    json_t *template;
    bool all = true;
    json_array_foreach(tree_get(l->set, "spec.volumeClaimTemplates"), i, template) {
        char claim[2 * OBJECTS_KEY_MAX];
        snprintf(claim, sizeof claim, "%.*s-%s", SPAN_ARG(tree_string(template, "metadata.name")), name);
        all &= ensure_claim(l, template, claim);
        mount(pod, template, claim);
    }
    return all;
}

/* Below the partition it is made anew as it was. */
static json_t *pod_of(const struct look *l, int64_t at, const char *name)
{
    char index[24];
    const json_t *old = l->rolls && at < l->partition ? json_object_get(l->known, l->current) : NULL;
    json_t *set = json_deep_copy(l->set), *labels;
    tree_set(set, "spec.template", json_deep_copy(old != NULL ? old : l->template));
    json_t *pod = standin_pod_of(set, KIND_STATEFUL_SET);
    json_decref(set);
    tree_set(pod, "metadata.name", json_string(name));
    tree_set(pod, "spec.hostname", json_string(name));
    if (tree_get(l->set, "spec.serviceName") != NULL)
        tree_set(pod, "spec.subdomain", json_deep_copy(tree_get(l->set, "spec.serviceName")));
    labels = tree_get(pod, "metadata.labels");
    if (labels == NULL) {
        labels = json_object();
        tree_set(pod, "metadata.labels", labels);
    }
    snprintf(index, sizeof index, "%" PRId64, l->start + at);
    json_object_set_new(labels, revision_label, json_string(old != NULL ? l->current : l->update));
    json_object_set_new(labels, "statefulset.kubernetes.io/pod-name", json_string(name));
    json_object_set_new(labels, "apps.kubernetes.io/pod-index", json_string(index));
    return pod;
}

static void create_pod(const struct look *l, int64_t at)
{
    char name[OBJECTS_KEY_MAX];
    pod_name(name, l->set, l->start + at);
    json_t *pod = pod_of(l, at, name);
    bool ok = add_claims(l, pod, name);
    if (!ok)
        json_decref(pod);
    else
        ok = standin_create(l->stateful->objects, KIND_POD, tree_string(l->set, "metadata.namespace"), pod);
    if (!ok)
        marks_add(&l->stateful->sets, l->set); /* once more at the next look */
}

/* ---- what one look does ---- */

static void remove_pod(const struct look *l, const json_t *pod)
{
    standin_delete(l->stateful->objects, KIND_POD, pod, NULL);
}

/* False: a pod has to be there, and ready, before anything else is done. */
static bool fill(const struct look *l)
{
    size_t i;
    json_t *pod;
    json_array_foreach(l->pods, i, pod) {
        bool is_over = !json_is_null(pod) && !is_leaving(pod) && !standin_pod_is_active(pod);
        if (json_is_null(pod))
            create_pod(l, (int64_t)i);
        else if (is_over)
            remove_pod(l, pod);
        if (l->ordered && !is_healthy(pod))
            return false;
    }
    return true;
}

/* Of several that are not ready the one with the lowest number may go; NULL: all are. */
static const json_t *first_unhealthy(const struct look *l)
{
    size_t i;
    json_t *pod;
    const json_t *found = NULL;
    json_array_foreach(l->condemned, i, pod) {
        if (!is_healthy(pod))
            found = pod;
    }
    return found;
}

static bool condemn(const struct look *l)
{
    size_t i;
    json_t *pod;
    const json_t *unhealthy = first_unhealthy(l);
    json_array_foreach(l->condemned, i, pod) {
        bool waits = is_leaving(pod) || (!is_healthy(pod) && pod != unhealthy);
        if (!is_leaving(pod) && !(l->ordered && waits))
            remove_pod(l, pod);
        if (l->ordered)
            return false;
    }
    return true;
}

static void roll(const struct look *l)
{
    for (int64_t at = l->wanted - 1; l->rolls && at >= l->partition; at--) {
        const json_t *pod = json_array_get(l->pods, (size_t)at);
        if (!json_is_null(pod) && !is_leaving(pod) && !has_revision(pod, l->update)) {
            remove_pod(l, pod);
            return;
        }
        if (!is_healthy(pod))
            return;
    }
}

/* ---- status ---- */

struct census {
    int64_t there, ready, current, updated;
};

static void count(struct census *c, const struct look *l, const json_t *pods)
{
    size_t i;
    json_t *pod;
    json_array_foreach((json_t *)(uintptr_t)pods, i, pod) {
        c->there += !json_is_null(pod);
        c->ready += is_healthy(pod);
        c->current += !is_leaving(pod) && has_revision(pod, l->current);
        c->updated += !is_leaving(pod) && has_revision(pod, l->update);
    }
}

static void report(const struct look *l)
{
    struct census c = {0};
    count(&c, l, l->pods);
    count(&c, l, l->condemned);
    bool complete = l->rolls && c.there == l->wanted && c.ready == l->wanted && c.updated == l->wanted;
    json_t *fresh = json_deep_copy(l->set);
    tree_set(fresh, "status.observedGeneration", json_integer(tree_int(l->set, "metadata.generation", 0)));
    tree_set(fresh, "status.replicas", json_integer(c.there));
    tree_set(fresh, "status.readyReplicas", json_integer(c.ready));
    tree_set(fresh, "status.availableReplicas", json_integer(c.ready));
    tree_set(fresh, "status.currentReplicas", json_integer(complete ? c.updated : c.current));
    tree_set(fresh, "status.updatedReplicas", json_integer(c.updated));
    tree_set(fresh, "status.currentRevision", json_string(complete ? l->update : l->current));
    tree_set(fresh, "status.updateRevision", json_string(l->update));
    registry_put_status(l->stateful->objects, KIND_STATEFUL_SET, l->set, fresh);
}

static void keep_set(struct stateful *s, const json_t *set)
{
    if (tree_get(set, "metadata.deletionTimestamp") != NULL)
        return;
    struct look l = look_at(s, set);
    if (fill(&l) && condemn(&l))
        roll(&l);
    remember(&l);
    report(&l);
    json_decref(l.pods);
    json_decref(l.condemned);
    json_decref(l.template);
}

/* ---- what changed ---- */

static const json_t *set_of(const json_t *pod)
{
    const json_t *owner = tree_controller(pod);
    return tree_is(owner, "kind", "StatefulSet") ? owner : NULL;
}

static void hear_pod(struct stateful *s, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    const json_t *pod = fresh != NULL ? fresh : old, *was = set_of(old), *is = set_of(fresh);
    objects_key_of(key, KIND_POD, pod);
    groups_move(&s->by_set, key, tree_string(was, "uid"), tree_string(is, "uid"));
    if (was != NULL)
        marks_add_named(&s->sets, tree_string(pod, "metadata.namespace"), tree_string(was, "name"));
    if (is != NULL)
        marks_add_named(&s->sets, tree_string(pod, "metadata.namespace"), tree_string(is, "name"));
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct stateful *s = user;
    struct span uid = tree_string(old, "metadata.uid");
    if (k == KIND_STATEFUL_SET)
        marks_add(&s->sets, fresh != NULL ? fresh : old);
    if (k == KIND_STATEFUL_SET && fresh == NULL && uid.len != 0)
        json_object_deln(s->revisions, uid.ptr, uid.len);
    if (k == KIND_POD)
        hear_pod(s, old, fresh);
}

wall_ms stateful_step(struct stateful *s)
{
    json_t *set;
    size_t i;
    if (!pacer_is_due(&s->pacer, s->objects))
        return pacer_due(&s->pacer);
    json_t *sets = marks_take(&s->sets, s->objects);
    json_array_foreach(sets, i, set) {
        keep_set(s, set);
    }
    json_decref(sets);
    return pacer_due(&s->pacer);
}

void stateful_init(struct stateful *s, struct objects *o, span_ms delay)
{
    *s = (struct stateful){.objects = o, .pacer = {.kinds = watched, .delay = delay}, .revisions = json_object()};
    marks_init(&s->sets, KIND_STATEFUL_SET);
    groups_init(&s->by_set);
    objects_listen(o, heard, s);
}

void stateful_release(struct stateful *s)
{
    objects_unlisten(s->objects, s);
    groups_release(&s->by_set);
    marks_release(&s->sets);
    json_decref(s->revisions);
}
