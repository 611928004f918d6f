#include "extender/args.h"

static const struct field meta_fields[] = {
    FIELD(struct pod_identity, ns, FIELD_SPAN, "namespace"),
    FIELD(struct pod_identity, name, FIELD_SPAN, "name"),
    FIELD(struct pod_identity, uid, FIELD_SPAN, "uid"),
};
static const struct schema pod_meta = SCHEMA(struct pod_identity, "metadata", meta_fields);

static const struct field pod_fields[] = {
    {.name = "metadata", .kind = FIELD_OBJECT, .schema = &pod_meta},
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
    return doc_parse_json(s->parser, body, &doc, err) &&
           decode_borrow(&s->arena, doc_root(doc), &args_schema, out, err);
}

bool extender_subject(struct extender_scratch *s, const struct extender_view *v,
                      const struct pod_identity *pod, struct subject *out)
{
    if (v->snapshot == NULL || v->world == NULL)
        return false;
    out->pod = snapshot_find(v->snapshot, KIND_POD, pod->ns, pod->name);
    if (out->pod == NULL || !span_eq(out->pod->meta.uid, pod->uid))
        return false;
    out->class_id = world_class_of(v->world, out->pod);
    if (out->class_id < 0)
        return false;
    out->held = NULL;
    if (v->places == NULL || v->places->count == 0)
        return true;
    const struct held *all =
        v->held != NULL ? v->held : places_held(&s->arena, v->places, v->world);
    out->held = held_without(&s->arena, all, v->places, v->world, pod->uid);
    recent_hold(&s->recent, &s->arena, out->held, v->world, pod->uid, v->now);
    return true;
}
