#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/safe_text.h"

static const struct {
    const char *label;
    struct span text, want;
} rows[] = {
    {"nothing", SPAN_INIT(""), SPAN_INIT("")},
    {"ASCII", SPAN_INIT("shop/web-0 (of 3) ~"), SPAN_INIT("shop/web-0 (of 3) ~")},
    {"other writing", SPAN_INIT("é 日本 😀 ░█ – …"), SPAN_INIT("é 日本 😀 ░█ – …")},
    {"a backslash", SPAN_INIT("a\\nb"), SPAN_INIT("a\\nb")},
    {"a line break", SPAN_INIT("x\nNO PLACE"), SPAN_INIT("x\\nNO PLACE")},
    {"a carriage return", SPAN_INIT("x\rok"), SPAN_INIT("x\\rok")},
    {"a tab", SPAN_INIT("a\tb"), SPAN_INIT("a\\tb")},
    {"NUL", SPAN_INIT("a\0b"), SPAN_INIT("a\\u0000b")},
    {"escape", SPAN_INIT("\x1b[31mred"), SPAN_INIT("\\u001b[31mred")},
    {"DEL", SPAN_INIT("a\x7f"), SPAN_INIT("a\\u007f")},
    {"the first C1 control", SPAN_INIT("\xc2\x80"), SPAN_INIT("\\u0080")},
    {"C1 CSI", SPAN_INIT("\xc2\x9b" "31m"), SPAN_INIT("\\u009b31m")},
    {"after the last C1 control", SPAN_INIT("\xc2\xa0"), SPAN_INIT("\xc2\xa0")},
    {"soft hyphen", SPAN_INIT("a\xc2\xad" "b"), SPAN_INIT("a\\u00adb")},
    {"Arabic letter mark", SPAN_INIT("\xd8\x9c"), SPAN_INIT("\\u061c")},
    {"Mongolian vowel separator", SPAN_INIT("\xe1\xa0\x8e"), SPAN_INIT("\\u180e")},
    {"before those without a width", SPAN_INIT("\xe2\x80\x8a"), SPAN_INIT("\xe2\x80\x8a")},
    {"zero width space", SPAN_INIT("a\xe2\x80\x8b" "b"), SPAN_INIT("a\\u200bb")},
    {"right-to-left mark", SPAN_INIT("\xe2\x80\x8f"), SPAN_INIT("\\u200f")},
    {"a dash after the marks", SPAN_INIT("\xe2\x80\x90"), SPAN_INIT("\xe2\x80\x90")},
    {"line separator", SPAN_INIT("a\xe2\x80\xa8" "b"), SPAN_INIT("a\\u2028b")},
    {"paragraph separator", SPAN_INIT("a\xe2\x80\xa9" "b"), SPAN_INIT("a\\u2029b")},
    {"left-to-right embedding", SPAN_INIT("\xe2\x80\xaa"), SPAN_INIT("\\u202a")},
    {"right-to-left override", SPAN_INIT("\xe2\x80\xae" "gnp"), SPAN_INIT("\\u202egnp")},
    {"a space after the overrides", SPAN_INIT("\xe2\x80\xaf"), SPAN_INIT("\xe2\x80\xaf")},
    {"word joiner", SPAN_INIT("\xe2\x81\xa0"), SPAN_INIT("\\u2060")},
    {"isolates", SPAN_INIT("\xe2\x81\xa6\xe2\x81\xa9"), SPAN_INIT("\\u2066\\u2069")},
    {"byte order mark", SPAN_INIT("\xef\xbb\xbf"), SPAN_INIT("\\ufeff")},
    {"interlinear annotation", SPAN_INIT("\xef\xbf\xb9"), SPAN_INIT("\\ufff9")},
    {"a replacement character", SPAN_INIT("\xef\xbf\xbd"), SPAN_INIT("\xef\xbf\xbd")},
    {"a tag", SPAN_INIT("\xf3\xa0\x81\x81"), SPAN_INIT("\\U000e0041")},
    {"a stray byte", SPAN_INIT("a\x9b" "b"), SPAN_INIT("a\\x9bb")},
    {"Latin-1", SPAN_INIT("caf\xe9"), SPAN_INIT("caf\\xe9")},
    {"overlong line break", SPAN_INIT("\xc0\x8a"), SPAN_INIT("\\xc0\\x8a")},
    {"a surrogate", SPAN_INIT("\xed\xa0\x80"), SPAN_INIT("\\xed\\xa0\\x80")},
    {"cut off", SPAN_INIT("a\xe2\x80"), SPAN_INIT("a\\xe2\\x80")},
};

