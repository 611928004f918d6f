#include "kube/rivals.h"

#include <stdlib.h>

#include "kube/lease_record.h"

enum { NAMES_MAX = 8 };

const struct span rivals_known[RIVALS_KNOWN] = {SPAN_INIT("karpenter-leader-election"),
                                                SPAN_INIT("cluster-autoscaler")};

/* One Lease that was found. */
struct rival {
    uint64_t key;   /* of namespace and name */
    uint64_t round; /* of its name's look-ups, when it was last there */
    size_t name;
    bool changed; /* by the last look-up; the next step says when */
    char ns[64];  /* a DNS label: 63 bytes */
    struct lease_record record;
};

struct rivals {
    struct arena texts;
    struct api *api;
    struct span identity;
    struct span names[NAMES_MAX];
    size_t name_count;
    bool known[NAMES_MAX]; /* looked up at least once */
    uint64_t round[NAMES_MAX];
    bool too_many[NAMES_MAX];

    size_t asking; /* index of the name under way; name_count: none */
    bool waiting;  /* a request is under way */
    mono_ms next;
    struct rival rivals[RIVALS_MAX];
    uint32_t count;
    struct err err;
    enum rivals_verdict verdict;
    char text[512];
};

struct rivals *rivals_new(struct api *api, const struct span *names, size_t count,
                          struct span identity)
{
    struct rivals *r = mem_new(sizeof(*r));
    arena_init(&r->texts, 0);
    r->api = api;
    r->identity = arena_dup(&r->texts, identity);
    r->name_count = count < NAMES_MAX ? count : NAMES_MAX;
    for (size_t i = 0; i < r->name_count; i++)
        r->names[i] = arena_dup(&r->texts, names[i]);
    r->asking = r->name_count;
    return r;
}

void rivals_free(struct rivals *r)
{
    if (r == NULL)
        return;
    arena_release(&r->texts);
    free(r);
}

static struct span meta_text(struct doc_value object, struct span key)
{
    struct doc_value metadata;
    return doc_find(object, SPAN("metadata"), &metadata) ? doc_text_at(metadata, key)
                                                         : (struct span){0};
}

static struct rival *rival_of(struct rivals *r, size_t name, struct span ns)
{
    uint64_t key = span_hash(ns) ^ name;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->rivals[i].key == key)
            return &r->rivals[i];
    if (r->count == RIVALS_MAX)
        return NULL;
    struct rival *rival = &r->rivals[r->count++];
    *rival = (struct rival){.key = key, .name = name};
    size_t n = ns.len < sizeof(rival->ns) ? ns.len : sizeof(rival->ns) - 1;
    if (n != 0)
        memcpy(rival->ns, ns.ptr, n);
    return rival;
}

static void take_lease(struct rivals *r, size_t name, struct doc_value object)
{
    struct rival *rival = rival_of(r, name, meta_text(object, SPAN("namespace")));
    if (rival == NULL) {
        r->too_many[name] = true;
        return;
    }
    rival->round = r->round[name];
    rival->changed |= lease_record_read(&rival->record, object, r->identity);
}

static void on_list(void *user, const struct api_result *result)
{
    struct rivals *r = user;
    struct doc_value items;
    size_t name = r->asking;
    r->waiting = false;
    r->err = result->err;
    if (r->err.kind != ERR_NONE || result->body == NULL ||
        !doc_find(doc_root(result->body), SPAN("items"), &items))
        return; /* what was known stays, and ages */
    r->round[name]++;
    r->too_many[name] = false;
    struct doc_iter it = doc_iter_of(items);
    while (doc_next(&it))
        if (span_eq(meta_text(it.value, SPAN("name")), r->names[name]))
            take_lease(r, name, it.value);
    r->known[name] = true;
    for (uint32_t i = r->count; i-- > 0;) /* deleted since */
        if (r->rivals[i].name == name && r->rivals[i].round != r->round[name])
            r->rivals[i] = r->rivals[--r->count];
}

static void ask(struct rivals *r, mono_ms now)
{
    if (r->asking >= r->name_count) {
        r->asking = 0;
        r->next = now + RIVALS_PERIOD_MS;
    } else {
        r->asking++;
    }
    if (r->asking >= r->name_count)
        return;
    struct arena a;
    arena_init(&a, 0);
    struct span selector = arena_printf(&a, "metadata.name=%.*s", SPAN_ARG(r->names[r->asking]));
    r->waiting = true;
    api_send(
        r->api,
        &(struct api_request){.verb = API_LIST, .kind = KIND_LEASE, .field_selector = selector},
        on_list, r);
    arena_release(&a);
}

static void describe(struct rivals *r, const struct rival *rival)
{
    struct buf text = {.max = sizeof(r->text) - 1};
    buf_addf(&text, "%s/%.*s, held by %s", rival->ns, SPAN_ARG(r->names[rival->name]),
             rival->record.holder);
    size_t n = text.len;
    if (n != 0)
        memcpy(r->text, text.ptr, n);
    r->text[n] = '\0';
    buf_release(&text);
}

/* When the verdict may change by time alone: the first live Lease to age out. */
static mono_ms judge(struct rivals *r, mono_ms now)
{
    mono_ms ages = INT64_MAX;
    bool unknown = false;
    r->verdict = RIVALS_NONE;
    for (size_t i = 0; i < r->name_count; i++) {
        unknown |= !r->known[i];
        if (r->too_many[i] && r->verdict != RIVALS_LIVE) {
            r->verdict = RIVALS_LIVE;
            static const char many[] = "more Leases of that kind than can be kept in mind";
            memcpy(r->text, many, sizeof(many));
        }
    }
    for (uint32_t i = 0; i < r->count; i++) {
        const struct rival *rival = &r->rivals[i];
        if (rival->record.mine || !lease_record_live(&rival->record, now))
            continue;
        if (r->verdict != RIVALS_LIVE)
            describe(r, rival);
        r->verdict = RIVALS_LIVE;
        mono_ms end = rival->record.changed + rival->record.duration;
        ages = end < ages ? end : ages;
    }
    if (r->verdict == RIVALS_NONE && unknown)
        r->verdict = RIVALS_UNKNOWN;
    return ages;
}

mono_ms rivals_step(struct rivals *r, mono_ms now)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->rivals[i].changed) {
            r->rivals[i].changed = false;
            r->rivals[i].record.changed = now;
        }
    while (!r->waiting && (r->asking < r->name_count || now >= r->next))
        ask(r, now);
    mono_ms ages = judge(r, now);
    mono_ms next = r->waiting ? INT64_MAX : r->next;
    return ages < next ? ages : next;
}

enum rivals_verdict rivals_verdict(const struct rivals *r)
{
    return r->verdict;
}

struct span rivals_text(const struct rivals *r)
{
    return r->verdict == RIVALS_LIVE ? span_of(r->text) : (struct span){0};
}

const struct err *rivals_error(const struct rivals *r)
{
    return &r->err;
}
