/* Requests of api_send: their line, their pace, and who may be sent again (spec contracts 4.3).
 *
 * A request is sent again only when the server said that it did nothing: 429 or 5xx with
 * Retry-After, and once a 401. A read also when the connection broke. An eviction only when the
 * server was busy. */
#include "kube/client_inner.h"

#include <stdlib.h>

#include "kube/client_url.h"
#include "kube/status.h"

enum { READ_RETRY_FIRST_MS = 100, READ_RETRY_MAX_MS = 5 * MS_SECOND };

struct call {
    struct call *next, *previous;
    struct api_request request; /* its texts lie behind the struct */
    uint64_t id;
    api_done *done;
    void *user;
    struct transfer transfer;
    struct backoff backoff;
    mono_ms added; /* 0: not yet */
    mono_ms due;
    uint32_t tries;
    bool reauthorized;
};

static struct span copy_text(char **at, struct span s)
{
    if (s.ptr == NULL)
        return s;
    struct span copy = {*at, s.len};
    if (s.len != 0)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return copy;
}

struct call *client_call_new(const struct api_request *r, api_done *done, void *user, uint64_t id)
{
    struct call *call = mem_new(sizeof(*call) + r->ns.len + r->name.len + r->subresource.len +
                                r->body.len + r->field_selector.len + r->from.len);
    char *at = (char *)(call + 1);
    call->request = *r;
    call->request.ns = copy_text(&at, r->ns);
    call->request.name = copy_text(&at, r->name);
    call->request.subresource = copy_text(&at, r->subresource);
    call->request.body = copy_text(&at, r->body);
    call->request.field_selector = copy_text(&at, r->field_selector);
    call->request.from = copy_text(&at, r->from);
    call->id = id;
    call->done = done;
    call->user = user;
    call->backoff = (struct backoff){.first = READ_RETRY_FIRST_MS, .max = READ_RETRY_MAX_MS};
    return call;
}

static void list_append(struct call_list *list, struct call *call)
{
    call->previous = list->last;
    call->next = NULL;
    *(list->last != NULL ? &list->last->next : &list->first) = call;
    list->last = call;
    list->count++;
}

static void list_prepend(struct call_list *list, struct call *call)
{
    call->previous = NULL;
    call->next = list->first;
    *(list->first != NULL ? &list->first->previous : &list->last) = call;
    list->first = call;
    list->count++;
}

static void list_remove(struct call_list *list, struct call *call)
{
    *(call->previous != NULL ? &call->previous->next : &list->first) = call->next;
    *(call->next != NULL ? &call->next->previous : &list->last) = call->previous;
    list->count--;
}

static struct call *list_pop(struct call_list *list)
{
    struct call *call = list->first;
    if (call == NULL)
        return NULL;
    list->first = call->next;
    *(call->next != NULL ? &call->next->previous : &list->last) = NULL;
    list->count--;
    return call;
}

static bool is_lease(const struct call *call)
{
    return call->request.kind == KIND_LEASE;
}

static bool is_read(const struct call *call)
{
    return call->request.verb == API_GET || call->request.verb == API_LIST;
}

void calls_add(struct client *c, struct call *call)
{
    call->transfer.client = c;
    call->transfer.user = call;
    if (call->added == 0)
        call->added = c->now;
    if (is_lease(call))
        list_prepend(&c->waiting, call);
    else
        list_append(&c->waiting, call);
}

/* The call is in no list any more. */
static void complete(struct call *call, const struct api_result *result)
{
    call->transfer.client->happened = true;
    call->done(call->user, result);
    transfer_release(&call->transfer);
    free(call);
}

static void complete_cancelled(struct call *call)
{
    struct api_result result = {.retry_after_s = -1};
    err_set(&result.err, ERR_CANCELLED, "given up on before it was sent");
    complete(call, &result);
}

static void cancel_in(struct call_list *list, uint64_t id)
{
    for (struct call *call = list->first, *next; call != NULL; call = next) {
        next = call->next;
        if (id != 0 ? call->id != id : !call->request.is_act)
            continue;
        list_remove(list, call);
        complete_cancelled(call);
    }
}

void calls_cancel(struct client *c, uint64_t id)
{
    cancel_in(&c->waiting, id);
    cancel_in(&c->delayed, id);
}

void calls_cancel_acts(struct client *c)
{
    cancel_in(&c->waiting, 0);
    cancel_in(&c->delayed, 0);
}

/* Milliseconds until the same may be sent again; negative: it may not. */
static span_ms retry_delay(struct call *call, const struct api_result *r)
{
    struct client *c = call->transfer.client;
    if (r->status == 401 && !call->reauthorized) {
        call->reauthorized = true;
        auth_refresh(&c->auth, c->now, true);
        return 0;
    }
    if (call->request.verb == API_EVICT && !status_is_busy(r->status, r->retry_after_s, r->cause))
        return -1; /* what a budget means, the drain decides */
    if ((r->status == 429 || r->status >= 500) && r->retry_after_s >= 0)
        return r->retry_after_s > 0 ? r->retry_after_s * MS_SECOND : READ_RETRY_FIRST_MS;
    if (r->status == 0 && is_read(call))
        return backoff_next(&call->backoff, random_unit(&c->random));
    return -1;
}