static void test_each_class(void **state)
{
    struct arena *a = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span got = safe_line(a, rows[i].text), again = safe_line(a, got);
        if (!span_eq(got, rows[i].want))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(got));
        if (!span_eq(again, got))
            fail_msg("%s: a second time makes %.*s of it", rows[i].label, SPAN_ARG(again));
        if (safe_text_is(rows[i].text, false) != span_eq(rows[i].text, rows[i].want))
            fail_msg("%s: safe_text_is", rows[i].label);
    }
}

static void test_lines_keep_their_ends(void **state)
{
    (void)state;
    struct buf b = {0};
    safe_lines_add(&b, SPAN("PODS\n\n  a\rb\x1b\xe2\x80\xae\n"));
    assert_string_equal(b.ptr, "PODS\n\n  a\\rb\\u001b\\u202e\n");
    assert_true(safe_text_is(buf_span(&b), true));
    assert_false(safe_text_is(buf_span(&b), false));
    buf_release(&b);
}

static struct span many(struct arena *a, const char *what, size_t count)
{
    size_t n = strlen(what);
    char *text = arena_alloc(a, n * count);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * n, what, n);
    return (struct span){text, n * count};
}

static void test_long_texts_are_cut_between_characters(void **state)
{
    struct arena *a = *state;
    static const char *const of[] = {"x", "日", "\n", "\xff", "\xbf", "\xe2\x80\xae", "\xf3\xa0\x81\x81", "aé"};
    for (size_t i = 0; i < COUNT_OF(of); i++) {
        struct span text = many(a, of[i], 256 * 1024 / strlen(of[i]));
        struct span line = safe_line(a, text), value = safe_value(a, text);
        if (!span_has_suffix(line, SPAN("…")) || line.len > SAFE_LINE_MAX || line.len < SAFE_LINE_MAX - 8 ||
            !safe_text_is(line, false) || !span_eq(safe_line(a, line), line))
            fail_msg("line %zu: %zu bytes", i, line.len);
        if (!span_has_suffix(value, SPAN("…")) || value.len > SAFE_VALUE_MAX + 3 || value.len < SAFE_VALUE_MAX - 3)
            fail_msg("value %zu: %zu bytes", i, value.len);
        if (safe_text_is(text, false) && !safe_text_is(value, false))
            fail_msg("value %zu: a character is cut", i);
    }
    struct span longest = many(a, "n", SAFE_VALUE_MAX), line = many(a, "n", SAFE_LINE_MAX);
    assert_ptr_equal(safe_value(a, longest).ptr, longest.ptr);
    assert_ptr_equal(safe_line(a, line).ptr, line.ptr);
}

/* ---- bytes by chance, looked at by another decoder ---- */

/* The code point at *at, which moves behind it; UINT32_MAX: no UTF-8. */
static uint32_t next_code(struct span text, size_t *at)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)text.ptr[*at];
    size_t n = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
    if (n == 0 || text.len - *at < n)
        return UINT32_MAX;
    uint32_t code = n == 1 ? c : c & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        unsigned char more = (unsigned char)text.ptr[*at + i];
        if (more >> 6 != 2)
            return UINT32_MAX;
        code = code << 6 | (more & 0x3Fu);
    }
    *at += n;
    return code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? UINT32_MAX : code;
}

static bool is_forbidden(uint32_t c)
{
    return c == UINT32_MAX || c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

static void test_nothing_forbidden_comes_out(void **state)
{
    struct arena *a = *state;
    static const char *const pieces[] = {"\xe2\x80", "\xe2\x81\xa6", "\xc2", "\x9b", "\xd8\x9c", "\xef\xbb\xbf", "\n", "日", "plain text"};
    uint64_t seed = 88172645463325252u;
    for (uint32_t round = 0; round < 20000; round++) {
        struct buf b = {0};
        for (uint32_t i = 0; i < 12; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            if (seed % 3 == 0)
                buf_add(&b, span_of(pieces[seed / 3 % COUNT_OF(pieces)]));
            else
                buf_add_char(&b, (char)(seed >> 32));
        }
        struct span safe = safe_line(a, buf_span(&b));
        for (size_t at = 0; at < safe.len;)
            if (is_forbidden(next_code(safe, &at)))
                fail_msg("round %u: byte %zu of %.*s", round, at, SPAN_ARG(safe));
        buf_release(&b);
        arena_clear(a);
    }
}

static int setup(void **state)
{
    static struct arena a;
    arena_init(&a, 0);
    *state = &a;
    return 0;
}

static int teardown(void **state)
{
    arena_release(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_class),
        cmocka_unit_test(test_lines_keep_their_ends),
        cmocka_unit_test(test_long_texts_are_cut_between_characters),
        cmocka_unit_test(test_nothing_forbidden_comes_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
