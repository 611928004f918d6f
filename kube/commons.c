#include "kube/commons.h"

#include <stdlib.h>

#include "base/arena.h"

enum { FIRST_SLOTS = 64 };

struct common {
    uint64_t digest, born;
    size_t size;
    uint32_t users, next; /* next: of the slot; 0: none */
    char content[];
};

static uint32_t *slot_of(const struct commons *c, uint64_t digest)
{
    return &c->slots[digest % c->slot_count];
}

static void grow(struct commons *c)
{
    free(c->slots);
    c->slot_count = c->slot_count != 0 ? c->slot_count * 2 : FIRST_SLOTS;
    c->slots = mem_new(c->slot_count * sizeof(*c->slots));
    for (uint32_t i = 0; i < c->item_count; i++) {
        struct common *x = c->items[i];
        if (x == NULL)
            continue;
        x->next = *slot_of(c, x->digest);
        *slot_of(c, x->digest) = i + 1;
    }
}

static uint32_t free_number(struct commons *c)
{
    for (; c->free_from < c->item_count; c->free_from++)
        if (c->items[c->free_from] == NULL)
            return ++c->free_from;
    if (c->item_count == c->item_capacity) {
        c->item_capacity = c->item_capacity * 2 + FIRST_SLOTS;
        c->items = mem_grow(c->items, c->item_capacity, sizeof(struct common *));
    }
    return c->free_from = ++c->item_count;
}

void *commons_join(struct commons *c, uint64_t digest, size_t size, uint64_t born, uint32_t *number_out,
                   bool *fresh_out)
{
    if (c->count == c->slot_count)
        grow(c);
    uint32_t number = *slot_of(c, digest);
    while (number != 0 && (c->items[number - 1]->digest != digest || c->items[number - 1]->size != size))
        number = c->items[number - 1]->next;
    *fresh_out = number == 0;
    if (number == 0) {
        struct common *x = mem_new(sizeof(*x) + size);
        number = free_number(c);
        *x = (struct common){.digest = digest, .born = born, .size = size, .next = *slot_of(c, digest)};
        *slot_of(c, digest) = number;
        c->items[number - 1] = x;
        c->count++;
    }
    c->items[number - 1]->users++;
    *number_out = number;
    return c->items[number - 1]->content;
}

void commons_leave(struct commons *c, uint32_t number, struct litter *litter)
{
    struct common *x = c->items[number - 1];
    if (--x->users != 0)
        return;
    uint32_t *at = slot_of(c, x->digest);
    while (*at != number)
        at = &c->items[*at - 1]->next;
    *at = x->next;
    c->items[number - 1] = NULL;
    c->free_from = number - 1 < c->free_from ? number - 1 : c->free_from;
    c->count--;
    litter_drop(litter, x, x->born);
}

void commons_release(struct commons *c)
{
    for (uint32_t i = 0; i < c->item_count; i++)
        free(c->items[i]);
    free(c->items);
    free(c->slots);
    *c = (struct commons){.count = 0};
}
