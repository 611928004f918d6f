#include "kube/kubeconfig.h"

#include "base/base64.h"
#include "base/decode.h"

struct cluster {
    struct span server, tls_server_name, proxy_url, ca, ca_data;
    bool skip_verify, no_compression;
};

struct named_cluster {
    struct span name;
    struct cluster cluster;
};

struct plugin { /* exec or auth-provider: only seen, so as to be refused */
    struct span command, name;
};

struct user {
    struct span cert, cert_data, key, key_data, token, token_file, username, as;
    struct plugin *exec, *auth_provider;
};

struct named_user {
    struct span name;
    struct user user;
};

struct context {
    struct span cluster, user, ns;
};

struct named_context {
    struct span name;
    struct context context;
};

struct kubeconfig {
    struct span current;
    struct {
        struct named_cluster *items;
        uint32_t count;
    } clusters;
    struct {
        struct named_user *items;
        uint32_t count;
    } users;
    struct {
        struct named_context *items;
        uint32_t count;
    } contexts;
};

static const struct field cluster_fields[] = {
    FIELD(struct cluster, server, FIELD_SPAN, "server"),
    FIELD(struct cluster, tls_server_name, FIELD_SPAN, "tls-server-name"),
    FIELD(struct cluster, proxy_url, FIELD_SPAN, "proxy-url"),
    FIELD(struct cluster, ca, FIELD_SPAN, "certificate-authority"),
    FIELD(struct cluster, ca_data, FIELD_SPAN, "certificate-authority-data"),
    FIELD(struct cluster, skip_verify, FIELD_BOOL, "insecure-skip-tls-verify"),
    FIELD(struct cluster, no_compression, FIELD_BOOL, "disable-compression"),
};
static const struct schema cluster_schema = SCHEMA(struct cluster, "cluster", cluster_fields);

static const struct field named_cluster_fields[] = {
    FIELD(struct named_cluster, name, FIELD_SPAN, "name"),
    FIELD(struct named_cluster, cluster, FIELD_OBJECT, "cluster", .schema = &cluster_schema),
};
static const struct schema named_cluster_schema =
    SCHEMA(struct named_cluster, "cluster", named_cluster_fields);

static const struct field plugin_fields[] = {
    FIELD(struct plugin, command, FIELD_SPAN, "command"),
    FIELD(struct plugin, name, FIELD_SPAN, "name"),
};
static const struct schema plugin_schema = SCHEMA(struct plugin, "plugin", plugin_fields);

static const struct field user_fields[] = {
    FIELD(struct user, cert, FIELD_SPAN, "client-certificate"),
    FIELD(struct user, cert_data, FIELD_SPAN, "client-certificate-data"),
    FIELD(struct user, key, FIELD_SPAN, "client-key"),
    FIELD(struct user, key_data, FIELD_SPAN, "client-key-data"),
    FIELD(struct user, token, FIELD_SPAN, "token"),
    FIELD(struct user, token_file, FIELD_SPAN, "tokenFile"),
    FIELD(struct user, username, FIELD_SPAN, "username"),
    FIELD(struct user, as, FIELD_SPAN, "as"),
    FIELD(struct user, exec, FIELD_POINTER, "exec", .schema = &plugin_schema),
    FIELD(struct user, auth_provider, FIELD_POINTER, "auth-provider", .schema = &plugin_schema),
};
static const struct schema user_schema = SCHEMA(struct user, "user", user_fields);

static const struct field named_user_fields[] = {
    FIELD(struct named_user, name, FIELD_SPAN, "name"),
    FIELD(struct named_user, user, FIELD_OBJECT, "user", .schema = &user_schema),
};
static const struct schema named_user_schema = SCHEMA(struct named_user, "user", named_user_fields);

