/* allow_windows: when nodes of a NodePool may be disrupted at all, by its annotation stowage.dev/allow-windows:
 *
 *     [REASON,...:] SCHEDULE DURATION [ZONE]; ...
 *
 * "0 1 * * mon-fri 4h Europe/Berlin": five fields or a macro (cron.h), a duration, a time zone (zone.h; absent: UTC).
 * A window without reasons is for all. A reason that some window is for is allowed while one of those is open, and
 * a reason that none is for, always. */
#ifndef KUBE_ALLOW_WINDOWS_H
#define KUBE_ALLOW_WINDOWS_H

#include "kube/node.h"
#include "kube/window.h"

struct allow_window {
    struct window window;
    struct span reasons; /* "Drifted,Empty"; absent: all */
};

/* Takes the next off the annotation's text. False with *err set: it cannot be read; without: there is none. */
bool allow_windows_next(struct span *rest, struct allow_window *out, struct err *err);
/* Why it cannot be read. True where there is no annotation. */
bool allow_windows_valid(const struct node_pool *p, struct err *err);
/* True where there is no annotation; false while it cannot be read: it was meant to hold something back. */
bool allow_windows_open(const struct node_pool *p, struct span reason, wall_ms now);

#endif
