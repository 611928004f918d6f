/* What the contract's cases are written with. A case stops at its first CHECK that fails. */
#ifndef TESTS_CONTRACT_CASE_H
#define TESTS_CONTRACT_CASE_H

#include "sim/tree.h"
#include "tests/contract/contract.h"

struct answer { /* of one request */
    bool done;
    uint32_t completions; /* must end as 1 */
    int status;
    enum err_kind kind;
    char reason[64], cause[64], message[512];
    int32_t retry_after_s;
    json_t *body; /* NULL: none */
};

struct seen { /* one thing that a watch told */
    enum { SEEN_LIST_BEGIN, SEEN_LIST_END, SEEN_PUT, SEEN_DELETE, SEEN_BROKEN, SEEN_WORKS } what;
    enum kind kind;
    char name[128];
    uint64_t version;
    int64_t generation;
};

struct contract {
    const struct contract_target *target;
    const char *label; /* of the case that runs */
    bool failed;
    struct seen *seen;
    size_t seen_count, seen_capacity;
    bool watched[KIND_STORED_COUNT];
};

struct contract_case {
    const char *label;
    void (*run)(struct contract *c);
    bool needs_controllers, needs_breaks;
};

struct contract_cases {
    const struct contract_case *items;
    size_t count;
};

extern const struct contract_cases contract_object_cases, contract_delete_cases, contract_pod_cases,
    contract_watch_cases;

#define CHECK(c, condition, ...)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            contract_fail((c), __FILE__, __LINE__, #condition, __VA_ARGS__);                       \
            return;                                                                                \
        }                                                                                          \
    } while (0)
/* The status, and what was answered when it is another. */
#define CHECK_STATUS(c, a, wanted)                                                                 \
    CHECK((c), (a).status == (wanted), "status %d, reason \"%s\": %s", (a).status, (a).reason,     \
          (a).message)

void contract_fail(struct contract *c, const char *file, int line, const char *condition,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sends and waits. The answer is valid until the case's end. */
struct answer contract_send(struct contract *c, const struct api_request *r);
struct answer contract_get(struct contract *c, enum kind k, const char *name);
struct answer contract_create(struct contract *c, enum kind k, const char *body);
struct answer contract_merge(struct contract *c, enum kind k, const char *name, const char *patch);
struct answer contract_merge_status(struct contract *c, enum kind k, const char *name,
                                    const char *patch);
struct answer contract_delete(struct contract *c, enum kind k, const char *name, const char *options);
struct answer contract_apply(struct contract *c, enum kind k, const char *name, const char *body,
                             bool force);
/* Removes what a case made, finalizers or not; waits until it is gone. */
void contract_clean(struct contract *c, enum kind k, const char *name);

/* How long each wait goes on for what must come. It says nothing about speed: a wait is over as soon
 * as the thing is there. The slowest, the garbage collector of a real control plane, takes half a
 * minute on a machine of its own; this is for one that is busy. */
enum { CONTRACT_PATIENCE_MS = 5 * MS_MINUTE };

/* Lets time go on until `what` is true; false: it never was, and patience is over. */
bool contract_wait(struct contract *c, bool (*what)(struct contract *c, void *user), void *user);
bool contract_wait_gone(struct contract *c, enum kind k, const char *name);

/* Watches the kind (once), and waits for the first LIST to end. */
bool contract_watch(struct contract *c, enum kind k);
/* The first of a name and what, from index `from` on, waited for; SIZE_MAX: never seen. */
size_t contract_wait_seen(struct contract *c, size_t from, int what, const char *name);

/* printf into memory that lives until the case ends. */
const char *contract_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t contract_version(const json_t *object);
struct span contract_ns(const struct contract *c, enum kind k); /* absent for cluster-scoped kinds */

/* Bodies. */
const char *contract_claim(const char *name, const char *more_meta, const char *more);
const char *contract_node_class(const char *name, const char *more_meta);
const char *contract_pool(const char *name);
const char *contract_pod(const struct contract *c, const char *name, const char *app, const char *node);

#endif
