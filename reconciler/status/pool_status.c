/* NodePool status and hash (spec api 5.4 to 5.6, 5.8). A pool is used only when Ready at its
 * current generation, so these writes come before any purchase from a new pool. */
#include <stdlib.h>

#include "kube/pool_validate.h"
#include "kube/patch.h"
#include "planner/disruption/disruption.h"
#include "reconciler/stages.h"

enum { WRITE_MS = 1 * MS_SECOND }; /* counts alone are written no more often */

static const struct span VALIDATED = SPAN_INIT("ValidationSucceeded");
static const struct span CLASS_READY = SPAN_INIT("NodeClassReady");
static const struct span HEALTHY = SPAN_INIT("NodeRegistrationHealthy");

/* ---- what its nodes have ---- */

static bool belongs(const struct pass *p, const struct world_node *n, const struct node_pool *pool)
{
    return n->claim != NULL && span_eq(claim_pool_name(p, n->claim), pool->meta.name);
}

/* Capacity as far as it is known: of a Node that is not initialised the claim fills in zeros. */
static struct resources capacity_of(struct arena *a, const struct world_node *n)
{
    struct resources out = {0};
    if (n->node != NULL)
        resources_add(a, &out, n->node->capacity);
    if (n->claim == NULL || n->stage == NODE_INITIALIZED)
        return out;
    for (uint32_t i = 0; i < n->claim->capacity.count; i++) {
        amount *slot = resources_at(a, &out, n->claim->capacity.items[i].name);
        if (*slot == 0)
            *slot = n->claim->capacity.items[i].value;
    }
    return out;
}

static uint32_t add_up(const struct pass *p, const struct node_pool *pool, struct resources *out)
{
    static const sym base[] = {SYM_CPU, SYM_MEMORY, SYM_PODS, SYM_EPHEMERAL_STORAGE, SYM_NODES};
    uint32_t count = 0;
    *out = (struct resources){0};
    for (size_t i = 0; i < COUNT_OF(base); i++)
        *resources_at(p->a, out, base[i]) = 0;
    for (uint32_t i = 0; i < world_node_count(p->world); i++) {
        const struct world_node *n = world_node_at(p->world, i);
        if (n->leaving || !belongs(p, n, pool))
            continue;
        resources_add(p->a, out, capacity_of(p->a, n));
        count++;
    }
    *resources_at(p->a, out, SYM_NODES) = count;
    return count;
}

/* Added up anew when rows are other ones: of the same, room and pool are (planner/world.h). */
static uint32_t kept_usage(const struct pass *p, const struct pool_view *v, struct resources *out)
{
    struct pool_memo *m = v->memo;
    if (m->counted != p->r->views.made) {
        struct resources usage;
        m->nodes = add_up(p, v->pool, &usage);
        m->usage = (struct resources){mem_grow(m->usage.items, usage.count, sizeof(*usage.items)), usage.count};
        memcpy(m->usage.items, usage.items, usage.count * sizeof(*usage.items));
        m->counted = p->r->views.made;
    }
    *out = m->usage;
    return m->nodes;
}

uint32_t pool_usage(const struct pass *p, const struct node_pool *pool, struct resources *out)
{
    for (uint32_t i = 0; i < p->pool_count; i++) {
        struct pool_view *v = &p->pools[i];
        if (!span_eq(v->pool->meta.name, pool->meta.name))
            continue;
        return kept_usage(p, v, out);
    }
    return add_up(p, pool, out);
}

/* ---- conditions ---- */

/* Which labels are whose its provider has to say first. */
static bool can_be_validated(const struct pass *p, const struct pool_view *v)
{
    return catalogue_lists(world_catalogue(p->world), v->pool->meta.name);
}

