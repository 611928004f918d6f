/* simdjson says neither where a value stood nor where a text goes wrong. Both are wanted for messages
 * only, so they are found by reading the text once more, slowly.
 *
 * A tape has one element for every token but commas and colons, in the order of the text: walking the
 * two side by side leads from a tape index to its place, whatever the strings contain. */
#include "base/doc_tape.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>

struct cursor {
    const char *at, *end;
    uint32_t line;
};

static bool one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static void skip_space(struct cursor *c)
{
    for (; c->at < c->end; c->at++) {
        if (*c->at == '\n')
            c->line++;
        else if (*c->at != ' ' && *c->at != '\t' && *c->at != '\r')
            return;
    }
}

/* Of a text known to be JSON: behind the token at the cursor. */
static void skip_token(struct cursor *c)
{
    if (*c->at == '"') {
        for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
            if (*c->at == '\\')
                c->at++;
        c->at++;
        return;
    }
    if (one_of(*c->at, "{}[]")) {
        c->at++;
        return;
    }
    while (c->at < c->end && !one_of(*c->at, " \t\r\n,:{}[]\""))
        c->at++;
}

static void skip_to_token(struct cursor *c)
{
    skip_space(c);
    while (c->at < c->end && (*c->at == ',' || *c->at == ':')) {
        c->at++;
        skip_space(c);
    }
}

uint32_t json_line_of(const struct doc *d, uint64_t index)
{
    struct doc_place *p = d->place;
    if (p->index == 0 || p->index > index)
        *p = (struct doc_place){.index = 1, .line = 1};
    struct cursor c = {d->text.ptr + p->offset, d->text.ptr + d->text.len, p->line};
    uint64_t at = p->index;
    skip_to_token(&c);
    while (at < index && c.at < c.end) {
        char kind = tape_kind(d, at);
        at += kind == 'l' || kind == 'u' || kind == 'd' ? 2 : 1;
        skip_token(&c);
        skip_to_token(&c);
    }
    *p = (struct doc_place){at, (size_t)(c.at - d->text.ptr), c.line};
    return d->lines_before + c.line;
}

/* ---- the first mistake of a text that is not JSON (RFC 8259) ---- */

static const char AFTER_SCALAR[] = " \t\r\n,]}";

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *fault_of_escape(struct cursor *c, uint32_t *unit_out)
{
    c->at++;
    if (c->at == c->end)
        return "the text ends inside a string";
    if (!one_of(*c->at, "\"\\/bfnrtu"))
        return "a backslash is followed by something that is no escape";
    if (*c->at++ != 'u')
        return NULL;
    for (int i = 0; i < 4; i++, c->at++) {
        int digit = c->at < c->end ? hex_digit(*c->at) : -1;
        if (digit < 0)
            return "\\u is not followed by four hexadecimal digits";
        *unit_out = *unit_out * 16 + (uint32_t)digit;
    }
    return NULL;
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

static const char *fault_of_string(struct cursor *c)
{
    static const char half[] = "an escape is half of a surrogate pair";
    uint32_t before = 0; /* a high surrogate waits for its other half */
    for (c->at++; c->at < c->end;) {
        unsigned char b = (unsigned char)*c->at;
        uint32_t unit = 0;
        if (b == '\\') {
            const char *fault = fault_of_escape(c, &unit);
            if (fault != NULL)
                return fault;
        }
        if (is_high(before) != is_low(unit))
            return half;
        before = unit;
        if (b == '\\')
            continue;
        if (b == '"') {
            c->at++;
            return NULL;
        }
        if (b < 0x20)
            return b == '\n' || b == '\r' ? "a string does not end on its line"
                                          : "a string holds a bare control character";
        size_t n = utf8_length(c->at, c->end);
        if (n == 0)
            return "a string is not UTF-8";
        c->at += n;
    }
    return "the text ends inside a string";
}

static size_t digits_at(struct cursor *c)
{
    const char *from = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return (size_t)(c->at - from);
}

/* Whole numbers are int64 or uint64, others doubles. The text is followed by NUL. */
static bool out_of_range(const char *from, bool whole)
{
    if (!whole)
        return !isfinite(strtod(from, NULL));
    bool negative = *from == '-';
    uint64_t value = 0;
    for (from += negative; *from >= '0' && *from <= '9'; from++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*from - '0'), &value))
            return true;
    return negative && value > (uint64_t)INT64_MAX + 1;
}

