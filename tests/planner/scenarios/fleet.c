#include "fleet.h"

#include "shorthand.h"
#include "sim/tree.h"

void fleet_init(struct fleet *f)
{
    *f = (struct fleet){.objects = json_array(), .places = json_object(), .stage = "initialized"};
    f->catalogue = catalogue_of_short(NULL);
    json_array_append(f->objects, pool_of_short(json_object()));
}

static const char *name_of(const json_t *object)
{
    return text_at(json_object_get(object, "metadata"), "name");
}

static const char *full_name(const json_t *pod)
{
    const char *ns = text_at(json_object_get(pod, "metadata"), "namespace");
    return format_text("%s/%s", ns != NULL ? ns : "default", name_of(pod));
}

static bool is_kind(const json_t *object, const char *kind)
{
    return strcmp(text_at(object, "kind"), kind) == 0;
}

json_t *fleet_find(const struct fleet *f, const char *kind, const char *name)
{
    size_t i;
    json_t *o;
    json_array_foreach(f->objects, i, o)
        if (is_kind(o, kind) && strcmp(name_of(o), name) == 0)
            return o;
    return NULL;
}

json_t *fleet_pod(const struct fleet *f, const char *wanted)
{
    size_t i;
    json_t *o;
    json_array_foreach(f->objects, i, o)
        if (is_kind(o, "Pod") && strcmp(full_name(o), wanted) == 0)
            return o;
    return NULL;
}

static bool names_pod(const char *name, const char *pod)
{
    size_t n = strlen(name);
    if (strncmp(name, pod, n) != 0)
        return false;
    return pod[n] == '\0' || (pod[n] == '-' && pod[n + 1] != '\0' &&
                              strspn(pod + n + 1, "0123456789") == strlen(pod + n + 1));
}

json_t *fleet_pods(const struct fleet *f, const char *name)
{
    json_t *out = json_array(), *o;
    size_t i;
    json_array_foreach(f->objects, i, o)
        if (is_kind(o, "Pod") && (names_pod(name, name_of(o)) || strcmp(name, full_name(o)) == 0))
            json_array_append_new(out, json_string(full_name(o)));
    if (json_array_size(out) == 0)
        mistake("there is no pod %s", name);
    return out;
}

const char *fleet_place(const struct fleet *f, const char *pod)
{
    return text_at(f->places, pod);
}

json_t *fleet_node_labels(const struct fleet *f, const char *node)
{
    json_t *o = fleet_find(f, "Node", node);
    if (o == NULL)
        o = fleet_find(f, "NodeClaim", node);
    return o != NULL ? tree_get(o, "metadata.labels") : NULL;
}

/* --- what a scenario says --- */

static void add_all(struct fleet *f, const json_t *section, const char *key,
                    json_t *(*make)(const json_t *))
{
    size_t i, k;
    json_t *entry, *one;
    json_array_foreach(json_object_get(section, key), i, entry)
        json_array_foreach(replicas_of(entry), k, one)
            json_array_append(f->objects, make(one));
}

static json_t *as_it_is(const json_t *object)
{
    return json_deep_copy(object);
}

static void add_nodes(struct fleet *f, const json_t *section)
{
    size_t i, k;
    json_t *entry, *one;
    json_array_foreach(json_object_get(section, "nodes"), i, entry)
        json_array_foreach(replicas_of(entry), k, one)
            json_array_extend(f->objects, node_of_short(one, f->catalogue));
}

static void remove_named(struct fleet *f, const char *kind, const char *name)
{
    for (size_t i = json_array_size(f->objects); i-- > 0;) {
        json_t *o = json_array_get(f->objects, i);
        if ((kind == NULL || is_kind(o, kind)) && (name == NULL || names_pod(name, name_of(o)))) {
            if (is_kind(o, "Pod"))
                json_object_del(f->places, full_name(o));
            json_array_remove(f->objects, i);
        }
    }
}

