/* LIST and WATCH of one kind: moves pages and events into the sink. What comes next after an end is
 * decided in kube/resume.c.
 *
 * Lists ask for no resourceVersion: they are consistent, so that they never go back in time, and
 * come in pages; servers since 1.31 answer them from memory. A page is parsed as a whole, an event
 * by itself, so that these are what bounds memory. */
#include "kube/client_inner.h"

#include <stdlib.h>

#include "kube/client_url.h"
#include "kube/status.h"

enum {
    VERSION_MAX = 128, /* bytes of a resourceVersion; etcd's are decimal, up to 20 */
    PROVEN_MS = MS_SECOND, /* a silent stream that has lived so long works */
};

enum watch_doing { WATCH_WAITS, WATCH_LISTS, WATCH_STREAMS };

struct watch {
    struct transfer transfer;
    enum kind kind;
    struct api_sink sink;
    struct resume resume;
    enum watch_doing doing;
    enum resume_next next; /* WATCH_WAITS: what, and when */
    mono_ms due;
    bool first_page;
    bool broken; /* the sink was told */
    bool was_listed; /* once at least */
    bool other_lacks; /* the API server does not have the kind's other version either; as of this attempt */
    bool absent; /* the API server does not know the kind; the sink was told of an empty list */
    bool fresh;  /* the last connection went silent */
    bool asked;  /* the LIST under way, or to come, was asked for by relist */
    bool apart;  /* … and so new connections are opened for it, and for the stream that follows */
    bool opened_once;
    char version[VERSION_MAX];
    struct buf cont; /* `continue` of the next page */

    struct lines lines;
    bool heard;
    bool failed; /* a stream: an event of ours to act on, in `failure` */
    struct api_result failure;
};

static struct client *client_of(const struct watch *w)
{
    return w->transfer.client;
}

/* Telling. */

static void tell_broken(struct watch *w, const struct err *err, span_ms delay)
{
    bool first = !w->broken;
    w->broken = true;
    w->sink.state(w->sink.user, w->kind, err);
    const struct log *log = client_of(w)->policy.log;
    const char *plural = kind_info(w->kind)->plural;
    if (log == NULL)
        return;
    if (first && err->kind != ERR_GONE)
        log_warn(log, "api", "%s cannot be watched, trying again in %.1f s: %s", plural,
                 (double)delay / 1000, err->msg);
    else
        log_debug(log, "api", "%s: again in %.1f s: %s", plural, (double)delay / 1000, err->msg);
}

static void tell_works(struct watch *w)
{
    if (!w->broken)
        return;
    w->broken = false;
    w->sink.state(w->sink.user, w->kind, NULL);
    const struct log *log = client_of(w)->policy.log;
    if (log != NULL)
        log_info(log, "api", "%s are watched again", kind_info(w->kind)->plural);
}

static void tell_list_end(struct watch *w)
{
    bool asked = w->asked;
    w->asked = false;
    w->sink.list_end(w->sink.user, w->kind, asked);
}

/* A kind whose definition is not installed has no objects: whoever waits for all kinds to be listed
 * waits for no person to install it. */
static void tell_absent(struct watch *w)
{
    struct client *c = client_of(w);
    bool known = w->absent;
    if (known && !w->asked)
        return;
    w->absent = true;
    w->sink.list_begin(w->sink.user, w->kind);
    tell_list_end(w);
    atomic_store_explicit(&c->absent[w->kind], true, memory_order_relaxed);
    tell_works(w);
    if (c->policy.log != NULL && !known)
        log_warn(c->policy.log, "api", "this cluster has no %s (%s): going on without, looking again now and then; %s",
                 kind_info(w->kind)->plural, kind_info(w->kind)->api_version,
                 kind_is_machines(w->kind) ? "they come with Cluster API"
                                           : "their CustomResourceDefinition is in manifests/crds");
}

