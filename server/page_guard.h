/* page_guard: who may ask the page's listener.
 *
 * By the name under which it was asked: a page of somebody else's in a reader's browser can let its own name mean 127.0.0.1
 * and would then read what the reader may read (DNS rebinding), but its requests still say that name. Let in are loopback's
 * names, every address (nobody can rebind one), what --page-listen names and what --page-host adds. A request without a
 * name comes from no browser.
 *
 * By where it was asked from: a browser that asks for a page of another site says so (Sec-Fetch-Site: cross-site), and is
 * turned away, also where that page merely links to us. The same origin and the same site are let in, and so is an address
 * that a reader entered (none). A request without that header comes from no browser, or from one before 2023.
 *
 * And by a token, if there is one: Authorization: Bearer TOKEN, or Basic with any user and the token as password, which is
 * what a browser asks its reader for. */
#ifndef SERVER_PAGE_GUARD_H
#define SERVER_PAGE_GUARD_H

#include "base/arena.h"
#include "base/err.h"
#include "server/http.h"

enum { PAGE_TOKEN_MIN = 16, PAGE_TOKEN_MAX = 4096 }; /* bytes: shorter ones can be tried out */

struct page_guard { /* everything is the caller's and outlives the listener */
    struct span listen; /* the host of --page-listen; absent: every address */
    const char *const *hosts; /* of --page-host; one that begins with a dot takes all below it */
    uint32_t host_count;
    struct span token; /* absent: none is asked for */
};

/* Whether the page may be served on `host` (of --page-listen; absent: every address): on loopback, where there is a token, or where
 * that is waived (--page-insecure). False with ERR_INVALID: what to do. */
bool page_guard_may_listen(struct span host, bool has_token, bool insecure, struct err *err);

/* The first line of a file. False: it cannot be read, or is no token. */
bool page_token_read(struct arena *a, const char *path, struct span *out, struct err *err);

/* http_guard.admits, whose user is a struct page_guard: true, or 421, 403 or 401 with a sentence in *r. */
bool page_guard_admits(void *guard, const struct http_request *q, struct http_reply *r);

#endif
