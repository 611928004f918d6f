/* Which workloads have no pods, and how many they want. What is made for them: expand_make.c. */
#include <stdlib.h>

#include "kube/buffer.h"
#include "server/expand_inner.h"

/* --- the workloads --- */

/* A controller of what its column "from" names is looked up in an earlier row. */
static const enum kind kinds[] = {KIND_DEPLOYMENT, KIND_STATEFUL_SET, KIND_REPLICA_SET,
                                  KIND_REPLICATION_CONTROLLER, KIND_CRON_JOB, KIND_JOB, KIND_POD_TEMPLATE};

static bool has_ended(const struct job *j)
{
    return conditions_true(j->conditions, SPAN("Complete")) ||
           conditions_true(j->conditions, SPAN("Failed"));
}

/* Side by side, and no more than are still to succeed. A queue's Job (no completions) starts none any more when
 * one has succeeded. */
static int64_t pods_of_job(const struct job *j)
{
    int64_t parallel = j->has_parallelism ? j->parallelism : 1;
    if (j->suspended || has_ended(j))
        return 0;
    if (!j->has_completions && j->has_parallelism)
        return j->succeeded == 0 ? parallel : 0;
    int64_t left = (j->has_completions ? j->completions : 1) - (int64_t)j->succeeded;
    left = left > 0 ? left : 0;
    return parallel < left ? parallel : left;
}

/* A cluster's own (without a line) stand for no more pods than it has. */
static struct workload workload_of(enum kind k, const void *object)
{
    struct workload w = {.kind = k, .meta = object};
    if (k == KIND_JOB || k == KIND_CRON_JOB) {
        const struct cron_job *c = object;
        const struct job *j = k == KIND_JOB ? object : &c->job;
        w.template = j->template;
        w.asks = k == KIND_JOB ? "spec.parallelism" : "spec.jobTemplate.spec.parallelism";
        w.wanted = k == KIND_CRON_JOB && c->suspended ? 0 : pods_of_job(j);
    } else if (k == KIND_POD_TEMPLATE) {
        w.template = &((const struct pod_template *)object)->template;
        w.wanted = 1;
    } else {
        w.controller = object;
        w.template = w.controller->template;
        w.asks = "spec.replicas";
        w.wanted = w.controller->has_replicas ? w.controller->replicas : 1;
    }
    if (w.meta->deleted != 0 || w.template == NULL || input_origin(object)->line == 0)
        w.wanted = 0;
    return w;
}

static void collect(struct expansion *x)
{
    struct input *o = x->o;
    size_t total = 0, n = 0;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        total += o->kinds[kinds[k]].count;
    x->items = ARENA_ARRAY(&o->arena, struct workload, total);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const struct input_list *list = &o->kinds[kinds[k]];
        x->first[kinds[k]] = n;
        for (size_t i = 0; i < list->count; i++)
            x->items[n++] = workload_of(kinds[k], list->items[i]);
        x->end[kinds[k]] = n;
    }
    x->count = n;
}

