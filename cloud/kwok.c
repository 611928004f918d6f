/* An operation is a chain of API requests; each reply decides on the next one. One at a time is
 * under way for an operation, so an operation needs no lock of its own; the list of operations and
 * what is sold out do.
 *
 * With a registration delay (KWOKNodeClass) create answers before the Node is there, as Karpenter's
 * does: the Node is written by the step that finds the delay over. Should the process end before
 * that, the next leader creates again for the launched claim that has no Node, and the delay starts
 * anew. */
#include "cloud/kwok.h"

#include <stdlib.h>

#include "cloud/kwok_operation.h"

static const char class_group[] = "karpenter.kwok.sh", class_kind[] = "KWOKNodeClass";

bool kwok_serves(const struct node_class_ref *ref)
{
    return span_eq(ref->kind, span_of(class_kind)) && span_eq(ref->group, span_of(class_group));
}

static uint64_t is_drifted(struct provider *p, const struct claim_order *order, machine_done *done,
                           void *user)
{
    struct machine_result r = {.syms = order->syms};
    struct kwok *k = kwok_of(p);
    pthread_mutex_lock(&k->lock);
    uint64_t id = ++k->last_id;
    pthread_mutex_unlock(&k->lock);
    done(user, &r);
    return id;
}

static struct kwok_choice offering_at(const struct kwok *k, uint32_t i, uint32_t o)
{
    const struct instance_type *type = &k->types.items[i];
    const struct requirements *r = &type->offerings[o].requirements;
    const struct requirement *zone = requirements_get(r, SYM_ZONE);
    const struct requirement *capacity = requirements_get(r, SYM_CAPACITY_TYPE);
    struct kwok_choice c = {.type = type, .offering = &type->offerings[o]};
    if (zone != NULL && zone->count == 1)
        c.zone = sym_text(k->syms, zone->values[0]);
    if (capacity != NULL && capacity->count == 1)
        c.capacity_type = sym_text(k->syms, capacity->values[0]);
    return c;
}

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out,
                  struct err *err)
{
    struct kwok *k = kwok_of(p);
    (void)err;
    catalogue_build(k->config.types, a, syms, out);
    pthread_mutex_lock(&k->lock);
    for (uint32_t i = 0; i < out->count && (k->sold_count != 0 || k->listed != NULL); i++)
        for (uint32_t o = 0; o < out->items[i].offering_count; o++) {
            /* Both catalogues are of one source: the same indices mean the same. */
            struct kwok_choice c = offering_at(k, i, o);
            out->items[i].offerings[o].price = c.offering->price;
            if (kwok_is_sold_out(k, &c))
                out->items[i].offerings[o].available = false;
        }
    pthread_mutex_unlock(&k->lock);
    return true;
}

/* Under the lock. */
static void list_prices(struct kwok *k)
{
    uint32_t count = 0, n = 0;
    for (uint32_t i = 0; i < k->types.count; i++)
        count += k->types.items[i].offering_count;
    k->listed = ARENA_ARRAY(&k->arena, double, count + 1);
    for (uint32_t i = 0; i < k->types.count; i++)
        for (uint32_t o = 0; o < k->types.items[i].offering_count; o++)
            k->listed[n++] = k->types.items[i].offerings[o].price;
}

void kwok_reprice(struct provider *p,
                  double (*price)(void *user, struct span type, struct span zone, struct span capacity_type,
                                  double listed),
                  void *user)
{
    struct kwok *k = kwok_of(p);
    uint32_t n = 0;
    pthread_mutex_lock(&k->lock);
    if (k->listed == NULL)
        list_prices(k);
    for (uint32_t i = 0; i < k->types.count; i++)
        for (uint32_t o = 0; o < k->types.items[i].offering_count; o++) {
            struct kwok_choice c = offering_at(k, i, o);
            k->types.items[i].offerings[o].price =
                price(user, c.type->name, c.zone, c.capacity_type, k->listed[n++]);
        }
    k->generation++;
    pthread_mutex_unlock(&k->lock);
    if (k->config.wake != NULL)
        k->config.wake(k->config.user);
}

static uint64_t generation(struct provider *p)
{
    struct kwok *k = kwok_of(p);
    pthread_mutex_lock(&k->lock);
    uint64_t g = k->generation;
    pthread_mutex_unlock(&k->lock);
    return g;
}

static void cancel(struct provider *p, uint64_t operation)
{
    struct kwok *k = kwok_of(p);
    uint64_t request = 0;
    pthread_mutex_lock(&k->lock);
    for (struct operation *o = k->operations; o != NULL; o = o->next)
        if (o->id == operation && !o->answered) {
            o->cancelled = true;
            request = o->request;
        }
    pthread_mutex_unlock(&k->lock);
    if (request != 0)
        k->config.api->ops->cancel(k->config.api, request);
}

static mono_ms forget_sold_out(struct kwok *k, mono_ms now)
{
    mono_ms next = INT64_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < k->sold_count; i++)
        if (k->sold[i].until > now) {
            next = k->sold[i].until < next ? k->sold[i].until : next;
            k->sold[kept++] = k->sold[i];
        }
    k->generation += kept != k->sold_count;
    k->sold_count = kept;
    return next;
}

