#include "server/pod_label.h"

#include <stdlib.h>

#include "kube/backoff.h"

struct pod_label {
    struct arena texts;
    struct api *api;
    struct span ns, pod;
    const struct log *log;
    bool any_wanted, want; /* before the first word about the Lease there is nothing to say */
    bool any_known, known; /* what the API server has */
    bool sending, sent;
    bool failed; /* the answer that came: the next step says when to try again */
    mono_ms due;
    struct backoff backoff;
};

struct pod_label *pod_label_new(struct api *api, struct span ns, struct span pod,
                                const struct log *log)
{
    struct pod_label *l = mem_new(sizeof(*l));
    arena_init(&l->texts, 0);
    l->api = api;
    l->ns = arena_dup(&l->texts, ns);
    l->pod = arena_dup(&l->texts, pod);
    l->log = log;
    l->backoff = (struct backoff){.first = MS_SECOND, .max = MS_MINUTE};
    return l;
}

void pod_label_free(struct pod_label *l)
{
    if (l == NULL)
        return;
    arena_release(&l->texts);
    free(l);
}

void pod_label_want(struct pod_label *l, bool leading)
{
    l->any_wanted = true;
    l->want = leading;
}

static void on_answer(void *user, const struct api_result *result)
{
    struct pod_label *l = user;
    l->sending = false;
    l->failed = result->err.kind != ERR_NONE;
    if (!l->failed) {
        l->any_known = true;
        l->known = l->sent;
        l->backoff.failures = 0;
    } else if (l->backoff.failures == 0 && result->err.kind != ERR_CANCELLED) {
        log_warn(l->log, "leader",
                 "the label stowage.dev/leader of our own Pod %.*s/%.*s could not be changed, so the "
                 "extender's Service may not find the leader; trying again: %s",
                 SPAN_ARG(l->ns), SPAN_ARG(l->pod), result->err.msg);
    }
}

static void send(struct pod_label *l)
{
    l->sending = true;
    l->sent = l->want;
    api_send(l->api,
             &(struct api_request){
                 .verb = API_MERGE,
                 .kind = KIND_POD,
                 .ns = l->ns,
                 .name = l->pod,
                 .body = l->want
                             ? SPAN("{\"metadata\":{\"labels\":{\"stowage.dev/leader\":\"true\"}}}")
                             : SPAN("{\"metadata\":{\"labels\":{\"stowage.dev/leader\":null}}}")},
             on_answer, l);
}

mono_ms pod_label_step(struct pod_label *l, mono_ms now)
{
    if (l->failed)
        l->due = now + backoff_next(&l->backoff, 0);
    l->failed = false;
    if (l->pod.len == 0 || !l->any_wanted || l->sending || (l->any_known && l->known == l->want))
        return INT64_MAX;
    if (now < l->due)
        return l->due;
    send(l);
    return INT64_MAX;
}
