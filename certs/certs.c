/* One request at a time. A stage sends one, and its reply says which stage comes next; what fails is
 * tried again after a while, from the read before it, so that every write follows a fresh look. */
#include "certs/certs.h"

#include <stdlib.h>

#include "base/doc.h"
#include "certs/secrets.h"
#include "certs/webhook_configuration.h"

enum {
    RETRY_FIRST_MS = MS_SECOND,
    RETRY_MAX_MS = MS_MINUTE,
    LOOK_AGAIN_MS = MS_MINUTE,
    NAMES_MAX = 32,
};

enum stage {
    STAGE_READ_CERTS,
    STAGE_WRITE_CERTS,
    STAGE_READ_CLIENT,
    STAGE_WRITE_CLIENT,
    STAGE_READ_WEBHOOK, /* not before we serve */
    STAGE_WRITE_WEBHOOK,
};

struct certs {
    struct certs_config config;
    struct arena texts; /* the config's, and the names */
    struct span names[NAMES_MAX];
    uint32_t name_count;

    struct arena held; /* of `ca` and `serving`, until they are read again */
    struct cert_pair ca, serving;
    struct arena passing; /* of what follows, until the next look */
    struct cert_pair client;
    struct span version; /* of the object to be written; absent: it is not there */
    struct span body;    /* to be written */

    enum stage stage;
    bool busy, may_announce, registered;
    mono_ms now, due;
    wall_ms wall;
    span_ms pause;
    struct err last; /* that was told */
};

/* --- names --- */

static void add_name(struct certs *c, struct span name)
{
    if (name.len != 0 && c->name_count < NAMES_MAX)
        c->names[c->name_count++] = name;
}

/* The host of https://host:port/…, brackets of an IPv6 address taken off. */
static struct span url_host(struct span url)
{
    struct span rest = url, host;
    for (size_t i = 0; i + 3 <= url.len; i++)
        if (memcmp(url.ptr + i, "://", 3) == 0) {
            rest = (struct span){url.ptr + i + 3, url.len - i - 3};
            break;
        }
    host = span_cut(rest, '/', &rest);
    if (host.len != 0 && host.ptr[0] == '[')
        return span_cut((struct span){host.ptr + 1, host.len - 1}, ']', &rest);
    return span_cut(host, ':', &rest);
}

static void collect_names(struct certs *c, const struct certs_config *config)
{
    static const char *const services[] = {"stowage-webhook", "stowage-extender"};
    static const char *const endings[] = {".svc.cluster.local", ".svc", ""};
    for (size_t s = 0; s < COUNT_OF(services); s++) {
        for (size_t e = 0; e < COUNT_OF(endings); e++)
            add_name(c, arena_printf(&c->texts, "%s.%.*s%s", services[s],
                                     SPAN_ARG(c->config.ns), endings[e]));
        add_name(c, span_of(services[s]));
    }
    add_name(c, url_host(c->config.webhook_url));
    for (uint32_t i = 0; i < config->name_count; i++)
        add_name(c, arena_dup(&c->texts, config->names[i]));
}

static struct cert_subject serving_subject(const struct certs *c)
{
    return (struct cert_subject){SPAN("stowage"), CERT_SERVER, c->names, c->name_count};
}

static const struct cert_subject client_subject = {SPAN_INIT("stowage-scheduler"), CERT_CLIENT,
                                                   NULL, 0};

static bool has_files(const struct certs *c)
{
    return c->config.files.cert.len != 0;
}

/* What callers of ours have to trust. */
static struct span trusted(const struct certs *c)
{
    return has_files(c) ? c->config.files.cert : c->ca.cert;
}

/* --- moving on --- */

static void go(struct certs *c, enum stage next)
{
    c->stage = next;
    c->due = c->now;
}

/* One object is as it should be. */
static void go_on(struct certs *c, enum stage next)
{
    go(c, next);
    c->pause = 0;
}

static void wait_longer(struct certs *c)
{
    c->due = c->now + c->pause;
    c->pause = c->pause == 0                 ? RETRY_FIRST_MS
               : c->pause * 2 < RETRY_MAX_MS ? c->pause * 2
                                             : RETRY_MAX_MS;
}

/* The stage to go back to: the look before the write. */
static enum stage look_of(enum stage s)
{
    return s == STAGE_WRITE_CERTS    ? STAGE_READ_CERTS
           : s == STAGE_WRITE_CLIENT ? STAGE_READ_CLIENT
           : s == STAGE_WRITE_WEBHOOK ? STAGE_READ_WEBHOOK
                                      : s;
}

