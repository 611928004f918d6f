/* support_snapshot: a store whose snapshots carry the world that their objects make, with nothing to buy
 * unless a test says what: for tests and measurements of those who read both. */
#ifndef TESTS_PLANNER_SUPPORT_SNAPSHOT_H
#define TESTS_PLANNER_SUPPORT_SNAPSHOT_H

#include "cloud/catalogue.h"
#include "kube/store.h"
#include "planner/world.h"

struct store *snapshot_store_new(void); /* `derived` of a snapshot is its struct world */
struct snapshot_shop { /* the caller's, for as long as the store and its snapshots live */
    struct catalogue_source *types;
    struct arena arena; /* of catalogues */
};
struct store *snapshot_store_for(struct snapshot_shop *shop);
/* Objects as kubectl prints them, documents of YAML, come or have changed. False: one cannot be read. */
bool snapshot_store_put(struct store *s, const char *yaml, struct err *err);
/* One object, JSON. False: it cannot be read. */
bool snapshot_store_tell(struct store *s, enum watch_event e, struct span json, struct err *err);

#endif
