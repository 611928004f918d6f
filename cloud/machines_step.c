/* What a look at the cluster brings: calls that wait find their Machine or take one, and sizes are written. The facts are the
 * snapshot's; each write carries the version of the object that it was decided by, so that an old snapshot decides nothing. */
#include <stdlib.h>

#include "base/json.h"
#include "cloud/groups/cluster_api_inner.h"
#include "cloud/machines_inner.h"

struct owned { /* a Machine by the UID of the claim that has it */
    struct span uid;
    const struct cluster_machine *machine;
};

struct looking {
    struct machines *c;
    struct arena a;
    const struct snapshot *s;
    const void **machines, **groups;
    size_t machine_count, group_count;
    struct owned *owned; /* by uid */
    size_t owned_count;
};

/* ---- whose Machines there are ---- */

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct owned *)a)->uid, ((const struct owned *)b)->uid);
}

static void find_owned(struct looking *l)
{
    l->owned = ARENA_ARRAY(&l->a, struct owned, l->machine_count);
    for (size_t i = 0; i < l->machine_count; i++) {
        struct span uid = machines_owner(l->s, l->machines[i]);
        if (uid.len != 0)
            l->owned[l->owned_count++] = (struct owned){uid, l->machines[i]};
    }
    if (l->owned_count != 0)
        qsort(l->owned, l->owned_count, sizeof(*l->owned), by_uid);
}

/* NULL: none. */
static const struct cluster_machine *own_of(const struct looking *l, const struct machines_work *w)
{
    struct owned key = {w->machine.claim_uid, NULL};
    const struct owned *o = l->owned_count != 0 ? bsearch(&key, l->owned, l->owned_count, sizeof(key), by_uid) : NULL;
    if (o != NULL || w->machine.provider_id.len == 0)
        return o != NULL ? o->machine : NULL;
    return machines_own(l->s, w->machine.claim_uid, w->machine.provider_id);
}

/* ---- calls that have their Machine ---- */

/* Ends it, or leaves it to wait. */
static void look_after_own(struct machines_work *w, const struct cluster_machine *m)
{
    struct machines *c = w->of;
    struct machine *out = &w->machine;
    uint32_t one = 0;
    if (m->meta.deleted != 0) {
        machines_fail(w, ERR_NOT_FOUND, "Machine %.*s/%.*s is being deleted", SPAN_ARG(m->meta.ns), SPAN_ARG(m->meta.name));
        return;
    }
    if (machines_has_failed(m)) {
        pthread_mutex_lock(&c->lock);
        if (w->group.len != 0)
            machines_note_full(c, w->ns, w->group);
        pthread_mutex_unlock(&c->lock);
        machines_fail(w, ERR_CAPACITY, "Machine %.*s/%.*s has failed: %.*s", SPAN_ARG(m->meta.ns), SPAN_ARG(m->meta.name),
                      SPAN_ARG(m->failure));
        return;
    }
    if (m->provider_id.len == 0 && w->cancelled) {
        machines_fail(w, ERR_CANCELLED, "given up while Machine %.*s/%.*s has no providerID", SPAN_ARG(m->meta.ns),
                      SPAN_ARG(m->meta.name));
        return;
    }
    if (m->provider_id.len == 0)
        return;
    out->provider_id = arena_dup(&w->arena, m->provider_id);
    out->node_name = arena_dup(&w->arena, m->node);
    struct plain_label of = {SPAN(MACHINES_OF_CLAIM_KEY),
                             arena_printf(&w->arena, "%.*s/%.*s", SPAN_ARG(m->meta.ns), SPAN_ARG(m->meta.name))};
    ARENA_PUSH(&w->arena, out->annotations.items, out->annotations.count, one, of);
    machines_finish(w, out, 1);
}

/* ---- taking one ---- */

static void on_taken(void *user, const struct api_result *r)
{
    struct machines_work *w = user;
    struct machines *c = w->of;
    bool waits = r->err.kind == ERR_NONE || r->err.kind == ERR_NOT_FOUND || r->status == 409 ||
                 (r->status == 0 && r->err.kind != ERR_CANCELLED);
    pthread_mutex_lock(&c->lock);
    w->sending = false;
    w->request = 0;
    w->taken = r->err.kind == ERR_NONE;
    w->again = r->status == 0 ? c->now + MACHINES_AGAIN_MS : INT64_MAX;
    w->waits = waits; /* else ours alone from now on */
    pthread_mutex_unlock(&c->lock);
    if (waits)
        machines_wake(c); /* what became of it the next snapshots tell */
    else
        machines_refused(w, r, "taking Machine");
}