/* "Kind/name": a merge patch. */
static void patch_objects(struct fleet *f, const json_t *patches)
{
    const char *target;
    json_t *patch;
    json_object_foreach((json_t *)patches, target, patch) {
        struct span name, kind = span_cut(span_of(target), '/', &name);
        json_t *o = fleet_find(f, arena_cstr(json_arena(), kind), name.ptr != NULL ? name.ptr : "");
        if (o == NULL)
            mistake("there is no %s to patch", target);
        tree_merge(o, patch);
    }
}

static void note_bound_pods(struct fleet *f)
{
    size_t i;
    json_t *o;
    json_array_foreach(f->objects, i, o) {
        const json_t *node = is_kind(o, "Pod") ? tree_get(o, "spec.nodeName") : NULL;
        if (node != NULL)
            json_object_set_new(f->places, full_name(o), json_string(text_of(node)));
    }
}

void fleet_change(struct fleet *f, const json_t *section)
{
    size_t i;
    json_t *name;
    if (json_object_get(section, "types") != NULL)
        f->catalogue = catalogue_of_short(json_object_get(section, "types"));
    if (json_object_get(section, "pools") != NULL)
        remove_named(f, "NodePool", NULL);
    if (text_at(section, "launch") != NULL)
        f->stage = text_at(section, "launch");
    json_array_foreach(json_object_get(section, "delete"), i, name)
        remove_named(f, NULL, text_of(name));
    patch_objects(f, json_object_get(section, "patch"));
    add_all(f, section, "pools", pool_of_short);
    add_nodes(f, section);
    add_all(f, section, "daemons", daemon_of_short);
    add_all(f, section, "pods", pod_of_short);
    add_all(f, section, "pvcs", pvc_of_short);
    add_all(f, section, "pvs", pv_of_short);
    add_all(f, section, "classes", class_of_short);
    add_all(f, section, "csi-nodes", csi_node_of_short);
    add_all(f, section, "objects", as_it_is);
    note_bound_pods(f);
}

/* --- what a plan does --- */

static bool compatible(const json_t *offering, const json_t *wanted)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(offering, "requirements"), i, r)
        if (strcmp(text_at(r, "operator"), "In") == 0 &&
            value_of_requirements(json_object_get(offering, "requirements"), text_at(r, "key"),
                                  wanted) == NULL)
            return false;
    return true;
}

static const char *reservation_of(const json_t *offering)
{
    return value_of_requirements(json_object_get(offering, "requirements"), full_key("reservation"),
                                 NULL);
}

/* Reserved ones are taken while some are left; a full one only when a claim may have nothing else,
 * as with a reservation that is credited with more than the catalogue says. */
static json_t *choose_offering(const json_t *type, const json_t *wanted)
{
    json_t *chosen = NULL, *full = NULL, *o;
    size_t i;
    json_array_foreach(json_object_get(type, "offerings"), i, o) {
        bool reserved = reservation_of(o) != NULL;
        if (!json_is_true(json_object_get(o, "available")) || !compatible(o, wanted))
            continue;
        if (reserved && json_integer_value(json_object_get(o, "reservationCapacity")) <= 0)
            full = o;
        else if (chosen == NULL || (reserved && reservation_of(chosen) == NULL))
            chosen = o;
    }
    return chosen != NULL ? chosen : full;
}

/* One instance less is left of a reservation, wherever it is offered. */
static void use_reservation(struct fleet *f, const char *id)
{
    size_t i, k;
    json_t *type, *o;
    json_array_foreach(json_object_get(f->catalogue, "instanceTypes"), i, type)
        json_array_foreach(json_object_get(type, "offerings"), k, o)
            if (reservation_of(o) != NULL && strcmp(reservation_of(o), id) == 0)
                json_object_set_new(
                    o, "reservationCapacity",
                    json_integer(json_integer_value(json_object_get(o, "reservationCapacity")) -
                                 1));
}

