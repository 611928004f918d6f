/* snapshot_ask: kube-scheduler's filters in their order, why one refuses, and the first node that they let a pod on. */
#include "planner/groups/snapshot/inner.h"

#include <string.h>

#include "kube/wellknown.h"

static const struct pod_class *class_of(const struct snapshot *s, uint32_t class_id)
{
    return &s->world->classes.items[class_id];
}

static const struct attempt *strict_of(const struct snapshot *s, uint32_t class_id)
{
    return &s->world->classes.attempts[class_of(s, class_id)->first_strict];
}

static bool ports_taken(const struct snapshot *s, const struct node_state *n, uint32_t class_id)
{
    struct host_ports wanted = s->classes[class_id].ports;
    for (uint32_t i = 0; wanted.count != 0 && i < n->count; i++)
        if (ports_conflict(wanted, n->pods[i]->ports))
            return true;
    return false;
}

/* From a column on, the first that is asked for and lacks room. */
static uint32_t lacking(const struct snapshot *s, const struct node_state *n, uint32_t class_id, uint32_t from)
{
    const amount *request = classes_requests(&s->world->classes, class_id);
    uint32_t c = from;
    while (c < s->world->column_count && (request[c] <= 0 || request[c] <= n->left[c]))
        c++;
    return c;
}

static bool volumes_reach(const struct snapshot *s, const struct node_state *n, uint32_t class_id)
{
    const struct attempt *try = strict_of(s, class_id);
    for (uint32_t i = 0; i < try->where_count; i++) {
        const struct requirements *set = &s->world->classes.sets[try->where[i]];
        bool met = true;
        for (uint32_t k = 0; k < set->count && met; k++) {
            sym value = snapshot_label(s, n->row, n->copy, set->items[k].key);
            met = value != SYM_NONE && value != SNAPSHOT_OWN &&
                  requirement_has(&set->items[k], value, s->world->syms);
        }
        if (met)
            return true;
    }
    return try->where_count == 0;
}

enum refusal { /* in the order of the filters */
    REFUSAL_NONE,
    REFUSAL_MISSING, /* an object that is not there: no node will do */
    REFUSAL_CORDON,
    REFUSAL_TAINT,
    REFUSAL_LABELS,
    REFUSAL_PORTS,
    REFUSAL_ROOM,
    REFUSAL_VOLUMES,
    REFUSAL_SPREAD_LABEL,
    REFUSAL_SPREAD,
    REFUSAL_AFFINITY,
    REFUSAL_ANTI,
    REFUSAL_OTHERS_ANTI,
};

/* By what only gets worse while pods come. */
static enum refusal refusal_alone(struct snapshot *s, const struct node_state *n, uint32_t class_id)
{
    uint32_t want = snapshot_want_of(s, class_id);
    uint8_t suits = snapshot_suits(s, want, n->look);
    if (class_of(s, class_id)->error.ptr != NULL)
        return REFUSAL_MISSING;
    if (!(suits & SUIT_CORDON))
        return REFUSAL_CORDON;
    if (!(suits & SUIT_TAINTS))
        return REFUSAL_TAINT;
    if (!(suits & SUIT_LABELS))
        return REFUSAL_LABELS;
    if (ports_taken(s, n, class_id))
        return REFUSAL_PORTS;
    if (lacking(s, n, class_id, 0) < s->world->column_count)
        return REFUSAL_ROOM;
    return volumes_reach(s, n, class_id) ? REFUSAL_NONE : REFUSAL_VOLUMES;
}

static bool asks_others(const struct snapshot *s, uint32_t class_id)
{
    return class_of(s, class_id)->ties.kept_off_by_count + strict_of(s, class_id)->group_count != 0;
}

static enum refusal refusal_by_others(struct snapshot *s, uint32_t node, uint32_t class_id)
{
    switch (snapshot_ask_others(s, node, class_id)) {
    case TALLY_NO_LABEL:
        return REFUSAL_SPREAD_LABEL;
    case TALLY_SPREAD:
        return REFUSAL_SPREAD;
    case TALLY_AFFINITY:
        return REFUSAL_AFFINITY;
    case TALLY_ANTI:
        return REFUSAL_ANTI;
    case TALLY_OTHERS_ANTI:
        return REFUSAL_OTHERS_ANTI;
    case TALLY_YES:
        break;
    }
    return REFUSAL_NONE;
}

