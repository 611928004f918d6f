/* What a change of the budgets in the store comes to: a status touches that budget alone, a selector everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/bits.h"
#include "reconciler/disruption/budgets_seen.h"

struct fixture {
    struct store *store;
    struct doc_parser *parser;
    struct budgets_seen seen;
    struct snapshot *last;
    int version;
};

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->store = store_new(NULL);
    f->parser = doc_parser_new();
    budgets_seen_init(&f->seen);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    budgets_seen_release(&f->seen);
    if (f->last != NULL)
        shared_unref(&f->last->shared);
    store_free(f->store);
    doc_parser_free(f->parser);
    free(f);
    return 0;
}

static void tell(struct fixture *f, enum watch_event event, const char *name, const char *app, int allowed)
{
    char json[512];
    const struct doc *doc;
    struct err err;
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\"},"
             "\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"%s\"}}},\"status\":{\"disruptionsAllowed\":%d}}",
             name, name, ++f->version, app, allowed);
    if (!doc_parse_json(f->parser, span_of(json), &doc, &err))
        fail_msg("%s: %s", err.msg, json);
    store_event(f->store, KIND_DISRUPTION_BUDGET, event, doc_root(doc));
}

static void look(struct fixture *f)
{
    static mono_ms now;
    store_publish(f->store, now += STORE_PUBLISH_MS);
    struct snapshot *s = (struct snapshot *)share_take(store_share(f->store));
    budgets_seen_look(&f->seen, s, f->last);
    if (f->last != NULL)
        shared_unref(&f->last->shared);
    f->last = s;
}

/* Names of those that changed, as they stand; "*": nobody knows. */
static void assert_changed(const struct fixture *f, const char *want)
{
    char got[64] = "";
    for (uint32_t i = 0; f->seen.changed != NULL && i < f->seen.index.count; i++)
        if (bits_has(f->seen.changed, i))
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%.*s ",
                     SPAN_ARG(f->seen.index.items[i]->meta.name));
    assert_string_equal(f->seen.anew ? "*" : got, want);
}

static void test_changes(void **state)
{
    struct fixture *f = *state;
    tell(f, WATCH_PUT, "one", "a", 0);
    tell(f, WATCH_PUT, "two", "b", 0);
    look(f);
    assert_changed(f, "*");
    assert_int_equal(f->seen.index.count, 2);
    look(f);
    assert_changed(f, "");
    tell(f, WATCH_PUT, "two", "b", 1);
    look(f);
    assert_changed(f, "two ");
    look(f);
    assert_changed(f, "");
    tell(f, WATCH_PUT, "two", "c", 1);
    look(f);
    assert_changed(f, "*");
    tell(f, WATCH_PUT, "three", "c", 1);
    look(f);
    assert_changed(f, "*");
    tell(f, WATCH_DELETE, "one", "a", 0);
    tell(f, WATCH_PUT, "four", "a", 0); /* as many as before, others */
    look(f);
    assert_changed(f, "*");
    assert_int_equal(f->seen.index.count, 3);
}

/* Whoever has not seen the last snapshot knows nothing of what changed. */
static void test_forgotten(void **state)
{
    struct fixture *f = *state;
    tell(f, WATCH_PUT, "one", "a", 0);
    look(f);
    shared_unref(&f->last->shared);
    f->last = NULL;
    look(f);
    assert_changed(f, "*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_changes, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_forgotten, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
