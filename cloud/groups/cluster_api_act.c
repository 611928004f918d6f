/* Sizes are written through the scale subresource, with the version of the scale that was read just before. A conflict is
 * another's write: it is read again and decided anew. An answer that was lost is asked for by reading again: the same size
 * under a lock can be written twice, and counts once.
 *
 * A removal reads its Machines and the scale, marks the Machines, and then lowers the size once. What fails for certain
 * takes the marks back; what may have been written keeps them, since a size that was lowered takes what is marked first.
 *
 * Calls of one group take turns: of two removals' marks a size that is lowered would take any. */
#include "base/json.h"
#include "cloud/groups/cluster_api_inner.h"

/* Of one write. Each conflict means that somebody else's came through: a status, mostly. */
enum { TRIES_MAX = 10 };

struct capi_work { /* of an operation; in its arena */
    struct capi_work *next; /* in line */
    struct group_operation *operation;
    struct capi *c;
    struct span id, ns, name;
    enum kind kind; /* of the scalable object */
    bool removes;
    int32_t from, to, min, max;
    int32_t existing; /* Machines of the last look that are not being deleted */
    int32_t ends;     /* of a removal: so many fewer */
    int32_t pooled;   /* of them, those that are in a MachinePool and no Machine */
    bool unsure;      /* a write may have happened */
    int32_t replicas; /* of the scale */
    struct span version;
    uint32_t tries;
    uint32_t machines; /* parts 1…machines are Machines to remove, those behind them have stale marks; part 0 is the scale */
};

static struct capi_work *work_of(const struct group_operation *o)
{
    return o->group;
}

static struct capi *provider_of(const struct group_operation *o)
{
    return work_of(o)->c;
}

static void fail_with(struct group_operation *o, const struct err *err)
{
    pthread_mutex_lock(&o->of->lock);
    group_operation_fail(o, err);
    pthread_mutex_unlock(&o->of->lock);
}

/* ---- the scale ---- */

static void decide(struct group_operation *o);
static void take_marks_back(struct group_operation *o);

static bool read_scale(struct capi_work *w, struct arena *a, const struct api_result *r)
{
    struct doc_value meta, spec;
    if (r->body == NULL || !doc_find(doc_root(r->body), SPAN("metadata"), &meta))
        return false;
    bool said = doc_find(doc_root(r->body), SPAN("spec"), &spec) && doc_type(spec) == DOC_OBJECT;
    w->replicas = said ? (int32_t)doc_int64_at(spec, SPAN("replicas"), 0) : 0;
    w->version = arena_dup(a, doc_text_at(meta, SPAN("resourceVersion")));
    return w->version.len != 0;
}

static void on_scale_read(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct group_operation *o = p->operation;
    struct err err;
    if (r->err.kind == ERR_NONE && read_scale(work_of(o), &o->arena, r)) {
        group_operation_drop(o);
        return;
    }
    if (r->err.kind == ERR_NOT_FOUND) {
        err_set(&err, ERR_INVALID, "group %.*s: there is no such group", SPAN_ARG(work_of(o)->id));
    } else {
        group_part_refused(p, r, "reading the scale of", &err);
        if (r->err.kind == ERR_NONE)
            err_set(&err, ERR_RETRY, "group %.*s: the reply is not a Scale", SPAN_ARG(work_of(o)->id));
    }
    fail_with(o, &err);
    group_operation_drop(o);
}

static void send_scale(struct group_operation *o, enum api_verb verb, struct span body, api_done *done)
{
    const struct capi_work *w = work_of(o);
    group_part_send(&o->parts[0],
                    (struct api_request){.verb = verb, .kind = w->kind, .ns = w->ns, .name = w->name,
                                         .subresource = SPAN("scale"), .body = body},
                    done);
}

static void read_again(struct group_operation *o)
{
    o->step = decide;
    send_scale(o, API_GET, (struct span){NULL, 0}, on_scale_read);
}

static struct span scale_body(struct arena *a, const struct capi_work *w, int32_t replicas)
{
    return arena_printf(a, "{\"metadata\":{\"resourceVersion\":\"%.*s\"},\"spec\":{\"replicas\":%d}}", SPAN_ARG(w->version),
                        replicas);
}

