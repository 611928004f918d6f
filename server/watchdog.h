/* watchdog: ends the process when one of its threads stands still, since a Stowage that accepts and never answers
 * costs every pod the scheduler's time-out, and every NodePool the API server's, for as long as it lasts.
 *
 * A thread stands still when it has given no sign of life, a beat or a step, for WATCHDOG_STALL_MS; a look every
 * WATCHDOG_LOOK_MS finds it, so that the process is gone within five seconds. A round that gives steps alone has
 * PULSE_BUSY_MS, and so has, on a core, a thread that computes. Time does not count in which the
 * watchdog did not run either (SIGSTOP and SIGCONT, a machine that was suspended, a debugger), nor that for which
 * the thread waited for a core: neither is cured by a restart. All of it goes by the monotonic clock. */
#ifndef SERVER_WATCHDOG_H
#define SERVER_WATCHDOG_H

#include "base/log.h"
#include "server/health.h"

enum {
    WATCHDOG_LOOK_MS = 250,
    WATCHDOG_STALL_MS = 4 * MS_SECOND,
    WATCHDOG_EXIT = 70, /* the exit status then: EX_SOFTWARE */
};

struct watchdog;

/* `account` is pulse_account, or stands in for it. */
typedef struct pulse_account pulse_accountant(const struct pulse *p);
struct watchdog *watchdog_new(struct health *health, pulse_accountant *account);
void watchdog_free(struct watchdog *w); /* stops it first when need be */

/* One look at all threads that `health` watches: the first that stands still, or NULL, and /livez may rely on it.
 * Reads nothing but the pulses and `account`. */
const struct pulse *watchdog_look(struct watchdog *w, mono_ms now);

/* From now on a thread of its own looks; what it finds is logged, and ends the process. */
void watchdog_start(struct watchdog *w, const struct log *log);
void watchdog_stop(struct watchdog *w); /* before the others are: they fall silent then */

#endif
