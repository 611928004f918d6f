/* Merge keys: an object is taken off the tape and written anew, with the members of what it merges. */
#include "base/doc_build.h"

#include <stdlib.h>

struct member {
    uint64_t key, value; /* tape indexes, in the copy */
    bool merged;
};

struct merging {
    struct doc d; /* a copy of the members as they were, the first word being at index 0 */
    struct member *members;
    size_t count;
    size_t *slots; /* of members by their keys; 0: free, else one more than the index */
    size_t slot_count;
};

/* The slot of that key, or the free one where it belongs. */
static size_t *slot_of(const struct merging *m, uint64_t key)
{
    struct span text = tape_string(&m->d, key);
    size_t at = span_hash(text) & (m->slot_count - 1);
    while (m->slots[at] != 0 && !span_eq(tape_string(&m->d, m->members[m->slots[at] - 1].key), text))
        at = (at + 1) & (m->slot_count - 1);
    return &m->slots[at];
}

/* A key that the object itself has twice stays there twice, to be refused as in any other. */
static void put(struct merging *m, uint64_t key, bool merged)
{
    size_t *slot = slot_of(m, key);
    struct member *had = *slot != 0 ? &m->members[*slot - 1] : NULL;
    struct member now = {.key = key, .value = key + 1, .merged = merged};
    if (had != NULL && (merged || had->merged)) {
        now.merged = merged && had->merged;
        *had = now;
        return;
    }
    m->members[m->count++] = now;
    *slot = m->count;
}

static void put_all(struct merging *m, uint64_t object)
{
    uint64_t end = tape_after(&m->d, object) - 1;
    for (uint64_t at = object + 1; at < end; at = tape_after(&m->d, at + 1))
        put(m, at, true);
}

static const char *put_merged(struct merging *m, uint64_t value)
{
    static const char fault[] = "a merge key (<<) takes an object or a list of objects";
    if (tape_kind(&m->d, value) == '{') {
        put_all(m, value);
        return NULL;
    }
    if (tape_kind(&m->d, value) != '[')
        return fault;
    uint64_t end = tape_after(&m->d, value) - 1, count = 0;
    for (uint64_t at = value + 1; at < end; at = tape_after(&m->d, at), count++)
        if (tape_kind(&m->d, at) != '{')
            return fault;
    uint64_t *items = mem_array(count, sizeof(*items));
    count = 0;
    for (uint64_t at = value + 1; at < end; at = tape_after(&m->d, at))
        items[count++] = at;
    while (count-- > 0)
        put_all(m, items[count]); /* from the last: the first wins */
    free(items);
    return NULL;
}

static const char *collect(struct merging *m, uint64_t end)
{
    const char *fault = NULL;
    for (uint64_t at = 0; at < end && fault == NULL; at = tape_after(&m->d, at + 1)) {
        if (tape_kind(&m->d, at) == TAPE_MERGE)
            fault = put_merged(m, at + 1);
        else
            put(m, at, false);
    }
    return fault;
}

/* An anchor of what is not written again may still be asked for. */
static void set_apart(struct doc_build *b, struct anchor *a, const struct merging *m, const uint32_t *lines,
                      uint64_t at)
{
    size_t n = tape_after(&m->d, at) - at, need = b->apart_count + n;
    if (need > b->apart_capacity) {
        b->apart_capacity = b->apart_capacity * 2 > need ? b->apart_capacity * 2 : need;
        b->apart = mem_grow(b->apart, b->apart_capacity, sizeof(*b->apart));
        b->apart_lines = mem_grow(b->apart_lines, b->apart_capacity, sizeof(*b->apart_lines));
    }
    doc_words_move(b->apart + b->apart_count, m->d.tape + at, n, b->apart_count - at);
    memcpy(b->apart_lines + b->apart_count, lines + at, n * sizeof(*lines));
    a->at = b->apart_count;
    a->apart = true;
    b->apart_count = need;
    b->aliased += n * sizeof(*b->apart);
}

/* Those in what is moved go with it. */
static void move_anchors(struct doc_build *b, const struct merging *m, const uint32_t *lines, uint64_t from)
{
    for (uint32_t i = 0; i < b->anchor_count && b->aliased <= DOC_ALIAS_MAX; i++) {
        struct anchor *a = &b->anchors[i];
        if (a->apart || a->at < from)
            continue;
        uint64_t at = a->at - from, to = from;
        bool moved = false;
        for (size_t k = 0; k < m->count && !moved; k++) {
            uint64_t key = m->members[k].key, end = tape_after(&m->d, m->members[k].value);
            moved = at >= key && at < end;
            a->at = moved ? to + (at - key) : a->at;
            to += end - key;
        }
        if (!moved)
            set_apart(b, a, m, lines, at);
    }
}

static void write_members(struct doc_build *b, const struct merging *m, const uint32_t *lines)
{
    for (size_t i = 0; i < m->count; i++) {
        uint64_t key = m->members[i].key, end = tape_after(&m->d, m->members[i].value);
        doc_build_move(b, m->d.tape + key, lines + key, end - key, key);
    }
}

const char *doc_build_merge(struct doc_build *b)
{
    struct open_level *l = &b->levels[b->depth - 1];
    uint64_t from = l->at + 1;
    size_t n = b->count - from;
    struct merging m = {.members = mem_array(n / 2 + 1, sizeof(*m.members)), .slot_count = 16};
    while (m.slot_count < n) /* a member has two words at least */
        m.slot_count *= 2;
    m.slots = mem_array(m.slot_count, sizeof(*m.slots));
    uint64_t *tape = mem_array(n, sizeof(*tape));
    uint32_t *lines = mem_array(n, sizeof(*lines));
    doc_words_move(tape, b->tape + from, n, 0 - from);
    memcpy(lines, b->lines + from, n * sizeof(*lines));
    m.d = (struct doc){.tape = tape, .strings = b->strings};
    const char *fault = collect(&m, n);
    if (fault == NULL) {
        b->count = from;
        move_anchors(b, &m, lines, from);
        write_members(b, &m, lines);
        l->count = m.count;
        fault = b->aliased > DOC_ALIAS_MAX ? DOC_ALIAS_FAULT : NULL;
    }
    free(tape);
    free(lines);
    free(m.members);
    free(m.slots);
    return fault;
}
