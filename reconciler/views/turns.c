#include "reconciler/views/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void turns_begin(struct turns *t, uint32_t count)
{
    if (count > t->capacity) {
        t->capacity = count + count / 8;
        t->due = mem_grow(t->due, t->capacity, sizeof(*t->due));
    }
    t->count = count;
    if (count != 0)
        memset(t->due, 0, count * sizeof(*t->due));
}

void turns_release(struct turns *t)
{
    free(t->due);
    *t = (struct turns){.count = 0};
}
