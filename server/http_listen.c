#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http_loop.h"

/* RECEIVE: what the kernel holds for each connection, twice that with its own accounts. Enough for our largest body
 * in some milliseconds; bounds what a round of the loop reads of all (http_connections.c). */
enum { BACKLOG = 512, HOST_MAX = 256, RECEIVE = 128 * 1024 };

/* "host:port", "[v6]:port", ":port". */
static bool split(const char *address, char host[HOST_MAX], const char **port_out)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon[1] == '\0')
        return false;
    size_t len = (size_t)(colon - address);
    if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
        address++;
        len -= 2;
    }
    if (len >= HOST_MAX)
        return false;
    memcpy(host, address, len);
    host[len] = '\0';
    *port_out = colon + 1;
    return true;
}

static int port_of(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t len = sizeof(a);
    if (getsockname(fd, (struct sockaddr *)&a, &len) != 0)
        return 0;
    return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a)->sin6_port)
                                   : ntohs(((struct sockaddr_in *)&a)->sin_port);
}

static void set_port(struct addrinfo *a, int port)
{
    if (port == 0)
        return;
    if (a->ai_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)a->ai_addr)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)(void *)a->ai_addr)->sin_port = htons((uint16_t)port);
}

static int open_at(const struct addrinfo *a, bool shared)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (fd < 0)
        return -1;
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (shared)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    if (a->ai_family == AF_INET6) /* [::] takes IPv4 too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* accepted sockets inherit it */
    int receive = RECEIVE; /* inherited as well */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof(receive));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int open_any(struct addrinfo *list, int family, int port, bool shared)
{
    for (struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        if (a->ai_family != family)
            continue;
        set_port(a, port);
        int fd = open_at(a, shared);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

bool http_listen(const char *address, int port, bool shared, int *fd_out, int *port_out,
                 struct err *err)
{
    char host[HOST_MAX];
    const char *service;
    if (!split(address, host, &service))
        return err_set(err, ERR_INVALID, "\"%s\" is not host:port or :port", address);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    int failed = getaddrinfo(host[0] != '\0' ? host : NULL, service, &hints, &list);
    if (failed != 0)
        return err_set(err, ERR_INVALID, "%s: %s", address, gai_strerror(failed));
    errno = EADDRNOTAVAIL;
    int fd = open_any(list, AF_INET6, port, shared);
    if (fd < 0 && errno != EADDRINUSE)
        fd = open_any(list, AF_INET, port, shared);
    freeaddrinfo(list);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, "cannot listen on %s: %s", address, strerror(errno));
    *fd_out = fd;
    *port_out = port_of(fd);
    return true;
}
