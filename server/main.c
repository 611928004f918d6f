#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "server/command.h"
#include "server/options.h"
#include "server/version.h"

static int command_version(int argc, char *const *argv)
{
    if (argc != 0) {
        fprintf(stderr, "stowage version: \"%s\" is not asked for; it takes no arguments\n", argv[0]);
        return 2;
    }
    printf("stowage %s\n", stowage_version);
    return 0;
}

static const struct {
    const char *word, *help;
    int (*run)(int argc, char *const *argv);
} commands[] = {
    {"serve", "server and reconciler, on a cluster or with --embedded in memory",
     command_serve},
    {"plan", "read objects from files and print what would be done and why", command_plan},
    {"explain", "why a pod, node or nodepool is as it is, from files or from a server",
     command_explain},
    {"simulate", "play a scenario, a week in seconds: prices, evictions, waiting pods", command_simulate},
    {"check", "what stands in its way in a cluster, or what is wrong with files of objects",
     command_check},
    {"version", "what this program was built from", command_version},
};

static void usage(FILE *to)
{
    fputs("usage: stowage COMMAND [FLAGS]\n\n", to);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        fprintf(to, "  %-8s %s\n", commands[i].word, commands[i].help);
    fputs("\n`stowage COMMAND --help` lists its flags.\n", to);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0)
        return command_version(argc - 2, argv + 2);
    const char *words[COUNT_OF(commands)];
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (strcmp(argv[1], commands[i].word) == 0)
            return commands[i].run(argc - 2, argv + 2);
        words[i] = commands[i].word;
    }
    const char *near = nearest_word(argv[1], words, COUNT_OF(words));
    if (near != NULL)
        fprintf(stderr, "stowage: no command \"%s\"; did you mean \"%s\"?\n", argv[1], near);
    else
        fprintf(stderr, "stowage: no command \"%s\"; `stowage help` lists them\n", argv[1]);
    return 2;
}
