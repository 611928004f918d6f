#include "planner/explain/answer.h"
#include "base/safe_text.h"
#include "base/wrap.h"

enum { HEAD_MAX = 24 }; /* longer ones do not push the others' text to the right */

static uint32_t head_column(const struct explanation *e)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < e->line_count; i++) {
        uint32_t wide = wrap_width(e->lines[i].head);
        if (wide <= HEAD_MAX && wide > column)
            column = wide;
    }
    return column;
}

void explanation_text(struct buf *out, const struct explanation *e, uint32_t width)
{
    uint32_t column = head_column(e);
    struct buf head = {0};
    width = width != 0 ? width : 80;
    wrap_put(out, e->sentence, width, 0, 0);
    if (e->line_count != 0)
        buf_add_char(out, '\n');
    for (uint32_t i = 0; i < e->line_count; i++) {
        buf_clear(&head);
        safe_line_add(&head, e->lines[i].head);
        uint32_t wide = wrap_width(buf_span(&head)), pad = wide < column ? column - wide : 0;
        wrap_spaces(out, 2);
        buf_add(out, buf_span(&head));
        wrap_spaces(out, pad + 2);
        wrap_put(out, e->lines[i].text, width, 4 + wide + pad, 4 + column);
    }
    buf_release(&head);
}

void explanation_json(struct json *j, const struct explanation *e)
{
    json_object_begin(j);
    json_put_bool(j, "hasPlace", e->has_place);
    json_put_string(j, "sentence", e->sentence);
    json_put_array(j, "lines");
    for (uint32_t i = 0; i < e->line_count; i++) {
        json_object_begin(j);
        json_put_string(j, "about", e->lines[i].head);
        json_put_string(j, "text", e->lines[i].text);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
