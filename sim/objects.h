/* objects: what the in-memory cluster holds, by kind and name, and the log of its changes.
 *
 * This is etcd, not the API server: it gives versions and uids and remembers, it checks nothing. An
 * object once put is never changed; a newer one takes its place, so that the log can go on holding
 * the older. */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "kube/api.h"
#include "sim/tree.h"

struct change {
    uint64_t version;
    wall_ms at;
    enum watch_event event;
    json_t *object; /* as it was then; of a deletion: the last state, with the deletion's version */
    char *text;     /* made when first asked for */
    size_t text_len;
};

struct change_log {
    struct change *items; /* by version */
    uint32_t count, capacity;
    uint64_t trimmed; /* changes up to this version are forgotten */
};

/* Hears of each change when it is made: of what was there (NULL: nothing) and what is there now (NULL: nothing). */
typedef void objects_heard(void *user, enum kind k, const json_t *old, const json_t *fresh);

enum { OBJECTS_LISTENERS_MAX = 10 }; /* the stand-ins and a tally */

struct objects {
    wall_ms now;
    uint64_t version;  /* the newest given */
    uint64_t uids, names; /* counters behind uid and generateName */
    uint64_t removals; /* objects removed so far */
    uint64_t kind_versions[KIND_COUNT]; /* of the last change in each kind */
    json_t *kinds[KIND_COUNT]; /* key → object, oldest first */
    json_t *births[KIND_COUNT]; /* key → the how manieth object it was to be made */
    uint64_t births_given;
    json_t *alive;     /* uid → true */
    struct {
        objects_heard *heard;
        void *user;
    } listeners[OBJECTS_LISTENERS_MAX];
    uint32_t listener_count;
    const char *writer; /* field manager of the request under way; NULL: somebody else's than our clients' */
    json_t *applied;   /* what server-side apply remembers: "kind key" → last intent */
    struct change_log logs[KIND_STORED_COUNT];
};

enum { OBJECTS_KEY_MAX = 512 };

void objects_init(struct objects *o, wall_ms now);
/* It hears of what is there at once, kind by kind, and of all changes until it is taken off. */
void objects_listen(struct objects *o, objects_heard *heard, void *user);
void objects_unlisten(struct objects *o, const void *user);

/* All that `from` has, which goes on having it, into one that has nothing yet. What was created at the time of `from`
 * was created now. */
void objects_adopt(struct objects *o, const struct objects *from);
void objects_release(struct objects *o);

/* "namespace/name" or "name"; false when it is longer than names can be. */
bool objects_key(char out[OBJECTS_KEY_MAX], enum kind k, struct span ns, struct span name);
bool objects_key_of(char out[OBJECTS_KEY_MAX], enum kind k, const json_t *object);

json_t *objects_find(const struct objects *o, enum kind k, struct span ns, struct span name);
/* Of those that are there the older ones have the less; 0: it is not there. */
uint64_t objects_birth(const struct objects *o, enum kind k, const char *key);
bool objects_alive(const struct objects *o, struct span uid);

/* Takes the object, gives it the next version, and returns it (borrowed). */
json_t *objects_put(struct objects *o, enum kind k, json_t *object);
void objects_remove(struct objects *o, enum kind k, const json_t *object);

json_t *objects_new_uid(struct objects *o);
/* Five letters and digits, as the API server appends them to generateName. */
void objects_new_suffix(struct objects *o, char out[6]);

/* The first change after `version`, or NULL; then walk on while inside the log. */
struct change *objects_changes_after(struct objects *o, enum kind k, uint64_t version,
                                     uint32_t *count_out);
struct span change_text(struct change *c);
/* The object's JSON: that of its change when it was put lately, else made in the arena. */
struct span objects_text(struct objects *o, struct arena *a, enum kind k, const json_t *object);
void objects_trim(struct objects *o, enum kind k, uint64_t upto);

#endif
