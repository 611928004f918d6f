#include "reconciler/measure.h"

/* An empty label of the list is none. */
#define LABEL(text) (sizeof(text) > 1 ? (text) : NULL)

const struct measure_info measure_infos[MEASURE_ID_COUNT] = {
#define X(id, name, type, a, b, c, help)                                                           \
    [MEASURE_##id] = {name, help, MEASURE_##type, {LABEL(a), LABEL(b), LABEL(c)}},
    MEASURE_LIST(X)
#undef X
};
