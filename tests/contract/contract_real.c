/* contract_real KUBECONFIG [NAMESPACE]: the contract suite against a real API server, whose
 * namespace (default: "default") and our CRDs exist. Exit status 0: all held; 1: some did not;
 * 2: it could not be asked. */
#include <stdio.h>
#include <time.h>

#include "kube/client_io.h"
#include "kube/kubeconfig_io.h"
#include "tests/contract/contract.h"

static mono_ms now_of_client(void *user)
{
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (mono_ms)t.tv_sec * MS_SECOND + t.tv_nsec / 1000000;
}

static void poll_client(void *user, span_ms for_at_most)
{
    client_poll(user, for_at_most);
}

static bool ask(struct arena *a, struct span file, struct span ns, uint32_t *failed_out,
                struct err *err)
{
    struct client_config config;
    struct client *client;
    const struct client_policy policy = {.user_agent = "stowage-contract"};
    if (!kubeconfig_load(a, file, (struct span){NULL, 0}, &config, err) ||
        !client_new(&config, &policy, &client, err))
        return false;
    struct contract_target t = {.api = client_api(client), .ns = ns, .user = client,
                                .poll = poll_client, .now = now_of_client,
                                .has_controllers = true, .verbose = true};
    *failed_out = contract_run(&t);
    client_free(client);
    return true;
}

int main(int argc, char **argv)
{
    struct arena a;
    struct err err;
    uint32_t failed = 0;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: contract_real KUBECONFIG [NAMESPACE]\n");
        return 2;
    }
    arena_init(&a, 0);
    bool asked = ask(&a, span_of(argv[1]), argc == 3 ? span_of(argv[2]) : SPAN("default"), &failed, &err);
    arena_release(&a);
    if (!asked)
        fprintf(stderr, "contract_real: %s\n", err.msg);
    return !asked ? 2 : failed != 0;
}
