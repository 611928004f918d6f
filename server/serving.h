/* serving: what we serve as: what certs keeps, or files, which are read again when they change.
 *
 * Files are looked at every SERVING_LOOK_MS. What has changed is taken up once it is the same in two looks a second apart,
 * since two files are never written at once. What cannot be read or used is told once, and what was in use stays. All
 * functions on the API thread. */
#ifndef SERVER_SERVING_H
#define SERVER_SERVING_H

#include "certs/certs.h"
#include "server/tls.h"

enum { SERVING_LOOK_MS = 10 * MS_SECOND, SERVING_SURE_MS = 1 * MS_SECOND };

enum serving_file { SERVING_CERT, SERVING_KEY, SERVING_CLIENT_CA, SERVING_WEBHOOK_CLIENT_CA, SERVING_FILE_COUNT };

struct serving_config { /* copied but for the paths */
    struct tls *tls;
    const char *paths[SERVING_FILE_COUNT]; /* NULL or "": none */
    void *user;
    /* Something else is served from now on. */
    void (*served)(void *user, wall_ms not_after);
    /* Certificate and key of the files are others: certs has to know. */
    void (*files)(void *user, const struct cert_pair *pair);
    void (*trouble)(void *user, const struct err *err);
};

struct serving;

/* Reads the files; ERR_INVALID: one cannot be read. */
bool serving_new(const struct serving_config *config, struct serving **out, struct err *err);
void serving_free(struct serving *s);

struct cert_pair serving_pair(const struct serving *s); /* of the files; absent: none are named */
void serving_set(struct serving *s, const struct cert_set *set); /* certs_listener.changed */
mono_ms serving_step(struct serving *s, mono_ms now, wall_ms wall); /* when to call next */

#endif
