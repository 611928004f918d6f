/* pulse: the sign of life of one thread, which gives it each time it goes round: once a second at least, however
 * little there is to do. Read by /livez (server/health.h) and by the watchdog (server/watchdog.h). */
#ifndef SERVER_PULSE_H
#define SERVER_PULSE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/units.h"

struct pulse {
    const char *name; /* "the reconciler": what the line says that a user reads */
    _Atomic(mono_ms) last;
    _Atomic(int32_t) thread; /* the kernel's number; 0: it has not begun */
};

/* By the thread itself, which `top -H` then calls `thread`: at most 15 letters. */
void pulse_begin(struct pulse *p, const char *thread, mono_ms now);

static inline void pulse_beat(struct pulse *p, mono_ms now)
{
    atomic_store_explicit(&p->last, now, memory_order_relaxed);
}

/* For how long in all the thread was ready to run and got no core, by the kernel's account (proc(5), schedstat); 0
 * where that is not kept. */
span_ms pulse_starved(const struct pulse *p);

#endif
