/* Whether the cluster's NodePools are such as this provider and its catalogue can serve, and do what they say. */
#include "cloud/kwok.h"
#include "cloud/machine_types.h"
#include "cloud/pool_match.h"
#include "kube/pool_validate.h"
#include "kube/pool_warnings.h"
#include "server/check/check.h"
#include "server/pool_findings.h"

struct looked {
    struct check *check;
    struct symtab *syms;
    const struct node_pool **pools; /* that are ours */
    uint32_t count, capacity, others;
};

static void tell_other(struct looked *l, const struct node_pool *pool)
{
    l->others++;
    check_say(l->check->report, CHECK_WARN, "pools",
              "refer to a KWOKNodeClass, or leave the pool to its own provider's autoscaler",
              "NodePool %.*s refers to %.*s %.*s (%.*s), which Stowage does not serve: it buys nothing "
              "for the pool",
              SPAN_ARG(pool->meta.name), SPAN_ARG(pool->node_class.kind),
              SPAN_ARG(pool->node_class.name), SPAN_ARG(pool->node_class.group));
}

static void read_pools(void *user, struct doc_value list)
{
    struct looked *l = user;
    struct doc_value items;
    struct arena *a = l->check->report->a;
    if (!doc_find(list, SPAN("items"), &items))
        return;
    struct doc_iter it = doc_iter_of(items);
    while (doc_next(&it)) {
        struct node_pool *pool = ARENA_NEW(a, struct node_pool);
        struct err err;
        if (!decode_one(a, l->syms, it.value, &node_pool_schema, pool, &err))
            continue; /* who serves it says so, and goes on */
        if (kwok_serves(&pool->node_class))
            ARENA_PUSH(a, l->pools, l->count, l->capacity, pool);
        else if (!machine_class_serves(&pool->node_class)) /* whose types are no catalogue's: `plan` reads them */
            tell_other(l, pool);
    }
}

/* How many were told. */
static uint32_t tell_findings(struct looked *l, const struct node_pool *pool, const struct catalogue *catalogue)
{
    struct check_report *r = l->check->report;
    struct label_rules rules = catalogue_rules(catalogue);
    struct pool_company among = {.catalogue = catalogue, .pools = l->pools, .count = l->count};
    struct findings found = {0};
    pool_validate(r->a, pool, &rules, l->syms, &found);
    pool_warnings(r->a, pool, l->syms, &found);
    pool_findings(r->a, pool, &among, l->syms, &found);
    for (uint32_t i = 0; i < found.count; i++)
        check_say(r, found.items[i].refuses ? CHECK_FAIL : CHECK_WARN, "pools", NULL, "NodePool %.*s: %.*s: %.*s",
                  SPAN_ARG(pool->meta.name), SPAN_ARG(found.items[i].path), SPAN_ARG(found.items[i].text));
    return found.count;
}

static void match(struct looked *l)
{
    struct check *c = l->check;
    struct arena *a = c->report->a;
    struct catalogue catalogue;
    const struct pool_mismatch *found;
    catalogue_build(c->types, a, l->syms, &catalogue);
    uint32_t count = pool_match(a, l->pools, l->count, &catalogue, l->syms, &found);
    for (uint32_t i = 0; i < count; i++)
        check_say(c->report, CHECK_WARN, "pools", NULL, "NodePool %.*s%.*s",
                  SPAN_ARG(found[i].pool->meta.name), SPAN_ARG(found[i].text));
    for (uint32_t i = 0; i < l->count; i++)
        count += tell_findings(l, l->pools[i], &catalogue);
    if (count == 0 && l->others == 0 && l->count != 0)
        check_say(c->report, CHECK_OK, "pools", NULL, "%u NodePool%s: %.*s has what %s for",
                  l->count, l->count == 1 ? "" : "s", SPAN_ARG(catalogue.name),
                  l->count == 1 ? "it asks" : "they ask");
}

void check_pools(struct check *c)
{
    struct looked *l = ARENA_NEW(c->report->a, struct looked);
    struct ask *a = check_asks(c, 1);
    *l = (struct looked){.check = c, .syms = kube_symtab_new()};
    a->request = (struct api_request){.verb = API_LIST, .kind = KIND_NODE_POOL};
    a->read = read_pools;
    a->user = l;
    ask_all(c->cluster, a, 1);
    if (a->err.kind == ERR_NONE) /* else check_access has told */
        match(l);
    symtab_unref(l->syms);
}
