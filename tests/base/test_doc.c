#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/doc_tape.h"

static struct doc_parser *parser;

static int setup(void **state)
{
    (void)state;
    parser = doc_parser_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    doc_parser_free(parser);
    return 0;
}

/* A copy of the exact size, so that a read past the end is seen. */
static bool parse_json(struct span text, const struct doc **out, struct err *err)
{
    char *copy = malloc(text.len != 0 ? text.len : 1);
    if (text.len != 0)
        memcpy(copy, text.ptr, text.len);
    bool good = doc_parse_json(parser, (struct span){copy, text.len}, out, err);
    free(copy);
    return good;
}

static bool parse_yaml(struct span text, const struct doc **out, struct err *err)
{
    size_t at = 0;
    return doc_parse_yaml(parser, text, &at, out, err);
}

/* Everything the reader tells about a value, as text. */
static void dump(struct buf *b, struct doc_value v)
{
    int64_t whole;
    double real;
    uint32_t count = 0;
    switch (doc_type(v)) {
    case DOC_NULL:
        buf_add(b, SPAN("null"));
        return;
    case DOC_BOOL:
        buf_add(b, doc_bool(v) ? SPAN("true") : SPAN("false"));
        return;
    case DOC_NUMBER:
        assert_true(doc_double(v, &real));
        buf_add(b, doc_int64(v, &whole) ? SPAN("i") : SPAN("f"));
        buf_add(b, doc_text(v));
        return;
    case DOC_STRING:
        buf_addf(b, "'%.*s'", SPAN_ARG(doc_text(v)));
        return;
    case DOC_ARRAY:
    case DOC_OBJECT:
        break;
    }
    bool object = doc_type(v) == DOC_OBJECT;
    buf_add_char(b, object ? '{' : '[');
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it); count++) {
        if (count != 0)
            buf_add_char(b, ' ');
        if (object)
            buf_addf(b, "%.*s=", SPAN_ARG(it.key));
        dump(b, it.value);
    }
    assert_int_equal(count, doc_count(v));
    buf_add_char(b, object ? '}' : ']');
}

static const struct {
    const char *label;
    struct span text;
    const char *want;
} good_json[] = {
    {"empty object", SPAN_INIT("{}"), "{}"},
    {"empty array", SPAN_INIT(" [ ] \n"), "[]"},
    {"scalars", SPAN_INIT("[null,true,false,0,-1,\"\"]"), "[null true false i0 i-1 '']"},
    {"a root that is a scalar", SPAN_INIT("\"x\""), "'x'"},
    {"int64 at both ends", SPAN_INIT("[9223372036854775807,-9223372036854775808]"),
     "[i9223372036854775807 i-9223372036854775808]"},
    {"uint64", SPAN_INIT("[9223372036854775808,18446744073709551615]"),
     "[f9223372036854775808 f18446744073709551615]"},
    {"doubles", SPAN_INIT("[1.10,0.1,1e3,1.0,-0.5,1e-7,123456789.123]"),
     "[f1.1 f0.1 f1000 f1 f-0.5 f1e-07 f123456789.123]"},
    {"escapes", SPAN_INIT("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00\"]"),
     "['\"\\/\b\f\n\r\tA😀']"},
    {"nested", SPAN_INIT("{\"a\":{\"b\":[{\"c\":1},[]]},\"d\":\"e\"}"),
     "{a={b=[{c=i1} []]} d='e'}"},
    {"a key twice stays twice", SPAN_INIT("{\"a\":1,\"a\":2}"), "{a=i1 a=i2}"},
    {"an escaped key", SPAN_INIT("{\"\\u0061\":1}"), "{a=i1}"},
};

static void test_json_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good_json); i++) {
        const struct doc *doc;
        struct err err;
        if (!parse_json(good_json[i].text, &doc, &err))
            fail_msg("%s: refused: %s", good_json[i].label, err.msg);
        struct buf b = {0};
        dump(&b, doc_root(doc));
        if (!span_eq(buf_span(&b), span_of(good_json[i].want)))
            fail_msg("%s: got %s", good_json[i].label, b.ptr);
        buf_release(&b);
    }
}

