#include "sim/standins/refusals.h"

#include <stdlib.h>

#include "base/buf.h"

void refusals_add(struct refusals *r, struct span text)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (span_eq(r->items[i].text, text)) {
            r->items[i].count++;
            return;
        }
    }
    if (r->count < REFUSALS_MAX) {
        r->items[r->count].text = text;
        r->items[r->count++].count = 1;
    }
}

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

struct span refusals_message(struct arena *a, const struct refusals *r, uint32_t nodes)
{
    struct span parts[REFUSALS_MAX];
    struct buf text = {.max = 1024};
    if (nodes == 0)
        return SPAN("no nodes available to schedule pods");
    for (uint32_t i = 0; i < r->count; i++)
        parts[i] = arena_printf(a, "%u %.*s", r->items[i].count, SPAN_ARG(r->items[i].text));
    qsort(parts, r->count, sizeof parts[0], by_text);
    buf_addf(&text, "0/%u nodes are available: ", nodes);
    for (uint32_t i = 0; i < r->count; i++)
        buf_addf(&text, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(parts[i]));
    buf_add_char(&text, '.');
    struct span out = arena_dup(a, buf_span(&text));
    buf_release(&text);
    return out;
}
