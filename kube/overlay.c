#include "kube/overlay.h"

#include <stdlib.h>

enum { NUMBER_MAX = 64 }; /* characters of a price that are read */

/* "12", "1.5", with `bare` also ".5"; the whole text. */
static bool is_number(struct span s, bool bare)
{
    size_t whole = 0, part = 0, at = 0;
    for (; at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++)
        whole++;
    if (at < s.len && s.ptr[at] == '.') {
        for (at++; at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++)
            part++;
        if (part == 0)
            return false;
    }
    return at == s.len && s.len < NUMBER_MAX && (whole != 0 || (bare && part != 0));
}

static double number(struct span s)
{
    char text[NUMBER_MAX];
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return strtod(text, NULL);
}

static struct span after_sign(struct span s)
{
    return (struct span){s.ptr + 1, s.len - 1};
}

/* +x, -x, +x%, -x% with x up to 100 there. */
static bool is_adjustment(struct span s)
{
    if (s.len < 2 || (s.ptr[0] != '+' && s.ptr[0] != '-'))
        return false;
    struct span x = after_sign(s);
    bool percent = span_has_suffix(x, SPAN("%"));
    if (percent)
        x.len--;
    bool less = s.ptr[0] == '-';
    return is_number(x, !(percent && less)) && !(percent && less && number(x) > 100);
}

bool node_overlay_valid(const struct node_overlay *o, const struct label_rules *rules,
                        struct symtab *syms, struct err *err)
{
    static const sym fixed[] = {SYM_CPU, SYM_MEMORY, SYM_EPHEMERAL_STORAGE, SYM_PODS};
    if (o->meta.excess != SYM_NONE) {
        struct span text, path = span_cut(sym_text(syms, o->meta.excess), ' ', &text);
        return err_set(err, ERR_INVALID, "%.*s: %.*s", SPAN_ARG(path), SPAN_ARG(text));
    }
    if (o->price.ptr != NULL && o->adjustment.ptr != NULL)
        return err_set(err, ERR_INVALID, "spec: cannot set both 'price' and 'priceAdjustment'");
    if (o->price.ptr != NULL && !is_number(o->price, false))
        return err_set(err, ERR_INVALID, "spec.price: \"%.*s\" is not a price like \"0.25\"",
                       SPAN_ARG(o->price));
    if (o->adjustment.ptr != NULL && !is_adjustment(o->adjustment))
        return err_set(err, ERR_INVALID,
                       "spec.priceAdjustment: \"%.*s\" is not an adjustment like \"+0.05\" or "
                       "\"-10%%\"",
                       SPAN_ARG(o->adjustment));
    for (uint32_t i = 0; i < o->requirements.count; i++)
        if (!expression_valid(rules, &o->requirements.items[i], syms, err))
            return err_wrap(err, "spec.requirements[%u]", i);
    for (uint32_t i = 0; i < o->capacity.count; i++)
        for (size_t k = 0; k < COUNT_OF(fixed); k++)
            if (o->capacity.items[i].name == fixed[k])
                return err_set(err, ERR_INVALID, "spec.capacity: invalid resource restricted: %.*s",
                               SPAN_ARG(sym_text(syms, fixed[k])));
    return true;
}

void node_overlay_findings(struct arena *a, const struct node_overlay *o, const struct label_rules *rules, struct symtab *syms,
                           struct findings *out)
{
    struct err err;
    if (node_overlay_valid(o, rules, syms, &err)) {
        if (!node_overlay_prices(o) && o->capacity.count == 0)
            finding_add(a, out, false, SPAN("spec"), SPAN("sets neither a price nor capacity, and has no effect. Fix: write one of "
                                                          "price, priceAdjustment and capacity"));
        return;
    }
    struct span text, path = span_cut(arena_dup(a, span_of(err.msg)), ':', &text); /* "spec.price: …" */
    finding_add(a, out, true, path, (struct span){text.ptr + 1, text.len - 1});
}

bool node_overlay_prices(const struct node_overlay *o)
{
    return o->price.ptr != NULL || o->adjustment.ptr != NULL;
}

double node_overlay_price(const struct node_overlay *o, double price)
{
    if (o->price.ptr != NULL)
        return number(o->price);
    if (o->adjustment.ptr == NULL)
        return price;
    struct span x = after_sign(o->adjustment);
    double sign = o->adjustment.ptr[0] == '-' ? -1 : 1, by;
    if (span_has_suffix(x, SPAN("%"))) {
        x.len--;
        by = price * number(x) / 100;
    } else {
        by = number(x);
    }
    return price + sign * by > 0 ? price + sign * by : 0;
}
