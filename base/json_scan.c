#include "base/json_scan.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_space(struct span text, size_t at)
{
    while (at < text.len && is_space(text.ptr[at]))
        at++;
    return at;
}

/* Behind the string that begins at `at`: its quote is the first that no odd number of backslashes stands before. */
static size_t skip_string(struct span text, size_t at)
{
    const char *from = text.ptr + at + 1, *end = text.ptr + text.len;
    for (const char *p = from; p < end;) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        if (quote == NULL)
            break;
        size_t slashes = 0;
        while (quote - slashes > from && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        p = quote + 1;
        if (slashes % 2 == 0)
            return (size_t)(p - text.ptr);
    }
    return text.len;
}

static size_t skip_nested(struct span text, size_t at)
{
    for (size_t depth = 0; at < text.len;) {
        char c = text.ptr[at];
        if (c == '"') {
            at = skip_string(text, at);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return at;
    }
    return text.len;
}

static size_t skip_value(struct span text, size_t at)
{
    char c = text.ptr[at];
    if (c == '{' || c == '[')
        return skip_nested(text, at);
    if (c == '"')
        return skip_string(text, at);
    size_t from = at;
    while (at < text.len && !is_space(text.ptr[at]) && strchr(",:]}{[\"", text.ptr[at]) == NULL)
        at++;
    return at != from ? at : at + 1;
}

static struct span part(struct span text, size_t from, size_t end)
{
    return (struct span){text.ptr + from, end - from};
}

bool json_scan_next(struct span text, size_t *at, struct span *value_out)
{
    size_t from = skip_space(text, *at);
    *at = from;
    if (from >= text.len)
        return false;
    *at = skip_value(text, from);
    *value_out = part(text, from, *at);
    return true;
}

/* A member's name and its value; *at is moved to the comma behind it, or to the end. */
static bool scan_member(struct span inside, size_t *at, struct span *name_out, struct span *value_out)
{
    size_t from = skip_space(inside, *at);
    if (from >= inside.len || inside.ptr[from] != '"')
        return false;
    size_t end = skip_string(inside, from);
    *name_out = part(inside, from, end);
    end = skip_space(inside, end);
    if (end >= inside.len || inside.ptr[end] != ':')
        return false;
    from = skip_space(inside, end + 1);
    if (from >= inside.len)
        return false;
    end = skip_value(inside, from);
    *value_out = part(inside, from, end);
    *at = skip_space(inside, end);
    return true;
}

static bool is_closed(struct span s, char open, char close)
{
    return s.len >= 2 && s.ptr[0] == open && s.ptr[s.len - 1] == close;
}

static bool find_nested(struct span object, struct span name, const char *braces, struct span *inside_out)
{
    bool found = false;
    if (!is_closed(object, '{', '}'))
        return false;
    struct span inside = part(object, 1, object.len - 1), key, value;
    for (size_t at = 0; at < inside.len; at++) {
        if (!scan_member(inside, &at, &key, &value) || (at < inside.len && inside.ptr[at] != ','))
            return false;
        if (!span_eq(part(key, 1, key.len - 1), name))
            continue;
        if (found || !is_closed(value, braces[0], braces[1]))
            return false;
        *inside_out = part(value, 1, value.len - 1);
        found = true;
    }
    return found;
}

bool json_scan_list(struct span object, struct span name, struct span *inside_out)
{
    return find_nested(object, name, "[]", inside_out);
}

bool json_scan_object(struct span object, struct span name, struct span *inside_out)
{
    return find_nested(object, name, "{}", inside_out);
}

bool json_scan_member(struct span inside, size_t *at, struct span *name_out, struct span *value_out)
{
    size_t from = skip_space(inside, *at);
    bool first = *at == 0;
    *at = from;
    if (from >= inside.len || (!first && inside.ptr[from] != ','))
        return false;
    from = first ? from : from + 1;
    if (!scan_member(inside, &from, name_out, value_out) || name_out->len < 2)
        return false;
    *name_out = part(*name_out, 1, name_out->len - 1);
    *at = from;
    return true;
}

bool json_scan_item(struct span inside, size_t *at, struct span *item_out)
{
    size_t from = skip_space(inside, *at);
    bool first = *at == 0;
    *at = from;
    if (from >= inside.len)
        return false;
    if (!first) {
        if (inside.ptr[from] != ',')
            return false;
        from = skip_space(inside, from + 1);
        if (from >= inside.len)
            return false;
    }
    *at = skip_value(inside, from);
    *item_out = part(inside, from, *at);
    return true;
}
