/* descriptors: the limit of open files (RLIMIT_NOFILE), which listeners, the API client and files share.
 *
 * Where it is reached accept, connect and open fail alike: a flood on one listener would end probes and watches. So every
 * bound of the listeners (server/http_connections.c) and what the rest needs must fit in it before anything is served. */
#ifndef SERVER_DESCRIPTORS_H
#define SERVER_DESCRIPTORS_H

#include "base/err.h"
#include "kube/api.h"
#include "kube/client_limits.h"

enum {
    /* Of clients of the API server, of which there are two with a management cluster: over HTTP/1.1 each watch and each
     * request under way has a connection of its own; and the four of libcurl's own. */
    DESCRIPTORS_API = 2 * (KIND_STORED_COUNT + CLIENT_RUNNING_MAX + 4),
    /* Standard streams, files that are read, /proc for metrics, and what libraries open. */
    DESCRIPTORS_REST = 64,
};

/* Raises the soft limit to the hard one. False: ERR_INVALID, `listeners` (http_server_descriptors) and the above do not
 * fit in that. */
bool descriptors_secure(uint64_t listeners, struct err *err);

#endif
