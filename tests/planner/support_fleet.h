/* support_fleet: a standing fleet in a few words, for tests of who leaves it.
 *
 * A line is an object; words are parted by blanks, a word "key=value" is an option:
 *   type NAME CPUS OFFER…        OFFER: spot/a/0.1, od/a/0.2, res/a/0.001/r1/2 (reservation r1, 2 left); "!" behind it: not
 *                                available. 4Gi of memory a CPU, 110 pods. family=F is a label of that name
 *   pool NAME                    policy=Balanced, after=5m (consolidateAfter; 0s), budget=50% (100%), weight=N, cpus=N (limit),
 *                                types=a,b, capacity=spot,od, min=N (minValues of the instance type), cost=0.1 or
 *                                least=0.05 (min-savings) or room=true (daemonset-room) or mode=act,Empty=observe,
 *                                replicas=N, ready=no
 *   node NAME POOL TYPE spot/a   stage=registered, consolidatable=no, event=TIME (of its last pod), without=LABEL, deleting=yes
 *   pod NAME NODE CPUS           NODE "-": pending. app=x, apart=yes (from its app, by host), apart=prefer, daemon=yes, of=NAME (a ReplicaSet),
 *                                cost=N (pod-deletion-cost), priority=N, stays=yes (do-not-disrupt), zone=a, capacity=od (selector)
 *   pdb NAME APP MAX             maxUnavailable and disruptionsAllowed
 * A line that begins with "---" is YAML to the end of the text. */
#ifndef TESTS_PLANNER_SUPPORT_FLEET_H
#define TESTS_PLANNER_SUPPORT_FLEET_H

#include "support_cluster.h"

#define FLEET_NOW "2026-01-01T12:00:00Z"
#define FLEET_JUST_NOW "2026-01-01T11:59:00Z"

/* Adds to the cluster, whose `now` becomes FLEET_NOW. A word that means nothing fails the test. */
void fleet_add(struct cluster *c, const char *text);

#endif
