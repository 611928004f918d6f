/* resume: what a watch does after its LIST or stream has ended (spec contracts 4.3 to 4.5). Pure:
 * the transport tells how it ended, this decides, the transport waits and obeys. */
#ifndef KUBE_RESUME_H
#define KUBE_RESUME_H

#include "kube/api.h"
#include "kube/backoff.h"

enum resume_next {
    RESUME_LIST,  /* from the first page */
    RESUME_PAGE,  /* the same page again; smaller pages when `page` was lowered */
    RESUME_WATCH, /* from the last resourceVersion */
};

struct resume {
    struct backoff backoff;
    uint32_t page_wanted; /* objects of a LIST page */
    uint32_t page;        /* as it is now: halved after a page that was too large */
    uint32_t refused;     /* answers in a row that refused to watch */
    bool unreachable;     /* the last failure was that of a connection */
    bool relisted;        /* the last thing was a LIST because of 410 */
    bool reauthorized;    /* credentials were read again after a 401 */
};

struct resume_end {
    bool listing; /* a page; else a stream */
    bool first_page;
    bool too_large; /* the page or event was over its ceiling */
    int status;     /* of HTTP, or of the ERROR event; 0: the connection failed; 200: a clean end */
    int32_t retry_after_s; /* -1: none */
    span_ms lived;         /* a stream: since its headers came */
    bool heard;            /* a stream: it carried at least one event */
};

struct resume_step {
    enum resume_next next;
    span_ms delay;
    bool broken;      /* to be told to the sink */
    bool credentials; /* read them again first */
};

void resume_init(struct resume *r, span_ms first, span_ms max, uint32_t page);
/* A page has come and there are more, or the list is complete. */
void resume_page_done(struct resume *r);
/* Not for pages that came whole. */
struct resume_step resume_after(struct resume *r, const struct resume_end *end, double random);

#endif
