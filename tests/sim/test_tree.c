/* What a tree is written as is what reads back as the same tree, to its last byte what jansson would write. */
#include "support_sim.h"

#include <stdlib.h>

static const struct {
    const char *label, *text;
} same[] = {
    {"members keep their order", "{\"b\":1,\"a\":{\"d\":[],\"c\":{}}}"},
    {"what is neither text nor number", "[null,true,false]"},
    {"whole numbers to both ends", "[0,-1,9223372036854775807,-9223372036854775808]"},
    {"escapes", "{\"a\\\"b\":\"\\\\ \\b\\f\\n\\r\\t \\u0001 /\"}"},
    {"text beyond ASCII", "[\"gr\xC3\xBC\xC3\x9F\xE2\x82\xAC\xF0\x9F\x98\x80\"]"},
    {"a number with a fraction", "[0.5,-2.25]"},
    {"one that is whole stays no integer", "[3.0]"},
    {"a text alone", "\"x\""},
};

static void is_written_as_it_was_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct buf out = {0};
        json_t *tree = tree_parse(span_of(same[i].text));
        char *theirs = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
        tree_put(&out, tree);
        if (!span_eq(buf_span(&out), span_of(same[i].text)) || !span_eq(buf_span(&out), span_of(theirs)))
            fail_msg("%s: %.*s, jansson %s", same[i].label, SPAN_ARG(buf_span(&out)), theirs);
        free(theirs);
        json_decref(tree);
        buf_release(&out);
    }
}

static void large_numbers_read_back_equal(void **state)
{
    (void)state;
    struct buf out = {0};
    json_t *tree = json_pack("[f, f, f]", 1e20, 1.0 / 3, 5e-324);
    tree_put(&out, tree);
    json_t *again = tree_parse(buf_span(&out));
    assert_true(json_equal(tree, again));
    json_decref(again);
    json_decref(tree);
    buf_release(&out);
}

static void nothing_is_written_as_nothing(void **state)
{
    (void)state;
    struct buf out = {0};
    tree_put(&out, NULL);
    assert_int_equal(buf_span(&out).len, 0);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_written_as_it_was_read),
        cmocka_unit_test(large_numbers_read_back_equal),
        cmocka_unit_test(nothing_is_written_as_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
