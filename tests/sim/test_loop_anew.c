/* A reconciler that looks only at what changed or is due does what one does that looks at everything in each pass:
 * random histories of two equal clusters, one with each. Every write is compared with its time, and every Event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

enum { SEEDS = 6, STEPS = 40, POOLS = 3, APPS = 4 };

struct twin {
    struct loop loop;
    struct sim *sim;
    struct buf writes;
    size_t writes_seen, history_seen; /* compared */
};

static enum sim_fate note(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    enum { REFUSED = 9 }; /* of so many writes of Nodes one, so that a gate is closed now and then */
    struct twin *t = user;
    (void)refusal;
    buf_addf(&t->writes, "%lld %d %s %.*s/%.*s %.*s %.*s\n", (long long)(sim_now(t->sim) - START), r->verb,
             kind_info(r->kind)->name, SPAN_ARG(r->ns), SPAN_ARG(r->name), SPAN_ARG(r->subresource),
             SPAN_ARG(r->body));
    if (r->kind == KIND_NODE && number % REFUSED == 0)
        return SIM_REFUSE;
    return SIM_PASS;
}

/* --- what befalls a cluster --- */

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33) % below;
}

/* One of the kind, by name; "" when there is none. */
static const char *any(struct sim *s, enum kind k, uint64_t *state)
{
    static char name[256];
    json_t *all = objects_of(s, k);
    size_t n = json_array_size(all);
    unsigned at = draw(state, n != 0 ? (unsigned)n : 1);
    name[0] = '\0';
    if (n != 0)
        snprintf(name, sizeof(name), "%.*s", SPAN_ARG(tree_string(json_array_get(all, at), "metadata.name")));
    json_decref(all);
    return name;
}

static void change(struct sim *s, enum kind k, const char *ns, uint64_t *state, const char *patch)
{
    const char *name = any(s, k, state);
    if (name[0] != '\0')
        do_request(s, API_MERGE, k, ns, name, patch, 200);
}

static void remove_any(struct sim *s, enum kind k, const char *ns, uint64_t *state)
{
    const char *name = any(s, k, state);
    if (name[0] != '\0' && !is_gone(s, k, ns, name))
        do_request(s, API_DELETE, k, ns, name, NULL, 200);
}

static void budget(struct sim *s, unsigned app, unsigned least)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"app-%u\","
             "\"namespace\":\"default\"},\"spec\":{\"minAvailable\":%u,\"selector\":{\"matchLabels\":{\"app\":"
             "\"app-%u\"}}}}",
             app, least, app);
    load(s, text);
}

static void befall(struct sim *s, uint64_t *state)
{
    char app[16];
    snprintf(app, sizeof(app), "app-%u", draw(state, APPS));
    switch (draw(state, 17)) {
    case 0:
    case 1:
    case 2:
        scale(s, app, (int)draw(state, 12));
        break;
    case 3:
        scale(s, app, 0);
        break;
    case 4:
        remove_any(s, KIND_POD, "default", state);
        break;
    case 5:
        remove_any(s, KIND_NODE_CLAIM, NULL, state);
        break;
    case 6:
        remove_any(s, KIND_NODE, NULL, state);
        break;
    case 7:
    case 8: {
        const char *node = any(s, KIND_NODE, state);
        if (node[0] != '\0')
            set_ready(s, node, draw(state, 2) != 0 ? "True" : "False");
        break;
    }
    case 9:
        change(s, KIND_NODE, NULL, state,
               draw(state, 2) != 0 ? "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}}}"
                                   : "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":null}}}");
        break;
    case 10:
        change(s, KIND_POD, "default", state,
               draw(state, 2) != 0 ? "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"20s\"}}}"
                                   : "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":null}}}");
        break;
    case 11:
        change(s, KIND_NODE, NULL, state,
               "{\"spec\":{\"taints\":[{\"key\":\"karpenter.sh/disrupted\",\"effect\":\"NoSchedule\"}]}}");
        break;
    case 12:
        change(s, KIND_NODE_POOL, NULL, state,
               draw(state, 2) != 0 ? "{\"spec\":{\"disruption\":{\"consolidateAfter\":\"5s\"}}}"
                                   : "{\"spec\":{\"disruption\":{\"consolidateAfter\":\"Never\"}}}");
        break;
    case 13:
        change(s, KIND_NODE_POOL, NULL, state,
               draw(state, 2) != 0 ? "{\"spec\":{\"disruption\":{\"budgets\":[{\"nodes\":\"0\"}]}}}"
                                   : "{\"spec\":{\"disruption\":{\"budgets\":[{\"nodes\":\"50%\"}]}}}");
        break;
    case 14:
        change(s, KIND_NODE, NULL, state, "{\"metadata\":{\"labels\":{\"team\":\"a\"}}}");
        break;
    case 15:
        remove_any(s, KIND_DISRUPTION_BUDGET, "default", state);
        break;
    case 16:
        change(s, KIND_NODE_POOL, NULL, state,
               draw(state, 2) != 0 ? "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"team\":\"a\"}}}}}"
                                   : "{\"spec\":{\"template\":{\"metadata\":{\"labels\":null}}}}");
        break;
    }
}

/* --- the two --- */

