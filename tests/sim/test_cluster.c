/* The in-memory cluster as a client has to live with it: faults, lost replies, deaths, threads. The
 * rules of the API server are asked by tests/contract. */
#include "tests/sim/support_sim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct outcome {
    uint32_t completions;
    int status;
    enum err_kind kind;
    int32_t retry_after_s;
    char reason[64];
};

static void note(void *user, const struct api_result *r)
{
    struct outcome *o = user;
    o->completions++;
    o->status = r->status;
    o->kind = r->err.kind;
    o->retry_after_s = r->retry_after_s;
    snprintf(o->reason, sizeof o->reason, "%.*s", SPAN_ARG(r->reason));
}

static uint64_t send_create(struct api *api, const char *name, struct outcome *o)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{"
             "\"name\":\"%s\"}}",
             name);
    struct api_request r = {.verb = API_CREATE, .kind = KIND_KWOK_NODE_CLASS,
                            .body = span_of(body), .is_act = true};
    *o = (struct outcome){.status = -1};
    return api_send(api, &r, note, o);
}

static bool is_there(struct sim_cluster *c, const char *name)
{
    struct arena a;
    arena_init(&a, 0);
    bool there = sim_cluster_get(c, &a, KIND_KWOK_NODE_CLASS, (struct span){NULL, 0}, span_of(name)).ptr != NULL;
    arena_release(&a);
    return there;
}

static struct sim_cluster *new_cluster(span_ms apply, span_ms reply)
{
    struct sim_cluster_options o = {.now = START, .apply_delay = apply, .reply_delay = reply};
    return sim_cluster_new(&o);
}

/* ---- faults ---- */

struct plan {
    uint64_t at; /* number of the write */
    enum sim_fate before, after;
    uint64_t last;
};

static enum sim_fate before(void *user, uint64_t number, const struct api_request *r,
                            struct sim_refusal *refusal)
{
    struct plan *p = user;
    (void)r;
    p->last = number;
    refusal->status = 503;
    refusal->reason = "ServiceUnavailable";
    refusal->retry_after_s = 3;
    return number == p->at ? p->before : SIM_PASS;
}

static enum sim_fate after(void *user, uint64_t number, const struct api_request *r)
{
    const struct plan *p = user;
    (void)r;
    return number == p->at ? p->after : SIM_PASS;
}

