#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/decode.h"

/* One struct with a member of every kind. */

struct tag {
    sym key;
    struct span value;
};

struct price {
    struct span unit;
    int64_t cents;
};

struct part {
    struct span name;
    sym kind;
    int32_t size;
    struct part *inner;
};

struct thing {
    struct span name;
    sym node;
    bool on, has_count;
    int32_t small;
    int64_t count;
    double weight;
    int64_t cents;  /* scalar */
    sym colour;     /* scalar that is a sym */
    struct part main;
    struct part *spare;
    struct {
        struct part *items;
        uint32_t count;
    } parts;
    struct spans words;
    struct syms zones;
    struct {
        struct tag *items;
        uint32_t count;
    } tags;
    struct {
        struct price *items;
        uint32_t count;
    } prices;
    struct span status; /* flattened out of an object */
    int32_t summed;     /* made by a wire struct */
};

static bool read_cents(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    struct span text = doc_type(v) == DOC_STRING || doc_type(v) == DOC_NUMBER ? doc_text(v)
                                                                               : SPAN("");
    int64_t whole;
    if (!span_int64(text, &whole))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a price", SPAN_ARG(text));
    *(int64_t *)out = whole * 100;
    return true;
}

/* Looks at the key of its pair: "euro" counts in hundreds, the rest as it stands. */
static bool read_price(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    const struct price *pair =
        (const void *)((const char *)out - offsetof(struct price, cents));
    if (!read_cents(d, v, out, err))
        return false;
    if (!span_eq(pair->unit, SPAN("euro")))
        *(int64_t *)out /= 100;
    return true;
}

static bool read_colour(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    if (doc_type(v) != DOC_STRING)
        return err_set(err, ERR_INVALID, "%s is not a colour", doc_type_name(doc_type(v)));
    *(sym *)out = sym_intern(d->syms, doc_text(v));
    return true;
}

static bool keep_tag(struct span key)
{
    return !span_has_prefix(key, SPAN("skip."));
}

static const struct schema part_schema;
static const struct field part_fields[] = {
    FIELD(struct part, name, FIELD_SPAN, "name", .required = true),
    FIELD(struct part, kind, FIELD_SYM, "kind"),
    FIELD(struct part, size, FIELD_INT32, "size"),
    FIELD(struct part, inner, FIELD_POINTER, "inner", .schema = &part_schema),
};
static const struct schema part_schema = SCHEMA(struct part, "part", part_fields);

static const struct field tag_fields[] = {
    FIELD(struct tag, key, FIELD_SYM, "key"),
    FIELD(struct tag, value, FIELD_SPAN, "value"),
};
static const struct schema tag_schema = SCHEMA(struct tag, "tag", tag_fields);

static const struct field price_fields[] = {
    FIELD(struct price, unit, FIELD_SPAN, "unit"),
    FIELD(struct price, cents, FIELD_SCALAR, "value", .scalar = read_price),
};
static const struct schema price_schema = SCHEMA(struct price, "price", price_fields);

static const struct field status_fields[] = {FIELD(struct thing, status, FIELD_SPAN, "phase")};
static const struct schema status_schema = SCHEMA(struct thing, "status", status_fields);

/* "sums": {"a": 1, "b": 2} is read into a struct of its own and kept as 3. */
struct sums_wire {
    int32_t a, b;
};
static const struct field sums_wire_fields[] = {
    FIELD(struct sums_wire, a, FIELD_INT32, "a"),
    FIELD(struct sums_wire, b, FIELD_INT32, "b"),
};
static const struct schema sums_wire_schema = SCHEMA(struct sums_wire, "sums", sums_wire_fields);

static void add_up(struct decode *d, const void *wire, void *out)
{
    (void)d;
    const struct sums_wire *w = wire;
    *(int32_t *)out = w->a + w->b;
}

static const struct field sum_fields[] = {{.name = "sum", .kind = FIELD_INT32}};
static const struct schema sums_schema = {.name = "sums",
                                          .size = sizeof(int32_t),
                                          .count = 1,
                                          .fields = sum_fields,
                                          .wire = &sums_wire_schema,
                                          .convert = add_up};

