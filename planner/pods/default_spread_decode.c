/* --scheduler-config: what kube-scheduler's validation of defaultConstraints refuses is refused here. */
#include "base/doc.h"
#include "kube/requirement.h"
#include "planner/pods/default_spread.h"

struct wire_constraint {
    int32_t max_skew, min_domains;
    struct span topology_key, when, affinity_policy, taints_policy;
    bool has_selector;
    struct spans match_label_keys;
};

struct wire_config {
    struct {
        struct wire_constraint *items;
        uint32_t count;
    } constraints;
};

static const struct schema anything = {.name = "selector", .size = sizeof(struct wire_constraint)};

static const struct field constraint_fields[] = {
    FIELD(struct wire_constraint, max_skew, FIELD_INT32, "maxSkew"),
    FIELD(struct wire_constraint, min_domains, FIELD_INT32, "minDomains"),
    FIELD(struct wire_constraint, topology_key, FIELD_SPAN, "topologyKey"),
    FIELD(struct wire_constraint, when, FIELD_SPAN, "whenUnsatisfiable"),
    FIELD(struct wire_constraint, affinity_policy, FIELD_SPAN, "nodeAffinityPolicy"),
    FIELD(struct wire_constraint, taints_policy, FIELD_SPAN, "nodeTaintsPolicy"),
    {.name = "labelSelector",
     .kind = FIELD_OBJECT,
     .present = offsetof(struct wire_constraint, has_selector),
     .schema = &anything},
    FIELD(struct wire_constraint, match_label_keys, FIELD_SPANS, "matchLabelKeys"),
};
static const struct schema constraint_schema = {.name = "constraint",
                                                .size = sizeof(struct wire_constraint),
                                                .count = COUNT_OF(constraint_fields),
                                                .fields = constraint_fields,
                                                .strict = true};

static const struct field spread_fields[] = {
    FIELD(struct wire_config, constraints, FIELD_LIST, "defaultConstraints",
          .schema = &constraint_schema),
};
static const struct schema spread_schema = {.name = "podTopologySpread",
                                            .size = sizeof(struct wire_config),
                                            .count = COUNT_OF(spread_fields),
                                            .fields = spread_fields,
                                            .strict = true};

static const struct field config_fields[] = {
    {.name = "podTopologySpread", .kind = FIELD_OBJECT, .schema = &spread_schema},
};
static const struct schema config_schema = {.name = "scheduler configuration",
                                            .size = sizeof(struct wire_config),
                                            .count = COUNT_OF(config_fields),
                                            .fields = config_fields,
                                            .strict = true};

/* The field and what is wrong with it, or NULL. */
static const char *fault_of(const struct wire_constraint *c)
{
    if (c->max_skew <= 0)
        return "maxSkew: must be greater than 0";
    if (c->topology_key.len == 0)
        return "topologyKey: is missing";
    if (!qualified_name_valid(c->topology_key))
        return "topologyKey: is not a label name like topology.kubernetes.io/zone";
    if (!span_eq(c->when, SPAN("DoNotSchedule")) && !span_eq(c->when, SPAN("ScheduleAnyway")))
        return "whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway";
    if (c->has_selector)
        return "labelSelector: must not be set; it is deduced for each pod";
    if (c->match_label_keys.count != 0)
        return "matchLabelKeys: must not be set; it has no effect on default constraints";
    return NULL;
}

#define AT "podTopologySpread.defaultConstraints[%u]"

static bool check(const struct wire_config *w, struct err *err)
{
    for (uint32_t i = 0; i < w->constraints.count; i++) {
        const struct wire_constraint *c = &w->constraints.items[i];
        const char *fault = fault_of(c);
        if (fault != NULL)
            return err_set(err, ERR_INVALID, AT ".%s", i, fault);
        for (uint32_t k = 0; k < i; k++)
            if (span_eq(c->topology_key, w->constraints.items[k].topology_key) &&
                span_eq(c->when, w->constraints.items[k].when))
                return err_set(err, ERR_INVALID,
                               AT ": is [%u] again: topologyKey and whenUnsatisfiable are the same", i,
                               k);
    }
    return true;
}

static bool read_document(struct arena *a, struct doc_parser *p, struct span text,
                          struct wire_config *out, struct err *err)
{
    const struct doc *doc;
    size_t at = 0;
    *out = (struct wire_config){0};
    if (!doc_parse_yaml(p, text, &at, &doc, err))
        return err->kind == ERR_NONE; /* nothing but comments: nothing is set */
    if (!decode_one(a, NULL, doc_root(doc), &config_schema, out, err))
        return false;
    if (doc_parse_yaml(p, text, &at, &doc, err))
        return err_set(err, ERR_INVALID, "holds more than one document");
    return err->kind == ERR_NONE;
}

bool default_spread_decode(struct arena *a, struct span text, struct default_spread_config *out,
                           struct err *err)
{
    struct wire_config w;
    *err = (struct err){0};
    *out = (struct default_spread_config){NULL, 0};
    struct doc_parser *p = doc_parser_new();
    bool ok = read_document(a, p, text, &w, err) && check(&w, err);
    doc_parser_free(p);
    if (!ok)
        return false;
    struct default_constraint *items =
        ARENA_ARRAY(a, struct default_constraint, w.constraints.count);
    for (uint32_t i = 0; i < w.constraints.count; i++) {
        const struct wire_constraint *c = &w.constraints.items[i];
        items[i] = (struct default_constraint){
            .max_skew = c->max_skew,
            .min_domains = c->min_domains,
            .topology_key = c->topology_key,
            .hard = span_eq(c->when, SPAN("DoNotSchedule")),
            .ignore_affinity = span_eq(c->affinity_policy, SPAN("Ignore")),
            .honor_taints = span_eq(c->taints_policy, SPAN("Honor")),
        };
    }
    *out = (struct default_spread_config){items, w.constraints.count};
    return true;
}
