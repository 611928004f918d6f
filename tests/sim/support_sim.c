#include "tests/sim/support_sim.h"

#include <stdio.h>
#include <string.h>

#include "kube/kind.h"
#include "kube/resources.h"
#include "sim/stowage.h"

static const char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* A few texts in turn: enough for one expression. */
static const char *format(const char *text, ...)
{
    static char buffers[8][2048];
    static unsigned turn;
    char *out = buffers[turn++ % 8];
    va_list args;
    va_start(args, text);
    vsnprintf(out, sizeof buffers[0], text, args);
    va_end(args);
    return out;
}

void load(struct sim *s, const char *yaml)
{
    struct err err;
    if (!sim_cluster_load(sim_cluster(s), span_of(yaml), NULL, &err))
        fail_msg("%s", err.msg);
}

struct sim *new_sim_with(const struct sim_options *o, const char *yaml)
{
    struct sim_options own = *o;
    own.cluster.now = START;
    struct sim *s = sim_new(&own);
    load(s, yaml);
    return s;
}

struct sim *new_sim(const char *yaml)
{
    struct sim_options o = {0};
    return new_sim_with(&o, yaml);
}

void run_for(struct sim *s, span_ms d)
{
    struct err err;
    if (!sim_run_until(s, sim_now(s) + d, &err))
        fail_msg("%s", err.msg);
}

struct sim_stowage *start_asked(struct sim *s, const struct sim_stowage_options *o)
{
    struct sim_stowage *w = sim_stowage_new(s, o);
    struct sim_extender e = sim_stowage_extender(w);
    sim_set_extender(s, &e);
    return w;
}

void stop_asked(struct sim *s, struct sim_stowage *w)
{
    sim_set_extender(s, NULL);
    sim_stowage_free(w);
}

void do_request(struct sim *s, enum api_verb verb, enum kind k, const char *ns, const char *name,
                const char *body, int status)
{
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = verb, .kind = k, .ns = span_of(ns), .name = span_of(name),
                            .body = span_of(body)};
    struct sim_answer answer = sim_cluster_do(sim_cluster(s), &a, &r);
    if (answer.status != status)
        fail_msg("%s: status %d, not %d: %.*s", name != NULL ? name : "", answer.status, status,
                 SPAN_ARG(answer.body));
    arena_release(&a);
}

void set_ready(struct sim *s, const char *node, const char *status)
{
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {
        .verb = API_MERGE,
        .kind = KIND_NODE,
        .name = span_of(node),
        .subresource = SPAN("status"),
        .body = span_of(format("{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}", status))};
    assert_int_equal(sim_cluster_do(sim_cluster(s), &a, &r).status, 200);
    arena_release(&a);
}

void scale(struct sim *s, const char *deployment, int replicas)
{
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", deployment,
               format("{\"spec\":{\"replicas\":%d}}", replicas), 200);
}

json_t *object_of(struct sim *s, enum kind k, const char *ns, const char *name)
{
    struct arena a;
    arena_init(&a, 0);
    struct span text = sim_cluster_get(sim_cluster(s), &a, k, span_of(ns), span_of(name));
    json_t *object = text.ptr != NULL ? tree_parse(text) : NULL;
    arena_release(&a);
    return object;
}

static void append(void *user, struct span object)
{
    json_array_append_new(user, tree_parse(object));
}

json_t *objects_of(struct sim *s, enum kind k)
{
    json_t *all = json_array();
    sim_cluster_each(sim_cluster(s), k, append, all);
    return all;
}

json_t *only(struct sim *s, enum kind k)
{
    json_t *all = objects_of(s, k);
    if (json_array_size(all) != 1)
        fail_msg("%zu %s", json_array_size(all), kind_info(k)->plural);
    json_t *o = json_incref(json_array_get(all, 0));
    json_decref(all);
    return o;
}

bool is_gone(struct sim *s, enum kind k, const char *ns, const char *name)
{
    json_t *o = object_of(s, k, ns, name);
    json_decref(o);
    return o == NULL;
}

static const char *label_app(const json_t *pod)
{
    const char *app = json_string_value(tree_get(pod, "metadata.labels.app"));
    return app != NULL ? app : "";
}

