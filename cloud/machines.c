#include "cloud/machines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "cloud/catalogue.h"
#include "cloud/groups/cluster_api_inner.h"
#include "cloud/kwok_machine.h"
#include "cloud/machines_inner.h"

/* ---- a snapshot ---- */

struct snapshot *machines_snapshot(struct machines *c)
{
    static const enum kind needed[] = {KIND_NODE_POOL, KIND_CLUSTER_API_NODE_CLASS, KIND_MACHINE_DEPLOYMENT, KIND_MACHINE};
    struct snapshot *s = c->snapshots != NULL ? (struct snapshot *)share_take(c->snapshots) : NULL;
    for (size_t i = 0; s != NULL && i < COUNT_OF(needed); i++)
        if (!s->state[needed[i]].synced) {
            shared_unref(&s->shared);
            s = NULL;
        }
    return s;
}

static int by_place(const void *x, const void *y)
{
    const struct meta *a = *(const struct meta *const *)x, *b = *(const struct meta *const *)y; /* what objects begin with */
    int order = span_cmp(a->ns, b->ns);
    return order != 0 ? order : span_cmp(a->name, b->name);
}

const void **machines_sorted(const struct snapshot *s, enum kind k, struct arena *a, size_t *count_out)
{
    struct snapshot_iter it = snapshot_each(s, k);
    const void **list = ARENA_ARRAY(a, const void *, s->state[k].count + 1), *o;
    size_t count = 0;
    while (count < s->state[k].count && (o = snapshot_next(&it)) != NULL)
        list[count++] = o;
    if (count != 0)
        qsort(list, count, sizeof(*list), by_place);
    *count_out = count;
    return list;
}

static struct span annotation(const struct snapshot *s, const struct meta *m, struct span key)
{
    sym k = sym_find(s->syms, key);
    return k != SYM_NONE ? annotations_get(m->annotations, k) : (struct span){NULL, 0};
}

struct span machines_owner(const struct snapshot *s, const struct cluster_machine *m)
{
    return annotation(s, &m->meta, wellknown_text[SYM_CLAIM_UID - 1]);
}

static bool is_member(const struct snapshot *s, const struct cluster_machine *m)
{
    sym label = sym_find(s->syms, SPAN(MACHINE_MEMBER_LABEL));
    return label != SYM_NONE && sym_pairs_get(m->meta.labels, label) != SYM_NONE;
}

bool machines_is_of(const struct machine_group *g, const struct cluster_machine *m)
{
    return span_eq(g->meta.ns, m->meta.ns) && label_selector_matches(&g->selector, m->meta.labels) &&
           (g->cluster.len == 0 || m->cluster.len == 0 || span_eq(g->cluster, m->cluster));
}

bool machines_is_marked(const struct snapshot *s, const struct cluster_machine *m)
{
    return span_eq(annotation(s, &m->meta, SPAN(CAPI_DELETE_KEY)), SPAN(CAPI_MARK));
}

bool machines_is_free(const struct snapshot *s, const struct cluster_machine *m)
{
    return m->meta.deleted == 0 && !is_member(s, m) && machines_owner(s, m).ptr == NULL &&
           annotation(s, &m->meta, SPAN(CAPI_DELETE_KEY)).ptr == NULL;
}

bool machines_has_failed(const struct cluster_machine *m)
{
    return span_eq(m->phase, SPAN("Failed")) && m->node.len == 0;
}

const struct cluster_machine *machines_own(const struct snapshot *s, struct span claim_uid, struct span provider_id)
{
    struct snapshot_iter it = snapshot_each(s, KIND_MACHINE);
    for (const struct cluster_machine *m; (m = snapshot_next(&it)) != NULL;) {
        struct span uid = machines_owner(s, m);
        if (uid.ptr != NULL ? uid.len != 0 && span_eq(uid, claim_uid)
                            : provider_id.len != 0 && is_member(s, m) && span_eq(m->provider_id, provider_id))
            return m;
    }
    return NULL;
}

