#include "support_cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support_pass.h"

void cloud_init(struct cloud *x, struct cluster *c, const char *groups_yaml)
{
    *x = (struct cloud){.c = c, .removal_s = 5};
    pass_read(c, groups_yaml, &node_groups_schema, &x->file);
    assert_true(x->file.groups.count <= CLOUD_GROUPS_MAX);
    for (uint32_t g = 0; g < x->file.groups.count; g++) {
        x->groups[g] = (struct cloud_group){.registers_s = 60, .ready_s = 90};
        x->groups[g].target = x->file.groups.items[g].has_target ? x->file.groups.items[g].target : 0;
    }
}

uint32_t cloud_group_of(const struct cloud *x, struct span name)
{
    for (uint32_t g = 0; g < x->file.groups.count; g++)
        if (span_eq(x->file.groups.items[g].name, name))
            return g;
    fail_msg("no group %.*s", SPAN_ARG(name));
    return 0;
}

struct cloud_machine *cloud_find(struct cloud *x, struct span id)
{
    for (uint32_t i = 0; i < x->machine_count; i++)
        if (!x->machines[i].gone && span_eq(x->machines[i].id, id))
            return &x->machines[i];
    fail_msg("no machine %.*s", SPAN_ARG(id));
    return NULL;
}

/* --- Nodes --- */

static void set_ready(struct cloud_machine *m, bool ready, wall_ms now)
{
    m->node->conditions.items[0].status = ready ? CONDITION_TRUE : CONDITION_FALSE;
    m->node->conditions.items[0].transition = now;
}

static void add_label(struct cloud *x, struct sym_pairs *labels, sym key, struct span value)
{
    struct sym_pair *items = ARENA_ARRAY(&x->c->arena, struct sym_pair, (size_t)labels->count + 1);
    for (uint32_t i = 0; i < labels->count; i++)
        items[i] = labels->items[i];
    items[labels->count] = (struct sym_pair){key, sym_intern(x->c->syms, value)};
    *labels = (struct sym_pairs){items, labels->count + 1};
}

void cloud_label(struct cloud *x, struct cloud_machine *m, sym key, struct span value)
{
    add_label(x, &m->node->meta.labels, key, value);
}

static void register_node(struct cloud *x, struct cloud_machine *m, wall_ms now)
{
    struct arena *a = &x->c->arena;
    const struct node *template = x->file.groups.items[m->group].template;
    struct node *n = ARENA_NEW(a, struct node);
    if (template == NULL)
        fail_msg("the group of %.*s has no template", SPAN_ARG(m->id));
    *n = *template;
    n->meta.name = n->meta.uid = n->provider_id = m->id;
    n->meta.created = now;
    add_label(x, &n->meta.labels, SYM_HOSTNAME, m->id);
    if (n->capacity.count == 0)
        n->capacity = n->allocatable;
    n->conditions = (struct conditions){ARENA_NEW(a, struct condition), 1};
    n->conditions.items[0].type = SPAN("Ready");
    m->node = n;
    set_ready(m, false, now);
    struct cluster_list *l = &x->c->kinds[KIND_NODE];
    ARENA_PUSH(a, l->items, l->count, l->capacity, n);
}

static void drop_node(struct cloud *x, const struct node *n)
{
    struct cluster_list *l = &x->c->kinds[KIND_NODE];
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i] != n)
            l->items[kept++] = l->items[i];
    l->count = kept;
}

static struct pod *pod_at(const struct cloud *x, size_t i)
{
    return (struct pod *)x->c->kinds[KIND_POD].items[i];
}

/* Pods of a controller come back as new ones that wait; others are gone. */
static void evict_all(struct cloud *x, const struct node *n, wall_ms now)
{
    struct cluster_list *l = &x->c->kinds[KIND_POD];
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct pod *p = pod_at(x, i);
        bool here = p->node != SYM_NONE && span_eq(sym_text(x->c->syms, p->node), n->meta.name);
        if (here && (meta_controller(&p->meta) == NULL || pod_is_daemon(p)))
            continue;
        if (here) {
            p->node = SYM_NONE;
            p->phase = POD_PENDING;
            p->unschedulable = true;
            p->meta.created = now;
        }
        l->items[kept++] = p;
    }
    l->count = kept;
}

static void drop_machine(struct cloud *x, struct cloud_machine *m, wall_ms now)
{
    if (m->node != NULL) {
        evict_all(x, m->node, now);
        drop_node(x, m->node);
    }
    m->gone = true;
}

/* --- machines --- */

