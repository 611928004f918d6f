/* Initialized: the Node is ready for pods, as spec disruption 12.4 counts it. */
#include "reconciler/lifecycle/lifecycle.h"

static const struct span INITIALIZED = SPAN_INIT("Initialized");

static struct span taint_text(struct arena *a, const struct taint *t, const struct symtab *syms)
{
    struct span value = sym_text(syms, t->value);
    return arena_printf(a, "%.*s%s%.*s:%s", SPAN_ARG(sym_text(syms, t->key)),
                        value.len != 0 ? "=" : "", SPAN_ARG(value), taint_effect_name(t->effect));
}

static const struct taint *startup_taint(const struct lifecycle_facts *f)
{
    for (uint32_t i = 0; i < f->claim->startup_taints.count; i++)
        for (uint32_t n = 0; n < f->node->taints.count; n++)
            if (f->node->taints.items[n].key == f->claim->startup_taints.items[i].key &&
                f->node->taints.items[n].effect == f->claim->startup_taints.items[i].effect)
                return &f->node->taints.items[n];
    return NULL;
}

static const struct taint *ephemeral_taint(const struct lifecycle_facts *f)
{
    for (uint32_t i = 0; i < f->node->taints.count; i++)
        if (taint_is_ephemeral(&f->node->taints.items[i], f->syms))
            return &f->node->taints.items[i];
    return NULL;
}

/* The first resource, by name, that was asked for and that the Node has not. */
static sym missing_resource(const struct lifecycle_facts *f)
{
    sym first = SYM_NONE;
    for (uint32_t i = 0; i < f->claim->requests.count; i++) {
        const struct resource *r = &f->claim->requests.items[i];
        if (r->value == 0 || resources_get(f->node->allocatable, r->name) != 0)
            continue;
        if (first == SYM_NONE || span_cmp(sym_text(f->syms, r->name), sym_text(f->syms, first)) < 0)
            first = r->name;
    }
    return first;
}

static void wait_for(struct lifecycle_step *s, struct span reason, struct span message)
{
    condition_set_put(&s->conditions, INITIALIZED, CONDITION_UNKNOWN, reason, message);
}

void lifecycle_initialize(struct arena *a, const struct lifecycle_facts *f,
                          struct lifecycle_step *s)
{
    const struct taint *t;
    sym resource;
    if (lifecycle_status(s, INITIALIZED) != CONDITION_UNKNOWN ||
        lifecycle_status(s, SPAN("Registered")) != CONDITION_TRUE ||
        conditions_true(f->claim->conditions, SPAN("Rebooting")))
        return;
    if (f->node == NULL || f->nodes != 1)
        wait_for(s, SPAN("NodeNotFound"), SPAN("Node not registered with cluster"));
    else if (!node_is_ready(f->node))
        wait_for(s, SPAN("NodeNotReady"), SPAN("Node status is NotReady"));
    else if ((t = startup_taint(f)) != NULL)
        wait_for(s, SPAN("StartupTaintsExist"),
                 arena_printf(a, "StartupTaint \"%.*s\" still exists",
                              SPAN_ARG(taint_text(a, t, f->syms))));
    else if ((t = ephemeral_taint(f)) != NULL)
        wait_for(s, SPAN("KnownEphemeralTaintsExist"),
                 arena_printf(a, "KnownEphemeralTaint \"%.*s\" still exists",
                              SPAN_ARG(taint_text(a, t, f->syms))));
    else if ((resource = missing_resource(f)) != SYM_NONE)
        wait_for(s, SPAN("ResourceNotRegistered"),
                 arena_printf(a, "Resource \"%.*s\" was requested but not registered",
                              SPAN_ARG(sym_text(f->syms, resource))));
    else if (sym_pairs_get(f->node->meta.labels, SYM_INITIALIZED) != SYM_TRUE) {
        s->node_patch = SPAN("{\"metadata\":{\"labels\":{\"karpenter.sh/initialized\":\"true\"}}}");
        s->node_initializes = true;
    } else {
        condition_set_true(&s->conditions, INITIALIZED);
    }
}
