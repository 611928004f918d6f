/* machines: NodeClaims whose machines are those of Cluster API's MachineDeployments (cloud/machine_types.h): a claim takes a
 * Machine that nobody has, and for as many claims as find none the MachineDeployment is made larger.
 *
 * All that is known stands in the management cluster, which is the cluster that the snapshots show, so that a process may die
 * between any two writes:
 * - A Machine is a claim's from the write on that puts the claim's UID on it (annotation stowage.dev/nodeclaim-uid, with the
 *   version that was seen, so that two cannot take it; who is refused it waits for a newer version, and asks for no other
 *   meanwhile). One that karpenter-provider-cluster-api has taken (label node.cluster.x-k8s.io/karpenter-member) is the
 *   claim's that has its providerID.
 * - A MachineDeployment's size is written with the version that was seen, by what is there: so many Machines as are not
 *   marked to go, and one for each claim that waits and finds none. While Machines are on their way, or too many, it waits;
 *   so a size that was written and whose Machine is not there yet counts for the next claim, whoever wrote it.
 * - A Machine that is to go is marked (delete-machine: stowage), and the size is lowered by as many as are marked and still
 *   counted: once, however often it is asked.
 *
 * A claim waits until its Machine has a providerID. ERR_CAPACITY: no MachineDeployment that it admits is below its maximum, or
 * its Machine has failed; that MachineDeployment is not offered for MACHINES_SOLD_OUT_MS then. Where several are to be had the
 * cheapest is taken, then the first by its type's name.
 *
 * A claim's machine is drifted when the MachineDeployment is gone or not its class's any more (NodeClassDrifted), or
 * promises a label another value than the claim has (MachineDeploymentDrifted). It is not rebooted, and has no repair
 * policies. A claim that is given up while its Machine is on its way leaves that to the next claim. */
#ifndef CLOUD_MACHINES_H
#define CLOUD_MACHINES_H

#include "base/share.h"
#include "cloud/machine_types.h"
#include "cloud/provider.h"
#include "kube/api.h"

enum {
    MACHINES_SOLD_OUT_MS = 3 * MS_MINUTE, /* as kwok's: Karpenter's providers wait so long, too */
    MACHINES_LOOK_MS = MS_SECOND,         /* while somebody waits it is looked at least so often, for what no watch tells */
    MACHINES_AGAIN_MS = 10 * MS_SECOND,   /* what was written, but its answer lost, is written again if no newer version came */
};

struct machines_config {
    struct api *api;
    struct catalogue_source *prices; /* borrowed; NULL: none are listed */
    void (*wake)(void *user);        /* step has something to do; may be NULL */
    /* What is wrong with a MachineDeployment, so that it is for no pool; all of them anew when one is another. From the thread
     * that lists types. May be NULL. */
    machine_aside *aside;
    void *user;
};

struct provider *machines_new(const struct machines_config *config);
/* Where struct snapshot of the cluster is published, with the kinds that it watches. Until then nothing is known. Before any
 * other call. */
void machines_watch(struct provider *p, struct share *snapshots);

#endif
