/* simulation: what `stowage simulate` answers: a scenario that was played once, or twice to be compared. */
#ifndef SERVER_SIMULATION_H
#define SERVER_SIMULATION_H

#include "base/buf.h"
#include "sim/scenario/play.h"

enum { SIMULATION_RUNS_MAX = 2 };

struct simulation_run {
    const char *title;  /* STOWAGE */
    const char *search; /* cheapest */
    struct totals totals;
};

struct simulation {
    const struct scenario *scenario;
    struct simulation_run runs[SIMULATION_RUNS_MAX];
    uint32_t count;
};

void simulation_table(struct buf *out, const struct simulation *s, uint32_t width);
void simulation_json(struct buf *out, const struct simulation *s);
/* One HTML page that asks for nothing else: the table, and charts of price, nodes and waiting pods. */
void simulation_report(struct buf *out, const struct simulation *s);

/* What the table says, row by row, for both: NULL behind the last. */
struct simulation_row {
    const char *name;
    bool below; /* belongs to the row above */
    struct span cells[SIMULATION_RUNS_MAX];
    double values[SIMULATION_RUNS_MAX]; /* NAN: not to be compared */
};
const struct simulation_row *simulation_rows(struct arena *a, const struct simulation *s, uint32_t *count_out);
/* "-4.2 %" of the second value; absent: there is nothing to compare. */
struct span simulation_difference(struct arena *a, const struct simulation *s, const struct simulation_row *row);

#endif
