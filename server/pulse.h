/* pulse: the sign of life of one thread, which gives it each time it goes round: once a second at least, however
 * little there is to do. Read by /livez (server/health.h) and by the watchdog (server/watchdog.h). */
#ifndef SERVER_PULSE_H
#define SERVER_PULSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

/* A thread that computes, from what tenants have created, may be at it for so long: a world of thousands of odd
 * selectors takes seconds, and a restart would take them again. An endless loop takes longer. */
enum { PULSE_BUSY_MS = 60 * MS_SECOND };

struct pulse {
    const char *name; /* "the reconciler": what the line says that a user reads */
    bool computes;    /* plans and worlds; nobody outside waits for its next round */
    _Atomic(mono_ms) last;
    _Atomic(int32_t) thread; /* the kernel's number; 0: it has not begun */
};

/* By the thread itself, which `top -H` then calls `thread`: at most 15 letters. */
void pulse_begin(struct pulse *p, const char *thread, mono_ms now);

static inline void pulse_beat(struct pulse *p, mono_ms now)
{
    atomic_store_explicit(&p->last, now, memory_order_relaxed);
}

/* For how long in all the thread ran, and was ready to run and got no core, by the kernel's account (proc(5),
 * schedstat); 0 where that is not kept. */
struct pulse_account {
    span_ms ran, starved;
};
struct pulse_account pulse_account(const struct pulse *p);

#endif
