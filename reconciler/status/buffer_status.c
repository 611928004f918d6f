/* CapacityBuffers as Karpenter v1.15.0 keeps them: ReadyForProvisioning and the figures say what a buffer
 * was resolved to, Provisioning what the last plan did with its virtual pods; or, where node groups fill them, that
 * they ask there, as Cluster Autoscaler has it (spec node-groups 6.2).
 *
 * A buffer that is new, gone or resolved to something else opens the batch window, and each one does so
 * every 30 s: real pods that took its room came without asking. What a plan had virtual pods on is
 * remembered by the name of the NodeClaim, which is the same before and after its node comes. */
#include <stdlib.h>

#include "base/json.h"
#include "kube/patch.h"
#include "planner/buffers.h"
#include "reconciler/groups/look.h"
#include "reconciler/stages.h"

enum { REQUEUE_MS = 30 * MS_SECOND };

static const struct span READY = SPAN_INIT("ReadyForProvisioning");
static const struct span PROVISIONING = SPAN_INIT("Provisioning");

/* ---- waking the planner ---- */

static bool is_gone(const struct pass *p, const struct capacity_buffer *before)
{
    const struct capacity_buffer *now =
        snapshot_find(p->snapshot, KIND_CAPACITY_BUFFER, before->meta.ns, before->meta.name);
    return now == NULL || !span_eq(now->meta.uid, before->meta.uid);
}

static void wake_for_gone(struct pass *p)
{
    const struct snapshot *previous = p->r->previous;
    if (previous == NULL || snapshot_same(previous, p->snapshot, KIND_CAPACITY_BUFFER))
        return;
    struct snapshot_iter it = snapshot_each(previous, KIND_CAPACITY_BUFFER);
    for (const struct capacity_buffer *b; (b = snapshot_next(&it)) != NULL;)
        if (is_gone(p, b)) {
            p->r->buffered.planned = false;
            batch_wake(&p->r->provision.batch, p->mono);
        }
}

/* What its virtual pods follow from. */
static uint64_t answer_hash(const struct pass *p, const struct buffer_answer *x)
{
    struct span uid = x->source != NULL ? x->source->uid : (struct span){NULL, 0};
    long long generation = x->source != NULL ? (long long)x->source->generation : 0;
    return span_hash(arena_printf(p->a, "%d %lld %lld %lld %.*s", (int)x->state,
                                  (long long)x->replicas, (long long)x->buffer->meta.generation,
                                  generation, SPAN_ARG(uid)));
}

static void wake_for(struct pass *p, const struct buffer_answer *x, struct buffer_memo *m)
{
    struct reconciler *r = p->r;
    uint64_t answer = answer_hash(p, x);
    bool changed = !m->known || m->answer != answer;
    bool again = p->mono >= m->due && x->state != BUFFER_FAILED;
    if (changed)
        r->buffered.planned = false;
    if ((changed || again) && group_look_fills_buffers(p)) {
        groups_wake(r);
        m->due = p->mono + REQUEUE_MS;
    } else if (changed || again) {
        batch_trigger(&r->provision.batch, x->buffer->meta.uid, p->mono);
        m->due = p->mono + REQUEUE_MS;
    }
    m->known = true;
    m->answer = answer;
    if (x->state != BUFFER_FAILED)
        pass_wake(p, m->due);
}

/* ---- status ---- */

static void put_ready(struct condition_set *s, const struct buffer_answer *x)
{
    static const char *const reasons[] = {
        [BUFFER_RESOLVED] = "Resolved",
        [BUFFER_NO_REFERENCE] = "ResolutionFailed",
        [BUFFER_NO_TEMPLATE] = "PodTemplateNotFound",
        [BUFFER_NO_WORKLOAD] = "ScalableRefNotFound",
        [BUFFER_FAILED] = "ResolutionFailed",
    };
    bool ok = x->state == BUFFER_RESOLVED;
    condition_set_put(s, READY, ok ? CONDITION_TRUE : CONDITION_FALSE, span_of(reasons[x->state]),
                      ok ? SPAN("Pod template resolved successfully") : x->why);
}

