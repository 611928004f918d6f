#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "server/clock.h"
#include "server/watchdog.h"

static span_ms starved_for, ran_for; /* what the kernel would tell */

static struct pulse_account account(const struct pulse *p)
{
    (void)p;
    return (struct pulse_account){ran_for, starved_for};
}

struct fixture {
    struct health *health;
    struct watchdog *watchdog;
    struct pulse api, loop;
    mono_ms now;
};

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->health = health_new();
    f->now = 1000000;
    f->api = (struct pulse){.name = "the API thread", .last = f->now};
    f->loop = (struct pulse){.name = "a loop", .last = f->now};
    health_watch(f->health, &f->api);
    health_watch(f->health, &f->loop);
    f->watchdog = watchdog_new(f->health, account);
    starved_for = ran_for = 0;
    assert_null(watchdog_look(f->watchdog, f->now));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    watchdog_free(f->watchdog);
    health_free(f->health);
    free(f);
    return 0;
}

/* Looks as often as the watchdog does, the API thread beating all the while, until it finds something or `limit`
 * is over; for how long it looked. */
static span_ms look_for(struct fixture *f, span_ms limit, const struct pulse **found_out)
{
    mono_ms begin = f->now;
    *found_out = NULL;
    while (*found_out == NULL && f->now - begin < limit) {
        f->now += WATCHDOG_LOOK_MS;
        pulse_beat(&f->api, f->now);
        *found_out = watchdog_look(f->watchdog, f->now);
    }
    return f->now - begin;
}

static void test_a_stall_is_found_within_five_seconds(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found;
    span_ms took = look_for(f, 60 * MS_SECOND, &found);
    assert_ptr_equal(found, &f->loop);
    assert_true(took >= WATCHDOG_STALL_MS && took <= 5 * MS_SECOND - WATCHDOG_LOOK_MS);
}

/* Whatever takes long and beats, as a solve does. */
static void test_who_beats_is_let_alone(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found;
    for (int i = 0; i < 20; i++) {
        look_for(f, WATCHDOG_STALL_MS - WATCHDOG_LOOK_MS, &found);
        assert_null(found);
        pulse_beat(&f->loop, f->now);
    }
    look_for(f, 5 * MS_SECOND, &found);
    assert_ptr_equal(found, &f->loop); /* what was forgiven is not forgiven for good */
}

/* SIGSTOP and SIGCONT, a suspended machine: nobody ran, the watchdog included. */
static void test_time_in_which_nobody_ran_does_not_count(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found;
    for (int i = 0; i < 20; i++) {
        f->now += 3600 * MS_SECOND;
        assert_null(watchdog_look(f->watchdog, f->now));
        pulse_beat(&f->api, f->now);
        pulse_beat(&f->loop, f->now);
    }
    look_for(f, 5 * MS_SECOND, &found);
    assert_ptr_equal(found, &f->loop);
}

static void test_who_gets_no_core_is_not_to_blame(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found = NULL;
    starved_for = 77000; /* since it began: no excuse for what comes now */
    for (int i = 0; i < 60 * MS_SECOND / WATCHDOG_LOOK_MS && found == NULL; i++) {
        starved_for += WATCHDOG_LOOK_MS;
        look_for(f, WATCHDOG_LOOK_MS, &found);
    }
    assert_null(found);
    look_for(f, 5 * MS_SECOND, &found); /* now it has a core, and still does nothing */
    assert_ptr_equal(found, &f->loop);
}

/* What a tenant has created may take seconds to plan with: a restart would begin with it again. */
static void test_who_computes_has_a_minute(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found = NULL;
    span_ms took = 0;
    f->loop.computes = true;
    while (found == NULL && took < 3600 * MS_SECOND) {
        ran_for += WATCHDOG_LOOK_MS;
        took += look_for(f, WATCHDOG_LOOK_MS, &found);
    }
    assert_ptr_equal(found, &f->loop);
    assert_true(took >= PULSE_BUSY_MS && took < PULSE_BUSY_MS + WATCHDOG_STALL_MS);
    pulse_beat(&f->loop, f->now);
    took = look_for(f, 60 * MS_SECOND, &found); /* it waits for something that does not come */
    assert_ptr_equal(found, &f->loop);
    assert_true(took <= 5 * MS_SECOND - WATCHDOG_LOOK_MS);
}

static void test_whom_others_wait_for_has_no_minute(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found = NULL;
    span_ms took = 0;
    while (found == NULL && took < 60 * MS_SECOND) {
        ran_for += WATCHDOG_LOOK_MS;
        took += look_for(f, WATCHDOG_LOOK_MS, &found);
    }
    assert_ptr_equal(found, &f->loop);
    assert_true(took <= 5 * MS_SECOND - WATCHDOG_LOOK_MS);
}

/* A round that is long and progresses, of a thread for which others wait; or that goes on for ever. */
static void test_who_progresses_has_a_minute(void **state)
{
    struct fixture *f = *state;
    const struct pulse *found = NULL;
    span_ms took = 0;
    while (found == NULL && took < 3600 * MS_SECOND) {
        ran_for += WATCHDOG_LOOK_MS;
        atomic_store(&f->loop.step, f->now);
        took += look_for(f, WATCHDOG_LOOK_MS, &found);
    }
    assert_ptr_equal(found, &f->loop);
    assert_true(took >= PULSE_BUSY_MS && took < PULSE_BUSY_MS + WATCHDOG_STALL_MS);
    pulse_beat(&f->loop, f->now);
    for (int i = 0; i < 40; i++) {
        atomic_store(&f->loop.step, f->now);
        look_for(f, WATCHDOG_LOOK_MS, &found);
        assert_null(found);
    }
    took = look_for(f, 60 * MS_SECOND, &found); /* it progresses no more */
    assert_ptr_equal(found, &f->loop);
    assert_true(took <= 5 * MS_SECOND - WATCHDOG_LOOK_MS);
}

