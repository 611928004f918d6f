#include "support_serve.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/command.h"

static bool is_free(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool free = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
    close(fd);
    return free;
}

void serve_ports(int *out)
{
    int port = 10000 + getpid() % 1000 * 10;
    for (int i = 0; i < SERVE_PORTS; port++)
        if (is_free(port))
            out[i++] = port;
}

pid_t serve_start(const int *ports, const char *const *more)
{
    return serve_start_limited(ports, more, NULL, -1);
}

pid_t serve_start_limited(const int *ports, const char *const *more, const struct rlimit *files, int told)
{
    char args[SERVE_ARGS_MAX][SERVE_ARG_LEN], *argv[SERVE_ARGS_MAX];
    int argc = 0;
    snprintf(args[argc++], SERVE_ARG_LEN, "--embedded");
    snprintf(args[argc++], SERVE_ARG_LEN, "--webhook-listen=127.0.0.1:%d", ports[SERVE_WEBHOOK]);
    snprintf(args[argc++], SERVE_ARG_LEN, "--extender-listen=127.0.0.1:%d", ports[SERVE_EXTENDER]);
    snprintf(args[argc++], SERVE_ARG_LEN, "--metrics-port=%d", ports[SERVE_METRICS]);
    snprintf(args[argc++], SERVE_ARG_LEN, "--health-probe-port=%d", ports[SERVE_PROBES]);
    snprintf(args[argc++], SERVE_ARG_LEN, "--page-listen=127.0.0.1:%d", ports[SERVE_PAGE]);
    snprintf(args[argc++], SERVE_ARG_LEN, "--shutdown-delay=10m"); /* a second signal ends it */
    for (; *more != NULL; more++)
        snprintf(args[argc++], SERVE_ARG_LEN, "%s", *more);
    for (int i = 0; i < argc; i++)
        argv[i] = args[i];
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* however the test ends */
    if (freopen("/dev/null", "w", stdout) == NULL)
        _exit(3);
    if ((files != NULL && setrlimit(RLIMIT_NOFILE, files) != 0) || (told >= 0 && dup2(told, STDERR_FILENO) < 0))
        _exit(4);
    _exit(command_serve(argc, argv));
}

void serve_ask(int port, const char *path, struct client_reply *r)
{
    *r = (struct client_reply){.status = 0};
    struct client_conn *c = client_open(port, NULL);
    if (c == NULL)
        return;
    client_ask(c, "GET", path, (struct span){NULL, 0}, r);
    client_close(c);
}

void serve_await(pid_t pid, int port, const char *path, int status, struct client_reply *r)
{
    int ended = 0;
    for (int waited = 0; waited < CLIENT_PATIENCE_MS; waited += SERVE_LOOK_MS) {
        serve_ask(port, path, r);
        if (r->status == status)
            return;
        if (waitpid(pid, &ended, WNOHANG) == pid)
            break;
        poll(NULL, 0, SERVE_LOOK_MS);
    }
    fail_msg("%s answers %d, not %d (how it ended: %d)", path, r->status, status, ended);
}