static const struct field thing_fields[] = {
    FIELD(struct thing, name, FIELD_SPAN, "name"),
    FIELD(struct thing, node, FIELD_SYM, "node"),
    FIELD(struct thing, on, FIELD_BOOL, "on"),
    FIELD(struct thing, small, FIELD_INT32, "small"),
    FIELD(struct thing, count, FIELD_INT64, "count", FIELD_HAS(struct thing, has_count)),
    FIELD(struct thing, weight, FIELD_DOUBLE, "weight"),
    FIELD(struct thing, cents, FIELD_SCALAR, "cost", .scalar = read_cents, .fold_case = true),
    FIELD(struct thing, colour, FIELD_SCALAR, "colour", .scalar = read_colour,
          .scalar_is_sym = true),
    FIELD(struct thing, main, FIELD_OBJECT, "main", .schema = &part_schema),
    FIELD(struct thing, spare, FIELD_POINTER, "spare", .schema = &part_schema),
    FIELD(struct thing, parts, FIELD_LIST, "parts", .schema = &part_schema),
    FIELD(struct thing, words, FIELD_SPANS, "words"),
    FIELD(struct thing, zones, FIELD_SYMS, "zones"),
    FIELD(struct thing, tags, FIELD_MAP, "tags", .schema = &tag_schema, .keep = keep_tag),
    FIELD(struct thing, prices, FIELD_MAP, "prices", .schema = &price_schema),
    {.name = "state", .kind = FIELD_OBJECT, .schema = &status_schema},
    FIELD(struct thing, summed, FIELD_OBJECT, "sums", .schema = &sums_schema),
};
static const struct schema thing_schema = SCHEMA(struct thing, "Thing", thing_fields);

/* A struct as text, symbols by their text: equal structs give equal texts. */

static void show_span(struct buf *b, const char *name, struct span s)
{
    if (s.ptr != NULL)
        buf_addf(b, "%s='%.*s' ", name, SPAN_ARG(s));
}

static void show_part(struct buf *b, const struct symtab *t, const struct part *p)
{
    buf_add(b, SPAN("("));
    show_span(b, "name", p->name);
    show_span(b, "kind", sym_text(t, p->kind));
    if (p->size != 0)
        buf_addf(b, "size=%d ", p->size);
    if (p->inner != NULL)
        show_part(b, t, p->inner);
    buf_add(b, SPAN(") "));
}

static void show(struct buf *b, const struct symtab *t, const struct thing *o)
{
    buf_clear(b);
    show_span(b, "name", o->name);
    show_span(b, "node", sym_text(t, o->node));
    if (o->on)
        buf_add(b, SPAN("on "));
    if (o->small != 0)
        buf_addf(b, "small=%d ", o->small);
    if (o->has_count)
        buf_addf(b, "count=%lld ", (long long)o->count);
    if (o->weight != 0)
        buf_addf(b, "weight=%g ", o->weight);
    if (o->cents != 0)
        buf_addf(b, "cents=%lld ", (long long)o->cents);
    show_span(b, "colour", sym_text(t, o->colour));
    if (o->main.name.ptr != NULL)
        show_part(b, t, &o->main);
    if (o->spare != NULL)
        show_part(b, t, o->spare);
    for (uint32_t i = 0; i < o->parts.count; i++)
        show_part(b, t, &o->parts.items[i]);
    for (uint32_t i = 0; i < o->words.count; i++)
        show_span(b, "word", o->words.items[i]);
    for (uint32_t i = 0; i < o->zones.count; i++)
        show_span(b, "zone", sym_text(t, o->zones.items[i]));
    for (uint32_t i = 0; i < o->tags.count; i++)
        buf_addf(b, "%.*s:'%.*s' ", SPAN_ARG(sym_text(t, o->tags.items[i].key)),
                 SPAN_ARG(o->tags.items[i].value));
    for (uint32_t i = 0; i < o->prices.count; i++)
        buf_addf(b, "%.*s:%lld ", SPAN_ARG(o->prices.items[i].unit),
                 (long long)o->prices.items[i].cents);
    show_span(b, "status", o->status);
    if (o->summed != 0)
        buf_addf(b, "summed=%d ", o->summed);
}

