#include "base/nearest.h"

enum { COMPARED = 64 }; /* letters of a word */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_edits(struct span a, struct span b)
{
    size_t n = least(a.len, COMPARED), m = least(b.len, COMPARED);
    size_t d[COMPARED + 1][COMPARED + 1];
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t change = d[i - 1][j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            d[i][j] = least(change, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

void nearest_try(struct nearest *n, struct span word)
{
    size_t far = n->given.len / 3 + 1; /* further than this is another word */
    size_t given = least(n->given.len, COMPARED), len = least(word.len, COMPARED);
    if ((given > len ? given - len : len - given) > far)
        return; /* as many edits at the least */
    size_t edits = nearest_edits(n->given, word);
    if (word.len == 0 || edits > far || (n->best.ptr != NULL && edits >= n->edits))
        return;
    n->best = word;
    n->edits = edits;
}

const char *nearest_word(const char *given, const char *const *words, size_t count)
{
    struct nearest n = {.given = span_of(given)};
    for (size_t i = 0; i < count; i++)
        nearest_try(&n, span_of(words[i]));
    return n.best.ptr;
}
