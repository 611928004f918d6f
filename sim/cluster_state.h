/* The in-memory cluster's inside, shared by cluster.c (requests), cluster_watch.c and
 * cluster_load.c; the stand-ins reach the objects through it. */
#ifndef SIM_CLUSTER_STATE_H
#define SIM_CLUSTER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/cluster.h"
#include "sim/registry.h"

struct client;

enum watch_state { WATCH_NONE, WATCH_LIST, WATCH_LIVE, WATCH_BROKEN };

struct watch {
    enum watch_state state;
    struct api_sink sink;
    uint64_t at;   /* version told last */
    wall_ms until; /* WATCH_BROKEN: works again then */
    bool expired;  /* … and has to list */
    _Atomic(bool) doubted; /* a LIST was asked for; any thread */
    wall_ms list_at;       /* when it comes; 0: none */
    bool asked;            /* the next LIST is that one */
    uint32_t hidden;       /* so many LISTs show nothing */
};

enum pending_state { PENDING_SENT, PENDING_CANCELLED, PENDING_APPLIED };

struct pending { /* one request from api_send to its completion */
    struct pending *next;
    struct client *client;
    uint64_t id;
    enum pending_state state;
    bool seen; /* by a step, which then knows when it is due */
    wall_ms due;
    struct arena arena; /* holds what `request` points to */
    struct api_request request;
    api_done *done;
    void *user;
    struct reply reply;
    bool lost; /* status 0 */
};

struct client {
    struct api api;
    struct sim_cluster *cluster;
    struct client *next;
    struct watch watches[KIND_STORED_COUNT];
    struct sim_faults faults;
    uint64_t writes;
    bool dead;
    bool sees_at_once; /* its watches know no delay (stand-ins) */
};

struct sim_cluster {
    struct sim_cluster_options options;
    struct objects objects;
    struct client *clients;
    struct doc_parser *parser;
    pthread_mutex_t lock;  /* over sent and ids: what other threads touch */
    struct pending *sent;  /* in order, until applied */
    struct pending **sent_end;
    uint64_t ids;
    struct pending *applied; /* in order, until replied; API thread only */
    struct pending **applied_end;
};

/* Delivers what the client's watches have to hear. True if anything was. */
bool cluster_watch_step(struct sim_cluster *c, struct client *client);
wall_ms cluster_watch_due(struct sim_cluster *c, const struct client *client); /* INT64_MAX: all was told */
/* Forgets changes that every watch has heard. */
void cluster_watch_trim(struct sim_cluster *c);

#endif