size_t count_pods(struct sim *s, const char *app, const char *node)
{
    json_t *pods = objects_of(s, KIND_POD), *pod;
    size_t i, count = 0;
    json_array_foreach(pods, i, pod) {
        const char *on = json_string_value(tree_get(pod, "spec.nodeName"));
        count += strcmp(label_app(pod), app) == 0 &&
                 (node == NULL || strcmp(on != NULL ? on : "", node) == 0);
    }
    json_decref(pods);
    return count;
}

const char *why_pending(struct sim *s)
{
    static char message[1024];
    json_t *pods = objects_of(s, KIND_POD), *pod;
    size_t i;
    message[0] = '\0';
    json_array_foreach(pods, i, pod) {
        if (tree_get(pod, "spec.nodeName") != NULL)
            continue;
        snprintf(message, sizeof message, "%.*s",
                 SPAN_ARG(tree_string(tree_condition(pod, "PodScheduled"), "message")));
        break;
    }
    json_decref(pods);
    return message;
}

const char *general_yaml(const char *consolidate_after, const char *cpu)
{
    return format("apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n"
                  "---\n"
                  "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
                  "spec:\n"
                  "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: %s, budgets: "
                  "[{nodes: '100%%'}]}\n"
                  "  template:\n"
                  "    spec:\n"
                  "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
                  "      requirements:\n"
                  "      - {key: kubernetes.io/os, operator: In, values: [linux]}\n"
                  "      - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: ['%s']}\n",
                  consolidate_after, cpu);
}

const char *node_yaml(const char *name, const char *cpu, const char *memory)
{
    return format("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
                  "\"kubernetes.io/hostname\":\"%s\"}},\"status\":{\"capacity\":{\"cpu\":\"%s\",\"memory\":"
                  "\"%s\",\"pods\":\"110\"},\"allocatable\":{\"cpu\":\"%s\",\"memory\":\"%s\",\"pods\":\"110\"}}}",
                  name, name, cpu, memory, cpu, memory);
}

const char *ready_node_yaml(const char *name, const char *cpu, const char *memory)
{
    return format("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
                  "\"kubernetes.io/hostname\":\"%s\"}},\"status\":{\"allocatable\":{\"cpu\":\"%s\",\"memory\":"
                  "\"%s\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                  name, name, cpu, memory);
}

const char *deployment_yaml(const char *name, int replicas, const char *cpu, const char *more_spec)
{
    return format("{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"%s\"},"
                  "\"spec\":{\"replicas\":%d,\"selector\":{\"matchLabels\":{\"app\":\"%s\"}},\"template\":{"
                  "\"metadata\":{\"labels\":{\"app\":\"%s\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
                  "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"%s\",\"memory\":\"64Mi\"}}}]%s}}}}",
                  name, replicas, name, name, cpu, more_spec);
}

static amount millicores(const json_t *text)
{
    struct err err;
    amount value = 0;
    if (json_is_string(text))
        assert_true(quantity_parse(span_of(json_string_value(text)), 1000, &value, &err));
    return value;
}

static amount requested_on(const json_t *pods, struct span node)
{
    size_t i, j;
    json_t *pod, *c;
    amount sum = 0;
    json_array_foreach(pods, i, pod) {
        if (!span_eq(tree_string(pod, "spec.nodeName"), node) ||
            tree_is(pod, "status.phase", "Succeeded") || tree_is(pod, "status.phase", "Failed"))
            continue;
        json_array_foreach(tree_get(pod, "spec.containers"), j, c) {
            sum += millicores(tree_get(c, "resources.requests.cpu"));
        }
    }
    return sum;
}

void assert_no_overcommit(struct sim *s)
{
    json_t *pods = objects_of(s, KIND_POD), *nodes = objects_of(s, KIND_NODE), *node;
    size_t i;
    json_array_foreach(nodes, i, node) {
        struct span name = tree_string(node, "metadata.name");
        amount sum = requested_on(pods, name);
        if (sum > millicores(tree_get(node, "status.allocatable.cpu")))
            fail_msg("%.*s: %lld millicores requested", SPAN_ARG(name), (long long)sum);
    }
    json_decref(pods);
    json_decref(nodes);
}
