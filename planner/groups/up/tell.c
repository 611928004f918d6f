/* tell: what scale-up found, as the answer has it. */
#include <stdlib.h>
#include <string.h>

#include "planner/groups/up/inner.h"

static void list_pods(const struct up *u, const struct growth *o, uint64_t *placed, const struct pod **out)
{
    uint32_t count = 0;
    memset(placed, 0, bits_words(u->pod_count) * sizeof(*placed));
    for (uint32_t k = 0; k < u->kind_count; k++)
        for (uint32_t i = 0; i < o->taken[k]; i++)
            bits_add(placed, u->kinds[k].ranks[i]);
    for (BITS_EACH(rank, placed, bits_words(u->pod_count)))
        out[count++] = u->by_rank[rank];
}

void up_tell_options(struct up *u, const uint32_t *best, uint32_t best_count)
{
    struct group_scale_up *out = &u->r->out->up;
    uint32_t words = bits_words(u->r->model->group_count);
    uint64_t *placed = ARENA_ARRAY(&u->scratch, uint64_t, bits_words(u->pod_count));
    out->options = ARENA_ARRAY(u->r->arena, struct group_option, u->option_count);
    out->option_count = u->option_count;
    for (uint32_t i = 0; i < u->option_count; i++) {
        const struct growth *o = &u->options[i];
        struct group_option *told = &out->options[i];
        *told = (struct group_option){.group = o->group, .nodes = o->nodes, .pod_count = o->pod_count};
        told->pods = ARENA_ARRAY(u->r->arena, const struct pod *, o->pod_count);
        list_pods(u, o, placed, told->pods);
        told->similar = ARENA_ARRAY(u->r->arena, uint32_t, bits_count(o->similar, words));
        for (BITS_EACH(g, o->similar, words))
            told->similar[told->similar_count++] = g;
    }
    out->equally_good = ARENA_ARRAY(u->r->arena, uint32_t, best_count);
    out->equally_good_count = best_count;
    for (uint32_t i = 0; i < best_count; i++)
        out->equally_good[i] = u->options[best[i]].group;
}

/* --- who stays behind, and why --- */

struct tally {
    struct span *texts;
    uint32_t *counts;
    uint32_t count, capacity;
};

static void count_text(struct up *u, struct tally *t, struct span text)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (span_eq(t->texts[i], text)) {
            t->counts[i]++;
            return;
        }
    uint32_t count = t->count, capacity = t->capacity;
    ARENA_PUSH(&u->scratch, t->counts, count, capacity, 1);
    ARENA_PUSH(&u->scratch, t->texts, t->count, t->capacity, text);
}

static void count_all(struct up *u, struct tally *t, struct spans texts)
{
    for (uint32_t i = 0; i < texts.count; i++)
        count_text(u, t, texts.items[i]);
}

/* What one more node of the group says to pods of each kind. The cluster is as it was when they were tried. */
static void ask_group(struct up *u, uint32_t group, struct tally *tallies, bool *said_no)
{
    struct snapshot *s = u->r->snapshot;
    snapshot_fork(s);
    uint32_t node = snapshot_add_copy(s, (uint32_t)u->r->groups[group].template_row);
    for (uint32_t k = 0; k < u->kind_count; k++) {
        struct pod_kind *kind = &u->kinds[k];
        said_no[k] = !kind->schedulable && !snapshot_fits(s, node, kind->class_id);
        if (said_no[k])
            count_all(u, &tallies[k], snapshot_refusal(s, u->r->arena, node, kind->class_id));
    }
    snapshot_revert(s);
}

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

static struct spans texts_of(struct up *u, const struct tally *t)
{
    struct spans out = {ARENA_ARRAY(u->r->arena, struct span, t->count), t->count};
    for (uint32_t i = 0; i < t->count; i++)
        out.items[i] = arena_printf(u->r->arena, "%u %.*s", t->counts[i], SPAN_ARG(t->texts[i]));
    if (out.count != 0)
        qsort(out.items, out.count, sizeof(*out.items), by_text);
    return out;
}

static int by_pod(const void *a, const void *b)
{
    return group_pods_by_name(&((const struct pod_left *)a)->pod, &((const struct pod_left *)b)->pod);
}

static void tell_skipped(struct up *u, const bool *told)
{
    struct group_scale_up *out = &u->r->out->up;
    out->skipped = ARENA_ARRAY(u->r->arena, struct group_skip, u->r->model->group_count);
    out->skipped_count = 0;
    for (uint32_t g = 0; g < u->r->model->group_count; g++)
        if (told[g])
            out->skipped[out->skipped_count++] = (struct group_skip){g, u->skipped[g]};
}

static void count_group(struct up *u, uint32_t group, struct tally *tallies, bool *said_no, bool *told)
{
    bool skipped = !u->valid[group];
    for (uint32_t k = 0; k < u->kind_count; k++)
        said_no[k] = false;
    if (!skipped || (u->r->flags->simulate_skipped && u->r->groups[group].template_row >= 0))
        ask_group(u, group, tallies, said_no);
    for (uint32_t k = 0; k < u->kind_count; k++) {
        const struct pod_kind *kind = &u->kinds[k];
        if (kind->schedulable || said_no[k])
            continue;
        if (skipped) {
            count_all(u, &tallies[k], u->skipped[group]);
            told[group] = true;
        } else if (kind->refused != NULL) {
            count_text(u, &tallies[k], span_of(kind->refused));
        }
    }
}

void up_tell_left(struct up *u)
{
    struct group_scale_up *out = &u->r->out->up;
    struct tally *tallies = ARENA_ARRAY(&u->scratch, struct tally, u->kind_count);
    bool *said_no = ARENA_ARRAY(&u->scratch, bool, u->kind_count);
    bool *told = ARENA_ARRAY(&u->scratch, bool, u->r->model->group_count);
    uint32_t count = 0;
    for (uint32_t k = 0; k < u->kind_count; k++)
        count += u->kinds[k].schedulable ? 0 : u->kinds[k].count;
    for (uint32_t g = 0; count != 0 && g < u->r->model->group_count; g++)
        count_group(u, g, tallies, said_no, told);
    out->left = ARENA_ARRAY(u->r->arena, struct pod_left, count);
    out->left_count = 0;
    for (uint32_t k = 0; k < u->kind_count; k++) {
        if (u->kinds[k].schedulable)
            continue;
        struct spans texts = texts_of(u, &tallies[k]);
        for (uint32_t p = 0; p < u->kinds[k].count; p++)
            out->left[out->left_count++] = (struct pod_left){u->kinds[k].pods[p], texts};
    }
    if (count != 0)
        qsort(out->left, count, sizeof(*out->left), by_pod);
    tell_skipped(u, told);
}
