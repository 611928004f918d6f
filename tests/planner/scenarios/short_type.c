/* Instance types, in the explicit form of a catalogue. Every type is amd64 with three systems and
 * is sold spot in z1 and z2 and on demand in z1, z2 and z3, at a price that grows with its size. */
#include "shorthand.h"

#include <math.h>
#include <stdio.h>

#include "sim/tree.h"

static const struct short_key type_keys[] = {
    {"name", NULL},     {"cpu", NULL},     {"memory", NULL}, {"pods", NULL},  {"resources", NULL},
    {"arch", NULL},     {"os", NULL},      {"labels", NULL}, {"price", NULL}, {"offerings", NULL},
    {"overhead", NULL}, {"volumes", NULL}, {"pools", NULL},  {"zones", NULL},
};

static void require(json_t *list, const char *key, json_t *values)
{
    json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "key", full_key(key), "operator", "In",
                                          "values", values));
}

static void require_absent(json_t *list, const char *key)
{
    json_array_append_new(
        list, json_pack("{s:s, s:s}", "key", full_key(key), "operator", "DoesNotExist"));
}

static json_t *as_list(json_t *v)
{
    return json_is_array(v) ? v : json_pack("[o]", json_string(text_of(v)));
}

/* --- offerings --- */

static const struct short_key offering_keys[] = {
    {"capacity-type", NULL}, {"zone", NULL}, {"price", NULL},  {"available", NULL},
    {"reservation", NULL},   {"left", NULL}, {"labels", NULL}, {"adds", NULL},
};

/* "spot z1 0.5" or its long form; a reservation has a name and instances left. */
static json_t *offering_of_short(json_t *s, double price)
{
    if (json_is_string(s)) {
        struct span zone, rest, type = span_cut(span_of(json_string_value(s)), ' ', &zone);
        zone = span_cut(zone, ' ', &rest);
        struct arena *a = json_arena();
        s = json_pack("{s:s, s:s}", "capacity-type", arena_cstr(a, type), "zone",
                      arena_cstr(a, zone));
        if (rest.len != 0)
            json_object_set_new(s, "price", json_real(strtod(arena_cstr(a, rest), NULL)));
    }
    short_keys_apply("offering", offering_keys, COUNT_OF(offering_keys), s, NULL);
    json_t *r = json_array(), *own = json_object_get(s, "price"), *value;
    const char *key;
    require(r, "capacity-type", as_list(json_object_get(s, "capacity-type")));
    require(r, "zone", as_list(json_object_get(s, "zone")));
    if (text_at(s, "reservation") != NULL)
        require(r, "reservation", as_list(json_object_get(s, "reservation")));
    else
        require_absent(r, "reservation");
    json_object_foreach(json_object_get(s, "labels"), key, value)
        require(r, key, as_list(value));
    json_t *o = json_pack("{s:o, s:f, s:b}", "requirements", r, "price",
                          own != NULL ? json_number_value(own) : price, "available",
                          !json_is_false(json_object_get(s, "available")));
    if (json_object_get(s, "left") != NULL)
        json_object_set(o, "reservationCapacity", json_object_get(s, "left"));
    if (json_object_get(s, "adds") != NULL)
        json_object_set(o, "capacityOverride", json_object_get(s, "adds"));
    return o;
}

static json_t *offerings_of_short(const json_t *s, double price)
{
    json_t *list = json_object_get(s, "offerings"), *out = json_array(), *v;
    size_t i;
    if (list == NULL)
        list = json_pack("[s, s, s, s, s]", "spot z1", "spot z2", "on-demand z1", "on-demand z2",
                         "on-demand z3");
    json_array_foreach(list, i, v)
        json_array_append(out, offering_of_short(v, price));
    return out;
}

/* The distinct values that the offerings have for a key. */
static json_t *offered(const json_t *offerings, const char *key)
{
    json_t *out = json_array(), *o, *r, *v;
    size_t i, k, n;
    json_array_foreach(offerings, i, o)
        json_array_foreach(json_object_get(o, "requirements"), k, r)
            if (strcmp(text_at(r, "key"), full_key(key)) == 0)
                json_array_foreach(json_object_get(r, "values"), n, v) {
                    bool known = false;
                    for (size_t m = 0; m < json_array_size(out); m++)
                        known = known || json_equal(json_array_get(out, m), v);
                    if (!known)
                        json_array_append(out, v);
                }
    return out;
}

/* --- types --- */

