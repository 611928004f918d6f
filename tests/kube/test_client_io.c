#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kube/client_io.h"
#include "support_http_server.h"

/* The client against a scripted server. The script runs on the server's threads; what it shares
 * with the test is behind the server's own lock (request numbers) or fixed before. */
struct world {
    struct http_server *server;
    struct client *client;
    struct buf seen; /* what the watch was told, as words */
    bool tells_why;  /* … with the message of each failure */
    int results;
    struct api_result last; /* spans are not valid */
    char reason[64], cause[64], body_name[64];
    _Atomic(int64_t) refused_at; /* by overload_script; 0: not yet */
    _Atomic(int) too_early;
    _Atomic(long) within_ms; /* the time-out that the last request told mute_script; 0: none */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const struct client_policy quick = {.retry_first_ms = 10,
                                           .retry_max_ms = 50,
                                           .request_timeout_ms = 5000,
                                           .stall_ms = 5000,
                                           .page = 2};

static void begin_with(struct world *w, http_script *script, const struct client_policy *policy,
                       struct client_config config)
{
    char url[64];
    struct err err;
    *w = (struct world){0};
    w->server = http_server_start(0, script, w);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", http_server_port(w->server));
    config.server = span_of(url);
    config.source = SPAN("test");
    if (!client_new(&config, policy, &w->client, &err))
        fail_msg("%s", err.msg);
}

static void begin(struct world *w, http_script *script, const struct client_policy *policy)
{
    begin_with(w, script, policy, (struct client_config){0});
}

static void end(struct world *w)
{
    client_free(w->client);
    if (w->server != NULL)
        http_server_stop(w->server);
    buf_release(&w->seen);
}

/* The watch's sink. */

static struct span name_in(struct doc_value object)
{
    struct doc_value metadata, name;
    if (!doc_find(object, SPAN("metadata"), &metadata) || !doc_find(metadata, SPAN("name"), &name))
        return SPAN("?");
    return doc_text(name);
}

static void on_list_begin(void *user, enum kind k)
{
    (void)k;
    buf_addf(&((struct world *)user)->seen, "[ ");
}

static void on_list_end(void *user, enum kind k, bool asked)
{
    (void)k;
    buf_addf(&((struct world *)user)->seen, asked ? "]! " : "] ");
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    (void)k;
    buf_addf(&((struct world *)user)->seen, "%c%.*s ", e == WATCH_PUT ? '+' : '-',
             SPAN_ARG(name_in(object)));
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    struct world *w = user;
    (void)k;
    if (broken == NULL)
        buf_addf(&w->seen, "works ");
    else
        buf_addf(&w->seen, "%s%s%s ", w->tells_why ? broken->msg : "", w->tells_why ? ": " : "", err_kind_name(broken->kind));
}

static void watch(struct world *w, enum kind k)
{
    struct api *api = client_api(w->client);
    api->ops->watch(api, k,
                    &(struct api_sink){.user = w,
                                       .list_begin = on_list_begin,
                                       .list_end = on_list_end,
                                       .event = on_event,
                                       .state = on_state});
}

static bool has_seen(struct world *w, const char *text)
{
    return span_contains(buf_span(&w->seen), span_of(text));
}

static void until_seen(struct world *w, const char *text)
{
    for (int64_t deadline = now_ms() + 20000; !has_seen(w, text);) {
        client_poll(w->client, 1000);
        if (now_ms() > deadline)
            fail_msg("waited for \"%s\", seen: %.*s", text, SPAN_ARG(buf_span(&w->seen)));
    }
}

static void expect_seen(struct world *w, const char *text)
{
    until_seen(w, text);
    if (!span_eq(buf_span(&w->seen), span_of(text)))
        fail_msg("got  %.*s\nwant %s", SPAN_ARG(buf_span(&w->seen)), text);
}

/* Requests. */

static void copy_text(char *to, size_t size, struct span s)
{
    snprintf(to, size, "%.*s", SPAN_ARG(s));
}

static void on_result(void *user, const struct api_result *result)
{
    struct world *w = user;
    w->results++;
    w->last = *result;
    copy_text(w->reason, sizeof(w->reason), result->reason);
    copy_text(w->cause, sizeof(w->cause), result->cause);
    w->body_name[0] = '\0';
    if (result->body != NULL)
        copy_text(w->body_name, sizeof(w->body_name), name_in(doc_root(result->body)));
}

static uint64_t send(struct world *w, enum api_verb verb, enum kind k, const char *body)
{
    return api_send(client_api(w->client),
                    &(struct api_request){.verb = verb,
                                          .kind = k,
                                          .ns = k == KIND_POD || k == KIND_LEASE ? SPAN("web")
                                                                                 : (struct span){0},
                                          .name = SPAN("x"),
                                          .body = span_of(body),
                                          .is_act = k != KIND_LEASE},
                    on_result, w);
}

static void until_results(struct world *w, int n)
{
    for (int64_t deadline = now_ms() + 20000; w->results < n;) {
        client_poll(w->client, 1000);
        if (now_ms() > deadline)
            fail_msg("waited for %d results, have %d", n, w->results);
    }
}

static uint64_t count_of(struct world *w, const char *method, int code)
{
    struct client_count counts[64];
    size_t n = client_counts(w->client, counts, COUNT_OF(counts));
    for (size_t i = 0; i < n; i++)
        if (strcmp(counts[i].method, method) == 0 && counts[i].code == code)
            return counts[i].count;
    return 0;
}

/* Lists and watches. */

#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\"}}"
/* For http_reply_list. */
#define LIST(version, cont, items)                                                                 \
    "\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" cont "\"},\"items\":[" items "]}"
#define EVENT(type, name, version)                                                                 \
    "{\"type\":\"" type "\",\"object\":{\"metadata\":{\"name\":\"" name                            \
    "\",\"resourceVersion\":\"" version "\"}}}\n"
#define GONE                                                                                       \
    "{\"kind\":\"Status\",\"message\":\"too old resource "                                         \
    "version\",\"reason\":\"Expired\",\"code\":410}"

static bool asks(const struct http_exchange *x, const char *part)
{
    return strstr(x->target, part) != NULL;
}

static void pages_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true")) {
        bool good =
            http_has_header(x, "Accept: application/json") && asks(x, "/api/v1/nodes?limit=2");
        if (!good)
            http_reply(x, 400, "", "");
        else if (!asks(x, "continue="))
            http_reply_list(x, LIST("50", "t/1", ITEM("a") "," ITEM("b")));
        else if (asks(x, "continue=t%2F1"))
            http_reply_list(x, LIST("50", "", ITEM("c")));
        return;
    }
    if (asks(x, "resourceVersion=50")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "d", "51") EVENT("MODIFIED", "a", "52"));
        http_send(x, "{\"type\":\"DELETED\",\"obje"); /* chunks are not lines */
        http_send(x, "ct\":{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"53\"}}}\n");
        http_send(x, EVENT("BOOKMARK", "", "60"));
        http_end(x);
    } else if (asks(x, "resourceVersion=60")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "e", "61"));
        http_hang(x);
    } else {
        http_reply(x, 400, "", "");
    }
}

