/* kubeconfig: which API server, and who we are to it (spec contracts 4.13).
 *
 * Pure: decodes texts that somebody else has read. What kubectl would do by running a program
 * (exec, auth-provider) or by other means that we do not have (basic auth, impersonation) is
 * refused with one line that names the user and the fix: ignoring it would act as somebody else. */
#ifndef KUBE_KUBECONFIG_H
#define KUBE_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

struct pem_source {   /* both absent: none */
    struct span file; /* read again whenever it changes */
    struct span data; /* PEM; wins over the file */
};

struct client_config {
    struct span server;          /* "https://10.0.0.1:6443", without a slash at the end */
    struct span tls_server_name; /* absent: the server's host */
    struct span proxy_url;       /* absent: as the environment says */
    bool skip_verify;            /* insecure-skip-tls-verify */
    bool no_compression;         /* disable-compression */
    struct pem_source ca;        /* none: the system's */
    struct pem_source cert, key;
    struct span token;      /* absent: none */
    struct span token_file; /* wins over the token; read again whenever it changes */
    struct span ns;     /* the context's or the service account's; "default" when absent there */
    struct span source; /* for messages: "context prod of /root/.kube/config" */
};

struct kubeconfig_file {
    struct span
        path; /* names the file in messages; relative paths inside are relative to its folder */
    struct span text; /* YAML or JSON */
};

/* Several files are read as kubectl reads $KUBECONFIG: the first that has a name, or a current
 * context, wins. `context` absent: the current one. Everything in *out lives in the arena. */
bool kubeconfig_decode(struct arena *a, const struct kubeconfig_file *files, size_t count,
                       struct span context, struct client_config *out, struct err *err);

/* The configuration of a pod. `host` and `port` are $KUBERNETES_SERVICE_HOST and _PORT, `folder` is
 * where the service account is mounted, `ns` the text of its file `namespace`. */
bool kubeconfig_in_cluster(struct arena *a, struct span host, struct span port, struct span folder,
                           struct span ns, struct client_config *out, struct err *err);

#endif
