#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/client_url.h"

#define SERVER "https://10.0.0.1:6443"

static const struct {
    const char *label;
    struct api_request request;
    const char *method, *url, *content_type;
} rows[] = {
    {"get a namespaced object of a group",
     {.verb = API_GET, .kind = KIND_LEASE, .ns = SPAN_INIT("kube-system"), .name = SPAN_INIT("x")},
     "GET",
     "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
     NULL},
    {"list across namespaces by name",
     {.verb = API_LIST, .kind = KIND_LEASE, .field_selector = SPAN_INIT("metadata.name=a,b")},
     "GET",
     "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Da%2Cb",
     NULL},
    {"a first page",
     {.verb = API_LIST, .kind = KIND_NODE, .limit = 500},
     "GET",
     "/api/v1/nodes?limit=500",
     NULL},
    {"the next page of some",
     {.verb = API_LIST, .kind = KIND_LEASE, .limit = 2, .from = SPAN_INIT("a/b="),
      .field_selector = SPAN_INIT("metadata.name=a")},
     "GET",
     "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Da&limit=2&continue=a%2Fb%3D",
     NULL},
    {"create goes to the collection",
     {.verb = API_CREATE,
      .kind = KIND_EVENT,
      .ns = SPAN_INIT("web"),
      .name = SPAN_INIT("e"),
      .body = SPAN_INIT("{}")},
     "POST",
     "/apis/events.k8s.io/v1/namespaces/web/events?fieldManager=stowage",
     "application/json"},
    {"create of a cluster-scoped kind of the core group",
     {.verb = API_CREATE, .kind = KIND_NODE, .body = SPAN_INIT("{}")},
     "POST",
     "/api/v1/nodes?fieldManager=stowage",
     "application/json"},
    {"status by merge patch",
     {.verb = API_MERGE,
      .kind = KIND_NODE_CLAIM,
      .name = SPAN_INIT("general-1"),
      .subresource = SPAN_INIT("status"),
      .body = SPAN_INIT("{}")},
     "PATCH",
     "/apis/karpenter.sh/v1/nodeclaims/general-1/status?fieldManager=stowage",
     "application/merge-patch+json"},
    {"apply with force",
     {.verb = API_APPLY,
      .kind = KIND_VALIDATING_WEBHOOK,
      .name = SPAN_INIT("stowage"),
      .force = true,
      .body = SPAN_INIT("{}")},
     "PATCH",
     "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/stowage"
     "?fieldManager=stowage&force=true",
     "application/apply-patch+yaml"},
    {"apply without force",
     {.verb = API_APPLY, .kind = KIND_NODE, .name = SPAN_INIT("n"), .body = SPAN_INIT("{}")},
     "PATCH",
     "/api/v1/nodes/n?fieldManager=stowage&force=false",
     "application/apply-patch+yaml"},
    {"update",
     {.verb = API_UPDATE,
      .kind = KIND_SECRET,
      .ns = SPAN_INIT("s"),
      .name = SPAN_INIT("n"),
      .body = SPAN_INIT("{}")},
     "PUT",
     "/api/v1/namespaces/s/secrets/n?fieldManager=stowage",
     "application/json"},
    {"delete without options",
     {.verb = API_DELETE, .kind = KIND_NODE, .name = SPAN_INIT("n")},
     "DELETE",
     "/api/v1/nodes/n",
     NULL},
    {"delete with options",
     {.verb = API_DELETE, .kind = KIND_NODE, .name = SPAN_INIT("n"), .body = SPAN_INIT("{}")},
     "DELETE",
     "/api/v1/nodes/n",
     "application/json"},
    {"evict",
     {.verb = API_EVICT,
      .kind = KIND_POD,
      .ns = SPAN_INIT("web"),
      .name = SPAN_INIT("api-0"),
      .body = SPAN_INIT("{}")},
     "POST",
     "/api/v1/namespaces/web/pods/api-0/eviction",
     "application/json"},
    {"a name cannot leave its segment",
     {.verb = API_GET, .kind = KIND_NODE, .name = SPAN_INIT("../x?y#\xc3\xa4 %")},
     "GET",
     "/api/v1/nodes/..%2Fx%3Fy%23%C3%A4%20%25",
     NULL},
};

static void test_requests(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_call got;
        http_call_of(&a, SPAN(SERVER), &rows[i].request, &got);
        struct span want = arena_printf(&a, "%s%s", SERVER, rows[i].url);
        if (!span_eq(got.url, want))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(got.url));
        if (got.url.ptr[got.url.len] != '\0')
            fail_msg("%s: no NUL follows", rows[i].label);
        if (strcmp(got.method, rows[i].method) != 0)
            fail_msg("%s: method %s", rows[i].label, got.method);
        if ((got.content_type == NULL) != (rows[i].content_type == NULL) ||
            (got.content_type != NULL && strcmp(got.content_type, rows[i].content_type) != 0))
            fail_msg("%s: content type %s", rows[i].label, got.content_type);
    }
    arena_release(&a);
}

static void expect_url(struct span got, const char *want)
{
    if (!span_eq(got, span_of(want)))
        fail_msg("got  %.*s\nwant %s", SPAN_ARG(got), want);
}

static void test_lists_and_watches(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    expect_url(url_list(&a, SPAN(SERVER), KIND_POD, false, 500, (struct span){0}),
               SERVER "/api/v1/pods?limit=500");
    expect_url(url_list(&a, SPAN(SERVER), KIND_NODE_POOL, false, 1, SPAN("a+b/c==")),
               SERVER "/apis/karpenter.sh/v1/nodepools?limit=1&continue=a%2Bb%2Fc%3D%3D");
    expect_url(
        url_watch(&a, SPAN(SERVER "/k8s/clusters/c"), KIND_DISRUPTION_BUDGET, false, SPAN("812"), 301),
        SERVER "/k8s/clusters/c/apis/policy/v1/poddisruptionbudgets?watch=true"
               "&allowWatchBookmarks=true&timeoutSeconds=301&resourceVersion=812");
    arena_release(&a);
}

static const struct {
    int status;
    const char *reason;
    enum err_kind want;
} kinds[] = {
    {200, "", ERR_NONE},
    {201, "", ERR_NONE},
    {0, "", ERR_RETRY},
    {301, "", ERR_INTERNAL},
    {400, "BadRequest", ERR_INVALID},
    {400, "Expired", ERR_GONE},
    {401, "", ERR_FORBIDDEN},
    {403, "", ERR_FORBIDDEN},
    {404, "", ERR_NOT_FOUND},
    {405, "", ERR_INTERNAL},
    {409, "AlreadyExists", ERR_CONFLICT},
    {409, "Conflict", ERR_CONFLICT},
    {410, "Expired", ERR_GONE},
    {413, "", ERR_INVALID},
    {415, "", ERR_INTERNAL},
    {422, "Invalid", ERR_INVALID},
    {429, "", ERR_RETRY},
    {500, "", ERR_RETRY},
    {503, "", ERR_RETRY},
    {504, "Timeout", ERR_RETRY},
};

static void test_status_tells_the_next_move(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (api_err_kind(kinds[i].status, span_of(kinds[i].reason)) != kinds[i].want)
            fail_msg("%d %s: %s", kinds[i].status, kinds[i].reason,
                     err_kind_name(api_err_kind(kinds[i].status, span_of(kinds[i].reason))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_lists_and_watches),
        cmocka_unit_test(test_status_tells_the_next_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
