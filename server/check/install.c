/* What Stowage needs in a cluster before and while it runs: each a question to the API server, and a command for what is
 * not there. Nothing but names, versions and counts is told of what is read. */
#include "server/check/install.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/live.h"

enum { OLDEST_MINOR = 30 }; /* Kubernetes 1.30: `kube/kind.c`'s versions of all kinds are served from there */

/* ---- shared ---- */

const char *install_command(struct check *c, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return arena_printf(c->report->a, "kubectl -n %.*s %s", SPAN_ARG(c->ns), text).ptr;
}

bool install_find(struct doc_value object, const char *outer, const char *inner, struct doc_value *out)
{
    struct doc_value between;
    return doc_find(object, span_of(outer), &between) && doc_find(between, span_of(inner), out);
}

struct ask *install_get(struct check *c, enum kind k, struct span ns, const char *name,
                        void (*read)(void *user, struct doc_value object), void *user)
{
    struct ask *a = check_asks(c, 1);
    a->request = (struct api_request){.verb = API_GET, .kind = k, .ns = ns, .name = span_of(name)};
    a->read = read;
    a->user = user;
    ask_all(c->cluster, a, 1);
    return a;
}

/* "deployments.apps", as kubectl's --resource has it. */
static struct span resource_text(struct arena *a, enum kind k)
{
    struct span version, group = span_cut(span_of(kind_info(k)->api_version), '/', &version);
    return version.ptr == NULL ? span_of(kind_info(k)->plural)
                               : arena_printf(a, "%s.%.*s", kind_info(k)->plural, SPAN_ARG(group));
}

static void tell_unread(struct check *c, const char *topic, const struct ask *a, struct span what)
{
    struct arena *m = c->report->a;
    enum kind k = a->request.kind;
    const char *verb = a->request.verb == API_LIST ? "list" : "get";
    const char *fix = NULL;
    if (a->err.kind == ERR_FORBIDDEN)
        fix = arena_printf(m, "kubectl create clusterrole stowage-check-%s --verb=%s --resource=%.*s allows it, once it is bound "
                              "to who runs this (kubectl create clusterrolebinding)",
                           kind_info(k)->plural, verb, SPAN_ARG(resource_text(m, k))).ptr;
    check_say(c->report, CHECK_UNKNOWN, topic, fix, "%.*s %s be read: %s", SPAN_ARG(what), fix != NULL ? "may not" : "cannot",
              a->done ? a->err.msg : "the API server does not answer");
}

bool install_has(struct check *c, const char *topic, const struct ask *a, struct span what, const char *fix)
{
    if (a->done && a->err.kind == ERR_NONE)
        return true;
    if (a->done && a->err.kind == ERR_NOT_FOUND)
        check_say(c->report, CHECK_FAIL, topic, fix, "%.*s is not there", SPAN_ARG(what));
    else
        tell_unread(c, topic, a, what);
    return false;
}

/* ---- the API server ---- */

struct version {
    struct check *check;
    struct span text; /* "v1.36.3" */
    int minor;
};

static void read_version(void *user, struct doc_value object)
{
    struct version *v = user;
    v->text = arena_dup(v->check->report->a, doc_text_at(object, SPAN("gitVersion")));
    struct span minor = arena_dup(v->check->report->a, doc_text_at(object, SPAN("minor"))); /* "36", "36+" */
    v->minor = minor.len != 0 ? atoi(arena_cstr(v->check->report->a, minor)) : 0;
}

