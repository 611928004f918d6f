/* A watch is a position in the log of its kind. What the log has forgotten, and what a broken watch
 * was told is too old, is made good by a new LIST, as the API client does after a 410. */
#include "sim/cluster_state.h"

enum { LOG_KEPT_MAX = 100000 }; /* changes that a broken watch may hold back */

static void tell(struct sim_cluster *c, const struct watch *w, enum kind k, enum watch_event e,
                 struct span text)
{
    const struct doc *doc;
    struct err err;
    if (doc_parse_json(c->parser, text, &doc, &err))
        w->sink.event(w->sink.user, k, e, doc_root(doc));
}

static void list(struct sim_cluster *c, struct watch *w, enum kind k)
{
    struct buf text = {0};
    const char *key;
    json_t *object;
    bool hides = w->hidden != 0;
    w->hidden -= hides;
    w->sink.list_begin(w->sink.user, k);
    json_object_foreach(c->objects.kinds[k], key, object) {
        if (hides)
            break;
        buf_clear(&text);
        tree_put(&text, object);
        tell(c, w, k, WATCH_PUT, buf_span(&text));
    }
    w->sink.list_end(w->sink.user, k, w->asked);
    buf_release(&text);
    w->at = c->objects.version;
    w->list_at = 0;
    w->asked = false;
    w->state = WATCH_LIVE;
}

static bool resume(struct sim_cluster *c, struct watch *w, enum kind k)
{
    if (w->state == WATCH_BROKEN && w->until <= c->objects.now) {
        w->state = w->expired || w->at < c->objects.logs[k].trimmed ? WATCH_LIST : WATCH_LIVE;
        w->sink.state(w->sink.user, k, NULL);
    }
    if (atomic_exchange(&w->doubted, false))
        w->list_at = c->objects.now + c->options.apply_delay;
    if (w->state == WATCH_LIVE && w->list_at != 0 && w->list_at <= c->objects.now) {
        w->state = WATCH_LIST;
        w->asked = true;
    }
    return w->state == WATCH_LIST || w->state == WATCH_LIVE;
}

static span_ms delay_of(const struct sim_cluster *c, const struct client *client)
{
    return client->sees_at_once ? 0 : c->options.watch_delay;
}

static bool watch_step(struct sim_cluster *c, struct watch *w, enum kind k, span_ms delay)
{
    uint32_t count;
    bool told = false;
    if (!resume(c, w, k))
        return false;
    if (w->state == WATCH_LIST) {
        list(c, w, k);
        return true;
    }
    struct change *change = objects_changes_after(&c->objects, k, w->at, &count);
    for (; count > 0 && change->at + delay <= c->objects.now; change++, count--) {
        tell(c, w, k, change->event, change_text(change));
        w->at = change->version;
        told = true;
    }
    return told;
}

bool cluster_watch_step(struct sim_cluster *c, struct client *client)
{
    bool told = false;
    for (enum kind k = 0; k < KIND_STORED_COUNT && !client->dead; k++)
        told = watch_step(c, &client->watches[k], k, delay_of(c, client)) || told;
    return told;
}

static wall_ms watch_due(struct sim_cluster *c, const struct watch *w, enum kind k, span_ms delay)
{
    uint32_t count;
    if (w->state == WATCH_NONE)
        return INT64_MAX;
    if (w->state == WATCH_LIST || atomic_load(&w->doubted))
        return c->objects.now;
    if (w->state == WATCH_BROKEN)
        return w->until;
    const struct change *next = objects_changes_after(&c->objects, k, w->at, &count);
    wall_ms due = next != NULL ? next->at + delay : INT64_MAX;
    return w->list_at != 0 && w->list_at < due ? w->list_at : due;
}

wall_ms cluster_watch_due(struct sim_cluster *c, const struct client *client)
{
    wall_ms due = INT64_MAX;
    for (enum kind k = 0; k < KIND_STORED_COUNT && !client->dead; k++) {
        wall_ms one = watch_due(c, &client->watches[k], k, delay_of(c, client));
        due = one < due ? one : due;
    }
    return due;
}

static uint64_t heard_by_all(const struct sim_cluster *c, enum kind k)
{
    uint64_t heard = c->objects.version;
    for (const struct client *client = c->clients; client != NULL; client = client->next) {
        const struct watch *w = &client->watches[k];
        if (!client->dead && w->state != WATCH_NONE && w->state != WATCH_LIST && w->at < heard)
            heard = w->at;
    }
    return heard;
}

void cluster_watch_trim(struct sim_cluster *c)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        const struct change_log *log = &c->objects.logs[k];
        if (log->count > LOG_KEPT_MAX)
            objects_trim(&c->objects, k, log->items[log->count - LOG_KEPT_MAX].version);
        objects_trim(&c->objects, k, heard_by_all(c, k));
    }
}

void sim_client_hide(struct api *api, enum kind k, uint32_t lists)
{
    ((struct client *)api)->watches[k].hidden = lists;
}

void sim_client_break_watch(struct api *api, enum kind k, wall_ms until, bool expired)
{
    struct client *client = (struct client *)api;
    struct watch *w = &client->watches[k];
    struct err broken;
    if (client->dead || w->state == WATCH_NONE)
        return;
    /* A watch that had not listed yet has no position to resume from. */
    w->expired = expired || w->state == WATCH_LIST || (w->state == WATCH_BROKEN && w->expired);
    w->state = WATCH_BROKEN;
    w->until = until;
    err_set(&broken, ERR_RETRY, "watch of %s: connection closed", kind_info(k)->plural);
    w->sink.state(w->sink.user, k, &broken);
}
