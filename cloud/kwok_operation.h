/* kwok_operation: an operation of provider kwok under way. For the files of this provider only. */
#ifndef CLOUD_KWOK_OPERATION_H
#define CLOUD_KWOK_OPERATION_H

#include <pthread.h>

#include "cloud/kwok_machine.h"

enum verb { VERB_CREATE, VERB_REMOVE, VERB_GET, VERB_LIST, VERB_REBOOT };

struct kwok;

struct operation {
    struct operation *next, **link;
    struct kwok *kwok;
    uint64_t id;
    enum verb verb;
    uint64_t request; /* the API's id of what is under way; 0: nothing is */
    bool cancelled;
    bool answered; /* done was called; what remains is the delayed Node */
    machine_done *done;
    void *user;
    struct arena arena;
    struct symtab *syms; /* of the machine's resources; lives in the arena */
    struct span node_name, claim_uid;
    /* list */
    struct machine *listed; /* of the pages so far */
    size_t listed_count, listed_capacity;
    /* create */
    struct span claim_name, class_name;
    bool launched_before; /* the claim has a providerID */
    bool never_registers;
    struct machine machine;
    struct span body;
    span_ms delay;
    mono_ms due; /* of the delayed Node; 0: not waiting */
};

struct sold_out {
    struct span type, zone, capacity_type; /* of the private catalogue */
    mono_ms until;
};

struct kwok {
    struct provider provider;
    struct kwok_config config;
    struct arena arena;
    struct symtab *syms; /* of `types`; not written to after kwok_new */
    struct catalogue types; /* its prices are under the lock */
    struct repair_policies repair;
    struct span violations; /* of them; absent: they are right */
    pthread_mutex_t lock; /* of all below */
    double *listed; /* the source's prices, type by type; NULL: they hold */
    struct operation *operations;
    uint64_t last_id, generation;
    mono_ms now; /* of the last step */
    struct sold_out *sold;
    size_t sold_count, sold_capacity;
};

static inline struct kwok *kwok_of(struct provider *p)
{
    return (struct kwok *)p; /* first member */
}

struct operation *operation_new(struct kwok *k, enum verb verb, machine_done *done, void *user);
void operation_free(struct operation *o); /* takes it out of no list */
/* Calls done, once; the operation lives on. */
void operation_answer(struct operation *o, const struct machine *machines, size_t count);
/* Call done, if it was not called yet, and end the operation. */
void operation_finish(struct operation *o, const struct machine *machines, size_t count);
void operation_fail(struct operation *o, const struct err *err);
void operation_fail_with(struct operation *o, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What went wrong on the way to the API server leaves it open whether a write happened: ERR_RETRY.
 */
void operation_fail_request(struct operation *o, const struct api_result *r, const char *doing);
/* The next request; `done` gets the operation, which may end before this returns. */
void operation_send(struct operation *o, struct api_request request, api_done *done);

/* The object of a reply, and a text member of its metadata. */
struct doc_value operation_body(const struct api_result *r);
struct doc_value operation_path(struct doc_value v, const char *const *path, size_t count);
struct span operation_meta(struct doc_value object, const char *key);

/* The provider's operations (cloud/provider.h). */
uint64_t kwok_create(struct provider *p, const struct claim_order *order, machine_done *done,
                     void *user);
uint64_t kwok_remove(struct provider *p, struct span provider_id, struct span claim_uid,
                     machine_done *done, void *user);
uint64_t kwok_get(struct provider *p, struct span provider_id, machine_done *done, void *user);
uint64_t kwok_list(struct provider *p, machine_done *done, void *user);
uint64_t kwok_reboot(struct provider *p, const struct claim_order *order, struct span operation, machine_done *done,
                     void *user);
/* A delayed Node's time has come. */
void kwok_create_due(struct operation *o);
bool kwok_is_sold_out(const struct kwok *k, const struct kwok_choice *c); /* under the lock */

#endif
