/* What is told of a file of instance types, how bad it is, and that all of it is told. */
#include "cloud/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define REQ(key, values) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[" values "]}"
#define SELF REQ("node.kubernetes.io/instance-type", "\"a\"") "," REQ("kubernetes.io/arch", "\"amd64\"") "," REQ("kubernetes.io/os", "\"linux\"")
#define PLACE REQ("topology.kubernetes.io/zone", "\"z\"") "," REQ("karpenter.sh/capacity-type", "\"spot\"")
#define ROOM "\"resources\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"20\"}"
#define OFFER(more) "\"offerings\":[{\"requirements\":[" PLACE "],\"price\":1,\"available\":true" more "}]"
#define FILE_OF(types) "{\"instanceTypes\":[" types "]}"
/* One explicit type `a` whose labels, room and offerings these are. */
#define TYPE(labels, room, offerings) "{\"name\":\"a\",\"requirements\":[" labels "]," room "," offerings "}"
#define KWOK(rest) "{\"name\":\"a\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"4\",\"memory\":\"8Gi\"}" rest "}"

enum { TEXT_MAX = 8192 };

struct told {
    char text[TEXT_MAX]; /* "W2: text" a line: how bad, line of the file */
    size_t len;
};

static void on_told(void *user, enum catalogue_level level, uint32_t line, struct span text)
{
    static const char letters[] = {[CATALOGUE_WARNS] = '?', [CATALOGUE_WRONG] = '!', [CATALOGUE_UNREADABLE] = 'X'};
    struct told *t = user;
    int n = snprintf(t->text + t->len, TEXT_MAX - t->len, "%c%u: %.*s\n", letters[level], line, SPAN_ARG(text));
    t->len += (size_t)n < TEXT_MAX - t->len ? (size_t)n : TEXT_MAX - t->len - 1;
}

