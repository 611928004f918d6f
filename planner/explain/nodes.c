/* Every node is put down to the first rule that stops it, in the order in which the search looks. */
#include "planner/explain/nodes.h"

#include "planner/explain/ports.h"

struct lack { /* nodes without room, and who of them has the most of what lacks */
    uint32_t nodes, column, best_row;
    amount most;
};

struct survey {
    const struct group_question *q;
    uint32_t looked, labels, volumes, ports;
    uint32_t port_row; /* the first of those where host ports are taken */
    struct lack lack;
    const uint32_t *groups;
    uint32_t group_count;
    uint32_t *refused; /* nodes, by the first group that does not take them */
};

static void count_lack(struct survey *s, uint32_t row)
{
    const struct world *w = s->q->p->world;
    const amount *left = trial_left(s->q->t, row);
    struct lack *l = &s->lack;
    uint32_t c = vector_lacks(w, classes_requests(&w->classes, s->q->class_id), left);
    bool first = l->nodes++ == 0;
    if (c == w->column_count || !(first || (c == l->column && left[c] > l->most)))
        return;
    l->column = c;
    l->most = left[c];
    l->best_row = row;
}

/* False: all groups take it. */
static bool count_group(struct survey *s, uint32_t row)
{
    const struct group_question *q = s->q;
    for (uint32_t i = 0; i < s->group_count; i++)
        if (tally_ask(&q->t->tally, question_class(q), q->try, s->groups[i], row) != ANSWER_YES) {
            s->refused[i]++;
            return true;
        }
    return false;
}

static bool has_room(const struct group_question *q, uint32_t row)
{
    const struct world *w = q->p->world;
    return vector_fits(w, classes_requests(&w->classes, q->class_id), trial_left(q->t, row));
}

static void look_at(struct survey *s, uint32_t row)
{
    const struct group_question *q = s->q;
    const struct world *w = q->p->world;
    struct attempt anywhere = *q->try;
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
    else if (!count_group(s, row) && s->ports++ == 0)
        s->port_row = row;
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

/* "; its host ports are taken on 3 (on n1 host port 8080 is taken by shop/web-0)" */
static void put_ports(const struct survey *s, struct buf *out)
{
    struct span who = ports_on_row(s->q, s->port_row);
    struct span node = s->q->p->world->nodes[s->port_row].name;
    buf_addf(out, "; its host ports are taken on %u", s->ports);
    if (who.ptr != NULL)
        buf_addf(out, " (on %.*s %.*s)", SPAN_ARG(node), SPAN_ARG(who));
}

static struct span survey_text(struct survey *s)
{
    struct buf b = {0};
    buf_addf(&b, "%u looked at", s->looked);
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
        put_ports(s, &b);
    for (uint32_t i = 0; i < s->group_count; i++)
        if (s->refused[i] != 0)
            buf_addf(&b, "; %u refused by %.*s", s->refused[i],
                     SPAN_ARG(group_words_name(s->q, s->groups[i])));
    return words_take(s->q->p, &b);
}

struct span nodes_refuse(const struct group_question *q, uint32_t end)
{
    struct survey s = {.q = q};
    s.groups = groups_in_order(q, &s.group_count);
    s.refused = ARENA_ARRAY(&q->p->arena, uint32_t, s.group_count);
    for (uint32_t row = 0; row < end; row++)
        if (!trial_is_gone(q->t, row))
            look_at(&s, row);
    return s.looked == 0 ? SPAN("there are none") : survey_text(&s);
}
