/* Who else buys and removes nodes, or moves pods: by their Leases, and by what is installed where that
 * may be read. */
#include "kube/rivals.h"

#include "server/check/check.h"

struct looked { /* one LIST */
    struct check *check;
    enum kind kind; /* of workloads */
    void (*read)(void *user, struct doc_value list);
    uint32_t told;
};

static struct span name_of(struct doc_value object, const char *key)
{
    struct doc_value meta;
    return doc_find(object, SPAN("metadata"), &meta) ? doc_text_at(meta, span_of(key))
                                                     : (struct span){0};
}

/* ---- Leases ---- */

static void tell_rival(struct looked *l, struct doc_value lease, struct span holder)
{
    bool unknown = span_eq(name_of(lease, "name"), l->check->rival);
    l->told++;
    check_say(l->check->report, CHECK_FAIL, "rivals",
              unknown ? "stop it before Stowage starts" : "stop it, or start Stowage with --coexist",
              "another autoscaler works on the same nodes: Lease %.*s/%.*s, held by %.*s; %s",
              SPAN_ARG(name_of(lease, "namespace")), SPAN_ARG(name_of(lease, "name")), SPAN_ARG(holder),
              unknown ? "Stowage does not know a Lease of that name, and acts" : "Stowage only observes meanwhile");
}

static void read_leases(void *user, struct doc_value list)
{
    struct looked *l = user;
    struct doc_value items;
    struct span holder;
    span_ms age;
    if (!doc_find(list, SPAN("items"), &items))
        return;
    struct doc_iter it = doc_iter_of(items);
    while (doc_next(&it))
        if (check_lease_live(it.value, l->check->now, &holder, &age))
            tell_rival(l, it.value, holder);
}

