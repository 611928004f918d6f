/* Numbers of nodes and pods without a place, and the table of all that can be expected. */
#include "expect_parts.h"

#include "sim/tree.h"

const char *expect_compact(const json_t *v)
{
    struct buf b = {0};
    tree_put(&b, v);
    const char *text = arena_cstr(json_arena(), buf_span(&b));
    buf_release(&b);
    return text;
}

void expect_differs(struct expectation *c, const char *what, const char *want, const char *got)
{
    buf_addf(c->out, "  %s: expected %s, got %s\n", what, want, got);
}

static void compare_number(struct expectation *c, const char *what, json_int_t want, size_t got)
{
    if (want != (json_int_t)got)
        expect_differs(c, what, format_text("%lld", (long long)want), format_text("%zu", got));
}

bool expect_lists_pod(const json_t *list, const char *pod)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v)
        if (strcmp(text_of(v), pod) == 0)
            return true;
    return false;
}

static json_t *claims(const struct expectation *c)
{
    return json_object_get(c->plan, "nodeClaims");
}

const json_t *expect_claim_of(const struct expectation *c, const char *pod)
{
    size_t i;
    json_t *claim;
    json_array_foreach(claims(c), i, claim)
        if (expect_lists_pod(json_object_get(claim, "pods"), pod))
            return claim;
    return NULL;
}

static const json_t *failure_of(const struct expectation *c, const char *pod)
{
    size_t i;
    json_t *u;
    json_array_foreach(json_object_get(c->plan, "unschedulable"), i, u)
        if (strcmp(text_at(u, "pod"), pod) == 0)
            return u;
    return NULL;
}

const char *expect_short_name(const char *pod)
{
    return strncmp(pod, "default/", 8) == 0 ? pod + 8 : pod;
}

/* --- numbers of nodes --- */

static void check_nodes(struct expectation *c, const json_t *want)
{
    compare_number(c, "new nodes", json_integer_value(want), json_array_size(claims(c)));
}

static void check_launched(struct expectation *c, const json_t *want)
{
    json_t *got = json_object(), *claim;
    size_t i;
    json_array_foreach(claims(c), i, claim) {
        const char *type = text_of(json_array_get(json_object_get(claim, "instanceTypes"), 0));
        json_object_set_new(got, type,
                            json_integer(json_integer_value(json_object_get(got, type)) + 1));
    }
    if (!json_equal(want, got))
        expect_differs(c, "new nodes by type", expect_compact(want), expect_compact(got));
}

/* {cpu: 1, nodes: 1}: at most so many nodes have that much free. */
static void check_spare(struct expectation *c, const json_t *want)
{
    int64_t least = milli_of(json_object_get(want, "cpu"));
    size_t i, spare = 0;
    json_t *node, *place;
    json_array_foreach(c->f->objects, i, node) {
        if (strcmp(text_at(node, "kind"), "Node") != 0)
            continue;
        int64_t room = milli_of(tree_get(node, "status.allocatable.cpu"));
        const char *pod;
        json_object_foreach(c->f->places, pod, place) {
            const json_t *p = fleet_pod(c->f, pod);
            const json_t *main = json_array_get(tree_get(p, "spec.containers"), 0);
            const json_t *cpu = tree_get(main, "resources.requests.cpu");
            if (strcmp(text_of(place), text_at(json_object_get(node, "metadata"), "name")) == 0 &&
                cpu != NULL)
                room -= milli_of(cpu);
        }
        spare += room >= least;
    }
    if ((json_int_t)spare > json_integer_value(json_object_get(want, "nodes")))
        expect_differs(c, "nodes with cpu to spare", expect_compact(want),
                       format_text("%zu", spare));
}

/* --- pods without a place --- */

static bool says(const json_t *failure, const char *text)
{
    size_t i;
    json_t *line;
    struct span want = span_of(text);
    if (span_contains(span_of(text_at(failure, "message")), want))
        return true;
    json_array_foreach(json_object_get(failure, "details"), i, line)
        if (span_contains(span_of(text_of(line)), want))
            return true;
    return false;
}

/* reason and says of an entry about pods without a place. */
static void check_failure(struct expectation *c, const json_t *want, const json_t *failure)
{
    const char *reason = text_at(want, "reason"), *pod = expect_short_name(text_at(failure, "pod"));
    const json_t *texts = json_object_get(want, "says");
    if (reason != NULL && strcmp(reason, text_at(failure, "reason")) != 0)
        expect_differs(
            c, format_text("reason of %s", pod), reason,
            format_text("%s (%s)", text_at(failure, "reason"), text_at(failure, "message")));
    for (size_t i = 0; i < (json_is_array(texts) ? json_array_size(texts) : texts != NULL); i++) {
        const char *text = text_of(json_is_array(texts) ? json_array_get(texts, i) : texts);
        if (!says(failure, text))
            expect_differs(c, format_text("words about %s", pod), format_text("\"%s\"", text),
                           text_at(failure, "message"));
    }
}

