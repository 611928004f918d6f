#include "reconciler/call.h"

#include <stdlib.h>

#include "base/json.h"
#include "reconciler/state.h"

enum {
    GONE_MS = 1 * MS_SECOND
}; /* until the snapshot should have noticed that an object is gone */

struct call *call_new(struct reconciler *r, struct gate *gate, call_done *done)
{
    struct call *c = mem_new(sizeof(*c));
    arena_init(&c->arena, 0);
    c->reconciler = r;
    c->gate = gate;
    c->done = done;
    c->sent = r->mono;
    c->next = r->calls;
    c->link = &r->calls;
    if (c->next != NULL)
        c->next->link = &c->next;
    r->calls = c;
    r->calls_under_way++;
    if (gate != NULL)
        gate->under_way++;
    return c;
}

void call_about(struct call *c, struct memo *memo)
{
    c->memo = memo;
    memo->held++;
}

static const struct measure *dup_measures(struct arena *a, const struct measure *list, uint32_t count)
{
    struct measure *out = ARENA_ARRAY(a, struct measure, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = list[i];
        for (int k = 0; k < MEASURE_LABELS_MAX; k++)
            out[i].labels[k] = arena_dup(a, list[i].labels[k]);
    }
    return out;
}

void call_topic(struct call *c, const struct call_topic *t)
{
    struct arena *a = &c->arena;
    c->topic = (struct call_topic){
        .ns = arena_dup(a, t->ns),
        .name = arena_dup(a, t->name),
        .uid = arena_dup(a, t->uid),
        .text = arena_dup(a, t->text),
        .node = arena_dup(a, t->node),
        .node_uid = arena_dup(a, t->node_uid),
        .whose = t->whose,
        .number = t->number,
        .counted = dup_measures(a, t->counted, t->counted_count),
        .counted_count = t->counted_count,
    };
}

static void deliver_later(struct call *c)
{
    struct reconciler *r = c->reconciler;
    pthread_mutex_lock(&r->lock);
    c->later = NULL;
    *r->inbox_end = c;
    r->inbox_end = &c->later;
    pthread_mutex_unlock(&r->lock);
    if (r->config.listener.wake != NULL)
        r->config.listener.wake(r->config.listener.user);
}

/* ---- the API's answers ---- */

static void read_data(struct call *c, struct doc_value root)
{
    struct doc_value data, v;
    if (c->wants != NULL && doc_find(root, SPAN("data"), &data) && doc_type(data) == DOC_OBJECT &&
        doc_find(data, span_of(c->wants), &v) && doc_type(v) == DOC_STRING)
        c->data = arena_dup(&c->arena, doc_text(v));
}

static void read_reply(struct call *c, struct doc_value root)
{
    struct doc_value meta, v;
    if (doc_type(root) != DOC_OBJECT)
        return;
    read_data(c, root);
    if (!doc_find(root, SPAN("metadata"), &meta) || doc_type(meta) != DOC_OBJECT)
        return;
    if (doc_find(meta, SPAN("resourceVersion"), &v) && doc_type(v) == DOC_STRING) {
        int64_t version;
        if (span_int64(doc_text(v), &version) && version > 0)
            c->version = (uint64_t)version;
    }
    if (doc_find(meta, SPAN("uid"), &v) && doc_type(v) == DOC_STRING)
        c->uid_now = arena_dup(&c->arena, doc_text(v));
}

static void on_reply(void *user, const struct api_result *result)
{
    struct call *c = user;
    c->status = result->status;
    c->err = result->err;
    c->reason = arena_dup(&c->arena, result->reason);
    c->cause = arena_dup(&c->arena, result->cause);
    c->retry_after_s = result->retry_after_s;
    if (result->body != NULL)
        read_reply(c, doc_root(result->body));
    deliver_later(c);
}

void call_send(struct call *c, const struct api_request *request)
{
    struct api_request act = *request;
    act.is_act = true;
    api_send(c->reconciler->config.api, &act, on_reply, c);
}

void call_get(struct call *c, enum kind k, struct span ns, struct span name)
{
    call_send(c, &(struct api_request){.verb = API_GET, .kind = k, .ns = ns, .name = name});
}

/* ---- the provider's answers ---- */

static struct plain_labels dup_labels(struct arena *a, struct plain_labels from)
{
    struct plain_labels out = {ARENA_ARRAY(a, struct plain_label, from.count), from.count};
    for (uint32_t i = 0; i < from.count; i++)
        out.items[i] = (struct plain_label){arena_dup(a, from.items[i].key),
                                            arena_dup(a, from.items[i].value)};
    return out;
}

