/* input: reads files of Kubernetes objects, as kubectl prints them, for planning offline.
 *
 * What cannot be read or has a wrong type is a mistake: one line each, and nothing is planned. What
 * reads but is invalid is set aside with a warning, and the rest is used. Kinds that mean nothing to
 * a plan are passed over and counted. */
#ifndef SERVER_INPUT_H
#define SERVER_INPUT_H

#include "base/buf.h"
#include "kube/requirement.h"
#include "kube/instance_type.h"
#include "kube/kind.h"
#include "kube/node.h"
#include "server/options.h"

enum { INPUT_FILE_MAX = 512 * 1024 * 1024 }; /* one file; a cluster's dump has tens of megabytes */

struct input_list {
    const void **items;
    size_t count, capacity;
};

/* A kind that is none of a cluster's and is read all the same, for who asks. */
struct input_own {
    const char *api_version, *kind;
    const struct schema *schema; /* the struct begins with a struct meta; what its checks find is a mistake */
    bool nameless; /* needs no metadata */
    struct input_list found;
};

struct input_origin { /* stands before each object */
    const char *file;     /* INPUT_CLUSTER: of a cluster's */
    uint32_t line, order; /* line of the object, 0: none; how many were read before */
};

enum input_level {
    INPUT_WARNS,
    INPUT_REFUSES, /* no API server takes the object, or no controller uses it: it is set aside */
    INPUT_MISTAKE, /* nothing is done */
};
struct input_note {
    enum input_level level;
    const char *file; /* NULL: of no one file */
    uint32_t line;    /* 0: of the file as a whole */
    struct span text; /* "NodePool x: field: what; fix" */
};

struct input {
    struct arena arena;
    struct symtab *syms;
    struct input_list kinds[KIND_COUNT];
    bool grouped; /* the ConfigMap of node groups' priorities is read, and Jobs */
    bool machines; /* MachineDeployments are read, and node classes of pools on Cluster API */
    bool expands; /* Jobs and CronJobs are read too, for expand.h */
    const char *on_top; /* a file: what it has replaces others' without a word; NULL: none */
    bool of_cluster; /* while a cluster is read (input_cluster.h): objects have no lines, and a bad one is set aside */
    struct input_list closed_pools; /* NodePools set aside, or of a version that is not read: Ready is False */
    const struct label_rules *rules; /* that NodePools are to keep, while they are read; NULL: not looked at */
    uint32_t set_aside[KIND_COUNT]; /* how many objects read, and no API server would admit them */
    struct input_refused { /* each of them */
        enum kind kind;
        struct span ns, name, why; /* "file:12: spec.weight: must be at least 1" */
    } *refused;
    size_t refused_count, refused_capacity;
    struct input_unknown { /* a field that no schema knows, where it was first */
        const struct kind_info *kind;
        const char *file;
        uint32_t line;
        struct span field, told;
        uint32_t more; /* how often it came again */
    } *unknown;
    size_t unknown_count, unknown_capacity;
    uint32_t objects;            /* read so far */
    bool some;                   /* some document was a Kubernetes object, or a List of none */
    struct span *warnings; /* "file:line: NodePool x: field: what; fix" */
    size_t warning_count, warning_capacity;
    struct input_note *notes; /* all of it: warnings and mistakes, with their places */
    size_t note_count, note_capacity;
    uint32_t passed_over;  /* objects of kinds that a plan does not read */
    struct span passed_over_kinds; /* "ConfigMap, Role", at most a handful */
    uint32_t files, bad_files, mistakes;
    struct buf mistake_lines; /* one a line */
    struct input_own *own; /* NULL: none */
    const char *undone;       /* what is not done after a mistake: "planned" */
    /* Hears of every object that is used, as long as there is no mistake, with its text; NULL: nobody.
     * False, with err set, is a mistake. */
    bool (*taken)(void *user, enum kind kind, struct doc_value object, struct err *err);
    void *user;
};

void input_init(struct input *o);
void input_release(struct input *o);

/* Reads every file and directory; `skip` (may be NULL) is a file passed over in directories. False
 * when nothing may be planned, or nothing in them is an object: mistake_lines say why, and *err has the closing line. */
bool input_read(struct input *o, const struct texts *paths, const char *skip, struct err *err);

/* Sets aside what a gate that is off leaves without effect, with a warning for each kind. */
void input_gates(struct input *o, const struct gates *gates);
/* Sets aside objects that are there twice, and warns of kinds that were passed over. Afterwards each kind's
 * objects are in the order of namespace and name. */
void input_check(struct input *o);
/* Warns of NodePools that were written for another catalogue (cloud/pool_match.h), or ask what nothing in it has
 * (planner/supply/supply_warnings.h), or of which others that were read make something (server/pool_findings.h). */
void input_check_pools(struct input *o, const struct catalogue *catalogue);
/* Warns of NodeClaims that are not launched and KWOKNodeClasses, as admission does (kube/claim_warnings.h, class_warnings.h). */
void input_check_claims(struct input *o, const struct catalogue *catalogue);
/* Tells of NodeOverlays what admission tells (kube/overlay.h, planner/supply/overlay_rivals.h). */
void input_check_overlays(struct input *o, const struct catalogue *catalogue);
/* Whether anything that asks for room was set aside: no plan is the whole answer then. */
bool input_lacks_askers(const struct input *o);
/* Why an object that is in the files is set aside, as above; absent: it is not. */
struct span input_why_refused(const struct input *o, enum kind kind, struct span ns, struct span name);
/* A sentence about pods that wait for a scheduler to look at them first; absent: there are none. */
struct span input_unseen(struct input *o);
/* "file:7: text", as a place in a file is told everywhere; the text alone without a file, no line where that is 0. */
struct span input_placed(struct arena *a, const char *file, uint32_t line, struct span text);
/* Texts and files outlive the input. `file` may be NULL, `line` 0. */
void input_tell(struct input *o, enum input_level level, const char *file, uint32_t line, struct span text);
static inline void input_warn(struct input *o, struct span text)
{
    input_tell(o, INPUT_WARNS, NULL, 0, text);
}

/* Room for an object that comes from there, zeroed. */
void *input_new_object(struct input *o, const struct input_origin *origin, size_t size);
const struct input_origin *input_origin(const void *object);
/* A NodePool that is there, with its nodes, and buys nothing: `why` stands in its conditions. */
const struct node_pool *input_closed_pool(struct input *o, const struct input_origin *origin,
                                          const struct node_pool *pool, struct span why);

/* A file's bytes, or standard input's for "-". */
bool input_text(struct arena *a, const char *path, struct span *out, struct err *err);

#endif
