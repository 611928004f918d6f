/* commands: the words after `stowage` in one table, from which dispatch, help, completion and manual pages are made. */
#ifndef SERVER_COMMANDS_H
#define SERVER_COMMANDS_H

#include "base/buf.h"
#include "base/span.h"
#include "server/options.h"

struct command {
    const char *word;
    const char *arguments;   /* of the usage line, without flags; NULL: none */
    const char *help;        /* one line */
    enum option_group group; /* 0: it takes no flag but --help */
    const char *first;       /* what its first argument may be: words separated by "|", "FILE", "COMMAND"; NULL: it has none */
    const char *examples;    /* each "what it does\ncommand\n" */
    /* Takes the arguments after the word, returns the exit status (command.h). NULL: `version`, which is given the text. */
    int (*run)(int argc, char *const *argv);
};

const struct command *command_row(size_t i); /* in the order of the help; NULL after the last */
const struct command *command_find(struct span word); /* NULL: there is none */

/* What `stowage ARGUMENTS` does, the program's name already taken off. `built_from` as in version.h. */
int command_run(int argc, char *const *argv, const char *built_from);

/* What `stowage help COMMAND` prints; 80 columns. */
void command_help_text(struct buf *out, const struct command *command);

#endif