static void try_again(struct certs *c, const struct err *why)
{
    static const char *const doing[] = {
        [STAGE_READ_CERTS] = "reading Secret " SECRET_CERTS,
        [STAGE_WRITE_CERTS] = "writing Secret " SECRET_CERTS,
        [STAGE_READ_CLIENT] = "reading Secret " SECRET_CLIENT,
        [STAGE_WRITE_CLIENT] = "writing Secret " SECRET_CLIENT,
        [STAGE_READ_WEBHOOK] = "reading ValidatingWebhookConfiguration " WEBHOOK_CONFIGURATION,
        [STAGE_WRITE_WEBHOOK] = "writing ValidatingWebhookConfiguration " WEBHOOK_CONFIGURATION,
    };
    struct err err = *why;
    err_wrap(&err, "%s", doing[c->stage]);
    c->stage = look_of(c->stage);
    if (c->pause == 0)
        c->pause = RETRY_FIRST_MS;
    wait_longer(c);
    if (strcmp(err.msg, c->last.msg) == 0)
        return;
    c->last = err;
    if (c->config.listener.trouble != NULL)
        c->config.listener.trouble(c->config.listener.user, &err);
}

static void look_again_later(struct certs *c)
{
    c->stage = STAGE_READ_WEBHOOK;
    c->due = c->now + LOOK_AGAIN_MS;
    c->pause = 0;
    c->last.msg[0] = '\0';
}

/* --- the CA and the serving certificate --- */

static void tell(struct certs *c)
{
    struct cert_set set = {.ca = c->ca.cert, .serving = c->serving};
    if (has_files(c))
        set.serving = c->config.files;
    if (!cert_not_after(set.serving.cert, &set.not_after))
        set.not_after = 0;
    c->config.listener.changed(c->config.listener.user, &set);
}

static void write_certs(struct certs *c)
{
    const struct secret_entry entries[] = {{"ca.crt", c->ca.cert},
                                           {"ca.key", c->ca.key},
                                           {"tls.crt", c->serving.cert},
                                           {"tls.key", c->serving.key}};
    c->body = secret_body(&c->passing, c->config.ns, SECRET_CERTS, c->version, entries,
                          COUNT_OF(entries));
    go(c, STAGE_WRITE_CERTS);
}

static bool issue_serving(struct certs *c, struct err *err)
{
    struct cert_subject s = serving_subject(c);
    return authority_issue(&c->held, &c->ca, &s, c->wall, &c->serving, err);
}

/* What is stored is used as far as it goes: a CA that holds stays, and so does a certificate that
 * it signed. One that only lacks a name of ours is another replica's business. */
static bool settle_certs(struct certs *c, bool *write_out, struct err *err)
{
    struct err why;
    *write_out = false;
    if (!authority_usable(&c->ca, c->wall, &why)) {
        *write_out = true;
        return authority_new(&c->held, c->wall, &c->ca, err) && issue_serving(c, err);
    }
    struct cert_subject s = serving_subject(c);
    if (authority_check(c->ca.cert, &c->serving, &s, c->wall, &why))
        return true;
    s.name_count = 0;
    *write_out = !authority_check(c->ca.cert, &c->serving, &s, c->wall, &why);
    return issue_serving(c, err);
}

static void on_certs_read(struct certs *c, const struct api_result *r)
{
    arena_clear(&c->held);
    c->ca = c->serving = (struct cert_pair){{NULL, 0}, {NULL, 0}};
    c->version = (struct span){NULL, 0};
    if (r->err.kind == ERR_NONE && r->body != NULL) {
        struct doc_value secret = doc_root(r->body);
        c->version = secret_version(&c->passing, secret);
        c->ca.cert = secret_get(&c->held, secret, "ca.crt");
        c->ca.key = secret_get(&c->held, secret, "ca.key");
        c->serving.cert = secret_get(&c->held, secret, "tls.crt");
        c->serving.key = secret_get(&c->held, secret, "tls.key");
    }
    struct err err;
    bool write;
    if (!settle_certs(c, &write, &err)) {
        try_again(c, &err);
        return;
    }
    if (write) {
        write_certs(c);
        return;
    }
    tell(c);
    go_on(c, STAGE_READ_CLIENT);
}

static void on_certs_written(struct certs *c)
{
    tell(c);
    go_on(c, STAGE_READ_CLIENT);
}

/* --- the scheduler's certificate --- */

static void on_client_read(struct certs *c, const struct api_result *r)
{
    struct err err;
    c->version = (struct span){NULL, 0};
    if (r->err.kind == ERR_NONE && r->body != NULL) {
        struct doc_value secret = doc_root(r->body);
        c->version = secret_version(&c->passing, secret);
        c->client.cert = secret_get(&c->passing, secret, "tls.crt");
        c->client.key = secret_get(&c->passing, secret, "tls.key");
        if (span_eq(secret_get(&c->passing, secret, "ca.crt"), trusted(c)) &&
            authority_check(c->ca.cert, &c->client, &client_subject, c->wall, &err)) {
            go_on(c, STAGE_READ_WEBHOOK);
            return;
        }
    }
    if (!authority_issue(&c->passing, &c->ca, &client_subject, c->wall, &c->client, &err)) {
        try_again(c, &err);
        return;
    }
    const struct secret_entry entries[] = {{"ca.crt", trusted(c)},
                                           {"tls.crt", c->client.cert},
                                           {"tls.key", c->client.key}};
    c->body = secret_body(&c->passing, c->config.ns, SECRET_CLIENT, c->version, entries,
                          COUNT_OF(entries));
    go(c, STAGE_WRITE_CLIENT);
}

