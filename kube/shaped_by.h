/* shaped_by: the annotation stowage.dev/shaped-by, what was done to a Pod while it was created:
 * "nodepool=batch, split=spot, review=705ab4f5-6393-11e8-b7cc-42010a800002". The review is the one that decided about the
 * split: by it the Pod is known again, which had neither name nor uid then. */
#ifndef KUBE_SHAPED_BY_H
#define KUBE_SHAPED_BY_H

#include "base/span.h"

struct span shaped_by_get(struct span text, struct span key); /* absent: it is not there */

#endif
