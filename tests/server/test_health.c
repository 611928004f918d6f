#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/health.h"

static mono_ms last_of(const void *user)
{
    return *(const mono_ms *)user;
}

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
    mono_ms others = 1000;
    uint32_t id = health_beat_add(h, "the reconciler", 1000);
    health_watch(h, "a loop", last_of, &others);
    says(health_alive(h, 1000 + HEALTH_SILENCE_MS - 1, &why), true, &why, "ok");
    says(health_alive(h, 1000 + HEALTH_SILENCE_MS, &why), false, &why,
         "the reconciler has been silent for 10 s");
    health_beat(h, id, 9000);
    says(health_alive(h, 13000, &why), false, &why, "a loop has been silent for 12 s");
    others = 13000;
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
