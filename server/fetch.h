/* fetch: one GET of a small text, for commands that ask a running server. */
#ifndef SERVER_FETCH_H
#define SERVER_FETCH_H

#include "base/buf.h"
#include "base/err.h"

enum { FETCH_SECONDS = 10 };

/* Waits. False: nobody answered, or the token (--page-token-file; NULL: none) cannot be read. */
bool fetch_text(const char *url, const char *token_file, int *status_out, struct buf *out, struct err *err);

#endif
