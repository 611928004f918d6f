/* One request at a time. A stage sends one, and its reply says which stage comes next; what fails is
 * tried again after a while, from the read before it, so that every write follows a fresh look. The scheduler's Secret
 * and the two webhook configurations do not wait for each other. */
#include "certs/certs.h"

#include <stdlib.h>

#include "base/doc.h"
#include "certs/bundle.h"
#include "certs/keyring.h"
#include "certs/webhook_configuration.h"

enum {
    RETRY_FIRST_MS = MS_SECOND,
    RETRY_MAX_MS = MS_MINUTE,
    /* Between writes of ours that do not last, at most: replicas whose clocks disagree find each other's unusable. */
    REWRITE_MAX_MS = 10 * MS_MINUTE,
    NAMES_MAX = 32,
};

enum stage {
    STAGE_READ_CERTS,
    STAGE_WRITE_CERTS,
    STAGE_READ_CLIENT,
    STAGE_WRITE_CLIENT,
    STAGE_READ_WEBHOOK, /* not before we serve; one of `which` after the other */
    STAGE_WRITE_WEBHOOK,
};

/* What troubles are about: requests, and what is stored. */
enum { TOPIC_CERTS, TOPIC_CLIENT, TOPIC_STORED, TOPIC_WEBHOOK, TOPIC_COUNT = TOPIC_WEBHOOK + WEBHOOK_OBJECT_COUNT };

struct certs {
    struct certs_config config;
    struct arena texts; /* the config's, and the names */
    struct arena file_texts; /* of config.files */
    struct span names[NAMES_MAX];
    uint32_t name_count;

    struct arena held, fresh; /* of `ring`, and of `found`; they change places */
    struct keyring ring;      /* in use; absent: none yet */
    struct span ring_version; /* of the Secret that holds it; absent: not known */
    struct keyring found;     /* what the Secret holds or is to hold */
    bool another_ca;          /* `found` signs with another than was stored */
    mono_ms shrink_due;       /* who has changed the CA clears the caBundle then; 0: not us */
    mono_ms rewrite_due;
    span_ms rewrite_pause;

    struct arena own_texts;
    struct cert_pair own; /* signed in private, for names that the stored one lacks */
    struct caller { /* a configuration by which the API server calls us */
        struct arena texts;
        struct span bundle; /* its caBundle as we saw it last */
        bool is_free;       /* there is none that is ours to write */
    } callers[WEBHOOK_OBJECT_COUNT];
    uint64_t told;      /* of the last set */
    bool waits;         /* what is in use has not been told: the API server would not trust it */

    struct arena passing; /* of what follows, until the next look */
    struct cert_pair client;
    wall_ms client_end;
    struct arena client_texts;
    struct span client_seen;         /* the CAs, certificate and key that were looked at last, one after another */
    struct rotation_cert client_was; /* and what was found */
    struct span version; /* of the object to be written; absent: it is not there */
    struct span body;    /* to be written */

    enum stage stage;
    enum webhook_object which; /* of the webhooks' stages */
    bool wrote, failed;        /* in this round of them */
    bool busy, may_announce, registered;
    mono_ms now, due;
    wall_ms wall;
    span_ms pause;
    struct err last[TOPIC_COUNT]; /* that was told */
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
    return (struct cert_subject){SPAN("stowage"), CERT_SERVER, c->names, c->name_count, c->config.leaf_life};
}

static struct cert_subject client_subject(const struct certs *c)
{
    return (struct cert_subject){SPAN(SECRET_CLIENT_SUBJECT), CERT_CLIENT, NULL, 0, c->config.leaf_life};
}

static bool has_files(const struct certs *c)
{
    return c->config.files.cert.len != 0;
}

/* --- moving on --- */

static void go(struct certs *c, enum stage next)
{
    c->stage = next;
    c->due = c->now;
}

static int topic_of(const struct certs *c)
{
    return c->stage <= STAGE_WRITE_CERTS    ? TOPIC_CERTS
           : c->stage <= STAGE_WRITE_CLIENT ? TOPIC_CLIENT
                                            : TOPIC_WEBHOOK + (int)c->which;
}

/* One object is as it should be. */
static void go_on(struct certs *c, enum stage next)
{
    c->last[topic_of(c)].msg[0] = '\0';
    go(c, next);
}

static void go_to_webhooks(struct certs *c)
{
    c->which = WEBHOOK_VALIDATING;
    c->wrote = c->failed = false;
    go(c, STAGE_READ_WEBHOOK);
}

