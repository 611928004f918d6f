/* snapshot: nodes and pods as they come and go, and the way back. What filters say is in snapshot_ask.c. */
#include "planner/groups/snapshot/inner.h"

#include <string.h>

uint32_t snapshot_class_of(const struct world *w, const struct pod *p)
{
    int32_t known = world_waiting_class(w, p->meta.uid);
    if (known < 0)
        known = world_unplanned_class(w, p->meta.uid);
    return (uint32_t)(known >= 0 ? known : classes_recall(&w->classes, p));
}

struct snapshot *snapshot_create(struct arena *a, const struct world *w, int32_t expendable_cutoff)
{
    struct snapshot *s = ARENA_NEW(a, struct snapshot);
    *s = (struct snapshot){.arena = a, .world = w, .cutoff = expendable_cutoff, .epoch = 1};
    s->limit = s->capacity = w->node_count;
    s->nodes = ARENA_ARRAY(a, struct node_state, w->node_count);
    for (uint32_t row = 0; row < w->node_count; row++)
        s->nodes[row] = (struct node_state){.row = row, .look = SNAPSHOT_NONE};
    s->classes = ARENA_ARRAY(a, struct class_state, w->classes.count);
    s->first_counter = ARENA_ARRAY(a, uint32_t, w->topology.group_count);
    snapshot_look_init(s);
    return s;
}

/* --- pods on a node --- */

static void put_pod(struct snapshot *s, struct node_state *n, const struct pod *p, uint32_t class_id)
{
    if (n->count == n->capacity) {
        uint32_t capacity = n->capacity != 0 ? n->capacity * 2 : 8;
        const struct pod **pods = ARENA_ARRAY(s->arena, const struct pod *, capacity);
        uint32_t *classes = ARENA_ARRAY(s->arena, uint32_t, capacity);
        if (n->count != 0) {
            memcpy(pods, n->pods, n->count * sizeof(const struct pod *));
            memcpy(classes, n->classes, n->count * sizeof(uint32_t));
        }
        n->pods = pods;
        n->classes = classes;
        n->capacity = capacity;
    }
    n->pods[n->count] = p;
    n->classes[n->count++] = class_id;
}

static void charge(struct snapshot *s, struct node_state *n, uint32_t class_id, int by)
{
    const amount *request = classes_requests(&s->world->classes, class_id);
    for (uint32_t c = 0; c < s->world->column_count; c++)
        n->left[c] -= by * request[c];
}

void snapshot_loosen(struct snapshot *s, uint32_t node)
{
    if (s->loose_count > 2 * s->limit + 1024) { /* more than it takes to begin anew */
        s->loose_count = 0;
        s->epoch++;
    }
    amount *most = s->roomiest + (size_t)(node / 64) * s->world->column_count;
    for (uint32_t c = 0; c < s->world->column_count; c++)
        if (s->nodes[node].left[c] > most[c])
            most[c] = s->nodes[node].left[c];
    ARENA_PUSH(s->arena, s->loose, s->loose_count, s->loose_capacity, node);
}

static void log_step(struct snapshot *s, struct snapshot_step step)
{
    if (s->fork_count != 0)
        ARENA_PUSH(s->arena, s->steps, s->step_count, s->step_capacity, step);
}

static void come(struct snapshot *s, uint32_t node, const struct pod *p, uint32_t class_id)
{
    struct node_state *n = &s->nodes[node];
    put_pod(s, n, p, class_id);
    charge(s, n, class_id, 1);
    if (s->counter_count != 0)
        snapshot_count_pod(s, node, p, class_id, 1);
}

static void go(struct snapshot *s, uint32_t node, uint32_t at)
{
    struct node_state *n = &s->nodes[node];
    const struct pod *p = n->pods[at];
    uint32_t class_id = n->classes[at];
    n->count--;
    memmove(&n->pods[at], &n->pods[at + 1], (n->count - at) * sizeof(*n->pods));
    memmove(&n->classes[at], &n->classes[at + 1], (n->count - at) * sizeof(*n->classes));
    charge(s, n, class_id, -1);
    if (s->counter_count != 0)
        snapshot_count_pod(s, node, p, class_id, -1);
    snapshot_loosen(s, node);
}

