#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "server/assets.h"
#include "server/html.h"
#include "server/page.h"
#include "server/page/board.h"
#include "support_view.h"

enum { PAGE_BYTES_MAX = 96 * 1024 }; /* before gzip, which makes a third of it */

#define META(name) "metadata: {name: " name ", namespace: web, uid: uid-" name
#define REQUESTS "containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]"
#define POD(name, extra) "apiVersion: v1\nkind: Pod\n" META(name) extra "\n"
#define OWNED                                                                                      \
    ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: api, uid: u, "              \
    "controller: true}]}"
#define PENDING                                                                                    \
    "\nspec: {" REQUESTS "}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, "          \
    "status: \"False\", reason: Unschedulable}]}"

static const char CLUSTER[] =
    POD("api-1", OWNED PENDING) "---\n" POD("api-2", OWNED PENDING) "---\n"
    POD("lone", "}" PENDING) "---\n" POD("late", "}" PENDING) "---\n"
    POD("web-1", "}\nspec: {nodeName: n1, " REQUESTS "}\nstatus: {phase: Running}") "---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {karpenter.sh/nodepool: general, "
    "node.kubernetes.io/instance-type: c-4x, topology.kubernetes.io/zone: z-a, "
    "karpenter.sh/capacity-type: spot}}\n"
    "status: {capacity: {cpu: 4, memory: 8Gi, pods: 10}, allocatable: {cpu: 4, memory: 8Gi, "
    "pods: 10}, conditions: [{type: Ready, status: \"True\"}]}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
    "spec: {limits: {cpu: 10}, weight: 7, template: {spec: {nodeClassRef: "
    "{group: g, kind: K, name: c}, requirements: []}}}\n"
    "status: {resources: {cpu: 4}, conditions: [{type: ValidationSucceeded, status: \"False\", "
    "message: \"spec.weight: <no>\"}]}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: lost}\n"
    "status: {conditions: [{type: NodeClassReady, status: \"False\", message: there is no K c}, "
    "{type: Ready, status: \"False\", message: NodeClassReady=False}]}\n";

static void expect(const struct buf *html, const char *text, bool want)
{
    if ((strstr(html->ptr, text) != NULL) != want)
        fail_msg("%s %s in:\n%s", want ? "no" : "unwanted", text, html->ptr);
}

/* How much of a sentence of these tests is the name of whom it is about. */
static size_t said_at(const struct decision *d, const char *sentence)
{
    const char *name = d->about.name.len != 0 ? strstr(sentence, d->about.name.ptr) : NULL;
    if (name == NULL)
        return 0;
    name += d->about.name.len;
    return (size_t)(name - sentence) + strspn(name, " :");
}

static void decide(struct page *p, struct decision d, const char *sentence)
{
    d.sentence = span_of(sentence);
    d.said = (struct span){sentence + said_at(&d, sentence), strlen(sentence) - said_at(&d, sentence)};
    d.per_hour = NAN;
    d.at = 1000;
    page_decided(p, &d);
}

/* The document, and what its script is told of the nodes. */
static struct buf render(struct page *p, struct view *v)
{
    struct page_view view = {v->snapshot, v->world, view_places(v), 5000, NULL};
    struct buf html = {0};
    page_html(p, &view, &html);
    struct board *b = board_new();
    struct buf told = {0};
    board_look(b, &(struct board_sources){.page = p, .view = view, .version = 1}, 0);
    board_tell(b, p, &(struct board_reader){0}, &told);
    buf_add_char(&told, '\0');
    buf_add(&html, span_of(strstr(told.ptr, "event: nodes\n")));
    board_free(b);
    buf_release(&told);
    return html;
}

