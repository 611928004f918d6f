/* Every entry is written in the explicit form, from which nothing is derived: two readers of one file, a year apart, see
 * the same machines. */
#include "cloud/catalogue.h"

#include "cloud/catalogue_source.h"

static void put_texts(struct json *j, const char *key, const struct spans *texts)
{
    if (texts->count == 0)
        return;
    json_put_array(j, key);
    for (uint32_t i = 0; i < texts->count; i++)
        json_text(j, texts->items[i]);
    json_array_end(j);
}

static void put_requirements(struct json *j, const struct source_requirements *r)
{
    json_put_array(j, "requirements");
    for (uint32_t i = 0; i < r->count; i++) {
        json_object_begin(j);
        json_put_string(j, "key", r->items[i].key);
        json_put_string(j, "operator", span_of(op_name(r->items[i].op)));
        put_texts(j, "values", &r->items[i].values);
        if (r->items[i].min_values != 0)
            json_put_int(j, "minValues", r->items[i].min_values);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_amounts(struct json *j, const char *key, const struct source_amounts *amounts)
{
    json_put_object(j, key);
    for (uint32_t i = 0; i < amounts->count; i++) {
        json_key(j, amounts->items[i].name);
        json_text(j, amounts->items[i].quantity);
    }
    json_object_end(j);
}

static void put_overhead(struct json *j, const char *key, const struct source_overhead *o)
{
    json_put_object(j, key);
    if (o->kube_reserved.count != 0)
        put_amounts(j, "kubeReserved", &o->kube_reserved);
    if (o->system_reserved.count != 0)
        put_amounts(j, "systemReserved", &o->system_reserved);
    if (o->eviction_threshold.count != 0)
        put_amounts(j, "evictionThreshold", &o->eviction_threshold);
    json_object_end(j);
}

static void put_offering(struct json *j, const struct source_offering *o)
{
    json_object_begin(j);
    put_requirements(j, &o->requirements);
    if (o->has_price) {
        json_key(j, SPAN("price"));
        json_double(j, o->price);
    }
    json_put_bool(j, "available", o->available);
    if (o->reservation_capacity != 0)
        json_put_int(j, "reservationCapacity", o->reservation_capacity);
    if (o->has_capacity_override)
        put_amounts(j, "capacityOverride", &o->capacity_override);
    if (o->has_overhead_override)
        put_overhead(j, "overheadOverride", &o->overhead_override);
    json_object_end(j);
}

static void put_limits(struct json *j, const struct source_amounts *limits)
{
    if (limits->count == 0)
        return;
    json_put_object(j, "volumeAttachmentLimits");
    for (uint32_t i = 0; i < limits->count; i++) {
        json_key(j, limits->items[i].name);
        json_raw(j, limits->items[i].quantity); /* decode_count took a number */
    }
    json_object_end(j);
}

static void put_type(struct json *j, const struct source_type *t)
{
    json_object_begin(j);
    json_put_string(j, "name", t->name);
    put_texts(j, "nodePools", &t->node_pools);
    put_requirements(j, &t->requirements);
    put_amounts(j, "resources", &t->resources);
    put_overhead(j, "overhead", &t->overhead);
    put_limits(j, &t->volume_limits);
    json_put_array(j, "offerings");
    for (uint32_t i = 0; i < t->offerings.count; i++)
        put_offering(j, &t->offerings.items[i]);
    json_array_end(j);
    json_object_end(j);
}

/* Finishing a catalogue adds the reservations' label; what reads this adds it again. */
static void put_well_known(struct json *j, const struct catalogue_source *s)
{
    json_put_array(j, "wellKnownLabels");
    for (uint32_t i = 0; i < s->well_known.count; i++) {
        bool repeated = span_eq(s->well_known.items[i], s->reservation_id_label);
        for (uint32_t k = 0; k < i && !repeated; k++)
            repeated = span_eq(s->well_known.items[i], s->well_known.items[k]);
        if (!repeated)
            json_text(j, s->well_known.items[i]);
    }
    json_array_end(j);
}

static void put_if(struct json *j, const char *key, struct span text)
{
    if (text.ptr != NULL)
        json_put_string(j, key, text);
}

static void put_repair(struct json *j, const struct repair_texts *r)
{
    if (r->count == 0)
        return;
    json_put_array(j, "repairPolicies");
    for (uint32_t i = 0; i < r->count; i++) {
        json_object_begin(j);
        put_if(j, "conditionType", r->items[i].condition_type);
        put_if(j, "conditionStatus", r->items[i].condition_status);
        put_if(j, "reasonRegex", r->items[i].reason_regex);
        put_if(j, "tolerationDuration", r->items[i].toleration);
        put_if(j, "terminationGracePeriod", r->items[i].grace);
        put_if(j, "action", r->items[i].action);
        json_put_int(j, "priority", r->items[i].priority);
        json_object_end(j);
    }
    json_array_end(j);
}

void catalogue_write(struct json *j, const struct catalogue_source *s)
{
    json_object_begin(j);
    if (s->reservation_id_label.len != 0)
        json_put_string(j, "reservationIDLabel", s->reservation_id_label);
    put_well_known(j, s);
    put_texts(j, "unsupportedProvisioners", &s->unsupported_drivers);
    put_texts(j, "unsupportedTopologyKeys", &s->unsupported_topology_keys);
    put_repair(j, &s->repair);
    json_put_array(j, "instanceTypes");
    for (uint32_t i = 0; i < s->count; i++)
        put_type(j, &s->types[i]);
    json_array_end(j);
    json_object_end(j);
}
