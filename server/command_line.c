#include "server/command_line.h"

#include "base/buf.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* How many bytes a backslash at `at` takes with what it keeps; 1: it is a byte as any other. */
static size_t escape_len(struct span text, size_t at, char quote)
{
    if (at + 1 == text.len || quote == '\'')
        return 1;
    char next = text.ptr[at + 1];
    return quote == 0 || next == '"' || next == '\\' || next == '\n' ? 2 : 1;
}

static void end_word(struct arena *a, struct buf *word, bool *in_word, struct command_words *out)
{
    if (*in_word)
        out->items[out->count++] = (char *)(uintptr_t)arena_cstr(a, buf_span(word)); /* made here */
    buf_clear(word);
    *in_word = false;
}

bool command_line_split(struct arena *a, struct span text, struct command_words *out, struct err *err)
{
    struct buf word = {0};
    char quote = 0;
    bool in_word = false;
    *out = (struct command_words){.items = ARENA_ARRAY(a, char *, text.len / 2 + 2)};
    for (size_t i = 0; i < text.len; i++) {
        bool escaped = text.ptr[i] == '\\' && escape_len(text, i, quote) == 2;
        if (escaped && text.ptr[++i] == '\n')
            continue;
        char c = text.ptr[i];
        if (!escaped && quote == 0 && is_space(c)) {
            end_word(a, &word, &in_word, out);
            continue;
        }
        in_word = true;
        if (!escaped && (quote == 0 ? c == '\'' || c == '"' : c == quote))
            quote = quote == 0 ? c : 0;
        else
            buf_add_char(&word, c);
    }
    end_word(a, &word, &in_word, out);
    buf_release(&word);
    return quote == 0 || err_set(err, ERR_INVALID, "%c is not closed", quote);
}
