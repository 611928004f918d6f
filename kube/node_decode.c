/* Node, NodeClaim, NodePool and KWOKNodeClass. Defaults are those that the API server fills in when
 * it reads a stored object (spec api 3.4), so that a file written by hand means what it would mean
 * in a cluster. */
#include "kube/meta_fields.h"
#include "kube/node.h"
#include "kube/node_check.h"
#include "kube/object_bounds.h"

/* "720h", or Never. */
struct nillable {
    bool given, never;
    span_ms length;
};

/* The schema admits whole hours, minutes and seconds only. A length that no int64 of nanoseconds
 * holds passes the schema too: it is read as the longest, for pool_validate to find. */
static bool duration_in_schema(struct span s)
{
    size_t digits = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c >= '0' && c <= '9')
            digits++;
        else if (digits != 0 && (c == 'h' || c == 'm' || c == 's'))
            digits = 0;
        else
            return false;
    }
    return s.len != 0 && digits == 0;
}

static bool decode_length(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING || !duration_in_schema(doc_text(v)))
        return decode_refuse(v, "a duration; write hours, minutes and seconds like \"1h30m\"", err);
    if (!duration_parse(doc_text(v), out))
        *(span_ms *)out = DURATION_TOO_LONG;
    return true;
}

static bool decode_nillable(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    struct nillable *n = out;
    n->given = true;
    n->never = doc_type(v) == DOC_STRING && span_eq(doc_text(v), SPAN("Never"));
    if (n->never || decode_length(d, v, &n->length, err))
        return true;
    return decode_refuse(v, "a duration; write hours, minutes and seconds like \"720h\", or Never",
                         err);
}

static bool decode_policy(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    static const struct {
        struct span text;
        enum consolidation_policy policy;
    } names[] = {
        {SPAN_INIT("WhenEmptyOrUnderutilized"), CONSOLIDATE_EMPTY_OR_UNDERUTILIZED},
        {SPAN_INIT("WhenEmpty"), CONSOLIDATE_EMPTY},
        {SPAN_INIT("Balanced"), CONSOLIDATE_BALANCED},
    };
    (void)d;
    for (size_t i = 0; doc_type(v) == DOC_STRING && i < COUNT_OF(names); i++) {
        if (span_eq(doc_text(v), names[i].text)) {
            *(enum consolidation_policy *)out = names[i].policy;
            return true;
        }
    }
    return decode_refuse(
        v, "a consolidation policy; use WhenEmptyOrUnderutilized, WhenEmpty or Balanced", err);
}

/* Node */

static const struct field node_spec_fields[] = {
    FIELD(struct node, provider_id, FIELD_SPAN, "providerID"),
    FIELD(struct node, unschedulable, FIELD_BOOL, "unschedulable"),
    FIELD(struct node, taints, FIELD_LIST, "taints", .schema = &taint_schema),
};
static const struct schema node_spec =
    SCHEMA_WITH(struct node, "spec", node_spec_fields,
                .also = "podCIDR podCIDRs configSource externalID");

static const struct field node_info_fields[] = {
    FIELD(struct node, boot_id, FIELD_SPAN, "bootID"),
};
static const struct schema node_info = SCHEMA(struct node, "nodeInfo", node_info_fields);

static const struct field node_status_fields[] = {
    {.name = "nodeInfo", .kind = FIELD_OBJECT, .schema = &node_info},
    FIELD(struct node, capacity, FIELD_MAP, "capacity", .schema = &resource_schema),
    FIELD(struct node, allocatable, FIELD_MAP, "allocatable", .schema = &resource_schema),
    FIELD(struct node, conditions, FIELD_LIST, "conditions", .schema = &quiet_condition_schema),
};
static const struct schema node_status = SCHEMA(struct node, "status", node_status_fields);

static const struct field node_fields[] = {
    FIELD(struct node, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &node_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &node_status},
};
const struct schema node_schema =
    SCHEMA_WITH(struct node, "Node", node_fields, .also = "apiVersion kind");

static const struct field class_ref_fields[] = {
    FIELD(struct node_class_ref, group, FIELD_SPAN, "group"),
    FIELD(struct node_class_ref, kind, FIELD_SPAN, "kind"),
    FIELD(struct node_class_ref, name, FIELD_SPAN, "name"),
};
static const struct schema class_ref_schema =
    SCHEMA_WITH(struct node_class_ref, "nodeClassRef", class_ref_fields, .also = "",
                .check = node_check_class_ref);

/* NodeClaim */

struct node_claim_wire {
    struct node_claim claim;
    struct nillable expire;
};

