/* The way down of `stowage serve`, as a cluster sees it: a program of its own that gets SIGTERM. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "server/command.h"
#include "support_client.h"

enum { PORTS = 5, PROBES = 3, LOOK_MS = 20 };

static bool is_free(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool free = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
    close(fd);
    return free;
}

/* Below those that the kernel gives to whoever asks for any, and others' than those of a test beside this one. */
static void free_ports(int *out)
{
    int port = 10000 + getpid() % 1000 * 10;
    for (int i = 0; i < PORTS; port++)
        if (is_free(port))
            out[i++] = port;
}

static pid_t start(const int *ports)
{
    char args[PORTS + 3][64], *argv[PORTS + 3];
    int argc = 0;
    snprintf(args[argc++], 64, "--embedded");
    snprintf(args[argc++], 64, "--webhook-listen=127.0.0.1:%d", ports[0]);
    snprintf(args[argc++], 64, "--extender-listen=127.0.0.1:%d", ports[1]);
    snprintf(args[argc++], 64, "--metrics-port=%d", ports[2]);
    snprintf(args[argc++], 64, "--health-probe-port=%d", ports[PROBES]);
    snprintf(args[argc++], 64, "--page-listen=127.0.0.1:%d", ports[4]);
    snprintf(args[argc++], 64, "--shutdown-delay=10m"); /* a second signal ends it */
    for (int i = 0; i < argc; i++)
        argv[i] = args[i];
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* however the test ends */
    if (freopen("/dev/null", "w", stdout) == NULL)
        _exit(3);
    _exit(command_serve(argc, argv));
}

static void ask(int port, const char *path, struct client_reply *r)
{
    *r = (struct client_reply){.status = 0};
    struct client_conn *c = client_open(port, NULL);
    if (c == NULL)
        return;
    client_ask(c, "GET", path, (struct span){NULL, 0}, r);
    client_close(c);
}

/* Asks until the status is this one. */
static void await(pid_t pid, int port, const char *path, int status, struct client_reply *r)
{
    int ended = 0;
    for (int waited = 0; waited < CLIENT_PATIENCE_MS; waited += LOOK_MS) {
        ask(port, path, r);
        if (r->status == status)
            return;
        if (waitpid(pid, &ended, WNOHANG) == pid)
            break;
        poll(NULL, 0, LOOK_MS);
    }
    fail_msg("%s answers %d, not %d (how it ended: %d)", path, r->status, status, ended);
}

/* Callers are told to go elsewhere before anything ends, and nobody is told to kill it meanwhile. */
static void readiness_falls_first(void **state)
{
    (void)state;
    int ports[PORTS], status;
    static struct client_reply r;
    free_ports(ports);
    pid_t pid = start(ports);
    assert_true(pid > 0);
    await(pid, ports[PROBES], "/readyz", 200, &r);
    assert_false(r.closes);
    kill(pid, SIGTERM);
    await(pid, ports[PROBES], "/readyz", 503, &r);
    assert_non_null(strstr(r.body, "shutting down"));
    assert_true(r.closes);
    ask(ports[PROBES], "/livez", &r);
    assert_int_equal(r.status, 200); /* nobody is to kill it */
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readiness_falls_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
