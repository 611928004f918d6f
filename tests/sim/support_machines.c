#include "tests/sim/support_machines.h"

#include <stdio.h>
#include <string.h>

static bool write(struct machine_keeper *k, enum api_verb verb, enum kind kind, const json_t *of, const char *subresource,
                  json_t *body /* taken; NULL: none */)
{
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = verb, .kind = kind, .ns = tree_string(of, "metadata.namespace"),
                            .name = tree_string(of, "metadata.name"), .subresource = span_of(subresource)};
    if (kind == KIND_NODE)
        r.ns = (struct span){NULL, 0};
    if (verb == API_CREATE)
        r.name = (struct span){NULL, 0};
    if (body != NULL)
        r.body = tree_text(&a, body);
    struct sim_answer answer = sim_cluster_do(sim_cluster(k->sim), &a, &r);
    if (answer.status >= 300 && answer.status != 404)
        fail_msg("the controllers' write is refused: %.*s", SPAN_ARG(answer.body));
    json_decref(body);
    arena_release(&a);
    return answer.status < 300;
}

static bool is_of(const json_t *machine, const json_t *set)
{
    return tree_owned_by(machine, tree_string(set, "metadata.uid"));
}

static bool is_going(const json_t *object)
{
    return tree_get(object, "metadata.deletionTimestamp") != NULL;
}

static json_t *owner_of(const json_t *owner)
{
    return json_pack("[{s:O, s:O, s:O, s:O, s:b}]", "apiVersion", tree_get(owner, "apiVersion"), "kind", tree_get(owner, "kind"),
                     "name", tree_get(owner, "metadata.name"), "uid", tree_get(owner, "metadata.uid"), "controller", 1);
}

/* ---- MachineDeployments ---- */

static void keep_set(struct machine_keeper *k, const json_t *deployment)
{
    json_t *sets = objects_of(k->sim, KIND_MACHINE_SET), *set;
    size_t i;
    const json_t *own = NULL;
    json_array_foreach(sets, i, set) {
        if (is_of(set, deployment))
            own = set;
    }
    if (own == NULL) {
        char name[128];
        json_t *annotations = tree_get(deployment, "metadata.annotations") != NULL
                                  ? json_deep_copy(tree_get(deployment, "metadata.annotations"))
                                  : json_object(); /* as Cluster API's copies them */
        json_object_set_new(annotations, "machinedeployment.clusters.x-k8s.io/revision", json_string("1"));
        snprintf(name, sizeof(name), "%s-1", json_string_value(tree_get(deployment, "metadata.name")));
        json_t *fresh = json_pack(
            "{s:O, s:s, s:{s:s, s:O, s:o, s:{s:O}, s:o}, s:O}", "apiVersion", tree_get(deployment, "apiVersion"), "kind",
            "MachineSet", "metadata", "name", name, "namespace", tree_get(deployment, "metadata.namespace"), "ownerReferences",
            owner_of(deployment), "labels", "cluster.x-k8s.io/deployment-name", tree_get(deployment, "metadata.name"),
            "annotations", annotations, "spec", tree_get(deployment, "spec"));
        json_t *at = json_pack("{s:{s:O}}", "metadata", "namespace", tree_get(deployment, "metadata.namespace"));
        write(k, API_CREATE, KIND_MACHINE_SET, at, NULL, fresh);
        json_decref(at);
    } else if (tree_int(own, "spec.replicas", 0) != tree_int(deployment, "spec.replicas", 0)) {
        write(k, API_MERGE, KIND_MACHINE_SET, own, NULL,
              json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t)tree_int(deployment, "spec.replicas", 0)));
    }
    json_decref(sets);
}

/* ---- MachineSets ---- */

static int worth(const json_t *machine)
{
    if (json_object_get(tree_get(machine, "metadata.annotations"), "cluster.x-k8s.io/delete-machine") != NULL)
        return 0;
    return tree_get(machine, "status.nodeRef") == NULL ? 1 : 2;
}

static const json_t *to_end(const json_t *machines, const json_t *set)
{
    const json_t *out = NULL;
    size_t i;
    json_t *m;
    json_array_foreach(machines, i, m) {
        if (is_of(m, set) && !is_going(m) && (out == NULL || worth(m) <= worth(out)))
            out = m;
    }
    return out;
}

static void add_machine(struct machine_keeper *k, const json_t *set)
{
    char name[128];
    snprintf(name, sizeof(name), "%s-m%u", json_string_value(tree_get(set, "metadata.name")), k->names++);
    json_t *fresh = json_pack("{s:O, s:s, s:{s:s, s:O, s:o, s:[s]}, s:{s:O?}}", "apiVersion", tree_get(set, "apiVersion"), "kind",
                              "Machine", "metadata", "name", name, "namespace", tree_get(set, "metadata.namespace"),
                              "ownerReferences", owner_of(set), "finalizers", "machine.cluster.x-k8s.io", "spec", "clusterName",
                              tree_get(set, "spec.clusterName"));
    if (tree_get(set, "spec.template.metadata.labels") != NULL)
        tree_set(fresh, "metadata.labels", json_deep_copy(tree_get(set, "spec.template.metadata.labels")));
    json_t *at = json_pack("{s:{s:O}}", "metadata", "namespace", tree_get(set, "metadata.namespace"));
    write(k, API_CREATE, KIND_MACHINE, at, NULL, fresh);
    json_decref(at);
}

