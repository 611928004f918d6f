/* tally: where pods are, as a search moves them; over the numbers of the world.
 *
 * A *target* is a row of the world or, from the number of rows on, a claim. Every move can be taken
 * back by its opposite. What a group says never changes but by moves: `moved` counts them, so that a
 * refusal can be remembered for as long as nothing has moved. */
#ifndef PLANNER_TALLY_H
#define PLANNER_TALLY_H

#include "planner/columns.h"

struct tally {
    struct arena *arena;
    const struct world *world;
    uint32_t **counts; /* by group; NULL: as in the world */
    /* Of those, pods of which it is not sure: on claims that may become a node on which they do not count. They are
     * in the way in their domain, and no others may rely on them. By group; NULL: none. */
    uint32_t **unsure;
    uint32_t *totals, *moved;
    struct pairs hosts; /* differences to the world's */
    uint32_t *floors;   /* by group, + 1; NULL, 0: none; see tally_measure */
    struct tally_levels *levels; /* what is open by which spread */
};

void tally_init(struct tally *t, struct arena *a, const struct world *w);

struct tally_claim {
    uint32_t target;
    const struct requirements *requirements;
    struct taints taints;
    const int32_t *domain_of; /* by topology key; below 0: not definite */
};
/* A pod of the class comes (by 1) or goes (by -1). */
void tally_move_row(struct tally *t, const struct pod_class *k, uint32_t row, int by);
void tally_move_claim(struct tally *t, const struct pod_class *k, const struct tally_claim *c,
                      int by);
/* A pod that stands on the row is planned anew (by 1): it is counted where it comes to stand; or is not after all (by
 * -1). `goes` as topology_move has it. */
void tally_lift(struct tally *t, const struct pod_class *k, bool goes, uint32_t row, int by);

enum answer {
    ANSWER_YES,
    ANSWER_NOT_NOW, /* moves may change it */
    ANSWER_NEVER,   /* more pods never will */
};
/* By the groups whose key is hostname. */
enum answer tally_host(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                       uint32_t target);
enum answer tally_row(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                      uint32_t row);
/* By one group. */
enum answer tally_ask(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                      uint32_t group, uint32_t row);

/* The domains of a key other than hostname that the groups leave the attempt, of all that the key
 * has. False when some group needs the key to be there: a node without it will not do. */
bool tally_domains(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                   uint32_t key, uint64_t *out);
/* Pods in a domain that the attempt's own spread constraints count, and those that others' do. */
struct tally_load {
    uint64_t own, others;
};
struct tally_load tally_load(const struct tally *t, const struct pod_class *k, const struct attempt *try,
                    uint32_t key, uint32_t domain);
/* What one group says by itself, for those who have to explain it. Numbers by domain of a group whose
 * key is not hostname; in all. */
const uint32_t *tally_counts(const struct tally *t, uint32_t group);
uint32_t tally_sure(const struct tally *t, uint32_t group, uint32_t domain); /* less those of which it is not */
uint32_t tally_total(const struct tally *t, uint32_t group);
/* Whether pods of the class count for it. */
bool tally_counts_class(const struct pod_class *k, uint32_t group);
/* Of affinity: pods of the class want to be with their own kind, and there is none anywhere, by none of the
 * terms that were stated together. The first may go anywhere. */
bool tally_is_first(const struct tally *t, const struct pod_class *k, uint32_t group);
/* The domains of its key, not hostname, that it leaves the attempt. */
void tally_group_domains(const struct tally *t, const struct pod_class *k,
                         const struct attempt *try, uint32_t group, uint64_t *out);
/* The domains whose numbers a spread compares for the attempt. */
void tally_spread_domains(const struct tally *t, const struct attempt *try, uint32_t group,
                          uint64_t *out);
/* Pods of the group on a row or claim; of a group whose key is hostname. */
uint32_t tally_on_host(const struct tally *t, uint32_t group, uint32_t target);

/* A spread is measured from this number, not from the least over all domains (over hostname: 0). What is
 * refused so may be welcome later. */
void tally_measure(struct tally *t, uint32_t group, uint32_t least);
/* What a spread over another key is measured from for the attempt, when nothing else was said. */
uint32_t tally_least(const struct tally *t, const struct attempt *try, uint32_t group);
/* All are measured as ever. */
void tally_measure_end(struct tally *t);
/* Changes with every move that could change an answer to the attempt. */
uint64_t tally_version(const struct tally *t, const struct attempt *try);

#endif
