/* Only the envelope is decoded for every review; the object is looked at by the one rule there is. */
#include "webhook/review.h"

#include "base/decode.h"
#include "base/json.h"
#include "kube/node.h"
#include "kube/pool_validate.h"

#define REVIEW_API_VERSION "admission.k8s.io/v1"
#define REVIEW_KIND "AdmissionReview"

struct request {
    struct span uid, operation, subresource;
    struct {
        struct span group, version, resource;
    } of;
};

struct review {
    struct span api_version, kind;
    bool has_request;
    struct request request;
};

static const struct field resource_fields[] = {
    {.name = "group", .kind = FIELD_SPAN, .offset = offsetof(struct request, of.group)},
    {.name = "version", .kind = FIELD_SPAN, .offset = offsetof(struct request, of.version)},
    {.name = "resource", .kind = FIELD_SPAN, .offset = offsetof(struct request, of.resource)},
};
/* Flattened: it fills the request itself. */
static const struct schema resource_of_schema = SCHEMA(struct request, "resource", resource_fields);

static const struct field request_fields[] = {
    {.name = "resource", .kind = FIELD_OBJECT, .schema = &resource_of_schema},
    FIELD(struct request, uid, FIELD_SPAN, "uid"),
    FIELD(struct request, operation, FIELD_SPAN, "operation"),
    FIELD(struct request, subresource, FIELD_SPAN, "subResource"),
};
static const struct schema request_schema = SCHEMA(struct request, "request", request_fields);

static const struct field review_fields[] = {
    FIELD(struct review, api_version, FIELD_SPAN, "apiVersion"),
    FIELD(struct review, kind, FIELD_SPAN, "kind"),
    FIELD(struct review, request, FIELD_OBJECT, "request", .schema = &request_schema,
          FIELD_HAS(struct review, has_request)),
};
static const struct schema review_schema = SCHEMA(struct review, REVIEW_KIND, review_fields);

const char *webhook_answer_name(enum webhook_answer a)
{
    static const char *const names[] = {"allowed", "denied", "not-ours"};
    _Static_assert(COUNT_OF(names) == WEBHOOK_ANSWER_COUNT, "a name for each answer");
    return names[a];
}

static bool read_review(struct arena *a, struct doc_value root, struct review *out, struct err *err)
{
    if (doc_type(root) != DOC_OBJECT)
        return err_set(err, ERR_INVALID, "the body is %s, not an AdmissionReview",
                       doc_type_name(doc_type(root)));
    if (!decode_one(a, NULL, root, &review_schema, out, err))
        return false;
    if (!span_eq(out->api_version, SPAN(REVIEW_API_VERSION)) ||
        !span_eq(out->kind, SPAN(REVIEW_KIND)))
        return err_set(err, ERR_INVALID,
                       "the body is %.*s %.*s; it should be " REVIEW_API_VERSION " " REVIEW_KIND,
                       SPAN_ARG(out->api_version), SPAN_ARG(out->kind));
    if (!out->has_request || out->request.uid.len == 0)
        return err_set(err, ERR_INVALID, "the AdmissionReview has no request with a uid");
    return true;
}

static bool is_pool_write(const struct request *r)
{
    return span_eq(r->of.group, SPAN("karpenter.sh")) && span_eq(r->of.version, SPAN("v1")) &&
           span_eq(r->of.resource, SPAN("nodepools")) && r->subresource.len == 0 &&
           (span_eq(r->operation, SPAN("CREATE")) || span_eq(r->operation, SPAN("UPDATE")));
}

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line; /* nobody sees the bytes that the API server sends us */
    struct buf *all = user;
    buf_addf(all, "%s%.*s: %.*s", all->len != 0 ? "; " : "", SPAN_ARG(path), SPAN_ARG(text));
}

/* Why the pool is refused; empty: it is not. */
static struct span pool_refusal(struct arena *a, const struct webhook_rules *rules,
                                struct doc_value object)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct buf mistakes = {0};
    struct node_pool pool;
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake, .user = &mistakes};
    struct span text;
    if (decode_value(&d, object, &node_pool_schema, &pool))
        text = pool_faults_text(a, pool_validate(a, &pool, rules->labels, syms));
    else
        text = arena_dup(a, buf_span(&mistakes));
    buf_release(&mistakes);
    return text;
}

static void put_reply(struct buf *reply, struct span uid, struct span refusal)
{
    struct json j = JSON_TO(reply);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN(REVIEW_API_VERSION));
    json_put_string(&j, "kind", SPAN(REVIEW_KIND));
    json_put_object(&j, "response");
    json_put_string(&j, "uid", uid);
    json_put_bool(&j, "allowed", refusal.len == 0);
    if (refusal.len != 0) {
        json_put_object(&j, "status");
        json_put_int(&j, "code", 422);
        json_put_string(&j, "reason", SPAN("Invalid"));
        json_put_string(&j, "message", refusal);
        json_object_end(&j);
    }
    json_object_end(&j);
    json_object_end(&j);
}

bool webhook_review(struct webhook_scratch *s, const struct webhook_rules *rules, struct span body,
                    struct buf *reply, enum webhook_answer *answer_out, struct err *err)
{
    arena_clear(&s->arena);
    const struct doc *doc;
    struct review review = {.has_request = false};
    if (!doc_parse_json(s->parser, body, &doc, err) ||
        !read_review(&s->arena, doc_root(doc), &review, err))
        return false;
    struct span refusal = {NULL, 0};
    struct doc_value request, object;
    bool ours = is_pool_write(&review.request);
    if (ours) {
        if (!doc_find(doc_root(doc), SPAN("request"), &request) ||
            !doc_find(request, SPAN("object"), &object) || doc_type(object) != DOC_OBJECT)
            return err_set(err, ERR_INVALID, "the review of a NodePool carries no object");
        refusal = pool_refusal(&s->arena, rules, object);
    }
    put_reply(reply, review.request.uid, refusal);
    *answer_out = !ours ? WEBHOOK_NOT_OURS : refusal.len != 0 ? WEBHOOK_DENIED : WEBHOOK_ALLOWED;
    return true;
}
