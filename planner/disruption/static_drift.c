#include "planner/disruption/methods.h"

bool static_drift_decide(struct disrupting *d)
{
    (void)d;
    return true; /* decides nothing yet */
}
