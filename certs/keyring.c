#include "certs/keyring.h"

static struct cert_pair pair_dup(struct arena *a, const struct cert_pair *p)
{
    return (struct cert_pair){arena_dup(a, p->cert), arena_dup(a, p->key)};
}

struct keyring keyring_dup(struct arena *a, const struct keyring *k)
{
    return (struct keyring){pair_dup(a, &k->current), pair_dup(a, &k->next), pair_dup(a, &k->leaf),
                            arena_dup(a, k->old), k->state};
}

struct keyring keyring_read(struct arena *a, struct doc_value secret)
{
    return (struct keyring){
        .current = {secret_get(a, secret, "ca.crt"), secret_get(a, secret, "ca.key")},
        .next = {secret_get(a, secret, "next-ca.crt"), secret_get(a, secret, "next-ca.key")},
        .leaf = {secret_get(a, secret, "tls.crt"), secret_get(a, secret, "tls.key")},
        .old = secret_get(a, secret, "old-ca.crt"),
    };
}

void keyring_entries(const struct keyring *k, struct secret_entry out[KEYRING_ENTRIES])
{
    const struct secret_entry entries[KEYRING_ENTRIES] = {
        {"ca.crt", k->current.cert},   {"ca.key", k->current.key}, {"next-ca.crt", k->next.cert},
        {"next-ca.key", k->next.key},  {"tls.crt", k->leaf.cert},  {"tls.key", k->leaf.key},
        {"old-ca.crt", k->old},
    };
    memcpy(out, entries, sizeof(entries));
}

/* The old CA has no key, so that only its end is looked at. */
static struct rotation_cert describe_old(struct span pem)
{
    struct rotation_cert c = {false, 0, 0};
    c.good = pem.len != 0 && cert_not_after(pem, &c.until);
    return c;
}

static void note(struct err *first, struct err *why, const char *what)
{
    if (first->kind == ERR_NONE) {
        *first = *why;
        err_wrap(first, "%s", what);
    }
}

void keyring_describe(struct keyring *k, struct err *err)
{
    struct rotation_state s = {.old = describe_old(k->old)};
    struct err why;
    *err = (struct err){0};
    if (!authority_describe(&k->current, &s.current, &why))
        note(err, &why, "ca.crt and ca.key");
    else if (!authority_describe_leaf(k->current.cert, &k->leaf, CERT_SERVER, &s.leaf, &why))
        note(err, &why, "tls.crt and tls.key");
    if (!authority_describe(&k->next, &s.next, &why) && k->next.cert.len + k->next.key.len != 0)
        note(err, &why, "next-ca.crt and next-ca.key");
    k->state = s;
}

static void say_when(const struct rotation_cert *c, wall_ms now, const char *what, struct err *err)
{
    if (err->kind == ERR_NONE)
        err_set(err, ERR_INVALID, "%s %s", what, now < c->until ? "is not valid yet" : "has expired");
}

bool keyring_salvage(struct arena *a, struct keyring *k, const struct keyring *hold, wall_ms now, struct err *err)
{
    const struct rotation_state is = k->state, was = hold->state;
    if (!rotation_is_usable(&was.current, now))
        return false;
    if (!rotation_is_usable(&is.current, now)) {
        say_when(&is.current, now, "ca.crt", err);
        *k = keyring_dup(a, hold);
        return true;
    }
    if (!span_eq(k->current.cert, hold->current.cert))
        return false;
    bool next = !is.next.good && rotation_is_usable(&was.next, now);
    bool leaf = !rotation_is_usable(&is.leaf, now) && rotation_is_usable(&was.leaf, now);
    if (next) {
        k->next = pair_dup(a, &hold->next);
        k->state.next = was.next;
    }
    if (leaf) {
        say_when(&is.leaf, now, "tls.crt", err);
        k->leaf = pair_dup(a, &hold->leaf);
        k->state.leaf = was.leaf; /* of the same CA */
    }
    if (next && err->kind == ERR_NONE)
        err_set(err, ERR_INVALID, "next-ca.crt is not there");
    return next || leaf;
}

static bool do_step(struct arena *a, struct keyring *k, enum rotation_step step, const struct keyring_policy *p,
                    wall_ms now, struct err *err)
{
    switch (step) {
    case ROTATION_NEW_CA:
        k->leaf = (struct cert_pair){{NULL, 0}, {NULL, 0}};
        return authority_new(a, now, p->term, &k->current, err) && authority_new(a, now, p->term, &k->next, err);
    case ROTATION_ISSUE_NEXT:
        return authority_new(a, now, p->term, &k->next, err);
    case ROTATION_PROMOTE:
        k->old = k->current.cert;
        k->current = k->next;
        k->next = k->leaf = (struct cert_pair){{NULL, 0}, {NULL, 0}};
        return true;
    case ROTATION_RENEW_LEAF:
        return authority_issue(a, &k->current, &p->serving, now, &k->leaf, err);
    case ROTATION_DROP_OLD:
        k->old = SPAN("");
        return true;
    case ROTATION_NONE:
    case ROTATION_WAIT:
        break;
    }
    return true;
}

bool keyring_settle(struct arena *a, struct keyring *k, const struct keyring_policy *policy, wall_ms now,
                    bool *renewed_out, bool *ca_out, struct err *err)
{
    enum { STEPS_MAX = 8 }; /* twice what follows a promotion; a life that is over as soon as it began would go on */
    struct err unused;
    *renewed_out = *ca_out = false;
    for (int i = 0; i < STEPS_MAX; i++) {
        k->state.announced = policy->announced;
        enum rotation_step step = rotation_next(&k->state, now);
        if (step == ROTATION_NONE || step == ROTATION_WAIT)
            return true;
        *renewed_out = true;
        *ca_out = *ca_out || step == ROTATION_NEW_CA || step == ROTATION_PROMOTE;
        if (!do_step(a, k, step, policy, now, err))
            return false;
        keyring_describe(k, &unused);
    }
    return err_set(err, ERR_INTERNAL, "the certificates do not come to rest");
}

static struct span joined(struct arena *a, const struct span *parts, size_t count)
{
    struct buf out = {0};
    for (size_t i = 0; i < count; i++) {
        buf_add(&out, parts[i]);
        if (parts[i].len != 0 && parts[i].ptr[parts[i].len - 1] != '\n')
            buf_add(&out, SPAN("\n"));
    }
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

struct span keyring_announced(struct arena *a, const struct keyring *k)
{
    return joined(a, (const struct span[]){k->current.cert, k->next.cert}, 2);
}

struct span keyring_clients(struct arena *a, const struct keyring *k)
{
    return joined(a, (const struct span[]){k->current.cert, k->next.cert, k->old}, 3);
}
