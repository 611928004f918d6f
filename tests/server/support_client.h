/* A blocking HTTP client on loopback, with or without TLS, for tests of the server. */
#ifndef TESTS_SERVER_SUPPORT_CLIENT_H
#define TESTS_SERVER_SUPPORT_CLIENT_H

#include "base/arena.h"
#include "certs/authority.h"

struct client_tls {
    const struct cert_pair *own; /* NULL: shows no certificate */
    struct span ca;              /* trusted */
};

struct client_conn;

enum { CLIENT_PATIENCE_MS = 60000 }; /* then a read gives up */
/* NULL: no connection or no handshake. `tls` NULL: plain. */
struct client_conn *client_open(int port, const struct client_tls *tls);
struct client_how { /* zero: as client_open */
    const char *from;    /* own address: "127.0.0.2" */
    int max_version;     /* TLS1_2_VERSION…: that and nothing newer; also versions that OpenSSL's own defaults forbid */
    const char *ciphers; /* of TLS 1.2 and older, as OpenSSL names them */
};
struct client_conn *client_open_with(int port, const struct client_tls *tls, const struct client_how *how);
void client_close(struct client_conn *c);

bool client_send(struct client_conn *c, struct span bytes);

struct client_reply {
    int status;        /* 0: the connection ended before a reply */
    bool closes;       /* Connection: close */
    char head[4096];
    char body[65536];  /* cut there */
    size_t body_len;
};
/* Sends one request and reads the whole reply. */
void client_ask(struct client_conn *c, const char *method, const char *path, struct span body,
                struct client_reply *out);
void client_read_reply(struct client_conn *c, bool head_only, struct client_reply *out);
/* Reads until `text` has come; false: the end came first. */
bool client_read_until(struct client_conn *c, const char *text);
bool client_at_end(struct client_conn *c); /* blocks until a byte or the end */

#endif