struct fixture {
    struct doc_parser *parser;
    struct arena arena;
    struct symtab *syms;
    struct buf shown, told;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){.parser = doc_parser_new(), .syms = symtab_new(NULL, 0)};
    arena_init(&f.arena, 0);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    doc_parser_free(f->parser);
    symtab_unref(f->syms);
    arena_release(&f->arena);
    buf_release(&f->shown);
    buf_release(&f->told);
    return 0;
}

static void tell(void *user, uint32_t line, struct span path, struct span text)
{
    struct fixture *f = user;
    buf_addf(&f->told, "%u %.*s: %.*s\n", line, SPAN_ARG(path), SPAN_ARG(text));
}

static void decode_text(struct fixture *f, bool yaml, const char *text, const struct schema *schema,
                        void *out)
{
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    buf_clear(&f->told);
    bool parsed = yaml ? doc_parse_yaml(f->parser, span_of(text), &at, &doc, &err)
                       : doc_parse_json(f->parser, span_of(text), &doc, &err);
    if (!parsed)
        fail_msg("%s: %s", text, err.msg);
    struct decode d = {.arena = &f->arena, .syms = f->syms, .mistake = tell, .user = f};
    bool good = decode_value(&d, doc_root(doc), schema, out);
    assert_int_equal(good, f->told.len == 0);
    assert_int_equal(good, d.mistakes == 0);
}

static const struct {
    const char *label, *json, *yaml, *want;
} good[] = {
    {"nothing", "{}", "{}", ""},
    {"members that nobody reads", "{\"x\":{\"name\":[1]},\"y\":2}", "x: {name: [1]}\ny: 2\n", ""},
    {"text", "{\"name\":\"a\\u00e9\"}", "name: aé\n", "name='aé' "},
    {"an empty text is not an absent one", "{\"name\":\"\",\"node\":\"\"}", "name: ''\nnode: ''\n",
     "name='' node='' "},
    {"null is absent",
     "{\"name\":null,\"on\":null,\"small\":null,\"count\":null,\"cost\":null,\"main\":null,"
     "\"spare\":null,\"parts\":null,\"tags\":null,\"words\":null}",
     "name:\non:\nsmall: ~\ncount: null\ncost:\nmain:\nspare:\nparts:\ntags:\nwords:\n", ""},
    {"symbols", "{\"node\":\"n1\",\"zones\":[\"a\",\"b\",\"a\"]}", "node: n1\nzones: [a, b, a]\n",
     "node='n1' zone='a' zone='b' zone='a' "},
    {"booleans", "{\"on\":true}", "\"on\": yes\n", "on "},
    {"numbers at their ends", "{\"small\":-2147483648,\"count\":9223372036854775807}",
     "small: -2147483648\ncount: 9223372036854775807\n",
     "small=-2147483648 count=9223372036854775807 "},
    {"zero that is there", "{\"count\":0}", "count: 0\n", "count=0 "},
    {"doubles", "{\"weight\":0.0932}", "weight: 0.0932\n", "weight=0.0932 "},
    {"an integer for a double", "{\"weight\":3}", "weight: 3\n", "weight=3 "},
    {"scalars, names of any case", "{\"COST\":\"12\",\"colour\":\"red\"}",
     "cOsT: 12\ncolour: red\n", "cents=1200 colour='red' "},
    {"objects", "{\"main\":{\"name\":\"m\",\"kind\":\"k\",\"size\":3}}",
     "main:\n  name: m\n  kind: k\n  size: 3\n", "(name='m' kind='k' size=3 ) "},
    {"pointers", "{\"spare\":{\"name\":\"s\",\"inner\":{\"name\":\"t\"}}}",
     "spare: {name: s, inner: {name: t}}\n", "(name='s' (name='t' ) ) "},
    {"lists", "{\"parts\":[{\"name\":\"p\"},{\"name\":\"q\",\"size\":1}],\"words\":[\"x\",\"\"]}",
     "parts:\n- name: p\n- {name: q, size: 1}\nwords: [x, '']\n",
     "(name='p' ) (name='q' size=1 ) word='x' word='' "},
    {"empty lists", "{\"parts\":[],\"words\":[],\"tags\":{}}", "parts: []\nwords: []\ntags: {}\n",
     ""},
    {"null items", "{\"parts\":[null],\"words\":[null],\"zones\":[null]}",
     "parts: [~]\nwords: [~]\nzones: [~]\n", "() word='' zone='' "},
    {"maps", "{\"tags\":{\"b\":\"2\",\"skip.me\":\"9\",\"a\":\"1\",\"n\":null}}",
     "tags: {b: '2', skip.me: '9', a: '1', n: }\n", "b:'2' a:'1' n:'' "},
    {"a map all of whose keys are skipped", "{\"tags\":{\"skip.me\":\"9\"}}",
     "tags: {skip.me: '9'}\n", ""},
    {"a value that looks at its key", "{\"prices\":{\"euro\":2,\"cent\":\"7\"}}",
     "prices: {euro: 2, cent: '7'}\n", "euro:200 cent:7 "},
    {"flattened", "{\"state\":{\"phase\":\"up\"},\"name\":\"nn\"}",
     "state: {phase: up}\nname: nn\n", "name='nn' status='up' "},
    {"by way of a wire struct", "{\"sums\":{\"a\":1,\"b\":41}}", "sums: {a: 1, b: 41}\n",
     "summed=42 "},
};

