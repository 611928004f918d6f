/* Pods and pod templates: decoded wide, into struct pod_wire, and kept narrow. */
#include "kube/meta_fields.h"
#include "kube/object_bounds.h"
#include "kube/pod_check.h"
#include "kube/pod_placement.h"
#include "kube/pod_wire.h"

static bool text_is(struct doc_value v, const char *text, bool *out, struct err *err)
{
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    *out = span_eq(doc_text(v), span_of(text));
    return true;
}

#define TEXT_IS(name, text)                                                                        \
    static bool name(struct decode *d, struct doc_value v, void *out, struct err *err)             \
    {                                                                                              \
        (void)d;                                                                                   \
        return text_is(v, text, out, err);                                                         \
    }
TEXT_IS(decode_always, "Always")
TEXT_IS(decode_hard, "DoNotSchedule")
TEXT_IS(decode_ignore, "Ignore")
TEXT_IS(decode_honor, "Honor")

static bool decode_phase(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    static const char *const names[] = {"Pending", "Running", "Succeeded", "Failed"};
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    enum pod_phase *phase = out;
    *phase = doc_text(v).len == 0 ? POD_PENDING : POD_UNKNOWN;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (span_eq(doc_text(v), span_of(names[i])))
            *phase = (enum pod_phase)i;
    return true;
}

static const struct field port_fields[] = {
    FIELD(struct host_port, port, FIELD_INT32, "hostPort", .low = 0, .high = 65535),
    FIELD(struct host_port, ip, FIELD_SYM, "hostIP"),
    FIELD(struct host_port, protocol, FIELD_SYM, "protocol"),
};
static const struct schema port_schema =
    SCHEMA_WITH(struct host_port, "port", port_fields, .also = "name containerPort",
                .check = pod_check_port);

static const struct field resource_fields[] = {
    FIELD(struct resource, name, FIELD_SYM, "name"),
    FIELD(struct resource, value, FIELD_SCALAR, "value", .scalar = decode_quantity),
};
static const struct schema container_resource_schema = SCHEMA_WITH(
    struct resource, "quantity", resource_fields, .check = pod_check_container_resource);

static const struct schema counted_schema = {.name = "item", .size = sizeof(struct wire_counted)};

static const struct field container_resource_fields[] = {
    FIELD(struct container, requests, FIELD_MAP, "requests", .schema = &container_resource_schema),
    FIELD(struct container, limits, FIELD_MAP, "limits", .schema = &container_resource_schema),
    FIELD(struct container, claims, FIELD_LIST, "claims", .schema = &counted_schema),
};
static const struct schema container_resources =
    SCHEMA_WITH(struct container, "resources", container_resource_fields, .also = "",
                .check = pod_check_container_resources);

static const struct field container_fields[] = {
    FIELD(struct container, name, FIELD_SPAN, "name"),
    FIELD(struct container, restartable, FIELD_SCALAR, "restartPolicy", .scalar = decode_always),
    {.name = "resources", .kind = FIELD_OBJECT, .schema = &container_resources},
    FIELD(struct container, ports, FIELD_LIST, "ports", .schema = &port_schema),
};
static const struct schema container_schema =
    SCHEMA_WITH(struct container, "container", container_fields,
                .also = "image command args workingDir envFrom env resizePolicy restartPolicyRules "
                        "volumeMounts volumeDevices livenessProbe readinessProbe startupProbe "
                        "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy "
                        "securityContext stdin stdinOnce tty");

static const struct field status_resource_fields[] = {
    FIELD(struct container_status, requests, FIELD_MAP, "requests", .schema = &resource_schema),
};
static const struct schema status_resources =
    SCHEMA(struct container_status, "resources", status_resource_fields);

static const struct field container_status_fields[] = {
    FIELD(struct container_status, name, FIELD_SPAN, "name"),
    {.name = "resources",
     .kind = FIELD_OBJECT,
     .present = offsetof(struct container_status, has_resources),
     .schema = &status_resources},
    FIELD(struct container_status, allocated, FIELD_MAP, "allocatedResources",
          .schema = &resource_schema),
};
static const struct schema container_status_schema =
    SCHEMA(struct container_status, "containerStatus", container_status_fields);

