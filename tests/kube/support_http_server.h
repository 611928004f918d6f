/* support_http_server: a scripted HTTP/1.1 server on loopback. Each request is given to one
 * function, on a thread of its connection, which answers as it likes: late, in pieces, wrongly or
 * not at all. */
#ifndef TESTS_KUBE_SUPPORT_HTTP_SERVER_H
#define TESTS_KUBE_SUPPORT_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct http_server;

struct http_exchange {
    struct http_server *server;
    int fd;
    int connection; /* counted from 0 */
    int number;     /* of requests to this server, from 0 */
    char method[16];
    char target[2048]; /* path and query */
    char head[8192];   /* all header lines */
    char *body;
    size_t body_len;
    bool close; /* the connection ends after this */
};

typedef void http_script(void *user, struct http_exchange *x);

/* `port` 0: any. NULL when the port is taken. */
struct http_server *http_server_start(int port, http_script *script, void *user);
int http_server_port(const struct http_server *s);
int http_server_requests(struct http_server *s);
/* Cuts all connections and waits for the scripts to return. */
void http_server_stop(struct http_server *s);

void http_reply(struct http_exchange *x, int status, const char *headers, const char *body);
/* 200 and the list that the request's path names; `members`: all but its kind and apiVersion, and `}`. */
void http_reply_list(struct http_exchange *x, const char *members);
void http_reply_bytes(struct http_exchange *x, int status, const char *headers, const void *body,
                      size_t len);
void http_begin(struct http_exchange *x); /* 200, chunked */
void http_send(struct http_exchange *x, const char *text);
void http_end(struct http_exchange *x);
void http_raw(struct http_exchange *x, const char *text);
/* Returns when the other side has closed or the server stops. */
void http_hang(struct http_exchange *x);
bool http_has_header(const struct http_exchange *x,
                     const char *line); /* "Accept: application/json" */

#endif