/* --- the webhook --- */

static void on_webhook_read(struct certs *c, const struct api_result *r)
{
    struct span ca = has_files(c) ? (struct span){NULL, 0} : c->ca.cert, uid = {NULL, 0};
    enum webhook_state state = WEBHOOK_ABSENT;
    if (r->err.kind == ERR_NONE && r->body != NULL)
        state = webhook_state_of(&c->passing, doc_root(r->body), ca, &uid);
    bool right = state == WEBHOOK_CURRENT || (has_files(c) && state == WEBHOOK_STALE);
    if (c->config.register_webhooks && !(right && c->registered))
        c->body = certs_webhook_configuration(&c->passing, c->config.ns, c->config.webhook_url, ca);
    else if (!right && state == WEBHOOK_STALE)
        c->body = webhook_bundle_patch(&c->passing, uid, ca);
    else {
        look_again_later(c);
        return;
    }
    go(c, STAGE_WRITE_WEBHOOK);
}

/* --- requests and replies --- */

static struct api_request request_of(const struct certs *c)
{
    bool webhook = c->stage == STAGE_READ_WEBHOOK || c->stage == STAGE_WRITE_WEBHOOK;
    bool certs = c->stage == STAGE_READ_CERTS || c->stage == STAGE_WRITE_CERTS;
    struct api_request r = {.verb = API_GET,
                            .kind = webhook ? KIND_VALIDATING_WEBHOOK : KIND_SECRET,
                            .ns = webhook ? (struct span){NULL, 0} : c->config.ns,
                            .name = webhook ? SPAN(WEBHOOK_CONFIGURATION)
                                    : certs ? SPAN(SECRET_CERTS)
                                            : SPAN(SECRET_CLIENT)};
    if (c->stage == look_of(c->stage))
        return r;
    r.verb = webhook ? API_APPLY : c->version.len != 0 ? API_MERGE : API_CREATE;
    r.force = webhook;
    r.body = c->body;
    return r;
}

static void on_success(struct certs *c, const struct api_result *r)
{
    if (c->stage == look_of(c->stage))
        arena_clear(&c->passing);
    switch (c->stage) {
    case STAGE_READ_CERTS:
        on_certs_read(c, r);
        break;
    case STAGE_WRITE_CERTS:
        on_certs_written(c);
        break;
    case STAGE_READ_CLIENT:
        on_client_read(c, r);
        break;
    case STAGE_WRITE_CLIENT:
        go_on(c, STAGE_READ_WEBHOOK);
        break;
    case STAGE_READ_WEBHOOK:
        on_webhook_read(c, r);
        break;
    case STAGE_WRITE_WEBHOOK:
        c->registered = true;
        look_again_later(c);
        break;
    }
}

static void on_done(void *user, const struct api_result *r)
{
    struct certs *c = user;
    c->busy = false;
    bool reads = c->stage == look_of(c->stage);
    if (r->err.kind == ERR_NONE || (reads && r->err.kind == ERR_NOT_FOUND))
        on_success(c, r);
    else if (!reads && r->err.kind == ERR_CONFLICT) { /* the first writer wins: read what they wrote */
        c->stage = look_of(c->stage);
        wait_longer(c);
    } else
        try_again(c, &r->err);
}

/* --- outside --- */

struct certs *certs_new(const struct certs_config *config)
{
    struct certs *c = mem_new(sizeof(*c));
    arena_init(&c->texts, 0);
    arena_init(&c->held, 0);
    arena_init(&c->passing, 0);
    c->config = *config;
    c->config.ns = arena_dup(&c->texts, config->ns);
    c->config.webhook_url = arena_dup(&c->texts, config->webhook_url);
    c->config.files.cert = arena_dup(&c->texts, config->files.cert);
    c->config.files.key = arena_dup(&c->texts, config->files.key);
    c->config.names = NULL;
    collect_names(c, config);
    c->stage = STAGE_READ_CERTS;
    return c;
}

void certs_free(struct certs *c)
{
    if (c == NULL)
        return;
    arena_release(&c->texts);
    arena_release(&c->held);
    arena_release(&c->passing);
    free(c);
}

bool certs_idle(const struct certs *c)
{
    return !c->busy;
}

mono_ms certs_step(struct certs *c, mono_ms now, wall_ms wall)
{
    c->now = now;
    c->wall = wall;
    bool waits = c->stage == STAGE_READ_WEBHOOK && !c->may_announce;
    if (c->busy || waits)
        return INT64_MAX;
    if (now < c->due)
        return c->due;
    struct api_request r = request_of(c);
    c->busy = true;
    api_send(c->config.api, &r, on_done, c);
    return c->busy ? INT64_MAX : c->due;
}

void certs_serving(struct certs *c)
{
    c->may_announce = true;
}