static const struct {
    const char *label;
    struct span text;
    uint32_t line;
    const char *says; /* part of the message */
} bad_json[] = {
    {"empty", SPAN_INIT(""), 1, "empty"},
    {"only spaces", SPAN_INIT(" \n\n"), 3, "empty"},
    {"cut off", SPAN_INIT("{\"a\":[1,\n2"), 2, "ends in the middle"},
    {"cut off in a string", SPAN_INIT("{\"a\":\n\"b"), 2, "ends inside a string"},
    {"cut off behind a backslash", SPAN_INIT("\"b\\"), 1, "ends inside a string"},
    {"a comma before the brace", SPAN_INIT("{\"a\":1,\n}"), 2, "name in double quotes"},
    {"a comma before the bracket", SPAN_INIT("[1,]"), 1, "expected a value"},
    {"two commas", SPAN_INIT("[1,,2]"), 1, "expected a value"},
    {"no comma", SPAN_INIT("[1 2]"), 1, "comma or a closing bracket"},
    {"no comma between members", SPAN_INIT("{\"a\":1\n\"b\":2}"), 2, "comma or a closing brace"},
    {"no colon", SPAN_INIT("{\"a\" 1}"), 1, "colon"},
    {"no value", SPAN_INIT("{\"a\":}"), 1, "expected a value"},
    {"a bare key", SPAN_INIT("{a:1}"), 1, "name in double quotes"},
    {"single quotes", SPAN_INIT("{'a':1}"), 1, "name in double quotes"},
    {"brackets crossed", SPAN_INIT("[{]}"), 1, "name in double quotes"},
    {"closed by the wrong one", SPAN_INIT("[1}"), 1, "comma or a closing bracket"},
    {"closed twice", SPAN_INIT("{}}"), 1, "follows the end"},
    {"two values", SPAN_INIT("{}\n{}"), 2, "follows the end"},
    {"a comment", SPAN_INIT("{} // no"), 1, "follows the end"},
    {"a leading zero", SPAN_INIT("[01]"), 1, "malformed"},
    {"a plus", SPAN_INIT("[+1]"), 1, "expected a value"},
    {"a bare fraction", SPAN_INIT("[.5]"), 1, "expected a value"},
    {"an open fraction", SPAN_INIT("[1.]"), 1, "malformed"},
    {"an open exponent", SPAN_INIT("[1e]"), 1, "malformed"},
    {"only a minus", SPAN_INIT("[-]"), 1, "malformed"},
    {"hexadecimal", SPAN_INIT("[0x10]"), 1, "malformed"},
    {"NaN", SPAN_INIT("[NaN]"), 1, "expected a value"},
    {"Infinity", SPAN_INIT("[-Infinity]"), 1, "malformed"},
    {"beyond uint64", SPAN_INIT("[18446744073709551616]"), 1, "out of range"},
    {"below int64", SPAN_INIT("[-9223372036854775809]"), 1, "out of range"},
    {"beyond double", SPAN_INIT("[1e999]"), 1, "out of range"},
    {"true misspelt", SPAN_INIT("[True]"), 1, "expected a value"},
    {"a word run on", SPAN_INIT("[nulll]"), 1, "expected a value"},
    {"a bad escape", SPAN_INIT("[\"\\x\"]"), 1, "no escape"},
    {"a short \\u", SPAN_INIT("[\"\\u12\"]"), 1, "four hexadecimal"},
    {"a lone high surrogate", SPAN_INIT("[\"\\ud800\"]"), 1, "surrogate"},
    {"a high surrogate and text", SPAN_INIT("[\"\\ud800x\"]"), 1, "surrogate"},
    {"a lone low surrogate", SPAN_INIT("[\"\\udc00\"]"), 1, "surrogate"},
    {"a tab in a string", SPAN_INIT("[\"\t\"]"), 1, "control character"},
    {"a newline in a string", SPAN_INIT("[\"\n\"]"), 1, "does not end on its line"},
    {"a NUL in a string", SPAN_INIT("[\"\0\"]"), 1, "control character"},
    {"a NUL behind the value", SPAN_INIT("[]\0"), 1, "follows the end"},
    {"a stray byte", SPAN_INIT("[\"\x80\"]"), 1, "not UTF-8"},
    {"overlong", SPAN_INIT("[\"\xC0\xAF\"]"), 1, "not UTF-8"},
    {"a raw surrogate", SPAN_INIT("[\"\xED\xA0\x80\"]"), 1, "not UTF-8"},
    {"past U+10FFFF", SPAN_INIT("[\"\xF4\x90\x80\x80\"]"), 1, "not UTF-8"},
    {"a byte order mark", SPAN_INIT("\xEF\xBB\xBF{}"), 1, "expected a value"},
    {"bad in a part nobody reads", SPAN_INIT("{\"managedFields\":\n[{\"x\":tru}]}"), 2,
     "expected a value"},
};

