#include "base/wrap.h"
#include "base/safe_text.h"

uint32_t wrap_width(struct span s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    return n;
}

void wrap_spaces(struct buf *out, uint32_t n)
{
    while (n-- != 0)
        buf_add_char(out, ' ');
}

void wrap_put(struct buf *out, struct span text, uint32_t width, uint32_t at, uint32_t hang)
{
    struct buf safe = {0};
    safe_line_add(&safe, text);
    text = buf_span(&safe);
    for (bool first = true; text.len != 0; first = false) {
        struct span word = span_cut(text, ' ', &text);
        uint32_t wide = wrap_width(word);
        if (!first && at + 1 + wide > width) {
            buf_add_char(out, '\n');
            wrap_spaces(out, hang);
            at = hang;
        } else if (!first) {
            buf_add_char(out, ' ');
            at++;
        }
        buf_add(out, word);
        at += wide;
    }
    buf_release(&safe);
    buf_add_char(out, '\n');
}
