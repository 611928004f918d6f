#include "reconciler/groups/quotas.h"

#include "base/json.h"
#include "kube/capacity_quota.h"
#include "kube/condition_set.h"
#include "kube/patch.h"
#include "reconciler/stages.h"

static const struct span VALID = SPAN_INIT("cluster-autoscaler.kubernetes.io/valid");
static const struct span RECONCILED = SPAN_INIT("Reconciled");

static bool are_asked_for(const struct reconciler *r)
{
    return r->config.groups.provider != NULL && r->config.groups.flags.capacity_quotas;
}

void quotas_look(struct pass *p)
{
    if (!are_asked_for(p->r))
        return;
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_CAPACITY_QUOTA);
    for (const struct capacity_quota *q; (q = snapshot_next(&it)) != NULL;)
        memos_at(&p->r->quotas, q->meta.uid);
}

/* Of each resource that it limits. */
static struct resources used_of(const struct pass *p, const struct capacity_quota *q)
{
    struct resources used = resources_dup(p->a, q->limits);
    for (uint32_t i = 0; i < used.count; i++)
        used.items[i].value = 0;
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_NODE);
    for (const struct node *n; (n = snapshot_next(&it)) != NULL;)
        capacity_quota_use(q, n, p->snapshot->syms, &used);
    return used;
}

static bool names(struct resources r, sym name)
{
    for (uint32_t i = 0; i < r.count; i++)
        if (r.items[i].name == name)
            return true;
    return false;
}

static bool same(struct resources x, struct resources y)
{
    bool same = x.count == y.count;
    for (uint32_t i = 0; same && i < x.count; i++)
        same = names(y, x.items[i].name) && resources_get(y, x.items[i].name) == x.items[i].value;
    return same;
}

/* A resource that is not limited any more is taken away. */
static void put_used(const struct pass *p, struct json *j, const struct capacity_quota *q, struct resources used)
{
    json_put_object(j, "used");
    json_put_object(j, "resources");
    resources_put(j, used, p->snapshot->syms);
    for (uint32_t i = 0; i < q->used.count; i++)
        if (!names(used, q->used.items[i].name)) {
            json_key(j, sym_text(p->snapshot->syms, q->used.items[i].name));
            json_null_value(j);
        }
    json_object_end(j);
    json_object_end(j);
}

static void put_conditions(struct condition_set *s, bool valid)
{
    if (valid) {
        condition_set_put(s, VALID, CONDITION_TRUE, SPAN("ValidationSucceeded"), SPAN("CapacityQuota is valid"));
        condition_set_put(s, RECONCILED, CONDITION_TRUE, SPAN("ReconciliationSucceeded"),
                          SPAN("CapacityQuota successfully reconciled"));
        return;
    }
    condition_set_put(s, VALID, CONDITION_FALSE, SPAN("ValidationFailed"),
                      SPAN("spec.selector: an expression needs a key, an operator In, NotIn, Exists or DoesNotExist, and values "
                           "with the first two alone"));
    condition_set_put(s, RECONCILED, CONDITION_FALSE, SPAN("ReconciliationFailed"), SPAN("Validation failed"));
}

static void keep(struct pass *p, const struct capacity_quota *q)
{
    struct memo *memo = memos_at(&p->r->quotas, q->meta.uid);
    if (q->meta.deleted != 0 || !act_may(p, memo, &q->meta))
        return;
    bool valid = capacity_quota_valid(q);
    struct resources used = valid ? used_of(p, q) : q->used;
    struct condition_set s = condition_set_of(p->a, &capacity_quota_conditions, &q->meta, q->conditions, p->wall);
    put_conditions(&s, valid);
    if (!s.changed && q->observed_generation == q->meta.generation && same(used, q->used))
        return;
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, p->a, s.list);
    json_put_int(&j, "observedGeneration", q->meta.generation);
    if (valid) /* else it stays as it was */
        put_used(p, &j, q, used);
    patch_status_end(&j);
    act(p, &(struct action){.verb = API_MERGE, .kind = KIND_CAPACITY_QUOTA, .object = &q->meta, .memo = memo,
                            .subresource = SPAN("status"), .body = buf_span(&out)});
    buf_release(&out);
}

void quotas_keep(struct pass *p)
{
    if (!are_asked_for(p->r))
        return;
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_CAPACITY_QUOTA);
    for (const struct capacity_quota *q; (q = snapshot_next(&it)) != NULL;)
        keep(p, q);
}
