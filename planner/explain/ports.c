#include "planner/explain/ports.h"

#include "planner/explain/daemons.h"

static struct host_ports wanted(const struct group_question *q)
{
    return q->p->world->classes.signatures[q->try->signature].ports;
}

/* "host port 53/UDP" */
static struct span port_text(const struct group_question *q, struct host_port port)
{
    struct span protocol = sym_text(q->p->syms, port.protocol);
    bool said = port.protocol != SYM_NONE && !span_eq(protocol, SPAN("TCP"));
    return arena_printf(&q->p->arena, "host port %d%s%.*s", port.port, said ? "/" : "",
                        SPAN_ARG(said ? protocol : SPAN("")));
}

/* On the row, one that stands before one that was placed; NULL: nobody. */
static const struct pod *holder(const struct group_question *q, uint32_t row, struct host_port port)
{
    const struct world_node *n = &q->p->world->nodes[row];
    const struct host_ports one = {&port, 1};
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (ports_conflict(one, n->pods[i]->ports))
            return n->pods[i];
    for (uint32_t i = 0; i < q->t->step_count; i++) {
        const struct trial_step *s = &q->t->steps[i];
        if (s->kind == TRIAL_ON_NODE && s->target == row &&
            ports_conflict(one, trial_pod(q->t, s->pod)->pod->ports))
            return trial_pod(q->t, s->pod)->pod;
    }
    return NULL;
}

struct span ports_on_row(const struct group_question *q, uint32_t row)
{
    struct host_ports ports = wanted(q);
    for (uint32_t i = 0; i < ports.count; i++) {
        const struct pod *pod = holder(q, row, ports.items[i]);
        if (pod != NULL)
            return arena_printf(&q->p->arena, "%.*s is taken by %.*s/%.*s",
                                SPAN_ARG(port_text(q, ports.items[i])), SPAN_ARG(pod->meta.ns),
                                SPAN_ARG(pod->meta.name));
    }
    return (struct span){NULL, 0};
}

struct span ports_on_option(const struct group_question *q, uint32_t option, struct span *holder_out)
{
    const struct option *o = &q->p->world->options[option];
    struct host_ports ports = wanted(q);
    for (uint32_t i = 0; i < ports.count; i++)
        for (uint32_t d = 0; d < o->daemon_count; d++) {
            *holder_out = daemons_on_port(q->p, &o->daemons[d], ports.items[i]);
            if (holder_out->ptr != NULL)
                return arena_printf(&q->p->arena, "%.*s, which %.*s takes on each node",
                                    SPAN_ARG(port_text(q, ports.items[i])), SPAN_ARG(*holder_out));
        }
    return (struct span){NULL, 0};
}
