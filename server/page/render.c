#include "server/page/render.h"

#include <math.h>

#include "server/html.h"

enum { PODS_LISTED_MAX = 40, PODS_LISTED_ALL = 5000 };

void render_put(struct render *r, const char *html)
{
    buf_add(r->out, span_of(html));
}

void render_cell(struct render *r, const char *label, const char *attributes)
{
    buf_addf(r->out, "<td data-label=\"%s\"%s>", label, attributes);
}

void render_age(struct render *r, wall_ms since)
{
    buf_addf(r->out, "<time data-since=\"%lld\">", (long long)since);
    if (!r->live)
        html_age(r->out, r->v->now - since);
    render_put(r, "</time>");
}

void render_number(struct render *r, const char *label, double value)
{
    buf_addf(r->out, "<td class=n data-label=\"%s\" data-v=\"%.15g\">", label,
             isnan(value) ? -1 : value);
}

void render_table(struct render *r, const char *id, const char *title, size_t count,
                  const struct render_column *columns, size_t column_count)
{
    buf_addf(r->out, "<h2>%s <span class=count id=\"%s-count\">", title, id);
    html_count(r->out, count);
    buf_addf(r->out, "</span></h2><table data-table=\"%s\"><thead><tr>", id);
    for (size_t i = 0; i < column_count; i++)
        buf_addf(r->out, "<th scope=col%s><button type=button>%s</button></th>",
                 columns[i].number ? " class=n" : "", columns[i].name);
    render_put(r, "</tr></thead><tbody>");
}

void render_table_end(struct render *r, const char *id, size_t shown, size_t all, const char *none)
{
    render_put(r, "</tbody></table>");
    buf_addf(r->out, "<p class=note id=\"%s-note\">", id);
    if (all == 0)
        render_put(r, none);
    else if (shown < all)
        buf_addf(r->out, "The first %zu of %zu.", shown, all);
    render_put(r, "</p>");
}

void render_row(struct render *r, const char *kind, struct span ns, struct span name)
{
    struct buf *out = r->out;
    buf_addf(out, "<tr id=\"%s/", kind);
    if (ns.len != 0) {
        html_text(out, ns);
        buf_add_char(out, '/');
    }
    html_text(out, name);
    buf_add(out, SPAN("\">"));
}

void render_name(struct render *r, const char *kind, struct span ns, struct span name)
{
    buf_addf(r->out, "<a href=\"#%s/", kind);
    if (ns.len != 0) {
        html_text(r->out, ns);
        buf_add_char(r->out, '/');
    }
    html_text(r->out, name);
    render_put(r, "\">");
    if (ns.len != 0) {
        html_text(r->out, ns);
        buf_add_char(r->out, '/');
    }
    html_text(r->out, name);
    render_put(r, "</a>");
}

void render_list(struct render *r, uint32_t count, struct span of)
{
    render_put(r, "<details><summary>");
    if (of.len != 0) {
        html_text(r->out, of);
        render_put(r, " ×");
    }
    html_count(r->out, count);
    render_put(r, "</summary><ul>");
}

bool render_list_pod(struct render *r, const struct pod *p, uint32_t so_far, bool linked)
{
    if (so_far >= PODS_LISTED_MAX || r->listed >= PODS_LISTED_ALL)
        return false;
    r->listed++;
    render_put(r, "<li");
    if (linked) {
        render_put(r, " id=\"pod/");
        html_text(r->out, p->meta.ns);
        render_put(r, "/");
        html_text(r->out, p->meta.name);
        render_put(r, "\"");
    }
    render_put(r, ">");
    html_text(r->out, p->meta.ns);
    render_put(r, "/");
    html_text(r->out, p->meta.name);
    return true;
}

void render_list_end(struct render *r, uint32_t shown, uint32_t count)
{
    if (shown < count)
        buf_addf(r->out, "<li>and %u more", count - shown);
    render_put(r, "</ul></details>");
}