static double size_price(const json_t *resources)
{
    double price = 0.1 * (double)milli_of(json_object_get(resources, "cpu")) / 1000 +
                   0.1 * (double)milli_of(json_object_get(resources, "memory")) / 1000 / 1e9;
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)resources, name, v)
        if (strncmp(name, "fake.com/", 9) == 0)
            price += 1;
    return price;
}

static json_t *type_resources(const json_t *s)
{
    static const char *const names[][2] = {{"cpu", "4"}, {"memory", "4Gi"}, {"pods", "5"}};
    json_t *r = json_object();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        json_t *v = json_object_get(s, names[i][0]);
        json_object_set_new(r, names[i][0],
                            v != NULL ? json_string(text_of(v)) : json_string(names[i][1]));
    }
    if (json_object_get(s, "resources") != NULL)
        tree_merge(r, json_object_get(s, "resources"));
    return r;
}

static void require_sizes(json_t *list, const json_t *s, const json_t *resources)
{
    int64_t cpu = milli_of(json_object_get(resources, "cpu"));
    int64_t memory = milli_of(json_object_get(resources, "memory"));
    bool large = cpu > 4000 && memory > 8ll * 1024 * 1024 * 1024 * 1000;
    const json_t *own = json_object_get(s, "labels");
    if (json_object_get(own, "size") == NULL)
        require(list, "size", json_pack("[s]", large ? "large" : "small"));
    if (json_object_get(own, "special") == NULL && large)
        require(list, "special", json_pack("[s]", "optional"));
    else if (json_object_get(own, "special") == NULL)
        require_absent(list, "special");
    if (json_object_get(own, "integer") == NULL)
        require(list, "integer",
                json_pack("[o]", json_sprintf("%lld", (long long)(cpu + 999) / 1000)));
}

static json_t *type_of_short(const json_t *s)
{
    short_keys_apply("type", type_keys, COUNT_OF(type_keys), s, NULL);
    json_t *resources = type_resources(s), *r = json_array(), *value, *v;
    json_t *price = json_object_get(s, "price");
    json_t *offerings =
        offerings_of_short(s, price != NULL ? json_number_value(price) : size_price(resources));
    const char *key;
    require(r, "instance-type", as_list(json_object_get(s, "name")));
    require(r, "arch",
            (v = json_object_get(s, "arch")) != NULL ? as_list(v) : json_pack("[s]", "amd64"));
    require(r, "os",
            (v = json_object_get(s, "os")) != NULL
                ? as_list(v)
                : json_pack("[s, s, s]", "linux", "windows", "darwin"));
    require(r, "zone", (v = json_object_get(s, "zones")) != NULL ? v : offered(offerings, "zone"));
    require(r, "capacity-type", offered(offerings, "capacity-type"));
    if (json_array_size(offered(offerings, "reservation")) != 0)
        require(r, "reservation", offered(offerings, "reservation"));
    else
        require_absent(r, "reservation");
    require_sizes(r, s, resources);
    json_object_foreach(json_object_get(s, "labels"), key, value)
        require(r, key, as_list(value));
    json_t *overhead = json_object_get(s, "overhead");
    if (overhead == NULL)
        overhead = json_pack("{s:s, s:s}", "cpu", "100m", "memory", "10Mi");
    json_t *type = json_pack("{s:O, s:o, s:o, s:{s:o}, s:o}", "name", json_object_get(s, "name"),
                             "requirements", r, "resources", resources, "overhead", "kubeReserved",
                             overhead, "offerings", offerings);
    if (json_object_get(s, "volumes") != NULL)
        json_object_set(type, "volumeAttachmentLimits", json_object_get(s, "volumes"));
    if (json_object_get(s, "pools") != NULL)
        json_object_set(type, "nodePools", json_object_get(s, "pools"));
    return type;
}

static json_t *catalogue_c0(void)
{
    static const char *const rows[][2] = {
        {"default-instance-type", NULL},
        {"small-instance-type", NULL},
        {"gpu-vendor-instance-type", "fake.com/vendor-a"},
        {"gpu-vendor-b-instance-type", "fake.com/vendor-b"},
        {"arm-instance-type", NULL},
        {"single-pod-instance-type", NULL},
    };
    json_t *list = json_array();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *s = json_pack("{s:s}", "name", rows[i][0]);
        if (strncmp(rows[i][0], "small", 5) == 0)
            tree_merge(s, json_pack("{s:i, s:s}", "cpu", 2, "memory", "2Gi"));
        if (strncmp(rows[i][0], "arm", 3) == 0)
            tree_merge(s, json_pack("{s:i, s:s, s:s, s:[s, s, s, s]}", "cpu", 16, "memory", "128Gi",
                                    "arch", "arm64", "os", "linux", "windows", "darwin", "ios"));
        if (strncmp(rows[i][0], "single", 6) == 0)
            json_object_set_new(s, "pods", json_integer(1));
        if (rows[i][1] != NULL)
            json_object_set_new(s, "resources", json_pack("{s:s}", rows[i][1], "2"));
        json_array_append(list, type_of_short(s));
    }
    return list;
}

