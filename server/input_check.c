/* What is read without a mistake, and still not used, or not as a person may think. */
#include <stdlib.h>

#include "cloud/kwok.h"
#include "cloud/pool_match.h"
#include "kube/claim_warnings.h"
#include "kube/class_warnings.h"
#include "kube/node.h"
#include "kube/own_annotations.h"
#include "kube/pod.h"
#include "planner/supply/overlay_rivals.h"
#include "planner/supply/supply_warnings.h"
#include "server/input.h"
#include "server/pool_findings.h"

/* --- objects set aside --- */

static int by_identity(const void *a, const void *b)
{
    const struct meta *x = *(const void *const *)a, *y = *(const void *const *)b;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static int by_identity_and_order(const void *a, const void *b)
{
    int order = by_identity(a, b);
    uint32_t x = input_origin(*(const void *const *)a)->order;
    uint32_t y = input_origin(*(const void *const *)b)->order;
    return order != 0 ? order : (x > y) - (x < y);
}

/* A cluster has what a file has anew: that is what it is given for. */
static void tell_double(struct input *o, enum kind kind, const void *used, const void *other)
{
    const struct input_origin *here = input_origin(other), *there = input_origin(used);
    if ((here->line == 0 && there->line != 0) || (o->on_top != NULL && strcmp(there->file, o->on_top) == 0))
        return;
    struct span text = arena_printf(&o->arena, "%.*s: already given at %s:%u, which is used",
                                    SPAN_ARG(kind_object_name(&o->arena, kind, used)), there->file, there->line);
    input_tell(o, INPUT_WARNS, here->file, here->line, text);
}

/* The one that was read first is used. */
static void drop_doubles(struct input *o, enum kind kind)
{
    struct input_list *list = &o->kinds[kind];
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(list->items[0]), by_identity_and_order);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        const void *first = list->items[kept - 1];
        if (by_identity(&list->items[i], &first) != 0) {
            list->items[kept++] = list->items[i];
            continue;
        }
        tell_double(o, kind, first, list->items[i]);
    }
    list->count = kept;
}

/* After the doubles, so that a pool that is used wins. */
static void add_closed_pools(struct input *o)
{
    struct input_list *list = &o->kinds[KIND_NODE_POOL];
    size_t read = list->count;
    for (size_t i = 0; i < o->closed_pools.count; i++)
        if (read == 0 || bsearch(&o->closed_pools.items[i], list->items, read, sizeof(list->items[0]),
                                 by_identity) == NULL)
            ARENA_PUSH(&o->arena, list->items, list->count, list->capacity, o->closed_pools.items[i]);
    drop_doubles(o, KIND_NODE_POOL);
}

const struct node_pool *input_closed_pool(struct input *o, const struct input_origin *origin,
                                          const struct node_pool *pool, struct span why)
{
    struct node_pool *closed = input_new_object(o, origin, sizeof(*closed));
    struct condition *c = ARENA_ARRAY(&o->arena, struct condition, 2);
    c[0] = (struct condition){.type = SPAN("ValidationSucceeded"),
                              .status = CONDITION_FALSE,
                              .message = why};
    c[1] = (struct condition){.type = SPAN("Ready"), .status = CONDITION_FALSE, .message = why};
    *closed = *pool;
    closed->conditions = (struct conditions){c, 2};
    return closed;
}

/* `of` is the object itself: all begin with their metadata. */
static void tell_findings(struct input *o, enum kind kind, const struct meta *of, const struct findings *found)
{
    const struct input_origin *from = input_origin(of);
    struct span name = kind_object_name(&o->arena, kind, of);
    enum input_level more = INPUT_WARNS;
    for (uint32_t i = 0; i < found->count; i++)
        if (i < FINDINGS_SHOWN)
            input_tell(o, found->items[i].refuses ? INPUT_REFUSES : INPUT_WARNS, from->file, from->line,
                       arena_printf(&o->arena, "%.*s: %.*s: %.*s", SPAN_ARG(name), SPAN_ARG(found->items[i].path),
                                    SPAN_ARG(found->items[i].text)));
        else if (found->items[i].refuses)
            more = INPUT_REFUSES;
    if (found->count > FINDINGS_SHOWN)
        input_tell(o, more, from->file, from->line,
                   arena_printf(&o->arena, "%.*s: %.*s", SPAN_ARG(name),
                                SPAN_ARG(findings_and_more(&o->arena, found->count, found->count == FINDINGS_MAX))));
}

void input_check_pools(struct input *o, const struct catalogue *catalogue)
{
    const struct input_list *list = &o->kinds[KIND_NODE_POOL];
    const struct node_pool **pools =
        ARENA_ARRAY(&o->arena, const struct node_pool *, list->count);
    const struct pool_mismatch *found;
    for (size_t i = 0; i < list->count; i++)
        pools[i] = list->items[i];
    uint32_t count =
        pool_match(&o->arena, pools, (uint32_t)list->count, catalogue, o->syms, &found);
    for (uint32_t i = 0; i < count; i++) {
        const struct input_origin *from = input_origin(found[i].pool);
        input_tell(o, INPUT_WARNS, from->file, from->line,
                   arena_printf(&o->arena, "NodePool %.*s%.*s", SPAN_ARG(found[i].pool->meta.name),
                                SPAN_ARG(found[i].text)));
    }
    const struct input_list *pods = &o->kinds[KIND_POD];
    struct pool_company among = {catalogue, pools, list->count, (const struct pod *const *)pods->items, pods->count};
    for (size_t i = 0; i < list->count; i++) {
        struct findings of_pool = {0};
        pool_findings(&o->arena, pools[i], &among, o->syms, &of_pool);
        tell_findings(o, KIND_NODE_POOL, &pools[i]->meta, &of_pool);
    }
}