static void test_a_list_in_pages_then_its_events(void **state)
{
    (void)state;
    struct world w;
    begin(&w, pages_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a +b +c ] +d +a -b +e ");
    assert_int_equal(client_load(w.client).listed[KIND_NODE], 1);
    assert_int_equal(client_load(w.client).resumed[KIND_NODE], 1);
    end(&w);
}

static void relist_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (asks(x, "watch=true")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "seen", "51"));
        http_hang(x);
    } else if (!asks(x, "/api/v1/nodes?limit=2")) {
        http_reply(x, 400, "", "");
    } else if (!asks(x, "continue=")) {
        http_reply_list(x, LIST("50", "t/1", ITEM("a") "," ITEM("b")));
    } else {
        http_reply_list(x, LIST("50", "", ITEM("c")));
    }
}

/* In pages, as every list of a watch, however large they are together; and nobody is told of a fault. */
static void test_a_list_that_is_doubted_is_read_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, relist_script, &quick);
    struct api *api = client_api(w.client);
    api->ops->relist(api, KIND_NODE); /* nobody watches yet: nothing */
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a +b +c ] +seen ");
    api->ops->relist(api, KIND_NODE);
    expect_seen(&w, "[ +a +b +c ] +seen [ +a +b +c ]! +seen ");
    assert_int_equal(client_load(w.client).listed[KIND_NODE], 2);
    end(&w);
}

static void doubted_before_it_streams_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (asks(x, "watch=true"))
        http_reply(x, x->number == 1 ? 500 : 403, "", "");
    else
        http_reply_list(x, LIST("50", "", ITEM("a")));
}

static void test_a_watch_that_waits_lists_instead(void **state)
{
    (void)state;
    struct world w;
    begin(&w, doubted_before_it_streams_script, &quick);
    struct api *api = client_api(w.client);
    watch(&w, KIND_NODE);
    until_seen(&w, "[ +a ] retry ");
    api->ops->relist(api, KIND_NODE);
    until_seen(&w, "[ +a ] retry [ +a ]! ");
    end(&w);
}

/* Each item is named after the connection on which its page came. */
static void connections_script(void *user, struct http_exchange *x)
{
    (void)user;
    char members[256];
    if (asks(x, "watch=true")) {
        http_begin(x);
        snprintf(members, sizeof(members), "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"w%d\",\"resourceVersion\":\"51\"}}}\n",
                 x->connection);
        http_send(x, members);
        http_hang(x);
    } else if (asks(x, "limit=")) {
        snprintf(members, sizeof(members), "\"metadata\":{\"resourceVersion\":\"50\",\"continue\":\"%s\"},\"items\":[{\"metadata\":{\"name\":\"c%d\"}}]}",
                 asks(x, "continue=") ? "" : "t", x->connection);
        http_reply_list(x, members);
    } else {
        http_reply(x, 200, "", ITEM("x"));
    }
}

/* What answered wrongly may be behind any connection that is there: one is idle here. */
static void test_a_doubted_list_is_read_on_new_connections(void **state)
{
    (void)state;
    struct world w;
    begin(&w, connections_script, &quick);
    struct api *api = client_api(w.client);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +c0 +c0 ] +w0 ");
    send(&w, API_GET, KIND_NODE, "");
    until_results(&w, 1);
    api->ops->relist(api, KIND_NODE);
    expect_seen(&w, "[ +c0 +c0 ] +w0 [ +c2 +c3 ]! +w4 ");
    end(&w);
}

static void doubted_while_it_lists_script(void *user, struct http_exchange *x)
{
    struct world *w = user;
    if (asks(x, "watch=true")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "seen", "51"));
        http_hang(x);
    } else if (asks(x, "continue=") && x->connection == 0) {
        struct api *api = client_api(w->client);
        api->ops->relist(api, KIND_NODE);
        http_hang(x);
    } else {
        http_reply_list(x, asks(x, "continue=") ? LIST("50", "", ITEM("b")) : LIST("50", "t", ITEM("a")));
    }
}

/* The list that was under way confirms nothing. */
static void test_a_list_under_way_is_given_up_for_one_that_is_asked_for(void **state)
{
    (void)state;
    struct world w;
    begin(&w, doubted_while_it_lists_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a [ +a +b ]! +seen ");
    end(&w);
}

static void gone_status_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true"))
        http_reply_list(x, x->number == 0 ? LIST("5", "", ITEM("a")) : LIST("9", "", ITEM("b")));
    else if (asks(x, "resourceVersion=5"))
        http_reply(x, 410, "", GONE);
    else {
        http_begin(x);
        http_send(x, EVENT("ADDED", "c", "10"));
        http_hang(x);
    }
}