static json_t *catalogue_c1(int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append(list, type_of_short(json_pack("{s:o, s:i, s:o, s:i}", "name",
                                                        json_sprintf("fake-it-%d", i), "cpu", i + 1,
                                                        "memory", json_sprintf("%dGi", 2 * (i + 1)),
                                                        "pods", 10 * (i + 1))));
    return list;
}

/* Every size for each single combination of architecture, system, zone and way of paying. */
static json_t *catalogue_assorted(void)
{
    static const int cpus[] = {1, 2, 4, 8, 16, 32, 64}, memories[] = {1, 2, 4, 8, 16, 32, 64, 128};
    static const char *const oses[] = {"linux", "windows"}, *const arches[] = {"amd64", "arm64"};
    static const char *const offers[] = {"spot z1",      "spot z2",      "spot z3",
                                         "on-demand z1", "on-demand z2", "on-demand z3"};
    json_t *list = json_array();
    for (size_t c = 0; c < COUNT_OF(cpus); c++)
        for (size_t m = 0; m < COUNT_OF(memories); m++)
            for (size_t i = 0; i < COUNT_OF(oses) * COUNT_OF(arches) * COUNT_OF(offers); i++) {
                const char *os = oses[i % 2], *arch = arches[i / 2 % 2], *offer = offers[i / 4];
                json_t *name =
                    json_sprintf("%d-%dGi-%s-%s-%zu", cpus[c], memories[m], os, arch, i / 4);
                json_array_append(list, type_of_short(json_pack(
                                            "{s:o, s:i, s:o, s:s, s:s, s:[s]}", "name", name, "cpu",
                                            cpus[c], "memory", json_sprintf("%dGi", memories[m]),
                                            "os", os, "arch", arch, "offerings", offer)));
            }
    return list;
}

json_t *catalogue_of_short(const json_t *types)
{
    json_t *list, *v;
    size_t i;
    int count;
    if (types == NULL || (json_is_string(types) && strcmp(json_string_value(types), "C0") == 0)) {
        list = catalogue_c0();
    } else if (json_is_string(types) && strcmp(json_string_value(types), "assorted") == 0) {
        list = catalogue_assorted();
    } else if (json_is_string(types)) {
        if (sscanf(json_string_value(types), "C1(%d)", &count) != 1)
            mistake("types are C0, C1(n), assorted or a list");
        list = catalogue_c1(count);
    } else {
        list = json_array();
        json_array_foreach(types, i, v)
            json_array_append(list, type_of_short(v));
    }
    return json_pack("{s:s, s:[s, s, s], s:[s], s:[s], s:o}", "reservationIDLabel",
                     full_key("reservation"), "wellKnownLabels", "size", "special", "integer",
                     "unsupportedProvisioners", "unsupported.example.com",
                     "unsupportedTopologyKeys", "unsupported.example.com/rack", "instanceTypes",
                     list);
}

json_t *catalogue_find(const json_t *catalogue, const char *type)
{
    size_t i;
    json_t *t;
    json_array_foreach(json_object_get(catalogue, "instanceTypes"), i, t)
        if (strcmp(text_at(t, "name"), type) == 0)
            return t;
    return NULL;
}

json_t *type_allocatable(const json_t *type, const json_t *offering)
{
    json_t *room = json_deep_copy(json_object_get(type, "resources")), *v;
    const char *name;
    if (json_object_get(offering, "capacityOverride") != NULL)
        tree_merge(room, json_object_get(offering, "capacityOverride"));
    json_object_foreach(json_object_get(json_object_get(type, "overhead"), "kubeReserved"), name, v)
        json_object_set(room, name,
                        milli_text(milli_of(json_object_get(room, name)) - milli_of(v)));
    return room;
}

const char *value_of_requirements(const json_t *own, const char *key, const json_t *wanted)
{
    size_t i, k;
    json_t *r, *v;
    json_array_foreach(own, i, r)
        if (strcmp(text_at(r, "key"), key) == 0)
            json_array_foreach(json_object_get(r, "values"), k, v)
                if (requirements_allow(wanted, key, text_of(v)))
                    return text_of(v);
    return NULL;
}
