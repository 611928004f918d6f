/* options: every flag of the program in one table: its name, environment names, type, default and
 * one line of help. A flag wins over its STOWAGE_ environment variable, that over Karpenter's name,
 * that over the default. A value that does not parse is fatal wherever it comes from, also where another
 * wins: exit 2. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/units.h"

enum option_type {
    OPTION_BOOL,     /* "true", "false"; a bare flag is true */
    OPTION_INT,      /* int64_t within min and max */
    OPTION_NUMBER,   /* double, not negative */
    OPTION_TEXT,     /* const char * */
    OPTION_TEXTS,    /* struct texts: may be given again */
    OPTION_DURATION, /* span_ms, Go syntax */
    OPTION_CHOICE,   /* int: index into `choices`, words separated by "|" */
    OPTION_GATES,    /* struct gates: A=true,B=false; those not named have their defaults */
    OPTION_NAMES,    /* struct texts: a,b; may be given again */
    OPTION_COUNTS,   /* struct counts: a=1,b=2; may be given again, the last of one name counts */
};

struct texts {
    const char **items;
    uint32_t count;
};

struct counts {
    struct named_count {
        const char *name;
        int64_t count; /* not negative */
    } *items;
    uint32_t count;
};

struct gates { /* Karpenter's, in the order of its help */
    bool node_repair, reserved_capacity, spot_to_spot, node_overlay, static_capacity,
        capacity_buffer, terminate_first_drift, terminate_first_repair, pod_deletion_cost;
};

enum option_group { /* which commands take it */
    OPTION_SERVE = 1,
    OPTION_PLAN = 2,
    OPTION_EXPLAIN = 4, /* beside all that `plan` takes */
    OPTION_CHECK = 8,
    OPTION_SIMULATE = 16,
    OPTION_VERSION = 32,
    OPTION_TOP = 64,
    OPTION_CATALOGUE = 128, /* of its checks */
    OPTION_AWS = 256,       /* of catalogues made from EC2's lists */
    OPTION_LOOP = OPTION_SERVE | OPTION_SIMULATE,
    OPTION_ALL = OPTION_LOOP | OPTION_PLAN,
    OPTION_READ = OPTION_PLAN | OPTION_TOP, /* a cluster or files, once */
    OPTION_CLUSTER = OPTION_SERVE | OPTION_CHECK,
    OPTION_ASK = OPTION_EXPLAIN | OPTION_CHECK | OPTION_TOP,
};

struct option {
    const char *name;     /* without dashes */
    char letter;          /* 'f' for -f; 0: none */
    const char *alias;    /* another name; NULL: none */
    const char *env;      /* Karpenter's environment variable; NULL: none. STOWAGE_<NAME> always works */
    enum option_type type;
    const char *fallback; /* text of the default, parsed like a value; NULL: zero */
    size_t offset;        /* into struct options */
    enum option_group group;
    int64_t min, max;     /* OPTION_INT */
    const char *choices;
    bool is_file;         /* the value names a file or a directory */
    bool may_be_empty;    /* an empty value is the default */
    const char *help;
    bool without_meaning; /* accepted for Karpenter's sake, named in one log line when set */
};

enum { PREFERENCE_RESPECT, PREFERENCE_IGNORE };
enum { MIN_VALUES_STRICT, MIN_VALUES_BEST_EFFORT };
enum { RESERVED_OFFERING_AUTO, RESERVED_OFFERING_STRICT, RESERVED_OFFERING_FALLBACK };
enum { REMOVE_FOR_CONSOLIDATION, REMOVE_FOR_DRIFT, REMOVE_FOR_REPAIR };
enum { PLACEMENT_EXTENDER, PLACEMENT_NOMINATE };
enum { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_GITHUB /* of check alone */ };
enum { OUTPUT_WIDE = OUTPUT_YAML + 1, OUTPUT_NAME, OUTPUT_HTML }; /* of plan alone */
enum { COMPARE_NONE, COMPARE_KARPENTER };
enum { TLS_VERSION_12, TLS_VERSION_13 };
enum { FORMAT_AUTO, FORMAT_TEXT, FORMAT_JSON };

enum search_choice { SEARCH_IS_CHEAPEST, SEARCH_IS_GREEDY };

