#include "certs/bundle.h"

#include "base/buf.h"
#include "certs/authority.h"

static bool find(struct span in, struct span what, size_t *at)
{
    const char *found = in.len == 0 ? NULL : memmem(in.ptr, in.len, what.ptr, what.len);
    *at = found != NULL ? (size_t)(found - in.ptr) : 0;
    return found != NULL;
}

/* The next certificate of a PEM text, from its first to its last line; *rest is what follows. */
static bool next_block(struct span *rest, struct span *block)
{
    static const struct span begin = SPAN_INIT("-----BEGIN CERTIFICATE-----"), end = SPAN_INIT("-----END CERTIFICATE-----");
    size_t from, length;
    if (!find(*rest, begin, &from))
        return false;
    *block = (struct span){rest->ptr + from, rest->len - from};
    if (!find(*block, end, &length))
        return false;
    length += end.len;
    *rest = (struct span){block->ptr + length, block->len - length};
    block->len = length;
    return true;
}

static bool has_block(struct span bundle, struct span wanted)
{
    for (struct span block; next_block(&bundle, &block);)
        if (span_eq(block, wanted))
            return true;
    return false;
}

bool bundle_has(struct span bundle, struct span certs)
{
    for (struct span block; next_block(&certs, &block);)
        if (!has_block(bundle, block))
            return false;
    return true;
}

static bool stays(struct span block, const struct bundle_change *change, wall_ms now)
{
    wall_ms end;
    if (has_block(change->want, block))
        return true;
    return !change->exact && !has_block(change->drop, block) && cert_not_after(block, &end) && now < end;
}

struct span bundle_next(struct arena *a, struct span have, const struct bundle_change *change, wall_ms now)
{
    struct buf out = {0};
    bool differs = false;
    uint32_t others = 0;
    struct span rest = have;
    for (struct span block; next_block(&rest, &block);) {
        bool wanted = has_block(change->want, block);
        if (stays(block, change, now) && (wanted || others++ < BUNDLE_MAX))
            buf_addf(&out, "%.*s\n", SPAN_ARG(block));
        else
            differs = true;
    }
    rest = change->want;
    for (struct span block; next_block(&rest, &block);)
        if (!has_block(have, block)) {
            buf_addf(&out, "%.*s\n", SPAN_ARG(block));
            differs = true;
        }
    struct span text = differs ? arena_dup(a, buf_span(&out)) : (struct span){NULL, 0};
    buf_release(&out);
    return text;
}
