#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base64.h"

static const struct {
    const char *label, *text;
    bool valid;
    struct span bytes;
    bool canonical; /* encoding the bytes gives the text again */
} rows[] = {
    {"nothing", "", true, SPAN_INIT(""), true},
    {"two pads", "Zg==", true, SPAN_INIT("f"), true},
    {"one pad", "Zm8=", true, SPAN_INIT("fo"), true},
    {"no pad", "Zm9v", true, SPAN_INIT("foo"), true},
    {"all digits", "+/+/", true, SPAN_INIT("\xfb\xff\xbf"), true},
    {"zero bytes", "AAA=", true, SPAN_INIT("\0\0"), true},
    {"wrapped lines", "Zm9v\nYmFy\r\n", true, SPAN_INIT("foobar"), false},
    {"pad missing", "Zg", false, {0}, false},
    {"bytes after a pad", "Zg==Zg==", false, {0}, false},
    {"a digit after a pad", "Zg=v", false, {0}, false},
    {"pads only", "====", false, {0}, false},
    {"three pads", "Z===", false, {0}, false},
    {"other alphabet", "-_-_", false, {0}, false},
    {"NUL inside", "Zm\xff", false, {0}, false},
};

static void test_rows(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span got;
        bool valid = base64_decode(&a, span_of(rows[i].text), &got);
        if (valid != rows[i].valid || (valid && !span_eq(got, rows[i].bytes)))
            fail_msg("%s: decoded %s", rows[i].label, valid ? "to other bytes" : "as wrong");
        if (rows[i].canonical && !span_eq(base64_encode(&a, got), span_of(rows[i].text)))
            fail_msg("%s: encodes otherwise", rows[i].label);
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