static void test_cluster(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    view_open(&v, CLUSTER, "api-1 n1\napi-2 n1\nlate claim/general-x");
    page_standing(p, SPAN("leads"));
    decide(p, (struct decision){.kind = DECISION_NO_PLACE, .about = {KIND_POD, SPAN("web"), SPAN("lone"), {NULL, 0}}},
           "web/lone has no place: it asks for <200> CPUs");
    struct buf html = render(p, &v);
    static const struct {
        const char *label, *text;
    } rows[] = {
        {"who speaks", "This replica leads."},
        {"pods of one owner and reason are one row", "<summary>web/api ×2</summary>"},
        {"each can be linked to", "<li id=\"pod/web/api-2\">web/api-2"},
        {"where they go", "planned for node <a href=\"#node/n1\">n1</a>"},
        {"what is on its way", "planned for <a href=\"#node/general-x\">general-x</a>, which is on "
                               "its way"},
        {"why one has no place", "it asks for &lt;200&gt; CPUs"},
        {"the count", "<b>1</b> pod runs<li><b>4</b> pods wait"},
        {"what is asked for", "<b>25 %</b> of CPU asked for: 1 of 4"},
        {"limits", "4 of 10 cpu"},
        {"a pool set aside", "<strong>set aside</strong>: spec.weight: &lt;no&gt;"},
        {"a pool without its class", "<strong>not ready</strong>: there is no K c"},
        {"a node", "{\"n\":\"n1\",\"p\":\"general\",\"t\":\"c-4x\",\"z\":\"z-a\",\"c\":\"spot\",\"s\":\"not ours\","},
        {"asked, there, planned, kept", "\"cpu\":[1000,4000,2000,0],\"mem\":[1073741824,8589934592,2147483648,0]"},
        {"what stands on it", "\"w\":[[\"Pod web/web-1\",1,1000,1073741824]]}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strstr(html.ptr, rows[i].text) == NULL)
            fail_msg("%s: no %s in:\n%s", rows[i].label, rows[i].text, html.ptr);
    buf_release(&html);
    page_free(p);
    view_close(&v);
}

static void test_decisions(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    view_open(&v, "", "");
    struct page_view none = {.now = 5000};
    struct buf html = {0};
    page_html(p, &none, &html);
    expect(&html, "The cluster has not been read yet.", true);
    expect(&html, "Nothing decided yet.", true);
    buf_release(&html);

    uint64_t before = page_version(p);
    decide(p, (struct decision){.kind = DECISION_PLACE}, "only an Event: not shown");
    for (int i = 0; i < PAGE_DECISIONS + 5; i++) {
        char text[32];
        snprintf(text, sizeof(text), "node-%d. came", i);
        decide(p, (struct decision){.kind = DECISION_READY, .subject = "ready", .id = "d-1"}, text);
    }
    assert_true(page_version(p) > before);
    html = render(p, &v);
    expect(&html, "not shown", false);
    expect(&html, "node-4. came", false);
    expect(&html, "node-5. came", true);
    expect(&html, "id=\"decision/d-1/205\"", true);
    expect(&html, "id=\"decisions-count\">200<", true);
    assert_true(strstr(html.ptr, "node-204. came") < strstr(html.ptr, "node-203. came"));
    buf_release(&html);
    page_free(p);
    view_close(&v);
}

/* Nobody owns them, and each is told in a sentence of its own that begins with its name. */
static void expect_moves(struct page *p, struct view *v, const char *const *texts, size_t count, bool want)
{
    struct buf html = render(p, v);
    for (size_t i = 0; i < count; i++)
        expect(&html, texts[i], want);
    expect(&html, "No node is to leave.", !want);
    buf_release(&html);
}

static void test_moves(void **state)
{
    static const char *const texts[] = {
        "<h2>Moves <span class=count id=\"moves-count\">7</span></h2>", "<tr id=\"move/d-1\">", "<a href=\"#node/n&amp;1\">n&amp;1</a>, <a href=\"#node/n2\">n2</a>",
        "recommended, not made", "remove n&amp;1, n2 (underutilized)", "0.0840", "is made ready", "drifted"};
    struct span nodes[] = {SPAN("n&1"), SPAN("n2")};
    struct move items[] = {{.id = SPAN("d-2"), .state = MOVE_READIES, .reason = REASON_DRIFTED, .nodes = &nodes[1], .node_count = 1,
                            .savings = NAN},
                           {.id = SPAN("d-1"), .state = MOVE_RECOMMENDED, .reason = REASON_UNDERUTILIZED, .nodes = nodes,
                            .node_count = 2, .savings = 0.084, .text = SPAN("remove n&1, n2 (underutilized)")}};
    (void)state;
    struct view v;
    struct page *p = page_new();
    view_open(&v, CLUSTER, "");
    expect_moves(p, &v, texts, COUNT_OF(texts), false);
    uint64_t before = page_version(p);
    page_moved(p, &(struct moves){items, COUNT_OF(items), 7});
    assert_true(page_version(p) > before);
    expect_moves(p, &v, texts, COUNT_OF(texts), true);
    page_forget(p);
    expect_moves(p, &v, texts, COUNT_OF(texts), false);
    page_free(p);
    view_close(&v);
}

static void test_equal_pods_are_one_row(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    struct buf yaml = {0};
    for (int i = 0; i < 300; i++)
        buf_addf(&yaml, "%s" "apiVersion: v1\nkind: Pod\nmetadata: {name: load-%03d, namespace: web, uid: u%d}" PENDING "\n",
                 i != 0 ? "---\n" : "", i, i);
    buf_addf(&yaml, "---\n" POD("other", "}" PENDING));
    view_open(&v, yaml.ptr, "");
    for (int i = 0; i < 301; i++) {
        char name[32], text[128];
        int n = i < 300 ? snprintf(name, sizeof(name), "load-%03d", i) : snprintf(name, sizeof(name), "other");
        snprintf(text, sizeof(text), "web/%s has no place (Unschedulable): asks for %s", name, i < 300 ? "200 CPUs" : "a GPU");
        decide(p, (struct decision){.kind = DECISION_NO_PLACE, .about = {KIND_POD, SPAN("web"), {name, (size_t)n}, {NULL, 0}}}, text);
    }
    struct buf html = render(p, &v);
    expect(&html, "<summary>web/load-000 … load-299 ×300</summary>", true);
    expect(&html, "data-label=\"why\">has no place (Unschedulable): asks for 200 CPUs<", true);
    expect(&html, "<tr id=\"pod/web/other\">", true);
    const char *first = strstr(html.ptr, "asks for 200 CPUs");
    assert_null(strstr(first + 1, "asks for 200 CPUs"));
    buf_release(&html);
    buf_release(&yaml);
    page_free(p);
    view_close(&v);
}

#define DAEMON_POD(name)                                                                           \
    "apiVersion: v1\nkind: Pod\n" META(name)                                                        \
    ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, "             \
    "controller: true}]}\nspec: {containers: [{name: c, resources: {requests: {cpu: 3}}}], "       \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                   \
    "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}}\n"

