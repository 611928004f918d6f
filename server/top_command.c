#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "server/colour.h"
#include "server/command.h"
#include "server/fetch.h"
#include "server/plan_command.h"
#include "server/top.h"

enum { REFRESH_MS = 2000 /* a person reads no faster, and a page is made for each */ };

/* --- what is shown --- */

static bool from_server(struct arena *a, const struct options *o, struct fleet_view *out, struct err *err)
{
    struct buf url = {0}, reply = {0};
    struct span base = span_of(o->server);
    int code = 0;
    while (base.len != 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    buf_addf(&url, "%.*s/fleet", SPAN_ARG(base));
    bool ok = fetch_text(url.ptr, o->page_token_file, &code, &reply, err);
    struct span text = buf_span(&reply);
    while (text.len != 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (ok && code != 200)
        ok = err_set(err, ERR_NOT_FOUND, "%s: %.*s", url.ptr, SPAN_ARG(text));
    ok = ok && fleet_decode(a, text, out, err);
    buf_release(&url);
    buf_release(&reply);
    return ok;
}

/* The world lives no longer than `o`; what is shown of it is copied by being printed. */
static void from_world(struct arena *a, const struct input *o, const struct world *w, struct fleet_view *out)
{
    fleet_of(a, &(struct places_view){.world = w}, o->syms, out);
    for (size_t i = 0; i < o->kinds[KIND_POD].count; i++) {
        const struct pod *p = o->kinds[KIND_POD].items[i];
        out->waiting += pod_is_pending(p) && !pod_is_terminal(p) && p->meta.deleted == 0;
    }
}

static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') /* the first that is set counts */
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static struct top_screen screen(bool terminal)
{
    struct winsize size;
    struct top_screen s = {.width = 80, .plain = !is_utf8()};
    s.colour = colour_wanted(isatty(STDOUT_FILENO) == 1, command_environment);
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        s.width = size.ws_col;
        s.height = terminal ? size.ws_row : 0;
    }
    return s;
}

/* --- once --- */

static bool print_once(const struct fleet_view *f, const struct options *options, struct err *err)
{
    struct buf text = {0};
    if (options->output != OUTPUT_TABLE) {
        fleet_json(&text, f);
        buf_add_char(&text, '\n');
        return command_print(&text, options->output == OUTPUT_YAML, err);
    }
    struct top_screen s = screen(false);
    top_put(&text, f, &s, (struct span){NULL, 0});
    bool ok = fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    buf_release(&text);
    return ok || err_set(err, ERR_INTERNAL, "standard output cannot be written");
}

static int top_files(const struct options *options, struct err *err)
{
    struct input o;
    struct plan_reading r;
    int status = 2;
    input_init(&o);
    if (plan_read(&o, options, &r, err)) {
        struct fleet_view f;
        from_world(&o.arena, &o, r.world, &f);
        status = print_once(&f, options, err) ? 0 : 2;
        world_free(r.world);
    }
    input_release(&o);
    return status;
}

/* --- on a terminal --- */

static const char ENTER[] = "\033[?1049h\033[?25l"; /* a screen of its own, no cursor */
static const char LEAVE[] = "\033[?25h\033[?1049l";
static struct termios before; /* as the terminal was found: signal handlers have no other way to it */
static volatile sig_atomic_t has_before;

static void restore(void)
{
    if (has_before)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    ssize_t n = write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
    (void)n; /* it is gone, then */
}

static void on_signal(int number)
{
    restore();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_resize(int number)
{
    (void)number; /* poll ends */
}

static void take_over(void)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    act.sa_handler = on_resize;
    sigaction(SIGWINCH, &act, NULL);
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &before) == 0) {
        has_before = 1;
        raw = before;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fwrite(ENTER, 1, sizeof(ENTER) - 1, stdout);
}