static int by_name(const void *key, const void *item)
{
    const struct meta *x = key, *y = ((const struct workload *)item)->meta;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static struct workload *find(const struct expansion *x, enum kind k, struct span ns, struct span name)
{
    const struct meta key = {.ns = ns, .name = name};
    size_t count = x->end[k] - x->first[k];
    return count == 0 ? NULL : bsearch(&key, x->items + x->first[k], count, sizeof(*x->items), by_name);
}

/* --- whose pods are whose --- */

/* Without the last part, which the controller has added: web of web-5f6d8. */
static struct span stem(struct span name)
{
    while (name.len != 0 && name.ptr[name.len - 1] != '-')
        name.len--;
    name.len -= name.len != 0;
    return name;
}

/* Who would take it for its own: the first whose selector finds these labels. None selects by nothing. */
static struct workload *adopter(const struct expansion *x, size_t end, struct span ns, struct sym_pairs labels)
{
    for (size_t i = 0; i < end; i++) {
        struct workload *w = &x->items[i];
        const struct label_selector *s = w->controller != NULL ? &w->controller->selector : NULL;
        if (s != NULL && s->match_labels.count + s->match_expressions.count != 0 &&
            span_eq(w->meta->ns, ns) && label_selector_matches(s, labels))
            return w;
    }
    return NULL;
}

static struct workload *parent_of(const struct expansion *x, const struct workload *w)
{
    const struct owner *by = meta_controller(w->meta);
    if (by == NULL && w->kind == KIND_REPLICA_SET && w->template != NULL)
        return adopter(x, x->end[KIND_DEPLOYMENT], w->meta->ns, w->template->meta.labels);
    if (by == NULL)
        return NULL;
    struct span kind = sym_text(x->o->syms, by->kind);
    if (w->kind == KIND_REPLICA_SET && span_eq(kind, SPAN("Deployment")))
        return find(x, KIND_DEPLOYMENT, w->meta->ns, by->name);
    if (w->kind == KIND_JOB && span_eq(kind, SPAN("CronJob")))
        return find(x, KIND_CRON_JOB, w->meta->ns, by->name);
    return NULL;
}

/* A Deployment's ReplicaSets stand for nothing of their own; a CronJob whose Job is at work begins none. */
static void link_parents(struct expansion *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct workload *w = &x->items[i], *parent = parent_of(x, w);
        if (parent == NULL)
            continue;
        if (w->kind == KIND_JOB) {
            parent->wanted = w->wanted != 0 ? 0 : parent->wanted;
            continue;
        }
        w->parent = parent;
        w->wanted = 0;
        if (parent->newest == NULL || parent->newest->meta.created <= w->meta->created)
            parent->newest = w->controller;
    }
}

static struct workload *owner_of(const struct expansion *x, const struct pod *p)
{
    const struct owner *by = meta_controller(&p->meta);
    if (by == NULL)
        return adopter(x, x->count, p->meta.ns, p->meta.labels);
    struct span kind = sym_text(x->o->syms, by->kind);
    struct workload *w = NULL;
    for (size_t k = 0; k < COUNT_OF(kinds) && w == NULL; k++)
        if (span_eq(kind, span_of(kind_info(kinds[k])->name)))
            w = find(x, kinds[k], p->meta.ns, by->name);
    if (w == NULL && by->kind == SYM_KIND_REPLICA_SET)
        w = find(x, KIND_DEPLOYMENT, p->meta.ns, stem(by->name));
    if (w == NULL && span_eq(kind, SPAN("Job")))
        w = find(x, KIND_CRON_JOB, p->meta.ns, stem(by->name));
    return w;
}

struct workload *expand_owner(const struct expansion *x, const struct pod *p)
{
    struct workload *w = x->count != 0 ? owner_of(x, p) : NULL;
    return w != NULL && w->parent != NULL ? w->parent : w;
}

static void look_for_pods(struct expansion *x)
{
    const struct input_list *pods = &x->o->kinds[KIND_POD];
    for (size_t i = 0; i < pods->count && x->count != 0; i++) {
        const struct pod *p = pods->items[i];
        struct workload *w = expand_owner(x, p);
        if (w == NULL)
            continue;
        w->pods += expand_counts(p);
        /* a CronJob's are of one run after the other */
        w->has_pods = w->has_pods || w->kind != KIND_CRON_JOB || !pod_is_terminal(p);
    }
}

/* A PodTemplate is a pod to be, unless it is what a CapacityBuffer points at or somebody else's. */
static void pass_over_templates(struct expansion *x)
{
    const struct input_list *buffers = &x->o->kinds[KIND_CAPACITY_BUFFER];
    for (size_t i = 0; i < buffers->count; i++) {
        const struct capacity_buffer *b = buffers->items[i];
        struct workload *w = find(x, KIND_POD_TEMPLATE, b->meta.ns, b->pod_template);
        if (w != NULL)
            w->wanted = 0;
    }
    for (size_t i = x->first[KIND_POD_TEMPLATE]; i < x->end[KIND_POD_TEMPLATE]; i++) {
        struct workload *w = &x->items[i];
        if (w->meta->owners.count != 0 || expand_is_there(x, w->meta->ns, w->meta->name))
            w->wanted = 0;
    }
}

static struct expansion look(struct input *o)
{
    struct expansion x = {.o = o, .pods_given = o->kinds[KIND_POD].count,
                          .claims_given = o->kinds[KIND_VOLUME_CLAIM].count};
    collect(&x);
    link_parents(&x);
    look_for_pods(&x);
    pass_over_templates(&x);
    return x;
}