static void validate(struct pass *p, const struct pool_view *v)
{
    struct pool_memo *m = v->memo;
    if (m->validated == v->pool->meta.generation && m->validated != 0)
        return;
    struct label_rules rules = catalogue_rules(world_catalogue(p->world));
    struct findings faults = {0};
    pool_validate(p->a, v->pool, &rules, p->syms, &faults);
    struct span text = findings_refusal(p->a, &faults);
    bool was = m->invalid;
    free((void *)(uintptr_t)m->faults.ptr);
    m->faults = (struct span){0};
    m->invalid = faults.count != 0;
    m->validated = v->pool->meta.generation;
    if (m->invalid) {
        char *copy = mem_new(text.len + 1);
        memcpy(copy, text.ptr, text.len);
        m->faults = (struct span){copy, text.len};
    }
    struct decision d = {
        .kind = DECISION_SET_ASIDE, .subject = "set aside", .warning = m->invalid, .per_hour = NAN};
    if (m->invalid)
        tell(p->r, d, "NodePool %.*s: %.*s; other pools go on", SPAN_ARG(v->pool->meta.name),
             SPAN_ARG(text));
    else if (was)
        tell(p->r, d, "NodePool %.*s is used again", SPAN_ARG(v->pool->meta.name));
}

/* What was said of this generation stays while its provider is silent. */
static void put_unvalidated(const struct pool_view *v, struct condition_set *s)
{
    const struct condition *was = conditions_find(s->list, VALIDATED);
    if (was == NULL || was->status == CONDITION_UNKNOWN || was->observed_generation != v->pool->meta.generation)
        condition_set_put(s, VALIDATED, CONDITION_UNKNOWN, SPAN("InstanceTypesUnknown"),
                          SPAN("its provider has not listed its types yet"));
}

static void put_validated(const struct pass *p, const struct pool_view *v, struct condition_set *s)
{
    if (!can_be_validated(p, v))
        put_unvalidated(v, s);
    else if (v->memo->invalid)
        condition_set_put(s, VALIDATED, CONDITION_FALSE, SPAN("NodePoolValidationFailed"), v->memo->faults);
    else
        condition_set_true(s, VALIDATED);
}

static const struct node_class *node_class_of(const struct pass *p, const struct pool_view *v)
{
    return snapshot_find(p->snapshot, v->provider->ops->node_class, (struct span){0}, v->pool->node_class.name);
}

static void put_class_ready(struct pass *p, const struct pool_view *v, struct condition_set *s)
{
    const struct node_class *class = node_class_of(p, v);
    const struct condition *ready =
        class != NULL ? conditions_find(class->conditions, SPAN("Ready")) : NULL;
    if (class == NULL)
        condition_set_put(s, CLASS_READY, CONDITION_FALSE, SPAN("NodeClassNotFound"),
                          arena_printf(p->a, "NodeClass not found on cluster: there is no %.*s %.*s",
                                       SPAN_ARG(v->pool->node_class.kind),
                                       SPAN_ARG(v->pool->node_class.name)));
    else if (class->meta.deleted != 0)
        condition_set_put(s, CLASS_READY, CONDITION_FALSE, SPAN("NodeClassTerminating"),
                          SPAN("NodeClass is Terminating"));
    else if (ready == NULL || ready->status == CONDITION_UNKNOWN)
        condition_set_put(s, CLASS_READY, CONDITION_FALSE, SPAN("NodeClassReadinessUnknown"),
                          SPAN("Node Class Readiness Unknown"));
    else if (ready->status == CONDITION_FALSE)
        condition_set_put(s, CLASS_READY, CONDITION_FALSE, ready->reason, ready->message);
    else
        condition_set_true(s, CLASS_READY);
}

