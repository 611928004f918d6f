#include "base/doc_build.h"

#include <stdlib.h>

void doc_build_release(struct doc_build *b)
{
    free(b->tape);
    free(b->lines);
    free(b->strings);
    free(b->apart);
    free(b->apart_lines);
}

size_t doc_build_size(const struct doc_build *b)
{
    return (b->capacity + b->apart_capacity) * (sizeof(*b->tape) + sizeof(*b->lines)) + b->strings_capacity;
}

/* ---- words ---- */

static void reserve(struct doc_build *b, size_t n)
{
    if (b->capacity - b->count >= n)
        return;
    b->capacity = b->capacity != 0 ? b->capacity * 2 : 256;
    if (b->capacity - b->count < n)
        b->capacity = b->count + n;
    b->tape = mem_grow(b->tape, b->capacity, sizeof(*b->tape));
    b->lines = mem_grow(b->lines, b->capacity, sizeof(*b->lines));
}

static void push_word(struct doc_build *b, uint64_t word, uint32_t line)
{
    reserve(b, 1);
    b->tape[b->count] = word;
    b->lines[b->count++] = line;
}

static void push(struct doc_build *b, char kind, uint64_t payload, uint32_t line)
{
    push_word(b, (uint64_t)(unsigned char)kind << 56 | payload, line);
}

static size_t keep_string(struct doc_build *b, struct span text)
{
    size_t at = b->strings_len, need = at + sizeof(uint32_t) + text.len + 1;
    if (need > b->strings_capacity) {
        b->strings_capacity = b->strings_capacity * 2 > need ? b->strings_capacity * 2 : need + 4096;
        b->strings = mem_grow(b->strings, b->strings_capacity, 1);
    }
    char *p = b->strings + at;
    uint32_t len = (uint32_t)text.len;
    memcpy(p, &len, sizeof(len));
    memcpy(p + sizeof(len), text.ptr, text.len);
    p[sizeof(len) + text.len] = '\0';
    b->strings_len = need;
    return at;
}

void doc_build_start(struct doc_build *b)
{
    b->count = 0;
    b->strings_len = 0;
    b->depth = 0;
    b->anchor_count = 0;
    b->apart_count = 0;
    b->aliased = 0;
    push(b, 'r', 0, 1);
}

/* ---- values ---- */

bool doc_build_wants_key(const struct doc_build *b)
{
    return b->depth != 0 && b->levels[b->depth - 1].wants_key;
}

static const char *add_anchor(struct doc_build *b, const char *name)
{
    if (b->anchor_count == DOC_ANCHORS_MAX)
        return "more than 1000 anchors (&name) in one document";
    b->anchors[b->anchor_count++] = (struct anchor){.name = keep_string(b, span_of(name)), .at = b->count};
    return NULL;
}

const char *doc_build_value(struct doc_build *b, const char *anchor, bool is_scalar)
{
    const char *fault = anchor != NULL ? add_anchor(b, anchor) : NULL;
    if (fault != NULL || b->depth == 0)
        return fault;
    struct open_level *l = &b->levels[b->depth - 1];
    if (!l->object) {
        l->count++;
    } else if (l->wants_key) {
        if (!is_scalar)
            return "a key is a list or an object; keys are strings";
        l->count++;
        l->wants_key = false;
    } else {
        l->wants_key = true;
    }
    return NULL;
}

void doc_build_key(struct doc_build *b, struct span text, bool merges, uint32_t line)
{
    b->levels[b->depth - 1].merges |= merges;
    push(b, merges ? TAPE_MERGE : '"', keep_string(b, text), line);
}

void doc_build_scalar(struct doc_build *b, const struct scalar *v, uint32_t line)
{
    switch (v->kind) {
    case SCALAR_NULL:
        push(b, 'n', 0, line);
        return;
    case SCALAR_BOOL:
        push(b, v->bits != 0 ? 't' : 'f', 0, line);
        return;
    case SCALAR_STRING:
        push(b, '"', keep_string(b, v->text), line);
        return;
    case SCALAR_INT:
        push(b, 'l', 0, line);
        break;
    case SCALAR_UINT:
        push(b, 'u', 0, line);
        break;
    case SCALAR_DOUBLE:
        push(b, 'd', 0, line);
        break;
    }
    push_word(b, v->bits, line);
}

const char *doc_build_open(struct doc_build *b, bool object, uint32_t line)
{
    if (b->depth == DOC_DEPTH_MAX)
        return "nested more than 100 deep";
    b->levels[b->depth++] =
        (struct open_level){.at = b->count, .object = object, .wants_key = object};
    push(b, object ? '{' : '[', 0, line);
    return NULL;
}

