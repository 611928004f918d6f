#include "base/safe_text.h"

#include "base/utf8.h"

static const struct {
    uint32_t first, last;
} unsafe[] = {
    {0x0000, 0x001F},   /* C0 controls */
    {0x007F, 0x009F},   /* DEL, C1 controls: U+009B begins a terminal's sequence as ESC [ does */
    {0x00AD, 0x00AD},   /* soft hyphen */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x180E, 0x180E},   /* Mongolian vowel separator */
    {0x200B, 0x200F},   /* without a width; left-to-right and right-to-left marks */
    {0x2028, 0x202E},   /* separators of lines and paragraphs; embeddings and overrides of direction */
    {0x2060, 0x206F},   /* without a width; isolates of direction */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFF9, 0xFFFB},   /* interlinear annotation */
    {0xE0000, 0xE007F}, /* tags */
};

bool safe_code(uint32_t code)
{
    if (code >= 0x20 && code < 0x7F)
        return true;
    for (size_t i = 0; i < COUNT_OF(unsafe) && code >= unsafe[i].first; i++)
        if (code <= unsafe[i].last)
            return false;
    return true;
}

/* Bytes from `from` on, at most to `to`, that may be shown as they are. */
static size_t safe_run(struct span text, size_t from, size_t to, bool lines)
{
    size_t i = from;
    while (i < to) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c >= 0x20 && c < 0x7F) || (lines && c == '\n')) {
            i++;
            continue;
        }
        size_t n = utf8_length(text.ptr + i, text.ptr + text.len);
        if (n == 0 || !safe_code(utf8_code(text.ptr + i, n)))
            break;
        i += n;
    }
    return i - from;
}

bool safe_text_is(struct span text, bool lines)
{
    return safe_run(text, 0, text.len, lines) == text.len;
}

/* The first character of a text that is not safe; returns its bytes. */
static size_t add_escape(struct buf *out, struct span text)
{
    size_t n = utf8_length(text.ptr, text.ptr + text.len);
    uint32_t code = n != 0 ? utf8_code(text.ptr, n) : 0;
    if (n == 0)
        buf_addf(out, "\\x%02x", (unsigned)(unsigned char)text.ptr[0]);
    else if (code == '\n' || code == '\r' || code == '\t')
        buf_add(out, code == '\n' ? SPAN("\\n") : code == '\r' ? SPAN("\\r") : SPAN("\\t"));
    else
        buf_addf(out, code > 0xFFFF ? "\\U%08x" : "\\u%04x", code);
    return n != 0 ? n : 1;
}

static void add_until(struct buf *out, struct span text, size_t to, bool lines)
{
    for (size_t i = 0; i < to;) {
        size_t run = safe_run(text, i, to, lines);
        buf_add(out, (struct span){text.ptr + i, run});
        i += run;
        if (i < to)
            i += add_escape(out, (struct span){text.ptr + i, text.len - i});
    }
}

/* `most` bytes, or fewer so that no character is cut. */
static size_t whole_characters(struct span text, size_t most)
{
    size_t n = most;
    while (n != 0 && most - n < 3 && ((unsigned char)text.ptr[n] & 0xC0) == 0x80)
        n--;
    return ((unsigned char)text.ptr[n] & 0xC0) == 0x80 ? most : n; /* no UTF-8 there */
}

void safe_line_add(struct buf *out, struct span text)
{
    static const char more[] = "…";
    size_t from = out->len, to = text.len <= SAFE_LINE_MAX ? text.len : whole_characters(text, SAFE_LINE_MAX);
    add_until(out, text, to, false);
    if (out->overflow || (to == text.len && out->len - from <= SAFE_LINE_MAX))
        return;
    struct span line = {out->ptr + from, out->len - from};
    size_t most = SAFE_LINE_MAX - strlen(more);
    out->len = from + (line.len > most ? whole_characters(line, most) : line.len);
    buf_add(out, span_of(more));
}

struct span safe_line(struct arena *a, struct span text)
{
    if (text.len <= SAFE_LINE_MAX && safe_text_is(text, false))
        return text;
    struct buf b = {0};
    safe_line_add(&b, text);
    struct span safe = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return safe;
}

struct span safe_value(struct arena *a, struct span value)
{
    if (value.len <= SAFE_VALUE_MAX)
        return value;
    return arena_printf(a, "%.*s…", (int)whole_characters(value, SAFE_VALUE_MAX), value.ptr);
}

void safe_lines_add(struct buf *out, struct span text)
{
    add_until(out, text, text.len, true);
}
