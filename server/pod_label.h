/* pod_label: the label stowage.dev/leader on our own Pod, by which the extender's Service finds the
 * replica that leads.
 *
 * One request at a time, so that what was wanted last is what stands in the end, and again until the
 * API server has it: a leader without its label is never asked by the scheduler, and nobody would
 * notice. API thread. */
#ifndef SERVER_POD_LABEL_H
#define SERVER_POD_LABEL_H

#include "base/log.h"
#include "base/units.h"
#include "kube/api.h"

struct pod_label;
/* `pod` empty: we do not know our Pod (run by hand), and nothing is ever sent. Texts are copied. */
struct pod_label *pod_label_new(struct api *api, struct span ns, struct span pod,
                                const struct log *log);
void pod_label_free(struct pod_label *l); /* NULL is fine; no request may be under way */

void pod_label_want(struct pod_label *l, bool leading); /* sent by the next step */
mono_ms pod_label_step(struct pod_label *l, mono_ms now); /* when to call again at the latest */

#endif
