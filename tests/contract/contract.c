#include "tests/contract/contract_case.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { POLL_MS = 20, KEPT_MAX = 4096 };

/* Texts and bodies of the running case, freed at its end. */
static char *texts[KEPT_MAX];
static size_t text_count;
static json_t *bodies[KEPT_MAX];
static size_t body_count;

void contract_fail(struct contract *c, const char *file, int line, const char *condition,
                   const char *format, ...)
{
    va_list args;
    c->failed = true;
    printf("FAIL %s\n     %s:%d: %s\n     ", c->label, file, line, condition);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

const char *contract_text(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0 || text_count == KEPT_MAX)
        abort();
    va_end(args);
    return texts[text_count++] = text;
}

static void forget_case(void)
{
    while (text_count > 0)
        free(texts[--text_count]);
    while (body_count > 0)
        json_decref(bodies[--body_count]);
}

/* ---- requests ---- */

static void copy_span(char *out, size_t size, struct span s)
{
    snprintf(out, size, "%.*s", SPAN_ARG(s));
}

static void on_done(void *user, const struct api_result *r)
{
    struct answer *a = user;
    a->done = true;
    a->completions++;
    a->status = r->status;
    a->kind = r->err.kind;
    a->retry_after_s = r->retry_after_s;
    copy_span(a->reason, sizeof a->reason, r->reason);
    copy_span(a->cause, sizeof a->cause, r->cause);
    copy_span(a->message, sizeof a->message,
              r->err.kind != ERR_NONE ? span_of(r->err.msg) : (struct span){NULL, 0});
    if (r->body != NULL && body_count < KEPT_MAX)
        a->body = bodies[body_count++] = tree_of_doc(doc_root(r->body));
}

static bool answered(struct contract *c, void *user)
{
    (void)c;
    return ((const struct answer *)user)->done;
}

struct answer contract_send(struct contract *c, const struct api_request *r)
{
    /* Kept apart from the stack: a late second completion must be seen, not crash. */
    static struct answer a;
    a = (struct answer){.status = -1};
    api_send(c->target->api, r, on_done, &a);
    if (!contract_wait(c, answered, &a))
        snprintf(a.message, sizeof a.message, "no answer within %d s", (int)(CONTRACT_PATIENCE_MS / MS_SECOND));
    else if (a.completions != 1)
        contract_fail(c, __FILE__, __LINE__, "completions == 1", "called %u times", a.completions);
    return a;
}

struct span contract_ns(const struct contract *c, enum kind k)
{
    return kind_info(k)->namespaced ? c->target->ns : (struct span){NULL, 0};
}

static struct answer send(struct contract *c, enum api_verb verb, enum kind k, const char *name,
                          const char *subresource, const char *body)
{
    struct api_request r = {.verb = verb, .kind = k, .ns = contract_ns(c, k), .name = span_of(name),
                            .subresource = span_of(subresource), .body = span_of(body)};
    return contract_send(c, &r);
}

struct answer contract_get(struct contract *c, enum kind k, const char *name)
{
    return send(c, API_GET, k, name, NULL, NULL);
}

struct answer contract_create(struct contract *c, enum kind k, const char *body)
{
    return send(c, API_CREATE, k, NULL, NULL, body);
}

struct answer contract_merge(struct contract *c, enum kind k, const char *name, const char *patch)
{
    return send(c, API_MERGE, k, name, NULL, patch);
}

struct answer contract_merge_status(struct contract *c, enum kind k, const char *name,
                                    const char *patch)
{
    return send(c, API_MERGE, k, name, "status", patch);
}

struct answer contract_delete(struct contract *c, enum kind k, const char *name, const char *options)
{
    return send(c, API_DELETE, k, name, NULL, options);
}

struct answer contract_apply(struct contract *c, enum kind k, const char *name, const char *body,
                             bool force)
{
    struct api_request r = {.verb = API_APPLY, .kind = k, .ns = contract_ns(c, k),
                            .name = span_of(name), .body = span_of(body), .force = force};
    return contract_send(c, &r);
}

void contract_clean(struct contract *c, enum kind k, const char *name)
{
    contract_delete(c, k, name, "{\"gracePeriodSeconds\":0}");
    contract_merge(c, k, name, "{\"metadata\":{\"finalizers\":null}}");
    contract_wait_gone(c, k, name);
}

/* ---- waiting ---- */

bool contract_wait(struct contract *c, bool (*what)(struct contract *c, void *user), void *user)
{
    const struct contract_target *t = c->target;
    mono_ms until = t->now(t->user) + CONTRACT_PATIENCE_MS;
    while (!what(c, user)) {
        if (t->now(t->user) >= until)
            return false;
        t->poll(t->user, POLL_MS);
    }
    return true;
}

struct object_ref {
    enum kind kind;
    const char *name;
};

static bool is_gone(struct contract *c, void *user)
{
    const struct object_ref *o = user;
    return contract_get(c, o->kind, o->name).status == 404;
}

bool contract_wait_gone(struct contract *c, enum kind k, const char *name)
{
    struct object_ref o = {k, name};
    return contract_wait(c, is_gone, &o);
}