static void test_410_as_a_status_lists_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, gone_status_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a ] gone [ +b ] works +c ");
    end(&w);
}

static void gone_event_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true"))
        http_reply_list(x, x->number == 0 ? LIST("5", "", ITEM("a")) : LIST("9", "", ITEM("b")));
    else if (asks(x, "resourceVersion=5")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "n", "6") "{\"type\":\"ERROR\",\"object\":" GONE "}\n");
        http_end(x);
    } else {
        http_begin(x);
        http_send(x, EVENT("ADDED", "c", "10"));
        http_hang(x);
    }
}

static void test_410_as_an_event_lists_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, gone_event_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a ] +n gone [ +b ] works +c ");
    end(&w);
}

static void gone_page_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (asks(x, "watch=true")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "c", "10"));
        http_hang(x);
    } else if (asks(x, "continue=t"))
        http_reply(x, 410, "", GONE);
    else
        http_reply_list(x, x->number == 0 ? LIST("5", "t", ITEM("a")) : LIST("9", "", ITEM("b")));
}

static void test_an_expired_continue_begins_the_list_anew(void **state)
{
    (void)state;
    struct world w;
    begin(&w, gone_page_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a gone [ +b ] works +c ");
    end(&w);
}

static void truncated_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true")) {
        http_reply_list(x, LIST("5", "", ITEM("a")));
    } else if (asks(x, "resourceVersion=5")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "b", "6") "{\"type\":\"ADDED\",\"object\":{\"meta");
        x->close = true; /* in the middle of an event */
    } else if (asks(x, "resourceVersion=6")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "c", "7"));
        http_hang(x);
    }
}

static void test_a_truncated_stream_resumes_where_it_was(void **state)
{
    (void)state;
    struct world w;
    begin(&w, truncated_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a ] +b retry works +c ");
    end(&w);
}

static void short_lived_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true")) {
        http_reply_list(x, LIST("5", "", ITEM("a")));
        return;
    }
    http_begin(x);
    if (x->number < 6)
        x->close = true; /* nothing but the headers */
    else
        http_hang(x);
}

/* How long a watch has been broken is what stops removals: an answer that brings nothing is no repair. */
static void test_headers_alone_do_not_repair_a_stream(void **state)
{
    (void)state;
    struct world w;
    begin(&w, short_lived_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "[ +a ] retry retry retry retry retry works ");
    end(&w);
}

static void nonsense_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true")) {
        static const char *const replies[] = {"<html>", "{\"items\":[]}"};
        if (x->number < 2)
            http_reply(x, 200, "", replies[x->number]);
        else
            http_reply_list(x, LIST("5", "", ITEM("a")));
    } else if (x->number == 3) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "b", "6") "nonsense\n" EVENT("ADDED", "c", "7"));
        http_hang(x);
    } else {
        http_begin(x);
        if (asks(x, "resourceVersion=6"))
            http_send(x, EVENT("ADDED", "c", "7"));
        http_hang(x);
    }
}

static void test_nonsense_is_asked_for_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, nonsense_script, &quick);
    watch(&w, KIND_NODE);
    expect_seen(&w, "retry retry [ +a ] works +b retry works +c ");
    end(&w);
}

/* Replies of 200 that are no list of Nodes. */
static const struct {
    const char *body, *says;
} no_lists[] = {
    {"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"}}", "the NodeList has no items"},
    {"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":null}", "items of the NodeList: null is not a list"},
    {"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":\"\"}",
     "items of the NodeList: a string is not a list"},
    {"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":{}}",
     "items of the NodeList: an object is not a list"},
    {"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}",
     "the reply is \"PodList\" of \"v1\", not NodeList of v1"},
    {"{\"kind\":\"NodeList\",\"apiVersion\":\"v2\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}",
     "the reply is \"NodeList\" of \"v2\", not NodeList of v1"},
    {"{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}",
     "the reply is \"Node\" of \"v1\", not NodeList of v1"},
    {"{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}", "the reply is \"\" of \"\", not NodeList of v1"},
    {"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[]}", "the NodeList has no metadata"},
};

static void no_list_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (asks(x, "watch=true") && x->number == 1) {
        http_reply(x, 410, "", GONE);
    } else if (asks(x, "watch=true")) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "b", "6"));
        http_hang(x);
    } else if (x->number >= 2 && (size_t)x->number - 2 < COUNT_OF(no_lists)) {
        http_reply(x, 200, "", no_lists[x->number - 2].body);
    } else {
        http_reply_list(x, LIST("5", "", ITEM("a")));
    }
}

static void test_a_list_without_an_array_of_items_has_failed(void **state)
{
    (void)state;
    struct world w;
    begin(&w, no_list_script, &quick);
    w.tells_why = true;
    watch(&w, KIND_NODE);
    struct buf want = {0};
    buf_addf(&want, "[ +a ] too old resource version: gone ");
    for (size_t i = 0; i < COUNT_OF(no_lists); i++)
        buf_addf(&want, "%s: retry ", no_lists[i].says);
    buf_addf(&want, "[ +a ] works +b ");
    char *text = strndup(want.ptr, want.len);
    expect_seen(&w, text);
    free(text);
    buf_release(&want);
    end(&w);
}

static void stall_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (!asks(x, "watch=true")) {
        http_reply_list(x, LIST("5", "", ITEM("a")));
        return;
    }
    http_begin(x);
    if (x->connection != 0)
        http_send(x, EVENT("ADDED", "b", "6"));
    http_hang(x);
}

static void test_a_silent_stream_is_given_up(void **state)
{
    (void)state;
    struct client_policy policy = quick;
    policy.stall_ms = 2000; /* more than a busy machine takes to answer */
    struct world w;
    begin(&w, stall_script, &policy);
    watch(&w, KIND_NODE);
    until_seen(&w, "[ +a ] retry works +b ");
    end(&w);
}

