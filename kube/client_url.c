#include "kube/client_url.h"

#include "kube/meta.h"

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void url_encode(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is_unreserved(s.ptr[i]))
            buf_add_char(out, s.ptr[i]);
        else
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)s.ptr[i]);
}

static struct span collection(struct arena *a, struct span server, enum kind k, bool older)
{
    struct span path = api_path(a, &(struct api_request){.verb = API_LIST, .kind = k, .older = older});
    return arena_printf(a, "%.*s%.*s", SPAN_ARG(server), SPAN_ARG(path));
}

static struct span with_value(struct arena *a, struct span url, struct span value)
{
    struct buf b = {0};
    buf_add(&b, url);
    url_encode(&b, value);
    struct span out = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return out;
}

struct span url_list(struct arena *a, struct span server, enum kind k, bool older, uint32_t limit,
                     struct span cont)
{
    struct span url = arena_printf(a, "%.*s?limit=%u", SPAN_ARG(collection(a, server, k, older)), limit);
    if (cont.len == 0)
        return url;
    return with_value(a, arena_printf(a, "%.*s&continue=", SPAN_ARG(url)), cont);
}

struct span url_watch(struct arena *a, struct span server, enum kind k, bool older, struct span version,
                      int timeout_s)
{
    struct span url = arena_printf(
        a, "%.*s?watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=",
        SPAN_ARG(collection(a, server, k, older)), timeout_s);
    return with_value(a, url, version);
}

struct span url_within(struct arena *a, struct span url, span_ms timeout)
{
    bool has_query = memchr(url.ptr, '?', url.len) != NULL;
    return arena_printf(a, "%.*s%ctimeout=%lldms", SPAN_ARG(url), has_query ? '&' : '?',
                        (long long)timeout);
}

/* In the order of enum api_verb. The field manager is named wherever fields are written: by default
 * it would be the user agent. */
static const struct {
    const char *method, *content_type, *query;
} verbs[] = {
    [API_GET] = {"GET", NULL, ""},
    [API_LIST] = {"GET", NULL, ""},
    [API_CREATE] = {"POST", "application/json", "?fieldManager=" FIELD_MANAGER},
    [API_UPDATE] = {"PUT", "application/json", "?fieldManager=" FIELD_MANAGER},
    [API_MERGE] = {"PATCH", "application/merge-patch+json", "?fieldManager=" FIELD_MANAGER},
    [API_APPLY] = {"PATCH", "application/apply-patch+yaml", "?fieldManager=" FIELD_MANAGER},
    [API_DELETE] = {"DELETE", "application/json", ""},
    [API_EVICT] = {"POST", "application/json", ""},
};

static struct span with_selection(struct arena *a, struct span url, const struct api_request *r)
{
    if (r->field_selector.len != 0)
        url = with_value(a, arena_printf(a, "%.*s?fieldSelector=", SPAN_ARG(url)), r->field_selector);
    if (r->limit != 0)
        url = arena_printf(a, "%.*s%climit=%u", SPAN_ARG(url), r->field_selector.len != 0 ? '&' : '?', r->limit);
    if (r->limit != 0 && r->from.len != 0)
        url = with_value(a, arena_printf(a, "%.*s&continue=", SPAN_ARG(url)), r->from);
    return url;
}

void http_call_of(struct arena *a, struct span server, const struct api_request *r,
                  struct http_call *out)
{
    struct span url = arena_printf(a, "%.*s%.*s%s", SPAN_ARG(server), SPAN_ARG(api_path(a, r)),
                                   verbs[r->verb].query);
    if (r->verb == API_APPLY)
        url = arena_printf(a, "%.*s&force=%s", SPAN_ARG(url), r->force ? "true" : "false");
    if (r->verb == API_LIST)
        url = with_selection(a, url, r);
    *out = (struct http_call){
        .method = verbs[r->verb].method,
        .url = url,
        .content_type = r->body.len != 0 ? verbs[r->verb].content_type : NULL,
    };
}
