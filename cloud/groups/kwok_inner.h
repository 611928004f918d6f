/* kwok_inner: the groups of provider kwok, and what they were asked for. For its files only.
 *
 * What a snapshot does not show yet is kept as a row beside it: a machine that was asked for until a Node of its name is
 * seen, one that was removed until its Node is not. A row also goes when the snapshot has a Node newer than what the row
 * is about and yet says otherwise: then somebody else had it gone. */
#ifndef CLOUD_GROUPS_KWOK_INNER_H
#define CLOUD_GROUPS_KWOK_INNER_H

#include "cloud/groups/kwok_shape.h"
#include "cloud/groups/operation.h"

enum row_state {
    ROW_ASKED,      /* its Node is being created */
    ROW_MADE,       /* it was */
    ROW_NEVER_MADE, /* asked for; no machine */
    ROW_SILENT,     /* a machine without a Node, for ever */
    ROW_BROKEN,     /* could not be made */
    ROW_ENDING,     /* its Node is being deleted */
    ROW_GONE,       /* it was */
};

struct row {
    struct row *next;
    enum row_state state;
    uint32_t ordinal;
    uint64_t version; /* of its Node as it was made; 0: that is in a snapshot */
    struct group_error_info error;
    const struct node *node; /* in the snapshot looked at; of use in a look alone */
    struct span name;        /* of the Node; of one block with the row, as uid is */
    struct span uid;         /* of the Node that is removed */
};

struct kwok_group {
    struct kwok_shape shape;
    struct row *rows; /* in the order in which they came */
    bool looked_at;   /* a snapshot was */
    int32_t target;   /* Nodes of the last snapshot and rows, kept up with both */
    uint32_t *ordinals; /* of its Nodes in the last snapshot */
    uint32_t ordinal_count, ordinal_capacity;
};

struct kwok_groups {
    struct group_provider provider;
    struct group_kwok_options options;
    struct arena arena;
    struct symtab *syms; /* of the shapes */
    struct kwok_asides asides; /* of the templates */
    struct group_operations operations; /* its lock is over all below */
    struct kwok_group **groups; /* by name */
    uint32_t group_count, group_capacity;
    struct arena look_arena; /* of the last look */
    struct kwok_asides look_asides;
    bool has_read; /* configuration and templates are known */
    struct kwok_reading *reading; /* of a ConfigMap, under way; or NULL */
    struct err unread; /* why the last reading came to nothing */
};

static inline struct kwok_groups *kwok_groups_of(struct group_provider *p)
{
    return (struct kwok_groups *)p; /* first member */
}

/* Under the lock. */
struct kwok_group *kwok_group_find(struct kwok_groups *k, struct span name); /* NULL */
void kwok_group_add(struct kwok_groups *k, const struct kwok_shape *shape);  /* its spans live with the provider */
struct row *row_add(struct kwok_group *g, enum row_state state, uint32_t ordinal, struct span name, struct span uid);
void row_drop(struct kwok_group *g, struct row *r);
struct row *row_find(const struct kwok_group *g, struct span name); /* NULL */
bool row_counts(const struct row *r); /* in the target */

void kwok_groups_configure(struct kwok_groups *k, const struct group_kwok_config *config); /* copied; drops what was read */
bool kwok_groups_read(struct kwok_groups *k, const struct group_kwok_text *templates, struct err *err); /* as is configured */

/* ConfigMaps (kwok_maps.c). False: they are not read, which has begun by now: ERR_RETRY, or why not. Not under the lock. */
bool kwok_maps_read(struct kwok_groups *k, struct err *err);
void kwok_maps_leave(struct kwok_groups *k); /* the provider goes */

/* The provider's operations (cloud/group_provider.h). */
bool kwok_groups_look(struct group_provider *p, const struct snapshot *s, struct arena *a, struct symtab *syms,
                      struct node_groups *out, struct err *err);
uint64_t kwok_groups_resize(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done,
                            void *user);
uint64_t kwok_groups_remove(struct group_provider *p, struct span group, const struct span *ids, uint32_t count,
                            bool force, group_done *done, void *user);

#endif
