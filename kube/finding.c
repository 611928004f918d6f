#include "kube/finding.h"

#include "base/buf.h"

static bool is_full(const struct findings *f)
{
    return f->count >= FINDINGS_MAX;
}

bool findings_closed(struct findings *f)
{
    f->stopped = f->stopped || (f->stop != NULL && f->stop(f->user));
    return f->stopped || is_full(f);
}

/* At most so many bytes; an ellipsis stands for the rest. */
static struct span shortened(struct arena *a, struct span s, size_t most)
{
    if (s.len <= most)
        return s;
    while (most != 0 && ((unsigned char)s.ptr[most] & 0xc0) == 0x80)
        most--; /* not within a character */
    return arena_printf(a, "%.*s…", (int)most, s.ptr);
}

void finding_add(struct arena *a, struct findings *f, bool refuses, struct span path, struct span text)
{
    /* What quotes valid keys and values is shorter. FINDINGS_SHOWN of them fit into a condition's message (32,768). */
    enum { PATH_MAX_LEN = 400, TEXT_MAX_LEN = 1536 };
    if (is_full(f))
        return;
    struct finding x = {shortened(a, path, PATH_MAX_LEN), shortened(a, text, TEXT_MAX_LEN), refuses};
    if (f->count + 1 == FINDINGS_MAX)
        x.text = arena_printf(a, "%.*s; there may be more, which are not listed before some are fixed", SPAN_ARG(x.text));
    ARENA_PUSH(a, f->items, f->count, f->capacity, x);
}

struct span findings_and_more(struct arena *a, uint32_t count, bool at_least)
{
    return arena_printf(a, "and %s%u more", at_least ? "at least " : "", count - FINDINGS_SHOWN);
}

struct span findings_refusal(struct arena *a, const struct findings *f)
{
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].refuses && count++ < FINDINGS_SHOWN)
            buf_addf(&b, "%s%.*s: %.*s", b.len != 0 ? "; " : "", SPAN_ARG(f->items[i].path), SPAN_ARG(f->items[i].text));
    if (count > FINDINGS_SHOWN)
        buf_addf(&b, "; %.*s", SPAN_ARG(findings_and_more(a, count, is_full(f))));
    struct span text = b.len != 0 ? arena_dup(a, buf_span(&b)) : (struct span){NULL, 0};
    buf_release(&b);
    return text;
}

bool findings_in(const struct findings *f, struct span prefix)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (span_has_prefix(f->items[i].path, prefix))
            return true;
    return false;
}
