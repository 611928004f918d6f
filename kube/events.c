/* What was told is kept in a table by reason and object; requests wait in a short line.
 *
 * Three gates, in this order: the window of the reason (the table below, spec api 11.2; 2 minutes
 * otherwise), the reason's own rate where it has one, and one rate for all. Behind them a repeat
 * with the same text within six minutes becomes the series of the Event that is there, as client-go
 * does; with another text it becomes an Event of its own, since an Event's text cannot be changed
 * and people would go on reading the old one. */
#include "kube/events.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "kube/backoff.h"
#include "kube/meta.h"

enum {
    WINDOW_MS = 2 * MS_MINUTE,
    SERIES_MS = 6 * MS_MINUTE,          /* silence that ends a series */
    SERIES_REFRESH_MS = 30 * MS_MINUTE, /* how often a running series is written */
    RETRY_MS = 10 * MS_SECOND,
    TRIES_MAX = 12,
    RATE_ALL = 20, /* a second, over all reasons: an API server keeps each Event for an hour */
    BURST_ALL = 200,
    RATE_BUSY = 5, /* reasons that come for every pod (spec api 11.2) or node */
    BURST_BUSY = 10,
    NAME_MAX_LEN = 253,
    SHORT_MAX = 128, /* reason, action, reporting instance */
    TABLE_BITS = 13, /* twice EVENTS_KNOWN_MAX: probes stay short */
};

static const struct rule {
    const char *reason;
    span_ms window;
    enum kind about; /* KIND_NONE: any */
    bool busy;       /* has a rate of its own */
} rules[] = {
    {"FailedScheduling", 5 * MS_MINUTE, KIND_POD, false},
    {"Nominated", WINDOW_MS, KIND_POD, true},
    {"NoCompatibleInstanceTypes", MS_MINUTE, KIND_NODE_POOL, false},
    {"InsufficientCapacityError", WINDOW_MS, KIND_POD, true},
    {"InvalidDoNotDisruptAnnotation", WINDOW_MS, KIND_POD, true},
    {"DoNotDisruptUntil", WINDOW_MS, KIND_POD, true},
    {"DoNotDisruptGracePeriodElapsed", WINDOW_MS, KIND_POD, true},
    {"DisruptionBlocked", MS_MINUTE, KIND_NODE_POOL, false},
    {"DisruptionBlocked", WINDOW_MS, KIND_NONE, true},
    {"DisruptionRecommended", 15 * MS_MINUTE, KIND_NONE, true},
    {"Unconsolidatable", 15 * MS_MINUTE, KIND_NONE, false},
    {"NodeRepairBlocked", 15 * MS_MINUTE, KIND_NONE, false},
    {"RebootObserved", 30 * MS_MINUTE, KIND_NONE, false},
    {"RebootFailed", 30 * MS_MINUTE, KIND_NONE, false},
};

struct known {     /* one reason on one object */
    uint64_t key;  /* 0: free */
    uint64_t text; /* hash of the note */
    mono_ms told;  /* last, past the window */
    mono_ms written;
    uint32_t count;        /* of the series; 1: just the Event */
    bool has_event;        /* `name` is, or soon will be, there */
    uint32_t newer, older; /* by `told` */
    char *ns, *name;
};

struct pending {
    struct pending *next;
    struct events *home;
    uint64_t key; /* of its known */
    bool series;
    uint32_t tries;
    mono_ms due;
    char *ns, *name;
    struct buf body;
};

struct events {
    pthread_mutex_t lock; /* of all below */
    struct api *api;
    char controller[SHORT_MAX + 1], instance[SHORT_MAX + 1];
    struct known *known; /* EVENTS_KNOWN_MAX + 1; [0] is nobody, so that index 0 means none */
    uint32_t known_count;
    uint32_t newest, oldest;
    uint16_t table[1 << TABLE_BITS]; /* hash → index of known */
    struct pending *first, *last;    /* to be sent */
    uint32_t pending;                /* those and those under way */
    struct bucket all, busy[COUNT_OF(rules)];
    uint64_t serial; /* makes names differ within a millisecond */
    struct events_counts counts;
};

static void copy_short(char out[SHORT_MAX + 1], struct span s)
{
    size_t n = s.len < SHORT_MAX ? s.len : SHORT_MAX;
    if (n != 0)
        memcpy(out, s.ptr, n);
    out[n] = '\0';
}

