#include "planner/buffers.h"

#include <stdlib.h>

/* A virtual pod is called by its buffer and its number. */
#define NAME_PREFIX "capacity-buffer-"

static const struct span FAKE = SPAN_INIT("karpenter.sh/capacity-buffer-fake-pod");

struct resolving {
    struct arena *a;
    struct symtab *syms;
    const struct world_input *in;
    struct buffers out;
    const struct pod **pods;
    uint32_t pod_capacity;
};

static int by_name(const void *a, const void *b)
{
    const struct meta *x = &(*(const struct capacity_buffer *const *)a)->meta;
    const struct meta *y = &(*(const struct capacity_buffer *const *)b)->meta;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static const struct pod_template *find_template(const struct resolving *r,
                                                const struct capacity_buffer *b)
{
    for (size_t i = 0; i < r->in->pod_template_count; i++) {
        const struct pod_template *t = r->in->pod_templates[i];
        if (span_eq(t->meta.ns, b->meta.ns) && span_eq(t->meta.name, b->pod_template))
            return t;
    }
    return NULL;
}

static const struct controller *find_workload(const struct resolving *r,
                                              const struct capacity_buffer *b, bool *known_out)
{
    const struct {
        struct span kind;
        const struct controller *const *items;
        size_t count;
    } kinds[] = {
        {SPAN("Deployment"), r->in->deployments, r->in->deployment_count},
        {SPAN("ReplicaSet"), r->in->replica_sets, r->in->replica_set_count},
        {SPAN("StatefulSet"), r->in->stateful_sets, r->in->stateful_set_count},
    };
    *known_out = false;
    if (b->scalable_group.len != 0 && !span_eq(b->scalable_group, SPAN("apps")))
        return NULL;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        if (!span_eq(b->scalable_kind, kinds[k].kind))
            continue;
        *known_out = true;
        for (size_t i = 0; i < kinds[k].count; i++)
            if (span_eq(kinds[k].items[i]->meta.ns, b->meta.ns) &&
                span_eq(kinds[k].items[i]->meta.name, b->scalable_name) &&
                kinds[k].items[i]->template != NULL)
                return kinds[k].items[i];
    }
    return NULL;
}

static const struct pod *fails(struct buffer_answer *x, enum buffer_state state, struct span why)
{
    x->state = state;
    x->why = why;
    return NULL;
}

/* The template, and what the workload is scaled to (0: no workload). NULL: it cannot be resolved. */
static const struct pod *find_pod(struct resolving *r, struct buffer_answer *x, int64_t *scale_out)
{
    const struct capacity_buffer *b = x->buffer;
    bool known;
    *scale_out = 0;
    if (b->pod_template.len != 0) {
        const struct pod_template *t = find_template(r, b);
        if (t == NULL)
            return fails(x, BUFFER_NO_TEMPLATE,
                         arena_printf(r->a, "there is no PodTemplate %.*s",
                                      SPAN_ARG(b->pod_template)));
        x->source = &t->meta;
        return &t->template;
    }
    if (!b->has_scalable)
        return fails(x, BUFFER_NO_REFERENCE, SPAN("Neither podTemplateRef nor scalableRef is set"));
    const struct controller *c = find_workload(r, b, &known);
    if (c == NULL && known)
        return fails(x, BUFFER_NO_WORKLOAD,
                     arena_printf(r->a, "there is no %.*s %.*s", SPAN_ARG(b->scalable_kind),
                                  SPAN_ARG(b->scalable_name)));
    if (c == NULL)
        return fails(x, BUFFER_FAILED,
                     arena_printf(r->a, "scalableRef names %.*s, not a Deployment, ReplicaSet or "
                                        "StatefulSet of apps",
                                  SPAN_ARG(b->scalable_kind)));
    x->source = &c->meta;
    *scale_out = c->has_replicas ? c->replicas : 1;
    return c->template;
}

/* How many pods the limits hold; -1: they say nothing about such pods. */
static int64_t within_limits(const struct capacity_buffer *b, const struct pod *p)
{
    int64_t least = -1;
    for (uint32_t i = 0; i < b->limits.count; i++) {
        amount each = resources_get(p->requests, b->limits.items[i].name);
        if (each <= 0)
            continue;
        int64_t n = b->limits.items[i].value / each;
        if (least < 0 || n < least)
            least = n;
    }
    return least;
}

