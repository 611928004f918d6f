#include "support_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"

struct client_conn {
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;
    struct buf in; /* read and not used yet */
};

static BIO *bio_of(struct span s)
{
    return BIO_new_mem_buf(s.ptr, (int)s.len);
}

static SSL_CTX *context_new(const struct client_tls *tls)
{
    static const unsigned char protocols[] = "\x02h2\x08http/1.1"; /* as Go offers them */
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    BIO *bio = bio_of(tls->ca);
    X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca);
    X509_free(ca);
    BIO_free(bio);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(ctx, protocols, sizeof(protocols) - 1);
    if (tls->own == NULL)
        return ctx;
    BIO *cert = bio_of(tls->own->cert), *key = bio_of(tls->own->key);
    X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    SSL_CTX_use_cert_and_key(ctx, x, k, NULL, 1);
    X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(cert);
    BIO_free(key);
    return ctx;
}

static bool shake_hands(struct client_conn *c, const struct client_tls *tls, const struct client_how *how)
{
    c->ctx = context_new(tls);
    if (how->max_version != 0) {
        SSL_CTX_set_security_level(c->ctx, 0);
        SSL_CTX_set_min_proto_version(c->ctx, 0);
        SSL_CTX_set_max_proto_version(c->ctx, how->max_version);
    }
    if (how->ciphers != NULL)
        SSL_CTX_set_cipher_list(c->ctx, how->ciphers);
    c->ssl = SSL_new(c->ctx);
    SSL_set_fd(c->ssl, c->fd);
    return SSL_connect(c->ssl) == 1;
}

static bool bind_to(int fd, const char *address)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    return address == NULL || (inet_pton(AF_INET, address, &own.sin_addr) == 1 &&
                               bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0);
}

struct client_conn *client_open(int port, const struct client_tls *tls)
{
    return client_open_with(port, tls, &(struct client_how){.from = NULL});
}

struct client_conn *client_open_with(int port, const struct client_tls *tls, const struct client_how *how)
{
    signal(SIGPIPE, SIG_IGN);
    struct client_conn *c = mem_new(sizeof(*c));
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = CLIENT_PATIENCE_MS / 1000};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (bind_to(c->fd, how->from) && connect(c->fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
        (tls == NULL || shake_hands(c, tls, how)))
        return c;
    client_close(c);
    return NULL;
}

void client_close(struct client_conn *c)
{
    if (c == NULL)
        return;
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    ERR_clear_error();
    close(c->fd);
    buf_release(&c->in);
    free(c);
}

bool client_send(struct client_conn *c, struct span bytes)
{
    while (bytes.len > 0) {
        ssize_t n = c->ssl != NULL ? SSL_write(c->ssl, bytes.ptr, (int)bytes.len)
                                   : send(c->fd, bytes.ptr, bytes.len, 0);
        if (n <= 0)
            return false;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return true;
}

static bool read_more(struct client_conn *c)
{
    char *into = buf_reserve(&c->in, 16384);
    ssize_t n = c->ssl != NULL ? SSL_read(c->ssl, into, 16384) : recv(c->fd, into, 16384, 0);
    if (n <= 0)
        return false;
    buf_commit(&c->in, (size_t)n);
    return true;
}

bool client_read_until(struct client_conn *c, const char *text)
{
    for (;;) {
        const char *hit = strstr(buf_span(&c->in).ptr, text);
        if (hit != NULL) {
            buf_consume(&c->in, (size_t)(hit - c->in.ptr) + strlen(text));
            return true;
        }
        if (!read_more(c))
            return false;
    }
}

bool client_at_end(struct client_conn *c)
{
    return c->in.len == 0 && !read_more(c);
}

static size_t length_in(const char *head)
{
    const char *at = strcasestr(head, "\r\ncontent-length: ");
    return at != NULL ? strtoul(at + 18, NULL, 10) : 0;
}

/* The chunks behind the head, whose bytes are put together where they lie; false: the end came first. */
static bool join_chunks(struct client_conn *c, size_t head, size_t *body_out)
{
    size_t body = 0, size = 1;
    while (size != 0) {
        const char *end;
        while (c->in.len <= head + body ||
               (end = memmem(c->in.ptr + head + body, c->in.len - head - body, "\r\n", 2)) == NULL)
            if (!read_more(c))
                return false;
        size = strtoul(c->in.ptr + head + body, NULL, 16);
        size_t from = (size_t)(end - c->in.ptr) + 2;
        while (c->in.len < from + size + 2)
            if (!read_more(c))
                return false;
        memmove(c->in.ptr + head + body, c->in.ptr + from, size);
        body += size;
        memmove(c->in.ptr + head + body, c->in.ptr + from + size + 2, c->in.len - (from + size + 2));
        c->in.len = head + body + c->in.len - (from + size + 2);
    }
    *body_out = body;
    return true;
}

void client_read_reply(struct client_conn *c, bool head_only, struct client_reply *out)
{
    memset(out, 0, sizeof(*out));
    const char *end;
    while ((end = strstr(buf_span(&c->in).ptr, "\r\n\r\n")) == NULL)
        if (!read_more(c))
            return;
    size_t head = (size_t)(end - c->in.ptr) + 4;
    memcpy(out->head, c->in.ptr, head < sizeof(out->head) ? head : sizeof(out->head) - 1);
    size_t body = head_only ? 0 : length_in(out->head);
    if (!head_only && strcasestr(out->head, "\r\ntransfer-encoding: chunked") != NULL && !join_chunks(c, head, &body))
        return;
    while (c->in.len < head + body)
        if (!read_more(c))
            return;
    out->status = atoi(out->head + strlen("HTTP/1.1 "));
    out->closes = strcasestr(out->head, "\r\nconnection: close") != NULL;
    out->body_len = body;
    memcpy(out->body, c->in.ptr + head,
           body < sizeof(out->body) ? body : sizeof(out->body) - 1);
    buf_consume(&c->in, head + body);
}

void client_ask(struct client_conn *c, const char *method, const char *path, struct span body,
                struct client_reply *out)
{
    struct buf text = {0};
    buf_addf(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
             method, path);
    if (body.ptr != NULL)
        buf_addf(&text, "Content-Length: %zu\r\n", body.len);
    buf_add(&text, SPAN("\r\n"));
    buf_add(&text, body);
    client_send(c, buf_span(&text)); /* one that fails half way may still have its answer */
    buf_release(&text);
    client_read_reply(c, strcmp(method, "HEAD") == 0, out);
}