/* --- what is told --- */

enum { NAMED_MAX = 20 }; /* workloads that one line names; more are counted */

static void tell_made(const struct expansion *x)
{
    struct input *o = x->o;
    struct buf names = {0};
    size_t named = 0, more = 0;
    for (size_t i = 0; i < x->count; i++) {
        const struct workload *w = &x->items[i];
        if (w->made == 0)
            continue;
        if (named++ >= NAMED_MAX)
            more++;
        else
            buf_addf(&names, "%s%.*s %lld", named == 1 ? "" : ", ",
                     SPAN_ARG(kind_object_name(&o->arena, w->kind, w->meta)), (long long)w->made);
    }
    if (more != 0)
        buf_addf(&names, " and %zu more", more);
    bool one = x->made == 1;
    if (x->made != 0)
        input_warn(o, arena_printf(&o->arena,
                                   "%lld pod%s made up for workloads whose pods are not in the input: "
                                   "%.*s; --no-expand leaves %s out",
                                   (long long)x->made, one ? " is" : "s are", SPAN_ARG(buf_span(&names)),
                                   one ? "it" : "them"));
    buf_release(&names);
}

static void tell_cron_jobs(const struct expansion *x, size_t count)
{
    if (count != 0)
        input_warn(x->o, arena_printf(&x->o->arena,
                                      "%zu CronJob%s for no pods; --include-cronjobs plans a run of %s",
                                      count, count == 1 ? " stands" : "s stand", count == 1 ? "it" : "each"));
}

static void tell_too_many(const struct expansion *x, const struct workload *w)
{
    const struct input_origin *origin = input_origin(w->meta);
    x->o->set_aside[w->kind]++;
    struct span text = arena_printf(&x->o->arena,
                                    "%.*s: %s asks for %lld pods; all workloads together may stand for %d; it is set aside",
                                    SPAN_ARG(kind_object_name(&x->o->arena, w->kind, w->meta)), w->asks,
                                    (long long)w->wanted, EXPAND_PODS_MAX);
    input_tell(x->o, INPUT_WARNS, origin->file, origin->line, text);
}

/* --- the whole --- */

/* What files have; a Job that has begun is what it is. */
static void fill_up(struct expansion *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct workload *w = &x->items[i];
        w->filled_up = expand_has_replicas(w) && input_origin(w->meta)->line != 0;
    }
}

bool expand_workloads(struct input *o, const struct expand_options *options, struct err *err)
{
    struct expansion x = look(o);
    size_t cron_jobs = 0;
    if (options->on_top)
        fill_up(&x);
    if (options->replicas != NULL && !expand_take_replicas(&x, options->replicas, err))
        return false;
    for (size_t i = 0; i < x.count; i++) {
        struct workload *w = &x.items[i];
        if (w->filled_up && w->pods > w->wanted)
            expand_shrink(&x, w);
        if (w->wanted == 0 || (w->has_pods && !w->filled_up))
            continue;
        if (w->kind == KIND_CRON_JOB && !options->include_cron_jobs)
            cron_jobs++;
        else if (w->wanted > EXPAND_PODS_MAX - x.made)
            tell_too_many(&x, w);
        else
            expand_make(&x, w);
    }
    tell_made(&x);
    tell_cron_jobs(&x, cron_jobs);
    return true;
}

void expand_warn(struct input *o)
{
    struct expansion x = look(o);
    if (o->kinds[KIND_CAPACITY_BUFFER].count != 0)
        return; /* the workloads are there for the buffers to point at */
    for (size_t k = 0; k < COUNT_OF(kinds) && kinds[k] != KIND_POD_TEMPLATE; k++) {
        size_t lacking = 0;
        for (size_t i = x.first[kinds[k]]; i < x.end[kinds[k]]; i++)
            lacking += x.items[i].wanted != 0 && !x.items[i].has_pods;
        if (lacking != 0)
            input_warn(o, arena_printf(&o->arena, "%zu %s%s no pods in the input; only pods are planned",
                                       lacking, kind_info(kinds[k])->name, lacking == 1 ? " has" : "s have"));
    }
}