static struct span take_body(struct machines_work *w, const struct cluster_machine *m)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_string(&j, "resourceVersion", arena_printf(&w->arena, "%llu", (unsigned long long)w->version));
    json_put_string(&j, "uid", m->meta.uid);
    json_put_object(&j, "labels");
    json_put_string(&j, MACHINE_MEMBER_LABEL, SPAN(""));
    json_object_end(&j);
    json_put_object(&j, "annotations");
    json_put_string(&j, MACHINES_NAME_KEY, w->machine.claim_name);
    json_key(&j, wellknown_text[SYM_CLAIM_UID - 1]);
    json_text(&j, w->machine.claim_uid);
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(&w->arena, buf_span(&out));
    buf_release(&out);
    return body;
}

static void take(struct machines_work *w, const struct cluster_machine *m)
{
    w->sending = true;
    w->name = arena_dup(&w->arena, m->meta.name);
    w->version = m->meta.resource_version;
    machines_send(w,
                  (struct api_request){.verb = API_MERGE, .kind = KIND_MACHINE, .ns = w->ns, .name = w->name,
                                       .body = take_body(w, m)},
                  on_taken);
}

/* It was, and no newer version has come. */
static bool was_refused(const struct machines_work *w, const struct cluster_machine *m)
{
    return w->version == m->meta.resource_version && w->of->now < w->again && span_eq(w->name, m->meta.name) &&
           span_eq(w->ns, m->meta.ns);
}

/* Somebody takes it, has taken it, or was refused it as it is. */
static bool is_spoken_for(const struct machines *c, const struct cluster_machine *m)
{
    for (const struct machines_work *w = c->works; w != NULL; w = w->next)
        if (was_refused(w, m) || ((w->sending || w->taken) && span_eq(w->name, m->meta.name) && span_eq(w->ns, m->meta.ns)))
            return true;
    return false;
}

static bool is_for(const struct machines_work *w, const struct machine_group *g)
{
    return w->waits && span_eq(w->ns, g->meta.ns) && span_eq(w->group, g->meta.name);
}

/* Its own is on its way to be, or to be seen. */
static bool has_none(const struct machines_work *w)
{
    return w->waits && !w->sending && !w->taken;
}

/* ---- sizes ---- */

static struct machines_size *size_of(struct machines *c, const struct machine_group *g)
{
    struct machines_size *z = c->sizes;
    while (z != NULL && !(span_eq(z->ns, g->meta.ns) && span_eq(z->name, g->meta.name)))
        z = z->next;
    if (z != NULL)
        return z;
    z = mem_new(sizeof(*z));
    arena_init(&z->arena, 0);
    z->of = c;
    z->ns = arena_dup(&z->arena, g->meta.ns);
    z->name = arena_dup(&z->arena, g->meta.name);
    z->next = c->sizes;
    c->sizes = z;
    return z;
}

/* Ends those that wait for the group and have nothing, from the newest on; `count` of them. */
static void end_waiting(struct machines *c, struct span ns, struct span group, uint32_t count, const struct err *why)
{
    while (count-- > 0) {
        struct machines_work *w;
        pthread_mutex_lock(&c->lock);
        for (w = c->works; w != NULL; w = w->next)
            if (has_none(w) && span_eq(w->ns, ns) && span_eq(w->group, group))
                break;
        if (w != NULL)
            w->waits = false; /* ours alone from now on */
        pthread_mutex_unlock(&c->lock);
        if (w == NULL)
            return;
        machines_fail(w, why->kind, "%s", why->msg);
    }
}

static void on_sized(void *user, const struct api_result *r)
{
    struct machines_size *z = user;
    struct machines *c = z->of;
    struct err err = r->err;
    bool lost = r->status == 0;
    pthread_mutex_lock(&c->lock);
    z->sending = false;
    z->again = lost ? c->now + MACHINES_AGAIN_MS : INT64_MAX;
    pthread_mutex_unlock(&c->lock);
    if (r->err.kind != ERR_NONE && r->status != 409 && !lost) {
        if (err.kind == ERR_NOT_FOUND || err.kind == ERR_CONFLICT)
            err.kind = ERR_RETRY;
        err_wrap(&err, "writing the scale of MachineDeployment %.*s/%.*s", SPAN_ARG(z->ns), SPAN_ARG(z->name));
        end_waiting(c, z->ns, z->name, UINT32_MAX, &err);
    }
    machines_wake(c);
}