static struct cloud_machine *new_machine(struct cloud *x, uint32_t group)
{
    struct cloud_group *g = &x->groups[group];
    struct cloud_machine m = {.group = group};
    m.id = arena_printf(&x->c->arena, "%.*s-%u", SPAN_ARG(x->file.groups.items[group].name), ++g->named);
    ARENA_PUSH(&x->c->arena, x->machines, x->machine_count, x->machine_capacity, m);
    return &x->machines[x->machine_count - 1];
}

void cloud_stand(struct cloud *x, uint32_t group, int32_t count, wall_ms now)
{
    for (int32_t i = 0; i < count; i++) {
        struct cloud_machine *m = new_machine(x, group);
        m->listed = m->registers = now - MS_HOUR;
        register_node(x, m, now - MS_HOUR);
        set_ready(m, true, now - MS_HOUR);
    }
    x->groups[group].target += count;
}

void cloud_add(struct cloud *x, uint32_t group, int32_t count, wall_ms now)
{
    struct cloud_group *g = &x->groups[group];
    for (int32_t i = 0; i < count; i++) {
        struct cloud_machine *m = new_machine(x, group);
        m->listed = now + g->listed_s * MS_SECOND;
        m->registers = now + g->registers_s * MS_SECOND;
        m->ready = now + g->ready_s * MS_SECOND;
        m->fate = g->fate_count != 0 ? g->fate : FATE_WELL;
        m->error = m->fate == FATE_FAILS ? g->error : (struct group_error_info){0};
        g->fate_count -= g->fate_count > 0;
    }
}

bool cloud_grow(struct cloud *x, uint32_t group, int32_t count, wall_ms now)
{
    struct cloud_group *g = &x->groups[group];
    if (g->refuses)
        return false;
    assert_true(g->target + count <= x->file.groups.items[group].max);
    cloud_add(x, group, count, now);
    g->target += count;
    return true;
}

static bool is_listed(const struct cloud_machine *m, wall_ms now)
{
    return !m->gone && !m->lost && m->fate != FATE_NEVER && m->listed <= now;
}

void cloud_withdraw(struct cloud *x, uint32_t group, int32_t count, wall_ms now)
{
    x->groups[group].target -= count;
    for (uint32_t i = x->machine_count; i-- != 0 && count > 0;)
        if (x->machines[i].group == group && !x->machines[i].gone && !x->machines[i].lost && !is_listed(&x->machines[i], now)) {
            x->machines[i].gone = true;
            count--;
        }
}

void cloud_delete(struct cloud *x, struct span id, wall_ms now)
{
    struct cloud_machine *m = cloud_find(x, id);
    if (m->dies != 0)
        return;
    x->groups[m->group].target--;
    m->dies = now + x->groups[m->group].dies_s * MS_SECOND;
    if (m->dies == now)
        drop_machine(x, m, now);
}

void cloud_lose(struct cloud *x, struct span id)
{
    struct cloud_machine *m = cloud_find(x, id);
    m->lost = true;
}

void cloud_vanish(struct cloud *x, struct span id)
{
    drop_machine(x, cloud_find(x, id), 0);
}

void cloud_taint(struct cloud *x, struct cloud_machine *m, wall_ms now)
{
    struct span seconds = arena_printf(&x->c->arena, "%lld", (long long)(now / MS_SECOND));
    m->node->taints = (struct taints){ARENA_NEW(&x->c->arena, struct taint), 1};
    m->node->taints.items[0] = (struct taint){.key = SYM_TO_BE_DELETED, .value = sym_intern(x->c->syms, seconds),
                                              .effect = TAINT_NO_SCHEDULE};
}

void cloud_remove(struct cloud *x, struct span node, bool drains, wall_ms now)
{
    struct cloud_machine *m = cloud_find(x, node);
    m->leaves = now + x->removal_s * MS_SECOND;
    m->drains = drains;
    m->node->unschedulable = true;
    cloud_taint(x, m, now);
}

/* --- the scheduler --- */

static amount used_of(const struct cloud *x, const struct node *n)
{
    amount sum = 0;
    for (size_t i = 0; i < x->c->kinds[KIND_POD].count; i++) {
        const struct pod *p = pod_at(x, i);
        if (p->node != SYM_NONE && span_eq(sym_text(x->c->syms, p->node), n->meta.name))
            sum += resources_get(p->requests, SYM_CPU);
    }
    return sum;
}