static void put_provisioning(struct pass *p, struct condition_set *s, const struct buffer_answer *x,
                             const struct buffer_memo *m)
{
    uint32_t all = m->fitting + m->bought + m->failed;
    bool grouped = group_look_fills_buffers(p);
    if (x->state != BUFFER_RESOLVED)
        condition_set_put(s, PROVISIONING, CONDITION_FALSE, SPAN("NotReadyForProvisioning"),
                          SPAN("Buffer is not ReadyForProvisioning"));
    else if (x->replicas == 0)
        condition_set_put(s, PROVISIONING, CONDITION_FALSE, grouped ? SPAN("BufferIsEmpty") : SPAN("BufferEmpty"),
                          SPAN("Buffer has zero desired replicas"));
    else if (grouped)
        condition_set_put(s, PROVISIONING, CONDITION_TRUE, SPAN("FakePodsInjected"),
                          arena_printf(p->a, "%lld virtual pods ask the node groups for room", (long long)x->replicas));
    else if (!m->planned)
        return;
    else if (m->fitting == all)
        condition_set_put(s, PROVISIONING, CONDITION_TRUE, SPAN("FitsExistingCapacity"),
                          arena_printf(p->a, "All %u virtual pods fit on existing capacity", all));
    else
        condition_set_put(s, PROVISIONING, CONDITION_FALSE, SPAN("RequiresNewCapacity"),
                          arena_printf(p->a,
                                       "%u/%u virtual pods required new capacity, %u failed",
                                       m->bought, all, m->failed));
}

/* Of a template its name and generation are told, of a workload neither. */
static bool tells_template(const struct buffer_answer *x)
{
    return x->state == BUFFER_RESOLVED && x->buffer->pod_template.len != 0;
}

static bool figures_stand(const struct buffer_answer *x)
{
    const struct capacity_buffer *b = x->buffer;
    if (!span_eq(b->strategy, b->status_strategy))
        return false;
    if (x->state != BUFFER_RESOLVED)
        return true;
    if (!b->has_status_replicas || b->status_replicas != x->replicas)
        return false;
    if (!tells_template(x))
        return b->status_template.len == 0 && !b->has_template_generation;
    return span_eq(b->status_template, b->pod_template) && b->has_template_generation &&
           b->template_generation == x->source->generation;
}

static void put_figures(struct json *j, const struct buffer_answer *x)
{
    const struct capacity_buffer *b = x->buffer;
    if (b->strategy.len != 0)
        json_put_string(j, "provisioningStrategy", b->strategy);
    if (x->state != BUFFER_RESOLVED)
        return;
    json_put_int(j, "replicas", x->replicas);
    if (tells_template(x)) {
        json_put_object(j, "podTemplateRef");
        json_put_string(j, "name", b->pod_template);
        json_object_end(j);
        json_put_int(j, "podTemplateGeneration", x->source->generation);
    } else {
        json_key(j, SPAN("podTemplateRef"));
        json_null_value(j);
        json_key(j, SPAN("podTemplateGeneration"));
        json_null_value(j);
    }
}

static void write_status(struct pass *p, const struct buffer_answer *x, struct buffer_memo *m,
                         const struct condition_set *s)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, p->a, s->list);
    put_figures(&j, x);
    patch_status_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_CAPACITY_BUFFER,
                            .object = &x->buffer->meta,
                            .memo = &m->memo,
                            .subresource = SPAN("status"),
                            .body = buf_span(&out)});
    buf_release(&out);
}

static void keep_status(struct pass *p, const struct buffer_answer *x, struct buffer_memo *m)
{
    const struct capacity_buffer *b = x->buffer;
    if (b->meta.deleted != 0)
        return;
    if (!act_may(p, &m->memo, &b->meta))
        return;
    struct condition_set s = condition_set_of(p->a, &capacity_buffer_conditions, &b->meta,
                                              b->conditions, p->wall);
    put_ready(&s, x);
    put_provisioning(p, &s, x, m);
    if (s.changed || !figures_stand(x))
        write_status(p, x, m, &s);
}

