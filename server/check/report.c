#include "server/check/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/safe_text.h"
#include "server/command.h"
#include "server/input.h"

enum { INDENT = 6 };

/* As they are printed, and as they are written in JSON. */
static const struct {
    const char *shown, *name;
} levels[CHECK_LEVEL_COUNT] = {
    [CHECK_OK] = {"ok", "ok"},
    [CHECK_UNKNOWN] = {"?", "unknown"},
    [CHECK_WARN] = {"warn", "warn"},
    [CHECK_FAIL] = {"FAIL", "fail"},
};

void check_say(struct check_report *r, enum check_level level, const char *topic, const char *fix,
               const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    struct check_line l = {.level = level,
                           .topic = topic,
                           .sentence = arena_dup(r->a, span_of(line)),
                           .fix = arena_dup(r->a, span_of(fix))};
    ARENA_PUSH(r->a, r->lines, r->count, r->capacity, l);
}

void check_say_of_file(struct check_report *r, enum check_level level, const char *topic, const char *file,
                       uint32_t line, struct span sentence)
{
    struct check_line l = {.level = level, .topic = topic, .sentence = sentence, .file = file, .line = line};
    ARENA_PUSH(r->a, r->lines, r->count, r->capacity, l);
}

uint32_t check_count(const struct check_report *r, enum check_level level)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++)
        n += r->lines[i].level == level;
    return n;
}

/* Words, the first of them at column INDENT; the cursor stands there already. */
static void put_words(struct buf *out, struct span text, uint32_t width)
{
    size_t column = INDENT;
    for (struct span rest = text; rest.ptr != NULL;) {
        struct span word = span_cut(rest, ' ', &rest);
        bool first = word.ptr == text.ptr;
        if (!first && width != 0 && column + 1 + word.len > width) {
            buf_addf(out, "\n%*s", INDENT, "");
            column = INDENT;
        } else if (!first) {
            buf_add_char(out, ' ');
            column++;
        }
        buf_add(out, word);
        column += word.len;
    }
    buf_add_char(out, '\n');
}

static void put_count(struct buf *out, uint32_t n, const char *one, const char *several)
{
    if (n != 0)
        buf_addf(out, "%s%u %s", out->len != 0 && out->ptr[out->len - 1] != '\n' ? ", " : "", n,
                 n == 1 ? one : several);
}

void check_text(struct buf *out, const struct check_report *r, uint32_t width)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct check_line *l = &r->lines[i];
        buf_addf(out, "%-*s", INDENT, levels[l->level].shown);
        put_words(out, safe_line(r->a, input_placed(r->a, l->file, l->line, l->sentence)), width);
        if (l->fix.len != 0) {
            buf_addf(out, "%*s", INDENT, "");
            put_words(out, safe_line(r->a, l->fix), width);
        }
    }
    uint32_t ok = check_count(r, CHECK_OK);
    if (ok == r->count) {
        buf_add(out, SPAN("nothing to mend\n"));
        return;
    }
    put_count(out, check_count(r, CHECK_FAIL), "problem", "problems");
    put_count(out, check_count(r, CHECK_WARN), "warning", "warnings");
    put_count(out, check_count(r, CHECK_UNKNOWN), "unknown", "unknown");
    buf_add_char(out, '\n');
}

void check_json(struct json *j, const struct check_report *r)
{
    json_object_begin(j);
    json_put_array(j, "checks");
    for (uint32_t i = 0; i < r->count; i++) {
        const struct check_line *l = &r->lines[i];
        json_object_begin(j);
        json_put_string(j, "check", span_of(l->topic));
        json_put_string(j, "level", span_of(levels[l->level].name));
        if (l->file != NULL)
            json_put_string(j, "file", span_of(l->file));
        if (l->line != 0)
            json_put_int(j, "line", l->line);
        json_put_string(j, "message", l->sentence);
        if (l->fix.len != 0)
            json_put_string(j, "fix", l->fix);
        json_object_end(j);
    }
    json_array_end(j);
    json_put_int(j, "problems", check_count(r, CHECK_FAIL));
    json_put_int(j, "warnings", check_count(r, CHECK_WARN));
    json_put_int(j, "unknown", check_count(r, CHECK_UNKNOWN));
    json_object_end(j);
}

/* A command ends with its line; commas and colons part what stands before the message. */
static void put_escaped(struct buf *out, struct span text, const char *special)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(special, text.ptr[i]) != NULL)
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
        else
            buf_add_char(out, text.ptr[i]);
}

void check_github(struct buf *out, const struct check_report *r)
{
    static const char *const commands[CHECK_LEVEL_COUNT] = {
        [CHECK_UNKNOWN] = "notice", [CHECK_WARN] = "warning", [CHECK_FAIL] = "error"};
    for (uint32_t i = 0; i < r->count; i++) {
        const struct check_line *l = &r->lines[i];
        if (commands[l->level] == NULL)
            continue;
        buf_addf(out, "::%s", commands[l->level]);
        if (l->file != NULL) {
            buf_add(out, SPAN(" file="));
            put_escaped(out, span_of(l->file), "%\r\n:,");
        }
        if (l->line != 0)
            buf_addf(out, ",line=%u", l->line);
        buf_add(out, SPAN("::"));
        put_escaped(out, safe_line(r->a, l->sentence), "%\r\n");
        if (l->fix.len != 0) {
            buf_add(out, SPAN("; "));
            put_escaped(out, safe_line(r->a, l->fix), "%\r\n");
        }
        buf_add_char(out, '\n');
    }
}

bool check_print(const struct check_report *r, const struct options *o, struct err *err)
{
    struct buf text = {0};
    if (o->output == OUTPUT_TABLE) {
        check_text(&text, r, terminal_width());
    } else if (o->output == OUTPUT_GITHUB) {
        check_github(&text, r);
    } else {
        struct json j = {.out = &text, .indent = 2};
        check_json(&j, r);
        buf_add_char(&text, '\n');
    }
    return command_print(&text, o->output == OUTPUT_YAML, err);
}