/* A new generation of pool or class begins anew with Unknown. */
static void put_health(struct pass *p, const struct pool_view *v, struct condition_set *s)
{
    struct pool_memo *m = v->memo;
    const struct node_class *class = node_class_of(p, v);
    const struct condition *before = conditions_find(v->pool->conditions, HEALTHY);
    int64_t class_generation = class != NULL ? class->meta.generation : -1;
    bool changed = m->known && (m->generation != v->pool->meta.generation ||
                                m->class_generation != class_generation);
    if (!m->known && before != NULL)
        m->health =
            health_of(before->observed_generation == v->pool->meta.generation ? before->status
                                                                              : CONDITION_UNKNOWN);
    if (changed)
        m->health = (struct health){0};
    if (before == NULL || changed ||
        (!m->known && before->observed_generation != v->pool->meta.generation))
        condition_set_put(s, HEALTHY, CONDITION_UNKNOWN, SPAN("AwaitingReconciliation"),
                          SPAN("object is awaiting reconciliation"));
    m->known = true;
    m->generation = v->pool->meta.generation;
    m->class_generation = class_generation;
    enum condition_status status = health_status(&m->health);
    if (status == CONDITION_TRUE)
        condition_set_true(s, HEALTHY);
    else if (status == CONDITION_FALSE && (before == NULL || before->status != CONDITION_FALSE))
        condition_set_put(s, HEALTHY, CONDITION_FALSE, span_of(m->failure_reason), span_of(m->failure_message));
}

void pool_status_launched(struct pass *p, const struct node_claim *claim, bool ok,
                          struct span reason, struct span message)
{
    const struct node_pool *pool = pass_pool(p, claim_pool_name(p, claim));
    bool owned = false;
    for (uint32_t i = 0; pool != NULL && i < claim->meta.owners.count; i++)
        owned = owned || span_eq(claim->meta.owners.items[i].uid, pool->meta.uid);
    if (!owned)
        return;
    struct pool_memo *m = memos_at(&p->r->pools, pool->meta.uid);
    health_add(&m->health, ok);
    if (!ok) {
        snprintf(m->failure_reason, sizeof(m->failure_reason), "%.*s", SPAN_ARG(reason));
        snprintf(m->failure_message, sizeof(m->failure_message), "%.*s", SPAN_ARG(message));
    }
}

/* ---- writing ---- */

/* A merge patch forgets what it is told to: resources that no node has any more. */
static void put_resources(struct json *j, const struct pass *p, const char *key, struct resources r,
                          struct resources before)
{
    json_put_object(j, key);
    resources_put(j, r, p->syms);
    for (uint32_t i = 0; i < before.count; i++) {
        bool still = false;
        for (uint32_t k = 0; k < r.count && !still; k++)
            still = r.items[k].name == before.items[i].name;
        if (still)
            continue;
        json_key(j, pass_text(p, before.items[i].name));
        json_null_value(j);
    }
    json_object_end(j);
}

static bool same_resources(struct resources x, struct resources y)
{
    if (x.count != y.count)
        return false;
    for (uint32_t i = 0; i < x.count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < y.count && !found; k++)
            found = y.items[k].name == x.items[i].name && y.items[k].value == x.items[i].value;
        if (!found)
            return false;
    }
    return true;
}

static void write_status(struct pass *p, const struct pool_view *v, const struct condition_set *s,
                         uint32_t nodes, struct resources usage)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, p->a, s->list);
    json_put_int(&j, "nodes", nodes);
    put_resources(&j, p, "resources", usage, v->pool->status_resources);
    patch_status_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_POOL,
                            .object = &v->pool->meta,
                            .memo = &v->memo->memo,
                            .subresource = SPAN("status"),
                            .body = buf_span(&out)});
    buf_release(&out);
    v->memo->written = p->mono;
}

static void write_hash(struct pass *p, enum kind k, const struct meta *m, struct memo *memo, struct span hash)
{
    struct span body =
        hash.len != 0
            ? arena_printf(p->a,
                           "{\"metadata\":{\"annotations\":{\"karpenter.sh/nodepool-hash\":"
                           "\"%.*s\",\"karpenter.sh/nodepool-hash-version\":\"%s\"}}}",
                           SPAN_ARG(hash), NODE_POOL_HASH_VERSION)
            : arena_printf(p->a,
                           "{\"metadata\":{\"annotations\":{"
                           "\"karpenter.sh/nodepool-hash-version\":\"%s\"}}}",
                           NODE_POOL_HASH_VERSION);
    act(p, &(struct action){
               .verb = API_MERGE, .kind = k, .object = m, .memo = memo, .rests = ACT_ON_UID, .body = body});
}

/* Hash annotations; claims that carry another version are moved to ours first, so that a change of
 * the way to count never looks like drift. True when something was written. */
