/* Requirements are written "a,b" operator by operator in a small notation, so that the tables of
 * the specification can be copied row by row: "In a b", "NotIn 1 2", "Gt 1", "Exists",
 * "DoesNotExist". */
#include "kube/requirement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct arena arena;
static struct symtab *syms;

static enum op op_of(struct span s)
{
    for (int op = OP_IN; op <= OP_LTE; op++)
        if (span_eq(s, span_of(op_name((enum op)op))))
            return (enum op)op;
    return OP_NONE;
}

static struct expression expression_of(struct span key, struct span rest)
{
    sym *values = ARENA_ARRAY(&arena, sym, 16);
    struct expression e = {.key = sym_intern(syms, key), .values = {values, 0}};
    e.op_text = span_cut(rest, ' ', &rest);
    e.op = op_of(e.op_text);
    while (rest.len != 0) {
        struct span value = span_cut(rest, ' ', &rest);
        if (span_has_prefix(value, SPAN("min=")))
            e.min_values = atoi(value.ptr + 4);
        else
            values[e.values.count++] = sym_intern(syms, value);
    }
    return e;
}

static struct requirement parse(const char *text)
{
    struct expression e = expression_of(SPAN("k"), span_of(text));
    return requirement_of(&arena, syms, &e);
}

static const char *text_of(const struct requirement *r)
{
    struct buf b = {0};
    requirement_put(&b, r, syms);
    const char *text = arena_cstr(&arena, buf_span(&b));
    buf_release(&b);
    return text;
}

/* "zone In a; custom NotIn b" */
static struct requirements parse_set(const char *text)
{
    struct requirements s = {NULL, 0};
    struct span rest = span_of(text);
    while (rest.len != 0) {
        struct span one = span_cut(rest, ';', &rest), after;
        while (one.len != 0 && one.ptr[0] == ' ')
            one = (struct span){one.ptr + 1, one.len - 1};
        struct span key = span_cut(one, ' ', &after);
        if (span_eq(key, SPAN("zone")))
            key = SPAN("topology.kubernetes.io/zone");
        struct expression e = expression_of(key, after);
        struct requirement r = requirement_of(&arena, syms, &e);
        requirements_add(&arena, &s, &r, syms);
    }
    return s;
}

/* minValues makes no intersection empty; the larger one is carried. */
static void check_intersection(const char *of_x, int x_min, const char *of_y, int y_min,
                               const char *want)
{
    struct requirement x = parse(of_x), y = parse(of_y);
    char all[64], carried[32] = "";
    int min = x_min > y_min ? x_min : y_min;
    x.min_values = x_min;
    y.min_values = y_min;
    if (min != 0)
        snprintf(carried, sizeof(carried), " minValues %d", min);
    snprintf(all, sizeof(all), "%s%s", want, carried);
    struct requirement got = requirement_and(&arena, &x, &y, syms);
    if (strcmp(text_of(&got), all) != 0)
        fail_msg("%s (%d) AND %s (%d): got \"%s\", want \"%s\"", of_x, x_min, of_y, y_min,
                 text_of(&got), all);
    bool meets = requirement_op(&got) != OP_DOES_NOT_EXIST;
    if (requirement_intersects(&x, &y, syms) != meets)
        fail_msg("%s meets %s: want %d", of_x, of_y, meets);
}

