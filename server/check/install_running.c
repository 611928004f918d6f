/* What of an installation runs: Stowage's Deployment, the scheduler that asks it, and what it is to serve. */
#include <string.h>

#include "cloud/kwok.h"
#include "cloud/machine_types.h"
#include "server/check/install.h"

#define SCHEDULER_NAMESPACE "kube-system" /* of kube-scheduler's Lease and static Pods */
#define SECOND_SCHEDULER "stowage-scheduler" /* its Deployment and namespace, as manifests/second-scheduler has them */
#define SHIPPED_IMAGE "stowage:latest"    /* of manifests/deployment.yaml, which no registry has */

enum { CLASSES_MAX = 64 };

/* ---- containers ---- */

/* The value of a container's argument, --config=VALUE or --config VALUE, of its command and args; false: it has none. */
static bool find_argument(struct doc_value container, struct span flag, struct span *value_out)
{
    static const char *const members[] = {"command", "args"};
    bool next = false;
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        struct doc_value list;
        if (!doc_find(container, span_of(members[i]), &list))
            continue;
        for (struct doc_iter it = doc_iter_of(list); doc_next(&it);) {
            struct span text = doc_type(it.value) == DOC_STRING ? doc_text(it.value) : (struct span){NULL, 0};
            struct span value, name = span_cut(text, '=', &value);
            if (next)
                return *value_out = text, true;
            if (!span_eq(name, flag))
                continue;
            if (value.ptr != NULL)
                return *value_out = value, true;
            next = true;
        }
    }
    return false;
}

static bool first_container(struct doc_value pod_spec, struct doc_value *out)
{
    struct doc_value list;
    if (!doc_find(pod_spec, SPAN("containers"), &list))
        return false;
    struct doc_iter it = doc_iter_of(list);
    bool found = doc_next(&it);
    *out = it.value;
    return found;
}

/* ---- the Deployment ---- */

struct deployment {
    struct arena *a;
    int64_t wanted, ready;
    struct span image;
    bool nominates, keeps_groups; /* --placement=nominate; --cloud-provider */
};

static void read_deployment(void *user, struct doc_value object)
{
    struct deployment *d = user;
    struct doc_value spec, status, template, pod, container;
    struct span placement, provider;
    d->wanted = 1;
    d->ready = doc_find(object, SPAN("status"), &status) ? doc_int64_at(status, SPAN("readyReplicas"), 0) : 0;
    if (!doc_find(object, SPAN("spec"), &spec))
        return;
    d->wanted = doc_int64_at(spec, SPAN("replicas"), 1);
    if (!doc_find(spec, SPAN("template"), &template) || !doc_find(template, SPAN("spec"), &pod) ||
        !first_container(pod, &container))
        return;
    d->image = arena_dup(d->a, doc_text_at(container, SPAN("image")));
    d->nominates = find_argument(container, SPAN("--placement"), &placement) && span_eq(placement, SPAN("nominate"));
    d->keeps_groups = find_argument(container, SPAN("--cloud-provider"), &provider);
}

static struct ask *get_deployment(struct check *c, struct deployment *d)
{
    *d = (struct deployment){.a = c->report->a};
    return install_get(c, KIND_DEPLOYMENT, c->ns, "stowage", read_deployment, d);
}

void install_flags(struct check *c)
{
    struct deployment *d = ARENA_NEW(c->report->a, struct deployment);
    (void)get_deployment(c, d);
    c->nominates = d->nominates;
    c->keeps_groups = d->keeps_groups;
}

static void tell_deployment(struct check *c, const struct deployment *d)
{
    const char *what = arena_printf(c->report->a, "%lld of %lld Pods of Deployment %.*s/stowage are ready", (long long)d->ready,
                                    (long long)d->wanted, SPAN_ARG(c->ns)).ptr;
    if (d->wanted == 0)
        check_say(c->report, CHECK_FAIL, "deployment", install_command(c, "scale deployment/stowage --replicas=2"),
                  "Deployment %.*s/stowage is scaled to 0", SPAN_ARG(c->ns));
    else if (d->ready == 0 && span_eq(d->image, SPAN(SHIPPED_IMAGE)))
        check_say(c->report, CHECK_FAIL, "deployment", install_command(c, "set image deployment/stowage stowage=YOUR-IMAGE"),
                  "%s: their image is " SHIPPED_IMAGE ", as it ships", what);
    else
        check_say(c->report, d->ready == 0 ? CHECK_FAIL : d->ready < d->wanted ? CHECK_WARN : CHECK_OK, "deployment",
                  d->ready < d->wanted ? install_command(c, "describe pods -l app.kubernetes.io/name=stowage") : NULL, "%s", what);
}