/* ---- full ones ---- */

bool machines_is_full(const struct machines *c, struct span ns, struct span name)
{
    const struct machines_full *f = c->full;
    while (f != NULL && !(span_eq(f->ns, ns) && span_eq(f->name, name)))
        f = f->next;
    return f != NULL;
}

void machines_note_full(struct machines *c, struct span ns, struct span name)
{
    if (machines_is_full(c, ns, name))
        return;
    struct machines_full *f = mem_new(sizeof(*f) + ns.len + name.len);
    char *text = (char *)(f + 1);
    memcpy(text, ns.ptr, ns.len);
    memcpy(text + ns.len, name.ptr, name.len);
    f->ns = (struct span){text, ns.len};
    f->name = (struct span){text + ns.len, name.len};
    f->until = c->now + MACHINES_SOLD_OUT_MS;
    f->next = c->full;
    c->full = f;
    c->fulls++;
}

/* ---- calls ---- */

static struct machines_work *work_new(struct machines *c, machine_done *done, void *user)
{
    struct machines_work *w = mem_new(sizeof(*w));
    arena_init(&w->arena, 0);
    w->of = c;
    w->done = done;
    w->user = user;
    w->syms = kube_symtab_new();
    pthread_mutex_lock(&c->lock);
    w->id = ++c->last_id;
    w->next = c->works;
    w->link = &c->works;
    if (w->next != NULL)
        w->next->link = &w->next;
    c->works = w;
    pthread_mutex_unlock(&c->lock);
    return w;
}

static void work_free(struct machines_work *w)
{
    symtab_unref(w->syms);
    arena_release(&w->arena);
    free(w);
}

static void answer(struct machines_work *w, const struct machine_result *r)
{
    pthread_mutex_lock(&w->of->lock);
    *w->link = w->next;
    if (w->next != NULL)
        w->next->link = w->link;
    pthread_mutex_unlock(&w->of->lock);
    w->done(w->user, r);
    work_free(w);
}

void machines_finish(struct machines_work *w, const struct machine *list, size_t count)
{
    answer(w, &(struct machine_result){.machines = list, .count = count, .syms = w->syms});
}

void machines_fail(struct machines_work *w, enum err_kind kind, const char *format, ...)
{
    struct machine_result r = {.err = {.kind = kind}, .syms = w->syms};
    va_list args;
    va_start(args, format);
    vsnprintf(r.err.msg, sizeof(r.err.msg), format, args);
    va_end(args);
    answer(w, &r);
}

/* What went wrong on the way leaves it open whether it was written. */
void machines_refused(struct machines_work *w, const struct api_result *r, const char *doing)
{
    struct machine_result out = {.err = r->err, .syms = w->syms};
    if (out.err.kind == ERR_CONFLICT || out.err.kind == ERR_NOT_FOUND || (r->status == 0 && out.err.kind != ERR_CANCELLED))
        out.err.kind = ERR_RETRY; /* for the reconciler those two have another meaning */
    err_wrap(&out.err, "%s %.*s/%.*s", doing, SPAN_ARG(w->ns), SPAN_ARG(w->name));
    answer(w, &out);
}

void machines_send(struct machines_work *w, struct api_request request, api_done *done)
{
    struct machines *c = w->of;
    uint64_t call = w->id;
    request.is_act = true;
    /* The reply may come, and the call end, before api_send returns. */
    uint64_t id = api_send(c->config.api, &request, done, w);
    pthread_mutex_lock(&c->lock);
    for (struct machines_work *i = c->works; i != NULL; i = i->next)
        if (i->id == call && i->sending)
            i->request = id;
    pthread_mutex_unlock(&c->lock);
}

void machines_wake(const struct machines *c)
{
    if (c->config.wake != NULL)
        c->config.wake(c->config.user);
}

/* ---- what there is ---- */

