#include "base/doc_scalar.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    struct span text;
    enum scalar_kind kind;
    uint64_t bits;
} words[] = {
#define WORDS(kind, bits, a, b, c)                                                                 \
    {SPAN_INIT(a), kind, bits}, {SPAN_INIT(b), kind, bits}, {SPAN_INIT(c), kind, bits}
    WORDS(SCALAR_BOOL, 1, "true", "True", "TRUE"),
    WORDS(SCALAR_BOOL, 1, "yes", "Yes", "YES"),
    WORDS(SCALAR_BOOL, 1, "on", "On", "ON"),
    WORDS(SCALAR_BOOL, 0, "false", "False", "FALSE"),
    WORDS(SCALAR_BOOL, 0, "no", "No", "NO"),
    WORDS(SCALAR_BOOL, 0, "off", "Off", "OFF"),
    WORDS(SCALAR_NULL, 0, "null", "Null", "NULL"),
#undef WORDS
    {SPAN_INIT("y"), SCALAR_BOOL, 1},
    {SPAN_INIT("Y"), SCALAR_BOOL, 1},
    {SPAN_INIT("n"), SCALAR_BOOL, 0},
    {SPAN_INIT("N"), SCALAR_BOOL, 0},
    {SPAN_INIT("~"), SCALAR_NULL, 0},
    {SPAN_INIT(""), SCALAR_NULL, 0},
};

static const struct span not_finite[] = {
    SPAN_INIT(".nan"),  SPAN_INIT(".NaN"),  SPAN_INIT(".NAN"),  SPAN_INIT(".inf"),
    SPAN_INIT(".Inf"),  SPAN_INIT(".INF"),  SPAN_INIT("+.inf"), SPAN_INIT("+.Inf"),
    SPAN_INIT("+.INF"), SPAN_INIT("-.inf"), SPAN_INIT("-.Inf"), SPAN_INIT("-.INF"),
};

static bool read_word(struct span text, struct scalar *out)
{
    if (text.len > 5)
        return false;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (span_eq(text, words[i].text)) {
            out->kind = words[i].kind;
            out->bits = words[i].bits;
            return true;
        }
    }
    return false;
}

static unsigned base_of(const char **digits)
{
    const char *p = *digits;
    if (p[0] != '0' || p[1] == '\0')
        return 10;
    char mark = (char)(p[1] | 0x20);
    *digits = p + 2;
    if (mark == 'x')
        return 16;
    if (mark == 'o')
        return 8;
    if (mark == 'b')
        return 2;
    *digits = p + 1;
    return 8;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10) : 99;
}

static bool read_integer(const char *text, struct scalar *out)
{
    bool negative = *text == '-';
    const char *p = text + (*text == '-' || *text == '+');
    unsigned base = base_of(&p);
    if (*p == '\0')
        return false;
    uint64_t value = 0;
    for (; *p != '\0'; p++) {
        unsigned digit = digit_of(*p);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    if (negative ? value > (uint64_t)INT64_MAX + 1 : false)
        return false;
    out->kind = !negative && value > INT64_MAX ? SCALAR_UINT : SCALAR_INT;
    out->bits = negative ? 0 - value : value;
    return true;
}

/* [-+]? (digits [. digits?] | . digits) ([eE] [-+]? digits)?  and nothing else that strtod takes. */
static bool is_float(const char *p)
{
    static const char digits[] = "0123456789";
    p += *p == '-' || *p == '+';
    size_t whole = strspn(p, digits);
    p += whole;
    if (*p == '.') {
        p++;
        size_t fraction = strspn(p, digits);
        p += fraction;
        whole += fraction;
    }
    if (whole == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        size_t exponent = strspn(p, digits);
        p += exponent;
        if (exponent == 0)
            return false;
    }
    return *p == '\0';
}

static bool read_float(const char *text, struct scalar *out)
{
    if (!is_float(text))
        return false;
    double value = strtod(text, NULL);
    if (!isfinite(value))
        return false;
    if (value > -9223372036854775808.0 && value < 9223372036854775808.0 &&
        value == (double)(int64_t)value) {
        out->kind = SCALAR_INT;
        out->bits = (uint64_t)(int64_t)value;
        return true;
    }
    out->kind = SCALAR_DOUBLE;
    memcpy(&out->bits, &value, sizeof(value));
    return true;
}

static bool read_number(struct span text, struct scalar *out)
{
    if (strchr("+-.0123456789", text.ptr[0]) == NULL || memchr(text.ptr, '\0', text.len) != NULL)
        return false;
    if (memchr(text.ptr, '_', text.len) == NULL)
        return read_integer(text.ptr, out) || read_float(text.ptr, out);
    char *plain = mem_new(text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '_')
            plain[n++] = text.ptr[i];
    bool good = read_integer(plain, out) || read_float(plain, out);
    free(plain);
    return good;
}

static const char *read_plain(struct span text, struct scalar *out)
{
    for (size_t i = 0; i < COUNT_OF(not_finite); i++)
        if (span_eq(text, not_finite[i]))
            return "infinity and NaN have no place in JSON; quote it if it is a string";
    if (text.len == 0 || !read_number(text, out))
        read_word(text, out);
    return NULL;
}

/* The tag must agree with what the text is; !!str is the way to keep a text a text. */
static const char *read_tagged(struct span text, const char *tag, struct scalar *out)
{
    static const struct {
        const char *tag;
        enum scalar_kind low, high;
        const char *fault;
    } tags[] = {
        {"tag:yaml.org,2002:null", SCALAR_NULL, SCALAR_NULL, "tagged !!null and is not null"},
        {"tag:yaml.org,2002:bool", SCALAR_BOOL, SCALAR_BOOL, "tagged !!bool and is no boolean"},
        {"tag:yaml.org,2002:int", SCALAR_INT, SCALAR_UINT, "tagged !!int and is no integer"},
        {"tag:yaml.org,2002:float", SCALAR_INT, SCALAR_DOUBLE, "tagged !!float and is no number"},
    };
    if (strcmp(tag, "tag:yaml.org,2002:str") == 0 || strcmp(tag, "!") == 0)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        if (strcmp(tag, tags[i].tag) != 0)
            continue;
        const char *fault = read_plain(text, out);
        if (fault != NULL)
            return fault;
        return out->kind < tags[i].low || out->kind > tags[i].high ? tags[i].fault : NULL;
    }
    return "this tag is not supported";
}

const char *scalar_read(struct span text, bool plain, const char *tag, struct scalar *out)
{
    *out = (struct scalar){.kind = SCALAR_STRING, .text = text};
    if (tag != NULL)
        return read_tagged(text, tag, out);
    return plain ? read_plain(text, out) : NULL;
}