static void test_a_server_that_comes_back(void **state)
{
    (void)state;
    struct world w;
    begin(&w, pages_script, &quick);
    int port = http_server_port(w.server);
    http_server_stop(w.server);
    w.server = NULL;
    watch(&w, KIND_NODE);
    until_seen(&w, "retry retry retry ");
    w.server = http_server_start(port, pages_script, &w);
    assert_non_null(w.server);
    until_seen(&w, "[ +a +b +c ] works +d +a -b +e ");
    end(&w);
}

static void forbidden_script(void *user, struct http_exchange *x)
{
    (void)user;
    http_reply(x, 403, "",
               "{\"kind\":\"Status\",\"message\":\"pods is forbidden\",\"reason\":\"Forbidden\"}");
}

static void test_a_watch_that_is_not_allowed_says_so(void **state)
{
    (void)state;
    struct world w;
    begin(&w, forbidden_script, &quick);
    watch(&w, KIND_POD);
    until_seen(&w, "forbidden ");
    end(&w);
}

/* Its definition is installed late, and taken away again. */
static void absent_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (x->number == 3) {
        http_reply_list(x, LIST("5", "", ITEM("a")));
    } else if (x->number == 4) {
        http_begin(x);
        http_send(x, EVENT("ADDED", "b", "6"));
        http_end(x);
    } else {
        http_reply(x, 404, "Content-Type: text/plain\r\n", "404 page not found\n");
    }
}

static void test_a_kind_that_the_cluster_lacks_is_empty(void **state)
{
    (void)state;
    static const enum kind optional[] = {KIND_NODE_OVERLAY, KIND_CAPACITY_BUFFER, KIND_PROVISIONING_REQUEST, KIND_CAPACITY_QUOTA};
    for (size_t i = 0; i < COUNT_OF(optional); i++) {
        struct world w;
        begin(&w, absent_script, &quick);
        watch(&w, optional[i]);
        expect_seen(&w, "[ ] ");
        assert_true(client_load(w.client).absent[optional[i]]);
        until_seen(&w, "[ ] [ +a ] ");
        assert_false(client_load(w.client).absent[optional[i]]);
        expect_seen(&w, "[ ] [ +a ] +b [ ] ");
        assert_true(client_load(w.client).absent[optional[i]]);
        while (http_server_requests(w.server) < 9) /* and is asked for again */
            client_poll(w.client, 1000);
        expect_seen(&w, "[ ] [ +a ] +b [ ] ");
        client_api(w.client)->ops->relist(client_api(w.client), optional[i]);
        expect_seen(&w, "[ ] [ +a ] +b [ ] [ ]! "); /* who doubts that is answered, too */
        end(&w);
    }
}

static void test_a_kind_that_has_to_be_there_is_not_empty(void **state)
{
    (void)state;
    struct world w;
    begin(&w, absent_script, &quick);
    watch(&w, KIND_NODE_POOL);
    until_seen(&w, "not-found not-found [ +a ] ");
    assert_false(has_seen(&w, "[ ] "));
    end(&w);
}

/* It has the older version alone; then, after an upgrade, the newer alone; and neither, when all is taken away. */
enum { HAS_OLDER, HAS_NEWER, HAS_NONE };
static _Atomic(int) has;

static void older_script(void *user, struct http_exchange *x)
{
    (void)user;
    bool older = strstr(x->target, "/v1beta1/") != NULL;
    if (has != (older ? HAS_OLDER : HAS_NEWER)) {
        http_reply(x, 404, "Content-Type: text/plain\r\n", "404 page not found\n");
    } else if (strcmp(x->method, "PATCH") == 0) {
        http_reply(x, 200, "", ITEM("patched"));
    } else if (strstr(x->target, "watch=true") == NULL) {
        http_reply_list(x, older ? LIST("5", "", ITEM("a")) : LIST("9", "", ITEM("b")));
    } else {
        http_begin(x);
        http_send(x, older ? EVENT("ADDED", "c", "6") : EVENT("ADDED", "d", "10"));
        http_end(x);
    }
}

static void test_the_older_version_of_a_kind_will_do(void **state)
{
    (void)state;
    struct world w;
    has = HAS_OLDER;
    begin(&w, older_script, &quick);
    watch(&w, KIND_MACHINE);
    until_seen(&w, "[ +a ] +c ");
    send(&w, API_MERGE, KIND_MACHINE, "{}"); /* goes where the watch is */
    until_results(&w, 1);
    assert_string_equal(w.body_name, "patched");
    has = HAS_NEWER;
    until_seen(&w, "[ +b ] +d ");
    assert_false(has_seen(&w, "[ ] ")); /* no moment without any */
    send(&w, API_MERGE, KIND_MACHINE, "{}");
    until_results(&w, 2);
    assert_string_equal(w.body_name, "patched");
    has = HAS_NONE;
    until_seen(&w, "[ ] ");
    assert_true(client_load(w.client).absent[KIND_MACHINE]);
    end(&w);
}

/* A cluster with node groups alone has none; but pools that were there do not go with their definition. */
static void test_pools_may_be_missing_at_first(void **state)
{
    (void)state;
    struct client_policy policy = quick;
    struct world w;
    policy.pools_optional = true;
    begin(&w, absent_script, &policy);
    watch(&w, KIND_NODE_POOL);
    expect_seen(&w, "[ ] ");
    until_seen(&w, "[ ] [ +a ] +b not-found ");
    while (http_server_requests(w.server) < 9)
        client_poll(w.client, 1000);
    assert_false(has_seen(&w, "+b [ ] "));
    end(&w);
}

/* Requests. */