static struct span resources_text(struct arena *a, struct resources r, const struct symtab *syms)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    resources_put(&j, r, syms);
    json_object_end(&j);
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

static struct called_machine dup_machine(struct arena *a, const struct machine *m,
                                         const struct symtab *syms)
{
    return (struct called_machine){
        .provider_id = arena_dup(a, m->provider_id),
        .node_name = arena_dup(a, m->node_name),
        .image_id = arena_dup(a, m->image_id),
        .claim_uid = arena_dup(a, m->claim_uid),
        .claim_name = arena_dup(a, m->claim_name),
        .labels = dup_labels(a, m->labels),
        .annotations = dup_labels(a, m->annotations),
        .capacity = resources_text(a, m->capacity, syms),
        .allocatable = resources_text(a, m->allocatable, syms),
        .deleting = m->deleting,
    };
}

static uint32_t *calls_of(struct reconciler *r, const struct provider *p)
{
    return &r->sides[providers_index(&r->config.providers, p)].calls;
}

bool call_may_begin(const struct reconciler *r, const struct provider *p)
{
    return r->sides[providers_index(&r->config.providers, p)].calls < p->ops->limits.calls;
}

bool call_may_wonder(const struct reconciler *r, const struct provider *p)
{
    return r->sides[providers_index(&r->config.providers, p)].calls < p->ops->limits.calls / 2;
}

bool calls_stall(const struct reconciler *r, const struct provider *p)
{
    for (const struct call *c = r->calls; c != NULL; c = c->next)
        if (c->provider == p && r->mono - c->sent >= CALLS_STALL_MS)
            return true;
    return false;
}

void call_begin(struct call *c, struct provider *p, enum provider_method method, struct span pool)
{
    struct reconciler *r = c->reconciler;
    c->provider = p;
    c->method = method;
    c->pool = arena_dup(&c->arena, pool);
    c->due = r->mono + p->ops->limits.patience[method];
    if (c->due < r->calls_due)
        r->calls_due = c->due;
    ++*calls_of(r, p);
}

void call_begin_group(struct call *c, struct group_provider *p, enum group_method method)
{
    struct reconciler *r = c->reconciler;
    c->groups = p;
    c->group_method = method;
    c->due = r->mono + p->ops->limits.patience[method];
    if (c->due < r->calls_due)
        r->calls_due = c->due;
}

/* False: it was given up, and its arena is not ours any more. */
static bool take_answer(struct call *c)
{
    struct reconciler *r = c->reconciler;
    pthread_mutex_lock(&r->lock);
    bool waited_for = c->state == CALL_ASKED;
    if (waited_for)
        c->state = CALL_ANSWERED;
    pthread_mutex_unlock(&r->lock);
    return waited_for;
}

void call_machine_done(void *user, const struct machine_result *result)
{
    struct call *c = user;
    if (!take_answer(c)) {
        deliver_later(c);
        return;
    }
    struct called_machine *m = ARENA_ARRAY(&c->arena, struct called_machine, result->count);
    c->err = result->err;
    for (size_t i = 0; i < result->count; i++)
        m[i] = dup_machine(&c->arena, &result->machines[i], result->syms);
    c->machines = m;
    c->machine_count = result->count;
    c->drift = arena_dup(&c->arena, result->drift);
    deliver_later(c);
}

void call_group_done(void *user, const struct err *err)
{
    struct call *c = user;
    if (take_answer(c))
        c->err = *err;
    deliver_later(c);
}

/* ---- delivery ---- */

static void close_gate(struct call *c, mono_ms now)
{
    struct gate *g = c->gate;
    if (g == NULL)
        return;
    g->under_way--;
    if (c->err.kind == ERR_NONE) {
        g->failures = 0;
        if (c->version > g->version)
            g->version = c->version;
        /* An object that goes with this write keeps its version. */
        if (c->last)
            g->retry_at = now + GONE_MS;
    } else if (c->err.kind == ERR_NOT_FOUND) {
        g->failures = 0;
        g->retry_at = now + GONE_MS;
    } else if (c->err.kind != ERR_CANCELLED) {
        gate_fail(g, now);
        if (c->retry_after_s > 0 && g->retry_at < now + c->retry_after_s * MS_SECOND)
            g->retry_at = now + c->retry_after_s * MS_SECOND;
    }
}

