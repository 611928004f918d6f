/* descriptors: the limit of open files (RLIMIT_NOFILE), which listeners, the API client and files share.
 *
 * When it is reached, accept, connect and open all fail: a flood on one listener would end probes and watches. So every
 * bound of the listeners (server/http_connections.c) and what the rest needs must fit in it before anything is served. */
#ifndef SERVER_DESCRIPTORS_H
#define SERVER_DESCRIPTORS_H

#include "base/err.h"
#include "kube/api.h"
#include "kube/client_limits.h"

enum {
    /* Of the clients of the API server; a management cluster adds a second one. Over HTTP/1.1 each watch and each request
     * in progress has a connection of its own. libcurl itself opens four more. */
    DESCRIPTORS_API = 2 * (KIND_STORED_COUNT + CLIENT_RUNNING_MAX + 4),
    /* Standard streams, files that are read, /proc for metrics, and what libraries open. */
    DESCRIPTORS_REST = 64,
};

/* Raises the soft limit to the hard one. False: ERR_INVALID, `listeners` (http_server_descriptors) and the above do not
 * fit in that. */
bool descriptors_secure(uint64_t listeners, struct err *err);

#endif