static json_t *machine_labels(const json_t *claim, const json_t *type, const json_t *offering)
{
    const json_t *wanted = json_object_get(claim, "requirements");
    json_t *labels = json_deep_copy(json_object_get(claim, "labels")), *r;
    size_t i;
    json_array_foreach(wanted, i, r)
        if (strcmp(text_at(r, "operator"), "In") == 0 &&
            json_object_get(labels, text_at(r, "key")) == NULL)
            json_object_set(labels, text_at(r, "key"),
                            json_array_get(json_object_get(r, "values"), 0));
    const json_t *from[] = {json_object_get(type, "requirements"),
                            json_object_get(offering, "requirements")};
    for (size_t k = 0; k < COUNT_OF(from); k++)
        json_array_foreach(from[k], i, r) {
            const char *value = value_of_requirements(from[k], text_at(r, "key"), wanted);
            if (value != NULL)
                json_object_set_new(labels, text_at(r, "key"), json_string(value));
            else if (from[k] == from[1]) /* what the type has, this offering may not */
                json_object_del(labels, text_at(r, "key"));
        }
    return labels;
}

/* The claim's own name, unless a node of an earlier batch has it. */
static const char *node_name(const struct fleet *f, const char *name)
{
    while (fleet_node_labels(f, name) != NULL)
        name = format_text("%sx", name);
    return name;
}

static void launch(struct fleet *f, const json_t *claim, const char *name)
{
    const char *type_name = text_of(json_array_get(json_object_get(claim, "instanceTypes"), 0));
    const json_t *type = catalogue_find(f->catalogue, type_name);
    json_t *offering =
        type != NULL ? choose_offering(type, json_object_get(claim, "requirements")) : NULL;
    if (offering == NULL)
        mistake("claim %s cannot be launched: no offering of %s suits it", name, type_name);
    if (reservation_of(offering) != NULL)
        use_reservation(f, reservation_of(offering));
    json_t *labels = machine_labels(claim, type, offering);
    json_object_set(labels, full_key("instance-type"), json_object_get(type, "name"));
    json_t *made = node_of_short(json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", name, "pool",
                                           text_at(claim, "nodePool"), "stage", f->stage, "room",
                                           type_allocatable(type, offering), "labels", labels),
                                 f->catalogue);
    size_t i;
    json_t *o;
    json_array_foreach(made, i, o) {
        json_t *taints = json_object_get(claim, "taints");
        if (taints != NULL)
            json_object_set(json_object_get(o, "spec"), "taints", taints);
        if (is_kind(o, "NodeClaim"))
            json_object_set(json_object_get(o, "spec"), "requirements",
                            json_object_get(claim, "requirements"));
        json_array_append(f->objects, o);
    }
}

static void bind_pods(struct fleet *f, const json_t *holder, const char *node)
{
    bool there = fleet_find(f, "Node", node) != NULL;
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(holder, "pods"), i, name) {
        json_t *pod = fleet_pod(f, text_of(name));
        if (pod == NULL)
            mistake("the plan names pod %s, which is not there", text_of(name));
        json_object_set_new(f->places, text_of(name), json_string(node));
        if (!there)
            continue;
        json_object_set_new(object_at(pod, "spec"), "nodeName", json_string(node));
        json_object_set_new(object_at(pod, "status"), "phase", json_string("Running"));
        json_object_del(object_at(pod, "status"), "conditions");
    }
}

void fleet_absorb(struct fleet *f, const json_t *plan)
{
    size_t i;
    json_t *holder;
    json_array_foreach(json_object_get(plan, "nodeClaims"), i, holder) {
        const char *name = node_name(f, text_at(holder, "name"));
        launch(f, holder, name);
        bind_pods(f, holder, name);
    }
    json_array_foreach(json_object_get(plan, "existingNodes"), i, holder)
        bind_pods(f, holder, text_at(holder, "name"));
}
