/* Nodes that say that they are not well, by the policies of provider kwok (spec api 7.6): KWOKUnhealthy is tolerated for 30 s,
 * KWOKRebootRequired for a few. */
#ifndef TESTS_SUPPORT_WARD_H
#define TESTS_SUPPORT_WARD_H

#include "tests/sim/support_loop.h"

#define BUDGETS(nodes) "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"" nodes "\"}]}"
#define CLOSED                                                                                                          \
    "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\n"                     \
    "spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}\n"

enum { PODS = 5 };

struct ward {
    struct loop l;
    struct sim *sim;
    char first[64], second[64]; /* nodes, which are named as their claims */
    bool by_hand; /* nobody but the test says that a node is ready */
    const char *pods; /* more of their spec, JSON members from ", …"; or NULL */
};

/* A pod on each of five nodes; more: of the claims' template. */
void ward_begin(struct ward *w, const char *disruption, const char *more);
void ward_end(struct ward *w);
void ward_expect_calm(struct ward *w); /* all pods are bound, each Node has a claim */

void say(struct ward *w, const char *node, const char *type, const char *status); /* a condition, from now on */
void fall_ill(struct ward *w, const char *node);

bool said(const struct ward *w, const char *what); /* in the history */
bool is_there(struct ward *w, const char *node);
bool is_leaving(struct ward *w, const char *name); /* its claim; or it is gone */
wall_ms deadline_of(struct ward *w, const char *name); /* at which its drain is forced; 0: none */
wall_ms wait_for_deletion(struct ward *w, const char *name); /* of the claim; returns when */

/* ---- of `first` ---- */

json_t *condition_of(json_t *claim, const char *type); /* or NULL */
/* "True RebootRequested"; "" when there is none. Static storage. */
const char *state_of(struct ward *w, const char *type);
/* "": absent. Static storage. */
const char *annotation_of(struct ward *w, const char *key);
bool has_boot(struct ward *w); /* since it was first there */
void wait_for_state(struct ward *w, const char *want, int seconds); /* of Rebooting */

#endif