void install_deployment(struct check *c)
{
    struct deployment *d = ARENA_NEW(c->report->a, struct deployment);
    struct ask *a = get_deployment(c, d);
    struct span what = arena_printf(c->report->a, "Deployment %.*s/stowage", SPAN_ARG(c->ns));
    if (install_has(c, "deployment", a, what, "kubectl apply -f manifests/deployment.yaml"))
        tell_deployment(c, d);
    a = install_get(c, KIND_SERVICE, c->ns, "stowage-extender", NULL, NULL);
    what = arena_printf(c->report->a, "Service %.*s/stowage-extender, which the scheduler calls,", SPAN_ARG(c->ns));
    (void)install_has(c, "deployment", a, what, "kubectl apply -f manifests/deployment.yaml");
}

/* ---- the scheduler ---- */

struct scheduler_seen {
    struct arena *a;
    struct span host, config; /* config: absent: it has no --config */
};

/* "HOST_UUID" holds kube-scheduler's Lease. */
static void read_holder(void *user, struct doc_value lease)
{
    struct scheduler_seen *s = user;
    struct doc_value holder;
    struct span rest;
    if (install_find(lease, "spec", "holderIdentity", &holder) && doc_type(holder) == DOC_STRING)
        s->host = arena_dup(s->a, span_cut(doc_text(holder), '_', &rest));
}

static void read_static_pod(void *user, struct doc_value pod)
{
    struct scheduler_seen *s = user;
    struct doc_value spec, container;
    struct span config;
    if (doc_find(pod, SPAN("spec"), &spec) && first_container(spec, &container) &&
        find_argument(container, SPAN("--config"), &config))
        s->config = arena_dup(s->a, config);
}

/* The Pod that a kubelet shows of the scheduler that leads; NULL: there is none, as where somebody else runs the control plane. */
static const struct ask *look_at_static_pod(struct check *c, struct scheduler_seen *s)
{
    install_get(c, KIND_LEASE, SPAN(SCHEDULER_NAMESPACE), "kube-scheduler", read_holder, s);
    if (s->host.len == 0)
        return NULL;
    const char *name = arena_printf(c->report->a, "kube-scheduler-%.*s", SPAN_ARG(s->host)).ptr;
    struct ask *a = install_get(c, KIND_POD, SPAN(SCHEDULER_NAMESPACE), name, read_static_pod, s);
    return a->err.kind == ERR_NOT_FOUND ? NULL : a;
}

static void tell_unseen(struct check *c)
{
    struct ask *a = install_get(c, KIND_DEPLOYMENT, SPAN(SECOND_SCHEDULER), SECOND_SCHEDULER, NULL, NULL);
    if (a->done && a->err.kind == ERR_NONE)
        check_say(c->report, CHECK_OK, "scheduler", NULL,
                  "a second scheduler is there: Deployment " SECOND_SCHEDULER "/" SECOND_SCHEDULER);
    else
        check_say(c->report, CHECK_UNKNOWN, "scheduler",
                  "where the control plane is not yours: kubectl apply -f manifests/second-scheduler, or start Stowage with "
                  "--placement=nominate; else on its host: stowage check --scheduler-config FILE",
                  "whether a scheduler asks Stowage: kube-scheduler's Pod is not seen in " SCHEDULER_NAMESPACE);
}

static void tell_static_pod(struct check *c, const struct scheduler_seen *s, const struct ask *a)
{
    struct span what = arena_printf(c->report->a, "Pod " SCHEDULER_NAMESPACE "/kube-scheduler-%.*s", SPAN_ARG(s->host));
    if (!install_has(c, "scheduler", a, what, NULL))
        return;
    if (s->config.len == 0)
        check_say(c->report, CHECK_FAIL, "scheduler",
                  "bring manifests/scheduler-configuration.yaml and the files of Secret stowage-scheduler-client to its host, and "
                  "start it with --config (manifests/README.md, The scheduler)",
                  "kube-scheduler on %.*s runs without --config, and so without the extender", SPAN_ARG(s->host));
    else
        check_say(c->report, CHECK_UNKNOWN, "scheduler",
                  arena_printf(c->report->a, "on that host: stowage check --scheduler-config %.*s; or %s, and this command again",
                               SPAN_ARG(s->config), install_command(c, "port-forward deploy/stowage 8090")).ptr,
                  "kube-scheduler on %.*s has --config=%.*s; whether that names Stowage is not seen from here", SPAN_ARG(s->host),
                  SPAN_ARG(s->config));
}

