/* command: what `stowage WORD` runs. Each takes the arguments after its word and returns the exit
 * status: 0 done, 1 done but something has no place or is wrong, 2 not understood. */
#ifndef SERVER_COMMAND_H
#define SERVER_COMMAND_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "server/options.h"

int command_serve(int argc, char *const *argv);
int command_plan(int argc, char *const *argv);
int command_explain(int argc, char *const *argv);
int command_diff(int argc, char *const *argv);
int command_simulate(int argc, char *const *argv);
int command_top(int argc, char *const *argv);
int command_check(int argc, char *const *argv);
int command_catalogue(int argc, char *const *argv);

/* Of those that answer once and end: `run` has an arena of its own, and what is in its err is complained of. */
int command_once(const char *word, int (*run)(struct arena *a, int argc, char *const *argv, struct err *err), int argc,
                 char *const *argv);
/* Prints the help of a command of commands.h; returns its exit status. */
int command_help(const char *word);

/* For those commands: the environment as options_read asks for it; columns of the terminal, 0 when standard
 * output is none. */
const char *command_environment(const char *name);
uint32_t terminal_width(void);
/* Writes the answer, a table's text or JSON, to standard output; JSON `as_yaml` when that was asked for. Who composes a
 * table makes each of its lines safe (safe_text.h); what is not is made so here, line breaks apart. A table is coloured
 * on a terminal (colour.h). Releases the text. */
bool command_print(struct buf *text, bool as_yaml, struct err *err);

/* Writes the page that --report asks for. */
bool command_report(const struct buf *page, const char *path, struct err *err);

/* Writes one line to standard error, made safe as a whole (safe_text.h); the format has no line break. */
void command_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same of lines, each of which was made safe when it was composed. */
void command_complain_lines(const struct buf *lines);

#endif
