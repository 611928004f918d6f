/* command_line: a command line that stands in one text. */
#ifndef SERVER_COMMAND_LINE_H
#define SERVER_COMMAND_LINE_H

#include "base/arena.h"
#include "base/err.h"

struct command_words { /* NUL-terminated, in the arena; as main has them */
    char **items;
    int count;
};

/* At white space, as a shell does without its variables and patterns: 'single' and "double" quotes keep it together, a
 * backslash the next byte (between double quotes before " and \ alone), and one before the end of a line joins the next.
 * ERR_INVALID: a quote is not closed. */
bool command_line_split(struct arena *a, struct span text, struct command_words *out, struct err *err);

#endif