void buffer_status_run(struct pass *p)
{
    const struct buffers *buffers = world_buffers(p->world);
    wake_for_gone(p);
    for (uint32_t i = 0; i < buffers->answer_count; i++) {
        const struct buffer_answer *x = &buffers->answers[i];
        struct buffer_memo *m = memos_at(&p->r->buffers, x->buffer->meta.uid);
        wake_for(p, x, m);
        keep_status(p, x, m);
    }
}

/* ---- what a plan did ---- */

enum outcome { OUTCOME_FITS, OUTCOME_BOUGHT, OUTCOME_FAILED };

static bool tally(struct pass *p, const struct pod *pod, enum outcome outcome)
{
    if (!pod->is_virtual)
        return false;
    struct buffer_memo *m = memos_find(&p->r->buffers, buffer_uid_of(pod));
    if (m == NULL)
        return true;
    if (!m->planned)
        m->fitting = m->bought = m->failed = 0;
    m->planned = true;
    m->fitting += outcome == OUTCOME_FITS;
    m->bought += outcome == OUTCOME_BOUGHT;
    m->failed += outcome == OUTCOME_FAILED;
    return true;
}

static bool tally_all(struct pass *p, const struct pod *const *pods, uint32_t count,
                      enum outcome outcome)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= tally(p, pods[i], outcome);
    return any;
}

static int by_text(const void *x, const void *y)
{
    return span_cmp(*(const struct span *)x, *(const struct span *)y);
}

static void remember_claim(struct reconciler *r, struct span name)
{
    r->buffered.claims[r->buffered.count++] = arena_dup(&r->buffered.arena, name);
}

void buffer_status_planned(struct pass *p, const struct plan *plan)
{
    struct reconciler *r = p->r;
    const struct buffers *buffers = world_buffers(p->world);
    for (uint32_t i = 0; i < buffers->answer_count; i++)
        ((struct buffer_memo *)memos_at(&r->buffers, buffers->answers[i].buffer->meta.uid))
            ->planned = false;
    arena_clear(&r->buffered.arena);
    r->buffered.claims = ARENA_ARRAY(&r->buffered.arena, struct span, plan->node_count + plan->claim_count);
    r->buffered.count = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct plan_node *n = &plan->nodes[i];
        const struct node_claim *claim = world_node_at(p->world, n->row)->claim;
        if (tally_all(p, n->pods, n->pod_count, OUTCOME_FITS) && claim != NULL)
            remember_claim(r, claim->meta.name);
    }
    for (uint32_t i = 0; i < plan->claim_count; i++)
        if (tally_all(p, plan->claims[i].pods, plan->claims[i].pod_count, OUTCOME_BOUGHT))
            remember_claim(r, plan->claims[i].name);
    for (uint32_t i = 0; i < plan->unschedulable_count; i++)
        if (plan->unschedulable[i].reason != UNSCHEDULABLE_NOT_REACHED)
            tally(p, plan->unschedulable[i].pod, OUTCOME_FAILED);
    if (r->buffered.count != 0)
        qsort(r->buffered.claims, r->buffered.count, sizeof(*r->buffered.claims), by_text);
    r->buffered.planned = true;
    for (uint32_t i = 0; i < buffers->answer_count; i++)
        keep_status(p, &buffers->answers[i],
                    memos_find(&r->buffers, buffers->answers[i].buffer->meta.uid));
}

bool buffers_need(const struct pass *p, const struct node_claim *c)
{
    const struct reconciler *r = p->r;
    if (world_buffers(p->world)->count == 0)
        return false;
    return !r->buffered.planned ||
           (r->buffered.count != 0 && bsearch(&c->meta.name, r->buffered.claims, r->buffered.count,
                                              sizeof(*r->buffered.claims), by_text) != NULL);
}
