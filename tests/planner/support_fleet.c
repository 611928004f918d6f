#include "support_fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { WORDS = 24 };

struct line {
    struct span words[WORDS]; /* those without "=" */
    uint32_t count;
    struct span keys[WORDS], values[WORDS];
    bool used[WORDS];
    uint32_t option_count;
};

static struct line read_line(struct span text)
{
    struct line l = {0};
    for (struct span rest = text; rest.len != 0;) {
        struct span word = span_cut(rest, ' ', &rest), value;
        struct span key = span_cut(word, '=', &value);
        if (word.len == 0)
            continue;
        assert_true(l.count < WORDS && l.option_count < WORDS);
        if (value.ptr == NULL) {
            l.words[l.count++] = word;
        } else {
            l.keys[l.option_count] = key;
            l.values[l.option_count++] = value;
        }
    }
    return l;
}

/* Absent: not given. */
static struct span option(struct line *l, const char *key)
{
    for (uint32_t i = 0; i < l->option_count; i++)
        if (span_eq(l->keys[i], span_of(key))) {
            l->used[i] = true;
            return l->values[i];
        }
    return (struct span){0};
}

static bool has(struct line *l, const char *key, const char *value)
{
    for (uint32_t i = 0; i < l->option_count; i++)
        if (span_eq(l->keys[i], span_of(key)) && span_eq(l->values[i], span_of(value)))
            return l->used[i] = true;
    return false;
}

static struct span option_or(struct line *l, const char *key, const char *otherwise)
{
    struct span s = option(l, key);
    return s.ptr != NULL ? s : span_of(otherwise);
}

static void must_be_used(const struct line *l)
{
    for (uint32_t i = 0; i < l->option_count; i++)
        if (!l->used[i])
            fail_msg("no such option: %.*s=%.*s", SPAN_ARG(l->keys[i]), SPAN_ARG(l->values[i]));
}

static const char *capacity_type(struct span word)
{
    return span_eq(word, SPAN("od")) ? "on-demand" : span_eq(word, SPAN("res")) ? "reserved" : "spot";
}

static void put_offer(struct buf *out, struct span word)
{
    bool available = !span_has_suffix(word, SPAN("!"));
    word.len -= !available;
    struct span rest, left;
    struct span kind = span_cut(word, '/', &rest), zone = span_cut(rest, '/', &rest);
    struct span price = span_cut(rest, '/', &rest), id = span_cut(rest, '/', &left);
    buf_addf(out, "{capacity: %s, zone: %.*s, price: %.*s, available: %s", capacity_type(kind), SPAN_ARG(zone),
             SPAN_ARG(price), available ? "true" : "false");
    if (id.len != 0)
        buf_addf(out, ", reservation: %.*s, reservations: %.*s", SPAN_ARG(id), SPAN_ARG(left));
    buf_addf(out, "}, ");
}

static void put_type(struct buf *out, struct line *l)
{
    int64_t cpus;
    assert_true(span_int64(l->words[2], &cpus));
    struct span family = option(l, "family");
    buf_addf(out, "- {name: %.*s, resources: {cpu: %lld, memory: %lldGi, pods: 110}, ", SPAN_ARG(l->words[1]),
             (long long)cpus, (long long)cpus * 4);
    if (family.len != 0)
        buf_addf(out, "labels: {family: %.*s}, ", SPAN_ARG(family));
    buf_addf(out, "offerings: [");
    for (uint32_t i = 3; i < l->count; i++)
        put_offer(out, l->words[i]);
    buf_addf(out, "]}\n");
}

static void put_values(struct buf *out, const char *key, struct span list, struct span min)
{
    if (list.ptr == NULL && min.ptr == NULL)
        return;
    buf_addf(out, "{key: %s, operator: %s, values: [", key, list.ptr != NULL ? "In" : "Exists");
    for (struct span rest = list; rest.len != 0;) {
        struct span word = span_cut(rest, ',', &rest);
        buf_addf(out, "%.*s, ", SPAN_ARG(span_eq(word, SPAN("od")) ? SPAN("on-demand") : word));
    }
    buf_addf(out, "]");
    if (min.ptr != NULL)
        buf_addf(out, ", minValues: %.*s", SPAN_ARG(min));
    buf_addf(out, "}, ");
}

