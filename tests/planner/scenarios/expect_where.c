/* Where pods are: how many to a domain, which of them share a node. */
#include "expect_parts.h"

#include "sim/tree.h"

static bool counts(const json_t *pod, const json_t *of)
{
    const char *phase = text_at(json_object_get(pod, "status"), "phase");
    const char *key;
    json_t *value;
    if (tree_get(pod, "metadata.deletionTimestamp") != NULL ||
        (phase != NULL && (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0)) ||
        strcmp(text_at(json_object_get(pod, "metadata"), "namespace"), "default") != 0)
        return false;
    json_object_foreach((json_t *)of, key, value) {
        const char *has = text_at(tree_get(pod, "metadata.labels"), full_key(key));
        if (has == NULL || strcmp(has, text_of(value)) != 0)
            return false;
    }
    return true;
}

static void insert_in_order(json_t *numbers, json_t *n)
{
    size_t at = 0;
    while (at < json_array_size(numbers) &&
           json_integer_value(json_array_get(numbers, at)) <= json_integer_value(n))
        at++;
    json_array_insert(numbers, at, n);
}

static json_t *in_order(const json_t *numbers)
{
    json_t *out = json_array(), *n;
    size_t i;
    json_array_foreach(numbers, i, n)
        insert_in_order(out, n);
    return out;
}

static void count_up(json_t *counted, const char *value)
{
    json_int_t n = json_integer_value(json_object_get(counted, value));
    json_object_set_new(counted, value, json_integer(n + 1));
}

/* Pods per value of a node label, ascending. */
static json_t *pods_per_domain(const struct expectation *c, const char *key, const json_t *of)
{
    json_t *counted = json_object(), *place, *out = json_array(), *n;
    const char *pod, *domain;
    json_object_foreach(c->f->places, pod, place) {
        const json_t *p = fleet_pod(c->f, pod);
        const char *value = text_at(fleet_node_labels(c->f, text_of(place)), full_key(key));
        if (strcmp(key, "hostname") == 0)
            value = text_of(place);
        if (p != NULL && value != NULL && counts(p, of))
            count_up(counted, value);
    }
    json_object_foreach(counted, domain, n)
        insert_in_order(out, n);
    return out;
}

static void check_skew_entry(struct expectation *c, const json_t *entry, bool within)
{
    const json_t *of = json_object_get(entry, "of");
    const char *key;
    json_t *want;
    json_object_foreach((json_t *)entry, key, want) {
        if (strcmp(key, "of") == 0)
            continue;
        json_t *got = pods_per_domain(c, key, of);
        size_t n = json_array_size(got);
        json_int_t spread = n == 0 ? 0
                                   : json_integer_value(json_array_get(got, n - 1)) -
                                         json_integer_value(json_array_get(got, 0));
        if (within ? spread > json_integer_value(want) : !json_equal(in_order(want), got))
            expect_differs(
                c, format_text("pods per %s", key),
                format_text("%s%s", within ? "a skew within " : "", expect_compact(want)),
                expect_compact(got));
    }
}

void expect_skew(struct expectation *c, const json_t *want)
{
    size_t i;
    json_t *entry;
    if (json_is_object(want))
        check_skew_entry(c, want, false);
    json_array_foreach(want, i, entry)
        check_skew_entry(c, entry, false);
}

void expect_within(struct expectation *c, const json_t *want)
{
    check_skew_entry(c, want, true);
}

/* {hostname: 3}: no domain has more pods than that. */
void expect_most(struct expectation *c, const json_t *want)
{
    const char *key;
    json_t *most;
    json_object_foreach((json_t *)want, key, most) {
        if (strcmp(key, "of") == 0)
            continue;
        json_t *got = pods_per_domain(c, key, json_object_get(want, "of"));
        size_t n = json_array_size(got);
        if (n != 0 && json_integer_value(json_array_get(got, n - 1)) > json_integer_value(most))
            expect_differs(c, format_text("most pods per %s", key), expect_compact(most),
                           expect_compact(got));
    }
}

static json_t *pods_named(const struct expectation *c, const json_t *names)
{
    json_t *out = json_array(), *name;
    size_t i;
    json_array_foreach(names, i, name)
        json_array_extend(out, fleet_pods(c->f, text_of(name)));
    return out;
}

/* A list of names, or several such lists. */
static void check_same(struct expectation *c, const json_t *want, bool together)
{
    size_t i, k;
    json_t *list, *pod;
    if (!json_is_array(json_array_get(want, 0)))
        want = json_pack("[O]", want);
    json_array_foreach(want, i, list) {
        json_t *nodes = json_object(), *pods = pods_named(c, list);
        json_array_foreach(pods, k, pod) {
            const char *place = fleet_place(c->f, text_of(pod));
            json_object_set_new(nodes, place != NULL ? place : "nowhere", json_true());
        }
        if (json_object_size(nodes) != (together ? 1 : json_array_size(pods)) ||
            json_object_get(nodes, "nowhere") != NULL)
            expect_differs(c, expect_compact(list), together ? "one node" : "a node each",
                           format_text("%zu nodes for %zu pods", json_object_size(nodes),
                                       json_array_size(pods)));
    }
}

void expect_together(struct expectation *c, const json_t *want)
{
    check_same(c, want, true);
}

void expect_apart(struct expectation *c, const json_t *want)
{
    check_same(c, want, false);
}
