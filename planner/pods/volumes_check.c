/* What is wrong with a claim, in the order in which Karpenter v1.15.0 checks, each with what to do. */
#include "planner/pods/volumes_inner.h"

#define CLAIM "PersistentVolumeClaim %.*s/%.*s"
#define CLAIM_ARG(c) SPAN_ARG((c)->meta.ns), SPAN_ARG((c)->meta.name)

struct span volumes_missing(struct volumes *v, const struct pod *p, const struct pod_volume *volume)
{
    return arena_printf(v->arena, CLAIM " %s", SPAN_ARG(p->meta.ns), SPAN_ARG(volume->claim),
                        volume->ephemeral ? "of an ephemeral volume does not exist; "
                                            "kube-controller-manager makes it from the pod's template"
                                          : "does not exist; create it");
}

static struct span volume_missing(struct volumes *v, const struct volume_claim *c)
{
    return arena_printf(v->arena, "PersistentVolume %.*s of " CLAIM
                                  " does not exist; restore it, or delete the claim and create it anew",
                        SPAN_ARG(c->volume), CLAIM_ARG(c));
}

static struct span class_missing(struct volumes *v, const struct volume_claim *c)
{
    return arena_printf(v->arena, "StorageClass %.*s of the unbound " CLAIM
                                  " does not exist; create it",
                        SPAN_ARG(sym_text(v->syms, c->storage_class)), CLAIM_ARG(c));
}

static struct span bound_invalid(struct volumes *v, const struct volume_chain *x)
{
    const struct volume_claim *c = x->claim;
    if (x->volume == NULL)
        return volume_missing(v, c);
    if (x->volume->meta.deleted != 0)
        return arena_printf(v->arena, "PersistentVolume %.*s of " CLAIM
                                      " is being deleted; delete the claim too and create it anew",
                            SPAN_ARG(c->volume), CLAIM_ARG(c));
    if (!volume_claim_is_bound(c))
        return arena_printf(v->arena, CLAIM " names PersistentVolume %.*s but is not bound to it yet "
                                            "(no annotation pv.kubernetes.io/bind-completed); wait for "
                                            "the binding, or take spec.volumeName out",
                            CLAIM_ARG(c), SPAN_ARG(c->volume));
    return (struct span){NULL, 0};
}

static struct span topology_invalid(struct volumes *v, const struct volume_chain *x)
{
    const struct storage_class *k = x->class_;
    for (uint32_t t = 0; t < k->topologies.count; t++)
        for (uint32_t e = 0; e < k->topologies.items[t].expressions.count; e++) {
            sym key = k->topologies.items[t].expressions.items[e].key;
            if (syms_has(v->unsupported_topology_keys, key))
                return arena_printf(
                    v->arena, "StorageClass %.*s of " CLAIM " allows volumes by %.*s, a label that no "
                              "node of this provider has; use another StorageClass",
                    SPAN_ARG(k->meta.name), CLAIM_ARG(x->claim), SPAN_ARG(sym_text(v->syms, key)));
        }
    return (struct span){NULL, 0};
}

static struct span unbound_invalid(struct volumes *v, const struct volume_chain *x)
{
    const struct volume_claim *c = x->claim;
    if (sym_text(v->syms, c->storage_class).len == 0)
        return arena_printf(v->arena, CLAIM " is unbound and names no StorageClass; create it anew with "
                                            "spec.storageClassName",
                            CLAIM_ARG(c));
    if (x->class_ == NULL)
        return class_missing(v, c);
    if (!x->class_->waits)
        return arena_printf(v->arena, CLAIM " is unbound though StorageClass %.*s binds at once "
                                            "(volumeBindingMode Immediate); see the claim's events, or use "
                                            "a class with WaitForFirstConsumer",
                            CLAIM_ARG(c), SPAN_ARG(x->class_->meta.name));
    return topology_invalid(v, x);
}

struct span volumes_invalid(struct volumes *v, const struct volume_chain *x)
{
    const struct volume_claim *c = x->claim;
    if (c->meta.deleted != 0)
        return arena_printf(v->arena, CLAIM " is being deleted; create it anew when it is gone",
                            CLAIM_ARG(c));
    if (c->lost)
        return arena_printf(v->arena, CLAIM " has lost its PersistentVolume %.*s (phase Lost); "
                                            "restore the volume, or delete the claim and create it anew",
                            CLAIM_ARG(c), SPAN_ARG(c->volume));
    struct span why = c->volume.len != 0 ? bound_invalid(v, x) : unbound_invalid(v, x);
    if (why.ptr == NULL && syms_has(v->unsupported_drivers, x->driver))
        return arena_printf(v->arena, CLAIM " needs CSI driver %.*s, which no node of this provider "
                                            "runs; use another StorageClass",
                            CLAIM_ARG(c), SPAN_ARG(sym_text(v->syms, x->driver)));
    return why;
}

struct span volumes_error(struct volumes *v, const struct volume_chain *x)
{
    const struct volume_claim *c = x->claim;
    if (c->volume.len != 0 && x->volume == NULL)
        return volume_missing(v, c);
    if (c->volume.len == 0 && x->class_ == NULL && sym_text(v->syms, c->storage_class).len != 0)
        return class_missing(v, c);
    return (struct span){NULL, 0};
}
