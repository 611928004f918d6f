/* The whole loop on the virtual clock: an in-memory cluster with its stand-ins, and beside it a
 * Stowage of store, world, provider kwok and reconciler, which can be killed and begun anew at any
 * moment. */
#ifndef TESTS_SUPPORT_LOOP_H
#define TESTS_SUPPORT_LOOP_H

#include "cloud/kwok.h"
#include "planner/places.h"
#include "reconciler/derive.h"
#include "reconciler/reconciler.h"
#include "tests/sim/support_sim.h"

struct rules;

struct loop {
    struct sim *sim;
    struct reconciler_options options;
    struct world_options world; /* gates; reserved_capacity is always on */
    bool wakes;            /* what is answered within a step is looked at at once, as a server does */
    bool looks_anew;       /* each pass looks at everything, as if it was the first */
    const char *catalogue; /* JSON; NULL: the built-in one */
    bool (*in_stock)(void *user, struct span type, struct span zone, struct span capacity_type);
    void *in_stock_user;
    struct sim_faults faults; /* of each new client */
    span_ms restart_after;    /* a client that died is followed by a new Stowage after so long */
    uint32_t starts;
    /* what the extender would know: who was sent where, or refused (NULL: nothing), and when it was
     * asked last; a loop that `hears` nothing of it has no extender */
    bool hears;
    const struct sent_pod *sent;
    uint32_t sent_count;
    void (*before_sent)(struct loop *l, mono_ms now); /* each time the reconciler wants to know; may be NULL */
    mono_ms asked;
    uint64_t look_ns; /* what each look at the listener's clock takes: virtual time stands still meanwhile */
    uint64_t looked_ns;
    uint64_t beats;      /* signs of life that solves gave */
    uint64_t deposed_at; /* from that one on they are told to stop; 0: never */
    struct group_settings groups;
    struct group_provider *(*open_groups)(struct loop *l); /* with its api; NULL: there are none. Freed by loop_stop */
    struct provider *beside; /* another provider, the test's; or NULL */
    bool on_machines; /* beside it is that of Cluster API's machines, made anew with each Stowage */
    struct listings_worker lister; /* none: they are asked at once */
    /* what was decided, by kind and by reason of its Event */
    uint32_t decided[DECISION_COUNT];
    char last[DECISION_COUNT][256];
    double measured[MEASURE_ID_COUNT];
    struct buf history; /* Events' reasons, objects and notes, who is put off, and measures, a line each, when `keeps` */
    bool keeps;
    struct moves_seen { uint32_t under_way, recommended; uint64_t states; } moves; /* told last; bits of all states ever */
    struct rules *rules; /* hear all that is told (support_rules.h); or NULL */
    bool posts; /* Events go to the cluster, as those of a server do */
    /* a running Stowage, or NULL */
    struct api *api;
    struct events *events; /* NULL: it does not post */
    struct provider *provider;
    struct derive *derive;
    struct store *store;
    struct share places;
    struct reconciler *reconciler;
    wall_ms died;
    bool woken; /* in the step: there is something to look at already */
    span_ms stepped; /* by loop_step_clock, in all */
    span_ms behind;  /* the wall clock of Stowage's host is so much behind the cluster's */
};

void loop_begin(struct loop *l, struct sim *s); /* options etc. set before; starts a Stowage */
void loop_start(struct loop *l);
void loop_stop(struct loop *l); /* as a process that dies */
void loop_end(struct loop *l);  /* stops, frees the sim */
/* The wall clock is set forward: the monotonic one does not notice. */
void loop_step_clock(struct loop *l, span_ms by);

/* A NodePool "general" of kwok's linux amd64 on-demand types, consolidateAfter 0s and budget 100%
 * unless `disruption` (JSON) says otherwise; `more` (JSON members of spec.template.spec, from ",
 * …") may be "". */
const char *pool_yaml(const char *name, const char *disruption, const char *more);
const char *node_class_yaml(void);
extern const char two_types[]; /* a catalogue in two zones, with which worlds are built quickly */

size_t count_objects(struct sim *s, enum kind k);

struct census { /* of all objects of a kind that are ever there, while the sim runs */
    struct sim *sim;
    enum kind kind;
    json_t *uids;
    size_t most; /* at a time */
    uint64_t version; /* of the cluster, when last looked */
};
void census_begin(struct census *c, struct sim *s, enum kind k);
size_t census_count(const struct census *c);
void census_end(struct census *c); /* before the sim is gone; it does not run any more */
size_t count_bound(struct sim *s, const char *app);
/* Each Node has a claim whose UID it carries, each claim that is launched one Node at most. */
void assert_no_orphans(struct sim *s);

#endif
