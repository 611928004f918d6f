#include "server/page/board_worker.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "server/clock.h"
#include "server/worker.h"

enum { NS_MS = 1000000 };

struct board_worker {
    struct board *board;
    struct worker *worker;
    bool begun;          /* the loop's: a look, which it has not seen end */
    _Atomic(bool) ended; /* by the thread, once it is done with the rest */
    struct board_sources sources;
    mono_ms now;
    span_ms took; /* of a core: whatever else runs there is no reason to look less often */
    struct http_waker done;
};

struct board_worker *board_worker_new(void)
{
    struct board_worker *w = mem_new(sizeof(*w));
    w->board = board_new();
    w->worker = worker_new();
    return w;
}

void board_worker_free(struct board_worker *w)
{
    if (w == NULL)
        return;
    worker_free(w->worker);
    board_free(w->board);
    free(w);
}

static struct shared *shared_of(const void *object)
{
    return (struct shared *)(uintptr_t)object;
}

static void refer(const void *object)
{
    if (object != NULL)
        shared_ref(shared_of(object));
}

static void let_go(const void *object)
{
    if (object != NULL)
        shared_unref(shared_of(object));
}

static void look(void *arg)
{
    struct board_worker *w = arg;
    struct http_waker done = w->done;
    uint64_t begun = clock_cpu_ns();
    board_look(w->board, &w->sources, w->now);
    w->took = (span_ms)((clock_cpu_ns() - begun) / NS_MS);
    let_go(w->sources.view.snapshot);
    let_go(w->sources.view.places);
    atomic_store_explicit(&w->ended, true, memory_order_release);
    http_wake(done);
}

struct board *board_worker_board(struct board_worker *w)
{
    if (w->begun && !atomic_load_explicit(&w->ended, memory_order_acquire))
        return NULL;
    if (w->begun)
        board_took(w->board, w->took);
    w->begun = false;
    return w->board;
}

void board_worker_look(struct board_worker *w, const struct board_sources *s, mono_ms now, struct http_waker done)
{
    struct board *b = board_worker_board(w);
    if (b == NULL || !board_is_due(b, s->version, now))
        return;
    refer(s->view.snapshot);
    refer(s->view.places);
    w->sources = *s;
    w->now = now;
    w->done = done;
    w->begun = true;
    atomic_store_explicit(&w->ended, false, memory_order_relaxed);
    worker_run(w->worker, look, w);
}
