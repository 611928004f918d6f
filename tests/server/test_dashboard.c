/* manifests/grafana/ and manifests/prometheus/, held against what a busy server shows: every series, label and value that
 * a panel or a rule asks for is at /metrics, or is one of those that are told only on an occasion that the server of this
 * test has not, and that the program's sources have. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/doc.h"
#include "server/fetch.h"
#include "server/input.h"
#include "support_serve.h"
#include "support_served.h"

/* What a cluster in memory that is well does not come to; a real one may. */
static const struct {
    const char *metric, *when;
} occasions[] = {
    {"cluster_autoscaler_errors_total", "a call about node groups fails"},
    {"cluster_autoscaler_failed_scale_ups_total", "a group cannot grow"},
    {"cluster_autoscaler_scaled_down_nodes_total", "a node of a group has been unneeded for ten minutes"},
    {"karpenter_cloudprovider_errors_total", "a machine cannot be made"},
    {"karpenter_nodeclaims_unhealthy_disrupted_total", "a node is not well"},
    {"karpenter_voluntary_disruption_failed_validations_total", "a node fills up before it goes"},
    {"karpenter_voluntary_disruption_queue_failures_total", "a replacement does not come"},
    {"rest_client_requests_total", "there is an API server"},
    {"stowage_api_requests_running", "there is an API server"},
    {"stowage_api_requests_waiting", "there is an API server"},
    {"stowage_disruption_loops_total", "consolidations undo one another"},
    {"stowage_observing", "another autoscaler's Lease is live"},
    {"stowage_plan_lower_bound_per_hour", "there are no node groups"},
    {"stowage_purchases_held_total", "a cap or a limit stands in the way"},
    {"stowage_scheduler_silent", "no scheduler asks"},
    {"stowage_watches_resumed_total", "there is an API server"},
};

enum { EXPRESSIONS_MAX = 256, FAULT_MAX = 512, PATIENCE_MS = 150000 };

struct asked {
    struct span where; /* title of the panel, or name of the alert */
    struct promql asks;
};

struct shipped {
    struct arena a;
    struct asked items[EXPRESSIONS_MAX];
    uint32_t count;
};

static bool is_on_occasion(struct span metric)
{
    for (size_t i = 0; i < COUNT_OF(occasions); i++)
        if (span_eq(metric, span_of(occasions[i].metric)))
            return true;
    return false;
}

/* --- what /metrics shows --- */

/* Whether a series of this metric is there, with this label and value; absent: any. */
static bool shows(struct span text, struct span metric, struct span label, struct span value)
{
    char named[256];
    snprintf(named, sizeof(named), "%.*s=\"%.*s%s", SPAN_ARG(label), SPAN_ARG(value), value.len != 0 ? "\"" : "");
    while (text.len != 0) {
        struct span line = span_cut(text, '\n', &text);
        if (line.len <= metric.len || memcmp(line.ptr, metric.ptr, metric.len) != 0)
            continue;
        struct span rest = {line.ptr + metric.len, line.len - metric.len};
        char first[sizeof(named) + 1], later[sizeof(named) + 1];
        snprintf(first, sizeof(first), "{%s", named);
        snprintf(later, sizeof(later), ",%s", named);
        if ((rest.ptr[0] == '{' || rest.ptr[0] == ' ') &&
            (label.len == 0 || span_contains(rest, span_of(first)) || span_contains(rest, span_of(later))))
            return true;
    }
    return false;
}

static const struct span ANY = {NULL, 0};

struct looked { /* at one moment */
    const struct served *served;
    struct span text; /* of /metrics */
};

static bool has(const struct looked *l, struct span metric, struct span label)
{
    return shows(l->text, metric, ANY, ANY) ? shows(l->text, metric, label, ANY)
                                            : is_on_occasion(metric) && served_has(l->served, metric, label);
}

