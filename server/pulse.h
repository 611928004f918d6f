/* pulse: the sign of life of one thread, which gives it each time it goes round: once a second at least, however
 * little there is to do. A long round may say between its parts that it progresses. Read by the watchdog
 * (server/watchdog.h) and, while that does not run, by /livez (server/health.h). All times are of clock_mono. */
#ifndef SERVER_PULSE_H
#define SERVER_PULSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

/* A thread that computes, from what tenants have created, may be at it for so long, and so may a round that
 * progresses: a world of thousands of odd selectors takes seconds, and a restart would take them again. An endless
 * loop takes longer. */
enum { PULSE_BUSY_MS = 60 * MS_SECOND };

struct pulse {
    const char *name; /* "the reconciler": what the line says that a user reads */
    bool computes;    /* plans and worlds; nobody outside waits for its next round */
    _Atomic(mono_ms) last;
    _Atomic(mono_ms) step; /* the last sign of progress within a round */
    _Atomic(int32_t) thread; /* the kernel's number; 0: it has not begun */
};

/* By the thread itself, which `top -H` then calls `thread`: at most 15 letters. The pulse is then the thread's own. */
void pulse_begin(struct pulse *p, const char *thread, mono_ms now);

/* The calling thread has done a part of its round: a request, an event, a step of a long computation. Does nothing in
 * a thread without a pulse. */
void pulse_step(mono_ms now);

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
