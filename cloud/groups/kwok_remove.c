/* All Nodes are read, then it is decided whether they may go, then all are deleted: no id that is wrong costs another its
 * machine. */
#include "base/json.h"
#include "cloud/groups/kwok_inner.h"

/* Of the Node as it was read. */
static struct span delete_options(struct arena *a, struct span uid)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("v1"));
    json_put_string(&j, "kind", SPAN("DeleteOptions"));
    json_put_object(&j, "preconditions");
    json_put_string(&j, "uid", uid);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

/* What a snapshot has not shown yet stays made; another's Node of that name is no machine of ours. */
static void on_deleted(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct group_operation *o = p->operation;
    struct kwok_group *g = o->group;
    struct err err;
    bool gone = r->err.kind == ERR_NONE || r->err.kind == ERR_NOT_FOUND || r->status == 409;
    if (!gone)
        group_part_refused(p, r, "deleting Node", &err);
    pthread_mutex_lock(&o->of->lock);
    struct row *row = p->row;
    if (gone) {
        row->state = ROW_GONE;
    } else {
        group_operation_fail(o, &err);
        g->target++;
        if (row->version != 0)
            row->state = ROW_MADE;
        else
            row_drop(g, row);
    }
    p->row = NULL;
    pthread_mutex_unlock(&o->of->lock);
    group_operation_drop(o);
}

/* Under the lock. Those that end: how many the target has of them. */
static int32_t count_ends(struct group_operation *o)
{
    const struct kwok_group *g = o->group;
    int32_t n = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        struct group_part *p = &o->parts[i];
        struct row *r = row_find(g, p->name);
        if (p->is_there && r != NULL && !row_counts(r))
            p->is_there = false; /* another call sees to it */
        p->row = r != NULL && (r->state == ROW_SILENT || r->state == ROW_BROKEN) ? r : NULL;
        n += p->is_there || p->row != NULL;
    }
    return n;
}

static bool may_end(struct group_operation *o, int32_t ends, struct err *err)
{
    const struct kwok_group *g = o->group;
    if (ends == 0 || o->forced || g->target - ends >= g->shape.min)
        return true;
    return err_set(err, ERR_INVALID, "group %.*s: without %d machine%s its size would be %d, below its minimum, %d",
                   SPAN_ARG(g->shape.group), ends, ends != 1 ? "s" : "", g->target - ends, g->shape.min);
}

static void end_all(struct group_operation *o)
{
    struct kwok_group *g = o->group;
    for (uint32_t i = 0; i < o->count; i++) {
        struct group_part *p = &o->parts[i];
        struct row *old = row_find(g, p->name);
        uint32_t ordinal;
        if (!p->is_there && (old == NULL || !row_counts(old)))
            continue;
        if (!p->is_there) { /* what never was a Node, or is none any more */
            g->target -= p->row == NULL;
            row_drop(g, old);
            p->row = NULL;
            continue;
        }
        if (!kwok_node_ordinal(g->shape.group, p->name, &ordinal))
            ordinal = UINT32_MAX;
        struct row *r = row_add(g, ROW_ENDING, ordinal, p->name, p->uid);
        if (old != NULL) {
            r->version = old->version;
            row_drop(g, old);
        }
        p->row = r;
    }
}

static void decide(struct group_operation *o)
{
    struct kwok_group *g = o->group;
    struct err err;
    o->step = NULL;
    pthread_mutex_lock(&o->of->lock);
    bool ok = o->err.kind == ERR_NONE;
    int32_t ends = ok ? count_ends(o) : 0;
    if (ok && !may_end(o, ends, &err)) {
        group_operation_fail(o, &err);
        ok = false;
    }
    if (ok) {
        g->target -= ends;
        end_all(o);
    }
    pthread_mutex_unlock(&o->of->lock);
    for (uint32_t i = 0; i < o->count && ok; i++) {
        struct group_part *p = &o->parts[i];
        if (p->is_there)
            group_part_send(p,
                            (struct api_request){.verb = API_DELETE, .kind = KIND_NODE, .name = p->name,
                                                 .body = delete_options(&o->arena, p->uid)},
                            on_deleted);
    }
}