static void test_a_step_is_of_the_calling_thread(void **state)
{
    (void)state;
    struct pulse p = {.name = "this one"};
    pulse_step(5); /* of no pulse yet, or of that of another test */
    assert_int_equal(atomic_load(&p.step), 0);
    pulse_begin(&p, "this", 7);
    pulse_step(9);
    assert_int_equal(atomic_load(&p.step), 9);
    assert_int_equal(atomic_load(&p.last), 7);
}

/* The probe of liveness, which knows no more than when a thread has beaten, agrees with what the watchdog found. */
static void test_livez_goes_by_what_was_found(void **state)
{
    struct fixture *f = *state;
    struct buf why = {0};
    const struct pulse *found = NULL;
    for (int i = 0; i < 30 * MS_SECOND / WATCHDOG_LOOK_MS; i++) { /* it gets no core */
        starved_for += WATCHDOG_LOOK_MS;
        look_for(f, WATCHDOG_LOOK_MS, &found);
    }
    assert_null(found);
    assert_true(health_alive(f->health, f->now, &why));
    assert_false(health_alive(f->health, f->now + HEALTH_JUDGED_MS, &why)); /* the watchdog does not run either */
    buf_release(&why);
}

/* --- a process --- */

static void write_line(void *user, enum log_level level, struct span line)
{
    (void)level;
    ssize_t n = write(*(const int *)user, line.ptr, line.len);
    (void)n;
}

static int64_t no_time(void *user)
{
    (void)user;
    return 0;
}

/* A child with a thread of each kind: one that beats, one that does not. `log` is where its line goes. */
static pid_t stall(int log)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    struct log l = {.sink = write_line, .user = &log, .now_ms = no_time, .level = LOG_INFO, .format = LOG_TEXT};
    struct health *health = health_new();
    struct pulse beats = {.name = "what beats"}, still = {.name = "what stands still"}, waits = {.name = "what waits for it"};
    pulse_begin(&beats, "beats", clock_mono());
    pulse_begin(&still, "still", clock_mono());
    health_watch(health, &beats);
    pulse_begin(&waits, "waits", clock_mono());
    health_watch(health, &still);
    health_watch(health, &waits);
    watchdog_start(watchdog_new(health, pulse_account), &l);
    for (;;) {
        pulse_beat(&beats, clock_mono());
        usleep(WATCHDOG_LOOK_MS * 1000);
    }
}

static void fill(int fd)
{
    char bytes[4096] = {0};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, bytes, sizeof(bytes)) > 0)
        ;
    fcntl(fd, F_SETFL, 0);
}

static void test_the_process_ends_and_says_who(void **state)
{
    (void)state;
    int log[2], full[2], how;
    assert_int_equal(pipe(log), 0);
    assert_int_equal(pipe(full), 0);
    fill(full[1]); /* a log that nobody reads */
    pid_t child = stall(log[1]), unheard = stall(full[1]);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), WATCHDOG_EXIT);
    char line[256];
    ssize_t n = read(log[0], line, sizeof(line) - 1);
    line[n > 0 ? n : 0] = '\0';
    assert_non_null(strstr(line, "error: what stands still has stood still for 4 s: the process ends, so that a new one answers; "
                                 "silent, too: what waits for it"));
    assert_int_equal(waitpid(unheard, &how, 0), unheard);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM);
    for (int i = 0; i < 2; i++) {
        close(log[i]);
        close(full[i]);
    }
}

static void test_the_account_is_the_kernels(void **state)
{
    (void)state;
    struct pulse p = {.name = "this one"};
    struct pulse_account none = pulse_account(&p); /* has not begun */
    assert_true(none.ran == 0 && none.starved == 0);
    pulse_begin(&p, "this", clock_mono());
    struct pulse_account before = pulse_account(&p), now = before;
    assert_true(before.starved >= 0 && before.starved < 3600 * MS_SECOND);
    for (mono_ms limit = clock_mono() + 3600 * MS_SECOND; now.ran < before.ran + 10 && clock_mono() < limit;)
        now = pulse_account(&p);
    assert_true(now.ran >= before.ran + 10); /* it has computed for so long */
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_a_stall_is_found_within_five_seconds),
        ROW(test_who_beats_is_let_alone),
        ROW(test_time_in_which_nobody_ran_does_not_count),
        ROW(test_who_gets_no_core_is_not_to_blame),
        ROW(test_who_computes_has_a_minute),
        ROW(test_whom_others_wait_for_has_no_minute),
        ROW(test_who_progresses_has_a_minute),
        ROW(test_livez_goes_by_what_was_found),
        cmocka_unit_test(test_a_step_is_of_the_calling_thread),
        cmocka_unit_test(test_the_process_ends_and_says_who),
        cmocka_unit_test(test_the_account_is_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
