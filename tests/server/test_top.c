/* `stowage top`: what is drawn, on a screen of any size, and the program itself on a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "server/command.h"
#include "server/top.h"

#define GIB ((int64_t)1 << 30)
#define NODE(name_, asked_, price_, ...)                                                                              \
    {.name = SPAN_INIT(name_), .pool = SPAN_INIT("general"), .type = SPAN_INIT("c-4x"), .zone = SPAN_INIT("zone-a"),  \
     .price = (price_), .cpu_asked = (asked_), .cpu_there = 4000, .memory_asked = 2 * GIB, .memory_there = 8 * GIB,   \
     .pods = 3, __VA_ARGS__}

static const struct fleet_node nodes[] = {
    NODE("general-a", 3000, 0.1, .capacity_type = SPAN_INIT("on-demand")),
    NODE("general-b", 1000, 0.2, .capacity_type = SPAN_INIT("spot"), .state = FLEET_LEAVING),
    NODE("general-c", 0, NAN, .state = FLEET_COMING, .planned = 7),
};
static const struct fleet_node grouped[] = {{.name = SPAN_INIT("m-1"), .group = SPAN_INIT("workers"), .price = 0.25}};
static const struct fleet_line without[] = {{SPAN_INIT("shop/big-0"), SPAN_INIT("it asks for 200 CPUs")},
                                            {SPAN_INIT("shop/big-1"), SPAN_INIT("it asks for 200 CPUs")},
                                            {SPAN_INIT("shop/big-2"), SPAN_INIT("it asks for 200 CPUs")},
                                            {SPAN_INIT("shop/big-3"), SPAN_INIT("it asks for 200 CPUs")}};
static const struct fleet_line moves[] = {{SPAN_INIT("d-1"), SPAN_INIT("readies: remove general-b")}};
static const struct fleet_view small = {.nodes = nodes,
                                        .node_count = COUNT_OF(nodes),
                                        .running = 9,
                                        .waiting = 11,
                                        .without = without,
                                        .without_count = COUNT_OF(without),
                                        .without_all = 40,
                                        .moves = moves,
                                        .move_count = 1,
                                        .move_all = 1};

static void expect(const struct fleet_view *f, struct top_screen s, const char *trouble, const char *want)
{
    struct buf out = {0};
    top_put(&out, f, &s, span_of(trouble));
    if (strcmp(out.ptr, want) != 0)
        fail_msg("got:\n%swant:\n%s", out.ptr, want);
    buf_release(&out);
}

static void test_the_whole(void **state)
{
    (void)state;
    expect(&small, (struct top_screen){.width = 80, .plain = true}, "",
           "3 nodes, 9 pods run, 11 wait, 40 of them have no place\n"
           "$0.300 an hour, $219 a month, and 1 node whose price nobody knows\n"
           "cpu     #####...........  33% 4 of 12\n"
           "memory  ####............  25% 6Gi of 24Gi\n"
           "\n"
           "NODE       POOL    CPU           MEMORY        PODS   $/HOUR  WHAT\n"
           "general-a  general ######..  75% ##......  25%    3   0.1000  c-4x zone-a\n"
           "general-b  general ##......  25% ##......  25%    3   0.2000  leaving c-4x zone-\n"
           "general-c  general ........   0% ##......  25%    3        ?  coming +7 pods c-4\n"
           "\n"
           "NO PLACE shop/big-0  it asks for 200 CPUs\n"
           "NO PLACE shop/big-1  it asks for 200 CPUs\n"
           "NO PLACE shop/big-2  it asks for 200 CPUs\n"
           "         and 37 more\n"
           "MOVE     d-1  readies: remove general-b\n");
}

/* What a small screen has no room for goes from the right; figures stay. */
static void test_a_small_screen(void **state)
{
    (void)state;
    struct fleet_view f = {.nodes = nodes, .node_count = COUNT_OF(nodes)};
    struct fleet_view one = {.nodes = nodes, .node_count = 1, .running = 1, .waiting = 1, .without_all = 1};
    struct buf out = {0};
    top_put(&out, &one, &(struct top_screen){.width = 80, .plain = true}, (struct span){NULL, 0});
    assert_non_null(strstr(out.ptr, "1 node, 1 pod runs, 1 waits, 1 of them has no place\n"));
    buf_release(&out);
    expect(&f, (struct top_screen){.width = 40, .height = 10, .plain = true, .sort = TOP_BY_PRICE, .first = 9}, "no answer",
           "3 nodes, 0 pods run, 0 wait\n"
           "$0.300 an hour, $219 a month, and 1 node\n"
           "cpu     #####...........  33% 4 of 12\n"
           "memory  ####............  25% 6Gi of 24G\n"
           "old: no answer\n"
           "\n"
           "NODE       CPU           PODS   $/HOUR\n"
           "general-a  ######..  75%    3   0.1000\n"
           "general-c  ........   0%    3        ?\n"
           "q leaves  s sorts (price)  j k scroll  n\n");
}

