/* worker: a thread that does one job after another beside those that must not wait, with less of a claim to the cores
 * than they have: what it searches for is never urgent. */
#ifndef SERVER_WORKER_H
#define SERVER_WORKER_H

struct worker;

struct worker *worker_new(void);
/* Waits for the job that is being done, which whoever asked for it has told to stop. */
void worker_free(struct worker *w); /* NULL is fine */

/* Has job(arg) called once, on the worker's thread, and does not wait for it; but for one before that is under way. */
void worker_run(void *worker, void (*job)(void *arg), void *arg);
void worker_join(void *worker); /* returns when none is under way */

#endif
