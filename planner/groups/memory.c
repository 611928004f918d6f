/* All texts, and the lists, are in one arena. Learning makes a new one of what is still there and drops the old, which is
 * how whatever has gone is forgotten; between two passes notes add a little. Lists are by name. */
#include "planner/groups/memory.h"

#include <stdlib.h>

#include "base/utf8.h"

struct text_time {
    struct span text;
    wall_ms time;
};

struct text_times { /* by text */
    struct text_time *items;
    uint32_t count, capacity;
};

struct backoff_memory {
    wall_ms failed, until; /* 0: it did not, or that is forgotten */
    span_ms duration;
    struct span code, message;
};

struct remembered { /* a group */
    struct span name;
    struct group_request request; /* increase 0: none */
    struct backoff_memory backoff;
    bool has_mismatch;
    struct group_mismatch mismatch;
    struct text_times unregistered; /* machines, and since when */
    struct text_times failed;       /* machines that could not be made; no times */
    wall_ms last_scale_up, last_scale_down, last_scale_down_fail;
    span_ms hold;   /* see GROUP_UNDONE_MS; 0: none */
    wall_ms missed; /* the removal that was looked at last */
};

struct group_memory {
    struct arena arena;
    struct remembered *groups; /* by name */
    uint32_t group_count, group_capacity;
    struct text_times unneeded, unremovable; /* nodes: since, until */
    wall_ms last_scale_up, last_removal, last_removal_fail;
    wall_ms looked_down; /* the last pass that came to removals; 0: none yet */
    span_ms shortest;    /* between two such; 0: there were no two */
};

struct group_memory *group_memory_new(wall_ms started)
{
    struct group_memory *m = mem_new(sizeof(*m));
    wall_ms before = started - MS_HOUR;
    *m = (struct group_memory){.last_scale_up = before, .last_removal = before, .last_removal_fail = before};
    arena_init(&m->arena, 0);
    return m;
}

void group_memory_free(struct group_memory *m)
{
    if (m == NULL)
        return;
    arena_release(&m->arena);
    free(m);
}

/* --- lists by name --- */

/* Where it is, or would be. */
static uint32_t place_of(const struct text_times *list, struct span text)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(list->items[mid].text, text) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static const struct text_time *find_time(const struct text_times *list, struct span text)
{
    uint32_t at = place_of(list, text);
    return at < list->count && span_eq(list->items[at].text, text) ? &list->items[at] : NULL;
}

static void add_time(struct arena *a, struct text_times *list, struct span text, wall_ms time)
{
    struct text_time x = {arena_dup(a, text), time};
    ARENA_PUSH(a, list->items, list->count, list->capacity, x);
}

static int by_text(const void *a, const void *b)
{
    return span_cmp(((const struct text_time *)a)->text, ((const struct text_time *)b)->text);
}

static void sort_times(struct text_times *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(list->items[0]), by_text);
}

