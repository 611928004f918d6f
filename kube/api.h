/* api: the cluster, as Stowage sees it: LIST and WATCH in, writes out.
 *
 * Two implementations stand behind it: the API client (kube/client_io.h) and the in-memory cluster
 * (sim/cluster.h). One contract suite runs against both; nobody above can tell them apart.
 *
 * Threads: one thread, the API thread, runs every callback (watch sinks, completions) and owns the
 * store. api_send and api_cancel may be called from any thread. */
#ifndef KUBE_API_H
#define KUBE_API_H

#include "kube/kind.h"

enum api_verb {
    API_GET,
    API_LIST,   /* once, {"items":[…]}, a page; for kinds that are not watched, and who must not err */
    API_CREATE, /* POST body */
    API_UPDATE, /* PUT body, carries resourceVersion */
    API_MERGE,  /* merge patch; put metadata.resourceVersion into the body to lock */
    API_APPLY,  /* server-side apply, field manager "stowage" */
    API_DELETE, /* body: DeleteOptions or absent */
    API_EVICT,  /* POST pods/eviction; body: the Eviction */
};

struct api_request { /* copied by api_send */
    enum api_verb verb;
    enum kind kind;
    struct span ns, name;     /* ns absent for cluster-scoped kinds, or to LIST across namespaces */
    struct span subresource;  /* "status" or absent */
    struct span body;         /* JSON */
    struct span field_selector; /* LIST */
    uint32_t limit;             /* LIST: at most so many; 0: all there are */
    struct span from;           /* LIST: metadata.continue of the page before; absent: the first */
    bool force;               /* APPLY: take fields over */
    bool older;               /* in the kind's older version; the client's own word, once its watch has found out */
    bool is_act;              /* cancelled with the others by api_cancel_acts (losing the Lease) */
};

struct api_result { /* valid during the callback */
    int status;            /* HTTP status; 0: no reply was read, so a write may have happened or not */
    struct err err;        /* ERR_NONE on success; the API server's message otherwise */
    struct span reason;    /* Status.reason: "AlreadyExists", "Conflict"… */
    struct span cause;     /* reason of the first cause: "DisruptionBudget" */
    int32_t retry_after_s; /* -1: the reply had none */
    const struct doc *body; /* parsed reply object, or NULL */
};

typedef void api_done(void *user, const struct api_result *result);

enum watch_event { WATCH_PUT, WATCH_DELETE };

/* What a watch tells. A LIST is begin, put…, end: what was not put in between is gone. `asked`: it was
 * asked for by relist. `object` is valid during the call. */
struct api_sink {
    void *user;
    void (*list_begin)(void *user, enum kind k);
    void (*list_end)(void *user, enum kind k, bool asked);
    void (*event)(void *user, enum kind k, enum watch_event e, struct doc_value object);
    /* The stream ended abnormally (err set) or works again (NULL). Ordinary ends are not told. */
    void (*state)(void *user, enum kind k, const struct err *broken);
};

struct api;

struct api_ops {
    /* Returns an id > 0. `done` is called exactly once, also for what was cancelled. */
    uint64_t (*send)(struct api *api, const struct api_request *r, api_done *done, void *user);
    /* What was not sent yet ends with ERR_CANCELLED; what was, ends as it ends. */
    void (*cancel)(struct api *api, uint64_t id);
    void (*cancel_acts)(struct api *api);
    /* LIST, then WATCH, for ever: resumed, and listed again when it must be. Once a kind. One that is
     * optional and that the API server does not know is listed empty and asked for now and then. */
    void (*watch)(struct api *api, enum kind k, const struct api_sink *sink);
    /* Lists a watched kind once more, soon, from its first page, for a caller that doubts the last
     * LIST. Each request of this LIST, and of the watch that goes on from it, opens a new
     * connection: what answered wrongly may be behind an old one. A LIST under way is given up for
     * it. The watch is not reported as broken. Any thread. */
    void (*relist)(struct api *api, enum kind k);
};

struct api {
    const struct api_ops *ops;
};

static inline uint64_t api_send(struct api *api, const struct api_request *r, api_done *done,
                                void *user)
{
    return api->ops->send(api, r, done, user);
}

/* The URL path of a request, query excluded: /apis/karpenter.sh/v1/nodeclaims/x/status. */
struct span api_path(struct arena *a, const struct api_request *r);
/* One table from HTTP status and Status.reason to the caller's next move. */
enum err_kind api_err_kind(int status, struct span reason);

#endif
