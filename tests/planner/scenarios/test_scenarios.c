/* The numbered scenarios of provisioning, each read from a file of this folder and held against
 * `stowage plan` (README.md). `gaps` lists those that our planner does not fulfil yet: one that is
 * in the list and holds, and one that is not and fails, both fail the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "expect.h"
#include "kube/file_io.h"
#include "planner_run.h"
#include "scenario.h"
#include "sim/tree.h"

#define FOLDER TESTS_DIR "/planner/scenarios"

enum { GAPS_MAX = 1024 * 1024, DOC_MAX = 1024 * 1024 };

/* --- running one --- */

static void check_keys(const json_t *batch)
{
    static const char *const known[] = {
        "title", "expect",  "flags",     "pods",  "nodes", "daemons", "objects", "pvcs",
        "pvs",   "classes", "csi-nodes", "pools", "types", "delete",  "patch",   "launch"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)batch, key, value) {
        size_t i = 0;
        while (i < COUNT_OF(known) && strcmp(key, known[i]) != 0)
            i++;
        if (i == COUNT_OF(known))
            mistake("a batch has no \"%s\"", key);
    }
}

static void run_batch(const struct scenario *s, struct fleet *f, const json_t *batch, size_t number,
                      struct buf *out)
{
    const char *why;
    json_t *flags = json_object();
    check_keys(batch);
    if (json_object_get(s->body, "flags") != NULL)
        tree_merge(flags, json_object_get(s->body, "flags"));
    if (json_object_get(batch, "flags") != NULL)
        tree_merge(flags, json_object_get(batch, "flags"));
    fleet_change(f, batch);
    size_t before = out->len;
    json_t *plan = planner_run(f, flags, s->id, number, &why);
    if (plan == NULL) {
        buf_addf(out, "  %s\n", why);
    } else {
        fleet_absorb(f, plan);
        expect_hold(json_object_get(batch, "expect"), f, plan, out);
    }
    if (out->len != before && number != 0)
        buf_addf(out, "  (batch %zu)\n", number);
}

/* What does not hold, a line each; nothing when all does. */
static void run_scenario(const struct scenario *s, struct buf *out)
{
    static const char *const own[] = {"scenario", "title", "differs", "cheapest",
                                      "batches", "says", "flags"};
    struct fleet f;
    json_t *whole = json_deep_copy(s->body), *batch;
    json_t *batches = json_object_get(s->body, "batches");
    size_t i;
    for (i = 0; i < COUNT_OF(own); i++)
        json_object_del(whole, own[i]);
    fleet_init(&f);
    if (batches == NULL) {
        run_batch(s, &f, whole, 0, out);
        return;
    }
    if (json_object_get(whole, "expect") != NULL)
        mistake("with batches, each batch has its own expect");
    fleet_change(&f, whole);
    json_array_foreach(batches, i, batch)
        if (out->len == 0)
            run_batch(s, &f, batch, i + 1, out);
}

/* --- known gaps: "id why" a line --- */

static const char *gap_of(const char *id)
{
    struct span text, line, why;
    struct err err;
    if (planner_is_foreign() || !file_load(json_arena(), FOLDER "/gaps", GAPS_MAX, &text, &err))
        return NULL;
    while (text.len != 0) {
        line = span_cut(text, '\n', &text);
        if (span_eq(span_cut(line, ' ', &why), span_of(id)) && !span_has_prefix(line, SPAN("#")))
            return arena_cstr(json_arena(), why);
    }
    return NULL;
}

/* A line whose scenario went away would stay for ever. */
static void test_gaps(void **state)
{
    const struct scenarios *all = *state;
    struct span text, line, why;
    struct err err;
    assert_true(file_load(json_arena(), FOLDER "/gaps", GAPS_MAX, &text, &err));
    while (text.len != 0) {
        line = span_cut(text, '\n', &text);
        struct span id = span_cut(line, ' ', &why);
        bool found = span_has_prefix(line, SPAN("#"));
        for (size_t i = 0; i < all->count && !found; i++)
            found = span_eq(id, span_of(all->items[i].id));
        if (!found || why.len == 0)
            fail_msg("gaps: \"%.*s\" is not a scenario and a reason", SPAN_ARG(line));
    }
}

/* --- differences from Karpenter: each is argued --- */

/* Quotation marks around a heading are for the differential test. */
static bool has_heading(struct span text, const char *heading)
{
    struct span line, plain = span_of(heading), quoted = span_of(format_text("\"%s\"", heading));
    while (text.len != 0) {
        line = span_cut(text, '\n', &text);
        if (!span_has_prefix(line, SPAN("### ")))
            continue;
        line.ptr += 4;
        line.len -= 4;
        if (span_eq(line, plain) || span_eq(line, quoted))
            return true;
    }
    return false;
}

