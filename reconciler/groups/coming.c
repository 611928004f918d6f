#include "reconciler/groups/coming.h"

#include <stdlib.h>

#include "reconciler/stages.h"

void coming_forget(struct keeper *k)
{
    free(k->known);
    k->known = NULL;
    k->known_count = 0;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void know(struct keeper *k, const uint64_t *hashes, uint32_t count)
{
    coming_forget(k);
    k->known = mem_array((size_t)count + 1, sizeof(*k->known));
    k->known_count = count;
    if (count == 0)
        return;
    memcpy(k->known, hashes, count * sizeof(*hashes));
    qsort(k->known, count, sizeof(*hashes), by_value);
}

static bool is_known(const struct keeper *k, struct span node)
{
    uint64_t hash = span_hash(node);
    return k->known_count != 0 && bsearch(&hash, k->known, k->known_count, sizeof(hash), by_value) != NULL;
}

bool coming_has(const struct pass *p, const struct place *x, const struct pod *pod)
{
    if (x->group.len != 0)
        return true;
    return !x->on_claim && is_known(&p->r->keeper, x->target) && !place_is_open(p->world, place_row(p->world, x), pod);
}

/* --- a Node registers --- */

struct planned_machine { /* that has places; of a list by group, then by name */
    struct span group, name;
    struct span node; /* it is by now; absent: none */
};

static int by_length(struct span a, struct span b) /* "machine 10" is behind "machine 9" */
{
    return a.len != b.len ? (a.len > b.len) - (a.len < b.len) : span_cmp(a, b);
}

static int by_machine(const void *a, const void *b)
{
    const struct planned_machine *x = a, *y = b;
    int order = span_cmp(x->group, y->group);
    return order != 0 ? order : by_length(x->name, y->name);
}

static struct planned_machine *list_machines(struct pass *p, uint32_t *count_out)
{
    const struct places *places = p->r->places;
    struct planned_machine *list = ARENA_ARRAY(p->a, struct planned_machine, places->count + 1);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < places->count; i++)
        if (places->items[i].group.len != 0 && place_pod(p, &places->items[i]) != NULL)
            list[count++] = (struct planned_machine){.group = places->items[i].group, .name = places->items[i].target};
    if (count != 0)
        qsort(list, count, sizeof(*list), by_machine);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || by_machine(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    *count_out = kept;
    return list;
}

static bool give(struct planned_machine *machines, uint32_t count, struct span group, struct span node)
{
    for (uint32_t i = 0; i < count; i++)
        if (machines[i].node.len == 0 && span_eq(machines[i].group, group)) {
            machines[i].node = node;
            return true;
        }
    return false;
}

/* The Nodes of groups that are new are what machines have become. Whether any is. */
static bool match_nodes(struct pass *p, const struct node_groups *file, struct planned_machine *machines, uint32_t count)
{
    struct keeper *k = &p->r->keeper;
    uint32_t total = 0;
    bool any = false, given = false;
    for (uint32_t g = 0; g < file->groups.count; g++)
        total += file->groups.items[g].nodes.count;
    uint64_t *hashes = ARENA_ARRAY(p->a, uint64_t, total + 1);
    total = 0;
    for (uint32_t g = 0; g < file->groups.count; g++) {
        const struct node_group *group = &file->groups.items[g];
        for (uint32_t i = 0; i < group->nodes.count; i++) {
            struct span node = group->nodes.items[i];
            if (!is_known(k, node) && pass_node(p, node) != NULL) {
                given |= give(machines, count, group->name, node);
                any = true;
            }
            hashes[total++] = span_hash(node);
        }
    }
    if (any)
        know(k, hashes, total);
    return given;
}

void coming_run(struct pass *p)
{
    struct group_provider *g = p->r->config.groups.provider;
    struct places *places = p->r->places;
    struct node_groups file = {0};
    struct err err;
    uint32_t count;
    if (g == NULL || p->r->keeper.memory == NULL || places == NULL || p->snapshot == p->r->previous)
        return;
    struct planned_machine *machines = list_machines(p, &count);
    if (count == 0 || !g->ops->look(g, p->snapshot, p->a, p->snapshot->syms, &file, &err) ||
        !match_nodes(p, &file, machines, count))
        return;
    struct span *nodes = ARENA_ARRAY(p->a, struct span, places->count);
    for (uint32_t i = 0; i < places->count; i++) {
        struct planned_machine key = {.group = places->items[i].group, .name = places->items[i].target};
        const struct planned_machine *m = key.group.len != 0 ? bsearch(&key, machines, count, sizeof(key), by_machine) : NULL;
        nodes[i] = m != NULL ? m->node : key.node;
    }
    reconciler_publish(p->r, places_registered(places, nodes));
}

/* --- beside a plan's --- */

/* Those of before that still count, of pods that `plans` has no place for. */
static uint32_t list_kept(struct pass *p, const struct places *plans, const struct place **out)
{
    const struct places *before = p->r->places;
    uint32_t count = 0;
    for (uint32_t i = 0; before != NULL && i < before->count; i++) {
        const struct place *x = &before->items[i];
        const struct pod *pod = x->group.len != 0 || is_known(&p->r->keeper, x->target) ? place_pod(p, x) : NULL;
        if (pod != NULL && coming_has(p, x, pod) && places_find(plans, x->uid) == NULL)
            out[count++] = x;
    }
    return count;
}

struct places *coming_beside(struct pass *p, struct places *plans, bool *any_out)
{
    uint32_t room = p->r->places != NULL ? p->r->places->count : 0;
    const struct place **kept = ARENA_ARRAY(p->a, const struct place *, room + 1);
    uint32_t count = p->r->config.groups.provider != NULL ? list_kept(p, plans, kept) : 0;
    *any_out = count != 0;
    if (count == 0)
        return plans;
    struct places *all = places_again(plans, NULL, 0, count, p->wall);
    for (uint32_t i = 0; i < count; i++)
        places_add_named(all, place_pod(p, kept[i]), kept[i]->target, kept[i]->group);
    places_end(all, p->r->places);
    places_destroy(&plans->shared);
    return all;
}

/* --- after a pass over the groups --- */

static void know_nodes(struct pass *p, const struct group_model *m)
{
    uint64_t *hashes = ARENA_ARRAY(p->a, uint64_t, m->node_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->node_count; i++)
        if (m->owners[i] >= 0)
            hashes[count++] = span_hash(m->nodes[i]->meta.name);
    know(&p->r->keeper, hashes, count);
}

/* Where it is found now. */
static struct place place_of(struct pass *p, const struct group_pass *decided, const struct group_coming *c)
{
    struct span group = decided->model->groups[c->group].spec->name;
    if (c->row >= 0)
        return (struct place){.target = world_node_at(decided->world, (uint32_t)c->row)->name};
    return (struct place){.group = group,
                          .target = arena_printf(p->a, "machine %u of group %.*s", c->machine, SPAN_ARG(group))};
}

static bool is_as_before(const struct place *was, const struct place *now)
{
    return span_eq(was->target, now->target) && span_eq(was->group, now->group);
}

void coming_publish(struct pass *p, const struct group_pass *decided)
{
    static const struct place none[1];
    static const struct places nothing = {.items = none};
    const struct places *before = p->r->places != NULL ? p->r->places : &nothing;
    bool *dropped = ARENA_ARRAY(p->a, bool, before->count + 1);
    struct group_coming *come = ARENA_ARRAY(p->a, struct group_coming, decided->coming_count + 1);
    uint32_t count = 0, drops = 0;
    know_nodes(p, decided->model);
    for (uint32_t i = 0; i < before->count; i++) {
        const struct pod *pod = place_pod(p, &before->items[i]);
        dropped[i] = pod != NULL ? coming_has(p, &before->items[i], pod) : before->items[i].group.len != 0;
        drops += dropped[i];
    }
    for (uint32_t i = 0; i < decided->coming_count; i++) {
        const struct place *was = places_find(before, decided->coming[i].pod->meta.uid);
        struct place now = place_of(p, decided, &decided->coming[i]);
        if (was != NULL && !dropped[was - before->items])
            continue; /* a plan's, on a node that stands */
        if (was != NULL && is_as_before(was, &now)) {
            dropped[was - before->items] = false;
            drops--;
        } else {
            come[count++] = decided->coming[i];
        }
    }
    if (drops == 0 && count == 0)
        return;
    struct places *kept = places_without(before, dropped), *all = places_again(kept, NULL, 0, count, p->wall);
    for (uint32_t i = 0; i < count; i++) {
        struct place now = place_of(p, decided, &come[i]);
        places_add_named(all, come[i].pod, now.target, now.group);
    }
    places_end(all, before);
    all->snapshot = p->snapshot->sequence;
    places_destroy(&kept->shared);
    reconciler_publish(p->r, all);
}
