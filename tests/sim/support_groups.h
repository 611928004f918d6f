/* What the tests of group providers share: an in-memory cluster, a client with a store that watches what they look at, and
 * their calls with their answers waited for. */
#ifndef TESTS_SUPPORT_GROUPS_H
#define TESTS_SUPPORT_GROUPS_H

#include "cloud/group_provider.h"
#include "tests/sim/support_sim.h"

struct group_desk {
    struct sim *sim;
    struct api *api;
    struct store *store;
    struct group_provider *(*make)(struct group_desk *d); /* with d->api */
    struct group_provider *provider;
    bool blind; /* snapshots stay as they are */
    /* of the last look */
    struct arena arena;
    struct symtab *syms;
    struct node_groups groups;
    struct snapshot *snapshot;
    /* of the last answer */
    uint32_t answers;
    struct err err;
};

void group_desk_begin(struct group_desk *d, const char *objects);
/* As another process: a client, a store and a provider that know nothing. */
void group_desk_restart(struct group_desk *d);
void group_desk_end(struct group_desk *d);

/* A look, after all that is under way has come to rest. */
void group_desk_look(struct group_desk *d);
const struct node_group *group_named(struct group_desk *d, const char *name); /* NULL; of the last look */
const struct node_group *group_looked(struct group_desk *d, const char *name); /* looks; there is one */
const struct group_machine *machine_named(const struct node_group *g, const char *id); /* NULL */
/* Machines in a state, INSTANCE_… */
uint32_t count_machines(const struct node_group *g, enum instance_state state);

void group_done_desk(void *user, const struct err *err); /* for calls of the test's own */
void group_answered(struct group_desk *d); /* the call under way is, exactly once */
enum err_kind group_resize(struct group_desk *d, const char *group, int32_t from, int32_t to);
/* Ids with a blank between. */
enum err_kind group_remove(struct group_desk *d, const char *group, const char *ids, bool force);

#endif
