#include "kube/pod_check.h"

#include <stdlib.h>

#include "base/nearest.h"
#include "kube/meta_fields.h"
#include "kube/pod_wire.h"
#include "kube/requirement.h"

/* ---- amounts ---- */

static bool is_huge_pages(struct span name)
{
    return span_has_prefix(name, SPAN("hugepages-"));
}

/* Devices: vendor.example/name, but for what Kubernetes itself counts. */
static bool is_extended(struct span name)
{
    return span_contains(name, SPAN("/")) && !span_contains(name, SPAN("kubernetes.io/"));
}

static void check_resource_name(struct decode *d, struct doc_value v, struct span name)
{
    static const struct span plain[] = {SPAN_INIT("cpu"), SPAN_INIT("memory"),
                                        SPAN_INIT("ephemeral-storage")};
    struct nearest near = {.given = name};
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (span_eq(name, plain[i]))
            return;
        else
            nearest_try(&near, plain[i]);
    if (is_huge_pages(name) || (span_contains(name, SPAN("/")) && qualified_name_valid(name)))
        return;
    if (near.best.ptr != NULL)
        decode_invalid(d, v, "is not a resource of containers; did you mean \"%.*s\"?",
                       SPAN_ARG(near.best));
    else
        decode_invalid(d, v, "is not a resource of containers; use cpu, memory, ephemeral-storage, "
                             "hugepages-SIZE or a name with a domain");
}

void pod_check_container_resource(struct decode *d, struct doc_value v, const void *object)
{
    const struct resource *r = object;
    struct span name = sym_text(d->syms, r->name);
    amount thousandths;
    struct err err;
    check_resource_name(d, v, name);
    if (is_extended(name) && quantity_parse(doc_text(v), 1000, &thousandths, &err) &&
        thousandths % 1000 != 0 && thousandths != INT64_MAX)
        decode_invalid(d, v, "\"%.*s\" is not a whole number, which devices are counted in",
                       SPAN_ARG(doc_text(v)));
}

static bool find_resource(struct resources list, sym name, amount *out)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i].name == name) {
            *out = list.items[i].value;
            return true;
        }
    return false;
}

static void check_requests(struct decode *d, struct doc_value v, struct resources requests,
                           struct resources limits, bool pod)
{
    for (uint32_t i = 0; i < requests.count; i++) {
        struct span name = sym_text(d->syms, requests.items[i].name);
        amount request = requests.items[i].value, limit;
        bool fixed = is_extended(name) || is_huge_pages(name); /* of which no node gives more than it has */
        if (!find_resource(limits, requests.items[i].name, &limit) ||
            (fixed && !pod ? request == limit : request <= limit))
            continue;
        struct span asked = quantity_text(d->arena, name, request), most = quantity_text(d->arena, name, limit);
        decode_invalid_in(d, v, "requests", "%.*s is %.*s, %s the limit of %.*s", SPAN_ARG(name),
                          SPAN_ARG(asked), request > limit ? "more than" : "and must be equal to",
                          SPAN_ARG(most));
    }
}

void pod_check_container_resources(struct decode *d, struct doc_value v, const void *object)
{
    const struct container *c = object;
    check_requests(d, v, c->requests, c->limits, false);
}

void pod_check_pod_resources(struct decode *d, struct doc_value v, const void *object)
{
    const struct pod_wire *w = object;
    const struct {
        const char *member;
        struct resources list;
    } lists[] = {{"requests", w->pod_level}, {"limits", w->pod_level_limits}};
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (uint32_t i = 0; i < lists[k].list.count; i++) {
            struct span name = sym_text(d->syms, lists[k].list.items[i].name);
            if (!span_eq(name, SPAN("cpu")) && !span_eq(name, SPAN("memory")) && !is_huge_pages(name))
                decode_invalid_in(d, v, lists[k].member,
                                  "%.*s is not for a whole pod, only cpu, memory and hugepages are",
                                  SPAN_ARG(name));
        }
    check_requests(d, v, w->pod_level, w->pod_level_limits, true);
}

static struct containers copy_of(struct arena *a, struct containers list)
{
    struct container *items = ARENA_ARRAY(a, struct container, list.count);
    if (list.count != 0)
        memcpy(items, list.items, list.count * sizeof(*items));
    return (struct containers){items, list.count};
}

/* What the whole pod asks for must do for its containers. */
static void check_pod_level(struct decode *d, struct doc_value spec, const struct pod_wire *w)
{
    if (w->pod_level.count == 0)
        return;
    struct pod_wire containers = {.containers = copy_of(d->arena, w->containers),
                                  .init_containers = copy_of(d->arena, w->init_containers)};
    pod_wire_default(d->arena, &containers);
    struct resources sum = pod_wire_requests(d->arena, &containers, d->syms);
    for (uint32_t i = 0; i < w->pod_level.count; i++) {
        struct span name = sym_text(d->syms, w->pod_level.items[i].name);
        amount whole = w->pod_level.items[i].value, needed = resources_get(sum, w->pod_level.items[i].name);
        if (whole < needed)
            decode_invalid_in(d, spec, "resources", "requests.%.*s is %.*s, less than the %.*s of the containers",
                              SPAN_ARG(name), SPAN_ARG(quantity_text(d->arena, name, whole)),
                              SPAN_ARG(quantity_text(d->arena, name, needed)));
    }
}