static const struct field context_fields[] = {
    FIELD(struct context, cluster, FIELD_SPAN, "cluster"),
    FIELD(struct context, user, FIELD_SPAN, "user"),
    FIELD(struct context, ns, FIELD_SPAN, "namespace"),
};
static const struct schema context_schema = SCHEMA(struct context, "context", context_fields);

static const struct field named_context_fields[] = {
    FIELD(struct named_context, name, FIELD_SPAN, "name"),
    FIELD(struct named_context, context, FIELD_OBJECT, "context", .schema = &context_schema),
};
static const struct schema named_context_schema =
    SCHEMA(struct named_context, "context", named_context_fields);

static const struct field kubeconfig_fields[] = {
    FIELD(struct kubeconfig, current, FIELD_SPAN, "current-context"),
    FIELD(struct kubeconfig, clusters, FIELD_LIST, "clusters", .schema = &named_cluster_schema),
    FIELD(struct kubeconfig, users, FIELD_LIST, "users", .schema = &named_user_schema),
    FIELD(struct kubeconfig, contexts, FIELD_LIST, "contexts", .schema = &named_context_schema),
};
static const struct schema kubeconfig_schema =
    SCHEMA(struct kubeconfig, "kubeconfig", kubeconfig_fields);

/* What was found under a name, and in which file: paths are relative to that one. */
struct found {
    const void *item;
    const struct kubeconfig_file *file;
};

struct files {
    const struct kubeconfig_file *files;
    struct kubeconfig *decoded;
    size_t count;
};

static struct span folder_of(struct span path)
{
    while (path.len != 0 && path.ptr[path.len - 1] != '/')
        path.len--;
    return path;
}

static struct span relative_to(struct arena *a, const struct kubeconfig_file *file,
                               struct span path)
{
    if (path.len == 0)
        return (struct span){0};
    if (path.ptr[0] == '/')
        return arena_dup(a, path);
    return arena_printf(a, "%.*s%.*s", SPAN_ARG(folder_of(file->path)), SPAN_ARG(path));
}

static bool read_file(struct arena *a, struct doc_parser *p, const struct kubeconfig_file *file,
                      struct kubeconfig *out, struct err *err)
{
    const struct doc *doc;
    size_t at = 0;
    err->kind = ERR_NONE;
    if (!doc_parse_yaml(p, file->text, &at, &doc, err)) {
        if (err->kind == ERR_NONE) /* an empty file has nothing to say, as with kubectl */
            return true;
        return err_wrap(err, "kubeconfig %.*s", SPAN_ARG(file->path));
    }
    if (!decode_one(a, NULL, doc_root(doc), &kubeconfig_schema, out, err))
        return err_wrap(err, "kubeconfig %.*s", SPAN_ARG(file->path));
    return true;
}

static struct span current_context(const struct files *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->decoded[i].current.len != 0)
            return f->decoded[i].current;
    return (struct span){0};
}

static struct found find_context(const struct files *f, struct span name)
{
    for (size_t i = 0; i < f->count; i++)
        for (uint32_t j = 0; j < f->decoded[i].contexts.count; j++)
            if (span_eq(f->decoded[i].contexts.items[j].name, name))
                return (struct found){&f->decoded[i].contexts.items[j].context, &f->files[i]};
    return (struct found){0};
}

static struct found find_cluster(const struct files *f, struct span name)
{
    for (size_t i = 0; i < f->count; i++)
        for (uint32_t j = 0; j < f->decoded[i].clusters.count; j++)
            if (span_eq(f->decoded[i].clusters.items[j].name, name))
                return (struct found){&f->decoded[i].clusters.items[j].cluster, &f->files[i]};
    return (struct found){0};
}

static struct found find_user(const struct files *f, struct span name)
{
    for (size_t i = 0; i < f->count; i++)
        for (uint32_t j = 0; j < f->decoded[i].users.count; j++)
            if (span_eq(f->decoded[i].users.items[j].name, name))
                return (struct found){&f->decoded[i].users.items[j].user, &f->files[i]};
    return (struct found){0};
}

