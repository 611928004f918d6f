/* Of the node or claim that a pod got: {pod: what}. */
#include "expect_parts.h"

#include <math.h>

typedef void pod_check(struct expectation *c, const char *pod, const json_t *want);

static void each_pod(struct expectation *c, const json_t *want, pod_check *check)
{
    const char *name;
    size_t i;
    json_t *what, *pod;
    if (!json_is_object(want))
        mistake("an expectation about single pods is {pod: what}");
    json_object_foreach((json_t *)want, name, what)
        json_array_foreach(fleet_pods(c->f, name), i, pod)
            check(c, text_of(pod), what);
}

static void pod_on(struct expectation *c, const char *pod, const json_t *want)
{
    const char *place = fleet_place(c->f, pod);
    if (place == NULL || strcmp(place, text_of(want)) != 0)
        expect_differs(c, format_text("node of %s", expect_short_name(pod)), text_of(want),
                       place != NULL ? place : "none");
}

static void pod_type(struct expectation *c, const char *pod, const json_t *want)
{
    const json_t *claim = expect_claim_of(c, pod);
    const char *got = claim == NULL
                          ? "no new node"
                          : text_of(json_array_get(json_object_get(claim, "instanceTypes"), 0));
    if (strcmp(got, text_of(want)) != 0)
        expect_differs(c, format_text("type for %s", expect_short_name(pod)), text_of(want), got);
}

static void pod_type_list(struct expectation *c, const char *pod, const json_t *want)
{
    const json_t *got = json_object_get(expect_claim_of(c, pod), "instanceTypes");
    if (!json_equal(want, got))
        expect_differs(c, format_text("types for %s", expect_short_name(pod)), expect_compact(want),
                       got != NULL ? expect_compact(got) : "no new node");
}

/* A value, "*" for any, null for none. */
static void compare_label(struct expectation *c, const char *what, const json_t *want,
                          const char *got)
{
    bool ok = json_is_null(want) ? got == NULL
                                 : got != NULL && (strcmp(text_of(want), "*") == 0 ||
                                                   strcmp(text_of(want), got) == 0);
    if (!ok)
        expect_differs(c, what, expect_compact(want), got != NULL ? got : "none");
}

static void pod_labels(struct expectation *c, const char *pod, const json_t *want)
{
    const char *place = fleet_place(c->f, pod), *key;
    json_t *value;
    const json_t *labels = place != NULL ? fleet_node_labels(c->f, place) : NULL;
    json_object_foreach((json_t *)want, key, value)
        compare_label(c, format_text("label %s of %s's node", key, expect_short_name(pod)), value,
                      text_at(labels, full_key(key)));
    if (labels == NULL)
        expect_differs(c, expect_short_name(pod), "a node", "none");
}

static void pod_claim_labels(struct expectation *c, const char *pod, const json_t *want)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)want, key, value)
        compare_label(c, format_text("label %s of %s's claim", key, expect_short_name(pod)), value,
                      text_at(json_object_get(expect_claim_of(c, pod), "labels"), full_key(key)));
}

static void pod_annotations(struct expectation *c, const char *pod, const json_t *want)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)want, key, value)
        compare_label(c, format_text("annotation %s of %s's claim", key, expect_short_name(pod)),
                      value, text_at(json_object_get(expect_claim_of(c, pod), "annotations"), key));
}

static bool same_requirement(const json_t *a, const json_t *b)
{
    const json_t *x = json_object_get(a, "values"), *y = json_object_get(b, "values");
    size_t i;
    json_t *v;
    if (strcmp(text_at(a, "key"), text_at(b, "key")) != 0 ||
        strcmp(text_at(a, "operator"), text_at(b, "operator")) != 0 ||
        json_integer_value(json_object_get(a, "minValues")) !=
            json_integer_value(json_object_get(b, "minValues")) ||
        json_array_size(x) != json_array_size(y))
        return false;
    json_array_foreach(x, i, v)
        if (!expect_lists_pod(y, text_of(v)))
            return false;
    return true;
}

static json_t *requirements_on(const json_t *claim, const char *key)
{
    json_t *out = json_array(), *r;
    size_t i;
    json_array_foreach(json_object_get(claim, "requirements"), i, r)
        if (strcmp(text_at(r, "key"), full_key(key)) == 0)
            json_array_append(out, r);
    return out;
}

/* Texts like "zone In z1 z2"; "!zone" when there must be none on the key. */
static void pod_requirements(struct expectation *c, const char *pod, const json_t *want)
{
    const json_t *claim = expect_claim_of(c, pod);
    size_t i, k;
    json_t *text, *r;
    json_array_foreach(want, i, text) {
        const char *t = text_of(text);
        bool absent = t[0] == '!', found = false;
        json_t *wanted = absent ? NULL : requirement_of_text(t);
        json_t *got = requirements_on(claim, absent ? t + 1 : text_at(wanted, "key"));
        json_array_foreach(got, k, r)
            found = found || (!absent && same_requirement(r, wanted));
        if (absent ? json_array_size(got) != 0 : !found)
            expect_differs(c, format_text("requirement for %s", expect_short_name(pod)), t,
                           expect_compact(got));
    }
}

static void pod_requests(struct expectation *c, const char *pod, const json_t *want)
{
    const json_t *got = json_object_get(expect_claim_of(c, pod), "requests");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)want, name, value) {
        const json_t *has = json_object_get(got, name);
        if (has == NULL || milli_of(has) != milli_of(value))
            expect_differs(c, format_text("requests of %s's claim", expect_short_name(pod)),
                           expect_compact(want), got != NULL ? expect_compact(got) : "no new node");
    }
}

static void pod_price(struct expectation *c, const char *pod, const json_t *want)
{
    const json_t *got = json_object_get(expect_claim_of(c, pod), "price");
    if (got == NULL || fabs(json_number_value(got) - json_number_value(want)) > 1e-6)
        expect_differs(c, format_text("price for %s", expect_short_name(pod)), expect_compact(want),
                       got != NULL ? expect_compact(got) : "none");
}

void expect_on(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_on);
}

void expect_type(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_type);
}

void expect_type_list(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_type_list);
}

void expect_labels(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_labels);
}

void expect_claim_labels(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_claim_labels);
}

void expect_annotations(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_annotations);
}

void expect_requirements(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_requirements);
}

void expect_requests(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_requests);
}

void expect_price(struct expectation *c, const json_t *want)
{
    each_pod(c, want, pod_price);
}
