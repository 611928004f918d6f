/* AdmissionReview bytes, the first of which says for whose sake: the reply lets everything through, and its patch fits the
 * object as it came. What is there is never overwritten but the default scheduler's name and our own annotation. */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "base/base64.h"
#include "kube/wellknown.h"
#include "tests/planner/support_snapshot.h"
#include "webhook/shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char CLUSTER[] =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {stowage.dev/nodepool: batch}}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: batch}\n"
    "spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default},\n"
    "  taints: [{key: team, value: batch, effect: NoSchedule}, {key: slow, effect: PreferNoSchedule}]}}}\n";

static const struct snapshot *cluster(void)
{
    static const struct snapshot *snapshot; /* for the life of the process, as its store */
    static struct store *store;
    struct err err;
    if (snapshot != NULL)
        return snapshot;
    store = snapshot_store_new();
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_begin(store, k);
    assert(snapshot_store_put(store, CLUSTER, &err));
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_end(store, k);
    store_publish(store, 0);
    snapshot = (const struct snapshot *)share_take(store_share(store));
    return snapshot;
}

/* Of the object's member of a member: DOC_NULL when it is not there. */
static enum doc_type type_at(struct doc_value object, const char *outer, const char *inner)
{
    struct doc_value v;
    return doc_find(object, span_of(outer), &v) && doc_find(v, span_of(inner), &v) ? doc_type(v) : DOC_NULL;
}

static void check_step(struct doc_value object, struct doc_value step)
{
    static const struct {
        const char *path, *outer, *inner;
        enum doc_type there; /* what the member has to be for the step to do what it says */
    } rows[] = {
        {"/spec/nodeSelector", "spec", "nodeSelector", DOC_NULL},
        {"/spec/nodeSelector/karpenter.sh~1nodepool", "spec", "nodeSelector", DOC_OBJECT},
        {"/spec/tolerations", "spec", "tolerations", DOC_NULL},
        {"/spec/tolerations/-", "spec", "tolerations", DOC_ARRAY},
        {"/metadata/annotations", "metadata", "annotations", DOC_NULL},
        {"/metadata/annotations/stowage.dev~1shaped-by", "metadata", "annotations", DOC_OBJECT},
    };
    struct doc_value spec;
    bool known = false;
    assert(span_eq(doc_text_at(step, SPAN("op")), SPAN("add")));
    struct span path = doc_text_at(step, SPAN("path"));
    if (span_eq(path, SPAN("/spec/schedulerName"))) {
        assert(doc_find(object, SPAN("spec"), &spec));
        struct span own = doc_text_at(spec, SPAN("schedulerName"));
        assert(own.len == 0 || span_eq(own, SPAN("default-scheduler")));
        return;
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (span_eq(path, span_of(rows[i].path))) {
            assert(type_at(object, rows[i].outer, rows[i].inner) == rows[i].there);
            known = true;
        }
    assert(known);
}

static void check_patch(struct doc_value object, struct span text)
{
    static struct doc_parser *patches;
    const struct doc *patch;
    struct err err;
    struct doc_iter it;
    if (patches == NULL)
        patches = doc_parser_new();
    assert(doc_parse_json(patches, text, &patch, &err) && doc_type(doc_root(patch)) == DOC_ARRAY);
    assert(doc_count(doc_root(patch)) != 0);
    for (it = doc_iter_of(doc_root(patch)); doc_next(&it);)
        check_step(object, it.value);
}

static void check_reply(struct span body, struct span reply, enum webhook_answer answer)
{
    static struct doc_parser *requests, *replies;
    const struct doc *asked, *answered;
    struct doc_value request, object, response, allowed;
    struct arena a;
    struct err err;
    struct span text;
    if (requests == NULL) {
        requests = doc_parser_new();
        replies = doc_parser_new();
    }
    assert(doc_parse_json(requests, body, &asked, &err) && doc_parse_json(replies, reply, &answered, &err));
    assert(doc_find(doc_root(answered), SPAN("response"), &response));
    assert(doc_find(response, SPAN("allowed"), &allowed) && doc_bool(allowed));
    struct span patch = doc_text_at(response, SPAN("patch"));
    assert((patch.len == 0) == (doc_text_at(response, SPAN("patchType")).len == 0));
    assert(answer != WEBHOOK_SHAPED || patch.len != 0);
    if (patch.len == 0)
        return;
    arena_init(&a, 0);
    assert(base64_decode(&a, patch, &text));
    assert(doc_find(doc_root(asked), SPAN("request"), &request) && doc_find(request, SPAN("object"), &object));
    check_patch(object, text);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct webhook_scratch scratch; /* for the life of the process */
    if (scratch.parser == NULL)
        scratch.parser = doc_parser_new();
    if (size == 0)
        return 0;
    struct span body = {(const char *)data + 1, size - 1};
    struct shape_sources sources = {.snapshot = cluster(), .by_namespace = data[0] % 2 != 0};
    struct buf reply = {0};
    enum webhook_answer answer;
    struct err err = {.kind = ERR_NONE};
    if (webhook_shape(&scratch, &sources, body, &reply, &answer, &err))
        check_reply(body, buf_span(&reply), answer);
    else
        assert(err.kind == ERR_INVALID);
    buf_release(&reply);
    return 0;
}