static void note_done(struct group_operation *o, int32_t target)
{
    const struct capi_work *w = work_of(o);
    int64_t version = 0;
    pthread_mutex_lock(&o->of->lock);
    if (span_int64(w->version, &version))
        capi_note_size(provider_of(o), w->id, target, (uint64_t)version);
    pthread_mutex_unlock(&o->of->lock);
}

static void on_scaled(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct group_operation *o = p->operation;
    struct capi_work *w = work_of(o);
    struct err err;
    if (r->err.kind == ERR_NONE) {
        if (read_scale(w, &o->arena, r))
            note_done(o, w->replicas);
        w->unsure = false;
    } else if (++w->tries < TRIES_MAX && (r->status == 409 || (r->status == 0 && r->err.kind != ERR_CANCELLED))) {
        w->unsure |= r->status == 0;
        read_again(o);
    } else {
        w->unsure |= r->status == 0 && r->err.kind != ERR_CANCELLED;
        group_part_refused(p, r, "writing the scale of", &err);
        if (r->err.kind == ERR_NOT_FOUND)
            err.kind = ERR_INVALID;
        fail_with(o, &err);
        if (w->removes)
            o->step = take_marks_back;
    }
    group_operation_drop(o);
}

static void write_scale(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    o->step = NULL;
    send_scale(o, API_MERGE, scale_body(&o->arena, w, w->removes ? w->replicas - w->ends : w->to), on_scaled);
}

/* ---- turns ---- */

static void start(struct group_operation *o);

static void go_on(struct group_operation *o, bool ok, bool waits)
{
    if (ok && !waits)
        start(o);
    if (!waits)
        group_operation_drop(o);
}

/* Under the lock. The first in line of the group; NULL: none is. */
static struct capi_work *first_of(const struct capi *c, struct span id)
{
    struct capi_work *w = c->line;
    while (w != NULL && !span_eq(w->id, id))
        w = w->next;
    return w;
}

static void leave_line(struct group_operation *o)
{
    struct capi_work *w = work_of(o), **at;
    struct capi *c = w->c;
    pthread_mutex_lock(&o->of->lock);
    for (at = &c->line; *at != w;)
        at = &(*at)->next;
    *at = w->next;
    struct capi_work *next = first_of(c, w->id);
    pthread_mutex_unlock(&o->of->lock);
    if (next != NULL) {
        start(next->operation);
        group_operation_drop(next->operation);
    }
}

/* Under the lock. True: it is its turn; else whoever is before it lets it go on, and holds it until then. */
static bool join_line(struct group_operation *o)
{
    struct capi_work *w = work_of(o), **at = &w->c->line;
    while (*at != NULL)
        at = &(*at)->next;
    *at = w;
    o->ended = leave_line;
    return first_of(w->c, w->id) == w;
}

/* ---- resize ---- */

static void decide_size(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    struct err err;
    o->step = NULL;
    if (o->err.kind != ERR_NONE)
        return;
    if (w->replicas == w->to) { /* by an earlier call, whose answer was lost */
        note_done(o, w->to);
    } else if (w->replicas != w->from) {
        err_set(&err, ERR_CONFLICT, "group %.*s: its size is %d, not %d, by now", SPAN_ARG(w->id), w->replicas, w->from);
        fail_with(o, &err);
    } else {
        write_scale(o);
    }
}

static bool check_size(const struct capi *c, const struct capi_group *g, struct span id, int32_t from, int32_t to,
                       struct err *err)
{
    if (!c->looked_at)
        return err_set(err, ERR_CONFLICT, "group %.*s: it was not looked at yet", SPAN_ARG(id));
    if (g == NULL)
        return err_set(err, ERR_INVALID, "group %.*s: there is no such group", SPAN_ARG(id));
    if (to > from && to > g->max)
        return err_set(err, ERR_INVALID, "group %.*s: a size of %d is above its maximum, %d", SPAN_ARG(id), to, g->max);
    if (to < from && to < g->min)
        return err_set(err, ERR_INVALID, "group %.*s: a size of %d is below its minimum, %d", SPAN_ARG(id), to, g->min);
    if (to < from && to < g->settled)
        return err_set(err, ERR_INVALID, "group %.*s: %d of its machines are there; a size of %d would end some", SPAN_ARG(id),
                       g->settled, to);
    return true;
}

