#include "server/colour.h"

#include <string.h>

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define PLAIN "\033[0m"

static const struct {
    struct span word;
    const char *colour;
} words[] = {
    {SPAN_INIT("BUY"), GREEN},      {SPAN_INIT("USE"), GREEN},       {SPAN_INIT("GROW"), GREEN},
    {SPAN_INIT("REMOVE"), YELLOW},  {SPAN_INIT("SHRINK"), YELLOW},   {SPAN_INIT("REPAIR"), YELLOW},
    {SPAN_INIT("NO PLACE"), RED},   {SPAN_INIT("Fix:"), CYAN},       {SPAN_INIT("warning:"), YELLOW},
    {SPAN_INIT("error:"), RED},
};

bool colour_wanted(bool is_terminal, const char *(*getenv_fn)(const char *))
{
    const char *off = getenv_fn("NO_COLOR"), *term = getenv_fn("TERM");
    return is_terminal && (off == NULL || off[0] == '\0') && (term == NULL || strcmp(term, "dumb") != 0);
}

static bool is_end_of_word(struct span rest)
{
    return rest.len == 0 || rest.ptr[0] == ' ' || rest.ptr[0] == '\n';
}

static void put_line(struct buf *out, struct span line, bool is_first)
{
    size_t indent = 0;
    while (indent < line.len && line.ptr[indent] == ' ')
        indent++;
    struct span text = {line.ptr + indent, line.len - indent};
    buf_add(out, (struct span){line.ptr, indent});
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct span word = words[i].word, rest = {text.ptr + word.len, text.len - word.len};
        if (span_has_prefix(text, word) && is_end_of_word(rest)) {
            buf_addf(out, "%s%.*s" PLAIN "%.*s", words[i].colour, SPAN_ARG(word), SPAN_ARG(rest));
            return;
        }
    }
    if (is_first && text.len != 0)
        buf_addf(out, BOLD "%.*s" PLAIN, SPAN_ARG(text));
    else
        buf_add(out, text);
}

void colour_put(struct buf *out, struct span text)
{
    bool is_first = true;
    for (struct span line, rest = text; rest.len != 0; is_first = false) {
        line = span_cut(rest, '\n', &rest);
        put_line(out, line, is_first);
        if (rest.ptr != NULL)
            buf_add_char(out, '\n');
    }
}