struct supply_view {
    const struct snapshot *s;
    const void **machines;
    size_t machine_count;
};

static bool has_spare(void *user, const struct machine_group *g)
{
    const struct supply_view *v = user;
    for (size_t i = 0; i < v->machine_count; i++)
        if (machines_is_of(g, v->machines[i]) && machines_is_free(v->s, v->machines[i]) &&
            !machines_has_failed(v->machines[i]))
            return true;
    return false;
}

struct asides {
    struct arena *a;
    struct span *items;
    uint32_t count, capacity;
};

static void note_aside(void *user, struct span text)
{
    struct asides *x = user;
    ARENA_PUSH(x->a, x->items, x->count, x->capacity, text);
}

static void tell_asides(struct machines *c, const struct asides *x)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < x->count; i++)
        hash = hash * 31 + span_hash(x->items[i]);
    pthread_mutex_lock(&c->lock);
    bool same = c->told == hash;
    c->told = hash;
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < x->count && !same && c->config.aside != NULL; i++)
        c->config.aside(c->config.user, x->items[i]);
}

/* Offers live as long as the snapshot. */
static void list_types(struct machines *c, const struct snapshot *s, struct arena *a, struct symtab *syms, struct catalogue *out,
                       const struct machine_offer *const *const **offers_out, struct asides *asides)
{
    struct supply_view v = {.s = s};
    struct machine_supply from = {.syms = s->syms, .spare = has_spare, .spare_user = &v};
    struct catalogue prices;
    struct symtab *price_syms = kube_symtab_new();
    from.classes = (const void *)machines_sorted(s, KIND_CLUSTER_API_NODE_CLASS, a, &from.class_count);
    from.deployments = (const void *)machines_sorted(s, KIND_MACHINE_DEPLOYMENT, a, &from.deployment_count);
    from.pools = (const void *)machines_sorted(s, KIND_NODE_POOL, a, &from.pool_count);
    v.machines = machines_sorted(s, KIND_MACHINE, a, &v.machine_count);
    if (c->config.prices != NULL) {
        catalogue_build(c->config.prices, a, price_syms, &prices);
        from.prices = &prices;
        from.price_syms = price_syms;
    }
    machine_types(a, &from, syms, asides != NULL ? note_aside : NULL, asides, out, offers_out);
    symtab_unref(price_syms);
}

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out, struct err *err)
{
    struct machines *c = machines_of(p);
    struct snapshot *s = machines_snapshot(c);
    const struct machine_offer *const *const *offers;
    struct asides asides = {.a = a};
    (void)err;
    if (s == NULL) { /* what comes will be of another generation */
        machine_types(a, &(struct machine_supply){.syms = syms}, syms, NULL, NULL, out, NULL);
        out->partial = true;
        return true;
    }
    list_types(c, s, a, syms, out, &offers, &asides);
    tell_asides(c, &asides);
    pthread_mutex_lock(&c->lock);
    for (uint32_t t = 0; t < out->count; t++)
        for (uint32_t o = 0; o < out->items[t].offering_count; o++)
            out->items[t].offerings[o].available &=
                !machines_is_full(c, offers[t][o]->group->meta.ns, offers[t][o]->group->meta.name);
    pthread_mutex_unlock(&c->lock);
    shared_unref(&s->shared);
    return true;
}

static uint64_t mix(uint64_t h, uint64_t more)
{
    return (h ^ more) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
}

static uint64_t hash_pairs(uint64_t h, struct sym_pairs pairs)
{
    for (uint32_t i = 0; i < pairs.count; i++)
        h = mix(mix(h, pairs.items[i].key), pairs.items[i].value);
    return h;
}

static bool is_available(const struct supply_view *v, const struct machine_group *g)
{
    int32_t min, max;
    struct err err;
    if (capi_annotation(g, v->s->syms, SPAN(CAPI_MAX_KEY)).ptr == NULL)
        return true;
    return capi_bounds(g, v->s->syms, &min, &max, &err) && (g->replicas < max || has_spare((void *)(uintptr_t)v, g));
}

