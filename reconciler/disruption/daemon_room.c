#include "planner/disruption/daemon_room.h"

#include <math.h>

#include "reconciler/disruption/ask.h"
#include "reconciler/stages.h"

enum { LOOK_MS = 10 * MS_SECOND }; /* as often as anything else is disrupted */

static struct span names_of(struct pass *p, const struct daemon_room *x)
{
    struct buf text = {.max = 1024}; /* of what is told */
    for (uint32_t i = 0; i < x->count; i++)
        buf_addf(&text, "%s%.*s/%.*s", i != 0 ? ", " : "", SPAN_ARG(x->pods[i]->meta.ns), SPAN_ARG(x->pods[i]->meta.name));
    struct span names = arena_dup(p->a, buf_span(&text));
    buf_release(&text);
    return names;
}

static void make_room(struct pass *p, const struct daemon_room *x)
{
    const struct node *node = world_node_at(p->world, x->row)->node;
    struct node_view *n = pass_node(p, node->meta.name);
    uint32_t sent = 0;
    for (uint32_t i = 0; n != NULL && i < x->count; i++)
        sent += pod_evict(p, n, x->pods[i], SPAN("DaemonSetRoom"));
    if (sent == 0)
        return;
    struct span names = names_of(p, x);
    tell(p->r,
         (struct decision){.kind = DECISION_DRAIN,
                           .subject = "room",
                           .per_hour = NAN,
                           .reason = SPAN("MakingRoom"),
                           .note = arena_printf(p->a, "Making room for DaemonSet pods: evicting %.*s", SPAN_ARG(names)),
                           .about = object_of(KIND_NODE, &node->meta)},
         "%.*s  makes room for DaemonSet pods: %.*s %s moved", SPAN_ARG(node->meta.name), SPAN_ARG(names),
         x->count == 1 ? "is" : "are");
}

static bool any_asks(const struct pass *p)
{
    bool any = false, asked;
    for (uint32_t i = 0; i < p->pool_count && !any; i++)
        any = node_pool_daemon_room(p->pools[i].pool, &asked) && asked;
    return any;
}

void daemon_room_run(struct pass *p)
{
    struct reconciler *r = p->r;
    if (!any_asks(p))
        return;
    if (r->room_looked != 0 && p->mono < r->room_looked + LOOK_MS) {
        pass_wake(p, r->room_looked + LOOK_MS);
        return;
    }
    r->room_looked = p->mono;
    const struct candidate_facts facts = {.budgets = &r->budgets.index,
                                          .queued = ask_queued(p->a, p),
                                          .deletion_cost_ignored = r->config.options.pod_deletion_cost,
                                          .now = p->wall};
    const struct daemon_room *list;
    uint32_t count = daemon_room_find(p->a, p->world, &facts, &list);
    for (uint32_t i = 0; i < count; i++)
        make_room(p, &list[i]);
}
