/* `stowage serve` as a process of its own on loopback, for tests of the whole program. */
#ifndef TESTS_SERVER_SUPPORT_SERVE_H
#define TESTS_SERVER_SUPPORT_SERVE_H

#include <sys/resource.h>
#include <sys/types.h>

#include "support_client.h"

enum serve_port { SERVE_WEBHOOK, SERVE_EXTENDER, SERVE_METRICS, SERVE_PROBES, SERVE_PAGE, SERVE_PORTS };
enum { SERVE_ARGS_MAX = 16, SERVE_ARG_LEN = 512, SERVE_LOOK_MS = 20 };

/* Below those that the kernel gives to whoever asks for any, and others' than those of a test beside this one. */
void serve_ports(int *out);
/* With --embedded and these ports; `more`: further arguments, up to a NULL. A second SIGTERM ends it at once, and so does
 * the end of the test. */
pid_t serve_start(const int *ports, const char *const *more);
/* The same with these limits of open files; `told`: where its standard error goes, or -1. */
pid_t serve_start_limited(const int *ports, const char *const *more, const struct rlimit *files, int told);
/* Asks once; status 0: nobody listens. */
void serve_ask(int port, const char *path, struct client_reply *r);
/* Asks until the status is this one. */
void serve_await(pid_t pid, int port, const char *path, int status, struct client_reply *r);

#endif
