/* wake: a flag that one thread sleeps on and any thread raises. */
#ifndef SERVER_WAKE_H
#define SERVER_WAKE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/units.h"

struct wake {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_set;
};

void wake_init(struct wake *w);
void wake_release(struct wake *w);
void wake_up(struct wake *w);
/* Until the flag is raised or clock_mono says `until`; lowers it. */
void wake_wait(struct wake *w, mono_ms until);

#endif
