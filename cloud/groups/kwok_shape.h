/* kwok_shape: what a group of provider kwok is made of: a template Node, read from the file of templates or made of a Node
 * of the cluster, and the Node that one more machine is. Pure. */
#ifndef CLOUD_GROUPS_KWOK_SHAPE_H
#define CLOUD_GROUPS_KWOK_SHAPE_H

#include "cloud/groups/kwok.h"

struct kwok_shape {
    struct span group;
    int32_t min, max;
    bool has_price;
    double price; /* of a node, an hour */
    const struct node *node; /* as a fresh one is: labels, lasting taints and the provider's, capacity, allocatable; no name */
    struct plain_labels annotations; /* of a fresh one, but for its own */
};

struct kwok_shapes {
    struct kwok_shape *items;
    uint32_t count, capacity;
};

struct kwok_asides {
    struct span *items;
    uint32_t count, capacity;
};

/* Of the templates, by group; in `a`, of table `syms`. A template that is wrong is told by `aside` and its group left out.
 * False: nothing of the text can be read. */
bool kwok_shapes_read(struct arena *a, struct symtab *syms, const struct group_kwok_config *config,
                      const struct group_kwok_text *text, struct kwok_shapes *out, struct kwok_asides *aside,
                      struct err *err);

/* Of a Node of the cluster, whose symbols are of `from`. False: it is wrong, and told. */
bool kwok_shape_of_node(struct arena *a, struct symtab *syms, const struct group_kwok_config *config, const struct node *n,
                        const struct symtab *from, struct kwok_shape *out, struct kwok_asides *aside);

/* Of which group a Node is, by annotation or label; absent: of none. */
struct span kwok_group_of(const struct group_kwok_config *config, const struct node *n, const struct symtab *syms);
/* It is a machine of that group, and may be deleted as one. */
bool kwok_is_machine(const struct node *n, const struct symtab *syms);
struct span kwok_group_node_name(struct arena *a, struct span group, uint32_t ordinal);
bool kwok_node_ordinal(struct span group, struct span node, uint32_t *out); /* false: it has no name that we give */
struct span kwok_group_node_body(struct arena *a, const struct kwok_shape *shape, const struct symtab *syms,
                                 struct span node);
/* The JSON of a Node is that of a machine of the group that is not being deleted. */
bool kwok_group_owns(struct doc_value node, struct span group);

#define KWOK_ID_PREFIX "kwok:"
#define KWOK_GROUP_DOMAIN "cluster-autoscaler.kwok.nodegroup/"

#endif