void snapshot_place(struct snapshot *s, uint32_t node, const struct pod *p, uint32_t class_id)
{
    come(s, node, p, class_id);
    log_step(s, (struct snapshot_step){STEP_PLACE, node, 0, class_id, p});
}

void snapshot_unplace(struct snapshot *s, uint32_t node, const struct pod *p)
{
    const struct node_state *n = &s->nodes[node];
    for (uint32_t i = 0; i < n->count; i++)
        if (n->pods[i] == p) {
            log_step(s, (struct snapshot_step){STEP_UNPLACE, node, i, n->classes[i], p});
            go(s, node, i);
            return;
        }
}

/* Back where it was among the others: equal snapshots list equal pods. */
static void come_back(struct snapshot *s, const struct snapshot_step *step)
{
    struct node_state *n = &s->nodes[step->node];
    come(s, step->node, step->pod, step->class_id);
    for (uint32_t i = n->count - 1; i > step->at; i--) {
        n->pods[i] = n->pods[i - 1];
        n->classes[i] = n->classes[i - 1];
    }
    n->pods[step->at] = step->pod;
    n->classes[step->at] = step->class_id;
}

/* --- nodes --- */

static void make_room(struct snapshot *s, uint32_t node)
{
    uint32_t words = s->words != 0 ? s->words : bits_words(s->limit + 1);
    while (bits_words(node + 1) > words)
        words *= 2;
    if (words == s->words)
        return;
    size_t row = s->world->column_count;
    uint64_t *standing = ARENA_ARRAY(s->arena, uint64_t, words);
    amount *roomiest = ARENA_ARRAY(s->arena, amount, words * row);
    if (s->words != 0) {
        memcpy(standing, s->standing, s->words * sizeof(*standing));
        memcpy(roomiest, s->roomiest, s->words * row * sizeof(*roomiest));
    }
    s->standing = standing;
    s->roomiest = roomiest;
    s->words = words;
}

static void enlist(struct snapshot *s, uint32_t node)
{
    make_room(s, node);
    bits_add(s->standing, node);
    s->nodes[node].stands = true;
    s->nodes[node].at = s->count;
    s->nodes[node].look = snapshot_look_of(s, &s->nodes[node]);
    ARENA_PUSH(s->arena, s->list, s->count, s->list_capacity, node);
    if (s->counter_count != 0)
        snapshot_count_node(s, node, 1);
    snapshot_loosen(s, node);
}

static void delist(struct snapshot *s, uint32_t node)
{
    struct node_state *n = &s->nodes[node];
    if (s->counter_count != 0)
        snapshot_count_node(s, node, -1);
    n->stands = false;
    bits_drop(s->standing, node);
    s->count--;
    for (uint32_t i = n->at; i < s->count; i++) {
        s->list[i] = s->list[i + 1];
        s->nodes[s->list[i]].at = i;
    }
}

static void relist(struct snapshot *s, uint32_t node, uint32_t at)
{
    enlist(s, node);
    for (uint32_t i = s->count - 1; i > at; i--) {
        s->list[i] = s->list[i - 1];
        s->nodes[s->list[i]].at = i;
    }
    s->list[at] = node;
    s->nodes[node].at = at;
}

/* The room of a row, and what stands there but for the expendable. */
static void furnish(struct snapshot *s, struct node_state *n)
{
    const struct world *w = s->world;
    const struct world_node *row = &w->nodes[n->row];
    const amount *has = world_vector(w, w->allocatable, n->row), *gone = world_vector(w, w->requested, n->row);
    if (n->left == NULL)
        n->left = ARENA_ARRAY(s->arena, amount, w->column_count);
    for (uint32_t c = 0; c < w->column_count; c++)
        n->left[c] = has[c] - gone[c];
    n->count = 0;
    if (n->capacity < row->pod_count) {
        n->capacity = row->pod_count;
        n->pods = ARENA_ARRAY(s->arena, const struct pod *, n->capacity);
        n->classes = ARENA_ARRAY(s->arena, uint32_t, n->capacity);
    }
    for (uint32_t i = 0; i < row->pod_count; i++)
        if (row->pods[i]->priority < s->cutoff)
            charge(s, n, row->pod_classes[i], -1);
        else
            put_pod(s, n, row->pods[i], row->pod_classes[i]);
}

