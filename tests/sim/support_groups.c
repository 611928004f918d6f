#include "tests/sim/support_groups.h"

#include <string.h>

static void on_begin(void *user, enum kind k)
{
    store_list_begin(((struct group_desk *)user)->store, k);
}

static void on_end(void *user, enum kind k, bool asked)
{
    store_list_end_as(((struct group_desk *)user)->store, k, asked);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(((struct group_desk *)user)->store, k, e, object);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    store_state(((struct group_desk *)user)->store, k, broken, 0);
}

static bool is_watched(const struct group_desk *d, enum kind k)
{
    for (const enum kind *of = d->provider->ops->kinds; *of != KIND_NONE; of++)
        if (*of == k)
            return true;
    return k == KIND_NODE;
}

static void start(struct group_desk *d)
{
    struct api_sink sink = {d, on_begin, on_end, on_event, on_state};
    d->api = sim_client_new(sim_cluster(d->sim));
    d->store = store_new(NULL);
    d->provider = d->make(d);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (is_watched(d, k)) {
            d->api->ops->watch(d->api, k, &sink);
        } else {
            store_list_begin(d->store, k);
            store_list_end(d->store, k);
        }
    d->syms = kube_symtab_new();
    arena_init(&d->arena, 0);
}

static void stop(struct group_desk *d)
{
    sim_client_free(d->api);
    d->provider->ops->free(d->provider);
    if (d->snapshot != NULL)
        shared_unref(&d->snapshot->shared);
    d->snapshot = NULL;
    store_free(d->store);
    symtab_unref(d->syms);
    arena_release(&d->arena);
}

void group_desk_begin(struct group_desk *d, const char *objects)
{
    d->sim = new_sim(objects);
    start(d);
}

void group_desk_restart(struct group_desk *d)
{
    stop(d);
    start(d);
}

void group_desk_end(struct group_desk *d)
{
    stop(d);
    sim_free(d->sim);
}

static void take_snapshot(struct group_desk *d)
{
    run_for(d->sim, 2000);
    if (d->blind)
        return;
    store_publish(d->store, sim_now(d->sim));
    if (d->snapshot != NULL)
        shared_unref(&d->snapshot->shared);
    d->snapshot = (struct snapshot *)share_take(store_share(d->store));
}

void group_desk_look(struct group_desk *d)
{
    struct err err;
    take_snapshot(d);
    arena_clear(&d->arena);
    if (!d->provider->ops->look(d->provider, d->snapshot, &d->arena, d->syms, &d->groups, &err))
        fail_msg("look: %s", err.msg);
}

const struct node_group *group_named(struct group_desk *d, const char *name)
{
    for (uint32_t i = 0; i < d->groups.groups.count; i++)
        if (span_eq(d->groups.groups.items[i].name, span_of(name)))
            return &d->groups.groups.items[i];
    return NULL;
}

const struct node_group *group_looked(struct group_desk *d, const char *name)
{
    group_desk_look(d);
    const struct node_group *g = group_named(d, name);
    if (g == NULL)
        fail_msg("there is no group %s", name);
    return g;
}

const struct group_machine *machine_named(const struct node_group *g, const char *id)
{
    for (uint32_t i = 0; i < g->machines.count; i++)
        if (span_eq(g->machines.items[i].id, span_of(id)))
            return &g->machines.items[i];
    return NULL;
}

uint32_t count_machines(const struct node_group *g, enum instance_state state)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->machines.count; i++)
        n += g->machines.items[i].state == state;
    return n;
}

void group_done_desk(void *user, const struct err *err)
{
    struct group_desk *d = user;
    d->answers++;
    d->err = *err;
}

void group_answered(struct group_desk *d)
{
    for (int i = 0; i < 100 && d->answers == 0 && !sim_client_dead(d->api); i++)
        run_for(d->sim, 100);
    run_for(d->sim, 1000);
    if (!sim_client_dead(d->api))
        assert_int_equal(d->answers, 1);
    d->answers = 0;
}

enum err_kind group_resize(struct group_desk *d, const char *group, int32_t from, int32_t to)
{
    d->err = (struct err){0};
    d->provider->ops->resize(d->provider, span_of(group), from, to, group_done_desk, d);
    group_answered(d);
    return d->err.kind;
}

enum err_kind group_remove(struct group_desk *d, const char *group, const char *ids, bool force)
{
    struct span list[16], rest = span_of(ids);
    uint32_t count = 0;
    while (rest.ptr != NULL && rest.len != 0) {
        assert_true(count < COUNT_OF(list));
        list[count++] = span_cut(rest, ' ', &rest);
    }
    d->err = (struct err){0};
    d->provider->ops->remove(d->provider, span_of(group), list, count, force, group_done_desk, d);
    group_answered(d);
    return d->err.kind;
}