void install_scheduler(struct check *c)
{
    struct scheduler_seen *s = ARENA_NEW(c->report->a, struct scheduler_seen);
    s->a = c->report->a;
    if (c->nominates) {
        check_say(c->report, CHECK_OK, "scheduler", NULL, "no scheduler need ask: Stowage nominates pods (--placement=nominate)");
        return;
    }
    if (c->metrics.len != 0) {
        check_wiring(c);
        return;
    }
    const struct ask *a = look_at_static_pod(c, s);
    if (a == NULL)
        tell_unseen(c);
    else
        tell_static_pod(c, s, a);
}

/* ---- pools and their classes ---- */

struct classes { /* that NodePools refer to, each once */
    struct arena *a;
    struct node_class_ref items[CLASSES_MAX];
    struct span pools[CLASSES_MAX]; /* the first that refers to it */
    uint32_t count, pool_count;
};

static void add_class(struct classes *all, struct span pool, struct doc_value ref)
{
    struct node_class_ref class = {.group = doc_text_at(ref, SPAN("group")),
                                   .kind = doc_text_at(ref, SPAN("kind")),
                                   .name = doc_text_at(ref, SPAN("name"))};
    for (uint32_t i = 0; i < all->count; i++)
        if (span_eq(all->items[i].kind, class.kind) && span_eq(all->items[i].name, class.name))
            return;
    if (all->count == CLASSES_MAX)
        return;
    all->pools[all->count] = arena_dup(all->a, pool);
    all->items[all->count++] = (struct node_class_ref){.group = arena_dup(all->a, class.group),
                                                       .kind = arena_dup(all->a, class.kind),
                                                       .name = arena_dup(all->a, class.name)};
}

static void read_pools(void *user, struct doc_value list)
{
    struct classes *all = user;
    struct doc_value items, meta, template, spec, ref;
    if (!doc_find(list, SPAN("items"), &items))
        return;
    for (struct doc_iter it = doc_iter_of(items); doc_next(&it);) {
        all->pool_count++;
        if (doc_find(it.value, SPAN("metadata"), &meta) && install_find(it.value, "spec", "template", &template) &&
            doc_find(template, SPAN("spec"), &spec) && doc_find(spec, SPAN("nodeClassRef"), &ref))
            add_class(all, doc_text_at(meta, SPAN("name")), ref);
    }
}

static bool check_class(struct check *c, const struct node_class_ref *class, struct span pool)
{
    struct arena *m = c->report->a;
    enum kind k = kwok_serves(class)            ? KIND_KWOK_NODE_CLASS
                  : machine_class_serves(class) ? KIND_CLUSTER_API_NODE_CLASS
                                                : KIND_NONE;
    if (k == KIND_NONE)
        return true; /* check_pools tells of it */
    struct ask *a = install_get(c, k, (struct span){0}, arena_cstr(m, class->name), NULL, NULL);
    struct span what = arena_printf(m, "%s %.*s, to which NodePool %.*s refers,", kind_info(k)->name, SPAN_ARG(class->name), SPAN_ARG(pool));
    return install_has(c, "pools", a, what,
                       arena_printf(m, "kubectl apply -f FILE with that %s; docs/install.md has one", kind_info(k)->name).ptr);
}

void install_pools(struct check *c)
{
    struct classes *all = ARENA_NEW(c->report->a, struct classes);
    struct ask *a = check_asks(c, 1);
    all->a = c->report->a;
    a->request = (struct api_request){.verb = API_LIST, .kind = KIND_NODE_POOL};
    a->read = read_pools;
    a->user = all;
    ask_all(c->cluster, a, 1);
    bool undefined = a->done && a->err.kind == ERR_NOT_FOUND;
    if (!undefined && !install_has(c, "pools", a, SPAN("the NodePools"), NULL))
        return;
    if (all->pool_count == 0 && c->keeps_groups) {
        check_say(c->report, CHECK_OK, "pools", NULL, "there is no NodePool; node groups are kept (--cloud-provider)");
        return;
    }
    if (all->pool_count == 0) {
        check_say(c->report, CHECK_FAIL, "pools", "kubectl apply -f FILE with a NodePool and its node class; docs/install.md has one",
                  "there is no NodePool: nothing can be bought");
        return;
    }
    for (uint32_t i = 0; i < all->count; i++)
        (void)check_class(c, &all->items[i], all->pools[i]);
    check_pools(c);
}
