/* install: what of an installation is missing in a cluster, in the order in which it is made. */
#ifndef SERVER_CHECK_INSTALL_H
#define SERVER_CHECK_INSTALL_H

#include "server/check/check.h"

/* Whether what was asked for by name is there. What is not is told as missing, with the command that brings it; what may
 * not be read, with the role that would allow it. `what`: "Deployment stowage-system/stowage". */
bool install_has(struct check *c, const char *topic, const struct ask *a, struct span what, const char *fix);
/* Asks for one object by name. `read` may be NULL. */
struct ask *install_get(struct check *c, enum kind k, struct span ns, const char *name,
                        void (*read)(void *user, struct doc_value object), void *user);
/* "kubectl -n stowage-system ", and what follows; NUL-terminated. */
__attribute__((format(printf, 2, 3))) const char *install_command(struct check *c, const char *format, ...);
/* A member of a member: of an object's status, say; false: it has none. */
bool install_find(struct doc_value object, const char *outer, const char *inner, struct doc_value *out);

/* ---- the parts, in their order ---- */

bool install_api(struct check *c, struct err *err); /* false: nobody answers */
void install_flags(struct check *c); /* of the Deployment, if there is one: what they make needless is not missing */
void install_definitions(struct check *c);
void install_account(struct check *c);
void install_webhook(struct check *c);
void install_deployment(struct check *c);
void install_network_policy(struct check *c); /* whether it keeps pods out */
void install_scheduler(struct check *c);
void install_pools(struct check *c);

#endif
