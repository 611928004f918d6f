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

int health_failures(const struct health *h)
{
    int failures = 0;
    for (uint8_t i = 0; i < h->count; i++)
        failures += h->failed[i];
    return failures;
}

void health_add(struct health *h, bool ok)
{
    h->failed[h->at] = !ok;
    h->at = (uint8_t)((h->at + 1) % HEALTH_ENTRIES);
    if (h->count < HEALTH_ENTRIES)
        h->count++;
    bool healthy = health_failures(h) < HEALTH_FAILURES;
    if (ok == healthy)
        h->said = ok ? CONDITION_TRUE : CONDITION_FALSE;
}

enum condition_status health_status(const struct health *h)
{
    return h->said;
}
