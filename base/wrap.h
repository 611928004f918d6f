/* wrap: text broken at spaces, for a terminal. What is not safe there is shown as escapes (safe_text.h). */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include "base/buf.h"

/* Columns that are shown, not bytes: a name may hold UTF-8. */
uint32_t wrap_width(struct span s);
void wrap_spaces(struct buf *out, uint32_t n);
/* Writes the text, one sentence or more and no line break, from column `at` on, lines after the first indented by `hang`, and a newline. */
void wrap_put(struct buf *out, struct span text, uint32_t width, uint32_t at, uint32_t hang);

#endif
