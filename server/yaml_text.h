/* yaml_text: a JSON text written as YAML, for -o yaml. */
#ifndef SERVER_YAML_TEXT_H
#define SERVER_YAML_TEXT_H

#include "base/buf.h"
#include "base/err.h"

/* `json` is our own output, so a mistake in it is ERR_INTERNAL. */
bool yaml_text(struct buf *out, struct span json, struct err *err);

#endif
