/* libyaml's events, written on a tape of doc_tape.h. The library hands over text only: what a plain
 * scalar means is decided here, as kubectl's YAML reader does (a YAML 1.1 subset).
 *
 * Nesting is cut at the first event that is too deep: the library needs time that grows with the
 * square of the depth of flow brackets. One document is on the tape at a time. */
#include "base/doc_tape.h"
#include "base/doc_scalar.h"

#include <stdlib.h>
#include <yaml.h>

struct open_level {
    uint64_t at; /* of its first word */
    uint64_t count;
    bool object;
    bool wants_key;
};

struct yaml_stream {
    yaml_parser_t parser;
    bool open;
    struct span text;
    size_t read; /* documents taken so far, empty ones not counted */
    uint64_t *tape;
    uint32_t *lines;
    size_t count, capacity;
    char *strings;
    size_t strings_len, strings_capacity;
    struct open_level levels[DOC_DEPTH_MAX];
    uint32_t depth;
};

struct yaml_stream *yaml_stream_new(void)
{
    return mem_new(sizeof(struct yaml_stream));
}

static void stream_close(struct yaml_stream *s)
{
    if (s->open)
        yaml_parser_delete(&s->parser);
    s->open = false;
}

void yaml_stream_free(struct yaml_stream *s)
{
    if (s == NULL)
        return;
    stream_close(s);
    free(s->tape);
    free(s->lines);
    free(s->strings);
    free(s);
}

static void stream_open(struct yaml_stream *s, struct span text)
{
    stream_close(s);
    if (!yaml_parser_initialize(&s->parser))
        abort(); /* out of memory */
    s->open = true;
    s->text = text;
    s->read = 0;
    yaml_parser_set_input_string(&s->parser,
                                 (const unsigned char *)(text.ptr != NULL ? text.ptr : ""),
                                 text.len);
}

/* ---- the tape ---- */

static void push_word(struct yaml_stream *s, uint64_t word, uint32_t line)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity != 0 ? s->capacity * 2 : 256;
        s->tape = mem_grow(s->tape, s->capacity, sizeof(*s->tape));
        s->lines = mem_grow(s->lines, s->capacity, sizeof(*s->lines));
    }
    s->tape[s->count] = word;
    s->lines[s->count++] = line;
}

static void push(struct yaml_stream *s, char kind, uint64_t payload, uint32_t line)
{
    push_word(s, (uint64_t)(unsigned char)kind << 56 | payload, line);
}

static void push_string(struct yaml_stream *s, struct span text, uint32_t line)
{
    size_t need = s->strings_len + sizeof(uint32_t) + text.len + 1;
    if (need > s->strings_capacity) {
        s->strings_capacity = s->strings_capacity * 2 > need ? s->strings_capacity * 2 : need + 4096;
        s->strings = mem_grow(s->strings, s->strings_capacity, 1);
    }
    push(s, '"', s->strings_len, line);
    char *p = s->strings + s->strings_len;
    uint32_t len = (uint32_t)text.len;
    memcpy(p, &len, sizeof(len));
    memcpy(p + sizeof(len), text.ptr, text.len);
    p[sizeof(len) + text.len] = '\0';
    s->strings_len = need;
}

static void push_scalar(struct yaml_stream *s, const struct scalar *v, uint32_t line)
{
    switch (v->kind) {
    case SCALAR_NULL:
        push(s, 'n', 0, line);
        return;
    case SCALAR_BOOL:
        push(s, v->bits != 0 ? 't' : 'f', 0, line);
        return;
    case SCALAR_INT:
        push(s, 'l', 0, line);
        break;
    case SCALAR_UINT:
        push(s, 'u', 0, line);
        break;
    case SCALAR_DOUBLE:
        push(s, 'd', 0, line);
        break;
    case SCALAR_STRING:
        push_string(s, v->text, line);
        return;
    }
    push_word(s, v->bits, line);
}

static void open_level(struct yaml_stream *s, bool object, uint32_t line)
{
    s->levels[s->depth++] =
        (struct open_level){.at = s->count, .object = object, .wants_key = object};
    push(s, object ? '{' : '[', 0, line);
}

static void close_level(struct yaml_stream *s, uint32_t line)
{
    const struct open_level *l = &s->levels[--s->depth];
    push(s, l->object ? '}' : ']', l->at, line);
    uint64_t shown = l->count < TAPE_COUNT_MAX ? l->count : TAPE_COUNT_MAX;
    s->tape[l->at] |= shown << 32 | s->count;
}

/* ---- events ---- */

static bool refuse(struct err *err, uint32_t *line_out, uint32_t line, const char *what)
{
    *line_out = line;
    return err_set(err, ERR_INVALID, "line %u: %s", line, what);
}

static bool library_error(const struct yaml_stream *s, uint32_t *line_out, struct err *err)
{
    const yaml_parser_t *p = &s->parser;
    if (p->error == YAML_MEMORY_ERROR)
        abort();
    uint32_t line = (uint32_t)p->problem_mark.line + 1;
    if (p->error == YAML_READER_ERROR) {
        line = 1;
        for (size_t i = 0; i < p->problem_offset && i < s->text.len; i++)
            line += s->text.ptr[i] == '\n';
    }
    *line_out = line;
    const char *problem = p->problem != NULL ? p->problem : "it is not YAML";
    if (p->context != NULL)
        return err_set(err, ERR_INVALID, "line %u: %s %s", line, p->context, problem);
    return err_set(err, ERR_INVALID, "line %u: %s", line, problem);
}

