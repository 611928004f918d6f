/* What happened to pods since the last pass: those that wait open the batch window; those that came
 * to a node, ended there or began to leave move lastPodEventTime of its claim (spec
 * disruption 13.5).
 *
 * Told by comparing two snapshots, so a restart is no event of its own. */
#include "reconciler/divergence/divergence.h"
#include "reconciler/stages.h"

enum {
    SCAN_MS = 10 * MS_SECOND, /* what still waits triggers again */
    BOUND_MS = 1 * MS_SECOND, /* without a pod being bound: then those that were are told of */
};

static bool is_event(const struct pod *before, const struct pod *now)
{
    if (now->node == SYM_NONE || pod_is_daemon(now))
        return false;
    if (before == NULL || before->node == SYM_NONE)
        return true;
    return (pod_is_terminal(now) && !pod_is_terminal(before)) ||
           (now->meta.deleted != 0 && before->meta.deleted == 0);
}

static bool is_place_on(const struct pass *p, const struct place *place, const struct node_view *n)
{
    return place->on_claim
               ? n->claim >= 0 && span_eq(place->target, p->claims[n->claim].claim->meta.name)
               : span_eq(place->target, n->node->meta.name);
}

static void count_bound(struct pass *p, const struct pod *pod, const struct node_view *n)
{
    struct reconciler *r = p->r;
    const struct place *place = r->places != NULL ? places_find(r->places, pod->meta.uid) : NULL;
    bool right = place != NULL && n != NULL && is_place_on(p, place, n);
    if (place == NULL || (!right && divergence_left_open(p, pod, place))) {
        divergence_taken(p, n);
        return;
    }
    r->watching.bound++;
    r->watching.bound_at = p->mono;
    if (n == NULL)
        return;
    r->watching.bound_right += right;
    count(r, MEASURE_BOUND_AS_PLANNED, 1, right ? SPAN("planned") : SPAN("elsewhere"),
          (struct span){0}, (struct span){0});
    if (!right)
        divergence_elsewhere(p, pod, place, n);
}

static void tell_bound(struct pass *p)
{
    struct reconciler *r = p->r;
    if (r->watching.bound == 0)
        return;
    if (p->mono < r->watching.bound_at + BOUND_MS) {
        pass_wake(p, r->watching.bound_at + BOUND_MS);
        return;
    }
    tell(r, (struct decision){.kind = DECISION_BOUND, .subject = "bound", .per_hour = NAN},
         "%u of %u pods where planned", r->watching.bound_right, r->watching.bound);
    r->watching.bound = r->watching.bound_right = 0;
}

static void note_event(struct pass *p, const struct node_view *n)
{
    p->claims[n->claim].memo->pod_event = p->wall;
    turns_call(&p->r->views.lifecycle, (uint32_t)n->claim);
}

static void look_at(struct pass *p, const struct pod *now)
{
    const struct snapshot *previous = p->r->previous;
    const struct pod *before = NULL;
    pod_times_seen(p, now);
    divergence_heard(p, now);
    if (pod_is_pending(now)) {
        batch_trigger(&p->r->provision.batch, now->meta.uid, p->mono);
        pod_times_wake(p, now);
    }
    if (previous != NULL)
        before = snapshot_find(previous, KIND_POD, now->meta.ns, now->meta.name);
    if (before != NULL && !span_eq(before->meta.uid, now->meta.uid))
        before = NULL;
    do_not_disrupt_seen(p, before, now);
    if (previous == NULL || !is_event(before, now))
        return;
    struct node_view *n = pass_node(p, pass_text(p, now->node));
    if (before == NULL || before->node == SYM_NONE)
        count_bound(p, now, n);
    if (n != NULL && n->claim >= 0)
        note_event(p, n);
}

static bool is_unconfirmed(const struct pass *p)
{
    return p->view.loss[KIND_POD][LOSS_UNEXPLAINED].list != 0;
}

/* A pod that is gone without having ended or been deleted, for all that was seen: what is empty for that is empty from
 * now on. */
