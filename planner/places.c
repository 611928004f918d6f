#include "planner/places.h"

#include <stdio.h>
#include <stdlib.h>

#include "planner/columns.h"

static int place_order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = span_cmp(x->uid, y->uid);
    if (order == 0)
        order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->pod, y->pod);
}

/* Texts of places that are long gone stay with those that came of them, so many times. */
enum { LAYERS_MAX = 64 };

/* `under`: whose texts the items lean on; NULL: nobody's. */
static struct places *places_new(uint32_t room, const struct places *under, struct place **items_out)
{
    struct places *p = mem_new(sizeof(*p));
    p->texts = part_new(0, under != NULL ? under->texts : NULL);
    p->layers = under != NULL ? under->layers + 1 : 0;
    *items_out = mem_grow(NULL, (size_t)room + 1, sizeof(**items_out));
    p->items = *items_out;
    return p;
}

static struct place place_of(struct places *p, const struct pod *pod, struct span target,
                             bool on_claim, wall_ms since)
{
    struct arena *a = &p->texts->arena;
    return (struct place){.uid = arena_dup(a, pod->meta.uid),
                          .ns = arena_dup(a, pod->meta.ns),
                          .pod = arena_dup(a, pod->meta.name),
                          .target = target,
                          .on_claim = on_claim,
                          .since = since};
}

struct span places_target(struct places *p, const struct world_node *n, bool *on_claim)
{
    *on_claim = n->node == NULL;
    return arena_dup(&p->texts->arena, n->node != NULL ? n->node->meta.name : n->claim->meta.name);
}

struct places *places_begin(uint32_t room, wall_ms now)
{
    struct place *items;
    struct places *p = places_new(room, NULL, &items);
    p->made = now;
    return p;
}

void places_add(struct places *p, const struct pod *pod, struct span target, bool on_claim)
{
    if (!pod->is_virtual)
        ((struct place *)p->items)[p->count++] = place_of(p, pod, target, on_claim, p->made);
}

void places_add_named(struct places *p, const struct pod *pod, struct span target, struct span group)
{
    struct place *x = (struct place *)p->items + p->count;
    places_add(p, pod, arena_dup(&p->texts->arena, target), false);
    x->group = arena_dup(&p->texts->arena, group);
}

/* Where a place of this uid is, or would be. */
static uint32_t position(const struct place *items, uint32_t count, struct span uid)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (span_cmp(items[mid].uid, uid) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Those behind the first `again`, which are sorted as these are, come between them: from the last on. */
static void merge(struct places *p)
{
    struct place *items = (struct place *)p->items;
    uint32_t more = p->count - p->again, left = p->again;
    struct place *tail = mem_array(more, sizeof(*tail));
    memcpy(tail, items + p->again, more * sizeof(*tail));
    for (uint32_t k = more; k-- > 0;) {
        uint32_t at = position(items, left, tail[k].uid);
        memmove(items + at + k + 1, items + at, (left - at) * sizeof(*items));
        items[at + k] = tail[k];
        left = at;
    }
    free(tail);
}

void places_end(struct places *p, const struct places *previous)
{
    struct place *added = (struct place *)p->items + p->again;
    uint32_t count = p->count - p->again;
    if (count != 0)
        qsort(added, count, sizeof(*added), place_order);
    for (uint32_t i = 0; previous != NULL && i < count; i++) {
        const struct place *old = places_find(previous, added[i].uid);
        if (old != NULL && span_eq(old->target, added[i].target))
            added[i].since = old->since;
    }
    if (p->again != 0 && count != 0)
        merge(p);
}

/* With texts of its own, once they are too many layers. */
static void settle_texts(struct places *p)
{
    struct place *items = (struct place *)p->items;
    if (p->layers < LAYERS_MAX)
        return;
    struct part *old = p->texts;
    p->texts = part_new(4096, NULL);
    p->layers = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        items[i].uid = arena_dup(&p->texts->arena, items[i].uid);
        items[i].ns = arena_dup(&p->texts->arena, items[i].ns);
        items[i].pod = arena_dup(&p->texts->arena, items[i].pod);
        items[i].target = arena_dup(&p->texts->arena, items[i].target);
        items[i].group = arena_dup(&p->texts->arena, items[i].group);
    }
    part_leave(old);
}

