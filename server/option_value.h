/* option_value: reads the text of one option's value. */
#ifndef SERVER_OPTION_VALUE_H
#define SERVER_OPTION_VALUE_H

#include "server/options.h"

/* `shown` is how the person named it: --threads or STOWAGE_THREADS. */
bool option_set(struct arena *a, const struct option *o, const char *shown, const char *text,
                struct options *out, struct err *err);

#endif
