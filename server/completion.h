/* completion: what a shell offers after `stowage …`, for bash, zsh and fish, and for `kubectl stowage` by way of a
 * program kubectl_complete-stowage. The scripts ask the program itself, which answers as kubectl's and other programs of
 * Cobra do: a candidate a line, "VALUE\tWHAT IT IS", then ":0" where files are candidates, too, else ":4". */
#ifndef SERVER_COMPLETION_H
#define SERVER_COMPLETION_H

#include "base/buf.h"

#define COMPLETION_SHELLS "bash|zsh|fish"
#define COMPLETION_ASK "__complete" /* the word before the command line's words */

/* The candidates for the last of the words, which may be empty; the words before it are whole. */
void completion_put(struct buf *out, int count, const char *const *words);

int command_completion(int argc, char *const *argv); /* prints the script for a shell */
int command_complete(int argc, char *const *argv);   /* prints what completion_put says */

#endif
