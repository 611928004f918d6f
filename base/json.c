#include "base/json.h"
#include "base/safe_text.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

static uint64_t level_bit(const struct json *j)
{
    return UINT64_C(1) << (j->depth - 1);
}

static void new_line(struct json *j)
{
    if (j->indent == 0)
        return;
    size_t n = (size_t)j->depth * j->indent;
    char *at = buf_reserve(j->out, n + 1);
    if (at == NULL)
        return;
    at[0] = '\n';
    memset(at + 1, ' ', n);
    buf_commit(j->out, n + 1);
}

static void separate(struct json *j)
{
    if (j->has_items & level_bit(j))
        buf_add_char(j->out, ',');
    j->has_items |= level_bit(j);
    new_line(j);
}

static void before_value(struct json *j)
{
    if (j->depth == 0)
        return;
    bool in_object = (j->is_object & level_bit(j)) != 0;
    assert(in_object == j->after_key); /* a value in an object follows a key, and only there */
    if (!in_object)
        separate(j);
    j->after_key = false;
}

static void open_level(struct json *j, char bracket, bool object)
{
    before_value(j);
    assert(j->depth < DEPTH_MAX);
    buf_add_char(j->out, bracket);
    j->depth++;
    j->has_items &= ~level_bit(j);
    j->is_object = object ? j->is_object | level_bit(j) : j->is_object & ~level_bit(j);
}

static void close_level(struct json *j, char bracket, bool object)
{
    assert(j->depth != 0 && !j->after_key);
    assert(((j->is_object & level_bit(j)) != 0) == object);
    (void)object;
    bool had_items = (j->has_items & level_bit(j)) != 0;
    j->depth--;
    if (had_items)
        new_line(j);
    buf_add_char(j->out, bracket);
}

void json_object_begin(struct json *j)
{
    open_level(j, '{', true);
}

void json_object_end(struct json *j)
{
    close_level(j, '}', true);
}

void json_array_begin(struct json *j)
{
    open_level(j, '[', false);
}

void json_array_end(struct json *j)
{
    close_level(j, ']', false);
}

static const uint64_t EACH_BYTE = UINT64_C(0x0101010101010101);

/* Whether eight bytes are ASCII and none is a quote, a backslash, DEL or below 0x20. Only a byte that is
 * takes from the one above it, so that the answer is exact. */
static bool is_plain(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    uint64_t quote = word ^ EACH_BYTE * '"', backslash = word ^ EACH_BYTE * '\\', del = word ^ EACH_BYTE * 0x7f;
    return ((word | (word - EACH_BYTE * 0x20) | (quote - EACH_BYTE) | (backslash - EACH_BYTE) | (del - EACH_BYTE)) &
            EACH_BYTE * 0x80) == 0;
}

/* How many bytes from `at` on can be copied as they are. */
static size_t plain_run(const char *at, const char *end)
{
    const char *p = at;
    while (end - p >= 8 && is_plain(p))
        p += 8;
    while (p < end) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
            break;
        size_t n = c < 0x80 ? 1 : utf8_length(p, end);
        if (n == 0 || (n > 1 && !safe_code(utf8_code(p, n))))
            break;
        p += n;
    }
    return (size_t)(p - at);
}

static void add_unit(struct buf *out, uint32_t unit)
{
    buf_addf(out, "\\u%04x", unit);
}

/* The character at `at`, as an escape; returns its bytes. Beyond U+FFFF it is two surrogates (RFC 8259, 7). */
static size_t add_escaped(struct buf *out, const char *at, const char *end)
{
    static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof(short_forms); i += 2) {
        if (short_forms[i] == *at) {
            buf_add(out, (struct span){(char[]){'\\', short_forms[i + 1]}, 2});
            return 1;
        }
    }
    size_t n = utf8_length(at, end);
    uint32_t code = n != 0 ? utf8_code(at, n) : 0;
    if (n == 0) {
        buf_add(out, SPAN("\xEF\xBF\xBD")); /* U+FFFD for a byte that is no UTF-8 */
        return 1;
    }
    if (code > 0xFFFF)
        add_unit(out, 0xD800 + ((code - 0x10000) >> 10));
    add_unit(out, code > 0xFFFF ? 0xDC00 + (code & 0x3FF) : code);
    return n;
}

static void add_with_escapes(struct buf *out, struct span s)
{
    const char *at = s.ptr, *end = s.ptr + s.len;
    buf_add_char(out, '"');
    while (at < end) {
        size_t run = plain_run(at, end);
        buf_add(out, (struct span){at, run});
        at += run;
        if (at < end)
            at += add_escaped(out, at, end);
    }
    buf_add_char(out, '"');
}

void json_add_text(struct buf *out, struct span s)
{
    if (s.len != 0 && plain_run(s.ptr, s.ptr + s.len) != s.len) {
        add_with_escapes(out, s);
        return;
    }
    char *to = buf_reserve(out, s.len + 2);
    if (to == NULL)
        return;
    to[0] = '"';
    if (s.len != 0)
        memcpy(to + 1, s.ptr, s.len);
    to[s.len + 1] = '"';
    buf_commit(out, s.len + 2);
}

void json_key(struct json *j, struct span key)
{
    assert(j->depth != 0 && (j->is_object & level_bit(j)) != 0 && !j->after_key);
    separate(j);
    json_add_text(j->out, key);
    buf_add(j->out, j->indent != 0 ? SPAN(": ") : SPAN(":"));
    j->after_key = true;
}

void json_text(struct json *j, struct span s)
{
    before_value(j);
    json_add_text(j->out, s);
}

void json_int(struct json *j, int64_t v)
{
    before_value(j);
    buf_add_int(j->out, v);
}

size_t json_double_text(double v, char out[JSON_DOUBLE_SIZE])
{
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) { /* 17 always read back equal */
        n = snprintf(out, JSON_DOUBLE_SIZE, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            break;
    }
    return (size_t)n;
}

void json_double(struct json *j, double v)
{
    assert(isfinite(v));
    char text[JSON_DOUBLE_SIZE];
    size_t n = json_double_text(v, text);
    before_value(j);
    buf_add(j->out, (struct span){text, n});
}

void json_bool(struct json *j, bool v)
{
    before_value(j);
    buf_add(j->out, v ? SPAN("true") : SPAN("false"));
}

void json_null_value(struct json *j)
{
    before_value(j);
    buf_add(j->out, SPAN("null"));
}

void json_raw(struct json *j, struct span json_text)
{
    before_value(j);
    buf_add(j->out, json_text);
}

void json_put_string(struct json *j, const char *key, struct span s)
{
    json_key(j, span_of(key));
    json_text(j, s);
}

void json_put_int(struct json *j, const char *key, int64_t v)
{
    json_key(j, span_of(key));
    json_int(j, v);
}

void json_put_bool(struct json *j, const char *key, bool v)
{
    json_key(j, span_of(key));
    json_bool(j, v);
}

void json_put_object(struct json *j, const char *key)
{
    json_key(j, span_of(key));
    json_object_begin(j);
}

void json_put_array(struct json *j, const char *key)
{
    json_key(j, span_of(key));
    json_array_begin(j);
}
