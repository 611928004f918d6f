/* colour: what of a table's text is made to stand out on a terminal. */
#ifndef SERVER_COLOUR_H
#define SERVER_COLOUR_H

#include <stdbool.h>

#include "base/buf.h"

/* On a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb". */
bool colour_wanted(bool is_terminal, const char *(*getenv_fn)(const char *));

/* The text with the words that begin its blocks in colour: what is bought green, what goes yellow, what has no place red, and
 * how to mend that cyan; its first line, the answer, is bold. */
void colour_put(struct buf *out, struct span text);

#endif
