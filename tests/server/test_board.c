#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/page/board.h"
#include "support_view.h"

#define NODE(name, cpu)                                                                                                      \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n"                                                          \
    "status: {allocatable: {cpu: " cpu ", memory: 8Gi, pods: 10}}\n"
#define ON(pod, node)                                                                                                        \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " pod ", namespace: web, uid: uid-" pod "}\n"                          \
    "spec: {nodeName: " node ", containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n"
#define OWNED(pod, node)                                                                                                     \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " pod ", namespace: web, uid: uid-" pod                                \
    ", labels: {pod-template-hash: 5d9f}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: api-5d9f, "        \
    "uid: u, controller: true}]}\n"                                                                                          \
    "spec: {nodeName: " node ", containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n"

struct fixture {
    struct page *page;
    struct board *board;
    struct group_answers *groups;
    uint64_t version;
    struct buf told;
};

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->page = page_new();
    f->board = board_new();
    f->groups = group_answers_new();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    board_free(f->board);
    page_free(f->page);
    group_answers_free(f->groups);
    buf_release(&f->told);
    free(f);
    return 0;
}

static void look_at(struct fixture *f, const struct snapshot *s)
{
    struct page_view view = {s, s != NULL ? s->derived : NULL, NULL, 5000, f->groups};
    board_look(f->board, &(struct board_sources){.page = f->page, .view = view, .version = ++f->version}, 0);
}

static struct snapshot *newest(struct view *v)
{
    return (struct snapshot *)share_take(store_share(v->store));
}

/* What the reader is told of nodes; "": of none. */
static const char *nodes(struct fixture *f, struct board_reader *r)
{
    buf_clear(&f->told);
    board_tell(f->board, f->page, r, &f->told);
    buf_add_char(&f->told, '\0');
    const char *at = strstr(f->told.ptr, "event: nodes\ndata: ");
    return at != NULL ? at + strlen("event: nodes\ndata: ") : "";
}

static void expect(const char *label, const char *got, const char *want)
{
    if (want[0] == '\0' ? got[0] != '\0' : strstr(got, want) == NULL)
        fail_msg("%s: got %s\nwant %s", label, got, want);
}

static void lacks(const char *label, const char *got, const char *unwanted)
{
    if (strstr(got, unwanted) != NULL)
        fail_msg("%s: %s in %s", label, unwanted, got);
}

/* A second's look tells a reader what changed, and a new reader everything. */
static void test_changes_alone(void **state)
{
    struct fixture *f = *state;
    struct board_reader r = {0}, late = {0};
    struct view v;
    view_open(&v, NODE("n1", "4") NODE("n2", "8") OWNED("api-1", "n1") OWNED("api-2", "n1") ON("lone", "n1"), "");
    expect("nothing was looked at", nodes(f, &r), "");
    assert_int_equal(f->told.len, 1);
    look_at(f, v.snapshot);
    const char *got = nodes(f, &r);
    assert_non_null(strstr(f->told.ptr, "event: begin\n"));
    expect("all at first", got, "{\"gone\":[],\"nodes\":[{\"n\":\"n1\",");
    expect("equal pods are one", got, "\"w\":[[\"Deployment web/api\",2,2000,0],[\"Pod web/lone\",1,1000,0]]");
    expect("the other, too", got, "{\"n\":\"n2\",");
    expect("then nothing", nodes(f, &r), "");
    look_at(f, v.snapshot);
    expect("nor without a change", nodes(f, &r), "");

    view_put(&v, ON("two", "n2"));
    struct snapshot *s = newest(&v);
    look_at(f, s);
    got = nodes(f, &r);
    expect("what moved", got, "{\"gone\":[],\"nodes\":[{\"n\":\"n2\",");
    lacks("and not what did not", got, "\"n1\"");
    lacks("nor from the beginning", f->told.ptr, "event: begin");
    expect("who comes late", nodes(f, &late), "{\"n\":\"n1\",");
    board_rest(f->board); /* its snapshot is the store's */
    shared_unref(&s->shared);
    view_close(&v);
}