static void on_read(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct group_operation *o = p->operation;
    const struct kwok_group *g = o->group;
    struct err err = {0};
    struct doc_value meta = {0}, deleted;
    if (r->err.kind != ERR_NONE && r->err.kind != ERR_NOT_FOUND) {
        group_part_refused(p, r, "reading Node", &err);
    } else if (r->err.kind == ERR_NONE && r->body != NULL && doc_find(doc_root(r->body), SPAN("metadata"), &meta)) {
        bool goes = doc_find(meta, SPAN("deletionTimestamp"), &deleted);
        p->is_there = !goes && kwok_group_owns(doc_root(r->body), g->shape.group);
        p->uid = arena_dup(&o->arena, doc_text_at(meta, SPAN("uid")));
        if (!goes && !p->is_there)
            err_set(&err, ERR_INVALID, "Node %.*s is no machine of group %.*s", SPAN_ARG(p->name), SPAN_ARG(g->shape.group));
    }
    if (err.kind != ERR_NONE) {
        pthread_mutex_lock(&o->of->lock);
        group_operation_fail(o, &err);
        pthread_mutex_unlock(&o->of->lock);
    }
    group_operation_drop(o);
}

/* Under the lock. What never was a Node is not read. */
static bool find(struct group_operation *o, const struct span *ids, struct err *err)
{
    const struct kwok_group *g = o->group;
    struct span prefix = SPAN(KWOK_ID_PREFIX);
    for (uint32_t i = 0; i < o->count; i++) {
        struct group_part *p = &o->parts[i];
        if (!span_has_prefix(ids[i], prefix) || ids[i].len == prefix.len || span_contains(ids[i], SPAN("/")))
            return err_set(err, ERR_INVALID, "\"%.*s\" is not an id of provider kwok", SPAN_ARG(ids[i]));
        p->name = arena_dup(&o->arena, (struct span){ids[i].ptr + prefix.len, ids[i].len - prefix.len});
        for (uint32_t k = 0; k < i; k++)
            if (span_eq(p->name, o->parts[k].name))
                return err_set(err, ERR_INVALID, "\"%.*s\" is to be removed twice", SPAN_ARG(ids[i]));
        struct row *r = row_find(g, p->name);
        if (r != NULL && r->state == ROW_ASKED)
            return err_set(err, ERR_RETRY, "Node %.*s is being created", SPAN_ARG(p->name));
        p->is_there = r == NULL || (r->state != ROW_SILENT && r->state != ROW_BROKEN);
    }
    return true;
}

uint64_t kwok_groups_remove(struct group_provider *provider, struct span group, const struct span *ids, uint32_t count,
                            bool force, group_done *done, void *user)
{
    struct kwok_groups *k = kwok_groups_of(provider);
    struct group_operation *o = group_operation_new(&k->operations, count, done, user);
    uint64_t id = o->id;
    struct err err;
    bool ok = true;
    o->provider = k;
    o->forced = force;
    pthread_mutex_lock(&k->operations.lock);
    struct kwok_group *g = kwok_group_find(k, group);
    o->group = g;
    if (g == NULL)
        ok = err_set(&err, ERR_INVALID, "group %.*s: there is no such group", SPAN_ARG(group));
    else if (!g->looked_at)
        ok = err_set(&err, ERR_CONFLICT, "group %.*s: its machines were not looked at yet", SPAN_ARG(group));
    else
        ok = find(o, ids, &err);
    if (!ok)
        group_operation_fail(o, &err);
    pthread_mutex_unlock(&k->operations.lock);
    if (ok)
        o->step = decide;
    for (uint32_t i = 0; i < o->count && ok; i++)
        if (o->parts[i].is_there) {
            o->parts[i].is_there = false; /* until it is read */
            group_part_send(&o->parts[i],
                            (struct api_request){.verb = API_GET, .kind = KIND_NODE, .name = o->parts[i].name}, on_read);
        }
    group_operation_drop(o);
    return id;
}