static void test_json_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_json); i++) {
        const struct doc *doc;
        struct err err = {0};
        if (parse_json(bad_json[i].text, &doc, &err))
            fail_msg("%s: accepted", bad_json[i].label);
        if (err.kind != ERR_INVALID || strstr(err.msg, bad_json[i].says) == NULL)
            fail_msg("%s: says \"%s\"", bad_json[i].label, err.msg);
        if (doc_fault_line(parser) != bad_json[i].line)
            fail_msg("%s: says line %u", bad_json[i].label, doc_fault_line(parser));
    }
}

static void nest(struct buf *b, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_add_char(b, '[');
    for (int i = 0; i < depth; i++)
        buf_add_char(b, ']');
}

static void test_depth_is_the_same_for_both(void **state)
{
    (void)state;
    static const int depths[] = {1, 99, 100, 101, 102, 1000, 100000};
    for (size_t i = 0; i < COUNT_OF(depths); i++) {
        struct buf b = {0};
        nest(&b, depths[i]);
        const struct doc *doc;
        struct err err;
        bool want = depths[i] <= 100;
        if (parse_json(buf_span(&b), &doc, &err) != want)
            fail_msg("JSON of depth %d: %s", depths[i], want ? err.msg : "accepted");
        if (!want)
            assert_string_equal(err.msg, "line 1: nested more than 100 deep");
        if (parse_yaml(buf_span(&b), &doc, &err) != want)
            fail_msg("YAML of depth %d: %s", depths[i], want ? err.msg : "accepted");
        if (!want)
            assert_string_equal(err.msg, "line 1: nested more than 100 deep");
        buf_release(&b);
    }
}