/* provisioning 3.4, the table: cell [row][column] is row AND column. */
static void test_intersection_table(void **state)
{
    (void)state;
    enum { SIZE = 14, MOST = 3 };
    static const char *const head[SIZE] = {"Exists", "DoesNotExist", "In A",  "In B", "In A B",
                                           "NotIn A", "In 1",        "In 9",  "In 1 9", "NotIn 1 2",
                                           "Gt 1",   "Gt 9",         "Lt 1",  "Lt 9"};
#define E_ "k Exists"
#define D_ "k DoesNotExist"
#define A_ "k In [A]"
#define B_ "k In [B]"
#define AB "k In [A B]"
#define NA "k NotIn [A]"
#define I1 "k In [1]"
#define I19 "k In [1 9]"
#define I9 "k In [9]"
#define N12 "k NotIn [1 2]"
#define G1 "k Exists >=2"
#define G9 "k Exists >=10"
#define L1 "k Exists <=0"
#define L9 "k Exists <=8"
#define N2G "k NotIn [2] >=2"
#define N12L "k NotIn [1 2] <=8"
#define NA12 "k NotIn [1 2 A]"
#define G1L9 "k Exists >=2 <=8"
    static const char *const want[SIZE][SIZE] = {
        {E_, D_, A_, B_, AB, NA, I1, I9, I19, N12, G1, G9, L1, L9},
        {D_, D_, D_, D_, D_, D_, D_, D_, D_, D_, D_, D_, D_, D_},
        {A_, D_, A_, D_, A_, D_, D_, D_, D_, A_, D_, D_, D_, D_},
        {B_, D_, D_, B_, B_, B_, D_, D_, D_, B_, D_, D_, D_, D_},
        {AB, D_, A_, B_, AB, B_, D_, D_, D_, AB, D_, D_, D_, D_},
        {NA, D_, D_, B_, B_, NA, I1, I9, I19, NA12, G1, G9, L1, L9},
        {I1, D_, D_, D_, D_, I1, I1, D_, I1, D_, D_, D_, D_, I1},
        {I9, D_, D_, D_, D_, I9, D_, I9, I9, I9, I9, D_, D_, D_},
        {I19, D_, D_, D_, D_, I19, I1, I9, I19, I9, I9, D_, D_, I1},
        {N12, D_, A_, B_, AB, NA12, D_, I9, I9, N12, N2G, G9, L1, N12L},
        {G1, D_, D_, D_, D_, G1, D_, I9, I9, N2G, G1, G9, D_, G1L9},
        {G9, D_, D_, D_, D_, G9, D_, D_, D_, G9, G9, G9, D_, D_},
        {L1, D_, D_, D_, D_, L1, D_, D_, D_, L1, D_, D_, L1, L1},
        {L9, D_, D_, D_, D_, L9, I1, D_, I1, N12L, G1L9, D_, L1, L9},
    };
    for (int n = 0; n < SIZE * SIZE * MOST * MOST; n++) { /* with minValues of each, and without */
        int i = n / SIZE % SIZE, j = n % SIZE;
        int of_x = n / (SIZE * SIZE) % MOST, of_y = n / (SIZE * SIZE * MOST);
        check_intersection(head[i], of_x, head[j], of_y, want[i][j]);
    }
}