static void write_size(struct looking *l, const struct machine_group *g, int32_t size)
{
    struct machines *c = l->c;
    uint64_t version = g->meta.resource_version;
    pthread_mutex_lock(&c->lock);
    struct machines_size *z = size_of(c, g);
    bool old = z->sending || (z->version == version && c->now < z->again);
    if (!old) {
        z->sending = true;
        z->version = version;
    }
    pthread_mutex_unlock(&c->lock);
    if (old)
        return;
    api_send(c->config.api,
             &(struct api_request){
                 .verb = API_MERGE, .kind = KIND_MACHINE_DEPLOYMENT, .ns = z->ns, .name = z->name, .subresource = SPAN("scale"),
                 .is_act = true,
                 .body = arena_printf(&l->a, "{\"metadata\":{\"resourceVersion\":\"%llu\"},\"spec\":{\"replicas\":%d}}",
                                      (unsigned long long)version, size)},
             on_sized, z);
}

static int32_t most(const struct looking *l, const struct machine_group *g)
{
    int32_t min, max;
    struct err err;
    if (capi_annotation(g, l->s->syms, SPAN(CAPI_MAX_KEY)).ptr == NULL)
        return INT32_MAX;
    return capi_bounds(g, l->s->syms, &min, &max, &err) ? max : 0;
}

struct counts {
    int32_t existing; /* not being deleted */
    int32_t marked;   /* of them, to go, by us */
    int32_t waiting;  /* calls that find none */
};

static void decide_size(struct looking *l, const struct machine_group *g, struct counts n)
{
    int32_t kept = n.existing - n.marked, surplus = n.existing - g->replicas, wanted, max = most(l, g);
    struct err err;
    if (n.waiting == 0 && n.marked == 0)
        return;
    if (surplus > n.marked)
        return; /* somebody else made it smaller: its controller is about to end some */
    if (surplus < 0)
        wanted = n.waiting > -surplus ? g->replicas + n.waiting + surplus : g->replicas; /* some are on their way */
    else
        wanted = kept + n.waiting;
    int32_t limit = max > g->replicas ? max : g->replicas;
    if (wanted > limit) {
        pthread_mutex_lock(&l->c->lock);
        machines_note_full(l->c, g->meta.ns, g->meta.name);
        pthread_mutex_unlock(&l->c->lock);
        err_set(&err, ERR_CAPACITY, "MachineDeployment %.*s/%.*s is as large as it may be, %d", SPAN_ARG(g->meta.ns),
                SPAN_ARG(g->meta.name), max);
        end_waiting(l->c, g->meta.ns, g->meta.name, (uint32_t)(wanted - limit), &err);
        wanted = limit;
    }
    if (wanted != g->replicas)
        write_size(l, g, wanted);
}

/* The next call, oldest first, that waits for the group and has nothing. Under the lock. */
static struct machines_work *next_waiting(const struct machines *c, const struct machine_group *g)
{
    struct machines_work *oldest = NULL;
    for (struct machines_work *w = c->works; w != NULL; w = w->next)
        if (is_for(w, g) && has_none(w))
            oldest = w;
    return oldest;
}

static void take_free(struct looking *l, const struct machine_group *g, bool failed)
{
    for (size_t i = 0; i < l->machine_count; i++) {
        const struct cluster_machine *m = l->machines[i];
        if (machines_has_failed(m) != failed || !machines_is_of(g, m) || !machines_is_free(l->s, m))
            continue;
        pthread_mutex_lock(&l->c->lock);
        struct machines_work *w = !is_spoken_for(l->c, m) ? next_waiting(l->c, g) : NULL;
        if (w != NULL)
            w->sending = true;
        pthread_mutex_unlock(&l->c->lock);
        if (w != NULL)
            take(w, m);
    }
}

/* It will find one when the snapshot shows why it was refused that. Under the lock. */
static bool is_behind(const struct looking *l, const struct machines_work *w)
{
    for (size_t i = 0; w->version != 0 && i < l->machine_count; i++)
        if (was_refused(w, l->machines[i]))
            return true;
    return false;
}