static void tell_failures(struct expectation *c, const char *want)
{
    json_t *list = json_object_get(c->plan, "unschedulable"), *u;
    struct buf got = {0};
    size_t i;
    json_array_foreach(list, i, u)
        if (i < 3)
            buf_addf(&got, "%s%s (%s: %s)", i != 0 ? ", " : "",
                     expect_short_name(text_at(u, "pod")), text_at(u, "reason"),
                     text_at(u, "message"));
    if (json_array_size(list) > 3)
        buf_addf(&got, " and %zu more", json_array_size(list) - 3);
    expect_differs(c, "pods without a place", want, got.len != 0 ? got.ptr : "none");
    buf_release(&got);
}

static void check_failure_count(struct expectation *c, const json_t *want, json_int_t count)
{
    json_t *list = json_object_get(c->plan, "unschedulable"), *u;
    size_t i;
    if (count != (json_int_t)json_array_size(list))
        tell_failures(c, format_text("%lld", (long long)count));
    else if (json_is_object(want))
        json_array_foreach(list, i, u)
            check_failure(c, want, u);
}

static void check_failure_list(struct expectation *c, const json_t *want)
{
    json_t *seen = json_object(), *entry, *pod;
    size_t i, k;
    bool missing = false;
    json_array_foreach(want, i, entry) {
        const char *name = json_is_object(entry) ? text_at(entry, "pod") : text_of(entry);
        if (name == NULL)
            mistake("an entry of unscheduled names no pod");
        json_array_foreach(fleet_pods(c->f, name), k, pod) {
            const json_t *failure = failure_of(c, text_of(pod));
            json_object_set_new(seen, text_of(pod), json_true());
            if (failure == NULL)
                missing = true;
            else if (json_is_object(entry))
                check_failure(c, entry, failure);
        }
    }
    size_t failures = json_array_size(json_object_get(c->plan, "unschedulable"));
    if (missing || json_object_size(seen) != failures)
        tell_failures(c, json_array_size(want) == 0 ? "none" : expect_compact(want));
}

static void check_unscheduled(struct expectation *c, const json_t *want)
{
    if (json_is_integer(want))
        check_failure_count(c, want, json_integer_value(want));
    else if (json_is_object(want))
        check_failure_count(c, want, json_integer_value(json_object_get(want, "count")));
    else
        check_failure_list(c, want);
}

static bool has_a_part(const struct expectation *c, const char *pod)
{
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(c->plan, "existingNodes"), i, node)
        if (expect_lists_pod(json_object_get(node, "pods"), pod))
            return true;
    return expect_claim_of(c, pod) != NULL || failure_of(c, pod) != NULL;
}

static void check_outside(struct expectation *c, const json_t *want)
{
    size_t i, k;
    json_t *name, *pod;
    json_array_foreach(want, i, name)
        json_array_foreach(fleet_pods(c->f, text_of(name)), k, pod)
            if (has_a_part(c, text_of(pod)))
                expect_differs(c, expect_short_name(text_of(pod)), "no part in the pass",
                               "a part in it");
}

/* --- all of it --- */

static const struct {
    const char *key;
    void (*check)(struct expectation *c, const json_t *want);
} words[] = {
    {"nodes", check_nodes},
    {"launched", check_launched},
    {"spare", check_spare},
    {"unscheduled", check_unscheduled},
    {"outside", check_outside},
    {"skew", expect_skew},
    {"within", expect_within},
    {"most", expect_most},
    {"together", expect_together},
    {"apart", expect_apart},
    {"on", expect_on},
    {"type", expect_type},
    {"types", expect_type_list},
    {"labels", expect_labels},
    {"claim-labels", expect_claim_labels},
    {"annotations", expect_annotations},
    {"requirements", expect_requirements},
    {"requests", expect_requests},
    {"price", expect_price},
};

void expect_hold(const json_t *expect, const struct fleet *f, const json_t *plan, struct buf *out)
{
    struct expectation c = {.f = f, .plan = plan, .out = out};
    const char *key;
    json_t *want;
    if (!json_is_object(expect) || json_object_size(expect) == 0)
        mistake("nothing is expected");
    if (json_object_get(expect, "unscheduled") == NULL)
        check_failure_list(&c, json_array());
    json_object_foreach((json_t *)expect, key, want) {
        size_t i = 0;
        while (i < COUNT_OF(words) && strcmp(words[i].key, key) != 0)
            i++;
        if (i == COUNT_OF(words))
            mistake("there is no expectation \"%s\"", key);
        words[i].check(&c, want);
    }
}
