/* A subcommand of `stowage`, run in the test's own process. */
#ifndef TESTS_SERVER_SUPPORT_COMMAND_H
#define TESTS_SERVER_SUPPORT_COMMAND_H

enum { COMMAND_ARGS_MAX = 8 };

struct outcome {
    int status;
    char text[16384]; /* of both streams */
};

/* Runs it over the objects, a YAML text, which are put into a file; {} among the arguments is its name. They
 * end with NULL, or after so many. */
struct outcome run_command(int (*command)(int argc, char *const *argv), const char *objects,
                           const char *const *args);

#endif