struct places *places_again(const struct places *previous, const struct pod *const *gone, uint32_t gone_count,
                            uint32_t room, wall_ms now)
{
    struct place *items;
    struct places *p = places_new(previous->count + room, previous, &items);
    bool *dropped = mem_new((size_t)previous->count + 1);
    p->made = now;
    for (uint32_t i = 0; i < gone_count; i++) {
        const struct place *x = places_find(previous, gone[i]->meta.uid);
        if (x != NULL)
            dropped[x - previous->items] = true;
    }
    for (uint32_t i = 0; i < previous->count; i++)
        if (!dropped[i])
            items[p->count++] = previous->items[i];
    p->again = p->count;
    free(dropped);
    settle_texts(p);
    return p;
}

/* Of another time, so that nobody takes it for the other. */
static struct places *places_copy(const struct places *from, struct place **items_out)
{
    struct places *p = places_new(from->count, from, items_out);
    p->snapshot = from->snapshot;
    p->made = from->made + 1;
    p->count = from->count;
    memcpy(*items_out, from->items, p->count * sizeof(**items_out));
    settle_texts(p);
    return p;
}

struct places *places_without(const struct places *from, const bool *dropped)
{
    struct place *items;
    struct places *p = places_copy(from, &items);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (!dropped[i])
            items[kept++] = items[i];
    p->count = kept;
    return p;
}

struct places *places_registered(const struct places *from, const struct span *nodes)
{
    struct place *items;
    struct places *p = places_copy(from, &items);
    for (uint32_t i = 0; i < p->count; i++)
        if (nodes[i].len != 0) {
            items[i].target = arena_dup(&p->texts->arena, nodes[i]);
            items[i].group = (struct span){0};
        }
    return p;
}

/* Of a pod that was both, where it was sent counts: that came later. */
static int sent_order(const void *a, const void *b)
{
    const struct sent_pod *x = a, *y = b;
    int order = span_cmp(x->uid, y->uid);
    return order != 0 ? order : (int)x->refused - (int)y->refused;
}

int32_t place_row(const struct world *w, const struct place *x)
{
    if (x->group.len != 0)
        return -1;
    return x->on_claim ? world_find_claim(w, x->target) : world_find_node(w, x->target);
}

/* Its taint goes a moment after it has become ready; until then no pod is let in. */
static bool is_tainted_unready(const struct node *n)
{
    bool tainted = false;
    for (uint32_t i = 0; i < n->taints.count; i++)
        tainted |= n->taints.items[i].key == SYM_NOT_READY;
    return tainted;
}

bool place_is_open(const struct world *w, int32_t row, const struct pod *pod)
{
    const struct world_node *n = row >= 0 ? &w->nodes[row] : NULL;
    if (n == NULL || !world_node_usable(n))
        return false;
    return n->stage != NODE_UNMANAGED || (node_lets_in(n->node, pod, w->syms) && !is_tainted_unready(n->node));
}

const struct place_sight *places_sights(struct arena *a, const struct world *w,
                                        const struct places *p)
{
    struct place_sight *out = ARENA_ARRAY(a, struct place_sight, p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct waiting_pod *x = world_unbound(w, p->items[i].uid);
        out[i] = (struct place_sight){.id = span_hash(p->items[i].uid),
                                      .pod = x != NULL ? x->pod : NULL,
                                      .class_id = x != NULL ? (int32_t)x->class_id : -1,
                                      .row = place_row(w, &p->items[i])};
    }
    return out;
}

/* Whether the place is past: its pod was sent somewhere, or turned down right there. */
static bool overtaken(const struct world *w, const struct place *x, const struct sent_pod *sorted,
                      uint32_t count)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (span_cmp(sorted[mid].uid, x->uid) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    int32_t row = place_row(w, x);
    for (; low < count && span_eq(sorted[low].uid, x->uid); low++)
        if (!sorted[low].refused || (row >= 0 && world_find_hash(w, sorted[low].node) == row))
            return true;
    return false;
}

