#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/doc_scalar.h"

/* What kubectl makes of a plain scalar, as its library (sigs.k8s.io/yaml v1.6.0) answered for each row: n,
 * b, i, u, f and s with the value. */
static const struct {
    const char *text, *want;
} plain[] = {
    {"", "n"},           {"~", "n"},          {"null", "n"},       {"Null", "n"},
    {"NULL", "n"},       {"nULL", "s"},       {"true", "b1"},      {"True", "b1"},
    {"TRUE", "b1"},      {"tRUE", "s"},       {"yes", "b1"},       {"Yes", "b1"},
    {"YES", "b1"},       {"on", "b1"},        {"On", "b1"},        {"ON", "b1"},
    {"y", "b1"},         {"Y", "b1"},         {"false", "b0"},     {"False", "b0"},
    {"FALSE", "b0"},     {"no", "b0"},        {"No", "b0"},        {"NO", "b0"},
    {"off", "b0"},       {"Off", "b0"},       {"OFF", "b0"},       {"n", "b0"},
    {"N", "b0"},         {"0", "i0"},         {"-0", "i0"},        {"12", "i12"},
    {"+12", "i12"},      {"-12", "i-12"},     {"0755", "i493"},    {"-010", "i-8"},
    {"0o17", "i15"},     {"0x1F", "i31"},     {"-0x1f", "i-31"},   {"0b101", "i5"},
    {"1_000", "i1000"},  {"0x_ff", "i255"},   {"08", "i8"},        {"09.5", "f9.5"},
    {"0x", "s"},         {"0xg", "s"},        {"0b2", "s"},        {"1.", "i1"},
    {".5", "f0.5"},      {"-.5", "f-0.5"},    {"1e3", "i1000"},    {"1E+3", "i1000"},
    {"1e-3", "f0.001"},  {"1.5e1", "i15"},    {"1.0", "i1"},       {"1.10", "f1.1"},
    {"1_0.5", "f10.5"},  {"1e", "s"},         {"e3", "s"},         {".", "s"},
    {"-", "s"},          {"+", "s"},          {"1.2.3", "s"},      {"1e999", "s"},
    {"1:30", "s"},       {"2001-01-01", "s"}, {"12:34:56", "s"},   {"2001-01-01T00:00:00Z", "s"},
    {"250m", "s"},       {"1Gi", "s"},        {"nan", "s"},        {"inf", "s"},
    {"0x1p3", "s"},      {"infinity", "s"},   {"1 2", "s"},        {"truely", "s"},
    {"<<", "s"},         {"=", "s"},          {"_", "s"},          {"1_", "i1"},
    {"9223372036854775807", "i9223372036854775807"},
    {"-9223372036854775808", "i-9223372036854775808"},
    {"9223372036854775808", "u9223372036854775808"},
    {"18446744073709551615", "u18446744073709551615"},
    {"18446744073709551616", "f1.84467440737096e+19"},
    {"-9223372036854775809", "f-9.22337203685478e+18"},
    {"0777777777777777777777777", "f7.77777777777778e+23"},
    {"00", "i0"}, {"-00", "i0"}, {"0_7", "i7"}, {"0B11", "i3"}, {"0X1F", "i31"}, {"0o8", "s"},
    {"+.5", "f0.5"}, {"1.e3", "i1000"}, {"1__0", "i10"}, {"1_e3", "i1000"}, {"1e0x", "s"},
};

static void show(const struct scalar *v, char *out, size_t size)
{
    double real;
    switch (v->kind) {
    case SCALAR_NULL:
        snprintf(out, size, "n");
        return;
    case SCALAR_BOOL:
        snprintf(out, size, "b%d", (int)v->bits);
        return;
    case SCALAR_INT:
        snprintf(out, size, "i%lld", (long long)v->bits);
        return;
    case SCALAR_UINT:
        snprintf(out, size, "u%llu", (unsigned long long)v->bits);
        return;
    case SCALAR_DOUBLE:
        memcpy(&real, &v->bits, sizeof(real));
        snprintf(out, size, "f%.15g", real);
        return;
    case SCALAR_STRING:
        snprintf(out, size, "s");
        return;
    }
}

static void test_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plain); i++) {
        struct scalar v;
        char got[64];
        assert_null(scalar_read(span_of(plain[i].text), true, NULL, &v));
        show(&v, got, sizeof(got));
        if (strcmp(got, plain[i].want) != 0)
            fail_msg("\"%s\": got %s", plain[i].text, got);
        if (v.kind == SCALAR_STRING)
            assert_true(span_eq(v.text, span_of(plain[i].text)));
        assert_null(scalar_read(span_of(plain[i].text), false, NULL, &v));
        assert_int_equal(v.kind, SCALAR_STRING);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    static const char *const texts[] = {".nan", ".NaN", ".inf", "+.inf", "-.INF"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct scalar v;
        assert_non_null(scalar_read(span_of(texts[i]), true, NULL, &v));
        assert_null(scalar_read(span_of(texts[i]), false, NULL, &v));
    }
}

static const struct {
    const char *tag, *text, *want; /* NULL: refused */
} tagged[] = {
    {"tag:yaml.org,2002:str", "12", "s"},   {"!", "true", "s"},
    {"tag:yaml.org,2002:int", "12", "i12"}, {"tag:yaml.org,2002:int", "1.5", NULL},
    {"tag:yaml.org,2002:int", "x", NULL},   {"tag:yaml.org,2002:float", "1.5", "f1.5"},
    {"tag:yaml.org,2002:float", "2", "i2"}, {"tag:yaml.org,2002:float", ".inf", NULL},
    {"tag:yaml.org,2002:bool", "on", "b1"}, {"tag:yaml.org,2002:bool", "1", NULL},
    {"tag:yaml.org,2002:null", "", "n"},    {"tag:yaml.org,2002:null", "x", NULL},
    {"tag:yaml.org,2002:binary", "", NULL}, {"!mine", "x", NULL},
};

static void test_tags(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tagged); i++) {
        struct scalar v;
        char got[64] = "";
        bool refused = scalar_read(span_of(tagged[i].text), false, tagged[i].tag, &v) != NULL;
        if (!refused)
            show(&v, got, sizeof(got));
        if (refused != (tagged[i].want == NULL) || (!refused && strcmp(got, tagged[i].want) != 0))
            fail_msg("%s %s: got %s", tagged[i].tag, tagged[i].text, refused ? "refused" : got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
