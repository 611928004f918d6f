/* state: what a reconciler is made of, and one pass over a snapshot. For this folder only. */
#ifndef RECONCILER_STATE_H
#define RECONCILER_STATE_H

#include <math.h>
#include <stdio.h>

#include "kube/backoff.h"
#include "kube/condition_set.h"
#include "kube/store.h"
#include "kube/workload.h"
#include "planner/disruption/allowance.h"
#include "planner/places.h"
#include "reconciler/provision/batch.h"
#include "reconciler/disruption/budgets_seen.h"
#include "reconciler/disruption/loops.h"
#include "reconciler/disruption/returns.h"
#include "reconciler/call.h"
#include "reconciler/clock_jump.h"
#include "reconciler/derive.h"
#include "reconciler/groups/keeper.h"
#include "reconciler/guards.h"
#include "reconciler/status/health.h"
#include "reconciler/disruption/kept_verdict.h"
#include "reconciler/reconciler.h"
#include "reconciler/views/views.h"

enum { OBSERVE_MAX = 512 };

/* ---- memory ---- */

struct standing_note { /* an Event that is told when it has been true for a while */
    uint64_t hash; /* of its note; 0: none */
    mono_ms due;   /* 0: told */
};

struct note_told { /* an Event that is not told again soon */
    uint64_t hash; /* of its note; 0: never */
    mono_ms at;
};

struct provider_drift { /* what its provider said last of a claim's drift */
    struct gate gate;
    mono_ms due;     /* asked again; 0: as soon as may be */
    uint64_t basis;  /* hash of pool and class as they were when it was asked */
    bool known;      /* it has answered */
    char reason[64]; /* "": not drifted */
};

enum reboot_failure { REBOOT_FAILED_NOT, REBOOT_REFUSED, REBOOT_NOT_ISSUED, REBOOT_NOT_RECOVERED };

struct claim_memo {
    struct memo memo;
    uint32_t at; /* in the views, if it is there */
    /* launch */
    struct call *launch; /* create under way */
    struct arena arena;  /* of the machine */
    bool launched;       /* create has answered in this process */
    struct called_machine machine;
    struct provider_drift drift; /* lifecycle/drift_ask.c */
    bool labels_written; /* the machine's labels and annotations are on the claim */
    bool launch_failed;  /* error is the last one */
    struct err error;
    struct gate create, remove; /* pace the provider's calls */
    /* reboot (disruption/reboot.c) */
    struct gate reboot;
    wall_ms reboot_until;  /* the provider is asked; 0: not yet */
    bool reboot_accepted, reboot_refused; /* by the provider; refused: error says why */
    enum reboot_failure reboot_failure;   /* its deletion was asked for */
    mono_ms reboots[2];    /* the last ones that were committed to, the later behind; 0: none */
    mono_ms nominated_until;
    mono_ms cools; /* until then it is in no consolidation, for one has moved pods to it */
    uint64_t planned;  /* sum of the uids' hashes of whom its stowage.dev/planned speaks; 0: not known */
    wall_ms pod_event; /* a pod came or went, not yet written */
    bool pods_lost;    /* by a LIST that is unconfirmed */
    /* end */
    bool instance_gone;   /* the provider said so */
    mono_ms remove_began; /* 0: not yet */
    bool unlisted;        /* the provider's last list had no such machine */
    bool gone_told, deleted_by_us;
    bool noted; /* as a purchase (disruption/returns.h) */
    struct standing_note blocked; /* while it has no Node */
};