/* Over what was there, so that nothing flickers; no newline after the last line, which would scroll. */
static void draw(const struct buf *lines)
{
    struct buf out = {0};
    struct span line, rest = buf_span(lines);
    buf_addf(&out, "\033[H");
    while (rest.len != 0) {
        line = span_cut(rest, '\n', &rest);
        buf_addf(&out, "%.*s\033[K%s", SPAN_ARG(line), rest.len != 0 ? "\r\n" : "");
    }
    buf_addf(&out, "\033[J");
    fwrite(out.ptr, 1, out.len, stdout);
    fflush(stdout);
    buf_release(&out);
}

struct live {
    const struct options *options;
    struct arena a[2]; /* of what is shown, and of what is asked for */
    uint32_t current;
    struct fleet_view view;
    char trouble[256];
    enum top_sort sort;
    uint32_t first;
};

/* What is shown stays while nobody answers. */
static bool refresh(struct live *l, struct err *err)
{
    struct fleet_view next;
    uint32_t other = 1 - l->current;
    arena_clear(&l->a[other]);
    if (!from_server(&l->a[other], l->options, &next, err)) {
        snprintf(l->trouble, sizeof(l->trouble), "%.200s", err->msg);
        return false;
    }
    l->view = next;
    l->current = other;
    l->trouble[0] = '\0';
    return true;
}

static void show(struct live *l)
{
    struct buf text = {0};
    struct top_screen s = screen(true);
    s.sort = l->sort;
    s.first = l->first;
    l->first = top_put(&text, &l->view, &s, span_of(l->trouble));
    draw(&text);
    buf_release(&text);
}

/* False: to leave. Of an arrow the bytes before its letter mean nothing. */
static bool press(struct live *l, char key)
{
    switch (key) {
    case 'q':
    case 4: /* Ctrl-D */
        return false;
    case 's':
        l->sort = (enum top_sort)((l->sort + 1) % TOP_SORT_COUNT);
        l->first = 0;
        break;
    case 'j':
    case 'B':
        l->first++;
        break;
    case 'k':
    case 'A':
        l->first -= l->first != 0;
        break;
    case ' ':
        l->first += 20;
        break;
    case 'b':
        l->first -= l->first < 20 ? l->first : 20;
        break;
    default:
        break;
    }
    return true;
}

/* Until it is time to ask again. False: to leave. */
static bool await(struct live *l)
{
    struct pollfd in = {.fd = has_before ? STDIN_FILENO : -1, .events = POLLIN};
    char keys[64];
    if (poll(&in, 1, REFRESH_MS) <= 0)
        return true; /* also when the window has another size */
    ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));
    if (n == 0 || (n < 0 && errno != EINTR))
        return false; /* nobody is there any more */
    for (ssize_t i = 0; i < n; i++)
        if (!press(l, keys[i]))
            return false;
    return true;
}

static int top_live(const struct options *options, struct err *err)
{
    struct live l = {.options = options};
    int status = 2;
    arena_init(&l.a[0], 0);
    arena_init(&l.a[1], 0);
    if (!refresh(&l, err)) {
        err_wrap(err, "no server answers (--server); --with-cluster or -f FILE shows the nodes without one");
    } else if (options->output != OUTPUT_TABLE || !isatty(STDOUT_FILENO)) {
        status = print_once(&l.view, options, err) ? 0 : 2;
    } else {
        struct err last = {0};
        take_over();
        do
            show(&l);
        while (await(&l) && (refresh(&l, &last), true));
        restore();
        status = 0;
    }
    arena_release(&l.a[0]);
    arena_release(&l.a[1]);
    return status;
}

/* --- the command --- */

static int top(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct options options;
    bool help;
    if (!options_read(a, OPTION_TOP, argc, argv, command_environment, &options, &help, err))
        return 2;
    if (help)
        return command_help("top");
    if (options.output > OUTPUT_YAML) {
        err_set(err, ERR_INVALID, "top answers with -o table, json or yaml");
        return 2;
    }
    return options.files.count != 0 || options.with_cluster ? top_files(&options, err) : top_live(&options, err);
}

int command_top(int argc, char *const *argv)
{
    return command_once("top", top, argc, argv);
}