/* Under the lock. */
static void begin(struct group_operation *o, struct capi *c, const struct capi_group *g)
{
    struct capi_work *w = work_of(o);
    w->operation = o;
    w->c = c;
    w->id = arena_dup(&o->arena, g->id);
    w->kind = g->kind;
    w->ns = arena_dup(&o->arena, g->ns);
    w->name = arena_dup(&o->arena, g->name);
    w->min = g->min;
    w->max = g->max;
    w->existing = g->existing;
    o->parts[0].ns = w->ns;
    o->parts[0].name = w->name;
}

uint64_t capi_resize(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done, void *user)
{
    struct capi *c = capi_of(p);
    struct group_operation *o = group_operation_new(&c->operations, 1, done, user);
    struct capi_work *w = ARENA_NEW(&o->arena, struct capi_work);
    uint64_t id = o->id;
    struct err err;
    o->group = w;
    w->from = from;
    w->to = to;
    pthread_mutex_lock(&c->operations.lock);
    const struct capi_group *g = capi_group_find(c, group);
    bool ok = check_size(c, g, group, from, to, &err), waits = false;
    if (ok) {
        begin(o, c, g);
        waits = !join_line(o);
    } else {
        group_operation_fail(o, &err);
    }
    pthread_mutex_unlock(&c->operations.lock);
    go_on(o, ok, waits);
    return id;
}

/* ---- marks ---- */

static struct span mark_body(struct arena *a, const struct group_part *p, bool on)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    if (p->uid.len != 0)
        json_put_string(&j, "uid", p->uid);
    json_put_object(&j, "annotations");
    json_key(&j, SPAN(CAPI_DELETE_KEY));
    if (on)
        json_text(&j, SPAN(CAPI_MARK));
    else
        json_null_value(&j);
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

static void send_mark(struct group_part *p, bool on, api_done *done)
{
    struct group_operation *o = p->operation;
    group_part_send(p,
                    (struct api_request){.verb = API_MERGE, .kind = KIND_MACHINE, .ns = p->ns,
                                         .name = p->name, .body = mark_body(&o->arena, p, on)},
                    done);
}

static void on_marked(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct err err;
    if (r->err.kind == ERR_NOT_FOUND || r->status == 409) {
        p->is_there = false; /* gone, or another of its name */
    } else if (r->err.kind != ERR_NONE) {
        group_part_refused(p, r, "marking Machine", &err);
        fail_with(p->operation, &err);
    }
    group_operation_drop(p->operation);
}

/* A mark that stays, since nobody can be asked, is taken back before the next removal. */
static void on_unmarked(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    (void)r;
    group_operation_drop(p->operation);
}

static void take_marks_back(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    o->step = NULL;
    o->undoes = true;
    for (uint32_t i = 1; i <= w->machines; i++) {
        struct group_part *p = &o->parts[i];
        if (!p->is_there)
            continue;
        pthread_mutex_lock(&o->of->lock);
        capi_leaving_drop(provider_of(o), p->ns, p->name);
        pthread_mutex_unlock(&o->of->lock);
        if (!w->unsure)
            send_mark(p, false, on_unmarked);
    }
}

/* All are marked: the size may be lowered. */
static void all_marked(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    o->step = NULL;
    if (o->err.kind != ERR_NONE) {
        take_marks_back(o);
        return;
    }
    w->ends = w->pooled;
    for (uint32_t i = 1; i <= w->machines; i++)
        w->ends += o->parts[i].is_there;
    if (w->ends != 0)
        write_scale(o);
}

/* ---- remove ---- */

