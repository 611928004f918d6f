/* Writes what planner/disruption/ranks.h finds, with the gate PodDeletionCostManagement: a look a minute, if anything has
 * changed that a world is made of, or after five, since budgets open and close by time alone. A pod that is as it should be
 * is not written, so that a cluster that does nothing costs a look in five minutes; nothing that counts is remembered, and
 * a new leader begins with a look.
 *
 * Each write rests on the pod's UID, where Karpenter's does on its version: of bound pods we have not the newest one
 * (kube/store.h), and another's value is overwritten either way. One that fails is tried again, round about, until the next look says anew what
 * is to be written: where all fail (nobody has granted `patch pods`), twenty in ten seconds. What was written stays when
 * the gate is closed, as with Karpenter: nobody knows then which values were somebody else's. */
#include "base/json.h"
#include "planner/disruption/ranks.h"
#include "reconciler/disruption/ask.h"
#include "reconciler/provision/purchase.h"
#include "reconciler/stages.h"

enum {
    LOOK_MS = MS_MINUTE,
    RENEW_MS = 5 * MS_MINUTE,
    UNSYNCED_MS = 1 * MS_SECOND,
    AT_ONCE_MAX = 20, /* writes under way: all else has to get through too, and nothing waits for these */
};

struct rank_write {
    struct span ns, name, uid, value; /* value absent: the annotation is taken away */
    bool under_way, done;
};

/* ---- writing ---- */

static void count_write(struct reconciler *r, struct span result)
{
    count(r, MEASURE_DELETION_COST_WRITES, 1, result, (struct span){0}, (struct span){0});
}

static void end_write(struct reconciler *r, struct rank_write *x, const char *result)
{
    count_write(r, span_of(result));
    x->done = true;
    r->ranking.left--;
}

static void fail_write(struct reconciler *r, const struct call *c)
{
    struct ranking *k = &r->ranking;
    count_write(r, SPAN("error"));
    if (k->pace.retry_at <= r->mono) /* the first of those that were under way */
        gate_fail(&k->pace, r->mono);
    if (c->retry_after_s > 0 && k->pace.retry_at < r->mono + c->retry_after_s * MS_SECOND)
        k->pace.retry_at = r->mono + c->retry_after_s * MS_SECOND;
    if (!k->told)
        tell(r, (struct decision){.kind = DECISION_FAIL, .subject = "rank", .warning = true, .per_hour = NAN},
             "%.*s/%.*s: its pod-deletion-cost cannot be written: %s", SPAN_ARG(c->topic.ns), SPAN_ARG(c->topic.name), c->err.msg);
    k->told = true;
}

static void on_written(struct reconciler *r, struct call *c)
{
    struct rank_write *x = &r->ranking.writes[c->topic.number];
    x->under_way = false;
    r->ranking.under_way--;
    if (c->err.kind == ERR_NONE) {
        r->ranking.pace.failures = 0;
        end_write(r, x, "updated");
    } else if (c->err.kind == ERR_NOT_FOUND || c->err.kind == ERR_CONFLICT) {
        r->ranking.changed = true; /* what we saw is out of date */
        end_write(r, x, c->err.kind == ERR_CONFLICT ? "skipped_conflict" : "skipped_notfound");
    } else if (c->err.kind != ERR_CANCELLED) {
        fail_write(r, c);
    }
}

static struct span patch(struct pass *p, struct span value)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_object(&j, "annotations");
    json_key(&j, pass_text(p, SYM_POD_DELETION_COST));
    if (value.ptr != NULL)
        json_text(&j, value);
    else
        json_null_value(&j);
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(p->a, buf_span(&out));
    buf_release(&out);
    return body;
}

static bool is_right(const struct pod *pod, struct span value)
{
    struct span now = annotations_get(pod->meta.annotations, SYM_POD_DELETION_COST);
    return (now.ptr == NULL) == (value.ptr == NULL) && span_eq(now, value);
}

static void write_rank(struct pass *p, uint32_t at)
{
    struct reconciler *r = p->r;
    struct rank_write *x = &r->ranking.writes[at];
    const struct pod *pod = snapshot_find(p->snapshot, KIND_POD, x->ns, x->name);
    if (pod == NULL || !span_eq(pod->meta.uid, x->uid) || pod->meta.deleted != 0) {
        end_write(r, x, "skipped_notfound");
        return;
    }
    if (is_right(pod, x->value)) {
        end_write(r, x, "skipped_unchanged");
        return;
    }
    x->under_way = true;
    r->ranking.under_way++;
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_POD,
                            .object = &pod->meta,
                            .rests = ACT_ON_UID,
                            .body = patch(p, x->value),
                            .done = on_written,
                            .topic = {.number = at, .ns = x->ns, .name = x->name}});
}

/* Round about, so that one that always fails is in nobody's way. */
static void write_some(struct pass *p)
{
    struct ranking *k = &p->r->ranking;
    if (k->left == 0)
        return;
    if (p->mono < k->pace.retry_at) {
        pass_wake(p, k->pace.retry_at);
        return;
    }
    for (uint32_t looked = 0; looked < k->count && k->under_way < AT_ONCE_MAX; looked++) {
        uint32_t at = k->at++ % k->count;
        if (!k->writes[at].done && !k->writes[at].under_way)
            write_rank(p, at);
    }
}

/* ---- looking ---- */

static void keep_writes(struct ranking *k, const struct ranks *x)
{
    arena_release(&k->arena);
    arena_init(&k->arena, 0);
    k->writes = ARENA_ARRAY(&k->arena, struct rank_write, x->count);
    k->count = k->left = x->count;
    k->at = 0;
    k->told = false;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct rank_change *c = &x->changes[i];
        k->writes[i] = (struct rank_write){
            .ns = arena_dup(&k->arena, c->pod->meta.ns),
            .name = arena_dup(&k->arena, c->pod->meta.name),
            .uid = arena_dup(&k->arena, c->pod->meta.uid),
            .value = c->ranked ? arena_printf(&k->arena, "%d", c->value) : (struct span){0}};
    }
}

static void look(struct pass *p)
{
    struct ranking *k = &p->r->ranking;
    const struct candidate_facts facts = {.budgets = &p->r->budgets.index,
                                          .queued = ask_queued(p->a, p),
                                          .nominated = ask_nominated(p->a, p),
                                          .now = p->wall};
    struct ranks x = ranks_find(p->a, p->world, &facts);
    k->changed = false; /* what it leaves over it finds once these writes have changed the world */
    k->next = p->mono + LOOK_MS;
    k->renewed = p->mono + RENEW_MS;
    keep_writes(k, &x);
    for (uint32_t i = 0; i < x.pool_count; i++)
        count(p->r, MEASURE_DELETION_COST_NODES, x.pools[i].nodes, x.pools[i].pool->meta.name, (struct span){0},
              (struct span){0});
}

void ranks_run(struct pass *p)
{
    struct reconciler *r = p->r;
    struct ranking *k = &r->ranking;
    if (!r->config.options.pod_deletion_cost)
        return;
    k->changed |= r->previous == NULL || derive_world(r->previous) != p->world;
    if (!pass_may(p, GUARDS_EMPTY)) /* what is not seen of budgets and pods may be what keeps a node */
        return;
    mono_ms due = k->changed ? k->next : k->renewed;
    if (p->mono < due)
        pass_wake(p, due);
    else if (!purchases_settled(p))
        pass_wake(p, p->mono + UNSYNCED_MS);
    else if (k->under_way == 0) /* each that ends brings the next pass */
        look(p);
    write_some(p);
}
