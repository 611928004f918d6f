/* side: one of the two that `stowage diff` compares, as numbers with names. */
#ifndef SERVER_DIFF_SIDE_H
#define SERVER_DIFF_SIDE_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/err.h"
#include "kube/instance_type.h"

enum diff_section { /* in the order in which they are shown */
    DIFF_COST,      /* dollars an hour: "now", "with the plan"; what is not known is not there */
    DIFF_PODS,      /* "on new nodes", "on nodes that exist", "without a place" */
    DIFF_NODES,     /* to buy, by pool */
    DIFF_TYPES,     /* to buy, by the cheapest type of each */
    DIFF_WORKLOADS, /* dollars an hour that each adds: "Deployment shop/web" */
    DIFF_OFFERS,    /* dollars an hour of a catalogue's type, of its cheapest zone: "c-4x-amd64-linux spot" */
    DIFF_SECTIONS,
};

struct diff_item {
    enum diff_section section;
    struct span name;
    double value;
};

struct diff_side {
    struct span title;
    struct diff_item *items; /* sorted by section and name, each name of a section once */
    size_t count, capacity;
};

/* Of a document of `plan -o json` or yaml; everything lives in `a`. An error names the field. */
bool diff_side_of_plan(struct arena *a, struct doc_value plan, struct diff_side *out, struct err *err);
/* Of a catalogue: what each type costs by kind of capacity, where it can be launched. */
void diff_side_of_types(struct arena *a, const struct catalogue *c, const struct symtab *syms, struct diff_side *out);

#endif
