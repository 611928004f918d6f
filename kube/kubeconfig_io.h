/* kubeconfig_io: finds and reads the configuration, in the order of other controllers: the file
 * that was named, $KUBECONFIG (a list), the service account of a pod, ~/.kube/config. */
#ifndef KUBE_KUBECONFIG_IO_H
#define KUBE_KUBECONFIG_IO_H

#include "kube/kubeconfig.h"

/* `file` and `context` may be absent. Errors name the file, or say where was looked. */
bool kubeconfig_load(struct arena *a, struct span file, struct span context,
                     struct client_config *out, struct err *err);

#endif
