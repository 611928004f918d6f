/* Numbers as people read them, and texts that stay texts. */
#include "server/html.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(struct buf *b, const char *what, const char *want)
{
    if (!span_eq(buf_span(b), span_of(want)))
        fail_msg("%s: got \"%s\", want \"%s\"", what, b->ptr, want);
    buf_clear(b);
}

static void test_text(void **state)
{
    (void)state;
    struct buf b = {0};
    html_text(&b, SPAN("<script a=\"b\">&c</script>"));
    expect(&b, "marks", "&lt;script a=&quot;b&quot;&gt;&amp;c&lt;/script&gt;");
    html_text(&b, SPAN("plain"));
    expect(&b, "none", "plain");
    html_text(&b, SPAN("<b>\n\xe2\x80\xae\xc2\x9b é"));
    expect(&b, "what is not safe to show", "&lt;b&gt;\\n\\u202e\\u009b é");
    buf_release(&b);
}

static void test_numbers(void **state)
{
    (void)state;
    struct buf b = {0};
    static const struct {
        int64_t value;
        const char *cpu, *bytes;
    } rows[] = {
        {0, "0", "0"},
        {99, "99m", "99"},
        {100, "0.1", "100"},
        {1500, "1.5", "1.5Ki"},
        {16000, "16", "15.6Ki"},
        {(int64_t)3 << 30, "3,221,225", "3Gi"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        html_cpu(&b, rows[i].value);
        expect(&b, "cpu", rows[i].cpu);
        html_bytes(&b, rows[i].value);
        expect(&b, "bytes", rows[i].bytes);
    }
    static const struct {
        uint64_t n;
        const char *want;
    } counts[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {123456, "123,456"}, {1234567890, "1,234,567,890"}};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        html_count(&b, counts[i].n);
        expect(&b, "count", counts[i].want);
    }
    html_price(&b, 0.0416);
    expect(&b, "a small price", "$0.0416");
    html_price(&b, 12.345);
    expect(&b, "a large one", "$12.35");
    html_price(&b, 1234567.894);
    expect(&b, "a fleet's", "$1,234,567.89");
    html_price(&b, -1234.5);
    expect(&b, "one that is saved", "$-1,234.50");
    html_price(&b, (double)NAN);
    expect(&b, "none", "–");
    buf_release(&b);
}

/* Two of a unit at least, so that a number is never off by more than half. */
static void test_ages(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *want;
    } rows[] = {{-5, "0s"},     {0, "0s"},      {119, "119s"},    {120, "2m"},     {5400, "90m"},
                {7199, "119m"}, {7200, "2h"},   {172799, "47h"},  {172800, "2d"}};
    struct buf b = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        html_age(&b, rows[i].seconds * MS_SECOND);
        expect(&b, "age", rows[i].want);
    }
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_ages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