static const char *fault_of_number(struct cursor *c)
{
    static const char bad[] = "a number is malformed";
    const char *from = c->at;
    bool whole = true;
    if (*c->at == '-')
        c->at++;
    const char *first = c->at;
    size_t n = digits_at(c);
    if (n == 0 || (n > 1 && *first == '0'))
        return bad;
    if (c->at < c->end && *c->at == '.') {
        whole = false;
        c->at++;
        if (digits_at(c) == 0)
            return bad;
    }
    if (c->at < c->end && (*c->at == 'e' || *c->at == 'E')) {
        whole = false;
        c->at++;
        if (c->at < c->end && (*c->at == '+' || *c->at == '-'))
            c->at++;
        if (digits_at(c) == 0)
            return bad;
    }
    if (c->at < c->end && !one_of(*c->at, AFTER_SCALAR))
        return bad;
    return out_of_range(from, whole) ? "a number is out of range" : NULL;
}

static const char *fault_of_word(struct cursor *c)
{
    static const struct span words[] = {SPAN_INIT("true"), SPAN_INIT("false"), SPAN_INIT("null")};
    struct span rest = {c->at, (size_t)(c->end - c->at)};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!span_has_prefix(rest, words[i]))
            continue;
        c->at += words[i].len;
        if (c->at == c->end || one_of(*c->at, AFTER_SCALAR))
            return NULL;
        break;
    }
    return "expected a value";
}

enum want { WANT_VALUE, WANT_ITEM_OR_END, WANT_KEY, WANT_KEY_OR_END, WANT_COMMA_OR_END, WANT_NOTHING };

struct grammar {
    bool object[DOC_DEPTH_MAX];
    uint32_t depth;
    enum want want;
};

static void value_done(struct grammar *g)
{
    g->want = g->depth != 0 ? WANT_COMMA_OR_END : WANT_NOTHING;
}

static const char *fault_of_value(struct grammar *g, struct cursor *c)
{
    const char *fault = NULL;
    if (*c->at == '{' || *c->at == '[') {
        if (g->depth == DOC_DEPTH_MAX)
            return "nested more than 100 deep";
        bool object = *c->at++ == '{';
        g->object[g->depth++] = object;
        g->want = object ? WANT_KEY_OR_END : WANT_ITEM_OR_END;
        return NULL;
    }
    if (*c->at == '"')
        fault = fault_of_string(c);
    else if (*c->at == '-' || (*c->at >= '0' && *c->at <= '9'))
        fault = fault_of_number(c);
    else
        fault = fault_of_word(c);
    value_done(g);
    return fault;
}

static const char *fault_of_key(struct grammar *g, struct cursor *c)
{
    if (*c->at != '"')
        return "expected a member's name in double quotes";
    const char *fault = fault_of_string(c);
    if (fault != NULL)
        return fault;
    skip_space(c);
    if (c->at == c->end || *c->at != ':')
        return "expected a colon behind a member's name";
    c->at++;
    g->want = WANT_VALUE;
    return NULL;
}

static const char *fault_of_step(struct grammar *g, struct cursor *c)
{
    bool object = g->depth != 0 && g->object[g->depth - 1];
    char closing = object ? '}' : ']';
    if (*c->at == closing && (g->want == WANT_ITEM_OR_END || g->want == WANT_KEY_OR_END ||
                              g->want == WANT_COMMA_OR_END)) {
        c->at++;
        g->depth--;
        value_done(g);
        return NULL;
    }
    switch (g->want) {
    case WANT_VALUE:
    case WANT_ITEM_OR_END:
        return fault_of_value(g, c);
    case WANT_KEY:
    case WANT_KEY_OR_END:
        return fault_of_key(g, c);
    case WANT_COMMA_OR_END:
        if (*c->at != ',')
            return object ? "expected a comma or a closing brace"
                          : "expected a comma or a closing bracket";
        c->at++;
        g->want = object ? WANT_KEY : WANT_VALUE;
        return NULL;
    case WANT_NOTHING:
        break;
    }
    return "something follows the end of the value";
}

const char *json_fault(struct span text, uint32_t *line_out)
{
    struct cursor c = {text.ptr, text.ptr + text.len, 1};
    struct grammar g = {.want = WANT_VALUE};
    for (skip_space(&c); c.at < c.end; skip_space(&c)) {
        const char *fault = fault_of_step(&g, &c);
        if (fault != NULL) {
            *line_out = c.line;
            return fault;
        }
    }
    *line_out = c.line;
    if (g.want != WANT_NOTHING)
        return g.depth == 0 ? "the text is empty" : "the text ends in the middle";
    *line_out = 0;
    return NULL;
}
