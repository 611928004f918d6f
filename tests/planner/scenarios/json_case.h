/* json_case: JSON values of one scenario, all in one arena.
 *
 * json_memory hands jansson an arena, so that a value made or borrowed anywhere stays as long as
 * that arena and nothing here counts references. Mistakes in a scenario's own text fail the test
 * at once, whatever is known to be missing in the planner. */
#ifndef TESTS_SCENARIOS_JSON_CASE_H
#define TESTS_SCENARIOS_JSON_CASE_H

#include <jansson.h>

#include "base/arena.h"

void json_memory(struct arena *a); /* what is made from now on lives there */
struct arena *json_arena(void);

void mistake(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

const char *text_of(const json_t *v); /* of a string; anything else is a mistake */
const char *text_at(const json_t *object, const char *key); /* NULL when absent */
const char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The member, made as an empty object or array when it is not there; a path has dots. */
json_t *object_at(json_t *object, const char *path);
json_t *array_at(json_t *object, const char *path);

/* A quantity or number in thousandths: 3900 for "3900m" and for 3.9. */
int64_t milli_of(const json_t *quantity);
json_t *milli_text(int64_t milli);

/* zone, arch, capacity-type…: the label key that a short name stands for; others stay. */
const char *full_key(const char *name);
json_t *full_keys(const json_t *labels); /* a copy with every key in full */

/* "zone In z1 z2 minValues 2" as {key, operator, values, minValues}. */
json_t *requirement_of_text(const char *text);
json_t *requirements_of_texts(const json_t *list);
/* Whether a list of requirements lets the key have the value. */
bool requirements_allow(const json_t *list, const char *key, const char *value);

#endif