struct places *places_with(const struct places *p, const struct sent_pod *sent, uint32_t count,
                           const struct world *w)
{
    struct place *items;
    struct places *out = places_new((p != NULL ? p->count : 0) + count, p, &items);
    struct sent_pod *sorted = ARENA_ARRAY(&out->texts->arena, struct sent_pod, count);
    if (count != 0) {
        memcpy(sorted, sent, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), sent_order);
    }
    for (uint32_t i = 0; p != NULL && i < p->count; i++)
        if (!overtaken(w, &p->items[i], sorted, count))
            items[out->count++] = p->items[i];
    for (uint32_t i = 0; i < count; i++) {
        if (sorted[i].refused || sorted[i].several || (i != 0 && span_eq(sorted[i].uid, sorted[i - 1].uid)))
            continue;
        const struct waiting_pod *x = world_unbound(w, sorted[i].uid);
        int32_t row = world_find_hash(w, sorted[i].node);
        bool on_claim;
        if (x == NULL || row < 0)
            continue;
        items[out->count] = place_of(
            out, x->pod, places_target(out, world_node_at(w, (uint32_t)row), &on_claim), false, 0);
        items[out->count++].sent = out->any_sent = true;
    }
    if (out->count != 0)
        qsort(items, out->count, sizeof(*items), place_order);
    return out;
}

struct trading {
    const struct places *p;
    const struct world *w;
    uint32_t *had, *has; /* by place who has it; by pod whose he has */
    const struct sent_pod **heirs; /* by pod: who has come after it, or NULL */
};

static void begin_trading(struct trading *t, struct arena *a)
{
    if (t->had != NULL)
        return;
    t->had = ARENA_ARRAY(a, uint32_t, t->p->count);
    t->has = ARENA_ARRAY(a, uint32_t, t->p->count);
    t->heirs = ARENA_ARRAY(a, const struct sent_pod *, t->p->count);
    for (uint32_t k = 0; k < t->p->count; k++)
        t->had[k] = t->has[k] = k;
}

static int32_t row_of(const struct trading *t, uint32_t pod)
{
    return place_row(t->w, &t->p->items[t->has[pod]]);
}

/* The place that a pod was sent to: that of the pod named, or, when that one has another by now since what led
 * to it came to nothing, the one that was published for the other. p->count: none. */
static uint32_t wanted_place(const struct trading *t, const struct sent_pod *x, int32_t row)
{
    const struct place *pod = x->instead.len != 0 ? places_find(t->p, x->instead) : NULL;
    if (pod != NULL && row_of(t, (uint32_t)(pod - t->p->items)) == row)
        return t->has[pod - t->p->items];
    const struct place *place = places_find(t->p, x->published);
    return place != NULL && place_row(t->w, place) == row ? (uint32_t)(place - t->p->items)
                                                          : t->p->count;
}

/* False: the pod keeps to what it has. */
static bool trade(struct trading *t, const struct sent_pod *x, const struct place *pod, int32_t row)
{
    uint32_t own = (uint32_t)(pod - t->p->items), left = t->has[own];
    uint32_t wanted = row_of(t, own) != row ? wanted_place(t, x, row) : t->p->count;
    if (wanted == t->p->count)
        return false;
    uint32_t other = t->had[wanted];
    t->has[own] = wanted;
    t->has[other] = left;
    t->had[wanted] = own;
    t->had[left] = other;
    return true;
}

static bool inherit(struct trading *t, const struct sent_pod *x, int32_t row)
{
    const struct place *from = places_find(t->p, x->instead);
    uint32_t at = from != NULL ? (uint32_t)(from - t->p->items) : 0;
    if (from == NULL || t->heirs[at] != NULL || row_of(t, at) != row)
        return false;
    t->heirs[at] = x;
    return true;
}

struct places *places_traded(const struct places *p, const struct sent_pod *sent, uint32_t count,
                             const struct world *w)
{
    struct arena a;
    struct trading t = {.p = p, .w = w};
    bool any = false;
    arena_init(&a, 0);
    for (uint32_t i = 0; p != NULL && i < count; i++) {
        int32_t row = sent[i].published.len != 0 ? world_find_hash(w, sent[i].node) : -1;
        const struct place *pod = row >= 0 ? places_find(p, sent[i].uid) : NULL;
        if (row < 0 || (pod == NULL) != sent[i].inherits)
            continue;
        begin_trading(&t, &a);
        any |= pod != NULL ? trade(&t, &sent[i], pod, row) : inherit(&t, &sent[i], row);
    }
    struct place *items;
    struct places *out = any ? places_copy(p, &items) : NULL;
    for (uint32_t k = 0; any && k < p->count; k++) {
        struct arena *texts = &out->texts->arena;
        const struct sent_pod *heir = t.heirs[k];
        items[k].target = arena_dup(texts, p->items[t.has[k]].target);
        items[k].on_claim = p->items[t.has[k]].on_claim;
        items[k].group = arena_dup(texts, p->items[t.has[k]].group);
        if (heir == NULL)
            continue;
        items[k].uid = arena_dup(texts, heir->uid);
        items[k].ns = arena_dup(texts, heir->ns);
        items[k].pod = arena_dup(texts, heir->name);
    }
    if (any)
        qsort(items, out->count, sizeof(*items), place_order);
    arena_release(&a);
    return out;
}