struct events *events_new(const struct events_config *config, struct api *api)
{
    struct events *e = mem_new(sizeof(*e));
    pthread_mutex_init(&e->lock, NULL);
    e->api = api;
    copy_short(e->controller, config->controller);
    copy_short(e->instance, config->instance.len != 0 ? config->instance : config->controller);
    e->known = mem_array(EVENTS_KNOWN_MAX + 1, sizeof(*e->known));
    e->all = (struct bucket){.rate = RATE_ALL, .burst = BURST_ALL};
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        e->busy[i] = (struct bucket){.rate = RATE_BUSY, .burst = BURST_BUSY};
    return e;
}

static void pending_free(struct pending *p)
{
    free(p->ns);
    free(p->name);
    buf_release(&p->body);
    free(p);
}

void events_free(struct events *e)
{
    if (e == NULL)
        return;
    for (struct pending *p = e->first, *next; p != NULL; p = next) {
        next = p->next;
        pending_free(p);
    }
    for (uint32_t i = 1; i <= e->known_count; i++) {
        free(e->known[i].ns);
        free(e->known[i].name);
    }
    free(e->known);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* The table: open addressing, linear probing, deletion by shifting back. */

static uint32_t slot_of(uint64_t key)
{
    return (uint32_t)(key >> (64 - TABLE_BITS));
}

static uint32_t next_slot(uint32_t slot)
{
    return (slot + 1) & ((1u << TABLE_BITS) - 1);
}

static uint32_t find_slot(const struct events *e, uint64_t key)
{
    uint32_t slot = slot_of(key);
    while (e->table[slot] != 0 && e->known[e->table[slot]].key != key)
        slot = next_slot(slot);
    return slot;
}

static void table_remove(struct events *e, uint64_t key)
{
    uint32_t hole = find_slot(e, key);
    for (uint32_t at = next_slot(hole); e->table[at] != 0; at = next_slot(at)) {
        uint32_t home = slot_of(e->known[e->table[at]].key);
        /* Does `home` lie outside of (hole, at]? Then the entry may move into the hole. */
        bool between = hole <= at ? home > hole && home <= at : home > hole || home <= at;
        if (between)
            continue;
        e->table[hole] = e->table[at];
        hole = at;
    }
    e->table[hole] = 0;
}

static void unlink_known(struct events *e, uint32_t i)
{
    struct known *k = &e->known[i];
    *(k->newer != 0 ? &e->known[k->newer].older : &e->newest) = k->older;
    *(k->older != 0 ? &e->known[k->older].newer : &e->oldest) = k->newer;
}

static void link_newest(struct events *e, uint32_t i)
{
    struct known *k = &e->known[i];
    k->newer = 0;
    k->older = e->newest;
    *(e->newest != 0 ? &e->known[e->newest].newer : &e->oldest) = i;
    e->newest = i;
}

static struct known *known_find(struct events *e, uint64_t key)
{
    uint32_t i = e->table[find_slot(e, key)];
    return i != 0 ? &e->known[i] : NULL;
}

/* A free entry, or the one that has been silent longest. */
static struct known *known_add(struct events *e, uint64_t key)
{
    uint32_t i;
    if (e->known_count < EVENTS_KNOWN_MAX) {
        i = ++e->known_count;
    } else {
        i = e->oldest;
        unlink_known(e, i);
        table_remove(e, e->known[i].key);
        free(e->known[i].ns);
        free(e->known[i].name);
    }
    e->known[i] = (struct known){.key = key};
    e->table[find_slot(e, key)] = (uint16_t)i;
    link_newest(e, i);
    return &e->known[i];
}

/* Keys and texts. */

static void add_part(struct buf *b, struct span s)
{
    buf_addf(b, "%zu:", s.len); /* so that parts cannot run into one another */
    buf_add(b, s);
}

static uint64_t key_of(const struct event_note *n)
{
    struct buf b = {0};
    buf_addf(&b, "%d %d ", n->about.kind, n->warning);
    add_part(&b, n->reason);
    add_part(&b, n->about.ns);
    add_part(&b, n->about.name);
    add_part(&b, n->about.uid);
    add_part(&b, n->dedupe);
    uint64_t key = span_hash(buf_span(&b));
    buf_release(&b);
    return key != 0 ? key : 1;
}

/* At most `max` bytes, not within a character. */
static struct span cut(struct span s, size_t max)
{
    if (s.len <= max)
        return s;
    s.len = max;
    while (s.len != 0 && ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80)
        s.len--;
    return s;
}

/* Safe to print, as `kubectl describe` does; one that is cut says so. */
static struct span shown_note(struct arena *a, struct span note)
{
    note = safe_line(a, note);
    if (note.len <= EVENTS_NOTE_MAX)
        return note;
    struct span kept = cut(note, EVENTS_NOTE_MAX - 3);
    return arena_printf(a, "%.*s...", SPAN_ARG(kept));
}

static char *text_dup(struct span s)
{
    char *copy = mem_new(s.len + 1);
    if (s.len != 0)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

/* "<object>.<hex nanoseconds>", as others name them; the object's part is cut to what a name may
 * be. */
static char *event_name(struct events *e, struct span object, wall_ms wall)
{
    struct buf b = {0};
    uint64_t ns = (uint64_t)wall * 1000000 + e->serial++ % 1000000;
    object = cut(object, NAME_MAX_LEN - 17);
    while (object.len != 0 && strchr(".-", object.ptr[object.len - 1]) != NULL)
        object.len--;
    buf_addf(&b, "%.*s.%llx", SPAN_ARG(object), (unsigned long long)ns);
    char *name = text_dup(buf_span(&b));
    buf_release(&b);
    return name;
}

static void put_object(struct json *j, const char *key, const struct event_object *o)
{
    const struct kind_info *info = kind_info(o->kind);
    json_put_object(j, key);
    json_put_string(j, "apiVersion", span_of(info->api_version));
    json_put_string(j, "kind", span_of(info->name));
    if (o->ns.len != 0)
        json_put_string(j, "namespace", o->ns);
    json_put_string(j, "name", o->name);
    if (o->uid.len != 0)
        json_put_string(j, "uid", o->uid);
    json_object_end(j);
}

static void write_event(const struct events *e, const struct event_note *n, const struct known *k,
                        wall_ms wall, struct buf *out)
{
    struct arena a;
    arena_init(&a, 0);
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("events.k8s.io/v1"));
    json_put_string(&j, "kind", SPAN("Event"));
    json_put_object(&j, "metadata");
    json_put_string(&j, "name", span_of(k->name));
    json_put_string(&j, "namespace", span_of(k->ns));
    json_object_end(&j);
    json_put_string(&j, "eventTime", time_micro_text(&a, wall));
    json_put_string(&j, "reportingController", span_of(e->controller));
    json_put_string(&j, "reportingInstance", span_of(e->instance));
    json_put_string(&j, "action", cut(n->action.len != 0 ? n->action : n->reason, SHORT_MAX));
    json_put_string(&j, "reason", cut(n->reason, SHORT_MAX));
    put_object(&j, "regarding", &n->about);
    if (n->related != NULL)
        put_object(&j, "related", n->related);
    json_put_string(&j, "note", shown_note(&a, n->note));
    json_put_string(&j, "type", n->warning ? SPAN("Warning") : SPAN("Normal"));
    json_object_end(&j);
    arena_release(&a);
}

static void write_series(const struct known *k, wall_ms wall, struct buf *out)
{
    struct arena a;
    arena_init(&a, 0);
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_object(&j, "series");
    json_put_int(&j, "count", k->count);
    json_put_string(&j, "lastObservedTime", time_micro_text(&a, wall));
    json_object_end(&j);
    json_object_end(&j);
    arena_release(&a);
}

/* Recording. */

static const struct rule *rule_of(const struct event_note *n)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        if (span_eq(n->reason, span_of(rules[i].reason)) &&
            (rules[i].about == KIND_NONE || rules[i].about == n->about.kind))
            return &rules[i];
    return NULL;
}

