/* client_limits: how much memory and patience the API server's answers may take. One list, with the
 * reason of each. */
#ifndef KUBE_CLIENT_LIMITS_H
#define KUBE_CLIENT_LIMITS_H

#include "base/units.h"

enum {
    /* A LIST page. The API server stores no object over 1.5 MiB (etcd) and takes none over 3 MiB; a
     * page that is larger is asked for again with half as many objects, down to one. */
    CLIENT_PAGE_MAX = 64 * 1024 * 1024,
    /* One watch event: the largest object, escaped, and its frame. */
    CLIENT_EVENT_MAX = 16 * 1024 * 1024,
    /* Any other reply. Lists of Leases or Secrets by name are the largest. */
    CLIENT_REPLY_MAX = 16 * 1024 * 1024,
    /* A watch that is refused: a Status. */
    CLIENT_REFUSAL_MAX = 64 * 1024,
    /* Kept of a reply buffer for its next use; more is given back. */
    CLIENT_KEEP_BYTES = 256 * 1024,
    /* Kept of the parser's buffers: the events of a quiet cluster, some 15 bytes for each of their own. */
    CLIENT_KEEP_PARSER = 8 * 1024 * 1024,
    /* Idle handles kept. */
    CLIENT_KEEP_HANDLES = 64,
    /* Requests under way at once. With the watches they stay below the 100 streams of an HTTP/2
     * connection: over that, each would get a connection of its own. */
    CLIENT_RUNNING_MAX = 64,
    /* A token file is some kilobytes, a CA bundle at most a few hundred. */
    CLIENT_FILE_MAX = 1024 * 1024,
    /* How long a Retry-After keeps everything back: who names an hour is asked again after a minute. */
    CLIENT_BUSY_MAX_MS = 60 * MS_SECOND,
    /* Attempts of one request, and how long it may take before it is handed back. */
    CLIENT_TRIES_MAX = 10,
    CLIENT_TRIES_MS = 60 * MS_SECOND,
    /* What is sent and not acknowledged for so long means a dead connection. */
    CLIENT_ACK_MS = 30 * MS_SECOND,
    /* Servers close watches by themselves after a random time between these. */
    CLIENT_WATCH_MIN_S = 5 * 60,
    CLIENT_WATCH_MAX_S = 10 * 60,
    /* Credential files are looked at so often, and read again at least so often. */
    CLIENT_FILE_LOOK_MS = MS_SECOND,
    CLIENT_FILE_READ_MS = MS_MINUTE,
};

#endif