const struct place *places_find(const struct places *p, struct span uid)
{
    uint32_t low = 0, high = p->count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        int order = span_cmp(p->items[mid].uid, uid);
        if (order == 0)
            return &p->items[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

void places_destroy(struct shared *shared)
{
    struct places *p = (struct places *)shared; /* its first member */
    if (p == NULL)
        return;
    part_leave(p->texts);
    free((void *)(uintptr_t)p->items);
    free(p);
}

/* --- stowage.dev/planned --- */

struct shape_count {
    uint64_t shape;
    uint32_t count;
};

static int shape_order(const void *a, const void *b)
{
    const struct shape_count *x = a, *y = b;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

/* Equal shapes summed up, ascending. Returns how many there are. */
static uint32_t sum_shapes(struct shape_count *items, uint32_t count)
{
    uint32_t n = 0;
    if (count != 0)
        qsort(items, count, sizeof(*items), shape_order);
    for (uint32_t i = 0; i < count; i++) {
        if (n != 0 && items[n - 1].shape == items[i].shape)
            items[n - 1].count += items[i].count;
        else
            items[n++] = items[i];
    }
    return n;
}

struct span places_planned_text(struct arena *a, const struct world *w,
                                const struct pod *const *pods, uint32_t count)
{
    enum { NAMED = 64 };
    struct shape_count *shapes = ARENA_ARRAY(a, struct shape_count, count);
    uint32_t real = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!pods[i]->is_virtual)
            shapes[real++] = (struct shape_count){pod_shape_hash(pods[i], w->syms), 1};
    uint32_t n = sum_shapes(shapes, real), rest = 0;
    struct buf b = {0};
    for (uint32_t i = 0; i < n; i++)
        if (i < NAMED)
            buf_addf(&b, "%s%ux%016llx", i != 0 ? "," : "", shapes[i].count,
                     (unsigned long long)shapes[i].shape);
        else
            rest += shapes[i].count;
    if (rest != 0)
        buf_addf(&b, ",%ux*", rest);
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

/* "3x00ab…": false for anything else, the rest of many shapes ("12x*") included. */
static bool parse_shape(struct span item, struct shape_count *out)
{
    struct span hash;
    struct span count = span_cut(item, 'x', &hash);
    int64_t n;
    if (!span_int64(count, &n) || n <= 0 || n > 100000 || hash.len != 16)
        return false;
    *out = (struct shape_count){0, (uint32_t)n};
    for (size_t i = 0; i < hash.len; i++) {
        char c = hash.ptr[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                                : 16;
        if (digit > 15)
            return false;
        out->shape = out->shape << 4 | digit;
    }
    return true;
}

/* --- after a change of leader --- */

struct unplaced { /* a waiting pod by its shape */
    uint64_t shape;
    const struct waiting_pod *x;
    bool placed;
};

static int unplaced_order(const void *a, const void *b)
{
    const struct unplaced *x = a, *y = b;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    int order = span_cmp(x->x->pod->meta.ns, y->x->pod->meta.ns);
    return order != 0 ? order : span_cmp(x->x->pod->meta.name, y->x->pod->meta.name);
}

static int claim_age_order(const void *a, const void *b)
{
    const struct node_claim *x = (*(const struct world_node *const *)a)->claim;
    const struct node_claim *y = (*(const struct world_node *const *)b)->claim;
    if (x->meta.created != y->meta.created)
        return x->meta.created < y->meta.created ? -1 : 1;
    return span_cmp(x->meta.name, y->meta.name);
}

struct rebuild {
    const struct world *w;
    struct arena scratch;
    struct places *p;
    struct place *items;
    struct unplaced *pods;
    uint32_t pod_count;
};

static uint32_t first_of_shape(const struct rebuild *r, uint64_t shape)
{
    uint32_t low = 0, high = r->pod_count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (r->pods[mid].shape < shape)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct seats { /* of one claim */
    uint32_t row;
    amount *left;
    struct span target;
    bool on_claim;
};

/* Gives waiting pods of the shape what is left of their places: first those that are nominated for the
 * node, then those that are for none. */
static void seat_shape(struct rebuild *r, const struct seats *on, struct shape_count *planned,
                       bool nominated)
{
    const struct world *w = r->w;
    sym node = nominated ? w->nodes[on->row].name_sym : SYM_NONE;
    if (nominated && node == SYM_NONE)
        return;
    for (uint32_t i = first_of_shape(r, planned->shape);
         planned->count != 0 && i < r->pod_count && r->pods[i].shape == planned->shape; i++) {
        struct unplaced *u = &r->pods[i];
        const amount *requests = classes_requests(&w->classes, u->x->class_id);
        if (u->placed || u->x->pod->nominated_node != node ||
            !vector_fits(w, requests, on->left) ||
            world_split_refuses(w, world_split_side(w, u->x->pod, NULL, NULL, 0), on->row))
            continue;
        for (uint32_t c = 0; c < w->column_count; c++)
            on->left[c] -= requests[c];
        r->items[r->p->count++] =
            place_of(r->p, u->x->pod, on->target, on->on_claim, r->p->made);
        u->placed = true;
        planned->count--;
    }
}

/* Of the pods that were planned here, those already bound take their share first; a pod that has no
 * room any more was overtaken and has lost its place. */
static void rebuild_claim(struct rebuild *r, const struct world_node *n)
{
    const struct world *w = r->w;
    struct seats on = {.row = (uint32_t)(n - w->nodes)};
    on.target = places_target(r->p, n, &on.on_claim);
    on.left = ARENA_ARRAY(&r->scratch, amount, w->column_count);
    memcpy(on.left, world_vector(w, w->left, on.row), w->column_count * sizeof(*on.left));
    struct span item, rest = annotations_get(n->claim->meta.annotations, SYM_PLANNED);
    while (rest.len != 0) {
        struct shape_count planned;
        item = span_cut(rest, ',', &rest);
        if (!parse_shape(item, &planned))
            continue;
        for (uint32_t i = 0; i < n->pod_count && planned.count != 0; i++)
            planned.count -= pod_shape_hash(n->pods[i], w->syms) == planned.shape;
        seat_shape(r, &on, &planned, true);
        seat_shape(r, &on, &planned, false);
    }
}

/* Whom we have nominated has been planned there, and nobody else wrote it down. */
static void seat_nominated(struct rebuild *r, struct unplaced *u)
{
    const struct world *w = r->w;
    const struct pod *pod = u->x->pod;
    int32_t row = !u->placed && pod_is_nominated_by_us(pod)
                      ? world_find_node(w, sym_text(w->syms, pod->nominated_node))
                      : -1;
    if (row < 0 || w->nodes[row].leaving)
        return;
    bool on_claim;
    struct span target = places_target(r->p, &w->nodes[row], &on_claim);
    r->items[r->p->count++] = place_of(r->p, pod, target, on_claim, r->p->made);
    u->placed = true;
}

struct places *places_rebuild(const struct world *w, wall_ms now)
{
    struct rebuild r = {.w = w};
    arena_init(&r.scratch, 0);
    r.p = places_new(w->waiting_count, NULL, &r.items);
    r.p->made = now;
    r.pods = ARENA_ARRAY(&r.scratch, struct unplaced, w->waiting_count);
    for (uint32_t i = 0; i < w->waiting_count; i++)
        if (!w->waiting[i].bound && !w->waiting[i].pod->is_virtual)
            r.pods[r.pod_count++] = (struct unplaced){
                pod_shape_hash(w->waiting[i].pod, w->syms), &w->waiting[i], false};
    if (r.pod_count != 0)
        qsort(r.pods, r.pod_count, sizeof(*r.pods), unplaced_order);
    const struct world_node **rows =
        ARENA_ARRAY(&r.scratch, const struct world_node *, w->node_count);
    uint32_t n = 0;
    for (uint32_t row = 0; row < w->node_count; row++)
        if (w->nodes[row].claim != NULL && !w->nodes[row].leaving)
            rows[n++] = &w->nodes[row];
    if (n != 0)
        qsort(rows, n, sizeof(*rows), claim_age_order);
    for (uint32_t i = 0; i < n; i++)
        rebuild_claim(&r, rows[i]);
    for (uint32_t i = 0; i < r.pod_count; i++)
        seat_nominated(&r, &r.pods[i]);
    if (r.p->count != 0)
        qsort(r.items, r.p->count, sizeof(*r.items), place_order);
    arena_release(&r.scratch);
    return r.p;
}
