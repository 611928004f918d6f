#include "server/watchdog.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "server/clock.h"
#include "server/wake.h"

enum {
    DOUBT_MS = 2 * MS_SECOND,       /* of silence: from then on the kernel is asked who had no core */
    LOOK_MOST_MS = 2 * WATCHDOG_LOOK_MS, /* what passed beyond this we did not run ourselves */
    LAST_WORDS_S = 1,               /* that the log may take: perhaps it is what everybody waits for */
};

struct patience { /* with one thread */
    mono_ms beat, step;
    span_ms passed;               /* since the beat */
    span_ms silent, busy;         /* since the beat: without a step and at nothing; computing, or with steps */
    struct pulse_account account; /* at the look before, while in doubt */
};

struct watchdog {
    struct health *health;
    pulse_accountant *account;
    struct patience patience[HEALTH_PULSES_MAX];
    mono_ms looked; /* 0: never */
    const struct log *log;
    struct wake wake;
    pthread_t thread;
    _Atomic(bool) stopping;
    bool started;
};

struct watchdog *watchdog_new(struct health *health, pulse_accountant *account)
{
    struct watchdog *w = mem_new(sizeof(*w));
    w->health = health;
    w->account = account;
    wake_init(&w->wake);
    return w;
}

void watchdog_free(struct watchdog *w)
{
    if (w == NULL)
        return;
    watchdog_stop(w);
    wake_release(&w->wake);
    free(w);
}

static bool stands_still(struct watchdog *w, struct patience *p, const struct pulse *pulse,
                         span_ms passed)
{
    mono_ms beat = atomic_load_explicit(&pulse->last, memory_order_relaxed);
    mono_ms step = atomic_load_explicit(&pulse->step, memory_order_relaxed);
    if (beat != p->beat) {
        *p = (struct patience){.beat = beat, .step = step};
        return false;
    }
    bool doubted = p->passed >= DOUBT_MS, steps = step != p->step;
    p->step = step;
    p->passed += passed;
    p->silent = steps ? 0 : p->silent + passed;
    if (p->passed < DOUBT_MS)
        return false;
    struct pulse_account now = w->account(pulse);
    if (doubted) {
        span_ms starved = earlier(now.starved - p->account.starved, passed);
        span_ms busy = steps ? passed - starved : pulse->computes ? now.ran - p->account.ran : 0;
        p->busy += busy;
        p->silent -= steps ? 0 : earlier(busy + starved, passed);
    }
    p->account = now;
    return p->silent >= WATCHDOG_STALL_MS || p->busy >= PULSE_BUSY_MS;
}

const struct pulse *watchdog_look(struct watchdog *w, mono_ms now)
{
    span_ms passed = w->looked != 0 ? earlier(now - w->looked, LOOK_MOST_MS) : 0;
    w->looked = now;
    uint32_t count;
    const struct pulse *const *pulses = health_pulses(w->health, &count);
    for (uint32_t i = 0; i < count; i++)
        if (stands_still(w, &w->patience[i], pulses[i], passed))
            return pulses[i];
    health_judged(w->health, now);
    return NULL;
}

/* Who waits for what one that stands still holds may be found before it: all are named. */
static void end_process(const struct watchdog *w, const struct pulse *still)
{
    char others[512] = "";
    uint32_t count;
    const struct pulse *const *pulses = health_pulses(w->health, &count);
    alarm(LAST_WORDS_S);
    for (uint32_t i = 0; i < count; i++) {
        size_t len = strlen(others);
        if (pulses[i] != still && w->patience[i].silent >= DOUBT_MS)
            snprintf(others + len, sizeof(others) - len, "%s%s", len == 0 ? "; silent, too: " : ", ",
                     pulses[i]->name);
    }
    log_error(w->log, "watchdog",
              "%s has stood still for %lld s: the process ends, so that a new one answers%s", still->name,
              (long long)(WATCHDOG_STALL_MS / MS_SECOND), others);
    _exit(WATCHDOG_EXIT);
}

static void *watch(void *user)
{
    struct watchdog *w = user;
    pthread_setname_np(pthread_self(), "watchdog");
    while (!atomic_load(&w->stopping)) {
        mono_ms now = clock_mono();
        const struct pulse *still = watchdog_look(w, now);
        if (still != NULL)
            end_process(w, still);
        wake_wait(&w->wake, now + WATCHDOG_LOOK_MS);
    }
    return NULL;
}

void watchdog_start(struct watchdog *w, const struct log *log)
{
    assert(!w->started);
    w->log = log;
    w->started = pthread_create(&w->thread, NULL, watch, w) == 0;
    if (!w->started)
        abort(); /* no threads: nothing can be served */
}

void watchdog_stop(struct watchdog *w)
{
    if (!w->started)
        return;
    atomic_store(&w->stopping, true);
    wake_up(&w->wake);
    pthread_join(w->thread, NULL);
    w->started = false;
}