/* Of all that a MachineDeployment's type is made of: neither its size nor its status. */
static uint64_t hash_group(const struct supply_view *v, const struct machine_group *g)
{
    uint64_t h = mix(span_hash(g->meta.uid), span_hash(g->meta.name));
    h = mix(h, (g->meta.deleted != 0 ? 2U : 0U) + (is_available(v, g) ? 1U : 0U));
    for (uint32_t i = 0; i < g->meta.annotations.count; i++)
        h = mix(mix(h, g->meta.annotations.items[i].key), span_hash(g->meta.annotations.items[i].value));
    h = hash_pairs(hash_pairs(h, g->meta.labels), g->machine_labels);
    for (uint32_t i = 0; i < g->taints.count; i++)
        h = mix(mix(h, g->taints.items[i].key), (uint64_t)g->taints.items[i].effect);
    return h;
}

static uint64_t hash_plain(const struct snapshot *s, enum kind k)
{
    struct snapshot_iter it = snapshot_each(s, k);
    uint64_t sum = 0;
    for (const struct meta *m; (m = snapshot_next(&it)) != NULL;) /* what objects begin with */
        sum += mix(span_hash(m->uid), span_hash(m->name) + (uint64_t)m->generation);
    return sum;
}

/* A list that is another makes the planner's world anew, so that it moves for nothing less. */
static uint64_t generation(struct provider *p)
{
    struct machines *c = machines_of(p);
    struct snapshot *s = machines_snapshot(c);
    struct supply_view v = {.s = s};
    struct arena a;
    pthread_mutex_lock(&c->lock);
    uint64_t g = 1 + c->fulls;
    pthread_mutex_unlock(&c->lock);
    if (s == NULL)
        return g;
    arena_init(&a, 0);
    v.machines = machines_sorted(s, KIND_MACHINE, &a, &v.machine_count);
    g = mix(g, mix(hash_plain(s, KIND_NODE_POOL), hash_plain(s, KIND_CLUSTER_API_NODE_CLASS)));
    struct snapshot_iter it = snapshot_each(s, KIND_MACHINE_DEPLOYMENT);
    for (const struct machine_group *group; (group = snapshot_next(&it)) != NULL;)
        g += hash_group(&v, group);
    arena_release(&a);
    shared_unref(&s->shared);
    return g;
}

/* ---- create ---- */

static void put_label(struct arena *a, struct plain_labels *l, uint32_t *capacity, struct span key, struct span value)
{
    struct plain_label one = {arena_dup(a, key), arena_dup(a, value)};
    ARENA_PUSH(a, l->items, l->count, *capacity, one);
}

/* What the claim will get. `type`: as the claim knows it. */
static void promise(struct machines_work *w, const struct machine_offer *o, struct span type, const struct symtab *syms)
{
    struct machine *m = &w->machine;
    uint32_t capacity = 0;
    w->ns = arena_dup(&w->arena, o->group->meta.ns);
    w->group = arena_dup(&w->arena, o->group->meta.name);
    for (uint32_t i = 0; i < o->node->meta.labels.count; i++) {
        const struct sym_pair *l = &o->node->meta.labels.items[i];
        if (l->key != SYM_INSTANCE_TYPE && l->key != SYM_CAPACITY_TYPE && l->key != SYM_ZONE)
            put_label(&w->arena, &m->labels, &capacity, sym_text(syms, l->key), sym_text(syms, l->value));
    }
    put_label(&w->arena, &m->labels, &capacity, wellknown_text[SYM_INSTANCE_TYPE - 1], type);
    put_label(&w->arena, &m->labels, &capacity, wellknown_text[SYM_CAPACITY_TYPE - 1], sym_text(syms, o->capacity_type));
    put_label(&w->arena, &m->labels, &capacity, wellknown_text[SYM_ZONE - 1], sym_text(syms, o->zone));
    for (uint32_t i = 0; i < o->node->capacity.count; i++)
        *resources_at(&w->arena, &m->capacity, sym_intern(w->syms, sym_text(syms, o->node->capacity.items[i].name))) =
            o->node->capacity.items[i].value;
    m->allocatable = resources_dup(&w->arena, m->capacity);
}

