/* manual: pages for man(1), in mdoc, made of the tables that --help is made of. */
#ifndef SERVER_MANUAL_H
#define SERVER_MANUAL_H

#include "base/buf.h"
#include "server/commands.h"

void manual_put(struct buf *out, const struct command *command); /* NULL: the page of the whole program */
int command_manual(int argc, char *const *argv);

#endif