static bool set_pem(struct arena *a, const struct kubeconfig_file *file, const char *field,
                    struct span path, struct span data, struct pem_source *out, struct err *err)
{
    *out = (struct pem_source){0};
    if (data.len == 0) {
        out->file = relative_to(a, file, path);
        return true;
    }
    if (!base64_decode(a, data, &out->data))
        return err_set(err, ERR_INVALID, "%s-data is not base64", field);
    return true;
}

/* A host, and what follows only a path: no credentials or query hide in it. */
static bool check_server(struct span server, struct err *err)
{
    if (server.len == 0)
        return err_set(err, ERR_INVALID, "server is missing");
    if (!span_has_prefix(server, SPAN("https://")) && !span_has_prefix(server, SPAN("http://")))
        return err_set(err, ERR_INVALID, "server \"%.*s\" has to begin with https:// (or http://)",
                       SPAN_ARG(server));
    size_t host = span_has_prefix(server, SPAN("https://")) ? 8 : 7;
    bool plain = server.len > host && server.ptr[host] != '/';
    for (size_t i = 0; i < server.len && plain; i++)
        plain = (unsigned char)server.ptr[i] > ' ' && strchr("?#@", server.ptr[i]) == NULL;
    if (!plain)
        return err_set(err, ERR_INVALID, "server \"%.*s\" is not a plain URL", SPAN_ARG(server));
    return true;
}

static bool set_cluster(struct arena *a, struct found found, struct client_config *out,
                        struct err *err)
{
    const struct cluster *c = found.item;
    if (!check_server(c->server, err))
        return false;
    out->server = arena_dup(a, c->server);
    while (out->server.ptr[out->server.len - 1] == '/')
        out->server.len--;
    out->tls_server_name = arena_dup(a, c->tls_server_name);
    out->proxy_url = arena_dup(a, c->proxy_url);
    out->skip_verify = c->skip_verify;
    out->no_compression = c->no_compression;
    return set_pem(a, found.file, "certificate-authority", c->ca, c->ca_data, &out->ca, err);
}

static bool refuse_plugins(const struct user *u, struct err *err)
{
    static const char fix[] = "give it a client certificate, a token or a tokenFile";
    if (u->exec != NULL)
        return err_set(err, ERR_INVALID,
                       "exec plugins are not supported (it runs \"%.*s\"): %s; inside the cluster "
                       "leave the kubeconfig out",
                       SPAN_ARG(u->exec->command), fix);
    if (u->auth_provider != NULL)
        return err_set(err, ERR_INVALID, "auth-provider \"%.*s\" is not supported: %s",
                       SPAN_ARG(u->auth_provider->name), fix);
    if (u->username.len != 0)
        return err_set(err, ERR_INVALID, "username and password are not supported: %s", fix);
    if (u->as.len != 0)
        return err_set(err, ERR_INVALID,
                       "impersonation (as: %.*s) is not supported: %s of that user",
                       SPAN_ARG(u->as), fix);
    return true;
}

static bool set_user(struct arena *a, struct found found, struct client_config *out,
                     struct err *err)
{
    const struct user *u = found.item;
    if (!refuse_plugins(u, err))
        return false;
    if (!set_pem(a, found.file, "client-certificate", u->cert, u->cert_data, &out->cert, err) ||
        !set_pem(a, found.file, "client-key", u->key, u->key_data, &out->key, err))
        return false;
    bool has_cert = out->cert.file.len + out->cert.data.len != 0;
    bool has_key = out->key.file.len + out->key.data.len != 0;
    if (has_cert != has_key)
        return err_set(err, ERR_INVALID,
                       "client-certificate and client-key come together, %s is missing",
                       has_cert ? "client-key" : "client-certificate");
    out->token = arena_dup(a, u->token);
    out->token_file = relative_to(a, found.file, u->token_file);
    return true;
}

