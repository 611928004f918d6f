#include "base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool base64_decode(struct arena *a, struct span text, struct span *out)
{
    char *bytes = arena_alloc(a, text.len / 4 * 3 + 4);
    size_t len = 0, digits = 0, padding = 0;
    uint32_t group = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (is_space(c))
            continue;
        int digit = digit_of(c);
        if (c == '=')
            padding++;
        else if (digit < 0 || padding != 0)
            return false;
        group = group << 6 | (uint32_t)(digit < 0 ? 0 : digit);
        if (++digits % 4 != 0)
            continue;
        for (int shift = 16; shift >= 0; shift -= 8)
            bytes[len++] = (char)(group >> shift & 0xff);
        group = 0;
    }
    if (digits % 4 != 0 || padding > 2)
        return false;
    len -= padding;
    bytes[len] = '\0';
    *out = (struct span){bytes, len};
    return true;
}

static void put_group(char *at, uint32_t group)
{
    at[0] = alphabet[group >> 18];
    at[1] = alphabet[group >> 12 & 63];
    at[2] = alphabet[group >> 6 & 63];
    at[3] = alphabet[group & 63];
}

struct span base64_encode(struct arena *a, struct span bytes)
{
    size_t len = (bytes.len + 2) / 3 * 4;
    char *text = arena_alloc(a, len + 1);
    char *at = text;
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    size_t left = bytes.len;
    for (; left >= 3; left -= 3, from += 3, at += 4)
        put_group(at, (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2]);
    if (left != 0) {
        put_group(at, (uint32_t)from[0] << 16 | (left == 2 ? (uint32_t)from[1] << 8 : 0));
        at[3] = '=';
        if (left == 1)
            at[2] = '=';
    }
    return (struct span){text, len};
}
