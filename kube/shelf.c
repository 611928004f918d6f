#include "kube/shelf.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
    FIRST_BITS = 3,
    CHUNK_ITEMS = 48, /* mean number of objects a chunk at which the directory doubles */
};

struct shelf_head *shelf_head(const void *object)
{
    return (struct shelf_head *)((char *)(uintptr_t)object - sizeof(struct shelf_head));
}

static const struct meta *meta_of(const void *object)
{
    return object; /* the first member of every stored kind */
}

static uint64_t hash_of(struct span ns, struct span name)
{
    return span_hash(name) * 31 + span_hash(ns);
}

static uint32_t chunk_of(uint64_t hash, uint32_t bits)
{
    return (uint32_t)(hash >> (64 - bits));
}

void shelf_discard(struct shelf *k, const void *object)
{
    struct shelf_head *h = shelf_head(object);
    if (h->common != 0)
        commons_leave(&k->commons, h->common, k->litter);
    litter_drop(k->litter, h, h->born);
}

struct joining { /* of one object */
    struct shelf *shelf;
    uint64_t salt;
    uint32_t number;
};

static void *join(void *user, uint64_t digest, size_t size, bool *fresh_out)
{
    struct joining *j = user;
    return commons_join(&j->shelf->commons, digest ^ j->salt, size, j->shelf->litter->sequence + 1, &j->number,
                        fresh_out);
}

void *shelf_pack(struct shelf *k, const struct schema *schema, const void *object, const struct symtab *from,
                 struct symtab *to, struct shelf_head head)
{
    struct joining j = {.shelf = k, .salt = (uint64_t)(uintptr_t)to * UINT64_C(0x9e3779b97f4a7c15)};
    struct shelf_head *h = schema_pack_apart(schema, object, sizeof(*h), from, to, join, &j);
    *h = head;
    h->common = j.number;
    return h + 1;
}

static struct store_chunk *chunk_new(const struct litter *l, uint32_t capacity)
{
    struct store_chunk *c = mem_new(sizeof(*c) + capacity * sizeof(c->items[0]));
    c->born = l->sequence + 1;
    c->capacity = capacity;
    return c;
}

/* With room for one more. */
struct store_chunk *shelf_own(struct shelf *k, uint32_t at)
{
    struct litter *l = k->litter;
    struct store_chunk *c = k->chunks[at];
    if (c->born > l->sequence && c->count < c->capacity)
        return c;
    struct store_chunk *copy = chunk_new(l, c->count + c->count / 2 + 8);
    copy->count = c->count;
    memcpy(copy->items, c->items, c->count * sizeof(c->items[0]));
    k->chunks[at] = copy;
    litter_drop(l, c, c->born);
    return copy;
}

/* The first item with the hash, or where it would stand. */
static uint32_t chunk_place(const struct store_chunk *c, uint64_t hash)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (c->items[mid].hash < hash)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static const struct shelf_item *chunk_find(const struct store_chunk *c, uint64_t hash,
                                           struct span ns, struct span name)
{
    for (uint32_t i = chunk_place(c, hash); i < c->count && c->items[i].hash == hash; i++) {
        const struct meta *m = meta_of(c->items[i].object);
        if (span_eq(m->name, name) && span_eq(m->ns, ns))
            return &c->items[i];
    }
    return NULL;
}

static void shelf_double(struct shelf *k)
{
    struct litter *l = k->litter;
    uint32_t old_count = 1u << k->bits;
    struct store_chunk **old = k->chunks;
    k->bits++;
    k->chunks = mem_array((size_t)old_count * 2, sizeof(*k->chunks));
    for (uint32_t at = 0; at < old_count; at++) {
        struct store_chunk *c = old[at];
        struct store_chunk *half[2] = {chunk_new(l, c->count + 8), chunk_new(l, c->count + 8)};
        for (uint32_t i = 0; i < c->count; i++) {
            struct store_chunk *to = half[chunk_of(c->items[i].hash, k->bits) & 1];
            to->items[to->count++] = c->items[i];
        }
        memcpy(&k->chunks[(size_t)at * 2], half, sizeof(half));
        litter_drop(l, c, c->born);
    }
    free(old);
}

void shelf_put(struct shelf *k, const void *object)
{
    const struct meta *m = meta_of(object);
    uint64_t hash = hash_of(m->ns, m->name);
    uint32_t at = chunk_of(hash, k->bits);
    struct store_chunk *c = shelf_own(k, at);
    struct shelf_item *held = (struct shelf_item *)(uintptr_t)chunk_find(c, hash, m->ns, m->name);
    if (held != NULL) {
        shelf_discard(k, held->object);
        held->object = object;
        return;
    }
    uint32_t place = chunk_place(c, hash);
    memmove(&c->items[place + 1], &c->items[place], (c->count - place) * sizeof(c->items[0]));
    c->items[place] = (struct shelf_item){hash, object};
    c->count++;
    k->count++;
    if (k->count > ((uint32_t)CHUNK_ITEMS << k->bits))
        shelf_double(k);
}

const void *shelf_find(struct store_chunk *const *chunks, uint32_t bits, struct span ns, struct span name)
{
    uint64_t hash = hash_of(ns, name);
    const struct shelf_item *it = chunk_find(chunks[chunk_of(hash, bits)], hash, ns, name);
    return it != NULL ? it->object : NULL;
}

static void remove_at(struct shelf *k, uint32_t at, uint32_t i)
{
    struct store_chunk *c = shelf_own(k, at);
    shelf_discard(k, c->items[i].object);
    c->count--;
    memmove(&c->items[i], &c->items[i + 1], (c->count - i) * sizeof(c->items[0]));
    k->count--;
}

bool shelf_remove(struct shelf *k, struct span ns, struct span name)
{
    uint64_t hash = hash_of(ns, name);
    uint32_t at = chunk_of(hash, k->bits);
    const struct shelf_item *it = chunk_find(k->chunks[at], hash, ns, name);
    if (it == NULL)
        return false;
    remove_at(k, at, (uint32_t)(it - k->chunks[at]->items));
    return true;
}

uint32_t shelf_sweep(struct shelf *k, uint32_t list)
{
    uint32_t lost = 0;
    for (uint32_t at = 0; at < 1u << k->bits; at++)
        for (uint32_t i = k->chunks[at]->count; i-- > 0;)
            if (shelf_head(k->chunks[at]->items[i].object)->list != list) {
                remove_at(k, at, i);
                lost++;
            }
    return lost;
}

void shelf_init(struct shelf *k, struct litter *litter)
{
    *k = (struct shelf){.litter = litter, .bits = FIRST_BITS};
    k->chunks = mem_array((size_t)1 << FIRST_BITS, sizeof(*k->chunks));
    for (uint32_t at = 0; at < 1u << FIRST_BITS; at++)
        k->chunks[at] = chunk_new(litter, 0);
}

void shelf_release(struct shelf *k)
{
    for (uint32_t at = 0; at < 1u << k->bits; at++) {
        for (uint32_t i = 0; i < k->chunks[at]->count; i++)
            free(shelf_head(k->chunks[at]->items[i].object));
        free(k->chunks[at]);
    }
    free(k->chunks);
    commons_release(&k->commons);
}
