/* Whose requests they are, and their pods. */
#include "planner/groups/requests.h"

#include <stdlib.h>

static const struct span api_version = SPAN_INIT("autoscaling.x-k8s.io/v1");
static const struct span kind_name = SPAN_INIT("ProvisioningRequest");

struct resolving {
    struct arena *a;
    struct symtab *syms;
    const struct pod_template *const *templates;
    size_t template_count;
    int64_t left; /* pods that there may still be */
};

/* --- whose --- */

/* The instance is said by a parameter or, as it was before Cluster Autoscaler 1.35, before the class's name. */
static bool is_ours_to_check(const struct provisioning_request *o, struct span instance)
{
    struct span own = provisioning_request_parameter(o, SPAN("processorInstance")), name = o->class_name;
    if (own.len != 0 || instance.len == 0)
        return span_eq(own, instance) && span_eq(name, SPAN(REQUEST_CHECK_CLASS));
    if (!span_has_prefix(name, instance))
        return false;
    return span_eq((struct span){name.ptr + instance.len, name.len - instance.len}, SPAN(REQUEST_CHECK_CLASS));
}

static bool is_ours_to_grow(const struct provisioning_request *o, struct span instance)
{
    return instance.len == 0 && span_eq(o->class_name, SPAN(REQUEST_ATOMIC_CLASS));
}

bool request_is(const struct capacity_request *r, struct span condition)
{
    return conditions_true(r->object->conditions, condition);
}

bool request_is_booked(const struct capacity_request *r)
{
    return (r->booked || r->grown || request_is(r, SPAN("Provisioned"))) && !request_is(r, SPAN("Failed")) &&
           !request_is(r, SPAN("BookingExpired"));
}

static bool is_over(const struct capacity_request *r)
{
    return request_is(r, SPAN("Failed")) || request_is(r, SPAN("BookingExpired"));
}

struct span request_consumed_by(const struct symtab *syms, const struct pod *p)
{
    static const struct span keys[] = {SPAN_INIT("autoscaling.x-k8s.io/consume-provisioning-request"),
                                       SPAN_INIT("cluster-autoscaler.kubernetes.io/consume-provisioning-request")};
    struct span name = {NULL, 0};
    for (size_t i = 0; i < COUNT_OF(keys) && name.ptr == NULL && p->meta.annotations.count != 0; i++) {
        sym key = sym_find(syms, keys[i]);
        if (key != SYM_NONE)
            name = annotations_get(p->meta.annotations, key);
    }
    return name;
}

bool pod_is_of_request(const struct pod *p)
{
    return p->is_virtual && meta_controller(&p->meta) != NULL; /* a CapacityBuffer's has none */
}

/* --- pods --- */

static const struct pod_template *find_template(const struct resolving *r, struct span ns, struct span name)
{
    for (size_t i = 0; i < r->template_count; i++)
        if (span_eq(r->templates[i]->meta.name, name) && span_eq(r->templates[i]->meta.ns, ns))
            return r->templates[i];
    return NULL;
}

static struct owners owner_of(const struct resolving *r, const struct provisioning_request *o)
{
    struct owner *owner = ARENA_NEW(r->a, struct owner);
    *owner = (struct owner){.api_version = sym_intern(r->syms, api_version), .kind = sym_intern(r->syms, kind_name),
                            .name = o->meta.name, .uid = o->meta.uid, .controller = true};
    return (struct owners){owner, 1};
}

static struct pod *make_pod(const struct resolving *r, const struct provisioning_request *o, const struct pod *from,
                            uint32_t set, int32_t number)
{
    struct pod *p = ARENA_NEW(r->a, struct pod);
    meta_copy_object(p, from, sizeof(*p));
    p->meta.ns = o->meta.ns;
    p->meta.name = arena_printf(r->a, "%.*s-%u-%d", SPAN_ARG(o->meta.name), set, number);
    p->meta.uid = arena_printf(r->a, "%.*s-%u-%d", SPAN_ARG(o->meta.uid), set, number);
    p->meta.created = o->meta.created;
    p->is_virtual = true;
    p->node = p->nominated_node = SYM_NONE;
    p->phase = POD_PENDING;
    p->unschedulable = true;
    return p;
}