bool install_api(struct check *c, struct err *err)
{
    struct version *v = ARENA_NEW(c->report->a, struct version);
    v->check = c;
    struct ask *a = install_get(c, KIND_VERSION, (struct span){0}, NULL, read_version, v);
    if (!a->done || a->status == 0 || a->status == 401) {
        *err = a->err;
        return a->done ? false : err_set(err, ERR_RETRY, "the API server does not answer");
    }
    if (a->err.kind != ERR_NONE || v->text.len == 0)
        check_say(c->report, CHECK_UNKNOWN, "api", "kubectl version", "API server %.*s answers, and does not tell its version",
                  SPAN_ARG(c->address));
    else if (v->minor < OLDEST_MINOR)
        check_say(c->report, CHECK_FAIL, "api", "update the control plane", "API server %.*s is Kubernetes %.*s; Stowage needs 1.%d",
                  SPAN_ARG(c->address), SPAN_ARG(v->text), OLDEST_MINOR);
    else
        check_say(c->report, CHECK_OK, "api", NULL, "API server %.*s answers: Kubernetes %.*s", SPAN_ARG(c->address),
                  SPAN_ARG(v->text));
    return true;
}

/* ---- definitions ---- */

struct definition {
    struct span wanted; /* "v1" */
    struct span versions; /* that are served: "v1beta1, v1" */
    bool served, established;
    struct arena *a;
};

static void read_definition(void *user, struct doc_value object)
{
    struct definition *d = user;
    struct doc_value list, served;
    if (install_find(object, "spec", "versions", &list))
        for (struct doc_iter it = doc_iter_of(list); doc_next(&it);) {
            struct span name = doc_text_at(it.value, SPAN("name"));
            if (!doc_find(it.value, SPAN("served"), &served) || doc_type(served) != DOC_BOOL || !doc_bool(served))
                continue;
            d->served = d->served || span_eq(name, d->wanted);
            d->versions = arena_printf(d->a, "%.*s%s%.*s", SPAN_ARG(d->versions), d->versions.len != 0 ? ", " : "", SPAN_ARG(name));
        }
    if (install_find(object, "status", "conditions", &list))
        for (struct doc_iter it = doc_iter_of(list); doc_next(&it);)
            d->established = d->established || (span_eq(doc_text_at(it.value, SPAN("type")), SPAN("Established")) &&
                                                span_eq(doc_text_at(it.value, SPAN("status")), SPAN("True")));
}

/* Those of manifests/crds that these options need; true: it is there and as it must be. */
static bool check_definition(struct check *c, enum kind k, uint32_t *spared_out)
{
    struct arena *m = c->report->a;
    struct definition *d = ARENA_NEW(m, struct definition);
    struct span version, group = span_cut(span_of(kind_info(k)->api_version), '/', &version);
    const char *name = arena_printf(m, "%s.%.*s", kind_info(k)->plural, SPAN_ARG(group)).ptr;
    const char *fix = arena_printf(m, "kubectl apply --server-side -f manifests/crds/%s.yaml", kind_info(k)->plural).ptr;
    *d = (struct definition){.wanted = version, .a = m};
    struct ask *a = install_get(c, KIND_DEFINITION, (struct span){0}, name, read_definition, d);
    if (a->done && a->err.kind == ERR_NOT_FOUND && c->keeps_groups && kind_is_of_pools(k))
        return (*spared_out)++, false;
    if (!install_has(c, "definitions", a, arena_printf(m, "CustomResourceDefinition %s", name), fix))
        return false;
    if (!d->served)
        check_say(c->report, CHECK_FAIL, "definitions", fix, "CustomResourceDefinition %s serves %.*s, and Stowage asks for %.*s",
                  name, SPAN_ARG(d->versions.len != 0 ? d->versions : SPAN("no version")), SPAN_ARG(version));
    else if (!d->established)
        check_say(c->report, CHECK_FAIL, "definitions",
                  arena_printf(m, "kubectl wait --for=condition=Established crd/%s", name).ptr,
                  "CustomResourceDefinition %s is not established", name);
    return d->served && d->established;
}

static bool is_defined_by_us(enum kind k)
{
    return k == KIND_NODE_POOL || k == KIND_NODE_CLAIM || k == KIND_KWOK_NODE_CLASS || k == KIND_NODE_OVERLAY ||
           k == KIND_CAPACITY_BUFFER;
}

