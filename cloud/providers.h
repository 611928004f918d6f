/* providers: the set of those whose machines are planned, bought and kept. Fixed once made.
 *
 * Who a NodePool, a NodeClaim or a Node belongs to is told by its node class alone: group and kind of the nodeClassRef,
 * or the label that a Node has of it. No two providers have the same. Who is of none is nobody's here and stays as it
 * is. Nothing in it asks for pools: a provider whose groups are no NodePools has node classes, too, that nobody names. */
#ifndef CLOUD_PROVIDERS_H
#define CLOUD_PROVIDERS_H

#include "cloud/provider.h"

enum { PROVIDERS_MAX = 4 }; /* kwok, node groups, and room; looked through one by one */

struct providers { /* may be copied; the providers are the caller's and outlive all copies */
    struct provider *items[PROVIDERS_MAX];
    uint32_t count;
};

/* NULL: none of them. */
struct provider *providers_of_class(const struct providers *s, const struct node_class_ref *ref);
struct provider *providers_of_node(const struct providers *s, const struct node *n, const struct symtab *syms);
uint32_t providers_index(const struct providers *s, const struct provider *p); /* it is one of them */

/* Some provider's node classes, or another thing that it lists and watches, are of this kind. */
bool providers_watch(const struct providers *s, enum kind k);

#endif
