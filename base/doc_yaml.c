/* libyaml's events, written on a tape of doc_tape.h. The library hands over text only: what a plain
 * scalar means is decided here, as kubectl's YAML reader does (a YAML 1.1 subset).
 *
 * Nesting is cut at the first event that is too deep: the library needs time that grows with the
 * square of the depth of flow brackets. One document is on the tape at a time. */
#include "base/doc_build.h"

#include <stdlib.h>
#include <yaml.h>

struct yaml_stream {
    yaml_parser_t parser;
    bool open;
    struct span text;
    size_t read; /* documents taken so far, empty ones not counted */
    struct doc_build build;
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
    doc_build_release(&s->build);
    free(s);
}

size_t yaml_stream_size(const struct yaml_stream *s)
{
    return s == NULL ? 0 : sizeof(*s) + doc_build_size(&s->build);
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

static const char *on_scalar(struct doc_build *b, const yaml_event_t *e, uint32_t line)
{
    struct span text = {(const char *)e->data.scalar.value, e->data.scalar.length};
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const char *tag = (const char *)e->data.scalar.tag;
    bool is_key = doc_build_wants_key(b);
    const char *fault = doc_build_value(b, (const char *)e->data.scalar.anchor, true);
    if (fault != NULL)
        return fault;
    if (is_key) {
        doc_build_key(b, text, plain && tag == NULL && span_eq(text, SPAN("<<")), line);
        return NULL;
    }
    struct scalar value;
    fault = scalar_read(text, plain, tag, &value);
    if (fault == NULL)
        doc_build_scalar(b, &value, line);
    return fault;
}

static const char *on_open(struct doc_build *b, bool object, const yaml_char_t *anchor,
                           const yaml_char_t *tag, uint32_t line)
{
    const char *fault = doc_build_value(b, (const char *)anchor, false);
    if (fault != NULL)
        return fault;
    const char *wanted = object ? YAML_MAP_TAG : YAML_SEQ_TAG;
    if (tag != NULL && strcmp((const char *)tag, wanted) != 0 && strcmp((const char *)tag, "!") != 0)
        return "this tag is not supported";
    return doc_build_open(b, object, line);
}

static const char *on_event(struct doc_build *b, const yaml_event_t *e, uint32_t line)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(b, e, line);
    case YAML_MAPPING_START_EVENT:
        return on_open(b, true, e->data.mapping_start.anchor, e->data.mapping_start.tag, line);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(b, false, e->data.sequence_start.anchor, e->data.sequence_start.tag, line);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return doc_build_close(b, line);
    case YAML_ALIAS_EVENT:
        return doc_build_alias(b, (const char *)e->data.alias.anchor, line);
    default:
        return NULL;
    }
}

/* On the tape the object is complete by now; the doc is lent to look at it. */
static bool repeated_key(struct yaml_stream *s, uint64_t object, uint32_t *line_out,
                         struct err *err)
{
    struct doc d = {.tape = s->build.tape, .strings = s->build.strings};
    uint64_t second;
    if (!tape_repeated_key(&d, object, &second))
        return false;
    struct span key = tape_string(&d, second);
    *line_out = s->build.lines[second];
    err_set(err, ERR_INVALID, "line %u: the key \"%.*s\" is given twice", *line_out,
            key.len < 64 ? (int)key.len : 64, key.ptr);
    return true;
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
    uint64_t closes = e.type == YAML_MAPPING_END_EVENT ? doc_build_opened(&s->build) : 0;
    if (e.type == YAML_DOCUMENT_START_EVENT)
        doc_build_start(&s->build);
    const char *fault = on_event(&s->build, &e, line);
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
        bool empty = now == STEP_DOCUMENT && (char)(s->build.tape[1] >> 56) == 'n';
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
    out->tape = s->build.tape;
    out->strings = s->build.strings;
    out->lines = s->build.lines;
    return true;
}