/* No line is wider than the screen, nor are there more than it has, whatever there is to show. */
static void test_any_size(void **state)
{
    (void)state;
    enum { MANY = 200 };
    static struct fleet_node many[MANY];
    static char names[MANY][80];
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(names[i], sizeof(names[i]), "%s%d", i % 3 == 0 ? "a-very-long-name-of-a-node-in-some-cloud-" : "n", i);
        many[i] = nodes[i % 3];
        many[i].name = (struct span){names[i], (size_t)n};
    }
    struct fleet_view f = small;
    f.nodes = many;
    f.node_count = MANY;
    for (uint32_t width = 40; width <= 240; width += 7)
        for (uint32_t height = 20; height <= 90; height += 5) {
            struct buf out = {0};
            struct top_screen s = {.width = width, .height = height, .sort = (enum top_sort)(width % TOP_SORT_COUNT),
                                   .first = height * 3};
            assert_true(top_put(&out, &f, &s, SPAN("the server does not answer")) <= MANY);
            uint32_t lines = 0;
            for (struct span line, rest = buf_span(&out); rest.len != 0; lines++) {
                line = span_cut(rest, '\n', &rest);
                uint32_t columns = 0;
                for (const char *at = line.ptr, *end = line.ptr + line.len; at != end; columns++)
                    at += utf8_length(at, end);
                if (columns > width)
                    fail_msg("%u columns of %u: %.*s", columns, width, SPAN_ARG(line));
            }
            if (lines > height)
                fail_msg("%u lines of %u", lines, height);
            buf_release(&out);
        }
}

/* Names come from the cluster: they steer no terminal. */
static void test_hostile_names(void **state)
{
    (void)state;
    struct fleet_node evil = {.name = SPAN("x\033[2Jy\n\xff"), .price = 1};
    struct fleet_view f = {.nodes = &evil, .node_count = 1};
    struct buf out = {0};
    top_put(&out, &f, &(struct top_screen){.width = 80, .plain = true}, (struct span){NULL, 0});
    assert_null(strchr(out.ptr, '\033'));
    assert_non_null(strstr(out.ptr, "\nx\\u001b[2J "));
    buf_release(&out);
}

