/* scenario: what `stowage simulate` plays: how long, from which seed, and what happens meanwhile. The clusters'
 * objects stand beside it, as `plan` reads them (docs/simulate.md).
 *
 * Decoding finds every mistake in one object: unknown members, wrong types, an event that says two things or none.
 * What only the cluster can tell (no such Deployment) is found by script_check. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "base/decode.h"
#include "kube/kind.h"

#define SCENARIO_API "stowage.dev/v1alpha1"
#define SCENARIO_KIND "Scenario"

#define SCENARIO_LENGTH_MAX_MS (MS_HOUR * 24 * 3660) /* ten years: what is longer is a slip of the pen */
enum { SCENARIO_EVENTS_MAX = 10000 };                /* written out; what repeats is one */

struct scenario_share { /* "5" or "1%" of what there is */
    double value;
    bool percent;
};

struct scenario_object { /* "shop/web", or "web" in namespace default */
    struct span ns, name;
};

struct scenario_workload { /* "shop/web": one of both, or neither where that means all */
    struct span deployment, stateful_set;
};

struct scenario_market { /* which offerings; an absent member: any */
    struct span type, zone, capacity_type;
};

struct scenario_scale {
    struct scenario_workload of;
    int64_t replicas, by;
    bool has_replicas, has_by, has_for;
    span_ms keeps; /* `for`: taken back after it */
};

struct scenario_rollout {
    struct scenario_workload of;
};

struct scenario_delete {
    struct span kind, ns, name;
};

struct scenario_restart { /* pods are deleted; their controllers make new ones */
    struct scenario_workload of; /* neither: of all */
    struct scenario_share pods;
};

struct scenario_price {
    struct scenario_market of;
    bool has_factor, has_vary;
    double factor;              /* of the listed price */
    struct scenario_share vary; /* each offering by itself, up or down by at most this much of its listed price */
};

struct scenario_interrupt {
    struct scenario_market of;
    struct span pool;
    struct scenario_share nodes;
    bool has_nodes; /* else one */
    span_ms notice; /* NodeClaims are deleted so long before their machines are gone */
    bool has_notice;
};

struct scenario_stockout {
    struct scenario_market of;
    span_ms keeps;
};

struct scenario_trouble { /* of launches, for a while */
    span_ms keeps;
};

struct scenario_event {
    span_ms at, every, until;
    double rate; /* per millisecond */
    bool has_at, has_every, has_rate, has_until;
    const struct scenario_scale *scale; /* one of these, the others NULL */
    const struct scenario_rollout *rollout;
    const struct scenario_delete *gone;
    const struct scenario_restart *restart;
    const struct scenario_price *price;
    const struct scenario_interrupt *interrupt;
    const struct scenario_stockout *stockout;
    const struct scenario_trouble *fails, *lost; /* failLaunch, neverRegisters */
};

struct scenario {
    struct meta meta;
    int64_t seed;
    wall_ms start;
    bool has_start;
    span_ms duration;
    span_ms node_ready, pod_start, pod_stop; /* of the stand-ins; 0: as sim.h has them */
    struct {
        struct scenario_event *items;
        uint32_t count;
    } events;
};

extern const struct schema scenario_schema;

#define SCENARIO_NOTICE_MS (2 * MS_MINUTE) /* what AWS gives a spot instance; unless `notice` says otherwise */

struct scenario_object scenario_object_of(struct span text);
enum kind scenario_kind_of(const struct scenario_workload *w); /* KIND_NONE: neither */
struct span scenario_text_of(const struct scenario_workload *w);
/* "5" of `all`, or "1%" of them, rounded to the nearest and at least one where there is any. */
uint32_t scenario_share_of(struct scenario_share s, uint32_t all);

#endif