static void echo_script(void *user, struct http_exchange *x)
{
    (void)user;
    char body[1024];
    if (strcmp(x->method, "PATCH") == 0 &&
        asks(x, "/apis/karpenter.sh/v1/nodeclaims/x?fieldManager=stowage") &&
        http_has_header(x, "Content-Type: application/merge-patch+json") &&
        strcmp(x->body, "{\"a\":1}") == 0)
        snprintf(body, sizeof(body), ITEM("%s"), "merged");
    else if (strcmp(x->method, "POST") == 0 &&
             http_has_header(x, "Content-Type: application/json") && !strstr(x->head, "Expect:") &&
             x->body_len > 1000000)
        snprintf(body, sizeof(body), ITEM("%s"), "large");
    else if (strcmp(x->method, "DELETE") == 0 && x->body_len == 0 &&
             !strstr(x->head, "Content-Type"))
        snprintf(body, sizeof(body), ITEM("%s"), "deleted");
    else if (strcmp(x->method, "PUT") == 0)
        snprintf(body, sizeof(body), ITEM("%s"), "put");
    else
        snprintf(body, sizeof(body), ITEM("%s"), x->method);
    http_reply(x, 200, "", body);
}

static void test_requests_arrive_as_they_should(void **state)
{
    (void)state;
    struct world w;
    begin(&w, echo_script, &quick);
    send(&w, API_MERGE, KIND_NODE_CLAIM, "{\"a\":1}");
    until_results(&w, 1);
    assert_string_equal(w.body_name, "merged");
    assert_int_equal(w.last.status, 200);
    assert_int_equal(w.last.err.kind, ERR_NONE);
    assert_int_equal(w.last.retry_after_s, -1);
    char *large = calloc(1, 1500001);
    memset(large, ' ', 1500000);
    send(&w, API_CREATE, KIND_NODE, large);
    free(large); /* copied */
    until_results(&w, 2);
    assert_string_equal(w.body_name, "large");
    send(&w, API_DELETE, KIND_NODE, "");
    until_results(&w, 3);
    assert_string_equal(w.body_name, "deleted");
    send(&w, API_UPDATE, KIND_NODE, "{}");
    until_results(&w, 4);
    assert_string_equal(w.body_name, "put");
    send(&w, API_GET, KIND_NODE, "");
    until_results(&w, 5);
    assert_string_equal(w.body_name, "GET");
    assert_int_equal(count_of(&w, "PATCH", 200), 1);
    assert_int_equal(count_of(&w, "DELETE", 200), 1);
    end(&w);
}

static void busy_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (x->number == 0)
        http_reply(x, 429, "Retry-After: 1\r\n", "Too many requests, please try again later.");
    else
        http_reply(x, 201, "", ITEM("created"));
}

static void test_429_with_retry_after_is_sent_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, busy_script, &quick);
    int64_t before = now_ms();
    send(&w, API_CREATE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(w.last.status, 201);
    assert_true(now_ms() - before >= 1000);
    assert_int_equal(http_server_requests(w.server), 2);
    end(&w);
}

/* Answers that go to the caller as they are: one request each. */
static const struct answer {
    const char *label;
    enum api_verb verb;
    int status;
    const char *headers, *body;
    enum err_kind kind;
    const char *reason, *cause;
    int32_t retry_after_s;
} answers[] = {
    {"429 without Retry-After", API_CREATE, 429, "", "Too many requests", ERR_RETRY, "", "", -1},
    {"500 without Retry-After", API_MERGE, 500, "",
     "{\"kind\":\"Status\",\"reason\":\"InternalError\"}", ERR_RETRY, "InternalError", "", -1},
    {"already there", API_CREATE, 409, "", "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}",
     ERR_CONFLICT, "AlreadyExists", "", -1},
    {"an eviction that a budget refuses", API_EVICT, 429, "",
     "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":[{\"reason\":"
     "\"DisruptionBudget\"}]}}",
     ERR_RETRY, "TooManyRequests", "DisruptionBudget", -1},
    {"an eviction that comes too early", API_EVICT, 429, "Retry-After: 10\r\n",
     "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":[{\"reason\":"
     "\"DisruptionBudget\"}]}}",
     ERR_RETRY, "TooManyRequests", "DisruptionBudget", 10},
    {"an eviction with two budgets", API_EVICT, 500, "", "{\"kind\":\"Status\",\"message\":\"m\"}",
     ERR_RETRY, "", "", -1},
    {"gone", API_DELETE, 404, "", "{\"kind\":\"Status\",\"reason\":\"NotFound\"}", ERR_NOT_FOUND,
     "NotFound", "", -1},
    {"not JSON to a read", API_GET, 200, "", "<html>", ERR_RETRY, "", "", -1},
};

static void answer_script(void *user, struct http_exchange *x)
{
    (void)user;
    const struct answer *a = &answers[x->number];
    http_reply(x, a->status, a->headers, a->body);
}

static void test_answers_that_are_the_callers(void **state)
{
    (void)state;
    struct world w;
    begin(&w, answer_script, &quick);
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        const struct answer *a = &answers[i];
        send(&w, a->verb, KIND_POD, "{}");
        until_results(&w, (int)i + 1);
        if (w.last.status != a->status || w.last.err.kind != a->kind ||
            w.last.retry_after_s != a->retry_after_s || strcmp(w.reason, a->reason) != 0 ||
            strcmp(w.cause, a->cause) != 0)
            fail_msg("%s: %d %s %s %s %d", a->label, w.last.status, err_kind_name(w.last.err.kind),
                     w.reason, w.cause, w.last.retry_after_s);
        if (http_server_requests(w.server) != (int)i + 1)
            fail_msg("%s: sent again", a->label);
    }
    end(&w);
}

static void lost_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (x->number == 1) /* taken in, not answered, on a connection that worked before */
        x->close = true;
    else
        http_reply(x, 200, "", ITEM("ok"));
}

static void test_a_write_whose_reply_was_lost_is_not_sent_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, lost_script, &quick);
    send(&w, API_CREATE, KIND_NODE, "{}");
    until_results(&w, 1);
    send(&w, API_CREATE, KIND_NODE, "{}");
    until_results(&w, 2);
    assert_int_equal(w.last.status, 0);
    assert_int_equal(w.last.err.kind, ERR_RETRY);
    assert_int_equal(http_server_requests(w.server), 2);
    assert_int_equal(count_of(&w, "POST", 0), 1);
    end(&w);
}