static void put_pool(struct buf *out, struct line *l)
{
    struct span weight = option(l, "weight"), cpus = option(l, "cpus"), cost = option(l, "cost"),
                least = option(l, "least"), room = option(l, "room"), mode = option(l, "mode");
    struct span replicas = option(l, "replicas"), types = option(l, "types");
    buf_addf(out, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: %.*s", SPAN_ARG(l->words[1]));
    if (cost.ptr != NULL)
        buf_addf(out, ", annotations: {stowage.dev/node-cost: \"%.*s\"}", SPAN_ARG(cost));
    else if (least.ptr != NULL)
        buf_addf(out, ", annotations: {stowage.dev/min-savings: \"%.*s\"}", SPAN_ARG(least));
    else if (room.ptr != NULL)
        buf_addf(out, ", annotations: {stowage.dev/daemonset-room: \"%.*s\"}", SPAN_ARG(room));
    else if (mode.ptr != NULL)
        buf_addf(out, ", annotations: {stowage.dev/mode: \"%.*s\"}", SPAN_ARG(mode));
    buf_addf(out, "}\nspec: {");
    if (weight.ptr != NULL)
        buf_addf(out, "weight: %.*s, ", SPAN_ARG(weight));
    if (cpus.ptr != NULL)
        buf_addf(out, "limits: {cpu: %.*s}, ", SPAN_ARG(cpus));
    if (replicas.ptr != NULL)
        buf_addf(out, "replicas: %.*s, ", SPAN_ARG(replicas));
    buf_addf(out, "disruption: {consolidationPolicy: %.*s, consolidateAfter: %.*s, budgets: [{nodes: \"%.*s\"}]}, "
                  "template: {spec: {requirements: [",
             SPAN_ARG(option_or(l, "policy", "WhenEmptyOrUnderutilized")), SPAN_ARG(option_or(l, "after", "0s")),
             SPAN_ARG(option_or(l, "budget", "100%")));
    put_values(out, "node.kubernetes.io/instance-type", types, option(l, "min"));
    put_values(out, "karpenter.sh/capacity-type", option(l, "capacity"), (struct span){0});
    buf_addf(out, "]}}}\n");
    if (has(l, "ready", "no"))
        buf_addf(out, "status: {conditions: [{type: Ready, status: \"False\"}]}\n");
}

static void put_labels(struct buf *out, struct line *l)
{
    struct span zone, kind = span_cut(l->words[4], '/', &zone), without = option_or(l, "without", "");
    struct {
        const char *key;
        struct span value;
    } labels[] = {
        {"karpenter.sh/nodepool", l->words[2]},
        {"node.kubernetes.io/instance-type", l->words[3]},
        {"karpenter.sh/capacity-type", span_of(capacity_type(kind))},
        {"topology.kubernetes.io/zone", zone},
    };
    buf_addf(out, "kubernetes.io/hostname: %.*s", SPAN_ARG(l->words[1]));
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (!span_has_suffix(span_of(labels[i].key), without) || without.len == 0)
            buf_addf(out, ", %s: %.*s", labels[i].key, SPAN_ARG(labels[i].value));
}

static const struct instance_type *type_named(const struct cluster *c, struct span name)
{
    for (uint32_t i = 0; i < c->catalogue.count; i++)
        if (span_eq(c->catalogue.items[i].name, name))
            return &c->catalogue.items[i];
    return NULL;
}

static void put_node(struct buf *out, const struct cluster *c, struct line *l)
{
    static const char claim[] = "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: %.*s, labels: {";
    struct span name = l->words[1], event = option(l, "event");
    bool initialized = !has(l, "stage", "registered"), deleting = has(l, "deleting", "yes");
    const struct instance_type *type = type_named(c, l->words[3]);
    long long cpus = type != NULL ? resources_get(type->capacity, SYM_CPU) / 1000 : 4;
    buf_addf(out, claim, SPAN_ARG(name));
    put_labels(out, l);
    buf_addf(out, "}%s}\nspec: {}\nstatus: {providerID: \"x://%.*s\", capacity: {cpu: %lld, memory: %lldGi, pods: 110}, "
                  "allocatable: {cpu: %lld, memory: %lldGi, pods: 110}, ",
             deleting ? ", deletionTimestamp: \"" FLEET_JUST_NOW "\"" : "", SPAN_ARG(name), cpus, cpus * 4, cpus, cpus * 4);
    if (event.ptr != NULL)
        buf_addf(out, "lastPodEventTime: \"%.*s\", ", SPAN_ARG(event));
    buf_addf(out, "conditions: [{type: Consolidatable, status: \"%s\"}, {type: Initialized, status: \"%s\", "
                  "lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}\n",
             has(l, "consolidatable", "no") ? "False" : "True", initialized ? "True" : "Unknown");
    buf_addf(out, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %.*s, labels: {", SPAN_ARG(name));
    put_labels(out, l);
    buf_addf(out, ", karpenter.sh/registered: \"true\"%s}}\nspec: {providerID: \"x://%.*s\"}\nstatus: {capacity: {cpu: "
                  "%lld, memory: %lldGi, pods: 110}, allocatable: {cpu: %lld, memory: %lldGi, pods: 110}, conditions: "
                  "[{type: Ready, status: \"True\"}]}\n",
             initialized ? ", karpenter.sh/initialized: \"true\"" : "", SPAN_ARG(name), cpus, cpus * 4, cpus, cpus * 4);
}

static void put_apart(struct buf *out, struct span app, bool preferred)
{
    buf_addf(out, preferred ? "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                              "podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: "
                              "%.*s}}}}]}}, "
                            : "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                              "kubernetes.io/hostname, labelSelector: {matchLabels: {app: %.*s}}}]}}, ",
             SPAN_ARG(app));
}