static void test_every_kind_in_both_syntaxes(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        for (int yaml = 0; yaml < 2; yaml++) {
            struct thing o;
            memset(&o, 0xAA, sizeof(o));
            decode_text(f, yaml, yaml ? good[i].yaml : good[i].json, &thing_schema, &o);
            if (f->told.len != 0)
                fail_msg("%s: %s", good[i].label, f->told.ptr);
            show(&f->shown, f->syms, &o);
            if (!span_eq(buf_span(&f->shown), span_of(good[i].want)))
                fail_msg("%s (%s): got %s", good[i].label, yaml ? "YAML" : "JSON", f->shown.ptr);
        }
    }
}

static const struct {
    const char *label;
    bool yaml;
    const char *text, *want; /* what is told */
    const char *read;        /* what could be read all the same */
} wrong[] = {
    {"a string for an integer", true, "name: nn\nsmall: ten\n",
     "2 small: \"ten\" is not an integer\n", "name='nn' "},
    {"a quoted integer", true, "small: \"10\"\n",
     "1 small: \"10\" is a string, not an integer; leave the quotes out\n", ""},
    {"too large for 32 bits", true, "small: 2147483648\n",
     "1 small: 2147483648 is out of range; it may be -2147483648 to 2147483647\n", ""},
    {"too large for 64 bits", false, "{\"count\":18446744073709551615}",
     "1 count: 18446744073709551615 is out of range\n", "count=0 "},
    {"a fraction for an integer", false, "{\"count\":1.5}", "1 count: 1.5 is not an integer\n",
     "count=0 "},
    {"a number for a string", true, "name: 123\n", "1 name: 123 is a number, not a string; put it in quotes\n",
     ""},
    {"a boolean for a symbol", true, "node: yes\n",
     "1 node: true is a boolean, not a string; put it in quotes\n", ""},
    {"an object for a string", false, "{\"name\":\n{}}", "2 name: an object is not a string\n", ""},
    {"a string for a boolean", true, "\"on\": \"true\"\n",
     "1 on: \"true\" is a string, not a boolean; leave the quotes out\n", ""},
    {"a number for a boolean", true, "\"on\": 1\n", "1 on: 1 is not true or false\n", ""},
    {"a string for a double", true, "weight: heavy\n", "1 weight: \"heavy\" is not a number\n", ""},
    {"a list for an object", true, "main: []\n", "1 main: a list is not an object\n", ""},
    {"an object for a list", true, "parts: {}\n", "1 parts: an object is not a list\n", ""},
    {"a list for a map", true, "tags: [a]\n", "1 tags: a list is not an object\n", ""},
    {"a string for a pointer", true, "spare: x\n", "1 spare: \"x\" is not an object\n", "() "},
    {"the message of a scalar", true, "cost: lots\n", "1 cost: \"lots\" is not a price\n", ""},
    {"a long path", false,
     "{\"parts\":[{\"name\":\"a\"},\n{\"name\":\"b\",\"inner\":{\"name\":\"c\",\n\"size\":\"x\"}}]}",
     "3 parts[1].inner.size: \"x\" is not an integer\n", "(name='a' ) (name='b' (name='c' ) ) "},
    {"an item of a list of texts", true, "words:\n- a\n- 7\n",
     "3 words[1]: 7 is a number, not a string; put it in quotes\n", "word='a' "},
    {"keys of maps", true, "tags:\n  a: 1\n  app.kubernetes.io/name: 2\n",
     "2 tags.a: 1 is a number, not a string; put it in quotes\n"
     "3 tags[app.kubernetes.io/name]: 2 is a number, not a string; put it in quotes\n",
     "a:'' app.kubernetes.io/name:'' "},
    {"all mistakes are told", true, "name: 1\nsmall: x\nmain:\n  size: z\n  name: m\nnode: nn\n",
     "1 name: 1 is a number, not a string; put it in quotes\n2 small: \"x\" is not an integer\n"
     "4 main.size: \"z\" is not an integer\n",
     "node='nn' (name='m' ) "},
    {"a required member", true, "name: nn\nparts:\n- name: p\n- size: 1\n",
     "4 parts[1].name: is missing\n", "name='nn' (name='p' ) (size=1 ) "},
    {"a required member that is null", true, "main: {name: }\n", "1 main.name: is missing\n", ""},
    {"a member twice", false, "{\"name\":\"a\",\n\"name\":\"b\"}", "2 name: given twice\n",
     "name='a' "},
    {"a key twice", false, "{\"tags\":{\"a\":\"1\",\n\"a\":\"2\"}}", "2 tags.a: given twice\n",
     "a:'1' a:'2' "},
    {"a long text is cut", true,
     "small: 0123456789012345678901234567890123456789012345678901234567890123456789z\n",
     "1 small: \"0123456789012345678901234567890123456789012345678901234567890123…\" "
     "is not an integer\n",
     ""},
    {"a wire struct", true, "sums: {a: x, b: 2}\n", "1 sums.a: \"x\" is not an integer\n",
     "summed=2 "},
    {"the root", true, "- a\n", "1 : a list is not an object\n", ""},
};