static void begin(struct twin *t, bool looks_anew, uint64_t seed)
{
    *t = (struct twin){.loop = {.keeps = true, .looks_anew = looks_anew, .faults = {.user = t, .before = note}}};
    t->sim = new_sim(node_class_yaml());
    for (unsigned i = 0; i < POOLS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "pool-%u", i);
        load(t->sim, pool_yaml(name,
                               i == 1 ? "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"10s\"}" : "",
                               i == 2 ? ",\"expireAfter\":\"3m\"" : seed % 2 != 0 ? ",\"terminationGracePeriod\":\"30s\"" : ""));
    }
    for (unsigned i = 0; i < APPS; i++) {
        char name[16], more[64];
        snprintf(name, sizeof(name), "app-%u", i);
        snprintf(more, sizeof(more), ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"pool-%u\"}", i % POOLS);
        load(t->sim, deployment_yaml(name, (int)(i + seed) % 5, i % 2 != 0 ? "3500m" : "900m", more));
    }
    budget(t->sim, 1, 1 + (unsigned)seed % 2);
    budget(t->sim, 2, 2);
    loop_begin(&t->loop, t->sim);
}

/* Without gauges, which each pass tells: those that look at everything may be called once more. */
static struct span next_event(struct span *rest)
{
    while (rest->len != 0) {
        struct span line = span_cut(*rest, '\n', rest);
        if (span_has_prefix(line, SPAN("event ")) || span_has_prefix(line, SPAN("taken back ")) ||
            span_has_prefix(line, SPAN("put off ")))
            return line;
    }
    return (struct span){NULL, 0};
}

static struct span next_line(struct span *rest)
{
    return rest->len != 0 ? span_cut(*rest, '\n', rest) : (struct span){NULL, 0};
}

static void expect_same(uint64_t seed, unsigned step, struct span a, struct span b, struct span (*next)(struct span *))
{
    for (struct span x = next(&a), y = next(&b); x.ptr != NULL || y.ptr != NULL; x = next(&a), y = next(&b))
        if (!span_eq(x, y))
            fail_msg("seed %u, step %u:\n  what changed: %.*s\n  everything:   %.*s", (unsigned)seed, step, SPAN_ARG(x),
                     SPAN_ARG(y));
}

/* Why nodes stay is told when it is so, not when all are looked at again. */
static void expect_same_keeps(uint64_t seed, unsigned step, const struct loop *a, const struct loop *b)
{
    if (a->decided[DECISION_KEEP] != b->decided[DECISION_KEEP] || strcmp(a->last[DECISION_KEEP], b->last[DECISION_KEEP]) != 0)
        fail_msg("seed %u, step %u: what stays\n  what changed: %u, %s\n  everything:   %u, %s", (unsigned)seed, step,
                 (unsigned)a->decided[DECISION_KEEP], a->last[DECISION_KEEP], (unsigned)b->decided[DECISION_KEEP],
                 b->last[DECISION_KEEP]);
}

static struct span news(const struct buf *b, size_t *seen)
{
    struct span all = buf_span(b), fresh = {all.ptr + *seen, all.len - *seen};
    *seen = all.len;
    return fresh;
}

struct seen {
    unsigned creations, deletions, evictions, patches, events;
};

static void count_seen(const struct twin *t, struct seen *out)
{
    struct span rest = buf_span(&t->writes);
    for (struct span line; (line = next_line(&rest)).ptr != NULL;) {
        (void)span_cut(line, ' ', &line);
        out->creations += span_has_prefix(line, SPAN("2 NodeClaim"));
        out->deletions += span_has_prefix(line, SPAN("6 NodeClaim"));
        out->patches += span_has_prefix(line, SPAN("4 "));
        out->evictions += span_has_prefix(line, SPAN("7 "));
    }
    rest = buf_span(&t->loop.history);
    while (next_event(&rest).ptr != NULL)
        out->events++;
}

static void run(uint64_t seed, struct seen *seen)
{
    static struct twin by_change, anew;
    uint64_t state = seed * 977 + 5;
    begin(&by_change, false, seed);
    begin(&anew, true, seed);
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t same = state;
        befall(by_change.sim, &state);
        befall(anew.sim, &same);
        assert_int_equal(same, state);
        span_ms wait = (span_ms)draw(&state, 12000) + 1;
        for (span_ms slice; wait > 0; wait -= slice) {
            slice = wait < MS_SECOND ? wait : MS_SECOND;
            run_for(by_change.sim, slice);
            run_for(anew.sim, slice);
            expect_same_keeps(seed, step, &by_change.loop, &anew.loop);
        }
        expect_same(seed, step, news(&by_change.writes, &by_change.writes_seen),
                    news(&anew.writes, &anew.writes_seen), next_line);
        expect_same(seed, step, news(&by_change.loop.history, &by_change.history_seen),
                    news(&anew.loop.history, &anew.history_seen), next_event);
    }
    count_seen(&by_change, seen);
    buf_release(&by_change.writes);
    buf_release(&anew.writes);
    loop_end(&by_change.loop);
    loop_end(&anew.loop);
}

static void what_changed_is_enough(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed, &seen);
    print_message("%u claims made, %u deleted, %u patches, %u evictions, %u Events\n", seen.creations, seen.deletions,
                  seen.patches, seen.evictions, seen.events);
    assert_true(seen.creations > 50 && seen.deletions > 10 && seen.evictions > 20 && seen.patches > 500 &&
                seen.events > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_changed_is_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
