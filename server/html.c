#include "server/html.h"

#include <math.h>
#include <stdlib.h>

#include "kube/meta.h"

void html_text(struct buf *out, struct span text)
{
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *with = NULL;
        switch (text.ptr[i]) {
        case '&':
            with = "&amp;";
            break;
        case '<':
            with = "&lt;";
            break;
        case '>':
            with = "&gt;";
            break;
        case '"':
            with = "&quot;";
            break;
        default:
            continue;
        }
        buf_add(out, (struct span){text.ptr + from, i - from});
        buf_add(out, span_of(with));
        from = i + 1;
    }
    if (from < text.len)
        buf_add(out, (struct span){text.ptr + from, text.len - from});
}

/* Two digits that matter below ten, whole numbers from a hundred on. */
static void put_short(struct buf *out, double v)
{
    if (v == floor(v) || v >= 100)
        buf_addf(out, "%.0f", v);
    else
        buf_addf(out, "%.1f", v);
}

void html_cpu(struct buf *out, int64_t millicores)
{
    if (millicores != 0 && llabs(millicores) < 100)
        buf_addf(out, "%lldm", (long long)millicores);
    else
        put_short(out, (double)millicores / 1000);
}

void html_bytes(struct buf *out, int64_t bytes)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    double v = (double)bytes;
    size_t unit = 0;
    while (v >= 1024 && unit + 1 < COUNT_OF(units)) {
        v /= 1024;
        unit++;
    }
    put_short(out, v);
    buf_add(out, span_of(units[unit]));
}

void html_price(struct buf *out, double per_hour)
{
    if (isnan(per_hour))
        buf_add(out, SPAN("–"));
    else
        buf_addf(out, fabs(per_hour) < 10 ? "$%.4f" : "$%.2f", per_hour);
}

void html_age(struct buf *out, span_ms age)
{
    span_ms s = age < 0 ? 0 : age / MS_SECOND;
    if (s < 120)
        buf_addf(out, "%llds", (long long)s);
    else if (s < 7200)
        buf_addf(out, "%lldm", (long long)(s / 60));
    else if (s < 172800)
        buf_addf(out, "%lldh", (long long)(s / 3600));
    else
        buf_addf(out, "%lldd", (long long)(s / 86400));
}

void html_clock(struct buf *out, wall_ms t)
{
    struct arena a;
    arena_init(&a, 0);
    struct span text = time_text(&a, t);
    struct span rest;
    span_cut(text, 'T', &rest);
    struct span clock = span_cut(rest, 'Z', &rest);
    buf_addf(out, "<time datetime=\"%.*s\">%.*s</time>", SPAN_ARG(text), SPAN_ARG(clock));
    arena_release(&a);
}
