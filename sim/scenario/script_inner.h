/* What script.c, which knows when, and script_acts.c, which knows how, share. */
#ifndef SIM_SCRIPT_INNER_H
#define SIM_SCRIPT_INNER_H

#include "sim/cluster_state.h"
#include "sim/scenario/script.h"

struct script_event {
    const struct scenario_event *event;
    struct chance chance;
    double exact; /* its next time, which is rounded to whole milliseconds */
    wall_ms next; /* INT64_MAX: never again */
};

struct script_later { /* what an event leaves to be done */
    wall_ms when;
    const struct scenario_scale *scale; /* taken back: */
    int64_t by;
    char node[254], uid[64]; /* or a machine that is taken away */
};

struct script {
    struct sim *sim;
    struct sim_cluster *cluster;
    struct market *market;
    struct script_listener listener;
    struct script_event *events;
    uint32_t event_count;
    wall_ms start;
    struct script_later *later; /* in no order */
    uint32_t later_count, later_capacity;
    wall_ms fails_until, lost_until;
};

void script_act(struct script *s, struct script_event *e);
void script_act_later(struct script *s, const struct script_later *l);
void script_put_off(struct script *s, const struct script_later *l);

/* NULL: it is not there. */
const json_t *script_workload(const struct sim_cluster *c, const struct scenario_workload *w);

#endif