static void tell_present(struct watch *w)
{
    struct client *c = client_of(w);
    if (!w->absent)
        return;
    w->absent = false;
    atomic_store_explicit(&c->absent[w->kind], false, memory_order_relaxed);
    if (c->policy.log != NULL)
        log_info(c->policy.log, "api", "this cluster has %s now", kind_info(w->kind)->plural);
}

/* Reading. */

static bool set_version(struct watch *w, struct span version)
{
    if (version.len == 0 || version.len >= VERSION_MAX)
        return false;
    memcpy(w->version, version.ptr, version.len);
    w->version[version.len] = '\0';
    return true;
}

static void go_on(struct watch *w, enum resume_next next, span_ms delay)
{
    w->doing = WATCH_WAITS;
    w->next = next;
    w->due = client_of(w)->now + delay;
}

/* The items of a page, if it is a list of the kind. An API server prints an empty list as [], from its
 * storage and from its watch cache, so a reply with null is not from an API server. */
static bool find_items(const struct watch *w, struct doc_value root, struct doc_value *items, struct err *err)
{
    const struct kind_info *info = kind_info(w->kind);
    const char *version = client_of(w)->older[w->kind] ? kind_older(w->kind) : info->api_version;
    struct span kind = doc_text_at(root, SPAN("kind")), item_kind = kind;
    struct span has = doc_text_at(root, SPAN("apiVersion"));
    bool is_list = span_has_suffix(kind, SPAN("List"));
    item_kind.len -= is_list ? strlen("List") : 0;
    if (!is_list || !span_eq(item_kind, span_of(info->name)) || !span_eq(has, span_of(version)))
        return err_set(err, ERR_RETRY, "the reply is \"%.*s\" of \"%.*s\", not %sList of %s", SPAN_ARG(kind), SPAN_ARG(has),
                       info->name, version);
    if (!doc_find(root, SPAN("items"), items))
        return err_set(err, ERR_RETRY, "the %sList has no items", info->name);
    if (doc_type(*items) != DOC_ARRAY)
        return err_set(err, ERR_RETRY, "items of the %sList: %s is not a list", info->name,
                       doc_type_name(doc_type(*items)));
    return true;
}

/* Returns false when the page is not a valid list; then the sink gets none of its items. */
static bool take_page(struct watch *w, const struct doc *doc, struct err *err)
{
    struct doc_value metadata, items;
    if (!find_items(w, doc_root(doc), &items, err))
        return false;
    if (!doc_find(doc_root(doc), SPAN("metadata"), &metadata))
        return err_set(err, ERR_RETRY, "the %sList has no metadata", kind_info(w->kind)->name);
    struct span version = doc_text_at(metadata, SPAN("resourceVersion"));
    struct span cont = doc_text_at(metadata, SPAN("continue"));
    if (cont.len > w->cont.max || (cont.len == 0 && !set_version(w, version)))
        return err_set(err, ERR_RETRY, "metadata of the %sList: continue or resourceVersion is wrong", kind_info(w->kind)->name);
    if (w->first_page)
        w->sink.list_begin(w->sink.user, w->kind);
    struct doc_iter it = doc_iter_of(items);
    while (doc_next(&it))
        w->sink.event(w->sink.user, w->kind, WATCH_PUT, it.value);
    buf_clear(&w->cont);
    buf_add(&w->cont, cont);
    resume_page_done(&w->resume);
    if (cont.len != 0) {
        go_on(w, RESUME_PAGE, 0);
        return true;
    }
    w->was_listed = true;
    w->other_lacks = false;
    tell_list_end(w);
    if (w->kind < KIND_STORED_COUNT)
        atomic_fetch_add_explicit(&client_of(w)->listed[w->kind], 1, memory_order_relaxed);
    tell_works(w);
    tell_present(w);
    go_on(w, RESUME_WATCH, 0);
    return true;
}

static bool stream_fails(struct watch *w, int status, const char *why)
{
    w->failed = true;
    w->failure = (struct api_result){.status = status, .retry_after_s = -1};
    err_set(&w->failure.err, ERR_RETRY, "%s", why);
    return false;
}

