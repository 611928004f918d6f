#include "planner/explain/group_words.h"

#include "planner/explain/volumes.h"

static struct span spread_name(const struct group_question *q, uint32_t group)
{
    const struct topology_group *x = question_group(q, group);
    struct buf b = {0};
    buf_addf(&b, "its spread over %.*s (maxSkew %d", SPAN_ARG(words_key(q->p, x)), x->max_skew);
    if (x->min_domains > 1)
        buf_addf(&b, ", minDomains %d", x->min_domains);
    uint64_t *compared = question_set(q, question_key(q, group));
    if (x->key != 0)
        tally_spread_domains(&q->t->tally, q->try, group, compared);
    if (bits_count(compared, question_key(q, group)->words) != 0)
        buf_addf(&b, ": %.*s",
                 SPAN_ARG(words_counts(q->p, question_key(q, group), compared,
                                       tally_counts(&q->t->tally, group))));
    buf_add_char(&b, ')');
    return words_take(q->p, &b);
}

struct span group_words_selector(const struct group_question *q, uint32_t group)
{
    const struct topology *t = &q->p->world->topology;
    return words_watch(q->p, t, question_group(q, group)->watch, question_class(q)->ns);
}

/* Domains with at least one pod that counts. */
struct span group_words_taken(const struct group_question *q, uint32_t group)
{
    const struct topology_key *k = question_key(q, group);
    const uint32_t *counts = tally_counts(&q->t->tally, group);
    uint64_t *set = question_set(q, k);
    for (uint32_t d = 0; d < k->count; d++)
        if (counts[d] != 0)
            bits_add(set, d);
    return words_counts(q->p, k, set, counts);
}

static bool keeps_off(const struct world *w, uint32_t class_id, uint32_t group)
{
    const struct topology_ties *ties = &w->classes.items[class_id].ties;
    for (uint32_t i = 0; i < ties->keeps_off_count; i++)
        if (ties->keeps_off[i] == group)
            return true;
    return false;
}

/* The first pod whose anti-affinity the inverse group is: one that stands, else one that was placed. */
static const struct pod *keeper(const struct group_question *q, uint32_t group)
{
    const struct world *w = q->p->world;
    for (uint32_t row = 0; row < w->node_count; row++)
        for (uint32_t i = 0; i < w->nodes[row].pod_count; i++)
            if (keeps_off(w, w->nodes[row].pod_classes[i], group))
                return w->nodes[row].pods[i];
    for (uint32_t i = 0; i < q->t->step_count; i++)
        if (q->t->steps[i].kind <= TRIAL_OPENED && keeps_off(w, q->t->steps[i].class_id, group))
            return trial_pod(q->t, q->t->steps[i].pod)->pod;
    return NULL;
}

struct span group_words_keeper(const struct group_question *q, uint32_t group)
{
    const struct pod *pod = keeper(q, group);
    uint32_t others = tally_total(&q->t->tally, group);
    struct buf b = {0};
    if (pod == NULL)
        return SPAN("other pods");
    buf_addf(&b, "%.*s/%.*s", SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name));
    if (others > 1)
        buf_addf(&b, " and %u more", others - 1);
    return words_take(q->p, &b);
}

struct span group_words_volume(const struct group_question *q, uint32_t group)
{
    const struct world *w = q->p->world;
    uint32_t number = w->topology.watches[question_group(q, group)->watch].volume - 1;
    return volumes_shared_name(&w->volumes, number);
}

static struct span affinity_name(const struct group_question *q, uint32_t group)
{
    const struct topology_group *x = question_group(q, group);
    uint32_t total = tally_total(&q->t->tally, group);
    struct buf b = {0};
    if (q->p->world->topology.watches[x->watch].volume != 0)
        buf_addf(&b, "the other pods of its volume claim %.*s", SPAN_ARG(group_words_volume(q, group)));
    else if (x->inverse && x->key == 0 && total > 1) /* each node has its own */
        buf_addf(&b, "the anti-affinity of pods there over %.*s", SPAN_ARG(words_key(q->p, x)));
    else if (x->inverse)
        buf_addf(&b, "the anti-affinity of %.*s over %.*s", SPAN_ARG(group_words_keeper(q, group)),
                 SPAN_ARG(words_key(q->p, x)));
    else
        buf_addf(&b, "its %saffinity to pods%.*s over %.*s",
                 x->kind == TOPOLOGY_AFFINITY ? "" : "anti-", SPAN_ARG(group_words_selector(q, group)),
                 SPAN_ARG(words_key(q->p, x)));
    if (total == 0)
        buf_addf(&b, " (there is none)");
    else if (x->key != 0)
        buf_addf(&b, " (%.*s)", SPAN_ARG(group_words_taken(q, group)));
    return words_take(q->p, &b);
}

struct span group_words_name(const struct group_question *q, uint32_t group)
{
    return question_group(q, group)->kind == TOPOLOGY_SPREAD ? spread_name(q, group)
                                                             : affinity_name(q, group);
}