static bool pass_rates(struct events *e, const struct rule *rule, mono_ms now)
{
    if (e->pending >= EVENTS_PENDING_MAX)
        return false;
    if (rule != NULL && rule->busy && !bucket_take(&e->busy[rule - rules], now))
        return false;
    return bucket_take(&e->all, now);
}

static struct pending *push(struct events *e, const struct known *k, bool series)
{
    struct pending *p = mem_new(sizeof(*p));
    p->home = e;
    p->key = k->key;
    p->series = series;
    p->ns = text_dup(span_of(k->ns));
    p->name = text_dup(span_of(k->name));
    *(e->last != NULL ? &e->last->next : &e->first) = p;
    e->last = p;
    e->pending++;
    return p;
}

static bool tell_series(struct events *e, struct known *k, mono_ms now, wall_ms wall)
{
    k->count++;
    if (k->count > 2 && now - k->written < SERIES_REFRESH_MS)
        return false;
    k->written = now;
    write_series(k, wall, &push(e, k, true)->body);
    return true;
}

static void tell_new(struct events *e, struct known *k, const struct event_note *n, mono_ms now,
                     wall_ms wall)
{
    free(k->ns);
    free(k->name);
    k->ns = text_dup(n->about.ns.len != 0 ? n->about.ns : SPAN("default"));
    k->name = event_name(e, n->about.name, wall);
    k->text = span_hash(n->note);
    k->written = now;
    k->count = 1;
    k->has_event = true;
    write_event(e, n, k, wall, &push(e, k, false)->body);
}

