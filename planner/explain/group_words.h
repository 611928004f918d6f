/* group_words: a topology group in words: what it is, whom it watches, and where those are. */
#ifndef PLANNER_EXPLAIN_GROUP_WORDS_H
#define PLANNER_EXPLAIN_GROUP_WORDS_H

#include "planner/explain/words.h"

struct group_question {
    struct plan *p;
    struct trial *t;
    uint32_t class_id;
    uint32_t pods; /* of the class that wait for the answer */
    const struct attempt *try;
    const struct pod *pod; /* one of them, by whose volumes it is answered */
};

static inline const struct topology_group *question_group(const struct group_question *q, uint32_t group)
{
    return &q->p->world->topology.groups[group];
}

static inline const struct topology_key *question_key(const struct group_question *q, uint32_t group)
{
    return &q->p->world->topology.keys[question_group(q, group)->key];
}

static inline uint64_t *question_set(const struct group_question *q, const struct topology_key *k)
{
    return ARENA_ARRAY(&q->p->arena, uint64_t, k->words);
}

static inline const struct pod_class *question_class(const struct group_question *q)
{
    return &q->p->world->classes.items[q->class_id];
}

/* "its spread over topology.kubernetes.io/zone (maxSkew 1: a 3, b 1)" */
struct span group_words_name(const struct group_question *q, uint32_t group);
/* What follows "a pod" (words_watch): " with app=web". */
struct span group_words_selector(const struct group_question *q, uint32_t group);
/* Domains with at least one pod that counts: "a 3, b 1". */
struct span group_words_taken(const struct group_question *q, uint32_t group);
/* Whose anti-affinity the inverse group is: "shop/web-0 and 2 more". */
struct span group_words_keeper(const struct group_question *q, uint32_t group);
/* The volume claim for which the group stands. */
struct span group_words_volume(const struct group_question *q, uint32_t group);

#endif