static void test_a_read_whose_reply_was_lost_is_sent_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, lost_script, &quick);
    send(&w, API_GET, KIND_NODE, "");
    until_results(&w, 1);
    send(&w, API_GET, KIND_NODE, "");
    until_results(&w, 2);
    assert_int_equal(w.last.status, 200);
    assert_int_equal(http_server_requests(w.server), 3);
    end(&w);
}

static void slow_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (x->connection == 0)
        http_hang(x); /* accepts and never answers */
    else
        http_reply(x, 200, "", ITEM("ok"));
}

static void test_a_server_that_never_answers_costs_one_timeout(void **state)
{
    (void)state;
    struct client_policy policy = quick;
    policy.request_timeout_ms = 2000; /* likewise */
    struct world w;
    begin(&w, slow_script, &policy);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(w.last.status, 0);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 2);
    assert_int_equal(w.last.status, 200);
    end(&w);
}

static const struct client_policy one_a_day = {.rate = 0.00001, .burst = 1};

static void test_what_waits_can_be_cancelled_and_leases_pass(void **state)
{
    (void)state;
    struct world w;
    begin(&w, echo_script, &one_a_day);
    struct api *api = client_api(w.client);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    uint64_t second = send(&w, API_MERGE, KIND_NODE, "{}");
    send(&w, API_MERGE, KIND_NODE, "{}");
    send(&w, API_GET, KIND_LEASE, ""); /* not held up by the others */
    until_results(&w, 2);
    assert_int_equal(w.last.status, 200);
    assert_int_equal(client_load(w.client).waiting, 2);
    api->ops->cancel(api, second);
    until_results(&w, 3);
    assert_int_equal(w.last.err.kind, ERR_CANCELLED);
    api->ops->cancel_acts(api);
    until_results(&w, 4);
    assert_int_equal(w.last.err.kind, ERR_CANCELLED);
    assert_int_equal(http_server_requests(w.server), 2);
    end(&w);
}

static void test_what_is_sent_after_cancel_acts_is_not_cancelled(void **state)
{
    (void)state;
    struct world w;
    begin(&w, echo_script, &quick);
    struct api *api = client_api(w.client);
    send(&w, API_MERGE, KIND_NODE, "{}");
    api->ops->cancel_acts(api);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 2);
    assert_int_equal(w.last.status, 200);
    assert_int_equal(http_server_requests(w.server), 1);
    end(&w);
}

static mono_ms acts_until(void *user)
{
    return *(const mono_ms *)user;
}

/* Requests that were handed over just before the process was stopped for a minute (SIGSTOP, a laptop's
 * lid) are still in line when it wakes up, and another replica leads by now. */
static void test_acts_are_not_sent_once_the_lease_has_run_out(void **state)
{
    (void)state;
    mono_ms until = now_ms() - 1;
    struct client_policy policy = quick;
    policy.acts_until = acts_until;
    policy.user = &until;
    struct world w;
    begin(&w, echo_script, &policy);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(w.last.err.kind, ERR_CANCELLED);
    assert_int_equal(http_server_requests(w.server), 0);
    send(&w, API_GET, KIND_LEASE, ""); /* is not an act */
    until_results(&w, 2);
    assert_int_equal(w.last.status, 200);
    until = now_ms() + 60000;
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 3);
    assert_int_equal(w.last.status, 200);
    end(&w);
}

static void mute_script(void *user, struct http_exchange *x)
{
    const char *told = strstr(x->target, "&timeout=");
    atomic_store(&((struct world *)user)->within_ms,
                 told != NULL ? strtol(told + strlen("&timeout="), NULL, 10) : 0);
    http_hang(x);
}

/* Whatever the API server does with it: when the Lease is over, nothing of ours is under way. The Lease
 * itself, and what is no act, have all the time that they are given. */
static void test_acts_end_with_the_lease(void **state)
{
    (void)state;
    mono_ms until = 0;
    struct client_policy policy = quick;
    policy.acts_until = acts_until;
    policy.user = &until;
    policy.acts_grace_ms = 300;
    policy.request_timeout_ms = 60000;
    struct world w;
    begin(&w, mute_script, &policy);
    until = now_ms() + 400;
    mono_ms over = until + 300;
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_true(now_ms() <= over + 10000); /* a busy machine; without the rule it is a minute */
    assert_int_equal(w.last.status, 0);
    assert_int_equal(w.last.err.kind, ERR_RETRY);
    assert_in_range(atomic_load(&w.within_ms), 1, 700); /* the API server, too, is to stop then */
    end(&w);
}

static void test_a_lease_that_is_long_cuts_nothing_short(void **state)
{
    (void)state;
    mono_ms until = INT64_MAX; /* nobody is elected */
    struct client_policy policy = quick;
    policy.acts_until = acts_until;
    policy.user = &until;
    policy.request_timeout_ms = 300;
    struct world w;
    begin(&w, mute_script, &policy);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(atomic_load(&w.within_ms), 0);
    until = now_ms() + 60000;
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 2); /* ended by its own time-out */
    assert_int_equal(atomic_load(&w.within_ms), 300);
    end(&w);
}

static void much_later_script(void *user, struct http_exchange *x)
{
    (void)user;
    http_reply(x, 503, "Retry-After: 2147483647\r\n", "");
}

static void test_retry_after_of_years_is_handed_back(void **state)
{
    (void)state;
    struct world w;
    begin(&w, much_later_script, &quick);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(w.last.status, 503);
    assert_int_equal(w.last.retry_after_s, 86400); /* a day is as good as ever */
    end(&w);
}

/* One eviction, one write and a watch, each refused once by a server that is busy; whatever comes before a
 * second is over comes too early. */
