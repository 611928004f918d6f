/* The certificates that Stowage keeps in the API, and whether the API server trusts them. */
#include "certs/bundle.h"
#include "certs/keyring.h"
#include "certs/secrets.h"
#include "certs/webhook_configuration.h"
#include "kube/meta.h"
#include "server/check/check.h"

#define COPY_TOPIC "scheduler-copy"
#define COPY_ANEW "copy the files of Secret " SECRET_CLIENT " to the scheduler's hosts anew"

enum { SOON_DAYS = 30 };

struct found {
    struct check *check;
    struct arena *a;
    struct span ca, serving, client, client_ca;
    struct span signers; /* of client certificates that are let in */
    struct span announced; /* our own CAs that the scheduler is to trust */
    struct webhook_seen webhooks[WEBHOOK_OBJECT_COUNT];
};

static void read_certs(void *user, struct doc_value secret)
{
    struct found *f = user;
    f->ca = secret_get(f->a, secret, "ca.crt");
    f->serving = secret_get(f->a, secret, "tls.crt");
    const struct keyring ring = keyring_read(f->a, secret);
    f->signers = keyring_clients(f->a, &ring);
    f->announced = keyring_announced(f->a, &ring);
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

/* Of a Secret of ours. */
static struct span namespace_of(const struct check *c, const char *secret)
{
    const char *given = c->options->scheduler_secret_ns;
    return given != NULL && given[0] != '\0' && strcmp(secret, SECRET_CLIENT) == 0 ? span_of(given) : c->ns;
}

static struct ask *get(struct found *f, enum kind k, const char *name,
                       void (*read)(void *user, struct doc_value object))
{
    struct ask *a = check_asks(f->check, 1);
    a->request = (struct api_request){.verb = API_GET,
                                      .kind = k,
                                      .ns = k == KIND_SECRET ? namespace_of(f->check, name) : (struct span){0},
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
    struct span ns = namespace_of(c, name);
    if (a->err.kind == ERR_NONE)
        return true;
    if (a->err.kind != ERR_NOT_FOUND)
        check_say(c->report, CHECK_UNKNOWN, topic, "run it as Stowage's service account",
                  "Secret %.*s/%s cannot be read: %s", SPAN_ARG(ns), name, a->err.msg);
    else if (c->runs)
        check_say(c->report, CHECK_FAIL, topic, "what does Stowage's log say about certs?",
                  "Secret %.*s/%s is not there although Stowage runs", SPAN_ARG(ns), name);
    else
        check_say(c->report, CHECK_UNKNOWN, topic, NULL,
                  "Secret %.*s/%s is not there yet; Stowage makes it when it starts",
                  SPAN_ARG(ns), name);
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
        check_say(c->report, CHECK_WARN, COPY_TOPIC, COPY_ANEW,
                  "the certificate that the scheduler shows ends on %.10s", day);
    else
        check_say(c->report, CHECK_OK, COPY_TOPIC, NULL, "the scheduler shows %s certificate, good until %.10s",
                  older ? "an older copy of its" : "its", day);
}

/* False: there is nothing to compare, which has been told where it is news. */
static bool is_readable(const struct found *f, const struct scheduler_copy *copy)
{
    if (copy->where.len == 0 || copy->text.len != 0)
        return copy->where.len != 0;
    check_say(f->check->report, CHECK_UNKNOWN, COPY_TOPIC, "run it on each host of kube-scheduler, as who may read the file",
              "whether the scheduler's %.*s is an old copy: %s", SPAN_ARG(copy->where),
              copy->why.kind != ERR_NONE ? copy->why.msg : "it is empty");
    return false;
}

/* Beside our own there are those of who serves with files. */
static void check_copy_of_ca(const struct found *f)
{
    const struct check *c = f->check;
    const struct scheduler_copy *copy = &c->scheduler.ca;
    bool ours = f->ca.len != 0 && bundle_has(f->client_ca, f->ca);
    if (!ours || !is_readable(f, copy))
        return;
    if (bundle_has(copy->text, f->client_ca))
        check_say(c->report, CHECK_OK, COPY_TOPIC, NULL, "%.*s has the CA of now and the next", SPAN_ARG(copy->where));
    else if (bundle_has(copy->text, f->announced))
        check_say(c->report, CHECK_WARN, COPY_TOPIC, COPY_ANEW ", and start kube-scheduler anew, which reads its CAs once",
                  "%.*s is an old copy, without what is served from files (--tls-cert): the scheduler passes that Stowage over",
                  SPAN_ARG(copy->where));
    else if (bundle_has(copy->text, f->ca))
        check_say(c->report, CHECK_WARN, COPY_TOPIC, COPY_ANEW ", and start kube-scheduler anew, which reads its CAs once",
                  "%.*s is an old copy, without the next CA: from when that signs, the scheduler passes Stowage over",
                  SPAN_ARG(copy->where));
    else
        check_say(c->report, CHECK_FAIL, COPY_TOPIC, COPY_ANEW ", and start kube-scheduler anew, which reads its CAs once",
                  "%.*s has not the CA that signs for Stowage: the scheduler passes it over", SPAN_ARG(copy->where));
}

static void check_copy_of_certificate(const struct found *f)
{
    const struct check *c = f->check;
    const struct scheduler_copy *copy = &c->scheduler.cert;
    struct err err;
    if (f->signers.len == 0 || !is_readable(f, copy))
        return;
    const char *what = arena_printf(f->a, "the certificate in %.*s", SPAN_ARG(copy->where)).ptr;
    check_end(f, copy->text, COPY_TOPIC, what, COPY_ANEW);
    wall_ms unused;
    if (cert_not_after(copy->text, &unused) && !authority_signed(f->signers, copy->text, CERT_CLIENT, &err))
        check_say(c->report, CHECK_WARN, COPY_TOPIC, COPY_ANEW,
                  "%s is of another CA than Stowage's: without --extender-client-ca and --extender-client-names the scheduler is turned away", what);
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
    else if (which == WEBHOOK_VALIDATING && !c->options->installation) /* which has told it where it belongs */
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
                      "Stowage writes it within a minute; what does its log say about certs?",
                      "Secret " SECRET_CLIENT " has another CA than " SECRET_CERTS);
    }
    check_shown(f);
    check_copy_of_ca(f);
    check_copy_of_certificate(f);
    for (int w = 0; w < WEBHOOK_OBJECT_COUNT; w++)
        check_webhook(f, (enum webhook_object)w);
}
