#include "planner_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kube/file_io.h"
#include "server/command.h"
#include "sim/tree.h"

enum { PLAN_MAX = 64 * 1024 * 1024, FLAGS_MAX = 40 };
static const char NOW[] = "2026-01-01T12:00:00Z";

static const char *foreign(void)
{
    return getenv("STOWAGE_PLANNER");
}

bool planner_is_foreign(void)
{
    return foreign() != NULL;
}

static const char *search_name(void)
{
    const char *name = getenv("STOWAGE_SEARCH");
    return name != NULL ? name : "greedy";
}

bool planner_is_cheapest(void)
{
    return !planner_is_foreign() && strcmp(search_name(), "cheapest") == 0;
}

static void write_file(const char *path, const json_t *v)
{
    struct buf text = {0};
    FILE *f = fopen(path, "wb");
    tree_put(&text, v);
    if (f == NULL || fwrite(text.ptr, 1, text.len, f) != text.len || fclose(f) != 0)
        mistake("%s cannot be written", path);
    buf_release(&text);
}

/* A folder for one plan; kept ones have speaking names. */
static const char *make_folder(const char *id, size_t batch)
{
    const char *keep = getenv("STOWAGE_KEEP");
    if (keep == NULL) {
        char *made = (char *)format_text("/tmp/stowage-scenario-XXXXXX");
        if (mkdtemp(made) == NULL)
            mistake("no folder can be made in /tmp");
        return made;
    }
    const char *named = format_text("%s/%s.%zu", keep, id, batch);
    mkdir(keep, 0777);
    mkdir(named, 0777);
    return named;
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"objects.json", "types.json", "plan.json", "errors.txt"};
    if (getenv("STOWAGE_KEEP") != NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(files); i++)
        unlink(format_text("%s/%s", folder, files[i]));
    rmdir(folder);
}

static void point_at(int fd, const char *path)
{
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    if (file < 0 || dup2(file, fd) < 0)
        mistake("%s cannot be written", path);
    close(file);
}

/* Our own: the command itself, its standard output led into the file for as long as it runs. */
static int run_own(int argc, char **argv, const char *out, const char *errors)
{
    fflush(stdout);
    fflush(stderr);
    int old_out = dup(STDOUT_FILENO), old_err = dup(STDERR_FILENO);
    point_at(STDOUT_FILENO, out);
    point_at(STDERR_FILENO, errors);
    int status = command_plan(argc, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(old_out, STDOUT_FILENO);
    dup2(old_err, STDERR_FILENO);
    close(old_out);
    close(old_err);
    return status;
}

static int run_foreign(char **argv, const char *out, const char *errors)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        point_at(STDOUT_FILENO, out);
        point_at(STDERR_FILENO, errors);
        execv(argv[0], argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        mistake("%s cannot be run", argv[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* --preference-policy: Ignore and the like, as {preference-policy: Ignore}. */
static int add_flags(char **argv, int argc, const json_t *flags)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)flags, name, value) {
        if (argc + 2 >= FLAGS_MAX)
            mistake("too many flags");
        argv[argc++] = (char *)format_text("--%s=%s", name, text_of(value));
    }
    return argc;
}

/* The files of one plan. */
struct paths {
    const char *folder, *objects, *types, *plan, *errors;
};

static struct paths write_input(const struct fleet *f, const char *id, size_t batch)
{
    const char *folder = make_folder(id, batch);
    struct paths p = {.folder = folder,
                      .objects = format_text("%s/objects.json", folder),
                      .types = format_text("%s/types.json", folder),
                      .plan = format_text("%s/plan.json", folder),
                      .errors = format_text("%s/errors.txt", folder)};
    write_file(p.objects, json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items",
                                    f->objects));
    write_file(p.types, f->catalogue);
    return p;
}

static int run(const struct paths *p, const json_t *flags)
{
    const char *words[] = {foreign(), "plan",  "-f", p->objects, "--instance-types",
                           p->types,  "--now", NOW,  "-o",       "json"};
    char *argv[FLAGS_MAX + 1] = {0};
    int argc = 0;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        argv[argc++] = (char *)words[i];
    argc = add_flags(argv, argc, flags);
    if (planner_is_foreign())
        return run_foreign(argv, p->plan, p->errors);
    argv[argc++] = (char *)format_text("--search=%s", search_name());
    return run_own(argc - 2, argv + 2, p->plan, p->errors); /* without the program and "plan" */
}

json_t *planner_run(const struct fleet *f, const json_t *flags, const char *id, size_t batch,
                    const char **why_out)
{
    enum { SHOWN = 600 };
    struct paths p = write_input(f, id, batch);
    struct span text = {0};
    struct err err;
    json_t *plan = NULL;
    int status = run(&p, flags);
    if ((status == 0 || status == 1) && file_load(json_arena(), p.plan, PLAN_MAX, &text, &err))
        plan = tree_parse(text);
    if (plan == NULL) {
        struct span said = {0};
        (void)file_load(json_arena(), p.errors, PLAN_MAX, &said, &err); /* nothing said: no text */
        *why_out = format_text("no plan, exit status %d: %.*s", status,
                               (int)(said.len < SHOWN ? said.len : SHOWN), said.ptr);
    }
    remove_folder(p.folder);
    return plan;
}