static void overload_script(void *user, struct http_exchange *x)
{
    struct world *w = user;
    int64_t since = atomic_load(&w->refused_at), now = now_ms();
    if (asks(x, "/leases/")) {
        http_reply(x, 200, "", ITEM("lease"));
        return;
    }
    if (since == 0) {
        atomic_store(&w->refused_at, now);
        http_reply(x, 429, "Retry-After: 1\r\n", "Too many requests, please try again later.");
        return;
    }
    if (now - since < 1000)
        atomic_fetch_add(&w->too_early, 1);
    if (asks(x, "watch=true"))
        http_hang(x);
    else if (asks(x, "limit="))
        http_reply_list(x, LIST("5", "", ITEM("a")));
    else
        http_reply(x, 201, "", ITEM("created"));
}

static void test_a_busy_server_is_left_alone_by_all(void **state)
{
    (void)state;
    struct world w;
    begin(&w, overload_script, &quick);
    send(&w, API_EVICT, KIND_POD, "{}");
    while (http_server_requests(w.server) < 1)
        client_poll(w.client, 10);
    client_poll(w.client, 100); /* the refusal has come, or comes at once: not more than one is sent */
    while (atomic_load(&w.refused_at) == 0 || client_load(w.client).running != 0)
        client_poll(w.client, 10);
    send(&w, API_MERGE, KIND_NODE, "{}");
    send(&w, API_GET, KIND_NODE, "");
    watch(&w, KIND_NODE);
    send(&w, API_GET, KIND_LEASE, ""); /* the only one that may not wait */
    until_results(&w, 1);
    assert_string_equal(w.body_name, "lease");
    until_results(&w, 4); /* the eviction as well: the server did nothing with it */
    assert_int_equal(w.last.err.kind, ERR_NONE);
    until_seen(&w, "[ +a ] ");
    assert_int_equal(atomic_load(&w.too_early), 0);
    end(&w);
}

static void refused_once_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (x->number == 0)
        http_reply(x, 429, "Retry-After: 1\r\n", "");
    else
        http_reply(x, 201, "", ITEM("created"));
}

static void test_after_that_it_is_asked_for_less_at_once(void **state)
{
    (void)state;
    struct world w;
    begin(&w, refused_once_script, &quick);
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(client_load(w.client).most, 32);
    for (int i = 0; i < 200; i++)
        send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 201);
    assert_in_range(client_load(w.client).most, 36, 40); /* one more a round: 32 + 33 + … */
    end(&w);
}

static void hang_script(void *user, struct http_exchange *x)
{
    (void)user;
    http_hang(x);
}

static void test_freeing_ends_everything(void **state)
{
    (void)state;
    struct world w;
    begin(&w, hang_script, &one_a_day);
    watch(&w, KIND_NODE);
    send(&w, API_MERGE, KIND_NODE, "{}");
    while (http_server_requests(w.server) < 2)
        client_poll(w.client, 10);
    send(&w, API_MERGE, KIND_NODE, "{}");
    client_poll(w.client, 0);
    send(&w, API_MERGE, KIND_NODE, "{}"); /* not even seen by the loop */
    client_free(w.client);
    w.client = NULL;
    assert_int_equal(w.results, 3);
    assert_int_equal(w.last.err.kind, ERR_CANCELLED);
    end(&w);
}

static void test_many_requests_keep_their_number(void **state)
{
    (void)state;
    struct world w;
    begin(&w, echo_script, &quick);
    for (int i = 0; i < 290; i++)
        send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 290);
    assert_int_equal(http_server_requests(w.server), 290);
    assert_int_equal(count_of(&w, "PATCH", 200), 290);
    assert_int_equal(client_load(w.client).running, 0);
    end(&w);
}

static void zip_script(void *user, struct http_exchange *x)
{
    (void)user;
    static const unsigned char zipped[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xab\x56\xca\x2c\x49\xcd\x2d\x56\xb2\x8a\xae\x56"
        "\xca\x4d\x2d\x49\x4c\x49\x2c\x49\x54\xb2\xaa\x56\xca\x4b\xcc\x4d\x55\xb2\x52\xaa\xca\x2c"
        "\x28\x48\x4d\x51\xaa\xad\x8d\xad\x05\x00\x66\x9f\x96\x93\x2a\x00\x00\x00";
    if (http_has_header(x, "Accept-Encoding: gzip"))
        http_reply_bytes(x, 200, "Content-Encoding: gzip\r\n", zipped, sizeof(zipped) - 1);
    else
        http_reply(x, 200, "", ITEM("plain"));
}

static void on_zipped(void *user, const struct api_result *result)
{
    struct world *w = user;
    struct doc_value items;
    w->results++;
    w->last = *result;
    assert_non_null(result->body);
    assert_true(doc_find(doc_root(result->body), SPAN("items"), &items));
    struct doc_iter it = doc_iter_of(items);
    assert_true(doc_next(&it));
    copy_text(w->body_name, sizeof(w->body_name), name_in(it.value));
}

static void test_zipped_lists_are_read(void **state)
{
    (void)state;
    struct world w;
    begin(&w, zip_script, &quick);
    api_send(client_api(w.client), &(struct api_request){.verb = API_LIST, .kind = KIND_NODE},
             on_zipped, &w);
    until_results(&w, 1);
    assert_string_equal(w.body_name, "zipped");
    end(&w);
}

/* Other threads. */

static void *send_many(void *user)
{
    struct world *w = user;
    struct api *api = client_api(w->client);
    for (int i = 0; i < 50; i++) {
        uint64_t id = send(w, API_MERGE, KIND_NODE, "{}");
        if (i % 5 == 0)
            api->ops->cancel(api, id);
        client_wakeup(w->client);
        client_load(w->client);
    }
    return NULL;
}

static void test_any_thread_may_send(void **state)
{
    (void)state;
    struct world w;
    pthread_t threads[4];
    begin(&w, echo_script, &quick);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, send_many, &w);
    until_results(&w, 4 * 50); /* each ends exactly once */
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    client_poll(w.client, 0);
    assert_int_equal(w.results, 4 * 50);
    end(&w);
}

