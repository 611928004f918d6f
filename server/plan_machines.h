/* plan_machines: what pools on Cluster API may buy, of the MachineDeployments in the files (cloud/machine_types.h). */
#ifndef SERVER_PLAN_MACHINES_H
#define SERVER_PLAN_MACHINES_H

#include "server/input.h"

/* Of pools whose ClusterAPINodeClass is in the files the MachineDeployments are the types, and those of `catalogue`, which
 * prices them, are for the others; without such a class it stays as it is. Warns of MachineDeployments that are wrong. */
void plan_machines(struct input *o, struct catalogue *catalogue);

#endif