struct node_memo {
    struct memo memo;
    uint32_t at; /* in the views, if it is there */
    struct gate get;
    bool get_says_gone; /* the provider knows no such machine */
    mono_ms nominated_until;
    /* emptiness */
    struct kept_verdict verdict;
    enum empty_verdict said; /* by it and by all that is asked in each pass */
    mono_ms validate_at; /* 0: no candidate; when it may be decided for good */
    wall_ms awaited_until; /* it stays until then, for its like may be needed again (disruption/returns.h); 0: it does not */
    bool was_awaited;      /* and has had no pods since */
    struct command *command; /* that has marked it, or is about to (disruption/command.h); NULL: none */
    mono_ms barred;      /* until then no command is to have it: the last ones were taken back */
    uint32_t taken_back; /* how many of them in a row */
    uint32_t looked;     /* asking.sweep + 1, of the sweep in which a consolidation last looked at it alone; 0: none has */
    struct note_told unconsolidatable, unrepaired;
    struct standing_note blocked;
    uint64_t told;       /* hash of the sentence told last; 0: none holds */
    /* drain */
    mono_ms drain_began; /* 0: not yet */
    uint64_t leaves_from; /* sequence of the snapshot by which it was found to leave; 0: it was not */
    bool pods_planned;    /* its pods have places elsewhere, as far as there are any */
    uint64_t held;       /* hash of what holds the drain, told last; 0: nothing has been told */
    bool drained;
};

struct pod_memo { /* of a pod that is being drained */
    struct memo memo;
    bool left_alone; /* the eviction queue has dropped it */
};

struct drift_wave { /* of disruption/waves.c */
    bool known;       /* what follows is */
    uint32_t size;    /* nodes that may go in it; 0: none has begun */
    uint32_t taken;   /* that have */
    uint32_t unready; /* pods on these that were not ready before either */
    wall_ms began;    /* 0: before this process, or nobody knows */
    mono_ms over;     /* its nodes are gone since; 0: they are not */
    uint64_t hash;    /* of the template's */
    bool paused;      /* told */
};

struct pool_memo {
    struct memo memo;
    struct health health;
    span_ms warm_up; /* of its nodes, the last ones weighing most; 0: none has come up in this process */
    bool known; /* the two below and health are set */
    int64_t generation, class_generation;
    char failure_reason[64], failure_message[512];
    int64_t validated; /* generation of `faults` */
    bool invalid;
    struct span faults; /* malloc'ed when not empty */
    uint32_t counted;   /* views.made when the two below were added up; 0: never */
    uint32_t nodes;
    struct resources usage; /* malloc'ed */
    mono_ms written;    /* status, last */
    struct { /* gauges of its budgets as they were shown last; at 0: never */
        int32_t allowed;
        uint32_t busy;
        mono_ms at;
    } shown[REASON_COUNT];
    uint32_t told_blocked; /* bit by reason: its budgets let nothing go */
    struct drift_wave wave;
    mono_ms loop_ends;  /* until then its nodes are in no consolidation (disruption/loops.h); 0: they are */
    /* with replicas */
    struct gate buying; /* paces claims that could not be created, or may not be */
    uint64_t told_fixed; /* what was said last of their number: hash of the sentence; 0: nothing */
};

struct buffer_memo { /* of a CapacityBuffer */
    struct memo memo;
    bool known;      /* the next one is set */
    uint64_t answer; /* hash of what it was resolved to last */
    mono_ms due;     /* plans again, though nothing changed */
    /* of the last plan that had virtual pods of it */
    bool planned;
    uint32_t fitting, bought, failed;
};

struct request_memo { /* of a ProvisioningRequest (groups/requests.c) */
    struct memo memo;
    span_ms back_off; /* after the next failure of a try; 0: it has not failed */
    bool booked;      /* Provisioned=True was written, and has not been seen yet */
    bool grown;       /* groups have grown for it, and that was not written yet */
    bool refused;     /* or could not */
    bool unwritten;   /* told that its status cannot be written */
};

struct waiting_memo { /* of a pod that is not bound, or since then not ready yet */
    struct memo memo;
    mono_ms seen;      /* waiting for a plan; 0: not yet */
    bool decided;      /* a plan has said something about it */
    mono_ms placed;    /* the first plan that had a place for it, if all since did; 0: none */
    bool bound;        /* it was, since */
    bool started;      /* and was ready */
    uint64_t refused_at; /* node (span_hash of its name) at which the scheduler refused it last */
    mono_ms barred;      /* until then the plan takes that for refused; 0: as long as the extender says so */
    mono_ms ready_since; /* its planned node; 0: is not */
    uint64_t ready_node; /* that one (span_hash of its name) */
    bool late;           /* told */
    uint32_t verdict;    /* what the scheduler said last (kube/pod.h) */
    mono_ms tried;       /* when it was first seen to say something new since ready_since; 0: not yet */
    uint32_t refusals, pauses;
    mono_ms put_off;     /* nothing is planned for it before; 0: it is not put off, and nothing says so */
    bool untried;        /* or until the scheduler tries it */
    bool devices;
    bool has_gauge, has_placed_gauge; /* series of its own are shown */
    char *ns, *name;                  /* under which; malloc'ed while has_gauge */
    struct reconciler *reconciler;
};

