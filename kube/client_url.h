/* client_url: the URLs and headers of the API client's requests (spec contracts 4.1, 4.2, 4.7). */
#ifndef KUBE_CLIENT_URL_H
#define KUBE_CLIENT_URL_H

#include "base/buf.h"
#include "kube/api.h"

/* One path segment or query value: all but letters, digits and -._~ becomes %XX. */
void url_encode(struct buf *out, struct span s);

/* One page; `cont` absent: the first. Without resourceVersion, so that a list never shows an older
 * state than the last one did, and pages hold: from resourceVersion=0 a server gives all at once.
 */
struct span url_list(struct arena *a, struct span server, enum kind k, bool older, uint32_t limit,
                     struct span cont);
struct span url_watch(struct arena *a, struct span server, enum kind k, bool older, struct span version,
                      int timeout_s);

struct http_call {
    const char *method;       /* "GET", "POST"… */
    struct span url;          /* NUL follows */
    const char *content_type; /* NULL: no body */
};

/* The API server, too, gives the request up after so long. For one that is no watch. */
struct span url_within(struct arena *a, struct span url, span_ms timeout);

void http_call_of(struct arena *a, struct span server, const struct api_request *r,
                  struct http_call *out);

#endif