struct choosing {
    const struct machines *c;
    const struct catalogue *types;
    const struct machine_offer *const *const *offers;
    struct span pool;
};

static const struct machine_offer *offer_of(const struct choosing *x, const struct instance_type *t, const struct offering *o)
{
    return x->offers[t - x->types->items][o - t->offerings];
}

static bool is_out(void *user, const struct kwok_choice *k)
{
    const struct choosing *x = user;
    const struct machine_group *g = offer_of(x, k->type, k->offering)->group;
    return !span_eq(k->type->node_pools.items[0], x->pool) || machines_is_full(x->c, g->meta.ns, g->meta.name);
}

/* The one that made the Machine, for this pool if it is offered to it. */
static bool find_maker(const struct choosing *x, const struct cluster_machine *m, struct kwok_choice *out)
{
    bool found = false;
    for (uint32_t t = 0; t < x->types->count; t++)
        for (uint32_t o = 0; o < x->types->items[t].offering_count; o++) {
            bool ours = span_eq(x->types->items[t].node_pools.items[0], x->pool);
            if (!machines_is_of(x->offers[t][o]->group, m) || (found && !ours))
                continue;
            *out = (struct kwok_choice){.type = &x->types->items[t], .offering = &x->types->items[t].offerings[o]};
            if (ours)
                return true;
            found = true;
        }
    return found;
}

static bool choose(struct machines_work *w, const struct snapshot *s, const struct claim_order *order, struct err *err)
{
    struct machines *c = w->of;
    struct symtab *syms = kube_symtab_new();
    struct catalogue list;
    struct arena a;
    struct kwok_choice k;
    const struct cluster_machine *own = machines_own(s, order->claim->meta.uid, order->claim->provider_id);
    struct choosing x = {.c = c, .types = &list,
                         .pool = sym_text(order->syms, sym_pairs_get(order->claim->meta.labels, SYM_NODEPOOL))};
    arena_init(&a, 0);
    list_types(c, s, &a, syms, &list, &x.offers, NULL);
    pthread_mutex_lock(&c->lock);
    bool ok = own != NULL ? find_maker(&x, own, &k) : kwok_choose(&a, order->claim, order->syms, &list, syms, is_out, &x, &k, err);
    pthread_mutex_unlock(&c->lock);
    if (ok)
        promise(w, offer_of(&x, k.type, k.offering), k.type->name, syms);
    else if (own == NULL && err->kind == ERR_INVALID) /* its types are of MachineDeployments that are not there any more */
        err->kind = ERR_CAPACITY;
    arena_release(&a);
    symtab_unref(syms);
    return ok || own != NULL;
}

static const struct condition *not_ready(const struct cluster_api_node_class *class)
{
    const struct condition *ready = conditions_find(class->conditions, SPAN("Ready"));
    return ready != NULL && ready->status == CONDITION_FALSE ? ready : NULL;
}

