#include "planner/plan/grid.h"

#include "base/safe_text.h"
#include "base/wrap.h"

enum { GAP = 2 };

struct span *grid_row(struct grid *g)
{
    struct span row[GRID_COLUMNS] = {{0}};
    if (g->count == g->capacity) {
        g->capacity = g->capacity != 0 ? g->capacity * 2 : 16;
        void *more = arena_array(g->arena, g->capacity, sizeof(*g->rows));
        if (g->count != 0)
            memcpy(more, g->rows, g->count * sizeof(*g->rows));
        g->rows = more;
    }
    memcpy(g->rows[g->count], row, sizeof(row));
    return g->rows[g->count++];
}

/* By column; 0 for the one apart. Returns what they come to. */
static uint32_t measure(const struct grid *g, uint32_t widths[GRID_COLUMNS])
{
    uint32_t total = 0;
    for (uint32_t c = 0; c < g->columns; c++) {
        widths[c] = 0;
        if (c == g->apart)
            continue;
        for (uint32_t r = 0; r < g->count; r++)
            if (wrap_width(g->rows[r][c]) > widths[c])
                widths[c] = wrap_width(g->rows[r][c]);
        total += widths[c] + (c != 0 ? GAP : 0);
    }
    return total;
}

bool grid_suits(const struct grid *g, uint32_t width)
{
    uint32_t widths[GRID_COLUMNS];
    return width == 0 || measure(g, widths) <= width;
}

/* Bytes of the first `width` columns that are shown. */
static size_t text_cut(struct span s, uint32_t width)
{
    size_t i = 0;
    for (uint32_t n = 0; i < s.len; i++)
        if (((unsigned char)s.ptr[i] & 0xc0) != 0x80 && n++ == width)
            break;
    return i;
}

/* Shortens the cells of a column by what the grid is too wide, as long as something is left to read. */
static void shrink(struct grid *g, uint32_t column, uint32_t width)
{
    enum { LEAST = 10 };
    uint32_t widths[GRID_COLUMNS];
    uint32_t total = measure(g, widths);
    if (width == 0 || total <= width || widths[column] <= LEAST)
        return;
    uint32_t over = total - width;
    uint32_t to = widths[column] > over + LEAST ? widths[column] - over : LEAST;
    for (uint32_t r = 0; r < g->count; r++) {
        struct span *cell = &g->rows[r][column];
        if (wrap_width(*cell) > to)
            *cell = arena_printf(g->arena, "%.*s…", (int)text_cut(*cell, to - 1), cell->ptr);
    }
}

static void put_row(struct buf *out, const struct grid *g, const struct span *row,
                    const uint32_t widths[GRID_COLUMNS])
{
    uint32_t behind = 0; /* spaces that are due before the next cell: none at the end of a line */
    for (uint32_t c = 0; c < g->columns; c++) {
        if (c == g->apart)
            continue;
        uint32_t pad = widths[c] - wrap_width(row[c]);
        bool right = (g->right >> c) & 1;
        wrap_spaces(out, behind + (right ? pad : 0));
        buf_add(out, row[c]);
        behind = GAP + (right ? 0 : pad);
    }
    buf_add_char(out, '\n');
}

void grid_put(struct buf *out, struct grid *g, uint32_t width, uint32_t names)
{
    uint32_t widths[GRID_COLUMNS] = {0};
    for (uint32_t r = 0; r < g->count; r++)
        for (uint32_t c = 0; c < g->columns; c++)
            g->rows[r][c] = safe_line(g->arena, g->rows[r][c]);
    shrink(g, names, width);
    measure(g, widths);
    for (uint32_t r = 0; r < g->count; r++) {
        put_row(out, g, g->rows[r], widths);
        if (g->apart == GRID_NONE)
            continue;
        wrap_spaces(out, widths[0] + GAP);
        buf_add(out, g->rows[r][g->apart]);
        buf_add_char(out, '\n');
    }
}
