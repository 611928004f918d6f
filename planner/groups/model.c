#include "planner/groups/model.h"

#include <stdlib.h>

#include "planner/groups/bought.h"
#include "planner/groups/ready.h"
#include "planner/groups/template.h"

struct span node_provider_id(const struct node *n)
{
    return n->provider_id.len != 0 ? n->provider_id : n->meta.name;
}

bool group_node_is_gpu(const struct group_model *m, const struct node *n)
{
    return m->file->gpu_label != SYM_NONE && sym_pairs_get(n->meta.labels, m->file->gpu_label) != SYM_NONE;
}

/* --- nodes by name and by providerID --- */

static int by_name(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    return span_cmp((*x)->meta.name, (*y)->meta.name);
}

static int by_provider_id(const void *a, const void *b)
{
    const struct node_key *x = a, *y = b;
    int order = span_cmp(x->id, y->id);
    return order != 0 ? order : (x->node > y->node) - (x->node < y->node);
}

static void sort_nodes(struct group_model *m, const struct group_objects *objects, struct arena *a)
{
    m->node_count = (uint32_t)objects->node_count;
    m->nodes = ARENA_ARRAY(a, const struct node *, m->node_count);
    m->keys = ARENA_ARRAY(a, struct node_key, m->node_count);
    m->owners = ARENA_ARRAY(a, int32_t, m->node_count);
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i] = objects->nodes[i];
    qsort(m->nodes, m->node_count, sizeof(m->nodes[0]), by_name);
    for (uint32_t i = 0; i < m->node_count; i++) {
        m->owners[i] = -1;
        m->keys[i] = (struct node_key){node_provider_id(m->nodes[i]), i};
    }
    qsort(m->keys, m->node_count, sizeof(m->keys[0]), by_provider_id);
}

static int32_t find_name(const struct group_model *m, struct span name)
{
    uint32_t low = 0, high = m->node_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(m->nodes[mid]->meta.name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->node_count && span_eq(m->nodes[low]->meta.name, name) ? (int32_t)low : -1;
}

static int32_t find_provider_id(const struct group_model *m, struct span id)
{
    uint32_t low = 0, high = m->node_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(m->keys[mid].id, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->node_count && span_eq(m->keys[low].id, id) ? (int32_t)m->keys[low].node : -1;
}

static int group_by_name(const void *key, const void *group)
{
    return span_cmp(*(const struct span *)key, ((const struct group *)group)->spec->name);
}

int32_t group_model_group(const struct group_model *m, struct span name)
{
    const struct group *g = m->group_count != 0 ? bsearch(&name, m->groups, m->group_count, sizeof(*g), group_by_name) : NULL;
    return g != NULL ? (int32_t)(g - m->groups) : -1;
}

int32_t group_model_node(const struct group_model *m, struct span name_or_provider_id)
{
    int32_t i = find_name(m, name_or_provider_id);
    return i >= 0 ? i : find_provider_id(m, name_or_provider_id);
}

/* --- whose a node is --- */

static bool wrong(struct err *err, const struct node_group *g, const char *field, const char *what, struct span name)
{
    return err_set(err, ERR_INVALID, "line %u: group %.*s: %s: %s \"%.*s\"", g->line, SPAN_ARG(g->name), field, what,
                   SPAN_ARG(name));
}

static bool claim(struct group_model *m, uint32_t group, uint32_t node, const char *field, struct err *err)
{
    const struct node_group *g = m->groups[group].spec;
    struct span name = m->nodes[node]->meta.name;
    if (m->owners[node] < 0 || m->owners[node] == (int32_t)group) {
        m->owners[node] = (int32_t)group;
        return true;
    }
    return err_set(err, ERR_INVALID, "line %u: group %.*s: %s: node \"%.*s\" is in group %.*s, too; a node is in one",
                   g->line, SPAN_ARG(g->name), field, SPAN_ARG(name),
                   SPAN_ARG(m->groups[m->owners[node]].spec->name));
}

static bool selects(struct sym_pairs selector, struct sym_pairs labels)
{
    for (uint32_t i = 0; i < selector.count; i++)
        if (sym_pairs_get(labels, selector.items[i].key) != selector.items[i].value)
            return false;
    return selector.count != 0;
}

static bool claim_nodes(struct group_model *m, uint32_t group, struct err *err)
{
    const struct node_group *g = m->groups[group].spec;
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        int32_t node = group_model_node(m, g->nodes.items[i]);
        if (node < 0)
            return wrong(err, g, "nodes", "the input has no Node", g->nodes.items[i]);
        if (!claim(m, group, (uint32_t)node, "nodes", err))
            return false;
    }
    for (uint32_t i = 0; g->selector.count != 0 && i < m->node_count; i++)
        if (selects(g->selector, m->nodes[i]->meta.labels) && !claim(m, group, i, "nodeSelector", err))
            return false;
    return true;
}

/* A Node that only a machine says to be the group's. */
static bool claim_machines(struct group_model *m, uint32_t group, struct err *err)
{
    const struct node_group *g = m->groups[group].spec;
    for (uint32_t i = 0; i < g->machines.count; i++) {
        int32_t node = find_provider_id(m, g->machines.items[i].id);
        if (node >= 0 && !claim(m, group, (uint32_t)node, "instances", err))
            return false;
    }
    return true;
}

static void list_members(struct group_model *m, uint32_t group, struct arena *a)
{
    struct group *g = &m->groups[group];
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < m->node_count; i++)
        if (m->owners[i] == (int32_t)group)
            ARENA_PUSH(a, g->nodes, g->node_count, capacity, m->nodes[i]);
}