static const struct field node_term_fields[] = {
    FIELD(struct node_term, match_expressions, FIELD_LIST, "matchExpressions",
          .schema = &node_expression_schema),
    FIELD(struct node_term, match_fields, FIELD_LIST, "matchFields", .schema = &node_field_schema,
          FIELD_HAS(struct node_term, has_match_fields)),
};
const struct schema node_term_schema =
    SCHEMA_WITH(struct node_term, "node selector term", node_term_fields, .also = "");

static const struct field preferred_node_fields[] = {
    FIELD(struct preferred_node_term, weight, FIELD_INT32, "weight", .low = 1, .high = 100,
          .needed = true),
    FIELD(struct preferred_node_term, preference, FIELD_OBJECT, "preference",
          .schema = &node_term_schema),
};
static const struct schema preferred_node_schema =
    SCHEMA_WITH(struct preferred_node_term, "preferred term", preferred_node_fields, .also = "");

static const struct field pod_term_fields[] = {
    FIELD(struct pod_term, topology_key, FIELD_SYM, "topologyKey"),
    FIELD(struct pod_term, selector, FIELD_OBJECT, "labelSelector",
          .schema = &label_selector_schema, FIELD_HAS(struct pod_term, has_selector)),
    FIELD(struct pod_term, namespace_selector, FIELD_OBJECT, "namespaceSelector",
          .schema = &label_selector_schema, FIELD_HAS(struct pod_term, has_namespace_selector)),
    FIELD(struct pod_term, namespaces, FIELD_SYMS, "namespaces"),
    FIELD(struct pod_term, match_label_keys, FIELD_SYMS, "matchLabelKeys"),
    FIELD(struct pod_term, mismatch_label_keys, FIELD_SYMS, "mismatchLabelKeys"),
};
static const struct schema pod_term_schema =
    SCHEMA_WITH(struct pod_term, "pod affinity term", pod_term_fields, .also = "",
                .check = pod_check_term);

static const struct field preferred_pod_fields[] = {
    FIELD(struct preferred_pod_term, weight, FIELD_INT32, "weight", .low = 1, .high = 100,
          .needed = true),
    FIELD(struct preferred_pod_term, term, FIELD_OBJECT, "podAffinityTerm",
          .schema = &pod_term_schema),
};
static const struct schema preferred_pod_schema =
    SCHEMA_WITH(struct preferred_pod_term, "preferred term", preferred_pod_fields, .also = "");

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const struct field required_node_fields[] = {
    FIELD(struct affinity, required_node, FIELD_LIST, "nodeSelectorTerms",
          .schema = &node_term_schema),
};
static const struct schema required_node_schema =
    SCHEMA_WITH(struct affinity, "node selector", required_node_fields, .also = "",
                .check = pod_check_node_terms);

static const struct field node_affinity_fields[] = {
    {.name = REQUIRED,
     .kind = FIELD_OBJECT,
     .present = offsetof(struct affinity, has_required_node),
     .schema = &required_node_schema},
    FIELD(struct affinity, preferred_node, FIELD_LIST, PREFERRED, .schema = &preferred_node_schema),
};
static const struct schema node_affinity_schema =
    SCHEMA_WITH(struct affinity, "node affinity", node_affinity_fields, .also = "");

static const struct field pod_affinity_fields[] = {
    FIELD(struct affinity, required_pod, FIELD_LIST, REQUIRED, .schema = &pod_term_schema),
    FIELD(struct affinity, preferred_pod, FIELD_LIST, PREFERRED, .schema = &preferred_pod_schema),
};
static const struct schema pod_affinity_schema =
    SCHEMA_WITH(struct affinity, "pod affinity", pod_affinity_fields, .also = "");

static const struct field anti_affinity_fields[] = {
    FIELD(struct affinity, required_anti, FIELD_LIST, REQUIRED, .schema = &pod_term_schema),
    FIELD(struct affinity, preferred_anti, FIELD_LIST, PREFERRED, .schema = &preferred_pod_schema),
};
static const struct schema anti_affinity_schema =
    SCHEMA_WITH(struct affinity, "pod anti-affinity", anti_affinity_fields, .also = "");

