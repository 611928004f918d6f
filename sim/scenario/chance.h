/* chance: numbers that look like chance and come from a seed alone (SplitMix64, public domain): the same seed gives
 * the same run. Each event of a scenario has a stream of its own, so that one event more changes no other. */
#ifndef SIM_CHANCE_H
#define SIM_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

struct chance chance_of(int64_t seed, uint64_t stream);
uint64_t chance_next(struct chance *c);
double chance_unit(struct chance *c);                     /* 0 ≤ x < 1 */
uint32_t chance_below(struct chance *c, uint32_t count);  /* count > 0 */
double chance_wait(struct chance *c, double rate);        /* until the next of a Poisson process of this rate */

#endif