static void test_mistakes(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct thing o;
        decode_text(f, wrong[i].yaml, wrong[i].text, &thing_schema, &o);
        if (!span_eq(buf_span(&f->told), span_of(wrong[i].want)))
            fail_msg("%s: told %s", wrong[i].label, f->told.ptr);
        show(&f->shown, f->syms, &o);
        if (!span_eq(buf_span(&f->shown), span_of(wrong[i].read)))
            fail_msg("%s: read %s", wrong[i].label, f->shown.ptr);
    }
}

static void test_strict(void **state)
{
    struct fixture *f = *state;
    struct schema strict = part_schema;
    strict.strict = true;
    struct part p;
    decode_text(f, true, "name: a\nsiez: 3\n", &strict, &p);
    assert_string_equal(f->told.ptr, "2 siez: is not a field of part\n");
}

/* ---- what reads, and no API server admits ---- */

struct lamp {
    int32_t watts;
    int64_t hours;
    struct span socket;
    struct {
        struct tag *items;
        uint32_t count;
    } tags;
    struct {
        struct lamp *items;
        uint32_t count;
    } lamps;
};

static void check_tag(struct decode *d, struct doc_value v, const void *object)
{
    const struct tag *t = object;
    if (t->value.len > 3)
        decode_invalid(d, v, "\"%.*s\" is too long", SPAN_ARG(t->value));
}

