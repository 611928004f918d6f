/* Golden plans: tests/golden/plan/<case>.in.yaml gives <case>.out.json and <case>.out.txt, byte by
 * byte. STOWAGE_GOLDEN=write writes them anew; the diff is what a reviewer reads. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/plan/plan_json.h"
#include "planner/plan/plan_table.h"

#define FOLDER TESTS_DIR "/golden/plan/"

static const char *const cases[] = {"room-first",    "two-pools",    "reasons",
                                    "nothing-waits", "spread-zones", "near-and-apart"};

static char *read_file(const char *name, const char *ending)
{
    char path[512];
    snprintf(path, sizeof(path), FOLDER "%s%s", name, ending);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    struct buf b = {0};
    for (;;) {
        char *room = buf_reserve(&b, 4096);
        size_t n = fread(room, 1, 4096, f);
        if (n == 0)
            break;
        buf_commit(&b, n);
    }
    fclose(f);
    return b.ptr;
}

static void compare(const char *name, const char *ending, struct span got)
{
    const char *write = getenv("STOWAGE_GOLDEN");
    if (write != NULL && strcmp(write, "write") == 0) {
        char path[512];
        snprintf(path, sizeof(path), FOLDER "%s%s", name, ending);
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(got.ptr, 1, got.len, f), got.len);
        fclose(f);
        return;
    }
    char *want = read_file(name, ending);
    if (want == NULL || !span_eq(got, span_of(want)))
        fail_msg("%s%s differs; got:\n%.*s", name, ending, SPAN_ARG(got));
    free(want);
}

static void plans(void **state)
{
    (void)state;
    char *types = read_file("types", ".yaml");
    assert_non_null(types);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        cluster_init(&c);
        cluster_add(&c, types);
        char *input = read_file(cases[i], ".in.yaml");
        assert_non_null(input);
        cluster_add(&c, input);
        free(input);
        const struct plan *p = cluster_plan(&c);
        struct buf json = {0}, table = {0};
        struct json j = {.out = &json, .indent = 2};
        plan_json(&j, p, NULL, 0);
        buf_add_char(&json, '\n');
        plan_table(&table, p, &(struct plan_table_options){.width = 80, .verbose = true});
        compare(cases[i], ".out.json", buf_span(&json));
        compare(cases[i], ".out.txt", buf_span(&table));
        buf_release(&json);
        buf_release(&table);
        cluster_release(&c);
    }
    free(types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
