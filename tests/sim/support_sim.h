/* What the tests of sim/ share: short ways to put objects in and look at them. */
#ifndef TESTS_SUPPORT_SIM_H
#define TESTS_SUPPORT_SIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim.h"
#include "sim/tree.h"

enum { START_S = 1767323045 }; /* 2026-01-02T03:04:05Z */
#define START ((wall_ms)START_S * MS_SECOND)

struct sim *new_sim(const char *yaml);
struct sim *new_sim_with(const struct sim_options *o, const char *yaml);
void load(struct sim *s, const char *yaml);
void run_for(struct sim *s, span_ms d);

struct sim_stowage;
struct sim_stowage_options;
/* A Stowage that the scheduler asks, until it is stopped. */
struct sim_stowage *start_asked(struct sim *s, const struct sim_stowage_options *o);
void stop_asked(struct sim *s, struct sim_stowage *w);

/* A request at once, as kubectl would; asserts the status. */
void do_request(struct sim *s, enum api_verb verb, enum kind k, const char *ns, const char *name,
                const char *body, int status);
void scale(struct sim *s, const char *deployment, int replicas);
/* A new reference, NULL when absent. */
json_t *object_of(struct sim *s, enum kind k, const char *ns, const char *name);
json_t *objects_of(struct sim *s, enum kind k); /* a new array */
json_t *only(struct sim *s, enum kind k); /* there is one; a new reference */
bool is_gone(struct sim *s, enum kind k, const char *ns, const char *name);
/* Condition Ready of a Node, as its kubelet would write it. */
void set_ready(struct sim *s, const char *node, const char *status);

/* Pods of the label app=…; with a node name only those bound to it ("" = unbound, NULL = all). */
size_t count_pods(struct sim *s, const char *app, const char *node);
/* The message of the first unbound pod's PodScheduled condition, "" when none. Static storage. */
const char *why_pending(struct sim *s);

/* A node class, and a NodePool "general" of kwok's Linux machines of so many CPUs that gives empty ones back
 * after so long. */
const char *general_yaml(const char *consolidate_after, const char *cpu);
const char *node_yaml(const char *name, const char *cpu, const char *memory);
const char *ready_node_yaml(const char *name, const char *cpu, const char *memory);
const char *deployment_yaml(const char *name, int replicas, const char *cpu, const char *more_spec);

/* Requests of bound pods ≤ allocatable, in millicores, for each Node. */
void assert_no_overcommit(struct sim *s);

#endif