/* Credentials. */

static void write_file(const char *path, const char *text)
{
    char next[128];
    snprintf(next, sizeof(next), "%s.next", path);
    FILE *f = fopen(next, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(rename(next, path), 0); /* as the kubelet swaps it */
}

static void token_script(void *user, struct http_exchange *x)
{
    (void)user;
    if (http_has_header(x, "Authorization: Bearer second"))
        http_reply(x, 200, "", ITEM("ok"));
    else
        http_reply(x, 401, "", "{\"kind\":\"Status\",\"reason\":\"Unauthorized\"}");
}

static void test_a_refused_token_is_read_again(void **state)
{
    (void)state;
    struct world w;
    char path[] = "/tmp/token-XXXXXX";
    close(mkstemp(path));
    write_file(path, "first\n");
    begin_with(&w, token_script, &quick, (struct client_config){.token_file = span_of(path)});
    write_file(path, "second\n"); /* within the second in which we do not look */
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(w.last.status, 200);
    assert_int_equal(http_server_requests(w.server), 2);
    end(&w);
    unlink(path);
}

static void test_a_token_that_stays_refused_is_an_error(void **state)
{
    (void)state;
    struct world w;
    begin_with(&w, token_script, &quick, (struct client_config){.token = SPAN("wrong")});
    send(&w, API_MERGE, KIND_NODE, "{}");
    until_results(&w, 1);
    assert_int_equal(w.last.status, 401);
    assert_int_equal(w.last.err.kind, ERR_FORBIDDEN);
    assert_int_equal(http_server_requests(w.server), 2);
    end(&w);
}

static void test_credentials_that_cannot_be_used_are_told_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        struct client_config config;
        const char *says;
    } rows[] = {
        {"no such file", {.token_file = SPAN_INIT("/nonexistent/token")}, "/nonexistent/token"},
        {"line break in a token", {.token = SPAN_INIT("a\nX-Evil: 1")}, "not a token"},
        {"no such CA", {.ca = {.file = SPAN_INIT("/nonexistent/ca.crt")}}, "/nonexistent/ca.crt"},
        {"not a URL", {.server = SPAN_INIT("https://[::1")}, "not a URL"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct client_config config = rows[i].config;
        struct client *client;
        struct err err;
        if (config.server.len == 0)
            config.server = SPAN("https://127.0.0.1:1");
        if (client_new(&config, NULL, &client, &err))
            fail_msg("%s: accepted", rows[i].label);
        if (strstr(err.msg, rows[i].says) == NULL)
            fail_msg("%s: %s", rows[i].label, err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_in_pages_then_its_events),
        cmocka_unit_test(test_a_list_that_is_doubted_is_read_again),
        cmocka_unit_test(test_a_doubted_list_is_read_on_new_connections),
        cmocka_unit_test(test_a_list_under_way_is_given_up_for_one_that_is_asked_for),
        cmocka_unit_test(test_a_watch_that_waits_lists_instead),
        cmocka_unit_test(test_410_as_a_status_lists_again),
        cmocka_unit_test(test_410_as_an_event_lists_again),
        cmocka_unit_test(test_an_expired_continue_begins_the_list_anew),
        cmocka_unit_test(test_a_truncated_stream_resumes_where_it_was),
        cmocka_unit_test(test_headers_alone_do_not_repair_a_stream),
        cmocka_unit_test(test_nonsense_is_asked_for_again),
        cmocka_unit_test(test_a_list_without_an_array_of_items_has_failed),
        cmocka_unit_test(test_a_silent_stream_is_given_up),
        cmocka_unit_test(test_a_server_that_comes_back),
        cmocka_unit_test(test_a_watch_that_is_not_allowed_says_so),
        cmocka_unit_test(test_a_kind_that_the_cluster_lacks_is_empty),
        cmocka_unit_test(test_the_older_version_of_a_kind_will_do),
        cmocka_unit_test(test_a_kind_that_has_to_be_there_is_not_empty),
        cmocka_unit_test(test_pools_may_be_missing_at_first),
        cmocka_unit_test(test_requests_arrive_as_they_should),
        cmocka_unit_test(test_429_with_retry_after_is_sent_again),
        cmocka_unit_test(test_answers_that_are_the_callers),
        cmocka_unit_test(test_a_write_whose_reply_was_lost_is_not_sent_again),
        cmocka_unit_test(test_a_read_whose_reply_was_lost_is_sent_again),
        cmocka_unit_test(test_a_server_that_never_answers_costs_one_timeout),
        cmocka_unit_test(test_what_waits_can_be_cancelled_and_leases_pass),
        cmocka_unit_test(test_what_is_sent_after_cancel_acts_is_not_cancelled),
        cmocka_unit_test(test_acts_are_not_sent_once_the_lease_has_run_out),
        cmocka_unit_test(test_acts_end_with_the_lease),
        cmocka_unit_test(test_a_lease_that_is_long_cuts_nothing_short),
        cmocka_unit_test(test_retry_after_of_years_is_handed_back),
        cmocka_unit_test(test_a_busy_server_is_left_alone_by_all),
        cmocka_unit_test(test_after_that_it_is_asked_for_less_at_once),
        cmocka_unit_test(test_freeing_ends_everything),
        cmocka_unit_test(test_many_requests_keep_their_number),
        cmocka_unit_test(test_any_thread_may_send),
        cmocka_unit_test(test_zipped_lists_are_read),
        cmocka_unit_test(test_a_refused_token_is_read_again),
        cmocka_unit_test(test_a_token_that_stays_refused_is_an_error),
        cmocka_unit_test(test_credentials_that_cannot_be_used_are_told_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
