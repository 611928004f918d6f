#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/command.h"
#include "support_plan.h"

struct outcome plan(const char *objects)
{
    static const char *const args[COMMAND_ARGS_MAX] = {"-f", "{}", "--all-unbound"};
    return run_command(command_plan, objects, args);
}

void expect_text(const char *label, const struct outcome *o, const char *want)
{
    if (strstr(o->text, want) == NULL)
        fail_msg("%s: no \"%s\" in: status %d, %s", label, want, o->status, o->text);
}