static void begin_create(struct machines_work *w, const struct snapshot *s, const struct claim_order *order)
{
    const struct node_claim *claim = order->claim;
    const struct cluster_api_node_class *class =
        snapshot_find(s, KIND_CLUSTER_API_NODE_CLASS, (struct span){NULL, 0}, claim->node_class.name);
    bool owns = machines_own(s, claim->meta.uid, claim->provider_id) != NULL;
    struct err err;
    w->machine.claim_name = arena_dup(&w->arena, claim->meta.name);
    w->machine.claim_uid = arena_dup(&w->arena, claim->meta.uid);
    if (claim->provider_id.len != 0 && !owns)
        machines_fail(w, ERR_NOT_FOUND, "the Machine of %.*s is gone", SPAN_ARG(claim->provider_id));
    else if (class == NULL && !owns)
        machines_fail(w, ERR_CAPACITY, "ClusterAPINodeClass %.*s not found", SPAN_ARG(claim->node_class.name));
    else if (class != NULL && !owns && not_ready(class) != NULL)
        machines_fail(w, ERR_CONFLICT, "ClusterAPINodeClass %.*s: %.*s", SPAN_ARG(class->meta.name),
                      SPAN_ARG(not_ready(class)->message));
    else if (!choose(w, s, order, &err))
        machines_fail(w, err.kind, "%s", err.msg);
    else {
        w->machine.provider_id = arena_dup(&w->arena, claim->provider_id);
        w->waits = true;
        machines_wake(w->of);
    }
}

static uint64_t create(struct provider *p, const struct claim_order *order, machine_done *done, void *user)
{
    struct machines *c = machines_of(p);
    struct machines_work *w = work_new(c, done, user);
    struct snapshot *s = machines_snapshot(c);
    uint64_t id = w->id;
    if (s == NULL) {
        machines_fail(w, ERR_RETRY, "the MachineDeployments and Machines are not listed yet");
        return id;
    }
    begin_create(w, s, order);
    shared_unref(&s->shared);
    return id;
}

/* ---- remove, get, list ---- */

static void on_marked(void *user, const struct api_result *r)
{
    struct machines_work *w = user;
    w->sending = false;
    if (r->err.kind == ERR_NOT_FOUND) {
        machines_fail(w, ERR_NOT_FOUND, "the Machine is gone");
    } else if (r->err.kind != ERR_NONE) {
        machines_refused(w, r, "marking Machine");
    } else {
        machines_wake(w->of);
        machines_finish(w, NULL, 0);
    }
}

static struct span mark_body(struct arena *a, struct span uid)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_string(&j, "uid", uid);
    json_put_object(&j, "annotations");
    json_put_string(&j, CAPI_DELETE_KEY, SPAN(CAPI_MARK));
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

static uint64_t remove_machine(struct provider *p, struct span provider_id, struct span claim_uid, machine_done *done,
                               void *user)
{
    struct machines *c = machines_of(p);
    struct machines_work *w = work_new(c, done, user);
    struct snapshot *s = machines_snapshot(c);
    const struct cluster_machine *m = s != NULL ? machines_own(s, claim_uid, provider_id) : NULL;
    uint64_t id = w->id;
    pthread_mutex_lock(&c->lock);
    c->leaving = true;
    pthread_mutex_unlock(&c->lock);
    if (s == NULL) {
        machines_fail(w, ERR_RETRY, "the Machines are not listed yet");
    } else if (m == NULL) {
        machines_fail(w, ERR_NOT_FOUND, "the Machine is gone");
    } else if (m->meta.deleted != 0 || machines_is_marked(s, m)) {
        machines_wake(c);
        machines_finish(w, NULL, 0);
    } else {
        w->ns = arena_dup(&w->arena, m->meta.ns);
        w->name = arena_dup(&w->arena, m->meta.name);
        w->sending = true;
        machines_send(w,
                      (struct api_request){.verb = API_MERGE, .kind = KIND_MACHINE, .ns = w->ns, .name = w->name,
                                           .body = mark_body(&w->arena, m->meta.uid)},
                      on_marked);
    }
    if (s != NULL)
        shared_unref(&s->shared);
    return id;
}

static struct machine tell(struct machines_work *w, const struct snapshot *s, const struct cluster_machine *m)
{
    return (struct machine){.provider_id = arena_dup(&w->arena, m->provider_id),
                            .node_name = arena_dup(&w->arena, m->node),
                            .claim_uid = arena_dup(&w->arena, machines_owner(s, m)),
                            .claim_name = arena_dup(&w->arena, annotation(s, &m->meta, SPAN(MACHINES_NAME_KEY))),
                            .deleting = m->meta.deleted != 0};
}