static void judge_labels(const struct looked *l, const struct promql *x, char out[FAULT_MAX])
{
    for (uint32_t i = 0; i < x->match_count; i++) {
        const struct promql_match *m = &x->matches[i];
        struct span metric = x->metrics[m->metric];
        if (!has(l, metric, m->label))
            snprintf(out, FAULT_MAX, "%.*s has no label %.*s", SPAN_ARG(metric), SPAN_ARG(m->label));
        else if (!shows(l->text, metric, m->label, m->value) && !served_says(l->served, m->value))
            snprintf(out, FAULT_MAX, "%.*s of %.*s is never %.*s", SPAN_ARG(m->label), SPAN_ARG(metric), SPAN_ARG(m->value));
    }
    for (uint32_t i = 0; i < x->grouped_count; i++) {
        bool found = span_eq(x->grouped[i], SPAN("instance")); /* Prometheus' own */
        for (uint32_t m = 0; m < x->metric_count; m++)
            found = found || has(l, x->metrics[m], x->grouped[i]);
        if (!found)
            snprintf(out, FAULT_MAX, "nothing here has the label %.*s", SPAN_ARG(x->grouped[i]));
    }
}

/* What an expression asks for and is not there; "": nothing. */
static void judge(const struct looked *l, const struct promql *x, char out[FAULT_MAX])
{
    out[0] = '\0';
    if (x->metric_count == 0)
        snprintf(out, FAULT_MAX, "asks for nothing");
    for (uint32_t i = 0; i < x->metric_count; i++)
        if (!has(l, x->metrics[i], ANY))
            snprintf(out, FAULT_MAX, "there is no %.*s", SPAN_ARG(x->metrics[i]));
    if (out[0] == '\0')
        judge_labels(l, x, out);
}

/* --- what ships --- */

static void add_asked(struct shipped *s, struct span where, struct span text)
{
    assert_true(s->count < EXPRESSIONS_MAX);
    struct asked *e = &s->items[s->count++];
    e->where = arena_dup(&s->a, where);
    promql_read(arena_dup(&s->a, text), &e->asks);
}

/* "{{nodepool}}, {{reason}}": labels that the result still has. */
static void check_legend(const struct asked *e, struct span legend)
{
    for (size_t i = 0; i + 1 < legend.len; i++) {
        if (legend.ptr[i] != '{' || legend.ptr[i + 1] != '{')
            continue;
        struct span rest = {legend.ptr + i + 2, legend.len - i - 2}, label = promql_token(&rest);
        bool found = e->asks.grouped_count == 0 && span_eq(label, SPAN("instance"));
        for (uint32_t g = 0; g < e->asks.grouped_count; g++)
            found = found || span_eq(e->asks.grouped[g], label);
        if (!found)
            fail_msg("%.*s: the legend's label %.*s is gone from the result", SPAN_ARG(e->where), SPAN_ARG(label));
        i++;
    }
}

static void read_targets(struct shipped *s, struct doc_value panel, struct span title)
{
    struct doc_value targets;
    if (!doc_find(panel, SPAN("targets"), &targets))
        fail_msg("%.*s: asks for nothing", SPAN_ARG(title));
    for (struct doc_iter t = doc_iter_of(targets); doc_next(&t);) {
        add_asked(s, title, doc_text_at(t.value, SPAN("expr")));
        check_legend(&s->items[s->count - 1], arena_dup(&s->a, doc_text_at(t.value, SPAN("legendFormat"))));
    }
}

struct place { /* of a panel on the grid of 24 columns */
    int64_t id, x, y, w, h;
};

static struct place place_of(struct doc_value panel)
{
    struct doc_value grid;
    assert_true(doc_find(panel, SPAN("gridPos"), &grid));
    return (struct place){doc_int64_at(panel, SPAN("id"), 0), doc_int64_at(grid, SPAN("x"), 0), doc_int64_at(grid, SPAN("y"), 0),
                          doc_int64_at(grid, SPAN("w"), 0), doc_int64_at(grid, SPAN("h"), 0)};
}

