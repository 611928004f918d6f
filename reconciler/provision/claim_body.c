#include "reconciler/provision/claim_body.h"

#include <stdlib.h>

#include "base/json.h"

enum { NAME_MAX_BYTES = 63, HASH_LETTERS = 8, ORDINAL_ROOM = 4 };

static int by_hash(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* The same pods give the same hash, in whatever order they come. */
static uint64_t pods_hash(struct arena *a, const struct plan_claim *c)
{
    uint64_t *uids = ARENA_ARRAY(a, uint64_t, c->pod_count);
    for (uint32_t i = 0; i < c->pod_count; i++)
        uids[i] = span_hash(c->pods[i]->meta.uid);
    qsort(uids, c->pod_count, sizeof(*uids), by_hash);
    return span_hash((struct span){(const char *)uids, c->pod_count * sizeof(*uids)});
}

/* <pool>-<8 letters>; a pool's name that leaves no room for an ordinal is cut. */
static struct span name_of(struct arena *a, const struct node_pool *p, uint64_t v)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char hash[HASH_LETTERS + 1];
    struct span pool = p->meta.name;
    size_t room = NAME_MAX_BYTES - HASH_LETTERS - 1 - ORDINAL_ROOM;
    for (int i = 0; i < HASH_LETTERS; i++, v /= sizeof(letters) - 1)
        hash[i] = letters[v % (sizeof(letters) - 1)];
    hash[HASH_LETTERS] = '\0';
    if (pool.len > room)
        pool.len = room;
    while (pool.len != 0 && (pool.ptr[pool.len - 1] == '.' || pool.ptr[pool.len - 1] == '-'))
        pool.len--;
    return arena_printf(a, "%.*s-%s", SPAN_ARG(pool), hash);
}

struct span claim_name(struct arena *a, const struct plan_claim *c, uint32_t ordinal)
{
    struct span name = name_of(a, c->pool, pods_hash(a, c));
    return ordinal == 0 ? name : arena_printf(a, "%.*s-%u", SPAN_ARG(name), ordinal % 100);
}

struct span claim_name_fixed(struct arena *a, const struct node_pool *pool, uint32_t ordinal)
{
    struct span text = arena_printf(a, "%.*s/%u", SPAN_ARG(pool->meta.uid), ordinal);
    return name_of(a, pool, span_hash(text));
}

static void put_metadata(struct json *j, struct arena *a, const struct plan_claim *c,
                         const struct symtab *syms, const struct claim_extra *extra)
{
    char hash[24];
    (void)a;
    node_pool_hash(c->pool, syms, hash);
    json_put_object(j, "metadata");
    json_put_string(j, "name", extra->name);
    json_put_object(j, "labels");
    for (uint32_t i = 0; i < c->labels.count; i++) {
        json_key(j, sym_text(syms, c->labels.items[i].key));
        json_text(j, sym_text(syms, c->labels.items[i].value));
    }
    json_object_end(j);
    json_put_object(j, "annotations");
    for (uint32_t i = 0; i < c->pool->annotations.count; i++) {
        json_key(j, c->pool->annotations.items[i].key);
        json_text(j, c->pool->annotations.items[i].value);
    }
    for (uint32_t i = 0; i < c->annotations.count; i++) {
        json_key(j, c->annotations.items[i].key);
        json_text(j, c->annotations.items[i].value);
    }
    json_put_string(j, "karpenter.sh/nodepool-hash", span_of(hash));
    json_put_string(j, "karpenter.sh/nodepool-hash-version", SPAN(NODE_POOL_HASH_VERSION));
    if (extra->planned.ptr != NULL)
        json_put_string(j, "stowage.dev/planned", extra->planned);
    if (extra->replaces.ptr != NULL)
        json_put_string(j, "stowage.dev/replaces", extra->replaces);
    json_put_string(j, "stowage.dev/decision", extra->decision);
    json_object_end(j);
    json_put_array(j, "finalizers");
    json_text(j, wellknown_text[SYM_TERMINATION - 1]);
    json_array_end(j);
    json_put_array(j, "ownerReferences");
    json_object_begin(j);
    json_put_string(j, "apiVersion", wellknown_text[SYM_API_KARPENTER_V1 - 1]);
    json_put_string(j, "kind", wellknown_text[SYM_KIND_NODE_POOL - 1]);
    json_put_string(j, "name", c->pool->meta.name);
    json_put_string(j, "uid", c->pool->meta.uid);
    json_put_bool(j, "blockOwnerDeletion", true);
    json_object_end(j);
    json_array_end(j);
    json_object_end(j);
}

static void put_taints(struct json *j, const char *key, struct taints taints,
                       const struct symtab *syms)
{
    if (taints.count == 0)
        return;
    json_put_array(j, key);
    for (uint32_t i = 0; i < taints.count; i++) {
        const struct taint *t = &taints.items[i];
        json_object_begin(j);
        json_put_string(j, "key", sym_text(syms, t->key));
        if (t->value != SYM_NONE && t->value != SYM_EMPTY)
            json_put_string(j, "value", sym_text(syms, t->value));
        json_put_string(j, "effect", span_of(taint_effect_name(t->effect)));
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_requirements(struct json *j, struct arena *a, const struct plan_claim *c,
                             struct symtab *syms)
{
    struct expressions list = requirements_expressions(a, syms, &c->requirements);
    json_put_array(j, "requirements");
    for (uint32_t i = 0; i < list.count; i++) {
        const struct expression *e = &list.items[i];
        json_object_begin(j);
        json_put_string(j, "key", sym_text(syms, e->key));
        json_put_string(j, "operator", span_of(op_name(e->op)));
        if (e->values.count != 0) {
            json_put_array(j, "values");
            for (uint32_t v = 0; v < e->values.count; v++)
                json_text(j, sym_text(syms, e->values.items[v]));
            json_array_end(j);
        }
        if (e->min_values != 0)
            json_put_int(j, "minValues", e->min_values);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_requests(struct json *j, struct resources r, const struct symtab *syms)
{
    json_put_object(j, "resources");
    json_put_object(j, "requests");
    resources_put(j, r, syms);
    json_object_end(j);
    json_object_end(j);
}

static void put_spec(struct json *j, struct arena *a, const struct plan_claim *c,
                     struct symtab *syms)
{
    const struct node_pool *pool = c->pool;
    json_put_object(j, "spec");
    json_put_object(j, "nodeClassRef");
    json_put_string(j, "group", pool->node_class.group);
    json_put_string(j, "kind", pool->node_class.kind);
    json_put_string(j, "name", pool->node_class.name);
    json_object_end(j);
    put_requirements(j, a, c, syms);
    if (c->requests.count != 0)
        put_requests(j, c->requests, syms);
    put_taints(j, "taints", pool->taints, syms);
    put_taints(j, "startupTaints", pool->startup_taints, syms);
    /* Absent would be defaulted to 720h. */
    json_put_string(j, "expireAfter",
                    pool->has_expire_after ? duration_text(a, pool->expire_after) : SPAN("Never"));
    if (pool->has_grace)
        json_put_string(j, "terminationGracePeriod", duration_text(a, pool->grace));
    json_object_end(j);
}

struct span claim_body(struct arena *a, const struct plan_claim *c, struct symtab *syms,
                       const struct claim_extra *extra)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", wellknown_text[SYM_API_KARPENTER_V1 - 1]);
    json_put_string(&j, "kind", wellknown_text[SYM_KIND_NODE_CLAIM - 1]);
    put_metadata(&j, a, c, syms, extra);
    put_spec(&j, a, c, syms);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}
