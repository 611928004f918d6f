/* grid: cells in columns, for a terminal. The first row is the head. What of a cell is not safe to show becomes escapes. */
#ifndef PLANNER_PLAN_GRID_H
#define PLANNER_PLAN_GRID_H

#include "base/arena.h"
#include "base/buf.h"

enum { GRID_COLUMNS = 10, GRID_NONE = GRID_COLUMNS };

struct grid {
    struct arena *arena;
    uint32_t columns;
    uint32_t right; /* bit per column: aligned right */
    uint32_t apart; /* the column that has lines of its own, below those of the others; or GRID_NONE */
    struct span (*rows)[GRID_COLUMNS];
    uint32_t count, capacity;
};

/* A new row, empty; valid until the next one. */
struct span *grid_row(struct grid *g);
/* Whether no row is wider; width 0 suits all. */
bool grid_suits(const struct grid *g, uint32_t width);
/* Cells of the column `names` are cut when the grid is wider than `width`; 0: they are not. */
void grid_put(struct buf *out, struct grid *g, uint32_t width, uint32_t names);

#endif
