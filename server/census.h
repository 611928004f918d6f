/* census: a series for every pod, node and NodePool, named, labelled and counted as Karpenter v1.15.0 does
 * (its controllers metrics.pod, metrics.node and metrics.nodepool), for those who look at its capacity dashboard.
 *
 * Nothing is kept from one scrape to the next: a series is written while its object is read, so that
 * who is gone has none. One scrape reads one snapshot and the world made of it, both immutable, takes
 * no lock, and goes on in pieces between which the loop (of metrics, probes and page, never the
 * extender's) answers others. What it holds is the snapshot, which is let go at the end, and the text
 * of one node's labels.
 * With 20,000 pods on 1,000 nodes it is 14 MiB of text and 80 ms of one core, the sending included; so that it does
 * not grow for ever, pods have series of their own only in a cluster that has no more of them than pods_max.
 * stowage_metrics_pods_left_out tells how many have none: all, or nobody, since a sum over some of them would mean
 * nothing.
 *
 * CPU is told in cores, everything else in its own unit. "pods" is told of every node, 0 where none
 * are, so that the dashboard's sum of DaemonSet and other pods is never without one of them. */
#ifndef SERVER_CENSUS_H
#define SERVER_CENSUS_H

#include "kube/requirement.h"
#include "kube/store.h"

enum { CENSUS_LABELS_MAX = 32 };

struct census_labels { /* of nodes that become labels of series; in the order of their names */
    struct census_label {
        struct span key;
        char name[64]; /* what is behind the slash, as Prometheus can take it */
    } items[CENSUS_LABELS_MAX];
    uint32_t count;
};

/* Kubernetes' and Karpenter's well-known ones and the provider's (`rules` NULL: none), whose texts in
 * `syms` outlive *out. A provider's beyond CENSUS_LABELS_MAX are left out. */
void census_labels_make(const struct label_rules *rules, const struct symtab *syms,
                        struct census_labels *out);

struct census;
/* Takes over the caller's reference to a snapshot that has a world. */
struct census *census_new(const struct snapshot *s, const struct census_labels *labels, uint32_t pods_max,
                          wall_ms now);
void census_free(struct census *c);
/* Goes on until `out` has `enough` bytes, or little more; false: that was all. */
bool census_write(struct census *c, size_t enough, struct buf *out);

#endif
