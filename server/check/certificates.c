/* The certificates that Stowage keeps in the API, and whether the API server trusts them. */
#include "certs/bundle.h"
#include "certs/secrets.h"
#include "certs/webhook_configuration.h"
#include "kube/meta.h"
#include "server/check/check.h"

enum { SOON_DAYS = 30 };

struct found {
    struct check *check;
    struct arena *a;
    struct span ca, serving, client, client_ca;
    struct webhook_seen webhooks[WEBHOOK_OBJECT_COUNT];
};

static void read_certs(void *user, struct doc_value secret)
{
    struct found *f = user;
    f->ca = secret_get(f->a, secret, "ca.crt");
    f->serving = secret_get(f->a, secret, "tls.crt");
}

static void read_client(void *user, struct doc_value secret)
{
    struct found *f = user;
    f->client = secret_get(f->a, secret, "tls.crt");
    f->client_ca = secret_get(f->a, secret, "ca.crt");
}

static void read_validating(void *user, struct doc_value object)
{
    struct found *f = user;
    f->webhooks[WEBHOOK_VALIDATING] = webhook_look(f->a, object);
}

static void read_mutating(void *user, struct doc_value object)
{
    struct found *f = user;
    f->webhooks[WEBHOOK_MUTATING] = webhook_look(f->a, object);
}

static const struct webhook_row {
    const char *file;
    void (*read)(void *user, struct doc_value object);
} webhook_rows[WEBHOOK_OBJECT_COUNT] = {
    [WEBHOOK_VALIDATING] = {"manifests/webhooks.yaml", read_validating},
    [WEBHOOK_MUTATING] = {"manifests/shaping/webhooks.yaml", read_mutating},
};

static struct ask *get(struct found *f, enum kind k, const char *name,
                       void (*read)(void *user, struct doc_value object))
{
    struct ask *a = check_asks(f->check, 1);
    a->request = (struct api_request){.verb = API_GET,
                                      .kind = k,
                                      .ns = k == KIND_SECRET ? f->check->ns : (struct span){0},
                                      .name = span_of(name)};
    a->read = read;
    a->user = f;
    ask_all(f->check->cluster, a, 1);
    return a;
}

/* A Secret that is not there: Stowage makes it as soon as it starts. True: it was read. */
static bool is_read(const struct found *f, const struct ask *a, const char *topic, const char *name)
{
    const struct check *c = f->check;
    if (a->err.kind == ERR_NONE)
        return true;
    if (a->err.kind != ERR_NOT_FOUND)
        check_say(c->report, CHECK_UNKNOWN, topic, "run it as Stowage's service account",
                  "Secret %.*s/%s cannot be read: %s", SPAN_ARG(c->ns), name, a->err.msg);
    else if (c->runs)
        check_say(c->report, CHECK_FAIL, topic, "what does Stowage's log say about certs?",
                  "Secret %.*s/%s is not there although Stowage runs", SPAN_ARG(c->ns), name);
    else
        check_say(c->report, CHECK_UNKNOWN, topic, NULL,
                  "Secret %.*s/%s is not there yet; Stowage makes it when it starts",
                  SPAN_ARG(c->ns), name);
    return false;
}

static void check_end(const struct found *f, struct span cert, const char *topic, const char *what,
                      const char *fix)
{
    const struct check *c = f->check;
    wall_ms end;
    if (!cert_not_after(cert, &end)) {
        check_say(c->report, CHECK_FAIL, topic, fix, "%s is no certificate", what);
        return;
    }
    const char *day = time_text(f->a, end).ptr;
    if (end <= c->now)
        check_say(c->report, CHECK_FAIL, topic, fix, "%s has ended on %.10s", what, day);
    else if (end - c->now < (span_ms)SOON_DAYS * 24 * MS_HOUR)
        check_say(c->report, CHECK_WARN, topic, fix, "%s ends on %.10s", what, day);
    else
        check_say(c->report, CHECK_OK, topic, NULL, "%s until %.10s", what, day);
}

