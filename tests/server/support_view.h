/* A cluster out of YAML as the server's readers see it: published snapshot, world and places. */
#ifndef TESTS_SERVER_SUPPORT_VIEW_H
#define TESTS_SERVER_SUPPORT_VIEW_H

#include "kube/store.h"
#include "planner/places.h"

struct view {
    struct store *store;
    struct share places;
    const struct snapshot *snapshot;
    const struct world *world;
};

/* `places`: "pod target" a line, pods of any namespace; a target that begins with "claim/" names a
 * NodeClaim. UIDs are "uid-<pod>". */
void view_open(struct view *v, const char *yaml, const char *places);
/* Publishes a snapshot with these objects too; `snapshot` and `world` stay the first. */
void view_put(struct view *v, const char *yaml);
struct places *view_read_places(const char *text); /* to be published */
const struct places *view_places(struct view *v);
void view_close(struct view *v);

#endif