static bool overlap(const struct place *a, const struct place *b)
{
    return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

static void read_dashboard(struct shipped *s, struct doc_value dashboard)
{
    enum { PANELS_MAX = 128 };
    struct place places[PANELS_MAX];
    struct doc_value panels;
    uint32_t count = 0;
    assert_true(doc_find(dashboard, SPAN("panels"), &panels));
    for (struct doc_iter p = doc_iter_of(panels); doc_next(&p); count++) {
        struct span title = arena_dup(&s->a, doc_text_at(p.value, SPAN("title")));
        assert_int_not_equal(title.len, 0);
        assert_true(count < PANELS_MAX);
        places[count] = place_of(p.value);
        if (places[count].id == 0 || places[count].w == 0 || places[count].h == 0)
            fail_msg("%.*s: no id or no size", SPAN_ARG(title));
        if (places[count].x + places[count].w > 24)
            fail_msg("%.*s: beyond the right edge", SPAN_ARG(title));
        for (uint32_t i = 0; i < count; i++)
            if (places[i].id == places[count].id || overlap(&places[i], &places[count]))
                fail_msg("%.*s: id or place of another panel", SPAN_ARG(title));
        if (span_eq(doc_text_at(p.value, SPAN("type")), SPAN("row")))
            continue;
        if (doc_text_at(p.value, SPAN("description")).len == 0)
            fail_msg("%.*s: no description", SPAN_ARG(title));
        read_targets(s, p.value, title);
    }
    assert_int_not_equal(count, 0);
}

static void read_rules(struct shipped *s, struct doc_value object)
{
    struct doc_value spec, groups, rules;
    if (!doc_find(object, SPAN("spec"), &spec) || !doc_find(spec, SPAN("groups"), &groups))
        return;
    for (struct doc_iter g = doc_iter_of(groups); doc_next(&g);) {
        assert_true(doc_find(g.value, SPAN("rules"), &rules));
        for (struct doc_iter r = doc_iter_of(rules); doc_next(&r);)
            add_asked(s, doc_text_at(r.value, SPAN("alert")), doc_text_at(r.value, SPAN("expr")));
    }
}

/* Of all files that match; each has expressions. */
static void read_files(struct shipped *s, const char *pattern, void (*read)(struct shipped *, struct doc_value))
{
    struct doc_parser *parser = doc_parser_new();
    glob_t files;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct span text;
        struct err err = {0};
        const struct doc *doc;
        size_t at = 0;
        uint32_t before = s->count;
        if (!input_text(&s->a, files.gl_pathv[i], &text, &err))
            fail_msg("%s", err.msg);
        while (doc_parse_yaml(parser, text, &at, &doc, &err)) /* JSON is YAML, too */
            read(s, doc_root(doc));
        if (err.kind != ERR_NONE || s->count == before)
            fail_msg("%s: %s", files.gl_pathv[i], err.kind != ERR_NONE ? err.msg : "asks for nothing");
    }
    globfree(&files);
    doc_parser_free(parser);
}

static void shipped_read(struct shipped *s)
{
    s->count = 0;
    arena_init(&s->a, 0);
    read_files(s, SOURCE_DIR "/manifests/grafana/*.json", read_dashboard);
    read_files(s, SOURCE_DIR "/manifests/prometheus/*.yaml", read_rules);
}

/* --- the server --- */

/* The first expression that is not answered yet; NULL: there is none. */
static const struct asked *unanswered(const struct shipped *s, const struct looked *l, char fault[FAULT_MAX])
{
    for (uint32_t i = 0; i < s->count; i++) {
        judge(l, &s->items[i].asks, fault);
        if (fault[0] != '\0')
            return &s->items[i];
    }
    return NULL;
}

static void await_answers(const struct shipped *s, const struct served *served, int port)
{
    char url[64], fault[FAULT_MAX];
    const struct asked *left = NULL;
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/metrics", port);
    for (int waited = 0; waited < PATIENCE_MS; waited += 500) {
        struct buf text = {0};
        struct err err;
        int status = 0;
        bool ok = fetch_text(url, NULL, &status, &text, &err) && status == 200;
        struct looked l = {served, ok ? buf_span(&text) : ANY};
        left = unanswered(s, &l, fault);
        buf_release(&text);
        if (left == NULL)
            return;
        poll(NULL, 0, 500);
    }
    fail_msg("%.*s: %s", SPAN_ARG(left->where), fault);
}