static const struct {
    const char *label;
    struct span text;
    const char *want; /* documents divided by | */
} good_yaml[] = {
    {"nothing", SPAN_INIT(""), ""},
    {"only comments", SPAN_INIT("# a\n# b\n"), ""},
    {"block", SPAN_INIT("a: 1\nb:\n- x\n- y: z\nc: {d: [1, 2]}\n"),
     "{a=i1 b=['x' {y='z'}] c={d=[i1 i2]}}"},
    {"documents", SPAN_INIT("a: 1\n---\nb: 2\n---\n# empty\n---\nc: 3\n"), "{a=i1}|{b=i2}|{c=i3}"},
    {"documents ended by dots", SPAN_INIT("a: 1\n...\n---\nb: 2\n...\n"), "{a=i1}|{b=i2}"},
    {"a leading marker", SPAN_INIT("---\na: 1\n"), "{a=i1}"},
    {"an absent value", SPAN_INIT("a:\nb: ~\n"), "{a=null b=null}"},
    {"quoted scalars are strings", SPAN_INIT("[\"1\", 'true', \"null\", '']"),
     "['1' 'true' 'null' '']"},
    {"folded and literal", SPAN_INIT("a: >\n  1\nb: |-\n  2\n"), "{a='1\n' b='2'}"},
    {"keys are strings", SPAN_INIT("1: a\ntrue: b\nyes: c\n"), "{1='a' true='b' yes='c'}"},
    {"tags", SPAN_INIT("[!!str 12, !!int \"12\", !!float 1, !!bool \"yes\", !!null '', ! 12]"),
     "['12' i12 i1 true null '12']"},
    {"tagged collections", SPAN_INIT("!!map {a: !!seq [1]}"), "{a=[i1]}"},
    {"CRLF", SPAN_INIT("a: 1\r\nb: x\r\n"), "{a=i1 b='x'}"},
    {"UTF-8", SPAN_INIT("é: 😀\n"), "{é='😀'}"},
    {"a byte order mark", SPAN_INIT("\xEF\xBB\xBF" "a: 1\n"), "{a=i1}"},
    {"JSON", SPAN_INIT("{\"a\":[1,\"\\u00e9\\/\"],\"b\":null}"), "{a=[i1 'é/'] b=null}"},
    {"a quoted <<", SPAN_INIT("\"<<\": 1\n"), "{<<=i1}"},
    /* As kubectl reads them. */
    {"aliases", SPAN_INIT("a: &x {b: [1, u], c: &y 2.5}\nd: *x\ne: [*y, *x]\n"),
     "{a={b=[i1 'u'] c=f2.5} d={b=[i1 'u'] c=f2.5} e=[f2.5 {b=[i1 'u'] c=f2.5}]}"},
    {"an alias of an alias", SPAN_INIT("a: &x [1]\nb: &y {c: *x}\nd: *y\n"), "{a=[i1] b={c=[i1]} d={c=[i1]}}"},
    {"an anchor again", SPAN_INIT("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"), "{a=i1 b=i1 c=i2 d=i2}"},
    {"an alias as a key", SPAN_INIT("a: &x b\nc: {*x : 1}\n"), "{a='b' c={b=i1}}"},
    {"an anchored key", SPAN_INIT("&x a: b\nc: *x\n"), "{a='b' c='a'}"},
    {"an anchored null", SPAN_INIT("a: &x\nb: *x\n"), "{a=null b=null}"},
    {"a merge", SPAN_INIT("a: &x {b: 1, c: {d: 2}}\ne:\n  <<: *x\n  b: 3\n  f: 4\n"),
     "{a={b=i1 c={d=i2}} e={b=i3 c={d=i2} f=i4}}"},
    {"a merge that comes later wins", SPAN_INIT("a: &x {b: 1, c: 2}\nd:\n  b: 9\n  <<: *x\n"),
     "{a={b=i1 c=i2} d={b=i1 c=i2}}"},
    {"of a list the first wins", SPAN_INIT("a: &x {b: 1}\nc: &y {b: 2, e: 5}\nd: {<<: [*x, *y]}\n"),
     "{a={b=i1} c={b=i2 e=i5} d={b=i1 e=i5}}"},
    {"two merges", SPAN_INIT("d: {<<: {q: 1}, <<: {r: 2}}\n"), "{d={q=i1 r=i2}}"},
    {"a merge into what is merged", SPAN_INIT("a: &x {<<: {b: 1}, c: 2}\nd: {<<: *x, e: 3}\nf: *x\n"),
     "{a={b=i1 c=i2} d={b=i1 c=i2 e=i3} f={b=i1 c=i2}}"},
    {"an anchor beside a merge", SPAN_INIT("a:\n  b: &x {c: 1}\n  <<: {b0: 0, d: &y 7}\n  e: &z [8]\nf: [*x, *y, *z]\n"),
     "{a={b={c=i1} b0=i0 d=i7 e=[i8]} f=[{c=i1} i7 [i8]]}"},
    {"aliases of what was merged", SPAN_INIT("a: {<<: &x {b: &y [1]}, b: &z 2}\nc: [*x, *y, *z]\nd: {<<: *x}\n"),
     "{a={b=i2} c=[{b=[i1]} [i1] i2] d={b=[i1]}}"},
    {"many merged",
     SPAN_INIT("a: &x {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1}\nz: {<<: *x, i: 2, a: 2, x: 3}\n"),
     "{a={a=i1 b=i1 c=i1 d=i1 e=i1 f=i1 g=i1 h=i1 i=i1} z={a=i2 b=i1 c=i1 d=i1 e=i1 f=i1 g=i1 h=i1 i=i2 x=i3}}"},
};