static const struct field claim_resource_fields[] = {
    FIELD(struct node_claim_wire, claim.requests, FIELD_MAP, "requests",
          .schema = &resource_schema),
};
static const struct schema claim_resources =
    SCHEMA_WITH(struct node_claim_wire, "resources", claim_resource_fields, .also = "");

static const struct field claim_spec_fields[] = {
    FIELD(struct node_claim_wire, claim.node_class, FIELD_OBJECT, "nodeClassRef",
          .schema = &class_ref_schema),
    FIELD(struct node_claim_wire, claim.requirements, FIELD_LIST, "requirements",
          .schema = &expression_schema),
    {.name = "resources", .kind = FIELD_OBJECT, .schema = &claim_resources},
    FIELD(struct node_claim_wire, claim.taints, FIELD_LIST, "taints", .schema = &taint_schema),
    FIELD(struct node_claim_wire, claim.startup_taints, FIELD_LIST, "startupTaints",
          .schema = &taint_schema),
    FIELD(struct node_claim_wire, expire, FIELD_SCALAR, "expireAfter", .scalar = decode_nillable),
    FIELD(struct node_claim_wire, claim.grace, FIELD_SCALAR, "terminationGracePeriod",
          .scalar = decode_length, FIELD_HAS(struct node_claim_wire, claim.has_grace)),
};
static const struct schema claim_spec =
    SCHEMA_WITH(struct node_claim_wire, "spec", claim_spec_fields, .also = "");

static const struct field claim_status_fields[] = {
    FIELD(struct node_claim_wire, claim.node_name, FIELD_SYM, "nodeName"),
    FIELD(struct node_claim_wire, claim.provider_id, FIELD_SPAN, "providerID"),
    FIELD(struct node_claim_wire, claim.image_id, FIELD_SPAN, "imageID"),
    FIELD(struct node_claim_wire, claim.capacity, FIELD_MAP, "capacity",
          .schema = &resource_schema),
    FIELD(struct node_claim_wire, claim.allocatable, FIELD_MAP, "allocatable",
          .schema = &resource_schema),
    FIELD(struct node_claim_wire, claim.conditions, FIELD_LIST, "conditions",
          .schema = &condition_schema),
    FIELD(struct node_claim_wire, claim.last_pod_event, FIELD_SCALAR, "lastPodEventTime",
          .scalar = decode_time),
};
static const struct schema claim_status =
    SCHEMA_WITH(struct node_claim_wire, "status", claim_status_fields, .also = "");

static const struct field claim_wire_fields[] = {
    FIELD(struct node_claim_wire, claim.meta, FIELD_OBJECT, "metadata",
          .schema = &claim_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &claim_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &claim_status},
};
static const struct schema claim_wire =
    SCHEMA_WITH(struct node_claim_wire, "NodeClaim", claim_wire_fields, .also = "apiVersion kind");

static span_ms expire_of(struct nillable n, bool *has_out)
{
    static const span_ms api_default = 720LL * MS_HOUR;
    *has_out = !n.never;
    return n.never ? 0 : n.given ? n.length : api_default;
}

static void claim_convert(struct decode *d, const void *wire, void *out)
{
    (void)d;
    const struct node_claim_wire *w = wire;
    struct node_claim *c = out;
    *c = w->claim;
    c->expire_after = expire_of(w->expire, &c->has_expire_after);
    c->never_expires = w->expire.never;
    if (c->node_name == SYM_EMPTY)
        c->node_name = SYM_NONE;
}

static const struct field claim_fields[] = {
    FIELD(struct node_claim, meta, FIELD_OBJECT, "metadata", .schema = &claim_meta_schema),
    FIELD(struct node_claim, node_class, FIELD_OBJECT, "nodeClassRef", .schema = &class_ref_schema),
    FIELD(struct node_claim, requirements, FIELD_LIST, "requirements",
          .schema = &expression_schema),
    FIELD(struct node_claim, requests, FIELD_MAP, "requests", .schema = &resource_schema),
    FIELD(struct node_claim, taints, FIELD_LIST, "taints", .schema = &taint_schema),
    FIELD(struct node_claim, startup_taints, FIELD_LIST, "startupTaints", .schema = &taint_schema),
    FIELD(struct node_claim, node_name, FIELD_SYM, "nodeName"),
    FIELD(struct node_claim, provider_id, FIELD_SPAN, "providerID"),
    FIELD(struct node_claim, image_id, FIELD_SPAN, "imageID"),
    FIELD(struct node_claim, capacity, FIELD_MAP, "capacity", .schema = &resource_schema),
    FIELD(struct node_claim, allocatable, FIELD_MAP, "allocatable", .schema = &resource_schema),
    FIELD(struct node_claim, conditions, FIELD_LIST, "conditions", .schema = &condition_schema),
};
const struct schema node_claim_schema = {
    .name = "NodeClaim",
    .size = sizeof(struct node_claim),
    .count = COUNT_OF(claim_fields),
    .fields = claim_fields,
    .wire = &claim_wire,
    .convert = claim_convert,
};