static bool may_end(const struct group_operation *o, struct err *err)
{
    const struct capi_work *w = work_of(o);
    if (o->forced ? w->replicas >= w->ends : w->replicas - w->ends >= w->min)
        return true;
    return err_set(err, ERR_INVALID, "group %.*s: without %d machine%s its size would be %d, below its minimum, %d",
                   SPAN_ARG(w->id), w->ends, w->ends != 1 ? "s" : "", w->replicas - w->ends, w->min);
}

/* An earlier call, whose end nobody saw, has marked them all and lowered the size: there are as many Machines too many. */
static bool is_done_already(const struct group_operation *o)
{
    const struct capi_work *w = work_of(o);
    for (uint32_t i = 1; i <= w->machines; i++)
        if (o->parts[i].is_there && o->parts[i].tries == 0)
            return false;
    return w->pooled == 0 && w->existing - w->replicas >= w->ends;
}

static void mark_all(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    o->step = all_marked;
    pthread_mutex_lock(&o->of->lock);
    for (uint32_t i = 1; i <= w->machines; i++)
        if (o->parts[i].is_there)
            capi_leaving_add(provider_of(o), o->parts[i].ns, o->parts[i].name);
    pthread_mutex_unlock(&o->of->lock);
    for (uint32_t i = 1; i < o->count; i++) {
        struct group_part *p = &o->parts[i];
        if (i > w->machines)
            send_mark(p, false, on_unmarked);
        else if (p->is_there && p->tries == 0)
            send_mark(p, true, on_marked);
    }
}

static void first_decision(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    struct err err;
    o->step = NULL;
    if (o->err.kind != ERR_NONE)
        return;
    w->ends = w->pooled;
    for (uint32_t i = 1; i <= w->machines; i++)
        w->ends += o->parts[i].is_there;
    if (w->ends == 0)
        return;
    if (is_done_already(o)) {
        note_done(o, w->replicas);
        return;
    }
    if (!may_end(o, &err)) {
        fail_with(o, &err);
        return;
    }
    w->from = w->replicas;
    mark_all(o);
}

/* After another wrote the scale, or an answer was lost. */
static void decide(struct group_operation *o)
{
    struct capi_work *w = work_of(o);
    struct err err;
    if (!w->removes) {
        decide_size(o);
        return;
    }
    o->step = NULL;
    if (o->err.kind != ERR_NONE) {
        take_marks_back(o);
    } else if (w->unsure && w->replicas == w->from - w->ends) {
        w->unsure = false;
        note_done(o, w->replicas);
    } else if (!may_end(o, &err)) {
        fail_with(o, &err);
        take_marks_back(o);
    } else {
        w->from = w->replicas;
        write_scale(o);
    }
}

static void on_machine_read(void *user, const struct api_result *r)
{
    struct group_part *p = user;
    struct group_operation *o = p->operation;
    struct doc_value meta, deleted, annotations;
    struct err err;
    if (r->err.kind == ERR_NONE && r->body != NULL && doc_find(doc_root(r->body), SPAN("metadata"), &meta)) {
        p->is_there = !doc_find(meta, SPAN("deletionTimestamp"), &deleted);
        p->uid = arena_dup(&o->arena, doc_text_at(meta, SPAN("uid")));
        p->tries = doc_find(meta, SPAN("annotations"), &annotations) && doc_type(annotations) == DOC_OBJECT &&
                   span_eq(doc_text_at(annotations, SPAN(CAPI_DELETE_KEY)), SPAN(CAPI_MARK));
    } else if (r->err.kind != ERR_NOT_FOUND) {
        group_part_refused(p, r, "reading Machine", &err);
        fail_with(o, &err);
    }
    group_operation_drop(o);
}

static void start_removal(struct group_operation *o)
{
    const struct capi_work *w = work_of(o);
    if (w->machines == 0 && w->pooled == 0)
        return; /* all are gone */
    o->step = first_decision;
    send_scale(o, API_GET, (struct span){NULL, 0}, on_scale_read);
    for (uint32_t i = 1; i <= w->machines; i++)
        group_part_send(&o->parts[i],
                        (struct api_request){.verb = API_GET, .kind = KIND_MACHINE, .ns = o->parts[i].ns,
                                             .name = o->parts[i].name},
                        on_machine_read);
}

