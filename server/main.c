#include "server/commands.h"
#include "server/version.h"

int main(int argc, char **argv)
{
    return command_run(argc > 0 ? argc - 1 : 0, argv + 1, stowage_version);
}
