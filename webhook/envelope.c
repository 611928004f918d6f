#include "webhook/envelope.h"

#include "base/base64.h"
#include "base/decode.h"
#include "base/json.h"
#include "base/safe_text.h"

#define REVIEW_API_VERSION "admission.k8s.io/v1"
#define REVIEW_KIND "AdmissionReview"

struct review {
    struct span api_version, kind;
    bool has_request;
    struct webhook_request request;
};

static const struct field resource_fields[] = {
    {.name = "group", .kind = FIELD_SPAN, .offset = offsetof(struct webhook_request, of.group)},
    {.name = "version", .kind = FIELD_SPAN, .offset = offsetof(struct webhook_request, of.version)},
    {.name = "resource", .kind = FIELD_SPAN, .offset = offsetof(struct webhook_request, of.resource)},
};
/* Flattened: it fills the request itself. */
static const struct schema resource_of_schema = SCHEMA(struct webhook_request, "resource", resource_fields);

static const struct field request_fields[] = {
    {.name = "resource", .kind = FIELD_OBJECT, .schema = &resource_of_schema},
    FIELD(struct webhook_request, uid, FIELD_SPAN, "uid"),
    FIELD(struct webhook_request, operation, FIELD_SPAN, "operation"),
    FIELD(struct webhook_request, subresource, FIELD_SPAN, "subResource"),
    FIELD(struct webhook_request, ns, FIELD_SPAN, "namespace"),
    FIELD(struct webhook_request, dry_run, FIELD_BOOL, "dryRun"),
};
static const struct schema request_schema = SCHEMA(struct webhook_request, "request", request_fields);

static const struct field review_fields[] = {
    FIELD(struct review, api_version, FIELD_SPAN, "apiVersion"),
    FIELD(struct review, kind, FIELD_SPAN, "kind"),
    FIELD(struct review, request, FIELD_OBJECT, "request", .schema = &request_schema,
          FIELD_HAS(struct review, has_request)),
};
static const struct schema review_schema = SCHEMA(struct review, REVIEW_KIND, review_fields);

const char *webhook_answer_name(enum webhook_answer a)
{
    static const char *const names[] = {"allowed", "denied", "not-ours", "shaped", "unchecked", "unshaped"};
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

bool webhook_read(struct webhook_scratch *s, struct span body, struct webhook_request *out, struct err *err)
{
    arena_clear(&s->arena);
    const struct doc *doc;
    struct doc_value request;
    struct review review;
    if (!doc_parse_json(s->parser, body, &doc, err) || !read_review(&s->arena, doc_root(doc), &review, err))
        return false;
    *out = review.request;
    if (doc_find(doc_root(doc), SPAN("request"), &request)) {
        out->has_object = doc_find(request, SPAN("object"), &out->object) && doc_type(out->object) == DOC_OBJECT;
        out->has_old = doc_find(request, SPAN("oldObject"), &out->old) && doc_type(out->old) == DOC_OBJECT;
        out->has_options = doc_find(request, SPAN("options"), &out->options) && doc_type(out->options) == DOC_OBJECT;
    }
    return true;
}

bool webhook_is(const struct webhook_request *r, const char *group, const char *version, const char *resource)
{
    return span_eq(r->of.group, span_of(group)) && span_eq(r->of.version, span_of(version)) &&
           span_eq(r->of.resource, span_of(resource)) && r->subresource.len == 0;
}

struct span webhook_metadata(struct doc_value object, const char *key)
{
    struct doc_value meta;
    return doc_find(object, SPAN("metadata"), &meta) ? doc_text_at(meta, span_of(key)) : (struct span){NULL, 0};
}

/* What kubectl prints to a person as it comes. */
static void put_line(struct json *j, struct span text)
{
    struct buf line = {0};
    safe_line_add(&line, text);
    json_text(j, buf_span(&line));
    buf_release(&line);
}

static void put_refusal(struct json *j, struct span refusal)
{
    json_put_object(j, "status");
    json_put_int(j, "code", 422);
    json_put_string(j, "reason", SPAN("Invalid"));
    json_key(j, SPAN("message"));
    put_line(j, refusal);
    json_object_end(j);
}

void webhook_write(struct buf *reply, const struct webhook_request *r, const struct webhook_response *response)
{
    struct json j = JSON_TO(reply);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN(REVIEW_API_VERSION));
    json_put_string(&j, "kind", SPAN(REVIEW_KIND));
    json_put_object(&j, "response");
    json_put_string(&j, "uid", r->uid);
    json_put_bool(&j, "allowed", response->refusal.len == 0);
    if (response->refusal.len != 0)
        put_refusal(&j, response->refusal);
    if (response->patch.len != 0) {
        json_put_string(&j, "patchType", SPAN("JSONPatch"));
        json_put_string(&j, "patch", response->patch);
    }
    if (response->warning_count != 0) {
        json_put_array(&j, "warnings");
        for (uint32_t i = 0; i < response->warning_count; i++)
            put_line(&j, response->warnings[i]);
        json_array_end(&j);
    }
    json_object_end(&j);
    json_object_end(&j);
}