static void start(struct group_operation *o)
{
    const struct capi_work *w = work_of(o);
    if (w->removes)
        start_removal(o);
    else if (w->from != w->to)
        read_again(o);
}

/* Under the lock. Whose ids these are; what is not known is gone. */
static bool find_machines(struct group_operation *o, const struct capi_group *g, const struct span *ids, uint32_t count,
                          struct err *err)
{
    struct capi_work *w = work_of(o);
    const struct capi *c = provider_of(o);
    for (uint32_t i = 0; i < count; i++) {
        const struct capi_machine *m = capi_machine_find(c, ids[i]);
        for (uint32_t k = 0; k < i; k++)
            if (span_eq(ids[i], ids[k]))
                return err_set(err, ERR_INVALID, "\"%.*s\" is to be removed twice", SPAN_ARG(ids[i]));
        if (m == NULL)
            continue;
        if (&c->groups[m->group] != g)
            return err_set(err, ERR_INVALID, "machine %.*s is of group %.*s, not %.*s", SPAN_ARG(ids[i]),
                           SPAN_ARG(c->groups[m->group].id), SPAN_ARG(g->id));
        if (m->name.len == 0) {
            w->pooled++;
            continue;
        }
        if (capi_leaving_find(c, g->ns, m->name) != NULL)
            continue; /* another call sees, or saw, to it */
        struct group_part *p = &o->parts[++w->machines];
        p->ns = w->ns;
        p->name = arena_dup(&o->arena, m->name);
    }
    return true;
}

/* Under the lock. Of an earlier process. */
static void find_stale_marks(struct group_operation *o, const struct capi_group *g)
{
    const struct capi *c = provider_of(o);
    struct capi_work *w = work_of(o);
    uint32_t parts = w->machines + 1;
    for (uint32_t i = 0; i < c->machine_count; i++) {
        const struct capi_machine *m = &c->machines[i];
        bool ours = false;
        if (&c->groups[m->group] != g || !m->is_marked || capi_leaving_find(c, g->ns, m->name) != NULL)
            continue;
        for (uint32_t k = 1; k <= w->machines; k++)
            ours |= span_eq(o->parts[k].name, m->name);
        if (ours)
            continue;
        o->parts[parts].ns = w->ns;
        o->parts[parts++].name = arena_dup(&o->arena, m->name);
    }
    o->count = parts;
}

static bool prepare(struct group_operation *o, struct capi *c, struct span group, const struct span *ids, uint32_t count,
                    struct err *err)
{
    const struct capi_group *g = capi_group_find(c, group);
    if (!c->looked_at)
        return err_set(err, ERR_CONFLICT, "group %.*s: its machines were not looked at yet", SPAN_ARG(group));
    if (g == NULL)
        return err_set(err, ERR_INVALID, "group %.*s: there is no such group", SPAN_ARG(group));
    begin(o, c, g);
    if (!find_machines(o, g, ids, count, err))
        return false;
    find_stale_marks(o, g);
    return true;
}

static uint32_t count_marked(struct capi *c)
{
    uint32_t n = 0;
    pthread_mutex_lock(&c->operations.lock);
    for (uint32_t i = 0; i < c->machine_count; i++)
        n += c->machines[i].is_marked;
    pthread_mutex_unlock(&c->operations.lock);
    return n;
}

uint64_t capi_remove(struct group_provider *p, struct span group, const struct span *ids, uint32_t count, bool force,
                     group_done *done, void *user)
{
    struct capi *c = capi_of(p);
    struct group_operation *o = group_operation_new(&c->operations, 1 + count + count_marked(c), done, user);
    struct capi_work *w = ARENA_NEW(&o->arena, struct capi_work);
    uint64_t id = o->id;
    struct err err;
    o->group = w;
    o->forced = force;
    w->removes = true;
    pthread_mutex_lock(&c->operations.lock);
    bool ok = prepare(o, c, group, ids, count, &err), waits = false;
    if (ok)
        waits = !join_line(o);
    else
        group_operation_fail(o, &err);
    pthread_mutex_unlock(&c->operations.lock);
    go_on(o, ok, waits);
    return id;
}