static void test_sorts(void **state)
{
    (void)state;
    static const struct {
        enum top_sort sort;
        const char *first;
    } rows[] = {{TOP_BY_NAME, "general-a"}, {TOP_BY_CPU, "general-a"}, {TOP_BY_MEMORY, "general-a"},
                {TOP_BY_PRICE, "general-b"}, {TOP_BY_PODS, "general-a"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = {0};
        struct top_screen s = {.width = 80, .sort = rows[i].sort};
        top_put(&out, &small, &s, (struct span){NULL, 0});
        const char *at = strstr(out.ptr, "\ngeneral-");
        assert_non_null(at);
        assert_memory_equal(at + 1, rows[i].first, strlen(rows[i].first));
        buf_release(&out);
    }
}

/* What a server writes is what is shown. */
static void test_there_and_back(void **state)
{
    (void)state;
    struct buf json = {0}, here = {0}, there = {0};
    struct arena a;
    struct fleet_view f;
    struct err err;
    struct top_screen s = {.width = 100};
    arena_init(&a, 0);
    fleet_json(&json, &small);
    assert_true(fleet_decode(&a, buf_span(&json), &f, &err));
    top_put(&here, &small, &s, (struct span){NULL, 0});
    top_put(&there, &f, &s, (struct span){NULL, 0});
    assert_string_equal(there.ptr, here.ptr);
    buf_clear(&json);
    buf_clear(&there);
    fleet_json(&json, &(struct fleet_view){.nodes = grouped, .node_count = 1});
    assert_true(fleet_decode(&a, buf_span(&json), &f, &err));
    top_put(&there, &f, &s, (struct span){NULL, 0});
    assert_non_null(strstr(there.ptr, "m-1        workers "));
    assert_non_null(strstr(there.ptr, "$0.250 an hour"));
    static const char *const bad[] = {"", "[]", "{}", "{\"nodes\":{}}", "{\"nodes\":[", "7"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (fleet_decode(&a, span_of(bad[i]), &f, &err))
            fail_msg("%s was taken", bad[i]);
    assert_true(fleet_decode(&a, SPAN("{\"nodes\":[7,{\"name\":3,\"milliCPU\":[],\"pods\":-1}]}"), &f, &err));
    assert_int_equal(f.node_count, 2);
    assert_int_equal(f.nodes[1].pods, 0);
    arena_release(&a);
    buf_release(&json);
    buf_release(&here);
    buf_release(&there);
}

/* --- on a terminal --- */

struct answers { /* a server that gives the same answer to everybody, in a process of its own: a fork meets no threads */
    int port;
    pid_t pid;
};

static void answer_all(int fd, const struct buf *reply)
{
    for (int c; (c = accept(fd, NULL, NULL)) >= 0; close(c)) {
        char request[4096];
        if (read(c, request, sizeof(request)) > 0 && write(c, reply->ptr, reply->len) < 0)
            continue;
    }
}

static void answers_open(struct answers *s)
{
    struct buf json = {0}, reply = {0};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    s->port = ntohs(at.sin_port);
    fleet_json(&json, &small);
    buf_addf(&reply, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%.*s", json.len,
             SPAN_ARG(buf_span(&json)));
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        answer_all(fd, &reply);
        _exit(0);
    }
    close(fd);
    buf_release(&json);
    buf_release(&reply);
}

static void answers_close(struct answers *s)
{
    kill(s->pid, SIGKILL);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}

/* Reads what the program shows until the text is there. */
static void await_text(int terminal, struct buf *seen, const char *text)
{
    char piece[4096];
    while (seen->len == 0 || strstr(seen->ptr, text) == NULL) {
        struct pollfd p = {.fd = terminal, .events = POLLIN};
        if (poll(&p, 1, 60000) <= 0)
            fail_msg("\"%s\" does not come; there is: %s", text, seen->len != 0 ? seen->ptr : "nothing");
        ssize_t n = read(terminal, piece, sizeof(piece));
        if (n <= 0)
            fail_msg("it ended before \"%s\": %s", text, seen->len != 0 ? seen->ptr : "nothing");
        buf_add(seen, (struct span){piece, (size_t)n});
    }
}

static pid_t start(struct answers *s, int *terminal)
{
    char server[64];
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    snprintf(server, sizeof(server), "--server=http://127.0.0.1:%d", s->port);
    pid_t pid = forkpty(terminal, NULL, NULL, &size);
    if (pid == 0) {
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("NO_COLOR");
        _exit(command_top(1, (char *const[]){server, NULL}));
    }
    assert_true(pid > 0);
    return pid;
}

/* Of 80 columns and 24 lines; keys do what the last line says, and the terminal is left as it was found. */
static void test_a_terminal(void **state)
{
    (void)state;
    struct answers s;
    struct buf seen = {0};
    int terminal, status;
    answers_open(&s);
    pid_t pid = start(&s, &terminal);
    await_text(terminal, &seen, "q leaves  s sorts (name)  j k scroll  nodes 1 to 3 of 3");
    assert_non_null(strstr(seen.ptr, "\033[?1049h"));
    assert_non_null(strstr(seen.ptr, "██████░░"));
    assert_int_equal(write(terminal, "s", 1), 1);
    await_text(terminal, &seen, "s sorts (cpu)");
    struct winsize narrow = {.ws_row = 24, .ws_col = 40};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &narrow), 0);
    await_text(terminal, &seen, "q leaves  s sorts (cpu)  j k scroll  nod\033");
    assert_int_equal(write(terminal, "q", 1), 1);
    await_text(terminal, &seen, "\033[?1049l");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(terminal);
    answers_close(&s);
    buf_release(&seen);
}

/* Who presses Ctrl-C finds the terminal as it was, too. */
static void test_interrupted(void **state)
{
    (void)state;
    struct answers s;
    struct buf seen = {0};
    int terminal, status;
    answers_open(&s);
    pid_t pid = start(&s, &terminal);
    await_text(terminal, &seen, "q leaves");
    assert_int_equal(write(terminal, "\003", 1), 1);
    await_text(terminal, &seen, "\033[?25h\033[?1049l");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    close(terminal);
    answers_close(&s);
    buf_release(&seen);
}

/* What was shown stays, and is called old, while nobody answers. */
static void test_server_goes(void **state)
{
    (void)state;
    struct answers s;
    struct buf seen = {0};
    int terminal, status;
    answers_open(&s);
    pid_t pid = start(&s, &terminal);
    await_text(terminal, &seen, "q leaves");
    answers_close(&s);
    await_text(terminal, &seen, "old: ");
    assert_int_equal(write(terminal, "q", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(terminal);
    buf_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole),      cmocka_unit_test(test_a_small_screen), cmocka_unit_test(test_any_size),
        cmocka_unit_test(test_hostile_names),  cmocka_unit_test(test_sorts),          cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_a_terminal),     cmocka_unit_test(test_interrupted),    cmocka_unit_test(test_server_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
