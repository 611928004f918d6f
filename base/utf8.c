#include "base/utf8.h"

size_t utf8_length(const char *at, const char *end)
{
    const unsigned char *p = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xBF; /* of the second byte */
    size_t n;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xC2 && p[0] <= 0xDF) {
        n = 2;
    } else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
        n = 3;
        low = p[0] == 0xE0 ? 0xA0 : low;
        high = p[0] == 0xED ? 0x9F : high;
    } else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        n = 4;
        low = p[0] == 0xF0 ? 0x90 : low;
        high = p[0] == 0xF4 ? 0x8F : high;
    } else {
        return 0;
    }
    if ((size_t)(end - at) < n || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (p[i] < 0x80 || p[i] > 0xBF)
            return 0;
    return n;
}

uint32_t utf8_code(const char *at, size_t length)
{
    static const unsigned char lead[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *p = (const unsigned char *)at;
    uint32_t code = p[0] & lead[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (p[i] & 0x3F);
    return code;
}
