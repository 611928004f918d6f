/* narrow: what a claim may still become, as pods are added to it.
 *
 * A spec is an option cut down by the signatures of the pods on a claim: requirements and the bitset
 * of types that meet them. Claims that were cut alike share a spec, and the step from a spec by an
 * attempt is worked out once and remembered, so that adding a pod to a claim is a table look-up
 * whatever the requirements are. Resources are not in it. */
#ifndef PLANNER_TRIAL_NARROW_H
#define PLANNER_TRIAL_NARROW_H

#include "planner/columns.h"

struct spec {
    uint32_t option;
    struct requirements requirements;
    uint64_t *types;
    uint64_t *kinds;       /* of offerings that the requirements admit */
    uint64_t *daemons_out; /* daemon groups whose host ports a pod on the claim wants */
    amount *most;          /* elementwise greatest room over `types`: nothing larger ever fits */
    bool reserved;         /* some type could be had from a reservation */
    uint64_t **domains;    /* by topology key; see specs_domains */
    int32_t *definite;     /* by topology key; see specs_definite */
    double *prices;        /* by type; see specs_prices */
    uint32_t *by_price;    /* see specs_cheapest */
};

enum narrowing { /* what stops a step, in the order in which it is found */
    NARROW_TAINT,
    NARROW_REQUIREMENT,
    NARROW_TYPES, /* requirements agree, yet no type meets them all */
    NARROW_COUNT,
};

struct narrow_step {
    uint64_t key; /* spec and attempt or domain, + 1; 0: free */
    int32_t to;   /* spec, or -1 - enum narrowing */
};

struct specs {
    struct arena *arena;
    const struct world *world;
    struct intern known;
    struct spec *items;
    uint32_t count, capacity;
    struct narrow_step *steps;
    uint32_t step_count, step_slots;
};

/* Specs 0 to option_count - 1 are the options themselves. */
void specs_init(struct specs *s, struct arena *a, const struct world *w);
/* The spec after the attempt, or -1 - enum narrowing. */
int32_t specs_narrow(struct specs *s, uint32_t spec, const struct attempt *try);
/* From now on specs_narrow gives `to`, which is of another question: "what if". Whoever supposes puts
 * back what it gave before. */
void specs_suppose(struct specs *s, uint32_t spec, const struct attempt *try, int32_t to);
/* The spec with these requirements added, which go along with it, less DaemonSets that want the ports;
 * or -1 - NARROW_TYPES. */
int32_t specs_narrow_by(struct specs *s, uint32_t spec, const struct requirements *asked,
                        struct host_ports ports);

/* The spec whose nodes meet a set of classes.sets too, or -1 - enum narrowing. */
int32_t specs_narrow_to(struct specs *s, uint32_t spec, uint32_t set);
/* The spec whose nodes are all in one domain, or -1 - NARROW_TYPES. */
int32_t specs_settle(struct specs *s, uint32_t spec, uint32_t key, uint32_t domain);
/* The spec whose nodes are in these domains, by topology key; below 0, NULL: in any. Of a refusal, below 0, the same. */
int32_t specs_settle_in(struct specs *s, int32_t spec, const int32_t *cell);
/* The spec of an option's claims that keep to a niche (struct option), or -1 - NARROW_TYPES. */
int32_t specs_niche(struct specs *s, uint32_t option, uint32_t niche);
/* The domains of a topology key in which a node of the spec may turn out to be. */
const uint64_t *specs_domains(struct specs *s, uint32_t spec, uint32_t key);
/* The label may get a value that is no domain yet: the NodeClaim says which, and any but a few will do. */
bool specs_unbounded(const struct specs *s, uint32_t spec, uint32_t key);

/* By topology key the one domain in which its nodes will be; DOMAIN_OPEN when there may be several,
 * DOMAIN_NONE when the label will not be there. */
const int32_t *specs_definite(struct specs *s, uint32_t spec);

/* By type of the spec: its cheapest launchable offering, and what a node costs beside; INFINITY: none. */
const double *specs_prices(struct specs *s, uint32_t spec);

/* Of a set of the spec's types, not empty, the cheapest; ties by number. */
uint32_t specs_cheapest(struct specs *s, uint32_t spec, const uint64_t *types);

/* Whether the type holds the requests, and has the host ports free, in every offering that the spec admits; of
 * offerings that only overrides tell apart, in one. */
bool spec_type_holds(const struct world *w, const struct spec *s, uint32_t type,
                     const amount *requests);

#endif