static void keep_machines(struct machine_keeper *k, const json_t *set)
{
    json_t *machines = objects_of(k->sim, KIND_MACHINE), *m;
    int64_t there = 0, wanted = tree_int(set, "spec.replicas", 0);
    size_t i;
    json_array_foreach(machines, i, m) {
        there += is_of(m, set) && !is_going(m);
    }
    for (; there < wanted; there++)
        add_machine(k, set);
    for (; there > wanted; there--) {
        const json_t *end = to_end(machines, set);
        json_array_append(k->ended, tree_get(end, "metadata.name"));
        write(k, API_DELETE, KIND_MACHINE, end, NULL, NULL);
        json_decref(machines);
        machines = objects_of(k->sim, KIND_MACHINE);
    }
    json_decref(machines);
}

/* ---- Machines ---- */

static void add_node(struct machine_keeper *k, const char *name, const char *id)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"providerID\":\"%s\"},\"status\":"
             "{\"capacity\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"},\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\","
             "\"pods\":\"110\"}}}",
             name, id);
    json_t *node = tree_parse(span_of(text));
    write(k, API_CREATE, KIND_NODE, node, NULL, json_incref(node));
    json_decref(node);
}

static void drop_node(struct machine_keeper *k, const char *name)
{
    json_t *node = json_pack("{s:{s:s}}", "metadata", "name", name);
    write(k, API_DELETE, KIND_NODE, node, NULL, NULL);
    json_decref(node);
}

static void keep_machine(struct machine_keeper *k, const json_t *m)
{
    const char *name = json_string_value(tree_get(m, "metadata.name"));
    char id[256];
    if (is_going(m)) {
        if (k->lingers)
            return;
        drop_node(k, name);
        write(k, API_MERGE, KIND_MACHINE, m, NULL, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
        return;
    }
    if (tree_get(m, "status.phase") != NULL || k->holds)
        return;
    if (k->fails) {
        json_t *status = json_pack("{s:{s:s, s:s}}", "status", "phase", "Failed", "failureMessage", "no quota");
        if (!k->old) {
            tree_remove(status, "status.failureMessage");
            tree_set(status, "status.deprecated.v1beta1.failureMessage", json_string("no quota"));
        }
        write(k, API_MERGE, KIND_MACHINE, m, "status", status);
        return;
    }
    snprintf(id, sizeof(id), "fake:///zone/%s", name);
    write(k, API_MERGE, KIND_MACHINE, m, NULL, json_pack("{s:{s:s}}", "spec", "providerID", id));
    add_node(k, name, id);
    write(k, API_MERGE, KIND_MACHINE, m, "status",
          json_pack("{s:{s:s, s:{s:s}}}", "status", "phase", "Running", "nodeRef", "name", name));
}

/* ---- MachinePools ---- */

static void keep_pool(struct machine_keeper *k, const json_t *pool)
{
    const char *name = json_string_value(tree_get(pool, "metadata.name"));
    json_t *ids = tree_get(pool, "spec.providerIDList") != NULL ? json_deep_copy(tree_get(pool, "spec.providerIDList"))
                                                                : json_array();
    size_t wanted = (size_t)tree_int(pool, "spec.replicas", 0), there = json_array_size(ids);
    char node[128], id[256];
    for (size_t i = there; i < wanted; i++) {
        snprintf(node, sizeof(node), "%s-%zu", name, i);
        snprintf(id, sizeof(id), "fake:///pool/%s", node);
        add_node(k, node, id);
        json_array_append_new(ids, json_string(id));
    }
    for (size_t i = there; i > wanted; i--) {
        snprintf(node, sizeof(node), "%s-%zu", name, i - 1);
        drop_node(k, node);
        json_array_remove(ids, i - 1);
    }
    if (there != wanted)
        write(k, API_MERGE, KIND_MACHINE_POOL, pool, NULL,
              json_pack("{s:{s:O}}", "spec", "providerIDList", ids));
    json_decref(ids);
}

/* ---- all ---- */

static void keep_all(struct machine_keeper *k, enum kind kind, void (*keep)(struct machine_keeper *k, const json_t *object))
{
    json_t *list = objects_of(k->sim, kind), *object;
    size_t i;
    json_array_foreach(list, i, object)
        keep(k, object);
    json_decref(list);
}

static wall_ms step(void *user, wall_ms now)
{
    struct machine_keeper *k = user;
    if (k->seen == sim_cluster_version(sim_cluster(k->sim)))
        return INT64_MAX;
    if (!k->stands) {
        keep_all(k, KIND_MACHINE_DEPLOYMENT, keep_set);
        keep_all(k, KIND_MACHINE_SET, keep_machines);
        keep_all(k, KIND_MACHINE_POOL, keep_pool);
    }
    keep_all(k, KIND_MACHINE, keep_machine);
    k->seen = sim_cluster_version(sim_cluster(k->sim));
    return now;
}

void machine_keeper_begin(struct machine_keeper *k, struct sim *s)
{
    k->sim = s;
    k->ended = json_array();
    sim_add_actor(s, (struct sim_actor){k, step, NULL});
}

void machine_keeper_look(struct machine_keeper *k)
{
    k->seen = 0;
    step(k, sim_now(k->sim));
}

void machine_keeper_end(struct machine_keeper *k)
{
    json_decref(k->ended);
}