static void faults(void **state)
{
    (void)state;
    static const struct row {
        const char *label;
        enum sim_fate before, after;
        bool applied, dead;
        uint32_t completions;
        int status;
        enum err_kind kind;
    } rows[] = {
        {"none", SIM_PASS, SIM_PASS, true, false, 1, 201, ERR_NONE},
        {"refused", SIM_REFUSE, SIM_PASS, false, false, 1, 503, ERR_RETRY},
        {"lost before", SIM_LOSE, SIM_PASS, false, false, 1, 0, ERR_RETRY},
        {"lost after", SIM_PASS, SIM_LOSE, true, false, 1, 0, ERR_RETRY},
        {"killed before", SIM_KILL, SIM_PASS, false, true, 0, -1, ERR_NONE},
        {"killed after", SIM_PASS, SIM_KILL, true, true, 0, -1, ERR_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct sim_cluster *c = new_cluster(0, 0);
        struct api *api = sim_client_new(c);
        struct plan plan = {.at = 2, .before = row->before, .after = row->after};
        struct sim_faults f = {&plan, before, after};
        struct outcome first, second, third;
        sim_client_set_faults(api, &f);
        send_create(api, "one", &first);
        while (sim_cluster_step(c, START))
            ;
        send_create(api, "two", &second);
        send_create(api, "three", &third);
        while (sim_cluster_step(c, START))
            ;
        if (first.status != 201 || is_there(c, "two") != row->applied ||
            sim_client_dead(api) != row->dead || second.completions != row->completions ||
            second.status != row->status || second.kind != row->kind)
            fail_msg("%s: there %d, dead %d, completions %u, status %d, kind %s", row->label,
                     is_there(c, "two"), sim_client_dead(api), second.completions, second.status,
                     err_kind_name(second.kind));
        assert_int_equal(third.completions, row->dead ? 0 : 1);
        assert_int_equal(is_there(c, "three"), !row->dead);
        assert_int_equal(sim_client_writes(api), row->dead ? 2 : 3);
        if (row->before == SIM_REFUSE)
            assert_int_equal(second.retry_after_s, 3);
        sim_cluster_free(c);
    }
}

#define LEASE                                                                                      \
    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\"},"       \
    "\"spec\":{}}"

static void some_writes_are_not_counted(void **state)
{
    (void)state;
    struct sim_cluster *c = new_cluster(0, 0);
    struct api *api = sim_client_new(c);
    struct outcome o = {0};
    struct api_request requests[] = {
        {.verb = API_CREATE, .kind = KIND_LEASE, .ns = SPAN_INIT("default"), .body = SPAN_INIT(LEASE)},
        {.verb = API_GET, .kind = KIND_LEASE, .ns = SPAN_INIT("default"), .name = SPAN_INIT("l")},
        {.verb = API_LIST, .kind = KIND_LEASE},
        {.verb = API_MERGE, .kind = KIND_NODE_POOL, .name = SPAN_INIT("p"),
         .subresource = SPAN_INIT("status"), .body = SPAN_INIT("{}")},
    };
    for (size_t i = 0; i < COUNT_OF(requests); i++)
        api_send(api, &requests[i], note, &o);
    while (sim_cluster_step(c, START))
        ;
    assert_int_equal(o.completions, COUNT_OF(requests));
    assert_int_equal(sim_client_writes(api), 0);
    sim_cluster_free(c);
}

/* ---- time ---- */

static void latency(void **state)
{
    (void)state;
    struct sim_cluster *c = new_cluster(10, 20);
    struct api *api = sim_client_new(c);
    struct outcome o;
    send_create(api, "slow", &o);
    assert_true(sim_cluster_due(c) <= START);
    sim_cluster_step(c, START);
    assert_int_equal(sim_cluster_due(c), START + 10);
    sim_cluster_step(c, START + 9);
    assert_false(is_there(c, "slow"));
    sim_cluster_step(c, START + 10);
    assert_true(is_there(c, "slow"));
    assert_int_equal(o.completions, 0);
    assert_int_equal(sim_cluster_due(c), START + 30);
    sim_cluster_step(c, START + 30);
    assert_int_equal(o.status, 201);
    assert_int_equal(sim_cluster_due(c), INT64_MAX);
    sim_cluster_free(c);
}

static void cancelled(void **state)
{
    (void)state;
    struct sim_cluster *c = new_cluster(10, 10);
    struct api *api = sim_client_new(c), *other = sim_client_new(c);
    struct outcome early, late, act, others;
    uint64_t late_id = send_create(api, "late", &late);
    sim_cluster_step(c, START);
    sim_cluster_step(c, START + 10);
    api->ops->cancel(api, late_id); /* applied already: ends as it ends */
    uint64_t early_id = send_create(api, "early", &early);
    api->ops->cancel(api, early_id);
    send_create(api, "act", &act);
    send_create(other, "others", &others);
    api->ops->cancel_acts(api);
    for (wall_ms t = START + 10; t <= START + 60; t += 10)
        sim_cluster_step(c, t);
    assert_int_equal(late.status, 201);
    assert_int_equal(early.kind, ERR_CANCELLED);
    assert_int_equal(early.completions, 1);
    assert_int_equal(act.kind, ERR_CANCELLED);
    assert_int_equal(others.status, 201);
    assert_false(is_there(c, "early") || is_there(c, "act"));
    sim_cluster_free(c);
}

static void a_client_that_goes_takes_its_requests(void **state)
{
    (void)state;
    struct sim_cluster *c = new_cluster(10, 10);
    struct api *api = sim_client_new(c);
    struct outcome applied, waiting;
    send_create(api, "applied", &applied);
    sim_cluster_step(c, START);
    sim_cluster_step(c, START + 10);
    send_create(api, "waiting", &waiting);
    sim_client_free(api);
    sim_cluster_step(c, START + 100);
    assert_int_equal(applied.completions + waiting.completions, 0);
    assert_true(is_there(c, "applied"));
    assert_false(is_there(c, "waiting"));
    assert_int_equal(sim_cluster_due(c), INT64_MAX);
    sim_cluster_free(c);
}

/* ---- loading ---- */

static void loading(void **state)
{
    (void)state;
    static const struct row {
        const char *label, *text;
        bool ok;
        uint32_t passed_over, pods;
    } rows[] = {
        {"YAML stream", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: Pod\n"
                        "metadata: {name: b, namespace: new}\n", true, 0, 2},
        {"List", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                 "\"metadata\":{\"name\":\"a\"}},{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"Ingress\","
                 "\"metadata\":{\"name\":\"s\"}}]}", true, 1, 1},
        {"no name", "apiVersion: v1\nkind: Pod\nmetadata: {}\n", false, 0, 0},
        {"no YAML", "a: [", false, 0, 0},
        {"no JSON", "{\"a\":", false, 0, 0},
        {"not an object", "- 1\n", false, 0, 0},
        {"nothing", "", true, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sim_cluster *c = new_cluster(0, 0);
        struct err err = {0};
        uint32_t passed_over = 0;
        bool ok = sim_cluster_load(c, span_of(rows[i].text), &passed_over, &err);
        if (ok != rows[i].ok || passed_over != rows[i].passed_over ||
            sim_cluster_count(c, KIND_POD) != rows[i].pods || (!ok && err.msg[0] == '\0'))
            fail_msg("%s: %d (%s), %u passed over, %u pods", rows[i].label, ok, ok ? "" : err.msg,
                     passed_over, sim_cluster_count(c, KIND_POD));
        sim_cluster_free(c);
    }
}

/* ---- threads ---- */

enum { SENDERS = 4, EACH = 50 };

struct live {
    struct sim_cluster *cluster;
    struct api *api;
    atomic_int wakes, answered;
};

static void count_wake(void *user)
{
    atomic_fetch_add(&((struct live *)user)->wakes, 1);
}

static void count_answer(void *user, const struct api_result *r)
{
    if (r->status == 201 || r->err.kind == ERR_CANCELLED)
        atomic_fetch_add(&((struct live *)user)->answered, 1);
}

static void *send_many(void *user)
{
    struct live *l = user;
    for (int i = 0; i < EACH; i++) {
        struct api_request r = {.verb = API_CREATE, .kind = KIND_KWOK_NODE_CLASS,
                                .body = SPAN("{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":"
                                             "\"KWOKNodeClass\",\"metadata\":{\"generateName\":\"t-\"}}")};
        uint64_t id = api_send(l->api, &r, count_answer, l);
        if (i % 7 == 0)
            l->api->ops->cancel(l->api, id);
    }
    return NULL;
}

static void many_threads_send(void **state)
{
    (void)state;
    struct live l = {.wakes = 0};
    struct sim_cluster_options o = {.now = START, .wake = count_wake, .user = &l};
    pthread_t threads[SENDERS];
    l.cluster = sim_cluster_new(&o);
    l.api = sim_client_new(l.cluster);
    for (int i = 0; i < SENDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_many, &l), 0);
    while (atomic_load(&l.answered) < SENDERS * EACH)
        sim_cluster_step(l.cluster, START);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(atomic_load(&l.wakes) >= SENDERS * EACH);
    sim_cluster_free(l.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(some_writes_are_not_counted),
        cmocka_unit_test(latency),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(a_client_that_goes_takes_its_requests),
        cmocka_unit_test(loading),
        cmocka_unit_test(many_threads_send),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
