#include "server/page/waiting.h"

#include <stdlib.h>

#include "planner/explain/unplanned.h"
#include "server/html.h"

/* Pods of one owner that wait for one reason are one row: 500 pods of a Deployment are one thing to
 * know, and so are 300 of a namespace that nobody owns. */
struct waiting {
    const struct pod *pod;
    struct span owner; /* name of its controller; absent: none */
    struct span why;   /* HTML */
};

static int by_group(const void *x, const void *y)
{
    const struct waiting *a = x, *b = y;
    int c = span_cmp(a->pod->meta.ns, b->pod->meta.ns);
    if (c == 0)
        c = span_cmp(a->owner, b->owner);
    if (c == 0)
        c = span_cmp(a->why, b->why);
    return c != 0 ? c : span_cmp(a->pod->meta.name, b->pod->meta.name);
}

static bool same_group(const struct waiting *a, const struct waiting *b)
{
    return span_eq(a->pod->meta.ns, b->pod->meta.ns) && span_eq(a->owner, b->owner) &&
           span_eq(a->why, b->why);
}

static struct span owner_of(const struct pod *p)
{
    const struct owner *controller = meta_controller(&p->meta);
    return controller != NULL ? controller->name : (struct span){NULL, 0};
}

static void put_why_waiting(struct render *r, const struct pod *p)
{
    const struct place *place =
        r->v->places != NULL ? places_find(r->v->places, p->meta.uid) : NULL;
    if (place != NULL) {
        bool coming = place->on_claim || place->group.len != 0;
        render_put(r, coming ? "planned for " : "planned for node ");
        if (place->group.len != 0)
            html_text(r->out, place->target);
        else
            render_name(r, "node", (struct span){NULL, 0}, place->target);
        render_put(r, coming ? ", which is on its way" : "");
        return;
    }
    struct span why = page_memory_reason(r->memory, &r->a, KIND_POD, &p->meta, false); /* of equal pods equal */
    if (why.len != 0)
        html_text(r->out, why);
    else if (p->meta.deleted != 0)
        render_put(r, "is being deleted");
    else if (pod_is_pending(p))
        render_put(r, "seen, not planned yet");
    else if (r->v->world != NULL && (p->unschedulable || p->gated))
        html_text(r->out, unplanned_why(r->v->world, &r->a, p));
    else
        render_put(r, "the scheduler has not tried it yet");
}

static struct span why_waiting(struct render *r, const struct pod *p)
{
    struct buf text = {0}, *out = r->out;
    r->out = &text;
    put_why_waiting(r, p);
    r->out = out;
    struct span why = arena_dup(&r->a, buf_span(&text));
    buf_release(&text);
    return why;
}

struct waiting_pods waiting_collect(struct render *r)
{
    struct waiting_pods pods = {NULL, 0, 0, 0};
    struct snapshot_iter it = snapshot_each(r->v->snapshot, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL;) {
        if (pod_is_terminal(p))
            continue;
        if (p->node != SYM_NONE) {
            pods.running++;
            continue;
        }
        struct waiting w = {p, owner_of(p), why_waiting(r, p)};
        ARENA_PUSH(&r->a, pods.waiting, pods.waiting_count, pods.capacity, w);
    }
    if (pods.waiting_count != 0)
        qsort(pods.waiting, pods.waiting_count, sizeof(pods.waiting[0]), by_group);
    return pods;
}

/* "shop/web", or "shop/load-0 … load-299" of those that nobody owns. */
static struct span group_name(struct render *r, const struct waiting *w, uint32_t count)
{
    const struct meta *first = &w[0].pod->meta, *last = &w[count - 1].pod->meta;
    if (w->owner.len != 0)
        return arena_printf(&r->a, "%.*s/%.*s", SPAN_ARG(first->ns), SPAN_ARG(w->owner));
    return arena_printf(&r->a, "%.*s/%.*s … %.*s", SPAN_ARG(first->ns), SPAN_ARG(first->name),
                        SPAN_ARG(last->name));
}

static void put_group(struct render *r, const struct waiting *w, uint32_t count)
{
    const struct meta *first = &w->pod->meta;
    wall_ms since = first->created;
    for (uint32_t i = 1; i < count; i++)
        since = w[i].pod->meta.created < since ? w[i].pod->meta.created : since;
    if (count == 1) {
        render_row(r, "pod", first->ns, first->name);
        render_cell(r, "pod", "");
        render_name(r, "pod", first->ns, first->name);
    } else {
        struct span id = arena_printf(&r->a, "%.*s/%llx", SPAN_ARG(w->owner),
                                      (unsigned long long)span_hash(w->why));
        render_row(r, "waiting", first->ns, id);
        render_cell(r, "pod", "");
        render_list(r, count, group_name(r, w, count));
        uint32_t shown = 0;
        while (shown < count && render_list_pod(r, w[shown].pod, shown, true))
            shown++;
        render_list_end(r, shown, count);
    }
    render_number(r, "waits", (double)-since);
    render_age(r, since);
    render_cell(r, "why", "");
    buf_add(r->out, w->why);
    render_put(r, "</tr>");
}

void waiting_put(struct render *r, const struct waiting_pods *pods)
{
    static const struct render_column columns[] = {{"pod", false}, {"waits", true}, {"why", false}};
    size_t rows = 0, at = 0;
    render_table(r, "waiting", "Waiting", pods->waiting_count, columns, COUNT_OF(columns));
    for (; at < pods->waiting_count && rows < PAGE_ROWS_MAX; rows++) {
        size_t end = at + 1;
        while (end < pods->waiting_count && same_group(&pods->waiting[at], &pods->waiting[end]))
            end++;
        put_group(r, &pods->waiting[at], (uint32_t)(end - at));
        at = end;
    }
    render_table_end(r, "waiting", at, pods->waiting_count, "Nothing waits.");
}