static uint64_t look_over(struct provider *p, bool all, struct span provider_id, machine_done *done, void *user)
{
    struct machines *c = machines_of(p);
    struct machines_work *w = work_new(c, done, user);
    struct snapshot *s = machines_snapshot(c);
    uint64_t id = w->id;
    if (s == NULL) {
        machines_fail(w, ERR_RETRY, "the Machines are not listed yet");
        return id;
    }
    struct snapshot_iter it = snapshot_each(s, KIND_MACHINE);
    struct machine *list = ARENA_ARRAY(&w->arena, struct machine, s->state[KIND_MACHINE].count + 1);
    size_t count = 0;
    for (const struct cluster_machine *m; count < s->state[KIND_MACHINE].count && (m = snapshot_next(&it)) != NULL;)
        if ((machines_owner(s, m).len != 0 || is_member(s, m)) &&
            (all || (m->meta.deleted == 0 && span_eq(m->provider_id, provider_id))))
            list[count++] = tell(w, s, m);
    if (all || count == 1)
        machines_finish(w, list, count);
    else
        machines_fail(w, ERR_NOT_FOUND, "no Machine of a NodeClaim has the providerID %.*s", SPAN_ARG(provider_id));
    shared_unref(&s->shared);
    return id;
}

static uint64_t get(struct provider *p, struct span provider_id, machine_done *done, void *user)
{
    return look_over(p, false, provider_id, done, user);
}

static uint64_t list(struct provider *p, machine_done *done, void *user)
{
    return look_over(p, true, (struct span){NULL, 0}, done, user);
}

/* ---- drift ---- */

static void unheard(void *user, struct span text)
{
    (void)user;
    (void)text;
}

static bool breaks_promise(const struct machine_group *g, const struct snapshot *s, const struct claim_order *order)
{
    struct symtab *syms = kube_symtab_new();
    struct arena a;
    bool broken = false;
    arena_init(&a, 0);
    struct capi_telling t = {.a = &a, .from = s->syms, .to = syms, .group = g, .arch = SPAN("amd64"), .aside = unheard};
    struct sym_pairs now = capi_node_labels(&t);
    for (uint32_t i = 0; i < now.count && !broken; i++) {
        sym key = sym_find(order->syms, sym_text(syms, now.items[i].key));
        sym has = key != SYM_NONE ? sym_pairs_get(order->claim->meta.labels, key) : SYM_NONE;
        broken = has != SYM_NONE && key != SYM_INSTANCE_TYPE && !span_eq(sym_text(order->syms, has), sym_text(syms, now.items[i].value));
    }
    arena_release(&a);
    symtab_unref(syms);
    return broken;
}

static struct span drift_of(const struct snapshot *s, const struct claim_order *order)
{
    const struct cluster_machine *own = machines_own(s, order->claim->meta.uid, order->claim->provider_id);
    const struct cluster_api_node_class *class =
        snapshot_find(s, KIND_CLUSTER_API_NODE_CLASS, (struct span){NULL, 0}, order->claim->node_class.name);
    struct snapshot_iter it = snapshot_each(s, KIND_MACHINE_DEPLOYMENT);
    const struct machine_group *g = NULL;
    if (own == NULL || class == NULL)
        return (struct span){NULL, 0};
    while ((g = snapshot_next(&it)) != NULL && !machines_is_of(g, own))
        ;
    if (g == NULL || !label_selector_matches(&class->selector, g->meta.labels))
        return SPAN("NodeClassDrifted");
    return breaks_promise(g, s, order) ? SPAN("MachineDeploymentDrifted") : (struct span){NULL, 0};
}

