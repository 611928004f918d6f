#include "kube/own_annotations.h"

#include "base/nearest.h"
#include "kube/wellknown.h"

#define PREFIX "stowage.dev/"

static const struct row {
    sym key;
    enum kind of; /* KIND_POD: the template of a workload's */
} rows[] = {
    {SYM_NODE_COST, KIND_NODE_POOL},    {SYM_MIN_SAVINGS, KIND_NODE_POOL}, {SYM_ALLOW_WINDOWS, KIND_NODE_POOL},
    {SYM_MODE, KIND_NODE_POOL},         {SYM_DAEMON_ROOM, KIND_NODE_POOL}, {SYM_ON_DEMAND_BASE, KIND_POD},
    {SYM_SPOT_PERCENT, KIND_POD},       {SYM_SHAPE_POOL, KIND_POD},        {SYM_SHAPE_SCHEDULER, KIND_POD},
    {SYM_PREFER, KIND_POD},
    {SYM_PLANNED, KIND_NODE_CLAIM},     {SYM_REPLACES, KIND_NODE_CLAIM},   {SYM_DECISION, KIND_NODE_CLAIM},
    {SYM_CLAIM_UID, KIND_NODE_CLAIM},   /* from its instance */
};

static struct span after_prefix(struct span key)
{
    return (struct span){key.ptr + strlen(PREFIX), key.len - strlen(PREFIX)};
}

static const struct row *row_of(struct span key)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (span_eq(key, wellknown_text[rows[i].key - 1]))
            return &rows[i];
    return NULL;
}

static struct span of_others(struct arena *a, enum kind here, enum kind there)
{
    static const char *const fixes[KIND_NODE_POOL + 1] = {[KIND_POD] = "write it on the template of the workload's pods",
                                                          [KIND_NODE_POOL] = "write it on the NodePool",
                                                          [KIND_NODE_CLAIM] = "remove it"};
    return arena_printf(a, "has no effect on a %s. Fix: %s", kind_info(here)->name, fixes[there]);
}

static struct span of_nobody(struct arena *a, struct span key, enum kind here)
{
    struct nearest n = {.given = after_prefix(key)};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].of == here)
            nearest_try(&n, after_prefix(wellknown_text[rows[i].key - 1]));
    return n.best.ptr != NULL ? arena_printf(a, "there is no such annotation. Fix: write " PREFIX "%.*s", SPAN_ARG(n.best))
                              : SPAN("there is no such annotation. Fix: remove it");
}

void own_annotations_warnings(struct arena *a, struct annotations list, enum kind of, const struct symtab *syms,
                              struct findings *out)
{
    for (uint32_t i = 0; i < list.count && !findings_closed(out); i++) {
        struct span key = sym_text(syms, list.items[i].key);
        const struct row *row = row_of(key);
        if (!span_has_prefix(key, SPAN(PREFIX)) || (row != NULL && row->of == of))
            continue;
        finding_add(a, out, false, arena_printf(a, "metadata.annotations[%.*s]", SPAN_ARG(key)),
                    row != NULL ? of_others(a, of, row->of) : of_nobody(a, key, of));
    }
}
