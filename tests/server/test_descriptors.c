/* The limit of open files: who floods listeners takes none from probes and from the API client, and a limit in which that
 * could not hold is refused at the start. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/descriptors.h"
#include "support_serve.h"

enum {
    TOO_FEW = 200, /* enough to come to the check */
    FLOOD = 500,   /* connections to each listener */
    ADDRESSES = 50, /* that they come from: one alone would have its share of the metrics listener */
};

static const char *const no_more[] = {NULL};

/* Starts it with so many; when it ends by itself, what it said is in `told`. */
static int refused_with(rlim_t files, char *told, size_t size)
{
    int ports[SERVE_PORTS], ends[2], status = 0;
    serve_ports(ports);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = serve_start_limited(ports, no_more, &(struct rlimit){files, files}, ends[1]);
    close(ends[1]);
    size_t len = 0;
    for (ssize_t n; len < size - 1 && (n = read(ends[0], told + len, size - 1 - len)) > 0; len += (size_t)n)
        ;
    told[len] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* As the program itself says it. */
static rlim_t needed(void)
{
    char told[2048];
    assert_int_equal(refused_with(TOO_FEW, told, sizeof(told)), 2);
    if (strstr(told, "stowage serve: ") != told || strstr(told, "the limit is 200: raise it (ulimit -Hn") == NULL ||
        strchr(told, '\n') != told + strlen(told) - 1)
        fail_msg("%s", told);
    rlim_t need = strtoul(told + strlen("stowage serve: "), NULL, 10), listeners = strtoul(strchr(told, '(') + 1, NULL, 10);
    assert_true(listeners > TOO_FEW && need >= listeners + DESCRIPTORS_API + DESCRIPTORS_REST); /* all at once */
    return need;
}

static void test_refused_below_the_need(void **state)
{
    (void)state;
    char told[2048];
    rlim_t need = needed();
    assert_true(need > TOO_FEW && need < 4096); /* the hard limit of most systems, and of all containers */
    assert_int_equal(refused_with(need - 1, told, sizeof(told)), 2);
    assert_non_null(strstr(told, " file descriptors are needed"));
}

static rlim_t count_open(pid_t pid)
{
    char path[64];
    rlim_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void expect_room(pid_t pid, const int *ports, rlim_t need, const char *when)
{
    struct client_reply r;
    serve_ask(ports[SERVE_PROBES], "/livez", &r);
    rlim_t open = count_open(pid);
    if (r.status != 200 || open + DESCRIPTORS_API > need)
        fail_msg("%s: /livez answers %d, %lu of %lu descriptors are open", when, r.status, (unsigned long)open, (unsigned long)need);
}

static void test_a_flood_leaves_a_reserve(void **state)
{
    (void)state;
    static const enum serve_port flooded[] = {SERVE_WEBHOOK, SERVE_EXTENDER, SERVE_METRICS, SERVE_PAGE};
    static struct client_conn *conns[COUNT_OF(flooded)][FLOOD];
    rlim_t need = needed();
    int ports[SERVE_PORTS];
    struct client_reply r;
    struct rlimit own;
    getrlimit(RLIMIT_NOFILE, &own);
    own.rlim_cur = own.rlim_max;
    setrlimit(RLIMIT_NOFILE, &own);
    serve_ports(ports);
    pid_t pid = serve_start_limited(ports, no_more, &(struct rlimit){TOO_FEW, need}, -1); /* the soft limit is raised */
    serve_await(pid, ports[SERVE_PROBES], "/livez", 200, &r);
    for (size_t l = 0; l < COUNT_OF(flooded); l++)
        for (int i = 0; i < FLOOD; i++) {
            char from[32];
            snprintf(from, sizeof(from), "127.0.0.%d", 2 + i % ADDRESSES);
            conns[l][i] = client_open_with(ports[flooded[l]], NULL, &(struct client_how){.from = from});
            assert_non_null(conns[l][i]);
            if (i % 100 == 0)
                expect_room(pid, ports, need, "under the flood");
        }
    expect_room(pid, ports, need, "after the flood");
    assert_true(count_open(pid) > TOO_FEW); /* more than the soft limit was */
    for (size_t l = 0; l < COUNT_OF(flooded); l++)
        for (int i = 0; i < FLOOD; i++)
            client_close(conns[l][i]);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_below_the_need),
        cmocka_unit_test(test_a_flood_leaves_a_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
