/* JSON written as YAML reads back as it was: no text becomes a boolean, a number or nothing. */
#include "server/yaml_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/doc.h"
#include "base/json.h"

static void test_texts_stay_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"web",  "no",  "Yes", "on",  "OFF", "y",    "null", "True", "1",   "0x10",
                                        "1e3",  "",    "~",   ".5",  "nan", "a: b", "# no", "- a",  "inf", "2026-01-01",
                                        "a\nb", "é"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct buf json = {0}, yaml = {0};
        struct err err = {0};
        struct json j = JSON_TO(&json);
        json_object_begin(&j);
        json_put_string(&j, "k", span_of(texts[i]));
        json_object_end(&j);
        if (!yaml_text(&yaml, buf_span(&json), &err))
            fail_msg("%s: %s", texts[i], err.msg);
        struct doc_parser *p = doc_parser_new();
        const struct doc *doc;
        struct doc_value v;
        size_t at = 0;
        if (!doc_parse_yaml(p, buf_span(&yaml), &at, &doc, &err) || !doc_find(doc_root(doc), SPAN("k"), &v) ||
            doc_type(v) != DOC_STRING || !span_eq(doc_text(v), span_of(texts[i])))
            fail_msg("\"%s\" is read back otherwise from %s", texts[i], yaml.ptr);
        doc_parser_free(p);
        buf_release(&json);
        buf_release(&yaml);
    }
}

static void test_others_are_plain(void **state)
{
    (void)state;
    struct buf yaml = {0};
    struct err err;
    assert_true(yaml_text(&yaml, SPAN("{\"a\":[1,true,null,\"x\"],\"b\":{\"c\":0.5}}"), &err));
    assert_string_equal(yaml.ptr, "a:\n- 1\n- true\n- null\n- x\nb:\n  c: 0.5\n");
    buf_release(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts_stay_texts), cmocka_unit_test(test_others_are_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
