/* The plan in force, as GET /plan shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/places_json.h"

#define HEAD "{\"apiVersion\":\"stowage.dev/v1alpha1\",\"kind\":\"Plan\","

static struct place place(const char *pod, const char *target, bool on_claim)
{
    return (struct place){.ns = SPAN("shop"), .pod = span_of(pod), .target = span_of(target),
                          .on_claim = on_claim};
}

static const struct {
    const char *label;
    struct {
        const char *pod, *target;
        bool on_claim;
    } items[4];
    uint32_t count;
    const char *want;
} rows[] = {
    {"nothing", {{NULL, NULL, false}}, 0, HEAD "\"nodeClaims\":[],\"existingNodes\":[]}"},
    {"sorted, and by what they go to",
     {{"b", "n2", true}, {"c", "n1", false}, {"a", "n2", true}, {"d", "n3", true}}, 4,
     HEAD "\"nodeClaims\":[{\"name\":\"n2\",\"pods\":[\"shop/a\",\"shop/b\"]},"
          "{\"name\":\"n3\",\"pods\":[\"shop/d\"]}],"
          "\"existingNodes\":[{\"name\":\"n1\",\"pods\":[\"shop/c\"]}]}"},
};

static void test_document(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct place items[COUNT_OF(rows[r].items)];
        for (uint32_t i = 0; i < rows[r].count; i++)
            items[i] = place(rows[r].items[i].pod, rows[r].items[i].target, rows[r].items[i].on_claim);
        struct places p = {.items = items, .count = rows[r].count};
        struct buf out = {.max = 4096};
        places_json(&p, &out);
        if (!span_eq(buf_span(&out), span_of(rows[r].want)))
            fail_msg("%s: got %.*s", rows[r].label, SPAN_ARG(buf_span(&out)));
        buf_clear(&out);
        places_json(NULL, &out);
        assert_true(span_eq(buf_span(&out), span_of(rows[0].want)));
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
