#include "planner/disruption/methods.h"

bool multi_decide(struct disrupting *d)
{
    (void)d;
    return true; /* decides nothing yet */
}