/* The scheduler tries it again and again; the page says what it lacks. */
static void test_a_daemon_pod_without_room(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    view_open(&v,
              DAEMON_POD("agent-x")
              "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
              "---\n" DAEMON_POD("agent-y") "---\n"
              POD("web-1", "}\nspec: {nodeName: n1, " REQUESTS "}\nstatus: {phase: Running}") "---\n"
              "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
              "status: {capacity: {cpu: 3, memory: 8Gi, pods: 10}, allocatable: {cpu: 3, memory: 8Gi, pods: 10}}\n",
              "");
    struct buf html = render(p, &v);
    expect(&html, "it is the pod of DaemonSet web/agent for node n1, and asks for 3 CPUs, of which 2 of 3 are free there "
                  "(web/web-1 holds 1 CPU)", true);
    const char *untried = strstr(html.ptr, "the scheduler has not tried it yet"); /* agent-y alone */
    assert_non_null(untried);
    assert_null(strstr(untried + 1, "the scheduler has not tried it yet"));
    buf_release(&html);
    page_free(p);
    view_close(&v);
}

/* Why a node stays is shown for as long as it holds. */
static void test_a_reason_that_holds_no_more(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    const struct decision keep = {.kind = DECISION_KEEP,
                                  .about = {KIND_NODE, {NULL, 0}, SPAN("n1"), {NULL, 0}}};
    view_open(&v, CLUSTER, "");
    decide(p, keep, "n1  stays: PodDisruptionBudget shop/web allows no eviction (2 of 2 must stay)");
    struct buf html = render(p, &v);
    expect(&html, "\"r\":\"stays: PodDisruptionBudget shop/web allows no eviction (2 of 2 must stay)\"", true);
    buf_release(&html);
    decide(p, keep, "n1  stays: it is rebooting");
    html = render(p, &v);
    expect(&html, "PodDisruptionBudget", false);
    expect(&html, "stays: it is rebooting", true);
    buf_release(&html);
    struct decision no_more = keep, event = keep;
    event.note = event.reason = SPAN("DisruptionBlocked"); /* an Event alone says nothing new */
    decide(p, event, "");
    html = render(p, &v);
    expect(&html, "stays: it is rebooting", true);
    buf_release(&html);
    no_more.takes_back = true;
    decide(p, no_more, "");
    html = render(p, &v);
    expect(&html, "stays:", false);
    buf_release(&html);
    page_free(p);
    view_close(&v);
}

