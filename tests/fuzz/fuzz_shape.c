/* AdmissionReview bytes, the first of which says for whose sake: the reply lets everything through, and its patch fits the
 * object as it came. What is there is never overwritten but the default scheduler's name, our own annotation, and what is empty. */
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

/* The next token of a JSON pointer, with its ~1 written out. */
static struct span next_token(struct arena *a, struct span *path)
{
    struct span token = span_cut(*path, '/', path), rest, out = {"", 0};
    while (token.ptr != NULL) {
        struct span part = span_cut(token, '~', &rest);
        out = arena_printf(a, "%.*s%.*s", SPAN_ARG(out), SPAN_ARG(part));
        if (rest.ptr != NULL) {
            assert(rest.len != 0 && rest.ptr[0] == '1');
            rest = (struct span){rest.ptr + 1, rest.len - 1};
            out = arena_printf(a, "%.*s/", SPAN_ARG(out));
        }
        token = rest;
    }
    return out;
}

static bool step_into(struct doc_value at, struct span token, struct doc_value *out)
{
    int64_t index;
    if (doc_type(at) == DOC_OBJECT)
        return doc_find(at, token, out);
    if (doc_type(at) != DOC_ARRAY || !span_int64(token, &index))
        return false;
    struct doc_iter it = doc_iter_of(at);
    for (int64_t i = 0; doc_next(&it); i++)
        if (i == index) {
            *out = it.value;
            return true;
        }
    return false;
}

/* Our own word, and the name that the API server puts where there is none. */
static bool may_be_replaced(struct span path, struct doc_value there)
{
    return span_eq(path, SPAN("/metadata/annotations/stowage.dev~1shaped-by")) ||
           (span_eq(path, SPAN("/spec/schedulerName")) &&
            (doc_type(there) != DOC_STRING || doc_text(there).len == 0 || span_eq(doc_text(there), SPAN("default-scheduler")))) ||
           (doc_type(there) == DOC_ARRAY && doc_count(there) == 0) || doc_type(there) == DOC_NULL;
}

/* Its parent is there, and what it adds is not. */
static void check_step(struct doc_value object, struct doc_value step)
{
    struct span whole = doc_text_at(step, SPAN("path")), path = whole;
    struct doc_value at = object, here;
    struct arena a;
    arena_init(&a, 0);
    assert(span_eq(doc_text_at(step, SPAN("op")), SPAN("add")));
    assert(span_eq(next_token(&a, &path), SPAN("")) && path.len != 0);
    struct span token = next_token(&a, &path);
    while (path.ptr != NULL) {
        assert(step_into(at, token, &here));
        at = here;
        token = next_token(&a, &path);
    }
    if (doc_type(at) == DOC_ARRAY)
        assert(span_eq(token, SPAN("-")));
    else
        assert(doc_type(at) == DOC_OBJECT && (!doc_find(at, token, &here) || may_be_replaced(whole, here)));
    arena_release(&a);
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
    static struct webhook_scratch scratch; /* for the life of the process, as its memory of sides */
    static struct sides *sides;
    static mono_ms now;
    if (scratch.parser == NULL)
        scratch.parser = doc_parser_new();
    if (sides == NULL)
        sides = sides_new();
    now++;
    if (size == 0)
        return 0;
    struct span body = {(const char *)data + 1, size - 1};
    struct shape_sources sources = {.snapshot = cluster(), .sides = sides, .now = now, .by_namespace = data[0] % 2 != 0};
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
