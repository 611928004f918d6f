#include "planner/disruption/methods.h"

bool single_decide(struct disrupting *d)
{
    (void)d;
    return true; /* decides nothing yet */
}