struct zone_told { /* a series of the effective zones */
    char name[64];
    bool still;
};

struct expected { /* a NodeClaim that we created and that no snapshot has shown yet */
    struct expected *next;
    struct gate gate;
    mono_ms ask_at;      /* when the API is asked whether it is there */
    bool answered, gone; /* the create has come back; there is no such claim */
    uint64_t pool;       /* that it is of: span_hash of its uid */
    char name[64];
};

struct told { /* of what may happen to many at once, and is told only now and then */
    mono_ms at;
    uint32_t others; /* not told yet */
};

struct command_queue { /* of disruption/command.h; zero: empty */
    struct command *first;
};

struct asking { /* of disruption/ask.c: when the planner is asked again who is to leave */
    struct inquiry *inquiry; /* that is being answered; NULL: none */
    mono_ms next;        /* not before */
    mono_ms rested;      /* no consolidation before */
    mono_ms again;       /* then it is looked whether time alone has changed what consolidations go by */
    mono_ms renewed;     /* then they are asked for though nothing has changed at all */
    uint64_t basis;      /* hash of what time may change, as they were asked for last */
    mono_ms swept;       /* a consolidation last looked at everybody, or was first to be asked about; 0: not yet */
    bool acted;          /* the last question was about what is to be done, and not about what is only recommended */
    bool swept_all;      /* the last search looked at everybody who was left */
    uint32_t sweep;      /* number of the sweep under way, which may take several searches */
    bool changed;        /* the world, since a consolidation was asked for in vain */
    bool several_rejected; /* the last one of several nodes did not stand: next those of one */
    struct span *unreached; /* pools: of the last decision, for the next. malloc'ed, and so are the texts */
    uint32_t unreached_count;
};

struct recommending { /* of disruption/recommend.c */
    bool changed;   /* the world, since it was asked what would be done */
    mono_ms next;   /* not before */
    mono_ms again;  /* then though nothing has changed */
    struct command_queue moves; /* that would be made, and are not */
};

struct ranking { /* of disruption/ranks.c */
    struct arena arena;        /* of the writes that the last look found */
    struct rank_write *writes;
    uint32_t count, left, under_way; /* left: not done yet */
    uint32_t at;               /* next of them, round about */
    mono_ms next, renewed;     /* looks: when something has changed, and when nothing has */
    bool changed;              /* the world, since the last look */
    bool told;                 /* that writes fail, since the last look */
    struct gate pace;          /* of what fails */
};

struct provider_side { /* what is a provider's own, by its index */
    uint32_t calls; /* under way, those that were given up included */
    struct gate garbage; /* lifecycle/garbage.c */
    mono_ms garbage_at;
    uint32_t garbage_rounds, unlisted; /* claims whose memo says so */
};

struct told_missing { /* of guards.h, and what was told of them */
    struct guards guards;
    bool counted, stopped[GUARDS_VERDICT_COUNT][KIND_STORED_COUNT]; /* as stowage_removals_stopped has it */
    bool collects;       /* the last pass saw enough to collect garbage */
    uint64_t told;       /* hash of the sentence that says what waits; 0: nothing does */
    wall_ms blind_until; /* the last pass that did not see all nodes; 0: none */
};

struct provisioning { /* of provision/provision.c */
    struct batch batch;
    bool batch_ready; /* the window is over, the gate was not open */
    mono_ms batch_ended;
    uint64_t planned;       /* sequence of the last snapshot that was planned on */
    unsigned overtaken;     /* plans in a row that were not carried out */
    mono_ms unsynced_since; /* 0: synced */
    uint32_t told_unschedulable;
    uint32_t unplaced; /* pods to which the last plan gave no place */
};

