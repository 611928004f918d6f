/* static_h2o PORT CERT KEY BYTES: what the server's own answers are measured against: h2o alone, which
 * answers every request with the same BYTES bytes of JSON, over TLS and HTTP/1.1, on two loops. */
#include <h2o.h>
#include <h2o/http1.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOPS = 2, ACCEPTS_AT_ONCE = 16 };

static h2o_globalconf_t config;
static SSL_CTX *tls;
static h2o_iovec_t reply;
static uint16_t port;

struct loop {
    h2o_context_t context;
    h2o_accept_ctx_t accept;
};

__attribute__((noreturn)) static void give_up(const char *what)
{
    fprintf(stderr, "static_h2o: %s\n", what);
    exit(1);
}

static int on_request(h2o_handler_t *self, h2o_req_t *req)
{
    static h2o_generator_t generator = {NULL, NULL};
    (void)self;
    req->res.status = 200;
    req->res.reason = "OK";
    req->res.content_length = reply.len;
    h2o_add_header(&req->pool, &req->res.headers, H2O_TOKEN_CONTENT_TYPE, NULL,
                   H2O_STRLIT("application/json"));
    h2o_start_response(req, &generator);
    h2o_send(req, &reply, 1, H2O_SEND_STATE_FINAL);
    return 0;
}

static void on_accept(h2o_socket_t *listener, const char *err)
{
    struct loop *l = listener->data;
    for (int i = 0; err == NULL && i < ACCEPTS_AT_ONCE; i++) {
        h2o_socket_t *s = h2o_evloop_socket_accept(listener);
        if (s == NULL)
            return;
        h2o_accept(&l->accept, s);
    }
}

static int listen_here(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 128) != 0)
        give_up("cannot listen");
    return fd;
}

static void *run(void *user)
{
    struct loop *l = user;
    h2o_loop_t *loop = h2o_evloop_create();
    h2o_context_init(&l->context, loop, &config);
    l->accept = (h2o_accept_ctx_t){.ctx = &l->context, .hosts = config.hosts, .ssl_ctx = tls};
    h2o_socket_t *s = h2o_evloop_socket_create(loop, listen_here(), H2O_SOCKET_FLAG_DONT_READ);
    s->data = l;
    h2o_socket_read_start(s, on_accept);
    for (;;)
        h2o_evloop_run(loop, INT32_MAX);
    return NULL;
}

static void make_tls(const char *cert, const char *key)
{
    static const h2o_iovec_t protocols[] = {{H2O_STRLIT("http/1.1")}, {NULL, 0}};
    tls = SSL_CTX_new(TLS_server_method());
    if (tls == NULL || SSL_CTX_use_certificate_chain_file(tls, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
        give_up("cannot use the certificate");
    h2o_ssl_register_alpn_protocols(tls, protocols);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: static_h2o PORT CERT KEY BYTES\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    port = (uint16_t)strtoul(argv[1], NULL, 10);
    make_tls(argv[2], argv[3]);
    reply.len = strtoul(argv[4], NULL, 10);
    reply.base = malloc(reply.len + 1);
    if (reply.base == NULL)
        give_up("out of memory");
    memset(reply.base, 'x', reply.len);

    h2o_config_init(&config);
    config.http1.req_timeout = 120 * 1000;
    h2o_hostconf_t *host = h2o_config_register_host(&config, h2o_iovec_init(H2O_STRLIT("default")), 65535);
    h2o_pathconf_t *path = h2o_config_register_path(host, "/", 0);
    h2o_create_handler(path, sizeof(h2o_handler_t))->on_req = on_request;

    static struct loop loops[LOOPS];
    for (int i = 1; i < LOOPS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, &loops[i]) != 0)
            give_up("cannot begin");
    }
    run(&loops[0]);
    return 0;
}
