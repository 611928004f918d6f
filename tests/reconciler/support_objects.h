/* Objects as the API server would show them, decoded from short YAML. They live until objects_clear. */
#ifndef TESTS_SUPPORT_OBJECTS_H
#define TESTS_SUPPORT_OBJECTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/node.h"
#include "kube/workload.h"

#define NOW ((wall_ms)1767323045000) /* 2026-01-02T03:04:05Z */
#define NOW_TEXT "2026-01-02T03:04:05Z"
#define HOUR_AGO "2026-01-02T02:04:05Z"

void objects_begin(void);
void objects_clear(void);
struct arena *objects_arena(void);
struct symtab *objects_syms(void);

const struct pod *pod_of(const char *yaml);
const struct node *node_of(const char *yaml);
const struct node_claim *claim_of(const char *yaml);
const struct node_pool *pool_of(const char *yaml);
const struct disruption_budget *budget_of(const char *yaml);

#endif
