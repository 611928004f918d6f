#include "certs/rotation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "base/span.h"

#define DAY (24 * MS_HOUR)
static const wall_ms NOW = 1767225600000; /* 2026-01-01 */

/* A certificate that was issued so long before NOW and lasts so long in all. */
#define SINCE(age, life)                                                                           \
    {                                                                                              \
        true, 1767225600000 - (age), 1767225600000 - (age) + (life)                                \
    }
#define NOTHING                                                                                    \
    {                                                                                              \
        false, 0, 0                                                                                \
    }

static void test_next(void **state)
{
    (void)state;
    const struct {
        const char *label;
        struct rotation_state s; /* current, next, leaf, old, announced */
        enum rotation_step want;
    } rows[] = {
        {"nothing is there", {NOTHING, NOTHING, NOTHING, NOTHING, false}, ROTATION_NEW_CA},
        {"all is well", {SINCE(DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_NONE},
        {"of the time when there was no next one",
         {SINCE(DAY, 90 * DAY), NOTHING, SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_ISSUE_NEXT},
        {"the next one has ended unused",
         {SINCE(DAY, 90 * DAY), SINCE(91 * DAY, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_ISSUE_NEXT},
        {"one millisecond short of a term",
         {SINCE(30 * DAY, 90 * DAY), SINCE(30 * DAY - 1, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_NONE},
        {"a term", {SINCE(30 * DAY, 90 * DAY), SINCE(30 * DAY, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_PROMOTE},
        {"a term, and the caBundle lacks it",
         {SINCE(30 * DAY, 90 * DAY), SINCE(30 * DAY, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, false}, ROTATION_NONE},
        {"the current one is in its last term, the next one was made just now",
         {SINCE(60 * DAY, 90 * DAY), SINCE(59 * MS_MINUTE, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_NONE},
        {"and the next one has been announced for a while",
         {SINCE(60 * DAY, 90 * DAY), SINCE(MS_HOUR, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_PROMOTE},
        {"the current one has ended: the next one signs, announced or not",
         {SINCE(90 * DAY, 90 * DAY), SINCE(1, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, false}, ROTATION_PROMOTE},
        {"the current one cannot be read",
         {NOTHING, SINCE(DAY, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_PROMOTE},
        {"both have ended", {SINCE(90 * DAY, 90 * DAY), SINCE(90 * DAY, 90 * DAY), NOTHING, NOTHING, true}, ROTATION_NEW_CA},
        {"a clock was set back: nothing is thrown away",
         {SINCE(-DAY, 90 * DAY), SINCE(-DAY, 90 * DAY), SINCE(-DAY, 10 * DAY), NOTHING, true}, ROTATION_WAIT},
        {"by less than clocks differ",
         {SINCE(-4 * MS_MINUTE, 90 * DAY), SINCE(-4 * MS_MINUTE, 90 * DAY), SINCE(-4 * MS_MINUTE, 10 * DAY), NOTHING, true},
         ROTATION_NONE},
        {"a next one of the future is not used",
         {SINCE(60 * DAY, 90 * DAY), SINCE(-DAY, 90 * DAY), SINCE(DAY, 10 * DAY), NOTHING, true}, ROTATION_NONE},
        {"a leaf of the future is replaced",
         {SINCE(DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(-DAY, 10 * DAY), NOTHING, true}, ROTATION_RENEW_LEAF},
        {"the leaf is bad", {SINCE(DAY, 90 * DAY), SINCE(DAY, 90 * DAY), NOTHING, NOTHING, true}, ROTATION_RENEW_LEAF},
        {"the leaf has used up two thirds",
         {SINCE(8 * DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(6 * DAY, 9 * DAY), NOTHING, true}, ROTATION_RENEW_LEAF},
        {"not quite two thirds",
         {SINCE(8 * DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(6 * DAY - 1, 9 * DAY), NOTHING, true}, ROTATION_NONE},
        {"the leaf has ended",
         {SINCE(20 * DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(19 * DAY, 9 * DAY), NOTHING, true}, ROTATION_RENEW_LEAF},
        {"what the old one signed may still be shown",
         {SINCE(DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(DAY, 9 * DAY), SINCE(89 * DAY, 90 * DAY), true}, ROTATION_NONE},
        {"the old one has ended",
         {SINCE(DAY, 90 * DAY), SINCE(DAY, 90 * DAY), SINCE(DAY, 9 * DAY), SINCE(90 * DAY, 90 * DAY), true}, ROTATION_DROP_OLD},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        enum rotation_step got = rotation_next(&rows[r].s, NOW);
        if (got != rows[r].want)
            fail_msg("%s: %s, not %s", rows[r].label, rotation_step_name(got), rotation_step_name(rows[r].want));
    }
}

static void test_pause(void **state)
{
    (void)state;
    const struct rotation_cert year = SINCE(0, 365 * DAY), minute = SINCE(0, MS_MINUTE), none = NOTHING;
    assert_int_equal(rotation_pause(&year), 30 * MS_SECOND); /* all take up what is new within a minute */
    assert_int_equal(rotation_pause(&minute), 3 * MS_SECOND);
    assert_int_equal(rotation_pause(&none), 200);
    assert_int_equal(rotation_settling(&year), MS_HOUR);
    assert_int_equal(rotation_settling(&minute), 20 * MS_SECOND / 6);
}

/* --- a cluster on a virtual clock: two replicas, the Secret, the caBundle, the scheduler's file --- */

enum { CAS_MAX = 64, REPLICAS = 2 };
#define LEAF_LIFE (3 * DAY)
#define TERM (18 * DAY)

struct content { /* of the Secret: the certificates, and which they are */
    struct rotation_state s;
    int current, next, old, leaf; /* 0: none; of the leaf: who signed it */
    int version, generation;
};

struct world {
    wall_ms now;
    unsigned random;
    int made;
    struct content secret;
    bool bundle[CAS_MAX];
    wall_ms known[CAS_MAX]; /* since when the scheduler's file has it; 0: never */
    wall_ms out[CAS_MAX];   /* since when it is out of that file again */
    int serves[REPLICAS];
    wall_ms served_until[REPLICAS];
};

static unsigned draw(struct world *w, unsigned n)
{
    w->random = w->random * 1664525 + 1013904223;
    return (w->random >> 8) % n;
}

static int make_ca(struct world *w, struct rotation_cert *out)
{
    *out = (struct rotation_cert){true, w->now, w->now + ROTATION_TERMS * TERM};
    assert_true(w->made + 1 < CAS_MAX);
    return ++w->made;
}

static void do_step(struct world *w, struct content *c, enum rotation_step step)
{
    switch (step) {
    case ROTATION_NEW_CA:
        c->current = make_ca(w, &c->s.current);
        c->next = make_ca(w, &c->s.next);
        c->s.leaf.good = false;
        break;
    case ROTATION_ISSUE_NEXT:
        c->next = make_ca(w, &c->s.next);
        break;
    case ROTATION_PROMOTE:
        c->s.old = c->s.current;
        c->old = c->current;
        c->s.current = c->s.next;
        c->current = c->next;
        c->s.next.good = c->s.leaf.good = false;
        c->generation++;
        break;
    case ROTATION_RENEW_LEAF:
        c->s.leaf = (struct rotation_cert){true, w->now, w->now + LEAF_LIFE};
        c->leaf = c->current;
        break;
    case ROTATION_DROP_OLD:
        c->s.old.good = false;
        c->old = 0;
        break;
    case ROTATION_NONE:
    case ROTATION_WAIT:
        fail();
    }
}

static bool crashes(struct world *w, int replica)
{
    bool now = draw(w, 6) == 0;
    if (now)
        w->serves[replica] = 0;
    return now;
}

/* What follows the Secret: the scheduler's file and the caBundle. */
static void follow_file(struct world *w, const struct content *c)
{
    for (int ca = 1; ca <= w->made; ca++) {
        bool in = ca == c->current || ca == c->next;
        if (in && w->known[ca] == 0)
            w->known[ca] = w->now;
        if (!in && w->known[ca] != 0 && w->out[ca] == 0)
            w->out[ca] = w->now;
    }
}

static void follow_bundle(struct world *w, const struct content *c)
{
    w->bundle[c->current] = w->bundle[c->next] = true;
    if (c->old != 0 && !rotation_trusts_old(&c->s, w->now))
        w->bundle[c->old] = false;
}

/* One look of one replica; it may crash anywhere. */
static void look(struct world *w, int replica)
{
    struct content c = w->secret;
    bool wrote = false;
    c.s.announced = c.next != 0 && w->bundle[c.next];
    for (int i = 0; i < 8; i++) {
        enum rotation_step step = rotation_next(&c.s, w->now);
        if (step == ROTATION_NONE || step == ROTATION_WAIT)
            break;
        assert_true(i < 7); /* it comes to an end */
        do_step(w, &c, step);
        wrote = true;
    }
    if (crashes(w, replica))
        return;
    if (wrote) {
        c.version++;
        w->secret = c;
        if (crashes(w, replica)) /* between the Secret and the rest */
            return;
    }
    w->serves[replica] = w->secret.leaf;
    w->served_until[replica] = w->secret.s.leaf.until;
    follow_file(w, &w->secret);
    if (!crashes(w, replica))
        follow_bundle(w, &w->secret);
}

/* Whoever read the scheduler's file less than a term ago trusts what we serve. A day's grace: crashes. */
static void scheduler_trusts(const struct world *w, int ca, wall_ms began)
{
    wall_ms since = w->now - TERM + DAY;
    if (since < began)
        since = began;
    if (w->known[ca] == 0 || w->known[ca] > since || (w->out[ca] != 0 && w->out[ca] < w->now - DAY))
        fail_msg("day %d: a scheduler whose file is younger than a term does not trust CA %d", (int)((w->now - NOW) / DAY), ca);
}

static void all_is_well(const struct world *w, wall_ms began)
{
    for (int r = 0; r < REPLICAS; r++) {
        int day = (int)((w->now - NOW) / DAY);
        if (w->serves[r] == 0)
            continue; /* it starts just now */
        if (!w->bundle[w->serves[r]])
            fail_msg("day %d: replica %d serves a leaf of CA %d, which the API server does not trust", day, r, w->serves[r]);
        if (w->now >= w->served_until[r])
            fail_msg("day %d: replica %d serves a leaf that has ended", day, r);
        scheduler_trusts(w, w->serves[r], began);
    }
}

/* Looks are ten minutes apart, not half of one: quicker, and it shows that nothing hangs on speed. */
static void test_generations(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct world w = {.now = NOW, .random = seed};
        for (int i = 0; i < 16; i++)
            look(&w, i % REPLICAS);
        int first = w.secret.current;
        for (wall_ms end = NOW + 4 * TERM + 10 * DAY; w.now < end; w.now += 10 * MS_MINUTE) {
            int one = (int)draw(&w, REPLICAS);
            look(&w, one);
            all_is_well(&w, NOW);
            look(&w, 1 - one);
            all_is_well(&w, NOW);
        }
        assert_false(w.bundle[first]); /* dropped at last */
        assert_int_equal(w.secret.generation, 4);
    }
}

/* A clock that jumps ahead by half a life finds CAs that can be used; one that jumps back throws none away. */
static void test_jumps(void **state)
{
    (void)state;
    struct world w = {.now = NOW, .random = 1};
    for (int i = 0; i < 16; i++)
        look(&w, i % REPLICAS);
    int next = w.secret.next;
    w.now += 2 * TERM;
    for (int i = 0; i < 16; i++)
        look(&w, i % REPLICAS);
    assert_int_equal(w.secret.current, next);
    all_is_well(&w, NOW);
    struct content held = w.secret;
    w.now -= 3 * TERM;
    for (int i = 0; i < 16; i++)
        look(&w, i % REPLICAS);
    assert_int_equal(w.secret.current, held.current);
    assert_int_equal(w.secret.version, held.version);
    w.now += 3 * TERM;
    for (int i = 0; i < 16; i++)
        look(&w, i % REPLICAS);
    all_is_well(&w, NOW);
    w.now += 9 * TERM; /* off for ages */
    for (int i = 0; i < 16; i++)
        look(&w, i % REPLICAS);
    all_is_well(&w, w.now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