static bool takes(const struct cloud *x, const struct node *n, const struct pod *p)
{
    if (n->unschedulable || !conditions_true(n->conditions, SPAN("Ready")))
        return false;
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (n->taints.items[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&n->taints.items[i], p->tolerations, x->c->syms))
            return false;
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        if (sym_pairs_get(n->meta.labels, p->node_selector.items[i].key) != p->node_selector.items[i].value)
            return false;
    return used_of(x, n) + resources_get(p->requests, SYM_CPU) <= resources_get(n->allocatable, SYM_CPU);
}

static void schedule(struct cloud *x)
{
    const struct cluster_list *nodes = &x->c->kinds[KIND_NODE];
    for (size_t i = 0; i < x->c->kinds[KIND_POD].count; i++) {
        struct pod *p = pod_at(x, i);
        for (size_t k = 0; k < nodes->count && p->node == SYM_NONE && p->unschedulable; k++) {
            const struct node *n = nodes->items[k];
            if (!takes(x, n, p))
                continue;
            p->node = sym_intern(x->c->syms, n->meta.name);
            p->phase = POD_RUNNING;
            p->unschedulable = false;
        }
    }
}

/* --- time --- */

static void end_removal(struct cloud *x, struct cloud_machine *m, wall_ms now, cloud_left *left, void *user)
{
    bool well = !x->groups[m->group].keeps;
    m->leaves = 0;
    if (well) {
        x->groups[m->group].target--;
        drop_machine(x, m, now);
    } else {
        m->node->unschedulable = false;
        m->node->taints = (struct taints){0};
    }
    left(user, m, well);
}

void cloud_advance(struct cloud *x, wall_ms now, cloud_left *left, void *user)
{
    for (uint32_t i = 0; i < x->machine_count; i++) {
        struct cloud_machine *m = &x->machines[i];
        if (m->gone || m->lost)
            continue;
        if (m->leaves != 0 && m->leaves <= now) {
            end_removal(x, m, now, left, user);
            continue;
        }
        if (m->dies != 0 && m->dies <= now) {
            drop_machine(x, m, now);
            continue;
        }
        bool comes = m->fate == FATE_WELL || m->fate == FATE_UNREADY;
        if (comes && m->node == NULL && m->registers <= now)
            register_node(x, m, now);
        if (m->fate == FATE_WELL && m->ready != 0 && m->node != NULL && m->ready <= now) {
            set_ready(m, true, m->ready);
            m->ready = 0;
        }
    }
    if (!x->no_scheduler)
        schedule(x);
}

/* --- what is told --- */

static void look_at(const struct cloud *x, uint32_t group, struct node_group *out, wall_ms now, struct arena *a)
{
    uint32_t nodes = 0;
    *out = x->file.groups.items[group];
    out->has_target = true;
    out->target = x->groups[group].target;
    out->has_machines = true;
    out->machines = (struct group_machines){ARENA_ARRAY(a, struct group_machine, x->machine_count), 0};
    out->nodes = (struct spans){0};
    out->template = x->groups[group].bare ? NULL : out->template;
    for (uint32_t i = 0; i < x->machine_count; i++) {
        const struct cloud_machine *m = &x->machines[i];
        if (m->group != group || m->gone)
            continue;
        if (m->node != NULL)
            ARENA_PUSH(a, out->nodes.items, out->nodes.count, nodes, m->id);
        if (!is_listed(m, now))
            continue;
        out->machines.items[out->machines.count++] =
            (struct group_machine){.id = m->id,
                                   .state = m->fate == FATE_FAILS     ? INSTANCE_CREATING
                                            : m->fate == FATE_LEAVING ? INSTANCE_DELETING
                                                                      : INSTANCE_RUNNING,
                                   .error = m->error};
    }
}

struct node_groups *cloud_look(struct cloud *x, wall_ms now, struct arena *a)
{
    struct node_groups *out = ARENA_NEW(a, struct node_groups);
    uint32_t empty = 0, drain = 0;
    *out = x->file;
    out->groups.items = ARENA_ARRAY(a, struct node_group, x->file.groups.count);
    for (uint32_t g = 0; g < x->file.groups.count; g++)
        look_at(x, g, &out->groups.items[g], now, a);
    out->state = (struct group_state){0};
    for (uint32_t i = 0; i < x->machine_count; i++) {
        const struct cloud_machine *m = &x->machines[i];
        if (m->gone || m->leaves == 0)
            continue;
        if (m->drains)
            ARENA_PUSH(a, out->state.deleting_drain.items, out->state.deleting_drain.count, drain, m->id);
        else
            ARENA_PUSH(a, out->state.deleting_empty.items, out->state.deleting_empty.count, empty, m->id);
    }
    return out;
}
