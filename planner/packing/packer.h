/* packer: a plan by buying machines one at a time, each time the one whose filling wastes least.
 *
 * It runs again and again on fresh trials and learns from one run to the next: what ended up on
 * machines that hold little value for their price is hard to place, and is worth more the next time.
 * Everything is asked of the trial, so no rule is broken whatever the values are.
 *
 * A pool of a higher weight is asked before others whatever it costs: that is what weights are for. */
#ifndef PLANNER_PACKING_PACKER_H
#define PLANNER_PACKING_PACKER_H

#include "planner/packing/fill.h"
#include "planner/trial/options.h"

struct shop { /* options of one weight */
    struct stock stock;
    struct fill fill;
    double *promise; /* by product: value for its price, when last looked at; below 0: not to be had */
    double *first;   /* by product: its promise when it was first looked at */
    uint32_t *tree;  /* see set_promise */
    uint32_t leaves;
    bool *fresh;     /* by product: looked at since the last purchase */
    uint32_t planned; /* product that `fill` was filled for last, with care; or none */
    struct bought *bought;
    uint32_t bought_count, bought_capacity;
    struct fill_step *loaded; /* on the machine being bought */
    uint32_t loaded_count, loaded_capacity;
    bool narrow; /* it keeps to its product's niche */
};

struct packer {
    const struct plan_options *options;
    const uint32_t *queue; /* in greedy's order */
    uint32_t count;
    const struct trial *greedy; /* who stands on a node there is put there first */
    struct deal *deal;          /* pods that spread are dealt out first by it; NULL: none are */
    struct shop *shops;    /* the highest weight first */
    uint32_t shop_count;
    uint32_t run;          /* so many were made */
    struct trial *t;       /* of this run */
    uint8_t *outcome;
    uint64_t limit;        /* of the trial's steps in this run */
    uint64_t looks;        /* of all fills, that the trials have counted */
    double crowd;          /* see crowded */
    amount *most;          /* scratch, see trim */
};

/* The struct's first five members are set. `t` is a trial before its first pod of the queue but those
 * whose `outcome` says that they are placed; it is used up. False when cut short, as packer_run has it. */
bool packer_init(struct packer *k, struct arena *a, struct trial *t, uint64_t limit, const uint8_t *outcome);
/* One run, on a trial before its first pod; whom it places gets OUTCOME_PLACED in outcome_out. Returns
 * false when it was cut short by the limit or stopped. */
bool packer_run(struct packer *k, struct trial *t, uint64_t limit, uint8_t *outcome_out);
#endif
