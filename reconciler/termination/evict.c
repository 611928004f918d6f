/* Evicts and deletes the pods that drain.c picks, each at its own pace (spec disruption 14.5), and looks for
 * the volumes that they leave behind. */
#include "base/json.h"
#include "reconciler/termination/detach.h"
#include "reconciler/termination/drain.h"
#include "reconciler/stages.h"

enum { PLAN_MS = 5 * MS_SECOND }; /* what a plan takes beyond the longest batch, and more */

static struct span reason_of(const struct claim_view *c)
{
    const struct condition *why =
        c != NULL ? conditions_find(c->claim->conditions, SPAN("DisruptionReason")) : NULL;
    return why != NULL ? why->reason : SPAN("Forceful Termination");
}

static bool many_budgets(const struct call *c)
{
    return c->status == 500 &&
           span_contains(span_of(c->err.msg), SPAN("more than one PodDisruptionBudget"));
}

/* Any other 429 is of an API server that is busy, and says nothing about the pod. */
static bool budget_refuses(const struct call *c)
{
    return c->status == 429 && span_eq(c->cause, SPAN("DisruptionBudget"));
}

static void on_evicted(struct reconciler *r, struct call *c)
{
    struct pod_memo *m = (struct pod_memo *)c->memo;
    char code[16];
    snprintf(code, sizeof(code), "%d", c->status);
    count(r, MEASURE_EVICTIONS, 1, span_of(code), (struct span){0}, (struct span){0});
    struct decision d = {
        .kind = DECISION_DRAIN, .per_hour = NAN, .about = {KIND_POD, c->topic.ns, c->topic.name, c->topic.uid}};
    if (c->err.kind == ERR_NONE) {
        count(r, MEASURE_PODS_DRAINED, 1, c->topic.text, (struct span){0}, (struct span){0});
        d.reason = SPAN("Evicted");
        m->left_alone = true;
        tell(r, d, "Evicted pod: %.*s", SPAN_ARG(c->topic.text));
    } else if (c->status == 404 || c->status == 409) {
        m->left_alone = true;
    } else if (budget_refuses(c) || many_budgets(c)) {
        d.warning = true;
        d.reason = SPAN("FailedDraining");
        d.about = (struct decision_object){KIND_NODE, (struct span){0}, c->topic.node, c->topic.node_uid};
        d.dedupe = c->topic.uid;
        d.note = arena_printf(&c->arena, "Failed to drain node, %s (Pod=%.*s/%.*s)",
                              budget_refuses(c) ? "evicting pod violates a PDB"
                                                : "eviction does not support multiple PDBs",
                              SPAN_ARG(c->topic.ns), SPAN_ARG(c->topic.name));
        tell_silently(r, d);
    }
}

/* What ends the pod. The UID is its only precondition: we do not keep the newest version of a pod that says nothing
 * new to us (kube/store.h), so that an eviction with a version would fail of a write to its status alone. What else it
 * may have become meanwhile does not change that the node is to be empty, and its budgets the API server weighs. */
static struct action pod_end(struct pass *p, const struct node_view *n, const struct pod *pod, struct span reason)
{
    const struct meta *m = &pod->meta;
    struct pod_memo *memo = memos_at(&p->r->pods, m->uid);
    return (struct action){.kind = KIND_POD,
                           .object = m,
                           .memo = &memo->memo,
                           .rests = ACT_ON_UID,
                           .topic = {.ns = m->ns,
                                     .name = m->name,
                                     .uid = m->uid,
                                     .text = reason,
                                     .node = n->node->meta.name,
                                     .node_uid = n->node->meta.uid}};
}

bool pod_evict(struct pass *p, const struct node_view *n, const struct pod *pod, struct span reason)
{
    struct action x = pod_end(p, n, pod, reason);
    x.verb = API_EVICT;
    x.done = on_evicted;
    return act(p, &x);
}

static void on_forced(struct reconciler *r, struct call *c)
{
    if (c->err.kind != ERR_NONE)
        return;
    count(r, MEASURE_PODS_DRAINED, 1, c->topic.text, (struct span){0}, (struct span){0});
    tell(r,
         (struct decision){.kind = DECISION_DRAIN,
                           .per_hour = NAN,
                           .reason = SPAN("Disrupted"),
                           .about = {KIND_POD, c->topic.ns, c->topic.name, c->topic.uid}},
         "Deleted %.*s/%.*s: the node's termination grace period ends", SPAN_ARG(c->topic.ns),
         SPAN_ARG(c->topic.name));
}

static void force(struct pass *p, const struct node_view *n, const struct drain_pod *d,
                  struct span reason)
{
    struct action x = pod_end(p, n, d->pod, reason);
    x.verb = API_DELETE;
    x.grace = &d->grace;
    x.done = on_forced;
    act(p, &x);
}

/* Each new one that holds the drain is told by an Event and in the log, and so is its beginning; how many
 * pods still wait is for the page. */