static const struct field affinity_fields[] = {
    {.name = "nodeAffinity", .kind = FIELD_OBJECT, .schema = &node_affinity_schema},
    {.name = "podAffinity", .kind = FIELD_OBJECT, .schema = &pod_affinity_schema},
    {.name = "podAntiAffinity", .kind = FIELD_OBJECT, .schema = &anti_affinity_schema},
};
static const struct schema affinity_schema =
    SCHEMA_WITH(struct affinity, "affinity", affinity_fields, .also = "");

static const struct field spread_fields[] = {
    FIELD(struct spread, max_skew, FIELD_INT32, "maxSkew", .low = 1, .high = INT32_MAX,
          .needed = true),
    FIELD(struct spread, min_domains, FIELD_INT32, "minDomains", .low = 1, .high = INT32_MAX),
    FIELD(struct spread, topology_key, FIELD_SYM, "topologyKey"),
    FIELD(struct spread, hard, FIELD_SCALAR, "whenUnsatisfiable", .scalar = decode_hard),
    FIELD(struct spread, ignore_affinity, FIELD_SCALAR, "nodeAffinityPolicy",
          .scalar = decode_ignore),
    FIELD(struct spread, honor_taints, FIELD_SCALAR, "nodeTaintsPolicy", .scalar = decode_honor),
    FIELD(struct spread, selector, FIELD_OBJECT, "labelSelector", .schema = &label_selector_schema,
          FIELD_HAS(struct spread, has_selector)),
    FIELD(struct spread, match_label_keys, FIELD_SYMS, "matchLabelKeys"),
};
static const struct schema spread_schema =
    SCHEMA_WITH(struct spread, "spread", spread_fields, .also = "", .check = pod_check_spread);

static const struct field claim_source_fields[] = {
    FIELD(struct wire_volume, claim, FIELD_SPAN, "claimName"),
};
static const struct schema claim_source_schema =
    SCHEMA_WITH(struct wire_volume, "claim", claim_source_fields, .also = "readOnly");

static const struct field ephemeral_spec_fields[] = {
    FIELD(struct wire_volume, storage_class, FIELD_SYM, "storageClassName"),
};
static const struct schema ephemeral_spec =
    SCHEMA_WITH(struct wire_volume, "spec", ephemeral_spec_fields, CLAIM_NAMES);
static const struct field ephemeral_claim_fields[] = {
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &ephemeral_spec},
};
static const struct schema ephemeral_claim =
    SCHEMA_WITH(struct wire_volume, "volumeClaimTemplate", ephemeral_claim_fields, .also = "metadata");
static const struct field ephemeral_fields[] = {
    {.name = "volumeClaimTemplate", .kind = FIELD_OBJECT, .schema = &ephemeral_claim},
};
static const struct schema ephemeral_schema =
    SCHEMA_WITH(struct wire_volume, "ephemeral", ephemeral_fields, .also = "readOnly");

static const struct field empty_dir_fields[] = {
    FIELD(struct wire_volume, medium, FIELD_SPAN, "medium"),
};
static const struct schema empty_dir_schema =
    SCHEMA_WITH(struct wire_volume, "emptyDir", empty_dir_fields, .also = "sizeLimit");
static const struct schema host_path_schema = {
    .name = "hostPath", .size = sizeof(struct wire_volume), .also = "path type"};

static const struct field volume_fields[] = {
    FIELD(struct wire_volume, name, FIELD_SPAN, "name"),
    {.name = "hostPath",
     .kind = FIELD_OBJECT,
     .present = offsetof(struct wire_volume, host_path),
     .schema = &host_path_schema},
    {.name = "emptyDir",
     .kind = FIELD_OBJECT,
     .present = offsetof(struct wire_volume, empty_dir),
     .schema = &empty_dir_schema},
    {.name = "persistentVolumeClaim", .kind = FIELD_OBJECT, .schema = &claim_source_schema},
    {.name = "ephemeral",
     .kind = FIELD_OBJECT,
     .present = offsetof(struct wire_volume, ephemeral),
     .schema = &ephemeral_schema},
};
static const struct schema volume_schema = SCHEMA_WITH(
    struct wire_volume, "volume", volume_fields,
    .also = "gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs rbd "
            "flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk "
            "photonPersistentDisk projected portworxVolume scaleIO storageos csi image");