static void check_lamp(struct decode *d, struct doc_value v, const void *object)
{
    const struct lamp *l = object;
    if (span_eq(l->socket, SPAN("E14")) && l->watts > 40)
        decode_invalid_in(d, v, "watts", "%d is too much for an E14", l->watts);
    if (l->socket.len == 0)
        decode_invalid_in(d, v, "socket", "is empty");
}

static const struct schema checked_tag = SCHEMA_WITH(struct tag, "tag", tag_fields, .check = check_tag);
static const struct schema lamp_schema;
static const struct field lamp_fields[] = {
    FIELD(struct lamp, watts, FIELD_INT32, "watts", .low = 1, .high = 100, .needed = true),
    FIELD(struct lamp, hours, FIELD_INT64, "hours", .low = 0, .high = INT32_MAX),
    FIELD(struct lamp, socket, FIELD_SPAN, "socket"),
    FIELD(struct lamp, tags, FIELD_MAP, "tags", .schema = &checked_tag),
    FIELD(struct lamp, lamps, FIELD_LIST, "lamps", .schema = &lamp_schema),
};
static const struct schema lamp_schema =
    SCHEMA_WITH(struct lamp, "lamp", lamp_fields, .also = "colour maker", .check = check_lamp);

static const struct {
    const char *text, *want; /* what `invalid` and `unknown` hear */
    int32_t watts;
} odd[] = {
    {"{watts: 40, socket: E14, hours: 9000000000}", "", 40},
    {"{watts: 101, socket: E27}", "1 watts: 101 is out of range; it may be 1 to 100\n", 100},
    {"{watts: 5, socket: E27, hours: -1}", "1 hours: -1 is out of range; it may be 0 or more\n", 5},
    {"{socket: E27}", "1 watts: is missing\n", 1},
    {"watts: null\nsocket: E27\n", "1 watts: is missing\n", 1},
    {"socket: E14\nwatts: 60\n", "2 watts: 60 is too much for an E14\n", 60},
    {"watts: 5\n", "1 socket: is empty\n", 5},
    {"watts: 5\nsocket: E27\ntags:\n  a: abc\n  b.c: abcd\n", "5 tags[b.c]: \"abcd\" is too long\n", 5},
    {"watts: 5\nsocket: E27\nlamps:\n- null\n",
     "4 lamps[0].watts: is missing\n4 lamps[0].socket: is empty\n", 5},
    {"watts: 5\nsocket: E27\ncolour: red\nmaker: x\n", "", 5},
    {"watts: 5\nsocket: E27\nsokcet: red\n", "3 sokcet: is not a field; did you mean \"socket\"?\n", 5},
    {"watts: 5\nsocket: E27\ncolor: red\n", "3 color: is not a field; did you mean \"colour\"?\n", 5},
    {"watts: 5\nsocket: E27\nlamps: [{watts: 1, socket: a, dimmable: no}]\n",
     "3 lamps[0].dimmable: is not a field\n", 5},
};

static void test_what_no_server_admits(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        const struct doc *doc;
        struct err err;
        struct lamp lamp;
        size_t at = 0;
        buf_clear(&f->told);
        assert_true(doc_parse_yaml(f->parser, span_of(odd[i].text), &at, &doc, &err));
        struct decode d = {.arena = &f->arena, .syms = f->syms, .invalid = tell, .unknown = tell, .user = f};
        assert_true(decode_value(&d, doc_root(doc), &lamp_schema, &lamp)); /* none is a mistake */
        if (!span_eq(buf_span(&f->told), span_of(odd[i].want)))
            fail_msg("%s: told %s", odd[i].text, f->told.ptr);
        assert_int_equal(lamp.watts, odd[i].watts);
        d.invalid = d.unknown = NULL; /* nobody listens */
        assert_true(decode_value(&d, doc_root(doc), &lamp_schema, &lamp));
        assert_int_equal(lamp.watts, odd[i].watts);
    }
}

