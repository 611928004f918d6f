#include "support_tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 64 };

struct tls_ca {
    EVP_PKEY *key;
    X509 *cert;
    struct span pem;
};

struct tls_server {
    SSL_CTX *context;
    int fd, port;
    pthread_t acceptor;
    pthread_mutex_t lock;
    bool stopping;
    int count, good;
    struct {
        struct tls_server *server;
        pthread_t thread;
        int fd;
    } connections[CONNECTIONS_MAX];
};

static struct span pem_of(struct arena *a, X509 *cert, EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes;
    if (cert != NULL)
        PEM_write_bio_X509(bio, cert);
    else
        PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    long len = BIO_get_mem_data(bio, &bytes);
    struct span pem = arena_dup(a, (struct span){bytes, (size_t)len});
    BIO_free(bio);
    return pem;
}

static void extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
}

static X509 *certificate(const char *name, EVP_PKEY *key, X509 *issuer, const char *basic)
{
    static long serial = 1;
    X509 *cert = X509_new();
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -300);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(issuer != NULL ? issuer : cert));
    X509_set_pubkey(cert, key);
    extend(cert, issuer != NULL ? issuer : cert, NID_basic_constraints, basic);
    return cert;
}

struct tls_ca *tls_ca_new(struct arena *a, const char *name)
{
    struct tls_ca *ca = mem_new(sizeof(*ca));
    ca->key = EVP_EC_gen("P-256");
    ca->cert = certificate(name, ca->key, NULL, "critical,CA:TRUE");
    X509_sign(ca->cert, ca->key, EVP_sha256());
    ca->pem = pem_of(a, ca->cert, NULL);
    return ca;
}

void tls_ca_free(struct tls_ca *ca)
{
    X509_free(ca->cert);
    EVP_PKEY_free(ca->key);
    free(ca);
}

struct span tls_ca_pem(const struct tls_ca *ca)
{
    return ca->pem;
}

struct tls_pair tls_issue(struct arena *a, const struct tls_ca *ca, const char *name,
                          const char *dns)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = certificate(name, key, ca->cert, "critical,CA:FALSE");
    char alternative[128];
    snprintf(alternative, sizeof(alternative), dns != NULL ? "DNS:%s" : "IP:127.0.0.1", dns);
    extend(cert, ca->cert, NID_subject_alt_name, alternative);
    X509_sign(cert, ca->key, EVP_sha256());
    struct tls_pair pair = {.cert = pem_of(a, cert, NULL), .key = pem_of(a, NULL, key)};
    X509_free(cert);
    EVP_PKEY_free(key);
    return pair;
}

static void answer(SSL *ssl)
{
    char head[16384], name[64] = "nobody", reply[256];
    size_t len = 0;
    X509 *peer = SSL_get1_peer_certificate(ssl);
    if (peer != NULL)
        X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, sizeof(name));
    X509_free(peer);
    for (;;) {
        int n = SSL_read(ssl, head + len, (int)(sizeof(head) - len - 1));
        if (n <= 0)
            return;
        len += (size_t)n;
        head[len] = '\0';
        if (strstr(head, "\r\n\r\n") == NULL)
            continue;
        len = 0;
        char body[128];
        int size = snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"}}", name);
        int total = snprintf(reply, sizeof(reply),
                             "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
        SSL_write(ssl, reply, total);
    }
}

struct tls_connection {
    struct tls_server *server;
    int index;
};

static void *serve(void *user)
{
    struct tls_connection *c = user;
    struct tls_server *s = c->server;
    int fd = s->connections[c->index].fd;
    free(c);
    SSL *ssl = SSL_new(s->context);
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1) {
        pthread_mutex_lock(&s->lock);
        s->good++;
        pthread_mutex_unlock(&s->lock);
        answer(ssl);
    }
    SSL_free(ssl);
    return NULL;
}

static void *accept_all(void *user)
{
    struct tls_server *s = user;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0;) {
        pthread_mutex_lock(&s->lock);
        if (s->stopping || s->count == CONNECTIONS_MAX) {
            close(fd);
        } else {
            struct tls_connection *c = mem_new(sizeof(*c));
            *c = (struct tls_connection){s, s->count};
            s->connections[s->count].fd = fd;
            pthread_create(&s->connections[s->count++].thread, NULL, serve, c);
        }
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static void use_pair(SSL_CTX *context, struct tls_pair pair)
{
    BIO *cert_bio = BIO_new_mem_buf(pair.cert.ptr, (int)pair.cert.len);
    BIO *key_bio = BIO_new_mem_buf(pair.key.ptr, (int)pair.key.len);
    X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    SSL_CTX_use_certificate(context, cert);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
}

static void ask_for_client(SSL_CTX *context, struct span ca)
{
    BIO *bio = BIO_new_mem_buf(ca.ptr, (int)ca.len);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), cert);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    X509_free(cert);
    BIO_free(bio);
}

struct tls_server *tls_server_start(struct tls_pair pair, struct span client_ca)
{
    struct tls_server *s = mem_new(sizeof(*s));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    pthread_mutex_init(&s->lock, NULL);
    s->context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_session_id_context(s->context, (const unsigned char *)"test", 4);
    use_pair(s->context, pair);
    ask_for_client(s->context, client_ca);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(s->fd, (struct sockaddr *)&address, size) != 0 || listen(s->fd, 16) != 0 ||
        getsockname(s->fd, (struct sockaddr *)&address, &size) != 0)
        abort();
    s->port = ntohs(address.sin_port);
    pthread_create(&s->acceptor, NULL, accept_all, s);
    return s;
}

int tls_server_port(const struct tls_server *s)
{
    return s->port;
}

int tls_server_connections(struct tls_server *s)
{
    pthread_mutex_lock(&s->lock);
    int n = s->good;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void tls_server_stop(struct tls_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    for (int i = 0; i < s->count; i++)
        shutdown(s->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->acceptor, NULL);
    close(s->fd);
    for (int i = 0; i < s->count; i++) {
        pthread_join(s->connections[i].thread, NULL);
        close(s->connections[i].fd);
    }
    SSL_CTX_free(s->context);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
