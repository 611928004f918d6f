#include "reconciler/provision/pace.h"

span_ms pace_rest(uint64_t took_ns)
{
    uint64_t rest = took_ns * PACE_SHARE / 1000000;
    return rest < PACE_MAX_MS ? (span_ms)rest : PACE_MAX_MS;
}
