/* What Stowage may do and read: the rules that ship, put to the API server one by one. */
#include "base/json.h"
#include "certs/webhook_configuration.h"
#include "server/check/check.h"
#include "server/live.h"

enum { TOLD_MAX = 6 }; /* permissions that are named; the rest is counted */

static void read_allowed(void *user, struct doc_value review)
{
    struct doc_value status, allowed;
    *(bool *)user = doc_find(review, SPAN("status"), &status) &&
                    doc_find(status, SPAN("allowed"), &allowed) &&
                    doc_type(allowed) == DOC_BOOL && doc_bool(allowed);
}

static void put_account(struct arena *a, struct json *j, struct span account)
{
    struct span name;
    struct span ns = span_cut(account, '/', &name);
    json_put_string(j, "user",
                    arena_printf(a, "system:serviceaccount:%.*s:%.*s", SPAN_ARG(ns), SPAN_ARG(name)));
    json_put_array(j, "groups");
    json_text(j, SPAN("system:serviceaccounts"));
    json_text(j, arena_printf(a, "system:serviceaccounts:%.*s", SPAN_ARG(ns)));
    json_text(j, SPAN("system:authenticated"));
    json_array_end(j);
}

static struct span review_body(struct arena *a, enum kind k, const struct permission *p,
                               struct span account)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", span_of(kind_info(k)->api_version));
    json_put_string(&j, "kind", span_of(kind_info(k)->name));
    json_put_object(&j, "spec");
    permission_put(&j, p);
    if (k == KIND_ACCOUNT_ACCESS)
        put_account(a, &j, account);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

static void prepare(struct check *c, struct ask *ask, const struct permission *p,
                    struct span account, bool *allowed_out)
{
    enum kind k = account.len != 0 ? KIND_ACCOUNT_ACCESS : KIND_OWN_ACCESS;
    ask->request = (struct api_request){
        .verb = API_CREATE, .kind = k, .body = review_body(c->report->a, k, p, account)};
    ask->read = read_allowed;
    ask->user = allowed_out;
}

bool check_may(struct check *c, const struct permission *p)
{
    struct ask *a = check_asks(c, 1);
    bool *allowed = ARENA_NEW(c->report->a, bool);
    prepare(c, a, p, (struct span){0}, allowed);
    ask_all(c->cluster, a, 1);
    return *allowed;
}

/* Nobody who could answer: everything else would only say so again. */
static bool is_answered(const struct ask *a, struct err *err)
{
    if (a->done && a->status != 0 && a->status != 401)
        return true;
    *err = a->err;
    return a->done ? false : err_set(err, ERR_RETRY, "the API server does not answer");
}

struct granted { /* what some manifests grant */
    struct permissions permissions;
    const char *files; /* for messages: "manifests/rbac.yaml" */
    struct span fix;
};

static void tell_missing(struct check *c, const struct granted *g, const bool *allowed, uint32_t missing)
{
    const struct permissions *all = &g->permissions;
    struct buf text = {0};
    uint32_t told = 0;
    for (uint32_t i = 0; i < all->count && told < TOLD_MAX; i++)
        if (!allowed[i]) {
            struct span one = permission_text(c->report->a, &all->items[i]);
            buf_addf(&text, "%s%.*s", told++ != 0 ? ", " : "", SPAN_ARG(one));
        }
    if (missing > told)
        buf_addf(&text, " and %u more", missing - told);
    check_say(c->report, CHECK_FAIL, "permissions", g->fix.ptr, "%u of the %u permissions of %s are missing: %s", missing,
              all->count, g->files, text.ptr);
    buf_release(&text);
}

static bool check_granted(struct check *c, const struct granted *g, struct err *err)
{
    struct span account = c->account;
    uint32_t n = g->permissions.count, missing = 0, unasked = 0;
    struct ask *asks = check_asks(c, n);
    bool *allowed = ARENA_ARRAY(c->report->a, bool, n);
    for (uint32_t i = 0; i < n; i++)
        prepare(c, &asks[i], &g->permissions.items[i], account, &allowed[i]);
    ask_all(c->cluster, asks, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_answered(&asks[i], err))
            return false;
        unasked += asks[i].err.kind != ERR_NONE;
        missing += !allowed[i];
    }
    if (unasked != 0)
        check_say(c->report, CHECK_UNKNOWN, "permissions",
                  account.len != 0 ? "run it as one who may create subjectaccessreviews; ClusterRole system:auth-delegator allows it" : NULL,
                  "permissions: %u of %u questions were not answered: %s", unasked, n,
                  asks[0].err.msg);
    else if (missing != 0)
        tell_missing(c, g, allowed, missing);
    else
        check_say(c->report, CHECK_OK, "permissions", NULL, "%s may do all %u things that %s grants",
                  account.len != 0 ? arena_cstr(c->report->a, account) : "who runs this", n, g->files);
    return true;
}

static void read_some(void *user, struct doc_value list)
{
    struct doc_value items;
    *(bool *)user = doc_find(list, SPAN("items"), &items) && doc_count(items) != 0;
}

/* Asks only where the cluster has what the permissions are for. */
static bool check_kwok_permissions(struct check *c, struct err *err)
{
    struct granted g = {.files = "manifests/kwok", .fix = SPAN("kubectl apply -f manifests/kwok/rbac.yaml")};
    struct ask *a = check_asks(c, 1);
    bool *some = ARENA_NEW(c->report->a, bool);
    *a = (struct ask){.request = {.verb = API_LIST, .kind = KIND_KWOK_NODE_CLASS}, .read = read_some, .user = some};
    ask_all(c->cluster, a, 1);
    permissions_of_kwok(c->report->a, &g.permissions);
    return !*some || check_granted(c, &g, err);
}