uint64_t doc_build_opened(const struct doc_build *b)
{
    return b->levels[b->depth - 1].at;
}

const char *doc_build_close(struct doc_build *b, uint32_t line)
{
    struct open_level *l = &b->levels[b->depth - 1];
    const char *fault = l->merges ? doc_build_merge(b) : NULL;
    if (fault != NULL)
        return fault;
    b->depth--;
    push(b, l->object ? '}' : ']', l->at, line);
    uint64_t shown = l->count < TAPE_COUNT_MAX ? l->count : TAPE_COUNT_MAX;
    b->tape[l->at] |= shown << 32 | b->count;
    return NULL;
}

/* ---- aliases ---- */

void doc_words_move(uint64_t *to, const uint64_t *words, size_t n, uint64_t by)
{
    for (size_t i = 0; i < n; i++) {
        char kind = (char)(words[i] >> 56);
        to[i] = words[i];
        if (kind == '{' || kind == '[' || kind == '}' || kind == ']')
            to[i] = (words[i] & ~(uint64_t)UINT32_MAX) | (uint32_t)(words[i] + by);
        else if (kind == 'l' || kind == 'u' || kind == 'd') {
            i++;
            to[i] = words[i];
        }
    }
}

void doc_build_move(struct doc_build *b, const uint64_t *words, const uint32_t *lines, size_t n,
                    uint64_t from)
{
    reserve(b, n);
    doc_words_move(b->tape + b->count, words, n, b->count - from);
    memcpy(b->lines + b->count, lines, n * sizeof(*lines));
    b->count += n;
}

static const struct anchor *find_anchor(const struct doc_build *b, const char *name)
{
    for (uint32_t i = b->anchor_count; i-- > 0;) /* the last of a name counts */
        if (strcmp(b->strings + b->anchors[i].name + sizeof(uint32_t), name) == 0)
            return &b->anchors[i];
    return NULL;
}

/* What it is when it is written out: its bytes, and how deep it goes. */
static uint64_t weigh(const struct doc *d, uint64_t from, uint64_t end, uint32_t *depth_out)
{
    uint64_t bytes = 0;
    uint32_t depth = 0;
    *depth_out = 0;
    for (uint64_t at = from; at < end; at++) {
        char kind = tape_kind(d, at);
        bytes += sizeof(*d->tape);
        depth += kind == '{' || kind == '[';
        *depth_out = depth > *depth_out ? depth : *depth_out;
        depth -= kind == '}' || kind == ']';
        if (kind == '"')
            bytes += tape_string(d, at).len;
        else if (kind == 'l' || kind == 'u' || kind == 'd')
            at++;
    }
    return bytes;
}

static bool is_open(const struct doc_build *b, uint64_t at)
{
    for (uint32_t i = 0; i < b->depth; i++)
        if (b->levels[i].at == at)
            return true;
    return false;
}

static const char *repeat(struct doc_build *b, const struct anchor *a)
{
    struct doc d = {.tape = a->apart ? b->apart : b->tape, .strings = b->strings};
    uint32_t depth;
    uint64_t n = tape_after(&d, a->at) - a->at;
    b->aliased += weigh(&d, a->at, a->at + n, &depth);
    if (b->aliased > DOC_ALIAS_MAX)
        return DOC_ALIAS_FAULT;
    if (b->depth + depth > DOC_DEPTH_MAX)
        return "nested more than 100 deep";
    reserve(b, n); /* so that what is read does not move */
    doc_build_move(b, (a->apart ? b->apart : b->tape) + a->at, (a->apart ? b->apart_lines : b->lines) + a->at,
                   n, a->at);
    return NULL;
}

const char *doc_build_alias(struct doc_build *b, const char *name, uint32_t line)
{
    const struct anchor *a = find_anchor(b, name);
    if (a == NULL)
        return "an alias (*name) without an anchor (&name) before it in its document";
    if (!a->apart && is_open(b, a->at))
        return "an alias (*name) inside what it stands for";
    bool is_key = doc_build_wants_key(b);
    bool is_text = (char)((a->apart ? b->apart : b->tape)[a->at] >> 56) == '"';
    const char *fault = doc_build_value(b, NULL, true);
    if (fault == NULL && is_key && !is_text)
        return "an alias as a key stands for something that is no string";
    if (fault == NULL)
        fault = repeat(b, a);
    if (fault == NULL && is_key)
        b->lines[b->count - 1] = line; /* a key stands where it is used */
    return fault;
}