static void test_nodes_that_go(void **state)
{
    struct fixture *f = *state;
    struct board_reader r = {0}, late = {0};
    struct view v, w;
    view_open(&v, NODE("n1", "4") NODE("n2", "8") NODE("n3", "8"), "");
    view_open(&w, NODE("n2", "8") NODE("n4", "8"), "");
    look_at(f, v.snapshot);
    nodes(f, &r);
    look_at(f, w.snapshot);
    const char *got = nodes(f, &r);
    expect("those that went", got, "{\"gone\":[\"n1\",\"n3\"],\"nodes\":[{\"n\":\"n4\",");
    lacks("one that is as it was", got, "\"n2\"");
    expect("nobody tells a new reader of them", nodes(f, &late), "{\"gone\":[],\"nodes\":[{\"n\":\"n2\",");
    look_at(f, NULL);
    expect("all go", nodes(f, &r), "{\"gone\":[\"n2\",\"n4\"],\"nodes\":[]}");
    look_at(f, v.snapshot);
    expect("and come again", nodes(f, &r), "{\"gone\":[],\"nodes\":[{\"n\":\"n1\",");
    board_rest(f->board); /* its snapshot is the store's */
    view_close(&w);
    view_close(&v);
}

/* Who reads slowly is told everything anew once more nodes went than are remembered. */
static void test_more_than_is_remembered(void **state)
{
    struct fixture *f = *state;
    struct board_reader slow = {0}, quick = {0};
    struct buf yaml = {0};
    struct view v, none;
    for (int i = 0; i < 1500; i++)
        buf_addf(&yaml, NODE("m%d", "1"), i);
    view_open(&v, yaml.ptr, "");
    view_open(&none, NODE("n1", "4"), "");
    look_at(f, none.snapshot);
    nodes(f, &slow);
    for (int i = 0; i < 3; i++) {
        look_at(f, v.snapshot);
        nodes(f, &quick);
        look_at(f, none.snapshot);
        nodes(f, &quick);
        assert_true(i == 0 || strstr(f->told.ptr, "event: begin\n") == NULL);
    }
    expect("from the beginning", nodes(f, &slow), "{\"gone\":[],\"nodes\":[{\"n\":\"n1\",");
    assert_non_null(strstr(f->told.ptr, "event: begin\n"));
    board_rest(f->board); /* its snapshot is the store's */
    buf_release(&yaml);
    view_close(&none);
    view_close(&v);
}

static void test_rest(void **state)
{
    struct fixture *f = *state;
    struct board_reader r = {0};
    struct view v;
    view_open(&v, NODE("n1", "4"), "");
    look_at(f, v.snapshot);
    nodes(f, &r);
    board_rest(f->board);
    look_at(f, v.snapshot);
    expect("a reader who was only slow", nodes(f, &r), "{\"gone\":[],\"nodes\":[{\"n\":\"n1\",");
    assert_non_null(strstr(f->told.ptr, "event: begin\n"));
    board_rest(f->board); /* its snapshot is the store's */
    view_close(&v);
}

static void test_parts(void **state)
{
    struct fixture *f = *state;
    struct board_reader r = {0};
    struct view v;
    view_open(&v, NODE("n1", "4"), "");
    look_at(f, v.snapshot);
    nodes(f, &r);
    for (int part = 0; part < PAGE_PART_COUNT; part++) {
        char text[64];
        snprintf(text, sizeof(text), "event: part\ndata: {\"name\":\"%s\",\"html\":\"<", page_part_name((enum page_part)part));
        expect("every part at first", f->told.ptr, text);
    }
    expect("no groups", f->told.ptr, "event: groups\ndata: []\n\n");
    page_decided(f->page, &(struct decision){.subject = "buy", .sentence = SPAN("general-x"), .per_hour = NAN, .id = "d-1",
                                             .about = {KIND_NODE_CLAIM, {NULL, 0}, SPAN("general-x"), {NULL, 0}}});
    look_at(f, v.snapshot);
    nodes(f, &r);
    expect("the one that changed", f->told.ptr, "{\"name\":\"decisions\",");
    expect("leads to the node", f->told.ptr, "<a href=\\\"#node/general-x\\\">general-x</a>");
    lacks("no other", f->told.ptr, "{\"name\":\"summary\",");
    lacks("nor groups", f->told.ptr, "event: groups");
    lacks("time alone changes nothing", f->told.ptr, "As of");
    board_rest(f->board); /* its snapshot is the store's */
    view_close(&v);
}