struct purchases { /* of provision/purchase.c */
    struct expected *expected;
    mono_ms *times; /* of the last minute's, oldest first; malloc'ed */
    uint32_t count, slots;
};

struct watching { /* of lifecycle/pod_events.c */
    mono_ms scanned;
    wall_ms scanned_wall; /* when all pods were looked at last; 0: not yet */
    bool unconfirmed;     /* the last pass had an unconfirmed LIST of pods */
    uint32_t bound, bound_right; /* planned pods, since it was last told */
    mono_ms bound_at;
};

struct diverging { /* of divergence/divergence.c */
    struct told late, refused, elsewhere;
    mono_ms barred;      /* the last bar of waiting_memo ends */
    bool putting_off;    /* some waiting_memo may have put_off */
    uint32_t queue;      /* pods with a place on a node that is ready, in the last pass */
    mono_ms waits_since; /* pods that the scheduler does not ask about */
    bool silent;         /* told */
};

struct buffered { /* of status/buffer_status.c */
    struct arena arena;
    struct span *claims; /* NodeClaims that the last plan has virtual pods on, sorted */
    uint32_t count;
    bool planned; /* a plan has seen all buffers as they are now */
};

struct shown_series { /* of metrics that name what may go */
    char scheduling_id[16]; /* of the last solve */
    struct zone_told *zones;
    uint32_t zone_count, zone_slots;
    uint32_t pods; /* with a series of their own */
};

struct standing_plan { /* the plan that the published places are of, for the next one (planner/plan/seating.h) */
    struct snapshot *snapshot; /* a reference; NULL: there is none */
    uint32_t *rows;            /* malloc'ed */
    mono_ms made;
};

struct reconciler {
    struct reconciler_config config;
    /* from other threads */
    pthread_mutex_t lock;
    struct call *inbox, **inbox_end;
    bool want_lead;
    char want_observe[OBSERVE_MAX];
    /* the reconciler's own */
    struct call *calls;
    uint32_t calls_under_way; /* that are waited for */
    mono_ms calls_due;        /* none of the providers' is overdue before */
    struct provider_side sides[PROVIDERS_MAX];
    mono_ms drift_round; /* lifecycle/drift_ask.c: the next; and with which claim the last one ended */
    uint32_t drift_at;
    bool leading;
    bool stale;   /* memory is of another time of leading */
    bool rebuilt; /* places were made of what the API says */
    char observing[OBSERVE_MAX];
    uint64_t decisions;
    /* the pass */
    struct share_cache cache;
    struct snapshot *previous; /* of the last pass; a reference */
    struct arena arena;
    mono_ms mono;
    wall_ms wall;
    struct clock_jump jump;
    struct told_missing missing;
    /* what is remembered of objects */
    struct views views;
    struct memos claims, nodes, pods, pools, asides, waiting, buffers, requests, quotas, overlays, nominations; /* the last: by pod */
    mono_ms swept;
    struct places *places; /* the published ones; kept by the share */
    struct standing_plan standing;
    /* what a stage keeps for itself */
    struct provisioning provision;
    struct purchases purchases;
    struct watching watching;
    struct diverging divergence;
    struct buffered buffered;
    struct shown_series series;
    struct budgets_seen budgets;
    struct command_queue commands;
    struct asking asking;
    struct recommending recommending;
    struct loops loops;
    struct returns returns;
    struct ranking ranking;
    uint64_t moves_told;  /* hash of what the listener knows of both (disruption/moves.c); 0: there are none */
    struct bucket blocked_pace; /* of Events of who is blocked (disruption/stays.c) */
    mono_ms room_looked;  /* when pods last made room for DaemonSets', or need not; 0: never */
    uint64_t judged;      /* the snapshot (its sequence) of the last pass in which empty nodes were judged */
    uint32_t nominating;  /* writes of nominations under way */
    struct keeper keeper; /* of node groups */
};

/* ---- a pass ---- */

struct pool_view {
    const struct node_pool *pool;
    struct pool_memo *memo;
    struct provider *provider; /* NULL: somebody else's */
    struct allowance counted, by_reason[REASON_COUNT]; /* disruption/budgets.c; those of `closed`, bit by number */
    uint32_t closed;
};

