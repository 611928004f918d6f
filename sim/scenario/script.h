/* script: plays a scenario's events on the cluster, at their time or by seeded chance, as the people, programs and
 * clouds would do it that they stand for. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "sim/scenario/market.h"
#include "sim/scenario/scenario.h"
#include "sim/sim.h"

struct script_listener {
    void *user;
    /* One line of the log: what happened now. `subject` is one word. */
    void (*told)(void *user, const char *subject, struct span sentence);
    void (*repriced)(void *user); /* the market's prices have changed */
};

/* What is wrong between a scenario and the cluster that it is to be played on, which has all objects: Deployments
 * that are not there, offerings that no type has. The sentence begins with the field. */
bool script_check(const struct scenario *s, const struct sim_cluster *c, const struct market *m, struct err *err);

struct script;

/* An actor of the sim, which frees it; the others outlive it. Time 0 of the events is now. */
struct script *script_start(struct sim *sim, const struct scenario *s, struct market *m,
                            const struct script_listener *listener);
enum kwok_fate script_fate(const struct script *s); /* of a machine that is launched now */

#endif