/* As Karpenter v1.15.0 sorts them. */
static struct span error_name(enum err_kind k)
{
    switch (k) {
    case ERR_CAPACITY:
        return SPAN("InsufficientCapacityError");
    case ERR_NOT_FOUND:
        return SPAN("NodeClaimNotFoundError");
    default:
        return SPAN("unknown");
    }
}

static const char *method_name(enum provider_method m)
{
    static const char *const names[PROVIDER_METHOD_COUNT] = {"Create", "Delete", "Get", "List", "IsDrifted", "Reboot"};
    return names[m];
}

static bool is_providers(const struct call *c)
{
    return c->provider != NULL || c->groups != NULL;
}

static struct span provider_name(const struct call *c)
{
    return span_of(c->provider != NULL ? c->provider->ops->name : c->groups->ops->name);
}

static struct span called_method(const struct call *c)
{
    static const char *const of_groups[GROUP_METHOD_COUNT] = {"Resize", "Remove"};
    return span_of(c->provider != NULL ? method_name(c->method) : of_groups[c->group_method]);
}

static void measure_method(struct reconciler *r, const struct call *c)
{
    static const struct span controller = SPAN_INIT("reconciler");
    if (!is_providers(c))
        return;
    struct span provider = provider_name(c), method = called_method(c);
    count(r, MEASURE_CLOUD_DURATION, (double)(r->mono - c->sent) / MS_SECOND, controller, method, provider);
    if (c->err.kind != ERR_NONE && c->err.kind != ERR_CANCELLED)
        count_all(r, &(struct measure){.id = MEASURE_CLOUD_ERRORS,
                                       .labels = {controller, method, provider, error_name(c->err.kind), c->pool},
                                       .value = 1});
}

/* Nobody waits for it any more. */
static void end(struct call *c)
{
    struct reconciler *r = c->reconciler;
    close_gate(c, r->mono);
    measure_method(r, c);
    if (c->done != NULL)
        c->done(r, c);
    r->calls_under_way--;
    if (c->memo != NULL)
        c->memo->held--;
}

static void call_free(struct call *c)
{
    struct reconciler *r = c->reconciler;
    *c->link = c->next;
    if (c->next != NULL)
        c->next->link = c->link;
    if (c->provider != NULL)
        --*calls_of(r, c->provider);
    arena_release(&c->arena);
    free(c);
}

void calls_deliver(struct reconciler *r)
{
    pthread_mutex_lock(&r->lock);
    struct call *c = r->inbox;
    r->inbox = NULL;
    r->inbox_end = &r->inbox;
    pthread_mutex_unlock(&r->lock);
    for (struct call *later; c != NULL; c = later) {
        later = c->later;
        if (c->state != CALL_GIVEN_UP)
            end(c);
        call_free(c);
    }
}

/* It stays among the calls, without its answer, until that comes. */
static void give_up(struct call *c, enum err_kind kind)
{
    struct reconciler *r = c->reconciler;
    pthread_mutex_lock(&r->lock);
    bool first = c->state == CALL_ASKED;
    if (first)
        c->state = CALL_GIVEN_UP;
    pthread_mutex_unlock(&r->lock);
    if (!first)
        return;
    struct span provider = provider_name(c), method = called_method(c);
    err_set(&c->err, kind, "provider %.*s: no answer to %.*s within %lld s", SPAN_ARG(provider), SPAN_ARG(method),
            (long long)((r->mono - c->sent) / MS_SECOND));
    end(c);
    if (c->provider != NULL)
        c->provider->ops->cancel(c->provider, c->id);
    else
        c->groups->ops->cancel(c->groups, c->id);
}

mono_ms calls_expire(struct reconciler *r)
{
    if (r->mono < r->calls_due)
        return r->calls_due;
    r->calls_due = INT64_MAX;
    for (struct call *c = r->calls; c != NULL; c = c->next)
        if (is_providers(c) && c->due <= r->mono)
            give_up(c, ERR_RETRY);
        else if (is_providers(c) && c->due < r->calls_due)
            r->calls_due = c->due;
    return r->calls_due;
}

void calls_give_up(struct reconciler *r)
{
    for (struct call *c = r->calls; c != NULL; c = c->next)
        if (is_providers(c))
            give_up(c, ERR_CANCELLED);
}

void calls_free(struct reconciler *r)
{
    while (r->calls != NULL)
        call_free(r->calls);
    r->inbox = NULL;
    r->inbox_end = &r->inbox;
}