static void test_yaml_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good_yaml); i++) {
        struct buf b = {0};
        size_t at = 0;
        const struct doc *doc;
        struct err err = {0};
        while (doc_parse_yaml(parser, good_yaml[i].text, &at, &doc, &err)) {
            if (b.len != 0)
                buf_add_char(&b, '|');
            dump(&b, doc_root(doc));
        }
        if (err.kind != ERR_NONE)
            fail_msg("%s: refused: %s", good_yaml[i].label, err.msg);
        if (!span_eq(buf_span(&b), span_of(good_yaml[i].want)))
            fail_msg("%s: got %s", good_yaml[i].label, b.ptr);
        buf_release(&b);
    }
}

static const struct {
    const char *label;
    struct span text;
    uint32_t line;
    const char *says;
} bad_yaml[] = {
    {"an alias of nothing", SPAN_INIT("a: 1\nb: 1\nc: *x\n"), 3, "without an anchor"},
    {"an alias of another document's", SPAN_INIT("a: &x 1\n---\nb: *x\n"), 3, "without an anchor"},
    {"an alias inside its anchor", SPAN_INIT("a: &x\n  b: *x\n"), 2, "inside what it stands for"},
    {"an alias of a number as a key", SPAN_INIT("a: &x 5\n*x : 1\n"), 2, "no string"},
    {"an alias of an object as a key", SPAN_INIT("a: &x {}\n*x : 1\n"), 2, "no string"},
    {"an alias as a key, twice", SPAN_INIT("a: &x b\nb: 1\n*x : 1\n"), 3, "\"b\" is given twice"},
    {"a merge of a number", SPAN_INIT("a:\n  <<: 1\n"), 3, "takes an object or a list"},
    {"a merge of numbers", SPAN_INIT("a:\n  <<: [{}, 1]\n"), 3, "takes an object or a list"},
    {"a key twice, beside a merge", SPAN_INIT("a:\n  b: 1\n  <<: {b: 2}\n  b: 3\n"), 4, "\"b\" is given twice"},
    {"laughs",
     SPAN_INIT("a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
               "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
               "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
               "g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]\nh: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]\n"
               "i: &i [*h, *h, *h, *h, *h, *h, *h, *h, *h]\n"),
     7, "more than 16 MiB when they are written out"},
    {"a key twice", SPAN_INIT("a: 1\nb: 2\na: 3\n"), 3, "\"a\" is given twice"},
    {"a key twice, one quoted", SPAN_INIT("a: 1\n\"a\": 3\n"), 2, "given twice"},
    {"a list as a key", SPAN_INIT("[a]: 1\n"), 1, "keys are strings"},
    {"a map as a key", SPAN_INIT("? {a: 1}\n: 1\n"), 1, "keys are strings"},
    {"a tab", SPAN_INIT("a:\n\tb: 1\n"), 2, "cannot start any token"},
    {"not closed", SPAN_INIT("a: [1,\nb: 2\n"), 3, "flow sequence"},
    {"a quote not closed", SPAN_INIT("a: \"b\nc: 1\n"), 3, "unexpected end of stream"},
    {"indentation", SPAN_INIT("a:\n  b: 1\n c: 2\n"), 3, "did not find"},
    {"infinity", SPAN_INIT("a: .inf\n"), 1, "infinity"},
    {"NaN", SPAN_INIT("a:\n- .NaN\n"), 2, "NaN"},
    {"a tag that is not so", SPAN_INIT("a: !!int ten\n"), 1, "!!int"},
    {"binary", SPAN_INIT("a: !!binary aGk=\n"), 1, "tag"},
    {"a tag of somebody", SPAN_INIT("a: !Ref x\n"), 1, "tag"},
    {"a list tagged as a map", SPAN_INIT("a: !!map [1]\n"), 1, "tag"},
    {"not UTF-8", SPAN_INIT("a: 1\nb: \xFF\n"), 2, "UTF-8"},
    {"a control character", SPAN_INIT("a: \x01\n"), 1, "control characters"},
    {"wrong in the second document", SPAN_INIT("a: 1\n---\nb: *x\n"), 3, "without an anchor"},
};

