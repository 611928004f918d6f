/* overlay: a NodeOverlay (karpenter.sh/v1alpha1): another price or more resources for instance types
 * that its requirements select (spec api 1.8). */
#ifndef KUBE_OVERLAY_H
#define KUBE_OVERLAY_H

#include "kube/finding.h"
#include "kube/requirement.h"

struct node_overlay {
    struct meta meta;
    struct expressions requirements; /* none: everything */
    struct span price, adjustment;   /* as written; absent: not set */
    bool has_capacity;
    struct resources capacity;
    int32_t weight; /* absent: 0 */
    struct conditions conditions;
};

extern const struct schema node_overlay_schema;

/* What the API server's schema would refuse, and what Karpenter refuses at run time (api 2). False: err
 * has one sentence. */
bool node_overlay_valid(const struct node_overlay *o, const struct label_rules *rules,
                        struct symtab *syms, struct err *err);
/* The same as a finding that refuses; and a warning of one that sets nothing. */
void node_overlay_findings(struct arena *a, const struct node_overlay *o, const struct label_rules *rules, struct symtab *syms,
                           struct findings *out);
bool node_overlay_prices(const struct node_overlay *o); /* sets a price, absolute or not */
/* A valid overlay's price for what costs `price` an hour: "1.5", "+0.5", "-10%"; never below 0. */
double node_overlay_price(const struct node_overlay *o, double price);

#endif
