/* Credentials. A pod's token lives about an hour and is swapped by the kubelet long before; client
 * certificates are renewed by whoever issued them. Looking costs a stat a second. */
#include "kube/client_inner.h"

#include <sys/stat.h>

#include "kube/file_io.h"

static bool same_file(const struct secret_file *f, const struct stat *st)
{
    return f->device == st->st_dev && f->inode == st->st_ino && f->size == st->st_size &&
           f->changed_ns == st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* The token goes into a header: no line break may come with it. */
static bool is_header_safe(struct span s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] <= ' ' || (unsigned char)s.ptr[i] >= 0x7f)
            return false;
    return s.len != 0;
}

static struct span trimmed(struct span s)
{
    while (s.len != 0 && (unsigned char)s.ptr[s.len - 1] <= ' ')
        s.len--;
    while (s.len != 0 && (unsigned char)s.ptr[0] <= ' ') {
        s.ptr++;
        s.len--;
    }
    return s;
}

static void set_bytes(struct secret_file *f, struct span bytes)
{
    buf_clear(&f->bytes);
    buf_add(&f->bytes, bytes);
}

static bool read_secret(struct secret_file *f, bool is_token, mono_ms now, struct err *err)
{
    struct stat st;
    if (stat(f->path, &st) != 0)
        return err_set(err, ERR_NOT_FOUND, "%s: cannot be read", f->path);
    struct arena a;
    arena_init(&a, 0);
    struct span bytes;
    bool done = file_load(&a, f->path, CLIENT_FILE_MAX, &bytes, err);
    if (done && is_token && !is_header_safe(bytes = trimmed(bytes)))
        done = err_set(err, ERR_INVALID, "%s: is not a token", f->path);
    if (done) {
        set_bytes(f, bytes);
        f->read = now;
        f->device = st.st_dev;
        f->inode = st.st_ino;
        f->size = st.st_size;
        f->changed_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    }
    arena_release(&a);
    return done;
}

static void refresh(struct secret_file *f, bool is_token, mono_ms now, bool in_any_case)
{
    struct stat st;
    if (f->path == NULL || (!in_any_case && now - f->looked < CLIENT_FILE_LOOK_MS))
        return;
    f->looked = now;
    struct err ignored; /* told by the request that fails with what we still have */
    if (in_any_case || now - f->read >= CLIENT_FILE_READ_MS || stat(f->path, &st) != 0 ||
        !same_file(f, &st))
        read_secret(f, is_token, now, &ignored);
}

static bool init_file(struct secret_file *f, struct arena *a, struct span path, struct span data,
                      bool is_token, mono_ms now, struct err *err)
{
    *f = (struct secret_file){.bytes = {.max = CLIENT_FILE_MAX}, .looked = now};
    if (path.len == 0) {
        set_bytes(f, data);
        return true;
    }
    f->path = arena_cstr(a, path);
    return read_secret(f, is_token, now, err);
}

static bool init_pem(struct secret_file *f, struct arena *a, const struct pem_source *source,
                     mono_ms now, struct err *err)
{
    struct span none = {0};
    return init_file(f, a, source->data.len != 0 ? none : source->file, source->data, false, now,
                     err);
}

bool auth_init(struct auth *auth, struct arena *a, const struct client_config *config, mono_ms now,
               struct err *err)
{
    *auth = (struct auth){0};
    struct span token = trimmed(config->token);
    if (config->token_file.len == 0 && token.len != 0 && !is_header_safe(token))
        return err_set(err, ERR_INVALID, "token: is not a token");
    return init_pem(&auth->ca, a, &config->ca, now, err) &&
           init_pem(&auth->cert, a, &config->cert, now, err) &&
           init_pem(&auth->key, a, &config->key, now, err) &&
           init_file(&auth->token, a, config->token_file, token, true, now, err);
}

void auth_release(struct auth *auth)
{
    buf_release(&auth->ca.bytes);
    buf_release(&auth->cert.bytes);
    buf_release(&auth->key.bytes);
    buf_release(&auth->token.bytes);
}

void auth_refresh(struct auth *auth, mono_ms now, bool in_any_case)
{
    refresh(&auth->ca, false, now, in_any_case);
    refresh(&auth->cert, false, now, in_any_case);
    refresh(&auth->key, false, now, in_any_case);
    refresh(&auth->token, true, now, in_any_case);
}
