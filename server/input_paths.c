#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "server/input_inner.h"

struct seen { /* a directory that was looked at */
    dev_t device;
    ino_t number;
};

struct walk {
    struct arena *a;
    const struct stat *skip;
    struct paths *out;
    struct seen *seen;
    size_t seen_count, seen_capacity;
};

static bool is_object_file(const char *name)
{
    struct span s = span_of(name);
    return span_has_suffix(s, SPAN(".yaml")) || span_has_suffix(s, SPAN(".yml")) ||
           span_has_suffix(s, SPAN(".json"));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool was_seen(struct walk *w, const struct stat *st)
{
    for (size_t i = 0; i < w->seen_count; i++)
        if (w->seen[i].number == st->st_ino && w->seen[i].device == st->st_dev)
            return true;
    struct seen now = {st->st_dev, st->st_ino};
    ARENA_PUSH(w->a, w->seen, w->seen_count, w->seen_capacity, now);
    return false;
}

/* What is in it, by name, so that it does not depend on the disk by which of two names something is found. */
static bool entries_of(struct walk *w, const char *path, struct paths *out, struct err *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.')
            ARENA_PUSH(w->a, out->items, out->count, out->capacity,
                       arena_printf(w->a, "%s/%s", path, e->d_name).ptr);
    closedir(dir);
    if (out->count != 0)
        qsort(out->items, out->count, sizeof(out->items[0]), by_text);
    return true;
}

enum { DEPTH_MAX = 64 }; /* directories in directories, each of which takes some of the stack */

static bool walk(struct walk *w, const char *path, const struct stat *self, int depth, struct err *err)
{
    struct paths entries = {0};
    struct stat st;
    if (was_seen(w, self))
        return true;
    if (depth == DEPTH_MAX)
        return err_set(err, ERR_INVALID, "%s: more than %d directories deep", path, DEPTH_MAX);
    if (!entries_of(w, path, &entries, err))
        return false;
    for (size_t i = 0; i < entries.count; i++) {
        const char *entry = entries.items[i];
        if (stat(entry, &st) != 0)
            continue; /* a link that leads nowhere */
        if (S_ISDIR(st.st_mode)) {
            if (!walk(w, entry, &st, depth + 1, err))
                return false;
        } else if (is_object_file(entry) && !(w->skip != NULL && st.st_ino == w->skip->st_ino &&
                                              st.st_dev == w->skip->st_dev)) {
            ARENA_PUSH(w->a, w->out->items, w->out->count, w->out->capacity, entry);
        }
    }
    return true;
}

bool input_paths(struct arena *a, const char *directory, const struct stat *skip, struct paths *out,
                 struct err *err)
{
    struct walk w = {.a = a, .skip = skip, .out = out};
    struct stat st;
    if (stat(directory, &st) != 0)
        return err_set(err, ERR_INVALID, "%s: %s", directory, strerror(errno));
    if (!walk(&w, directory, &st, 0, err))
        return false;
    if (out->count != 0)
        qsort(out->items, out->count, sizeof(out->items[0]), by_text);
    return true;
}