/* ---- where to ---- */

void pod_check_port(struct decode *d, struct doc_value v, const void *object)
{
    const struct host_port *p = object;
    struct span protocol = sym_text(d->syms, p->protocol);
    if (protocol.len != 0 && !span_eq(protocol, SPAN("TCP")) && !span_eq(protocol, SPAN("UDP")) &&
        !span_eq(protocol, SPAN("SCTP")))
        decode_invalid_in(d, v, "protocol", "\"%.*s\" is not a protocol; use TCP, UDP or SCTP",
                          SPAN_ARG(protocol));
}

void pod_check_node_terms(struct decode *d, struct doc_value v, const void *object)
{
    (void)object;
    struct doc_value terms;
    if (!doc_find(v, SPAN("nodeSelectorTerms"), &terms) || doc_count(terms) == 0)
        decode_invalid_in(d, v, "nodeSelectorTerms", "needs at least one term");
}

void pod_check_term(struct decode *d, struct doc_value v, const void *object)
{
    const struct pod_term *t = object;
    decode_check_key(d, v, "topologyKey", t->topology_key);
}

static void check_policy(struct decode *d, struct doc_value v, const char *member)
{
    struct span text = doc_text_at(v, span_of(member));
    if (text.ptr != NULL && !span_eq(text, SPAN("Honor")) && !span_eq(text, SPAN("Ignore")))
        decode_invalid_in(d, v, member, "\"%.*s\" is not a policy; use Honor or Ignore", SPAN_ARG(text));
}

void pod_check_spread(struct decode *d, struct doc_value v, const void *object)
{
    const struct spread *s = object;
    struct span when = doc_text_at(v, SPAN("whenUnsatisfiable"));
    static const char use[] = "use DoNotSchedule or ScheduleAnyway";
    decode_check_key(d, v, "topologyKey", s->topology_key);
    if (when.len == 0)
        decode_invalid_in(d, v, "whenUnsatisfiable", "is missing; %s", use);
    else if (!s->hard && !span_eq(when, SPAN("ScheduleAnyway")))
        decode_invalid_in(d, v, "whenUnsatisfiable", "\"%.*s\" is not an action; %s", SPAN_ARG(when), use);
    else if (!s->hard && s->min_domains != 0)
        decode_invalid_in(d, v, "minDomains", "needs whenUnsatisfiable DoNotSchedule");
    if (s->match_label_keys.count != 0 && !s->has_selector)
        decode_invalid_in(d, v, "matchLabelKeys", "needs a labelSelector");
    check_policy(d, v, "nodeAffinityPolicy");
    check_policy(d, v, "nodeTaintsPolicy");
}

static int order_pairs(const struct spread *x, const struct spread *y)
{
    return x->topology_key != y->topology_key ? (x->topology_key > y->topology_key) - (x->topology_key < y->topology_key)
                                              : (int)x->hard - (int)y->hard;
}

/* Equal ones stay in the order of the list. */
static int by_pair(const void *a, const void *b)
{
    const struct spread *x = *(const struct spread *const *)a, *y = *(const struct spread *const *)b;
    int order = order_pairs(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

/* One line, however many repeat what stands before them. */
static void check_spreads(struct decode *d, struct doc_value spec, struct spreads list)
{
    const struct spread **sorted = ARENA_ARRAY(d->arena, const struct spread *, list.count);
    const struct spread *first = NULL, *again = NULL;
    uint32_t repeats = 0;
    for (uint32_t i = 0; i < list.count; i++)
        sorted[i] = &list.items[i];
    if (list.count > 1)
        qsort(sorted, list.count, sizeof(*sorted), by_pair);
    for (uint32_t i = 1; i < list.count; i++) {
        if (order_pairs(sorted[i - 1], sorted[i]) != 0)
            continue;
        repeats++;
        if (again == NULL || sorted[i] < again) {
            again = sorted[i];
            first = sorted[i - 1];
        }
    }
    if (repeats == 1)
        decode_invalid_in(d, spec, "topologySpreadConstraints", "items %zu and %zu have the same topologyKey and whenUnsatisfiable",
                          (size_t)(first - list.items), (size_t)(again - list.items));
    else if (repeats != 0)
        decode_invalid_in(d, spec, "topologySpreadConstraints",
                          "items %zu and %zu have the same topologyKey and whenUnsatisfiable, and so have %u more",
                          (size_t)(first - list.items), (size_t)(again - list.items), repeats - 1);
}

void pod_check_spec(struct decode *d, struct doc_value v, const void *object)
{
    const struct pod_wire *w = object;
    check_pod_level(d, v, w);
    check_spreads(d, v, w->pod.spreads);
}