static void test_intersections(void **state)
{
    (void)state;
    static const struct {
        const char *x, *y, *want;
    } rows[] = {
        {"In a b", "In b c", "k In [b]"},
        {"In a", "In b", D_},
        {"NotIn a", "NotIn b", "k NotIn [a b]"},
        {"In 1 5 9 x", "Gt 4", "k In [5 9]"},
        {"Gt 4", "Lt 9", "k Exists >=5 <=8"},
        {"Gt 4", "Lt 5", D_},
        {"NotIn 6", "Gte 5", "k NotIn [6] >=5"},
        {"NotIn 6 x 3", "Gte 5", "k NotIn [6] >=5"},
        {"In a b min=2", "In a", "k In [a] minValues 2"},
        {"Exists min=3", "In a min=2", "k In [a] minValues 3"},
        {"Gt 4 min=2", "Lt 2", "k DoesNotExist minValues 2"},
        {"Gte 5", "Lte 5", "k Exists >=5 <=5"},
        {"Gt 9223372036854775807", "Exists", D_},
        {"Lt 0", "Exists", "k Exists <=-1"},
        {"Gt x", "Exists", D_},
        {"In b a a b", "Exists", "k In [a b]"},
        {"In g f e d c b a", "Exists", "k In [a b c d e and 2 others]"},
        {"In f g", "In g f e", "k In [f g]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct requirement x = parse(rows[i].x), y = parse(rows[i].y);
        struct requirement got = requirement_and(&arena, &x, &y, syms);
        if (strcmp(text_of(&got), rows[i].want) != 0)
            fail_msg("%s AND %s: got \"%s\", want \"%s\"", rows[i].x, rows[i].y, text_of(&got),
                     rows[i].want);
    }
}

/* Of a value that is longer than any valid one, the beginning is shown. */
static void test_long_text(void **state)
{
    (void)state;
    enum { SHOWN = 320, LENGTH = 5000 };
    char value[LENGTH + 1], want[SHOWN + 16];
    memset(value, 'x', LENGTH);
    value[LENGTH] = '\0';
    memcpy(value + SHOWN - 1, "ü", 2); /* does not fit, and is not cut in two */
    struct requirement r = parse(arena_printf(&arena, "In %s", value).ptr);
    snprintf(want, sizeof(want), "k In [%.*s…]", SHOWN - 1, value);
    assert_string_equal(text_of(&r), want);
}

static void test_has_and_any(void **state)
{
    (void)state;
    static const struct {
        const char *r, *value;
        bool has;
        const char *any; /* NULL: none */
    } rows[] = {
        {"In b a", "a", true, "a"},
        {"In b a", "c", false, "a"},
        {"NotIn a", "b", true, "0"},
        {"NotIn a", "a", false, "0"},
        {"NotIn 0 1", "0", false, "2"},
        {"Exists", "x", true, "0"},
        {"DoesNotExist", "x", false, NULL},
        {"Gt 3", "4", true, "4"},
        {"Gt 3", "3", false, "4"},
        {"Gt 3", "x", false, "4"},
        {"Lt 3", "2", true, "0"},
        {"Lte 3", "3", true, "0"},
        {"Gte 9223372036854775807", "9223372036854775807", true, "9223372036854775807"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct requirement r = parse(rows[i].r);
        if (requirement_has(&r, sym_intern(syms, span_of(rows[i].value)), syms) != rows[i].has)
            fail_msg("%s has %s: want %d", rows[i].r, rows[i].value, rows[i].has);
        sym any = requirement_any(&arena, syms, &r);
        if (!span_eq(sym_text(syms, any), span_of(rows[i].any)))
            fail_msg("any of %s: got \"%.*s\"", rows[i].r, SPAN_ARG(sym_text(syms, any)));
    }
    struct requirement x = parse("NotIn 5"), y = parse("Gte 5"), z = parse("Lte 5");
    struct requirement both = requirement_and(&arena, &y, &z, syms);
    both = requirement_and(&arena, &both, &x, syms);
    assert_int_equal(requirement_any(&arena, syms, &both),
                     SYM_NONE); /* 5 is the only one, and excluded */
}

/* api 6.2 and provisioning 3.5. `lax` allows well-known keys to be undefined. */
static void test_compatible(void **state)
{
    (void)state;
    static const struct {
        const char *x, *y;
        bool strict, lax;
    } rows[] = {
        {"", "zone In a", false, true},
        {"", "custom In a", false, false},
        {"", "custom NotIn a", true, true},
        {"", "custom DoesNotExist", true, true},
        {"", "custom Exists", false, false},
        {"", "custom Gt 1", false, false},
        {"custom In a", "custom DoesNotExist", false, false},
        {"custom DoesNotExist", "custom NotIn a", true, true},
        {"zone In a", "zone In b", false, false},
        {"zone In a", "", true, true},
        {"custom In v", "custom In v w", true, true},
        {"custom In v", "custom NotIn v", false, false},
        {"custom In v", "custom Exists", true, true},
        {"custom NotIn a", "custom DoesNotExist", true, true},
        {"custom Exists", "custom DoesNotExist", false, false},
        {"zone In a; custom In b", "custom In b; zone In a c", true, true},
        {"zone In a; custom In b", "custom In c; zone In a c", false, false},
    };
    sym zone = SYM_ZONE;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct requirements x = parse_set(rows[i].x), y = parse_set(rows[i].y);
        if (requirements_compatible(&x, &y, (struct syms){0}, syms, NULL, NULL) != rows[i].strict)
            fail_msg("{%s} strictly takes {%s}: want %d", rows[i].x, rows[i].y, rows[i].strict);
        if (requirements_compatible(&x, &y, (struct syms){&zone, 1}, syms, NULL, NULL) !=
            rows[i].lax)
            fail_msg("{%s} takes {%s}: want %d", rows[i].x, rows[i].y, rows[i].lax);
    }
    sym bad = SYM_NONE;
    bool undefined = false;
    struct requirements x = parse_set("a In 1; b In 1"), y = parse_set("a In 1; b In 2");
    assert_false(requirements_compatible(&x, &y, (struct syms){0}, syms, &bad, &undefined));
    assert_string_equal(sym_text(syms, bad).ptr, "b");
    assert_false(undefined);
    y = parse_set("c In 2");
    assert_false(requirements_compatible(&x, &y, (struct syms){0}, syms, &bad, &undefined));
    assert_string_equal(sym_text(syms, bad).ptr, "c");
    assert_true(undefined);
}

static void test_sets(void **state)
{
    (void)state;
    struct sym_pair labels[] = {
        {sym_intern(syms, SPAN("z")), sym_intern(syms, SPAN("1"))},
        {SYM_HOSTNAME, sym_intern(syms, SPAN("n1"))},
        {SYM_BETA_ARCH, SYM_AMD64},
        {SYM_ARCH, SYM_AMD64},
    };
    struct requirements s = requirements_of_labels(&arena, syms, (struct sym_pairs){labels, 4});
    assert_int_equal(s.count, 3); /* the alias and the name of arch are one key */
    struct buf b = {0};
    requirements_put(&b, &s, syms);
    assert_string_equal(b.ptr, "kubernetes.io/arch In [amd64], z In [1]");
    struct requirements more = parse_set("z In 1 2; y Exists");
    struct requirements before = s;
    requirements_add_all(&arena, &s, &more, syms);
    buf_clear(&b);
    requirements_put(&b, &s, syms);
    assert_string_equal(b.ptr, "kubernetes.io/arch In [amd64], y Exists, z In [1]");
    assert_int_equal(before.count, 3);
    buf_release(&b);
    assert_null(requirements_get(&s, SYM_ZONE));
}

static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *set, *want;
    } rows[] = {
        {"b In y x; a Exists", "a Exists, b In x y"},
        {"a Gt 4; a Lt 9", "a Gte 5, a Lte 8"},
        {"a NotIn 6 7; a Gt 4", "a Gte 5, a NotIn 6 7"}, /* upstream loses the exclusions */
        {"a DoesNotExist", "a DoesNotExist"},
        {"a Gt 4 min=2", "a Gte 5 min=2"},
        {"a In x y min=2", "a In x y min=2"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct requirements s = parse_set(rows[i].set);
        struct expressions list = requirements_expressions(&arena, syms, &s);
        struct buf b = {0};
        for (uint32_t k = 0; k < list.count; k++) {
            const struct expression *e = &list.items[k];
            buf_addf(&b, "%s%s %s", k != 0 ? ", " : "", sym_text(syms, e->key).ptr, op_name(e->op));
            for (uint32_t v = 0; v < e->values.count; v++)
                buf_addf(&b, " %s", sym_text(syms, e->values.items[v]).ptr);
            if (e->min_values != 0)
                buf_addf(&b, " min=%d", (int)e->min_values);
        }
        if (strcmp(b.ptr, rows[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].set, b.ptr, rows[i].want);
        buf_release(&b);
    }
}

/* ---- sets of many ---- */

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* A few keys (some under an alias) and values, integers among them, so that all that can meet does. */
static struct expression random_expression(uint64_t *seed)
{
    enum { KEYS = 5, VALUES = 12, LIST_MAX = 6, MIN_VALUES = 4 };
    static const sym keys[KEYS] = {SYM_ZONE, SYM_BETA_ZONE, SYM_ARCH, SYM_HOSTNAME, SYM_INSTANCE_TYPE};
    struct expression e = {.key = keys[next_random(seed) % KEYS],
                           .op = (enum op)(OP_IN + (int)(next_random(seed) % (OP_LTE - OP_IN + 1))),
                           .min_values = (int32_t)(next_random(seed) % MIN_VALUES)};
    bool compares = e.op >= OP_GT;
    e.values.count = compares ? 1 : next_random(seed) % LIST_MAX;
    e.values.items = ARENA_ARRAY(&arena, sym, e.values.count);
    for (uint32_t i = 0; i < e.values.count; i++) {
        uint32_t n = next_random(seed) % VALUES;
        e.values.items[i] = sym_intern(syms, arena_printf(&arena, n < VALUES - 2 ? "%u" : "v%u", n));
    }
    return e;
}

static void check_same(const struct requirement *got, const struct requirement *want)
{
    assert_int_equal(got->key, want->key);
    assert_int_equal(got->complement, want->complement);
    assert_int_equal(got->has_gte, want->has_gte);
    assert_int_equal(got->has_lte, want->has_lte);
    assert_int_equal(got->gte, want->gte);
    assert_int_equal(got->lte, want->lte);
    assert_int_equal(got->min_values, want->min_values);
    assert_int_equal(got->count, want->count);
    for (uint32_t i = 0; i < want->count; i++)
        assert_int_equal(got->values[i], want->values[i]);
}

/* A set of all at once is what adding one after the other makes. */
static void test_set_at_once(void **state)
{
    (void)state;
    enum { ROUNDS = 20000, LIST_MAX = 9 };
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct expression list[LIST_MAX];
        uint32_t count = next_random(&seed) % (LIST_MAX + 1);
        struct requirements want = {NULL, 0};
        for (uint32_t i = 0; i < count; i++) {
            list[i] = random_expression(&seed);
            struct requirement r = requirement_of(&arena, syms, &list[i]);
            requirements_add(&arena, &want, &r, syms);
        }
        struct requirements got = requirements_of(&arena, syms, (struct expressions){list, count});
        assert_int_equal(got.count, want.count);
        for (uint32_t i = 0; i < want.count; i++)
            check_same(&got.items[i], &want.items[i]);
        arena_clear(&arena);
    }
}