static bool record(struct events *e, const struct event_note *n, mono_ms now, wall_ms wall)
{
    const struct rule *rule = rule_of(n);
    uint64_t key = key_of(n);
    struct known *k = known_find(e, key);
    if (k != NULL && now - k->told < (rule != NULL ? rule->window : (span_ms)WINDOW_MS)) {
        e->counts.repeated++;
        return false;
    }
    if (!pass_rates(e, rule, now)) {
        e->counts.dropped++;
        return false;
    }
    if (k == NULL) {
        k = known_add(e, key);
    } else {
        unlink_known(e, (uint32_t)(k - e->known));
        link_newest(e, (uint32_t)(k - e->known));
    }
    bool goes_on = k->has_event && now - k->told < SERIES_MS && k->text == span_hash(n->note);
    k->told = now;
    if (goes_on)
        return tell_series(e, k, now, wall);
    tell_new(e, k, n, now, wall);
    return true;
}

bool events_record(struct events *e, const struct event_note *note, mono_ms now, wall_ms wall)
{
    pthread_mutex_lock(&e->lock);
    bool due = record(e, note, now, wall);
    pthread_mutex_unlock(&e->lock);
    return due;
}

/* Sending. */

/* The Event of a series is gone (they live an hour): the next repeat makes a new one. */
static void forget_event(struct events *e, const struct pending *p)
{
    struct known *k = known_find(e, p->key);
    if (k != NULL && strcmp(k->name, p->name) == 0)
        k->has_event = false;
}

static void on_sent(void *user, const struct api_result *result)
{
    struct pending *p = user;
    struct events *e = p->home;
    pthread_mutex_lock(&e->lock);
    bool again = result->err.kind == ERR_RETRY && p->tries < TRIES_MAX;
    if (again) {
        p->due = 0; /* the next step says when */
        p->next = NULL;
        *(e->last != NULL ? &e->last->next : &e->first) = p;
        e->last = p;
    } else if (result->err.kind == ERR_NONE || result->err.kind == ERR_CONFLICT) {
        *(p->series ? &e->counts.series : &e->counts.created) += 1; /* 409: an earlier try did it */
    } else {
        e->counts.dropped++;
        forget_event(e, p);
    }
    if (!again)
        e->pending--;
    pthread_mutex_unlock(&e->lock);
    if (!again)
        pending_free(p);
}

/* Takes what is due out of the line. */
static struct pending *take_due(struct events *e, mono_ms now, mono_ms *next_out)
{
    struct pending *due = NULL, **due_end = &due, **at = &e->first;
    e->last = NULL;
    for (struct pending *p; (p = *at) != NULL;) {
        if (p->due == 0)
            p->due = p->tries == 0 ? now : now + RETRY_MS;
        if (p->due <= now) {
            *at = p->next;
            p->next = NULL;
            *due_end = p;
            due_end = &p->next;
            continue;
        }
        *next_out = p->due < *next_out ? p->due : *next_out;
        e->last = p;
        at = &p->next;
    }
    return due;
}

mono_ms events_step(struct events *e, mono_ms now)
{
    mono_ms next = INT64_MAX;
    pthread_mutex_lock(&e->lock);
    struct pending *due = take_due(e, now, &next);
    pthread_mutex_unlock(&e->lock);
    while (due != NULL) { /* without the lock: an api may call back at once */
        struct pending *p = due;
        due = p->next;
        p->tries++;
        p->due = 0;
        api_send(e->api,
                 &(struct api_request){.verb = p->series ? API_MERGE : API_CREATE,
                                       .kind = KIND_EVENT,
                                       .ns = span_of(p->ns),
                                       .name = span_of(p->name),
                                       .body = buf_span(&p->body)},
                 on_sent, p);
    }
    return next;
}

struct events_counts events_counts(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    struct events_counts counts = e->counts;
    pthread_mutex_unlock(&e->lock);
    return counts;
}
