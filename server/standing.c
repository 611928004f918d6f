#include "server/standing.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "kube/lease.h"
#include "kube/rivals.h"
#include "server/clock.h"
#include "server/pod_label.h"

enum { TROUBLE_MS = 5 * MS_SECOND }; /* how long requests fail before a person is told */

static const struct span UNKNOWN_RIVALS =
    SPAN_INIT("whether another autoscaler is at work is not known yet");

struct trouble { /* requests of a kind that go on failing */
    mono_ms since; /* 0: the last one went well */
    bool told;
};

struct standing {
    struct standing_config config;
    struct arena arena; /* of `observing` */
    struct lease *lease;   /* NULL: nobody is elected */
    struct rivals *rivals; /* NULL: there may be others */
    struct pod_label *label;
    struct trouble lease_trouble, rivals_trouble;
    enum rivals_verdict rivals_said;
    struct span observing;
    _Atomic(bool) leading;
};

static void observe(struct standing *s, struct span reason)
{
    arena_clear(&s->arena);
    s->observing = arena_dup(&s->arena, reason);
    s->config.observes(s->config.user, s->observing);
}

static void on_lease(void *user, bool leading, struct span holder)
{
    struct standing *s = user;
    atomic_store(&s->leading, leading);
    pod_label_want(s->label, leading);
    if (leading)
        log_info(s->config.log, "leader", "this replica leads");
    else
        log_info(s->config.log, "leader", "%s%.*s", holder.len != 0 ? "the leader is " : "nobody leads",
                 SPAN_ARG(holder));
    s->config.leads(s->config.user, leading);
}

static struct span lease_namespace(const struct standing_config *c)
{
    const char *ns = c->options->lease_namespace;
    return ns != NULL && ns[0] != '\0' ? span_of(ns) : c->own_namespace;
}

static bool open_lease(struct standing *s, struct err *err)
{
    const struct standing_config *c = &s->config;
    const struct options *o = c->options;
    struct lease_config config = {
        .ns = lease_namespace(c),
        .name = span_of(o->lease_name),
        .identity = c->identity,
        .duration = o->lease_duration,
        .renew_deadline = o->lease_renew,
        .retry = o->lease_retry,
        .seed = span_hash(c->identity),
    };
    const char *pod = o->pod_name != NULL ? o->pod_name : "";
    s->label = pod_label_new(c->api, c->own_namespace, span_of(pod), c->log);
    struct lease_listener listener = {.user = s, .changed = on_lease};
    return lease_new(&config, c->api, &listener, &s->lease, err);
}

bool standing_new(const struct standing_config *config, struct standing **out, struct err *err)
{
    const struct options *o = config->options;
    struct standing *s = mem_new(sizeof(*s));
    s->config = *config;
    arena_init(&s->arena, 0);
    bool elects = !o->embedded && !o->disable_leader_election;
    if (elects && !open_lease(s, err)) {
        standing_free(s);
        return false;
    }
    if (!o->embedded && !o->coexist)
        s->rivals = rivals_new(config->api, rivals_known, RIVALS_KNOWN, config->identity);
    atomic_store(&s->leading, !elects);
    *out = s;
    return true;
}

void standing_free(struct standing *s)
{
    if (s == NULL)
        return;
    if (s->lease != NULL)
        lease_free(s->lease);
    pod_label_free(s->label);
    if (s->rivals != NULL)
        rivals_free(s->rivals);
    arena_release(&s->arena);
    free(s);
}

void standing_begin(struct standing *s)
{
    if (s->rivals != NULL)
        observe(s, UNKNOWN_RIVALS);
    if (s->lease == NULL)
        s->config.leads(s->config.user, true);
}

static void tell_trouble(const struct standing *s, struct trouble *t, const char *subject,
                         const struct err *err, mono_ms now)
{
    bool fails = err->kind != ERR_NONE && err->kind != ERR_CONFLICT; /* a conflict: another was first */
    if (!fails) {
        if (t->told)
            log_info(s->config.log, "leader", "%s: works again", subject);
        *t = (struct trouble){0};
        return;
    }
    t->since = t->since != 0 ? t->since : now;
    if (t->told || now - t->since < TROUBLE_MS)
        return;
    t->told = true;
    log_warn(s->config.log, "leader", "%s, so that nothing is decided: %s", subject, err->msg);
}

static mono_ms watch_lease(struct standing *s, mono_ms now)
{
    if (s->lease == NULL)
        return INT64_MAX;
    mono_ms next = lease_step(s->lease, now, clock_wall());
    tell_trouble(s, &s->lease_trouble, "our own Lease cannot be read or written",
                 lease_error(s->lease), now);
    return earlier(next, pod_label_step(s->label, now));
}

/* People look for Events of the Lease when they wonder why nobody acts. */
static void record_rival(const struct standing *s, struct span reason, mono_ms now)
{
    struct event_note note = {
        .about = {.kind = KIND_LEASE,
                  .ns = lease_namespace(&s->config),
                  .name = span_of(s->config.options->lease_name)},
        .warning = true,
        .reason = SPAN("OnlyObserving"),
        .note = reason,
    };
    events_record(s->config.events, &note, now, clock_wall());
}

static void tell_rivals(struct standing *s, enum rivals_verdict verdict, mono_ms now)
{
    struct arena a;
    struct span reason = {NULL, 0};
    arena_init(&a, 0);
    if (verdict == RIVALS_LIVE) {
        reason = arena_printf(&a,
                              "another autoscaler is at work (Lease %.*s); stop it, or start "
                              "Stowage with --coexist",
                              SPAN_ARG(rivals_text(s->rivals)));
        record_rival(s, reason, now);
    } else if (verdict == RIVALS_UNKNOWN) {
        reason = UNKNOWN_RIVALS;
    }
    observe(s, reason);
    arena_release(&a);
}

static mono_ms watch_rivals(struct standing *s, mono_ms now)
{
    if (s->rivals == NULL)
        return INT64_MAX;
    mono_ms next = rivals_step(s->rivals, now);
    tell_trouble(s, &s->rivals_trouble,
                 "the Leases of other autoscalers cannot be listed (--coexist does without)",
                 rivals_error(s->rivals), now);
    enum rivals_verdict verdict = rivals_verdict(s->rivals);
    if (verdict != s->rivals_said) {
        s->rivals_said = verdict;
        tell_rivals(s, verdict, now);
    }
    return next;
}

mono_ms standing_step(struct standing *s, mono_ms now)
{
    mono_ms next = watch_lease(s, now);
    return earlier(next, watch_rivals(s, now));
}

void standing_release(struct standing *s)
{
    if (s->lease != NULL) {
        lease_release(s->lease);
    } else {
        atomic_store(&s->leading, false);
        s->config.leads(s->config.user, false);
    }
}

bool standing_released(const struct standing *s)
{
    return s->lease == NULL || lease_released(s->lease);
}

/* Another thread may ask before the API thread has noticed that time is up. */
bool standing_leads(const struct standing *s)
{
    return atomic_load(&s->leading) &&
           (s->lease == NULL || clock_mono() < lease_leads_until(s->lease));
}

mono_ms standing_leads_until(const struct standing *s)
{
    if (s->lease != NULL)
        return lease_leads_until(s->lease);
    return standing_leads(s) ? INT64_MAX : 0;
}

struct span standing_observes(const struct standing *s)
{
    return s->observing;
}