/* True when the call was put in line again. */
static bool try_again(struct call *call, const struct api_result *r)
{
    struct client *c = call->transfer.client;
    span_ms patience = is_lease(call) ? c->policy.lease_timeout_ms : (span_ms)CLIENT_TRIES_MS;
    span_ms delay = retry_delay(call, r);
    if (delay < 0 || call->tries >= CLIENT_TRIES_MAX || c->now + delay - call->added > patience)
        return false;
    call->due = c->now + delay;
    if (delay == 0)
        list_prepend(&c->waiting, call);
    else
        list_append(&c->delayed, call);
    return true;
}

static void read_reply(struct call *call, const struct transfer_end *end, struct api_result *r)
{
    struct transfer *t = &call->transfer;
    const struct doc *doc = NULL;
    struct err parse;
    if (end->status == 0) {
        err_set(&r->err, ERR_RETRY, "%s", end->text);
        return;
    }
    if (end->too_large) {
        err_set(&r->err, ERR_INTERNAL, "the reply is larger than %d bytes", CLIENT_REPLY_MAX);
        return;
    }
    if (t->body.len == 0 || !doc_parse_json(t->client->parser, buf_span(&t->body), &doc, &parse))
        doc = NULL;
    status_read(r, doc, buf_span(&t->body));
    if (doc == NULL && r->err.kind == ERR_NONE && is_read(call))
        err_set(&r->err, ERR_RETRY, "the reply is not JSON");
}

static void on_end(struct transfer *t, const struct transfer_end *end)
{
    struct call *call = t->user;
    struct client *c = t->client;
    struct api_result result = {.status = end->status, .retry_after_s = end->retry_after_s};
    list_remove(&c->running, call);
    c->suspect = end->timed_out || (c->suspect && end->status == 0);
    if (end->timed_out) /* that it is given up is to be heard now: an act's Lease may be over */
        watches_stir(c);
    read_reply(call, end, &result);
    client_heard(c, result.status, result.retry_after_s, result.cause);
    if (!try_again(call, &result))
        complete(call, &result);
}

static const struct transfer_hooks hooks = {.on_end = on_end};

/* How much of the Lease is left to an act; 0: no Lease bounds this call. */
static span_ms left_to(const struct client *c, const struct call *call)
{
    const struct client_policy *p = &c->policy;
    mono_ms until = call->request.is_act && p->acts_until != NULL ? p->acts_until(p->user) : INT64_MAX;
    if (until == INT64_MAX)
        return 0;
    span_ms left = until + p->acts_grace_ms - c->now;
    return left > 1 ? left : 1;
}

static void start(struct client *c, struct call *call)
{
    struct http_call http;
    span_ms timeout = is_lease(call) ? c->policy.lease_timeout_ms : c->policy.request_timeout_ms;
    span_ms left = left_to(c, call);
    call->request.older |= c->older[call->request.kind];
    http_call_of(&c->scratch, c->config.server, &call->request, &http);
    if (left != 0) {
        timeout = left < timeout ? left : timeout;
        http.url = url_within(&c->scratch, http.url, timeout);
    }
    call->tries++;
    call->transfer.hooks = &hooks;
    list_append(&c->running, call);
    transfer_start(&call->transfer, &(struct transfer_request){
                                        .method = http.method,
                                        .url = http.url.ptr,
                                        .content_type = http.content_type,
                                        .body = call->request.body,
                                        .timeout_ms = timeout,
                                        .reply_max = CLIENT_REPLY_MAX,
                                        .compressed = is_read(call),
                                        .fresh = c->suspect,
                                    });
    arena_clear(&c->scratch);
}

static mono_ms take_delayed(struct client *c)
{
    mono_ms first = INT64_MAX;
    for (struct call *call = c->delayed.first, *next; call != NULL; call = next) {
        next = call->next;
        if (call->due <= c->now) {
            list_remove(&c->delayed, call);
            list_prepend(&c->waiting, call);
        } else if (call->due < first) {
            first = call->due;
        }
    }
    return first;
}

/* A Lease that was put in line again stands before or behind the others: look at all that are
 * first. */
static struct call *next_lease(const struct client *c)
{
    for (struct call *call = c->waiting.first; call != NULL; call = call->next)
        if (is_lease(call))
            return call;
        else if (call->tries == 0)
            break;
    return NULL;
}

/* A process that was stopped finds its line as it was, while another replica leads by now: that the
 * Lease is lost is noticed only after this. */
static bool may_leave(const struct client *c, const struct call *call)
{
    const struct client_policy *p = &c->policy;
    return !call->request.is_act || p->acts_until == NULL || c->now < p->acts_until(p->user);
}

mono_ms calls_step(struct client *c)
{
    mono_ms due = take_delayed(c);
    for (struct call *call; (call = next_lease(c)) != NULL;) {
        list_remove(&c->waiting, call);
        start(c, call);
    }
    if (c->now < c->busy_until && c->waiting.first != NULL)
        return c->busy_until < due ? c->busy_until : due;
    while (c->waiting.first != NULL && c->running.count < c->window) {
        struct call *call = c->waiting.first;
        bool leaves = may_leave(c, call);
        if (leaves && !bucket_take(&c->bucket, c->now)) {
            mono_ms token = bucket_due(&c->bucket, c->now);
            return token < due ? token : due;
        }
        list_pop(&c->waiting);
        if (leaves)
            start(c, call);
        else
            complete_cancelled(call);
    }
    return due;
}

void client_calls_free(struct client *c)
{
    struct call_list *const lists[] = {&c->waiting, &c->delayed, &c->running};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (struct call *call; (call = list_pop(lists[i])) != NULL;) {
            transfer_abort(&call->transfer);
            complete_cancelled(call);
        }
}
