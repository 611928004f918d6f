/* Requests: sent (any thread) → applied → replied, each at its time. The two lists keep the order in
 * which requests were sent, over all clients; that order is the cluster's history. */
#include "sim/cluster_state.h"

#include <stdlib.h>

static struct client *client_of(struct api *api)
{
    return (struct client *)api; /* api is the first member */
}

static void pending_free(struct pending *p)
{
    reply_release(&p->reply);
    arena_release(&p->arena);
    free(p);
}

static void wake(const struct sim_cluster *c)
{
    if (c->options.wake != NULL)
        c->options.wake(c->options.user);
}

/* ---- the client's side ---- */

static uint64_t client_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct sim_cluster *c = client_of(api)->cluster;
    struct pending *p = mem_new(sizeof *p);
    *p = (struct pending){.client = client_of(api), .request = *r, .done = done, .user = user};
    arena_init(&p->arena, 256);
    p->request.ns = arena_dup(&p->arena, r->ns);
    p->request.name = arena_dup(&p->arena, r->name);
    p->request.subresource = arena_dup(&p->arena, r->subresource);
    p->request.body = arena_dup(&p->arena, r->body);
    p->request.field_selector = arena_dup(&p->arena, r->field_selector);
    p->request.from = arena_dup(&p->arena, r->from);
    pthread_mutex_lock(&c->lock);
    uint64_t id = p->id = ++c->ids;
    *c->sent_end = p;
    c->sent_end = &p->next;
    pthread_mutex_unlock(&c->lock);
    wake(c);
    return id;
}

static void cancel_where(struct sim_cluster *c, const struct client *client, uint64_t id, bool acts)
{
    pthread_mutex_lock(&c->lock);
    for (struct pending *p = c->sent; p != NULL; p = p->next) {
        if (p->client == client && (acts ? p->request.is_act : p->id == id))
            p->state = PENDING_CANCELLED;
    }
    pthread_mutex_unlock(&c->lock);
    wake(c);
}

static void client_cancel(struct api *api, uint64_t id)
{
    cancel_where(client_of(api)->cluster, client_of(api), id, false);
}

static void client_cancel_acts(struct api *api)
{
    cancel_where(client_of(api)->cluster, client_of(api), 0, true);
}

static void client_watch(struct api *api, enum kind k, const struct api_sink *sink)
{
    struct watch *w = &client_of(api)->watches[k];
    w->sink = *sink;
    w->state = WATCH_LIST;
    wake(client_of(api)->cluster);
}

static void client_relist(struct api *api, enum kind k)
{
    atomic_store(&client_of(api)->watches[k].doubted, true);
    wake(client_of(api)->cluster);
}

static const struct api_ops client_ops = {
    .send = client_send,
    .cancel = client_cancel,
    .cancel_acts = client_cancel_acts,
    .watch = client_watch,
    .relist = client_relist,
};

struct api *sim_client_new(struct sim_cluster *c)
{
    struct client *client = mem_new(sizeof *client);
    client->api.ops = &client_ops;
    client->cluster = c;
    client->next = c->clients;
    c->clients = client;
    return &client->api;
}

static void drop_pending_of(struct pending **list, struct pending ***end, const struct client *client)
{
    struct pending **at = list;
    while (*at != NULL) {
        struct pending *p = *at;
        if (p->client == client) {
            *at = p->next;
            pending_free(p);
        } else {
            at = &p->next;
        }
    }
    *end = at;
}

static void forget(struct sim_cluster *c, const struct client *client)
{
    pthread_mutex_lock(&c->lock);
    drop_pending_of(&c->sent, &c->sent_end, client);
    pthread_mutex_unlock(&c->lock);
    drop_pending_of(&c->applied, &c->applied_end, client);
}

void sim_client_free(struct api *api)
{
    struct client *client = client_of(api);
    struct sim_cluster *c = client->cluster;
    struct client **at = &c->clients;
    forget(c, client);
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    free(client);
}

void sim_client_set_faults(struct api *api, const struct sim_faults *f)
{
    client_of(api)->faults = f != NULL ? *f : (struct sim_faults){0};
}

bool sim_client_dead(const struct api *api)
{
    return ((const struct client *)api)->dead;
}

uint64_t sim_client_writes(const struct api *api)
{
    return ((const struct client *)api)->writes;
}

/* ---- one round ---- */