static const struct field pod_level_fields[] = {
    FIELD(struct pod_wire, pod_level, FIELD_MAP, "requests", .schema = &resource_schema),
    FIELD(struct pod_wire, pod_level_limits, FIELD_MAP, "limits", .schema = &resource_schema),
};
static const struct schema pod_level_schema =
    SCHEMA_WITH(struct pod_wire, "resources", pod_level_fields, .also = "claims",
                .check = pod_check_pod_resources);

enum { PRIORITY_MAX = 2000001000 }; /* of system-node-critical; no PriorityClass has more */

static const struct field spec_fields[] = {
    FIELD(struct pod_wire, pod.node, FIELD_SYM, "nodeName"),
    FIELD(struct pod_wire, pod.scheduler, FIELD_SYM, "schedulerName"),
    FIELD(struct pod_wire, pod.priority, FIELD_INT32, "priority", .low = INT32_MIN,
          .high = PRIORITY_MAX),
    FIELD(struct pod_wire, containers, FIELD_LIST, "containers", .schema = &container_schema),
    FIELD(struct pod_wire, init_containers, FIELD_LIST, "initContainers",
          .schema = &container_schema),
    {.name = "resources", .kind = FIELD_OBJECT, .schema = &pod_level_schema},
    FIELD(struct pod_wire, overhead, FIELD_MAP, "overhead", .schema = &resource_schema),
    FIELD(struct pod_wire, pod.node_selector, FIELD_MAP, "nodeSelector", .schema = &label_schema),
    FIELD(struct pod_wire, pod.tolerations, FIELD_LIST, "tolerations",
          .schema = &toleration_schema),
    FIELD(struct pod_wire, pod.affinity, FIELD_POINTER, "affinity", .schema = &affinity_schema),
    FIELD(struct pod_wire, pod.spreads, FIELD_LIST, "topologySpreadConstraints",
          .schema = &spread_schema),
    FIELD(struct pod_wire, volumes, FIELD_LIST, "volumes", .schema = &volume_schema),
    FIELD(struct pod_wire, priority_class, FIELD_SPAN, "priorityClassName"),
    FIELD(struct pod_wire, preemption, FIELD_SPAN, "preemptionPolicy"),
    FIELD(struct pod_wire, claims, FIELD_LIST, "resourceClaims", .schema = &counted_schema),
    FIELD(struct pod_wire, gates, FIELD_LIST, "schedulingGates", .schema = &counted_schema),
    FIELD(struct pod_wire, pod.grace_seconds, FIELD_INT64, "terminationGracePeriodSeconds",
          FIELD_HAS(struct pod_wire, pod.has_grace)),
};
static const struct schema spec_schema = SCHEMA_WITH(
    struct pod_wire, "spec", spec_fields, .check = pod_check_spec,
    .also = "ephemeralContainers restartPolicy activeDeadlineSeconds dnsPolicy serviceAccountName "
            "serviceAccount automountServiceAccountToken hostNetwork hostPID hostIPC "
            "shareProcessNamespace securityContext imagePullSecrets hostname subdomain hostAliases "
            "dnsConfig readinessGates runtimeClassName enableServiceLinks "
            "setHostnameAsFQDN os hostUsers hostnameOverride workloadRef "
            "schedulingGroup");

static const struct field status_fields[] = {
    FIELD(struct pod_wire, pod.phase, FIELD_SCALAR, "phase", .scalar = decode_phase),
    FIELD(struct pod_wire, pod.nominated_node, FIELD_SYM, "nominatedNodeName"),
    FIELD(struct pod_wire, pod.start_time, FIELD_SCALAR, "startTime", .scalar = decode_time),
    FIELD(struct pod_wire, conditions, FIELD_LIST, "conditions", .schema = &pod_condition_schema),
    FIELD(struct pod_wire, statuses, FIELD_LIST, "containerStatuses",
          .schema = &container_status_schema),
    FIELD(struct pod_wire, init_statuses, FIELD_LIST, "initContainerStatuses",
          .schema = &container_status_schema),
};
static const struct schema status_schema = SCHEMA(struct pod_wire, "status", status_fields);