/* False ends the stream. */
static bool take_event(struct watch *w, struct span line)
{
    const struct doc *doc;
    struct doc_value object, metadata;
    struct err err;
    if (!doc_parse_json(client_of(w)->parser, line, &doc, &err))
        return stream_fails(w, 0, err.msg);
    struct span type = doc_text_at(doc_root(doc), SPAN("type"));
    if (!doc_find(doc_root(doc), SPAN("object"), &object))
        return stream_fails(w, 0, "an event has no object");
    if (span_eq(type, SPAN("ERROR"))) {
        w->failed = true;
        w->failure = (struct api_result){0};
        status_of_event(&w->failure, object);
        return false;
    }
    w->heard = true;
    tell_works(w);
    if (span_eq(type, SPAN("DELETED")))
        w->sink.event(w->sink.user, w->kind, WATCH_DELETE, object);
    else if (span_eq(type, SPAN("ADDED")) || span_eq(type, SPAN("MODIFIED")))
        w->sink.event(w->sink.user, w->kind, WATCH_PUT, object);
    if (doc_find(object, SPAN("metadata"), &metadata))
        set_version(w, doc_text_at(metadata, SPAN("resourceVersion")));
    return true;
}

/* Transfers. */

static void on_open(struct transfer *t)
{
    struct watch *w = t->user;
    if (w->opened_once && w->kind < KIND_STORED_COUNT)
        atomic_fetch_add_explicit(&t->client->resumed[w->kind], 1, memory_order_relaxed);
    w->opened_once = true;
}

static bool on_stream(struct transfer *t, struct span chunk)
{
    struct watch *w = t->user;
    struct span line;
    lines_feed(&w->lines, chunk);
    while (lines_next(&w->lines, &line))
        if (!take_event(w, line))
            return false;
    return !w->lines.too_long;
}

static bool may_be_absent(const struct watch *w)
{
    return kind_is_optional(w->kind) ||
           (client_of(w)->policy.pools_optional && kind_is_of_pools(w->kind) && !w->was_listed);
}

/* The kind's other version, at once; whoever has both is asked for the newer alone. */
static bool try_other_version(struct watch *w)
{
    struct client *c = client_of(w);
    if (kind_older(w->kind) == NULL)
        return false;
    c->older[w->kind] = !c->older[w->kind];
    w->other_lacks = !w->other_lacks;
    return w->other_lacks;
}

static void ended(struct watch *w, const struct resume_end *end, const struct err *err)
{
    struct client *c = client_of(w);
    c->happened = true;
    client_heard(c, end->status, end->retry_after_s, (struct span){0});
    struct resume_step step = resume_after(&w->resume, end, random_unit(&c->random));
    if (step.credentials)
        auth_refresh(&c->auth, c->now, true);
    bool absent = err->kind == ERR_NOT_FOUND && may_be_absent(w);
    if (absent && try_other_version(w)) {
        go_on(w, RESUME_LIST, 0);
        return;
    }
    if (absent)
        tell_absent(w);
    else if (step.broken)
        tell_broken(w, err, step.delay);
    go_on(w, absent ? RESUME_LIST : step.next, step.delay);
}

static struct doc_parser *page_parser(struct client *c)
{
    if (c->page_parser == NULL)
        c->page_parser = doc_parser_new();
    return c->page_parser;
}

