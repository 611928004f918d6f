/* handshakes: failed TLS handshakes, counted by listener and reason, and logged with what to do. Each listener logs its
 * first failure at once, and then at most one line in HANDSHAKES_LOG_MS, with the number of failures since the previous line: a
 * refused caller retries, and must not fill the log. Any thread. */
#ifndef SERVER_HANDSHAKES_H
#define SERVER_HANDSHAKES_H

#include "base/log.h"
#include "base/units.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/tls_failure.h"

enum { HANDSHAKES_LOG_MS = 10 * MS_SECOND };

struct handshakes;

struct handshakes *handshakes_new(struct metrics *m, const struct log *log); /* both outlive it; log NULL: only counts */
void handshakes_free(struct handshakes *h);

/* `peer`: "10.1.2.3:4567", or "". `detail`: of tls_take_failure, or empty. */
void handshakes_failed(struct handshakes *h, enum http_listener l, enum tls_failure why, const char *peer, struct span detail,
                       mono_ms now);

#endif
