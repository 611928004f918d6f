/* rows: two sides beside each other, as a table and as JSON. */
#ifndef SERVER_DIFF_ROWS_H
#define SERVER_DIFF_ROWS_H

#include "base/json.h"
#include "server/diff/side.h"

/* Workloads, types and offers that are equal are left out and counted; equal sides are a sentence. */
void diff_table(struct buf *out, const struct diff_side *a, const struct diff_side *b, uint32_t width);
/* {"a": title, "b": title, "differences": n, "rows": [{"section", "name", "a", "b"}]}; a number that a side does not have is
 * absent. All of them. */
void diff_json(struct json *j, const struct diff_side *a, const struct diff_side *b);
/* How many numbers differ. */
size_t diff_count(const struct diff_side *a, const struct diff_side *b);

#endif
