#include "kube/shaped_by.h"

struct span shaped_by_get(struct span text, struct span key)
{
    struct span part, value;
    while (text.len != 0) {
        part = span_cut(text, ',', &text);
        while (part.len != 0 && part.ptr[0] == ' ')
            part = (struct span){part.ptr + 1, part.len - 1};
        if (span_eq(span_cut(part, '=', &value), key) && value.ptr != NULL)
            return value;
    }
    return (struct span){NULL, 0};
}
