/* A DaemonSet's controller makes a pod for each node and says so in its affinity; the scheduler can only bind it
 * there. What it lacks there is asked of the world as the scheduler asks: room beside what is bound. */
#include "planner/explain/unplanned.h"

#include "planner/columns.h"
#include "planner/explain/words.h"

enum { HOLDERS_TOLD = 3 };

struct daemon_case {
    const struct world *w;
    struct arena *a;
    const struct pod *pod;
    uint32_t row;
    const amount *asked;
};

/* --- its node --- */

/* The row of the node that its affinity names, by the one field that there is, metadata.name; -1: none. */
static int32_t own_row(const struct world *w, const struct pod *pod)
{
    const struct affinity *a = pod->affinity;
    if (a == NULL || !a->has_required_node || a->required_node.count == 0)
        return -1;
    struct expressions fields = a->required_node.items[0].match_fields;
    if (fields.count == 0 || fields.items[0].op != OP_IN || fields.items[0].values.count != 1)
        return -1;
    for (uint32_t row = 0; row < w->node_count; row++)
        if (w->nodes[row].node != NULL && w->nodes[row].name_sym == fields.items[0].values.items[0])
            return (int32_t)row;
    return -1;
}

static amount free_of(const struct daemon_case *x, uint32_t column)
{
    return world_allocatable(x->w, x->row)[column] - world_requested(x->w, x->row)[column];
}

/* --- who holds it --- */

static amount held_by(const struct daemon_case *x, uint32_t index, uint32_t column)
{
    return classes_requests(&x->w->classes, x->w->nodes[x->row].pod_classes[index])[column];
}

/* The next of the row's pods after those told, by how much they hold; pods stand by name. */
static int32_t next_holder(const struct daemon_case *x, uint32_t column, const int32_t *told, uint32_t count)
{
    int32_t best = -1;
    for (uint32_t i = 0; i < x->w->nodes[x->row].pod_count; i++) {
        bool again = held_by(x, i, column) == 0;
        for (uint32_t k = 0; k < count; k++)
            again |= told[k] == (int32_t)i;
        if (!again && (best < 0 || held_by(x, i, column) > held_by(x, (uint32_t)best, column)))
            best = (int32_t)i;
    }
    return best;
}

static void put_holders(const struct daemon_case *x, uint32_t column, struct buf *out)
{
    int32_t told[HOLDERS_TOLD];
    uint32_t count = 0;
    for (; count < HOLDERS_TOLD; count++) {
        told[count] = next_holder(x, column, told, count);
        if (told[count] < 0)
            break;
        const struct meta *m = &x->w->nodes[x->row].pods[told[count]]->meta;
        struct span holds = words_amount_in(x->w, x->a, column, held_by(x, (uint32_t)told[count], column));
        buf_addf(out, "%s%.*s/%.*s holds %.*s", count == 0 ? " (" : ", ", SPAN_ARG(m->ns),
                 SPAN_ARG(m->name), SPAN_ARG(holds));
    }
    if (count != 0)
        buf_addf(out, "%s)", next_holder(x, column, told, count) >= 0 ? ", and others the rest" : "");
}

/* --- what is wrong --- */

static void put_lack(const struct daemon_case *x, uint32_t column, struct buf *out)
{
    amount left = free_of(x, column);
    struct span wants = words_amount_in(x->w, x->a, column, x->asked[column]);
    struct span has = words_number_in(x->w, x->a, column, left > 0 ? left : 0);
    struct span all = words_number_in(x->w, x->a, column, world_allocatable(x->w, x->row)[column]);
    buf_addf(out, "asks for %.*s, of which %.*s of %.*s are free there", SPAN_ARG(wants), SPAN_ARG(has),
             SPAN_ARG(all));
    put_holders(x, column, out);
    buf_addf(out, "; make room there, let it ask for less or give it a higher priority");
}

static const struct taint *untolerated(const struct daemon_case *x)
{
    const struct taints *taints = &x->w->nodes[x->row].node->taints;
    for (uint32_t i = 0; i < taints->count; i++)
        if (taints->items[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&taints->items[i], x->pod->tolerations, x->w->syms))
            return &taints->items[i];
    return NULL;
}

static const struct pod *port_holder(const struct daemon_case *x)
{
    const struct world_node *n = &x->w->nodes[x->row];
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (ports_conflict(x->pod->ports, n->pods[i]->ports))
            return n->pods[i];
    return NULL;
}

static void put_reason(const struct daemon_case *x, struct buf *out)
{
    const struct symtab *syms = x->w->syms;
    const struct taint *t = untolerated(x);
    const struct pod *holder = port_holder(x);
    uint32_t c = 0;
    while (c < x->w->column_count && (x->asked[c] == 0 || x->asked[c] <= free_of(x, c)))
        c++;
    if (c < x->w->column_count)
        put_lack(x, c, out);
    else if (t != NULL)
        buf_addf(out, "does not tolerate its taint %.*s:%s; tolerate it, or take the taint away",
                 SPAN_ARG(sym_text(syms, t->key)), taint_effect_name(t->effect));
    else if (holder != NULL)
        buf_addf(out, "wants a host port that %.*s/%.*s has taken there", SPAN_ARG(holder->meta.ns),
                 SPAN_ARG(holder->meta.name));
    else
        buf_addf(out, "the scheduler has turned it down, though there is room for it now");
}

static struct span turned_down(const struct world *w, struct arena *a, const struct pod *pod, uint32_t row)
{
    const struct owner *owner = meta_controller(&pod->meta);
    struct daemon_case x = {w, a, pod, row, world_pod_requests(w, a, pod)};
    struct buf b = {0};
    put_reason(&x, &b);
    struct span text =
        arena_printf(a, "it is the pod of DaemonSet %.*s/%.*s for node %.*s, and %.*s",
                     SPAN_ARG(pod->meta.ns), SPAN_ARG(owner->name), SPAN_ARG(w->nodes[row].name),
                     SPAN_ARG(buf_span(&b)));
    buf_release(&b);
    return text;
}

struct span unplanned_why(const struct world *w, struct arena *a, const struct pod *pod)
{
    int32_t row = pod_is_daemon(pod) && pod->unschedulable ? own_row(w, pod) : -1;
    if (pod->gated)
        return SPAN("its scheduling gates are not open yet");
    if (row >= 0 && meta_controller(&pod->meta) != NULL)
        return turned_down(w, a, pod, (uint32_t)row);
    if (pod_is_daemon(pod))
        return SPAN("it belongs to a DaemonSet, which puts a pod on every node that suits");
    if (pod_is_static(pod))
        return SPAN("it belongs to a Node, whose kubelet runs it");
    if (pod->nominated_node != SYM_NONE)
        return SPAN("the scheduler makes room for it on a node by preemption");
    return SPAN("no scheduler has found it unschedulable yet");
}
