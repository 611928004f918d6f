/* The grammar is Kubernetes' resource.Quantity: [sign] digits [. digits] suffix. A value is held as
 * decimal digits while it is scaled, so no step loses anything before the one rounding at the end;
 * powers of 1024 are multiplied in digit by digit. */
#include "kube/resources.h"

#include <ctype.h>

enum {
    DIGITS_MAX = 256, /* of the text; longer quantities are refused */
    HEADROOM = 24,    /* digits that 1024^6 can add in front */
    EXPONENT_MAX = 100000,
};

struct number {
    uint8_t digit[HEADROOM + DIGITS_MAX];
    size_t first, end; /* digits are [first, end) */
    int32_t point;     /* value = 0.d1d2d3… × 10^point */
    bool negative;
};

static const struct suffix {
    struct span text;
    int8_t tens, kibis; /* 10^tens × 1024^kibis */
} suffixes[] = {
    {SPAN_INIT(""), 0, 0},   {SPAN_INIT("n"), -9, 0}, {SPAN_INIT("u"), -6, 0},
    {SPAN_INIT("m"), -3, 0}, {SPAN_INIT("k"), 3, 0},  {SPAN_INIT("M"), 6, 0},
    {SPAN_INIT("G"), 9, 0},  {SPAN_INIT("T"), 12, 0}, {SPAN_INIT("P"), 15, 0},
    {SPAN_INIT("E"), 18, 0}, {SPAN_INIT("Ki"), 0, 1}, {SPAN_INIT("Mi"), 0, 2},
    {SPAN_INIT("Gi"), 0, 3}, {SPAN_INIT("Ti"), 0, 4}, {SPAN_INIT("Pi"), 0, 5},
    {SPAN_INIT("Ei"), 0, 6},
};

static struct span trim(struct span s)
{
    while (s.len != 0 && isspace((unsigned char)s.ptr[0]))
        s = (struct span){s.ptr + 1, s.len - 1};
    while (s.len != 0 && isspace((unsigned char)s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Sign and digits; *rest_out is the suffix. */
static bool read_digits(struct span s, struct number *n, struct span *rest_out)
{
    size_t at = 0;
    bool any = false, fraction = false;
    *n = (struct number){.first = HEADROOM, .end = HEADROOM};
    if (s.len == 0) /* a null has no text at all */
        return false;
    if (s.ptr[0] == '+' || s.ptr[0] == '-')
        n->negative = s.ptr[at++] == '-';
    for (; at < s.len; at++) {
        char c = s.ptr[at];
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(c))
            break;
        any = true;
        if (n->end == n->first && c == '0') { /* leading zeros count only behind the point */
            n->point -= fraction;
            continue;
        }
        if (n->end == sizeof(n->digit))
            return false;
        n->digit[n->end++] = (uint8_t)(c - '0');
        n->point += !fraction;
    }
    *rest_out = (struct span){s.ptr + at, s.len - at};
    return any;
}

static bool read_suffix(struct span s, struct suffix *out, int32_t *exponent_out)
{
    *exponent_out = 0;
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        if (span_eq(s, suffixes[i].text)) {
            *out = suffixes[i];
            return true;
        }
    }
    if (s.len < 2 || (s.ptr[0] != 'e' && s.ptr[0] != 'E'))
        return false;
    int64_t exponent;
    if (!span_int64((struct span){s.ptr + 1, s.len - 1}, &exponent))
        return false;
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX)
        exponent = -EXPONENT_MAX;
    *out = suffixes[0];
    *exponent_out = (int32_t)exponent;
    return true;
}

static void times_1024(struct number *n)
{
    uint32_t carry = 0;
    for (size_t i = n->end; i > n->first; i--) {
        uint32_t v = n->digit[i - 1] * 1024u + carry;
        n->digit[i - 1] = (uint8_t)(v % 10);
        carry = v / 10;
    }
    for (; carry != 0; carry /= 10) {
        n->digit[--n->first] = (uint8_t)(carry % 10);
        n->point++;
    }
}

static amount round_up(const struct number *n)
{
    enum { AMOUNT_DIGITS = 19 };
    size_t count = n->end - n->first;
    if (count == 0)
        return 0;
    if (n->point > AMOUNT_DIGITS)
        return n->negative ? -INT64_MAX : INT64_MAX;
    amount value = 0;
    for (int32_t i = 0; i < n->point; i++) {
        int digit = (size_t)i < count ? n->digit[n->first + (size_t)i] : 0;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return n->negative ? -INT64_MAX : INT64_MAX;
    }
    bool more = false;
    for (size_t i = n->point > 0 ? (size_t)n->point : 0; i < count; i++)
        more |= n->digit[n->first + i] != 0;
    value = amount_add(value, more);
    return n->negative ? -value : value;
}

