#include "server/page/moves.h"

#include <math.h>

#include "server/html.h"

const char *moves_how_far(enum move_state s)
{
    static const char *const texts[] = {[MOVE_RECOMMENDED] = "recommended, not made",
                                        [MOVE_WAITS] = "waits to be judged again",
                                        [MOVE_MARKS] = "begins",
                                        [MOVE_READIES] = "is made ready",
                                        [MOVE_REMOVES] = "nodes leave"};
    return texts[s];
}

/* Each links to its row. */
static void put_nodes(struct render *r, const struct move *m)
{
    enum { NAMED = 5 };
    for (uint32_t i = 0; i < m->node_count && i < NAMED; i++) {
        render_put(r, i != 0 ? ", <a href=\"#node/" : "<a href=\"#node/");
        html_text(r->out, m->nodes[i]);
        render_put(r, "\">");
        html_text(r->out, m->nodes[i]);
        render_put(r, "</a>");
    }
    if (m->node_count > NAMED)
        html_text(r->out, arena_printf(&r->a, " and %u more", m->node_count - NAMED));
}

static void put_move(struct render *r, const struct move *m)
{
    render_row(r, "move", (struct span){NULL, 0}, m->id);
    render_cell(r, "nodes", "");
    put_nodes(r, m);
    render_cell(r, "how far", "");
    render_put(r, "<a href=\"#move/");
    html_text(r->out, m->id);
    render_put(r, "\">");
    html_text(r->out, span_of(moves_how_far(m->state)));
    render_put(r, "</a>");
    render_cell(r, "move", "");
    html_text(r->out, m->text.len != 0 ? m->text : disruption_reason_label(m->reason));
    render_number(r, "saves $/hour", m->savings);
    if (!isnan(m->savings))
        html_price(r->out, m->savings);
    render_number(r, "evicts", m->evictions);
    html_text(r->out, arena_printf(&r->a, "%u", m->evictions));
    render_put(r, "</tr>");
}

void moves_put(struct render *r)
{
    static const struct render_column columns[] = {
        {"nodes", false}, {"how far", false}, {"move", false}, {"saves $/hour", true}, {"evicts", true}};
    struct moves m = page_memory_moves(r->memory, &r->a);
    render_table(r, "moves", "Moves", m.all, columns, COUNT_OF(columns));
    for (uint32_t i = 0; i < m.count; i++)
        put_move(r, &m.items[i]);
    render_table_end(r, "moves", m.count, m.all, "No node is to leave.");
}