static bool check_shaping_permissions(struct check *c, struct err *err)
{
    struct granted g = {.files = "manifests/shaping", .fix = SPAN("kubectl apply -f manifests/shaping/rbac.yaml")};
    struct ask *a = check_asks(c, 1);
    a->request = (struct api_request){
        .verb = API_GET, .kind = KIND_MUTATING_WEBHOOK, .name = span_of(webhook_name(WEBHOOK_MUTATING))};
    ask_all(c->cluster, a, 1);
    permissions_of_shaping(c->report->a, &g.permissions);
    return !a->done || a->err.kind != ERR_NONE || check_granted(c, &g, err);
}

bool check_permissions(struct check *c, struct err *err)
{
    struct granted g = {.files = "manifests/rbac.yaml"};
    g.fix = arena_printf(c->report->a, "kubectl apply -f manifests/rbac.yaml%s",
                         c->options->gates.pod_deletion_cost ? " -f manifests/pod-deletion-cost/rbac.yaml" : "");
    permissions_shipped(c->report->a, c->ns, c->options, &c->permissions);
    g.permissions = c->permissions;
    return check_granted(c, &g, err) && check_kwok_permissions(c, err) && check_shaping_permissions(c, err);
}

static bool check_group_permissions(struct check *c, struct err *err)
{
    const struct group_options_given *given = c->groups;
    if (given == NULL)
        return true;
    bool cluster_api = span_eq(given->cloud_provider, SPAN("clusterapi")), elsewhere = group_options_elsewhere(given);
    bool both = cluster_api && !elsewhere, kwok = span_eq(given->cloud_provider, SPAN("kwok"));
    struct span ns = given->settings.flags.config_namespace;
    const struct group_settings usual = group_settings_default();
    bool own_names = !span_eq(ns, usual.flags.config_namespace) || !span_eq(given->settings.status_name, usual.status_name);
    struct granted g = {.files = both   ? "manifests/groups and manifests/groups-clusterapi"
                                 : kwok ? "manifests/groups and manifests/kwok"
                                        : "manifests/groups"};
    g.fix = arena_printf(c->report->a, "kubectl apply -f manifests/groups/rbac.yaml%s%s",
                         both   ? " -f manifests/groups-clusterapi/rbac.yaml"
                         : kwok ? " -f manifests/kwok/rbac.yaml"
                                : "",
                         own_names ? ", after its Role has the namespace and ConfigMap that the flags name" : "");
    permissions_of_groups(c->report->a, given, &g.permissions);
    if (elsewhere)
        check_say(c->report, CHECK_UNKNOWN, "permissions",
                  "apply manifests/groups-clusterapi/rbac.yaml there, and run check with that kubeconfig as --kubeconfig",
                  "what may be done in the management cluster of --cloud-config is not asked here");
    return check_granted(c, &g, err);
}

/* ---- kinds ---- */

/* Few bytes whatever the cluster holds: what is looked for has a name that no object has. */
static struct api_request look(enum kind k)
{
    return (struct api_request){
        .verb = API_LIST, .kind = k, .field_selector = SPAN("metadata.name=stowage-check-none")};
}

static void tell_kind(struct check *c, enum kind k, const struct ask *a)
{
    const struct kind_info *info = kind_info(k);
    bool ours = kind_is_optional(k) || span_contains(span_of(info->api_version), SPAN("karpenter."));
    if (a->err.kind == ERR_NOT_FOUND)
        check_say(c->report, CHECK_FAIL, "kinds",
                  kind_is_machines(k) ? "is Cluster API installed here?"
                  : ours              ? "kubectl apply --server-side -f manifests/crds"
                                      : "is the API server older than Kubernetes 1.30?",
                  "%s %s is not served", info->name, info->api_version);
    else
        check_say(c->report, CHECK_FAIL, "kinds", NULL, "%s cannot be read: %s", info->plural,
                  a->err.msg);
}

/* The version that an older cluster has of it. */
static bool has_older(struct check *c, enum kind k)
{
    struct ask *a = check_asks(c, 1);
    if (kind_older(k) == NULL)
        return false;
    a->request = look(k);
    a->request.older = true;
    ask_all(c->cluster, a, 1);
    return a->done && a->err.kind == ERR_NONE;
}

static bool is_needed(const struct check *c, enum kind k)
{
    return live_watches(c->options, k) || (c->groups != NULL && live_watches_for_groups(c->options, &c->groups->settings, k));
}

static bool check_kinds(struct check *c, struct err *err)
{
    struct ask *asks = check_asks(c, KIND_STORED_COUNT);
    enum kind kinds[KIND_STORED_COUNT];
    uint32_t n = 0, good = 0, spared = 0;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (is_needed(c, k)) {
            kinds[n] = k;
            asks[n++].request = look(k);
        }
    ask_all(c->cluster, asks, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_answered(&asks[i], err))
            return false;
        if (asks[i].err.kind == ERR_NONE || (asks[i].err.kind == ERR_NOT_FOUND && has_older(c, kinds[i])))
            good++;
        else if (asks[i].err.kind == ERR_NOT_FOUND && c->groups != NULL && kind_is_of_pools(kinds[i]))
            spared++;
        else
            tell_kind(c, kinds[i], &asks[i]);
    }
    n -= spared;
    if (spared != 0)
        check_say(c->report, CHECK_OK, "kinds", NULL, "no NodePools are served, and node groups need none");
    check_say(c->report, good == n ? CHECK_OK : CHECK_FAIL, "kinds", NULL,
              "API server %.*s: %u of %u kinds are served and readable", SPAN_ARG(c->address), good,
              n);
    return true;
}

bool check_access(struct check *c, struct err *err)
{
    return check_permissions(c, err) && check_group_permissions(c, err) && check_kinds(c, err);
}