bool quantity_parse(struct span text, int32_t scale, amount *out, struct err *err)
{
    struct number n;
    struct suffix suffix;
    struct span rest;
    int32_t exponent;
    if (!read_digits(trim(text), &n, &rest) || !read_suffix(rest, &suffix, &exponent))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a quantity", SPAN_ARG(text));
    for (int8_t i = 0; i < suffix.kibis; i++)
        times_1024(&n);
    n.point += suffix.tens + exponent + (scale == 1000 ? 3 : 0);
    *out = round_up(&n);
    return true;
}

/* Suffixes as people write them, compared without case; the ones that Kubernetes knows as they are
 * have been tried before. */
static const struct {
    const char *wrong, *right;
} slips[] = {
    {"b", ""},      {"k", "k"},    {"kb", "k"},   {"m", "M"},   {"mb", "M"},   {"g", "G"},
    {"gb", "G"},    {"t", "T"},    {"tb", "T"},   {"p", "P"},   {"pb", "P"},   {"ki", "Ki"},
    {"kib", "Ki"},  {"mi", "Mi"},  {"mib", "Mi"}, {"gi", "Gi"}, {"gib", "Gi"}, {"ti", "Ti"},
    {"tib", "Ti"},  {"pi", "Pi"},  {"pib", "Pi"}, {"ei", "Ei"}, {"eib", "Ei"}, {"mcpu", "m"},
    {"milli", "m"}, {"cores", ""}, {"core", ""},  {"cpu", ""},  {"cpus", ""},
};

static struct span suffix_slip(struct span s)
{
    for (size_t i = 0; i < COUNT_OF(slips); i++) {
        struct span wrong = span_of(slips[i].wrong);
        if (s.len == wrong.len && strncasecmp(s.ptr, wrong.ptr, s.len) == 0)
            return span_of(slips[i].right);
    }
    return s;
}

static bool is_quantity(struct span s)
{
    amount ignored;
    struct err err;
    return quantity_parse(s, 1, &ignored, &err);
}

static char digit_meant(char c)
{
    switch (c) {
    case 'O':
    case 'o':
        return '0';
    case 'l':
    case 'I':
        return '1';
    case ',':
        return '.';
    default:
        return c;
    }
}

struct span quantity_suggest(struct arena *a, struct span text)
{
    enum { SUGGEST_MAX = 40 };
    char compact[SUGGEST_MAX];
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (isspace((unsigned char)text.ptr[i]) || text.ptr[i] == '_')
            continue;
        if (len == sizeof(compact))
            return (struct span){NULL, 0};
        compact[len++] = text.ptr[i];
    }
    size_t digits = 0; /* those at the front, mistyped ones included */
    for (; digits < len; digits++) {
        char meant = digit_meant(compact[digits]);
        if (!is_digit(meant) && meant != '.' && meant != '-' && meant != '+')
            break;
        compact[digits] = meant;
    }
    struct span fixed = {compact, len};
    if (is_quantity(fixed))
        return span_eq(fixed, text) ? (struct span){NULL, 0} : arena_dup(a, fixed);
    struct span right = suffix_slip((struct span){compact + digits, len - digits});
    fixed = arena_printf(a, "%.*s%.*s", (int)digits, compact, SPAN_ARG(right));
    return is_quantity(fixed) ? fixed : (struct span){NULL, 0};
}

static bool is_binary(struct span resource_name)
{
    return span_eq(resource_name, SPAN("memory")) ||
           span_eq(resource_name, SPAN("ephemeral-storage")) ||
           span_eq(resource_name, SPAN("storage")) ||
           span_has_prefix(resource_name, SPAN("hugepages-"));
}

void quantity_put(struct buf *out, struct span resource_name, amount value)
{
    static const char *const decimal[] = {"m", "", "k", "M", "G", "T", "P", "E"};
    static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t step = 0;
    if (is_binary(resource_name) && value != 0 && value % 1024 == 0) {
        for (; value % 1024 == 0; value /= 1024)
            step++;
        buf_add_int(out, value);
        buf_add(out, span_of(binary[step]));
        return;
    }
    step = span_eq(resource_name, SPAN("cpu")) && value != 0 ? 0 : 1;
    for (; value != 0 && value % 1000 == 0; value /= 1000)
        step++;
    buf_add_int(out, value);
    buf_add(out, span_of(decimal[step]));
}

struct span quantity_text(struct arena *a, struct span resource_name, amount value)
{
    struct buf b = {0};
    quantity_put(&b, resource_name, value);
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}