static void test_history(void **state)
{
    struct fixture *f = *state;
    struct board_reader r = {0};
    struct view v;
    view_open(&v, NODE("n1", "4"), "");
    look_at(f, v.snapshot);
    page_sample(f->page, &(struct page_view){v.snapshot, v.world, NULL, 60000, f->groups});
    nodes(f, &r);
    expect("all there is", f->told.ptr, "event: history\ndata: {\"stepMillis\":30000,\"points\":[[60000,");
    page_sample(f->page, &(struct page_view){v.snapshot, v.world, NULL, 90000, f->groups});
    nodes(f, &r);
    expect("what is new", f->told.ptr, "\"points\":[[90000,");
    lacks("and not what was told", f->told.ptr, "[60000,");
    nodes(f, &r);
    assert_int_equal(f->told.len, 1);
    board_rest(f->board); /* its snapshot is the store's */
    view_close(&v);
}

/* Nodes of groups count in the boxes, the headline and the chart with what the last pass says that they cost. */
static void test_prices_of_groups(void **state)
{
    struct fixture *f = *state;
    struct board_reader r = {0};
    struct view v;
    struct span members[] = {SPAN("n1"), SPAN("n2")};
    struct group_answer group = {.group = SPAN("md-0"), .json = SPAN("{}"), .nodes = members, .node_count = 2};
    struct groups_told told = {.groups = &group, .group_count = 1};
    view_open(&v, NODE("n1", "4") NODE("n2", "8") NODE("n3", "8"), "");
    look_at(f, v.snapshot);
    expect("nobody has said whose it is", nodes(f, &r), "{\"n\":\"n1\",\"s\":\"not ours\",\"a\":");
    group_answers_set(f->groups, &told);
    look_at(f, v.snapshot);
    const char *got = nodes(f, &r);
    expect("of a group without a price", got, "{\"n\":\"n1\",\"g\":\"md-0\",\"s\":\"ready\",\"a\":");
    lacks("one of none stays as it was", got, "\"n3\"");
    group.has_price = true;
    group.price = 0.25;
    group_answers_set(f->groups, &told);
    look_at(f, v.snapshot);
    page_sample(f->page, &(struct page_view){v.snapshot, v.world, NULL, 60000, f->groups});
    got = nodes(f, &r);
    expect("with one", got, "{\"n\":\"n1\",\"g\":\"md-0\",\"s\":\"ready\",\"$\":0.25,\"a\":");
    expect("the headline", f->told.ptr, "<b>$0.5000</b> an hour, $365 a month");
    expect("the last hours", f->told.ptr, "\"points\":[[60000,0.5,");
    group_answers_set(f->groups, NULL); /* somebody else leads */
    look_at(f, v.snapshot);
    expect("forgotten", nodes(f, &r), "{\"n\":\"n1\",\"s\":\"not ours\",\"a\":");
    board_rest(f->board); /* its snapshot is the store's */
    view_close(&v);
}

static void test_pauses(void **state)
{
    struct fixture *f = *state;
    struct board_sources s = {.page = f->page, .version = 1};
    assert_true(board_is_due(f->board, 1, 100));
    board_look(f->board, &s, 100);
    board_took(f->board, 3);
    assert_false(board_is_due(f->board, 1, 5000)); /* nothing new */
    assert_false(board_is_due(f->board, 2, 100 + BOARD_PAUSE_MS - 1));
    assert_true(board_is_due(f->board, 2, 100 + BOARD_PAUSE_MS));
    s.version = 2;
    board_look(f->board, &s, 2000);
    board_took(f->board, 400); /* a large cluster: a twentieth of the time */
    assert_false(board_is_due(f->board, 3, 2000 + 400 * BOARD_SHARE - 1));
    assert_true(board_is_due(f->board, 3, 2000 + 400 * BOARD_SHARE));
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {ROW(test_changes_alone), ROW(test_nodes_that_go), ROW(test_more_than_is_remembered),
                                       ROW(test_rest), ROW(test_parts), ROW(test_history),
                                       ROW(test_prices_of_groups), ROW(test_pauses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
