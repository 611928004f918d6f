#include "server/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/safe_text.h"
#include "server/colour.h"
#include "server/yaml_text.h"

const char *command_environment(const char *name)
{
    return getenv(name);
}

uint32_t terminal_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 0;
}

bool command_print(struct buf *text, bool as_yaml, struct err *err)
{
    struct buf yaml = {.max = text->max};
    bool ok = !text->overflow && (!as_yaml || yaml_text(&yaml, buf_span(text), err));
    struct buf safe = {.max = yaml.max}, coloured = {.max = text->max != 0 ? 2 * text->max : 0}, *shown = as_yaml ? &yaml : text;
    if (!safe_text_is(buf_span(shown), true)) {
        safe_lines_add(&safe, buf_span(shown));
        shown = &safe;
    }
    if (!as_yaml && shown->len != 0 && shown->ptr[0] != '{' && colour_wanted(isatty(STDOUT_FILENO) == 1, command_environment)) {
        colour_put(&coloured, buf_span(shown));
        shown = &coloured;
    }
    if (text->overflow || yaml.overflow || safe.overflow || coloured.overflow)
        ok = err_set(err, ERR_INTERNAL, "the answer is larger than %zu MiB",
                     (text->max != 0 ? text->max : BUF_DEFAULT_MAX) / 1024 / 1024);
    if (ok)
        ok = ((shown->len == 0 || fwrite(shown->ptr, 1, shown->len, stdout) == shown->len) && fflush(stdout) == 0) ||
             err_set(err, ERR_INTERNAL, "standard output cannot be written");
    buf_release(text);
    buf_release(&yaml);
    buf_release(&safe);
    buf_release(&coloured);
    return ok;
}

bool command_report(const struct buf *page, const char *path, struct err *err)
{
    if (page->overflow)
        return err_set(err, ERR_INTERNAL, "--report: the page is larger than %zu MiB", page->max / 1024 / 1024);
    FILE *f = fopen(path, "w");
    bool ok = f != NULL && fwrite(page->ptr, 1, page->len, f) == page->len;
    if (f != NULL && fclose(f) != 0)
        ok = false;
    return ok || err_set(err, ERR_INVALID, "--report: %s cannot be written: %s", path, strerror(errno));
}

void command_complain_lines(const struct buf *lines)
{
    struct buf safe = {0};
    safe_lines_add(&safe, buf_span(lines));
    fwrite(buf_span(&safe).ptr, 1, safe.len, stderr);
    buf_release(&safe);
}

void command_complain(const char *format, ...)
{
    struct buf line = {0};
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return; /* no memory left to say so */
    safe_line_add(&line, (struct span){text, (size_t)n});
    buf_add_char(&line, '\n');
    fwrite(line.ptr, 1, line.len, stderr);
    buf_release(&line);
    free(text);
}

int command_once(const char *word, int (*run)(struct arena *a, int argc, char *const *argv, struct err *err), int argc,
                 char *const *argv)
{
    struct arena a;
    struct err err = {0};
    arena_init(&a, 0);
    int status = run(&a, argc, argv, &err);
    if (err.kind != ERR_NONE)
        command_complain("stowage %s: %s", word, err.msg);
    arena_release(&a);
    return status;
}