static void test_decode_one_says_the_first(void **state)
{
    struct fixture *f = *state;
    const struct doc *doc;
    struct err err = {0};
    struct thing o;
    assert_true(doc_parse_json(f->parser, SPAN("{\"main\":{\"size\":[]},\"small\":\"x\"}"), &doc,
                               &err));
    assert_false(decode_one(&f->arena, f->syms, doc_root(doc), &thing_schema, &o, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_string_equal(err.msg, "main.size: a list is not an integer");
    assert_true(doc_parse_json(f->parser, SPAN("[]"), &doc, &err));
    assert_false(decode_one(&f->arena, f->syms, doc_root(doc), &thing_schema, &o, &err));
    assert_string_equal(err.msg, "a list is not an object");
}

static const char everything[] =
    "{\"name\":\"a\",\"node\":\"n\",\"on\":true,\"small\":1,\"count\":2,\"weight\":0.5,\"cost\":3,"
    "\"colour\":\"red\",\"main\":{\"name\":\"m\",\"kind\":\"k\",\"inner\":{\"name\":\"\","
    "\"kind\":\"k2\"}},\"spare\":{\"name\":\"s\",\"kind\":\"k\"},\"parts\":[{\"name\":\"p\","
    "\"kind\":\"k3\"},{\"name\":\"q\",\"inner\":{\"name\":\"r\"}}],\"words\":[\"x\",\"yz\"],"
    "\"zones\":[\"z1\",\"z2\"],\"tags\":{\"t\":\"v\",\"u\":\"\"},\"prices\":{\"euro\":1},"
    "\"state\":{\"phase\":\"up\"},\"sums\":{\"a\":1,\"b\":2}}";

/* The copy stands alone: everything it was made of goes before it is looked at. */
static void test_pack(void **state)
{
    struct fixture *f = *state;
    struct thing o;
    decode_text(f, false, everything, &thing_schema, &o);
    show(&f->shown, f->syms, &o);
    char *want = strdup(f->shown.ptr);
    struct symtab *other = symtab_new(NULL, 0);
    sym_intern(other, SPAN("ids are others here"));
    size_t same_size, moved_size;
    char *same = schema_pack(&thing_schema, &o, 16, f->syms, f->syms, &same_size);
    char *moved = schema_pack(&thing_schema, &o, 0, f->syms, other, &moved_size);
    assert_int_equal(same_size, moved_size + 16);
    arena_release(&f->arena);
    memset(&o, 0xAA, sizeof(o));

    show(&f->shown, f->syms, (const void *)(same + 16));
    assert_string_equal(f->shown.ptr, want);
    symtab_unref(f->syms);
    f->syms = symtab_new(NULL, 0);
    show(&f->shown, other, (const void *)moved);
    assert_string_equal(f->shown.ptr, want);

    free(same);
    free(moved);
    free(want);
    symtab_unref(other);
}

static void test_pack_nothing(void **state)
{
    struct fixture *f = *state;
    struct thing o = {.name = {"", 0}};
    size_t size;
    struct thing *copy = schema_pack(&thing_schema, &o, 0, f->syms, NULL, &size);
    assert_int_equal(size, sizeof(o));
    assert_non_null(copy->name.ptr); /* empty, not absent */
    assert_null(copy->status.ptr);
    assert_null(copy->parts.items);
    free(copy);
}

static uint64_t digest(struct fixture *f, const char *json)
{
    struct thing o;
    decode_text(f, false, json, &thing_schema, &o);
    return schema_digest(&thing_schema, &o);
}

/* `from` stands in `everything` once. */
static uint64_t digest_with(struct fixture *f, const char *from, const char *to)
{
    char json[1024];
    const char *at = strstr(everything, from);
    assert_non_null(at);
    snprintf(json, sizeof(json), "%.*s%s%s", (int)(at - everything), everything, to,
             at + strlen(from));
    return digest(f, json);
}

static void test_digest(void **state)
{
    struct fixture *f = *state;
    static const char *const changes[][2] = {
        {"\"name\":\"a\"", "\"name\":\"b\""}, {"\"name\":\"a\",", ""},
        {"\"name\":\"a\"", "\"name\":\"\""},  {"\"node\":\"n\"", "\"node\":\"m\""},
        {"\"on\":true", "\"on\":false"},        {"\"cost\":3", "\"cost\":4"},
        {"\"name\":\"r\"", "\"name\":\"R\""}, {"\"name\":\"s\"", "\"name\":\"t\""},
        {"[\"x\",\"yz\"]", "[\"xy\",\"z\"]"}, {"[\"z1\",\"z2\"]", "[\"z1\"]"},
        {"\"u\":\"\"", "\"u\":\"w\""},        {"\"b\":2", "\"b\":3"},
    };
    uint64_t first = digest(f, everything);
    arena_alloc(&f->arena, 4000); /* elsewhere in memory */
    assert_int_equal(digest(f, everything), first);
    for (size_t i = 0; i < COUNT_OF(changes); i++)
        if (digest_with(f, changes[i][0], changes[i][1]) == first)
            fail_msg("%s to %s: the same digest", changes[i][0], changes[i][1]);
}

/* What a list was returned in may have left something behind its count. */
static void test_digest_of_lists_is_not_of_what_lies_behind(void **state)
{
    struct fixture *f = *state;
    struct thing o;
    decode_text(f, false, everything, &thing_schema, &o);
    uint64_t first = schema_digest(&thing_schema, &o);
    memset((char *)&o.parts + offsetof(struct spans, count) + sizeof(o.parts.count), 0xAA, sizeof(uint32_t));
    memset((char *)&o.zones + offsetof(struct syms, count) + sizeof(o.zones.count), 0xAA, sizeof(uint32_t));
    assert_int_equal(schema_digest(&thing_schema, &o), first);
}

static void mark(void *user, sym id)
{
    unsigned *seen = user;
    seen[id]++;
}

static void test_symbols_are_visited(void **state)
{
    struct fixture *f = *state;
    struct thing o;
    decode_text(f, false, everything, &thing_schema, &o);
    static unsigned seen[64];
    memset(seen, 0, sizeof(seen));
    schema_syms(&thing_schema, &o, mark, seen);
    static const struct {
        const char *text;
        unsigned times;
    } want[] = {{"n", 1},  {"red", 1}, {"k", 2}, {"k2", 1}, {"k3", 1},
                {"z1", 1}, {"z2", 1},  {"t", 1}, {"u", 1}};
    unsigned total = 0;
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_int_equal(seen[sym_find(f->syms, span_of(want[i].text))], want[i].times);
        total += want[i].times;
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        total -= seen[i];
    assert_int_equal(total, 0);
}

/* A text for which the table has no room is no absent one. */
static void test_one_symbol_too_many(void **state)
{
    struct fixture *f = *state;
    struct thing o;
    char text[32];
    symtab_unref(f->syms);
    f->syms = symtab_new_limited(NULL, 0, 1024);
    for (int i = 0; i < 1023; i++) {
        snprintf(text, sizeof(text), "t%d", i);
        sym_intern(f->syms, span_of(text));
    }
    decode_text(f, false, "{\"node\": \"t7\", \"zones\": [\"new\"]}", &thing_schema, &o);
    decode_text(f, false, "{\"node\": \"t7\", \"zones\": [\"new\", \"newer\"]}", &thing_schema, &o);
    assert_string_equal(f->told.ptr, "1 : has names or values beyond the millions that can be told apart; leave "
                                     "some objects out\n");
    decode_text(f, false, "{\"node\": \"t7\"}", &thing_schema, &o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_in_both_syntaxes),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_what_no_server_admits),
        cmocka_unit_test(test_decode_one_says_the_first),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_pack_nothing),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_digest_of_lists_is_not_of_what_lies_behind),
        cmocka_unit_test(test_symbols_are_visited),
        cmocka_unit_test(test_one_symbol_too_many), /* last: its table is full */
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
