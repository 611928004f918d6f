#include "sim/scenario/chance.h"

#include <math.h>

uint64_t chance_next(struct chance *c)
{
    uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct chance chance_of(int64_t seed, uint64_t stream)
{
    struct chance c = {(uint64_t)seed};
    c.state = chance_next(&c) ^ (stream * UINT64_C(0xd1342543de82ef95));
    return c;
}

double chance_unit(struct chance *c)
{
    return (double)(chance_next(c) >> 11) * 0x1.0p-53;
}

uint32_t chance_below(struct chance *c, uint32_t count)
{
    return (uint32_t)(chance_unit(c) * count);
}

double chance_wait(struct chance *c, double rate)
{
    return -log1p(-chance_unit(c)) / rate;
}
