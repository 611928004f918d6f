#include "kube/lines.h"

enum { KEEP_MAX = 256 * 1024 /* bytes kept for the next stream */ };

void lines_release(struct lines *l)
{
    buf_release(&l->held);
    l->chunk = (struct span){0};
    l->given = l->too_long = false;
}

void lines_clear(struct lines *l)
{
    if (l->held.capacity > KEEP_MAX)
        buf_release(&l->held);
    buf_clear(&l->held);
    l->chunk = (struct span){0};
    l->given = l->too_long = false;
}

void lines_feed(struct lines *l, struct span chunk)
{
    l->chunk = chunk;
}

static void take(struct lines *l, size_t n, size_t skip)
{
    l->chunk.ptr += n + skip;
    l->chunk.len -= n + skip;
}

static void hold(struct lines *l, size_t n)
{
    buf_add(&l->held, (struct span){l->chunk.ptr, n});
    l->too_long |= l->held.overflow;
}

bool lines_next(struct lines *l, struct span *line_out)
{
    if (l->given) {
        buf_clear(&l->held);
        l->given = false;
    }
    while (!l->too_long && l->chunk.len != 0) {
        const char *end = memchr(l->chunk.ptr, '\n', l->chunk.len);
        size_t n = end != NULL ? (size_t)(end - l->chunk.ptr) : l->chunk.len;
        if (end == NULL || l->held.len != 0) {
            hold(l, n);
            take(l, n, end != NULL);
            if (end == NULL || l->too_long)
                break;
            *line_out = buf_span(&l->held);
            l->given = true;
            return true;
        }
        struct span line = {l->chunk.ptr, n};
        take(l, n, 1);
        if (n > (l->held.max != 0 ? l->held.max : (size_t)BUF_DEFAULT_MAX)) {
            l->too_long = true;
            break;
        }
        if (n != 0) {
            *line_out = line;
            return true;
        }
    }
    return false;
}

bool lines_pending(const struct lines *l)
{
    return l->held.len != 0 && !l->given;
}