struct sent_pod;
struct binder;

struct pass {
    struct reconciler *r;
    struct arena *a;
    const struct snapshot *snapshot;
    const struct world *world;
    struct symtab *syms; /* of this pass, over the snapshot's */
    mono_ms mono, next;  /* next: when to step again */
    wall_ms wall;
    struct claim_view *claims; /* each list sorted by name */
    struct node_view *nodes;
    struct pool_view *pools;
    uint32_t claim_count, node_count, pool_count;
    const uint64_t *promised; /* rows that a pod has its place on; NULL: nobody asked yet */
    bool drain_waits;         /* for the next plan (termination/evict.c) */
    struct guards_view view; /* what is missing of the snapshot */
    const struct sent_pod *sent; /* what the extender knows of the scheduler (planner/places.h) */
    uint32_t sent_count;
    const uint64_t *arriving; /* ids of arrivals that the plan in work knows of, ascending */
    uint32_t arriving_count;
    /* bound elsewhere than planned: the first of them, and how many */
    const struct pod *strayed;
    struct span strayed_from, strayed_to;
    uint32_t strayed_count;
    uint32_t *taken; /* rows on which pods were bound that have no place there */
    uint32_t taken_count, taken_capacity;
    struct binder *binder; /* of the world, nothing bound; NULL: nobody asked yet */
};

/* Lets its snapshot go: objects that were replaced since can be freed. */
void standing_plan_drop(struct standing_plan *s);

void pass_begin(struct pass *p, struct reconciler *r, const struct snapshot *s);
static inline void pass_wake(struct pass *p, mono_ms at)
{
    if (at < p->next)
        p->next = at;
}
/* Turns a moment of the wall clock into a wake. */
static inline void pass_wake_wall(struct pass *p, wall_ms at)
{
    pass_wake(p, p->mono + (at > p->wall ? at - p->wall : 0));
}
/* Whether it is his turn. Else there will be a pass when it is. */
static inline bool pass_turn(struct pass *p, const struct turns *t, uint32_t at)
{
    wall_ms due = turns_due(t, at);
    if (due > p->wall && due != INT64_MAX)
        pass_wake_wall(p, due);
    return due <= p->wall;
}
const struct node_pool *pass_pool(const struct pass *p, struct span name); /* or NULL */
struct node_view *pass_node(const struct pass *p, struct span name);       /* or NULL */
struct claim_view *pass_claim(const struct pass *p, struct span name);     /* or NULL */
/* The text of a symbol of the snapshot. */
static inline struct span pass_text(const struct pass *p, sym s)
{
    return sym_text(p->syms, s);
}
struct span claim_pool_name(const struct pass *p,
                            const struct node_claim *c); /* its label; may be absent */

/* What is seen of the cluster suffices for it. */
static inline bool pass_may(const struct pass *p, enum guards_act act)
{
    enum kind k;
    return guards_check(&p->view, act, &k) == GUARDS_CLEAR;
}

/* We lead, and nothing says that we should only look on. */
bool reconciler_may_act(const struct reconciler *r);
/* Takes over new places (NULL: none) and shows them to everybody. */
void reconciler_publish(struct reconciler *r, struct places *places);

/* ---- telling ---- */

__attribute__((format(printf, 3, 4))) void tell(struct reconciler *r, struct decision d,
                                                const char *format, ...);
/* An Event alone, or that what was told last of d.about holds no more (d.takes_back). */
void tell_silently(struct reconciler *r, struct decision d);
/* The same of what nobody tells again: whatever other Event of its reason its object has had a moment ago. */
void tell_once(struct reconciler *r, struct decision d);
void decision_id(struct reconciler *r, char out[16]); /* a new one */
void count(struct reconciler *r, enum measure_id id, double value, struct span l0, struct span l1,
           struct span l2);
void count_all(struct reconciler *r, const struct measure *m); /* of more than three labels */
/* The series is no more. */
void uncount(struct reconciler *r, enum measure_id id, struct span l0, struct span l1,
             struct span l2);

static inline struct decision_object object_of(enum kind k, const struct meta *m)
{
    return (struct decision_object){k, m->ns, m->name, m->uid};
}

#endif
