/* tree: JSON documents that can be changed, and the few rules of Kubernetes that work on any object.
 *
 * The in-memory cluster keeps whole objects, fields it has never heard of included; typed structs
 * (kube/) would lose them. A path names members from the root, separated by dots
 * ("spec.template.metadata"); keys that contain dots are reached with json_object_get. An object
 * that was put into the cluster is never changed again: copy, change, put. */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/units.h"

json_t *tree_parse(struct span text);       /* a new value, or NULL when the text is not JSON */
json_t *tree_of_doc(struct doc_value v);    /* a new value */
void tree_put(struct buf *out, const json_t *v); /* compact JSON; members keep their order */
struct span tree_text(struct arena *a, const json_t *v);

json_t *tree_get(const json_t *root, const char *path); /* borrowed, NULL when absent or null */
struct span tree_string(const json_t *root, const char *path); /* absent span unless a string */
int64_t tree_int(const json_t *root, const char *path, int64_t otherwise);
bool tree_is(const json_t *root, const char *path, const char *text); /* a string, and equal */
/* Sets a member, making the objects on the way; takes `value`. */
void tree_set(json_t *root, const char *path, json_t *value);
void tree_remove(json_t *root, const char *path);
json_t *tree_of_span(struct span s); /* a new string; bytes that are not UTF-8 become "?" */
json_t *tree_of_time(wall_ms t);     /* RFC 3339 in seconds, as in metadata */

/* RFC 7386, in place. */
void tree_merge(json_t *target, const json_t *patch);

/* status.conditions[type]: NULL when absent. */
json_t *tree_condition(const json_t *object, const char *type);
bool tree_condition_is(const json_t *object, const char *type, const char *status);
/* Sets it; lastTransitionTime moves only with the status. False when nothing changed. */
bool tree_condition_set(json_t *object, const char *type, const char *status, const char *reason,
                        const char *message, wall_ms now);

/* A LabelSelector on labels; an absent selector matches nothing, {} everything. */
bool tree_selects(const json_t *selector, const json_t *labels);

/* The owner with controller: true, or NULL. */
json_t *tree_controller(const json_t *object);
bool tree_owned_by(const json_t *object, struct span uid);

#endif