static void list_instances(struct group_model *m, struct group *g, struct arena *a)
{
    g->instance_count = g->spec->has_machines ? g->spec->machines.count : g->node_count;
    g->instances = ARENA_ARRAY(a, struct group_instance, g->instance_count);
    for (uint32_t i = 0; i < g->instance_count; i++) {
        const struct group_machine *told = g->spec->has_machines ? &g->spec->machines.items[i] : NULL;
        struct span id = told != NULL ? told->id : node_provider_id(g->nodes[i]);
        int32_t node = find_provider_id(m, id);
        g->instances[i] = (struct group_instance){id, told, node >= 0 ? m->nodes[node] : NULL, node};
    }
    g->target = g->spec->has_target ? g->spec->target : (int32_t)g->instance_count;
}

/* --- options --- */

static struct group_scaling scaling_of(const struct group_options *o, const struct group_scaling *flags)
{
    struct group_scaling s = *flags;
#define OWN(member) s.member = o->has_##member ? o->of.member : s.member
    OWN(utilization_threshold);
    OWN(gpu_utilization_threshold);
    OWN(unneeded_time);
    OWN(unready_time);
    OWN(provision_time);
    OWN(startup_time);
    OWN(ignore_daemon_sets);
    OWN(zero_or_max);
    OWN(partly_to_max);
#undef OWN
    return s;
}

/* --- the state of all --- */

static bool check_names(const struct group_model *m, const char *field, struct span name, bool of_group, struct err *err)
{
    int32_t node = find_name(m, name);
    if (node < 0)
        return err_set(err, ERR_INVALID, "state.%s: the input has no Node \"%.*s\"", field, SPAN_ARG(name));
    return !of_group || m->owners[node] >= 0 ||
           err_set(err, ERR_INVALID, "state.%s: Node \"%.*s\" is in no group; only nodes of groups are removed", field,
                   SPAN_ARG(name));
}