/* NodePool */

struct node_pool_wire {
    struct node_pool pool;
    struct nillable expire, consolidate;
};

static const struct field plain_label_fields[] = {
    FIELD(struct plain_label, key, FIELD_SPAN, "key"),
    FIELD(struct plain_label, value, FIELD_SPAN, "value"),
};
static const struct schema plain_label_schema =
    SCHEMA(struct plain_label, "annotation", plain_label_fields);

static const struct field budget_fields[] = {
    FIELD(struct budget, nodes, FIELD_SPAN, "nodes"),
    FIELD(struct budget, reasons, FIELD_SPANS, "reasons", FIELD_HAS(struct budget, has_reasons)),
    FIELD(struct budget, schedule, FIELD_SPAN, "schedule"),
    FIELD(struct budget, duration, FIELD_SPAN, "duration"),
};
static const struct schema budget_schema =
    SCHEMA_WITH(struct budget, "budget", budget_fields, .also = "", .check = node_check_budget);

static const struct field template_meta_fields[] = {
    FIELD(struct node_pool_wire, pool.labels, FIELD_MAP, "labels", .schema = &label_schema,
          FIELD_HAS(struct node_pool_wire, pool.has_labels)),
    FIELD(struct node_pool_wire, pool.annotations, FIELD_MAP, "annotations",
          .schema = &plain_label_schema, FIELD_HAS(struct node_pool_wire, pool.has_annotations)),
};
static const struct schema template_meta =
    SCHEMA_WITH(struct node_pool_wire, "metadata", template_meta_fields, .also = "");

static const struct field template_spec_fields[] = {
    FIELD(struct node_pool_wire, pool.node_class, FIELD_OBJECT, "nodeClassRef",
          .schema = &class_ref_schema, .needed = true),
    FIELD(struct node_pool_wire, pool.requirements, FIELD_LIST, "requirements",
          .schema = &expression_schema, .needed = true),
    FIELD(struct node_pool_wire, pool.taints, FIELD_LIST, "taints", .schema = &taint_schema,
          FIELD_HAS(struct node_pool_wire, pool.has_taints)),
    FIELD(struct node_pool_wire, pool.startup_taints, FIELD_LIST, "startupTaints",
          .schema = &taint_schema, FIELD_HAS(struct node_pool_wire, pool.has_startup_taints)),
    FIELD(struct node_pool_wire, expire, FIELD_SCALAR, "expireAfter", .scalar = decode_nillable),
    FIELD(struct node_pool_wire, pool.grace, FIELD_SCALAR, "terminationGracePeriod",
          .scalar = decode_length, FIELD_HAS(struct node_pool_wire, pool.has_grace)),
};
static const struct schema template_spec =
    SCHEMA_WITH(struct node_pool_wire, "spec", template_spec_fields, .also = "");

static const struct field template_fields[] = {
    {.name = "metadata", .kind = FIELD_OBJECT, .schema = &template_meta},
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &template_spec, .needed = true},
};
static const struct schema template_schema =
    SCHEMA_WITH(struct node_pool_wire, "template", template_fields, .also = "");

static const struct field disruption_fields[] = {
    FIELD(struct node_pool_wire, pool.policy, FIELD_SCALAR, "consolidationPolicy",
          .scalar = decode_policy),
    FIELD(struct node_pool_wire, consolidate, FIELD_SCALAR, "consolidateAfter",
          .scalar = decode_nillable),
    FIELD(struct node_pool_wire, pool.budgets, FIELD_LIST, "budgets", .schema = &budget_schema,
          FIELD_HAS(struct node_pool_wire, pool.has_budgets)),
};
static const struct schema disruption_schema =
    SCHEMA_WITH(struct node_pool_wire, "disruption", disruption_fields, .also = "");

static const struct field pool_spec_fields[] = {
    {.name = "template", .kind = FIELD_OBJECT, .schema = &template_schema, .needed = true},
    {.name = "disruption", .kind = FIELD_OBJECT, .schema = &disruption_schema},
    FIELD(struct node_pool_wire, pool.limits, FIELD_MAP, "limits",
          .schema = &signed_resource_schema),
    FIELD(struct node_pool_wire, pool.weight, FIELD_INT32, "weight", .low = 1, .high = 100),
    FIELD(struct node_pool_wire, pool.replicas, FIELD_INT64, "replicas", .low = 0,
          .high = INT32_MAX, FIELD_HAS(struct node_pool_wire, pool.has_replicas)),
};
static void check_pool_spec(struct decode *d, struct doc_value v, const void *object)
{
    node_check_pool(d, v, &((const struct node_pool_wire *)object)->pool);
}