static bool is_counted(const struct api_request *r)
{
    if (r->verb == API_GET || r->verb == API_LIST)
        return false;
    return r->kind != KIND_EVENT && r->kind != KIND_LEASE &&
           !(r->kind == KIND_NODE_POOL && span_eq(r->subresource, SPAN("status")));
}

/* False: the request was not applied. */
static bool pass_before(struct pending *p, uint64_t number)
{
    struct sim_refusal refusal = {500, "InternalError", "refused by the test", -1};
    const struct sim_faults *f = &p->client->faults;
    enum sim_fate fate = number != 0 && f->before != NULL
                             ? f->before(f->user, number, &p->request, &refusal)
                             : SIM_PASS;
    if (fate == SIM_REFUSE) {
        reply_fail(&p->reply, refusal.status, refusal.reason, "%s", refusal.message);
        p->reply.retry_after_s = refusal.retry_after_s;
    }
    p->lost = fate == SIM_LOSE || fate == SIM_KILL;
    p->client->dead = p->client->dead || fate == SIM_KILL;
    return fate == SIM_PASS;
}

static void apply(struct sim_cluster *c, struct pending *p)
{
    uint64_t number = is_counted(&p->request) ? ++p->client->writes : 0;
    const struct sim_faults *f = &p->client->faults;
    p->state = PENDING_APPLIED;
    p->due = c->objects.now + c->options.reply_delay;
    if (!pass_before(p, number))
        return;
    c->objects.writer = FIELD_MANAGER;
    registry_do(&c->objects, &p->request, &p->reply);
    c->objects.writer = NULL;
    if (number == 0 || f->after == NULL)
        return;
    enum sim_fate fate = f->after(f->user, number, &p->request);
    p->lost = fate == SIM_LOSE || fate == SIM_KILL;
    p->client->dead = p->client->dead || fate == SIM_KILL;
}

/* Moves what is due now, and what was cancelled, from `sent` to a list of its own. */
static struct pending *take_due(struct sim_cluster *c)
{
    struct pending *taken = NULL, **taken_end = &taken;
    pthread_mutex_lock(&c->lock);
    struct pending **at = &c->sent;
    while (*at != NULL) {
        struct pending *p = *at;
        if (!p->seen) {
            p->seen = true;
            p->due = c->objects.now + c->options.apply_delay;
        }
        if (p->due > c->objects.now && p->state == PENDING_SENT) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = NULL;
        *taken_end = p;
        taken_end = &p->next;
    }
    c->sent_end = at;
    pthread_mutex_unlock(&c->lock);
    return taken;
}

static bool apply_due(struct sim_cluster *c)
{
    struct pending *p = take_due(c), *next;
    bool any = p != NULL;
    for (; p != NULL; p = next) {
        next = p->next;
        p->next = NULL;
        if (p->client->dead) {
            pending_free(p);
            continue;
        }
        if (p->state == PENDING_CANCELLED)
            p->due = c->objects.now;
        else
            apply(c, p);
        *c->applied_end = p;
        c->applied_end = &p->next;
    }
    return any;
}

static void complete(struct sim_cluster *c, struct pending *p)
{
    struct api_result result = {.retry_after_s = -1};
    struct arena scratch;
    struct err parse;
    arena_init(&scratch, 0);
    if (p->state == PENDING_CANCELLED) {
        err_set(&result.err, ERR_CANCELLED, "cancelled before it was sent");
    } else if (p->lost) {
        err_set(&result.err, ERR_RETRY, "connection closed before the reply");
    } else {
        const struct reply *r = &p->reply;
        result.status = r->status;
        result.reason = r->reason;
        result.cause = r->cause;
        result.retry_after_s = r->retry_after_s;
        if (r->status >= 300)
            err_set(&result.err, api_err_kind(r->status, r->reason), "%.*s", SPAN_ARG(r->message));
        struct span text = objects_text(&c->objects, &scratch, p->request.kind, r->body);
        if (!doc_parse_json(c->parser, text, &result.body, &parse))
            result.body = NULL;
    }
    if (p->done != NULL)
        p->done(p->user, &result);
    arena_release(&scratch);
}

static bool reply_due(struct sim_cluster *c)
{
    bool any = false;
    while (c->applied != NULL && c->applied->due <= c->objects.now) {
        struct pending *p = c->applied;
        c->applied = p->next;
        if (c->applied == NULL)
            c->applied_end = &c->applied;
        if (!p->client->dead)
            complete(c, p);
        pending_free(p);
        any = true;
    }
    return any;
}

