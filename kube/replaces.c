#include "kube/replaces.h"

#include <string.h>

#include "base/buf.h"

static struct span until(struct span *rest, char end)
{
    const char *at = rest->len != 0 ? memchr(rest->ptr, end, rest->len) : NULL;
    struct span head = {rest->ptr, at != NULL ? (size_t)(at - rest->ptr) : rest->len};
    size_t taken = head.len + (at != NULL);
    rest->ptr += taken;
    rest->len -= taken;
    return head;
}

struct replaces replaces_of(const struct node_claim *c)
{
    struct replaces r = {.rest = annotations_get(c->meta.annotations, SYM_REPLACES)};
    int64_t bought;
    if (r.rest.len != 0 && span_int64(until(&r.rest, ' '), &bought) && bought > 0 && bought <= UINT32_MAX)
        r.bought = (uint32_t)bought;
    return r;
}

bool replaces_next(struct replaces *r, struct replaced *out)
{
    if (r->bought == 0 || r->rest.len == 0)
        return false;
    out->uid = until(&r->rest, ',');
    out->name = until(&out->uid, '/');
    return true;
}

struct span replaces_text(struct arena *a, uint32_t bought, const struct replaced *list, uint32_t count)
{
    struct buf out = {0};
    buf_addf(&out, "%u ", bought);
    for (uint32_t i = 0; i < count; i++)
        buf_addf(&out, "%s%.*s/%.*s", i != 0 ? "," : "", SPAN_ARG(list[i].name), SPAN_ARG(list[i].uid));
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}
