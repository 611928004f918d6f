#include "server/serving.h"

#include <stdlib.h>

#include "server/input.h"

struct texts_of_files {
    struct arena arena;
    struct span of[SERVING_FILE_COUNT];
    struct err err; /* of the first that cannot be read */
    uint64_t hash;  /* of all of it */
};

struct serving {
    struct serving_config config;
    struct texts_of_files used, seen;
    uint64_t tried; /* that did not do: told already */
    struct arena arena;
    struct cert_set set; /* of certs, in the arena; no certificate: none yet */
    mono_ms due;
};

static bool is_named(const struct serving_config *config, int file)
{
    return config->paths[file] != NULL && config->paths[file][0] != '\0';
}

static void texts_read(const struct serving_config *config, struct texts_of_files *out)
{
    out->err = (struct err){0};
    out->hash = 0;
    arena_clear(&out->arena);
    for (int f = 0; f < SERVING_FILE_COUNT; f++) {
        struct err err = {0};
        out->of[f] = (struct span){NULL, 0};
        if (is_named(config, f) && !input_text(&out->arena, config->paths[f], &out->of[f], &err) && out->err.kind == ERR_NONE)
            out->err = err;
        out->hash = out->hash * 31 + span_hash(err.kind != ERR_NONE ? span_of(err.msg) : out->of[f]);
    }
}

static bool texts_check(const struct serving_config *config, const struct texts_of_files *t, struct err *err)
{
    *err = t->err;
    if (err->kind == ERR_NONE && is_named(config, SERVING_CERT) != is_named(config, SERVING_KEY))
        return err_set(err, ERR_INVALID, "--tls-cert and --tls-key go together");
    for (int f = 0; err->kind == ERR_NONE && f < SERVING_FILE_COUNT; f++)
        if (is_named(config, f) && t->of[f].len == 0)
            return err_set(err, ERR_INVALID, "%s is empty", config->paths[f]);
    return err->kind == ERR_NONE;
}

bool serving_new(const struct serving_config *config, struct serving **out, struct err *err)
{
    struct serving *s = mem_new(sizeof(*s));
    s->config = *config;
    arena_init(&s->arena, 0);
    arena_init(&s->used.arena, 0);
    arena_init(&s->seen.arena, 0);
    texts_read(config, &s->used);
    s->seen.hash = s->used.hash;
    if (!texts_check(&s->config, &s->used, err)) {
        serving_free(s);
        return false;
    }
    *out = s;
    return true;
}

void serving_free(struct serving *s)
{
    if (s == NULL)
        return;
    arena_release(&s->arena);
    arena_release(&s->used.arena);
    arena_release(&s->seen.arena);
    free(s);
}

struct cert_pair serving_pair(const struct serving *s)
{
    return (struct cert_pair){s->used.of[SERVING_CERT], s->used.of[SERVING_KEY]};
}

/* What is served with those files and what certs has told. */
static bool serve(struct serving *s, const struct texts_of_files *t, struct err *err)
{
    bool own = t->of[SERVING_CERT].len == 0;
    struct span client_ca = t->of[SERVING_CLIENT_CA];
    struct tls_pem pem = {.cert = own ? s->set.serving.cert : t->of[SERVING_CERT],
                          .key = own ? s->set.serving.key : t->of[SERVING_KEY],
                          .client_ca = client_ca.len != 0 ? client_ca : s->set.ca,
                          .webhook_client_ca = t->of[SERVING_WEBHOOK_CLIENT_CA]};
    if (!tls_swap(s->config.tls, &pem, err))
        return false;
    wall_ms not_after = 0;
    cert_not_after(pem.cert, &not_after);
    s->config.served(s->config.user, not_after);
    return true;
}

void serving_set(struct serving *s, const struct cert_set *set)
{
    struct err err;
    arena_clear(&s->arena);
    s->set = (struct cert_set){.ca = arena_dup(&s->arena, set->ca),
                               .serving = {arena_dup(&s->arena, set->serving.cert),
                                           arena_dup(&s->arena, set->serving.key)},
                               .not_after = set->not_after};
    if (!serve(s, &s->used, &err))
        s->config.trouble(s->config.user, &err);
}

static bool take_up(struct serving *s, wall_ms wall, struct err *err)
{
    struct cert_pair pair = {s->seen.of[SERVING_CERT], s->seen.of[SERVING_KEY]};
    if (!texts_check(&s->config, &s->seen, err))
        return false;
    if (pair.cert.len != 0 && !cert_pair_usable(&pair, wall, err))
        return err_wrap(err, "%s", s->config.paths[SERVING_CERT]);
    if (s->set.ca.len != 0 && !serve(s, &s->seen, err))
        return false;
    struct texts_of_files before = s->used;
    s->used = s->seen;
    s->seen = before;
    s->seen.hash = s->used.hash;
    if (pair.cert.len != 0)
        s->config.files(s->config.user, &pair);
    return true;
}

mono_ms serving_step(struct serving *s, mono_ms now, wall_ms wall)
{
    if (now < s->due)
        return s->due;
    uint64_t last = s->seen.hash;
    struct err err;
    texts_read(&s->config, &s->seen);
    bool new = s->seen.hash != s->used.hash && s->seen.hash != s->tried, sure = s->seen.hash == last;
    s->due = now + (new && !sure ? SERVING_SURE_MS : SERVING_LOOK_MS);
    if (s->seen.hash == s->used.hash)
        s->tried = 0;
    if (new && sure && !take_up(s, wall, &err)) {
        s->tried = s->seen.hash;
        struct err why = err;
        err_set(&err, why.kind, "%s; what was read before stays in use", why.msg);
        s->config.trouble(s->config.user, &err);
    }
    return s->due;
}