/* Node classes need not be in the files; where some are, a claim is to refer to one of them. */
void input_check_claims(struct input *o, const struct catalogue *catalogue)
{
    const struct input_list *claims = &o->kinds[KIND_NODE_CLAIM], *classes = &o->kinds[KIND_KWOK_NODE_CLASS];
    struct class_list known = {(const struct kwok_node_class *const *)classes->items, classes->count};
    for (size_t i = 0; i < claims->count; i++) {
        const struct node_claim *c = claims->items[i];
        struct findings found = {0};
        claim_warnings(&o->arena, c, o->syms, &found);
        bool odd = findings_in(&found, SPAN("spec."));
        if (c->provider_id.len == 0 && known.count != 0)
            claim_class_warnings(&o->arena, c, known, &found);
        if (c->provider_id.len == 0 && !odd && kwok_serves(&c->node_class))
            supply_warnings_of_claim(&o->arena, c, catalogue, o->syms, &found);
        tell_findings(o, KIND_NODE_CLAIM, &c->meta, &found);
    }
    for (size_t i = 0; i < classes->count; i++) {
        struct findings found = {0};
        class_warnings(&o->arena, classes->items[i], o->syms, &found);
        tell_findings(o, KIND_KWOK_NODE_CLASS, classes->items[i], &found);
    }
}

void input_check_overlays(struct input *o, const struct catalogue *catalogue)
{
    const struct input_list *list = &o->kinds[KIND_NODE_OVERLAY], *pools = &o->kinds[KIND_NODE_POOL];
    struct label_rules rules = catalogue_rules(catalogue);
    struct overlay_company among = {catalogue, (const struct node_overlay *const *)list->items, list->count,
                                    (const struct node_pool *const *)pools->items, pools->count};
    for (size_t i = 0; i < list->count; i++) {
        const struct node_overlay *overlay = list->items[i];
        struct findings found = {0};
        node_overlay_findings(&o->arena, overlay, &rules, o->syms, &found);
        own_annotations_warnings(&o->arena, overlay->meta.annotations, KIND_NODE_OVERLAY, o->syms, &found);
        overlay_rivals_warnings(&o->arena, overlay, &among, o->syms, &found);
        tell_findings(o, KIND_NODE_OVERLAY, &overlay->meta, &found);
    }
}

/* --- what nobody plans --- */

struct span input_unseen(struct input *o)
{
    const struct input_list *pods = &o->kinds[KIND_POD];
    size_t unseen = 0;
    for (size_t i = 0; i < pods->count; i++)
        unseen += pod_is_unseen(pods->items[i]);
    if (unseen == 0)
        return (struct span){NULL, 0};
    return arena_printf(&o->arena,
                        "%zu pod%s without a node %s not planned: no scheduler has looked at %s; "
                        "--all-unbound plans %s",
                        unseen, unseen == 1 ? "" : "s", unseen == 1 ? "was" : "were",
                        unseen == 1 ? "it" : "them", unseen == 1 ? "it" : "them");
}

bool input_lacks_askers(const struct input *o)
{
    static const enum kind kinds[] = {KIND_POD, KIND_DAEMON_SET, KIND_DEPLOYMENT, KIND_REPLICA_SET,
                                      KIND_STATEFUL_SET, KIND_REPLICATION_CONTROLLER, KIND_JOB,
                                      KIND_CRON_JOB, KIND_POD_TEMPLATE, KIND_CAPACITY_BUFFER};
    bool any = false;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        any |= o->set_aside[kinds[i]] != 0;
    return any;
}

struct span input_why_refused(const struct input *o, enum kind kind, struct span ns, struct span name)
{
    for (size_t i = 0; i < o->refused_count; i++) {
        const struct input_refused *r = &o->refused[i];
        if (r->kind == kind && span_eq(r->name, name) && span_eq(r->ns, ns))
            return r->why;
    }
    return (struct span){NULL, 0};
}

/* --- the whole --- */

void input_gates(struct input *o, const struct gates *gates)
{
    const struct {
        enum kind kind;
        const char *gate;
        bool on;
    } gated[] = {{KIND_NODE_OVERLAY, "NodeOverlay", gates->node_overlay},
                 {KIND_CAPACITY_BUFFER, "CapacityBuffer", gates->capacity_buffer}};
    for (size_t i = 0; i < COUNT_OF(gated); i++) {
        size_t count = o->kinds[gated[i].kind].count;
        if (gated[i].on)
            continue;
        o->set_aside[gated[i].kind] = 0;
        if (count == 0)
            continue;
        input_warn(o, arena_printf(&o->arena,
                                    "%zu %s%s without effect: the gate is off; "
                                    "--feature-gates %s=true turns it on",
                                    count, kind_info(gated[i].kind)->name, count == 1 ? "" : "s",
                                    gated[i].gate));
        o->kinds[gated[i].kind].count = 0;
    }
}

void input_check(struct input *o)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        drop_doubles(o, kind);
    add_closed_pools(o);
    if (o->passed_over != 0)
        input_warn(o, arena_printf(&o->arena, "%u object%s of other kinds passed over (%.*s)",
                                    o->passed_over, o->passed_over == 1 ? "" : "s",
                                    SPAN_ARG(o->passed_over_kinds)));
}
