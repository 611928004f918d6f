/* html: text into HTML, escaped, and what is not safe to show as safe_text.h has it; amounts, prices and ages as people read them. */
#ifndef SERVER_HTML_H
#define SERVER_HTML_H

#include "base/buf.h"
#include "base/units.h"

void html_text(struct buf *out, struct span text); /* for content and quoted attributes */
void html_count(struct buf *out, uint64_t n);      /* "12,345" */
void html_cpu(struct buf *out, int64_t millicores);  /* "7.2" */
void html_bytes(struct buf *out, int64_t bytes);     /* "9.1Gi" */
void html_price(struct buf *out, double per_hour);   /* "$0.0932", "$1,234.50", "–" for NAN */
void html_age(struct buf *out, span_ms age);         /* "11s", "5m", "3h", "12d" */
void html_clock(struct buf *out, wall_ms t);         /* "<time datetime=…>12:04:30</time>", UTC */

#endif
