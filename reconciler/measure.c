#include "reconciler/measure.h"

#define L(...) {__VA_ARGS__}
#define NO_LABELS {NULL}

const struct measure_info measure_infos[MEASURE_ID_COUNT] = {
#define X(id, name, type, labels, help) [MEASURE_##id] = {name, help, MEASURE_##type, labels},
    MEASURE_LIST(X)
#undef X
};