static int64_t replicas(const struct capacity_buffer *b, const struct pod *p, int64_t scale)
{
    int64_t most = 0, limit = within_limits(b, p);
    bool asked = b->has_replicas;
    if (b->has_replicas)
        most = b->replicas;
    if (b->has_percentage && scale > 0) {
        int64_t share = (scale * b->percentage + 99) / 100;
        asked = true;
        most = share > most ? share : most;
    }
    if (limit >= 0)
        most = !asked || limit < most ? limit : most;
    return most > 0 ? most : 0;
}

static struct annotations marks(struct resolving *r, const struct capacity_buffer *b)
{
    struct annotation *items = ARENA_ARRAY(r->a, struct annotation, 3);
    items[0] = (struct annotation){sym_intern(r->syms, FAKE), SPAN("true")};
    items[1] = (struct annotation){
        sym_intern(r->syms, SPAN("karpenter.sh/capacity-buffer-name")), b->meta.name};
    items[2] = (struct annotation){
        sym_intern(r->syms, SPAN("karpenter.sh/capacity-buffer-namespace")), b->meta.ns};
    return (struct annotations){items, 3};
}

static void make_pods(struct resolving *r, const struct capacity_buffer *b, const struct pod *from,
                      int64_t count)
{
    struct annotations annotations = marks(r, b);
    for (int64_t i = 1; i <= count; i++) {
        struct pod *p = ARENA_NEW(r->a, struct pod);
        *p = *from;
        p->meta = (struct meta){
            .ns = b->meta.ns,
            .name = arena_printf(r->a, NAME_PREFIX "%.*s-%lld", SPAN_ARG(b->meta.name),
                                 (long long)i),
            .uid = arena_printf(r->a, "%.*s-%lld", SPAN_ARG(b->meta.uid), (long long)i),
            .labels = from->meta.labels,
            .annotations = annotations,
            .created = POD_MADE_UP,
        };
        p->is_virtual = true;
        p->node = SYM_NONE;
        p->phase = POD_PENDING;
        p->unschedulable = true;
        p->priority = INT32_MIN;
        p->volumes = (struct pod_volumes){NULL, 0};
        ARENA_PUSH(r->a, r->pods, r->out.count, r->pod_capacity, p);
    }
}

static void resolve(struct resolving *r, struct buffer_answer *x)
{
    int64_t scale;
    const struct pod *from = find_pod(r, x, &scale);
    int64_t count = from != NULL ? replicas(x->buffer, from, scale) : 0;
    if (count > BUFFERS_PODS_MAX - (int64_t)r->out.count) {
        fails(x, BUFFER_FAILED,
              arena_printf(r->a, "it asks for %lld pods; all buffers may have %d together",
                           (long long)count, BUFFERS_PODS_MAX));
        return;
    }
    x->replicas = count;
    if (count != 0)
        make_pods(r, x->buffer, from, count);
}

static bool are_given(const struct world_input *in, sym fake)
{
    bool given = false;
    for (size_t i = 0; i < in->pod_count && !given; i++)
        given = span_eq(annotations_get(in->pods[i]->meta.annotations, fake), SPAN("true"));
    return given;
}

struct buffers buffers_resolve(struct arena *a, struct symtab *syms, const struct world_input *in)
{
    struct resolving r = {.a = a, .syms = syms, .in = in};
    if (in->buffer_count == 0 ||
        (in->options->buffer_pods_given && are_given(in, sym_intern(syms, FAKE))))
        return r.out;
    const struct capacity_buffer **order = ARENA_ARRAY(a, const struct capacity_buffer *,
                                                       in->buffer_count);
    struct buffer_answer *answers = ARENA_ARRAY(a, struct buffer_answer, in->buffer_count);
    for (size_t i = 0; i < in->buffer_count; i++)
        order[i] = in->buffers[i];
    qsort(order, in->buffer_count, sizeof(*order), by_name);
    for (size_t i = 0; i < in->buffer_count; i++) {
        answers[i].buffer = order[i];
        resolve(&r, &answers[i]);
    }
    r.out.pods = r.pods;
    r.out.answers = answers;
    r.out.answer_count = (uint32_t)in->buffer_count;
    return r.out;
}

static struct span without_number(struct span text)
{
    while (text.len > 0 && text.ptr[--text.len] != '-')
        ;
    return text;
}

struct span buffer_name_of(const struct pod *p)
{
    size_t prefix = sizeof(NAME_PREFIX) - 1;
    struct span name = p->meta.name;
    return without_number((struct span){name.ptr + prefix, name.len - prefix});
}

struct span buffer_uid_of(const struct pod *p)
{
    return without_number(p->meta.uid);
}
