/* Completions only write down what came; lease_step decides, on the clock it is given. One request
 * is under way at most, so that the answer always belongs to the last thing asked.
 *
 * The Lease is ours alone, so it is replaced as a whole (PUT with resourceVersion): that is also
 * all that its Role has to allow. */
#include "kube/lease.h"

#include <stdlib.h>

#include "base/json.h"
#include "kube/backoff.h"
#include "kube/lease_record.h"
#include "kube/meta.h"

enum { RELEASE_TRIES = 3 };

enum lease_doing { LEASE_IDLE, LEASE_READS, LEASE_CREATES, LEASE_RENEWS, LEASE_RELEASES };

struct lease {
    struct arena texts;
    struct lease_config config;
    struct api *api;
    struct lease_listener listener;
    uint64_t random;

    enum lease_doing doing;
    mono_ms sent; /* the request under way */
    mono_ms next; /* when to do something again */

    /* written by the completion */
    bool answered;
    bool fresh; /* the record was read from the answer */
    bool record_changed;
    int status;
    struct err err;

    struct lease_record record;
    bool cached; /* the record is as the API server has it, for all we know */
    bool seen;   /* the API server was asked; there may be no Lease yet */

    _Atomic(mono_ms) leads_until;
    bool leading; /* as the listener was told */
    uint64_t told_holder;
    bool told;
    bool releasing, released;
    int release_tries;
};

static void set_defaults(struct lease_config *c)
{
    if (c->duration == 0)
        c->duration = 15 * MS_SECOND;
    if (c->renew_deadline == 0)
        c->renew_deadline = c->duration * 2 / 3;
    if (c->retry == 0)
        c->retry = c->duration * 2 / 15;
}

static bool check(const struct lease_config *c, struct err *err)
{
    if (c->ns.len == 0 || c->name.len == 0 || c->identity.len == 0)
        return err_set(err, ERR_INVALID, "a Lease needs a namespace, a name and an identity");
    if (c->identity.len >= LEASE_TEXT_MAX)
        return err_set(err, ERR_INVALID, "the identity for the Lease is longer than %d bytes",
                       LEASE_TEXT_MAX - 1);
    if (c->duration < MS_SECOND || c->duration % MS_SECOND != 0)
        return err_set(err, ERR_INVALID,
                       "the Lease's duration has to be whole seconds, at least 1");
    if (c->renew_deadline >= c->duration)
        return err_set(err, ERR_INVALID,
                       "the Lease's renew deadline has to be shorter than its duration");
    if (c->retry <= 0 || c->renew_deadline * 10 <= c->retry * 12)
        return err_set(err, ERR_INVALID,
                       "the Lease's renew deadline has to be more than 1.2 retry periods");
    return true;
}

bool lease_new(const struct lease_config *config, struct api *api,
               const struct lease_listener *listener, struct lease **out, struct err *err)
{
    struct lease_config c = *config;
    set_defaults(&c);
    if (!check(&c, err))
        return false;
    struct lease *l = mem_new(sizeof(*l));
    arena_init(&l->texts, 0);
    c.ns = arena_dup(&l->texts, c.ns);
    c.name = arena_dup(&l->texts, c.name);
    c.identity = arena_dup(&l->texts, c.identity);
    l->config = c;
    l->api = api;
    l->listener = *listener;
    l->random = c.seed;
    *out = l;
    return true;
}

void lease_free(struct lease *l)
{
    if (l == NULL)
        return;
    arena_release(&l->texts);
    free(l);
}

/* Telling. */

static void tell(struct lease *l)
{
    bool leading = atomic_load(&l->leads_until) != 0;
    uint64_t holder = span_hash(lease_holder(l));
    if (!l->seen || (l->told && leading == l->leading && holder == l->told_holder))
        return;
    bool lost = l->leading && !leading;
    l->told = true;
    l->leading = leading;
    l->told_holder = holder;
    if (lost)
        l->api->ops->cancel_acts(l->api);
    if (l->listener.changed != NULL)
        l->listener.changed(l->listener.user, leading, lease_holder(l));
}

static void lead_until(struct lease *l, mono_ms until)
{
    atomic_store(&l->leads_until, until);
}

/* Asking. */

static void on_answer(void *user, const struct api_result *result)
{
    struct lease *l = user;
    l->answered = true;
    l->status = result->status;
    l->err = result->err;
    l->fresh = result->err.kind == ERR_NONE && result->body != NULL;
    if (l->fresh)
        l->record_changed |=
            lease_record_read(&l->record, doc_root(result->body), l->config.identity);
}

static void send(struct lease *l, enum lease_doing doing, enum api_verb verb, struct span body,
                 mono_ms now)
{
    l->doing = doing;
    l->sent = now;
    l->answered = l->fresh = false;
    api_send(l->api,
             &(struct api_request){.verb = verb,
                                   .kind = KIND_LEASE,
                                   .ns = l->config.ns,
                                   .name = l->config.name,
                                   .body = body},
             on_answer, l);
}