void install_definitions(struct check *c)
{
    uint32_t good = 0, wanted = 0, spared = 0;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (is_defined_by_us(k) && live_watches(c->options, k)) {
            wanted++;
            good += check_definition(c, k, &spared);
        }
    if (spared != 0)
        check_say(c->report, CHECK_OK, "definitions", NULL, "no NodePools are defined, and node groups need none (--cloud-provider)");
    if (good == wanted)
        check_say(c->report, CHECK_OK, "definitions", NULL, "%u definitions are there and served in the versions that Stowage asks for",
                  wanted);
}

/* ---- namespace and account ---- */

void install_account(struct check *c)
{
    static const char fix[] = "kubectl apply -f manifests/rbac.yaml";
    struct arena *m = c->report->a;
    struct span name, ns = span_cut(c->account, '/', &name);
    struct ask *a = install_get(c, KIND_NAMESPACE, (struct span){0}, arena_cstr(m, c->ns), NULL, NULL);
    bool there = install_has(c, "namespace", a, arena_printf(m, "Namespace %.*s", SPAN_ARG(c->ns)), fix);
    a = install_get(c, KIND_SERVICE_ACCOUNT, ns, arena_cstr(m, name), NULL, NULL);
    there &= install_has(c, "account", a, arena_printf(m, "ServiceAccount %.*s", SPAN_ARG(c->account)), fix);
    if (there)
        check_say(c->report, CHECK_OK, "account", NULL, "Namespace %.*s and ServiceAccount %.*s are there", SPAN_ARG(c->ns),
                  SPAN_ARG(c->account));
}

/* ---- webhook ---- */

struct webhook_target { /* what the first webhook of a configuration calls */
    struct arena *a;
    struct span ns, service, url;
};

static void read_target(void *user, struct doc_value object)
{
    struct webhook_target *t = user;
    struct doc_value list, config, service;
    if (!doc_find(object, SPAN("webhooks"), &list))
        return;
    struct doc_iter it = doc_iter_of(list);
    if (!doc_next(&it) || !doc_find(it.value, SPAN("clientConfig"), &config))
        return;
    t->url = arena_dup(t->a, doc_text_at(config, SPAN("url")));
    if (doc_find(config, SPAN("service"), &service)) {
        t->ns = arena_dup(t->a, doc_text_at(service, SPAN("namespace")));
        t->service = arena_dup(t->a, doc_text_at(service, SPAN("name")));
    }
}

void install_webhook(struct check *c)
{
    struct arena *m = c->report->a;
    struct webhook_target *t = ARENA_NEW(m, struct webhook_target);
    t->a = m;
    struct ask *a = install_get(c, KIND_VALIDATING_WEBHOOK, (struct span){0}, "stowage", read_target, t);
    if (!install_has(c, "webhook", a, SPAN("ValidatingWebhookConfiguration stowage"), "kubectl apply -f manifests/webhooks.yaml"))
        return;
    if (t->service.len == 0) {
        check_say(c->report, CHECK_OK, "webhook", NULL, "the API server calls %.*s", SPAN_ARG(t->url));
        return;
    }
    struct span what = arena_printf(m, "Service %.*s/%.*s, which the webhook calls,", SPAN_ARG(t->ns), SPAN_ARG(t->service));
    a = install_get(c, KIND_SERVICE, t->ns, arena_cstr(m, t->service), NULL, NULL);
    if (install_has(c, "webhook", a, what, "kubectl apply -f manifests/deployment.yaml"))
        check_say(c->report, CHECK_OK, "webhook", NULL, "the API server calls Service %.*s/%.*s", SPAN_ARG(t->ns), SPAN_ARG(t->service));
}

/* ---- all of it ---- */

bool check_installation(struct check *c, struct err *err)
{
    if (!install_api(c, err))
        return false;
    install_flags(c);
    install_definitions(c);
    install_account(c);
    if (!check_permissions(c, err))
        return false;
    install_webhook(c);
    install_deployment(c);
    install_network_policy(c);
    check_leader(c);
    install_scheduler(c);
    check_certificates(c);
    install_pools(c);
    check_rivals(c);
    return true;
}
