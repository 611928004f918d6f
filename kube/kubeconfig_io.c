#include "kube/kubeconfig_io.h"

#include <stdlib.h>

#include "kube/client_limits.h"
#include "kube/file_io.h"

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

enum { FILES_MAX = 32 };

static struct span env(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? span_of(value) : (struct span){0};
}

/* Of a list, as kubectl: files that are not there are passed over, unless none is. */
static bool load_list(struct arena *a, struct span list, struct span context,
                      struct client_config *out, struct err *err)
{
    struct kubeconfig_file files[FILES_MAX];
    size_t count = 0;
    for (struct span rest = list, path; rest.len != 0 && count < FILES_MAX;) {
        path = span_cut(rest, ':', &rest);
        if (path.len == 0)
            continue;
        files[count].path = path;
        if (file_load(a, arena_cstr(a, path), CLIENT_FILE_MAX, &files[count].text, err))
            count++;
        else if (err->kind != ERR_NOT_FOUND)
            return err_wrap(err, "kubeconfig");
    }
    if (count == 0)
        return err_set(err, ERR_NOT_FOUND, "kubeconfig %.*s: no such file", SPAN_ARG(list));
    return kubeconfig_decode(a, files, count, context, out, err);
}

static bool load_in_cluster(struct arena *a, struct client_config *out, struct err *err)
{
    struct span ns = {0};
    struct err ignored; /* the namespace has a default; token and CA are read by the client */
    file_load(a, SERVICE_ACCOUNT "/namespace", CLIENT_FILE_MAX, &ns, &ignored);
    return kubeconfig_in_cluster(a, env("KUBERNETES_SERVICE_HOST"), env("KUBERNETES_SERVICE_PORT"),
                                 SPAN(SERVICE_ACCOUNT), ns, out, err);
}

bool kubeconfig_load(struct arena *a, struct span file, struct span context,
                     struct client_config *out, struct err *err)
{
    if (file.len != 0) {
        struct kubeconfig_file one = {.path = file};
        if (!file_load(a, arena_cstr(a, file), CLIENT_FILE_MAX, &one.text, err))
            return err_wrap(err, "kubeconfig");
        return kubeconfig_decode(a, &one, 1, context, out, err);
    }
    if (env("KUBECONFIG").len != 0)
        return load_list(a, env("KUBECONFIG"), context, out, err);
    if (env("KUBERNETES_SERVICE_HOST").len != 0 && context.len == 0)
        return load_in_cluster(a, out, err);
    struct span home = env("HOME");
    struct span path = arena_printf(a, "%.*s/.kube/config", SPAN_ARG(home));
    if (load_list(a, path, context, out, err))
        return true;
    if (err->kind != ERR_NOT_FOUND)
        return false;
    return err_set(err, ERR_NOT_FOUND,
                   "no cluster to talk to: name a file with --kubeconfig or $KUBECONFIG, or run "
                   "inside a cluster (there is no %.*s)",
                   SPAN_ARG(path));
}