/* What building a set of `count` expressions takes; every n-th is of one key with all operators mixed, with `keys` keys. */
static size_t memory_of_set(uint32_t count, uint32_t keys, const enum op *ops, uint32_t op_count)
{
    struct arena input, work;
    arena_init(&input, 0);
    arena_init(&work, 0);
    struct expression *list = ARENA_ARRAY(&input, struct expression, count);
    for (uint32_t i = 0; i < count; i++) {
        enum op op = ops[i % op_count];
        sym *value = ARENA_NEW(&input, sym);
        *value = sym_intern(syms, arena_printf(&input, "%u", op == OP_IN || op == OP_NOT_IN ? i : 1));
        list[i] = (struct expression){.key = sym_intern(syms, arena_printf(&input, "example.com/key-%u", i % keys)),
                                      .op = op, .values = {value, 1}};
    }
    requirements_of(&work, syms, (struct expressions){list, count});
    size_t total = work.total;
    arena_release(&work);
    arena_release(&input);
    return total;
}

/* Twice as many expressions take at most 2.5 times the memory. That bounds the time as well: adding one after the other
 * copied the set for each. */
static void test_set_of_many(void **state)
{
    (void)state;
    enum { MANY = 5000, ONE_KEY = 1, EACH_MAX = 1024 };
    static const enum op not_in[] = {OP_NOT_IN}, in[] = {OP_IN}, all[] = {OP_NOT_IN, OP_GT, OP_NOT_IN, OP_EXISTS, OP_GTE};
    static const struct {
        uint32_t keys;
        const enum op *ops;
        uint32_t op_count;
    } rows[] = {{UINT32_MAX, in, 1}, {ONE_KEY, not_in, 1}, {ONE_KEY, in, 1}, {ONE_KEY, all, COUNT_OF(all)}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t once = memory_of_set(MANY, rows[i].keys, rows[i].ops, rows[i].op_count);
        size_t twice = memory_of_set(2 * MANY, rows[i].keys, rows[i].ops, rows[i].op_count);
        if (twice > once * 5 / 2 || once > (size_t)MANY * EACH_MAX)
            fail_msg("row %zu: %u expressions take %zu bytes, twice as many %zu", i, MANY, once, twice);
    }
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    syms = kube_symtab_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_unref(syms);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intersection_table),
        cmocka_unit_test(test_intersections),
        cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_has_and_any),
        cmocka_unit_test(test_compatible),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_set_at_once),
        cmocka_unit_test(test_set_of_many),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