struct options {
    /* planner and reconciler */
    int preference_policy, min_values_policy;
    struct gates gates;
    struct texts unknown_gates; /* names that no gate has */
    const char *instance_types;
    const char *scheduler_config; /* a document itself, no file's name; NULL or empty: none */
    bool ignore_dra_requests, legacy_node_repair;
    /* serve */
    span_ms batch_idle, batch_max;
    span_ms cool_down, empty_return;
    int64_t metrics_port, health_port, metrics_pods_max;
    bool disable_cluster_state_observability;
    double client_qps;
    int64_t client_burst;
    const char *webhook_listen, *extender_listen; /* NULL: the default, which options_listen says */
    const char *page_listen;
    struct texts page_hosts;
    const char *page_token_file; /* of who is asked and who asks; NULL: no token */
    bool page_insecure;
    const char *kubeconfig, *context;
    int placement;
    int64_t nominate_from;
    bool embedded;
    struct texts files;
    const char *lease_name, *lease_namespace;
    span_ms lease_duration, lease_renew, lease_retry;
    bool disable_leader_election, coexist;
    int log_level, log_format;
    span_ms shutdown_delay;
    bool register_webhooks, strict_admission;
    const char *webhook_url; /* base URL that the API server calls instead of the Service */
    const char *tls_cert, *tls_key, *extender_client_ca;
    int tls_min_version; /* TLS_VERSION_… */
    struct texts tls_cipher_suites;
    struct texts extender_client_names;
    const char *scheduler_secret_ns; /* NULL: our own */
    const char *webhook_client_ca;
    struct texts webhook_client_names;
    span_ms leaf_life, ca_life;
    bool extender_insecure;
    int64_t max_nodes_per_minute;
    double max_hourly_price;
    int64_t threads;
    const char *own_namespace, *pod_name;
    bool ca_compat, cluster_api_pools;
    /* plan */
    int output, reserved_offering_mode;
    int search; /* enum search_choice */
    struct counts credit_reservation;
    bool disruption, disruption_all;
    struct texts nominated, buffer_nodes;
    struct counts rebooted, reserved_nodes;
    struct texts remove;
    int remove_for;
    int64_t effort, repeat, max_instance_types;
    span_ms time_budget;
    const char *now;
    const char *node_groups; /* a file's name */
    bool all_unbound, verbose;
    bool no_expand, include_cron_jobs;
    bool with_cluster;
    struct counts replicas;
    const char *pod_namespace; /* explain; NULL: default */
    const char *at;            /* explain nodepool; NULL: now */
    const char *server; /* explain, check: base URL of the page's listener */
    /* simulate */
    int compare;
    const char *report;
    bool show_log;
    /* check: a file's name, NAMESPACE/NAME of a service account */
    bool warnings_as_errors;
    const char *scheduler_file, *account;
    bool installation; /* check --cluster */
    const char *ca_flags; /* Cluster Autoscaler's command line; NULL: none */
    /* catalogue from-aws: files' names, zones */
    struct texts prices, spot, type_offerings, zones;
    const char *region;
    double vm_memory_overhead;
    int64_t reserved_enis;
    /* where options of Karpenter that mean nothing here go */
    const char *unused_text;
    int64_t unused_int;
    bool unused_bool;
};

/* Reads argv (command word already taken off) and the environment into *out, everything in `a`.
 * `getenv_fn` stands in for getenv in tests. On false err holds the one line to print after
 * "stowage COMMAND: ". *help_out is set when -h or --help was given. */
bool options_read(struct arena *a, enum option_group group, int argc, char *const *argv,
                  const char *(*getenv_fn)(const char *), struct options *out, bool *help_out,
                  struct err *err);

bool options_has(enum option_group group, struct span name); /* there is such a flag */

/* Names of options that were given and mean nothing here, joined by ", "; absent when there is none. */
struct span options_without_meaning(struct arena *a, enum option_group group, int argc,
                                    char *const *argv, const char *(*getenv_fn)(const char *));

/* Where to listen unless a flag says it: ":8443"; a cluster in memory is of no use to other machines:
 * "127.0.0.1:8443". */
const char *options_listen(struct arena *a, const struct options *o, int64_t port);

/* Whom the extender lets in: those who were named; else `own`, the subject of the certificate that our own CA signs for
 * the scheduler. Another CA signs for whoever it likes: with that somebody has to be named. */
bool options_name_clients(struct arena *a, struct options *o, const char *own, struct err *err);

/* The warning about a name that no gate has; Karpenter passes it over, and so do we. */
const char *option_unknown_gate(struct arena *a, const char *name);

/* All rows of the table, in its order; NULL after the last. */
const struct option *option_row(size_t i);

/* The flags of the group, under headings; 80 columns. */
void options_help(struct buf *out, enum option_group group);
/* The heading of a flag; NULL: nobody has given it one. */
const char *option_topic(const char *name);
/* What is told of one flag, with its choices and default. */
void option_told(struct buf *out, const struct option *o);

#endif