static void tell_waiting(struct pass *p, const struct node_view *n, const struct drain *d)
{
    struct empty_answer x = drain_judge(p->a, d, &p->r->budgets.index, p->wall);
    struct span why = drain_sentence(p->a, d, &x), name = n->node->meta.name;
    const struct meta *by = x.budget != NULL                       ? &x.budget->meta
                            : x.verdict == EMPTY_POD_DO_NOT_DISRUPT ? &x.pod->meta
                                                                    : NULL;
    uint64_t held = by != NULL ? span_hash(by->uid) : 1, told = why.len != 0 ? span_hash(why) : 0;
    struct decision dec = {.kind = DECISION_DRAIN,
                           .warning = true,
                           .per_hour = NAN,
                           .about = object_of(KIND_NODE, &n->node->meta)};
    if (told == n->memo->told || why.len == 0)
        return;
    n->memo->told = told;
    if (n->memo->held == 0 || (by != NULL && held != n->memo->held)) {
        n->memo->held = held;
        dec.subject = by != NULL ? "drain" : NULL;
        dec.reason = SPAN("FailedDraining");
        dec.note = arena_printf(p->a, "Failed to drain node, %u pods are waiting to be evicted%s%.*s",
                                d->waiting, by != NULL ? "; " : "",
                                SPAN_ARG(by != NULL ? empty_sentence(p->a, &x) : SPAN("")));
        dec.dedupe = by != NULL ? by->uid : (struct span){0};
    }
    tell(p->r, dec, "%.*s  %.*s", SPAN_ARG(name), SPAN_ARG(why));
}

/* Some of its pods a plan may yet have a place for; all of them ask for one. */
static bool ask_for_places(struct pass *p, const struct node_view *n)
{
    const struct places *places = p->r->places;
    uint32_t count, missing = 0;
    const struct pod *const *pods = node_pods(p, n, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!pod_is_reschedulable(pods[i]) || (places != NULL && places_find(places, pods[i]->meta.uid) != NULL))
            continue;
        batch_trigger(&p->r->provision.batch, pods[i]->meta.uid, p->mono);
        missing++;
    }
    return missing != 0;
}

/* Nobody is evicted before there has been a plan in which the node leaves: its places are then kept for who comes after.
 * A plan that does not come about, while machines are launched, is not waited for. */
static bool pods_planned(struct pass *p, const struct node_view *n)
{
    struct node_memo *m = n->memo;
    span_ms patience = p->r->config.options.batch_max + PLAN_MS;
    if (m->pods_planned || !n->leaving)
        return true;
    if (m->leaves_from == 0) {
        m->leaves_from = p->snapshot->sequence;
        m->pods_planned = !ask_for_places(p, n);
    }
    m->pods_planned |= p->r->provision.planned >= m->leaves_from || p->mono - m->drain_began >= patience;
    if (!m->pods_planned) {
        p->drain_waits = true;
        pass_wake(p, m->drain_began + patience);
    }
    return m->pods_planned;
}

/* True when nothing is waited for. */
bool evict_run(struct pass *p, const struct node_view *n, const struct claim_view *c)
{
    uint32_t count;
    const struct pod *const *pods = node_pods(p, n, &count);
    wall_ms deadline = c != NULL && c->leaving ? claim_deadline_now(p, c) : 0; /* a reboot forces no pod out */
    struct drain d = drain_pick(p->a, pods, count, deadline, p->wall);
    bool planned = d.waiting == 0 || pods_planned(p, n);
    for (uint32_t i = 0; i < d.count; i++) {
        const struct pod *pod = d.pods[i].pod;
        wall_ms due = drain_due(pod, deadline, p->wall);
        if (due != 0)
            pass_wake_wall(p, due);
        if (d.pods[i].act != DRAIN_EVICT && d.pods[i].act != DRAIN_DELETE)
            continue;
        struct pod_memo *m = memos_at(&p->r->pods, pod->meta.uid);
        if (d.pods[i].act == DRAIN_EVICT && (m->left_alone || !planned))
            continue;
        if (d.pods[i].act == DRAIN_EVICT)
            pod_evict(p, n, pod, reason_of(c));
        else
            force(p, n, &d.pods[i], reason_of(c));
    }
    tell_waiting(p, n, &d);
    return d.waiting == 0;
}

/* Which volumes a drained node still waits for, once for each change; none: what was said before is over. */
static void tell_attached(struct pass *p, const struct node_view *n, const struct attachments *x)
{
    struct span name = n->node->meta.name, names = detach_names(p->a, x);
    struct span why = detach_sentence(p->a, x);
    uint64_t told = x->count != 0 ? span_hash(names) : 0;
    struct decision d = {.kind = DECISION_DRAIN,
                         .per_hour = NAN,
                         .takes_back = x->count == 0,
                         .about = object_of(KIND_NODE, &n->node->meta)};
    if (told == n->memo->told)
        return;
    n->memo->told = told;
    if (x->count == 0) {
        tell_silently(p->r, d);
        return;
    }
    d.reason = SPAN("AwaitingVolumeDetachment");
    d.note = arena_printf(p->a, "Awaiting deletion of bound volumeattachments (%.*s)", SPAN_ARG(names));
    tell(p->r, d, "%.*s  %.*s", SPAN_ARG(name), SPAN_ARG(why));
}

static const struct volume_claim *find_claim(const void *snapshot, struct span ns, struct span name)
{
    return snapshot_find(snapshot, KIND_VOLUME_CLAIM, ns, name);
}

bool detach_run(struct pass *p, const struct node_view *n)
{
    struct detach_node node = {.name = sym_find(p->syms, n->node->meta.name),
                               .claim = find_claim,
                               .from = p->snapshot,
                               .now = p->wall};
    struct attachments x = {NULL, 0, 0};
    node.pods = node_pods(p, n, &node.pod_count);
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_VOLUME_ATTACHMENT);
    for (const struct volume_attachment *one; (one = snapshot_next(&it)) != NULL;)
        detach_look(p->a, &x, &node, one);
    tell_attached(p, n, &x);
    return x.count != 0;
}
