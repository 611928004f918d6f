#include "server/input_cluster.h"

#include "kube/client_io.h"
#include "kube/kubeconfig_io.h"
#include "server/clock.h"
#include "server/input_inner.h"

enum {
    /* Without an object and without a list that ends: a page of a busy API server takes its 34 s at most, and a
     * person waits. */
    PATIENCE_MS = MS_MINUTE,
    ROUND_MS = 500,
    /* What goes over is over at the second try; the client waits 0.8 s and then longer before each. */
    TRIES = 3,
};

struct listing { /* of one kind */
    bool asked, ended;
    uint32_t failed; /* times, one after the other */
    size_t before; /* objects that the files had */
    struct err err;
};

struct cluster_reading {
    struct input *o;
    struct listing of[KIND_STORED_COUNT];
    uint32_t left;    /* kinds that are asked for and have not ended */
    uint64_t heard;   /* objects and ends */
};

/* --- what the API tells --- */

/* A list is begun anew when it expired on its way: what it had said is said again. */
static void on_begin(void *user, enum kind k)
{
    struct cluster_reading *r = user;
    if (!r->of[k].ended)
        r->o->kinds[k].count = r->of[k].before;
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    struct cluster_reading *r = user;
    const struct kind_info *info = kind_info(k);
    struct type_meta type = {span_of(info->api_version), arena_printf(&r->o->arena, "%sList", info->name)};
    if (r->of[k].ended || e != WATCH_PUT)
        return;
    r->heard++;
    input_take_item(r->o, INPUT_CLUSTER, object, &type);
}

static void end_kind(struct cluster_reading *r, enum kind k)
{
    r->heard++;
    r->left -= !r->of[k].ended;
    r->of[k].ended = true;
}

static void on_end(void *user, enum kind k, bool asked)
{
    (void)asked;
    end_kind(user, k);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    struct cluster_reading *r = user;
    struct listing *l = &r->of[k];
    bool passes = broken != NULL && (broken->kind == ERR_RETRY || broken->kind == ERR_GONE);
    if (broken == NULL || l->ended || (passes && ++l->failed < TRIES))
        return;
    l->err = *broken;
    end_kind(r, k);
}

/* --- which kinds --- */

static bool is_wanted(const struct input *o, const struct options *options, enum kind k)
{
    switch (k) {
    case KIND_NODE_OVERLAY:
        return options->gates.node_overlay;
    case KIND_CAPACITY_BUFFER:
    case KIND_POD_TEMPLATE:
        return options->gates.capacity_buffer;
    case KIND_DEPLOYMENT: /* which a buffer may point at */
        return options->gates.capacity_buffer || options->replicas.count != 0;
    case KIND_JOB: /* whose pods a node may lose */
        return options->node_groups != NULL;
    default:
        return input_reads(o, k);
    }
}

static void ask(struct cluster_reading *r, const struct options *options, struct api *api)
{
    struct api_sink sink = {r, on_begin, on_end, on_event, on_state};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        struct listing *l = &r->of[k];
        l->asked = is_wanted(r->o, options, k);
        l->before = r->o->kinds[k].count;
        r->left += l->asked;
    }
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (r->of[k].asked)
            api->ops->watch(api, k, &sink);
}

static void await(struct cluster_reading *r, const struct input_cluster *c)
{
    mono_ms now = c->wait(c->user), until = now + PATIENCE_MS;
    for (uint64_t heard = r->heard; r->left != 0 && now < until; now = c->wait(c->user))
        if (r->heard != heard) {
            heard = r->heard;
            until = now + PATIENCE_MS;
        }
}

/* --- what became of it --- */

/* All kinds failed alike: the cluster cannot be reached, or does not know who asks. */
static bool is_one_fault(const struct cluster_reading *r)
{
    const struct err *first = NULL;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        const struct listing *l = &r->of[k];
        if (!l->asked)
            continue;
        if (l->err.kind == ERR_NONE || l->err.kind == ERR_FORBIDDEN ||
            (first != NULL && strcmp(first->msg, l->err.msg) != 0))
            return false;
        first = &l->err;
    }
    return first != NULL;
}

static void tell_kind(struct input *o, enum kind k, const struct listing *l)
{
    const char *plural = kind_info(k)->plural;
    if (l->err.kind == ERR_FORBIDDEN && kind_is_optional(k))
        input_tell(o, INPUT_WARNS, INPUT_CLUSTER, 0,
                   arena_printf(&o->arena, "%s are passed over: %s", plural, l->err.msg));
    else if (l->err.kind != ERR_NONE || !l->ended)
        input_tell(o, INPUT_MISTAKE, INPUT_CLUSTER, 0,
                   arena_printf(&o->arena, "%s cannot be read: %s", plural,
                                l->ended ? l->err.msg : "no answer came in time"));
}

bool input_cluster_read(struct input *o, const struct options *options, const struct input_cluster *c, struct err *err)
{
    struct cluster_reading r = {.o = o};
    uint32_t asked = 0, before = o->mistakes;
    o->of_cluster = true;
    ask(&r, options, c->api);
    await(&r, c);
    o->of_cluster = false;
    if (is_one_fault(&r)) {
        *err = r.of[KIND_POD].err;
        return err_wrap(err, "%.*s", SPAN_ARG(c->server));
    }
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        asked += r.of[k].asked;
        if (r.of[k].asked)
            tell_kind(o, k, &r.of[k]);
    }
    return o->mistakes == before ||
           err_set(err, ERR_INVALID, "%u of %u kinds of %.*s cannot be read; nothing %s", o->mistakes - before, asked,
                   SPAN_ARG(c->server), o->undone);
}

/* --- of a kubeconfig --- */

static mono_ms poll(void *user)
{
    client_poll(user, ROUND_MS);
    return clock_mono();
}

bool input_cluster_load(struct input *o, const struct options *options, struct err *err)
{
    struct client_config config;
    struct client *client;
    struct client_policy policy = {.user_agent = "stowage-plan", .pools_optional = true};
    if (!kubeconfig_load(&o->arena, span_of(options->kubeconfig), span_of(options->context), &config, err))
        return options->files.count != 0 ? false : err_wrap(err, "no file given with -f");
    if (!client_new(&config, &policy, &client, err))
        return false;
    struct input_cluster c = {client_api(client), poll, client, config.server};
    bool ok = input_cluster_read(o, options, &c, err);
    client_free(client);
    return ok;
}
