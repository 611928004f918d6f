#include "server/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct span read_file(const char *path, char *into, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return (struct span){NULL, 0};
    ssize_t n = read(fd, into, size - 1);
    close(fd);
    into[n > 0 ? n : 0] = '\0';
    return (struct span){into, n > 0 ? (size_t)n : 0};
}

static void put(struct buf *out, const char *name, const char *type, const char *help, double v)
{
    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, v);
}

/* Fields of /proc/self/stat after the name, which may hold blanks (proc(5)); numbered from 3. */
static double stat_field(const char *text, int field)
{
    const char *at = strrchr(text, ')');
    for (int i = 2; at != NULL && i < field; i++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtod(at + 1, NULL) : 0;
}

static double boot_time(void)
{
    char text[8192];
    read_file("/proc/stat", text, sizeof(text));
    const char *at = strstr(text, "\nbtime ");
    return at != NULL ? strtod(at + 7, NULL) : 0;
}

static void put_stat(struct buf *out)
{
    enum { UTIME = 14, STIME = 15, START = 22, VSIZE = 23, RSS = 24 };
    char text[1024];
    if (read_file("/proc/self/stat", text, sizeof(text)).len == 0)
        return;
    double tick = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    put(out, "process_cpu_seconds_total", "counter", "CPU time, user and system",
        (stat_field(text, UTIME) + stat_field(text, STIME)) / tick);
    put(out, "process_resident_memory_bytes", "gauge", "Resident memory",
        stat_field(text, RSS) * page);
    put(out, "process_virtual_memory_bytes", "gauge", "Virtual memory", stat_field(text, VSIZE));
    double boot = boot_time();
    if (boot > 0)
        put(out, "process_start_time_seconds", "gauge", "When the process began, since 1970",
            boot + stat_field(text, START) / tick);
}

static void put_descriptors(struct buf *out)
{
    DIR *dir = opendir("/proc/self/fd");
    if (dir != NULL) {
        int count = -1; /* the one that reads */
        for (struct dirent *e; (e = readdir(dir)) != NULL;)
            count += e->d_name[0] != '.';
        closedir(dir);
        put(out, "process_open_fds", "gauge", "Open file descriptors", count);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        put(out, "process_max_fds", "gauge", "Limit of open file descriptors",
            (double)limit.rlim_cur);
}

void process_metrics(struct buf *out)
{
    put_stat(out);
    put_descriptors(out);
}
