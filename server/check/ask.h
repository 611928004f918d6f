/* ask: questions to a cluster, sent together and waited for. For commands; the server never waits. */
#ifndef SERVER_CHECK_ASK_H
#define SERVER_CHECK_ASK_H

#include "kube/api.h"

struct ask {
    struct api_request request;
    /* Called with the reply's object when the request went well; may be NULL. */
    void (*read)(void *user, struct doc_value object);
    void *user;
    /* the answer */
    bool done;
    int status;     /* 0: nobody answered */
    struct err err; /* ERR_NONE: it went well */
};

struct asked_cluster {
    struct api *api;
    /* Runs callbacks, and returns after something happened; false: nothing more will. */
    bool (*wait)(void *user);
    void *user;
};

/* Returns when each is done, or `wait` gives up: then answers may still come, so the asks outlive the
 * api. */
void ask_all(const struct asked_cluster *c, struct ask *asks, uint32_t count);

#endif