static void make_pods(const struct resolving *r, struct capacity_request *x)
{
    const struct provisioning_request *o = x->object;
    const struct pod **pods = ARENA_ARRAY(r->a, const struct pod *, (size_t)x->wanted);
    struct owners owners = owner_of(r, o);
    for (uint32_t i = 0; i < o->pods.count; i++) {
        const struct pod_template *t = find_template(r, o->meta.ns, o->pods.items[i].template);
        for (int32_t k = 0; k < o->pods.items[i].count; k++) {
            struct pod *p = make_pod(r, o, &t->template, i, k);
            p->meta.owners = owners;
            pods[x->pod_count++] = p;
        }
    }
    x->pods = pods;
}

static struct span why_none(const struct resolving *r, const struct capacity_request *x)
{
    const struct provisioning_request *o = x->object;
    for (uint32_t i = 0; i < o->pods.count; i++)
        if (find_template(r, o->meta.ns, o->pods.items[i].template) == NULL)
            return arena_printf(r->a, "spec.podSets[%u].podTemplateRef.name: there is no PodTemplate %.*s/%.*s; create it, and "
                                      "this request anew",
                                i, SPAN_ARG(o->meta.ns), SPAN_ARG(o->pods.items[i].template));
    if (x->wanted > REQUESTS_PODS_MAX)
        return arena_printf(r->a, "spec.podSets: they ask for %lld pods; all requests may have %d together, ask for fewer",
                            (long long)x->wanted, REQUESTS_PODS_MAX);
    return x->wanted == 0 ? SPAN("spec.podSets: they ask for no pod; give at least one") : (struct span){NULL, 0};
}

static void resolve(struct resolving *r, struct capacity_request *x)
{
    for (uint32_t i = 0; i < x->object->pods.count; i++)
        x->wanted += x->object->pods.items[i].count;
    if (is_over(x))
        return;
    x->why = why_none(r, x);
    x->crowded = x->why.ptr == NULL && x->wanted > r->left;
    if (x->why.ptr != NULL || x->crowded)
        return;
    r->left -= x->wanted;
    make_pods(r, x);
}

static int by_age(const void *a, const void *b)
{
    const struct meta *x = &((const struct capacity_request *)a)->object->meta;
    const struct meta *y = &((const struct capacity_request *)b)->object->meta;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

struct capacity_requests capacity_requests_resolve(struct arena *a, struct symtab *syms, const struct group_flags *flags,
                                                   const struct provisioning_request *const *objects, size_t count,
                                                   const struct pod_template *const *templates, size_t template_count)
{
    struct resolving r = {.a = a, .syms = syms, .templates = templates, .template_count = template_count,
                          .left = REQUESTS_PODS_MAX};
    struct capacity_requests out = {.items = ARENA_ARRAY(a, struct capacity_request, count + 1)};
    for (size_t i = 0; i < count; i++) {
        const struct provisioning_request *o = objects[i];
        bool atomic = is_ours_to_grow(o, flags->check_instance);
        if (o->meta.deleted != 0 || (!atomic && !is_ours_to_check(o, flags->check_instance)))
            continue;
        out.items[out.count++] = (struct capacity_request){
            .object = o,
            .atomic = atomic,
            .no_retry = !atomic && span_eq(provisioning_request_parameter(o, SPAN("noRetry")), SPAN("true")),
        };
    }
    if (out.count != 0)
        qsort(out.items, out.count, sizeof(out.items[0]), by_age);
    for (uint32_t i = 0; i < out.count; i++)
        resolve(&r, &out.items[i]);
    return out;
}