/* A value begins: counts it at its level and refuses what cannot be one there. */
static const char *begin_value(struct yaml_stream *s, const yaml_char_t *anchor, bool scalar)
{
    if (anchor != NULL)
        return "anchors (&name) are not supported; write the value out where it is used";
    if (s->depth == 0)
        return NULL;
    struct open_level *l = &s->levels[s->depth - 1];
    if (!l->object) {
        l->count++;
    } else if (l->wants_key) {
        if (!scalar)
            return "a key is a list or an object; keys are strings";
        l->count++;
        l->wants_key = false;
    } else {
        l->wants_key = true;
    }
    return NULL;
}

static const char *on_scalar(struct yaml_stream *s, const yaml_event_t *e, uint32_t line)
{
    struct span text = {(const char *)e->data.scalar.value, e->data.scalar.length};
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool is_key = s->depth != 0 && s->levels[s->depth - 1].wants_key;
    const char *fault = begin_value(s, e->data.scalar.anchor, true);
    if (fault != NULL)
        return fault;
    const char *tag = (const char *)e->data.scalar.tag;
    if (is_key) {
        if (plain && tag == NULL && span_eq(text, SPAN("<<")))
            return "merge keys (<<) are not supported; write the members out";
        push_string(s, text, line);
        return NULL;
    }
    struct scalar value;
    fault = scalar_read(text, plain, tag, &value);
    if (fault == NULL)
        push_scalar(s, &value, line);
    return fault;
}

static const char *on_open(struct yaml_stream *s, bool object, const yaml_char_t *anchor,
                           const yaml_char_t *tag, uint32_t line)
{
    const char *fault = begin_value(s, anchor, false);
    if (fault != NULL)
        return fault;
    const char *wanted = object ? YAML_MAP_TAG : YAML_SEQ_TAG;
    if (tag != NULL && strcmp((const char *)tag, wanted) != 0 && strcmp((const char *)tag, "!") != 0)
        return "this tag is not supported";
    if (s->depth == DOC_DEPTH_MAX)
        return "nested more than 100 deep";
    open_level(s, object, line);
    return NULL;
}

static const char *on_event(struct yaml_stream *s, const yaml_event_t *e, uint32_t line)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(s, e, line);
    case YAML_MAPPING_START_EVENT:
        return on_open(s, true, e->data.mapping_start.anchor, e->data.mapping_start.tag, line);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(s, false, e->data.sequence_start.anchor, e->data.sequence_start.tag, line);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        close_level(s, line);
        return NULL;
    case YAML_ALIAS_EVENT:
        return "aliases (*name) are not supported; write the value out";
    default:
        return NULL;
    }
}

/* On the tape the object is complete by now; the doc is lent to look at it. */
static bool repeated_key(struct yaml_stream *s, uint64_t object, uint32_t *line_out,
                         struct err *err)
{
    struct doc d = {.tape = s->tape, .strings = s->strings};
    uint64_t second;
    if (!tape_repeated_key(&d, object, &second))
        return false;
    struct span key = tape_string(&d, second);
    *line_out = s->lines[second];
    err_set(err, ERR_INVALID, "line %u: the key \"%.*s\" is given twice", *line_out,
            key.len < 64 ? (int)key.len : 64, key.ptr);
    return true;
}

static void start_document(struct yaml_stream *s)
{
    s->count = 0;
    s->strings_len = 0;
    s->depth = 0;
    push(s, 'r', 0, 1);
}

enum step { STEP_ON, STEP_DOCUMENT, STEP_END, STEP_FAULT };

static enum step step(struct yaml_stream *s, uint32_t *line_out, struct err *err)
{
    yaml_event_t e;
    if (!yaml_parser_parse(&s->parser, &e)) {
        library_error(s, line_out, err);
        return STEP_FAULT;
    }
    enum step result = STEP_ON;
    uint32_t line = (uint32_t)e.start_mark.line + 1;
    uint64_t closes = e.type == YAML_MAPPING_END_EVENT ? s->levels[s->depth - 1].at : 0;
    if (e.type == YAML_DOCUMENT_START_EVENT)
        start_document(s);
    const char *fault = on_event(s, &e, line);
    if (e.type == YAML_DOCUMENT_END_EVENT)
        result = STEP_DOCUMENT;
    else if (e.type == YAML_STREAM_END_EVENT)
        result = STEP_END;
    yaml_event_delete(&e);
    if (fault != NULL) {
        refuse(err, line_out, line, fault);
        return STEP_FAULT;
    }
    return closes != 0 && repeated_key(s, closes, line_out, err) ? STEP_FAULT : result;
}

/* The next document with something in it. */
static enum step next_document(struct yaml_stream *s, uint32_t *line_out, struct err *err)
{
    for (;;) {
        enum step now = step(s, line_out, err);
        bool empty = now == STEP_DOCUMENT && (char)(s->tape[1] >> 56) == 'n';
        if (now == STEP_ON || empty)
            continue;
        s->read += now == STEP_DOCUMENT;
        if (now != STEP_DOCUMENT)
            stream_close(s);
        return now;
    }
}

bool yaml_stream_next(struct yaml_stream *s, struct span text, size_t *at, struct doc *out,
                      uint32_t *line_out, struct err *err)
{
    bool goes_on = s->open && *at != 0 && *at == s->read && s->text.ptr == text.ptr &&
                   s->text.len == text.len;
    if (!goes_on)
        stream_open(s, text);
    enum step now;
    do {
        now = next_document(s, line_out, err);
    } while (now == STEP_DOCUMENT && s->read <= *at);
    if (now != STEP_DOCUMENT) {
        if (now == STEP_END)
            *err = (struct err){.kind = ERR_NONE};
        return false;
    }
    *at = s->read;
    out->tape = s->tape;
    out->strings = s->strings;
    out->lines = s->lines;
    return true;
}
