/* expect_parts: what the files of expect share. A check adds a line for what does not hold. */
#ifndef TESTS_SCENARIOS_EXPECT_PARTS_H
#define TESTS_SCENARIOS_EXPECT_PARTS_H

#include "expect.h"

struct expectation {
    const struct fleet *f;
    const json_t *plan;
    struct buf *out;
};

void expect_differs(struct expectation *c, const char *what, const char *want, const char *got);
const char *expect_compact(const json_t *v);    /* JSON on one line */
const char *expect_short_name(const char *pod); /* without the namespace default */
bool expect_lists_pod(const json_t *list, const char *pod);
/* The claim of this plan that holds the pod, or NULL. */
const json_t *expect_claim_of(const struct expectation *c, const char *pod);

/* --- expect_where.c --- */
void expect_skew(struct expectation *c, const json_t *want);
void expect_within(struct expectation *c, const json_t *want);
void expect_most(struct expectation *c, const json_t *want);
void expect_together(struct expectation *c, const json_t *want);
void expect_apart(struct expectation *c, const json_t *want);

/* --- expect_pod.c --- */
void expect_on(struct expectation *c, const json_t *want);
void expect_type(struct expectation *c, const json_t *want);
void expect_type_list(struct expectation *c, const json_t *want);
void expect_labels(struct expectation *c, const json_t *want);
void expect_claim_labels(struct expectation *c, const json_t *want);
void expect_annotations(struct expectation *c, const json_t *want);
void expect_requirements(struct expectation *c, const json_t *want);
void expect_requests(struct expectation *c, const json_t *want);
void expect_price(struct expectation *c, const json_t *want);

#endif
