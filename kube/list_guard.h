/* list_guard: whether a LIST that lost many objects of a kind can be believed. Pure.
 *
 * An API server, or a proxy before it, can answer 200 with a short or empty list: a replica whose
 * watch cache is not filled, a restored backup, a filter. Objects that such a list does not show are
 * still there. A LIST that loses more than LIST_LOST_PERCENT of a kind stays unconfirmed until
 * another LIST decides: one that was asked for (api_ops.relist: every request of it on a new
 * connection) and shows about the same objects, or any LIST that shows about as many as before.
 *
 * Not guarded: the first LIST of a process, which has nothing to be compared with; and DELETED
 * events, which are what a deletion is. */
#ifndef KUBE_LIST_GUARD_H
#define KUBE_LIST_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum {
    /* More than so much of a kind gone at once is rarer than a wrong reply. In a small cluster one
     * object of five or fewer is more, which costs one LIST and the wait below. */
    LIST_LOST_PERCENT = 20,
    /* How long after an unconfirmed LIST the second one is asked for: load balancers and kubelets
     * probe every 10 s by default, so that a replica that is unwell has been taken out of service, and
     * one that has just started has filled its watch cache. Removals can wait so long. */
    LIST_CONFIRM_MS = 10 * MS_SECOND,
};

struct list_guard {
    uint32_t list;      /* number of the LIST that is unconfirmed; 0: none is */
    uint32_t had, lost; /* objects before that LIST, and of these those that it did not show */
    uint32_t believed;  /* objects when the view was last believed */
};

struct list_counts { /* of one LIST that is complete */
    uint32_t number; /* from 1, ascending */
    uint32_t had, lost, has;
    bool asked;
};

/* Updates the guard by a LIST. Returns whether the guard has changed. */
bool list_guard_update(struct list_guard *g, const struct list_counts *c);

#endif