static void read_page(struct transfer *t, const struct transfer_end *end)
{
    struct watch *w = t->user;
    struct api_result result = {.status = end->status, .retry_after_s = end->retry_after_s};
    const struct doc *doc = NULL;
    struct err parse;
    bool too_large = end->too_large;
    if (end->status == 0)
        err_set(&result.err, ERR_RETRY, "%s", end->text);
    else if (too_large)
        err_set(&result.err, ERR_INTERNAL, "a page of the list is larger than %d bytes",
                CLIENT_PAGE_MAX);
    else if (!doc_parse_json(page_parser(t->client), buf_span(&t->body), &doc, &parse))
        doc = NULL;
    if (end->status >= 200 && end->status < 300 && !too_large) {
        if (doc == NULL)
            err_set(&result.err, ERR_RETRY, "the reply is not a list: %s", parse.msg);
        else if (take_page(w, doc, &result.err))
            return;
        result.status = 0;
    } else if (end->status != 0 && !too_large) {
        status_read(&result, doc, buf_span(&t->body));
    }
    w->fresh |= end->timed_out;
    ended(w,
          &(struct resume_end){.listing = true,
                               .first_page = w->first_page,
                               .too_large = too_large,
                               .status = result.status,
                               .retry_after_s = result.retry_after_s},
          &result.err);
}

static bool lists(const struct watch *w)
{
    return w != NULL && (w->doing == WATCH_LISTS ||
                         (w->doing == WATCH_WAITS && w->next == RESUME_PAGE));
}

static void page_ended(struct transfer *t, const struct transfer_end *end)
{
    struct client *c = t->client;
    read_page(t, end);
    for (int k = 0; k < KIND_COUNT; k++)
        if (lists(c->watches[k]))
            return;
    doc_parser_free(c->page_parser);
    c->page_parser = NULL;
}

static void stream_ended(struct transfer *t, const struct transfer_end *end)
{
    struct watch *w = t->user;
    struct api_result result = {.status = end->status, .retry_after_s = end->retry_after_s};
    const struct doc *doc = NULL;
    bool too_large = w->lines.too_long;
    if (w->failed) {
        result = w->failure;
    } else if (too_large) {
        err_set(&result.err, ERR_INTERNAL, "an event is larger than %d bytes", CLIENT_EVENT_MAX);
    } else if (end->status == 0) {
        err_set(&result.err, ERR_RETRY, "%s", end->text);
    } else {
        struct err ignored; /* plain text is fine, too */
        if (t->body.len == 0 ||
            !doc_parse_json(t->client->parser, buf_span(&t->body), &doc, &ignored))
            doc = NULL;
        status_read(&result, doc, buf_span(&t->body));
    }
    lines_clear(&w->lines);
    ended(w,
          &(struct resume_end){.too_large = too_large,
                               .status = result.status,
                               .retry_after_s = result.retry_after_s,
                               .lived = t->opened ? t->client->now - t->opened_at : 0,
                               .heard = w->heard},
          &result.err);
}

static const struct transfer_hooks page_hooks = {.on_end = page_ended};
static const struct transfer_hooks stream_hooks = {
    .on_open = on_open, .on_data = on_stream, .on_end = stream_ended};

static void begin_page(struct watch *w)
{
    struct client *c = client_of(w);
    w->first_page = w->next == RESUME_LIST;
    if (w->first_page)
        buf_clear(&w->cont);
    struct span url =
        url_list(&c->scratch, c->config.server, w->kind, c->older[w->kind], w->resume.page, buf_span(&w->cont));
    w->transfer.hooks = &page_hooks;
    w->doing = WATCH_LISTS;
    transfer_start(&w->transfer, &(struct transfer_request){
                                     .method = "GET",
                                     .url = url.ptr,
                                     .timeout_ms = c->policy.request_timeout_ms,
                                     .reply_max = CLIENT_PAGE_MAX,
                                     .compressed = true,
                                     .fresh = w->fresh || w->apart,
                                 });
}

static void begin_stream(struct watch *w)
{
    struct client *c = client_of(w);
    int timeout = CLIENT_WATCH_MIN_S +
                  (int)(random_unit(&c->random) * (CLIENT_WATCH_MAX_S - CLIENT_WATCH_MIN_S));
    struct span url =
        url_watch(&c->scratch, c->config.server, w->kind, c->older[w->kind], span_of(w->version), timeout);
    w->heard = w->failed = false;
    lines_clear(&w->lines);
    w->transfer.hooks = &stream_hooks;
    w->doing = WATCH_STREAMS;
    transfer_start(&w->transfer, &(struct transfer_request){
                                     .method = "GET",
                                     .url = url.ptr,
                                     .reply_max = CLIENT_REFUSAL_MAX,
                                     .fresh = w->fresh || w->apart,
                                 });
    w->apart = false;
}