static uint64_t is_drifted(struct provider *p, const struct claim_order *order, machine_done *done, void *user)
{
    struct machines *c = machines_of(p);
    struct machine_result r = {.syms = order->syms};
    struct snapshot *s = machines_snapshot(c);
    pthread_mutex_lock(&c->lock);
    uint64_t id = ++c->last_id;
    pthread_mutex_unlock(&c->lock);
    if (s != NULL)
        r.drift = drift_of(s, order);
    else
        err_set(&r.err, ERR_RETRY, "the Machines are not listed yet");
    done(user, &r);
    if (s != NULL)
        shared_unref(&s->shared);
    return id;
}

/* ---- the rest ---- */

static const struct repair_policies *repair(struct provider *p, struct span *violations_out)
{
    *violations_out = (struct span){NULL, 0};
    return &machines_of(p)->repair;
}

static uint64_t reboot(struct provider *p, const struct claim_order *order, struct span operation, machine_done *done,
                       void *user)
{
    struct machines_work *w = work_new(machines_of(p), done, user);
    uint64_t id = w->id;
    (void)order;
    (void)operation;
    machines_fail(w, ERR_INVALID, "Cluster API starts no machine anew");
    return id;
}

/* Who only waits is ended by the next step. */
static void cancel(struct provider *p, uint64_t operation)
{
    struct machines *c = machines_of(p);
    uint64_t request = 0;
    pthread_mutex_lock(&c->lock);
    for (struct machines_work *w = c->works; w != NULL; w = w->next)
        if (w->id == operation) {
            w->cancelled = true;
            request = w->request;
        }
    pthread_mutex_unlock(&c->lock);
    if (request != 0)
        c->config.api->ops->cancel(c->config.api, request);
    machines_wake(c);
}

static void free_machines(struct provider *p)
{
    struct machines *c = machines_of(p);
    for (struct machines_work *w; (w = c->works) != NULL;) {
        c->works = w->next;
        work_free(w);
    }
    for (struct machines_size *z; (z = c->sizes) != NULL;) {
        c->sizes = z->next;
        arena_release(&z->arena);
        free(z);
    }
    for (struct machines_full *f; (f = c->full) != NULL;) {
        c->full = f->next;
        free(f);
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void machines_watch(struct provider *p, struct share *snapshots)
{
    machines_of(p)->snapshots = snapshots;
}

struct provider *machines_new(const struct machines_config *config)
{
    static const enum kind kinds[] = {KIND_MACHINE_DEPLOYMENT, KIND_MACHINE, KIND_NONE};
    static const struct provider_ops ops = {
        .name = "clusterapi",
        /* A claim waits for its Machine's providerID as long as a launch's 5 minutes allow; the others are one request, or
         * none. */
        .limits = {.patience = {[PROVIDER_CREATE] = 4 * MS_MINUTE + 30 * MS_SECOND,
                                [PROVIDER_REMOVE] = 90 * MS_SECOND,
                                [PROVIDER_GET] = 30 * MS_SECOND,
                                [PROVIDER_LIST] = 30 * MS_SECOND,
                                [PROVIDER_IS_DRIFTED] = 30 * MS_SECOND,
                                [PROVIDER_REBOOT] = 30 * MS_SECOND},
                   .calls = 2048}, /* as kwok's: they hold some KB each */
        .node_class = KIND_CLUSTER_API_NODE_CLASS,
        .kinds = kinds,
        .node_class_group = MACHINE_CLASS_GROUP,
        .node_class_kind = MACHINE_CLASS_KIND,
        .types = types,
        .generation = generation,
        .create = create,
        .remove = remove_machine,
        .get = get,
        .list = list,
        .is_drifted = is_drifted,
        .repair = repair,
        .reboot = reboot,
        .cancel = cancel,
        .step = machines_step,
        .free = free_machines,
    };
    struct machines *c = mem_new(sizeof(*c));
    c->provider.ops = &ops;
    c->config = *config;
    pthread_mutex_init(&c->lock, NULL);
    return &c->provider;
}