static uint32_t place_of_group(const struct group_memory *m, struct span name)
{
    uint32_t low = 0, high = m->group_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(m->groups[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static const struct remembered *find_group(const struct group_memory *m, struct span name)
{
    uint32_t at = place_of_group(m, name);
    return at < m->group_count && span_eq(m->groups[at].name, name) ? &m->groups[at] : NULL;
}

static struct remembered *take_group(struct group_memory *m, struct span name)
{
    uint32_t at = place_of_group(m, name);
    if (at < m->group_count && span_eq(m->groups[at].name, name))
        return &m->groups[at];
    struct remembered fresh = {.name = arena_dup(&m->arena, name)};
    ARENA_PUSH(&m->arena, m->groups, m->group_count, m->group_capacity, fresh);
    for (uint32_t i = m->group_count - 1; i > at; i--)
        m->groups[i] = m->groups[i - 1];
    m->groups[at] = fresh;
    return &m->groups[at];
}

/* --- recalling --- */

static void recall_machines(const struct remembered *g, struct group_machines *machines)
{
    for (uint32_t i = 0; i < machines->count; i++) {
        struct group_machine *x = &machines->items[i];
        const struct text_time *since = find_time(&g->unregistered, x->id);
        x->error_known = find_time(&g->failed, x->id) != NULL;
        x->unregistered_since = since != NULL ? since->time : 0;
    }
}

static void recall_group(const struct remembered *g, struct node_group *out)
{
    out->has_request = g->request.increase > 0;
    out->request = g->request;
    out->backoff = (struct group_backoff){0};
    if (g->backoff.failed != 0)
        out->backoff = (struct group_backoff){g->backoff.until, g->backoff.code, g->backoff.message};
    out->has_mismatch = g->has_mismatch;
    out->mismatch = g->mismatch;
    out->last_scale_up = g->last_scale_up;
    out->last_scale_down = g->last_scale_down;
    out->last_scale_down_fail = g->last_scale_down_fail;
    out->unneeded_at_least = g->hold;
    recall_machines(g, &out->machines);
}

static struct node_times recall_nodes(const struct text_times *list, const struct group_objects *objects, struct arena *a)
{
    uint32_t capacity = 0;
    struct node_times out = {0};
    for (size_t i = 0; i < objects->node_count && list->count != 0; i++) {
        const struct text_time *t = find_time(list, objects->nodes[i]->meta.name);
        if (t == NULL)
            continue;
        struct node_time x = {t->text, t->time};
        ARENA_PUSH(a, out.items, out.count, capacity, x);
    }
    return out;
}

/* A clock that goes back says nothing. */
static span_ms shortest_with(const struct group_memory *m, wall_ms now)
{
    span_ms last = m->looked_down != 0 ? now - m->looked_down : 0;
    if (last <= 0)
        return m->shortest;
    return m->shortest == 0 || last < m->shortest ? last : m->shortest;
}

void group_memory_recall(const struct group_memory *m, struct node_groups *file, const struct group_objects *objects,
                         wall_ms now, struct arena *a)
{
    struct remembered nothing = {0};
    for (uint32_t i = 0; i < file->groups.count; i++) {
        const struct remembered *g = find_group(m, file->groups.items[i].name);
        recall_group(g != NULL ? g : &nothing, &file->groups.items[i]);
    }
    file->state.last_scale_up = m->last_scale_up;
    file->state.last_scale_down_delete = m->last_removal;
    file->state.last_scale_down_fail = m->last_removal_fail;
    file->state.unneeded = recall_nodes(&m->unneeded, objects, a);
    file->state.unremovable_until = recall_nodes(&m->unremovable, objects, a);
    file->state.pass_interval = shortest_with(m, now);
    file->state.has_pass_interval = file->state.pass_interval != 0;
}

/* --- back-off --- */

/* Whole characters of it. */
static struct span cut_message(struct arena *a, struct span message)
{
    static const struct span end = SPAN_INIT("<truncated>");
    const char *at = message.ptr, *limit = message.ptr + message.len;
    if (message.len <= GROUP_MESSAGE_MAX)
        return arena_dup(a, message);
    for (size_t n = 0; (size_t)(at - message.ptr) + n <= GROUP_MESSAGE_MAX - end.len;) {
        at += n;
        n = utf8_length(at, limit);
        n = n != 0 ? n : 1;
    }
    return arena_printf(a, "%.*s%.*s", (int)(at - message.ptr), message.ptr, SPAN_ARG(end));
}

/* Failures while it lasts begin it anew; the next after it makes it longer. */
static void back_off(struct backoff_memory *b, struct arena *a, const struct group_flags *flags, struct span code,
                     struct span message, wall_ms now)
{
    span_ms duration = flags->backoff_first;
    if (b->failed != 0) {
        bool again = b->until < now;
        duration = again ? 2 * b->duration : b->duration;
        duration = again && duration > flags->backoff_max ? flags->backoff_max : duration;
    }
    *b = (struct backoff_memory){now, now + duration, duration, arena_dup(a, code), cut_message(a, message)};
}

/* --- removals that were undone --- */

static bool grows(const struct group_pass *p, uint32_t group)
{
    for (uint32_t i = 0; i < p->decision_count; i++)
        if (p->decisions[i].group == group && !p->decisions[i].for_min_size)
            return true;
    return false;
}

/* Each removal counts once, by the first growth behind it. */
static void learn_undone(struct remembered *g, span_ms unneeded_time, wall_ms now)
{
    span_ms away = now - g->last_scale_down, waited = g->hold > unneeded_time ? g->hold : unneeded_time;
    if (g->last_scale_down == 0 || g->last_scale_down == g->missed || away < 0)
        return;
    g->missed = g->last_scale_down;
    g->hold = away > GROUP_UNDONE_MS                     ? 0
              : 2 * (waited + away) < GROUP_HOLD_MAX_MS ? 2 * (waited + away)
                                                         : GROUP_HOLD_MAX_MS;
}

/* --- learning --- */

/* A request that has grown while the pass was decided loses what the pass took from it, and no more. */
static void learn_request(struct remembered *g, const struct group_found *f, const struct group_request *seen)
{
    bool over = f->request == REQUEST_DONE || f->request == REQUEST_TIMED_OUT;
    if (f->request == REQUEST_NONE)
        return;
    g->request.increase -= over ? seen->increase : seen->increase - f->increase;
    if (g->request.increase <= 0)
        g->request = (struct group_request){0};
}

static void learn_machines(struct remembered *g, struct arena *a, const struct group_found *f)
{
    g->failed = g->unregistered = (struct text_times){0};
    for (uint32_t i = 0; i < f->failed.count; i++)
        add_time(a, &g->failed, f->failed.items[i], 0);
    for (uint32_t i = 0; i < f->unregistered_count; i++)
        add_time(a, &g->unregistered, f->unregistered[i].machine, f->unregistered[i].since);
    sort_times(&g->failed);
    sort_times(&g->unregistered);
}

static void learn_found(struct remembered *g, struct arena *a, const struct group_found *f, const struct node_group *seen,
                        const struct group_flags *flags, wall_ms now)
{
    learn_request(g, f, &seen->request);
    if (g->backoff.failed + flags->backoff_reset < now)
        g->backoff = (struct backoff_memory){0};
    for (uint32_t i = 0; i < f->failure_count; i++)
        back_off(&g->backoff, a, flags, f->failures[i].code, f->failures[i].message, now);
    learn_machines(g, a, f);
    g->has_mismatch = f->has_mismatch;
    g->mismatch = f->mismatch;
}

static struct text_times copy_times(struct arena *a, const struct text_times *list)
{
    struct text_times out = {0};
    for (uint32_t i = 0; i < list->count; i++)
        add_time(a, &out, list->items[i].text, list->items[i].time);
    return out;
}

static struct remembered copy_group(struct arena *a, const struct remembered *of)
{
    struct remembered g = *of;
    g.name = arena_dup(a, of->name);
    g.backoff.code = arena_dup(a, of->backoff.code);
    g.backoff.message = arena_dup(a, of->backoff.message);
    g.failed = copy_times(a, &of->failed);
    g.unregistered = copy_times(a, &of->unregistered);
    return g;
}

/* The groups of the pass, and no others. */
static void learn_groups(struct group_memory *next, const struct group_memory *m, const struct group_pass *p,
                         const struct group_flags *flags, wall_ms now)
{
    struct arena *a = &next->arena;
    next->groups = ARENA_ARRAY(a, struct remembered, p->model->group_count);
    next->group_count = next->group_capacity = p->model->group_count;
    for (uint32_t i = 0; i < p->model->group_count; i++) {
        const struct node_group *seen = p->model->groups[i].spec;
        const struct remembered *g = find_group(m, seen->name), fresh = {.name = seen->name};
        next->groups[i] = copy_group(a, g != NULL ? g : &fresh);
        if (!flags->as_upstream && grows(p, i))
            learn_undone(&next->groups[i], p->model->groups[i].scaling.unneeded_time, now);
        if (p->found != NULL)
            learn_found(&next->groups[i], a, &p->found[i], seen, flags, now);
    }
}

/* An earlier time than the pass had was noted while it was decided. */
static void learn_unneeded(struct group_memory *next, const struct group_memory *m, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->down.unneeded_count; i++) {
        struct span name = world_node_at(p->world, p->down.unneeded[i].row)->name;
        const struct text_time *noted = find_time(&m->unneeded, name);
        wall_ms since = p->down.unneeded[i].since;
        add_time(&next->arena, &next->unneeded, name, noted != NULL && noted->time < since ? noted->time : since);
    }
    sort_times(&next->unneeded);
}

/* Those of before that are still there and not over, and those whose removal did not work out now. */
static void learn_unremovable(struct group_memory *next, const struct group_memory *m, const struct group_pass *p,
                              const struct group_flags *flags, wall_ms now)
{
    struct arena *a = &next->arena;
    for (uint32_t i = 0; i < m->unremovable.count; i++) {
        const struct text_time *t = &m->unremovable.items[i];
        if (t->time > now && world_find_node(p->world, t->text) >= 0)
            add_time(a, &next->unremovable, t->text, t->time);
    }
    for (uint32_t i = 0; i < p->down.unremovable_count; i++) {
        const struct node_unremovable *u = &p->down.unremovable[i];
        if (u->why == UNREMOVABLE_BLOCKED_BY_POD || u->why == UNREMOVABLE_NO_PLACE)
            add_time(a, &next->unremovable, world_node_at(p->world, u->row)->name, now + flags->unremovable_recheck);
    }
    sort_times(&next->unremovable);
}

void group_memory_learn(struct group_memory *m, const struct group_pass *p, const struct group_flags *flags, wall_ms now)
{
    struct group_memory next = *m;
    arena_init(&next.arena, 0);
    next.unneeded = next.unremovable = (struct text_times){0};
    learn_groups(&next, m, p, flags, now);
    learn_unneeded(&next, m, p);
    learn_unremovable(&next, m, p, flags, now);
    if (p->down.result != SCALE_DOWN_NOT_TRIED) {
        next.shortest = shortest_with(m, now);
        next.looked_down = now;
    }
    arena_release(&m->arena);
    *m = next;
}

/* --- notes --- */

void group_memory_grew(struct group_memory *m, struct span group, int32_t delta, wall_ms now)
{
    struct remembered *g = take_group(m, group);
    g->request = (struct group_request){g->request.increase + delta, now};
    g->last_scale_up = now;
    m->last_scale_up = now;
}

void group_memory_failed(struct group_memory *m, const struct group_flags *flags, struct span group, struct span code,
                         struct span message, wall_ms now)
{
    back_off(&take_group(m, group)->backoff, &m->arena, flags, code, message, now);
}

void group_memory_removals_began(struct group_memory *m, wall_ms now)
{
    m->last_removal = now;
}

void group_memory_removals_failed(struct group_memory *m, wall_ms now)
{
    m->last_removal_fail = now;
}

void group_memory_removal_ended(struct group_memory *m, struct span group, bool well, wall_ms now)
{
    struct remembered *g = take_group(m, group);
    *(well ? &g->last_scale_down : &g->last_scale_down_fail) = now;
}

void group_memory_unneeded(struct group_memory *m, struct span node, wall_ms since)
{
    uint32_t at = place_of(&m->unneeded, node);
    if (at < m->unneeded.count && span_eq(m->unneeded.items[at].text, node)) {
        m->unneeded.items[at].time = since;
        return;
    }
    add_time(&m->arena, &m->unneeded, node, since);
    struct text_time fresh = m->unneeded.items[m->unneeded.count - 1];
    for (uint32_t i = m->unneeded.count - 1; i > at; i--)
        m->unneeded.items[i] = m->unneeded.items[i - 1];
    m->unneeded.items[at] = fresh;
}

void group_memory_hold(struct group_memory *m, wall_ms from, wall_ms until)
{
    for (uint32_t i = 0; i < m->unneeded.count && until > from; i++) {
        wall_ms *since = &m->unneeded.items[i].time;
        *since = *since < from ? *since + (until - from) : until;
    }
}

/* --- asking --- */

wall_ms group_memory_backoff(const struct group_memory *m, struct span group, wall_ms now, struct span *code,
                             struct span *message)
{
    const struct remembered *g = find_group(m, group);
    if (g == NULL || g->backoff.failed == 0 || g->backoff.until < now)
        return 0;
    *code = g->backoff.code;
    *message = g->backoff.message;
    return g->backoff.until;
}
