#include "extender/args.h"

static const struct field meta_fields[] = {
    FIELD(struct pod_identity, ns, FIELD_SPAN, "namespace"),
    FIELD(struct pod_identity, name, FIELD_SPAN, "name"),
    FIELD(struct pod_identity, uid, FIELD_SPAN, "uid"),
};
static const struct schema pod_meta = SCHEMA(struct pod_identity, "metadata", meta_fields);

static const struct field status_fields[] = {
    FIELD(struct pod_identity, nominated, FIELD_SPAN, "nominatedNodeName"),
};
static const struct schema pod_status = SCHEMA(struct pod_identity, "status", status_fields);

static const struct field pod_fields[] = {
    {.name = "metadata", .kind = FIELD_OBJECT, .schema = &pod_meta},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &pod_status},
};
static const struct schema pod_identity_schema = SCHEMA(struct pod_identity, "Pod", pod_fields);

static const struct field victim_fields[] = {FIELD(struct victim, uid, FIELD_SPAN, "UID")};
static const struct schema victim_schema = SCHEMA(struct victim, "victim", victim_fields);

struct meta_victims {
    struct {
        struct victim *items;
        uint32_t count;
    } pods;
    int64_t pdb_violations;
};

static const struct field meta_victims_fields[] = {
    FIELD(struct meta_victims, pods, FIELD_LIST, "Pods", .schema = &victim_schema),
    FIELD(struct meta_victims, pdb_violations, FIELD_INT64, "NumPDBViolations"),
};
static const struct schema meta_victims_schema =
    SCHEMA(struct meta_victims, "MetaVictims", meta_victims_fields);

static const struct field candidate_fields[] = {
    FIELD(struct victims, node, FIELD_SPAN, "node"),
    {.name = "victims",
     .kind = FIELD_OBJECT,
     .offset = offsetof(struct victims, pods),
     .schema = &meta_victims_schema},
};
static const struct schema candidate_schema = SCHEMA(struct victims, "candidate", candidate_fields);

static const struct field args_fields[] = {
    FIELD(struct extender_args, pod, FIELD_OBJECT, "Pod", .schema = &pod_identity_schema,
          .required = true),
    FIELD(struct extender_args, node_names, FIELD_SPANS, "NodeNames",
          FIELD_HAS(struct extender_args, has_node_names)),
    FIELD(struct extender_args, candidates, FIELD_MAP, "NodeNameToMetaVictims",
          .schema = &candidate_schema, FIELD_HAS(struct extender_args, has_candidates)),
};
static const struct schema args_schema = SCHEMA(struct extender_args, "ExtenderArgs", args_fields);

bool extender_args_decode(struct extender_scratch *s, struct span body, struct extender_args *out,
                          struct err *err)
{
    arena_clear(&s->arena);
    const struct doc *doc;
    if (!doc_parse_json(s->parser, body, &doc, err) ||
        !decode_borrow(&s->arena, doc_root(doc), &args_schema, out, err))
        return false;
    return doc_find(doc_root(doc), SPAN("Pod"), &out->pod_value) ||
           err_set(err, ERR_INVALID, "Pod: is missing");
}

void extender_scratch_init(struct extender_scratch *s)
{
    *s = (struct extender_scratch){.parser = doc_parser_new()};
    arena_init(&s->arena, 0);
    arena_init(&s->desk.arena, 0);
}

void extender_scratch_release(struct extender_scratch *s)
{
    doc_parser_free(s->parser);
    arena_release(&s->arena);
    desk_release(&s->desk);
}
