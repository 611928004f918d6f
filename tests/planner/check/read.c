/* The plan as `plan -o json` prints it. Strict: a member that the contract does not list is refused. */
#include "inner.h"

static const struct field claim_fields[] = {
    FIELD(struct written_claim, name, FIELD_SPAN, "name"),
    FIELD(struct written_claim, pool, FIELD_SPAN, "nodePool"),
    FIELD(struct written_claim, requirements, FIELD_LIST, "requirements",
          .schema = &expression_schema),
    FIELD(struct written_claim, labels, FIELD_MAP, "labels", .schema = &label_schema),
    FIELD(struct written_claim, annotations, FIELD_MAP, "annotations", .schema = &label_schema),
    FIELD(struct written_claim, taints, FIELD_LIST, "taints", .schema = &taint_schema),
    FIELD(struct written_claim, types, FIELD_SPANS, "instanceTypes"),
    FIELD(struct written_claim, price, FIELD_DOUBLE, "price",
          FIELD_HAS(struct written_claim, has_price)),
    FIELD(struct written_claim, requests, FIELD_MAP, "requests", .schema = &resource_schema),
    FIELD(struct written_claim, pods, FIELD_SPANS, "pods"),
};
static const struct schema claim_schema = {.name = "claim", .size = sizeof(struct written_claim),
    .count = COUNT_OF(claim_fields), .fields = claim_fields, .strict = true};

static const struct field node_fields[] = {
    FIELD(struct written_node, name, FIELD_SPAN, "name"),
    FIELD(struct written_node, pods, FIELD_SPANS, "pods"),
};
static const struct schema written_node_schema = {.name = "node",
    .size = sizeof(struct written_node), .count = COUNT_OF(node_fields), .fields = node_fields,
    .strict = true};

static const struct field unschedulable_fields[] = {
    FIELD(struct written_unschedulable, pod, FIELD_SPAN, "pod"),
    FIELD(struct written_unschedulable, reason, FIELD_SPAN, "reason"),
    FIELD(struct written_unschedulable, message, FIELD_SPAN, "message"),
    FIELD(struct written_unschedulable, details, FIELD_SPANS, "details"),
};
static const struct schema unschedulable_schema = {.name = "unschedulable",
    .size = sizeof(struct written_unschedulable), .count = COUNT_OF(unschedulable_fields),
    .fields = unschedulable_fields, .strict = true};

static const struct field cost_fields[] = {
    FIELD(struct written_plan, before, FIELD_DOUBLE, "before",
          FIELD_HAS(struct written_plan, has_before)),
    FIELD(struct written_plan, after, FIELD_DOUBLE, "after",
          FIELD_HAS(struct written_plan, has_after)),
    FIELD(struct written_plan, lower_bound, FIELD_DOUBLE, "lowerBound",
          FIELD_HAS(struct written_plan, has_bound)),
};
static const struct schema cost_schema = SCHEMA(struct written_plan, "cost", cost_fields);

static const struct field search_fields[] = {
    FIELD(struct written_plan, complete, FIELD_BOOL, "complete"),
};
static const struct schema search_schema = SCHEMA(struct written_plan, "search", search_fields);

static const struct field plan_fields[] = {
    FIELD(struct written_plan, claims, FIELD_LIST, "nodeClaims", .schema = &claim_schema),
    FIELD(struct written_plan, nodes, FIELD_LIST, "existingNodes", .schema = &written_node_schema),
    FIELD(struct written_plan, unschedulable, FIELD_LIST, "unschedulable",
          .schema = &unschedulable_schema),
    FIELD(struct written_plan, warnings, FIELD_SPANS, "warnings"),
    {.name = "cost", .kind = FIELD_OBJECT, .schema = &cost_schema},
    {.name = "search", .kind = FIELD_OBJECT, .schema = &search_schema},
};
static const struct schema plan_schema = SCHEMA(struct written_plan, "plan", plan_fields);

bool read_plan(struct check *k, struct span text)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {.kind = ERR_NONE};
    size_t at = 0;
    bool json = text.len != 0 && text.ptr[0] == '{';
    bool ok = (json ? doc_parse_json(parser, text, &doc, &err)
                    : doc_parse_yaml(parser, text, &at, &doc, &err)) &&
              decode_one(&k->arena, k->syms, doc_root(doc), &plan_schema, &k->plan, &err);
    if (!ok)
        broken(k, "the plan cannot be read: %s", err.msg);
    doc_parser_free(parser);
    return ok;
}