static void begin(struct watch *w)
{
    if (w->next == RESUME_WATCH)
        begin_stream(w);
    else
        begin_page(w);
    w->fresh = false;
    arena_clear(&client_of(w)->scratch);
}

/* Streams have no end of their own, so silence is what tells that one is dead. */
static void end_stalled(struct watch *w)
{
    struct transfer *t = &w->transfer;
    transfer_abort(t);
    w->fresh = true;
    stream_fails(w, 0, "nothing came for too long");
    stream_ended(t, &(struct transfer_end){.text = "", .retry_after_s = -1});
}

/* When to look at a stream again. */
static mono_ms step_stream(struct watch *w, mono_ms now)
{
    const struct transfer *t = &w->transfer;
    mono_ms stalls = t->heard + client_of(w)->policy.stall_ms, proven = t->opened_at + PROVEN_MS;
    if (!w->broken || !t->opened)
        return stalls;
    if (now >= proven)
        tell_works(w);
    return w->broken && proven < stalls ? proven : stalls;
}

/* When what waits may begin. */
static mono_ms due_of(const struct watch *w)
{
    mono_ms busy_until = client_of(w)->busy_until;
    return w->due > busy_until ? w->due : busy_until;
}

static mono_ms step(struct watch *w, mono_ms now)
{
    if (w->doing == WATCH_STREAMS && now - w->transfer.heard >= client_of(w)->policy.stall_ms)
        end_stalled(w);
    if (w->doing == WATCH_WAITS && due_of(w) <= now)
        begin(w);
    if (w->doing == WATCH_STREAMS)
        return step_stream(w, now);
    return w->doing == WATCH_WAITS ? due_of(w) : INT64_MAX;
}

mono_ms watches_step(struct client *c)
{
    mono_ms next = INT64_MAX;
    for (int k = 0; k < KIND_COUNT; k++) {
        if (c->watches[k] == NULL)
            continue;
        mono_ms due = step(c->watches[k], c->now);
        next = due < next ? due : next;
    }
    return next;
}

void watches_stir(struct client *c)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (c->watches[k] != NULL && c->watches[k]->doing == WATCH_STREAMS)
            transfer_stir(&c->watches[k]->transfer);
}

void watch_start(struct client *c, enum kind k, const struct api_sink *sink)
{
    if (c->watches[k] != NULL)
        return;
    struct watch *w = mem_new(sizeof(*w));
    w->transfer.client = c;
    w->transfer.user = w;
    w->kind = k;
    w->sink = *sink;
    w->lines.held.max = CLIENT_EVENT_MAX;
    w->cont.max = CLIENT_REFUSAL_MAX;
    resume_init(&w->resume, c->policy.retry_first_ms, c->policy.retry_max_ms, c->policy.page);
    go_on(w, RESUME_LIST, 0);
    c->watches[k] = w;
}

/* What waits after a failure still waits its time. */
void watch_relist(struct client *c, enum kind k)
{
    struct watch *w = c->watches[k];
    if (w == NULL)
        return;
    w->asked = w->apart = true;
    if (w->doing == WATCH_WAITS) {
        w->next = RESUME_LIST;
        return;
    }
    transfer_abort(&w->transfer);
    lines_clear(&w->lines);
    go_on(w, RESUME_LIST, 0);
}

void watches_free(struct client *c)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        struct watch *w = c->watches[k];
        if (w == NULL)
            continue;
        transfer_release(&w->transfer);
        lines_release(&w->lines);
        buf_release(&w->cont);
        free(w);
        c->watches[k] = NULL;
    }
}
