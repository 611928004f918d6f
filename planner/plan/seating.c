#include "planner/plan/seating.h"

#include "planner/plan/plan.h"

/* --- the same pods, and the same rows, in two worlds --- */

/* Both lists have most pods in the same order: whoever is not next is looked up. */
static void match_pods(struct seated *s, const struct world *now)
{
    const struct world *before = s->from->world;
    uint32_t next = 0;
    for (uint32_t i = 0; i < now->waiting_count; i++) {
        const struct pod *pod = now->waiting[i].pod;
        if (now->waiting[i].bound)
            continue;
        if (next == before->waiting_count || before->waiting[next].pod != pod) {
            const struct waiting_pod *x = before->waiting_count != 0 ? world_unbound(before, pod->meta.uid) : NULL;
            if (x == NULL)
                continue;
            next = (uint32_t)(x - before->waiting);
        }
        s->before[i] = ++next;
    }
}

enum { UNSEEN = 0, MISSING = 1 }; /* else the row + 2 */

/* A claim whose Node is there by now is another target (places_target). */
static uint32_t find_row(const struct world *before, const struct world *now, uint32_t row)
{
    const struct world_node *n = &before->nodes[row];
    int32_t at = n->node != NULL ? world_find_node(now, n->node->meta.name)
                                 : world_find_claim(now, n->claim->meta.name);
    bool same = at >= 0 && (now->nodes[at].node != NULL) == (n->node != NULL);
    return same ? (uint32_t)at + 2 : MISSING;
}

static void make_wishes(struct seated *s, const struct world *now)
{
    const struct world *before = s->from->world;
    uint32_t *rows = ARENA_ARRAY(s->arena, uint32_t, before->node_count);
    uint8_t *may = ARENA_ARRAY(s->arena, uint8_t, now->classes.count); /* 0: not asked, 1: no, 2: yes */
    for (uint32_t i = 0; i < now->waiting_count; i++) {
        uint32_t class_id = now->waiting[i].class_id;
        uint32_t row = s->before[i] != 0 ? s->from->rows[s->before[i] - 1] : 0;
        if (row == 0)
            continue;
        if (may[class_id] == 0)
            may[class_id] = trial_may_seat(now, class_id) ? 2 : 1;
        if (rows[row - 1] == UNSEEN)
            rows[row - 1] = find_row(before, now, row - 1);
        if (may[class_id] == 2 && rows[row - 1] != MISSING)
            s->wish[i] = rows[row - 1] - 1;
    }
    for (uint32_t i = 0; i < s->from->apart_count; i++) {
        const struct waiting_pod *x = world_unbound(now, s->from->apart[i]);
        if (x != NULL)
            s->wish[x - now->waiting] = 0;
    }
}

/* --- by row and class --- */

/* Of one row, whose pods `list` are: equal ones beside one another. */
static void add_sitters(struct seated *s, const struct world *w, uint32_t row, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint32_t class_id = w->waiting[s->numbers[from]].class_id, end = from + 1;
        for (uint32_t i = end; i < to; i++)
            if (w->waiting[s->numbers[i]].class_id == class_id) {
                uint32_t swap = s->numbers[i];
                s->numbers[i] = s->numbers[end];
                s->numbers[end++] = swap;
            }
        struct sitter x = {row, class_id, from, end - from};
        ARENA_PUSH(s->arena, s->sitters, s->sitter_count, s->sitter_capacity, x);
        from = end;
    }
}

static void group(struct seated *s, const struct world *w, const uint32_t *taken, uint32_t count)
{
    uint32_t *ends = ARENA_ARRAY(s->arena, uint32_t, (size_t)w->node_count + 1);
    s->numbers = ARENA_ARRAY(s->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        ends[s->wish[taken[i]]]++; /* of the row before it, in the end */
    for (uint32_t row = 0; row < w->node_count; row++)
        ends[row + 1] += ends[row];
    for (uint32_t i = 0; i < count; i++)
        s->numbers[ends[s->wish[taken[i]] - 1]++] = taken[i];
    for (uint32_t row = 0, from = 0; row < w->node_count; row++) {
        add_sitters(s, w, row, from, ends[row]);
        from = ends[row];
    }
}

uint32_t seating_take(struct seated *s, struct arena *a, const struct trial *t, const struct seating *from,
                      uint32_t *queue, uint32_t count)
{
    const struct world *w = t->world;
    uint32_t *taken = ARENA_ARRAY(a, uint32_t, count), left = 0, taken_count = 0;
    *s = (struct seated){.arena = a, .from = from};
    s->wish = ARENA_ARRAY(a, uint32_t, w->waiting_count);
    s->before = ARENA_ARRAY(a, uint32_t, w->waiting_count);
    match_pods(s, w);
    make_wishes(s, w);
    for (uint32_t i = 0; i < count; i++) {
        bool may = !trial_is_moved(t, queue[i]) && s->wish[queue[i]] != 0;
        if (may)
            taken[taken_count++] = queue[i];
        else
            queue[left++] = queue[i];
    }
    group(s, w, taken, taken_count);
    return left;
}

/* --- sitting --- */

uint32_t seating_sit(struct seated *s, struct trial *t, uint32_t *queue, uint32_t count, uint8_t *outcome_out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->sitter_count; i++) {
        const struct sitter *x = &s->sitters[i];
        bool sit = trial_seat(t, x->row, x->class_id, x->count);
        for (uint32_t k = x->first; k < x->first + x->count; k++) {
            if (sit)
                outcome_out[s->numbers[k]] = OUTCOME_PLACED;
            else
                queue[count++] = s->numbers[k];
        }
        if (sit)
            s->sitters[kept++] = *x;
    }
    s->sitter_count = kept;
    return count;
}

void seating_sit_again(const struct seated *s, struct trial *t)
{
    for (uint32_t i = 0; i < s->sitter_count; i++)
        trial_seat(t, s->sitters[i].row, s->sitters[i].class_id, s->sitters[i].count);
}

/* --- what came of it --- */

static void tell_unkept(const struct seated *s, struct plan *p, const uint64_t *kept)
{
    const struct world *before = s->from->world;
    const struct pod **list = ARENA_ARRAY(&p->arena, const struct pod *, before->waiting_count - p->kept);
    for (uint32_t i = 0; i < before->waiting_count; i++)
        if (!bits_has(kept, i))
            list[p->unkept_count++] = before->waiting[i].pod;
    p->unkept = list;
}

void seating_tell(const struct seated *s, struct plan *p, uint32_t *rows)
{
    uint64_t *kept = ARENA_ARRAY(&p->arena, uint64_t, bits_words(s->from->world->waiting_count));
    uint32_t *on = ARENA_ARRAY(&p->arena, uint32_t, s->sitter_count);
    for (uint32_t i = 0; i < s->sitter_count; i++) {
        const struct sitter *x = &s->sitters[i];
        for (uint32_t k = x->first; k < x->first + x->count; k++) {
            rows[s->numbers[k]] = x->row + 1;
            bits_add(kept, s->before[s->numbers[k]] - 1);
        }
        if (p->kept_row_count == 0 || on[p->kept_row_count - 1] != x->row)
            on[p->kept_row_count++] = x->row;
        p->kept += x->count;
    }
    p->kept_rows = on;
    tell_unkept(s, p, kept);
}