static void test_a_node_that_leaves_says_for_whom_it_waits(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    view_open(&v,
              "apiVersion: v1\nkind: Node\nmetadata: {name: n1, deletionTimestamp: '2026-01-01T00:00:00Z'}\n"
              "status: {allocatable: {cpu: 4}}\n",
              "");
    decide(p,
           (struct decision){.kind = DECISION_DRAIN, .about = {KIND_NODE, {NULL, 0}, SPAN("n1"), {NULL, 0}}},
           "n1  1 pod waits to be evicted");
    struct buf html = render(p, &v);
    expect(&html, "\"s\":\"leaving\",\"a\":0,\"cpu\":[0,4000,0,0],\"mem\":[0,0,0,0],\"w\":[],\"r\":\"1 pod waits to be evicted\"", true);
    buf_release(&html);
    page_free(p);
    view_close(&v);
}

/* Reasons of more objects than are remembered: old ones give way, none is wrong. */
static void test_reasons_are_bounded(void **state)
{
    (void)state;
    struct view v;
    struct page *p = page_new();
    view_open(&v, POD("lone", "}" PENDING), "");
    for (int i = 0; i < 3 * PAGE_REASONS_MAX; i++) {
        char name[32];
        int n = snprintf(name, sizeof(name), "pod-%d", i);
        decide(p, (struct decision){.about = {KIND_POD, SPAN("web"), {name, (size_t)n}, {NULL, 0}}},
               "somebody else's reason");
    }
    struct buf html = render(p, &v);
    expect(&html, "somebody else", false);
    expect(&html, "seen, not planned yet", true);
    buf_release(&html);
    page_free(p);
    view_close(&v);
}

static void test_size(void **state)
{
    (void)state;
    struct page *p = page_new();
    struct page_view none = {.now = 0};
    struct buf html = {0};
    page_html(p, &none, &html);
    size_t all = html.len;
    for (size_t i = 0; i < asset_count; i++) {
        assert_true(*assets[i].size != 0);
        all += *assets[i].size;
    }
    assert_true(all <= PAGE_BYTES_MAX);
    expect(&html, "src=\"/page.js\"", true);
    expect(&html, "href=\"/page.css\"", true);
    expect(&html, "{{", false);
    expect(&html, "style=", false); /* the content policy allows neither */
    expect(&html, "onclick=", false);
    expect(&html, "http:", false);
    buf_release(&html);
    page_free(p);
}

static void test_amounts(void **state)
{
    (void)state;
    static const struct {
        void (*put)(struct buf *, int64_t);
        int64_t value;
        const char *want;
    } rows[] = {
        {html_cpu, 0, "0"},          {html_cpu, 50, "50m"},       {html_cpu, 7200, "7.2"},
        {html_cpu, 16000, "16"},     {html_cpu, 123456, "123"},   {html_bytes, 0, "0"},
        {html_bytes, 512, "512"},    {html_bytes, 1 << 30, "1Gi"}, {html_bytes, 9771050598, "9.1Gi"},
        {html_age, 11000, "11s"},    {html_age, 300000, "5m"},    {html_age, 3 * MS_HOUR, "3h"},
        {html_age, 300 * MS_HOUR, "12d"}, {html_age, -5, "0s"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = {0};
        rows[i].put(&out, rows[i].value);
        assert_string_equal(out.ptr, rows[i].want);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_equal_pods_are_one_row),
        cmocka_unit_test(test_a_daemon_pod_without_room),
        cmocka_unit_test(test_a_reason_that_holds_no_more),
        cmocka_unit_test(test_a_node_that_leaves_says_for_whom_it_waits),
        cmocka_unit_test(test_reasons_are_bounded),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