static enum refusal refusal_of(struct snapshot *s, uint32_t node, uint32_t class_id)
{
    enum refusal alone = refusal_alone(s, &s->nodes[node], class_id);
    return alone != REFUSAL_NONE || !asks_others(s, class_id) ? alone : refusal_by_others(s, node, class_id);
}

bool snapshot_fits(struct snapshot *s, uint32_t node, uint32_t class_id)
{
    return refusal_of(s, node, class_id) == REFUSAL_NONE;
}

bool snapshot_spread_refuses(struct snapshot *s, uint32_t node, uint32_t class_id)
{
    return refusal_of(s, node, class_id) == REFUSAL_SPREAD;
}

/* --- in words --- */

static struct span lacking_text(const struct snapshot *s, struct arena *a, uint32_t column)
{
    enum { COLUMN_PODS = 3 };
    if (column == COLUMN_PODS)
        return SPAN("Too many pods");
    if (column >= s->world->resource_count)
        return SPAN("node(s) exceed max volume count");
    return arena_printf(a, "Insufficient %.*s",
                        SPAN_ARG(sym_text(s->world->syms, world_resource_name(s->world, column))));
}

/* The scheduler looks at pods first, and at volumes only when everything else is there. */
static struct spans room_texts(struct snapshot *s, struct arena *a, uint32_t node, uint32_t class_id)
{
    enum { COLUMN_PODS = 3 };
    const struct node_state *n = &s->nodes[node];
    uint32_t count = s->world->column_count;
    struct spans out = {ARENA_ARRAY(a, struct span, count), 0};
    if (n->left[COLUMN_PODS] < 1)
        out.items[out.count++] = lacking_text(s, a, COLUMN_PODS);
    for (uint32_t c = lacking(s, n, class_id, 0); c < count; c = lacking(s, n, class_id, c + 1))
        if (c != COLUMN_PODS && (c < s->world->resource_count || out.count == 0))
            out.items[out.count++] = lacking_text(s, a, c);
    return out;
}

static const char *refusal_text(enum refusal r)
{
    switch (r) {
    case REFUSAL_CORDON:
        return "node(s) were unschedulable";
    case REFUSAL_TAINT:
        return "node(s) had untolerated taint(s)";
    case REFUSAL_LABELS:
        return "node(s) didn't match Pod's node affinity/selector";
    case REFUSAL_PORTS:
        return "node(s) didn't have free ports for the requested pod ports";
    case REFUSAL_VOLUMES:
        return "node(s) had volume node affinity conflict";
    case REFUSAL_SPREAD_LABEL:
        return "node(s) didn't match pod topology spread constraints (missing required label)";
    case REFUSAL_SPREAD:
        return "node(s) didn't match pod topology spread constraints";
    case REFUSAL_AFFINITY:
        return "node(s) didn't match pod affinity rules";
    case REFUSAL_ANTI:
        return "node(s) didn't match pod anti-affinity rules";
    case REFUSAL_OTHERS_ANTI:
        return "node(s) didn't satisfy existing pods anti-affinity rules";
    case REFUSAL_NONE:
    case REFUSAL_MISSING:
    case REFUSAL_ROOM:
        break;
    }
    return NULL;
}

struct spans snapshot_refusal(struct snapshot *s, struct arena *a, uint32_t node, uint32_t class_id)
{
    enum refusal r = refusal_of(s, node, class_id);
    if (r == REFUSAL_NONE)
        return (struct spans){0};
    if (r == REFUSAL_ROOM)
        return room_texts(s, a, node, class_id);
    struct spans out = {ARENA_ARRAY(a, struct span, 1), 1};
    const char *text = refusal_text(r);
    out.items[0] = text != NULL ? span_of(text) : class_of(s, class_id)->error;
    return out;
}

/* --- the first that will do --- */

static void open_all(struct snapshot *s, struct class_state *k)
{
    if (k->words < s->words) {
        k->words = s->words;
        k->open = ARENA_ARRAY(s->arena, uint64_t, k->words);
    }
    memcpy(k->open, s->standing, s->words * sizeof(*k->open));
    k->open_count = s->count;
    k->cursor = s->loose_count;
    k->epoch = s->epoch;
}

/* Opens what has loosened since. Nodes that went meanwhile stay open: they are not in the list. */
static void catch_up(struct snapshot *s, struct class_state *k)
{
    if (k->epoch != s->epoch || s->words > k->words || s->loose_count - k->cursor > s->words) {
        open_all(s, k);
        return;
    }
    for (; k->cursor < s->loose_count; k->cursor++)
        if (!bits_has(k->open, s->loose[k->cursor])) {
            bits_add(k->open, s->loose[k->cursor]);
            k->open_count++;
        }
}

