/* process: what every program tells Prometheus of itself, read from /proc. */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include "base/buf.h"

/* process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
 * process_open_fds, process_max_fds, process_start_time_seconds; what cannot be read is left out. */
void process_metrics(struct buf *out);

#endif
