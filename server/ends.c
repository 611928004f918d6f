#include "server/ends.h"

#include <stdlib.h>

#include "base/arena.h"
#include "certs/secrets.h"
#include "kube/meta.h"

enum { LOOK_MS = 5 * MS_SECOND, SHARE = 4 };

struct ends {
    struct ends_config config;
    uint32_t metric;
    mono_ms again[END_COUNT]; /* no warning before this; 0: not reported yet, or the certificate is new */
    wall_ms last[END_COUNT];
    mono_ms due;
};

const char *end_name(enum end which)
{
    static const char *const names[END_COUNT] = {
        [END_SERVING] = "serving",     [END_CA] = "ca",
        [END_NEXT_CA] = "next_ca",     [END_SCHEDULER] = "scheduler",
        [END_SHOWN] = "scheduler_shown",
    };
    return names[which];
}

struct event_note ends_note(struct arena *a, enum end which, bool of_file, wall_ms not_after, struct span ns)
{
    static const char of_a_file[] = "the serving certificate in the file of --tls-cert ends on %.10s: let who makes it (cert-manager, "
                                    "say) write a new one there, with its key; Stowage reads both again by itself";
    static const char *const what[END_COUNT] = {
        [END_SERVING] = "the serving certificate ends on %.10s and is not renewed: what does Stowage log about certs?",
        [END_CA] = "the CA ends on %.10s and is not replaced: what does Stowage log about certs?",
        [END_NEXT_CA] = "the next CA ends on %.10s and is not replaced: what does Stowage log about certs?",
        [END_SCHEDULER] = "the scheduler's certificate ends on %.10s and is not renewed: what does Stowage log about certs?",
        [END_SHOWN] = "kube-scheduler's copy of its certificate ends on %.10s: copy this Secret's files to its hosts anew",
    };
    const char *text = of_file && which == END_SERVING ? of_a_file : what[which];
    bool of_scheduler = which == END_SCHEDULER || which == END_SHOWN;
    return (struct event_note){.about = {.kind = KIND_SECRET,
                                         .ns = ns,
                                         .name = of_scheduler ? SPAN(SECRET_CLIENT) : SPAN(SECRET_CERTS)},
                               .warning = true,
                               .reason = SPAN("CertificateEndsSoon"),
                               .note = arena_printf(a, text, time_text(a, not_after).ptr),
                               .dedupe = span_of(end_name(which))};
}

struct ends *ends_new(const struct ends_config *config)
{
    static const struct metric_info info = {.name = "stowage_certificate_not_after_seconds",
                                            .help = "When a certificate ends, in seconds since 1970",
                                            .type = METRIC_GAUGE,
                                            .labels = {"certificate"}};
    struct ends *e = mem_new(sizeof(*e));
    e->config = *config;
    e->metric = metrics_register(config->metrics, &info);
    return e;
}

void ends_free(struct ends *e)
{
    free(e);
}

static span_ms soon(const struct ends *e, enum end which)
{
    span_ms life = which == END_CA || which == END_NEXT_CA ? e->config.ca_life : e->config.leaf_life;
    span_ms most = which == END_SHOWN ? ENDS_SOON_SHOWN : ENDS_SOON;
    return life / SHARE < most ? life / SHARE : most;
}

static void look(struct ends *e, enum end which, wall_ms not_after, mono_ms now, wall_ms wall)
{
    struct span label = span_of(end_name(which));
    if (not_after != e->last[which])
        e->again[which] = 0;
    e->last[which] = not_after;
    if (not_after == 0) {
        metrics_remove(e->config.metrics, e->metric, &label);
        return;
    }
    metrics_set(e->config.metrics, e->metric, &label, (double)not_after / MS_SECOND);
    if (not_after - wall >= soon(e, which) || now < e->again[which])
        return;
    e->again[which] = now + ENDS_AGAIN;
    e->config.soon(e->config.user, which, not_after);
}

mono_ms ends_step(struct ends *e, const wall_ms not_after[END_COUNT], mono_ms now, wall_ms wall)
{
    if (now < e->due)
        return e->due;
    e->due = now + LOOK_MS;
    for (int i = 0; i < END_COUNT; i++)
        look(e, (enum end)i, not_after[i], now, wall);
    return e->due;
}