static void test_yaml_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_yaml); i++) {
        size_t at = 0;
        const struct doc *doc;
        struct err err = {0};
        while (doc_parse_yaml(parser, bad_yaml[i].text, &at, &doc, &err))
            continue;
        if (err.kind != ERR_INVALID || strstr(err.msg, bad_yaml[i].says) == NULL)
            fail_msg("%s: says \"%s\"", bad_yaml[i].label, err.msg);
        if (doc_fault_line(parser) != bad_yaml[i].line)
            fail_msg("%s: says line %u", bad_yaml[i].label, doc_fault_line(parser));
    }
}

/* The stream goes on where it was even if the parser read something else in between. */
static void test_yaml_interrupted(void **state)
{
    (void)state;
    struct span text = SPAN("a: 1\n---\nb: 2\n---\nc: 3\n");
    size_t at = 0;
    const struct doc *doc, *other;
    struct err err = {0};
    int seen = 0;
    static const char *const want[] = {"a", "b", "c"};
    while (doc_parse_yaml(parser, text, &at, &doc, &err)) {
        struct doc_value v;
        assert_true(doc_find(doc_root(doc), span_of(want[seen++]), &v));
        assert_true(parse_yaml(SPAN("x: y"), &other, &err));
        assert_true(parse_json(SPAN("[1]"), &other, &err));
    }
    assert_int_equal(err.kind, ERR_NONE);
    assert_int_equal(seen, 3);
}

static void test_many_keys_one_twice(void **state)
{
    (void)state;
    struct buf b = {0};
    for (int i = 0; i < 5000; i++)
        buf_addf(&b, "key-%d: %d\n", i, i);
    const struct doc *doc;
    struct err err;
    assert_true(parse_yaml(buf_span(&b), &doc, &err));
    assert_int_equal(doc_count(doc_root(doc)), 5000);
    buf_add(&b, SPAN("key-77: 1\n"));
    assert_false(parse_yaml(buf_span(&b), &doc, &err));
    assert_string_equal(err.msg, "line 5001: the key \"key-77\" is given twice");
    buf_release(&b);
}

/* Every value is on the line that its text says, in whatever order the lines are asked for. */
static void test_lines(void **state)
{
    (void)state;
    static const char json[] = "[1,\n\"2, \\\"3\\\" {[\\\\\",\n{\"k\":3,\n\"3\":4.5\n,\"l\"\n:6},"
                               "\n\n[8,[],{},true\n,9]]";
    static const char yaml[] = "- 1\n- \"2, ]\"\n- k: 3\n  \"3\": 4\n  l: 5\n- - 6\n  - |\n    x\n"
                               "  - 9\n";
    static const uint32_t json_lines[] = {1, 2, 3, 3, 4, 6, 8, 8, 8, 8, 8, 9};
    static const uint32_t yaml_lines[] = {1, 2, 3, 3, 4, 5, 6, 6, 7, 9};
    for (int yes = 0; yes < 2; yes++) {
        const struct doc *doc;
        struct err err;
        assert_true(yes ? parse_yaml(span_of(yaml), &doc, &err)
                        : parse_json(span_of(json), &doc, &err));
        const uint32_t *want = yes ? yaml_lines : json_lines;
        size_t count = yes ? COUNT_OF(yaml_lines) : COUNT_OF(json_lines);
        struct doc_value values[16];
        size_t n = 0;
        for (struct doc_iter it = doc_iter_of(doc_root(doc)); doc_next(&it);) {
            values[n++] = it.value;
            for (struct doc_iter in = doc_iter_of(it.value); doc_next(&in);)
                values[n++] = in.value;
        }
        assert_int_equal(n, count);
        for (size_t i = 0; i < n; i++)
            if (doc_line(values[i]) != want[i])
                fail_msg("value %zu: line %u", i, doc_line(values[i]));
        for (size_t i = n; i-- > 0;)
            assert_int_equal(doc_line(values[i]), want[i]);
        assert_int_equal(doc_line(doc_root(doc)), 1);
    }
}

