#include "support_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kube/kind.h"

enum { CONNECTIONS_MAX = 512 };

struct connection {
    struct http_server *server;
    pthread_t thread;
    int fd, number;
    bool open;
};

struct http_server {
    int fd, port;
    http_script *script;
    void *user;
    pthread_t acceptor;
    pthread_mutex_t lock;
    bool stopping;
    int requests;
    int count;
    struct connection connections[CONNECTIONS_MAX];
};

static bool read_head(int fd, struct http_exchange *x)
{
    size_t len = 0;
    while (len < sizeof(x->head) - 1) { /* byte by byte: nothing of the next request is taken */
        if (recv(fd, x->head + len, 1, 0) != 1)
            return false;
        x->head[++len] = '\0';
        if (len >= 4 && strcmp(x->head + len - 4, "\r\n\r\n") == 0)
            return sscanf(x->head, "%15s %2047s", x->method, x->target) == 2;
    }
    return false;
}

static bool read_body(int fd, struct http_exchange *x)
{
    const char *length = strcasestr(x->head, "\r\ncontent-length:");
    x->body_len = length != NULL ? (size_t)atol(length + 17) : 0;
    x->body = calloc(1, x->body_len + 1);
    for (size_t at = 0; at < x->body_len;) {
        ssize_t n = recv(fd, x->body + at, x->body_len - at, 0);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static void *serve(void *user)
{
    struct connection *c = user;
    struct http_server *s = c->server;
    for (bool more = true; more;) {
        struct http_exchange x = {.server = s, .fd = c->fd, .connection = c->number};
        more = read_head(c->fd, &x) && read_body(c->fd, &x);
        if (more) {
            pthread_mutex_lock(&s->lock);
            x.number = s->requests++;
            pthread_mutex_unlock(&s->lock);
            s->script(s->user, &x);
            more = !x.close;
        }
        free(x.body);
    }
    pthread_mutex_lock(&s->lock);
    close(c->fd);
    c->open = false;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void *accept_all(void *user)
{
    struct http_server *s = user;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0;) {
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        pthread_mutex_lock(&s->lock);
        if (s->stopping || s->count == CONNECTIONS_MAX) {
            close(fd);
        } else {
            struct connection *c = &s->connections[s->count];
            *c = (struct connection){.server = s, .fd = fd, .number = s->count++, .open = true};
            pthread_create(&c->thread, NULL, serve, c);
        }
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

struct http_server *http_server_start(int port, http_script *script, void *user)
{
    struct http_server *s = calloc(1, sizeof(*s));
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int on = 1;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    s->script = script;
    s->user = user;
    pthread_mutex_init(&s->lock, NULL);
    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(s->fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(s->fd, 64) != 0 ||
        getsockname(s->fd, (struct sockaddr *)&address, &size) != 0) {
        close(s->fd);
        free(s);
        return NULL;
    }
    s->port = ntohs(address.sin_port);
    pthread_create(&s->acceptor, NULL, accept_all, s);
    return s;
}

int http_server_port(const struct http_server *s)
{
    return s->port;
}

int http_server_requests(struct http_server *s)
{
    pthread_mutex_lock(&s->lock);
    int n = s->requests;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void http_server_stop(struct http_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    for (int i = 0; i < s->count; i++)
        if (s->connections[i].open)
            shutdown(s->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->acceptor, NULL);
    close(s->fd);
    for (int i = 0; i < s->count; i++)
        pthread_join(s->connections[i].thread, NULL);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void send_bytes(struct http_exchange *x, const void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(x->fd, (const char *)bytes + at, len - at, MSG_NOSIGNAL);
        if (n <= 0) {
            x->close = true;
            return;
        }
        at += (size_t)n;
    }
}

void http_raw(struct http_exchange *x, const char *text)
{
    send_bytes(x, text, strlen(text));
}

void http_reply_bytes(struct http_exchange *x, int status, const char *headers, const void *body,
                      size_t len)
{
    char head[1024];
    int n = snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n", status,
                     len, headers);
    send_bytes(x, head, (size_t)n);
    send_bytes(x, body, len);
}

void http_reply(struct http_exchange *x, int status, const char *headers, const char *body)
{
    http_reply_bytes(x, status, headers, body, strlen(body));
}

void http_reply_list(struct http_exchange *x, const char *members)
{
    char path[sizeof(x->target)];
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(x->target, "?"), x->target);
    char *plural = strrchr(path, '/');
    *plural++ = '\0';
    const char *version = path + strlen(strncmp(path, "/apis/", 6) == 0 ? "/apis/" : "/api/");
    enum kind k = 0;
    while (k < KIND_COUNT && strcmp(kind_info(k)->plural, plural) != 0)
        k++;
    struct buf body = {0};
    buf_addf(&body, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",%s", k < KIND_COUNT ? kind_info(k)->name : "", version, members);
    http_reply_bytes(x, 200, "", body.ptr, body.len);
    buf_release(&body);
}

void http_begin(struct http_exchange *x)
{
    http_raw(x, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void http_send(struct http_exchange *x, const char *text)
{
    char size[32];
    snprintf(size, sizeof(size), "%zx\r\n", strlen(text));
    http_raw(x, size);
    http_raw(x, text);
    http_raw(x, "\r\n");
}

void http_end(struct http_exchange *x)
{
    http_raw(x, "0\r\n\r\n");
}

void http_hang(struct http_exchange *x)
{
    char byte;
    while (recv(x->fd, &byte, 1, 0) > 0)
        continue;
    x->close = true;
}

bool http_has_header(const struct http_exchange *x, const char *line)
{
    size_t len = strlen(line);
    for (const char *at = strstr(x->head, "\r\n"); at != NULL; at = strstr(at + 2, "\r\n"))
        if (strncasecmp(at + 2, line, len) == 0 && strncmp(at + 2 + len, "\r\n", 2) == 0)
            return true;
    return false;
}