static void look_at_gone(struct pass *p, const struct pod *before)
{
    const struct pod *now = snapshot_find(p->snapshot, KIND_POD, before->meta.ns, before->meta.name);
    bool here = now != NULL && span_eq(now->meta.uid, before->meta.uid);
    if (here || before->node == SYM_NONE || before->meta.deleted != 0 || pod_is_daemon(before) || pod_is_terminal(before))
        return;
    struct node_view *n = pass_node(p, sym_text(p->r->previous->syms, before->node));
    if (n == NULL || n->claim < 0)
        return;
    note_event(p, n);
    p->claims[n->claim].memo->pods_lost |= is_unconfirmed(p);
}

static void look_for_gone(struct pass *p)
{
    if (p->r->previous == NULL)
        return;
    struct snapshot_iter it = snapshot_each(p->r->previous, KIND_POD);
    for (const struct pod *pod; (pod = snapshot_next_changed(&it, p->snapshot)) != NULL;)
        look_at_gone(p, pod);
}

/* A node whose pods an unconfirmed LIST did not show is empty since that was confirmed. */
static void end_unconfirmed(struct pass *p)
{
    bool was = p->r->watching.unconfirmed;
    p->r->watching.unconfirmed = is_unconfirmed(p);
    for (uint32_t i = 0; was && !is_unconfirmed(p) && i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (n->claim < 0 || !p->claims[n->claim].memo->pods_lost)
            continue;
        p->claims[n->claim].memo->pods_lost = false;
        note_event(p, n);
    }
}

/* Whether any waits. */
static bool scan_pods(struct pass *p)
{
    bool some = p->r->provision.unplaced != 0;
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_POD);
    for (const struct pod *pod; (pod = snapshot_next(&it)) != NULL;) {
        if (pod->node == SYM_NONE || (!pod->ready && !pod_is_terminal(pod)))
            pod_times_seen(p, pod);
        do_not_disrupt_scan(p, pod, p->r->watching.scanned_wall);
        some |= pod->node == SYM_NONE;
        if (pod_is_pending(pod)) {
            batch_trigger(&p->r->provision.batch, pod->meta.uid, p->mono);
            pod_times_wake(p, pod);
        }
    }
    if (p->r->provision.unplaced != 0) /* when they are gone without a plan, the last one still says that they wait */
        batch_wake(&p->r->provision.batch, p->mono);
    return some;
}

/* Pods of nodes that leave need a place elsewhere. Whether any leaves. */
static bool scan_nodes(struct pass *p)
{
    bool some = false;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        uint32_t count;
        if (n->row < 0 || !world_node_at(p->world, (uint32_t)n->row)->leaving)
            continue;
        const struct pod *const *pods = node_pods(p, n, &count);
        some = true;
        for (uint32_t k = 0; k < count; k++)
            if (pod_is_reschedulable(pods[k]))
                batch_trigger(&p->r->provision.batch, pods[k]->meta.uid, p->mono);
    }
    return some;
}

/* While nothing waits, nobody leaves and nothing changes, there is nothing to trigger again. */
static void scan(struct pass *p)
{
    struct reconciler *r = p->r;
    bool waits = scan_pods(p), leaves = scan_nodes(p);
    bool rests = !waits && !leaves && p->snapshot == r->previous && r->config.options.idle > SCAN_MS;
    r->watching.scanned = p->mono + (rests ? r->config.options.idle : SCAN_MS);
    r->watching.scanned_wall = p->wall;
}

void pod_events_run(struct pass *p)
{
    struct reconciler *r = p->r;
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_POD);
    for (const struct pod *pod; (pod = snapshot_next_changed(&it, r->previous)) != NULL;)
        look_at(p, pod);
    look_for_gone(p);
    end_unconfirmed(p);
    if (p->snapshot != r->previous && r->watching.scanned > p->mono + SCAN_MS)
        r->watching.scanned = p->mono + SCAN_MS;
    if (p->mono >= r->watching.scanned)
        scan(p);
    pass_wake(p, r->watching.scanned);
    tell_bound(p);
}
