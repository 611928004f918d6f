/* status: what an answer of the API server says, in terms of api_result (spec contracts 4.3). */
#ifndef KUBE_STATUS_H
#define KUBE_STATUS_H

#include "kube/api.h"

/* Fills err, reason, cause, body and, when the header had none (-1), retry_after_s of a result that
 * has `status` set. `doc` is the parsed body or NULL; `text` the body as it came, for the message
 * of an answer that is no Status: proxies and priority & fairness answer in plain text. Spans
 * borrow from the doc. */
void status_read(struct api_result *r, const struct doc *doc, struct span text);

/* The API server has more to do than it can: 429, but for that of a budget in an eviction's way (`cause`),
 * and 503 with Retry-After. It did nothing, and says nothing about the object. */
bool status_is_busy(int status, int32_t retry_after_s, struct span cause);

/* The same for the object of a watch's ERROR event; its `code` becomes the status. */
void status_of_event(struct api_result *r, struct doc_value object);

/* Retry-After in seconds, at most a day; -1 for a date or anything else. */
int32_t status_retry_after(struct span header_value);

#endif
