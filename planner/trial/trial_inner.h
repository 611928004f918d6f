/* trial_inner: what trial.c and trial_claim.c share. */
#ifndef PLANNER_TRIAL_TRIAL_INNER_H
#define PLANNER_TRIAL_TRIAL_INNER_H

#include "planner/trial/trial.h"

uint64_t *trial_new_set(struct trial *t);    /* of types */
amount *trial_new_vector(struct trial *t);
void trial_move_vector(amount *vector, const amount *by, int sign, uint32_t count);
void trial_log(struct trial *t, struct trial_step step);
void trial_add_ports(struct trial *t, struct host_ports *into, uint32_t *capacity,
                     struct host_ports more);
bool trial_ports_clash(struct trial *t, const struct attempt *try, struct host_ports there);
void trial_add_shared(struct trial *t, struct volume_numbers *into, const struct pod_class *k);
/* What a pod of the class asks of a node that has these shared volumes already: each is attached
 * once. Valid until the next call. */
const amount *trial_requests_beside(struct trial *t, uint32_t class_id,
                                    const struct volume_numbers *there);
uint32_t trial_port_count(const struct trial *t, uint32_t class_id);

void trial_undo_on_claim(struct trial *t, const struct trial_step *step);
void trial_undo_opened(struct trial *t, const struct trial_step *step);
void trial_undo_trimmed(struct trial *t, const struct trial_step *step);
void trial_undo_settled(struct trial *t, const struct trial_step *step);

#endif
