/* support_tls: certificates made for a test, and a TLS server of one line: it answers every request
 * with an object whose name is the common name of the client's certificate. */
#ifndef TESTS_KUBE_SUPPORT_TLS_H
#define TESTS_KUBE_SUPPORT_TLS_H

#include "base/arena.h"

struct tls_ca; /* a key and its self-signed certificate */

struct tls_pair {
    struct span cert, key; /* PEM */
};

struct tls_ca *tls_ca_new(struct arena *a, const char *name);
void tls_ca_free(struct tls_ca *ca);
struct span tls_ca_pem(const struct tls_ca *ca);
/* `dns` absent for a client; a server is also 127.0.0.1 unless it has a name. */
struct tls_pair tls_issue(struct arena *a, const struct tls_ca *ca, const char *name,
                          const char *dns);

struct tls_server;
struct tls_server *tls_server_start(struct tls_pair pair, struct span client_ca);
int tls_server_port(const struct tls_server *s);
int tls_server_connections(struct tls_server *s); /* whose handshake went well */
void tls_server_stop(struct tls_server *s);

#endif