static mono_ms step(struct provider *p, mono_ms now)
{
    struct kwok *k = kwok_of(p);
    struct operation *due;
    mono_ms next;
    do {
        due = NULL;
        pthread_mutex_lock(&k->lock);
        k->now = now;
        next = forget_sold_out(k, now);
        for (struct operation *o = k->operations; o != NULL; o = o->next)
            if (o->due != 0 && o->due <= now)
                due = o;
            else if (o->due != 0 && o->due < next)
                next = o->due;
        if (due != NULL)
            due->due = 0;
        pthread_mutex_unlock(&k->lock);
        if (due != NULL)
            kwok_create_due(due);
    } while (due != NULL);
    return next;
}

static void free_kwok(struct provider *p)
{
    struct kwok *k = kwok_of(p);
    while (k->operations != NULL) {
        struct operation *o = k->operations;
        k->operations = o->next;
        operation_free(o);
    }
    pthread_mutex_destroy(&k->lock);
    catalogue_source_free(k->config.types);
    arena_release(&k->arena);
    symtab_unref(k->syms);
    free(k->sold);
    free(k);
}

static const struct repair_policies *repair(struct provider *p, struct span *violations_out)
{
    struct kwok *k = kwok_of(p);
    *violations_out = k->violations;
    return k->violations.len == 0 ? &k->repair : NULL;
}

/* Where the catalogue says nothing: as Karpenter v1.15.0's kwok has them. The KWOK… conditions are faults for trying it. */
static void make_repair(struct kwok *k)
{
    static struct repair_text own[] = {
        {SPAN_INIT("Ready"), SPAN_INIT("False"), {0}, SPAN_INIT("10m0s"), SPAN_INIT("0s"), SPAN_INIT("ReplaceNode"), 0},
        {SPAN_INIT("Ready"), SPAN_INIT("Unknown"), SPAN_INIT(".*"), SPAN_INIT("10m0s"), SPAN_INIT("0s"),
         SPAN_INIT("ReplaceNode"), 0},
        {SPAN_INIT("KWOKUnhealthy"), SPAN_INIT("True"), SPAN_INIT(".*"), SPAN_INIT("30s"), SPAN_INIT("45s"),
         SPAN_INIT("ReplaceNode"), 0},
        {SPAN_INIT("KWOKRebootRequired"), SPAN_INIT("True"), SPAN_INIT(".*"), SPAN_INIT("30s"), SPAN_INIT("1m0s"),
         SPAN_INIT("RebootNode"), 0},
    };
    struct repair_texts texts = catalogue_repair(k->config.types, &k->arena);
    struct buf violations = {0};
    if (texts.count == 0)
        texts = (struct repair_texts){own, COUNT_OF(own)};
    if (!repair_policies_make(&k->arena, &texts, &k->repair, &violations))
        k->violations = arena_dup(&k->arena, buf_span(&violations));
    buf_release(&violations);
}

struct provider *kwok_new(const struct kwok_config *config)
{
    static const struct provider_ops ops = {
        .name = "kwok",
        /* All it does are requests to the API server, each of which comes back within a minute, an error as a rule
         * (kube/client_limits.h CLIENT_TRIES_MS): the operations are waited for as long as all that they are made of, so
         * that the request's own error is what is told. After a create a launch has a minute left of its 5. */
        .limits = {.patience = {[PROVIDER_CREATE] = 4 * MS_MINUTE, /* class, claim, Node, the one that was there */
                                [PROVIDER_REMOVE] = 2 * MS_MINUTE + 30 * MS_SECOND,
                                [PROVIDER_GET] = 90 * MS_SECOND,
                                [PROVIDER_LIST] = 5 * MS_MINUTE,         /* page by page */
                                [PROVIDER_IS_DRIFTED] = 30 * MS_SECOND, /* answered within the call */
                                [PROVIDER_REBOOT] = 90 * MS_SECOND},
                   /* a burst of launches is 1,000; an operation holds some 4 KB, and the client queues what it sends */
                   .calls = 2048},
        .node_class = KIND_KWOK_NODE_CLASS,
        .node_class_group = class_group,
        .node_class_kind = class_kind,
        .types = types,
        .generation = generation,
        .create = kwok_create,
        .remove = kwok_remove,
        .get = kwok_get,
        .list = kwok_list,
        .is_drifted = is_drifted,
        .repair = repair,
        .reboot = kwok_reboot,
        .cancel = cancel,
        .step = step,
        .free = free_kwok,
    };
    struct kwok *k = mem_new(sizeof(*k));
    k->provider.ops = &ops;
    k->config = *config;
    arena_init(&k->arena, 0);
    k->syms = kube_symtab_new();
    pthread_mutex_init(&k->lock, NULL);
    k->generation = 1;
    catalogue_build(k->config.types, &k->arena, k->syms, &k->types);
    make_repair(k);
    return &k->provider;
}