static bool keep_hash(struct pass *p, const struct pool_view *v)
{
    char text[24];
    struct span hash = annotations_get(v->pool->meta.annotations, SYM_NODEPOOL_HASH);
    struct span version = annotations_get(v->pool->meta.annotations, SYM_NODEPOOL_HASH_VERSION);
    bool migrate = version.len != 0 && !span_eq(version, SPAN(NODE_POOL_HASH_VERSION));
    bool waiting = false;
    node_pool_hash(v->pool, p->syms, text);
    for (uint32_t i = 0; i < p->claim_count && migrate; i++) {
        const struct claim_view *c = &p->claims[i];
        struct span has = annotations_get(c->claim->meta.annotations, SYM_NODEPOOL_HASH_VERSION);
        if (c->pool != v->pool || span_eq(has, SPAN(NODE_POOL_HASH_VERSION)))
            continue;
        waiting = true;
        struct span fresh = span_of(text);
        if (conditions_find(c->claim->conditions, SPAN("Drifted")) != NULL)
            fresh = (struct span){0}; /* it keeps its hash, and so stays drifted */
        write_hash(p, KIND_NODE_CLAIM, &c->claim->meta, &c->memo->memo, fresh);
    }
    if (waiting)
        return false;
    if (span_eq(hash, span_of(text)) && span_eq(version, SPAN(NODE_POOL_HASH_VERSION)))
        return false;
    write_hash(p, KIND_NODE_POOL, &v->pool->meta, &v->memo->memo, span_of(text));
    return true;
}

static void run_pool(struct pass *p, const struct pool_view *v)
{
    const struct node_pool *pool = v->pool;
    struct resources usage;
    if (can_be_validated(p, v))
        validate(p, v);
    if (!act_may(p, &v->memo->memo, &pool->meta))
        return;
    if (keep_hash(p, v))
        return;
    struct condition_set s =
        condition_set_of(p->a, &node_pool_conditions, &pool->meta, pool->conditions, p->wall);
    put_validated(p, v, &s);
    put_class_ready(p, v, &s);
    put_health(p, v, &s);
    uint32_t nodes = pool_usage(p, pool, &usage);
    bool counts = !pool->has_status_nodes || pool->status_nodes != nodes ||
                  !same_resources(pool->status_resources, usage);
    if (!s.changed && counts && p->mono - v->memo->written < WRITE_MS && v->memo->written != 0)
        pass_wake(p, v->memo->written + WRITE_MS);
    else if (s.changed || counts)
        write_status(p, v, &s, nodes, usage);
}

void pool_status_run(struct pass *p)
{
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].provider != NULL && p->pools[i].pool->meta.deleted == 0)
            run_pool(p, &p->pools[i]);
}

void pool_status_ready(struct pass *p, const struct node_claim *claim)
{
    const struct node_pool *pool = pass_pool(p, claim_pool_name(p, claim));
    struct pool_memo *m = pool != NULL ? memos_at(&p->r->pools, pool->meta.uid) : NULL;
    span_ms took = clock_jump_age(&p->r->jump, claim->meta.created);
    if (m != NULL && took > 0)
        m->warm_up = m->warm_up == 0 ? took : (3 * m->warm_up + took) / 4;
}

/* Who has always failed of late may still be tried: so it gets better. */
uint32_t pool_launches(const struct pass *p, struct arena *a, const struct launch_fact **out)
{
    struct launch_fact *list = ARENA_ARRAY(a, struct launch_fact, p->pool_count);
    for (uint32_t i = 0; i < p->pool_count; i++) {
        const struct pool_memo *m = p->pools[i].memo;
        list[i] = (struct launch_fact){.pool = arena_dup(a, p->pools[i].pool->meta.name),
                                       .warm_up = m->warm_up != 0 ? m->warm_up : DISRUPTION_OVERLAP_MS,
                                       .fails = (double)health_failures(&m->health) / (HEALTH_ENTRIES + 1)};
    }
    *out = list;
    return p->pool_count;
}
