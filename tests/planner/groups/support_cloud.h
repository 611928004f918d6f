/* support_cloud: a small cloud of node groups, and the scheduler of a cluster, on a virtual clock.
 *
 * A group has a target. Who grows it asks for machines; each is listed, registers its Node and turns ready so many
 * seconds later, or does what is told of the next ones: never comes, stays silent, stays unready, cannot be made, is on its way out. A
 * machine is called GROUP-N, its Node too. The scheduler puts waiting pods on the first ready node, by age, that has the
 * cores, the labels and no taint in the way. */
#ifndef TESTS_PLANNER_GROUPS_SUPPORT_CLOUD_H
#define TESTS_PLANNER_GROUPS_SUPPORT_CLOUD_H

#include "kube/node_groups.h"
#include "tests/planner/support_cluster.h"

enum fate { FATE_WELL, FATE_NEVER, FATE_SILENT, FATE_UNREADY, FATE_FAILS, FATE_LEAVING };

struct cloud_machine {
    uint32_t group;
    struct span id;
    enum fate fate;
    struct group_error_info error;
    wall_ms listed, registers, ready; /* when it is to; ready 0: it has turned ready */
    struct node *node;                /* NULL: has not registered */
    bool lost;                        /* the machine is gone, and its Node stands */
    bool gone;                        /* both are */
    wall_ms leaves;                   /* its removal ends; 0: none is under way */
    bool drains;
    wall_ms dies;                     /* was deleted; 0: was not */
};

enum { CLOUD_GROUPS_MAX = 6 };

struct cloud_group {
    int32_t target;
    uint32_t named; /* machines so far */
    int64_t listed_s, registers_s, ready_s;
    enum fate fate;
    int32_t fate_count; /* of so many more machines; -1: of all */
    struct group_error_info error;
    bool refuses; /* to grow */
    bool keeps;   /* what is to be removed */
    bool bare;    /* its provider knows no template */
    int64_t dies_s; /* how long what was deleted is listed still */
};

struct cloud {
    struct cluster *c;
    struct node_groups file; /* as it was written */
    struct cloud_group groups[CLOUD_GROUPS_MAX];
    struct cloud_machine *machines;
    uint32_t machine_count, machine_capacity;
    int64_t removal_s;
    bool no_scheduler; /* nobody puts pods anywhere */
};

/* Told of removals that end, by cloud_advance. */
typedef void cloud_left(void *user, const struct cloud_machine *m, bool well);

void cloud_init(struct cloud *x, struct cluster *c, const char *groups_yaml);
uint32_t cloud_group_of(const struct cloud *x, struct span name); /* fails the test where there is none */
struct cloud_machine *cloud_find(struct cloud *x, struct span id); /* the same */
/* Nodes that have been there for an hour; the target grows with them. */
void cloud_stand(struct cloud *x, uint32_t group, int32_t count, wall_ms now);
void cloud_add(struct cloud *x, uint32_t group, int32_t count, wall_ms now); /* machines alone, nothing of the target */
bool cloud_grow(struct cloud *x, uint32_t group, int32_t count, wall_ms now);   /* IncreaseSize */
void cloud_withdraw(struct cloud *x, uint32_t group, int32_t count, wall_ms now); /* DecreaseTargetSize */
void cloud_delete(struct cloud *x, struct span id, wall_ms now);                  /* DeleteNodes */
/* The same, after its Node was tainted and its pods were moved: begins here, ends in cloud_advance. */
void cloud_remove(struct cloud *x, struct span node, bool drains, wall_ms now);
void cloud_taint(struct cloud *x, struct cloud_machine *m, wall_ms now); /* ToBeDeletedByClusterAutoscaler */
void cloud_lose(struct cloud *x, struct span id);   /* the machine, but not its Node */
void cloud_label(struct cloud *x, struct cloud_machine *m, sym key, struct span value); /* its Node */
void cloud_vanish(struct cloud *x, struct span id); /* both, and the target knows nothing of it */
void cloud_advance(struct cloud *x, wall_ms now, cloud_left *left, void *user);
/* As a provider tells of its groups, and what removals are under way. In `a`. */
struct node_groups *cloud_look(struct cloud *x, wall_ms now, struct arena *a);

#endif