static const struct field wire_fields[] = {
    FIELD(struct pod_wire, pod.meta, FIELD_OBJECT, "metadata", .schema = &pod_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
static const struct schema wire_schema =
    SCHEMA_WITH(struct pod_wire, "Pod", wire_fields, .also = "apiVersion kind",
                OBJECT_BOUNDS(struct pod_wire, pod.meta));

static sym absent_if_empty(sym s)
{
    return s == SYM_EMPTY ? SYM_NONE : s;
}

static struct host_ports ports_of(struct arena *a, struct containers containers)
{
    struct host_ports out = {NULL, 0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < containers.count; i++)
        for (uint32_t k = 0; k < containers.items[i].ports.count; k++)
            if (containers.items[i].ports.items[k].port != 0)
                ARENA_PUSH(a, out.items, out.count, capacity, containers.items[i].ports.items[k]);
    return out;
}

static struct pod_volumes volumes_of(struct arena *a, const struct pod_wire *w)
{
    struct pod_volumes out = {NULL, 0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < w->volumes.count; i++) {
        const struct wire_volume *v = &w->volumes.items[i];
        struct pod_volume kept = {
            .claim = v->claim, .ephemeral = v->ephemeral, .storage_class = v->storage_class};
        if (v->ephemeral)
            kept.claim =
                arena_printf(a, "%.*s-%.*s", SPAN_ARG(w->pod.meta.name), SPAN_ARG(v->name));
        if (kept.claim.len != 0)
            ARENA_PUSH(a, out.items, out.count, capacity, kept);
    }
    return out;
}

/* Whether the list, which has commas and no blanks, has the name. */
static bool is_listed(struct span list, struct span name)
{
    while (list.ptr != NULL)
        if (span_eq(span_cut(list, ',', &list), name))
            return true;
    return false;
}

/* What would be lost if the pod moved (spec node-groups 4.4, rule 11). */
static bool has_local_storage(const struct pod_wire *w)
{
    struct span safe = annotations_get(w->pod.meta.annotations, SYM_SAFE_LOCAL_VOLUMES);
    for (uint32_t i = 0; i < w->volumes.count; i++) {
        const struct wire_volume *v = &w->volumes.items[i];
        bool local = v->host_path || (v->empty_dir && !span_eq(v->medium, SPAN("Memory")));
        if (local && !is_listed(safe, v->name))
            return true;
    }
    return false;
}

static void take_conditions(struct pod *p, struct conditions list)
{
    for (uint32_t i = 0; i < list.count; i++) {
        const struct condition *c = &list.items[i];
        if (span_eq(c->type, SPAN("PodScheduled")) && span_eq(c->reason, SPAN("Unschedulable"))) {
            p->unschedulable = true;
            p->verdict = (uint32_t)span_hash(c->message) | 1;
        }
        if (!span_eq(c->type, SPAN("Ready")))
            continue;
        p->ready = c->status == CONDITION_TRUE;
        p->unready = c->status == CONDITION_FALSE;
    }
}

static bool any_claims(struct containers list)
{
    bool any = false;
    for (uint32_t i = 0; i < list.count; i++)
        any |= list.items[i].claims.count != 0;
    return any;
}

/* Of a pod that is not planned: what it holds on its node stays. */
static void drop_rules(struct pod *p)
{
    p->affinity = NULL;
    p->node_selector = (struct sym_pairs){NULL, 0};
    p->tolerations = (struct tolerations){NULL, 0};
    p->spreads = (struct spreads){NULL, 0};
    p->ports = (struct host_ports){NULL, 0};
}

/* Of pods and templates: who comes from the API server has its requests filled in already, who comes from a
 * file as people write it has not. */
static void pod_convert(struct decode *d, const void *wire, void *out)
{
    struct pod_wire full = *(const struct pod_wire *)wire;
    const struct pod_wire *w = &full;
    struct pod *p = out;
    pod_wire_default(d->arena, &full);
    *p = w->pod;
    if (p->grace_seconds < 0)
        p->grace_seconds = 1; /* as the API server reads it */
    p->node = absent_if_empty(p->node);
    p->nominated_node = absent_if_empty(p->nominated_node);
    p->requests = pod_wire_requests(d->arena, w, d->syms);
    p->limits = pod_wire_limits(d->arena, w, d->syms);
    p->ports = ports_of(d->arena, w->containers);
    p->volumes = volumes_of(d->arena, w);
    p->resource_claims =
        w->claims.count != 0 || any_claims(w->containers) || any_claims(w->init_containers);
    p->gated = w->gates.count != 0;
    p->local_storage = has_local_storage(w);
    p->node_critical = span_eq(w->priority_class, SPAN("system-node-critical")) &&
                       (w->preemption.len == 0 || span_eq(w->preemption, SPAN("PreemptLowerPriority")));
    take_conditions(p, w->conditions);
    if (p->meta.excess != SYM_NONE)
        drop_rules(p);
}

static const struct field pod_volume_fields[] = {
    FIELD(struct pod_volume, claim, FIELD_SPAN, "claim"),
    FIELD(struct pod_volume, storage_class, FIELD_SYM, "storageClass"),
};
static const struct schema pod_volume_schema =
    SCHEMA(struct pod_volume, "volume", pod_volume_fields);

static const struct field pod_fields[] = {
    FIELD(struct pod, meta, FIELD_OBJECT, "metadata", .schema = &pod_meta_schema),
    FIELD(struct pod, meta.excess, FIELD_SYM, "excess"),
    FIELD(struct pod, node, FIELD_SYM, "node"),
    FIELD(struct pod, nominated_node, FIELD_SYM, "nominatedNode"),
    FIELD(struct pod, scheduler, FIELD_SYM, "scheduler"),
    FIELD(struct pod, requests, FIELD_MAP, "requests", .schema = &resource_schema, .common = true),
    FIELD(struct pod, limits, FIELD_MAP, "limits", .schema = &resource_schema, .common = true),
    FIELD(struct pod, ports, FIELD_LIST, "ports", .schema = &port_schema, .common = true),
    FIELD(struct pod, node_selector, FIELD_MAP, "nodeSelector", .schema = &label_schema, .common = true),
    FIELD(struct pod, tolerations, FIELD_LIST, "tolerations", .schema = &toleration_schema, .common = true),
    FIELD(struct pod, affinity, FIELD_POINTER, "affinity", .schema = &affinity_schema),
    FIELD(struct pod, spreads, FIELD_LIST, "spreads", .schema = &spread_schema, .common = true),
    FIELD(struct pod, volumes, FIELD_LIST, "volumes", .schema = &pod_volume_schema),
};

#define POD_SCHEMA(label)                                                                          \
    {                                                                                              \
        .name = (label), .size = sizeof(struct pod), .count = COUNT_OF(pod_fields),                \
        .fields = pod_fields, .wire = &wire_schema, .convert = pod_convert                         \
    }
const struct schema pod_schema = POD_SCHEMA("Pod");
const struct schema pod_template_schema = POD_SCHEMA("pod template");

/* ---- where it goes, alone ---- */

static const struct field placement_spec_fields[] = {
    FIELD(struct pod, node, FIELD_SYM, "nodeName"),
    FIELD(struct pod, scheduler, FIELD_SYM, "schedulerName"),
    FIELD(struct pod, priority, FIELD_INT32, "priority"),
    FIELD(struct pod, node_selector, FIELD_MAP, "nodeSelector", .schema = &label_schema),
    FIELD(struct pod, tolerations, FIELD_LIST, "tolerations", .schema = &toleration_schema),
    FIELD(struct pod, affinity, FIELD_POINTER, "affinity", .schema = &affinity_schema),
};
static const struct schema placement_spec = SCHEMA(struct pod, "spec", placement_spec_fields);

static const struct field placement_wire_fields[] = {
    FIELD(struct pod, meta, FIELD_OBJECT, "metadata", .schema = &pod_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &placement_spec},
};
static const struct schema placement_wire = SCHEMA(struct pod, "Pod", placement_wire_fields);

static void placement_convert(struct decode *d, const void *wire, void *out)
{
    (void)d;
    struct pod *p = out;
    *p = *(const struct pod *)wire;
    p->node = absent_if_empty(p->node);
}

const struct schema pod_placement_schema = {
    .name = "Pod", .size = sizeof(struct pod), .count = COUNT_OF(pod_fields), .fields = pod_fields,
    .wire = &placement_wire, .convert = placement_convert};