/* ---- against jansson, on generated documents ---- */

static uint64_t seed = 20260101;

static uint32_t roll(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static json_t *generate(int depth)
{
    static const char *const texts[] = {"", "web", "a\"b\\", "é😀", "line\nbreak", "\x01\x7f",
                                        "123", "true", "{\"k\":[1,2]}"};
    uint32_t kind = roll(depth > 0 ? 9 : 7);
    json_t *made;
    switch (kind) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(roll(2));
    case 2:
        return json_integer((json_int_t)(roll(1u << 31) * (uint64_t)roll(1u << 31)) *
                            (roll(2) ? 1 : -1));
    case 3:
        return json_integer(roll(1000));
    case 4:
        return json_real((double)roll(1u << 31) / (1 + roll(100000)));
    case 5:
    case 6:
        return json_string(texts[roll(COUNT_OF(texts))]);
    case 7:
        made = json_array();
        for (uint32_t n = roll(6); n > 0; n--)
            json_array_append_new(made, generate(depth - 1));
        return made;
    default:
        made = json_object();
        for (uint32_t n = roll(6); n > 0; n--)
            json_object_set_new(made, texts[roll(COUNT_OF(texts))], generate(depth - 1));
        return made;
    }
}

static bool same(json_t *want, struct doc_value got)
{
    int64_t whole;
    double real;
    struct doc_value member;
    const char *key;
    json_t *value;
    switch (json_typeof(want)) {
    case JSON_NULL:
        return doc_type(got) == DOC_NULL;
    case JSON_TRUE:
    case JSON_FALSE:
        return doc_type(got) == DOC_BOOL && doc_bool(got) == json_is_true(want);
    case JSON_INTEGER:
        return doc_type(got) == DOC_NUMBER && doc_int64(got, &whole) &&
               whole == json_integer_value(want);
    case JSON_REAL:
        return doc_type(got) == DOC_NUMBER && doc_double(got, &real) &&
               real == json_real_value(want) &&
               strtod(doc_text(got).ptr, NULL) == json_real_value(want);
    case JSON_STRING:
        return doc_type(got) == DOC_STRING &&
               span_eq(doc_text(got), (struct span){json_string_value(want),
                                                    json_string_length(want)});
    case JSON_ARRAY: {
        size_t i = 0;
        for (struct doc_iter it = doc_iter_of(got); doc_next(&it); i++)
            if (!same(json_array_get(want, i), it.value))
                return false;
        return doc_type(got) == DOC_ARRAY && i == json_array_size(want);
    }
    case JSON_OBJECT:
        json_object_foreach(want, key, value) {
            if (!doc_find(got, span_of(key), &member) || !same(value, member))
                return false;
        }
        return doc_type(got) == DOC_OBJECT && doc_count(got) == json_object_size(want);
    }
    return false;
}

static void test_json_as_jansson_reads_it(void **state)
{
    (void)state;
    for (int round = 0; round < 3000; round++) {
        json_t *want = generate(5);
        char *text = json_dumps(want, JSON_ENCODE_ANY | (roll(2) ? JSON_INDENT(2) : JSON_COMPACT));
        const struct doc *doc;
        struct err err;
        if (!parse_json(span_of(text), &doc, &err))
            fail_msg("round %d: refused: %s\n%s", round, err.msg, text);
        if (!same(want, doc_root(doc)))
            fail_msg("round %d: read otherwise:\n%s", round, text);
        uint32_t line;
        assert_null(json_fault(span_of(text), &line));
        free(text);
        json_decref(want);
    }
}

