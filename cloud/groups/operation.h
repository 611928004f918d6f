/* operation: a call of a group provider under way, as API requests, some at a time. For the providers of this folder.
 *
 * An operation has parts, a machine each. It goes on, by `step`, when no part has a request under way or is held; without
 * a `step` it ends there: `done` hears of the first error. One lock, the provider's, is over operations and all that their
 * provider remembers; it is never held over a request, a `step`, `ended` or `done`. */
#ifndef CLOUD_GROUPS_OPERATION_H
#define CLOUD_GROUPS_OPERATION_H

#include <pthread.h>

#include "cloud/group_provider.h"
#include "kube/api.h"

struct group_operation;

struct group_part {
    struct group_operation *operation;
    struct span ns, name, uid; /* of its object; live in the operation's arena */
    uint64_t request; /* under way; 0: none, or not known yet */
    uint32_t sent, tries;
    bool is_there; /* it has an object */
    void *row;     /* what its provider keeps of it; NULL: nothing */
};

struct group_operations { /* of a provider */
    struct api *api;
    pthread_mutex_t lock;
    struct group_operation *first;
    uint64_t last_id;
};

struct group_operation {
    struct group_operation *next, **link;
    struct group_operations *of;
    uint64_t id;
    struct arena arena;
    group_done *done;
    void *user;
    void (*step)(struct group_operation *o); /* NULL: it ends */
    void (*ended)(struct group_operation *o); /* before done; NULL: nobody asks */
    void *provider, *group; /* its provider's */
    struct group_part *parts;
    uint32_t count;
    struct err err; /* the first that went wrong; under the lock */
    uint32_t held;  /* requests under way, and who holds it; under the lock */
    uint32_t cancel_at;
    bool cancelled, forced;
    bool undoes; /* what it sends now goes out though it was cancelled: it takes back what it did */
};

void group_operations_init(struct group_operations *s, struct api *api);
void group_operations_release(struct group_operations *s); /* calls no done */

/* Held by whoever calls; group_operation_drop lets go. */
struct group_operation *group_operation_new(struct group_operations *s, uint32_t parts, group_done *done, void *user);
void group_operation_drop(struct group_operation *o);
/* The first error stays. Under the lock. */
void group_operation_fail(struct group_operation *o, const struct err *err);
/* The part's next request. `done` has the part as its user, and is called once, at once when the operation was cancelled. */
void group_part_send(struct group_part *p, struct api_request request, api_done *done);
/* What a request's failure is for who called: ERR_RETRY unless it will never be taken, or was given up. */
void group_part_refused(const struct group_part *p, const struct api_result *r, const char *doing, struct err *out);
void group_operations_cancel(struct group_operations *s, uint64_t id);

#endif
