/* A request's body, the first byte of which says for which path, from bytes to the reply: 200 with JSON, which of a review
 * echoes its uid, or 400 with a sentence; nothing is asked of a cluster but what its snapshot has. */
#undef NDEBUG
#include <assert.h>

#include "base/doc.h"
#include "server/routes.h"
#include "tests/planner/support_snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char CLUSTER[] =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: web, labels: {stowage.dev/nodepool: general}}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
    "spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: web, uid: uid-p}\nspec: {containers: [{name: c}]}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n";

static const struct {
    enum http_listener to;
    const char *path;
} asked[] = {
    {HTTP_WEBHOOK, "/admission/validate"},   {HTTP_WEBHOOK, "/admission/mutate"},      {HTTP_WEBHOOK, "/admission/mutate/namespace"},
    {HTTP_EXTENDER, "/scheduler/filter"},    {HTTP_EXTENDER, "/scheduler/prioritize"}, {HTTP_EXTENDER, "/scheduler/preempt"},
};

static bool leads(void *user, mono_ms now)
{
    (void)user;
    (void)now;
    return true;
}

struct served { /* for the life of the process */
    struct routes *routes;
    struct http_scratch hooks;
    void *scratch;
    struct doc_parser *replies;
};

static struct served *start(void)
{
    static struct served s;
    static struct share places;
    static struct extender_sources sources;
    static struct label_rules labels;
    static struct webhook_rules rules;
    static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};
    static sym well_known[] = {SYM_NODEPOOL, SYM_CAPACITY_TYPE, SYM_ZONE, SYM_INSTANCE_TYPE, SYM_ARCH, SYM_OS};
    struct err err;
    if (s.routes != NULL)
        return &s;
    struct store *store = snapshot_store_new();
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_begin(store, k);
    assert(snapshot_store_put(store, CLUSTER, &err));
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_end(store, k);
    store_publish(store, 0);
    share_init(&places, NULL);
    labels = (struct label_rules){{well_known, COUNT_OF(well_known)}, domains, COUNT_OF(domains)};
    rules = (struct webhook_rules){.labels = &labels, .syms = kube_symtab_new(), .overlays = true};
    sources = (struct extender_sources){.snapshots = store_share(store), .places = &places, .leads = leads};
    s.routes = routes_new(&(struct routes_config){.sources = &sources, .metrics = metrics_new(), .health = health_new(),
                                                  .page = page_new(), .rules = &rules, .no_census = true});
    s.hooks = routes_scratch(s.routes);
    s.scratch = s.hooks.make(s.hooks.user);
    s.replies = doc_parser_new();
    return &s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct served *s = start();
    if (size == 0)
        return 0;
    size_t which = data[0] % COUNT_OF(asked);
    struct http_request q = {.listener = asked[which].to,
                             .method = SPAN("POST"),
                             .path = span_of(asked[which].path),
                             .content_type = SPAN("application/json"),
                             .body = {(const char *)data + 1, size - 1}};
    struct http_reply r = {.status = 200, .content_type = "application/json"};
    const struct http_route *route = http_find(routes_table(s->routes), &q, &r);
    const struct doc *doc;
    struct doc_value response;
    struct err err;
    assert(route != NULL);
    http_run(route, s->scratch, &q, &r);
    assert(r.status == 200 || r.status == 400);
    assert(r.status == 200 || (r.body.len != 0 && q.path.len != 0 && r.content_type[0] == 't'));
    if (r.status == 200) {
        assert(doc_parse_json(s->replies, buf_span(&r.body), &doc, &err));
        if (asked[which].to == HTTP_WEBHOOK)
            assert(doc_find(doc_root(doc), SPAN("response"), &response) && doc_text_at(response, SPAN("uid")).len != 0);
    }
    buf_release(&r.body);
    return 0;
}
