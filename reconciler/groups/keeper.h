/* keeper: keeps the node groups: one pass of Cluster Autoscaler's loop now and then (planner/groups/pass.h), and what it
 * decided carried out. For the reconciler only.
 *
 * A pass looks at the groups as their provider has them, at the cluster, and at what is remembered. Then, one after the
 * other as upstream does: machines that never came or came broken go, sizes are put right, groups grow; nodes that are
 * not needed are marked, and removed each at its own pace (removal.h) while passes go on. No pass is begun while one of
 * the former is under way: a target counts only once its cloud has taken it.
 *
 * But for what was learned of groups' nodes (templates_map.h) nothing here has to outlive a leader: a new one finds nodes marked and takes the marks off (marks.c), asks the cloud
 * what there is, and begins its timers anew, or from the soft taints (--node-deletion-candidate-ttl). */
#ifndef RECONCILER_GROUPS_KEEPER_H
#define RECONCILER_GROUPS_KEEPER_H

#include "base/buf.h"
#include "planner/groups/learned.h"
#include "planner/groups/memory.h"
#include "reconciler/decision.h"
#include "reconciler/groups/kept.h"
#include "reconciler/groups/settings.h"
#include "reconciler/groups/wishes.h"
#include "reconciler/memo.h"

struct pass;
struct reconciler;
struct group_removal; /* removal.c */
struct group_order;   /* orders.c */

struct kept_templates { /* the ConfigMap of what was learned */
    struct gate gate;
    bool asked, read, unread; /* unread: told that it cannot be read */
    struct span uid;          /* malloc'ed; absent: it is not there */
    uint64_t written, sent;   /* hashes of its text: as it is, and as it will be once a write is answered */
};

struct keeper { /* zero: nothing is kept yet */
    struct group_memory *memory;
    struct learned *learned;
    struct kept_templates templates;
    /* passes */
    mono_ms last;     /* began; 0: none yet */
    uint32_t again;   /* so many follow at once, since one did something (1.2) */
    wall_ms held_since; /* removals are stopped, for the view is partial; 0: they are not */
    bool woken;       /* somebody waits who did not before */
    bool all_new;     /* those who wait are too young to be looked at */
    bool cleaned;     /* marks of another time are known */
    struct memos stale; /* UIDs of the Nodes that have such marks still */
    mono_ms began;    /* the first pass */
    struct group_kept kept;
    struct kept_wishes wishes;
    uint64_t fruitless; /* without pools: for whom one search had nothing to say (group_look_wishes); 0: it had */
    /* orders */
    struct arena orders_arena;
    bool has_orders_arena, order_under_way;
    struct group_order *orders;
    struct decision_object *triggers; /* pods for whom groups grow */
    uint32_t trigger_count;
    struct span order_request; /* uid of the ProvisioningRequest for which groups grow; absent: for pods */
    bool growth_failed;        /* one of the orders */
    /* ProvisioningRequests */
    bool requests_turn, requests_served; /* next; in the last pass */
    uint32_t backed_off;                 /* whose back-off is remembered */
    struct buf grown; /* "{a 1->2 (max: 5)}" of those that did */
    /* places on machines on their way (coming.h) */
    uint64_t *known; /* Nodes of groups as of the last look: hashes of their names, ascending; malloc'ed */
    uint32_t known_count;
    /* removals */
    struct group_removal *removals;
    uint32_t removal_calls; /* under way */
    /* the priority expander's ConfigMap, as it was read last */
    struct gate priority_gate;
    bool priority_known, priority_unread; /* unread: told that it cannot be read */
    mono_ms priority_read;
    struct span priority; /* its text, malloc'ed; absent: there is none */
    /* the status ConfigMap */
    struct gate status_gate;
    struct span status_uid; /* malloc'ed; absent: not known */
    bool status_asks;       /* it is there, and its UID has to be asked for */
    struct memos status_words; /* and since when each is so */
};

void keeper_release(struct keeper *k); /* forgets all; zero afterwards */

/* Before the first of all that is here; nothing, where there are no groups. */
void groups_begin(struct pass *p);
/* The stage. After plans were made: pods with a place there do not ask here. */
void groups_run(struct pass *p);
/* A pod waits that did not before. */
void groups_wake(struct reconciler *r);

#endif
