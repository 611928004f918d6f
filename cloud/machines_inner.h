/* machines_inner: what provider clusterapi of NodeClaims remembers between two looks. For its files only. */
#ifndef CLOUD_MACHINES_INNER_H
#define CLOUD_MACHINES_INNER_H

#include <pthread.h>

#include "cloud/machine_types.h"
#include "cloud/machines.h"
#include "kube/store.h"

#define MACHINES_NAME_KEY "stowage.dev/nodeclaim"     /* on a Machine: whose it is */
#define MACHINES_OF_CLAIM_KEY "cluster.x-k8s.io/machine" /* on a NodeClaim: namespace/name, as upstream has it */

struct machines;

struct machines_work { /* a call under way */
    struct machines_work *next, **link;
    struct machines *of;
    uint64_t id, request; /* request: under way; 0: none, or not known yet */
    machine_done *done;
    void *user;
    struct arena arena;
    struct symtab *syms;
    struct machine machine; /* of a create: what the claim will get */
    bool waits;     /* for a Machine: step looks after it */
    bool sending;   /* a request is under way */
    bool cancelled;
    struct span ns, group; /* the MachineDeployment that was chosen */
    struct span name;      /* of the Machine that is being taken, or was */
    uint64_t version;      /* with which it was */
    mono_ms again;         /* when it may be with that version again: not before, if it was refused */
    bool taken;
};

struct machines_size { /* of a MachineDeployment that was written */
    struct machines_size *next;
    struct machines *of;
    struct arena arena;
    struct span ns, name;
    uint64_t version; /* with which */
    bool sending;
    mono_ms again;    /* INT64_MAX: a newer version has to come */
};

struct machines_full { /* a MachineDeployment that has no more */
    struct machines_full *next;
    mono_ms until;
    struct span ns, name; /* of one block with it */
};

struct machines {
    struct provider provider;
    struct machines_config config;
    struct share *snapshots;
    struct repair_policies repair;
    pthread_mutex_t lock; /* of all below; never held over a request or a done */
    struct machines_work *works;
    struct machines_size *sizes;
    struct machines_full *full;
    uint64_t last_id, fulls; /* fulls: how often that list has changed */
    uint64_t told; /* hash of what was told of MachineDeployments last */
    mono_ms now;   /* of the last step */
    bool leaving;  /* some Machine may be marked to go and still be counted */
};

static inline struct machines *machines_of(struct provider *p)
{
    return (struct machines *)p; /* first member */
}

/* --- of a snapshot --- */

struct snapshot *machines_snapshot(struct machines *c); /* to be given back; NULL: not everything is listed yet */
bool machines_is_of(const struct machine_group *g, const struct cluster_machine *m);
bool machines_is_marked(const struct snapshot *s, const struct cluster_machine *m); /* by us */
struct span machines_owner(const struct snapshot *s, const struct cluster_machine *m); /* a claim's UID; absent: none's */
/* The Machine that a claim has; `provider_id` for those that upstream's has taken. NULL: none. */
const struct cluster_machine *machines_own(const struct snapshot *s, struct span claim_uid, struct span provider_id);
bool machines_is_free(const struct snapshot *s, const struct cluster_machine *m); /* nobody has it */
bool machines_has_failed(const struct cluster_machine *m); /* and becomes no Node */
/* Objects of the snapshot by namespace and name. In `a`. */
const void **machines_sorted(const struct snapshot *s, enum kind k, struct arena *a, size_t *count_out);
/* Whose maximum was reached, or whose machine has failed, a while ago. Under the lock. */
bool machines_is_full(const struct machines *c, struct span ns, struct span name);
void machines_note_full(struct machines *c, struct span ns, struct span name);

/* --- calls --- */

/* Answers and ends it. */
void machines_finish(struct machines_work *w, const struct machine *list, size_t count);
void machines_fail(struct machines_work *w, enum err_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void machines_refused(struct machines_work *w, const struct api_result *r, const char *doing);
/* Sends a request of the call's; `done` gets the call. */
void machines_send(struct machines_work *w, struct api_request request, api_done *done);
void machines_wake(const struct machines *c);

mono_ms machines_step(struct provider *p, mono_ms now);

#endif
