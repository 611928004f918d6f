/* Only the envelope is decoded for every review; the object is looked at by the one rule there is. */
#include "webhook/review.h"

#include "base/decode.h"
#include "base/json.h"
#include "kube/finding.h"
#include "kube/node.h"
#include "kube/pool_validate.h"
#include "kube/pool_warnings.h"

#include <stdlib.h>

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

struct judging {
    struct arena *arena;
    struct findings found;
};

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line; /* nobody sees the bytes that the API server sends us */
    struct judging *j = user;
    finding_add(j->arena, &j->found, true, arena_dup(j->arena, path), arena_dup(j->arena, text));
}

static struct findings judge_pool(struct arena *a, const struct webhook_rules *rules, struct doc_value object)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct judging j = {.arena = a};
    struct node_pool pool;
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake, .user = &j};
    if (!decode_value(&d, object, &node_pool_schema, &pool))
        return j.found;
    pool_validate(a, &pool, rules->labels, syms, &j.found);
    pool_warnings(a, &pool, syms, &j.found);
    return j.found;
}

struct verdict {
    struct span refusal; /* empty: it is let through */
    struct span *warnings;
    uint32_t warning_count;
};

/* The path does not count: what comes into a list before it moves it. */
static int by_text(const void *x, const void *y)
{
    return span_cmp(((const struct finding *)x)->text, ((const struct finding *)y)->text);
}

/* What is wrong with it, sorted by what is said; nothing of what was not there. */
static struct findings found_before(struct arena *a, const struct webhook_rules *rules, struct doc_value request)
{
    struct doc_value old;
    struct findings f = {0};
    if (doc_find(request, SPAN("oldObject"), &old) && doc_type(old) == DOC_OBJECT)
        f = judge_pool(a, rules, old);
    if (f.count != 0)
        qsort(f.items, f.count, sizeof(*f.items), by_text);
    return f;
}

static struct span in_metadata(struct doc_value object, const char *key)
{
    struct doc_value meta;
    return doc_find(object, SPAN("metadata"), &meta) ? doc_text_at(meta, span_of(key)) : (struct span){NULL, 0};
}

/* What a person reads. The API server passes on 4,096 characters of warnings, and not even those of others after that. */
enum { TOLD_MOST = 16 };

static struct span and_more(struct arena *a, uint32_t count)
{
    return arena_printf(a, "and %u more", count - TOLD_MOST);
}

static struct span refusal_text(struct arena *a, struct findings *fresh)
{
    uint32_t all = fresh->count;
    if (all > TOLD_MOST)
        fresh->count = TOLD_MOST;
    struct span text = findings_refusal(a, fresh);
    return all <= TOLD_MOST ? text
                            : arena_printf(a, "%.*s; %.*s", SPAN_ARG(text), SPAN_ARG(and_more(a, all)));
}

static void add_warning(struct arena *a, struct verdict *v, struct span name, const struct finding *f, bool before)
{
    if (v->warning_count++ >= TOLD_MOST)
        return;
    v->warnings[v->warning_count - 1] =
        arena_printf(a, "NodePool %.*s: %.*s: %.*s%s", SPAN_ARG(name), SPAN_ARG(f->path), SPAN_ARG(f->text),
                     before ? "; it was so before, and no node is bought for the pool until it is fixed" : "");
}

static void end_warnings(struct arena *a, struct verdict *v)
{
    if (v->warning_count <= TOLD_MOST)
        return;
    v->warnings[TOLD_MOST] = and_more(a, v->warning_count);
    v->warning_count = TOLD_MOST + 1;
}

/* What was wrong before is told and not refused: who changes something else shall be able to. */
static struct verdict decide(struct arena *a, const struct webhook_rules *rules, struct doc_value request,
                             struct doc_value object)
{
    struct findings now = judge_pool(a, rules, object), old = {0}, fresh = {0};
    struct verdict v = {.warnings = ARENA_ARRAY(a, struct span, TOLD_MOST + 1)};
    struct span name = in_metadata(object, "name");
    if (now.count != 0)
        old = found_before(a, rules, request);
    for (uint32_t i = 0; i < now.count; i++) {
        const struct finding *f = &now.items[i];
        bool before = old.count != 0 && bsearch(f, old.items, old.count, sizeof(*f), by_text) != NULL;
        if ((f->refuses || rules->strict) && !before)
            finding_add(a, &fresh, true, f->path, f->text);
        else
            add_warning(a, &v, name, f, before && f->refuses);
    }
    end_warnings(a, &v);
    v.refusal = refusal_text(a, &fresh);
    return v;
}

static void put_reply(struct buf *reply, struct span uid, const struct verdict *v)
{
    struct json j = JSON_TO(reply);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN(REVIEW_API_VERSION));
    json_put_string(&j, "kind", SPAN(REVIEW_KIND));
    json_put_object(&j, "response");
    json_put_string(&j, "uid", uid);
    json_put_bool(&j, "allowed", v->refusal.len == 0);
    if (v->refusal.len != 0) {
        json_put_object(&j, "status");
        json_put_int(&j, "code", 422);
        json_put_string(&j, "reason", SPAN("Invalid"));
        json_put_string(&j, "message", v->refusal);
        json_object_end(&j);
    }
    if (v->warning_count != 0) {
        json_put_array(&j, "warnings");
        for (uint32_t i = 0; i < v->warning_count; i++)
            json_text(&j, v->warnings[i]);
        json_array_end(&j);
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
    struct verdict v = {.warning_count = 0};
    struct doc_value request, object;
    bool ours = is_pool_write(&review.request);
    if (ours) {
        if (!doc_find(doc_root(doc), SPAN("request"), &request) ||
            !doc_find(request, SPAN("object"), &object) || doc_type(object) != DOC_OBJECT)
            return err_set(err, ERR_INVALID, "the review of a NodePool carries no object");
        ours = in_metadata(object, "deletionTimestamp").len == 0;
        if (ours)
            v = decide(&s->arena, rules, request, object);
    }
    put_reply(reply, review.request.uid, &v);
    *answer_out = !ours ? WEBHOOK_NOT_OURS : v.refusal.len != 0 ? WEBHOOK_DENIED : WEBHOOK_ALLOWED;
    return true;
}
