/* A stand-in for Cluster API's controllers and an infrastructure whose machines are there at once: MachineDeployments keep a
 * MachineSet, MachineSets keep Machines, of which those with the annotation delete-machine go first, then those without a
 * Node, then the newest; a Machine becomes a Node; MachinePools keep providerIDs and Nodes, without Machines. */
#ifndef TESTS_SUPPORT_MACHINES_H
#define TESTS_SUPPORT_MACHINES_H

#include "tests/sim/support_sim.h"

struct machine_keeper {
    struct sim *sim;
    bool old;    /* v1beta1: where failures are told */
    bool holds;  /* new Machines stay without a Node */
    bool fails;  /* new Machines fail */
    bool lingers; /* Machines that are deleted stay */
    bool stands; /* sizes are not looked at */
    json_t *ended; /* names of Machines that it chose to delete */
    uint64_t seen;
    uint32_t names;
};

void machine_keeper_begin(struct machine_keeper *k, struct sim *s); /* settings before or after */
void machine_keeper_end(struct machine_keeper *k);
void machine_keeper_look(struct machine_keeper *k); /* at everything anew: settings have changed */

#endif
