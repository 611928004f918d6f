/* More: a Node each, all at once. A name that is taken by a machine of the group is one that an earlier call made and no
 * snapshot has shown; one that another has is left to him. Fewer: what was asked for and never became a machine. */
#include "base/json.h"
#include "cloud/groups/kwok_inner.h"

enum { NAMES_TRIED_MAX = 10 }; /* that are taken by others, for one machine */

static void create(struct group_part *p);

static void give_up_row(struct group_part *p, const struct err *err)
{
    struct group_operation *o = p->operation;
    struct kwok_group *g = o->group;
    pthread_mutex_lock(&o->of->lock);
    row_drop(g, p->row);
    p->row = NULL;
    g->target--;
    group_operation_fail(o, err);
    pthread_mutex_unlock(&o->of->lock);
}

static void is_made(struct group_part *p, const struct api_result *r)
{
    struct group_operation *o = p->operation;
    struct doc_value meta;
    int64_t version = 0;
    if (r->body != NULL && doc_find(doc_root(r->body), SPAN("metadata"), &meta) &&
        !span_int64(doc_text_at(meta, SPAN("resourceVersion")), &version))
        version = 0;
    pthread_mutex_lock(&o->of->lock);
    struct row *row = p->row;
    row->state = ROW_MADE;
    row->version = (uint64_t)version;
    pthread_mutex_unlock(&o->of->lock);
}

/* Under the lock. The least after `from` that neither a Node nor a row has. */
static uint32_t free_ordinal(const struct kwok_group *g, uint32_t from)
{
    bool taken = true;
    while (taken) {
        taken = false;
        for (uint32_t i = 0; i < g->ordinal_count && !taken; i++)
            taken = g->ordinals[i] == from;
        for (const struct row *r = g->rows; r != NULL && !taken; r = r->next)
            taken = r->ordinal == from;
        from += taken;
    }
    return from;
}

static void try_next_name(struct group_part *p)
{
    struct group_operation *o = p->operation;
    struct kwok_group *g = o->group;
    struct err err;
    if (++p->tries == NAMES_TRIED_MAX) {
        err_set(&err, ERR_CONFLICT, "creating Node %.*s: the names of %d Nodes are taken by others", SPAN_ARG(p->name),
                NAMES_TRIED_MAX);
        give_up_row(p, &err);
        return;
    }
    pthread_mutex_lock(&o->of->lock);
    struct row *old = p->row;
    uint32_t ordinal = free_ordinal(g, old->ordinal + 1);
    row_drop(g, old);
    p->name = kwok_group_node_name(&o->arena, g->shape.group, ordinal);
    p->row = row_add(g, ROW_ASKED, ordinal, p->name, (struct span){0});
    pthread_mutex_unlock(&o->of->lock);
    create(p);
}

static void on_read(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    const struct kwok_group *g = p->operation->group;
    struct err err;
    if (r->err.kind == ERR_NONE && r->body != NULL && kwok_group_owns(doc_root(r->body), g->shape.group)) {
        is_made(p, r);
    } else if (r->err.kind == ERR_NONE || r->err.kind == ERR_NOT_FOUND) {
        try_next_name(p);
    } else {
        group_part_refused(p, r, "reading Node", &err);
        give_up_row(p, &err);
    }
    group_operation_drop(p->operation);
}

static void on_created(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct err err;
    if (r->err.kind == ERR_NONE) {
        is_made(p, r);
    } else if (r->status == 409) {
        group_part_send(p, (struct api_request){.verb = API_GET, .kind = KIND_NODE, .name = p->name}, on_read);
    } else {
        group_part_refused(p, r, "creating Node", &err);
        give_up_row(p, &err);
    }
    group_operation_drop(p->operation);
}

static void create(struct group_part *p)
{
    struct group_operation *o = p->operation;
    struct kwok_groups *k = o->provider;
    const struct kwok_group *g = o->group;
    struct arena a;
    arena_init(&a, 0);
    struct span body = kwok_group_node_body(&a, &g->shape, k->syms, p->name);
    group_part_send(p, (struct api_request){.verb = API_CREATE, .kind = KIND_NODE, .body = body}, on_created);
    arena_release(&a);
}

/* ---- what is to be done, under the lock ---- */

static bool check(struct kwok_groups *k, struct span group, int32_t from, int32_t to, struct kwok_group **out,
                  struct err *err)
{
    struct kwok_group *g = *out = kwok_group_find(k, group);
    if (g == NULL)
        return err_set(err, ERR_INVALID, "group %.*s: there is no such group", SPAN_ARG(group));
    if (!g->looked_at || g->target != from)
        return err_set(err, ERR_CONFLICT, "group %.*s: its size is %d, not %d, by now", SPAN_ARG(group), g->target, from);
    if (to > g->shape.max && to > from)
        return err_set(err, ERR_INVALID, "group %.*s: a size of %d is above its maximum, %d", SPAN_ARG(group), to, g->shape.max);
    return true;
}

