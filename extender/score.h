/* score: how good it is for a pod to go to a node, when it may go to several.
 *
 * Packing: a node's score is how full it would be with the pod on it, the mean of CPU and memory, since
 * those two are what is paid for. What is held counts as taken: room that planned pods are about to fill
 * is not a reason to look elsewhere. Of nodes alike the cheaper to keep comes first, then the one that
 * lives longer: pods that go to a node about to expire move twice. A node about to go scores nothing. */
#ifndef EXTENDER_SCORE_H
#define EXTENDER_SCORE_H

#include "extender/subject.h"

enum {
    SCORE_MAX = 10, /* MaxExtenderPriority of kube-scheduler */
    /* Nodes of a zone that are named to a pod that may go to more. kube-scheduler itself scores no more than
     * 100 nodes of a cluster of a thousand; every name costs it time, twice. Enough for its own scores, for images
     * that are there and replicas that are to be apart, to choose from. */
    SHORTLIST = 32,
};

/* 0 to SCORE_MAX of each row; NAN where it is -1 or about to go. */
void score_all(const struct extender_view *v, const struct subject *s, const int32_t *rows,
               uint32_t count, double *scores_out);

/* Index of the best score, count when all are NAN. Of equal ones the earlier. Nodes with a PreferNoSchedule taint
 * that the pod does not tolerate are for want of others. */
uint32_t score_best(const struct extender_view *v, const struct subject *s, const int32_t *rows,
                    uint32_t count, const double *scores);

/* Keeps the best SHORTLIST scores of every zone, and makes the others NAN. Of equal ones the earlier stay, and
 * what is to be avoided is, as above. */
void score_shortlist(const struct extender_view *v, const struct subject *s, const int32_t *rows,
                     uint32_t count, double *scores);

#endif
