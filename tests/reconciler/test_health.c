#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconciler/status/health.h"

static const struct {
    const char *label;
    enum condition_status begin;
    const char *outcomes; /* o: ok, f: failed */
    enum condition_status want;
} rows[] = {
    {"a fresh pool", CONDITION_UNKNOWN, "", CONDITION_UNKNOWN},
    {"one success", CONDITION_UNKNOWN, "o", CONDITION_TRUE},
    {"176: the first failure says nothing yet", CONDITION_UNKNOWN, "f", CONDITION_UNKNOWN},
    {"176: the second does", CONDITION_UNKNOWN, "ff", CONDITION_FALSE},
    {"176: successes while two failures are known of", CONDITION_UNKNOWN, "ffoo", CONDITION_FALSE},
    {"a success after the first failure", CONDITION_UNKNOWN, "fo", CONDITION_TRUE},
    {"a failure after a success", CONDITION_UNKNOWN, "of", CONDITION_TRUE},
    {"two of four", CONDITION_UNKNOWN, "ofof", CONDITION_FALSE},
    {"176: the older one drops out", CONDITION_UNKNOWN, "ffooo", CONDITION_TRUE},
    {"after a restart: two failures", CONDITION_FALSE, "", CONDITION_FALSE},
    {"after a restart: one success is not enough", CONDITION_FALSE, "o", CONDITION_FALSE},
    {"after a restart: healthy", CONDITION_TRUE, "f", CONDITION_TRUE},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct health h = health_of(rows[r].begin);
        for (const char *o = rows[r].outcomes; *o != '\0'; o++)
            health_add(&h, *o == 'o');
        if (health_status(&h) != rows[r].want)
            fail_msg("%s", rows[r].label);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
