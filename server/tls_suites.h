/* tls_suites: cipher suites of TLS 1.2 by the names that Kubernetes' flags have for them (IANA's, as Go's crypto/tls), and
 * what OpenSSL calls them.
 *
 * Known are the suites of kube-scheduler's --tls-cipher-suites that have forward secrecy (ECDHE) and a cipher that is not
 * broken: AES-GCM, ChaCha20-Poly1305 and, for callers that have no other, AES-CBC. The suites of TLS 1.3 are known by
 * name and change nothing: as in Go, which of them are used is not configurable. */
#ifndef SERVER_TLS_SUITES_H
#define SERVER_TLS_SUITES_H

#include "base/buf.h"
#include "base/err.h"

/* OpenSSL's cipher list (colons between) of the suites of TLS 1.2 among these, in their order; without names the default:
 * all AEAD suites. Nothing is added when all are of TLS 1.3. False: ERR_INVALID with the unknown name and all known ones. */
bool tls_suites_list(struct buf *out, const char *const *names, uint32_t count, struct err *err);

#endif