static bool withdraw(struct kwok_group *g, int32_t count, struct err *err)
{
    int32_t idle = 0;
    for (const struct row *r = g->rows; r != NULL; r = r->next)
        idle += r->state == ROW_NEVER_MADE;
    if (idle < count)
        return err_set(err, ERR_INVALID,
                       "group %.*s: %d of its %d are machines; a size of %d would end some", SPAN_ARG(g->shape.group),
                       g->target - idle, g->target, g->target - count);
    g->target -= count;
    struct row *next;
    for (struct row *r = g->rows; r != NULL && count > 0; r = next) {
        next = r->next;
        if (r->state == ROW_NEVER_MADE) {
            row_drop(g, r);
            count--;
        }
    }
    return true;
}

static bool want(struct group_operation *o, struct group_part *p, uint32_t ordinal, struct err *err)
{
    struct kwok_groups *k = o->provider;
    struct kwok_group *g = o->group;
    struct group_error_info error = {0};
    enum group_kwok_fate fate = GROUP_KWOK_COMES;
    static const enum row_state states[] = {
        [GROUP_KWOK_COMES] = ROW_ASKED,           [GROUP_KWOK_FAILS] = ROW_ASKED,  [GROUP_KWOK_NEVER_MADE] = ROW_NEVER_MADE,
        [GROUP_KWOK_NEVER_REGISTERS] = ROW_SILENT, [GROUP_KWOK_BREAKS] = ROW_BROKEN,
    };
    p->name = kwok_group_node_name(&o->arena, g->shape.group, ordinal);
    if (k->options.fate != NULL)
        fate = k->options.fate(k->options.user, g->shape.group, p->name, &error);
    struct row *r = row_add(g, states[fate], ordinal, p->name, (struct span){0});
    r->error = error;
    p->row = r;
    p->is_there = fate == GROUP_KWOK_COMES;
    if (fate == GROUP_KWOK_FAILS)
        return err_set(err, ERR_RETRY, "group %.*s: the cloud could not launch an instance", SPAN_ARG(g->shape.group));
    return true;
}

/* The least ordinals that are free, each marked once. */
static bool want_all(struct group_operation *o, struct err *err)
{
    struct kwok_groups *k = o->provider;
    struct kwok_group *g = o->group;
    uint32_t size = g->ordinal_count + o->count, wanted = 0;
    if (k->options.in_stock != NULL && !k->options.in_stock(k->options.user, g->shape.group, (int32_t)o->count))
        return err_set(err, ERR_CAPACITY, "group %.*s: out of stock", SPAN_ARG(g->shape.group));
    for (const struct row *r = g->rows; r != NULL; r = r->next)
        size++;
    bool *taken = ARENA_ARRAY(&o->arena, bool, size);
    for (uint32_t i = 0; i < g->ordinal_count; i++)
        if (g->ordinals[i] < size)
            taken[g->ordinals[i]] = true;
    for (const struct row *r = g->rows; r != NULL; r = r->next)
        if (r->ordinal < size)
            taken[r->ordinal] = true;
    bool ok = true;
    for (uint32_t i = 0; i < size && wanted < o->count && ok; i++)
        if (!taken[i])
            ok = want(o, &o->parts[wanted++], i, err);
    for (uint32_t i = 0; i < wanted && !ok; i++)
        row_drop(g, o->parts[i].row);
    g->target += ok ? (int32_t)wanted : 0;
    return ok;
}

uint64_t kwok_groups_resize(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done,
                            void *user)
{
    struct kwok_groups *k = kwok_groups_of(p);
    bool more = to > from && to - from <= GROUP_NODES_MAX;
    struct group_operation *o = group_operation_new(&k->operations, more ? (uint32_t)(to - from) : 0, done, user);
    uint64_t id = o->id;
    struct kwok_group *g;
    struct err err;
    o->provider = k;
    pthread_mutex_lock(&k->operations.lock);
    bool ok = check(k, group, from, to, &g, &err);
    o->group = g;
    if (ok && to > from)
        ok = want_all(o, &err);
    else if (ok && to < from)
        ok = withdraw(g, from - to, &err);
    if (!ok)
        group_operation_fail(o, &err);
    pthread_mutex_unlock(&k->operations.lock);
    for (uint32_t i = 0; i < o->count && ok; i++)
        if (o->parts[i].is_there)
            create(&o->parts[i]);
    group_operation_drop(o);
    return id;
}
