/* sample: the cluster that `stowage serve --embedded` shows when it is given no files: two
 * NodePools, Deployments of different shapes, a DaemonSet, and a script that scales them down and
 * up again, so that nodes are seen to come and go. The objects are sim/sample/cluster.yaml, compiled
 * in. */
#ifndef SIM_SAMPLE_H
#define SIM_SAMPLE_H

#include "sim/sim.h"

struct span sample_yaml(void);
/* Loads the objects and adds the script as an actor, starting at sim_now. */
bool sample_start(struct sim *s, struct err *err);

#endif