/* What the scheduler uses is a copy on its host: only the server to which it showed one can tell. */
static void check_shown(const struct found *f)
{
    const struct check *c = f->check;
    double seconds;
    wall_ms newest;
    if (!check_metric(c->metrics, "stowage_certificate_not_after_seconds", "certificate=\"scheduler_shown\"", &seconds))
        return;
    wall_ms end = (wall_ms)seconds * MS_SECOND;
    const char *day = time_text(f->a, end).ptr;
    bool older = cert_not_after(f->client, &newest) && end < newest;
    if (end - c->now < (span_ms)SOON_DAYS * 24 * MS_HOUR)
        check_say(c->report, CHECK_WARN, "scheduler-copy", "copy the Secret's files to the scheduler's hosts anew",
                  "the certificate that the scheduler shows ends on %.10s", day);
    else
        check_say(c->report, CHECK_OK, "scheduler-copy", NULL, "the scheduler shows %s certificate, good until %.10s",
                  older ? "an older copy of its" : "its", day);
}

static void check_bundle(const struct found *f, enum webhook_object which)
{
    const struct check *c = f->check;
    const struct webhook_seen *seen = &f->webhooks[which];
    struct span told = webhook_told(f->a, which);
    if (!seen->there)
        check_say(c->report, CHECK_FAIL, "webhook", arena_printf(f->a, "kubectl apply -f %s", webhook_rows[which].file).ptr,
                  "%.*s has no webhook of Stowage's", SPAN_ARG(told));
    else if (f->ca.len == 0)
        check_say(c->report, CHECK_UNKNOWN, "webhook", NULL, "whether the caBundle of %.*s is right: Stowage's CA is not known",
                  SPAN_ARG(told));
    else if (bundle_has(seen->bundle, f->ca))
        check_say(c->report, CHECK_OK, "webhook", NULL, "the caBundle of %.*s has Stowage's CA", SPAN_ARG(told));
    else
        check_say(c->report, c->runs ? CHECK_FAIL : CHECK_UNKNOWN, "webhook",
                  "Stowage writes it within a minute; with --tls-cert it is yours to "
                  "write",
                  "the caBundle of %.*s has not Stowage's CA: the API server passes it over", SPAN_ARG(told));
}

/* Shaping is for who wants it. */
static void check_webhook(struct found *f, enum webhook_object which)
{
    const struct check *c = f->check;
    struct ask *a = get(f, webhook_kind(which), webhook_name(which), webhook_rows[which].read);
    if (a->err.kind == ERR_NONE)
        check_bundle(f, which);
    else if (a->err.kind != ERR_NOT_FOUND)
        check_say(c->report, CHECK_UNKNOWN, "webhook", NULL, "%.*s cannot be read: %s", SPAN_ARG(webhook_told(f->a, which)),
                  a->err.msg);
    else if (which == WEBHOOK_VALIDATING)
        check_say(c->report, CHECK_WARN, "webhook", "kubectl apply -f manifests/webhooks.yaml",
                  "no webhook is registered: mistakes in NodePools are not refused at once");
}

void check_certificates(struct check *c)
{
    struct found *f = ARENA_NEW(c->report->a, struct found);
    f->check = c;
    f->a = c->report->a;
    struct ask *certs = get(f, KIND_SECRET, SECRET_CERTS, read_certs);
    if (is_read(f, certs, "certificate", SECRET_CERTS))
        check_end(f, f->serving, "certificate", "serving certificate", "what does Stowage's log say about certs?");
    struct ask *client = get(f, KIND_SECRET, SECRET_CLIENT, read_client);
    if (is_read(f, client, "scheduler-certificate", SECRET_CLIENT)) {
        check_end(f, f->client, "scheduler-certificate", "the scheduler's client certificate",
                  "copy the Secret's files to the scheduler anew");
        if (f->ca.len != 0 && !bundle_has(f->client_ca, f->ca))
            check_say(c->report, CHECK_FAIL, "scheduler-certificate",
                      "copy the Secret's files to the scheduler anew",
                      "Secret " SECRET_CLIENT " has another CA than " SECRET_CERTS);
    }
    check_shown(f);
    for (int w = 0; w < WEBHOOK_OBJECT_COUNT; w++)
        check_webhook(f, (enum webhook_object)w);
}