bool sim_cluster_step(struct sim_cluster *c, wall_ms now)
{
    if (now > c->objects.now)
        c->objects.now = now;
    bool any = apply_due(c);
    any = reply_due(c) || any;
    for (struct client *client = c->clients; client != NULL; client = client->next)
        any = cluster_watch_step(c, client) || any;
    cluster_watch_trim(c);
    return any;
}

wall_ms sim_cluster_due(struct sim_cluster *c)
{
    wall_ms due = c->applied != NULL ? c->applied->due : INT64_MAX;
    pthread_mutex_lock(&c->lock);
    for (const struct pending *p = c->sent; p != NULL; p = p->next) {
        wall_ms one = p->seen && p->state == PENDING_SENT ? p->due : c->objects.now;
        due = one < due ? one : due;
    }
    pthread_mutex_unlock(&c->lock);
    for (const struct client *client = c->clients; client != NULL; client = client->next) {
        wall_ms one = cluster_watch_due(c, client);
        due = one < due ? one : due;
    }
    return due;
}

uint64_t sim_cluster_version(const struct sim_cluster *c)
{
    return c->objects.version;
}

/* ---- lifecycle ---- */

static void make_namespaces(struct sim_cluster *c)
{
    static const char *const names[] = {"default", "kube-system", "kube-public", "kube-node-lease"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        registry_import(&c->objects, KIND_NAMESPACE,
                        json_pack("{s:s, s:s, s:{s:s, s:{s:s}}}", "apiVersion", "v1", "kind",
                                  "Namespace", "metadata", "name", names[i], "labels",
                                  "kubernetes.io/metadata.name", names[i]));
}

struct sim_cluster *sim_cluster_new(const struct sim_cluster_options *o)
{
    struct sim_cluster *c = mem_new(sizeof *c);
    /* jansson seeds its hash from the system's randomness otherwise: order of insertion is what
     * counts here, but a run should not differ in anything. */
    json_object_seed(1);
    c->options = *o;
    objects_init(&c->objects, o->now);
    c->parser = doc_parser_new();
    pthread_mutex_init(&c->lock, NULL);
    c->sent_end = &c->sent;
    c->applied_end = &c->applied;
    make_namespaces(c);
    return c;
}

void sim_cluster_free(struct sim_cluster *c)
{
    if (c == NULL)
        return;
    for (struct client *client = c->clients, *next; client != NULL; client = next) {
        next = client->next;
        forget(c, client);
        free(client);
    }
    objects_release(&c->objects);
    doc_parser_free(c->parser);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ---- as another client ---- */

struct sim_answer sim_cluster_do(struct sim_cluster *c, struct arena *a, const struct api_request *r)
{
    struct reply reply;
    registry_do(&c->objects, r, &reply);
    struct sim_answer answer = {.status = reply.status, .body = tree_text(a, reply.body)};
    reply_release(&reply);
    wake(c);
    return answer;
}

void sim_cluster_adopt(struct sim_cluster *c, const struct sim_cluster *from)
{
    objects_adopt(&c->objects, &from->objects);
}

uint32_t sim_cluster_count(const struct sim_cluster *c, enum kind k)
{
    return (uint32_t)json_object_size(c->objects.kinds[k]);
}

uint32_t sim_cluster_count_of(const struct sim_cluster *c, enum kind k, const char *path,
                              const char *text)
{
    uint32_t count = 0;
    const char *key;
    json_t *object;
    json_object_foreach(c->objects.kinds[k], key, object) {
        count += tree_is(object, path, text);
    }
    return count;
}

struct span sim_cluster_get(const struct sim_cluster *c, struct arena *a, enum kind k,
                            struct span ns, struct span name)
{
    const json_t *object = objects_find(&c->objects, k, ns, name);
    return object != NULL ? tree_text(a, object) : (struct span){NULL, 0};
}

void sim_cluster_each(const struct sim_cluster *c, enum kind k,
                      void (*visit)(void *user, struct span object), void *user)
{
    struct buf text = {0};
    const char *key;
    json_t *object;
    json_object_foreach(c->objects.kinds[k], key, object) {
        buf_clear(&text);
        tree_put(&text, object);
        visit(user, buf_span(&text));
    }
    buf_release(&text);
}
