#include "kube/api.h"

#include "kube/client_url.h"

struct span api_path(struct arena *a, const struct api_request *r)
{
    const struct kind_info *info = kind_info(r->kind);
    if (r->kind == KIND_VERSION)
        return SPAN("/version");
    const char *version = r->older && kind_older(r->kind) != NULL ? kind_older(r->kind) : info->api_version;
    bool core = strchr(version, '/') == NULL;
    struct buf path = {.max = 65536};
    buf_addf(&path, "%s/%s", core ? "/api" : "/apis", version);
    if (r->ns.len != 0) {
        buf_add(&path, SPAN("/namespaces/"));
        url_encode(&path, r->ns);
    }
    buf_addf(&path, "/%s", info->plural);
    if (r->name.len != 0 && r->verb != API_LIST && r->verb != API_CREATE) {
        buf_add_char(&path, '/');
        url_encode(&path, r->name);
        struct span sub = r->verb == API_EVICT ? SPAN("eviction") : r->subresource;
        if (sub.len != 0) {
            buf_add_char(&path, '/');
            url_encode(&path, sub);
        }
    }
    struct span out = arena_dup(a, buf_span(&path));
    buf_release(&path);
    return out;
}

/* Decided on the status first: some answers have no Status object (spec contracts 4.3). */
enum err_kind api_err_kind(int status, struct span reason)
{
    if (status >= 200 && status < 300)
        return ERR_NONE;
    if (status == 0 || status == 408 || status == 429 || status >= 500)
        return ERR_RETRY;
    switch (status) {
    case 401:
    case 403:
        return ERR_FORBIDDEN;
    case 404:
        return ERR_NOT_FOUND;
    case 409:
        return ERR_CONFLICT;
    case 410:
        return ERR_GONE;
    case 400:
        /* An expired `continue` of old servers. */
        return span_eq(reason, SPAN("Expired")) ? ERR_GONE : ERR_INVALID;
    case 412:
    case 413:
    case 422:
        return ERR_INVALID;
    default: /* 3xx, 405, 406, 415: our mistake or another version of the API */
        return ERR_INTERNAL;
    }
}
