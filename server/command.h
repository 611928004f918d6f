/* command: what `stowage WORD` runs. Each takes the arguments after its word and returns the exit
 * status: 0 done, 1 done but something has no place or is wrong, 2 not understood. */
#ifndef SERVER_COMMAND_H
#define SERVER_COMMAND_H

int command_serve(int argc, char *const *argv);
int command_plan(int argc, char *const *argv);
int command_explain(int argc, char *const *argv);
int command_check(int argc, char *const *argv);

#endif