/* False: this was the last. */
static bool go_to_next_webhook(struct certs *c)
{
    if (c->which + 1 == WEBHOOK_OBJECT_COUNT)
        return false;
    c->which++;
    go(c, STAGE_READ_WEBHOOK);
    return true;
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

static void tell_trouble(struct certs *c, int topic, const struct err *err)
{
    if (strcmp(err->msg, c->last[topic].msg) == 0)
        return;
    c->last[topic] = *err;
    if (c->config.listener.trouble != NULL)
        c->config.listener.trouble(c->config.listener.user, err);
}

static struct span doing(struct certs *c)
{
    const char *what = c->stage == look_of(c->stage) ? "reading" : "writing";
    return c->stage <= STAGE_WRITE_CERTS    ? arena_printf(&c->passing, "%s Secret " SECRET_CERTS, what)
           : c->stage <= STAGE_WRITE_CLIENT ? arena_printf(&c->passing, "%s Secret " SECRET_CLIENT, what)
                                            : arena_printf(&c->passing, "%s %.*s", what, SPAN_ARG(webhook_told(&c->passing, c->which)));
}

static void from_the_beginning(struct certs *c)
{
    c->stage = STAGE_READ_CERTS;
    if (c->pause == 0)
        c->pause = RETRY_FIRST_MS;
    wait_longer(c);
}

static void try_again(struct certs *c, const struct err *why)
{
    struct err err = *why;
    err_wrap(&err, "%.*s", SPAN_ARG(doing(c)));
    struct err told = err;
    err_set(&err, told.kind, "%s; trying again", told.msg);
    tell_trouble(c, topic_of(c), &err);
    if (topic_of(c) == TOPIC_CLIENT) { /* the webhooks' certificate must not wait for it */
        go_to_webhooks(c);
        return;
    }
    c->failed = true;
    if (c->stage == STAGE_READ_WEBHOOK && why->kind == ERR_FORBIDDEN)
        c->callers[c->which].is_free = true; /* what we may not read is not ours to write: renewing does not wait for it */
    if (topic_of(c) == TOPIC_CERTS || !go_to_next_webhook(c))
        from_the_beginning(c);
}

static void look_again_later(struct certs *c)
{
    span_ms pause = rotation_pause(&c->ring.state.leaf);
    go_on(c, STAGE_READ_CERTS);
    c->due = c->now + (!c->waits || pause < RETRY_FIRST_MS ? pause : RETRY_FIRST_MS);
    c->pause = 0;
}

/* --- the CA and the serving certificate --- */

/* The stored one, or our own if that lacks a name of ours; our own is used until two thirds of its life. */
static bool serving_of(struct certs *c, struct cert_pair *out, struct err *err)
{
    struct cert_subject s = serving_subject(c);
    *out = c->config.files;
    if (has_files(c))
        return true;
    *out = c->ring.leaf;
    if (authority_names(out->cert, &s, err))
        return true;
    if (!authority_check(c->ring.current.cert, &c->own, &s, c->wall, err)) {
        arena_clear(&c->own_texts);
        if (!authority_issue(&c->own_texts, &c->ring.current, &s, c->wall, &c->own, err))
            return false;
    }
    *out = c->own;
    return true;
}

/* The API server was told of the CA wherever it calls us, or there is nobody to tell. */
static bool all_trust(const struct certs *c, struct span ca)
{
    for (size_t i = 0; i < COUNT_OF(c->callers); i++)
        if (!c->callers[i].is_free && !bundle_has(c->callers[i].bundle, ca))
            return false;
    return true;
}

static bool is_announced(const struct certs *c)
{
    return c->told == 0 /* there is nothing to lose */ || all_trust(c, c->ring.current.cert);
}

static bool tell(struct certs *c, struct err *err)
{
    struct cert_set set = {.ca = keyring_clients(&c->passing, &c->ring)};
    c->waits = !is_announced(c);
    if (c->waits)
        return true;
    if (!serving_of(c, &set.serving, err))
        return false;
    uint64_t hash = span_hash(arena_printf(&c->passing, "%.*s%.*s", SPAN_ARG(set.serving.cert), SPAN_ARG(set.ca))) | 1;
    if (hash == c->told)
        return true;
    if (!cert_not_after(set.serving.cert, &set.not_after))
        set.not_after = 0;
    c->config.listener.changed(c->config.listener.user, &set);
    c->told = hash;
    return true;
}

static void write_certs(struct certs *c)
{
    struct secret_entry entries[KEYRING_ENTRIES];
    keyring_entries(&c->found, entries);
    c->body = secret_body(&c->passing, c->config.ns, SECRET_CERTS, c->version, entries, COUNT_OF(entries));
    go(c, STAGE_WRITE_CERTS);
}

/* What is in use is what is stored. */
static void go_on_with_ring(struct certs *c)
{
    struct err err;
    if (!tell(c, &err)) {
        try_again(c, &err);
        return;
    }
    c->stage = STAGE_READ_CLIENT;
    c->due = c->now;
}

/* What was found, or written, is in use from now on. */
static void take_up(struct certs *c, struct span version)
{
    struct arena before = c->held;
    c->ring_version = arena_dup(&c->fresh, version);
    c->held = c->fresh;
    c->fresh = before;
    c->ring = c->found;
    go_on_with_ring(c);
}

static void nothing_due(struct certs *c)
{
    c->rewrite_pause = 0;
    c->pause = 0;
    c->last[TOPIC_CERTS].msg[0] = '\0';
    if (rotation_next(&c->ring.state, c->wall) == ROTATION_WAIT) {
        struct err err;
        err_set(&err, ERR_INVALID, "Secret " SECRET_CERTS ": ca.crt is not valid yet by this machine's clock");
        tell_trouble(c, TOPIC_STORED, &err);
    } else
        c->last[TOPIC_STORED].msg[0] = '\0';
}

static struct keyring_policy policy_of(const struct certs *c)
{
    return (struct keyring_policy){.serving = serving_subject(c),
                                   .term = c->config.ca_life,
                                   .announced = all_trust(c, c->found.next.cert)};
}

static bool in_use(const struct certs *c)
{
    return c->ring.current.cert.len != 0;
}

static void tell_unusable(struct certs *c, bool salvaged, const struct err *why)
{
    struct err err = *why;
    err_wrap(&err, "Secret " SECRET_CERTS);
    if (salvaged) {
        struct err told = err;
        err_set(&err, ERR_INVALID, "%s; writing back what is in use", told.msg);
    }
    tell_trouble(c, TOPIC_STORED, &err);
}

static void on_certs_found(struct certs *c)
{
    struct err why = {0}, err;
    bool salvaged = false, renewed;
    keyring_describe(&c->found, &why);
    if (in_use(c))
        salvaged = keyring_salvage(&c->fresh, &c->found, &c->ring, c->wall, &why);
    if (c->version.len == 0)
        err_set(&why, ERR_NOT_FOUND, "is not there");
    if (salvaged || (why.kind != ERR_NONE && c->version.len != 0))
        tell_unusable(c, salvaged, &why);
    struct keyring_policy policy = policy_of(c);
    if (!keyring_settle(&c->fresh, &c->found, &policy, c->wall, &renewed, &c->another_ca, &err)) {
        try_again(c, &err);
        return;
    }
    if (!salvaged && !renewed) {
        take_up(c, c->version);
        nothing_due(c);
    } else if (in_use(c) && c->now < c->rewrite_due)
        go(c, STAGE_READ_CLIENT);
    else
        write_certs(c);
}

/* As most looks find it. */
static bool is_unchanged(struct certs *c)
{
    c->ring.state.announced = all_trust(c, c->ring.next.cert);
    enum rotation_step step = rotation_next(&c->ring.state, c->wall);
    return in_use(c) && c->version.len != 0 && span_eq(c->version, c->ring_version) &&
           (step == ROTATION_NONE || step == ROTATION_WAIT);
}

static void on_certs_read(struct certs *c, const struct api_result *r)
{
    arena_clear(&c->fresh);
    c->found = (struct keyring){.old = {NULL, 0}};
    c->version = (struct span){NULL, 0};
    if (r->err.kind == ERR_NONE && r->body != NULL) {
        struct doc_value secret = doc_root(r->body);
        c->version = secret_version(&c->passing, secret);
        if (is_unchanged(c)) {
            nothing_due(c);
            go_on_with_ring(c);
            return;
        }
        c->found = keyring_read(&c->fresh, secret);
    }
    on_certs_found(c);
}

static void on_certs_written(struct certs *c)
{
    c->rewrite_due = c->now + c->rewrite_pause;
    c->rewrite_pause = c->rewrite_pause == 0                  ? RETRY_FIRST_MS
                       : c->rewrite_pause * 2 < REWRITE_MAX_MS ? c->rewrite_pause * 2
                                                               : REWRITE_MAX_MS;
    const struct rotation_cert *next = &c->found.state.next;
    if (c->another_ca && next->good)
        c->shrink_due = c->now + rotation_settling(next);
    take_up(c, (struct span){NULL, 0});
}

/* --- the scheduler's certificate --- */

static bool may_shrink(const struct certs *c)
{
    return c->shrink_due != 0 && c->now >= c->shrink_due;
}

/* What the scheduler has to trust: our own CAs, whoever serves with files. Those who do and those who do not share the
 * Secret, while a Deployment rolls from one to the other, and each leaves in it what the other needs. */
static struct bundle_change trusted(struct certs *c)
{
    struct span own = keyring_announced(&c->passing, &c->ring);
    return (struct bundle_change){
        .want = has_files(c) ? arena_printf(&c->passing, "%.*s%.*s", SPAN_ARG(own), SPAN_ARG(c->config.files.cert)) : own,
        .drop = c->ring.old,
        .exact = may_shrink(c),
    };
}

static bool client_is_right(struct certs *c)
{
    struct err unused;
    struct span cas = keyring_clients(&c->passing, &c->ring);
    struct span texts =
        arena_printf(&c->passing, "%.*s%.*s\n%.*s", SPAN_ARG(cas), SPAN_ARG(c->client.cert), SPAN_ARG(c->client.key));
    if (!span_eq(texts, c->client_seen)) {
        arena_clear(&c->client_texts);
        c->client_seen = arena_dup(&c->client_texts, texts);
        c->client_was.good = authority_describe_leaf(cas, &c->client, CERT_CLIENT, &c->client_was, &unused);
    }
    return rotation_is_usable(&c->client_was, c->wall) && !rotation_is_due(&c->client_was, c->wall);
}

static void client_is_settled(struct certs *c)
{
    c->last[TOPIC_CLIENT].msg[0] = '\0';
    go_to_webhooks(c);
}

static void on_client_read(struct certs *c, const struct api_result *r)
{
    struct err err;
    struct span stored_ca = {NULL, 0};
    bool right = false;
    c->version = (struct span){NULL, 0};
    if (r->err.kind == ERR_NONE && r->body != NULL) {
        struct doc_value secret = doc_root(r->body);
        c->version = secret_version(&c->passing, secret);
        stored_ca = secret_get(&c->passing, secret, "ca.crt");
        c->client.cert = secret_get(&c->passing, secret, "tls.crt");
        c->client.key = secret_get(&c->passing, secret, "tls.key");
        right = client_is_right(c);
    }
    struct bundle_change change = trusted(c);
    struct span ca = bundle_next(&c->passing, stored_ca, &change, c->wall);
    if (right && ca.ptr == NULL) {
        c->client_end = c->client_was.until;
        client_is_settled(c);
        return;
    }
    struct cert_subject subject = client_subject(c);
    if (!right && !authority_issue(&c->passing, &c->ring.current, &subject, c->wall, &c->client, &err)) {
        try_again(c, &err);
        return;
    }
    const struct secret_entry entries[] = {{"ca.crt", ca.ptr != NULL ? ca : stored_ca},
                                           {"tls.crt", c->client.cert},
                                           {"tls.key", c->client.key}};
    c->body = secret_body(&c->passing, c->config.scheduler_ns, SECRET_CLIENT, c->version, entries,
                          COUNT_OF(entries));
    go(c, STAGE_WRITE_CLIENT);
}

/* --- the webhooks --- */

/* What the API server has to trust now, and what it need not any more. */
static struct bundle_change bundle_change(struct certs *c)
{
    bool trusts_old = rotation_trusts_old(&c->ring.state, c->wall);
    return (struct bundle_change){
        .want = trusts_old ? keyring_clients(&c->passing, &c->ring) : keyring_announced(&c->passing, &c->ring),
        .drop = trusts_old ? (struct span){NULL, 0} : c->ring.old,
        .exact = may_shrink(c),
    };
}

static bool registers(const struct certs *c)
{
    return c->config.register_webhooks && c->which == WEBHOOK_VALIDATING;
}

static void note_bundle(struct certs *c, const struct webhook_seen *seen)
{
    struct caller *caller = &c->callers[c->which];
    arena_clear(&caller->texts);
    caller->bundle = arena_dup(&caller->texts, seen->bundle);
    caller->is_free = has_files(c) || (!seen->there && !registers(c));
}

/* Absent: it is as it should be. */
static struct span webhook_body(struct certs *c, const struct webhook_seen *seen)
{
    struct bundle_change change = bundle_change(c);
    struct span bundle = has_files(c) ? (struct span){NULL, 0} : bundle_next(&c->passing, seen->bundle, &change, c->wall);
    if (registers(c) && !(seen->there && c->registered && bundle.ptr == NULL))
        return certs_webhook_configuration(&c->passing, c->config.ns, c->config.webhook_url,
                                           has_files(c) || bundle.ptr != NULL ? bundle : seen->bundle);
    return seen->there && bundle.ptr != NULL ? webhook_bundle_patch(&c->passing, c->which, seen, bundle)
                                             : (struct span){NULL, 0};
}

static void webhook_is_settled(struct certs *c)
{
    struct err err;
    c->last[topic_of(c)].msg[0] = '\0';
    if (go_to_next_webhook(c))
        return;
    if (may_shrink(c) && !c->wrote && !c->failed)
        c->shrink_due = 0;
    if (!c->wrote && !tell(c, &err)) /* what was just written the API server may not have heard of yet */
        try_again(c, &err);
    else if (c->failed)
        from_the_beginning(c);
    else
        look_again_later(c);
}

static void on_webhook_read(struct certs *c, const struct api_result *r)
{
    struct webhook_seen seen = {.there = false};
    if (r->err.kind == ERR_NONE && r->body != NULL)
        seen = webhook_look(&c->passing, doc_root(r->body));
    note_bundle(c, &seen);
    c->body = webhook_body(c, &seen);
    if (c->body.ptr != NULL)
        go(c, STAGE_WRITE_WEBHOOK);
    else
        webhook_is_settled(c);
}

static void on_webhook_written(struct certs *c)
{
    c->wrote = true;
    c->registered |= registers(c);
    webhook_is_settled(c);
}

/* --- requests and replies --- */

static struct api_request request_of(const struct certs *c)
{
    bool webhook = c->stage == STAGE_READ_WEBHOOK || c->stage == STAGE_WRITE_WEBHOOK;
    bool certs = c->stage == STAGE_READ_CERTS || c->stage == STAGE_WRITE_CERTS;
    struct api_request r = {.verb = API_GET,
                            .kind = webhook ? webhook_kind(c->which) : KIND_SECRET,
                            .ns = webhook ? (struct span){NULL, 0}
                                  : certs ? c->config.ns
                                          : c->config.scheduler_ns,
                            .name = webhook ? span_of(webhook_name(c->which))
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
        cert_not_after(c->client.cert, &c->client_end);
        client_is_settled(c);
        break;
    case STAGE_READ_WEBHOOK:
        on_webhook_read(c, r);
        break;
    case STAGE_WRITE_WEBHOOK:
        on_webhook_written(c);
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

void certs_use_files(struct certs *c, const struct cert_pair *files)
{
    arena_clear(&c->file_texts);
    c->config.files = (struct cert_pair){arena_dup(&c->file_texts, files->cert), arena_dup(&c->file_texts, files->key)};
}

struct certs *certs_new(const struct certs_config *config)
{
    struct certs *c = mem_new(sizeof(*c));
    arena_init(&c->texts, 0);
    arena_init(&c->held, 0);
    arena_init(&c->fresh, 0);
    arena_init(&c->own_texts, 0);
    for (size_t i = 0; i < COUNT_OF(c->callers); i++)
        arena_init(&c->callers[i].texts, 0);
    arena_init(&c->passing, 0);
    arena_init(&c->client_texts, 0);
    c->config = *config;
    if (c->config.leaf_life == 0)
        c->config.leaf_life = CERTS_LEAF_LIFE;
    if (c->config.ca_life == 0)
        c->config.ca_life = CERTS_CA_LIFE;
    c->config.ns = arena_dup(&c->texts, config->ns);
    c->config.scheduler_ns = config->scheduler_ns.len != 0 ? arena_dup(&c->texts, config->scheduler_ns) : c->config.ns;
    c->config.webhook_url = arena_dup(&c->texts, config->webhook_url);
    arena_init(&c->file_texts, 0);
    certs_use_files(c, &config->files);
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
    arena_release(&c->file_texts);
    arena_release(&c->held);
    arena_release(&c->fresh);
    arena_release(&c->own_texts);
    for (size_t i = 0; i < COUNT_OF(c->callers); i++)
        arena_release(&c->callers[i].texts);
    arena_release(&c->passing);
    arena_release(&c->client_texts);
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

void certs_ends(const struct certs *c, wall_ms out[CERT_NAME_COUNT])
{
    out[CERT_NAME_CA] = c->ring.state.current.until;
    out[CERT_NAME_NEXT_CA] = c->ring.state.next.until;
    out[CERT_NAME_SCHEDULER] = c->client_end;
}