static const struct {
    const char *label, *text, *want[4]; /* lines begin so, and there are no others */
} rows[] = {
    {"a good one", FILE_OF(TYPE(SELF, ROOM, OFFER(""))), {NULL}},
    {"a good one of kwok's", "[" KWOK("," OFFER("")) "]", {NULL}},
    {"no JSON", "[\n{", {"X2: the text ends in the middle"}},
    {"no catalogue", "7", {"X0: holds a number; an instance type catalogue is a JSON array"}},
    {"several that cannot be read", "[{\"name\":\"a\",\"resources\":{\"cpu\":\"x\"}},\n7,\n" KWOK("," OFFER("")) "]",
     {"X1: a: resources.cpu: \"x\" is not a quantity", "X1: a: resources: has no memory", "X2: [1]: is a number, not an instance type"}},
    {"what reads beside what does not", "[7,\n{\"name\":\"a\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}," OFFER("") "}]",
     {"X1: [0]: is a number", "!2: a: architecture: is missing: no pool that names one gets the type. Fix: "}},
    {"an old file of kwok's", "[" KWOK(",\"offerings\":[{\"CapacityType\":\"spot\",\"Zone\":\"z\",\"Price\":1}]") "]",
     {"X1: a: offerings: have a capacityType and a zone instead of requirements"}},
    {"what kwok passes over", "[" KWOK(",\"prise\":1," OFFER("")) "]", {"?1: a: prise: is passed over, as the kwok provider does. Fix: remove it"}},
    {"no architecture", "[{\"name\":\"a\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}," OFFER("") "}]",
     {"!1: a: architecture: is missing"}},
    {"no system", "[{\"name\":\"a\",\"architecture\":\"arm64\",\"resources\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}," OFFER("") "}]",
     {"!1: a: operatingSystems: is missing"}},
    {"labels left out", FILE_OF(TYPE("", ROOM, OFFER(""))),
     {"?1: a: requirements: has no node.kubernetes.io/instance-type", "?1: a: requirements: has no kubernetes.io/arch",
      "?1: a: requirements: has no kubernetes.io/os, so that any is taken to be met. Fix: add {\"key\": \"kubernetes.io/os\""}},
    {"another's name", FILE_OF("\n{\"name\":\"b\",\"requirements\":[" SELF "]," ROOM "," OFFER("") "}"),
     {"!2: b: requirements: node.kubernetes.io/instance-type is not the type's name. Fix: let it be In [\"b\"]"}},
    {"a key that is no label", FILE_OF(TYPE(SELF "," REQ("a b", "\"c\""), ROOM, OFFER(""))),
     {"!1: a: requirements[3]: \"a b\" is no label: ", "?0: wellKnownLabels: a b is not among them"}},
    {"a value that is none", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" PLACE "," REQ("k", "\"-\"") "]}]")),
     {"!1: a: offerings[0].requirements[2]: \"-\" is no value of a label: "}},
    {"In nothing", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" PLACE "," REQ("k", "") "]}]")),
     {"!1: a: offerings[0].requirements[2]: operator In needs at least one value"}},
    {"a label that pods cannot ask for", FILE_OF(TYPE(SELF "," REQ("x/size", "\"c\""), ROOM, OFFER(""))),
     {"?0: wellKnownLabels: x/size is not among them: a pod that asks for it has no place, unless its pool sets it. Fix: add it"}},
    {"and one that they can", "{\"wellKnownLabels\":[\"x/size\"],\"instanceTypes\":[" TYPE(SELF "," REQ("x/size", "\"c\""), ROOM, OFFER("")) "]}", {NULL}},
    {"no pods", FILE_OF(TYPE(SELF, "\"resources\":{\"cpu\":\"4\",\"memory\":\"8Gi\"}", OFFER(""))),
     {"!1: a: resources: has no pods: no pod fits. Fix: add \"pods\": \"110\""}},
    {"less than nothing", FILE_OF(TYPE(SELF, "\"resources\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"20\",\"x/gpu\":\"-1\"}", OFFER(""))),
     {"!1: a: resources.x/gpu: -1 is negative"}},
    {"all kept back", FILE_OF(TYPE(SELF, ROOM ",\"overhead\":{\"kubeReserved\":{\"cpu\":\"1\"},\"systemReserved\":{\"cpu\":\"3\"}}", OFFER(""))),
     {"!1: a: resources: cpu of 4 leaves nothing for pods"}},
    {"all but a little", FILE_OF(TYPE(SELF, ROOM ",\"overhead\":{\"kubeReserved\":{\"cpu\":\"3999m\"}}", OFFER(""))), {NULL}},
    {"no zone", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" REQ("karpenter.sh/capacity-type", "\"spot\"") "]}]")),
     {"!1: a: offerings[0]: does not say one topology.kubernetes.io/zone: it cannot be bought. Fix: add "}},
    {"two capacity types", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" REQ("topology.kubernetes.io/zone", "\"z\"") ","
                                        REQ("karpenter.sh/capacity-type", "\"spot\",\"on-demand\"") "]}]")),
     {"!1: a: offerings[0]: does not say one karpenter.sh/capacity-type"}},
    {"no such capacity type", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" REQ("topology.kubernetes.io/zone", "\"z\"") ","
                                           REQ("karpenter.sh/capacity-type", "\"ondemand\"") "]}]")),
     {"!1: a: offerings[0]: \"ondemand\" is no capacity type; there are on-demand, spot and reserved"}},
    {"a zone that the type has not", FILE_OF(TYPE(SELF "," REQ("topology.kubernetes.io/zone", "\"y\""), ROOM, OFFER(""))),
     {"!1: a: offerings[0]: is in topology.kubernetes.io/zone z, which the type's own requirements leave out. Fix: add it there"}},
    {"a reservation without a name", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"reservationCapacity\":-1,\"requirements\":["
                                                  REQ("topology.kubernetes.io/zone", "\"z\"") "," REQ("karpenter.sh/capacity-type", "\"reserved\"") "]}]")),
     {"!1: a: offerings[0]: reservationCapacity -1 is negative", "!1: a: offerings[0]: is reserved, and of no reservation. Fix: name the label"}},
    {"one with", "{\"reservationIDLabel\":\"x/id\",\"instanceTypes\":[" TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"reservationCapacity\":2,\"requirements\":["
                                                  REQ("topology.kubernetes.io/zone", "\"z\"") "," REQ("karpenter.sh/capacity-type", "\"reserved\"") "," REQ("x/id", "\"r1\"") "]}]") "]}", {NULL}},
    {"a capacity that counts for nothing", FILE_OF(TYPE(SELF, ROOM, OFFER(",\"reservationCapacity\":2"))),
     {"?1: a: offerings[0]: has a reservationCapacity, which counts for capacity type reserved alone"}},
    {"a price below nothing", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":-0.5,\"available\":true,\"requirements\":[" PLACE "]}]")),
     {"!1: a: offerings[0].price: -0.5 is negative; dollars an hour are expected"}},
    {"no price", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"available\":true,\"requirements\":[" PLACE "]}]")),
     {"?0: offerings: 1 of 1 type (a) are available without a price: a plan takes them for free. Fix: give the price"}},
    {"no price where it cannot be had", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"requirements\":[" PLACE "]}]")),
     {"?1: a: offerings: none is available: nobody can buy the type. Fix: add \"available\": true where it can be had"}},
    {"no offering", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[]")), {"?1: a: offerings: there is none: nobody can buy the type"}},
    {"the same twice", FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" PLACE "]},{\"price\":2,\"requirements\":[" PLACE "]}]")),
     {"!1: a: offerings: 1 of them says the same as another of the type. Fix: keep the one whose price is right"}},
    {"one name twice", FILE_OF(TYPE(SELF, ROOM, OFFER("")) "," TYPE(SELF, ROOM, OFFER(""))),
     {"!0: a: name: stands in two entries, [0] and [1], for the same pools. Fix: keep one, or part them with nodePools"}},
    {"one name for two pools", FILE_OF(TYPE(SELF, "\"nodePools\":[\"p\"]," ROOM, OFFER("")) "," TYPE(SELF, "\"nodePools\":[\"q\"]," ROOM, OFFER(""))), {NULL}},
    {"a policy that is none", "{\"repairPolicies\":[{\"conditionType\":\"X\"}],\"instanceTypes\":[" TYPE(SELF, ROOM, OFFER("")) "]}", {"!0: repairPolicies"}},
    {"nothing at all", "[]", {"?0: instanceTypes: there is none: nothing can be bought"}},
};

