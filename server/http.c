#include "server/http.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/arena.h"
#include "base/safe_text.h"

const char *http_listener_name(enum http_listener l)
{
    static const char *const names[] = {"webhook", "extender", "metrics", "probes", "page"};
    _Static_assert(COUNT_OF(names) == HTTP_LISTENER_COUNT, "a name for each listener");
    return names[l];
}

const char *http_listener_flag(enum http_listener l)
{
    static const char *const flags[] = {"--webhook-listen", "--extender-listen", "--metrics-port",
                                        "--health-probe-port", "--page-listen"};
    _Static_assert(COUNT_OF(flags) == HTTP_LISTENER_COUNT, "a flag for each listener");
    return flags[l];
}

void http_table_add(struct http_table *t, const struct http_route *route)
{
    assert(t->count < HTTP_ROUTES_MAX);
    assert((route->handler == NULL) != (route->feed == NULL));
    t->items[t->count++] = *route;
}

static bool path_matches(struct span pattern, struct span path)
{
    if (!span_has_suffix(pattern, SPAN("*")))
        return span_eq(pattern, path);
    return span_has_prefix(path, (struct span){pattern.ptr, pattern.len - 1});
}

static bool method_matches(const char *of_route, struct span method)
{
    return span_eq(span_of(of_route), method) ||
           (strcmp(of_route, "GET") == 0 && span_eq(method, SPAN("HEAD")));
}

/* Absent counts as JSON: only what says that it is something else is refused. */
static bool is_json(struct span content_type)
{
    struct span rest;
    struct span type = span_cut(content_type, ';', &rest);
    while (type.len > 0 && type.ptr[type.len - 1] == ' ')
        type.len--;
    return content_type.len == 0 || span_eq(type, SPAN("application/json"));
}

const struct http_route *http_find(const struct http_table *t, const struct http_request *q,
                                   struct http_reply *r)
{
    const char *allow = NULL;
    const struct http_guard *guard = &t->guards[q->listener];
    if (guard->admits != NULL && !guard->admits(guard->user, q, r))
        return NULL;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct http_route *route = &t->items[i];
        if (route->listener != q->listener || !path_matches(span_of(route->path), q->path))
            continue;
        if (!method_matches(route->method, q->method)) {
            allow = route->method;
            continue;
        }
        if (strcmp(route->method, "POST") == 0 && !is_json(q->content_type)) {
            http_reply_text(r, 415, "%.*s takes application/json, not %.*s", SPAN_ARG(q->path),
                            SPAN_ARG(q->content_type));
            return NULL;
        }
        return route;
    }
    if (allow != NULL) {
        http_reply_text(r, 405, "%.*s takes %s, not %.*s", SPAN_ARG(q->path), allow,
                        SPAN_ARG(q->method));
        r->allow = allow;
    } else {
        http_reply_text(r, 404, "the %s listener has nothing at %.*s",
                        http_listener_name(q->listener), SPAN_ARG(q->path));
    }
    return NULL;
}

void http_run(const struct http_route *route, void *scratch, const struct http_request *q,
              struct http_reply *r)
{
    assert(route->handler != NULL);
    route->handler(route->user, scratch, q, r);
    if (r->body.overflow)
        http_reply_text(r, 500, "the answer would be larger than %zu bytes", r->body.max);
}

void http_reply_text(struct http_reply *r, int status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    r->status = status;
    r->content_type = "text/plain; charset=utf-8";
    buf_clear(&r->body);
    safe_line_add(&r->body, (struct span){text, len});
    buf_add_char(&r->body, '\n');
}

/* --- the head of a request --- */

struct head_counts { /* lines of these names */
    uint32_t host, content_length, transfer_encoding;
};

/* Up to the line break, which is LF with or without CR, as h2o reads it. */
static struct span next_line(struct span *rest)
{
    struct span line = span_cut(*rest, '\n', rest);
    if (line.len != 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

static bool is_named(struct span line, const char *name)
{
    size_t len = strlen(name);
    return line.len > len && line.ptr[len] == ':' && strncasecmp(line.ptr, name, len) == 0;
}

static bool refuse_head(struct http_reply *r, const char *what)
{
    http_reply_text(r, 400, "%s", what);
    r->last = true;
    return false;
}

bool http_head_is_sound(struct span bytes, struct http_reply *r)
{
    struct head_counts n = {0};
    struct span first = next_line(&bytes);
    if (first.len == 0) /* RFC 9112 2.2: one empty line before a request is passed over */
        first = next_line(&bytes);
    for (struct span line; (line = next_line(&bytes)).len != 0;) {
        if (*line.ptr == ' ' || *line.ptr == '\t')
            return refuse_head(r, "a header of the request goes on in a second line (RFC 9112 5.2)");
        n.host += is_named(line, "host");
        n.content_length += is_named(line, "content-length");
        n.transfer_encoding += is_named(line, "transfer-encoding");
    }
    bool is_old = span_has_suffix(first, SPAN("HTTP/1.0"));
    if (n.host > 1)
        return refuse_head(r, "the request has more than one Host header");
    if (n.host == 0 && !is_old)
        return refuse_head(r, "the request has no Host header");
    if (n.content_length + n.transfer_encoding > 1)
        return refuse_head(r, "the request has more than one Content-Length or Transfer-Encoding header");
    if (n.transfer_encoding != 0 && is_old)
        return refuse_head(r, "the request is of HTTP/1.0, which has no Transfer-Encoding");
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct span percent_decode(struct arena *a, struct span s)
{
    char *out = arena_alloc(a, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        int high = s.ptr[i] == '%' && i + 2 < s.len ? hex_digit(s.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s.ptr[i + 2]) : -1;
        if (low >= 0) {
            out[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[n++] = s.ptr[i] == '+' ? ' ' : s.ptr[i];
        }
    }
    return (struct span){out, n};
}

struct span http_query(struct arena *a, struct span query, const char *name)
{
    while (query.len > 0) {
        struct span rest, value;
        struct span pair = span_cut(query, '&', &rest);
        struct span key = span_cut(pair, '=', &value);
        if (span_eq(key, span_of(name)))
            return percent_decode(a, value.ptr != NULL ? value : SPAN(""));
        query = rest;
    }
    return (struct span){NULL, 0};
}
