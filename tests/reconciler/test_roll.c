/* A roll that follows the snapshots is the same as one that is made of the last. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "reconciler/views/roll.h"

struct fixture {
    struct store *store;
    struct doc_parser *parser;
    struct memos memos;
    struct roll roll;
    int version;
};

static void tell(struct fixture *f, enum watch_event e, unsigned name, unsigned uid)
{
    char json[256];
    const struct doc *doc;
    struct err err;
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"n-%u\",\"uid\":\"u-%u\",\"resourceVersion\":\"%d\",\"generation\":%d}}",
             name, uid, f->version, f->version);
    f->version++;
    if (!doc_parse_json(f->parser, span_of(json), &doc, &err))
        fail_msg("%s: %s", err.msg, json);
    store_event(f->store, KIND_NODE, e, doc_root(doc));
}

static void expect_roll(struct fixture *f, const struct snapshot *s)
{
    assert_int_equal(f->roll.count, s->state[KIND_NODE].count);
    for (uint32_t i = 0; i < f->roll.count; i++) {
        const struct meta *m = f->roll.objects[i];
        assert_ptr_equal(m, snapshot_find(s, KIND_NODE, m->ns, m->name));
        if (i != 0)
            assert_true(span_cmp(f->roll.objects[i - 1]->name, m->name) < 0);
        assert_ptr_equal(f->roll.memos[i], memos_find(&f->memos, m->uid));
    }
}

/* What is not said to have changed is as it was; false: nothing is said. */
static void expect_changed(const struct fixture *f, bool follows, const struct meta *const *before)
{
    for (uint32_t i = 0, k = 0; follows && i < f->roll.count; i++) {
        bool said = false;
        for (k = 0; k < f->roll.changed_count; k++)
            said = said || f->roll.changed[k] == i;
        assert_int_equal(said, f->roll.objects[i] != before[i]);
    }
}

static void a_roll_follows(void **state)
{
    (void)state;
    enum { NAMES = 40, STEPS = 400 };
    struct fixture f = {.store = store_new(NULL), .parser = doc_parser_new(), .version = 1};
    const struct snapshot *before = NULL;
    unsigned followed = 0;
    memos_init(&f.memos, sizeof(struct memo), NULL);
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned name = i * 2654435761u % NAMES;
        bool goes = i % 7 == 3, other = i % 11 == 5; /* another of the same name */
        tell(&f, goes ? WATCH_DELETE : WATCH_PUT, name, other ? 1000 + i : name);
        if (i % 5 == 4) /* one goes and one comes at once */
            tell(&f, WATCH_PUT, NAMES + i, NAMES + i);
        store_publish(f.store, i);
        const struct snapshot *s = (const struct snapshot *)share_take(store_share(f.store));
        const struct meta *was[NAMES + STEPS];
        for (uint32_t k = 0; k < f.roll.count; k++)
            was[k] = f.roll.objects[k];
        bool follows = roll_call(&f.roll, s, i % 13 != 12 ? before : NULL, KIND_NODE, &f.memos);
        expect_roll(&f, s);
        expect_changed(&f, follows, was);
        followed += follows;
        roll_see(&f.roll);
        memos_sweep(&f.memos);
        if (before != NULL)
            shared_unref((struct shared *)(uintptr_t)&before->shared);
        before = s;
    }
    shared_unref((struct shared *)(uintptr_t)&before->shared);
    assert_in_range(followed, STEPS / 4, STEPS * 9 / 10);
    roll_release(&f.roll);
    memos_release(&f.memos);
    store_free(f.store);
    doc_parser_free(f.parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_roll_follows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
