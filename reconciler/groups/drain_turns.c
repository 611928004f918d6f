#include "reconciler/groups/drain_turns.h"

static bool read_number(struct span text, int64_t low, int32_t *out)
{
    int64_t v;
    if (!span_int64(text, &v) || v < low || v > INT32_MAX)
        return false;
    *out = (int32_t)v;
    return true;
}

static bool insert(struct drain_turn *items, uint32_t *count, struct drain_turn x)
{
    uint32_t at = *count;
    for (; at > 0 && items[at - 1].priority >= x.priority; at--) {
        if (items[at - 1].priority == x.priority)
            return false;
        items[at] = items[at - 1];
    }
    items[at] = x;
    ++*count;
    return true;
}

bool drain_turns_parse(struct arena *a, struct span text, struct drain_turns *out)
{
    size_t most = 1;
    for (size_t i = 0; i < text.len; i++)
        most += text.ptr[i] == ',';
    struct drain_turn *items = ARENA_ARRAY(a, struct drain_turn, most);
    *out = (struct drain_turns){.items = items};
    while (text.len != 0) {
        struct drain_turn x;
        struct span grace, one = span_cut(text, ',', &text), priority = span_cut(one, ':', &grace);
        if (grace.ptr == NULL || !read_number(priority, INT32_MIN, &x.priority) || !read_number(grace, 0, &x.grace) ||
            !insert(items, &out->count, x))
            return false;
        if (text.ptr != NULL && text.len == 0)
            return false; /* a comma ends it */
    }
    return true;
}

uint32_t drain_turn_of(const struct drain_turns *t, int32_t priority)
{
    uint32_t at = 0;
    while (at + 1 < t->count && t->items[at + 1].priority <= priority)
        at++;
    return at;
}
