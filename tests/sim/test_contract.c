/* The contract suite against the in-memory cluster, with and without latency. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim.h"
#include "tests/contract/contract.h"

struct memory {
    struct sim *sim;
    struct api *api;
};

static void poll_memory(void *user, span_ms for_at_most)
{
    struct memory *m = user;
    struct err err;
    assert_true(sim_run_until(m->sim, sim_now(m->sim) + for_at_most, &err));
}

static mono_ms now_of_memory(void *user)
{
    return sim_now(((const struct memory *)user)->sim);
}

static void break_memory(void *user, enum kind k, bool expired)
{
    struct memory *m = user;
    sim_client_break_watch(m->api, k, sim_now(m->sim) + MS_SECOND, expired);
}

static void run(const struct sim_options *o)
{
    struct memory m = {.sim = sim_new(o)};
    struct err err;
    assert_true(sim_cluster_load(sim_cluster(m.sim),
                                 SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                      "\"name\":\"contract\"}}"),
                                 NULL, &err));
    m.api = sim_client_new(sim_cluster(m.sim));
    struct contract_target t = {.api = m.api, .ns = SPAN("contract"), .user = &m,
                                .poll = poll_memory, .now = now_of_memory,
                                .break_watch = break_memory, .has_controllers = true};
    uint32_t failed = contract_run(&t);
    sim_free(m.sim);
    assert_int_equal(failed, 0);
}

static void at_once(void **state)
{
    struct sim_options o = {.cluster = {.now = 1767323045000}};
    (void)state;
    run(&o);
}

static void with_latency(void **state)
{
    struct sim_options o = {.cluster = {.now = 1767323045000, .apply_delay = 7, .reply_delay = 15,
                                        .watch_delay = 40}};
    (void)state;
    run(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_once), cmocka_unit_test(with_latency)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
