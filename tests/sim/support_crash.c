#include "tests/sim/support_crash.h"

#include <stdio.h>

#include "tests/sim/support_loop.h"

enum { RESTART_MS = 2 * MS_SECOND, WEB = 20, API = 10, NODES = 2 };

static const char in_zone_a[] =
    ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-a\"}";
static const char in_zone_b[] =
    ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-b\"}";

static enum sim_fate fate(struct crash *c, bool after)
{
    if (c->unarmed || c->done)
        return SIM_PASS;
    c->seen += !after;
    if (c->seen != c->at || c->after != after)
        return SIM_PASS;
    c->done = true;
    return SIM_KILL;
}

static enum sim_fate before(void *user, uint64_t number, const struct api_request *r,
                            struct sim_refusal *refusal)
{
    (void)number;
    (void)r;
    (void)refusal;
    return fate(user, false);
}

static enum sim_fate after(void *user, uint64_t number, const struct api_request *r)
{
    (void)number;
    (void)r;
    return fate(user, true);
}

struct sim_faults crash_faults(struct crash *c)
{
    return (struct sim_faults){.user = c, .before = before, .after = after};
}

/* One life of the cluster. */
static void play(uint64_t at, bool is_after, bool *hit)
{
    struct crash c = {.at = at, .after = is_after};
    struct loop l = {.restart_after = RESTART_MS,
                     .catalogue = two_types,
                     .faults = crash_faults(&c)};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ",\"expireAfter\":\"Never\""));
    load(s, deployment_yaml("web", WEB, "900m", in_zone_a));
    load(s, deployment_yaml("api", API, "900m", in_zone_b));
    struct census nodes, claims;
    loop_begin(&l, s);
    census_begin(&nodes, s, KIND_NODE);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    run_for(s, 60 * MS_SECOND);
    size_t bound = count_bound(s, "web") + count_bound(s, "api");
    if (bound != WEB + API || count_objects(s, KIND_NODE) != NODES ||
        count_objects(s, KIND_NODE_CLAIM) != NODES || census_count(&nodes) != NODES ||
        census_count(&claims) != NODES)
        fail_msg("killed %s write %llu: %zu pods bound, %zu nodes of %zu, %zu claims of %zu",
                 is_after ? "after" : "before", (unsigned long long)at, bound,
                 count_objects(s, KIND_NODE), census_count(&nodes),
                 count_objects(s, KIND_NODE_CLAIM), census_count(&claims));
    assert_no_orphans(s);
    assert_no_overcommit(s);

    scale(s, "web", 0);
    scale(s, "api", 0);
    run_for(s, 120 * MS_SECOND);
    if (count_objects(s, KIND_NODE) != 0 || count_objects(s, KIND_NODE_CLAIM) != 0)
        fail_msg("killed %s write %llu: %zu nodes and %zu claims are left",
                 is_after ? "after" : "before", (unsigned long long)at, count_objects(s, KIND_NODE),
                 count_objects(s, KIND_NODE_CLAIM));
    *hit = c.done;
    census_end(&nodes);
    census_end(&claims);
    loop_end(&l);
}

void crash_every_write(bool after)
{
    bool hit = true;
    uint64_t k = 1;
    for (; hit; k++)
        play(k, after, &hit);
    printf("%llu places to die %s a write\n", (unsigned long long)(k - 2),
           after ? "after" : "before");
    assert_true(k > 10);
}