static void put_pod_meta(struct buf *out, struct line *l, struct span app)
{
    struct span cost = option(l, "cost"), of = option(l, "of");
    buf_addf(out, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %.*s, ", SPAN_ARG(l->words[1]));
    if (app.ptr != NULL)
        buf_addf(out, "labels: {app: %.*s}, ", SPAN_ARG(app));
    if (cost.ptr != NULL)
        buf_addf(out, "annotations: {controller.kubernetes.io/pod-deletion-cost: \"%.*s\"}, ", SPAN_ARG(cost));
    if (has(l, "stays", "yes"))
        buf_addf(out, "annotations: {karpenter.sh/do-not-disrupt: \"true\"}, ");
    if (!has(l, "daemon", "no") && has(l, "daemon", "yes"))
        buf_addf(out, "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}], ");
    else if (of.ptr != NULL)
        buf_addf(out, "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %.*s, uid: %.*s, controller: true}], ",
                 SPAN_ARG(of), SPAN_ARG(of));
}

static void put_pod(struct buf *out, struct line *l)
{
    struct span app = option(l, "app"), priority = option(l, "priority"), zone = option(l, "zone");
    struct span capacity = option(l, "capacity");
    bool pending = span_eq(l->words[2], SPAN("-"));
    put_pod_meta(out, l, app);
    buf_addf(out, "}\nspec: {");
    if (!pending)
        buf_addf(out, "nodeName: %.*s, ", SPAN_ARG(l->words[2]));
    if (priority.ptr != NULL)
        buf_addf(out, "priority: %.*s, ", SPAN_ARG(priority));
    if (zone.ptr != NULL)
        buf_addf(out, "nodeSelector: {topology.kubernetes.io/zone: %.*s}, ", SPAN_ARG(zone));
    if (capacity.ptr != NULL)
        buf_addf(out, "nodeSelector: {karpenter.sh/capacity-type: %s}, ", capacity_type(capacity));
    if (has(l, "apart", "yes"))
        put_apart(out, app, false);
    if (has(l, "apart", "prefer"))
        put_apart(out, app, true);
    buf_addf(out, "containers: [{name: c, resources: {requests: {cpu: %.*s}}}]}\n", SPAN_ARG(l->words[3]));
    buf_addf(out, pending ? "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
                            "Unschedulable}]}\n"
                          : "status: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}\n");
}

static void put_budget(struct buf *out, const struct line *l)
{
    buf_addf(out, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %.*s}\nspec: {maxUnavailable: "
                  "%.*s, selector: {matchLabels: {app: %.*s}}}\nstatus: {disruptionsAllowed: %.*s}\n",
             SPAN_ARG(l->words[1]), SPAN_ARG(l->words[3]), SPAN_ARG(l->words[2]), SPAN_ARG(l->words[3]));
}

static void put_object(struct buf *types, struct buf *objects, const struct cluster *c, struct line *l)
{
    struct span kind = l->words[0];
    if (span_eq(kind, SPAN("type")))
        put_type(types, l);
    else if (span_eq(kind, SPAN("pool")))
        put_pool(objects, l);
    else if (span_eq(kind, SPAN("node")))
        put_node(objects, c, l);
    else if (span_eq(kind, SPAN("pod")))
        put_pod(objects, l);
    else if (span_eq(kind, SPAN("pdb")))
        put_budget(objects, l);
    else
        fail_msg("no such object: %.*s", SPAN_ARG(kind));
    must_be_used(l);
}

static void add(struct cluster *c, struct buf *b)
{
    cluster_add(c, buf_span(b).ptr);
    buf_release(b);
}

/* Types first: a node has the room of its own. */
static void add_lines(struct cluster *c, struct span text, bool of_types)
{
    struct buf types = {0}, objects = {0};
    buf_addf(&types, "kind: InstanceTypes\nreservationIDLabel: example.com/reservation\nwellKnown: [family]\nitems:\n");
    bool any = false;
    for (struct span rest = text; rest.len != 0;) {
        struct span line = span_cut(rest, '\n', &rest);
        struct line l = read_line(line);
        if (l.count == 0 || span_eq(l.words[0], SPAN("type")) != of_types)
            continue;
        put_object(&types, &objects, c, &l);
        any = true;
    }
    if (any && of_types)
        add(c, &types);
    if (any && !of_types)
        add(c, &objects);
    buf_release(&types);
    buf_release(&objects);
}

void fleet_add(struct cluster *c, const char *text)
{
    const char *yaml = strstr(text, "---");
    struct span lines = {text, yaml != NULL ? (size_t)(yaml - text) : strlen(text)};
    add_lines(c, lines, true);
    add_lines(c, lines, false);
    if (yaml != NULL)
        cluster_add(c, yaml);
    assert_true(time_parse(SPAN(FLEET_NOW), &c->plan_options.now));
}
