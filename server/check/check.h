/* check: looks over a cluster before or while Stowage runs in it, and says what stands in its way.
 *
 * Asks the API server as whoever runs it, in the way that Stowage itself would; a kind that it may not
 * read is not tried, but told. Says "unknown" where nothing at hand can tell. */
#ifndef SERVER_CHECK_CHECK_H
#define SERVER_CHECK_CHECK_H

#include "cloud/catalogue.h"
#include "server/check/ask.h"
#include "server/check/permissions.h"
#include "server/check/report.h"
#include "server/check/scheduler_file.h"
#include "server/group_options.h"
#include "server/options.h"

struct check {
    struct check_report *report; /* its arena outlives the cluster's api */
    const struct asked_cluster *cluster;
    const struct options *options;
    struct span ns;      /* of Stowage */
    struct span account; /* NAMESPACE/NAME whose permissions are asked; absent: those of who runs this */
    struct span address; /* of the API server, for messages */
    wall_ms now;
    struct span metrics; /* text of a running server's /metrics; absent: none could be asked */
    const struct catalogue_source *types; /* what is bought */
    struct scheduler_file scheduler; /* its configuration */
    /* What Cluster Autoscaler's flags of --ca-compat ask for; NULL: none were given, or they cannot be read */
    struct group_options_given *groups;
    struct span rival; /* name of its Lease, where that is not the usual one */
    /* found on the way */
    bool runs;           /* somebody leads */
    bool nominates, keeps_groups; /* the Deployment has --placement=nominate; --cloud-provider */
    struct permissions permissions;
};

/* All of it; with the option `installation` what of one is missing, in the order in which it is made, each with the command
 * that brings it. False: the API server could not be asked; lines may be missing. */
bool check_run(struct check *c, struct err *err);

/* Whether flags of Cluster Autoscaler are given. "true" and "false" are none: `serve` has a switch of that name, and maybe
 * the same environment. */
bool check_moves(const struct options *o);

/* ---- the parts, in their order ---- */

void check_flags(struct check *c); /* of Cluster Autoscaler; opens c->groups, whose provider check_run frees */
bool check_access(struct check *c, struct err *err); /* permissions, and each kind that is read */
bool check_permissions(struct check *c, struct err *err); /* of them those of pools and of what the cluster has of ours */
void check_leader(struct check *c);
void check_certificates(struct check *c);
void check_wiring(struct check *c);
void check_pools(struct check *c);  /* whether they can be served */
void check_groups(struct check *c); /* whether each can be kept, and grow from nothing */
void check_rivals(struct check *c); /* other autoscalers, deschedulers */
bool check_installation(struct check *c, struct err *err); /* these and more, in an installation's order */

/* ---- shared ---- */

struct ask *check_asks(struct check *c, uint32_t count); /* zeroed, in the report's arena */
/* Whether who asks may do it himself; one question. */
bool check_may(struct check *c, const struct permission *p);
/* The sum of a metric's series with this text among their labels; false: there is none. */
bool check_metric(struct span text, const char *name, const char *label, double *sum_out);
/* A Lease's holder and whether it has renewed it as it must, by its own clock; false: nobody holds it.
 * Two durations are waited for, since clocks differ. */
bool check_lease_live(struct doc_value lease, wall_ms now, struct span *holder_out, span_ms *age_out);

#endif