static void a_busy_server_answers_each(void **state)
{
    (void)state;
    static struct shipped s;
    static struct client_reply r;
    struct served served;
    int ports[SERVE_PORTS];
    shipped_read(&s);
    served_read(&served);
    serve_ports(ports);
    pid_t pid = serve_start(ports, (const char *const[]){
        "--filename=" TESTS_DIR "/server/busy/cluster.yaml", "--cloud-provider=kwok",
        "--cloud-config=" TESTS_DIR "/server/busy/groups.yaml", "--emit-per-nodegroup-metrics",
        "--batch-idle-duration=100ms", NULL});
    assert_true(pid > 0);
    serve_await(pid, ports[SERVE_PROBES], "/readyz", 200, &r);
    await_answers(&s, &served, ports[SERVE_METRICS]);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    served_release(&served);
    arena_release(&s.a);
}

/* What is on an occasion is what somebody asks for, and what the program has. */
static void occasions_are_of_what_ships(void **state)
{
    (void)state;
    static struct shipped s;
    struct served served;
    shipped_read(&s);
    served_read(&served);
    for (size_t i = 0; i < COUNT_OF(occasions); i++) {
        bool found = false;
        for (uint32_t e = 0; e < s.count && !found; e++)
            for (uint32_t m = 0; m < s.items[e].asks.metric_count; m++)
                found = found || span_eq(s.items[e].asks.metrics[m], span_of(occasions[i].metric));
        if (!found || !served_has(&served, span_of(occasions[i].metric), ANY))
            fail_msg("%s: nobody asks for it, or it is no metric", occasions[i].metric);
    }
    served_release(&served);
    arena_release(&s.a);
}

/* --- the checker itself --- */

static void what_is_not_shown_is_found(void **state)
{
    (void)state;
    static const char text[] = "# TYPE stowage_pods_bound_total counter\nstowage_pods_bound_total{where=\"planned\"} 5\n"
                               "up_total{a=\"x\",b=\"late\"} 1\nh_bucket{le=\"+Inf\"} 1\nplain 1\n";
    static const struct {
        const char *expression, *fault;
    } rows[] = {
        {"plain > 0", ""},
        {"plai > 0", "there is no plai"},
        {"stowage_pods_bound_total{where=\"planned\"}", ""},
        {"stowage_pods_bound_total{where=\"nowhere\"}", "where of stowage_pods_bound_total is never nowhere"},
        {"stowage_pods_bound_total{were=\"planned\"}", "stowage_pods_bound_total has no label were"},
        {"sum by (where) (stowage_pods_bound_total)", ""},
        {"sum by (b) (rate(up_total[5m]))", ""},
        {"sum by (c) (rate(up_total[5m]))", "nothing here has the label c"},
        {"sum by (le) (rate(h_bucket[5m]))", ""},
        {"plain / up_total and on (instance) plain", ""},
        {"stowage_snapshot_age_seconds", "there is no stowage_snapshot_age_seconds"}, /* it is told always */
        {"stowage_disruption_loops_total", ""},                                       /* on occasion */
        {"sum by (pool) (stowage_disruption_loops_total)", "nothing here has the label pool"},
        {"42", "asks for nothing"},
    };
    struct served served;
    struct looked l = {&served, span_of(text)};
    char fault[FAULT_MAX];
    served_read(&served);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct promql x;
        promql_read(span_of(rows[i].expression), &x);
        judge(&l, &x, fault);
        if (strcmp(fault, rows[i].fault) != 0)
            fail_msg("%s: \"%s\"", rows[i].expression, fault);
    }
    served_release(&served);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_shown_is_found),
        cmocka_unit_test(occasions_are_of_what_ships),
        cmocka_unit_test(a_busy_server_answers_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