static bool check_state(const struct group_model *m, struct err *err)
{
    const struct group_state *s = &m->file->state;
    for (uint32_t i = 0; i < s->unneeded.count; i++)
        if (!check_names(m, "unneeded", s->unneeded.items[i].node, false, err))
            return false;
    for (uint32_t i = 0; i < s->unremovable_until.count; i++)
        if (!check_names(m, "unremovableUntil", s->unremovable_until.items[i].node, false, err))
            return false;
    for (uint32_t i = 0; i < s->deleting_empty.count; i++)
        if (!check_names(m, "deletions.empty", s->deleting_empty.items[i], true, err))
            return false;
    for (uint32_t i = 0; i < s->deleting_drain.count; i++)
        if (!check_names(m, "deletions.drain", s->deleting_drain.items[i], true, err))
            return false;
    return true;
}

static int by_group_name(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return span_cmp(x->spec->name, y->spec->name);
}

struct group_model *group_model_make(const struct node_groups *file, const struct group_flags *flags,
                                     const struct group_objects *objects, wall_ms now, struct arena *a, struct err *err)
{
    struct group_model *m = ARENA_NEW(a, struct group_model);
    m->file = file;
    sort_nodes(m, objects, a);
    m->group_count = file->groups.count;
    m->groups = ARENA_ARRAY(a, struct group, m->group_count);
    for (uint32_t g = 0; g < m->group_count; g++)
        m->groups[g].spec = &file->groups.items[g];
    qsort(m->groups, m->group_count, sizeof(m->groups[0]), by_group_name);
    for (uint32_t g = 0; g < m->group_count; g++)
        if (!claim_nodes(m, g, err))
            return NULL;
    for (uint32_t g = 0; g < m->group_count; g++)
        if (!claim_machines(m, g, err))
            return NULL;
    for (uint32_t g = 0; g < m->group_count; g++) {
        m->groups[g].scaling = scaling_of(&m->groups[g].spec->options, &flags->scaling);
        list_members(m, g, a);
        list_instances(m, &m->groups[g], a);
    }
    if (!check_state(m, err))
        return NULL;
    group_templates(m, flags, objects, now, a);
    return m;
}

/* --- the ground of a pass --- */

struct group_ground group_model_ground(const struct group_model *m, const struct group_objects *objects, struct arena *a)
{
    struct group_ground g = {.node_count = objects->node_count, .pod_count = objects->pod_count};
    static const struct group_bought none;
    const struct group_bought *bought = objects->bought != NULL ? objects->bought : &none;
    size_t pods = objects->pod_count + bought->pod_count;
    for (uint32_t i = 0; i < m->group_count; i++)
        pods += m->groups[i].template.pod_count;
    for (uint32_t i = 0; objects->requests != NULL && i < objects->requests->count; i++)
        pods += objects->requests->items[i].pod_count;
    g.nodes = ARENA_ARRAY(a, const struct node *, objects->node_count + m->group_count + bought->node_count);
    g.pods = ARENA_ARRAY(a, const struct pod *, pods);
    for (size_t i = 0; i < objects->node_count; i++)
        g.nodes[i] = objects->nodes[i];
    for (size_t i = 0; i < objects->pod_count; i++)
        g.pods[i] = objects->pods[i];
    for (uint32_t i = 0; i < m->group_count; i++) {
        const struct group_template *t = &m->groups[i].template;
        if (t->node != NULL)
            g.nodes[g.node_count++] = t->node;
        for (uint32_t k = 0; k < t->pod_count; k++)
            g.pods[g.pod_count++] = t->pods[k];
    }
    for (uint32_t i = 0; objects->requests != NULL && i < objects->requests->count; i++)
        for (uint32_t k = 0; k < objects->requests->items[i].pod_count; k++)
            g.pods[g.pod_count++] = objects->requests->items[i].pods[k];
    for (uint32_t i = 0; i < bought->node_count; i++)
        g.nodes[g.node_count++] = bought->nodes[i];
    for (uint32_t i = 0; i < bought->pod_count; i++)
        g.pods[g.pod_count++] = bought->pods[i];
    return g;
}