static void test_differences(void **state)
{
    const struct scenarios *all = *state;
    struct span text;
    struct err err;
    assert_true(file_load(json_arena(), TESTS_DIR "/../docs/differences.md", DOC_MAX, &text, &err));
    for (size_t i = 0; i < all->count; i++) {
        const struct scenario *s = &all->items[i];
        if (s->differs != NULL && !has_heading(text, s->differs))
            fail_msg("%s, scenario %s: docs/differences.md has no \"### %s\"", s->file, s->id, s->differs);
    }
    assert_false(has_heading(text, "a zone settled"));
    assert_false(has_heading(text, "Bounds on"));
}

/* STOWAGE_GAPS names a file that gets a line for each scenario that fails: the list anew. */
static void note_gap(const char *id, const char *gap, struct span why)
{
    const char *path = getenv("STOWAGE_GAPS");
    FILE *f = path != NULL ? fopen(path, "ab") : NULL;
    if (f == NULL)
        return;
    why = span_cut(why, '\n', &(struct span){0});
    if (gap != NULL)
        fprintf(f, "%s %s\n", id, gap);
    else
        fprintf(f, "%s %.*s\n", id, (int)(why.len > 2 ? why.len - 2 : 0), why.ptr + 2);
    fclose(f);
}

/* --- the tests --- */

static void test_scenario(void **state)
{
    const struct scenario *s = *state;
    struct arena *book = json_arena(), page;
    struct buf out = {0};
    arena_init(&page, 1 << 16);
    json_memory(&page);
    run_scenario(s, &out);
    const char *gap = gap_of(s->id);
    if (out.len != 0)
        note_gap(s->id, gap, buf_span(&out));
    struct span told = arena_dup(book, buf_span(&out));
    bool known = gap != NULL || (planner_is_foreign() && s->differs != NULL) ||
                 (planner_is_cheapest() && s->cheapest != NULL);
    buf_release(&out);
    json_memory(book);
    arena_release(&page);
    if (told.len != 0 && !known)
        fail_msg("%s, scenario %s, %s:\n%.*s", s->file, s->id, s->title, SPAN_ARG(told));
    if (told.len == 0 && gap != NULL)
        fail_msg("scenario %s, %s, holds: take it out of %s/gaps", s->id, s->title, FOLDER);
}

/* wrong*.yaml: each entry expects what cannot be, and `says` what the checks have to say to it. */
static void test_wrong(void **state)
{
    const struct scenario *s = *state;
    struct buf out = {0};
    run_scenario(s, &out);
    const char *want = text_at(s->body, "says");
    if (want == NULL || !span_contains(buf_span(&out), span_of(want)))
        fail_msg("%s, %s: the checks should say \"%s\", they say:\n%.*s", s->file, s->title,
                 want != NULL ? want : "", SPAN_ARG(buf_span(&out)));
    buf_release(&out);
}

/* Whether STOWAGE_SCENARIO, a number or an id, leaves this one in. */
static bool wanted(const char *id)
{
    const char *only = getenv("STOWAGE_SCENARIO");
    if (only == NULL)
        return true;
    size_t n = strlen(only);
    return strncmp(id, only, n) == 0 && (id[n] < '0' || id[n] > '9');
}

static int run_all(const struct scenarios *all, const char *group, CMUnitTestFunction test)
{
    struct CMUnitTest *tests = ARENA_ARRAY(json_arena(), struct CMUnitTest, all->count);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (wanted(all->items[i].id))
            tests[count++] = (struct CMUnitTest){
                .name = format_text("%s %s", all->items[i].id, all->items[i].title),
                .test_func = test,
                .initial_state = &all->items[i]};
    return count == 0 ? 0 : _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

int main(void)
{
    struct arena book;
    struct scenarios all = {0}, wrong = {0};
    arena_init(&book, 1 << 20);
    json_memory(&book);
    scenarios_read(&all, FOLDER, false);
    scenarios_read(&wrong, FOLDER, true);
    const struct CMUnitTest records[] = {cmocka_unit_test_prestate(test_gaps, &all),
                                         cmocka_unit_test_prestate(test_differences, &all)};
    int failed = cmocka_run_group_tests(records, NULL, NULL);
    failed += run_all(&all, "scenarios", test_scenario);
    failed += run_all(&wrong, "wrong", test_wrong);
    arena_release(&book);
    return failed != 0;
}