static void what_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct told t = {.len = 0};
        struct catalogue_source *s = catalogue_check(span_of(rows[i].text), SPAN("types.json"), on_told, &t);
        if ((s == NULL) != (strstr(t.text, "X") == t.text || strstr(t.text, "\nX") != NULL))
            fail_msg("%s: %s although\n%s", rows[i].label, s == NULL ? "refused" : "taken", t.text);
        catalogue_source_free(s);
        struct span rest = {t.text, t.len}, line;
        for (size_t k = 0; k < COUNT_OF(rows[i].want) && rows[i].want[k] != NULL; k++) {
            line = span_cut(rest, '\n', &rest);
            if (!span_has_prefix(line, span_of(rows[i].want[k])))
                fail_msg("%s: %.*s\nnot %s", rows[i].label, SPAN_ARG(line), rows[i].want[k]);
        }
        bool is_policy = strstr(rows[i].label, "policy") != NULL; /* as many lines as the policy has faults */
        if (rest.len != 0 && !is_policy)
            fail_msg("%s: also %.*s", rows[i].label, SPAN_ARG(rest));
    }
}

/* What reads is told of, and is read by others; what does not is refused by them, with the first that is told. */
static void told_as_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct told t = {.len = 0};
        struct catalogue_source *checked = catalogue_check(span_of(rows[i].text), SPAN("t"), on_told, &t), *s = NULL;
        struct err err = {0};
        bool ok = catalogue_decode(span_of(rows[i].text), SPAN("t"), &s, &err);
        if (ok != (checked != NULL))
            fail_msg("%s: %s", rows[i].label, ok ? "read, and not by the check" : err.msg);
        if (!ok && strstr(t.text, strstr(err.msg, ": ")) == NULL)
            fail_msg("%s: %s is not in\n%s", rows[i].label, err.msg, t.text);
        catalogue_source_free(checked);
        catalogue_source_free(s);
    }
}

static void what_is_in_it(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct catalogue_source *s = catalogue_builtin();
    struct catalogue_totals t = catalogue_total(s, &a);
    assert_int_equal(t.types, 144);
    assert_int_equal(t.offerings, 1152);
    assert_int_equal(t.available, 1152);
    assert_int_equal(t.priced, 1152);
    assert_true(t.cheapest == 0.027147483648 * 0.7 && t.dearest == 8.599023255552);
    assert_int_equal(t.zones.count, 4);
    assert_true(span_eq(t.zones.items[3], SPAN("test-zone-d")));
    assert_int_equal(t.capacity_types.count, 2);
    assert_true(span_eq(t.capacity_types.items[0], SPAN("on-demand")));
    catalogue_source_free(s);
    struct err err;
    assert_true(catalogue_decode(
        SPAN(FILE_OF(TYPE(SELF, ROOM, "\"offerings\":[{\"price\":1,\"available\":true,\"requirements\":[" PLACE "]},{\"price\":0.5,"
                                      "\"requirements\":[" PLACE "]},{\"available\":true,\"requirements\":[]}]"))), SPAN("t"), &s, &err));
    t = catalogue_total(s, &a);
    assert_int_equal(t.offerings, 3);
    assert_int_equal(t.available, 2);
    assert_int_equal(t.priced, 1); /* what cannot be had costs nothing, and what has no price neither */
    assert_true(t.cheapest == 1 && t.dearest == 1);
    catalogue_source_free(s);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told),
        cmocka_unit_test(told_as_read),
        cmocka_unit_test(what_is_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
