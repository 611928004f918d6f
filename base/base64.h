/* base64: RFC 4648 with padding, as Secrets and kubeconfigs carry bytes. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "arena.h"

/* White space is skipped, as people wrap their files; anything else outside the alphabet, and a
 * length that is not whole, is false. NUL follows the bytes. */
bool base64_decode(struct arena *a, struct span text, struct span *out);
struct span base64_encode(struct arena *a, struct span bytes);

#endif
