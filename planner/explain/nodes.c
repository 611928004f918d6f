/* Every node is put down to the first rule that stops it, in the order in which the search looks. */
#include "planner/explain/nodes.h"

struct lack { /* nodes without room, and who of them has the most of what lacks */
    uint32_t nodes, column, best_row;
    amount most;
};

struct group_count {
    uint32_t group, nodes;
};

struct survey {
    const struct group_question *q;
    uint32_t looked, labels, volumes, ports;
    struct lack lack;
    struct group_count *groups;
    uint32_t group_count, group_capacity;
};

static void count_lack(struct survey *s, uint32_t row)
{
    const struct world *w = s->q->p->world;
    const amount *requests = classes_requests(&w->classes, s->q->class_id);
    const amount *left = trial_left(s->q->t, row);
    struct lack *l = &s->lack;
    uint32_t c = 0;
    while (c < w->column_count && requests[c] <= left[c])
        c++;
    bool first = l->nodes++ == 0;
    if (c == w->column_count || !(first || (c == l->column && left[c] > l->most)))
        return;
    l->column = c;
    l->most = left[c];
    l->best_row = row;
}

static void count_group(struct survey *s, uint32_t group)
{
    uint32_t i = 0;
    while (i < s->group_count && s->groups[i].group != group)
        i++;
    if (i == s->group_count) {
        struct group_count fresh = {group, 0};
        ARENA_PUSH(&s->q->p->arena, s->groups, s->group_count, s->group_capacity, fresh);
    }
    s->groups[i].nodes++;
}

static bool has_room(const struct group_question *q, uint32_t row)
{
    const struct world *w = q->p->world;
    return vector_fits(classes_requests(&w->classes, q->class_id), trial_left(q->t, row),
                       w->column_count);
}

static void look_at(struct survey *s, uint32_t row)
{
    const struct group_question *q = s->q;
    const struct world *w = q->p->world;
    struct attempt anywhere = *q->try;
    uint32_t group = 0;
    anywhere.where_count = 0;
    s->looked++;
    if (world_suits(w, &anywhere, w->profile_of[row], NULL) != FIT_YES)
        s->labels++;
    else if (world_suits(w, q->try, w->profile_of[row], NULL) != FIT_YES)
        s->volumes++;
    else if (trial_ask_row(q->t, row, q->class_id, q->try) == ANSWER_YES)
        return;
    else if (!has_room(q, row))
        count_lack(s, row);
    else if (q->try->tied && tally_row(&q->t->tally, &w->classes.items[q->class_id], q->try, row,
                                       &group) != ANSWER_YES)
        count_group(s, group);
    else
        s->ports++;
}

static struct span lack_text(const struct survey *s)
{
    const struct group_question *q = s->q;
    const struct world *w = q->p->world;
    const struct lack *l = &s->lack;
    amount asked = classes_requests(&w->classes, q->class_id)[l->column];
    struct span most = words_amount(q->p, l->column, l->most > 0 ? l->most : 0);
    if (l->column >= w->resource_count)
        return arena_printf(&q->p->arena, "can attach %.*s more (most: %.*s, %lld)",
                            SPAN_ARG(words_amount(q->p, l->column, asked)),
                            SPAN_ARG(w->nodes[l->best_row].name),
                            (long long)(l->most > 0 ? l->most : 0));
    return arena_printf(&q->p->arena, "has %.*s free (most: %.*s, %.*s)",
                        SPAN_ARG(words_amount(q->p, l->column, asked)),
                        SPAN_ARG(w->nodes[l->best_row].name), SPAN_ARG(most));
}

static int group_order(const struct group_question *q, uint32_t a, uint32_t b)
{
    return span_cmp(group_words_name(q, a), group_words_name(q, b));
}

/* By their words: numbers go by the order of the input. */
static void sort_groups(struct survey *s)
{
    for (uint32_t i = 1; i < s->group_count; i++)
        for (uint32_t k = i;
             k > 0 && group_order(s->q, s->groups[k].group, s->groups[k - 1].group) < 0; k--) {
            struct group_count swap = s->groups[k];
            s->groups[k] = s->groups[k - 1];
            s->groups[k - 1] = swap;
        }
}

static struct span survey_text(struct survey *s)
{
    struct buf b = {0};
    buf_addf(&b, "nodes: %u looked at", s->looked);
    if (s->labels == s->looked)
        buf_addf(&b, "; taints or labels of each keep it off");
    else if (s->labels != 0)
        buf_addf(&b, "; taints or labels keep it off %u", s->labels);
    if (s->volumes != 0)
        buf_addf(&b, "; %u %s not where its volumes are", s->volumes, s->volumes == 1 ? "is" : "are");
    if (s->lack.nodes == s->looked)
        buf_addf(&b, "; none %.*s", SPAN_ARG(lack_text(s)));
    else if (s->lack.nodes != 0)
        buf_addf(&b, "; %u without room: none %.*s", s->lack.nodes, SPAN_ARG(lack_text(s)));
    if (s->ports != 0)
        buf_addf(&b, "; its host ports are taken on %u", s->ports);
    sort_groups(s);
    for (uint32_t i = 0; i < s->group_count; i++)
        buf_addf(&b, "; %u refused by %.*s", s->groups[i].nodes,
                 SPAN_ARG(group_words_name(s->q, s->groups[i].group)));
    return words_take(s->q->p, &b);
}

struct span nodes_refuse(const struct group_question *q, uint32_t end)
{
    struct survey s = {.q = q};
    for (uint32_t row = 0; row < end; row++)
        if (!trial_is_gone(q->t, row))
            look_at(&s, row);
    return s.looked == 0 ? SPAN("nodes: there are none") : survey_text(&s);
}
