#include "reconciler/status/health.h"

struct health health_of(enum condition_status status)
{
    struct health h = {0};
    if (status == CONDITION_TRUE)
        health_add(&h, true);
    for (int i = 0; i < HEALTH_FAILURES && status == CONDITION_FALSE; i++)
        health_add(&h, false);
    return h;
}

void health_add(struct health *h, bool ok)
{
    h->failed[h->at] = !ok;
    h->at = (uint8_t)((h->at + 1) % HEALTH_ENTRIES);
    if (h->count < HEALTH_ENTRIES)
        h->count++;
}

int health_failures(const struct health *h)
{
    int failures = 0;
    for (uint8_t i = 0; i < h->count; i++)
        failures += h->failed[i];
    return failures;
}

enum condition_status health_status(const struct health *h)
{
    if (h->count == 0)
        return CONDITION_UNKNOWN;
    return health_failures(h) >= HEALTH_FAILURES ? CONDITION_FALSE : CONDITION_TRUE;
}
