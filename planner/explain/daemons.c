#include "planner/explain/daemons.h"

static struct span name_of(struct plan *p, uint32_t daemon)
{
    const struct meta *m = &p->world->daemon_sets[daemon]->meta;
    return arena_printf(&p->arena, "DaemonSet %.*s/%.*s", SPAN_ARG(m->ns), SPAN_ARG(m->name));
}

static amount takes(const struct plan *p, uint32_t daemon, uint32_t column)
{
    const struct world *w = p->world;
    return classes_requests(&w->classes, w->daemons[daemon])[column];
}

static bool comes_first(const struct plan *p, uint32_t x, uint32_t y)
{
    const struct meta *a = &p->world->daemon_sets[x]->meta, *b = &p->world->daemon_sets[y]->meta;
    int order = span_cmp(a->ns, b->ns);
    return (order != 0 ? order : span_cmp(a->name, b->name)) < 0;
}

/* The group has members. */
static uint32_t heaviest(const struct plan *p, const struct daemon_group *g, uint32_t column)
{
    uint32_t best = g->members[0];
    for (uint32_t i = 1; i < g->member_count; i++) {
        amount more = takes(p, g->members[i], column), most = takes(p, best, column);
        if (more > most || (more == most && comes_first(p, g->members[i], best)))
            best = g->members[i];
    }
    return best;
}

struct span daemons_heaviest(struct plan *p, const struct daemon_group *g, uint32_t column)
{
    return name_of(p, heaviest(p, g, column));
}

struct span daemons_take(struct plan *p, const struct daemon_group *g, uint32_t column)
{
    uint32_t most = heaviest(p, g, column);
    struct span all = words_amount(p, column, g->overhead[column]), name = name_of(p, most);
    if (takes(p, most, column) == g->overhead[column])
        return arena_printf(&p->arena, "%.*s takes %.*s of each node", SPAN_ARG(name), SPAN_ARG(all));
    return arena_printf(&p->arena, "DaemonSets take %.*s of each node, %.*s %.*s of them", SPAN_ARG(all),
                        SPAN_ARG(name), SPAN_ARG(words_amount(p, column, takes(p, most, column))));
}

struct span daemons_on_port(struct plan *p, const struct daemon_group *g, struct host_port port)
{
    const struct world *w = p->world;
    const struct host_ports wanted = {&port, 1};
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < g->member_count; i++) {
        uint32_t d = g->members[i];
        if (ports_conflict(wanted, w->classes.items[w->daemons[d]].example->ports) &&
            (found == UINT32_MAX || comes_first(p, d, found)))
            found = d;
    }
    return found == UINT32_MAX ? (struct span){NULL, 0} : name_of(p, found);
}