/* One byte changed at random: both refuse it, or both read the same. */
static void test_broken_json_as_jansson(void **state)
{
    (void)state;
    static const char bytes[] = "{}[],:\"\\0159-.eEnull \x80\xC3";
    for (int round = 0; round < 20000; round++) {
        json_t *whole = generate(3);
        char *text = json_dumps(whole, JSON_ENCODE_ANY | JSON_COMPACT);
        json_decref(whole);
        text[roll((uint32_t)strlen(text))] = bytes[roll(sizeof(bytes) - 1)];
        json_error_t e;
        json_t *want = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
        const struct doc *doc;
        struct err err;
        bool read = parse_json(span_of(text), &doc, &err);
        bool beyond_int64 = want == NULL && json_error_code(&e) == json_error_numeric_overflow;
        if (read != (want != NULL) && !beyond_int64)
            fail_msg("round %d: %s by us, not by jansson: %s", round, read ? "read" : "refused",
                     text);
        bool may_repeat = strchr(text, '{') != NULL; /* a key twice: we find the first, it the last */
        if (read && want != NULL && !may_repeat && !same(want, doc_root(doc)))
            fail_msg("round %d: read otherwise: %s", round, text);
        if (!read && doc_fault_line(parser) == 0)
            fail_msg("round %d: no line for %s", round, text);
        json_decref(want);
        free(text);
    }
}

static void test_trim(void **state)
{
    (void)state;
    enum { LARGE = 1 << 20, KEEP = 64 << 10 };
    struct doc_parser *p = doc_parser_new();
    struct buf b = {0};
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    buf_add_char(&b, '"');
    while (b.len < LARGE)
        buf_add_char(&b, 'x');
    buf_add_char(&b, '"');
    assert_int_equal(doc_parser_size(p), 0);
    assert_true(doc_parse_json(p, buf_span(&b), &doc, &err));
    assert_true(doc_parser_size(p) > LARGE);
    doc_parser_trim(p, KEEP);
    assert_int_equal(doc_parser_size(p), 0);
    assert_true(doc_parse_yaml(p, buf_span(&b), &at, &doc, &err));
    assert_true(doc_parser_size(p) > LARGE);
    doc_parser_trim(p, KEEP);
    assert_true(doc_parse_json(p, SPAN("[1]"), &doc, &err));
    size_t small = doc_parser_size(p);
    doc_parser_trim(p, KEEP * 2);
    assert_int_equal(doc_parser_size(p), small);
    assert_int_equal(doc_count(doc_root(doc)), 1);
    buf_release(&b);
    doc_parser_free(p);
}

/* An object of 3,000 keys that all hash to one place of 8,192, or of others; how long it takes to see that none comes twice. */
static double seconds_to_compare(bool chosen)
{
    enum { KEYS = 3000, PLACES = 8192, LEN = 8, TRIES = 5 };
    struct buf b = {0};
    const struct doc *doc;
    struct doc_iter second;
    struct err err;
    char key[] = "aaaaaaaa";
    double least = 1e9;
    for (int found = 0; found < KEYS;) {
        for (size_t i = 0; i < LEN && key[i]++ == 'z'; i++)
            key[i] = 'a';
        if (!chosen || (span_hash((struct span){key, LEN}) & (PLACES - 1)) == 0)
            buf_addf(&b, "%s\"%s\":1", found++ == 0 ? "{" : ",", key);
    }
    buf_add_char(&b, '}');
    assert_true(parse_json(buf_span(&b), &doc, &err));
    for (int try = 0; try < TRIES; try++) {
        clock_t before = clock();
        assert_false(doc_repeated(doc_root(doc), &second));
        double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
        least = seconds < least ? seconds : least;
    }
    buf_release(&b);
    return least;
}

static void test_chosen_keys(void **state)
{
    (void)state;
    enum { SLOWER_MOST = 10 };
    double of_plain = seconds_to_compare(false), of_chosen = seconds_to_compare(true);
    if (of_chosen > SLOWER_MOST * of_plain)
        fail_msg("%.4f s for keys that were chosen, %.4f s for others", of_chosen, of_plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_json_values),
        cmocka_unit_test(test_json_refused),
        cmocka_unit_test(test_depth_is_the_same_for_both),
        cmocka_unit_test(test_yaml_values),
        cmocka_unit_test(test_yaml_refused),
        cmocka_unit_test(test_yaml_interrupted),
        cmocka_unit_test(test_many_keys_one_twice),
        cmocka_unit_test(test_chosen_keys),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_json_as_jansson_reads_it),
        cmocka_unit_test(test_broken_json_as_jansson),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