void snapshot_add_row(struct snapshot *s, uint32_t row)
{
    struct node_state *n = &s->nodes[row];
    n->ghost = n->copy = false;
    furnish(s, n);
    enlist(s, row);
    log_step(s, (struct snapshot_step){.kind = STEP_ADD, .node = row});
}

uint32_t snapshot_add_copy(struct snapshot *s, uint32_t row)
{
    uint32_t node = s->limit;
    if (node == s->capacity)
        ARENA_PUSH(s->arena, s->nodes, s->limit, s->capacity, (struct node_state){.row = row});
    else
        s->limit++;
    struct node_state *n = &s->nodes[node], *old = n;
    *n = (struct node_state){.row = row, .copy = true, .pods = old->pods, .classes = old->classes,
                             .capacity = old->capacity, .left = old->left};
    furnish(s, n);
    enlist(s, node);
    log_step(s, (struct snapshot_step){.kind = STEP_ADD, .node = node});
    return node;
}

void snapshot_remove(struct snapshot *s, uint32_t node)
{
    log_step(s, (struct snapshot_step){.kind = STEP_REMOVE, .node = node, .at = s->nodes[node].at});
    delist(s, node);
}

void snapshot_ghost(struct snapshot *s, uint32_t node)
{
    log_step(s, (struct snapshot_step){.kind = STEP_GHOST, .node = node, .at = s->nodes[node].at});
    delist(s, node);
    s->nodes[node].ghost = true;
    enlist(s, node);
}

/* --- the way back --- */

static void undo(struct snapshot *s, const struct snapshot_step *step)
{
    struct node_state *n = &s->nodes[step->node];
    switch (step->kind) {
    case STEP_ADD:
        delist(s, step->node);
        if (n->copy && step->node == s->limit - 1)
            s->limit--;
        break;
    case STEP_REMOVE:
        relist(s, step->node, step->at);
        break;
    case STEP_GHOST:
        delist(s, step->node);
        n->ghost = false;
        relist(s, step->node, step->at);
        break;
    case STEP_PLACE:
        go(s, step->node, n->count - 1);
        break;
    case STEP_UNPLACE:
        come_back(s, step);
        break;
    }
}

void snapshot_fork(struct snapshot *s)
{
    ARENA_PUSH(s->arena, s->forks, s->fork_count, s->fork_capacity, s->step_count);
}

void snapshot_revert(struct snapshot *s)
{
    uint32_t mark = s->forks[s->fork_count - 1], vanishing = SNAPSHOT_NONE;
    for (uint32_t i = mark; i < s->step_count && vanishing == SNAPSHOT_NONE; i++)
        if (s->steps[i].kind == STEP_ADD && s->nodes[s->steps[i].node].copy)
            vanishing = s->steps[i].node;
    while (s->step_count > mark) {
        const struct snapshot_step *step = &s->steps[--s->step_count];
        if (step->node < vanishing || step->kind < STEP_PLACE) /* nodes go with their pods */
            undo(s, step);
    }
    s->fork_count--;
}

void snapshot_commit(struct snapshot *s)
{
    s->fork_count--;
    if (s->fork_count == 0)
        s->step_count = 0;
}

/* --- what there is --- */

uint32_t snapshot_node_limit(const struct snapshot *s)
{
    return s->limit;
}

bool snapshot_stands(const struct snapshot *s, uint32_t node)
{
    return s->nodes[node].stands;
}

uint32_t snapshot_count(const struct snapshot *s)
{
    return s->count;
}

const uint32_t *snapshot_list(const struct snapshot *s)
{
    return s->list;
}

uint32_t snapshot_row(const struct snapshot *s, uint32_t node)
{
    return s->nodes[node].row;
}

const struct pod *const *snapshot_pods(const struct snapshot *s, uint32_t node, uint32_t *count_out)
{
    *count_out = s->nodes[node].count;
    return s->nodes[node].pods;
}

const uint32_t *snapshot_pod_classes(const struct snapshot *s, uint32_t node)
{
    return s->nodes[node].classes;
}
