#include "server/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/safe_text.h"
#include "kube/meta.h"

static void put_safe(struct buf *out, struct span text)
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

void html_text(struct buf *out, struct span text)
{
    struct buf line = {0};
    if (text.len <= SAFE_LINE_MAX && safe_text_is(text, false)) {
        put_safe(out, text);
        return;
    }
    safe_line_add(&line, text);
    put_safe(out, buf_span(&line));
    buf_release(&line);
}

/* Digits with a comma after each three, counted from the end. */
static void put_grouped(struct buf *out, const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && (count - i) % 3 == 0)
            buf_add_char(out, ',');
        buf_add_char(out, digits[i]);
    }
}

void html_count(struct buf *out, uint64_t n)
{
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
    put_grouped(out, digits, count > 0 ? (size_t)count : 0);
}

/* Two digits that matter below ten, whole numbers from a hundred on. */
static void put_short(struct buf *out, double v)
{
    if (v >= 100 || (v >= 0 && v == floor(v)))
        html_count(out, (uint64_t)round(v));
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

static void put_price(struct buf *out, double per_hour)
{
    char text[64];
    if (fabs(per_hour) < 10) {
        buf_addf(out, "$%.4f", per_hour);
        return;
    }
    int count = snprintf(text, sizeof(text), "%.2f", fabs(per_hour));
    size_t whole = count > 3 && (size_t)count < sizeof(text) ? (size_t)count - 3 : 0; /* ".00" */
    buf_add(out, per_hour < 0 ? SPAN("$-") : SPAN("$"));
    put_grouped(out, text, whole);
    buf_add(out, (struct span){text + whole, strlen(text) - whole});
}

void html_price(struct buf *out, double per_hour)
{
    if (isnan(per_hour))
        buf_add(out, SPAN("–"));
    else
        put_price(out, per_hour);
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