/* A release says so by an empty holder, and by one second, so that others need not wait. */
static void write_record(struct lease *l, enum lease_doing doing, mono_ms now, wall_ms wall)
{
    bool release = doing == LEASE_RELEASES, create = doing == LEASE_CREATES;
    bool keep = !create && !release && l->record.mine && l->record.acquired[0] != '\0';
    bool moves = !create && !release && !l->record.mine;
    struct arena a;
    arena_init(&a, 0);
    struct span time = time_micro_text(&a, wall);
    struct buf body = {0};
    struct json j = JSON_TO(&body);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("coordination.k8s.io/v1"));
    json_put_string(&j, "kind", SPAN("Lease"));
    json_put_object(&j, "metadata");
    json_put_string(&j, "name", l->config.name);
    json_put_string(&j, "namespace", l->config.ns);
    if (!create)
        json_put_string(&j, "resourceVersion", span_of(l->record.version));
    json_object_end(&j);
    json_put_object(&j, "spec");
    json_put_string(&j, "holderIdentity", release ? SPAN("") : l->config.identity);
    json_put_int(&j, "leaseDurationSeconds", release ? 1 : l->config.duration / MS_SECOND);
    json_put_string(&j, "acquireTime", keep ? span_of(l->record.acquired) : time);
    json_put_string(&j, "renewTime", time);
    json_put_int(&j, "leaseTransitions", create ? 0 : l->record.transitions + moves);
    json_object_end(&j);
    json_object_end(&j);
    send(l, doing, create ? API_CREATE : API_UPDATE, buf_span(&body), now);
    buf_release(&body);
    arena_release(&a);
}

/* Who does not lead comes at random times, lest all come at once when the Lease is free. */
static mono_ms later(struct lease *l, mono_ms now)
{
    if (atomic_load(&l->leads_until) != 0)
        return now + l->config.retry;
    return now + (span_ms)((double)l->config.retry * (1 + 1.2 * random_unit(&l->random)));
}

/* Answers. */

static void after_read(struct lease *l, mono_ms now, wall_ms wall)
{
    if (l->status == 404) {
        l->seen = true;
        l->record = (struct lease_record){0};
        if (!l->releasing)
            write_record(l, LEASE_CREATES, now, wall);
        return;
    }
    l->seen |= l->fresh;
    l->cached = l->fresh;
    if (!l->fresh) {
        l->next = later(l, now);
        return;
    }
    if (!l->record.mine)
        lead_until(l, 0);
    if (l->releasing)
        return;
    if (!l->record.mine && lease_record_live(&l->record, now))
        l->next = later(l, now);
    else
        write_record(l, LEASE_RENEWS, now, wall);
}

static void after_write(struct lease *l, mono_ms now)
{
    bool done = l->err.kind == ERR_NONE;
    l->cached = done && l->fresh;
    l->seen |= done;
    if (done && !l->releasing) {
        lead_until(l, l->sent + l->config.renew_deadline);
        l->next = l->sent + l->config.retry;
    } else if (l->err.kind == ERR_CONFLICT && atomic_load(&l->leads_until) != 0) {
        l->next = now + l->config.retry / 8; /* somebody wrote: look who */
    } else {
        l->next = later(l, now);
    }
}

static void take_answer(struct lease *l, mono_ms now, wall_ms wall)
{
    enum lease_doing did = l->doing;
    l->answered = false;
    l->doing = LEASE_IDLE;
    if (l->record_changed)
        l->record.changed = now;
    l->record_changed = false;
    if (did == LEASE_READS)
        after_read(l, now, wall);
    else if (did == LEASE_RELEASES)
        l->released = l->err.kind == ERR_NONE;
    else
        after_write(l, now);
    if (did == LEASE_RELEASES && !l->released)
        l->cached = false;
}

static void release(struct lease *l, mono_ms now, wall_ms wall)
{
    if (l->seen && (l->record.print == 0 || (l->cached && !l->record.mine)))
        l->released = true;
    else if (!l->seen || l->release_tries++ >= RELEASE_TRIES)
        l->released = true;
    else if (l->cached)
        write_record(l, LEASE_RELEASES, now, wall);
    else
        send(l, LEASE_READS, API_GET, (struct span){0}, now);
}

mono_ms lease_step(struct lease *l, mono_ms now, wall_ms wall)
{
    if (l->doing != LEASE_IDLE && l->answered)
        take_answer(l, now, wall);
    mono_ms until = atomic_load(&l->leads_until);
    if (until != 0 && now >= until)
        lead_until(l, 0);
    if (l->doing == LEASE_IDLE && l->releasing && !l->released)
        release(l, now, wall);
    else if (l->doing == LEASE_IDLE && !l->releasing && now >= l->next) {
        if (l->cached && l->record.mine && atomic_load(&l->leads_until) != 0)
            write_record(l, LEASE_RENEWS, now, wall);
        else
            send(l, LEASE_READS, API_GET, (struct span){0}, now);
    }
    tell(l);
    until = atomic_load(&l->leads_until);
    if (l->answered) /* the api called back at once */
        return now;
    mono_ms next = l->doing == LEASE_IDLE && !l->released ? l->next : INT64_MAX;
    return until != 0 && until < next ? until : next;
}

void lease_release(struct lease *l)
{
    l->releasing = true;
    lead_until(l, 0);
}

bool lease_released(const struct lease *l)
{
    return l->released;
}

mono_ms lease_leads_until(const struct lease *l)
{
    return atomic_load(&l->leads_until);
}

struct span lease_holder(const struct lease *l)
{
    return l->record.held ? span_of(l->record.holder) : (struct span){0};
}

const struct err *lease_error(const struct lease *l)
{
    return &l->err;
}
