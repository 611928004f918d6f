#include "planner/supply/room.h"

#include <stdlib.h>
#include <string.h>

struct held { /* by a type */
    amount value;
    uint32_t type;
};

static int greatest_first(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type);
}

static struct room_column build_column(struct arena *a, struct held *held, uint32_t count,
                                       uint32_t words)
{
    struct room_column c = {0};
    if (count != 0)
        qsort(held, count, sizeof(*held), greatest_first);
    for (uint32_t i = 0; i < count; i++)
        c.count += i == 0 || held[i].value != held[i - 1].value;
    c.values = ARENA_ARRAY(a, amount, c.count);
    c.sets = ARENA_ARRAY(a, uint64_t, (size_t)c.count * words);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0 && held[i].value != held[i - 1].value) {
            at++;
            memcpy(c.sets + (size_t)at * words, c.sets + (size_t)(at - 1) * words,
                   words * sizeof(*c.sets));
        }
        c.values[at] = held[i].value;
        bits_add(c.sets + (size_t)at * words, held[i].type);
    }
    return c;
}

struct room_column *room_build(struct arena *a, const uint64_t *types, uint32_t words,
                               const uint32_t *first_group, const amount *room, uint32_t columns)
{
    struct room_column *out = ARENA_ARRAY(a, struct room_column, columns);
    struct held *held = ARENA_ARRAY(a, struct held, bits_count(types, words));
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t count = 0;
        for (BITS_EACH(type, types, words)) {
            amount most = room[(size_t)first_group[type] * columns + c];
            for (uint32_t g = first_group[type] + 1; g < first_group[type + 1]; g++)
                if (room[(size_t)g * columns + c] > most)
                    most = room[(size_t)g * columns + c];
            held[count++] = (struct held){most, type};
        }
        out[c] = build_column(a, held, count, words);
    }
    return out;
}

/* How many of the values are `least` or more. */
static uint32_t as_much(const struct room_column *c, amount least)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (c->values[mid] >= least)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void room_drop(const struct room_column *c, uint32_t words, amount most, uint64_t *set)
{
    uint32_t above = most < INT64_MAX ? as_much(c, most + 1) : 0;
    for (uint32_t w = 0; above != 0 && w < words; w++)
        set[w] &= ~c->sets[(size_t)(above - 1) * words + w];
}

void room_keep(const struct room_column *c, uint32_t columns, uint32_t words,
               const amount *requests, uint64_t *set)
{
    for (uint32_t i = 0; i < columns; i++) {
        if (c[i].count != 0 && c[i].values[c[i].count - 1] >= requests[i])
            continue; /* everybody's is */
        uint32_t low = as_much(&c[i], requests[i]);
        const uint64_t *enough = low != 0 ? c[i].sets + (size_t)(low - 1) * words : NULL;
        for (uint32_t w = 0; w < words; w++)
            set[w] &= enough != NULL ? enough[w] : 0;
    }
}

uint32_t room_greatest(const struct room_column *c, uint32_t words, const uint64_t *set)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (bits_meet(set, c->sets + (size_t)mid * words, words))
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}