static const struct schema pool_spec =
    SCHEMA_WITH(struct node_pool_wire, "spec", pool_spec_fields, .also = "", .check = check_pool_spec);

static const struct field pool_status_fields[] = {
    FIELD(struct node_pool_wire, pool.conditions, FIELD_LIST, "conditions",
          .schema = &condition_schema),
    FIELD(struct node_pool_wire, pool.status_nodes, FIELD_INT64, "nodes",
          FIELD_HAS(struct node_pool_wire, pool.has_status_nodes)),
    FIELD(struct node_pool_wire, pool.status_resources, FIELD_MAP, "resources",
          .schema = &resource_schema),
};
static const struct schema pool_status =
    SCHEMA_WITH(struct node_pool_wire, "status", pool_status_fields,
                .also = "nodeClassObservedGeneration");

static const struct field pool_wire_fields[] = {
    FIELD(struct node_pool_wire, pool.meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &pool_spec, .needed = true},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &pool_status},
};
static const struct schema pool_wire =
    SCHEMA_WITH(struct node_pool_wire, "NodePool", pool_wire_fields, .also = "apiVersion kind",
                OBJECT_BOUNDS(struct node_pool_wire, pool.meta));

static void default_budgets(struct decode *d, struct node_pool *p)
{
    static const struct span ten_percent = SPAN_INIT("10%");
    if (!p->has_budgets) {
        p->budgets = (struct budgets){ARENA_NEW(d->arena, struct budget), 1};
        p->has_budgets = true;
    }
    for (uint32_t i = 0; i < p->budgets.count; i++)
        if (p->budgets.items[i].nodes.ptr == NULL)
            p->budgets.items[i].nodes = arena_dup(d->arena, ten_percent);
}

static void pool_convert(struct decode *d, const void *wire, void *out)
{
    const struct node_pool_wire *w = wire;
    struct node_pool *p = out;
    *p = w->pool;
    p->expire_after = expire_of(w->expire, &p->has_expire_after);
    p->has_consolidate_after = !w->consolidate.never;
    p->consolidate_after = w->consolidate.length; /* 0s when it is not given */
    default_budgets(d, p);
}

static const struct field pool_fields[] = {
    FIELD(struct node_pool, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    FIELD(struct node_pool, meta.excess, FIELD_SYM, "excess"),
    FIELD(struct node_pool, labels, FIELD_MAP, "labels", .schema = &label_schema),
    FIELD(struct node_pool, annotations, FIELD_MAP, "annotations", .schema = &plain_label_schema),
    FIELD(struct node_pool, node_class, FIELD_OBJECT, "nodeClassRef", .schema = &class_ref_schema),
    FIELD(struct node_pool, requirements, FIELD_LIST, "requirements", .schema = &expression_schema),
    FIELD(struct node_pool, taints, FIELD_LIST, "taints", .schema = &taint_schema),
    FIELD(struct node_pool, startup_taints, FIELD_LIST, "startupTaints", .schema = &taint_schema),
    FIELD(struct node_pool, budgets, FIELD_LIST, "budgets", .schema = &budget_schema),
    FIELD(struct node_pool, limits, FIELD_MAP, "limits", .schema = &resource_schema),
    FIELD(struct node_pool, conditions, FIELD_LIST, "conditions", .schema = &condition_schema),
    FIELD(struct node_pool, status_resources, FIELD_MAP, "resources", .schema = &resource_schema),
};
const struct schema node_pool_schema = {
    .name = "NodePool",
    .size = sizeof(struct node_pool),
    .count = COUNT_OF(pool_fields),
    .fields = pool_fields,
    .wire = &pool_wire,
    .convert = pool_convert,
};

/* KWOKNodeClass */

static const struct field kwok_spec_fields[] = {
    FIELD(struct kwok_node_class, registration_delay, FIELD_SCALAR, "nodeRegistrationDelay",
          .scalar = decode_duration),
};
static const struct schema kwok_spec =
    SCHEMA_WITH(struct kwok_node_class, "spec", kwok_spec_fields, .also = "");

static const struct field kwok_status_fields[] = {
    FIELD(struct kwok_node_class, conditions, FIELD_LIST, "conditions",
          .schema = &condition_schema),
};
static const struct schema kwok_status =
    SCHEMA_WITH(struct kwok_node_class, "status", kwok_status_fields, .also = "");

static const struct field kwok_fields[] = {
    FIELD(struct kwok_node_class, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &kwok_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &kwok_status},
};
const struct schema kwok_node_class_schema =
    SCHEMA_WITH(struct kwok_node_class, "KWOKNodeClass", kwok_fields, .also = "apiVersion kind");