static void check_leases(struct check *c)
{
    size_t n = RIVALS_KNOWN + (c->rival.len != 0);
    struct ask *asks = check_asks(c, RIVALS_KNOWN + 1);
    struct looked *l = ARENA_NEW(c->report->a, struct looked);
    bool known = true;
    l->check = c;
    for (size_t i = 0; i < n; i++) {
        struct span name = i < RIVALS_KNOWN ? rivals_known[i] : c->rival;
        struct span selector = arena_printf(c->report->a, "metadata.name=%.*s", SPAN_ARG(name));
        asks[i].request = (struct api_request){
            .verb = API_LIST, .kind = KIND_LEASE, .field_selector = selector};
        asks[i].read = read_leases;
        asks[i].user = l;
    }
    ask_all(c->cluster, asks, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        known &= asks[i].err.kind == ERR_NONE;
    if (!known)
        check_say(c->report, CHECK_UNKNOWN, "rivals", NULL,
                  "whether another autoscaler is at work: Leases cannot be read");
    else if (l->told == 0)
        check_say(c->report, CHECK_OK, "rivals", NULL,
                  "no other autoscaler holds a Lease (Karpenter, Cluster Autoscaler)");
}

/* ---- workloads ---- */

static bool is_called(struct doc_value object, struct span word)
{
    struct doc_value meta, labels;
    if (span_contains(name_of(object, "name"), word))
        return true;
    if (!doc_find(object, SPAN("metadata"), &meta) || !doc_find(meta, SPAN("labels"), &labels))
        return false;
    return span_contains(doc_text_at(labels, SPAN("app.kubernetes.io/name")), word) ||
           span_contains(doc_text_at(labels, SPAN("app")), word) ||
           span_contains(doc_text_at(labels, SPAN("k8s-app")), word);
}

/* A Deployment of no replicas and a CronJob that is suspended do nothing. */
static bool is_at_rest(struct doc_value object)
{
    struct doc_value spec, suspend;
    return doc_find(object, SPAN("spec"), &spec) &&
           (doc_int64_at(spec, SPAN("replicas"), 1) == 0 ||
            (doc_find(spec, SPAN("suspend"), &suspend) && doc_type(suspend) == DOC_BOOL &&
             doc_bool(suspend)));
}

static void read_workloads(void *user, struct doc_value list)
{
    struct looked *l = user;
    struct doc_value items;
    if (!doc_find(list, SPAN("items"), &items))
        return;
    struct doc_iter it = doc_iter_of(items);
    while (doc_next(&it)) {
        if (!is_called(it.value, SPAN("descheduler")) || is_at_rest(it.value))
            continue;
        l->told++;
        check_say(l->check->report, CHECK_WARN, "deschedulers",
                  "take LowNodeUtilization and RemoveDuplicates out of its policy",
                  "%s %.*s/%.*s moves pods too: a policy that spreads them undoes packing",
                  kind_info(l->kind)->name, SPAN_ARG(name_of(it.value, "namespace")),
                  SPAN_ARG(name_of(it.value, "name")));
    }
}

/* With its Lease gone, or under a name of its own, another autoscaler is still what its Deployment is called. */
static void read_autoscalers(void *user, struct doc_value list)
{
    static const struct span names[] = {SPAN_INIT("karpenter"), SPAN_INIT("cluster-autoscaler")};
    struct looked *l = user;
    struct doc_value items;
    if (!doc_find(list, SPAN("items"), &items))
        return;
    for (struct doc_iter it = doc_iter_of(items); doc_next(&it);) {
        if (is_at_rest(it.value) || (!is_called(it.value, names[0]) && !is_called(it.value, names[1])))
            continue;
        struct span ns = name_of(it.value, "namespace"), name = name_of(it.value, "name");
        struct span fix = arena_printf(l->check->report->a, "kubectl -n %.*s scale deployment/%.*s --replicas=0", SPAN_ARG(ns), SPAN_ARG(name));
        l->told++;
        check_say(l->check->report, CHECK_FAIL, "rivals", fix.ptr,
                  "Deployment %.*s/%.*s runs and would fight over the same nodes", SPAN_ARG(ns), SPAN_ARG(name));
    }
}

static bool look(struct looked *l, const char *group)
{
    struct check *c = l->check;
    struct permission list = {.group = span_of(group),
                              .resource = span_of(kind_info(l->kind)->plural),
                              .verb = SPAN("list")};
    if (!check_may(c, &list))
        return false;
    struct ask *a = check_asks(c, 1);
    a->request = (struct api_request){.verb = API_LIST, .kind = l->kind};
    a->read = l->read;
    a->user = l;
    ask_all(c->cluster, a, 1);
    return a->err.kind == ERR_NONE;
}

static void check_autoscalers(struct check *c)
{
    struct looked *l = ARENA_NEW(c->report->a, struct looked);
    *l = (struct looked){.check = c, .kind = KIND_DEPLOYMENT, .read = read_autoscalers};
    if (!look(l, "apps"))
        check_say(c->report, CHECK_UNKNOWN, "rivals",
                  "run it as one who may list Deployments; ClusterRole view allows it",
                  "whether another autoscaler's Deployment runs: who runs this may not see all Deployments");
    else if (l->told == 0)
        check_say(c->report, CHECK_OK, "rivals", NULL, "no Deployment is called karpenter or cluster-autoscaler");
}

static void check_deschedulers(struct check *c)
{
    struct looked *looked = ARENA_ARRAY(c->report->a, struct looked, 2);
    looked[0] = (struct looked){.check = c, .kind = KIND_DEPLOYMENT, .read = read_workloads};
    looked[1] = (struct looked){.check = c, .kind = KIND_CRON_JOB, .read = read_workloads};
    bool deployments = look(&looked[0], "apps"), jobs = look(&looked[1], "batch");
    if (looked[0].told + looked[1].told != 0)
        return;
    if (deployments && jobs)
        check_say(c->report, CHECK_OK, "deschedulers", NULL,
                  "no Deployment or CronJob is called a descheduler");
    else
        check_say(c->report, CHECK_UNKNOWN, "deschedulers",
                  "run it as one who may list Deployments and CronJobs",
                  "whether a descheduler moves pods: who runs this may not see all Deployments and "
                  "CronJobs");
}

void check_rivals(struct check *c)
{
    check_leases(c);
    if (c->options->installation)
        check_autoscalers(c);
    check_deschedulers(c);
}
