#include "server/descriptors.h"

#include <sys/resource.h>

/* An unlimited hard limit may be more than the kernel accepts as a soft limit; then the needed number is set. */
static void raise_limit(struct rlimit *limit, rlim_t needed)
{
    struct rlimit raised = {limit->rlim_max, limit->rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0 && limit->rlim_cur < needed) {
        raised.rlim_cur = needed;
        setrlimit(RLIMIT_NOFILE, &raised);
    }
    getrlimit(RLIMIT_NOFILE, limit);
}

bool descriptors_secure(uint64_t listeners, struct err *err)
{
    uint64_t needed = listeners + DESCRIPTORS_API + DESCRIPTORS_REST;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true; /* the kernel has no such limit */
    raise_limit(&limit, needed);
    if (limit.rlim_cur >= needed)
        return true;
    return err_set(err, ERR_INVALID,
                   "%llu file descriptors are needed (%llu for listeners, %d for the API server, %d for files), and the limit is "
                   "%llu: raise it (ulimit -Hn, systemd's LimitNOFILE=, the container runtime's default), or lower --threads",
                   (unsigned long long)needed, (unsigned long long)listeners, DESCRIPTORS_API, DESCRIPTORS_REST,
                   (unsigned long long)limit.rlim_cur);
}
