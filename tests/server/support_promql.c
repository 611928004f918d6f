#include "support_promql.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>

static bool is_word(struct span t)
{
    return t.len != 0 && isalpha((unsigned char)t.ptr[0]);
}

struct span promql_token(struct span *rest)
{
    while (rest->len != 0 && isspace((unsigned char)rest->ptr[0]))
        *rest = (struct span){rest->ptr + 1, rest->len - 1};
    size_t n = 0;
    while (n < rest->len && (isalnum((unsigned char)rest->ptr[n]) || rest->ptr[n] == '_'))
        n++;
    if (n == 0 && rest->len != 0) {
        n = 1;
        while (rest->ptr[0] == '"' && n < rest->len && (n == 1 || rest->ptr[n - 1] != '"'))
            n++;
    }
    struct span token = {rest->ptr, n};
    *rest = (struct span){rest->ptr + n, rest->len - n};
    return token;
}

static void add_match(struct promql *x, struct span label, struct span value)
{
    assert_true(x->match_count < PROMQL_MATCHES_MAX);
    x->matches[x->match_count++] = (struct promql_match){x->metric_count - 1, label, value};
}

/* {label="value|other",…} */
static void read_matchers(struct promql *x, struct span *rest)
{
    struct span label = {NULL, 0};
    for (struct span t = promql_token(rest); t.len != 0 && t.ptr[0] != '}'; t = promql_token(rest)) {
        if (is_word(t))
            label = t;
        struct span values = {t.ptr + 1, t.len - 2};
        while (t.ptr[0] == '"' && values.len != 0) {
            struct span value = span_cut(values, '|', &values);
            add_match(x, label, value);
        }
    }
}

static void read_grouped(struct promql *x, struct span *rest)
{
    for (struct span t = promql_token(rest); t.len != 0 && t.ptr[0] != ')'; t = promql_token(rest))
        if (is_word(t)) {
            assert_true(x->grouped_count < PROMQL_METRICS_MAX);
            x->grouped[x->grouped_count++] = t;
        }
}

static bool is_operator(struct span word)
{
    static const struct span words[] = {SPAN_INIT("and"), SPAN_INIT("sum"), SPAN_INIT("max"), SPAN_INIT("min")};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (span_eq(word, words[i]))
            return true;
    return false;
}

static void read_word(struct promql *x, struct span word, struct span *rest)
{
    struct span after = *rest, next = promql_token(&after);
    if (span_eq(word, SPAN("by")) || span_eq(word, SPAN("on"))) {
        read_grouped(x, rest);
        return;
    }
    if (span_eq(next, SPAN("(")) || is_operator(word))
        return;
    assert_true(x->metric_count < PROMQL_METRICS_MAX);
    x->metrics[x->metric_count++] = word;
    if (span_eq(next, SPAN("{")))
        read_matchers(x, rest);
}

void promql_read(struct span text, struct promql *out)
{
    *out = (struct promql){.metric_count = 0};
    for (struct span t = promql_token(&text); t.len != 0; t = promql_token(&text))
        if (is_word(t))
            read_word(out, t, &text);
}