/* ---- watches ---- */

static void see(struct contract *c, int what, enum kind k, const json_t *object)
{
    if (c->seen_count == c->seen_capacity) {
        c->seen_capacity = c->seen_capacity != 0 ? c->seen_capacity * 2 : 256;
        c->seen = mem_grow(c->seen, c->seen_capacity, sizeof *c->seen);
    }
    struct seen *s = &c->seen[c->seen_count++];
    *s = (struct seen){.kind = k, .version = contract_version(object),
                       .generation = tree_int(object, "metadata.generation", 0)};
    memcpy(&s->what, &what, sizeof s->what);
    copy_span(s->name, sizeof s->name, tree_string(object, "metadata.name"));
}

static void on_list_begin(void *user, enum kind k)
{
    see(user, SEEN_LIST_BEGIN, k, NULL);
}

static void on_list_end(void *user, enum kind k, bool asked)
{
    (void)asked;
    see(user, SEEN_LIST_END, k, NULL);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    json_t *tree = tree_of_doc(object);
    see(user, e == WATCH_PUT ? SEEN_PUT : SEEN_DELETE, k, tree);
    json_decref(tree);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    see(user, broken != NULL ? SEEN_BROKEN : SEEN_WORKS, k, NULL);
}

static bool listed(struct contract *c, void *user)
{
    enum kind k = *(const enum kind *)user;
    for (size_t i = 0; i < c->seen_count; i++) {
        if (c->seen[i].kind == k && c->seen[i].what == SEEN_LIST_END)
            return true;
    }
    return false;
}

bool contract_watch(struct contract *c, enum kind k)
{
    struct api_sink sink = {c, on_list_begin, on_list_end, on_event, on_state};
    if (!c->watched[k])
        c->target->api->ops->watch(c->target->api, k, &sink);
    c->watched[k] = true;
    return contract_wait(c, listed, &k);
}

struct sight {
    size_t from, found;
    int what;
    const char *name;
};

static bool was_seen(struct contract *c, void *user)
{
    struct sight *s = user;
    for (size_t i = s->from; i < c->seen_count; i++) {
        if ((int)c->seen[i].what == s->what && strcmp(c->seen[i].name, s->name) == 0) {
            s->found = i;
            return true;
        }
    }
    return false;
}

size_t contract_wait_seen(struct contract *c, size_t from, int what, const char *name)
{
    struct sight s = {from, SIZE_MAX, what, name};
    return contract_wait(c, was_seen, &s) ? s.found : SIZE_MAX;
}

/* ---- bodies ---- */

uint64_t contract_version(const json_t *object)
{
    int64_t version;
    return span_int64(tree_string(object, "metadata.resourceVersion"), &version) ? (uint64_t)version
                                                                                : 0;
}

const char *contract_claim(const char *name, const char *more_meta, const char *more)
{
    return contract_text("{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{"
                         "\"name\":\"%s\"%s},\"spec\":{\"requirements\":[],\"nodeClassRef\":{"
                         "\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"x\"}}%s}",
                         name, more_meta, more);
}

const char *contract_node_class(const char *name, const char *more_meta)
{
    return contract_text("{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
                         "\"metadata\":{\"name\":\"%s\"%s}}",
                         name, more_meta);
}

const char *contract_pool(const char *name)
{
    return contract_text("{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{"
                         "\"name\":\"%s\"},\"spec\":{\"template\":{\"spec\":{\"requirements\":[],"
                         "\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\","
                         "\"name\":\"x\"}}}}}",
                         name);
}

const char *contract_pod(const struct contract *c, const char *name, const char *app, const char *node)
{
    return contract_text("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
                         "\"namespace\":\"%.*s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{\"containers\":["
                         "{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"100m\"}}}]%s%s%s}}",
                         name, SPAN_ARG(c->target->ns), app, node != NULL ? ",\"nodeName\":\"" : "",
                         node != NULL ? node : "", node != NULL ? "\"" : "");
}

/* ---- the run ---- */

static bool can_run(const struct contract_target *t, const struct contract_case *one)
{
    return (!one->needs_controllers || t->has_controllers) &&
           (!one->needs_breaks || t->break_watch != NULL);
}

uint32_t contract_run(const struct contract_target *t)
{
    const struct contract_cases *const all[] = {&contract_object_cases, &contract_delete_cases,
                                                &contract_pod_cases, &contract_watch_cases};
    struct contract c = {.target = t};
    uint32_t failed = 0, ran = 0;
    for (size_t part = 0; part < COUNT_OF(all); part++) {
        for (size_t i = 0; i < all[part]->count; i++) {
            const struct contract_case *one = &all[part]->items[i];
            if (!can_run(t, one)) {
                printf("cannot be asked of this target: %s\n", one->label);
                continue;
            }
            c.label = one->label;
            c.failed = false;
            one->run(&c);
            forget_case();
            failed += c.failed;
            ran++;
            if (t->verbose && !c.failed)
                printf("ok   %s\n", one->label);
            fflush(stdout);
        }
    }
    printf("contract: %u cases, %u failed\n", ran, failed);
    free(c.seen);
    return failed;
}
