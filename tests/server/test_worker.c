/* Jobs are done beside whoever asks for them, each once, one after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <semaphore.h>

#include "server/worker.h"

struct job {
    sem_t may_end, done;
    uint32_t count; /* as often as it was done; nobody else looks at it before `done` */
};

static void init(struct job *j)
{
    sem_init(&j->may_end, 0, 0);
    sem_init(&j->done, 0, 0);
    j->count = 0;
}

static void count(void *arg)
{
    struct job *j = arg;
    j->count++;
    sem_post(&j->done);
}

static void wait_and_count(void *arg)
{
    struct job *j = arg;
    sem_wait(&j->may_end);
    j->count++;
}

/* Who asks again in the moment in which the last one says that it is done loses none. */
static void each_job_is_done_once(void **state)
{
    (void)state;
    enum { JOBS = 2000 };
    struct worker *w = worker_new();
    struct job j;
    init(&j);
    for (uint32_t i = 1; i <= JOBS; i++) {
        worker_run(w, count, &j);
        sem_wait(&j.done);
        assert_int_equal(j.count, i);
    }
    worker_free(w);
    assert_int_equal(j.count, JOBS);
}

static void who_asks_goes_on_and_can_wait(void **state)
{
    (void)state;
    struct worker *w = worker_new();
    struct job j;
    init(&j);
    worker_join(w); /* nothing is under way */
    worker_run(w, wait_and_count, &j); /* it can only end after we went on */
    sem_post(&j.may_end);
    worker_join(w);
    assert_int_equal(j.count, 1);
    worker_run(w, wait_and_count, &j);
    sem_post(&j.may_end);
    worker_free(w); /* waits, too */
    assert_int_equal(j.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_is_done_once),
        cmocka_unit_test(who_asks_goes_on_and_can_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
