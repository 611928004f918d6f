#include "kube/finding.h"

#include "base/buf.h"

void finding_add(struct arena *a, struct findings *f, bool refuses, struct span path, struct span text)
{
    struct finding x = {path, text, refuses};
    ARENA_PUSH(a, f->items, f->count, f->capacity, x);
}

struct span findings_refusal(struct arena *a, const struct findings *f)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].refuses)
            buf_addf(&b, "%s%.*s: %.*s", b.len != 0 ? "; " : "", SPAN_ARG(f->items[i].path), SPAN_ARG(f->items[i].text));
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