/* One that has failed is taken, too, so that it is somebody's who gives it back; else as many as fail would be asked for. */
static void look_at_group(struct looking *l, const struct machine_group *g)
{
    struct counts n = {0};
    take_free(l, g, false);
    take_free(l, g, true);
    for (size_t i = 0; i < l->machine_count; i++) {
        const struct cluster_machine *m = l->machines[i];
        bool counts = m->meta.deleted == 0 && machines_is_of(g, m);
        n.existing += counts;
        n.marked += counts && machines_is_marked(l->s, m);
    }
    pthread_mutex_lock(&l->c->lock);
    for (const struct machines_work *w = l->c->works; w != NULL; w = w->next)
        n.waiting += is_for(w, g) && has_none(w) && !is_behind(l, w);
    pthread_mutex_unlock(&l->c->lock);
    decide_size(l, g, n);
}

/* ---- a step ---- */

/* The next call that a step can end; NULL: none. Under the lock. */
static struct machines_work *next_own(struct looking *l, uint64_t before, const struct cluster_machine **own_out)
{
    struct machines_work *next = NULL;
    for (struct machines_work *w = l->c->works; w != NULL; w = w->next)
        if (w->waits && !w->sending && w->id < before && (next == NULL || w->id > next->id))
            next = w;
    if (next != NULL)
        *own_out = own_of(l, next);
    return next;
}

static void end_those_with_machines(struct looking *l)
{
    const struct cluster_machine *own;
    for (uint64_t before = UINT64_MAX;;) {
        pthread_mutex_lock(&l->c->lock);
        struct machines_work *w = next_own(l, before, &own);
        if (w != NULL && own != NULL)
            w->taken = true;
        bool cancelled = w != NULL && w->cancelled && own == NULL;
        if (cancelled)
            w->waits = false; /* ours alone from now on */
        pthread_mutex_unlock(&l->c->lock);
        if (w == NULL)
            return;
        before = w->id;
        if (cancelled)
            machines_fail(w, ERR_CANCELLED, "given up");
        else if (own != NULL)
            look_after_own(w, own);
    }
}

static void look(struct looking *l)
{
    bool leaving = false;
    l->machines = machines_sorted(l->s, KIND_MACHINE, &l->a, &l->machine_count);
    l->groups = machines_sorted(l->s, KIND_MACHINE_DEPLOYMENT, &l->a, &l->group_count);
    find_owned(l);
    end_those_with_machines(l);
    for (size_t i = 0; i < l->group_count; i++)
        look_at_group(l, l->groups[i]);
    for (size_t i = 0; i < l->machine_count; i++) {
        const struct cluster_machine *m = l->machines[i];
        leaving |= m->meta.deleted == 0 && machines_is_marked(l->s, m);
    }
    pthread_mutex_lock(&l->c->lock);
    for (const struct machines_work *w = l->c->works; w != NULL; w = w->next)
        leaving |= !w->waits && w->sending; /* a mark is on its way */
    l->c->leaving = leaving;
    pthread_mutex_unlock(&l->c->lock);
}

static mono_ms forget_full(struct machines *c, mono_ms now)
{
    mono_ms next = INT64_MAX;
    struct machines_full *f, **at = &c->full;
    while ((f = *at) != NULL)
        if (f->until <= now) {
            *at = f->next;
            free(f);
            c->fulls++;
        } else {
            next = f->until < next ? f->until : next;
            at = &f->next;
        }
    return next;
}

mono_ms machines_step(struct provider *p, mono_ms now)
{
    struct looking l = {.c = machines_of(p)};
    struct machines *c = l.c;
    pthread_mutex_lock(&c->lock);
    c->now = now;
    mono_ms next = forget_full(c, now);
    bool busy = c->leaving;
    for (const struct machines_work *w = c->works; w != NULL; w = w->next)
        busy |= w->waits;
    pthread_mutex_unlock(&c->lock);
    if (!busy)
        return next;
    struct snapshot *s = machines_snapshot(c);
    if (s != NULL) {
        l.s = s;
        arena_init(&l.a, 0);
        look(&l);
        arena_release(&l.a);
        shared_unref(&s->shared);
    }
    return now + MACHINES_LOOK_MS < next ? now + MACHINES_LOOK_MS : next;
}
