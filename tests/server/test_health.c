#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/health.h"

static void says(bool got, bool want, struct buf *why, const char *text)
{
    assert_int_equal(got, want);
    assert_string_equal(why->ptr, text);
    buf_clear(why);
}

static void test_ready(void **state)
{
    (void)state;
    struct health *h = health_new();
    struct buf why = {0};
    says(health_ready(h, &why), false, &why, "the certificates are not loaded yet");
    health_have(h, HEALTH_CERTIFICATES);
    says(health_ready(h, &why), false, &why, "webhook and extender do not listen yet");
    health_have(h, HEALTH_LISTENING);
    says(health_ready(h, &why), true, &why, "ok");
    health_leave(h);
    says(health_ready(h, &why), false, &why, "shutting down");
    health_free(h);
    buf_release(&why);
}

static void test_alive(void **state)
{
    (void)state;
    struct health *h = health_new();
    struct buf why = {0};
    struct pulse reconciler = {.name = "the reconciler", .last = 1000};
    struct pulse loop = {.name = "a loop", .last = 1000};
    health_watch(h, &reconciler);
    health_watch(h, &loop);
    says(health_alive(h, 1000 + HEALTH_SILENCE_MS - 1, &why), true, &why, "ok");
    says(health_alive(h, 1000 + HEALTH_SILENCE_MS, &why), false, &why,
         "the reconciler has been silent for 10 s");
    pulse_beat(&reconciler, 9000);
    says(health_alive(h, 13000, &why), false, &why, "a loop has been silent for 12 s");
    pulse_beat(&loop, 13000);
    says(health_alive(h, 13000, &why), true, &why, "ok");
    health_free(h);
    buf_release(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready),
        cmocka_unit_test(test_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