/* Whether the node takes it; what will not take it later either is closed. */
static bool takes(struct snapshot *s, struct class_state *k, uint32_t node, uint32_t class_id)
{
    const struct node_state *n = &s->nodes[node];
    const struct node *is = s->world->nodes[n->row].node;
    if ((is != NULL && is->unschedulable) || refusal_alone(s, n, class_id) != REFUSAL_NONE) {
        bits_drop(k->open, node);
        k->open_count--;
        return false;
    }
    return !asks_others(s, class_id) || refusal_by_others(s, node, class_id) == REFUSAL_NONE;
}

/* Where those from the number on begin in the list: they were added last. */
static uint32_t first_of(const struct snapshot *s, uint32_t from)
{
    return from < s->limit && s->nodes[from].stands ? s->nodes[from].at : from >= s->limit ? s->count : 0;
}

static bool lacks_room(const struct snapshot *s, const amount *request, const amount *room)
{
    uint32_t c = 0;
    while (c < s->world->column_count && (request[c] <= 0 || request[c] <= room[c]))
        c++;
    return c < s->world->column_count;
}

/* After all 64 have been looked at. */
static void measure(struct snapshot *s, uint32_t word)
{
    amount *most = s->roomiest + (size_t)word * s->world->column_count;
    bool first = true;
    for (BITS_EACH(i, &s->standing[word], 1)) {
        const amount *left = s->nodes[word * 64 + i].left;
        for (uint32_t c = 0; c < s->world->column_count; c++)
            if (first || left[c] > most[c])
                most[c] = left[c];
        first = false;
    }
}

/* The first node by number from one on and below another. */
static uint32_t take_between(struct snapshot *s, struct class_state *k, uint32_t class_id, uint32_t from, uint32_t to)
{
    const amount *request = classes_requests(&s->world->classes, class_id);
    for (uint32_t word = from / 64; word * 64 < to; word++) {
        uint64_t open = k->open[word];
        if (word == from / 64)
            open &= ~UINT64_C(0) << (from % 64);
        if (to - word * 64 < 64)
            open &= (UINT64_C(1) << (to - word * 64)) - 1;
        if (open == 0 || lacks_room(s, request, s->roomiest + (size_t)word * s->world->column_count))
            continue;
        for (BITS_EACH(i, &open, 1))
            if (takes(s, k, word * 64 + i, class_id))
                return word * 64 + i;
        measure(s, word);
    }
    return SNAPSHOT_NONE;
}

/* Nodes that were added last stand in the list as they are numbered. */
static uint32_t take_added(struct snapshot *s, struct class_state *k, uint32_t class_id, uint32_t from, uint32_t start)
{
    uint32_t node = take_between(s, k, class_id, start, s->limit);
    return node != SNAPSHOT_NONE ? node : take_between(s, k, class_id, from, start);
}

uint32_t snapshot_seat(struct snapshot *s, const struct pod *p, uint32_t class_id, const struct snapshot_among *among)
{
    struct class_state *k = &s->classes[class_id];
    if (s->count == 0)
        return SNAPSHOT_NONE;
    catch_up(s, k);
    uint32_t first = among->from != 0 ? first_of(s, among->from) : 0, count = s->count - first;
    if (count == 0 || k->open_count == 0)
        return SNAPSHOT_NONE;
    uint32_t at = (s->last + 1) % s->count;
    if (at < first)
        at = first;
    if (among->from != 0 && among->set == NULL && among->but == SNAPSHOT_NONE) {
        uint32_t node = take_added(s, k, class_id, among->from, among->from + (at - first));
        if (node != SNAPSHOT_NONE) {
            s->last = s->nodes[node].at;
            snapshot_place(s, node, p, class_id);
        }
        return node;
    }
    for (uint32_t i = 0; i < count; i++, at = at + 1 == s->count ? first : at + 1) {
        uint32_t node = s->list[at];
        if (!bits_has(k->open, node) || node == among->but || (among->set != NULL && !bits_has(among->set, node)))
            continue;
        if (!takes(s, k, node, class_id))
            continue;
        s->last = at;
        snapshot_place(s, node, p, class_id);
        return node;
    }
    return SNAPSHOT_NONE;
}
