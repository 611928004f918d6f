#include "support_command.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int run_into(FILE *out, int (*command)(int argc, char *const *argv), int argc, char *const *argv)
{
    fflush(NULL);
    int kept[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(out), STDERR_FILENO);
    int status = command(argc, argv);
    fflush(NULL);
    dup2(kept[0], STDOUT_FILENO);
    dup2(kept[1], STDERR_FILENO);
    close(kept[0]);
    close(kept[1]);
    return status;
}

struct outcome run_command(int (*command)(int argc, char *const *argv), const char *objects,
                           const char *const *args)
{
    char path[] = "/tmp/stowage-command-XXXXXX", *argv[COMMAND_ARGS_MAX];
    struct outcome o;
    int fd = mkstemp(path), argc = 0;
    assert_true(fd >= 0);
    FILE *in = fdopen(fd, "w"), *out = tmpfile();
    fputs(objects, in);
    fclose(in);
    for (; argc < COMMAND_ARGS_MAX && args[argc] != NULL; argc++)
        argv[argc] = strcmp(args[argc], "{}") == 0 ? path : (char *)(uintptr_t)args[argc];
    o.status = run_into(out, command, argc, argv);
    rewind(out);
    o.text[fread(o.text, 1, sizeof(o.text) - 1, out)] = '\0';
    fclose(out);
    unlink(path);
    return o;
}
