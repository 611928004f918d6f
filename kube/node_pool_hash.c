/* The hash of a NodePool's template, version v3, bit for bit (spec api 5.8): it is stored on
 * objects that outlive us and that others compare. FNV-1 64 over a walk of the structure; a struct
 * is folded and finished after every field that is not zero, so that the order of fields matters
 * and a field that is absent leaves no trace. */
#include "kube/node.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t hash_bytes(const void *bytes, size_t len)
{
    const unsigned char *b = bytes;
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < len; i++)
        h = (h * 1099511628211ull) ^ b[i];
    return h;
}

static uint64_t hash_text(struct span s)
{
    return hash_bytes(s.ptr, s.len);
}

static uint64_t finish(uint64_t x)
{
    unsigned char le[8];
    for (int i = 0; i < 8; i++)
        le[i] = (unsigned char)(x >> (8 * i));
    return hash_bytes(le, sizeof(le));
}

static uint64_t ordered(uint64_t a, uint64_t b)
{
    unsigned char le[16];
    for (int i = 0; i < 8; i++) {
        le[i] = (unsigned char)(a >> (8 * i));
        le[8 + i] = (unsigned char)(b >> (8 * i));
    }
    return hash_bytes(le, sizeof(le));
}

static uint64_t struct_begin(const char *type)
{
    return hash_text(span_of(type));
}

static void struct_field(uint64_t *x, const char *name, uint64_t value)
{
    *x = finish(*x ^ ordered(hash_text(span_of(name)), value));
}

static void text_field(uint64_t *x, const char *name, struct span value)
{
    if (value.len != 0)
        struct_field(x, name, hash_text(value));
}

static uint64_t hash_time(wall_ms t)
{
    enum { YEAR_ONE_DAYS = 719162 };
    static const int64_t before_1970 = YEAR_ONE_DAYS * 86400LL;
    uint64_t seconds = (uint64_t)(t / MS_SECOND + before_1970);
    uint32_t ns = (uint32_t)(t % MS_SECOND) * 1000000u;
    unsigned char b[15] = {1}; /* version; the last two bytes are the zone, UTC */
    for (int i = 0; i < 8; i++)
        b[1 + i] = (unsigned char)(seconds >> (56 - 8 * i));
    for (int i = 0; i < 4; i++)
        b[9 + i] = (unsigned char)(ns >> (24 - 8 * i));
    uint64_t x = struct_begin("Time");
    struct_field(&x, "Time", hash_bytes(b, sizeof(b)));
    return x;
}

/* In this hash an element equal to another cancels it, and an empty list is 0. */
static uint64_t hash_taints(struct taints taints, const struct symtab *syms)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < taints.count; i++) {
        const struct taint *t = &taints.items[i];
        uint64_t x = struct_begin("Taint");
        text_field(&x, "Key", sym_text(syms, t->key));
        text_field(&x, "Value", sym_text(syms, t->value));
        text_field(&x, "Effect", span_of(taint_effect_name(t->effect)));
        if (t->added != 0)
            struct_field(&x, "TimeAdded", hash_time(t->added));
        all ^= x;
    }
    return all;
}

static uint64_t hash_meta(const struct node_pool *p, const struct symtab *syms)
{
    uint64_t x = struct_begin("ObjectMeta"), all = 0;
    if (p->has_labels) {
        for (uint32_t i = 0; i < p->labels.count; i++)
            all ^= ordered(hash_text(sym_text(syms, p->labels.items[i].key)),
                           hash_text(sym_text(syms, p->labels.items[i].value)));
        struct_field(&x, "Labels", finish(all));
    }
    all = 0;
    if (p->has_annotations) {
        for (uint32_t i = 0; i < p->annotations.count; i++)
            all ^= ordered(hash_text(p->annotations.items[i].key),
                           hash_text(p->annotations.items[i].value));
        struct_field(&x, "Annotations", finish(all));
    }
    return x;
}

/* `pointer`: the length stands behind a pointer of its own, so that 0 is still there. */
static uint64_t hash_duration(const char *type, span_ms length, bool pointer)
{
    uint64_t x = struct_begin(type);
    if (length != 0 || pointer)
        struct_field(&x, "Duration", finish((uint64_t)length * 1000000u));
    return x;
}

static uint64_t hash_spec(const struct node_pool *p, const struct symtab *syms)
{
    uint64_t x = struct_begin("NodeClaimTemplateSpec");
    if (p->has_taints)
        struct_field(&x, "Taints", hash_taints(p->taints, syms));
    if (p->has_startup_taints)
        struct_field(&x, "StartupTaints", hash_taints(p->startup_taints, syms));
    uint64_t ref = struct_begin("NodeClassReference");
    text_field(&ref, "Kind", p->node_class.kind);
    text_field(&ref, "Name", p->node_class.name);
    text_field(&ref, "Group", p->node_class.group);
    struct_field(&x, "NodeClassRef", ref);
    if (p->has_grace)
        struct_field(&x, "TerminationGracePeriod", hash_duration("Duration", p->grace, false));
    if (p->has_expire_after)
        struct_field(&x, "ExpireAfter", hash_duration("NillableDuration", p->expire_after, true));
    return x;
}

void node_pool_hash(const struct node_pool *p, const struct symtab *syms, char out[24])
{
    uint64_t x = struct_begin("NodeClaimTemplate");
    if (p->has_labels || p->has_annotations)
        struct_field(&x, "ObjectMeta", hash_meta(p, syms));
    struct_field(&x, "Spec", hash_spec(p, syms));
    snprintf(out, 24, "%" PRIu64, x);
}