static bool resolve(struct arena *a, const struct files *f, struct span name,
                    struct client_config *out, struct err *err)
{
    struct span first = f->files[0].path;
    if (name.len == 0)
        return err_set(err, ERR_INVALID, "kubeconfig %.*s: current-context is not set",
                       SPAN_ARG(first));
    struct found at = find_context(f, name);
    if (at.item == NULL)
        return err_set(err, ERR_INVALID, "kubeconfig %.*s: there is no context \"%.*s\"",
                       SPAN_ARG(first), SPAN_ARG(name));
    const struct context *c = at.item;
    struct found cluster = find_cluster(f, c->cluster), user = find_user(f, c->user);
    if (cluster.item == NULL)
        return err_set(err, ERR_INVALID,
                       "kubeconfig %.*s: context \"%.*s\": there is no cluster \"%.*s\"",
                       SPAN_ARG(at.file->path), SPAN_ARG(name), SPAN_ARG(c->cluster));
    if (user.item == NULL && c->user.len != 0)
        return err_set(err, ERR_INVALID,
                       "kubeconfig %.*s: context \"%.*s\": there is no user \"%.*s\"",
                       SPAN_ARG(at.file->path), SPAN_ARG(name), SPAN_ARG(c->user));
    if (!set_cluster(a, cluster, out, err))
        return err_wrap(err, "kubeconfig %.*s: cluster \"%.*s\"", SPAN_ARG(cluster.file->path),
                        SPAN_ARG(c->cluster));
    if (user.item != NULL && !set_user(a, user, out, err))
        return err_wrap(err, "kubeconfig %.*s: user \"%.*s\"", SPAN_ARG(user.file->path),
                        SPAN_ARG(c->user));
    out->ns = c->ns.len != 0 ? arena_dup(a, c->ns) : SPAN("default");
    out->source = arena_printf(a, "context %.*s of %.*s", SPAN_ARG(name), SPAN_ARG(at.file->path));
    return true;
}

bool kubeconfig_decode(struct arena *a, const struct kubeconfig_file *files, size_t count,
                       struct span context, struct client_config *out, struct err *err)
{
    if (count == 0)
        return err_set(err, ERR_INVALID, "there is no kubeconfig");
    struct files f = {files, ARENA_ARRAY(a, struct kubeconfig, count), count};
    struct doc_parser *p = doc_parser_new();
    bool read = true;
    for (size_t i = 0; i < count && read; i++)
        read = read_file(a, p, &files[i], &f.decoded[i], err);
    doc_parser_free(p);
    struct client_config config = {0};
    if (!read || !resolve(a, &f, context.len != 0 ? context : current_context(&f), &config, err))
        return false;
    *out = config;
    return true;
}

bool kubeconfig_in_cluster(struct arena *a, struct span host, struct span port, struct span folder,
                           struct span ns, struct client_config *out, struct err *err)
{
    if (host.len == 0 || port.len == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "not in a cluster: KUBERNETES_SERVICE_HOST or _PORT is not set");
    bool ipv6 = memchr(host.ptr, ':', host.len) != NULL;
    while (ns.len != 0 && (unsigned char)ns.ptr[ns.len - 1] <= ' ')
        ns.len--;
    struct client_config config = {
        .server = arena_printf(a, "https://%s%.*s%s:%.*s", ipv6 ? "[" : "", SPAN_ARG(host),
                               ipv6 ? "]" : "", SPAN_ARG(port)),
        .ca.file = arena_printf(a, "%.*s/ca.crt", SPAN_ARG(folder)),
        .token_file = arena_printf(a, "%.*s/token", SPAN_ARG(folder)),
        .ns = ns.len != 0 ? arena_dup(a, ns) : SPAN("default"),
        .source = SPAN("the service account of this pod"),
    };
    if (!check_server(config.server, err))
        return false;
    *out = config;
    return true;
}
