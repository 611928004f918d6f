#include "server/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
    const struct buf *shown = as_yaml ? &yaml : text;
    if (text->overflow || yaml.overflow)
        ok = err_set(err, ERR_INTERNAL, "the answer is larger than %zu MiB",
                     (text->max != 0 ? text->max : BUF_DEFAULT_MAX) / 1024 / 1024);
    if (ok)
        ok = (fwrite(shown->ptr, 1, shown->len, stdout) == shown->len && fflush(stdout) == 0) ||
             err_set(err, ERR_INTERNAL, "standard output cannot be written");
    buf_release(text);
    buf_release(&yaml);
    return ok;
}
