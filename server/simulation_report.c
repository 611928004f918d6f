/* One page of HTML with its style and its charts in it: it can be mailed, and opened without a network. */
#include "server/simulation.h"

#include <math.h>

#include "kube/meta.h"
#include "server/html.h"

enum { WIDTH = 960, HEIGHT = 220, LEFT = 64, BOTTOM = 24, TOP = 10, LABELS = 4 };

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1d2430;--paper:#fdfdfb;--faint:#69707d;--line:#dcdfe4;--a:#2f6f9f;--b:#a63b1e}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7ec;--paper:#14181f;--faint:#98a1b0;--line:#2c333e;--a:#5ea3d6;"
    "--b:#f0865f}}"
    "body{margin:0 auto;max-width:64rem;padding:1rem;color:var(--ink);background:var(--paper);"
    "font:15px/1.45 system-ui,sans-serif}h1{font-size:1.25rem;margin:0}h2{font-size:1.05rem;margin:1.6rem 0 .3rem}"
    "p{color:var(--faint);margin:.2rem 0 1rem}svg{width:100%;height:auto;display:block}"
    "svg text{fill:var(--faint);font-size:12px}svg .grid{stroke:var(--line)}"
    "svg polyline{fill:none;stroke-width:1.6}.a{stroke:var(--a)}.b{stroke:var(--b);stroke-dasharray:5 3}"
    ".key{font-size:.9rem}.key .k0{color:var(--a)}.key .k1{color:var(--b)}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.2rem 1.6rem .2rem 0;text-align:left;border-bottom:1px solid var(--line)}th{font-weight:normal;"
    "color:var(--faint)}td.n,th.n{text-align:right}td.below{padding-left:1rem;color:var(--faint)}";

static double value_of(const struct simulation_run *r, size_t offset, uint32_t step)
{
    return *(const double *)(const void *)((const char *)&r->totals.steps[step] + offset);
}

/* The least of 1, 2 or 5 times a power of ten that is no less. */
static double round_up(double v)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = v > 0 ? pow(10, floor(log10(v))) : 1;
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        if (v <= steps[i] * power)
            return steps[i] * power;
    return 10 * power;
}

static void put_scale(struct buf *out, double top, bool dollars)
{
    for (int i = 0; i <= LABELS; i++) {
        double y = TOP + (double)HEIGHT * i / LABELS, v = top * (LABELS - i) / LABELS;
        buf_addf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, LEFT + WIDTH, y, y);
        buf_addf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s%.*f</text>", LEFT - 6, y + 4,
                 dollars ? "$" : "", top < 4 ? 2 : top < 40 ? 1 : 0, v);
    }
}

static void put_times(struct buf *out, const struct scenario *s)
{
    bool days = s->duration >= 48 * MS_HOUR;
    for (int i = 0; i <= 6; i++) {
        double hours = (double)s->duration / (double)MS_HOUR * i / 6;
        buf_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", LEFT + (double)WIDTH * i / 6,
                 TOP + HEIGHT + BOTTOM - 6);
        if (days)
            buf_addf(out, "day %.4g</text>", round(hours / 24 * 10) / 10);
        else
            buf_addf(out, "%.3g h</text>", hours);
    }
}

static void put_curve(struct buf *out, const struct simulation_run *r, uint32_t run, size_t offset, double top)
{
    buf_addf(out, "<polyline class=\"%c\" points=\"", run == 0 ? 'a' : 'b');
    for (uint32_t i = 0; i < TALLY_STEPS; i++)
        buf_addf(out, "%s%.1f,%.1f", i == 0 ? "" : " ", LEFT + (double)WIDTH * (i + 0.5) / TALLY_STEPS,
                 TOP + HEIGHT * (1 - value_of(r, offset, i) / top));
    buf_add(out, SPAN("\"/>"));
}

static void put_chart(struct buf *out, const struct simulation *s, const char *title, size_t offset, bool dollars)
{
    double most = 0;
    for (uint32_t run = 0; run < s->count; run++)
        for (uint32_t i = 0; i < TALLY_STEPS; i++)
            most = fmax(most, value_of(&s->runs[run], offset, i));
    double top = round_up(most);
    buf_addf(out, "<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s over time\">", title,
             LEFT + WIDTH + 30, TOP + HEIGHT + BOTTOM, title);
    put_scale(out, top, dollars);
    put_times(out, s->scenario);
    for (uint32_t run = s->count; run > 0; run--) /* the first lies on top */
        put_curve(out, &s->runs[run - 1], run - 1, offset, top);
    buf_add(out, SPAN("</svg>\n"));
}

static void put_table(struct buf *out, const struct simulation *s)
{
    struct arena a;
    uint32_t count;
    arena_init(&a, 0);
    const struct simulation_row *rows = simulation_rows(&a, s, &count);
    buf_add(out, SPAN("<table><tr><th></th>"));
    for (uint32_t i = 0; i < s->count; i++)
        buf_addf(out, "<th class=\"n\">%s</th>", s->runs[i].title);
    if (s->count > 1)
        buf_add(out, SPAN("<th class=\"n\">DIFFERENCE</th>"));
    for (uint32_t r = 0; r < count; r++) {
        buf_addf(out, "</tr>\n<tr><td%s>", rows[r].below ? " class=\"below\"" : "");
        html_text(out, span_of(rows[r].name));
        buf_add(out, SPAN("</td>"));
        for (uint32_t i = 0; i < s->count; i++) {
            buf_add(out, SPAN("<td class=\"n\">"));
            html_text(out, rows[r].cells[i]);
            buf_add(out, SPAN("</td>"));
        }
        if (s->count > 1)
            buf_addf(out, "<td class=\"n\">%.*s</td>", SPAN_ARG(simulation_difference(&a, s, &rows[r])));
    }
    buf_add(out, SPAN("</tr></table>\n"));
    arena_release(&a);
}

static void put_key(struct buf *out, const struct simulation *s)
{
    static const char *const how[SIMULATION_RUNS_MAX] = {"whole line", "broken line"};
    buf_add(out, SPAN("<p class=\"key\">"));
    for (uint32_t i = 0; i < s->count && s->count > 1; i++)
        buf_addf(out, "<span class=\"k%u\">%s</span>: %s%s", i, s->runs[i].title, how[i],
                 i + 1 < s->count ? "; " : "");
    buf_add(out, SPAN("</p>\n"));
}

void simulation_report(struct buf *out, const struct simulation *s)
{
    struct arena a;
    arena_init(&a, 0);
    buf_add(out, SPAN("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                      "<meta name=\"viewport\" content=\"width=device-width\"><title>"));
    html_text(out, s->scenario->meta.name);
    buf_addf(out, " – stowage simulate</title><style>%s</style></head><body>\n<h1>", style);
    html_text(out, s->scenario->meta.name);
    buf_addf(out, "</h1><p>%.*s from %.*s, seed %lld</p>\n", SPAN_ARG(duration_text(&a, s->scenario->duration)),
             SPAN_ARG(time_text(&a, play_start(s->scenario))), (long long)s->scenario->seed);
    put_table(out, s);
    put_key(out, s);
    put_chart(out, s, "Price an hour", offsetof(struct tally_step, price), true);
    put_chart(out, s, "Nodes", offsetof(struct tally_step, nodes), false);
    put_chart(out, s, "Pods that wait", offsetof(struct tally_step, waiting), false);
    buf_add(out, SPAN("</body></html>\n"));
    arena_release(&a);
}
