/* units: scalars whose name says what they count. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

typedef int64_t mono_ms; /* since an arbitrary start, never goes back */
typedef int64_t wall_ms; /* since 1970-01-01T00:00:00Z */
typedef int64_t span_ms; /* a length of time */

/* As wide as what they are multiplied with: a count of seconds from outside cannot overflow. */
#define MS_SECOND ((span_ms)1000)
#define MS_MINUTE (60 * MS_SECOND)
#define MS_HOUR (60 * MS_MINUTE)

enum { HOURS_A_MONTH = 730 }; /* as cloud bills count them */

#endif
